//! Moves, compares and selections.

use super::common::*;
use crate::desc::*;
use crate::operation::*;
use crate::{Platforms, Type, TypeSet};

const NUMBERS: TypeSet = INT32.union(INT_Q).union(F_HF).union(DOUBLE);

const MOVE: InstDesc = InstDesc { family: Family::Move, modifiers: ARITH_MODS, ..EMPTY };

/// `MOV`, page MOV.
pub static MOV: InstDesc = InstDesc {
    name: "MOV",
    operation: Some(Operation::Move),
    opcode: 0x29,
    slots: &[
        EXEC,
        PRED,
        dst(Classes::GI.or(Classes::ADDRESS), TypeSet::ANY),
        src(
            SlotName::Src,
            Classes::GII.or(Classes::ADDRESS).or(Classes::PREDICATE).or(Classes::ADDRESS_OF),
            TypeSet::ANY,
        ),
    ],
    forms: &[form("mov", "{pred} mov[.sat] {exec} {dst} {src}")],
    type_maps: &[
        map(
            NUMBERS.union(TypeSet::of(&[Type::Bool])),
            NUMBERS.union(TypeSet::of(&[Type::Bool, Type::V, Type::Uv, Type::Vf])),
        ),
        same_on(Platforms::XEHP_UP, F_BF),
    ],
    page: "MOV",
    brief: "Copies a source to the destination, converting its type.",
    semantics: "dst[i] = convert(src[i])",
    note: "From a predicate the bits are copied as one integer; the reference assembler then drops predicate, saturation, mask and size and writes (M1_NM, 1). To a wider float the value is exact, denormals too, whatever %cr0 says.",
    ..MOVE
};

/// `SEL`, page SEL.
pub static SEL: InstDesc = InstDesc {
    name: "SEL",
    operation: Some(Operation::Compute(Compute::Sel)),
    opcode: 0x2a,
    slots: BINARY,
    forms: &[form("sel", "{pred} sel[.sat] {exec} {dst} {src0} {src1}")],
    type_maps: &[
        same(INT32),
        same_on(Platforms::INT64, INT32.union(INT_Q)),
        same_on(Platforms::XEHP_UP, F_BF),
        same(DOUBLE),
        same(F_HF),
    ],
    page: "SEL",
    brief: "Selects between two sources by the predicate.",
    semantics: "dst[i] = pred[i] ? src0[i] : src1[i]        (every active channel is written)",
    note: "64-bit integers need hardware that has them.",
    ..MOVE
};

/// `SETP`, page SETP.
pub static SETP: InstDesc = InstDesc {
    name: "SETP",
    operation: Some(Operation::SetPredicate),
    opcode: 0x2b,
    slots: &[
        EXEC,
        dst(Classes::PREDICATE, TypeSet::ANY),
        src(SlotName::Src0, Classes::GII, TypeSet::of(&[Type::Ub, Type::Uw, Type::Ud])),
    ],
    forms: &[form("setp", "setp {exec} {dst} {src0}")],
    modifiers: PLAIN,
    page: "SETP",
    brief: "Sets a predicate from the bits of an integer.",
    semantics: "dst.bit[i] = src0.bit[i]        (scalar source: bit i of it; vector source: bit 0 of src0[i])",
    note: "There is no predication.",
    ..MOVE
};

/// `MOVS`, page MOVS.
pub static MOVS: InstDesc = InstDesc {
    name: "MOVS",
    operation: Some(Operation::Move),
    opcode: 0x2d,
    slots: &[
        EXEC,
        dst(Classes::STATE.or(Classes::GENERAL), UD),
        src(SlotName::Src0, Classes::GII.or(Classes::STATE), UD),
    ],
    forms: &[form("movs", "movs {exec} {dst} {src0}")],
    modifiers: PLAIN,
    page: "MOVS",
    brief: "Moves a surface or sampler handle to, from or between state variables.",
    semantics: "dst[i] = src0[i]",
    note: "Either operand, or both, is a state operand; both then have the same class.",
    ..MOVE
};

/// `ADDR_ADD`, page ADDR_ADD.
pub static ADDR_ADD: InstDesc = InstDesc {
    name: "ADDR_ADD",
    operation: Some(Operation::AddressAdd),
    opcode: 0x28,
    family: Family::Address,
    slots: &[
        EXEC,
        dst(Classes::ADDRESS, TypeSet::ANY),
        src(
            SlotName::Src0,
            Classes::ADDRESS.or(Classes::GENERAL).or(Classes::ADDRESS_OF).or(Classes::STATE),
            TypeSet::ANY,
        ),
        src(SlotName::Src1, Classes::GENERAL.or(Classes::IMM).or(Classes::ADDRESS_OF), UW),
    ],
    forms: &[form("addr_add", "addr_add {exec} {dst} {src0} {src1}")],
    modifiers: PLAIN,
    page: "ADDR_ADD",
    brief: "Adds a byte offset to an address of a variable.",
    semantics: "dst[i] = address(src0[i]) + src1[i]",
    note: "The binary writes `&V[n]` as a general operand: row n / GRF size, column the rest. Channels beyond an address operand's width take its elements again.",
    ..MOVE
};

const RELATIONS: &[Value] =
    &[val(0, "eq"), val(1, "ne"), val(2, "gt"), val(3, "ge"), val(4, "lt"), val(5, "le")];

/// `CMP`, page CMP.
pub static CMP: InstDesc = InstDesc {
    name: "CMP",
    operation: Some(Operation::Compare),
    opcode: 0x2c,
    family: Family::Compare,
    slots: &[
        EXEC,
        field(SlotName::Rel, Enc::Values(RELATIONS), "relation"),
        dst(Classes::GI.or(Classes::PREDICATE), TypeSet::ANY),
        src(SlotName::Src0, Classes::GII, TypeSet::ANY),
        src(SlotName::Src1, Classes::GII, TypeSet::ANY),
    ],
    forms: &[form("cmp", "cmp.{rel} {exec} {dst} {src0} {src1}")],
    type_maps: &[
        same(INT32),
        same(INT32.union(INT_Q)),
        map(F_HF, INT32),
        same(F_HF),
        same_on(Platforms::XEHP_UP, F_BF),
        same(DOUBLE),
    ],
    modifiers: SRC_MODS,
    page: "CMP",
    brief: "Compares two sources and sets a predicate, or all ones or zero in a general destination.",
    semantics: "dst[i] = src0[i] rel src1[i]",
    note: "With a predicate destination only the sources' types count. There is no predication.",
    ..MOVE
};

const MIN_MAX_SLOTS: &[Slot] = &[
    EXEC,
    field(SlotName::Op, Enc::Values(&[val(0, "min"), val(1, "max")]), "minimum or maximum"),
    dst(Classes::GI, TypeSet::ANY),
    src(SlotName::Src0, Classes::GII, TypeSet::ANY),
    src(SlotName::Src1, Classes::GII, TypeSet::ANY),
];

const MIN_MAX_TYPES: &[TypeMap] =
    &[same(INT32), same_on(Platforms::INT64, INT32.union(INT_Q)), same(F_HF), same(DOUBLE)];
const MIN_MAX_NOTE: &str = "There is no predication: the reference assembler takes a predicate and drops it. If one source is NaN the other is the result; if both are, src1.";

/// `MIN`, page MIN_MAX.
pub static MIN: InstDesc = InstDesc {
    name: "MIN",
    operation: Some(Operation::Compute(Compute::Min)),
    opcode: 0x45,
    slots: MIN_MAX_SLOTS,
    forms: &[fixed("min", "min[.sat] {exec} {dst} {src0} {src1}", &[(SlotName::Op.whole(), 0)])],
    type_maps: MIN_MAX_TYPES,
    page: "MIN_MAX",
    brief: "The smaller of two sources.",
    semantics: "dst[i] = min(src0[i], src1[i])",
    note: MIN_MAX_NOTE,
    ..MOVE
};

/// `MAX`, page MIN_MAX.
pub static MAX: InstDesc = InstDesc {
    name: "MAX",
    operation: Some(Operation::Compute(Compute::Max)),
    opcode: 0x45,
    slots: MIN_MAX_SLOTS,
    forms: &[fixed("max", "max[.sat] {exec} {dst} {src0} {src1}", &[(SlotName::Op.whole(), 1)])],
    type_maps: MIN_MAX_TYPES,
    page: "MIN_MAX",
    brief: "The greater of two sources.",
    semantics: "dst[i] = max(src0[i], src1[i])",
    note: MIN_MAX_NOTE,
    ..MOVE
};
