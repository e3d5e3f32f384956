//! Operators of the atomic messages: old value and operands to new value.
//!
//! Values are the low bits of a `u64`; a 16-bit atomic works on the low half of a dword (pages
//! DWORD_ATOMIC, SVM_ATOMIC, TYPED_ATOMIC, LSC_UNTYPED).

use crate::float::{Float, Relation};
use crate::lane::{Bf, Hf, Lane};
use crate::mode::Ieee;

/// The width of an atomic's datum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AtomicWidth {
    /// 16 bits; floats are `hf`.
    W16,
    /// 32 bits; floats are `f`.
    W32,
    /// 64 bits; floats are `df`.
    W64,
}

impl AtomicWidth {
    /// Bits.
    pub const fn bits(self) -> u32 {
        match self {
            AtomicWidth::W16 => 16,
            AtomicWidth::W32 => 32,
            AtomicWidth::W64 => 64,
        }
    }

    /// A word whose low bits of this width are ones.
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
}

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
    /// `new` if `old == compare`. Which operand is which differs by message: see [`Operands`].
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

/// The data operands of an atomic, told apart by meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Operands {
    /// The operand `a`; for the compare-exchanges the *new* value.
    pub value: u64,
    /// What the compare-exchanges compare the old value with.
    pub compare: u64,
}

impl Operands {
    /// From the sources of DWORD_ATOMIC, SVM_ATOMIC or TYPED_ATOMIC: `cmpxchg` has the new value first,
    /// `fcmpwr` the comparand first (page DWORD_ATOMIC).
    pub const fn legacy(op: AtomicOp, src0: u64, src1: u64) -> Operands {
        match op {
            AtomicOp::FcmpWr => Operands { value: src1, compare: src0 },
            _ => Operands { value: src0, compare: src1 },
        }
    }

    /// From the data sources of an LSC atomic: both compare-exchanges have the comparand first.
    pub const fn lsc(op: AtomicOp, src1: u64, src2: u64) -> Operands {
        match op {
            AtomicOp::CmpXchg | AtomicOp::FcmpWr | AtomicOp::BfCas => Operands { value: src2, compare: src1 },
            _ => Operands { value: src1, compare: src2 },
        }
    }
}

/// The value the operator stores, given the old one. Bits above the width are ignored and zero in the
/// result. Denormals are kept and sums round to nearest even whatever `%cr0` says: the operation is done
/// in the cache, not in the EU.
pub fn apply(op: AtomicOp, width: AtomicWidth, old: u64, x: Operands) -> u64 {
    use AtomicOp::*;
    let mask = width.mask();
    let (old, a) = (old & mask, x.value & mask);
    let signed = |v: u64| ((v << (64 - width.bits())) as i64) >> (64 - width.bits());
    let new = match op {
        Add => old.wrapping_add(a),
        Sub => old.wrapping_sub(a),
        Inc => old.wrapping_add(1),
        Dec | PreDec => old.wrapping_sub(1),
        Umin => old.min(a),
        Umax => old.max(a),
        Imin => signed(old).min(signed(a)) as u64,
        Imax => signed(old).max(signed(a)) as u64,
        Xchg => a,
        CmpXchg => {
            if old == x.compare & mask {
                a
            } else {
                old
            }
        }
        And => old & a,
        Or => old | a,
        Xor => old ^ a,
        Load => old,
        BfAdd => float::<Bf>(Fadd, old, a, x.compare),
        BfSub => float::<Bf>(Fsub, old, a, x.compare),
        BfMin => float::<Bf>(Fmin, old, a, x.compare),
        BfMax => float::<Bf>(Fmax, old, a, x.compare),
        BfCas => float::<Bf>(FcmpWr, old, a, x.compare),
        Fadd | Fsub | Fmin | Fmax | FcmpWr => match width {
            AtomicWidth::W16 => float::<Hf>(op, old, a, x.compare),
            AtomicWidth::W32 => float::<f32>(op, old, a, x.compare),
            AtomicWidth::W64 => float::<f64>(op, old, a, x.compare),
        },
    };
    new & mask
}

fn float<T: Float>(op: AtomicOp, old: u64, a: u64, compare: u64) -> u64 {
    let (o, v) = (<T as Lane>::from_bits(old), <T as Lane>::from_bits(a));
    let new = match op {
        AtomicOp::Fadd => o.add(v, Ieee),
        AtomicOp::Fsub => o.add(Lane::neg(v), Ieee),
        AtomicOp::Fmin => v.min(o, Ieee),
        AtomicOp::Fmax => v.max(o, Ieee),
        _ if o.compare(Relation::Eq, <T as Lane>::from_bits(compare), Ieee) => v,
        _ => o,
    };
    Lane::to_bits(new)
}

/// What the message returns, given the old and the new value: the old one, except for `predec`.
pub const fn returned(op: AtomicOp, old: u64, new: u64) -> u64 {
    match op {
        AtomicOp::PreDec => new,
        _ => old,
    }
}
