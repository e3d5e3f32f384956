//! Messages of shaders: RT_WRITE, URB_WRITE, and the append counters of surfaces.

use crate::formats::{FORMATS, image};
use crate::founding::{some_em, text};
use crate::harness::{A_BYTES, Bench, COUNTER, Case, Predicate, Rng, Texels, URB_UNIT, covers, mask_name};
use envisa::ImageShape;
use envisa::isa::Platform;
use envisa_machine::messages::AccessSpace;
use envisa_machine::trap::Cause;

const OLD: [Platform; 3] = [Platform::Tgllp, Platform::XehpSdv, Platform::Dg2];

/// A case with an execution mask and a predicate, or without.
fn case(rng: &mut Rng) -> (Case, Predicate) {
    let (mut c, p) = (Case::default(), rng.pick(&Predicate::ALL));
    if let Some(em) = some_em(rng) {
        c.em(em);
    }
    if p != Predicate::None {
        c.pred(rng.next() as u32);
    }
    (c, p)
}

/// The letters of a render target write's mode, and the operands they stand for.
#[derive(Clone, Copy)]
struct Mode {
    /// The index of the target, which says nothing of where pixels go.
    index: bool,
    source0_alpha: bool,
    mask: bool,
    /// Nothing is written.
    null: bool,
}

impl Mode {
    fn text(self) -> String {
        let all =
            [(self.source0_alpha, "<A>"), (self.mask, "<O>"), (self.index, "<RTI>"), (self.null, "<NULLRT>")];
        let on: String = all.into_iter().filter(|m| m.0).map(|m| m.1).collect();
        if on.is_empty() { on } else { format!(".{on}") }
    }
}

/// RT_WRITE: pixels of squares whose places the header holds, at edges and outside; halves and singles, masks, colours
/// that are left out.
#[test]
fn render_targets() {
    let _covers = covers("graphics::render_targets");
    let mut rng = Rng(70);
    for platform in OLD {
        let mut b = Bench::new(platform, 71);
        for f in FORMATS {
            for k in 0..48 {
                let (shape, samples) =
                    [(ImageShape::D2, 1), (ImageShape::D2, 4), (ImageShape::D1, 1)][k / 16];
                let width = if samples > 1 && f.bytes() > 8 { 3 } else { 7 };
                let image = Texels { samples, width, ..image(shape, f) };
                b.image(image);
                let n = if k % 2 == 0 { 8 } else { 16 };
                let em = rng.pick(if n == 8 { &[0, 2, 4, 6, 8, 10] } else { &[0, 4, 8, 12] });
                let (mut c, p) = case(&mut rng);
                let half = !f.int() && rng.below(3) == 0;
                let (ty, bytes) = if half { ("hf", 2) } else { ("f", 4) };
                let mode = Mode {
                    index: rng.below(4) == 0,
                    source0_alpha: rng.below(4) == 0,
                    mask: rng.below(3) == 0,
                    null: rng.below(12) == 0,
                };
                let mut header: Vec<u64> = (0..8).map(|_| rng.next() & 0xffff_ffff).collect();
                for square in &mut header[2..6] {
                    let far = [0, 0, 0, 0xffff][rng.below(4) as usize];
                    *square = (rng.below(8) & !1 | far) | rng.below(6) << 16;
                }
                c.var("h", "ud", &header);
                let mut operands = String::new();
                if mode.index {
                    operands += " 0x3:ub";
                }
                if mode.source0_alpha {
                    c.bytes("s0a", ty, &rng.bytes(n * bytes));
                    operands += " $s0a.0";
                }
                let covered: Vec<u64> = (0..n).map(|_| rng.next() & 0xffff).collect();
                if mode.mask {
                    c.var("om", "uw", &covered);
                    operands += " $om.0";
                }
                let mut values = vec![[None; 4]; n];
                for (ch, name) in ["red", "green", "blue", "alpha"].into_iter().enumerate() {
                    if rng.below(8) == 0 {
                        operands += " %null.0";
                        continue;
                    }
                    let given: Vec<u64> = (0..n)
                        .map(|_| {
                            let x = f.value(&mut rng);
                            match half {
                                true => half::f16::from_f32(f32::from_bits(x as u32)).to_bits().into(),
                                false => x,
                            }
                        })
                        .collect();
                    for (v, x) in values.iter_mut().zip(&given) {
                        v[ch] = Some(match half {
                            true => half::f16::from_bits(*x as u16).to_f32().to_bits(),
                            false => *x as u32,
                        });
                    }
                    c.var(name, ty, &given);
                    operands += &format!(" ${name}.0");
                }
                for i in 0..n {
                    let square = header[2 + i / 4];
                    let (x, y) = ((square & 0xffff) + i as u64 % 2, (square >> 16) + i as u64 / 2 % 2);
                    let inside = x < image.width.into() && y < image.height.into();
                    if !inside || mode.null || !c.active(em, p, n as u32, i as u32) {
                        continue;
                    }
                    // A plane a sample.
                    for sample in 0..samples as usize {
                        if mode.mask && covered[i] >> sample & 1 == 0 {
                            continue;
                        }
                        let (row, slice) = (image.row() as usize, image.slice() as usize);
                        let at = sample * slice + y as usize * row + x as usize * f.bytes();
                        f.encode(&mut b.world.texels[at..at + f.bytes()], values[i]);
                    }
                }
                let t = format!(
                    "{}rt_write_3d{} ({},{n}) T7 $h.0{operands}",
                    p.text(),
                    mode.text(),
                    mask_name(em)
                );
                b.run(text(&c, t));
            }
        }
    }
}

/// What nothing defines, or what there is no buffer for, is refused by its name.
#[test]
fn render_targets_refused() {
    let _covers = covers("graphics::render_targets_refused");
    let mut b = Bench::new(Platform::Skl, 72).unverified();
    b.image(image(ImageShape::D2, FORMATS[0]));
    for (mode, header, last, reason) in [
        ("", "%null.0", "", "no header"),
        (".<Z>", "$h.0", " $f.0", "depth"),
        (".<ST>", "$h.0", " $f.0", "stencil"),
        (".<PS>", "$h.0", "", "sample by sample"),
        (".<CM>", "$h.0", "", "coarse"),
    ] {
        let mut c = Case::default();
        c.var("h", "ud", &[0; 8]);
        c.var("f", "f", &[0; 8]);
        let t = format!("rt_write_3d{mode} (M1,8) T7 {header} $f.0 $f.0 $f.0 $f.0{last}");
        let trap = b.fault(&text(&c, t));
        assert!(matches!(&trap.cause, Cause::Unsupported { reason: r, .. } if r.contains(reason)), "{trap}");
    }
}

/// URB_WRITE: handles, both offsets and masks, every number of registers.
#[test]
fn return_buffer() {
    let _covers = covers("graphics::return_buffer");
    let mut rng = Rng(73);
    for platform in OLD {
        let mut b = Bench::new(platform, 74);
        for k in 0..240 {
            let rows = k % 8 + 1;
            let em = rng.pick(&[0, 2, 4, 6, 8, 10]);
            let (mut c, p) = case(&mut rng);
            let offset = rng.below(8);
            let handles: Vec<u64> = (0..8).map(|_| rng.below(40)).collect();
            let own: Vec<u64> = (0..8).map(|_| rng.below(8)).collect();
            let masks: Vec<u64> = (0..8).map(|_| rng.next() & 0xff).collect();
            let data: Vec<u64> = (0..8 * rows).map(|_| rng.next() & 0xffff_ffff).collect();
            c.var("handles", "ud", &handles);
            c.var("data", rng.pick(&["ud", "d", "f"]), &data);
            let (mut masked, mut moved) = ("%null.0", "%null.0");
            if rng.below(2) == 0 {
                c.var("masks", "ud", &masks);
                masked = "$masks.0";
            }
            if rng.below(2) == 0 {
                c.var("own", "ud", &own);
                moved = "$own.0";
            }
            for i in (0..8).filter(|i| c.active(em, p, 8, *i as u32)) {
                let more = if moved == "%null.0" { 0 } else { own[i] };
                let at = handles[i] * u64::from(URB_UNIT) + 16 * (offset + more);
                for k in (0..rows).filter(|k| masked == "%null.0" || masks[i] >> k & 1 != 0) {
                    let at = at as usize + 4 * k;
                    b.world.a[at..at + 4].copy_from_slice(&(data[8 * k + i] as u32).to_le_bytes());
                }
            }
            let t = format!(
                "{}urb_write_3d ({},8) {rows} {offset} {masked} $handles.0 {moved} $data.0",
                p.text(),
                mask_name(em)
            );
            b.run(text(&c, t));
        }
    }
}

/// Past the end of the unified return buffer a store faults, and says in which memory.
#[test]
fn return_buffer_faults() {
    let _covers = covers("graphics::return_buffer_faults");
    let mut b = Bench::new(Platform::Tgllp, 75);
    let mut c = Case::default();
    // The last handle that there is, and the next.
    let last = A_BYTES as u64 / 16;
    c.var("handles", "ud", &[last - 1, last, 0, 0, 0, 0, 0, 0]);
    c.var("data", "ud", &[7; 32]);
    let trap = b.fault(&text(&c, "urb_write_3d (M1,8) 4 0 %null.0 $handles.0 %null.0 $data.0".into()));
    let at = last * 16 + A_BYTES as u64 % 16 / 4 * 4;
    let Cause::Memory { space: AccessSpace::Urb, address, bytes: 4, write: true, .. } = trap.cause else {
        panic!("{trap}");
    };
    assert_eq!((address, trap.channel), (at, Some(1)));
    assert!(trap.to_string().contains("unified return buffer"), "{trap}");
}

/// LSC_APNDCTR_ATOMIC_*: channels one after another, all that are active; without a result, too.
#[test]
fn append_counters() {
    let _covers = covers("graphics::append_counters");
    let mut rng = Rng(76);
    for platform in [Platform::Xe2, Platform::Xe3] {
        let mut b = Bench::new(platform, 77);
        for k in 0..120 {
            let name = ["add", "sub", "store"][k % 3];
            let n = rng.pick(&[1u32, 16, 32]);
            let em = rng.pick(&[0, 8]);
            let (mut c, p) = case(&mut rng);
            let src: Vec<u64> = (0..n).map(|_| rng.next() & 0xffff_ffff).collect();
            c.var("src", "ud", &src);
            c.bytes("dst", "ud", &rng.bytes(n as usize * 4));
            let result = rng.below(4) != 0;
            let active = |c: &Case, i: u32| c.active(em, p, n, i);
            for i in 0..n {
                if !active(&c, i) {
                    continue;
                }
                let counter = &mut b.world.a[COUNTER..COUNTER + 4];
                let old = u32::from_le_bytes((&*counter).try_into().expect("four bytes"));
                let x = src[i as usize] as u32;
                let new = match name {
                    "add" => old.wrapping_add(x),
                    "sub" => old.wrapping_sub(x),
                    _ => x,
                };
                counter.copy_from_slice(&new.to_le_bytes());
                if result {
                    c.of("dst").set(4 * i as usize, 4, old.into());
                }
            }
            let dst = if result { "$dst" } else { "%null" };
            let t = format!(
                "{}lsc_apndctr_atomic_{name}.ugm ({},{n}) {dst}:d32 bti(0x3) $src.0",
                p.text(),
                mask_name(em)
            );
            b.run(text(&c, t));
        }
        // A surface without one.
        let mut c = Case::default();
        c.var("src", "ud", &[1; 16]);
        let trap = b.fault(&text(&c, "lsc_apndctr_atomic_add.ugm (M1,16) %null:d32 bti(0x9) $src.0".into()));
        assert!(
            matches!(&trap.cause, Cause::Unsupported { reason, .. } if reason.contains("counter")),
            "{trap}"
        );
    }
}
