//! What work-items of a sub-group do together: blocks that they move, at addresses that the extension asks for, and values
//! that they take of each other. All of them have to come to a function of the sub-group, unless it is one of those that
//! are for some of them (OpGroupNonUniform…, and the shuffles of SPV_INTEL_subgroups), and to broadcast the same one's value.
//!
//! (SPV_INTEL_subgroups; cl_intel_subgroups: blocks are read at multiples of 4 bytes, and written at multiples of 16.
//! OpGroupNonUniformShuffle: SPIR-V specification, 3.42.24. What is taken of a work-item that there is not is undefined.)

use envisa_zebin::check_reports::{self, Kind, ReportHeader, ReportedAccess};

use super::super::Instruction;
use super::{ALIGNED, Checking, SUB_GROUP, op};

mod own {
    pub const DECORATE: u32 = 71;
    pub const EXECUTION_MODE: u32 = 16;
    pub const VARIABLE: u32 = 59;
    pub const TYPE_VECTOR: u32 = 23;
    pub const COMPOSITE_EXTRACT: u32 = 81;
    pub const U_CONVERT: u32 = 113;
    pub const NON_UNIFORM_SHUFFLE: u32 = 345;
    pub const SHUFFLE: u32 = 5571;
    pub const BLOCK_READ: u32 = 5575;
    pub const BLOCK_WRITE: u32 = 5576;
}

/// The decoration of variables that are built in, the one that says how many work-items a sub-group has at most, and the
/// class that these are of (3.20, 3.21, 3.7).
const BUILT_IN: u32 = 11;
const SUB_GROUP_MAX_SIZE: u32 = 37;
const INPUT: u32 = 1;
/// Types are declared behind decorations (2.4).
const TYPES: std::ops::RangeInclusive<u32> = 19..=39;

/// The mode that a kernel's size of groups is, and the scope of groups (3.6, 3.27).
const LOCAL_SIZE: u32 = 17;
const WORK_GROUP: i64 = 2;

/// Work-items that each full sub-group has.
const FEWEST: i64 = 8;

const READ_ALIGN: u64 = 4;
const WRITE_ALIGN: u64 = 16;

impl Checking {
    /// Holds against what there is what the work-items of a sub-group do together.
    pub(super) fn check_sub_group_operation(&mut self, i: &Instruction) {
        self.meets(i);
        match (i.op, self.module.operands(i)) {
            (op::GROUP_BROADCAST, &[_, _, scope, _, from]) => {
                self.broadcast(i.at, scope, from);
                if self.types.constant(scope) == Some(SUB_GROUP) {
                    self.shuffle(i.at, from);
                }
            }
            (own::SHUFFLE, [_, _, _, lane]) | (own::NON_UNIFORM_SHUFFLE, [_, _, _, _, lane]) => {
                self.shuffle(i.at, *lane);
            }
            _ => self.block(i),
        }
    }

    /// Notes who comes to what all work-items of a sub-group or group have to come to. A group that is one sub-group may have no
    /// barrier in compiled code, neither in functions of groups, nor, if its size is known, where the source has one.
    fn meets(&mut self, i: &Instruction) {
        let scope = |id: u32| self.types.constant(id);
        let bound = match (i.op, self.module.operands(i)) {
            (op::GROUP_ALL..=op::GROUP_S_MAX, [_, _, of, ..]) => match scope(*of) {
                Some(SUB_GROUP) => 0,
                Some(WORK_GROUP) => check_reports::OF_GROUP,
                _ => return,
            },
            (own::BLOCK_READ | own::BLOCK_WRITE, _) => 0,
            (op::CONTROL_BARRIER, [of, ..]) if scope(*of) == Some(WORK_GROUP) && self.has_small_groups() => {
                check_reports::BARRIER
            }
            _ => return,
        };
        self.note(i.at, ReportHeader { kind: Kind::Meets, does: ReportedAccess::Reads, bytes: 0, bound });
    }

    /// Has a kernel groups of a size that it names and that may be one sub-group?
    fn has_small_groups(&self) -> bool {
        self.module.all.iter().filter(|i| i.op == own::EXECUTION_MODE).any(|i| {
            match self.module.operands(i) {
                [_, LOCAL_SIZE, sizes @ ..] => sizes.iter().map(|n| u64::from(*n)).product::<u64>() <= 32,
                _ => false,
            }
        })
    }

    /// Reports whose value is broadcast, unless that is a constant.
    fn broadcast(&mut self, at: usize, scope: u32, from: u32) {
        if self.types.constant(from).is_some() {
            return;
        }
        let bound = match self.types.constant(scope) {
            Some(SUB_GROUP) => check_reports::OF_SUB_GROUP,
            _ => 0,
        };
        let what = ReportHeader { kind: Kind::Broadcasts, does: ReportedAccess::Reads, bytes: 0, bound };
        let of = self.types.type_of(from);
        let is_vector =
            |i: &&Instruction| i.op == own::TYPE_VECTOR && self.module.operands(i).first().copied() == of;
        let vector = self.module.all.iter().find(is_vector).map(|i| self.module.operands(i).to_vec());
        let Some([_, element, count]) = vector.as_deref() else {
            let from = self.long(at, from);
            return self.report(at, from, what, &[]);
        };
        let parts: Vec<u32> = (0..*count)
            .map(|n| {
                let part = self.module.id();
                self.module.put(at, own::COMPOSITE_EXTRACT, &[*element, part, from, n]);
                if *element == self.ids.long { part } else { self.make(at, op::S_CONVERT, &[part]) }
            })
            .collect();
        self.report(at, parts[0], what, &parts[1..]);
    }

    /// Holds the number of the work-item of which a value is taken against how many a sub-group has.
    fn shuffle(&mut self, at: usize, lane: u32) {
        // No device has smaller sub-groups.
        if self.types.constant(lane).is_some_and(|lane| (0..FEWEST).contains(&lane)) {
            return;
        }
        let Some(most) = self.sub_group_size(at) else { return };
        let lane = self.long(at, lane);
        let known = self.constant(
            ReportHeader { kind: Kind::Lane, does: ReportedAccess::Reads, bytes: 0, bound: 0 }.pack(),
        );
        let bits = self.constant(u64::from(u32::BITS));
        let bound = self.make(at, op::SHIFT_LEFT_LOGICAL, &[most, bits]);
        let what = self.make(at, op::BITWISE_OR, &[known, bound]);
        let none = [self.constant(0); check_reports::NAME_WORDS];
        self.call_with(at, [lane, most, what], &none);
    }

    /// The type of numbers of 32 bits, if the module has it.
    pub(super) fn int_type(&self) -> Option<u32> {
        let is_int = |i: &&Instruction| i.op == op::TYPE_INT && self.module.operands(i).get(1) == Some(&32);
        self.module.all.iter().find(is_int).map(|i| self.module.operands(i)[0])
    }

    /// How many work-items a sub-group has at most; `None` if the module has no numbers of 32 bits.
    fn sub_group_size(&mut self, at: usize) -> Option<u32> {
        let int = self.int_type()?;
        let all = self.module.all.clone();
        let is_it = |i: &&Instruction| {
            i.op == own::DECORATE
                && self.module.operands(i).get(1..3) == Some(&[BUILT_IN, SUB_GROUP_MAX_SIZE])
        };
        let known = all.iter().find(is_it).map(|i| self.module.operands(i)[0]).or(self.ids.sub_group_size);
        let variable = match known {
            Some(id) => id,
            None => {
                let types = all.iter().find(|i| TYPES.contains(&i.op))?.at;
                let (id, pointer) = (self.module.id(), self.module.id());
                self.module.put(types, own::DECORATE, &[id, BUILT_IN, SUB_GROUP_MAX_SIZE]);
                self.module.put(self.first, op::TYPE_POINTER, &[pointer, INPUT, int]);
                self.module.put(self.first, own::VARIABLE, &[pointer, id, INPUT]);
                self.ids.sub_group_size = Some(id);
                id
            }
        };
        let size = self.module.id();
        self.module.put(at, op::LOAD, &[int, size, variable, ALIGNED, 4]);
        Some(self.make(at, own::U_CONVERT, &[size]))
    }

    /// Holds the address of a block of a sub-group against what it has to be a multiple of, and tells of the block.
    fn block(&mut self, i: &Instruction) {
        let (pointer, does, align, data) = match (i.op, self.module.operands(i)) {
            (own::BLOCK_READ, [data, _, pointer, ..]) => {
                (*pointer, ReportedAccess::Reads, READ_ALIGN, Some(*data))
            }
            (own::BLOCK_WRITE, [pointer, data, ..]) => {
                (*pointer, ReportedAccess::Writes, WRITE_ALIGN, self.types.type_of(*data))
            }
            _ => return,
        };
        let Some(element) = self.types.pointer(pointer).and_then(|(_, pointee)| self.types.get(pointee))
        else {
            return;
        };
        let what = ReportHeader {
            kind: Kind::Alignment,
            does,
            bytes: u16::try_from(element.bytes).unwrap_or(u16::MAX),
            bound: align as u32,
        };
        let address = self.make(i.at, op::CONVERT_PTR_TO_U, &[pointer]);
        let mask = self.constant(align - 1);
        let beyond = self.make(i.at, op::BITWISE_AND, &[address, mask]);
        self.call(i.at, beyond, 1, what, "");
        let elements = data.and_then(|data| self.types.elements(data)).unwrap_or(1);
        if let Some(most) = self.sub_group_size(i.at) {
            let elements = self.constant(elements);
            self.report(
                i.at,
                address,
                ReportHeader { kind: Kind::Block, bound: 0, ..what },
                &[most, elements],
            );
        }
    }
}
