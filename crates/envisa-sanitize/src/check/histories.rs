//! Random accesses of threads: what is kept of them in few words, against all of their history.

use std::collections::{HashMap, HashSet};

use super::access_cells::{Cells, ChannelRange, CurrentAccess, PastAccess, Run, WHOLE};
use super::past_accesses::SEVERAL;
use super::races_between_groups::{Accessor, LINE, Launch};
use super::races_in_group::RaceAccess;

/// Numbers that follow from a seed.
struct Numbers(u64);

impl Numbers {
    fn of(seed: u64) -> Numbers {
        Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32 % n.max(1)
    }
}

const THREADS: u32 = 4;

/// An access with what its thread knows when it makes it.
#[derive(Clone, Debug)]
struct Step {
    thread: u32,
    pc: u32,
    access: RaceAccess,
    key: u64,
    bytes: u32,
    by: ChannelRange,
    values: Vec<u8>,
    known: Vec<u32>,
    since: u32,
}

/// Accesses of threads that wait for each other now and then: mostly of whole lines, to few of them.
/// `of`: how many different bytes they store; each is new if there are none.
fn steps(seed: u64, of: u32) -> Vec<Step> {
    let mut numbers = Numbers::of(seed);
    let mut clocks: Vec<Vec<u32>> =
        (0..THREADS).map(|t| (0..THREADS).map(|other| u32::from(t == other)).collect()).collect();
    let mut since = [1; THREADS as usize];
    let (mut out, mut fresh) = (Vec::new(), 0u32);
    for _ in 0..numbers.below(24) + 4 {
        let thread = numbers.below(THREADS);
        let t = thread as usize;
        match numbers.below(8) {
            // All wait for each other.
            0 => {
                let all: Vec<u32> =
                    (0..THREADS as usize).map(|k| clocks.iter().map(|c| c[k]).max().unwrap_or(0)).collect();
                for (k, clock) in clocks.iter_mut().enumerate() {
                    clock.clone_from(&all);
                    clock[k] += 1;
                    since[k] = clock[k];
                }
                continue;
            }
            // A fence of other memory.
            1 => {
                clocks[t][t] += 1;
                continue;
            }
            _ => {}
        }
        let element = 1 << (if numbers.below(4) > 0 { 2 } else { numbers.below(5) });
        let access = if numbers.below(2) == 0 { RaceAccess::Read } else { RaceAccess::Write };
        let by = match numbers.below(6) {
            0 => ChannelRange::single(numbers.below(3) as u8),
            1 if of > 0 => ChannelRange::single([SEVERAL, WHOLE][numbers.below(2) as usize]),
            1 if access == RaceAccess::Read => ChannelRange::single(SEVERAL),
            _ => ChannelRange::equal_parts(numbers.below(3) as u8, element).expect("a power of two"),
        };
        let (key, bytes) = match numbers.below(4) {
            0 => (numbers.below(24) * 4, 4 * (numbers.below(8) + 1)),
            1 => (numbers.below(96), numbers.below(6) + 1),
            _ => (numbers.below(3) * LINE as u32, LINE as u32 * (numbers.below(2) + 1)),
        };
        // No thread has more channels than 32.
        let bytes = bytes.min(element * 29);
        // Each dword new as a whole; else few bytes, so that some are there already.
        let mut value = |n: u32| {
            fresh += u32::from(n & 3 == 0);
            if of == 0 { fresh as u8 } else { numbers.below(of) as u8 }
        };
        let values =
            if access == RaceAccess::Write { (0..bytes).map(&mut value).collect() } else { Vec::new() };
        // An instruction reads or writes; without loops it does so once.
        let pc = if of == 0 { out.len() as u32 } else { numbers.below(6) };
        let pc = 2 * pc + u32::from(access == RaceAccess::Write);
        let (known, since) = (clocks[t].clone(), since[t]);
        out.push(Step { thread, pc, access, key: u64::from(key), bytes, by, values, known, since });
    }
    out
}

type Race = (usize, u64, u8, PastAccess, RaceAccess);

/// The races that cells tell of, by step; `split`: each dword, or byte, on its own.
fn told(cells: &mut Cells, steps: &[Step], split: bool) -> Vec<Race> {
    let mut out = Vec::new();
    for (n, s) in steps.iter().enumerate() {
        let clock = s.known[s.thread as usize];
        let past = PastAccess { thread: s.thread, pc: s.pc, clock, channel: 0 };
        let others = s.known.iter().enumerate().filter(|(t, _)| *t != s.thread as usize);
        let floor = others.fold(s.since, |floor, (_, known)| floor.min(known + 1));
        let mut making = CurrentAccess::new(past, s.access, &s.known, (s.since, floor)).expect("small");
        let mut run = |from: u32, bytes: u32, by: ChannelRange| {
            let values = s.values.get(from as usize..(from + bytes) as usize).unwrap_or_default();
            let run = Run { key: s.key + u64::from(from), bytes, by, values };
            let mut tell = |key, channel, (past, with)| out.push((n, key, channel, past, with));
            cells.access(&run, &mut making, &mut None, &mut tell).expect("room");
        };
        if !split {
            run(0, s.bytes, s.by);
            continue;
        }
        each(s, |from, bytes, _| run(from, bytes, ChannelRange::single(s.by.channel(from))));
    }
    out
}

/// Each dword of an access, or each byte where it is not of whole dwords: where it begins, its bytes, whether it is of
/// dwords.
fn each(s: &Step, mut tell: impl FnMut(u32, u32, bool)) {
    let mut at = 0;
    while at < s.bytes {
        let line = LINE as u32 - (s.key as u32 + at) % LINE as u32;
        let here = line.min(s.bytes - at);
        let narrow = (s.key as u32 | at | here) & 3 != 0 || s.by.is_narrow();
        for from in (at..at + here).step_by(if narrow { 1 } else { 4 }) {
            tell(from, if narrow { 1 } else { 4 }, !narrow);
        }
        at += here;
    }
}

/// The first race of each line.
fn firsts(races: Vec<Race>) -> Vec<Race> {
    let mut seen = HashMap::new();
    let first = |r: &Race| *seen.entry(r.1 / LINE as u64).or_insert(r.0) == r.0;
    races.into_iter().filter(first).collect()
}

#[test]
fn many_cells_are_as_good_as_each() {
    let (mut whole, mut races) = (Cells::default(), 0);
    for seed in 0..10_000 {
        let steps = steps(seed, 2);
        whole.clear();
        let got = firsts(told(&mut whole, &steps, false));
        let want = firsts(told(&mut Cells::default(), &steps, true));
        assert_eq!(got, want, "seed {seed}\n{steps:?}");
        races += want.len();
    }
    assert!(races > 4_000, "{races}");
}

#[test]
fn the_first_race_of_a_dword_is_found() {
    let (mut cells, mut races, mut clean) = (Cells::default(), 0, 0);
    for seed in 0..10_000 {
        let steps = steps(seed, 0);
        cells.clear();
        let mut got: HashMap<u64, usize> = HashMap::new();
        for race in told(&mut cells, &steps, false) {
            got.entry(race.1 / 4).or_insert(race.0);
        }
        // Of each dword the first access that conflicts with an earlier one which nothing orders before it.
        let mut want: HashMap<u64, usize> = HashMap::new();
        for (n, s) in steps.iter().enumerate() {
            for at in 0..s.bytes {
                let (key, channel) = (s.key + u64::from(at), s.by.channel(at));
                let races = |old: &Step| {
                    let Some(byte) = key.checked_sub(old.key).filter(|b| *b < u64::from(old.bytes)) else {
                        return false;
                    };
                    let clock = old.known[old.thread as usize];
                    let conflict = s.access == RaceAccess::Write || old.access == RaceAccess::Write;
                    let apart = |a: u8, b: u8| a != b && a != WHOLE && b != WHOLE;
                    conflict
                        && match old.thread == s.thread {
                            false => clock > s.known[old.thread as usize],
                            true => {
                                let old_channel = old.by.channel(byte as u32);
                                clock >= s.since && old.pc != s.pc && apart(old_channel, channel)
                            }
                        }
                };
                if steps[..n].iter().any(races) {
                    want.entry(key / 4).or_insert(n);
                }
            }
        }
        races += want.len();
        clean += usize::from(want.is_empty());
        let differ = |k: &u64| got.get(k) != want.get(k);
        let dword = got.keys().chain(want.keys()).copied().find(differ);
        let there = |s: &Step, d: u64| s.key < 4 * d + 4 && 4 * d < s.key + u64::from(s.bytes);
        let at = dword.map(|d| steps.iter().enumerate().filter(|s| there(s.1, d)).collect::<Vec<_>>());
        assert!(
            dword.is_none(),
            "seed {seed}, dword {dword:?}: {:?} {:?}\n{at:#?}",
            got.get(&dword.unwrap_or(0)),
            want.get(&dword.unwrap_or(0))
        );
    }
    assert!(races > 4_000 && clean > 300, "{races} races, {clean} programs without");
}

#[test]
fn groups_are_noted_by_lines_as_by_dwords() {
    let (mut races, mut exact) = (0, 0);
    for seed in 0..10_000 {
        let (whole, split, back) = (Launch::default(), Launch::default(), Launch::default());
        let steps = steps(seed, 2);
        let note = |launch: &Launch, s: &Step, split: bool| {
            let who = Accessor::new(u64::from(s.thread / 2), s.thread, s.pc).expect("small");
            if !split {
                let values = &s.values;
                return launch.access(&Run { key: s.key, bytes: s.bytes, by: s.by, values }, who, s.access);
            }
            each(s, |at, bytes, dword| {
                let values = s.values.get(at as usize..(at + bytes) as usize).unwrap_or_default();
                let by = if dword {
                    ChannelRange::single(s.by.channel(at))
                } else {
                    s.by.from(at).unwrap_or(s.by)
                };
                launch.access(&Run { key: s.key + u64::from(at), bytes, by, values }, who, s.access);
            });
        };
        steps.iter().for_each(|s| note(&whole, s, false));
        steps.iter().for_each(|s| note(&split, s, true));
        steps.iter().rev().for_each(|s| note(&back, s, false));
        // In whatever order they come, but for how many places are told apart.
        let told = |l: &Launch| -> Vec<_> {
            let races = l.races();
            races.iter().map(|r| (r.first, r.access, r.second, r.with)).collect()
        };
        let mut dwords = true;
        steps.iter().for_each(|s| each(s, |_, _, dword| dwords &= dword));
        if dwords {
            assert_eq!(told(&whole), told(&split), "seed {seed}\n{steps:?}");
            assert_eq!(told(&whole), told(&back), "seed {seed}\n{steps:?}");
            exact += 1;
        }
        // Bytes that two groups access, of which one stores there: all places that race, and no others.
        let places: HashSet<u64> = steps.iter().flat_map(|s| s.key..s.key + u64::from(s.bytes)).collect();
        let conflicts = places.iter().any(|at| {
            let here: Vec<&Step> =
                steps.iter().filter(|s| (s.key..s.key + u64::from(s.bytes)).contains(at)).collect();
            let group = |s: &Step| s.thread / 2;
            let value = |s: &Step| s.values.get((at - s.key) as usize).copied();
            let stores: Vec<&&Step> = here.iter().filter(|s| s.access == RaceAccess::Write).collect();
            let differ = stores.iter().any(|s| value(s) != value(stores[0]));
            stores.iter().any(|w| {
                here.iter().any(|o| group(o) != group(w) && (o.access == RaceAccess::Read || differ))
            })
        });
        // Of a dword whose stores differ it is forgotten in which of its bytes.
        let told = !whole.races().is_empty();
        assert!(told == conflicts || told && !dwords, "seed {seed}\n{steps:?}");
        races += usize::from(conflicts);
    }
    assert!(races > 2_500 && exact > 300, "{races}, {exact}");
}
