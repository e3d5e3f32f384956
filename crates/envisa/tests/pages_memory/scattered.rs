//! GATHER, GATHER_SCALED, GATHER4_SCALED, SCATTER4_SCALED, QW_GATHER, QW_SCATTER; SVM_SCATTER, SVM_GATHER4_SCALED,
//! SVM_SCATTER4_SCALED.

use crate::founding::{PLATFORMS, offset, predicated, scalar, stretch, text, wrapped};
use crate::harness::{A, A_BYTES, Bench, Case, Predicate, Rng, Surf, covers, legal, mask_name};
use envisa::isa::Platform;
use envisa_machine::trap::Cause;

/// Masks that instructions of `n` channels may have.
pub fn masks(n: u32) -> Vec<usize> {
    (0..16).filter(|m| legal(*m, n)).collect()
}

/// Offsets of the channels: scattered, or one after another.
pub fn offsets(rng: &mut Rng, s: Surf, n: u32, bytes: u64, align: u64) -> Vec<u64> {
    let first = stretch(rng, s, (n as u64 * bytes).min(240), align);
    match rng.below(4) {
        0 if n as u64 * bytes <= 240 => (0..n as u64).map(|i| first + i * bytes).collect(),
        1 => vec![first; n as usize],
        _ => (0..n).map(|_| stretch(rng, s, bytes, align) | (s.bias() * rng.below(2))).collect(),
    }
}

/// GATHER and GATHER_SCALED: the upper bytes of what a 1- or 2-byte read leaves are undefined.
#[test]
fn gather_and_gather_scaled() {
    let _covers = covers("scattered::gather_and_gather_scaled");
    let mut rng = Rng(1);
    for platform in PLATFORMS {
        let mut b = Bench::new(platform, 40);
        for surface in Surf::ALL {
            for size in [1usize, 2, 4] {
                for n in [1u32, 2, 4, 8, 16, 32] {
                    for mask in masks(n) {
                        for scaled in [true, false] {
                            if !scaled && !matches!(n, 1 | 8 | 16) {
                                continue;
                            }
                            let p = if scaled { rng.pick(&Predicate::ALL) } else { Predicate::None };
                            let mut c = predicated(&mut rng, p);
                            // GATHER counts in elements.
                            let unit = if scaled { 1 } else { size as u64 };
                            let global = rng.pick(&[0, 1, 0x40, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0]);
                            let g = scalar(&mut c, &mut rng, "ud", global);
                            let at = offsets(&mut rng, surface, n, size as u64, unit);
                            let off: Vec<u64> =
                                at.iter().map(|a| (a / unit).wrapping_sub(global) & 0xffff_ffff).collect();
                            c.var("off", "ud", &off);
                            c.bytes("dst", rng.pick(&["ud", "d", "f"]), &rng.bytes(n as usize * 4));
                            for i in 0..n as usize {
                                if c.active(mask, p, n, i as u32) {
                                    let from = wrapped(surface, (global + off[i]) * unit);
                                    let x = b.world.read(surface, from, size).unwrap_or(0);
                                    c.of("dst").set(4 * i, size, x);
                                    c.of("dst").undefined(4 * i + size, 4 - size);
                                }
                            }
                            let (m, s) = (mask_name(mask), surface.text());
                            let t = match scaled {
                                true => format!(
                                    "{}gather_scaled.{size} ({m},{n}) {s} {g} $off.0 $dst.0",
                                    p.text()
                                ),
                                false => {
                                    let modified = rng.pick(&["", ".mod "]);
                                    format!("gather.{size} ({m},{n}) {modified}{s} {g} $off.0 $dst.0")
                                }
                            };
                            b.run(text(&c, t));
                        }
                    }
                }
            }
        }
    }
}

/// GATHER4_SCALED and SCATTER4_SCALED on surfaces, SVM_GATHER4_SCALED and SVM_SCATTER4_SCALED: every set of
/// channels; the next channel's data starts at the next register.
#[test]
fn gather4_and_scatter4() {
    let _covers = covers("scattered::gather4_and_scatter4");
    let mut rng = Rng(2);
    for platform in PLATFORMS {
        let mut b = Bench::new(platform, 41);
        for surface in Surf::ALL.map(Some).into_iter().chain([None]) {
            for channels in 1..16u32 {
                for n in [8u32, 16] {
                    for mask in masks(n) {
                        let write = rng.below(2) == 0;
                        let p = rng.pick(&Predicate::ALL);
                        let mut c = predicated(&mut rng, p);
                        let (at, g) = match surface {
                            Some(s) => {
                                let global = rng.pick(&[0, 4, 0x40, 0x8000_0000, 0xffff_fff0]);
                                let g = scalar(&mut c, &mut rng, "ud", global);
                                let at = offsets(&mut rng, s, n, 16, 4);
                                let off: Vec<u64> =
                                    at.iter().map(|a| a.wrapping_sub(global) & 0xffff_ffff).collect();
                                c.var("off", "ud", &off);
                                (at, g)
                            }
                            None => {
                                let base = rng.pick(&[A, 0, A + 0x100, u64::MAX - 0xff]);
                                let g = scalar(&mut c, &mut rng, "uq", base);
                                let at: Vec<u64> = (0..n).map(|_| A + rng.below(246) * 4).collect();
                                let off: Vec<u64> = at.iter().map(|a| a.wrapping_sub(base)).collect();
                                c.var("off", "uq", &off);
                                (at, g)
                            }
                        };
                        let enabled: Vec<u64> = (0..4).filter(|c| channels >> c & 1 != 0).collect();
                        let pitch = (n as usize).max(b.grf() / 4);
                        let dwords = (enabled.len() - 1) * pitch + n as usize;
                        c.bytes("data", rng.pick(&["ud", "d", "f"]), &rng.bytes(4 * dwords));
                        // Channel by channel, so that of two that write a place the higher one wins.
                        for i in 0..n as usize {
                            if !c.active(mask, p, n, i as u32) {
                                continue;
                            }
                            for (k, ch) in enabled.iter().enumerate() {
                                let reg = (k * pitch + i) * 4;
                                let x = c.of("data").get(reg, 4);
                                match surface {
                                    Some(s) if write => b.world.write(s, wrapped(s, at[i]) + ch * 4, 4, x),
                                    Some(s) => {
                                        let x = b.world.read(s, wrapped(s, at[i]) + ch * 4, 4).unwrap_or(0);
                                        c.of("data").set(reg, 4, x);
                                    }
                                    None => {
                                        let place = (at[i] + ch * 4 - A) as usize;
                                        if write {
                                            b.world.a[place..place + 4]
                                                .copy_from_slice(&x.to_le_bytes()[..4]);
                                        } else {
                                            let x = b.world.a[place..place + 4].to_vec();
                                            c.of("data").after[reg..reg + 4].copy_from_slice(&x);
                                        }
                                    }
                                }
                            }
                        }
                        let letters: String = "RGBA"
                            .chars()
                            .enumerate()
                            .filter(|(k, _)| channels >> k & 1 != 0)
                            .map(|x| x.1)
                            .collect();
                        let op = if write { "scatter4" } else { "gather4" };
                        let op = match surface {
                            Some(s) => {
                                format!("{op}_scaled.{letters} ({},{n}) {}", mask_name(mask), s.text())
                            }
                            None => format!("svm_{op}scaled.{letters} ({},{n})", mask_name(mask)),
                        };
                        b.run(text(&c, format!("{}{op} {g} $off.0 $data.0", p.text())));
                    }
                }
            }
        }
        // The final address is dword-aligned.
        let mut c = Case::new("gather4_scaled.R (M1,8) T6 0x1:ud $off.0 $dst.0");
        c.var("off", "ud", &[3, 7, 11, 15, 19, 21, 27, 31]);
        c.bytes("dst", "ud", &[0; 32]);
        let trap = b.fault(&c);
        assert_eq!(trap.channel, Some(5));
        assert!(matches!(trap.cause, Cause::Misaligned { address: 22, align: 4, .. }));
    }
}

/// QW_GATHER and QW_SCATTER.
#[test]
fn qwords() {
    let _covers = covers("scattered::qwords");
    let mut rng = Rng(3);
    let mut b = Bench::new(Platform::Pvc, 42);
    for surface in Surf::ALL {
        for blocks in [1usize, 2, 4] {
            for n in [1u32, 2, 4, 8, 16] {
                for mask in masks(n) {
                    for write in [false, true] {
                        let p = rng.pick(&Predicate::ALL);
                        let mut c = predicated(&mut rng, p);
                        let at = offsets(&mut rng, surface, n, 8 * blocks as u64, 8);
                        c.var("off", "ud", &at);
                        c.bytes("data", rng.pick(&["q", "uq", "df"]), &rng.bytes(n as usize * blocks * 8));
                        for i in 0..n as usize {
                            for j in 0..blocks {
                                if !c.active(mask, p, n, i as u32) {
                                    continue;
                                }
                                let reg = (j * n as usize + i) * 8;
                                let place = wrapped(surface, at[i]) + 8 * j as u64;
                                if write {
                                    let x = c.of("data").get(reg, 8);
                                    b.world.write(surface, place, 8, x);
                                } else {
                                    let x = b.world.read(surface, place, 8).unwrap_or(0);
                                    c.of("data").set(reg, 8, x);
                                }
                            }
                        }
                        let op = if write { "scatter" } else { "gather" };
                        let (m, s) = (mask_name(mask), surface.text());
                        b.run(text(&c, format!("{}qw_{op}.{blocks} ({m},{n}) {s} $off.0 $data.0", p.text())));
                    }
                }
            }
        }
    }
}

/// SVM_SCATTER: every block size, number of blocks, execution size and mask.
#[test]
fn svm_scatter() {
    let _covers = covers("scattered::svm_scatter");
    let mut rng = Rng(4);
    for platform in PLATFORMS {
        let mut benches = [Bench::new(platform, 43), Bench::new(platform, 44).unverified()];
        for (block, count) in [1usize, 4, 8].into_iter().flat_map(|b| [1usize, 2, 4, 8].map(|c| (b, c))) {
            for n in [1u32, 2, 4, 8, 16] {
                let page = (count == 1 || n >= 8) && (count < 8 || block == 4 && n == 8);
                let b = &mut benches[!page as usize];
                for mask in masks(n) {
                    let p = rng.pick(&Predicate::ALL);
                    let mut c = predicated(&mut rng, p);
                    let side_by_side = rng.below(3) == 0 && n as usize * block * count <= 512;
                    let first = rng.below(400);
                    let at: Vec<u64> = (0..n as u64)
                        .map(|i| match side_by_side {
                            true => first + i * (block * count) as u64,
                            false => rng.below((A_BYTES - block * count) as u64 + 1),
                        })
                        .map(|a| a / block as u64 * block as u64)
                        .collect();
                    let addresses: Vec<u64> = (0..n)
                        .map(|i| if c.active(mask, p, n, i) { A + at[i as usize] } else { rng.next() })
                        .collect();
                    c.var("addr", "uq", &addresses);
                    let lane = if block == 1 { count.max(4) } else { 0 };
                    let bytes = if block == 1 { n as usize * lane } else { n as usize * block * count };
                    c.bytes("src", if block == 8 { "uq" } else { "ud" }, &rng.bytes(bytes));
                    for i in 0..n as usize {
                        for j in 0..count {
                            if c.active(mask, p, n, i as u32) {
                                let reg =
                                    if block == 1 { i * lane + j } else { (j * n as usize + i) * block };
                                let x = c.of("src").after[reg..reg + block].to_vec();
                                b.world.a[at[i] as usize + j * block..][..block].copy_from_slice(&x);
                            }
                        }
                    }
                    let t = format!(
                        "{}svm_scatter.{block}.{count} ({},{n}) $addr.0 $src.0",
                        p.text(),
                        mask_name(mask)
                    );
                    b.run(text(&c, t));
                }
            }
        }
        // A fault of one channel leaves what it would have written alone.
        let mut c = Case::new("svm_scatter.4.1 (M3,8) $addr.0 $src.0");
        c.var("addr", "uq", &[A, A + 4, A + 8, A + A_BYTES as u64, A + 16, A + 20, A + 24, A + 28]);
        c.bytes("src", "ud", &rng.bytes(32));
        let trap = benches[0].fault(&c);
        assert_eq!(trap.channel, Some(11));
        match trap.cause {
            Cause::Memory { address, bytes: 4, write: true, nearest: Some((name, 1)), .. } => {
                assert_eq!((address, name.as_str()), (A + A_BYTES as u64, "a"));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// What lies past the end is dropped element by element, also far beyond and where offsets wrap.
#[test]
fn far_outside() {
    let _covers = covers("scattered::far_outside");
    let mut rng = Rng(5);
    let mut b = Bench::new(Platform::Tgllp, 45);
    for surface in Surf::ALL {
        for _ in 0..40 {
            let mut c = Case::default();
            let at: Vec<u64> = (0..16).map(|_| offset(&mut rng, surface, 4)).collect();
            c.var("off", "ud", &at);
            c.bytes("dst", "ud", &rng.bytes(64));
            for (i, a) in at.iter().enumerate() {
                let x = b.world.read(surface, wrapped(surface, *a), 4).unwrap_or(0);
                c.of("dst").set(4 * i, 4, x);
            }
            let t = format!("gather4_scaled.R (M1_NM,16) {} 0x0:ud $off.0 $dst.0", surface.text());
            b.run(text(&c, t));
        }
    }
}
