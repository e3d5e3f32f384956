//! Random programs with gaps under the checks, with and without what these know of a program beforehand.

use std::sync::atomic::Ordering;

use envisa_harness::testing::are_campaigns_whole;
use envisa_suite::random_checks::{Count, hold};
use envisa_suite::random_places::{self, Places};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|n| n.parse().ok())
}

/// How many there are if nobody says: all, or a quarter unless campaigns are whole.
fn usual(all: u64) -> u64 {
    if are_campaigns_whole() { all } else { all / 4 }
}

#[test]
fn places_of_work_items_change_no_finding() {
    if !envisa_suite::checks::has_ocloc() {
        return envisa_harness::testing::not_run("no ocloc on PATH (Debian package intel-opencl-icd)");
    }
    let (first, launches) =
        (number("ENVISA_FIRST").unwrap_or(0), number("ENVISA_LAUNCHES").unwrap_or(usual(160)));
    let count = random_places::Count::default();
    for (device, own) in [("pvc", false), ("skl", false), ("tgllp", true), ("pvc", true)] {
        let places = Places::build(device, own).unwrap_or_else(|e| panic!("{device}: {e}"));
        let failures = places.hold(first..first + launches, &count, 3);
        assert!(failures.is_empty(), "{device}, for checks {own}: {}", failures.join("\n"));
    }
    let of = |n: &std::sync::atomic::AtomicU64| n.load(Ordering::Relaxed) * 50;
    let enough = [&count.clean, &count.races, &count.faults, &count.unwritten, &count.registers].map(of);
    assert!(enough.iter().all(|n| *n > launches), "{count:?}");
}

#[test]
fn what_is_known_beforehand_changes_no_finding() {
    let (first, programs) =
        (number("ENVISA_FIRST").unwrap_or(0), number("ENVISA_PROGRAMS").unwrap_or(usual(400)));
    let count = Count::default();
    let failures = hold(first..first + programs, &count, 3);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let of = |n: &std::sync::atomic::AtomicU64| n.load(Ordering::Relaxed);
    // The programs have something to be found.
    assert!(of(&count.programs) * 2 > programs, "{count:?}");
    assert!(of(&count.registers) * 10 > programs && of(&count.races) > 0, "{count:?}");
}
