//! Memory messages: decoded descriptors, one module a family.
//!
//! Adding a family: a variant of [`Message`] with its descriptor, a function here that makes it from an
//! instruction's [`Parts`], called from [`decode`], and its execution in the virtual GPU's room
//! `messages`, what of it lies in registers ([`Message::is_inside`]). Every register a descriptor names goes through [`Resolver::raw`] with the number of bytes
//! that the table says are touched.

mod atomic;
mod graphics;
pub(crate) mod raw;
mod register_bounds;
mod registers;
mod sampler;
mod typed;
mod untyped;

use envisa_isa::desc::{Bytes, SlotKind};
use envisa_isa::footprint::{packed_channels, register_bytes};
use envisa_isa::operation::{Compute, Message as Kind, Operation};
use envisa_isa::systolic::Matrices;
use envisa_isa::{Exec, Inst as IsaInst, Object, Operand, Platform, SlotName, Type, predefined};

use crate::inst::Src;
use crate::registers::RegOffset;

pub use atomic::Atomic;
pub use graphics::{Pixels, Urb};
pub use raw::{Decoded, Raw, RawShape, decode_raw};
pub use sampler::{Sample, SampleParameter, SamplerState};
pub use typed::{Block2d, Coordinates, Info, Media, Outside, TexelSlot, Typed, TypedAtomic};
pub use untyped::{Block, Simt};

/// A decoded message.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// Each channel has an address.
    Simt(Simt),
    /// Consecutive bytes at one address.
    Block(Block),
    /// Each channel reads, modifies and writes.
    Atomic(Atomic),
    /// Each channel asks whether its elements have memory; bit i of the data is channel i's answer.
    Status(Simt),
    /// Each channel reads or writes a texel.
    Typed(Typed),
    /// Each channel asks whether its texel has memory; bit i of the data is channel i's answer, or where there is a
    /// component stride, dword i.
    TypedStatus(Typed),
    /// Each channel reads, modifies and writes a texel.
    TypedAtomic(TypedAtomic),
    /// A rectangle of an image.
    Media(Media),
    /// A rectangle of a flat surface.
    Block2d(Block2d),
    /// Each channel gets what a sampler makes of texels.
    Sample(Sample),
    /// Facts about an image.
    Info(Info),
    /// Pixels of a render target.
    Pixels(Pixels),
    /// Dwords of vertices.
    Urb(Urb),
    /// What descriptors in registers say.
    Raw(Raw),
}

/// Which memory a message's addresses are in.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Space {
    /// 64-bit virtual addresses.
    Flat,
    /// The thread group's shared local memory.
    Slm,
    /// The surface of the binding-table index that this scalar holds.
    Bti(Src),
    /// The surface of the bindless handle that this scalar holds.
    Bindless(Src),
    /// The surface of this binding-table index.
    Table(u32),
    /// The surface of this bindless handle.
    Handle(u32),
    /// `T5`: 32-bit offsets from the general state base (scratch space, implicit arguments).
    GeneralState,
    /// LSC `ss(V)`: the thread's scratch surface.
    Scratch(Src),
    /// LSC `arg[…]`: implicit arguments.
    Arguments,
    /// The append counter of the surface of the binding-table index that this scalar holds.
    Counter(Src),
    /// The append counter of the surface of the bindless handle that this scalar holds.
    HandleCounter(Src),
}

/// The address by which bindless messages name the thread's own scratch memory: what `%scratchloc` holds, and what a
/// launch passes as `scratch_pointer`. No handle of a surface has more than 32 bits.
pub const SCRATCH_STATE: u64 = 1 << 32;

/// How a 32-bit address becomes one of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Extend {
    /// It does not: sums of addresses of 32 bits or fewer are of 32 bits.
    #[default]
    None,
    /// By zeros.
    Zero,
    /// By its sign.
    Sign,
    /// It is the sum of two others, in 32 bits; what is of 64 bits is the sum of these, each of which is extended.
    Sum([Addend; 2]),
    /// It is the lower half of what is of 64 bits.
    Joined(Addend),
}

impl Extend {
    /// What an index of 64 bits is the sum of, where the one in the address is but its lower half.
    #[inline(always)]
    pub fn addends(&self) -> &[Addend] {
        match self {
            Extend::Sum(of) => of,
            Extend::Joined(one) => std::slice::from_ref(one),
            _ => &[],
        }
    }
}

/// What an index is the sum of: a vector of integers, or a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Addend {
    /// First channel's dword; then one after another, but for a scalar.
    pub at: RegOffset,
    /// Where the upper dwords are, if it has 64 bits.
    pub upper: Option<RegOffset>,
    /// One of 32 bits is extended by its sign (else by zeros).
    pub signed: bool,
    /// It is the same for all channels.
    pub scalar: bool,
}

impl Addend {
    /// Its 64 bits, given its dword and, if it has one, the upper one.
    #[inline(always)]
    pub fn value(self, low: u32, upper: u32) -> u64 {
        match (self.upper, self.signed) {
            (Some(_), _) => u64::from(upper) << 32 | u64::from(low),
            (None, true) => low as i32 as i64 as u64,
            (None, false) => low.into(),
        }
    }

    /// Where its dwords are, the lower and the upper ones.
    pub fn halves(self) -> impl Iterator<Item = RegOffset> {
        std::iter::once(self.at).chain(self.upper)
    }
}

/// An operand could not be lowered: why.
pub(crate) type Reason = String;

/// Gives out offsets of an instruction's registers.
pub(crate) trait Resolver {
    /// Bytes in a register of the device.
    fn grf(&self) -> u32;
    /// The device.
    fn platform(&self) -> Platform;
    /// Where a register operand is; `None` for `%null`.
    fn raw(&mut self, register: Register) -> Result<Option<RegOffset>, Reason>;
    /// A scalar source.
    fn scalar(&mut self, op: Operand) -> Result<Src, Reason>;
    /// The type of a raw operand's variable.
    fn element(&self, op: Operand) -> Type;
    /// The state of a surface variable, as a source.
    fn surface(&mut self, id: u16) -> Result<Src, Reason>;
    /// The state of a sampler variable, as a source.
    fn sampler(&mut self, id: u16) -> Result<Src, Reason>;
}

/// A register operand, and how many of its bytes the table says are touched.
#[derive(Clone, Copy)]
pub(crate) struct Register {
    pub op: Operand,
    /// `None`: a field has no meaning.
    bytes: Option<u32>,
}

impl Register {
    /// Bytes touched.
    pub fn bytes(self) -> Result<u32, Reason> {
        self.bytes.ok_or_else(|| "a field that says how much is moved has a value that is not defined".into())
    }
}

/// An instruction's operands by what they are, in binary order.
pub(crate) struct Parts {
    /// The sub-opcode, which of LSC atomics is the operator's code.
    pub sub: u8,
    pub channels: u32,
    /// Plain and packed fields.
    pub ints: Vec<u32>,
    /// Registers that are touched from their first byte on.
    pub raws: Vec<Register>,
    /// Vector operands.
    pub vectors: Vec<Operand>,
    /// The surface.
    pub surface: Option<Operand>,
    /// The sampler.
    pub sampler: Option<Operand>,
}

impl Parts {
    pub fn new(o: &Object, isa: &IsaInst, grf: u32) -> Parts {
        let desc = isa.desc();
        let mut p = Parts {
            sub: desc.sub.unwrap_or(0),
            channels: 1,
            ints: Vec::new(),
            raws: Vec::new(),
            vectors: Vec::new(),
            surface: None,
            sampler: None,
        };
        let ops = o.ops(isa);
        let type_of = |var| o.var_shape(var, grf).map(|shape| shape.0);
        for (i, op) in ops.iter().enumerate() {
            let slot = desc.slots.get(i.min(desc.slots.len().saturating_sub(1)));
            match *op {
                Operand::Exec(Exec { log2, .. }) => p.channels = 1 << log2.min(5),
                Operand::Pred(_) => {}
                Operand::Int(n) => p.ints.push(n),
                op if slot.is_some_and(|s| matches!(s.kind, SlotKind::Surface { .. })) => {
                    p.surface = Some(op)
                }
                op if slot.is_some_and(|s| matches!(s.kind, SlotKind::Sampler { .. })) => {
                    p.sampler = Some(op)
                }
                op if slot.is_some_and(|s| matches!(s.bytes, Bytes::Region)) => p.vectors.push(op),
                op => {
                    let bytes = register_bytes(isa.op, ops, i, grf, &type_of);
                    p.raws.push(Register { op, bytes });
                }
            }
        }
        if let Some((channels, ..)) = packed_exec(o, isa) {
            p.channels = channels as u32;
        }
        p
    }

    /// Field `i`, or an error that says so.
    pub fn int(&self, i: usize) -> Result<u32, Reason> {
        self.ints.get(i).copied().ok_or_else(|| format!("its field {i} is missing"))
    }

    /// Register operand `i`.
    pub fn raw(&self, i: usize) -> Result<Register, Reason> {
        self.raws.get(i).copied().ok_or_else(|| format!("its register operand {i} is missing"))
    }

    /// Vector operand `i`.
    pub fn vector(&self, i: usize) -> Result<Operand, Reason> {
        self.vectors.get(i).copied().ok_or_else(|| format!("its operand {i} is missing"))
    }

    /// The space of the surface handle.
    pub fn space(&self, r: &mut dyn Resolver) -> Result<Space, Reason> {
        let id = match self.surface.ok_or("its surface is missing")? {
            Operand::Surface(id) => id,
            handle => return Ok(Space::Bindless(address_of_state(handle, r)?)),
        };
        Ok(match id {
            envisa_isa::predefined::SURFACE_SLM => Space::Slm,
            envisa_isa::predefined::SURFACE_SCRATCH => Space::GeneralState,
            envisa_isa::predefined::SURFACE_BSS => Space::Bindless(r.surface(4)?),
            // T255 of old, "stateless" with 32-bit offsets.
            3 => Space::GeneralState,
            s => Space::Bti(r.surface(s as u16)?),
        })
    }
}

/// The address of a surface's or sampler's state: to the virtual GPU it is a bindless handle. What lies behind the
/// state that the handle names, a launch does not say.
fn address_of_state(handle: Operand, r: &mut dyn Resolver) -> Result<Src, Reason> {
    match (handle, handle.handle()) {
        (Operand::Handle { index: 0, .. }, Some(register)) => r.scalar(register),
        (Operand::Handle { index, .. }, _) => {
            Err(format!("the state of index {index} behind a handle is not supported"))
        }
        _ => Err("a surface or sampler is expected".into()),
    }
}

/// Channels, first channel and NoMask of GATHER and SCATTER, which pack them in a field of their own. A number
/// that means nothing counts as one channel; the message is then refused.
pub(crate) fn packed_exec(o: &Object, isa: &IsaInst) -> Option<(u8, u8, bool)> {
    if !matches!(isa.desc().operation(), Operation::Message(Kind::Elements(_))) {
        return None;
    }
    let channels = packed_channels(isa.desc(), o.ops(isa)).unwrap_or(1);
    let mask = envisa_isa::ExecMask((o.slot(isa, SlotName::NumElts).and_then(Operand::int)? >> 4 & 15) as u8);
    Some((channels as u8, mask.first_channel() as u8, mask.no_mask()))
}

/// Makes the descriptor of an instruction. It is called twice: once to learn what it touches (see
/// [`reach_of_messages`]), and once in earnest.
pub(crate) fn decode(kind: Kind, p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    match kind {
        Kind::Raw { split } => match raw::decode_send(split, p, r)? {
            Ok(Decoded::Message(message)) => Ok(message),
            Ok(_) => Err("it accesses no memory".into()),
            Err(message) => Ok(Message::Raw(message)),
        },
        Kind::Owords(access, unit) => untyped::lower_oword_block(access, unit, p, r),
        Kind::Elements(access) => untyped::elements(access, p, r),
        Kind::Channels(access) => untyped::lower_scaled_channels(access, p, r),
        Kind::Bytes(access) => untyped::bytes(access, p, r),
        Kind::Qwords(access) => untyped::lower_qword(access, p, r),
        Kind::SvmOwords(access) => untyped::svm_owords(access, p, r),
        Kind::SvmBlocks(access) => untyped::svm_blocks(access, p, r),
        Kind::SvmChannels(access) => untyped::svm_channels(access, p, r),
        Kind::Lsc(access, shape) => untyped::lsc_vectors(access, shape, p, r),
        Kind::LscStatus => untyped::lsc_status(p, r),
        Kind::Atomic => atomic::lower_dword_atomic(p, r),
        Kind::SvmAtomic => atomic::lower_svm_atomic(p, r),
        Kind::LscAtomic => atomic::of_lsc(p, r),
        Kind::Texels(access) => typed::lower_dataport_typed(access, p, r),
        Kind::TexelAtomic => typed::atomic(p, r),
        Kind::Media(access) => typed::lower_media(access, p, r),
        Kind::LscBlock2d(access) => typed::lower_block2d(access, p, r),
        Kind::LscTexels(access) => typed::lsc_texels(access, p, r),
        Kind::LscSamples(access) => typed::lsc_samples(access, p, r),
        Kind::LscTexelsCounted => typed::lsc_store_uncompressed(p, r),
        Kind::LscTexelStatus => typed::lsc_load_status(p, r),
        Kind::LscTexelStatuses => typed::lsc_load_quad_status(p, r),
        Kind::LscTexelAtomic => typed::lsc_atomic(p, r),
        Kind::LscMedia(access) => typed::lsc_media(access, p, r),
        Kind::SamplerLoad(order) => typed::load(order, p, r),
        Kind::Sample(what, parameters) => sampler::lower_sample(what, parameters, p, r),
        Kind::ImageSize => typed::size(p, r),
        Kind::ImageSamples => typed::lower_sampleinfo(p, r),
        Kind::LscCounter => atomic::lower_append_counter(p, r),
        Kind::Pixels => graphics::lower_rt_write(p, r),
        Kind::Urb => graphics::lower_urb_write(p, r),
    }
}

/// The type of an operand's variable; `UD` where it has none.
pub(crate) fn element(o: &Object, grf: u32, op: Operand) -> Type {
    match op {
        Operand::Raw { var, .. } | Operand::General { var, .. } => {
            o.var_shape(var, grf).map_or(Type::Ud, |s| s.0)
        }
        _ => Type::Ud,
    }
}

/// Notes what raw operands touch, without knowing where they are.
struct Recorder<'a> {
    o: &'a Object,
    grf: u32,
    out: Vec<(u32, u32)>,
}

impl Recorder<'_> {
    fn record_reach(&mut self, op: Operand, bytes: u32) {
        match op {
            Operand::Raw { var, offset } => self.out.push((var, (offset as u32).saturating_add(bytes))),
            Operand::General { var, row, col, .. } => {
                let size = self.o.var_shape(var, self.grf).map_or(4, |s| s.0.size());
                let at = row as u32 * self.grf + col as u32 * size;
                self.out.push((var, at.saturating_add(bytes)));
            }
            _ => {}
        }
    }
}

impl Resolver for Recorder<'_> {
    fn platform(&self) -> Platform {
        // Registers are noted before the message is looked at.
        Platform::Skl
    }

    fn grf(&self) -> u32 {
        self.grf
    }

    fn raw(&mut self, register: Register) -> Result<Option<RegOffset>, Reason> {
        let bytes = register.bytes()?;
        if let Operand::Raw { var: predefined::var::NULL, .. } = register.op {
            return Ok(None);
        }
        self.record_reach(register.op, bytes);
        Ok(Some(0))
    }

    fn scalar(&mut self, _: Operand) -> Result<Src, Reason> {
        Ok(Src::None)
    }

    fn element(&self, op: Operand) -> Type {
        element(self.o, self.grf, op)
    }

    fn surface(&mut self, _: u16) -> Result<Src, Reason> {
        Ok(Src::None)
    }

    fn sampler(&mut self, _: u16) -> Result<Src, Reason> {
        Ok(Src::None)
    }
}

/// Bytes that messages and DPAS touch of each variable: `(variable, end)`.
pub(crate) fn reach_of_messages(o: &Object, grf: u32) -> Vec<(u32, u32)> {
    let mut r = Recorder { o, grf, out: Vec::new() };
    for isa in &o.insts {
        let parts = Parts::new(o, isa, grf);
        match isa.desc().operation() {
            Operation::Message(kind) => {
                // What is wrong with it is said when it is lowered.
                let _ = decode(kind, &parts, &mut r);
            }
            Operation::Systolic { .. } => {
                let _ = systolic_operands(&parts, &mut r);
            }
            Operation::Compute(Compute::Madw) => {
                // Its destination is two halves of whole registers.
                if let Some(op) = o.slot(isa, SlotName::Dst) {
                    r.record_reach(op, 2 * (parts.channels * 4).next_multiple_of(grf));
                }
            }
            _ => {}
        }
    }
    r.out
}

/// Offsets of a DPAS's registers: destination, accumulator, weights, activations.
pub(crate) fn systolic_operands(p: &Parts, r: &mut dyn Resolver) -> Result<[Option<RegOffset>; 4], Reason> {
    let m = Matrices::of(p.int(0)?).filter(|m| m.depth == 8);
    if m.is_none() {
        let [_, _, depth, count] = p.int(0)?.to_le_bytes();
        return Err(format!(
            "precisions, a systolic depth of 8 and 1 to 8 repeats are expected, not {depth} and {count}"
        ));
    }
    Ok([r.raw(p.raw(0)?)?, r.raw(p.raw(1)?)?, r.raw(p.raw(2)?)?, r.raw(p.raw(3)?)?])
}
