//! What work-items do together in programs from number [`FROM`] on: functions of sub-groups beside their definitions, and atomics whose
//! results are used.

use super::expr::random_condition;
use super::kernel::{Maker, OWN, Statement};
use super::types::{Base, Type, UINT};
use super::unaligned_memory::{add_to_place, block_of, vectors_in_local_memory};

/// The first program that has them. Programs before it keep the text that pages name by their numbers.
pub const FROM: u64 = 6_200;
/// Other numbers that pages name, of programs without them.
const NAMED: std::ops::Range<u64> = 1_000_000..3_000_000;

/// Does the program of a number have them?
pub fn is_in_program(number: u64) -> bool {
    number >= FROM && !NAMED.contains(&number)
}

/// Where a work-item is: the number of its sub-group, and its own in it.
pub const PREAMBLE: &str = "\
#ifndef SUB_PLACE
#if defined(cl_khr_subgroups) || defined(__opencl_c_subgroups)
#define SUB_PLACE (get_sub_group_id() << 16 | get_sub_group_local_id())
#define SUB_COUNT get_sub_group_size()
#define SUB_GROUPS
#else
#define SUB_PLACE (lid << 16)
#define SUB_COUNT 1u
#endif
#endif
";

/// What stands before the kernel: of some programs the size of the sub-groups, where one can be asked for.
pub fn attribute(m: &mut Maker) -> String {
    match m.d.pick(&[0, 0, 16, 32]) {
        0 => String::new(),
        n => format!(
            "#ifdef cl_intel_required_subgroup_size\n__attribute__((intel_reqd_sub_group_size({n})))\n#endif\n"
        ),
    }
}

/// A function of sub-groups: what it gives is computed from the values of all work-items, too.
struct Function {
    /// What has to be defined besides sub-groups.
    extension: &'static str,
    /// The type of its value.
    ty: Type,
    /// Its call. `{x}` is the value.
    call: String,
    /// The result of no work-item.
    none: String,
    /// Which work-items it is computed from, of which `{w}` is the place.
    of: String,
    /// The result `{o}` with another value `{v}`.
    with: String,
    /// Where its result is defined.
    defined: String,
}

/// The least or the greatest number of a type.
fn limit(ty: Type, greatest: bool) -> String {
    let bits = ty.base.bits();
    let number = match (ty.is_signed(), greatest) {
        (true, true) => u64::MAX >> (65 - bits),
        (true, false) => 1 << (bits - 1),
        (false, true) => u64::MAX >> (64 - bits),
        (false, false) => 0,
    };
    format!("({})0x{number:x}ul", ty.name())
}

/// An integer of 32 or 64 bits, or of a size that an extension adds.
fn element_type(m: &mut Maker, extended: bool) -> Type {
    let bits = if extended { m.d.pick(&[8, 16]) } else { m.d.pick(&[32, 32, 64]) };
    Type { base: if m.d.once_in(2) { Base::Int(bits) } else { Base::Uint(bits) }, width: 1 }
}

/// How values become one: what an operation is called, what it begins with, and what it makes of two.
fn operation(m: &mut Maker, ty: Type, logic: bool) -> (&'static str, String, String) {
    let (unsigned, name) = (ty.unsigned().name(), ty.name());
    let all: &[&str] =
        if logic { &["add", "min", "max", "and", "or", "xor", "mul"] } else { &["add", "min", "max"] };
    let what = m.d.pick(all);
    let wide = if ty.base.bits() == 64 { "ulong" } else { "uint" };
    // Of numbers with signs, sums and products wrap as those without do.
    let wraps = |op: &str| format!("({name})({unsigned})(({wide}){{o}} {op} ({wide}){{v}})");
    match what {
        "add" => (what, "0".into(), wraps("+")),
        "mul" => (what, "1".into(), wraps("*")),
        "min" => (what, limit(ty, true), "min({o}, {v})".into()),
        "max" => (what, limit(ty, false), "max({o}, {v})".into()),
        "and" => (what, format!("({name})-1"), "({o} & {v})".into()),
        "or" => (what, "0".into(), "({o} | {v})".into()),
        _ => (what, "0".into(), "({o} ^ {v})".into()),
    }
}

const MINE: &str = "({w} >> 16) == (SUB_PLACE >> 16)";

/// One of the functions to which all work-items of a sub-group come.
fn function(m: &mut Maker) -> Function {
    let extended = m.d.once_in(3);
    let ty = element_type(m, extended);
    let of_lane = |lane: &str| format!("{{w}} == (SUB_PLACE & 0xffff0000u | (uint)({lane}))");
    let shift = m.d.pick(&["", "0", "1u", "(b & 3u)", "(b >> 4 & 7u)"]);
    let one = |extension, call: &str, lane: &str, defined: String| Function {
        extension,
        ty,
        call: call.replace("{lane}", lane),
        none: "0".into(),
        of: of_lane(lane),
        with: "{v}".into(),
        defined,
    };
    match m.d.below(8) {
        0..=2 => {
            // Sums of numbers with signs must not be too large in the compiler's eyes either.
            let ty = if m.d.once_in(2) { ty.unsigned() } else { ty };
            let (what, none, with) = operation(m, ty, false);
            let (how, of) = m.d.pick(&[
                ("reduce", ""),
                ("scan_inclusive", " && ({w} & 0xffffu) <= (SUB_PLACE & 0xffffu)"),
                ("scan_exclusive", " && ({w} & 0xffffu) < (SUB_PLACE & 0xffffu)"),
            ]);
            let extension = if extended { "cl_khr_subgroup_extended_types" } else { "SUB_GROUPS" };
            let call = format!("sub_group_{how}_{what}({{x}})");
            Function { extension, ty, call, none, of: format!("{MINE}{of}"), with, defined: "1".into() }
        }
        3 => {
            let lane = format!("(b >> {}) % SUB_COUNT", m.d.below(9));
            let extension = if extended { "cl_khr_subgroup_extended_types" } else { "SUB_GROUPS" };
            one(extension, "sub_group_broadcast({x}, {lane})", &lane, "1".into())
        }
        4 => {
            let lane = format!("({}) % SUB_COUNT", m.expr(UINT, 1));
            one("cl_khr_subgroup_shuffle", "sub_group_shuffle({x}, {lane})", &lane, "1".into())
        }
        5 => {
            let mask = if shift.is_empty() { "SUB_COUNT - 1u" } else { shift };
            let lane = format!("(SUB_PLACE & 0xffffu ^ ({mask}))");
            let call = format!("sub_group_shuffle_xor({{x}}, {mask})");
            one("cl_khr_subgroup_shuffle", &call, &lane, format!("{lane} < SUB_COUNT"))
        }
        6 => {
            let up = m.d.once_in(2);
            let (sign, name) = if up { ("-", "up") } else { ("+", "down") };
            let by = if shift.is_empty() { "2u" } else { shift };
            let lane = format!("((SUB_PLACE & 0xffffu) {sign} ({by}))");
            let call = format!("sub_group_shuffle_{name}({{x}}, {by})");
            one("cl_khr_subgroup_shuffle_relative", &call, &lane, format!("{lane} < SUB_COUNT"))
        }
        _ => {
            let ty = ty.unsigned();
            let (what, none, with) = operation(m, ty, false);
            let n = m.d.pick(&[2, 4]);
            let of = format!("{MINE} && ({{w}} & 0xffffu) / {n}u == (SUB_PLACE & 0xffffu) / {n}u");
            let call = format!("sub_group_clustered_reduce_{what}({{x}}, {n}u)");
            Function {
                extension: "cl_khr_subgroup_clustered_reduce",
                ty,
                call,
                none,
                of,
                with,
                defined: "1".into(),
            }
        }
    }
}

/// A function of sub-groups beside its definition: whether the results are different is stored.
fn beside_definition(m: &mut Maker) -> Statement {
    let f = function(m);
    let e = m.expr(f.ty, 1);
    checked(m, &f, &e, None)
}

/// A function to which only some work-items of a sub-group come.
fn of_some(m: &mut Maker) -> Statement {
    let ty = element_type(m, false);
    let (what, none, with) = operation(m, ty, true);
    let (how, of) = m.d.pick(&[
        ("reduce", ""),
        ("scan_inclusive", " && ({w} & 0x7fffu) <= (SUB_PLACE & 0x7fffu)"),
        ("scan_exclusive", " && ({w} & 0x7fffu) < (SUB_PLACE & 0x7fffu)"),
    ]);
    let f = Function {
        extension: "cl_khr_subgroup_non_uniform_arithmetic",
        ty,
        call: format!("sub_group_non_uniform_{how}_{what}({{x}})"),
        none,
        of: format!("{MINE} && ({{w}} & 0x8000u){of}"),
        with,
        defined: "1".into(),
    };
    let e = m.expr(ty, 1);
    let on = random_condition(&mut m.d, &m.s, 1);
    checked(m, &f, &e, Some(&on))
}

/// The statements of a function and of its definition, on a value, for those work-items of which a condition is true.
fn checked(m: &mut Maker, f: &Function, e: &str, on: Option<&str>) -> Statement {
    let (l, n, ty) = (m.name("l"), m.items, f.ty.name());
    let barrier = "barrier(CLK_LOCAL_MEM_FENCE);".to_owned();
    m.locals.push(Statement::Kept(format!("local {ty} {l}v[{n}];")));
    m.locals.push(Statement::Kept(format!("local uint {l}w[{n}];")));
    let named = |text: &str| {
        text.replace("{w}", &format!("{l}w[j]"))
            .replace("{v}", &format!("{l}v[j]"))
            .replace("{o}", &format!("{l}o"))
            .replace("{x}", &format!("{l}e"))
    };
    let on = on.unwrap_or("true");
    let all = on == "true";
    let mark = if all { "0u" } else { "0x8000u" };
    let different = format!("{l}c && ({}) && {l}r != {l}o ? {}u : 0u", named(&f.defined), 1 + m.d.below(99));
    let lines = [
        format!("{ty} {l}e = {e}, {l}o = {};", f.none),
        format!("bool {l}c = {on};"),
        format!("{l}v[lid] = {l}e;"),
        format!("{l}w[lid] = SUB_PLACE | ({l}c ? {mark} : 0u);"),
        barrier.clone(),
        format!("for (uint j = 0u; j < {n}u; j++) if ({}) {l}o = {};", named(&f.of), named(&f.with)),
        format!("{ty} {l}r = {l}o;"),
        format!("#ifdef {}", f.extension),
        format!("{}{l}r = {};", if all { String::new() } else { format!("if ({l}c) ") }, named(&f.call)),
        "#endif".into(),
        add_to_place(m, &different),
        barrier,
    ];
    block_of(lines)
}

/// Atomics whose results are used, in ways that do not depend on who comes first.
fn results_of_atomics(m: &mut Maker) -> Statement {
    let (l, n) = (m.name("l"), m.items);
    let global = m.d.once_in(3);
    let barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);".to_owned();
    m.locals.push(Statement::Kept(format!("local uint {l}[2], {l}t[{n}];")));
    // One of the group's elements of global memory has its number again at the end.
    let counter = if global { format!("&scratch[group * {}u]", n * OWN) } else { format!("&{l}[0]") };
    let on = if m.d.once_in(2) { "true".into() } else { random_condition(&mut m.d, &m.s, 1) };
    let [first, e] = [m.d.below(1000), m.d.below(3)];
    let value = m.expr(UINT, 1);
    let (begin, act, result) = match e {
        // Everybody has a number of his own.
        0 => {
            let next = m.d.pick(&["atomic_inc({c})", "atomic_add({c}, 1u)", "atomic_sub({c}, 0xffffffffu)"]);
            let act = format!(
                "uint {l}r = {} - {first}u; {l}t[{l}r] = {value}; atomic_add(&{l}[1], {l}r * {l}r);",
                next.replace("{c}", &counter)
            );
            (first, act, "sum")
        }
        // Everybody has what another one left: all values but the last.
        1 => {
            let act = format!(
                "uint {l}r = atomic_xchg({counter}, {value}); {l}t[lid] = {l}r; atomic_add(&{l}[1], {l}r);"
            );
            (first, act, "last")
        }
        // Exactly one is the first, if anybody comes.
        _ => {
            let act = format!(
                "uint {l}r = atomic_cmpxchg({counter}, 0u, lid + 1u); {l}t[lid] = {l}r == 0u ? 5u : 6u; \
                 if ({l}r == 0u) atomic_inc(&{l}[1]);"
            );
            (0, act, "sum")
        }
    };
    let sum = match result {
        "last" => format!("{l}[1] + *({counter})"),
        _ => format!("{l}s + {l}[1]"),
    };
    let lines = [
        format!("if (lid == 0u) {{ *({counter}) = {begin}u; {l}[1] = 0u; }}"),
        format!("{l}t[lid] = 9u;"),
        barrier.clone(),
        format!("if ({on}) {{ {act} }}"),
        barrier.clone(),
        format!("uint {l}s = 0u;"),
        format!("for (uint j = 0u; j < {n}u; j++) {l}s += {l}t[j] * ({l}t[j] | 1u);"),
        add_to_place(m, &sum),
        barrier.clone(),
        format!("if (lid == 0u) {{ *({counter}) = gid; }}"),
        barrier,
    ];
    block_of(lines)
}

/// One of them: all work-items of a group come here.
pub fn exchange_statement(m: &mut Maker) -> Statement {
    match m.d.below(7) {
        0..=2 => beside_definition(m),
        3 => of_some(m),
        4 | 5 => results_of_atomics(m),
        _ => vectors_in_local_memory(m),
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernel::{Knobs, kernel};
    use super::{FROM, NAMED, is_in_program};

    /// What each kind shows in a text.
    const SIGNS: [&str; 14] = [
        "sub_group_reduce_add(l",
        "sub_group_scan_exclusive_min(",
        "sub_group_broadcast(l",
        "sub_group_shuffle(",
        "sub_group_shuffle_xor(",
        "sub_group_shuffle_up(",
        "sub_group_clustered_reduce_",
        "sub_group_non_uniform_",
        "atomic_xchg(",
        "intel_reqd_sub_group_size(32)",
        "(global const uchar *)in",
        "((local uchar *)",
        "get_local_linear_id()",
        "% ends, (global const",
    ];

    #[test]
    fn each_kind_is_in_some_program_and_in_none_that_pages_name() {
        let texts =
            |from: u64| (from..from + 200).map(|n| kernel(n, Knobs::default()).text()).collect::<String>();
        let (before, named, after) = (texts(FROM - 200), texts(NAMED.end - 200), texts(FROM));
        for sign in SIGNS {
            assert!(!before.contains(sign) && !named.contains(sign), "{sign}");
            assert!(after.contains(sign), "{sign}");
        }
        assert!(is_in_program(NAMED.end) && !is_in_program(0));
    }
}
