//! Values as cases write them, and how results are compared with them.

use envisa::isa::Type;
use half::{bf16, f16};

/// An expected or given element.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// These bits.
    Bits(u64),
    /// Any NaN.
    Nan,
    /// Anything: the page leaves it undefined, or it does not matter.
    Any,
    /// The address of a buffer and this many bytes.
    Address(String, u64),
}

/// Most elements a line may stand for.
const MOST: usize = 1 << 20;

/// Type of this name; those that variables can have, and `bf`.
pub fn type_of(name: &str) -> Option<Type> {
    use Type::*;
    [
        ("b", B),
        ("ub", Ub),
        ("w", W),
        ("uw", Uw),
        ("d", D),
        ("ud", Ud),
        ("q", Q),
        ("uq", Uq),
        ("hf", Hf),
        ("bf", Bf),
        ("f", F),
        ("df", Df),
    ]
    .into_iter()
    .find(|(n, _)| *n == name)
    .map(|(_, ty)| ty)
}

fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |d| (true, d));
    let n = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0b")) {
        Some(d) => {
            i128::from_str_radix(&d.replace('_', ""), if digits.starts_with("0x") { 16 } else { 2 }).ok()?
        }
        None => digits.parse().ok()?,
    };
    Some(if negative { -n } else { n })
}

/// An element: integers in decimal, hexadecimal or binary, floats in decimal (`1.5`, `-0.0`, `inf`, `nan`) or as
/// their bits in hexadecimal.
fn element(ty: Type, text: &str) -> Result<Value, String> {
    if text == "_" {
        return Ok(Value::Any);
    }
    if let Some(name) = text.strip_prefix('&') {
        let (name, offset) = name.split_once('+').unwrap_or((name, "0"));
        let offset = integer(offset).and_then(|n| u64::try_from(n).ok()).ok_or("an offset is a number")?;
        return Ok(Value::Address(name.to_owned(), offset));
    }
    let bits = 8 * ty.size();
    if ty.is_float() && !text.starts_with("0x") {
        if text == "nan" {
            return Ok(Value::Nan);
        }
        let x: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
        return Ok(Value::Bits(match ty {
            Type::Hf => f16::from_f64(x).to_bits().into(),
            Type::Bf => bf16::from_f64(x).to_bits().into(),
            // Once, from the decimal digits.
            Type::F => text.parse::<f32>().map_err(|e| e.to_string())?.to_bits().into(),
            _ => x.to_bits(),
        }));
    }
    let n = integer(text).ok_or_else(|| format!("`{text}` is not a number of type {ty:?}"))?;
    let (least, most) = (-(1i128 << (bits - 1)), (1i128 << bits) - 1);
    if !(least..=most).contains(&n) {
        return Err(format!("`{text}` has more than {bits} bits"));
    }
    Ok(Value::Bits(n as u64 & (u64::MAX >> (64 - bits))))
}

/// A list of elements, separated by blanks or commas; `x*n` stands for `n` times `x`, `a..b` for the integers
/// from `a` to `b`, both included.
pub fn list(ty: Type, text: &str) -> Result<Vec<Value>, String> {
    let mut out = Vec::new();
    for word in text.split([' ', '\t', ',']).filter(|w| !w.is_empty()) {
        if let Some((x, n)) = word.split_once('*') {
            let n: usize = n.parse().map_err(|_| format!("`{word}`: how many times?"))?;
            if n > MOST {
                return Err(format!("`{word}`: too many"));
            }
            out.extend(std::iter::repeat_n(element(ty, x)?, n));
        } else if let Some((a, b)) = word.split_once("..") {
            let (a, b) =
                integer(a).zip(integer(b)).ok_or_else(|| format!("`{word}`: a range of integers"))?;
            if a > b || b - a > MOST as i128 {
                return Err(format!("`{word}`: a range goes up"));
            }
            for n in a..=b {
                let n = if ty.is_float() { format!("{n}.0") } else { n.to_string() };
                out.push(element(ty, &n)?);
            }
        } else {
            out.push(element(ty, word)?);
        }
        if out.len() > MOST {
            return Err("too many values".into());
        }
    }
    Ok(out)
}

/// An element's bits.
pub fn read(ty: Type, bytes: &[u8]) -> u64 {
    let mut b = [0; 8];
    b[..ty.size() as usize].copy_from_slice(&bytes[..ty.size() as usize]);
    u64::from_le_bytes(b)
}

fn is_nan(ty: Type, bits: u64) -> bool {
    match ty {
        Type::Hf => f16::from_bits(bits as u16).is_nan(),
        Type::Bf => bf16::from_bits(bits as u16).is_nan(),
        Type::F => f32::from_bits(bits as u32).is_nan(),
        Type::Df => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

/// Bits as a number whose neighbours are its neighbours among the type's values.
fn ordinal(ty: Type, bits: u64) -> i128 {
    let n = 8 * ty.size();
    let sign = 1u64 << (n - 1);
    let magnitude = i128::from(bits & (sign - 1));
    if bits & sign != 0 { -magnitude } else { magnitude }
}

/// Is `got` what is expected, within so many units in the last place?
pub fn agrees(ty: Type, got: u64, want: &Value, ulps: u32) -> bool {
    match want {
        Value::Any => true,
        Value::Nan => is_nan(ty, got),
        Value::Bits(bits) if *bits == got => true,
        Value::Bits(bits) if ulps != 0 && ty.is_float() => {
            !is_nan(ty, got)
                && !is_nan(ty, *bits)
                && (ordinal(ty, got) - ordinal(ty, *bits)).unsigned_abs() <= u128::from(ulps)
        }
        Value::Bits(_) | Value::Address(..) => false,
    }
}

/// Bits as a case would write them.
pub fn show(ty: Type, bits: u64) -> String {
    match ty {
        Type::Hf => format!("{:?} (0x{bits:04x})", f16::from_bits(bits as u16)),
        Type::Bf => format!("{:?} (0x{bits:04x})", bf16::from_bits(bits as u16)),
        Type::F => format!("{:?} (0x{bits:08x})", f32::from_bits(bits as u32)),
        Type::Df => format!("{:?} (0x{bits:016x})", f64::from_bits(bits)),
        Type::B => format!("{} (0x{bits:02x})", bits as i8),
        Type::W => format!("{} (0x{bits:04x})", bits as i16),
        Type::D => format!("{} (0x{bits:08x})", bits as i32),
        Type::Q => format!("{} (0x{bits:016x})", bits as i64),
        _ => format!("{bits} (0x{bits:x})"),
    }
}

/// What was expected, as the case writes it.
pub fn show_wanted(ty: Type, want: &Value) -> String {
    match want {
        Value::Bits(bits) => show(ty, *bits),
        Value::Nan => "a NaN".into(),
        Value::Any => "anything".into(),
        Value::Address(name, offset) => format!("&{name}+{offset}"),
    }
}
