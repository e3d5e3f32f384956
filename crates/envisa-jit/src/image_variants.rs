//! Images and samplers as native code has them: the kind, which code is made for, and the numbers, which it reads.

use envisa_lower::{Media, Message, Program, Sample, SamplerState, Space, Src, TexelSlot, Typed};
use envisa_machine::dispatch::Prepared;
use envisa_machine::memory::{Bound, Image, ImageShape, Permission, Surface, SurfaceTable};
use envisa_machine::sampler::Sampler;
use envisa_machine::thread::Machine;
use envisa_sem::image::{ChannelOrder, ChannelType, ImageFormat};
use envisa_sem::sampler::{Addressing, Axis, MOST_TEXELS, Reduction};

use crate::affine_vectors::constant;
use crate::context_layout::Site;

/// How texels are stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Texel(pub ImageFormat);

/// Where a channel of texels comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// The first of a texel's bits that hold it, and how many do.
    Bits(u32, u32),
    Zero,
    One,
    /// One in texels; what lies outside has zero there.
    Inside,
}

impl Texel {
    fn of(image: &Image) -> Option<Texel> {
        let order = ChannelOrder::from_cl(image.channel_order)?;
        let format = ImageFormat::new(order, ChannelType::from_cl(image.channel_type)?)?;
        // Colours of sRGB are not linear.
        (format.texel_bytes() == image.texel_bytes as usize && !format.is_srgb()).then_some(Texel(format))
    }

    pub fn bytes(self) -> u32 {
        self.0.texel_bytes() as u32
    }

    /// Bytes that offsets of texels count.
    pub fn unit(self) -> u32 {
        if self.bytes() == 4 { 4 } else { 1 }
    }

    /// What is read of a channel.
    pub fn source(self, channel: u32) -> Source {
        match (self.0.bits(channel as u8), channel) {
            (Some((low, n)), _) => Source::Bits(low, n),
            (None, 3) if self.0.border()[3] == 0 => Source::Inside,
            (None, 3) => Source::One,
            _ => Source::Zero,
        }
    }

    /// What stands for 1 in a channel.
    pub fn one(self) -> u32 {
        if self.0.channel_type().is_int() { 1 } else { 1f32.to_bits() }
    }

    /// One byte, which stands for 0 to 1, is all there is.
    pub fn is_byte(self) -> bool {
        self.0.is_bytes() && self.bytes() == 1
    }

    fn code(self) -> i32 {
        let (order, ty) = (self.0.order() as i32, self.0.channel_type() as i32);
        (order - ChannelOrder::R as i32) << 5 | (ty - ChannelType::Snorm8 as i32)
    }
}

/// What code for a message is made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    /// Texels are found by coordinates.
    Sampled(Sampled),
    /// Texels are read and written by their numbers.
    Stored(Stored),
    /// Rectangles of bytes are.
    Bytes,
}

/// An image with its sampler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Sampled {
    pub texel: Texel,
    pub linear: bool,
    pub normalized: bool,
    pub addressing: Addressing,
    pub shape: ImageShape,
}

/// An image without one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Stored {
    pub texel: Texel,
    pub shape: ImageShape,
}

impl Sampled {
    /// Are texels means of bytes?
    pub fn mixes_bytes(&self) -> bool {
        self.linear && self.texel.0.is_bytes()
    }
}

/// Directions that a sampler finds places in.
pub(crate) fn sampled_axes(shape: ImageShape) -> usize {
    match shape {
        ImageShape::D1 | ImageShape::D1Array => 1,
        ImageShape::D2 | ImageShape::D2Array | ImageShape::Cube => 2,
        ImageShape::D3 => 3,
    }
}

/// The coordinate that counts layers.
pub(crate) fn layer_coordinate(shape: ImageShape) -> Option<usize> {
    match shape {
        ImageShape::D1Array => Some(1),
        ImageShape::D2Array => Some(2),
        _ => None,
    }
}

impl Kind {
    /// The number that a site of this kind has; never zero.
    pub fn code(self) -> i32 {
        match self {
            Kind::Sampled(s) => {
                let flags = s.linear as i32 | (s.normalized as i32) << 1 | (s.addressing as i32) << 2;
                1 << 30 | flags << 16 | (s.shape as i32) << 12 | s.texel.code()
            }
            Kind::Stored(s) => 1 << 29 | (s.shape as i32) << 12 | s.texel.code(),
            Kind::Bytes => 1 << 28,
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
    /// The last offset where a dword is inside of the image's memory.
    pub const LIMIT: u32 = 44;
    /// Where coordinates that count texels end, as singles.
    pub const END: u32 = 48;
    /// The number of the last layer, as a single.
    pub const LAYER: u32 = 60;
}

/// Does a program need second sites? They are behind the others.
pub(crate) fn has_sampler_sites(p: &Program) -> bool {
    p.messages().iter().any(|m| matches!(m, Message::Sample(_) | Message::Typed(_)))
}

/// How many sites a program has.
pub(crate) fn sites(p: &Program) -> usize {
    let n = p.messages().len().max(1);
    if has_sampler_sites(p) { 2 * n } else { n }
}

fn surface_of(p: &Program, surfaces: &SurfaceTable, space: &Space) -> Option<u32> {
    let small = |src| u32::try_from(constant(p, src)?).ok();
    match space {
        Space::Bti(src) => small(src),
        Space::Table(bti) => Some(*bti),
        Space::Bindless(src) => surfaces.index_of_handle(small(src)?),
        Space::Handle(handle) => surfaces.index_of_handle(*handle),
        _ => None,
    }
}

fn image<'a>(p: &Program, surfaces: &'a SurfaceTable, space: &Space) -> Option<(&'a Image, &'a Bound)> {
    let bound = surfaces.get(surface_of(p, surfaces, space)?);
    let Surface::Image(image) = &bound.surface else { return None };
    let plain = (image.levels, image.samples) == (1, 1);
    (plain && image.shape != ImageShape::Cube).then_some((image, bound))
}

fn sampler(p: &Program, samplers: &[Option<Sampler>], s: &Sample) -> Option<Sampler> {
    let index = match &s.state {
        SamplerState::Index(index) => usize::try_from(constant(p, index)?).ok()?,
        SamplerState::Handle(handle) => Sampler::index_of_handle(u32::try_from(constant(p, handle)?).ok()?)?,
    };
    *samplers.get(index)?
}

fn sampled_kind(image: &Image, sampler: Sampler) -> Option<Sampled> {
    use Addressing::*;
    let (addressing, normalized) = (sampler.addressing, sampler.normalized);
    let wraps = matches!(addressing, Repeat | MirroredRepeat);
    let plain = sampler.border.is_none() && sampler.reduction == Reduction::Average;
    let texel = Texel::of(image)?;
    // Whole numbers have no mean, which the machine tells.
    let mixes = !(sampler.linear && texel.0.channel_type().is_int());
    (plain && mixes && (normalized || !wraps)).then_some(())?;
    let addressing = if addressing == None { Clamp } else { addressing };
    Some(Sampled { texel, linear: sampler.linear, normalized, addressing, shape: image.shape })
}

fn stored_kind(t: &Typed, image: &Image) -> Option<Stored> {
    let texel = Texel::of(image)?;
    // What is not written stays.
    let whole = (0..4).all(|c| t.channels >> c & 1 != 0 || !matches!(texel.source(c), Source::Bits(..)));
    ((whole || !t.write) && t.slot == TexelSlot::Dword && t.sample.is_none())
        .then_some(Stored { texel, shape: image.shape })
}

fn kind_of_message(
    p: &Program,
    surfaces: &SurfaceTable,
    samplers: &[Option<Sampler>],
    m: &Message,
) -> Option<Kind> {
    match m {
        Message::Sample(s) => {
            let (image, _) = image(p, surfaces, &s.space)?;
            Some(Kind::Sampled(sampled_kind(image, sampler(p, samplers, s)?)?))
        }
        Message::Typed(t) => Some(Kind::Stored(stored_kind(t, image(p, surfaces, &t.space)?.0)?)),
        Message::Media(m) => image(p, surfaces, &m.space).map(|_| Kind::Bytes),
        _ => None,
    }
}

/// Of a program's messages to images: which they are, and of what kind in a launch.
pub(crate) fn kinds(p: &Program, prepared: &Prepared) -> Vec<(u32, Kind)> {
    let all = p.messages().iter().enumerate();
    all.filter_map(|(k, m)| Some((k as u32, kind_of_message(p, &prepared.surfaces, &prepared.samplers, m)?)))
        .collect()
}

/// Aims the sites of a message to an image.
pub(crate) fn aim_image_sites(m: &Machine<'_>, aux: usize, sites: &mut [Site]) {
    let (p, env) = (m.env.program, &m.env);
    let Some(message) = p.messages().get(aux) else { return };
    let Some(kind) = kind_of_message(p, env.surfaces, env.samplers, message) else { return };
    let second = p.messages().len().max(1) + aux;
    let Some((image, bound)) = message.space().and_then(|space| image(p, env.surfaces, space)) else {
        return;
    };
    let writes = match message {
        Message::Typed(t) => t.write,
        Message::Media(m) => m.write,
        _ => false,
    };
    if writes && bound.allocation.as_ref().is_none_or(|a| a.permission == Permission::ReadOnly) {
        return;
    }
    let code = kind.code() as u32;
    if let (Kind::Bytes, Message::Media(what)) = (kind, message) {
        if let (Some(site), Some(found)) = (sites.get_mut(aux), rectangle_site(what, image, bound)) {
            *site = Site { low: code, ..found };
        }
        return;
    }
    let (texel, axis) = match kind {
        Kind::Sampled(s) => (s.texel, (s.addressing, s.normalized)),
        Kind::Stored(s) => (s.texel, (Addressing::Clamp, false)),
        Kind::Bytes => return,
    };
    let Some((pointer, numbers)) = site_numbers(texel, axis, image, bound) else { return };
    if let Some(site) = sites.get_mut(second) {
        *site = Site::of(numbers);
        sites[aux] = Site { low: code, pointer, ..Site::NOWHERE };
    }
}

/// Where an image begins, what is from row to row and from plane to plane, and the offset of its last texel, in bytes:
/// all of it in memory, and small.
fn image_location(image: &Image, bound: &Bound) -> Option<(u64, [u32; 2], u32)> {
    let block = &bound.allocation.as_ref()?.block;
    let first = image.texel(0, 0, 0)?;
    let [x, y, z] = [image.width, image.height, image.depth].map(|n| n.wrapping_sub(1));
    let y = if image.shape == ImageShape::D1Array { z } else { y };
    let last = image.texel(x, y, z)?;
    let texel = image.texel_bytes as usize;
    let fits = block.contains(first, texel) && block.contains(last, texel) && last - first < 1 << 30;
    let slice = if image.depth > 1 { u32::try_from(image.slice_pitch).ok()? } else { 0 };
    let pitches = [if image.height > 1 { image.row_pitch } else { 0 }, slice];
    (fits && pitches.iter().all(|x| *x < 1 << 30)).then_some(())?;
    let pointer = (block.as_ptr() as u64).wrapping_add(first as u64);
    Some((pointer, pitches, (last - first) as u32))
}

fn site_numbers(
    texel: Texel,
    (addressing, normalized): (Addressing, bool),
    image: &Image,
    bound: &Bound,
) -> Option<(u64, [u32; 16])> {
    let (pointer, pitches, last) = image_location(image, bound)?;
    let sizes = [image.width, image.height, image.depth];
    sizes.iter().all(|n| (1..=MOST_TEXELS).contains(n)).then_some(())?;
    let unit = texel.unit();
    pitches.iter().all(|x| x.is_multiple_of(unit)).then_some(())?;
    let mut limit = last / unit;
    if !texel.bytes().is_multiple_of(4) {
        // Behind the image may be more of its memory.
        let behind = bound.allocation.as_ref()?.block.len().checked_sub(image.texel(0, 0, 0)? + 4)?;
        limit = limit.wrapping_add(texel.bytes()).min(u32::try_from(behind).unwrap_or(u32::MAX));
    }
    let mut all = [0; 16];
    for (k, &size) in sizes.iter().enumerate() {
        let axis = Axis { size, addressing, normalized };
        all[k] = (size as f32).to_bits();
        all[3 + k] = size - 1;
        all[6 + k] = size;
        all[12 + k] = axis.bounds()[1].to_bits();
    }
    (all[9], all[10], all[11]) = (pitches[0] / unit, pitches[1] / unit, limit);
    all[15] = ((image.depth - 1) as f32).to_bits();
    Some((pointer, all))
}

/// Where rectangles of so many bytes and rows may begin.
fn rectangle_site(m: &Media, image: &Image, bound: &Bound) -> Option<Site> {
    let (pointer, pitches, _) = image_location(image, bound)?;
    let line = image.width.checked_mul(image.texel_bytes)?;
    let inside = |all: u32, n: u8| Some(all.checked_sub(u32::from(n))? + 1);
    let (count, last16) = (inside(line, m.width)?, inside(image.height, m.height)?);
    Some(Site { count, last16, last: pitches[0], pointer, ..Site::NOWHERE })
}

/// What a scalar is that is nothing or zero.
pub(crate) fn is_zero(p: &Program, s: &Src) -> bool {
    matches!(s, Src::None) || constant(p, s) == Some(0)
}
