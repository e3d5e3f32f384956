//! Where a variable is stored, from the DWARF operations that Intel's compiler writes.

use envisa::machine::group::log::Place;

/// What the operations need.
pub struct Frame {
    /// The function's frame pointer, if it is set up.
    pub fp: Option<u64>,
    /// The lane.
    pub lane: u32,
}

/// The number in DWARF of the register that the frame pointer is part of, with 128 registers and with 256: bits 128 to
/// 191 of the last one.
const LAST_REGISTER: [u64; 2] = [16 + 127, 16 + 255];
const FRAME_POINTER: (u64, u64) = (128, 64);
/// Address spaces, in the highest byte of an address.
const LOCAL: u64 = 0x0a;
/// Deepest stack, and most operations.
const MAX_STACK: usize = 32;
const MAX_OPERATIONS: usize = 256;

/// Why a variable cannot be shown.
pub const NOT_KEPT: &str = "not kept by the optimised build: compile with -g -cl-opt-disable (SPIR-V: the compiler that made it, too)";

/// Executes the operations of a variable's place.
///
/// # Errors
/// Why the variable is nowhere, in words.
pub fn place(operations: &[u8], frame: &Frame) -> Result<Place, String> {
    let mut stack: Vec<u64> = Vec::new();
    let mut at = Cursor(operations);
    for _ in 0..MAX_OPERATIONS {
        let Some(op) = at.byte() else {
            let address = stack.pop().ok_or("a place that no operation computes")?;
            return Ok(of_address(address));
        };
        let short = || "the operations of its place are cut off".to_owned();
        match op {
            0x08 => stack.push(at.number(1).ok_or_else(short)?),
            0x0a => stack.push(at.number(2).ok_or_else(short)?),
            0x0c => stack.push(at.number(4).ok_or_else(short)?),
            0x0e => stack.push(at.number(8).ok_or_else(short)?),
            0x10 => stack.push(at.leb().ok_or_else(short)?),
            0x30..=0x4f => stack.push(u64::from(op - 0x30)),
            // A register that a part is taken of.
            0x90 => stack.push(at.leb().ok_or_else(short)?),
            0x1a | 0x1e | 0x22 | 0x1c | 0x24 | 0x25 | 0x21 => {
                let (b, a) = (stack.pop().ok_or_else(short)?, stack.pop().ok_or_else(short)?);
                stack.push(match op {
                    0x1a => a & b,
                    0x1c => a.wrapping_sub(b),
                    0x1e => a.wrapping_mul(b),
                    0x21 => a | b,
                    0x22 => a.wrapping_add(b),
                    0x24 => a.checked_shl(b as u32).unwrap_or(0),
                    _ => a.checked_shr(b as u32).unwrap_or(0),
                });
            }
            0x23 => {
                let n = at.leb().ok_or_else(short)?;
                let a = stack.pop().ok_or_else(short)?;
                stack.push(a.wrapping_add(n));
            }
            // Bits of a register: its number, the first bit, and how many.
            0xec => {
                let (n, first) = (stack.pop().ok_or_else(short)?, stack.pop().ok_or_else(short)?);
                let register = stack.pop().ok_or_else(short)?;
                if !LAST_REGISTER.contains(&register) || (first, n) != FRAME_POINTER {
                    return Err(NOT_KEPT.into());
                }
                stack.push(frame.fp.ok_or("the function's frame is not set up here")?);
            }
            // The lane.
            0xed => stack.push(frame.lane.into()),
            // A native register, which there is none of here.
            0x50..=0x8f | 0x92 | 0x93 | 0x94 | 0x06 | 0x9d | 0x9e | 0x9f => return Err(NOT_KEPT.into()),
            op => return Err(format!("its place takes operation {op:#x}, which is not known")),
        }
        if stack.len() > MAX_STACK {
            return Err("its place takes too many operations".into());
        }
    }
    Err("its place takes too many operations".into())
}

/// The place of an address with its space in the highest byte.
pub fn of_address(address: u64) -> Place {
    match address >> 56 {
        LOCAL => Place::Local(address & (u64::MAX >> 8)),
        _ => Place::Flat(address),
    }
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self, n: usize) -> Option<u64> {
        let (bytes, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(bytes.iter().rev().fold(0, |x, b| x << 8 | u64::from(*b)))
    }

    fn leb(&mut self) -> Option<u64> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(n);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: &[u8] =
        &[0x90, 0x8f, 1, 8, 0x80, 8, 0x40, 0xec, 0x23, 0x10, 0xed, 0x34, 0x1e, 0x22, 0x23, 0x20];

    #[test]
    fn places_below_the_frame_pointer() {
        let frame = Frame { fp: Some(0x1000), lane: 3 };
        assert_eq!(place(INT, &frame), Ok(Place::Flat(0x1000 + 16 + 12 + 32)));
        let local = [0x0e, 64, 0, 0, 0, 0, 0, 0, 0x0a];
        assert_eq!(place(&local, &frame), Ok(Place::Local(64)));
        assert!(place(INT, &Frame { fp: None, lane: 0 }).is_err());
        assert_eq!(place(&[0x55], &frame), Err(NOT_KEPT.into()));
        for n in 0..INT.len() {
            // Whatever is cut off or changed: a place or words.
            let _ = place(&INT[..n], &frame);
            for value in 0..=255 {
                let mut bad = INT.to_vec();
                bad[n] = value;
                let _ = place(&bad, &frame);
            }
        }
    }
}
