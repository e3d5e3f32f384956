//! `cargo +nightly fuzz run npy ../tests/fuzz-cases/npy`
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    envisa_fuzz_smoke::npy(input);
});
