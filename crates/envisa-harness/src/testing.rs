//! For tests that compare envisa with other tools.

use std::io::Write as _;

/// Do the tests run their campaigns whole? They run a part of them, unless `ENVISA_TESTS` is `all`, which CI sets.
pub fn are_campaigns_whole() -> bool {
    std::env::var_os("ENVISA_TESTS").is_some_and(|tests| tests == "all")
}

/// Says that a test does not run, because a tool is missing. It writes past the test runner, which swallows what passing tests
/// print.
///
/// # Panics
/// If `ENVISA_REQUIRE_ORACLES` is set.
pub fn not_run(why: &str) {
    assert!(std::env::var_os("ENVISA_REQUIRE_ORACLES").is_none(), "{why}");
    let _ = writeln!(std::io::stderr(), "NOT RUN: {why}");
}
