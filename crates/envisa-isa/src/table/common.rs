//! Slots and rules that many rows share.

use crate::desc::*;
use crate::{Type, TypeSet};

/// Execution size and mask.
pub const EXEC: Slot = Slot {
    name: "exec",
    kind: SlotKind::Exec,
    role: Role::Field,
    types: TypeSet::NONE,
    doc: "execution size and mask",
};

/// Predicate.
pub const PRED: Slot =
    Slot { name: "pred", kind: SlotKind::Pred, role: Role::Read, types: TypeSet::NONE, doc: "predication" };

/// A vector destination of these classes.
pub const fn dst(classes: Classes, types: TypeSet) -> Slot {
    Slot { name: "dst", kind: SlotKind::Vector(classes), role: Role::Write, types, doc: "destination" }
}

/// A vector source.
pub const fn src(name: &'static str, classes: Classes, types: TypeSet) -> Slot {
    Slot { name, kind: SlotKind::Vector(classes), role: Role::Read, types, doc: "" }
}

/// A raw operand that is read.
pub const fn raw_src(name: &'static str, types: TypeSet, doc: &'static str) -> Slot {
    Slot { name, kind: SlotKind::Raw { nullable: false }, role: Role::Read, types, doc }
}

/// A raw operand that is read and may be `%null`.
pub const fn raw_opt(name: &'static str, types: TypeSet, doc: &'static str) -> Slot {
    Slot { name, kind: SlotKind::Raw { nullable: true }, role: Role::Read, types, doc }
}

/// A raw operand that is written.
pub const fn raw_dst(types: TypeSet, doc: &'static str) -> Slot {
    Slot { name: "dst", kind: SlotKind::Raw { nullable: false }, role: Role::Write, types, doc }
}

/// A plain one-byte field.
pub const fn field(name: &'static str, enc: Enc, doc: &'static str) -> Slot {
    Slot { name, kind: SlotKind::Field { width: 1, enc }, role: Role::Field, types: TypeSet::NONE, doc }
}

/// A surface handle.
pub const fn surface(allowed: SurfaceRule) -> Slot {
    Slot {
        name: "surface",
        kind: SlotKind::Surface { allowed },
        role: Role::Read,
        types: TypeSet::NONE,
        doc: "surface",
    }
}

/// A label.
pub const fn label(kind: LabelKind) -> Slot {
    Slot { name: "label", kind: SlotKind::Label(kind), role: Role::Field, types: TypeSet::NONE, doc: "label" }
}

/// A value on every platform.
pub const fn val(code: u32, text: &'static str) -> Value {
    Value { code, text, platforms: crate::Platforms::ALL, doc: "" }
}

/// One form without fixed fields.
pub const fn form(head: &'static str, template: &'static str) -> Form {
    Form { head, template, fixed: &[] }
}

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
