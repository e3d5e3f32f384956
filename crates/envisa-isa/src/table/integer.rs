//! Arithmetic rows.

use super::common::*;
use crate::desc::*;
use crate::{Platforms, Type, TypeSet};

const NON_QWORD_INT: TypeSet = TypeSet::of(&[Type::Ud, Type::D, Type::Uw, Type::W, Type::Ub, Type::B]);

/// `ADD`, page ADD.
pub static ADD: InstDesc = InstDesc {
    name: "ADD",
    opcode: 0x01,
    sub: None,
    family: Family::Arithmetic,
    versions: Versions::ALL,
    slots: &[
        EXEC,
        PRED,
        dst(Classes::GI, TypeSet::ANY),
        src("src0", Classes::GII, TypeSet::ANY),
        src("src1", Classes::GII, TypeSet::ANY),
    ],
    forms: &[form("add", "{pred} add[.sat] {exec} {dst} {src0} {src1}")],
    type_maps: &[
        TypeMap { platforms: Platforms::ALL, dst: NON_QWORD_INT, src: NON_QWORD_INT },
        TypeMap { platforms: Platforms::ALL, dst: TypeSet::of(&[Type::Df]), src: TypeSet::of(&[Type::Df]) },
    ],
    exec_sizes: ALL_SIZES,
    modifiers: ARITH_MODS,
    platforms: Platforms::ALL,
    effect: Effect::None,
    out_of_bounds: OutOfBounds::Unspecified,
    page: "ADD",
    brief: "Adds two sources, channel by channel.",
    semantics: "dst[i] = src0[i] + src1[i]",
    note: "",
};
