//! The variables of a program in the SPIR-V that compilers keep in a zebin: how large their elements are, and how many there are.

use std::collections::BTreeMap;

/// A variable: an array of arrays of elements, or one element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct VariableShape {
    /// Bytes of an element.
    pub bytes: u64,
    /// Elements in each dimension, the slowest first; none of what is no array.
    pub dimensions: Vec<u64>,
}

mod op {
    pub const NAME: u32 = 5;
    pub const TYPE_INT: u32 = 21;
    pub const TYPE_FLOAT: u32 = 22;
    pub const TYPE_VECTOR: u32 = 23;
    pub const TYPE_ARRAY: u32 = 28;
    pub const TYPE_POINTER: u32 = 32;
    pub const CONSTANT: u32 = 43;
    pub const FUNCTION: u32 = 54;
    pub const VARIABLE: u32 = 59;
}

/// A module's first word, and how many words are in front of its instructions.
const MAGIC: u32 = 0x0723_0203;
const HEADER: usize = 5;

/// The instructions of a module, up to one that is cut off: what they do, and their operands.
fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut at = if words.first() == Some(&MAGIC) { HEADER } else { words.len() };
    std::iter::from_fn(move || {
        let first = words.get(at)?;
        let length = (first >> 16) as usize;
        let operands = words.get(at + 1..at.checked_add(length)?)?;
        at += length;
        Some((first & 0xffff, operands))
    })
}

/// The text of operands.
fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Variables of numbers, vectors, and arrays of these, by their names; none of what cannot be read.
pub(crate) fn variable_shapes(bytes: &[u8]) -> BTreeMap<String, VariableShape> {
    let (mut names, mut shapes) = (BTreeMap::new(), BTreeMap::<u32, VariableShape>::new());
    let (mut pointed, mut constants) = (BTreeMap::new(), BTreeMap::new());
    let mut out = BTreeMap::new();
    let element = |bits: u32| VariableShape { bytes: u64::from(bits / 8), dimensions: Vec::new() };
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap_or_default())).collect();
    for (op, operands) in instructions(&words) {
        match (op, operands) {
            (op::FUNCTION, _) => break,
            (op::NAME, [id, name @ ..]) => drop(names.insert(*id, text(name))),
            (op::TYPE_INT | op::TYPE_FLOAT, [id, bits, ..]) => drop(shapes.insert(*id, element(*bits))),
            (op::TYPE_VECTOR, [id, of, count]) => {
                // Of three elements there is room for four.
                let count = u64::from(if *count == 3 { 4 } else { *count });
                let of = shapes.get(of).cloned();
                shapes.extend(
                    of.map(|of| (*id, VariableShape { bytes: of.bytes.saturating_mul(count), ..of })),
                );
            }
            (op::CONSTANT, [_, id, value, ..]) => drop(constants.insert(*id, u64::from(*value))),
            (op::TYPE_ARRAY, [id, of, count]) => {
                let (of, count) = (shapes.get(of).cloned(), constants.get(count));
                shapes.extend(of.zip(count).map(|(mut of, count)| {
                    of.dimensions.insert(0, *count);
                    (*id, of)
                }));
            }
            (op::TYPE_POINTER, [id, _, to]) => drop(pointed.insert(*id, *to)),
            (op::VARIABLE, [ty, id, ..]) => {
                let shape = pointed.get(ty).and_then(|to| shapes.get(to)).filter(|s| s.bytes > 0);
                out.extend(names.get(id).cloned().zip(shape.cloned()));
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_have_elements() {
        let name = |id: u32, name: &str| {
            let mut bytes = name.as_bytes().to_vec();
            bytes.resize(name.len() / 4 * 4 + 4, 0);
            let text = bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().expect("four")));
            [(op::NAME, std::iter::once(id).chain(text).collect::<Vec<u32>>())]
        };
        let mut all = name(10, "table").to_vec();
        all.extend(name(11, "one"));
        all.extend([
            (op::TYPE_INT, vec![1, 32, 0]),
            (op::TYPE_VECTOR, vec![2, 1, 3]),
            (op::CONSTANT, vec![1, 3, 5]),
            (op::CONSTANT, vec![1, 4, 7]),
            (op::TYPE_ARRAY, vec![5, 2, 3]),
            (op::TYPE_ARRAY, vec![6, 5, 4]),
            (op::TYPE_POINTER, vec![7, 5, 6]),
            (op::TYPE_POINTER, vec![8, 5, 1]),
            (op::VARIABLE, vec![7, 10, 5]),
            (op::VARIABLE, vec![8, 11, 5]),
        ]);
        let mut words = vec![0x0723_0203, 0, 0, 20, 0];
        for (op, operands) in all {
            words.push(((operands.len() as u32 + 1) << 16) | op);
            words.extend(operands);
        }
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let shapes = variable_shapes(&bytes);
        assert_eq!(shapes["table"], VariableShape { bytes: 16, dimensions: vec![7, 5] });
        assert_eq!(shapes["one"], VariableShape { bytes: 4, dimensions: vec![] });
        assert!(variable_shapes(&bytes[..bytes.len() - 8]).len() == 1 && variable_shapes(b"no").is_empty());
    }
}
