//! Findings of the checks.

use crate::fault::Place;
use crate::kernel::Code;
use crate::work_items::{WorkItem, WorkItems};
use envisa_diag::Diagnostic;
use envisa_lower::{Inst, Message, Op, Program, Simt, SourceLine};
use serde::Serialize;
use std::collections::HashMap;

/// What a check found: the first time, and how often.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The code that `envisa explain` has a page on: `F0002`.
    pub code: &'static str,
    /// What.
    pub kind: FindingKind,
    /// The variable read, the address written, or which access is outside of what.
    pub subject: String,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// The channel.
    pub channel: u32,
    /// The work-item that this channel is, in kernels whose channels are work-items.
    pub work_item: Option<WorkItem>,
    /// Several work-items of the thread do it together, this one among them.
    pub several: bool,
    /// The work-item is one that does not come there.
    pub absent: bool,
    /// Of colliding stores: the other work-item.
    pub with_work_item: Option<WorkItem>,
    /// Of colliding stores: what the other one and this one store.
    pub values: Option<[String; 2]>,
    /// The thread in its group.
    pub thread: u32,
    /// The group.
    pub group: [u32; 3],
    /// How often; of a race between groups, at how many places.
    pub count: u64,
    /// Indices of the instructions that it was found at: all that were compiled from this line.
    pub instructions: Vec<u32>,
    /// Of a race, what the instruction does, and with what it races.
    pub race: Option<Race>,
    /// Another place that it is about.
    pub related: Option<Related>,
    /// The calls that led there, innermost first; of very deep ones the innermost. Not of races between groups.
    pub calls: Vec<Place>,
    /// Of a race: how often what it read was used although nothing had written it yet.
    pub early: u64,
    /// What else was found that has the same cause: other pairs of statements that race for the same memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Finding>,
    /// What tells the memory that it is about apart from other buffers and variables; empty if it is not known.
    #[serde(skip)]
    pub(crate) object: String,
    /// The first byte of it that the finding is about.
    #[serde(skip)]
    pub(crate) memory: Option<u64>,
}

/// Another place that a finding is about.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Related {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// What happens there.
    pub what: &'static str,
}

/// What a check found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FindingKind {
    /// A channel reads register bytes that nothing has written in its thread.
    UninitialisedRead,
    /// Two channels of one store write one place with different values: it is undefined which value remains.
    StoreConflict,
    /// Two threads, or two work-items of one, access one place, one of them stores, and nothing orders the two.
    Race,
    /// An access outside of what was meant, which the device drops.
    OutOfBounds,
    /// Something depends on bytes of memory that nothing has written.
    UninitialisedMemory,
    /// Some work-items come to a barrier, and others do not, or to another one.
    DivergentBarrier,
    /// A store to what is constant.
    ConstantWrite,
    /// An asynchronous copy that nobody waits for, of which work-items differ, or an event that is none.
    AsyncCopy,
    /// Integers for an image of floats, or floats for one of integers.
    TexelType,
    /// A hint: an integer divided by zero.
    DivisionByZero,
    /// A hint: a sum, difference, product or quotient of numbers with signs that its type cannot hold.
    SignedOverflow,
    /// A hint: a shift by as many bits as there are, or more.
    ShiftCount,
    /// A hint: a float that the integer it becomes cannot hold.
    ConversionRange,
    /// A hint: an element at an address that is not a multiple of its size.
    Misaligned,
    /// A hint: one instruction accesses two variables in shared local memory.
    LocalNeighbour,
}

impl FindingKind {
    /// All kinds, hints last.
    pub const ALL: [FindingKind; 15] = [
        FindingKind::UninitialisedRead,
        FindingKind::StoreConflict,
        FindingKind::Race,
        FindingKind::OutOfBounds,
        FindingKind::UninitialisedMemory,
        FindingKind::DivergentBarrier,
        FindingKind::ConstantWrite,
        FindingKind::AsyncCopy,
        FindingKind::TexelType,
        FindingKind::DivisionByZero,
        FindingKind::SignedOverflow,
        FindingKind::ShiftCount,
        FindingKind::ConversionRange,
        FindingKind::Misaligned,
        FindingKind::LocalNeighbour,
    ];

    /// Is it a hint: sound vISA, and seldom meant?
    pub const fn is_hint(self) -> bool {
        matches!(
            self,
            FindingKind::DivisionByZero
                | FindingKind::SignedOverflow
                | FindingKind::ShiftCount
                | FindingKind::ConversionRange
                | FindingKind::Misaligned
                | FindingKind::LocalNeighbour
        )
    }

    /// Its code.
    pub const fn code(self) -> &'static str {
        match self {
            FindingKind::UninitialisedRead => "F0002",
            FindingKind::StoreConflict => "F0003",
            FindingKind::Race => "F0004",
            FindingKind::OutOfBounds => "F0005",
            FindingKind::UninitialisedMemory => "F0006",
            FindingKind::DivergentBarrier => "F0007",
            FindingKind::ConstantWrite => "F0008",
            FindingKind::AsyncCopy => "F0026",
            FindingKind::TexelType => "F0027",
            FindingKind::DivisionByZero => "F0021",
            FindingKind::SignedOverflow => "F0028",
            FindingKind::ShiftCount => "F0022",
            FindingKind::ConversionRange => "F0023",
            FindingKind::Misaligned => "F0024",
            FindingKind::LocalNeighbour => "F0025",
        }
    }
}

/// The two sides of a race.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Race {
    /// What the finding's instruction does: `reads`, `stores to`, …
    pub access: String,
    /// What the other one does.
    pub other_access: String,
    /// Where the other one is.
    pub other: Place,
    /// The other work-item, where it is known.
    pub other_work_item: Option<WorkItem>,
    /// Several work-items of the other thread do it, this one among them.
    pub other_several: bool,
    /// The first and the last work-item of the other thread.
    pub other_range: Option<[WorkItem; 2]>,
    /// The other thread in its group.
    pub other_thread: u32,
    /// The finding's side is of an asynchronous copy of the group, and no work-item's own.
    pub by_copy: bool,
    /// The same of the other one.
    pub other_by_copy: bool,
    /// The other group.
    pub other_group: [u32; 3],
    /// Within a group: how often what the thread did had been put in order by then, by fences and barriers.
    pub orderings: Option<u32>,
    /// The same of the other one.
    pub other_orderings: Option<u32>,
}

/// Who is on a side of a race.
struct Side {
    copies: bool,
    item: Option<WorkItem>,
    range: Option<[WorkItem; 2]>,
    several: bool,
    thread: u32,
    group: [u32; 3],
}

impl Side {
    fn text(&self) -> String {
        let ([x, y, z], thread) = (self.group, self.thread);
        match self.item {
            _ if self.copies => format!("an asynchronous copy of group ({x}, {y}, {z})"),
            Some(item) if self.several => {
                format!("{item} of group ({x}, {y}, {z}), like others of its sub-group,")
            }
            Some(item) => format!("{item} of group ({x}, {y}, {z})"),
            None => match self.range.filter(|_| self.several) {
                Some([from, to]) => {
                    let to = to.to_string().replace("work-item ", "");
                    format!(
                        "one of the {} to {to} of group ({x}, {y}, {z})",
                        from.to_string().replacen("work-item", "work-items", 1)
                    )
                }
                None => format!("thread {thread} of group ({x}, {y}, {z})"),
            },
        }
    }
}

impl Finding {
    pub(crate) fn new(code: &Code, f: &envisa_sanitize::Finding, items: Option<&WorkItems>) -> Finding {
        let item = |group, thread, channel: Option<u32>| Some(items?.at(group, thread, channel?));
        let kind = match f.kind {
            envisa_sanitize::FindingKind::UninitialisedRead => FindingKind::UninitialisedRead,
            envisa_sanitize::FindingKind::StoreConflict => FindingKind::StoreConflict,
            envisa_sanitize::FindingKind::Race => FindingKind::Race,
            envisa_sanitize::FindingKind::OutOfBounds => FindingKind::OutOfBounds,
            envisa_sanitize::FindingKind::UninitialisedMemory => FindingKind::UninitialisedMemory,
            envisa_sanitize::FindingKind::DivergentBarrier => FindingKind::DivergentBarrier,
            envisa_sanitize::FindingKind::ConstantWrite => FindingKind::ConstantWrite,
            envisa_sanitize::FindingKind::AsyncCopy => FindingKind::AsyncCopy,
            envisa_sanitize::FindingKind::TexelType => FindingKind::TexelType,
            envisa_sanitize::FindingKind::DivisionByZero => FindingKind::DivisionByZero,
            envisa_sanitize::FindingKind::SignedOverflow => FindingKind::SignedOverflow,
            envisa_sanitize::FindingKind::ShiftCount => FindingKind::ShiftCount,
            envisa_sanitize::FindingKind::ConversionRange => FindingKind::ConversionRange,
            envisa_sanitize::FindingKind::Misaligned => FindingKind::Misaligned,
            envisa_sanitize::FindingKind::LocalNeighbour => FindingKind::LocalNeighbour,
        };
        Finding {
            code: kind.code(),
            kind,
            subject: f.subject.clone(),
            place: Place::new(code, &f.function, f.instruction, f.span),
            channel: f.channel,
            work_item: item(f.group, f.thread, Some(f.channel).filter(|_| !f.copies)),
            several: !f.own,
            absent: f.absent,
            with_work_item: f.with.as_ref().and_then(|(channel, _)| item(f.group, f.thread, Some(*channel))),
            values: f.with.as_ref().map(|(_, values)| values.clone()),
            thread: f.thread,
            group: f.group,
            count: f.count,
            instructions: vec![f.instruction],
            race: f.race.as_ref().map(|(access, other)| Race {
                access: access.to_string(),
                other_access: other.access.to_string(),
                other: Place::new(code, &other.function, other.instruction, other.span),
                other_work_item: item(other.group, other.thread, other.channel.filter(|_| !other.copies)),
                other_several: other.several,
                other_range: items.map(|items| items.of_thread(other.group, other.thread)),
                other_thread: other.thread,
                by_copy: f.copies,
                other_by_copy: other.copies,
                other_group: other.group,
                orderings: f.orderings,
                other_orderings: other.orderings,
            }),
            related: f.related.as_ref().map(|r| Related {
                place: Place::new(code, &r.function, r.instruction, r.span),
                what: r.what,
            }),
            calls: f.calls.iter().map(|c| Place::new(code, &c.function, c.instruction, c.span)).collect(),
            early: f.early,
            also: Vec::new(),
            object: f.object.clone(),
            memory: f.memory,
        }
    }

    /// Are two findings of one kind, at the same instructions? Of a race either side may come first.
    pub(crate) fn is_same_place(&self, other: &Finding) -> bool {
        let sites = |f: &Finding| {
            let here = (f.place.function.clone(), f.place.instruction);
            let there = f.race.as_ref().map(|r| (r.other.function.clone(), r.other.instruction));
            match there {
                Some(there) => (here.clone().min(there.clone()), Some(here.max(there))),
                None => (here, None),
            }
        };
        self.kind == other.kind && sites(self) == sites(other)
    }

    /// Is it one of a work-item with itself?
    fn reads_back(&self) -> bool {
        let same = |race: &Race| {
            let several = self.several || race.other_several || race.by_copy || race.other_by_copy;
            !several && self.work_item.is_some() && self.work_item == race.other_work_item
        };
        self.race.as_ref().is_some_and(same)
    }

    /// In a sentence.
    pub fn message(&self) -> String {
        match self.kind {
            FindingKind::UninitialisedRead => format!("reads {}, which nothing has written", self.subject),
            FindingKind::StoreConflict => {
                let who = if self.work_item.is_some() { "work-items" } else { "channels" };
                format!(
                    "two {who} store different values to {}: it is undefined which value remains",
                    self.subject
                )
            }
            FindingKind::Race if self.reads_back() => {
                format!(
                    "{} is read by the work-item that wrote it, without a fence of images between",
                    self.subject
                )
            }
            FindingKind::Race => {
                format!("a data race for {}: nothing orders two accesses to it", self.subject)
            }
            FindingKind::UninitialisedMemory => format!("uses {}, which nothing has written", self.subject),
            FindingKind::OutOfBounds
            | FindingKind::DivergentBarrier
            | FindingKind::ConstantWrite
            | FindingKind::AsyncCopy
            | FindingKind::TexelType
            | FindingKind::DivisionByZero
            | FindingKind::SignedOverflow
            | FindingKind::ShiftCount
            | FindingKind::ConversionRange
            | FindingKind::Misaligned
            | FindingKind::LocalNeighbour => self.subject.clone(),
        }
    }

    /// As a diagnostic that points into the [files](crate::Kernel::files) of its kernel.
    pub fn diagnostic(&self) -> Diagnostic {
        let called = |d: Diagnostic, call: &Place| {
            call.mark_other(d, format!("called from here, in `{}`", call.function))
        };
        let others = self.race.iter().map(|r| &r.other).chain(self.related.iter().map(|r| &r.place));
        let d = others.fold(self.place.mark_inlined(self.without_calls()), |d, p| p.mark_inlined(d));
        let d = self.mark_same_cause(d);
        self.calls.iter().fold(d, called)
    }

    /// Who it is about, and what that does if that matters.
    fn who(&self) -> String {
        let Some(item) = self.work_item else { return format!("channel {}", self.channel) };
        if let (Some(other), Some([theirs, mine])) = (self.with_work_item, &self.values) {
            return format!("{other} stores {theirs}, and {item} stores {mine}");
        }
        match (self.absent, self.several) {
            (true, _) => format!("{item} does not come here"),
            (false, true) => format!("{item}, like others of its sub-group"),
            (false, false) => item.to_string(),
        }
    }

    fn without_calls(&self) -> Diagnostic {
        let [x, y, z] = self.group;
        let times = if self.count == 1 { "once".to_owned() } else { format!("{} times in all", self.count) };
        let d = Diagnostic::error(self.code, self.message());
        let (place, kernel) = (&self.place, &self.place.kernel);
        let mut instructions = format!("${}", place.instruction);
        for i in self.instructions.iter().filter(|i| **i != place.instruction).take(7) {
            instructions.push_str(&format!(", ${i}"));
        }
        let Some(race) = &self.race else {
            let many = if self.instructions.len() > 1 { "instructions" } else { "instruction" };
            let mut d = place.mark(d, self.who());
            if let Some(related) = &self.related {
                d = related.place.mark_other(d, related.what);
            }
            return d.note(format!(
                "first by kernel `{kernel}`, group ({x}, {y}, {z}), thread {}, {many} {instructions}; {times}",
                self.thread
            ));
        };
        let here = Side {
            copies: race.by_copy,
            item: self.work_item,
            range: None,
            several: self.several,
            thread: self.thread,
            group: self.group,
        };
        let there = Side {
            copies: race.other_by_copy,
            item: race.other_work_item,
            range: race.other_range,
            several: race.other_several,
            thread: race.other_thread,
            group: race.other_group,
        };
        // Of several that are one thread's with this one, it is another one.
        let same = there.several && there.item == here.item;
        let there = Side { item: there.item.filter(|_| !same), ..there };
        let (here, there) = (here.text(), there.text());
        let here = format!("{here} {} it", race.access);
        let there = format!("{there} {} it", race.other_access);
        let d = race.other.mark_other(place.mark(d, here), there).note(format!(
            "kernel `{kernel}`, instructions ${} and ${}; {times}",
            place.instruction, race.other.instruction
        ));
        if (self.thread, self.group) == (race.other_thread, race.other_group) && !self.reads_back() {
            return d.note(
                "one thread runs both work-items in step here; with another SIMD width, or on another device, they may be in different threads",
            );
        }
        d
    }
}

/// Findings of one line of the source are one, and so are those of the two halves of one access: a compiler makes two
/// instructions of an access of more channels than an instruction takes.
pub(crate) fn merged(code: &Code, findings: Vec<Finding>) -> Vec<Finding> {
    let program = code.program();
    let names = program.functions().iter().map(|f| f.name.as_str());
    let functions: HashMap<&str, usize> = names.zip(0..).collect();
    let mut first: HashMap<(usize, u32), &Inst> = HashMap::new();
    for i in program.code() {
        first.entry((usize::from(i.function), i.source)).or_insert(i);
    }
    let site = |place: &Place| -> Site {
        let function = functions.get(place.function.as_str()).copied().unwrap_or_default();
        if let Some(line) = program.functions().get(function).and_then(|f| f.line(place.instruction)) {
            return Site::Line(function, envisa_lower::SourceLine { column: 0, ..line });
        }
        let mut lead = place.instruction;
        let before = |of: u32| {
            let half = *first.get(&(function, of))?;
            let earlier = |n: u32| {
                let at = of.checked_sub(n)?;
                Some((at, *first.get(&(function, at))?))
            };
            let is = |i: &Inst| i.op == half.op && i.channels == half.channels && i.first < half.first;
            let near = |most| (1..=most).filter_map(&earlier).filter(|(_, i)| is(i));
            let found = near(PARTS_APART).find(|(_, i)| goes_on(program, i, half));
            found.or_else(|| near(HALVES_APART).find(|(_, i)| are_alike(program, i, half))).map(|(at, _)| at)
        };
        while let Some(earlier) = before(lead) {
            lead = earlier;
        }
        Site::Instruction(function, lead)
    };
    let mut all: Vec<Finding> = Vec::new();
    let mut known: HashMap<(FindingKind, Site, Option<Site>), usize> = HashMap::new();
    for f in findings {
        let (here, there) = (site(&f.place), f.race.as_ref().map(|r| site(&r.other)));
        // Which of the two came first depends on the scheduler.
        let key = match there {
            Some(there) => (f.kind, here.min(there), Some(here.max(there))),
            None => (f.kind, here, None),
        };
        match known.get(&key).and_then(|i| all.get_mut(*i)) {
            Some(mine) => {
                let order = |f: &Finding| (f.group[2], f.group[1], f.group[0], f.thread, f.channel);
                let mut other = f;
                if order(&other) < order(mine) {
                    std::mem::swap(mine, &mut other);
                }
                mine.count += other.count;
                mine.early += other.early;
                mine.instructions.extend(other.instructions);
                mine.instructions.sort_unstable();
                mine.instructions.dedup();
            }
            None => {
                known.insert(key, all.len());
                all.push(f);
            }
        }
    }
    all
}

/// What findings are told apart by: function, and line or instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Site {
    Line(usize, SourceLine),
    Instruction(usize, u32),
}

/// How far the halves of an access are from each other: the second one's surface is moved in between.
const HALVES_APART: u32 = 2;
/// The same of halves whose registers show that they are: the second one's addresses are computed in between.
const PARTS_APART: u32 = 16;

/// The messages of two instructions, if they are of channels that have an address each.
fn messages<'a>(p: &'a Program, a: &Inst, b: &Inst) -> Option<(&'a Simt, &'a Simt)> {
    let message = |i: &Inst| p.messages().get(i.aux as usize).filter(|_| i.op == Op::Message);
    match (message(a)?, message(b)?) {
        (Message::Simt(a), Message::Simt(b)) => Some((a, b)),
        _ => None,
    }
}

/// May the second of two instructions be the other half of an access? Not if they move different things.
fn are_alike(p: &Program, a: &Inst, b: &Inst) -> bool {
    messages(p, a, b).is_none_or(|(a, b)| {
        (a.write, a.element, a.slot, a.elements) == (b.write, b.element, b.slot, b.elements)
    })
}

/// Does the second of two instructions go on where the first one's channels end, in registers too?
fn goes_on(p: &Program, a: &Inst, b: &Inst) -> bool {
    let Some((first, second)) = messages(p, a, b) else { return false };
    let registers = u32::from(b.first - a.first) * u32::from(first.slot);
    are_alike(p, a, b)
        && first.data.zip(second.data).is_some_and(|(f, s)| f.checked_add(registers) == Some(s))
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ([x, y, z], p) = (self.group, &self.place);
        write!(f, "{}: {} (instruction ${} of `{}`, ", p.kernel, self.message(), p.instruction, p.function)?;
        match &self.race {
            None => write!(f, "channel {}, thread {} of group {x},{y},{z}; ", self.channel, self.thread)?,
            Some(race) => {
                let [u, v, w] = race.other_group;
                write!(
                    f,
                    "thread {} of group {x},{y},{z} {} it, instruction ${} of `{}`, thread {} of group {u},{v},{w} \
                     {} it; ",
                    self.thread,
                    race.access,
                    race.other.instruction,
                    race.other.function,
                    race.other_thread,
                    race.other_access
                )?;
            }
        }
        write!(f, "{} times)", self.count)
    }
}
