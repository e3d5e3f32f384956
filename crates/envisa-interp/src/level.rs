//! Handlers: each is compiled for several instruction sets, one is chosen at start.
#![allow(unsafe_code)]

use envisa_machine::cpu::{Isa, Level};
use envisa_machine::thread::Machine;

use crate::At;

/// Runs one decoded instruction; gives the next program counter, or
/// [`STOP`](envisa_machine::thread::STOP).
pub(crate) type Handler = unsafe fn(&mut Machine<'_>, At<'_>, u32) -> u32;

/// What a handler does, compiled once for each level.
pub(crate) trait Kernel {
    /// Executes the instruction.
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32;

    /// The same, for handlers that use instructions of their own choice.
    #[inline(always)]
    fn run_with<const L: u8>(_: Isa<L>, m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        Self::run(m, c, pc)
    }
}

/// The handler of a kernel for every CPU: of instructions that are rare, or that have nothing to do in vectors.
pub(crate) fn handler<K: Kernel>() -> Handler {
    base::<K>
}

/// The handler of a kernel in the best code that a level has: of few kernels that take long.
pub(crate) fn best<K: Kernel>(l: Level) -> Handler {
    match l {
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        Level::Avx512 => avx512::<K>,
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        Level::Avx2 => avx2::<K>,
        _ => base::<K>,
    }
}

/// A level that has code for each shape of operands. In optimised builds for x86-64 that is AVX2 and AVX-512, which
/// share the code of most handlers: most kernels have native code there, and to compile the handlers once more takes
/// longer than all else but them. Debug builds have no better levels, and test the shapes at the base.
#[derive(Clone, Copy)]
pub(crate) enum Shaped {
    #[cfg(any(not(target_arch = "x86_64"), debug_assertions))]
    Base,
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    Avx2,
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    Avx512,
}

impl Shaped {
    /// A level's, if it has such code.
    pub fn of(l: Level) -> Option<Shaped> {
        match l {
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            Level::Avx512 => Some(Shaped::Avx512),
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            Level::Avx2 => Some(Shaped::Avx2),
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            Level::Base => None,
            #[cfg(any(not(target_arch = "x86_64"), debug_assertions))]
            _ => Some(Shaped::Base),
        }
    }

    /// The handler of a kernel for this level.
    pub fn handler<K: Kernel>(self) -> Handler {
        match self {
            #[cfg(any(not(target_arch = "x86_64"), debug_assertions))]
            Shaped::Base => base::<K>,
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            Shaped::Avx2 | Shaped::Avx512 => avx2::<K>,
        }
    }

    /// The handler of a kernel in the best code that this level has: of few kernels that take long, and that other
    /// levels have no use for.
    pub fn best<K: Kernel>(self) -> Handler {
        match self {
            #[cfg(any(not(target_arch = "x86_64"), debug_assertions))]
            Shaped::Base => base::<K>,
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            Shaped::Avx2 => avx2::<K>,
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            Shaped::Avx512 => avx512::<K>,
        }
    }
}

fn base<K: Kernel>(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
    K::run_with(Isa::BASE, m, c, pc)
}

// The two below are unsafe to call only because the CPU must have the features; `best` and `Shaped` name
// them for levels that `Level::detect` found.
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<K: Kernel>(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
    // SAFETY: this function is called where the CPU has its features only.
    K::run_with(unsafe { Isa::<1>::new() }, m, c, pc)
}

#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn avx512<K: Kernel>(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
    // SAFETY: this function is called where the CPU has its features only.
    K::run_with(unsafe { Isa::<2>::new() }, m, c, pc)
}

/// Calls a handler.
#[inline(always)]
pub(crate) fn call(h: Handler, m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
    // SAFETY: handlers are for every CPU or of a level that the CPU has: see there.
    unsafe { h(m, c, pc) }
}
