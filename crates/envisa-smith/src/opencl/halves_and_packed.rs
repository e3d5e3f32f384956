//! Declarations and statements that programs from number [`FROM`] on have besides: arithmetic of halves, packed structures in private
//! and local memory, switches over any integer with cases in any order, loops that are left early in every way.

use std::fmt::Write as _;

use super::expr::{Function, random_condition, random_literal};
use super::kernel::{Maker, Statement};
use super::types::{Base, Type};

/// The first program that has them. Programs before it keep the text that pages name by their numbers.
pub const FROM: u64 = 1_000_000;

/// Operations on halves, of `{0}` and `{1}`. Where there are no halves, floats give the same once they are rounded: they have more than
/// twice the digits.
const HALVES: [(&str, &str); 5] = [
    ("add", "{0} + {1}"),
    ("sub", "{0} - {1}"),
    ("mul", "{0} * {1}"),
    ("neg", "-{0} + {1}"),
    ("less", "{0} < {1} ? {0} : {1}"),
];

const USHORT: Type = Type { base: Base::Uint(16), width: 1 };

/// Functions and variables.
pub fn half_and_packed_declarations(m: &mut Maker, number: u64, before: &mut String) -> Vec<Statement> {
    let mut body = Vec::new();
    if m.d.has_rare_feature() {
        half_functions(m, number, before);
    }
    if m.d.has_rare_feature() {
        leaving_function(m, number, before);
    }
    if m.d.has_rare_feature() {
        body.extend(packed_structures(m, number, before));
    }
    body
}

/// Functions that take halves by their bits, and give them: of numbers that are none, the same bits.
fn half_functions(m: &mut Maker, number: u64, before: &mut String) {
    let width = m.d.pick(&[1, 1, 2, 3, 4, 8]);
    let ty = USHORT.wide(width);
    let (name, n) = (ty.name(), if width == 1 { String::new() } else { width.to_string() });
    for (what, sum) in HALVES {
        let of = |a: &str, b: &str| sum.replace("{0}", a).replace("{1}", b);
        let function = format!("h{number}_{what}");
        let halves = of(&format!("as_half{n}(a)"), &format!("as_half{n}(b)"));
        let (a, b) = (format!("vload_half{n}(0, (half *)&a)"), format!("vload_half{n}(0, (half *)&b)"));
        let _ = write!(
            before,
            "{name} {function}({name} a, {name} b)\n{{\n    {name} r;\n\
             #ifdef cl_khr_fp16\n    r = as_{name}({halves});\n\
             #else\n    vstore_half{n}_rte({}, 0, (half *)&r);\n#endif\n\
             \x20   return (r & ({name})0x7fff) > ({name})0x7c00 ? ({name})0x7e00 : r;\n}}\n",
            of(&a, &b)
        );
        m.s.functions.push(Function { name: function, gives: ty, takes: vec![ty, ty] });
    }
}

/// A function whose loops return.
fn leaving_function(m: &mut Maker, number: u64, before: &mut String) {
    let (name, gives, takes) = (format!("g{number}"), m.d.integers(), m.d.integers());
    let scope = super::expr::Scope {
        places: vec![("p".to_owned(), gives), ("q".to_owned(), takes)],
        tables: m.s.tables.clone(),
        ..Default::default()
    };
    let outer = std::mem::replace(&mut m.s, scope);
    let mut on = || random_condition(&mut m.d, &m.s, 1);
    let [first, next, last] = [on(), on(), on()];
    let [one, two] = [m.expr(gives, 2), m.expr(takes, 1)];
    let (rounds, inner) = (2 + m.d.below(9), 1 + m.d.below(3));
    let _ = write!(
        before,
        "{} {name}({} p, {} q)\n{{\n    for (int i = 0; i < {rounds}; i++) {{\n        if ({first}) continue;\n        p = {one};\n\
         \x20       for (int j = 0; j < {inner}; j++) {{\n            if ({next}) return p;\n            q = {two};\n        }}\n\
         \x20       if ({last}) break;\n    }}\n    return p;\n}}\n",
        gives.name(),
        gives.name(),
        takes.name(),
    );
    m.s = outer;
    m.s.functions.push(Function { name, gives, takes: vec![gives, takes] });
}

/// A structure whose members have no alignment, and one of such in an array.
fn packed_structures(m: &mut Maker, number: u64, before: &mut String) -> Vec<Statement> {
    let (name, all) = (m.name("k"), m.name("k"));
    // Both of Intel's compilers break down on vectors of 64 bits: docs/COMPILER-BUGS.md.
    let known = |ty: Type, large: bool| match ty.base.bits() {
        64 if !large => ty.scalar(),
        _ => ty,
    };
    let members: Vec<(String, Type)> =
        (0..2 + m.d.below(3)).map(|k| (format!("m{k}"), known(m.d.integers(), m.d.is_large()))).collect();
    let list: String = members.iter().map(|(n, t)| format!("{} {n}; ", t.name())).collect();
    let _ = writeln!(before, "typedef struct __attribute__((packed)) {{ {list}}} K{number};");
    let mut body = vec![format!("K{number} {name}, {all}[2];")];
    body.extend(members.iter().map(|(n, t)| format!("{name}.{n} = {};", m.expr(*t, 1))));
    body.push(format!("{all}[0] = {all}[1] = {name};"));
    m.s.places.extend(members.iter().map(|(n, t)| (format!("{name}.{n}"), *t)));
    let (n, t) = &members[m.d.below(members.len())];
    m.s.places.push((format!("{all}[lid & 1u].{n}"), *t));
    m.packed = Some((format!("K{number}"), name));
    body.into_iter().map(Statement::Kept).collect()
}

/// One of them, for work-items that need not come here together.
pub fn half_or_packed_statement(m: &mut Maker) -> Statement {
    match m.d.below(4) {
        0 => half_statement(m),
        1 => left_early(m),
        _ => switch_statement(m),
    }
}

/// Some operations on halves, one by the other's result.
fn half_statement(m: &mut Maker) -> Statement {
    let known: Vec<Function> = m.s.functions.iter().filter(|f| f.name.starts_with('h')).cloned().collect();
    let (name, target) = m.s.places[m.d.below(m.s.places.len())].clone();
    if known.is_empty() || target.is_float() {
        return m.assign();
    }
    let (h, ty) = (m.name("h"), known[0].gives);
    let mut body = vec![format!("{} {h} = {};", ty.name(), m.expr(ty, 1))];
    for _ in 0..1 + m.d.below(3) {
        let f = &known[m.d.below(known.len())];
        let other = m.expr(ty, 1);
        body.push(match m.d.once_in(2) {
            true => format!("{h} = {}({h}, {other});", f.name),
            false => format!("{h} = {}({other}, {h});", f.name),
        });
    }
    let all: Vec<String> = match ty.width {
        1 => vec![h],
        w => (0..w).map(|k| format!("{h}{}", ty.element(k))).collect(),
    };
    body.push(format!("{name} ^= ({})(({})({}));", target.name(), target.base.name(), all.join(" ^ ")));
    let body = body.into_iter().map(Statement::Kept).collect();
    Statement::Block { head: String::new(), body, tail: String::new() }
}

/// Two loops, one in the other, that are left and gone on with early.
fn left_early(m: &mut Maker) -> Statement {
    let (i, j) = (m.name("i"), m.name("j"));
    let mut on = |way: &str| Statement::Line(format!("if ({}) {way};", random_condition(&mut m.d, &m.s, 1)));
    let exits = [on("continue"), on("break"), on("break"), on("continue")];
    let [go_on, leave, leave_outer, go_on_outer] = exits;
    let loop_of = |head: String, body| Statement::Block { head, body, tail: String::new() };
    let inner = vec![m.assign(), go_on, m.assign(), leave, m.assign()];
    let inner = loop_of(format!("for (uchar {j} = {}; {j} != 0; {j}--)", 1 + m.d.below(4)), inner);
    let outer = vec![go_on_outer, inner, leave_outer, m.assign()];
    loop_of(format!("for (long {i} = 0; {i} < {}; {i}++)", 1 + m.d.below(4)), outer)
}

/// Cases of any integer, far apart and in any order, of which some fall through.
fn switch_statement(m: &mut Maker) -> Statement {
    let ty = m.d.integers().scalar();
    let on = m.expr(ty, 1);
    let mut values: Vec<String> = (0..2 + m.d.below(4)).map(|_| random_literal(&mut m.d, ty)).collect();
    values.sort_unstable();
    values.dedup();
    let middle = m.d.below(values.len() + 1);
    let mut body = Vec::new();
    for k in 0..=values.len() {
        match k.cmp(&middle) {
            std::cmp::Ordering::Equal => body.push(Statement::Kept("default:".into())),
            order => {
                let value = &values[if order.is_lt() { k } else { k - 1 }];
                body.push(Statement::Kept(format!("case {value}:")));
            }
        }
        body.push(m.assign());
        if !m.d.once_in(3) {
            body.push(Statement::Line("break;".into()));
        }
    }
    Statement::Block { head: format!("switch ({on})"), body, tail: String::new() }
}

/// Work-items hand each other packed structures: all come here.
pub fn packed_exchange_statement(m: &mut Maker) -> Option<Statement> {
    let (ty, name) = m.packed.clone()?;
    let (l, n) = (m.name("l"), m.items);
    m.locals.push(Statement::Kept(format!("local {ty} {l}[{n}];")));
    let barrier = "barrier(CLK_LOCAL_MEM_FENCE);";
    let other = format!("{l}[{}u - lid]", n - 1);
    let body = [format!("{l}[lid] = {name};"), barrier.into(), format!("{name} = {other};"), barrier.into()];
    let body = body.into_iter().map(Statement::Kept).collect();
    Some(Statement::Block { head: String::new(), body, tail: String::new() })
}

#[cfg(test)]
mod tests {
    use super::super::kernel::{Knobs, kernel};
    use super::FROM;

    #[test]
    fn each_kind_is_in_some_program_and_in_none_before() {
        let texts =
            |from: u64| (from..from + 100).map(|n| kernel(n, Knobs::default()).text()).collect::<String>();
        let (before, after) = (texts(FROM - 100), texts(FROM));
        let new = ["as_half3(", "((packed))", "local K", "for (uchar", "return p;\n        "];
        for sign in new {
            assert!(!before.contains(sign), "{sign}");
        }
        for sign in new.into_iter().chain(["switch (", "vstore_half_rte("]) {
            assert!(after.contains(sign), "{sign}");
        }
        // Far apart: not only the cases from 0 to 2.
        assert!(after.contains("case ((ulong)0x"));
    }
}
