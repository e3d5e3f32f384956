//! The plot of a benchmark run: for each kernel and peer the ratio with its spread, on a logarithmic scale.

use std::fmt::Write as _;

use crate::bench::{Bench, Spread, ratio};

/// Height of a kernel's row.
const ROW: f64 = 20.0;
/// Where the scale begins and how wide it is.
const LEFT: f64 = 150.0;
const WIDTH: f64 = 600.0;
/// Room for the numbers beside the scale, a column a peer.
const COLUMN: f64 = 90.0;
/// Room for title, legend and scale.
const TOP: f64 = 78.0;
const COLOURS: [&str; 3] = ["#2166ac", "#d6604d", "#4d9221"];

/// A ratio's place and words.
struct Point {
    spread: Spread,
    least: bool,
}

/// The scale: powers of ten from `low` to `high`.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// Where a ratio is.
    fn x(&self, r: f64) -> f64 {
        let r = r.max(f64::MIN_POSITIVE).log10().clamp(self.low, self.high);
        LEFT + (r - self.low) / (self.high - self.low) * WIDTH
    }

    /// Its lines and numbers.
    fn lines(&self, t: &mut String, bottom: f64) {
        for decade in self.low as i32..=self.high as i32 {
            for step in [1.0, 2.0, 5.0] {
                let value = 10f64.powi(decade) * step;
                if value > 10f64.powf(self.high) * 1.001 {
                    continue;
                }
                let (at, one) = (self.x(value), value == 1.0);
                let colour = if one {
                    "#444"
                } else if step == 1.0 {
                    "#c4c8cf"
                } else {
                    "#e6e8ec"
                };
                let _ = writeln!(
                    t,
                    "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{}\" y2=\"{bottom}\" stroke=\"{colour}\"/>",
                    TOP - 4.0
                );
                if step == 1.0 {
                    let _ = writeln!(
                        t,
                        "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#666\">{value}</text>",
                        TOP - 8.0
                    );
                }
            }
        }
    }
}

impl Bench {
    /// The plot as SVG.
    pub fn plot(&self) -> String {
        let peers: Vec<&str> = self.peers.iter().map(|(name, _)| name.as_str()).collect();
        let rows = self.ratios(&peers);

        let all = || rows.iter().flat_map(|r| &r.1).flatten().map(|p| p.spread).filter(|s| s.min > 0.0);
        let low = all().map(|s| s.min).fold(1.0, f64::min).log10().floor();
        let high = all().map(|s| s.max).fold(1.0, f64::max).log10().ceil().max(low + 1.0);
        let scale = Scale { low, high };
        let bottom = TOP + rows.len() as f64 * ROW;
        let width = LEFT + WIDTH + 36.0 + COLUMN * peers.len() as f64;
        let mut t = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{}\" viewBox=\"0 0 {width} {}\" \
             font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
            bottom + 20.0,
            bottom + 20.0
        );
        let _ = writeln!(
            t,
            "<text x=\"{LEFT}\" y=\"20\" font-size=\"14\" font-weight=\"bold\">Work-items a second: envisa's over the peer's\
             </text>\n<text x=\"{LEFT}\" y=\"38\" fill=\"#666\">right of 1 envisa is faster; the line spans the least and \
             the largest of {} rounds, the dot is the median</text>",
            self.repeats
        );
        // Every other row is shaded, so that the eye finds the number that belongs to a dot.
        for n in (0..rows.len()).step_by(2) {
            let y = TOP + n as f64 * ROW;
            let _ =
                writeln!(t, "<rect x=\"0\" y=\"{y}\" width=\"{width}\" height=\"{ROW}\" fill=\"#f4f5f7\"/>");
        }
        scale.lines(&mut t, bottom);
        let column = |i: usize| LEFT + WIDTH + 36.0 + COLUMN * i as f64;
        for (i, peer) in peers.iter().enumerate() {
            let _ = writeln!(
                t,
                "<circle cx=\"{}\" cy=\"{}\" r=\"5\" fill=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>",
                column(i) + 5.0,
                TOP - 12.0,
                COLOURS[i % COLOURS.len()],
                column(i) + 14.0,
                TOP - 8.0,
                peer.trim_end_matches(" CPU runtime")
            );
        }
        for (n, (name, points)) in rows.iter().enumerate() {
            let middle = TOP + (n as f64 + 0.5) * ROW;
            let last = n + 1 == rows.len();
            let weight = if last { " font-weight=\"bold\"" } else { "" };
            let base = middle + 4.0;
            let _ = writeln!(
                t,
                "<text x=\"{}\" y=\"{base}\" text-anchor=\"end\"{weight}>{name}</text>",
                LEFT - 8.0
            );
            for (i, point) in points.iter().enumerate() {
                let colour = COLOURS[i % COLOURS.len()];
                let Some(p) = point else {
                    let _ =
                        writeln!(t, "<text x=\"{}\" y=\"{base}\" fill=\"#999\">–</text>", column(i) + 14.0);
                    continue;
                };
                // Several peers share a row: a little apart, so that neither hides the other.
                let y = middle + (i as f64 - (points.len() as f64 - 1.0) / 2.0) * 4.0;
                let s = p.spread;
                let _ = writeln!(
                    t,
                    "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y}\" y2=\"{y}\" stroke=\"{colour}\" stroke-width=\"2\" \
                     stroke-opacity=\"0.6\"/><circle cx=\"{:.1}\" cy=\"{y}\" r=\"4\" fill=\"{colour}\"/>\
                     <text x=\"{}\" y=\"{base}\"{weight}>{}{}</text>",
                    scale.x(s.min),
                    scale.x(s.max),
                    scale.x(s.median),
                    column(i) + 14.0,
                    if p.least { "over " } else { "" },
                    ratio(s.median)
                );
            }
        }
        t.push_str("</svg>\n");
        t
    }

    /// The rows: the kernels and their mean, each with its ratio to each peer.
    fn ratios(&self, peers: &[&str]) -> Vec<(String, Vec<Option<Point>>)> {
        let mut rows: Vec<(String, Vec<Option<Point>>)> = Vec::new();
        for k in &self.kernels {
            let of = |peer: &&str| {
                let p = k.peers.iter().find(|p| p.peer == **peer)?;
                match (p.ratio, p.beyond, k.spread) {
                    (Some(spread), ..) => Some(Point { spread, least: false }),
                    (None, Some(limit), Some(ours)) => {
                        let r = limit / ours.median;
                        Some(Point { spread: Spread { min: r, median: r, max: r }, least: true })
                    }
                    _ => None,
                }
            };
            let mark = k.mark();
            let name = format!("{}{mark}", k.kernel.trim_start_matches("bench/"));
            rows.push((name, peers.iter().map(of).collect()));
        }
        let mean = |peer: &&str| {
            let m = self.mean(peer)?;
            Some(Point { spread: Spread { min: m.ratio, median: m.ratio, max: m.ratio }, least: m.least > 0 })
        };
        rows.push(("geometric mean".to_owned(), peers.iter().map(mean).collect()));
        rows
    }
}
