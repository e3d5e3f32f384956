//! Messages of the sampler, from pages 3D_SAMPLE and 3D_SAMPLE4 and the OpenCL C specification's formulas of
//! addressing and filtering. Sizes are powers of two and coordinates multiples of a sixteenth of a texel, so that
//! all formulas are exact and results are compared bit by bit.

use crate::formats::{As, Format, letters, place};
use crate::founding::{masked, text};
use crate::harness::{Bench, Case, Predicate, Rng, Texels, covers, mask_name, size};
use envisa::isa::Platform;
use envisa::{Addressing, Compare, ImageShape, Reduction, Sampler};
use envisa_machine::trap::Cause;

const RGBA8: Format = Format(0x10b5, 0x10d2, &[0, 1, 2, 3], 1, As::Unorm);
const R8: Format = Format(0x10b0, 0x10d2, &[0], 1, As::Unorm);
const RG16: Format = Format(0x10b2, 0x10d1, &[0, 1], 2, As::Snorm);
const RX8: Format = Format(0x10ba, 0x10d2, &[0, 4], 1, As::Unorm);
const RGBA8I: Format = Format(0x10b5, 0x10d7, &[0, 1, 2, 3], 1, As::Sint);
const BGRA8: Format = Format(0x10b6, 0x10d2, &[2, 1, 0, 3], 1, As::Unorm);
const RGBA8UI: Format = Format(0x10b5, 0x10da, &[0, 1, 2, 3], 1, As::Uint);
const RGBA16F: Format = Format(0x10b5, 0x10dd, &[0, 1, 2, 3], 2, As::Half);
const R32F: Format = Format(0x10b0, 0x10de, &[0], 4, As::Float);
/// Those whose texels add up exactly come first.
const FORMATS: [Format; 9] = [RGBA8, R8, RG16, RX8, BGRA8, RGBA8I, RGBA8UI, RGBA16F, R32F];

const SHAPES: [ImageShape; 6] = [
    ImageShape::D1,
    ImageShape::D1Array,
    ImageShape::D2,
    ImageShape::D2Array,
    ImageShape::D3,
    ImageShape::Cube,
];
const MODES: [Addressing; 5] = [
    Addressing::None,
    Addressing::Clamp,
    Addressing::ClampToEdge,
    Addressing::Repeat,
    Addressing::MirroredRepeat,
];

/// What an operation does, and its parameters as its page orders them.
const SAMPLES: [(&str, &str); 11] = [
    ("sample_3d", "u v r ai"),
    ("sample_b", "bias u v r ai"),
    ("sample_l", "lod u v r ai"),
    ("sample_c", "ref u v r ai"),
    ("sample_d", "u dudx dudy v dvdx dvdy r drdx drdy ai"),
    ("sample_b_c", "ref bias u v r ai"),
    ("sample_l_c", "ref lod u v r ai"),
    ("sample_d_c", "ref u dudx dudy v dvdx dvdy r drdx drdy ai"),
    ("sample_lz", "u v r ai"),
    ("sample_c_lz", "ref u v r ai"),
    ("sample_3d", "u v r ai"),
];
const SAMPLES_XE2: [(&str, &str); 9] = [
    ("sample_mlod", "mlod u v r ai"),
    ("sample_c_mlod", "ref mlod u v r ai"),
    ("sample_d_c_mlod", "ref u dudx dudy v dvdx dvdy r drdx drdy ai mlod"),
    ("sample_po", "u v r off4"),
    ("sample_po_b", "level_off4 u v r ai"),
    ("sample_po_l", "level_off4 u v r ai"),
    ("sample_po_l_c", "ref level_off4 u v r ai"),
    ("sample_po_lz", "u v r off4"),
    ("sample_po_b_c", "ref level_off4 u v r ai"),
];
const GATHERS: [(&str, &str); 4] = [
    ("sample4", "u v r ai"),
    ("sample4_c", "ref u v r ai"),
    ("sample4_po", "u v off_u off_v r"),
    ("sample4_po_c", "ref u v off_u off_v r"),
];
const GATHERS_XE2: [(&str, &str); 10] = [
    ("sample4_l", "lod u v r ai"),
    ("sample4_b", "bias u v r ai"),
    ("sample4_i", "u v r ai"),
    ("sample4_i_c", "ref u v r ai"),
    ("sample4_l_c", "ref lod u v r ai"),
    ("sample4_po_packed", "u v off6 r"),
    ("sample4_po_packed_l", "level_off6 u v r ai"),
    ("sample4_po_packed_b", "level_off6 u v r ai"),
    ("sample4_po_packed_i", "u v r off6"),
    ("sample4_po_packed_l_c", "ref level_off6 u v r ai"),
];

fn image(shape: ImageShape, f: Format) -> Texels {
    let (height, depth) = match shape {
        ImageShape::D1 | ImageShape::Buffer => (1, 1),
        ImageShape::D1Array => (1, 3),
        ImageShape::D2 => (4, 1),
        ImageShape::D2Array => (4, 3),
        ImageShape::D3 => (4, 2),
        ImageShape::Cube => (4, 12),
    };
    let width = if shape == ImageShape::Cube { 4 } else { 8 };
    let mut texel = f.bytes() as u32;
    if f == RX8 {
        texel = 2;
    }
    Texels { shape, width, height, depth, samples: 1, levels: 1, order: f.0, ty: f.1, texel }
}

/// One channel's parameters.
#[derive(Clone, Copy, Debug, Default)]
struct Pixel {
    at: [f64; 4],
    reference: f32,
    offsets: [i64; 3],
}

/// The index of a coordinate's texel by the specification; `None` outside.
fn wrapped(mode: Addressing, i: f64, n: f64) -> Option<f64> {
    match mode {
        Addressing::None | Addressing::Clamp => (i >= 0.0 && i < n).then_some(i),
        Addressing::ClampToEdge | Addressing::MirroredRepeat => Some(i.clamp(0.0, n - 1.0)),
        Addressing::Repeat if i < 0.0 => Some(i + n),
        Addressing::Repeat if i > n - 1.0 => Some(i - n),
        Addressing::Repeat => Some(i),
    }
}

/// The place of a coordinate in texels.
fn unnormalised(s: Sampler, x: f64, offset: i64, n: f64) -> f64 {
    // Offsets are of texels; they are added before the image repeats.
    match s.addressing {
        _ if !s.normalized => x + offset as f64,
        Addressing::Repeat => {
            let x = x + offset as f64 / n;
            (x - x.floor()) * n
        }
        Addressing::MirroredRepeat => {
            let x = x + offset as f64 / n;
            (x - 2.0 * (0.5 * x).round_ties_even()).abs() * n
        }
        _ => x * n + offset as f64,
    }
}

/// Sides of an image that a coordinate runs along, and the layer.
fn sides(i: &Texels, p: &Pixel) -> (Vec<(f64, f64)>, i64) {
    let [u, v, r, ai] = p.at;
    let (w, h, d) = (i.width as f64, i.height as f64, i.depth as f64);
    let layer = |x: f64, n: f64| x.round_ties_even().clamp(0.0, n - 1.0) as i64;
    match i.shape {
        ImageShape::D1 | ImageShape::Buffer => (vec![(u, w)], 0),
        ImageShape::D1Array => (vec![(u, w)], layer(v, d)),
        ImageShape::D2 => (vec![(u, w), (v, h)], 0),
        ImageShape::D2Array => (vec![(u, w), (v, h)], layer(r, d)),
        ImageShape::D3 => (vec![(u, w), (v, h), (r, d)], 0),
        ImageShape::Cube => {
            // Tests name faces by a major axis of 1 or -1.
            let (face, s, t) = match (u, v, r) {
                (1.0, ..) => (0, -r, -v),
                (-1.0, ..) => (1, r, -v),
                (_, 1.0, _) => (2, u, r),
                (_, -1.0, _) => (3, u, -r),
                (.., 1.0) => (4, u, -v),
                _ => (5, -u, -v),
            };
            (vec![((s + 1.0) / 2.0, w), ((t + 1.0) / 2.0, h)], layer(ai, d / 6.0) * 6 + face)
        }
    }
}

/// What lies outside: transparent black, opaque for orders without alpha and padding.
fn border(s: Sampler, f: Format) -> [u32; 4] {
    s.border.unwrap_or([0, 0, 0, if f.2.contains(&3) || f.2.contains(&4) { 0 } else { 1f32.to_bits() }])
}

fn decode(f: Format, bytes: &[u8]) -> [u32; 4] {
    // Padding is not a channel.
    if f == RX8 { R8.decode(&bytes[..1]) } else { f.decode(bytes) }
}

/// The texel at indices along the sides.
fn fetch(
    b: &Bench,
    (i, f, s): (&Texels, Format, Sampler),
    index: &[Option<f64>],
    layer: i64,
    p: &Pixel,
    compares: bool,
) -> [u32; 4] {
    let at = |k: usize| index.get(k).copied().flatten().map_or(0, |x| x as i64);
    let there = index.iter().all(Option::is_some);
    let coordinates = match i.shape {
        ImageShape::D1 | ImageShape::D2 | ImageShape::D3 | ImageShape::Buffer => [at(0), at(1), at(2), 0],
        ImageShape::D1Array => [at(0), layer, 0, 0],
        ImageShape::D2Array | ImageShape::Cube => [at(0), at(1), layer, 0],
    };
    let mut x = match place(i, coordinates).filter(|_| there) {
        Some(from) => {
            let n = i.texel as usize;
            decode(f, &b.world.texels[from..from + n])
        }
        None => border(s, f),
    };
    if compares {
        let red = f32::from_bits(x[0]);
        let holds = match s.compare.expect("a comparison") {
            Compare::Never => false,
            Compare::Less => p.reference < red,
            Compare::Equal => p.reference == red,
            Compare::LessEqual => p.reference <= red,
            Compare::Greater => p.reference > red,
            Compare::NotEqual => p.reference != red,
            Compare::GreaterEqual => p.reference >= red,
            Compare::Always => true,
        };
        x[0] = (holds as u32 as f32).to_bits();
    }
    x
}

/// A direction hits a face at 0 to 1, whatever the sampler says; what is filtered stays on it.
fn on_a_face(s: Sampler) -> Sampler {
    Sampler { addressing: Addressing::ClampToEdge, normalized: true, ..s }
}

/// Texel below a place, the one above it, how much that counts.
type Ends = (Option<f64>, Option<f64>, f64);

fn ends(i: &Texels, mut s: Sampler, p: &Pixel) -> (Vec<Ends>, i64) {
    let (sides, layer) = sides(i, p);
    if i.shape == ImageShape::Cube {
        s = on_a_face(s);
    }
    let ends = |(k, (x, n)): (usize, &(f64, f64))| {
        let u = unnormalised(s, *x, p.offsets[k], *n) - 0.5;
        let i0 = u.floor();
        (wrapped(s.addressing, i0, *n), wrapped(s.addressing, i0 + 1.0, *n), u - i0)
    };
    (sides.iter().enumerate().map(ends).collect(), layer)
}

fn sample(b: &Bench, i: &Texels, f: Format, s: Sampler, p: &Pixel, compares: bool) -> [u32; 4] {
    if !s.linear {
        let (sides, layer) = sides(i, p);
        let index: Vec<_> = sides
            .iter()
            .enumerate()
            .map(|(k, (x, n))| {
                let edge = i.shape == ImageShape::Cube;
                let s = if edge { on_a_face(s) } else { s };
                wrapped(s.addressing, unnormalised(s, *x, p.offsets[k], *n).floor(), *n)
            })
            .collect();
        return fetch(b, (i, f, s), &index, layer, p, compares);
    }
    let (ends, layer) = ends(i, s, p);
    // Means of bytes are of whole numbers.
    let of_bytes = f.3 == 1 && matches!(f.4, As::Unorm) && s.reduction == Reduction::Average && !compares;
    let mut sum = [0f64; 4];
    let mut reduced: Option<[f64; 4]> = None;
    for corner in 0..1usize << ends.len() {
        let mut weight = 1.0;
        let mut index = Vec::new();
        for (k, e) in ends.iter().enumerate() {
            let high = corner >> k & 1 != 0;
            weight *= if high { e.2 } else { 1.0 - e.2 };
            index.push(if high { e.1 } else { e.0 });
        }
        let x = fetch(b, (i, f, s), &index, layer, p, compares).map(|x| f32::from_bits(x) as f64);
        if weight == 0.0 {
            continue;
        }
        for c in 0..4 {
            sum[c] += weight * if of_bytes { (x[c] * 255.0) as f32 as f64 } else { x[c] };
        }
        reduced = Some(match (reduced, s.reduction) {
            (None, _) => x,
            (Some(r), Reduction::Maximum) => std::array::from_fn(|c| r[c].max(x[c])),
            (Some(r), _) => std::array::from_fn(|c| r[c].min(x[c])),
        });
    }
    let sum = if of_bytes { sum.map(|x| x / 255.0) } else { sum };
    let result = if s.reduction == Reduction::Average { sum } else { reduced.expect("a texel") };
    result.map(|x| (x as f32).to_bits())
}

/// R is the lower left texel, G the lower right one, B the upper right one, A the upper left one.
fn gather(
    b: &Bench,
    i: &Texels,
    f: Format,
    s: Sampler,
    p: &Pixel,
    compares: bool,
    channel: usize,
) -> [u32; 4] {
    let (ends, layer) = ends(i, s, p);
    let [x, y] = ends[..] else { panic!("two sides") };
    [(x.0, y.1), (x.1, y.1), (x.1, y.0), (x.0, y.0)]
        .map(|(u, v)| fetch(b, (i, f, s), &[u, v], layer, p, compares)[channel])
}

/// A case of an operation for one image and sampler, or `None` if the sizes of its parameters do not go together.
fn case(
    b: &Bench,
    rng: &mut Rng,
    (op, names): (&str, &str),
    (i, f, s): (&Texels, Format, Sampler),
    n: u32,
) -> (Case, String) {
    let gathers = op.starts_with("sample4");
    let names: Vec<&str> = names.split(' ').collect();
    let compares = names[0] == "ref";
    // Trailing parameters may be left out, but a gather needs its offsets.
    let least = names.iter().position(|p| *p == "u").map_or(1, |p| p + 1);
    let directions = i.shape == ImageShape::Cube;
    let used = if rng.below(3) == 0 && !directions {
        least + rng.below((names.len() - least + 1) as u64) as usize
    } else {
        names.len()
    };
    let names = &names[..used];
    let ty = if names.iter().any(|p| p.contains("off")) || rng.below(4) != 0 { "f" } else { "hf" };
    let mut c = masked(rng);
    let (word, pixels, params) = parameters(&mut c, rng, names, ty, (i, s), n);
    let channels = if gathers { 15 } else { 1 + rng.below(15) as u32 };
    let channel = rng.below(4) as usize;
    let dst = match (f.int(), rng.below(3)) {
        (true, 0) => "uw",
        (true, _) => "ud",
        (false, 0) => "hf",
        (false, _) => "f",
    };
    let bytes = size(dst);
    let enabled: Vec<usize> = (0..4).filter(|c| channels >> c & 1 != 0).collect();
    let pitch = (n as usize * bytes).next_multiple_of(b.grf());
    let null_mask = rng.below(6) == 0;
    let all =
        if null_mask { enabled.len() * pitch + 4 } else { (enabled.len() - 1) * pitch + n as usize * bytes };
    c.bytes("dst", dst, &rng.bytes(all));
    let mask = rng.pick(match n {
        8 => &[0usize, 2, 6, 8][..],
        16 => &[0, 4, 8, 12],
        _ => &[0, 8],
    });
    let mut any = false;
    for k in 0..n {
        if !c.active(mask, Predicate::None, n, k) {
            continue;
        }
        any = true;
        let p = &pixels[k as usize];
        let x = match gathers {
            true => gather(b, i, f, s, p, compares, channel),
            false => sample(b, i, f, s, p, compares),
        };
        for (e, &ch) in enabled.iter().enumerate() {
            let x = match dst {
                "hf" => half::f16::from_f32(f32::from_bits(x[ch])).to_bits() as u64,
                _ => x[ch] as u64,
            };
            c.of("dst").set(e * pitch + k as usize * bytes, bytes, x);
        }
    }
    if null_mask && any {
        c.of("dst").set(enabled.len() * pitch, 4, u32::MAX as u64 >> (32 - n));
    }
    let (sampler, surface) = states(b, &mut c, rng);
    let t = format!(
        "{op}{}.{} ({},{n}) 0x{word:x}:uw {sampler} {surface} $dst.0 {}{}",
        if null_mask { ".pixel_null_mask" } else { "" },
        if gathers { letters(1 << channel) } else { letters(channels) },
        mask_name(mask),
        // From 4.2 on a paired surface stands before the parameters.
        if b.grf() == 64 { "%null.0 " } else { "" },
        params.join(" ")
    );
    let filled = text(&c, t.clone());
    (filled, t)
}

/// The parameters of a case, in variables of it: the word of constant offsets, what they are for each channel, and their
/// text.
fn parameters(
    c: &mut Case,
    rng: &mut Rng,
    names: &[&str],
    ty: &'static str,
    (i, s): (&Texels, Sampler),
    n: u32,
) -> (i64, Vec<Pixel>, Vec<String>) {
    let directions = i.shape == ImageShape::Cube;
    let add = [0, 1, 2].map(|_| if rng.below(2) == 0 { 0 } else { rng.below(16) as i64 - 8 });
    let word = (add[0] & 15) << 8 | (add[1] & 15) << 4 | add[2] & 15;
    let mut pixels = vec![Pixel { offsets: add, ..Pixel::default() }; n as usize];
    let majors: Vec<u64> = (0..n).map(|_| rng.below(6)).collect();
    let mut params = Vec::new();
    for (position, name) in names.iter().enumerate() {
        // One that is null is zero.
        if rng.below(12) == 0 && !name.contains("off") && !directions {
            params.push("%null.0".to_owned());
            continue;
        }
        let mut values = Vec::new();
        let mut words = Vec::new();
        for k in 0..n as usize {
            let p = &mut pixels[k];
            let axis = ["u", "v", "r", "ai"].iter().position(|a| a == name);
            let extents = [i.width, i.height, i.depth, 1].map(|x| x as f64);
            let number = match axis {
                Some(a) if directions && a < 3 => {
                    let major = majors[k] as usize;
                    if major / 2 == a {
                        1.0 - 2.0 * (major & 1) as f64
                    } else {
                        (rng.below(63) as f64 - 31.0) / 32.0
                    }
                }
                Some(3) => rng.below(24) as f64 / 8.0 - 0.5,
                Some(a) => {
                    // Layers are never normalised.
                    let layers = matches!((i.shape, a), (ImageShape::D1Array, 1) | (ImageShape::D2Array, 2));
                    let texels = (rng.below(48 * extents[a] as u64) as f64) / 16.0 - extents[a];
                    if s.normalized && !layers { texels / extents[a] } else { texels }
                }
                None if *name == "ref" => [0.25, 0.5, 64.0 / 255.0, 1.0, 0.0][rng.below(5) as usize],
                None => rng.below(64) as f64 / 4.0 - 8.0,
            };
            let number = number as f32;
            let (small_u, small_v) = (rng.below(64) as i64 - 32, rng.below(64) as i64 - 32);
            let nibble = |x: i64| (x << 60) >> 60;
            let high = (number.to_bits() & !0xfff) as i64;
            let bits = match *name {
                "off_u" => {
                    p.offsets[0] += small_u;
                    // Six bits count.
                    small_u & 63 | (rng.next() as i64 & 0xff) << 6
                }
                "off_v" => {
                    p.offsets[1] += small_v;
                    small_v & 63
                }
                "off4" | "level_off4" => {
                    let [a, b, c] = [small_u, small_v, small_u + small_v].map(nibble);
                    p.offsets.iter_mut().zip([a, b, c]).for_each(|(o, x)| *o += x);
                    (a & 15) << 8 | (b & 15) << 4 | c & 15 | if *name == "off4" { 0 } else { high }
                }
                "off6" | "level_off6" => {
                    p.offsets[0] += small_u;
                    p.offsets[1] += small_v;
                    small_u & 63 | (small_v & 63) << 6 | if *name == "off6" { 0 } else { high }
                }
                _ if ty == "hf" => half::f16::from_f32(number).to_bits() as i64,
                _ => number.to_bits() as i64,
            };
            match axis {
                // Halves hold these numbers.
                Some(a) => p.at[a] = number as f64,
                None if *name == "ref" => {
                    p.reference = if ty == "hf" { half::f16::from_f32(number).to_f32() } else { number };
                }
                None => {}
            }
            values.push(bits as u32 as u64);
            words.push(bits);
        }
        let variable = format!("p{position}");
        let ty = match *name {
            "off_u" | "off_v" => "d",
            _ => ty,
        };
        c.var(&variable, ty, &values);
        params.push(format!("${variable}.0"));
    }
    (word, pixels, params)
}

/// The handles of the states of surface `T7` and sampler `S0`.
const HANDLES: [u64; 2] = [5 << 6, 6 << 4];

/// How a message names its sampler and its surface: on Xe3P also by the addresses of their states, in registers.
fn states(b: &Bench, c: &mut Case, rng: &mut Rng) -> (String, String) {
    if b.platform() < Platform::Xe3p {
        return ("S0".to_owned(), "T7".to_owned());
    }
    let [surface, sampler] = HANDLES;
    c.var("surface", "uq", &[surface, u64::MAX]);
    // The low bits are not part of it.
    c.var("samplers", "q", &[rng.next(), sampler | 1]);
    let sampler = ["S0", "$samplers(0,1)<0;1,0>[0]"][rng.below(2) as usize];
    let surface = ["T7", "$surface", "($surface, 0)"][rng.below(3) as usize];
    (sampler.to_owned(), surface.to_owned())
}

/// Samplers of every addressing mode and filter; those that repeat have normalised coordinates.
fn samplers() -> Vec<Sampler> {
    let mut all = Vec::new();
    for addressing in MODES {
        for linear in [false, true] {
            for normalized in [false, true] {
                let repeats = matches!(addressing, Addressing::Repeat | Addressing::MirroredRepeat);
                if normalized || !repeats {
                    all.push(Sampler::new(addressing, linear, normalized));
                }
            }
        }
    }
    all
}

const COMPARISONS: [Compare; 8] = [
    Compare::Never,
    Compare::Less,
    Compare::Equal,
    Compare::LessEqual,
    Compare::Greater,
    Compare::NotEqual,
    Compare::GreaterEqual,
    Compare::Always,
];

fn run(platform: Platform, seed: u64, ops: &[(&str, &str)], sizes: &[u32]) {
    let mut rng = Rng(seed);
    let mut b = Bench::new(platform, seed);
    let mut turn = 0;
    for shape in SHAPES {
        let gathers = ops[0].0.starts_with("sample4");
        let flat = matches!(shape, ImageShape::D2 | ImageShape::D2Array | ImageShape::Cube);
        if gathers && !flat {
            continue;
        }
        for mut s in samplers() {
            turn += 1;
            let f = FORMATS[turn % if s.linear { 5 } else { 9 }];
            s.compare = (!f.int()).then_some(COMPARISONS[turn % 8]);
            s.reduction = [Reduction::Average, Reduction::Average, Reduction::Minimum, Reduction::Maximum]
                [turn / 3 % 4];
            s.border = (turn % 5 == 0).then_some([0x3f00_0000, 0x3e80_0000, 0x3f80_0000, 0]);
            let i = image(shape, f);
            b.image(i);
            b.sampler(s);
            for op in ops {
                if f.int() && op.1.starts_with("ref") {
                    continue;
                }
                let n = rng.pick(sizes);
                let (c, _) = case(&b, &mut rng, *op, (&i, f, s), n);
                b.run(c);
            }
        }
    }
    assert!(b.count > 100, "{}", b.count);
}

/// Every operation, image shape, addressing mode, filter, comparison, format kind in turn.
#[test]
fn samples() {
    let _covers = covers("sampler::samples");
    run(Platform::Tgllp, 31, &SAMPLES, &[8, 16]);
    run(Platform::Dg2, 32, &SAMPLES, &[8, 16]);
}

/// Those of Xe2, with offsets and least levels as parameters.
#[test]
fn samples_of_xe2() {
    let _covers = covers("sampler::samples_of_xe2");
    run(Platform::Xe2, 33, &SAMPLES_XE2, &[16, 32]);
}

/// Samplers and surfaces by the addresses of their states.
#[test]
fn states_in_registers() {
    let _covers = covers("sampler::states_in_registers");
    run(Platform::Xe3p, 38, &SAMPLES, &[16, 32]);
    run(Platform::Xe3p, 39, &SAMPLES_XE2, &[16, 32]);
    run(Platform::Xe3p, 40, &GATHERS_XE2, &[16, 32]);
}

/// What is not a state's address, and what lies behind one that is, is said.
#[test]
fn no_states_in_registers() {
    let fault = |handles: [u64; 2], names: &str| -> String {
        let mut b = Bench::new(Platform::Xe3p, 41);
        b.image(image(ImageShape::D2, RGBA8));
        b.sampler(Sampler::new(Addressing::ClampToEdge, true, false));
        let mut c = Case::default();
        c.var("surface", "uq", &handles[..1]);
        c.var("sampler", "uq", &handles[1..]);
        c.var("u", "f", &[0; 16]);
        c.bytes("dst", "f", &[0; 256]);
        match b
            .fault(&text(&c, format!("sample_lz.RGBA (M1,16) 0x0:uw {names} $dst.0 %null.0 $u.0 $u.0")))
            .cause
        {
            Cause::Unsupported { reason, .. } => reason,
            other => panic!("{other:?}"),
        }
    };
    let says = |got: String, want: &str| assert!(got.contains(want), "{got}");
    let [surface, sampler] = HANDLES;
    let plain = "$sampler $surface";
    says(fault([surface + (1 << 32), sampler], plain), "no such surface handle");
    says(fault([0, sampler], plain), "no such surface handle");
    says(fault([surface, sampler + (1 << 32)], plain), "no such sampler");
    says(fault([surface, 0], plain), "no such sampler");
    says(fault(HANDLES, "$sampler ($surface, 1)"), "the state of index 1 behind a handle");
    says(fault(HANDLES, "($sampler, 2) $surface"), "the state of index 2 behind a handle");
}

/// Four texels at once.
#[test]
fn gathers() {
    let _covers = covers("sampler::gathers");
    run(Platform::Tgllp, 34, &GATHERS, &[8, 16]);
    run(Platform::Xe2, 35, &GATHERS_XE2, &[16, 32]);
}

/// LOD: of a square of four pixels that is 2^k texels wide or high; there is one level to clamp to.
#[test]
fn level_of_detail() {
    let _covers = covers("sampler::level_of_detail");
    let mut rng = Rng(36);
    let mut b = Bench::new(Platform::Tgllp, 36);
    let i = image(ImageShape::D2, RGBA8);
    b.image(i);
    for normalized in [false, true] {
        b.sampler(Sampler::new(Addressing::ClampToEdge, true, normalized));
        for _ in 0..20 {
            let mut c = Case::default();
            let (mut u, mut v, mut levels) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..2 {
                let (x, y) = (rng.below(9) as i32 - 4, rng.below(9) as i32 - 4);
                let sides = if normalized { [8.0, 4.0] } else { [1.0, 1.0] };
                for pixel in 0..4 {
                    let along = |k: i32, on: bool| if on { 2f32.powi(k) } else { 0.0 };
                    u.push(((1.0 + along(x, pixel & 1 != 0)) / sides[0]).to_bits() as u64);
                    v.push(((1.0 + along(y, pixel & 2 != 0)) / sides[1]).to_bits() as u64);
                    levels.push(x.max(y) as f32);
                }
            }
            c.var("u", "f", &u);
            c.var("v", "f", &v);
            c.bytes("dst", "f", &rng.bytes(64));
            for (k, level) in levels.iter().enumerate() {
                c.of("dst").set(4 * k, 4, 0);
                c.of("dst").set(32 + 4 * k, 4, level.to_bits() as u64);
            }
            b.run(text(&c, "lod.RG (M1,8) 0x0:uw S0 T7 $dst.0 $u.0 $v.0".to_owned()));
        }
    }
}

/// What is undefined, and what the launch lacks, is said.
#[test]
fn refused() {
    let unsupported = |i: Texels, s: Option<Sampler>, t: &str| -> String {
        let mut b = Bench::new(Platform::Tgllp, 37);
        b.image(i);
        if let Some(s) = s {
            b.sampler(s);
        }
        let mut c = Case::default();
        for name in ["u", "v", "ref"] {
            c.var(name, "f", &[0; 8]);
        }
        c.bytes("dst", "f", &[0; 128]);
        match b.fault(&text(&c, t.to_owned())).cause {
            Cause::Unsupported { reason, .. } => reason,
            other => panic!("{other:?}"),
        }
    };
    let linear = Sampler::new(Addressing::Clamp, true, false);
    let flat = image(ImageShape::D2, RGBA8);
    let plain = "sample_lz.RGBA (M1,8) 0x0:uw S0 T7 $dst.0 $u.0 $v.0";
    let compare = "sample_c_lz.RGBA (M1,8) 0x0:uw S0 T7 $dst.0 $ref.0 $u.0 $v.0";
    let gather = "sample4.R (M1,8) 0x0:uw S0 T7 $dst.0 $u.0 $v.0";
    let says = |got: String, want: &str| assert!(got.contains(want), "{got}");
    says(unsupported(flat, None, plain), "no such sampler");
    says(unsupported(image(ImageShape::D2, RGBA8I), Some(linear), plain), "integer texels is undefined");
    let repeat = Sampler::new(Addressing::Repeat, false, false);
    says(unsupported(flat, Some(repeat), plain), "normalised coordinates");
    says(unsupported(flat, Some(linear), compare), "no comparison");
    let less = Sampler { compare: Some(Compare::Less), linear: false, ..linear };
    says(unsupported(image(ImageShape::D2, RGBA8I), Some(less), compare), "not compared");
    says(unsupported(image(ImageShape::D3, RGBA8), Some(linear), gather), "two-dimensional");
}
