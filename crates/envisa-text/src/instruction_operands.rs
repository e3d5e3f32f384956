//! The operands of the instruction that is being read.

use envisa_isa::{Operand, Span};

use crate::template::MAX_SLOTS;

/// Operands of the instruction being read, by slot.
pub(crate) struct Ops {
    /// Always [`MAX_SLOTS`] long; one list serves all instructions.
    pub list: Vec<(Operand, Span)>,
    pub len: usize,
}

impl Default for Ops {
    fn default() -> Self {
        Ops { list: vec![(Operand::Int(0), Span::NONE); MAX_SLOTS], len: 0 }
    }
}

impl Ops {
    /// Sets a field, or a part of one.
    pub fn set(&mut self, slot: usize, part: Option<&envisa_isa::desc::Part>, value: u32, span: Span) {
        let (operand, at) = &mut self.list[slot];
        *operand = Operand::Int(match (part, *operand) {
            (Some(p), Operand::Int(old)) => p.set(old, value),
            _ => value,
        });
        *at = if *at == Span::NONE { span } else { at.to(span) };
    }

    /// The value of a field.
    pub fn int(&self, slot: usize) -> u32 {
        self.list[slot].0.int().unwrap_or(0)
    }
}
