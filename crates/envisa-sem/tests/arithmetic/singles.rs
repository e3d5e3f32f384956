//! The math unit over singles: the error of every function, in units in the last place, against the host's
//! doubles, and the same bits from every kind of lanes. Over every value by
//! `cargo test --release -p envisa-sem --test arithmetic -- --ignored singles`, which also holds docs/MATH.md (written
//! with `BLESS=1`; `SINGLES=sin,cos` visits and writes these alone, `STRIDE=61` one of so many values); over one
//! of some thousand always.

use std::fmt::Write;
use std::ops::Range;

use envisa_sem::lanes::Host;
use envisa_sem::math::Function;
use envisa_smith::generate::Rng;

/// What is stated of a function.
struct Stated {
    function: Function,
    /// In doubles.
    exact: fn(f64, f64) -> f64,
    /// What a negative argument gives: the reference's value, or that of the positive one.
    mirror: Mirror,
    /// No error is larger where the result is a normal number, and where it is not.
    limits: [f64; 2],
}

#[derive(Clone, Copy, PartialEq)]
enum Mirror {
    None,
    Even,
    Odd,
}

const STATED: [Stated; 9] = [
    stated(Function::Inv, |x, _| 1.0 / x, Mirror::Odd, [0.5001, 0.5001]),
    stated(Function::Rsqrt, |x, _| 1.0 / x.sqrt(), Mirror::None, [0.995, 0.0]),
    stated(Function::Exp, |x, _| x.exp2(), Mirror::None, [0.78, 0.9]),
    stated(Function::Log, |x, _| x.log2(), Mirror::None, [0.96, 0.0]),
    stated(Function::Sin, |x, _| x.sin(), Mirror::Odd, [0.78, 0.5001]),
    stated(Function::Cos, |x, _| x.cos(), Mirror::Even, [0.78, 0.0]),
    stated(Function::Tanh, |x, _| x.tanh(), Mirror::Odd, [0.78, 0.5001]),
    stated(Function::Sigm, |x, _| 1.0 / (1.0 + (-x).exp()), Mirror::None, [0.7, 0.8]),
    stated(Function::Pow, |x, y| x.powf(y), Mirror::None, [0.7, 0.8]),
];

const fn stated(function: Function, exact: fn(f64, f64) -> f64, mirror: Mirror, limits: [f64; 2]) -> Stated {
    Stated { function, exact, mirror, limits }
}

/// The largest error and where it is.
#[derive(Clone, Copy, Default)]
struct Worst {
    error: f64,
    at: [u32; 2],
}

impl Worst {
    fn see(&mut self, error: f64, at: [u32; 2]) {
        if error > self.error {
            *self = Worst { error, at };
        }
    }
}

/// What a walk over values found.
#[derive(Clone, Copy, Default)]
struct Found {
    normal: Worst,
    denormal: Worst,
    /// Results that are not the nearest single.
    off: u64,
    seen: u64,
}

impl Found {
    fn merge(&mut self, other: &Found) {
        self.normal.see(other.normal.error, other.normal.at);
        self.denormal.see(other.denormal.error, other.denormal.at);
        self.off += other.off;
        self.seen += other.seen;
    }

    /// Looks at one result.
    fn see(&mut self, got: u32, want: f64, at: [u32; 2]) {
        let (y, near) = (f32::from_bits(got), want as f32);
        self.seen += 1;
        if y == near {
            // At most half a unit: only larger errors are of interest. But zeros have signs.
            if y.is_sign_negative() != near.is_sign_negative() {
                self.normal.see(f64::INFINITY, at);
            }
            return;
        }
        if y.is_nan() && near.is_nan() {
            return;
        }
        self.off += 1;
        if !y.is_finite() || !near.is_finite() {
            // Next to the largest finite number both count as numbers.
            let beyond = (want.abs() - f32::MAX as f64) / 2f64.powi(104);
            let close = y.abs() >= f32::MAX && near.abs() >= f32::MAX && (y > 0.0) == (near > 0.0);
            self.normal.see(if close { beyond.abs() } else { f64::INFINITY }, at);
            return;
        }
        let power = f32::from_bits(near.to_bits() & 0x7f80_0000) as f64;
        let unit = (power * f32::EPSILON as f64).max(f32::from_bits(1) as f64);
        let error = (y as f64 - want).abs() / unit;
        if near.is_normal() { self.normal.see(error, at) } else { self.denormal.see(error, at) }
    }
}

const CHUNK: usize = 256;

/// The function of each pair, the same by all lanes.
fn values(f: Function, hosts: &[Host], x: &[u32; CHUNK], y: &[u32; CHUNK]) -> [u32; CHUNK] {
    let mut first = [0; CHUNK];
    f.map(hosts[0], x, y, &mut first);
    for host in &hosts[1..] {
        let mut other = [0; CHUNK];
        f.map(*host, x, y, &mut other);
        if first != other {
            let i = (0..CHUNK).find(|i| first[*i] != other[*i]).unwrap();
            let (a, b) = (first[i], other[i]);
            panic!("{}({:#x}, {:#x}): {a:#x}, {b:#x} by {host:?}", f.name(), x[i], y[i]);
        }
    }
    first
}

/// Every `stride`th value of a range.
fn walk(s: &Stated, hosts: &[Host], range: Range<u64>, stride: u64) -> Found {
    let mut found = Found::default();
    let mut next = range.start;
    while next < range.end {
        let x: [u32; CHUNK] = std::array::from_fn(|i| (next + i as u64 * stride) as u32);
        let n = ((range.end - next).div_ceil(stride) as usize).min(CHUNK);
        let r = values(s.function, hosts, &x, &[0; CHUNK]);
        if s.mirror != Mirror::None && x[0] >> 31 != 0 {
            // Of these the positive ones are held against the reference.
            let positive = values(s.function, hosts, &x.map(|x| x ^ 1 << 31), &[0; CHUNK]);
            let sign = if s.mirror == Mirror::Odd { 1 << 31 } else { 0 };
            for i in 0..n {
                let same = r[i] == positive[i] ^ sign;
                let nan = f32::from_bits(r[i]).is_nan() && f32::from_bits(positive[i]).is_nan();
                assert!(same || nan, "{}({:#x})", s.function.name(), x[i]);
            }
        } else {
            for i in 0..n {
                found.see(r[i], (s.exact)(f32::from_bits(x[i]) as f64, 0.0), [x[i], 0]);
            }
        }
        next += CHUNK as u64 * stride;
    }
    found
}

/// Values at which powers are special.
const EDGES: [f32; 36] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    -2.0,
    3.0,
    -3.0,
    0.5,
    -0.5,
    1.5,
    -2.5,
    4.0,
    -5.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    1e-45,
    -1e-45,
    1e-40,
    0.999_999_94,
    -0.999_999_94,
    1.000_000_1,
    -1.000_000_1,
    8_388_607.5,
    -8_388_607.0,
    16_777_215.0,
    -16_777_215.0,
    16_777_216.0,
    -16_777_217.0,
    1e30,
    -1e30,
];

/// Pairs for `pow`: edges, integral exponents of all bases, bases near 1, and exponents that make any result.
fn pair(r: &mut Rng) -> [u32; 2] {
    let (a, b) = (r.bits(), r.bits());
    let any = f32::from_bits(a as u32);
    let fraction = (b as i32) as f32 / 2f32.powi(31);
    let fitting = |x: f32| ((fraction as f64) * 152.0 / (x.abs() as f64).log2()) as f32;
    let (x, y) = match a >> 32 & 15 {
        0 => (EDGES[(b >> 32) as usize % EDGES.len()], EDGES[b as u32 as usize % EDGES.len()]),
        1 => (any, EDGES[b as usize % EDGES.len()]),
        2 => (EDGES[b as usize % EDGES.len()], any),
        3 => (any, f32::from_bits(b as u32)),
        4 | 5 => (any, (b as i32 >> 24) as f32),
        6 | 7 => (f32::from_bits(0x3f00_0000 + (a as u32 & 0xff_ffff)), fraction * 64.0),
        // Next to multiples of sixteenths, where the logarithm's table changes.
        10 | 11 => {
            let x = 1.0 + (1 + (a as u32 & 15)) as f32 / 16.0 + (a as i32 >> 14) as f32 / 2f32.powi(31);
            (x, fitting(x))
        }
        8 | 9 => {
            let x = 1.0 + (a as i32 >> 8) as f32 / 2f32.powi(30);
            (x, fitting(x))
        }
        _ => (any.abs(), fitting(any)),
    };
    [x.to_bits(), y.to_bits()]
}

/// Random pairs.
fn pairs(s: &Stated, hosts: &[Host], seed: u64, count: u64) -> Found {
    let (mut found, mut r) = (Found::default(), Rng::new(seed));
    for _ in 0..count.div_ceil(CHUNK as u64) {
        let (mut x, mut y) = ([0; CHUNK], [0; CHUNK]);
        for i in 0..CHUNK {
            [x[i], y[i]] = pair(&mut r);
        }
        let z = values(s.function, hosts, &x, &y);
        for i in 0..CHUNK {
            let want = (s.exact)(f32::from_bits(x[i]) as f64, f32::from_bits(y[i]) as f64);
            found.see(z[i], want, [x[i], y[i]]);
        }
    }
    found
}

/// All of a function that is looked at, on `threads`.
fn survey(s: &Stated, stride: u64, threads: u64) -> Found {
    let hosts = Host::all();
    // The lanes of a vector first: where there are some, the one by one of a build without fused
    // multiply-add is too slow for every value, and takes part in the strided walk.
    let hosts = if stride == 1 && hosts.len() > 1 { &hosts[1..] } else { &hosts[..] };
    let mut found = Found::default();
    let all = 1u64 << 32;
    // In pieces, so that no thread is left with the slow end.
    let pieces = 16;
    std::thread::scope(|scope| {
        let run = |t: u64| {
            let mut found = Found::default();
            for p in (0..pieces).filter(|p| p % threads == t) {
                found.merge(&if s.function.is_binary() {
                    pairs(s, hosts, p, 1_000_000_000 / stride / pieces)
                } else {
                    // Each piece starts at a multiple of the stride within the walk over all.
                    let start = (all / pieces * p).next_multiple_of(stride);
                    walk(s, hosts, start..all / pieces * (p + 1), stride)
                });
            }
            found
        };
        let handles: Vec<_> = (0..threads).map(|t| scope.spawn(move || run(t))).collect();
        for h in handles {
            found.merge(&h.join().expect("no lanes disagree"));
        }
    });
    found
}

fn hold(s: &Stated, found: &Found) {
    let name = s.function.name();
    for (limit, worst) in s.limits.iter().zip([found.normal, found.denormal]) {
        let [x, y] = worst.at;
        assert!(worst.error <= *limit, "{name}({x:#x}, {y:#x}): {} units", worst.error);
    }
    assert!(found.seen > 0);
}

#[test]
fn errors_are_as_stated() {
    // A prime, so that all low bits occur.
    let stride = if cfg!(debug_assertions) { 30_011 } else { 1_009 };
    for s in &STATED {
        hold(s, &survey(s, stride, 1));
    }
}

/// The page with these rows of its table.
fn document(rows: &str) -> String {
    format!(
        "\
# Errors of the math unit

Generated by `BLESS=1 cargo test --release -p envisa-sem --test arithmetic -- --ignored singles`. Without `BLESS`, the test fails if
this page is out of date. It always fails if an error exceeds the bound stated in the code, or if any result differs in a
bit between scalar code, AVX2 and AVX-512.

In single precision, `inv`, `rsqrt`, `exp`, `log`, `pow`, `sin`, `cos`, `tanh` and `sigm` are sequences of IEEE 754
operations with fused multiply-add ([source](../crates/envisa-sem/src/math/single/mod.rs)). They give the same bits in
scalar code, in vectors of AVX2 and of AVX-512, and in native code, which
`cargo test --release -p envisa --test native -- --ignored math_unit` tests.

Errors are given in units in the last place of the exact result, which the host's library computes in double precision.
With an error of at most 0.5, a result is the nearest single. Functions of one argument are evaluated at singles of either
sign, and at all 2^32 of them if the table says \"every value\" (for an odd or even function, the results of negative arguments are
compared with those of positive ones). `pow` is evaluated at pairs: edge cases, integral exponents, bases near 1 and near
sixteenths, and exponents that give results of every magnitude. In `hf`, a function is computed in `f` and rounded once more.

| function | largest error | at | where the result is denormal | at | not the nearest | visited |
| --- | --- | --- | --- | --- | --- | --- |
{rows}"
    )
}

/// Every value of every function, and the table of docs/MATH.md.
#[test]
#[ignore = "visits all 2^32 singles of each function: minutes, in a release build"]
fn errors_of_every_value() {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let only = std::env::var("SINGLES").unwrap_or_default();
    let stride = std::env::var("STRIDE").map_or(1, |s| s.parse().expect("STRIDE is a number from 1"));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/MATH.md");
    let old = std::fs::read_to_string(path).unwrap_or_default();
    let (mut rows, mut all) = (String::new(), Vec::new());
    for s in &STATED {
        let name = s.function.name();
        if !only.is_empty() && only.split(',').all(|n| n != name) {
            let row = old.lines().find(|l| l.starts_with(&format!("| {name} |")));
            writeln!(rows, "{}", row.unwrap_or_default()).unwrap();
            continue;
        }
        let found = survey(s, stride, threads);
        let cell = |w: Worst| match (w.error > 0.0, s.function.is_binary()) {
            (false, _) => ["at most 0.5".to_string(), "–".to_string()],
            (true, false) => [format!("{:.4}", w.error), format!("{:e}", f32::from_bits(w.at[0]))],
            (true, true) => {
                let [x, y] = w.at.map(f32::from_bits);
                [format!("{:.4}", w.error), format!("{x:e}^{y:e}")]
            }
        };
        let ([a, b], [c, d]) = (cell(found.normal), cell(found.denormal));
        let off = 100.0 * found.off as f64 / found.seen as f64;
        let seen = match (stride, s.function.is_binary()) {
            (_, true) => format!("{} pairs", found.seen),
            (1, _) => "every value".to_string(),
            _ => format!("one value of {stride}"),
        };
        writeln!(rows, "| {name} | {a} | {b} | {c} | {d} | {off:.4} % | {seen} |").unwrap();
        println!("{}", rows.lines().last().unwrap());
        all.push((s, found));
    }
    let text = document(&rows);
    for (s, found) in all {
        hold(s, &found);
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, text).expect("docs/MATH.md is written");
    } else {
        assert!(old == text, "docs/MATH.md is stale:\n{text}");
    }
}
