//! Integers that are known before a program runs, element by element: the numbers of channels and what is made of them.
//! Who reads them finds them among the literals, and what they are made by has no code where
//! nobody else wants them; neither has what is made for nobody.

use std::ops::Range;

use envisa_isa::Type;
use envisa_lower::analysis::{
    CellId, Cells, Flow, Liveness, integer, is_small_integer, known_result, known_values,
};
use envisa_lower::{Dst, ExecType, Inst, Op, Pc, Program, RegOffset, Shape, Src};

use crate::affine_vectors::Shapes;
use crate::deferred::{Deferred, block_ends, by_lanes};
use crate::fast_maps::Set;

/// Most vectors that are known at once.
const MOST: usize = 64;

/// What an instruction wrote, whose bytes are known.
#[derive(Clone, Debug)]
struct Span {
    /// The instruction, and behind which its bytes are others'.
    by: Pc,
    to: Pc,
    at: RegOffset,
    bytes: Vec<u8>,
    /// Something finds it in the register file.
    needed: bool,
    /// The instruction that makes it has no code.
    unmade: bool,
    /// What was known behind that, by number, ascending: itself the last.
    open: Vec<usize>,
    /// Instructions that read it, and may do so by literals; and that read it only to be skipped.
    readers: Vec<Pc>,
}

impl Span {
    fn range(&self) -> Range<u32> {
        self.at..self.at + self.bytes.len() as u32
    }
}

/// What is known.
#[derive(Clone, Default, Debug)]
pub(crate) struct Known {
    /// By the instructions that made it.
    spans: Vec<Span>,
    /// Instructions that have no code.
    pub skipped: Set<Pc>,
    /// Those that read what others did not write.
    pub readers: Set<Pc>,
}

fn ranges_overlap(a: &Range<u32>, b: &Range<u32>) -> bool {
    a.start < b.end && b.start < a.end
}

impl Known {
    /// The values before an instruction of elements side by side that were not made.
    pub fn literal(&self, pc: Pc, at: RegOffset, ty: Type, lanes: u32) -> Option<Vec<u32>> {
        let size = ty.size();
        let whole = at..at + lanes * size;
        let on = |s: &&Span| s.by < pc && pc < s.to && ranges_overlap(&s.range(), &whole);
        let before = self.spans.partition_point(|s| s.by < pc);
        let spans = || self.spans[..before].last().into_iter().flat_map(|s| &s.open).map(|s| &self.spans[*s]);
        if !spans().any(|s| s.unmade && on(&s)) {
            return None;
        }
        let of = |r: Range<u32>| {
            let s = spans().filter(on).find(|s| s.at <= r.start && r.end <= s.range().end)?;
            let from = (r.start - s.at) as usize;
            Some(&s.bytes[from..from + size as usize])
        };
        let first = (0..lanes).map(|k| at + k * size);
        first.map(|first| Some(integer(of(first..first + size)?, ty) as u32)).collect()
    }

    /// Finds it.
    pub fn new(
        p: &Program,
        flow: &Flow,
        cells: &Cells,
        live: &Liveness,
        shapes: &Shapes,
        (full, deferred, unmade): (bool, &Deferred, &Set<Pc>),
    ) -> Known {
        let ends = block_ends(p, flow);
        let mut s = Search {
            p,
            flow,
            cells,
            live,
            shapes,
            deferred,
            unmade,
            full,
            open: Vec::new(),
            out: Known::default(),
        };
        for pc in (0..flow.end()).filter(|pc| flow.is_reachable(*pc)) {
            s.dead(pc, ends[pc as usize]);
            s.one(pc);
            if pc + 1 == ends[pc as usize] {
                s.end(pc);
            }
        }
        s.skip();
        s.out
    }
}

/// What the search knows.
struct Search<'a> {
    p: &'a Program,
    flow: &'a Flow,
    cells: &'a Cells,
    live: &'a Liveness,
    shapes: &'a Shapes,
    deferred: &'a Deferred,
    /// Instructions without code, which read nothing.
    unmade: &'a Set<Pc>,
    full: bool,
    /// Spans that are still what they were made.
    open: Vec<usize>,
    out: Known,
}

impl Search<'_> {
    fn certain(&self, pc: Pc, i: &Inst) -> bool {
        i.pred.offset == 0 && (i.no_mask || (self.full && self.flow.all_channels_active(pc)))
    }

    /// The cells that an instruction writes, if they are variables' of their own.
    fn written(&self, pc: Pc) -> Option<Vec<CellId>> {
        let mut out = Vec::new();
        self.cells.accesses(self.p.parts(), pc, &mut |a| {
            if a.write {
                out.push(a.cell);
            }
        });
        let i = &self.p.code()[pc as usize];
        let mut all = !out.is_empty() && out.iter().all(|c| self.shapes.plain(*c));
        i.writes(self.p.parts(), &mut |t| {
            all &= t.range(i.channels.into()).is_some_and(|r| self.p.registers().is_plain_variable(r.start));
        });
        all.then_some(out)
    }

    /// May an instruction go, as far as it is concerned itself?
    fn plain(&self, pc: Pc, i: &Inst) -> bool {
        let source = |s: &Src| matches!(s, Src::None | Src::Reg { .. });
        by_lanes(i.op)
            && matches!(i.dst, Dst::Reg { .. })
            && i.dst2 == 0
            && i.src.iter().all(source)
            && !self.deferred.skips(pc)
            && !self.deferred.reads(pc)
    }

    /// Skips what is made for nobody.
    fn dead(&mut self, pc: Pc, end: Pc) {
        let i = &self.p.code()[pc as usize];
        if !self.plain(pc, i) {
            return;
        }
        let next = if pc + 1 == end { self.flow.successors(self.p.parts(), pc) } else { vec![pc + 1] };
        let wanted = |c: &CellId| next.iter().any(|s| self.live.of_thread(*s, *c));
        if self.written(pc).is_some_and(|w| !w.iter().any(wanted)) {
            self.out.skipped.insert(pc);
        }
    }

    fn bytes(&self, r: Range<u32>) -> Option<&[u8]> {
        let s = self.open.iter().map(|s| &self.out.spans[*s]);
        let s = s.into_iter().find(|s| s.at <= r.start && r.end <= s.range().end)?;
        Some(&s.bytes[(r.start - s.at) as usize..(r.end - s.at) as usize])
    }

    /// The values of a source.
    fn values(&self, s: &Src, n: u32) -> Option<Vec<i64>> {
        known_values(self.p.parts(), s, n, &|_, r| self.bytes(r))
    }

    /// What an instruction makes, if all of that is known: the bytes from its destination's first on.
    fn made(&self, pc: Pc, i: &Inst) -> Option<(RegOffset, Vec<u8>)> {
        self.certain(pc, i).then(|| known_result(self.p.parts(), i, &|_, r| self.bytes(r))).flatten()
    }

    /// Can an instruction have its known sources as literals?
    fn takes(&self, pc: Pc, i: &Inst) -> bool {
        // What is evaluated where it is read is so if it is a compare.
        let where_it_is = !self.deferred.skips(pc) || i.op == Op::Cmp;
        let n = u32::from(i.channels);
        let source = |s: &Src| match *s {
            Src::None | Src::Reg { constant: true, .. } => true,
            Src::Reg { offset, ty, strides, shape, .. } => {
                let whole = self.cells.at(offset).is_none_or(|c| self.shapes.step(c).is_none());
                let known =
                    || shape == Shape::Contiguous && is_small_integer(ty) && self.values(s, n).is_some();
                let other = || {
                    let end = offset + (0..n).map(|k| strides.element(k)).max().unwrap_or(0) * ty.size();
                    let all = offset..end + ty.size();
                    if self.open.iter().all(|s| !ranges_overlap(&self.out.spans[*s].range(), &all)) {
                        return true;
                    }
                    (0..n).map(|k| offset + strides.element(k) * ty.size()).all(|e| {
                        let e = e..e + ty.size();
                        self.open.iter().all(|s| !ranges_overlap(&self.out.spans[*s].range(), &e))
                    })
                };
                whole && (known() || other())
            }
            _ => false,
        };
        let to = match i.dst {
            Dst::Reg { ty, stride: 1, sat: false, .. } => {
                is_small_integer(ty) && ty.size() == 4 && self.written(pc).is_some()
            }
            Dst::Pred { .. } => i.op == Op::Cmp,
            _ => false,
        };
        where_it_is
            && self.deferred.inst(pc).is_none()
            && (by_lanes(i.op) && i.op != Op::Mov || i.op == Op::Cmp)
            && matches!(i.exec, ExecType::I32 | ExecType::U32)
            && i.channels >= 8
            && i.dst2 == 0
            && to
            && i.src.iter().all(source)
    }

    fn one(&mut self, pc: Pc) {
        let p = self.p.parts();
        let i = &self.p.code()[pc as usize];
        let n = u32::from(i.channels);
        // Who reads known bytes, and how.
        let may = self.takes(pc, i);
        let mut read = Vec::new();
        if !self.unmade.contains(&pc) {
            i.reads(p, &mut |t| read.push(t.range(n)));
        }
        if let Some(other) = self.deferred.inst(pc) {
            other.reads(p, &mut |t| read.push(t.range(n)));
        }
        let r = self.p.registers();
        let anywhere = r.addressable();
        let passes = self.plain(pc, i);
        for r in read {
            let by_address = r.is_none();
            let r = r.unwrap_or(anywhere.clone());
            for s in &self.open {
                let s = &mut self.out.spans[*s];
                if ranges_overlap(&s.range(), &r) {
                    if (may && !by_address) || passes {
                        s.readers.push(pc);
                    } else {
                        s.needed = true;
                    }
                }
            }
        }
        if may {
            self.out.readers.insert(pc);
        }
        let made = self.made(pc, i).filter(|_| self.plain(pc, i) && self.written(pc).is_some());
        let certain = self.certain(pc, i);
        let mut written = Vec::new();
        i.writes(p, &mut |t| written.push(t.range(n)));
        let spans = &mut self.out.spans;
        self.open.retain(|s| {
            let s = &mut spans[*s];
            let on = written.iter().all(|w| !ranges_overlap(&s.range(), w.as_ref().unwrap_or(&anywhere)));
            if !on {
                let all = |w: &Option<Range<u32>>| {
                    w.as_ref().is_some_and(|w| w.start <= s.at && s.range().end <= w.end)
                };
                let whole = matches!(i.dst, Dst::Reg { stride: 1, .. });
                s.needed |= !(certain && whole && written.iter().all(all));
                s.to = pc + 1;
            }
            on
        });
        // What is kept in mind has an end.
        if made.is_some() && self.open.len() == MOST {
            let s = &mut spans[self.open.remove(0)];
            (s.needed, s.to) = (true, pc + 1);
        }
        if let Some((at, bytes)) = made {
            let to = Pc::MAX;
            self.open.push(spans.len());
            let (readers, open) = (Vec::new(), self.open.clone());
            spans.push(Span { by: pc, to, at, bytes, needed: false, unmade: false, open, readers });
        }
    }

    /// A block ends with an instruction.
    fn end(&mut self, pc: Pc) {
        let next = self.flow.successors(self.p.parts(), pc);
        for s in std::mem::take(&mut self.open) {
            let s = &mut self.out.spans[s];
            s.to = pc + 1;
            s.needed |= s
                .range()
                .any(|b| self.cells.at(b).is_none_or(|c| next.iter().any(|n| self.live.of_thread(*n, c))));
        }
    }

    /// Skips what all readers have as literals, or are skipped themselves.
    fn skip(&mut self) {
        let may = self.out.readers.clone();
        for s in self.out.spans.iter().rev() {
            if !s.needed && s.readers.iter().all(|r| may.contains(r) || self.out.skipped.contains(r)) {
                self.out.skipped.insert(s.by);
            }
        }
        let out = &mut self.out;
        out.spans.iter_mut().for_each(|s| s.unmade = out.skipped.contains(&s.by));
        out.readers = out.spans.iter().filter(|s| s.unmade).flat_map(|s| s.readers.iter().copied()).collect();
    }
}
