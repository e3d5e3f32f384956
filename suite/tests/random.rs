//! Random programs, held against the model of the pages, in parts that run side by side.
//!
//! More of them in an optimised build: `cargo run --profile checked -p envisa-suite -- random --programs 20000`.

use envisa_suite::random::{Count, WAYS, hold};

/// How many programs, of those that the environment asks for.
fn programs() -> u64 {
    std::env::var("ENVISA_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000)
}

fn part(k: u64, of: u64) {
    let n = programs();
    let count = Count::default();
    let failures = hold(n * k / of..n * (k + 1) / of, &WAYS, &count, 3);
    let text: String = failures.iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{} programs differ from the model:\n{text}", failures.len());
}

#[test]
fn the_first_half() {
    part(0, 2);
}

#[test]
fn the_second_half() {
    part(1, 2);
}
