//! Messages of the sampler: texels found by coordinates, filtered, compared and gathered.
//!
//! Of an image of one level of detail what a message says of levels changes nothing but the answer of the one that asks
//! for them; [`super::sampler_levels`] has those of several.

use envisa_isa::operation::{Parameter, Sampling};
use envisa_lower::{Sample, SamplerState, TexelSlot};
use envisa_sem::Hf;
use envisa_sem::sampler::{
    Addressing, Axis, Compare, Reduction, TexelPair, cube_face, interpolate, level_of_detail, nearest_layer,
    of_bytes, reduce_texels,
};

use super::target::scalar;
use super::typed::{Texels, find_texels, set, signed_nibbles};
use super::{AccessKind, AccessSpace, Fault, MemoryObserver, Ports};
use super::{sampler_levels, sampler_rows};
use crate::memory::ImageShape;
use crate::register_file::{Registers, all_channels};
use crate::sampler::Sampler;

/// Channels of the largest message.
pub(super) const LANES: usize = 32;

/// Parameters of all channels, read before anything is written: the answer may take their registers.
pub(super) struct Lanes {
    /// u, v, r and the index of a cube.
    pub at: [[f32; LANES]; 4],
    pub reference: [f32; LANES],
    pub offsets: [[i32; 3]; LANES],
}

/// A field of `bits` bits, signed.
fn signed_bit_field(word: u32, low: u32, bits: u32) -> i32 {
    (word << (32 - low - bits)) as i32 >> (32 - bits)
}

impl Lanes {
    pub fn read(s: &Sample, regs: &Registers, mask: u32, ports: &Ports<'_>) -> Result<Lanes, Fault> {
        let immediate = signed_nibbles(scalar(&s.offsets, regs, ports)? as u32);
        let mut lanes = Lanes { at: [[0.0; LANES]; 4], reference: [0.0; LANES], offsets: [immediate; LANES] };
        for p in &s.parameters {
            let Some(at) = p.at else { continue };
            // What nearly all messages have, without asking for each channel what it is.
            let row = match p.what {
                Parameter::U => Some(0),
                Parameter::V => Some(1),
                Parameter::R => Some(2),
                _ => None,
            };
            if let (Some(row), 4) = (row, p.bytes) {
                for i in (0..LANES).filter(|i| mask >> i & 1 != 0) {
                    lanes.at[row][i] = regs.get(at + 4 * i as u32);
                }
                continue;
            }
            for i in (0..LANES).filter(|i| mask >> i & 1 != 0) {
                let (word, number) = match p.bytes {
                    2 => {
                        let half = regs.get::<u16>(at + 2 * i as u32);
                        (half as i16 as u32, f32::from(Hf(half)))
                    }
                    _ => {
                        let word = regs.get::<u32>(at + 4 * i as u32);
                        (word, f32::from_bits(word))
                    }
                };
                let offsets = &mut lanes.offsets[i];
                match p.what {
                    Parameter::U => lanes.at[0][i] = number,
                    Parameter::V => lanes.at[1][i] = number,
                    Parameter::R => lanes.at[2][i] = number,
                    Parameter::ArrayIndex => lanes.at[3][i] = number,
                    Parameter::Reference => lanes.reference[i] = number,
                    Parameter::OffsetU => offsets[0] += signed_bit_field(word, 0, 6),
                    Parameter::OffsetV => offsets[1] += signed_bit_field(word, 0, 6),
                    Parameter::Offsets | Parameter::LevelOffsets => {
                        offsets.iter_mut().zip(signed_nibbles(word)).for_each(|(o, add)| *o += add);
                    }
                    Parameter::WideOffsets | Parameter::LevelWideOffsets => {
                        offsets[0] += signed_bit_field(word, 0, 6);
                        offsets[1] += signed_bit_field(word, 6, 6);
                    }
                    // Where there are several levels, they are read by themselves.
                    Parameter::Bias | Parameter::Lod | Parameter::MinLod | Parameter::Gradient => {}
                }
            }
        }
        Ok(lanes)
    }
}

/// The sampler of a message.
///
/// # Errors
/// If the launch has none there.
fn sampler_of_message(s: &Sample, regs: &Registers, ports: &Ports<'_>) -> Result<Sampler, Fault> {
    let (index, number) = match &s.state {
        SamplerState::Index(src) => {
            let index = scalar(src, regs, ports)?;
            (usize::try_from(index).ok(), index)
        }
        SamplerState::Handle(src) => {
            let handle = scalar(src, regs, ports)?;
            (u32::try_from(handle).ok().and_then(Sampler::index_of_handle), handle)
        }
    };
    index
        .and_then(|i| *ports.samplers.get(i)?)
        .ok_or(Fault { address: number, ..Fault::unsupported("the launch has no such sampler") })
}

/// Addresses of an image's texels in up to three directions, and whether they are filtered.
pub(super) struct Filter<'a> {
    pub texels: &'a Texels<'a>,
    pub axes: [Axis; 3],
    /// How many of the axes the image has.
    pub count: usize,
    pub linear: bool,
    pub compare: Option<Compare>,
    pub reduction: Reduction,
    border: [u32; 4],
    /// Addresses outside are told of: no sampler state says what lies there.
    tell_outside: bool,
}

/// Who asks for a texel.
#[derive(Clone, Copy)]
struct Asker {
    channel: u32,
    /// What a texel is compared with.
    reference: f32,
    /// The first of the texels around the place asked for, if those outside are told of.
    first: [i64; 3],
}

impl<'a> Filter<'a> {
    pub fn new(s: &Sample, state: Sampler, texels: &'a Texels<'a>) -> Result<Filter<'a>, Fault> {
        let refuse =
            |why| Err(Fault { space: AccessSpace::Surface(texels.bti()), ..Fault::unsupported(why) });
        let image = texels.image;
        if matches!(state.addressing, Addressing::Repeat | Addressing::MirroredRepeat) && !state.normalized {
            return refuse("images that repeat are undefined without normalised coordinates");
        }
        if image.samples > 1 {
            return refuse("samplers do not filter multi-sampled images");
        }
        let gather = s.what == Sampling::Gather;
        let integers = texels.format.channel_type().is_int();
        if state.linear && integers && matches!(s.what, Sampling::Filter | Sampling::Base) {
            return refuse("linear filtering of integer texels is undefined");
        }
        let count = match image.shape {
            ImageShape::D1 | ImageShape::D1Array => 1,
            ImageShape::D2 | ImageShape::D2Array | ImageShape::Cube => 2,
            ImageShape::D3 => 3,
        };
        if gather && count != 2 {
            return refuse("gathers need a two-dimensional image");
        }
        let compares = s.parameters.iter().any(|p| p.what == Parameter::Reference);
        let compare = match state.compare {
            _ if !compares => None,
            None => return refuse("the sampler has no comparison"),
            Some(_) if integers => return refuse("integer texels are not compared"),
            compare => compare,
        };
        // Faces have edges of their own.
        let cube = image.shape == ImageShape::Cube;
        let axis = |size: u32| Axis {
            size: size.max(1),
            addressing: if cube { Addressing::ClampToEdge } else { state.addressing },
            normalized: state.normalized || cube,
        };
        Ok(Filter {
            texels,
            axes: [image.width, image.height, image.depth].map(axis),
            count,
            linear: state.linear,
            compare,
            reduction: state.reduction,
            border: state.border.unwrap_or(texels.format.border()),
            tell_outside: state.addressing == Addressing::None,
        })
    }

    /// Coordinates by axis, and the layer of an array.
    fn coordinates_and_layer(&self, at: [f32; 4]) -> ([f64; 3], u32) {
        let [u, v, r, index] = at.map(f64::from);
        let depth = self.texels.image.depth;
        match self.texels.image.shape {
            ImageShape::D1 | ImageShape::D2 | ImageShape::D3 => ([u, v, r], 0),
            ImageShape::D1Array => ([u, 0.0, 0.0], nearest_layer(v, depth)),
            ImageShape::D2Array => ([u, v, 0.0], nearest_layer(r, depth)),
            ImageShape::Cube => {
                let (face, [s, t]) = cube_face([u, v, r]);
                ([s, t, 0.0], nearest_layer(index, depth / 6) * 6 + face)
            }
        }
    }

    /// Who asks for the texels around these coordinates.
    fn asker(&self, at: [f64; 3], offsets: [i32; 3], (channel, reference): (u32, f32)) -> Asker {
        let first = |k: usize| self.axes[k].below(at[k] as f32, offsets[k], self.linear);
        let tells = |k: usize| if self.tell_outside && k < self.count { first(k) } else { 0 };
        Asker { channel, reference, first: std::array::from_fn(tells) }
    }

    /// The coordinates of a texel whose indices are `None` where it is outside; `first` is the first of those around the
    /// place that was asked for.
    fn coordinates(&self, index: [Option<u32>; 3], layer: u32, first: [i64; 3]) -> [i64; 4] {
        let axis = |k: usize| match index[k] {
            Some(i) => i.into(),
            // The second of two, of which the first is the last one inside.
            None if first[k].checked_add(1) == Some(self.axes[k].size.into()) => first[k] + 1,
            None => first[k],
        };
        let [u, v, r] = std::array::from_fn(axis);
        match self.texels.image.shape {
            ImageShape::D1 | ImageShape::D2 | ImageShape::D3 => [u, v, r, 0],
            ImageShape::D1Array => [u, layer.into(), 0, 0],
            ImageShape::D2Array | ImageShape::Cube => [u, v, layer.into(), 0],
        }
    }

    /// The texel at indices by axis in a layer, compared if it is to be.
    fn fetch_texel<O: MemoryObserver>(
        &self,
        index: [Option<u32>; 3],
        layer: u32,
        Asker { channel, reference, first }: Asker,
        obs: &mut O,
    ) -> [u32; 4] {
        let place = match (self.texels.image.shape, index) {
            (ImageShape::D1, [Some(u), ..]) => self.texels.texel([u, 0, 0]),
            (ImageShape::D1Array, [Some(u), ..]) => self.texels.texel([u, layer, 0]),
            (ImageShape::D2 | ImageShape::D2Array | ImageShape::Cube, [Some(u), Some(v), _]) => {
                self.texels.texel([u, v, layer])
            }
            (ImageShape::D3, [Some(u), Some(v), Some(r)]) => self.texels.texel([u, v, r]),
            _ => None,
        };
        if place.is_some() || self.tell_outside && O::ACTIVE {
            let at = self.coordinates(index, layer, first);
            self.texels.report_texel((place, at), AccessKind::Read, channel, obs);
        }
        let mut texel = place.map_or(self.border, |p| self.texels.read(p));
        if let Some(compare) = self.compare {
            let holds = compare.holds(reference, f32::from_bits(texel[0]));
            texel[0] = if holds { 1f32.to_bits() } else { 0 };
        }
        texel
    }

    fn neighbour_pairs(&self, at: [f64; 3], offsets: [i32; 3]) -> [TexelPair; 3] {
        std::array::from_fn(|k| match k < self.count {
            true => self.axes[k].linear(at[k] as f32, offsets[k]),
            false => TexelPair { texels: [Some(0), None], weight: 0.0 },
        })
    }

    /// The texel that the filter makes for a channel.
    pub fn filter<O: MemoryObserver>(
        &self,
        at: [f32; 4],
        offsets: [i32; 3],
        who: (u32, f32),
        obs: &mut O,
    ) -> [u32; 4] {
        let (at, layer) = self.coordinates_and_layer(at);
        let who = self.asker(at, offsets, who);
        if !self.linear {
            let index = std::array::from_fn(|k| match k < self.count {
                true => self.axes[k].nearest(at[k] as f32, offsets[k]),
                false => Some(0),
            });
            return self.fetch_texel(index, layer, who, obs);
        }
        let pairs = self.neighbour_pairs(at, offsets);
        if self.mixes_bytes() {
            return self.interpolate_bytes(&pairs, layer, who, obs);
        }
        let corners = (0..1usize << self.count).filter_map(|corner| {
            let which = |k: usize| corner >> k & 1;
            let weight: f64 = pairs
                .iter()
                .enumerate()
                .map(|(k, p)| (which(k) == 1, f64::from(p.weight)))
                .map(|(second, weight)| if second { weight } else { 1.0 - weight })
                .product();
            if weight <= 0.0 {
                return None;
            }
            let index = std::array::from_fn(|k| pairs[k].texels[which(k)]);
            Some((weight, self.fetch_texel(index, layer, who, obs).map(f32::from_bits)))
        });
        reduce_texels(self.reduction, corners).map(f32::to_bits)
    }

    /// Are the texels means of bytes?
    pub fn mixes_bytes(&self) -> bool {
        self.linear
            && self.compare.is_none()
            && self.reduction == Reduction::Average
            && self.texels.format.is_bytes()
    }

    /// The mean of bytes: one direction after the other.
    fn interpolate_bytes<O: MemoryObserver>(
        &self,
        pairs: &[TexelPair; 3],
        layer: u32,
        who: Asker,
        obs: &mut O,
    ) -> [u32; 4] {
        let mut texels = [[0.0; 4]; 8];
        for (corner, texel) in texels.iter_mut().enumerate().take(1 << self.count) {
            let which = |k: usize| corner >> k & 1;
            // What does not count may be anything.
            if (0..self.count).any(|k| which(k) == 1 && pairs[k].weight == 0.0) {
                continue;
            }
            let index = std::array::from_fn(|k| pairs[k].texels[which(k)]);
            *texel = self.fetch_texel(index, layer, who, obs).map(|x| f32::from_bits(x) * 255.0);
        }
        for (k, pair) in pairs.iter().enumerate().take(self.count) {
            for n in 0..1 << (self.count - 1 - k) {
                texels[n] = interpolate(texels[2 * n], texels[2 * n + 1], pair.weight);
            }
        }
        of_bytes(texels[0]).map(f32::to_bits)
    }

    /// One channel of each of the four texels that a linear filter takes: R is the lower left one, then
    /// anticlockwise.
    fn gather<O: MemoryObserver>(
        &self,
        at: [f32; 4],
        offsets: [i32; 3],
        gathered: u8,
        who: (u32, f32),
        obs: &mut O,
    ) -> [u32; 4] {
        let (at, layer) = self.coordinates_and_layer(at);
        let who = self.asker(at, offsets, who);
        let [x, y, _] = self.neighbour_pairs(at, offsets);
        [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(i, j)| {
            let texel = self.fetch_texel([x.texels[i], y.texels[j], Some(0)], layer, who, obs);
            texel[gathered as usize & 3]
        })
    }

    /// The level of detail of a channel, of four that are a square of pixels: clamped to those that there are,
    /// and not clamped.
    fn level(&self, at: &[[f32; LANES]; 4], channel: usize) -> [u32; 4] {
        let place = |i: usize| -> [f64; 3] {
            let (at, _) = self.coordinates_and_layer(std::array::from_fn(|k| at[k][i]));
            std::array::from_fn(|k| {
                let size = if self.axes[k].normalized { self.axes[k].size as f64 } else { 1.0 };
                if k < self.count { at[k] * size } else { 0.0 }
            })
        };
        let first = channel & !3;
        let from = place(first);
        let along = |i: usize| -> [f64; 3] {
            let to = place(first + i);
            std::array::from_fn(|k| to[k] - from[k])
        };
        let level = level_of_detail(along(1), along(2)) as f32;
        // There is one level.
        [0, level.to_bits(), 0, 0]
    }
}

/// Stores a row of dwords for the channels of a mask.
fn store(regs: &mut Registers, at: u32, mask: u32, channels: u32, row: &[u32; LANES]) {
    if mask == all_channels(channels as usize) {
        for (i, x) in row.iter().enumerate().take(channels as usize) {
            regs.set(at + 4 * i as u32, *x);
        }
        return;
    }
    for i in (0..channels).filter(|i| mask >> i & 1 != 0) {
        regs.set(at + 4 * i, row[i as usize]);
    }
}

/// Samples an image for each channel.
pub(super) fn execute<O: MemoryObserver>(
    s: &Sample,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
    obs: &mut O,
) -> Result<(), Fault> {
    let Some(data) = s.data else { return Ok(()) };
    if mask == 0 {
        return Ok(());
    }
    let texels = find_texels(&s.space, regs, ports)?;
    let state = sampler_of_message(s, regs, ports)?;
    if let Some(t) = texels.as_ref().filter(|t| t.image.levels > 1) {
        return sampler_levels::execute(s, (data, state, t), regs, mask, channels, ports, obs);
    }
    let filter = texels.as_ref().map(|t| Filter::new(s, state, t)).transpose()?;
    // A level of detail is that of four channels, whichever are active.
    let read = match s.what {
        Sampling::LevelOfDetail => {
            (0..channels).filter(|i| mask >> (i & !3) & 15 != 0).fold(0, |m, i| m | 1 << i)
        }
        Sampling::Filter | Sampling::Base | Sampling::Gather => mask,
    };
    let lanes = Lanes::read(s, regs, read, ports)?;
    if s.null_mask {
        // Nothing here is paged in on demand.
        regs.set(data + s.channels.count_ones() * s.component_stride, all_channels(channels as usize));
    }
    if !O::ACTIVE
        && matches!(s.what, Sampling::Filter | Sampling::Base)
        && s.slot == TexelSlot::Dword
        && let Some(f) = &filter
    {
        let place = |k: usize| ([lanes.at[0][k], lanes.at[1][k], lanes.at[2][k]], lanes.offsets[k]);
        let slow = |k: usize| {
            let at = std::array::from_fn(|c| lanes.at[c][k]);
            f.filter(at, lanes.offsets[k], (k as u32, 0.0), obs)
        };
        let mut rows = [[0; LANES]; 4];
        if sampler_rows::filter_row(f, mask, place, slow, &mut rows) {
            let mut register = data;
            for c in (0..4).filter(|c| s.channels >> c & 1 != 0) {
                store(regs, register, mask, channels, &rows[c]);
                register += s.component_stride;
            }
            return Ok(());
        }
    }
    for i in (0..channels).filter(|i| mask >> i & 1 != 0) {
        let k = i as usize;
        let at: [f32; 4] = std::array::from_fn(|c| lanes.at[c][k]);
        let who = (i, lanes.reference[k]);
        let answer = match (&filter, s.what) {
            // Nothing is bound.
            (None, _) => [0; 4],
            (Some(f), Sampling::Filter | Sampling::Base) => f.filter(at, lanes.offsets[k], who, obs),
            (Some(f), Sampling::Gather) => f.gather(at, lanes.offsets[k], s.gathered, who, obs),
            (Some(f), Sampling::LevelOfDetail) => f.level(&lanes.at, k),
        };
        let mut register = data;
        for c in (0..4).filter(|c| s.channels >> c & 1 != 0) {
            set(regs, register, s.slot, i, answer[c]);
            register += s.component_stride;
        }
    }
    Ok(())
}
