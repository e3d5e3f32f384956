//! What a group did, event by event: the values that instructions wrote, and where they read memory.

use envisa::lower::{Inst, Touched};
use envisa::machine::group::log::Place;
use envisa_debug::session::Session;
use std::ops::Range;

/// All channels of an instruction at once.
pub const WHOLE: u8 = u8::MAX;

/// A value of up to eight bytes that was written, or a place of memory that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    pub place: Place,
    /// Channel of the instruction, or [`WHOLE`].
    pub channel: u8,
    /// Bytes; 0 for one bit of a predicate.
    pub bytes: u8,
    /// The value.
    pub bits: u64,
}

/// An instruction that was executed.
#[derive(Clone, Debug)]
pub struct Event {
    pub pc: u32,
    pub thread: u16,
    pub mask: u32,
    parts: Range<u32>,
    /// Of the parts, where those that were read begin.
    loads: u32,
}

/// What a group did.
pub struct Trace {
    began: u64,
    pub events: Vec<Event>,
    parts: Vec<Part>,
}

impl Trace {
    /// The event of a clock.
    pub fn event_at(&self, clock: u64) -> Option<&Event> {
        self.events.get(self.index_at(clock))
    }

    /// Its index.
    pub fn index_at(&self, clock: u64) -> usize {
        clock.saturating_sub(self.began) as usize
    }

    /// What an event wrote.
    pub fn writes(&self, e: &Event) -> &[Part] {
        &self.parts[e.parts.start as usize..e.loads as usize]
    }

    /// Memory that it read.
    pub fn loads(&self, e: &Event) -> &[Part] {
        &self.parts[e.loads as usize..e.parts.end as usize]
    }
}

/// Parts of a trace: about a gigabyte.
const MOST: usize = 1 << 25;

/// Little-endian bytes as a number.
pub fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |n, b| n << 8 | u64::from(*b))
}

/// Runs from a group's begin to its end and keeps what it does.
pub fn record_trace(s: &mut Session<'_, '_>, began: u64, until: u64) -> Result<Trace, String> {
    s.restart().map_err(|e| e.to_string())?;
    s.run_to_clock(began);
    let mut t = Trace { began, events: Vec::new(), parts: Vec::new() };
    let code = s.program().code();
    while !s.is_over() && s.paused.clock() < until {
        let (pc, thread) = (s.pc(), s.paused.current());
        s.paused.step();
        let start = t.parts.len() as u32;
        let mut event = Event { pc, thread: thread as u16, mask: 0, parts: start..start, loads: start };
        if let Some(inst) = code.get(pc as usize) {
            event.mask = s.paused.log().last().map_or(0, |e| e.mask());
            // Behind the group's last instruction its threads are those of the next one.
            if s.paused.clock() < until {
                registers(s, inst, thread, event.mask, &mut t.parts);
            }
            memory_parts(s, false, &mut t.parts);
            event.loads = t.parts.len() as u32;
            memory_parts(s, true, &mut t.parts);
        }
        event.parts.end = t.parts.len() as u32;
        t.events.push(event);
        if t.parts.len() > MOST {
            return Err(
                "the group of the first differing store executes too much to be recorded: make the launch smaller".into(),
            );
        }
    }
    // The group is still the one that is looked at.
    s.run_to_clock(until.saturating_sub(1).max(began));
    Ok(t)
}

/// Registers that the last instruction wrote.
fn registers(s: &Session<'_, '_>, inst: &Inst, thread: usize, mask: u32, out: &mut Vec<Part>) {
    let program = s.program();
    let Some(t) = s.paused.threads().get(thread) else { return };
    let channels = (0..u32::from(inst.channels)).filter(|k| mask >> k & 1 != 0);
    let r = program.registers();
    let predicates = predicates_of(inst);
    inst.writes(program.parts(), &mut |touched| match touched {
        Touched::Whole { offset, bytes: 4 } if predicates.contains(&offset) => {
            let bits = number(t.regs.slice(offset, 4));
            out.extend(channels.clone().map(|k| Part {
                place: Place::Register(offset),
                channel: k as u8,
                bytes: 0,
                bits: bits >> (k + u32::from(inst.first)) & 1,
            }));
        }
        Touched::Whole { offset, bytes } => split(t.regs.slice(offset, bytes), offset, WHOLE, out),
        Touched::Indirect { .. } => {
            // Wherever it went: what is not as it was.
            let Some(past) = s.paused.log().entries().next() else { return };
            for record in past.records_latest_first() {
                let Place::Register(at) = record.place else { continue };
                if at != r.address_base {
                    continue;
                }
                for (i, old) in (0u32..).step_by(4).zip(record.old.chunks(4)) {
                    let now = t.regs.slice(at + i, old.len() as u32);
                    if now != old {
                        split(now, at + i, WHOLE, out);
                    }
                }
            }
        }
        lanes => {
            for k in channels.clone() {
                if let Some(range) = lanes.channel(k) {
                    split(t.regs.slice(range.start, range.end - range.start), range.start, k as u8, out);
                }
            }
        }
    });
}

/// Where an instruction's predicates stand that it writes.
fn predicates_of(inst: &Inst) -> Vec<u32> {
    use envisa::lower::{Dst, Op};
    let mut all = Vec::new();
    if let Dst::Pred { offset } = inst.dst {
        all.push(offset);
    }
    if inst.dst2 != 0 && matches!(inst.op, Op::Add3o | Op::Invm | Op::Rsqtm) {
        all.push(inst.dst2);
    }
    all
}

fn split(bytes: &[u8], at: u32, channel: u8, out: &mut Vec<Part>) {
    for (i, piece) in (0u32..).step_by(8).zip(bytes.chunks(8)) {
        out.push(Part {
            place: Place::Register(at + i),
            channel,
            bytes: piece.len() as u8,
            bits: number(piece),
        });
    }
}

/// Memory that the last instruction wrote or read.
fn memory_parts(s: &Session<'_, '_>, read: bool, out: &mut Vec<Part>) {
    let Some(past) = s.paused.log().entries().next() else { return };
    for r in past.records_latest_first().filter(|r| r.read == read && !matches!(r.place, Place::Register(_)))
    {
        let each = if r.each == 0 { r.bytes } else { r.each };
        for from in (0..r.bytes).step_by(8.min(each.max(1)) as usize) {
            let n = 8.min(each - from % each).min(r.bytes - from);
            let place = r.place.plus(from.into());
            let mut bytes = [0; 8];
            s.paused.read(place, &mut bytes[..n as usize]);
            let further = from.checked_div(r.each).unwrap_or(0);
            let channel = (u32::from(r.channel) + further).min(31) as u8;
            out.push(Part { place, channel, bytes: n as u8, bits: number(&bytes[..n as usize]) });
        }
    }
}
