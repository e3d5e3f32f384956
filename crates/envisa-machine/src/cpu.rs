//! The host's CPU: the instruction sets for which code is compiled, and a token that proves that the CPU has them.
#![allow(unsafe_code)]

use std::sync::OnceLock;

use envisa_sem::lanes::Host;
#[cfg(target_arch = "x86_64")]
use envisa_sem::lanes::x86::{Avx2, Avx512};

/// Says that the CPU has the instructions of a level (0: base, 1: AVX2).
#[derive(Clone, Copy)]
pub struct Isa<const L: u8>(());

impl Isa<0> {
    /// What the build targets anyway.
    pub const BASE: Isa<0> = Isa(());
}

impl<const L: u8> Isa<L> {
    /// Says so.
    ///
    /// # Safety
    /// The CPU has the features of [`Level::Avx2`] if `L` is 1.
    #[inline(always)]
    pub unsafe fn new() -> Isa<L> {
        Isa(())
    }

    /// Does the CPU have AVX2?
    #[inline(always)]
    pub const fn has_avx2(self) -> bool {
        L >= 1
    }
}

/// Work that is compiled once for each level, not as a part of each function that wants it.
pub trait PerLevel {
    /// What comes of it.
    type Out;
    /// Does it.
    fn run<const L: u8>(self, isa: Isa<L>) -> Self::Out;
}

impl<const L: u8> Isa<L> {
    /// Does work in code of its own.
    #[inline(always)]
    pub(crate) fn compile_apart<A: PerLevel>(self, work: A) -> A::Out {
        match L {
            // SAFETY: this value says that the CPU has the features.
            #[cfg(target_arch = "x86_64")]
            1 => unsafe { run_avx2(work) },
            _ => run_baseline(work),
        }
    }
}

/// Does work in code for the best level that the CPU has.
#[inline(always)]
pub fn at_best_level<A: PerLevel>(work: A) -> A::Out {
    match Level::detect() {
        // SAFETY: the CPU has the features of its level.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { run_avx512(work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { run_avx2(work) },
        _ => run_baseline(work),
    }
}

#[inline(never)]
fn run_baseline<A: PerLevel>(work: A) -> A::Out {
    work.run(Isa::BASE)
}

// Unsafe to call only because the CPU must have the features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
fn run_avx2<A: PerLevel>(work: A) -> A::Out {
    work.run(Isa::<1>(()))
}

// The same; what it runs knows of the features of level 1, and is compiled with more.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
fn run_avx512<A: PerLevel>(work: A) -> A::Out {
    work.run(Isa::<1>(()))
}

/// What says that the CPU has AVX2, for tests of code for each level.
#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) fn avx2_isa() -> Option<Isa<1>> {
    // SAFETY: the CPU has the features.
    (Level::level_of_build_features() >= Level::Avx2).then_some(unsafe { Isa::new() })
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
            Self::level_of_cpu().min(limit)
        })
    }

    /// The lanes that functions of the math unit are computed in at the best level.
    pub fn lanes() -> Host {
        static LANES: OnceLock<Host> = OnceLock::new();
        *LANES.get_or_init(|| match Self::detect() {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => Avx512::detect().map_or(Host::Scalar, Host::Avx512),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => Avx2::detect().map_or(Host::Scalar, Host::Avx2),
            _ => Host::Scalar,
        })
    }

    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    fn level_of_cpu() -> Level {
        Self::level_of_build_features()
    }

    #[cfg(all(target_arch = "x86_64", any(test, not(debug_assertions))))]
    fn level_of_build_features() -> Level {
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
    fn level_of_cpu() -> Level {
        Level::Base
    }
}
