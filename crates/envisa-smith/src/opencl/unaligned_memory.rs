//! Memory as programs from number [`super::work_item_exchange::FROM`] on use it besides: vectors at places that are no multiples of their sizes, bytes
//! of what was stored as something else, and indices computed in every width.

use super::kernel::{INPUT, Maker, OWN, Statement};
use super::types::{Base, Type, UINT};

/// Bytes of an element.
fn bytes_of(ty: Type) -> usize {
    ty.base.bits() as usize / 8
}

/// All elements of a vector, as one number.
fn elements_of(value: &str, ty: Type) -> String {
    match ty.width {
        1 => value.to_owned(),
        w => (0..w).map(|k| format!("{value}{}", ty.element(k))).collect::<Vec<_>>().join(" ^ "),
    }
}

/// A block of statements that belong together.
pub fn block_of(lines: impl IntoIterator<Item = String>) -> Statement {
    let body = lines.into_iter().map(Statement::Kept).collect();
    Statement::Block { head: String::new(), body, tail: String::new() }
}

/// Adds a number of an integer type to one of the places, or to the work-item's own part of global memory.
pub fn add_to_place(m: &mut Maker, value: &str) -> String {
    let (name, ty) = m.s.places[m.d.below(m.s.places.len())].clone();
    if ty.is_float() {
        return format!("scratch[gid * {OWN}u + 3u] ^= (uint)({value});");
    }
    format!("{name} ^= ({})(({})({value}));", ty.name(), ty.base.name())
}

/// One of them, for work-items that need not come here together.
pub fn unaligned_statement(m: &mut Maker) -> Statement {
    match m.d.below(5) {
        0 => vector_of_input(m),
        1 => vectors_in_private_memory(m),
        2 => vectors_in_global_memory(m),
        _ => indexed_input(m),
    }
}

/// A vector of the input at a multiple of its elements, or the vector that ends where the memory does.
fn vector_of_input(m: &mut Maker) -> Statement {
    let (v, i) = (m.name("v"), m.expr(UINT, 1));
    if m.d.once_in(3) {
        let (bits, width) = m.d.pick(&[(8, 8), (16, 4), (32, 2)]);
        let ty = Type { base: Base::Uint(bits), width };
        let base = ty.base.name();
        let load = format!("{} {v} = vload{width}(({i}) % ends, (global const {base} *)early);", ty.name());
        let take = add_to_place(m, &elements_of(&v, ty));
        return block_of([load, take]);
    }
    let ty = m.d.integers().scalar().wide(m.d.pick(&[2, 3, 4, 8, 16]));
    let (size, base) = (bytes_of(ty), ty.base.name());
    let first = size * m.d.below(13);
    let count = (4 * INPUT - first) / (size * ty.width);
    let load = format!(
        "{} {v} = vload{}(({i}) % {count}u, (global const {base} *)((global const uchar *)in + {first}));",
        ty.name(),
        ty.width
    );
    let take = add_to_place(m, &elements_of(&v, ty));
    block_of([load, take])
}

/// A private array that is written and read by vectors of other widths, element by element, and byte by byte.
fn vectors_in_private_memory(m: &mut Maker) -> Statement {
    let ty = m.d.integers().scalar();
    let (name, len, x, v) = (m.name("q"), 9 + m.d.below(24), m.name("x"), m.name("v"));
    let [stored, loaded] = [m.d.pick(&[2, 3, 4, 8]), m.d.pick(&[2, 3, 4, 8])];
    let [start, value] = [m.expr(ty, 1), m.expr(ty.wide(stored), 1)];
    let [i, j, k] = [m.expr(UINT, 1), m.expr(UINT, 1), m.expr(UINT, 1)];
    let wide = ty.wide(loaded);
    let lines = [
        format!("{} {name}[{len}], {x} = {start};", ty.name()),
        format!("for (int i = 0; i < {len}; i++) {name}[i] = ({})({x} ^ ({})i);", ty.name(), ty.name()),
        format!("vstore{stored}({value}, 0, {name} + ({i}) % {}u);", len - stored + 1),
        format!("{} {v} = vload{loaded}(0, {name} + ({j}) % {}u);", wide.name(), len - loaded + 1),
        add_to_place(m, &elements_of(&v, wide)),
        add_to_place(m, &format!("((uchar *){name})[({k}) % {}u]", len * bytes_of(ty))),
    ];
    block_of(lines)
}

/// The work-item's own part of global memory is written by a vector, and read by another one and by bytes. Then it has numbers again.
fn vectors_in_global_memory(m: &mut Maker) -> Statement {
    let ty = m.d.integers().scalar();
    let elements = 4 * OWN / bytes_of(ty);
    let widths: Vec<usize> = [2, 3, 4, 8, 16].into_iter().filter(|w| *w <= elements).collect();
    let [stored, loaded] = [m.d.pick(&widths), m.d.pick(&widths)];
    let (p, v, value) = (m.name("p"), m.name("v"), m.expr(ty.wide(stored), 1));
    let [i, j, k] = [m.expr(UINT, 1), m.expr(UINT, 1), m.expr(UINT, 1)];
    let wide = ty.wide(loaded);
    let lines = [
        format!("global {0} *{p} = (global {0} *)(scratch + gid * {OWN}u);", ty.name()),
        format!("vstore{stored}({value}, 0, {p} + ({i}) % {}u);", elements - stored + 1),
        format!("{} {v} = vload{loaded}(0, {p} + ({j}) % {}u);", wide.name(), elements - loaded + 1),
        format!("{v} ^= ({})(({})(((global uchar *){p})[({k}) % {}u]));", wide.name(), ty.name(), 4 * OWN),
        format!("for (uint i = 0u; i < {OWN}u; i++) scratch[gid * {OWN}u + i] = gid - i;"),
        add_to_place(m, &elements_of(&v, wide)),
    ];
    block_of(lines)
}

/// The input by indices that are computed in bytes up to 64 bits, with and without signs.
fn indexed_input(m: &mut Maker) -> Statement {
    let (x, n) = (m.name("x"), INPUT);
    let ty = m.d.integers().scalar();
    let e = m.expr(ty, 1);
    let step = 1 + m.d.below(9);
    let work_item = m.d.pick(&[
        "get_global_id(0)",
        "get_global_linear_id()",
        "get_local_linear_id()",
        "(get_group_id(0) * get_local_size(0) + get_local_id(0))",
        "(get_global_id(1) * get_global_size(0) + get_global_id(0))",
    ]);
    let sum = match m.d.below(10) {
        0 => format!("{x} += in[({work_item} * {step} + (size_t)({e})) % {n}];"),
        1 => format!("{x} += in[(uint){work_item} * {step}u % {n}u];"),
        2 => format!("for (size_t i = {work_item} % {n}; i < {n}; i += {step}) {x} = {x} * 3u + in[i];"),
        3 => format!(
            "for (long i = {n} - 1 - (long)({work_item} % {n}); i >= 0; i -= {step}) {x} ^= in[i] + (uint)i;"
        ),
        4 => format!("for (int i = -(int)({work_item} % {n}); i <= 0; i += {step}) {x} += in[-i] ^ (uint)i;"),
        5 => format!("{x} = (in + {n})[-1 - (long)((ulong)({e}) % {n}u)];"),
        6 => format!("{x} = in[((int)(char)({e}) + 128) % {n}] ^ in[(uchar)({e}) % {n}u];"),
        7 => format!("{x} = in[(ushort)({work_item} * {}u + (ushort)({e})) % {n}u];", 9_973 * step),
        // What wraps in 32 bits, and what does not.
        8 => format!(
            "{x} = in[(uint)({work_item} * 0x{:x}ul) % {n}u] + in[{work_item} * 0x{:x}ul % {n}ul];",
            0xc000_0001_u64 + step as u64,
            0xc000_0001_u64 + step as u64
        ),
        _ => format!(
            "{x} = in[((ulong)(uint)({e}) << 32 | (uint){work_item}) % {n}ul] + in[(ulong)(long)(int)({e}) % {n}ul];"
        ),
    };
    let take = add_to_place(m, &x);
    block_of([format!("uint {x} = 0u;"), sum, take])
}

/// Work-items hand each other vectors of local memory, which others read by other widths: all come here.
pub fn vectors_in_local_memory(m: &mut Maker) -> Statement {
    let ty = m.d.integers().scalar();
    let (l, v, pad) = (m.name("l"), m.name("v"), m.d.below(4));
    let stored = m.d.pick(&[2, 3, 4, 8]);
    let all = stored * m.items;
    let widths: Vec<usize> = [2, 3, 4, 8, 16].into_iter().filter(|w| *w <= all).collect();
    let wide = ty.wide(m.d.pick(&widths));
    let (value, i, j) = (m.expr(ty.wide(stored), 1), m.expr(UINT, 1), m.expr(UINT, 1));
    let barrier = "barrier(CLK_LOCAL_MEM_FENCE);".to_owned();
    m.locals.push(Statement::Kept(format!("local {} {l}[{}];", ty.name(), all + pad)));
    let lines = [
        format!("vstore{stored}({value}, lid, {l} + {pad});"),
        barrier.clone(),
        format!(
            "{} {v} = vload{}(0, {l} + {pad} + ({i}) % {}u);",
            wide.name(),
            wide.width,
            all - wide.width + 1
        ),
        add_to_place(m, &elements_of(&v, wide)),
        add_to_place(m, &format!("((local uchar *)({l} + {pad}))[({j}) % {}u]", all * bytes_of(ty))),
        barrier,
    ];
    block_of(lines)
}
