//! `cargo +nightly fuzz run zebin ../tests/fuzz-cases/zebin`
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    envisa_fuzz_smoke::zebin(input);
});
