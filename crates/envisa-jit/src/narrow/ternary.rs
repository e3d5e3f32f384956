//! Any truth table of three operands, by a few operations on two.

use iced_x86::{Code, Instruction};

use super::step_list::{O, Reg, half_register};
use super::vector::number;
use super::*;

const AND: Code = Code::VEX_Vpand_ymm_ymm_ymmm256;
const ANDN: Code = Code::VEX_Vpandn_ymm_ymm_ymmm256;
const OR: Code = Code::VEX_Vpor_ymm_ymm_ymmm256;
const XOR: Code = Code::VEX_Vpxor_ymm_ymm_ymmm256;

/// A table of two operands, the first on top: its value, as what it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Two {
    Never,
    Always,
    First,
    Second,
    /// An operation, its operands the other way round, the opposite of what it gives.
    Op(Code, bool, bool),
    /// The opposite of the first, or of the second.
    NotFirst,
    NotSecond,
}

fn two_operations(table: u8) -> Two {
    match table {
        0b0000 => Two::Never,
        0b1111 => Two::Always,
        0b1100 => Two::First,
        0b1010 => Two::Second,
        0b0011 => Two::NotFirst,
        0b0101 => Two::NotSecond,
        0b1000 => Two::Op(AND, false, false),
        0b0111 => Two::Op(AND, false, true),
        0b1110 => Two::Op(OR, false, false),
        0b0001 => Two::Op(OR, false, true),
        0b0110 => Two::Op(XOR, false, false),
        0b1001 => Two::Op(XOR, false, true),
        // Not the first, but the second.
        0b0010 => Two::Op(ANDN, false, false),
        0b1101 => Two::Op(ANDN, false, true),
        0b0100 => Two::Op(ANDN, true, false),
        _ => Two::Op(ANDN, true, true),
    }
}

fn operation_cost(t: Two) -> u32 {
    match t {
        Two::Never | Two::Always | Two::First | Two::Second => 0,
        Two::NotFirst | Two::NotSecond | Two::Op(_, _, false) => 1,
        Two::Op(_, _, true) => 2,
    }
}

/// Of a table of three operands the two tables of the others: where the chosen one is 0, and what is changed by it.
fn split(table: u8, by: u32) -> (u8, u8) {
    let others: Vec<u32> = (0..3).filter(|k| *k != by).collect();
    let (mut zero, mut change) = (0, 0);
    for index in 0..4u32 {
        // Bit 2 of an index is the first operand's.
        let at = (index >> 1 & 1) << (2 - others[0]) | (index & 1) << (2 - others[1]);
        let (no, yes) = (table >> at & 1, table >> (at | 1 << (2 - by)) & 1);
        zero |= no << index;
        change |= (no ^ yes) << index;
    }
    (zero, change)
}

impl Narrow<'_> {
    pub(super) fn ternary(&mut self, i: &Instruction, w: usize) -> Result<(), Unsupported> {
        let (dst, b) = (number(i.op0_register()), number(i.op1_register()));
        let lanes = Self::lanes(i);
        let table = i.immediate8();
        let c = self.src(i, 2, 4);
        for h in 0..Self::halves(w) {
            let c = if w == 0 { O::R(self.loaded(c, h, w)) } else { c.half(h) };
            self.put((dst, lanes, 4, h), |n, to| {
                n.table(to, table, [O::R(half_register(dst, h)), O::R(half_register(b, h)), c])
            });
        }
        self.clear(dst, w);
        Ok(())
    }

    fn table(&mut self, to: Reg, table: u8, of: [O; 3]) {
        let price = |by: u32| {
            let (zero, change) = split(table, by);
            let (z, c) = (two_operations(zero), two_operations(change));
            let join = match (z, c) {
                (_, Two::Never) => 0,
                (Two::Never, Two::Always) => 0,
                (Two::Never, _) | (_, Two::Always) => 1,
                _ => 2,
            };
            operation_cost(z) + operation_cost(c) + join
        };
        let by = (0..3).min_by_key(|k| price(*k)).unwrap_or(0);
        let (zero, change) = split(table, by);
        let others: Vec<O> = (0..3).filter(|k| *k != by).map(|k| of[k as usize]).collect();
        let pivot = of[by as usize];
        let base = self.of_two(two_operations(zero), others[0], others[1]);
        let flips = match two_operations(change) {
            Two::Never => None,
            Two::Always => Some(pivot),
            c => {
                let f = self.of_two(c, others[0], others[1]);
                let (f, p) = match (f, pivot) {
                    (Some(O::R(f)), p) => (f, p),
                    (Some(f), O::R(p)) => (p, f),
                    (f, p) => (self.list.in_reg(f.unwrap_or(p)), p),
                };
                let t = self.list.temp();
                self.list.three(AND, t, f, p);
                Some(O::R(t))
            }
        };
        match (base, flips) {
            (None, None) => self.list.zero(to),
            (Some(o), None) | (None, Some(o)) => match o {
                O::R(r) => self.list.copy(to, r),
                o => self.list.two(super::step_list::LOAD[1], to, o),
            },
            (Some(O::R(r)), Some(o)) | (Some(o), Some(O::R(r))) => self.list.three(XOR, to, r, o),
            (Some(a), Some(b)) => {
                let a = self.list.in_reg(a);
                self.list.three(XOR, to, a, b);
            }
        }
    }

    /// A table of two operands; nothing is all zeros.
    fn of_two(&mut self, t: Two, a: O, b: O) -> Option<O> {
        let ones = O::M(self.all(!0));
        let inverted = |n: &mut Self, r: Reg| {
            let t = n.list.temp();
            n.list.three(XOR, t, r, ones);
            Some(O::R(t))
        };
        match t {
            Two::Never => None,
            Two::Always => Some(ones),
            Two::First => Some(a),
            Two::Second => Some(b),
            Two::NotFirst | Two::NotSecond => {
                let r = self.list.in_reg(if t == Two::NotFirst { a } else { b });
                inverted(self, r)
            }
            Two::Op(code, swapped, invert) => {
                let (a, b) = if swapped { (b, a) } else { (a, b) };
                let (a, b) = match (a, b) {
                    (O::M(_), O::R(_)) if code != ANDN => (b, a),
                    other => other,
                };
                let a = self.list.in_reg(a);
                let t = self.list.temp();
                self.list.three(code, t, a, b);
                if invert { inverted(self, t) } else { Some(O::R(t)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AND, ANDN, OR, Two, split, two_operations};

    fn truth_table_value(t: Two, a: bool, b: bool) -> bool {
        match t {
            Two::Never => false,
            Two::Always => true,
            Two::First => a,
            Two::Second => b,
            Two::NotFirst => !a,
            Two::NotSecond => !b,
            Two::Op(code, swapped, invert) => {
                let (a, b) = if swapped { (b, a) } else { (a, b) };
                let x = match code {
                    c if c == AND => a && b,
                    c if c == OR => a || b,
                    c if c == ANDN => !a && b,
                    _ => a != b,
                };
                x != invert
            }
        }
    }

    #[test]
    fn every_table_splits_by_every_operand() {
        for table in 0..=255u8 {
            for by in 0..3 {
                let (zero, change) = split(table, by);
                for index in 0..8usize {
                    let of = [index >> 2 & 1 == 1, index >> 1 & 1 == 1, index & 1 == 1];
                    let others: Vec<bool> = (0..3).filter(|k| *k != by).map(|k| of[k as usize]).collect();
                    let [z, c] =
                        [zero, change].map(|t| truth_table_value(two_operations(t), others[0], others[1]));
                    assert_eq!(z ^ (of[by as usize] && c), table >> index & 1 == 1, "{table:#x} by {by}");
                }
            }
        }
    }
}
