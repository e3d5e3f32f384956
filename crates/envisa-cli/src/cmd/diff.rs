//! `envisa diff`: two builds of a kernel side by side.

use crate::cmd::{Done, Exit, Failure, run};
use crate::io;
use clap::{Args as _, FromArgMatches};
use envisa_diff::{Difference, Element, Executed, NAMES, Watched};
use envisa_harness::job::Ready;
use envisa_harness::values::ElemType;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Examples:
  envisa diff k.cl --a '--options -cl-opt-disable' -- --device dg2 --global 64 --arg in=iota:i32:64 --arg out=zeros:i32:64
  envisa diff k.cl --a '--ocloc /opt/older/ocloc' --b '--ocloc /opt/newer/ocloc' -- --device dg2 --global 64 …
  envisa diff k.cl --a '--device skl' --b '--device dg2' -- --global 64 …
  envisa diff before.zebin after.zebin -- --global 64 --local 16 --arg in=iota:i32:64 …
  envisa diff right.visaasm wrong.visaasm -- --platform DG2 --arg T6=zeros:i32:64

The options after `--` are those of `envisa run`, for both sides; --a and --b add options for one side.

envisa diff prints, for each argument, how many elements differ; then the first store that differs, with its line and
work-item; then the place at which the difference begins. If the two builds have nearly the same code, this is the first
event of a thread that has another value, other active channels or another branch. Otherwise, it is a definition from
which the store's value was computed, and whose value the other side never computes for this work-item. Lines are those
of the source, if the compiler recorded them.

Exit codes: 0 the results are the same; 1 they differ; 2 wrong usage, or a side cannot be run.";

/// Run two builds of a kernel on the same inputs, and find the instruction at which their results first differ.
///
/// The interpreter runs both, with the groups in the same order. Differences of floating-point results that rounding
/// errors can explain are reported as such.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The file that side A runs: any that `envisa run` takes.
    a_file: PathBuf,
    /// The file that side B runs. By default, the same.
    b_file: Option<PathBuf>,
    /// Options of `envisa run` for side A only.
    #[arg(long, value_name = "OPTIONS", default_value = "", allow_hyphen_values = true)]
    a: String,
    /// Options of `envisa run` for side B only.
    #[arg(long, value_name = "OPTIONS", default_value = "", allow_hyphen_values = true)]
    b: String,
    /// Print one JSON object; docs/diff.schema.json describes it.
    #[arg(long)]
    json: bool,
    /// Options of `envisa run` for both sides.
    #[arg(last = true, value_name = "RUN OPTIONS")]
    run: Vec<OsString>,
}

/// Runs the command.
///
/// # Errors
/// A side that cannot be run, or that does not end.
pub fn run(args: &Args) -> Done {
    let b_file = args.b_file.as_ref().unwrap_or(&args.a_file);
    let [a, b] = [(&args.a_file, &args.a, 0), (b_file, &args.b, 1)].map(|(file, own, side)| {
        prepare_side(file, own, &args.run).map_err(|e| Failure(format!("{}: {e}", NAMES[side])))
    });
    let (a, b) = (a?, b?);
    let watched = common_buffers(&a, &b);
    if watched.is_empty() {
        return Err(Failure("no argument is a buffer or an image: there are no results to compare".into()));
    }
    let launch = |r: &Ready| r.launch().map_err(|e| Failure(e.to_string()));
    let (left, right) = (launch(&a)?, launch(&b)?);
    let failed = |e: envisa::Error| Failure(e.to_string());
    let found = left
        .stage(|left| right.stage(|right| envisa_diff::diff(left, right, &watched)))
        .map_err(failed)?
        .map_err(failed)?
        .map_err(Failure)?;
    let exit = if found.is_none() { Exit::Fine } else { Exit::Findings };
    io::print(&match &found {
        found if args.json => format!("{:#}\n", json(found.as_ref())),
        Some(found) => text(found),
        None => "the results are the same\n".into(),
    })?;
    Ok(exit)
}

/// What the JSON is called: the number grows when a field changes its meaning or goes.
const FORMAT: &str = "envisa-diff/1";

/// What differs, for programs.
fn json(found: Option<&Difference>) -> Value {
    let nothing = Difference::default();
    let all = found.unwrap_or(&nothing);
    let events = |list: &[Executed]| -> Value {
        let event = |e: &Executed| {
            json!({
                "side": NAMES[e.side],
                "line": e.line,
                "instruction": e.instruction,
                "index": e.source,
                "who": e.who,
                "did": e.did,
            })
        };
        list.iter().map(event).collect()
    };
    json!({
        "format": FORMAT,
        "same": found.is_none(),
        "rounding": all.rounding,
        "results": all.results,
        "stored": all.stored,
        "store": events(&all.store),
        "origins": events(&all.origins),
        "notes": all.notes,
    })
}

/// A side, compiled and with its memory.
fn prepare_side(file: &Path, own: &str, both: &[OsString]) -> Result<Ready, String> {
    let own = shlex::split(own).ok_or_else(|| format!("`{own}`: a quotation mark is not closed"))?;
    let mut words: Vec<OsString> = vec![file.into()];
    words.extend(both.iter().cloned());
    words.extend(own.into_iter().map(OsString::from));
    let command = run::Args::augment_args(clap::Command::new("envisa diff").no_binary_name(true));
    let matches = command.try_get_matches_from(words).map_err(|e| e.to_string())?;
    let args = run::Args::from_arg_matches(&matches).map_err(|e| e.to_string())?;
    let job = run::job_from_arguments(&args).map_err(|e| e.0)?.map_err(|e| e.to_string())?;
    Ready::new(&job).map_err(|e| e.to_string())
}

/// The buffers that both sides have.
fn common_buffers(a: &Ready, b: &Ready) -> Vec<Watched> {
    let mut all = Vec::new();
    for (name, buffer, elem) in a.buffers() {
        let Some((_, other, _)) = b.buffers().find(|(n, ..)| *n == name) else { continue };
        let bytes = elem.size() as u32;
        let float = matches!(elem, ElemType::F16 | ElemType::F32 | ElemType::F64);
        let element = if float { Element::Float(bytes) } else { Element::Bits(bytes) };
        all.push(Watched { name: name.to_owned(), buffers: [buffer.clone(), other.clone()], element });
    }
    all
}

/// What differs, for people.
fn text(found: &Difference) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&crate::cmd::escape_for_terminal(&text));
        out.push('\n');
    };
    found.results.iter().for_each(|r| line(r.clone()));
    if !found.stored.is_empty() {
        let which = if found.rounding { "a store that differs" } else { "the first store that differs" };
        line(format!("\n{which}: {}", found.stored));
        found.store.iter().for_each(|e| line(event(e)));
    }
    if !found.origins.is_empty() {
        line("\nwhere that begins:".into());
        found.origins.iter().for_each(|e| line(event(e)));
    }
    if !found.notes.is_empty() {
        line(String::new());
        found.notes.iter().for_each(|n| line(format!("note: {n}")));
    }
    if found.rounding {
        line("rounding explains all differences".into());
    }
    out
}

fn event(e: &Executed) -> String {
    let place = e.line.as_ref().map_or(String::new(), |l| format!("{l}, "));
    let did = if e.did.is_empty() { String::new() } else { format!("\n      {}", e.did) };
    format!("  {}  {place}{}: {}{did}", NAMES[e.side], e.who, e.instruction)
}
