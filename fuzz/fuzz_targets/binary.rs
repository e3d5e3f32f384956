//! `cargo +nightly fuzz run binary ../tests/fuzz-cases/binary`
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    envisa_fuzz_smoke::binary(input);
});
