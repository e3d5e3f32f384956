//! How a pointer was computed: its base, its indices and its casts.

use std::collections::BTreeSet;

use super::super::Rewriting;
use super::types::{Shape, Types};
use super::variables::Variables;

mod op {
    pub const VARIABLE: u32 = 59;
    pub const LOAD: u32 = 61;
    pub const ACCESS_CHAIN: u32 = 65;
    pub const IN_BOUNDS_ACCESS_CHAIN: u32 = 66;
    pub const PTR_ACCESS_CHAIN: u32 = 67;
    pub const IN_BOUNDS_PTR_ACCESS_CHAIN: u32 = 70;
    pub const CONVERT_U_TO_PTR: u32 = 120;
    pub const PTR_CAST_TO_GENERIC: u32 = 121;
    pub const GENERIC_CAST_TO_PTR: u32 = 122;
    pub const BITCAST: u32 = 124;
    pub const SELECT: u32 = 169;
    pub const PHI: u32 = 245;
}

/// Most instructions that are followed.
const LONGEST: usize = 64;

/// A part of how a pointer was computed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// An index of an array of so many elements.
    Index {
        index: u32,
        elements: u64,
        /// It is of an array in an array, whose own indices are zero.
        flat: bool,
        /// What it is of: `tile[][]`.
        text: String,
    },
    /// So many bytes, or so many for each of an index, were added.
    Offset { index: Option<u32>, bytes: u64 },
}

/// How a pointer was computed.
#[derive(Debug)]
pub(super) struct Path {
    /// What it begins at.
    pub root: u32,
    pub steps: Vec<Step>,
    /// Bytes of the variable that it begins at.
    pub object: Option<u64>,
    /// Indices of arrays alone do not tell whether it is in that variable.
    pub computed: bool,
    /// What was cast to it is a multiple of so many bytes, as its type says.
    pub cast_from: u64,
    /// What it is of.
    pub text: String,
    /// It begins at a pointer that something else counts: into this variable, wherever it comes from.
    pub into: Option<u32>,
    /// It leads on from an array that is a structure's member by more than the array's own indices.
    pub part: Option<Part>,
}

/// A structure's member that is an array: the steps behind it, and its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub from: usize,
    pub bytes: u64,
}

impl Path {
    /// Of a pointer; `None` where nothing tells.
    pub fn of(module: &Rewriting, types: &Types, variables: &Variables, pointer: u32) -> Option<Path> {
        let (mut made, mut root, mut followed, mut holder) = (Vec::new(), pointer, 0, pointer);
        loop {
            if let Some(value) = variables.value(root) {
                holder =
                    types.definition(root).and_then(|i| module.operands(i).get(2).copied()).unwrap_or(root);
                root = value;
            } else if let Some(i) = types.definition(root).filter(|i| is_step(i.op)) {
                let operands = module.operands(i);
                made.push((i.op, operands));
                root = *operands.get(2)?;
            } else {
                break;
            }
            followed += 1;
            if followed > LONGEST {
                return None;
            }
        }
        let (_, pointee) = types.pointer(root)?;
        let origin = types.definition(root).map(|i| i.op);
        let chosen = matches!(origin, Some(op::SELECT | op::PHI));
        let text = name_of_pointer(module, types, if chosen { holder } else { root });
        let object = types.get(pointee).map(|t| t.bytes).filter(|n| *n > 0 && origin == Some(op::VARIABLE));
        let mut walk = Walk {
            types,
            path: Path {
                root,
                steps: Vec::new(),
                object,
                computed: false,
                cast_from: if origin == Some(op::CONVERT_U_TO_PTR) { 1 } else { u64::MAX },
                text,
                into: None,
                part: None,
            },
            member: None,
            outer: 0,
            zero: true,
            cast: false,
        };
        for (op, operands) in made.into_iter().rev() {
            walk.step(op, operands)?;
        }
        let mut path = walk.path;
        if object.is_none()
            && let Some(variable) = variable_of(module, types, variables, root)
            && types.pointer(variable).map(|v| v.0) == types.pointer(pointer).map(|p| p.0)
        {
            path.into = Some(variable);
            path.object = types.pointer(variable).and_then(|(_, to)| types.get(to)).map(|t| t.bytes);
            path.text = types.name(variable).unwrap_or_default().to_owned();
        }
        Some(path)
    }
}

/// What a pointer is called that is not a step from another: one out of a variable as that is, with its indices.
pub(super) fn name_of_pointer(module: &Rewriting, types: &Types, pointer: u32) -> String {
    let mut root = match types.definition(pointer) {
        Some(i) if i.op == op::LOAD => module.operands(i).get(2).copied().unwrap_or(pointer),
        _ => pointer,
    };
    let mut indices = String::new();
    while let Some(i) = types.definition(root).filter(|i| is_step(i.op) && indices.len() < LONGEST) {
        let operands = module.operands(i);
        let all =
            operands.len().saturating_sub(if matches!(i.op, op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN) {
                3
            } else {
                4
            });
        indices.push_str(&"[]".repeat(all));
        root = operands[2];
    }
    types.name(root).map_or_else(String::new, |name| format!("{name}{indices}"))
}

/// The one variable that a pointer leads into, by whichever way it came about.
fn variable_of(module: &Rewriting, types: &Types, variables: &Variables, pointer: u32) -> Option<u32> {
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut wait = vec![pointer];
    while let Some(id) = wait.pop() {
        if !seen.insert(id) {
            continue;
        }
        if seen.len() > LONGEST {
            return None;
        }
        let i = types.definition(id)?;
        match (i.op, module.operands(i)) {
            (op::VARIABLE, _) => {
                found.insert(id);
            }
            (op::LOAD, [_, id, from, ..]) => match variables.value(*id) {
                Some(value) => wait.push(value),
                None => wait.extend(variables.stored(*from)?),
            },
            (op::SELECT, [_, _, _, a, b]) => wait.extend([*a, *b]),
            (op::PHI, [_, _, pairs @ ..]) => wait.extend(pairs.iter().step_by(2)),
            (op, [_, _, base, ..]) if is_step(op) => wait.push(*base),
            _ => return None,
        }
        if found.len() > 1 {
            return None;
        }
    }
    found.pop_first()
}

pub(super) fn is_step(op: u32) -> bool {
    matches!(
        op,
        op::ACCESS_CHAIN
            | op::IN_BOUNDS_ACCESS_CHAIN
            | op::PTR_ACCESS_CHAIN
            | op::IN_BOUNDS_PTR_ACCESS_CHAIN
            | op::PTR_CAST_TO_GENERIC
            | op::GENERIC_CAST_TO_PTR
            | op::BITCAST
    )
}

struct Walk<'a> {
    types: &'a Types,
    path: Path,
    /// The last member that it led through, if that is an array.
    member: Option<Part>,
    /// Arrays around the one that is indexed next, and whether all indices of them are zero.
    outer: u32,
    zero: bool,
    /// A pointer was cast: types tell no bounds any more.
    cast: bool,
}

impl Walk<'_> {
    fn step(&mut self, op: u32, operands: &[u32]) -> Option<()> {
        let [_, result, base, indices @ ..] = operands else { return None };
        let (_, from) = self.types.pointer(*base)?;
        match op {
            op::BITCAST => {
                let (_, to) = self.types.pointer(*result)?;
                if from != to {
                    let align = self.types.get(from).map_or(1, |t| t.align);
                    self.path.cast_from = self.path.cast_from.min(align);
                    (self.cast, self.path.computed) = (true, true);
                }
                Some(())
            }
            op::PTR_ACCESS_CHAIN | op::IN_BOUNDS_PTR_ACCESS_CHAIN => {
                let (element, indices) = indices.split_first()?;
                if self.types.constant(*element) != Some(0) {
                    let bytes = self.types.get(from)?.bytes;
                    self.add(*element, bytes);
                    (self.path.computed, self.path.part) = (true, self.member);
                    (self.outer, self.zero) = (self.outer + 1, false);
                    self.path.text.push_str("[]");
                }
                self.indices(from, indices)
            }
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN => self.indices(from, indices),
            _ => Some(()),
        }
    }

    fn add(&mut self, index: u32, bytes: u64) {
        self.path.steps.push(match self.types.constant(index) {
            Some(n) => Step::Offset { index: None, bytes: (n as u64).wrapping_mul(bytes) },
            None => Step::Offset { index: Some(index), bytes },
        });
    }

    fn indices(&mut self, of: u32, indices: &[u32]) -> Option<()> {
        let mut current = of;
        for index in indices {
            let ty = self.types.get(current)?;
            let (next, bytes) = match &ty.shape {
                Shape::Array(element, elements) => {
                    self.path.text.push_str("[]");
                    // Arrays of one, at the end of structures, are longer than they say.
                    if !self.cast && *elements > 1 {
                        let (flat, text) = (self.outer > 0 && self.zero, self.path.text.clone());
                        self.path.steps.push(Step::Index { index: *index, elements: *elements, flat, text });
                    }
                    (*element, self.types.get(*element)?.bytes)
                }
                Shape::Vector(element, _) => (*element, self.types.get(*element)?.bytes),
                Shape::Struct(members) => {
                    let member = self.types.constant(*index)?;
                    let (next, at) = members.get(usize::try_from(member).ok()?)?;
                    self.path.text.push_str(&format!(".{}", self.types.member(current, member as u32)));
                    self.path.steps.push(Step::Offset { index: None, bytes: *at });
                    (self.outer, self.zero) = (0, true);
                    let (from, inner) = (self.path.steps.len(), self.types.get(*next)?);
                    let is_array = matches!(inner.shape, Shape::Array(_, elements) if elements > 1);
                    self.member = (is_array && !self.cast).then_some(Part { from, bytes: inner.bytes });
                    self.path.part = None;
                    current = *next;
                    continue;
                }
                _ => return None,
            };
            self.add(*index, bytes);
            (self.outer, self.zero) = (self.outer + 1, self.zero && self.types.constant(*index) == Some(0));
            current = next;
        }
        Some(())
    }
}
