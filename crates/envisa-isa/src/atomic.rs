//! Operators of the atomic messages, and their codes.

/// An atomic operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AtomicOp {
    /// `old + a`.
    Add,
    /// `old − a`.
    Sub,
    /// `old + 1`, wrapping.
    Inc,
    /// `old − 1`, wrapping.
    Dec,
    /// Unsigned minimum.
    Umin,
    /// Unsigned maximum.
    Umax,
    /// Signed minimum.
    Imin,
    /// Signed maximum.
    Imax,
    /// `a` (also the LSC atomic store).
    Xchg,
    /// `new` if `old == compare`. Which operand is which differs by message.
    CmpXchg,
    /// `old & a`.
    And,
    /// `old | a`.
    Or,
    /// `old ^ a`.
    Xor,
    /// `old − 1`; the message returns the *new* value.
    PreDec,
    /// Float sum, to nearest even.
    Fadd,
    /// Float difference `old − a`, to nearest even.
    Fsub,
    /// Float minimum; a NaN loses against a number.
    Fmin,
    /// Float maximum; a NaN loses against a number.
    Fmax,
    /// `new` if `old == compare` as floats: −0 equals +0, a NaN equals nothing.
    FcmpWr,
    /// No change (the LSC atomic load).
    Load,
    /// As [`AtomicOp::Fadd`], on 16 bits of brain float.
    BfAdd,
    /// As [`AtomicOp::Fsub`], on 16 bits of brain float.
    BfSub,
    /// As [`AtomicOp::Fmin`], on 16 bits of brain float.
    BfMin,
    /// As [`AtomicOp::Fmax`], on 16 bits of brain float.
    BfMax,
    /// As [`AtomicOp::FcmpWr`], on 16 bits of brain float.
    BfCas,
}

impl AtomicOp {
    /// The operator of a code in DWORD_ATOMIC, SVM_ATOMIC and TYPED_ATOMIC (bits 4:0). 0x13 and 0x14 are
    /// `fadd` and `fsub`, which assemblers write although the page's table ends at `fcmpwr`.
    pub const fn from_legacy_code(code: u8) -> Option<AtomicOp> {
        use AtomicOp::*;
        Some(match code {
            0 => Add,
            1 => Sub,
            2 => Inc,
            3 => Dec,
            4 => Umin,
            5 => Umax,
            6 => Xchg,
            7 => CmpXchg,
            8 => And,
            9 => Or,
            10 => Xor,
            11 => Imin,
            12 => Imax,
            13 => PreDec,
            16 => Fmax,
            17 => Fmin,
            18 => FcmpWr,
            19 => Fadd,
            20 => Fsub,
            _ => return None,
        })
    }

    /// The operator of an LSC sub-opcode (page LSC_UNTYPED).
    pub const fn from_lsc_subop(code: u8) -> Option<AtomicOp> {
        use AtomicOp::*;
        Some(match code {
            0x08 => Inc,
            0x09 => Dec,
            0x0a => Load,
            0x0b => Xchg,
            0x0c => Add,
            0x0d => Sub,
            0x0e => Imin,
            0x0f => Imax,
            0x10 => Umin,
            0x11 => Umax,
            0x12 => CmpXchg,
            0x13 => Fadd,
            0x14 => Fsub,
            0x15 => Fmin,
            0x16 => Fmax,
            0x17 => FcmpWr,
            0x18 => And,
            0x19 => Or,
            0x1a => Xor,
            0x21 => BfAdd,
            0x22 => BfSub,
            0x23 => BfMin,
            0x24 => BfMax,
            0x25 => BfCas,
            _ => return None,
        })
    }

    /// How many data operands it takes: 0, 1 or 2.
    pub const fn operands(self) -> u32 {
        match self {
            AtomicOp::Inc | AtomicOp::Dec | AtomicOp::PreDec | AtomicOp::Load => 0,
            AtomicOp::CmpXchg | AtomicOp::FcmpWr | AtomicOp::BfCas => 2,
            _ => 1,
        }
    }

    /// Does it treat the datum as a float?
    pub const fn is_float(self) -> bool {
        self.is_bf()
            || matches!(
                self,
                AtomicOp::Fadd | AtomicOp::Fsub | AtomicOp::Fmin | AtomicOp::Fmax | AtomicOp::FcmpWr
            )
    }

    /// Does it treat the datum as a brain float, whatever the width?
    pub const fn is_bf(self) -> bool {
        use AtomicOp::*;
        matches!(self, BfAdd | BfSub | BfMin | BfMax | BfCas)
    }
}
