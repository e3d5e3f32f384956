//! SCATTER, SVM_GATHER, SCATTER_SCALED and OWORD_LD_UNALIGNED over all values of their fields (GATHER4_TYPED is
//! with the other typed messages).

use crate::harness::{A, A_BYTES, Bench, Case, EDGE, Predicate, Rng, Surf, covers, legal, mask_name};
use envisa::isa::Platform;
use envisa_machine::trap::Cause;

pub const PLATFORMS: [Platform; 2] = [Platform::Tgllp, Platform::Pvc];

/// A byte offset into a surface, mostly where memory is compared, also across and far past the end; a
/// multiple of `align`.
pub fn offset(rng: &mut Rng, s: Surf, align: u64) -> u64 {
    let len = s.len();
    let x = match rng.below(8) {
        0 => len.saturating_sub(rng.below(EDGE as u64)),
        1 => len + rng.below(16),
        2 => (len + rng.below(64)).saturating_sub(32),
        3 => 0xffff_ffff - rng.below(64),
        4 => 0x8000_0000 + rng.below(64),
        _ => rng.below(EDGE as u64 - 16),
    };
    x / align * align
}

/// As [`offset`], for `span` bytes from there on.
pub fn stretch(rng: &mut Rng, s: Surf, span: u64, align: u64) -> u64 {
    let x = offset(rng, s, align);
    if x < EDGE as u64 { x.min(EDGE as u64 - span) / align * align } else { x }
}

/// What is left of a byte offset in a surface: 32 bits, of shared local memory 28.
pub fn wrapped(s: Surf, offset: u64) -> u64 {
    let offset = offset & 0xffff_ffff;
    if s == Surf::Slm { offset & 0x0fff_ffff } else { offset }
}

/// An execution mask to find, or none; rarely all off.
pub fn some_em(rng: &mut Rng) -> Option<u32> {
    match rng.below(5) {
        0 => Some(rng.next() as u32),
        1 => Some(rng.next() as u32 & rng.next() as u32),
        2 => Some([0xffff_0000, 0x5555_5555, 0, 1, 0x8000_0000][rng.below(5) as usize]),
        _ => None,
    }
}

/// A case with an execution mask, or without.
pub fn masked(rng: &mut Rng) -> Case {
    let mut c = Case::default();
    if let Some(em) = some_em(rng) {
        c.em(em);
    }
    c
}

/// The same with the bits of a predicate.
pub fn predicated(rng: &mut Rng, p: Predicate) -> Case {
    let mut c = masked(rng);
    if p != Predicate::None {
        c.pred(rng.pick(&[0, u32::MAX, 0xffff, 0x0f0f_0f0f, 0x8000_0001, 0x1234_5678]));
    }
    c
}

/// A scalar operand: an immediate, or an element of a variable `$scalar`.
pub fn scalar(c: &mut Case, rng: &mut Rng, ty: &'static str, x: u64) -> String {
    if rng.below(2) == 0 {
        return format!("0x{x:x}:{ty}");
    }
    let column = rng.below(3);
    let mut values = [rng.next(); 3];
    values[column as usize] = x;
    c.var("scalar", ty, &values);
    format!("$scalar(0,{column})<0;1,0>")
}

/// Puts a case's instruction text in.
pub fn text(c: &Case, t: String) -> Case {
    c.clone().with_text(t)
}

/// SCATTER.<elt_size> (mask, num_elts) surface global_offset element_offset src: every element size, number of
/// elements, mask and surface; offsets negative, wrapping around 32 bits, across and past the end.
#[test]
fn scatter() {
    let _covers = covers("founding::scatter");
    let mut rng = Rng(1);
    for platform in PLATFORMS {
        let mut benches = [Bench::new(platform, 1), Bench::new(platform, 2).unverified()];
        for surface in Surf::ALL {
            for elt in [1usize, 2, 4] {
                for n in [1u32, 8, 16] {
                    for mask in 0..16 {
                        let b = &mut benches[!legal(mask, n) as usize];
                        for ty in ["ud", "d", "f"] {
                            let mut c = masked(&mut rng);
                            let global = rng.pick(&[
                                0,
                                1,
                                7,
                                0x40,
                                0x7fff_ffff,
                                0x8000_0000,
                                0xffff_fff0,
                                0xffff_ffff,
                            ]);
                            let g = scalar(&mut c, &mut rng, "ud", global);
                            let offsets: Vec<u64> = (0..n)
                                .map(|_| {
                                    let x = (offset(&mut rng, surface, 1) | (surface.bias() * rng.below(2)))
                                        / elt as u64;
                                    x.wrapping_sub(global) & 0xffff_ffff
                                })
                                .collect();
                            let data: Vec<u64> = (0..n).map(|_| rng.next() & 0xffff_ffff).collect();
                            c.var("off", "ud", &offsets);
                            c.var("src", ty, &data);
                            // The page's loop.
                            for i in 0..n as usize {
                                if c.active(mask, Predicate::None, n, i as u32) {
                                    let at = (global + offsets[i]) * elt as u64;
                                    b.world.write(surface, wrapped(surface, at), elt, data[i]);
                                }
                            }
                            let t = format!(
                                "scatter.{elt} ({}, {n}) {} {g} $off.0 $src.0",
                                mask_name(mask),
                                surface.text()
                            );
                            b.run(text(&c, t));
                        }
                    }
                }
            }
        }
        assert_eq!(benches[0].count + benches[1].count, 4 * 3 * 3 * 16 * 3);
    }
}

/// SVM_GATHER.<block_size>.<num_blocks>: every block size, number of blocks, execution size, mask and form of
/// predicate.
#[test]
fn svm_gather() {
    let _covers = covers("founding::svm_gather");
    let mut rng = Rng(2);
    for platform in PLATFORMS {
        let mut benches = [Bench::new(platform, 3), Bench::new(platform, 4).unverified()];
        for block in [1usize, 4, 8] {
            for count in [1usize, 2, 4, 8] {
                for exec in [1u32, 2, 4, 8, 16] {
                    // What the page restricts runs all the same.
                    let page = count == 1 || exec >= 8;
                    let page = page && (count < 8 || block == 4 && exec == 8);
                    for mask in 0..16 {
                        for p in Predicate::ALL {
                            let b = &mut benches[!(legal(mask, exec) && page) as usize];
                            let mut c = predicated(&mut rng, p);
                            let n = exec as usize;
                            let room = (A_BYTES - block * count) as u64;
                            let side_by_side = rng.below(3) == 0 && n * block * count <= 512;
                            let first = rng.below(400);
                            let addresses: Vec<u64> = (0..n)
                                .map(|i| {
                                    let at = match side_by_side {
                                        true => first + (i * block * count) as u64,
                                        false => rng.below(room + 1),
                                    };
                                    // Channels that are off hold anything.
                                    match c.active(mask, p, exec, i as u32) {
                                        true => A + at / block as u64 * block as u64,
                                        false => rng.next(),
                                    }
                                })
                                .collect();
                            c.var("addr", "uq", &addresses);
                            let lane = count.max(4);
                            let bytes = if block == 1 { n * lane } else { n * block * count };
                            c.bytes("dst", if block == 8 { "uq" } else { "ud" }, &rng.bytes(bytes));
                            for i in 0..n {
                                if !c.active(mask, p, exec, i as u32) {
                                    continue;
                                }
                                let from = (addresses[i] - A) as usize;
                                // The page's two loops.
                                if block == 4 || block == 8 {
                                    for j in 0..count {
                                        let e = j * n + i;
                                        let x = b.world.a[from + j * block..][..block].to_vec();
                                        c.of("dst").after[e * block..][..block].copy_from_slice(&x);
                                    }
                                } else {
                                    let min = if count < 4 { 4 } else { count };
                                    for j in 0..min {
                                        if j < count {
                                            c.of("dst").after[i * min + j] = b.world.a[from + j];
                                        } else {
                                            c.of("dst").undefined(i * min + j, 1);
                                        }
                                    }
                                }
                            }
                            let m = mask_name(mask);
                            let t =
                                format!("{}svm_gather.{block}.{count} ({m},{exec}) $addr.0 $dst.0", p.text());
                            b.run(text(&c, t));
                        }
                    }
                }
            }
        }
        assert_eq!(benches[0].count + benches[1].count, 3 * 4 * 5 * 16 * 5);
    }
}

/// An address outside of every allocation, and one that is not aligned to the block, is a fault that names
/// instruction, channel, address and neighbour; of a channel that is off, it is nothing.
#[test]
fn svm_gather_faults() {
    let _covers = covers("founding::svm_gather_faults");
    let mut rng = Rng(3);
    let mut bench = Bench::new(Platform::Tgllp, 5);
    for (block, count, exec, mask) in [
        (4usize, 1usize, 16u32, 0usize),
        (4, 8, 8, 2),
        (8, 4, 8, 6),
        (1, 4, 16, 4),
        (1, 1, 1, 7),
        (8, 1, 4, 3),
    ] {
        let first = (mask as u32 & 7) * 4;
        for bad in [0, exec / 2, exec - 1] {
            for (wrong, distance) in [
                (A + A_BYTES as u64 / 8 * 8 + 8, Some(5i128)),
                (A - 8, Some(-8)),
                (A + A_BYTES as u64 - 4, None),
                (8, Some(8 - A as i128)),
            ] {
                let mut c = Case::default();
                let addresses: Vec<u64> =
                    (0..exec).map(|i| if i == bad { wrong } else { A + 64 * (i as u64 % 8) }).collect();
                c.var("addr", "uq", &addresses);
                c.bytes("dst", "uq", &rng.bytes(exec as usize * block.max(4) * count));
                let t = format!("svm_gather.{block}.{count} ({},{exec}) $addr.0 $dst.0", mask_name(mask));
                let Some(distance) = distance else { continue };
                let trap = bench.fault(&text(&c, t.clone()));
                assert_eq!(trap.channel, Some(first + bad), "{t}");
                assert_eq!(trap.thread, 0);
                match trap.cause {
                    Cause::Memory { address, bytes, write: false, nearest: Some((name, d)), .. } => {
                        assert_eq!((address, name.as_str(), d), (wrong, "a", distance), "{t}");
                        assert!(bytes as usize <= block * count);
                    }
                    other => panic!("{other:?}"),
                }
                // Off, it does nothing.
                let mut off = c.clone();
                off.em(!(1 << (first + bad)));
                for i in (0..exec as usize).filter(|i| *i != bad as usize) {
                    let from = (addresses[i] - A) as usize;
                    for j in 0..count {
                        let x = bench.world.a[from + j * block..][..block].to_vec();
                        let min = if block == 1 { count.max(4) } else { 0 };
                        let at = if block == 1 { i * min + j } else { (j * exec as usize + i) * block };
                        off.of("dst").after[at..at + block].copy_from_slice(&x);
                    }
                    if block == 1 && count < 4 {
                        off.of("dst").undefined(i * 4 + count, 4 - count);
                    }
                }
                bench.run(text(&off, t));
            }
            if block > 1 {
                let mut c = Case::default();
                // The page wants multiples of the block; the reference compiler reads blocks of 8 bytes at multiples of 4.
                let multiple = block.min(4) as u64;
                let wrong = A + 64 + multiple / 2;
                let addresses: Vec<u64> = (0..exec).map(|i| if i == bad { wrong } else { A }).collect();
                c.var("addr", "uq", &addresses);
                c.bytes("dst", "uq", &rng.bytes(exec as usize * block * count));
                let t = format!("svm_gather.{block}.{count} ({},{exec}) $addr.0 $dst.0", mask_name(mask));
                let trap = bench.fault(&text(&c, t));
                assert_eq!(trap.channel, Some(first + bad));
                assert!(matches!(trap.cause, Cause::Misaligned { address, align, .. }
                    if address == wrong && u64::from(align) == multiple));
            }
        }
    }
}

/// SCATTER_SCALED.<num_blocks>: every number of blocks, execution size, mask, surface and form of predicate.
#[test]
fn scatter_scaled() {
    let _covers = covers("founding::scatter_scaled");
    let mut rng = Rng(4);
    for platform in PLATFORMS {
        let mut benches = [Bench::new(platform, 6), Bench::new(platform, 7).unverified()];
        for surface in Surf::ALL {
            for blocks in [1usize, 2, 4] {
                for exec in [1u32, 2, 4, 8, 16, 32] {
                    for mask in 0..16 {
                        for p in Predicate::ALL {
                            let b = &mut benches[!legal(mask, exec) as usize];
                            let mut c = predicated(&mut rng, p);
                            let global =
                                rng.pick(&[0, 1, 0x40, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0, 0xffff_ffff]);
                            let g = scalar(&mut c, &mut rng, "ud", global);
                            let side_by_side = rng.below(3) == 0;
                            let first = stretch(&mut rng, surface, exec as u64 * blocks as u64, 1);
                            let offsets: Vec<u64> = (0..exec as u64)
                                .map(|i| {
                                    let at = match side_by_side {
                                        true => first + i * blocks as u64,
                                        false => {
                                            offset(&mut rng, surface, 1) | (surface.bias() * rng.below(2))
                                        }
                                    };
                                    at.wrapping_sub(global) & 0xffff_ffff
                                })
                                .collect();
                            let data: Vec<u64> = (0..exec).map(|_| rng.next() & 0xffff_ffff).collect();
                            c.var("off", "ud", &offsets);
                            c.var("src", rng.pick(&["ud", "d", "f"]), &data);
                            for i in 0..exec as usize {
                                if c.active(mask, p, exec, i as u32) {
                                    let at = wrapped(surface, global + offsets[i]);
                                    b.world.write(surface, at, blocks, data[i]);
                                }
                            }
                            let t = format!(
                                "{}scatter_scaled.{blocks} ({},{exec}) {} {g} $off.0 $src.0",
                                p.text(),
                                mask_name(mask),
                                surface.text()
                            );
                            b.run(text(&c, t));
                        }
                    }
                }
            }
        }
        assert_eq!(benches[0].count + benches[1].count, 4 * 3 * 6 * 16 * 5);
    }
}

/// OWORD_LD_UNALIGNED: every size and surface, every dword offset around the ends of the surface; no execution
/// mask plays a part.
#[test]
fn oword_ld_unaligned() {
    let _covers = covers("founding::oword_ld_unaligned");
    let mut rng = Rng(5);
    for platform in PLATFORMS {
        let mut bench = Bench::new(platform, 8);
        for surface in Surf::ALL {
            for owords in [1u32, 2, 4, 8, 16] {
                // 16 owords: from XeHP on, of shared local memory.
                if owords == 16 && (surface != Surf::Slm || platform < Platform::XehpSdv) {
                    continue;
                }
                let len = surface.len();
                let near = (0..24).map(|k| k * 4);
                let end = (len.saturating_sub(owords as u64 * 16 + 8) / 4..len / 4 + 3).map(|k| k * 4);
                for at in near.chain(end).chain([0x7fff_fffc, 0x8000_0000, 0xffff_fff0, 0xffff_fffc]) {
                    // Only the edges are known.
                    if at > EDGE as u64 - 128 && at < len.saturating_sub(EDGE as u64) {
                        continue;
                    }
                    let mut c = masked(&mut rng);
                    let bits = at | (surface.bias() * rng.below(2));
                    let o = scalar(&mut c, &mut rng, "ud", bits);
                    c.bytes("dst", rng.pick(&["ud", "f", "uq", "ub"]), &rng.bytes(owords as usize * 16));
                    // A thread without active channels does not run on.
                    for k in 0..owords as usize * 16 {
                        let x = bench.world.at(surface, wrapped(surface, bits) + k as u64).map_or(0, |b| *b);
                        if c.runs() {
                            c.of("dst").set(k, 1, x as u64);
                        }
                    }
                    let modified = rng.pick(&["", ".mod"]);
                    let t = format!("oword_ld_unaligned{modified} ({owords}) {} {o} $dst.0", surface.text());
                    bench.run(text(&c, t));
                }
            }
        }
        let mut c = Case::new("oword_ld_unaligned (2) T6 $o(0,0)<0;1,0> $dst.0");
        c.var("o", "ud", &[6]);
        c.bytes("dst", "ud", &rng.bytes(32));
        let trap = bench.fault(&c);
        assert!(matches!(trap.cause, Cause::Misaligned { address: 6, align: 4, bytes: 32, .. }));
    }
}
