//! A module's types, the types of its values, its constants and its names.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Instruction, Rewriting, text};
use super::debug_names::DebugNames;

mod op {
    pub const NAME: u32 = 5;
    pub const MEMBER_NAME: u32 = 6;
    pub const EXT_INST_IMPORT: u32 = 11;
    pub const TYPE_INT: u32 = 21;
    pub const TYPE_FLOAT: u32 = 22;
    pub const TYPE_VECTOR: u32 = 23;
    pub const TYPE_ARRAY: u32 = 28;
    pub const TYPE_STRUCT: u32 = 30;
    pub const TYPE_POINTER: u32 = 32;
    pub const TYPE_EVENT: u32 = 34;
    pub const CONSTANT: u32 = 43;
    pub const CONSTANT_NULL: u32 = 46;
    pub const DECORATE: u32 = 71;
}

/// The decoration of structures whose members lie side by side.
const CPACKED: u32 = 10;
/// The decoration of parameters, and those of structures that are passed by value, and that are results (3.20, 3.19).
const FUNC_PARAM_ATTR: u32 = 38;
const BY_VALUE: u32 = 2;
const RESULT: u32 = 3;
/// The decoration of variables that are built in.
const BUILT_IN: u32 = 11;
/// The class of variables of functions (3.7).
const FUNCTION: u32 = 7;
/// Bytes of a pointer, as checks are for devices with addresses of 64 bits.
const POINTER_BYTES: u64 = 8;

/// What a type is of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// A number.
    Number,
    /// A vector of so many of these.
    Vector(u32, u32),
    /// An array of so many of these.
    Array(u32, u64),
    /// A structure of these, by their offsets.
    Struct(Vec<(u32, u64)>),
    /// A pointer: its storage class, and what it points to.
    Pointer(u32, u32),
    /// None of those.
    Other,
}

/// A type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Type {
    pub shape: Shape,
    pub bytes: u64,
    pub align: u64,
}

/// What a module declares.
#[derive(Default)]
pub(super) struct Types {
    types: BTreeMap<u32, Type>,
    values: BTreeMap<u32, u32>,
    constants: BTreeMap<u32, i64>,
    names: BTreeMap<u32, String>,
    /// What debug information calls variables of functions.
    told: BTreeMap<u32, String>,
    members: BTreeMap<(u32, u32), String>,
    /// The instructions that make values.
    made: BTreeMap<u32, Instruction>,
    /// OpenCL's set of extended instructions.
    opencl: Option<u32>,
    /// Variables that are built in, by their number.
    built_in: BTreeMap<u32, u32>,
    /// Parameters that point to a copy of what the caller gives, or of what it gets.
    copied: BTreeSet<u32>,
}

impl Types {
    pub fn of(module: &Rewriting) -> Types {
        let mut types = Types::default();
        let packed = module.all.iter().filter(|i| i.op == op::DECORATE);
        let packed: Vec<u32> = packed
            .filter_map(|i| match module.operands(i) {
                [id, CPACKED, ..] => Some(*id),
                _ => None,
            })
            .collect();
        let debug = DebugNames::of(module);
        for i in &module.all {
            match (i.op, module.operands(i)) {
                (op::EXT_INST_IMPORT, [id, name @ ..]) if text(name) == "OpenCL.std" => {
                    types.opencl = Some(*id);
                }
                (op::NAME, [id, name @ ..]) => {
                    types.names.insert(*id, text(name));
                }
                (op::MEMBER_NAME, [id, member, name @ ..]) => {
                    types.members.insert((*id, *member), text(name));
                }
                (op::CONSTANT, [ty, id, low, high @ ..]) => {
                    types.values.insert(*id, *ty);
                    if let Some(value) = types.number(*ty, *low, high.first().copied()) {
                        types.constants.insert(*id, value);
                    }
                }
                (op::CONSTANT_NULL, [ty, id]) => {
                    types.values.insert(*id, *ty);
                    types.constants.insert(*id, 0);
                }
                // Checks make numbers of them.
                (op::TYPE_EVENT, [id]) => {
                    types.types.insert(*id, Type { shape: Shape::Number, bytes: 8, align: 8 });
                }
                (op, [id, rest @ ..]) if (op::TYPE_INT..=op::TYPE_POINTER).contains(&op) => {
                    let ty = types.declared(op, rest, packed.contains(id));
                    types.types.insert(*id, ty);
                }
                (op::DECORATE, [id, FUNC_PARAM_ATTR, BY_VALUE | RESULT]) => {
                    types.copied.insert(*id);
                }
                (op::DECORATE, [id, BUILT_IN, which]) => {
                    types.built_in.insert(*id, *which);
                }
                (_, [ty, id, ..]) if types.types.contains_key(ty) => {
                    types.values.insert(*id, *ty);
                    types.made.insert(*id, *i);
                }
                _ => {}
            }
        }
        types.name_members(&debug);
        types.told = debug.variables;
        types
    }

    /// A whole number's value; `None` of others.
    fn number(&self, ty: u32, low: u32, high: Option<u32>) -> Option<i64> {
        match self.types.get(&ty)? {
            Type { shape: Shape::Number, bytes: 8, .. } => {
                Some((u64::from(high?) << 32 | u64::from(low)) as i64)
            }
            Type { shape: Shape::Number, bytes: 4, .. } => Some(i64::from(low as i32)),
            Type { shape: Shape::Number, bytes: 2, .. } => Some(i64::from(low as i16)),
            Type { shape: Shape::Number, bytes: 1, .. } => Some(i64::from(low as i8)),
            _ => None,
        }
    }

    fn declared(&self, op: u32, operands: &[u32], packed: bool) -> Type {
        let other = Type { shape: Shape::Other, bytes: 0, align: 1 };
        let (element, count) =
            (operands.first().copied().unwrap_or(0), operands.get(1).copied().unwrap_or(0));
        match op {
            op::TYPE_INT | op::TYPE_FLOAT => {
                let bytes = u64::from(element).div_ceil(8);
                Type { shape: Shape::Number, bytes, align: bytes.max(1) }
            }
            op::TYPE_VECTOR => {
                let Some(of) = self.types.get(&element) else { return other };
                // Vectors of three take the place of four (OpenCL C, 6.1.5).
                let all = if count == 3 { 4 } else { u64::from(count) };
                let bytes = of.bytes.saturating_mul(all);
                Type { shape: Shape::Vector(element, count), bytes, align: bytes.max(1) }
            }
            op::TYPE_ARRAY => {
                let (Some(of), Some(count)) = (self.types.get(&element), self.constants.get(&count)) else {
                    return other;
                };
                let count = (*count).max(0) as u64;
                let bytes = of.bytes.saturating_mul(count);
                Type { shape: Shape::Array(element, count), bytes, align: of.align }
            }
            op::TYPE_STRUCT => self.structure(operands, packed).unwrap_or(other),
            op::TYPE_POINTER => {
                Type { shape: Shape::Pointer(element, count), bytes: POINTER_BYTES, align: POINTER_BYTES }
            }
            _ => other,
        }
    }

    fn structure(&self, members: &[u32], packed: bool) -> Option<Type> {
        let (mut at, mut align, mut all) = (0u64, 1, Vec::new());
        for member in members {
            let ty = self.types.get(member).filter(|t| t.shape != Shape::Other)?;
            if !packed {
                at = at.checked_next_multiple_of(ty.align)?;
                align = align.max(ty.align);
            }
            all.push((*member, at));
            at = at.checked_add(ty.bytes)?;
        }
        Some(Type { shape: Shape::Struct(all), bytes: at.checked_next_multiple_of(align)?, align })
    }

    /// A type.
    pub fn get(&self, id: u32) -> Option<&Type> {
        self.types.get(&id)
    }

    /// The type of a value.
    pub fn type_of(&self, id: u32) -> Option<u32> {
        self.values.get(&id).copied()
    }

    /// Is it OpenCL's set of extended instructions?
    pub fn is_opencl(&self, set: u32) -> bool {
        self.opencl == Some(set)
    }

    /// OpenCL's set of extended instructions.
    pub fn opencl(&self) -> Option<u32> {
        self.opencl
    }

    /// How many elements a vector has.
    pub fn elements(&self, vector: u32) -> Option<u64> {
        match self.get(vector)?.shape {
            Shape::Vector(_, elements) => Some(u64::from(elements)),
            _ => None,
        }
    }

    /// The storage class of a pointer, and what it points to.
    pub fn pointer(&self, id: u32) -> Option<(u32, u32)> {
        match self.get(self.type_of(id)?)?.shape {
            Shape::Pointer(class, pointee) => Some((class, pointee)),
            _ => None,
        }
    }

    /// A whole number that is known.
    pub fn constant(&self, id: u32) -> Option<i64> {
        self.constants.get(&id).copied()
    }

    /// Which built-in variable it is (SPIR-V specification, 3.21).
    pub fn built_in(&self, id: u32) -> Option<u32> {
        self.built_in.get(&id).copied()
    }

    /// Is it a parameter that points to a copy of what the caller gives, or of what it gets?
    pub fn is_copied(&self, id: u32) -> bool {
        self.copied.contains(&id)
    }

    /// The instruction that makes a value.
    pub fn definition(&self, id: u32) -> Option<&Instruction> {
        self.made.get(&id)
    }

    /// What a variable is called in its source: those of a kernel in local memory begin with its name.
    pub fn name(&self, id: u32) -> Option<&str> {
        if let Some(name) = self.told.get(&id) {
            return Some(name);
        }
        let name = self.names.get(&id).filter(|n| !n.is_empty())?;
        let of_function = self.pointer(id).is_some_and(|(class, _)| class == FUNCTION);
        Some(name.rsplit_once('.').map_or(name.as_str(), |(before, after)| {
            // Copies of parameters are `p.addr`; others have numbers behind their names.
            if of_function && after == "addr" || after.bytes().all(|b| b.is_ascii_digit()) {
                before
            } else {
                after
            }
        }))
    }

    /// Names of members that the module itself does not have, by where they begin.
    fn name_members(&mut self, debug: &DebugNames) {
        for (id, ty) in &self.types {
            let (Shape::Struct(all), Some(name)) = (&ty.shape, self.names.get(id)) else { continue };
            for (at, name) in debug.members(name) {
                let bit = self.constants.get(at).and_then(|bit| u64::try_from(*bit).ok());
                let number = all.iter().position(|(_, offset)| Some(8 * offset) == bit);
                if let Some(number) = number.and_then(|n| u32::try_from(n).ok()) {
                    self.members.entry((*id, number)).or_insert_with(|| name.clone());
                }
            }
        }
    }

    /// Is it known what a structure's member is called?
    pub fn has_member_name(&self, of: u32, member: usize) -> bool {
        u32::try_from(member).is_ok_and(|member| self.members.contains_key(&(of, member)))
    }

    /// What a structure's member is called, or its number.
    pub fn member(&self, of: u32, member: u32) -> String {
        self.members.get(&(of, member)).cloned().unwrap_or_else(|| member.to_string())
    }
}
