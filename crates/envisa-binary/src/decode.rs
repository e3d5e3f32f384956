//! Instructions: from bytes to operands, by the slots of the row.

use crate::cursor::Cursor;
use crate::error::{Problem, ReadError};
use crate::opcodes::{Entry, Opcodes, Rows};
use envisa_isa::desc::{Enc, HANDLE_FOLLOWS, InstDesc, Slot, SlotKind};
use envisa_isa::operation::{Message, Operation};
use envisa_isa::{
    Exec, ExecMask, HANDLES_SINCE, Limits, Modifier, Object, Op, Operand, Platforms, Pred, Region, SlotName,
    StateClass, Type,
};

type Result<T> = std::result::Result<T, ReadError>;

/// How the layout depends on the format version.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    version: (u8, u8),
}

impl Layout {
    pub fn of(version: (u8, u8)) -> Layout {
        Layout { version }
    }

    pub fn version(self) -> (u8, u8) {
        self.version
    }

    /// The layout of 4.0 and later, without any exception.
    #[inline]
    pub fn is_current(self) -> bool {
        self.version >= (4, 0)
    }

    /// Names in the file's header have a length of 16 bits (before: 8).
    pub fn wide_name_length(self) -> bool {
        self.version >= (3, 7)
    }

    /// Variables and strings have indices of 32 bits (before: 16).
    #[inline]
    pub fn wide_ids(self) -> bool {
        self.version >= (3, 4)
    }

    /// The number of inputs has 32 bits (before: 8).
    pub fn wide_inputs(self) -> bool {
        self.version >= (3, 5)
    }

    /// An index of a variable or string.
    #[inline]
    pub fn id(self, cur: &mut Cursor, what: &'static str) -> Result<u32> {
        if self.wide_ids() { cur.u32(what) } else { cur.u16(what).map(u32::from) }
    }

    /// The mask of an execution size; 3.0 numbers them otherwise.
    fn mask(self, code: u8) -> Option<ExecMask> {
        if self.version > (3, 0) {
            return Some(ExecMask(code));
        }
        match code {
            0..=8 => Some(ExecMask(code)),
            9 => Some(ExecMask::M1),
            _ => None,
        }
    }
}

/// Decodes the instructions of one object.
pub(crate) struct Decoder<'a> {
    pub layout: Layout,
    pub limits: Limits,
    pub opcodes: &'static Opcodes,
    /// Bytes of a register, if known, for the addresses of variables.
    grf_bytes: Option<u32>,
    /// Is the file read for whatever can be had of it?
    pub recovering: bool,
    /// Whose tables say what types variables have.
    pub object: &'a Object,
}

#[cold]
fn value<T>(offset: usize, what: &str, found: u64, expected: &'static str) -> Result<T> {
    Err(ReadError::new(offset, what, Problem::Value { found, expected }))
}

impl<'a> Decoder<'a> {
    pub fn new(object: &'a Object, version: (u8, u8), grf_bytes: Option<u32>) -> Decoder<'a> {
        Decoder {
            layout: Layout::of(version),
            limits: Limits::of(object, version),
            opcodes: Opcodes::of(version),
            grf_bytes,
            recovering: false,
            object,
        }
    }

    /// The rows for the opcode (and sub-opcode) at the cursor.
    #[inline]
    pub fn rows(&self, cur: &mut Cursor) -> Result<&'static Rows> {
        let at = cur.pos();
        let opcode = cur.u8("opcode")?;
        match self.opcodes.get(opcode) {
            Entry::Plain(rows) => Ok(rows),
            Entry::Family(subs) => {
                let mut sub = cur.u8("sub-opcode")?;
                if self.flags_in_sub(opcode) {
                    sub &= 0x1f;
                }
                match &subs[sub as usize] {
                    Some(rows) => Ok(rows),
                    None => Err(ReadError::new(at, "opcode", Problem::Opcode(opcode, Some(sub)))),
                }
            }
            Entry::None => Err(ReadError::new(at, "opcode", Problem::Opcode(opcode, None))),
        }
    }

    /// Before 4.0, the sampler messages' sub-opcode shared its byte with their flags, which were its
    /// upper bits.
    #[inline]
    fn flags_in_sub(&self, opcode: u8) -> bool {
        !self.layout.is_current()
            && [Op::Sample3d, Op::Load3d, Op::Sample43d].iter().any(|op| op.desc().opcode == opcode)
    }

    /// One instruction: appends its operands and gives its row.
    #[inline]
    pub fn inst(&self, cur: &mut Cursor, operands: &mut Vec<Operand>) -> Result<Op> {
        let at = cur.pos();
        let rows = self.rows(cur)?;
        let desc = rows.decoding_row().desc();
        let first = operands.len();
        self.operands(cur, desc, operands).map_err(|e| e.within(desc.name))?;
        let Some(op) = rows.choose(&operands[first..]) else {
            return value(
                at,
                desc.name,
                desc.opcode as u64,
                "the opcode of an instruction with these fields",
            );
        };
        self.finish(at, op.desc(), &mut operands[first..])?;
        Ok(op)
    }

    fn operands(&self, cur: &mut Cursor, desc: &'static InstDesc, operands: &mut Vec<Operand>) -> Result<()> {
        if !self.layout.is_current() && self.old_typed(cur, desc, operands)? {
            return Ok(());
        }
        let first = operands.len();
        let mut count = 0;
        for slot in desc.slots {
            if !slot.is_in(self.layout.version) {
                operands.push(Operand::Int(0));
                continue;
            }
            match &slot.kind {
                SlotKind::Many(kind) => {
                    for _ in 0..count {
                        operands.push(self.operand(cur, desc, slot, kind)?);
                    }
                }
                SlotKind::If { slot: flag, bit, kind } => {
                    let flags = operands[first + *flag as usize].int().unwrap_or(0);
                    operands.push(if flags >> bit & 1 == 0 {
                        Operand::Int(0)
                    } else {
                        self.operand(cur, desc, slot, kind)?
                    });
                }
                SlotKind::Count { width, min, max } => {
                    let at = cur.pos();
                    count = cur.uint(*width, slot.name.as_str())?;
                    if count < *min as u32 || count > *max as u32 {
                        return value(at, slot.name.as_str(), count as u64, "a legal number of operands");
                    }
                    operands.push(Operand::Int(count));
                }
                kind => operands.push(self.operand(cur, desc, slot, kind)?),
            }
        }
        Ok(())
    }

    /// The operand of a slot (not `If`, `Many`), sound.
    #[inline]
    pub fn operand(
        &self,
        cur: &mut Cursor,
        desc: &InstDesc,
        slot: &'static Slot,
        kind: &SlotKind,
    ) -> Result<Operand> {
        let at = cur.pos();
        if !self.layout.is_current()
            && let Some(operand) = self.old_operand(cur, desc, slot)?
        {
            return self.sound(at, slot, kind, operand);
        }
        let operand = self.current_operand(cur, slot, kind)?;
        self.sound(at, slot, kind, operand)
    }

    #[inline]
    fn sound(&self, at: usize, slot: &Slot, kind: &SlotKind, operand: Operand) -> Result<Operand> {
        match self.limits.check(kind, &operand) {
            Ok(()) => Ok(operand),
            Err(fault) => Err(ReadError::new(at, slot.name.as_str(), Problem::Unsound(fault))),
        }
    }

    #[inline]
    fn current_operand(&self, cur: &mut Cursor, slot: &'static Slot, kind: &SlotKind) -> Result<Operand> {
        let name = slot.name.as_str();
        Ok(match kind {
            SlotKind::Exec => {
                let at = cur.pos();
                let byte = cur.u8(name)?;
                let Some(mask) = self.layout.mask(byte >> 4) else {
                    return value(at, name, byte as u64 >> 4, "a mask of version 3.0 (at most 9)");
                };
                Operand::Exec(Exec { log2: byte & 15, mask })
            }
            SlotKind::Pred => Operand::Pred(predicate(cur, name)?),
            SlotKind::Vector(_) => self.vector(cur, name)?,
            SlotKind::Raw { .. } => {
                let var = self.layout.id(cur, name)?;
                Operand::Raw { var, offset: cur.u16(name)? }
            }
            SlotKind::Surface { allowed } => match self.handle(cur, name, allowed.address)? {
                Ok(id) => Operand::Surface(id),
                Err(handle) => handle,
            },
            SlotKind::Sampler { address } => match self.handle(cur, name, *address)? {
                Ok(id) => Operand::Sampler(id),
                Err(handle) => handle,
            },
            SlotKind::Label(_) => Operand::Label(cur.u16(name)?),
            SlotKind::Str { width } => Operand::Str(cur.uint(*width, name)?),
            SlotKind::Field { width, enc } => {
                let at = cur.pos();
                let mut n = cur.uint(*width, name)?;
                if matches!(enc, Enc::ExecLike(_)) {
                    let Some(mask) = self.layout.mask((n >> 4) as u8 & 15) else {
                        return value(at, name, n as u64 >> 4, "a mask of version 3.0 (at most 9)");
                    };
                    n = n & 15 | (mask.0 as u32) << 4;
                }
                Operand::Int(n)
            }
            SlotKind::Packed { width, .. } | SlotKind::Count { width, .. } => {
                Operand::Int(cur.uint(*width, name)?)
            }
            SlotKind::Many(kind) | SlotKind::If { kind, .. } => self.current_operand(cur, slot, kind)?,
        })
    }

    /// A surface or sampler: its number, or else the operand that holds its state's address.
    #[inline]
    fn handle(
        &self,
        cur: &mut Cursor,
        name: &'static str,
        address: Platforms,
    ) -> Result<std::result::Result<u8, Operand>> {
        let id = cur.u8(name)?;
        if id != HANDLE_FOLLOWS || address == Platforms::NONE || self.layout.version < HANDLES_SINCE {
            return Ok(Ok(id));
        }
        let at = cur.pos();
        let operand = self.vector(cur, name)?;
        let index = cur.u32(name)?;
        match operand {
            Operand::General { var, row, col, region: Region::SCALAR, modifier: Modifier::None } => {
                Ok(Err(Operand::Handle { var, row, col, index }))
            }
            _ => value(
                at,
                name,
                HANDLE_FOLLOWS.into(),
                "the number of a surface or sampler, or the byte before a scalar general operand",
            ),
        }
    }

    #[inline]
    fn vector(&self, cur: &mut Cursor, name: &'static str) -> Result<Operand> {
        let at = cur.pos();
        let tag = cur.u8(name)?;
        let modifier = match Modifier::from_code(tag >> 3) {
            Some(m) => m,
            None => return value(at, name, tag as u64, "an operand's tag: the modifier is at most 5"),
        };
        let operand = match tag & 7 {
            0 => {
                let var = self.layout.id(cur, name)?;
                let row = cur.u8(name)?;
                let col = cur.u8(name)?;
                return Ok(Operand::General { var, row, col, region: Region(cur.u16(name)?), modifier });
            }
            1 => {
                let id = cur.u16(name)?;
                let offset = cur.u8(name)?;
                return Ok(Operand::Address { id, offset, width_log2: cur.u8(name)?, modifier });
            }
            2 => Operand::Predicate(predicate(cur, name)?),
            3 => {
                let addr = cur.u16(name)?;
                let offset = cur.u8(name)?;
                let byte_offset = cur.u16(name)? as i16;
                let ty = element_type(cur, name)?;
                let region = Region(cur.u16(name)?);
                return Ok(Operand::Indirect { addr, offset, byte_offset, ty, region, modifier });
            }
            5 => {
                let ty = element_type(cur, name)?;
                let bits = match ty {
                    Type::Df | Type::Q | Type::Uq => cur.u64(name)?,
                    _ => cur.u32(name)? as u64,
                };
                Operand::Imm { ty, bits }
            }
            6 => {
                let at = cur.pos();
                let class = match cur.u8(name)? {
                    0 => StateClass::Surface,
                    1 => StateClass::Sampler,
                    n => return value(at, name, n as u64, "a surface (0) or a sampler (1)"),
                };
                let id = cur.u16(name)?;
                Operand::State { class, id, offset: cur.u8(name)? }
            }
            n => return value(at, name, n as u64, "an operand class (0 to 3, 5, 6)"),
        };
        if modifier != Modifier::None {
            return value(at, name, tag as u64, "the tag of an operand that takes no modifier");
        }
        Ok(operand)
    }

    /// What can be told only once the operands of the instruction at this offset are read.
    #[inline]
    pub fn finish(&self, at: usize, desc: &InstDesc, operands: &mut [Operand]) -> Result<()> {
        if desc.operation == Some(Operation::AddressAdd) {
            return self.address_of(at, desc, operands);
        }
        Ok(())
    }

    /// The first source of `addr_add` is the address of a variable, which is written as if it were one.
    #[cold]
    fn address_of(&self, at: usize, desc: &InstDesc, operands: &mut [Operand]) -> Result<()> {
        let Some(i) = desc.slots.iter().position(
            |s| matches!(s.kind, SlotKind::Vector(c) if c.has(envisa_isa::desc::Classes::ADDRESS_OF)),
        ) else {
            return Ok(());
        };
        if let Operand::General { var, row, col, region: Region::SCALAR, modifier: Modifier::None } =
            operands[i]
        {
            let Some(grf) = self.grf_bytes.or((row == 0).then_some(0)) else {
                // What is recovered shows the register and the element as they are written.
                if self.recovering {
                    return Ok(());
                }
                return Err(ReadError::new(at, desc.slots[i].name.as_str(), Problem::RegisterSize));
            };
            let size = self.object.var_shape(var, grf).map_or(1, |(ty, _)| ty.size());
            if let Ok(offset) = u16::try_from(row as u32 * grf + col as u32 * size) {
                operands[i] = Operand::AddressOf { var, offset };
            }
        }
        Ok(())
    }

    /// Slots that older versions encode otherwise or lack.
    #[cold]
    fn old_operand(&self, cur: &mut Cursor, desc: &InstDesc, slot: &'static Slot) -> Result<Option<Operand>> {
        let version = self.layout.version;
        let name = slot.name.as_str();
        let is = |op: Op| desc.opcode == op.desc().opcode;
        let sampler = is(Op::Sample3d) || is(Op::Load3d) || is(Op::Sample43d);
        Ok(match &slot.kind {
            // WAIT had no operand; its mask is zero then.
            SlotKind::Vector(_) if is(Op::Wait) && version < (3, 1) => {
                Some(Operand::Imm { ty: Type::Uw, bits: 0 })
            }
            // RAW_SENDS had no function id.
            SlotKind::Field { .. }
                if is(Op::RawSends) && slot.name == SlotName::Ffid && version <= (3, 5) =>
            {
                Some(Operand::Int(0))
            }
            // FILE and LIFETIME had 16-bit indices.
            SlotKind::Str { .. } if is(Op::File) && !self.layout.wide_ids() => {
                Some(Operand::Str(cur.u16(name)?.into()))
            }
            SlotKind::Field { width: 4, .. } if is(Op::Lifetime) && !self.layout.wide_ids() => {
                Some(Operand::Int(cur.u16(name)?.into()))
            }
            // The sampler messages' flags were in the sub-opcode's byte, which was the last one read.
            SlotKind::Packed { .. } if sampler && std::ptr::eq(slot, &desc.slots[0]) => {
                Some(Operand::Int((cur.last() >> 5).into()))
            }
            // The sampler messages' immediate offsets were a plain word.
            SlotKind::Vector(_) if sampler && !self.layout.wide_ids() => {
                Some(Operand::Imm { ty: Type::Uw, bits: cur.u16(name)?.into() })
            }
            _ => None,
        })
    }

    /// Before 3.2, the typed messages had another order, an inverted channel mask, no predicate and no
    /// level of detail: `channels exec surface u v r dst`.
    #[cold]
    fn old_typed(
        &self,
        cur: &mut Cursor,
        desc: &'static InstDesc,
        operands: &mut Vec<Operand>,
    ) -> Result<bool> {
        if self.layout.version >= (3, 2)
            || !matches!(desc.operation, Some(Operation::Message(Message::Texels(_))))
        {
            return Ok(false);
        }
        let slot = |name: SlotName| desc.slots.iter().find(|s| s.name == name);
        let channels = cur.u8("channels")?;
        let at = cur.pos();
        let exec = cur.u8("exec")?;
        let mask = self.layout.mask(exec >> 4);
        let (0, Some(mask)) = (exec & 15, mask) else {
            return value(at, "exec", exec as u64, "8 elements (code 0) and a mask");
        };
        for s in desc.slots {
            let operand = match s.kind {
                SlotKind::Exec => Operand::Exec(Exec { log2: 3, mask }),
                SlotKind::Pred => Operand::Pred(Pred::NONE),
                SlotKind::Field { enc: Enc::Channels, .. } => Operand::Int(!channels as u32 & 15),
                _ if slot(SlotName::Lod).is_some_and(|lod| std::ptr::eq(lod, s)) => Operand::RAW_NULL,
                _ => self.current_operand(cur, s, &s.kind)?,
            };
            let operand = self.sound(cur.pos(), s, &s.kind, operand)?;
            operands.push(operand);
        }
        Ok(true)
    }
}

fn predicate(cur: &mut Cursor, name: &'static str) -> Result<Pred> {
    let at = cur.pos();
    let word = cur.u16(name)?;
    match Pred::from_word(word) {
        Some(p) => Ok(p),
        None => value(at, name, word as u64, "a predicate: bit 12 is clear, bits 13 and 14 are not both set"),
    }
}

fn element_type(cur: &mut Cursor, name: &'static str) -> Result<Type> {
    let at = cur.pos();
    let code = cur.u8(name)?;
    match Type::from_code(code) {
        Some(t) => Ok(t),
        None => value(at, name, code as u64, "a data type (0 to 15)"),
    }
}
