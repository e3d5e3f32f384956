//! Random programs, held against the model of the pages, in parts that run side by side.
//!
//! More of them in an optimised build: `cargo run --profile checked -p envisa-suite -- random --programs 20000`.

use std::path::Path;
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

/// Programs that differed from the model once, as long as their numbers mean the same ones.
#[test]
fn what_differed_once() {
    for n in [9_202_132, 9_301_441, 9_303_208, 9_402_077, 9_417_039, 9_417_876] {
        let failures = hold(n..n + 1, &WAYS, &Count::default(), 1);
        assert!(failures.is_empty(), "{}", failures[0]);
    }
}

/// Programs of devices whose instructions have at most 16 channels are written by halves, which become one.
#[test]
fn halves_are_joined() {
    let count = Count::default();
    let failures = hold(0..1_000, &[How::Plain(Engine::Native)], &count, 1);
    assert!(failures.is_empty(), "{}", failures[0]);
    for (device, joined) in DEVICES.iter().zip(&count.joined) {
        let [programs, some, all] = [0, 1, 2].map(|k| joined[k].load(Ordering::Relaxed));
        println!("{}: {programs} programs, {some} with {all} instructions that are joined", device.name);
        if device.grf == 32 {
            assert!(programs > 10 && some * 4 > programs * 3, "{}: {some} of {programs}", device.name);
            assert!(all > 10 * some, "{}: {all} in {some} programs", device.name);
        }
    }
}

/// Is there a member of one of these names that says something, of what is not explained by its name?
fn tells(value: &serde_json::Value, names: &[&str], explained: &[String]) -> bool {
    let says = |v: &serde_json::Value| !v.is_null() && v.as_array().is_none_or(|all| !all.is_empty());
    match value {
        serde_json::Value::Object(all) => {
            let reason =
                all.get("name").and_then(|n| n.as_str()).is_some_and(|n| explained.iter().any(|e| e == n));
            let member = |(name, v): (&String, &serde_json::Value)| {
                tells(v, names, explained) || (names.contains(&name.as_str()) && says(v))
            };
            !reason && all.iter().any(member)
        }
        serde_json::Value::Array(all) => all.iter().any(|v| tells(v, names, explained)),
        _ => false,
    }
}

/// What is published says of no result that it is wrong: such a page is neither written nor kept.
#[test]
fn pages_have_no_differences() {
    let docs = envisa_suite::performance::docs_folder();
    let read =
        |path: &Path| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let page = |name: &str| read(&docs.join(name));
    assert!(page("RANDOM-PROGRAMS.md").contains("\n| **differ from the model** | **none** |\n"));
    assert!(!page("PROGRAMS.md").contains("**open**"));
    let checks = page("CHECKS.md");
    let cells = |l: &str| l.split('|').map(|c| c.trim().to_owned()).collect::<Vec<_>>();
    // Behind the project's own cases are other people's suites, whose bugs are not all found.
    let own = checks.split("\n## ").next().unwrap_or_default();
    let ours: Vec<_> = own.lines().filter(|l| l.starts_with("| envisa, ")).map(cells).collect();
    assert_eq!(ours.len(), 4, "{ours:?}");
    for row in &ours {
        // Each bug that is not found, or that the device's code does not have, says why.
        let device = row[1].trim_start_matches("envisa, ");
        let said =
            own.lines().filter(|l| l.starts_with("- ") && l.contains(&format!(" on {device}: "))).count();
        let number = |k: usize| row[k].parse::<usize>().expect("a number");
        assert_eq!(number(3) + number(4), said, "{row:?}");
        assert!(number(2) > 30 * number(3), "{row:?}");
    }
    assert!(checks.contains("Alarms on twins: envisa none of "));
    let conformance = page("CONFORMANCE.md");
    // Of devices; witnesses, which are others, stand with what they are.
    let of_device = |l: &&str| l.contains(" kernels give PoCL's result") && !l.contains('(');
    let sums: Vec<&str> = conformance.lines().filter(of_device).collect();
    for sum in &sums {
        let numbers: Vec<u32> = sum.split_whitespace().filter_map(|w| w.parse().ok()).collect();
        let [passed, all, ref explained @ ..] = numbers[..] else { panic!("{sum}") };
        let known = sum.matches("for a known reason").count() == explained.len();
        assert!(known && passed + explained.iter().sum::<u32>() == all, "{sum}");
    }
    assert!(sums.len() >= 4);
    // Foreign kernels that race, or whose results are open, are named with their reasons.
    let suites: toml::Table = read(&docs.join("../suite/foreign.toml")).parse().expect("a list of suites");
    let explained: Vec<String> =
        suites["results"].as_table().expect("reasons by kernel").keys().cloned().collect();
    let records = std::fs::read_dir(docs.join("performance")).expect("records");
    let mut seen = 0;
    for path in
        records.map(|e| e.expect("an entry").path()).filter(|p| p.extension().is_some_and(|e| e == "json"))
    {
        let record = serde_json::from_str(&read(&path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(!tells(&record, &["differs", "failure"], &explained), "{}", path.display());
        seen += 1;
    }
    assert!(seen >= 8);
}
