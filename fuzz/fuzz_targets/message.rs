//! `cargo +nightly fuzz run message ../tests/fuzz-cases/message`
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    envisa_fuzz_smoke::message::message(input);
});
