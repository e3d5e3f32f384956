//! Accesses to images: functions for integers are for images of integers, functions for floats for all others. Whether
//! those for integers are for numbers with signs is known from the source alone.
//!
//! (OpenCL C 3.0, 6.15.15.2 to 6.15.15.6: for other channel data types the values are undefined. OpImageQueryFormat: SPIR-V
//! specification, 3.42.10; its result is a channel data type of 3.13.)

use envisa_zebin::check_reports::{self, Kind, ReportHeader, ReportedAccess};

use super::super::Instruction;
use super::pointer_path::name_of_pointer;
use super::{Checking, op};

mod own {
    pub const TYPE_FLOAT: u32 = 22;
    pub const TYPE_VECTOR: u32 = 23;
    pub const SAMPLED_IMAGE: u32 = 86;
    pub const SAMPLE_EXPLICIT_LOD: u32 = 88;
    pub const READ: u32 = 98;
    pub const WRITE: u32 = 99;
    pub const QUERY_FORMAT: u32 = 101;
}

/// The lowest bits of a channel data type: SPIR-V counts from 0 on, OpenCL from a multiple of 16 on. The last that SPIR-V
/// has comes to lie where the first is, and both are no integers.
const TYPES: u64 = 16;
/// Signed and unsigned integers of 8, 16 and 32 bits.
const FIRST_INTEGER: u64 = 7;
const INTEGERS: u64 = 6;
/// Of these, those with signs come first.
const SIGNED: u64 = 3;

impl Checking {
    /// Holds the type of what an image is accessed with against that of its channels.
    pub(super) fn check_image_access(&mut self, i: &Instruction) {
        let (image, texel, does) = match (i.op, self.module.operands(i)) {
            (own::SAMPLE_EXPLICIT_LOD, &[ty, _, sampled, ..]) => {
                let Some(made) = self.types.definition(sampled).filter(|m| m.op == own::SAMPLED_IMAGE) else {
                    return;
                };
                (self.module.operands(made)[2], ty, ReportedAccess::Reads)
            }
            (own::READ, &[ty, _, image, ..]) => (image, ty, ReportedAccess::Reads),
            (own::WRITE, &[image, _, texel, ..]) => match self.types.type_of(texel) {
                Some(ty) => (image, ty, ReportedAccess::Writes),
                None => return,
            },
            _ => return,
        };
        let Some(integers) = self.has_integers(texel) else { return };
        let signed =
            self.called_names.image_function_at(self.line).and_then(takes_signs).filter(|_| integers);
        // The types that are wrong come last.
        let (first, wrong, bound) = match (integers, signed) {
            (true, None) => (FIRST_INTEGER, INTEGERS, check_reports::INTEGERS),
            (true, Some(true)) => (FIRST_INTEGER, SIGNED, check_reports::SIGNED),
            (true, Some(false)) => (FIRST_INTEGER + SIGNED, INTEGERS - SIGNED, check_reports::UNSIGNED),
            (false, _) => (FIRST_INTEGER + INTEGERS, TYPES - INTEGERS, 0),
        };
        let what = ReportHeader { kind: Kind::Texel, does, bytes: 0, bound };
        if !self.known.insert((image, wrong, what.pack())) {
            return;
        }
        let Some(int) = self.int_type() else { return };
        let format = self.module.id();
        self.module.put(i.at, own::QUERY_FORMAT, &[int, format, image]);
        let format = self.make(i.at, op::S_CONVERT, &[format]);
        let (from, mask) = (self.constant(TYPES - first), self.constant(TYPES - 1));
        let from = self.make(i.at, op::I_ADD, &[format, from]);
        let place = self.make(i.at, op::BITWISE_AND, &[from, mask]);
        let name = name_of_pointer(&self.module, &self.types, image);
        self.call(i.at, place, wrong, what, &name);
    }

    /// Is a type one of integers, or of vectors of them? `None` if it is not of floats either.
    fn has_integers(&self, ty: u32) -> Option<bool> {
        let of = |ty: u32| {
            self.module.all.iter().find(|i| self.module.operands(i).first() == Some(&ty) && is_declaration(i))
        };
        let mut found = of(ty)?;
        if found.op == own::TYPE_VECTOR {
            found = of(self.module.operands(found)[1])?;
        }
        match found.op {
            op::TYPE_INT => Some(true),
            own::TYPE_FLOAT => Some(false),
            _ => None,
        }
    }
}

/// Is a function for numbers with signs? `None` if it is not for integers.
fn takes_signs(function: &str) -> Option<bool> {
    match function {
        "read_imagei" | "write_imagei" => Some(true),
        "read_imageui" | "write_imageui" => Some(false),
        _ => None,
    }
}

fn is_declaration(i: &Instruction) -> bool {
    matches!(i.op, op::TYPE_INT | own::TYPE_FLOAT | own::TYPE_VECTOR)
}
