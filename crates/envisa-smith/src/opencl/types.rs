//! Types of OpenCL C, and choices by chance.

use crate::generate::Rng;

/// What elements are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// Signed, of so many bits.
    Int(u32),
    /// Unsigned, of so many bits.
    Uint(u32),
    /// `float`.
    Float,
    /// `double`.
    Double,
}

/// A scalar or vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Type {
    /// Of elements.
    pub base: Base,
    /// How many elements: 1, 2, 3, 4, 8 or 16.
    pub width: usize,
}

impl Base {
    /// Bits of an element.
    pub fn bits(self) -> u32 {
        match self {
            Base::Int(bits) | Base::Uint(bits) => bits,
            Base::Float => 32,
            Base::Double => 64,
        }
    }

    /// Its name in OpenCL C.
    pub fn name(self) -> &'static str {
        match self {
            Base::Int(8) => "char",
            Base::Int(16) => "short",
            Base::Int(32) => "int",
            Base::Int(_) => "long",
            Base::Uint(8) => "uchar",
            Base::Uint(16) => "ushort",
            Base::Uint(32) => "uint",
            Base::Uint(_) => "ulong",
            Base::Float => "float",
            Base::Double => "double",
        }
    }
}

/// `uint`.
pub const UINT: Type = Type { base: Base::Uint(32), width: 1 };
/// `ulong`.
pub const ULONG: Type = Type { base: Base::Uint(64), width: 1 };

impl Type {
    /// Its name in OpenCL C.
    pub fn name(self) -> String {
        if self.width == 1 {
            self.base.name().to_owned()
        } else {
            format!("{}{}", self.base.name(), self.width)
        }
    }

    /// Of one element.
    pub fn scalar(self) -> Type {
        Type { width: 1, ..self }
    }

    /// Of so many elements.
    pub fn wide(self, width: usize) -> Type {
        Type { width, ..self }
    }

    /// With unsigned elements of the same size.
    pub fn unsigned(self) -> Type {
        Type { base: Base::Uint(self.base.bits()), ..self }
    }

    /// With signed elements of the same size: what comparisons of vectors give.
    pub fn signed(self) -> Type {
        Type { base: Base::Int(self.base.bits()), ..self }
    }

    /// With a fraction?
    pub fn is_float(self) -> bool {
        matches!(self.base, Base::Float | Base::Double)
    }

    /// With a sign?
    pub fn is_signed(self) -> bool {
        matches!(self.base, Base::Int(_))
    }

    /// Elements that it can be selected from by one name: `.s0` and so on.
    pub fn element(self, k: usize) -> String {
        format!(".s{:x}", k % self.width)
    }
}

/// How large programs are: 1 to [`LARGE`].
pub type Size = usize;
/// As programs were before there were sizes.
pub const LARGE: Size = 4;

/// Choices: the same for the same number and size.
pub struct Dice(Rng, Size);

impl Dice {
    /// Of a number.
    pub fn new(seed: u64, size: Size) -> Dice {
        Dice(Rng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x6f70_656e_636c), size)
    }

    /// A number of things, one of `least..least + range` in a large program.
    pub fn many(&mut self, least: usize, range: usize) -> usize {
        let part = |n: usize| (n * self.1).div_ceil(LARGE);
        part(least) + self.below(part(range).max(2))
    }

    /// Is the program one of those without sizes?
    pub fn is_large(&self) -> bool {
        self.1 == LARGE
    }

    /// How deep expressions of statements are: 2, and in small programs often 1.
    pub fn depth(&mut self) -> usize {
        if self.1 == 1 { 1 + self.below(2) } else { 2 }
    }

    /// Is there something that every other large program has?
    pub fn has_rare_feature(&mut self) -> bool {
        self.once_in(2 + LARGE - self.1)
    }

    /// A number below another.
    pub fn below(&mut self, n: usize) -> usize {
        (self.0.bits() % n.max(1) as u64) as usize
    }

    /// True once in so many times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0.bits()
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A type of integers.
    pub fn integers(&mut self) -> Type {
        let bits = self.pick(&[8, 16, 32, 32, 32, 64]);
        let base = if self.once_in(2) { Base::Int(bits) } else { Base::Uint(bits) };
        // Compilers take an element at a time: wide vectors take them the longest.
        let widths: &[usize] = match self.1 {
            LARGE => &[1, 1, 1, 1, 2, 3, 4, 4, 8, 16],
            _ => &[1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 4, 8, 8, 16],
        };
        Type { base, width: self.pick(widths) }
    }
}
