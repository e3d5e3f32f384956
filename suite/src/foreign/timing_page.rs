//! `docs/PERFORMANCE-FOREIGN.md`: foreign kernels side by side.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::replay::Side;
use super::timing::{NO_WORSE, Row, Run};
use crate::bench::{ratio, time};
use crate::report::Table;

/// The command that writes the page.
pub const COMMAND: &str = "cargo run --release -p envisa-suite -- performance --part foreign --write";

/// Its record, as seen from `docs`.
pub const RECORD: &str = "performance/foreign.json";

/// The pairs whose ratios are summed up: what, envisa, and the peer; without a peer the better of both.
const SUMS: [(&str, Side, Option<Side>); 4] = [
    ("the better of both", Side::Envisa, None),
    ("Intel's CPU runtime", Side::Envisa, Some(Side::Intel)),
    ("PoCL", Side::Envisa, Some(Side::Pocl)),
    ("Intel's CPU runtime, both held to AVX2", Side::EnvisaAvx2, Some(Side::IntelAvx2)),
];

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| (values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp())
}

impl Run {
    fn ratios(&self, suite: Option<&str>, envisa: Side, peer: Option<Side>) -> Vec<f64> {
        let of = |r: &&Row| suite.is_none_or(|s| r.name.split('/').next() == Some(s));
        let one = |r: &Row| peer.map_or_else(|| r.of_the_better(), |p| r.ratio(envisa, p));
        self.rows.iter().filter(of).filter_map(one).collect()
    }

    /// Beside the better peer: the geometric mean, of how many kernels, and how many are below [`NO_WORSE`].
    pub fn of_the_better(&self) -> Option<(f64, usize, usize)> {
        let all = self.ratios(None, Side::Envisa, None);
        Some((mean(&all)?, all.len(), all.iter().filter(|r| **r < NO_WORSE).count()))
    }

    /// What the kernels sum up to.
    pub fn sums(&self) -> String {
        let mut table =
            Table::new(["time of … over envisa's", "geometric mean", "kernels", "below 0.9", "below 0.5"]);
        for (what, envisa, peer) in SUMS {
            let all = self.ratios(None, envisa, peer);
            let Some(mean) = mean(&all) else { continue };
            let below = |most: f64| all.iter().filter(|r| **r < most).count().to_string();
            table.row([what.to_owned(), ratio(mean), all.len().to_string(), below(NO_WORSE), below(0.5)]);
        }
        table.to_markdown()
    }

    fn by_suite(&self) -> String {
        let mut table = Table::new(["suite", "kernels", "the better", "Intel", "PoCL", "Intel, AVX2"]);
        for suite in &self.suites {
            let name = suite[0].as_str();
            let cell = |envisa, peer| mean(&self.ratios(Some(name), envisa, peer)).map_or("–".into(), ratio);
            let kernels = self.rows.iter().filter(|r| r.name.split('/').next() == Some(name)).count();
            let cells = SUMS.map(|(_, envisa, peer)| cell(envisa, peer));
            table.row([name.to_owned(), kernels.to_string()].into_iter().chain(cells));
        }
        table.to_markdown()
    }

    /// All kernels, the slowest beside the better peer first.
    pub fn kernels(&self) -> String {
        let head = [
            "kernel",
            "work-items",
            "envisa",
            "PoCL",
            "Intel",
            "the better",
            "envisa, AVX2",
            "Intel, AVX2",
            "AVX2",
        ];
        let mut table = Table::new(head);
        let mut rows: Vec<&Row> = self.rows.iter().filter(|r| r.failed.is_none()).collect();
        rows.sort_by(|a, b| a.of_the_better().unwrap_or(9e9).total_cmp(&b.of_the_better().unwrap_or(9e9)));
        for r in rows {
            let cell = |side: Side| match r.times.get(side.name()) {
                Some(Ok(s)) => time(*s),
                Some(Err(_)) => "fails".to_owned(),
                None => "–".to_owned(),
            };
            let of = |r: Option<f64>| r.map_or("–".to_owned(), ratio);
            table.row([
                r.name.clone(),
                r.sizes.clone(),
                cell(Side::Envisa),
                cell(Side::Pocl),
                cell(Side::Intel),
                of(r.of_the_better()),
                cell(Side::EnvisaAvx2),
                cell(Side::IntelAvx2),
                of(r.ratio(Side::EnvisaAvx2, Side::IntelAvx2)),
            ]);
        }
        table.to_markdown()
    }

    /// What failed or differs, kernel by kernel, with its reason.
    fn exceptions(&self, explained: &BTreeMap<String, String>) -> String {
        let mut text = String::new();
        for r in &self.rows {
            let failed =
                r.times.iter().filter_map(|(side, t)| Some(format!("{side}: {}", t.as_ref().err()?)));
            let all: Vec<String> = failed.chain(r.differs.iter().cloned()).chain(r.failed.clone()).collect();
            if !all.is_empty() {
                let why = explained.get(&r.name).map_or("", String::as_str);
                let _ = writeln!(text, "- `{}`: {}. {why}", r.name, all.join("; "));
            }
        }
        text
    }

    /// The page.
    pub fn page(&self, explained: &BTreeMap<String, String>) -> String {
        let mut t = format!(
            "# Kernels of other people's suites\n\nWritten by `{COMMAND}`, after `envisa-suite foreign fetch`, which clones and \
             builds the suites and runs each program once on envisa's driver. That run keeps one launch of each kernel: of its first \
             four the one with the most work-items. Here the launch is repeated on each driver through the OpenCL API, from the \
             source and with the options, sizes and memory that the program gave. Each driver is a process of its own; they take \
             turns in five rounds, fewer where these take more than eight seconds. A time is the least one of a launch, from the call of `clEnqueueNDRangeKernel` to the end of \
             `clFinish`, by the wall's clock; memory is put back before each launch. A ratio is a driver's time over envisa's: \
             above 1 envisa is faster. `the better` is the faster of PoCL and Intel's CPU runtime. Results are compared after the \
             last launch: numbers of floating-point types within the tolerance, all else byte for byte.\n\n- {}: {}\n",
            self.machine.date,
            self.machine.describe()
        );
        for (side, about) in &self.sides {
            let _ = writeln!(t, "- {side}: {about}");
        }
        let _ = write!(t, "\n{}\n{}\n## Suites\n\n", self.sums(), self.by_suite());
        let mut suites = Table::new(["suite", "from", "licence", "sizes", "tolerance"]);
        self.suites.iter().for_each(|s| suites.row(s.iter().map(String::as_str)));
        let _ = write!(t, "{}\n## Kernels\n\n{}", suites.to_markdown(), self.kernels());
        let exceptions = self.exceptions(explained);
        if !exceptions.is_empty() {
            let _ = write!(t, "\n## What fails or differs\n\n{exceptions}");
        }
        t
    }
}
