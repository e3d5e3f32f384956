//! GATHER4_TYPED and SCATTER4_TYPED exhaustively over their fields, texel loads, typed atomics, media blocks,
//! questions about images.

use envisa_lower::{Coordinates, Info, Media, Message, Outside, Src, TexelSlot, Typed, TypedAtomic};

use super::*;
use crate::memory::{Image, ImageShape};
use crate::messages::FaultKind;

const SHAPES: [ImageShape; 5] =
    [ImageShape::D1, ImageShape::D1Array, ImageShape::D2, ImageShape::D2Array, ImageShape::D3];

/// Formats, with their codes, bytes and what they store, written down anew.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Format {
    Rgba8,
    Bgra8,
    R8,
    A8,
    Rgba8s,
    Rg16i,
    R32u,
    Rgba32f,
    Rgba16u,
}

const FORMATS: [Format; 9] = {
    use Format::*;
    [Rgba8, Bgra8, R8, A8, Rgba8s, Rg16i, R32u, Rgba32f, Rgba16u]
};

/// How a stored channel converts.
#[derive(Clone, Copy, PartialEq)]
enum Channel {
    Unorm,
    Snorm,
    Signed,
    Unsigned,
    Float,
}

impl Format {
    /// Channel order, data type (`cl.h`), channels stored in order, bytes of each, conversion.
    fn facts(self) -> (u32, u32, &'static [usize], usize, Channel) {
        use Channel::*;
        match self {
            Format::Rgba8 => (0x10b5, 0x10d2, &[0, 1, 2, 3], 1, Unorm),
            Format::Bgra8 => (0x10b6, 0x10d2, &[2, 1, 0, 3], 1, Unorm),
            Format::R8 => (0x10b0, 0x10d2, &[0], 1, Unorm),
            Format::A8 => (0x10b1, 0x10d2, &[3], 1, Unorm),
            Format::Rgba8s => (0x10b5, 0x10d0, &[0, 1, 2, 3], 1, Snorm),
            Format::Rg16i => (0x10b2, 0x10d8, &[0, 1], 2, Signed),
            Format::R32u => (0x10b0, 0x10dc, &[0], 4, Unsigned),
            Format::Rgba32f => (0x10b5, 0x10de, &[0, 1, 2, 3], 4, Float),
            Format::Rgba16u => (0x10b5, 0x10db, &[0, 1, 2, 3], 2, Unsigned),
        }
    }

    fn bytes(self) -> usize {
        let (_, _, stored, size, _) = self.facts();
        stored.len() * size
    }

    fn one(self) -> u32 {
        match self.facts().4 {
            Channel::Signed | Channel::Unsigned => 1,
            _ => 1f32.to_bits(),
        }
    }

    fn decode(self, texel: &[u8]) -> [u32; 4] {
        let (_, _, stored, size, channel) = self.facts();
        let mut out = [0, 0, 0, self.one()];
        for (k, &c) in stored.iter().enumerate() {
            let x = little(&texel[k * size..(k + 1) * size]);
            let signed = (x << (64 - 8 * size)) as i64 >> (64 - 8 * size);
            out[c] = match channel {
                Channel::Unorm => (x as f64 / ((1u64 << (8 * size)) - 1) as f64) as f32,
                Channel::Snorm => (signed as f64 / ((1i64 << (8 * size - 1)) - 1) as f64).max(-1.0) as f32,
                Channel::Signed | Channel::Unsigned => {
                    out[c] = signed as u32;
                    if channel == Channel::Unsigned {
                        out[c] = x as u32;
                    }
                    continue;
                }
                Channel::Float => f32::from_bits(x as u32),
            }
            .to_bits();
        }
        out
    }

    /// Writes the channels of a mask.
    fn encode(self, texel: &mut [u8], channels: [u32; 4], mask: u8) {
        let (_, _, stored, size, channel) = self.facts();
        for (k, &c) in stored.iter().enumerate() {
            if mask >> c & 1 == 0 {
                continue;
            }
            let f = f32::from_bits(channels[c]) as f64;
            let top = (1u64 << (8 * size)) - 1;
            let half = (1i64 << (8 * size - 1)) - 1;
            let x = match channel {
                Channel::Unorm => (f.clamp(0.0, 1.0) * top as f64).round_ties_even() as u64,
                // The page clamps to what the destination can hold, whose least value is below -1.
                Channel::Snorm => ((f * half as f64).round_ties_even() as i64).clamp(-half - 1, half) as u64,
                Channel::Signed => (channels[c] as i32 as i64).clamp(-half - 1, half) as u64,
                Channel::Unsigned => (channels[c] as u64).min(top),
                Channel::Float => channels[c] as u64,
            };
            texel[k * size..(k + 1) * size].copy_from_slice(&x.to_le_bytes()[..size]);
        }
    }
}

const ORIGIN: usize = 0;
const WIDTH: u32 = 5;

/// Rows and planes of a shape.
fn sides(shape: ImageShape) -> (u32, u32) {
    match shape {
        ImageShape::D1 => (1, 1),
        ImageShape::D1Array => (1, 3),
        ImageShape::D2 => (4, 1),
        ImageShape::D2Array | ImageShape::D3 => (2, 3),
        ImageShape::Cube => (2, 6),
    }
}

/// Binds an image over the second allocation, with padding after rows and planes.
fn bind(rig: &mut Rig, shape: ImageShape, format: Format) -> Image {
    let (order, ty, ..) = format.facts();
    let (height, depth) = sides(shape);
    let row = WIDTH * format.bytes() as u32 + 4;
    let image = Image {
        shape,
        width: WIDTH,
        height,
        depth,
        samples: 1,
        levels: 1,
        row_pitch: row,
        slice_pitch: (row * height + 8) as u64,
        channel_order: order,
        channel_type: ty,
        texel_bytes: format.bytes() as u32,
        start: 0,
        allocation: rig.ids[1],
    };
    rig.surfaces.bind_surface(&rig.memory, 7, Surface::Image(image));
    rig.regs.set(HANDLE, 7u32);
    image
}

/// First byte of a texel in its allocation, from the table of shapes on page TYPED_ATOMIC.
fn place(image: &Image, [u, v, r, lod]: [u32; 4]) -> Option<usize> {
    let (row, plane) = match image.shape {
        ImageShape::D1 => (0, 0),
        ImageShape::D1Array => (0, v),
        ImageShape::D2 => (v, 0),
        ImageShape::D2Array | ImageShape::D3 | ImageShape::Cube => (v, r),
    };
    let inside = u < image.width && row < image.height && plane < image.depth && lod == 0;
    inside.then(|| {
        ORIGIN
            + plane as usize * image.slice_pitch as usize
            + row as usize * image.row_pitch as usize
            + (u * image.texel_bytes) as usize
    })
}

/// Coordinates, mostly inside; the absent ones are zero.
fn fill(rig: &mut Rig, rng: &mut Rng, channels: u32, present: [bool; 4]) -> Vec<[u32; 4]> {
    (0..channels)
        .map(|i| {
            let mut at = [0; 4];
            for (k, x) in at.iter_mut().enumerate() {
                if present[k] {
                    *x = match rng.below(12) {
                        0 => u32::MAX - rng.below(2) as u32,
                        1 => 1 << 31,
                        _ if k == 3 => (rng.below(8) == 0) as u32,
                        _ => rng.below([6, 5, 4][k.min(2)]) as u32,
                    };
                    rig.regs.set(ADDRESS + 64 * k as u32 + 4 * i, *x);
                }
            }
            at
        })
        .collect()
}

fn uvrl(present: [bool; 4]) -> Coordinates {
    let at = [0, 1, 2, 3].map(|k| present[k].then_some(ADDRESS + 64 * k as u32));
    Coordinates { at, bytes: 4, offsets: Src::None }
}

fn typed(write: bool, present: [bool; 4], channels: u8, stride: u32) -> Typed {
    Typed {
        space: Space::Bti(ud(HANDLE)),
        write,
        coordinates: uvrl(present),
        channels,
        slot: TexelSlot::Dword,
        data: Some(DATA),
        component_stride: stride,
        outside: Outside::AlphaOne,
        null_mask: false,
        sample: None,
        clamp: false,
    }
}

/// Random channels, for floats around the range of normalised formats.
fn texel_data(rig: &mut Rig, rng: &mut Rng, format: Format, stride: u32) {
    for c in 0..4 {
        for i in 0..8 {
            let x = match format.facts().4 {
                Channel::Signed | Channel::Unsigned => {
                    [rng.next() as u32, rng.below(300) as u32, (rng.below(300) as u32).wrapping_neg()]
                        [rng.below(3) as usize]
                }
                _ => (rng.below(2400) as f32 / 1000.0 - 1.2).to_bits(),
            };
            rig.regs.set(DATA + c * stride + 4 * i, x);
        }
    }
}

/// Every set of channels, shape, format, set of null operands and register size, with masks and coordinates
/// inside and outside in turn.
#[test]
fn gather4_and_scatter4() {
    let mut rng = Rng(1);
    for shape in SHAPES {
        for format in FORMATS {
            for channels in 1..16u8 {
                for nulls in 0..8u32 {
                    for write in [false, true] {
                        let present = [true, nulls & 1 == 0, nulls & 2 == 0, nulls & 4 == 0];
                        let mut rig = Rig::new(&mut rng);
                        rig.grf = [32, 64][rng.below(2) as usize];
                        let stride = rig.grf.max(32);
                        let image = bind(&mut rig, shape, format);
                        let at = fill(&mut rig, &mut rng, 8, present);
                        if write {
                            texel_data(&mut rig, &mut rng, format, stride);
                        }
                        let mask = {
                            let m = masks(&mut rng, 8);
                            m[rng.below(m.len() as u64) as usize]
                        };
                        let mut want = rig.state();
                        let mut outside = 0;
                        for i in (0..8usize).filter(|i| mask >> i & 1 != 0) {
                            let place = place(&image, at[i]);
                            outside += place.is_none() as usize;
                            let register = |k: u32| DATA as usize + (k * stride) as usize + 4 * i;
                            let enabled: Vec<usize> = (0..4).filter(|c| channels >> c & 1 != 0).collect();
                            if write {
                                let mut texel = [0; 4];
                                for (k, &c) in enabled.iter().enumerate() {
                                    texel[c] = want.reg(register(k as u32), 4) as u32;
                                }
                                if let Some(p) = place {
                                    let bytes = &mut want.allocations[1][p..p + format.bytes()];
                                    format.encode(bytes, texel, channels);
                                }
                            } else {
                                let texel = match place {
                                    Some(p) => format.decode(&want.allocations[1][p..]),
                                    None => [0, 0, 0, format.one()],
                                };
                                for (k, &c) in enabled.iter().enumerate() {
                                    want.set_reg(register(k as u32), 4, texel[c] as u64);
                                }
                            }
                        }
                        let m = Message::Typed(typed(write, present, channels, stride));
                        let (result, told) = rig.run(&m, mask, 8);
                        let case =
                            format!("{shape:?} {format:?} {channels:#x} nulls {nulls} write {write} {at:?}");
                        assert_eq!(result, Ok(()), "{case}");
                        assert!(rig.state() == want, "{case}");
                        assert_eq!(told.len(), mask.count_ones() as usize);
                        assert_eq!(told.iter().filter(|a| a.outside).count(), outside, "{case}");
                    }
                }
            }
        }
    }
}

#[test]
fn unbound_images_read_zero_and_buffers_are_refused() {
    let mut rig = Rig::new(&mut Rng(2));
    rig.regs.set(HANDLE, 100u32);
    let m = |write| Message::Typed(typed(write, [true; 4], 15, 32));
    let before = rig.state();
    assert_eq!(rig.run(&m(true), 0xff, 8).0, Ok(()));
    assert!(rig.state() == before);
    assert_eq!(rig.run(&m(false), 0xff, 8).0, Ok(()));
    assert!(rig.regs.slice(DATA, 128).iter().all(|&b| b == 0));
    rig.regs.set(HANDLE, BTI);
    let fault = rig.run(&m(false), 0xff, 8).0.unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Unsupported(why) if why.contains("buffer")));
    // Without a destination nothing happens.
    let before = rig.state();
    let none = Message::Typed(Typed { data: None, ..typed(false, [true; 4], 15, 32) });
    assert_eq!(rig.run(&none, 0xff, 8).0, Ok(()));
    assert!(rig.state() == before);
}

/// Texel loads: immediate offsets, 16-bit parameters and results, zero outside but one for an alpha that the
/// format does not store.
#[test]
fn loads() {
    let mut rng = Rng(3);
    for format in FORMATS {
        for slot in [TexelSlot::Dword, TexelSlot::Word, TexelSlot::Half] {
            let float = !matches!(format.facts().4, Channel::Signed | Channel::Unsigned);
            if slot != TexelSlot::Dword && (slot == TexelSlot::Half) != float {
                continue;
            }
            for bytes in [2u8, 4] {
                for exec in [8u32, 16, 32] {
                    let mut rig = Rig::new(&mut rng);
                    let image = bind(&mut rig, ImageShape::D2, format);
                    let add = [rng.below(16) as i64 - 8, rng.below(16) as i64 - 8];
                    let word = (add[0] & 15) << 8 | (add[1] & 15) << 4 | 5;
                    rig.regs.set(SCALAR, word as u16);
                    let size = if slot == TexelSlot::Dword { 4 } else { 2 };
                    let mut want = rig.state();
                    for i in 0..exec {
                        let at = [rng.below(12) as i64 - 2, rng.below(12) as i64 - 2];
                        for (k, x) in at.iter().enumerate() {
                            let reg = ADDRESS + 128 * k as u32 + bytes as u32 * i;
                            want.set_reg(reg as usize, bytes as usize, *x as u64);
                        }
                        let (u, v) = (at[0] + add[0], at[1] + add[1]);
                        let place = match (u32::try_from(u), u32::try_from(v)) {
                            (Ok(u), Ok(v)) => place(&image, [u, v, 0, 0]),
                            _ => None,
                        };
                        let alpha = if format.facts().2.contains(&3) { 0 } else { format.one() };
                        let texel =
                            place.map_or([0, 0, 0, alpha], |p| format.decode(&want.allocations[1][p..]));
                        for (c, x) in texel.into_iter().enumerate() {
                            let reg = DATA as usize + c * 128 + i as usize * size;
                            let x = match slot {
                                TexelSlot::Half => {
                                    let f = f32::from_bits(x);
                                    envisa_sem::convert::f32_to_hf(f, envisa_sem::Rounding::NearestEven).0
                                        as u64
                                }
                                _ => x as u64,
                            };
                            want.set_reg(reg, size, x);
                        }
                    }
                    for (i, b) in want.regs[ADDRESS as usize..DATA as usize].iter().enumerate() {
                        rig.regs.set(ADDRESS + i as u32, *b);
                    }
                    let m = Message::Typed(Typed {
                        coordinates: Coordinates {
                            at: [Some(ADDRESS), Some(ADDRESS + 128), None, None],
                            bytes,
                            offsets: scalar(SCALAR, envisa_isa::Type::Uw),
                        },
                        slot,
                        outside: Outside::Border,
                        ..typed(false, [true; 4], 15, 128)
                    });
                    assert_eq!(rig.run(&m, u32::MAX, exec).0, Ok(()));
                    assert!(rig.state() == want, "{format:?} {slot:?} {bytes} ({exec})");
                }
            }
        }
    }
}

/// The pixel null mask takes a register after the data.
#[test]
fn null_masks() {
    let mut rng = Rng(7);
    for exec in [8u32, 16, 32] {
        let mut rig = Rig::new(&mut rng);
        bind(&mut rig, ImageShape::D2, Format::Rgba8);
        fill(&mut rig, &mut rng, exec.min(16), [true; 4]);
        let plain = Typed { outside: Outside::Border, ..typed(false, [true; 4], 5, exec * 4) };
        let masked = Message::Typed(Typed { null_mask: true, ..plain.clone() });
        let before = rig.state();
        assert_eq!(rig.run(&Message::Typed(plain), 0x35, exec).0, Ok(()));
        let mut want = rig.state();
        want.set_reg(
            DATA as usize + exec as usize * 8,
            4,
            crate::register_file::all_channels(exec as usize) as u64,
        );
        rig.restore(&before);
        assert_eq!(rig.run(&masked, 0x35, exec).0, Ok(()));
        assert!(rig.state() == want, "({exec})");
    }
}

#[test]
fn status_of_texels() {
    let mut rng = Rng(8);
    for shape in SHAPES {
        let mut rig = Rig::new(&mut rng);
        let image = bind(&mut rig, shape, Format::Rgba8);
        let at = fill(&mut rig, &mut rng, 16, [true; 4]);
        let mask = rng.next() as u32 & 0xffff;
        let m = Message::TypedStatus(typed(false, [true; 4], 1, 0));
        assert_eq!(rig.run(&m, mask, 16).0, Ok(()));
        let want = (0..16).filter(|i| mask >> i & 1 != 0 && place(&image, at[*i]).is_some());
        assert_eq!(rig.regs.get::<u32>(DATA), want.fold(0, |m, i| m | 1 << i), "{shape:?}");
    }
}

#[test]
fn typed_atomics() {
    let mut rng = Rng(4);
    for shape in SHAPES {
        for round in 0..40 {
            let mut rig = Rig::new(&mut rng);
            let image = bind(&mut rig, shape, Format::R32u);
            let at = fill(&mut rig, &mut rng, 8, [true; 4]);
            let mask = rng.next() as u32 & 0xff;
            // add, and cmpxchg with the present value of some.
            let code = if round % 2 == 0 { 0 } else { 7 };
            let mut want = rig.state();
            for i in 0..8usize {
                let (a, b) = (DATA + 4 * i as u32, DATA + 64 + 4 * i as u32);
                if let Some(p) = place(&image, at[i])
                    && rng.below(2) == 0
                {
                    rig.regs.set(b, little(&want.allocations[1][p..p + 4]) as u32);
                }
                let (a, b) = (rig.regs.get::<u32>(a), rig.regs.get::<u32>(b));
                want.set_reg(DATA as usize + 64 + 4 * i, 4, b as u64);
                if mask >> i & 1 == 0 {
                    continue;
                }
                let mut old = 0;
                if let Some(p) = place(&image, at[i]) {
                    let word = &mut want.allocations[1][p..p + 4];
                    old = little(word) as u32;
                    let new = match code {
                        0 => old.wrapping_add(a),
                        _ if old == b => a,
                        _ => old,
                    };
                    word.copy_from_slice(&new.to_le_bytes());
                }
                want.set_reg(MORE as usize + 4 * i, 4, old as u64);
            }
            let atomic = TypedAtomic {
                space: Space::Bti(ud(HANDLE)),
                coordinates: uvrl([true; 4]),
                code,
                lsc: false,
                element: 4,
                slot: 4,
                src: [Some(DATA), Some(DATA + 64)],
                dst: Some(MORE),
            };
            assert_eq!(rig.run(&Message::TypedAtomic(atomic.clone()), mask, 8).0, Ok(()));
            assert!(rig.state() == want, "{shape:?} {code} {mask:#x}");
            let fault = rig.run(&Message::TypedAtomic(TypedAtomic { element: 2, ..atomic }), 0xff, 8).0;
            assert!(matches!(fault.unwrap_err().kind, FaultKind::Unsupported(_)));
        }
    }
}

/// Every width with its largest height, at every place around the image's edges; fields of interlaced images
/// are images of every second row; typed 2D blocks read zero outside.
#[test]
fn media_blocks() {
    let mut rng = Rng(5);
    for format in [Format::R8, Format::Rgba8, Format::R32u] {
        let line = WIDTH as i64 * format.bytes() as i64;
        for width in 1..=64u32 {
            let pitch = width.next_power_of_two().max(4);
            for write in [false, true] {
                for round in 0..8 {
                    let mut rig = Rig::new(&mut rng);
                    let lines = [(0, 1), (0, 2), (1, 2)][round % 3];
                    let zero_outside = lines == (0, 1) && rng.below(2) == 0;
                    let image = bind(&mut rig, ImageShape::D2, format);
                    // Image rows that count.
                    let field: Vec<i64> = (lines.0..4).step_by(lines.1 as usize).collect();
                    let height = 1 + rng.below((256 / pitch).min(64) as u64) as u32;
                    let mut x = rng.below(line as u64 + 24) as i64 - 12;
                    if write {
                        x = x / 4 * 4;
                    }
                    let y = rng.below(10) as i64 - 4;
                    rig.regs.set(SCALAR, x as u32);
                    rig.regs.set(SCALAR + 4, y as u32);
                    let mut want = rig.state();
                    for r in 0..height as i64 {
                        for c in 0..width as i64 {
                            let reg = DATA as usize + (r * pitch as i64 + c) as usize;
                            let (row, byte) = (y + r, x + c);
                            let at = |row: i64, byte: i64| (row * image.row_pitch as i64 + byte) as usize;
                            let inside = (0..field.len() as i64).contains(&row) && (0..line).contains(&byte);
                            let row = field[row.clamp(0, field.len() as i64 - 1) as usize];
                            if write {
                                if inside {
                                    want.allocations[1][at(row, byte)] = want.regs[reg];
                                }
                            } else if zero_outside && !inside {
                                want.regs[reg] = 0;
                            } else {
                                let texel = format.bytes() as i64;
                                let mut byte = byte;
                                while byte < 0 {
                                    byte += texel;
                                }
                                while byte >= line {
                                    byte -= texel;
                                }
                                want.regs[reg] = want.allocations[1][at(row, byte)];
                            }
                        }
                    }
                    let m = Message::Media(Media {
                        space: Space::Bti(ud(HANDLE)),
                        write,
                        width: width as u8,
                        height: height as u8,
                        pitch: pitch as u8,
                        x: ud(SCALAR),
                        y: ud(SCALAR + 4),
                        lines: (lines.0 as u8, lines.1),
                        align: if write { 4 } else { 1 },
                        zero_outside,
                        data: Some(DATA),
                    });
                    assert_eq!(rig.run(&m, 1, 1).0, Ok(()));
                    assert!(rig.state() == want, "{format:?} {width}x{height} at {x},{y} write {write}");
                    if write {
                        rig.regs.set(SCALAR, x as u32 | 2);
                        assert_eq!(rig.run(&m, 1, 1).0.unwrap_err().kind, FaultKind::Misaligned(4));
                    }
                }
            }
        }
    }
}

#[test]
fn facts_about_images() {
    let mut rng = Rng(6);
    let table = [[5, 0, 0, 1], [5, 3, 0, 1], [5, 4, 0, 1], [5, 2, 3, 1], [5, 2, 3, 1]];
    for (shape, row) in SHAPES.into_iter().zip(table) {
        for channels in 1..16u8 {
            let mut rig = Rig::new(&mut rng);
            bind(&mut rig, shape, Format::Rgba8);
            for i in 0..8 {
                rig.regs.set(ADDRESS + 4 * i, i);
            }
            for samples in [false, true] {
                let m = Message::Info(Info {
                    space: Space::Bti(ud(HANDLE)),
                    samples,
                    channels,
                    lod: (!samples).then_some(ADDRESS),
                    data: Some(DATA),
                    component_stride: 32,
                });
                rig.run(&m, 0xff, 8).0.unwrap();
                for i in 0..8u32 {
                    let mut at = DATA + 4 * i;
                    for c in (0..4).filter(|c| channels >> c & 1 != 0) {
                        // Layers do not shrink with the level.
                        let layers = matches!(
                            (shape, c),
                            (ImageShape::D1Array, 1) | (ImageShape::D2Array, 2) | (_, 3)
                        );
                        let size = if layers { row[c] } else { row[c] >> i };
                        let want = if samples { [1, 0, 0, 0][c] } else { size };
                        assert_eq!(rig.regs.get::<u32>(at), want, "{shape:?} level {i} channel {c}");
                        at += 32;
                    }
                }
            }
        }
    }
}
