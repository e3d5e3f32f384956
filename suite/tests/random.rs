//! Random programs, held against the model of the pages, in parts that run side by side.
//!
//! More of them in an optimised build: `cargo run --profile checked -p envisa-suite -- random --programs 20000`.

use std::sync::atomic::Ordering;

use envisa::Engine;
use envisa_model::program::DEVICES;
use envisa_suite::random::{Count, How, WAYS, hold};

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

/// Many programs of devices whose instructions have at most 16 channels are written by halves, which become one.
#[test]
fn halves_are_joined() {
    let count = Count::default();
    let failures = hold(0..400, &[How::Plain(Engine::Native)], &count, 1);
    assert!(failures.is_empty(), "{}", failures[0]);
    for (device, joined) in DEVICES.iter().zip(&count.joined) {
        let [programs, some, all] = [0, 1, 2].map(|k| joined[k].load(Ordering::Relaxed));
        println!("{}: {programs} programs, {some} with {all} instructions that are joined", device.name);
        if device.grf == 32 {
            assert!(some * 6 > programs && all > 10 * some, "{}: {some} of {programs}, {all}", device.name);
        }
    }
}
