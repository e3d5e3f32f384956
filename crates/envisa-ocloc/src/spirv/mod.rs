//! SPIR-V as words, to be rewritten between the two halves of the compiler (the format: SPIR-V specification, 2.3).

pub mod checks;
pub mod debugger_frames;
mod older_compilers;

pub use older_compilers::for_older_compilers;

use std::collections::BTreeMap;
use std::ops::Range;

const MAGIC: u32 = 0x0723_0203;
/// Words of the header; the fourth is one more than the largest id.
const HEADER: usize = 5;
const BOUND: usize = 3;
/// The largest bound that consumers have to take (2.17).
const MOST_IDS: u32 = 4_194_303;

/// An instruction's place and opcode.
#[derive(Clone, Copy, Debug)]
struct Instruction {
    at: usize,
    end: usize,
    op: u32,
}

/// A module, and what is to be put into it.
struct Rewriting {
    words: Vec<u32>,
    all: Vec<Instruction>,
    bound: u32,
    /// By the word in front of which they come.
    added: BTreeMap<usize, Vec<u32>>,
    /// More operands, by where the instruction ends.
    operands: BTreeMap<usize, Vec<u32>>,
    /// Where instructions begin and end that are left out.
    removed: BTreeMap<usize, usize>,
}

impl Rewriting {
    /// `None` if it is not a module of little-endian SPIR-V, or lengths do not fit.
    fn of(spirv: &[u8]) -> Option<Rewriting> {
        if !spirv.len().is_multiple_of(4) {
            return None;
        }
        let words: Vec<u32> =
            spirv.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        if words.len() < HEADER || words[0] != MAGIC {
            return None;
        }
        let (mut all, mut at) = (Vec::new(), HEADER);
        while at < words.len() {
            let length = (words[at] >> 16) as usize;
            if length == 0 || at + length > words.len() {
                return None;
            }
            all.push(Instruction { at, end: at + length, op: words[at] & 0xffff });
            at += length;
        }
        let bound = words[BOUND];
        (bound <= MOST_IDS).then_some(Rewriting {
            words,
            all,
            bound,
            added: BTreeMap::new(),
            operands: BTreeMap::new(),
            removed: BTreeMap::new(),
        })
    }

    /// The words of an instruction behind its first.
    fn operands(&self, i: &Instruction) -> &[u32] {
        &self.words[i.at + 1..i.end]
    }

    /// A new id.
    fn id(&mut self) -> u32 {
        self.bound = self.bound.saturating_add(1);
        self.bound - 1
    }

    /// Puts an instruction in front of a word, behind what was put there before.
    fn put(&mut self, at: usize, op: u32, operands: &[u32]) {
        self.added.entry(at).or_default().extend(instruction(op, operands));
    }

    /// The same, in front of what was put there before.
    fn put_first(&mut self, at: usize, op: u32, operands: &[u32]) {
        self.added.entry(at).or_default().splice(..0, instruction(op, operands));
    }

    /// Gives an instruction more operands.
    fn append(&mut self, i: &Instruction, operands: &[u32]) {
        self.words[i.at] += (operands.len() as u32) << 16;
        self.operands.entry(i.end).or_default().extend_from_slice(operands);
    }

    /// Leaves out an instruction.
    fn remove(&mut self, i: &Instruction) {
        self.removed.insert(i.at, i.end);
    }

    /// The words between these, without what is left out.
    fn kept(&self, words: Range<usize>) -> impl Iterator<Item = u32> {
        let removed = |at: &usize| self.removed.range(..=at).next_back().is_some_and(|(_, end)| at < end);
        words.filter(move |at| !removed(at)).map(|at| self.words[at])
    }

    /// The module's bytes; `None` if it has more ids than may be.
    fn finish(mut self) -> Option<Vec<u8>> {
        for (at, operands) in std::mem::take(&mut self.operands) {
            self.added.entry(at).or_default().splice(..0, operands);
        }
        if self.bound > MOST_IDS {
            return None;
        }
        self.words[BOUND] = self.bound;
        let more: usize = self.added.values().map(Vec::len).sum();
        let mut out = Vec::with_capacity(self.words.len() + more);
        let mut from = 0;
        for (at, new) in &self.added {
            out.extend(self.kept(from..*at));
            out.extend_from_slice(new);
            from = *at;
        }
        out.extend(self.kept(from..self.words.len()));
        Some(out.iter().flat_map(|w| w.to_le_bytes()).collect())
    }
}

fn instruction(op: u32, operands: &[u32]) -> Vec<u32> {
    let mut words = vec![(operands.len() as u32 + 1) << 16 | op];
    words.extend_from_slice(operands);
    words
}

/// A text as operands.
fn string_operands(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// The text of operands.
fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What is made of a module between the two halves of the compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rewrite {
    /// Every function has a frame: see [`debugger_frames`].
    Frames,
    /// Accesses stay as they are written, and hold themselves against the types that they are of: see [`checks`].
    Checks,
    /// The same, and arithmetic holds itself against what the standard defines.
    Hints,
}

impl Rewrite {
    /// Options of the compiler's first half, so that its SPIR-V is as that wants it.
    pub fn frontend_options(self) -> &'static str {
        match self {
            Rewrite::Frames => "",
            Rewrite::Checks | Rewrite::Hints => " -cl-opt-disable",
        }
    }

    /// Is it for checks?
    pub fn is_for_checks(self) -> bool {
        matches!(self, Rewrite::Checks | Rewrite::Hints)
    }

    /// The module so; `None` if it is none that this can be made of. `texts` are those that it was made of, with their names,
    /// as far as they are known, `options` those of the compiler.
    pub fn of(self, spirv: &[u8], texts: &[(&str, &[u8])], options: &str) -> Option<Vec<u8>> {
        match self {
            Rewrite::Frames => debugger_frames::with_frame_calls(spirv),
            Rewrite::Checks => checks::with_checks(spirv, texts, options, false),
            Rewrite::Hints => checks::with_checks(spirv, texts, options, true),
        }
    }
}
