//! The checks of random programs with gaps: what is found where the checks use what they know of a program beforehand,
//! on several host threads, and where native code runs what they need not look at, is what is found where they look at all
//! that it does.

use std::sync::atomic::{AtomicU64, Ordering};

use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Error, Finding};
use envisa_model::print::print;
use envisa_model::program::Program;
use envisa_model::random;

use crate::random::prepare;

/// What came of many programs.
#[derive(Debug, Default)]
pub struct Count {
    /// Programs that were run.
    pub programs: AtomicU64,
    /// Of these, those of which something was found.
    pub found: AtomicU64,
    /// Of these, those that read registers that nothing wrote.
    pub registers: AtomicU64,
    /// Of these, those with races.
    pub races: AtomicU64,
}

/// What a run says.
#[derive(Debug, PartialEq)]
pub(crate) struct Said {
    pub findings: Vec<Finding>,
    pub not_checked: Option<String>,
    pub fault: Option<String>,
    pub data: Vec<u8>,
}

impl Said {
    /// What a failure shows of it, beside another one.
    pub fn brief(&self, other: &Said) -> String {
        let same = if self.data == other.data { "the same data" } else { "other data" };
        format!("{:#?}\n{:?} {:?}, {same}", self.findings, self.not_checked, self.fault)
    }
}

/// Numbers that follow from a seed.
pub(crate) struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n.max(1)
    }
}

/// The text of a program without some of its instructions: registers lack what these wrote.
fn with_gaps(text: &str, numbers: &mut Numbers) -> String {
    let is_instruction = |line: &str| line.starts_with("    ");
    let instructions = text.lines().filter(|l| is_instruction(l)).count() as u64;
    let gaps: Vec<u64> = (0..=numbers.below(3)).map(|_| numbers.below(instructions)).collect();
    let (mut out, mut n) = (String::new(), 0);
    for line in text.lines() {
        let gap = is_instruction(line) && gaps.contains(&n);
        n += u64::from(is_instruction(line));
        if !gap {
            out += line;
            out.push('\n');
        }
    }
    out
}

/// Runs the program of a seed, with gaps, in each way; tells what differs, if anything does.
fn differs(seed: u64, count: &Count) -> Option<String> {
    let p: Program = random::program(seed);
    let platform = Platform::from_name(p.device.name)?;
    let mut text = print(&p);
    text.text = with_gaps(&text.text, &mut Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1));
    let run = |(at_length, threads, engine): (bool, usize, Engine)| -> Result<Said, Error> {
        // Of each run, so that all is where it was.
        let device = Device::new(Config::new(platform).memory(1 << 20));
        let data = device.buffer("data", p.data.len() as u64)?;
        let (kernel, launch, _dump) = prepare((&device, &data), &p, &text)?;
        let launch =
            launch.check(true).check_at_length(at_length).host_threads(threads).engine(engine).limit(20_000);
        let outcome = device.run(&kernel, &launch)?;
        Ok(Said {
            findings: outcome.findings.unwrap_or_default(),
            not_checked: outcome.not_checked,
            fault: outcome.fault.map(|f| f.to_string()),
            data: data.to_vec(),
        })
    };
    // Without what was taken away some are not programs.
    let (interpreted, native) = (Engine::Interpreter, Engine::Native);
    let Ok(want) = run((true, 1, interpreted)) else { return None };
    let add = |n: &AtomicU64, when: bool| {
        n.fetch_add(when.into(), Ordering::Relaxed);
    };
    let has = |code: &str| want.findings.iter().any(|f| f.code == code);
    add(&count.programs, true);
    add(&count.found, !want.findings.is_empty());
    add(&count.registers, has("F0002"));
    add(&count.races, has("F0004"));
    let ways = [
        (false, 1, interpreted),
        (false, 1, native),
        (false, 2, interpreted),
        (false, 2, native),
        (true, 2, interpreted),
    ];
    ways.into_iter().find_map(|way| {
        let (at_length, threads, engine) = way;
        // Groups that race leave what nobody can tell, and what is stopped on several threads stops anywhere.
        if threads > 1 && (want.fault.is_some() || has("F0004")) {
            return None;
        }
        match run(way) {
            Ok(got) if got == want => None,
            Ok(got) => {
                let (want, got) = (want.brief(&want), got.brief(&want));
                let what =
                    format!("{want}\nand, at length {at_length}, on {threads} threads, {engine:?}\n{got}");
                Some(format!("program {seed}:\n{what}\n{}", text.text))
            }
            Err(e) => {
                Some(format!("program {seed}: at length {at_length}, on {threads} threads, {engine:?}: {e}"))
            }
        }
    })
}

/// Holds the programs of these seeds; gives the first that differ.
pub fn hold(seeds: std::ops::Range<u64>, count: &Count, most: usize) -> Vec<String> {
    seeds.filter_map(|seed| differs(seed, count)).take(most).collect()
}
