//! Numbers at a step that a program puts into words itself, once and before anything else: those of its channels, of which
//! addresses of private memory are made.

use std::ops::Range;

use envisa_lower::analysis::lane_words;
use envisa_lower::{Pc, Program, RegOffset};

use super::Seed;

/// The halves of vectors of words that the first block writes and nothing else does, and that nothing reads before.
pub(crate) fn lane_numbers(p: &Program, first_block: Range<Pc>) -> Vec<Seed> {
    let words = lane_words(p.parts(), |pc| first_block.contains(&pc));
    let half = |at: RegOffset| -> Option<[u16; 16]> {
        let all: Option<Vec<u16>> = (0..16).map(|k| words.get(&(at + 2 * k)).copied()).collect();
        let all: [u16; 16] = all?.try_into().ok()?;
        let step = all[1].wrapping_sub(all[0]);
        all.windows(2).all(|w| w[1].checked_sub(w[0]) == Some(step)).then_some(all)
    };
    let mut starts: Vec<RegOffset> = words.keys().copied().filter(|at| at % 32 == 0).collect();
    starts.sort_unstable();
    let seed = |offset: RegOffset| {
        let own = half(offset)?;
        let step = i32::from(own[1] - own[0]);
        let before = offset.checked_sub(32).and_then(half).filter(|b| i32::from(b[1] - b[0]) == step);
        let jump = before.map(|b| i32::from(own[0]) - i32::from(b[0]));
        Some(Seed { offset, step, lanes: 16, jump })
    };
    starts.into_iter().filter_map(seed).collect()
}
