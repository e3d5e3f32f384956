//! A program for engines that nobody observes: the same results and the same faults with less work.
//!
//! - `scattered_moves`: moves of one channel each, to registers that the channel finds by itself, are one;
//! - `immediates`: scalars that were set to a constant are read as that constant;
//! - `scalar_copies`: copies of scalars are read where they were copied from;
//! - `rename`: values that are overwritten by what is made of them have registers of their own;
//! - `private_arrays`: private arrays are laid out element by element, the channels' side by side;
//! - `fold_addresses`: messages work out addresses from the indices that the program worked them out from, and know their
//!   surfaces;
//! - `narrow_counters`: what loops count in 64 bits and never gets there is counted in 32;
//! - `quad_halves`: halves of quads that are an extended dword and a constant are worked out in dwords;
//! - `wide_indices`: what was added up in 64 bits to be an index is added up in 32;
//! - `quad_products`: products of quads that were worked out in dwords are one instruction;
//! - `quad_logic`: so are logic and copies of quads;
//! - `paired_dwords`: so is what else is done to quads by halves, and compares of these;
//! - `long_divisions`: loops that divide quads bit by bit are divisions;
//! - `split_quads`: quads whose halves are read apart are two vectors of dwords;
//! - `narrow_memory`: bytes and words that messages have in dwords stay there;
//! - `quad_moves`: quads that messages move by halves are moved whole;
//! - `merge_halves`: what is done for each half of the channels is done for all of them at once;
//! - `uniform_branches`: what is compared and branched on for all channels alike is so once;
//! - `predicate_negations`: negated predicates are read from those that they negate;
//! - `address_sums`: messages add to their addresses what was added in halves of 64 bits;
//! - `certain_numbers`: logic with all ones or all zeros, sums with 0 and products with 0 or 1 are simpler;
//! - `narrow_words`: words of which only the lowest byte matters are bytes;
//! - `element_picks`: bytes and words that moves pick out of dwords are read there;
//! - `byte_copies`: copies of bytes are read where they were first, and the lesser of two bytes is one instruction;
//! - `signed_sources`: integers without a sign that are below 2^31 are converted to floats as if they had one;
//! - `known_picks`: dwords that channels find by address registers whose numbers are known are picked out of vectors;
//! - `uniform_values`: what is the same for all channels is computed once;
//! - `dead_code`: what nobody reads any more is dropped, and so are labels where no channel can wait;
//! - `sink`: what is read once is made where it is read, if that takes no register longer;
//! - `split_channels`: computations whose vectors find no registers are done for some channels after the others;
//! - `interleave`: chains of computations that have nothing to do with each other are computed side by side;
//! - `initial_zeros`: which registers have to be zero when a thread starts, because something may read them before
//!   anything writes them.
//!
//! Observers are shown the program as it was written, so they run the one that [`crate::kernel`] made.

mod accesses;
mod address_sums;
mod address_terms;
mod byte_copies;
mod certain_numbers;
mod dead_code;
mod dominators;
mod element_picks;
mod fold_addresses;
mod immediates;
mod initial_zeros;
mod interleave;
mod known_picks;
mod long_divisions;
mod merge_halves;
mod narrow_counters;
mod narrow_memory;
mod narrow_words;
mod paired_dwords;
mod predicate_negations;
mod private_arrays;
mod quad_halves;
mod quad_logic;
mod quad_moves;
mod quad_products;
mod rename;
mod scalar_copies;
mod scattered_moves;
mod signed_sources;
mod sink;
mod split_channels;
mod split_quads;
mod uniform_branches;
mod uniform_values;
mod wide_indices;

use std::ops::Range;

use envisa_isa::predefined::var;
use envisa_isa::{Modifier, Type};

use crate::program::*;
use crate::touched::Touched;
use crate::{BadProgram, Program};

pub(crate) use private_arrays::numbers as numbers_for_private_memory;

/// Improves a program as described above.
///
/// # Errors
/// What was made is damaged: a bug here.
pub fn optimize(program: &Program) -> Result<Program, BadProgram> {
    let improved = improved(program.parts());
    // Registers of its own for this and that may be more than there are: such a program stays as it is.
    if improved.registers.bytes > MAX_REGISTER_BYTES + REGISTER_PADDING {
        return Ok(program.clone());
    }
    Program::new(improved)
}

fn improved(program: &ProgramParts) -> ProgramParts {
    let mut p = program.clone();
    scattered_moves::join_scattered_moves(&mut p);
    split_quads::split_products(&mut p);
    let blocks = Blocks::new(&p);
    immediates::read_constants(&mut p, &blocks);
    scalar_copies::read_sources(&mut p, &blocks);
    rename::rename_values_apart(&mut p, &blocks);
    let before = p.code.len();
    private_arrays::lay_out_by_elements(&mut p, &blocks);
    let blocks = if p.code.len() == before { blocks } else { Blocks::new(&p) };
    let uses = Uses::new(&p);
    let (blocks, uses) = match narrow_counters::narrow_counters(&mut p, &uses, &blocks) {
        true => (Blocks::new(&p), Uses::new(&p)),
        false => (blocks, uses),
    };
    fold_addresses::addresses(&mut p, &uses, &blocks, 4);
    fold_addresses::of_blocks(&mut p, &uses, &blocks);
    fold_addresses::fold_constant_surfaces(&mut p, &uses, &blocks);
    let before = p.code.len();
    quad_moves::join_quad_moves(&mut p, &blocks);
    merge_halves::merge_halves(&mut p);
    let (mut blocks, mut uses) = (blocks, uses);
    if p.code.len() != before {
        // What was a message for each half has addresses of all channels now.
        (blocks, uses) = (Blocks::new(&p), Uses::new(&p));
        fold_addresses::addresses(&mut p, &uses, &blocks, 8);
    }
    let before = p.code.len();
    narrow_memory::keep_in_dwords(&mut p, &uses, &blocks);
    if p.code.len() != before {
        (blocks, uses) = (Blocks::new(&p), Uses::new(&p));
    }
    let before = p.code.len();
    quad_halves::narrow_quad_halves(&mut p, &uses, &blocks);
    let extended = if p.code.len() == before { None } else { Some(Blocks::new(&p)) };
    wide_indices::extend_by_dwords(&mut p, extended.as_ref().unwrap_or(&blocks));
    if p.code.len() != before {
        (blocks, uses) = (Blocks::new(&p), Uses::new(&p));
    }
    let before = p.code.len();
    wide_indices::add(&mut p, &uses, &blocks);
    let blocks = if p.code.len() == before { blocks } else { Blocks::new(&p) };
    let before = p.code.len();
    quad_products::join_quad_products(&mut p, &blocks);
    let blocks = if p.code.len() == before { blocks } else { Blocks::new(&p) };
    let before = p.code.len();
    quad_logic::join_quad_logic(&mut p, &blocks);
    let mut blocks = if p.code.len() == before { blocks } else { Blocks::new(&p) };
    if paired_dwords::work_out_as_quads(&mut p, &blocks) {
        blocks = Blocks::new(&p);
    }
    if long_divisions::divide_at_once(&mut p, &blocks) {
        blocks = Blocks::new(&p);
    }
    let before = p.code.len();
    split_quads::into_dwords(&mut p);
    let blocks = if p.code.len() == before { blocks } else { Blocks::new(&p) };
    uniform_branches::make_branches_uniform(&mut p, &blocks);
    let before = p.code.len();
    address_sums::fold_address_sums(&mut p, &blocks);
    let blocks = if p.code.len() == before { blocks } else { Blocks::new(&p) };
    certain_numbers::simplify(&mut p, &blocks);
    predicate_negations::read_negated(&mut p, &blocks);
    narrow_words::narrow_words(&mut p);
    element_picks::read_in_dwords(&mut p, &blocks);
    byte_copies::read_first_copies(&mut p, &blocks);
    signed_sources::convert_as_signed(&mut p, &blocks);
    known_picks::pick_known_dwords(&mut p, &blocks);
    uniform_values::compute_once(&mut p, &blocks);
    dead_code::remove_dead_code(&mut p);
    dead_code::remove_unused_messages(&mut p);
    let blocks = Blocks::new(&p);
    sink::sink_instructions(&mut p, &blocks);
    let split = split_channels::split_channels(&mut p, &blocks);
    let blocks = if split { Blocks::new(&p) } else { blocks };
    interleave::interleave_chains(&mut p, &blocks);
    p.registers.fresh = initial_zeros::ranges_to_zero(&p);
    p
}

/// The registers that have to be zero when a thread of a program starts with all its channels, as something may read them
/// before it writes them.
pub fn read_before_written(program: &Program) -> Vec<std::ops::Range<RegOffset>> {
    initial_zeros::ranges_to_zero(program.parts())
}

/// Puts instructions in, each before another one that no block begins with; in the order of the code.
fn insert(p: &mut ProgramParts, made: Vec<(Pc, Inst)>) {
    let mut made = made.into_iter().peekable();
    let old = std::mem::take(&mut p.code);
    let mut to = Vec::with_capacity(old.len() + 1);
    for (pc, i) in old.into_iter().enumerate() {
        while let Some((_, new)) = made.next_if(|m| m.0 as usize == pc) {
            p.code.push(new);
        }
        to.push(p.code.len() as Pc);
        p.code.push(i);
    }
    to.push(p.code.len() as Pc);
    relocate_targets(p, &to);
}

/// Makes everything follow instructions that have moved: `to` tells of each where it is now, and where the end is.
fn relocate_targets(p: &mut ProgramParts, to: &[Pc]) {
    let end = to.last().copied().unwrap_or(0);
    let moved = |pc: Pc| to.get(pc as usize).copied().unwrap_or(end);
    for i in &mut p.code {
        if matches!(i.op, Op::Goto | Op::Call) {
            i.aux = moved(i.aux);
        }
    }
    for pc in p.tables.iter_mut().flatten().chain(p.upper.iter_mut().map(|u| &mut u.pc)) {
        *pc = moved(*pc);
    }
    for f in &mut p.functions {
        (f.entry, f.end) = (moved(f.entry), moved(f.end));
    }
}

/// Granule in which accesses to registers are told apart, in bytes: every variable has whole ones.
const CHUNK: u32 = crate::layout::CHUNK;

/// The chunks of a range.
fn chunks_of_range(range: Range<RegOffset>) -> Range<u32> {
    range.start / CHUNK..range.end.div_ceil(CHUNK)
}

/// A dword that is among the immediates, as a source.
fn immediate(p: &ProgramParts, x: u32, ty: Type) -> Option<Src> {
    let found = p.registers.constants.chunks_exact(4).position(|b| b == x.to_le_bytes())?;
    let (offset, strides, shape, modifier) =
        (4 * found as u32, Strides::SCALAR, Shape::Scalar, Modifier::None);
    Some(Src::Reg { offset, ty, strides, shape, modifier, constant: true })
}

/// The range of registers that an access may touch: any variable whose address is taken for an indirect one.
fn range_of_access(t: &Touched, channels: u8, p: &ProgramParts) -> Range<RegOffset> {
    let r = &p.registers;
    t.range(channels as u32).unwrap_or_else(|| r.addressable())
}

/// The registers of a predefined variable.
fn predefined_range(r: &Registers, id: u32) -> Range<RegOffset> {
    let at = r.predefined[id as usize];
    let chunk = (at.wrapping_sub(r.address_base) / CHUNK) as usize;
    match r.address_homes.get(chunk) {
        Some((start, end)) => r.address_base + start..r.address_base + end,
        None => at..at + CHUNK,
    }
}

/// Who writes each chunk of the register file. What calls change is asked of [`Uses::kept_by_calls`].
struct Uses {
    /// `(chunk, writer)`, sorted.
    writes: Vec<(u32, Pc)>,
    /// Does the program call functions?
    calls: bool,
    /// Variables of each function: nobody else names them, and an activation finds its own after every call.
    own: Vec<Vec<Range<RegOffset>>>,
    /// What every call changes, whatever the functions do: `%arg`, `%retval`, `%sp`, `%fp`.
    convention: [Range<RegOffset>; 4],
}

impl Uses {
    fn new(p: &ProgramParts) -> Uses {
        let mut writes = Vec::with_capacity(p.code.len() * 2);
        for (pc, i) in p.code.iter().enumerate() {
            i.writes(p, &mut |t| {
                writes.extend(chunks_of_range(range_of_access(&t, i.channels, p)).map(|c| (c, pc as Pc)))
            });
        }
        writes.sort_unstable();
        writes.dedup();
        Uses {
            writes,
            calls: p.code.iter().any(|i| matches!(i.op, Op::Fcall | Op::Ifcall)),
            own: p.functions.iter().map(|f| f.locals.clone()).collect(),
            convention: [var::ARG, var::RETVAL, var::SP, var::FP]
                .map(|id| predefined_range(&p.registers, id)),
        }
    }

    /// Writers of a chunk, in the order of the code.
    fn writers(&self, chunk: u32) -> &[(u32, Pc)] {
        let from = self.writes.partition_point(|w| w.0 < chunk);
        let to = from + self.writes[from..].partition_point(|w| w.0 == chunk);
        &self.writes[from..to]
    }

    /// The last instruction before `pc` that writes any of a range.
    fn last_before(&self, range: Range<RegOffset>, pc: Pc) -> Option<Pc> {
        chunks_of_range(range)
            .filter_map(|c| {
                let w = self.writers(c);
                w[..w.partition_point(|w| w.1 < pc)].last().map(|w| w.1)
            })
            .max()
    }

    /// Does no instruction write any of a range?
    fn is_given(&self, range: Range<RegOffset>) -> bool {
        chunks_of_range(range).all(|c| self.writers(c).is_empty())
    }

    /// The instruction that writes any of a range, if there is just one.
    fn only_writer(&self, range: Range<RegOffset>) -> Option<Pc> {
        let mut all = chunks_of_range(range).flat_map(|c| self.writers(c)).map(|w| w.1);
        let one = all.next()?;
        all.all(|w| w == one).then_some(one)
    }

    /// Do all writers of a range lie in a run of code?
    fn only_within(&self, range: Range<RegOffset>, run: Range<Pc>) -> bool {
        chunks_of_range(range).all(|c| {
            let w = self.writers(c);
            w.first().is_none_or(|w| w.1 >= run.start) && w.last().is_none_or(|w| w.1 < run.end)
        })
    }

    /// Is a range the same before and after any call, as far as `function` can see?
    ///
    /// A function may be called from anywhere, and addresses of functions go anywhere: the order of the code
    /// tells nothing of what runs between two instructions of different blocks. So registers that functions
    /// share are kept only if no instruction writes them.
    fn kept_by_calls(&self, function: u16, range: Range<RegOffset>) -> bool {
        let inside = |r: &Range<RegOffset>| r.start <= range.start && range.end <= r.end;
        !self.calls
            || self.own.get(function as usize).is_some_and(|own| own.iter().any(inside))
            || chunks_of_range(range).all(|c| {
                self.writers(c).is_empty()
                    && !self.convention.iter().any(|r| chunks_of_range(r.clone()).contains(&c))
            })
    }
}

/// Straight runs of code: entered at the start and left at the end, with the same channels all along.
struct Blocks {
    /// Number of the block of each instruction.
    of: Vec<u32>,
    /// Blocks that a function starts with and nothing goes back to, by number.
    entry: Vec<bool>,
    /// First instruction of each.
    start: Vec<Pc>,
    /// The innermost loop around each, from where it begins to the branch back.
    around: Vec<Range<Pc>>,
}

/// Loops that are told apart; of more, only which code is in one.
const LOOPS: usize = 256;

impl Blocks {
    fn new(p: &ProgramParts) -> Blocks {
        let n = p.code.len();
        let mut starts = vec![false; n + 1];
        let mut targets = vec![false; n + 1];
        let mark = |list: &mut [bool], pc: Pc| {
            if let Some(s) = list.get_mut(pc as usize) {
                *s = true;
            }
        };
        for f in &p.functions {
            mark(&mut starts, f.entry);
        }
        for pc in p.tables.iter().flatten() {
            mark(&mut targets, *pc);
        }
        for (pc, i) in p.code.iter().enumerate() {
            match i.op {
                Op::Goto | Op::Call => {
                    mark(&mut targets, i.aux);
                    mark(&mut starts, pc as Pc + 1);
                }
                Op::Ret
                | Op::Fcall
                | Op::Ifcall
                | Op::Fret
                | Op::SwitchJmp
                | Op::End
                | Op::Join
                | Op::Unsupported => mark(&mut starts, pc as Pc + 1),
                _ => {}
            }
        }
        let (entry, start, around) = (Vec::new(), Vec::new(), Vec::new());
        let mut blocks = Blocks { of: Vec::with_capacity(n), entry, start, around };
        for pc in 0..n {
            if pc == 0 || starts[pc] || targets[pc] {
                let entry = p.functions.iter().any(|f| f.entry as usize == pc) && !targets[pc];
                blocks.entry.push(entry);
                blocks.start.push(pc as Pc);
            }
            blocks.of.push(blocks.entry.len() as u32 - 1);
        }
        let back = |(pc, i): (Pc, &Inst)| (i.op == Op::Goto && i.aux <= pc).then_some(i.aux..pc + 1);
        let mut loops: Vec<Range<Pc>> = (0..).zip(&p.code).filter_map(back).collect();
        if loops.len() > LOOPS {
            let start = loops.iter().map(|l| l.start).min().unwrap_or(0);
            let end = loops.iter().map(|l| l.end).max().unwrap_or(0);
            loops.truncate(1);
            loops[0] = start..end;
        }
        // The inner ones last.
        loops.sort_by_key(|l| std::cmp::Reverse(l.end - l.start));
        blocks.around = vec![0..0; blocks.start.len()];
        for l in loops {
            let (first, last) = (blocks.of[l.start as usize], blocks.of[l.end as usize - 1]);
            blocks.around[first as usize..=last as usize].fill(l);
        }
        blocks
    }

    /// Is a range written in the innermost loop around an instruction: may it be another one in every round?
    fn varies(&self, uses: &Uses, range: Range<RegOffset>, pc: Pc) -> bool {
        let around = &self.around[self.of[pc as usize] as usize];
        chunks_of_range(range).any(|c| {
            let w = uses.writers(c);
            w.get(w.partition_point(|w| w.1 < around.start)).is_some_and(|w| w.1 < around.end)
        })
    }

    /// May an instruction run again before its function ends?
    fn in_loop(&self, pc: Pc) -> bool {
        !self.around[self.of[pc as usize] as usize].is_empty()
    }

    fn same(&self, a: Pc, b: Pc) -> bool {
        self.of[a as usize] == self.of[b as usize]
    }

    /// Is it executed exactly once in a function, before all else?
    fn in_entry(&self, pc: Pc) -> bool {
        self.entry[self.of[pc as usize] as usize]
    }

    /// From the start of its block to an instruction, without it.
    fn before(&self, pc: Pc) -> Range<Pc> {
        self.start[self.of[pc as usize] as usize]..pc
    }
}

#[cfg(test)]
mod tests;
