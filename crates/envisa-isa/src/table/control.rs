//! Labels, branches and calls.

use super::common::*;
use super::moves::MOV;
use crate::desc::*;

const CONTROL: InstDesc = InstDesc { family: Family::ControlFlow, type_maps: &[], modifiers: PLAIN, ..MOV };

/// `SUBROUTINE`, page SUBROUTINE.
pub static SUBROUTINE: InstDesc = InstDesc {
    name: "SUBROUTINE",
    opcode: 0x30,
    slots: &[label(LabelKind::Subroutine)],
    forms: &[],
    page: "SUBROUTINE",
    brief: "Starts a subroutine.",
    semantics: "",
    note: "In text a subroutine starts with `.function \"name\"`.",
    ..CONTROL
};

/// `LABEL`, page LABEL.
pub static LABEL: InstDesc = InstDesc {
    name: "LABEL",
    opcode: 0x31,
    slots: &[label(LabelKind::Block)],
    forms: &[],
    page: "LABEL",
    brief: "Marks a place that branches can name.",
    semantics: "",
    note: "In text a label is `name:` in the first column.",
    ..CONTROL
};

/// `RET`, page RET.
pub static RET: InstDesc = InstDesc {
    name: "RET",
    opcode: 0x34,
    slots: &[EXEC, PRED],
    forms: &[form("ret", "{pred} ret {exec}")],
    page: "RET",
    brief: "Returns from a subroutine; outside of one it ends the thread.",
    semantics: "active channels return to their callers",
    ..CONTROL
};

/// `GOTO`, page GOTO.
pub static GOTO: InstDesc = InstDesc {
    name: "GOTO",
    opcode: 0x6c,
    slots: &[EXEC, PRED, label(LabelKind::Block)],
    forms: &[form("goto", "{pred} goto {exec} {label}")],
    page: "GOTO",
    brief: "Branches, channel by channel; diverged channels meet again at labels.",
    semantics: "channels whose predicate holds wait at the label until the others arrive",
    ..CONTROL
};
