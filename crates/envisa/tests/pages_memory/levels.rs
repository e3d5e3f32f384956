//! Images of several levels of detail: loads and stores by level, RESINFO, samplers that choose among levels.

use crate::formats::{As, FORMATS, Format, texel};
use crate::founding::{masked, text};
use crate::harness::{Bench, Case, Predicate, Rng, Texels, World, covers};
use envisa::isa::Platform;
use envisa::{Addressing, ImageShape, Mip, Sampler};
use envisa_machine::trap::Cause;

const SHAPES: [ImageShape; 5] =
    [ImageShape::D1, ImageShape::D1Array, ImageShape::D2, ImageShape::D2Array, ImageShape::D3];

fn image(shape: ImageShape, f: Format) -> Texels {
    let (height, depth) = match shape {
        ImageShape::D1 => (1, 1),
        ImageShape::D1Array => (1, 3),
        ImageShape::D2 => (4, 1),
        _ => (2, 3),
    };
    Texels {
        shape,
        width: 7,
        height,
        depth,
        samples: 1,
        levels: 3,
        order: f.0,
        ty: f.1,
        texel: f.bytes() as u32,
    }
}

/// Width, rows and planes of a level.
fn sizes(i: &Texels, level: u64) -> [u64; 3] {
    let part = |n: u32| u64::from(n >> level).max(1);
    [part(i.width), part(i.height), if i.shape == ImageShape::D3 { part(i.depth) } else { i.depth.into() }]
}

/// Where a texel of a level is: levels follow one another, those after the first without padding.
fn place(i: &Texels, [u, v, r]: [u64; 3], level: u64) -> Option<usize> {
    let [x, y, z] = match i.shape {
        ImageShape::D1 => [u, 0, 0],
        ImageShape::D1Array => [u, 0, v],
        ImageShape::D2 => [u, v, 0],
        _ => [u, v, r],
    };
    if level >= i.levels.into() {
        return None;
    }
    let of = |level: u64| {
        let [width, height, depth] = sizes(i, level);
        let row = if level == 0 { i.row().into() } else { width * u64::from(i.texel) };
        let slice = if level == 0 { i.slice().into() } else { row * height };
        (row, slice, slice * depth)
    };
    let before: u64 = (0..level).map(|k| of(k).2).sum();
    let (row, slice, _) = of(level);
    let [width, height, depth] = sizes(i, level);
    let there = x < width && y < height && z < depth;
    there.then(|| (before + z * slice + y * row + x * u64::from(i.texel)) as usize)
}

fn coordinates(c: &mut Case, rng: &mut Rng, n: u64) -> Vec<([u64; 3], u64)> {
    let at: Vec<([u64; 3], u64)> =
        (0..n).map(|_| ([rng.below(8), rng.below(4), rng.below(4)], rng.below(4))).collect();
    for (k, name) in ["u", "v", "r"].into_iter().enumerate() {
        c.var(name, "ud", &at.iter().map(|p| p.0[k]).collect::<Vec<_>>());
    }
    c.var("lod", "ud", &at.iter().map(|p| p.1).collect::<Vec<_>>());
    at
}

/// The data port's loads and stores, the sampler unit's loads.
#[test]
fn loads_and_stores() {
    let _covers = covers("levels::loads_and_stores");
    let mut rng = Rng(90);
    let mut b = Bench::new(Platform::Tgllp, 91);
    for shape in SHAPES {
        for f in FORMATS {
            let image = image(shape, f);
            b.image(image);
            for k in 0..18 {
                let mut c = masked(&mut rng);
                let at = coordinates(&mut c, &mut rng, 8);
                let data: Vec<u64> = (0..32).map(|_| f.value(&mut rng)).collect();
                c.var("data", "ud", &data);
                let one = if f.int() { 1 } else { 1f32.to_bits() };
                // What lies outside: the data port's alpha is one, the sampler unit's where there is none.
                let (t, outside) = match k % 3 {
                    0 => ("scatter4_typed.RGBA (M1,8) T7 $u.0 $v.0 $r.0 $lod.0 $data.0", None),
                    1 => ("gather4_typed.RGBA (M1,8) T7 $u.0 $v.0 $r.0 $lod.0 $data.0", Some(one)),
                    _ => (
                        "load_3d.RGBA (M1,8) 0x0:uw T7 $data.0 $u.0 $v.0 $lod.0 $r.0",
                        Some(if f.2.contains(&3) { 0 } else { one }),
                    ),
                };
                for i in 0..8 {
                    if !c.active(0, Predicate::None, 8, i as u32) {
                        continue;
                    }
                    let there = place(&image, at[i].0, at[i].1);
                    match (outside, there) {
                        (None, Some(to)) => {
                            let given = std::array::from_fn(|ch| Some(data[8 * ch + i] as u32));
                            f.encode(&mut b.world.texels[to..to + f.bytes()], given);
                        }
                        (None, None) => {}
                        (Some(alpha), _) => {
                            let x = match there {
                                Some(from) => f.decode(&texel(&b.world, from, f)),
                                None => [0, 0, 0, alpha],
                            };
                            (0..4).for_each(|ch| c.of("data").set(32 * ch + 4 * i, 4, x[ch].into()));
                        }
                    }
                }
                b.run(text(&c, t.into()));
            }
        }
    }
}

/// RESINFO: the page's sizes, and how many levels there are.
#[test]
fn how_many() {
    let _covers = covers("levels::how_many");
    let mut rng = Rng(92);
    let mut b = Bench::new(Platform::Tgllp, 93);
    b.sampler(Sampler::new(Addressing::ClampToEdge, false, true));
    for shape in SHAPES {
        let i = image(shape, FORMATS[0]);
        b.image(i);
        let mut c = Case::default();
        let lods: Vec<u64> = (0..8).map(|_| rng.below(4)).collect();
        c.var("lod", "ud", &lods);
        c.bytes("dst", "ud", &rng.bytes(64));
        for (k, lod) in lods.iter().enumerate() {
            c.of("dst").set(4 * k, 4, u64::from(i.width >> lod));
            c.of("dst").set(32 + 4 * k, 4, 3);
        }
        b.run(text(&c, "resinfo.RA (M1,8) T7 $lod.0 $dst.0".into()));
    }
    // What only neighbouring pixels would say, and what shares a parameter.
    b.image(image(ImageShape::D2, FORMATS[0]));
    for (op, reason) in [("sample_3d", "neighbouring"), ("lod", "neighbouring"), ("sample4", "gathers")] {
        let mut c = Case::default();
        c.var("u", "f", &[0; 8]);
        c.bytes("dst", "f", &rng.bytes(128));
        let channels = if op == "sample4" { "R" } else { "RG" };
        let t = format!("{op}.{channels} (M1,8) 0x0:uw S0 T7 $dst.0 $u.0 $u.0 $u.0");
        let trap = b.fault(&text(&c, t));
        let Cause::Unsupported { reason: r, .. } = &trap.cause else { panic!("{trap}") };
        assert!(r.contains(reason), "{trap}");
    }
}

/// A texel as the page's filter makes it at `at` of a level, between the edges' texels: all weights are eighths.
fn filtered(w: &World, i: &Texels, f: Format, at: [f64; 3], level: u64, linear: bool) -> [f32; 4] {
    let size = sizes(i, level);
    let count = if i.shape == ImageShape::D3 { 3 } else { 2 };
    // Means of bytes are of whole numbers.
    let most = if linear && f.3 == 1 && matches!(f.4, As::Unorm) { 255.0 } else { 1.0 };
    let mut sum = [0f64; 4];
    for corner in 0..1u32 << count {
        let (mut texel_at, mut weight) = ([0u64; 3], 1.0);
        for k in 0..count {
            let x = at[k] * size[k] as f64;
            let second = corner >> k & 1 == 1;
            let (index, share) = match (linear, second) {
                (false, false) => (x.floor(), 1.0),
                (false, true) => (0.0, 0.0),
                (true, false) => ((x - 0.5).floor(), 1.0 - ((x - 0.5) - (x - 0.5).floor())),
                (true, true) => ((x - 0.5).floor() + 1.0, (x - 0.5) - (x - 0.5).floor()),
            };
            weight *= share;
            texel_at[k] = index.clamp(0.0, size[k] as f64 - 1.0) as u64;
        }
        let from = place(i, texel_at, level).expect("it is clamped");
        for (s, x) in sum.iter_mut().zip(f.decode(&texel(w, from, f))) {
            *s += weight * f64::from((f64::from(f32::from_bits(x)) * most) as f32);
        }
    }
    sum.map(|s| (s / most) as f32)
}

/// Levels stated by a parameter, by gradients, or the first: chosen and mixed as the sampler says.
#[test]
fn samplers() {
    let _covers = covers("levels::samplers");
    let mut rng = Rng(94);
    let mut b = Bench::new(Platform::Tgllp, 95);
    for shape in [ImageShape::D2, ImageShape::D3] {
        for f in [FORMATS[0], FORMATS[2], FORMATS[5]] {
            // Sides of powers of two: places are exact.
            let depth = if shape == ImageShape::D3 { 4 } else { 1 };
            let i = Texels { width: 8, height: 4, depth, ..image(shape, f) };
            let i = if f.bytes() > 4 && depth > 1 { Texels { width: 4, height: 4, ..i } } else { i };
            b.image(i);
            for mip in [Mip::None, Mip::Nearest, Mip::Linear] {
                for linear in [false, true] {
                    let plain = Sampler::new(Addressing::ClampToEdge, linear, true);
                    b.sampler(Sampler { mip, levels: [64, 448], ..plain });
                    for op in ["sample_l", "sample_lz", "sample_d"] {
                        let mut c = masked(&mut rng);
                        let bits = |x: f64| u64::from((x as f32).to_bits());
                        let at: Vec<[f64; 3]> =
                            (0..8).map(|_| [64.0; 3].map(|n| rng.below(64) as f64 / n)).collect();
                        for (k, name) in ["u", "v", "r"].into_iter().enumerate() {
                            c.var(name, "f", &at.iter().map(|p| bits(p[k])).collect::<Vec<_>>());
                        }
                        let lods: Vec<f64> = (0..8).map(|_| rng.below(40) as f64 / 8.0 - 1.0).collect();
                        c.var("lod", "f", &lods.iter().map(|l| bits(*l)).collect::<Vec<_>>());
                        // A step along x or along y, of texels of the first level.
                        let steps: Vec<f64> =
                            (0..8).map(|_| [0.0, 0.5, 1.0, 2.0, 4.0][rng.below(5) as usize]).collect();
                        let size = sizes(&i, 0);
                        c.var("du", "f", &steps.iter().map(|s| bits(s / size[0] as f64)).collect::<Vec<_>>());
                        c.var("no", "f", &[0; 8]);
                        c.bytes("dst", "f", &rng.bytes(128));
                        for k in 0..8 {
                            if !c.active(0, Predicate::None, 8, k as u32) {
                                continue;
                            }
                            let level = match op {
                                "sample_l" => lods[k],
                                "sample_lz" => 0.0,
                                _ => steps[k].log2(),
                            };
                            // The sampler's range is a quarter to one and three quarters.
                            let level = level.clamp(0.25, 1.75);
                            let of = |level: u64| filtered(&b.world, &i, f, at[k], level, linear);
                            let x = match mip {
                                Mip::None => of(0),
                                Mip::Nearest if level <= 0.5 => of(0),
                                Mip::Nearest if level <= 1.5 => of(1),
                                Mip::Nearest => of(2),
                                Mip::Linear => {
                                    let (below, share) = (level.floor(), level - level.floor());
                                    let (x, y) = (of(below as u64), of(below as u64 + 1));
                                    let mixed =
                                        |c: usize| f64::from(x[c]) * (1.0 - share) + f64::from(y[c]) * share;
                                    std::array::from_fn(|c| mixed(c) as f32)
                                }
                            };
                            (0..4).for_each(|ch| c.of("dst").set(32 * ch + 4 * k, 4, x[ch].to_bits().into()));
                        }
                        let operands = match op {
                            "sample_l" => "$lod.0 $u.0 $v.0 $r.0",
                            "sample_lz" => "$u.0 $v.0 $r.0",
                            // Every second time the step is along y.
                            _ if rng.below(2) == 0 => "$u.0 $du.0 $no.0 $v.0 $no.0 $no.0 $r.0 $no.0 $no.0",
                            _ => "$u.0 $no.0 $du.0 $v.0 $no.0 $no.0 $r.0 $no.0 $no.0",
                        };
                        b.run(text(&c, format!("{op}.RGBA (M1,8) 0x0:uw S0 T7 $dst.0 {operands}")));
                    }
                }
            }
        }
    }
}
