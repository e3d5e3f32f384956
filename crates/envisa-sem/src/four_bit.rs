//! Elements of 4 bits: conversions from 16-bit floats and tables of 16 entries (DNSCL, SHFL_IDX4).

use crate::lane::{Bf, Hf};

/// To nearest even; what is too large becomes the largest number of its sign. What becomes of a NaN is left to
/// implementations (SPV_INTEL_float4): it counts as too large.
pub fn f32_to_e2m1(x: f32) -> u8 {
    let sign = (x.is_sign_negative() as u8) << 3;
    let a = x.abs();
    // Halfway between neighbours: of two the even one is taken.
    let magnitude = match a {
        _ if a.is_nan() => 7,
        _ if a <= 0.25 => 0,
        _ if a < 0.75 => 1,
        _ if a <= 1.25 => 2,
        _ if a < 1.75 => 3,
        _ if a <= 2.5 => 4,
        _ if a < 3.5 => 5,
        _ if a <= 5.0 => 6,
        _ => 7,
    };
    sign | magnitude
}

/// The value of an E2M1: every one is exact.
pub fn e2m1_to_f32(x: u8) -> f32 {
    let magnitude = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][x as usize & 7];
    if x & 8 != 0 { -magnitude } else { magnitude }
}

/// To nearest even, clamped to −8 … 7; NaN becomes 0, as in conversions to wider integers.
pub fn f32_to_int4(x: f32) -> u8 {
    (x.round_ties_even().clamp(-8.0, 7.0) as i8) as u8 & 15
}

/// What a DNSCL does: its three fields, a byte each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Downscale {
    bf: bool,
    int4: bool,
    /// Two bits: the sources' pairs are interleaved; results lie in the upper bytes.
    mode: u32,
}

impl Downscale {
    /// Of the fields' values, conversion, mode, rounding; `None` where one has no meaning, or rounding is
    /// stochastic, whose use of the random bits has no public description.
    pub fn new(fields: u32) -> Option<Downscale> {
        let [convert, mode, rounding, _] = fields.to_le_bytes();
        let (bf, int4) = match convert {
            1 => (true, false),
            2 => (true, true),
            4 => (false, false),
            5 => (false, true),
            _ => return None,
        };
        (mode < 4 && rounding == 1).then_some(Downscale { bf, int4, mode: mode.into() })
    }

    /// The result of a channel.
    pub fn run(self, src0: u32, src1: u32) -> u32 {
        let convert = |word: u32| {
            let word = word as u16;
            let x: f32 = if self.bf { Bf(word).into() } else { Hf(word).into() };
            (if self.int4 { f32_to_int4(x) } else { f32_to_e2m1(x) }) as u32
        };
        let (a, b, c, d) = (convert(src0), convert(src0 >> 16), convert(src1), convert(src1 >> 16));
        let (b, c) = if self.mode & 1 != 0 { (c, b) } else { (b, c) };
        (a | b << 4 | c << 16 | d << 20) << (8 * (self.mode >> 1))
    }
}

/// SHFL_IDX4 in one channel: as many parts of a dword as the indices say, each taken from the entry of its index.
/// `indices` has 2 indices for words or 4 for bytes.
pub fn look_up(table: &[u32; 16], indices: u32, parts: u32) -> u32 {
    let bits = 32 / parts;
    let part = |k: u32| table[(indices >> (4 * k) & 15) as usize] & (u32::MAX >> (32 - bits)) << (bits * k);
    (0..parts).fold(0, |out, k| out | part(k))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e2m1_is_the_nearest() {
        let values: Vec<f32> = (0..8).map(e2m1_to_f32).collect();
        assert_eq!(values, [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
        // Every half: by distance, ties to the even code.
        for bits in 0..=0xffffu16 {
            let x: f32 = Hf(bits).into();
            if x.is_nan() {
                assert_eq!(f32_to_e2m1(x) & 7, 7);
                continue;
            }
            let nearest = (0..8u8)
                .min_by(|a, b| {
                    let far = |c: u8| (e2m1_to_f32(c) as f64 - x.abs().min(6.0) as f64).abs();
                    far(*a).total_cmp(&far(*b)).then((a & 1).cmp(&(b & 1)))
                })
                .unwrap();
            assert_eq!(f32_to_e2m1(x), nearest | (bits >> 12 & 8) as u8, "{x}");
        }
    }

    #[test]
    fn int4_is_clamped() {
        for (x, want) in [
            (0.5, 0),
            (1.5, 2),
            (-0.5, 0),
            (-2.5, 14),
            (7.4, 7),
            (9.0, 7),
            (-8.4, 8),
            (-1e9, 8),
            (f32::NAN, 0),
        ] {
            assert_eq!(f32_to_int4(x), want, "{x}");
        }
    }

    #[test]
    fn results_are_packed_by_mode() {
        // 1, 2 and 3, 4 as halves.
        let (src0, src1) = (0x4000_3c00, 0x4400_4200);
        let modes = [0x0043_0021, 0x0042_0031, 0x4300_2100, 0x4200_3100];
        for (mode, want) in modes.into_iter().enumerate() {
            let d = Downscale::new(5 | (mode as u32) << 8 | 1 << 16).unwrap();
            assert_eq!(d.run(src0, src1), want, "mode {mode}");
        }
        assert_eq!(Downscale::new(5), None, "stochastic");
        assert_eq!(Downscale::new(3 | 1 << 16), None);
    }

    #[test]
    fn parts_of_entries() {
        let table: [u32; 16] = std::array::from_fn(|i| 0x0302_0100 + 0x1010_1010 * i as u32);
        assert_eq!(look_up(&table, 0xa5, 2), 0xa3a2_5150);
        assert_eq!(look_up(&table, 0x4321, 4), 0x4332_2110);
    }
}
