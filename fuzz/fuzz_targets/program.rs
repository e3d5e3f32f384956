//! `cargo +nightly fuzz run program ../tests/fuzz-cases/program`
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    envisa_fuzz_smoke::program(input);
});
