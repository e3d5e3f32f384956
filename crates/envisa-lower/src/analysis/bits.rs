//! Sets of small numbers, as words of bits.

use super::CellId;

pub(super) fn contains_cell(row: &[u64], cell: CellId) -> bool {
    row[cell as usize / 64] >> (cell % 64) & 1 != 0
}

pub(super) fn add(row: &mut [u64], cell: CellId) {
    row[cell as usize / 64] |= 1 << (cell % 64);
}

pub(super) fn remove(row: &mut [u64], cell: CellId) {
    row[cell as usize / 64] &= !(1 << (cell % 64));
}

/// The numbers of a set, ascending.
pub(super) fn numbers_in_bitset(words: impl Iterator<Item = u64>) -> impl Iterator<Item = CellId> {
    words.enumerate().flat_map(|(k, mut w)| {
        std::iter::from_fn(move || {
            let bit = (w != 0).then(|| w.trailing_zeros())?;
            w &= w - 1;
            Some(k as u32 * 64 + bit)
        })
    })
}
