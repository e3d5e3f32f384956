//! Load/store-cache messages: untyped, typed and fence.

mod slots;

use self::slots::*;
use super::common::*;
use crate::desc::*;
use crate::lsc::scope;
use crate::operation::*;
use crate::{Platform, Platforms};

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
    (@slots counter) => { U_COUNTER };
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
    (@text counter) => { ".{sfid}{@lsc_cache} {exec} {@lsc_data} {@lsc_surface} {src0}" };
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
    (@operation atomic from $base:ident) => { Some(Operation::Message(Message::LscAtomic)) };
    (@operation typed_atomic from $base:ident) => { Some(Operation::Message(Message::LscTexelAtomic)) };
    // The row says, or what it is made from.
    (@operation $other:ident from $base:ident) => { $base.operation };
    (@effect load) => { Effect::Read };
    (@effect status) => { Effect::Read };
    (@effect typed_status) => { Effect::Read };
    (@effect store) => { Effect::Write };
    (@effect load_quad) => { Effect::Read };
    (@effect store_quad) => { Effect::Write };
    (@effect counter) => { Effect::Atomic };
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
                operation: lsc!(@operation $kind from $base),
                effect: lsc!(@effect $kind),
                brief: $brief,
                semantics: $semantics,
                ..$base
            }
        };
    )* };
}

/// Atomics that untyped and typed messages have alike.
macro_rules! atomics {
    ($($untyped:ident $typed:ident = $sub:literal $head:literal $brief:literal, $semantics:literal;)*) => {
        lsc! { $(
            $untyped = 0x89 $sub atomic $head from UNTYPED, $brief, $semantics;
            $typed = 0x8a $sub typed_atomic $head from TYPED, $brief, $semantics;
        )* }
    };
}

atomics! {
    LSC_ATOMIC_IINC LSC_TYPED_ATOMIC_IINC = 0x08 "lsc_atomic_iinc" "Atomic increment.", "new = old + 1; dst = old";
    LSC_ATOMIC_IDEC LSC_TYPED_ATOMIC_IDEC = 0x09 "lsc_atomic_idec" "Atomic decrement.", "new = old - 1; dst = new";
    LSC_ATOMIC_LOAD LSC_TYPED_ATOMIC_LOAD = 0x0a "lsc_atomic_load" "Atomic load.", "dst = old";
    LSC_ATOMIC_STORE LSC_TYPED_ATOMIC_STORE = 0x0b "lsc_atomic_store" "Atomic store (exchange).", "new = src1; dst = old";
    LSC_ATOMIC_IADD LSC_TYPED_ATOMIC_IADD = 0x0c "lsc_atomic_iadd" "Atomic add of integers.", "new = old + src1; dst = old";
    LSC_ATOMIC_ISUB LSC_TYPED_ATOMIC_ISUB = 0x0d "lsc_atomic_isub" "Atomic subtract of integers.", "new = old - src1; dst = old";
    LSC_ATOMIC_SMIN LSC_TYPED_ATOMIC_SMIN = 0x0e "lsc_atomic_smin" "Atomic minimum, signed.", "new = min(old, src1); dst = old";
    LSC_ATOMIC_SMAX LSC_TYPED_ATOMIC_SMAX = 0x0f "lsc_atomic_smax" "Atomic maximum, signed.", "new = max(old, src1); dst = old";
    LSC_ATOMIC_UMIN LSC_TYPED_ATOMIC_UMIN = 0x10 "lsc_atomic_umin" "Atomic minimum, unsigned.", "new = min(old, src1); dst = old";
    LSC_ATOMIC_UMAX LSC_TYPED_ATOMIC_UMAX = 0x11 "lsc_atomic_umax" "Atomic maximum, unsigned.", "new = max(old, src1); dst = old";
    LSC_ATOMIC_ICAS LSC_TYPED_ATOMIC_ICAS = 0x12 "lsc_atomic_icas" "Atomic compare and exchange of integers.", "new = old == src1 ? src2 : old; dst = old";
    LSC_ATOMIC_FADD LSC_TYPED_ATOMIC_FADD = 0x13 "lsc_atomic_fadd" "Atomic add of floats.", "new = old + src1; dst = old";
    LSC_ATOMIC_FSUB LSC_TYPED_ATOMIC_FSUB = 0x14 "lsc_atomic_fsub" "Atomic subtract of floats.", "new = old - src1; dst = old";
    LSC_ATOMIC_FMIN LSC_TYPED_ATOMIC_FMIN = 0x15 "lsc_atomic_fmin" "Atomic minimum of floats.", "new = min(old, src1); dst = old";
    LSC_ATOMIC_FMAX LSC_TYPED_ATOMIC_FMAX = 0x16 "lsc_atomic_fmax" "Atomic maximum of floats.", "new = max(old, src1); dst = old";
    LSC_ATOMIC_FCAS LSC_TYPED_ATOMIC_FCAS = 0x17 "lsc_atomic_fcas" "Atomic compare and exchange of floats.", "new = old == src1 ? src2 : old; dst = old";
    LSC_ATOMIC_AND LSC_TYPED_ATOMIC_AND = 0x18 "lsc_atomic_and" "Atomic and.", "new = old & src1; dst = old";
    LSC_ATOMIC_OR LSC_TYPED_ATOMIC_OR = 0x19 "lsc_atomic_or" "Atomic or.", "new = old | src1; dst = old";
    LSC_ATOMIC_XOR LSC_TYPED_ATOMIC_XOR = 0x1a "lsc_atomic_xor" "Atomic exclusive or.", "new = old ^ src1; dst = old";
}

const XE2: Platforms = Platforms::from(Platform::Xe2);
const XE3P: Platforms = Platforms::from(Platform::Xe3p);
const BRAIN: InstDesc = InstDesc { versions: Versions::V42, platforms: XE3P, ..UNTYPED };
const COUNTER: InstDesc = InstDesc {
    versions: Versions::V42,
    platforms: XE2,
    operation: Some(Operation::Message(Message::LscCounter)),
    note: "The counter is the surface's auxiliary address.",
    ..UNTYPED
};

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
    LSC_LOAD_STATUS = 0x89 0x1b status "lsc_load_status" from UNTYPED,
        "Asks whether the pages of addresses are resident.",
        "dst.bit[i] = pages of all elements at addr[i] are valid",
        operation: Some(Operation::Message(Message::LscStatus));
    LSC_STORE_UNCOMPRESSED = 0x89 0x1c store "lsc_store_uncompressed" from UNTYPED,
        "Writes like LSC_STORE, without compression.", "as LSC_STORE",
        operation: Some(Operation::Message(Message::Lsc(Access::Store, LscShape::Vector)));
    LSC_CCS_UPDATE = 0x89 0x1d store "lsc_ccs_update" from UNTYPED,
        "Updates compression control state.", "implementation-defined",
        note: "The opcode list has it, but nothing describes it.",
        operation: Some(Operation::Unsupported(Unsupported::CompressionControl));
    LSC_ATOMIC_BFADD = 0x89 0x21 atomic "lsc_atomic_bfadd" from BRAIN, "Atomic add of brain floats.", "new = old + src1; dst = old";
    LSC_ATOMIC_BFSUB = 0x89 0x22 atomic "lsc_atomic_bfsub" from BRAIN, "Atomic subtract of brain floats.", "new = old - src1; dst = old";
    LSC_ATOMIC_BFMIN = 0x89 0x23 atomic "lsc_atomic_bfmin" from BRAIN, "Atomic minimum of brain floats.", "new = min(old, src1); dst = old";
    LSC_ATOMIC_BFMAX = 0x89 0x24 atomic "lsc_atomic_bfmax" from BRAIN, "Atomic maximum of brain floats.", "new = max(old, src1); dst = old";
    LSC_ATOMIC_BFCAS = 0x89 0x25 atomic "lsc_atomic_bfcas" from BRAIN, "Atomic compare and exchange of brain floats.", "new = old == src1 ? src2 : old; dst = old";
    LSC_APNDCTR_ATOMIC_ADD = 0x89 0x28 counter "lsc_apndctr_atomic_add" from COUNTER,
        "Adds to a surface's append counter.", "for each channel: dst[i] = counter; counter += src0[i]";
    LSC_APNDCTR_ATOMIC_SUB = 0x89 0x29 counter "lsc_apndctr_atomic_sub" from COUNTER,
        "Subtracts from a surface's append counter.", "for each channel: dst[i] = counter; counter -= src0[i]";
    LSC_APNDCTR_ATOMIC_STORE = 0x89 0x2a counter "lsc_apndctr_atomic_store" from COUNTER,
        "Sets a surface's append counter.", "for each channel: dst[i] = counter; counter = src0[i]";
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
        note: "The opcode list has it, but nothing describes it, and it has no text form.",
        operation: Some(Operation::Unsupported(Unsupported::CompressionControl));
    LSC_TYPED_LOAD_QUAD_MSRT = 0x8a 0x31 typed_load_quad "lsc_load_quad_msrt" from TYPED,
        "Reads pixels of a multi-sampled typed surface.",
        "as LSC_TYPED_LOAD_QUAD, of the sample that the last coordinate says",
        versions: Versions::V42, platforms: XE2,
        operation: Some(Operation::Message(Message::LscSamples(Access::Load)));
    LSC_TYPED_STORE_QUAD_MSRT = 0x8a 0x32 typed_store_quad "lsc_store_quad_msrt" from TYPED,
        "Writes pixels of a multi-sampled typed surface.",
        "as LSC_TYPED_STORE_QUAD, of the sample that the last coordinate says",
        versions: Versions::V42, platforms: XE2,
        operation: Some(Operation::Message(Message::LscSamples(Access::Store)));
    LSC_TYPED_LOAD_QUAD_STATUS = 0x8a 0x36 typed_load_quad "lsc_load_quad_status" from TYPED,
        "Asks whether the pages of pixels are resident.",
        "dst[i] = the page of surface[u[i], v[i], r[i]] is valid",
        versions: Versions::V42, platforms: XE3P,
        note: "In the reference's opcode list; no page describes it. The compiler takes a dword a channel from it, of a mask of one.",
        operation: Some(Operation::Message(Message::LscTexelStatuses));
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
            (SlotName::Exec.whole(), 0x80),
            (SlotName::L1.whole(), 0),
            (SlotName::L3.whole(), 0),
            (SlotName::AddrSize.whole(), 2),
            (SlotName::DataSize.whole(), 3),
            (SlotName::DataOrder.whole(), 1),
            (SlotName::DataElems.whole(), 1),
            (SlotName::ChMask.whole(), 1),
            (SlotName::U.whole(), 0),
            (SlotName::V.whole(), 0),
            (SlotName::R.whole(), 0),
            (SlotName::Lod.whole(), 0),
        ],
    )],
    exec_sizes: 1,
    effect: Effect::Read,
    brief: "Reads the state of a surface.",
    semantics: "dst = state of the surface",
    note: "Size, mask and shape have no text: (M1_NM, 1), one dword.",
    ..TYPED
};

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
        field(SlotName::Operation, Enc::Values(&[val(1, "reset")]), "what happens to dirty lines"),
        field(SlotName::Size, Enc::Values(&[val(0, "64B")]), "bytes of a line"),
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
    note: "The opcode list has it, but no page describes it.",
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
            SlotName::FenceOp,
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
            SlotName::Scope,
            Enc::Values(&[
                val(scope::GROUP, "group"),
                val(scope::LOCAL, "local"),
                val(2, "tile"),
                val(3, "gpu"),
                val(4, "gpus"),
                Value { code: 5, text: "sysrel", platforms: Platforms::ALL, doc: "`system` on the page" },
                val(6, "sysacq"),
            ]),
            "who must observe the accesses",
        ),
    ],
    forms: &[fixed("lsc_fence", "lsc_fence.{sfid}.{fence_op}.{scope}", &[(SlotName::Exec.whole(), 0x80)])],
    exec_sizes: 1,
    effect: Effect::Fence,
    out_of_bounds: OutOfBounds::Unspecified,
    page: "LSC_FENCE",
    brief: "Waits until earlier accesses of a shared function are visible in a scope.",
    semantics: "wait for pending accesses; then fence_op on the caches",
    note: "Size and mask have no text: (M1_NM, 1).",
    ..LSC
};
