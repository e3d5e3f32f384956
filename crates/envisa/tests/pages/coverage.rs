//! `docs/COVERAGE.md`: what is assembled, verified, executed and tested of every instruction, generated from
//! the table, the lowering, and what the page tests really ran.

use crate::harness::tested;
use crate::math::measured;
use crate::model::T;
use envisa::isa::desc::{Family, InstDesc};
use envisa::isa::operation::{Message, Operation};
use envisa::isa::{Op, Platform, Platforms};
use envisa::lower::{self, ExecType};
use envisa::verify::Verified;
use envisa_sanitize::stats::{Fidelity, SAMPLED, fidelity};
use envisa_smith::generate::{Options, module};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

/// Makes tests of functions, and `all`, which runs those that have not run yet.
macro_rules! pages {
    ($($name:ident)*) => {
        mod tests {
            $(#[test]
            fn $name() {
                $crate::coverage::once(file!(), stringify!($name), super::$name);
            })*
        }
        /// Every test of this file.
        pub fn all() {
            $($crate::coverage::once(file!(), stringify!($name), $name);)*
        }
    };
}
pub(crate) use pages;

type Done = Arc<OnceLock<bool>>;

/// Runs a test, once in this process, whoever asks for it.
pub fn once(file: &'static str, name: &'static str, f: fn()) {
    static KNOWN: Mutex<Option<HashMap<(&str, &str), Done>>> = Mutex::new(None);
    let done = KNOWN.lock().unwrap().get_or_insert_default().entry((file, name)).or_default().clone();
    let mut why = None;
    let ok = *done.get_or_init(|| match std::panic::catch_unwind(f) {
        Ok(()) => true,
        Err(e) => {
            why = Some(e);
            false
        }
    });
    if let Some(e) = why {
        std::panic::resume_unwind(e);
    }
    assert!(ok, "{name} fails");
}

/// What becomes of an instruction in the lowering.
enum Fate {
    /// Executed: how true, by the type that channels compute in.
    Executed(BTreeSet<(String, Fidelity)>),
    /// It changes no register and no memory.
    NoEffect,
    /// Why not.
    Not(String),
}

/// The first platform that has an instruction, of those that are common.
fn platform_of(d: &InstDesc) -> Option<Platform> {
    use Platform::*;
    [Skl, Tgllp, XehpSdv, Dg2, Pvc, Pvcxt, Xe2, Xe3, Xe3p].into_iter().find(|p| d.platforms.contains(*p))
}

fn version_of(d: &InstDesc) -> (u8, u8) {
    if d.versions.contains((4, 1)) { (4, 1) } else { (4, 2) }
}

/// One random legal instruction of a row, in a module.
fn sample(op: Op, seed: u64) -> Option<envisa::isa::Module> {
    let d = op.desc();
    if d.versions.to < (4, 1) {
        return None;
    }
    let options = Options {
        version: version_of(d),
        platform: platform_of(d),
        insts: 1,
        ops: Some(vec![op]),
        ..Options::default()
    };
    Some(module(seed, &options))
}

/// Asks the lowering, with random legal instructions of the row.
fn fate(op: Op) -> Fate {
    let Some(platform) = platform_of(op.desc()) else {
        return Fate::Not("no platform that is known here has it".into());
    };
    let mut seen = BTreeSet::new();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut nothing = false;
    for seed in 0..60 {
        let Some(m) = sample(op, seed * 31 + 5) else { return Fate::Not("of older versions only".into()) };
        let index: Vec<u32> = m.objects[0]
            .insts
            .iter()
            .enumerate()
            .filter(|(_, i)| i.op == op)
            .map(|(i, _)| i as u32)
            .collect();
        let Ok(verified) = Verified::assume(m) else { continue };
        let options = lower::Options { platform, simd: Some(32), private: None };
        match lower::lower(&verified, "", &options) {
            Err(e) => *reasons.entry(format!("malformed: {e}")).or_default() += 1,
            Ok(p) => {
                let mut any = false;
                for i in p.code().iter().filter(|i| index.contains(&i.source) && i.op != lower::Op::End) {
                    any = true;
                    if i.op == lower::Op::Unsupported {
                        *reasons.entry(p.unsupported()[i.aux as usize].reason.clone()).or_default() += 1;
                    } else if i.op != lower::Op::Join || matches!(op, Op::Label | Op::Subroutine) {
                        let name = match i.exec {
                            ExecType::None => String::new(),
                            ExecType::Odd => "f to hf or bf".to_owned(),
                            e => format!("{e:?}").to_lowercase(),
                        };
                        let sampled =
                            matches!(op.desc().operation(), Operation::Message(Message::Sample(..)));
                        seen.insert((name, if sampled { SAMPLED } else { fidelity(i.op, i.exec) }));
                    }
                }
                nothing |= !any;
            }
        }
    }
    let supported = reasons.iter().filter(|(r, _)| !r.starts_with("malformed")).max_by_key(|r| r.1);
    match supported {
        _ if !seen.is_empty() => Fate::Executed(seen),
        _ if nothing => Fate::NoEffect,
        Some((reason, _)) => Fate::Not(reason.clone()),
        None => Fate::Not(
            reasons.into_keys().next().unwrap_or_else(|| "no legal instruction of it is known".into()),
        ),
    }
}

/// Does the verifier take a legal instruction of the row?
fn verified(op: Op) -> bool {
    let Some(platform) = platform_of(op.desc()) else { return false };
    let options =
        envisa::verify::Options { platforms: Platforms::of(&[platform]), lints: false, ..Default::default() };
    (0..400).filter_map(|seed| sample(op, seed * 17 + 3)).any(|m| {
        let own = |i: Option<usize>| i.is_some_and(|i| m.objects[0].insts[i].op == op);
        let errors = envisa::verify::check(&m, &options);
        !errors.iter().any(|f| f.severity == envisa::diag::Severity::Error && own(f.inst))
    })
}

/// How text and bytes are held: by the reference's bytes, unless `oracle/exceptions.txt` says otherwise of the row.
fn assembled(d: &InstDesc) -> &'static str {
    let matches = |names: &str| match (names.strip_prefix('*'), names.strip_suffix('*')) {
        // What holds for all rows is about operands.
        (Some(""), _) => false,
        (Some(end), _) => d.name.ends_with(end),
        (_, Some(start)) => d.name.starts_with(start),
        _ => d.name == names,
    };
    let lines = include_str!("../oracle/exceptions.txt").lines().filter(|l| !l.starts_with('#'));
    let of_row: Vec<Vec<&str>> = lines
        .map(|l| l.split('|').map(str::trim).collect::<Vec<&str>>())
        .filter(|w| w.len() == 4 && matches(w[0]) && !w[1].starts_with("native"))
        .collect();
    if d.forms.is_empty() {
        "bytes only"
    } else if !d.versions.contains((4, 1)) || of_row.iter().any(|w| w[1] == "rejected" && w[2] == "-") {
        "text and bytes, no reference"
    } else if of_row.is_empty() {
        "the reference's bytes"
    } else {
        "the reference's bytes, with exceptions"
    }
}

/// What there is of render target writes.
const PIXELS: &str =
    "exact; with a header, which says where pixels are; no depth, stencil, coarse pixels or single samples";

/// The fidelity of atomics that add floats.
const SUM: &str = "each addition correctly rounded";

fn sums(d: &InstDesc) -> bool {
    ["FADD", "FSUB", "BFADD", "BFSUB"].iter().any(|n| d.name.ends_with(&format!("_ATOMIC_{n}")))
}

fn fidelity_text(op: Op, kinds: &BTreeSet<(String, Fidelity)>) -> String {
    let d = op.desc();
    let mut out = Vec::new();
    let computes = matches!(d.family, Family::Arithmetic | Family::Math | Family::Move);
    let exact =
        |floats: bool| kinds.iter().any(|(t, f)| *f == Fidelity::Exact && (computes && float(t)) == floats);
    // What is chosen, or rounded to an integer, is a float as it is.
    let chosen = ["RNDD", "RNDU", "RNDE", "RNDZ", "MIN", "MAX", "SEL", "SRND"].contains(&d.name);
    let steps = ["DP2", "DP3", "DP4", "DPH", "LINE", "LRP", "PLANE"].contains(&d.name);
    match (exact(false), exact(true)) {
        (_, true) if chosen => out.push("exact".to_owned()),
        (_, true) if steps => out.push("each product and each sum correctly rounded".into()),
        (true, true) => out.push("integers exact; floats correctly rounded".into()),
        (true, false) => out.push("exact".into()),
        (false, true) => out.push("correctly rounded".into()),
        (false, false) => {}
    }
    let mut more: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (t, f) in kinds {
        if let Fidelity::Approximate(how) = f {
            more.entry(how).or_default().push(t);
        }
    }
    let name = d.name.to_lowercase();
    let ulp = |t: T| measured().get(&(name.as_str(), t)).map(|m| m.0);
    if let (Some(f), Some(h)) = (ulp(T::F), ulp(T::Hf)) {
        out.push(format!("{f:.3} ulp in f in a sample (every value: MATH.md), at most {h:.3} in hf"));
        more.values_mut().for_each(|types| types.retain(|t| *t == "f64"));
        more.retain(|_, types| !types.is_empty());
    }
    out.extend(more.into_iter().map(|(how, types)| match &types[..] {
        [""] => how.to_owned(),
        _ => format!("{}: {how}", types.join(", ")),
    }));
    if sums(d) {
        out = vec![SUM.into()];
    }
    if matches!(op, Op::Dpas | Op::Dpasw) {
        out = vec![
            "integers exact; floats summed in f, depth by depth; no df: the page has no precision for it"
                .into(),
        ];
    }
    if op == Op::Bdpas {
        out = vec!["floats summed in f, depth by depth, each stage's sum scaled exactly".into()];
    }
    if op == Op::Dnscl {
        out.push(
            "NaN to e2m1 is left to implementations; no srnd: how its bits are added is not public".into(),
        );
    }
    out.join("; ")
}

fn float(t: &str) -> bool {
    matches!(t, "f32" | "f64" | "f16" | "bf16")
}

/// Rows that the memory messages' own tests, a binary beside this one, executed and compared; it holds the
/// list against what it ran.
fn tested_memory() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages_memory/tested.txt");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    lines.filter_map(|l| l.split_once(": ")).flat_map(|l| l.1.split_whitespace()).map(str::to_owned).collect()
}

/// The document, and executed rows that no test runs.
fn document() -> (String, Vec<String>) {
    for all in [
        crate::model::all,
        crate::arith::all,
        crate::logic::all,
        crate::mov::all,
        crate::math::all,
        crate::dpas::all,
        crate::special::all,
        crate::control::all,
    ] {
        all();
    }
    let (tested, memory) = (tested(), tested_memory());
    let (mut rows, mut gaps, mut not) = (String::new(), Vec::new(), String::new());
    let (mut executed, mut covered) = (0, 0);
    let mut left: BTreeMap<String, u32> = BTreeMap::new();
    for op in Op::ALL.iter().copied() {
        let d = op.desc();
        let version = if d.versions == envisa::isa::desc::Versions::V42 { " (4.2)" } else { "" };
        let code = d.sub.map_or(format!("{:02x}", d.opcode), |s| format!("{:02x}.{s:02x}", d.opcode));
        let is_tested = tested.contains_key(&op) || memory.contains(d.name);
        let (runs, how) = match fate(op) {
            Fate::Executed(kinds) => ("yes", fidelity_text(op, &kinds)),
            Fate::NoEffect => ("yes", "no effect on registers or memory".to_owned()),
            // Random ones have no header, or write depth.
            Fate::Not(_) if is_tested && op == Op::RtWrite => ("yes", PIXELS.to_owned()),
            // A call's function is in no random module.
            Fate::Not(_) if is_tested => ("yes", if sums(d) { SUM } else { "exact" }.to_owned()),
            Fate::Not(reason) => {
                writeln!(not, "| {}{version} | {reason} |", d.name).unwrap();
                *left.entry(reason).or_insert(0) += 1;
                ("no", "unsupported".to_owned())
            }
        };
        if runs == "yes" {
            executed += 1;
            if is_tested { covered += 1 } else { gaps.push(format!("{op:?} ({})", d.name)) }
        }
        let cell = if runs == "no" {
            "–"
        } else if is_tested {
            "yes"
        } else {
            "**no**"
        };
        let checked = if is_tested || verified(op) { "yes" } else { "no" };
        writeln!(
            rows,
            "| {}{version} | {code} | {} | {checked} | {runs} | {cell} | {how} |",
            d.name,
            assembled(d)
        )
        .unwrap();
    }
    let mut errors = String::new();
    for ((name, t), (worst, seen)) in measured() {
        writeln!(errors, "| {name} | {} | {worst:.3} | {seen} |", t.name()).unwrap();
    }
    let rest: u32 = left.values().sum();
    let rows_in_all = Op::ALL.len();
    let mut left: Vec<(String, u32)> = left.into_iter().collect();
    left.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let why: String = left.iter().map(|(reason, n)| format!("* {n}: {reason}\n")).collect();
    let text = format!(
        "\
# Coverage

Generated by `BLESS=1 cargo test -p envisa --test pages`. The test fails if this page is out of date, or if an
instruction is executed but not tested.

The page lists every row of the instruction table, and says how far it is supported:

* **Assembled**: the row has a text form, and its bytes are those of the reference assembler
  (`crates/envisa/tests/reference/bytes.rs`). If the reference does not accept the row, a test writes it and reads it back.
* **Verified**: the verifier accepts random legal instructions of the row, or those of the page tests, which all run
  through the verifier. `crates/envisa/tests/verifier/mutations.rs` tests that it refuses broken instructions.
* **Executed**: lowering accepts random legal instructions of the row.
* **Tested**: the page tests (`crates/envisa/tests/pages/`, and for memory messages
  `crates/envisa/tests/pages_memory/`) executed the row and compared registers or memory with the specification's page.
  The tests record this while they run.
* **Fidelity**: `exact` results are bit by bit those of the page. `correctly rounded` results are the exact result,
  rounded once as `%cr0` says. `ulp` counts units in the last place; 0.5 is correct rounding to nearest. The
  specification does not define the bits of a NaN: results are quiet NaNs, and `envisa_sem::nan` defines their sign and
  payload. Random programs compare all of this with a model of the specification that shares no code with the engines
  ([RANDOM-PROGRAMS.md](RANDOM-PROGRAMS.md)).

{covered} of {executed} executed rows are tested. {rest} rows of {rows_in_all} are not executed:

{why}

| instruction | opcode | assembled | verified | executed | tested | fidelity |
| --- | --- | --- | --- | --- | --- | --- |
{rows}
## Errors of the math unit

The largest error, in units in the last place of the exact result, which the host's library computes in double precision.
For `hf`, every value is tested. For `f`, the values are evenly spaced bit patterns; [MATH.md](MATH.md) has the errors over
every value. The functions of real devices are less exact.

| function | type | largest error | values |
| --- | --- | --- | --- |
{errors}
## Not executed, and why

| instruction | reason |
| --- | --- |
{not}"
    );
    (text, gaps)
}

/// Every instruction that is executed is tested, and the document says what is.
#[test]
fn coverage() {
    let (text, gaps) = document();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/COVERAGE.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(gaps.is_empty(), "executed, but no page test runs: {}", gaps.join(", "));
    if there != text {
        let line = there.lines().zip(text.lines()).find(|(a, b)| a != b);
        panic!(
            "docs/COVERAGE.md is stale; `BLESS=1 cargo test -p envisa --test pages` rewrites it: {line:?}"
        );
    }
}
