//! Which bytes of the register file an instruction reads and writes, channel by channel.
//!
//! The one description that checks and optimisers go by. It is complete: what is not told of is neither
//! read nor written, with these exceptions, which are the machine's: what a called function does; `%cr0`,
//! which governs what every floating-point operation makes (a write to it is an effect in itself).

use std::ops::Range;

use envisa_isa::systolic;

use crate::program::{Dst, Inst, Op, ProgramParts, RegOffset, Src, Strides};

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
        /// Channels whose elements are read if one of them is active: 1, 2 or 4, aligned to themselves.
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
            Touched::Region { .. } => {
                for k in 1..channels {
                    end = end.max(self.channel(k)?.end);
                }
            }
        }
        Some(first.start..end)
    }
}

/// What is told of each run of registers.
pub type Tell<'a> = &'a mut dyn FnMut(Touched);

pub(crate) fn whole(offset: Option<RegOffset>, bytes: u32, tell: Tell<'_>) {
    if let Some(offset) = offset
        && bytes != 0
    {
        tell(Touched::Whole { offset, bytes });
    }
}

pub(crate) fn lanes(offset: Option<RegOffset>, bytes: u32, step: u32, tell: Tell<'_>) {
    if let Some(offset) = offset {
        tell(Touched::Lanes { offset, bytes, step });
    }
}

/// A source, of which elements are read for groups of `together` channels.
fn source(src: &Src, together: u32, tell: Tell<'_>) {
    match *src {
        Src::None => {}
        Src::Reg { offset, ty, strides, .. } => {
            tell(Touched::Region { offset, bytes: ty.size(), strides, together });
        }
        Src::Indirect { address, bytes, per_address_log2, ty, strides, .. } => {
            addresses(address, per_address_log2, tell);
            let (add, bytes) = (bytes, ty.size());
            tell(Touched::Indirect { address, add, per_address_log2, bytes, strides });
        }
        Src::Pred { offset, .. } => tell(Touched::Whole { offset, bytes: 4 }),
    }
}

/// The address registers, one for each `1 << per_address_log2` channels.
fn addresses(address: RegOffset, per_address_log2: u8, tell: Tell<'_>) {
    let strides = match per_address_log2 {
        5.. => Strides::SCALAR,
        width_log2 => Strides { vertical: 1, width_log2, horizontal: 0 },
    };
    tell(Touched::Region { offset: address, bytes: 2, strides, together: 1 });
}

/// The scalar operand of a message.
pub(crate) fn scalar(src: &Src, tell: Tell<'_>) {
    match *src {
        Src::Reg { offset, ty, .. } => tell(Touched::Whole { offset, bytes: ty.size() }),
        ref other => source(other, 1, tell),
    }
}

/// The matrices of DPAS, from its packed fields (see [`Op::Dpas`]).
struct Matrices {
    channels: u32,
    /// Dwords of weights that a channel has.
    columns: u32,
    /// Bytes of all activations.
    activations: u32,
    repeats: u32,
}

impl Matrices {
    /// Of DPASW, the activations of one of the two threads, at most.
    fn of(i: &Inst) -> Matrices {
        let channels = i.channels as u32;
        match systolic::Matrices::of(i.aux) {
            None => Matrices { channels, columns: 0, activations: 0, repeats: 0 },
            Some(m) => Matrices {
                channels,
                columns: m.weight_dwords(),
                activations: m.activation_bytes(i.op == Op::Dpasw),
                repeats: m.repeats,
            },
        }
    }

    /// The accumulator or the result: a row of all channels for each repeat.
    fn rows(&self, offset: RegOffset, bytes: u32, tell: Tell<'_>) {
        for r in 0..self.repeats {
            tell(Touched::Lanes { offset: offset + r * self.channels * bytes, bytes, step: bytes });
        }
    }
}

impl Inst {
    /// Bytes it reads; constants too.
    pub fn reads(&self, p: &ProgramParts, tell: Tell<'_>) {
        if self.pred.offset != 0 {
            tell(Touched::Whole { offset: self.pred.offset, bytes: 4 });
        }
        match self.dst {
            Dst::Indirect { address, per_address_log2, .. } => addresses(address, per_address_log2, tell),
            Dst::None | Dst::Reg { .. } | Dst::Pred { .. } => {}
        }
        match (self.op, &self.src) {
            (Op::Message, _) => {
                if let Some(m) = p.messages.get(self.aux as usize) {
                    m.reads(&p.registers, tell);
                }
            }
            (Op::Dpas | Op::Dpasw, [acc, weights, activations, _]) => {
                let m = Matrices::of(self);
                if let Src::Reg { offset, ty, .. } = *acc {
                    m.rows(offset, ty.size(), tell);
                }
                if let Src::Reg { offset, .. } = *weights {
                    for j in 0..m.columns {
                        tell(Touched::Lanes { offset: offset + j * m.channels * 4, bytes: 4, step: 4 });
                    }
                }
                if let Src::Reg { offset, .. } = *activations {
                    whole(Some(offset), m.activations, tell);
                }
            }
            // `u` and `v` alternate by eight channels; of the plane's four coefficients the third is not read.
            (Op::Pln, [Src::Reg { offset: plane, .. }, Src::Reg { offset: u, .. }, ..]) => {
                tell(Touched::Whole { offset: *plane, bytes: 8 });
                tell(Touched::Whole { offset: plane + 12, bytes: 4 });
                let strides = Strides { vertical: 16, width_log2: 3, horizontal: 1 };
                for offset in [*u, u + 32] {
                    tell(Touched::Region { offset, bytes: 4, strides, together: 1 });
                }
            }
            (Op::Line, [Src::Reg { offset, .. }, x, ..]) => {
                tell(Touched::Whole { offset: *offset, bytes: 4 });
                tell(Touched::Whole { offset: offset + 12, bytes: 4 });
                source(x, 1, tell);
            }
            (op, src) => {
                let together = match op {
                    Op::Dp2 | Op::Dp3 | Op::Dp4 | Op::Dph => 4,
                    Op::Sad2 | Op::Sad2add => 2,
                    _ => 1,
                };
                src.iter().for_each(|s| source(s, together, tell));
            }
        }
    }

    /// Bytes it writes. Every byte told of is written, those of an active channel's element as those of the
    /// whole instruction; exceptions are predicates (see [`Touched::Whole`]) and messages (see
    /// [`crate::Message::writes`]).
    pub fn writes(&self, p: &ProgramParts, tell: Tell<'_>) {
        match self.dst {
            Dst::None => {}
            Dst::Reg { offset, ty, .. } if matches!(self.op, Op::Dpas | Op::Dpasw) => {
                Matrices::of(self).rows(offset, ty.size(), tell);
            }
            Dst::Reg { offset, ty, stride, .. } => {
                let bytes = ty.size();
                tell(Touched::Lanes { offset, bytes, step: stride as u32 * bytes });
            }
            Dst::Indirect { address, bytes, per_address_log2, ty, stride, .. } => {
                let strides = Strides { vertical: stride, width_log2: 0, horizontal: 0 };
                let (add, bytes) = (bytes, ty.size());
                tell(Touched::Indirect { address, add, per_address_log2, bytes, strides });
            }
            Dst::Pred { offset } => tell(Touched::Whole { offset, bytes: 4 }),
        }
        if self.dst2 != 0 {
            match self.op {
                Op::Add3o | Op::Invm | Op::Rsqtm => tell(Touched::Whole { offset: self.dst2, bytes: 4 }),
                _ => tell(Touched::Lanes { offset: self.dst2, bytes: 4, step: 4 }),
            }
        }
        if self.op == Op::Message
            && let Some(m) = p.messages.get(self.aux as usize)
        {
            m.writes(tell);
        }
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
