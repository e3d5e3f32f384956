//! The parts of SPIR-V that the driver reads: the magic number, and specialisation constants.

use std::collections::BTreeMap;

const MAGIC: u32 = 0x0723_0203;
const OP_DECORATE: u32 = 71;
const OP_TYPE_INT: u32 = 21;
const OP_TYPE_FLOAT: u32 = 22;
const OP_SPEC_TRUE: u32 = 48;
const OP_SPEC_FALSE: u32 = 49;
const OP_SPEC: u32 = 50;
const SPEC_ID: u32 = 1;

/// Whether bytes begin as SPIR-V does, in either order of bytes.
pub fn is_spirv(bytes: &[u8]) -> bool {
    bytes.len() >= 20
        && bytes.len().is_multiple_of(4)
        && (bytes.starts_with(&MAGIC.to_le_bytes()) || bytes.starts_with(&MAGIC.to_be_bytes()))
}

/// A module as words in this machine's order.
struct Words(Vec<u32>);

impl Words {
    fn of(bytes: &[u8]) -> Words {
        let swap = bytes.starts_with(&MAGIC.to_be_bytes());
        let word = |c: &[u8]| {
            let w = u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
            if swap { w.swap_bytes() } else { w }
        };
        Words(bytes.chunks_exact(4).map(word).collect())
    }

    /// Start and length of every instruction; ends at what cannot be one.
    fn instructions(&self) -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        let mut at = 5;
        while at < self.0.len() {
            let len = (self.0[at] >> 16) as usize;
            if len == 0 || at + len > self.0.len() {
                break;
            }
            all.push((at, len));
            at += len;
        }
        all
    }
}

/// Bytes of every specialisation constant, by its id. Booleans have one.
pub fn specialization_constant_sizes(bytes: &[u8]) -> BTreeMap<u32, usize> {
    let words = Words::of(bytes);
    let mut ids = BTreeMap::new();
    let mut widths = BTreeMap::new();
    let mut found = BTreeMap::new();
    for (at, len) in words.instructions() {
        let w = &words.0[at..at + len];
        match (w[0] & 0xffff, len) {
            (OP_DECORATE, 4) if w[2] == SPEC_ID => {
                ids.insert(w[1], w[3]);
            }
            (OP_TYPE_INT | OP_TYPE_FLOAT, 3..) => {
                widths.insert(w[1], w[2] as usize / 8);
            }
            (OP_SPEC_TRUE | OP_SPEC_FALSE, 3) => {
                if let Some(id) = ids.get(&w[2]) {
                    found.insert(*id, 1);
                }
            }
            (OP_SPEC, 4..) => {
                if let (Some(id), Some(width)) = (ids.get(&w[2]), widths.get(&w[1])) {
                    found.insert(*id, *width);
                }
            }
            _ => {}
        }
    }
    found
}

/// The module with specialisation constants set; `None` if a value does not fit its constant.
pub fn set_specialization_constants(bytes: &[u8], values: &BTreeMap<u32, Vec<u8>>) -> Option<Vec<u8>> {
    if values.is_empty() {
        return Some(bytes.to_vec());
    }
    let mut words = Words::of(bytes);
    let instructions = words.instructions();
    let mut ids = BTreeMap::new();
    for &(at, len) in &instructions {
        let w = &words.0[at..at + len];
        if w[0] & 0xffff == OP_DECORATE && len == 4 && w[2] == SPEC_ID {
            ids.insert(w[1], w[3]);
        }
    }
    for (at, len) in instructions {
        let op = words.0[at] & 0xffff;
        if !matches!(op, OP_SPEC_TRUE | OP_SPEC_FALSE | OP_SPEC) || len < 3 {
            continue;
        }
        let Some(value) = ids.get(&words.0[at + 2]).and_then(|id| values.get(id)) else { continue };
        if op == OP_SPEC {
            let literal = &mut words.0[at + 3..at + len];
            if value.len() > literal.len() * 4 {
                return None;
            }
            let mut whole = vec![0; literal.len() * 4];
            whole[..value.len()].copy_from_slice(value);
            for (word, c) in literal.iter_mut().zip(whole.chunks_exact(4)) {
                *word = u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
            }
        } else {
            let op = if value.iter().any(|b| *b != 0) { OP_SPEC_TRUE } else { OP_SPEC_FALSE };
            words.0[at] = (words.0[at] & 0xffff_0000) | op;
        }
    }
    Some(words.0.iter().flat_map(|w| w.to_le_bytes()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module() -> Vec<u8> {
        let words: &[u32] = &[
            MAGIC,
            0x10000,
            0,
            10,
            0,
            4 << 16 | OP_DECORATE,
            5,
            SPEC_ID,
            7,
            4 << 16 | OP_DECORATE,
            6,
            SPEC_ID,
            8,
            4 << 16 | OP_TYPE_INT,
            2,
            32,
            0,
            4 << 16 | OP_SPEC,
            2,
            5,
            42,
            3 << 16 | OP_SPEC_FALSE,
            3,
            6,
        ];
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    #[test]
    fn constants_are_found_and_set() {
        let bytes = module();
        assert!(is_spirv(&bytes));
        assert_eq!(specialization_constant_sizes(&bytes), BTreeMap::from([(7, 4), (8, 1)]));
        let set = BTreeMap::from([(7, vec![1, 2, 3, 4]), (8, vec![1])]);
        let new = set_specialization_constants(&bytes, &set).unwrap();
        assert_eq!(new[80..84], [1, 2, 3, 4]);
        assert_eq!(new[84], OP_SPEC_TRUE as u8);
        assert!(set_specialization_constants(&bytes, &BTreeMap::from([(7, vec![0; 8])])).is_none());
    }

    #[test]
    fn damage_is_no_harm() {
        let bytes = module();
        for at in (0..bytes.len()).step_by(1) {
            for value in [0, 0xff] {
                let mut broken = bytes.clone();
                broken[at] = value;
                let _ = specialization_constant_sizes(&broken);
                let _ = set_specialization_constants(&broken, &BTreeMap::from([(7, vec![1])]));
            }
        }
    }
}
