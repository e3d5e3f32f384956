//! Arithmetic that the standard leaves undefined: divisors that are zero, numbers with signs that overflow, counts of shifts, floats
//! that become integers, and indices of vectors. Each is held against what is defined, in front of the operation.
//!
//! A compiler may give such an operation any result, and another one with another optimisation: programs whose results differ only by
//! that are not defined. Sums without signs wrap, and so do those of vectors, which compilers do not take for anything else; the first
//! half of the compiler marks the others (NoSignedWrap). (SPIR-V specification, 3.42.13, 3.42.11, 3.20.)

use std::collections::{BTreeMap, BTreeSet};

use envisa_zebin::check_reports::{Kind, ReportHeader, ReportedAccess};

use super::super::{Instruction, Rewriting};
use super::types::Shape;
use super::{Checking, op};

mod own {
    pub const TYPE_VECTOR: u32 = 23;
    pub const CONSTANT_COMPOSITE: u32 = 44;
    pub const DECORATE: u32 = 71;
    pub const VECTOR_EXTRACT_DYNAMIC: u32 = 77;
    pub const VECTOR_INSERT_DYNAMIC: u32 = 78;
    pub const CONVERT_F_TO_U: u32 = 109;
    pub const CONVERT_F_TO_S: u32 = 110;
    pub const S_NEGATE: u32 = 126;
    pub const U_DIV: u32 = 134;
    pub const S_DIV: u32 = 135;
    pub const U_MOD: u32 = 137;
    pub const S_REM: u32 = 138;
    pub const S_MOD: u32 = 139;
    pub const ANY: u32 = 154;
    pub const LOGICAL_OR: u32 = 166;
    pub const LOGICAL_AND: u32 = 167;
    pub const SELECT: u32 = 169;
    pub const I_EQUAL: u32 = 170;
    pub const I_NOT_EQUAL: u32 = 171;
    pub const S_LESS_THAN: u32 = 177;
    // True of NaN, too.
    pub const F_NOT_GREATER_THAN_EQUAL: u32 = 185;
    pub const F_NOT_GREATER_THAN: u32 = 189;
    pub const F_NOT_LESS_THAN: u32 = 191;
    pub const SHIFT_RIGHT_LOGICAL: u32 = 194;
    pub const SHIFT_RIGHT_ARITHMETIC: u32 = 195;
    pub const BITWISE_XOR: u32 = 198;
}

/// Decorations (3.20).
const SATURATED: u32 = 28;
const NO_SIGNED_WRAP: u32 = 4469;
/// The high half of a product of numbers with signs, in OpenCL's extended set.
const S_MUL_HI: u32 = 160;

/// What the checks of arithmetic know of a module.
pub(super) struct Arithmetic {
    /// Results that are undefined if they overflow.
    signed: BTreeSet<u32>,
    /// Conversions that give the nearest number.
    saturated: BTreeSet<u32>,
    /// Types and constants that were declared, by opcode and operands.
    declared: BTreeMap<(u32, Vec<u32>), u32>,
}

impl Arithmetic {
    pub fn of(module: &Rewriting) -> Arithmetic {
        let with = |decoration: u32| {
            let all = module.all.iter().filter(|i| i.op == own::DECORATE).map(|i| module.operands(i));
            all.filter(|o| o.get(1) == Some(&decoration)).map(|o| o[0]).collect()
        };
        Arithmetic { signed: with(NO_SIGNED_WRAP), saturated: with(SATURATED), declared: BTreeMap::new() }
    }
}

/// The type of an operand: itself, its elements' type and bytes, and how many there are.
#[derive(Clone, Copy)]
struct Kinds {
    ty: u32,
    element: u32,
    bytes: u64,
    count: u32,
}

impl Checking {
    /// Holds an operation against what is defined of it.
    pub(super) fn arithmetic(&mut self, i: &Instruction) {
        let operands = self.module.operands(i).to_vec();
        // None has more than five operands.
        let ([ty, id, rest @ ..], Some(known)) = (&operands[..], &self.arithmetic) else { return };
        let Some(kinds) = self.kinds(*ty) else { return };
        let overflows = known.signed.contains(id);
        let saturates = known.saturated.contains(id);
        match (i.op, rest) {
            (own::U_DIV | own::U_MOD, [_, divisor]) => self.divides(i.at, kinds, *divisor),
            (own::S_DIV | own::S_REM | own::S_MOD, [dividend, divisor]) => {
                self.divides(i.at, kinds, *divisor);
                self.least_by_minus_one(i.at, kinds, *dividend, *divisor);
            }
            (op::I_ADD | op::I_SUB | op::I_MUL, [a, b]) if overflows => self.sum(i, kinds, *a, *b),
            (own::S_NEGATE, [a]) if overflows => {
                let zero = self.number(kinds, 0);
                self.sum(i, kinds, zero, *a);
            }
            (op::SHIFT_LEFT_LOGICAL | own::SHIFT_RIGHT_LOGICAL | own::SHIFT_RIGHT_ARITHMETIC, [_, count]) => {
                self.shifts(i.at, kinds, *count);
            }
            (own::CONVERT_F_TO_S | own::CONVERT_F_TO_U, [from]) if !saturates => {
                self.converts(i, kinds, *from);
            }
            (own::VECTOR_EXTRACT_DYNAMIC, [vector, index])
            | (own::VECTOR_INSERT_DYNAMIC, [vector, _, index]) => self.component(i, *vector, *index),
            _ => {}
        }
    }

    fn kinds(&self, ty: u32) -> Option<Kinds> {
        let this = self.types.get(ty)?;
        match this.shape {
            Shape::Number => Some(Kinds { ty, element: ty, bytes: this.bytes, count: 1 }),
            Shape::Vector(element, count) => {
                Some(Kinds { ty, element, bytes: self.types.get(element)?.bytes, count })
            }
            _ => None,
        }
    }

    fn divides(&mut self, at: usize, kinds: Kinds, divisor: u32) {
        if self.types.constant(divisor).is_some_and(|n| n != 0) {
            return;
        }
        let zero = self.number(kinds, 0);
        let bad = self.compare(at, own::I_EQUAL, kinds.count, [divisor, zero]);
        self.report_if(at, kinds, bad, Kind::Divisor, 0);
    }

    fn least_by_minus_one(&mut self, at: usize, kinds: Kinds, dividend: u32, divisor: u32) {
        if self.types.constant(divisor).is_some_and(|n| n != -1) {
            return;
        }
        let least = self.number(kinds, 1 << (8 * kinds.bytes - 1));
        let minus_one = self.number(kinds, u64::MAX);
        let least = self.compare(at, own::I_EQUAL, kinds.count, [dividend, least]);
        let by = self.compare(at, own::I_EQUAL, kinds.count, [divisor, minus_one]);
        let bad = self.compare(at, own::LOGICAL_AND, kinds.count, [least, by]);
        self.report_if(at, kinds, bad, Kind::Overflow, own::S_DIV);
    }

    /// A sum, difference or product of numbers with signs: it is the same with more bits.
    fn sum(&mut self, i: &Instruction, kinds: Kinds, a: u32, b: u32) {
        let at = i.at;
        let op = if i.op == own::S_NEGATE { op::I_SUB } else { i.op };
        let bad = if kinds.bytes < 8 {
            let wide = self.several(self.ids.long, kinds.count);
            let [a, b] = [a, b].map(|n| self.make_of(at, op::S_CONVERT, wide, &[n]));
            let exact = self.make_of(at, op, wide, &[a, b]);
            let narrow = self.make_of(at, op::S_CONVERT, kinds.ty, &[exact]);
            let again = self.make_of(at, op::S_CONVERT, wide, &[narrow]);
            self.compare(at, own::I_NOT_EQUAL, kinds.count, [exact, again])
        } else {
            let sum = self.make_of(at, op, kinds.ty, &[a, b]);
            if op == op::I_MUL {
                let Some(set) = self.types.opencl() else { return };
                let high = self.make_of(at, op::EXT_INST, kinds.ty, &[set, S_MUL_HI, a, b]);
                let bits = self.number(kinds, 63);
                let sign = self.make_of(at, own::SHIFT_RIGHT_ARITHMETIC, kinds.ty, &[sum, bits]);
                self.compare(at, own::I_NOT_EQUAL, kinds.count, [high, sign])
            } else {
                // The sign of the sum differs from those of both, or that of the difference as the two do.
                let other = if op == op::I_SUB { a } else { sum };
                let one = self.make_of(at, own::BITWISE_XOR, kinds.ty, &[a, sum]);
                let two = self.make_of(at, own::BITWISE_XOR, kinds.ty, &[b, other]);
                let both = self.make_of(at, op::BITWISE_AND, kinds.ty, &[one, two]);
                let zero = self.number(kinds, 0);
                self.compare(at, own::S_LESS_THAN, kinds.count, [both, zero])
            }
        };
        self.report_if(at, kinds, bad, Kind::Overflow, op);
    }

    /// A count that the program masks is below the number of bits.
    fn shifts(&mut self, at: usize, kinds: Kinds, count: u32) {
        let bits = 8 * kinds.bytes;
        let inside = self.types.constant(count).is_some_and(|n| (0..bits as i64).contains(&n));
        let made = self.types.definition(count).map(|i| i.op);
        let Some(of) = self.types.type_of(count).and_then(|ty| self.kinds(ty)) else { return };
        if inside || matches!(made, Some(op::BITWISE_AND | own::CONSTANT_COMPOSITE)) {
            return;
        }
        let limit = self.number(of, bits);
        let bad = self.compare(at, op::U_GREATER_THAN_EQUAL, of.count, [count, limit]);
        self.report_if(at, kinds, bad, Kind::ShiftCount, 0);
    }

    fn converts(&mut self, i: &Instruction, kinds: Kinds, from: u32) {
        let Some(float) = self.types.type_of(from).and_then(|ty| self.kinds(ty)) else { return };
        let (at, bits) = (i.at, 8 * kinds.bytes as i32);
        let digits = match float.bytes {
            2 => 11,
            4 => 24,
            8 => 53,
            _ => return,
        };
        let signed = i.op == own::CONVERT_F_TO_S;
        let end = 2f64.powi(bits - i32::from(signed));
        // What is above the least number less one becomes the least number.
        let (below, least) = match signed {
            false => (own::F_NOT_GREATER_THAN, -1.0),
            true if bits <= digits => (own::F_NOT_GREATER_THAN, -end - 1.0),
            true => (own::F_NOT_GREATER_THAN_EQUAL, -end),
        };
        let [least, end] = [least, end].map(|x| self.float(float, x));
        let below = self.compare(at, below, float.count, [from, least]);
        let above = self.compare(at, own::F_NOT_LESS_THAN, float.count, [from, end]);
        let bad = self.compare(at, own::LOGICAL_OR, float.count, [below, above]);
        self.report_if(at, kinds, bad, Kind::Range, 0);
    }

    /// An index of a vector's element.
    fn component(&mut self, i: &Instruction, vector: u32, index: u32) {
        let Some(kinds) = self.types.type_of(vector).and_then(|ty| self.kinds(ty)) else { return };
        let limit = u64::from(kinds.count);
        if self.types.constant(index).is_some_and(|n| (0..limit as i64).contains(&n)) {
            return;
        }
        let does =
            if i.op == own::VECTOR_INSERT_DYNAMIC { ReportedAccess::Writes } else { ReportedAccess::Reads };
        let what = ReportHeader { kind: Kind::Index, does, bytes: kinds.bytes as u16, bound: kinds.count };
        let value = self.long(i.at, index);
        self.call(i.at, value, limit, what, "");
    }

    /// Reports something if it is so of any element.
    fn report_if(&mut self, at: usize, kinds: Kinds, bad: u32, kind: Kind, bound: u32) {
        let any = if kinds.count > 1 {
            let bool_type = self.bool_type();
            self.make_of(at, own::ANY, bool_type, &[bad])
        } else {
            bad
        };
        let [zero, one] = [0, 1].map(|n| self.constant(n));
        let value = self.make(at, own::SELECT, &[any, one, zero]);
        let what = ReportHeader { kind, does: ReportedAccess::Reads, bytes: kinds.bytes as u16, bound };
        self.call(at, value, 1, what, "");
    }

    fn make_of(&mut self, at: usize, op: u32, ty: u32, operands: &[u32]) -> u32 {
        let id = self.module.id();
        let all: Vec<u32> = [ty, id].iter().chain(operands).copied().collect();
        self.module.put(at, op, &all);
        id
    }

    fn compare(&mut self, at: usize, op: u32, count: u32, operands: [u32; 2]) -> u32 {
        let ty = self.bools(count);
        self.make_of(at, op, ty, &operands)
    }

    /// So many of what is true or false.
    fn bools(&mut self, count: u32) -> u32 {
        let bool_type = self.bool_type();
        self.several(bool_type, count)
    }

    /// A vector of so many; one is none.
    fn several(&mut self, of: u32, count: u32) -> u32 {
        if count == 1 {
            return of;
        }
        let is_it = |i: &&Instruction| {
            i.op == own::TYPE_VECTOR && self.module.operands(i).get(1..) == Some(&[of, count])
        };
        let known = self.module.all.iter().find(is_it).map(|i| self.module.operands(i)[0]);
        known.unwrap_or_else(|| self.declared(own::TYPE_VECTOR, &[of, count], |id| vec![id, of, count]))
    }

    /// Declares something once.
    fn declared(&mut self, op: u32, key: &[u32], operands: impl FnOnce(u32) -> Vec<u32>) -> u32 {
        let key = (op, key.to_vec());
        if let Some(id) = self.arithmetic.as_ref().and_then(|a| a.declared.get(&key)) {
            return *id;
        }
        let id = self.module.id();
        self.module.put(self.first, op, &operands(id));
        self.arithmetic.iter_mut().for_each(|a| {
            a.declared.insert(key.clone(), id);
        });
        id
    }

    /// A constant of each element: these bits.
    fn splat(&mut self, kinds: Kinds, bits: u64) -> u32 {
        let mut words = vec![kinds.element, bits as u32];
        if kinds.bytes == 8 {
            words.push((bits >> 32) as u32);
        }
        let key = words.clone();
        let one = self.declared(op::CONSTANT, &key, |id| {
            words.insert(1, id);
            words
        });
        if kinds.count == 1 {
            return one;
        }
        self.declared(own::CONSTANT_COMPOSITE, &[kinds.ty, one], |id| {
            [kinds.ty, id].into_iter().chain(std::iter::repeat_n(one, kinds.count as usize)).collect()
        })
    }

    /// A whole number; narrow ones have zeros in the bits that they do not have.
    fn number(&mut self, kinds: Kinds, value: u64) -> u32 {
        let mask = if kinds.bytes >= 8 { u64::MAX } else { (1 << (8 * kinds.bytes)) - 1 };
        self.splat(kinds, value & mask)
    }

    /// A float that its type has; what is too large for a half is infinite.
    fn float(&mut self, kinds: Kinds, value: f64) -> u32 {
        let bits = match kinds.bytes {
            2 => u64::from(half_bits(value as f32)),
            4 => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        };
        self.splat(kinds, bits)
    }
}

/// The bits of a half that is not too small to be a normal one.
fn half_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    let (sign, exponent) = ((bits >> 16) as u16 & 0x8000, (bits >> 23) as i32 % 256 - 127);
    if exponent > 15 {
        return sign | 0x7c00;
    }
    sign | ((exponent + 15) as u16) << 10 | (bits >> 13) as u16 & 0x3ff
}

#[cfg(test)]
mod tests {
    use super::half_bits;

    #[test]
    fn halves_have_their_bits() {
        let all = [1.0, -1.0, -129.0, 128.0, 32768.0, -32768.0, 65536.0].map(half_bits);
        assert_eq!(all, [0x3c00, 0xbc00, 0xd808, 0x5800, 0x7800, 0xf800, 0x7c00]);
    }
}
