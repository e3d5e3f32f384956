//! The matrices of DPAS and DPASW (pages DPAS, DPASW): precisions of their elements, and how they lie in registers.

/// The type of the elements of `src1` or `src2`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Precision {
    /// Unsigned 1 bit.
    U1,
    /// Signed 1 bit: 0 or −1.
    S1,
    /// Unsigned 2 bits.
    U2,
    /// Signed 2 bits.
    S2,
    /// Unsigned 4 bits.
    U4,
    /// Signed 4 bits.
    S4,
    /// Unsigned 8 bits.
    U8,
    /// Signed 8 bits.
    S8,
    /// bfloat16.
    Bf,
    /// Half.
    Hf,
    /// TF32: a dword whose low 13 bits are ignored.
    Tf32,
    /// 8-bit float E5M2.
    Bf8,
    /// 8-bit float E4M3.
    Hf8,
    /// 4-bit float E2M1.
    E2m1,
}

impl Precision {
    /// The precision of this number in the binary, as it is really written: 11 is `bf8` and 12 `tf32`, which
    /// the page has as 11. `hf8` and `e2m1` came with 4.2.
    pub const fn from_code(code: u8) -> Option<Precision> {
        use Precision::*;
        const ALL: [Precision; 12] = [U1, S1, U2, S2, U4, S4, U8, S8, Bf, Hf, Bf8, Tf32];
        match code {
            1..=12 => Some(ALL[code as usize - 1]),
            14 => Some(Hf8),
            15 => Some(E2m1),
            _ => None,
        }
    }

    /// As text spells it.
    pub const fn name(self) -> &'static str {
        use Precision::*;
        match self {
            U1 => "u1",
            S1 => "s1",
            U2 => "u2",
            S2 => "s2",
            U4 => "u4",
            S4 => "s4",
            U8 => "u8",
            S8 => "s8",
            Bf => "bf",
            Hf => "hf",
            Tf32 => "tf32",
            Bf8 => "bf8",
            Hf8 => "hf8",
            E2m1 => "e2m1",
        }
    }

    /// Bits an element takes.
    pub const fn bits(self) -> u32 {
        match self {
            Precision::U1 | Precision::S1 => 1,
            Precision::U2 | Precision::S2 => 2,
            Precision::U4 | Precision::S4 | Precision::E2m1 => 4,
            Precision::U8 | Precision::S8 | Precision::Bf8 | Precision::Hf8 => 8,
            Precision::Bf | Precision::Hf => 16,
            Precision::Tf32 => 32,
        }
    }

    /// Is it an integer type?
    pub const fn is_int(self) -> bool {
        use Precision::*;
        matches!(self, U1 | S1 | U2 | S2 | U4 | S4 | U8 | S8)
    }

    /// Is it a signed integer type?
    pub const fn is_signed(self) -> bool {
        matches!(self, Precision::S1 | Precision::S2 | Precision::S4 | Precision::S8)
    }
}

/// Products of one channel and one depth, for elements of so many bits: 1 for tf32, 2 for 16 bits, 4 if either
/// has 8, else 8.
pub const fn ops_per_channel(weights: u32, activations: u32) -> u32 {
    match (weights, activations) {
        (32, _) => 1,
        (16, _) => 2,
        (8, _) | (_, 8) => 4,
        _ => 8,
    }
}

/// Elements of the inner dimension that share a scale (BDPAS).
pub const SCALE_BLOCK: u32 = 32;
/// Bytes from the scales of one block to those of the next one.
pub const SCALE_STRIDE: u32 = 32;

/// The packed field of the instruction, read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Matrices {
    /// Of `src1`.
    pub weights: Precision,
    /// Of `src2`.
    pub activations: Precision,
    /// Systolic depth.
    pub depth: u32,
    /// Repeat count.
    pub repeats: u32,
}

impl Matrices {
    /// Of the field's value: a byte each for the precisions, depth and count. `None` where a precision has no
    /// meaning, the depth is none of 1, 2, 4 and 8, or the count is none of 1 to 8.
    pub const fn of(control: u32) -> Option<Matrices> {
        let [weights, activations, depth, repeats] = control.to_le_bytes();
        match (Precision::from_code(weights), Precision::from_code(activations), depth, repeats) {
            (Some(weights), Some(activations), 1 | 2 | 4 | 8, 1..=8) => {
                Some(Matrices { weights, activations, depth: depth as u32, repeats: repeats as u32 })
            }
            _ => None,
        }
    }

    /// Products of one channel and one depth.
    pub const fn ops_per_channel(&self) -> u32 {
        ops_per_channel(self.weights.bits(), self.activations.bits())
    }

    /// Elements of the inner dimension.
    pub const fn inner(&self) -> u32 {
        self.depth * self.ops_per_channel()
    }

    /// Dwords of weights that a channel has: its column.
    pub const fn weight_dwords(&self) -> u32 {
        (self.inner() * self.weights.bits()).div_ceil(32)
    }

    /// Bytes of all activations, row by row; of a fused pair's, the greater part, which is that of the even thread.
    pub const fn activation_bytes(&self, pair: bool) -> u32 {
        let all = (self.inner() * self.repeats * self.activations.bits()).div_ceil(8);
        // Whole registers of 32 bytes.
        if pair { all.div_ceil(64) * 32 } else { all }
    }

    /// Blocks of the inner dimension that have scales of their own.
    pub const fn blocks(&self) -> u32 {
        self.inner().div_ceil(SCALE_BLOCK)
    }

    /// Bytes from the first scale of the first block to the last one of the last, of so many a block.
    pub const fn scale_bytes(&self, each: u32) -> u32 {
        (self.blocks() - 1) * SCALE_STRIDE + each
    }

    /// Bytes of the activations of one repeat, which `src2` is aligned to.
    pub const fn activation_row_bytes(&self) -> u32 {
        (self.inner() * self.activations.bits()).div_ceil(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{desc::Enc, desc::SlotKind, table::Op};

    #[test]
    fn precisions_are_the_tables() {
        let desc = Op::Dpas.desc();
        let SlotKind::Packed { parts, .. } =
            desc.slots[desc.slot_index(crate::SlotName::Control).expect("a field")].kind
        else {
            panic!("it is packed");
        };
        for part in &parts[..2] {
            let Enc::Values(values) = part.enc else { panic!("it has values") };
            for code in 0..=255u8 {
                let name = Precision::from_code(code).map(Precision::name);
                let text = values.iter().find(|v| v.code == code.into()).map(|v| v.text);
                assert_eq!(name, text, "code {code}");
            }
        }
    }

    #[test]
    fn products_a_channel() {
        // The page's four lines.
        assert_eq!(ops_per_channel(32, 32), 1);
        assert_eq!(ops_per_channel(16, 16), 2);
        for (w, a) in [(8, 8), (8, 2), (2, 8), (4, 8)] {
            assert_eq!(ops_per_channel(w, a), 4);
        }
        for (w, a) in [(4, 4), (2, 4), (2, 2), (1, 1)] {
            assert_eq!(ops_per_channel(w, a), 8);
        }
        // tf32, depth 8, 4 repeats: 8 dwords a channel, 32 dwords of activations.
        let m = Matrices::of(12 | 12 << 8 | 8 << 16 | 4 << 24).expect("a shape");
        assert_eq!((m.weight_dwords(), m.activation_bytes(false), m.activation_bytes(true)), (8, 128, 64));
        assert_eq!(Matrices::of(12 | 12 << 8 | 3 << 16 | 4 << 24), None);
    }
}
