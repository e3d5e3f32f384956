//! Lines of C sources that are renumbered by `#line`: which line of a text a compiler means by a number and a name.
//!
//! (C, 6.10.4: the line behind `#line 7 "name"` has the number 7 in a file of that name, without a name in the file that it was.)

/// Lines side by side that are numbered from one on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Part {
    /// The first line of the text, and the number that it has; how many there are.
    line: u32,
    number: u32,
    count: u32,
}

/// Which lines of a text have which numbers, in a file of one name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineDirectives {
    parts: Vec<Part>,
}

impl LineDirectives {
    /// Of the lines that are in the text's own file; `None` if the text renumbers none.
    pub fn of(text: &[u8]) -> Option<LineDirectives> {
        let (all, renumbered) = parts(text, |name| name.is_none());
        renumbered.then_some(all)
    }

    /// Of the lines that the text says are in a file of a name that `is_it`; `None` if there are none.
    pub fn of_file(text: &[u8], is_it: impl Fn(&str) -> bool) -> Option<LineDirectives> {
        let (all, _) = parts(text, |name| name.is_some_and(&is_it));
        Some(all).filter(|all| !all.parts.is_empty())
    }

    /// The line of the text that has a number; `None` if none or several have it.
    pub fn line(&self, number: u32) -> Option<u32> {
        let mut all = self.parts.iter().filter_map(|part| {
            let n = number.checked_sub(part.number).filter(|n| *n < part.count)?;
            Some(part.line + n)
        });
        all.next().filter(|_| all.next().is_none())
    }
}

/// The parts in files that are wanted, and whether anything was renumbered.
fn parts(text: &[u8], wanted: impl Fn(Option<&str>) -> bool) -> (LineDirectives, bool) {
    let (mut all, mut name, mut renumbered) = (Vec::new(), None, false);
    let mut part = Part { line: 1, number: 1, count: 0 };
    let mut end = |part: Part, name: &Option<String>| {
        if part.count > 0 && wanted(name.as_deref()) {
            all.push(part);
        }
    };
    // Behind the last end of a line there is none.
    let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|b| *b == b'\n');
    for (n, line) in (1u32..).zip(lines) {
        let Some((number, file)) = directive(line) else {
            part.count += 1;
            continue;
        };
        end(part, &name);
        (renumbered, name) = (true, file.or(name));
        part = Part { line: n + 1, number, count: 0 };
    }
    end(part, &name);
    (LineDirectives { parts: all }, renumbered)
}

/// The number and the name of `#line 7 "name"`, or of `# 7 "name"` as preprocessors write it.
fn directive(line: &[u8]) -> Option<(u32, Option<String>)> {
    let rest = line.trim_ascii_start().strip_prefix(b"#")?;
    let rest = std::str::from_utf8(rest).ok()?.trim_start();
    let rest = rest.strip_prefix("line").filter(|r| r.starts_with([' ', '\t'])).unwrap_or(rest).trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest[..digits].parse().ok()?;
    let name = rest[digits..].split('"').nth(1);
    Some((number, name.map(|n| n.replace("\\\\", "\\"))))
}
