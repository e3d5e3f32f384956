//! Speed through the OpenCL driver, with the same host program for envisa and its peers, and the cost of a small launch.

use std::fmt::Write as _;

use crate::bench::{Bench, KernelTimes, PeerTimes, Spread, ratio, time};
use crate::peer::Peer;
use crate::report::Table;

fn of<'a>(k: &'a KernelTimes, peer: &str) -> Option<&'a PeerTimes> {
    k.peers.iter().find(|p| p.peer == peer && !p.seconds.is_empty())
}

/// A peer's time over that of envisa's driver, round by round.
fn over(k: &KernelTimes, peer: &str) -> Option<Spread> {
    let (theirs, ours) = (of(k, peer)?, of(k, Peer::Driver.name())?);
    let ratios: Vec<f64> = theirs.seconds.iter().zip(&ours.seconds).map(|(t, o)| t / o).collect();
    Spread::of(&ratios)
}

/// The geometric mean of a peer's middle ratios to envisa's driver, and of how many kernels.
pub fn mean(b: &Bench, peer: &str) -> Option<(f64, usize)> {
    let logs: Vec<f64> = b.kernels.iter().filter_map(|k| Some(over(k, peer)?.median.ln())).collect();
    (!logs.is_empty()).then(|| ((logs.iter().sum::<f64>() / logs.len() as f64).exp(), logs.len()))
}

/// Kernels whose launches are small, so that launching is what is measured: they run at their usual sizes.
pub const SMALL: &str = "launch/";

/// Is it one of the small launches?
pub fn is_small(k: &KernelTimes) -> bool {
    k.kernel.starts_with(SMALL)
}

/// The section of the page.
pub fn section(b: &Bench, command: &str, record: &str) -> String {
    let mut t = String::new();
    let _ = writeln!(
        t,
        "## Through the OpenCL driver\n\nWritten by `{command}`; the record of the run is [{record}]({record}).\n\n\
         - machine: {}\n- device: {}",
        b.machine.describe(),
        b.device
    );
    for (name, what) in &b.peers {
        let _ = writeln!(t, "- {name}: {what}");
    }
    let _ = writeln!(
        t,
        "\nThe method is that of the sections above, but envisa is called like its peers: the suite's host \
         program calls all of them through the loader, with the same source, and measures the time from \
         `clEnqueueNDRangeKernel` to the end of `clFinish`. *Library* is envisa without the driver, in the same \
         rounds. A ratio is the peer's time divided by the time of envisa's driver. The kernels in `launch/` do \
         almost nothing, so they measure the cost of a launch.\n"
    );
    let others: Vec<&str> =
        b.peers.iter().map(|p| p.0.as_str()).filter(|p| *p != Peer::Driver.name()).collect();
    let mut head: Vec<String> = ["kernel", "work-items", "driver", "library"].map(str::to_owned).to_vec();
    head.extend(others.iter().map(|p| format!("ratio to {p}")));
    let mut table = Table::new(head);
    for k in &b.kernels {
        let driver = of(k, Peer::Driver.name()).and_then(|p| Spread::of(&p.seconds));
        let shown = |s: Option<Spread>| s.map_or_else(|| "no result".to_owned(), |s| time(s.median));
        let name = k.kernel.trim_start_matches("bench/");
        let mut row = vec![name.to_owned(), k.work_items.to_string(), shown(driver), shown(k.spread)];
        row.extend(others.iter().map(|peer| {
            over(k, peer).map_or_else(
                || "–".to_owned(),
                |r| format!("{} ({}–{})", ratio(r.median), ratio(r.min), ratio(r.max)),
            )
        }));
        table.row(row);
    }
    t.push_str(&table.to_markdown());
    t.push('\n');
    for peer in others {
        if let Some((mean, kernels)) = mean(b, peer) {
            let _ = writeln!(t, "- to {peer}: geometric mean {} over {kernels} kernels", ratio(mean));
        }
    }
    for complaint in b.complaints() {
        let _ = writeln!(t, "- **{complaint}**");
    }
    t
}
