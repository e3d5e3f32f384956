//! Kernels of foreign suites side by side: the same launch on envisa's driver, PoCL and Intel's CPU runtime, each in a process
//! of its own, alternately in one run.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use envisa_harness::values::{ElemType, HostValue};
use serde::{Deserialize, Serialize};

use super::replay::{Replay, Side};
use super::suites::{self, Sizes, Source};
use crate::compare::{Check, Comparison, compare};
use crate::launch::ArgValue;
use crate::machine::Machine;
use crate::peer::Served;

/// How often a launch is repeated: rounds of all sides, and how long a side repeats it in one, with putting memory back.
pub type Effort = (usize, Duration);
/// As often as times need.
pub const ROUNDS: Effort = (5, Duration::from_millis(40));
/// As often as results need.
pub const ONCE: Effort = (1, Duration::ZERO);
/// After so long no further round begins: what takes seconds varies little.
const ENOUGH: Duration = Duration::from_secs(8);
/// How long building and one launch may take, or a round.
const LIMIT: Duration = Duration::from_secs(60);
/// The least ratio to the better peer of which nothing has to be said.
pub const NO_WORSE: f64 = 0.9;

/// A kernel, and what it took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// SUITE/PROGRAM/KERNEL.
    pub name: String,
    /// Work-items, and those of a group.
    pub sizes: String,
    /// By side: the least seconds of a launch, or why there are none.
    pub times: BTreeMap<String, Result<f64, String>>,
    /// Results that differ by more than the suite's tolerance.
    pub differs: Vec<String>,
    /// Why it cannot be repeated at all.
    pub failed: Option<String>,
}

impl Row {
    fn seconds(&self, side: Side) -> Option<f64> {
        self.times.get(side.name())?.as_ref().ok().copied()
    }

    /// A peer's time over envisa's: above one envisa is faster.
    pub fn ratio(&self, envisa: Side, peer: Side) -> Option<f64> {
        Some(self.seconds(peer)? / self.seconds(envisa)?)
    }

    /// The same of the better of PoCL and Intel's.
    pub fn of_the_better(&self) -> Option<f64> {
        let all = [Side::Pocl, Side::Intel].map(|p| self.ratio(Side::Envisa, p));
        all.into_iter().flatten().reduce(f64::min)
    }
}

/// A run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Where.
    pub machine: Machine,
    /// Sides, as they describe themselves.
    pub sides: BTreeMap<String, String>,
    /// Suites: name, repository and commit, licence, sizes, tolerance.
    pub suites: Vec<[String; 5]>,
    /// Kernels.
    pub rows: Vec<Row>,
}

impl Run {
    /// What must not be published: results that differ, where nothing is said of the buffer and the peer, and sides that
    /// failed at a kernel of which nothing is said.
    pub fn complaints(&self, explained: &BTreeMap<String, String>) -> Vec<String> {
        let wrong = |r: &Row| {
            let why = explained.get(&r.name).map(String::as_str);
            let envisa = [Side::Envisa, Side::EnvisaAvx2].into_iter();
            let failed = envisa
                .filter_map(|s| Some(format!("{}: {}", s.name(), r.times.get(s.name())?.as_ref().err()?)));
            let failed = failed.chain(r.failed.clone()).filter(|_| why.is_none());
            let differs = r.differs.iter().filter(|d| !why.is_some_and(|w| explains(w, d))).cloned();
            failed.chain(differs).map(|what| format!("{}: {what}", r.name)).collect::<Vec<_>>()
        };
        self.rows.iter().flat_map(wrong).collect()
    }
}

/// Does an explanation name the buffer of a difference, and the driver that differs? (Intel's held to AVX2 is Intel's, too.)
fn explains(why: &str, difference: &str) -> bool {
    let buffer = difference.split(['`', '[']).nth(1).unwrap_or(difference);
    let by = difference.rsplit(" by ").next().unwrap_or(difference);
    let drivers = [Side::Pocl, Side::Intel, Side::EnvisaAvx2].map(Side::name);
    let driver = drivers.into_iter().find(|d| by.starts_with(d));
    why.contains(&format!("`{buffer}`")) && driver.is_some_and(|d| why.contains(d))
}

/// Times all kept kernels whose name contains one of these.
///
/// # Errors
/// If there are none.
pub fn run(suites: &[Source], only: &[String], sides: &[Side], say: impl Fn(&str)) -> Result<Run, String> {
    let folder = suites::cache()?;
    let kept = suites::kept(suites, &folder, Sizes::Authors, only)?;
    let mut run =
        Run { machine: Machine::here(), sides: BTreeMap::new(), suites: Vec::new(), rows: Vec::new() };
    for k in &kept {
        let s = k.suite;
        if !run.suites.iter().any(|told| told[0] == s.name) {
            let commit = s.commit.get(..12).unwrap_or(&s.commit);
            let from = format!("{} at {commit}", s.repository);
            run.suites.push([
                s.name.clone(),
                from,
                s.licence.clone(),
                s.sizes.clone(),
                s.tolerance.to_string(),
            ]);
        }
        let command = |side: Side, out: &Path| side.command(&k.folder, &k.home, out);
        let row =
            one(k.name(), Replay::read(&k.folder), s.tolerance, command, (sides, ROUNDS), &mut run.sides);
        say(&line(&row));
        run.rows.push(row);
    }
    Ok(run)
}

/// A row as it is told while the run goes on.
pub fn line(row: &Row) -> String {
    let times: Vec<String> = row
        .times
        .iter()
        .map(|(side, t)| match t {
            Ok(s) => format!("{side} {}", crate::bench::time(*s)),
            Err(why) => format!("{side}: {why}"),
        })
        .collect();
    let better = row.of_the_better().map_or(String::new(), |r| format!("{r:.2} "));
    let wrong: Vec<&str> = row.differs.iter().chain(&row.failed).map(String::as_str).collect();
    format!("{better}{}: {} {}", row.name, times.join(", "), wrong.join("; "))
}

/// Times one launch on all sides. `command` starts a side's worker, which leaves its results in a folder.
pub fn one(
    name: String,
    replay: Result<Replay, String>,
    tolerance: f64,
    command: impl Fn(Side, &Path) -> Result<Command, String>,
    (sides, (rounds, window)): (&[Side], Effort),
    described: &mut BTreeMap<String, String>,
) -> Row {
    let mut row =
        Row { name, sizes: String::new(), times: BTreeMap::new(), differs: Vec::new(), failed: None };
    let replay = match replay {
        Ok(replay) => replay,
        Err(why) => {
            row.failed = Some(why);
            return row;
        }
    };
    let n = replay.launch.dims as usize;
    let text = |v: &[u64]| v[..n].iter().map(u64::to_string).collect::<Vec<_>>().join("×");
    row.sizes = format!("{} by {}", text(&replay.launch.global), text(&replay.launch.local));
    let mut served: Vec<(Side, Served)> = Vec::new();
    for side in sides {
        match start(|out| command(*side, out)) {
            Ok(s) => {
                described.entry(side.name().to_owned()).or_insert_with(|| s.describe.clone());
                served.push((*side, s));
            }
            Err(why) => {
                row.times.insert(side.name().to_owned(), Err(why));
            }
        }
    }
    let start = Instant::now();
    for round in 0..rounds {
        if round > 0 && start.elapsed() > ENOUGH {
            break;
        }
        for (side, worker) in &mut served {
            let name = side.name().to_owned();
            if matches!(row.times.get(&name), Some(Err(_))) {
                continue;
            }
            let least = row.seconds(*side).unwrap_or(f64::INFINITY);
            let sample = worker.order(window, LIMIT).map(|s| s.seconds.min(least));
            row.times.insert(name, sample);
        }
    }
    served.retain(|(side, _)| row.seconds(*side).is_some());
    row.differs = differences(&replay, &served, tolerance);
    row
}

fn start(command: impl FnOnce(&Path) -> Result<Command, String>) -> Result<Served, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let command = command(dir.path())?;
    Served::spawn(command, dir, LIMIT)
}

/// Compares what each side left, buffer by buffer, with what the first one left: numbers of floating-point types within the
/// tolerance, relative to the number or, of one that is nearly nothing among larger ones, to a thousandth of the largest;
/// all else byte for byte.
fn differences(replay: &Replay, served: &[(Side, Served)], tolerance: f64) -> Vec<String> {
    let mut all = Vec::new();
    let Some(((first, worker), others)) = served.split_first() else { return all };
    for (n, arg) in replay.launch.args.iter().enumerate() {
        if !matches!(arg.value, ArgValue::Buffer(_) | ArgValue::Image(..)) {
            continue;
        }
        let left = |worker: &Served| {
            let file = worker.folder().join(format!("{n}.bin"));
            std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))
        };
        for (side, other) in others {
            let (want, got) = match (left(worker), left(other)) {
                (Ok(want), Ok(got)) => (want, got),
                (Err(why), _) | (_, Err(why)) => {
                    all.push(why);
                    continue;
                }
            };
            if let Some(c) = difference(&want, &got, replay.numbers[n], tolerance)
                && let Some((at, want, got)) = &c.first
            {
                all.push(format!(
                    "`{}[{at}]` is {want} by {} and {got} by {}, {} of {} elements differ",
                    arg.name,
                    first.name(),
                    side.name(),
                    c.mismatches,
                    c.elements
                ));
            }
        }
    }
    all
}

/// How two buffers of numbers differ; bytes behind the last whole one are compared as such.
fn difference(want: &[u8], got: &[u8], elem: Option<ElemType>, tolerance: f64) -> Option<Comparison> {
    let elem = elem.unwrap_or(ElemType::U8);
    let whole = want.len() / elem.size() * elem.size();
    let of = |bytes: &[u8], elem: ElemType| HostValue {
        elem,
        shape: vec![(bytes.len() / elem.size()) as u64],
        bytes: bytes.to_vec(),
    };
    let parts = [(0..whole, elem), (whole..want.len(), ElemType::U8)];
    parts.into_iter().filter(|(r, _)| !r.is_empty()).find_map(|(r, elem)| {
        let (want, got) = (of(want.get(r.clone())?, elem), of(got.get(r).unwrap_or(&[]), elem));
        let c = compare(&want, &got, bound(&want, tolerance));
        (want.bytes != got.bytes && c.first.is_some()).then_some(c)
    })
}

fn bound(want: &HostValue, tolerance: f64) -> Check {
    if !want.elem.is_float() {
        return Check::Exact;
    }
    let finite = (0..want.len()).filter_map(|i| want.get_f64(i)).filter(|x| x.is_finite());
    let largest = finite.fold(0.0, |most: f64, x| most.max(x.abs()));
    Check::Bounds { rel: tolerance, abs: tolerance * largest * 1e-3 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(times: &[(Side, f64)]) -> Row {
        let times = times.iter().map(|(s, t)| (s.name().to_owned(), Ok(*t))).collect();
        Row { name: "a/b/c".into(), sizes: String::new(), times, differs: Vec::new(), failed: None }
    }

    #[test]
    fn the_better_peer_is_the_faster_one() {
        let r = row(&[(Side::Envisa, 2.0), (Side::Pocl, 8.0), (Side::Intel, 3.0)]);
        assert_eq!((r.ratio(Side::Envisa, Side::Pocl), r.of_the_better()), (Some(4.0), Some(1.5)));
        assert_eq!(row(&[(Side::Envisa, 2.0)]).of_the_better(), None);
    }

    #[test]
    fn what_differs_or_fails_is_not_published() {
        let mut r = row(&[(Side::Envisa, 1.0)]);
        r.differs.push("`x[3]` is 1 by envisa and 2 by PoCL, 1 of 4 elements differ".into());
        r.differs.push("`x[3]` is 1 by envisa and 2 by Intel, AVX2, 1 of 4 elements differ".into());
        r.times.insert(Side::EnvisaAvx2.name().into(), Err("y".into()));
        let (sides, suites) = (BTreeMap::new(), Vec::new());
        let run = Run { machine: Machine::here(), sides, suites, rows: vec![r] };
        assert_eq!(run.complaints(&BTreeMap::new()).len(), 3);
        let left = |why: &str| run.complaints(&BTreeMap::from([("a/b/c".to_owned(), why.to_owned())])).len();
        assert_eq!(
            (left("Of PoCL's `y`."), left("`x`, by PoCL."), left("`x`: PoCL's and Intel's.")),
            (2, 1, 0)
        );
    }

    #[test]
    fn bytes_behind_the_last_number_are_compared() {
        let mut want: Vec<u8> = 1f32.to_le_bytes().into_iter().chain([7]).collect();
        let near: Vec<u8> = 1.0001f32.to_le_bytes().into_iter().chain([7]).collect();
        assert!(difference(&want, &near, Some(ElemType::F32), 1e-3).is_none());
        assert!(difference(&want, &near, None, 1e-3).is_some_and(|c| c.elements == 5));
        want[4] = 8;
        assert!(difference(&want, &near, Some(ElemType::F32), 1e-3).is_some_and(|c| c.mismatches == 1));
    }

    #[test]
    fn small_numbers_among_large_ones_are_held_to_these() {
        let bytes = [1000.0f32, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let value = HostValue { elem: envisa_harness::values::ElemType::F32, shape: vec![2], bytes };
        assert_eq!(bound(&value, 1e-3), Check::Bounds { rel: 1e-3, abs: 1e-3 });
    }
}
