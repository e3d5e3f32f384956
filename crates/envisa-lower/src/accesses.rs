//! What each lowered instruction touches: see [`Touched`].

use envisa_isa::systolic;

use crate::program::{Dst, Inst, Op, ProgramParts, RegOffset, Src, Strides};
use crate::touched::{Touched, Visit, addresses, source, visit_whole};

/// The matrices of DPAS, from its packed fields (see [`Op::Dpas`]).
struct Matrices {
    channels: u32,
    /// Dwords of weights that a channel has.
    columns: u32,
    /// Bytes of all activations.
    activations: u32,
    repeats: u32,
    /// Bytes of all scales.
    scales: u32,
}

impl Matrices {
    /// Of DPASW, the activations of one of the two threads, at most.
    fn of(i: &Inst) -> Matrices {
        let channels = i.channels as u32;
        match systolic::Matrices::of(i.aux) {
            None => Matrices { channels, columns: 0, activations: 0, repeats: 0, scales: 0 },
            Some(m) => Matrices {
                channels,
                columns: m.weight_dwords(),
                activations: m.activation_bytes(i.op == Op::Dpasw),
                repeats: m.repeats,
                scales: m.blocks() * (channels + m.repeats),
            },
        }
    }

    /// The accumulator or the result: a row of all channels for each repeat.
    fn rows(&self, offset: RegOffset, bytes: u32, visit: Visit<'_>) {
        for r in 0..self.repeats {
            visit(Touched::Lanes { offset: offset + r * self.channels * bytes, bytes, step: bytes });
        }
    }
}

impl Inst {
    /// The bits of a predicate that are of its channels: of one that it writes, no others change.
    pub fn channel_bits(&self) -> u32 {
        (u32::MAX >> (32 - u32::from(self.channels).clamp(1, 32))) << self.first
    }

    /// Of how many vectors, as long as its own, [`Op::Pick`] gives dwords.
    pub fn picked_vectors(&self, p: &ProgramParts) -> u32 {
        let last = p.picks.get(self.aux as usize).and_then(|which| which.iter().max());
        last.map_or(0, |last| u32::from(*last) / u32::from(self.channels.max(1)) + 1)
    }

    /// Bytes it reads; constants too.
    pub fn reads(&self, p: &ProgramParts, visit: Visit<'_>) {
        if self.pred.offset != 0 {
            visit(Touched::Whole { offset: self.pred.offset, bytes: 4 });
        }
        match self.dst {
            Dst::Indirect { address, per_address_log2, .. } => addresses(address, per_address_log2, visit),
            Dst::None | Dst::Reg { .. } | Dst::Pred { .. } => {}
        }
        match (self.op, &self.src) {
            (Op::Message, _) => {
                if let Some(m) = p.messages.get(self.aux as usize) {
                    m.reads(&p.registers, visit);
                }
            }
            (Op::Dpas | Op::Dpasw | Op::Bdpas, [acc, weights, activations, scales]) => {
                let m = Matrices::of(self);
                if let Src::Reg { offset, ty, .. } = *acc {
                    m.rows(offset, ty.size(), visit);
                }
                if let Src::Reg { offset, .. } = *weights {
                    for j in 0..m.columns {
                        visit(Touched::Lanes { offset: offset + j * m.channels * 4, bytes: 4, step: 4 });
                    }
                }
                if let Src::Reg { offset, .. } = *activations {
                    visit_whole(Some(offset), m.activations, visit);
                }
                if let Src::Reg { offset, .. } = *scales {
                    visit_whole(Some(offset), m.scales, visit);
                }
            }
            // `u` and `v` alternate by eight channels; of the plane's four coefficients the third is not read.
            (Op::Pln, [Src::Reg { offset: plane, .. }, Src::Reg { offset: u, .. }, ..]) => {
                visit(Touched::Whole { offset: *plane, bytes: 8 });
                visit(Touched::Whole { offset: plane + 12, bytes: 4 });
                let strides = Strides { vertical: 16, width_log2: 3, horizontal: 1 };
                for offset in [*u, u + 32] {
                    visit(Touched::Region { offset, bytes: 4, strides, together: 1 });
                }
            }
            (Op::Line, [Src::Reg { offset, .. }, x, ..]) => {
                visit(Touched::Whole { offset: *offset, bytes: 4 });
                visit(Touched::Whole { offset: offset + 12, bytes: 4 });
                source(x, 1, visit);
            }
            // Every channel may look at any of a vector.
            (Op::Pick, [Src::Reg { offset, .. }, ..]) => {
                let channels = u32::from(self.channels);
                for k in 0..self.picked_vectors(p) {
                    let (offset, strides) = (offset + 4 * k * channels, Strides::CONTIGUOUS);
                    visit(Touched::Region { offset, bytes: 4, strides, together: channels });
                }
            }
            // Every channel looks into the whole table.
            (Op::ShflIdx4, [Src::Reg { offset, .. }, indices, ..]) => {
                visit(Touched::Whole { offset: *offset, bytes: 64 });
                source(indices, 1, visit);
            }
            (op, src) => {
                let together = match op {
                    Op::Dp2 | Op::Dp3 | Op::Dp4 | Op::Dph => 4,
                    Op::Sad2 | Op::Sad2add => 2,
                    _ => 1,
                };
                src.iter().for_each(|s| source(s, together, visit));
            }
        }
    }

    /// Bytes it writes. Every byte told of is written, those of an active channel's element as those of the
    /// whole instruction; exceptions are predicates (see [`Touched::Whole`]) and messages (see
    /// [`crate::Message::writes`]).
    pub fn writes(&self, p: &ProgramParts, visit: Visit<'_>) {
        match self.dst {
            Dst::None => {}
            Dst::Reg { offset, ty, .. } if matches!(self.op, Op::Dpas | Op::Dpasw | Op::Bdpas) => {
                Matrices::of(self).rows(offset, ty.size(), visit);
            }
            Dst::Reg { offset, ty, stride, .. } => {
                let bytes = ty.size();
                visit(Touched::Lanes { offset, bytes, step: stride as u32 * bytes });
            }
            Dst::Indirect { address, bytes, per_address_log2, ty, stride, .. } => {
                let strides = Strides { vertical: stride, width_log2: 0, horizontal: 0 };
                let (add, bytes) = (bytes, ty.size());
                visit(Touched::Indirect { address, add, per_address_log2, bytes, strides, anew: false });
            }
            Dst::Pred { offset } => visit(Touched::Whole { offset, bytes: 4 }),
        }
        if self.dst2 != 0 {
            match self.op {
                Op::Add3o | Op::Invm | Op::Rsqtm => visit(Touched::Whole { offset: self.dst2, bytes: 4 }),
                _ => visit(Touched::Lanes { offset: self.dst2, bytes: 4, step: 4 }),
            }
        }
        if self.op == Op::Message
            && let Some(m) = p.messages.get(self.aux as usize)
        {
            m.writes(visit);
        }
    }
}
