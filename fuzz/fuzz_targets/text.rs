//! `cargo +nightly fuzz run text ../tests/fuzz-cases/text`
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    envisa_fuzz_smoke::text(input);
});
