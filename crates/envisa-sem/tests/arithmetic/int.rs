//! Integers: 8-bit types exhaustively against wide arithmetic, 32 and 64 bits at the edges, bit by bit.

use crate::common;

use common::Rng;
use envisa_sem::int::{self, *};
use envisa_sem::{Lane, Modifier};

fn every_pair<A: Int, B: Int>(check: impl Fn(A, B)) {
    for a in 0..1u64 << A::BITS {
        for b in 0..1u64 << B::BITS {
            check(A::from_bits(a), B::from_bits(b));
        }
    }
}

fn wrap<T: Int>(x: i128) -> T {
    T::truncate(x as i64)
}

fn arithmetic<T: Int>() {
    every_pair::<T, T>(|a, b| {
        let (x, y) = (a.exact(), b.exact());
        assert_eq!(a.add(b), wrap(x + y));
        assert_eq!(a.mul(b), wrap(x * y));
        assert_eq!(a.avg(b), wrap((x + y + 1).div_euclid(2)));
        assert_eq!(a.mad(b, a), wrap(x * y + x));
        if y != 0 {
            assert_eq!(a.div(b), wrap(x / y));
            assert_eq!(a.rem(b), wrap(x % y));
        }
        let n = b.to_bits() as u32;
        assert_eq!(a.shl(n), wrap(x << (n & 31)));
        assert_eq!(a.shr(n).to_bits(), a.to_bits() >> (n & 31));
        let signed = (a.to_bits() << 56) as i64 >> 56;
        assert_eq!(a.asr(n).to_bits() as u8, (signed >> (n & 31)) as u8);
        assert_eq!(a.rol(n).to_bits(), (a.to_bits() as u8).rotate_left(n & 7) as u64);
        assert_eq!(a.ror(n).rol(n), a);
    });
}

#[test]
fn bytes() {
    arithmetic::<u8>();
    arithmetic::<i8>();
}

#[test]
fn conversions_between_integers() {
    assert_eq!(int::resize_sat::<u64, i64>(u64::MAX), i64::MAX);
    assert_eq!(int::resize_sat::<i64, u64>(-1), 0);
    assert_eq!(int::resize::<i8, u32>(-1), u32::MAX);
}

#[test]
fn division_by_zero_and_overflow() {
    assert_eq!((7u32.div(0), 7u32.rem(0)), (u32::MAX, u32::MAX));
    assert_eq!((Int::div(7i32, 0), Int::div(-7i32, 0), Int::rem(0i32, 0)), (i32::MAX, i32::MIN, i32::MAX));
    assert_eq!((Int::div(i32::MIN, -1), Int::rem(i32::MIN, -1)), (i32::MIN, 0));
    assert_eq!((Int::div(i64::MIN, -1), Int::rem(-7i64, 2)), (i64::MIN, -1));
}

#[test]
fn modifiers() {
    assert_eq!(1u32.modify(Modifier::Neg), u32::MAX);
    assert_eq!(u32::MAX.modify(Modifier::Abs), u32::MAX);
    assert_eq!(i32::MIN.modify(Modifier::Abs), i32::MIN);
    assert_eq!(5i8.modify(Modifier::NegAbs), -5);
    assert_eq!(0xf0u8.modify(Modifier::Not), 0x0f);
    assert_eq!((-0.0f32).modify(Modifier::Abs).to_bits(), 0);
    assert_eq!(2.5f64.modify(Modifier::NegAbs), -2.5);
    assert_eq!(envisa_sem::Hf(0x3c00).modify(Modifier::Neg).0, 0xbc00);
}

#[test]
fn multiword() {
    let edges32 = [0u32, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff, 0x1234_5678];
    for a in edges32 {
        for b in edges32 {
            let (sum, carry) = addc(a, b);
            assert_eq!((carry as u64) << 32 | sum as u64, a as u64 + b as u64);
            let (difference, borrow) = subb(a, b);
            assert_eq!(difference as i64 - ((borrow as i64) << 32), a as i64 - b as i64);
            assert_eq!(mulh(a, b), ((a as u64 * b as u64) >> 32) as u32);
            assert_eq!(mulh(a as i32, b as i32), ((a as i32 as i64 * b as i32 as i64) >> 32) as u32);
            for c in edges32 {
                let (low, high) = madw(a, b, c);
                assert_eq!((high as u64) << 32 | low as u64, a as u64 * b as u64 + c as u64);
                let (low, high) = madw(a as i32, b as i32, c as i32);
                let want = a as i32 as i64 * b as i32 as i64 + c as i32 as i64;
                assert_eq!(((high as u64) << 32 | low as u64) as i64, want);
            }
        }
    }
    assert_eq!((1u64.shl(64 + 3), 1u32.shl(32 + 3), 1u16.shl(17)), (8, 8, 0));
    assert_eq!(((-1i16).asr(31), 0xffffu16.shr(16), (-8i64).asr(65)), (-1, 0, -4));
}

#[test]
fn bit_fields() {
    let mut rng = Rng(9);
    for _ in 0..20_000 {
        let (w, o) = (rng.next() as u32, rng.next() as u32);
        let (x, y) = (rng.next() as u32, rng.next() as u32);
        let (width, offset) = (w & 31, o & 31);
        let (mut u, mut inserted) = (0, y);
        for i in 0..width {
            if offset + i < 32 {
                u |= (x >> (offset + i) & 1) << i;
                inserted = inserted & !(1 << (offset + i)) | (x >> i & 1) << (offset + i);
            }
        }
        assert_eq!(bfe_u(w, o, x), u);
        assert_eq!(bfi(w, o, x, y), inserted);
        if width > 0 && offset + width <= 32 {
            assert_eq!(bfe_s(w, o, x as i32), ((u << (32 - width)) as i32) >> (32 - width));
        }
        let table = rng.next() as u8;
        let z = rng.next() as u32;
        let f = x.bfn(y, z, table);
        for i in 0..32 {
            let row = (x >> i & 1) | (y >> i & 1) << 1 | (z >> i & 1) << 2;
            assert_eq!(f >> i & 1, (table >> row & 1) as u32);
        }
    }
    assert_eq!((bfe_s(0, 5, -1), bfe_s(8, 28, i32::MIN)), (0, -8));
    assert_eq!(0xff00u16.bfn(0xf0f0, 0xcccc, 0x80), 0xff00 & 0xf0f0 & 0xcccc);
}

#[test]
fn counting() {
    assert_eq!((fbh_u(0), fbh_u(1), fbh_u(!0)), (!0, 31, 0));
    assert_eq!((fbh_s(0), fbh_s(-1), fbh_s(1), fbh_s(-2), fbh_s(i32::MIN)), (!0, !0, 31, 31, 1));
    assert_eq!((fbl(0), fbl(8), lzd(0), lzd(1)), (!0, 3, 32, 31));
    assert_eq!((cbit(0xffu8), cbit(0x8001u16), cbit(!0u32)), (8, 2, 32));
    assert_eq!(bfrev(0x8000_0001), 0x8000_0001);
    assert_eq!(bfrev(1), 0x8000_0000);
}

#[test]
fn dot_products() {
    assert_eq!(dp4a::<i32, i32, i32, i32>(10, 0x01ff_0280u32 as i32, 0x0303_0303, false), 10 - 3 * 126);
    assert_eq!(dp4a::<u32, u32, u32, u32>(0, !0, !0, false), 4 * 255 * 255);
    assert_eq!(dp4a::<i32, u32, i32, i32>(0, !0, -1, false), -4 * 255);
    assert_eq!(dp4a::<i32, u32, u32, i32>(i32::MAX, !0, !0, true), i32::MAX);
    assert_eq!(dp4a::<u32, i32, u32, u32>(3, -1, !0, true), 0);
    assert_eq!(sad2([200u8, 0], [0, 200]), 400);
    assert_eq!(sad2([-128i8, 127], [127, -128]), 510);
}

/// Quotients of doubles next to integers, and values of every magnitude, against the host's integers.
#[test]
fn division_of_dwords() {
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = (seed >> 32) as u32;
        x >> (seed >> 27 & 31)
    };
    for _ in 0..200_000 {
        let (b, k) = (random().max(1), random());
        for a in [random(), b.wrapping_mul(k), b.wrapping_mul(k).wrapping_sub(1), u32::MAX, u32::MAX - 1] {
            assert_eq!((Int::div(a, b), Int::rem(a, b)), (a / b, a % b), "{a} / {b}");
            let (a, b) = (a as i32, b as i32);
            for (a, b) in [(a, b), (a, b.wrapping_neg()), (a.wrapping_neg(), b)] {
                let want = (a.wrapping_div(b), a.wrapping_rem(b));
                assert_eq!((Int::div(a, b), Int::rem(a, b)), want, "{a} / {b}");
            }
        }
    }
    for (a, b) in
        [(i32::MIN, 1), (i32::MIN, -1), (i32::MIN, i32::MIN), (i32::MAX, i32::MIN), (i32::MIN, i32::MAX)]
    {
        assert_eq!((Int::div(a, b), Int::rem(a, b)), (a.wrapping_div(b), a.wrapping_rem(b)), "{a} / {b}");
    }
}
