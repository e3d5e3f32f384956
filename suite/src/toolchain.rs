//! The toolchain's own figures: what the benches of the assembler and of the verifier measure, as sections of the report.

use std::fmt::Write as _;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::bench::time;
use crate::command_cost::cargo;
use crate::machine::Machine;
use crate::report::Table;

/// What the bench `assembler` of the crate `envisa-cli` measures. Seconds are processor time unless said otherwise.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assembler {
    /// Where.
    #[serde(default = "Machine::here")]
    pub machine: Machine,
    /// Instructions of the generated kernel.
    pub instructions: usize,
    /// Runs, of which the median counts, or the least where commands run.
    pub runs: usize,
    /// Runs of GenX_IR, of which the least counts.
    pub reference_runs: usize,
    /// Bytes of its text.
    pub text_bytes: usize,
    /// Bytes of its binary.
    pub binary_bytes: usize,
    /// Bytes of the text that the binary is printed as.
    pub printed_bytes: usize,
    /// Text to module.
    pub parse: f64,
    /// Module to bytes.
    pub write: f64,
    /// Text to bytes.
    pub assemble: f64,
    /// Greatest resident set of a process that does it, in MiB.
    pub assemble_mib: f64,
    /// `envisa as`: seconds that pass.
    pub command_as: f64,
    /// Bytes to module.
    pub read: f64,
    /// Module to text.
    pub print: f64,
    /// Bytes to text.
    pub disassemble: f64,
    /// Greatest resident set of a process that does it, in MiB.
    pub disassemble_mib: f64,
    /// `envisa dis`: seconds that pass.
    pub command_dis: f64,
    /// The same text on GenX_IR, where it is installed.
    pub genx_ir: Option<Reference>,
}

/// What GenX_IR takes for the text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reference {
    /// Start-up: a text with an error in its third line.
    pub start: f64,
    /// Parsing and building, less the start-up.
    pub parse: f64,
    /// Text to binary.
    pub all: f64,
    /// Greatest resident set of the latter, in MiB.
    pub mib: f64,
}

/// What the bench `verify` of the crate `envisa-verify` measures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Verifier {
    /// Where.
    #[serde(default = "Machine::here")]
    pub machine: Machine,
    /// Rounds, of which the least time counts.
    pub rounds: usize,
    /// Figures.
    pub rows: Vec<Verifying>,
}

/// One figure of the verifier.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Verifying {
    /// Whose kernels.
    pub platform: String,
    /// How many.
    pub kernels: usize,
    /// Their instructions.
    pub instructions: usize,
    /// What is looked for.
    pub what: String,
    /// For how many platforms at once.
    pub platforms: usize,
    /// Seconds of processor time.
    pub seconds: f64,
    /// What was found.
    pub findings: usize,
}

/// Builds a bench, so that nothing compiles while something is measured.
///
/// # Errors
/// Where Cargo cannot be started or the build fails.
pub fn build(package: &str, bench: &str) -> Result<(), String> {
    let status = cargo()
        .args(["bench", "--quiet", "-p", package, "--bench", bench, "--no-run"])
        .status()
        .map_err(|e| format!("cargo: {e}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("cargo bench -p {package} --bench {bench} --no-run: {status}"))
    }
}

/// Runs a bench and reads the record that it leaves.
fn measure<T: DeserializeOwned>(package: &str, bench: &str) -> Result<T, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let record = dir.path().join("record.json");
    let out = cargo()
        .args(["bench", "--quiet", "-p", package, "--bench", bench, "--", "--json"])
        .arg(&record)
        .output()
        .map_err(|e| format!("cargo: {e}"))?;
    let what = format!("cargo bench -p {package} --bench {bench}");
    if !out.status.success() {
        return Err(format!("{what}: {}\n{}", out.status, String::from_utf8_lossy(&out.stderr).trim()));
    }
    read_record(&record).map_err(|e| format!("{what}: {e}"))
}

/// Reads a record.
///
/// # Errors
/// Where the file cannot be read or is none.
pub fn read_record<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

impl Assembler {
    /// Runs the bench.
    ///
    /// # Errors
    /// What it or Cargo says.
    pub fn measure() -> Result<Assembler, String> {
        measure("envisa-cli", "assembler")
    }

    /// Bytes a second from text to binary.
    pub fn text_rate(&self) -> f64 {
        self.text_bytes as f64 / self.assemble
    }

    /// The section of the report.
    pub fn section(&self, command: &str, record: &str) -> String {
        let megabytes = |bytes: usize| bytes as f64 / 1e6;
        let mut t = String::new();
        let _ = writeln!(
            t,
            "## Assembler and disassembler\n\n\
             Written by `{command}`; the record of the run is [{record}]({record}).\n\n\
             - machine: {}\n\n\
             A generated kernel of {} instructions: {:.1} MB of text, {:.1} MB of binary. All use one core. \
             Times are processor time, the median of {} runs in one process. For commands, they are elapsed \
             time, including start-up and reading and writing files, the least of {} runs. For GenX_IR, they are \
             processor time, the least of {} runs. The verifier is not included: \
             `envisa as` checks only the requirements of the format, and `envisa check` checks the rest.\n",
            self.machine.describe(),
            self.instructions,
            megabytes(self.text_bytes),
            megabytes(self.binary_bytes),
            self.runs,
            self.runs,
            self.reference_runs
        );
        let mut table = Table::new(["", "time", "speed", "peak memory"]);
        let mut row = |what: &str, seconds: f64, bytes: usize, of: &str, mib: Option<f64>| {
            table.row([
                what.to_owned(),
                time(seconds),
                format!("{:.0} MB/s of {of}", megabytes(bytes) / seconds),
                mib.map_or_else(String::new, |m| format!("{m:.0} MiB")),
            ]);
        };
        row("parse", self.parse, self.text_bytes, "text", None);
        row("write", self.write, self.binary_bytes, "binary", None);
        row("text to bytes", self.assemble, self.text_bytes, "text", Some(self.assemble_mib));
        row("`envisa as`", self.command_as, self.text_bytes, "text", None);
        row("read", self.read, self.binary_bytes, "binary", None);
        row("print", self.print, self.printed_bytes, "text", None);
        row("bytes to text", self.disassemble, self.printed_bytes, "text", Some(self.disassemble_mib));
        row("`envisa dis`", self.command_dis, self.printed_bytes, "text", None);
        if let Some(g) = &self.genx_ir {
            let parse = format!(
                "GenX_IR, parse and build (to an error in the last line, less its start of {})",
                time(g.start)
            );
            row(&parse, g.parse, self.text_bytes, "text", None);
            let all = "GenX_IR, text to binary (`-stopafter CFG -noverifyCISA`)";
            row(all, g.all, self.text_bytes, "text", Some(g.mib));
        }
        t.push_str(&table.to_markdown());
        let _ = match &self.genx_ir {
            Some(g) => writeln!(
                t,
                "\nText to bytes is {:.0} times as fast as GenX_IR's parsing and building, and {:.0} times as fast as its \
                 way to the binary.",
                g.parse / self.assemble,
                g.all / self.assemble
            ),
            None => writeln!(t, "\nGenX_IR was not installed: not compared."),
        };
        t
    }
}

impl Verifier {
    /// Runs the bench.
    ///
    /// # Errors
    /// What it or Cargo says.
    pub fn measure() -> Result<Verifier, String> {
        measure("envisa-verify", "verify")
    }

    /// The most that 100,000 instructions take with rules and lints on, for the platform whose kernels they are.
    pub fn worst(&self) -> Option<f64> {
        let rows = self.rows.iter().filter(|r| r.platforms == 1 && r.what.contains("lints"));
        rows.map(|r| r.seconds * 1e5 / r.instructions as f64).max_by(f64::total_cmp)
    }

    /// The section of the report.
    pub fn section(&self, command: &str, record: &str) -> String {
        let mut t = String::new();
        let _ = writeln!(
            t,
            "## Verifying\n\n\
             Written by `{command}`; the record of the run is [{record}]({record}).\n\n\
             - machine: {}\n\n\
             The verifier checks the instructions of the corpus's kernels, parsed beforehand, on one core. Times \
             are thread time, the least of {} rounds. For several platforms at once, most of the time is spent \
             on writing the text of the findings.\n",
            self.machine.describe(),
            self.rounds
        );
        let mut table = Table::new([
            "kernels",
            "instructions",
            "what",
            "platforms",
            "time",
            "an instruction",
            "findings",
        ]);
        for r in &self.rows {
            table.row([
                format!("{}, {}", r.platform, r.kernels),
                r.instructions.to_string(),
                r.what.clone(),
                r.platforms.to_string(),
                time(r.seconds),
                format!("{:.0} ns", r.seconds * 1e9 / r.instructions as f64),
                r.findings.to_string(),
            ]);
        }
        t.push_str(&table.to_markdown());
        t
    }
}
