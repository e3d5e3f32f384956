//! This machine's limits, measured: bytes a second from and to memory, and float operations a second.
#![allow(unsafe_code)]

use std::time::Instant;

use envisa::machine::memory::Block;
use serde::{Deserialize, Serialize};

/// What no kernel can exceed, with all hardware threads at work.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes a second of `a[i] = b[i] + s * c[i]` on floats, counting each array once.
    pub bandwidth: f64,
    /// Operations a second of independent multiply-adds on floats, each counting as two.
    pub flops: f64,
}

/// Floats of each array, of all hardware threads together: as many as the arrays of kernels that stream have. Where the
/// last cache holds these, that is what kernels and limit are both of.
const FLOATS: usize = 1 << 22;
/// Multiply-adds of each accumulator in one call.
const STEPS: usize = 1 << 18;

impl Limits {
    /// Measures both, the best of several rounds.
    pub fn measure() -> Limits {
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        let bandwidth = best(
            threads,
            || [0; 3].map(|_| Block::zeroed(4 * FLOATS / threads).expect("there is memory")),
            |[a, b, c]| {
                // SAFETY: all bits are floats.
                let [a, b, c] = [a, b, c].map(|x| unsafe { x.bytes().align_to_mut::<f32>().1 });
                triad(a, b, c);
                (3 * 4 * (FLOATS / threads)) as f64
            },
        );
        let flops = best(threads, || (), |()| multiply_adds());
        Limits { bandwidth, flops }
    }

    /// Seconds below which no implementation can be.
    pub fn least_seconds(&self, bytes: f64, flops: f64) -> f64 {
        (bytes / self.bandwidth).max(flops / self.flops)
    }
}

/// The best rate over rounds in which all threads do `work` at once.
fn best<T>(threads: usize, make: impl Fn() -> T + Sync, work: impl Fn(&mut T) -> f64 + Sync) -> f64 {
    const ROUNDS: usize = 12;
    let barrier = std::sync::Barrier::new(threads);
    let one = || {
        let mut state = make();
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            barrier.wait();
            let start = Instant::now();
            let done = work(std::hint::black_box(&mut state));
            rounds.push((done, start.elapsed().as_secs_f64()));
        }
        rounds
    };
    let all: Vec<Vec<(f64, f64)>> = std::thread::scope(|s| {
        let handles: Vec<_> = (0..threads).map(|_| s.spawn(one)).collect();
        handles.into_iter().filter_map(|h| h.join().ok()).collect()
    });
    (0..ROUNDS)
        .map(|r| {
            let done: f64 = all.iter().map(|t| t[r].0).sum();
            let slowest = all.iter().map(|t| t[r].1).fold(0.0, f64::max);
            done / slowest.max(1e-9)
        })
        .fold(0.0, f64::max)
}

/// `a[i] = b[i] + 3 c[i]`, with the widest instructions there are.
fn triad(a: &mut [f32], b: &[f32], c: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has AVX-512F.
        return unsafe { x86::triad512(a, b, c) };
    } else if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { x86::triad256(a, b, c) };
    }
    plain_triad(a, b, c);
}

#[inline(always)]
fn plain_triad(a: &mut [f32], b: &[f32], c: &[f32]) {
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = *b + 3.0 * *c;
    }
}

/// Does many independent multiply-adds with the widest instructions there are; returns their operations.
#[cfg(target_arch = "x86_64")]
fn multiply_adds() -> f64 {
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has AVX-512F.
        unsafe { x86::avx512() }
    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has AVX2 and FMA.
        unsafe { x86::avx2() }
    } else {
        plain()
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn multiply_adds() -> f64 {
    plain()
}

fn plain() -> f64 {
    let (a, b) = std::hint::black_box((0.999f32, 0.001f32));
    let mut acc = std::hint::black_box([[2.0f32; 8]; 8]);
    for _ in 0..STEPS {
        for row in &mut acc {
            for x in row {
                *x = *x * a + b;
            }
        }
    }
    std::hint::black_box(acc);
    (STEPS * 64 * 2) as f64
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::hint::black_box;

    use super::{STEPS, plain_triad};

    #[target_feature(enable = "avx512f")]
    pub(super) fn triad512(a: &mut [f32], b: &[f32], c: &[f32]) {
        plain_triad(a, b, c);
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn triad256(a: &mut [f32], b: &[f32], c: &[f32]) {
        plain_triad(a, b, c);
    }

    /// Twelve chains of 16 floats: more than latency times throughput.
    #[target_feature(enable = "avx512f")]
    pub(super) fn avx512() -> f64 {
        // What the compiler knows, it would compute beforehand.
        let (a, b) = (_mm512_set1_ps(black_box(0.999)), _mm512_set1_ps(black_box(0.001)));
        let mut acc: [_; 12] = std::array::from_fn(|_| _mm512_set1_ps(black_box(2.0)));
        for _ in 0..STEPS {
            for x in &mut acc {
                *x = _mm512_fmadd_ps(*x, a, b);
            }
        }
        black_box(acc);
        (STEPS * 12 * 16 * 2) as f64
    }

    /// Twelve chains of 8 floats.
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn avx2() -> f64 {
        // What the compiler knows, it would compute beforehand.
        let (a, b) = (_mm256_set1_ps(black_box(0.999)), _mm256_set1_ps(black_box(0.001)));
        let mut acc: [_; 12] = std::array::from_fn(|_| _mm256_set1_ps(black_box(2.0)));
        for _ in 0..STEPS {
            for x in &mut acc {
                *x = _mm256_fmadd_ps(*x, a, b);
            }
        }
        black_box(acc);
        (STEPS * 12 * 8 * 2) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_bound_from_below() {
        let l = Limits { bandwidth: 10.0, flops: 100.0 };
        assert_eq!(l.least_seconds(20.0, 100.0), 2.0);
        assert_eq!(l.least_seconds(1.0, 1000.0), 10.0);
        assert!(multiply_adds() > 0.0);
    }
}
