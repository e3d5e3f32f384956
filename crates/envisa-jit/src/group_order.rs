//! The walk of a launch's groups through memory.

use envisa_machine::dispatch::Prepared;

/// How a launch's groups follow one another in memory: what is fetched ahead of them depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Walk {
    /// Groups take turns in short rows of groups.
    pub short: bool,
    /// The binary logarithm of how many rows of memory a group goes along. The next group goes on in the same rows.
    pub rows: u32,
    /// The axis along which groups of a row follow one another.
    pub axis: usize,
}

/// Rows of so many groups are short.
const SHORT: u32 = 8;
/// What is fetched ahead is the same for groups of more rows, as a binary logarithm.
const MOST_ROWS: u32 = 4;

impl Walk {
    /// Of a launch whose groups' threads take turns, if they are `together`.
    pub fn new(prepared: &Prepared, together: bool) -> Walk {
        let rows = prepared.local[1].saturating_mul(prepared.local[2]);
        let axis = prepared.row_axis();
        let short = together && prepared.groups[axis] <= SHORT;
        Walk { short, rows: rows.max(1).ilog2().min(MOST_ROWS), axis }
    }
}
