//! What is found while a program runs: on standard error, and into the file that `envisa exec` reads.
//!
//! The file (`ENVISA_REPORT`) has a JSON object a line: faults, findings and mistakes when they come first; how often
//! they came again, what was launched and what was never released when the process ends. Where there is a file,
//! findings and mistakes are left to whoever reads it; faults are told at once in any case, because what the
//! program does next follows from them.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};

use crate::call_sites::{self, CallSite};

/// What `ENVISA_REPORT` and `ENVISA_CHECK` ask for.
#[derive(Debug)]
struct Wanted {
    file: Option<PathBuf>,
    check: bool,
}

/// A fault or a finding.
#[derive(Debug)]
pub struct Reported {
    /// The same for the same place of the same module, whatever the launch.
    pub key: String,
    /// As a rendered diagnostic.
    pub text: String,
    /// As a line of JSON.
    pub diagnostic: String,
    /// Its data.
    pub data: serde_json::Value,
    /// For a page: the sources that it is in, and what was accessed of the launch's buffers; null if no page is wanted.
    pub page: Arc<serde_json::Value>,
}

impl Reported {
    /// As it is printed.
    pub fn shown(&self) -> &str {
        if crate::log::json() { self.diagnostic.trim_end() } else { self.text.trim_end() }
    }
}

/// What was launched of a kernel.
#[derive(Clone, Default, Debug)]
struct Launches {
    count: u64,
    work_items: u64,
    time: Duration,
}

/// Distinct faults that are told at once; later ones are counted.
const TOLD: usize = 20;
/// Distinct findings and mistakes that are kept apart; later ones are counted together.
const DISTINCT: usize = 1000;

static LAUNCHES: Mutex<BTreeMap<String, Launches>> = Mutex::new(BTreeMap::new());
/// How often each came, by what tells it from others.
static SEEN: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

fn check_settings() -> &'static Wanted {
    static WANTED: OnceLock<Wanted> = OnceLock::new();
    WANTED.get_or_init(|| {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let wanted = Wanted {
            file: set("ENVISA_REPORT").map(PathBuf::from),
            check: set("ENVISA_CHECK").is_some_and(|v| v != "0"),
        };
        if wanted.file.is_some() || wanted.check {
            crate::process::at_exit(end);
        }
        wanted
    })
}

/// Whether mistakes are looked for (`ENVISA_CHECK`).
pub fn is_checking() -> bool {
    check_settings().check
}

/// Counts; `true` if it is the first of its key.
fn is_first_of_key(key: &str) -> bool {
    let mut seen = SEEN.lock().unwrap();
    let full = seen.len() >= DISTINCT;
    match seen.get_mut(key) {
        Some(n) => *n += 1,
        None if full => *seen.entry("others".into()).or_default() += 1,
        None => {
            seen.insert(key.to_owned(), 1);
            return true;
        }
    }
    false
}

/// A kernel's fault.
pub fn report_fault(told: &Reported) {
    if !is_first_of_key(&told.key) {
        return;
    }
    if SEEN.lock().unwrap().len() <= TOLD {
        crate::log::line(told.shown());
    }
    append_json_line(&json!({
        "kind": "fault", "key": told.key, "text": told.text, "diagnostic": told.diagnostic, "fault": told.data,
        "page": *told.page
    }));
}

/// What a check found.
pub fn report_finding(told: &Reported) {
    if !is_first_of_key(&told.key) {
        return;
    }
    if check_settings().file.is_none() {
        crate::log::line(told.shown());
    }
    append_json_line(&json!({
        "kind": "finding", "key": told.key, "text": told.text, "diagnostic": told.diagnostic, "finding": told.data,
        "page": *told.page
    }));
}

/// What checks could not look at; told once.
pub fn report_unchecked(text: &str) {
    if !is_first_of_key(&format!("note: {text}")) {
        return;
    }
    if check_settings().file.is_none() {
        crate::log::print_warning(text);
    }
    append_json_line(&json!({ "kind": "note", "text": text }));
}

/// A mistake of the host program, if they are looked for: what kind it is, and the whole of it. Told once for each
/// `what`.
pub fn report_host_mistake(what: &'static str, text: &str) {
    mistake_at(what, text, call_sites::running_command);
}

/// The same, with what the application called for it.
pub fn mistake_at(what: &'static str, text: &str, calls: impl FnOnce() -> Vec<(&'static str, CallSite)>) {
    if !is_checking() {
        return;
    }
    // Handles and pointers are other ones each time: what counts as the same is told without them.
    let key = format!("{what}: {}", crate::log::without_addresses(text));
    if !is_first_of_key(&key) {
        return;
    }
    // Names take a while: the process does not end meanwhile.
    let _telling = TELLING.lock();
    let named = |(how, site): (&str, CallSite)| site.named().map(|by| format!("{how} {by}"));
    let calls: Vec<String> = calls().into_iter().filter_map(named).collect();
    if check_settings().file.is_none() {
        crate::log::print_error(&format!(
            "{text}{}",
            calls.iter().map(|c| format!("\n   = note: {c}")).collect::<String>()
        ));
    }
    append_json_line(&json!({ "kind": "mistake", "key": key, "what": what, "text": text, "calls": calls }));
}

/// A launch that is over.
pub fn record_launch(kernel: &str, work_items: u64, time: Duration) {
    if check_settings().file.is_none() {
        return;
    }
    let mut all = LAUNCHES.lock().unwrap();
    let entry = all.entry(kernel.to_owned()).or_default();
    entry.count += 1;
    entry.work_items += work_items;
    entry.time += time;
}

/// What the application holds at the end: what an object is called, and which it is; empty if that says nothing.
pub type Holds = fn() -> Vec<(&'static str, String)>;

static HOLDS: OnceLock<Holds> = OnceLock::new();
static LEFT_UNDONE: OnceLock<fn()> = OnceLock::new();

/// Who knows of the application's commands tells of what it left undone when the process ends.
pub fn report_unfinished_at_exit(tell: fn()) {
    LEFT_UNDONE.get_or_init(|| tell);
}

/// The door says what applications still hold when the process ends.
pub fn report_unreleased_at_exit(holds: Holds) {
    // The first one stays.
    let _ = HOLDS.set(holds);
}

/// Does an object that is never released count as a mistake (`leaks` in `ENVISA_CHECK`)? The process ends, and it is gone.
fn leaks_are_mistakes() -> bool {
    asks_for("leaks")
}

/// Are hints wanted, too (`ENVISA_CHECK=hints`)?
pub fn wants_hints() -> bool {
    asks_for("hints")
}

/// Are kernels compiled for checks, rather than as they are (`ENVISA_CHECK=as-is`)?
pub fn builds_for_checks() -> bool {
    is_checking() && !asks_for("as-is")
}

/// Is a page wanted of what is found (`ENVISA_CHECK=page`)?
pub fn wants_page() -> bool {
    check_settings().file.is_some() && asks_for("page")
}

/// Is it one of those that `ENVISA_CHECK` lists, separated by commas?
fn asks_for(what: &str) -> bool {
    std::env::var("ENVISA_CHECK").is_ok_and(|v| v.split(',').any(|w| w.trim() == what))
}

/// What the application still holds, each kind once.
fn report_leaks() {
    let mut kinds: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let Some(holds) = HOLDS.get() else { return };
    for (kind, about) in holds() {
        kinds.entry(kind).or_default().push(about);
    }
    for (kind, mut all) in kinds {
        let (n, s) = (all.len(), if all.len() == 1 { "" } else { "s" });
        all.retain(|a| !a.is_empty());
        all.sort();
        let more = all.len().saturating_sub(4);
        all.truncate(4);
        let mut about = if all.is_empty() { String::new() } else { format!(" ({}", all.join(", ")) };
        if more > 0 {
            about += &format!(" and {more} more");
        }
        if !about.is_empty() {
            about.push(')');
        }
        let text = format!("{n} {kind}{s} never released{about}");
        if leaks_are_mistakes() { report_host_mistake("leak", &text) } else { report_unchecked(&text) }
    }
}

/// Held while a mistake is told.
static TELLING: Mutex<()> = Mutex::new(());

/// Called when the process ends.
fn end() {
    drop(TELLING.lock());
    if is_checking() {
        if let Some(tell) = LEFT_UNDONE.get() {
            tell();
        }
        report_leaks();
    }
    let all = LAUNCHES.lock().unwrap().clone();
    let kernels: Vec<Value> = all
        .iter()
        .map(|(name, l)| {
            json!({
                "name": name,
                "launches": l.count,
                "work_items": l.work_items,
                "seconds": l.time.as_secs_f64(),
            })
        })
        .collect();
    let times: BTreeMap<String, u64> =
        SEEN.lock().unwrap().iter().filter(|(_, n)| **n > 1).map(|(k, n)| (k.clone(), *n)).collect();
    append_json_line(&json!({ "kind": "summary", "kernels": kernels, "times": times }));
}

/// Appends a line to the file.
fn append_json_line(line: &Value) {
    static WRITING: Mutex<()> = Mutex::new(());
    let Some(path) = &check_settings().file else { return };
    let _one = WRITING.lock().unwrap();
    let file = std::fs::File::options().append(true).create(true).open(path);
    if let Err(e) = file.and_then(|mut f| f.write_all(format!("{line}\n").as_bytes())) {
        crate::log::print_warning(&format!("the report cannot be written to {}: {e}", path.display()));
    }
}
