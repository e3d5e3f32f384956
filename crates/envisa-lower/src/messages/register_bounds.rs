//! Whether what a message touches lies inside of the register file.

use envisa_isa::limits::SAMPLER_PARAMETERS;

use super::{
    Addend, Block2d, Coordinates, Extend, Message, Sample, SampleParameter, SamplerState, Simt, Space,
    TexelSlot,
};
use crate::inst::Src;
use crate::registers::RegOffset;

impl Message {
    /// Do all registers that it names lie inside of a file of `len` bytes, for an instruction of this many channels, and
    /// do its numbers mean something? Handlers access them unchecked, so a message must have passed here once.
    pub fn is_inside(&self, channels: u32, len: u32) -> bool {
        if !matches!(channels, 1 | 2 | 4 | 8 | 16 | 32) {
            return false;
        }
        let file = File { len, n: channels as u64 };
        match self {
            Message::Simt(s) => simt_fits(s, false, file),
            Message::Status(s) => simt_fits(s, true, file),
            Message::Block(b) => {
                file.contains(b.data, b.bytes as u64)
                    && b.space.is_inside(file.len)
                    && file.scalar(&b.address)
                    && file.scalar(&b.origin)
            }
            Message::Atomic(a) => {
                matches!((a.element, a.slot), (2, 2 | 4) | (4, 4) | (8, 8))
                    && match a.space {
                        Space::Counter(_) | Space::HandleCounter(_) => a.address_bytes == 0,
                        _ => matches!(a.address_bytes, 2 | 4 | 8),
                    }
                    && file.contains(Some(a.address), file.n * a.address_bytes as u64)
                    && a.extend.addends().is_empty()
                    && [a.src[0], a.src[1], a.dst]
                        .into_iter()
                        .all(|r| file.contains(r, file.n * a.slot as u64))
                    && a.space.is_inside(file.len)
                    && file.scalar(&a.base)
                    && file.scalar(&a.origin)
            }
            Message::Typed(t) => {
                let slot = if t.slot == TexelSlot::Dword { 4 } else { 2 };
                let count = (t.channels & 15).count_ones();
                file.contains_parts(t.data, count, t.component_stride, file.n * slot)
                    && (!t.null_mask || file.contains_parts(t.data, count + 1, t.component_stride, 4))
                    && !(t.write && slot != 4)
                    && file.contains_coordinates(&t.coordinates)
                    && file.contains(t.sample, file.n * t.coordinates.bytes as u64)
                    && t.space.is_inside(file.len)
            }
            Message::TypedStatus(t) => {
                file.contains(t.data, if t.component_stride == 0 { 4 } else { file.n * 4 })
                    && file.contains_coordinates(&t.coordinates)
                    && t.space.is_inside(file.len)
            }
            Message::TypedAtomic(a) => {
                matches!((a.element, a.slot), (2, 4) | (4, 4) | (8, 8))
                    && file.contains_coordinates(&a.coordinates)
                    && [a.src[0], a.src[1], a.dst]
                        .into_iter()
                        .all(|r| file.contains(r, file.n * a.slot as u64))
                    && a.space.is_inside(file.len)
            }
            Message::Media(m) => {
                file.contains_parts(m.data, m.height as u32, m.pitch as u32, m.width as u64)
                    && m.space.is_inside(file.len)
                    && file.scalar(&m.x)
                    && file.scalar(&m.y)
            }
            Message::Block2d(b) => block2d_fits(b, file),
            Message::Sample(s) => sample_fits(s, file),
            Message::Raw(r) => {
                r.shape.channels == channels
                    && [r.shape.payloads[0], r.shape.payloads[1], r.shape.response]
                        .into_iter()
                        .all(|(at, bytes)| file.contains(at, bytes as u64))
                    && file.scalar(&r.descriptor)
                    && file.scalar(&r.extended)
            }
            Message::Pixels(p) => {
                let colour = file.n * if p.half { 2 } else { 4 };
                // The header has the places of four squares.
                file.n <= 16
                    && file.contains(Some(p.header), 32)
                    && file.contains(p.mask, file.n * 2)
                    && p.colours.into_iter().all(|c| file.contains(c, colour))
                    && p.space.is_inside(file.len)
            }
            Message::Urb(u) => {
                [Some(u.handles), u.offsets, u.masks].into_iter().all(|r| file.contains(r, file.n * 4))
                    && (u.rows == 0
                        || u.data.is_some()
                            && file.contains_parts(u.data, u.rows.into(), u.stride, file.n * 4))
            }
            Message::Info(i) => {
                file.contains_parts(i.data, (i.channels & 15).count_ones(), i.component_stride, file.n * 4)
                    && file.contains(i.lod, file.n * 4)
                    && i.space.is_inside(file.len)
            }
        }
    }
}

/// A register file of `len` bytes, for an instruction of `n` channels.
#[derive(Clone, Copy)]
struct File {
    len: u32,
    n: u64,
}

impl File {
    fn contains(self, at: Option<RegOffset>, bytes: u64) -> bool {
        at.is_none_or(|a| a as u64 + bytes <= self.len as u64)
    }

    /// `components` parts of `bytes` bytes, each `stride` after the one before.
    fn contains_parts(self, data: Option<RegOffset>, components: u32, stride: u32, bytes: u64) -> bool {
        components != 0 && self.contains(data, (components as u64 - 1) * stride as u64 + bytes)
    }

    fn scalar(self, s: &Src) -> bool {
        s.first_is_inside(self.len)
    }

    fn contains_coordinates(self, c: &Coordinates) -> bool {
        matches!(c.bytes, 2 | 4 | 8)
            && self.scalar(&c.offsets)
            && c.at.iter().all(|r| self.contains(*r, self.n * c.bytes as u64))
    }
}

/// Of loads and stores, and of `status`, which tell only whether they would reach memory.
fn simt_fits(s: &Simt, status: bool, file: File) -> bool {
    let addresses = if matches!(s.stride, Src::None) { file.n } else { 1 };
    let data = match status {
        true => file.contains(s.data, 4),
        false if s.is_paired() => file.contains(s.data, file.n * 8),
        false => {
            file.contains_parts(s.data, s.elements.count_ones(), s.component_stride, file.n * s.slot as u64)
        }
    };
    let sizes = matches!((s.element, s.slot), (1, 1 | 4) | (2, 2 | 4) | (4, 4) | (8, 8));
    data && (sizes || s.is_paired() && !status)
        && matches!(s.address_bytes, 2 | 4 | 8)
        && file.contains(Some(s.address), addresses * s.address_bytes as u64)
        && match s.extend {
            Extend::Sum(_) | Extend::Joined(_) => {
                let bytes = |a: &Addend| if a.scalar { 4 } else { 4 * file.n };
                (s.space, s.address_bytes, s.stride) == (Space::Flat, 4, Src::None)
                    && s.extend
                        .addends()
                        .iter()
                        .all(|a| a.halves().all(|at| file.contains(Some(at), bytes(a))))
            }
            _ => true,
        }
        && s.space.is_inside(file.len)
        && file.scalar(&s.base)
        && file.scalar(&s.origin)
        && file.scalar(&s.stride)
}

fn block2d_fits(b: &Block2d, file: File) -> bool {
    let (rows, columns) = if b.transpose { (b.width, b.height) } else { (b.height, b.width) };
    let together = if b.vnni { 4 / b.element.max(1) as u32 } else { 1 };
    let limit = |n: u32| (1..=64).contains(&n);
    let elements = if b.write {
        (rows as u64).saturating_sub(1) * b.row_pitch as u64 + columns as u64
    } else {
        b.blocks as u64 * b.block_pitch as u64
    };
    matches!(b.element, 1 | 2 | 4 | 8)
        && [b.blocks, b.width, b.height].into_iter().all(limit)
        && together != 0
        && rows.is_multiple_of(together)
        && columns <= b.row_pitch
        && (b.write || rows as u64 * b.row_pitch as u64 <= b.block_pitch as u64)
        && !(b.write && (b.transpose || b.vnni || b.blocks != 1))
        && file.contains(b.data, elements * b.element as u64)
        && [&b.base, &b.surface_width, &b.surface_height, &b.surface_pitch, &b.x, &b.y]
            .into_iter()
            .all(|s| file.scalar(s))
}

fn sample_fits(s: &Sample, file: File) -> bool {
    let slot = if s.slot == TexelSlot::Dword { 4 } else { 2 };
    let count = (s.channels & 15).count_ones();
    let parameter =
        |p: &SampleParameter| matches!(p.bytes, 2 | 4) && file.contains(p.at, file.n * p.bytes as u64);
    let (SamplerState::Index(state) | SamplerState::Handle(state)) = &s.state;
    file.contains_parts(s.data, count, s.component_stride, file.n * slot)
        && (!s.null_mask || file.contains_parts(s.data, count + 1, s.component_stride, 4))
        && s.parameters.len() <= SAMPLER_PARAMETERS
        && s.parameters.iter().all(parameter)
        && file.scalar(&s.offsets)
        && file.scalar(state)
        && s.space.is_inside(file.len)
}

impl Src {
    /// Does the first element, or the first address register, lie inside of a register file of `len` bytes?
    fn first_is_inside(&self, len: u32) -> bool {
        let inside = |at: RegOffset, bytes: u32| at.checked_add(bytes).is_some_and(|end| end <= len);
        match *self {
            Src::None => true,
            Src::Reg { offset, ty, .. } => inside(offset, ty.size()),
            Src::Indirect { address, .. } => inside(address, 2),
            Src::Pred { offset, .. } => inside(offset, 4),
        }
    }
}

impl Space {
    fn is_inside(&self, len: u32) -> bool {
        match self {
            Space::Bti(s)
            | Space::Bindless(s)
            | Space::Scratch(s)
            | Space::Counter(s)
            | Space::HandleCounter(s) => s.first_is_inside(len),
            Space::Flat
            | Space::Slm
            | Space::Table(_)
            | Space::Handle(_)
            | Space::GeneralState
            | Space::Arguments => true,
        }
    }
}
