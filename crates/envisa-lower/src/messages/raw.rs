//! Raw sends: what a message is, by its descriptors.
//!
//! Descriptors that are immediates are decoded when the program is lowered; those in registers when the message is
//! sent. What they mean is in the hardware's public reference manuals (volumes "Shared Functions") and in the
//! decoders of the reference assembler.

use envisa_isa::{Operand, Platform, Type};

use super::Reason;
use super::{Atomic, Block, Extend, Message, Parts, Resolver, Simt, Space};
use crate::inst::{Shape, Src, Strides};
use crate::registers::RegOffset;

/// A message whose descriptors are known when it is sent.
#[derive(Clone, PartialEq, Debug)]
pub struct Raw {
    /// The shared function; `None`: the low four bits of the extended descriptor.
    pub function: Option<u8>,
    /// The descriptor: a scalar.
    pub descriptor: Src,
    /// The extended descriptor: a scalar.
    pub extended: Src,
    /// The extended descriptor where it is a field of the instruction.
    pub extended_field: u32,
    /// Registers, channels, device.
    pub shape: RawShape,
}

/// What a raw send's operands offer the message.
#[derive(Clone, PartialEq, Debug)]
pub struct RawShape {
    /// The payloads, which count as one after the other, and their bytes.
    pub payloads: [(Option<RegOffset>, u32); 2],
    /// The response and its bytes.
    pub response: (Option<RegOffset>, u32),
    /// Channels of the instruction.
    pub channels: u32,
    /// The device.
    pub platform: Platform,
}

/// What a raw send turned out to be.
#[derive(Clone, PartialEq, Debug)]
pub enum Decoded {
    /// This message.
    Message(Message),
    /// A fence.
    Fence,
    /// The thread is at the group's barrier, but does not wait.
    BarrierSignal,
}

/// The name of a shared function.
fn name(function: u8, platform: Platform) -> &'static str {
    let lsc = platform >= Platform::Dg2;
    match function {
        0x0 => "the null function",
        0x1 if lsc => "the load/store cache (UGML)",
        0x2 => "the sampler",
        0x3 => "the gateway",
        0x5 => "the render cache",
        0x6 => "the URB",
        0x7 => "the thread spawner",
        0x8 => "video motion estimation",
        0x9 => "data cache 2",
        0xa => "data cache 0",
        0xb => "the pixel interpolator",
        0xc => "data cache 1",
        0xd if lsc => "the load/store cache (TGM)",
        0xd => "check and refinement",
        0xe if lsc => "the load/store cache (SLM)",
        0xf if lsc => "the load/store cache (UGM)",
        _ => "no function of the device",
    }
}

/// Decodes a message of a shared function with these descriptors.
///
/// # Errors
/// A sentence that names function and descriptor, if the message is not one that is known here, or its descriptor
/// contradicts the instruction.
pub fn decode_raw(function: Option<u8>, ex: u32, desc: u32, shape: &RawShape) -> Result<Decoded, Reason> {
    let function = function.unwrap_or(ex as u8 & 15);
    let d = Descriptor { desc, ex, shape, grf: shape.platform.grf_bytes() };
    let lsc = shape.platform >= Platform::Dg2;
    let decoded = match function {
        0x1 | 0xf if lsc => d.decode_lsc(false),
        0xe if lsc => d.decode_lsc(true),
        // Knock-out gateways: of their messages, barriers.
        0x3 if desc & 7 == 4 => Ok(Decoded::BarrierSignal),
        0xa if shape.platform < Platform::Pvc => d.data_cache_0(),
        0xc if shape.platform < Platform::Pvc => d.data_cache_1(),
        _ => Err("messages of this function are not decoded".into()),
    };
    decoded.map_err(|why| {
        format!(
            "a message to {} (function {function:#x}) with the descriptor {desc:#010x}, extended {ex:#010x}: {why}",
            name(function, shape.platform)
        )
    })
}

struct Descriptor<'a> {
    desc: u32,
    ex: u32,
    shape: &'a RawShape,
    grf: u32,
}

/// Elements of an untyped message.
struct Elements {
    positions: u64,
    element: u8,
    slot: u8,
    upper: bool,
}

impl Descriptor<'_> {
    fn bits(&self, low: u32, n: u32) -> u32 {
        self.desc >> low & ((1 << n) - 1)
    }

    /// Where `bytes` bytes of the payload from register `number` on are.
    fn payload_offset(&self, number: u32, bytes: u32) -> Result<RegOffset, Reason> {
        let mut from = number.saturating_mul(self.grf);
        for (at, len) in self.shape.payloads {
            if from < len {
                let inside = bytes <= len - from;
                let at = at.ok_or("a payload is %null")?;
                return if inside {
                    Ok(at + from)
                } else {
                    Err("its payload is longer than the operand".into())
                };
            }
            from -= len;
        }
        Err(format!("its payload has no register {number}"))
    }

    /// Where the response is; `None` if nothing wants it.
    fn response_offset(&self, bytes: u32) -> Result<Option<RegOffset>, Reason> {
        match self.shape.response {
            (Some(at), len) if bytes <= len => Ok(Some(at)),
            (Some(_), len) => Err(format!("its response takes {bytes} bytes, the operand has {len}")),
            (None, _) => Ok(None),
        }
    }

    /// Bytes of as many rows, one of `lanes` elements, each at a register but the last one, which ends with its
    /// last element.
    fn rows(&self, rows: u32, lanes: u32, slot: u32) -> (u32, u32) {
        let stride = (lanes * slot).next_multiple_of(self.grf);
        (stride, stride * rows.saturating_sub(1) + self.shape.channels * slot)
    }

    fn registers(&self, lanes: u32, bytes: u32) -> u32 {
        (lanes * bytes).div_ceil(self.grf)
    }

    fn scalar(&self, number: u32, byte: u32, ty: Type) -> Result<Src, Reason> {
        let at = self.payload_offset(number, byte + ty.size())? + byte;
        Ok(Src::Reg {
            offset: at,
            ty,
            strides: Strides::SCALAR,
            shape: Shape::Scalar,
            modifier: envisa_isa::Modifier::None,
            constant: false,
        })
    }

    /// A gather or scatter, of `lanes` channels at most, whose addresses start at register `first`.
    fn decode_scattered(
        &self,
        (space, write): (Space, bool),
        (first, lanes, address_bytes): (u32, u32, u32),
        align: u8,
        e: Elements,
        offset: i64,
    ) -> Result<Decoded, Reason> {
        let n = self.shape.channels;
        if n > lanes {
            return Err(format!("it has {lanes} channels, the instruction {n}"));
        }
        let (stride, bytes) = self.rows(e.positions.count_ones(), lanes, e.slot as u32);
        let data = match write {
            true => Some(self.payload_offset(first + self.registers(lanes, address_bytes), bytes)?),
            false => self.response_offset(bytes)?,
        };
        Ok(Decoded::Message(Message::Simt(Simt {
            space,
            write,
            address: self.payload_offset(first, n * address_bytes)?,
            address_bytes: address_bytes as u8,
            offset,
            align,
            element: e.element,
            slot: e.slot,
            upper: e.upper,
            elements: e.positions,
            data,
            component_stride: stride,
            ..Simt::default()
        })))
    }

    /// A load or store of consecutive bytes.
    fn decode_block(
        &self,
        (space, write): (Space, bool),
        (address, scale, offset, align): (Src, u32, i64, u32),
        (bytes, data): (u32, u32),
        masked: bool,
    ) -> Result<Decoded, Reason> {
        let wraps = !matches!(address, Src::Reg { ty: Type::Uq, .. });
        Ok(Decoded::Message(Message::Block(Block {
            space,
            write,
            address,
            scale,
            offset,
            origin: Src::None,
            wraps: wraps && masked,
            align,
            bytes,
            data: if write { Some(self.payload_offset(data, bytes)?) } else { self.response_offset(bytes)? },
            masked,
        })))
    }

    // The load/store cache.

    fn decode_lsc(&self, slm: bool) -> Result<Decoded, Reason> {
        let op = self.bits(0, 6);
        if op == 0x1f {
            return Ok(Decoded::Fence);
        }
        if let 3 | 7 = op {
            return self.lsc_block2d(op == 7);
        }
        let address_bytes = match self.bits(7, 2) {
            1 => 2,
            2 => 4,
            3 => 8,
            _ => return Err("the code of its address size is not defined".into()),
        };
        let (element, slot, upper) = match self.bits(9, 3) {
            0 => (1, 1, false),
            1 => (2, 2, false),
            2 => (4, 4, false),
            3 => (8, 8, false),
            4 => (1, 4, false),
            5 => (2, 4, false),
            6 => (2, 4, true),
            _ => return Err("the code of its data size is not defined".into()),
        };
        let (space, offset) = self.lsc_space(slm)?;
        let quad = matches!(op, 2 | 6);
        let transposed = !quad && self.bits(15, 1) != 0;
        let positions = match quad {
            true => self.bits(12, 4) as u64,
            false => u64::MAX >> (64 - [1, 2, 3, 4, 8, 16, 32, 64][self.bits(12, 3) as usize]),
        };
        if positions == 0 {
            return Err("no channel is enabled".into());
        }
        let n = self.shape.channels;
        let e = Elements { positions, element, slot, upper };
        match op {
            0 | 2 | 4 | 6 if transposed => {
                if n != 1 {
                    return Err("a transposed message has one channel".into());
                }
                if slot < 4 || upper || slot != element {
                    return Err("transposed elements have 32 or 64 bits".into());
                }
                let ty = [Type::Uw, Type::Ud, Type::Uq][address_bytes as usize / 4];
                let bytes = positions.count_ones() * element as u32;
                let at = (self.scalar(0, 0, ty)?, 1, offset, 1);
                self.decode_block((space, op & 4 != 0), at, (bytes, 1), true)
            }
            0 | 2 | 4 | 6 if slot < 4 => Err("elements take 32 or 64 bits in registers".into()),
            0 | 2 => self.decode_scattered((space, false), (0, n, address_bytes), 1, e, offset),
            4 | 6 => self.decode_scattered((space, true), (0, n, address_bytes), 1, e, offset),
            0x08..=0x1a if positions == 1 && element > 1 && slot > 2 && !upper => {
                let (_, bytes) = self.rows(1, n, slot as u32);
                let data = self.registers(n, address_bytes);
                let sources = match op {
                    // Increment, decrement and load have none, compare-and-swap has two.
                    0x08..=0x0a => 0,
                    0x12 | 0x17 => 2,
                    _ => 1,
                };
                let mut src = [None; 2];
                for (k, s) in src.iter_mut().enumerate().take(sources) {
                    *s = Some(self.payload_offset(data + k as u32 * self.registers(n, slot as u32), bytes)?);
                }
                Ok(Decoded::Message(Message::Atomic(Atomic {
                    space,
                    code: op as u8,
                    lsc: true,
                    element,
                    slot,
                    address: self.payload_offset(0, n * address_bytes)?,
                    address_bytes: address_bytes as u8,
                    extend: Extend::None,
                    base: Src::None,
                    scale: 1,
                    offset,
                    origin: Src::None,
                    src,
                    dst: if self.bits(20, 5) == 0 { None } else { self.response_offset(bytes)? },
                })))
            }
            _ => Err("its operation is not known here".into()),
        }
    }

    /// The memory that an LSC message goes to, and the constant that is added to addresses.
    fn lsc_space(&self, slm: bool) -> Result<(Space, i64), Reason> {
        // Constants in the extended descriptor are Xe2's.
        let constants = self.shape.platform >= Platform::Xe2;
        let constant = |low: u32, n: u32| match constants {
            true => ((self.ex << (32 - low - n)) as i32 >> (32 - n)) as i64,
            false => 0,
        };
        Ok(match self.bits(29, 2) {
            0 if slm => (Space::Slm, constant(12, 20)),
            0 => (Space::Flat, constant(12, 20)),
            _ if slm => return Err("shared local memory has flat addresses".into()),
            1 => (Space::Handle(self.ex & !0x3f), 0),
            3 => (Space::Table(self.ex >> 24), constant(12, 12)),
            _ => return Err("scratch surfaces of raw messages are not known here".into()),
        })
    }

    /// A 2D block: the payload has the surface, x, y, and the block's shape.
    fn lsc_block2d(&self, write: bool) -> Result<Decoded, Reason> {
        if self.bits(29, 2) != 0 {
            return Err("a 2D block of a surface".into());
        }
        let element = match self.bits(9, 3) {
            n @ 0..=3 => 1u32 << n,
            _ => return Err("the code of its data size is not defined".into()),
        };
        Err(format!(
            "the shape of a 2D block (of {element}-byte elements; {}) is in its payload",
            if write { "a store" } else { "a load" }
        ))
    }

    // Data caches.

    /// The space of a legacy message's binding-table index.
    fn surface(&self) -> Space {
        match self.bits(0, 8) {
            0xfe => Space::Slm,
            0xfd | 0xff => Space::GeneralState,
            bti => Space::Table(bti),
        }
    }

    fn header_registers(&self) -> u32 {
        self.bits(19, 1)
    }

    fn oword_count(&self) -> Result<u32, Reason> {
        match self.bits(8, 3) {
            0 => Ok(16),
            1 => Err("the upper half of a register".into()),
            n @ 2..=5 => Ok(16 << (n - 1)),
            _ => Err("the code of its number of owords is not defined".into()),
        }
    }

    fn needs_header(&self) -> Result<(), Reason> {
        if self.header_registers() == 0 { Err("it has no header".into()) } else { Ok(()) }
    }

    fn data_cache_0(&self) -> Result<Decoded, Reason> {
        let kind = self.bits(14, 5);
        let bytes = |write: bool| {
            let element = match self.bits(10, 2) {
                n @ 0..=2 => 1u8 << n,
                _ => return Err("the code of its data size is not defined".to_owned()),
            };
            let lanes = if self.bits(8, 1) == 0 { 8 } else { 16 };
            let e = Elements { positions: 1, element, slot: 4, upper: false };
            self.decode_scattered((self.surface(), write), (self.header_registers(), lanes, 4), 1, e, 0)
        };
        match kind {
            // Owords at an offset in owords, or in bytes.
            0x00 | 0x01 | 0x08 => {
                self.needs_header()?;
                let scale = if kind == 1 { 1 } else { 16 };
                let at = (self.scalar(0, 8, Type::Ud)?, scale, 0, 4);
                self.decode_block((self.surface(), kind == 8), at, (self.oword_count()?, 1), false)
            }
            0x04 => bytes(false),
            0x0c => bytes(true),
            0x07 => Ok(Decoded::Fence),
            _ => Err("its type is not known here".into()),
        }
    }

    fn data_cache_1(&self) -> Result<Decoded, Reason> {
        let kind = self.bits(14, 5);
        let untyped = |write: bool, address: u32| {
            let lanes = match self.bits(12, 2) {
                1 => 16,
                2 => 8,
                _ => return Err("the code of its number of channels is not defined".to_owned()),
            };
            let positions = !self.bits(8, 4) as u64 & 15;
            if positions == 0 {
                return Err("no channel is enabled".to_owned());
            }
            let space = if address == 8 { Space::Flat } else { self.surface() };
            let e = Elements { positions, element: 4, slot: 4, upper: false };
            self.decode_scattered((space, write), (self.header_registers(), lanes, address), 4, e, 0)
        };
        let blocks = |write: bool| {
            let count = 1u32 << self.bits(10, 2);
            let lanes = if self.bits(12, 1) == 0 { 8 } else { 16 };
            let (positions, element, align) = match self.bits(8, 2) {
                // Bytes: one element of up to four.
                0 if count <= 4 => (1, count as u8, 1),
                1 => ((1u64 << count) - 1, 4, 4),
                2 => ((1u64 << count) - 1, 8, 8),
                _ => return Err("the code of its data size is not defined".to_owned()),
            };
            let e = Elements { positions, element, slot: element.max(4), upper: false };
            self.decode_scattered((Space::Flat, write), (self.header_registers(), lanes, 8), align, e, 0)
        };
        match kind {
            0x01 => untyped(false, 4),
            0x09 => untyped(true, 4),
            0x11 => untyped(false, 8),
            0x19 => untyped(true, 8),
            0x10 => blocks(false),
            0x1a => blocks(true),
            0x02 => self.atomic(self.surface(), 4, if self.bits(12, 1) == 0 { 16 } else { 8 }, 4),
            0x12 => self.atomic(Space::Flat, 8, 8, if self.bits(12, 1) == 0 { 4 } else { 8 }),
            0x14 | 0x15 if self.bits(11, 2) == 0 => {
                self.needs_header()?;
                let at = (self.scalar(0, 0, Type::Uq)?, 1, 0, 4);
                self.decode_block((Space::Flat, kind == 0x15), at, (self.oword_count()?, 1), false)
            }
            _ => Err("its type is not known here".into()),
        }
    }

    /// An atomic of the data cache; operators are numbered otherwise than vISA's.
    fn atomic(&self, space: Space, address: u32, lanes: u32, element: u8) -> Result<Decoded, Reason> {
        let n = self.shape.channels;
        if n > lanes {
            return Err(format!("it has {lanes} channels, the instruction {n}"));
        }
        let (code, sources) = match self.bits(8, 4) {
            0x1 => (8, 1),
            0x2 => (9, 1),
            0x3 => (10, 1),
            0x4 => (6, 1),
            0x5 => (2, 0),
            0x6 => (3, 0),
            0x7 => (0, 1),
            0x8 => (1, 1),
            0xa => (12, 1),
            0xb => (11, 1),
            0xc => (5, 1),
            0xd => (4, 1),
            0xe => (7, 2),
            0xf => (13, 0),
            _ => return Err("its operator is not known here".into()),
        };
        let first = self.header_registers();
        let data = first + self.registers(lanes, address);
        let bytes = n * element as u32;
        let mut src = [None; 2];
        for (k, s) in src.iter_mut().enumerate().take(sources) {
            *s = Some(self.payload_offset(data + k as u32 * self.registers(lanes, element as u32), bytes)?);
        }
        Ok(Decoded::Message(Message::Atomic(Atomic {
            space,
            code,
            lsc: false,
            element,
            slot: element,
            address: self.payload_offset(first, n * address)?,
            address_bytes: address as u8,
            extend: Extend::None,
            base: Src::None,
            scale: 1,
            offset: 0,
            origin: Src::None,
            src,
            dst: if self.bits(13, 1) == 0 { None } else { self.response_offset(bytes)? },
        })))
    }
}

/// A send's descriptor where it is an immediate.
fn immediate(op: Operand) -> Option<u32> {
    match op {
        Operand::Imm { bits, .. } => Some(bits as u32),
        _ => None,
    }
}

/// A raw send: what it is, if its descriptors are immediates.
pub(crate) fn decode_send(
    two: bool,
    p: &Parts,
    r: &mut dyn Resolver,
) -> Result<Result<Decoded, Raw>, Reason> {
    // RAW_SEND: modifiers, ex_desc, num_src, num_dst; RAW_SENDS: modifiers, num_src0, num_src1, num_dst, ffid.
    if p.int(0)? & 2 != 0 {
        return Err("raw messages that end the thread are not decoded".into());
    }
    let payload = |r: &mut dyn Resolver, i: usize| -> Result<(Option<RegOffset>, u32), Reason> {
        let raw = p.raw(i)?;
        Ok((r.raw(raw)?, raw.bytes()?))
    };
    let first = payload(r, 0)?;
    let second = if two { payload(r, 1)? } else { (None, 0) };
    let response = payload(r, if two { 2 } else { 1 })?;
    let shape =
        RawShape { payloads: [first, second], response, channels: p.channels, platform: r.platform() };
    let function = if two { Some(p.int(4)? as u8).filter(|f| *f != 0) } else { None };
    let field = if two { 0 } else { p.int(1)? };
    let desc = p.vector(if two { 1 } else { 0 })?;
    let ex = if two { immediate(p.vector(0)?) } else { Some(field) };
    if let (Some(desc), Some(ex)) = (immediate(desc), ex) {
        return decode_raw(function, ex, desc, &shape).map(Ok);
    }
    let extended = if two { r.scalar(p.vector(0)?)? } else { Src::None };
    Ok(Err(Raw { function, descriptor: r.scalar(desc)?, extended, extended_field: field, shape }))
}
