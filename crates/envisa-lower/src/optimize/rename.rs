//! Values that an instruction overwrites with what it makes of them get registers of their own.
//!
//! Compilers for surfaces write `add V, …` and `shl V, V, 2` before every access: V is an index first, then an address.
//! With a register for each, messages fold the shift ([`super::fold_addresses`]), and engines see of both that their elements are
//! consecutive.

use std::ops::Range;

use envisa_isa::Combine;

use super::{Blocks, CHUNK, chunks_of_range, range_of_access};
use crate::program::*;
use crate::registers::REGISTER_PADDING;
use crate::touched::Touched;

/// How far back a value's definition is looked for.
const FAR: u32 = 32;
/// Bytes of registers that a program may get: of more it has the rest as it was.
const MOST: u32 = 32 << 10;

/// Renames such values.
pub(super) fn rename_values_apart(p: &mut ProgramParts, blocks: &Blocks) {
    let first = p.registers.bytes.saturating_sub(REGISTER_PADDING).next_multiple_of(CHUNK);
    let mut room = first;
    for pc in 0..p.code.len() {
        let Some(v) = Value::overwritten(p, pc) else { continue };
        let Some((from, reads)) = v.life(p, blocks, pc) else { continue };
        if room - first + v.bytes() > MOST {
            break;
        }
        if let Dst::Reg { offset, .. } = &mut p.code[from].dst {
            *offset = room;
        }
        for (pc, source) in reads {
            if let Src::Reg { offset, .. } = &mut p.code[pc].src[source] {
                *offset = room;
            }
        }
        room = (room + v.bytes()).next_multiple_of(CHUNK);
    }
    p.registers.bytes = p.registers.bytes.max((room + REGISTER_PADDING).next_multiple_of(CHUNK));
}

/// A vector that instructions of the same channels write and read.
struct Value {
    at: RegOffset,
    element: u32,
    channels: u8,
    first: u8,
    no_mask: bool,
}

impl Value {
    /// The value that an instruction reads and overwrites, element by element.
    fn overwritten(p: &ProgramParts, pc: usize) -> Option<Value> {
        let i = &p.code[pc];
        let Dst::Reg { offset, ty, .. } = i.dst else { return None };
        // A predefined variable is more than its value: `%cr0` governs what comes next.
        if offset < p.registers.locals_start {
            return None;
        }
        let v = Value {
            at: offset,
            element: ty.size(),
            channels: i.channels,
            first: i.first,
            no_mask: i.no_mask,
        };
        (v.is_written_by(i) && v.read_by(p, i)?.next().is_some()).then_some(v)
    }

    fn bytes(&self) -> u32 {
        u32::from(self.channels) * self.element
    }

    fn range(&self) -> Range<RegOffset> {
        self.at..self.at + self.bytes()
    }

    /// Does it write every element of the channels that run, and nothing else?
    fn is_written_by(&self, i: &Inst) -> bool {
        let Dst::Reg { offset, ty, stride: 1, .. } = i.dst else { return false };
        // A choice writes all of them, whatever it chooses.
        let chooses = i.op == Op::Sel && i.pred.combine == Combine::None;
        tells_all(i)
            && i.op != Op::Unsupported
            && i.dst2 == 0
            && (i.pred == Pred::default() || chooses)
            && (offset, ty.size()) == (self.at, self.element)
            && self.runs_in(i)
    }

    fn runs_in(&self, i: &Inst) -> bool {
        (i.channels, i.first, i.no_mask) == (self.channels, self.first, self.no_mask)
    }

    /// The sources that read it, each channel its element; `None`: it is read in another way, too.
    fn read_by<'a>(&self, p: &ProgramParts, i: &'a Inst) -> Option<impl Iterator<Item = usize> + use<'a>> {
        let (at, element, channels) = (self.at, self.element, u32::from(self.channels));
        let exact = move |s: &Src| match *s {
            Src::Reg { offset, ty, strides, constant: false, .. } => {
                offset == at && ty.size() == element && (0..channels).all(|k| strides.element(k) == k)
            }
            _ => false,
        };
        // Each channel its own element, and no other's?
        let own = |t: &Touched| match *t {
            Touched::Lanes { .. } | Touched::Region { together: 1, .. } => (0..channels)
                .all(|k| t.channel(k).is_some_and(|r| r == (at + k * element..at + (k + 1) * element))),
            _ => false,
        };
        let (mut all, mut plain) = (0, 0);
        i.reads(p, &mut |t| {
            all += usize::from(share_chunk(&range_of_access(&t, i.channels, p), &self.range()));
            plain += usize::from(own(&t));
        });
        let sources = (0..i.src.len()).filter(move |s| exact(&i.src[*s]));
        let told = tells_all(i) && self.runs_in(i);
        let same = all == plain && plain == sources.clone().count();
        (all == 0 || told && same).then_some(sources)
    }

    /// Where the value that this instruction overwrites is made, in the same run of code, and who reads it: the
    /// instructions and their sources. `None` if that is not certain, or somebody else writes some of it.
    fn life(&self, p: &ProgramParts, blocks: &Blocks, pc: usize) -> Option<(usize, Vec<(usize, usize)>)> {
        let mut reads: Vec<(usize, usize)> = self.read_by(p, &p.code[pc])?.map(|s| (pc, s)).collect();
        for from in (pc.saturating_sub(FAR as usize)..pc).rev() {
            if !blocks.same(from as Pc, pc as Pc) {
                return None;
            }
            let i = &p.code[from];
            if self.is_written_by(i) {
                return Some((from, reads));
            }
            let mut written = false;
            i.writes(p, &mut |t| written |= share_chunk(&range_of_access(&t, i.channels, p), &self.range()));
            if written {
                return None;
            }
            reads.extend(self.read_by(p, i)?.map(|s| (from, s)));
        }
        None
    }
}

/// Do an instruction's operands tell what it reads and writes? Those of messages and matrices do not.
fn tells_all(i: &Inst) -> bool {
    !matches!(i.op, Op::Message | Op::Dpas | Op::Dpasw | Op::Bdpas)
}

/// Do two ranges share a chunk? Variables have whole ones.
fn share_chunk(a: &Range<RegOffset>, b: &Range<RegOffset>) -> bool {
    let (a, b) = (chunks_of_range(a.clone()), chunks_of_range(b.clone()));
    a.start < b.end && b.start < a.end
}
