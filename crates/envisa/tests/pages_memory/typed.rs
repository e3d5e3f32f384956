//! Typed messages: GATHER4_TYPED over all its fields, SCATTER4_TYPED, TYPED_ATOMIC, the LSC's typed messages, texel
//! loads, questions about images, media blocks.

use crate::formats::{FORMATS, Format, image, letters, place, texel};
use crate::founding::{PLATFORMS, masked, predicated, scalar, text};
use crate::harness::{Bench, Case, Predicate, Rng, Texels, covers, legal, mask_name};
use envisa::ImageShape;
use envisa::isa::Platform;
use envisa_machine::trap::Cause;

const SHAPES: [ImageShape; 5] =
    [ImageShape::D1, ImageShape::D1Array, ImageShape::D2, ImageShape::D2Array, ImageShape::D3];

const R32U: Format = FORMATS[7];

const NAMES: [&str; 4] = ["u", "v", "r", "lod"];

/// Coordinates of each channel: variables of the case, or `%null` where `present` lacks them.
fn coordinates(
    c: &mut Case,
    rng: &mut Rng,
    n: u32,
    present: u32,
    ty: &'static str,
) -> (Vec<[i64; 4]>, Vec<String>) {
    let mut at = vec![[0i64; 4]; n as usize];
    let mut names = Vec::new();
    for (k, name) in NAMES.into_iter().enumerate() {
        if present >> k & 1 == 0 {
            names.push("%null.0".to_owned());
            continue;
        }
        let values: Vec<u64> = (0..n)
            .map(|_| match rng.below(14) {
                0 => u32::MAX as u64 - rng.below(2),
                1 => 1 << 31,
                _ if k == 3 => (rng.below(10) == 0) as u64,
                _ => rng.below([8, 5, 4][k.min(2)]),
            })
            .map(|x| if crate::harness::size(ty) == 2 { x & 0xffff } else { x })
            .collect();
        for (a, x) in at.iter_mut().zip(&values) {
            a[k] = match ty {
                "uw" => *x as i16 as i64,
                _ => *x as i32 as i64,
            };
        }
        c.var(name, ty, &values);
        names.push(format!("${name}.0"));
    }
    (at, names)
}

/// GATHER4_TYPED.<channels>: every set of channels, mask, form of predicate, shape; formats and null operands in
/// turn; coordinates inside and outside. Outside, alpha is one and the others zero.
#[test]
fn gather4_typed() {
    let _covers = covers("typed::gather4_typed");
    let mut rng = Rng(1);
    for platform in PLATFORMS {
        let mut benches = [Bench::new(platform, 20), Bench::new(platform, 21).unverified()];
        for (s, shape) in SHAPES.into_iter().enumerate() {
            for f in FORMATS {
                let image = image(shape, f);
                benches.iter_mut().for_each(|b| b.image(image));
                for mask in 0..16 {
                    for (k, channels) in (1..16u32).enumerate() {
                        // Every channel set with every mask; the predicate and null operands change in step.
                        if (k + mask + s) % 4 != 0 && f != FORMATS[0] {
                            continue;
                        }
                        let p = Predicate::ALL[(k + mask) % 5];
                        let b = &mut benches[!legal(mask, 8) as usize];
                        let mut c = predicated(&mut rng, p);
                        let present = 1 | (rng.below(8) as u32 * 2);
                        let (at, names) = coordinates(&mut c, &mut rng, 8, present, "ud");
                        let enabled: Vec<usize> = (0..4).filter(|c| channels >> c & 1 != 0).collect();
                        let pitch = 8.max(b.grf() / 4);
                        let dwords = (enabled.len() - 1) * pitch + 8;
                        c.bytes("dst", rng.pick(&["ud", "d", "f"]), &rng.bytes(dwords * 4));
                        // The page's loop.
                        for (ch_pos, &ch) in enabled.iter().enumerate() {
                            for i in 0..8 {
                                if c.active(mask, p, 8, i) {
                                    let x = match place(&image, at[i as usize]) {
                                        Some(from) => f.decode(&texel(&b.world, from, f)),
                                        None => [0, 0, 0, f.one()],
                                    };
                                    c.of("dst").set((ch_pos * pitch + i as usize) * 4, 4, x[ch] as u64);
                                }
                            }
                        }
                        let t = format!(
                            "{}gather4_typed.{} ({},8) T7 {} $dst.0",
                            p.text(),
                            letters(channels),
                            mask_name(mask),
                            names.join(" ")
                        );
                        b.run(text(&c, t));
                    }
                }
            }
        }
    }
}

/// Of an unbound surface everything is zero; a buffer is refused.
#[test]
fn gather4_typed_without_an_image() {
    let _covers = covers("typed::gather4_typed_without_an_image");
    let mut rng = Rng(2);
    let mut b = Bench::new(Platform::Tgllp, 22);
    let mut c = Case::default();
    coordinates(&mut c, &mut rng, 8, 15, "ud");
    c.bytes("dst", "ud", &rng.bytes(128));
    c.of("dst").after.fill(0);
    b.run(text(&c, "gather4_typed.RGBA (M1,8) T8 $u.0 $v.0 $r.0 $lod.0 $dst.0".into()));
    let trap = b.fault(&text(&c, "gather4_typed.RGBA (M1,8) T6 $u.0 $v.0 $r.0 $lod.0 $dst.0".into()));
    assert!(matches!(trap.cause, Cause::Unsupported { reason, .. } if reason.contains("buffer")));
}

/// SCATTER4_TYPED, and the LSC's load_quad and store_quad: conversions, channel masks, what lies outside.
#[test]
fn scatter4_typed() {
    let _covers = covers("typed::scatter4_typed");
    let mut rng = Rng(3);
    for platform in PLATFORMS {
        let mut b = Bench::new(platform, 23);
        for shape in SHAPES {
            for f in FORMATS {
                let image = image(shape, f);
                b.image(image);
                for channels in 1..16u32 {
                    for mask in [0, 2, 6, 8, 14] {
                        let p = rng.pick(&Predicate::ALL);
                        let mut c = masked(&mut rng);
                        if p != Predicate::None {
                            c.pred(rng.next() as u32);
                        }
                        let present = 1 | (rng.below(8) as u32 * 2);
                        let (at, names) = coordinates(&mut c, &mut rng, 8, present, "ud");
                        let enabled: Vec<usize> = (0..4).filter(|c| channels >> c & 1 != 0).collect();
                        let pitch = 8.max(b.grf() / 4);
                        let data: Vec<u64> =
                            (0..(enabled.len() - 1) * pitch + 8).map(|_| f.value(&mut rng)).collect();
                        c.var("src", rng.pick(&["ud", "d", "f"]), &data);
                        for i in 0..8u32 {
                            if let Some(to) = place(&image, at[i as usize])
                                && c.active(mask, p, 8, i)
                            {
                                let mut given = [None; 4];
                                for (k, &ch) in enabled.iter().enumerate() {
                                    given[ch] = Some(data[k * pitch + i as usize] as u32);
                                }
                                f.encode(&mut b.world.texels[to..to + f.bytes()], given);
                            }
                        }
                        let t = format!(
                            "{}scatter4_typed.{} ({},8) T7 {} $src.0",
                            p.text(),
                            letters(channels),
                            mask_name(mask),
                            names.join(" ")
                        );
                        b.run(text(&c, t));
                    }
                }
            }
        }
    }
}

/// The LSC's typed quads: zero outside.
#[test]
fn lsc_quads() {
    let _covers = covers("typed::lsc_quads");
    let mut rng = Rng(4);
    let platform = Platform::Pvc;
    let mut b = Bench::new(platform, 24);
    for shape in SHAPES {
        for f in FORMATS {
            let image = image(shape, f);
            b.image(image);
            for channels in 1..16u32 {
                for (store, n) in [(false, 8u32), (false, 16), (true, 8), (true, 16)] {
                    let mask = rng.pick(if n == 8 { &[0, 2, 4, 6, 8, 12] } else { &[0, 4, 8, 12] });
                    let mut c = masked(&mut rng);
                    let dims = 1 + rng.below(4) as usize;
                    let (at, mut names) = coordinates(&mut c, &mut rng, n, (1 << dims) - 1, "ud");
                    names.truncate(dims);
                    let enabled: Vec<usize> = (0..4).filter(|c| channels >> c & 1 != 0).collect();
                    let pitch = (n as usize).next_multiple_of(16);
                    let data: Vec<u64> =
                        (0..(enabled.len() - 1) * pitch + n as usize).map(|_| f.value(&mut rng)).collect();
                    c.var("data", "ud", &data);
                    for i in 0..n {
                        if !c.active(mask, Predicate::None, n, i) {
                            continue;
                        }
                        let there = place(&image, at[i as usize]);
                        if store {
                            let mut given = [None; 4];
                            for (k, &ch) in enabled.iter().enumerate() {
                                given[ch] = Some(data[k * pitch + i as usize] as u32);
                            }
                            if let Some(to) = there {
                                f.encode(&mut b.world.texels[to..to + f.bytes()], given);
                            }
                        } else {
                            let x = there.map_or([0; 4], |from| f.decode(&texel(&b.world, from, f)));
                            for (k, &ch) in enabled.iter().enumerate() {
                                c.of("data").set((k * pitch + i as usize) * 4, 4, x[ch] as u64);
                            }
                        }
                    }
                    let m = mask_name(mask);
                    let addr = format!("bti(0x4)[{}]:a32", names.join(",").replace(".0", ""));
                    let xyzw: String = letters(channels)
                        .chars()
                        .map(|l| match l {
                            'R' => 'x',
                            'G' => 'y',
                            'B' => 'z',
                            _ => 'w',
                        })
                        .collect();
                    let t = match store {
                        true => format!("lsc_store_quad.tgm ({m},{n}) {addr} $data:d32.{xyzw}"),
                        false => format!("lsc_load_quad.tgm ({m},{n}) $data:d32.{xyzw} {addr}"),
                    };
                    b.run(text(&c, t));
                }
            }
        }
    }
}

/// Texel loads through the sampler unit: `load_3d` (u v lod r), `load_lz` (u v r), `load_l`; immediate offsets,
/// trailing parameters left out, 16- and 32-bit parameters and results.
#[test]
fn loads() {
    let _covers = covers("typed::loads");
    let mut rng = Rng(5);
    let mut b = Bench::new(Platform::Tgllp, 25);
    for shape in SHAPES {
        for f in FORMATS {
            let image = image(shape, f);
            b.image(image);
            for (op, order) in
                [("load_3d", [0usize, 1, 3, 2]), ("load_lz", [0, 1, 2, 4]), ("load_l", [0, 1, 3, 2])]
            {
                for n in [8u32, 16] {
                    for channels in [1u32, 2, 4, 8, 3, 5, 10, 7, 14, 15] {
                        let params = order.iter().filter(|k| **k < 4).count();
                        let used = 1 + rng.below(params as u64) as usize;
                        let present = order[..used].iter().fold(0, |m, k| m | 1 << k);
                        let mut c = masked(&mut rng);
                        let ty = rng.pick(&["ud", "uw"]);
                        let (at, names) = coordinates(&mut c, &mut rng, n, present, ty);
                        let dst = match (f.int(), rng.below(2)) {
                            (_, 0) => rng.pick(&["ud", "f"]),
                            (true, _) => "uw",
                            (false, _) => "hf",
                        };
                        let size = crate::harness::size(dst);
                        let enabled: Vec<usize> = (0..4).filter(|c| channels >> c & 1 != 0).collect();
                        let pitch = (n as usize * size).next_multiple_of(32);
                        let null_mask = rng.below(4) == 0;
                        let bytes = (enabled.len() - 1) * pitch + n as usize * size;
                        let bytes = if null_mask { enabled.len() * pitch + 4 } else { bytes };
                        c.bytes("dst", dst, &rng.bytes(bytes));
                        let add =
                            [0, 1, 2].map(|_| if rng.below(2) == 0 { 0 } else { rng.below(16) as i64 - 8 });
                        let word = (add[0] & 15) << 8 | (add[1] & 15) << 4 | add[2] & 15;
                        let mask = rng.pick(if n == 8 { &[0, 2, 6, 8] } else { &[0, 4, 8, 12] });
                        let mut any = false;
                        for i in 0..n {
                            if !c.active(mask, Predicate::None, n, i) {
                                continue;
                            }
                            any = true;
                            let mut at = at[i as usize];
                            for (a, x) in at.iter_mut().zip(add) {
                                *a += x;
                            }
                            // Outside, what the format stores is zero.
                            let x = match place(&image, at) {
                                Some(from) => f.decode(&texel(&b.world, from, f)),
                                None => f.decode(&vec![0; f.bytes()]),
                            };
                            for (k, &ch) in enabled.iter().enumerate() {
                                let x = match dst {
                                    "hf" => half::f16::from_f32(f32::from_bits(x[ch])).to_bits() as u64,
                                    _ => x[ch] as u64,
                                };
                                c.of("dst").set(k * pitch + i as usize * size, size, x);
                            }
                        }
                        if null_mask && any {
                            c.of("dst").set(enabled.len() * pitch, 4, u32::MAX as u64 >> (32 - n));
                        }
                        let params: Vec<&str> = order[..used].iter().map(|k| names[*k].as_str()).collect();
                        let t = format!(
                            "{op}{}.{} ({},{n}) 0x{word:x}:uw T7 $dst.0 {}",
                            if null_mask { ".pixel_null_mask" } else { "" },
                            letters(channels),
                            mask_name(mask),
                            params.join(" ")
                        );
                        b.run(text(&c, t));
                    }
                }
            }
        }
    }
}

/// The new value, from the old one and two operands.
type Operator = fn(u32, u32, u32) -> u32;

/// TYPED_ATOMIC on 32-bit texels: integer operators, with and without a destination.
#[test]
fn typed_atomic() {
    let _covers = covers("typed::typed_atomic");
    let mut rng = Rng(6);
    let ops: [(&str, usize, Operator); 14] = [
        ("add", 1, |o, a, _| o.wrapping_add(a)),
        ("sub", 1, |o, a, _| o.wrapping_sub(a)),
        ("inc", 0, |o, _, _| o.wrapping_add(1)),
        ("dec", 0, |o, _, _| o.wrapping_sub(1)),
        ("min", 1, |o, a, _| o.min(a)),
        ("max", 1, |o, a, _| o.max(a)),
        ("xchg", 1, |_, a, _| a),
        ("cmpxchg", 2, |o, a, b| if o == b { a } else { o }),
        ("and", 1, |o, a, _| o & a),
        ("or", 1, |o, a, _| o | a),
        ("xor", 1, |o, a, _| o ^ a),
        ("minsint", 1, |o, a, _| (o as i32).min(a as i32) as u32),
        ("maxsint", 1, |o, a, _| (o as i32).max(a as i32) as u32),
        ("predec", 0, |o, _, _| o.wrapping_sub(1)),
    ];
    let mut b = Bench::new(Platform::Tgllp, 26);
    for shape in SHAPES {
        let image = image(shape, R32U);
        b.image(image);
        for (op, operands, f) in ops {
            for mask in [0, 2, 4, 6, 8, 10, 12, 14] {
                let mut c = masked(&mut rng);
                let (at, names) = coordinates(&mut c, &mut rng, 8, 15, "ud");
                let mut src = [(); 2].map(|_| (0..8).map(|_| rng.next() as u32 as u64).collect::<Vec<_>>());
                for (i, x) in src[1].iter_mut().enumerate() {
                    // Some compare equal to what is there.
                    if let Some(p) = place(&image, at[i])
                        && rng.below(2) == 0
                    {
                        *x = u32::from_le_bytes(b.world.texels[p..p + 4].try_into().unwrap()) as u64;
                    }
                }
                let keep = rng.below(4) != 0;
                c.var("a", "ud", &src[0]);
                c.var("b", "ud", &src[1]);
                c.bytes("dst", "ud", &rng.bytes(32));
                for i in 0..8usize {
                    if !c.active(mask, Predicate::None, 8, i as u32) {
                        continue;
                    }
                    let mut result = 0;
                    if let Some(p) = place(&image, at[i]) {
                        let cell = &mut b.world.texels[p..p + 4];
                        let old = u32::from_le_bytes(cell.try_into().unwrap());
                        let new = f(old, src[0][i] as u32, src[1][i] as u32);
                        cell.copy_from_slice(&new.to_le_bytes());
                        result = if op == "predec" { new } else { old };
                    }
                    if keep {
                        c.of("dst").set(4 * i, 4, result as u64);
                    }
                }
                let null = "%null.0";
                let t = format!(
                    "typed_atomic.{op} ({},8) T7 {} {} {} {}",
                    mask_name(mask),
                    names.join(" "),
                    if operands > 0 { "$a.0" } else { null },
                    if operands > 1 { "$b.0" } else { null },
                    if keep { "$dst.0" } else { null }
                );
                b.run(text(&c, t));
            }
        }
    }
}

/// The handle of the state of surface `T7`.
const STATE: u64 = 5 << 6;

/// RESINFO and SAMPLEINFO, from page INFO.
#[test]
fn info() {
    let _covers = covers("typed::info");
    infos(&mut Bench::new(Platform::Tgllp, 27), "T7", [8, 16]);
    infos(&mut Bench::new(Platform::Xe3p, 27), "$state", [16, 32]);
}

fn infos(b: &mut Bench, surface: &str, sizes: [u32; 2]) {
    let mut rng = Rng(7);
    for shape in SHAPES {
        let i = image(shape, FORMATS[0]);
        b.image(i);
        for n in sizes {
            for channels in [1u32, 3, 8, 15] {
                for samples in [false, true] {
                    let mut c = Case::default();
                    let lods: Vec<u64> = (0..n).map(|_| rng.below(5)).collect();
                    c.var("lod", "ud", &lods);
                    let enabled: Vec<usize> = (0..4).filter(|c| channels >> c & 1 != 0).collect();
                    let pitch = (n as usize).next_multiple_of(b.grf() / 4);
                    c.bytes("dst", "ud", &rng.bytes(((enabled.len() - 1) * pitch + n as usize) * 4));
                    c.var("state", "uq", &[STATE]);
                    for k in 0..n as usize {
                        let l = lods[k];
                        let (w, h, d) = (i.width >> l, i.height >> l, i.depth);
                        let answer = match shape {
                            _ if samples => [1, 0, 0, 0],
                            ImageShape::D1 | ImageShape::Buffer => [w, 0, 0, 1],
                            ImageShape::D1Array => [w, d, 0, 1],
                            ImageShape::D2 => [w, h, 0, 1],
                            ImageShape::D2Array => [w, h, d, 1],
                            ImageShape::D3 => [w, h, d >> l, 1],
                            ImageShape::Cube => [w, h, d / 6, 1],
                        };
                        for (e, &ch) in enabled.iter().enumerate() {
                            c.of("dst").set((e * pitch + k) * 4, 4, answer[ch] as u64);
                        }
                    }
                    let m = if n == 16 { "M5" } else { "M1" };
                    let l = letters(channels);
                    let t = match samples {
                        true => format!("sampleinfo.{l} ({m},{n}) {surface} $dst.0"),
                        false => format!("resinfo.{l} ({m},{n}) {surface} $lod.0 $dst.0"),
                    };
                    b.run(text(&c, t));
                }
            }
        }
    }
}

/// MEDIA_LD and MEDIA_ST: every width with every height it allows around the image's edges; fields.
#[test]
fn media() {
    let _covers = covers("typed::media");
    let mut rng = Rng(8);
    let mut b = Bench::new(Platform::Tgllp, 28);
    for f in [FORMATS[0], FORMATS[2], R32U] {
        let i = Texels { width: 12, height: 6, ..image(ImageShape::D2, f) };
        b.image(i);
        let line = (i.width * i.texel) as i64;
        for width in 1..=64u32 {
            let pitch = width.next_power_of_two().max(4);
            for (write, (modifier, first, step)) in [false, true]
                .into_iter()
                .flat_map(|w| [("nomod", 0i64, 1i64), ("top", 0, 2), ("bottom", 1, 2)].map(|m| (w, m)))
            {
                let height = 1 + rng.below(256 / pitch as u64).min(63) as u32;
                let rows = (i.height as i64 - first + step - 1) / step;
                let mut x = rng.below(line as u64 + 32) as i64 - 16;
                if write {
                    x = x / 4 * 4;
                }
                let y = rng.below(10) as i64 - 4;
                let mut c = Case::default();
                let xs = scalar(&mut c, &mut rng, "ud", x as u32 as u64);
                c.var("y", "ud", &[y as u32 as u64]);
                c.bytes("data", "ud", &rng.bytes(((height - 1) * pitch + width) as usize));
                for row in 0..height as i64 {
                    for k in 0..width as i64 {
                        let reg = (row * pitch as i64 + k) as usize;
                        let (r, byte) = (y + row, x + k);
                        let inside = (0..rows).contains(&r) && (0..line).contains(&byte);
                        let clamped = r.clamp(0, rows - 1) * step + first;
                        let at = |byte: i64| (clamped * i.row() as i64 + byte) as usize;
                        if write {
                            if inside {
                                b.world.texels[at(byte)] = c.of("data").get(reg, 1) as u8;
                            }
                            continue;
                        }
                        // The same byte of the nearest texel.
                        let t = i.texel as i64;
                        let near = byte.div_euclid(t).clamp(0, i.width as i64 - 1) * t + byte.rem_euclid(t);
                        let v = b.world.texels[at(near)];
                        c.of("data").set(reg, 1, v as u64);
                    }
                }
                let op = if write { "media_st" } else { "media_ld" };
                let t = format!("{op}.{modifier} ({width},{height}) T7 0 {xs} $y(0,0)<0;1,0> $data.0");
                b.run(text(&c, t));
            }
        }
    }
}

/// The LSC's typed atomics, on texels of 32 bits.
#[test]
fn lsc_typed_atomics() {
    let _covers = covers("typed::lsc_typed_atomics");
    let mut rng = Rng(9);
    let ops: [(&str, usize, Operator); 19] = [
        ("iinc", 0, |o, _, _| o.wrapping_add(1)),
        ("idec", 0, |o, _, _| o.wrapping_sub(1)),
        ("load", 0, |o, _, _| o),
        ("store", 1, |_, a, _| a),
        ("iadd", 1, |o, a, _| o.wrapping_add(a)),
        ("isub", 1, |o, a, _| o.wrapping_sub(a)),
        ("smin", 1, |o, a, _| (o as i32).min(a as i32) as u32),
        ("smax", 1, |o, a, _| (o as i32).max(a as i32) as u32),
        ("umin", 1, |o, a, _| o.min(a)),
        ("umax", 1, |o, a, _| o.max(a)),
        ("icas", 2, |o, c, n| if o == c { n } else { o }),
        ("fadd", 1, |o, a, _| (f32::from_bits(o) + f32::from_bits(a)).to_bits()),
        ("fsub", 1, |o, a, _| (f32::from_bits(o) - f32::from_bits(a)).to_bits()),
        ("fmin", 1, |o, a, _| f32::from_bits(o).min(f32::from_bits(a)).to_bits()),
        ("fmax", 1, |o, a, _| f32::from_bits(o).max(f32::from_bits(a)).to_bits()),
        ("fcas", 2, |o, c, n| if f32::from_bits(o) == f32::from_bits(c) { n } else { o }),
        ("and", 1, |o, a, _| o & a),
        ("or", 1, |o, a, _| o | a),
        ("xor", 1, |o, a, _| o ^ a),
    ];
    let mut b = Bench::new(Platform::Pvc, 29);
    for shape in SHAPES {
        let image = image(shape, R32U);
        b.image(image);
        for (op, operands, f) in ops {
            for (n, mask) in [(8u32, 0), (8, 4), (16, 0), (16, 12)] {
                let float = op.starts_with('f');
                let datum = |rng: &mut Rng| match float {
                    true => (rng.below(64) as f32 / 8.0 - 4.0).to_bits() as u64,
                    false => rng.next() as u32 as u64,
                };
                // Texels are given before, by a store.
                let mut seed = Case::default();
                let (at, names) = coordinates(&mut seed, &mut rng, 8, 7, "ud");
                let values: Vec<u64> = (0..8).map(|_| datum(&mut rng)).collect();
                seed.var("src", "ud", &values);
                for (at, x) in at.iter().zip(&values) {
                    if let Some(p) = place(&image, *at) {
                        b.world.texels[p..p + 4].copy_from_slice(&x.to_le_bytes()[..4]);
                    }
                }
                b.run(text(&seed, format!("scatter4_typed.R (M1_NM,8) T7 {} $src.0", names.join(" "))));
                let mut c = masked(&mut rng);
                // Where they were stored, and elsewhere.
                let again: Vec<[i64; 4]> = (0..n as usize)
                    .map(|i| match rng.below(4) {
                        0 => [rng.below(9) as i64, rng.below(5) as i64, rng.below(4) as i64, 0],
                        _ => at[i % 8],
                    })
                    .collect();
                for (k, name) in ["u", "v", "r"].into_iter().enumerate() {
                    c.var(name, "ud", &again.iter().map(|a| a[k] as u32 as u64).collect::<Vec<_>>());
                }
                let mut src = [(); 2].map(|_| (0..n).map(|_| datum(&mut rng)).collect::<Vec<_>>());
                for (x, at) in src[0].iter_mut().zip(&again) {
                    if let (Some(p), 2, 0) = (place(&image, *at), operands, rng.below(2)) {
                        *x = u32::from_le_bytes(b.world.texels[p..p + 4].try_into().unwrap()) as u64;
                    }
                }
                c.var("a", "ud", &src[0]);
                c.var("b", "ud", &src[1]);
                c.bytes("dst", "ud", &rng.bytes(4 * n as usize));
                let floats_only =
                    |x: u32| !float || f32::from_bits(x).abs() < 1e6 && f32::from_bits(x).abs() > 1e-6;
                let mut skip = false;
                let before = b.world.clone();
                for i in 0..n as usize {
                    if !c.active(mask, Predicate::None, n, i as u32) {
                        continue;
                    }
                    let mut old = 0;
                    if let Some(p) = place(&image, again[i]) {
                        let cell = &mut b.world.texels[p..p + 4];
                        old = u32::from_le_bytes(cell.try_into().unwrap());
                        // Sums of other magnitudes, NaNs and zeros are the operators' own tests.
                        let new = f(old, src[0][i] as u32, src[1][i] as u32);
                        skip |= !floats_only(old) || !floats_only(new) || !floats_only(src[0][i] as u32);
                        cell.copy_from_slice(&new.to_le_bytes());
                    }
                    c.of("dst").set(4 * i, 4, old as u64);
                }
                if skip {
                    b.world = before;
                    continue;
                }
                let s = |k: usize, name: &str| if operands > k { name.to_owned() } else { "%null".into() };
                let t = format!(
                    "lsc_atomic_{op}.tgm ({},{n}) $dst:d32 bti(0x4)[$u,$v,$r]:a32 {} {}",
                    mask_name(mask),
                    s(0, "$a"),
                    s(1, "$b")
                );
                b.run(text(&c, t));
            }
        }
    }
}

/// Typed 2D blocks: zero outside, rows at the next power of two of their bytes.
#[test]
fn lsc_typed_blocks() {
    let _covers = covers("typed::lsc_typed_blocks");
    typed_blocks(&mut Bench::new(Platform::Xe2, 30), "bti(0x4)");
    typed_blocks(&mut Bench::new(Platform::Xe3p, 30), "surf($state(0,0))");
}

fn typed_blocks(b: &mut Bench, surface: &str) {
    let mut rng = Rng(10);
    for f in [FORMATS[0], FORMATS[2], R32U] {
        let i = Texels { width: 12, height: 6, ..image(ImageShape::D2, f) };
        b.image(i);
        let line = (i.width * i.texel) as i64;
        for width in 1..=64u32 {
            let pitch = width.next_power_of_two().max(4);
            for write in [false, true] {
                let height = 1 + rng.below(256 / pitch as u64).min(63) as u32;
                let (x, y) = (rng.below(line as u64 + 32) as i64 - 16, rng.below(10) as i64 - 4);
                let mut c = Case::default();
                c.var("x", "d", &[x as u32 as u64, y as u32 as u64]);
                c.bytes("data", "ud", &rng.bytes(((height - 1) * pitch + width) as usize));
                for row in 0..height as i64 {
                    for k in 0..width as i64 {
                        let reg = (row * pitch as i64 + k) as usize;
                        let (r, byte) = (y + row, x + k);
                        let inside = (0..i.height as i64).contains(&r) && (0..line).contains(&byte);
                        let at = (r * i.row() as i64 + byte) as usize;
                        if write && inside {
                            b.world.texels[at] = c.of("data").get(reg, 1) as u8;
                        } else if !write {
                            let v = if inside { b.world.texels[at] } else { 0 };
                            c.of("data").set(reg, 1, v as u64);
                        }
                    }
                }
                c.var("state", "uq", &[STATE]);
                let at = format!("{surface}[$x(0,0),$x(0,1)]");
                let t = match write {
                    true => format!("lsc_store_block2d.tgm {at} $data:{width}x{height}"),
                    false => format!("lsc_load_block2d.tgm $data:{width}x{height} {at}"),
                };
                b.run(text(&c, t));
            }
        }
    }
}

/// The status of texels: a bit for each active channel whose texel is in the image. A store without compression
/// is a store of as many channels as it has elements.
#[test]
fn lsc_typed_status_and_uncompressed() {
    let _covers = covers("typed::lsc_typed_status_and_uncompressed");
    status_and_uncompressed(&mut Bench::new(Platform::Pvc, 31), "bti(0x4)");
    status_and_uncompressed(&mut Bench::new(Platform::Xe3p, 31), "surf($state)");
}

fn status_and_uncompressed(b: &mut Bench, surface: &str) {
    let mut rng = Rng(11);
    for shape in SHAPES {
        for f in [FORMATS[0], FORMATS[10], R32U] {
            let image = image(shape, f);
            b.image(image);
            for (n, mask) in [(8u32, 0), (8, 6), (16, 0), (16, 4), (16, 8)] {
                for count in 1..=4usize {
                    let mut c = masked(&mut rng);
                    let (at, mut names) = coordinates(&mut c, &mut rng, n, 7, "ud");
                    names.truncate(3);
                    c.var("state", "uq", &[STATE]);
                    let addr = format!("{surface}[{}]:a32", names.join(",").replace(".0", ""));
                    let m = mask_name(mask);
                    let mut status = c.clone();
                    status.bytes("dst", "ud", &rng.bytes(4));
                    let on = |c: &Case, i: &u32| c.active(mask, Predicate::None, n, *i);
                    if (0..n).any(|i| on(&status, &i)) {
                        let there =
                            (0..n).filter(|i| on(&status, i) && place(&image, at[*i as usize]).is_some());
                        let bits = there.fold(0u64, |m, i| m | 1 << i);
                        status.of("dst").set(0, 4, bits);
                    } else {
                        status.of("dst").undefined(0, 4);
                    }
                    b.run(text(&status, format!("lsc_load_status.tgm ({m},{n}) $dst:d32 {addr}")));
                    let pitch = (n as usize).next_multiple_of(16);
                    let data: Vec<u64> =
                        (0..(count - 1) * pitch + n as usize).map(|_| f.value(&mut rng)).collect();
                    c.var("src", "ud", &data);
                    for i in (0..n).filter(|i| on(&c, i)) {
                        let mut given = [None; 4];
                        for (k, given) in given.iter_mut().enumerate().take(count) {
                            *given = Some(data[k * pitch + i as usize] as u32);
                        }
                        if let Some(to) = place(&image, at[i as usize]) {
                            f.encode(&mut b.world.texels[to..to + f.bytes()], given);
                        }
                    }
                    let x = if count == 1 { String::new() } else { format!("x{count}") };
                    b.run(text(&c, format!("lsc_store_uncompressed.tgm ({m},{n}) {addr} $src:d32{x}")));
                }
            }
        }
    }
}
