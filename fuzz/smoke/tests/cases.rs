//! What fuzzing found stays found: every kept input runs through its target.

use envisa::isa::generate::Rng;
use envisa_fuzz_smoke::{TARGETS, mutate};
use std::path::Path;

#[test]
fn kept_inputs_break_nothing() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz-cases");
    for (name, target) in TARGETS {
        let mut inputs = Vec::new();
        mutate::files(&cases.join(name), &mut inputs);
        assert!(!inputs.is_empty(), "no cases for {name} in {}", cases.display());
        for input in inputs {
            target(&input);
        }
    }
}

#[test]
fn a_few_mutations_break_nothing() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz-cases");
    for (name, target) in TARGETS {
        let seeds = match name {
            "binary" => mutate::binary_seeds(&cases.join(name)),
            _ => mutate::text_seeds(&[&cases.join(name)]),
        };
        let words = mutate::dictionary(name);
        let mut rng = Rng::new(7);
        let mut input = Vec::new();
        for _ in 0..2000 {
            mutate::mutate(&mut rng, &seeds, &words, &mut input);
            target(&input);
        }
    }
}
