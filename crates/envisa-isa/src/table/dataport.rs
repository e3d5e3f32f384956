//! Data-port messages on surfaces: block, gather, scatter, typed, media.

use super::common::*;
use crate::desc::*;
use crate::{Platforms, TypeSet};

const MESSAGE: InstDesc = InstDesc { family: Family::DataPort, ..EMPTY };

const BUFFER: SurfaceRule =
    SurfaceRule { slm: Platforms::ALL, stateless: Platforms::ALL, shape: SurfaceShape::Buffer };
const TYPED: SurfaceRule =
    SurfaceRule { slm: Platforms::NONE, stateless: Platforms::NONE, shape: SurfaceShape::Typed };

const SIZES_124: &[Value] = &[val(0, "1"), val(1, "2"), val(2, "4")];
const NUM_BLOCKS_124: Enc = Enc::Values(SIZES_124);

/// `SCATTER`, page SCATTER.
pub static SCATTER: InstDesc = InstDesc {
    name: "SCATTER",
    opcode: 0x3a,
    slots: &[
        field("elt_size", Enc::Values(SIZES_124), "bytes of an element"),
        field(
            "num_elts",
            Enc::ExecLike(&[val(0, "8"), val(1, "16"), val(2, "1")]),
            "number of elements and execution mask",
        ),
        surface(BUFFER),
        src("global_offset", Classes::GII, UD),
        raw_src("element_offset", UD, "offsets, in elements"),
        raw_src("src", DWORDS, "values; the upper bits of 1- and 2-byte elements are ignored"),
    ],
    forms: &[form(
        "scatter",
        "scatter.{elt_size} {num_elts} {surface} {global_offset} {element_offset} {src}",
    )],
    effect: Effect::Write,
    out_of_bounds: OutOfBounds::WriteDropped,
    page: "SCATTER",
    brief: "Writes elements of 1, 2 or 4 bytes to scattered places of a buffer.",
    semantics: "surface[global_offset + element_offset[i]] = src[i]",
    note: "The page's text form lacks the execution size, which the reference tools demand.",
    ..MESSAGE
};

/// `OWORD_LD_UNALIGNED`, page OWORD_LD_UNALIGNED.
pub static OWORD_LD_UNALIGNED: InstDesc = InstDesc {
    name: "OWORD_LD_UNALIGNED",
    opcode: 0x3c,
    slots: &[
        field(
            "size",
            Enc::Values(&[
                val(0, "1"),
                val(1, "2"),
                val(2, "4"),
                val(3, "8"),
                Value {
                    code: 4,
                    text: "16",
                    platforms: Platforms::XEHP_UP,
                    doc: "only when the surface is T0",
                },
            ]),
            "number of owords (16 bytes each)",
        ),
        field("is_modified", Enc::Ignored(0), "ignored"),
        surface(SurfaceRule { slm: Platforms::ICLLP_UP, ..BUFFER }),
        src("offset", Classes::GII, UD),
        raw_dst(TypeSet::ANY, "what is read"),
    ],
    forms: &[form("oword_ld_unaligned", "oword_ld_unaligned ({size}) {surface} {offset} {dst}")],
    effect: Effect::Read,
    out_of_bounds: OutOfBounds::ReadsZero,
    page: "OWORD_LD_UNALIGNED",
    brief: "Reads consecutive owords from a dword-aligned byte offset; no execution mask.",
    semantics: "for i in 0..size: dst.oword[i] = surface.bytes[offset + 16 i ..][..16]",
    ..MESSAGE
};

/// `GATHER4_TYPED`, page GATHER4_TYPED.
pub static GATHER4_TYPED: InstDesc = InstDesc {
    name: "GATHER4_TYPED",
    opcode: 0x4b,
    exec_sizes: 1 << 3,
    slots: &[
        EXEC,
        PRED,
        field("channels", Enc::Channels, "channels to read, R is bit 0"),
        surface(TYPED),
        raw_opt("u", UD, "U offsets"),
        raw_opt("v", UD, "V offsets"),
        raw_opt("r", UD, "R offsets"),
        raw_opt("lod", UD, "levels of detail"),
        raw_dst(DWORDS, "each channel starts at the next register"),
    ],
    forms: &[form(
        "gather4_typed",
        "{pred} gather4_typed.{channels} {exec} {surface} {u} {v} {r} {lod} {dst}",
    )],
    effect: Effect::Read,
    out_of_bounds: OutOfBounds::ReadsAlphaOne,
    page: "GATHER4_TYPED",
    brief: "Reads pixels of a typed surface, converting their format.",
    semantics: "",
    ..MESSAGE
};

/// `SCATTER_SCALED`, page SCATTER_SCALED.
pub static SCATTER_SCALED: InstDesc = InstDesc {
    name: "SCATTER_SCALED",
    opcode: 0x79,
    slots: &[
        EXEC,
        PRED,
        field("block_size", Enc::Ignored(0), "ignored; a block is one byte"),
        field("num_blocks", NUM_BLOCKS_124, "blocks (bytes) written for each channel"),
        Slot {
            name: "scale",
            kind: SlotKind::Field { width: 2, enc: Enc::Ignored(0) },
            role: Role::Field,
            types: TypeSet::NONE,
            doc: "ignored; the scale is zero",
        },
        surface(BUFFER),
        src("offset", Classes::GII, UD),
        raw_src("element_offset", UD, "byte offsets"),
        raw_src("src", DWORDS, "values; the upper bytes of 1- and 2-byte writes are ignored"),
    ],
    forms: &[form(
        "scatter_scaled",
        "{pred} scatter_scaled.{num_blocks} {exec} {surface} {offset} {element_offset} {src}",
    )],
    effect: Effect::Write,
    out_of_bounds: OutOfBounds::WriteDropped,
    page: "SCATTER_SCALED",
    brief: "Writes 1, 2 or 4 bytes a channel to scattered places of a surface.",
    semantics: "surface[offset + element_offset[i]] = src[i]",
    ..MESSAGE
};
