//! Packed immediate vectors `V`, `UV`, `VF` (specification chapter 2).

/// Element `i` (modulo 8) of a `V`: a signed 4-bit integer, lowest element in the lowest bits.
#[inline(always)]
pub const fn v(bits: u32, i: usize) -> i16 {
    ((bits << (28 - 4 * (i & 7))) as i32 >> 28) as i16
}

/// Element `i` (modulo 8) of a `UV`: an unsigned 4-bit integer.
#[inline(always)]
pub const fn uv(bits: u32, i: usize) -> u16 {
    (bits >> (4 * (i & 7)) & 15) as u16
}

/// Element `i` (modulo 4) of a `VF`: a restricted float of sign, 3 exponent bits (bias 3) and 4 fraction
/// bits. 0x00 and 0x80 are +0 and −0; there are no denormals: 0x01 is 1.0625 · 2⁻³.
#[inline(always)]
pub const fn vf(bits: u32, i: usize) -> f32 {
    let b = bits >> (8 * (i & 3)) & 0xff;
    let sign = (b & 0x80) << 24;
    let magnitude = b & 0x7f;
    if magnitude == 0 {
        f32::from_bits(sign)
    } else {
        f32::from_bits(sign | ((magnitude << 19) + (124 << 23)))
    }
}
