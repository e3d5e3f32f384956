//! What is found while a program runs: on standard error, and into the file that `envisa exec` reads.
//!
//! The file (`ENVISA_REPORT`) has a JSON object a line: faults and findings when they come, statistics and leaks
//! when the process ends.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};

/// What `ENVISA_REPORT` and `ENVISA_CHECK` ask for.
#[derive(Debug)]
struct Wanted {
    file: Option<PathBuf>,
    check: bool,
}

/// What was launched of a kernel.
#[derive(Clone, Default, Debug)]
struct Launches {
    count: u64,
    work_items: u64,
    time: Duration,
}

static LAUNCHES: Mutex<BTreeMap<String, Launches>> = Mutex::new(BTreeMap::new());

fn wanted() -> &'static Wanted {
    static WANTED: OnceLock<Wanted> = OnceLock::new();
    WANTED.get_or_init(|| {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let wanted = Wanted {
            file: set("ENVISA_REPORT").map(PathBuf::from),
            check: set("ENVISA_CHECK").is_some_and(|v| v != "0"),
        };
        if wanted.file.is_some() {
            crate::api::at_exit(end);
        }
        wanted
    })
}

/// Whether mistakes are looked for (`ENVISA_CHECK`).
pub fn checking() -> bool {
    wanted().check
}

/// A kernel's fault: its diagnostic, rendered, and its data.
pub fn fault(text: &str, data: Value) {
    crate::log::line(text.trim_end());
    record(&json!({ "kind": "fault", "text": text, "fault": data }));
}

/// What a check found.
pub fn finding(text: &str) {
    crate::log::line(text.trim_end());
    record(&json!({ "kind": "finding", "text": text }));
}

/// A mistake of the host program; told if they are looked for.
pub fn mistake(text: &str) {
    if checking() {
        crate::log::line(&format!("error: {text}"));
        record(&json!({ "kind": "mistake", "text": text }));
    }
}

/// A launch that is over.
pub fn launched(kernel: &str, work_items: u64, time: Duration) {
    if wanted().file.is_none() {
        return;
    }
    let mut all = LAUNCHES.lock().unwrap();
    let entry = all.entry(kernel.to_owned()).or_default();
    entry.count += 1;
    entry.work_items += work_items;
    entry.time += time;
}

/// Called when the process ends.
fn end() {
    if checking() {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for object in crate::core::handle::held() {
            if let Some(kind) = crate::core::kind_of(&*object) {
                *kinds.entry(kind).or_default() += 1;
            }
        }
        for (kind, count) in kinds {
            let s = if count == 1 { "" } else { "s" };
            mistake(&format!("{count} {kind}{s} still held when the program ended"));
        }
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
    record(&json!({ "kind": "summary", "kernels": kernels }));
}

/// Appends a line to the file.
fn record(line: &Value) {
    static WRITING: Mutex<()> = Mutex::new(());
    let Some(path) = &wanted().file else { return };
    let _one = WRITING.lock().unwrap();
    let file = std::fs::File::options().append(true).create(true).open(path);
    if let Err(e) = file.and_then(|mut f| f.write_all(format!("{line}\n").as_bytes())) {
        crate::log::complain(&format!("the report cannot be written to {}: {e}", path.display()));
    }
}
