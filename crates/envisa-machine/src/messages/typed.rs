//! Typed messages: texels, converted from and to the image's format.

use envisa_lower::{Coordinates, Info, Media, Outside, Space, TexelSlot, Typed, TypedAtomic};
use envisa_sem::atomic::Operands;
use envisa_sem::image::{ChannelType, ImageFormat};
use envisa_sem::{Rounding, convert};

use super::target::{TypedTarget, resolve_typed, scalar};
use super::{
    Access, AccessKind, AccessSpace, Fault, FaultKind, MemoryObserver, Ports, atomic, element, outside_texels,
};
use crate::memory::{Block, Image, ImageShape};
use crate::register_file::{Registers, all_channels};

/// Bytes of the largest texel.
const TEXEL: usize = 16;

/// An image with its format and its bytes.
pub(super) struct Texels<'a> {
    bti: u32,
    pub image: Image,
    pub format: ImageFormat,
    block: &'a Block,
    base: u64,
}

impl<'a> Texels<'a> {
    fn new(bti: u32, image: &'a Image, block: &'a Block, base: u64) -> Result<Texels<'a>, Fault> {
        match image.format() {
            Some(format) if format.texel_bytes() == image.texel_bytes as usize => {
                Ok(Texels { bti, image: *image, format, block, base })
            }
            _ => Err(Fault {
                space: AccessSpace::Surface(bti),
                ..Fault::unsupported("the image's format is none of OpenCL's")
            }),
        }
    }

    /// Those of each level of detail.
    pub fn texels_by_level(&self) -> Vec<Texels<'a>> {
        (0..).map_while(|k| Some(Texels { image: self.image.level(k)?, ..*self })).collect()
    }

    /// Its bytes.
    pub fn block(&self) -> &'a Block {
        self.block
    }

    /// Its binding-table index.
    pub fn bti(&self) -> u32 {
        self.bti
    }

    /// Where the texel at these coordinates is; `None` outside.
    pub fn place(&self, at: [i64; 4]) -> Option<usize> {
        self.sample(at, 0)
    }

    /// The same of a sample of the texel.
    pub fn sample(&self, [u, v, r, lod]: [i64; 4], sample: u32) -> Option<usize> {
        let small = |x: i64| u32::try_from(x).ok();
        // Coordinates that the shape does not have are ignored.
        let (v, r) = match self.image.shape {
            ImageShape::D1 => (0, 0),
            ImageShape::D1Array | ImageShape::D2 => (v, 0),
            ImageShape::D2Array | ImageShape::D3 | ImageShape::Cube => (v, r),
        };
        let texel = [small(u)?, small(v)?, small(r)?];
        let at = match lod {
            0 => self.image.sample_offset(texel, sample)?,
            lod => self.image.level(small(lod)?)?.sample_offset(texel, sample)?,
        };
        self.block.contains(at, self.format.texel_bytes()).then_some(at)
    }

    /// Where a texel of the image is; `None` outside.
    pub fn texel(&self, [u, v, r]: [u32; 3]) -> Option<usize> {
        let at = self.image.texel(u, v, r)?;
        self.block.contains(at, self.format.texel_bytes()).then_some(at)
    }

    /// Tells the observer of the texel at these coordinates; `place` is `None` outside.
    pub fn report_texel<O: MemoryObserver>(
        &self,
        (place, [u, v, r, _]): (Option<usize>, [i64; 4]),
        kind: AccessKind,
        channel: u32,
        obs: &mut O,
    ) {
        if O::ACTIVE || place.is_none() {
            let access = Access {
                channel: channel as u8,
                space: AccessSpace::Surface(self.bti),
                address: place.map_or_else(|| outside_texels::address_of([u, v, r]), |p| p as u64),
                place: place.map(|p| self.base + p as u64),
                bytes: self.format.texel_bytes() as u32,
                kind,
                outside: place.is_none(),
            };
            if O::ACTIVE {
                obs.access(&access);
            } else if kind != AccessKind::Read {
                obs.dropped(&access);
            }
        }
    }

    /// The texel at a place.
    pub fn read(&self, place: usize) -> [u32; 4] {
        // The most frequent size, without a call that copies.
        if self.format.texel_bytes() == 4
            && let Some(texel) = self.block.read::<4>(place)
        {
            return self.format.decode(&texel).unwrap_or([0; 4]);
        }
        let mut texel = [0; TEXEL];
        let texel = &mut texel[..self.format.texel_bytes()];
        self.block.copy_out(place, texel);
        self.format.decode(texel).unwrap_or([0; 4])
    }

    /// Writes those channels of the texel at a place that `mask` has; the others keep their bytes.
    pub fn write(&self, place: usize, channels: [u32; 4], mask: u8) {
        let n = self.format.texel_bytes();
        let mut new = [0; TEXEL];
        let stored = self.format.order().stored();
        let kept = stored.iter().any(|&c| c < 4 && mask >> c & 1 == 0);
        if !kept {
            if self.format.encode(channels, &mut new[..n]) {
                self.block.copy_in(place, &new[..n]);
            }
            return;
        }
        let mut old = [0; TEXEL];
        self.block.copy_out(place, &mut old[..n]);
        let mut all = self.format.decode(&old[..n]).unwrap_or([0; 4]);
        for (c, x) in all.iter_mut().enumerate() {
            if mask >> c & 1 != 0 {
                *x = channels[c];
            }
        }
        if !self.format.encode(all, &mut new[..n]) {
            return;
        }
        // Bytes of channels that are not written stay as they are, whatever decoding made of them.
        if n.is_multiple_of(stored.len()) && !is_packed_format(self.format.channel_type()) {
            let size = n / stored.len();
            for (k, &c) in stored.iter().enumerate() {
                if c < 4 && mask >> c & 1 == 0 {
                    new[k * size..][..size].copy_from_slice(&old[k * size..][..size]);
                }
            }
        }
        self.block.copy_in(place, &new[..n]);
    }
}

/// Do a format's channels share bytes?
fn is_packed_format(ty: ChannelType) -> bool {
    use ChannelType::*;
    matches!(ty, Unorm565 | Unorm555 | Unorm101010 | Unorm1010102)
}

/// What a read outside gives.
pub(super) fn border_value(outside: Outside, format: ImageFormat) -> [u32; 4] {
    match outside {
        Outside::Zero => [0; 4],
        Outside::AlphaOne if format.channel_type().is_int() => [0, 0, 0, 1],
        Outside::AlphaOne => [0, 0, 0, 1f32.to_bits()],
        Outside::Border => format.border(),
    }
}

/// Signed offsets of u, v and r, nibbles of a word.
pub(super) fn signed_nibbles(word: u32) -> [i32; 3] {
    [8, 4, 0].map(|shift| (word << (28 - shift)) as i32 >> 28)
}

/// Immediate offsets.
fn immediate_offsets(c: &Coordinates, regs: &Registers, ports: &Ports<'_>) -> Result<[i64; 3], Fault> {
    Ok(signed_nibbles(scalar(&c.offsets, regs, ports)? as u32).map(i64::from))
}

/// The coordinates of a channel. Those of 32 bits are taken as signed where immediate offsets are added to
/// them, and unsigned coordinates beyond every image are outside either way.
fn channel_coordinates(c: &Coordinates, regs: &Registers, add: [i64; 3], channel: u32) -> [i64; 4] {
    let mut out = [0; 4];
    for (k, (x, at)) in out.iter_mut().zip(c.at).enumerate() {
        if let Some(at) = at {
            let bits = element::get(regs, at + channel * c.bytes as u32, c.bytes);
            *x = match c.bytes {
                2 => bits as i16 as i64,
                4 => bits as i32 as i64,
                _ => bits as i64,
            };
        }
        *x = x.wrapping_add(add.get(k).copied().unwrap_or(0));
    }
    out
}

pub(super) fn set(regs: &mut Registers, at: u32, slot: TexelSlot, channel: u32, x: u32) {
    match slot {
        TexelSlot::Dword => regs.set(at + channel * 4, x),
        TexelSlot::Word => regs.set(at + channel * 2, x as u16),
        TexelSlot::Half => {
            let half = convert::f32_to_hf(f32::from_bits(x), Rounding::NearestEven);
            regs.set(at + channel * 2, half.0);
        }
    }
}

pub(super) fn find_texels<'a>(
    space: &Space,
    regs: &Registers,
    ports: &Ports<'a>,
) -> Result<Option<Texels<'a>>, Fault> {
    Ok(match resolve_typed(space, regs, ports)? {
        TypedTarget::Image(bti, image, block, base) => Some(Texels::new(bti, image, block, base)?),
        TypedTarget::Nothing => None,
    })
}

/// Asks whether the texel of a channel has memory: bit i of the answer, zero for channels that are off, or the channel's
/// dword.
pub(super) fn query_residency(
    t: &Typed,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
) -> Result<(), Fault> {
    let Some(data) = t.data else { return Ok(()) };
    let texels = find_texels(&t.space, regs, ports)?;
    let add = immediate_offsets(&t.coordinates, regs, ports)?;
    let mut answer = 0;
    for i in (0..channels).filter(|i| mask >> i & 1 != 0) {
        let at = channel_coordinates(&t.coordinates, regs, add, i);
        let there = texels.as_ref().is_some_and(|t| t.place(at).is_some());
        answer |= (there as u32) << i;
        if t.component_stride != 0 {
            regs.set(data + i * 4, there as u32);
        }
    }
    if t.component_stride == 0 {
        regs.set(data, answer);
    }
    Ok(())
}

/// The sample that a channel wants.
fn sample_index(t: &Typed, image: &Image, regs: &Registers, channel: u32) -> Option<u32> {
    let bytes = t.coordinates.bytes;
    let sample = t.sample.map_or(0, |r| element::get(regs, r + channel * bytes as u32, bytes));
    let last = u64::from(image.samples.saturating_sub(1));
    u32::try_from(if t.clamp { sample.min(last) } else { sample }).ok()
}

/// Reads or writes texels.
pub(super) fn execute<O: MemoryObserver>(
    t: &Typed,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
    obs: &mut O,
) -> Result<(), Fault> {
    let Some(data) = t.data else { return Ok(()) };
    if mask == 0 {
        return Ok(());
    }
    let texels = find_texels(&t.space, regs, ports)?;
    if t.null_mask {
        // Nothing here is paged in on demand.
        regs.set(data + t.channels.count_ones() * t.component_stride, all_channels(channels as usize));
    }
    let add = immediate_offsets(&t.coordinates, regs, ports)?;
    for i in (0..channels).filter(|i| mask >> i & 1 != 0) {
        let at = channel_coordinates(&t.coordinates, regs, add, i);
        let place =
            texels.as_ref().and_then(|texels| texels.sample(at, sample_index(t, &texels.image, regs, i)?));
        if let Some(texels) = &texels {
            let kind = if t.write { AccessKind::Write } else { AccessKind::Read };
            texels.report_texel((place, at), kind, i, obs);
        }
        let mut register = data;
        let mut each = |f: &mut dyn FnMut(usize, u32)| {
            for c in (0..4).filter(|c| t.channels >> c & 1 != 0) {
                f(c, register);
                register += t.component_stride;
            }
        };
        if t.write {
            let mut texel = [0; 4];
            each(&mut |c, r| texel[c] = regs.get::<u32>(r + i * 4));
            if let (Some(texels), Some(place)) = (&texels, place) {
                texels.write(place, texel, t.channels);
            }
        } else {
            let texel = match (&texels, place) {
                (Some(texels), Some(place)) => texels.read(place),
                (Some(texels), None) => border_value(t.outside, texels.format),
                (None, _) => [0; 4],
            };
            each(&mut |c, r| set(regs, r, t.slot, i, texel[c]));
        }
    }
    Ok(())
}

/// Changes texels. Outside of the image nothing is changed and zero returned.
pub(super) fn atomic<O: MemoryObserver>(
    a: &TypedAtomic,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
    obs: &mut O,
) -> Result<(), Fault> {
    if mask == 0 {
        return Ok(());
    }
    let op = atomic::decode_operator(a.code, a.lsc, a.element)?;
    let texels = find_texels(&a.space, regs, ports)?;
    if texels.as_ref().is_some_and(|t| t.image.texel_bytes != a.element as u32) {
        return Err(Fault::unsupported("the image's texels are not of the atomic's size"));
    }
    for i in (0..channels).filter(|i| mask >> i & 1 != 0) {
        let at = channel_coordinates(&a.coordinates, regs, [0; 3], i);
        let slot = i * a.slot as u32;
        let src = |n: usize| a.src[n].map_or(0, |r| element::get(regs, r + slot, a.slot));
        let x =
            if a.lsc { Operands::lsc(op.0, src(0), src(1)) } else { Operands::legacy(op.0, src(0), src(1)) };
        let mut result = 0;
        if let Some(texels) = &texels {
            let place = texels.place(at);
            texels.report_texel((place, at), AccessKind::Atomic, i, obs);
            if let Some(place) = place {
                result = atomic::update_datum(texels.block, place, op, x).ok_or(Fault {
                    kind: FaultKind::Misaligned(a.element as u32),
                    channel: Some(i),
                    space: AccessSpace::Surface(texels.bti),
                    address: place as u64,
                    bytes: a.element as u32,
                })?;
            }
        }
        if let Some(dst) = a.dst {
            element::set(regs, dst + slot, a.slot, result);
        }
    }
    Ok(())
}

/// Reads or writes a rectangle of bytes. Reads outside give the nearest texel's or zero, writes are dropped.
pub(super) fn access_media_block<O: MemoryObserver>(
    m: &Media,
    regs: &mut Registers,
    ports: &Ports<'_>,
    obs: &mut O,
) -> Result<(), Fault> {
    let Some(data) = m.data else { return Ok(()) };
    let target = resolve_typed(&m.space, regs, ports)?;
    let x = scalar(&m.x, regs, ports)? as u32 as i32 as i64;
    let y = scalar(&m.y, regs, ports)? as u32 as i32 as i64;
    let (width, height) = (m.width as usize, m.height as usize);
    let TypedTarget::Image(bti, image, block, base) = target else {
        if !m.write {
            for row in 0..height {
                regs.slice_mut(data + row as u32 * m.pitch as u32, width as u32).fill(0);
            }
        }
        return Ok(());
    };
    let space = AccessSpace::Surface(bti);
    if x & (m.align.max(1) as i64 - 1) != 0 {
        return Err(Fault {
            kind: FaultKind::Misaligned(m.align as u32),
            channel: None,
            space,
            address: x as u64,
            bytes: width as u32,
        });
    }
    let texel = image.texel_bytes.max(1) as i64;
    let line = image.width as i64 * texel;
    if line == 0 || image.height == 0 {
        return Ok(());
    }
    let kind = if m.write { AccessKind::Write } else { AccessKind::Read };
    for row in 0..height {
        // Rows of a field are counted by themselves.
        let (first, step) = (m.lines.0 as i64, m.lines.1.max(1) as i64);
        let rows = (image.height as i64 - first + step - 1) / step;
        let in_field = y + row as i64;
        let inside = (0..rows).contains(&in_field);
        let at = if m.zero_outside { in_field } else { in_field.clamp(0, rows.max(1) - 1) } * step + first;
        let start = image.start as i64 + at.clamp(0, image.height as i64 - 1) * image.row_pitch as i64;
        if O::ACTIVE {
            let whole = inside && x >= 0 && x + width as i64 <= line;
            let address = start + x.clamp(0, line - 1);
            obs.access(&Access {
                channel: 0,
                space,
                address: address as u64,
                place: block.contains(index(address), 1).then(|| base + address as u64),
                bytes: width as u32,
                kind,
                outside: !whole,
            });
        }
        let register = data + row as u32 * m.pitch as u32;
        for k in 0..width {
            let byte = x + k as i64;
            let there = inside && (0..line).contains(&byte);
            if m.write {
                if there {
                    block.write(index(start + byte), [regs.get::<u8>(register + k as u32)]);
                }
                continue;
            }
            if !there && m.zero_outside {
                regs.set(register + k as u32, 0u8);
                continue;
            }
            // The nearest texel, the same byte of it.
            let nearest = byte.div_euclid(texel).clamp(0, image.width as i64 - 1);
            let byte = nearest * texel + byte.rem_euclid(texel);
            let read = block.read::<1>(index(start + byte)).unwrap_or_default();
            regs.set(register + k as u32, read[0]);
        }
    }
    Ok(())
}

fn index(x: i64) -> usize {
    usize::try_from(x).unwrap_or(usize::MAX)
}

/// Answers questions about an image: size of the level of detail, or samples.
pub(super) fn query_image_info(
    f: &Info,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
) -> Result<(), Fault> {
    let Some(data) = f.data else { return Ok(()) };
    let target = resolve_typed(&f.space, regs, ports)?;
    for i in (0..channels).filter(|i| mask >> i & 1 != 0) {
        let lod = f.lod.map_or(0, |r| regs.get::<u32>(r + i * 4));
        let level = |n: u32| n.checked_shr(lod).unwrap_or(0);
        let answer = match target {
            TypedTarget::Nothing => [0; 4],
            // The palette's first.
            TypedTarget::Image(_, image, ..) if f.samples => [image.samples, 0, 0, 0],
            TypedTarget::Image(_, image, ..) => {
                let (w, h, d) = (level(image.width), level(image.height), image.depth);
                let [r, g, b] = match image.shape {
                    ImageShape::D1 => [w, 0, 0],
                    ImageShape::D1Array => [w, d, 0],
                    ImageShape::D2 => [w, h, 0],
                    ImageShape::D2Array => [w, h, d],
                    ImageShape::D3 => [w, h, level(d)],
                    ImageShape::Cube => [w, h, d / 6],
                };
                [r, g, b, image.levels]
            }
        };
        let mut register = data;
        for (c, x) in answer.into_iter().enumerate() {
            if f.channels >> c & 1 != 0 {
                regs.set(register + i * 4, x);
                register += f.component_stride;
            }
        }
    }
    Ok(())
}
