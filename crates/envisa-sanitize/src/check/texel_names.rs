//! Texels of images, as people name them: by their coordinates.

use std::ops::Range;

use envisa_lower::Message;
use envisa_machine::memory::{Image, ImageShape};
use envisa_machine::messages::outside_texels;

/// An image that the kernel is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImagePlace {
    /// Where its allocation begins.
    pub base: u64,
    /// What it is.
    pub image: Image,
    /// What reports call it.
    pub name: String,
}

impl ImagePlace {
    /// The texel that has a byte, as reports call it: `image p at (3, 4), of r:f32`; `None` if none has.
    pub(super) fn texel(&self, address: u64) -> Option<String> {
        let mut from = address.checked_sub(self.base.checked_add(self.image.start)?)?;
        let mut of = self.image;
        // Levels follow one another.
        for n in 0.. {
            let planes = u64::from(of.depth) * u64::from(of.samples);
            let bytes = of.slice_pitch.checked_mul(planes)?;
            if from < bytes {
                let text = texel_in(&of, from)?;
                let level = if n > 0 { format!(" in level {n}") } else { String::new() };
                return Some(format!("{} at {text}{level}{}", self.name, of_format(&of)));
            }
            from -= bytes;
            of = Image { start: of.start, ..self.image.level(n + 1)? };
        }
        None
    }

    /// The addresses from its first texel to its allocation's last that it may have.
    pub(super) fn range(&self) -> Range<u64> {
        let start = self.base.saturating_add(self.image.start);
        let mut bytes = 0u64;
        for level in (0..).map_while(|n| self.image.level(n)) {
            let planes = u64::from(level.depth) * u64::from(level.samples);
            bytes = bytes.saturating_add(level.slice_pitch.saturating_mul(planes));
        }
        start..start.saturating_add(bytes)
    }
}

/// Coordinates that an image of this shape has.
fn count(shape: ImageShape) -> usize {
    match shape {
        ImageShape::D1 => 1,
        ImageShape::D1Array | ImageShape::D2 => 2,
        ImageShape::D2Array | ImageShape::D3 | ImageShape::Cube => 3,
    }
}

/// The texel that has the byte so far behind the first texel's start.
fn texel_in(i: &Image, from: u64) -> Option<String> {
    let plane = from / i.slice_pitch.max(1);
    let in_plane = from - plane * i.slice_pitch;
    let row = in_plane / u64::from(i.row_pitch.max(1));
    let x = (in_plane - row * u64::from(i.row_pitch)) / u64::from(i.texel_bytes.max(1));
    let (samples, rows) = (u64::from(i.samples.max(1)), u64::from(i.height));
    // Bytes between rows and planes are no texel's.
    if x >= i.width.into() || row >= rows {
        return None;
    }
    let layer = plane / samples;
    let all = match i.shape {
        ImageShape::D1Array => [x, layer, 0],
        _ => [x, row, layer],
    };
    let sample = if samples > 1 { format!(", sample {}", plane % samples) } else { String::new() };
    let texts = all.map(|n| n.to_string());
    Some(format!("({}){sample}", texts[..count(i.shape)].join(", ")))
}

/// `, of rgba:unorm8`.
fn of_format(i: &Image) -> String {
    i.format().map_or(String::new(), |format| format!(", of {format}"))
}

/// The texel outside of an image that a message wanted, and what the image has: `texel (16, 3) of image p, which has 16 x 8, of
/// r:f32`.
pub(super) fn describe_outside_texel(i: &Image, name: &str, address: u64, message: &Message) -> String {
    let (sides, depth) = match i.shape {
        ImageShape::D1 => (1, 1),
        ImageShape::D1Array => (1, i.depth),
        _ => (2, i.depth),
    };
    let mut has = [i.width, i.height][..sides].iter().map(u32::to_string).collect::<Vec<_>>().join(" x ");
    match i.shape {
        ImageShape::D3 => has.push_str(&format!(" x {depth}")),
        ImageShape::D1Array | ImageShape::D2Array => has.push_str(&format!(" in {depth} layers")),
        ImageShape::Cube => has.push_str(&format!(" in {depth} faces")),
        ImageShape::D1 | ImageShape::D2 => {}
    }
    let texels = matches!(
        message,
        Message::Typed(_) | Message::TypedAtomic(_) | Message::Sample(_) | Message::Pixels(_)
    );
    let which = match texels {
        true => {
            let at = outside_texels::coordinates_of(address);
            let texts = at.map(|n| n.map_or_else(|| "far outside".to_owned(), |n| n.to_string()));
            format!("texel ({})", texts[..count(i.shape)].join(", "))
        }
        false => "a texel outside".to_owned(),
    };
    format!("{which} of {name}, which has {has}{}", of_format(i))
}

#[cfg(test)]
mod tests {
    use super::*;
    use envisa_machine::memory::AllocationId;

    #[test]
    fn texels_have_coordinates() {
        let image = Image {
            shape: ImageShape::D2,
            width: 3,
            height: 2,
            depth: 1,
            samples: 1,
            levels: 1,
            row_pitch: 16,
            slice_pitch: 32,
            channel_order: 0x10b5,
            channel_type: 0x10d2,
            texel_bytes: 4,
            start: 64,
            allocation: AllocationId(0),
        };
        let at =
            |image: Image, address| ImagePlace { base: 0x1000, image, name: "image p".into() }.texel(address);
        assert_eq!(at(image, 0x1000 + 64 + 16 + 9).as_deref(), Some("image p at (2, 1), of rgba:unorm8"));
        assert_eq!((at(image, 0x1000), at(image, 0x1000 + 64 + 12)), (None, None));
        let layers = Image { shape: ImageShape::D2Array, depth: 2, levels: 2, ..image };
        assert_eq!(at(layers, 0x1000 + 64 + 32).as_deref(), Some("image p at (0, 0, 1), of rgba:unorm8"));
        let second = at(layers, 0x1000 + 64 + 64 + 4);
        assert_eq!(second.as_deref(), Some("image p at (0, 0, 1) in level 1, of rgba:unorm8"));
        let rows = Image { shape: ImageShape::D1Array, height: 1, depth: 2, slice_pitch: 16, ..image };
        assert_eq!(at(rows, 0x1000 + 64 + 20).as_deref(), Some("image p at (1, 1), of rgba:unorm8"));
    }
}
