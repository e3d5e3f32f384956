//! Kernels with one bug each, and their corrected twins: what `--check` finds of them on each device, and what
//! Oclgrind finds.
//!
//! A case is one file, `suite/checks/CLASS/NAME.cl`, whose leading comment states what is wrong, how it is launched, and
//! by which codes it is found ([`Header`]). With `BUG` defined the kernel has the bug, without it is the twin. Lines that
//! a finding may name end in `// <-`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use envisa::{ArgumentKind, Engine, Finding, Place};
use envisa_harness::job::{ArgText, Job, Ready};
use envisa_harness::values::{HostValue, ValueSpec};
use serde::Deserialize;

use crate::kernel::{CORPUS_DEVICES, Device};
use crate::performance::{docs_folder, publish};
use crate::report::Table;

/// What a case's leading comment says, in TOML.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// What is wrong.
    pub what: String,
    /// Codes of findings and faults by which it is found.
    pub finds: Vec<String>,
    /// Work-items.
    pub global: Vec<u64>,
    /// Work-items a group.
    pub local: Vec<u32>,
    /// Devices whose code has no bug any more, and why.
    #[serde(default)]
    pub absent: BTreeMap<String, String>,
    /// Devices on which it is not found, and why.
    #[serde(default)]
    pub missed: BTreeMap<String, String>,
    /// Is it found by hints (`--check-hints`) only?
    #[serde(default)]
    pub hints: bool,
    /// What one of the findings says, among other words: the variable that it is about.
    #[serde(default)]
    pub says: String,
    /// It has one cause, and so it has one finding.
    #[serde(default)]
    pub one: bool,
    /// Options of the compiler.
    #[serde(default)]
    pub options: String,
    /// Arguments, as on the command line.
    pub args: BTreeMap<String, String>,
}

/// A kernel with a bug, and its twin.
#[derive(Clone, Debug)]
pub struct Case {
    /// `CLASS/NAME`.
    pub id: String,
    /// The file.
    pub path: PathBuf,
    /// What its comment says.
    pub header: Header,
    /// Lines that a finding may name.
    pub lines: Vec<u32>,
}

/// The folder of the cases in this source tree.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("checks")
}

/// All cases of a folder, by name.
///
/// # Errors
/// What cannot be read.
pub fn discover(folder: &Path) -> Result<Vec<Case>, String> {
    let entries = |folder: &Path| -> Result<Vec<PathBuf>, String> {
        let read = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut paths: Vec<PathBuf> = read.filter_map(|e| Some(e.ok()?.path())).collect();
        paths.sort();
        Ok(paths)
    };
    let mut cases = Vec::new();
    for class in entries(folder)?.into_iter().filter(|p| p.is_dir()) {
        for path in entries(&class)?.into_iter().filter(|p| p.extension().is_some_and(|e| e == "cl")) {
            cases.push(case(&path)?);
        }
    }
    Ok(cases)
}

fn case(path: &Path) -> Result<Case, String> {
    let here = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let text = std::fs::read_to_string(path).map_err(|e| here(&e))?;
    let header = text.strip_prefix("/* check\n").and_then(|t| t.split_once("*/"));
    let header = header.ok_or_else(|| here(&"does not begin with a comment `/* check`"))?.0;
    let header: Header = toml::from_str(header).map_err(|e| here(&e))?;
    let marked = (1u32..).zip(text.lines()).filter(|(_, l)| l.trim_end().ends_with("// <-"));
    let lines: Vec<u32> = marked.map(|(n, _)| n).collect();
    if lines.is_empty() || !text.contains("#ifdef BUG") && !text.contains("#ifndef BUG") {
        return Err(here(&"has no line marked `// <-`, or no `#ifdef BUG`"));
    }
    let name = |p: Option<&std::ffi::OsStr>| p.map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let class = name(path.parent().and_then(Path::file_name));
    Ok(Case { id: format!("{class}/{}", name(path.file_stem())), path: path.to_owned(), header, lines })
}

/// A finding, or a fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Its code.
    pub code: String,
    /// Lines of the source that it names.
    pub lines: Vec<u32>,
    /// What it says.
    pub message: String,
}

/// What came of a case on a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Found, by these codes, at its line.
    Found(Vec<String>),
    /// Not found, as the case says.
    Missed,
    /// The device's code does not have it, as the case says.
    Absent,
    /// Not as the case says: why.
    Wrong(String),
}

impl Case {
    /// The job of a kernel. On half of the devices native code runs what the checks need not look at.
    fn job(&self, device: Device, bug: bool) -> Result<Job, String> {
        let native = matches!(device, Device::Skl | Device::Pvc);
        Ok(Job {
            cache: crate::compile_cache::cache()?,
            engine: if native { Engine::Native } else { Engine::Interpreter },
            file: self.path.clone(),
            device: Some(device.name().to_owned()),
            options: format!("{}{}", self.header.options, if bug { " -DBUG" } else { "" }).trim().to_owned(),
            global: self.header.global.clone(),
            local: self.header.local.clone(),
            args: self.header.args.iter().map(|(k, v)| (k.clone(), ArgText::Text(v.clone()))).collect(),
            jobs: 1,
            check: true,
            check_hints: self.header.hints,
            limit: 10_000_000,
            ..Job::default()
        })
    }

    /// What the checks find of it, with the bug or without; and how long it runs.
    ///
    /// # Errors
    /// Why it does not run.
    pub fn run(&self, device: Device, bug: bool) -> Result<(Vec<Found>, Duration), String> {
        let why = |e: &dyn std::fmt::Display| format!("{} on {}: {e}", self.id, device.name());
        let job = self.job(device, bug)?;
        let mut ready = Ready::new(&job).map_err(|e| why(&e))?;
        let start = Instant::now();
        let outcome = ready.run(None, None).map_err(|e| why(&e))?;
        let time = start.elapsed();
        let outcome = ready.also_in_reverse(&job, outcome, None).map_err(|e| why(&e))?;
        let line = |p: &Place| p.source.as_ref().map(|s| s.line);
        let mut all = Vec::new();
        for f in outcome.findings.iter().flatten() {
            let places = |f: &'_ Finding| {
                let race = f.race.as_ref().map(|r| r.other.clone());
                let related = f.related.as_ref().map(|r| r.place.clone());
                std::iter::once(f.place.clone()).chain(race).chain(related)
            };
            let all_places = std::iter::once(f).chain(&f.also).flat_map(places);
            let lines = all_places.filter_map(|p| line(&p)).collect();
            all.push(Found { code: f.code.to_owned(), lines, message: f.message() });
        }
        if let Some(f) = &outcome.fault {
            let lines = std::iter::once(&f.place).chain(f.threads.iter().map(|t| &t.place));
            let lines: Vec<u32> = lines.filter_map(line).collect();
            let codes = std::iter::once(f.code).chain(f.also.iter().map(|f| f.code));
            let code = codes.clone().find(|c| self.header.finds.iter().any(|f| f == c)).unwrap_or(f.code);
            all.push(Found { code: code.to_owned(), lines, message: f.message() });
        }
        Ok((all, time))
    }

    /// Holds what is found of both kernels against what the case says.
    pub fn hold(&self, device: Device) -> Verdict {
        self.held(device).0
    }

    /// The same, with how many of the findings that say so name a marked line first, and how many there are.
    fn held(&self, device: Device) -> (Verdict, [usize; 2]) {
        let (bug, twin) = match (self.run(device, true), self.run(device, false)) {
            (Ok(bug), Ok(twin)) => (bug.0, twin.0),
            (Err(_), _) | (_, Err(_)) if self.header.absent.contains_key(device.name()) => {
                return (Verdict::Absent, [0; 2]);
            }
            (Err(why), _) | (_, Err(why)) => return (Verdict::Wrong(why), [0; 2]),
        };
        let of_code = || bug.iter().filter(|f| self.header.finds.contains(&f.code));
        let placed = of_code().filter(|f| f.lines.first().is_some_and(|l| self.lines.contains(l)));
        let placed = [placed.count(), of_code().count()];
        if let Some(first) = twin.first() {
            let wrong = Verdict::Wrong(format!("of the twin: {} {}", first.code, first.message));
            return (wrong, placed);
        }
        if self.header.one && bug.len() > 1 {
            let all: Vec<String> = bug.iter().map(|f| format!("{} {}", f.code, f.message)).collect();
            return (Verdict::Wrong(format!("one cause, several findings: {}", all.join("; "))), placed);
        }
        let told = |f: &&Found| {
            self.header.finds.contains(&f.code)
                && f.message.contains(&self.header.says)
                && f.lines.iter().any(|l| self.lines.contains(l))
        };
        let mut codes: Vec<String> = bug.iter().filter(told).map(|f| f.code.clone()).collect();
        codes.sort();
        codes.dedup();
        let said = (self.header.missed.get(device.name()), self.header.absent.get(device.name()));
        let verdict = match (codes.is_empty(), said) {
            (false, (None, None)) => Verdict::Found(codes),
            (true, (Some(_), _)) => Verdict::Missed,
            (true, (_, Some(_))) => Verdict::Absent,
            (false, _) => Verdict::Wrong("it is found, and the case says it is not".to_owned()),
            (true, _) => match bug.first() {
                None => Verdict::Wrong("not found".to_owned()),
                Some(f) => {
                    Verdict::Wrong(format!("found as {} at lines {:?}: {}", f.code, f.lines, f.message))
                }
            },
        };
        (verdict, placed)
    }

    /// What Oclgrind finds of it, with the bug or without, and how long it takes; `None` where it cannot run it.
    ///
    /// # Errors
    /// Why it could not be asked.
    pub fn oclgrind(&self, bug: bool) -> Result<Option<(bool, Duration)>, String> {
        let Some(simulation) = self.simulation()? else { return Ok(None) };
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let file = folder.path().join("case.sim");
        std::fs::write(&file, simulation).map_err(|e| e.to_string())?;
        let mut command = Command::new("oclgrind-kernel");
        command.args(["--data-races", "--uninitialized", "--max-errors", "100"]);
        let options = format!("{}{}", self.header.options, if bug { " -DBUG" } else { "" });
        if !options.is_empty() {
            command.args(["--build-options", options.trim()]);
        }
        let start = Instant::now();
        let output = command.arg(&file).output().map_err(|e| format!("oclgrind-kernel: {e}"))?;
        let time = start.elapsed();
        let text = [output.stdout, output.stderr].map(|t| String::from_utf8_lossy(&t).into_owned()).concat();
        // Its library lacks functions.
        if ["Build failure", "Failed to create kernel"].iter().any(|w| text.contains(w)) {
            return Ok(None);
        }
        let found = if bug {
            let line = |l: &str| l.trim().strip_prefix("At line ")?.split(' ').next()?.parse::<u32>().ok();
            text.lines().filter_map(line).any(|l| self.lines.contains(&l))
        } else {
            text.lines().any(|l| l.trim().starts_with("At line "))
        };
        Ok(Some((found, time)))
    }

    /// The case as Oclgrind's command takes it. Its arguments are in the order of the kernel.
    fn simulation(&self) -> Result<Option<String>, String> {
        let job = self.job(Device::Dg2, false)?;
        let ready = Ready::new(&job).map_err(|e| format!("{}: {e}", self.id))?;
        let size = |sizes: &[u64]| {
            let mut all = [1; 3];
            all[..sizes.len()].copy_from_slice(sizes);
            all.map(|n| n.to_string()).join(" ")
        };
        let local: Vec<u64> = self.header.local.iter().map(|n| u64::from(*n)).collect();
        let mut out =
            format!("{}\nk\n{}\n{}\n", self.path.display(), size(&self.header.global), size(&local));
        for argument in ready.kernel().arguments() {
            let text = self.header.args.get(&argument.name).map_or("0", String::as_str);
            if let Some(bytes) = text.strip_prefix("local:") {
                let _ = writeln!(out, "<size={bytes}>");
                continue;
            }
            // It can neither alias buffers nor pass null, and takes no images.
            if text.starts_with("arg:") || argument.kind == ArgumentKind::Image {
                return Ok(None);
            }
            if let ArgumentKind::Value { .. } = argument.kind {
                let _ = writeln!(out, "<size=4 int>\n{text}");
                continue;
            }
            if text == "0" {
                let _ = writeln!(out, "<null>");
                continue;
            }
            let (text, fresh) = match text.strip_prefix("fresh:") {
                Some(rest) => (format!("zeros:{rest}"), true),
                None => (text.to_owned(), false),
            };
            let bytes = value(&text).map_err(|e| format!("{}: {e}", self.id))?.bytes;
            if fresh {
                let _ = writeln!(out, "<size={} noinit>", bytes.len());
                continue;
            }
            let bytes_text: Vec<String> = bytes.iter().map(u8::to_string).collect();
            let _ = writeln!(out, "<size={} uchar>\n{}", bytes.len(), bytes_text.join(" "));
        }
        Ok(Some(out))
    }
}

fn value(text: &str) -> Result<HostValue, String> {
    let spec = ValueSpec::parse(text).map_err(|e| e.to_string())?;
    spec.materialize(1 << 20).map_err(|e| e.to_string())
}

/// Is Intel's offline compiler there?
pub fn has_ocloc() -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join("ocloc").is_file()))
}

/// Is Oclgrind's command there?
pub fn has_oclgrind() -> bool {
    Command::new("oclgrind-kernel").arg("--version").output().is_ok_and(|o| o.status.success())
}

/// A case's row of the table: a verdict a device, and of Oclgrind.
#[derive(Debug)]
pub struct Row {
    /// The case.
    pub case: Case,
    /// By device.
    pub verdicts: Vec<(Device, Verdict)>,
    /// How many findings name a marked line first, and how many there are, of all devices.
    pub placed: [usize; 2],
    /// Does Oclgrind find it, is it silent about the twin, and its seconds for the former; `None` if it was not asked or
    /// cannot run it.
    pub oclgrind: Option<(bool, bool, f64)>,
    /// Seconds of envisa for the kernel with the bug, on the first device that runs it, without compiling.
    pub seconds: f64,
}

impl Row {
    /// What is not as the case says.
    fn wrong(&self) -> Vec<String> {
        let one = |(device, verdict): &(Device, Verdict)| match verdict {
            Verdict::Wrong(why) => Some(format!("{} on {}: {why}", self.case.id, device.name())),
            _ => None,
        };
        self.verdicts.iter().filter_map(one).collect()
    }
}

/// Runs a case on devices, and on Oclgrind if that is wanted.
///
/// # Errors
/// Where Oclgrind could not be asked.
pub fn row(case: &Case, devices: &[Device], oclgrind: bool) -> Result<Row, String> {
    let mut placed = [0; 2];
    let mut verdict = |device: &Device| {
        let (verdict, [at, of]) = case.held(*device);
        placed = [placed[0] + at, placed[1] + of];
        (*device, verdict)
    };
    let verdicts = devices.iter().map(&mut verdict).collect();
    let seconds = devices.iter().find_map(|d| case.run(*d, true).ok()).map_or(0.0, |(_, t)| t.as_secs_f64());
    let oclgrind = match oclgrind {
        true => match (case.oclgrind(true)?, case.oclgrind(false)?) {
            (Some((found, time)), Some((alarm, _))) => Some((found, !alarm, time.as_secs_f64())),
            _ => None,
        },
        false => None,
    };
    Ok(Row { case: case.clone(), verdicts, placed, oclgrind, seconds })
}

/// Runs the cases with bugs; `true` if all is as they say.
///
/// # Errors
/// What cannot be read, or written.
pub fn command(only: &[String], devices: &[Device], oclgrind: bool, write: bool) -> Result<bool, String> {
    let devices = if devices.is_empty() { CORPUS_DEVICES.to_vec() } else { devices.to_vec() };
    let mut cases = discover(&folder())?;
    cases.retain(|c| only.is_empty() || only.iter().any(|f| c.id.contains(f.as_str())));
    if cases.is_empty() {
        return Err("no case matches".to_owned());
    }
    if write && (!only.is_empty() || devices.len() != CORPUS_DEVICES.len() || !oclgrind) {
        return Err("--write wants all cases, devices, and Oclgrind".to_owned());
    }
    let oclgrind = oclgrind && has_oclgrind();
    if write && !oclgrind {
        return Err("oclgrind-kernel is not installed".to_owned());
    }
    let told = |case: &Case, row: &Result<Row, String>, done: usize| {
        eprintln!("{done} of {}: {}", cases.len(), case.id);
        row.iter().flat_map(Row::wrong).for_each(|says| println!("{says}"));
    };
    let rows = crate::parallel::each(&cases, |case| row(case, &devices, oclgrind), told);
    let rows = rows.into_iter().collect::<Result<Vec<Row>, String>>()?;
    let wrong: Vec<String> = rows.iter().flat_map(Row::wrong).collect();
    let text = report(&rows, &devices);
    print!("{text}");
    if write {
        // What other people's suites came to is another command's.
        let page = docs_folder().join("CHECKS.md");
        let old = std::fs::read_to_string(&page).unwrap_or_default();
        let others = old.find("<!-- begin ").map_or(String::new(), |at| format!("\n{}", &old[at..]));
        publish(&page, &format!("{text}{others}"), &wrong)?;
    }
    Ok(wrong.is_empty())
}

/// The page `docs/CHECKS.md`.
pub fn report(rows: &[Row], devices: &[Device]) -> String {
    let mut head = vec!["case".to_owned(), "what is wrong".to_owned()];
    head.extend(devices.iter().map(|d| d.name().to_owned()));
    head.push("Oclgrind".to_owned());
    let mut table = Table::new(head);
    let mut notes = String::new();
    for row in rows {
        let header = &row.case.header;
        let mut cells = vec![row.case.id.clone(), header.what.clone()];
        for (device, verdict) in &row.verdicts {
            cells.push(match verdict {
                Verdict::Found(codes) => codes.join(" "),
                Verdict::Missed => "**missed**".to_owned(),
                Verdict::Absent => "absent".to_owned(),
                Verdict::Wrong(_) => "**wrong**".to_owned(),
            });
            let why = match verdict {
                Verdict::Missed => header.missed.get(device.name()),
                Verdict::Absent => header.absent.get(device.name()),
                _ => None,
            };
            if let Some(why) = why {
                let _ = writeln!(notes, "- {} on {}: {why}.", row.case.id, device.name());
            }
        }
        cells.push(match row.oclgrind {
            None => "cannot run".to_owned(),
            Some((true, true, _)) => "found".to_owned(),
            Some((true, false, _)) => "found; the twin, too".to_owned(),
            Some((false, true, _)) => "**missed**".to_owned(),
            Some((false, false, _)) => "**missed**; alarm for the twin".to_owned(),
        });
        table.row(cells);
    }
    let mut sums = Table::new(["", "found", "missed", "absent"]);
    for (i, device) in devices.iter().enumerate() {
        let count = |f: fn(&Verdict) -> bool| rows.iter().filter(|r| f(&r.verdicts[i].1)).count().to_string();
        sums.row([
            format!("envisa, {}", device.name()),
            count(|v| matches!(v, Verdict::Found(_))),
            count(|v| matches!(v, Verdict::Missed | Verdict::Wrong(_))),
            count(|v| *v == Verdict::Absent),
        ]);
    }
    let ran: Vec<(&Row, (bool, bool, f64))> = rows.iter().filter_map(|r| Some((r, r.oclgrind?))).collect();
    let found = ran.iter().filter(|(_, o)| o.0).count();
    let cannot = rows.len() - ran.len();
    sums.row(["Oclgrind".to_owned(), found.to_string(), (ran.len() - found).to_string(), cannot.to_string()]);
    let alarms = ran.iter().filter(|(_, o)| !o.1).count();
    let ours: f64 = ran.iter().map(|(r, _)| r.seconds).sum();
    let theirs: f64 = ran.iter().map(|(_, o)| o.2).sum();
    let sum = |n: usize| rows.iter().map(|r| r.placed[n]).sum::<usize>();
    let (at, of) = (sum(0), sum(1));
    let share = if of > 0 { 100.0 * at as f64 / of as f64 } else { 100.0 };
    let twins = rows.iter().flat_map(|r| &r.verdicts).filter(|(_, v)| *v != Verdict::Absent).count();
    let device = devices.first().map_or("", |d| d.name());
    // A debug build says nothing of time.
    let times = if cfg!(debug_assertions) {
        format!("The {} cases that both run take Oclgrind {theirs:.2} s, compiling among it.", ran.len())
    } else {
        format!(
            "The {} cases that both run take envisa {ours:.2} s on {device}, without compiling, and Oclgrind {theirs:.2} s \
             with it.",
            ran.len()
        )
    };
    format!(
        "\
# Checks, held against bugs

Written by `cargo run --release -p envisa-suite -- foreign --all --write`, which runs all that is below but the last section; the first
part alone is written by `checks --write`.

Each case (`suite/checks`) is an OpenCL kernel with one bug, and a twin without it. A bug counts as found if a finding or a
fault has one of the codes that the case allows, at a line that the case marks; the twin must be silent. Oclgrind runs the
same sources, with `--data-races --uninitialized`, and counts as finding a bug if it reports anything at such a line, whatever its message says.

{}
`absent`: the device's code does not have the bug, or the device cannot run it (for Oclgrind: its command cannot take such
arguments, or its library lacks a function). Alarms on twins: envisa none of {twins}, Oclgrind {alarms} of {ran}.
Of {of} findings that a case allows, {at} ({share:.1} %) name a marked line first.
{times}

{}
{notes}",
        sums.to_markdown(),
        table.to_markdown(),
        ran = ran.len(),
    )
}
