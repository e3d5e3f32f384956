//! Texel formats: every stored value comes back, and the edges of each conversion.

use envisa_sem::image::{ChannelOrder, ChannelType, ImageFormat};

fn format(order: ChannelOrder, ty: ChannelType) -> ImageFormat {
    ImageFormat::new(order, ty).unwrap()
}

fn floats(x: [f32; 4]) -> [u32; 4] {
    x.map(f32::to_bits)
}

fn write(f: ImageFormat, x: [u32; 4]) -> Vec<u8> {
    let mut texel = vec![0xaa; f.texel_bytes()];
    assert!(f.encode(x, &mut texel));
    texel
}

/// Decoding and encoding is the identity on every 8- and 16-bit value of one channel. (The most negative
/// signed normalised value reads as −1, which is written as the next one; a signalling NaN becomes quiet.)
#[test]
fn stored_values_come_back() {
    use ChannelType::*;
    for ty in [Unorm8, Snorm8, Uint8, Sint8, Unorm16, Snorm16, Uint16, Sint16, Half] {
        let f = format(ChannelOrder::R, ty);
        for x in 0..1u32 << (8 * f.texel_bytes()) {
            let bytes = &x.to_le_bytes()[..f.texel_bytes()];
            let back = write(f, f.decode(bytes).unwrap());
            let special = match ty {
                Snorm8 => x == 0x80,
                Snorm16 => x == 0x8000,
                Half => x & 0x7fff > 0x7c00,
                _ => false,
            };
            assert!(back == bytes || special, "{ty:?} {x:#x}");
        }
    }
    let s = format(ChannelOrder::SrgbA, Unorm8);
    for x in 0..=255u8 {
        assert_eq!(write(s, s.decode(&[x, 1, 2, x]).unwrap()), [x, 1, 2, x]);
    }
    for ty in [Unorm565, Unorm555] {
        let f = format(ChannelOrder::Rgb, ty);
        for x in 0..if ty == Unorm565 { 0x1_0000u32 } else { 0x8000 } {
            let bytes = &x.to_le_bytes()[..2];
            assert_eq!(write(f, f.decode(bytes).unwrap()), bytes);
        }
    }
}

#[test]
fn clamping_and_rounding() {
    use ChannelType::*;
    let u8s = |x| write(format(ChannelOrder::R, Unorm8), floats([x, 0.0, 0.0, 0.0]))[0];
    assert_eq!([-1.0, 0.0, 1.0, 2.0, f32::NAN, f32::INFINITY].map(u8s), [0, 0, 255, 255, 0, 255]);
    // 0.5 · 255 is 127.5: to even.
    assert_eq!(u8s(0.5), 128);
    let s8s = |x| write(format(ChannelOrder::R, Snorm8), floats([x, 0.0, 0.0, 0.0]))[0] as i8;
    assert_eq!([-2.0, -1.0, 1.0, 2.0, f32::NAN].map(s8s), [-128, -127, 127, 127, 0]);
    let i8s = |x: i32| write(format(ChannelOrder::R, Sint8), [x as u32, 0, 0, 0])[0] as i8;
    assert_eq!([-1000, -5, 1000].map(i8s), [-128, -5, 127]);
    assert_eq!(write(format(ChannelOrder::R, Uint16), [70000, 0, 0, 0]), [0xff, 0xff]);
    assert_eq!(format(ChannelOrder::R, Snorm8).decode(&[0x80]).unwrap()[0], (-1f32).to_bits());
}

#[test]
fn channels_and_defaults() {
    use ChannelOrder::*;
    use ChannelType::*;
    let one = 1f32.to_bits();
    let read = |o, ty, bytes: &[u8]| format(o, ty).decode(bytes).unwrap();
    assert_eq!(read(Rgba, Uint8, &[1, 2, 3, 4]), [1, 2, 3, 4]);
    assert_eq!(read(Bgra, Uint8, &[1, 2, 3, 4]), [3, 2, 1, 4]);
    assert_eq!(read(Argb, Uint8, &[1, 2, 3, 4]), [2, 3, 4, 1]);
    assert_eq!(read(Abgr, Uint8, &[1, 2, 3, 4]), [4, 3, 2, 1]);
    assert_eq!(read(R, Sint8, &[0xff]), [u32::MAX, 0, 0, 1]);
    assert_eq!(read(Rg, Unorm8, &[255, 255]), [one, one, 0, one]);
    assert_eq!(read(A, Unorm8, &[255]), [0, 0, 0, one]);
    assert_eq!(read(Ra, Uint16, &[5, 0, 6, 0]), [5, 0, 0, 6]);
    assert_eq!(read(Intensity, Unorm8, &[255]), [one; 4]);
    assert_eq!(read(Luminance, Float, &2f32.to_le_bytes()), floats([2.0, 2.0, 2.0, 1.0]));
    assert_eq!(read(Rx, Uint8, &[9, 77]), [9, 0, 0, 1]);
    assert_eq!(read(Rgb, Unorm565, &[0x00, 0xf8]), floats([1.0, 0.0, 0.0, 1.0]));
    assert_eq!(read(Rgba, Unorm1010102, &0xffc0_0003u32.to_le_bytes()), floats([1.0, 0.0, 0.0, 1.0]));
    assert_eq!(write(format(Bgra, Unorm8), floats([1.0, 0.0, 0.0, 0.0])), [0, 0, 255, 0]);
    assert_eq!(write(format(Rgx, Uint8), [1, 2, 3, 4]), [1, 2, 0]);
    assert_eq!(
        write(format(Rgba, Half), floats([1.0, -2.0, 0.5, 65536.0])),
        [0, 0x3c, 0, 0xc0, 0, 0x38, 0, 0x7c]
    );
}

#[test]
fn combinations_and_short_slices() {
    use ChannelOrder::*;
    use ChannelType::*;
    assert!(ImageFormat::new(Rgb, Unorm8).is_none());
    assert!(ImageFormat::new(Bgra, Float).is_none());
    assert!(ImageFormat::new(SrgbA, Float).is_none());
    assert!(ImageFormat::new(Depth, Unorm16).is_some());
    let f = format(Rgba, Float);
    assert_eq!(f.texel_bytes(), 16);
    assert_eq!(f.decode(&[0; 15]), None);
    let mut short = [1; 15];
    assert!(!f.encode([0; 4], &mut short) && short == [1; 15]);
    assert_eq!(ChannelOrder::from_cl(0x10b5), Some(Rgba));
    assert_eq!(ChannelType::from_cl(0x10de), Some(Float));
    assert_eq!(ChannelOrder::from_cl(0), None);
}
