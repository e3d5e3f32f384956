//! Where the work-items of a launch access memory: addresses that are sums, of those work-items of which something is
//! known.

use std::ops::Range;

use super::id_conditions::Bound;
use super::id_sums::{IDS, Sum, Sums};

/// A sum that addresses are multiples of, and how far apart in memory its neighbours are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    factors: [i128; IDS],
    step: i128,
    low: i128,
    high: i128,
}

impl Part {
    /// The least and the most that it adds to an address.
    pub fn range(&self) -> Option<(i128, i128)> {
        let (a, b) = (self.step.checked_mul(self.low)?, self.step.checked_mul(self.high)?);
        Some((a.min(b), a.max(b)))
    }

    /// The factors of ids that vary, each with how many values its id has; those closest to nothing first.
    fn varying_terms(&self, counts: [u32; IDS]) -> Vec<(i128, i128)> {
        let mut terms: Vec<(i128, i128)> = self.factors.iter().copied().zip(counts.map(i128::from)).collect();
        terms.retain(|(factor, count)| *factor != 0 && *count > 1);
        terms.sort_by_key(|(factor, _)| factor.abs());
        terms
    }

    /// Is each number from its least to its most the sum of some ids?
    fn is_dense(&self, counts: [u32; IDS]) -> bool {
        let mut reach = 0;
        self.varying_terms(counts).into_iter().all(|(factor, count)| {
            let fits = factor.abs() <= reach + 1;
            reach += factor.abs() * (count - 1);
            fits
        })
    }

    /// Has it the same value only for work-items with the same ids, as far as it has factors?
    fn tells_apart(&self, counts: [u32; IDS]) -> bool {
        let mut span = 1;
        self.varying_terms(counts).into_iter().all(|(factor, count)| {
            let fits = factor.abs() >= span;
            span += factor.abs() * (count - 1);
            fits
        })
    }

    /// The least and the most that either is.
    fn or(self, other: Part) -> Part {
        Part { low: self.low.min(other.low), high: self.high.max(other.high), ..self }
    }
}

/// The parts of an address that changes from work-item to work-item so, for those of which all of this is known. Sums
/// are looked for of which something is known there, or anywhere else that is to be compared (`sums`), then single ids.
/// `None` if no work-item is left.
pub(super) fn parts(sums: &Sums<'_>, at: &Sum, bounds: &[Bound], known: &[[i128; IDS]]) -> Option<Vec<Part>> {
    let counts = sums.counts();
    let within = |factors: [i128; IDS]| {
        let (low, high) = sums.range(&Sum { base: 0, factors })?;
        let of_it = bounds.iter().filter(|bound| bound.factors == factors);
        Some(of_it.fold((low, high), |(low, high), bound| (low.max(bound.low), high.min(bound.high))))
    };
    if bounds.iter().any(|b| b.is_never_true() || within(b.factors).is_some_and(|(low, high)| low > high)) {
        return None;
    }
    let mut open: Vec<usize> = (0..IDS).filter(|n| counts[*n] > 1).collect();
    let mut parts = Vec::new();
    let single = (0..IDS).map(|n| std::array::from_fn(|k| i128::from(k == n)));
    for factors in known.iter().copied().chain(single) {
        let own: Vec<usize> = (0..IDS).filter(|n| factors[*n] != 0 && counts[*n] > 1).collect();
        let Some(first) = own.first().filter(|_| own.iter().all(|n| open.contains(n))) else { continue };
        let step = at.factors[*first] / factors[*first];
        if own.iter().any(|n| at.factors[*n] != step * factors[*n]) {
            continue;
        }
        let Some((low, high)) = within(factors) else { continue };
        open.retain(|n| !own.contains(n));
        parts.push(Part { factors, step, low, high });
    }
    Some(parts)
}

/// The sums of several ids of which something is known, those of most ids first; then what is known of single ids.
pub(super) fn known_sums<'b>(bounds: impl Iterator<Item = &'b Bound>) -> Vec<[i128; IDS]> {
    by_most_ids(bounds.map(|bound| bound.factors).collect())
}

fn by_most_ids(mut all: Vec<[i128; IDS]>) -> Vec<[i128; IDS]> {
    all.sort_unstable();
    all.dedup();
    all.sort_by_key(|factors| std::cmp::Reverse(factors.iter().filter(|f| **f != 0).count()));
    all
}

/// An address without its parts, and these.
type Address = (i128, Vec<Part>);

/// Makes addresses ones whose parts have the same steps, if they can be: where a part has one value, its step may be any.
pub(super) fn same_steps(all: &mut [Address]) -> bool {
    let count = all.first().map_or(0, |(_, parts)| parts.len());
    if all.iter().any(|(_, parts)| parts.len() != count) {
        return false;
    }
    for n in 0..count {
        let varies = all.iter().find(|(_, parts)| parts[n].low < parts[n].high);
        let Some((_, like)) = varies.or(all.first()) else { return true };
        let Part { factors, step, .. } = like[n];
        for (base, parts) in &mut *all {
            let part = &mut parts[n];
            let moved = part.step.checked_sub(step).and_then(|steps| steps.checked_mul(part.low));
            match moved.and_then(|moved| base.checked_add(moved)) {
                _ if part.factors != factors => return false,
                _ if part.step == step => {}
                Some(moved) if part.low == part.high => (*base, part.step) = (moved, step),
                _ => return false,
            }
        }
    }
    true
}

/// Do accesses of so many bytes from such addresses on, whose parts have the same steps, never meet, unless they are of the
/// same work-item?
pub(super) fn are_apart(sums: &Sums<'_>, all: &[Address], bytes: i128) -> bool {
    let Some(((_, first), others)) = all.split_first() else { return false };
    let wider = |parts: Vec<Part>, (_, other): &Address| {
        parts.into_iter().zip(other).map(|(a, b)| a.or(*b)).collect()
    };
    let mut parts = others.iter().fold(first.clone(), wider);
    parts.sort_by_key(|part| part.step.abs());
    let mut span = bytes;
    parts.iter().all(|part| {
        let fits = part.low == part.high || part.step.abs() >= span;
        span += part.step.abs() * (part.high - part.low);
        fits && part.tells_apart(sums.counts())
    })
}

/// Ranges that are made of one sum.
const MOST_RANGES: i128 = 1 << 16;

/// The addresses of so many bytes from an address on whose parts these are; `None` if not all of its values are those of
/// work-items, or if these are too many ranges.
pub(super) fn ranges(sums: &Sums<'_>, base: i128, parts: &[Part], bytes: i128) -> Option<Vec<Range<u64>>> {
    let start = parts.iter().try_fold(base, |at, part| at.checked_add(part.range()?.0))?;
    let mut parts: Vec<&Part> = parts.iter().filter(|part| part.step != 0 && part.low < part.high).collect();
    parts.sort_by_key(|part| part.step.abs());
    if !parts.iter().all(|part| part.is_dense(sums.counts())) {
        return None;
    }
    let (mut run, mut starts) = (bytes, vec![start]);
    for part in parts {
        let (step, count) = (part.step.abs(), part.high - part.low + 1);
        if step <= run && starts.len() == 1 {
            run += step * (count - 1);
            continue;
        }
        if count * starts.len() as i128 > MOST_RANGES {
            return None;
        }
        starts = (0..count).flat_map(|n| starts.iter().map(move |at| at + n * step)).collect();
    }
    let range = |at: i128| Some(u64::try_from(at).ok()?..u64::try_from(at + run).ok()?);
    starts.into_iter().map(range).collect()
}
