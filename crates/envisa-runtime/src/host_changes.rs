//! Memory that the application changed although it was to leave it alone ([`guarded_host_memory`]): by what the memory was.
//!
//! Nothing else can have changed it if no command runs while it is looked at, before and now.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, Weak};

use crate::command_order;
use crate::guarded_host_memory;
use crate::host_memory::{Backing, Region};

/// Bytes, and what they were.
#[derive(Debug)]
struct Left {
    backing: Weak<Backing>,
    range: Range<u64>,
    then: u64,
    why: &'static str,
}

/// By their numbers.
static ALL: Mutex<BTreeMap<u64, Left>> = Mutex::new(BTreeMap::new());

/// From now on the application leaves these bytes alone; `why` is what is said of them if it does not.
pub fn watch_for_changes(region: &Region, why: &'static str) {
    let begun = command_order::started_count_if_alone();
    let (Some(backing), range) = (region.backing(), region.range()) else { return };
    // Whoever writes while the bytes are read has the number forgotten.
    let Some(number) = guarded_host_memory::guard(&range) else { return };
    let then = region.digest();
    let (Some(then), true) = (then, begun.is_some() && command_order::started_count_if_alone() == begun)
    else {
        guarded_host_memory::remove(number);
        return;
    };
    let mut all = ALL.lock().unwrap();
    all.retain(|number, _| guarded_host_memory::is_watched(*number));
    all.insert(number, Left { backing: Arc::downgrade(backing), range, then, why });
}

/// Memory among these bytes that the application has changed all the same, and what is said of it; it is told once.
pub fn take_changed(range: &Range<u64>) -> Vec<(Region, &'static str)> {
    guarded_host_memory::overlapping_numbers(range).into_iter().filter_map(changed_memory).collect()
}

/// The memory of a number, if the application has changed it.
fn changed_memory(number: u64) -> Option<(Region, &'static str)> {
    let (backing, range, then, why) = {
        let all = ALL.lock().unwrap();
        let left = all.get(&number)?;
        (left.backing.upgrade(), left.range.clone(), left.then, left.why)
    };
    let part = backing.and_then(|backing| {
        let start = (range.start - backing.address() as u64) as usize;
        backing.region().part(start, (range.end - range.start) as usize)
    });
    let Some(part) = part else {
        guarded_host_memory::remove(number);
        return None;
    };
    let begun = command_order::started_count_if_alone()?;
    let same = part.digest() == Some(then);
    (!same && command_order::started_count_if_alone() == Some(begun) && guarded_host_memory::remove(number))
        .then_some((part, why))
}
