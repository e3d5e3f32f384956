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

    pub fn name(self) -> &'static str {
        match self {
            Level::Avx2 => "AVX2",
            Level::Avx512 => "AVX-512",
        }
    }
}
