//! Compares PoCL, the reference, with other implementations: where they disagree, which of them stands alone, and why.

use std::fmt::Write as _;

use crate::compare::Comparison;
use crate::conformance::{Conformance, KernelResult, Verdict};
use crate::kernel::Device;
use crate::peer::Peer;
use crate::report::{Table, cell};

/// What a further peer came to on a kernel.
#[derive(Clone, Debug)]
pub struct Witness {
    /// Its result beside PoCL's, output by output; or why there is none.
    pub held: Result<Vec<(String, Comparison)>, String>,
    /// Devices on which envisa gives its result.
    pub with: Vec<Device>,
}

impl Witness {
    /// True where its result is PoCL's.
    pub fn agrees(&self) -> bool {
        matches!(&self.held, Ok(all) if all.iter().all(|(_, c)| c.passed()))
    }

    /// What is different, or why there is no result.
    fn cell(&self) -> String {
        match &self.held {
            Ok(all) => {
                let bad = all.iter().filter(|(_, c)| !c.passed());
                bad.map(|(n, c)| format!("`{n}`: {}", cell(c).trim_start_matches("FAIL: ")))
                    .collect::<Vec<_>>()
                    .join("; ")
            }
            Err(why) => {
                if let Some((_, signal)) = why.rsplit_once("(signal: ") {
                    return format!(
                        "no result: it crashes, signal {}",
                        signal.trim_end().strip_suffix(')').unwrap_or(signal)
                    );
                }
                // Its own words, without where they come from and what the suite adds.
                let noise = |part: &&str| {
                    !["OCLGRIND FATAL ERROR", "When creating kernel", "envisa-suite:"]
                        .iter()
                        .any(|n| part.starts_with(n))
                };
                let parts: Vec<&str> = why.split(" / ").filter(noise).collect();
                let said = if parts.is_empty() { why.clone() } else { parts.join(" / ") };
                format!("no result: {said}")
            }
        }
    }
}

/// Whose result envisa gives, on the devices that the kernel is compiled for, and what explains a difference.
fn judge(k: &KernelResult, peer: Peer, w: &Witness) -> (String, Result<String, String>) {
    let ran = |v: &Verdict| matches!(v, Verdict::Compared(_) | Verdict::Known(_) | Verdict::Unseen(_));
    let devices: Vec<Device> = k.verdicts.iter().filter(|(_, v)| ran(v)).map(|(d, _)| *d).collect();
    let with_pocl = devices.iter().all(|d| k.verdicts[d].passed());
    let with_peer = devices.iter().all(|d| w.with.contains(d));
    let stated = k.kernel.header.wrong_peers.iter().find(|p| p.peer == peer).map(|p| p.why.clone());
    let unexplained = || Err(format!("{} differs from PoCL, and nothing explains it", peer.name()));
    match (devices.is_empty(), with_pocl, with_peer) {
        (true, ..) => ("no result".to_owned(), stated.map_or_else(unexplained, Ok)),
        (_, true, false) => ("PoCL's result".to_owned(), stated.map_or_else(unexplained, Ok)),
        (_, false, true) => {
            let why =
                k.kernel.header.known.iter().map(|known| known.why.clone()).collect::<Vec<_>>().join("; ");
            (format!("{}'s result", peer.name()), if why.is_empty() { unexplained() } else { Ok(why) })
        }
        (_, true, true) => ("both, within the bounds".to_owned(), Ok("the bounds allow either".to_owned())),
        (_, false, false) => {
            ("now the one's, now the other's".to_owned(), stated.map_or_else(unexplained, Ok))
        }
    }
}

impl Conformance {
    /// Differences between peers that nothing explains, and explanations without a difference.
    pub fn disputes(&self) -> Vec<String> {
        let mut all = Vec::new();
        for k in &self.kernels {
            for (peer, w) in &k.witnesses {
                if let (Ok(_), false) = (&w.held, w.agrees())
                    && let (_, Err(why)) = judge(k, *peer, w)
                {
                    all.push(format!("{}: {why}: {}", k.kernel.id, w.cell()));
                }
                let stated = k.kernel.header.wrong_peers.iter().any(|p| p.peer == *peer);
                if stated && w.agrees() {
                    all.push(format!(
                        "{}: {} does not differ, though the header says so",
                        k.kernel.id,
                        peer.name()
                    ));
                }
            }
        }
        all
    }

    /// The section of the report; empty where no further peer was asked for.
    pub fn witness_section(&self) -> String {
        if self.witnesses.is_empty() {
            return String::new();
        }
        let mut t = String::from(
            "## The reference compared with other implementations\n\n\
             PoCL is the reference, but it can be wrong. Each kernel therefore also runs on the other installed \
             OpenCL implementations, from the same source and with the same inputs. If their result differs from \
             PoCL's by more than the same bounds, the table says with which of them envisa agrees, and which \
             implementation is wrong.\n\n",
        );
        let mut table = Table::new(["kernel", "peer", "beside PoCL", "envisa gives", "explanation"]);
        for (peer, described) in &self.witnesses {
            let name = peer.name();
            let describe = match described {
                Ok(describe) => describe,
                Err(why) => {
                    let _ = writeln!(t, "- {name}: left out: {}", why.trim());
                    continue;
                }
            };
            let on = || self.kernels.iter().filter_map(|k| Some((k, k.witnesses.get(peer)?)));
            let (all, same) = (on().count(), on().filter(|(_, w)| w.agrees()).count());
            let none = on().filter(|(_, w)| w.held.is_err()).count();
            let _ = writeln!(
                t,
                "- {name} ({describe}): {same} of {all} kernels give PoCL's result, {} give another, {none} give none",
                all - same - none
            );
            for (k, w) in on().filter(|(_, w)| !w.agrees()) {
                let row = match (&w.held, judge(k, *peer, w)) {
                    (Err(_), _) => {
                        let stated = k.kernel.header.wrong_peers.iter().find(|p| p.peer == *peer);
                        [
                            String::new(),
                            stated.map_or_else(|| format!("{name} cannot run it"), |p| p.why.clone()),
                        ]
                    }
                    (Ok(_), (gives, Ok(why))) => [gives, why],
                    (Ok(_), (gives, Err(why))) => [gives, format!("**{why}**")],
                };
                let [gives, why] = row;
                table.row([k.kernel.id.clone(), name.to_owned(), w.cell(), gives, why]);
            }
        }
        t.push('\n');
        t.push_str(&table.to_markdown());
        t
    }
}
