//! Running programs: each side is an OpenCL driver, which is the only one that the program finds.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::fetch::{self, Place};
use super::results::{self, Format};
use super::{Checked, Program, Run, Status};

/// An OpenCL driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Side {
    /// envisa.
    Envisa,
    /// Portable Computing Language.
    Pocl,
    /// Intel's CPU runtime; `ENVISA_INTEL_ICD` names its library.
    Intel,
}

impl Side {
    /// All of them.
    pub const ALL: [Side; 3] = [Side::Envisa, Side::Pocl, Side::Intel];

    /// Name for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Side::Envisa => "envisa",
            Side::Pocl => "PoCL",
            Side::Intel => "Intel CPU runtime",
        }
    }

    /// Its library, if it is installed.
    fn library(self, envisa: &Path) -> Option<PathBuf> {
        match self {
            Side::Envisa => Some(envisa.with_file_name("libenvisa_opencl.so")),
            Side::Pocl => {
                let text = std::fs::read_to_string("/etc/OpenCL/vendors/pocl.icd").ok()?;
                Some(PathBuf::from(text.trim()))
            }
            Side::Intel => std::env::var_os("ENVISA_INTEL_ICD").map(PathBuf::from).filter(|p| p.is_file()),
        }
    }
}

/// Runs programs.
pub struct Runner {
    cache: PathBuf,
    envisa: PathBuf,
}

impl Runner {
    /// With the command and the driver that were built beside the suite.
    ///
    /// # Errors
    /// If they were not.
    pub fn new() -> Result<Runner, String> {
        let own = std::env::current_exe().map_err(|e| e.to_string())?;
        let envisa = own.with_file_name("envisa");
        for file in ["envisa", "libenvisa_opencl.so", "envisa-compiler"] {
            let path = own.with_file_name(file);
            if !path.is_file() {
                return Err(format!(
                    "{} is not built: cargo build --release -p envisa-cli -p envisa-opencl",
                    path.display()
                ));
            }
        }
        Ok(Runner { cache: fetch::cache()?, envisa })
    }

    /// Gets a program.
    ///
    /// # Errors
    /// If it cannot be had.
    pub fn fetch(&self, program: &Program) -> Result<Place, String> {
        fetch::fetch(&self.cache, program)
    }

    /// Runs a program; `None` if the side is not installed.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn run(&self, program: &Program, place: &Place, side: Side) -> Result<Option<Run>, String> {
        let out = place.folder.join(side.name().replace(' ', "-"));
        self.run_in(program, place, side, &out, None)
    }

    /// Runs a program on envisa under the checks.
    ///
    /// # Errors
    /// If it cannot be started, or told nothing.
    pub fn check(&self, program: &Program, place: &Place) -> Result<Checked, String> {
        let out = place.folder.join("checked");
        let report = place.folder.join("checked.json");
        let _ = std::fs::remove_file(&report);
        let run = self.run_in(program, place, Side::Envisa, &out, Some(&report))?;
        let run = run.ok_or("envisa is not built")?;
        Checked::read(run, &lossy(&report))
    }

    /// Runs it with what it writes in a folder; under the checks if their report is wanted.
    fn run_in(
        &self,
        program: &Program,
        place: &Place,
        side: Side,
        out: &Path,
        report: Option<&Path>,
    ) -> Result<Option<Run>, String> {
        let Some(library) = side.library(&self.envisa) else { return Ok(None) };
        let failed = |e: std::io::Error| format!("{}: {e}", out.display());
        // What an earlier run left must not be taken for this one's.
        let _ = std::fs::remove_dir_all(out);
        std::fs::create_dir_all(out.join("vendors")).map_err(failed)?;
        std::fs::write(out.join("vendors/only.icd"), format!("{}\n", library.display())).map_err(failed)?;
        let results = out.join("results");
        let fill = |text: &str| place.fill(text).replace("{results}", &results.display().to_string());
        // Interrupted rather than ended: what was launched, and which tests passed until then, is told when the
        // program ends by itself. What a shell runs in the background ignores interrupts, unless they are reset.
        let limit = program.limit.to_string();
        let timeout = ["timeout", "--signal=INT", "--kill-after=60", &limit, "env", "--default-signal=INT"];
        let mut command =
            Command::new(if side == Side::Envisa { self.envisa.as_os_str() } else { timeout[0].as_ref() });
        match (side, report) {
            (Side::Envisa, Some(report)) => {
                command.args(["exec", "--check", "--device", &program.device, "--json"]).arg(report);
                command.arg("--").args(timeout);
            }
            (Side::Envisa, None) => {
                command.args(["exec", "--device", &program.device, "--"]).args(timeout);
            }
            _ => {
                command.args(&timeout[1..]);
            }
        }
        let words = program.check.as_ref().filter(|_| report.is_some()).unwrap_or(&program.command);
        command.args(words.iter().map(|a| fill(a)));
        let folder = program.folder.as_deref().map(|f| PathBuf::from(fill(f)));
        command.current_dir(folder.unwrap_or_else(|| out.to_owned()));
        command.env("OCL_ICD_VENDORS", out.join("vendors")).env("OCL_ICD_FILENAMES", &library);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        if place.root().is_dir() {
            let root = place.root().display().to_string();
            command.env("LD_LIBRARY_PATH", found(&format!("{root}/usr/lib/x86_64-linux-gnu:{root}/usr/lib")));
        }
        for (name, value) in &program.environment {
            let value = fill(value);
            command.env(name, if name == "LD_LIBRARY_PATH" { found(&value) } else { value });
        }
        let log = File::create(out.join("out")).map_err(failed)?;
        let errors = File::create(out.join("err")).map_err(failed)?;
        let start = Instant::now();
        let status = command
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .status()
            .map_err(|e| format!("{}: {e}", program.command[0]))?;
        let seconds = start.elapsed().as_secs_f64();
        let told = match program.results {
            Format::Lines => results::lines(&lossy(&out.join("out"))),
            Format::Junit => {
                let text = lossy(&results);
                if text.is_empty() { Vec::new() } else { results::junit(&text)? }
            }
        };
        let count = |status: Status| told.iter().filter(|c| c.status == status).count();
        let (passed, skipped) = (count(Status::Passed), count(Status::Skipped));
        let mut cases: Vec<_> = told.into_iter().filter(|c| c.status == Status::Failed).collect();
        // Findings are another exit code than the program's own.
        let own = report.and_then(|path| super::checked::exit(&lossy(path)));
        let code = own.or(status.code());
        // A program that interrupts do not end takes the command that watches it along.
        let too_long = matches!(code, Some(124 | 137)) || (code.is_none() && seconds >= program.limit as f64);
        let quiet = cases.is_empty();
        // A program that breaks down before it tells of its tests has failed.
        if too_long || (quiet && code != Some(0)) || passed + skipped + cases.len() == 0 {
            let err = lossy(&out.join("err"));
            let last = err.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default().to_owned();
            let says = match (too_long, code) {
                (true, _) => format!("stopped after {} s, which is its limit here", program.limit),
                (_, Some(code)) => format!("exit code {code}: {last}"),
                (_, None) => format!("{status}: {last}"),
            };
            cases.push(super::Case { name: "the program".into(), status: Status::Failed, says });
        }
        Ok(Some(Run { seconds, too_long, code, cases, passed, skipped }))
    }
}

/// Folders of libraries: the program's first, then what a peer needs.
fn found(own: &str) -> String {
    match std::env::var("LD_LIBRARY_PATH") {
        Ok(peers) if !peers.is_empty() => format!("{own}:{peers}"),
        _ => own.to_owned(),
    }
}

fn lossy(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}
