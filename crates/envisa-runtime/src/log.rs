//! The driver's own messages, and the log of calls.

use std::io::Write;
use std::sync::OnceLock;

use envisa::diag::{Diagnostic, Files, Severity, render_json};

/// What `ENVISA_LOG` asks for.
#[derive(Clone, Copy, Default, Debug)]
pub struct Wanted {
    /// Every call with its arguments, result and time.
    pub api: bool,
    /// Compilations and where they came from.
    pub compiler: bool,
    /// Launches: kernel, sizes, times.
    pub launch: bool,
}

/// What `ENVISA_LOG` asks for: a list of `api`, `compiler`, `launch`, `all`.
pub fn log_settings() -> Wanted {
    static WANTED: OnceLock<Wanted> = OnceLock::new();
    *WANTED.get_or_init(|| {
        let mut wanted = Wanted::default();
        let text = std::env::var("ENVISA_LOG").unwrap_or_default();
        for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            match word {
                "api" => wanted.api = true,
                "compiler" => wanted.compiler = true,
                "launch" => wanted.launch = true,
                "all" => wanted = Wanted { api: true, compiler: true, launch: true },
                other => print_warning(&format!(
                    "ENVISA_LOG names `{other}`; there are api, compiler, launch and all"
                )),
            }
        }
        wanted
    })
}

/// A line on standard error in one piece.
pub fn line(text: &str) {
    // Nobody can be told if that fails.
    let _ = std::io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// Whether what is told is JSON, an object a line (`ENVISA_MESSAGE_FORMAT=json`).
pub fn json() -> bool {
    static JSON: OnceLock<bool> = OnceLock::new();
    *JSON.get_or_init(|| std::env::var_os("ENVISA_MESSAGE_FORMAT").is_some_and(|v| v == "json"))
}

/// Something that must be said whatever `ENVISA_LOG` is.
pub fn print_warning(text: &str) {
    if json() {
        return line(&json_message(false, text));
    }
    line(&format!("envisa: {text}"));
}

/// As [`print_warning`], of a mistake of the program.
pub fn print_error(text: &str) {
    line(&if json() { json_message(true, text) } else { format!("error: {text}") });
}

/// An error, or a warning, that is about no place of a module, as a line of JSON.
pub fn json_message(error: bool, text: &str) -> String {
    let severity = if error { Severity::Error } else { Severity::Warning };
    render_json(&Files::new(), &[Diagnostic::new(severity, "", text.to_owned())]).trim_end().to_owned()
}

/// A text with `0x…` instead of numbers in that notation.
pub fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("0x…");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn addresses_are_told_apart_by_nothing() {
        let text = super::without_addresses("f(queue = 0x5c30, n = 4, 0x)");
        assert_eq!(text, "f(queue = 0x…, n = 4, 0x…)");
    }
}
