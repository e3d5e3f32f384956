//! Nearly the same code on both sides: threads are followed event by event.

use crate::trace::{Event, Part, Trace, WHOLE};
use crate::{Executed, NAMES, describe_event};
use envisa::lower::Op;
use envisa::machine::group::log::Place;
use envisa_debug::session::Session;
use similar::algorithms::{DiffHook, myers};
use std::convert::Infallible;
use std::ops::Range;

/// For each instruction of both sides, the number of the pair that it belongs to.
pub struct Pairs([Vec<Option<u32>>; 2]);

/// Of all instructions, the share that must have a partner with the same text, and how many may have none anyway.
const SHARE: usize = 80;
const FEW: usize = 8;

/// The instructions that stand for each other; `None` where the two are different code.
pub fn matching_instructions(sides: &[Session<'_, '_>; 2]) -> Option<Pairs> {
    if sides[0].stage.kernel().attributes().simd != sides[1].stage.kernel().attributes().simd {
        return None;
    }
    let texts = [0, 1].map(|side| instruction_texts(&sides[side]));
    let mut equal = EqualRuns(Vec::new());
    let Ok(()) = myers::diff(&mut equal, &texts[0][..], 0..texts[0].len(), &texts[1][..], 0..texts[1].len());
    equal.0.push((texts[0].len(), texts[1].len(), 0));
    let mut all = [vec![None; texts[0].len()], vec![None; texts[1].len()]];
    let (mut next, mut same) = (0, 0);
    let mut pair = |old: Range<usize>, new: Range<usize>| {
        for (i, j) in old.zip(new) {
            (all[0][i], all[1][j]) = (Some(next), Some(next));
            next += 1;
        }
    };
    // Between two runs of equal instructions, as many on both sides stand for each other, too.
    let mut ends = (0, 0);
    for (i, j, len) in equal.0 {
        if i - ends.0 == j - ends.1 {
            pair(ends.0..i, ends.1..j);
        }
        pair(i..i + len, j..j + len);
        same += len;
        ends = (i + len, j + len);
    }
    let most = texts[0].len().max(texts[1].len());
    (same + FEW >= most || same * 100 >= most * SHARE).then_some(Pairs(all))
}

/// Collects the runs of equal instructions: where each begins on both sides, and its length.
struct EqualRuns(Vec<(usize, usize, usize)>);

impl DiffHook for EqualRuns {
    type Error = Infallible;

    fn equal(&mut self, old: usize, new: usize, len: usize) -> Result<(), Infallible> {
        self.0.push((old, new, len));
        Ok(())
    }
}

/// Instructions as they are written, each with its function and its part of what one of vISA became.
fn instruction_texts(s: &Session<'_, '_>) -> Vec<String> {
    let code = s.program().code();
    let mut part = 0;
    (0..code.len())
        .map(|pc| {
            let same = pc > 0
                && (code[pc - 1].source, code[pc - 1].function) == (code[pc].source, code[pc].function);
            part = if same { part + 1 } else { 0 };
            let text = s.stage.written(pc as u32).unwrap_or_default();
            let text = text.split("///").next().unwrap_or_default().trim().to_owned();
            format!("{} {part} {text}", code[pc].function)
        })
        .collect()
}

/// The events of a thread, with what has no partner apart.
struct Walk<'t> {
    events: Vec<(usize, u32)>,
    alone: Vec<usize>,
    trace: &'t Trace,
}

impl<'t> Walk<'t> {
    fn new(trace: &'t Trace, pairs: &[Option<u32>], thread: usize) -> Walk<'t> {
        let mut walk = Walk { events: Vec::new(), alone: Vec::new(), trace };
        for (i, e) in trace.events.iter().enumerate().filter(|(_, e)| usize::from(e.thread) == thread) {
            match pairs.get(e.pc as usize).copied().flatten() {
                Some(id) => walk.events.push((i, id)),
                None => walk.alone.push(i),
            }
        }
        walk
    }

    fn event(&self, n: usize) -> Option<(usize, &'t Event)> {
        self.events.get(n).map(|(i, _)| (*i, &self.trace.events[*i]))
    }
}

/// Threads that are followed from one to the next.
const MOST_THREADS: usize = 64;

/// The events that a difference begins with, from a thread on; `None` where what has no partner was executed before it,
/// and may have led to it.
pub fn first_difference(
    sides: &[Session<'_, '_>; 2],
    traces: [&Trace; 2],
    pairs: &Pairs,
    thread: usize,
    notes: &mut Vec<String>,
) -> Option<Vec<Executed>> {
    let (mut thread, mut seen) = (thread, Vec::new());
    loop {
        seen.push(thread);
        let walks = [0, 1].map(|side| Walk::new(traces[side], &pairs.0[side], thread));
        let found = first_parting(&walks);
        let Some((n, how)) = found else {
            notes.push("the compared threads execute the same on both sides".into());
            return unmatched_synchronization(sides, &walks, [usize::MAX; 2]);
        };
        let at = [0, 1].map(|side| walks[side].event(n));
        if let (How::Values(k), [Some((i, a)), Some((j, b))]) = (how, at)
            && let Some(other) = other_writer(traces, [(i, a), (j, b)], k).filter(|t| !seen.contains(t))
            && seen.len() < MOST_THREADS
        {
            thread = other;
            continue;
        }
        let until = at.map(|e| e.map_or(usize::MAX, |e| e.0));
        let mut origins = unmatched_synchronization(sides, &walks, until)?;
        for (side, e) in at.iter().enumerate() {
            let Some((_, e)) = e else { continue };
            let first = sides[side].program().code().get(e.pc as usize).map_or(0, |i| u32::from(i.first));
            let (lane, did) = match how {
                How::Values(k) => {
                    let part = traces[side].writes(e).get(k);
                    let channel = part.map_or(0, |p| if p.channel == WHOLE { 0 } else { p.channel.into() });
                    (channel, part.map_or("writes less".into(), format_value))
                }
                How::Channels(lane) => (lane, format!("runs for the channels {:#x}", e.mask)),
                How::Way => (e.mask.trailing_zeros() % 32, "leads elsewhere".into()),
            };
            origins.push(describe_event(&sides[side], side, Some(e), (lane + first).min(31), did));
        }
        return Some(origins);
    }
}

/// A value in words.
pub fn format_value(p: &Part) -> String {
    match (p.place, p.bytes) {
        (_, 0) => format!("gives {}", p.bits != 0),
        (Place::Register(_), _) => format!("gives {} ({:#x})", p.bits, p.bits),
        _ => format!("stores {} ({:#x})", p.bits, p.bits),
    }
}

/// How two events differ.
#[derive(Clone, Copy)]
enum How {
    /// The part of what they wrote.
    Values(usize),
    /// A channel that only one of them ran for.
    Channels(u32),
    /// What comes next.
    Way,
}

/// The first events of the two walks that differ.
fn first_parting(walks: &[Walk<'_>; 2]) -> Option<(usize, How)> {
    let [a, b] = walks;
    for n in 0..a.events.len().max(b.events.len()) {
        let ids = [a, b].map(|w| w.events.get(n).map(|e| e.1));
        if ids[0] != ids[1] {
            return Some((n.saturating_sub(1), How::Way));
        }
        let (Some((_, x)), Some((_, y))) = (a.event(n), b.event(n)) else { continue };
        if x.mask != y.mask {
            return Some((n, How::Channels((x.mask ^ y.mask).trailing_zeros())));
        }
        let (left, right) = (a.trace.writes(x), b.trace.writes(y));
        if left.len() != right.len() {
            return Some((n, How::Values(left.len().min(right.len()))));
        }
        if let Some(k) = left.iter().zip(right).position(|(p, q)| !same_value(p, q)) {
            return Some((n, How::Values(k)));
        }
    }
    None
}

/// Registers may stand elsewhere.
fn same_value(p: &Part, q: &Part) -> bool {
    let memory = !matches!((p.place, q.place), (Place::Register(_), Place::Register(_)));
    p.bits == q.bits && (!memory || p.place == q.place)
}

/// The other thread that wrote, with another value, what a load read.
fn other_writer(traces: [&Trace; 2], at: [(usize, &Event); 2], part: usize) -> Option<usize> {
    let loads = [0, 1].map(|side| traces[side].loads(at[side].1));
    if loads[0].is_empty() || loads[0].len() != loads[1].len() {
        return None;
    }
    let channel = traces[0].writes(at[0].1).get(part)?.channel;
    for (x, y) in loads[0].iter().zip(loads[1]) {
        if x.place != y.place || x.bits == y.bits || (channel != WHOLE && x.channel != channel) {
            continue;
        }
        let writers = [0, 1].map(|side| last_writer(traces[side], at[side].0, x));
        if let [Some(a), Some(b)] = writers
            && a == b
            && a != at[0].1.thread
        {
            return Some(a.into());
        }
    }
    None
}

/// The thread that wrote a place of memory last before an event.
fn last_writer(trace: &Trace, before: usize, read: &Part) -> Option<u16> {
    let overlaps = |p: &&Part| {
        let ((kind, at), (other, from)) = (p.place.kind_and_offset(), read.place.kind_and_offset());
        kind == other && at < from + u64::from(read.bytes) && from < at + u64::from(p.bytes)
    };
    let mut earlier = trace.events[..before].iter().rev();
    earlier.find(|e| trace.writes(e).iter().any(|p| overlaps(&p))).map(|e| e.thread)
}

/// What only one side executes before the difference, if that is nothing but synchronisation.
fn unmatched_synchronization(
    sides: &[Session<'_, '_>; 2],
    walks: &[Walk<'_>; 2],
    until: [usize; 2],
) -> Option<Vec<Executed>> {
    let mut all = Vec::new();
    for side in [0, 1] {
        let (s, walk) = (&sides[side], &walks[side]);
        let mut pcs = Vec::new();
        for i in walk.alone.iter().filter(|i| **i < until[side]).rev() {
            let e = &walk.trace.events[*i];
            let Some(inst) = s.program().code().get(e.pc as usize) else { continue };
            if inst.op == Op::Nop || pcs.contains(&e.pc) {
                continue;
            }
            if !inst.op.waits() && inst.op != Op::Fence {
                return None;
            }
            pcs.push(e.pc);
            let did = format!("is executed by {} only", NAMES[side]);
            all.push(describe_event(s, side, Some(e), e.mask.trailing_zeros() % 32, did));
        }
    }
    Some(all)
}
