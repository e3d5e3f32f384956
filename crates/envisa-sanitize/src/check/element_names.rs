//! Elements of arrays and buffers, as people name them: `tile[33][0]`.

use std::ops::Range;

/// An array of the kernel's in shared local memory, or a buffer that it is given, whose elements' size is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Elements {
    /// It is in shared local memory, and its place an offset there; else an address.
    pub local: bool,
    /// Its place.
    pub range: Range<u64>,
    /// Its name in the source.
    pub name: String,
    /// Bytes of an element; not 0.
    pub bytes: u64,
    /// Elements in each dimension, the slowest first.
    pub dimensions: Vec<u64>,
}

impl Elements {
    /// The element at so many bytes behind its start, and where it is outside, of how many it would be: `x[64] of 64`,
    /// `tile[33][0], row 33 of 32`.
    pub fn at(&self, offset: i64) -> String {
        let signed = |n: u64| i64::try_from(n.max(1)).unwrap_or(i64::MAX);
        let Some((rows, inner)) = self.dimensions.split_first() else { return self.name.clone() };
        let each = inner.iter().fold(1i64, |n, d| n.saturating_mul(signed(*d)));
        let index = offset.div_euclid(signed(self.bytes));
        let (row, mut rest) = (index.div_euclid(each), index.rem_euclid(each));
        let mut behind: Vec<i64> = inner
            .iter()
            .rev()
            .map(|d| {
                let at = rest % signed(*d);
                rest /= signed(*d);
                at
            })
            .collect();
        behind.push(row);
        let indices: String = behind.iter().rev().map(|i| format!("[{i}]")).collect();
        match (row < 0 || row >= signed(*rows), inner.is_empty()) {
            (false, _) => format!("{}{indices}", self.name),
            (true, true) => format!("{}{indices} of {rows}", self.name),
            (true, false) => format!("{}{indices}, row {row} of {rows}", self.name),
        }
    }
}

/// Bytes of what a pointer of this type of OpenCL C points to, if that is a number or a vector of them.
pub fn pointed_bytes(type_name: &str) -> Option<u64> {
    let name = type_name.strip_suffix('*')?.trim();
    let name = name.strip_prefix("unsigned ").unwrap_or(name).trim_start_matches('u');
    let digits = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let bytes = match &name[..name.len() - digits.len()] {
        "char" => 1,
        "short" | "half" => 2,
        "int" | "float" => 4,
        "long" | "double" => 8,
        _ => return None,
    };
    match digits {
        "" => Some(bytes),
        "2" => Some(2 * bytes),
        "3" | "4" => Some(4 * bytes),
        "8" => Some(8 * bytes),
        "16" => Some(16 * bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_indices() {
        let tile = Elements {
            local: true,
            range: 0..32 * 33 * 4,
            name: "tile".into(),
            bytes: 4,
            dimensions: vec![32, 33],
        };
        assert_eq!(tile.at(4 * 34), "tile[1][1]");
        assert_eq!(tile.at(4 * 33 * 33 + 2), "tile[33][0], row 33 of 32");
        assert_eq!(tile.at(-4), "tile[-1][32], row -1 of 32");
        let x = Elements { dimensions: vec![64], name: "x".into(), ..tile.clone() };
        assert_eq!((x.at(12).as_str(), x.at(256).as_str()), ("x[3]", "x[64] of 64"));
        assert_eq!(Elements { dimensions: Vec::new(), ..x }.at(4), "x");
    }

    #[test]
    fn types_have_sizes() {
        let sizes = [("float*", 4), ("uchar*", 1), ("int3*", 16), ("ulong2*", 16), ("half16*", 32)];
        assert!(sizes.iter().all(|(name, n)| pointed_bytes(name) == Some(*n)), "{sizes:?}");
        assert!(
            ["float", "struct s*", "int5*", "void*", "float**"].iter().all(|n| pointed_bytes(n).is_none())
        );
    }
}
