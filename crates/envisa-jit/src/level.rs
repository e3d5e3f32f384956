//! What code is for.

use std::sync::OnceLock;

/// The instructions that there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    /// AVX2, FMA, F16C, BMI.
    Avx2,
    /// AVX-512 F, BW, CD, DQ and VL.
    Avx512,
}

impl Level {
    /// The best that the CPU has, if it has one; `ENVISA_LEVEL=base|avx2|avx512` lowers it.
    pub fn detect() -> Option<Level> {
        static LEVEL: OnceLock<Option<Level>> = OnceLock::new();
        *LEVEL.get_or_init(Level::best)
    }

    fn best() -> Option<Level> {
        let wide = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        let narrow = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        let asked = std::env::var("ENVISA_LEVEL");
        match asked.as_deref() {
            Ok("base") => None,
            Ok("avx2") => narrow.then_some(Level::Avx2),
            _ if wide => Some(Level::Avx512),
            _ => narrow.then_some(Level::Avx2),
        }
    }

    /// Is what is fast that which is fast on AMD's CPUs, where single loads take less than a gather does, and the CPU's
    /// own prefetchers need no help? `ENVISA_TUNE=amd|intel` says so for others, so that tests reach both.
    pub fn tuned_for_amd() -> bool {
        static TUNED: OnceLock<bool> = OnceLock::new();
        *TUNED.get_or_init(|| match std::env::var("ENVISA_TUNE").as_deref() {
            Ok("amd") => true,
            Ok("intel") => false,
            // AMD's CPUs have this one, all others do not.
            _ => is_x86_feature_detected!("sse4a"),
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Level::Avx2 => "AVX2",
            Level::Avx512 => "AVX-512",
        }
    }
}
