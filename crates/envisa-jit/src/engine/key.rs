//! What tells one way of launching a program from another.

use envisa_machine::dispatch::Prepared;
use envisa_machine::start::Start;

use crate::active::Active;
use crate::plan::Kind;
use crate::shape::Seed;

/// Which threads lack channels: none, ones that are all of their group, all threads (each of them all of its group), or
/// the last one of a group of several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tails {
    None,
    Alone,
    Only,
    Last,
}

/// How a launch's groups follow one another in memory: what is fetched ahead of them depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Walk {
    /// Groups take turns in short rows of groups.
    pub short: bool,
    /// The binary logarithm of how many rows of memory a group goes along. The next group goes on in the same rows.
    pub rows: u32,
}

/// Rows of so many groups are short.
const SHORT: u32 = 8;
/// What is fetched ahead is the same for groups of more rows, as a binary logarithm.
const MOST_ROWS: u32 = 4;

impl Walk {
    /// Of a launch whose groups' threads take turns, if they are `together`.
    pub fn new(prepared: &Prepared, together: bool) -> Walk {
        let rows = prepared.local[1].saturating_mul(prepared.local[2]);
        Walk { short: together && prepared.groups[0] <= SHORT, rows: rows.max(1).ilog2().min(MOST_ROWS) }
    }
}

/// What code depends on besides the program.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Key {
    /// All threads have all channels.
    pub full: bool,
    /// Groups are of one thread each.
    pub alone: bool,
    pub seeds: Vec<Seed>,
    /// Which channels may be active.
    pub active: Active,
    /// How its threads start, if the code does that.
    pub start: Option<Start>,
    pub walk: Walk,
    /// Images and samplers, by message.
    pub kinds: Vec<(u32, Kind)>,
}
