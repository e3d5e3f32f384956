//! Candidates in OpenCL C that are none: clang refuses them in a tenth of the time that a driver's compiler takes, which reads all
//! declarations of the language anew.

use crate::cmd::limited_process;
use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

/// What clang is to do: to read a program, with declarations of built-in functions from its own tables.
const READ: [&str; 10] = [
    "clang",
    "-cc1",
    "-triple",
    "spir64",
    "-fdeclare-opencl-builtins",
    "-finclude-default-header",
    "-fsyntax-only",
    "-w",
    "-x",
    "cl",
];
/// Errors that clang tells: the first is enough.
const ONE: [&str; 2] = ["-ferror-limit", "1"];

/// Whether clang is asked: if it is there, and takes the input.
#[derive(Default)]
pub(super) struct ClangCheck {
    words: OnceLock<Option<Vec<OsString>>>,
}

impl ClangCheck {
    /// Is a program surely none? The first one that is asked about is the input.
    pub fn surely_rejects(&self, file: &Path, options: &[String], seconds: u32) -> bool {
        let takes = |words: &[OsString]| {
            let words: Vec<OsString> = words.iter().cloned().chain([file.into()]).collect();
            let folder = file.parent().unwrap_or(Path::new("."));
            limited_process::run(&words, folder, seconds, &[]).is_some_and(|ended| ended.success())
        };
        let mut first = false;
        let words = self.words.get_or_init(|| {
            first = true;
            let words: Vec<OsString> =
                READ.into_iter().chain(ONE).map(OsString::from).chain(meaning_options(options)).collect();
            Some(words).filter(|words| takes(words))
        });
        !first && words.as_deref().is_some_and(|words| !takes(words))
    }
}

/// Options of a compiler that say what a program means: its version of the language, definitions and folders.
fn meaning_options(options: &[String]) -> impl Iterator<Item = OsString> {
    let words = options.iter().flat_map(|o| o.split_whitespace());
    words.filter(|w| ["-cl-std=", "-D", "-I"].iter().any(|of| w.starts_with(of))).map(OsString::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_say_what_a_program_means_are_kept() {
        let options = ["-cl-std=CL3.0 -cl-opt-disable".to_owned(), "-DN=4 -w".to_owned()];
        assert_eq!(meaning_options(&options).collect::<Vec<_>>(), ["-cl-std=CL3.0", "-DN=4"]);
    }
}
