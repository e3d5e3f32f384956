//! Two builds of a kernel side by side: where their results part, and by which instruction.
//!
//! Both are launched on a [`Stage`] of their own, with the same inputs. [`diff`] runs both to their ends, compares what is
//! in their buffers, and finds the first store that differs. The group that made it is then run again on both sides and
//! kept, event by event ([`trace`]):
//!
//! - Where the two are nearly the same code ([`lockstep`]), their threads are followed event by event, and the first that
//!   makes another value, runs for other channels or goes elsewhere is named.
//! - Where they are not ([`values`]), what a store was made of is followed back on both sides; a definition is named if its
//!   value is one that the other side never makes for this work-item, though it makes all that the value was made of.
//!
//! Floating-point results that differ by no more than what the roundings on both ways can add up to are told apart
//! ([`rounding`]).

mod lockstep;
mod rounding;
mod stores;
mod trace;
mod values;

use envisa::{Buffer, Stage};
use envisa_debug::session::{Focus, Options, Session, Stop};
use values::Slice;

/// What a buffer's elements are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    /// Integers, or bytes of anything, of so many bytes each.
    Bits(u32),
    /// Floats of so many bytes each: 2, 4 or 8.
    Float(u32),
}

impl Element {
    fn bytes(self) -> u32 {
        match self {
            Element::Bits(n) | Element::Float(n) => n.max(1),
        }
    }

    /// An element as people read it.
    fn show(self, bits: u64) -> String {
        match self {
            Element::Float(n) => format!("{:?} ({bits:#x})", rounding::float(bits, n)),
            Element::Bits(_) => format!("{bits} ({bits:#x})"),
        }
    }
}

/// A buffer that both sides have.
pub struct Watched {
    /// The argument's name.
    pub name: String,
    /// The buffers of the two sides.
    pub buffers: [Buffer; 2],
    /// Its elements.
    pub element: Element,
}

/// Where an instruction was executed, and what it did.
#[derive(Clone, PartialEq, Debug)]
pub struct Executed {
    /// 0 or 1: which side.
    pub side: usize,
    /// File and line of the source, if known.
    pub line: Option<String>,
    /// The instruction, as vISA.
    pub instruction: String,
    /// Index of the instruction in its function's text.
    pub source: u32,
    /// The work-item, or the thread and lane.
    pub who: String,
    /// What it did, in words: `gives 7`.
    pub did: String,
}

/// What differs.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    /// In words, one line for each buffer, fault, or text that differs.
    pub results: Vec<String>,
    /// The first store that differs, on the sides that have it.
    pub store: Vec<Executed>,
    /// What was stored, in words.
    pub stored: String,
    /// The definitions that the difference begins with.
    pub origins: Vec<Executed>,
    /// How they were found, and what one should know.
    pub notes: Vec<String>,
    /// Every difference is one of floating-point results that rounding explains.
    pub rounding: bool,
}

/// Most instructions that a side may execute.
const MOST: u64 = 1 << 31;

/// Compares two launches of the same sizes with the same inputs; `None` if their results are the same.
///
/// # Errors
/// A launch that does not begin or does not end, or a group too long to be kept, in a sentence.
pub fn diff(a: &Stage<'_>, b: &Stage<'_>, watched: &[Watched]) -> Result<Option<Difference>, String> {
    let mut sides = [new_session(a)?, new_session(b)?];
    let mut found = Difference::default();
    let mut ends = Vec::new();
    let mut contents: Vec<Vec<Vec<u8>>> = Vec::new();
    for (side, s) in sides.iter_mut().enumerate() {
        while !s.is_over() {
            match s.resume() {
                _ if s.paused.clock() > MOST => {
                    return Err(format!("{} executed {MOST} instructions and did not end", NAMES[side]));
                }
                Stop::Fault(f) => ends.push((side, f.to_string())),
                _ => {}
            }
        }
        contents.push(watched.iter().map(|w| w.buffers[side].to_vec()).collect());
    }
    for (side, fault) in &ends {
        found.results.push(format!("{} faults: {fault}", NAMES[*side]));
    }
    let same_end = ends.len() != 1;
    if a.printed() != b.printed() {
        found.results.push("the kernels print different text".into());
    }
    let mut targets = Vec::new();
    for (i, w) in watched.iter().enumerate() {
        let (left, right) = (&contents[0][i], &contents[1][i]);
        let size = w.element.bytes() as usize;
        let differ: Vec<usize> = (0..left.len().min(right.len()).div_ceil(size))
            .filter(|e| {
                let part = |all: &[u8]| all[e * size..((e + 1) * size).min(all.len())].to_vec();
                part(left) != part(right)
            })
            .collect();
        let Some(first) = differ.first() else { continue };
        let value = |all: &[u8]| trace::number(&all[first * size..((first + 1) * size).min(all.len())]);
        found.results.push(format!(
            "`{}`: {} of {} elements differ; [{first}] is {} in A and {} in B",
            w.name,
            differ.len(),
            left.len() / size,
            w.element.show(value(left)),
            w.element.show(value(right)),
        ));
        targets.extend(differ.iter().map(|e| (i, e * size)));
    }
    if found.results.is_empty() {
        return Ok(None);
    }
    if targets.is_empty() {
        found.notes.push(if same_end {
            "no buffer differs: there is no store to follow back".into()
        } else {
            "no buffer differs before the fault: `envisa debug` shows what led to it".into()
        });
        return Ok(Some(found));
    }
    origin_of_difference(&mut sides, watched, &targets, &mut found)?;
    Ok(Some(found))
}

/// What the sides are called.
pub const NAMES: [&str; 2] = ["A", "B"];

/// Bytes of the log: it is read after each instruction, and forgotten.
const HISTORY: u64 = 8 << 20;

fn new_session<'s, 'a>(stage: &'s Stage<'a>) -> Result<Session<'s, 'a>, String> {
    let options = Options { history: HISTORY, ..Options::default() };
    Session::new(stage, options).map_err(|e| e.to_string())
}

/// The first store that differs, and what the difference begins with.
fn origin_of_difference(
    sides: &mut [Session<'_, '_>; 2],
    watched: &[Watched],
    targets: &[(usize, usize)],
    found: &mut Difference,
) -> Result<(), String> {
    let first = stores::first_different_stores(sides, watched, targets)?;
    let mut traces = Vec::new();
    for (side, s) in sides.iter_mut().enumerate() {
        let (began, until) = first.groups[side];
        traces.push(trace::record_trace(s, began, until)?);
    }
    let [ta, tb] = &traces[..] else { return Ok(()) };
    let slices = [Slice::new(&sides[0], ta), Slice::new(&sides[1], tb)];
    let rounded: Vec<Option<Rounded>> =
        first.stores.iter().take(MOST_JUDGED).map(|s| judge_rounding(s, &slices, watched)).collect();
    let explained = rounded.iter().flatten().filter(|r| r.explains).count();
    // What rounding does not explain is worth more than what came before it.
    let chosen = rounded.iter().position(|r| !r.is_some_and(|r| r.explains)).unwrap_or(0);
    let Some(parted) = first.stores.get(chosen) else { return Ok(()) };
    found.rounding = explained == targets.len();
    if explained > 0 {
        let of = rounded.len();
        found.notes.push(format!(
            "rounding explains {explained} of the {of} differences that were examined (contraction, another order of operations)"
        ));
    }
    if let Some(Rounded { bound, explains }) = rounded[chosen] {
        let does = if explains { "explains" } else { "does not explain" };
        found.notes.push(format!(
            "the roundings behind this store add up to at most {bound:.3e} on both sides: that {does} its difference"
        ));
    }
    let w = &watched[parted.buffer];
    let mut said = Vec::new();
    for (side, s) in sides.iter().enumerate() {
        match parted.sites[side] {
            Some(site) => {
                said.push(format!("{} in {}", w.element.show(site.value), NAMES[side]));
                let event = traces[side].event_at(site.clock);
                found.store.push(describe_event(s, side, event, site.lane, String::new()));
            }
            None => said.push(format!("nothing in {}", NAMES[side])),
        }
    }
    let element = parted.byte / w.element.bytes() as usize;
    found.stored = format!("`{}`[{element}]: {}", w.name, said.join(", "));
    let thread = parted.sites.iter().flatten().next().map_or(0, |s| s.thread);
    let mut notes = Vec::new();
    let near = lockstep::matching_instructions(sides);
    let near = near.and_then(|pairs| lockstep::first_difference(sides, [ta, tb], &pairs, thread, &mut notes));
    found.origins = near.unwrap_or_else(|| {
        let how = "the two builds have different code: the report names a definition whose value the other side never computes, although it computes all of its operands";
        notes = vec![how.into()];
        values::diverging_definitions(&slices, &parted.sites, &mut notes)
    });
    found.notes.append(&mut notes);
    Ok(())
}

/// Stores that are held against what rounding explains.
const MOST_JUDGED: usize = 256;

/// What is known of the roundings behind a store.
#[derive(Clone, Copy)]
struct Rounded {
    bound: f64,
    explains: bool,
}

fn judge_rounding(
    parted: &stores::DifferingStore,
    slices: &[Slice<'_, '_, '_>; 2],
    watched: &[Watched],
) -> Option<Rounded> {
    let Element::Float(bytes) = watched[parted.buffer].element else { return None };
    let [Some(x), Some(y)] = parted.sites else { return None };
    let bound = rounding::rounding_bound([&slices[0], &slices[1]], [x, y], bytes)?;
    Some(Rounded { bound, explains: rounding::is_within_bound(x.value, y.value, bytes, bound) })
}

/// An event in words.
fn describe_event(
    s: &Session<'_, '_>,
    side: usize,
    event: Option<&trace::Event>,
    lane: u32,
    did: String,
) -> Executed {
    let pc = event.map_or(0, |e| e.pc);
    let thread = event.map_or(0, |e| usize::from(e.thread));
    let written = s.stage.written(pc).unwrap_or_default();
    let instruction = written.split("///").next().unwrap_or_default().trim().to_owned();
    let line = s.lines.of(pc).filter(|_| s.lines.compiled).map(|l| {
        let name = s.lines.files.get(l.file).map_or("", |f| f.name.rsplit('/').next().unwrap_or(&f.name));
        format!("{name}:{}", l.line)
    });
    let source = s.program().code().get(pc as usize).map_or(0, |i| i.source);
    let who = s.lane_name(Focus { thread, lane });
    Executed { side, line, instruction, source, who, did }
}
