//! Fields and registers of load/store-cache messages, and which message has which.

use crate::desc::*;
use crate::lsc::{addr_type, caching, sfid};
use crate::table::common::*;
use crate::{Platform, Platforms, TypeSet};

const XE3P: Platforms = Platforms::from(Platform::Xe3p);

pub(super) const SFID: Slot = field(
    SlotName::Sfid,
    Enc::Values(&[
        Value { code: sfid::UGM, text: "ugm", platforms: Platforms::ALL, doc: "untyped global memory" },
        Value {
            code: sfid::UGML,
            text: "ugml",
            platforms: Platforms::ALL,
            doc: "untyped global memory, low bandwidth",
        },
        Value { code: sfid::SLM, text: "slm", platforms: Platforms::ALL, doc: "shared local memory" },
    ]),
    "shared function",
);
pub(super) const ANY_SFID: Slot = field(
    SlotName::Sfid,
    Enc::Values(&[
        val(sfid::UGM, "ugm"),
        val(sfid::UGML, "ugml"),
        val(sfid::TGM, "tgm"),
        val(sfid::SLM, "slm"),
    ]),
    "shared function",
);

pub(super) const CACHING: &[Value] = &[
    val(caching::DEFAULT, "df"),
    val(caching::UNCACHED, "uc"),
    val(caching::CACHED, "ca"),
    val(caching::WRITE_BACK, "wb"),
    val(caching::WRITE_THROUGH, "wt"),
    val(caching::STREAMED, "st"),
    val(caching::INVALIDATED, "ri"),
    Value {
        code: caching::CONSTANT,
        text: "cc",
        platforms: Platforms::from(Platform::Xe2),
        doc: "constant cached; the 4.1 tools read it as ri",
    },
];
pub(super) const L1: Slot = field(SlotName::L1, Enc::Values(CACHING), "caching in L1");
pub(super) const L3: Slot = field(SlotName::L3, Enc::Values(CACHING), "caching in L3");
/// What only 4.2's text says; no page draws it in a binary.
pub(super) const V42: (u8, u8) = (4, 2);
/// A level between L1 and L3, named by texts for platforms that have three.
const fn second(code: u32, text: &'static str) -> Value {
    Value { code, text, platforms: XE3P, doc: "" }
}
pub(super) const L2: Slot = field(
    SlotName::L2,
    Enc::Values(&[
        val(0, "none"),
        second(1, "df"),
        second(2, "uc"),
        second(3, "ca"),
        second(4, "wb"),
        second(5, "wt"),
        second(6, "st"),
        second(7, "ri"),
        second(8, "cc"),
    ]),
    "caching in L2, where three levels are named",
)
.since(V42);
pub(super) const OV: Slot = field(SlotName::Ov, Enc::Number { max: 1 }, "the load overfetches").since(V42);
pub(super) const MSAA: Slot =
    field(SlotName::Msaa, Enc::Number { max: 1 }, "the surface is multi-sampled").since(V42);
pub(super) const SURFACE_INDEX: Slot =
    field(SlotName::SurfaceIndex, Enc::Number { max: 31 }, "index of the surface state from `surface` on")
        .since(V42);
pub(super) const U_OFFSET: Slot =
    wide(SlotName::UOffset, 4, Enc::Signed, "added to U coordinates").since(V42);
pub(super) const V_OFFSET: Slot =
    wide(SlotName::VOffset, 4, Enc::Signed, "added to V coordinates").since(V42);
pub(super) const R_OFFSET: Slot =
    wide(SlotName::ROffset, 4, Enc::Signed, "added to R coordinates").since(V42);
pub(super) const X_OFFSET: Slot =
    wide(SlotName::XOffset, 4, Enc::Signed, "added to x, in elements").since(V42);
pub(super) const Y_OFFSET: Slot = wide(SlotName::YOffset, 4, Enc::Signed, "added to y, in rows").since(V42);
pub(super) const PAYLOAD: Slot = field(
    SlotName::Payload,
    Enc::Number { max: 1 },
    "1: surface_base is a register with all of base, width, height, pitch, x, y and shape",
)
.since(V42);

pub(super) const ADDR_TYPE: Slot = field(
    SlotName::AddrType,
    Enc::Values(&[
        Value { code: addr_type::FLAT, text: "flat", platforms: Platforms::ALL, doc: "virtual address" },
        Value { code: addr_type::BSS, text: "bss", platforms: Platforms::ALL, doc: "bindless surface state" },
        Value { code: addr_type::SS, text: "ss", platforms: Platforms::ALL, doc: "surface state" },
        Value { code: addr_type::BTI, text: "bti", platforms: Platforms::ALL, doc: "binding table index" },
        Value { code: addr_type::ARG, text: "arg", platforms: Platforms::ALL, doc: "kernel arguments" },
        Value {
            code: addr_type::SURF,
            text: "surf",
            platforms: XE3P,
            doc: "address of a surface state, from 4.2 on",
        },
    ]),
    "address model",
);
pub(super) const IMM_SCALE: Slot =
    wide(SlotName::ImmScale, 2, Enc::Number { max: 0xffff }, "multiplies the address; 1 if absent");
pub(super) const IMM_OFFSET: Slot =
    wide(SlotName::ImmOffset, 4, Enc::Signed, "added to the address, in bytes");
pub(super) const ADDR_SIZE: Slot = field(
    SlotName::AddrSize,
    Enc::Values(&[
        val(1, "a16"),
        val(2, "a32"),
        val(3, "a64"),
        Value { code: 4, text: "a32u", platforms: XE3P, doc: "32 bits, by zeros to 64; from 4.2 on" },
        Value { code: 5, text: "a32s", platforms: XE3P, doc: "32 bits, by the sign to 64; from 4.2 on" },
    ]),
    "bits of an address",
);
pub(super) const DATA_SIZE: Slot = field(
    SlotName::DataSize,
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
pub(super) const DATA_ORDER: Slot = field(
    SlotName::DataOrder,
    Enc::Values(&[val(1, "n"), val(2, "t")]),
    "n: element by element over the channels; t: channel by channel (one channel)",
);
pub(super) const DATA_ELEMS: Slot = field(
    SlotName::DataElems,
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
pub(super) const CH_MASK_COPY: Slot =
    field(SlotName::ChMask, Enc::Number { max: 8 }, "a copy of data_elems, as the reference writes it");
pub(super) const ELEMS_COPY: Slot =
    field(SlotName::DataElems, Enc::Number { max: 15 }, "a copy of ch_mask, as the reference writes it");
pub(super) const CH_MASK: Slot = field(SlotName::ChMask, Enc::Hex { max: 15 }, "channels, x is bit 0");
pub(super) const SURFACE: Slot =
    src(SlotName::Surface, Classes::GII.or(Classes::STATE).or(Classes::ADDRESS), TypeSet::ANY);
pub(super) const DST: Slot =
    raw_dst_opt(TypeSet::ANY, "what is read; %null: prefetch, or no old values").touches(Bytes::LscData);
pub(super) const ADDR: Slot = raw_src(SlotName::Addr, TypeSet::ANY, "addresses").touches(Bytes::LscAddresses);
pub(super) const SRC1: Slot =
    raw_opt(SlotName::Src1, TypeSet::ANY, "first source of an atomic").touches(Bytes::LscData);
pub(super) const SRC2: Slot =
    raw_opt(SlotName::Src2, TypeSet::ANY, "second source of an atomic").touches(Bytes::LscData);
pub(super) const DATA: Slot =
    raw_src(SlotName::Src1, TypeSet::ANY, "what is written").touches(Bytes::LscData);
pub(super) const STRIDE: Slot = src(SlotName::Stride, Classes::GII.or(Classes::ADDRESS), TypeSet::ANY);
pub(super) const NO_DST: Slot = raw_opt(SlotName::UnusedDst, TypeSet::NONE, "%null").touches(Bytes::Fixed(0));
pub(super) const NO_SRC1: Slot =
    raw_opt(SlotName::UnusedSrc1, TypeSet::NONE, "%null").touches(Bytes::Fixed(0));
pub(super) const NO_SRC2: Slot =
    raw_opt(SlotName::UnusedSrc2, TypeSet::NONE, "%null").touches(Bytes::Fixed(0));

/// Slots of an untyped message: what is before the data, the data's registers, and what its text alone says.
macro_rules! untyped {
    (vector: $($more:tt)*) => { untyped!(@ DATA_ELEMS, CH_MASK_COPY, $($more)*) };
    (quad: $($more:tt)*) => { untyped!(@ ELEMS_COPY, CH_MASK, $($more)*) };
    (@ $elems:expr, $mask:expr, $($register:expr),* $(; $($late:expr),*)?) => {
        &[
            EXEC, PRED, SFID, L1, L3, ADDR_TYPE, IMM_SCALE, IMM_OFFSET, ADDR_SIZE, DATA_SIZE, DATA_ORDER, $elems,
            $mask, SURFACE, $($register,)* L2, SURFACE_INDEX, $($($late,)*)?
        ]
    };
}

pub(super) const U_LOAD: &[Slot] = untyped!(vector: DST, ADDR, NO_SRC1, NO_SRC2; OV);
pub(super) const U_STATUS: &[Slot] =
    untyped!(vector: DST.touches(Bytes::Fixed(4)), ADDR, NO_SRC1, NO_SRC2; OV);
pub(super) const U_STORE: &[Slot] = untyped!(vector: NO_DST, ADDR, DATA, NO_SRC2);
pub(super) const U_LOAD_QUAD: &[Slot] = untyped!(quad: DST, ADDR, NO_SRC1, NO_SRC2; OV);
pub(super) const U_STORE_QUAD: &[Slot] = untyped!(quad: NO_DST, ADDR, DATA, NO_SRC2);
pub(super) const U_ATOMIC: &[Slot] = untyped!(vector: DST, ADDR, SRC1, SRC2);
pub(super) const U_LOAD_STRIDED: &[Slot] = untyped!(vector: DST, ADDR, STRIDE, NO_SRC1);
pub(super) const U_STORE_STRIDED: &[Slot] = untyped!(vector: NO_DST, ADDR, STRIDE, DATA);
pub(super) const BLOCKS: Slot = field(SlotName::Blocks, Enc::Number { max: 64 }, "blocks side by side");
pub(super) const WIDTH: Slot =
    wide(SlotName::Width, 2, Enc::Number { max: 64 }, "elements of a row of a block");
pub(super) const HEIGHT: Slot = wide(SlotName::Height, 2, Enc::Number { max: 64 }, "rows of a block");
pub(super) const VNNI: Slot = field(SlotName::Vnni, Enc::Number { max: 1 }, "rows are interleaved to dwords");
pub(super) const VEC: Classes = Classes::GII.or(Classes::ADDRESS);
/// Slots of a block2d message: of the destination and the source one is the data.
macro_rules! block_2d {
    ($dst:expr, $src:expr) => {
        &[
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
            $dst,
            src(SlotName::SurfaceBase, VEC, TypeSet::ANY),
            src(SlotName::SurfaceWidth, VEC, TypeSet::ANY),
            src(SlotName::SurfaceHeight, VEC, TypeSet::ANY),
            src(SlotName::SurfacePitch, VEC, TypeSet::ANY),
            src(SlotName::X, VEC, TypeSet::ANY),
            src(SlotName::Y, VEC, TypeSet::ANY),
            $src,
            L2,
            X_OFFSET,
            Y_OFFSET,
            PAYLOAD,
        ]
    };
}
pub(super) const U_LOAD_2D: &[Slot] = block_2d!(DST.touches(Bytes::LscBlock2d), NO_SRC1);
pub(super) const U_STORE_2D: &[Slot] = block_2d!(NO_DST, DATA.touches(Bytes::LscBlock2d));
pub(super) const U: Slot = raw_opt(SlotName::U, TypeSet::ANY, "U coordinates").touches(Bytes::LscAddresses);
pub(super) const V: Slot = raw_opt(SlotName::V, TypeSet::ANY, "V coordinates").touches(Bytes::LscAddresses);
pub(super) const R: Slot = raw_opt(SlotName::R, TypeSet::ANY, "R coordinates").touches(Bytes::LscAddresses);
pub(super) const LOD: Slot =
    raw_opt(SlotName::Lod, TypeSet::ANY, "levels of detail").touches(Bytes::LscAddresses);

/// The same of a typed message, whose coordinates follow the destination.
macro_rules! typed {
    (vector: $($more:tt)*) => { typed!(@ DATA_ELEMS, CH_MASK_COPY, $($more)*) };
    (quad: $($more:tt)*) => { typed!(@ ELEMS_COPY, CH_MASK, $($more)*) };
    (@ $elems:expr, $mask:expr, $dst:expr; $($source:expr),*; $($late:expr),*) => {
        &[
            EXEC, PRED, L1, L3, ADDR_TYPE, ADDR_SIZE, DATA_SIZE, DATA_ORDER, $elems, $mask, SURFACE, $dst, U, V, R,
            LOD, $($source,)* $($late,)*
        ]
    };
}

pub(super) const T_STATE: &[Slot] =
    typed!(vector: DST.touches(Bytes::Register); NO_SRC1, NO_SRC2; SURFACE_INDEX);
pub(super) const T_STATUS: &[Slot] = typed!(vector: DST.touches(Bytes::Fixed(4)); NO_SRC1, NO_SRC2; L2, SURFACE_INDEX, U_OFFSET, V_OFFSET, R_OFFSET);
pub(super) const T_STORE: &[Slot] =
    typed!(vector: NO_DST; DATA, NO_SRC2; L2, SURFACE_INDEX, U_OFFSET, V_OFFSET, R_OFFSET);
pub(super) const T_LOAD_QUAD: &[Slot] =
    typed!(quad: DST; NO_SRC1, NO_SRC2; L2, SURFACE_INDEX, U_OFFSET, V_OFFSET, R_OFFSET);
pub(super) const T_STORE_QUAD: &[Slot] =
    typed!(quad: NO_DST; DATA, NO_SRC2; L2, SURFACE_INDEX, U_OFFSET, V_OFFSET, R_OFFSET);
pub(super) const T_ATOMIC: &[Slot] =
    typed!(vector: DST; SRC1, SRC2; L2, SURFACE_INDEX, U_OFFSET, V_OFFSET, R_OFFSET, MSAA);

/// Slots of a typed block2d message, which has neither channels nor a predicate.
macro_rules! typed_2d {
    ($dst:expr, $src:expr) => {
        &[
            L1,
            L3,
            ADDR_TYPE,
            WIDTH,
            HEIGHT,
            SURFACE,
            $dst,
            src(SlotName::X, VEC, TypeSet::ANY),
            src(SlotName::Y, VEC, TypeSet::ANY),
            $src,
            L2,
            SURFACE_INDEX,
            X_OFFSET,
            Y_OFFSET,
        ]
    };
}
pub(super) const T_LOAD_2D: &[Slot] = typed_2d!(DST.touches(Bytes::Rectangle), NO_SRC1);
pub(super) const T_STORE_2D: &[Slot] = typed_2d!(NO_DST, DATA.touches(Bytes::Rectangle));

pub(super) const U_COUNTER: &[Slot] = &[
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
    raw_opt(SlotName::Src0, TypeSet::ANY, "what is added or subtracted").touches(Bytes::LscData),
    L2,
    SURFACE_INDEX,
];
