//! `envisa extract`: writes the parts of a zebin to files.

use crate::cmd::{Done, Exit, Failure, Report, load};
use crate::io;
use envisa::diag::Diagnostic;
use envisa_harness::files::Kind;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  envisa extract vadd.zebin                       writes vadd.visaasm, the text that findings point to
  envisa extract vadd.zebin --kernel vadd -o -    to standard output
  envisa extract app.zebin -o parts --all         also the SPIR-V and the metadata";

/// Write the vISA text of a zebin's kernels and functions to files, unchanged.
///
/// Findings of `run` and `check` refer to lines of these texts. Each kernel and function becomes a file NAME.visaasm.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The zebin; `-` is standard input.
    input: PathBuf,
    /// Write only this kernel and the functions that it calls.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// The output folder, which is created if it does not exist. `-` is standard output, for a kernel that calls no
    /// functions.
    #[arg(short, long, value_name = "FOLDER", default_value = ".")]
    output: PathBuf,
    /// Also write module.spv (the SPIR-V, if the zebin has it) and module.ze_info (the metadata).
    #[arg(long)]
    all: bool,
}

/// A name that is safe as a file's: names of a zebin are input.
fn file_name(name: &str, extension: &str) -> Result<String, Failure> {
    let fine = |c: char| c.is_ascii_alphanumeric() || "_-.$".contains(c);
    if name.is_empty() || name.len() > 200 || name.starts_with('.') || !name.chars().all(fine) {
        return Err(Failure(format!(
            "`{name}` is not a name for a file; write it with `--kernel NAME -o -`"
        )));
    }
    Ok(format!("{name}.{extension}"))
}

/// Runs the command.
///
/// # Errors
/// Where the file cannot be read, the texts cannot be written, or there is no such kernel.
pub fn run(args: &Args) -> Done {
    let mut report = Report::default();
    let bytes = io::read(&args.input)?;
    let name = load::display(&args.input);
    if Kind::of(Path::new(&name), &bytes) != Kind::Zebin {
        report.diagnostics.push(Diagnostic::error(load::KIND, format!("{name}: is not a zebin")));
        return report.finish();
    }
    let Some(file) = load::load_zebin(&name, &bytes, &mut report) else { return report.finish() };
    let mut texts: Vec<(String, Vec<u8>)> = Vec::new();
    for kernel in load::select_kernels(&file, args.kernel.as_deref())? {
        match load::kernel_units("", &file, kernel) {
            Ok(units) => {
                for (label, text) in units {
                    let label = label.trim_start_matches(':').to_owned();
                    if !texts.iter().any(|(l, _)| *l == label) {
                        texts.push((label, text));
                    }
                }
            }
            Err(e) => report.diagnostics.push(Diagnostic::error("E0821", e)),
        }
    }
    if args.output.as_os_str() == "-" {
        let [(_, text)] = &texts[..] else {
            let all: Vec<&str> = texts.iter().map(|(l, _)| l.as_str()).collect();
            return Err(Failure(format!(
                "{} texts do not fit into standard output ({}); give a folder as `-o`",
                texts.len(),
                all.join(", ")
            )));
        };
        io::write(&args.output, text)?;
        return report.finish();
    }
    std::fs::create_dir_all(&args.output).map_err(|e| Failure(format!("{}: {e}", args.output.display())))?;
    let mut files = Vec::new();
    for (label, text) in texts {
        files.push((file_name(&label, "visaasm")?, text));
    }
    if args.all {
        files.extend(file.spirv().map(|s| ("module.spv".to_owned(), s.to_vec())));
        let info = file.elf.sections.iter().find(|s| s.name == ".ze_info");
        files.extend(info.map(|s| ("module.ze_info".to_owned(), s.data.clone())));
    }
    let mut said = String::new();
    for (name, content) in files {
        let path = args.output.join(name);
        io::write(&path, &content)?;
        said.push_str(&format!("{}\n", path.display()));
    }
    io::print(&said)?;
    match report.finish()? {
        Exit::Fine => Ok(Exit::Fine),
        other => Ok(other),
    }
}
