//! Typed messages: texels of images. GATHER4_TYPED, SCATTER4_TYPED, TYPED_ATOMIC, the LSC's typed messages,
//! texel loads through the sampler unit, media blocks, questions about images.

use envisa_isa::limits::MEDIA_BLOCK_BYTES;
use envisa_isa::lsc::{self, addr_type};
use envisa_isa::operation::{Access, LoadParameters};
use envisa_isa::{Operand, Type};

use super::Reason;
use super::untyped::{payload_offset, required_offset};
use super::{Message, Parts, Register, Resolver, Space};
use crate::inst::Src;
use crate::registers::RegOffset;

/// What a read of a texel outside of an image gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outside {
    /// Zero in all channels.
    Zero,
    /// One in alpha, zero in the others (page GATHER4_TYPED).
    AlphaOne,
    /// Zero in the channels the format stores; where it has no alpha, that is one (sampler unit).
    Border,
}

/// Coordinates of each channel's texel.
#[derive(Clone, PartialEq, Debug)]
pub struct Coordinates {
    /// Where u, v, r and the level of detail of the first channel are; zero where absent.
    pub at: [Option<RegOffset>; 4],
    /// Bytes of a coordinate: 2, 4 or 8.
    pub bytes: u8,
    /// Immediate offsets of u, v and r: a word of three signed nibbles, r in the lowest.
    pub offsets: Src,
}

/// How a texel's channel lies in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TexelSlot {
    /// A dword: single, or integer.
    Dword,
    /// A word, integer.
    Word,
    /// A word, half.
    Half,
}

/// Each channel reads or writes a texel, converted from or to the image's format.
#[derive(Clone, PartialEq, Debug)]
pub struct Typed {
    /// The image.
    pub space: Space,
    /// A store (else a load).
    pub write: bool,
    /// Which texel.
    pub coordinates: Coordinates,
    /// Channels moved, R in bit 0.
    pub channels: u8,
    /// How they lie in registers.
    pub slot: TexelSlot,
    /// Data; `None`: nothing is read.
    pub data: Option<RegOffset>,
    /// Bytes from a channel of the texel to the next one moved.
    pub component_stride: u32,
    /// What lies outside reads as.
    pub outside: Outside,
    /// After the data, one more register gets a bit for each channel whose texel has memory.
    pub null_mask: bool,
    /// Which sample of the texel, as wide as a coordinate; the first one where absent.
    pub sample: Option<RegOffset>,
    /// Samples beyond the last are the last (else outside).
    pub clamp: bool,
}

/// Each channel reads, modifies and writes a texel of one channel.
#[derive(Clone, PartialEq, Debug)]
pub struct TypedAtomic {
    /// The image.
    pub space: Space,
    /// Which texel.
    pub coordinates: Coordinates,
    /// The operator's code.
    pub code: u8,
    /// Is the code an LSC sub-opcode (else one of the legacy messages')?
    pub lsc: bool,
    /// Bytes of the texel: 2, 4 or 8.
    pub element: u8,
    /// Bytes an element takes in a register: 4 or 8.
    pub slot: u8,
    /// Data operands.
    pub src: [Option<RegOffset>; 2],
    /// Old values; `None`: dropped.
    pub dst: Option<RegOffset>,
}

/// A rectangle of bytes of a 2D image, for the whole thread.
#[derive(Clone, PartialEq, Debug)]
pub struct Media {
    /// The image.
    pub space: Space,
    /// A store (else a load).
    pub write: bool,
    /// Bytes of a row, 1 to 64.
    pub width: u8,
    /// Rows.
    pub height: u8,
    /// Bytes from row to row in registers.
    pub pitch: u8,
    /// First byte of a row, signed.
    pub x: Src,
    /// First row, signed.
    pub y: Src,
    /// Rows that count, as the first one and the distance: `(0, 1)`, or those of a field, `(0, 2)` and
    /// `(1, 2)`.
    pub lines: (u8, u8),
    /// `x` must be a multiple of this.
    pub align: u8,
    /// Reads outside give zero (else the nearest texel's bytes).
    pub zero_outside: bool,
    /// Data; `None`: nothing is read.
    pub data: Option<RegOffset>,
}

/// Facts about an image.
#[derive(Clone, PartialEq, Debug)]
pub struct Info {
    /// The image.
    pub space: Space,
    /// Its samples (else its size).
    pub samples: bool,
    /// Channels of the answer that are wanted, R in bit 0.
    pub channels: u8,
    /// Levels of detail asked for.
    pub lod: Option<RegOffset>,
    /// The answer.
    pub data: Option<RegOffset>,
    /// Bytes from a channel of the answer to the next one wanted.
    pub component_stride: u32,
}

pub(super) fn enabled_channels(mask: u32) -> Result<u8, Reason> {
    match mask & 15 {
        0 => Err("no channel is enabled".into()),
        m => Ok(m as u8),
    }
}

/// u, v, r and level of detail, from raw operand `first` on.
fn coordinate_operands(
    p: &Parts,
    r: &mut dyn Resolver,
    which: [Option<usize>; 4],
    bytes: u32,
    offsets: Src,
) -> Result<Coordinates, Reason> {
    let mut at = [None; 4];
    for (at, which) in at.iter_mut().zip(which) {
        // Trailing coordinates may be left out.
        if let Some(op) = which.and_then(|i| p.raws.get(i)) {
            *at = r.raw(*op)?;
        }
    }
    Ok(Coordinates { at, bytes: bytes as u8, offsets })
}

const UVRL: [Option<usize>; 4] = [Some(0), Some(1), Some(2), Some(3)];

/// GATHER4_TYPED and SCATTER4_TYPED: u, v, r, lod, data.
pub(super) fn lower_dataport_typed(
    access: Access,
    p: &Parts,
    r: &mut dyn Resolver,
) -> Result<Message, Reason> {
    let channels = enabled_channels(p.int(0)?)?;
    let write = access.is_store();
    let n = p.channels;
    let component_stride = (n * 4).max(r.grf());
    Ok(Message::Typed(Typed {
        space: p.space(r)?,
        write,
        coordinates: coordinate_operands(p, r, UVRL, 4, Src::None)?,
        channels,
        slot: TexelSlot::Dword,
        data: payload_offset(r, p.raw(4)?, write)?,
        component_stride,
        outside: Outside::AlphaOne,
        null_mask: false,
        sample: None,
        clamp: false,
    }))
}

/// TYPED_ATOMIC: u, v, r, lod, src0, src1, dst.
pub(super) fn atomic(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let op = p.int(0)?;
    Ok(Message::TypedAtomic(TypedAtomic {
        space: p.space(r)?,
        coordinates: coordinate_operands(p, r, UVRL, 4, Src::None)?,
        code: op as u8 & 31,
        lsc: false,
        element: if op >> 5 & 1 != 0 { 2 } else { 4 },
        slot: 4,
        src: [r.raw(p.raw(4)?)?, r.raw(p.raw(5)?)?],
        dst: r.raw(p.raw(6)?)?,
    }))
}

/// The surface and the coordinates of a typed LSC message, whose registers are dst, u, v, r, lod, data or two
/// sources.
fn lsc_place(p: &Parts, r: &mut dyn Resolver) -> Result<(Space, Coordinates), Reason> {
    for (i, what) in [
        (9, "an index behind the surface's handle"),
        (10, "an offset of a coordinate"),
        (11, "an offset of a coordinate"),
        (12, "an offset of a coordinate"),
        (13, "a multi-sampled surface"),
    ] {
        if p.ints.get(i).is_some_and(|n| *n != 0) {
            return Err(format!("{what} is not supported"));
        }
    }
    if lsc::is_transposed(p.int(5)?) {
        return Err("a typed message has no transposed form".into());
    }
    let space = lsc_space(p, r)?;
    let code = p.int(3)?;
    let address =
        lsc::address_bytes(code).ok_or_else(|| format!("the address size code {code} is not defined"))?;
    Ok((space, coordinate_operands(p, r, [1, 2, 3, 4].map(Some), address, Src::None)?))
}

/// LSC_TYPED_LOAD_QUAD, LSC_TYPED_STORE_QUAD.
pub(super) fn lsc_texels(access: Access, p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let place = lsc_place(p, r)?;
    let channels = p.int(7).and_then(enabled_channels);
    typed_message(access, place, channels, p, r)
}

/// LSC_TYPED_LOAD_QUAD_MSRT, LSC_TYPED_STORE_QUAD_MSRT: the last coordinate is a sample.
pub(super) fn lsc_samples(access: Access, p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let (space, mut coordinates) = lsc_place(p, r)?;
    let sample = coordinates.at[3].take();
    let channels = p.int(7).and_then(enabled_channels);
    let message = typed_message(access, (space, coordinates), channels, p, r)?;
    Ok(match message {
        Message::Typed(t) => Message::Typed(Typed { sample, ..t }),
        other => other,
    })
}

/// LSC_TYPED_STORE_UNCOMPRESSED: a number of channels takes the place of their mask.
pub(super) fn lsc_store_uncompressed(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let place = lsc_place(p, r)?;
    let channels = match lsc::elements(p.int(6)?) {
        Some(n @ 1..=4) => Ok((1 << n) - 1),
        _ => Err("a texel has one to four channels".into()),
    };
    typed_message(Access::Store, place, channels, p, r)
}

fn typed_message(
    access: Access,
    (space, coordinates): (Space, Coordinates),
    channels: Result<u8, Reason>,
    p: &Parts,
    r: &mut dyn Resolver,
) -> Result<Message, Reason> {
    if p.int(4)? != 3 {
        return Err("texels are read and written as dwords".into());
    }
    let (n, channels, write) = (p.channels, channels?, access.is_store());
    let component_stride = (n * 4).next_multiple_of(r.grf());
    let data = if write { p.raw(5)? } else { p.raw(0)? };
    Ok(Message::Typed(Typed {
        space,
        write,
        coordinates,
        channels,
        slot: TexelSlot::Dword,
        data: payload_offset(r, data, write)?,
        component_stride,
        outside: Outside::Zero,
        null_mask: false,
        sample: None,
        clamp: false,
    }))
}

/// LSC_TYPED_LOAD_STATUS.
pub(super) fn lsc_load_status(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let (space, coordinates) = lsc_place(p, r)?;
    Ok(Message::TypedStatus(Typed {
        space,
        write: false,
        coordinates,
        channels: 1,
        slot: TexelSlot::Dword,
        data: r.raw(p.raw(0)?)?,
        component_stride: 0,
        outside: Outside::Zero,
        null_mask: false,
        sample: None,
        clamp: false,
    }))
}

/// LSC_TYPED_LOAD_QUAD_STATUS.
pub(super) fn lsc_load_quad_status(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    if p.int(4)? != 3 || enabled_channels(p.int(7)?)?.count_ones() != 1 {
        return Err("what it returns for several channels of a texel has no public description".into());
    }
    let component_stride = (p.channels * 4).next_multiple_of(r.grf());
    Ok(match lsc_load_status(p, r)? {
        Message::TypedStatus(t) => Message::TypedStatus(Typed { component_stride, ..t }),
        other => other,
    })
}

/// Typed LSC atomics.
pub(super) fn lsc_atomic(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let (space, coordinates) = lsc_place(p, r)?;
    let size = lsc::data_size(p.int(4)?).filter(|s| s.memory > 1 && s.register > 2 && !s.upper);
    let size = size.ok_or("a typed atomic changes texels of 16, 32 or 64 bits")?;
    if lsc::elements(p.int(6)?) != Some(1) {
        return Err("a typed atomic changes one texel a channel".into());
    }
    Ok(Message::TypedAtomic(TypedAtomic {
        space,
        coordinates,
        code: p.sub,
        lsc: true,
        element: size.memory as u8,
        slot: size.register as u8,
        src: [r.raw(p.raw(5)?)?, r.raw(p.raw(6)?)?],
        dst: r.raw(p.raw(0)?)?,
    }))
}

fn lsc_space(p: &Parts, r: &mut dyn Resolver) -> Result<Space, Reason> {
    let surface = |r: &mut dyn Resolver| p.vector(0).and_then(|v| r.scalar(v));
    match p.int(2)? {
        addr_type::BSS | addr_type::SURF => Ok(Space::Bindless(surface(r)?)),
        addr_type::BTI => Ok(Space::Bti(surface(r)?)),
        addr_type::SS => Err("the surface states of the hardware's own heap are not known".into()),
        k => Err(format!("a typed message has no address type {k}")),
    }
}

/// Rectangles of a typed surface: the surface, x, y; dst, data.
pub(super) fn lsc_media(access: Access, p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let (width, height) = (p.int(3)?, p.int(4)?);
    let pitch = row_bytes(width, height)?;
    if p.int(6)? != 0 || p.int(7)? != 0 || p.int(8)? != 0 {
        return Err(
            "offsets of coordinates and an index behind the surface's handle are not supported".into()
        );
    }
    let write = access.is_store();
    let data = p.raw(write as usize)?;
    Ok(Message::Media(Media {
        space: lsc_space(p, r)?,
        write,
        width: width as u8,
        height: height as u8,
        pitch: pitch as u8,
        x: r.scalar(p.vector(1)?)?,
        y: r.scalar(p.vector(2)?)?,
        lines: (0, 1),
        align: 1,
        zero_outside: true,
        data: payload_offset(r, data, write)?,
    }))
}

/// Bytes from row to row in registers.
fn row_bytes(width: u32, height: u32) -> Result<u32, Reason> {
    if !(1..=64).contains(&width) || !(1..=64).contains(&height) {
        return Err(format!("a block of {width} bytes and {height} rows"));
    }
    let pitch = lsc::media_pitch(width).ok_or("there is no such width")?;
    if height * pitch > MEDIA_BLOCK_BYTES {
        return Err(format!(
            "a block of {width} bytes and {height} rows takes more than {MEDIA_BLOCK_BYTES} bytes"
        ));
    }
    Ok(pitch)
}

/// Texel loads through the sampler unit: dst, then parameters in the order of the operation.
pub(super) fn load(order: LoadParameters, p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let null_mask = p.int(0)? & 1 != 0;
    let channels = enabled_channels(p.int(1)?)?;
    let dst = p.raw(0)?;
    let (slot, size) = super::sampler::texel_slot(r.element(dst.op))?;
    let sizes: Vec<u32> = p.raws[1..].iter().map(|param| r.element(param.op).size().min(4)).collect();
    let bytes = if sizes.first() == Some(&2) { 2 } else { 4 };
    if sizes.iter().any(|s| (*s == 2) != (bytes == 2)) {
        return Err("parameters of 16 and of 32 bits".into());
    }
    // Positions of u, v, r and lod among the parameters, which follow the result, and of the sample.
    let (order, sample) = match order {
        LoadParameters::UvLodR => ([Some(1), Some(2), Some(4), Some(3)], None),
        LoadParameters::Uvr => ([Some(1), Some(2), Some(3), None], None),
        // Images are not compressed: what is said of that is not looked at.
        LoadParameters::Samples => {
            let first = if bytes == 2 { 6 } else { 4 };
            ([0, 1, 2, 3].map(|i| Some(first + i)), p.raws.get(1).map(|s| r.raw(*s)).transpose()?.flatten())
        }
    };
    let n = p.channels;
    let component_stride = (n * size).next_multiple_of(r.grf());
    let offsets = r.scalar(p.vector(0)?)?;
    Ok(Message::Typed(Typed {
        space: p.space(r)?,
        write: false,
        coordinates: coordinate_operands(p, r, order, bytes, offsets)?,
        channels,
        slot,
        data: r.raw(dst)?,
        component_stride,
        outside: Outside::Border,
        null_mask,
        sample,
        clamp: true,
    }))
}

/// MEDIA_LD and MEDIA_ST.
pub(super) fn lower_media(access: Access, p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let (mode, plane, width, height) = (p.int(0)?, p.int(1)?, p.int(2)?, p.int(3)?);
    let lines = match mode {
        // 1, 4 and 5 add that the block may have been modified, which is no news here.
        0 | 1 => (0, 1),
        2 | 4 => (0, 2),
        3 | 5 => (1, 2),
        m => return Err(format!("the modifier code {m} is not defined")),
    };
    if plane != 0 {
        return Err("images have one plane".into());
    }
    let pitch = row_bytes(width, height)?;
    let write = access.is_store();
    Ok(Message::Media(Media {
        space: p.space(r)?,
        write,
        width: width as u8,
        height: height as u8,
        pitch: pitch as u8,
        x: r.scalar(p.vector(0)?)?,
        y: r.scalar(p.vector(1)?)?,
        lines,
        align: if write { 4 } else { 1 },
        zero_outside: false,
        data: payload_offset(r, p.raw(0)?, write)?,
    }))
}

/// RESINFO: lod, dst.
pub(super) fn size(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let channels = enabled_channels(p.int(0)?)?;
    let lod = r.raw(p.raw(0)?)?;
    info_message(false, channels, lod, 1, p, r)
}

/// SAMPLEINFO: dst.
pub(super) fn lower_sampleinfo(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let channels = enabled_channels(p.int(0)?)?;
    info_message(true, channels, None, 0, p, r)
}

fn info_message(
    samples: bool,
    channels: u8,
    lod: Option<RegOffset>,
    dst: usize,
    p: &Parts,
    r: &mut dyn Resolver,
) -> Result<Message, Reason> {
    let component_stride = (p.channels * 4).next_multiple_of(r.grf());
    Ok(Message::Info(Info {
        space: p.space(r)?,
        samples,
        channels,
        lod,
        data: r.raw(p.raw(dst)?)?,
        component_stride,
    }))
}

/// A rectangle of a flat 2D surface, for the whole thread.
#[derive(Clone, PartialEq, Debug)]
pub struct Block2d {
    /// A store (else a load).
    pub write: bool,
    /// Virtual address of the surface.
    pub base: Src,
    /// Bytes of a row of the surface, less one.
    pub surface_width: Src,
    /// Rows of the surface, less one.
    pub surface_height: Src,
    /// Bytes from row to row, less one.
    pub surface_pitch: Src,
    /// First element of a row, signed.
    pub x: Src,
    /// First row, signed.
    pub y: Src,
    /// Added to `x` and `y`.
    pub offsets: (i32, i32),
    /// Bytes of an element: 1, 2, 4 or 8.
    pub element: u8,
    /// Blocks side by side in memory, one after another in registers.
    pub blocks: u32,
    /// Elements of a block's row.
    pub width: u32,
    /// Rows of a block.
    pub height: u32,
    /// Columns become rows in registers.
    pub transpose: bool,
    /// Elements above each other (transposed: side by side) are interleaved to dwords.
    pub vnni: bool,
    /// Data; `None`: nothing is read.
    pub data: Option<RegOffset>,
    /// Elements from row to row in registers.
    pub row_pitch: u32,
    /// Elements from block to block in registers.
    pub block_pitch: u32,
}

/// Most bytes of registers that a 2D block may take: 64 registers of 64 bytes.
const MAX_BLOCK2D: u32 = 4096;

/// What describes a block where all of it is in one register: an address of 64 bits, then dwords. The last one,
/// the block's shape, repeats that of the instruction.
fn block2d_payload(p: &Parts, r: &mut dyn Resolver) -> Result<[Src; 6], Reason> {
    let Operand::General { var, row, col, .. } = p.vector(0)? else {
        return Err("the address of a block is a register".into());
    };
    let size = r.element(p.vector(0)?).size();
    let offset = u16::try_from(row as u32 * r.grf() + col as u32 * size);
    let offset = offset.map_err(|_| "the register of the block's address is too far in its variable")?;
    let register = Register { op: Operand::Raw { var, offset }, bytes: Some(32) };
    let at = required_offset(r, register, "the address of a block")?;
    let scalar = |offset, ty| Src::Reg {
        offset,
        ty,
        strides: crate::inst::Strides::SCALAR,
        shape: crate::inst::Shape::Scalar,
        modifier: envisa_isa::Modifier::None,
        constant: false,
    };
    let dword = |i: u32| scalar(at + 4 * i, Type::Ud);
    Ok([scalar(at, Type::Uq), dword(2), dword(3), dword(4), dword(5), dword(6)])
}

/// LSC_LOAD_BLOCK2D and LSC_STORE_BLOCK2D.
pub(super) fn lower_block2d(access: Access, p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let write = access.is_store();
    let code = p.int(3)?;
    let size = lsc::data_size(code).filter(|s| s.memory == s.register);
    let element = size.ok_or_else(|| format!("a 2D block has no elements of data size code {code}"))?.memory;
    let (transpose, vnni) = (lsc::is_transposed(p.int(4)?), p.int(8)? != 0);
    let (blocks, width, height) = (p.int(5)?.max(1), p.int(6)?, p.int(7)?);
    let bad = |n: u32| !(1..=64).contains(&n);
    if bad(blocks) || bad(width) || bad(height) {
        return Err(format!("{blocks} blocks of {width} elements and {height} rows"));
    }
    if write && (blocks != 1 || transpose || vnni) {
        return Err("a 2D store has one block, as it is".into());
    }
    if vnni {
        let (side, what) = if transpose { (width, "columns") } else { (height, "rows") };
        if element > 4 || !side.is_multiple_of(4 / element) {
            return Err(format!("{side} {what} of {element}-byte elements are no whole dwords"));
        }
    }
    let shape = lsc::Block2d::new(code, transpose, vnni, (blocks, width, height), r.grf())
        .ok_or("there is no such shape of a block")?;
    if shape.bytes > MAX_BLOCK2D {
        return Err(format!("a 2D block of {} bytes of registers", shape.bytes));
    }
    let data = payload_offset(r, p.raw(write as usize)?, write);
    let surface = match p.int(12)? {
        0 => {
            let mut scalar = |i| p.vector(i).and_then(|v| r.scalar(v));
            [scalar(0)?, scalar(1)?, scalar(2)?, scalar(3)?, scalar(4)?, scalar(5)?]
        }
        _ => block2d_payload(p, r)?,
    };
    let [base, surface_width, surface_height, surface_pitch, x, y] = surface;
    Ok(Message::Block2d(Block2d {
        write,
        base,
        surface_width,
        surface_height,
        surface_pitch,
        x,
        y,
        offsets: (p.int(10)? as i32, p.int(11)? as i32),
        element: element as u8,
        blocks,
        width,
        height,
        transpose,
        vnni,
        data: data?,
        row_pitch: shape.row_pitch,
        block_pitch: shape.block_pitch / element,
    }))
}
