//! Reports: what kernels that were compiled for checks find themselves, and say by stores to an address of its own.
//!
//! A report is one store of eight bytes for each of its fields, in their order: a channel's report is complete when the
//! last is stored. What has one field is a note, which has an address of its own.

use std::ops::Range;

/// Where reports go, in the address space of the device. No memory is ever there.
pub const ADDRESS: u64 = 0x3fff_f000_0000;
/// Lines of the source that are told have their columns from this bit on, where these are known and fit.
pub const COLUMN: u32 = 20;
/// Bits of a column.
pub const COLUMN_BITS: u32 = 12;

/// Bytes of a field.
pub const FIELD_BYTES: u64 = 8;
/// Fields: what it is ([`ReportHeader`]), a name ([`name_words`]), and the value that is wrong.
pub const FIELDS: usize = 2 + NAME_WORDS;
/// Fields of a name.
pub const NAME_WORDS: usize = 4;

/// Where notes go, behind the fields of reports: a [`ReportHeader`] each.
pub const NOTE: u64 = ADDRESS + FIELDS as u64 * FIELD_BYTES;

/// All addresses of fields and notes.
pub const fn addresses() -> Range<u64> {
    ADDRESS..NOTE + FIELD_BYTES
}

/// What a report is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An index of an array, not below the number of its elements.
    Index = 1,
    /// The same, of an array whose other indices are zero: programs may mean the array of arrays as a whole.
    FlatIndex = 2,
    /// Bytes from the start of a variable, not before its end.
    Offset = 3,
    /// Bytes of an address beyond a multiple of what the type asks for.
    Alignment = 4,
    /// An asynchronous copy begins: in place of a name its destination, source, number of elements and stride, the event
    /// that it is given as value, and the number of its own as bound.
    Copies = 5,
    /// A note: what the copy does of the work-items is done.
    Copied = 6,
    /// An event is waited for; all are, if it is [`ALL_EVENTS`].
    Waits = 7,
    /// A note: the kernel ends.
    Ends = 8,
    /// A note: the work-items of a sub-group have come together at a barrier of theirs, which is nothing in compiled code.
    /// What it orders is the bound: [`LOCAL`], [`GLOBAL`], [`IMAGES`].
    Together = 9,
    /// A note: an atomic begins of which compiled code makes several accesses, under a lock of its own.
    Changes = 10,
    /// A note: it is done.
    Changed = 11,
    /// The number of a work-item of a sub-group, not below how many that has.
    Lane = 12,
    /// The type of an image's channels, not below a limit: of those that the access is not for. The bound is [`INTEGERS`],
    /// [`SIGNED`] or [`UNSIGNED`] if the access is of integers.
    Texel = 13,
    /// An integer is divided by zero: not below 1 if it is.
    Divisor = 14,
    /// A sum of numbers with signs is beyond its type: not below 1 if it is. The bound is the opcode of the operation in SPIR-V.
    Overflow = 15,
    /// A float is beyond the integer that it becomes: not below 1 if it is.
    Range = 16,
    /// A shift is by as many bits as there are, or more: not below 1 if it is.
    ShiftCount = 17,
    /// A note: the work-items of a sub-group come to what all of them have to come to. The bound is [`OF_GROUP`] if it is a function
    /// of the group, and [`BARRIER`] if it is a barrier of the group.
    Meets = 18,
    /// A broadcast: in place of a name and as value the numbers of the work-item whose value all of them get, which have to
    /// be the same for all. The bound is [`OF_SUB_GROUP`] if it is one of a sub-group.
    Broadcasts = 19,
    /// A block of a sub-group: in place of a name how many work-items that has at most and how many elements each of them
    /// moves, and as value where it begins. The bytes are those of an element.
    Block = 20,
    /// A variable of a function may be used before it has a value: it begins at the value, and has as many bytes as the bound
    /// says. The bytes are those of an element; 0 if its elements have parts.
    Variable = 21,
    /// A note: fences begin that are [`ALONE`] or [`FOR_GROUP`], or cover images or buffers ([`IMAGES_APART`]), as the bound
    /// says; they are over if it is 0.
    Fences = 22,
    /// A variable of the kernel in local memory: as [`Kind::Variable`], with all dimensions but the first behind its name.
    LocalVariable = 23,
    /// A note: a value is stored of which so many bytes count, and none of these is padding; or that is done, if it is none.
    Whole = 24,
}

/// A fence for which the source has no barrier: it orders what a work-item does, and not what others do.
pub const ALONE: u32 = 1;
/// A fence of an atomic whose scope is the group, or less.
pub const FOR_GROUP: u32 = 2;
/// The kernel may read images that it writes, and its fences tell whether they cover images or buffers: one instruction
/// does either.
pub const IMAGES_APART: u32 = 4;
/// A fence covers images.
pub const COVERS_IMAGES: u32 = 8;
/// A fence covers buffers.
pub const COVERS_BUFFERS: u32 = 16;

/// Local memory.
pub const LOCAL: u32 = 1;
/// Buffers.
pub const GLOBAL: u32 = 2;
/// Images.
pub const IMAGES: u32 = 4;

/// An access to an image is of integers.
pub const INTEGERS: u32 = 1;
/// It is of integers with signs: types that have none come first of those that are wrong.
pub const SIGNED: u32 = 2;
/// It is of integers without signs: types that have some come last of those that are wrong.
pub const UNSIGNED: u32 = 3;
/// How many types of an image's channels are integers with signs, and how many are integers without.
pub const OF_ONE_SIGN: u64 = 3;
/// How many types of channels are told apart.
pub const TEXEL_TYPES: u64 = 16;

/// A broadcast is one of a sub-group.
pub const OF_SUB_GROUP: u32 = 1;

/// What all of a group have to come to: a function, or a barrier.
pub const OF_GROUP: u32 = 1;
/// The barrier.
pub const BARRIER: u32 = 2;

/// In place of an event: all of them.
pub const ALL_EVENTS: u64 = u64::MAX;

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportedAccess {
    /// It reads.
    Reads = 0,
    /// It writes.
    Writes = 1,
    /// It is an atomic.
    Changes = 2,
}

/// The first field of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReportHeader {
    /// What is wrong.
    pub kind: Kind,
    /// What the access does.
    pub does: ReportedAccess,
    /// Bytes that it accesses; at most this many are told.
    pub bytes: u16,
    /// What the value is held against: elements, bytes of a variable, or the alignment.
    pub bound: u32,
}

impl ReportHeader {
    /// As a field.
    pub fn pack(self) -> u64 {
        self.kind as u64 | (self.does as u64) << 8 | u64::from(self.bytes) << 16 | u64::from(self.bound) << 32
    }

    /// Of a field; `None` of what is none.
    pub fn unpack(field: u64) -> Option<ReportHeader> {
        let kind = match field as u8 {
            1 => Kind::Index,
            2 => Kind::FlatIndex,
            3 => Kind::Offset,
            4 => Kind::Alignment,
            5 => Kind::Copies,
            6 => Kind::Copied,
            7 => Kind::Waits,
            8 => Kind::Ends,
            9 => Kind::Together,
            10 => Kind::Changes,
            11 => Kind::Changed,
            12 => Kind::Lane,
            13 => Kind::Texel,
            14 => Kind::Divisor,
            15 => Kind::Overflow,
            16 => Kind::Range,
            17 => Kind::ShiftCount,
            18 => Kind::Meets,
            19 => Kind::Broadcasts,
            20 => Kind::Block,
            21 => Kind::Variable,
            22 => Kind::Fences,
            23 => Kind::LocalVariable,
            24 => Kind::Whole,
            _ => return None,
        };
        let does = match (field >> 8) as u8 {
            0 => ReportedAccess::Reads,
            1 => ReportedAccess::Writes,
            2 => ReportedAccess::Changes,
            _ => return None,
        };
        Some(ReportHeader { kind, does, bytes: (field >> 16) as u16, bound: (field >> 32) as u32 })
    }
}

/// A name as fields: as much of it as there is room for.
pub fn name_words(name: &str) -> [u64; NAME_WORDS] {
    let mut bytes = [0; NAME_WORDS * 8];
    let mut end = name.len().min(bytes.len());
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    bytes[..end].copy_from_slice(&name.as_bytes()[..end]);
    std::array::from_fn(|n| u64::from_le_bytes(std::array::from_fn(|b| bytes[8 * n + b])))
}

/// The name of fields.
pub fn name_from_words(words: &[u64]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_what_was_packed() {
        let what =
            ReportHeader { kind: Kind::Offset, does: ReportedAccess::Changes, bytes: 16, bound: 0xffff_fff0 };
        assert_eq!(ReportHeader::unpack(what.pack()), Some(what));
        assert_eq!((ReportHeader::unpack(0), ReportHeader::unpack(0x301)), (None, None));
        for text in [
            "",
            "v",
            "tile[][]",
            "a_name_of_thirty-two_characters_",
            "ä",
            "a name that is much too long for it ä",
        ] {
            let read = name_from_words(&name_words(text));
            assert!(text.starts_with(&read) && (text.len() > 32 || read == text), "{text}: {read}");
        }
    }
}
