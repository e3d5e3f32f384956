//! What a sampler computes: places of texels, weights, comparisons, faces of a cube, levels of detail.
//!
//! The formulas are those of the OpenCL C specification's section on image addressing and filtering. They are
//! evaluated in double, where a coordinate times a size is exact, so a nearest texel is the one that the formula
//! names and a linear filter's result is off by its last rounding only. (Devices round coordinates and weights to
//! eight fractional bits or so; the specification leaves their precision open.)

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
pub struct Pair {
    /// The texels.
    pub texels: [Option<u32>; 2],
    /// How much the second one counts, from 0 to less than 1; the first one counts the rest.
    pub weight: f64,
}

/// The integer below a number; NaN is 0, and what is too large the largest.
#[inline]
fn floor(x: f64) -> i64 {
    let i = x as i64;
    if (i as f64) > x { i.saturating_sub(1) } else { i }
}

impl Axis {
    /// The place of a coordinate in texels, brought inside where the image repeats.
    #[inline]
    fn place(self, x: f64, offset: i32) -> f64 {
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
    pub fn nearest(self, x: f64, offset: i32) -> Option<u32> {
        self.texel(floor(self.place(x, offset)))
    }

    /// As [`Axis::nearest`] where the place is inside of the image; `None` elsewhere.
    #[inline(always)]
    pub fn inside(self, x: f64, offset: i32) -> Option<u32> {
        let u = self.place(x, offset);
        (u >= 0.0 && u < self.size as f64).then_some(u as u32)
    }

    /// The first of the texels of [`Axis::linear`], and the second one's weight, where both are inside; `None`
    /// elsewhere.
    #[inline(always)]
    pub fn between(self, x: f64, offset: i32) -> Option<(u32, f64)> {
        let u = self.place(x, offset) - 0.5;
        let first = u as u32;
        let inside = u >= 0.0 && u < self.size as f64 - 1.0;
        inside.then(|| (first, u - f64::from(first)))
    }

    /// The texels around a coordinate, to which an offset of whole texels is added.
    #[inline]
    pub fn linear(self, x: f64, offset: i32) -> Pair {
        let u = self.place(x, offset) - 0.5;
        let first = floor(u);
        let weight = u - first as f64;
        Pair {
            texels: [self.texel(first), self.texel(first.saturating_add(1))],
            // What is no number, or beyond all images, has no place between two texels.
            weight: if (0.0..1.0).contains(&weight) { weight } else { 0.0 },
        }
    }
}

/// The layer of an array that a coordinate names: the nearest one there is, halves going to the even one.
#[inline]
pub fn layer(x: f64, layers: u32) -> u32 {
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

/// Makes one texel of several with their weights. Those that do not count, whatever they hold, change nothing.
#[inline]
pub fn reduce(reduction: Reduction, texels: impl Iterator<Item = (f64, [f32; 4])>) -> [f32; 4] {
    let texels = texels.filter(|t| t.0 > 0.0);
    if reduction == Reduction::Average {
        let mut sum = [0f64; 4];
        for (weight, texel) in texels {
            sum.iter_mut().zip(texel).for_each(|(s, x)| *s += weight * x as f64);
        }
        return sum.map(|x| x as f32);
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
                    assert_eq!(a.nearest(s, 0), by_the_book(a, s), "{a:?} {s}");
                }
            }
        }
        for addressing in [Addressing::Clamp, Addressing::ClampToEdge] {
            let a = axis(5, addressing, false);
            for k in -30..60 {
                let s = k as f64 / 4.0;
                assert_eq!(a.nearest(s, 0), by_the_book(a, s), "{a:?} {s}");
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
                    let p = a.linear(s, 0);
                    assert_eq!((p.texels, p.weight), pair_by_the_book(a, s), "{a:?} {s}");
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
                for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, f64::MAX, -0.0, 1e-300] {
                    for offset in [i32::MIN, -1, 0, 1, i32::MAX] {
                        assert!(a.nearest(x, offset).is_none_or(|i| i < 7));
                        let p = a.linear(x, offset);
                        assert!(
                            p.texels.iter().all(|i| i.is_none_or(|i| i < 7))
                                && (0.0..1.0).contains(&p.weight)
                        );
                    }
                }
            }
        }
        assert_eq!((layer(f64::NAN, 4), layer(1e30, 4), layer(-1e30, 4), layer(3.0, 0)), (0, 3, 0, 0));
        assert_eq!((layer(0.5, 9), layer(1.5, 9), layer(2.4, 9)), (0, 2, 2));
    }

    #[test]
    fn inside_it_is_the_same() {
        for addressing in Addressing::ALL {
            for normalized in [false, true] {
                let a = axis(7, addressing, normalized);
                for k in -400..400 {
                    let x = if normalized { k as f64 / 128.0 } else { k as f64 / 16.0 };
                    for offset in [-2, 0, 1] {
                        if let Some(i) = a.inside(x, offset) {
                            assert_eq!(a.nearest(x, offset), Some(i), "{a:?} {x}");
                        }
                        if let Some((first, weight)) = a.between(x, offset) {
                            let want = Pair { texels: [Some(first), Some(first + 1)], weight };
                            assert_eq!(a.linear(x, offset), want, "{a:?} {x}");
                        }
                    }
                }
                assert!(a.between(0.5, 0).is_some() && a.inside(0.5, 0).is_some());
                assert!(a.between(f64::NAN, 0).is_none() && a.inside(f64::INFINITY, 0).is_none());
            }
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
        assert_eq!(reduce(Reduction::Average, all.into_iter()), [5.0, 0.0, 0.0, 1.0]);
        assert_eq!(reduce(Reduction::Minimum, all.into_iter())[0], 2.0);
        assert_eq!(reduce(Reduction::Maximum, all.into_iter())[0], 6.0);
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
