//! Bytes against the reference assembler: for every mnemonic with random legal fields, and for a corpus.
//!
//! What our text says is given to both; where it needs annotations (which are comments to the reference),
//! these are taken out first. The reference release writes damaged files, so ours are damaged alike.

mod oracle;

use envisa::binary::{Stop, WriteOptions, recover, write, write_as_reference};
use envisa::diag::{Files, TextOptions, render_text};
use envisa::isa::generate::{Options, module};
use envisa::isa::{Module, Op, Platform};
use envisa::text::{ParseOptions, PrintOptions, parse, print, print_inst};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reads a text; gives the rendered diagnostics if it is not all right.
fn parsed(text: &str, platform: Platform) -> Result<Module, String> {
    let mut files = Files::new();
    let file = files.add_text("in.visaasm", text);
    let r = parse(text, file, &ParseOptions { platform: Some(platform), ..ParseOptions::default() });
    if r.complete { Ok(r.module) } else { Err(render_text(&files, &r.diagnostics, &TextOptions::default())) }
}

/// The text without what the reference takes for comments, and without `.divS`, which it takes and drops.
fn plain(text: &str) -> String {
    let line = |l: &str| l.split("//@").next().unwrap_or("").trim_end().replacen(".divS", "", 1) + "\n";
    text.lines().map(line).collect()
}

/// The module with some of its instructions only (labels and returns always).
fn part(m: &Module, keep: &[usize]) -> Module {
    let mut m = m.clone();
    let o = &mut m.objects[0];
    let mut i = 0;
    o.insts.retain(|inst| {
        let structure = matches!(inst.op, Op::Label | Op::Subroutine | Op::Ret);
        i += 1;
        structure || keep.contains(&(i - 1))
    });
    m
}

/// How both compare on one instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outcome {
    Same,
    Differs,
    /// The reference does not take it: an error, a crash or a hang.
    Rejected,
    /// We do not take the text that we printed, once it is without annotations.
    Unread,
}

/// Compares the instructions of the first object, in as few runs as possible.
fn compare(m: &Module, keep: &[usize], platform: Platform, report: &mut dyn FnMut(Outcome, usize, String)) {
    let split = |outcome, why: String, report: &mut dyn FnMut(Outcome, usize, String)| match keep {
        [] => {}
        [one] => report(outcome, *one, why),
        _ => {
            let (a, b) = keep.split_at(keep.len() / 2);
            compare(m, a, platform, report);
            compare(m, b, platform, report);
        }
    };
    let text =
        plain(&print(&part(m, keep), &PrintOptions::default()).expect("what is generated can be printed"));
    let said = match parsed(&text, platform) {
        Ok(m) => m,
        Err(e) => return split(Outcome::Unread, e, report),
    };
    let ours = match write_as_reference(&said, &WriteOptions::for_platform(platform)) {
        Ok(bytes) => bytes,
        Err(e) => return split(Outcome::Unread, e.to_string(), report),
    };
    match oracle::bytes(&text, platform) {
        Err(e) => split(Outcome::Rejected, e, report),
        Ok(theirs) if theirs == ours => keep.iter().for_each(|i| report(Outcome::Same, *i, String::new())),
        Ok(theirs) => split(Outcome::Differs, difference(&ours, &theirs), report),
    }
}

fn difference(ours: &[u8], theirs: &[u8]) -> String {
    let at = ours.iter().zip(theirs).position(|(a, b)| a != b).unwrap_or(ours.len().min(theirs.len()));
    let hex = |b: &[u8]| {
        let window = &b[at.saturating_sub(8).min(b.len())..(at + 24).min(b.len())];
        window.iter().map(|b| format!("{b:02x}")).collect::<String>()
    };
    format!(
        "at 0x{at:x} of {} and {} bytes\n  ours   {}\n  theirs {}",
        ours.len(),
        theirs.len(),
        hex(ours),
        hex(theirs)
    )
}

/// `NAME outcome reason`, one a line.
fn exceptions() -> BTreeMap<(String, String), String> {
    include_str!("oracle/exceptions.txt")
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .map(|l| {
            let mut words = l.splitn(3, char::is_whitespace);
            let mut word = || words.next().unwrap_or("").trim().to_owned();
            ((word(), word()), word())
        })
        .inspect(|(key, reason)| assert!(!reason.is_empty(), "{key:?} has no reason"))
        .collect()
}

/// Every instruction of 4.1 with random legal fields. `ENVISA_ORACLE_INSTS` sets how many of each (12).
#[test]
fn generated_instructions_have_the_reference_bytes() {
    if !oracle::available("generated_instructions_have_the_reference_bytes") {
        return;
    }
    let n = std::env::var("ENVISA_ORACLE_INSTS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let only = std::env::var("ENVISA_ORACLE_OP").ok();
    let mut exceptions = exceptions();
    let mut failures = Vec::new();
    let mut totals: BTreeMap<Outcome, usize> = BTreeMap::new();
    for op in Op::ALL.iter().copied() {
        let d = op.desc();
        if !d.versions.contains((4, 1))
            || matches!(op, Op::Label | Op::Subroutine | Op::Ret)
            || only.as_ref().is_some_and(|o| o != d.name)
        {
            continue;
        }
        let platform = if op as u16 % 2 == 0 { Platform::Skl } else { Platform::Pvc };
        let m = module(
            op as u64 + 1,
            &Options { insts: n, ops: Some(vec![op]), reference: true, ..Options::default() },
        );
        let insts = &m.objects[0].insts;
        let keep: Vec<usize> = (0..insts.len()).filter(|i| insts[*i].op == op).collect();
        let mut outcomes: BTreeMap<Outcome, (usize, String)> = BTreeMap::new();
        compare(&m, &keep, platform, &mut |outcome, i, why| {
            let entry = outcomes.entry(outcome).or_insert_with(|| {
                let text = print_inst(&m, &m.objects[0], &m.objects[0].insts[i]).unwrap_or_default();
                (0, format!("{text}\n{why}"))
            });
            entry.0 += 1;
            *totals.entry(outcome).or_default() += 1;
        });
        let same = outcomes.get(&Outcome::Same).map_or(0, |o| o.0);
        for (outcome, (count, example)) in &outcomes {
            let name = match outcome {
                Outcome::Same => continue,
                Outcome::Differs => "differs",
                // Some field values may be beyond the reference's grammar, but not all.
                Outcome::Rejected if same > 0 => continue,
                Outcome::Rejected => "rejected",
                Outcome::Unread => "unread",
            };
            if exceptions.remove(&(d.name.to_owned(), name.to_owned())).is_none() {
                failures.push(format!("{} {name}: {count} of {}, such as\n  {example}", d.name, keep.len()));
            }
        }
    }
    println!("{totals:?}");
    if only.is_none() {
        for (name, outcome) in exceptions.keys() {
            failures.push(format!("{name} {outcome}: listed as an exception, and it no longer is one"));
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// All texts below these folders.
fn corpus() -> Vec<PathBuf> {
    fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|e| e == "visaasm") {
                out.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut out = Vec::new();
    walk(&root.join("tests/oracle"), &mut out);
    walk(&root.join("../../suite/corpus"), &mut out);
    out.sort();
    assert!(!out.is_empty());
    out
}

/// The platform a path names (`…/dg2/…`); SKL if none.
fn platform_of(path: &Path) -> Platform {
    let parts = path.components().filter_map(|c| Platform::from_name(&c.as_os_str().to_string_lossy()));
    match parts.last() {
        // The reference compiler's PVC kernels are of the later stepping.
        Some(Platform::Pvc) => Platform::Pvcxt,
        Some(p) => p,
        None => Platform::Skl,
    }
}

#[test]
fn the_corpus_has_the_reference_bytes() {
    if !oracle::available("the_corpus_has_the_reference_bytes") {
        return;
    }
    let mut failures = Vec::new();
    let files = corpus();
    for path in &files {
        let text = std::fs::read_to_string(path).expect("a text");
        let platform = platform_of(path);
        let result = parsed(&text, platform).and_then(|m| {
            let ours =
                write_as_reference(&m, &WriteOptions::for_platform(platform)).map_err(|e| e.to_string())?;
            let theirs = oracle::bytes(&text, platform)?;
            if ours != theirs {
                return Err(difference(&ours, &theirs));
            }
            // The damage is recognised, and every opcode found again.
            let got = recover(&theirs).map_err(|e| e.to_string())?;
            for (o, want) in got.objects.iter().zip(&m.objects) {
                let found: Vec<Op> = o.insts.iter().map(|i| i.op).collect();
                let all: Vec<Op> = want.insts.iter().map(|i| i.op).collect();
                if found != all || matches!(o.stop, Stop::Lost(_)) {
                    return Err(format!("recovered {} of {} instructions", found.len(), all.len()));
                }
            }
            Ok(())
        });
        if let Err(e) = result {
            failures.push(format!("{}: {e}", path.display()));
        }
    }
    println!("{} texts", files.len());
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// Our undamaged binary and the text give the same native code. `ENVISA_ORACLE_NATIVE` sets how many texts
/// of the corpus (20, evenly chosen).
#[test]
fn binaries_give_the_native_code_of_their_texts() {
    if !oracle::available("binaries_give_the_native_code_of_their_texts") {
        return;
    }
    let n = std::env::var("ENVISA_ORACLE_NATIVE").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let files = corpus();
    let step = files.len().div_ceil(n).max(1);
    let (mut same, mut failures) = (0, Vec::new());
    for path in files.iter().step_by(step) {
        let text = std::fs::read_to_string(path).expect("a text");
        let platform = platform_of(path);
        // The path of the outputs, which the input may name, must not differ.
        let text: String = text
            .lines()
            .filter(|l| !l.contains("AsmName") && !l.contains("OutputAsmPath"))
            .map(|l| format!("{l}\n"))
            .collect();
        let Ok(of_text) = oracle::native(text.as_bytes(), "in.visaasm", platform) else {
            continue;
        };
        let result = parsed(&text, platform).and_then(|m| {
            let bytes = write(&m, &WriteOptions::for_platform(platform)).map_err(|e| e.to_string())?;
            let of_binary = oracle::native(&bytes, "in.isa", platform)?;
            if of_binary == of_text { Ok(()) } else { Err("other native code".to_owned()) }
        });
        match result {
            Ok(()) => same += 1,
            Err(e) => failures.push(format!("{}: {e}", path.display())),
        }
    }
    println!("{same} texts with the same native code");
    assert!(same > 0, "no text could be compared");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}
