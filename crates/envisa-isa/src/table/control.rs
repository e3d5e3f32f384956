//! Labels, branches and calls.

use super::common::*;
use crate::desc::*;
use crate::operation::*;
use crate::{Platform, Platforms, Type, TypeSet};

const CONTROL: InstDesc = InstDesc { family: Family::ControlFlow, ..EMPTY };

const SCALAR_NOTE: &str = "A scalar one (size 1) is uniform and takes the first bit of its predicate.";

const FUNC_NAME: Slot = Slot {
    name: SlotName::Function,
    kind: SlotKind::Str { width: 2 },
    role: Role::Field,
    types: TypeSet::NONE,
    bytes: Bytes::None,
    doc: "name of the function",
    since: (0, 0),
};
const ARGS: Slot = field(SlotName::ArgSize, Enc::Number { max: 255 }, "registers of %arg passed");
const RETURNS: Slot = field(SlotName::ReturnSize, Enc::Number { max: 255 }, "registers of %retval returned");
const TARGET: Slot = src(SlotName::Address, Classes::GII, TypeSet::of(&[Type::Ud, Type::Uq]));

/// `SUBROUTINE`, page SUBROUTINE.
pub static SUBROUTINE: InstDesc = InstDesc {
    name: "SUBROUTINE",
    operation: Some(Operation::Control(Control::Label)),
    opcode: 0x30,
    slots: &[label(LabelKind::Subroutine)],
    page: "SUBROUTINE",
    brief: "Starts a subroutine.",
    semantics: "nothing",
    note: "In text a subroutine starts with `.function \"name\"`.",
    ..CONTROL
};

/// `LABEL`, page LABEL.
pub static LABEL: InstDesc = InstDesc {
    name: "LABEL",
    operation: Some(Operation::Control(Control::Label)),
    opcode: 0x31,
    slots: &[label(LabelKind::Block)],
    page: "LABEL",
    brief: "Marks a place that branches can name.",
    semantics: "channels that wait for this label run again",
    note: "In text a label is `name:` in the first column.",
    ..CONTROL
};

/// `JMP`, page JMP.
pub static JMP: InstDesc = InstDesc {
    name: "JMP",
    operation: Some(Operation::Control(Control::Jump)),
    opcode: 0x32,
    slots: &[EXEC, PRED, label(LabelKind::Block)],
    forms: &[form("jmp", "{pred} jmp {exec} {label}")],
    exec_sizes: 1,
    page: "JMP",
    brief: "Jumps; all channels together.",
    semantics: "if pred.bit[0]: continue at label",
    note: "The reference assembler writes (M1, 1) whatever the text says.",
    ..CONTROL
};

/// `CALL`, page CALL; also FCCALL.
pub static CALL: InstDesc = InstDesc {
    name: "CALL",
    operation: Some(Operation::Control(Control::Call)),
    opcode: 0x33,
    slots: &[EXEC, PRED, label(LabelKind::Any)],
    forms: &[form("call", "{pred} call {exec} {label}"), form("fccall", "{pred} fccall {exec} {label}")],
    page: "CALL",
    brief: "Calls a subroutine, or with `fccall` a kernel that a linker supplies.",
    semantics: "channels whose predicate holds run the subroutine; the others wait for its return",
    note: "`fccall` has the same bytes; its label is of the kind `fc`. A scalar call is marked NoMask.",
    ..CONTROL
};

/// `RET`, page RET.
pub static RET: InstDesc = InstDesc {
    name: "RET",
    operation: Some(Operation::Control(Control::Return)),
    opcode: 0x34,
    slots: &[EXEC, PRED],
    forms: &[form("ret", "{pred} ret {exec}")],
    page: "RET",
    brief: "Returns from a subroutine; outside of one it ends the thread.",
    semantics: "channels whose predicate holds leave; when all have left, execution continues after the call",
    note: SCALAR_NOTE,
    ..CONTROL
};

/// `IFCALL`, page IFCALL, up to 4.1.
pub static IFCALL: InstDesc = InstDesc {
    name: "IFCALL",
    operation: Some(Operation::Control(Control::IndirectCall)),
    opcode: 0x4f,
    versions: Versions::V41,
    slots: &[EXEC, PRED, TARGET, ARGS, RETURNS],
    forms: &[form("ifcall", "{pred} ifcall {exec} {address} {arg_size} {return_size}")],
    page: "IFCALL",
    brief: "Calls the function at an address.",
    semantics: "channels whose predicate holds run the function at address",
    note: "The page describes 4.2, which has one more field.",
    ..CONTROL
};

/// `IFCALL`, page IFCALL, from 4.2.
pub static IFCALL_42: InstDesc = InstDesc {
    name: "IFCALL",
    operation: Some(Operation::Control(Control::IndirectCall)),
    opcode: 0x4f,
    versions: Versions::V42,
    slots: &[
        EXEC,
        PRED,
        Slot {
            name: SlotName::Flags,
            kind: SlotKind::Packed {
                width: 1,
                parts: &[flag(PartName::Uniform, 0), flag(PartName::Noreturn, 1)],
            },
            role: Role::Field,
            types: TypeSet::NONE,
            bytes: Bytes::None,
            doc: "bit 0: all threads call the same function; bit 1: the function does not return",
            since: (0, 0),
        },
        TARGET,
        ARGS,
        RETURNS,
    ],
    forms: &[form(
        "ifcall",
        "{pred} ifcall[.uniform?flags.uniform][.noreturn?flags.noreturn] {exec} {address} {arg_size} {return_size}",
    )],
    page: "IFCALL",
    brief: "Calls the function at an address.",
    semantics: "channels whose predicate holds run the function at address",
    note: "`.noreturn` is envisa's spelling of a bit that the reference knows in binaries only.",
    ..CONTROL
};

/// `FADDR`, page FADDR.
pub static FADDR: InstDesc = InstDesc {
    name: "FADDR",
    operation: Some(Operation::Control(Control::FunctionAddress)),
    opcode: 0x50,
    slots: &[FUNC_NAME, dst(Classes::GI, TypeSet::of(&[Type::Ud, Type::Uq]))],
    forms: &[form("faddr", "faddr {function} {dst}")],
    page: "FADDR",
    brief: "Takes the address of a function or a symbol.",
    semantics: "dst = address of function",
    ..CONTROL
};

/// `FCALL`, page FCALL.
pub static FCALL: InstDesc = InstDesc {
    name: "FCALL",
    operation: Some(Operation::Control(Control::FunctionCall)),
    opcode: 0x67,
    slots: &[EXEC, PRED, FUNC_NAME, ARGS, RETURNS],
    forms: &[form("fcall", "{pred} fcall {exec} {function} {arg_size} {return_size}")],
    page: "FCALL",
    brief: "Calls a function by name; arguments in %arg, results in %retval.",
    semantics: "channels whose predicate holds run the function",
    note: "A scalar call is marked NoMask.",
    ..CONTROL
};

/// `FRET`, page FRET.
pub static FRET: InstDesc = InstDesc {
    name: "FRET",
    operation: Some(Operation::Control(Control::FunctionReturn)),
    opcode: 0x68,
    slots: &[EXEC, PRED],
    forms: &[form("fret", "{pred} fret {exec}")],
    page: "FRET",
    brief: "Returns from a function.",
    semantics: "channels whose predicate holds leave; when all have left, %retval, %sp and %fp go to the caller",
    note: SCALAR_NOTE,
    ..CONTROL
};

/// `SWITCHJMP`, page SWITCHJMP.
pub static SWITCHJMP: InstDesc = InstDesc {
    name: "SWITCHJMP",
    operation: Some(Operation::Control(Control::Switch)),
    opcode: 0x69,
    slots: &[
        EXEC,
        Slot {
            name: SlotName::NumLabels,
            kind: SlotKind::Count { width: 1, min: 1, max: 32 },
            role: Role::Field,
            types: TypeSet::NONE,
            bytes: Bytes::None,
            doc: "number of labels",
            since: (0, 0),
        },
        src(SlotName::Index, Classes::GII, INT32),
        Slot {
            name: SlotName::Labels,
            kind: SlotKind::Many(&SlotKind::Label(LabelKind::Block)),
            role: Role::Field,
            types: TypeSet::NONE,
            bytes: Bytes::None,
            doc: "where each index goes",
            since: (0, 0),
        },
    ],
    forms: &[form("switchjmp", "switchjmp {exec} {index} ({labels...})")],
    exec_sizes: 1,
    platforms: Platforms::before(Platform::Tgllp),
    page: "SWITCHJMP",
    brief: "Jumps to one of up to 32 labels.",
    semantics: "continue at labels[index]",
    note: "The reference takes commas and blanks between the labels. It refuses fused-EU hardware (TGLLP to ARL); the page's table ends with ICLLP.",
    ..CONTROL
};

/// `GOTO`, page GOTO.
pub static GOTO: InstDesc = InstDesc {
    name: "GOTO",
    operation: Some(Operation::Control(Control::Goto)),
    opcode: 0x6c,
    slots: &[EXEC, PRED, label(LabelKind::Block)],
    forms: &[form("goto", "{pred} goto {exec} {label}")],
    page: "GOTO",
    brief: "Branches, channel by channel; diverged channels meet again at labels.",
    semantics: "channels whose predicate holds wait at the label until the others arrive",
    note: "Forwards the channels sleep until the label; backwards the others sleep until the loop ends. Size 1 is uniform.",
    ..CONTROL
};
