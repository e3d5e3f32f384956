//! Data-port messages on surfaces: block, gather, scatter, typed, media, atomics.

use super::common::*;
use crate::desc::*;
use crate::operation::*;
use crate::{Platform, Platforms, Type, TypeSet};

const MESSAGE: InstDesc = InstDesc { family: Family::DataPort, ..EMPTY };

const BUFFER: SurfaceRule = SurfaceRule {
    slm: Platforms::ALL,
    stateless: Platforms::ALL,
    shape: SurfaceShape::Buffer,
    address: Platforms::NONE,
};
const OWORD_BUFFER: SurfaceRule = SurfaceRule { slm: Platforms::ICLLP_UP, ..BUFFER };
const TYPED: SurfaceRule = SurfaceRule {
    slm: Platforms::NONE,
    stateless: Platforms::NONE,
    shape: SurfaceShape::Typed,
    address: Platforms::NONE,
};
const MEDIA: SurfaceRule = SurfaceRule { shape: SurfaceShape::Media, ..TYPED };

const SIZES_124: &[Value] = &[val(0, "1"), val(1, "2"), val(2, "4")];
const ELT_SIZE: Slot = field(SlotName::EltSize, Enc::Values(SIZES_124), "bytes of an element");
const NUM_ELTS: Slot = field(
    SlotName::NumElts,
    Enc::ExecLike(&[val(0, "8"), val(1, "16"), val(2, "1")]),
    "number of elements and execution mask",
);
const IS_MODIFIED: Slot = field(SlotName::IsModified, Enc::Ignored(0), "ignored");
const OWORDS: Slot = field(
    SlotName::Size,
    Enc::Values(&[
        val(0, "1"),
        val(1, "2"),
        val(2, "4"),
        val(3, "8"),
        Value { code: 4, text: "16", platforms: Platforms::XEHP_UP, doc: "only when the surface is T0" },
    ]),
    "number of owords (16 bytes each)",
);
const OWORD_NOTE: &str = "The page allows 16 owords from XeHP on and on T0 only; the reference tools take them everywhere. A mask in the text, `(M1, 2)`, is dropped.";
const CHANNELS: Slot = field(SlotName::Channels, Enc::Channels, "channels, R is bit 0");
const SCATTERED: &str = "Undefined if channels write to the same address.";
/// 8 and 16 channels.
const SIZES_8_16: u8 = 1 << 3 | 1 << 4;

/// The integer and float operations of the older atomic messages.
pub const ATOMIC_OPS: &[Value] = &[
    val(0x00, "add"),
    val(0x01, "sub"),
    val(0x02, "inc"),
    val(0x03, "dec"),
    val(0x04, "min"),
    val(0x05, "max"),
    val(0x06, "xchg"),
    val(0x07, "cmpxchg"),
    val(0x08, "and"),
    val(0x09, "or"),
    val(0x0a, "xor"),
    val(0x0b, "minsint"),
    val(0x0c, "maxsint"),
    Value {
        code: 0x0d,
        text: "predec",
        platforms: Platforms::ALL,
        doc: "not known to the reference assembler",
    },
    val(0x10, "fmax"),
    val(0x11, "fmin"),
    val(0x12, "fcmpwr"),
    Value { code: 0x13, text: "fadd", platforms: Platforms::XEHP_UP, doc: "not on the pages" },
    Value { code: 0x14, text: "fsub", platforms: Platforms::XEHP_UP, doc: "not on the pages" },
];
const ATOMIC_OP: Slot = packed(
    SlotName::Op,
    1,
    &[part(PartName::Op, 0, 5, Enc::Values(ATOMIC_OPS)), flag(PartName::Half, 5)],
    "bits 0 to 4: the operation; bit 5: 16 bits wide (TGLLP and later)",
);
const ATOMIC_SEMANTICS: &str = "old = mem[i]; mem[i] = op(old, src0[i], src1[i]); dst[i] = old
add sub inc dec and or xor: as they say; min max: unsigned; minsint maxsint: signed; xchg: src0
cmpxchg: old == src1 ? src0 : old; predec: old - 1, and dst is the new value
fmax fmin fadd fsub: floats; fcmpwr: src0 == old ? src1 : old";
const ATOMIC_NOTE: &str = "inc, dec and predec take no source, cmpxchg and fcmpwr two; absent ones are V0, and so may dst be. 16-bit operations use the low half of each dword.";

/// `OWORD_LD`, page OWORD_LD.
pub static OWORD_LD: InstDesc = InstDesc {
    name: "OWORD_LD",
    operation: Some(Operation::Message(Message::Owords(Access::Load, 16))),
    opcode: 0x35,
    slots: &[
        OWORDS,
        IS_MODIFIED,
        surface(OWORD_BUFFER),
        src(SlotName::Offset, Classes::GII, UD),
        raw_dst(TypeSet::ANY, "what is read").touches(Bytes::Elements(SlotName::Size.whole(), 16)),
    ],
    forms: &[
        form("oword_ld", "oword_ld ({size}) {surface} {offset} {dst}"),
        form("oword_ld", "oword_ld.mod ({size}) {surface} {offset} {dst}"),
    ],
    effect: Effect::Read,
    out_of_bounds: OutOfBounds::ReadsZero,
    page: "OWORD_LD",
    brief: "Reads consecutive owords; no execution mask.",
    semantics: "for i in 0..size: dst.oword[i] = surface.bytes[16 * (offset + i) ..][..16]",
    note: OWORD_NOTE,
    ..MESSAGE
};

/// `OWORD_ST`, page OWORD_ST.
pub static OWORD_ST: InstDesc = InstDesc {
    name: "OWORD_ST",
    operation: Some(Operation::Message(Message::Owords(Access::Store, 16))),
    opcode: 0x36,
    slots: &[
        OWORDS,
        surface(OWORD_BUFFER),
        src(SlotName::Offset, Classes::GII, UD),
        raw_src(SlotName::Src, TypeSet::ANY, "what is written")
            .touches(Bytes::Elements(SlotName::Size.whole(), 16)),
    ],
    forms: &[
        form("oword_st", "oword_st ({size}) {surface} {offset} {src}"),
        form("oword_st", "oword_st.mod ({size}) {surface} {offset} {src}"),
    ],
    effect: Effect::Write,
    out_of_bounds: OutOfBounds::WriteDropped,
    page: "OWORD_ST",
    brief: "Writes consecutive owords; no execution mask.",
    semantics: "for i in 0..size: surface.bytes[16 * (offset + i) ..][..16] = src.oword[i]",
    note: OWORD_NOTE,
    ..MESSAGE
};

const MEDIA_MODES: &[Value] = &[
    val(0, "nomod"),
    Value { code: 1, text: "modified", platforms: Platforms::ALL, doc: "not on the pages" },
    val(2, "top"),
    val(3, "bottom"),
    Value { code: 4, text: "top_mod", platforms: Platforms::ALL, doc: "not on the pages" },
    Value { code: 5, text: "bottom_mod", platforms: Platforms::ALL, doc: "not on the pages" },
];
const MEDIA_HEAD: [Slot; 7] = [
    field(SlotName::Modifiers, Enc::Values(MEDIA_MODES), "which field of an interlaced surface"),
    surface(MEDIA),
    field(SlotName::Plane, Enc::Number { max: 15 }, "plane of a planar format, 0 to 3 on the page"),
    field(SlotName::Width, Enc::Number { max: 64 }, "bytes of a row, 1 to 64"),
    field(SlotName::Height, Enc::Number { max: 64 }, "rows, 1 to 64"),
    src(SlotName::X, Classes::GII, INT_D),
    src(SlotName::Y, Classes::GII, INT_D),
];
const MEDIA_NOTE: &str = "The page has ud offsets alone; compilers emit d too. Rows lie in the registers at the next power of two of the width, at least 4 bytes; at most 256 bytes in all. The text may leave the plane out: 0.";

/// `MEDIA_LD`, page MEDIA_LD.
pub static MEDIA_LD: InstDesc = InstDesc {
    name: "MEDIA_LD",
    operation: Some(Operation::Message(Message::Media(Access::Load))),
    opcode: 0x37,
    slots: &[
        MEDIA_HEAD[0],
        MEDIA_HEAD[1],
        MEDIA_HEAD[2],
        MEDIA_HEAD[3],
        MEDIA_HEAD[4],
        MEDIA_HEAD[5],
        MEDIA_HEAD[6],
        raw_dst(TypeSet::ANY, "the block").touches(Bytes::Rectangle),
    ],
    forms: &[
        form("media_ld", "media_ld.{modifiers} ({width}, {height}) {surface} {plane} {x} {y} {dst}"),
        fixed(
            "media_ld",
            "media_ld.{modifiers} ({width}, {height}) {surface} {x} {y} {dst}",
            &[(SlotName::Plane.whole(), 0)],
        ),
    ],
    effect: Effect::Read,
    page: "MEDIA_LD",
    brief: "Reads a rectangle of a 2D surface.",
    semantics: "pitch = max(4, next_power_of_two(width)); for r, c: dst.byte[r * pitch + c] = surface[y + r][x + c]",
    note: MEDIA_NOTE,
    ..MESSAGE
};

/// `MEDIA_ST`, page MEDIA_ST.
pub static MEDIA_ST: InstDesc = InstDesc {
    name: "MEDIA_ST",
    operation: Some(Operation::Message(Message::Media(Access::Store))),
    opcode: 0x38,
    slots: &[
        MEDIA_HEAD[0],
        MEDIA_HEAD[1],
        MEDIA_HEAD[2],
        MEDIA_HEAD[3],
        MEDIA_HEAD[4],
        MEDIA_HEAD[5],
        MEDIA_HEAD[6],
        raw_src(SlotName::Src, TypeSet::ANY, "the block").touches(Bytes::Rectangle),
    ],
    forms: &[
        form("media_st", "media_st.{modifiers} ({width}, {height}) {surface} {plane} {x} {y} {src}"),
        fixed(
            "media_st",
            "media_st.{modifiers} ({width}, {height}) {surface} {x} {y} {src}",
            &[(SlotName::Plane.whole(), 0)],
        ),
    ],
    effect: Effect::Write,
    out_of_bounds: OutOfBounds::WriteDropped,
    page: "MEDIA_ST",
    brief: "Writes a rectangle of a 2D surface.",
    semantics: "pitch = max(4, next_power_of_two(width)); for r, c: surface[y + r][x + c] = src.byte[r * pitch + c]",
    note: MEDIA_NOTE,
    ..MESSAGE
};

/// `GATHER`, page GATHER.
pub static GATHER: InstDesc = InstDesc {
    name: "GATHER",
    operation: Some(Operation::Message(Message::Elements(Access::Load))),
    opcode: 0x39,
    slots: &[
        ELT_SIZE,
        IS_MODIFIED,
        NUM_ELTS,
        surface(BUFFER),
        src(SlotName::GlobalOffset, Classes::GII, UD),
        raw_src(SlotName::ElementOffset, UD, "offsets, in elements")
            .touches(Bytes::Elements(SlotName::NumElts.whole(), 4)),
        raw_dst(DWORDS, "values; the upper bits of 1- and 2-byte elements are undefined")
            .touches(Bytes::Elements(SlotName::NumElts.whole(), 4)),
    ],
    forms: &[
        form("gather", "gather.{elt_size} {num_elts} {surface} {global_offset} {element_offset} {dst}"),
        form("gather", "gather.{elt_size} {num_elts} .mod {surface} {global_offset} {element_offset} {dst}"),
    ],
    effect: Effect::Read,
    out_of_bounds: OutOfBounds::ReadsZero,
    page: "GATHER",
    brief: "Reads elements of 1, 2 or 4 bytes from scattered places of a buffer.",
    semantics: "dst[i] = surface[global_offset + element_offset[i]]",
    note: "The page's text form lacks the execution size, which the reference tools demand.",
    ..MESSAGE
};

/// `SCATTER`, page SCATTER.
pub static SCATTER: InstDesc = InstDesc {
    name: "SCATTER",
    operation: Some(Operation::Message(Message::Elements(Access::Store))),
    opcode: 0x3a,
    slots: &[
        ELT_SIZE,
        NUM_ELTS,
        surface(BUFFER),
        src(SlotName::GlobalOffset, Classes::GII, UD),
        raw_src(SlotName::ElementOffset, UD, "offsets, in elements")
            .touches(Bytes::Elements(SlotName::NumElts.whole(), 4)),
        raw_src(SlotName::Src, DWORDS, "values; the upper bits of 1- and 2-byte elements are ignored")
            .touches(Bytes::Elements(SlotName::NumElts.whole(), 4)),
    ],
    forms: &[
        form("scatter", "scatter.{elt_size} {num_elts} {surface} {global_offset} {element_offset} {src}"),
        form(
            "scatter",
            "scatter.{elt_size} {num_elts} .mod {surface} {global_offset} {element_offset} {src}",
        ),
    ],
    effect: Effect::Write,
    out_of_bounds: OutOfBounds::WriteDropped,
    page: "SCATTER",
    brief: "Writes elements of 1, 2 or 4 bytes to scattered places of a buffer.",
    semantics: "surface[global_offset + element_offset[i]] = src[i]",
    note: "The page's text form lacks the execution size, which the reference tools demand. Undefined if channels write to the same address.",
    ..MESSAGE
};

/// `OWORD_LD_UNALIGNED`, page OWORD_LD_UNALIGNED.
pub static OWORD_LD_UNALIGNED: InstDesc = InstDesc {
    name: "OWORD_LD_UNALIGNED",
    operation: Some(Operation::Message(Message::Owords(Access::Load, 1))),
    opcode: 0x3c,
    slots: &[
        OWORDS,
        IS_MODIFIED,
        surface(OWORD_BUFFER),
        src(SlotName::Offset, Classes::GII, UD),
        raw_dst(TypeSet::ANY, "what is read").touches(Bytes::Elements(SlotName::Size.whole(), 16)),
    ],
    forms: &[
        form("oword_ld_unaligned", "oword_ld_unaligned ({size}) {surface} {offset} {dst}"),
        form("oword_ld_unaligned", "oword_ld_unaligned.mod ({size}) {surface} {offset} {dst}"),
    ],
    effect: Effect::Read,
    out_of_bounds: OutOfBounds::ReadsZero,
    page: "OWORD_LD_UNALIGNED",
    brief: "Reads consecutive owords from a dword-aligned byte offset; no execution mask.",
    semantics: "for i in 0..size: dst.oword[i] = surface.bytes[offset + 16 i ..][..16]",
    note: OWORD_NOTE,
    ..MESSAGE
};

/// `GATHER4_TYPED`, page GATHER4_TYPED.
pub static GATHER4_TYPED: InstDesc = InstDesc {
    name: "GATHER4_TYPED",
    operation: Some(Operation::Message(Message::Texels(Access::Load))),
    opcode: 0x4b,
    exec_sizes: 1 << 3,
    slots: &[
        EXEC,
        PRED,
        CHANNELS,
        surface(TYPED),
        raw_opt(SlotName::U, UD, "U offsets").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::V, UD, "V offsets").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::R, UD, "R offsets").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::Lod, UD, "levels of detail").touches(Bytes::PerChannel(4)),
        raw_dst(DWORDS, "each channel starts at the next register")
            .touches(Bytes::Rows { mask: SlotName::Channels.whole() }),
    ],
    forms: &[form(
        "gather4_typed",
        "{pred} gather4_typed.{channels} {exec} {surface} {u} {v} {r} {lod} {dst}",
    )],
    effect: Effect::Read,
    out_of_bounds: OutOfBounds::ReadsAlphaOne,
    page: "GATHER4_TYPED",
    brief: "Reads pixels of a typed surface, converting their format.",
    semantics: "k = 0; for c in channels: { dst[k * max(exec, GRF/4) + i] = surface[u[i], v[i], r[i]].c; k += 1 }",
    note: "Offsets that the surface's dimension lacks are V0. Before 3.2 the binary held the inverted mask.",
    ..MESSAGE
};

/// `SCATTER4_TYPED`, page SCATTER4_TYPED.
pub static SCATTER4_TYPED: InstDesc = InstDesc {
    name: "SCATTER4_TYPED",
    operation: Some(Operation::Message(Message::Texels(Access::Store))),
    opcode: 0x4c,
    exec_sizes: 1 << 3,
    slots: &[
        EXEC,
        PRED,
        CHANNELS,
        surface(TYPED),
        raw_opt(SlotName::U, UD, "U offsets").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::V, UD, "V offsets").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::R, UD, "R offsets").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::Lod, UD, "levels of detail").touches(Bytes::PerChannel(4)),
        raw_src(SlotName::Src, DWORDS, "each channel starts at the next register")
            .touches(Bytes::Rows { mask: SlotName::Channels.whole() }),
    ],
    forms: &[form(
        "scatter4_typed",
        "{pred} scatter4_typed.{channels} {exec} {surface} {u} {v} {r} {lod} {src}",
    )],
    effect: Effect::Write,
    out_of_bounds: OutOfBounds::WriteDropped,
    page: "SCATTER4_TYPED",
    brief: "Writes pixels of a typed surface, converting to its format.",
    semantics: "k = 0; for c in channels: { surface[u[i], v[i], r[i]].c = src[k * max(exec, GRF/4) + i]; k += 1 }",
    note: SCATTERED,
    ..MESSAGE
};

/// `TYPED_ATOMIC`, page TYPED_ATOMIC.
pub static TYPED_ATOMIC: InstDesc = InstDesc {
    name: "TYPED_ATOMIC",
    operation: Some(Operation::Message(Message::TexelAtomic)),
    opcode: 0x73,
    exec_sizes: SIZES_8_16,
    slots: &[
        ATOMIC_OP,
        EXEC,
        PRED,
        surface(TYPED),
        raw_opt(SlotName::U, UD, "U offsets").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::V, UD, "V offsets").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::R, UD, "R offsets").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::Lod, UD, "levels of detail").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::Src0, DWORDS, "first source").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::Src1, DWORDS, "second source").touches(Bytes::PerChannel(4)),
        raw_dst_opt(DWORDS, "old values").touches(Bytes::PerChannel(4)),
    ],
    forms: &[form(
        "typed_atomic",
        "{pred} typed_atomic.{op.op}[.16?op.half] {exec} {surface} {u} {v} {r} {lod} {src0} {src1} {dst}",
    )],
    platforms: Platforms::before(Platform::Pvc),
    effect: Effect::Atomic,
    out_of_bounds: OutOfBounds::AtomicDropped,
    page: "TYPED_ATOMIC",
    brief: "Atomic read-modify-write of a typed surface.",
    semantics: ATOMIC_SEMANTICS,
    note: "inc, dec and predec take no source, cmpxchg and fcmpwr two; absent ones are V0, and so may dst be. The page has 8 channels only; the index of pages gates it before PVC, the reference verifier does not.",
    ..MESSAGE
};

/// `GATHER4_SCALED`, page GATHER4_SCALED.
pub static GATHER4_SCALED: InstDesc = InstDesc {
    name: "GATHER4_SCALED",
    operation: Some(Operation::Message(Message::Channels(Access::Load))),
    opcode: 0x74,
    exec_sizes: SIZES_8_16,
    slots: &[
        EXEC,
        PRED,
        CHANNELS,
        SCALE,
        surface(BUFFER),
        src(SlotName::Offset, Classes::GII, UD),
        raw_src(SlotName::ElementOffset, UD, "byte offsets").touches(Bytes::PerChannel(4)),
        raw_dst(DWORDS, "each channel starts at the next register")
            .touches(Bytes::Rows { mask: SlotName::Channels.whole() }),
    ],
    forms: &[form(
        "gather4_scaled",
        "{pred} gather4_scaled.{channels} {exec} {surface} {offset} {element_offset} {dst}",
    )],
    effect: Effect::Read,
    out_of_bounds: OutOfBounds::ReadsZero,
    page: "GATHER4_SCALED",
    brief: "Reads up to four dwords a channel from a buffer.",
    semantics: "k = 0; for c in channels: { dst[k * max(exec, GRF/4) + i] = surface.dword[(offset + element_offset[i]) / 4 + c]; k += 1 }",
    note: "Addresses are dword-aligned.",
    ..MESSAGE
};

/// `SCATTER4_SCALED`, page SCATTER4_SCALED.
pub static SCATTER4_SCALED: InstDesc = InstDesc {
    name: "SCATTER4_SCALED",
    operation: Some(Operation::Message(Message::Channels(Access::Store))),
    opcode: 0x75,
    exec_sizes: SIZES_8_16,
    slots: &[
        EXEC,
        PRED,
        CHANNELS,
        SCALE,
        surface(BUFFER),
        src(SlotName::Offset, Classes::GII, UD),
        raw_src(SlotName::ElementOffset, UD, "byte offsets").touches(Bytes::PerChannel(4)),
        raw_src(SlotName::Src, DWORDS, "each channel starts at the next register")
            .touches(Bytes::Rows { mask: SlotName::Channels.whole() }),
    ],
    forms: &[form(
        "scatter4_scaled",
        "{pred} scatter4_scaled.{channels} {exec} {surface} {offset} {element_offset} {src}",
    )],
    effect: Effect::Write,
    out_of_bounds: OutOfBounds::WriteDropped,
    page: "SCATTER4_SCALED",
    brief: "Writes up to four dwords a channel to a buffer.",
    semantics: "k = 0; for c in channels: { surface.dword[(offset + element_offset[i]) / 4 + c] = src[k * max(exec, GRF/4) + i]; k += 1 }",
    note: "Addresses are dword-aligned. Undefined if channels write to the same address.",
    ..MESSAGE
};

const BLOCK_SIZE: Slot = field(SlotName::BlockSize, Enc::Ignored(0), "ignored; a block is one byte");

/// `GATHER_SCALED`, page GATHER_SCALED.
pub static GATHER_SCALED: InstDesc = InstDesc {
    name: "GATHER_SCALED",
    operation: Some(Operation::Message(Message::Bytes(Access::Load))),
    opcode: 0x78,
    slots: &[
        EXEC,
        PRED,
        BLOCK_SIZE,
        field(SlotName::NumBlocks, Enc::Values(SIZES_124), "blocks (bytes) read for each channel"),
        SCALE,
        surface(BUFFER),
        src(SlotName::Offset, Classes::GII, UD),
        raw_src(SlotName::ElementOffset, UD, "byte offsets").touches(Bytes::PerChannel(4)),
        raw_dst(DWORDS, "values; the upper bytes of 1- and 2-byte reads are undefined")
            .touches(Bytes::PerChannel(4)),
    ],
    forms: &[form(
        "gather_scaled",
        "{pred} gather_scaled.{num_blocks} {exec} {surface} {offset} {element_offset} {dst}",
    )],
    effect: Effect::Read,
    out_of_bounds: OutOfBounds::ReadsZero,
    page: "GATHER_SCALED",
    brief: "Reads 1, 2 or 4 bytes a channel from scattered places of a surface.",
    semantics: "dst[i] = surface.bytes[offset + element_offset[i] ..][..num_blocks]",
    note: "The reference assembler takes 8 blocks too (code 3).",
    ..MESSAGE
};

/// `SCATTER_SCALED`, page SCATTER_SCALED.
pub static SCATTER_SCALED: InstDesc = InstDesc {
    name: "SCATTER_SCALED",
    operation: Some(Operation::Message(Message::Bytes(Access::Store))),
    opcode: 0x79,
    slots: &[
        EXEC,
        PRED,
        BLOCK_SIZE,
        field(SlotName::NumBlocks, Enc::Values(SIZES_124), "blocks (bytes) written for each channel"),
        SCALE,
        surface(BUFFER),
        src(SlotName::Offset, Classes::GII, UD),
        raw_src(SlotName::ElementOffset, UD, "byte offsets").touches(Bytes::PerChannel(4)),
        raw_src(SlotName::Src, DWORDS, "values; the upper bytes of 1- and 2-byte writes are ignored")
            .touches(Bytes::PerChannel(4)),
    ],
    forms: &[form(
        "scatter_scaled",
        "{pred} scatter_scaled.{num_blocks} {exec} {surface} {offset} {element_offset} {src}",
    )],
    effect: Effect::Write,
    out_of_bounds: OutOfBounds::WriteDropped,
    page: "SCATTER_SCALED",
    brief: "Writes 1, 2 or 4 bytes a channel to scattered places of a surface.",
    semantics: "surface.bytes[offset + element_offset[i] ..][..num_blocks] = src[i]",
    note: SCATTERED,
    ..MESSAGE
};

/// `DWORD_ATOMIC`, page DWORD_ATOMIC.
pub static DWORD_ATOMIC: InstDesc = InstDesc {
    name: "DWORD_ATOMIC",
    operation: Some(Operation::Message(Message::Atomic)),
    opcode: 0x7d,
    exec_sizes: TO_16,
    slots: &[
        ATOMIC_OP,
        EXEC,
        PRED,
        surface(BUFFER),
        raw_src(SlotName::ElementOffset, UD, "byte offsets").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::Src0, DWORDS, "first source").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::Src1, DWORDS, "second source").touches(Bytes::PerChannel(4)),
        raw_dst_opt(DWORDS, "old values").touches(Bytes::PerChannel(4)),
    ],
    forms: &[form(
        "dword_atomic",
        "{pred} dword_atomic.{op.op}[.16?op.half] {exec} {surface} {element_offset} {src0} {src1} {dst}",
    )],
    effect: Effect::Atomic,
    out_of_bounds: OutOfBounds::AtomicDropped,
    page: "DWORD_ATOMIC",
    brief: "Atomic read-modify-write of dwords or words of a buffer.",
    semantics: ATOMIC_SEMANTICS,
    note: ATOMIC_NOTE,
    ..MESSAGE
};

const QW: TypeSet = TypeSet::of(&[Type::Q, Type::Uq, Type::Df]);
const QW_BLOCKS: Slot = field(
    SlotName::NumBlocks,
    Enc::Values(&[
        val(0, "1"),
        Value { code: 1, text: "2", platforms: Platforms::ALL, doc: "not on the page" },
        Value { code: 2, text: "4", platforms: Platforms::ALL, doc: "not on the page" },
    ]),
    "qwords for each channel",
);

/// `QW_GATHER`, page QW_GATHER.
pub static QW_GATHER: InstDesc = InstDesc {
    name: "QW_GATHER",
    operation: Some(Operation::Message(Message::Qwords(Access::Load))),
    opcode: 0x86,
    exec_sizes: TO_16,
    slots: &[
        EXEC,
        PRED,
        QW_BLOCKS,
        surface(BUFFER),
        raw_src(SlotName::Offset, UD, "byte offsets").touches(Bytes::PerChannel(4)),
        raw_dst(QW, "values, block by block")
            .touches(Bytes::Blocks { count: SlotName::NumBlocks.whole(), size: None }),
    ],
    forms: &[form("qw_gather", "{pred} qw_gather.{num_blocks} {exec} {surface} {offset} {dst}")],
    platforms: Platforms::XEHP_UP,
    effect: Effect::Read,
    out_of_bounds: OutOfBounds::ReadsZero,
    page: "QW_GATHER",
    brief: "Reads qwords from scattered places of a buffer.",
    semantics: "for j in 0..num_blocks: dst[j * exec + i] = surface.qword_at(offset[i] + 8 j)",
    ..MESSAGE
};

/// `QW_SCATTER`, page QW_SCATTER.
pub static QW_SCATTER: InstDesc = InstDesc {
    name: "QW_SCATTER",
    operation: Some(Operation::Message(Message::Qwords(Access::Store))),
    opcode: 0x87,
    exec_sizes: TO_16,
    slots: &[
        EXEC,
        PRED,
        QW_BLOCKS,
        surface(BUFFER),
        raw_src(SlotName::Offset, UD, "byte offsets").touches(Bytes::PerChannel(4)),
        raw_src(SlotName::Src, QW, "values, block by block")
            .touches(Bytes::Blocks { count: SlotName::NumBlocks.whole(), size: None }),
    ],
    forms: &[form("qw_scatter", "{pred} qw_scatter.{num_blocks} {exec} {surface} {offset} {src}")],
    platforms: Platforms::XEHP_UP,
    effect: Effect::Write,
    out_of_bounds: OutOfBounds::WriteDropped,
    page: "QW_SCATTER",
    brief: "Writes qwords to scattered places of a buffer.",
    semantics: "for j in 0..num_blocks: surface.qword_at(offset[i] + 8 j) = src[j * exec + i]",
    note: SCATTERED,
    ..MESSAGE
};
