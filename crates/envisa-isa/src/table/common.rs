//! Slots and rules that many rows share.

use crate::desc::*;
use crate::{Type, TypeSet};

/// Execution size and mask.
pub const EXEC: Slot = Slot {
    name: SlotName::Exec,
    kind: SlotKind::Exec,
    role: Role::Field,
    types: TypeSet::NONE,
    bytes: Bytes::None,
    doc: "execution size and mask",
    since: (0, 0),
};

/// Predicate.
pub const PRED: Slot = Slot {
    name: SlotName::Pred,
    kind: SlotKind::Pred,
    role: Role::Read,
    types: TypeSet::NONE,
    bytes: Bytes::None,
    doc: "predication",
    since: (0, 0),
};

/// A vector destination of these classes.
pub const fn dst(classes: Classes, types: TypeSet) -> Slot {
    Slot {
        name: SlotName::Dst,
        kind: SlotKind::Vector(classes),
        role: Role::Write,
        types,
        bytes: Bytes::Region,
        doc: "destination",
        since: (0, 0),
    }
}

/// A vector source.
pub const fn src(name: SlotName, classes: Classes, types: TypeSet) -> Slot {
    Slot {
        name,
        kind: SlotKind::Vector(classes),
        role: Role::Read,
        types,
        bytes: Bytes::Region,
        doc: "",
        since: (0, 0),
    }
}

/// A raw operand that is read.
pub const fn raw_src(name: SlotName, types: TypeSet, doc: &'static str) -> Slot {
    Slot {
        name,
        kind: SlotKind::Raw { nullable: false },
        role: Role::Read,
        types,
        bytes: Bytes::Undefined,
        doc,
        since: (0, 0),
    }
}

/// A raw operand that is read and may be `%null`.
pub const fn raw_opt(name: SlotName, types: TypeSet, doc: &'static str) -> Slot {
    Slot {
        name,
        kind: SlotKind::Raw { nullable: true },
        role: Role::Read,
        types,
        bytes: Bytes::Undefined,
        doc,
        since: (0, 0),
    }
}

/// A raw operand that is written.
pub const fn raw_dst(types: TypeSet, doc: &'static str) -> Slot {
    Slot {
        name: SlotName::Dst,
        kind: SlotKind::Raw { nullable: false },
        role: Role::Write,
        types,
        bytes: Bytes::Undefined,
        doc,
        since: (0, 0),
    }
}

/// A plain one-byte field.
pub const fn field(name: SlotName, enc: Enc, doc: &'static str) -> Slot {
    Slot {
        name,
        kind: SlotKind::Field { width: 1, enc },
        role: Role::Field,
        types: TypeSet::NONE,
        bytes: Bytes::None,
        doc,
        since: (0, 0),
    }
}

/// A raw operand that is written and may be `%null`.
pub const fn raw_dst_opt(types: TypeSet, doc: &'static str) -> Slot {
    Slot {
        name: SlotName::Dst,
        kind: SlotKind::Raw { nullable: true },
        role: Role::Write,
        types,
        bytes: Bytes::Undefined,
        doc,
        since: (0, 0),
    }
}

/// A surface handle.
pub const fn surface(allowed: SurfaceRule) -> Slot {
    Slot {
        name: SlotName::Surface,
        kind: SlotKind::Surface { allowed },
        role: Role::Read,
        types: TypeSet::NONE,
        bytes: Bytes::None,
        doc: "surface",
        since: (0, 0),
    }
}

/// A label.
pub const fn label(kind: LabelKind) -> Slot {
    Slot {
        name: SlotName::Label,
        kind: SlotKind::Label(kind),
        role: Role::Field,
        types: TypeSet::NONE,
        bytes: Bytes::None,
        doc: "label",
        since: (0, 0),
    }
}

/// A value on every platform.
pub const fn val(code: u32, text: &'static str) -> Value {
    Value { code, text, platforms: crate::Platforms::ALL, doc: "" }
}

/// One form without fixed fields.
pub const fn form(head: &'static str, template: &'static str) -> Form {
    Form { head, template, fixed: &[], copies: &[] }
}

/// A form with fixed fields.
pub const fn fixed(head: &'static str, template: &'static str, fixed: &'static [(FieldName, u32)]) -> Form {
    Form { head, template, fixed, copies: &[] }
}

/// A field of several parts.
pub const fn packed(name: SlotName, width: u8, parts: &'static [Part], doc: &'static str) -> Slot {
    Slot {
        name,
        kind: SlotKind::Packed { width, parts },
        role: Role::Field,
        types: TypeSet::NONE,
        bytes: Bytes::None,
        doc,
        since: (0, 0),
    }
}

/// A field of this many bytes.
pub const fn wide(name: SlotName, width: u8, enc: Enc, doc: &'static str) -> Slot {
    Slot {
        name,
        kind: SlotKind::Field { width, enc },
        role: Role::Field,
        types: TypeSet::NONE,
        bytes: Bytes::None,
        doc,
        since: (0, 0),
    }
}

/// A part of a packed field.
pub const fn part(name: PartName, lo: u8, bits: u8, enc: Enc) -> Part {
    Part { name, lo, bits, enc }
}

/// A one-bit part.
pub const fn flag(name: PartName, lo: u8) -> Part {
    Part { name, lo, bits: 1, enc: Enc::Number { max: 1 } }
}

/// The ignored scale of the scaled messages.
pub const SCALE: Slot = wide(SlotName::Scale, 2, Enc::Ignored(0), "ignored; the scale is zero");

/// No modifiers.
pub const PLAIN: ModifierRules = ModifierRules { saturation: Saturation::No, source: SourceModifiers::No };
/// Saturation and arithmetic modifiers.
pub const ARITH_MODS: ModifierRules =
    ModifierRules { saturation: Saturation::Yes, source: SourceModifiers::Arithmetic };

/// 1 to 32 channels.
pub const ALL_SIZES: u8 = 0x3f;
/// 1 to 16 channels.
pub const TO_16: u8 = 0x1f;

/// `ud`.
pub const UD: TypeSet = TypeSet::of(&[Type::Ud]);
/// `uq`.
pub const UQ: TypeSet = TypeSet::of(&[Type::Uq]);
/// `ud, d, f`.
pub const DWORDS: TypeSet = TypeSet::of(&[Type::Ud, Type::D, Type::F]);

use Type::{B, Bf, D, Df, F, Hf, Q, Ub, Ud, Uq, Uw, W};

/// Integers of at most 32 bits.
pub const INT32: TypeSet = TypeSet::of(&[Ud, D, Uw, W, Ub, B]);
/// Integers of 16 and 32 bits.
pub const INT_W_D: TypeSet = TypeSet::of(&[Ud, D, Uw, W]);
/// Integers of 64 bits.
pub const INT_Q: TypeSet = TypeSet::of(&[Uq, Q]);
/// `ud, d`.
pub const INT_D: TypeSet = TypeSet::of(&[Ud, D]);
/// `f`.
pub const SINGLE: TypeSet = TypeSet::of(&[F]);
/// `hf`.
pub const HALF: TypeSet = TypeSet::of(&[Hf]);
/// `df`.
pub const DOUBLE: TypeSet = TypeSet::of(&[Df]);
/// `f, hf`.
pub const F_HF: TypeSet = TypeSet::of(&[F, Hf]);
/// `bf`.
pub const BF: TypeSet = TypeSet::of(&[Bf]);
/// `f, bf`.
pub const F_BF: TypeSet = TypeSet::of(&[F, Bf]);
/// `f, df`.
pub const F_DF: TypeSet = TypeSet::of(&[F, Df]);
/// `uw`.
pub const UW: TypeSet = TypeSet::of(&[Uw]);
/// `w, uw`.
pub const WORDS: TypeSet = TypeSet::of(&[W, Uw]);
/// `b, ub`.
pub const BYTES: TypeSet = TypeSet::of(&[B, Ub]);

/// Destination and sources from one set, everywhere.
pub const fn same(types: TypeSet) -> TypeMap {
    TypeMap { platforms: crate::Platforms::ALL, dst: types, src: types }
}

/// Destination and sources from one set, on some platforms.
pub const fn same_on(platforms: crate::Platforms, types: TypeSet) -> TypeMap {
    TypeMap { platforms, dst: types, src: types }
}

/// Destination and sources from different sets, everywhere.
pub const fn map(dst: TypeSet, src: TypeSet) -> TypeMap {
    TypeMap { platforms: crate::Platforms::ALL, dst, src }
}

/// Saturation only.
pub const SAT_ONLY: ModifierRules =
    ModifierRules { saturation: Saturation::Yes, source: SourceModifiers::No };
/// Saturation of floating-point destinations, arithmetic modifiers.
pub const FLOAT_SAT_MODS: ModifierRules =
    ModifierRules { saturation: Saturation::FloatOnly, source: SourceModifiers::Arithmetic };
/// Arithmetic modifiers without saturation.
pub const SRC_MODS: ModifierRules =
    ModifierRules { saturation: Saturation::No, source: SourceModifiers::Arithmetic };
/// Logic modifiers.
pub const LOGIC_MODS: ModifierRules =
    ModifierRules { saturation: Saturation::No, source: SourceModifiers::Logic };

const DST: Slot = dst(Classes::GI, TypeSet::ANY);

/// `exec pred dst src0`.
pub const UNARY: &[Slot] = &[EXEC, PRED, DST, src(SlotName::Src0, Classes::GII, TypeSet::ANY)];
/// `exec pred dst src0 src1`.
pub const BINARY: &[Slot] = &[
    EXEC,
    PRED,
    DST,
    src(SlotName::Src0, Classes::GII, TypeSet::ANY),
    src(SlotName::Src1, Classes::GII, TypeSet::ANY),
];
/// `exec pred dst src0 src1 src2`.
pub const TERNARY: &[Slot] = &[
    EXEC,
    PRED,
    DST,
    src(SlotName::Src0, Classes::GII, TypeSet::ANY),
    src(SlotName::Src1, Classes::GII, TypeSet::ANY),
    src(SlotName::Src2, Classes::GII, TypeSet::ANY),
];

/// What rows are made from: an instruction without operands or effects.
pub const EMPTY: InstDesc = InstDesc {
    name: "",
    operation: None,
    opcode: 0,
    sub: None,
    family: Family::Misc,
    versions: Versions::ALL,
    slots: &[],
    forms: &[],
    type_maps: &[],
    exec_sizes: ALL_SIZES,
    modifiers: PLAIN,
    platforms: crate::Platforms::ALL,
    effect: Effect::None,
    out_of_bounds: OutOfBounds::Unspecified,
    parameters: &[],
    page: "",
    brief: "",
    semantics: "",
    note: "",
};

/// Rows of channel-wise instructions: `NAME = opcode "mnemonic" Operation SHAPE, field: value, …;` where the
/// operation is one of [`Compute`], the shape is `unary`, `binary` or `ternary`, with `.sat` in the text if `sat` follows.
macro_rules! alu {
    (@tail unary) => { " {exec} {dst} {src0}" };
    (@tail binary) => { " {exec} {dst} {src0} {src1}" };
    (@tail ternary) => { " {exec} {dst} {src0} {src1} {src2}" };
    (@slots unary) => { UNARY };
    (@slots binary) => { BINARY };
    (@slots ternary) => { TERNARY };
    (@sat sat) => { "[.sat]" };
    (@sat plain) => { "" };
    ($(
        $name:ident = $opcode:literal $head:literal $compute:ident $shape:ident $sat:ident from $base:ident,
        $($field:ident : $value:expr),* ;
    )*) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        pub static $name: InstDesc = InstDesc {
            $($field: $value,)*
            ..InstDesc {
                name: stringify!($name),
                operation: Some(Operation::Compute(Compute::$compute)),
                opcode: $opcode,
                slots: alu!(@slots $shape),
                forms: &[form(
                    $head,
                    concat!("{pred} ", $head, alu!(@sat $sat), alu!(@tail $shape)),
                )],
                ..$base
            }
        };
    )* };
}
pub(super) use alu;
