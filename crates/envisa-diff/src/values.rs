//! Different code on both sides: definitions are held against what the other side makes for the same work-item.

use crate::lockstep::format_value;
use crate::stores::Site;
use crate::trace::{Event, Part, Trace, WHOLE, number};
use crate::{Executed, describe_event};
use envisa::lower::{Inst, Src, Touched};
use envisa::machine::group::log::Place;
use envisa_debug::session::Session;
use std::collections::{HashMap, HashSet};

/// Most definitions that are followed back, and that are named on a side.
const MOST_NODES: usize = 1 << 16;
const MOST_NAMED: usize = 3;

/// The definitions behind the stores that have values which only their side makes.
pub fn diverging_definitions(
    slices: &[Slice<'_, '_, '_>; 2],
    sites: &[Option<Site>; 2],
    notes: &mut Vec<String>,
) -> Vec<Executed> {
    let made = [0, 1].map(|side| Made::of(slices[side].s, slices[side].trace));
    let mut origins = Vec::new();
    for (side, slice) in slices.iter().enumerate() {
        let Some(site) = sites[side] else { continue };
        let found = slice.strange(&site, &made[1 - side]);
        if found.is_empty() {
            let name = crate::NAMES[side];
            notes.push(format!("the other side also computes all operands of the store to {name}"));
        }
        let unwritten = slice.unwritten(&site).into_iter().map(|n| (n, true));
        for ((i, channel), unwritten) in
            unwritten.chain(found.into_iter().map(|n| (n, false))).take(MOST_NAMED)
        {
            let e = &slice.trace.events[i];
            let part = slice.trace.writes(e).iter().find(|p| p.channel == channel || channel == WHOLE);
            let first = slice.inst(e).map_or(0, |i| u32::from(i.first));
            let lane = if channel == WHOLE { 0 } else { u32::from(channel) + first };
            let mut did = part.map_or(String::new(), format_value);
            if unwritten {
                did = format!("reads registers that nothing has written; {did}");
            }
            origins.push(describe_event(slice.s, side, Some(e), lane.min(31), did));
        }
    }
    origins
}

/// For whom a value is made: a work-item, or all.
type Who = Option<[u64; 3]>;

fn definition_identity(s: &Session<'_, '_>, e: &Event, inst: &Inst, channel: u8) -> Who {
    if channel == WHOLE || inst.channels == 1 {
        return None;
    }
    let (thread, lane) = (usize::from(e.thread), u32::from(channel) + u32::from(inst.first));
    let own = || [u64::from(e.thread), lane.into(), u64::MAX];
    Some(s.item(thread, lane).map_or_else(own, |(global, _)| global))
}

/// Values by whom they are made for; bits of predicates by the line of the source as well.
struct Made {
    values: HashSet<(Who, u64)>,
    bits: HashSet<(Who, u32, u64)>,
}

/// A value as an integer of 64 bits, by its sign and without.
fn integer_forms(p: &Part) -> [u64; 2] {
    let unused = 64 - 8 * u32::from(p.bytes.clamp(1, 8));
    [p.bits, ((p.bits << unused) as i64 >> unused) as u64]
}

fn line(s: &Session<'_, '_>, pc: u32) -> u32 {
    s.lines.of(pc).map_or(0, |l| l.line)
}

impl Made {
    fn of(s: &Session<'_, '_>, trace: &Trace) -> Made {
        let mut made = Made { values: HashSet::new(), bits: HashSet::new() };
        let (code, constants) = (s.program().code(), &s.program().registers().constants);
        for e in &trace.events {
            let Some(inst) = code.get(e.pc as usize) else { continue };
            for src in &inst.src {
                if let Src::Reg { offset, ty, constant: true, .. } = *src
                    && let Some(bytes) = constants.get(offset as usize..(offset + ty.size()) as usize)
                {
                    let part = Part {
                        place: Place::Register(offset),
                        channel: WHOLE,
                        bytes: ty.size() as u8,
                        bits: number(bytes),
                    };
                    made.values.extend(integer_forms(&part).map(|v| (None, v)));
                }
            }
            for p in trace.writes(e) {
                let who = definition_identity(s, e, inst, p.channel);
                if p.bytes == 0 {
                    made.bits.insert((who, line(s, e.pc), p.bits));
                } else {
                    made.values.extend(integer_forms(p).map(|v| (who, v)));
                }
            }
        }
        made
    }

    fn has(&self, who: Who, p: &Part, line: u32) -> bool {
        if p.bytes == 0 {
            // Of a line that makes none over there nothing can be said.
            let knows = |bit: u64| self.bits.contains(&(who, line, bit));
            return knows(p.bits) || !knows(1 - p.bits);
        }
        let known = |v: u64| self.values.contains(&(who, v)) || self.values.contains(&(None, v));
        p.bits == 0 || integer_forms(p).into_iter().any(known)
    }
}

/// A definition: an event, and the channel of it.
type Node = (usize, u8);

/// A trace with where its registers and its memory were written.
pub struct Slice<'x, 's, 'a> {
    pub s: &'x Session<'s, 'a>,
    pub trace: &'x Trace,
    /// By thread and dword of registers, or by dword of memory: the events that wrote there.
    written: HashMap<(u16, u8, u64), Vec<u32>>,
}

impl<'x, 's, 'a> Slice<'x, 's, 'a> {
    pub fn new(s: &'x Session<'s, 'a>, trace: &'x Trace) -> Self {
        let mut written: HashMap<(u16, u8, u64), Vec<u32>> = HashMap::new();
        for (i, e) in (0u32..).zip(&trace.events) {
            for p in trace.writes(e) {
                let (kind, at) = p.place.kind_and_offset();
                let thread = if kind == 0 { e.thread } else { 0 };
                for dword in at / 4..=(at + u64::from(p.bytes.max(1)) - 1) / 4 {
                    let all = written.entry((thread, kind, dword)).or_default();
                    if all.last() != Some(&i) {
                        all.push(i);
                    }
                }
            }
        }
        Slice { s, trace, written }
    }

    pub fn inst(&self, e: &Event) -> Option<&'x Inst> {
        self.s.program().code().get(e.pc as usize)
    }

    /// The definitions of so many bytes before an event; of a predicate (`bit`) that of a channel.
    pub fn definitions(
        &self,
        thread: u16,
        place: Place,
        bytes: u64,
        bit: Option<u8>,
        before: usize,
    ) -> Vec<Node> {
        let (kind, at) = place.kind_and_offset();
        let thread = if kind == 0 { thread } else { 0 };
        let mut found = Vec::new();
        for dword in at / 4..=(at + bytes.max(1) - 1) / 4 {
            let Some(all) = self.written.get(&(thread, kind, dword)) else { continue };
            let end = all.partition_point(|i| (*i as usize) < before);
            let node = all[..end].iter().rev().find_map(|i| {
                let e = &self.trace.events[*i as usize];
                let first = self.inst(e).map_or(0, |i| i.first);
                let here = |p: &&Part| {
                    let (k, from) = p.place.kind_and_offset();
                    let overlaps = k == kind && from < at + bytes && at < from + u64::from(p.bytes.max(1));
                    let in_dword = from / 4 <= dword && dword <= (from + u64::from(p.bytes.max(1)) - 1) / 4;
                    overlaps && in_dword && bit.is_none_or(|b| p.bytes != 0 || p.channel + first == b)
                };
                self.trace.writes(e).iter().find(here).map(|p| (*i as usize, p.channel))
            });
            found.extend(node.filter(|n| !found.contains(n)));
        }
        found
    }

    /// Definitions behind a store that read registers which nothing has written, and that are not inputs.
    pub fn unwritten(&self, site: &Site) -> Vec<Node> {
        let locals = self.s.program().registers().locals_start;
        let mut found = self.definitions_behind(site);
        found.retain(|node| {
            let e = &self.trace.events[node.0];
            let mut unwritten = false;
            self.reads(*node, &mut |range, bit| {
                let bytes = u64::from(range.end - range.start);
                let own = range.start >= locals && bit.is_none();
                unwritten |= own
                    && self
                        .definitions(e.thread, Place::Register(range.start), bytes, bit, node.0)
                        .is_empty();
            });
            unwritten
        });
        found.sort_unstable();
        found
    }

    /// What a definition was made of. Those whose place is found by an address register are not told.
    pub fn inputs(&self, node: Node) -> Vec<Node> {
        let i = node.0;
        let e = &self.trace.events[i];
        let mut found = Vec::new();
        self.reads(node, &mut |range, bit| {
            let bytes = u64::from(range.end - range.start);
            found.extend(self.definitions(e.thread, Place::Register(range.start), bytes, bit, i));
        });
        found.extend(self.memory(node));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The stores of the group that wrote what a definition loaded.
    fn memory(&self, (i, channel): Node) -> Vec<Node> {
        let loads = self.trace.loads(&self.trace.events[i]).iter();
        let own = loads.filter(|p| channel == WHOLE || p.channel == channel);
        own.flat_map(|p| self.definitions(0, p.place, p.bytes.into(), None, i)).collect()
    }

    /// The registers that a definition read, without constants; of predicates a channel's bit.
    fn reads(&self, (i, channel): Node, visit: &mut dyn FnMut(std::ops::Range<u32>, Option<u8>)) {
        let e = &self.trace.events[i];
        let Some(inst) = self.inst(e) else { return };
        let program = self.s.program();
        let constants = program.registers().constants.len() as u32;
        let mut predicates = vec![inst.pred.offset];
        predicates.extend(inst.src.iter().filter_map(|s| match s {
            Src::Pred { offset, .. } => Some(*offset),
            _ => None,
        }));
        predicates.retain(|p| *p != 0);
        let mut add = |range: std::ops::Range<u32>, bit: Option<u8>| {
            if range.start >= constants {
                visit(range, bit);
            }
        };
        let all = if channel == WHOLE {
            0..u32::from(inst.channels)
        } else {
            channel.into()..u32::from(channel) + 1
        };
        inst.reads(program.parts(), &mut |t| match t {
            Touched::Whole { offset, .. } if predicates.contains(&offset) => {
                all.clone().for_each(|k| add(offset..offset + 4, Some((k + u32::from(inst.first)) as u8)));
            }
            Touched::Whole { offset, bytes } => add(offset..offset + bytes, None),
            other => all.clone().filter_map(|k| other.channel(k)).for_each(|range| add(range, None)),
        });
    }

    /// All definitions behind a store, itself the first.
    pub fn definitions_behind(&self, site: &Site) -> Vec<Node> {
        self.followed(site, &|node| self.inputs(node))
    }

    /// Those of them that the value was made of, without what says where loads and stores go: of a load what memory was
    /// made of, of the store what has its value.
    fn data(&self, site: &Site) -> Vec<Node> {
        let store = self.trace.index_at(site.clock);
        let has = |(i, channel): &Node| {
            let e = &self.trace.events[*i];
            self.trace
                .writes(e)
                .iter()
                .any(|p| p.channel == *channel && integer_forms(p).contains(&site.value))
        };
        self.followed(site, &|node| {
            let e = &self.trace.events[node.0];
            if node.0 == store {
                return self.inputs(node).into_iter().filter(has).collect();
            }
            if self.trace.loads(e).is_empty() {
                return self.inputs(node);
            }
            self.memory(node)
        })
    }

    fn followed(&self, site: &Site, inputs: &dyn Fn(Node) -> Vec<Node>) -> Vec<Node> {
        let store = self.trace.index_at(site.clock);
        let Some(e) = self.trace.events.get(store) else { return Vec::new() };
        let first = self.inst(e).map_or(0, |i| u32::from(i.first));
        let mut left = vec![(store, site.lane.saturating_sub(first) as u8)];
        let mut seen: HashSet<Node> = left.iter().copied().collect();
        let mut all = Vec::new();
        while let Some(node) = left.pop() {
            all.push(node);
            if all.len() >= MOST_NODES {
                break;
            }
            left.extend(inputs(node).into_iter().filter(|n| seen.insert(*n)));
        }
        all
    }

    /// Definitions whose value the other side does not make, though it makes all that they were made of; the earliest
    /// first.
    fn strange(&self, site: &Site, other: &Made) -> Vec<Node> {
        let known = |node: &Node| {
            let e = &self.trace.events[node.0];
            let Some(inst) = self.inst(e) else { return true };
            let mut parts = self.trace.writes(e).iter().filter(|p| p.channel == node.1 || node.1 == WHOLE);
            parts.all(|p| other.has(definition_identity(self.s, e, inst, p.channel), p, line(self.s, e.pc)))
        };
        // A constant says nothing by itself.
        let made_of = |node: &Node| self.inputs(*node);
        let strange =
            |node: &Node| !known(node) && !made_of(node).is_empty() && made_of(node).iter().all(known);
        let mut found: Vec<Node> = self.data(site).into_iter().filter(strange).collect();
        if found.is_empty() {
            found = self.definitions_behind(site).into_iter().filter(strange).collect();
        }
        found.sort_unstable();
        found
    }
}
