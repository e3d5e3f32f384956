//! Bytes against the reference assembler: for every mnemonic with random legal fields, and for a corpus.
//!
//! What our text says is given to both; where it needs annotations (which are comments to the reference),
//! these are taken out first. The reference release writes damaged files, so ours are damaged alike.
//!
//! `cargo test` compares a sample, `cargo test -p envisa --test reference -- --ignored bytes`
//! everything, and `docs/BYTES-VS-GENX_IR.md` says what came of it.

use crate::oracle;

use envisa::binary::{Stop, WriteOptions, recover, write, write_as_reference};
use envisa::isa::Op;
use oracle::compare::{self, parsed};
use oracle::corpus::Text;
use oracle::report;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Instructions of each row that the full comparison generates.
const FULL: (usize, usize) = (24, 4);
/// Instructions of each row that the sample has.
const SAMPLE: (usize, usize) = (4, 1);

fn count(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Every instruction of 4.1 with random legal fields.
#[test]
fn generated_instructions_have_the_reference_bytes() {
    if !oracle::available("generated_instructions_have_the_reference_bytes") {
        return;
    }
    let n = count("ENVISA_ORACLE_INSTS", SAMPLE.0);
    let tallies = compare::each_row(|op, tally| compare::bytes(op, n, tally));
    report::assert_none(&report::failures(&tallies, &mut report::exceptions(), false));
}

/// Every instruction that our verifier accepts gives the same native code from text and binary.
#[test]
fn generated_instructions_have_the_native_code_of_their_texts() {
    if !oracle::available("generated_instructions_have_the_native_code_of_their_texts") {
        return;
    }
    let n = count("ENVISA_ORACLE_NATIVE_INSTS", SAMPLE.1);
    let tallies = compare::each_row(|op, tally| compare::native(op, n, tally));
    report::assert_none(&report::failures(&tallies, &mut report::exceptions(), false));
}

/// `work` for every `step`th text, on all processors; gives how many are fine, have nothing to compare, and
/// what failed.
fn each_text(
    step: usize,
    work: impl Fn(&Text) -> Result<Compared, String> + Sync,
) -> (usize, Vec<(String, String)>, Vec<String>) {
    let texts = oracle::corpus::texts();
    let next = AtomicUsize::new(0);
    let result = Mutex::new((0, Vec::new(), Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                while let Some(text) = texts.get(step * next.fetch_add(1, Ordering::Relaxed)) {
                    let said = work(text);
                    let mut r = result.lock().expect("no panic");
                    match said {
                        Ok(Compared::Same) => r.0 += 1,
                        Ok(Compared::Nothing(why)) => r.1.push((text.name.clone(), why)),
                        Err(e) => r.2.push(format!("{}: {e}", text.name)),
                    }
                }
            });
        }
    });
    result.into_inner().expect("no panic")
}

/// What comparing a text came to.
enum Compared {
    /// The same.
    Same,
    /// The reference gives nothing to compare with: why.
    Nothing(String),
}

/// Bytes of a text; the damage is recognised, and every opcode found again.
fn bytes_of_text(t: &Text) -> Result<Compared, String> {
    let m = parsed(&t.text, t.platform)?;
    let ours = write_as_reference(&m, &WriteOptions::for_platform(t.platform)).map_err(|e| e.to_string())?;
    let theirs = oracle::bytes(&t.text, t.platform)?;
    if ours != theirs {
        return Err(compare::difference(&ours, &theirs));
    }
    let got = recover(&theirs).map_err(|e| e.to_string())?;
    for (o, want) in got.objects.iter().zip(&m.objects) {
        let found: Vec<Op> = o.insts.iter().map(|i| i.op).collect();
        let all: Vec<Op> = want.insts.iter().map(|i| i.op).collect();
        if found != all || matches!(o.stop, Stop::Lost(_)) {
            return Err(format!("recovered {} of {} instructions", found.len(), all.len()));
        }
    }
    Ok(Compared::Same)
}

/// Native code of a text and of its binary.
fn native_of_text(t: &Text) -> Result<Compared, String> {
    // The path of the outputs, which the input may name, must not differ.
    let named = |l: &&str| !l.contains("AsmName") && !l.contains("OutputAsmPath");
    let text: String = compare::plain(&t.text).lines().filter(named).map(|l| format!("{l}\n")).collect();
    let of_text = || oracle::native(compare::uniform(&text).as_bytes(), "in.visaasm", t.platform, 60);
    let first = match of_text() {
        Ok(first) => first,
        Err(why) => return Ok(Compared::Nothing(report::no_native_code(&why))),
    };
    let m = parsed(&text, t.platform)?;
    let bytes = write(&m, &WriteOptions::for_platform(t.platform)).map_err(|e| e.to_string())?;
    let of_binary = oracle::native(&bytes, "in.isa", t.platform, 60)?;
    if of_binary == first {
        return Ok(Compared::Same);
    }
    // Its register allocator does not always do the same.
    match of_text() {
        Ok(again) if again == first => Err("other native code".to_owned()),
        _ => Ok(Compared::Nothing("its native code of this text differs from run to run".to_owned())),
    }
}

#[test]
fn the_corpus_has_the_reference_bytes() {
    if !oracle::available("the_corpus_has_the_reference_bytes") {
        return;
    }
    let (same, _, failures) = each_text(count("ENVISA_ORACLE_STEP", 8), bytes_of_text);
    assert!(same > 0, "no text could be compared");
    report::assert_none(&report::text_failures(failures, &mut report::exceptions()));
}

#[test]
fn binaries_give_the_native_code_of_their_texts() {
    if !oracle::available("binaries_give_the_native_code_of_their_texts") {
        return;
    }
    let (same, _, failures) = each_text(count("ENVISA_ORACLE_STEP", 40), native_of_text);
    assert!(same > 0, "no text could be compared");
    report::assert_none(&failures);
}

/// All of it; every exception must be needed, and the page must say so.
#[test]
#[ignore = "minutes"]
fn everything() {
    if !oracle::available("everything") {
        return;
    }
    let bytes = compare::each_row(|op, tally| compare::bytes(op, FULL.0, tally));
    let native = compare::each_row(|op, tally| compare::native(op, FULL.1, tally));
    let mut exceptions = report::exceptions();
    let (texts, _, odd_texts) = each_text(1, bytes_of_text);
    let n = odd_texts.len();
    let mut failures = report::text_failures(odd_texts, &mut exceptions);
    let texts = (texts, n - failures.len());
    failures.extend(report::failures(&bytes, &mut exceptions, false));
    failures.extend(report::failures(&native, &mut exceptions, true));
    let (native_same, mut native_none, more) = each_text(1, native_of_text);
    failures.extend(more);
    native_none.sort();
    report::assert_none(&failures);
    let page = report::page(&report::Findings {
        bytes: &bytes,
        native: &native,
        exceptions: &exceptions,
        texts,
        native_texts: (native_same, &native_none),
    });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/BYTES-VS-GENX_IR.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, page).expect("docs/ is writable");
    } else {
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        // The corpus grows without this page, and the reference's register allocator does not always spill the
        // same: these numbers vary.
        let varies =
            |l: &&str| l.starts_with("| texts of compiled kernels") || l.starts_with(report::NOT_NATIVE);
        let same = there.lines().filter(|l| !varies(l)).eq(page.lines().filter(|l| !varies(l)));
        assert!(same, "{} is out of date: BLESS=1 rewrites it", path.display());
    }
}
