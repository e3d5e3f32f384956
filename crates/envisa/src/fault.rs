//! Faults: why a launch ended early, with everything that is known about it.

use crate::finding::Finding;
use crate::kernel::Code;
use crate::observe::Space;
use crate::source::on_one_line;
use crate::work_items::{WorkItem, WorkItems};
use envisa_diag::{Diagnostic, FileId};
use envisa_isa::Span;
use envisa_machine::thread::Status;
use envisa_machine::trap::{self, Cause, Trap};
use envisa_sanitize::Elements;
use serde::Serialize;
use std::fmt;

/// A fault that ended a launch: its kind, its place, and the thread that caused it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Fault {
    /// The code that `envisa explain` has a page on: `F0001`.
    pub code: &'static str,
    /// What went wrong.
    pub kind: FaultKind,
    /// The fault in one sentence, with addresses and sizes.
    pub message: String,
    /// The access that failed, for faults of memory.
    pub access: Option<Access>,
    /// Where it happened.
    #[serde(flatten)]
    pub place: Place,
    /// The channel that caused the fault, if it was one channel.
    pub channel: Option<u32>,
    /// The work-item that this channel is, in kernels whose channels are work-items.
    pub work_item: Option<WorkItem>,
    /// The active channels, as a mask.
    pub active_channels: u32,
    /// The thread in its group.
    pub thread: u32,
    /// The group.
    pub group: [u32; 3],
    /// The places of other threads, if they are known: those of the group for barriers and limits, and those of all
    /// running groups if a launch is cancelled.
    pub threads: Vec<ThreadPlace>,
    /// The calls that led to the place, innermost first. Of very deep calls, only the innermost.
    pub calls: Vec<Place>,
    /// What the checks found that has the same cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Finding>,
}

/// What went wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FaultKind {
    /// An access outside of every allocation.
    OutOfBounds,
    /// An access at an address without the alignment that the instruction's page requires.
    Misaligned,
    /// An address register points outside of every variable.
    RegisterAddress,
    /// An instruction that envisa does not execute.
    Unsupported,
    /// Calls nested too deep.
    CallDepth,
    /// An indirect call of an address that is not a function's.
    BadCall,
    /// A jump table has no such entry.
    JumpTable,
    /// The code ended without a return.
    MissingReturn,
    /// More branches and calls than the launch allows.
    Limit,
    /// A symbol without an address.
    UndefinedSymbol,
    /// The host has too little memory for a group.
    HostMemory,
    /// A barrier that cannot complete.
    Deadlock,
    /// A write to read-only memory.
    ReadOnly,
    /// The launch was cancelled.
    Cancelled,
}

impl FaultKind {
    /// Its code.
    pub const fn code(self) -> &'static str {
        match self {
            FaultKind::OutOfBounds => "F0001",
            FaultKind::Misaligned => "F0010",
            FaultKind::RegisterAddress => "F0011",
            FaultKind::Unsupported => "F0100",
            FaultKind::CallDepth => "F0012",
            FaultKind::BadCall => "F0013",
            FaultKind::JumpTable => "F0014",
            FaultKind::MissingReturn => "F0015",
            FaultKind::Limit => "F0016",
            FaultKind::UndefinedSymbol => "F0017",
            FaultKind::HostMemory => "F0101",
            FaultKind::Deadlock => "F0018",
            FaultKind::ReadOnly => "F0019",
            FaultKind::Cancelled => "F0020",
        }
    }
}

/// An access of memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Access {
    /// Which memory.
    pub space: Space,
    /// The address; in memory other than the global one, the offset.
    pub address: u64,
    /// Bytes.
    pub bytes: u32,
    /// Whether it reads or writes; `None` if the fault is the same for both.
    pub kind: Option<AccessKind>,
    /// The required alignment, for a misaligned access.
    pub alignment: Option<u32>,
    /// The allocation that the kernel probably meant to access.
    pub nearest: Option<Nearest>,
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessKind {
    /// It reads.
    Read,
    /// It writes. In faults, also an access that reads and writes.
    Write,
    /// It reads and writes in one step.
    Atomic,
}

/// An allocation near an address.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Nearest {
    /// The name of the allocation.
    pub name: String,
    /// How far the address is from it: 0 inside, positive past its end (1: the first byte behind it), negative
    /// before its start.
    pub distance: i64,
}

/// So many bytes beside a buffer, an access is one of an element that it does not have.
const NEAR: u64 = 1 << 20;

/// A place in a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Place {
    /// The kernel.
    pub kernel: String,
    /// The function: the kernel itself, or one that it calls.
    pub function: String,
    /// Index of the instruction in its function.
    pub instruction: u32,
    /// The line of vISA.
    pub visa: Option<Location>,
    /// The line of the source from which the kernel was compiled, if the vISA records it.
    pub source: Option<SourceLine>,
    /// The inlined functions to which the line belongs, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inlined: Vec<Inlined>,
    #[serde(skip)]
    pub(crate) file: FileId,
    #[serde(skip)]
    pub(crate) span: Span,
    /// Where the line of the source stands, if its text is known.
    #[serde(skip)]
    pub(crate) quoted: Option<(FileId, Span)>,
}

/// Where a function was inlined.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Inlined {
    /// The function.
    pub function: String,
    /// The lines that call it. If there are several, each may be the one, and the functions that contain them are unknown.
    pub from: Vec<SourceLine>,
    #[serde(skip)]
    pub(crate) quoted: Option<(FileId, Span)>,
}

/// A line of a source.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
pub struct SourceLine {
    /// The file, as it was given, or as the module names it. A name from a module is untrusted input.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The text of the line, if the file was given.
    pub text: Option<String>,
}

/// A place in a text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Location {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
}

/// Where a thread was.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct ThreadPlace {
    /// Its group.
    pub group: [u32; 3],
    /// The thread in its group.
    pub thread: u32,
    /// What the thread was doing.
    pub state: ThreadState,
    /// The instruction it waits at, or the next.
    #[serde(flatten)]
    pub place: Place,
    /// Its active channels.
    pub active_channels: u32,
}

/// What a thread was doing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ThreadState {
    /// It can run.
    Ready,
    /// It waits at the barrier.
    Barrier,
    /// It yields to other threads of its group.
    Yielded,
    /// It waits at the split barrier.
    SplitBarrier,
    /// It waits at a named barrier.
    NamedBarrier,
    /// It waits for the thread it is fused with.
    Fused,
    /// It has ended.
    Done,
    /// It was stopped by the fault.
    Faulted,
}

impl Place {
    pub(crate) fn new(code: &Code, function: &str, instruction: u32, span: Span) -> Place {
        let file = code.file_of(function);
        let visa = code.files.get(file).filter(|f| !f.is_binary() && span != Span::NONE).map(|f| {
            let at = f.line_col(span.start);
            Location { file: f.name().to_owned(), line: at.line, column: at.column }
        });
        let (source, quoted) = match crate::source::source_line_of(code, function, instruction) {
            Some((line, quoted)) => (Some(line), quoted),
            None => (None, None),
        };
        let inlined = crate::source::inlined(code, function, instruction);
        Place {
            kernel: code.name.clone(),
            function: function.to_owned(),
            instruction,
            visa,
            source,
            inlined,
            file,
            span,
            quoted,
        }
    }

    /// The instruction as it is written, if it is text: in one line, and not without end.
    pub(crate) fn written(&self, code: &Code) -> Option<String> {
        let file = self.visa.as_ref().and_then(|_| code.files.get(self.file))?;
        Some(on_one_line(file.lossy(self.span).trim()))
    }

    /// Adds the place that a diagnostic is about: the line of the source if its text is known, with the vISA under it,
    /// else the vISA.
    pub(crate) fn mark(&self, d: Diagnostic, text: impl Into<String>) -> Diagnostic {
        let text = text.into();
        match self.quoted {
            Some((file, span)) => d.primary(file, span, text).secondary(self.file, self.span, "its vISA"),
            None => self.unquoted(d.primary(self.file, self.span, text)),
        }
    }

    /// Adds a place that explains a diagnostic.
    pub(crate) fn mark_other(&self, d: Diagnostic, text: impl Into<String>) -> Diagnostic {
        let text = text.into();
        match self.quoted {
            Some((file, span)) => d.secondary(file, span, text),
            None => self.unquoted(d.secondary(self.file, self.span, text)),
        }
    }

    /// Adds the functions that it was inlined through.
    pub(crate) fn mark_inlined(&self, mut d: Diagnostic) -> Diagnostic {
        for Inlined { function, from, quoted } in &self.inlined {
            d = match (from.as_slice(), quoted) {
                ([_], Some((file, span))) => {
                    d.secondary(*file, *span, format!("`{function}` is inlined here"))
                }
                (all, _) => {
                    let lines: Vec<String> = all.iter().map(|l| format!("{}:{}", l.file, l.line)).collect();
                    let note = format!("`{function}` is inlined where it is called: {}", lines.join(" or "));
                    if d.notes.iter().any(|n| *n == note) { d } else { d.note(note) }
                }
            };
        }
        d
    }

    fn unquoted(&self, d: Diagnostic) -> Diagnostic {
        let Some(source) = &self.source else { return d };
        let note =
            format!("instruction ${} was compiled from {}:{}", self.instruction, source.file, source.line);
        if d.notes.iter().any(|n| *n == note) { d } else { d.note(note) }
    }
}

impl Fault {
    /// From what ended the launch, and what the groups did that ran beside.
    pub(crate) fn new(code: &Code, trap: &Trap, others: &[Box<Trap>]) -> Fault {
        let (kind, access) = kind(&trap.cause);
        let place = |function: &str, instruction, span| Place::new(code, function, instruction, span);
        let thread = |group: [u32; 3], s: &trap::ThreadState| ThreadPlace {
            group,
            thread: s.thread,
            state: state(s.status),
            place: place(&s.function, s.instruction, s.span),
            active_channels: s.mask,
        };
        Fault {
            code: kind.code(),
            kind,
            message: trap.cause.to_string(),
            access,
            place: place(&trap.function, trap.instruction, trap.span),
            channel: trap.channel,
            work_item: None,
            active_channels: trap.mask,
            thread: trap.thread,
            group: trap.group,
            threads: std::iter::once(trap)
                .chain(others.iter().map(|t| &**t))
                .flat_map(|t| t.threads.iter().map(move |s| thread(t.group, s)))
                .collect(),
            calls: trap.calls.iter().map(|c| place(&c.function, c.instruction, c.span)).collect(),
            also: Vec::new(),
        }
    }

    /// In a sentence: of an access, with the array or the variable that was meant, where the checks know it.
    pub fn message(&self) -> String {
        let access = ["reads ", "writes ", "accesses "].iter().find_map(|w| self.message.strip_prefix(w));
        match (self.also.first(), access) {
            (Some(found), Some(access)) => format!("{}: {access}", found.message()),
            _ => self.message.clone(),
        }
    }

    /// With the work-item that is to blame, and the element of a buffer or array near which its access was.
    pub(crate) fn with(mut self, items: Option<&WorkItems>, elements: &[Elements]) -> Fault {
        // What all of a thread access together is also the first one's that is active.
        let first = self.active_channels.trailing_zeros().min(31);
        let active = |c: &u32| self.active_channels >> c.min(&31) & 1 != 0;
        let channel = self.channel.map(|c| Some(c).filter(active).unwrap_or(first));
        self.work_item = channel.and_then(|channel| Some(items?.at(self.group, self.thread, channel)));
        if let (Some(access), FaultKind::OutOfBounds) = (&self.access, self.kind)
            && access.space == Space::Global
            && let Some(near) =
                access.nearest.as_ref().filter(|near| (1..NEAR).contains(&near.distance.unsigned_abs()))
        {
            let beside = |e: &&Elements| match near.distance {
                n if n > 0 => e.range.end == access.address.wrapping_sub(n.unsigned_abs() - 1),
                n => e.range.start == access.address.wrapping_add(n.unsigned_abs()),
            };
            if let Some(e) = elements.iter().filter(|e| !e.local).find(beside) {
                let element = e.at(access.address.wrapping_sub(e.range.start) as i64);
                self.message.push_str(&format!(" ({element})"));
            }
        }
        self
    }

    /// The fault as a diagnostic, which refers to the [files](crate::Kernel::files) of its kernel.
    pub fn diagnostic(&self) -> Diagnostic {
        let label = match (self.work_item, self.channel) {
            (Some(item), _) => item.to_string(),
            (None, channel) => channel.map_or(String::new(), |c| format!("channel {c}")),
        };
        let mut d = self.place.mark(Diagnostic::error(self.code, self.message()), label);
        let [x, y, z] = self.group;
        d = d.note(format!(
            "kernel `{}`, group ({x}, {y}, {z}), thread {}, instruction ${}, active channels {:#x}",
            self.place.kernel, self.thread, self.place.instruction, self.active_channels
        ));
        d = self.place.mark_inlined(d);
        // Threads at one place are told together. The thread that faulted has the first mark.
        let mut together: Vec<(&ThreadPlace, Vec<u32>)> = Vec::new();
        let own = |t: &&ThreadPlace| {
            t.state == ThreadState::Faulted && (t.group, t.thread) == (self.group, self.thread)
        };
        for t in self.threads.iter().filter(|t| !own(t)) {
            let same = |a: &ThreadPlace| {
                (a.group, a.state, a.place.instruction, &a.place.function)
                    == (t.group, t.state, t.place.instruction, &t.place.function)
            };
            match together.iter_mut().find(|(a, _)| same(a)) {
                Some((_, threads)) => threads.push(t.thread),
                None => together.push((t, vec![t.thread])),
            }
        }
        for (t, threads) in together.iter().take(16) {
            let who = match &threads[..] {
                [one] => format!("thread {one}"),
                many => format!("each of threads {}", ranges(many)),
            };
            let who = match t.group {
                g if g == self.group => who,
                [x, y, z] => format!("{who} of group ({x}, {y}, {z})"),
            };
            let what = t.state.words();
            if t.state == ThreadState::Done {
                d = d.note(format!("{who} {what}"));
                continue;
            }
            let at = if t.state == ThreadState::Ready { ", next here" } else { " here" };
            d = t.place.mark_other(d, format!("{who} {what}{at}"));
        }
        for call in &self.calls {
            d = call.mark_other(d, format!("called from here, in `{}`", call.function));
        }
        for found in &self.also {
            let (times, code) = (found.count, found.code);
            let times = if times == 1 { "once".to_owned() } else { format!("{times} times in all") };
            d = d.note(format!("this was found {times}: see {code}"));
        }
        d
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.group;
        let p = &self.place;
        write!(f, "{}: {} (instruction ${} of `{}`", p.kernel, self.message, p.instruction, p.function)?;
        if let Some(c) = self.channel {
            write!(f, ", channel {c}")?;
        }
        write!(f, ", thread {} of group {x},{y},{z})", self.thread)
    }
}

impl std::error::Error for Fault {}

impl ThreadState {
    fn words(self) -> &'static str {
        match self {
            ThreadState::Ready => "can go on",
            ThreadState::Barrier => "waits at the barrier",
            ThreadState::Yielded => "lets others go on",
            ThreadState::SplitBarrier => "waits at the split barrier",
            ThreadState::NamedBarrier => "waits at a named barrier",
            ThreadState::Fused => "waits for the thread it is fused with",
            ThreadState::Done => "has ended",
            ThreadState::Faulted => "was stopped",
        }
    }
}

fn state(status: Status) -> ThreadState {
    match status {
        Status::Ready => ThreadState::Ready,
        Status::Barrier => ThreadState::Barrier,
        Status::Yielded => ThreadState::Yielded,
        Status::SplitWait => ThreadState::SplitBarrier,
        Status::Named(_) => ThreadState::NamedBarrier,
        Status::Fused => ThreadState::Fused,
        Status::Done => ThreadState::Done,
        Status::Trapped => ThreadState::Faulted,
    }
}

fn kind(cause: &Cause) -> (FaultKind, Option<Access>) {
    let kind = match cause {
        Cause::Memory { space, address, bytes, write, nearest } => {
            let nearest = nearest.as_ref().map(|(name, distance)| Nearest {
                name: name.clone(),
                distance: (*distance).clamp(i64::MIN.into(), i64::MAX.into()) as i64,
            });
            let kind = Some(if *write { AccessKind::Write } else { AccessKind::Read });
            let (space, alignment) = ((*space).into(), None);
            let access = Access { space, address: *address, bytes: *bytes, kind, alignment, nearest };
            return (FaultKind::OutOfBounds, Some(access));
        }
        Cause::ReadOnly { address, bytes, name } => {
            let nearest = Some(Nearest { name: name.clone(), distance: 0 });
            let kind = Some(AccessKind::Write);
            let (space, alignment) = (Space::Global, None);
            let access = Access { space, address: *address, bytes: *bytes, kind, alignment, nearest };
            return (FaultKind::ReadOnly, Some(access));
        }
        Cause::Misaligned { space, address, bytes, align } => {
            let (space, alignment) = ((*space).into(), Some(*align));
            let (kind, nearest) = (None, None);
            let access = Access { space, address: *address, bytes: *bytes, kind, alignment, nearest };
            return (FaultKind::Misaligned, Some(access));
        }
        Cause::Indirect { .. } => FaultKind::RegisterAddress,
        Cause::Unsupported { .. } => FaultKind::Unsupported,
        Cause::CallDepth => FaultKind::CallDepth,
        Cause::BadCall(_) => FaultKind::BadCall,
        Cause::BadIndex(_) => FaultKind::JumpTable,
        Cause::FellOff => FaultKind::MissingReturn,
        Cause::Limit => FaultKind::Limit,
        Cause::Symbol(_) => FaultKind::UndefinedSymbol,
        Cause::NoMemory { .. } => FaultKind::HostMemory,
        Cause::Deadlock => FaultKind::Deadlock,
        Cause::Cancelled => FaultKind::Cancelled,
    };
    (kind, None)
}

/// `0-3, 7`, of ascending numbers.
fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for n in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *n => *last = *n,
            _ => parts.push((*n, *n)),
        }
    }
    let one = |(a, b): &(u32, u32)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    parts.iter().map(one).collect::<Vec<_>>().join(", ")
}
