//! Elements in memory and in registers: unsigned integers of 1, 2, 4 and 8 bytes.

use crate::memory::{Block, LaneElement};
use crate::register_file::{Pod, Registers};

/// An element in memory or in a register.
pub trait Element: Pod + PartialEq + LaneElement {
    /// Its bits.
    fn bits(self) -> u64;
    /// The element of these low bits.
    fn of(bits: u64) -> Self;
    /// Reads it from a block; `None` out of bounds.
    fn read(b: &Block, at: usize) -> Option<Self>;
    /// Writes it to a block; `false` out of bounds.
    fn write(self, b: &Block, at: usize) -> bool;
}

macro_rules! element {
    ($($t:ty)*) => {$(
        impl Element for $t {
            #[inline(always)]
            fn bits(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn of(bits: u64) -> $t {
                bits as $t
            }
            #[inline(always)]
            fn read(b: &Block, at: usize) -> Option<$t> {
                b.read(at).map(<$t>::from_le_bytes)
            }
            #[inline(always)]
            fn write(self, b: &Block, at: usize) -> bool {
                b.write(at, self.to_le_bytes())
            }
        }
    )*};
}
element! { u8 u16 u32 u64 }

/// The low bits of the element of `bytes` bytes at a register.
#[inline(always)]
pub(super) fn get(regs: &Registers, at: u32, bytes: u8) -> u64 {
    match bytes {
        1 => regs.get::<u8>(at) as u64,
        2 => regs.get::<u16>(at) as u64,
        4 => regs.get::<u32>(at) as u64,
        _ => regs.get::<u64>(at),
    }
}

/// Sets the element of `bytes` bytes at a register.
#[inline(always)]
pub(super) fn set(regs: &mut Registers, at: u32, bytes: u8, x: u64) {
    match bytes {
        1 => regs.set(at, x as u8),
        2 => regs.set(at, x as u16),
        4 => regs.set(at, x as u32),
        _ => regs.set(at, x),
    }
}

/// Reads an element of `bytes` bytes of a block.
#[inline(always)]
pub(super) fn read(b: &Block, at: usize, bytes: u8) -> Option<u64> {
    match bytes {
        1 => u8::read(b, at).map(u64::from),
        2 => u16::read(b, at).map(u64::from),
        4 => u32::read(b, at).map(u64::from),
        _ => u64::read(b, at),
    }
}

/// Writes an element of `bytes` bytes to a block.
#[inline(always)]
pub(super) fn write(b: &Block, at: usize, bytes: u8, x: u64) -> bool {
    match bytes {
        1 => u8::of(x).write(b, at),
        2 => u16::of(x).write(b, at),
        4 => u32::of(x).write(b, at),
        _ => x.write(b, at),
    }
}
