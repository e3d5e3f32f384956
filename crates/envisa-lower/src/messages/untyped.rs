//! Gathers, scatters and blocks of bytes: SVM, data port and LSC.

use envisa_isa::lsc::{self, addr_type};
use envisa_isa::operation::{Access, LscShape};
use envisa_isa::{Operand, Type, predefined};

use super::Reason;
use super::{Extend, Message, Parts, Register, Resolver, Space};
use crate::inst::Src;
use crate::registers::RegOffset;

/// Each channel reads or writes elements at its own address.
#[derive(Clone, PartialEq, Debug)]
pub struct Simt {
    /// Which memory.
    pub space: Space,
    /// A store (else a load).
    pub write: bool,
    /// First channel's address; then one after another.
    pub address: RegOffset,
    /// Bytes of an address: 2, 4 or 8.
    pub address_bytes: u8,
    /// How 4-byte addresses become 64-bit ones, before anything is added.
    pub extend: Extend,
    /// If present, there is one address, and channel `i` accesses what lies `i` times this further.
    pub stride: Src,
    /// Added to every address, before scaling.
    pub base: Src,
    /// Factor of the sum.
    pub scale: u32,
    /// Added after scaling. Sums of 2- and 4-byte addresses are of 32 bits, unless they are extended.
    pub offset: i64,
    /// A scalar added after scaling.
    pub origin: Src,
    /// Each channel's address must be a multiple of this.
    pub align: u8,
    /// Bytes of an element in memory: 1, 2, 4 or 8.
    pub element: u8,
    /// Bytes an element takes in the register.
    pub slot: u8,
    /// The element is in the upper half of its slot.
    pub upper: bool,
    /// Elements moved, as a bit set of their positions in memory; they are consecutive in the register.
    pub elements: u64,
    /// Data; `None`: nothing is read (a prefetch) or written.
    pub data: Option<RegOffset>,
    /// Bytes from an element's first channel to the next element's first channel.
    pub component_stride: u32,
}

impl Simt {
    /// Are there two dwords a channel that lie side by side in the register, as in memory? Bounds are those of dwords,
    /// which is how it differs from one quad.
    pub fn is_paired(&self) -> bool {
        (self.elements, self.element, self.slot, self.component_stride) == (0b11, 4, 8, 4)
            && !self.upper
            && self.stride == Src::None
    }
}

/// A load of a dword a channel at 64-bit addresses, without any data.
impl Default for Simt {
    fn default() -> Simt {
        Simt {
            space: Space::Flat,
            write: false,
            address: 0,
            address_bytes: 8,
            extend: Extend::None,
            stride: Src::None,
            base: Src::None,
            scale: 1,
            offset: 0,
            origin: Src::None,
            align: 1,
            element: 4,
            slot: 4,
            upper: false,
            elements: 1,
            data: None,
            component_stride: 0,
        }
    }
}

/// Consecutive bytes at one address.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// Which memory.
    pub space: Space,
    /// A store (else a load).
    pub write: bool,
    /// The address: a scalar.
    pub address: Src,
    /// Factor of the address, before adding.
    pub scale: u32,
    /// Added to the address.
    pub offset: i64,
    /// Added to the address, unscaled.
    pub origin: Src,
    /// The sum is of 32 bits.
    pub wraps: bool,
    /// The address must be a multiple of this.
    pub align: u32,
    /// Bytes.
    pub bytes: u32,
    /// Data; `None`: nothing is kept.
    pub data: Option<RegOffset>,
    /// It happens only if a channel is active (LSC; the others ignore the mask).
    pub masked: bool,
}

/// The offset of a register that a message cannot do without.
pub(super) fn required_offset(
    r: &mut dyn Resolver,
    register: Register,
    what: &str,
) -> Result<RegOffset, Reason> {
    r.raw(register)?.ok_or_else(|| format!("its {what} are %null"))
}

/// Data that is read into a register, which may be `%null`, or written from one.
pub(super) fn payload_offset(
    r: &mut dyn Resolver,
    register: Register,
    write: bool,
) -> Result<Option<RegOffset>, Reason> {
    if write { required_offset(r, register, "data").map(Some) } else { r.raw(register) }
}

fn width(code: u32) -> Result<u32, Reason> {
    match code {
        0..=2 => Ok(1 << code),
        _ => Err(format!("the element size code {code} is not defined")),
    }
}

/// OWORD_LD, OWORD_ST, OWORD_LD_UNALIGNED: the offset counts units of `unit` bytes.
pub(super) fn lower_oword_block(
    access: Access,
    unit: u32,
    p: &Parts,
    r: &mut dyn Resolver,
) -> Result<Message, Reason> {
    let write = access.is_store();
    Ok(Message::Block(Block {
        space: p.space(r)?,
        write,
        address: r.scalar(p.vector(0)?)?,
        scale: unit,
        offset: 0,
        origin: Src::None,
        wraps: false,
        align: 4,
        bytes: p.raw(0)?.bytes()?,
        data: payload_offset(r, p.raw(0)?, write)?,
        masked: false,
    }))
}

/// What the messages of the data port have in common that move up to four dwords a channel.
struct Scattered {
    /// Factor of the sum of global offset and offset.
    scale: u32,
    align: u8,
    /// Bytes of an element in memory.
    element: u32,
    /// Positions of the elements in memory, as a bit set.
    elements: u64,
}

fn lower_scattered(access: Access, s: Scattered, p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let n = p.channels;
    let component_stride = (n * 4).max(r.grf());
    let write = access.is_store();
    Ok(Message::Simt(Simt {
        space: p.space(r)?,
        write,
        base: r.scalar(p.vector(0)?)?,
        address: required_offset(r, p.raw(0)?, "offsets")?,
        address_bytes: 4,
        scale: s.scale,
        align: s.align,
        element: s.element as u8,
        elements: s.elements,
        data: payload_offset(r, p.raw(1)?, write)?,
        component_stride,
        ..Simt::default()
    }))
}

/// The channels that a mask enables.
fn enabled_channels(mask: u32) -> Result<u64, Reason> {
    match mask & 15 {
        0 => Err("no channel is enabled".into()),
        channels => Ok(channels as u64),
    }
}

/// GATHER, SCATTER: size and mask, which are packed, were read as the execution size by lowering.
pub(super) fn elements(access: Access, p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let element = width(p.int(0)?)?;
    lower_scattered(access, Scattered { scale: element, align: 1, element, elements: 1 }, p, r)
}

/// GATHER4_SCALED, SCATTER4_SCALED.
pub(super) fn lower_scaled_channels(
    access: Access,
    p: &Parts,
    r: &mut dyn Resolver,
) -> Result<Message, Reason> {
    let elements = enabled_channels(p.int(0)?)?;
    lower_scattered(access, Scattered { scale: 1, align: 4, element: 4, elements }, p, r)
}

/// GATHER_SCALED, SCATTER_SCALED.
pub(super) fn bytes(access: Access, p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let element = width(p.int(1)?)?;
    lower_scattered(access, Scattered { scale: 1, align: 1, element, elements: 1 }, p, r)
}

/// SVM_BLOCK_LD, SVM_BLOCK_ST.
pub(super) fn svm_owords(access: Access, p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    // 4.1 text does not say whether a load's address is only dword-aligned, so that is enough.
    let write = access.is_store();
    Ok(Message::Block(Block {
        space: Space::Flat,
        write,
        address: r.scalar(p.vector(0)?)?,
        scale: 1,
        offset: 0,
        origin: Src::None,
        wraps: false,
        align: if write { 16 } else { 4 },
        bytes: p.raw(0)?.bytes()?,
        data: payload_offset(r, p.raw(0)?, write)?,
        masked: false,
    }))
}

/// Elements at 64-bit addresses.
struct SvmData {
    elements: u64,
    /// Bytes of an element in memory, what its address is a multiple of, its bytes in the register.
    element: u8,
    align: u8,
    slot: u32,
    component_stride: u32,
    base: Src,
}

fn lower_svm(access: Access, d: SvmData, p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let write = access.is_store();
    Ok(Message::Simt(Simt {
        write,
        base: d.base,
        address: required_offset(r, p.raw(0)?, "addresses")?,
        align: d.align,
        element: d.element,
        slot: d.slot as u8,
        elements: d.elements,
        data: payload_offset(r, p.raw(1)?, write)?,
        component_stride: d.component_stride,
        ..Simt::default()
    }))
}

/// SVM_GATHER, SVM_SCATTER: block `j` of channel `i` is element `j * n + i`.
pub(super) fn svm_blocks(access: Access, p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let (block, count) = (p.int(0)?, p.int(1)?);
    p.raw(1)?.bytes()?;
    let blocks = (1u64 << (1u32 << count)) - 1;
    let (elements, element, align, slot) = match block {
        // Blocks of one byte are one element of up to 8 bytes; others are elements of their own.
        0 => (1, 1 << count, 1, 4.max(1 << count)),
        1 => (blocks, 4, 4, 4),
        // The page's code and the one that tools write.
        // The page wants multiples of 8. The reference compiler reads constants so that it places at multiples of 4.
        2 | 3 => (blocks, 8, if access.is_store() { 8 } else { 4 }, 8),
        _ => return Err(format!("the block size code {block} is not defined")),
    };
    let component_stride = p.channels * slot;
    lower_svm(access, SvmData { elements, element, align, slot, component_stride, base: Src::None }, p, r)
}

/// SVM_GATHER4_SCALED, SVM_SCATTER4_SCALED: each of the channels' dwords starts at a register.
pub(super) fn svm_channels(access: Access, p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let elements = enabled_channels(p.int(0)?)?;
    let base = r.scalar(p.vector(0)?)?;
    let component_stride = (p.channels * 4).max(r.grf());
    lower_svm(access, SvmData { elements, element: 4, align: 4, slot: 4, component_stride, base }, p, r)
}

/// The fields of an untyped LSC message, in binary order.
pub(super) struct Lsc {
    pub space: Space,
    pub scale: u32,
    pub offset: i64,
    /// Added to every address, unscaled.
    pub origin: Src,
    pub extend: Extend,
    pub address_bytes: u32,
    pub element: u32,
    pub slot: u32,
    pub upper: bool,
    pub transposed: bool,
    /// Positions of the elements in memory.
    pub elements: u64,
}

pub(super) fn lsc_fields(shape: LscShape, p: &Parts, r: &mut dyn Resolver) -> Result<Lsc, Reason> {
    let sfid = p.int(0)?;
    let (kind, scale, offset) = (p.int(3)?, p.int(4)? & 0xffff, p.int(5)? as i32 as i64);
    let code = p.int(6)?;
    let address_bytes =
        lsc::address_bytes(code).ok_or_else(|| format!("the address size code {code} is not defined"))?;
    let extend = match lsc::address_extends(code) {
        None => Extend::None,
        Some(false) => Extend::Zero,
        Some(true) => Extend::Sign,
    };
    let code = p.int(7)?;
    let size = lsc::data_size(code).ok_or_else(|| format!("the data size code {code} is not defined"))?;
    let transposed = lsc::is_transposed(p.int(8)?);
    let elements = if shape == LscShape::Quad {
        // The field before repeats the mask.
        enabled_channels(p.int(10)?)?
    } else {
        let code = p.int(9)?;
        let count =
            lsc::elements(code).ok_or_else(|| format!("the element count code {code} is not defined"))?;
        u64::MAX >> (64 - count)
    };
    if p.int(12)? != 0 {
        return Err("an index behind the surface's handle is not supported".into());
    }
    let mut origin = Src::None;
    let surface = |r: &mut dyn Resolver| p.vector(0).and_then(|v| r.scalar(v));
    if kind == addr_type::FLAT {
        origin = match p.vector(0)? {
            Operand::Imm { bits: 0, .. } | Operand::General { var: predefined::var::NULL, .. } => Src::None,
            base => r.scalar(base)?,
        };
    }
    let space = match (sfid, kind) {
        (lsc::sfid::SLM, _) => Space::Slm,
        (_, addr_type::FLAT) => Space::Flat,
        (_, addr_type::BSS | addr_type::SURF) => Space::Bindless(surface(r)?),
        (_, addr_type::SS) => Space::Scratch(surface(r)?),
        (_, addr_type::BTI) => Space::Bti(surface(r)?),
        (_, addr_type::ARG) => Space::Arguments,
        (_, k) => return Err(format!("the address type code {k} is not defined")),
    };
    Ok(Lsc {
        space,
        scale: scale.max(1),
        offset,
        origin,
        extend,
        address_bytes,
        element: size.memory,
        slot: size.register,
        upper: size.upper,
        transposed,
        elements,
    })
}

/// LSC_LOAD, LSC_STORE, LSC_LOAD_QUAD, LSC_STORE_QUAD, LSC_LOAD_STRIDED, LSC_STORE_STRIDED,
/// LSC_STORE_UNCOMPRESSED.
pub(super) fn lsc_vectors(
    access: Access,
    shape: LscShape,
    p: &Parts,
    r: &mut dyn Resolver,
) -> Result<Message, Reason> {
    let l = lsc_fields(shape, p, r)?;
    let write = access.is_store();
    // Registers: destination, address, data; a load's data is the first, a store's the last.
    let data = if write { p.raw(2)? } else { p.raw(0)? };
    if l.transposed {
        return transposed_message(&l, write, shape == LscShape::Strided, data, p, r);
    }
    let data = payload_offset(r, data, write)?;
    Ok(Message::Simt(lsc_simt(&l, write, shape == LscShape::Strided, data, p, r)?))
}

/// LSC_LOAD_STATUS.
pub(super) fn lsc_status(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let l = lsc_fields(LscShape::Vector, p, r)?;
    if l.transposed {
        return Err("this message has no transposed form".into());
    }
    let data = r.raw(p.raw(0)?)?;
    Ok(Message::Status(lsc_simt(&l, false, false, data, p, r)?))
}

impl Lsc {
    /// Bytes from an element's first channel to the next element's.
    fn component_stride(&self, p: &Parts, r: &dyn Resolver) -> u32 {
        (p.channels * self.slot).next_multiple_of(r.grf())
    }
}

fn lsc_simt(
    l: &Lsc,
    write: bool,
    strided: bool,
    data: Option<RegOffset>,
    p: &Parts,
    r: &mut dyn Resolver,
) -> Result<Simt, Reason> {
    Ok(Simt {
        space: l.space,
        write,
        address: required_offset(r, p.raw(1)?, "addresses")?,
        address_bytes: l.address_bytes as u8,
        extend: l.extend,
        stride: if strided { r.scalar(p.vector(1)?)? } else { Src::None },
        base: Src::None,
        scale: l.scale,
        offset: l.offset,
        origin: l.origin,
        align: 1,
        element: l.element as u8,
        slot: l.slot as u8,
        upper: l.upper,
        elements: l.elements,
        data,
        component_stride: l.component_stride(p, r),
    })
}

/// A message of one channel whose elements are consecutive, in memory and in registers.
fn transposed_message(
    l: &Lsc,
    write: bool,
    strided: bool,
    data: Register,
    p: &Parts,
    r: &mut dyn Resolver,
) -> Result<Message, Reason> {
    if strided {
        return Err("this message has no transposed form".into());
    }
    if p.channels != 1 {
        return Err("a transposed message has one channel".into());
    }
    if l.slot != l.element {
        return Err("transposed elements are as large in registers as in memory".into());
    }
    let ty = match l.address_bytes {
        2 => Type::Uw,
        4 if l.extend == Extend::Sign => Type::D,
        4 => Type::Ud,
        _ => Type::Uq,
    };
    let at = required_offset(r, p.raw(1)?, "addresses")?;
    Ok(Message::Block(Block {
        space: l.space,
        write,
        address: Src::Reg {
            offset: at,
            ty,
            strides: crate::inst::Strides::SCALAR,
            shape: crate::inst::Shape::Scalar,
            modifier: envisa_isa::Modifier::None,
            constant: false,
        },
        scale: l.scale,
        offset: l.offset,
        origin: l.origin,
        wraps: l.address_bytes < 8 && l.extend == Extend::None,
        align: 1,
        bytes: data.bytes()?,
        data: payload_offset(r, data, write)?,
        masked: true,
    }))
}

/// QW_GATHER and QW_SCATTER.
pub(super) fn lower_qword(access: Access, p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let count = p.int(0)?;
    let n = p.channels;
    p.raw(1)?.bytes()?;
    let blocks = 1u32 << count;
    let write = access.is_store();
    Ok(Message::Simt(Simt {
        space: p.space(r)?,
        write,
        address: required_offset(r, p.raw(0)?, "offsets")?,
        address_bytes: 4,
        element: 8,
        slot: 8,
        elements: (1 << blocks) - 1,
        data: payload_offset(r, p.raw(1)?, write)?,
        component_stride: n * 8,
        ..Simt::default()
    }))
}
