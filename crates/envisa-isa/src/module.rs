//! The module model: what text and binary both parse to.

use crate::{InstDesc, Op, Operand, Span, Type, predefined};

/// A compilation unit: kernels, then stack-call functions.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Format version: 4.1 or 4.2 for what is current.
    pub version: (u8, u8),
    /// Kernels and functions, in file order, kernels first in a binary.
    pub objects: Vec<Object>,
}

/// Kernel or stack-call function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[allow(missing_docs)]
pub enum ObjectKind {
    #[default]
    Kernel,
    Function,
}

/// A kernel or a stack-call function with everything it declares.
#[derive(Clone, Debug, Default)]
pub struct Object {
    /// Kernel or function.
    pub kind: ObjectKind,
    /// Its name (string 0 of the pool, kept apart for convenience).
    pub name: String,
    /// Where it is named.
    pub name_span: Span,
    /// Strings in pool order: 0 is the object's name, then [`fixed_strings`] in current files.
    pub strings: Strings,
    /// General variables from [`predefined::FIRST_VAR`].
    pub vars: Vec<GeneralVar>,
    /// Address variables from 0.
    pub addresses: Vec<SimpleVar>,
    /// Predicates from 1.
    pub predicates: Vec<SimpleVar>,
    /// Samplers from 0.
    pub samplers: Vec<SimpleVar>,
    /// Surfaces from [`predefined::FIRST_SURFACE`].
    pub surfaces: Vec<SimpleVar>,
    /// Labels from 0.
    pub labels: Vec<Label>,
    /// Inputs (kernels only).
    pub inputs: Vec<Input>,
    /// Attributes of the object.
    pub attrs: Vec<Attr>,
    /// Attributes of variables; [`AttrRange`] points here.
    pub var_attrs: Vec<Attr>,
    /// Instructions in order; LABEL and SUBROUTINE are among them.
    pub insts: Vec<Inst>,
    /// Operands of all instructions, one after another.
    pub operands: Vec<Operand>,
    /// Places of the operands, parallel to `operands`; may be empty for a module read from a binary.
    pub operand_spans: Vec<Span>,
    /// `(inputSize, returnSize)` bytes of a function in the binary.
    pub function_sizes: (u8, u8),
    /// Native code carried by the binary, as is.
    pub native: Vec<Native>,
}

/// Native code embedded in a binary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Native {
    /// Platform byte of the file.
    pub platform: u8,
    /// The code.
    pub code: Vec<u8>,
}

/// A pool of strings, by index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strings {
    text: String,
    ends: Vec<u32>,
}

impl Strings {
    /// Appends a string; gives its index.
    pub fn push(&mut self, s: &str) -> u32 {
        self.text.push_str(s);
        self.ends.push(self.text.len() as u32);
        self.ends.len() as u32 - 1
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Is the pool empty?
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The string of this index.
    pub fn get(&self, index: u32) -> Option<&str> {
        let i = index as usize;
        let end = *self.ends.get(i)? as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        Some(&self.text[start..end])
    }

    /// All strings in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|i| self.get(i).unwrap_or(""))
    }
}

/// The strings that follow the name in every pool, 28 before 4.2, then 29: predefined variables, surfaces, the bindless
/// sampler.
pub fn fixed_strings(version: (u8, u8)) -> impl Iterator<Item = &'static str> {
    predefined::vars(version)
        .iter()
        .map(|v| v.name)
        .chain(predefined::SURFACES)
        .chain([predefined::SAMPLER_BINDLESS_NAME])
}

/// A range of [`Object::var_attrs`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AttrRange {
    /// First.
    pub start: u32,
    /// How many.
    pub len: u8,
}

/// A general variable.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GeneralVar {
    /// Name: index into the pool.
    pub name: u32,
    /// Element type.
    pub ty: Type,
    /// Alignment.
    pub align: Align,
    /// Number of elements.
    pub elems: u16,
    /// The variable it aliases, 0 for none.
    pub alias: u32,
    /// Byte offset into the aliased variable.
    pub alias_offset: u16,
    /// Its attributes.
    pub attrs: AttrRange,
    /// Where it is declared (the name in the text).
    pub span: Span,
}

impl GeneralVar {
    /// Size in bytes.
    pub const fn bytes(&self) -> u32 {
        self.elems as u32 * self.ty.size()
    }
}

/// Alignment, numbered as in the binary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Align {
    #[default]
    Byte = 0,
    Word = 1,
    Dword = 2,
    Qword = 3,
    Oword = 4,
    Grf = 5,
    Grf2 = 6,
    Hword = 7,
    Word32 = 8,
    Word64 = 9,
}

impl Align {
    /// From the code in the binary.
    pub const fn from_code(code: u8) -> Option<Align> {
        Some(match code {
            0 => Align::Byte,
            1 => Align::Word,
            2 => Align::Dword,
            3 => Align::Qword,
            4 => Align::Oword,
            5 => Align::Grf,
            6 => Align::Grf2,
            7 => Align::Hword,
            8 => Align::Word32,
            9 => Align::Word64,
            _ => return None,
        })
    }

    /// Bytes, for registers of this size.
    pub const fn bytes(self, grf_bytes: u32) -> u32 {
        match self {
            Align::Byte => 1,
            Align::Word => 2,
            Align::Dword => 4,
            Align::Qword => 8,
            Align::Oword => 16,
            Align::Grf => grf_bytes,
            Align::Grf2 => 2 * grf_bytes,
            Align::Hword => 32,
            Align::Word32 => 64,
            Align::Word64 => 128,
        }
    }
}

/// An address variable, predicate, sampler or surface.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SimpleVar {
    /// Name: index into the pool.
    pub name: u32,
    /// Number of elements.
    pub elems: u16,
    /// Its attributes.
    pub attrs: AttrRange,
    /// Where it is declared.
    pub span: Span,
}

/// What a label marks; numbered as in the binary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum LabelUse {
    Block = 0,
    Subroutine = 1,
    /// A function composable by `fccall`.
    Fc = 2,
}

/// A label.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Label {
    /// Name: index into the pool.
    pub name: u32,
    /// Block or subroutine.
    pub kind: LabelUse,
    /// Where it is first mentioned.
    pub span: Span,
}

/// An input of a kernel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Input {
    /// Low bits: class (0 general, 1 sampler, 2 surface); from bit 3: kind of implicit input, 0 for explicit.
    pub kind: u8,
    /// Variable: general from 32, sampler from 0, surface from 6.
    pub id: u32,
    /// Byte offset in the input image.
    pub offset: i16,
    /// Bytes.
    pub size: u16,
    /// Where it is declared.
    pub span: Span,
}

/// An attribute: its name and its value's bytes as the binary holds them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attr {
    /// Name: index into the pool.
    pub name: u32,
    /// Value: nothing for a flag, 1, 2 or 4 bytes little-endian for an integer, the text for a string.
    pub value: Vec<u8>,
    /// Where it stands.
    pub span: Span,
}

impl Attr {
    /// The value as an integer; an empty value reads as 1 (a flag that is set). Over 4 bytes: `None`.
    pub fn int(&self) -> Option<u32> {
        if self.value.is_empty() {
            return Some(1);
        }
        if self.value.len() > 4 {
            return None;
        }
        Some(self.value.iter().rev().fold(0, |n, b| n << 8 | *b as u32))
    }
}

/// An instruction: its row, its operands, its place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Inst {
    /// Row of the table.
    pub op: Op,
    /// Number of operands: one for each slot, more or fewer where the last is `Many`.
    pub len: u16,
    /// First operand in [`Object::operands`].
    pub first: u32,
    /// Where it stands.
    pub span: Span,
}

impl Inst {
    /// The row.
    #[inline]
    pub fn desc(&self) -> &'static InstDesc {
        self.op.desc()
    }
}

impl Object {
    /// Operands of an instruction, one per slot in binary order (the `Many` slot's at the end).
    #[inline]
    pub fn ops(&self, inst: &Inst) -> &[Operand] {
        &self.operands[inst.first as usize..inst.first as usize + inst.len as usize]
    }

    /// Place of operand `i` of an instruction; the instruction's own where it is not known.
    #[inline]
    pub fn op_span(&self, inst: &Inst, i: usize) -> Span {
        match self.operand_spans.get(inst.first as usize + i) {
            Some(s) if *s != Span::NONE => *s,
            _ => inst.span,
        }
    }

    /// Operand of the slot of this name.
    #[inline]
    pub fn slot(&self, inst: &Inst, name: crate::SlotName) -> Option<Operand> {
        let i = inst.desc().slot_index(name)?;
        self.ops(inst).get(i).copied()
    }

    /// A declared general variable (ids from 32).
    #[inline]
    pub fn var(&self, id: u32) -> Option<&GeneralVar> {
        self.vars.get(id.checked_sub(predefined::FIRST_VAR)? as usize)
    }

    /// Element type and byte size of a variable, predefined ones included; `grf_bytes` scales
    /// `%arg`, `%retval` and `%r0`.
    pub fn var_shape(&self, id: u32, grf_bytes: u32) -> Option<(Type, u32)> {
        if id < predefined::FIRST_VAR {
            let p = predefined::VARS.get(id as usize)?;
            let bytes = p.elems as u32 * p.ty.size();
            let scale = match id {
                predefined::var::ARG | predefined::var::RETVAL | predefined::var::R0 => grf_bytes / 32,
                _ => 1,
            };
            return Some((p.ty, bytes * scale));
        }
        let v = self.var(id)?;
        Some((v.ty, v.bytes()))
    }

    /// Root of a chain of aliases and the byte offset into it; `None` where the chain does not lead
    /// backwards to a variable that exists.
    #[inline]
    pub fn root(&self, id: u32) -> Option<(u32, u32)> {
        let (mut id, mut offset) = (id, 0u32);
        loop {
            if id < predefined::FIRST_VAR {
                return ((id as usize) < predefined::VARS.len()).then_some((id, offset));
            }
            let v = self.var(id)?;
            if v.alias == 0 {
                return Some((id, offset));
            }
            if v.alias >= id {
                return None;
            }
            offset = offset.checked_add(v.alias_offset as u32)?;
            id = v.alias;
        }
    }

    /// Name of a general variable, predefined ones included.
    pub fn var_name(&self, id: u32) -> &str {
        if let Some(p) = predefined::VARS.get(id as usize) {
            return p.name;
        }
        self.var(id).and_then(|v| self.strings.get(v.name)).unwrap_or("?")
    }

    /// An attribute of the object by name.
    pub fn attr(&self, name: &str) -> Option<&Attr> {
        self.attrs.iter().find(|a| self.strings.get(a.name) == Some(name))
    }
}
