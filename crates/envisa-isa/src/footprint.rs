//! How many bytes of a register operand an instruction reads or writes: the table's column [`Bytes`], evaluated for
//! an instruction's fields.

use crate::desc::{Bytes, Enc, FieldName, PartName, Role, SlotKind, SlotName, SystolicOperand, Value};
use crate::lsc;
use crate::systolic::Matrices;
use crate::{InstDesc, Op, Operand, Type};

/// An instruction's fields, by the names of its slots.
struct Fields<'a> {
    desc: &'static InstDesc,
    operands: &'a [Operand],
    grf: u32,
}

impl Fields<'_> {
    /// The code of a field, or of a part of a packed one (`slot.part`), and what its values mean.
    fn find(&self, name: impl Into<FieldName>) -> Option<(u32, Option<Enc>)> {
        let FieldName { slot, part } = name.into();
        let i = self.desc.slot_index(slot)?;
        let value = self.operands.get(i)?.int()?;
        match (part, &self.desc.slots[i].kind) {
            (None, SlotKind::Field { enc, .. }) => Some((value, Some(*enc))),
            (None, _) => Some((value, None)),
            (Some(p), SlotKind::Packed { parts, .. }) => {
                let part = parts.iter().find(|q| q.name == p)?;
                Some((part.get(value), Some(part.enc)))
            }
            (Some(_), _) => None,
        }
    }

    fn code(&self, name: impl Into<FieldName>) -> Option<u32> {
        Some(self.find(name)?.0)
    }

    /// What the text of a field's value says as a number: `"16"` for code 4 of the oword counts.
    fn number(&self, name: impl Into<FieldName>) -> Option<u32> {
        match self.find(name)? {
            (code, Some(Enc::Values(values))) => text(values, code)?.parse().ok(),
            (code, Some(Enc::ExecLike(values))) => text(values, code & 15)?.parse().ok(),
            (code, _) => Some(code),
        }
    }

    /// Number of channels.
    fn lanes(&self) -> Option<u32> {
        match self.operands.get(self.desc.exec_slot()?)? {
            Operand::Exec(e) if e.log2 <= 5 => Some(e.channels()),
            _ => None,
        }
    }

    /// Bytes up to the last element of the last of `rows` rows of `lanes` elements: rows start at registers.
    fn rows(&self, rows: u32, lanes: u32, bytes: u32) -> Option<u32> {
        let row = (lanes * bytes).next_multiple_of(self.grf);
        row.checked_mul(rows.checked_sub(1)?)?.checked_add(lanes * bytes)
    }

    fn lsc_data(&self) -> Option<u32> {
        let register = lsc::data_size(self.code(SlotName::DataSize)?)?.register;
        // A quad's mask is its own; of others the field repeats the number of elements.
        let elements = match self.find(SlotName::ChMask)? {
            (mask, Some(Enc::Hex { .. })) => mask.count_ones(),
            _ => lsc::elements(self.code(SlotName::DataElems)?)?,
        };
        if lsc::is_transposed(self.code(SlotName::DataOrder)?) {
            return register.checked_mul(elements);
        }
        self.rows(elements, self.lanes()?, register)
    }

    fn block2d(&self, role: Role) -> Option<u32> {
        let shape = lsc::Block2d::new(
            self.code(SlotName::DataSize)?,
            lsc::is_transposed(self.code(SlotName::DataOrder)?),
            self.code(SlotName::Vnni)? != 0,
            // Writers leave the number of a single block out.
            (self.code(SlotName::Blocks)?.max(1), self.code(SlotName::Width)?, self.code(SlotName::Height)?),
            self.grf,
        )?;
        // Of a store, the padding after the last row is not looked at.
        if role == Role::Read { shape.up_to_last() } else { Some(shape.bytes) }
    }

    fn systolic(&self, which: SystolicOperand, ty: Option<Type>) -> Option<u32> {
        let m = Matrices::of(self.code(SlotName::Control)?)?;
        let lanes = self.lanes()?;
        Some(match which {
            SystolicOperand::Accumulator => ty.map_or(4, Type::size) * lanes * m.repeats,
            SystolicOperand::Weights => 4 * lanes * m.weight_dwords(),
            SystolicOperand::Activations { pair } => m.activation_bytes(pair),
            SystolicOperand::WeightScales => m.scale_bytes(lanes),
            SystolicOperand::ActivationScales => m.scale_bytes(m.repeats),
        })
    }

    fn sampled(&self, ty: Option<Type>) -> Option<u32> {
        let channels = match self.code(SlotName::Channels) {
            Some(mask) => mask.count_ones(),
            // Gathers return four texels of the one channel.
            None => 4,
        };
        let bytes = ty.map_or(4, Type::size);
        if self.code(SlotName::Flags.part(PartName::PixelNullMask)).is_some_and(|f| f != 0) {
            // The mask is a dword of one more register.
            return self.rows(channels, self.lanes()?, bytes).map(|n| n.next_multiple_of(self.grf) + 4);
        }
        self.rows(channels, self.lanes()?, bytes)
    }

    /// VME's integer motion estimation: payload and result are longer with streams.
    fn motion_streams(&self) -> Option<u32> {
        Some(match (self.code(SlotName::StreamMode)?, self.code(SlotName::SearchCtrl)?) {
            (0, _) => 0,
            (_, 3) => 128,
            _ => 64,
        })
    }
}

fn text(values: &[Value], code: u32) -> Option<&'static str> {
    values.iter().find(|v| v.code == code).map(|v| v.text)
}

/// Bytes that an instruction reads or writes of the register operand in `slot`, counted from the operand's
/// offset, with registers of `grf_bytes`; every channel counts as active. `type_of` gives variables' types.
///
/// For parameters of a variadic slot `slot` may be past the last slot. `None` where the operand is not a raw
/// operand (nor a matrix or a scale of DPAS and BDPAS), where the row gives no size (what has no public definition), or where a field has
/// no meaning. A `%null` operand takes 0 bytes.
pub fn register_bytes(
    op: Op,
    operands: &[Operand],
    slot: usize,
    grf_bytes: u32,
    type_of: &dyn Fn(u32) -> Option<Type>,
) -> Option<u32> {
    let (Operand::Raw { var, .. } | Operand::General { var, .. }) = *operands.get(slot)? else { return None };
    if var == 0 {
        return Some(0);
    }
    let desc = op.desc();
    let f = Fields { desc, operands, grf: grf_bytes };
    let slot = desc.slots.get(slot).or(desc.slots.last())?;
    match slot.bytes {
        Bytes::None | Bytes::Region | Bytes::Undefined => None,
        Bytes::Fixed(n) => Some(n),
        Bytes::Register => Some(f.grf),
        Bytes::Header => Some(32),
        Bytes::PerChannel(n) => f.lanes()?.checked_mul(n),
        Bytes::PerChannelOf(name) => f.lanes()?.checked_mul((f.number(name)? / 8).max(4)),
        Bytes::Coordinates => f.lanes()?.checked_mul(type_of(var).map_or(4, |t| t.size().min(4))),
        Bytes::Elements(name, n) => f.number(name)?.checked_mul(n),
        Bytes::Field(name) => f.code(name),
        Bytes::Registers(name) => f.code(name)?.checked_mul(f.grf),
        Bytes::Rows { mask } => f.rows(f.code(mask)?.count_ones(), f.lanes()?, 4),
        Bytes::OldRows { mask, lanes } => f.rows(f.code(mask)?.count_ones(), f.number(lanes)?, 4),
        Bytes::RowsOf(name) => (4 * f.lanes()?).checked_next_multiple_of(f.grf)?.checked_mul(f.code(name)?),
        Bytes::Blocks { count, size } => {
            let count = f.number(count)?;
            let size = match size {
                None => 8,
                // The page's code of 8-byte blocks; tools write 2.
                Some(size) if f.code(size)? == 3 => 8,
                Some(size) => f.number(size)?,
            };
            f.lanes()?.checked_mul(match size {
                1 => count.max(4),
                n => n.checked_mul(count)?,
            })
        }
        Bytes::Rectangle => {
            let pitch = lsc::media_pitch(f.code(SlotName::Width)?)?;
            pitch
                .checked_mul(f.code(SlotName::Height)?.checked_sub(1)?)?
                .checked_add(f.code(SlotName::Width)?)
        }
        Bytes::LscAddresses => {
            let bytes = lsc::address_bytes(f.code(SlotName::AddrSize)?)?;
            // One address for a transposed or strided access, else one a channel.
            let one = desc.slot_index(SlotName::Stride).is_some()
                || f.code(SlotName::DataOrder).is_some_and(lsc::is_transposed)
                    && desc.slot_index(SlotName::U).is_none();
            if one { Some(bytes) } else { bytes.checked_mul(f.lanes()?) }
        }
        Bytes::LscData => f.lsc_data(),
        Bytes::LscBlock2d => f.block2d(slot.role),
        Bytes::Systolic(which) => f.systolic(which, type_of(var)),
        Bytes::Sampled => f.sampled(type_of(var)),
        Bytes::MotionPayload => Some(64 + f.motion_streams()?),
        Bytes::MotionResult => Some(224 + f.motion_streams()?),
    }
}

/// Number of channels of GATHER and SCATTER, which pack it into a field; `None` where its code has no meaning.
pub fn packed_channels(desc: &'static InstDesc, operands: &[Operand]) -> Option<u32> {
    Fields { desc, operands, grf: 32 }.number(SlotName::NumElts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exec, ExecMask, Pred};

    const V: Operand = Operand::Raw { var: 40, offset: 0 };

    fn bytes(op: Op, operands: &[Operand], slot: usize, grf: u32) -> Option<u32> {
        register_bytes(op, operands, slot, grf, &|_| None)
    }

    fn exec(n: u32) -> Operand {
        Operand::Exec(Exec::from_channels(n, ExecMask::M1).expect("a size"))
    }

    #[test]
    fn svm_gather_of_bytes_spreads_over_dwords() {
        let ops = |size, blocks| {
            [exec(8), Operand::Pred(Pred::NONE), Operand::Int(size), Operand::Int(blocks), V, V]
        };
        assert_eq!(bytes(Op::SvmGather, &ops(0, 0), 5, 32), Some(32));
        assert_eq!(bytes(Op::SvmGather, &ops(0, 3), 5, 32), Some(64));
        assert_eq!(bytes(Op::SvmGather, &ops(2, 1), 5, 32), Some(128));
        assert_eq!(bytes(Op::SvmGather, &ops(2, 1), 4, 32), Some(64));
        assert_eq!(bytes(Op::SvmGather, &ops(3, 0), 5, 32), Some(64));
        assert_eq!(bytes(Op::SvmGather, &ops(4, 0), 5, 32), None);
    }

    #[test]
    fn typed_channels_start_at_registers() {
        let ops = [
            exec(8),
            Operand::Pred(Pred::NONE),
            Operand::Int(0b1011),
            Operand::Surface(6),
            V,
            Operand::RAW_NULL,
            V,
            V,
            V,
        ];
        assert_eq!(bytes(Op::Gather4Typed, &ops, 8, 32), Some(96));
        assert_eq!(bytes(Op::Gather4Typed, &ops, 8, 64), Some(2 * 64 + 32));
        assert_eq!(bytes(Op::Gather4Typed, &ops, 4, 64), Some(32));
        assert_eq!(bytes(Op::Gather4Typed, &ops, 5, 64), Some(0));
    }

    #[test]
    fn owords_and_elements() {
        let ops = [Operand::Int(3), Operand::Int(0), Operand::Surface(6), Operand::Int(0), V];
        assert_eq!(bytes(Op::OwordLdUnaligned, &ops, 4, 32), Some(128));
        let scatter =
            |code| [Operand::Int(0), Operand::Int(code), Operand::Surface(6), Operand::Int(0), V, V];
        assert_eq!(bytes(Op::Scatter, &scatter(0x11), 5, 32), Some(64));
        assert_eq!(bytes(Op::Scatter, &scatter(0x02), 5, 32), Some(4));
        assert_eq!(bytes(Op::Scatter, &scatter(0x03), 5, 32), None);
        assert_eq!(packed_channels(Op::Scatter.desc(), &scatter(3)), None);
    }

    #[test]
    fn systolic_matrices() {
        // s8, s8, depth 8, 4 repetitions on 8 channels: B fills a dword for each depth.
        let control = Operand::Int(8 | 8 << 8 | 8 << 16 | 4 << 24);
        let ops = [exec(8), V, V, V, V, control];
        assert_eq!(bytes(Op::Dpas, &ops, 1, 32), Some(128));
        assert_eq!(bytes(Op::Dpas, &ops, 3, 32), Some(256));
        assert_eq!(bytes(Op::Dpas, &ops, 4, 32), Some(128));
        assert_eq!(bytes(Op::Dpasw, &ops, 4, 32), Some(64));
        assert_eq!(register_bytes(Op::Dpas, &ops, 1, 32, &|_| Some(Type::Hf)), Some(64));
        // 2 bits against 8: four depths share a dword.
        let control = Operand::Int(4 | 8 << 8 | 8 << 16 | 1 << 24);
        assert_eq!(bytes(Op::Dpas, &[exec(8), V, V, V, V, control], 3, 32), Some(64));
    }

    #[test]
    fn loads_through_the_sampler_return_what_the_variable_holds() {
        let desc = Op::Load3dLz.desc();
        let operands: Vec<Operand> = desc
            .slots
            .iter()
            .map(|s| match s.name {
                SlotName::Exec => exec(16),
                SlotName::Flags => Operand::Int(0),
                SlotName::Channels => Operand::Int(0b0111),
                _ => V,
            })
            .collect();
        let dst = desc.slot_index(SlotName::Dst).expect("a destination");
        let of = |ty| register_bytes(Op::Load3dLz, &operands, dst, 32, &move |_| Some(ty));
        assert_eq!(of(Type::F), Some(3 * 64));
        assert_eq!(of(Type::Hf), Some(3 * 32));
    }
}
