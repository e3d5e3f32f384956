//! Comparing what both make of generated instructions: bytes, and native code.

use super::run;
use envisa::binary::{WriteOptions, write, write_as_reference};
use envisa::diag::{Files, TextOptions, render_text};
use envisa::isa::{Module, Op, Platform, Platforms};
use envisa::text::{ParseOptions, PrintOptions, parse, print, print_inst};
use envisa::verify;
use envisa_smith::generate::{Options, module};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Reads a text; gives the rendered diagnostics if it is not all right.
pub fn parsed(text: &str, platform: Platform) -> Result<Module, String> {
    let mut files = Files::new();
    let file = files.add_text("in.visaasm", text);
    let r = parse(text, file, &ParseOptions { platform: Some(platform), ..ParseOptions::default() });
    if r.complete { Ok(r.module) } else { Err(render_text(&files, &r.diagnostics, &TextOptions::default())) }
}

/// The text without what the reference takes for comments, and without `.divS`, which it takes and drops.
pub fn plain(text: &str) -> String {
    let line = |l: &str| l.split("//@").next().unwrap_or("").trim_end().replacen(".divS", "", 1) + "\n";
    text.lines().map(line).collect()
}

/// The text with `.divS` where it was not (it is nowhere in a [`plain`] text): the reference's parser takes
/// it for its opposite, its reader does not.
pub fn uniform(text: &str) -> String {
    let line = |l: &str| {
        let words: Vec<String> = l
            .split(' ')
            .map(|w| match w.rsplit_once('.') {
                Some((head, channels)) if head.starts_with("sample_") && !head.contains("unorm") => {
                    format!("{head}.divS.{channels}")
                }
                _ => w.to_owned(),
            })
            .collect();
        words.join(" ") + "\n"
    };
    text.lines().map(line).collect()
}

/// Instructions that hold an object together and are in every part of it.
fn is_structure(op: Op) -> bool {
    matches!(op, Op::Label | Op::Subroutine | Op::Ret)
}

/// The text of the first object with these of its instructions only.
fn part(m: &Module, keep: &[usize]) -> String {
    let mut m = m.clone();
    let mut i = 0;
    m.objects[0].insts.retain(|inst| {
        i += 1;
        is_structure(inst.op) || keep.contains(&(i - 1))
    });
    plain(&print(&m, &PrintOptions::default()).expect("what is generated can be printed"))
}

/// How both compare on one instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// Nothing to tell.
    Same,
    /// Other bytes.
    Differs,
    /// The reference does not take the text: an error, a crash or a hang.
    Rejected,
    /// We do not take the text that we printed, once it is without annotations.
    Unread,
    /// The same native code from text and binary.
    Native,
    /// Other native code from the binary, or none.
    NativeDiffers,
    /// The reference makes no native code of the text.
    NativeRefused,
}

impl Outcome {
    /// The name in the list of exceptions.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Same => "same",
            Outcome::Differs => "differs",
            Outcome::Rejected => "rejected",
            Outcome::Unread => "unread",
            Outcome::Native => "native",
            Outcome::NativeDiffers => "native-differs",
            Outcome::NativeRefused => "native-refused",
        }
    }
}

/// What happened to the instructions of one row.
#[derive(Default, Debug)]
pub struct Tally {
    /// How often each outcome.
    pub counts: BTreeMap<Outcome, usize>,
    /// What is not as it should be: outcome, instruction, and what was said of it.
    pub odd: Vec<(Outcome, String, String)>,
}

impl Tally {
    /// How often.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.counts.get(&outcome).copied().unwrap_or(0)
    }

    fn add(&mut self, outcome: Outcome, m: &Module, i: usize, why: &str) {
        *self.counts.entry(outcome).or_default() += 1;
        if !matches!(outcome, Outcome::Same | Outcome::Native) {
            let o = &m.objects[0];
            let text = print_inst(m, o, &o.insts[i]).unwrap_or_default();
            self.odd.push((outcome, text.trim().to_owned(), why.to_owned()));
        }
    }
}

/// Where outcomes go: index of the instruction, and why.
type Report<'a> = dyn FnMut(Outcome, usize, &str) + 'a;

/// What a text comes to: the same for all its instructions, or why it does not.
type Verdict = Result<Outcome, (Outcome, String)>;

/// Tries `keep` together with `attempt`, and smaller parts where that fails.
fn bisect(m: &Module, keep: &[usize], attempt: &dyn Fn(&str) -> Verdict, report: &mut Report) {
    if keep.is_empty() {
        return;
    }
    match attempt(&part(m, keep)) {
        Ok(outcome) => keep.iter().for_each(|i| report(outcome, *i, "")),
        Err((outcome, why)) if keep.len() == 1 => report(outcome, keep[0], &why),
        Err(_) => {
            let (a, b) = keep.split_at(keep.len() / 2);
            bisect(m, a, attempt, report);
            bisect(m, b, attempt, report);
        }
    }
}

fn bytes_of(text: &str, platform: Platform) -> Verdict {
    let said = parsed(text, platform).map_err(|e| (Outcome::Unread, e))?;
    let ours = write_as_reference(&said, &WriteOptions::for_platform(platform))
        .map_err(|e| (Outcome::Unread, e.to_string()))?;
    let theirs = run::bytes(text, platform).map_err(|e| (Outcome::Rejected, e))?;
    if theirs == ours { Ok(Outcome::Same) } else { Err((Outcome::Differs, difference(&ours, &theirs))) }
}

fn native_of(text: &str, platform: Platform) -> Verdict {
    let native = |input: &[u8], name: &str| run::native(input, name, platform, 2);
    let of_text = native(uniform(text).as_bytes(), "in.visaasm").map_err(|e| (Outcome::NativeRefused, e))?;
    let said = parsed(text, platform).map_err(|e| (Outcome::Unread, e))?;
    let bytes =
        write(&said, &WriteOptions::for_platform(platform)).map_err(|e| (Outcome::Unread, e.to_string()))?;
    let of_binary = native(&bytes, "in.isa").map_err(|e| (Outcome::NativeDiffers, e))?;
    if of_binary == of_text {
        return Ok(Outcome::Native);
    }
    Err((Outcome::NativeDiffers, "other native code".into()))
}

/// The first difference of two files, in hexadecimal.
pub fn difference(ours: &[u8], theirs: &[u8]) -> String {
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

/// Rows of 4.1 that are compared, with the platforms to do it for.
pub fn rows() -> Vec<Op> {
    let only = std::env::var("ENVISA_ORACLE_OP").ok();
    Op::ALL
        .iter()
        .copied()
        .filter(|op| {
            let d = op.desc();
            d.versions.contains((4, 1))
                && !is_structure(*op)
                && only.as_ref().is_none_or(|o| d.name.contains(o.as_str()))
        })
        .collect()
}

/// `work` for every row, on all processors.
pub fn each_row(work: impl Fn(Op, &mut Tally) + Sync) -> BTreeMap<&'static str, Tally> {
    let rows = rows();
    let next = AtomicUsize::new(0);
    let all = Mutex::new(BTreeMap::new());
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(op) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut tally = Tally::default();
                    work(*op, &mut tally);
                    all.lock().expect("no panic").insert(op.desc().name, tally);
                }
            });
        }
    });
    all.into_inner().expect("no panic")
}

fn indices(m: &Module, op: Op) -> Vec<usize> {
    let insts = &m.objects[0].insts;
    (0..insts.len()).filter(|i| insts[*i].op == op).collect()
}

/// Compares the bytes of `n` random instructions of a row.
pub fn bytes(op: Op, n: usize, tally: &mut Tally) {
    // Registers of both sizes; nothing else about the platform plays a role.
    for (platform, n) in [(Platform::Skl, n.div_ceil(2)), (Platform::Pvc, n / 2)] {
        let seed = op as u64 + 1 + ((platform as u64) << 32);
        let options = Options { insts: n, ops: Some(vec![op]), reference: true, ..Options::default() };
        let m = module(seed, &options);
        bisect(&m, &indices(&m, op), &|text| bytes_of(text, platform), &mut |outcome, i, why| {
            tally.add(outcome, &m, i, why);
        });
    }
}

/// Compares the native code of up to `n` random instructions of a row that our verifier finds nothing
/// wrong with, on the first of a few platforms that has it.
pub fn native(op: Op, n: usize, tally: &mut Tally) {
    let platforms = [Platform::Dg2, Platform::Skl, Platform::Pvc, Platform::XehpSdv, Platform::Tgllp];
    let Some(platform) = platforms.into_iter().find(|p| op.desc().platforms.contains(*p)) else { return };
    let options = Options {
        insts: 4 * n,
        ops: Some(vec![op]),
        reference: true,
        platform: Some(platform),
        // All of them have to find room in the register file.
        var_bytes: 1024,
        ..Options::default()
    };
    let m = module(op as u64 + 1, &options);
    let checks = verify::Options {
        platforms: Platforms::of(&[platform]),
        lints: false,
        repeats: usize::MAX,
        ..verify::Options::default()
    };
    let bad: Vec<usize> = verify::check(&m, &checks).iter().filter_map(|f| f.inst).collect();
    let mut keep = indices(&m, op);
    keep.retain(|i| !bad.contains(i));
    keep.truncate(n);
    bisect(&m, &keep, &|text| native_of(text, platform), &mut |outcome, i, why| {
        tally.add(outcome, &m, i, why);
    });
}
