//! Translation cost: vISA text to a program that can run, against GenX_IR on the same text.

use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use envisa::zebin::ZebinFile;
use envisa::{Config, Device as Gpu, Module, Source};
use serde::{Deserialize, Serialize};

use crate::bench::{Spread, time};
use crate::corpus;
use crate::kernel::{Device, KernelFile};
use crate::machine::Machine;

/// One text's times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Translation {
    /// `GROUP/NAME`.
    pub kernel: String,
    /// Instructions in its text.
    pub instructions: usize,
    /// Least seconds of envisa: parse, verify, lower, make executable.
    pub envisa: f64,
    /// Least seconds of GenX_IR, from text to GEN code, start-up included.
    pub reference: Option<f64>,
}

/// All of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Translations {
    /// Where.
    pub machine: Machine,
    /// Whose texts.
    pub device: String,
    /// Runs of each, of which the least counts.
    pub repeats: usize,
    /// Texts.
    pub kernels: Vec<Translation>,
}

/// Measures every kernel of one unit (without separate functions) that is compiled for `device`.
///
/// # Errors
/// Where a product of the corpus cannot be read or translated.
pub fn run(kernels: &[KernelFile], device: Device, repeats: usize) -> Result<Translations, String> {
    let mut all = Vec::new();
    // Products of the vector compiler may lack their text.
    for k in kernels.iter().filter(|k| k.devices().contains(&device) && !k.header.vector) {
        let path = corpus::corpus_path(&corpus::corpus_folder(), device, k);
        let bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let zebin = ZebinFile::parse(&bytes).map_err(|e| format!("{}: {e}", k.id))?;
        if zebin.functions_visa().next().is_some() {
            continue;
        }
        let unit = zebin.kernel_visa(k.function()).map_err(|e| format!("{}: {e}", k.id))?;
        let text = zebin.visa_text(unit).into_owned();
        let source = Source::Zebin(&bytes);
        let platform_of = source.platform().map_err(|e| format!("{}: {e}", k.id))?;
        let gpu = Gpu::new(Config::new(platform_of.ok_or("a zebin of no platform")?));
        let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
        std::fs::write(dir.path().join("k.visaasm"), &text).map_err(|e| e.to_string())?;
        let (mut ours, mut theirs, mut instructions) = (f64::INFINITY, Some(f64::INFINITY), 0);
        for _ in 0..repeats.max(1) {
            // A module keeps the kernels that it has made.
            let module = Module::load(&gpu, &k.id, source).map_err(|e| format!("{}: {e}", k.id))?;
            let start = Instant::now();
            let loaded = module.kernel(k.function()).map_err(|e| format!("{}: {e}", k.id))?;
            ours = ours.min(start.elapsed().as_secs_f64());
            instructions = loaded.instructions();
            let start = Instant::now();
            let status = Command::new("GenX_IR")
                .args(["k.visaasm", "-platform", device.platform().name(), "-binary"])
                .current_dir(dir.path())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            let seconds = start.elapsed().as_secs_f64();
            theirs = match status {
                Ok(s) if s.success() => theirs.map(|t| t.min(seconds)),
                _ => None,
            };
        }
        all.push(Translation { kernel: k.id.clone(), instructions, envisa: ours, reference: theirs });
    }
    Ok(Translations { machine: Machine::here(), device: device.name().to_owned(), repeats, kernels: all })
}

/// The line through points by least squares: value at zero, and slope.
pub fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    let (sx, sy) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0, y + p.1));
    let (sxx, sxy) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 * p.0, y + p.0 * p.1));
    let below = n * sxx - sx * sx;
    if points.len() < 2 || below <= 0.0 {
        return None;
    }
    let slope = (n * sxy - sx * sy) / below;
    Some(((sy - slope * sx) / n, slope))
}

impl Translations {
    /// GenX_IR's time over envisa's, text by text, as far as there is one.
    pub fn ratios(&self) -> Vec<f64> {
        self.kernels.iter().filter_map(|k| Some(k.reference? / k.envisa)).collect()
    }

    /// Their geometric mean.
    pub fn mean(&self) -> Option<f64> {
        let ratios = self.ratios();
        (!ratios.is_empty()).then(|| (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp())
    }

    /// The section of the report.
    pub fn section(&self, command: &str, record: &str) -> String {
        let mut t = String::new();
        let _ = writeln!(
            t,
            "## Translation\n\n\
             Written by `{command}`; the record of the run is [{record}]({record}).\n\n\
             - machine: {}\n- texts: the {} kernels of the corpus for {} that are one unit\n\n\
             This is the time from the text of a kernel to an executable program. envisa parses, verifies and \
             lowers the text and decodes it for its interpreter, in the process of the benchmark. `GenX_IR \
             -binary` reads the same text and writes GEN code; it is a process of its own, so its time includes \
             its start-up. They run alternately, {} times each, and the least time counts. GenX_IR also \
             allocates registers and schedules instructions, which envisa does not need to do.\n",
            self.machine.describe(),
            self.kernels.len(),
            self.device,
            self.repeats
        );
        let ours: Vec<(f64, f64)> = self.kernels.iter().map(|k| (k.instructions as f64, k.envisa)).collect();
        let theirs: Vec<(f64, f64)> =
            self.kernels.iter().filter_map(|k| Some((k.instructions as f64, k.reference?))).collect();
        for (name, points) in [("envisa", &ours), ("GenX_IR", &theirs)] {
            if let Some((zero, slope)) = line(points) {
                let _ = writeln!(
                    t,
                    "- {name}: {} and {} an instruction (least squares over {} texts)",
                    time(zero.max(0.0)),
                    time(slope),
                    points.len()
                );
            }
        }
        let ratios = self.ratios();
        match Spread::of(&ratios).zip(self.mean()) {
            Some((s, mean)) => {
                let _ = writeln!(
                    t,
                    "- GenX_IR's time over envisa's: geometric mean {mean:.1}, median {:.1} ({:.1}–{:.1})",
                    s.median, s.min, s.max
                );
            }
            None => t.push_str("- GenX_IR is not installed: not compared\n"),
        }
        let refused: Vec<&str> =
            self.kernels.iter().filter(|k| k.reference.is_none()).map(|k| k.kernel.as_str()).collect();
        if !ratios.is_empty() && !refused.is_empty() {
            let _ = writeln!(
                t,
                "- GenX_IR gives no code for {} of the texts: {}",
                refused.len(),
                refused.join(", ")
            );
        }
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let (zero, slope) = line(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap();
        assert!((zero - 1.0).abs() < 1e-12 && (slope - 2.0).abs() < 1e-12);
        assert_eq!(line(&[(1.0, 1.0), (1.0, 2.0)]), None);
    }
}
