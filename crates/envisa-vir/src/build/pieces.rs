//! The register file cut into pieces, each of which is one value at a time.

use std::ops::Range;

use envisa_lower::{Dst, Op, Program, RegOffset, Src, Strides, Touched};

use crate::func::{Elem, Type};

/// Bytes that are one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// First byte.
    pub offset: RegOffset,
    /// The value's type.
    pub ty: Type,
    /// The program writes it.
    pub written: bool,
}

impl Piece {
    /// One past the last byte.
    pub fn end(&self) -> RegOffset {
        self.offset + self.ty.bytes()
    }
}

/// A predicate: 32 bits, of which so many lanes are ever looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Predicate {
    /// Where its dword is.
    pub offset: RegOffset,
    /// Lanes.
    pub lanes: u32,
}

/// The pieces and predicates of a program, each sorted by offset.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    pub all: Vec<Piece>,
    pub predicates: Vec<Predicate>,
}

/// A run of bytes that is accessed: of vectors, the bytes of an element.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Run {
    start: u32,
    /// Vectors before scalars, scalars before blocks.
    rank: u8,
    end: u32,
    element: u32,
}

impl Pieces {
    /// Of the kernel's own code.
    pub fn new(p: &Program, code: Range<usize>) -> Pieces {
        let mut pieces = Pieces::default();
        pieces.find_predicates(p, code.clone());
        let (mut runs, mut written) = (Vec::new(), Vec::new());
        for i in &p.code()[code] {
            let n = u32::from(i.channels);
            let mut note = |t: Touched, write: bool| {
                for (range, element, rank) in touched_runs(p, &t, n) {
                    if pieces.predicate(range.start).is_some() && range.len() == 4 {
                        continue;
                    }
                    if write {
                        written.push((range.start, range.end));
                    }
                    runs.push(Run { start: range.start, end: range.end, element, rank });
                }
            };
            i.reads(p.parts(), &mut |t| note(t, false));
            i.writes(p.parts(), &mut |t| note(t, true));
        }
        runs.sort_unstable_by_key(|r| (r.rank, r.start, u32::MAX - r.end));
        runs.dedup();
        pieces.cut(&runs);
        pieces.all.sort_unstable_by_key(|p| p.offset);
        written.sort_unstable();
        pieces.mark(&written);
        pieces
    }

    fn find_predicates(&mut self, p: &Program, code: Range<usize>) {
        let mut found: Vec<(u32, u32)> = Vec::new();
        for i in &p.code()[code] {
            let lanes = (u32::from(i.first) + u32::from(i.channels)).min(32);
            let mut note = |offset: u32, lanes: u32| found.push((offset, lanes));
            if i.pred.offset != 0 {
                note(i.pred.offset, lanes);
            }
            if let Dst::Pred { offset } = i.dst {
                note(offset, lanes);
            }
            if i.dst2 != 0 && matches!(i.op, Op::Add3o | Op::Invm | Op::Rsqtm) {
                note(i.dst2, lanes);
            }
            for s in &i.src {
                if let Src::Pred { offset, .. } = *s {
                    note(offset, lanes);
                }
            }
        }
        found.sort_unstable();
        for (offset, lanes) in found {
            match self.predicates.last_mut() {
                Some(last) if last.offset == offset => last.lanes = last.lanes.max(lanes),
                _ => self.predicates.push(Predicate { offset, lanes }),
            }
        }
        self.predicates.iter_mut().for_each(|p| p.lanes = p.lanes.next_power_of_two());
    }

    /// Vectors first, scalars where no vector is, then what blocks have besides.
    fn cut(&mut self, runs: &[Run]) {
        let mut from = 0;
        while from < runs.len() {
            let rank = runs[from].rank;
            let to = from + runs[from..].partition_point(|r| r.rank == rank);
            // Sorted: what former ranks took.
            let taken: Vec<(u32, u32)> = self.all.iter().map(|p| (p.offset, p.end())).collect();
            let mut at = 0;
            let mut k = 0;
            for r in &runs[from..to] {
                let mut start = r.start.max(at);
                while start < r.end {
                    while k < taken.len() && taken[k].1 <= start {
                        k += 1;
                    }
                    let mut end = r.end;
                    match taken.get(k) {
                        Some(t) if t.0 <= start => {
                            start = t.1;
                            continue;
                        }
                        Some(t) => end = end.min(t.0),
                        None => {}
                    }
                    self.piece(start..end, r.element);
                    start = end;
                }
                at = at.max(r.end);
            }
            self.all.sort_unstable_by_key(|p| p.offset);
            from = to;
        }
    }

    /// Pieces for a run: powers of two of lanes.
    fn piece(&mut self, run: Range<u32>, element: u32) {
        let mut at = run.start;
        while at < run.end {
            let left = run.end - at;
            let mut bytes = element;
            while bytes > left || !at.is_multiple_of(bytes) {
                bytes /= 2;
            }
            let lanes = (left / bytes).min(32);
            let lanes = 1 << lanes.ilog2();
            let elem = Elem::of_bytes(bytes).unwrap_or(Elem::I8);
            self.all.push(Piece { offset: at, ty: Type::new(elem, lanes), written: false });
            at += lanes * bytes;
        }
    }

    fn mark(&mut self, written: &[(u32, u32)]) {
        let mut k = 0;
        // Of the ranges that begin before a piece's end, how far the farthest goes.
        let mut reach = 0;
        for p in &mut self.all {
            while k < written.len() && written[k].0 < p.end() {
                reach = reach.max(written[k].1);
                k += 1;
            }
            p.written = reach > p.offset;
        }
    }

    /// The predicate at this offset.
    pub fn predicate(&self, offset: RegOffset) -> Option<usize> {
        self.predicates.binary_search_by_key(&offset, |p| p.offset).ok()
    }

    /// The pieces that a run of bytes touches.
    pub fn touching(&self, bytes: Range<RegOffset>) -> Range<usize> {
        let from = self.all.partition_point(|p| p.end() <= bytes.start);
        let to = from + self.all[from..].partition_point(|p| p.offset < bytes.end);
        from..to
    }
}

/// The runs of bytes that an access touches, with the bytes of an element and a rank.
pub fn touched_runs(p: &Program, t: &Touched, channels: u32) -> Vec<(Range<u32>, u32, u8)> {
    let registers = p.registers();
    let within = |r: Range<u32>| r.start..r.end.min(registers.bytes);
    let of = |offset: u32, bytes: u32, step: Option<u32>| {
        let Some(range) = t.range(channels) else { return Vec::new() };
        match step {
            // The elements of a vector, or what they are in; of far apart ones each by itself.
            Some(step) if channels > 1 && step > 0 && step <= 8 && step.is_power_of_two() => {
                let start = offset - offset % step;
                let whole = start..start + step * channels;
                let whole = if whole.end <= registers.bytes { whole } else { range };
                vec![(whole, step.max(bytes), 0)]
            }
            Some(0) => vec![(range, bytes, 1)],
            _ if channels == 1 => vec![(range, bytes, 1)],
            _ => (0..channels).filter_map(|k| t.channel(k)).map(|r| (r, bytes, 1)).collect(),
        }
    };
    match *t {
        Touched::Whole { offset, bytes } if matches!(bytes, 1 | 2 | 4 | 8) => {
            vec![(within(offset..offset + bytes), bytes, 1)]
        }
        Touched::Whole { offset, bytes } => vec![(within(offset..offset + bytes), 8, 2)],
        Touched::Lanes { offset, bytes, step } => of(offset, bytes, Some(step)),
        Touched::Region { offset, bytes, strides, .. } => {
            let step = Strides::step(strides, channels);
            of(offset, bytes, step.map(|s| s * bytes))
        }
        Touched::Indirect { .. } => registers.address_taken().map(|r| (within(r), 8, 2)).collect(),
    }
}
