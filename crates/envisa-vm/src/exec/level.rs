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
    K::run(m, c, pc)
}

// The two below are unsafe to call only because the CPU must have the features; `Level::handler` names
// them for levels that `Level::cpu` found.
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<K: Kernel>(m: &mut Machine<'_>, c: &Cell, pc: u32) -> u32 {
    K::run(m, c, pc)
}

#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn avx512<K: Kernel>(m: &mut Machine<'_>, c: &Cell, pc: u32) -> u32 {
    K::run(m, c, pc)
}

/// Calls a handler.
#[inline(always)]
pub fn call(h: Handler, m: &mut Machine<'_>, c: &Cell, pc: u32) -> u32 {
    // SAFETY: handlers come from `Level::handler` of a level the CPU has.
    unsafe { h(m, c, pc) }
}
