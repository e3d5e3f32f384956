//! `envisa smith` and `envisa mutate`: random programs, and programs made wrong on purpose.

use crate::cmd::{Done, Exit, Failure};
use crate::io;
use envisa::text::PrintOptions;
use envisa::zebin::ZebinFile;
use envisa_harness::files;
use envisa_smith::generate::{self, Options};
use envisa_smith::opencl::{INPUT, Kernel, Knobs, OWN, PREAMBLE, SHARED, kernel};
use envisa_smith::plant::{Kind, Plant, plants};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const SMITH_HELP: &str = "\
Examples:
  envisa smith --first 7 --output out         out/k7.cl, and out/k7.toml, a job
  envisa run out/k7.toml --device dg2
  envisa smith --visa --first 3               a legal vISA module, on standard output

The number of a program determines it. The standard defines the results of its OpenCL C for all data: sums are unsigned, divisors \
are not zero, indices are in range, all operations on floats are exact, all work-items reach each barrier, and atomics only add. \
Therefore all implementations give the same bits. vISA modules are legal, and made for assemblers, not for running.";

/// Write random programs in OpenCL C or vISA.
#[derive(clap::Args)]
#[command(after_help = SMITH_HELP)]
pub struct Smith {
    /// The number of the first program.
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// The number of programs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    programs: u64,
    /// Write vISA modules instead of OpenCL C.
    #[arg(long)]
    visa: bool,
    /// Use `double`, for devices that have it.
    #[arg(long)]
    double: bool,
    /// How large the programs are, 1 to 4. By default, those before number 2,000,000 are of size 4, the others of size 1.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=4))]
    size: Option<u8>,
    /// The output folder. By default, the programs go to standard output.
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// Runs `envisa smith`.
///
/// # Errors
/// Files that cannot be written.
pub fn run_smith(args: &Smith) -> Done {
    for n in args.first..args.first.saturating_add(args.programs) {
        let (name, text) = if args.visa {
            (format!("m{n}.visaasm"), module(n)?)
        } else {
            let k = kernel(n, Knobs { double: args.double, size: args.size.map(usize::from) });
            if let Some(folder) = &args.output {
                write(folder, &format!("k{n}.toml"), &job_text(&k))?;
            }
            (format!("k{n}.cl"), PREAMBLE.to_owned() + &k.text())
        };
        match &args.output {
            Some(folder) => write(folder, &name, &text)?,
            None => io::print(&text)?,
        }
    }
    Ok(Exit::Fine)
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Failure(format!("{}: {e}", folder.display())))?;
    files::write(&folder.join(name), text.as_bytes()).map_err(Failure)
}

fn module(seed: u64) -> Result<String, Failure> {
    let module = generate::module(seed, &Options::default());
    envisa::text::print(&module, &PrintOptions::default()).map_err(|e| Failure(format!("module {seed}: {e}")))
}

/// The arguments of a random kernel, as jobs and the command line have them.
pub fn kernel_arguments(k: &Kernel) -> Vec<(&'static str, String)> {
    let n = k.number;
    vec![
        ("in", format!("rand:u32:{INPUT}:{n}")),
        ("early", format!("rand:u64:{}:{}", k.short, n ^ 1)),
        ("ends", k.short.to_string()),
        ("out", format!("zeros:u64:{}", k.items() * k.stored())),
        ("shared", format!("fill:u32:{SHARED}:7")),
        ("scratch", format!("zeros:u32:{}", OWN * k.items())),
        ("given", format!("local:{}", k.local_bytes)),
        ("a", ((n as u32).wrapping_mul(2_654_435_761) as i32).to_string()),
        ("b", (n as u32 >> 1).to_string()),
    ]
}

/// What a random kernel leaves: arguments and their elements.
pub fn kernel_outputs(k: &Kernel) -> [(&'static str, usize); 3] {
    [("out", k.items() * k.stored()), ("shared", SHARED), ("scratch", OWN * k.items())]
}

/// Work-items in all, and of a group.
pub fn launch_sizes(k: &Kernel) -> [[usize; 3]; 2] {
    [std::array::from_fn(|d| k.local[d] * k.groups[d]), k.local]
}

fn job_text(k: &Kernel) -> String {
    let [global, local] = launch_sizes(k);
    let mut text = format!(
        "file = \"k{n}.cl\"\nkernel = \"k{n}\"\noptions = \"-cl-std=CL3.0\"\nglobal = {global:?}\nlocal = {local:?}\n\n[args]\n",
        n = k.number
    );
    for (name, value) in kernel_arguments(k) {
        let _ = match value.parse::<i64>() {
            Ok(number) => writeln!(text, "{name} = {number}"),
            Err(_) => writeln!(text, "{name} = \"{value}\""),
        };
    }
    for (name, elements) in kernel_outputs(k) {
        let _ = writeln!(text, "\n[[outputs]]\narg = \"{name}\"\nprint = {elements}");
    }
    text
}

const MUTATE_HELP: &str = "\
Examples:
  envisa mutate k.zebin --list                 lists the places that can be changed
  envisa mutate k.zebin --kind region -n 2 -o wrong.zebin
  envisa diff k.zebin wrong.zebin -- --global 64 --arg …

Kinds: swapped (the sources of an instruction that is not commutative), saturation (`.sat` is removed), region (a source reads \
its first element for all channels), barrier (removed), immediate (off by one), predicate (inverted).";

/// Plant a miscompilation: make one instruction of compiled vISA wrong.
///
/// Use it to see whether tests, checks or `envisa diff` find a miscompilation.
#[derive(clap::Args)]
#[command(after_help = MUTATE_HELP)]
pub struct Mutate {
    /// A zebin or vISA text.
    file: PathBuf,
    /// The kernel, if there are several.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// The kind of error to plant.
    #[arg(long, value_name = "KIND", value_parser = parse_mutation_kind)]
    kind: Option<Kind>,
    /// The number of the place to change, from 0.
    #[arg(short = 'n', value_name = "N", default_value_t = 0)]
    number: usize,
    /// List the places that can be changed, and write nothing.
    #[arg(long)]
    list: bool,
    /// The output file.
    #[arg(short, long, value_name = "FILE", required_unless_present = "list")]
    output: Option<PathBuf>,
}

fn parse_mutation_kind(text: &str) -> Result<Kind, String> {
    let known = || Kind::ALL.map(Kind::name).join(", ");
    Kind::ALL.into_iter().find(|k| k.name() == text).ok_or_else(|| format!("expected one of {}", known()))
}

/// Runs `envisa mutate`.
///
/// # Errors
/// A file without vISA, or without what could be made wrong that way.
pub fn run_mutate(args: &Mutate) -> Done {
    let bytes = io::read(&args.file)?;
    let shown = args.file.display();
    let wrong = |e: &dyn std::fmt::Display| Failure(format!("{shown}: {e}"));
    let zebin =
        bytes.starts_with(b"\x7fELF").then(|| ZebinFile::parse(&bytes)).transpose().map_err(|e| wrong(&e))?;
    let (text, section) = match &zebin {
        Some(file) => {
            let only = || file.kernels().next().map_or("", |k| k.name.as_str());
            let visa =
                file.kernel_visa(args.kernel.as_deref().unwrap_or_else(only)).map_err(|e| wrong(&e))?;
            (file.visa_text(visa).into_owned(), visa.section)
        }
        None => (String::from_utf8(bytes).map_err(|_| wrong(&"is neither a zebin nor vISA text"))?, 0),
    };
    let mut all: Vec<Plant> = plants(&text);
    all.retain(|p| args.kind.is_none_or(|k| k == p.kind));
    if args.list {
        for (n, p) in all.iter().enumerate() {
            io::print(&format!("{n} {}: line {}: {}\n", p.kind.name(), p.line + 1, p.before.trim()))?;
        }
        return Ok(Exit::Fine);
    }
    let Some(plant) = all.get(args.number) else {
        return Err(Failure(format!(
            "{shown}: the number is too large: {} places can be changed, counted from 0 (`--list` shows them)",
            all.len()
        )));
    };
    let made = plant.of(&text).into_bytes();
    let made = match zebin {
        Some(mut file) => {
            file.elf.sections[section].data = made;
            file.write().map_err(|e| wrong(&e))?
        }
        None => made,
    };
    if let Some(output) = &args.output {
        io::write(output, &made)?;
    }
    let after = if plant.after.is_empty() { "nothing" } else { plant.after.trim() };
    io::print(&format!(
        "{}: line {}: `{}` became `{after}`\n",
        plant.kind.name(),
        plant.line + 1,
        plant.before.trim()
    ))?;
    Ok(Exit::Fine)
}
