//! Pages AND … XOR, shifts, rotations, bit fields and counts, BFN.

use crate::harness::{Bench, Case, Cmp};
use crate::model::T::*;
use crate::model::*;
use crate::shapes::{Spec, Val, enabled, grid, mask_text, places, some};
use envisa::isa::Platform;

const NOT: &[&str] = &["(~)"];

type Bits<'a> = &'a dyn Fn(&[Val]) -> i128;

/// An instruction over destination and source types; sources of one type, and of two.
fn over(b: &mut Bench, text: &str, dsts: &[T], srcs: &[T], count: usize, mods: &[&str], f: Bits<'_>) {
    for (k, d) in dsts.iter().enumerate() {
        for (j, t) in srcs.iter().enumerate() {
            for other in [*t, srcs[(j + k + 1) % srcs.len()]] {
                let d = *d;
                let mut list = vec![other; count];
                list[0] = *t;
                let model = |v: &[Val], _: Mode| (d.wrap(f(v), false), Cmp::Bits);
                // How wide a complement is, no page says.
                let mods = if list.iter().all(|t| t.size() == d.size()) { mods } else { &[] };
                let spec = Spec { mods, seed: (k * 8 + j) as u64, ..Spec::new(text, d, &list, &model) };
                if k == 0 && j < 2 { grid(b, &spec) } else { some(b, &spec, 4) }
            }
        }
    }
}

fn bitwise() {
    let mut b = Bench::new(Platform::Skl);
    for (dsts, srcs) in [(INT32, INT32), (&[Q, Uq][..], &[Q, Uq][..])] {
        over(&mut b, "and", dsts, srcs, 2, NOT, &|v| v[0].i & v[1].i);
        over(&mut b, "or", dsts, srcs, 2, NOT, &|v| v[0].i | v[1].i);
        over(&mut b, "xor", dsts, srcs, 2, NOT, &|v| v[0].i ^ v[1].i);
        over(&mut b, "not", dsts, srcs, 1, &[], &|v| !v[0].i);
    }
}

/// Logic on predicates: bits of the channels that run.
fn predicates() {
    let mut b = Bench::new(Platform::Skl);
    let mut r = Rng(3);
    for text in ["and", "or", "xor", "not"] {
        for (n, first) in places(0x3f) {
            for (x, y) in [("", ""), ("!", ""), ("", "!"), ("!", "!")] {
                let inverted = text != "not" && (x, y) != ("", "");
                // The text has no form for an inverted source.
                if inverted || text == "not" && y == "!" {
                    continue;
                }
                let (p, q, d, em) = (r.next() as u32, r.next() as u32, r.next() as u32, r.next() as u32);
                let no_mask = r.below(3) == 0;
                let z = match text {
                    "and" => p & q,
                    "or" => p | q,
                    "xor" => p ^ q,
                    _ => !p,
                };
                let on = enabled(n, first, no_mask, em, None);
                let lanes = (0..n).filter(|i| on[*i]).fold(0u32, |m, i| m | 1 << (first + i));
                let second = if text == "not" { "" } else { "$q" };
                let c = Case::new(format!("{text} {} $d $p {second}", mask_text(n, first, no_mask)));
                b.run(c.pred("p", p).pred("q", q).pred_out("d", d, d & !lanes | z & lanes).em(em));
            }
        }
    }
}

/// Shifts: the last 5 bits of the count, or 6 for 64-bit destinations.
fn shifts() {
    let mut b = Bench::new(Platform::Skl);
    let count = |v: &Val, bits: i128| (v.bits as i128 & (bits - 1)) as u32;
    let unsigned = &[Ud, Uw, Ub];
    let signed = &[D, W, B];
    over(&mut b, "shl", INT32, INT32, 2, &[], &|v| v[0].i << count(&v[1], 32));
    over(&mut b, "shr", unsigned, unsigned, 2, &[], &|v| v[0].i >> count(&v[1], 32));
    over(&mut b, "asr", signed, signed, 2, &[], &|v| v[0].i >> count(&v[1], 32));
    over(&mut b, "shl", &[Q, Uq], &[Q, Uq], 2, &[], &|v| v[0].i << count(&v[1], 64));
    over(&mut b, "shr", &[Uq], &[Uq], 2, &[], &|v| v[0].i >> count(&v[1], 64));
    over(&mut b, "asr", &[Q], &[Q, D, W], 2, &[], &|v| v[0].i >> count(&v[1], 64));
    // Saturation: as long as the result has 33 bits.
    for d in INT32 {
        for t in [D, W, B, Ud, Uw, Ub] {
            let model = |v: &[Val], _: Mode| {
                let x = v[0].i << count(&v[1], 32);
                let undefined = !(-(1i128 << 32)..1i128 << 33).contains(&x);
                (d.wrap(x, true), if undefined { Cmp::Any } else { Cmp::Bits })
            };
            let srcs = &[t, Ud];
            let small = |r: &mut Rng, w: usize| if w == 1 { r.below(6) as u64 } else { r.value(t) };
            some(&mut b, &Spec { sat: true, values: Some(&small), ..Spec::new("shl", *d, srcs, &model) }, 6);
        }
    }
}

fn rotations() {
    let rol = |t: T, v: &[Val]| {
        let (x, n) = (v[0].bits & t.mask(), (v[1].bits as u32) & (t.bits() - 1));
        ((x as u128) << n | (x >> ((t.bits() - n) & (t.bits() - 1))) as u128 & !(u128::MAX << n)) as u64
            & t.mask()
    };
    let mut b = Bench::new(Platform::Tgllp);
    let mut wide = Bench::new(Platform::Pvc);
    for (b, types, grf) in [(&mut b, &[Ud, D, Uw, W][..], 32), (&mut wide, &[Uq, Q, Ud, Uw][..], 64)] {
        for t in types {
            let left = |v: &[Val], _: Mode| (rol(*t, v), Cmp::Bits);
            let right = |v: &[Val], _: Mode| {
                let back = Val { bits: (v[1].bits as u32).wrapping_neg() as u64, ..v[1] };
                (rol(*t, &[v[0], back]), Cmp::Bits)
            };
            let srcs = &[*t, *t];
            for seed in 0..2 {
                grid(b, &Spec { seed, grf, ..Spec::new("rol", *t, srcs, &left) });
                grid(b, &Spec { seed, grf, ..Spec::new("ror", *t, srcs, &right) });
            }
        }
    }
}

fn bit_fields() {
    let mut b = Bench::new(Platform::Skl);
    let part = |v: &Val| v.bits as u32 & 31;
    for t in [Ud, D] {
        let bfe = |v: &[Val], _: Mode| {
            let (width, offset) = (part(&v[0]), part(&v[1]));
            let x = (v[2].bits as u32 as u64 >> offset) & ((1 << width) - 1);
            // A field that passes the top has zeros, or the sign: what hardware does with it no page says.
            let past = width + offset > 32;
            let sign = t == D && width > 0 && x >> (width - 1) & 1 != 0;
            let x = if sign { x | u64::MAX << width } else { x } & 0xffff_ffff;
            (x, if past { Cmp::Any } else { Cmp::Bits })
        };
        let bfi = |v: &[Val], _: Mode| {
            let (width, offset) = (part(&v[0]), part(&v[1]));
            let mask = (((1u64 << width) - 1) << offset) as u32;
            let (x, y) = (v[2].bits as u32, v[3].bits as u32);
            (((x << offset) & mask | y & !mask) as u64, Cmp::Bits)
        };
        for seed in 0..4 {
            // Restriction of both pages: no size of 2, aligned to 16 bytes.
            let sizes = 0x3d;
            let small = |r: &mut Rng, w: usize| if w < 2 { r.below(20) as u64 } else { r.value(t) };
            let three = &[t, t, t];
            let spec = Spec::new("bfe", t, three, &bfe);
            let values: Option<&dyn Fn(&mut Rng, usize) -> u64> = if seed < 2 { Some(&small) } else { None };
            grid(&mut b, &Spec { seed, sizes, values, align16: true, indirect: false, ..spec });
            let four = &[t, t, t, t];
            let spec = Spec::new("bfi", t, four, &bfi);
            grid(&mut b, &Spec { seed, sizes, values, align16: true, indirect: false, ..spec });
        }
    }
}

fn counts() {
    let mut b = Bench::new(Platform::Skl);
    let ones = |x: u32, bit: u32, shl: bool| {
        let (mut n, mut x) = (0, x);
        let probe = if shl { 1 << 31 } else { 1 };
        while (x & probe != 0) == (bit != 0) && n != 32 {
            n += 1;
            x = if shl { x << 1 } else { x >> 1 };
        }
        n
    };
    const NONE: u64 = 0xffff_ffff;
    let reverse = |v: &[Val], _: Mode| {
        let x = v[0].bits as u32;
        ((0..32).fold(0u32, |m, i| m | (x >> i & 1) << (31 - i)) as u64, Cmp::Bits)
    };
    let fbl = |v: &[Val], _: Mode| {
        (if v[0].bits == 0 { NONE } else { ones(v[0].bits as u32, 0, false) }, Cmp::Bits)
    };
    let fbh = |v: &[Val], _: Mode| {
        let x = v[0].bits as u32;
        let n = match v[0].t {
            Ud => ones(x, 0, true),
            _ => ones(x, x >> 31, true),
        };
        let none = x == 0 || v[0].t == D && x == u32::MAX;
        (if none { NONE } else { n }, Cmp::Bits)
    };
    let cbit = |v: &[Val], _: Mode| {
        let all = v[0].bits & v[0].t.mask();
        ((0..64).map(|i| all >> i & 1).sum(), Cmp::Bits)
    };
    for seed in 0..3 {
        grid(&mut b, &Spec { seed, ..Spec::new("bfrev", Ud, &[Ud], &reverse) });
        grid(&mut b, &Spec { seed, ..Spec::new("fbl", Ud, &[Ud], &fbl) });
        grid(&mut b, &Spec { seed, ..Spec::new("fbh", Ud, &[Ud], &fbh) });
        grid(&mut b, &Spec { seed, ..Spec::new("fbh", Ud, &[D], &fbh) });
        for t in [Ud, Uw, Ub] {
            grid(&mut b, &Spec { seed, ..Spec::new("cbit", Ud, &[t], &cbit) });
        }
    }
}

/// Every truth table.
fn bfn() {
    let mut b = Bench::new(Platform::Dg2);
    for table in 0..256u32 {
        let text = format!("bfn.x{table:x}");
        for (d, t) in [(Ud, Ud), ([D, Uw, W][table as usize % 3], [Uw, W, D][table as usize / 3 % 3])] {
            let model = |v: &[Val], _: Mode| {
                let mut out = 0u64;
                for i in 0..d.bits() {
                    let bit = |k: usize| (v[k].i >> i) as u32 & 1;
                    out |= ((table >> (bit(0) + 2 * bit(1) + 4 * bit(2)) & 1) as u64) << i;
                }
                (out, Cmp::Bits)
            };
            let srcs = &[t, t, t];
            some(&mut b, &Spec { seed: table as u64, ..Spec::new(&text, d, srcs, &model) }, 3);
        }
    }
}

crate::coverage::pages! {
    bitwise predicates shifts rotations bit_fields counts bfn
}
