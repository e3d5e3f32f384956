//! Registers that messages read and write.

use super::{
    Atomic, Block, Block2d, Coordinates, Info, Media, Message, Pixels, Sample, SamplerState, Simt, Space,
    TexelSlot, Typed, TypedAtomic,
};
use crate::inst::{Src, Strides};
use crate::registers::{RegOffset, Registers};
use crate::touched::{Touched, Visit, lanes, scalar, visit_whole};
use envisa_isa::operation::Sampling;

/// Where a message's addresses are, as the message is borrowed: to be read or to be changed.
macro_rules! space_of {
    ($message:expr) => {
        match $message {
            Message::Simt(Simt { space, .. })
            | Message::Status(Simt { space, .. })
            | Message::Block(Block { space, .. })
            | Message::Atomic(Atomic { space, .. })
            | Message::Typed(Typed { space, .. })
            | Message::TypedStatus(Typed { space, .. })
            | Message::TypedAtomic(TypedAtomic { space, .. })
            | Message::Media(Media { space, .. })
            | Message::Sample(Sample { space, .. })
            | Message::Pixels(Pixels { space, .. })
            | Message::Info(Info { space, .. }) => Some(space),
            Message::Block2d(Block2d { .. }) | Message::Urb(_) | Message::Raw(_) => None,
        }
    };
}

impl Message {
    /// Bytes of registers it reads: addresses, data of stores, states of surfaces, scalars. (Of elements that
    /// are narrower than their place in a register, those that count.)
    pub fn reads(&self, registers: &Registers, visit: Visit<'_>) {
        if let Some(space) = self.space() {
            space.reads(registers, visit);
        }
        match self {
            Message::Simt(s) | Message::Status(s) => s.reads(matches!(self, Message::Simt(_)), visit),
            Message::Block(b) => {
                scalar(&b.address, visit);
                scalar(&b.origin, visit);
                if b.write {
                    visit_whole(b.data, b.bytes, visit);
                }
            }
            Message::Atomic(a) => a.reads(visit),
            Message::Typed(t) | Message::TypedStatus(t) => {
                t.coordinates.reads(visit);
                lanes(t.sample, t.coordinates.bytes.into(), t.coordinates.bytes.into(), visit);
                if t.write {
                    t.parts(4, visit);
                }
            }
            Message::TypedAtomic(a) => {
                a.coordinates.reads(visit);
                a.src.into_iter().for_each(|r| lanes(r, a.element as u32, a.slot as u32, visit));
            }
            Message::Media(m) => {
                [&m.x, &m.y].into_iter().for_each(|s| scalar(s, visit));
                if m.write {
                    m.rows(visit);
                }
            }
            Message::Block2d(b) => {
                let surface = [&b.base, &b.surface_width, &b.surface_height, &b.surface_pitch, &b.x, &b.y];
                surface.into_iter().for_each(|s| scalar(s, visit));
                if b.write {
                    b.rows(visit);
                }
            }
            Message::Sample(s) => s.reads(visit),
            Message::Raw(r) => {
                r.shape.payloads.into_iter().for_each(|(at, bytes)| visit_whole(at, bytes, visit));
                scalar(&r.descriptor, visit);
                scalar(&r.extended, visit);
            }
            Message::Info(i) => lanes(i.lod, 4, 4, visit),
            Message::Pixels(p) => {
                visit_whole(Some(p.header + 8), 16, visit);
                lanes(p.mask, 2, 2, visit);
                let bytes = if p.half { 2 } else { 4 };
                p.colours.into_iter().for_each(|c| lanes(c, bytes, bytes, visit));
            }
            Message::Urb(u) => {
                [Some(u.handles), u.offsets, u.masks].into_iter().for_each(|r| lanes(r, 4, 4, visit));
                for k in 0..u32::from(u.rows) {
                    lanes(u.data.map(|d| d + k * u.stride), 4, 4, visit);
                }
            }
        }
    }

    /// Bytes of registers it writes. All of them are written, elements if their channel is active and the rest
    /// if the message is executed at all, except by media blocks of an empty image, and by a block that is
    /// [`Block::masked`] where no channel is active; of a raw message's response any part may stay.
    pub fn writes(&self, visit: Visit<'_>) {
        match self {
            Message::Simt(s) if !s.write => s.parts(s.slot as u32, 0, visit),
            Message::Status(s) => visit_whole(s.data, 4, visit),
            Message::Block(b) if !b.write => visit_whole(b.data, b.bytes, visit),
            Message::Atomic(a) => lanes(a.dst, a.slot as u32, a.slot as u32, visit),
            Message::Typed(t) if !t.write => {
                t.parts(if t.slot == TexelSlot::Dword { 4 } else { 2 }, visit);
                if t.null_mask {
                    let after = (t.channels & 15).count_ones() * t.component_stride;
                    visit_whole(t.data.map(|d| d + after), 4, visit);
                }
            }
            Message::Sample(s) => s.writes(visit),
            Message::Raw(r) => visit_whole(r.shape.response.0, r.shape.response.1, visit),
            Message::TypedStatus(t) if t.component_stride != 0 => lanes(t.data, 4, 4, visit),
            Message::TypedStatus(t) => visit_whole(t.data, 4, visit),
            Message::TypedAtomic(a) => lanes(a.dst, a.slot as u32, a.slot as u32, visit),
            Message::Media(m) if !m.write => m.rows(visit),
            Message::Block2d(b) if !b.write => {
                visit_whole(b.data, b.blocks * b.block_pitch * b.element as u32, visit);
            }
            Message::Info(i) => {
                for c in 0..(i.channels & 15).count_ones() {
                    lanes(i.data.map(|d| d + c * i.component_stride), 4, 4, visit);
                }
            }
            Message::Simt(_)
            | Message::Block(_)
            | Message::Typed(_)
            | Message::Media(_)
            | Message::Block2d(_)
            | Message::Pixels(_)
            | Message::Urb(_) => {}
        }
    }

    /// Where its addresses are; 2D blocks have their own.
    pub fn space(&self) -> Option<&Space> {
        space_of!(self)
    }

    /// Where its addresses are, to be changed; 2D blocks have their own.
    pub(crate) fn space_mut(&mut self) -> Option<&mut Space> {
        space_of!(self)
    }
}

impl Space {
    fn reads(&self, registers: &Registers, visit: Visit<'_>) {
        match self {
            Space::Bti(s)
            | Space::Bindless(s)
            | Space::Scratch(s)
            | Space::Counter(s)
            | Space::HandleCounter(s) => scalar(s, visit),
            // `r0.0` says where they start.
            Space::Arguments => {
                let r0 = registers.predefined[envisa_isa::predefined::var::R0 as usize];
                visit_whole(Some(r0), 4, visit);
            }
            Space::Flat | Space::Slm | Space::GeneralState | Space::Table(_) | Space::Handle(_) => {}
        }
    }
}

impl Simt {
    fn reads(&self, data: bool, visit: Visit<'_>) {
        let bytes = self.address_bytes as u32;
        match self.stride {
            Src::None => {
                lanes(Some(self.address), bytes, bytes, visit);
                for a in self.extend.addends() {
                    let each = if a.scalar {
                        visit_whole
                    } else {
                        |at, bytes, v: Visit<'_>| lanes(at, bytes, bytes, v)
                    };
                    a.halves().for_each(|at| each(Some(at), 4, visit));
                }
            }
            ref stride => {
                visit_whole(Some(self.address), bytes, visit);
                scalar(stride, visit);
            }
        }
        scalar(&self.base, visit);
        scalar(&self.origin, visit);
        if self.write && data {
            self.parts(self.element as u32, if self.upper { 2 } else { 0 }, visit);
        }
    }

    /// `bytes` bytes of each element's place in the register, from `skip` on.
    fn parts(&self, bytes: u32, skip: u32, visit: Visit<'_>) {
        if self.is_paired() {
            return lanes(self.data, 8, 8, visit);
        }
        for c in 0..self.elements.count_ones() {
            lanes(self.data.map(|d| d + c * self.component_stride + skip), bytes, self.slot as u32, visit);
        }
    }
}

impl Atomic {
    fn reads(&self, visit: Visit<'_>) {
        if self.address_bytes != 0 {
            lanes(Some(self.address), self.address_bytes as u32, self.address_bytes as u32, visit);
        }
        scalar(&self.base, visit);
        scalar(&self.origin, visit);
        self.src.into_iter().for_each(|r| lanes(r, self.element as u32, self.slot as u32, visit));
    }
}

impl Coordinates {
    fn reads(&self, visit: Visit<'_>) {
        let bytes = self.bytes as u32;
        self.at.into_iter().for_each(|r| lanes(r, bytes, bytes, visit));
        scalar(&self.offsets, visit);
    }
}

impl Typed {
    fn parts(&self, bytes: u32, visit: Visit<'_>) {
        for c in 0..(self.channels & 15).count_ones() {
            lanes(self.data.map(|d| d + c * self.component_stride), bytes, bytes, visit);
        }
    }
}

impl Sample {
    fn reads(&self, visit: Visit<'_>) {
        for p in &self.parameters {
            match p.at {
                // A level of detail is that of four channels, whichever are active.
                Some(offset) if self.what == Sampling::LevelOfDetail => visit(Touched::Region {
                    offset,
                    bytes: p.bytes as u32,
                    strides: Strides::CONTIGUOUS,
                    together: 4,
                }),
                at => lanes(at, p.bytes as u32, p.bytes as u32, visit),
            }
        }
        scalar(&self.offsets, visit);
        let (SamplerState::Index(state) | SamplerState::Handle(state)) = &self.state;
        scalar(state, visit);
    }

    fn writes(&self, visit: Visit<'_>) {
        let bytes = if self.slot == TexelSlot::Dword { 4 } else { 2 };
        let count = (self.channels & 15).count_ones();
        for c in 0..count {
            lanes(self.data.map(|d| d + c * self.component_stride), bytes, bytes, visit);
        }
        if self.null_mask {
            visit_whole(self.data.map(|d| d + count * self.component_stride), 4, visit);
        }
    }
}

impl Media {
    fn rows(&self, visit: Visit<'_>) {
        let row = |y: u32| -> Option<RegOffset> { self.data.map(|d| d + y * self.pitch as u32) };
        (0..self.height as u32).for_each(|y| visit_whole(row(y), self.width as u32, visit));
    }
}

impl Block2d {
    /// The rows of a store: as they are, one block.
    fn rows(&self, visit: Visit<'_>) {
        let element = self.element as u32;
        for y in 0..self.height {
            visit_whole(self.data.map(|d| d + y * self.row_pitch * element), self.width * element, visit);
        }
    }
}
