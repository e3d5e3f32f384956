//! `cargo +nightly fuzz run protocol ../tests/fuzz-cases/protocol`
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    envisa_fuzz_smoke::debug::protocol(input);
});
