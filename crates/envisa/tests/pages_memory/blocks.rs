//! OWORD_LD, OWORD_ST, SVM_BLOCK_LD, SVM_BLOCK_ST: whole owords, whatever the execution mask.

use crate::founding::{PLATFORMS, masked, scalar, text, wrapped};
use crate::harness::{A, A_BYTES, Bench, Case, EDGE, Rng, Surf, covers};
use envisa::isa::Platform;
use envisa_machine::trap::Cause;

/// OWORD_LD and OWORD_ST: every size, surface and offset around the ends, in units of owords.
#[test]
fn owords() {
    let _covers = covers("blocks::owords");
    let mut rng = Rng(1);
    for platform in PLATFORMS {
        let mut b = Bench::new(platform, 60);
        for surface in Surf::ALL {
            for owords in [1usize, 2, 4, 8, 16] {
                if owords == 16 && (surface != Surf::Slm || platform < Platform::XehpSdv) {
                    continue;
                }
                let last = surface.len() / 16;
                let places = (0..(EDGE / 16 - owords.min(15)) as u64)
                    .chain(last.saturating_sub((owords as u64 + 1).min(EDGE as u64 / 16))..last + 3)
                    .chain([0x0fff_ffff, 0x7fff_ffff, 0xffff_ffff]);
                for (unit, write) in places.flat_map(|u| [(u, false), (u, true)]) {
                    let mut c = masked(&mut rng);
                    let o = scalar(&mut c, &mut rng, "ud", unit);
                    c.bytes("data", rng.pick(&["ud", "uq", "ub", "hf"]), &rng.bytes(owords * 16));
                    let bytes = if c.runs() { owords * 16 } else { 0 };
                    for k in 0..bytes {
                        // Units of 16 bytes do not wrap in 32 bits.
                        let at = match surface {
                            Surf::Slm => wrapped(surface, unit * 16),
                            _ => unit * 16,
                        };
                        let x = c.of("data").get(k, 1);
                        match b.world.at(surface, at + k as u64) {
                            Some(byte) if write => *byte = x as u8,
                            Some(byte) => {
                                let x = *byte;
                                c.of("data").set(k, 1, x as u64);
                            }
                            None if write => {}
                            None => c.of("data").set(k, 1, 0),
                        }
                    }
                    let op = if write { "oword_st" } else { rng.pick(&["oword_ld", "oword_ld.mod"]) };
                    b.run(text(&c, format!("{op} ({owords}) {} {o} $data.0", surface.text())));
                }
            }
        }
    }
}

/// SVM_BLOCK_LD and SVM_BLOCK_ST: loads need an address of whole dwords, stores one of whole owords; past the
/// end of an allocation they are faults.
#[test]
fn svm_blocks() {
    let _covers = covers("blocks::svm_blocks");
    let mut rng = Rng(2);
    for platform in PLATFORMS {
        let mut b = Bench::new(platform, 61);
        for owords in [1usize, 2, 4, 8] {
            for (at, write) in (0..(A_BYTES - owords * 16) / 4).map(|k| (4 * k, k % 4 == 0 && k % 8 != 0)) {
                let mut c = masked(&mut rng);
                let address = scalar(&mut c, &mut rng, "uq", A + at as u64);
                c.bytes("data", rng.pick(&["ud", "uq", "ub"]), &rng.bytes(owords * 16));
                if c.runs() {
                    let place = at..at + owords * 16;
                    if write {
                        b.world.a[place].copy_from_slice(&c.of("data").after);
                    } else {
                        c.of("data").after.copy_from_slice(&b.world.a[place]);
                    }
                }
                let op = match write {
                    true => "svm_block_st",
                    false if at % 16 == 0 => "svm_block_ld",
                    false => "svm_block_ld.unaligned",
                };
                b.run(text(&c, format!("{op} ({owords}) {address} $data.0")));
            }
            for (op, wrong, what) in [
                // A read that starts inside may pass the end.
                ("svm_block_ld", (A + A_BYTES as u64).next_multiple_of(4), None),
                ("svm_block_st", A + A_BYTES as u64 / 16 * 16, None),
                ("svm_block_ld", A - 16, None),
                ("svm_block_ld", 0, None),
                ("svm_block_ld", A + 2, Some(4)),
                ("svm_block_st", A + 8, Some(16)),
            ] {
                let mut c = Case::default();
                c.var("p", "uq", &[wrong]);
                c.bytes("data", "ud", &rng.bytes(owords * 16));
                let trap = b.fault(&text(&c, format!("{op} ({owords}) $p(0,0)<0;1,0> $data.0")));
                match (trap.cause, what) {
                    (Cause::Memory { address, write, nearest: Some((name, _)), .. }, None) => {
                        assert_eq!((address, write, name.as_str()), (wrong, op == "svm_block_st", "a"));
                    }
                    (Cause::Misaligned { address, align, .. }, Some(want)) => {
                        assert_eq!((address, align), (wrong, want));
                    }
                    (other, _) => panic!("{other:?}"),
                }
            }
        }
    }
}
