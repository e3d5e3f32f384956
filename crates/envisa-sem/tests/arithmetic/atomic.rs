//! Atomic operators at every width.

use envisa_sem::atomic::{AtomicOp, AtomicWidth, Operands, apply, returned_value};

fn run(op: AtomicOp, w: AtomicWidth, old: u64, a: u64) -> u64 {
    apply(op, w, old, Operands::legacy(op, a, 0))
}

#[test]
fn integers_at_every_width() {
    use AtomicOp::*;
    for w in [AtomicWidth::W16, AtomicWidth::W32, AtomicWidth::W64] {
        let max = w.mask();
        let min = 1u64 << (w.bits() - 1);
        // Bits above the width must not matter.
        let junk = !max;
        for (op, old, a, want) in [
            (Add, max, 2, 1),
            (Sub, 0, 1, max),
            (Inc, max, 0, 0),
            (Dec, 0, 0, max),
            (PreDec, 5, 0, 4),
            (Umin, max, 3, 3),
            (Umax, max, 3, max),
            (Imin, max, 3, max),
            (Imax, max, 3, 3),
            (Imin, min, 1, min),
            (Xchg, 7, max, max),
            (And, 12, 10, 8),
            (Or, 12, 10, 14),
            (Xor, 12, 10, 6),
            (Load, 12, 10, 12),
        ] {
            assert_eq!(run(op, w, old | junk, a | junk), want, "{op:?} {w:?}");
        }
    }
    assert_eq!((returned_value(PreDec, 5, 4), returned_value(Dec, 5, 4)), (4, 5));
}

#[test]
fn compare_exchange_operands() {
    use AtomicOp::*;
    let w = AtomicWidth::W32;
    assert_eq!(apply(CmpXchg, w, 5, Operands::legacy(CmpXchg, 9, 5)), 9);
    assert_eq!(apply(CmpXchg, w, 6, Operands::legacy(CmpXchg, 9, 5)), 6);
    assert_eq!(apply(CmpXchg, w, 5, Operands::lsc(CmpXchg, 5, 9)), 9);
    let f = |x: f32| x.to_bits() as u64;
    assert_eq!(apply(FcmpWr, w, f(-0.0), Operands::legacy(FcmpWr, f(0.0), f(3.0))), f(3.0));
    assert_eq!(apply(FcmpWr, w, f(f32::NAN), Operands::lsc(FcmpWr, f(f32::NAN), f(3.0))), f(f32::NAN));
}

#[test]
fn floats_at_every_width() {
    use AtomicOp::*;
    let h = |x: f32| half::f16::from_f32(x).to_bits() as u64;
    let f = |x: f32| x.to_bits() as u64;
    let d = |x: f64| x.to_bits();
    assert_eq!(run(Fadd, AtomicWidth::W16, h(1.5), h(2.25)), h(3.75));
    assert_eq!(run(Fadd, AtomicWidth::W32, f(1.5), f(2.25)), f(3.75));
    assert_eq!(run(Fsub, AtomicWidth::W64, d(1.5), d(2.25)), d(-0.75));
    assert_eq!(run(Fmin, AtomicWidth::W32, f(f32::NAN), f(1.0)), f(1.0));
    assert_eq!(run(Fmax, AtomicWidth::W32, f(1.0), f(f32::NAN)), f(1.0));
    assert_eq!(run(Fmax, AtomicWidth::W16, h(-1.0), h(-2.0)), h(-1.0));
    assert_eq!(run(Fadd, AtomicWidth::W32, 1, 1), 2, "denormals are kept");
    let b = |x: f32| (x.to_bits() >> 16) as u64;
    assert_eq!(run(BfAdd, AtomicWidth::W16, b(1.5), b(2.25)), b(3.75));
    assert_eq!(run(BfSub, AtomicWidth::W16, b(1.5), b(2.25)), b(-0.75));
    assert_eq!(run(BfMin, AtomicWidth::W16, b(f32::NAN), b(1.0)), b(1.0));
    assert_eq!(run(BfMax, AtomicWidth::W16, b(-1.0), b(-2.0)), b(-1.0));
    assert_eq!(run(BfAdd, AtomicWidth::W16, b(256.0), b(1.0)), b(256.0), "to nearest even");
}

#[test]
fn codes() {
    let legacy = (0..32).filter_map(AtomicOp::from_legacy_code).count();
    assert_eq!(legacy, 19);
    let lsc: Vec<AtomicOp> = (0..64).filter_map(AtomicOp::from_lsc_subop).collect();
    assert_eq!((lsc.len(), lsc.iter().filter(|op| op.is_bf()).count()), (24, 5));
    assert_eq!(AtomicOp::from_lsc_subop(0x25).unwrap().operands(), 2);
    assert_eq!(AtomicOp::from_lsc_subop(0x12).unwrap().operands(), 2);
    assert_eq!(AtomicOp::from_legacy_code(13).unwrap().operands(), 0);
    assert!(AtomicOp::from_lsc_subop(0x15).unwrap().is_float());
}
