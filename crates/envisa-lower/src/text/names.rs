//! Which places and immediates have names.

use std::collections::HashMap;

use envisa_isa::predefined;

use crate::program::{Function, RegOffset, Registers};

/// The names that operands of a function are written with.
#[derive(Default)]
pub struct PlaceNames<'a> {
    /// Variables by their offsets: offset, one past the last byte, name.
    by_offset: Vec<(RegOffset, RegOffset, &'a str)>,
    by_name: HashMap<&'a str, RegOffset>,
    predefined: HashMap<RegOffset, &'static str>,
}

/// Can text have this name of a variable as it is?
fn is_plain(name: &str) -> bool {
    let start = |c: char| c.is_ascii_alphabetic() || c == '_';
    name != "_" && name.starts_with(start) && name.chars().all(is_name_char)
}

/// A character of a variable's name in text.
pub fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$')
}

impl<'a> PlaceNames<'a> {
    pub fn new(registers: &Registers, function: Option<&'a Function>) -> PlaceNames<'a> {
        let mut names = PlaceNames::default();
        for v in function.iter().flat_map(|f| &f.vars).filter(|v| is_plain(&v.name)) {
            // Of two variables with one name the first has it.
            if *names.by_name.entry(&v.name).or_insert(v.offset) == v.offset {
                names.by_offset.push((v.offset, v.offset.saturating_add(v.bytes.max(1)), &v.name));
            }
        }
        names.by_offset.sort_unstable();
        for (home, v) in registers.predefined.iter().zip(&predefined::VARS) {
            // 0 is where constants start: of what has no home.
            if *home != 0 {
                names.predefined.entry(*home).or_insert(v.name);
            }
        }
        names
    }

    /// The name of a place, and the bytes from where that is.
    pub fn name(&self, at: RegOffset) -> Option<(&'a str, u32)> {
        let after = self.by_offset.partition_point(|v| v.0 <= at);
        let variable = after.checked_sub(1).map(|i| self.by_offset[i]).filter(|v| at < v.1);
        match variable {
            Some((start, _, name)) => Some((name, at - start)),
            None => self.predefined.get(&at).map(|name| (*name, 0)),
        }
    }

    /// Where a variable is.
    pub fn offset(&self, name: &str) -> Option<RegOffset> {
        self.by_name.get(name).copied()
    }
}

/// Where a predefined variable is.
pub fn predefined_offset(registers: &Registers, name: &str) -> Option<RegOffset> {
    let id = predefined::VARS.iter().position(|v| v.name == name)?;
    Some(registers.predefined[id]).filter(|home| *home != 0)
}

/// The first place of each value among the constants: by its bits and its bytes.
pub struct Constants(HashMap<(u64, u32), RegOffset>);

impl Constants {
    pub fn new(bytes: &[u8]) -> Constants {
        let mut known = HashMap::new();
        let chunks = (0u32..).step_by(8).zip(bytes.chunks_exact(8));
        // Zero is at the start; rows of nothing else are most of what there is.
        for (at, chunk) in chunks.filter(|(at, chunk)| *at == 0 || chunk.iter().any(|b| *b != 0)) {
            for size in [1, 2, 4, 8] {
                for within in (0..8).step_by(size as usize) {
                    let bits = bits(chunk, within, size).unwrap_or(0);
                    known.entry((bits, size)).or_insert(at + within);
                }
            }
        }
        Constants(known)
    }

    pub fn place(&self, bits: u64, size: u32) -> Option<RegOffset> {
        self.0.get(&(bits, size)).copied()
    }
}

/// The value of this many bytes, up to 8, at a place.
pub fn bits(constants: &[u8], at: RegOffset, size: u32) -> Option<u64> {
    let at = at as usize;
    let bytes = constants.get(at..at.checked_add(size as usize)?)?;
    let mut whole = [0; 8];
    whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(whole))
}
