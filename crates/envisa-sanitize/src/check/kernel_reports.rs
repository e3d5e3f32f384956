//! What kernels that were compiled for checks report themselves.

use envisa_lower::Message;
use envisa_machine::check_reports::{
    self, FIELD_BYTES, FIELDS, Kind, OF_ONE_SIGN, ReportHeader, ReportedAccess, TEXEL_TYPES,
};
use envisa_machine::thread::{AccessKind, AccessSpace, Machine, Mask};

use super::bounds::describe_distance;
use super::races::stored;
use super::{Checks, FindingKind, channels};

/// The fields that the channels of a thread have stored of their next report, and their last note: by field, then by channel.
pub(super) type Begun = [[u64; 32]; FIELDS + 1];

/// Where the last byte of a report ends, and that of a note.
const REPORT_END: u64 = FIELDS as u64 * FIELD_BYTES;
const NOTE_END: u64 = REPORT_END + FIELD_BYTES;

/// Channels store some bits of a field.
#[inline]
fn set_bits(field: &mut [u64; 32], whose: Mask, bits: u64, value: u64) {
    if whose.is_power_of_two() {
        let to = &mut field[whose.trailing_zeros() as usize];
        *to = *to & !bits | value;
        return;
    }
    for (k, to) in field.iter_mut().enumerate() {
        let all = u64::from(whose >> k & 1).wrapping_neg();
        *to = *to & !(bits & all) | value & all;
    }
}

impl Checks {
    /// Takes what a message stores of reports; false if it accesses something else.
    pub(super) fn reports(&mut self, m: &Machine<'_>, pc: u32, message: &Message, first: u32) -> bool {
        let begins = |row: &envisa_machine::thread::AccessRow| {
            row.first.space == AccessSpace::Flat
                && row.first.kind == AccessKind::Write
                && check_reports::addresses().contains(&row.first.address)
        };
        if !m.accesses.rows().first().is_some_and(begins) {
            return false;
        }
        // A store of one channel, whatever the mask, is that of all active work-items.
        let all = m.env.program.code().get(pc as usize).is_none_or(|i| i.channels == 1 || i.no_mask);
        let (mut complete, mut noted, mut buffer) = (0u32, 0u32, [0; 16]);
        let begun = self.begun.entry(m.t.index).or_insert_with(|| Box::new([[0; 32]; FIELDS + 1]));
        for (a, part) in m.accesses.parts() {
            let stored = stored(m, message, &a, first, part, &mut buffer);
            let whose = if all { m.t.mask } else { 1 << (a.channel % 32) };
            // Fields are whole elements, or halves of these.
            let at = a.address.wrapping_sub(check_reports::ADDRESS);
            for (n, bytes) in stored.chunks(4).enumerate() {
                let at = at.wrapping_add(4 * n as u64);
                let (field, shift) = (at / FIELD_BYTES, 8 * (at % FIELD_BYTES));
                let (mut value, mut mask) = (0, 0);
                for (k, byte) in bytes.iter().enumerate() {
                    value |= u64::from(*byte) << (8 * k);
                    mask |= 0xff << (8 * k);
                }
                if let Some(to) = begun.get_mut(field as usize) {
                    set_bits(to, whose, mask << shift, value << shift);
                }
                match at + bytes.len() as u64 {
                    REPORT_END => complete |= whose,
                    NOTE_END => noted |= whose,
                    _ => {}
                }
            }
        }
        self.complete(m, pc, complete);
        let note = |b: &Begun| ReportHeader::unpack(b[FIELDS][noted.trailing_zeros() as usize % 32]);
        if let Some(what) = self.begun.get(&m.t.index).filter(|_| noted != 0).and_then(|b| note(b)) {
            match what.kind {
                Kind::Copied => self.copy_ends(m, pc),
                Kind::Ends => self.kernel_ends(m, pc, noted),
                Kind::Together => {
                    self.group.join_channels(m.t.index, what.bound);
                    self.check_collective(m, pc, noted, 0);
                }
                Kind::Meets => self.check_collective(m, pc, noted, what.bound),
                Kind::Fences => self.group.fences(m.t.index, what.bound),
                Kind::Whole => self.whole_shadow(m).whole = what.bytes.into(),
                Kind::Changes | Kind::Changed => self.group.changes(m.t.index, what.kind == Kind::Changes),
                _ => {}
            }
        }
        true
    }

    /// Takes complete reports of channels, which are all of one kind.
    fn complete(&mut self, m: &Machine<'_>, pc: u32, complete: Mask) {
        let Some(begun) = self.begun.get(&m.t.index).filter(|_| complete != 0) else { return };
        let all: Vec<(u32, [u64; FIELDS])> =
            channels(complete).map(|k| (k, std::array::from_fn(|field| begun[field][k as usize]))).collect();
        for (n, (k, fields)) in all.iter().enumerate() {
            match ReportHeader::unpack(fields[0]) {
                Some(what) if what.kind == Kind::Copies => {
                    self.copy_begins(m, pc, (*k, complete), (what.bound, fields));
                }
                Some(what) if what.kind == Kind::Broadcasts => {
                    self.broadcasts(m, pc, *k, (what.bound == check_reports::OF_SUB_GROUP, fields));
                }
                Some(what) if what.kind == Kind::Block => {
                    if n == 0 {
                        self.block(m, pc, *k, &what, fields);
                    }
                }
                Some(what) if what.kind == Kind::Variable => {
                    let name = std::array::from_fn(|n| fields[1 + n]);
                    let bytes = (what.bound.into(), what.bytes.into());
                    self.private_names.add(m.t.index, fields[FIELDS - 1], bytes, name);
                }
                Some(what) if what.kind == Kind::LocalVariable => {
                    if n == 0 {
                        let (at, name) =
                            (fields[FIELDS - 1], check_reports::name_from_words(&fields[1..FIELDS - 1]));
                        self.sites.name_local_variable(at, (what.bound.into(), what.bytes.into()), &name);
                    }
                }
                Some(what) if what.kind == Kind::Waits && n == 0 => self.waits(m, pc, *k, fields[FIELDS - 1]),
                Some(_) | None => self.reported(m, pc, *k, fields),
            }
        }
    }

    fn reported(&mut self, m: &Machine<'_>, pc: u32, channel: u32, fields: &[u64; FIELDS]) {
        let Some(what) = ReportHeader::unpack(fields[0]) else { return };
        let (name, value) = (check_reports::name_from_words(&fields[1..FIELDS - 1]), fields[FIELDS - 1]);
        let kind = match what.kind {
            Kind::FlatIndex if !self.facts.hints => return,
            Kind::FlatIndex => FindingKind::LocalNeighbour,
            Kind::Index | Kind::Offset | Kind::Lane => FindingKind::OutOfBounds,
            Kind::Alignment => FindingKind::Misaligned,
            Kind::Texel => FindingKind::TexelType,
            Kind::Divisor | Kind::Overflow | Kind::Range | Kind::ShiftCount if !self.facts.hints => return,
            Kind::Divisor => FindingKind::DivisionByZero,
            Kind::Overflow => FindingKind::SignedOverflow,
            Kind::Range => FindingKind::ConversionRange,
            Kind::ShiftCount => FindingKind::ShiftCount,
            Kind::Copies
            | Kind::Copied
            | Kind::Waits
            | Kind::Ends
            | Kind::Together
            | Kind::Meets
            | Kind::Broadcasts
            | Kind::Block
            | Kind::Changes
            | Kind::Changed
            | Kind::Variable
            | Kind::Fences
            | Kind::LocalVariable
            | Kind::Whole => return,
        };
        self.note(m, pc, kind, channel, || sentence(&what, &name, value));
    }
}

/// What an opcode of SPIR-V computes.
fn operation(opcode: u32) -> &'static str {
    match opcode {
        128 => "a sum",
        130 => "a difference",
        132 => "a product",
        _ => "a quotient",
    }
}

/// `writes v[8]: there are 8 elements, from 0 on`.
fn sentence(what: &ReportHeader, name: &str, value: u64) -> String {
    let does = match what.does {
        ReportedAccess::Reads => "reads",
        ReportedAccess::Writes => "writes",
        ReportedAccess::Changes => "changes",
    };
    let bytes = |n: u64| if n == 1 { "1 byte".to_owned() } else { format!("{n} bytes") };
    let (bound, size) = (what.bound, bytes(what.bytes.into()));
    match what.kind {
        Kind::Index | Kind::FlatIndex => {
            let value = value as i64;
            let element = match name.rsplit_once("[]") {
                Some((before, after)) => format!("{before}[{value}]{after}"),
                None => format!("element {value}"),
            };
            format!("{does} {element}, of an array of {bound} elements")
        }
        Kind::Offset => {
            let of = if name.is_empty() { "a variable" } else { name };
            format!("{does} {size} {}", describe_distance(value as i64, bound.into(), of))
        }
        Kind::Lane => {
            let value = value as i64;
            format!("takes the value of work-item {value} of a sub-group, which has {bound} at most")
        }
        Kind::Texel => {
            let of = if name.is_empty() { "an image".to_owned() } else { format!("image {name}") };
            match bound {
                check_reports::SIGNED if value < 2 * OF_ONE_SIGN => {
                    format!("{does} integers with signs of {of}, whose channels are integers without signs")
                }
                check_reports::UNSIGNED if value >= TEXEL_TYPES - OF_ONE_SIGN => {
                    format!("{does} integers without signs of {of}, whose channels are integers with signs")
                }
                check_reports::INTEGERS | check_reports::SIGNED | check_reports::UNSIGNED => {
                    format!("{does} integers of {of}, whose channels are floats or normalised numbers")
                }
                _ => format!("{does} floats of {of}, whose channels are integers"),
            }
        }
        Kind::Alignment => {
            let of = if name.is_empty() { String::new() } else { format!(" computed from {name}") };
            format!(
                "{does} {size} at an address{of} that is {} beyond a multiple of {bound}, which is asked for",
                bytes(value)
            )
        }
        Kind::Divisor => "an integer is divided by zero".to_owned(),
        Kind::Overflow => {
            let bits = 8 * what.bytes;
            format!("{} of signed integers of {bits} bits overflows", operation(bound))
        }
        Kind::Range => {
            format!("a float becomes an integer of {} bits, which cannot hold it", 8 * what.bytes)
        }
        Kind::ShiftCount => {
            format!(
                "a shift by at least {0} of {0} bits: only the low bits of the count are used",
                8 * what.bytes
            )
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_sentences() {
        let of = |kind, bound| ReportHeader { kind, does: ReportedAccess::Writes, bytes: 4, bound };
        let index = of(Kind::Index, 32);
        assert_eq!(sentence(&index, "tile[][]", 33), "writes tile[][33], of an array of 32 elements");
        assert_eq!(sentence(&index, "s[].a[]", u64::MAX), "writes s[].a[-1], of an array of 32 elements");
        let offset = of(Kind::Offset, 32);
        assert_eq!(
            sentence(&offset, "v", 36),
            "writes 4 bytes that begin 4 bytes past the end of v, which has 32"
        );
        assert_eq!(sentence(&offset, "", 30), "writes 4 bytes at byte 30 of a variable, which has 32");
        assert_eq!(
            sentence(&offset, "v", -4i64 as u64),
            "writes 4 bytes that begin 4 bytes before the start of v"
        );
        let lane = "takes the value of work-item -1 of a sub-group, which has 16 at most";
        assert_eq!(sentence(&of(Kind::Lane, 16), "", -1i64 as u64), lane);
        let texel = "writes integers of image p, whose channels are floats or normalised numbers";
        assert_eq!(sentence(&of(Kind::Texel, check_reports::INTEGERS), "p", 9), texel);
        assert_eq!(sentence(&of(Kind::Texel, check_reports::SIGNED), "p", 6), texel);
        let signs = "writes integers without signs of image p, whose channels are integers with signs";
        assert_eq!(sentence(&of(Kind::Texel, check_reports::UNSIGNED), "p", 13), signs);
    }
}
