//! Checks of a run: reads of registers and memory that nothing wrote, accesses out of bounds, channels of one store
//! that write one place, data races between threads and between the channels of one, barriers that not all come to.
//!
//! **Races.** Two accesses to one byte race if a plain store is one of them, different threads make them, and
//! neither a barrier nor an atomic orders them. Not complained of: stores that leave what is there as it is;
//! plain reads beside atomics; what a group accesses after an atomic gave it a value, against other groups (the
//! value may tell it that they are done). The channels of one thread run in step here; they race like others, as in
//! another width or on another device they would, unless a barrier, an atomic or a fence lies between.

mod bounds;
mod content;
mod group;
mod launch;
mod registers;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use envisa_isa::Span;
use envisa_isa::predefined::var;
use envisa_lower::{Dst, Inst, Message, Op, Src, Touched};

use envisa_machine::memory::Hint;
use envisa_machine::observer::Observer;
use envisa_machine::thread::{Access, AccessKind, AccessSpace, Machine, Mask};

use content::{Contents, Home};
pub use group::RaceAccess;
use group::{Group, Now, SLM, THREAD};
use launch::{Launch, Who};
use registers::Written;

/// What a check found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum FindingKind {
    /// A channel reads register bytes that nothing has written in its thread.
    UninitialisedRead,
    /// Two channels of one store write the same place with different values: which one stays is undefined.
    StoreConflict,
    /// Two threads, or two channels of one, access the same place, one of them stores, and nothing orders the two.
    Race,
    /// An access outside of what was meant, which the device drops.
    OutOfBounds,
    /// What is done depends on bytes of memory that nothing has written.
    UninitialisedMemory,
    /// Some work-items come to a barrier, and others do not, or to another one.
    DivergentBarrier,
    /// A store to what is constant.
    ConstantWrite,
}

/// What the checks are told of a launch.
#[derive(Clone, Debug, Default)]
pub struct LaunchFacts {
    /// Names of arguments, by index.
    pub arguments: Vec<String>,
    /// The channels of a thread are parts of a vector, as in code written by hand, rather than work-items: they do run
    /// in step.
    pub in_step: bool,
    /// Addresses whose content the host did not write.
    pub fresh: Vec<Range<u64>>,
    /// Addresses that the kernel is given as constant, and what reports call them.
    pub constant: Vec<(Range<u64>, String)>,
}

/// Another place that a finding is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    /// Index of the instruction in its function's source.
    pub instruction: u32,
    /// Function.
    pub function: String,
    /// Place in the source.
    pub span: Span,
    /// What happens there.
    pub what: &'static str,
}

/// The other side of a race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Other {
    /// What it does.
    pub access: RaceAccess,
    /// Index of the instruction in its function's source.
    pub instruction: u32,
    /// Function.
    pub function: String,
    /// Place in the source.
    pub span: Span,
    /// Thread in its group.
    pub thread: u32,
    /// Group.
    pub group: [u32; 3],
}

/// A finding: the first time, and how often.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// Index of the instruction in its function's source.
    pub instruction: u32,
    /// Function.
    pub function: String,
    /// Place in the source.
    pub span: Span,
    /// Channel.
    pub channel: u32,
    /// Thread in its group.
    pub thread: u32,
    /// Group.
    pub group: [u32; 3],
    /// The variable read, or the address written.
    pub subject: String,
    /// How often; of a race between groups, at how many places.
    pub count: u64,
    /// Of a race: what the instruction does, and with what it races.
    pub race: Option<(RaceAccess, Other)>,
    /// Another place that it is about.
    pub related: Option<Related>,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.group;
        if let Some((access, other)) = &self.race {
            let [u, v, w] = other.group;
            return write!(
                f,
                "instruction {}, thread {} of group {x},{y},{z} {access} {}, instruction {}, thread {} of group \
                 {u},{v},{w} {} it, and nothing orders the two ({} times)",
                self.instruction,
                self.thread,
                self.subject,
                other.instruction,
                other.thread,
                other.access,
                self.count
            );
        }
        let at = format!(
            "instruction {}, channel {}, thread {} of group {x},{y},{z}; {} times",
            self.instruction, self.channel, self.thread, self.count
        );
        match self.kind {
            FindingKind::UninitialisedRead => {
                write!(f, "reads {}, which nothing has written ({at})", self.subject)
            }
            FindingKind::StoreConflict => {
                write!(f, "two channels store different values to {} ({at})", self.subject)
            }
            FindingKind::UninitialisedMemory => {
                write!(f, "uses {}, which nothing has written ({at})", self.subject)
            }
            FindingKind::Race => write!(f, "races for {} ({at})", self.subject),
            FindingKind::OutOfBounds | FindingKind::DivergentBarrier | FindingKind::ConstantWrite => {
                write!(f, "{} ({at})", self.subject)
            }
        }
    }
}

/// The checks.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// What was found, by instruction, kind and, of a race, the other instruction.
    found: HashMap<(u32, FindingKind, u32), Finding>,
    /// Of each thread of the group.
    shadows: Vec<Shadow>,
    /// Which bytes of memory have content.
    contents: Contents,
    /// What is known of the launch.
    facts: Arc<LaunchFacts>,
    /// What the current message stores and nothing has written: channel and register.
    pending: Option<(u32, u32)>,
    /// Accesses of the group's threads.
    group: Group,
    /// Accesses of all groups.
    launch: Arc<Launch>,
    /// Where instructions stand, by program counter; what a race between groups is told with at the end.
    sites: Arc<Sites>,
    /// Bytes of memory that races between groups are looked for in, and how many there are.
    looked_at: (u64, u64),
}

/// What is known of a thread's registers.
#[derive(Clone, Debug, Default)]
struct Shadow {
    written: Written,
    /// Where dwords that nothing wrote were loaded from.
    origins: HashMap<u32, Origin>,
}

/// A load of bytes that nothing wrote.
#[derive(Clone, Copy, Debug)]
struct Origin {
    pc: u32,
    home: Home,
}

#[derive(Debug, Default)]
struct Sites {
    /// `(instruction in its function, function, place in the source)`.
    at: Vec<(u32, u16, Span)>,
    functions: Vec<String>,
    /// Groups in x and y.
    groups: [u32; 2],
    /// First address, bytes and name of allocations.
    memory: Vec<(u64, u64, String)>,
    /// From this address on, accesses are not held against those of other groups.
    end: u64,
    /// Registers that some instruction reads; `None`: any may be.
    used: Option<Written>,
}

impl Sites {
    fn of(m: &Machine<'_>) -> (Sites, (u64, u64)) {
        let p = m.env.program;
        let (mut end, mut all) = (0, 0u64);
        let mut looked_at = 0;
        for a in m.env.memory.iter().filter(|a| !a.private) {
            let bytes = a.block.len() as u64;
            all += bytes;
            if looked_at == all - bytes {
                let some = bytes.min(launch::MAX_BYTES - looked_at);
                looked_at += some;
                end = a.base + some;
            }
        }
        let sites = Sites {
            at: p.code.iter().map(|i| (i.source, i.function, i.span)).collect(),
            functions: p.functions.iter().map(|f| f.name.clone()).collect(),
            groups: [m.env.groups[0], m.env.groups[1]],
            memory: m.env.memory.iter().map(|a| (a.base, a.block.len() as u64, a.name.clone())).collect(),
            end,
            used: used(p),
        };
        (sites, (looked_at, all))
    }

    /// Does anything depend on what an access reads? Compilers read three elements where the first and the third are
    /// wanted.
    fn wanted(&self, message: &Message, a: &Access, part: u32) -> bool {
        let (Message::Simt(s), Some(used)) = (message, &self.used) else { return true };
        let Some(data) = s.data else { return true };
        if a.kind != AccessKind::Read || s.elements.count_ones() < 2 {
            return true;
        }
        used.any(data + part * s.component_stride, s.component_stride.max(1))
    }

    fn number(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [w, h] = self.groups.map(u64::from);
        (u64::from(z) * h + u64::from(y)) * w + u64::from(x)
    }

    fn id(&self, number: u64) -> [u32; 3] {
        let [w, h] = self.groups.map(|n| u64::from(n.max(1)));
        [(number % w) as u32, (number / w % h) as u32, (number / (w * h)) as u32]
    }

    /// Instruction, function and place of a program counter.
    fn at(&self, pc: u32) -> (u32, String, Span) {
        let Some((source, function, span)) = self.at.get(pc as usize) else {
            return (0, String::new(), Span::NONE);
        };
        (*source, self.functions.get(*function as usize).cloned().unwrap_or_default(), *span)
    }

    /// What reports call bytes whose content is followed.
    fn memory_place(&self, m: &Machine<'_>, home: Home) -> String {
        match home {
            Home::Local(at) => self.place(SLM | at),
            Home::Thread(at) if m.env.private.is_some_and(|(base, bytes)| at.wrapping_sub(base) < bytes) => {
                "private memory".to_owned()
            }
            Home::Thread(_) => "the thread's scratch".to_owned(),
            Home::Fresh(at) => self.place(at),
        }
    }

    fn place(&self, key: u64) -> String {
        if key & SLM != 0 {
            return format!("shared local memory at {:#x}", key & !SLM);
        }
        let i = self.memory.partition_point(|a| a.0 <= key);
        match i.checked_sub(1).and_then(|i| self.memory.get(i)) {
            Some((base, bytes, name)) if key - base < *bytes => format!("{name} at byte {:#x}", key - base),
            _ => format!("{key:#x}"),
        }
    }
}

impl Checks {
    /// Checks of a launch.
    pub fn new(facts: LaunchFacts) -> Checks {
        Checks { contents: Contents::new(&facts.fresh), facts: Arc::new(facts), ..Checks::default() }
    }

    /// Findings, by instruction.
    pub fn findings(&self) -> Vec<Finding> {
        let mut all: HashMap<(u32, FindingKind, u32), Finding> = self.found.clone();
        for race in self.launch.races() {
            let (pc, other) = (race.first.pc(), race.second.pc());
            let who = |w: Who| (w.thread(), self.sites.id(w.group()));
            let ((thread, group), (other_thread, other_group)) = (who(race.first), who(race.second));
            let (instruction, function, span) = self.sites.at(pc);
            let (other_instruction, other_function, other_span) = self.sites.at(other);
            // Threads of one group that race for it too have been found already.
            all.entry((pc, FindingKind::Race, other)).or_insert_with(|| Finding {
                kind: FindingKind::Race,
                instruction,
                function,
                span,
                channel: 0,
                thread,
                group,
                subject: self.sites.place(race.address),
                count: race.count,
                race: Some((
                    RaceAccess::Write,
                    Other {
                        access: race.with,
                        instruction: other_instruction,
                        function: other_function,
                        span: other_span,
                        thread: other_thread,
                        group: other_group,
                    },
                )),
                related: None,
            });
        }
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by_key(|(k, _)| *k);
        all.into_iter().map(|(_, f)| f).collect()
    }

    /// What was not looked at, if anything.
    pub fn not_checked(&self) -> Option<String> {
        let (looked_at, all) = self.looked_at;
        if looked_at < all {
            return Some(format!(
                "races between groups were looked for in the first {looked_at} of {all} bytes of memory only"
            ));
        }
        self.group.overflowed.then(|| {
            "races within a group were not looked for everywhere: a group accesses more than 4 MiB".to_owned()
        })
    }

    fn note(
        &mut self,
        m: &Machine<'_>,
        pc: u32,
        kind: FindingKind,
        channel: u32,
        subject: impl FnOnce() -> String,
    ) -> &mut Finding {
        self.note_pair(m, (pc, u32::MAX), kind, channel, |_| subject())
    }

    fn note_pair(
        &mut self,
        m: &Machine<'_>,
        (pc, other): (u32, u32),
        kind: FindingKind,
        channel: u32,
        subject: impl FnOnce(&Sites) -> String,
    ) -> &mut Finding {
        let sites = &self.sites;
        let f = self.found.entry((pc, kind, other)).or_insert_with(|| {
            let (instruction, function, span) = sites.at(pc);
            Finding {
                kind,
                instruction,
                function,
                span,
                channel,
                thread: m.t.index,
                group: m.group.id,
                subject: subject(sites),
                count: 0,
                race: None,
                related: None,
            }
        });
        f.count += 1;
        f
    }

    fn whole_shadow(&mut self, m: &Machine<'_>) -> &mut Shadow {
        let i = m.t.index as usize;
        if self.shadows.len() <= i {
            self.shadows.resize_with(i + 1, Shadow::default);
        }
        &mut self.shadows[i]
    }

    fn shadow(&mut self, m: &Machine<'_>) -> &mut Written {
        &mut self.whole_shadow(m).written
    }

    /// A plain move copies what is not written as such, and is not complained of: compilers move whole
    /// arrays of which only a part has content. What is done with it is complained of.
    fn copy(&mut self, m: &Machine<'_>, i: &Inst, mask: Mask) -> bool {
        let (Op::Mov, Dst::Reg { offset: to, ty: to_ty, stride, .. }) = (i.op, i.dst) else { return false };
        let mut from = None;
        if !matches!(i.src[0], Src::Reg { constant: true, .. } | Src::Pred { .. } | Src::None) {
            // The last that is told of is the source; predicate and address registers come before.
            i.reads(m.env.program, &mut |t| from = Some(t));
        }
        let Some(from) = from else { return false };
        let shadow = self.whole_shadow(m);
        let mut written = 0u32;
        let mut origins: [Option<Origin>; 32] = [None; 32];
        for k in channels(mask) {
            let Some((at, bytes)) = element(m, from, k) else {
                written |= 1 << k;
                continue;
            };
            let there = shadow.written.any(at, bytes);
            written |= u32::from(there) << k;
            if !there && !shadow.origins.is_empty() {
                origins[k as usize] = shadow.origins.get(&(at / 4)).copied();
            }
        }
        for k in channels(mask) {
            let at = to + k * stride as u32 * to_ty.size();
            if written >> k & 1 != 0 {
                shadow.written.set(at, to_ty.size());
                continue;
            }
            shadow.written.unset(at, to_ty.size());
            match origins[k as usize] {
                Some(origin) => drop(shadow.origins.insert(at / 4, origin)),
                None if shadow.origins.is_empty() => {}
                None => drop(shadow.origins.remove(&(at / 4))),
            }
        }
        true
    }

    /// Marks what is told of as written.
    fn define(&mut self, m: &Machine<'_>, t: Touched, mask: Mask) {
        let shadow = self.shadow(m);
        match t {
            Touched::Whole { offset, bytes } => shadow.set(offset, bytes),
            Touched::Lanes { offset, bytes, step } if step == bytes && mask & mask.wrapping_add(1) == 0 => {
                shadow.set(offset, mask.count_ones() * bytes);
            }
            t => {
                for k in channels(mask) {
                    if let Some((at, bytes)) = element(m, t, k) {
                        shadow.set(at, bytes);
                    }
                }
            }
        }
    }

    /// The first channel and offset of what is told of that nothing has written.
    fn missing(&mut self, m: &Machine<'_>, t: Touched, mask: Mask, any: bool) -> Option<(u32, u32)> {
        let shadow = self.shadow(m);
        if let Touched::Whole { offset, bytes } = t {
            return shadow.hole(offset, bytes).filter(|_| any).map(|at| (0, at));
        }
        if mask == 0 {
            return None;
        }
        // Mostly everything is written.
        if let Some(all) = t.range(32 - mask.leading_zeros())
            && shadow.all(all.start, all.end - all.start)
        {
            return None;
        }
        let together = match t {
            Touched::Region { together, .. } => together.max(1),
            _ => 1,
        };
        for k in channels(mask) {
            let group = k - k % together;
            for k in group..group + together {
                if let Some((at, bytes)) = element(m, t, k)
                    && !shadow.any(at, bytes)
                {
                    return Some((k, at));
                }
            }
        }
        None
    }

    /// Complains of a use of registers that nothing has written: `at` is one of them.
    fn unwritten(&mut self, m: &Machine<'_>, pc: u32, channel: u32, at: u32) {
        let origin = self.whole_shadow(m).origins.get(&(at / 4)).copied();
        let Some(origin) = origin else {
            self.note(m, pc, FindingKind::UninitialisedRead, channel, || variable(m, at));
            return;
        };
        let related = {
            let (instruction, function, span) = self.sites.at(pc);
            Related { instruction, function, span, what: "and what is done here depends on it" }
        };
        let subject = |sites: &Sites| sites.memory_place(m, origin.home);
        let f = self.note_pair(m, (origin.pc, pc), FindingKind::UninitialisedMemory, channel, subject);
        if origin.pc != pc {
            f.related.get_or_insert(related);
        }
    }

    /// Follows what a message moves between registers and memory.
    fn content(&mut self, m: &Machine<'_>, pc: u32, message: &Message, first: u32) {
        let thread = m.t.index;
        let pending = self.pending.take();
        let mut part = (u8::MAX, 0);
        let mut complain = false;
        for a in &m.accesses {
            part = if part.0 == a.channel { (a.channel, part.1 + 1) } else { (a.channel, 0) };
            let home = self.contents.home(m, message, a);
            if !self.sites.wanted(message, a, part.1) {
                continue;
            }
            if a.kind != AccessKind::Read && !a.outside {
                self.constant(m, pc, a);
            }
            let Some(home) = home else {
                complain |= a.kind == AccessKind::Write;
                continue;
            };
            if a.kind == AccessKind::Atomic {
                if !self.contents.any(thread, home, a.bytes) {
                    let subject = |sites: &Sites| sites.memory_place(m, home);
                    let kind = FindingKind::UninitialisedMemory;
                    self.note_pair(m, (pc, u32::MAX), kind, u32::from(a.channel), subject);
                }
                self.contents.set(thread, home, a.bytes, true);
                continue;
            }
            let moved = content::registers(message, a, first, part.1);
            let Some((register, bytes, slot)) = moved.filter(|_| content::moves(message, a)) else {
                if a.kind == AccessKind::Write {
                    self.contents.set(thread, home, a.bytes, true);
                }
                continue;
            };
            complain |= a.kind == AccessKind::Write && matches!(home, Home::Fresh(_));
            // Blocks dword by dword.
            let step = if bytes == slot { bytes.min(4) } else { bytes };
            for offset in (0..bytes).step_by(step.max(1) as usize) {
                let home = home.behind(offset);
                let n = step.min(bytes - offset);
                if a.kind == AccessKind::Write {
                    let there = self.shadow(m).any(register + offset, n);
                    self.contents.set(thread, home, n, there);
                } else if !self.contents.any(thread, home, n) {
                    let shadow = self.whole_shadow(m);
                    shadow.written.unset(register + offset, n.max(slot.min(4)));
                    shadow.origins.insert((register + offset) / 4, Origin { pc, home });
                }
            }
        }
        if let Some((channel, at)) = pending.filter(|_| complain) {
            self.unwritten(m, pc, channel, at);
        }
    }

    /// Complains of a store to what is constant.
    fn constant(&mut self, m: &Machine<'_>, pc: u32, a: &Access) {
        let Some(place) = a.place.filter(|_| !self.facts.constant.is_empty()) else { return };
        let facts = Arc::clone(&self.facts);
        if let Some((range, name)) = facts.constant.iter().find(|(r, _)| r.contains(&place)) {
            let subject = || {
                format!(
                    "writes {} bytes at byte {} of {name}, which the kernel declares constant",
                    a.bytes,
                    place - range.start
                )
            };
            self.note(m, pc, FindingKind::ConstantWrite, u32::from(a.channel), subject);
        }
    }

    /// Looks at the accesses of a message for races.
    fn races(&mut self, m: &Machine<'_>, pc: u32, message: &Message, first: u32) {
        let number = self.sites.number(m.group.id);
        let scalar = m.env.program.code.get(pc as usize).is_some_and(|i| i.channels == 1);
        let mut part = (u8::MAX, 0);
        for a in &m.accesses {
            part = if part.0 == a.channel { (a.channel, part.1 + 1) } else { (a.channel, 0) };
            let key = match (a.space, a.place) {
                _ if a.outside || !self.sites.wanted(message, a, part.1) => continue,
                (AccessSpace::Slm, _) => SLM | a.address,
                // The launch's own allocations are a thread's own.
                (_, Some(place)) if !m.env.memory.is_private(place) => place,
                _ => continue,
            };
            let access = match a.kind {
                AccessKind::Read => RaceAccess::Read,
                AccessKind::Write => RaceAccess::Write,
                AccessKind::Atomic => RaceAccess::Atomic,
            };
            if access == RaceAccess::Atomic {
                self.group.synchronise(m.t.index, key & !3);
            }
            let mut buffer = [0u8; 16];
            let bytes: &[u8] = match a.kind {
                AccessKind::Write => stored(m, message, a, first, part.1, &mut buffer),
                _ => &[],
            };
            let channel = match message {
                _ if self.facts.in_step => THREAD,
                Message::Simt(_) | Message::Typed(_) if m.t.mask.count_ones() < 2 => a.channel,
                // One access for all channels.
                Message::Simt(_) if scalar => THREAD,
                Message::Simt(_) | Message::Typed(_) => a.channel,
                _ => THREAD,
            };
            let across = !self.group.acquired && key < self.sites.end;
            let who = if across { Who::new(number, m.t.index, pc) } else { None };
            let end = key + a.bytes as u64;
            let mut at = key;
            while at < end {
                let size = if at % 4 == 0 && end - at >= 4 { 4 } else { 1 };
                let value = bytes
                    .get((at - key) as usize..)
                    .map_or(0, |b| (0..size.min(b.len())).fold(0, |v, i| v | u32::from(b[i]) << (8 * i)));
                let now = Now { thread: m.t.index, pc, channel, access, value };
                if let Some((past, with)) = self.group.access(at, size as u32, now) {
                    let other = {
                        let (instruction, function, span) = self.sites.at(past.pc);
                        let (thread, group) = (past.thread, m.group.id);
                        Other { access: with, instruction, function, span, thread, group }
                    };
                    let channel = a.channel as u32;
                    self.note_pair(m, (pc, past.pc), FindingKind::Race, channel, |s| s.place(at))
                        .race
                        .get_or_insert((access, other));
                }
                if let Some(who) = who {
                    self.launch.access(at, size as u32, who, access, value);
                }
                at += size as u64;
            }
        }
        // From here on another group may have told this one that it is done.
        if m.accesses.iter().any(|a| a.kind == AccessKind::Atomic && a.space != AccessSpace::Slm) {
            let told = match message {
                Message::Atomic(a) => a.dst.is_some(),
                Message::TypedAtomic(a) => a.dst.is_some(),
                _ => true,
            };
            self.group.acquired |= told;
        }
    }

    /// Looks at who comes to a barrier.
    fn barrier(&mut self, m: &Machine<'_>, pc: u32, i: &Inst) {
        let kind = FindingKind::DivergentBarrier;
        let elsewhere = self.group.barrier(m.t.index, (i.op, pc), i.aux == 1);
        if let Some((other, at)) = elsewhere {
            let related = {
                let (instruction, function, span) = self.sites.at(at);
                Related { instruction, function, span, what: "the other thread is at this barrier" }
            };
            let subject =
                |_: &Sites| format!("a barrier, while thread {other} of the group is at another one");
            self.note_pair(m, (pc, at), kind, 0, subject).related.get_or_insert(related);
        }
        let (here, all) = (m.t.mask, m.t.dispatch);
        if i.op != Op::NamedBarrier && here != all {
            let subject = || {
                format!(
                    "{} of the thread's {} work-items come to a barrier",
                    here.count_ones(),
                    all.count_ones()
                )
            };
            self.note(m, pc, kind, (all & !here).trailing_zeros(), subject);
        }
    }

    /// Looks for channels of a store that write one place.
    fn conflicts(&mut self, m: &Machine<'_>, pc: u32, message: &Message, first: u32) {
        if !matches!(message, Message::Simt(_) | Message::Typed(_)) || m.accesses.len() < 2 {
            return;
        }
        // Later channels against the first that wrote the place.
        let mut seen: HashMap<(u64, bool), u8> = HashMap::new();
        let mut told = None;
        for a in m.accesses.iter().filter(|a| a.kind == AccessKind::Write && !a.outside) {
            let place = (a.place.unwrap_or(a.address), a.space == AccessSpace::Slm);
            let other = *seen.entry(place).or_insert(a.channel);
            if other == a.channel || told == Some(a.channel) {
                continue;
            }
            let mut values: [Vec<u8>; 2] = Default::default();
            let p = m.env.program;
            for (value, channel) in values.iter_mut().zip([other, a.channel]) {
                message.reads(&p.registers, &mut |t| {
                    if is_data(message, t)
                        && let Some(at) = t.channel((channel as u32).saturating_sub(first))
                    {
                        value.extend_from_slice(m.t.regs.slice(at.start, at.end - at.start));
                    }
                });
            }
            if values[0] != values[1] {
                told = Some(a.channel);
                let address = a.address;
                self.note(m, pc, FindingKind::StoreConflict, a.channel as u32, || format!("{address:#x}"));
            }
        }
    }
}

/// The registers that the instructions of a program read.
fn used(p: &envisa_lower::Program) -> Option<Written> {
    let mut used = Written::default();
    used.clear(p.registers.bytes);
    let mut any = false;
    for i in &p.code {
        let n = u32::from(i.channels);
        i.reads(p, &mut |t| match (t, t.range(n)) {
            (Touched::Whole { offset, bytes }, _) => used.set(offset, bytes),
            (_, Some(r)) => used.set(r.start, r.end - r.start),
            _ => any = true,
        });
    }
    (!any).then_some(used)
}

/// Is it the data of a store (else addresses, coordinates)?
fn is_data(message: &Message, t: Touched) -> bool {
    if let (Message::Block(b), Touched::Whole { offset, .. }) = (message, t) {
        return b.write && b.data == Some(offset);
    }
    let (Message::Simt(envisa_lower::Simt { data, .. }) | Message::Typed(envisa_lower::Typed { data, .. })) =
        message
    else {
        return false;
    };
    let Touched::Lanes { offset, bytes, .. } = t else { return false };
    let (stride, count, skip) = match message {
        Message::Simt(s) => (s.component_stride, s.elements.count_ones(), if s.upper { 2 } else { 0 }),
        Message::Typed(t) => (t.component_stride, (t.channels & 15).count_ones(), 0),
        _ => return false,
    };
    let element = match message {
        Message::Simt(s) => s.element as u32,
        _ => 4,
    };
    let is = |c: u32| data.is_some_and(|d| d + c * stride + skip == offset);
    bytes == element && (0..count).any(is)
}

/// What a store wrote: from its registers, else as it is in memory now.
fn stored<'a>(
    m: &'a Machine<'_>,
    message: &Message,
    a: &Access,
    first: u32,
    part: u32,
    buffer: &'a mut [u8; 16],
) -> &'a [u8] {
    match message {
        Message::Simt(s) => {
            let Some(data) = s.data else { return &[] };
            let channel = (a.channel as u32).saturating_sub(first);
            let at = data + part * s.component_stride + channel * s.slot as u32;
            m.t.regs.slice(at + if s.upper { 2 } else { 0 }, s.element as u32)
        }
        Message::Block(b) => b.data.map_or(&[], |d| m.t.regs.slice(d, b.bytes)),
        _ => {
            let n = (a.bytes as usize).min(buffer.len());
            let bytes = &mut buffer[..n];
            if let Some(place) = a.place
                && let Some(l) = m.env.memory.find(place, n, false, &mut Hint::default())
            {
                l.block.copy_out(l.offset, bytes);
            }
            bytes
        }
    }
}

fn channels(mask: Mask) -> impl Iterator<Item = u32> {
    (0..32).filter(move |k| mask >> k & 1 != 0)
}

/// Offset and bytes of channel `k`'s element; `None` if an address register names no variable.
fn element(m: &Machine<'_>, t: Touched, k: u32) -> Option<(u32, u32)> {
    match t {
        Touched::Indirect { address, add, per_address_log2, bytes, strides } => {
            let per = 1u32 << per_address_log2.min(5);
            let base: u16 = m.t.regs.peek(address + 2 * (k / per));
            let base = base.wrapping_add((strides.element(k % per) * bytes) as u16);
            m.indirect(base, add, bytes).ok().map(|at| (at, bytes))
        }
        t => t.channel(k).map(|r| (r.start, r.end - r.start)),
    }
}

/// Name of the variable a register offset belongs to.
fn variable(m: &Machine<'_>, offset: u32) -> String {
    let p = m.env.program;
    p.functions
        .iter()
        .flat_map(|f| &f.vars)
        .find(|v| (v.offset..v.offset + v.bytes).contains(&offset))
        .map_or_else(|| "a register".to_owned(), |v| format!("{}[{}]", v.name, offset - v.offset))
}

impl Observer for Checks {
    fn fork(&self) -> Self {
        Checks {
            launch: Arc::clone(&self.launch),
            facts: Arc::clone(&self.facts),
            contents: self.contents.fork(),
            ..Checks::default()
        }
    }

    fn merge(&mut self, other: Self) {
        for (key, f) in other.found {
            match self.found.get_mut(&key) {
                Some(mine) => {
                    mine.count += f.count;
                    // The lowest group's is told, on any number of cores.
                    let order = |f: &Finding| (f.group[2], f.group[1], f.group[0], f.thread, f.channel);
                    if order(&f) < order(mine) {
                        let count = mine.count;
                        *mine = Finding { count, ..f };
                    }
                }
                None => {
                    self.found.insert(key, f);
                }
            }
        }
        self.group.overflowed |= other.group.overflowed;
        if self.sites.at.is_empty() {
            (self.sites, self.looked_at) = (other.sites, other.looked_at);
        }
    }

    fn start(&mut self, m: &Machine<'_>) {
        let p = m.env.program;
        if self.sites.at.is_empty() {
            let (sites, looked_at) = Sites::of(m);
            (self.sites, self.looked_at) = (Arc::new(sites), looked_at);
        }
        self.group.start(m.t.index);
        self.contents.start(m);
        self.pending = None;
        let shadow = self.whole_shadow(m);
        shadow.origins.clear();
        let shadow = &mut shadow.written;
        shadow.clear(p.registers.bytes);
        // Immediates, predicates, addresses, states and predefined variables; then the inputs.
        shadow.set(0, p.registers.address_base);
        let unwritten =
            [var::ARG, var::RETVAL, var::SP, var::FP, var::IMPL_ARG_BUF_PTR, var::LOCAL_ID_BUF_PTR];
        for id in (0..=var::MSG0).filter(|id| !unwritten.contains(id)) {
            shadow.set(p.registers.predefined[id as usize], 64);
        }
        for i in &p.inputs {
            shadow.set(i.offset, i.bytes);
        }
    }

    fn before(&mut self, m: &Machine<'_>, pc: u32, mask: Mask) {
        let Some(i) = m.env.program.code.get(pc as usize) else { return };
        self.group.go_on(m.t.index);
        if self.copy(m, i, mask) {
            return;
        }
        let p = m.env.program;
        // Without a mask, channels that are off compute what nobody looks at.
        let looked_at = if i.channels == 1 { mask } else { mask & (m.t.mask >> i.first) };
        // Some messages are the thread's, whoever is active.
        let whole = match (i.op, p.messages.get(i.aux as usize)) {
            (Op::Message, Some(Message::Block(b))) => !b.masked || mask != 0,
            (Op::Message, Some(Message::Media(_) | Message::Block2d(_))) => true,
            _ => looked_at != 0,
        };
        // `sel` reads the source that is not picked too; `cmp.eq x x`, by which compilers learn which channels
        // are active, has its result whatever is read.
        let whatever = i.op == Op::Sel || i.op == Op::Cmp && i.src[0] == i.src[1];
        if !whatever {
            // What a message stores is looked at when it is known where: a store is a copy, too.
            let stores = match (i.op, p.messages.get(i.aux as usize)) {
                (Op::Message, Some(message @ (Message::Simt(_) | Message::Block(_)))) => Some(message),
                _ => None,
            };
            let (mut missing, mut stored) = (None, None);
            i.reads(p, &mut |t| {
                let data = stores.is_some_and(|message| is_data(message, t));
                let found = if data { &mut stored } else { &mut missing };
                if found.is_none() {
                    *found = self.missing(m, t, looked_at, whole);
                }
            });
            let here = |(channel, at): (u32, u32)| (channel + u32::from(i.first), at);
            self.pending = stored.map(here);
            if let Some((channel, at)) = missing.map(here) {
                self.unwritten(m, pc, channel, at);
            }
        }
        if i.op != Op::Message {
            i.writes(p, &mut |t| self.define(m, t, mask));
        }
    }

    fn after(&mut self, m: &Machine<'_>, pc: u32, mask: Mask, _: u32) {
        let p = m.env.program;
        let Some(i) = p.code.get(pc as usize) else { return };
        match i.op {
            Op::Barrier | Op::SplitBarrier | Op::NamedBarrier => self.barrier(m, pc, i),
            Op::Fence => self.group.fence(m.t.index),
            Op::Message => {
                let Some(message) = p.messages.get(i.aux as usize) else { return };
                if mask != 0 || !matches!(message, Message::Block(b) if b.masked) {
                    message.writes(&mut |t| self.define(m, t, mask));
                }
                if !m.accesses.is_empty() {
                    self.bounds(m, pc, message);
                    self.content(m, pc, message, i.first as u32);
                    self.conflicts(m, pc, message, i.first as u32);
                    self.races(m, pc, message, i.first as u32);
                }
            }
            _ => {}
        }
    }
}
