//! Conformance: every kernel's results on envisa, device by device, held against PoCL's.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use envisa::Engine;

use crate::compare::{Check, Comparison, compare, compare_lines};
use crate::corpus;
use crate::envisa_engine::{Failure, run_on_envisa};
use crate::kernel::{Device, KernelFile, Known};
use crate::launch::{Launch, Outputs, SizeSet};
use crate::machine::Machine;
use crate::newer_compiler;
use crate::peer::{self, Peer, PeerRun};
use crate::peer_disagreements::Witness;
use crate::report::{Table, cell, replace_block};

/// What a kernel came to on a device.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Every output lies within its bound of PoCL's, or not: output by output.
    Compared(Vec<(String, Comparison)>),
    /// An output differs just as the kernel's header says it must: the reason.
    Known(String),
    /// A difference that the header says is there has not been seen.
    Unseen(String),
    /// envisa gave no result.
    Failure(Failure),
    /// PoCL gave no result to hold envisa's against.
    NoReference(String),
    /// The kernel is not compiled for this device: its header says why.
    NotForDevice,
}

impl Verdict {
    /// True where there is a result and all of it lies within the bounds.
    pub fn passed(&self) -> bool {
        matches!(self, Verdict::Compared(all) if all.iter().all(|(_, c)| c.passed()))
    }

    /// True where the kernel was run or should have been, and there is no good result; an instruction that
    /// envisa refuses by name is not a failure of this kind.
    pub fn failed(&self) -> bool {
        match self {
            Verdict::Compared(_) => !self.passed(),
            Verdict::Failure(Failure::Failed(_)) | Verdict::NoReference(_) | Verdict::Unseen(_) => true,
            Verdict::Failure(Failure::Unsupported(_)) | Verdict::NotForDevice | Verdict::Known(_) => false,
        }
    }

    /// As a cell of the table.
    pub fn cell(&self) -> String {
        match self {
            Verdict::NotForDevice => "–".to_owned(),
            Verdict::Known(_) => "explained".to_owned(),
            Verdict::Unseen(what) => format!("FAIL: {what}"),
            Verdict::NoReference(why) => format!("no reference: {}", first_line(why)),
            Verdict::Failure(Failure::Unsupported(why)) => format!("not supported: {}", first_line(why)),
            Verdict::Failure(Failure::Failed(why)) => format!("FAIL: {}", first_line(why)),
            Verdict::Compared(all) => {
                let bad: Vec<String> = all
                    .iter()
                    .filter(|(_, c)| !c.passed())
                    .map(|(name, c)| format!("{name}: {}", cell(c)))
                    .collect();
                if !bad.is_empty() {
                    return bad.join("; ");
                }
                let worst = all.iter().map(|(_, c)| c.worst_ulp).max().unwrap_or(0);
                if worst > 0 { format!("ok, {worst} ulp") } else { "ok".to_owned() }
            }
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().find(|l| !l.trim().is_empty()).unwrap_or("").trim()
}

/// A kernel's results on all devices.
#[derive(Clone, Debug)]
pub struct KernelResult {
    /// The kernel.
    pub kernel: KernelFile,
    /// Its outputs with their bounds.
    pub bounds: Vec<(String, String)>,
    /// On each device asked for: by the interpreter and by native code, of which the worse one counts.
    pub verdicts: BTreeMap<Device, Verdict>,
    /// By which of them that is where there is no good result.
    pub failed_by: BTreeMap<Device, Engine>,
    /// Of the further peers.
    pub witnesses: BTreeMap<Peer, Witness>,
}

/// A whole run.
#[derive(Clone, Debug)]
pub struct Conformance {
    /// The reference: platform, version, device.
    pub reference: String,
    /// Further peers, described the same way; those that gave no result at all, with the reason.
    pub witnesses: Vec<(Peer, Result<String, String>)>,
    /// Devices, in the table's order.
    pub devices: Vec<Device>,
    /// In the kernels' order.
    pub kernels: Vec<KernelResult>,
}

/// Compares a run with the reference's, output by output.
pub fn hold(launch: &Launch, want: &Outputs, got: &Outputs, printf: bool) -> Vec<(String, Comparison)> {
    let mut all = Vec::new();
    for (index, value) in &want.values {
        let arg = &launch.args[*index];
        let check = arg.check.unwrap_or(Check::Exact);
        let c = match got.values.iter().find(|(i, _)| i == index) {
            Some((_, other)) => compare(value, other, check),
            None => {
                Comparison { shape_error: Some("the output is missing".to_owned()), ..Comparison::default() }
            }
        };
        all.push((arg.name.clone(), c));
    }
    if printf {
        all.push(("printf".to_owned(), compare_lines(&want.printed, &got.printed)));
    }
    all
}

/// Runs `kernels` on PoCL, on the further peers `witnesses`, and, compiled for each of `devices`, on envisa with
/// `jobs` host threads (0: all). A kernel on which PoCL fails or crashes is reported as such; the others go on.
///
/// # Errors
/// Where a header is not a launch, or PoCL gives no result at all: without the reference nothing can be said.
pub fn run(
    kernels: &[KernelFile],
    devices: &[Device],
    witnesses: &[Peer],
    jobs: usize,
) -> Result<Conformance, String> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get()).min(8);
    std::thread::scope(|s| {
        for _ in 0..workers {
            s.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let Some(k) = kernels.get(n) else { return };
                    let one = run_one(k, devices, witnesses, jobs);
                    done.lock().unwrap_or_else(|e| e.into_inner()).insert(n, one);
                }
            });
        }
    });
    let mut out = Conformance {
        reference: String::new(),
        witnesses: Vec::new(),
        devices: devices.to_vec(),
        kernels: Vec::new(),
    };
    let mut missing = None;
    let mut described: BTreeMap<Peer, Result<String, String>> = BTreeMap::new();
    for (_, one) in done.into_inner().unwrap_or_else(|e| e.into_inner()) {
        let one = one?;
        match one.reference {
            Ok(describe) => out.reference = describe,
            Err(why) => missing = Some(why),
        }
        for (peer, describe) in one.witnesses {
            match described.get(&peer) {
                Some(Ok(_)) => {}
                _ => drop(described.insert(peer, describe)),
            }
        }
        out.kernels.push(one.result);
    }
    out.witnesses = described.into_iter().collect();
    match missing {
        Some(why) if out.reference.is_empty() => Err(format!("PoCL gives no result: {why}")),
        _ => Ok(out),
    }
}

/// Sets what `known` says on `device` against what was seen.
fn explain(known: &[Known], device: Device, all: Vec<(String, Comparison)>) -> Verdict {
    let mut reasons = Vec::new();
    let mut open = all.iter().filter(|(_, c)| !c.passed()).count();
    for k in known.iter().filter(|k| k.on(device)) {
        let seen = all.iter().find(|(n, c)| *n == k.output && !c.passed() && c.shape_error.is_none());
        match seen {
            Some((_, c)) if c.mismatches == k.elements => {
                open -= 1;
                reasons.push(k.why.clone());
            }
            Some(_) => {}
            // What is known is known of the committed corpus.
            None if corpus::is_foreign() => {}
            None if k.with_avx512 && !is_x86_feature_detected!("avx512f") => {}
            None => {
                let what = format!("`{}` does not differ, though the header says so: {}", k.output, k.why);
                return Verdict::Unseen(what);
            }
        }
    }
    if open > 0 || reasons.is_empty() { Verdict::Compared(all) } else { Verdict::Known(reasons.join("; ")) }
}

/// A kernel's results, and the descriptions of the peers that gave one.
struct One {
    result: KernelResult,
    reference: Result<String, String>,
    witnesses: Vec<(Peer, Result<String, String>)>,
}

fn run_one(k: &KernelFile, devices: &[Device], witnesses: &[Peer], jobs: usize) -> Result<One, String> {
    let launch_for =
        |peer| crate::launch::launch(k, SizeSet::Conformance, peer).map_err(|e| format!("{}: {e}", k.id));
    let (on_peer, launch) = (launch_for(true)?, launch_for(false)?);
    let printf = k.header.printf.is_some();
    let want = peer::run(Peer::Pocl, k);
    let witnesses: Vec<(Peer, Result<PeerRun, String>)> =
        witnesses.iter().map(|p| (*p, peer::run(*p, k))).collect();
    let (mut verdicts, mut failed_by, mut with) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for d in devices {
        let missing = corpus::is_foreign() && !corpus::corpus_path(&corpus::corpus_folder(), *d, k).exists();
        let verdict = if !k.is_for(*d) || missing {
            Verdict::NotForDevice
        } else {
            // The first without a good result; if there is none, that of native code.
            let mut told = None;
            for engine in [Engine::Native, Engine::Interpreter] {
                let (verdict, held) = match run_on_envisa(k, *d, &launch, (engine, jobs)) {
                    Err(failure) => (Verdict::Failure(failure), Vec::new()),
                    Ok(got) => {
                        let holds = |run: &PeerRun| {
                            hold(&on_peer, &run.outputs, &got, printf).iter().all(|(_, c)| c.passed())
                        };
                        let held: Vec<Peer> = witnesses
                            .iter()
                            .filter(|(_, run)| run.as_ref().is_ok_and(holds))
                            .map(|(p, _)| *p)
                            .collect();
                        let verdict = match &want {
                            Err(why) => Verdict::NoReference(why.clone()),
                            Ok(want) => {
                                explain(&k.header.known, *d, hold(&on_peer, &want.outputs, &got, printf))
                            }
                        };
                        (verdict, held)
                    }
                };
                if verdict.failed() {
                    failed_by.insert(*d, engine);
                    told = Some((verdict, held));
                    break;
                }
                told.get_or_insert((verdict, held));
            }
            let (verdict, held) = told.unwrap_or((Verdict::NotForDevice, Vec::new()));
            for p in held {
                with.entry(p).or_insert_with(Vec::new).push(*d);
            }
            verdict
        };
        verdicts.insert(*d, verdict);
    }
    let mut bounds: Vec<(String, String)> =
        on_peer.args.iter().filter_map(|a| Some((a.name.clone(), a.check?.to_string()))).collect();
    if printf {
        bounds.push(("printf".to_owned(), "the same lines".to_owned()));
    }
    let mut out = One {
        result: KernelResult { kernel: k.clone(), bounds, verdicts, failed_by, witnesses: BTreeMap::new() },
        reference: want.as_ref().map(|w| w.describe.clone()).map_err(Clone::clone),
        witnesses: Vec::new(),
    };
    for (p, run) in witnesses {
        let held = match (&want, &run) {
            (Ok(want), Ok(run)) => Ok(hold(&on_peer, &want.outputs, &run.outputs, printf)),
            (Err(_), _) => Err("there is no result of PoCL".to_owned()),
            (_, Err(why)) => Err(why.clone()),
        };
        out.result.witnesses.insert(p, Witness { held, with: with.remove(&p).unwrap_or_default() });
        out.witnesses.push((p, run.map(|r| r.describe)));
    }
    Ok(out)
}

impl Conformance {
    fn count(&self, device: Device, of: impl Fn(&Verdict) -> bool) -> usize {
        self.kernels.iter().filter_map(|k| k.verdicts.get(&device)).filter(|v| of(v)).count()
    }

    /// True where nothing failed.
    pub fn good(&self) -> bool {
        self.kernels.iter().all(|k| k.verdicts.values().all(|v| !v.failed())) && self.disputes().is_empty()
    }

    /// What failed, with all that is known about it.
    pub fn failures(&self) -> Vec<String> {
        let mut all = Vec::new();
        for k in &self.kernels {
            for (d, v) in &k.verdicts {
                let text = match v {
                    Verdict::Failure(Failure::Failed(why)) => why.clone(),
                    Verdict::NoReference(_) | Verdict::Unseen(_) => v.cell(),
                    Verdict::Compared(_) if v.failed() => v.cell(),
                    _ => continue,
                };
                let by = match k.failed_by.get(d) {
                    Some(Engine::Native) => ", by native code",
                    Some(Engine::Interpreter) => ", by the interpreter",
                    _ => "",
                };
                all.push(format!("{} on {}{by}: {text}", k.kernel.id, d.name()));
            }
        }
        all.extend(self.disputes());
        all
    }

    /// Passing counts, device by device, as sentences.
    pub fn summary(&self) -> String {
        let mut out = String::new();
        for d in &self.devices {
            let all = self.count(*d, |v| *v != Verdict::NotForDevice);
            let passed = self.count(*d, Verdict::passed);
            let mut line = format!("- {}: {passed} of {all} kernels give PoCL's result", d.name());
            for (n, what) in [
                (self.count(*d, |v| matches!(v, Verdict::Known(_))), "differ for a known reason"),
                (self.count(*d, |v| matches!(v, Verdict::Failure(Failure::Unsupported(_)))), "not supported"),
                (self.count(*d, Verdict::failed), "FAIL"),
            ] {
                if n > 0 {
                    line.push_str(&format!(", {n} {what}"));
                }
            }
            line.push('\n');
            out.push_str(&line);
        }
        out
    }

    /// The table: a kernel a row.
    pub fn table(&self) -> Table {
        let mut head = vec!["kernel".to_owned(), "bound".to_owned()];
        head.extend(self.devices.iter().map(|d| d.name().to_owned()));
        let mut t = Table::new(head);
        for k in &self.kernels {
            let bounds: Vec<String> = k.bounds.iter().map(|(n, b)| format!("{n}: {b}")).collect();
            let mut row = vec![k.kernel.id.clone(), bounds.join("; ")];
            row.extend(self.devices.iter().map(|d| k.verdicts[d].cell()));
            t.row(row);
        }
        t
    }

    /// The report: how it was measured, counts, table, reasons, and what there is of another compiler.
    pub fn document(&self, machine: &Machine, newer: Option<&str>) -> String {
        let compilers = "the products of `ocloc` committed in `suite/corpus`";
        let page = format!(
            "# Conformance\n\n\
             Written by `cargo run --release -p envisa-suite -- conformance --write`.\n\n\
             Every kernel of `suite/kernels` runs on PoCL and on envisa with the same inputs. PoCL compiles its \
             OpenCL C source through the OpenCL API. envisa runs its code for each Intel GPU ({compilers}), as \
             native code and in the interpreter. Every output is compared with PoCL's element by element, within \
             the bound that the kernel states; this is bit for bit unless a section below says otherwise. `ok, N \
             ulp` is the largest difference, in units in the last place; `–` means that the kernel is not \
             compiled for the device. The kernels of `vc` are vector-compute code, as ESIMD and CM compile to; \
             PoCL runs their counterparts in OpenCL C.\n\n\
             - envisa on: {}\n- reference: {}\n\n## Result\n\n{}\n{}\n{}\n\
             ## Bounds other than bit for bit, explained differences, and excluded devices\n\n{}",
            machine.describe(),
            self.reference,
            self.summary(),
            self.table().to_markdown(),
            self.witness_section(),
            self.reasons()
        );
        match newer {
            Some(section) => replace_block(&page, newer_compiler::BLOCK, section),
            None => page,
        }
    }

    /// Why the bounds are what they are, and why kernels are missing on devices.
    pub fn reasons(&self) -> String {
        let mut out = String::new();
        for k in &self.kernels {
            let h = &k.kernel.header;
            let mut parts: Vec<String> = Vec::new();
            for known in &h.known {
                let on: Vec<&str> = self.devices.iter().filter(|d| known.on(**d)).map(|d| d.name()).collect();
                parts.push(format!(
                    "**explained difference** ({}, {} elements of `{}`): {}",
                    on.join(", "),
                    known.elements,
                    known.output,
                    known.why
                ));
            }
            for a in &h.args {
                if let (Some(check), Some(why)) = (&a.check, &a.why)
                    && check != "exact"
                {
                    parts.push(format!("`{}` ({check}): {why}", a.name));
                }
            }
            if let Some(why) = &h.why_devices {
                let names: Vec<&str> = k.kernel.devices().iter().map(|d| d.name()).collect();
                parts.push(format!("only {}: {why}", names.join(", ")));
            }
            if !parts.is_empty() {
                out.push_str(&format!("- {}: {}\n", k.kernel.id, parts.join("; ")));
            }
        }
        out
    }
}
