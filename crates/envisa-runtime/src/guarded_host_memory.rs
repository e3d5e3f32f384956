//! Memory that the application may not change now: what it has mapped for reading, what it has unmapped, the rest of a buffer of
//! which it has mapped a part, and what it has lent to a buffer. Looked at only
//! while mistakes are looked for. [`host_changes`](crate::host_changes) compares it with what it was.
//!
//! That it differs is the application's doing only if nothing else can have changed it: it is forgotten where a command writes,
//! and where the application maps for writing.

use std::ops::Range;
use std::sync::Mutex;

use crate::memory_in_use;

/// How many are kept: the oldest are forgotten.
const MOST: usize = 64;

#[derive(Debug)]
struct All {
    /// Addresses, by number.
    left: Vec<(u64, Range<u64>)>,
    next: u64,
    /// What is mapped for writing.
    open: Vec<Range<u64>>,
}

static ALL: Mutex<All> = Mutex::new(All { left: Vec::new(), next: 0, open: Vec::new() });

fn ranges_overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// From now on the application leaves these bytes alone. Gives their number; `None` if they have one, or are mapped for writing.
pub fn guard(range: &Range<u64>) -> Option<u64> {
    let mut all = ALL.lock().unwrap();
    if all.left.iter().any(|l| l.1 == *range) || all.open.iter().any(|r| ranges_overlap(r, range)) {
        return None;
    }
    if all.left.len() == MOST {
        all.left.remove(0);
    }
    all.next += 1;
    let number = all.next;
    all.left.push((number, range.clone()));
    Some(number)
}

/// The numbers of those that share bytes with a range.
pub fn overlapping_numbers(range: &Range<u64>) -> Vec<u64> {
    let all = ALL.lock().unwrap();
    all.left.iter().filter(|l| ranges_overlap(&l.1, range)).map(|l| l.0).collect()
}

/// Is a number still one of theirs?
pub fn is_watched(number: u64) -> bool {
    ALL.lock().unwrap().left.iter().any(|l| l.0 == number)
}

/// Forgets one; `false` if it was forgotten before.
pub fn remove(number: u64) -> bool {
    let mut all = ALL.lock().unwrap();
    let at = all.left.iter().position(|l| l.0 == number);
    at.map(|at| all.left.remove(at)).is_some()
}

/// Something else writes these bytes, or they are no more.
pub fn forget_range(range: &Range<u64>) {
    memory_in_use::is_written(range);
    ALL.lock().unwrap().left.retain(|l| !ranges_overlap(&l.1, range));
}

/// Nobody knows what was written.
pub fn forget_all() {
    memory_in_use::is_written(&(0..u64::MAX));
    ALL.lock().unwrap().left.clear();
}

/// The application may write these bytes, by a mapping.
pub fn allow_writes(range: Range<u64>) {
    let mut all = ALL.lock().unwrap();
    all.left.retain(|l| !ranges_overlap(&l.1, &range));
    all.open.push(range);
}

/// A mapping for writing ends.
pub fn end_allowed_writes(range: &Range<u64>) {
    let mut all = ALL.lock().unwrap();
    if let Some(at) = all.open.iter().position(|r| r == range) {
        all.open.swap_remove(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_something_else_writes_is_no_longer_compared() {
        // Addresses where no memory of a test is.
        let [a, b] = [0x100..0x200, 0x200..0x300].map(|r| guard(&r).expect("it is new"));
        assert_eq!(guard(&(0x100..0x200)), None);
        assert_eq!(overlapping_numbers(&(0x1ff..0x201)), [a, b]);
        forget_range(&(0x1ff..0x200));
        assert_eq!((is_watched(a), is_watched(b)), (false, true));
        allow_writes(0x280..0x281);
        assert!(!is_watched(b) && !remove(b));
        assert_eq!(guard(&(0x200..0x300)), None);
        end_allowed_writes(&(0x280..0x281));
        let again = guard(&(0x200..0x300)).expect("nothing is mapped there any more");
        assert!(remove(again) && overlapping_numbers(&(0x200..0x300)).is_empty());
    }
}
