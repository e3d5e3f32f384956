//! From bytes and from mnemonics to rows, in constant time.

use std::sync::LazyLock;

use super::{Op, TABLE};

/// Opcodes that the numbering keeps free, with the names of the reference header.
pub static RESERVED: &[(u8, &str)] = &[
    (0x00, "RESERVED_0"),
    (0x3b, "RESERVED_3B"),
    (0x3d, "RESERVED_3D"),
    (0x3e, "RESERVED_3E"),
    (0x3f, "RESERVED_3F"),
    (0x53, "RESERVED_53"),
    (0x58, "RESERVED_58"),
    (0x5e, "RESERVED_5E"),
    (0x61, "RESERVED_61"),
    (0x62, "RESERVED_62"),
    (0x63, "RESERVED_63"),
    (0x64, "RESERVED_64"),
    (0x65, "RESERVED_65"),
    (0x66, "RESERVED_66"),
    (0x76, "RESERVED_76"),
    (0x77, "RESERVED_77"),
    (0x88, "RESERVED_88"),
    (0x8c, "RESERVED_8C"),
    (0x8d, "RESERVED_8D"),
    (0x8e, "RESERVED_8E"),
    (0x8f, "RESERVED_8F"),
    (0x90, "RESERVED_90"),
];

/// Name of a reserved opcode; `None` for those that mean something, and for those past the numbering.
/// 0x90 is reserved in the header, and RT_READ on the pages from 4.2 on.
pub fn reserved(opcode: u8) -> Option<&'static str> {
    let i = RESERVED.binary_search_by_key(&opcode, |r| r.0).ok()?;
    Some(RESERVED[i].1)
}

/// No row.
const NONE: u16 = u16::MAX;
/// Sub-opcodes are below this.
const SUBS: usize = 64;

/// Two rows for each key, up to 4.1 and from 4.2 on.
struct Index {
    /// By opcode, for rows without a sub-opcode.
    plain: [[u16; 2]; 256],
    /// Which block of `subs` an opcode with sub-opcodes has, from 1.
    block: [u8; 256],
    /// By block and sub-opcode.
    subs: Vec<[[u16; 2]; SUBS]>,
}

fn set_row(cell: &mut [u16; 2], op: Op) {
    let versions = op.desc().versions;
    for (era, version) in [(4, 1), (4, 2)].into_iter().enumerate() {
        // The first row wins where forms tell rows apart (MIN and MAX).
        if versions.contains(version) && cell[era] == NONE {
            cell[era] = op as u16;
        }
    }
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index { plain: [[NONE; 2]; 256], block: [0; 256], subs: Vec::new() };
    for &op in Op::ALL {
        let desc = op.desc();
        let opcode = desc.opcode as usize;
        match desc.sub {
            None => set_row(&mut index.plain[opcode], op),
            Some(sub) => {
                if index.block[opcode] == 0 {
                    index.subs.push([[NONE; 2]; SUBS]);
                    index.block[opcode] = index.subs.len() as u8;
                }
                if let Some(cell) = index.subs[index.block[opcode] as usize - 1].get_mut(sub as usize) {
                    set_row(cell, op);
                }
            }
        }
    }
    index
});

/// A mnemonic and its forms.
type Head = (&'static str, Vec<(Op, u8)>);

/// Sorted by mnemonic.
static HEADS: LazyLock<Vec<Head>> = LazyLock::new(|| {
    let mut all: Vec<(&'static str, Op, u8)> = Op::ALL
        .iter()
        .flat_map(|&op| op.desc().forms.iter().enumerate().map(move |(i, f)| (f.head, op, i as u8)))
        .collect();
    all.sort_by_key(|&(head, op, form)| (head, op, form));
    let mut heads: Vec<Head> = Vec::new();
    for (head, op, form) in all {
        match heads.last_mut() {
            Some((h, forms)) if *h == head => forms.push((op, form)),
            _ => heads.push((head, vec![(op, form)])),
        }
    }
    heads
});

impl Op {
    /// The row for an opcode (and sub-opcode byte, for families) in a format version.
    ///
    /// Where several rows share an opcode (`min` and `max`), the first; the reader refines by its
    /// forms' fixed fields: see [`Op::siblings`].
    pub fn from_binary(opcode: u8, sub: Option<u8>, version: (u8, u8)) -> Option<Op> {
        let era = usize::from(version >= (4, 2));
        let index = &*INDEX;
        let cell = match sub {
            None => index.plain[opcode as usize][era],
            Some(sub) => {
                let block = index.block[opcode as usize].checked_sub(1)?;
                index.subs[block as usize].get(sub as usize)?[era]
            }
        };
        Op::ALL.get(cell as usize).copied()
    }

    /// Rows with the same bytes in front as this one, itself included, in table order.
    pub fn siblings(self) -> impl Iterator<Item = Op> {
        let d = self.desc();
        Op::ALL.iter().copied().filter(move |o| {
            let e = o.desc();
            e.opcode == d.opcode && e.sub == d.sub && e.versions == d.versions
        })
    }

    /// Does this opcode byte have a sub-opcode byte after it?
    pub fn has_sub(opcode: u8) -> bool {
        INDEX.block[opcode as usize] != 0
    }

    /// The forms of a mnemonic (up to the first `.`, lower case): rows and indices into their forms.
    pub fn candidates(head: &str) -> &'static [(Op, u8)] {
        match HEADS.binary_search_by_key(&head, |h| h.0) {
            Ok(i) => &HEADS[i].1,
            Err(_) => &[],
        }
    }

    /// Every mnemonic, sorted.
    pub fn heads() -> impl Iterator<Item = &'static str> {
        HEADS.iter().map(|h| h.0)
    }

    /// Rows of a name as the pages write it, in any case: `SVM_GATHER`; several where versions differ.
    pub fn named(name: &str) -> impl Iterator<Item = Op> {
        Op::ALL.iter().copied().filter(move |o| TABLE[*o as usize].name.eq_ignore_ascii_case(name))
    }
}
