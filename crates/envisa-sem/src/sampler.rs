//! What a sampler computes: places of texels, weights, comparisons, faces of a cube, levels of detail.
//!
//! The formulas are those of the OpenCL C specification's section on image addressing and filtering. For a nearest texel
//! a place along an axis is a single and what its rounding left, so it is the texel that the formula names; for a filter
//! it is the single, as in Khronos' tests of conformance, where a place that rounds to the middle of a texel is that
//! texel and no part of its neighbour, however large that is. Weights are singles. (Devices round coordinates and
//! weights to eight fractional bits or so; the specification leaves their precision open.) All of it is what vectors of singles do lane by lane, by operations that IEEE 754 defines.

/// How a sampler treats coordinates outside of an image; numbered as payloads of kernels carry it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
pub enum Addressing {
    /// Undefined outside.
    None = 0,
    /// The border's colour.
    Clamp = 1,
    /// The nearest texel of the edge.
    ClampToEdge = 2,
    /// The image repeats (normalised coordinates only).
    Repeat = 3,
    /// The image repeats, every second time mirrored (normalised coordinates only).
    MirroredRepeat = 4,
}

impl Addressing {
    /// All of them.
    pub const ALL: [Addressing; 5] = [
        Addressing::None,
        Addressing::Clamp,
        Addressing::ClampToEdge,
        Addressing::Repeat,
        Addressing::MirroredRepeat,
    ];

    /// The name, as OpenCL's `CL_ADDRESS_` has it.
    pub const fn name(self) -> &'static str {
        match self {
            Addressing::None => "none",
            Addressing::Clamp => "clamp",
            Addressing::ClampToEdge => "clamp_to_edge",
            Addressing::Repeat => "repeat",
            Addressing::MirroredRepeat => "mirrored_repeat",
        }
    }
}

/// One direction of an image, as a sampler sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Axis {
    /// Texels; at least one.
    pub size: u32,
    /// What happens outside.
    pub addressing: Addressing,
    /// Coordinates go from 0 to 1.
    pub normalized: bool,
}

/// The two texels between which a linear filter's place lies; `None` is the border.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TexelPair {
    /// The texels.
    pub texels: [Option<u32>; 2],
    /// How much the second one counts, from 0 to 1; the first one counts the rest.
    pub weight: f32,
}

/// The integer below a number; NaN is 0, and what is too large the largest.
#[inline]
fn floor(x: f64) -> i64 {
    let i = x as i64;
    if (i as f64) > x { i.saturating_sub(1) } else { i }
}

/// Sizes up to this, and halves between their texels, are singles.
pub const MOST_TEXELS: u32 = 1 << 22;

/// Beyond this all singles are even integers.
pub const FAR: f32 = 16_777_216.0;

/// The same of a single that is no farther from 0 than [`FAR`].
#[inline(always)]
fn floor_within_range(x: f32) -> f32 {
    let i = x as i32 as f32;
    if i > x { i - 1.0 } else { i }
}

impl Axis {
    /// Coordinates from where to where matter; beyond them lies what lies at them.
    #[inline(always)]
    pub fn bounds(self) -> [f32; 2] {
        match (self.addressing, self.normalized) {
            (Addressing::Repeat | Addressing::MirroredRepeat, _) => [-FAR, FAR],
            (_, true) => [-2.0, 3.0],
            (_, false) => [-2.0, self.size as f32 + 2.0],
        }
    }

    /// The texel below a place that lies so much before a coordinate, to which an offset of whole texels is added, and
    /// how far behind that texel it is.
    #[inline(always)]
    fn split(self, x: f32, offset: i32, before: f32) -> (i64, f32) {
        let wraps = matches!(self.addressing, Addressing::Repeat | Addressing::MirroredRepeat);
        if offset != 0 || self.size > MOST_TEXELS || wraps && !self.normalized {
            let u = self.moved(x.into(), offset) - f64::from(before);
            let first = floor(u);
            let behind = u - first as f64;
            // What is not a number, or beyond all images, has no place between two texels.
            return (first, if (0.0..1.0).contains(&behind) { behind as f32 } else { 0.0 });
        }
        let [low, high] = self.bounds();
        // What is not a number lies before the image.
        let x = if x > low { x } else { low };
        let x = if x < high { x } else { high };
        if !self.normalized {
            let v = x - before;
            return (floor_within_range(v) as i64, v - floor_within_range(v));
        }
        let (s, rest) = match self.addressing {
            Addressing::Repeat => {
                let s = x - floor_within_range(x);
                (s, x - (s + floor_within_range(x)))
            }
            Addressing::MirroredRepeat => ((x - 2.0 * (0.5 * x).round_ties_even()).abs(), 0.0),
            _ => (x, 0.0),
        };
        let size = self.size as f32;
        let place = s * size;
        if before != 0.0 {
            let v = place - before;
            return (floor_within_range(v) as i64, v - floor_within_range(v));
        }
        // What the product's rounding left is a single.
        let mut left = (f64::from(s) * f64::from(size) - f64::from(place)) as f32;
        if self.addressing == Addressing::Repeat {
            left += rest * size;
        }
        let behind = (place - floor_within_range(place)) + left;
        match behind < 0.0 {
            true => (floor_within_range(place) as i64 - 1, behind + 1.0),
            false => (floor_within_range(place) as i64, behind),
        }
    }

    /// The place of a coordinate in texels, brought inside where the image repeats.
    #[inline]
    fn moved(self, x: f64, offset: i32) -> f64 {
        let size = self.size as f64;
        let u = if self.normalized { x * size } else { x } + offset as f64;
        match self.addressing {
            Addressing::Repeat if !(0.0..size).contains(&u) => u.rem_euclid(size),
            Addressing::MirroredRepeat if !(0.0..=size).contains(&u) => {
                let u = u.rem_euclid(2.0 * size);
                if u > size { 2.0 * size - u } else { u }
            }
            _ => u,
        }
    }

    /// The texel of an index, at most one texel outside where the image repeats.
    #[inline]
    fn texel(self, i: i64) -> Option<u32> {
        let size = self.size as i64;
        if (0..size).contains(&i) {
            return Some(i as u32);
        }
        match self.addressing {
            Addressing::None | Addressing::Clamp => None,
            Addressing::Repeat => Some(i.rem_euclid(size) as u32),
            Addressing::ClampToEdge | Addressing::MirroredRepeat => Some(i.clamp(0, size - 1) as u32),
        }
    }

    /// The texel at a coordinate, to which an offset of whole texels is added; `None` is the border.
    #[inline]
    pub fn nearest(self, x: f32, offset: i32) -> Option<u32> {
        self.texel(self.split(x, offset, 0.0).0)
    }

    /// The number of the texel at a coordinate, or of the first of two around it, as if the image had no end.
    pub fn below(self, x: f32, offset: i32, of_two: bool) -> i64 {
        floor(self.moved(x.into(), offset) - if of_two { 0.5 } else { 0.0 })
    }

    /// As [`Axis::nearest`] where the place is inside of the image; `None` elsewhere.
    #[inline(always)]
    pub fn inside(self, x: f32, offset: i32) -> Option<u32> {
        let (i, _) = self.split(x, offset, 0.0);
        (0..i64::from(self.size)).contains(&i).then_some(i as u32)
    }

    /// The first of the texels of [`Axis::linear`], and the second one's weight, where both are inside; `None`
    /// elsewhere.
    #[inline(always)]
    pub fn between(self, x: f32, offset: i32) -> Option<(u32, f32)> {
        let (i, weight) = self.split(x, offset, 0.5);
        (0..i64::from(self.size) - 1).contains(&i).then_some((i as u32, weight))
    }

    /// The texels around a coordinate, to which an offset of whole texels is added.
    #[inline]
    pub fn linear(self, x: f32, offset: i32) -> TexelPair {
        let (first, weight) = self.split(x, offset, 0.5);
        TexelPair { texels: self.pair(first), weight }
    }

    /// A texel and the next one.
    #[inline]
    fn pair(self, first: i64) -> [Option<u32>; 2] {
        [self.texel(first), self.texel(first.saturating_add(1))]
    }
}

/// What is so far from one texel to the next: exactly the first one's channel at 0, and between the two everywhere.
#[inline(always)]
pub fn interpolate<const N: usize>(a: [f32; N], b: [f32; N], weight: f32) -> [f32; N] {
    std::array::from_fn(|c| a[c] + weight * (b[c] - a[c]))
}

/// The single that a mean of normalised bytes stands for.
#[inline(always)]
pub fn of_bytes<const N: usize>(mean: [f32; N]) -> [f32; N] {
    mean.map(|x| x / 255.0)
}

/// The layer of an array that a coordinate names: the nearest one there is, halves going to the even one.
#[inline]
pub fn nearest_layer(x: f64, layers: u32) -> u32 {
    // The cast takes NaN to 0.
    (x.round_ties_even() as i64).clamp(0, layers.max(1) as i64 - 1) as u32
}

/// How a sampler makes one texel of several.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Reduction {
    /// Their sum, weighted.
    #[default]
    Average,
    /// Of each channel the least of those that count.
    Minimum,
    /// Of each channel the greatest of those that count.
    Maximum,
}

/// The single that a sum of doubles is. Which of two NaNs a sum takes is the compiler's choice: one stands for all.
#[inline(always)]
pub fn single_of_sum(sum: f64) -> f32 {
    if sum.is_nan() { f32::from_bits(NAN) } else { sum as f32 }
}

/// The bits of a mean that is not a number.
pub const NAN: u32 = 0x7fc0_0000;

/// Makes one texel of several with their weights. Those that do not count, whatever they hold, change nothing.
#[inline]
pub fn reduce_texels(reduction: Reduction, texels: impl Iterator<Item = (f64, [f32; 4])>) -> [f32; 4] {
    let texels = texels.filter(|t| t.0 > 0.0);
    if reduction == Reduction::Average {
        let mut sum = [0f64; 4];
        for (weight, texel) in texels {
            sum.iter_mut().zip(texel).for_each(|(s, x)| *s += weight * x as f64);
        }
        return sum.map(single_of_sum);
    }
    let least = reduction == Reduction::Minimum;
    let mut result: Option<[f32; 4]> = None;
    for (_, texel) in texels {
        result = Some(match result {
            None => texel,
            Some(all) => {
                std::array::from_fn(|c| if least { all[c].min(texel[c]) } else { all[c].max(texel[c]) })
            }
        });
    }
    result.unwrap_or_default()
}

/// What a reference has to be, held against a texel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Compare {
    Never,
    Less,
    Equal,
    LessEqual,
    Greater,
    NotEqual,
    GreaterEqual,
    Always,
}

impl Compare {
    /// Is the reference so? With a NaN only [`Compare::NotEqual`] and [`Compare::Always`] are.
    pub fn holds(self, reference: f32, texel: f32) -> bool {
        match self {
            Compare::Never => false,
            Compare::Less => reference < texel,
            Compare::Equal => reference == texel,
            Compare::LessEqual => reference <= texel,
            Compare::Greater => reference > texel,
            Compare::NotEqual => reference != texel,
            Compare::GreaterEqual => reference >= texel,
            Compare::Always => true,
        }
    }
}

/// The face of a cube that a direction hits (+x, -x, +y, -y, +z, -z), and where: from 0 to 1.
pub fn cube_face([x, y, z]: [f64; 3]) -> (u32, [f64; 2]) {
    let [ax, ay, az] = [x, y, z].map(f64::abs);
    let (face, major, s, t) = if ax >= ay && ax >= az {
        if x < 0.0 { (1, ax, z, -y) } else { (0, ax, -z, -y) }
    } else if ay >= az {
        if y < 0.0 { (3, ay, x, -z) } else { (2, ay, x, z) }
    } else if z < 0.0 {
        (5, az, -x, -y)
    } else {
        (4, az, x, -y)
    };
    let at = |c: f64| if major > 0.0 { (c / major + 1.0) / 2.0 } else { 0.5 };
    (face, [at(s), at(t)])
}

/// The level of detail of a pixel whose place moves by these many texels to its neighbours in x and y.
pub fn level_of_detail(along_x: [f64; 3], along_y: [f64; 3]) -> f64 {
    let length = |d: [f64; 3]| d.iter().map(|c| c * c).sum::<f64>().sqrt();
    length(along_x).max(length(along_y)).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn axis(size: u32, addressing: Addressing, normalized: bool) -> Axis {
        Axis { size, addressing, normalized }
    }

    /// The specification's formulas of each addressing mode, in double.
    fn by_the_book(a: Axis, s: f64) -> Option<u32> {
        let w = a.size as f64;
        match a.addressing {
            Addressing::None | Addressing::Clamp | Addressing::ClampToEdge => {
                let i = (if a.normalized { s * w } else { s }).floor();
                match a.addressing {
                    Addressing::ClampToEdge => Some(i.clamp(0.0, w - 1.0) as u32),
                    _ => (i >= 0.0 && i < w).then_some(i as u32),
                }
            }
            Addressing::Repeat => {
                let u = (s - s.floor()) * w;
                let i = u.floor();
                Some((if i > w - 1.0 { i - w } else { i }) as u32)
            }
            Addressing::MirroredRepeat => {
                let s = (s - 2.0 * (0.5 * s).round_ties_even()).abs();
                Some((s * w).floor().min(w - 1.0) as u32)
            }
        }
    }

    #[test]
    fn nearest_is_the_specifications_formula() {
        for addressing in
            [Addressing::Clamp, Addressing::ClampToEdge, Addressing::Repeat, Addressing::MirroredRepeat]
        {
            for size in [1, 2, 4, 8, 16, 64] {
                let a = axis(size, addressing, true);
                // Multiples of 2^-10: all of it is exact.
                for k in -3072..=3072 {
                    let s = k as f64 / 1024.0;
                    assert_eq!(a.nearest(s as f32, 0), by_the_book(a, s), "{a:?} {s}");
                }
            }
        }
        for addressing in [Addressing::Clamp, Addressing::ClampToEdge] {
            let a = axis(5, addressing, false);
            for k in -30..60 {
                let s = k as f64 / 4.0;
                assert_eq!(a.nearest(s as f32, 0), by_the_book(a, s), "{a:?} {s}");
            }
        }
    }

    /// The pairs of the specification: repeated, mirrored, clamped.
    fn pair_by_the_book(a: Axis, s: f64) -> ([Option<u32>; 2], f64) {
        let w = a.size as f64;
        let (i0, i1, u) = match a.addressing {
            Addressing::Repeat => {
                let u = (s - s.floor()) * w;
                let i0 = (u - 0.5).floor();
                let i1 = i0 + 1.0;
                (if i0 < 0.0 { w + i0 } else { i0 }, if i1 > w - 1.0 { i1 - w } else { i1 }, u)
            }
            Addressing::MirroredRepeat => {
                let u = (s - 2.0 * (0.5 * s).round_ties_even()).abs() * w;
                let i0 = (u - 0.5).floor();
                (i0.max(0.0), (i0 + 1.0).min(w - 1.0), u)
            }
            _ => {
                let u = if a.normalized { s * w } else { s };
                let i0 = (u - 0.5).floor();
                let c =
                    |i: f64| if a.addressing == Addressing::ClampToEdge { i.clamp(0.0, w - 1.0) } else { i };
                (c(i0), c(i0 + 1.0), u)
            }
        };
        let there = |i: f64| (i >= 0.0 && i < w).then_some(i as u32);
        ([there(i0), there(i1)], (u - 0.5) - (u - 0.5).floor())
    }

    #[test]
    fn linear_is_the_specifications_formula() {
        for addressing in
            [Addressing::Clamp, Addressing::ClampToEdge, Addressing::Repeat, Addressing::MirroredRepeat]
        {
            for size in [1, 2, 4, 8, 32] {
                let a = axis(size, addressing, true);
                for k in -3072..=3072 {
                    let s = k as f64 / 1024.0;
                    let p = a.linear(s as f32, 0);
                    let (texels, weight) = pair_by_the_book(a, s);
                    // Between two of a kind it does not matter where.
                    let weight = if texels[0] == texels[1] { p.weight.into() } else { weight };
                    assert_eq!((p.texels, f64::from(p.weight)), (texels, weight), "{a:?} {s}");
                }
            }
        }
    }

    #[test]
    fn coordinates_that_are_no_numbers_find_a_texel_or_the_border() {
        for addressing in
            [Addressing::Clamp, Addressing::ClampToEdge, Addressing::Repeat, Addressing::MirroredRepeat]
        {
            for normalized in [false, true] {
                let a = axis(7, addressing, normalized);
                for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, f32::MAX, -0.0, 1e-40] {
                    for offset in [i32::MIN, -1, 0, 1, i32::MAX] {
                        assert!(a.nearest(x, offset).is_none_or(|i| i < 7));
                        let p = a.linear(x, offset);
                        assert!(
                            p.texels.iter().all(|i| i.is_none_or(|i| i < 7))
                                && (0.0..=1.0).contains(&p.weight)
                        );
                    }
                }
            }
        }
        assert_eq!(
            (
                nearest_layer(f64::NAN, 4),
                nearest_layer(1e30, 4),
                nearest_layer(-1e30, 4),
                nearest_layer(3.0, 0)
            ),
            (0, 3, 0, 0)
        );
        assert_eq!((nearest_layer(0.5, 9), nearest_layer(1.5, 9), nearest_layer(2.4, 9)), (0, 2, 2));
    }

    #[test]
    fn inside_it_is_the_same() {
        for addressing in Addressing::ALL {
            for normalized in [false, true] {
                let a = axis(7, addressing, normalized);
                for k in -400..400 {
                    let x = if normalized { k as f32 / 128.0 } else { k as f32 / 16.0 };
                    for offset in [-2, 0, 1] {
                        if let Some(i) = a.inside(x, offset) {
                            assert_eq!(a.nearest(x, offset), Some(i), "{a:?} {x}");
                        }
                        if let Some((first, weight)) = a.between(x, offset) {
                            let want = TexelPair { texels: [Some(first), Some(first + 1)], weight };
                            assert_eq!(a.linear(x, offset), want, "{a:?} {x}");
                        }
                    }
                }
                assert!(a.between(0.5, 0).is_some() && a.inside(0.5, 0).is_some());
                let repeats = matches!(addressing, Addressing::Repeat | Addressing::MirroredRepeat);
                assert!(a.between(f32::NAN, 0).is_none() || repeats);
                assert!(a.inside(f32::INFINITY, 0).is_none() || repeats);
            }
        }
    }

    /// The texel of the formula in exact numbers, of sizes and coordinates whose product is not a single.
    #[test]
    fn what_rounding_leaves_counts() {
        let mut seed = 1u64;
        let mut next = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as u32
        };
        // Places that are just before the middle of a texel, and round to it.
        let mut middles = 0;
        for _ in 0..200_000 {
            let size = 1 + next() % 5000;
            // Near the border of two texels, or the middle of one, where rounding would tell.
            let at = (next() % (4 * size)) as f32 / (2 * size) as f32;
            let x = f32::from_bits(at.to_bits().wrapping_add(next() % 5).wrapping_sub(2));
            let x = if x.is_nan() { 0.0 } else { x };
            for addressing in Addressing::ALL {
                let a = axis(size, addressing, true);
                // Below two, the fraction of a single is one.
                let s = f64::from(x);
                let s = match addressing {
                    Addressing::Repeat => s - s.floor(),
                    Addressing::MirroredRepeat => (s - 2.0 * (0.5 * s).round_ties_even()).abs(),
                    _ => s,
                };
                let i = (s * f64::from(size)).floor() as i64;
                let want = match addressing {
                    Addressing::None | Addressing::Clamp => (0..size as i64).contains(&i).then_some(i as u32),
                    Addressing::Repeat => Some(i.rem_euclid(size.into()) as u32),
                    _ => Some(i.clamp(0, i64::from(size) - 1) as u32),
                };
                assert_eq!(a.nearest(x, 0), want, "{a:?} {x:e}");
                // A filter's place is the single.
                let u = s as f32 * size as f32 - 0.5;
                let want = TexelPair { texels: a.pair(u.floor() as i64), weight: u - u.floor() };
                assert_eq!(a.linear(x, 0), want, "{a:?} {x:e}");
                middles += u32::from(want.weight == 0.0 && s * f64::from(size) - 0.5 < u.into());
            }
        }
        assert!(middles > 1000, "{middles}");
        // Below zero, a single's fraction has more bits.
        let a = axis(100, Addressing::Repeat, true);
        assert_eq!(
            (a.nearest(-1e-10, 0), a.nearest(-0.0, 0), a.nearest(1.0, 0)),
            (Some(99), Some(0), Some(0))
        );
    }

    #[test]
    fn means_of_bytes_are_of_their_texels() {
        for x in 0..=255u8 {
            let x = f32::from(x);
            assert_eq!(of_bytes([x]), [x / 255.0]);
            assert_eq!(of_bytes([x])[0] * 255.0, x);
            for w in [0.0, 0.1, 0.5, 0.999, 1.0] {
                assert_eq!(interpolate([x], [x], w), [x]);
                assert!((0.0..=255.0).contains(&interpolate([x], [255.0], w)[0]));
            }
        }
    }

    /// What code does that has no quotients in a hurry: right for all singles, as those of one binade are.
    #[test]
    fn quotients_by_255_are_products() {
        let by = 1.0f32 / 255.0;
        let step = if cfg!(debug_assertions) { 251 } else { 1 };
        for bits in (128f32.to_bits()..256f32.to_bits()).step_by(step) {
            let x = f32::from_bits(bits);
            let q = x * by;
            let rest = (-q).mul_add(255.0, x);
            assert_eq!(rest.mul_add(by, q), x / 255.0, "{x}");
        }
    }

    #[test]
    fn offsets_move_by_texels_before_the_image_repeats() {
        let a = axis(4, Addressing::Repeat, true);
        assert_eq!(a.nearest(0.9, 1), Some(0));
        assert_eq!(a.nearest(0.1, -1), Some(3));
        assert_eq!(axis(4, Addressing::Clamp, true).nearest(0.1, -1), None);
        assert_eq!(axis(4, Addressing::MirroredRepeat, true).nearest(0.1, -1), Some(0));
    }

    #[test]
    fn texels_that_do_not_count_change_nothing() {
        let t = |w: f64, x: f32| (w, [x, 0.0, 0.0, 1.0]);
        let all = [t(0.25, 2.0), t(0.75, 6.0), t(0.0, f32::NAN)];
        assert_eq!(reduce_texels(Reduction::Average, all.into_iter()), [5.0, 0.0, 0.0, 1.0]);
        let nans = [0xffc0_1234, 0x7f80_4321].map(|x| (0.5, [f32::from_bits(x); 4]));
        assert_eq!(reduce_texels(Reduction::Average, nans.into_iter()).map(f32::to_bits), [NAN; 4]);
        assert_eq!(reduce_texels(Reduction::Minimum, all.into_iter())[0], 2.0);
        assert_eq!(reduce_texels(Reduction::Maximum, all.into_iter())[0], 6.0);
    }

    #[test]
    fn directions_hit_the_faces_of_a_cube() {
        // The major axis' face, and the table of s and t of the OpenGL specification.
        assert_eq!(cube_face([1.0, 0.0, 0.0]), (0, [0.5, 0.5]));
        assert_eq!(cube_face([-1.0, 0.0, 1.0]), (1, [1.0, 0.5]));
        assert_eq!(cube_face([0.5, 1.0, 0.0]), (2, [0.75, 0.5]));
        assert_eq!(cube_face([0.0, -2.0, 1.0]), (3, [0.5, 0.25]));
        assert_eq!(cube_face([0.25, -0.5, 1.0]), (4, [0.625, 0.75]));
        assert_eq!(cube_face([0.25, 0.0, -1.0]), (5, [0.375, 0.5]));
    }

    #[test]
    fn a_level_is_half_as_large_as_the_one_before() {
        assert_eq!(level_of_detail([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]), 0.0);
        assert_eq!(level_of_detail([0.0, 4.0, 0.0], [0.0, 1.0, 0.0]), 2.0);
        assert_eq!(level_of_detail([0.0; 3], [0.25, 0.0, 0.0]), -2.0);
    }

    #[test]
    fn nothing_compares_with_nan() {
        use Compare::*;
        for (c, want) in [(Never, false), (Less, true), (Equal, false), (LessEqual, true), (Greater, false)] {
            assert_eq!(c.holds(1.0, 2.0), want);
        }
        assert!(NotEqual.holds(f32::NAN, 1.0) && Always.holds(f32::NAN, 1.0));
        assert!(!GreaterEqual.holds(f32::NAN, 1.0) && GreaterEqual.holds(1.0, 1.0));
    }
}
