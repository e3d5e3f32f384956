//! Registers that messages read and write.

use super::{
    Atomic, Block, Block2d, Coordinates, Info, Media, Message, Sample, SamplerState, Simt, Space, TexelSlot,
    Typed, TypedAtomic,
};
use crate::program::{RegOffset, Registers, Src, Strides};
use crate::touched::{Tell, Touched, lanes, scalar, whole};
use envisa_isa::operation::Sampling;

impl Message {
    /// Bytes of registers it reads: addresses, data of stores, states of surfaces, scalars. (Of elements that
    /// are narrower than their place in a register, those that count.)
    pub fn reads(&self, registers: &Registers, tell: Tell<'_>) {
        if let Some(space) = self.space() {
            space.reads(registers, tell);
        }
        match self {
            Message::Simt(s) | Message::Status(s) => s.reads(matches!(self, Message::Simt(_)), tell),
            Message::Block(b) => {
                scalar(&b.address, tell);
                if b.write {
                    whole(b.data, b.bytes, tell);
                }
            }
            Message::Atomic(a) => a.reads(tell),
            Message::Typed(t) | Message::TypedStatus(t) => {
                t.coordinates.reads(tell);
                if t.write {
                    t.parts(4, tell);
                }
            }
            Message::TypedAtomic(a) => {
                a.coordinates.reads(tell);
                a.src.into_iter().for_each(|r| lanes(r, a.element as u32, a.slot as u32, tell));
            }
            Message::Media(m) => {
                [&m.x, &m.y].into_iter().for_each(|s| scalar(s, tell));
                if m.write {
                    m.rows(tell);
                }
            }
            Message::Block2d(b) => {
                let surface = [&b.base, &b.surface_width, &b.surface_height, &b.surface_pitch, &b.x, &b.y];
                surface.into_iter().for_each(|s| scalar(s, tell));
                if b.write {
                    b.rows(tell);
                }
            }
            Message::Sample(s) => s.reads(tell),
            Message::Raw(r) => {
                r.shape.payloads.into_iter().for_each(|(at, bytes)| whole(at, bytes, tell));
                scalar(&r.descriptor, tell);
                scalar(&r.extended, tell);
            }
            Message::Info(i) => lanes(i.lod, 4, 4, tell),
        }
    }

    /// Bytes of registers it writes. All of them are written, elements if their channel is active and the rest
    /// if the message is executed at all, except by media blocks of an empty image, and by a block that is
    /// [`Block::masked`] where no channel is active; of a raw message's response any part may stay.
    pub fn writes(&self, tell: Tell<'_>) {
        match self {
            Message::Simt(s) if !s.write => s.parts(s.slot as u32, 0, tell),
            Message::Status(s) => whole(s.data, 4, tell),
            Message::Block(b) if !b.write => whole(b.data, b.bytes, tell),
            Message::Atomic(a) => lanes(a.dst, a.slot as u32, a.slot as u32, tell),
            Message::Typed(t) if !t.write => {
                t.parts(if t.slot == TexelSlot::Dword { 4 } else { 2 }, tell);
                if t.null_mask {
                    let after = (t.channels & 15).count_ones() * t.component_stride;
                    whole(t.data.map(|d| d + after), 4, tell);
                }
            }
            Message::Sample(s) => s.writes(tell),
            Message::Raw(r) => whole(r.shape.response.0, r.shape.response.1, tell),
            Message::TypedStatus(t) => whole(t.data, 4, tell),
            Message::TypedAtomic(a) => lanes(a.dst, a.slot as u32, a.slot as u32, tell),
            Message::Media(m) if !m.write => m.rows(tell),
            Message::Block2d(b) if !b.write => {
                whole(b.data, b.blocks * b.block_pitch * b.element as u32, tell);
            }
            Message::Info(i) => {
                for c in 0..(i.channels & 15).count_ones() {
                    lanes(i.data.map(|d| d + c * i.component_stride), 4, 4, tell);
                }
            }
            Message::Simt(_)
            | Message::Block(_)
            | Message::Typed(_)
            | Message::Media(_)
            | Message::Block2d(_) => {}
        }
    }

    /// Where its addresses are; 2D blocks have their own.
    pub fn space(&self) -> Option<&Space> {
        Some(match self {
            Message::Simt(Simt { space, .. })
            | Message::Status(Simt { space, .. })
            | Message::Block(Block { space, .. })
            | Message::Atomic(Atomic { space, .. })
            | Message::Typed(Typed { space, .. })
            | Message::TypedStatus(Typed { space, .. })
            | Message::TypedAtomic(TypedAtomic { space, .. })
            | Message::Media(Media { space, .. })
            | Message::Sample(Sample { space, .. })
            | Message::Info(Info { space, .. }) => space,
            Message::Block2d(Block2d { .. }) | Message::Raw(_) => return None,
        })
    }
}

impl Space {
    fn reads(&self, registers: &Registers, tell: Tell<'_>) {
        match self {
            Space::Bti(s) | Space::Bindless(s) | Space::Scratch(s) => scalar(s, tell),
            // `r0.0` says where they start.
            Space::Arguments => {
                let r0 = registers.predefined[envisa_isa::predefined::var::R0 as usize];
                whole(Some(r0), 4, tell);
            }
            Space::Flat | Space::Slm | Space::GeneralState | Space::Table(_) | Space::Handle(_) => {}
        }
    }
}

impl Simt {
    fn reads(&self, data: bool, tell: Tell<'_>) {
        let bytes = self.address_bytes as u32;
        match self.stride {
            Src::None => lanes(Some(self.address), bytes, bytes, tell),
            ref stride => {
                whole(Some(self.address), bytes, tell);
                scalar(stride, tell);
            }
        }
        scalar(&self.base, tell);
        scalar(&self.origin, tell);
        if self.write && data {
            self.parts(self.element as u32, if self.upper { 2 } else { 0 }, tell);
        }
    }

    /// `bytes` bytes of each element's place in the register, from `skip` on.
    fn parts(&self, bytes: u32, skip: u32, tell: Tell<'_>) {
        for c in 0..self.elements.count_ones() {
            lanes(self.data.map(|d| d + c * self.component_stride + skip), bytes, self.slot as u32, tell);
        }
    }
}

impl Atomic {
    fn reads(&self, tell: Tell<'_>) {
        lanes(Some(self.address), self.address_bytes as u32, self.address_bytes as u32, tell);
        scalar(&self.base, tell);
        scalar(&self.origin, tell);
        self.src.into_iter().for_each(|r| lanes(r, self.element as u32, self.slot as u32, tell));
    }
}

impl Coordinates {
    fn reads(&self, tell: Tell<'_>) {
        let bytes = self.bytes as u32;
        self.at.into_iter().for_each(|r| lanes(r, bytes, bytes, tell));
        scalar(&self.offsets, tell);
    }
}

impl Typed {
    fn parts(&self, bytes: u32, tell: Tell<'_>) {
        for c in 0..(self.channels & 15).count_ones() {
            lanes(self.data.map(|d| d + c * self.component_stride), bytes, bytes, tell);
        }
    }
}

impl Sample {
    fn reads(&self, tell: Tell<'_>) {
        for p in &self.parameters {
            match p.at {
                // A level of detail is that of four channels, whichever are active.
                Some(offset) if self.what == Sampling::LevelOfDetail => tell(Touched::Region {
                    offset,
                    bytes: p.bytes as u32,
                    strides: Strides::CONTIGUOUS,
                    together: 4,
                }),
                at => lanes(at, p.bytes as u32, p.bytes as u32, tell),
            }
        }
        scalar(&self.offsets, tell);
        let (SamplerState::Index(state) | SamplerState::Handle(state)) = &self.state;
        scalar(state, tell);
    }

    fn writes(&self, tell: Tell<'_>) {
        let bytes = if self.slot == TexelSlot::Dword { 4 } else { 2 };
        let count = (self.channels & 15).count_ones();
        for c in 0..count {
            lanes(self.data.map(|d| d + c * self.component_stride), bytes, bytes, tell);
        }
        if self.null_mask {
            whole(self.data.map(|d| d + count * self.component_stride), 4, tell);
        }
    }
}

impl Media {
    fn rows(&self, tell: Tell<'_>) {
        let row = |y: u32| -> Option<RegOffset> { self.data.map(|d| d + y * self.pitch as u32) };
        (0..self.height as u32).for_each(|y| whole(row(y), self.width as u32, tell));
    }
}

impl Block2d {
    /// The rows of a store: as they are, one block.
    fn rows(&self, tell: Tell<'_>) {
        let element = self.element as u32;
        for y in 0..self.height {
            whole(self.data.map(|d| d + y * self.row_pitch * element), self.width * element, tell);
        }
    }
}
