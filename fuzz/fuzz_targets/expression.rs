//! `cargo +nightly fuzz run expression ../tests/fuzz-cases/expression`
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    envisa_fuzz_smoke::debug::expression(input);
});
