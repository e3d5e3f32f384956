//! Random programs, held against the model of the pages, in parts that run side by side.
//!
//! In CI: `ENVISA_PROGRAMS=20000 cargo test --profile checked -p envisa-suite --test random`.

use envisa::Engine;
use envisa_suite::random::{Count, How, INTERPRETER, hold};

/// `ENVISA_ENGINE=jit`: native code too.
fn ways() -> Vec<How> {
    match std::env::var("ENVISA_ENGINE").as_deref() {
        Ok("jit") => [INTERPRETER.as_slice(), &[How::Plain(Engine::Native)]].concat(),
        _ => INTERPRETER.to_vec(),
    }
}

/// How many programs, of those that the environment asks for.
fn programs() -> u64 {
    std::env::var("ENVISA_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000)
}

fn part(k: u64, of: u64) {
    let n = programs();
    let count = Count::default();
    let failures = hold(n * k / of..n * (k + 1) / of, &ways(), &count, 3);
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
