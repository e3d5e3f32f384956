//! Memory that the application may not change now: what it has mapped for reading, and what it has unmapped. Looked at only
//! while mistakes are looked for.
//!
//! Such memory is compared with what it was. That it differs is the application's doing only if nothing else can have changed
//! it: no command that wrote there since, no other mapping for writing, and no command that runs at this moment.

use std::ops::Range;
use std::sync::{Arc, Mutex, Weak};

use crate::command_order;
use crate::host_memory::{Backing, Region};

/// How many are kept: the oldest are forgotten.
const MOST: usize = 64;

/// Bytes, and what they were.
#[derive(Debug)]
struct Left {
    backing: Weak<Backing>,
    range: Range<u64>,
    then: u64,
}

#[derive(Debug)]
struct All {
    left: Vec<Left>,
    /// What is mapped for writing.
    open: Vec<Range<u64>>,
}

static ALL: Mutex<All> = Mutex::new(All { left: Vec::new(), open: Vec::new() });

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// From now on the application leaves these bytes alone.
pub fn keep(region: &Region) {
    let begun = command_order::quiet();
    let (Some(backing), Some(then)) = (region.backing(), region.digest()) else { return };
    let (backing, range) = (Arc::downgrade(backing), region.range());
    let mut all = ALL.lock().unwrap();
    let written = begun.is_none() || command_order::quiet() != begun;
    if written || all.left.iter().any(|l| l.range == range) || all.open.iter().any(|r| overlap(r, &range)) {
        return;
    }
    if all.left.len() == MOST {
        all.left.remove(0);
    }
    all.left.push(Left { backing, range, then });
}

/// Something else writes these bytes, or they are no more.
pub fn forget(range: &Range<u64>) {
    ALL.lock().unwrap().left.retain(|l| !overlap(&l.range, range));
}

/// Nobody knows what was written.
pub fn forget_all() {
    ALL.lock().unwrap().left.clear();
}

/// The application may write these bytes, by a mapping.
pub fn open(range: Range<u64>) {
    let mut all = ALL.lock().unwrap();
    all.left.retain(|l| !overlap(&l.range, &range));
    all.open.push(range);
}

/// A mapping for writing ends.
pub fn close(range: &Range<u64>) {
    let mut all = ALL.lock().unwrap();
    if let Some(at) = all.open.iter().position(|r| r == range) {
        all.open.swap_remove(at);
    }
}

/// Memory among these bytes that the application has changed all the same; it is told once.
pub fn changed(range: &Range<u64>) -> Vec<Region> {
    let mut changed = Vec::new();
    // The last owner of memory may not end while the list is locked: it would want the list.
    let mut held = Vec::new();
    let mut all = ALL.lock().unwrap();
    all.left.retain(|l| {
        if !overlap(&l.range, range) {
            return true;
        }
        let Some(backing) = l.backing.upgrade() else { return false };
        let start = (l.range.start - backing.address() as u64) as usize;
        let part = backing.region().part(start, (l.range.end - l.range.start) as usize);
        held.push(backing);
        let Some(part) = part else { return false };
        let Some(begun) = command_order::quiet() else { return true };
        let same = part.digest() == Some(l.then);
        if !same && command_order::quiet() != Some(begun) {
            return true;
        }
        if !same {
            changed.push(part);
        }
        same
    });
    drop(all);
    drop(held);
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranges that are kept of these addresses.
    fn kept(of: &Range<u64>) -> usize {
        ALL.lock().unwrap().left.iter().filter(|l| overlap(&l.range, of)).count()
    }

    fn left(range: Range<u64>) {
        ALL.lock().unwrap().left.push(Left { backing: Weak::new(), range, then: 0 });
    }

    #[test]
    fn what_something_else_writes_is_no_longer_compared() {
        // Addresses where no memory of a test is.
        left(0x100..0x200);
        left(0x200..0x300);
        forget(&(0x1ff..0x200));
        assert_eq!((kept(&(0x100..0x200)), kept(&(0x200..0x300))), (0, 1));
        open(0x280..0x281);
        assert_eq!(kept(&(0x200..0x300)), 0);
        close(&(0x280..0x281));
        assert!(!ALL.lock().unwrap().open.contains(&(0x280..0x281)));
        // Memory that is no more has not changed.
        left(0x300..0x400);
        assert!(changed(&(0x300..0x301)).is_empty());
        assert_eq!(kept(&(0x300..0x400)), 0);
    }
}
