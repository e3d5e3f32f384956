//! Decoding of the buffer that a kernel's `printf` fills.
//!
//! Dword 0 is the next free byte. A record is the 64-bit address of the format string, then for each
//! argument a dword that tells its type, and its data. A record whose address is all ones was dropped
//! for lack of space.
//!
//! A record does not say how many arguments it has, and the compiler stores all of them, whatever the format says:
//! an argument is known by its type's dword, so that a conversion that C does not define, or arguments that the
//! format does not use, never cost the records that follow.

use crate::memory::{AddressMap, Block, Hint};

/// Longest format or string argument that is read, in bytes.
const MAX_STRING: usize = 64 << 10;
/// Widest field or precision that is honoured.
const MAX_WIDTH: usize = 4096;
/// Most bytes of formats and strings that are read, and of text that is made of them: a small buffer can name long
/// strings over and over.
const MAX_TEXT: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };

/// What the kernel printed, and whether some of it was lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The text.
    pub text: String,
    /// The buffer was full, a record made no sense, or its text is longer than is shown.
    pub incomplete: bool,
}

/// Where the first record goes.
const FIRST: u32 = 4;

/// Makes a buffer one to which nothing has been printed.
pub(super) fn begin(buffer: &Block) -> bool {
    buffer.write(0, FIRST.to_le_bytes())
}

/// Has nothing been printed to it?
pub(super) fn is_empty(buffer: &Block) -> bool {
    buffer.read::<4>(0) == Some(FIRST.to_le_bytes())
}

/// Decodes the buffer.
pub fn decode(memory: &AddressMap, buffer: &Block) -> Printed {
    let mut out = Printed::default();
    let used = buffer.read::<4>(0).map_or(0, u32::from_le_bytes) as usize;
    // The counter runs on where records no longer fit.
    out.incomplete = used > buffer.len();
    let mut reader = Reader { buffer, at: FIRST as usize, end: used.min(buffer.len()), unreadable: false };
    let mut left = MAX_TEXT;
    while reader.at + 8 <= reader.end {
        let Some(address) = reader.u64() else { break };
        if address == u64::MAX || address as u32 == u32::MAX {
            out.incomplete = true;
            break;
        }
        let Some(format) = read_c_string(memory, address) else {
            out.incomplete = true;
            break;
        };
        left = left.saturating_sub(format.len());
        if !format_record(memory, &format, &mut reader, &mut out.text, &mut left) {
            out.incomplete = true;
            break;
        }
        // Arguments that the format has no conversions for.
        while reader.at_argument() {
            if skip_argument(&mut reader).is_none() {
                out.incomplete = true;
                return out;
            }
        }
    }
    out.incomplete |= reader.unreadable;
    out
}

struct Reader<'a> {
    buffer: &'a Block,
    at: usize,
    end: usize,
    /// A string argument was nowhere, or had no end.
    unreadable: bool,
}

impl Reader<'_> {
    fn take_bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        if self.end - self.at < N {
            return None;
        }
        let bytes = self.buffer.read::<N>(self.at)?;
        self.at += N;
        Some(bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take_bytes().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take_bytes().map(u64::from_le_bytes)
    }

    /// Does an argument follow? The other thing that can is a record, whose first dword is the low half of a string's
    /// address: no string starts so near to a multiple of 2^32.
    fn at_argument(&self) -> bool {
        self.end - self.at >= 4
            && self.buffer.read::<4>(self.at).is_some_and(|b| TAGS.contains(&u32::from_le_bytes(b)))
    }
}

/// Types of arguments, as the compiler numbers them.
const TAGS: std::ops::RangeInclusive<u32> = 1..=14;

/// Bytes of a vector's field: the elements are packed; it has room for elements of at least 4 bytes.
fn vector(reader: &mut Reader<'_>, tag: u32) -> Option<(usize, usize)> {
    let count = reader.u32()? as usize;
    let element: usize = match tag {
        9 => 1,
        10 => 2,
        11 | 13 => 4,
        _ => 8,
    };
    (2..=16).contains(&count).then_some((count, element.max(4) * count))
}

/// Steps over one argument.
fn skip_argument(reader: &mut Reader<'_>) -> Option<()> {
    let tag = reader.u32()?;
    let bytes = match tag {
        1..=4 => 4,
        5..=8 => 8,
        9..=14 => vector(reader, tag)?.1,
        _ => return None,
    };
    if reader.end - reader.at < bytes {
        return None;
    }
    reader.at += bytes;
    Some(())
}

/// A zero-terminated string of the guest's memory.
fn read_c_string(memory: &AddressMap, address: u64) -> Option<Vec<u8>> {
    let mut hint = Hint::default();
    let mut bytes = Vec::new();
    loop {
        let place = memory.find(address.checked_add(bytes.len() as u64)?, 1, false, &mut hint)?;
        match place.block.read::<1>(place.offset)?[0] {
            0 => return Some(bytes),
            b if bytes.len() < MAX_STRING => bytes.push(b),
            _ => return None,
        }
    }
}

/// One argument's value.
enum Value {
    Int(i64, u32),
    Float(f64),
    Text(Vec<u8>),
    Pointer(u64),
}

/// One argument: its elements (one unless it is a vector).
fn read_argument(memory: &AddressMap, reader: &mut Reader<'_>) -> Option<Vec<Value>> {
    let tag = reader.u32()?;
    Some(match tag {
        1 => vec![Value::Int(i64::from(reader.u32()? as i8), 8)],
        2 => vec![Value::Int(i64::from(reader.u32()? as i16), 16)],
        3 => vec![Value::Int(i64::from(reader.u32()? as i32), 32)],
        4 => vec![Value::Float(f64::from(f32::from_bits(reader.u32()?)))],
        5 => {
            let address = reader.u64()?;
            let text = match address {
                0 => b"(null)".to_vec(),
                _ => read_c_string(memory, address).unwrap_or_else(|| {
                    reader.unreadable = true;
                    b"(unreadable)".to_vec()
                }),
            };
            vec![Value::Text(text)]
        }
        6 => vec![Value::Int(reader.u64()? as i64, 64)],
        7 => vec![Value::Pointer(reader.u64()?)],
        8 => vec![Value::Float(f64::from_bits(reader.u64()?))],
        9..=14 => {
            let (count, field) = vector(reader, tag)?;
            let start = reader.at;
            let mut values = Vec::with_capacity(count);
            for _ in 0..count {
                values.push(match tag {
                    9 => Value::Int(i64::from(i8::from_le_bytes(reader.take_bytes()?)), 8),
                    10 => Value::Int(i64::from(i16::from_le_bytes(reader.take_bytes()?)), 16),
                    11 => Value::Int(i64::from(i32::from_le_bytes(reader.take_bytes()?)), 32),
                    12 => Value::Int(i64::from_le_bytes(reader.take_bytes()?), 64),
                    13 => Value::Float(f64::from(f32::from_le_bytes(reader.take_bytes()?))),
                    _ => Value::Float(f64::from_le_bytes(reader.take_bytes()?)),
                });
            }
            reader.at = (start + field).min(reader.end);
            values
        }
        _ => return None,
    })
}

/// A conversion specification.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Bits of the length modifier `hh h hl l ll z t j`; 0 without.
    length: u32,
    conversion: u8,
}

/// Formats one record; `false` if its arguments end early or make no sense, or nothing is `left` of the bytes that
/// may be read and made.
fn format_record(
    memory: &AddressMap,
    format: &[u8],
    reader: &mut Reader<'_>,
    out: &mut String,
    left: &mut usize,
) -> bool {
    let mut text = Vec::new();
    let mut i = 0;
    let mut sound = true;
    while i < format.len() {
        if format[i] != b'%' {
            text.push(format[i]);
            i += 1;
            continue;
        }
        if format.get(i + 1) == Some(&b'%') {
            text.push(b'%');
            i += 2;
            continue;
        }
        let Some((spec, next)) = parse(format, i + 1) else {
            // Not a conversion: print it as it stands.
            text.push(b'%');
            i += 1;
            continue;
        };
        let known = b"diouxXcsfFeEgGaAp".contains(&spec.conversion);
        if !known || !reader.at_argument() {
            // C does not define the conversion, or its argument is missing: it is printed as it stands.
            text.extend_from_slice(&format[i..next]);
            i = next;
            if reader.at_argument() && skip_argument(reader).is_none() {
                sound = false;
                break;
            }
            continue;
        }
        i = next;
        let Some(values) = read_argument(memory, reader) else {
            sound = false;
            break;
        };
        for (k, value) in values.iter().enumerate() {
            if k > 0 {
                text.push(b',');
            }
            // A string that is not a literal comes as a pointer.
            let pointed = match (spec.conversion, value) {
                (b's', Value::Pointer(0)) => Some(Value::Text(b"(null)".to_vec())),
                (b's', Value::Pointer(p)) => read_c_string(memory, *p).map(Value::Text),
                _ => None,
            };
            let value = pointed.as_ref().unwrap_or(value);
            if let Value::Text(s) = value {
                *left = left.saturating_sub(s.len());
            }
            let made = convert(&spec, value);
            *left = left.saturating_sub(made.len());
            text.extend(made);
        }
        if *left == 0 {
            sound = false;
            break;
        }
    }
    sound &= *left > 0;
    out.push_str(&String::from_utf8_lossy(&text));
    sound
}

fn number(format: &[u8], mut i: usize) -> (usize, usize) {
    let mut n = 0usize;
    while let Some(d) = format.get(i).filter(|d| d.is_ascii_digit()) {
        n = (n * 10 + usize::from(d - b'0')).min(MAX_WIDTH);
        i += 1;
    }
    (n, i)
}

fn parse(format: &[u8], mut i: usize) -> Option<(Spec, usize)> {
    let mut spec = Spec::default();
    loop {
        match format.get(i)? {
            b'-' => spec.left = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'#' => spec.alternate = true,
            b'0' => spec.zero = true,
            _ => break,
        }
        i += 1;
    }
    (spec.width, i) = number(format, i);
    if format.get(i) == Some(&b'.') {
        let (n, next) = number(format, i + 1);
        spec.precision = Some(n);
        i = next;
    }
    if format.get(i) == Some(&b'v') {
        // The vector's length is in the record.
        (_, i) = number(format, i + 1);
    }
    const LENGTHS: [(&[u8], u32); 8] =
        [(b"hh", 8), (b"hl", 32), (b"h", 16), (b"ll", 64), (b"l", 64), (b"z", 64), (b"t", 64), (b"j", 64)];
    for (modifier, bits) in LENGTHS {
        if format[i..].starts_with(modifier) {
            spec.length = bits;
            i += modifier.len();
            break;
        }
    }
    spec.conversion = *format.get(i)?;
    spec.conversion.is_ascii_alphabetic().then_some((spec, i + 1))
}

fn convert(spec: &Spec, value: &Value) -> Vec<u8> {
    match (spec.conversion, value) {
        (b's', Value::Text(s)) => {
            let n = spec.precision.unwrap_or(usize::MAX).min(s.len());
            pad_to_width(spec, "", String::from_utf8_lossy(&s[..n]).into_owned(), false)
        }
        (b'c', Value::Int(n, _)) => {
            let mut one = vec![*n as u8];
            while one.len() < spec.width {
                if spec.left { one.push(b' ') } else { one.insert(0, b' ') }
            }
            one
        }
        (b'p' | b's', Value::Pointer(p)) => pad_to_width(spec, "", format!("{p:#x}"), false),
        (b'p', Value::Int(n, _)) => pad_to_width(spec, "", format!("{n:#x}"), false),
        // What is not a string where one is expected is printed as what it is.
        (b'd' | b'i', _) | (b's', Value::Int(..)) => {
            let n = integer(spec, value);
            let sign = if n < 0 {
                "-"
            } else if spec.plus {
                "+"
            } else if spec.space {
                " "
            } else {
                ""
            };
            pad_to_width(spec, sign, pad_digits(spec, n.unsigned_abs().to_string()), spec.precision.is_none())
        }
        (b'u' | b'o' | b'x' | b'X', _) => {
            let n = unsigned_value(spec, value);
            let (prefix, text) = match spec.conversion {
                b'u' => ("", n.to_string()),
                b'o' if spec.alternate => ("", format_octal(spec, n)),
                b'o' => ("", format!("{n:o}")),
                b'x' => (if spec.alternate && n != 0 { "0x" } else { "" }, format!("{n:x}")),
                _ => (if spec.alternate && n != 0 { "0X" } else { "" }, format!("{n:X}")),
            };
            let text = if spec.conversion == b'o' && spec.alternate { text } else { pad_digits(spec, text) };
            pad_to_width(spec, prefix, text, spec.precision.is_none())
        }
        (_, value) => {
            let x = match value {
                Value::Float(x) => *x,
                Value::Int(n, _) => *n as f64,
                Value::Pointer(p) => *p as f64,
                Value::Text(s) => return s.clone(),
            };
            let sign = if x.is_sign_negative() && !x.is_nan() {
                "-"
            } else if spec.plus {
                "+"
            } else if spec.space {
                " "
            } else {
                ""
            };
            let mut text = float(spec, x.abs());
            let mut prefix = sign.to_owned();
            // Zeros go between `0x` and the digits.
            if let Some(digits) = text.strip_prefix("0x") {
                text = digits.to_owned();
                prefix.push_str("0x");
            }
            if spec.conversion.is_ascii_uppercase() {
                text.make_ascii_uppercase();
                prefix.make_ascii_uppercase();
            }
            pad_to_width(spec, &prefix, text, x.is_finite())
        }
    }
}

fn integer(spec: &Spec, value: &Value) -> i64 {
    let n = match value {
        Value::Int(n, _) => *n,
        Value::Float(x) => *x as i64,
        Value::Pointer(p) => *p as i64,
        Value::Text(_) => 0,
    };
    match spec.length {
        8 => i64::from(n as i8),
        16 => i64::from(n as i16),
        _ => n,
    }
}

fn unsigned_value(spec: &Spec, value: &Value) -> u64 {
    let bits = match value {
        Value::Int(_, bits) => *bits,
        _ => 64,
    };
    let bits = if spec.length == 0 { bits } else { bits.min(spec.length) };
    let n = integer(&Spec { length: 0, ..Spec::default() }, value) as u64;
    if bits >= 64 { n } else { n & ((1 << bits) - 1) }
}

/// `%#o`: the first digit is zero, by a greater precision if need be.
fn format_octal(spec: &Spec, n: u64) -> String {
    let text = pad_digits(spec, format!("{n:o}"));
    if text.starts_with('0') { text } else { format!("0{text}") }
}

/// At least as many digits as the precision says.
fn pad_digits(spec: &Spec, text: String) -> String {
    match spec.precision {
        Some(0) if text == "0" => String::new(),
        Some(p) if text.len() < p => format!("{}{text}", "0".repeat(p - text.len())),
        _ => text,
    }
}

/// Sign, digits and padding to the width.
fn pad_to_width(spec: &Spec, prefix: &str, text: String, zeros: bool) -> Vec<u8> {
    let len = prefix.len() + text.chars().count();
    let fill = spec.width.saturating_sub(len);
    if spec.left {
        format!("{prefix}{text}{}", " ".repeat(fill)).into_bytes()
    } else if spec.zero && zeros {
        format!("{prefix}{}{text}", "0".repeat(fill)).into_bytes()
    } else {
        format!("{}{prefix}{text}", " ".repeat(fill)).into_bytes()
    }
}

/// A float that is not negative, in lower case.
fn float(spec: &Spec, x: f64) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    if x.is_infinite() {
        return "inf".into();
    }
    let precision = spec.precision.unwrap_or(6);
    match spec.conversion.to_ascii_lowercase() {
        b'f' => {
            let text = format!("{x:.precision$}");
            if spec.alternate && precision == 0 { text + "." } else { text }
        }
        b'e' => format_exponential(x, precision, spec.alternate),
        b'a' => format_hex_float(x, spec.precision, spec.alternate),
        _ => format_general(x, precision.max(1), spec.alternate),
    }
}

/// `1.500000e+03`.
fn format_exponential(x: f64, precision: usize, point: bool) -> String {
    let text = format!("{x:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let dot = if point && precision == 0 { "." } else { "" };
    format!("{mantissa}{dot}e{sign}{:02}", exponent.abs())
}

/// The shorter of `%e` and `%f`, without trailing zeros.
fn format_general(x: f64, precision: usize, keep_zeros: bool) -> String {
    let scientific = format!("{x:.*e}", precision - 1);
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let strip = |text: String| {
        if keep_zeros || !text.contains('.') {
            return text;
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if exponent < -4 || exponent >= precision as i32 {
        let text = format_exponential(x, precision - 1, keep_zeros);
        match text.split_once('e') {
            Some((mantissa, e)) => format!("{}e{e}", strip(mantissa.to_owned())),
            None => text,
        }
    } else {
        let decimals = (precision as i32 - 1 - exponent) as usize;
        let dot = if keep_zeros && decimals == 0 { "." } else { "" };
        strip(format!("{x:.decimals$}{dot}"))
    }
}

/// `0x1.8p+1`.
fn format_hex_float(x: f64, precision: Option<usize>, point: bool) -> String {
    let bits = x.to_bits();
    let (mut fraction, biased) = (bits & ((1 << 52) - 1), (bits >> 52) as i32);
    let mut lead = u64::from(biased != 0);
    let exponent = match (biased, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => biased - 1023,
    };
    let mut digits = 13;
    if let Some(p) = precision.filter(|p| *p < 13) {
        let drop = 4 * (13 - p as u32);
        let half = 1u64 << (drop - 1);
        let whole = lead << 52 | fraction;
        let odd = whole >> drop & 1;
        let rounded = (whole + half - 1 + odd) >> drop;
        lead = rounded >> (52 - drop);
        fraction = (rounded << drop) & ((1 << 52) - 1);
        digits = p;
    }
    let mut text = format!("{fraction:013x}");
    text.truncate(digits);
    match precision {
        None => text.truncate(text.trim_end_matches('0').len()),
        Some(p) if p > 13 => text.push_str(&"0".repeat(p - 13)),
        _ => {}
    }
    let dot = if text.is_empty() && !point { "" } else { "." };
    format!("0x{lead}{dot}{text}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    /// Puts a format and records into memory; gives what is decoded.
    fn run(format: &str, data: &[u8]) -> Printed {
        let memory = Memory::new(1 << 20);
        let f = memory.allocate("formats", 4096).unwrap();
        memory.get(f).unwrap().block.copy_in(0, format.as_bytes());
        let b = memory.allocate("printf", 4096).unwrap();
        let mut record = memory.get(f).unwrap().base.to_le_bytes().to_vec();
        record.extend(data);
        memory.get(b).unwrap().block.copy_in(4, &record);
        memory.get(b).unwrap().block.write(0, (4 + record.len() as u32).to_le_bytes());
        decode(&memory.map(), &memory.get(b).unwrap().block)
    }

    fn int(n: i32) -> Vec<u8> {
        [3u32.to_le_bytes(), n.to_le_bytes()].concat()
    }

    fn double(x: f64) -> Vec<u8> {
        [&8u32.to_le_bytes()[..], &x.to_le_bytes()].concat()
    }

    #[test]
    fn integers_as_c_prints_them() {
        for (format, n, expected) in [
            ("%d", -5, "-5"),
            ("%5d|", 42, "   42|"),
            ("%-5d|", 42, "42   |"),
            ("%05d", -42, "-0042"),
            ("%+d", 7, "+7"),
            ("%.3d", 7, "007"),
            ("%x", -1, "ffffffff"),
            ("%#X", 255, "0XFF"),
            ("%o", 8, "10"),
            ("%u", -1, "4294967295"),
            ("%hhx", -1, "ff"),
            ("%c%%", 65, "A%"),
        ] {
            assert_eq!(run(format, &int(n)).text, expected, "{format}");
        }
    }

    #[test]
    fn floats_as_c_prints_them() {
        for (format, x, expected) in [
            ("%f", 1.5, "1.500000"),
            ("%.2f", -0.005, "-0.01"),
            ("%e", 1500.0, "1.500000e+03"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 0.00001, "1e-05"),
            ("%g", 1234567.0, "1.23457e+06"),
            ("%g", 100.0, "100"),
            ("%G", f64::INFINITY, "INF"),
            ("%8.3f|", 2.71, "   2.710|"),
            ("%a", 3.0, "0x1.8p+1"),
            ("%.0f", 2.5, "2"),
            ("%08.2f", -1.5, "-0001.50"),
            // A point with nothing behind it.
            ("%#.0f", 3.0, "3."),
            ("%#.0e", 3.0, "3.e+00"),
            ("%#g", 100000.0, "100000."),
            ("%#.1g", 5.0, "5."),
            ("%#.1G", 5e10, "5.E+10"),
            ("%#a", 1.0, "0x1.p+0"),
            ("%+#.0A", 1e10, "+0X1.P+33"),
        ] {
            assert_eq!(run(format, &double(x)).text, expected, "{format}");
        }
    }

    fn long(n: i64) -> Vec<u8> {
        [&6u32.to_le_bytes()[..], &n.to_le_bytes()].concat()
    }

    #[test]
    fn sizes_differences_and_the_widest_integers() {
        for (format, n, expected) in [
            ("%zu", u64::MAX as i64, "18446744073709551615"),
            ("%zi|%%", i64::MIN, "-9223372036854775808|%"),
            ("%td", -7, "-7"),
            ("%zx", 255, "ff"),
            ("%-5tu|", 42, "42   |"),
            ("%jd", -1, "-1"),
            ("%ju", 9, "9"),
        ] {
            assert_eq!(
                run(format, &long(n)),
                Printed { text: expected.into(), incomplete: false },
                "{format}"
            );
        }
        // Stored as 32 bits where the program passed an int all the same.
        assert_eq!(run("%zu", &int(5)).text, "5");
    }

    /// A record after the one that is tested.
    fn two(format: &str, data: &[u8]) -> Printed {
        let memory = Memory::new(1 << 20);
        let f = memory.allocate("formats", 4096).unwrap();
        memory.get(f).unwrap().block.copy_in(0, format.as_bytes());
        memory.get(f).unwrap().block.copy_in(2048, b"next %d");
        let base = memory.get(f).unwrap().base;
        let all = [&base.to_le_bytes()[..], data, &(base + 2048).to_le_bytes(), &int(1)].concat();
        let b = Block::zeroed(4 + all.len()).unwrap();
        b.copy_in(4, &all);
        b.write(0, (b.len() as u32).to_le_bytes());
        decode(&memory.map(), &b)
    }

    #[test]
    fn no_record_costs_the_next_one() {
        let vector = [&13u32.to_le_bytes()[..], &3u32.to_le_bytes(), &[0; 12]].concat();
        for (format, data, expected) in [
            // Conversions that C does not define take their argument with them.
            ("%y|", int(3), "%y|"),
            ("%5.2qd %d|", [int(3), int(4)].concat(), "%5.2qd 4|"),
            ("%n|", vector.clone(), "%n|"),
            ("%k|", double(1.0), "%k|"),
            ("%k|", long(1), "%k|"),
            // More arguments than conversions, and fewer.
            ("none|", [int(1), double(2.0), vector, long(3)].concat(), "none|"),
            ("%d %d|", int(1), "1 %d|"),
            ("%s|", Vec::new(), "%s|"),
            // No conversions at all.
            ("100 % done, 5%|", Vec::new(), "100 % done, 5%|"),
            ("%", Vec::new(), "%"),
            // Types of 8 and 16 bits; what is not a string.
            (
                "%d %d|",
                [1u32.to_le_bytes(), 0xffu32.to_le_bytes(), 2u32.to_le_bytes(), 0x1_8000u32.to_le_bytes()]
                    .concat(),
                "-1 -32768|",
            ),
            ("%s %s|", [int(-3), [&7u32.to_le_bytes()[..], &[0; 8]].concat()].concat(), "-3 (null)|"),
        ] {
            let printed = two(format, &data);
            assert_eq!(printed, Printed { text: format!("{expected}next 1"), incomplete: false }, "{format}");
        }
    }

    #[test]
    fn zeros_stand_after_the_prefix() {
        for (format, x, expected) in [
            ("%012.0a", 0.0, "0x0000000p+0"),
            ("%014.2a", 7.501_983_6, "0x000001.e0p+2"),
            ("%16.5A", 4.5, "    0X1.20000P+2"),
            ("%+010.1a", -10.0, "-0x01.4p+3"),
            ("%.0a", 7.5, "0x2p+2"),
        ] {
            assert_eq!(run(format, &double(x)).text, expected, "{format}");
        }
        for (format, n, expected) in [
            ("%#o", 0, "0"),
            ("%#.0o", 0, "0"),
            ("%#.5o", 8, "00010"),
            ("%.0o", 0, ""),
            ("%#010x", 255, "0x000000ff"),
        ] {
            assert_eq!(run(format, &int(n)).text, expected, "{format}");
        }
    }

    #[test]
    fn vectors_are_packed_in_their_field() {
        let data =
            [&9u32.to_le_bytes()[..], &4u32.to_le_bytes(), &[1, 2, 0xff, 4], &[0; 12], &int(9)].concat();
        let printed = run("%v4hhd %d", &data);
        assert_eq!(printed, Printed { text: "1,2,-1,4 9".into(), incomplete: false });
    }

    #[test]
    #[cfg_attr(miri, ignore = "megabytes of text")]
    fn a_small_buffer_makes_no_endless_text() {
        let memory = Memory::new(8 << 20);
        let f = memory.allocate("formats", MAX_STRING as u64).unwrap();
        // Long formats that print nothing, and short ones that print much.
        let long = ["%".to_owned(), "0".repeat(MAX_STRING - 3), "d".to_owned()].concat();
        for (format, record) in [(long.as_str(), int(1)), ("%4096d", int(1)), ("%4096d%.0s", int(1))] {
            memory.get(f).unwrap().block.clear(0, MAX_STRING);
            memory.get(f).unwrap().block.copy_in(0, format.as_bytes());
            let record = [&memory.get(f).unwrap().base.to_le_bytes()[..], &record].concat();
            let all = record.repeat((4 << 20) / record.len());
            let b = Block::zeroed(4 + all.len()).unwrap();
            b.copy_in(4, &all);
            b.write(0, (b.len() as u32).to_le_bytes());
            let printed = decode(&memory.map(), &b);
            assert!(
                printed.incomplete && printed.text.len() <= MAX_TEXT + MAX_STRING,
                "{}",
                printed.text.len()
            );
        }
    }

    #[test]
    fn what_makes_no_sense_is_reported() {
        // A string that is nowhere, an argument that is cut off.
        assert!(run("%s", &[&5u32.to_le_bytes()[..], &1u64.to_le_bytes()].concat()).incomplete);
        assert!(run("%d", &6u32.to_le_bytes()).incomplete);
        assert!(run("%v3d", &[11u32.to_le_bytes(), 99u32.to_le_bytes()].concat()).incomplete);
        let memory = Memory::new(1 << 20);
        let lost = Block::zeroed(64).unwrap();
        lost.write(0, 12u32.to_le_bytes());
        lost.write(4, u64::MAX.to_le_bytes());
        assert_eq!(decode(&memory.map(), &lost), Printed { text: String::new(), incomplete: true });
        let empty = Block::zeroed(64).unwrap();
        empty.write(0, 4u32.to_le_bytes());
        assert_eq!(decode(&memory.map(), &empty), Printed::default());
    }
}
