//! Images with several samples a texel: LOAD_3D_2DMS_W, LSC_TYPED_LOAD_QUAD_MSRT, LSC_TYPED_STORE_QUAD_MSRT,
//! SAMPLEINFO.

use crate::formats::{FORMATS, Format, letters, texel};
use crate::founding::{masked, text};
use crate::harness::{Bench, Case, Predicate, Rng, Texels, covers, mask_name};
use envisa::ImageShape;
use envisa::isa::Platform;
use envisa_machine::trap::Cause;

fn image(shape: ImageShape, samples: u32, f: Format) -> Texels {
    let (depth, height) = if shape == ImageShape::D2 { (1, 3) } else { (2, 2) };
    let width = if f.bytes() > 8 { 3 } else { 7 };
    Texels { shape, width, height, depth, samples, levels: 1, order: f.0, ty: f.1, texel: f.bytes() as u32 }
}

/// Where a sample is: each is a plane, those of a layer follow one another.
fn place(i: &Texels, [x, y, layer]: [u64; 3], sample: u64) -> Option<usize> {
    let layer = if i.shape == ImageShape::D2 { 0 } else { layer };
    let inside = |x: u64, n: u32| x < n.into();
    let there =
        inside(x, i.width) && inside(y, i.height) && inside(layer, i.depth) && inside(sample, i.samples);
    let plane = layer * u64::from(i.samples) + sample;
    let at = plane * u64::from(i.slice()) + y * u64::from(i.row()) + x * u64::from(i.texel);
    there.then_some(at as usize)
}

/// Coordinates and a sample of every channel, some outside.
fn places(rng: &mut Rng, n: u32, samples: u32) -> Vec<([u64; 3], u64)> {
    let one = |rng: &mut Rng| {
        let far = |rng: &mut Rng, x: u64| if rng.below(14) == 0 { 0xffff - rng.below(3) } else { x };
        let at = [8, 4, 3].map(|most| {
            let x = rng.below(most);
            far(rng, x)
        });
        let sample = rng.below(u64::from(samples) + 1);
        (at, far(rng, sample))
    };
    (0..n).map(|_| one(rng)).collect()
}

const KINDS: [(ImageShape, u32); 4] =
    [(ImageShape::D2, 2), (ImageShape::D2, 8), (ImageShape::D2Array, 4), (ImageShape::D2Array, 1)];

/// The LSC's: the fourth coordinate is the sample, beyond the last there is nothing.
#[test]
fn quads() {
    let _covers = covers("samples::quads");
    let mut rng = Rng(80);
    for platform in [Platform::Xe2, Platform::Xe3] {
        let mut b = Bench::new(platform, 81);
        for (shape, samples) in KINDS {
            for f in FORMATS {
                let image = image(shape, samples, f);
                b.image(image);
                for k in 0..24u32 {
                    let (n, store, channels) = (16, k % 2 == 0, 1 + rng.below(15) as u32);
                    let mask = rng.pick(&[0, 4, 8, 12]);
                    let mut c = masked(&mut rng);
                    let at = places(&mut rng, n, samples);
                    for (k, name) in ["u", "v", "r"].into_iter().enumerate() {
                        c.var(name, "ud", &at.iter().map(|p| p.0[k]).collect::<Vec<_>>());
                    }
                    c.var("s", "ud", &at.iter().map(|p| p.1).collect::<Vec<_>>());
                    let enabled: Vec<usize> = (0..4).filter(|c| channels >> c & 1 != 0).collect();
                    let data: Vec<u64> = (0..enabled.len() * 16).map(|_| f.value(&mut rng)).collect();
                    c.var("data", "ud", &data);
                    let active = |c: &Case, i: u32| c.active(mask, Predicate::None, n, i);
                    for i in 0..n {
                        if !active(&c, i) {
                            continue;
                        }
                        let (texel_at, sample) = at[i as usize];
                        let there = place(&image, texel_at, sample);
                        if store {
                            let mut given = [None; 4];
                            for (k, &ch) in enabled.iter().enumerate() {
                                given[ch] = Some(data[k * 16 + i as usize] as u32);
                            }
                            if let Some(to) = there {
                                f.encode(&mut b.world.texels[to..to + f.bytes()], given);
                            }
                        } else {
                            let x = there.map_or([0; 4], |from| f.decode(&texel(&b.world, from, f)));
                            for (k, &ch) in enabled.iter().enumerate() {
                                c.of("data").set((k * 16 + i as usize) * 4, 4, x[ch].into());
                            }
                        }
                    }
                    let m = mask_name(mask);
                    let xyzw: String = enabled.iter().map(|ch| "xyzw".as_bytes()[*ch] as char).collect();
                    let addr = "bti(0x4)[$u,$v,$r,$s]:a32";
                    let t = match store {
                        true => format!("lsc_store_quad_msrt.tgm ({m},{n}) {addr} $data:d32.{xyzw}"),
                        false => format!("lsc_load_quad_msrt.tgm ({m},{n}) $data:d32.{xyzw} {addr}"),
                    };
                    b.run(text(&c, t));
                }
            }
        }
    }
}

/// The sampler unit's: the sample is clamped; what is said of compression is not looked at, as there is none. Of words
/// it has four, of dwords two.
#[test]
fn loads() {
    let _covers = covers("samples::loads");
    let mut rng = Rng(82);
    for platform in [Platform::Tgllp, Platform::Dg2] {
        let mut b = Bench::new(platform, 83);
        for (shape, samples) in KINDS {
            for f in FORMATS {
                let image = image(shape, samples, f);
                b.image(image);
                for k in 0..16u32 {
                    let n = if k % 2 == 0 { 8 } else { 16 };
                    let (ty, control) = if rng.below(2) == 0 { ("ud", 2) } else { ("uw", 4) };
                    let channels = 1 + rng.below(15) as u32;
                    let mut c = masked(&mut rng);
                    let at = places(&mut rng, n, samples);
                    let mut operands = String::from("$s.0");
                    c.var("s", ty, &at.iter().map(|p| p.1).collect::<Vec<_>>());
                    for k in 0..control {
                        let bits: Vec<u64> = (0..n).map(|_| rng.next() & 0xffff).collect();
                        c.var(&format!("m{k}"), ty, &bits);
                        operands += &format!(" $m{k}.0");
                    }
                    for (k, name) in ["u", "v", "r"].into_iter().enumerate() {
                        c.var(name, ty, &at.iter().map(|p| p.0[k]).collect::<Vec<_>>());
                        operands += &format!(" ${name}.0");
                    }
                    let enabled: Vec<usize> = (0..4).filter(|c| channels >> c & 1 != 0).collect();
                    let pitch = (n as usize * 4).next_multiple_of(32);
                    c.bytes("dst", "ud", &rng.bytes((enabled.len() - 1) * pitch + n as usize * 4));
                    let active = |c: &Case, i: u32| c.active(8, Predicate::None, n, i);
                    for i in 0..n {
                        if !active(&c, i) {
                            continue;
                        }
                        let (texel_at, sample) = at[i as usize];
                        let there = place(&image, texel_at, sample.min(u64::from(samples) - 1));
                        let mut border = [0; 4];
                        if !f.2.contains(&3) {
                            border[3] = if f.int() { 1 } else { 1f32.to_bits() };
                        }
                        let x = there.map_or(border, |from| f.decode(&texel(&b.world, from, f)));
                        for (k, &ch) in enabled.iter().enumerate() {
                            c.of("dst").set(k * pitch + i as usize * 4, 4, x[ch].into());
                        }
                    }
                    let l = letters(channels);
                    b.run(text(&c, format!("load_2dms_w.{l} (M1_NM,{n}) 0x0:uw T7 $dst.0 {operands}")));
                }
            }
        }
    }
}

/// SAMPLEINFO tells how many there are; what filters refuses such images by name.
#[test]
fn how_many() {
    let _covers = covers("samples::how_many");
    let mut rng = Rng(84);
    let mut b = Bench::new(Platform::Tgllp, 85);
    b.sampler(envisa::Sampler::new(envisa::Addressing::ClampToEdge, false, false));
    for (shape, samples) in KINDS {
        b.image(image(shape, samples, FORMATS[0]));
        let mut c = Case::default();
        c.bytes("dst", "ud", &rng.bytes(32));
        (0..8).for_each(|i| c.of("dst").set(4 * i, 4, samples.into()));
        b.run(text(&c, "sampleinfo.R (M1,8) T7 $dst.0".into()));
        if samples > 1 {
            let mut c = Case::default();
            c.var("u", "f", &[0; 8]);
            c.bytes("dst", "f", &rng.bytes(32));
            let trap = b.fault(&text(&c, "sample_lz.R (M1,8) 0x0:uw S0 T7 $dst.0 $u.0 $u.0 $u.0".into()));
            let Cause::Unsupported { reason, .. } = &trap.cause else { panic!("{trap}") };
            assert!(reason.contains("multi-sampled"), "{trap}");
        }
    }
}

/// LSC_TYPED_LOAD_QUAD_STATUS: a dword a channel.
#[test]
fn statuses() {
    let _covers = covers("samples::statuses");
    let mut rng = Rng(86);
    let mut b = Bench::new(Platform::Xe3p, 87);
    for (shape, samples) in [(ImageShape::D2, 1), (ImageShape::D2Array, 1)] {
        let image = image(shape, samples, FORMATS[0]);
        b.image(image);
        for _ in 0..20 {
            let n = 16;
            let mut c = masked(&mut rng);
            let at = places(&mut rng, n, samples);
            for (k, name) in ["u", "v", "r"].into_iter().enumerate() {
                c.var(name, "ud", &at.iter().map(|p| p.0[k]).collect::<Vec<_>>());
            }
            c.bytes("dst", "ud", &rng.bytes(4 * n as usize));
            let active = |c: &Case, i: u32| c.active(0, Predicate::None, n, i);
            for i in 0..n {
                if !active(&c, i) {
                    continue;
                }
                let there = place(&image, at[i as usize].0, 0).is_some();
                c.of("dst").set(4 * i as usize, 4, there.into());
            }
            b.run(text(&c, format!("lsc_load_quad_status.tgm (M1,{n}) $dst:d32.x bti(0x4)[$u,$v,$r]:a32")));
        }
    }
}
