//! Moves, compares and selections.

use super::common::*;
use crate::desc::*;
use crate::{Platforms, TypeSet};

/// `MOV`, page MOV.
pub static MOV: InstDesc = InstDesc {
    name: "MOV",
    opcode: 0x29,
    sub: None,
    family: Family::Move,
    versions: Versions::ALL,
    slots: &[
        EXEC,
        PRED,
        dst(Classes::GI.or(Classes::ADDRESS), TypeSet::ANY),
        src(
            "src",
            Classes::GII.or(Classes::ADDRESS).or(Classes::PREDICATE).or(Classes::ADDRESS_OF),
            TypeSet::ANY,
        ),
    ],
    forms: &[form("mov", "{pred} mov[.sat] {exec} {dst} {src}")],
    type_maps: &[TypeMap { platforms: Platforms::ALL, dst: TypeSet::ANY, src: TypeSet::ANY }],
    exec_sizes: ALL_SIZES,
    modifiers: ARITH_MODS,
    platforms: Platforms::ALL,
    effect: Effect::None,
    out_of_bounds: OutOfBounds::Unspecified,
    page: "MOV",
    brief: "Copies a source to the destination, converting its type.",
    semantics: "dst[i] = convert(src[i])",
    note: "",
};

const RELATIONS: &[Value] =
    &[val(0, "eq"), val(1, "ne"), val(2, "gt"), val(3, "ge"), val(4, "lt"), val(5, "le")];

/// `CMP`, page CMP.
pub static CMP: InstDesc = InstDesc {
    name: "CMP",
    opcode: 0x2c,
    family: Family::Compare,
    slots: &[
        EXEC,
        field("rel", Enc::Values(RELATIONS), "relation"),
        dst(Classes::GI.or(Classes::PREDICATE), TypeSet::ANY),
        src("src0", Classes::GII, TypeSet::ANY),
        src("src1", Classes::GII, TypeSet::ANY),
    ],
    forms: &[form("cmp", "cmp.{rel} {exec} {dst} {src0} {src1}")],
    page: "CMP",
    brief: "Compares two sources and sets a predicate, or all ones or zero in a general destination.",
    semantics: "dst[i] = src0[i] rel src1[i]",
    modifiers: ModifierRules { saturation: Saturation::No, source: SourceModifiers::Arithmetic },
    ..MOV
};

const MIN_MAX_SLOTS: &[Slot] = &[
    EXEC,
    field("op", Enc::Values(&[val(0, "min"), val(1, "max")]), "minimum or maximum"),
    PRED,
    dst(Classes::GI, TypeSet::ANY),
    src("src0", Classes::GII, TypeSet::ANY),
    src("src1", Classes::GII, TypeSet::ANY),
];

/// `MIN`, page MIN_MAX.
pub static MIN: InstDesc = InstDesc {
    name: "MIN",
    opcode: 0x45,
    slots: MIN_MAX_SLOTS,
    forms: &[Form {
        head: "min",
        template: "{pred} min[.sat] {exec} {dst} {src0} {src1}",
        fixed: &[("op", 0)],
    }],
    page: "MIN_MAX",
    brief: "The smaller of two sources.",
    semantics: "dst[i] = min(src0[i], src1[i])",
    ..MOV
};

/// `MAX`, page MIN_MAX.
pub static MAX: InstDesc = InstDesc {
    name: "MAX",
    forms: &[Form {
        head: "max",
        template: "{pred} max[.sat] {exec} {dst} {src0} {src1}",
        fixed: &[("op", 1)],
    }],
    brief: "The greater of two sources.",
    semantics: "dst[i] = max(src0[i], src1[i])",
    ..MIN
};
