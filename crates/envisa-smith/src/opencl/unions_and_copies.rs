//! Statements and declarations that programs from number [`FROM`] on have besides: unions, halves in memory, asynchronous
//! copies, local memory in two dimensions, pointers that move, atomics in a loop, exits by `goto`.

use std::fmt::Write as _;

use super::expr::random_condition;
use super::kernel::{INPUT, Maker, OWN, Statement};
use super::types::{Base, Dice, Type, UINT, ULONG};

/// The first program that has them. Programs before it keep the text that pages name by their numbers.
pub const FROM: u64 = 5_000;

const MODES: [&str; 5] = ["", "_rte", "_rtz", "_rtp", "_rtn"];

/// A union and an array of structures, each with a value; their members become places.
pub fn union_declarations(m: &mut Maker, number: u64, before: &mut String) -> Vec<Statement> {
    let mut body = Vec::new();
    if m.d.has_rare_feature() {
        // All members are of one size, so that each of them writes all bytes.
        let bytes = m.d.pick(&[4, 8, 16]);
        let name = m.name("u");
        let members: Vec<(String, Type)> =
            (0..3).map(|k| (format!("m{k}"), of_size(&mut m.d, bytes))).collect();
        let list: String = members.iter().map(|(n, t)| format!("{} {n}; ", t.name())).collect();
        let _ = writeln!(before, "typedef union {{ {list}}} U{number};");
        let e = m.expr(members[0].1, 1);
        body.push(Statement::Kept(format!("U{number} {name};")));
        body.push(Statement::Kept(format!("{name}.m0 = {e};")));
        m.s.places.extend(members.into_iter().map(|(member, ty)| (format!("{name}.{member}"), ty)));
    }
    if m.d.has_rare_feature() {
        let (name, len) = (m.name("r"), 2 + m.d.below(4));
        let members: Vec<(String, Type)> =
            (0..2 + m.d.below(2)).map(|k| (format!("m{k}"), m.d.integers())).collect();
        let list: String = members.iter().map(|(n, t)| format!("{} {n}; ", t.name())).collect();
        let _ = writeln!(before, "typedef struct {{ {list}}} R{number};");
        body.push(Statement::Kept(format!("R{number} {name}[{len}];")));
        let i = m.name("i");
        let values: String =
            members.iter().map(|(n, t)| format!("{name}[{i}].{n} = {}; ", m.expr(*t, 1))).collect();
        body.push(Statement::Kept(format!("for (size_t {i} = 0; {i} < {len}; {i}++) {{ {values}}}")));
        let index = m.d.pick(&["lid", "b", "(gid + 1u)", "get_local_id(0)", "(size_t)group"]);
        let places = members.iter().map(|(n, t)| (format!("{name}[{index} % {len}].{n}"), *t));
        m.s.places.extend(places);
        m.s.places.push((format!("{name}[{}].m0", m.d.below(len)), members[0].1));
    }
    body
}

/// A scalar or vector of so many bytes.
fn of_size(d: &mut Dice, bytes: usize) -> Type {
    let all: Vec<(u32, usize)> = [8u32, 16, 32, 64]
        .into_iter()
        .map(|bits| (bits, bytes * 8 / bits as usize))
        .filter(|(_, width)| [1, 2, 4, 8, 16].contains(width))
        .collect();
    let (bits, width) = d.pick(&all);
    Type { base: if d.once_in(2) { Base::Int(bits) } else { Base::Uint(bits) }, width }
}

/// A number as a float that is rounded in some way, by its bits.
pub fn rounded_float(d: &mut Dice, ty: Type, from: Type, value: &str) -> String {
    let mode = d.pick(&MODES);
    let float = Type { base: Base::Float, width: ty.width }.name();
    let bits = UINT.wide(ty.width).name();
    format!("convert_{}(as_{bits}(convert_{float}{mode}(convert_{}({value}))))", ty.name(), from.name())
}

/// One of them, for work-items that need not come here together.
pub fn union_or_copy_statement(m: &mut Maker) -> Statement {
    match m.d.below(4) {
        0 => half_storage_statement(m),
        1 => pointer_walk_statement(m),
        2 => atomic_sum_statement(m),
        _ => left_by_goto(m),
    }
}

/// Floats are stored as halves, and read again. All halves are in the work-item's own part of memory, which has no type of its
/// own, and which is filled with numbers again.
fn half_storage_statement(m: &mut Maker) -> Statement {
    let width = m.d.pick(&[1, 2, 3, 4]);
    let ty = Type { base: Base::Float, width };
    let (p, v) = (m.name("h"), m.name("v"));
    let e = m.expr(ty, 1);
    let (mode, n) = (m.d.pick(&MODES), if width == 1 { String::new() } else { width.to_string() });
    let aligned = if m.d.once_in(2) && width > 1 { "a" } else { "" };
    // The smallest numbers are halves without a leading one. A vector of three takes the place of four if it is aligned.
    let (down, up) = m.d.pick(&[("1.0f", "1.0f"), ("0x1p-20f", "0x1p20f"), ("0x1p-26f", "0x1p26f")]);
    let at = m.d.below(8 / width.next_power_of_two());
    let (name, target) = m.s.places[m.d.below(m.s.places.len())].clone();
    let read = if target.is_float() {
        String::new()
    } else {
        let int = UINT.signed().wide(width).name();
        let sum: Vec<String> = (0..width)
            .map(|k| {
                format!("convert_{int}({v} * 4.0f){}", if width == 1 { String::new() } else { ty.element(k) })
            })
            .collect();
        format!("{name} ^= ({})(({})({}));", target.name(), target.base.name(), sum.join(" ^ "))
    };
    let body = [
        format!("global half *{p} = (global half *)(scratch + gid * {OWN}u);"),
        format!("vstore{aligned}_half{n}{mode}({e} * {down}, {at}, {p});"),
        format!("{} {v} = vload{aligned}_half{n}({at}, {p}) * {up};", ty.name()),
        format!("for (uint i = 0u; i < {OWN}u; i++) scratch[gid * {OWN}u + i] = gid + i;"),
        read,
    ];
    let body = body.into_iter().filter(|line| !line.is_empty()).map(Statement::Kept).collect();
    Statement::Block { head: String::new(), body, tail: String::new() }
}

/// A pointer that moves through the input, forwards and backwards.
fn pointer_walk_statement(m: &mut Maker) -> Statement {
    let (p, i, j) = (m.name("p"), m.expr(UINT, 1), m.expr(UINT, 1));
    let (name, ty) = m.s.places[m.d.below(m.s.places.len())].clone();
    if ty.is_float() {
        return m.assign();
    }
    let x = m.name("x");
    let first = format!("global const uint *{p} = in + (size_t)(({i}) % {INPUT}u);");
    let step = match m.d.below(3) {
        0 => format!("for (size_t n = 0; n < in + {INPUT} - {p}; n += {}) {x} += {p}[n];", 3 + m.d.below(9)),
        1 => format!("while ({p} > in && {x} < 0x{:x}u) {x} += *{p}--;", 1u32 << m.d.below(32)),
        _ => format!("{x} = {p}[-(long)(({j}) % (uint)({p} - in + 1))];"),
    };
    let fold = format!("{name} ^= ({})(({})({x}));", ty.name(), ty.base.name());
    let body = [first, format!("uint {x} = 0u;"), step, fold].into_iter().map(Statement::Kept).collect();
    Statement::Block { head: String::new(), body, tail: String::new() }
}

/// A sum that all work-items make, by comparing and exchanging until nobody came between.
fn atomic_sum_statement(m: &mut Maker) -> Statement {
    let k = m.d.below(m.sums.len());
    let (old, seen, e) = (m.name("o"), m.name("n"), m.expr(UINT, 1));
    let value = match m.sums[k] {
        "add" => format!("{old} + ({e})"),
        "sub" => format!("{old} - ({e})"),
        "and" => format!("{old} & ({e})"),
        "or" => format!("{old} | ({e})"),
        "xor" => format!("{old} ^ ({e})"),
        "inc" => format!("{old} + 1u"),
        what => format!("{what}({old}, {e})"),
    };
    let body = [
        format!("uint {old}, {seen} = atomic_or(&shared[{k}], 0u);"),
        format!(
            "do {{ {old} = {seen}; {seen} = atomic_cmpxchg(&shared[{k}], {old}, {value}); }} while ({seen} != {old});"
        ),
    ];
    Statement::Block {
        head: String::new(),
        body: body.into_iter().map(Statement::Kept).collect(),
        tail: String::new(),
    }
}

/// Two loops that are left at once.
fn left_by_goto(m: &mut Maker) -> Statement {
    let (i, j, label) = (m.name("i"), m.name("j"), m.name("end"));
    let inside = m.assign();
    let c = random_condition(&mut m.d, &m.s, 1);
    let on = random_condition(&mut m.d, &m.s, 1);
    let inner = Statement::Block {
        head: format!("for (int {j} = {}; {j} > 0; {j}--)", 1 + m.d.below(4)),
        body: vec![
            Statement::Kept(format!("if ({on}) continue;")),
            inside,
            Statement::Kept(format!("if ({c}) goto {label};")),
        ],
        tail: String::new(),
    };
    let behind = m.assign();
    let outer = Statement::Block {
        head: format!("for (ushort {i} = 0; {i} < {}; {i}++)", 1 + m.d.below(3)),
        body: vec![inner, behind],
        tail: String::new(),
    };
    let end = Statement::Kept(format!("{label}:;"));
    Statement::Block { head: String::new(), body: vec![outer, end], tail: String::new() }
}

/// Work-items tell each other something, in ways to which all of a group come.
pub fn exchange_statement(m: &mut Maker) -> Statement {
    let (name, ty) = m.s.places[m.d.below(m.s.places.len())].clone();
    let l = m.name("l");
    let barrier = "barrier(CLK_LOCAL_MEM_FENCE);".to_owned();
    let wait = |event: &str| format!("wait_group_events(1, &{event});");
    let numbers = |read: String| match ty.is_float() {
        true => format!("scratch[gid * {OWN}u] ^= (uint)({read});"),
        false => format!("{name} ^= ({})(({})({read}));", ty.name(), ty.base.name()),
    };
    let index = format!("({})", m.expr(UINT, 1));
    let body = match m.d.below(4) {
        // A tile, whose rows may be longer than what is stored in them.
        0 => {
            let [x, y, z] = m.local;
            let (y, more) = (y * z, m.d.below(2));
            m.locals.push(Statement::Kept(format!("local {} {l}[{y}][{}];", ty.name(), x + more)));
            let column = "get_local_id(0)";
            let row = format!("get_local_id(2) * {} + get_local_id(1)", m.local[1]);
            let read = match m.d.below(3) {
                0 => format!("{l}[{} - ({row})][{} - {column}]", y - 1, x - 1),
                1 => format!("{l}[lid % {y}u][lid / {y}u]"),
                _ => format!("{l}[{index} % {y}u][({column} + {}) % {x}]", m.d.below(9)),
            };
            vec![
                format!("{l}[{row}][{column}] = {name};"),
                barrier.clone(),
                format!("{name} = {read};"),
                barrier,
            ]
        }
        // From the input, as far as it goes.
        1 => {
            m.locals.push(Statement::Kept(format!("local {} {l}[40];", ULONG.name())));
            vec![
                format!("event_t {l}e = async_work_group_copy({l}, early, ends, 0);"),
                wait(&format!("{l}e")),
                numbers(format!("{l}[{index} % ends]")),
                barrier,
            ]
        }
        // Each of so many elements.
        2 => {
            let (n, stride) = (1 + m.d.below(12), 1 + m.d.below(4));
            m.locals.push(Statement::Kept(format!("local uint {l}[{n}];")));
            vec![
                format!(
                    "event_t {l}e = async_work_group_strided_copy({l}, in + b % {}u, {n}, {stride}, 0);",
                    INPUT - (n - 1) * stride
                ),
                wait(&format!("{l}e")),
                numbers(format!("{l}[{index} % {n}u]")),
                barrier,
            ]
        }
        // Back to what the group has of global memory.
        _ => {
            let n = m.items;
            let e = m.expr(UINT, 1);
            m.locals.push(Statement::Kept(format!("local uint {l}[{n}];")));
            vec![
                format!("{l}[{}u - lid] = {e};", n - 1),
                "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);".into(),
                format!("event_t {l}e = async_work_group_copy(scratch + group * {}u, {l}, {n}, 0);", n * OWN),
                wait(&format!("{l}e")),
                "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);".into(),
            ]
        }
    };
    let body = body.into_iter().map(Statement::Kept).collect();
    Statement::Block { head: String::new(), body, tail: String::new() }
}

#[cfg(test)]
mod tests {
    use super::super::kernel::{Knobs, kernel};
    use super::FROM;

    /// What each kind shows in a text.
    const SIGNS: [&str; 12] = [
        "typedef union",
        "vstore_half",
        "vloada_half",
        "convert_float_r",
        "in + (size_t)",
        "[-(long)",
        "atomic_cmpxchg",
        "goto end",
        "[get_local_id(0)] = ",
        "async_work_group_copy(scratch",
        "early, ends, 0)",
        "async_work_group_strided_copy",
    ];

    #[test]
    fn each_kind_is_in_some_program_and_in_none_before() {
        let texts =
            |from: u64| (from..from + 100).map(|n| kernel(n, Knobs::default()).text()).collect::<String>();
        let (before, after) = (texts(FROM - 100), texts(FROM));
        for sign in SIGNS {
            assert!(!before.contains(sign), "{sign}");
            assert!(after.contains(sign), "{sign}");
        }
    }
}
