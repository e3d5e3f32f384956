//! What the fuzz targets do to an input: they panic where a promise is broken.

pub mod memory;
pub mod mutate;

use envisa::binary::{self, ReadOptions, WriteOptions};
use envisa::diag::Files;
use envisa::isa::{Module, Platform};
use envisa::text::{self, ParseOptions, PrintOptions};

/// A target: a function of the input's bytes.
pub type Target = fn(&[u8]);

/// The targets by name.
pub const TARGETS: [(&str, Target); 2] = [("binary", binary), ("text", text)];

/// The reader: it panics on nothing; what it accepts is sound, and reads back once written.
pub fn binary(input: &[u8]) {
    let _ = binary::recover(input);
    match binary::read(input) {
        Ok(module) => {
            module.check_sound().expect("what was read is sound");
            binary_again(&module);
        }
        Err(e) => {
            assert!(e.offset <= input.len(), "{e}: beyond the input's {} bytes", input.len());
            assert!(!e.to_string().is_empty());
        }
    }
}

fn binary_again(module: &Module) {
    let bytes = binary::write(module, &WriteOptions::default()).expect("what was read can be written");
    let again = binary::read_with(&bytes, &ReadOptions::default()).expect("what was written can be read");
    // What is written is of 4.1 at least.
    let again = Module { version: module.version, ..again };
    assert_eq!(module.first_difference(&again), None, "what was written reads back");
}

/// The parser: it panics on nothing; what it accepts is sound, and can be written if it fits the format.
pub fn text(input: &[u8]) {
    let source = String::from_utf8_lossy(input);
    let mut files = Files::new();
    let file = files.add_text("input", source.as_bytes());
    let options = ParseOptions { platform: Some(Platform::Skl), ..ParseOptions::default() };
    let result = text::parse(&source, file, &options);
    if !result.complete {
        assert!(!result.diagnostics.is_empty(), "incomplete, and nobody says why");
        return;
    }
    result.module.check_sound().expect("what was parsed is sound");
    if let Ok(printed) = text::print(&result.module, &PrintOptions::default()) {
        let mut files = Files::new();
        let file = files.add_text("printed", printed.as_bytes());
        let again = text::parse(&printed, file, &options);
        assert!(again.complete, "what was printed reads back:\n{printed}");
        assert_eq!(
            result.module.first_difference(&again.module),
            None,
            "what was printed reads back the same"
        );
    }
    if let Ok(bytes) = binary::write(&result.module, &WriteOptions::default()) {
        binary::read(&bytes).expect("what was written can be read");
    }
}
