//! Negated predicates are read from those that they negate.
//!
//! Compilers negate a compare of floats by an instruction of its own, as the opposite compare is another one for NaN. Every
//! reader of a predicate may negate it, so the instruction has no reader any more, and goes ([`super::dead_code`]).

use envisa_isa::Combine;

use super::{Blocks, range_of_access};
use crate::program::*;

/// The truth table of a negation.
const NOT: u32 = 0x55;

/// A predicate whose bits are those of another one, negated, in the channels that ran.
struct Negation {
    made: RegOffset,
    of: RegOffset,
    first: u8,
    channels: u8,
    no_mask: bool,
}

/// Does what is described above, block by block.
pub(super) fn read_negated(p: &mut ProgramParts, blocks: &Blocks) {
    let mut known: Vec<Negation> = Vec::new();
    for pc in 0..p.code.len() {
        if pc > 0 && !blocks.same(pc as Pc - 1, pc as Pc) {
            known.clear();
        }
        let mut i = p.code[pc];
        for s in &mut i.src {
            // A move to a variable reads all 32 bits, whatever channels there are.
            if let Src::Pred { offset, invert } = s
                && i.op == Op::PredLogic
                && let Some(n) = known.iter().find(|n| n.made == *offset && n.has_channels_of(&p.code[pc]))
            {
                (*offset, *invert) = (n.of, !*invert);
            }
        }
        if i.pred.combine == Combine::None
            && let Some(n) = known.iter().find(|n| n.made == i.pred.offset && n.has_channels_of(&i))
        {
            (i.pred.offset, i.pred.invert) = (n.of, !i.pred.invert);
        }
        p.code[pc] = i;
        i.writes(p, &mut |t| {
            let r = range_of_access(&t, i.channels, p);
            let meets = |at: RegOffset| at < r.end && r.start < at + 4;
            known.retain(|n| !meets(n.made) && !meets(n.of));
        });
        known.extend(Negation::of(&i));
    }
}

impl Negation {
    fn of(i: &Inst) -> Option<Negation> {
        let Inst { first, channels, no_mask, .. } = *i;
        let plain = i.op == Op::PredLogic && i.aux & 0xff == NOT && i.pred == Pred::default();
        match (i.dst, i.src[0]) {
            (Dst::Pred { offset: made }, Src::Pred { offset: of, invert: false }) if plain && made != of => {
                Some(Negation { made, of, first, channels, no_mask })
            }
            _ => None,
        }
    }

    /// Were all channels that an instruction of the same block may have among those that the negation had? A branch of one
    /// channel reads the first bit, whether or not the first channel is active.
    fn has_channels_of(&self, i: &Inst) -> bool {
        let end = |first: u8, channels: u8| u32::from(first) + u32::from(channels);
        self.first <= i.first
            && end(i.first, i.channels) <= end(self.first, self.channels)
            && (self.no_mask || !i.no_mask && i.channels > 1)
    }
}
