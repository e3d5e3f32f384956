//! Arithmetic rows.

use super::common::*;
use crate::desc::*;
use crate::operation::*;
use crate::{Platform, Platforms, Type, TypeSet};

const ARITH: InstDesc = InstDesc { family: Family::Arithmetic, modifiers: ARITH_MODS, ..EMPTY };

const BEFORE_XEHP: Platforms = Platforms::before(Platform::XehpSdv);
const BEFORE_ICLLP: Platforms = Platforms::before(Platform::Icllp);

const ADD_TYPES: &[TypeMap] = &[
    same(INT32),
    TypeMap { platforms: Platforms::INT64, dst: INT_Q, src: INT_Q.union(INT_W_D) },
    same(DOUBLE),
    same(HALF),
    same_on(BEFORE_XEHP, SINGLE),
    same_on(Platforms::XEHP_UP, F_BF),
];
const MUL_TYPES: &[TypeMap] = &[
    same(INT32),
    TypeMap { platforms: Platforms::ALL, dst: INT_Q, src: INT_D },
    same(DOUBLE),
    same(F_HF),
    same_on(Platforms::XEHP_UP, F_BF),
];
const MAD_TYPES: &[TypeMap] = &[
    same(INT32),
    TypeMap {
        platforms: Platforms::from(Platform::Xe3p),
        dst: TypeSet::of(&[Type::Q, Type::Uq]),
        src: INT32,
    },
    same(F_HF),
    same_on(Platforms::XEHP_UP, F_BF),
    same(DOUBLE),
];
const DIV_TYPES: &[TypeMap] = &[same(DOUBLE), same(F_HF), same_on(BEFORE_XEHP, INT32)];
const DOT_NOTE: &str =
    "Obsolete: the opcode list has it, but no page describes it. The exec size is at least 4.";
const DOT_SIZES: u8 = 0x3c;
const CARRY_NOTE: &str = "The carry operand takes dwords in the order of the channels, written after the destination: in one place it stays. Of 64 bits there is none: the reference refuses it, and its vector compiler makes it of dwords.";

alu! {
    ADD = 0x01 "add" Add binary sat from ARITH,
        type_maps: ADD_TYPES,
        page: "ADD",
        brief: "Adds two sources, channel by channel.",
        semantics: "dst[i] = src0[i] + src1[i]";
    AVG = 0x02 "avg" Avg binary sat from ARITH,
        type_maps: &[same(INT32)],
        page: "AVG",
        brief: "Average of two integers, rounded up.",
        semantics: "dst[i] = (src0[i] + src1[i] + 1) >> 1, in a wider type";
    DIV = 0x03 "div" Div binary sat from ARITH,
        type_maps: DIV_TYPES,
        modifiers: FLOAT_SAT_MODS,
        page: "DIV",
        brief: "Divides; integers truncate, floats multiply by the approximate inverse.",
        semantics: "dst[i] = src0[i] / src1[i]        (float: src0[i] * inv(src1[i]))",
        note: "The page has no gate for integers; the reference verifier refuses them from XeHP_SDV on.";
    DP2 = 0x04 "dp2" Dp2 binary sat from ARITH,
        type_maps: &[same(SINGLE)],
        exec_sizes: DOT_SIZES,
        platforms: Platforms::before(Platform::Icllp),
        brief: "Dot product of the first two elements of each group of four.",
        semantics: "for each group of 4: dst[0..4] = src0[0]*src1[0] + src0[1]*src1[1]",
        note: DOT_NOTE;
    DP3 = 0x05 "dp3" Dp3 binary sat from ARITH,
        type_maps: &[same(SINGLE)],
        exec_sizes: DOT_SIZES,
        platforms: Platforms::before(Platform::Icllp),
        brief: "Dot product of the first three elements of each group of four.",
        semantics: "for each group of 4: dst[0..4] = src0[0]*src1[0] + src0[1]*src1[1] + src0[2]*src1[2]",
        note: DOT_NOTE;
    DP4 = 0x06 "dp4" Dp4 binary sat from ARITH,
        type_maps: &[same(SINGLE)],
        exec_sizes: DOT_SIZES,
        platforms: Platforms::before(Platform::Icllp),
        brief: "Dot product of each group of four elements.",
        semantics: "for each group of 4: dst[0..4] = src0[0]*src1[0] + … + src0[3]*src1[3]",
        note: DOT_NOTE;
    DPH = 0x07 "dph" Dph binary sat from ARITH,
        type_maps: &[same(SINGLE)],
        exec_sizes: DOT_SIZES,
        platforms: Platforms::before(Platform::Icllp),
        brief: "Homogeneous dot product of each group of four elements.",
        semantics: "for each group of 4: dst[0..4] = src0[0]*src1[0] + src0[1]*src1[1] + src0[2]*src1[2] + src1[3]",
        note: DOT_NOTE;
    FRC = 0x09 "frc" Frc unary sat from ARITH,
        type_maps: &[same(SINGLE)],
        modifiers: SRC_MODS,
        page: "FRC",
        brief: "Fraction: the source less its floor.",
        semantics: "dst[i] = src0[i] - floor(src0[i])";
    MAD = 0x0c "mad" Mad ternary sat from ARITH,
        type_maps: MAD_TYPES,
        modifiers: FLOAT_SAT_MODS,
        page: "MAD",
        brief: "Multiplies and adds; floats with a single rounding.",
        semantics: "dst[i] = src0[i] * src1[i] + src2[i]",
        note: "Immediates have 16 bits in hardware; wider ones cost a move. In binary and text the addend is last. To a narrower float than the sources' it is rounded once too.";
    MULH = 0x0d "mulh" Mulh binary sat from ARITH,
        type_maps: &[same(INT_D)],
        modifiers: SRC_MODS,
        page: "MULH",
        brief: "High dword of the 64-bit product.",
        semantics: "dst[i] = (src0[i] * src1[i]) >> 32";
    LRP = 0x0e "lrp" Lrp ternary sat from ARITH,
        type_maps: &[same(SINGLE)],
        platforms: BEFORE_ICLLP,
        page: "LRP",
        brief: "Linear interpolation.",
        semantics: "dst[i] = src0[i] * src1[i] + (1.0 - src0[i]) * src2[i]";
    MOD = 0x0f "mod" Mod binary sat from ARITH,
        type_maps: &[same(INT32)],
        platforms: BEFORE_XEHP,
        page: "MOD",
        brief: "Remainder of an integer division; its sign is the numerator's.",
        semantics: "dst[i] = src0[i] - src1[i] * trunc(src0[i] / src1[i])",
        note: "Not of floats: the reference refuses it, and unchecked divides them as integers.";
    MUL = 0x10 "mul" Mul binary sat from ARITH,
        type_maps: MUL_TYPES,
        page: "MUL",
        modifiers: FLOAT_SAT_MODS,
        brief: "Multiplies two sources, channel by channel.",
        semantics: "dst[i] = src0[i] * src1[i]",
        note: "q = d * d needs 64-bit integers (SKL, XeHP_SDV, PVC); PVC and later have no byte sources in hardware.";
    RNDD = 0x12 "rndd" Rndd unary sat from ARITH,
        type_maps: &[same(SINGLE)],
        page: "RNDD",
        brief: "Rounds down to an integral value.",
        semantics: "dst[i] = floor(src0[i])";
    RNDU = 0x13 "rndu" Rndu unary sat from ARITH,
        type_maps: &[same(SINGLE)],
        page: "RNDU",
        brief: "Rounds up to an integral value.",
        semantics: "dst[i] = ceil(src0[i])";
    RNDE = 0x14 "rnde" Rnde unary sat from ARITH,
        type_maps: &[same(SINGLE)],
        page: "RNDE",
        brief: "Rounds to the nearest integral value, ties to even.",
        semantics: "dst[i] = roundeven(src0[i])";
    RNDZ = 0x15 "rndz" Rndz unary sat from ARITH,
        type_maps: &[same(SINGLE)],
        page: "RNDZ",
        brief: "Rounds towards zero to an integral value.",
        semantics: "dst[i] = trunc(src0[i])";
    SAD2 = 0x16 "sad2" Sad2 binary sat from ARITH,
        type_maps: &[map(WORDS, BYTES)],
        platforms: BEFORE_ICLLP,
        page: "SAD2",
        brief: "Sum of absolute differences of each pair of elements.",
        semantics: "for even i: dst[i] = |src0[i]-src1[i]| + |src0[i+1]-src1[i+1]|";
    LZD = 0x1f "lzd" Lzd unary sat from ARITH,
        type_maps: &[same(UD)],
        modifiers: PLAIN,
        page: "LZD",
        brief: "Number of leading zeros; 32 for zero.",
        semantics: "dst[i] = leading_zeros(src0[i])",
        note: "The page's text form has `.sat` though saturation means nothing here.";
    SAD2ADD = 0x6a "sad2add" Sad2add ternary sat from ARITH,
        type_maps: &[],
        modifiers: SAT_ONLY,
        slots: &[
            EXEC,
            PRED,
            dst(Classes::GI, WORDS),
            src(SlotName::Src0, Classes::GII, BYTES),
            src(SlotName::Src1, Classes::GII, BYTES),
            src(SlotName::Src2, Classes::GII, WORDS)
        ],
        platforms: BEFORE_ICLLP,
        page: "SAD2ADD",
        brief: "Sum of absolute differences of each pair of elements, added to a third source.",
        semantics: "for even i: dst[i] = src2[i] + |src0[i]-src1[i]| + |src0[i+1]-src1[i+1]|";
    DP4A = 0x82 "dp4a" Dp4a ternary sat from ARITH,
        type_maps: &[same(INT_D)],
        modifiers: SAT_ONLY,
        platforms: Platforms::TGLLP_UP,
        page: "DP4A",
        brief: "Adds the dot product of four bytes to an accumulator.",
        semantics: "dst[i] = src0[i] + sum(k in 0..4: src1[i].byte[k] * src2[i].byte[k]); bytes are signed where the source is d";
    ADD3 = 0x84 "add3" Add3 ternary sat from ARITH,
        type_maps: &[same(INT_W_D)],
        platforms: Platforms::XEHP_UP,
        page: "ADD3",
        brief: "Adds three integers.",
        semantics: "dst[i] = src0[i] + src1[i] + src2[i]",
        note: "Neither page nor reference verifier gates it; hardware has it from XeHP_SDV on.";
    MADW = 0x91 "madw" Madw ternary sat from ARITH,
        type_maps: &[same(INT_D)],
        modifiers: SRC_MODS,
        page: "MADW",
        brief: "Multiplies and adds 32-bit integers to 64 bits; low dwords first, then high dwords.",
        semantics: "t = src0[i] * src1[i] + src2[i] (64 bits); dst[i] = lo(t); dst[n + i] = hi(t), n = the elements of the low part's registers",
        note: "dst is GRF-aligned; the high dwords start at the register after the last of the low ones.";
    ADD3O = 0x92 "add3.o" Add3o ternary plain from ARITH,
        forms: &[form("add3", "{pred} add3.o {exec} {dst} {src0} {src1} {src2}")],
        type_maps: &[same(INT_W_D)],
        modifiers: SRC_MODS,
        platforms: Platforms::XEHP_UP,
        page: "ADD3O",
        brief: "Adds three integers and writes the overflow bits to the predicate.",
        semantics: "dst[i] = src0[i] + src1[i] + src2[i]; pred[i] = overflow",
        note: "The reference assembler knows the mnemonic and fails on it; the encoding is that of ADD3.";
}

const CARRY_SLOTS: &[Slot] = &[
    EXEC,
    PRED,
    dst(Classes::GI, UD),
    Slot { name: SlotName::Carry, ..dst(Classes::GI, UD) },
    src(SlotName::Src0, Classes::GII, UD),
    src(SlotName::Src1, Classes::GII, UD),
];

/// `ADDC`.
pub static ADDC: InstDesc = InstDesc {
    name: "ADDC",
    operation: Some(Operation::Compute(Compute::Addc)),
    opcode: 0x49,
    slots: CARRY_SLOTS,
    forms: &[form("addc", "{pred} addc {exec} {dst} {carry} {src0} {src1}")],
    type_maps: &[same(UD)],
    modifiers: PLAIN,
    page: "ADDC",
    brief: "Adds and gives the carry, 0 or 1.",
    semantics: "t = src0[i] + src1[i], in 33 bits; dst[i] = lo(t); carry[i] = t >> 32",
    note: CARRY_NOTE,
    ..ARITH
};

/// `SUBB`.
pub static SUBB: InstDesc = InstDesc {
    name: "SUBB",
    operation: Some(Operation::Compute(Compute::Subb)),
    opcode: 0x4a,
    forms: &[form("subb", "{pred} subb {exec} {dst} {carry} {src0} {src1}")],
    page: "SUBB",
    brief: "Subtracts and gives the borrow, 0 or 1.",
    semantics: "dst[i] = src0[i] - src1[i]; carry[i] = src0[i] < src1[i]",
    note: "The page says saturation is legal, its text form has none.",
    ..ADDC
};

/// `LINE`.
pub static LINE: InstDesc = InstDesc {
    name: "LINE",
    operation: Some(Operation::Compute(Compute::Line)),
    opcode: 0x0a,
    slots: &[
        EXEC,
        PRED,
        dst(Classes::GI, SINGLE),
        src(SlotName::Src0, Classes::GENERAL, SINGLE),
        src(SlotName::Src1, Classes::GII, SINGLE),
    ],
    forms: &[form("line", "{pred} line[.sat] {exec} {dst} {src0} {src1}")],
    exec_sizes: DOT_SIZES,
    platforms: BEFORE_ICLLP,
    brief: "Line equation.",
    semantics: "dst[i] = src0[0] * src1[i] + src0[3]",
    note: "Obsolete: the opcode list has it, but no page describes it. src0 has the region <0;1,0>.",
    ..ARITH
};

/// `PLANE`.
pub static PLANE: InstDesc = InstDesc {
    name: "PLANE",
    operation: Some(Operation::Compute(Compute::Pln)),
    opcode: 0x6b,
    slots: &[
        EXEC,
        PRED,
        dst(Classes::GI, SINGLE),
        src(SlotName::Src0, Classes::GII, SINGLE),
        src(SlotName::Src1, Classes::GII, SINGLE),
    ],
    forms: &[form("plane", "{pred} plane[.sat] {exec} {dst} {src0} {src1}")],
    exec_sizes: 0x18,
    modifiers: SAT_ONLY,
    platforms: BEFORE_ICLLP,
    page: "PLN",
    brief: "Plane equation.",
    semantics: "dst[i] = src0[0] * u[i] + src0[1] * v[i] + src0[3]; u and v alternate in src1, 8 channels each",
    note: "Regions of the sources are ignored; src1 is GRF-aligned, src0 aligned to 16 bytes.",
    ..ARITH
};
