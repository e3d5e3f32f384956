//! Messages of the sampler: texels that it finds by coordinates, filters, compares and gathers.

use envisa_isa::operation::{Parameter, Sampling};
use envisa_isa::{Operand, Type};

use super::Reason;
use super::typed::enabled_channels;
use super::{Message, Parts, Resolver, Space, TexelSlot, address_of_state};
use crate::inst::Src;
use crate::registers::RegOffset;

/// Which sampler a message uses.
#[derive(Clone, PartialEq, Debug)]
pub enum SamplerState {
    /// The one of the index that this scalar holds.
    Index(Src),
    /// The one of the bindless handle that this scalar holds.
    Handle(Src),
}

/// A parameter of each channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SampleParameter {
    /// What it is.
    pub what: Parameter,
    /// Where the first channel's is; `None`: zero.
    pub at: Option<RegOffset>,
    /// Bytes of one: 2 (halves, words) or 4 (singles, dwords).
    pub bytes: u8,
}

/// Each channel gets what a sampler makes of texels.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// The image.
    pub space: Space,
    /// The sampler.
    pub state: SamplerState,
    /// What is made of the texels.
    pub what: Sampling,
    /// The parameters that are given; what is not given is zero.
    pub parameters: Vec<SampleParameter>,
    /// Immediate offsets of u, v and r: a word of three signed nibbles, r in the lowest.
    pub offsets: Src,
    /// The channel that a gather takes of each texel.
    pub gathered: u8,
    /// Channels of the answer that are wanted, R in bit 0.
    pub channels: u8,
    /// How they lie in registers.
    pub slot: TexelSlot,
    /// The answer; `None`: nothing is read.
    pub data: Option<RegOffset>,
    /// Bytes from a channel of the answer to the next one wanted.
    pub component_stride: u32,
    /// After the data, one more register gets a bit for each channel whose texels have memory.
    pub null_mask: bool,
}

/// How a variable of this type takes texels, and the bytes of a channel.
pub(super) fn texel_slot(ty: Type) -> Result<(TexelSlot, u32), Reason> {
    match ty {
        Type::Hf => Ok((TexelSlot::Half, 2)),
        Type::W | Type::Uw => Ok((TexelSlot::Word, 2)),
        Type::F | Type::D | Type::Ud => Ok((TexelSlot::Dword, 4)),
        t => Err(format!("texels are not returned as {t:?}")),
    }
}

/// SAMPLE_3D and its kin: dst, then the parameters that the row names, of which trailing ones may be left out.
pub(super) fn lower_sample(
    what: Sampling,
    names: &'static [Parameter],
    p: &Parts,
    r: &mut dyn Resolver,
) -> Result<Message, Reason> {
    let (flags, selected) = (p.int(0)?, p.int(1)?);
    let (gathered, channels) = match what {
        Sampling::Gather => (selected as u8 & 3, 15),
        Sampling::Filter | Sampling::Base | Sampling::LevelOfDetail => (0, enabled_channels(selected)?),
    };
    let dst = p.raw(0)?;
    let (slot, size) = texel_slot(r.element(dst.op))?;
    let given = p.raws.get(1..).unwrap_or_default();
    if given.len() > names.len() {
        return Err(format!("it has {} parameters, not {}", names.len(), given.len()));
    }
    let mut parameters = Vec::new();
    for (&what, &raw) in names.iter().zip(given) {
        let at = r.raw(raw)?;
        // What is null is zero, whatever its type.
        let bytes = if at.is_none() { 4 } else { r.element(raw.op).size().min(4) as u8 };
        let packed = matches!(
            what,
            Parameter::Offsets
                | Parameter::LevelOffsets
                | Parameter::WideOffsets
                | Parameter::LevelWideOffsets
        );
        if bytes != 4 && (packed || bytes != 2) {
            return Err(format!("a parameter of {} bits", 8 * bytes));
        }
        parameters.push(SampleParameter { what, at, bytes });
    }
    let state = match p.sampler.ok_or("its sampler is missing")? {
        Operand::Sampler(id @ envisa_isa::predefined::SAMPLER_BINDLESS) => {
            SamplerState::Handle(r.sampler(id.into())?)
        }
        Operand::Sampler(id) => SamplerState::Index(r.sampler(id.into())?),
        handle => SamplerState::Handle(address_of_state(handle, r)?),
    };
    Ok(Message::Sample(Sample {
        space: p.space(r)?,
        state,
        what,
        parameters,
        offsets: r.scalar(p.vector(0)?)?,
        gathered,
        channels,
        slot,
        data: r.raw(dst)?,
        component_stride: (p.channels * size).next_multiple_of(r.grf()),
        null_mask: flags & 1 != 0,
    }))
}
