//! Lines of the source that vISA was compiled from: what `FILE` and `LOC` say.
//!
//! They come with the module, whose author may write what he likes: names are kept as names and open no file.

use std::collections::HashMap;

use envisa_isa::{Object, Op, Operand};

use crate::{Function, LineEntry, Program};

/// A line of a source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SourceLine {
    /// Index in [`ProgramParts::source_files`].
    pub file: u16,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if it is not known: in vISA there are columns only where kernels were compiled for checks.
    pub column: u32,
}

/// From this bit of the number in a `LOC` on, kernels that are compiled for checks have the column.
const COLUMN: u32 = 20;

/// The entries of an object, by instruction, and the files that they name, which join `files`.
pub(crate) fn of_object(o: &Object, files: &mut Vec<String>) -> Vec<LineEntry> {
    let mut known: HashMap<String, u16> = (0u16..).zip(files.iter()).map(|(i, f)| (f.clone(), i)).collect();
    let mut entries: Vec<LineEntry> = Vec::new();
    let mut file = None;
    for (i, inst) in (0u32..).zip(&o.insts) {
        let line = match (inst.op, o.ops(inst)) {
            (Op::File, [Operand::Str(name), ..]) => {
                let name = o.strings.get(*name).unwrap_or_default();
                file = known.get(name).copied().or_else(|| {
                    // One more than there are numbers is as good as unknown.
                    let number = u16::try_from(files.len()).ok()?;
                    files.push(name.to_owned());
                    known.insert(name.to_owned(), number);
                    Some(number)
                });
                0
            }
            (Op::Loc, [Operand::Int(line), ..]) => *line,
            _ => continue,
        };
        let (file, line) = file.map_or((0, 0), |f| (f, line));
        let entry = LineEntry { instruction: i + 1, file, line };
        match entries.last_mut() {
            // Nothing stands between the two.
            Some(last) if last.instruction == i => *last = entry,
            Some(last) if (last.file, last.line) == (file, line) => {}
            _ => entries.push(entry),
        }
    }
    entries
}

impl Function {
    /// The line that an instruction was compiled from, by its index in its object.
    pub fn line(&self, instruction: u32) -> Option<SourceLine> {
        let after = self.lines.partition_point(|e| e.instruction <= instruction);
        let entry = self.lines.get(after.checked_sub(1)?)?;
        let (line, column) = (entry.line & ((1 << COLUMN) - 1), entry.line >> COLUMN);
        (line != 0).then_some(SourceLine { file: entry.file, line, column })
    }
}

impl Program {
    /// The line that the instruction at a program counter was compiled from.
    pub fn source_line(&self, pc: crate::Pc) -> Option<SourceLine> {
        let inst = self.code().get(pc as usize)?;
        self.functions().get(inst.function as usize)?.line(inst.source)
    }
}
