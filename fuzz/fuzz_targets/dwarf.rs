//! `cargo +nightly fuzz run dwarf ../tests/fuzz-cases/dwarf`
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    envisa_fuzz_smoke::debug::dwarf(input);
});
