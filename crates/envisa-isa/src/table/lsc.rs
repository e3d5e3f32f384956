//! Load/store-cache messages: untyped, typed and fence.

use super::common::*;
use crate::desc::*;
use crate::operation::*;
use crate::{Platform, Platforms, TypeSet};

const SFID: Slot = field(
    "sfid",
    Enc::Values(&[
        Value { code: 0, text: "ugm", platforms: Platforms::ALL, doc: "untyped global memory" },
        Value {
            code: 1,
            text: "ugml",
            platforms: Platforms::ALL,
            doc: "untyped global memory, low bandwidth",
        },
        Value { code: 3, text: "slm", platforms: Platforms::ALL, doc: "shared local memory" },
    ]),
    "shared function",
);
const ANY_SFID: Slot = field(
    "sfid",
    Enc::Values(&[val(0, "ugm"), val(1, "ugml"), val(2, "tgm"), val(3, "slm")]),
    "shared function",
);

const CACHING: &[Value] = &[
    val(0, "df"),
    val(1, "uc"),
    val(2, "ca"),
    val(3, "wb"),
    val(4, "wt"),
    val(5, "st"),
    val(6, "ri"),
    Value {
        code: 7,
        text: "cc",
        platforms: Platforms::from(Platform::Xe2),
        doc: "constant cached; the 4.1 tools read it as ri",
    },
];
const L1: Slot = field("l1", Enc::Values(CACHING), "caching in L1");
const L3: Slot = field("l3", Enc::Values(CACHING), "caching in L3");
/// What only 4.2's text says; no page draws it in a binary.
const V42: (u8, u8) = (4, 2);
const L2: Slot = field(
    "l2",
    Enc::Values(&[
        val(0, "none"),
        val(1, "df"),
        val(2, "uc"),
        val(3, "ca"),
        val(4, "wb"),
        val(5, "wt"),
        val(6, "st"),
        val(7, "ri"),
        val(8, "cc"),
    ]),
    "caching in L2, where three levels are named",
)
.since(V42);
const OV: Slot = field("ov", Enc::Number { max: 1 }, "the load overfetches").since(V42);
const MSAA: Slot = field("msaa", Enc::Number { max: 1 }, "the surface is multi-sampled").since(V42);
const SURFACE_INDEX: Slot =
    field("surface_index", Enc::Number { max: 31 }, "index of the surface state from `surface` on")
        .since(V42);
const U_OFFSET: Slot = wide("u_offset", 4, Enc::Signed, "added to U coordinates").since(V42);
const V_OFFSET: Slot = wide("v_offset", 4, Enc::Signed, "added to V coordinates").since(V42);
const R_OFFSET: Slot = wide("r_offset", 4, Enc::Signed, "added to R coordinates").since(V42);
const X_OFFSET: Slot = wide("x_offset", 4, Enc::Signed, "added to x, in elements").since(V42);
const Y_OFFSET: Slot = wide("y_offset", 4, Enc::Signed, "added to y, in rows").since(V42);
const PAYLOAD: Slot = field(
    "payload",
    Enc::Number { max: 1 },
    "1: surface_base is a register with all of base, width, height, pitch, x, y and shape",
)
.since(V42);

const ADDR_TYPE: Slot = field(
    "addr_type",
    Enc::Values(&[
        Value { code: 1, text: "flat", platforms: Platforms::ALL, doc: "virtual address" },
        Value { code: 2, text: "bss", platforms: Platforms::ALL, doc: "bindless surface state" },
        Value { code: 3, text: "ss", platforms: Platforms::ALL, doc: "surface state" },
        Value { code: 4, text: "bti", platforms: Platforms::ALL, doc: "binding table index" },
        Value { code: 5, text: "arg", platforms: Platforms::ALL, doc: "kernel arguments" },
        Value { code: 6, text: "surf", platforms: XE3P, doc: "address of a surface state, from 4.2 on" },
    ]),
    "address model",
);
const IMM_SCALE: Slot =
    wide("imm_scale", 2, Enc::Number { max: 0xffff }, "multiplies the address; 1 if absent");
const IMM_OFFSET: Slot = wide("imm_offset", 4, Enc::Signed, "added to the address, in bytes");
const ADDR_SIZE: Slot = field(
    "addr_size",
    Enc::Values(&[
        val(1, "a16"),
        val(2, "a32"),
        val(3, "a64"),
        Value { code: 4, text: "a32u", platforms: XE3P, doc: "32 bits, by zeros to 64; from 4.2 on" },
        Value { code: 5, text: "a32s", platforms: XE3P, doc: "32 bits, by the sign to 64; from 4.2 on" },
    ]),
    "bits of an address",
);
const DATA_SIZE: Slot = field(
    "data_size",
    Enc::Values(&[
        val(1, "d8"),
        val(2, "d16"),
        val(3, "d32"),
        val(4, "d64"),
        Value { code: 5, text: "d8c32", platforms: Platforms::ALL, doc: "8 bits in memory, 32 in registers" },
        Value {
            code: 6,
            text: "d16c32",
            platforms: Platforms::ALL,
            doc: "16 bits in memory, 32 in registers",
        },
        Value {
            code: 7,
            text: "d16c32h",
            platforms: Platforms::ALL,
            doc: "16 bits in memory, the high half of 32 in registers",
        },
        Value { code: 5, text: "d8u32", platforms: Platforms::ALL, doc: "4.2's name of d8c32" },
        Value { code: 6, text: "d16u32", platforms: Platforms::ALL, doc: "4.2's name of d16c32" },
        Value { code: 7, text: "d16u32h", platforms: Platforms::ALL, doc: "4.2's name of d16c32h" },
    ]),
    "size of an element; `u` for `d` reads the same",
);
const DATA_ORDER: Slot = field(
    "data_order",
    Enc::Values(&[val(1, "n"), val(2, "t")]),
    "n: element by element over the channels; t: channel by channel (one channel)",
);
const DATA_ELEMS: Slot = field(
    "data_elems",
    Enc::Values(&[
        val(1, "1"),
        val(2, "2"),
        val(3, "3"),
        val(4, "4"),
        val(5, "8"),
        val(6, "16"),
        val(7, "32"),
        val(8, "64"),
    ]),
    "elements at each address",
);
const CH_MASK_COPY: Slot =
    field("ch_mask", Enc::Number { max: 8 }, "a copy of data_elems, as the reference writes it");
const ELEMS_COPY: Slot =
    field("data_elems", Enc::Number { max: 15 }, "a copy of ch_mask, as the reference writes it");
const CH_MASK: Slot = field("ch_mask", Enc::Hex { max: 15 }, "channels, x is bit 0");
const SURFACE: Slot = src("surface", Classes::GII.or(Classes::STATE).or(Classes::ADDRESS), TypeSet::ANY);
const DST: Slot =
    raw_dst_opt(TypeSet::ANY, "what is read; %null: prefetch, or no old values").touches(Bytes::LscData);
const ADDR: Slot = raw_src("addr", TypeSet::ANY, "addresses").touches(Bytes::LscAddresses);
const SRC1: Slot = raw_opt("src1", TypeSet::ANY, "first source of an atomic").touches(Bytes::LscData);
const SRC2: Slot = raw_opt("src2", TypeSet::ANY, "second source of an atomic").touches(Bytes::LscData);
const DATA: Slot = raw_src("src1", TypeSet::ANY, "what is written").touches(Bytes::LscData);
const STRIDE: Slot = src("stride", Classes::GII.or(Classes::ADDRESS), TypeSet::ANY);
const NO_DST: Slot = raw_opt("unused_dst", TypeSet::NONE, "%null").touches(Bytes::Fixed(0));
const NO_SRC1: Slot = raw_opt("unused_src1", TypeSet::NONE, "%null").touches(Bytes::Fixed(0));
const NO_SRC2: Slot = raw_opt("unused_src2", TypeSet::NONE, "%null").touches(Bytes::Fixed(0));

const U_LOAD: &[Slot] = &[
    EXEC,
    PRED,
    SFID,
    L1,
    L3,
    ADDR_TYPE,
    IMM_SCALE,
    IMM_OFFSET,
    ADDR_SIZE,
    DATA_SIZE,
    DATA_ORDER,
    DATA_ELEMS,
    CH_MASK_COPY,
    SURFACE,
    DST,
    ADDR,
    NO_SRC1,
    NO_SRC2,
    L2,
    SURFACE_INDEX,
    OV,
];
const U_STATUS: &[Slot] = &[
    EXEC,
    PRED,
    SFID,
    L1,
    L3,
    ADDR_TYPE,
    IMM_SCALE,
    IMM_OFFSET,
    ADDR_SIZE,
    DATA_SIZE,
    DATA_ORDER,
    DATA_ELEMS,
    CH_MASK_COPY,
    SURFACE,
    DST.touches(Bytes::Fixed(4)),
    ADDR,
    NO_SRC1,
    NO_SRC2,
    L2,
    SURFACE_INDEX,
    OV,
];
const U_STORE: &[Slot] = &[
    EXEC,
    PRED,
    SFID,
    L1,
    L3,
    ADDR_TYPE,
    IMM_SCALE,
    IMM_OFFSET,
    ADDR_SIZE,
    DATA_SIZE,
    DATA_ORDER,
    DATA_ELEMS,
    CH_MASK_COPY,
    SURFACE,
    NO_DST,
    ADDR,
    DATA,
    NO_SRC2,
    L2,
    SURFACE_INDEX,
];
const U_LOAD_QUAD: &[Slot] = &[
    EXEC,
    PRED,
    SFID,
    L1,
    L3,
    ADDR_TYPE,
    IMM_SCALE,
    IMM_OFFSET,
    ADDR_SIZE,
    DATA_SIZE,
    DATA_ORDER,
    ELEMS_COPY,
    CH_MASK,
    SURFACE,
    DST,
    ADDR,
    NO_SRC1,
    NO_SRC2,
    L2,
    SURFACE_INDEX,
    OV,
];
const U_STORE_QUAD: &[Slot] = &[
    EXEC,
    PRED,
    SFID,
    L1,
    L3,
    ADDR_TYPE,
    IMM_SCALE,
    IMM_OFFSET,
    ADDR_SIZE,
    DATA_SIZE,
    DATA_ORDER,
    ELEMS_COPY,
    CH_MASK,
    SURFACE,
    NO_DST,
    ADDR,
    DATA,
    NO_SRC2,
    L2,
    SURFACE_INDEX,
];
const U_ATOMIC: &[Slot] = &[
    EXEC,
    PRED,
    SFID,
    L1,
    L3,
    ADDR_TYPE,
    IMM_SCALE,
    IMM_OFFSET,
    ADDR_SIZE,
    DATA_SIZE,
    DATA_ORDER,
    DATA_ELEMS,
    CH_MASK_COPY,
    SURFACE,
    DST,
    ADDR,
    SRC1,
    SRC2,
    L2,
    SURFACE_INDEX,
];
const U_LOAD_STRIDED: &[Slot] = &[
    EXEC,
    PRED,
    SFID,
    L1,
    L3,
    ADDR_TYPE,
    IMM_SCALE,
    IMM_OFFSET,
    ADDR_SIZE,
    DATA_SIZE,
    DATA_ORDER,
    DATA_ELEMS,
    CH_MASK_COPY,
    SURFACE,
    DST,
    ADDR,
    STRIDE,
    NO_SRC1,
    L2,
    SURFACE_INDEX,
];
const U_STORE_STRIDED: &[Slot] = &[
    EXEC,
    PRED,
    SFID,
    L1,
    L3,
    ADDR_TYPE,
    IMM_SCALE,
    IMM_OFFSET,
    ADDR_SIZE,
    DATA_SIZE,
    DATA_ORDER,
    DATA_ELEMS,
    CH_MASK_COPY,
    SURFACE,
    NO_DST,
    ADDR,
    STRIDE,
    DATA,
    L2,
    SURFACE_INDEX,
];
const BLOCKS: Slot = field("blocks", Enc::Number { max: 64 }, "blocks side by side");
const WIDTH: Slot = wide("width", 2, Enc::Number { max: 64 }, "elements of a row of a block");
const HEIGHT: Slot = wide("height", 2, Enc::Number { max: 64 }, "rows of a block");
const VNNI: Slot = field("vnni", Enc::Number { max: 1 }, "rows are interleaved to dwords");
const VEC: Classes = Classes::GII.or(Classes::ADDRESS);
const U_LOAD_2D: &[Slot] = &[
    EXEC,
    PRED,
    SFID,
    L1,
    L3,
    DATA_SIZE,
    DATA_ORDER,
    BLOCKS,
    WIDTH,
    HEIGHT,
    VNNI,
    DST.touches(Bytes::LscBlock2d),
    src("surface_base", VEC, TypeSet::ANY),
    src("surface_width", VEC, TypeSet::ANY),
    src("surface_height", VEC, TypeSet::ANY),
    src("surface_pitch", VEC, TypeSet::ANY),
    src("x", VEC, TypeSet::ANY),
    src("y", VEC, TypeSet::ANY),
    NO_SRC1,
    L2,
    X_OFFSET,
    Y_OFFSET,
    PAYLOAD,
];
const U_STORE_2D: &[Slot] = &[
    EXEC,
    PRED,
    SFID,
    L1,
    L3,
    DATA_SIZE,
    DATA_ORDER,
    BLOCKS,
    WIDTH,
    HEIGHT,
    VNNI,
    NO_DST,
    src("surface_base", VEC, TypeSet::ANY),
    src("surface_width", VEC, TypeSet::ANY),
    src("surface_height", VEC, TypeSet::ANY),
    src("surface_pitch", VEC, TypeSet::ANY),
    src("x", VEC, TypeSet::ANY),
    src("y", VEC, TypeSet::ANY),
    DATA.touches(Bytes::LscBlock2d),
    L2,
    X_OFFSET,
    Y_OFFSET,
    PAYLOAD,
];
const U: Slot = raw_opt("u", TypeSet::ANY, "U coordinates").touches(Bytes::LscAddresses);
const V: Slot = raw_opt("v", TypeSet::ANY, "V coordinates").touches(Bytes::LscAddresses);
const R: Slot = raw_opt("r", TypeSet::ANY, "R coordinates").touches(Bytes::LscAddresses);
const LOD: Slot = raw_opt("lod", TypeSet::ANY, "levels of detail").touches(Bytes::LscAddresses);
const T_STATE: &[Slot] = &[
    EXEC,
    PRED,
    L1,
    L3,
    ADDR_TYPE,
    ADDR_SIZE,
    DATA_SIZE,
    DATA_ORDER,
    DATA_ELEMS,
    CH_MASK_COPY,
    SURFACE,
    DST.touches(Bytes::Register),
    U,
    V,
    R,
    LOD,
    NO_SRC1,
    NO_SRC2,
    SURFACE_INDEX,
];
const T_STATUS: &[Slot] = &[
    EXEC,
    PRED,
    L1,
    L3,
    ADDR_TYPE,
    ADDR_SIZE,
    DATA_SIZE,
    DATA_ORDER,
    DATA_ELEMS,
    CH_MASK_COPY,
    SURFACE,
    DST.touches(Bytes::Fixed(4)),
    U,
    V,
    R,
    LOD,
    NO_SRC1,
    NO_SRC2,
    L2,
    SURFACE_INDEX,
    U_OFFSET,
    V_OFFSET,
    R_OFFSET,
];
const T_STORE: &[Slot] = &[
    EXEC,
    PRED,
    L1,
    L3,
    ADDR_TYPE,
    ADDR_SIZE,
    DATA_SIZE,
    DATA_ORDER,
    DATA_ELEMS,
    CH_MASK_COPY,
    SURFACE,
    NO_DST,
    U,
    V,
    R,
    LOD,
    DATA,
    NO_SRC2,
    L2,
    SURFACE_INDEX,
    U_OFFSET,
    V_OFFSET,
    R_OFFSET,
];
const T_LOAD_QUAD: &[Slot] = &[
    EXEC,
    PRED,
    L1,
    L3,
    ADDR_TYPE,
    ADDR_SIZE,
    DATA_SIZE,
    DATA_ORDER,
    ELEMS_COPY,
    CH_MASK,
    SURFACE,
    DST,
    U,
    V,
    R,
    LOD,
    NO_SRC1,
    NO_SRC2,
    L2,
    SURFACE_INDEX,
    U_OFFSET,
    V_OFFSET,
    R_OFFSET,
];
const T_STORE_QUAD: &[Slot] = &[
    EXEC,
    PRED,
    L1,
    L3,
    ADDR_TYPE,
    ADDR_SIZE,
    DATA_SIZE,
    DATA_ORDER,
    ELEMS_COPY,
    CH_MASK,
    SURFACE,
    NO_DST,
    U,
    V,
    R,
    LOD,
    DATA,
    NO_SRC2,
    L2,
    SURFACE_INDEX,
    U_OFFSET,
    V_OFFSET,
    R_OFFSET,
];
const T_ATOMIC: &[Slot] = &[
    EXEC,
    PRED,
    L1,
    L3,
    ADDR_TYPE,
    ADDR_SIZE,
    DATA_SIZE,
    DATA_ORDER,
    DATA_ELEMS,
    CH_MASK_COPY,
    SURFACE,
    DST,
    U,
    V,
    R,
    LOD,
    SRC1,
    SRC2,
    L2,
    SURFACE_INDEX,
    U_OFFSET,
    V_OFFSET,
    R_OFFSET,
    MSAA,
];

const LSC: InstDesc = InstDesc {
    family: Family::Lsc,
    platforms: Platforms::DG2_UP,
    out_of_bounds: OutOfBounds::Fault,
    ..EMPTY
};
const UNTYPED: InstDesc = InstDesc {
    page: "LSC_UNTYPED",
    note: "Flat addresses fault; accesses outside of a surface read zero and drop writes.",
    ..LSC
};
const TYPED: InstDesc = InstDesc {
    page: "LSC_TYPED",
    out_of_bounds: OutOfBounds::ReadsZero,
    note: "The shared function is tgm and has no field. Coordinates that are left out are %null.",
    ..LSC
};
const BLOCK_2D: InstDesc = InstDesc {
    platforms: Platforms::PVC_UP,
    exec_sizes: 1,
    out_of_bounds: OutOfBounds::ReadsZero,
    note: "Surface width, height and pitch are less one; no mask. What lies outside of the surface reads zero and is not written.",
    ..UNTYPED
};
const QUAD_NOTE: &str =
    "The binary holds mask and number of elements in two bytes; the reference writes the mask into both.";

macro_rules! lsc {
    (@slots load) => { U_LOAD };
    (@slots status) => { U_STATUS };
    (@slots typed_status) => { T_STATUS };
    (@slots store) => { U_STORE };
    (@slots load_quad) => { U_LOAD_QUAD };
    (@slots store_quad) => { U_STORE_QUAD };
    (@slots atomic) => { U_ATOMIC };
    (@slots load_strided) => { U_LOAD_STRIDED };
    (@slots store_strided) => { U_STORE_STRIDED };
    (@slots load_2d) => { U_LOAD_2D };
    (@slots store_2d) => { U_STORE_2D };
    (@slots typed_store) => { T_STORE };
    (@slots typed_load_quad) => { T_LOAD_QUAD };
    (@slots typed_store_quad) => { T_STORE_QUAD };
    (@slots typed_atomic) => { T_ATOMIC };
    (@text load) => { ".{sfid}{@lsc_cache}[.ov?ov] {exec} {@lsc_data} {@lsc_addr}" };
    (@text store) => { ".{sfid}{@lsc_cache} {exec} {@lsc_addr} {@lsc_data}" };
    (@text status) => { lsc!(@text load) };
    (@text typed_status) => { lsc!(@text typed_load) };
    (@text load_quad) => { lsc!(@text load) };
    (@text store_quad) => { lsc!(@text store) };
    (@text atomic) => { ".{sfid}{@lsc_cache} {exec} {@lsc_data} {@lsc_addr} {src1} {src2}" };
    (@text load_strided) => { ".{sfid}{@lsc_cache} {exec} {@lsc_data} {@lsc_addr_strided}" };
    (@text store_strided) => { ".{sfid}{@lsc_cache} {exec} {@lsc_addr_strided} {@lsc_data}" };
    (@text load_2d) => { ".{sfid}{@lsc_cache} {exec} {@lsc_data2d} {@lsc_addr2d}" };
    (@text store_2d) => { ".{sfid}{@lsc_cache} {exec} {@lsc_addr2d} {@lsc_data2d}" };
    (@text typed_load) => { ".tgm{@lsc_cache} {exec} {@lsc_data} {@lsc_typed_addr}" };
    (@text typed_store) => { ".tgm{@lsc_cache} {exec} {@lsc_typed_addr} {@lsc_data}" };
    (@text typed_load_quad) => { lsc!(@text typed_load) };
    (@text typed_store_quad) => { lsc!(@text typed_store) };
    (@text typed_atomic) => { ".tgm{@lsc_cache}[.msaa?msaa] {exec} {@lsc_data} {@lsc_typed_addr} {src1} {src2}" };
    (@operation atomic) => { Some(Operation::Message(Message::LscAtomic)) };
    (@operation typed_atomic) => { Some(Operation::Message(Message::LscTexelAtomic)) };
    // The row says.
    (@operation $other:ident) => { None };
    (@effect load) => { Effect::Read };
    (@effect status) => { Effect::Read };
    (@effect typed_status) => { Effect::Read };
    (@effect store) => { Effect::Write };
    (@effect load_quad) => { Effect::Read };
    (@effect store_quad) => { Effect::Write };
    (@effect atomic) => { Effect::Atomic };
    (@effect load_strided) => { Effect::Read };
    (@effect store_strided) => { Effect::Write };
    (@effect load_2d) => { Effect::Read };
    (@effect store_2d) => { Effect::Write };
    (@effect typed_store) => { Effect::Write };
    (@effect typed_load_quad) => { Effect::Read };
    (@effect typed_store_quad) => { Effect::Write };
    (@effect typed_atomic) => { Effect::Atomic };
    ($(
        $name:ident = $opcode:literal $sub:literal $kind:ident $head:literal from $base:ident,
        $brief:literal, $semantics:literal $(, $field:ident : $value:expr)* ;
    )*) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        pub static $name: InstDesc = InstDesc {
            $($field: $value,)*
            ..InstDesc {
                name: stringify!($name),
                opcode: $opcode,
                sub: Some($sub),
                slots: lsc!(@slots $kind),
                forms: &[form($head, concat!("{pred} ", $head, lsc!(@text $kind)))],
                operation: lsc!(@operation $kind),
                effect: lsc!(@effect $kind),
                brief: $brief,
                semantics: $semantics,
                ..$base
            }
        };
    )* };
}

const XE2: Platforms = Platforms::from(Platform::Xe2);
const XE3P: Platforms = Platforms::from(Platform::Xe3p);

lsc! {
    LSC_LOAD = 0x89 0x00 load "lsc_load" from UNTYPED,
        "Reads elements from scattered addresses.",
        "a = base + imm_scale * addr[i] + imm_offset; for v in 0..data_elems: n: dst.reg_row[v][i] = mem[a].elem[v]; t: dst.elem[v] = mem[a].elem[v]",
        operation: Some(Operation::Message(Message::Lsc(Access::Load, LscShape::Vector)));
    LSC_LOAD_STRIDED = 0x89 0x01 load_strided "lsc_load_strided" from UNTYPED,
        "Reads elements at a fixed distance from one address.",
        "a = base + addr[0] + i * stride + imm_offset; then as LSC_LOAD",
        note: "Without a stride in the text the binary holds the bytes of one access.",
        operation: Some(Operation::Message(Message::Lsc(Access::Load, LscShape::Strided)));
    LSC_LOAD_QUAD = 0x89 0x02 load_quad "lsc_load_quad" from UNTYPED,
        "Reads up to four elements, by a channel mask, from scattered addresses.",
        "k = 0; for c in ch_mask: { dst.reg_row[k][i] = mem[a].elem[c]; k += 1 }",
        note: QUAD_NOTE,
        operation: Some(Operation::Message(Message::Lsc(Access::Load, LscShape::Quad)));
    LSC_LOAD_BLOCK2D = 0x89 0x03 load_2d "lsc_load_block2d" from BLOCK_2D,
        "Reads rectangular blocks of a flat 2D surface.",
        "for b, r, c: dst.block[b][r][c] = mem[surface_base + (y + r) * pitch + (x + b * width + c) * size]; rows padded to powers of two, blocks to registers; t transposes, vnni interleaves rows to dwords",
        operation: Some(Operation::Message(Message::LscBlock2d(Access::Load)));
    LSC_STORE = 0x89 0x04 store "lsc_store" from UNTYPED,
        "Writes elements to scattered addresses.",
        "a = base + imm_scale * addr[i] + imm_offset; for v in 0..data_elems: n: mem[a].elem[v] = src1.reg_row[v][i]; t: mem[a].elem[v] = src1.elem[v]",
        operation: Some(Operation::Message(Message::Lsc(Access::Store, LscShape::Vector)));
    LSC_STORE_STRIDED = 0x89 0x05 store_strided "lsc_store_strided" from UNTYPED,
        "Writes elements at a fixed distance from one address.",
        "a = base + addr[0] + i * stride + imm_offset; then as LSC_STORE",
        note: "Without a stride in the text the binary holds the bytes of one access.",
        operation: Some(Operation::Message(Message::Lsc(Access::Store, LscShape::Strided)));
    LSC_STORE_QUAD = 0x89 0x06 store_quad "lsc_store_quad" from UNTYPED,
        "Writes up to four elements, by a channel mask, to scattered addresses.",
        "k = 0; for c in ch_mask: { mem[a].elem[c] = src1.reg_row[k][i]; k += 1 }",
        note: QUAD_NOTE,
        operation: Some(Operation::Message(Message::Lsc(Access::Store, LscShape::Quad)));
    LSC_STORE_BLOCK2D = 0x89 0x07 store_2d "lsc_store_block2d" from BLOCK_2D,
        "Writes a rectangular block of a flat 2D surface.",
        "for r, c: mem[surface_base + (y + r) * pitch + (x + c) * size] = src1.block[r][c]; rows padded to powers of two",
        operation: Some(Operation::Message(Message::LscBlock2d(Access::Store)));
    LSC_ATOMIC_IINC = 0x89 0x08 atomic "lsc_atomic_iinc" from UNTYPED, "Atomic increment.", "new = old + 1; dst = old";
    LSC_ATOMIC_IDEC = 0x89 0x09 atomic "lsc_atomic_idec" from UNTYPED, "Atomic decrement.", "new = old - 1; dst = new";
    LSC_ATOMIC_LOAD = 0x89 0x0a atomic "lsc_atomic_load" from UNTYPED, "Atomic load.", "dst = old";
    LSC_ATOMIC_STORE = 0x89 0x0b atomic "lsc_atomic_store" from UNTYPED, "Atomic store (exchange).", "new = src1; dst = old";
    LSC_ATOMIC_IADD = 0x89 0x0c atomic "lsc_atomic_iadd" from UNTYPED, "Atomic add of integers.", "new = old + src1; dst = old";
    LSC_ATOMIC_ISUB = 0x89 0x0d atomic "lsc_atomic_isub" from UNTYPED, "Atomic subtract of integers.", "new = old - src1; dst = old";
    LSC_ATOMIC_SMIN = 0x89 0x0e atomic "lsc_atomic_smin" from UNTYPED, "Atomic minimum, signed.", "new = min(old, src1); dst = old";
    LSC_ATOMIC_SMAX = 0x89 0x0f atomic "lsc_atomic_smax" from UNTYPED, "Atomic maximum, signed.", "new = max(old, src1); dst = old";
    LSC_ATOMIC_UMIN = 0x89 0x10 atomic "lsc_atomic_umin" from UNTYPED, "Atomic minimum, unsigned.", "new = min(old, src1); dst = old";
    LSC_ATOMIC_UMAX = 0x89 0x11 atomic "lsc_atomic_umax" from UNTYPED, "Atomic maximum, unsigned.", "new = max(old, src1); dst = old";
    LSC_ATOMIC_ICAS = 0x89 0x12 atomic "lsc_atomic_icas" from UNTYPED, "Atomic compare and exchange of integers.", "new = old == src1 ? src2 : old; dst = old";
    LSC_ATOMIC_FADD = 0x89 0x13 atomic "lsc_atomic_fadd" from UNTYPED, "Atomic add of floats.", "new = old + src1; dst = old";
    LSC_ATOMIC_FSUB = 0x89 0x14 atomic "lsc_atomic_fsub" from UNTYPED, "Atomic subtract of floats.", "new = old - src1; dst = old";
    LSC_ATOMIC_FMIN = 0x89 0x15 atomic "lsc_atomic_fmin" from UNTYPED, "Atomic minimum of floats.", "new = min(old, src1); dst = old";
    LSC_ATOMIC_FMAX = 0x89 0x16 atomic "lsc_atomic_fmax" from UNTYPED, "Atomic maximum of floats.", "new = max(old, src1); dst = old";
    LSC_ATOMIC_FCAS = 0x89 0x17 atomic "lsc_atomic_fcas" from UNTYPED, "Atomic compare and exchange of floats.", "new = old == src1 ? src2 : old; dst = old";
    LSC_ATOMIC_AND = 0x89 0x18 atomic "lsc_atomic_and" from UNTYPED, "Atomic and.", "new = old & src1; dst = old";
    LSC_ATOMIC_OR = 0x89 0x19 atomic "lsc_atomic_or" from UNTYPED, "Atomic or.", "new = old | src1; dst = old";
    LSC_ATOMIC_XOR = 0x89 0x1a atomic "lsc_atomic_xor" from UNTYPED, "Atomic exclusive or.", "new = old ^ src1; dst = old";
    LSC_LOAD_STATUS = 0x89 0x1b status "lsc_load_status" from UNTYPED,
        "Asks whether the pages of addresses are resident.",
        "dst.bit[i] = pages of all elements at addr[i] are valid",
        operation: Some(Operation::Message(Message::LscStatus));
    LSC_STORE_UNCOMPRESSED = 0x89 0x1c store "lsc_store_uncompressed" from UNTYPED,
        "Writes like LSC_STORE, without compression.", "as LSC_STORE",
        operation: Some(Operation::Message(Message::Lsc(Access::Store, LscShape::Vector)));
    LSC_CCS_UPDATE = 0x89 0x1d store "lsc_ccs_update" from UNTYPED,
        "Updates compression control state.", "implementation-defined",
        note: "In the opcode list without a description.",
        operation: Some(Operation::Unsupported(Unsupported::CompressionControl));
    LSC_ATOMIC_BFADD = 0x89 0x21 atomic "lsc_atomic_bfadd" from UNTYPED, "Atomic add of brain floats.", "new = old + src1; dst = old", versions: Versions::V42, platforms: XE3P;
    LSC_ATOMIC_BFSUB = 0x89 0x22 atomic "lsc_atomic_bfsub" from UNTYPED, "Atomic subtract of brain floats.", "new = old - src1; dst = old", versions: Versions::V42, platforms: XE3P;
    LSC_ATOMIC_BFMIN = 0x89 0x23 atomic "lsc_atomic_bfmin" from UNTYPED, "Atomic minimum of brain floats.", "new = min(old, src1); dst = old", versions: Versions::V42, platforms: XE3P;
    LSC_ATOMIC_BFMAX = 0x89 0x24 atomic "lsc_atomic_bfmax" from UNTYPED, "Atomic maximum of brain floats.", "new = max(old, src1); dst = old", versions: Versions::V42, platforms: XE3P;
    LSC_ATOMIC_BFCAS = 0x89 0x25 atomic "lsc_atomic_bfcas" from UNTYPED, "Atomic compare and exchange of brain floats.", "new = old == src1 ? src2 : old; dst = old", versions: Versions::V42, platforms: XE3P;
    LSC_LOAD_QUAD_STATUS = 0x89 0x36 load_quad "lsc_load_quad_status" from UNTYPED,
        "Reads up to four elements, by a channel mask, and whether their pages are resident.",
        "as LSC_LOAD_QUAD; what else is returned has no public description",
        versions: Versions::V42, platforms: XE3P,
        note: "In the reference's opcode list; no page describes it.",
        operation: Some(Operation::Unsupported(Unsupported::ResidencyOfQuads));

    LSC_TYPED_LOAD_QUAD = 0x8a 0x02 typed_load_quad "lsc_load_quad" from TYPED,
        "Reads pixels of a typed surface.",
        "k = 0; for c in ch_mask: { dst.reg_row[k][i] = surface[u[i], v[i], r[i]].c; k += 1 }",
        operation: Some(Operation::Message(Message::LscTexels(Access::Load)));
    LSC_TYPED_STORE_QUAD = 0x8a 0x06 typed_store_quad "lsc_store_quad" from TYPED,
        "Writes pixels of a typed surface.",
        "k = 0; for c in ch_mask: { surface[u[i], v[i], r[i]].c = src1.reg_row[k][i]; k += 1 }",
        operation: Some(Operation::Message(Message::LscTexels(Access::Store)));
    LSC_TYPED_ATOMIC_IINC = 0x8a 0x08 typed_atomic "lsc_atomic_iinc" from TYPED, "Atomic increment.", "new = old + 1; dst = old";
    LSC_TYPED_ATOMIC_IDEC = 0x8a 0x09 typed_atomic "lsc_atomic_idec" from TYPED, "Atomic decrement.", "new = old - 1; dst = new";
    LSC_TYPED_ATOMIC_LOAD = 0x8a 0x0a typed_atomic "lsc_atomic_load" from TYPED, "Atomic load.", "dst = old";
    LSC_TYPED_ATOMIC_STORE = 0x8a 0x0b typed_atomic "lsc_atomic_store" from TYPED, "Atomic store (exchange).", "new = src1; dst = old";
    LSC_TYPED_ATOMIC_IADD = 0x8a 0x0c typed_atomic "lsc_atomic_iadd" from TYPED, "Atomic add of integers.", "new = old + src1; dst = old";
    LSC_TYPED_ATOMIC_ISUB = 0x8a 0x0d typed_atomic "lsc_atomic_isub" from TYPED, "Atomic subtract of integers.", "new = old - src1; dst = old";
    LSC_TYPED_ATOMIC_SMIN = 0x8a 0x0e typed_atomic "lsc_atomic_smin" from TYPED, "Atomic minimum, signed.", "new = min(old, src1); dst = old";
    LSC_TYPED_ATOMIC_SMAX = 0x8a 0x0f typed_atomic "lsc_atomic_smax" from TYPED, "Atomic maximum, signed.", "new = max(old, src1); dst = old";
    LSC_TYPED_ATOMIC_UMIN = 0x8a 0x10 typed_atomic "lsc_atomic_umin" from TYPED, "Atomic minimum, unsigned.", "new = min(old, src1); dst = old";
    LSC_TYPED_ATOMIC_UMAX = 0x8a 0x11 typed_atomic "lsc_atomic_umax" from TYPED, "Atomic maximum, unsigned.", "new = max(old, src1); dst = old";
    LSC_TYPED_ATOMIC_ICAS = 0x8a 0x12 typed_atomic "lsc_atomic_icas" from TYPED, "Atomic compare and exchange of integers.", "new = old == src1 ? src2 : old; dst = old";
    LSC_TYPED_ATOMIC_FADD = 0x8a 0x13 typed_atomic "lsc_atomic_fadd" from TYPED, "Atomic add of floats.", "new = old + src1; dst = old";
    LSC_TYPED_ATOMIC_FSUB = 0x8a 0x14 typed_atomic "lsc_atomic_fsub" from TYPED, "Atomic subtract of floats.", "new = old - src1; dst = old";
    LSC_TYPED_ATOMIC_FMIN = 0x8a 0x15 typed_atomic "lsc_atomic_fmin" from TYPED, "Atomic minimum of floats.", "new = min(old, src1); dst = old";
    LSC_TYPED_ATOMIC_FMAX = 0x8a 0x16 typed_atomic "lsc_atomic_fmax" from TYPED, "Atomic maximum of floats.", "new = max(old, src1); dst = old";
    LSC_TYPED_ATOMIC_FCAS = 0x8a 0x17 typed_atomic "lsc_atomic_fcas" from TYPED, "Atomic compare and exchange of floats.", "new = old == src1 ? src2 : old; dst = old";
    LSC_TYPED_ATOMIC_AND = 0x8a 0x18 typed_atomic "lsc_atomic_and" from TYPED, "Atomic and.", "new = old & src1; dst = old";
    LSC_TYPED_ATOMIC_OR = 0x8a 0x19 typed_atomic "lsc_atomic_or" from TYPED, "Atomic or.", "new = old | src1; dst = old";
    LSC_TYPED_ATOMIC_XOR = 0x8a 0x1a typed_atomic "lsc_atomic_xor" from TYPED, "Atomic exclusive or.", "new = old ^ src1; dst = old";
    LSC_TYPED_LOAD_STATUS = 0x8a 0x1b typed_status "lsc_load_status" from TYPED,
        "Asks whether the pages of pixels are resident.",
        "dst.bit[i] = the page of surface[u[i], v[i], r[i]] is valid",
        note: "The reference assembler has no text for it.",
        operation: Some(Operation::Message(Message::LscTexelStatus));
    LSC_TYPED_STORE_UNCOMPRESSED = 0x8a 0x1c typed_store "lsc_store_uncompressed" from TYPED,
        "Writes without compression.", "as LSC_TYPED_STORE_QUAD",
        note: "The reference assembler has no text for it.",
        operation: Some(Operation::Message(Message::LscTexelsCounted));
    LSC_TYPED_CCS_UPDATE = 0x8a 0x1d typed_store "lsc_ccs_update" from TYPED,
        "Updates compression control state.", "implementation-defined",
        note: "In the opcode list without a description or text.",
        operation: Some(Operation::Unsupported(Unsupported::CompressionControl));
    LSC_TYPED_LOAD_QUAD_MSRT = 0x8a 0x31 typed_load_quad "lsc_load_quad_msrt" from TYPED,
        "Reads pixels of a multi-sampled typed surface.",
        "as LSC_TYPED_LOAD_QUAD, with a sample index",
        versions: Versions::V42, platforms: XE2,
        operation: Some(Operation::Unsupported(Unsupported::Multisampling));
    LSC_TYPED_STORE_QUAD_MSRT = 0x8a 0x32 typed_store_quad "lsc_store_quad_msrt" from TYPED,
        "Writes pixels of a multi-sampled typed surface.",
        "as LSC_TYPED_STORE_QUAD, with a sample index",
        versions: Versions::V42, platforms: XE2,
        operation: Some(Operation::Unsupported(Unsupported::Multisampling));
    LSC_TYPED_LOAD_QUAD_STATUS = 0x8a 0x36 typed_load_quad "lsc_load_quad_status" from TYPED,
        "Reads pixels of a typed surface, and whether their pages are resident.",
        "as LSC_TYPED_LOAD_QUAD; what else is returned has no public description",
        versions: Versions::V42, platforms: XE3P,
        note: "In the reference's opcode list; no page describes it.",
        operation: Some(Operation::Unsupported(Unsupported::ResidencyOfQuads));
}

/// `LSC_TYPED_READ_STATE_INFO`.
pub static LSC_TYPED_READ_STATE_INFO: InstDesc = InstDesc {
    name: "LSC_TYPED_READ_STATE_INFO",
    operation: Some(Operation::Unsupported(Unsupported::SurfaceState)),
    opcode: 0x8a,
    sub: Some(0x1e),
    slots: T_STATE,
    forms: &[fixed(
        "lsc_read_state_info",
        "{pred} lsc_read_state_info.tgm {dst} {@lsc_surface}",
        &[
            ("exec", 0x80),
            ("l1", 0),
            ("l3", 0),
            ("addr_size", 2),
            ("data_size", 3),
            ("data_order", 1),
            ("data_elems", 1),
            ("ch_mask", 1),
            ("u", 0),
            ("v", 0),
            ("r", 0),
            ("lod", 0),
        ],
    )],
    exec_sizes: 1,
    effect: Effect::Read,
    brief: "Reads the state of a surface.",
    semantics: "dst = state of the surface",
    note: "Size, mask and shape have no text: (M1_NM, 1), one dword.",
    ..TYPED
};

const T_LOAD_2D: &[Slot] = &[
    L1,
    L3,
    ADDR_TYPE,
    WIDTH,
    HEIGHT,
    SURFACE,
    DST.touches(Bytes::Rectangle),
    src("x", VEC, TypeSet::ANY),
    src("y", VEC, TypeSet::ANY),
    NO_SRC1,
    L2,
    SURFACE_INDEX,
    X_OFFSET,
    Y_OFFSET,
];
const T_STORE_2D: &[Slot] = &[
    L1,
    L3,
    ADDR_TYPE,
    WIDTH,
    HEIGHT,
    SURFACE,
    NO_DST,
    src("x", VEC, TypeSet::ANY),
    src("y", VEC, TypeSet::ANY),
    DATA.touches(Bytes::Rectangle),
    L2,
    SURFACE_INDEX,
    X_OFFSET,
    Y_OFFSET,
];
const TYPED_2D: InstDesc = InstDesc {
    opcode: 0x8a,
    versions: Versions::V42,
    platforms: XE2,
    note: "Layout of the page; the current reader also takes execution size, predicate and an index of the surface.",
    ..TYPED
};

/// `LSC_TYPED_LOAD_BLOCK2D`, from 4.2.
pub static LSC_TYPED_LOAD_BLOCK2D: InstDesc = InstDesc {
    name: "LSC_TYPED_LOAD_BLOCK2D",
    operation: Some(Operation::Message(Message::LscMedia(Access::Load))),
    opcode: 0x8a,
    sub: Some(0x03),
    slots: T_LOAD_2D,
    forms: &[form(
        "lsc_load_block2d",
        "lsc_load_block2d.tgm{@lsc_cache} {@lsc_data2d_typed} {@lsc_typed_addr2d}",
    )],
    effect: Effect::Read,
    brief: "Reads a block of bytes of a typed 2D surface.",
    semantics: "for r, c: dst.byte[r * pitch + c] = surface[y + r][x + c]; pitch: the next power of two, at least 4",
    ..TYPED_2D
};

/// `LSC_TYPED_STORE_BLOCK2D`, from 4.2.
pub static LSC_TYPED_STORE_BLOCK2D: InstDesc = InstDesc {
    name: "LSC_TYPED_STORE_BLOCK2D",
    operation: Some(Operation::Message(Message::LscMedia(Access::Store))),
    opcode: 0x8a,
    sub: Some(0x07),
    slots: T_STORE_2D,
    forms: &[form(
        "lsc_store_block2d",
        "lsc_store_block2d.tgm{@lsc_cache} {@lsc_typed_addr2d} {@lsc_data2d_typed}",
    )],
    effect: Effect::Write,
    brief: "Writes a block of bytes of a typed 2D surface.",
    semantics: "for r, c: surface[y + r][x + c] = src1.byte[r * pitch + c]; pitch: the next power of two, at least 4",
    ..TYPED_2D
};

const U_COUNTER: &[Slot] = &[
    EXEC,
    PRED,
    SFID,
    L1,
    L3,
    ADDR_TYPE,
    DATA_SIZE,
    DATA_ORDER,
    DATA_ELEMS,
    CH_MASK_COPY,
    SURFACE,
    DST,
    raw_opt("src0", TypeSet::ANY, "what is added or subtracted").touches(Bytes::LscData),
    L2,
    SURFACE_INDEX,
];
const COUNTER: InstDesc = InstDesc {
    opcode: 0x89,
    versions: Versions::V42,
    platforms: XE2,
    slots: U_COUNTER,
    effect: Effect::Atomic,
    note: "The counter is the surface's auxiliary address.",
    ..UNTYPED
};

/// `LSC_APNDCTR_ATOMIC_ADD`, from 4.2.
pub static LSC_APNDCTR_ATOMIC_ADD: InstDesc = InstDesc {
    name: "LSC_APNDCTR_ATOMIC_ADD",
    operation: Some(Operation::Unsupported(Unsupported::AppendCounter)),
    opcode: 0x89,
    sub: Some(0x28),
    forms: &[form(
        "lsc_apndctr_atomic_add",
        "{pred} lsc_apndctr_atomic_add.{sfid}{@lsc_cache} {exec} {@lsc_data} {@lsc_surface} {src0}",
    )],
    brief: "Adds to a surface's append counter.",
    semantics: "for each channel: dst[i] = counter; counter += src0[i]",
    ..COUNTER
};

/// `LSC_APNDCTR_ATOMIC_SUB`, from 4.2.
pub static LSC_APNDCTR_ATOMIC_SUB: InstDesc = InstDesc {
    name: "LSC_APNDCTR_ATOMIC_SUB",
    operation: Some(Operation::Unsupported(Unsupported::AppendCounter)),
    opcode: 0x89,
    sub: Some(0x29),
    forms: &[form(
        "lsc_apndctr_atomic_sub",
        "{pred} lsc_apndctr_atomic_sub.{sfid}{@lsc_cache} {exec} {@lsc_data} {@lsc_surface} {src0}",
    )],
    brief: "Subtracts from a surface's append counter.",
    semantics: "for each channel: dst[i] = counter; counter -= src0[i]",
    ..COUNTER
};

/// `LSC_APNDCTR_ATOMIC_STORE`, from 4.2.
pub static LSC_APNDCTR_ATOMIC_STORE: InstDesc = InstDesc {
    name: "LSC_APNDCTR_ATOMIC_STORE",
    operation: Some(Operation::Unsupported(Unsupported::AppendCounter)),
    opcode: 0x89,
    sub: Some(0x2a),
    forms: &[form(
        "lsc_apndctr_atomic_store",
        "{pred} lsc_apndctr_atomic_store.{sfid}{@lsc_cache} {exec} {@lsc_data} {@lsc_surface} {src0}",
    )],
    brief: "Sets a surface's append counter.",
    semantics: "dst[i] = counter; counter = src0[i]",
    ..COUNTER
};

/// `LSC_EXTENDED_CACHE_CTRL`, not on a page.
pub static LSC_EXTENDED_CACHE_CTRL: InstDesc = InstDesc {
    name: "LSC_EXTENDED_CACHE_CTRL",
    operation: Some(Operation::Fence),
    opcode: 0x89,
    sub: Some(0x33),
    versions: Versions::V42,
    platforms: XE3P,
    slots: &[
        EXEC,
        PRED,
        SFID,
        L1,
        L3,
        field("operation", Enc::Values(&[val(1, "reset")]), "what happens to dirty lines"),
        field("size", Enc::Values(&[val(0, "64B")]), "bytes of a line"),
        ADDR_TYPE,
        ADDR_SIZE,
        ADDR,
        L2,
    ],
    forms: &[form(
        "lsc_extended_cache_ctrl",
        "{pred} lsc_extended_cache_ctrl.{sfid}{@lsc_cache}.{operation}.{size} {exec} {@lsc_addr_plain}",
    )],
    effect: Effect::Fence,
    brief: "Controls cache lines by address.",
    semantics: "the cache line of addr[i] loses its dirty state",
    note: "In the opcode list without a page.",
    ..UNTYPED
};

/// `LSC_FENCE`.
pub static LSC_FENCE: InstDesc = InstDesc {
    name: "LSC_FENCE",
    operation: Some(Operation::Fence),
    opcode: 0x8b,
    slots: &[
        EXEC,
        PRED,
        ANY_SFID,
        field(
            "fence_op",
            Enc::Values(&[
                val(0, "none"),
                val(1, "evict"),
                val(2, "invalidate"),
                val(3, "discard"),
                val(4, "clean"),
                val(5, "flushl3"),
                Value { code: 6, text: "type6", platforms: Platforms::ALL, doc: "not on the page" },
            ]),
            "what happens to cached lines",
        ),
        field(
            "scope",
            Enc::Values(&[
                val(0, "group"),
                val(1, "local"),
                val(2, "tile"),
                val(3, "gpu"),
                val(4, "gpus"),
                Value { code: 5, text: "sysrel", platforms: Platforms::ALL, doc: "`system` on the page" },
                val(6, "sysacq"),
            ]),
            "who must observe the accesses",
        ),
    ],
    forms: &[fixed("lsc_fence", "lsc_fence.{sfid}.{fence_op}.{scope}", &[("exec", 0x80)])],
    exec_sizes: 1,
    effect: Effect::Fence,
    out_of_bounds: OutOfBounds::Unspecified,
    page: "LSC_FENCE",
    brief: "Waits until earlier accesses of a shared function are visible in a scope.",
    semantics: "wait for pending accesses; then fence_op on the caches",
    note: "Size and mask have no text: (M1_NM, 1).",
    ..LSC
};
