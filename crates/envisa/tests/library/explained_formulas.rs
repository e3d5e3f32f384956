//! The formulas that `envisa explain` shows, evaluated as they are written, against the model of the pages: what is
//! said of an instruction is what it does.

use envisa::isa::TABLE;
use envisa::isa::operation::Operation;
use envisa_model::eval;
use envisa_model::num::{Rng, T};
use envisa_model::program::{
    DEVICES, Dst, ELEMENTS, Exec, Guard, Home, Inst, Mod, Op, Place, Program, Src, Stmt, Var,
};
use envisa_model::random;
use std::collections::HashMap;

/// A word of a formula.
#[derive(Clone, PartialEq, Debug)]
enum Word {
    Number(i128),
    Name(String),
    Sign(&'static str),
}

const SIGNS: [&str; 23] = [
    "<<", ">>", "==", "..", "+", "-", "*", "/", "&", "|", "^", "~", "?", ":", "<", "(", ")", "[", "]", ",",
    "=", ";", ".",
];

fn words(text: &str) -> Vec<Word> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = |keep: fn(char) -> bool| rest.find(|c| !keep(c)).unwrap_or(rest.len());
        let taken = if c.is_whitespace() {
            1
        } else if c.is_ascii_digit() {
            let n = end(|c| c.is_ascii_alphanumeric());
            let (digits, radix) = rest[..n].strip_prefix("0x").map_or((&rest[..n], 10), |d| (d, 16));
            out.push(Word::Number(i128::from_str_radix(digits, radix).expect("a number")));
            n
        } else if c.is_ascii_alphabetic() {
            let n = end(|c| c.is_ascii_alphanumeric() || c == '_');
            out.push(Word::Name(rest[..n].to_owned()));
            n
        } else {
            let sign =
                SIGNS.iter().find(|s| rest.starts_with(**s)).unwrap_or_else(|| panic!("{rest:?} in {text}"));
            out.push(Word::Sign(sign));
            sign.len()
        };
        rest = &rest[taken..];
    }
    out
}

/// One channel's values, and how the formula's remarks ask to compute.
struct Channel {
    names: HashMap<String, i128>,
    /// The types of the sources.
    types: Vec<T>,
    dst: T,
    /// Shifts to the left stay in 32 bits, of this sign: a formula that counts on it says so by its widths.
    narrow: Option<T>,
}

struct Formula<'a> {
    words: &'a [Word],
    at: usize,
}

impl Formula<'_> {
    fn peek(&self) -> Option<&Word> {
        self.words.get(self.at)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Word::Sign(s)) if *s == sign);
        self.at += found as usize;
        found
    }

    fn expect(&mut self, sign: &str) {
        assert!(self.take(sign), "{sign} is missing at word {} of {:?}", self.at, self.words);
    }

    fn value(&mut self, c: &Channel) -> i128 {
        let condition = self.binary(c, 0);
        if !self.take("?") {
            return condition;
        }
        let yes = self.value(c);
        self.expect(":");
        let no = self.value(c);
        if condition != 0 { yes } else { no }
    }

    /// Operators as C binds them.
    fn binary(&mut self, c: &Channel, level: usize) -> i128 {
        const LEVELS: [&[&str]; 8] =
            [&["|"], &["^"], &["&"], &["=="], &["<"], &["<<", ">>"], &["+", "-"], &["*", "/"]];
        let Some(signs) = LEVELS.get(level) else { return self.unary(c) };
        let mut left = self.binary(c, level + 1);
        loop {
            let word = self.peek().cloned();
            let sign = match &word {
                Some(Word::Sign(s)) if signs.contains(s) => *s,
                Some(Word::Name(n)) if n == "mod" && level == 7 => "mod",
                _ => return left,
            };
            self.at += 1;
            let right = self.binary(c, level + 1);
            left = match sign {
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => (left == right) as i128,
                "<" => (left < right) as i128,
                // The side of a choice that is not taken may shift by anything.
                "<<" | ">>" if !(0..64).contains(&right) => 0,
                "<<" => match c.narrow {
                    Some(ty) => ty.int(ty.wrap(left << right, false)),
                    None => left << right,
                },
                ">>" => left >> right,
                "+" => left + right,
                "-" => left - right,
                // Products of 64-bit numbers keep the bits that count.
                "*" => left.wrapping_mul(right),
                "/" => left / right,
                "mod" => left.rem_euclid(right),
                other => panic!("{other}"),
            };
        }
    }

    fn unary(&mut self, c: &Channel) -> i128 {
        if self.take("~") {
            return !self.unary(c);
        }
        if self.take("-") {
            return -self.unary(c);
        }
        if self.take("(") {
            let x = self.value(c);
            self.expect(")");
            return x;
        }
        let word = self.peek().cloned();
        self.at += 1;
        match word {
            Some(Word::Number(n)) => n,
            Some(Word::Name(name)) if self.take("(") => self.call(&name, c),
            Some(Word::Name(name)) => self.variable(&name, c),
            other => panic!("{other:?} in {:?}", self.words),
        }
    }

    /// `src1[i]`, `src1[i].bit[k]`, `src1[i].byte[k]`, a name.
    fn variable(&mut self, name: &str, c: &Channel) -> i128 {
        let x = *c.names.get(name).unwrap_or_else(|| panic!("what is {name} in {:?}?", self.words));
        if self.take("[") {
            assert_eq!(self.peek(), Some(&Word::Name("i".into())), "channels are [i]");
            self.at += 1;
            self.expect("]");
        }
        if !self.take(".") {
            return x;
        }
        let Some(Word::Name(part)) = self.peek().cloned() else { panic!("a part of {name}") };
        self.at += 1;
        self.expect("[");
        let k = self.value(c);
        self.expect("]");
        let ty = name.strip_prefix("src").and_then(|n| n.parse::<usize>().ok()).map(|n| c.types[n]);
        match (&part[..], ty) {
            ("bit", _) => x >> k & 1,
            ("byte", Some(ty)) if ty.is_signed() => i128::from((x >> (8 * k)) as i8),
            ("byte", _) => x >> (8 * k) & 0xff,
            other => panic!("{other:?}"),
        }
    }

    fn call(&mut self, name: &str, c: &Channel) -> i128 {
        if name == "sum" {
            // sum(k in 0..4: x)
            let Some(Word::Name(index)) = self.peek().cloned() else { panic!("an index") };
            self.at += 2;
            let first = self.value(c);
            self.expect("..");
            let end = self.value(c);
            self.expect(":");
            let body = self.at;
            let mut sum = 0;
            for k in first..end {
                self.at = body;
                let mut names = c.names.clone();
                names.insert(index.clone(), k);
                sum += self.value(&Channel { names, types: c.types.clone(), ..*c });
            }
            self.expect(")");
            return sum;
        }
        let mut x = vec![self.value(c)];
        while self.take(",") {
            x.push(self.value(c));
        }
        self.expect(")");
        let bits = c.types[0].bits();
        let rotated = |n: i128| {
            let (x, n) = ((x[0] as u64 & c.types[0].mask()) as u128, n as u32);
            (x << n | x >> (bits - n)) as i128
        };
        match (name, &x[..]) {
            ("convert" | "trunc", [x]) => *x,
            ("lo", [x]) => x & 0xffff_ffff,
            ("min", [a, b]) => *a.min(b),
            ("max", [a, b]) => *a.max(b),
            ("popcount", [x]) => (*x as u64 & c.types[0].mask()).count_ones().into(),
            ("leading_zeros", [x]) => (*x as u32).leading_zeros().into(),
            ("trailing_zeros", [x]) => (*x as u32).trailing_zeros().into(),
            ("rotate_left", [_, n]) => rotated(*n),
            ("rotate_right", [_, n]) => rotated((i128::from(bits) - n) % i128::from(bits)),
            other => panic!("what is {other:?}?"),
        }
    }
}

/// What a formula gives for a channel: the results it names.
fn evaluate(formula: &str, c: &mut Channel) -> HashMap<String, i128> {
    // Remarks stand behind the formula, eight blanks away.
    let formula = formula.split("        ").next().unwrap_or_default();
    let mut out = HashMap::new();
    for statement in formula.split("; ") {
        let (statement, remark) = match statement.rsplit_once(", ") {
            // A comma in brackets is no remark.
            Some((before, after)) if !after.contains(')') => (before, after),
            _ => (statement, ""),
        };
        let Some((to, value)) = statement.split_once(" = ") else {
            assert!(statement.ends_with("where the source is d"), "{statement:?} is not a statement");
            continue;
        };
        let eight = c.types[0].size() == 8 || c.dst.size() == 8;
        if remark == "unsigned" {
            let mask = if eight { u64::MAX } else { u32::MAX.into() };
            let x = c.names["src0"] & i128::from(mask);
            c.names.insert("src0".into(), x);
        }
        c.names.insert("mask".into(), if eight { 63 } else { 31 });
        c.names.insert("bits".into(), c.types[0].bits().into());
        let words = words(value);
        let whole = |c: &Channel| {
            let mut f = Formula { words: &words, at: 0 };
            let x = f.value(c);
            assert_eq!(f.at, words.len(), "{value:?} goes on");
            x
        };
        let x = if to.ends_with(".bit[k]") {
            (0..32).fold(0, |x, k| {
                c.names.insert("k".into(), k);
                x | whole(c) << k
            })
        } else {
            whole(c)
        };
        let name = to.split('[').next().unwrap_or_default().to_owned();
        c.names.insert(name.clone(), x);
        out.insert(name, x);
    }
    out
}

const WIDE: [T; 8] = [T::Ub, T::B, T::Uw, T::W, T::Ud, T::D, T::Uq, T::Q];
const NARROW: [T; 6] = [T::Ub, T::B, T::Uw, T::W, T::Ud, T::D];
const DWORDS: [T; 2] = [T::Ud, T::D];

/// An instruction of the model, its row, the number of its sources and the types they may have; `same`: all have the
/// destination's.
const ROWS: [(&str, Op, usize, &[T], bool); 33] = [
    ("MOV", Op::Mov, 1, &WIDE, false),
    ("SEL", Op::Sel, 2, &WIDE, false),
    ("ADD", Op::Add, 2, &WIDE, false),
    ("ADD3", Op::Add3, 3, &NARROW, false),
    ("MUL", Op::Mul, 2, &WIDE, false),
    ("MAD", Op::Mad, 3, &NARROW, false),
    ("MULH", Op::Mulh, 2, &DWORDS, true),
    ("AVG", Op::Avg, 2, &NARROW, false),
    ("MIN", Op::Min, 2, &WIDE, false),
    ("MAX", Op::Max, 2, &WIDE, false),
    ("DIV", Op::Div, 2, &NARROW, true),
    ("MOD", Op::Mod, 2, &NARROW, true),
    ("AND", Op::And, 2, &WIDE, false),
    ("OR", Op::Or, 2, &WIDE, false),
    ("XOR", Op::Xor, 2, &WIDE, false),
    ("NOT", Op::Not, 1, &WIDE, false),
    ("SHL", Op::Shl, 2, &WIDE, false),
    ("SHR", Op::Shr, 2, &WIDE, false),
    ("ASR", Op::Asr, 2, &[T::B, T::W, T::D, T::Q], false),
    ("ROL", Op::Rol, 2, &[T::Uw, T::Ud, T::Uq], true),
    ("ROR", Op::Ror, 2, &[T::Uw, T::Ud, T::Uq], true),
    ("BFN", Op::Bfn(0x1b), 3, &DWORDS, true),
    ("BFN", Op::Bfn(0xe4), 3, &DWORDS, true),
    ("BFE", Op::Bfe, 3, &DWORDS, true),
    ("BFI", Op::Bfi, 4, &DWORDS, true),
    ("BFREV", Op::Bfrev, 1, &[T::Ud], true),
    ("CBIT", Op::Cbit, 1, &[T::Ub, T::Uw, T::Ud], false),
    ("FBH", Op::Fbh, 1, &DWORDS, false),
    ("FBL", Op::Fbl, 1, &[T::Ud], true),
    ("LZD", Op::Lzd, 1, &[T::Ud], true),
    ("DP4A", Op::Dp4a, 3, &DWORDS, false),
    ("ADDC", Op::Addc, 2, &[T::Ud], true),
    ("SUBB", Op::Subb, 2, &[T::Ud], true),
];

/// Results are in dwords whatever the source.
fn result(op: Op, r: &mut Rng, types: &[T]) -> T {
    match op {
        Op::Cbit | Op::Fbh => T::Ud,
        _ => r.pick(types),
    }
}

#[test]
fn formulas_that_explain_shows_are_what_the_model_computes() {
    let mut r = Rng(7);
    let exec = Exec { n: ELEMENTS, first: 0, no_mask: false };
    let region =
        |v: usize| Src::Region { place: Place::Own(v), element: 0, region: (1, 1, 0), modifier: Mod::None };
    for (name, op, sources, types, same) in ROWS {
        let row = TABLE.iter().find(|d| d.name == name).unwrap_or_else(|| panic!("no row {name}"));
        for _ in 0..64 {
            let dst = result(op, &mut r, types);
            let types: Vec<T> = (0..sources).map(|_| if same { dst } else { r.pick(types) }).collect();
            let mut vars = vec![
                Var { ty: dst, init: vec![0; ELEMENTS], home: Home::Image },
                Var { ty: T::Ud, init: vec![0; ELEMENTS], home: Home::Image },
            ];
            for (k, ty) in types.iter().enumerate() {
                let divisor = k == 1 && matches!(op, Op::Div | Op::Mod);
                let init = (0..ELEMENTS).map(|_| r.value(*ty)).map(|x| if divisor && x == 0 { 1 } else { x });
                vars.push(Var { ty: *ty, init: init.collect(), home: Home::Image });
            }
            let pred = r.next() as u32;
            let p = Program {
                device: DEVICES[3],
                simd: ELEMENTS,
                halves: false,
                shuffles: false,
                cr0: 0x4c0,
                local: None,
                groups: 1,
                preds: vec![pred],
                body: vec![Stmt::Inst(Inst {
                    op,
                    exec,
                    guard: (op == Op::Sel).then_some(Guard { pred: 0, invert: false, combine: 0 }),
                    dst: Dst::Elements { place: Place::Own(0), element: 0, stride: 1, sat: false },
                    second: matches!(op, Op::Addc | Op::Subb).then_some((1, 0)),
                    srcs: (0..sources).map(|k| region(2 + k)).collect(),
                })],
                vars,
                subs: Vec::new(),
                functions: Vec::new(),
                order: Vec::new(),
                data: vec![0; 64],
            };
            let want = eval::run(&p, 0).expect("it ends");
            for i in 0..ELEMENTS {
                let value = |k: usize| types[k].int(p.vars[2 + k].init[i]);
                let mut names: HashMap<String, i128> =
                    (0..sources).map(|k| (format!("src{k}"), value(k))).collect();
                names.insert("src".into(), value(0));
                names.insert("pred".into(), (pred >> i & 1).into());
                if let Op::Bfn(table) = op {
                    names.insert("function".into(), table.into());
                }
                let narrow = (op == Op::Bfe).then(|| types[2]);
                let told = evaluate(row.semantics, &mut Channel { names, types: types.clone(), dst, narrow });
                let case = || format!("{name}: {} with {types:?} -> {dst:?}, channel {i}", row.semantics);
                assert_eq!(dst.wrap(told["dst"], false), want.vars[0][i], "{}", case());
                if let Some(carry) = told.get("carry") {
                    assert_eq!(*carry, want.vars[1][i].into(), "{}", case());
                }
            }
        }
    }
}

/// Rows whose formula is not compared with the model. Formulas are evaluated in integers: those of floats are not compared.
const OF_FLOATS: &[&str] = &[
    "DP2", "DP3", "DP4", "DPH", "DIVM", "DNSCL", "EXP", "FCVT", "FRC", "INV", "INVM", "LINE", "LOG", "LRP",
    "PLANE", "POW", "RNDD", "RNDE", "RNDU", "RNDZ", "RSQRT", "RSQTM", "SIGM", "SIN", "COS", "SQRT", "SQRTM",
    "SRND", "TANH",
];
/// The model has none of these, which compilers for OpenCL C do not emit.
const NOT_IN_THE_MODEL: &[&str] = &["ADD3O", "MADW", "SAD2", "SAD2ADD", "SHFL_IDX4"];

#[test]
fn every_computation_is_compared_with_the_model() {
    let compared = |name: &str| ROWS.iter().any(|(row, ..)| *row == name);
    let mut missing = Vec::new();
    for row in TABLE.iter().filter(|d| matches!(d.operation, Some(Operation::Compute(_)))) {
        let excepted = OF_FLOATS.contains(&row.name) || NOT_IN_THE_MODEL.contains(&row.name);
        assert!(!excepted || !compared(row.name), "{} is compared: remove it from the exceptions", row.name);
        if !excepted && !compared(row.name) {
            missing.push(row.name);
        }
    }
    assert!(
        missing.is_empty(),
        "{} missing: compute them in crates/envisa-model and add them to ROWS, or to a list of exceptions \
         (docs/ADDING-AN-INSTRUCTION.md)",
        missing.join(", ")
    );
}

#[test]
fn random_programs_contain_every_operation_of_the_model() {
    let programs: String = (0..200).map(|seed| format!("{:?}", random::program(seed))).collect();
    for (name, op, ..) in ROWS {
        let op = format!("{op:?}");
        let op = op.split('(').next().expect("a part");
        let found = [" ", ",", "("].iter().any(|end| programs.contains(&format!("op: {op}{end}")));
        assert!(
            found,
            "no random program contains {name}: add it to a list of crates/envisa-model/src/random.rs"
        );
    }
}

#[test]
fn a_wrong_formula_is_noticed() {
    let told = |formula: &str| {
        let names = [("src0", -5), ("src1", 3)].map(|(n, x)| (n.to_owned(), x)).into();
        let mut c = Channel { names, types: vec![T::D, T::D], dst: T::D, narrow: None };
        evaluate(formula, &mut c)["dst"]
    };
    assert_eq!(told("dst[i] = src0[i] + src1[i]"), -2);
    assert_eq!(told("dst[i] = src0[i] >> (src1[i] & mask), unsigned"), 0x1fff_ffff);
    assert_eq!(told("t = src0[i] * 2; dst[i] = t < 0 ? ~t : t"), 9);
    assert_eq!(told("dst[i] = sum(k in 0..2: src0[i].byte[k] * src1[i].byte[k])"), -15);
}
