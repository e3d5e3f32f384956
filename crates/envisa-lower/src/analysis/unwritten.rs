//! Registers that are read and that nothing in the program writes.

use crate::Program;
use crate::inst::{Inst, Op};
use crate::messages::Message;
use crate::registers::RegOffset;
use crate::touched::Touched;
use std::ops::Range;

/// A read of registers that no instruction of the program writes, whatever way it goes, and that are no inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unwritten {
    /// The instruction.
    pub pc: u32,
    /// The first byte.
    pub offset: RegOffset,
    /// How many bytes the read spans.
    pub bytes: u32,
}

/// Bytes of registers, and which of them are written.
struct Written<'a> {
    program: &'a Program,
    bytes: Vec<bool>,
}

/// Copies of copies that are followed.
const ROUNDS: usize = 16;

impl<'a> Written<'a> {
    /// By constants, inputs, the machine and instructions, but for copies of what is not written: compilers copy undefined
    /// values around, and never use them.
    fn new(program: &'a Program) -> Written<'a> {
        let none = vec![false; program.registers().bytes as usize];
        let mut known = Written { program, bytes: none };
        known.add(&|_| true);
        for _ in 0..ROUNDS {
            let before = std::mem::take(&mut known.bytes);
            let last = Written { program, bytes: before };
            known.bytes = vec![false; last.bytes.len()];
            known.add(&|inst| inst.op != Op::Mov || last.first_unwritten_operand(inst).is_none());
            if known.bytes == last.bytes {
                break;
            }
        }
        known
    }

    /// Marks what instructions write.
    fn add(&mut self, counts: &dyn Fn(&Inst) -> bool) {
        let registers = self.program.registers();
        let bytes = &mut self.bytes;
        let mut mark = |range: Range<u32>| {
            if let Some(part) = bytes.get_mut(range.start as usize..range.end as usize) {
                part.fill(true);
            }
        };
        mark(0..registers.locals_start);
        for inst in self.program.code().iter().filter(|i| counts(i)) {
            inst.writes(self.program.parts(), &mut |touched| match touched {
                Touched::Indirect { .. } => registers.address_taken().for_each(&mut mark),
                t => (0..u32::from(inst.channels).max(1)).filter_map(|k| t.channel(k)).for_each(&mut mark),
            });
        }
    }

    /// The first operand of an instruction of which nothing is written.
    fn first_unwritten_operand(&self, inst: &Inst) -> Option<Range<u32>> {
        let start = self.program.registers().locals_start;
        let none = |r: Range<u32>| {
            let part = self.bytes.get(r.start as usize..r.end as usize);
            r.start >= start && part.is_some_and(|w| !w.contains(&true))
        };
        let (mut first, mut visited, mut last) = (None, 0, 0);
        inst.reads(self.program.parts(), &mut |t| {
            visited += 1;
            let mut parts = (0..u32::from(inst.channels).max(1)).filter_map(|k| t.channel(k));
            if t.channel(0).is_some() && parts.all(none) {
                last = visited;
                first = first.take().or_else(|| Some((visited, t.range(inst.channels.into())?)));
            }
        });
        let (at, range) = first?;
        // A vector of three takes the place of four: the last element is nobody's, if all others are there.
        let of_three = at == last && last == visited && self.ends_a_vector_of_four(inst);
        (!of_three).then_some(range)
    }

    /// Does a message store several elements a channel, up to the end of a vector of four, and read them behind all else?
    fn ends_a_vector_of_four(&self, inst: &Inst) -> bool {
        let several = |elements: u32, bytes: u32| elements == 4 || (elements == 2 && bytes == 8);
        match self.program.messages().get(inst.aux as usize) {
            Some(Message::Simt(s)) if inst.op == Op::Message => {
                s.write && several(s.elements.count_ones(), s.element as u32)
            }
            _ => false,
        }
    }
}

/// All of them, at most one an instruction. A read counts if none of what it reads is ever written: of an operand that is
/// written in part nothing is said, since channels that are off need no value; and a copy is no use of a value.
pub fn unwritten(program: &Program) -> Vec<Unwritten> {
    let written = Written::new(program);
    let uses = (0u32..).zip(program.code()).filter(|(_, i)| i.op != Op::Mov && !any_value(i));
    uses.filter_map(|(pc, inst)| {
        let range = written.first_unwritten_operand(inst)?;
        Some(Unwritten { pc, offset: range.start, bytes: range.end - range.start })
    })
    .collect()
}

/// Does any value do? Compilers compare a variable with itself to ask which channels are active.
fn any_value(inst: &Inst) -> bool {
    inst.op == Op::Cmp && inst.src[0] == inst.src[1]
}
