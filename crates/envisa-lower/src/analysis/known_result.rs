//! What an instruction makes of integers that are known before the program runs.

use std::ops::Range;

use envisa_isa::{Modifier, Type};

use crate::program::*;

/// The bytes that an instruction makes, from its destination's first on, if all that it reads is known: integers of up to 32
/// bits, for channel after channel side by side. `bytes` says what registers hold that a channel reads, if that is known.
///
/// Whether the instruction is executed for all of its channels is the caller's concern.
pub fn known_result<'a>(
    p: &'a ProgramParts,
    i: &Inst,
    bytes: &dyn Fn(u32, Range<RegOffset>) -> Option<&'a [u8]>,
) -> Option<(RegOffset, Vec<u8>)> {
    let Dst::Reg { offset, ty, stride: 1, sat: false } = i.dst else { return None };
    let integers = matches!(i.exec, ExecType::I32 | ExecType::U32);
    let n = u32::from(i.channels);
    if i.pred.offset != 0 || !integers || !is_small_integer(ty) || i.dst2 != 0 || n == 1 {
        return None;
    }
    let values = |s: &Src| known_values(p, s, n, bytes);
    let a = values(&i.src[0])?;
    let two = |f: fn(i64, i64) -> i64| {
        let b = values(&i.src[1])?;
        Some(a.iter().zip(b).map(|(a, b)| f(*a, b)).collect())
    };
    let all: Vec<i64> = match i.op {
        Op::Mov => Some(a),
        Op::Add => two(i64::wrapping_add),
        Op::And => two(|a, b| a & b),
        Op::Or => two(|a, b| a | b),
        Op::Xor => two(|a, b| a ^ b),
        Op::Shl => two(|a, b| a << (b & 31)),
        _ => None,
    }?;
    Some((offset, all.iter().flat_map(|x| x.to_le_bytes().into_iter().take(ty.size() as usize)).collect()))
}

/// The elements of an integer source, channel by channel, if they are known.
pub fn known_values<'a>(
    p: &'a ProgramParts,
    s: &Src,
    channels: u32,
    bytes: &dyn Fn(u32, Range<RegOffset>) -> Option<&'a [u8]>,
) -> Option<Vec<i64>> {
    let Src::Reg { offset, ty, strides, modifier: Modifier::None, constant, .. } = *s else { return None };
    if !is_small_integer(ty) {
        return None;
    }
    let element = |k: u32| {
        let first = offset + strides.element(k) * ty.size();
        let r = first..first + ty.size();
        let bytes = match constant {
            true => p.registers.constants.get(r.start as usize..r.end as usize)?,
            false => bytes(k, r)?,
        };
        Some(integer(bytes, ty))
    };
    (0..channels).map(element).collect()
}

/// The value of an element of an integer type, in bytes.
pub fn integer(bytes: &[u8], ty: Type) -> i64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    let (x, unused) = (i64::from_le_bytes(all), 64 - 8 * bytes.len() as u32);
    if ty.is_signed() { x << unused >> unused } else { x }
}

/// Is it a type whose elements are looked at?
pub fn is_small_integer(ty: Type) -> bool {
    ty.is_int() && ty.size() <= 4
}
