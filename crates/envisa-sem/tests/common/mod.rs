//! Values worth trying, and a small generator.
#![allow(dead_code)]

use envisa_sem::exact_arithmetic::Format;

/// xorshift64*.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn sign(&mut self, f: Format) -> u64 {
        if self.next() & 1 != 0 { f.sign() } else { 0 }
    }

    /// Bits of a format: half of them uniform, half with few fraction bits and near exponents, so that
    /// ties, cancellations and overflows happen.
    pub fn float(&mut self, f: Format) -> u64 {
        let x = self.next();
        let all = f.sign() | (f.sign() - 1);
        match x & 7 {
            0..=3 => self.next() & all,
            4 => edges(f)[(self.next() % edges(f).len() as u64) as usize],
            5 => {
                // Near 1, few bits.
                let e = (f.bias() as u64 + self.next() % 5 - 2) << f.mant;
                e | (self.next() & 3) << (f.mant - 2) | self.next() & 1 | self.sign(f)
            }
            6 => self.next() & ((1 << (f.mant + 1)) - 1) | self.sign(f),
            _ => {
                let e = (f.bias() as u64 + self.next() % 60 % (f.bias() as u64) - 2) << f.mant;
                e | self.next() & ((1 << f.mant) - 1) | self.sign(f)
            }
        }
    }
}

/// Zeros, denormals, ones, the largest, infinities, NaN; both signs.
pub fn edges(f: Format) -> Vec<u64> {
    let one = (f.bias() as u64) << f.mant;
    let min = 1 << f.mant;
    let positive = [
        0,
        1,
        2,
        3,
        min - 1,
        min,
        min + 1,
        one - 1,
        one,
        one + 1,
        one + (1 << (f.mant - 1)),
        f.infinity() - 1,
        f.infinity() - 2,
        f.infinity(),
        f.nan(),
    ];
    positive.iter().flat_map(|&x| [x, x | f.sign()]).collect()
}

/// The next larger number, of a positive one or +0.
pub fn up(x: f32) -> f32 {
    f32::from_bits(x.to_bits() + 1)
}

/// The next smaller number, of a positive one.
pub fn down(x: f32) -> f32 {
    f32::from_bits(x.to_bits() - 1)
}
