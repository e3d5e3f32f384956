//! The compiler's messages as diagnostics that point into the source.

use envisa_diag::{Diagnostic, FileId, Files, LineDirectives, Severity, Span, unknown};
use envisa_zebin::DeviceFamily;
use std::path::Path;

/// A line `PLACE:LINE:COLUMN: LEVEL: TEXT`.
struct Head<'a> {
    place: &'a str,
    line: u32,
    column: u32,
    level: Severity,
    text: &'a str,
}

/// What the compiler calls the source that it is handed, unless it is told the file's name.
const SOURCE: &str = "1";

fn parse_message_head(line: &str) -> Option<Head<'_>> {
    let (at, level, mark) = [
        (": fatal error: ", Severity::Error),
        (": error: ", Severity::Error),
        (": warning: ", Severity::Warning),
        (": note: ", Severity::Note),
        (": remark: ", Severity::Note),
    ]
    .into_iter()
    .filter_map(|(mark, level)| Some((line.find(mark)?, level, mark)))
    .min_by_key(|(at, ..)| *at)?;
    let mut parts = line[..at].rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let number = parts.next()?.parse().ok()?;
    Some(Head { place: parts.next()?, line: number, column, level, text: &line[at + mark.len()..] })
}

/// Gives the source its name in the compiler's messages, which call it `1` or as `told`, and takes out what is about a temporary
/// folder.
pub(crate) fn name_source_in_messages(messages: &str, input: &Path, told: Option<&str>) -> String {
    let lines = messages.lines().filter(|l| !l.starts_with("Command was: "));
    let named = lines.map(|line| {
        match parse_message_head(line).filter(|h| h.place == SOURCE || Some(h.place) == told) {
            Some(h) => format!("{}{}", input.display(), &line[h.place.len()..]),
            None => line.to_owned(),
        }
    });
    named.collect::<Vec<_>>().join("\n")
}

/// The compiler's messages (of [`crate::Built`] or [`crate::BuildError::Failed`]) about a source file, as diagnostics
/// of code E0811 or W0811 that point into it. What has no place is one diagnostic, or a note of the last one.
///
/// Only the source itself is shown: no other file is read, whatever the messages name.
pub fn messages_as_diagnostics(messages: &str, input: &Path, files: &mut Files) -> Vec<Diagnostic> {
    let name = input.display().to_string();
    let file: Option<FileId> = std::fs::read(input)
        .ok()
        .filter(|b| b.len() < 1 << 24)
        .map(|bytes| files.add_text(name.clone(), bytes));
    let mut out: Vec<Diagnostic> = Vec::new();
    let mut loose: Vec<&str> = Vec::new();
    // After a message the compiler repeats the line of source and marks the place.
    let mut echo = 0;
    for line in messages.lines() {
        let Some(h) = parse_message_head(line) else {
            let summary = line.starts_with("Build failed with error code")
                || line.ends_with("generated.")
                || line.trim().is_empty();
            if echo > 0 {
                echo -= 1;
            } else if !summary {
                loose.push(line);
            }
            continue;
        };
        echo = 2;
        let here = file.filter(|_| h.place == name);
        let span = here.and_then(|id| word_span(files, id, h.line, h.column));
        if h.level == Severity::Note {
            let Some(last) = out.pop() else { continue };
            out.push(match (here, span) {
                (Some(id), Some(span)) => last.secondary(id, span, h.text.to_owned()),
                _ => last.note(format!("{}:{}:{}: {}", h.place, h.line, h.column, h.text)),
            });
            continue;
        }
        let d = if h.level == Severity::Error {
            Diagnostic::error("E0811", h.text.to_owned())
        } else {
            Diagnostic::warning("W0811", h.text.to_owned())
        };
        out.push(match (here, span) {
            (Some(id), Some(span)) => d.primary(id, span, ""),
            _ => d.note(format!("at {}:{}:{}", h.place, h.line, h.column)),
        });
    }
    if !loose.is_empty() {
        let text = loose.join("\n");
        match out.pop() {
            Some(last) => out.push(last.note(text)),
            None if text.contains("error") => out.push(Diagnostic::error("E0811", text)),
            None => out.push(Diagnostic::warning("W0811", text)),
        }
    }
    out
}

/// A failure of the compiler ([`crate::BuildError::Failed`]) as diagnostics, at least one of which is an error.
pub fn failure_as_diagnostics(
    status: &str,
    device: &str,
    messages: &str,
    input: &Path,
    files: &mut Files,
) -> Vec<Diagnostic> {
    if messages.contains("Cannot get HW Info for device") {
        let known = DeviceFamily::ALL.map(DeviceFamily::name);
        let error = if known.contains(&device) {
            Diagnostic::error("E0810", format!("this `ocloc` does not compile for `{device}`"))
                .note("newer versions leave out old devices, and older ones do not know new devices")
        } else {
            Diagnostic::error("E0810", unknown("device", device, known))
                .note("`ocloc` does not know it either")
        };
        return vec![error];
    }
    let mut all = messages_as_diagnostics(messages, input, files);
    if !all.iter().any(Diagnostic::is_error) {
        all.push(Diagnostic::error("E0810", format!("ocloc failed ({status}) for device {device}")));
    }
    all
}

/// The word at a line and column, both from 1, the column in bytes; the line's number is that which the text gives it.
fn word_span(files: &Files, id: FileId, number: u32, column: u32) -> Option<Span> {
    let bytes = files.get(id)?.bytes();
    let line = LineDirectives::of(bytes).map_or(Some(number), |d| d.line(number))?;
    let start = match line.checked_sub(1)? {
        0 => 0,
        n => bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(n as usize - 1)?.0 + 1,
    };
    let end = bytes[start..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| start + n);
    let at = (start + column.saturating_sub(1) as usize).min(end);
    let word = bytes[at..end].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    Some(Span::new(at as u32, (at + word.max(usize::from(at < end))) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "1:2:5: warning: unused variable 'x'\n  int x;\n    ^\n1:3:8: error: use of undeclared identifier 'b'\n  a[0]=b;\n       ^\n./h.h:9:1: error: no\nnonsense\n^\n1:1:13: note: declared here\nkernel void f(\n  ^\n2 errors generated.\nBuild failed with error code: -11\nCommand was: ocloc compile -file /tmp/x\n";

    #[test]
    fn messages_point_into_the_source() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k.cl");
        std::fs::write(&path, "kernel void f(int *a) {\n    int x;\n  a[0]=bcd;\n}\n").unwrap();
        let said = name_source_in_messages(SAID, &path, None);
        assert!(said.contains("k.cl:2:5: warning") && !said.contains("Command"), "{said}");
        let mut files = Files::new();
        let all = messages_as_diagnostics(&said, &path, &mut files);
        let texts: Vec<&str> = all.iter().map(|d| d.message.as_ref()).collect();
        assert_eq!(texts, ["unused variable 'x'", "use of undeclared identifier 'b'", "no"]);
        let word = |d: &Diagnostic| {
            let l = d.location().unwrap();
            files.get(l.file).unwrap().lossy(l.span).into_owned()
        };
        assert_eq!((word(&all[0]), word(&all[1])), ("int".into(), "bcd".into()));
        assert_eq!(all[2].notes, ["at ./h.h:9:1"]);
        assert_eq!(all[2].labels[0].text, "declared here");
    }

    #[test]
    fn a_device_that_the_compiler_lacks_is_not_called_unknown() {
        let said = |device: &str| {
            let messages = format!("Cannot get HW Info for device {device}.");
            let all = failure_as_diagnostics(
                "exit status: 1",
                device,
                &messages,
                Path::new("k.cl"),
                &mut Files::new(),
            );
            all[0].message.to_string()
        };
        assert_eq!(said("skl"), "this `ocloc` does not compile for `skl`");
        assert!(said("sky").starts_with("unknown device `sky`"), "{}", said("sky"));
    }

    #[test]
    fn what_has_no_place_is_not_lost() {
        let mut files = Files::new();
        let path = Path::new("/nowhere/k.cl");
        let all = messages_as_diagnostics(
            "error: internal compiler error\nBuild failed with error code: -43\n",
            path,
            &mut files,
        );
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].message, "error: internal compiler error");
        // Places beyond the file's end, and no place at all.
        for said in ["1:99:99: error: far", "1:0:0: error: before", ":::: error: none", "1:-1:2: error: x"] {
            messages_as_diagnostics(&name_source_in_messages(said, path, None), path, &mut files);
        }
    }
}
