//! Code for the CPU at hand: each handler is compiled for several instruction sets, one is chosen at start.
#![allow(unsafe_code)]

use std::sync::OnceLock;

use super::Cell;
use crate::thread::Machine;

/// Runs one decoded instruction; gives the next program counter, or [`super::STOP`].
pub type Handler = unsafe fn(&mut Machine<'_>, &Cell, u32) -> u32;

/// What a handler does, compiled once for each level.
pub trait Kernel {
    /// Executes the instruction.
    fn run(m: &mut Machine<'_>, c: &Cell, pc: u32) -> u32;

    /// The same, for handlers that use instructions of their own choice.
    #[inline(always)]
    fn run_with<const L: u8>(_: Isa<L>, m: &mut Machine<'_>, c: &Cell, pc: u32) -> u32 {
        Self::run(m, c, pc)
    }
}

/// Says that the CPU has the instructions of a level (0: base, 1: AVX2, 2: AVX-512).
#[derive(Clone, Copy)]
pub struct Isa<const L: u8>(());

impl Isa<0> {
    /// What the build targets anyway.
    pub const BASE: Isa<0> = Isa(());
}

impl<const L: u8> Isa<L> {
    /// # Safety
    /// The CPU has the features of [`Level::Avx2`] if `L` is 1, of [`Level::Avx512`] if it is 2.
    #[inline(always)]
    #[cfg_attr(debug_assertions, allow(dead_code))]
    unsafe fn new() -> Isa<L> {
        Isa(())
    }

    /// Does the CPU have AVX2?
    #[inline(always)]
    pub const fn avx2(self) -> bool {
        L >= 1
    }

    /// Does the CPU have AVX-512?
    #[inline(always)]
    pub const fn avx512(self) -> bool {
        L >= 2
    }
}

/// What the CPU has, for tests of code for each level.
#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) fn isas() -> (Option<Isa<1>>, Option<Isa<2>>) {
    let level = Level::features();
    // SAFETY: the CPU has the features.
    let avx2 = (level >= Level::Avx2).then_some(unsafe { Isa::new() });
    // SAFETY: as above.
    let avx512 = (level >= Level::Avx512).then_some(unsafe { Isa::new() });
    (avx2, avx512)
}

/// An instruction set that handlers are compiled for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// What the build targets anyway.
    Base,
    /// AVX2, FMA, F16C, BMI2.
    Avx2,
    /// AVX-512 F, BW, DQ, VL.
    Avx512,
}

impl Level {
    /// The best the CPU offers; `ENVISA_LEVEL=base|avx2|avx512` lowers it.
    pub fn detect() -> Level {
        static LEVEL: OnceLock<Level> = OnceLock::new();
        *LEVEL.get_or_init(|| {
            let limit = match std::env::var("ENVISA_LEVEL").as_deref() {
                Ok("base") => Level::Base,
                Ok("avx2") => Level::Avx2,
                _ => Level::Avx512,
            };
            Self::cpu().min(limit)
        })
    }

    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    fn cpu() -> Level {
        Self::features()
    }

    #[cfg(all(target_arch = "x86_64", any(test, not(debug_assertions))))]
    fn features() -> Level {
        let v3 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        let v4 = v3
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        if v4 {
            Level::Avx512
        } else if v3 {
            Level::Avx2
        } else {
            Level::Base
        }
    }

    /// Debug builds have the base level only: the others take long to compile and gain nothing there.
    #[cfg(not(all(target_arch = "x86_64", not(debug_assertions))))]
    fn cpu() -> Level {
        Level::Base
    }

    /// The handler of a kernel for this level.
    pub fn handler<K: Kernel>(self) -> Handler {
        match self {
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            Level::Avx512 => avx512::<K>,
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            Level::Avx2 => avx2::<K>,
            _ => base::<K>,
        }
    }
}

fn base<K: Kernel>(m: &mut Machine<'_>, c: &Cell, pc: u32) -> u32 {
    K::run_with(Isa::BASE, m, c, pc)
}

// The two below are unsafe to call only because the CPU must have the features; `Level::handler` names
// them for levels that `Level::cpu` found.
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<K: Kernel>(m: &mut Machine<'_>, c: &Cell, pc: u32) -> u32 {
    // SAFETY: this function is called where the CPU has its features only.
    K::run_with(unsafe { Isa::<1>::new() }, m, c, pc)
}

#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn avx512<K: Kernel>(m: &mut Machine<'_>, c: &Cell, pc: u32) -> u32 {
    // SAFETY: this function is called where the CPU has its features only.
    K::run_with(unsafe { Isa::<2>::new() }, m, c, pc)
}

/// Calls a handler.
#[inline(always)]
pub fn call(h: Handler, m: &mut Machine<'_>, c: &Cell, pc: u32) -> u32 {
    // SAFETY: handlers come from `Level::handler` of a level the CPU has.
    unsafe { h(m, c, pc) }
}
