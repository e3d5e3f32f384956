//! The SPIR-V that compilers keep in a zebin (`.spv`): which function each line of the source belongs to, and where
//! functions are called. A vISA line is of the function that was inlined there, and vISA does not say into which.

use std::collections::{BTreeMap, BTreeSet};

/// A line of a source: which of the files, and the line.
pub type FileLine = (u32, u32);

/// A function of the source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceFunction {
    /// Its name.
    pub name: String,
    /// The lines that its own instructions were compiled from.
    pub lines: BTreeSet<FileLine>,
    /// What it calls, by index, and where.
    pub calls: BTreeSet<(usize, FileLine)>,
}

/// The functions of a module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceFunctions {
    /// Names of files, as the compiler was given them.
    pub files: Vec<String>,
    /// The functions.
    pub functions: Vec<SourceFunction>,
}

/// Where a function was inlined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inlined {
    /// The function.
    pub function: String,
    /// Lines that call it: where there are several, each may be the one.
    pub from: Vec<FileLine>,
}

const MAGIC: u32 = 0x0723_0203;
const HEADER: usize = 5;
/// Longest name that is kept, in characters.
const MAX_NAME: usize = 200;
/// Deepest inlining that is followed.
const MAX_DEPTH: usize = 16;

const NAME: u32 = 5;
const STRING: u32 = 7;
const LINE: u32 = 8;
const ENTRY_POINT: u32 = 15;
const FUNCTION: u32 = 54;
const FUNCTION_END: u32 = 56;
const CALL: u32 = 57;
const NO_LINE: u32 = 317;

/// The functions of a module.
///
/// # Errors
/// What is damaged, in a sentence.
pub fn functions(bytes: &[u8]) -> Result<SourceFunctions, String> {
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap_or_default())).collect();
    if words.first() != Some(&MAGIC) || words.len() < HEADER {
        return Err("it is not SPIR-V".into());
    }
    let (mut names, mut files) = (BTreeMap::new(), BTreeMap::new());
    let mut out = SourceFunctions::default();
    // By id: functions, and the files that lines are of.
    let (mut indices, mut used) = (BTreeMap::new(), BTreeMap::new());
    let mut calls: Vec<(usize, u32, FileLine)> = Vec::new();
    let (mut inside, mut line) = (None, None);
    let mut at = HEADER;
    while let Some(first) = words.get(at) {
        let length = (first >> 16) as usize;
        let end = at.checked_add(length).filter(|end| length > 0 && *end <= words.len());
        let operands =
            &words[at + 1..end.ok_or_else(|| format!("word {at} is of an instruction that is cut off"))?];
        at += length;
        match (first & 0xffff, operands) {
            (NAME, [id, name @ ..]) => drop(names.insert(*id, text(name))),
            (ENTRY_POINT, [_, id, name @ ..]) => drop(names.insert(*id, text(name))),
            (STRING, [id, name @ ..]) => drop(files.insert(*id, text(name))),
            (LINE, [file, number, ..]) => {
                let next = used.len() as u32;
                let file = *used.entry(*file).or_insert(next);
                let number = *number & ((1 << crate::check_reports::COLUMN) - 1);
                line = (number > 0).then_some((file, number));
            }
            (NO_LINE, _) => line = None,
            (FUNCTION, [_, id, ..]) => {
                inside = Some(out.functions.len());
                indices.insert(*id, out.functions.len());
                let name = names.get(id).cloned().unwrap_or_default();
                out.functions.push(SourceFunction { name, ..SourceFunction::default() });
                line = None;
            }
            (FUNCTION_END, _) => (inside, line) = (None, None),
            (op, operands) => {
                let (Some(function), Some(here)) = (inside, line) else { continue };
                out.functions[function].lines.insert(here);
                if let (CALL, [_, _, callee, ..]) = (op, operands) {
                    calls.push((function, *callee, here));
                }
            }
        }
    }
    for (caller, callee, here) in calls {
        if let Some(callee) = indices.get(&callee) {
            out.functions[caller].calls.insert((*callee, here));
        }
    }
    out.files = vec![String::new(); used.len()];
    for (id, n) in used {
        out.files[n as usize] = files.get(&id).cloned().unwrap_or_default();
    }
    Ok(out)
}

impl SourceFunctions {
    /// The functions that a line was inlined through into one that has code of its own, innermost first; none if it is
    /// that one's own line, or if several functions have it.
    pub fn inlined(&self, file: &str, line: u32, into: &str) -> Vec<Inlined> {
        let reached = self.reached(into);
        let files: Vec<u32> = (0u32..).zip(&self.files).filter(|(_, f)| *f == file).map(|(n, _)| n).collect();
        let has = |f: &usize| files.iter().any(|n| self.functions[*f].lines.contains(&(*n, line)));
        let mut chain = Vec::new();
        let mut of: Vec<usize> = reached.iter().copied().filter(has).collect();
        while let [function] = of[..]
            && self.functions[function].name != into
            && chain.len() < MAX_DEPTH
        {
            let mut from = BTreeSet::new();
            let mut callers = BTreeSet::new();
            for caller in &reached {
                for (_, here) in self.functions[*caller].calls.iter().filter(|c| c.0 == function) {
                    from.insert(*here);
                    callers.insert(*caller);
                }
            }
            if from.is_empty() {
                break;
            }
            let one = from.len() == 1;
            chain.push(Inlined {
                function: self.functions[function].name.clone(),
                from: from.into_iter().collect(),
            });
            of = if one { callers.into_iter().collect() } else { Vec::new() };
        }
        chain
    }

    /// The name of a file.
    pub fn file(&self, n: u32) -> &str {
        self.files.get(n as usize).map_or("", |f| f)
    }

    /// The functions of a name, and all that they call.
    fn reached(&self, name: &str) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut next: Vec<usize> =
            (0..self.functions.len()).filter(|f| self.functions[*f].name == name).collect();
        while let Some(f) = next.pop() {
            if reached.insert(f) {
                next.extend(self.functions[f].calls.iter().map(|c| c.0));
            }
        }
        reached
    }
}

/// A text: its bytes up to a zero.
fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words
        .iter()
        .take(MAX_NAME * 4)
        .flat_map(|w| w.to_le_bytes())
        .take_while(|b| *b != 0)
        .take(MAX_NAME * 4)
        .collect();
    let text = String::from_utf8_lossy(&bytes);
    text.chars()
        .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
        .take(MAX_NAME)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(code: u32, operands: &[u32]) -> Vec<u32> {
        let mut all = vec![(operands.len() as u32 + 1) << 16 | code];
        all.extend(operands);
        all
    }

    fn named(code: u32, before: &[u32], name: &str) -> Vec<u32> {
        let mut bytes = name.as_bytes().to_vec();
        bytes.resize((name.len() / 4 + 1) * 4, 0);
        let words = bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().expect("four")));
        op(code, &before.iter().copied().chain(words).collect::<Vec<_>>())
    }

    /// `sq` (line 1) is called at line 4 by `pick` (lines 3 and 4), which `k` (line 6 on) calls at lines 9 and 10, and
    /// `l` at line 20; `m` calls `sq` alone, at line 30.
    fn module() -> Vec<u8> {
        let mut words = vec![MAGIC, 0x0001_0000, 0, 100, 0];
        for (id, name) in [(1, "sq"), (2, "pick"), (3, "k"), (4, "l"), (5, "m")] {
            words.extend(named(NAME, &[id], name));
        }
        words.extend(named(STRING, &[9], "/a/k.cl"));
        let mut function = |id: u32, lines: &[(u32, Option<u32>)]| {
            words.extend(op(FUNCTION, &[7, id, 0, 8]));
            for (line, call) in lines {
                words.extend(op(LINE, &[9, *line, 1]));
                match call {
                    Some(callee) => words.extend(op(CALL, &[7, 50, *callee])),
                    None => words.extend(op(61, &[7, 51, 52])),
                }
            }
            words.extend(op(FUNCTION_END, &[]));
        };
        function(1, &[(1, None)]);
        function(2, &[(3, None), (4, Some(1))]);
        function(3, &[(7, None), (9, Some(2)), (10, Some(2)), (11, None)]);
        function(4, &[(20, Some(2))]);
        function(5, &[(30, Some(1)), (31, Some(5))]);
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    #[test]
    fn lines_belong_to_functions_that_are_called() {
        let f = functions(&module()).expect("sound");
        let chain = |line: u32, into: &str| -> Vec<(String, Vec<u32>)> {
            let all = f.inlined("/a/k.cl", line, into);
            all.into_iter().map(|i| (i.function, i.from.iter().map(|l| l.1).collect())).collect()
        };
        let is = |f: &str, lines: &[u32]| (f.to_owned(), lines.to_vec());
        assert_eq!(chain(1, "l"), [is("sq", &[4]), is("pick", &[20])]);
        // Either call may be the one.
        assert_eq!(chain(1, "k"), [is("sq", &[4]), is("pick", &[9, 10])]);
        assert_eq!(chain(3, "k"), [is("pick", &[9, 10])]);
        assert_eq!(chain(1, "m"), [is("sq", &[30])]);
        assert!(chain(9, "k").is_empty() && chain(99, "k").is_empty() && chain(1, "other").is_empty());
        assert!(chain(3, "m").is_empty(), "it does not call it");
        assert!(f.inlined("/a/other.cl", 1, "k").is_empty());
        assert!(chain(31, "m").is_empty(), "it calls itself");
    }

    #[test]
    fn a_line_of_two_functions_is_neither_ones() {
        let mut f = functions(&module()).expect("sound");
        let line = *f.functions[0].lines.first().expect("one");
        f.functions[1].lines.insert(line);
        assert!(f.inlined("/a/k.cl", 1, "k").is_empty());
        // Functions that call each other end somewhere.
        f.functions[0].lines.insert((0, 77));
        f.functions[0].calls.insert((1, (0, 77)));
        f.functions[1].calls = [(0, (0, 4))].into();
        let _ = f.inlined("/a/k.cl", 77, "l");
    }

    #[test]
    fn damaged_modules_are_refused_or_read() {
        let bytes = module();
        for n in 0..bytes.len() {
            let _ = functions(&bytes[..n]);
        }
        assert!(functions(&bytes[..8]).is_err() && functions(&[]).is_err());
        for at in 0..bytes.len() {
            for value in [0, 1, 5, 0x7f, 0x80, 0xff] {
                let mut bad = bytes.clone();
                bad[at] = value;
                if let Ok(f) = functions(&bad) {
                    for line in [1, 3, 9] {
                        let _ = f.inlined("/a/k.cl", line, "k");
                    }
                }
            }
        }
    }
}
