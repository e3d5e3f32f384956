//! Source lines: with checks, the compiler records lines, so that findings can quote the source.

use std::sync::{Mutex, OnceLock};

use envisa_ocloc::DEBUG_OPTIONS;

use crate::device::SourceText;

/// The option by which the compiler leaves variables where debug information says.
const KEEPS_VARIABLES: &str = "-cl-opt-disable";

/// Is the program debugged? `ENVISA_DEBUG_BUILDS` is `1` then, and programs are compiled so that every variable has a place.
pub fn is_built_for_debugging() -> bool {
    static DEBUGGING: OnceLock<bool> = OnceLock::new();
    *DEBUGGING.get_or_init(|| std::env::var_os("ENVISA_DEBUG_BUILDS").is_some_and(|v| v == "1"))
}

/// Options by which variables are where debug information says; of SPIR-V, where it has that.
pub fn keeping_variables(options: &str) -> String {
    let has = |option: &str| options.split_whitespace().any(|w| w == option);
    let more = ["-g", KEEPS_VARIABLES].into_iter().filter(|o| !has(o));
    std::iter::once(options).filter(|o| !o.is_empty()).chain(more).collect::<Vec<_>>().join(" ")
}

/// The texts of a program that is debugged.
static DEBUGGED: Mutex<Vec<SourceText>> = Mutex::new(Vec::new());

/// The texts that were compiled so far, of a program that is debugged.
pub fn debugged_sources() -> Vec<SourceText> {
    DEBUGGED.lock().unwrap().clone()
}

/// A source that is compiled so that lines are known.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceWithLines {
    /// The options: the application's and what asks for lines.
    pub options: String,
    /// The text, by the name that the module has for it.
    pub source: SourceText,
}

impl SourceWithLines {
    /// For a source with the application's options. The code does the same, and it is known where local variables lie.
    pub fn new(text: &str, options: &str) -> SourceWithLines {
        let mut words = options.split_whitespace();
        let named = words.by_ref().find(|w| *w == "-s").and_then(|_| words.next());
        let lines = options.split_whitespace().any(|w| w.starts_with("-g"));
        // The same text has the same name, so that compiled modules are found again.
        let name = named.map_or_else(|| name_of(text), |n| n.trim_matches('"').to_owned());
        let more = match (lines, named) {
            (true, Some(_)) => String::new(),
            (true, None) => format!("-s /{name}"),
            (false, Some(_)) => DEBUG_OPTIONS.split(" -s").next().unwrap_or_default().to_owned(),
            (false, None) => format!("{DEBUG_OPTIONS}/{name}"),
        };
        let mut options = format!("{options} {more}").trim().to_owned();
        let source = SourceText { name, text: text.as_bytes().to_vec() };
        if is_built_for_debugging() {
            options = keeping_variables(&options);
            DEBUGGED.lock().unwrap().push(source.clone());
        }
        SourceWithLines { options, source }
    }

    /// A build log as it is without lines: applications may read it.
    pub fn log(&self, log: &str) -> String {
        log.replace(&format!("/{}:", self.source.name), "<source>:")
    }
}

/// What reports call a text, which came without a name.
fn name_of(text: &str) -> String {
    let mut hasher = std::hash::DefaultHasher::new();
    std::hash::Hash::hash(text, &mut hasher);
    format!("program-{:06x}.cl", std::hash::Hasher::finish(&hasher) & 0xff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_kept_once() {
        assert_eq!(keeping_variables(""), "-g -cl-opt-disable");
        assert_eq!(keeping_variables("-DX -g"), "-DX -g -cl-opt-disable");
        assert_eq!(keeping_variables("-cl-opt-disable -g"), "-cl-opt-disable -g");
    }

    #[test]
    fn options_of_the_application_are_kept() {
        let told = SourceWithLines::new("kernel void f() {}", "-DX=1");
        let name = told.source.name.clone();
        assert_eq!(told.options, format!("-DX=1 -g -s /{name}"));
        assert_eq!(
            SourceWithLines::new("kernel void f() {}", "").source.name,
            name,
            "the same text has the same name"
        );
        assert_ne!(SourceWithLines::new("kernel void g() {}", "").source.name, name);
        assert_eq!(SourceWithLines::new("", "-g -s /a/b.cl").options, "-g -s /a/b.cl");
        assert_eq!(SourceWithLines::new("", "-g -s /a/b.cl").source.name, "/a/b.cl");
        assert_eq!(SourceWithLines::new("", "-s /a/b.cl -w").options, "-s /a/b.cl -w -g");
        assert!(SourceWithLines::new("", "-g").options.starts_with("-g -s /program-"));
        assert_eq!(told.log(&format!("/{name}:1:2: error: x\n")), "<source>:1:2: error: x\n");
    }
}
