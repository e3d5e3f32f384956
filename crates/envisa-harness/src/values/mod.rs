//! Host values: what `zeros:f32:N`, `iota:i32:N`, `rand:f32:N:SEED`, literals and files mean, and how results are written.
//!
//! The same notation serves the command (`--arg NAME=VALUE`), launch manifests and the suite, and it is
//! deterministic: the same text gives the same bytes on every machine.
//!
//! # Notation
//!
//! | text | meaning |
//! | --- | --- |
//! | `5`, `-1.5`, `0x1f` | one number whose type the reader of the value knows (a kernel argument) |
//! | `f32:2.5`, `i32x4:1,2,3,4` | one literal of a stated type |
//! | `f32:1,2,3`, `i32x2:1,2,3,4` | an array: its elements, those of vectors one after the other |
//! | `zeros:T:N` | N elements of zero |
//! | `fill:T:N:X` | N elements of X |
//! | `iota:T:N` | 0, 1, 2, … (integers wrap to their width, floats round) |
//! | `rand:T:N[:SEED[:LO..HI]]` | N pseudo-random elements, seed 0 unless told |
//! | `local:BYTES` | no data: local memory of that size for a `__local` argument |
//! | `@FILE.npy`, `@FILE.png`, `@FILE` | an array, a picture, raw bytes |
//!
//! `T` is `i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64`, optionally with `x2 x3 x4 x8 x16` for vectors
//! (packed; N counts vectors). N may be written as a product: `64*32*4`.
//!
//! # Random numbers
//!
//! `rand` draws 64-bit values `r` from SplitMix64 whose state starts at SEED, one a scalar element.
//! Without a range, integers take the low bits of `r` (every value of the type) and floats lie in
//! `[-1, 1)`. With `LO..HI` (HI exclusive) integers are `LO + floor(r * (HI - LO) / 2^64)` and floats
//! `LO + (HI - LO) * u`, computed in double precision and rounded once. `u` is the top 11, 24 or 53
//! bits of `r` divided by 2^11, 2^24 or 2^53, for f16, f32 and f64.

mod files;
mod npy;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;

use half::f16;

pub use files::{FileKind, check_file};

/// The type of one scalar element of a host value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElemType {
    /// Signed byte.
    I8,
    /// Unsigned byte.
    U8,
    /// Signed 16-bit integer.
    I16,
    /// Unsigned 16-bit integer.
    U16,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 64-bit integer.
    U64,
    /// IEEE 754 binary16.
    F16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl ElemType {
    /// Every element type, in the order in which messages list them.
    pub const ALL: [ElemType; 11] = [
        ElemType::I8,
        ElemType::U8,
        ElemType::I16,
        ElemType::U16,
        ElemType::I32,
        ElemType::U32,
        ElemType::I64,
        ElemType::U64,
        ElemType::F16,
        ElemType::F32,
        ElemType::F64,
    ];

    /// Size of one element in bytes.
    pub const fn size(self) -> usize {
        match self {
            ElemType::I8 | ElemType::U8 => 1,
            ElemType::I16 | ElemType::U16 | ElemType::F16 => 2,
            ElemType::I32 | ElemType::U32 | ElemType::F32 => 4,
            ElemType::I64 | ElemType::U64 | ElemType::F64 => 8,
        }
    }

    /// True for `f16`, `f32` and `f64`.
    pub const fn is_float(self) -> bool {
        matches!(self, ElemType::F16 | ElemType::F32 | ElemType::F64)
    }

    /// True for the signed integers and the floats.
    pub const fn is_signed(self) -> bool {
        !matches!(self, ElemType::U8 | ElemType::U16 | ElemType::U32 | ElemType::U64)
    }

    /// The name used in the notation: `i8` … `f64`.
    pub const fn name(self) -> &'static str {
        match self {
            ElemType::I8 => "i8",
            ElemType::U8 => "u8",
            ElemType::I16 => "i16",
            ElemType::U16 => "u16",
            ElemType::I32 => "i32",
            ElemType::U32 => "u32",
            ElemType::I64 => "i64",
            ElemType::U64 => "u64",
            ElemType::F16 => "f16",
            ElemType::F32 => "f32",
            ElemType::F64 => "f64",
        }
    }

    /// The type with that name, if there is one.
    pub fn from_name(name: &str) -> Option<ElemType> {
        ElemType::ALL.into_iter().find(|t| t.name() == name)
    }

    /// Smallest and largest value of an integer type; `None` for floats.
    pub const fn int_range(self) -> Option<(i128, i128)> {
        Some(match self {
            ElemType::I8 => (i8::MIN as i128, i8::MAX as i128),
            ElemType::U8 => (0, u8::MAX as i128),
            ElemType::I16 => (i16::MIN as i128, i16::MAX as i128),
            ElemType::U16 => (0, u16::MAX as i128),
            ElemType::I32 => (i32::MIN as i128, i32::MAX as i128),
            ElemType::U32 => (0, u32::MAX as i128),
            ElemType::I64 => (i64::MIN as i128, i64::MAX as i128),
            ElemType::U64 => (0, u64::MAX as i128),
            ElemType::F16 | ElemType::F32 | ElemType::F64 => return None,
        })
    }
}

impl fmt::Display for ElemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A scalar or (packed) vector type as OpenCL C has it: `f32`, `u8x4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueType {
    /// Type of each component.
    pub elem: ElemType,
    /// Number of components: 1, 2, 3, 4, 8 or 16.
    pub lanes: u8,
}

impl ValueType {
    /// Size of one value in bytes (components are packed, also for three of them).
    pub const fn size(self) -> usize {
        self.elem.size() * self.lanes as usize
    }

    /// Reads `f32`, `u8x4`.
    ///
    /// # Errors
    /// [`ValueError::UnknownType`] where the text is not a type.
    pub fn parse(text: &str) -> Result<ValueType, ValueError> {
        let (elem, lanes) = match text.split_once('x') {
            Some((elem, lanes)) => (elem, lanes),
            None => (text, "1"),
        };
        let lanes = match lanes {
            "1" if !text.contains('x') => 1,
            "2" => 2,
            "3" => 3,
            "4" => 4,
            "8" => 8,
            "16" => 16,
            _ => return Err(ValueError::UnknownType(text.to_owned())),
        };
        let elem = ElemType::from_name(elem).ok_or_else(|| ValueError::UnknownType(text.to_owned()))?;
        Ok(ValueType { elem, lanes })
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lanes {
            1 => write!(f, "{}", self.elem),
            n => write!(f, "{}x{n}", self.elem),
        }
    }
}

/// What is wrong with a value's text, its file, or its size.
#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    /// The type's name is not one of the notation.
    #[error(
        "unknown type `{0}`: expected one of i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64, optionally with x2, x3, x4, x8 or x16"
    )]
    UnknownType(String),
    /// The text is none of the forms.
    #[error("cannot read the value `{text}`: {expected}")]
    Syntax {
        /// The text as given.
        text: String,
        /// What it should look like.
        expected: &'static str,
    },
    /// A number is not a number, or does not fit its type.
    #[error("`{text}` is not a value of type {ty}: {why}")]
    Number {
        /// The number as given.
        text: String,
        /// The type it should have.
        ty: ElemType,
        /// What is wrong.
        why: String,
    },
    /// More bytes than allowed or available.
    #[error("`{what}` needs {bytes} bytes, more than the {limit} allowed")]
    TooLarge {
        /// The value's text or file.
        what: String,
        /// Bytes needed (saturated).
        bytes: u64,
        /// The limit in force, in bytes.
        limit: u64,
    },
    /// Data were asked of a form that has none (`local:BYTES`) or whose type is unknown (a bare number).
    #[error("`{0}` holds no data of a known type")]
    NoData(String),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("{why}")]
    Write {
        /// What is wrong, with the file's name.
        why: String,
    },
    /// A file's content is damaged or of a kind that is not supported.
    #[error("{}: {why}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// A value as written, before any data exist.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueSpec {
    /// A bare number; its type is that of the kernel's argument. See [`parse_scalar`].
    Number(String),
    /// One literal of a stated type, its components as written.
    Literal {
        /// Type of the literal.
        ty: ValueType,
        /// Its components as little-endian bytes.
        bytes: Vec<u8>,
    },
    /// An array, its elements as written.
    List {
        /// Type of each value.
        ty: ValueType,
        /// Number of values: two or more.
        count: u64,
        /// Their components as little-endian bytes.
        bytes: Vec<u8>,
    },
    /// `zeros`, `fill`, `iota` or `rand`.
    Generated {
        /// Type of each value.
        ty: ValueType,
        /// Number of values.
        count: u64,
        /// How they are made.
        generator: Generator,
    },
    /// A file to read.
    File(PathBuf),
    /// Local memory of so many bytes.
    Local(u64),
}

/// How the elements of a generated value are made.
#[derive(Clone, Debug, PartialEq)]
pub enum Generator {
    /// Every byte zero.
    Zeros,
    /// Every scalar element has these little-endian bytes.
    Fill(Vec<u8>),
    /// 0, 1, 2, …
    Iota,
    /// SplitMix64, see the module's description.
    Rand {
        /// The state that the generator starts from.
        seed: u64,
        /// Low (inclusive) and high (exclusive) end, if given.
        range: Option<RandRange>,
    },
}

/// The range of `rand`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RandRange {
    /// For integer elements.
    Int(i128, i128),
    /// For float elements.
    Float(f64, f64),
}

/// SplitMix64: the pseudo-random generator behind `rand`.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator whose state is `seed`.
    pub const fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = self.0;
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Reads one number of type `ty` into its little-endian bytes.
///
/// Integers are decimal or `0x…`, with an optional sign; a hexadecimal one may also be the bit pattern of a
/// negative value (`0xffffffff` as `i32`). Floats are decimal (`0.1`, `1e-3`), `inf` or `nan`.
///
/// # Errors
/// [`ValueError::Number`] where the text is not a number or does not fit.
pub fn parse_scalar(ty: ElemType, text: &str) -> Result<Vec<u8>, ValueError> {
    let fail = |why: String| ValueError::Number { text: text.to_owned(), ty, why };
    let t = text.trim();
    if ty.is_float() {
        return Ok(match ty {
            ElemType::F32 => t.parse::<f32>().map_err(|e| fail(e.to_string()))?.to_le_bytes().to_vec(),
            ElemType::F16 => {
                let v: f64 = t.parse().map_err(|e: std::num::ParseFloatError| fail(e.to_string()))?;
                f16::from_f64(v).to_le_bytes().to_vec()
            }
            _ => t.parse::<f64>().map_err(|e| fail(e.to_string()))?.to_le_bytes().to_vec(),
        });
    }
    let (negative, digits) = match t.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, t.strip_prefix('+').unwrap_or(t)),
    };
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let magnitude = match hex {
        Some(h) => u128::from_str_radix(h, 16),
        None if digits.starts_with(['+', '-']) => return Err(fail("the number has two signs".to_owned())),
        None => digits.parse::<u128>(),
    }
    .map_err(|e| {
        use std::num::IntErrorKind;
        fail(match e.kind() {
            IntErrorKind::PosOverflow => "out of range".to_owned(),
            IntErrorKind::Empty => "digits are missing".to_owned(),
            _ => "it is not a whole number".to_owned(),
        })
    })?;
    let value = i128::try_from(magnitude).map_err(|_| fail("out of range".to_owned()))?;
    let value = if negative { -value } else { value };
    let (lo, hi) = ty.int_range().unwrap_or((0, 0));
    let bits = ty.size() * 8;
    let is_pattern = hex.is_some() && !negative && value < (1i128 << bits);
    if !(lo..=hi).contains(&value) && !is_pattern {
        return Err(fail(format!("the number must be in the range {lo} to {hi}")));
    }
    Ok(value.to_le_bytes()[..ty.size()].to_vec())
}

fn parse_count(text: &str) -> Result<u64, ValueError> {
    let bad = || ValueError::Syntax {
        text: text.to_owned(),
        expected: "a count is a positive whole number or a product such as 64*32",
    };
    let mut n: u64 = 1;
    for part in text.split('*') {
        n = n.checked_mul(part.trim().parse::<u64>().map_err(|_| bad())?).ok_or_else(bad)?;
    }
    Ok(n)
}

impl ValueSpec {
    /// Reads the notation described on this module.
    ///
    /// # Errors
    /// [`ValueError::Syntax`], [`ValueError::UnknownType`], [`ValueError::Number`].
    pub fn parse(text: &str) -> Result<ValueSpec, ValueError> {
        const FORMS: &str = "expected a number, TYPE:NUMBER, TYPE:NUMBER,NUMBER,…, zeros:TYPE:N, fill:TYPE:N:X, iota:TYPE:N, rand:TYPE:N[:SEED[:LO..HI]], local:BYTES or @FILE";
        let syntax = |expected| ValueError::Syntax { text: text.to_owned(), expected };
        if let Some(path) = text.strip_prefix('@') {
            if path.is_empty() {
                return Err(syntax("a file's name must follow `@`"));
            }
            return Ok(ValueSpec::File(PathBuf::from(path)));
        }
        let fields: Vec<&str> = text.split(':').collect();
        let generated = |generator| -> Result<ValueSpec, ValueError> {
            Ok(ValueSpec::Generated {
                ty: ValueType::parse(fields[1])?,
                count: parse_count(fields[2])?,
                generator,
            })
        };
        match (fields[0], fields.len()) {
            ("", _) => Err(syntax(FORMS)),
            ("local", 2) => Ok(ValueSpec::Local(parse_count(fields[1])?)),
            ("zeros", 3) => generated(Generator::Zeros),
            ("iota", 3) => generated(Generator::Iota),
            ("fill", 4) => {
                let ty = ValueType::parse(fields[1])?;
                generated(Generator::Fill(parse_scalar(ty.elem, fields[3])?))
            }
            ("rand", 3..=5) => {
                let ty = ValueType::parse(fields[1])?;
                let seed = match fields.get(3) {
                    None => 0,
                    Some(s) => s.parse().map_err(|_| syntax("the seed is a whole number"))?,
                };
                let range = fields.get(4).map(|r| parse_range(ty.elem, r)).transpose()?;
                generated(Generator::Rand { seed, range })
            }
            ("local" | "zeros" | "iota" | "fill" | "rand", _) => Err(syntax(FORMS)),
            (_, 1) if fields[0].starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
                Ok(ValueSpec::Number(text.to_owned()))
            }
            ("nan" | "NaN" | "inf", 1) => Ok(ValueSpec::Number(text.to_owned())),
            (_, 1) => Err(syntax(FORMS)),
            (ty, 2) => {
                let ty = ValueType::parse(ty)?;
                let mut bytes = Vec::with_capacity(ty.size());
                let mut n = 0usize;
                for part in fields[1].split(',') {
                    bytes.extend(parse_scalar(ty.elem, part)?);
                    n += 1;
                }
                let lanes = usize::from(ty.lanes);
                match n / lanes {
                    _ if !n.is_multiple_of(lanes) => {
                        Err(syntax("a literal has as many numbers as its type has components, or a multiple"))
                    }
                    1 => Ok(ValueSpec::Literal { ty, bytes }),
                    count => Ok(ValueSpec::List { ty, count: count as u64, bytes }),
                }
            }
            _ => Err(syntax(FORMS)),
        }
    }

    /// Bytes of a generated value, at most `limit`; `None` of all others.
    ///
    /// # Errors
    /// [`ValueError::TooLarge`].
    pub fn generated_bytes(&self, limit: u64) -> Result<Option<u64>, ValueError> {
        let ValueSpec::Generated { ty, count, .. } = self else { return Ok(None) };
        let bytes = count.checked_mul(ty.size() as u64).unwrap_or(u64::MAX);
        if bytes > limit {
            return Err(ValueError::TooLarge { what: format!("{ty}:{count}"), bytes, limit });
        }
        Ok(Some(bytes))
    }

    /// Writes a generated value over zeros, of [`ValueSpec::generated_bytes`] bytes, without a copy of the whole.
    pub fn generate(&self, out: &mut [u8]) {
        let ValueSpec::Generated { ty, generator, .. } = self else { return };
        if *generator == Generator::Zeros {
            return;
        }
        let mut elements = Elements::new(ty.elem, generator);
        let mut part = Vec::new();
        for out in out.chunks_mut(PART * ty.elem.size()) {
            part.clear();
            elements.append_scalars(&mut part, (out.len() / ty.elem.size()) as u64);
            out.copy_from_slice(&part);
        }
    }

    /// Makes the data, reading a file where the value names one; at most `limit` bytes.
    ///
    /// # Errors
    /// [`ValueError::TooLarge`]; [`ValueError::NoData`] for `local:` and bare numbers; the errors of files.
    pub fn materialize(&self, limit: u64) -> Result<HostValue, ValueError> {
        match self {
            ValueSpec::Number(text) => Err(ValueError::NoData(text.clone())),
            ValueSpec::Local(bytes) => Err(ValueError::NoData(format!("local:{bytes}"))),
            ValueSpec::File(path) => HostValue::read(path, limit),
            ValueSpec::Literal { ty, bytes } => {
                Ok(HostValue { elem: ty.elem, shape: shape_of(*ty, 1), bytes: bytes.clone() })
            }
            ValueSpec::List { ty, count, bytes } => {
                Ok(HostValue { elem: ty.elem, shape: shape_of(*ty, *count), bytes: bytes.clone() })
            }
            ValueSpec::Generated { ty, count, generator } => {
                let bytes = count.checked_mul(ty.size() as u64).unwrap_or(u64::MAX);
                let mut out = allocate_within_limit(&format!("{ty}:{count}"), bytes, limit)?;
                // `allocate` bounded the product, so it fits.
                let scalars = *count * u64::from(ty.lanes);
                Elements::new(ty.elem, generator).append_scalars(&mut out, scalars);
                Ok(HostValue { elem: ty.elem, shape: shape_of(*ty, *count), bytes: out })
            }
        }
    }
}

pub(crate) fn shape_of(ty: ValueType, count: u64) -> Vec<u64> {
    if ty.lanes == 1 { vec![count] } else { vec![count, u64::from(ty.lanes)] }
}

fn parse_range(elem: ElemType, text: &str) -> Result<RandRange, ValueError> {
    let bad = |expected| ValueError::Syntax { text: text.to_owned(), expected };
    let (lo, hi) = text.split_once("..").ok_or_else(|| bad("a range is LO..HI"))?;
    match elem.int_range() {
        Some((min, max)) => {
            let num =
                |s: &str| s.parse::<i128>().map_err(|_| bad("the range of integers needs whole numbers"));
            let (lo, hi) = (num(lo)?, num(hi)?);
            if lo < min || hi > max + 1 || lo >= hi {
                return Err(bad("the range is empty or does not fit the type"));
            }
            Ok(RandRange::Int(lo, hi))
        }
        None => {
            let num = |s: &str| s.parse::<f64>().map_err(|_| bad("the range of floats needs numbers"));
            let (lo, hi) = (num(lo)?, num(hi)?);
            if !(lo.is_finite() && hi.is_finite() && lo < hi) {
                return Err(bad("the range is empty or not finite"));
            }
            Ok(RandRange::Float(lo, hi))
        }
    }
}

fn allocate_within_limit(what: &str, bytes: u64, limit: u64) -> Result<Vec<u8>, ValueError> {
    let too_large = || ValueError::TooLarge { what: what.to_owned(), bytes, limit };
    if bytes > limit {
        return Err(too_large());
    }
    let n = usize::try_from(bytes).map_err(|_| too_large())?;
    let mut out = Vec::new();
    out.try_reserve_exact(n).map_err(|_| too_large())?;
    Ok(out)
}

/// Scalars made at a time.
const PART: usize = 1 << 14;

/// Makes the elements of a generated value, some at a time.
struct Elements<'a> {
    elem: ElemType,
    generator: &'a Generator,
    /// Number of the next scalar.
    next: u64,
    rng: SplitMix64,
}

impl<'a> Elements<'a> {
    fn new(elem: ElemType, generator: &'a Generator) -> Elements<'a> {
        let seed = match generator {
            Generator::Rand { seed, .. } => *seed,
            _ => 0,
        };
        Elements { elem, generator, next: 0, rng: SplitMix64::new(seed) }
    }

    /// Appends the next so many scalars.
    fn append_scalars(&mut self, out: &mut Vec<u8>, scalars: u64) {
        let (elem, size) = (self.elem, self.elem.size());
        let first = self.next;
        self.next += scalars;
        match self.generator {
            Generator::Zeros => out.resize(out.len() + scalars as usize * size, 0),
            Generator::Fill(pattern) => {
                for _ in 0..scalars {
                    out.extend_from_slice(pattern);
                }
            }
            Generator::Iota => {
                for i in first..first + scalars {
                    match elem {
                        ElemType::F16 => out.extend(f16::from_f64(i as f64).to_le_bytes()),
                        ElemType::F32 => out.extend((i as f32).to_le_bytes()),
                        ElemType::F64 => out.extend((i as f64).to_le_bytes()),
                        _ => out.extend_from_slice(&i.to_le_bytes()[..size]),
                    }
                }
            }
            Generator::Rand { range, .. } => {
                for _ in 0..scalars {
                    let r = self.rng.next_u64();
                    if elem.is_float() {
                        let (lo, hi) = match range {
                            Some(RandRange::Float(lo, hi)) => (*lo, *hi),
                            _ => (-1.0, 1.0),
                        };
                        match elem {
                            ElemType::F16 => {
                                let u = (r >> 53) as f64 / 2048.0;
                                out.extend(f16::from_f64(lo + (hi - lo) * u).to_le_bytes());
                            }
                            ElemType::F32 => {
                                let u = (r >> 40) as f64 / 16_777_216.0;
                                out.extend(((lo + (hi - lo) * u) as f32).to_le_bytes());
                            }
                            _ => {
                                let u = (r >> 11) as f64 / 9_007_199_254_740_992.0;
                                out.extend((lo + (hi - lo) * u).to_le_bytes());
                            }
                        }
                    } else {
                        match range {
                            Some(RandRange::Int(lo, hi)) => {
                                // r * span < 2^64 * 2^64, so the product fits 128 bits.
                                let span = (hi - lo) as u128;
                                let v = lo + ((u128::from(r) * span) >> 64) as i128;
                                out.extend_from_slice(&v.to_le_bytes()[..size]);
                            }
                            _ => out.extend_from_slice(&r.to_le_bytes()[..size]),
                        }
                    }
                }
            }
        }
    }
}

/// An array on the host: element type, shape (slowest dimension first, as NumPy has it), little-endian bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostValue {
    /// Type of each scalar element.
    pub elem: ElemType,
    /// Extent of each dimension; a vector type adds a last one.
    pub shape: Vec<u64>,
    /// The elements, little-endian, last dimension fastest.
    pub bytes: Vec<u8>,
}

impl HostValue {
    /// Raw bytes as a one-dimensional array of `u8`.
    pub fn from_raw(bytes: Vec<u8>) -> HostValue {
        HostValue { elem: ElemType::U8, shape: vec![bytes.len() as u64], bytes }
    }

    /// Number of scalar elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.elem.size()
    }

    /// True where there is no element.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Element `index` as a double (64-bit integers are rounded); `None` past the end.
    pub fn get_f64(&self, index: usize) -> Option<f64> {
        let b = self.element(index)?;
        Some(match self.elem {
            ElemType::F16 => f16::from_le_bytes(b.try_into().ok()?).to_f64(),
            ElemType::F32 => f64::from(f32::from_le_bytes(b.try_into().ok()?)),
            ElemType::F64 => f64::from_le_bytes(b.try_into().ok()?),
            _ => self.get_int(index)? as f64,
        })
    }

    /// Element `index` of an integer array; `None` past the end and for floats.
    pub fn get_int(&self, index: usize) -> Option<i128> {
        if self.elem.is_float() {
            return None;
        }
        let b = self.element(index)?;
        let negative = self.elem.is_signed() && b.last()? & 0x80 != 0;
        let mut wide = [if negative { 0xff } else { 0 }; 16];
        wide[..b.len()].copy_from_slice(b);
        Some(i128::from_le_bytes(wide))
    }

    /// The bytes of element `index`; `None` past the end.
    pub fn element(&self, index: usize) -> Option<&[u8]> {
        let size = self.elem.size();
        let start = index.checked_mul(size)?;
        self.bytes.get(start..start.checked_add(size)?)
    }

    /// Element `index` as text: integers in decimal, floats with the fewest digits that read back the same.
    pub fn display(&self, index: usize) -> Option<String> {
        Some(match self.elem {
            ElemType::F16 => f16::from_le_bytes(self.element(index)?.try_into().ok()?).to_string(),
            ElemType::F32 => f32::from_le_bytes(self.element(index)?.try_into().ok()?).to_string(),
            ElemType::F64 => f64::from_le_bytes(self.element(index)?.try_into().ok()?).to_string(),
            _ => self.get_int(index)?.to_string(),
        })
    }
}
