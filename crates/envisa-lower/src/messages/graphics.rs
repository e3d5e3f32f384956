//! Messages of shaders: pixels to render targets, vertices to the unified return buffer.

use envisa_isa::Type;

use super::untyped::required_offset;
use super::{Message, Parts, Reason, Resolver, Space};
use crate::registers::RegOffset;

/// Each channel writes a pixel of a render target. Four channels are the pixels of a square, row by row, whose place
/// a dword of the header holds.
#[derive(Clone, PartialEq, Debug)]
pub struct Pixels {
    /// The render target.
    pub space: Space,
    /// The header, the pixel shader's second register: dword `2 + i` is the place of square `i`, x in its low word.
    pub header: RegOffset,
    /// Red, green, blue and alpha, as far as they are written.
    pub colours: [Option<RegOffset>; 4],
    /// They are halves (else singles).
    pub half: bool,
    /// Words whose bit `k` says whether sample `k` of a channel's pixel is written.
    pub mask: Option<RegOffset>,
}

/// Each channel writes dwords of its vertex, one of every register of the data.
#[derive(Clone, PartialEq, Debug)]
pub struct Urb {
    /// Dwords, each channel's handle.
    pub handles: RegOffset,
    /// Added to what a handle stands for, in 16 bytes.
    pub offset: u32,
    /// Dwords, each channel's own addition, in 16 bytes.
    pub offsets: Option<RegOffset>,
    /// Dwords, bit `k` of which says whether a channel's dword `k` is written.
    pub masks: Option<RegOffset>,
    /// Registers of data.
    pub rows: u8,
    /// Bytes from one to the next.
    pub stride: u32,
    /// The data.
    pub data: Option<RegOffset>,
}

const SOURCE0_ALPHA: u32 = 1 << 3;
const OUTPUT_MASK: u32 = 1 << 4;
const NULL: u32 = 1 << 12;
/// What asks for a buffer or a way of shading that there is none of.
const UNSUPPORTED: [(u32, &str); 6] = [
    (1 << 5, "depth: no operand names a depth buffer"),
    (1 << 6, "stencil: no operand names a stencil buffer"),
    (1 << 8, "coarse pixels"),
    (1 << 9, "sample by sample"),
    (1 << 10, "coarse pixels"),
    (1 << 11, "sample by sample"),
];

/// RT_WRITE: the header, then what its mode says: source 0 alpha, mask, colours.
pub(super) fn lower_rt_write(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let mode = p.int(0)?;
    for (bit, what) in UNSUPPORTED {
        if mode & bit != 0 {
            return Err(format!("it writes {what}"));
        }
    }
    // Which target it is, and source 0 alpha, are for blending and tests of alpha, which no surface has.
    let mut next = 1 + usize::from(mode & SOURCE0_ALPHA != 0);
    let mut mask = None;
    if mode & OUTPUT_MASK != 0 {
        mask = r.raw(p.raw(next)?)?;
        next += 1;
    }
    let header = r.raw(p.raw(0)?)?.ok_or("it has no header, and nothing else says where its pixels are")?;
    let mut colours = [None; 4];
    let mut half = None;
    for (i, colour) in colours.iter_mut().enumerate() {
        let operand = p.raw(next + i)?;
        *colour = r.raw(operand)?;
        let is_half = r.element(operand.op) == Type::Hf;
        if colour.is_some() && half.replace(is_half).is_some_and(|before| before != is_half) {
            return Err("its colours are halves and singles".into());
        }
    }
    if mode & NULL != 0 {
        colours = [None; 4];
    }
    Ok(Message::Pixels(Pixels { space: p.space(r)?, header, colours, half: half == Some(true), mask }))
}

/// URB_WRITE: the mask, handles, the channels' own offsets, data.
pub(super) fn lower_urb_write(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let (rows, offset) = (p.int(0)?, p.int(1)?);
    if rows > 8 {
        return Err(format!("{rows} registers of data: there are up to 8"));
    }
    let masks = r.raw(p.raw(0)?)?;
    let handles = required_offset(r, p.raw(1)?, "handles")?;
    let offsets = r.raw(p.raw(2)?)?;
    let data = r.raw(p.raw(3)?)?;
    if rows != 0 && data.is_none() {
        return Err("it has no data".into());
    }
    Ok(Message::Urb(Urb { handles, offset, offsets, masks, rows: rows as u8, stride: r.grf(), data }))
}
