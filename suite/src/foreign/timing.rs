//! Kernels of foreign suites side by side: the same launch on envisa's driver, PoCL and Intel's CPU runtime, each in a process
//! of its own, alternately in one run.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use envisa_harness::values::HostValue;
use serde::{Deserialize, Serialize};

use super::replay::{Replay, Side};
use super::suites::{self, Kept, Sizes, Source};
use crate::compare::{Check, compare};
use crate::launch::ArgValue;
use crate::machine::Machine;
use crate::peer::Served;

/// Rounds of all sides.
const ROUNDS: usize = 5;
/// How long a side repeats a launch in a round, with putting memory back.
const WINDOW: Duration = Duration::from_millis(40);
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
    /// What must not be published: results that differ, and sides that failed at a kernel, where nothing is said of it.
    pub fn complaints(&self, explained: &BTreeMap<String, String>) -> Vec<String> {
        let told = |r: &&Row| !explained.contains_key(&r.name);
        let wrong = |r: &Row| {
            let envisa = [Side::Envisa, Side::EnvisaAvx2].into_iter();
            let failed = envisa
                .filter_map(|s| Some(format!("{}: {}", s.name(), r.times.get(s.name())?.as_ref().err()?)));
            let all = r.differs.iter().cloned().chain(failed).chain(r.failed.clone());
            all.map(|why| format!("{}: {why}", r.name)).collect::<Vec<_>>()
        };
        self.rows.iter().filter(told).flat_map(wrong).collect()
    }
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
        let row = one(k, sides, &mut run.sides);
        say(&line(&row));
        run.rows.push(row);
    }
    Ok(run)
}

/// A row as it is told while the run goes on.
fn line(row: &Row) -> String {
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

/// Times one kernel on all sides.
fn one(kept: &Kept<'_>, sides: &[Side], described: &mut BTreeMap<String, String>) -> Row {
    let mut row = Row {
        name: kept.name(),
        sizes: String::new(),
        times: BTreeMap::new(),
        differs: Vec::new(),
        failed: None,
    };
    let replay = match Replay::read(&kept.folder) {
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
        match start(*side, kept) {
            Ok(s) => {
                described.entry(side.name().to_owned()).or_insert_with(|| s.describe.clone());
                served.push((*side, s));
            }
            Err(why) => {
                row.times.insert(side.name().to_owned(), Err(why));
            }
        }
    }
    row.differs = differences(&replay, &served, kept.suite.tolerance);
    let start = Instant::now();
    for round in 0..ROUNDS {
        if round > 0 && start.elapsed() > ENOUGH {
            break;
        }
        for (side, worker) in &mut served {
            let name = side.name().to_owned();
            if matches!(row.times.get(&name), Some(Err(_))) {
                continue;
            }
            let least = row.seconds(*side).unwrap_or(f64::INFINITY);
            let sample = worker.order(WINDOW, LIMIT).map(|s| s.seconds.min(least));
            row.times.insert(name, sample);
        }
    }
    row
}

fn start(side: Side, kept: &Kept<'_>) -> Result<Served, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let command = side.command(&kept.folder, &kept.home, dir.path())?;
    Served::spawn(command, dir, LIMIT)
}

/// Compares what each side left, buffer by buffer, with what the first one left: numbers of floating-point types within the
/// tolerance, relative to the number or, of one that is nearly nothing among larger ones, to a thousandth of the largest;
/// all else byte for byte.
fn differences(replay: &Replay, served: &[(Side, Served)], tolerance: f64) -> Vec<String> {
    let mut all = Vec::new();
    for (n, arg) in replay.launch.args.iter().enumerate() {
        let (ArgValue::Buffer(initial) | ArgValue::Image(_, initial)) = &arg.value else { continue };
        let left = |folder: &Path| -> Result<HostValue, String> {
            let file = folder.join(format!("{n}.bin"));
            let bytes = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            Ok(HostValue { bytes, ..initial.clone() })
        };
        let Some((first, worker)) = served.first() else { continue };
        let want = match left(worker.folder()) {
            Ok(want) => want,
            Err(why) => {
                all.push(why);
                continue;
            }
        };
        let check = bound(&want, tolerance);
        for (side, worker) in &served[1..] {
            match left(worker.folder()) {
                Ok(got) if got.bytes == want.bytes => {}
                Ok(got) => {
                    let c = compare(&want, &got, check);
                    if let Some((at, want, got)) = c.first {
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
                Err(why) => all.push(why),
            }
        }
    }
    all
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
        r.differs.push("x".into());
        r.times.insert(Side::EnvisaAvx2.name().into(), Err("y".into()));
        let (sides, suites) = (BTreeMap::new(), Vec::new());
        let run = Run { machine: Machine::here(), sides, suites, rows: vec![r] };
        assert_eq!(run.complaints(&BTreeMap::new()).len(), 2);
        let told = BTreeMap::from([("a/b/c".to_owned(), "why".to_owned())]);
        assert!(run.complaints(&told).is_empty());
    }

    #[test]
    fn small_numbers_among_large_ones_are_held_to_these() {
        let bytes = [1000.0f32, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let value = HostValue { elem: envisa_harness::values::ElemType::F32, shape: vec![2], bytes };
        assert_eq!(bound(&value, 1e-3), Check::Bounds { rel: 1e-3, abs: 1e-3 });
    }
}
