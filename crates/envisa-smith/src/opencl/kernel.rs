//! Random kernels: declarations, functions, statements in blocks, from which single ones can be left out.

use std::fmt::Write as _;

use super::expr::{Array, Function, Scope, random_condition, random_expression};
use super::types::{Base, Dice, LARGE, Size, Type, UINT, ULONG};
use super::{halves_and_packed, unaligned_memory, unions_and_copies, work_item_exchange};

/// Elements of the input.
pub const INPUT: usize = 61;
/// Sums and the like that all work-items make together.
pub const SHARED: usize = 6;
/// Elements of a work-item's own part of global memory.
pub const OWN: usize = 4;

/// A statement.
#[derive(Clone)]
pub enum Statement {
    /// One that can be left out.
    Line(String),
    /// What others rely on.
    Kept(String),
    /// One with others in it.
    Block {
        /// `if (…)` and the like.
        head: String,
        /// What is in it.
        body: Vec<Statement>,
        /// What is behind it, if that belongs to it: `while (…);`.
        tail: String,
    },
}

/// What programs are like.
#[derive(Clone, Copy, Debug, Default)]
pub struct Knobs {
    /// They use `double`, for devices that have it.
    pub double: bool,
    /// How large they are; `None`: by their numbers.
    pub size: Option<Size>,
}

/// The first program that is small if nothing else is said. Those before it keep the text that pages name by their numbers.
pub const SMALL_FROM: u64 = 2_000_000;
/// The first program that may have several arrays of the same length.
const EQUAL_ARRAYS_FROM: u64 = 4_157_800;
/// What finds the most differences in a second of the compilers' time.
const SMALL: Size = 1;

/// What is stored of a variable.
#[derive(Clone)]
enum Stored {
    /// A number that all elements are folded to.
    Number(String),
    /// The variable as it is.
    Whole(String, Type),
}

impl Stored {
    /// Of a variable; large programs fold.
    fn of(name: &str, ty: Type, size: Size) -> Stored {
        if size == LARGE {
            return Stored::Number(fold_value(name, ty));
        }
        if !ty.is_float() {
            return Stored::Whole(name.to_owned(), ty);
        }
        // Zeros of both signs are the same number.
        let int = Type { base: Base::Int(32), ..ty };
        Stored::Whole(format!("convert_{}({name} * 4)", int.name()), int)
    }

    /// Elements of 8 bytes.
    fn elements(&self) -> usize {
        match self {
            Stored::Number(_) => 1,
            Stored::Whole(_, ty) => (ty.base.bits() as usize / 8 * ty.width).div_ceil(8),
        }
    }

    fn text(&self, place: &str) -> String {
        match self {
            Stored::Number(value) => format!("out[{place}] = {value};"),
            Stored::Whole(value, ty) if ty.width == 1 => {
                format!("*(global {} *)(out + {place}) = {value};", ty.name())
            }
            Stored::Whole(value, ty) => {
                format!("vstore{}({value}, 0, (global {} *)(out + {place}));", ty.width, ty.base.name())
            }
        }
    }
}

/// A kernel.
#[derive(Clone)]
pub struct Kernel {
    /// Its number.
    pub number: u64,
    /// Types, tables and functions.
    before: String,
    /// Its statements.
    pub body: Vec<Statement>,
    /// What it stores at the end, from so many elements of 8 bytes on.
    after: Vec<(usize, Stored)>,
    /// Work-items of a group.
    pub local: [usize; 3],
    /// Groups.
    pub groups: [usize; 3],
    /// Bytes of the local memory that its argument points to.
    pub local_bytes: usize,
    /// Elements of the second input, which ends early.
    pub short: usize,
}

impl Kernel {
    /// Work-items.
    pub fn items(&self) -> usize {
        self.local.iter().chain(&self.groups).product()
    }

    /// Elements of the output that each of them stores.
    pub fn stored(&self) -> usize {
        self.after.last().map_or(0, |(at, value)| at + value.elements())
    }

    /// Its text.
    pub fn text(&self) -> String {
        let (n, [x, y, z]) = (self.number, self.local);
        let mut text = self.before.clone();
        let _ = write!(
            text,
            "kernel void k{n}(global const uint *in, global const ulong *early, uint ends, global ulong *out,\n\
             \x20   global uint *shared, global uint *scratch, local uint *given, int a, uint b)\n{{\n\
             \x20   const uint lid = (uint)((get_local_id(2) * {y} + get_local_id(1)) * {x} + get_local_id(0));\n\
             \x20   const uint group = (uint)((get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0));\n\
             \x20   const uint gid = group * {items}u + lid;\n",
            items = x * y * z,
        );
        write_all(&self.body, 1, &mut text);
        for (at, value) in &self.after {
            let _ = writeln!(text, "    {}", value.text(&format!("gid * {}u + {at}u", self.stored())));
        }
        text.push_str("}\n");
        text
    }
}

fn write_all(body: &[Statement], depth: usize, text: &mut String) {
    let blank = "    ".repeat(depth);
    for s in body {
        let _ = match s {
            Statement::Line(line) | Statement::Kept(line) => writeln!(text, "{blank}{line}"),
            Statement::Block { head, body, tail } => {
                let _ = writeln!(text, "{blank}{head} {{");
                write_all(body, depth + 1, text);
                writeln!(text, "{blank}}}{tail}")
            }
        };
    }
}

/// What a kernel is made with.
pub struct Maker {
    /// Its choices.
    pub d: Dice,
    /// What expressions can name.
    pub s: Scope,
    /// Numbers of names.
    names: usize,
    /// Work-items of a group.
    pub items: usize,
    /// And in each dimension.
    pub local: [usize; 3],
    /// The kind of sum that each element of `shared` is.
    pub sums: Vec<&'static str>,
    /// A structure without alignment: its type, and a variable.
    pub packed: Option<(String, String)>,
    /// Declarations of local memory, which stand outside of blocks.
    pub locals: Vec<Statement>,
}

const SUMS: [&str; 8] = ["add", "sub", "and", "or", "xor", "min", "max", "inc"];

impl Maker {
    /// A new name.
    pub fn name(&mut self, what: &str) -> String {
        self.names += 1;
        format!("{what}{}", self.names)
    }

    /// A type of a variable.
    fn ty(&mut self, double: bool) -> Type {
        match self.d.below(9) {
            0 => {
                let base = if double && self.d.once_in(2) { Base::Double } else { Base::Float };
                Type { base, width: self.d.pick(&[1, 1, 2, 3, 4]) }
            }
            _ => self.d.integers(),
        }
    }

    /// An expression of a type.
    pub fn expr(&mut self, ty: Type, depth: usize) -> String {
        random_expression(&mut self.d, &self.s, ty, depth)
    }

    /// An assignment.
    pub fn assign(&mut self) -> Statement {
        let (name, ty) = self.s.places[self.d.below(self.s.places.len())].clone();
        if ty.width > 1 && !ty.is_float() && self.d.once_in(4) {
            let k = self.d.below(ty.width);
            let depth = self.d.depth();
            let e = self.expr(ty.scalar(), depth);
            return Statement::Line(format!("{name}{} = {e};", ty.element(k)));
        }
        let depth = self.d.depth();
        let e = self.expr(ty, depth);
        let op = match ty.base {
            Base::Uint(_) => self.d.pick(&["=", "=", "+=", "^=", "-=", "*="]),
            Base::Int(_) => self.d.pick(&["=", "=", "^=", "&=", "|="]),
            _ => "=",
        };
        // Short unsigned types become `int`, whose products must not overflow.
        let op = if op == "*=" && ty.width == 1 && ty.base.bits() < 32 { "+=" } else { op };
        Statement::Line(format!("{name} {op} {e};"))
    }

    /// A store into an array.
    fn store(&mut self) -> Statement {
        if self.s.arrays.is_empty() {
            return self.assign();
        }
        let a = self.s.arrays[self.d.below(self.s.arrays.len())].clone();
        let depth = self.d.depth();
        let (i, e) = (self.expr(UINT, 1), self.expr(a.ty, depth));
        if a.ty.width == 1 && a.len >= 4 && self.d.once_in(4) {
            let e = self.expr(a.ty.wide(4), 1);
            return Statement::Line(format!("vstore4({e}, 0, &{}[({i}) % {}u]);", a.name, a.len - 3));
        }
        Statement::Line(format!("{}[({i}) % {}u] = {e};", a.name, a.len))
    }

    /// Reads of memory that ends, and of the work-item's own part of what is written.
    fn memory(&mut self) -> Statement {
        let (name, ty) = self.s.places[self.d.below(self.s.places.len())].clone();
        if ty.is_float() {
            return self.assign();
        }
        let (i, j) = (self.expr(UINT, 1), self.expr(UINT, 1));
        let cast = |value: &str| match ty.width {
            1 => format!("({})({value})", ty.name()),
            _ => format!("({})(({})({value}))", ty.name(), ty.base.name()),
        };
        Statement::Line(match self.d.below(5) {
            0 => format!("if (({i}) % 97u < ends) {name} ^= {};", cast(&format!("early[({i}) % 97u]"))),
            1 => format!("{name} ^= {};", cast(&format!("in[({i}) % {INPUT}u]"))),
            2 => format!("{name} ^= {};", cast("early[min(gid, ends - 1u)]")),
            3 => format!("scratch[gid * {OWN}u + ({i}) % {OWN}u] = {j};"),
            _ => format!("{name} ^= {};", cast(&format!("scratch[gid * {OWN}u + ({i}) % {OWN}u]"))),
        })
    }

    /// A sum to which all work-items add in any order.
    fn atomic(&mut self) -> Statement {
        let k = self.d.below(self.sums.len());
        let (what, e) = (self.sums[k], self.expr(UINT, 1));
        let place = format!("&shared[{k}]");
        Statement::Line(match what {
            "inc" => format!("atomic_inc({place});"),
            what => format!("atomic_{what}({place}, {e});"),
        })
    }

    /// A loop of a few rounds, whose count others cannot change.
    fn rounds(&mut self, body: Vec<Statement>, uniform: bool) -> Statement {
        let i = self.name("i");
        let most = match (uniform, self.d.below(3)) {
            (_, 0) => format!("{}u", 1 + self.d.below(5)),
            (true, _) => "(b & 3u) + 1u".to_owned(),
            _ => format!("({}) & 3u", self.expr(UINT, 1)),
        };
        if uniform || self.d.once_in(2) {
            let head = format!("for (uint {i} = 0u, {i}n = {most}; {i} < {i}n; {i}++)");
            return Statement::Block { head, body, tail: String::new() };
        }
        let mut inner = body;
        inner.push(Statement::Kept(format!("{i}++;")));
        let all = match self.d.once_in(2) {
            true => {
                let head = format!("while ({i} < {i}n)");
                Statement::Block { head, body: inner, tail: String::new() }
            }
            false => {
                let tail = format!(" while ({i} < {i}n);");
                Statement::Block { head: "do".into(), body: inner, tail }
            }
        };
        let before = Statement::Kept(format!("uint {i} = 0u, {i}n = {most};"));
        Statement::Block { head: String::new(), body: vec![before, all], tail: String::new() }
    }

    /// Statements of a block in which work-items may part.
    fn block(&mut self, n: usize, depth: usize, leave: bool) -> Vec<Statement> {
        (0..n).map(|_| self.statement(depth, leave)).collect()
    }

    fn statement(&mut self, depth: usize, leave: bool) -> Statement {
        let inner = depth.saturating_sub(1);
        if self.s.latest && self.d.once_in(5) {
            return halves_and_packed::half_or_packed_statement(self);
        }
        if self.s.together && self.d.once_in(4) {
            return unaligned_memory::unaligned_statement(self);
        }
        if self.s.more && self.d.once_in(6) {
            return unions_and_copies::union_or_copy_statement(self);
        }
        match self.d.below(if depth == 0 { 12 } else { 18 }) {
            0..=5 => self.assign(),
            6 | 7 => self.store(),
            8 | 9 => self.memory(),
            10 => self.atomic(),
            11 if leave => {
                let way = self.d.pick(&["break", "continue"]);
                let c = random_condition(&mut self.d, &self.s, 1);
                // Of loops that count at their end, nothing may leave that out.
                if way == "break" { Statement::Line(format!("if ({c}) break;")) } else { self.assign() }
            }
            11 => self.assign(),
            12..=14 => {
                let head = format!("if ({})", random_condition(&mut self.d, &self.s, 1));
                let n = 1 + self.d.below(3);
                let body = self.block(n, inner, leave);
                let tail = if self.d.once_in(2) {
                    let mut text = String::new();
                    write_all(&self.block(1, 0, false), 0, &mut text);
                    format!(" else {{ {} }}", text.trim_end().replace('\n', " "))
                } else {
                    String::new()
                };
                Statement::Block { head, body, tail }
            }
            15 | 16 => {
                let n = 1 + self.d.below(3);
                let body = self.block(n, inner, true);
                self.rounds(body, false)
            }
            _ => {
                let head = format!("switch (({}) & 3u)", self.expr(UINT, 1));
                let mut body = Vec::new();
                for k in 0..3 {
                    body.push(Statement::Kept(format!("case {k}:")));
                    body.push(self.assign());
                    if !self.d.once_in(3) {
                        body.push(Statement::Line("break;".into()));
                    }
                }
                body.push(Statement::Kept("default:".into()));
                body.push(self.assign());
                Statement::Block { head, body, tail: String::new() }
            }
        }
    }

    /// Work-items tell each other something by local memory: all come here.
    fn exchange(&mut self) -> Statement {
        if self.s.latest
            && self.d.once_in(4)
            && let Some(exchange) = halves_and_packed::packed_exchange_statement(self)
        {
            return exchange;
        }
        if self.s.together && self.d.once_in(2) {
            return work_item_exchange::exchange_statement(self);
        }
        if self.s.more && self.d.once_in(2) {
            return unions_and_copies::exchange_statement(self);
        }
        let (name, ty) = self.s.places[self.d.below(self.s.places.len())].clone();
        let (l, n) = (self.name("l"), self.items);
        let barrier = "barrier(CLK_LOCAL_MEM_FENCE);";
        let mut body: Vec<String> = Vec::new();
        let other = format!("({}) % {n}u", self.expr(UINT, 1));
        match self.d.below(5) {
            // A permutation, or any other's.
            0 | 1 => {
                body.push(format!("{l}[lid] = {name};"));
                body.push(barrier.into());
                body.push(format!(
                    "{name} = {l}[{}];",
                    if self.d.once_in(2) { format!("{}u - lid", n - 1) } else { other }
                ));
                body.push(barrier.into());
                self.locals.push(Statement::Kept(format!("local {} {l}[{n}];", ty.name())));
            }
            2 => {
                let e = self.expr(UINT, 1);
                body.push(format!("given[lid] = {e};"));
                body.push(barrier.into());
                body.push(format!("scratch[gid * {OWN}u] ^= given[{other}];"));
                body.push(barrier.into());
            }
            // A sum of the group's.
            3 => {
                let what = self.d.pick(&["add", "or", "xor", "min", "max"]);
                let e = self.expr(UINT, 1);
                body.push("if (lid == 0u) given[0] = 5u;".into());
                body.push(barrier.into());
                body.push(format!("atomic_{what}(&given[0], {e});"));
                body.push(barrier.into());
                body.push(format!("scratch[gid * {OWN}u + 1u] ^= given[0];"));
                body.push(barrier.into());
            }
            // A sum by sub-groups, of whatever size: where there are none, each work-item is one.
            _ => {
                let e = self.expr(UINT, 1);
                let (what, zero) = self.d.pick(&[("add", "0u"), ("max", "0u"), ("min", "0xffffffffu")]);
                body.push(format!("if (lid == 0u) given[0] = {zero};"));
                body.push(barrier.into());
                body.push(format!("uint {l}e = {e};"));
                body.push(format!("uint {l}s = SUB_REDUCE({what}, {l}e);"));
                body.push(format!("if (SUB_FIRST) atomic_{what}(&given[0], {l}s);"));
                body.push(barrier.into());
                body.push(format!("scratch[gid * {OWN}u + 2u] ^= given[0] + SUB_SAME({l}e);"));
                body.push(barrier.into());
            }
        }
        let body = body.into_iter().map(Statement::Kept).collect();
        Statement::Block { head: String::new(), body, tail: String::new() }
    }

    /// A function, and its text.
    fn function(&mut self, number: u64) -> (Function, String) {
        let name = format!("f{number}_{}", self.s.functions.len());
        let (gives, takes) = (self.d.integers(), vec![self.d.integers(), self.d.integers()]);
        let known = self.s.functions.clone();
        let places = takes.iter().enumerate().map(|(k, t)| (format!("p{k}"), *t)).collect();
        let tables = self.s.tables.clone();
        let inner = Scope { places, tables, functions: known, more: self.s.more, ..Scope::default() };
        let outer = std::mem::replace(&mut self.s, inner);
        let mut text = String::new();
        let attribute = if self.d.once_in(3) { "__attribute__((noinline)) " } else { "" };
        let list: Vec<String> = takes.iter().enumerate().map(|(k, t)| format!("{} p{k}", t.name())).collect();
        let _ = writeln!(text, "{attribute}{} {name}({})\n{{", gives.name(), list.join(", "));
        let mut body = Vec::new();
        for _ in 0..1 + self.d.below(3) {
            body.push(self.assign());
            if self.d.once_in(3) {
                let c = random_condition(&mut self.d, &self.s, 1);
                body.push(Statement::Line(format!("if ({c}) return {};", self.expr(gives, 1))));
            }
        }
        write_all(&body, 1, &mut text);
        let _ = writeln!(text, "    return {};\n}}", self.expr(gives, 2));
        self.s = outer;
        (Function { name, gives, takes }, text)
    }
}

/// What stands before all kernels: sub-groups where there are any.
pub const PREAMBLE: &str = "\
#if defined(cl_khr_subgroups) || defined(__opencl_c_subgroups)
#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#define SUB_REDUCE(what, x) sub_group_reduce_##what(x)
#define SUB_FIRST (get_sub_group_local_id() == 0)
#define SUB_SAME(x) (sub_group_scan_inclusive_add(x) - sub_group_scan_exclusive_add(x) - (x) + (sub_group_broadcast(x, 0) == sub_group_reduce_min(sub_group_broadcast(x, 0))))
#else
#define SUB_REDUCE(what, x) (x)
#define SUB_FIRST true
#define SUB_SAME(x) 1u
#endif
";

/// Folds a value into one number.
fn fold_value(name: &str, ty: Type) -> String {
    let one = |e: String| match ty.base {
        // Zeros of both signs are the same number.
        Base::Float | Base::Double => format!("(ulong)(long)({e} * 4)"),
        _ => format!("(ulong)({e})"),
    };
    if ty.width == 1 {
        return one(name.to_owned());
    }
    let all =
        (0..ty.width).map(|k| format!("{} * {}ul", one(format!("{name}{}", ty.element(k))), 2 * k * k + 1));
    all.collect::<Vec<_>>().join(" + ")
}

/// The kernel of a number.
pub fn kernel(number: u64, knobs: Knobs) -> Kernel {
    let size = knobs.size.unwrap_or(if number < SMALL_FROM { LARGE } else { SMALL }).clamp(1, LARGE);
    let mut d = Dice::new(number, size);
    let local = match d.below(4) {
        0 => [d.pick(&[1, 3, 7, 8, 13, 16, 17, 31, 32, 33, 48, 64, 65]), 1, 1],
        1 => [d.pick(&[3, 5, 8, 16]), d.pick(&[1, 2, 3, 4]), 1],
        2 => [d.pick(&[2, 3, 4]), d.pick(&[1, 3]), d.pick(&[1, 2, 3])],
        _ => [d.pick(&[16, 32, 5, 11, 19]), 1, 1],
    };
    let groups = [1 + d.below(3), 1 + d.below(2), 1 + d.below(2)];
    let items = local.iter().product::<usize>();
    let short = 1 + d.below(40);
    let sums = (0..SHARED).map(|_| d.pick(&SUMS)).collect();
    let (more, latest, together) = (
        number >= unions_and_copies::FROM,
        number >= halves_and_packed::FROM,
        work_item_exchange::is_in_program(number),
    );
    let s = Scope { more, latest, together, ..Scope::default() };
    let mut m = Maker { d, s, names: 0, items, local, sums, packed: None, locals: Vec::new() };
    let mut before = if together { work_item_exchange::PREAMBLE.to_owned() } else { String::new() };
    if m.d.has_rare_feature() {
        let (ty, len) = (m.d.integers().scalar(), 3 + m.d.below(14));
        let all: Vec<String> = (0..len).map(|_| super::expr::random_literal(&mut m.d, ty)).collect();
        let name = format!("table{number}");
        let _ = writeln!(before, "constant {} {name}[{len}] = {{ {} }};", ty.name(), all.join(", "));
        m.s.tables.push(Array { name, ty, len });
    }
    for _ in 0..m.d.many(0, 3) {
        let (function, text) = m.function(number);
        before += &text;
        m.s.functions.push(function);
    }
    let mut body = variable_declarations(&mut m, number, knobs.double, &mut before);
    let mut after: Vec<(usize, Stored)> = Vec::new();
    for (name, ty) in &m.s.places {
        let at = after.last().map_or(0, |(at, value)| at + value.elements());
        after.push((at, Stored::of(name, *ty, size)));
    }
    for _ in 0..m.d.many(3, 4) {
        let n = 1 + m.d.below(2);
        let part = m.block(n, if size == 1 { 1 } else { 2 }, false);
        body.extend(part);
        if m.d.once_in(2) {
            let exchange = m.exchange();
            body.push(match m.d.below(4) {
                0 => m.rounds(vec![exchange], true),
                1 => {
                    Statement::Block { head: "if (b & 1u)".into(), body: vec![exchange], tail: String::new() }
                }
                _ => exchange,
            });
        }
    }
    if together {
        before += &work_item_exchange::attribute(&mut m);
    }
    body.splice(..0, m.locals);
    Kernel { number, before, body, after, local, groups, local_bytes: 4 * items, short }
}

/// Variables, structures and arrays, each with a value.
fn variable_declarations(m: &mut Maker, number: u64, double: bool, before: &mut String) -> Vec<Statement> {
    let mut body = Vec::new();
    let values = [("gid", UINT), ("lid", UINT), ("group", UINT), ("b", UINT), ("early[gid % ends]", ULONG)];
    m.s.values = values.map(|(name, ty)| (name.to_owned(), ty)).to_vec();
    m.s.values.push(("a".into(), UINT.signed()));
    for _ in 0..m.d.many(2, 4) {
        let (ty, name) = (m.ty(double), m.name("v"));
        let e = m.expr(ty, 1);
        body.push(Statement::Kept(format!("{} {name} = {e};", ty.name())));
        m.s.places.push((name, ty));
    }
    if m.d.has_rare_feature() {
        let name = m.name("s");
        let members: Vec<(String, Type)> =
            (0..2 + m.d.below(3)).map(|k| (format!("m{k}"), m.d.integers())).collect();
        let list: String = members.iter().map(|(n, t)| format!("{} {n}; ", t.name())).collect();
        let _ = writeln!(before, "typedef struct {{ {list}}} S{number};");
        body.push(Statement::Kept(format!("S{number} {name};")));
        for (member, ty) in &members {
            let e = m.expr(*ty, 1);
            body.push(Statement::Kept(format!("{name}.{member} = {e};")));
        }
        m.s.places.extend(members.into_iter().map(|(member, ty)| (format!("{name}.{member}"), ty)));
        // A copy, by a pointer to it.
        let copy = m.name("s");
        body.push(Statement::Kept(format!(
            "S{number} {copy} = {name}, *{copy}p = lid & 1u ? &{copy} : &{name};"
        )));
        let (member, ty) = m.s.places[m.s.places.len() - 1].clone();
        let member = member.split_once('.').map_or("", |(_, m)| m).to_owned();
        m.s.places.push((format!("{copy}p->{member}"), ty));
    }
    if m.d.has_rare_feature() {
        let (ty, len) = (m.d.integers(), 2 + m.d.below(7));
        array_declaration(m, ty, len, &mut body);
        // Of the same length, so that only its place tells it from the first one.
        while number >= EQUAL_ARRAYS_FROM && m.s.arrays.len() < 3 && m.d.once_in(2) {
            array_declaration(m, ty, len, &mut body);
        }
    }
    if m.s.more {
        body.extend(unions_and_copies::union_declarations(m, number, before));
    }
    if m.s.latest {
        body.extend(halves_and_packed::half_and_packed_declarations(m, number, before));
    }
    let own = format!("for (uint i = 0u; i < {OWN}u; i++) scratch[gid * {OWN}u + i] = gid ^ i;");
    body.push(Statement::Kept(own));
    body
}

/// An array of a work-item's own, which has one value in all elements.
fn array_declaration(m: &mut Maker, ty: Type, len: usize, body: &mut Vec<Statement>) {
    let (name, i) = (m.name("t"), m.name("i"));
    let e = m.expr(ty, 1);
    body.push(Statement::Kept(format!("{} {name}[{len}];", ty.name())));
    body.push(Statement::Kept(format!("for (uint {i} = 0u; {i} < {len}u; {i}++) {name}[{i}] = {e};")));
    m.s.arrays.push(Array { name, ty, len });
}
