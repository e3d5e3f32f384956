//! The numbers of the pages are the model's; here it is held against the host.

pub use envisa_model::num::*;

use T::*;

/// Self-checks of the model against the host, where the host knows the answer.
fn the_model_agrees_with_the_host() {
    let mut r = Rng(1);
    for _ in 0..3000 {
        let (a, b, c) = (r.value(F), r.value(F), r.value(F));
        let (x, y, z) = (f32::from_bits(a as u32), f32::from_bits(b as u32), f32::from_bits(c as u32));
        let same = |m: u64, h: f32| {
            assert!(m == h.to_bits() as u64 || F.is_nan(m) && h.is_nan(), "{x:e} {y:e} {z:e}: {m:x} {h:e}");
        };
        let (p, q, s) = (decode(F, a), decode(F, b), decode(F, c));
        same(encode(F, &add(&p, &q, Rm::Even), Rm::Even), x + y);
        same(encode(F, &mul(&p, &q), Rm::Even), x * y);
        same(encode(F, &div(&p, &q), Rm::Even), x / y);
        same(encode(F, &sqrt(&p), Rm::Even), x.sqrt());
        same(encode(F, &add(&mul(&p, &q), &s, Rm::Even), Rm::Even), x.mul_add(y, z));
        assert_eq!(to_int(D, &p), x as i32 as u32 as u64);
        let d = f64::from_bits(r.value(Df));
        same(encode(F, &decode(Df, d.to_bits()), Rm::Even), d as f32);
    }
}

crate::coverage::pages! {
    the_model_agrees_with_the_host
}
