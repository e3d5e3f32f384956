//! Changes to inputs: to modules in their meaning, to bytes in whatever they are.

use crate::generate::Rng;
use envisa_isa::{Module, Operand};

/// Inputs grow no longer than this.
pub const MAX_LEN: usize = 1 << 16;

/// A module with parts of it exchanged for others: operands, instructions, declarations.
pub fn exchange_parts(rng: &mut Rng, modules: &[Module]) -> Module {
    let mut m = rng.pick::<Module>(modules).clone();
    let other = rng.pick::<Module>(modules);
    for _ in 0..=rng.below(4) {
        let n = rng.below(m.objects.len() as u32) as usize;
        let o = &mut m.objects[n];
        let from = &other.objects[0];
        if o.operands.is_empty() || o.insts.is_empty() {
            continue;
        }
        let at = rng.below(o.operands.len() as u32) as usize;
        let inst = rng.below(o.insts.len() as u32) as usize;
        let var = rng.below(o.vars.len() as u32) as usize;
        match rng.below(8) {
            0 => o.operands[at] = *rng.pick(&from.operands),
            1 => o.operands[at] = Operand::Int(rng.bits() as u32 >> rng.below(32)),
            2 => {
                if let Operand::General { var, row, col, .. } = &mut o.operands[at] {
                    (*var, *row, *col) = (rng.below(70), rng.bits() as u8, rng.bits() as u8);
                }
            }
            3 => {
                let to = rng.below(o.insts.len() as u32) as usize;
                o.insts.swap(inst, to);
            }
            4 => drop(o.insts.remove(inst)),
            5 => o.vars[var].elems = rng.bits() as u16 >> rng.below(16),
            6 => {
                (o.vars[var].alias, o.vars[var].alias_offset) = (rng.below(70), rng.bits() as u16);
            }
            _ => o.name.push(*rng.pick(&['"', '\\', 'é', '\n', ' ', '0'])),
        }
    }
    m
}

/// Changes an input in a few places: bits and bytes, parts of other seeds, words that mean something to its reader.
pub fn mutate(rng: &mut Rng, seeds: &[Vec<u8>], words: &[Vec<u8>], out: &mut Vec<u8>) {
    for _ in 0..=rng.below(5) {
        let at = rng.below(out.len() as u32 + 1) as usize;
        let scale = rng.below(9);
        let len = (rng.below(1 << scale) as usize).min(out.len() - at);
        match rng.below(10) {
            0 if at < out.len() => out[at] ^= 1 << rng.below(8),
            1 if at < out.len() => out[at] = rng.bits() as u8,
            2 => write_border_value(rng, out, at),
            3 => out.truncate(at),
            4 => drop(out.drain(at..at + len)),
            5 if out.len() + len <= MAX_LEN => {
                let part = out[at..at + len].to_vec();
                let to = rng.below(out.len() as u32 + 1) as usize;
                out.splice(to..to, part);
            }
            6 => {
                let other = rng.pick(seeds);
                let from = rng.below(other.len() as u32 + 1) as usize;
                let rest = &other[from..];
                let room = MAX_LEN.saturating_sub(at);
                out.truncate(at);
                out.extend_from_slice(&rest[..rest.len().min(room)]);
            }
            7 | 8 if out.len() < MAX_LEN => {
                let word = rng.pick(words);
                // In place of as many bytes, or between.
                let end = if rng.one_in(2) { at } else { (at + word.len()).min(out.len()) };
                out.splice(at..end, word.iter().copied());
            }
            _ => {
                for b in &mut out[at..at + len] {
                    *b = rng.bits() as u8;
                }
            }
        }
    }
}

/// Overwrites a number of 1, 2 or 4 bytes by one at some border.
fn write_border_value(rng: &mut Rng, out: &mut [u8], at: usize) {
    const VALUES: [u32; 16] = [
        0,
        1,
        2,
        31,
        32,
        0x7f,
        0x80,
        0xff,
        0x100,
        0x7fff,
        0x8000,
        0xffff,
        0x1_0000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
    ];
    let bytes = rng.pick(&VALUES).to_le_bytes();
    let width = *rng.pick(&[1, 2, 4]);
    for (to, from) in out[at..].iter_mut().zip(&bytes[..width]) {
        *to = *from;
    }
}
