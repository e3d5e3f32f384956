//! Conformance of the code of another compiler, compiled in the run and not kept.

use std::path::Path;
use std::process::Command;

use crate::conformance::{self, Conformance};
use crate::corpus;
use crate::kernel::{Device, KernelFile};
use crate::machine::Machine;

/// The devices that are asked of it unless told: the newest three, and what the committed corpus has, too.
pub const DEVICES: [Device; 5] = [Device::Bmg, Device::Ptl, Device::Cri, Device::Pvc, Device::Dg2];
/// The name of its block of the page.
pub const BLOCK: &str = "newer";

/// What its code came to.
#[derive(Debug)]
pub struct Newer {
    /// The compiler's version, as it says.
    pub version: String,
    /// What it refuses: kernel, device, why.
    pub refused: Vec<(String, Device, String)>,
    /// The results.
    pub conformance: Conformance,
}

/// Compiles `kernels` for `devices` with `ocloc` into a folder that goes with the run, and holds their results against
/// PoCL's. From then on the process knows that corpus alone.
///
/// # Errors
/// Where the compiler cannot be run, nothing compiles, or PoCL gives nothing.
pub fn run(kernels: &[KernelFile], devices: &[Device], jobs: usize, ocloc: &Path) -> Result<Newer, String> {
    let version =
        Command::new(ocloc).arg("--version").output().map_err(|e| format!("{}: {e}", ocloc.display())).map(
            |o| String::from_utf8_lossy(&o.stdout).lines().next().unwrap_or_default().trim().to_owned(),
        )?;
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let written = corpus::write(kernels, devices, Some(ocloc), folder.path(), false)?;
    if written.files == 0 {
        let why = written.wrong.first().map_or("there is no kernel for these devices", |w| &w.2);
        return Err(format!("{} compiles nothing: {why}", ocloc.display()));
    }
    corpus::use_folder(folder.path().to_owned());
    let conformance = conformance::run(kernels, devices, &[], jobs)?;
    Ok(Newer { version, refused: written.wrong, conformance })
}

/// The compiler's own line of what went wrong, rather than ours about it.
fn reason(why: &str) -> &str {
    let mut lines = why.lines().map(str::trim).filter(|l| !l.is_empty());
    lines.clone().find(|l| l.contains("error") || l.contains("Invalid")).or(lines.next()).unwrap_or_default()
}

impl Newer {
    /// Its part of the page.
    pub fn section(&self, machine: &Machine) -> String {
        let mut out = format!(
            "## Today's compiler\n\n\
             Written by `cargo run --release -p envisa-suite -- conformance --newer OCLOC --write`, on {}.\n\n\
             The same kernels, compiled in the run by `ocloc` {}; nothing of that is committed. What is explained is \
             what is explained above. Xe2 is `bmg`, Xe3 `ptl`, Xe3P `cri`.\n\n{}\n",
            machine.date,
            self.version,
            self.conformance.summary(),
        );
        if self.refused.is_empty() {
            out.push_str("The compiler takes all of them.\n\n");
        }
        for (kernel, device, why) in &self.refused {
            let why = reason(why);
            out.push_str(&format!(
                "- {kernel} on {}: the compiler refuses it: {}\n",
                device.name(),
                why.trim()
            ));
        }
        if !self.refused.is_empty() {
            out.push('\n');
        }
        out.push_str(&self.conformance.table().to_markdown());
        out
    }
}
