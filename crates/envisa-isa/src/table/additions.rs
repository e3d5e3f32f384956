//! Later additions beside the messages: 8-bit floats, and what 4.2 adds.

use super::common::*;
use crate::desc::*;
use crate::operation::*;
use crate::{Platform, Platforms, Type, TypeSet};

const NEW: InstDesc = InstDesc {
    versions: Versions::V42,
    platforms: Platforms::from(Platform::Xe3p),
    note: "The opcode list has it, but no page describes it.",
    ..EMPTY
};
const FLOATS: &[TypeMap] = &[same(F_HF), same(F_BF)];
const TANH_SIGM: InstDesc =
    InstDesc { family: Family::Math, modifiers: ARITH_MODS, type_maps: FLOATS, ..NEW };

/// `BREAKPOINT`.
pub static BREAKPOINT: InstDesc = InstDesc {
    name: "BREAKPOINT",
    operation: Some(Operation::Nothing),
    opcode: 0x94,
    forms: &[form("breakpoint", "breakpoint")],
    platforms: Platforms::ALL,
    brief: "Stops for a debugger.",
    semantics: "break if a debugger is attached",
    ..NEW
};

/// `SHFL_IDX4`.
pub static SHFL_IDX4: InstDesc = InstDesc {
    name: "SHFL_IDX4",
    operation: Some(Operation::Compute(Compute::ShflIdx4)),
    opcode: 0x95,
    family: Family::Move,
    slots: &[
        EXEC,
        PRED,
        raw_dst(UD, "what the table holds").touches(Bytes::PerChannel(4)),
        src(SlotName::Src0, Classes::GENERAL, UD),
        src(SlotName::Src1, Classes::GENERAL, TypeSet::of(&[Type::Uw, Type::Ub])),
    ],
    forms: &[form("shfl_idx4", "{pred} shfl_idx4 {exec} {dst} {src0} {src1}")],
    brief: "Looks 4-bit indices up in a table of 16 entries.",
    exec_sizes: 1 << 4 | 1 << 5,
    semantics: "src1 in bytes: word k of dst[i] = word k of src0[bits 4k..4k+3 of src1[i]], k in 0..2
src1 in words: byte k of dst[i] = byte k of src0[bits 4k..4k+3 of src1[i]], k in 0..4",
    note: "The opcode list has it, but no page describes it; what it does is taken from what the reference compiler uses it for, which in the case of bytes has tables whose entries repeat one byte. src0 is the table: 16 dwords, with 16 channels <1;1,0>, with 32 <0;16,1>.",
    ..NEW
};

alu! {
    TANH = 0x96 "tanh" Tanh unary sat from TANH_SIGM,
        brief: "Hyperbolic tangent.",
        semantics: "dst[i] = tanh(src0[i])";
    SIGM = 0x97 "sigm" Sigm unary sat from TANH_SIGM,
        brief: "Logistic function.",
        semantics: "dst[i] = 1 / (1 + exp(-src0[i]))";
}

/// `LFSR`.
pub static LFSR: InstDesc = InstDesc {
    name: "LFSR",
    operation: Some(Operation::Unsupported(Unsupported::Feedback)),
    opcode: 0x98,
    family: Family::Logic,
    slots: &[
        EXEC,
        PRED,
        field(
            SlotName::Function,
            Enc::Values(&[val(0, "b32"), val(1, "b16v2"), val(2, "b8v4")]),
            "how many registers a dword holds",
        ),
        dst(Classes::GENERAL, UD),
        src(SlotName::Src0, Classes::GENERAL, UD),
        src(SlotName::Src1, Classes::GENERAL.or(Classes::IMM), UD),
    ],
    forms: &[form("lfsr", "{pred} lfsr.{function} {exec} {dst} {src0} {src1}")],
    brief: "One step of linear feedback shift registers.",
    semantics: "dst[i] = src0[i] shifted by one, the bits that polynomial src1[i] selects fed back",
    ..NEW
};

/// `DNSCL`.
pub static DNSCL: InstDesc = InstDesc {
    name: "DNSCL",
    operation: Some(Operation::Compute(Compute::Dnscl)),
    opcode: 0x9a,
    family: Family::Move,
    slots: &[
        EXEC,
        PRED,
        field(
            SlotName::Convert,
            Enc::Values(&[val(1, "bftoe2m1"), val(2, "bftoint4"), val(4, "hftoe2m1"), val(5, "hftoint4")]),
            "types",
        ),
        field(
            SlotName::Mode,
            Enc::Values(&[val(0, "mode0"), val(1, "mode1"), val(2, "mode2"), val(3, "mode3")]),
            "how results are packed",
        ),
        field(SlotName::Rounding, Enc::Values(&[val(0, "srnd"), val(1, "rne")]), "stochastic or to nearest even"),
        raw_dst(UD, "result").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::Src0, UD, "two values a channel").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::Src1, UD, "two values a channel").touches(Bytes::PerChannel(4)),
        raw_opt(SlotName::Src2, UD, "random bits of stochastic rounding").touches(Bytes::PerChannel(4)),
    ],
    forms: &[form("dnscl", "{pred} dnscl.{convert}.{mode}.{rounding} {exec} {dst} {src0} {src1} {src2}")],
    brief: "Converts pairs of 16-bit floats to 4 bits.",
    semantics: "a, b = the low and the high word of src0[i], c, d = of src1[i], each converted to 4 bits
mode0: bits 0 a, 4 b, 16 c, 20 d; mode1: 0 a, 4 c, 16 b, 20 d; mode2, mode3: the same, 8 bits higher; the other bits are 0",
    note: "The opcode list has it, but no page describes it; the reference compiler's list of intrinsics says how results are packed. What is too large becomes the largest of its sign, a NaN too, which as int4 is 0. How the random bits of `srnd` are added has no public description.",
    ..NEW
};

const PRED_DST: Slot =
    Slot { name: SlotName::PredDst, doc: "early-out bits", ..dst(Classes::PREDICATE, TypeSet::ANY) };
const MACROS: InstDesc = InstDesc {
    family: Family::Math,
    type_maps: &[same(F_DF)],
    modifiers: SRC_MODS,
    platforms: Platforms::ALL.without(Platforms::of(&[
        Platform::Icllp,
        Platform::Tgllp,
        Platform::Dg2,
        Platform::Mtl,
    ])),
    note: "The page has a predicate, the opcode list does not. A set bit of pred_dst: the result is special and final.",
    ..NEW
};

/// `INVM`.
pub static INVM: InstDesc = InstDesc {
    name: "INVM",
    operation: Some(Operation::Compute(Compute::Invm)),
    opcode: 0x9b,
    slots: &[
        EXEC,
        dst(Classes::GI, TypeSet::ANY),
        PRED_DST,
        src(SlotName::Src0, Classes::GII, TypeSet::ANY),
        src(SlotName::Src1, Classes::GII, TypeSet::ANY),
    ],
    forms: &[form("invm", "invm {exec} {dst} {pred_dst} {src0} {src1}")],
    page: "INVM",
    brief: "Start of a division: its result where that is special, else the divisor's inverse.",
    semantics: "q = src0[i] / src1[i]; pred_dst[i] = q is NaN, infinite or zero; dst[i] = pred_dst[i] ? q : approx(1 / src1[i])",
    note: "The page calls the value an approximation of the division. The reference compiler's own expansion of divisions multiplies it by the numerator, and takes 1 - src1 * dst for its error: it approximates the inverse.",
    ..MACROS
};

/// `RSQTM`.
pub static RSQTM: InstDesc = InstDesc {
    name: "RSQTM",
    operation: Some(Operation::Compute(Compute::Rsqtm)),
    opcode: 0x9c,
    slots: &[EXEC, dst(Classes::GI, TypeSet::ANY), PRED_DST, src(SlotName::Src0, Classes::GII, TypeSet::ANY)],
    forms: &[form("rsqtm", "rsqtm {exec} {dst} {pred_dst} {src0}")],
    page: "RSQTM",
    brief: "First approximation of an inverse square root.",
    semantics: "dst[i] = approx(1 / sqrt(src0[i])); pred_dst[i] = early out",
    ..MACROS
};

const BYTE_FLOATS: &[TypeMap] = &[
    map(HALF, TypeSet::of(&[Type::Ub, Type::B])),
    map(TypeSet::of(&[Type::Ub, Type::B]), HALF),
    TypeMap { platforms: Platforms::from(Platform::Pvcxt), dst: SINGLE, src: UD },
    TypeMap { platforms: Platforms::from(Platform::Pvcxt), dst: UD, src: SINGLE },
];

/// `FCVT`, page FCVT.
pub static FCVT: InstDesc = InstDesc {
    name: "FCVT",
    operation: Some(Operation::Compute(Compute::Fcvt)),
    opcode: 0x1d,
    family: Family::Move,
    slots: &[
        EXEC,
        dst(Classes::GENERAL, TypeSet::ANY),
        src(SlotName::Src0, Classes::GENERAL.or(Classes::IMM), TypeSet::ANY),
    ],
    forms: &[form("fcvt", "fcvt[.sat] {exec} {dst} {src0}")],
    type_maps: BYTE_FLOATS,
    platforms: Platforms::PVC_UP,
    page: "FCVT",
    brief: "Converts between bf8 (as ub) and hf, and tf32 (as ud) and f.",
    semantics: "dst[i] = convert(src0[i]), to nearest even; bf8 keeps denormals, tf32 flushes them",
    note: "Conversions to bf8 need NoMask. Operands of type b hold hf8.",
    ..EMPTY
};

/// `SRND`, page SRND.
pub static SRND: InstDesc = InstDesc {
    name: "SRND",
    operation: Some(Operation::Compute(Compute::Srnd)),
    opcode: 0x1e,
    family: Family::Arithmetic,
    slots: &[
        EXEC,
        dst(Classes::GENERAL, TypeSet::of(&[Type::Ub, Type::B, Type::Hf])),
        src(SlotName::Src0, Classes::GENERAL, TypeSet::of(&[Type::F, Type::Hf, Type::Bf])),
        src(SlotName::Src1, Classes::GENERAL.or(Classes::IMM), TypeSet::ANY),
    ],
    forms: &[form("srnd", "srnd {exec} {dst} {src0} {src1}")],
    platforms: Platforms::from(Platform::Pvcxt),
    page: "SRND",
    brief: "Rounds stochastically: hf to bf8 (as ub), f to hf.",
    semantics: "dst[i] = truncate(src0[i] + random bits of src1[i]): 8 of them to bf8, 13 to hf",
    note: "NoMask only. Denormals are kept.",
    ..EMPTY
};
