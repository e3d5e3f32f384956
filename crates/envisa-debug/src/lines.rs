//! The source line and the line of vISA text of each instruction.

use crate::scope::Braces;
use envisa::Stage;
use envisa::diag::FileId;
use std::collections::HashMap;

/// A file that lines are of.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its name.
    pub name: String,
    /// Its text, where it is known.
    pub text: Option<FileId>,
    /// Is it vISA?
    pub visa: bool,
    /// Its braces, of a source whose text is known.
    pub braces: Option<Braces>,
}

/// A line of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Line {
    /// Index of the file in [`Lines::files`].
    pub file: usize,
    /// From 1.
    pub line: u32,
}

/// Lines of a program.
pub struct Lines {
    /// The files.
    pub files: Vec<SourceFile>,
    /// By program counter: the line that one steps by, and that of vISA.
    of: Vec<Option<Line>>,
    visa: Vec<Option<Line>>,
    /// Has it lines of a source?
    pub compiled: bool,
}

impl Lines {
    /// Of a program.
    pub fn new(stage: &Stage<'_>) -> Lines {
        let program = stage.program();
        let texts = stage.kernel().files();
        let mut files: Vec<SourceFile> = Vec::new();
        for (i, name) in (0u16..).zip(program.source_files()) {
            let text = stage.source(i);
            let file = text.and_then(|id| texts.get(id));
            let name = file.map_or(name.as_str(), |f| f.name()).to_owned();
            let braces = file.map(|f| Braces::of(f.bytes()));
            files.push(SourceFile { name, text, visa: false, braces });
        }
        let mut by_text: HashMap<FileId, usize> = HashMap::new();
        let mut visa = Vec::new();
        for inst in program.code() {
            let line = stage.visa_file(inst.function).and_then(|id| {
                let file = texts.get(id).filter(|f| !f.is_binary())?;
                let index = *by_text.entry(id).or_insert_with(|| {
                    files.push(SourceFile {
                        name: file.name().to_owned(),
                        text: Some(id),
                        visa: true,
                        braces: None,
                    });
                    files.len() - 1
                });
                Some(Line { file: index, line: file.line_col(inst.span.start).line })
            });
            visa.push(line);
        }
        let source =
            |pc: u32| program.source_line(pc).map(|l| Line { file: usize::from(l.file), line: l.line });
        let mut of: Vec<Option<Line>> = (0..program.code().len() as u32).map(source).collect();
        let compiled = of.iter().any(Option::is_some);
        if !compiled {
            of.clone_from(&visa);
        }
        Lines { files, of, visa, compiled }
    }

    /// The line that the instruction at a program counter is of.
    pub fn of(&self, pc: u32) -> Option<Line> {
        self.of.get(pc as usize).copied().flatten()
    }

    /// Its line of vISA.
    pub fn visa(&self, pc: u32) -> Option<Line> {
        self.visa.get(pc as usize).copied().flatten()
    }

    /// Does a run of instructions of one line begin here?
    pub fn begins(&self, pc: u32) -> bool {
        self.of(pc).is_some() && (pc == 0 || self.of(pc - 1) != self.of(pc))
    }

    /// Where runs of instructions of a line begin; if it has none, those of the first line after it that has.
    pub fn starts(&self, file: usize, line: u32) -> Option<(u32, Vec<u32>)> {
        let visa = self.files.get(file)?.visa;
        let of = if visa { &self.visa } else { &self.of };
        let here = |l: &Option<Line>| l.filter(|l| l.file == file).map(|l| l.line);
        let found = of.iter().filter_map(here).filter(|l| *l >= line).min()?;
        let is = |l: &Option<Line>| here(l) == Some(found);
        let starts = (0..of.len()).filter(|i| is(&of[*i]) && (*i == 0 || !is(&of[i - 1])));
        Some((found, starts.map(|i| i as u32).collect()))
    }

    /// The file whose name has most parts at its end in common with a path.
    pub fn file(&self, path: &str) -> Option<usize> {
        let parts = |p: &str| p.rsplit(['/', '\\']).map(str::to_owned).collect::<Vec<_>>();
        let wanted = parts(path);
        let same = |f: &SourceFile| {
            parts(&f.name).iter().zip(&wanted).take_while(|(a, b)| a == b && !a.is_empty()).count()
        };
        let best = (0..self.files.len())
            .map(|i| (same(&self.files[i]), i))
            .max_by_key(|(n, i)| (*n, usize::MAX - i));
        best.filter(|(n, _)| *n > 0).map(|(_, i)| i)
    }
}
