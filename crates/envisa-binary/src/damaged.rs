//! The binaries of the releases 1.0.12198.1 to 1.0.13064.3, which lack operands.
//!
//! Those releases count an instruction's execution size and predicate against the operands that they
//! write, so that of each instruction the last one or two operands are missing. The sizes in the tables
//! are those of the complete instructions; what is missing in bytes stands at the end as filler: zeros,
//! or whatever the writer's memory held. The sequence of opcodes can be followed nevertheless, since the
//! number of missing operands is known for each row. Where it ends can only be told by its last
//! instruction, a return, and by the filler's size, which must be possible for what is missing.

use crate::cursor::Cursor;
use crate::decode::Decoder;
use crate::error::{Problem, ReadError};
use crate::reader::{Located, ReadOptions, Tables, object_ranges, read_header, read_tables};
use envisa_isa::desc::{Slot, SlotKind};
use envisa_isa::{Inst, Module, Object, Op, Operand, Span};
use std::ops::Range;

/// What is left of a binary.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// Format version.
    pub version: (u8, u8),
    /// Kernels and functions.
    pub objects: Vec<RecoveredObject>,
}

/// A kernel or function as far as it can be read.
#[derive(Clone, Debug)]
pub struct RecoveredObject {
    /// The tables, which are complete, without instructions.
    pub tables: Object,
    /// The instructions in order.
    pub insts: Vec<RecoveredInst>,
    /// The operands of all instructions that are surely there, one after another.
    pub operands: Vec<Operand>,
    /// How the sequence ends.
    pub stop: Stop,
    /// Offset and size of the instructions in the file.
    pub code: Range<usize>,
}

impl RecoveredObject {
    /// The operands of an instruction that are there, from the first slot on.
    pub fn ops(&self, inst: &RecoveredInst) -> &[Operand] {
        &self.operands[inst.first as usize..inst.first as usize + inst.len as usize]
    }
}

/// An instruction of which the last operands may be missing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RecoveredInst {
    /// Row of the table; where `alternatives` is set, the first of those that it may be.
    pub op: Op,
    /// Which row it is depends on a field that is missing.
    pub alternatives: bool,
    /// Operands that are there.
    pub len: u16,
    /// Operands that are missing.
    pub missing: u16,
    /// First operand in [`RecoveredObject::operands`].
    pub first: u32,
    /// Where it stands in the file.
    pub span: Span,
}

/// How the instructions of a recovered object end.
#[derive(Clone, PartialEq, Debug)]
pub enum Stop {
    /// The object is not damaged; nothing is missing.
    Complete,
    /// The object is damaged as those releases do it.
    Damaged {
        /// Offset of the filler in the file.
        filler: usize,
        /// The filler is zeros, as `GenX_IR` writes it; else it is what the writer's memory held.
        zeros: bool,
    },
    /// The object is damaged in some other way: from here on nothing makes sense.
    Lost(ReadError),
}

/// Reads what is there of a binary whose instructions lack operands. An undamaged one is given whole.
///
/// # Errors
/// The header or the tables cannot be read.
pub fn recover(bytes: &[u8]) -> Result<Recovered, ReadError> {
    recover_with(bytes, &ReadOptions::default())
}

/// [`recover`] with options. Without a platform the address of a variable whose offset counts registers is recovered
/// as the register and element that stand there.
///
/// # Errors
/// As [`recover`].
pub fn recover_with(bytes: &[u8], options: &ReadOptions) -> Result<Recovered, ReadError> {
    let header = read_header(bytes)?;
    let grf = options.grf_bytes(&header);
    let mut objects = Vec::new();
    for l in object_ranges(&header) {
        objects.push(recover_object(bytes, header.version, &l, grf).map_err(|e| e.within(&l))?);
    }
    Ok(Recovered { version: header.version, objects })
}

fn recover_object(
    bytes: &[u8],
    version: (u8, u8),
    l: &Located,
    grf: Option<u32>,
) -> Result<RecoveredObject, ReadError> {
    let Tables { object, code } = read_tables(bytes, version, l)?;
    let mut decoder = Decoder::new(&object, version, grf);
    decoder.recovering = true;

    // First as it should be.
    let mut insts = Vec::new();
    let mut operands = Vec::new();
    let mut cur = Cursor::new(&bytes[..code.end], code.start);
    let strict = loop {
        if cur.left() == 0 {
            break None;
        }
        let start = cur.pos();
        let first = operands.len();
        match decoder.inst(&mut cur, &mut operands) {
            Ok(op) => insts.push(RecoveredInst {
                op,
                alternatives: false,
                len: (operands.len() - first) as u16,
                missing: 0,
                first: first as u32,
                span: Span::new(start as u32, cur.pos() as u32),
            }),
            Err(e) => {
                operands.truncate(first);
                break Some(e.within(format_args!("instruction {}", insts.len())));
            }
        }
    };
    let stop = match strict {
        None => Stop::Complete,
        Some(error) => match end_of_damaged(bytes, &code, &decoder) {
            Some(filler) => {
                insts.clear();
                operands.clear();
                follow_damaged(bytes, &code, &decoder, |inst, list| {
                    if inst.span.end as usize > filler {
                        return false;
                    }
                    let first = operands.len() as u32;
                    operands.extend_from_slice(list);
                    insts.push(RecoveredInst { first, ..inst });
                    true
                });
                let zeros = bytes[filler..code.end].iter().all(|b| *b == 0);
                Stop::Damaged { filler, zeros }
            }
            None => Stop::Lost(error),
        },
    };
    Ok(RecoveredObject { tables: object, insts, operands, stop, code })
}

/// Is this instruction area as the damaging releases write it? Asked where it does not decode.
pub(crate) fn looks_damaged(bytes: &[u8], code: &Range<usize>, decoder: &Decoder) -> bool {
    end_of_damaged(bytes, code, decoder).is_some()
}

/// Where the filler of a damaged instruction area begins.
fn end_of_damaged(bytes: &[u8], code: &Range<usize>, decoder: &Decoder) -> Option<usize> {
    // All that is zero at the end of the area.
    let zeros = code.end - bytes[code.clone()].iter().rev().take_while(|b| **b == 0).count();
    let (mut least, mut most) = (0usize, 0usize);
    let mut end = None;
    let mut zero_end = None;
    follow_damaged(bytes, code, decoder, |inst, operands| {
        let slots = inst.op.desc().slots;
        let (a, b) = missing_bytes(slots, operands, inst.missing);
        least += a;
        most += b;
        let pos = inst.span.end as usize;
        let filler = code.end - pos;
        if most > 0 && (least..=most).contains(&filler) {
            if matches!(inst.op, Op::Ret | Op::Fret) {
                end = Some(pos);
            }
            // No opcode is zero, and the last operands that are written may be.
            if pos >= zeros {
                zero_end = Some(pos);
            }
        }
        true
    });
    zero_end.or(end)
}

/// Least and most bytes that the last `missing` operands take.
fn missing_bytes(slots: &'static [Slot], present: &[Operand], missing: u16) -> (usize, usize) {
    // Where the count is missing itself, it was less than what is missing.
    let total = total_operands(slots, present, 0).max(present.len() + missing as usize);
    (total.saturating_sub(missing as usize)..total)
        .map(|i| present_slot(slots, present, i).map_or((1, 10), |s| size_range(&s.kind)))
        .fold((0, 0), |(a, b), (x, y)| (a + x, b + y))
}

/// Bytes an operand of this kind may take.
fn size_range(kind: &SlotKind) -> (usize, usize) {
    match kind {
        SlotKind::Exec | SlotKind::Surface { .. } | SlotKind::Sampler { .. } => (1, 1),
        SlotKind::Pred | SlotKind::Label(_) => (2, 2),
        SlotKind::Vector(_) => (3, 10),
        SlotKind::Raw { .. } => (6, 6),
        SlotKind::Str { width }
        | SlotKind::Field { width, .. }
        | SlotKind::Packed { width, .. }
        | SlotKind::Count { width, .. } => (*width as usize, *width as usize),
        SlotKind::Many(kind) | SlotKind::If { kind, .. } => size_range(kind),
    }
}

/// The version of all damaged files.
const DAMAGED: (u8, u8) = (4, 1);

/// Is a slot under a flag there? Unknown flags count as set.
fn is_present(slots: &[Slot], operands: &[Operand], slot: &Slot) -> bool {
    if !slot.is_in(DAMAGED) {
        return false;
    }
    match &slot.kind {
        SlotKind::If { slot: flag, bit, .. } => {
            debug_assert!((*flag as usize) < slots.len());
            operands.get(*flag as usize).and_then(|o| o.int()).is_none_or(|f| f >> bit & 1 != 0)
        }
        _ => true,
    }
}

/// The slot of the `i`th operand that has bytes.
fn present_slot(slots: &'static [Slot], operands: &[Operand], i: usize) -> Option<&'static Slot> {
    let mut there = slots.iter().filter(|s| is_present(slots, operands, s));
    there.nth(i).or_else(|| slots.last().filter(|s| matches!(s.kind, SlotKind::Many(_))))
}

/// How many operands with bytes an instruction has when complete, by the operands known so far; `assumed`
/// is the number of variadic ones as long as it is not known.
fn total_operands(slots: &'static [Slot], operands: &[Operand], assumed: usize) -> usize {
    let count = slots.iter().zip(operands).find_map(|(s, o)| match s.kind {
        SlotKind::Count { .. } => o.int(),
        _ => None,
    });
    slots
        .iter()
        .map(|s| match s.kind {
            SlotKind::Many(_) => count.map_or(assumed, |n| n as usize),
            _ => is_present(slots, operands, s) as usize,
        })
        .sum()
}

/// Follows a damaged sequence of instructions as long as it makes sense and `each` says so.
fn follow_damaged(
    bytes: &[u8],
    code: &Range<usize>,
    decoder: &Decoder,
    mut each: impl FnMut(RecoveredInst, &[Operand]) -> bool,
) {
    let mut cur = Cursor::new(&bytes[..code.end], code.start);
    let mut operands = Vec::new();
    while cur.left() > 0 {
        let start = cur.pos();
        operands.clear();
        let Ok(mut inst) = truncated_inst(&mut cur, decoder, &mut operands) else { return };
        inst.span = Span::new(start as u32, cur.pos() as u32);
        if !each(inst, &operands) {
            return;
        }
    }
}

/// One instruction without its last operands.
///
/// Where the number of variadic operands is less than that of the missing ones, it is missing itself: then
/// what follows must tell whether it is.
fn truncated_inst(
    cur: &mut Cursor,
    decoder: &Decoder,
    operands: &mut Vec<Operand>,
) -> Result<RecoveredInst, ReadError> {
    let start = *cur;
    let first = truncated_with(cur, decoder, operands, usize::MAX);
    let variadic = match &first {
        Ok(inst) => is_variadic(inst.op),
        // The opcode alone tells the row.
        Err(_) => decoder.rows(&mut start.clone()).is_ok_and(|rows| is_variadic(rows.decoding_row())),
    };
    if !variadic || (first.is_ok() && goes_on(*cur, decoder)) {
        return first;
    }
    for assumed in [1, 0] {
        let mut other = start;
        operands.clear();
        if let Ok(inst) = truncated_with(&mut other, decoder, operands, assumed)
            && goes_on(other, decoder)
        {
            *cur = other;
            return Ok(inst);
        }
    }
    *cur = start;
    operands.clear();
    truncated_with(cur, decoder, operands, usize::MAX)
}

fn is_variadic(op: Op) -> bool {
    matches!(op.desc().slots.last(), Some(Slot { kind: SlotKind::Many(_), .. }))
}

/// Does another instruction follow, or the end, or filler of zeros?
fn goes_on(mut cur: Cursor, decoder: &Decoder) -> bool {
    cur.left() == 0
        || cur.clone().u8("opcode").is_ok_and(|b| b == 0)
        || truncated_with(&mut cur, decoder, &mut Vec::new(), usize::MAX).is_ok()
}

/// [`truncated_inst`] on the assumption that there are so many variadic operands, or enough for the count
/// to be there (`usize::MAX`).
fn truncated_with(
    cur: &mut Cursor,
    decoder: &Decoder,
    operands: &mut Vec<Operand>,
    assumed: usize,
) -> Result<RecoveredInst, ReadError> {
    let rows = decoder.rows(cur)?;
    let desc = rows.decoding_row().desc();
    let slots = desc.slots;
    let missing = slots.iter().filter(|s| matches!(s.kind, SlotKind::Exec | SlotKind::Pred)).count();
    let assumed = assumed.min(missing);
    let mut written = 0;
    let mut index = 0;
    loop {
        let keep = total_operands(slots, operands, assumed).saturating_sub(missing);
        if written >= keep {
            break;
        }
        let Some(slot) = slots.get(index).or(slots.last()) else { break };
        let kind = match &slot.kind {
            _ if !is_present(slots, operands, slot) => {
                operands.push(Operand::Int(0));
                index += 1;
                continue;
            }
            SlotKind::If { kind, .. } | SlotKind::Many(kind) => kind,
            kind => kind,
        };
        let at = cur.pos();
        let operand = decoder.operand(cur, desc, slot, kind)?;
        operands.push(operand);
        written += 1;
        index += 1;
        if let (SlotKind::Count { max, .. }, Operand::Int(n)) = (kind, operand) {
            let keep = total_operands(slots, operands, assumed).saturating_sub(missing);
            if n > *max as u32 || written > keep {
                let problem = Problem::Value { found: n.into(), expected: "a legal number of operands" };
                return Err(ReadError::new(at, slot.name.as_str(), problem));
            }
        }
    }
    decoder.finish(cur.pos(), desc, operands)?;
    let chosen = rows.choose(operands);
    Ok(RecoveredInst {
        op: chosen.unwrap_or(rows.decoding_row()),
        alternatives: chosen.is_none(),
        len: operands.len() as u16,
        missing: missing.min(total_operands(slots, operands, assumed)) as u16,
        first: 0,
        span: Span::NONE,
    })
}

impl Recovered {
    /// The whole module, if nothing was damaged.
    pub fn complete(self) -> Option<Module> {
        let mut objects = Vec::with_capacity(self.objects.len());
        for o in self.objects {
            if o.stop != Stop::Complete {
                return None;
            }
            let insts =
                o.insts.iter().map(|i| Inst { op: i.op, len: i.len, first: i.first, span: i.span }).collect();
            objects.push(Object { insts, operands: o.operands, ..o.tables });
        }
        Some(Module { version: self.version, objects })
    }
}
