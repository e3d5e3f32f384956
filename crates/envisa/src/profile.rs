//! Profiles: the cost of each line and instruction of a kernel.

use crate::fault::Place;
use crate::kernel::Code;
use crate::source::{MAX_LINE, on_one_line};
use envisa_diag::FileId;
pub use envisa_sanitize::profile::Counts;
use envisa_sanitize::profile::{self, BANK_BYTES, BANKS, CACHE_LINE, SpanKind};
use serde::Serialize;
use std::collections::BTreeMap;

/// The profile of a run.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Profile {
    /// The kernel.
    pub kernel: String,
    /// The platform.
    pub platform: &'static str,
    /// Work-items.
    pub work_items: u64,
    /// Thread groups.
    pub groups: u64,
    /// Threads.
    pub threads: u64,
    /// The model by which costs are counted.
    pub model: Model,
    /// All instructions together.
    pub total: Counts,
    /// Lines of the source, those with the most executed instructions first; empty if the module records no lines.
    pub lines: Vec<LineProfile>,
    /// Instructions that were executed, the most frequent first.
    pub instructions: Vec<InstructionProfile>,
    /// The texts that `lines` are of, as far as they were given.
    #[serde(skip)]
    pub texts: Vec<ProfiledText>,
    /// The timeline of threads, if the launch recorded it.
    #[serde(skip)]
    pub trace: Option<Trace>,
}

/// The model by which costs are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Model {
    /// Bytes of a cache line.
    pub cache_line: u64,
    /// Banks of shared local memory.
    pub banks: usize,
    /// Bytes that a bank gives at once.
    pub bank_bytes: u64,
}

/// The model of every platform.
const MODEL: Model = Model { cache_line: CACHE_LINE, banks: BANKS, bank_bytes: BANK_BYTES };

/// A line of the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct LineProfile {
    /// The file, as it was given, or as the module names it. A name from a module is untrusted input.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The text of the line, if it is known.
    pub text: Option<String>,
    /// What its instructions did.
    #[serde(flatten)]
    pub counts: Counts,
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct InstructionProfile {
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// The instruction as it is written, or as its program says it where that is binary.
    pub text: String,
    /// What it did.
    #[serde(flatten)]
    pub counts: Counts,
}

/// A text with lines that are profiled.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ProfiledText {
    /// Its name, as in [`LineProfile::file`].
    pub file: String,
    /// Its lines.
    pub lines: Vec<String>,
}

/// A timeline of the threads of the first groups. Its unit of time is an executed instruction: each thread of a group
/// executes one per step, and threads continue after a barrier when the last one has arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Trace {
    /// Threads by group.
    pub threads: Vec<TraceThread>,
    /// The number of groups that it does not contain.
    pub groups_left_out: u64,
    /// The number of spans that it does not contain.
    pub spans_left_out: u64,
}

/// The timeline of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TraceThread {
    /// Its group.
    pub group: [u32; 3],
    /// The thread in its group.
    pub thread: u32,
    /// When it ended.
    pub end: u64,
    /// Its spans, ordered by their start.
    pub spans: Vec<TraceSpan>,
}

/// A span of time.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TraceSpan {
    /// From.
    pub start: u64,
    /// To.
    pub end: u64,
    /// `run`, `barrier`, `call`.
    pub what: &'static str,
    /// Of waits the barrier; of what else the first instruction.
    pub place: Place,
}

/// Lines of all texts that are kept.
const MAX_LINES: usize = 1 << 16;

impl Profile {
    pub(crate) fn new(code: &Code, mut seen: profile::Profile, work_items: u64) -> Profile {
        let trace = seen.take_trace().map(|t| trace(code, t));
        let program = code.program();
        let mut places: BTreeMap<(u16, u32), (usize, Counts)> = BTreeMap::new();
        for (pc, (i, c)) in program.code().iter().zip(seen.counts()).enumerate() {
            if c.executed == 0 {
                continue;
            }
            places.entry((i.function, i.source)).or_insert((pc, Counts::default())).1.add(c);
        }
        let mut total = Counts::default();
        let mut lines: BTreeMap<(String, u32), (Option<String>, Counts)> = BTreeMap::new();
        let mut instructions = Vec::new();
        for (pc, counts) in places.values() {
            let place = at(code, *pc);
            total.add(counts);
            if let Some(line) = &place.source {
                let entry = lines.entry((line.file.clone(), line.line));
                entry.or_insert_with(|| (line.text.clone(), Counts::default())).1.add(counts);
            }
            let text = written(code, *pc, &place);
            instructions.push(InstructionProfile { place, text, counts: *counts });
        }
        let mut lines: Vec<LineProfile> = lines
            .into_iter()
            .map(|((file, line), (text, counts))| LineProfile { file, line, text, counts })
            .collect();
        lines.sort_by_key(|l| std::cmp::Reverse(l.counts.executed));
        instructions.sort_by_key(|i| std::cmp::Reverse(i.counts.executed));
        Profile {
            kernel: code.name.clone(),
            platform: program.platform().name(),
            work_items,
            groups: seen.groups(),
            threads: seen.threads(),
            model: MODEL,
            total,
            texts: texts(code, &instructions),
            lines,
            instructions,
            trace,
        }
    }
}

fn at(code: &Code, pc: usize) -> Place {
    let program = code.program();
    let Some(i) = program.code().get(pc) else { return Place::new(code, "", 0, envisa_isa::Span::NONE) };
    let function = program.functions().get(usize::from(i.function)).map_or("", |f| f.name.as_str());
    Place::new(code, function, i.source, i.span)
}

/// An instruction as it is written.
fn written(code: &Code, pc: usize, place: &Place) -> String {
    place.written(code).unwrap_or_else(|| on_one_line(&code.program().line(pc)))
}

/// The texts that instructions were compiled from.
fn texts(code: &Code, instructions: &[InstructionProfile]) -> Vec<ProfiledText> {
    let mut files: Vec<FileId> = instructions.iter().filter_map(|i| i.place.quoted.map(|q| q.0)).collect();
    files.sort_unstable();
    files.dedup();
    let mut left = MAX_LINES;
    let mut all = Vec::new();
    for file in files.into_iter().filter_map(|id| code.files.get(id)) {
        let count = (file.line_count() as usize).min(left);
        left -= count;
        let line = |n| file.line_text(n).chars().take(MAX_LINE).collect();
        let name = crate::source::shown_name(file.name());
        all.push(ProfiledText { file: name, lines: (1..=count as u32).map(line).collect() });
    }
    all
}

fn trace(code: &Code, t: profile::Trace) -> Trace {
    let span = |s: profile::Span| TraceSpan {
        start: s.start,
        end: s.end,
        what: match s.kind {
            SpanKind::Run => "run",
            SpanKind::Wait => "barrier",
            SpanKind::Call => "call",
        },
        place: at(code, s.pc as usize),
    };
    let thread = |t: profile::ThreadTrace| {
        let mut spans: Vec<TraceSpan> = t.spans.into_iter().map(span).collect();
        spans.sort_by_key(|s| (s.start, std::cmp::Reverse(s.end)));
        TraceThread { group: t.group, thread: t.thread, end: t.end, spans }
    };
    Trace {
        threads: t.threads.into_iter().map(thread).collect(),
        groups_left_out: t.groups_left_out,
        spans_left_out: t.spans_left_out,
    }
}
