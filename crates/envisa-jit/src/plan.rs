//! Images and samplers as native code has them: the kind, which code is made for, and the numbers, which it reads.

use envisa_lower::{Message, Program, Sample, SamplerState, Space, Src, TexelSlot, Typed};
use envisa_machine::dispatch::Prepared;
use envisa_machine::memory::{Bound, Image, ImageShape, Permission, Surface, SurfaceTable};
use envisa_machine::sampler::Sampler;
use envisa_machine::thread::Machine;
use envisa_sem::image::{ChannelOrder, ChannelType};
use envisa_sem::sampler::{Addressing, Axis, MOST_TEXELS, Reduction};

use crate::layout::Site;
use crate::shape::constant;

/// How texels are stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Texel {
    /// Four normalised bytes.
    Rgba8,
    /// The same, blue first.
    Bgra8,
    /// One of them.
    R8,
}

impl Texel {
    fn of(image: &Image) -> Option<Texel> {
        let order = ChannelOrder::from_cl(image.channel_order)?;
        match (order, ChannelType::from_cl(image.channel_type)?, image.texel_bytes) {
            (ChannelOrder::Rgba, ChannelType::Unorm8, 4) => Some(Texel::Rgba8),
            (ChannelOrder::Bgra, ChannelType::Unorm8, 4) => Some(Texel::Bgra8),
            (ChannelOrder::R, ChannelType::Unorm8, 1) => Some(Texel::R8),
            _ => None,
        }
    }

    /// The bit where a channel of those of four begins.
    pub fn shift(self, channel: u32) -> u32 {
        match (self, channel) {
            (Texel::Bgra8, 0 | 2) => 8 * (2 - channel),
            _ => 8 * channel,
        }
    }
}

/// What code for a message is made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    /// Texels are found by coordinates.
    Sampled(Sampled),
    /// Texels are written.
    Stored(Texel),
}

/// An image with its sampler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Sampled {
    pub texel: Texel,
    pub linear: bool,
    pub normalized: bool,
    pub addressing: Addressing,
    /// The image has three dimensions, rather than two.
    pub deep: bool,
}

impl Kind {
    /// The number that a site of this kind has; never zero.
    pub fn code(self) -> i32 {
        match self {
            Kind::Sampled(s) => {
                let flags = s.linear as i32 | (s.normalized as i32) << 1 | (s.deep as i32) << 2;
                1 << 8 | flags << 4 | (s.addressing as i32) << 12 | s.texel as i32
            }
            Kind::Stored(texel) => 1 << 9 | texel as i32,
        }
    }
}

/// Offsets of the numbers in a message's second site.
pub(crate) mod number {
    /// Of each direction: how many texels, as singles.
    pub const SIZE: u32 = 0;
    /// The number of the last one.
    pub const LAST: u32 = 12;
    /// How many.
    pub const COUNT: u32 = 24;
    /// From row to row, and from plane to plane, in units of an offset.
    pub const PITCH: u32 = 36;
    /// The last offset where a dword is inside.
    pub const LIMIT: u32 = 44;
    /// Where coordinates that count texels end, as singles.
    pub const END: u32 = 48;
}

/// Does a program need second sites? They are behind the others.
pub(crate) fn samples(p: &Program) -> bool {
    p.messages().iter().any(|m| matches!(m, Message::Sample(_)))
}

/// How many sites a program has.
pub(crate) fn sites(p: &Program) -> usize {
    let n = p.messages().len().max(1);
    if samples(p) { 2 * n } else { n }
}

fn surface_of(p: &Program, space: &Space) -> Option<u32> {
    match space {
        Space::Bti(src) => u32::try_from(constant(p, src)?).ok(),
        Space::Table(bti) => Some(*bti),
        _ => None,
    }
}

fn image<'a>(p: &Program, surfaces: &'a SurfaceTable, space: &Space) -> Option<(&'a Image, &'a Bound)> {
    let bound = surfaces.get(surface_of(p, space)?);
    let Surface::Image(image) = &bound.surface else { return None };
    let plain = (image.levels, image.samples) == (1, 1);
    (plain && matches!(image.shape, ImageShape::D2 | ImageShape::D3)).then_some((image, bound))
}

fn sampler(p: &Program, samplers: &[Option<Sampler>], s: &Sample) -> Option<Sampler> {
    let SamplerState::Index(index) = &s.state else { return None };
    *samplers.get(usize::try_from(constant(p, index)?).ok()?)?
}

fn sampled(image: &Image, sampler: Sampler) -> Option<Sampled> {
    use Addressing::*;
    let (addressing, normalized) = (sampler.addressing, sampler.normalized);
    let wraps = matches!(addressing, Repeat | MirroredRepeat);
    let plain = sampler.border.is_none() && sampler.reduction == Reduction::Average;
    (plain && (normalized || !wraps)).then_some(())?;
    let addressing = if addressing == None { Clamp } else { addressing };
    let deep = image.shape == ImageShape::D3;
    Some(Sampled { texel: Texel::of(image)?, linear: sampler.linear, normalized, addressing, deep })
}

fn stored(t: &Typed, image: &Image) -> Option<Texel> {
    let plain = t.write && t.channels == 15 && t.slot == TexelSlot::Dword && t.sample.is_none();
    let texel = Texel::of(image).filter(|t| *t != Texel::R8)?;
    (plain && image.shape == ImageShape::D2).then_some(texel)
}

fn kind(p: &Program, surfaces: &SurfaceTable, samplers: &[Option<Sampler>], m: &Message) -> Option<Kind> {
    match m {
        Message::Sample(s) => {
            let (image, _) = image(p, surfaces, &s.space)?;
            Some(Kind::Sampled(sampled(image, sampler(p, samplers, s)?)?))
        }
        Message::Typed(t) => Some(Kind::Stored(stored(t, image(p, surfaces, &t.space)?.0)?)),
        _ => None,
    }
}

/// Of a program's messages to images: which they are, and of what kind in a launch.
pub(crate) fn kinds(p: &Program, prepared: &Prepared) -> Vec<(u32, Kind)> {
    let all = p.messages().iter().enumerate();
    all.filter_map(|(k, m)| Some((k as u32, kind(p, &prepared.surfaces, &prepared.samplers, m)?))).collect()
}

/// Aims the sites of a message to an image.
pub(crate) fn aim(m: &Machine<'_>, aux: usize, sites: &mut [Site]) {
    let (p, env) = (m.env.program, &m.env);
    let Some(message) = p.messages().get(aux) else { return };
    let Some(kind) = kind(p, env.surfaces, env.samplers, message) else { return };
    let second = p.messages().len().max(1) + aux;
    match (kind, message) {
        (Kind::Sampled(s), Message::Sample(what)) => {
            let Some((image, bound)) = image(p, env.surfaces, &what.space) else { return };
            let Some((pointer, numbers)) = numbers(&s, image, bound) else { return };
            if let Some(site) = sites.get_mut(second) {
                *site = Site::of(numbers);
                sites[aux] = Site { low: kind.code() as u32, pointer, ..Site::NOWHERE };
            }
        }
        (Kind::Stored(_), Message::Typed(t)) => {
            let Some((image, bound)) = image(p, env.surfaces, &t.space) else { return };
            let Some((pointer, [row, _], _)) = place(image, bound) else { return };
            let writable = bound.allocation.as_ref().is_some_and(|a| a.permission != Permission::ReadOnly);
            if let (true, Some(site)) = (writable, sites.get_mut(aux)) {
                let (count, last16) = (image.width, image.height);
                *site = Site { low: kind.code() as u32, count, last16, last: row, pointer, ..Site::NOWHERE };
            }
        }
        _ => {}
    }
}

/// Where an image begins, what is from row to row and from plane to plane, and the offset of its last texel: all of it
/// in memory, and small. Offsets count dwords where texels are dwords, else bytes.
fn place(image: &Image, bound: &Bound) -> Option<(u64, [u32; 2], u32)> {
    let block = &bound.allocation.as_ref()?.block;
    let unit = if image.texel_bytes == 4 { 4 } else { 1 };
    let first = image.texel(0, 0, 0)?;
    let [x, y, z] = [image.width, image.height, image.depth].map(|n| n.wrapping_sub(1));
    let last = image.texel(x, y, z)?;
    let texel = image.texel_bytes as usize;
    let fits = block.contains(first, texel) && block.contains(last, texel) && last - first < 1 << 30;
    let slice = if image.depth > 1 { u32::try_from(image.slice_pitch).ok()? } else { 0 };
    let pitches = [image.row_pitch, slice];
    (fits && pitches.iter().all(|x| x % unit == 0 && *x < 1 << 30)).then_some(())?;
    let pointer = (block.as_ptr() as u64).wrapping_add(first as u64);
    Some((pointer, pitches.map(|x| x / unit), (last - first) as u32 / unit))
}

fn numbers(s: &Sampled, image: &Image, bound: &Bound) -> Option<(u64, [u32; 16])> {
    let (pointer, pitches, last) = place(image, bound)?;
    let sizes = [image.width, image.height, image.depth];
    sizes.iter().all(|n| (1..=MOST_TEXELS).contains(n)).then_some(())?;
    let limit = if s.texel == Texel::R8 { last.checked_sub(3)? } else { last };
    let mut all = [0; 16];
    for (k, &size) in sizes.iter().enumerate() {
        let axis = Axis { size, addressing: s.addressing, normalized: s.normalized };
        all[k] = (size as f32).to_bits();
        all[3 + k] = size - 1;
        all[6 + k] = size;
        all[12 + k] = axis.bounds()[1].to_bits();
    }
    (all[9], all[10], all[11]) = (pitches[0], pitches[1], limit);
    Some((pointer, all))
}

/// What a scalar is that is nothing or zero.
pub(crate) fn is_zero(p: &Program, s: &Src) -> bool {
    matches!(s, Src::None) || constant(p, s) == Some(0)
}
