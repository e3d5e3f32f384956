//! Which bytes of the register file an instruction reads and writes, channel by channel.
//!
//! The one description that checks and optimisers go by. It is complete: what is not told of is neither
//! read nor written, with these exceptions, which are the machine's: what a called function does; `%cr0`,
//! which governs what every floating-point operation makes (a write to it is an effect in itself).

use std::ops::Range;

use crate::inst::{Src, Strides};
use crate::registers::RegOffset;

/// Bytes of the register file that an instruction reads or writes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Touched {
    /// Bytes that belong to no channel: scalars, predicates, blocks. Of a predicate that is written, the bits
    /// of other channels stay.
    Whole {
        /// First byte.
        offset: RegOffset,
        /// How many.
        bytes: u32,
    },
    /// An element of each channel of the instruction, touched if the channel is active.
    Lanes {
        /// First byte of channel 0's element.
        offset: RegOffset,
        /// Bytes of an element.
        bytes: u32,
        /// Bytes from channel to channel.
        step: u32,
    },
    /// An element of each channel, found by a region.
    Region {
        /// First byte of channel 0's element.
        offset: RegOffset,
        /// Bytes of an element.
        bytes: u32,
        /// Where the others' are.
        strides: Strides,
        /// Channels whose elements are read if one of them is active: 1, 2, 4 or all, aligned to themselves.
        together: u32,
    },
    /// Elements where address registers point: anywhere in [`crate::Registers::address_homes`]. (The address
    /// registers themselves are told of apart.)
    Indirect {
        /// First address register.
        address: RegOffset,
        /// Added to each address.
        add: i16,
        /// Channels served by one address (log2).
        per_address_log2: u8,
        /// Bytes of an element.
        bytes: u32,
        /// Where the elements of one address are.
        strides: Strides,
        /// Does the region begin at each address, as that of a source does? That of a destination goes on over all channels.
        anew: bool,
    },
}

impl Touched {
    /// Bytes of channel `k`'s element; `None` if it is found through an address register.
    pub fn channel(&self, k: u32) -> Option<Range<RegOffset>> {
        let (start, bytes) = match *self {
            Touched::Whole { offset, bytes } => (offset, bytes),
            Touched::Lanes { offset, bytes, step } => (offset + k * step, bytes),
            Touched::Region { offset, bytes, strides, .. } => (offset + strides.element(k) * bytes, bytes),
            Touched::Indirect { .. } => return None,
        };
        Some(start..start + bytes)
    }

    /// From the first to the last byte that any of this many channels touches; `None` if that can be any
    /// variable's.
    pub fn range(&self, channels: u32) -> Option<Range<RegOffset>> {
        let first = self.channel(0)?;
        let mut end = first.end;
        match *self {
            Touched::Whole { .. } | Touched::Indirect { .. } => {}
            Touched::Lanes { .. } => end = end.max(self.channel(channels.max(1) - 1)?.end),
            Touched::Region { strides, .. } => {
                // Where all are a step apart, the last one is the farthest.
                let from = if strides.step(channels).is_some() { channels.max(1) - 1 } else { 1 };
                for k in from..channels {
                    end = end.max(self.channel(k)?.end);
                }
            }
        }
        Some(first.start..end)
    }
}

/// Is called with each run of registers.
pub type Visit<'a> = &'a mut dyn FnMut(Touched);

pub(crate) fn visit_whole(offset: Option<RegOffset>, bytes: u32, visit: Visit<'_>) {
    if let Some(offset) = offset
        && bytes != 0
    {
        visit(Touched::Whole { offset, bytes });
    }
}

pub(crate) fn lanes(offset: Option<RegOffset>, bytes: u32, step: u32, visit: Visit<'_>) {
    if let Some(offset) = offset {
        visit(Touched::Lanes { offset, bytes, step });
    }
}

/// A source, of which elements are read for groups of `together` channels.
pub(crate) fn source(src: &Src, together: u32, visit: Visit<'_>) {
    match *src {
        Src::None => {}
        Src::Reg { offset, ty, strides, .. } => {
            visit(Touched::Region { offset, bytes: ty.size(), strides, together });
        }
        Src::Indirect { address, bytes, per_address_log2, ty, strides, .. } => {
            addresses(address, per_address_log2, visit);
            let (add, bytes) = (bytes, ty.size());
            visit(Touched::Indirect { address, add, per_address_log2, bytes, strides, anew: true });
        }
        Src::Pred { offset, .. } => visit(Touched::Whole { offset, bytes: 4 }),
    }
}

/// The address registers, one for each `1 << per_address_log2` channels.
pub(crate) fn addresses(address: RegOffset, per_address_log2: u8, visit: Visit<'_>) {
    let strides = match per_address_log2 {
        5.. => Strides::SCALAR,
        width_log2 => Strides { vertical: 1, width_log2, horizontal: 0 },
    };
    visit(Touched::Region { offset: address, bytes: 2, strides, together: 1 });
}

/// The scalar operand of a message.
pub(crate) fn scalar(src: &Src, visit: Visit<'_>) {
    match *src {
        Src::Reg { offset, ty, .. } => visit(Touched::Whole { offset, bytes: ty.size() }),
        ref other => source(other, 1, visit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_by_channel() {
        let lanes = Touched::Lanes { offset: 64, bytes: 2, step: 4 };
        assert_eq!(lanes.channel(3), Some(76..78));
        assert_eq!(lanes.range(4), Some(64..78));
        let strides = Strides { vertical: 16, width_log2: 3, horizontal: 1 };
        let region = Touched::Region { offset: 128, bytes: 4, strides, together: 1 };
        assert_eq!(region.channel(9), Some(196..200));
        assert_eq!(region.range(16), Some(128..224));
        let backwards = Strides { vertical: 0, width_log2: 2, horizontal: 1 };
        let region = Touched::Region { offset: 0, bytes: 4, strides: backwards, together: 1 };
        assert_eq!(region.range(16), Some(0..16));
        assert_eq!(Touched::Whole { offset: 8, bytes: 4 }.range(32), Some(8..12));
    }
}
