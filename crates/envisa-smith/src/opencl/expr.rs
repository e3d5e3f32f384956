//! Random expressions whose values OpenCL C defines: sums wrap as unsigned ones, divisors are not zero, shifts and
//! indices are in range, floats hold numbers that every operation here gives exactly.

use super::types::{Base, Dice, Type, UINT};

/// A function that expressions call: what it gives and takes.
#[derive(Clone)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// What it gives.
    pub gives: Type,
    /// What it takes.
    pub takes: Vec<Type>,
}

/// An array: its name, type of elements, and how many there are.
#[derive(Clone)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// Of elements.
    pub ty: Type,
    /// How many.
    pub len: usize,
}

/// What expressions can name.
#[derive(Clone, Default)]
pub struct Scope {
    /// Places that are read and written: variables and members.
    pub places: Vec<(String, Type)>,
    /// What is only read.
    pub values: Vec<(String, Type)>,
    /// Arrays.
    pub arrays: Vec<Array>,
    /// Arrays of constants.
    pub tables: Vec<Array>,
    /// Functions.
    pub functions: Vec<Function>,
    /// Whether there is what only programs from number 5,000 on have.
    pub more: bool,
    /// And what only programs from number 1,000,000 on have.
    pub latest: bool,
    /// And what only programs of which [`super::work_item_exchange::is_in_program`] is true have.
    pub together: bool,
}

const FLOOR: [&str; 4] = ["floor", "ceil", "trunc", "rint"];

/// An expression of a type.
pub fn random_expression(d: &mut Dice, s: &Scope, ty: Type, depth: usize) -> String {
    if ty.is_float() {
        return float(d, s, ty, depth);
    }
    if depth == 0 || d.once_in(6) {
        return leaf_expression(d, s, ty);
    }
    match d.below(16) {
        0..=4 => sum_expression(d, s, ty, depth - 1),
        5 => quotient_expression(d, s, ty, depth - 1),
        6 => shift_expression(d, s, ty, depth - 1),
        7..=9 => function(d, s, ty, depth - 1),
        10 => choice_expression(d, s, ty, depth - 1),
        11 | 12 => conversion_expression(d, s, ty, depth - 1),
        13 => vector_expression(d, s, ty, depth - 1),
        _ => read(d, s, ty, depth - 1),
    }
}

/// A condition.
pub fn random_condition(d: &mut Dice, s: &Scope, depth: usize) -> String {
    let how = if depth == 0 { d.below(4) } else { d.below(8) };
    let depth = depth.saturating_sub(1);
    match how {
        0..=3 => {
            let ty = comparable_type(d, s);
            let (a, b) = (random_expression(d, s, ty, depth), random_expression(d, s, ty, depth));
            let op = d.pick(&["<", "<=", ">", ">=", "==", "!="]);
            match ty.width {
                1 => format!("({a} {op} {b})"),
                _ => format!("{}({a} {op} {b})", d.pick(&["any", "all"])),
            }
        }
        4 => format!("({} && {})", random_condition(d, s, depth), random_condition(d, s, depth)),
        5 => format!("({} || {})", random_condition(d, s, depth), random_condition(d, s, depth)),
        6 => format!("!{}", random_condition(d, s, depth)),
        _ => format!("(({} & 1) != 0)", random_expression(d, s, UINT, depth)),
    }
}

/// A type of what there is to compare.
fn comparable_type(d: &mut Dice, s: &Scope) -> Type {
    if s.places.is_empty() || d.once_in(4) {
        return d.integers();
    }
    s.places[d.below(s.places.len())].1
}

/// A number of an element.
pub fn random_literal(d: &mut Dice, ty: Type) -> String {
    let (bits, name) = (ty.base.bits(), ty.base.name());
    let most = u64::MAX >> (64 - bits);
    let n = match d.below(8) {
        0 => 0,
        1 => 1,
        2 => most,
        3 => most >> 1,
        4 => (most >> 1) + 1,
        5 | 6 => d.number() & 0xff,
        _ => d.number(),
    };
    format!("(({name})0x{:x}ul)", n & most)
}

fn leaf_expression(d: &mut Dice, s: &Scope, ty: Type) -> String {
    let all = || s.places.iter().chain(&s.values);
    let same: Vec<&str> = all().filter(|(_, t)| *t == ty).map(|(n, _)| n.as_str()).collect();
    if !same.is_empty() && !d.once_in(4) {
        return same[d.below(same.len())].to_owned();
    }
    let others: Vec<(&str, Type)> =
        all().filter(|(_, t)| !t.is_float()).map(|(n, t)| (n.as_str(), *t)).collect();
    if others.is_empty() || d.once_in(3) {
        return match ty.width {
            1 => random_literal(d, ty),
            w if d.once_in(2) => {
                let all: Vec<String> = (0..w).map(|_| random_literal(d, ty)).collect();
                format!("({})({})", ty.name(), all.join(", "))
            }
            _ => format!("({})({})", ty.name(), random_literal(d, ty)),
        };
    }
    let (name, t) = d.pick(&others);
    if t.width == ty.width {
        return format!("convert_{}({name})", ty.name());
    }
    let k = d.below(t.width);
    let element = if t.width == 1 { name.to_owned() } else { format!("{name}{}", t.element(k)) };
    match ty.width {
        1 => format!("({})({element})", ty.name()),
        _ => format!("({})(({})({element}))", ty.name(), ty.base.name()),
    }
}

/// Two operands in a type whose sums wrap.
fn wrapping_operation(ty: Type, a: &str, op: &str, b: &str) -> String {
    let u = ty.unsigned();
    if ty.width == 1 {
        // Short types become `int`, whose sums must not overflow.
        let w = if ty.base.bits() == 64 { "ulong" } else { "uint" };
        return format!("({})(({w})({a}) {op} ({w})({b}))", ty.name());
    }
    if u == ty {
        format!("({a} {op} {b})")
    } else {
        format!("as_{0}(as_{1}({a}) {op} as_{1}({b}))", ty.name(), u.name())
    }
}

fn sum_expression(d: &mut Dice, s: &Scope, ty: Type, depth: usize) -> String {
    let (a, b) = (random_expression(d, s, ty, depth), random_expression(d, s, ty, depth));
    match d.pick(&["+", "-", "*", "&", "|", "^", "~"]) {
        "~" => format!("({})(~({a}))", ty.name()),
        op => wrapping_operation(ty, &a, op, &b),
    }
}

fn quotient_expression(d: &mut Dice, s: &Scope, ty: Type, depth: usize) -> String {
    let (a, b) = (random_expression(d, s, ty, depth), random_expression(d, s, ty, depth));
    let (name, op) = (ty.name(), d.pick(&["/", "%"]));
    if ty.width == 1 {
        return format!("({name})(({a}) {op} ({name})((({b}) & 0x3f) + 1))");
    }
    format!("(({a}) {op} ((({b}) & ({name})(({0})0x3f)) + ({name})(({0})1)))", ty.base.name())
}

fn shift_expression(d: &mut Dice, s: &Scope, ty: Type, depth: usize) -> String {
    let (a, b) = (random_expression(d, s, ty, depth), random_expression(d, s, ty.unsigned(), depth));
    let (name, most) = (ty.name(), ty.base.bits() - 1);
    let by = match ty.width {
        1 => format!("(({b}) & {most})"),
        _ => format!("(({b}) & ({})(({}){most}))", ty.unsigned().name(), ty.unsigned().base.name()),
    };
    if d.once_in(2) {
        return wrapping_operation(ty, &a, "<<", &by);
    }
    match ty.width {
        1 => format!("({name})(({a}) >> {by})"),
        _ => format!("(({a}) >> as_{name}({by}))"),
    }
}

fn function(d: &mut Dice, s: &Scope, ty: Type, depth: usize) -> String {
    let known: Vec<&Function> = s.functions.iter().filter(|f| f.gives == ty).collect();
    if !known.is_empty() && d.once_in(2) {
        let f = known[d.below(known.len())];
        let args: Vec<String> = f.takes.iter().map(|t| random_expression(d, s, *t, depth.min(1))).collect();
        return format!("{}({})", f.name, args.join(", "));
    }
    let (name, bits) = (ty.name(), ty.base.bits());
    let mut of = |t: Type| random_expression(d, s, t, depth);
    let (a, b, c) = (of(ty), of(ty), of(ty));
    // A scalar's cast is a conversion, a vector's is none.
    let cast = if ty.width == 1 { format!("({name})") } else { format!("as_{name}") };
    match d.below(18) {
        0 => format!("{cast}(abs({a}))"),
        1 => format!("{cast}(abs_diff({a}, {b}))"),
        2 => format!("add_sat({a}, {b})"),
        3 => format!("sub_sat({a}, {b})"),
        4 => format!("hadd({a}, {b})"),
        5 => format!("rhadd({a}, {b})"),
        6 => format!("max({a}, {b})"),
        7 => format!("min({a}, {b})"),
        8 => format!("mul_hi({a}, {b})"),
        9 => format!("rotate({a}, {b})"),
        10 => format!("clz({a})"),
        11 => format!("popcount({a})"),
        12 => format!("mad_hi({a}, {b}, {c})"),
        // Two of Intel's libraries compute it wrongly of `long`: docs/COMPILER-BUGS.md.
        13 if bits < 64 || !ty.is_signed() => format!("mad_sat({a}, {b}, {c})"),
        14 => format!("bitselect({a}, {b}, {c})"),
        15 => format!("clamp({a}, min({b}, {c}), max({b}, {c}))"),
        16 if bits > 8 => {
            let half = Type { base: Base::Uint(bits / 2), width: ty.width };
            let high = if ty.is_signed() { half.signed() } else { half };
            format!(
                "upsample({}, {})",
                random_expression(d, s, high, depth),
                random_expression(d, s, half, depth)
            )
        }
        17 if bits == 32 => {
            let low = |x: &str| format!("(({x}) & ({name})(({})0xfff))", ty.base.name());
            match d.once_in(2) {
                true => format!("mul24({}, {})", low(&a), low(&b)),
                false => format!("mad24({}, {}, {})", low(&a), low(&b), low(&c)),
            }
        }
        _ => format!("max({a}, min({b}, {c}))"),
    }
}

fn choice_expression(d: &mut Dice, s: &Scope, ty: Type, depth: usize) -> String {
    let (a, b) = (random_expression(d, s, ty, depth), random_expression(d, s, ty, depth));
    if ty.width == 1 {
        // Short types would become `int`.
        return format!("({})({} ? {a} : {b})", ty.name(), random_condition(d, s, depth));
    }
    let (x, y) = (random_expression(d, s, ty, depth.min(1)), random_expression(d, s, ty, depth.min(1)));
    let op = d.pick(&["<", "<=", ">", "==", "!="]);
    match d.below(3) {
        0 => format!("(({x} {op} {y}) ? {a} : {b})"),
        1 => format!("select({a}, {b}, {x} {op} {y})"),
        _ => format!("select({a}, {b}, {})", random_expression(d, s, ty.signed(), depth.min(1))),
    }
}

fn conversion_expression(d: &mut Dice, s: &Scope, ty: Type, depth: usize) -> String {
    let from = Type { width: ty.width, ..d.integers() };
    let name = ty.name();
    if s.more && d.once_in(3) {
        let value = random_expression(d, s, from, depth);
        return super::unions_and_copies::rounded_float(d, ty, from, &value);
    }
    match d.below(4) {
        // From a float, whose number an `int` holds.
        0 => {
            let float = Type { base: Base::Float, width: ty.width };
            let int = Type { base: Base::Int(32), width: ty.width }.name();
            let mode = d.pick(&["", "_rte", "_rtz", "_rtp", "_rtn", "_sat", "_sat_rte"]);
            format!("convert_{name}(convert_{int}{mode}({}))", random_expression(d, s, float, depth))
        }
        1 => format!("convert_{name}_sat({})", random_expression(d, s, from, depth)),
        // The same bits.
        2 if ty.width != 3 => {
            let bits = ty.base.bits() as usize * ty.width;
            let widths = [1, 2, 4, 8, 16].into_iter().filter(|w| [8, 16, 32, 64].contains(&(bits / w)));
            let widths: Vec<usize> = widths.filter(|w| bits.is_multiple_of(*w)).collect();
            let width = d.pick(&widths);
            let from = Type { base: Base::Uint((bits / width) as u32), width };
            format!("as_{name}({})", random_expression(d, s, from, depth))
        }
        _ => format!("convert_{name}({})", random_expression(d, s, from, depth)),
    }
}

/// A vector of others' elements, or an element.
fn vector_expression(d: &mut Dice, s: &Scope, ty: Type, depth: usize) -> String {
    let name = ty.name();
    let of = |d: &mut Dice, width: usize| random_expression(d, s, ty.wide(width), depth);
    match ty.width {
        1 => {
            let from = d.pick(&[2, 3, 4, 8]);
            format!("({}){}", of(d, from), ty.wide(from).element(d.below(from)))
        }
        w if d.once_in(3) => {
            let all: Vec<String> = (0..w.min(4)).map(|_| of(d, 1)).collect();
            let all: Vec<&str> = (0..w).map(|k| all[k % all.len()].as_str()).collect();
            format!("({name})({})", all.join(", "))
        }
        w @ (2 | 4 | 8) if d.once_in(3) => {
            format!("({}){}", of(d, 2 * w), d.pick(&[".lo", ".hi", ".even", ".odd"]))
        }
        w @ (4 | 8 | 16) if d.once_in(3) => format!("({name})({}, {})", of(d, w / 2), of(d, w / 2)),
        w @ (2 | 4 | 8 | 16) if d.once_in(2) => {
            let mask = random_expression(d, s, ty.unsigned(), depth.min(1));
            match d.once_in(2) {
                true => format!("shuffle({}, {mask})", of(d, w)),
                false => format!("shuffle2({}, {}, {mask})", of(d, w), of(d, w)),
            }
        }
        w => {
            let from = d.pick(&[w, if w == 3 { 4 } else { w }]);
            let elements: String = (0..w).map(|_| format!("{:x}", d.below(from))).collect();
            format!("({}).s{elements}", of(d, from))
        }
    }
}

/// An element of an array.
fn read(d: &mut Dice, s: &Scope, ty: Type, depth: usize) -> String {
    let all: Vec<&Array> =
        s.arrays.iter().chain(&s.tables).filter(|a| a.ty.scalar() == ty.scalar()).collect();
    if all.is_empty() {
        return leaf_expression(d, s, ty);
    }
    let a = all[d.below(all.len())];
    let i = random_expression(d, s, UINT, depth.min(1));
    if a.ty == ty {
        return format!("{}[({i}) % {}u]", a.name, a.len);
    }
    if a.ty.width == 1 && a.len >= ty.width {
        return format!("vload{}(0, &{}[({i}) % {}u])", ty.width, a.name, a.len - ty.width + 1);
    }
    leaf_expression(d, s, ty)
}

/// A float: a multiple of a quarter of at most 4096, as are all variables.
pub fn float(d: &mut Dice, s: &Scope, ty: Type, depth: usize) -> String {
    let name = ty.name();
    let same: Vec<&str> = s.places.iter().filter(|(_, t)| *t == ty).map(|(n, _)| n.as_str()).collect();
    if depth == 0 || d.once_in(4) {
        if !same.is_empty() && d.once_in(2) {
            return d.pick(&same).to_owned();
        }
        let int = Type { base: Base::Int(32), width: ty.width };
        let e = random_expression(d, s, int, depth.min(1));
        return match ty.width {
            1 => format!("({name})(({e}) & 0x7ff)"),
            _ => format!("convert_{name}(({e}) & ({})(0x7ff))", int.name()),
        };
    }
    let (a, b, c) = (float(d, s, ty, depth - 1), float(d, s, ty, depth - 1), float(d, s, ty, depth - 1));
    let one = |x: &str| match ty.width {
        1 => format!("(({name}){x})"),
        _ => format!("({name})(({}){x})", ty.base.name()),
    };
    let value = match d.below(8) {
        0 => format!("{a} + {b}"),
        1 => format!("{a} - {b}"),
        2 => format!("floor({a}) * trunc({b}) + {c}"),
        3 => format!("fma(floor({a}), rint({b}), {c})"),
        4 => format!("fmin({a}, {b})"),
        5 => format!("fmax({a}, {b})"),
        6 => format!("{}({a} * {})", d.pick(&FLOOR), one("0.25f")),
        _ => format!("fabs({a} - {b})"),
    };
    format!("clamp({value}, {}, {})", one("-4096.0f"), one("4096.0f"))
}
