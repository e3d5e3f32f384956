//! Gathers, scatters and blocks of bytes: SVM, data port and LSC.

use envisa_isa::{Operand, Type};

use super::{Extend, Message, Parts, Resolver, Space};
use crate::lower::Reason;
use crate::program::{RegOffset, Src};

/// Each channel reads or writes elements at its own address.
#[derive(Clone, Debug)]
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

/// Consecutive bytes at one address.
#[derive(Clone, Debug)]
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
pub(super) fn needed(r: &mut dyn Resolver, op: Operand, bytes: u32, what: &str) -> Result<RegOffset, Reason> {
    r.raw(op, bytes)?.ok_or_else(|| format!("its {what} are %null"))
}

/// Data that is read into a register, which may be `%null`, or written from one.
pub(super) fn payload(
    r: &mut dyn Resolver,
    op: Operand,
    bytes: u32,
    write: bool,
) -> Result<Option<RegOffset>, Reason> {
    if write { needed(r, op, bytes, "data").map(Some) } else { r.raw(op, bytes) }
}

fn width(code: u32) -> Result<u32, Reason> {
    match code {
        0..=2 => Ok(1 << code),
        _ => Err(format!("the element size code {code} means nothing")),
    }
}

/// GATHER, SCATTER, GATHER4_SCALED, SCATTER4_SCALED, GATHER_SCALED, SCATTER_SCALED, OWORD_LD, OWORD_ST,
/// OWORD_LD_UNALIGNED.
pub(super) fn dataport(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let space = p.space(r)?;
    if matches!(p.opcode, 0x35 | 0x36 | 0x3c) {
        let size = p.int(0)?;
        if size > 4 {
            return Err(format!("the size code {size} means nothing"));
        }
        let bytes = 16 << size;
        return Ok(Message::Block(Block {
            space,
            write: p.opcode == 0x36,
            address: r.scalar(p.vector(0)?)?,
            scale: if p.opcode == 0x3c { 1 } else { 16 },
            offset: 0,
            wraps: false,
            align: 4,
            bytes,
            data: payload(r, p.raw(0)?, bytes, p.opcode == 0x36)?,
            masked: false,
        }));
    }
    // `scatter` packs its size and mask; they were read as the execution size by lowering.
    let n = p.channels;
    let (elements, element, scale) = match p.opcode {
        0x39 | 0x3a => {
            let e = width(p.int(0)?)?;
            (1, e, e)
        }
        0x74 | 0x75 => {
            let channels = p.int(0)? & 15;
            if channels == 0 {
                return Err("no channel is enabled".into());
            }
            (channels as u64, 4, 1)
        }
        _ => (1, width(p.int(1)?)?, 1),
    };
    let components = elements.count_ones();
    let component_stride = (n * 4).max(r.grf());
    let bytes = (components - 1) * component_stride + n * 4;
    let write = matches!(p.opcode, 0x3a | 0x75 | 0x79);
    Ok(Message::Simt(Simt {
        space,
        write,
        base: r.scalar(p.vector(0)?)?,
        address: needed(r, p.raw(0)?, n * 4, "offsets")?,
        address_bytes: 4,
        extend: Extend::None,
        stride: Src::None,
        scale,
        offset: 0,
        origin: Src::None,
        align: if matches!(p.opcode, 0x74 | 0x75) { 4 } else { 1 },
        element: element as u8,
        slot: 4,
        upper: false,
        elements,
        data: payload(r, p.raw(1)?, bytes, write)?,
        component_stride,
    }))
}

/// SVM_BLOCK_LD, SVM_BLOCK_ST, SVM_GATHER, SVM_SCATTER, SVM_GATHER4_SCALED, SVM_SCATTER4_SCALED.
pub(super) fn svm(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let n = p.channels;
    // 64-bit addresses; block `j` of channel `i` is element `j * n + i`, or a register further.
    let simt =
        |r: &mut dyn Resolver, write, elements: u64, (element, align, slot), component_stride, base| {
            let bytes = (elements.count_ones() - 1) * component_stride + n * slot;
            Ok(Message::Simt(Simt {
                space: Space::Flat,
                write,
                base,
                address: needed(r, p.raw(0)?, n * 8, "addresses")?,
                address_bytes: 8,
                extend: Extend::None,
                stride: Src::None,
                scale: 1,
                offset: 0,
                origin: Src::None,
                align,
                element,
                slot: slot as u8,
                upper: false,
                elements,
                data: payload(r, p.raw(1)?, bytes, write)?,
                component_stride,
            }))
        };
    match p.sub {
        1 | 2 => {
            let field = p.int(0)?;
            // 4.1 text does not say whether a load's address is only dword-aligned, so that is enough.
            let size = field & 7;
            if size > 3 {
                return Err(format!("the size code {size} means nothing"));
            }
            let bytes = 16 << size;
            Ok(Message::Block(Block {
                space: Space::Flat,
                write: p.sub == 2,
                address: r.scalar(p.vector(0)?)?,
                scale: 1,
                offset: 0,
                wraps: false,
                align: if p.sub == 2 { 16 } else { 4 },
                bytes,
                data: payload(r, p.raw(0)?, bytes, p.sub == 2)?,
                masked: false,
            }))
        }
        3 | 4 => {
            let (block, count) = (p.int(0)?, p.int(1)?);
            if count > 3 {
                return Err(format!("the block count code {count} means nothing"));
            }
            // Blocks of one byte are one element of up to 8 bytes; others are elements of their own.
            let blocks = (1u64 << (1u32 << count)) - 1;
            let (elements, sizes) = match block {
                0 => (1, (1 << count, 1, 4.max(1 << count))),
                1 => (blocks, (4, 4, 4)),
                // The page's code and the one that tools write.
                2 | 3 => (blocks, (8, 8, 8)),
                _ => return Err(format!("the block size code {block} means nothing")),
            };
            simt(r, p.sub == 4, elements, sizes, n * sizes.2, Src::None)
        }
        6 | 7 => {
            let channels = p.int(0)? & 15;
            if channels == 0 {
                return Err("no channel is enabled".into());
            }
            let base = r.scalar(p.vector(0)?)?;
            let stride = (n * 4).max(r.grf());
            simt(r, p.sub == 7, channels as u64, (4, 4, 4), stride, base)
        }
        s => Err(format!("there is no SVM message {s}")),
    }
}

/// The fields of an untyped LSC message, in binary order.
pub(super) struct Lsc {
    pub space: Space,
    pub scale: u32,
    pub offset: i64,
    pub address_bytes: u32,
    pub element: u32,
    pub slot: u32,
    pub upper: bool,
    pub transposed: bool,
    /// Positions of the elements in memory.
    pub elements: u64,
}

pub(super) fn lsc_fields(p: &Parts, r: &mut dyn Resolver) -> Result<Lsc, Reason> {
    let sfid = p.int(0)?;
    let (kind, scale, offset) = (p.int(3)?, p.int(4)? & 0xffff, p.int(5)? as i32 as i64);
    let address_bytes = match p.int(6)? {
        1 => 2,
        2 => 4,
        3 => 8,
        a => return Err(format!("the address size code {a} means nothing")),
    };
    let (element, slot, upper) = match p.int(7)? {
        1 => (1, 1, false),
        2 => (2, 2, false),
        3 => (4, 4, false),
        4 => (8, 8, false),
        5 => (1, 4, false),
        6 => (2, 4, false),
        7 => (2, 4, true),
        d => return Err(format!("the data size code {d} means nothing")),
    };
    let transposed = p.int(8)? == 2;
    let quad = matches!(p.sub, 2 | 6);
    let count = match p.int(9)? {
        // The field repeats the channel mask.
        _ if quad => 1,
        0 | 1 => 1u32,
        c @ 2..=4 => c,
        5 => 8,
        6 => 16,
        7 => 32,
        8 => 64,
        c => return Err(format!("the element count code {c} means nothing")),
    };
    let mask = p.int(10).unwrap_or(0) as u64 & 15;
    let elements = if quad {
        if mask == 0 {
            return Err("no channel is enabled".into());
        }
        mask
    } else {
        u64::MAX >> (64 - count)
    };
    let surface = |r: &mut dyn Resolver| p.vector(0).and_then(|v| r.scalar(v));
    let space = match (sfid, kind) {
        (3, _) => Space::Slm,
        (_, 1) => match p.vector(0)? {
            Operand::Imm { bits: 0, .. } => Space::Flat,
            _ => return Err("flat addresses with a base in a register are not of this version".into()),
        },
        (_, 2) => Space::Bindless(surface(r)?),
        (_, 3) => Space::Scratch(surface(r)?),
        (_, 4) => Space::Bti(surface(r)?),
        (_, 5) => Space::Arguments,
        (_, k) => return Err(format!("the address type code {k} means nothing")),
    };
    Ok(Lsc { space, scale: scale.max(1), offset, address_bytes, element, slot, upper, transposed, elements })
}

/// LSC_LOAD, LSC_STORE, LSC_LOAD_QUAD, LSC_STORE_QUAD, LSC_LOAD_STRIDED, LSC_STORE_STRIDED,
/// LSC_STORE_UNCOMPRESSED, LSC_LOAD_STATUS.
pub(super) fn lsc(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let write = match p.sub {
        0x00 | 0x01 | 0x02 | 0x1b => false,
        // 0x1c: without compression.
        0x04 | 0x05 | 0x06 | 0x1c => true,
        0x1d => return Err("compression control has no public description".into()),
        0x28..=0x2a => return Err("surfaces have no append counter".into()),
        s => return Err(format!("the LSC message {s:#x} has no public description")),
    };
    let l = lsc_fields(p, r)?;
    // Registers: destination, address, data; a load's data is the first, a store's the last.
    let (data, address) = (if write { p.raw(2)? } else { p.raw(0)? }, p.raw(1)?);
    let (strided, status) = (matches!(p.sub, 1 | 5), p.sub == 0x1b);
    if l.transposed && (strided || status) {
        return Err("this message has no transposed form".into());
    }
    if l.transposed {
        if p.channels != 1 {
            return Err("a transposed message has one channel".into());
        }
        if l.slot != l.element {
            return Err("transposed elements are as large in registers as in memory".into());
        }
        let bytes = l.elements.count_ones() * l.element;
        let ty = match l.address_bytes {
            2 => Type::Uw,
            4 => Type::Ud,
            _ => Type::Uq,
        };
        let at = needed(r, address, l.address_bytes, "addresses")?;
        return Ok(Message::Block(Block {
            space: l.space,
            write,
            address: Src::Reg {
                offset: at,
                ty,
                strides: crate::program::Strides::SCALAR,
                shape: crate::program::Shape::Scalar,
                modifier: envisa_isa::Modifier::None,
                constant: false,
            },
            scale: l.scale,
            offset: l.offset,
            wraps: l.address_bytes < 8,
            align: 1,
            bytes,
            data: payload(r, data, bytes, write)?,
            masked: true,
        }));
    }
    let n = p.channels;
    let component_stride = (n * l.slot).next_multiple_of(r.grf());
    let bytes = match status {
        true => 4,
        false => (l.elements.count_ones() - 1) * component_stride + n * l.slot,
    };
    let addresses = if strided { 1 } else { n };
    let simt = Simt {
        space: l.space,
        write,
        address: needed(r, address, addresses * l.address_bytes, "addresses")?,
        address_bytes: l.address_bytes as u8,
        extend: Extend::None,
        stride: if strided { r.scalar(p.vector(1)?)? } else { Src::None },
        base: Src::None,
        scale: l.scale,
        offset: l.offset,
        origin: Src::None,
        align: 1,
        element: l.element as u8,
        slot: l.slot as u8,
        upper: l.upper,
        elements: l.elements,
        data: payload(r, data, bytes, write)?,
        component_stride,
    };
    Ok(if status { Message::Status(simt) } else { Message::Simt(simt) })
}

/// QW_GATHER and QW_SCATTER.
pub(super) fn qwords(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let count = p.int(0)?;
    if count > 2 {
        return Err(format!("the block count code {count} means nothing"));
    }
    let n = p.channels;
    let blocks = 1u32 << count;
    let write = p.opcode == 0x87;
    Ok(Message::Simt(Simt {
        space: p.space(r)?,
        write,
        address: needed(r, p.raw(0)?, n * 4, "offsets")?,
        address_bytes: 4,
        extend: Extend::None,
        stride: Src::None,
        base: Src::None,
        scale: 1,
        offset: 0,
        origin: Src::None,
        align: 1,
        element: 8,
        slot: 8,
        upper: false,
        elements: (1 << blocks) - 1,
        data: payload(r, p.raw(1)?, blocks * n * 8, write)?,
        component_stride: n * 8,
    }))
}
