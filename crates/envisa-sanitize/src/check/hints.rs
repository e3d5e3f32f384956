//! Hints: what is sound vISA and seldom meant. Integers divided by zero, shifts by as many bits as there are or more,
//! floats converted to integers that cannot hold them, addresses that are not a multiple of their element, instructions
//! that access more than one local variable.
//!
//! Only what is left of them in vISA is seen: OpenCL C takes the count of a shift modulo the width, which its compiler
//! writes out, and devices without a division of integers get a sequence of other instructions.

use std::sync::Arc;

use envisa_isa::Type;
use envisa_lower::{Dst, ExecType, Inst, Message, Modifier, Op, Program, Src};
use envisa_machine::thread::{Access, AccessSpace, Machine, Mask};

use super::{Checks, FindingKind, channels};

/// What an instruction is looked at for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hint {
    /// Nothing.
    None,
    /// Its second source is a divisor.
    Divisor,
    /// Its second source is a count of bits, less than this.
    Count(u8),
    /// Its source is a float that becomes an integer of this type.
    Convert(Type),
}

/// How far before a conversion what clamps its source is looked for, in instructions.
const CLAMPED: usize = 8;

/// What each instruction of a program is looked at for.
pub(super) fn of(p: &Program) -> Vec<Hint> {
    (0..p.code().len()).map(|pc| one(p, pc)).collect()
}

fn one(p: &Program, pc: usize) -> Hint {
    let i = &p.code()[pc];
    let integers = matches!(i.exec, ExecType::I32 | ExecType::U32 | ExecType::I64 | ExecType::U64);
    match (i.op, i.dst) {
        (Op::Div | Op::Mod, _) if integers => Hint::Divisor,
        (Op::Shl | Op::Shr | Op::Asr, _) if integers => {
            Hint::Count(if matches!(i.exec, ExecType::I64 | ExecType::U64) { 64 } else { 32 })
        }
        (Op::Mov, Dst::Reg { ty, sat: false, .. }) if ty.is_int() => {
            match i.src[0] {
                Src::Reg {
                    ty: Type::F | Type::Df | Type::Hf | Type::Bf, offset, constant: false, ..
                } if !is_clamped(&p.code()[pc.saturating_sub(CLAMPED)..pc], offset) => Hint::Convert(ty),
                _ => Hint::None,
            }
        }
        _ => Hint::None,
    }
}

/// Does one of the instructions before pick what is converted? Conversions that saturate do.
fn is_clamped(before: &[Inst], offset: u32) -> bool {
    let writer = before.iter().rev().find(|i| matches!(i.dst, Dst::Reg { offset: to, .. } if to == offset));
    writer.is_some_and(|i| matches!(i.op, Op::Sel | Op::Min | Op::Max))
}

/// The first part of an access that compilers made two instructions of, as it has more channels than one takes.
fn lead(p: &Program, pc: u32) -> u32 {
    let Some(half) = p.code().get(pc as usize) else { return pc };
    let other = |at: &u32| {
        p.code().get(*at as usize).is_some_and(|i| {
            (i.op, i.channels, i.function) == (half.op, half.channels, half.function) && i.first < half.first
        })
    };
    // A surface is moved in between.
    (pc.saturating_sub(HALVES_APART)..pc).rev().find(other).unwrap_or(pc)
}

/// How far the halves of an access are from each other.
const HALVES_APART: u32 = 3;

/// A number that a source gives a channel.
#[derive(Clone, Copy, Debug)]
enum Number {
    Integer(i128),
    Float(f64),
}

/// What a source gives a channel; `None` where it is found through an address register.
fn number(m: &Machine<'_>, src: &Src, channel: u32) -> Option<Number> {
    let Src::Reg { offset, ty, strides, modifier, .. } = *src else { return None };
    let bytes = m.t.regs.slice(offset + strides.element(channel) * ty.size(), ty.size());
    let mut raw = [0; 8];
    raw.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let raw = u64::from_le_bytes(raw);
    let value = match ty {
        Type::Df => Number::Float(f64::from_bits(raw)),
        Type::F => Number::Float(f64::from(f32::from_bits(raw as u32))),
        Type::Bf => Number::Float(f64::from(f32::from_bits((raw as u32) << 16))),
        Type::Hf => Number::Float(half(raw as u16)),
        _ if !ty.is_int() || ty.is_packed() => return None,
        _ if ty.is_signed() => {
            let unused = 64 - 8 * ty.size();
            Number::Integer(i128::from((raw << unused) as i64 >> unused))
        }
        _ => Number::Integer(i128::from(raw)),
    };
    Some(match (value, modifier) {
        (Number::Integer(x), Modifier::Neg) => Number::Integer(-x),
        (Number::Integer(x), Modifier::Abs) => Number::Integer(x.abs()),
        (Number::Integer(x), Modifier::NegAbs) => Number::Integer(-x.abs()),
        (Number::Integer(x), Modifier::Not) => Number::Integer(!x),
        (Number::Float(x), Modifier::Neg) => Number::Float(-x),
        (Number::Float(x), Modifier::Abs) => Number::Float(x.abs()),
        (Number::Float(x), Modifier::NegAbs) => Number::Float(-x.abs()),
        (x, _) => x,
    })
}

/// The value of a 16-bit float.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (fraction + 1024.0) * 2f64.powi(e - 25),
    };
    if bits >> 15 == 0 { size } else { -size }
}

/// Does an integer of this type hold what a float is without its fraction?
fn holds(ty: Type, x: f64) -> bool {
    let bits = 8 * ty.size() as i32;
    let (low, high) =
        if ty.is_signed() { (-2f64.powi(bits - 1), 2f64.powi(bits - 1)) } else { (0.0, 2f64.powi(bits)) };
    let whole = x.trunc();
    whole >= low && whole < high
}

impl Checks {
    /// Looks at the sources of an instruction before it is executed.
    pub(super) fn hints(&mut self, m: &Machine<'_>, pc: u32, i: &Inst, mask: Mask) {
        let hint = self.sites.hint(pc);
        if hint == Hint::None {
            return;
        }
        let active = if i.channels == 1 { mask & 1 } else { mask & (m.t.mask >> i.first) };
        for k in channels(active) {
            let found =
                match (hint, number(m, &i.src[if matches!(hint, Hint::Convert(_)) { 0 } else { 1 }], k)) {
                    (Hint::Divisor, Some(Number::Integer(0))) => {
                        Some((FindingKind::DivisionByZero, "an integer is divided by zero".to_owned()))
                    }
                    (Hint::Count(width), Some(Number::Integer(n))) if n < 0 || n >= i128::from(width) => {
                        Some((
                            FindingKind::ShiftCount,
                            format!(
                                "a shift by {n} of {width} bits: only the low bits of the count are used"
                            ),
                        ))
                    }
                    (Hint::Convert(ty), Some(Number::Float(x))) if !holds(ty, x) => Some((
                        FindingKind::ConversionRange,
                        format!("{x} becomes an integer of type {}, which cannot hold it", ty.name()),
                    )),
                    _ => None,
                };
            if let Some((kind, subject)) = found {
                self.note(m, pc, kind, k + u32::from(i.first), || subject);
                return;
            }
        }
    }

    /// Looks at the addresses of a message.
    pub(super) fn alignment(&mut self, m: &Machine<'_>, pc: u32, message: &Message) {
        let (Message::Simt(_) | Message::Atomic(_)) = message else { return };
        let Some(a) = m
            .accesses
            .iter()
            .find(|a: &Access| a.bytes.is_power_of_two() && !a.address.is_multiple_of(u64::from(a.bytes)))
        else {
            return;
        };
        let (bytes, address) = (a.bytes, a.address);
        let subject =
            || format!("an element of {bytes} bytes at {address:#x}, which is not a multiple of its size");
        self.note(m, pc, FindingKind::Misaligned, u32::from(a.channel), subject);
    }
}

impl Checks {
    /// Looks whether an instruction accesses more than one of the kernel's variables in shared local memory.
    pub(super) fn check_local_variable_bounds(&mut self, m: &Machine<'_>, pc: u32) {
        if self.sites.local_variables.is_empty() {
            return;
        }
        let sites = Arc::clone(&self.sites);
        let lead = lead(m.env.program, pc);
        for a in m.accesses.iter().filter(|a| a.space == AccessSpace::Slm && !a.outside) {
            let Some((range, name)) = sites.local_variable(a.address) else { continue };
            let first = *self.accessed.entry(lead).or_insert(range.start);
            if first != range.start {
                let other = sites.local_variable(first).map_or("another", |v| v.1.as_str());
                let subject = || format!("one instruction accesses the local variables {other} and {name}");
                self.note(m, pc, FindingKind::LocalNeighbour, u32::from(a.channel), subject);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_hold_what_they_can() {
        assert!(holds(Type::D, -2147483648.9) && !holds(Type::D, -2147483649.0));
        assert!(holds(Type::D, 2147483647.9) && !holds(Type::D, 2147483648.0));
        assert!(holds(Type::Ub, 255.9) && !holds(Type::Ub, 256.0));
        assert!(holds(Type::Ub, -0.9) && !holds(Type::Ub, -1.0));
        assert!(holds(Type::Uq, 2f64.powi(63) * 1.5) && !holds(Type::Uq, 2f64.powi(64)));
        assert!(!holds(Type::Q, f64::NAN) && !holds(Type::Q, f64::INFINITY));
    }

    #[test]
    fn halves() {
        assert_eq!(half(0x3c00), 1.0);
        assert_eq!(half(0xc500), -5.0);
        assert_eq!(half(0x7bff), 65504.0);
        assert_eq!(half(0x0001), 2f64.powi(-24));
        assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
    }
}
