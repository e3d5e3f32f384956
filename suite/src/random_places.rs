//! The checks of kernels whose work-items access places that follow from their ids: what is found where the checks see
//! beforehand that each has a place of its own is what is found where they look at all accesses.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use envisa::{Arg, Config, Device, Engine, Footprint, Module, Source};
use envisa_ocloc::{Build, Rewrite};

use crate::random_checks::{Numbers, Said};

/// The kernels. Factors, offsets and the guard are arguments, so that one build serves all launches.
const SOURCE: &str = "
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#define KERNEL(name) kernel void name(global int *a, global int *b, int fx, int fy, int c, int d, int n)
#define IDS int x = get_global_id(0), y = get_global_id(1), at = fx * x + fy * y + c
KERNEL(stores) { IDS; a[at] = x; }
KERNEL(adds) { IDS; a[at] = a[at + d] + 1; }
KERNEL(stores_two) { IDS; a[at] = x; a[at + d] = y; }
KERNEL(copies) { IDS; a[at] = b[at + d]; }
KERNEL(guarded) { IDS; if (x < n) a[at] = b[at + d]; }
KERNEL(guarded_late) { IDS; int s = 0; for (int k = 0; k < (n & 7); k++) s += b[k]; if (y < n) s++; a[at] = s; }
KERNEL(groups) { int g = get_group_id(0), l = get_local_id(0) + 8 * get_local_id(1); a[fx * g + fy * l + c] = g; }
KERNEL(bytes) { IDS; ((global uchar *)a)[at] = x; }
KERNEL(words) { IDS; ((global short *)a)[at] = ((global short *)b)[at + d]; }
KERNEL(longs) { size_t x = get_global_id(0), y = get_global_id(1); ((global long *)a)[fx * x + fy * y + c] = x; }
KERNEL(fours) { IDS; vstore4((int4)(x, y, c, d), 0, a + at); }
KERNEL(threes) { IDS; vstore3((int3)(x, y, c), at, a); }
KERNEL(members) { IDS; a[4 * at] += d; a[4 * at + 1] -= a[4 * at + 3]; }
KERNEL(shifted) { IDS; a[(at << 1) + (at >> 1)] = x; }
KERNEL(shuffled) { IDS; if (x & 1) { int v = b[x & 7] + d; a[at] = sub_group_shuffle(v, n & 3); } }
KERNEL(crossed) { IDS; int other = fy * x + fx * y + c; if (n & 1) a[other] = x; else b[x] = a[other]; a[at] = y; }
KERNEL(both) { IDS; b[at] = x; a[at] = b[at + d]; }
KERNEL(guarded_both) { IDS; if (x < n && y < n) a[at] = b[at + d]; }
KERNEL(guarded_either) { IDS; if (x < n || y == 0) a[at] = x; }
KERNEL(guarded_not) { IDS; if (!(x < n && y > 1)) a[at] = x; }
KERNEL(returns) { IDS; if (x >= n) return; a[at] = y; }
KERNEL(returns_late) { IDS; if (x >= n) return; if (y == c) return; a[at] = b[at]; if (x < d) return; a[at + 1] = y; }
KERNEL(inside) { IDS; if (x > 0 && x < n - 1 && y > 0) a[at] = b[at - 1] + b[at + 1]; }
KERNEL(nested) { IDS; if (x < n) { if (y < n) a[at] = x; else a[at] = y; } }
KERNEL(one_way) { IDS; if (d) a[at] = x; else b[at] = y; }
KERNEL(leads) { int g = get_group_id(0), h = get_group_id(1); if (get_local_id(0) == 0) a[fx * g + fy * h + c] = d; }
KERNEL(alone) { IDS; if (x == n && y == d) a[c] = x; }
KERNEL(loops) { IDS; if (x < n) for (int k = 0; k < (d & 3); k++) a[at] += b[k]; }
KERNEL(sizes) { size_t x = get_global_id(0); if (x < (size_t)n) a[fx * x + c] = d; }
KERNEL(wraps) { IDS; if ((uint)(x - 1) < (uint)n) a[at] = y; }
KERNEL(doubled) { IDS; if (fx * x + d < n) a[at] = y; }
KERNEL(asks) { IDS; if (b[x & 7] > c && x < n) a[at] = y; }
KERNEL(behind) { IDS; if (x < n) b[at] = y; a[at] = x; }
KERNEL(edge) { IDS; if (x == 0) a[at] = d; else a[at] = y; }
KERNEL(edge_alone) { IDS; if (y == 0) a[fx * x + c] = d; else a[at] = a[at] + b[x]; }
KERNEL(edges) { IDS; if (x != n - 1 && y != 0) a[at] = b[at]; else b[at] = x; }
KERNEL(diagonal) { IDS; if (x + y < n) a[x + y + c] = y; }
KERNEL(either_asks) { IDS; if (x < n || b[x & 7] > 3 * c) a[at] = y; }
KERNEL(rows) { IDS; if (x < n && y < n) a[y * n + x] = d; }
KERNEL(columns) { IDS; if (x < n && y < n) a[x * n + y] = d; }
";

const KERNELS: [&str; 40] = [
    "stores",
    "adds",
    "stores_two",
    "copies",
    "guarded",
    "guarded_late",
    "groups",
    "bytes",
    "words",
    "longs",
    "fours",
    "threes",
    "members",
    "shifted",
    "shuffled",
    "crossed",
    "both",
    "guarded_both",
    "guarded_either",
    "guarded_not",
    "returns",
    "returns_late",
    "inside",
    "nested",
    "one_way",
    "leads",
    "alone",
    "loops",
    "sizes",
    "wraps",
    "doubled",
    "asks",
    "behind",
    "edge",
    "edge_alone",
    "edges",
    "diagonal",
    "either_asks",
    "rows",
    "columns",
];

/// What came of many launches.
#[derive(Debug, Default)]
pub struct Count {
    /// Launches of which nothing was found.
    pub clean: AtomicU64,
    /// Launches with races.
    pub races: AtomicU64,
    /// Launches that were stopped by a fault.
    pub faults: AtomicU64,
    /// Launches that used memory that nothing wrote.
    pub unwritten: AtomicU64,
    /// Launches that used registers that nothing wrote.
    pub registers: AtomicU64,
}

/// The arguments and sizes of a launch.
#[derive(Debug)]
struct Shape {
    kernel: &'static str,
    global: [u64; 2],
    local: [u64; 2],
    numbers: [i32; 5],
    bytes: [u64; 2],
    fresh: bool,
}

fn shape(seed: u64) -> Shape {
    let mut r = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    // Neighbouring seeds begin alike.
    let _ = [r.below(2), r.below(2), r.below(2)];
    let mut pick = |of: &[u64]| of[r.below(of.len() as u64) as usize];
    let kernel = KERNELS[pick(&std::array::from_fn::<u64, 40, _>(|n| n as u64)) as usize];
    let local = [pick(&[1, 8, 16, 32, 33]), pick(&[1, 1, 2, 4])];
    let groups = [pick(&[1, 2, 3, 5]), pick(&[1, 1, 2, 3])];
    // Now and then the last group is smaller.
    let less = pick(&[0, 0, 0, 1]);
    let global = [0, 1].map(|n| (local[n] * groups[n]).saturating_sub(less * (local[n] / 2)).max(1));
    let step = pick(&[1, 1, 1, 1, 2, 4, 0]) as i32;
    let row = global[0] as i32 * step;
    let other = [row, row + 3, row - 1, 0, 1][pick(&[0, 0, 0, 0, 0, 0, 1, 2, 3, 4]) as usize];
    let swapped = pick(&[0, 0, 0, 1]) == 1;
    let (fx, fy) = if swapped { (global[1] as i32, 1) } else { (step, other) };
    let c = pick(&[0, 0, 0, 0, 1, 5]) as i32;
    let d = [0, 1, -1, step, row, 3][pick(&[0, 0, 0, 0, 1, 2, 3, 4, 5]) as usize];
    let n = [global[0], global[0] / 2, global[0] + 1, 0, global[0] - 1][pick(&[0, 0, 1, 2, 3, 4]) as usize]
        as i32;
    let most = (fx.max(0) as u64 * global[0] + fy.max(0) as u64 * global[1] + 16) * 4;
    let bytes =
        [0, 1].map(|_| (most * pick(&[1, 4, 5, 5])).saturating_sub(pick(&[0, 0, 0, 64, 100])).max(4) & !3);
    Shape { kernel, global, local, numbers: [fx, fy, c, d, n], bytes, fresh: pick(&[0, 1]) == 1 }
}

/// The kernels, as they were built for a device, for checks or not.
pub struct Places {
    bytes: Vec<u8>,
    own: bool,
}

/// What is wrong of a footprint whose reads need not be exact, if anything is.
fn wrong(exact: &Footprint, rough: &Footprint) -> Option<&'static str> {
    let within = |few: &[Range<u64>], many: &[Range<u64>]| {
        few.iter().all(|f| {
            let mut at = f.start;
            while let Some(range) = many.iter().find(|range| range.start <= at && at < range.end) {
                at = range.end;
            }
            at >= f.end
        })
    };
    let all: Vec<Range<u64>> = rough.read.iter().chain(&rough.may_read).cloned().collect();
    match () {
        () if exact.written != rough.written => Some("other bytes are written"),
        () if !within(&rough.read, &exact.read) => Some("bytes are read that are not"),
        () if !within(&exact.read, &all) => Some("bytes are read that are not said to be"),
        () => None,
    }
}

impl Places {
    /// Builds the kernels for a device.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn build(device: &str, own: bool) -> Result<Places, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let path = folder.path().join("places.cl");
        std::fs::write(&path, SOURCE).map_err(|e| e.to_string())?;
        let build = Build::new(&path, device).options("-cl-std=CL2.0");
        let build = if own { build.rewrite(Rewrite::Checks) } else { build };
        let built = build.run().map_err(|e| e.to_string())?;
        Ok(Places { own: built.rewritten, bytes: built.bytes })
    }

    fn run(
        &self,
        s: &Shape,
        (at_length, threads, engine): (bool, usize, Engine),
    ) -> Result<(Said, Footprint), String> {
        let why = |e: envisa::Error| e.to_string();
        let source = Source::Zebin(&self.bytes);
        let platform = source.platform().map_err(why)?.ok_or("for no platform")?;
        let device = Device::new(Config::new(platform).memory(1 << 22).red_zones(true));
        let module = Module::load(&device, "places", source).map_err(why)?;
        let kernel = module.kernel(s.kernel).map_err(why)?;
        let data: Vec<u8> = (0..s.bytes[0].max(s.bytes[1])).map(|n| (n % 251) as u8).collect();
        let buffer = |name, bytes: u64| device.buffer_from(name, &data[..bytes as usize]).map_err(why);
        let buffers = [buffer("a", s.bytes[0])?, buffer("b", s.bytes[1])?];
        let mut launch = envisa::Launch::range(&s.global, &s.local)
            .check(true)
            .checks_itself(self.own)
            .check_at_length(at_length)
            .footprint(true)
            .rough_reads(!at_length)
            .host_threads(threads)
            .engine(engine);
        for (n, buffer) in (0u32..).zip(&buffers) {
            launch = launch.arg(n, Arg::from(buffer));
            launch = if s.fresh { launch.fresh(buffer) } else { launch };
        }
        for (n, number) in (2u32..).zip(s.numbers) {
            launch = launch.arg(n, Arg::Bytes(number.to_le_bytes().to_vec()));
        }
        let outcome = device.run(&kernel, &launch).map_err(why)?;
        let said = Said {
            findings: outcome.findings.unwrap_or_default(),
            not_checked: outcome.not_checked,
            fault: outcome.fault.map(|f| f.to_string()),
            data: buffers.iter().flat_map(|b| b.to_vec()).collect(),
        };
        Ok((said, outcome.footprint.unwrap_or_default()))
    }

    /// Runs the launch of a seed in each way; tells what differs, if anything does.
    fn differs(&self, seed: u64, count: &Count) -> Option<String> {
        let s = shape(seed);
        let (interpreted, native) = (Engine::Interpreter, Engine::Native);
        let (want, exact) = match self.run(&s, (true, 1, interpreted)) {
            Ok(want) => want,
            Err(e) => return Some(format!("launch {seed}: {s:?}: {e}")),
        };
        let has = |code: &str| want.findings.iter().any(|f| f.code == code);
        for (of, when) in [
            (&count.clean, want.findings.is_empty() && want.fault.is_none()),
            (&count.races, has("F0004")),
            (&count.faults, want.fault.is_some()),
            (&count.unwritten, has("F0006")),
            (&count.registers, has("F0002")),
        ] {
            of.fetch_add(when.into(), Ordering::Relaxed);
        }
        let ways = [(false, 1, interpreted), (false, 1, native), (false, 2, native)];
        ways.into_iter().find_map(|way| {
            // Groups that race leave what nobody can tell, and what is stopped on several threads stops anywhere.
            if way.1 > 1 && (want.fault.is_some() || has("F0004")) {
                return None;
            }
            match self.run(&s, way) {
                Ok((got, footprint)) if got == want => {
                    let wrong = (got.fault.is_none() && !has("F0004"))
                        .then(|| wrong(&exact, &footprint))
                        .flatten()?;
                    Some(format!("launch {seed}, {way:?}: {s:?}: {wrong} of {exact:?}: {footprint:?}"))
                }
                Ok((got, _)) => Some(format!(
                    "launch {seed}, {way:?}: {s:?}\n{}\nat length:\n{}",
                    got.brief(&want),
                    want.brief(&want)
                )),
                Err(e) => Some(format!("launch {seed}, {way:?}: {s:?}: {e}")),
            }
        })
    }

    /// Holds the launches of these seeds; gives the first that differ.
    pub fn hold(&self, seeds: Range<u64>, count: &Count, most: usize) -> Vec<String> {
        seeds.filter_map(|seed| self.differs(seed, count)).take(most).collect()
    }
}
