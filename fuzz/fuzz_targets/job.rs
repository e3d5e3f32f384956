//! `cargo +nightly fuzz run job ../tests/fuzz-cases/job`
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    envisa_fuzz_smoke::job(input);
});
