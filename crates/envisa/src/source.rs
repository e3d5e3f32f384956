//! The source texts of compiled kernels, as far as they were given.
//!
//! A module names its sources, and its author may have written any name: no file is opened for it. A name is looked
//! up among the texts that the user gave.

use crate::fault::{Inlined, SourceLine};
use crate::kernel::Code;
use crate::variable_shapes::{VariableShape, variable_shapes};
use envisa_diag::{FileId, Files, LineDirectives, Span};
use envisa_zebin::spirv::{self, SourceFunctions};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

/// A text that a module was compiled from, for reports to quote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceText {
    /// Its name: what reports call it. A module's own name of the file fits if its last part is the same.
    pub name: String,
    /// Its content.
    pub text: Vec<u8>,
}

/// Longest text of a line that is kept, in characters.
pub(crate) const MAX_LINE: usize = 400;
/// Longest name of a file that is shown.
const MAX_NAME: usize = 200;

/// The text of a program's source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Quoted {
    pub file: FileId,
    /// The lines that the file's numbers mean, where the text renumbers them.
    directives: Option<LineDirectives>,
}

/// The text of each name that a program has for its sources: those that were given join `files`. A name may be one that a
/// text gives to its lines.
pub(crate) fn resolve(names: &[String], given: &[SourceText], files: &mut Files) -> Vec<Option<Quoted>> {
    let mut ids: Vec<Option<FileId>> = vec![None; given.len()];
    let fitting = |name: &String| {
        let best = given
            .iter()
            .enumerate()
            .map(|(i, s)| (same_end(name, &s.name), i))
            .max_by_key(|(n, i)| (*n, usize::MAX - i));
        best.filter(|(n, _)| *n > 0).map(|(_, i)| i)
    };
    let named = |name: &String| {
        let is_it = |n: &str| name == n || name.ends_with(&format!("/{n}"));
        let of = |s: &SourceText| LineDirectives::of_file(&s.text, is_it);
        given.iter().enumerate().find_map(|(i, s)| Some((i, Some(of(s)?))))
    };
    let found = |name: &String| match fitting(name) {
        Some(i) => Some((i, LineDirectives::of(&given[i].text))),
        None => named(name),
    };
    let mut one = |(i, directives): (usize, Option<LineDirectives>)| {
        let add = || files.add_text(given[i].name.clone(), given[i].text.clone());
        Quoted { file: *ids[i].get_or_insert_with(add), directives }
    };
    names.iter().map(|name| found(name).map(&mut one)).collect()
}

/// How many parts the ends of two paths have in common.
fn same_end(a: &str, b: &str) -> usize {
    let parts = |path: &'_ str| path.rsplit(['/', '\\']).map(str::to_owned).collect::<Vec<_>>();
    parts(a).iter().zip(&parts(b)).take_while(|(a, b)| a == b && !a.is_empty()).count()
}

/// A file's name as reports and profiles show it.
pub(crate) fn shown_name(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
        .take(MAX_NAME)
        .collect()
}

/// The line that an instruction of a function was compiled from, and where it stands if its text is known.
pub(crate) fn source_line_of(
    code: &Code,
    function: &str,
    instruction: u32,
) -> Option<(SourceLine, Option<(FileId, Span)>)> {
    let program = code.program();
    let function = program.functions().iter().find(|f| f.name == function)?;
    let line = function.line(instruction)?;
    let recorded = program.source_files().get(usize::from(line.file))?;
    let (shown, quoted) = shown(code, Some(usize::from(line.file)), recorded, line.line);
    let at = (shown.line, line.column);
    Some((shown, quoted.map(|(file, span)| (file, narrowed(code, file, span, at)))))
}

/// What of a line a column of it is about, if it is known: an element or a call from there on, else the statement around it.
fn narrowed(code: &Code, file: FileId, whole: Span, (line, column): (u32, u32)) -> Span {
    let part = || {
        let text = code.files.get(file)?;
        let blanks = u32::try_from(text.line_text(line).find(|c: char| !c.is_whitespace())?).ok()?;
        let at = usize::try_from(column.checked_sub(1)?.checked_sub(blanks)?).ok()?;
        let part = part_of(&text.lossy(whole), at)?;
        Some(Span::new(whole.start + part.start as u32, whole.start + part.end as u32))
    };
    part().unwrap_or(whole)
}

/// What of a line the character at a place is about.
fn part_of(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let first = bytes.get(at)?;
    if !text.is_ascii() {
        return None;
    }
    if !is_name(first) {
        return Some(statement_around(text, at));
    }
    let mut end = at;
    loop {
        end += bytes[end..].iter().take_while(|b| is_name(b)).count();
        match bytes.get(end) {
            Some(b'[' | b'(') => {
                let mut depth = 0usize;
                let closes = |b: &u8| {
                    match b {
                        b'[' | b'(' => depth += 1,
                        b']' | b')' => depth -= 1,
                        _ => {}
                    }
                    depth == 0
                };
                end += bytes[end..].iter().position(closes)? + 1;
            }
            Some(b'.') => end += 1,
            Some(b'-') if bytes.get(end + 1) == Some(&b'>') => end += 2,
            _ => return Some(at..end),
        }
    }
}

/// The statement around a character of a line: what is in front of it may be another one, or the head of a loop or a branch.
fn statement_around(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut start, mut next) = (0usize, 0, b' ');
    for (n, b) in bytes[..at].iter().enumerate().rev() {
        let begins = match b {
            b';' | b'{' | b'}' => depth == 0,
            b'(' => depth == 0,
            // A head ends: an identifier comes right behind it.
            b')' => depth == 0 && (next.is_ascii_alphabetic() || next == b'_'),
            _ => false,
        };
        if begins {
            start = n + 1;
            break;
        }
        match b {
            b')' => depth += 1,
            b'(' => depth -= 1,
            _ => {}
        }
        next = if b.is_ascii_whitespace() { next } else { *b };
    }
    depth = 0;
    let ends = |b: &u8| {
        match b {
            b'(' => depth += 1,
            b')' if depth == 0 => return true,
            b')' => depth -= 1,
            b';' | b'{' | b'}' => return depth == 0,
            _ => {}
        }
        false
    };
    let end = bytes[at..].iter().position(ends).map_or(text.len(), |n| at + n);
    start += bytes[start..end].iter().take_while(|b| b.is_ascii_whitespace()).count();
    start..start + text[start..end].trim_end().len()
}

/// An instruction's text as it is shown: in one line, and not without end.
pub(crate) fn on_one_line(text: &str) -> String {
    text.chars().take(MAX_LINE).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A line of a file of a program's sources, and where it stands if its text is known.
fn shown(
    code: &Code,
    number: Option<usize>,
    recorded: &str,
    line: u32,
) -> (SourceLine, Option<(FileId, Span)>) {
    let quoted = number.and_then(|n| code.sources.get(n)?.as_ref()).and_then(|source| {
        let file = code.files.get(source.file)?;
        let line = source.directives.as_ref().map_or(Some(line), |d| d.line(line))?;
        Some((source.file, file, line, file.line_range(line)?))
    });
    let name = quoted.map_or(without_folder(recorded), |(_, file, ..)| file.name());
    let text = quoted.map(|(_, file, _, span)| file.lossy(span).chars().take(MAX_LINE).collect());
    let line = quoted.map_or(line, |(_, _, line, _)| line);
    let line = SourceLine { file: shown_name(name), line, text };
    (line, quoted.map(|(id, _, _, span)| (id, span)))
}

/// A file's name without the folder in which the compiler worked, which is no more.
fn without_folder(name: &str) -> &str {
    let inside = name.split_once("/envisa-compile-").and_then(|(_, rest)| rest.split_once('/'));
    inside.map_or(name, |(_, rest)| rest)
}

/// The functions of the source of a module, as its SPIR-V has them, which is read when somebody asks.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    spirv: Vec<u8>,
    read: OnceLock<Option<SourceFunctions>>,
    variables: OnceLock<BTreeMap<String, VariableShape>>,
}

impl Functions {
    /// Of a module's SPIR-V.
    pub fn of(spirv: Option<&[u8]>) -> Functions {
        Functions { spirv: spirv.unwrap_or_default().to_vec(), ..Functions::default() }
    }

    /// `None` if there is none that can be read: nothing depends on it but what reports say.
    fn get(&self) -> Option<&SourceFunctions> {
        self.read.get_or_init(|| spirv::functions(&self.spirv).ok()).as_ref()
    }

    /// What a variable of the program consists of.
    pub fn variable(&self, name: &str) -> Option<&VariableShape> {
        self.variables.get_or_init(|| variable_shapes(&self.spirv)).get(name)
    }
}

/// The functions that an instruction's line was inlined through, innermost first.
pub(crate) fn inlined(code: &Code, function: &str, instruction: u32) -> Vec<Inlined> {
    let found = || {
        let functions = code.metadata.as_ref()?.functions.get()?;
        let program = code.program();
        let of = program.functions().iter().find(|f| f.name == function)?;
        let line = of.line(instruction)?;
        let file = program.source_files().get(usize::from(line.file))?;
        // The kernel's own code is under another name.
        let own = program.functions().first().is_some_and(|first| first.name == function);
        let into = if own { &code.name } else { function };
        let one = |i: spirv::Inlined| {
            let lines = i.from.iter().map(|(file, line)| {
                let name = functions.file(*file);
                shown(code, program.source_files().iter().position(|f| f == name), name, *line)
            });
            let (from, quoted): (Vec<_>, Vec<_>) = lines.unzip();
            Inlined { function: i.function, from, quoted: quoted.first().copied().flatten() }
        };
        Some(functions.inlined(file, line.line, into).into_iter().map(one).collect())
    };
    found().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_about_parts_of_lines() {
        let of = |text: &'static str, at: &str| {
            part_of(text, text.find(at).expect("there")).map(|part| &text[part])
        };
        let sum = "for (int j = 0; j < n; j++) s += t[j] * v[i].w[2]; // a sum";
        assert_eq!(of(sum, "t["), Some("t[j]"));
        assert_eq!(of(sum, "v["), Some("v[i].w[2]"));
        assert_eq!(of(sum, "+="), Some("s += t[j] * v[i].w[2]"));
        let loops = "for (int i = l; i < n; i += 4) t[i] = (float)a[i];";
        assert_eq!(of(loops, "+="), Some("i += 4"));
        assert_eq!(of(loops, "= (f"), Some("t[i] = (float)a[i]"));
        assert_eq!(of("if (f(x) < 3) *p += 2;", "+="), Some("if (f(x) < 3) *p += 2"));
        assert_eq!(of("if (x) { p->n = f(a[1], b); }", "p"), Some("p->n"));
        assert_eq!(of("if (x) { p->n = f(a[1], b); }", "f(a"), Some("f(a[1], b)"));
        assert_eq!(of("if (x) { p->n = f(a[1], b); }", "= "), Some("p->n = f(a[1], b)"));
        assert_eq!(of("t[i = g(a,", "t"), None, "it goes on in the next line");
        assert_eq!(part_of("a", 1), None);
    }

    #[test]
    fn names_fit_by_their_ends() {
        let given = |name: &str| SourceText { name: name.into(), text: name.as_bytes().to_vec() };
        let mut files = Files::new();
        let names = ["/x/a/k.cl", "C:\\b\\k.cl", "/x/other.h", "", "/x/a/", "/k.cl"].map(String::from);
        let ids = resolve(&names, &[given("b/k.cl"), given("a/k.cl"), given("unused.cl")], &mut files);
        let name = |i: usize| ids[i].as_ref().and_then(|s| files.get(s.file)).map(|f| f.name());
        assert_eq!((name(0), name(1)), (Some("a/k.cl"), Some("b/k.cl")));
        assert_eq!((name(2), name(3), name(4)), (None, None, None));
        assert_eq!(name(5), Some("b/k.cl"), "the first of those that fit as well");
        assert_eq!(files.iter().count(), 2, "each once, and none that nothing names");
    }

    #[test]
    fn texts_name_files_of_their_own() {
        let text = b"a\n#line 8 \"made/up.cl\"\nb\n".to_vec();
        let given = [SourceText { name: "k.cl".into(), text }];
        let mut files = Files::new();
        let names = ["/tmp/x/k.cl", "/tmp/x/made/up.cl", "up.cl"].map(String::from);
        let ids = resolve(&names, &given, &mut files);
        let line = |i: usize, n| ids[i].as_ref().and_then(|s| s.directives.as_ref()).and_then(|d| d.line(n));
        assert_eq!((line(0, 1), line(0, 8), line(1, 8), ids[2].is_some()), (Some(1), None, Some(3), false));
        assert_eq!(without_folder("/tmp/envisa-compile-3AGAfs/made/up.cl"), "made/up.cl");
        assert_eq!(without_folder("/home/me/up.cl"), "/home/me/up.cl");
    }
}
