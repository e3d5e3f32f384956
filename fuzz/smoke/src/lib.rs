//! What the fuzz targets do to an input: they panic where a promise is broken.

pub mod debug;
pub mod memory;
pub mod message;
pub mod mutate;

use envisa::binary::{self, ReadOptions, WriteOptions};
use envisa::diag::Files;
use envisa::isa::{Module, Platform};
use envisa::lower::{Program, optimize};
use envisa::text::{self, ParseOptions, PrintOptions};
use envisa::zebin::{ZeInfo, ZebinFile};
use envisa_harness::job::{ArgText, Job};
use envisa_harness::values::{HostValue, ValueSpec};

/// A target: a function of the input's bytes.
pub type Target = fn(&[u8]);

/// The targets by name.
pub const TARGETS: [(&str, Target); 11] = [
    ("binary", binary),
    ("text", text),
    ("zebin", zebin),
    ("ze_info", ze_info),
    ("npy", npy),
    ("job", job),
    ("program", program),
    ("message", message::message),
    ("protocol", debug::protocol),
    ("expression", debug::expression),
    ("dwarf", debug::dwarf),
];

/// Which part of a run's inputs a target gets, in hundredths.
pub fn share(target: &str) -> u64 {
    match target {
        "binary" => 32,
        "text" => 35,
        // A session begins with each.
        "protocol" | "expression" | "dwarf" => 1,
        _ => 5,
    }
}

/// Memory that is not counted, besides what grows with the input: of the debugger's targets, the private memory of a launch too.
pub fn free(target: &str) -> usize {
    match target {
        "protocol" | "expression" | "dwarf" => 24 << 20,
        _ => 4 << 20,
    }
}

/// The reader: it panics on nothing; what it accepts is sound, and reads back once written.
pub fn binary(input: &[u8]) {
    let _ = binary::recover(input);
    match binary::read_with(input, &ReadOptions::for_platform(Platform::Skl)) {
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
    let again = binary::read_with(&bytes, &ReadOptions::for_platform(Platform::Skl))
        .expect("what was written can be read");
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
        binary::read_with(&bytes, &ReadOptions::for_platform(Platform::Skl))
            .expect("what was written can be read");
    }
}

/// Lowered programs: reading panics on nothing; what it accepts reads back once printed, and can be improved.
pub fn program(input: &[u8]) {
    match Program::read(&String::from_utf8_lossy(input)) {
        Ok(program) => {
            let text = program.to_string();
            let again = Program::read(&text).expect("what was printed reads back");
            assert_eq!(again.to_string(), text, "what was printed reads back the same");
            // The optimiser's memory goes by the register file, of which a short text may have much.
            if program.registers().bytes <= 1 << 16 {
                optimize(&program).expect("what is improved is a program");
            }
        }
        Err(e) => assert!(!e.to_string().is_empty()),
    }
}

/// The container of the compiler: it panics on nothing; what it accepts can be written, and reads back.
pub fn zebin(input: &[u8]) {
    let Ok(file) = ZebinFile::parse(input) else { return };
    for v in &file.visa {
        let _ = file.visa_text(v);
    }
    let _ = file.strip();
    let bytes = file.write().expect("what was read can be written");
    let again = ZebinFile::parse(&bytes).expect("what was written can be read");
    assert_eq!(file.ze_info, again.ze_info, "what was written reads back");
}

/// The launch metadata.
pub fn ze_info(input: &[u8]) {
    match ZeInfo::parse(&String::from_utf8_lossy(input)) {
        Ok((info, _)) => {
            for kernel in &info.kernels {
                let _ = info.arguments(kernel);
            }
        }
        Err(e) => assert!(!e.to_string().is_empty()),
    }
}

/// Arrays.
pub fn npy(input: &[u8]) {
    if let Ok(value) = HostValue::from_npy(input, 1 << 20) {
        for i in 0..value.len().min(4) {
            let _ = value.display(i);
        }
    }
}

/// Manifests of launches, and the values in them.
pub fn job(input: &[u8]) {
    let Ok(job) = Job::parse(&String::from_utf8_lossy(input)) else { return };
    for arg in job.args.values() {
        match arg {
            ArgText::Text(text) => {
                let _ = ValueSpec::parse(text);
            }
            ArgText::Image { image, value } => {
                let _ = envisa_harness::images::parse_image(image);
                let _ = ValueSpec::parse(value);
            }
            ArgText::Sampler { sampler } => drop(envisa_harness::images::parse_sampler(sampler)),
            _ => {}
        }
    }
}
