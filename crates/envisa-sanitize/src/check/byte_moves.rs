//! Bytes that instructions only move, or put together: what each byte of a result is a copy of.
//!
//! To set a component of a vector, compilers load all of it, change the component and store the whole. What they put back
//! unchanged is no use of it.

use envisa_lower::{Inst, Op};

use super::memory_content::ContentPlace;
use super::undefined_bits::{Element, Origin, Source};
use super::uninitialised::Shadow;

/// Tables of Boolean functions, by what their sources' bits spell.
const AND: u8 = 0x88;
const OR: u8 = 0xee;
const XOR: u8 = 0x66;

/// The Boolean function that an instruction computes bit by bit.
pub(super) fn table(i: &Inst) -> Option<u8> {
    match i.op {
        Op::And => Some(AND),
        Op::Or => Some(OR),
        Op::Xor => Some(XOR),
        Op::Bfn => Some(i.aux as u8),
        _ => None,
    }
}

/// Bits of such a function that may be zero, and those that may be one.
fn may_be(table: u8, sources: [Element; 3]) -> [u64; 2] {
    let mut may_be = [0; 2];
    for row in 0..8u8 {
        let spells = sources.iter().enumerate().fold(u64::MAX, |all, (n, e)| {
            all & (e.undefined | if row >> n & 1 != 0 { e.value } else { !e.value })
        });
        may_be[usize::from(table >> row & 1)] |= spells;
    }
    may_be
}

/// The bits without a value of such a function.
pub(super) fn undefined(table: u8, sources: [Element; 3]) -> u64 {
    let [zero, one] = may_be(table, sources);
    zero & one
}

/// The register's byte of which each byte of a channel's result is a copy. `picked`: the source that a move copies.
pub(super) fn copied(i: &Inst, all: [Element; 4], picked: Option<usize>) -> [Option<u32>; 8] {
    let [a, b, c, d] = all;
    let byte = |e: Element, n: i64| u32::try_from(n).ok().filter(|n| *n < e.bytes).map(|n| e.at + n);
    // Of a count of bits: of bytes.
    let whole = |e: Element| {
        (e.undefined == 0 && e.value.is_multiple_of(8) && e.value < 64).then_some(e.value as i64 / 8)
    };
    let each = |f: &dyn Fn(i64) -> Option<u32>| std::array::from_fn(|n| f(n as i64));
    if let Some(source) = picked {
        return each(&|n| byte(all[source & 1], n));
    }
    if let Some(table) = table(i) {
        return each(&|n| {
            let is_undefined = |e: &Element| e.undefined >> (8 * n) & 0xff != 0;
            let mut sources = [a, b, c];
            let source = sources.iter().position(is_undefined)?;
            let from = byte(sources[source], n)?;
            let results = [0, u64::MAX].map(|value| {
                (sources[source].value, sources[source].undefined) = (value, 0);
                may_be(table, sources).map(|bits| bits >> (8 * n) & 0xff)
            });
            (results == [[0xff, 0], [0, 0xff]]).then_some(from)
        });
    }
    match i.op {
        Op::Shl => whole(b).map_or([None; 8], |count| each(&|n| byte(a, n - count))),
        Op::Shr | Op::Asr => whole(b).map_or([None; 8], |count| each(&|n| byte(a, n + count))),
        Op::Bfe => match (whole(a), whole(b)) {
            (Some(width), Some(at)) => each(&|n| byte(c, n + at).filter(|_| n < width)),
            _ => [None; 8],
        },
        Op::Bfi => match (whole(a), whole(b)) {
            (Some(width), Some(at)) => {
                each(&|n| if (at..at + width).contains(&n) { byte(c, n - at) } else { byte(d, n) })
            }
            _ => [None; 8],
        },
        _ => [None; 8],
    }
}

impl Shadow {
    /// Is a byte without a value what was loaded from there, and no more?
    pub fn is_of(&self, at: u32, home: ContentPlace) -> bool {
        let is = |o: Origin| o.copy && o.from == Source::Memory(home);
        !self.written.any(at, 1) && self.origin(at).is_some_and(is)
    }

    /// Was a byte without a value computed from memory without content?
    pub fn is_computed(&self, at: u32) -> bool {
        let is = |o: Origin| !o.copy && matches!(o.from, Source::Memory(_));
        !self.written.any(at, 1) && self.origin(at).is_some_and(is)
    }
}
