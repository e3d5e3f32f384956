//! What the codes in the fields of LSC messages mean (pages LSC_UNTYPED, LSC_TYPED).

/// Codes of the shared functions, in the field `sfid`.
pub mod sfid {
    /// Untyped global memory.
    pub const UGM: u32 = 0;
    /// Untyped global memory, low bandwidth.
    pub const UGML: u32 = 1;
    /// Typed global memory.
    pub const TGM: u32 = 2;
    /// Shared local memory.
    pub const SLM: u32 = 3;
}

/// Codes of what a level of caches does, in the fields `l1` and `l3`.
pub mod caching {
    /// The default.
    pub const DEFAULT: u32 = 0;
    /// Uncached.
    pub const UNCACHED: u32 = 1;
    /// Cached.
    pub const CACHED: u32 = 2;
    /// Written back.
    pub const WRITE_BACK: u32 = 3;
    /// Written through.
    pub const WRITE_THROUGH: u32 = 4;
    /// Streamed.
    pub const STREAMED: u32 = 5;
    /// Read and invalidated.
    pub const INVALIDATED: u32 = 6;
    /// Cached as a constant.
    pub const CONSTANT: u32 = 7;
}

/// Codes of who must observe what a fence orders, in the field `scope`.
pub mod scope {
    /// The thread group.
    pub const GROUP: u32 = 0;
    /// The threads near by.
    pub const LOCAL: u32 = 1;
}

/// Codes of the address models, in the field `addr_type`.
pub mod addr_type {
    /// A virtual address.
    pub const FLAT: u32 = 1;
    /// A bindless surface state.
    pub const BSS: u32 = 2;
    /// A surface state.
    pub const SS: u32 = 3;
    /// A binding table index.
    pub const BTI: u32 = 4;
    /// Kernel arguments.
    pub const ARG: u32 = 5;
    /// The address of a surface state.
    pub const SURF: u32 = 6;
}

/// Size of an element in memory and in a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataSize {
    /// Bytes in memory.
    pub memory: u32,
    /// Bytes in a register.
    pub register: u32,
    /// It is in the upper half of its place in the register.
    pub upper: bool,
}

/// The size of this code of `data_size`.
pub const fn data_size(code: u32) -> Option<DataSize> {
    let (memory, register, upper) = match code {
        1 => (1, 1, false),
        2 => (2, 2, false),
        3 => (4, 4, false),
        4 => (8, 8, false),
        5 => (1, 4, false),
        6 => (2, 4, false),
        7 => (2, 4, true),
        _ => return None,
    };
    Some(DataSize { memory, register, upper })
}

/// Elements at each address, by the code of `data_elems`.
pub const fn elements(code: u32) -> Option<u32> {
    Some(match code {
        1..=4 => code,
        5 => 8,
        6 => 16,
        7 => 32,
        8 => 64,
        _ => return None,
    })
}

/// Bytes of an address, by the code of `addr_size`.
pub const fn address_bytes(code: u32) -> Option<u32> {
    Some(match code {
        1 => 2,
        2 | 4 | 5 => 4,
        3 => 8,
        _ => return None,
    })
}

/// Is an address of 32 bits extended to 64 by its sign (`Some(true)`) or by zeros, by the code of `addr_size`?
pub const fn address_extends(code: u32) -> Option<bool> {
    match code {
        4 => Some(false),
        5 => Some(true),
        _ => None,
    }
}

/// Is the data transposed, by the code of `data_order`: element by element of one channel?
pub const fn is_transposed(code: u32) -> bool {
    code == 2
}

/// Shape of a block of a block2d message in registers, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block2d {
    /// Bytes of an element.
    pub element: u32,
    /// Elements from row to row in registers: a power of two.
    pub row_pitch: u32,
    /// Rows in registers, which are columns of the block if it is transposed.
    pub rows: u32,
    /// Elements of a row in registers, padding aside.
    pub row: u32,
    /// Bytes from one block to the next: whole registers.
    pub block_pitch: u32,
    /// Bytes of all blocks: whole registers.
    pub bytes: u32,
}

impl Block2d {
    /// The shape of a message's data; `None` where the fields have no meaning.
    ///
    /// Rows are padded to powers of two, blocks to registers; with `transpose` a row of registers is a
    /// column of the block; with `vnni` as many rows as fit a dword share a row of dwords.
    pub fn new(
        data_size_code: u32,
        transpose: bool,
        vnni: bool,
        (blocks, width, height): (u32, u32, u32),
        grf_bytes: u32,
    ) -> Option<Block2d> {
        let element = data_size(data_size_code)?.memory;
        if width == 0 || height == 0 || blocks == 0 || grf_bytes == 0 {
            return None;
        }
        let (row, mut rows) = if transpose { (height, width) } else { (width, height) };
        let row_pitch = row.checked_next_power_of_two()?;
        if vnni {
            rows = rows.checked_next_multiple_of(4u32.checked_div(element)?.max(1))?;
        }
        let block = row_pitch.checked_mul(rows)?.checked_mul(element)?;
        let block_pitch = block.checked_next_multiple_of(grf_bytes)?;
        let bytes = block_pitch.checked_mul(blocks)?;
        Some(Block2d { element, row_pitch, rows, row, block_pitch, bytes })
    }

    /// Bytes up to the last element of the last row: what a store reads of its one block.
    pub fn up_to_last(&self) -> Option<u32> {
        let before = self.rows.checked_sub(1)?.checked_mul(self.row_pitch)?;
        before.checked_add(self.row)?.checked_mul(self.element)
    }
}

/// Bytes from row to row of a block of an image in registers (pages MEDIA_LD, LSC_TYPED).
pub const fn media_pitch(width: u32) -> Option<u32> {
    match width {
        0..4 => Some(4),
        _ => width.checked_next_power_of_two(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desc::{Enc, SlotKind, SlotName};
    use crate::table::Op;

    /// Codes that the table lists for a field of LSC_LOAD.
    fn listed(field: SlotName) -> Vec<(u32, &'static str)> {
        let desc = Op::LscLoad.desc();
        let slot = &desc.slots[desc.slot_index(field).expect("a field")];
        match slot.kind {
            SlotKind::Field { enc: Enc::Values(v), .. } => v.iter().map(|v| (v.code, v.text)).collect(),
            _ => panic!("{field} has values"),
        }
    }

    #[test]
    fn every_code_of_the_table_has_a_meaning_and_no_other() {
        let has = |codes: &[(u32, &str)], f: &dyn Fn(u32) -> bool| {
            for code in 0..256 {
                assert_eq!(f(code), codes.iter().any(|c| c.0 == code), "code {code}");
            }
        };
        has(&listed(SlotName::DataSize), &|c| data_size(c).is_some());
        has(&listed(SlotName::DataElems), &|c| elements(c).is_some());
        has(&listed(SlotName::AddrSize), &|c| address_bytes(c).is_some());
        for (code, text) in listed(SlotName::DataSize) {
            let (memory, register) = text[1..].split_once(['c', 'u']).unwrap_or((&text[1..], &text[1..]));
            let size = data_size(code).expect("a size");
            assert_eq!(memory.parse(), Ok(8 * size.memory), "{text}");
            assert_eq!(register.trim_end_matches('h').parse(), Ok(8 * size.register), "{text}");
            assert_eq!(text.ends_with('h'), size.upper, "{text}");
        }
        for (code, text) in listed(SlotName::DataElems) {
            assert_eq!(text.parse(), Ok(elements(code).expect("a number")));
        }
        for (code, text) in listed(SlotName::AddrSize) {
            let digits = text[1..].trim_end_matches(['u', 's']);
            assert_eq!(digits.parse(), Ok(8 * address_bytes(code).expect("a size")));
            let extends = text.chars().last().filter(|c| !c.is_ascii_digit()).map(|c| c == 's');
            assert_eq!(address_extends(code), extends);
        }
    }

    #[test]
    fn blocks_are_padded() {
        let shape = |size, transpose, vnni, extent, grf| Block2d::new(size, transpose, vnni, extent, grf);
        let b = shape(2, false, false, (2, 16, 8), 64).expect("a shape");
        assert_eq!((b.row_pitch, b.block_pitch, b.bytes), (16, 256, 512));
        let b = shape(1, false, true, (1, 12, 6), 64).expect("a shape");
        assert_eq!((b.row_pitch, b.bytes), (16, 128));
        let b = shape(3, true, false, (1, 8, 5), 64).expect("a shape");
        assert_eq!((b.row_pitch, b.bytes), (8, 256));
        assert_eq!(shape(3, false, false, (0, 1, 1), 64), None);
        assert_eq!(shape(4, false, false, (u32::MAX, 64, 64), 64), None);
        let b = shape(3, false, false, (1, 3, 3), 64).expect("a shape");
        assert_eq!(b.up_to_last(), Some((2 * 4 + 3) * 4));
    }
}
