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

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use half::f16;
use npyz::WriterBuilder as _;

use crate::files::{self, Staged};

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
    /// [`ValueError::UnknownType`] where the text is no type.
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
    /// A number is no number, or does not fit its type.
    #[error("`{text}` is no {ty}: {why}")]
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
/// [`ValueError::Number`] where the text is no number or does not fit.
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
        None if digits.starts_with(['+', '-']) => return Err(fail("two signs".to_owned())),
        None => digits.parse::<u128>(),
    }
    .map_err(|e| {
        use std::num::IntErrorKind;
        fail(match e.kind() {
            IntErrorKind::PosOverflow => "out of range".to_owned(),
            IntErrorKind::Empty => "digits are missing".to_owned(),
            _ => "it is no whole number".to_owned(),
        })
    })?;
    let value = i128::try_from(magnitude).map_err(|_| fail("out of range".to_owned()))?;
    let value = if negative { -value } else { value };
    let (lo, hi) = ty.int_range().unwrap_or((0, 0));
    let bits = ty.size() * 8;
    let is_pattern = hex.is_some() && !negative && value < (1i128 << bits);
    if !(lo..=hi).contains(&value) && !is_pattern {
        return Err(fail(format!("the range is {lo} to {hi}")));
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
            elements.append(&mut part, (out.len() / ty.elem.size()) as u64);
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
                let mut out = allocate(&format!("{ty}:{count}"), bytes, limit)?;
                // `allocate` bounded the product, so it fits.
                let scalars = *count * u64::from(ty.lanes);
                Elements::new(ty.elem, generator).append(&mut out, scalars);
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

fn allocate(what: &str, bytes: u64, limit: u64) -> Result<Vec<u8>, ValueError> {
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
    fn append(&mut self, out: &mut Vec<u8>, scalars: u64) {
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

    /// Reads a file of at most `limit` bytes of data: `.npy`, `.png` (palettes expanded; shape height, width,
    /// channels), anything else as raw bytes.
    ///
    /// # Errors
    /// [`ValueError::Io`], [`ValueError::Format`], [`ValueError::TooLarge`].
    pub fn read(path: &Path, limit: u64) -> Result<HostValue, ValueError> {
        let io = |source| ValueError::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(io)?;
        // What has no size of its own may have no end either.
        let limit = if file.metadata().map_err(io)?.is_file() { limit } else { limit.min(files::MAX_STREAM) };
        foreign(path, &FOREIGN)?;
        match FileKind::of(path) {
            FileKind::Npy => read_npy(path, file, limit),
            FileKind::Png => read_png(path, file, limit),
            FileKind::Raw => {
                let bytes = file.metadata().map_err(io)?.len();
                let mut out = allocate(&path.display().to_string(), bytes, limit)?;
                // `take` also bounds a file that grows.
                file.take(limit.saturating_add(1)).read_to_end(&mut out).map_err(io)?;
                if out.len() as u64 > limit {
                    return Err(ValueError::TooLarge {
                        what: path.display().to_string(),
                        bytes: out.len() as u64,
                        limit,
                    });
                }
                Ok(HostValue::from_raw(out))
            }
        }
    }

    /// Reads the bytes of a `.npy` file with at most `limit` bytes of data.
    ///
    /// # Errors
    /// As [`HostValue::read`].
    pub fn from_npy(bytes: &[u8], limit: u64) -> Result<HostValue, ValueError> {
        read_npy(Path::new(""), bytes, limit)
    }

    /// Writes the file whole or not at all: `.npy`; `.png` (`u8` or `u16`, shape height, width[, 1 to 4
    /// channels]); anything else as raw bytes.
    ///
    /// # Errors
    /// [`ValueError::Write`]; [`ValueError::Format`] where a picture cannot hold type or shape.
    pub fn write(&self, path: &Path) -> Result<(), ValueError> {
        let published = self.stage(path)?.publish();
        published.map_err(|why| ValueError::Write { why })
    }

    /// As [`HostValue::write`], but the file is not visible yet.
    ///
    /// # Errors
    /// As [`HostValue::write`].
    pub fn stage(&self, path: &Path) -> Result<Staged, ValueError> {
        let picture = match FileKind::of(path) {
            FileKind::Png => Some(self.png(path)?),
            _ => None,
        };
        let staged = files::stage(path, |mut w| match (FileKind::of(path), &picture) {
            (FileKind::Npy, _) => self.write_npy(&mut w),
            (_, Some(picture)) => w.write_all(picture),
            _ => w.write_all(&self.bytes),
        });
        staged.map_err(|why| ValueError::Write { why })
    }

    fn write_npy(&self, w: &mut impl Write) -> std::io::Result<()> {
        let code = match self.elem {
            ElemType::I8 => "|i1",
            ElemType::U8 => "|u1",
            ElemType::I16 => "<i2",
            ElemType::U16 => "<u2",
            ElemType::I32 => "<i4",
            ElemType::U32 => "<u4",
            ElemType::I64 => "<i8",
            ElemType::U64 => "<u8",
            ElemType::F16 => "<f2",
            ElemType::F32 => "<f4",
            ElemType::F64 => "<f8",
        };
        let ty = code.parse().map_err(std::io::Error::other)?;
        npyz::WriteOptions::new_header_only()
            .dtype(npyz::DType::Plain(ty))
            .shape(&self.shape)
            .writer(&mut *w)
            .write_header_only()?;
        w.write_all(&self.bytes)
    }

    /// The content of a picture.
    fn png(&self, path: &Path) -> Result<Vec<u8>, ValueError> {
        let (color, depth, [width, height]) = png_form(path, self.elem, &self.shape)?;
        let bad = |why: String| ValueError::Format { path: path.to_owned(), why };
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, width, height);
        encoder.set_color(color);
        encoder.set_depth(depth);
        let mut writer = encoder.write_header().map_err(|e| bad(e.to_string()))?;
        let swapped;
        let data = if self.elem == ElemType::U16 {
            swapped = self.bytes.chunks_exact(2).flat_map(|b| [b[1], b[0]]).collect::<Vec<u8>>();
            &swapped
        } else {
            &self.bytes
        };
        writer.write_image_data(data).map_err(|e| bad(e.to_string()))?;
        writer.finish().map_err(|e| bad(e.to_string()))?;
        Ok(out)
    }
}

/// How a picture holds such an array: colours, depth, width and height.
fn png_form(
    path: &Path,
    elem: ElemType,
    shape: &[u64],
) -> Result<(png::ColorType, png::BitDepth, [u32; 2]), ValueError> {
    let bad = |why: String| ValueError::Format { path: path.to_owned(), why };
    let depth = match elem {
        ElemType::U8 => png::BitDepth::Eight,
        ElemType::U16 => png::BitDepth::Sixteen,
        other => return Err(bad(format!("a PNG holds u8 or u16, not {other}"))),
    };
    let (h, wd, channels) = match shape[..] {
        [h, w] => (h, w, 1),
        [h, w, c] => (h, w, c),
        _ => {
            return Err(bad(format!("a PNG needs height, width and channels, not the shape {:?}", shape)));
        }
    };
    let color = match channels {
        1 => png::ColorType::Grayscale,
        2 => png::ColorType::GrayscaleAlpha,
        3 => png::ColorType::Rgb,
        4 => png::ColorType::Rgba,
        n => return Err(bad(format!("a PNG has 1 to 4 channels, not {n}"))),
    };
    let side = |n: u64| u32::try_from(n).map_err(|_| bad(format!("a PNG cannot be {n} pixels wide or high")));
    Ok((color, depth, [side(wd)?, side(h)?]))
}

/// Whether a file of this name could be written, before there is anything to write: its folder, and for
/// pictures type and shape.
///
/// # Errors
/// As [`HostValue::write`].
pub fn check_file(path: &Path, elem: ElemType, shape: &[u64]) -> Result<(), ValueError> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() && !files::is_standard(path) {
        let why = format!("{}: there is no folder {}", path.display(), folder.display());
        return Err(ValueError::Write { why });
    }
    if path.is_dir() {
        return Err(ValueError::Write { why: format!("{}: is a folder", path.display()) });
    }
    foreign(path, &[&FOREIGN[..], &TEXTS[..]].concat())?;
    if let FileKind::Png = FileKind::of(path) {
        png_form(path, elem, shape)?;
    }
    Ok(())
}

/// How a file of a name is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// An array with its type and shape.
    Npy,
    /// A picture.
    Png,
    /// Bytes, whose meaning is the reader's.
    Raw,
}

impl FileKind {
    /// By the file's name.
    pub fn of(path: &Path) -> FileKind {
        match path.extension().and_then(|e| e.to_str()) {
            Some(e) if e.eq_ignore_ascii_case("npy") => FileKind::Npy,
            Some(e) if e.eq_ignore_ascii_case("png") => FileKind::Png,
            _ => FileKind::Raw,
        }
    }
}

/// Pictures and archives of other formats: their bytes are no values.
const FOREIGN: [&str; 19] = [
    "npz", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "webp", "ppm", "pgm", "pnm", "exr", "hdr", "zip",
    "gz", "h5", "hdf5", "mat", "parquet",
];
/// Texts: raw bytes may come from them, but are none.
const TEXTS: [&str; 5] = ["csv", "tsv", "txt", "json", "toml"];

/// Refuses a name that promises another format than raw bytes, which would be read or written.
fn foreign(path: &Path, names: &[&str]) -> Result<(), ValueError> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    if !names.contains(&extension.as_str()) {
        return Ok(());
    }
    let why = match extension.as_str() {
        "npz" => "an .npz is an archive of arrays: take the .npy out of it".to_owned(),
        _ => {
            format!(".{extension} is not supported: .npy, .png, or raw bytes (.bin, .raw, or no suffix) are")
        }
    };
    Err(ValueError::Format { path: path.to_owned(), why })
}

/// The largest `.npy` header read: far more than any array of plain numbers needs.
const NPY_HEADER_LIMIT: u64 = 64 * 1024;

fn read_npy(path: &Path, file: impl Read, limit: u64) -> Result<HostValue, ValueError> {
    let bad = |why: String| ValueError::Format { path: path.to_owned(), why };
    let io = |source| ValueError::Io { path: path.to_owned(), source };
    let mut reader = BufReader::new(file);
    // The header's text states its own length and the shape's product is not checked by the reader: the
    // text is bounded and looked at first.
    let mut head = Vec::new();
    let fixed = read_head(&mut reader, &mut head).map_err(|e| bad(format!("no .npy header: {e}")))?;
    check_shape(&head[fixed..]).map_err(|why| bad(why.to_owned()))?;
    let header = npyz::NpyHeader::from_reader(&head[..]).map_err(|e| bad(e.to_string()))?;
    let npyz::DType::Plain(ty) = header.dtype() else {
        return Err(bad("records are not supported, only arrays of numbers".to_owned()));
    };
    let elem = match (ty.type_char(), ty.size_field()) {
        (npyz::TypeChar::Int, 1) => ElemType::I8,
        (npyz::TypeChar::Uint | npyz::TypeChar::Bool, 1) => ElemType::U8,
        (npyz::TypeChar::Int, 2) => ElemType::I16,
        (npyz::TypeChar::Uint, 2) => ElemType::U16,
        (npyz::TypeChar::Int, 4) => ElemType::I32,
        (npyz::TypeChar::Uint, 4) => ElemType::U32,
        (npyz::TypeChar::Int, 8) => ElemType::I64,
        (npyz::TypeChar::Uint, 8) => ElemType::U64,
        (npyz::TypeChar::Float, 2) => ElemType::F16,
        (npyz::TypeChar::Float, 4) => ElemType::F32,
        (npyz::TypeChar::Float, 8) => ElemType::F64,
        _ => return Err(bad(format!("elements of type `{ty}` are not supported"))),
    };
    let shape = header.shape().to_vec();
    if header.order() == npyz::Order::Fortran && shape.len() > 1 {
        return Err(bad("the array is in Fortran order; save it with numpy.ascontiguousarray".to_owned()));
    }
    let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d)).unwrap_or(u64::MAX);
    let bytes = count.saturating_mul(elem.size() as u64);
    if bytes > limit {
        return Err(ValueError::TooLarge { what: path.display().to_string(), bytes, limit });
    }
    // Not reserved ahead: a short file must not make us allocate what its header claims.
    let mut out = Vec::new();
    reader.take(bytes).read_to_end(&mut out).map_err(io)?;
    if out.len() as u64 != bytes {
        return Err(bad(format!("the header promises {bytes} bytes of data, the file holds {}", out.len())));
    }
    if ty.endianness() == npyz::Endianness::Big {
        for element in out.chunks_exact_mut(elem.size()) {
            element.reverse();
        }
    }
    Ok(HostValue { elem, shape, bytes: out })
}

/// Reads magic, version, length and text; returns where the text starts.
fn read_head(reader: &mut impl Read, head: &mut Vec<u8>) -> std::io::Result<usize> {
    let mut fixed = [0u8; 12];
    reader.read_exact(&mut fixed[..10])?;
    if &fixed[..6] != b"\x93NUMPY" {
        return Err(std::io::Error::other("the magic string is missing"));
    }
    let (start, len) = if fixed[6] == 1 {
        (10, u64::from(u16::from_le_bytes([fixed[8], fixed[9]])))
    } else {
        reader.read_exact(&mut fixed[10..])?;
        (12, u64::from(u32::from_le_bytes([fixed[8], fixed[9], fixed[10], fixed[11]])))
    };
    if len > NPY_HEADER_LIMIT {
        return Err(std::io::Error::other(format!("it claims {len} bytes")));
    }
    head.extend_from_slice(&fixed[..start]);
    reader.take(len).read_to_end(head)?;
    if head.len() as u64 != start as u64 + len {
        return Err(std::io::Error::other("it is truncated"));
    }
    Ok(start)
}

/// Rejects headers whose shape would overflow, or that nest deeper than any array's does.
fn check_shape(text: &[u8]) -> Result<(), &'static str> {
    let text = std::str::from_utf8(text).map_err(|_| "the header is not text")?;
    if text.bytes().filter(|b| b"([{".contains(b)).count() > 16 {
        return Err("the header nests too deeply");
    }
    let shape = text.split("'shape'").nth(1).or_else(|| text.split("\"shape\"").nth(1));
    let inner = shape.and_then(|s| s.split_once('(')).and_then(|(_, s)| s.split_once(')'));
    let (inner, _) = inner.ok_or("the header has no shape")?;
    let mut product = 1u64;
    for dim in inner.split(',').map(str::trim).filter(|d| !d.is_empty()) {
        let dim: u64 = dim.parse().map_err(|_| "the shape is not made of whole numbers")?;
        // Zero extents must not hide an overflow in the strides.
        product = product.checked_mul(dim.max(1)).ok_or("the shape overflows")?;
    }
    Ok(())
}

fn read_png(path: &Path, file: File, limit: u64) -> Result<HostValue, ValueError> {
    let bad = |why: String| ValueError::Format { path: path.to_owned(), why };
    let cap = usize::try_from(limit).unwrap_or(usize::MAX);
    let size = file.metadata().map_err(|source| ValueError::Io { path: path.to_owned(), source })?;
    let mut decoder = png::Decoder::new_with_limits(BufReader::new(file), png::Limits { bytes: cap });
    decoder.set_transformations(png::Transformations::EXPAND);
    // Neither is used, and both can be packed to grow a thousandfold.
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let mut reader = decoder.read_info().map_err(|e| bad(e.to_string()))?;
    // Deflate packs at most 1032 bytes into one: a picture that claims more is refused before it is given room.
    let info = reader.info();
    let row = (info.width as u64).saturating_mul(info.bits_per_pixel() as u64).div_ceil(8);
    let packed = row.saturating_add(1).saturating_mul(info.height as u64) / 1032;
    if size.is_file() && packed > size.len() {
        let why = format!("{} x {} pixels do not fit into {} bytes", info.width, info.height, size.len());
        return Err(bad(why));
    }
    let bytes = reader.output_buffer_size().map_or(u64::MAX, |n| n as u64);
    let mut out = allocate(&path.display().to_string(), bytes, limit)?;
    out.resize(bytes as usize, 0);
    let info = reader.next_frame(&mut out).map_err(|e| bad(e.to_string()))?;
    out.truncate(info.buffer_size());
    let elem = match info.bit_depth {
        png::BitDepth::Eight => ElemType::U8,
        png::BitDepth::Sixteen => {
            for pair in out.chunks_exact_mut(2) {
                pair.swap(0, 1);
            }
            ElemType::U16
        }
        other => return Err(bad(format!("a bit depth of {} is not supported", other as u8))),
    };
    let channels = info.color_type.samples() as u64;
    Ok(HostValue { elem, shape: vec![u64::from(info.height), u64::from(info.width), channels], bytes: out })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 1 << 20;

    fn make(text: &str) -> HostValue {
        ValueSpec::parse(text).unwrap().materialize(LIMIT).unwrap()
    }

    #[test]
    fn splitmix64_gives_the_published_sequence() {
        // First outputs for state 1234567, as published with the algorithm's reference code.
        let mut rng = SplitMix64::new(1_234_567);
        assert_eq!(rng.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(rng.next_u64(), 3_203_168_211_198_807_973);
        assert_eq!(rng.next_u64(), 9_817_491_932_198_370_423);
    }

    #[test]
    fn values_made_in_place_are_the_same() {
        let n = 2 * PART + 5;
        for form in ["zeros:f32:", "fill:u16x3:7:", "iota:u8:", "iota:f16x4:", "rand:f64:", "rand:i32:"] {
            let text = match form.strip_suffix("7:") {
                Some(fill) => format!("{fill}{n}:7"),
                None => format!("{form}{n}"),
            };
            let spec = ValueSpec::parse(&text).unwrap();
            let bytes = spec.generated_bytes(LIMIT).unwrap().unwrap();
            let mut out = vec![0; bytes as usize];
            spec.generate(&mut out);
            assert!(out == spec.materialize(LIMIT).unwrap().bytes, "{text}");
            assert!(spec.generated_bytes(bytes - 1).is_err(), "{text}");
        }
        assert!(matches!(ValueSpec::parse("local:4").unwrap().generated_bytes(LIMIT), Ok(None)));
    }

    #[test]
    fn generated_values_have_type_shape_and_content() {
        let v = make("iota:i16:2*3");
        assert_eq!((v.elem, &v.shape[..]), (ElemType::I16, &[6][..]));
        assert_eq!((0..6).map(|i| v.get_int(i).unwrap()).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(make("iota:u8:300").get_int(299), Some(43));
        assert_eq!(make("iota:f16:5").display(4).unwrap(), "4");
        let v = make("fill:f32x4:2:1.5");
        assert_eq!(&v.shape[..], [2, 4]);
        assert!((0..8).all(|i| v.get_f64(i) == Some(1.5)));
        assert!(make("zeros:u64:3").bytes.iter().all(|b| *b == 0));
        assert_eq!(make("i32x2:-1,0xffffffff").bytes, [0xff; 8]);
    }

    #[test]
    fn random_values_respect_range_and_seed() {
        for ty in ElemType::ALL {
            let v = make(&format!("rand:{ty}:500:9:10..20"));
            assert!((0..500).all(|i| (10.0..=20.0).contains(&v.get_f64(i).unwrap())), "{ty}");
            assert_ne!(v, make(&format!("rand:{ty}:500:8:10..20")), "{ty}");
        }
        let v = make("rand:f32:1000");
        assert!((0..1000).all(|i| (-1.0..1.0).contains(&v.get_f64(i).unwrap())));
        assert_eq!(v, make("rand:f32:1000:0"));
        let full = make("rand:i64:4:3:-9223372036854775808..9223372036854775808");
        assert_eq!(full.len(), 4);
    }

    #[test]
    fn numbers_must_fit() {
        assert!(parse_scalar(ElemType::U8, "256").is_err());
        assert!(parse_scalar(ElemType::U8, "-1").is_err());
        assert!(parse_scalar(ElemType::I8, "0x100").is_err());
        assert_eq!(parse_scalar(ElemType::I8, "0xff").unwrap(), [0xff]);
        assert_eq!(parse_scalar(ElemType::I64, "-9223372036854775808").unwrap(), i64::MIN.to_le_bytes());
        assert!(parse_scalar(ElemType::I32, "--5").is_err());
        assert!(parse_scalar(ElemType::I32, "1.5").is_err());
        assert_eq!(parse_scalar(ElemType::F32, "0.1").unwrap(), 0.1f32.to_le_bytes());
    }

    #[test]
    fn bad_texts_are_errors() {
        for text in [
            "",
            ":",
            "zeros",
            "zeros:f32",
            "zeros:f33:4",
            "zeros:f32x5:4",
            "zeros:f32:-1",
            "zeros:f32:1:2",
            "rand:i32:4:x",
            "rand:i32:4:1:5",
            "rand:i32:4:1:5..5",
            "rand:u8:4:1:0..257",
            "rand:f32:4:1:0..inf",
            "rand:i32:4:1:0..1:9",
            "iota:f32:99999999999999999999",
            "i32x2:1,2,3",
            "f32x2:1",
            "@",
            "hello",
            "local:",
            "local:x",
            "fill:u8:4:300",
            "f32xx4:1",
            "zeros:u8:18446744073709551615*2",
        ] {
            assert!(ValueSpec::parse(text).is_err(), "{text}");
        }
        assert_eq!(ValueSpec::parse("-5").unwrap(), ValueSpec::Number("-5".into()));
        assert_eq!(ValueSpec::parse("local:4*64").unwrap(), ValueSpec::Local(256));
    }

    #[test]
    fn sizes_are_bounded() {
        for text in ["zeros:f64:18446744073709551615", "zeros:u8:1048577", "rand:f64x16:8193"] {
            let e = ValueSpec::parse(text).unwrap().materialize(LIMIT).unwrap_err();
            assert!(matches!(e, ValueError::TooLarge { .. }), "{e}");
        }
    }

    #[test]
    fn files_read_back_as_written() {
        let dir = tempfile::tempdir().unwrap();
        for ty in ElemType::ALL {
            let mut v = make(&format!("rand:{ty}:24:5"));
            v.shape = vec![2, 3, 4];
            let path = dir.path().join("a.npy");
            v.write(&path).unwrap();
            assert_eq!(HostValue::read(&path, LIMIT).unwrap(), v);
            if matches!(ty, ElemType::U8 | ElemType::U16) {
                let path = dir.path().join("a.png");
                v.write(&path).unwrap();
                assert_eq!(HostValue::read(&path, LIMIT).unwrap(), v);
            }
        }
        let v = make("rand:u8:7:1");
        let path = dir.path().join("a.bin");
        v.write(&path).unwrap();
        assert_eq!(HostValue::read(&path, LIMIT).unwrap(), v);
        assert!(matches!(HostValue::read(&path, 6), Err(ValueError::TooLarge { .. })));
        // Nothing is left behind when a picture cannot be written.
        let path = dir.path().join("bad.png");
        assert!(make("iota:f32:4").write(&path).is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3);
    }

    #[test]
    fn damaged_npy_files_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npy");
        make("iota:i32:16").write(&path).unwrap();
        let good = std::fs::read(&path).unwrap();
        for cut in 0..good.len() {
            std::fs::write(&path, &good[..cut]).unwrap();
            assert!(HostValue::read(&path, LIMIT).is_err(), "cut at {cut}");
        }
        for i in 0..good.len().min(128) {
            for bit in 0..8 {
                let mut bytes = good.clone();
                bytes[i] ^= 1 << bit;
                std::fs::write(&path, &bytes).unwrap();
                // Any outcome but a panic or a large allocation is fine.
                let _ = HostValue::read(&path, LIMIT);
            }
        }
        let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0), }\n";
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        std::fs::write(&path, &bytes).unwrap();
        assert!(HostValue::read(&path, LIMIT).unwrap_err().to_string().contains("overflows"));
    }
}
