//! Random programs with gaps under the checks, with and without what these know of a program beforehand.

use std::sync::atomic::Ordering;

use envisa_suite::random_checks::{Count, hold};

#[test]
fn what_is_known_beforehand_changes_no_finding() {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let (first, programs) = (number("ENVISA_FIRST").unwrap_or(0), number("ENVISA_PROGRAMS").unwrap_or(400));
    let count = Count::default();
    let failures = hold(first..first + programs, &count, 3);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let of = |n: &std::sync::atomic::AtomicU64| n.load(Ordering::Relaxed);
    // The programs have something to be found.
    assert!(of(&count.programs) * 2 > programs, "{count:?}");
    assert!(of(&count.registers) * 10 > programs && of(&count.races) > 0, "{count:?}");
}
