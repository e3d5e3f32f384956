//! Operators of the atomic messages: old value and operands to new value.
//!
//! Values are the low bits of a `u64`; a 16-bit atomic works on the low half of a dword (pages
//! DWORD_ATOMIC, SVM_ATOMIC, TYPED_ATOMIC, LSC_UNTYPED).

pub use envisa_isa::atomic::AtomicOp;

use crate::float::{Float, Relation};
use crate::float_mode::Ieee;
use crate::lane::{Bf, Hf, Lane};

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
pub const fn returned_value(op: AtomicOp, old: u64, new: u64) -> u64 {
    match op {
        AtomicOp::PreDec => new,
        _ => old,
    }
}
