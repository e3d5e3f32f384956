//! Handlers: those with vector code are compiled for AVX2, the others for every CPU.
#![allow(unsafe_code)]

use envisa_machine::cpu::{Isa, Level};
use envisa_machine::thread::Machine;

use crate::At;

/// Runs one decoded instruction; gives the next program counter, or
/// [`STOP`](envisa_machine::thread::STOP).
pub(crate) type Handler = unsafe fn(&mut Machine<'_>, At<'_>, u32) -> u32;

/// What a handler does: one of the two functions.
pub(crate) trait Kernel {
    /// Executes the instruction.
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        Self::run_with(Isa::BASE, m, c, pc)
    }

    /// The same, for handlers that use instructions of their own choice, or call others.
    #[inline(always)]
    fn run_with<const L: u8>(_: Isa<L>, m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        Self::run(m, c, pc)
    }
}

/// The handler of a kernel for every CPU: of instructions that are rare, or that have nothing to do in vectors.
pub(crate) fn base_handler<K: Kernel>() -> Handler {
    base::<K>
}

/// A level that has vector code. In optimised builds for x86-64 that is AVX2: checks spend their time elsewhere, most
/// kernels have native code, and to compile the handlers once more takes longer than what else there is of them. Debug builds
/// have no better level than the base, and test the vector code there.
#[derive(Clone, Copy)]
pub(crate) struct Vectors(());

impl Vectors {
    /// A level's, if it has such code.
    pub fn of(l: Level) -> Option<Vectors> {
        let base = cfg!(any(not(target_arch = "x86_64"), debug_assertions));
        (base || l >= Level::Avx2).then_some(Vectors(()))
    }

    /// The handler of a kernel for this level.
    pub fn handler<K: Kernel>(self) -> Handler {
        #[cfg(any(not(target_arch = "x86_64"), debug_assertions))]
        return base::<K>;
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        return avx2::<K>;
    }
}

/// Another handler's code at the same level, which does not become a part of the one that calls it.
pub(crate) fn call_separately<K: Kernel, const L: u8>(
    _: Isa<L>,
    m: &mut Machine<'_>,
    c: At<'_>,
    pc: u32,
) -> u32 {
    match L {
        // SAFETY: the value says that the CPU has the features.
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        1 => unsafe { avx2::<K>(m, c, pc) },
        _ => base::<K>(m, c, pc),
    }
}

#[inline(never)]
fn base<K: Kernel>(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
    K::run_with(Isa::BASE, m, c, pc)
}

// Unsafe to call only because the CPU must have the features; [`Vectors`] names it for levels that `Level::detect` found.
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
fn avx2<K: Kernel>(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
    // SAFETY: this function is called where the CPU has its features only.
    K::run_with(unsafe { Isa::<1>::new() }, m, c, pc)
}

/// Calls a handler.
#[inline(always)]
pub(crate) fn call(h: Handler, m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
    // SAFETY: handlers are for every CPU or of a level that the CPU has: see there.
    unsafe { h(m, c, pc) }
}
