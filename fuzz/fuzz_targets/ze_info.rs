//! `cargo +nightly fuzz run ze_info ../tests/fuzz-cases/ze_info`
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    envisa_fuzz_smoke::ze_info(input);
});
