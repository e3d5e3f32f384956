//! What fuzzing found stays found: every kept input runs through its target.

use envisa_fuzz_smoke::{TARGETS, mutate};
use envisa_smith::generate::Rng;
use std::path::Path;

#[test]
fn kept_inputs_break_nothing() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz-cases");
    for (name, target) in TARGETS {
        let mut inputs = Vec::new();
        mutate::files(&cases.join(name), &mut inputs);
        let common = matches!(name, "binary" | "text");
        assert!(!common || !inputs.is_empty(), "no cases for {name} in {}", cases.display());
        for input in inputs {
            target(&input);
        }
    }
}

#[test]
fn a_few_mutations_break_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, target) in TARGETS {
        let source = mutate::Source::new(name, &root);
        let mut rng = Rng::new(7);
        let mut input = Vec::new();
        for _ in 0..1000 {
            source.input(&mut rng, &mut input);
            target(&input);
        }
    }
}

/// The same seed gives the same inputs.
#[test]
fn runs_repeat() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let run = || {
        let source = mutate::Source::new("binary", &root);
        let mut rng = Rng::new(3);
        (0..50)
            .map(|_| {
                let mut input = Vec::new();
                source.input(&mut rng, &mut input);
                input
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}
