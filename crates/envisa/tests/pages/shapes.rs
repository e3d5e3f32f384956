//! The dimensions every vector instruction has: sizes, masks, predicates, regions, modifiers, immediates.

use crate::harness::{Bench, Case, Cmp};
use crate::model::*;

/// A source's value in a channel, its modifier applied.
#[derive(Clone, Copy, Debug)]
pub struct Val {
    /// Its type.
    pub t: T,
    /// Its bits: of a float with the modifier applied, of an integer without.
    pub bits: u64,
    /// An integer's value, exactly, the modifier applied.
    pub i: i128,
}

impl Val {
    /// A float's value as an operation in this mode sees it.
    pub fn num(&self, m: Mode) -> Num {
        decode(self.t, m.flush(self.t, self.bits))
    }
}

type Model<'a> = &'a dyn Fn(&[Val], Mode) -> (u64, Cmp);

/// A vector instruction with one destination.
pub struct Spec<'a> {
    /// What stands before the execution size: `add`, `cmp.lt`.
    pub text: &'a str,
    /// `.sat`: the model is told by its closure.
    pub sat: bool,
    pub dst: T,
    pub srcs: &'a [T],
    /// Modifiers that may stand before a source.
    pub mods: &'a [&'a str],
    /// May sources be immediates?
    pub imm: bool,
    /// May operands be indirect?
    pub indirect: bool,
    pub pred: bool,
    /// Bits of log2 of the legal sizes.
    pub sizes: u8,
    pub modes: &'a [Mode],
    pub model: Model<'a>,
    /// Values for the sources; the default is [`Rng::value`].
    pub values: Option<&'a dyn Fn(&mut Rng, usize) -> u64>,
    /// A model that sees every channel of every source, and which channel it is asked for.
    pub lanes: Option<&'a dyn Fn(&[Vec<Val>], usize) -> (u64, Cmp)>,
    /// A second destination, contiguous, and what it gets.
    pub second: Option<(T, &'a dyn Fn(&[Val]) -> u64)>,
    /// Another seed gives other values.
    pub seed: u64,
    /// Bytes in a register of the platform.
    pub grf: usize,
    /// The destination and sources are contiguous or scalar, aligned to 16 bytes.
    pub align16: bool,
    /// Text after the sources.
    pub tail: &'a str,
}

impl<'a> Spec<'a> {
    pub fn new(text: &'a str, dst: T, srcs: &'a [T], model: Model<'a>) -> Spec<'a> {
        Spec {
            text,
            sat: false,
            dst,
            srcs,
            mods: &[],
            imm: true,
            indirect: true,
            pred: true,
            sizes: 0x3f,
            modes: &[IEEE],
            model,
            values: None,
            lanes: None,
            second: None,
            seed: 1,
            grf: 32,
            align16: false,
            tail: "",
        }
    }
}

/// A place in the execution mask: size, first channel.
pub fn places(sizes: u8) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    for log in 0..6 {
        if sizes >> log & 1 == 0 {
            continue;
        }
        let n = 1usize << log;
        out.extend((0..32).step_by(n.max(4)).map(|first| (n, first)));
    }
    out
}

/// `M1` to `M8`, with `_NM` if the mask is ignored.
pub fn mask_text(n: usize, first: usize, no_mask: bool) -> String {
    format!("(M{}{},{n})", first / 4 + 1, if no_mask { "_NM" } else { "" })
}

/// Channels that are enabled (chapter 5, `EvaluateChEn`).
pub fn enabled(n: usize, first: usize, no_mask: bool, em: u32, pred: Option<(u32, &str)>) -> Vec<bool> {
    let mut on: Vec<bool> = (0..n).map(|i| no_mask || em >> (first + i) & 1 != 0).collect();
    if let Some((bits, form)) = pred {
        let mut p: Vec<bool> = (0..n).map(|i| bits >> (first + i) & 1 != 0).collect();
        if form.contains(".any") {
            p = vec![p.iter().any(|x| *x); n];
        }
        if form.contains(".all") {
            p = vec![p.iter().all(|x| *x); n];
        }
        if form.contains('!') {
            p.iter_mut().for_each(|x| *x = !*x);
        }
        on.iter_mut().zip(p).for_each(|(o, p)| *o &= p);
    }
    on
}

/// How predicates are written.
pub const PRED_FORMS: [&str; 6] = ["($p)", "(!$p)", "($p.any)", "($p.all)", "(!$p.any)", "(!$p.all)"];

/// A predicate value that makes the forms differ: all, none, or mixed over these channels.
pub fn pred_bits(r: &mut Rng, n: usize, first: usize) -> u32 {
    let lanes = ((1u64 << n) - 1) as u32;
    let any = r.next() as u32;
    match r.below(4) {
        0 => any | lanes.rotate_left(first as u32),
        1 => any & !lanes.rotate_left(first as u32),
        _ => any,
    }
}

/// `V(row,col)` of an element.
pub fn origin(name: &str, t: T, element: usize, grf: usize) -> String {
    let per = grf / t.size();
    format!("${name}({},{})", element / per, element % per)
}

/// The element a channel takes from a region.
pub fn element(i: usize, v: usize, w: usize, h: usize) -> usize {
    i / w * v + i % w * h
}

/// Text of an immediate.
pub fn immediate(t: T, bits: u64) -> String {
    match t {
        B | W | D => format!("{}:{}", t.int(bits), t.name()),
        _ => format!("0x{bits:x}:{}", t.name()),
    }
}

use T::*;

/// Regions `<v;w,h>` that a source of `n` channels can have.
fn regions(n: usize) -> Vec<(usize, usize, usize)> {
    let mut all = vec![(1, 1, 0), (0, 1, 0), (2, 1, 0), (4, 1, 0)];
    for (v, w, h) in [
        (2, 2, 1),
        (0, 2, 1),
        (4, 2, 2),
        (4, 4, 1),
        (0, 4, 1),
        (8, 4, 2),
        (1, 4, 0),
        (8, 8, 1),
        (0, 8, 1),
        (16, 8, 2),
        (16, 16, 1),
        (1, 2, 4),
        (0, 16, 1),
    ] {
        if w <= n {
            all.push((v, w, h));
        }
    }
    all
}

/// Puts a source into a case: its text, and its raw bits by channel.
fn source(
    c: Case,
    name: &str,
    t: T,
    n: usize,
    spec: &Spec<'_>,
    which: usize,
    r: &mut Rng,
) -> (Case, String, Vec<u64>) {
    let value = |r: &mut Rng| match spec.values {
        Some(f) => f(r, which) & t.mask(),
        None => r.value(t),
    };
    let pick = r.below(12);
    if spec.imm && pick == 0 && t != Bf && which + 1 == spec.srcs.len() {
        let mut x = value(r);
        // The text's NaNs pass through the host.
        while t.is_float() && t.is_nan(x) {
            x = value(r);
        }
        return (c, immediate(t, x), vec![x; n]);
    }
    // What one instruction may touch: two registers.
    let fits = |last: usize| (last + 1) * t.size() <= 2 * spec.grf || n * t.size() > 2 * spec.grf;
    if spec.indirect && (pick == 1 || pick == 2) && t.size() > 1 && !spec.align16 {
        // A region without rows of its own needs as many addresses as channels.
        let multi = pick == 2 && n <= 16;
        let legal: Vec<_> = regions(n)
            .into_iter()
            .filter(|(v, w, h)| {
                fits((0..n).map(|i| element(i, *v, *w, *h)).max().unwrap_or(0))
                    && (!multi || n / w <= 8 && (*v, *h) != (1, 0))
            })
            .collect();
        let (v, w, h) = r.pick(&legal);
        let len = 4 * 32 + 8;
        let values: Vec<u64> = (0..len).map(|_| value(r)).collect();
        let a = format!("a{name}");
        let mut c = c.var(name, t, &values).address(&a);
        let offset = [0i64, t.size() as i64, -(t.size() as i64)][r.below(3)];
        let at = |k: usize, c: Case, r: &mut Rng| {
            let start = 1 + r.below(4);
            let base = start as i64 * t.size() as i64 - offset;
            (c.before(&format!("addr_add (M1_NM,1) ${a}({k})<1> &${name}[0] {base}:uw")), start)
        };
        let mut out = Vec::new();

        let text = if multi {
            let mut starts = Vec::new();
            for k in 0..n / w {
                let (next, start) = at(k, c, r);
                c = next;
                starts.push(start);
            }
            out.extend((0..n).map(|i| values[starts[i / w] + i % w * h]));
            format!("r[${a}(0),{offset}]<{w},{h}>:{}", t.name())
        } else {
            let (next, start) = at(0, c, r);
            c = next;
            out.extend((0..n).map(|i| values[start + element(i, v, w, h)]));
            format!("r[${a}(0),{offset}]<{v};{w},{h}>:{}", t.name())
        };
        return (c, text, out);
    }
    let legal: Vec<_> = if spec.align16 { vec![(1, 1, 0), (0, 1, 0)] } else { regions(n) }
        .into_iter()
        .filter(|(v, w, h)| fits((0..n).map(|i| element(i, *v, *w, *h)).max().unwrap_or(0)))
        .collect();
    let (v, w, h) = r.pick(&legal);
    let last = (0..n).map(|i| element(i, v, w, h)).max().unwrap_or(0);
    let start = if spec.align16 || (last + 1) * t.size() > spec.grf { 0 } else { r.below(3) };
    let values: Vec<u64> = (0..start + last + 1).map(|_| value(r)).collect();
    let text = format!("{}<{v};{w},{h}>", origin(name, t, start, spec.grf));
    let out = (0..n).map(|i| values[start + element(i, v, w, h)]).collect();
    (c.var(name, t, &values), text, out)
}

/// A modifier applied.
fn modified(t: T, bits: u64, m: &str) -> Val {
    let i = if t.is_float() { 0 } else { t.int(bits) };
    match m {
        "(-)" if t.is_float() => Val { t, bits: bits ^ t.sign(), i },
        "(abs)" if t.is_float() => Val { t, bits: bits & !t.sign(), i },
        "(-abs)" if t.is_float() => Val { t, bits: bits | t.sign(), i },
        "(-)" => Val { t, bits, i: -i },
        "(abs)" => Val { t, bits, i: i.abs() },
        "(-abs)" => Val { t, bits, i: -i.abs() },
        "(~)" => Val { t, bits: !bits & t.mask(), i: t.int(!bits & t.mask()) },
        _ => Val { t, bits, i },
    }
}

/// Runs an instruction over every place in the execution mask, all else drawn.
pub fn grid(b: &mut Bench, spec: &Spec<'_>) {
    let all = places(spec.sizes);
    for (k, place) in all.iter().enumerate() {
        one(b, spec, *place, k);
    }
}

/// Runs an instruction over this many places.
pub fn some(b: &mut Bench, spec: &Spec<'_>, count: usize) {
    let all = places(spec.sizes);
    let mut r = Rng(spec.seed ^ 77);
    for k in 0..count {
        let place = r.pick(&all);
        one(b, spec, place, k + 100);
    }
}

/// One case at a place.
pub fn one(b: &mut Bench, spec: &Spec<'_>, (n, first): (usize, usize), k: usize) {
    let mut r =
        Rng(spec.seed.wrapping_mul(1009) ^ (k as u64) << 20 ^ text_seed(spec.text, spec.dst, spec.srcs));
    let no_mask = r.below(3) == 0;
    let em = match r.below(4) {
        0 => u32::MAX,
        1 => r.next() as u32 | 1 << first,
        _ => r.next() as u32,
    };
    let mode = spec.modes[k % spec.modes.len()];
    let pred =
        spec.pred.then(|| (pred_bits(&mut r, n, first), PRED_FORMS[r.below(6)])).filter(|_| r.below(2) == 0);
    let on = enabled(n, first, no_mask, em, pred);
    let mut c = Case::new("").em(em).mode(mode);
    let (mut texts, mut values) = (Vec::new(), Vec::new());
    for (i, t) in spec.srcs.iter().enumerate() {
        let (next, text, bits) = source(c, &format!("s{i}"), *t, n, spec, i, &mut r);
        c = next;
        let immediate = !text.contains('$');
        let md = if spec.mods.is_empty() || immediate || r.below(3) != 0 { "" } else { r.pick(spec.mods) };
        // The least value has no counterpart in its own type: what its negation is, no page says.
        let md =
            if md != "(~)" && !t.is_float() && bits.iter().any(|x| t.int(*x) == t.least()) { "" } else { md };
        texts.push(format!("{md}{text}"));
        values.push(bits.iter().map(|x| modified(*t, *x, md)).collect::<Vec<Val>>());
    }
    let d = spec.dst;
    let wide = n * d.size() > spec.grf;
    let stride = if wide || spec.align16 { 1 } else { r.pick(&[1, 1, 2, 4]) };
    let stride = if (n - 1) * stride * d.size() >= 2 * spec.grf { 1 } else { stride };
    let start = if wide || stride > 1 || spec.align16 { 0 } else { r.below(3) };
    let start = if (start + (n - 1) * stride + 1) * d.size() > spec.grf { 0 } else { start };
    let before: Vec<u64> = (0..start + (n - 1) * stride + 2).map(|_| r.next() & d.mask()).collect();
    let mut after: Vec<(u64, Cmp)> = before.iter().map(|x| (*x, Cmp::Bits)).collect();
    for i in 0..n {
        if on[i] {
            let v: Vec<Val> = values.iter().map(|s| s[i]).collect();
            after[start + i * stride] = match spec.lanes {
                Some(f) => f(&values, i),
                None => (spec.model)(&v, mode),
            };
        }
    }
    let dst = if spec.indirect && !spec.align16 && d.size() > 1 && r.below(6) == 0 {
        c = c.address("ad").before(&format!("addr_add (M1_NM,1) $ad(3)<1> &$d[0] {}:uw", start * d.size()));
        format!("r[$ad(3),0]<{stride}>:{}", d.name())
    } else {
        format!("{}<{stride}>", origin("d", d, start, spec.grf))
    };
    let mut dst = dst;
    if let Some((t, f)) = spec.second {
        let before: Vec<u64> = (0..n + 1).map(|_| r.next() & t.mask()).collect();
        let lane = |i: usize| f(&values.iter().map(|s| s[i]).collect::<Vec<Val>>());
        let after: Vec<u64> = (0..n + 1).map(|i| if i < n && on[i] { lane(i) } else { before[i] }).collect();
        c = c.bits("e", t, &before, &after);
        dst += " $e(0,0)<1>";
    }
    let p = pred.map_or("", |p| p.1);
    if let Some((bits, _)) = pred {
        c = c.pred("p", bits);
    }
    let sat = if spec.sat { ".sat" } else { "" };
    let text = format!(
        "{p} {}{sat} {} {dst} {} {}",
        spec.text,
        mask_text(n, first, no_mask),
        texts.join(" "),
        spec.tail
    );
    let c = c.out("d", d, &before, &after);
    b.run(c.with_text(text.trim()));
}

fn text_seed(text: &str, dst: T, srcs: &[T]) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325u64 ^ dst as u64;
    for b in text.bytes().chain(srcs.iter().map(|t| *t as u8)) {
        h = (h ^ b as u64).wrapping_mul(0x100_0000_01b3);
    }
    h
}
