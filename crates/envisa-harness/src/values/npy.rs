//! Arrays in NumPy's files: a magic string, a version, the length of a header, the header (a dictionary as Python
//! writes it), then the elements. Versions 1 to 3 of the format are read, and 1 is written.
//!
//! The header is read here, as the crate for it brings a generator of parsers that takes a tenth of the time of all
//! compilation; tests hold what is read and written against that crate.

use std::io::{BufReader, Error, Read, Write};
use std::path::Path;

use super::{ElemType, HostValue, ValueError};

/// The longest header read: far more than any array of plain numbers needs.
const HEADER_LIMIT: u64 = 64 * 1024;
/// What a file starts with.
const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Elements start at multiples of it.
const ALIGN: usize = 64;

/// What a header says of the elements behind it.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    elem: ElemType,
    big_endian: bool,
    shape: Vec<u64>,
}

/// NumPy's name of a type.
const fn name(elem: ElemType) -> &'static str {
    match elem {
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
    }
}

pub(super) fn write(value: &HostValue, w: &mut impl Write) -> std::io::Result<()> {
    let dims: Vec<String> = value.shape.iter().map(u64::to_string).collect();
    // A tuple of one element has a comma behind it.
    let shape = if let [one] = &dims[..] { format!("({one},)") } else { format!("({})", dims.join(", ")) };
    let descr = name(value.elem);
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let fixed = MAGIC.len() + 4;
    let whole = (fixed + text.len() + 1).next_multiple_of(ALIGN);
    text.extend(std::iter::repeat_n(' ', whole - fixed - text.len() - 1));
    text.push('\n');
    let len = u16::try_from(text.len()).map_err(Error::other)?;
    w.write_all(MAGIC)?;
    w.write_all(&[1, 0])?;
    w.write_all(&len.to_le_bytes())?;
    w.write_all(text.as_bytes())?;
    w.write_all(&value.bytes)
}

pub(super) fn read(path: &Path, file: impl Read, limit: u64) -> Result<HostValue, ValueError> {
    let bad = |why: String| ValueError::Format { path: path.to_owned(), why };
    let mut reader = BufReader::new(file);
    let text = read_header(&mut reader).map_err(|e| bad(format!("no .npy header: {e}")))?;
    let header = Header::parse(&text).map_err(bad)?;
    let count = header.shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d)).unwrap_or(u64::MAX);
    let bytes = count.saturating_mul(header.elem.size() as u64);
    if bytes > limit {
        return Err(ValueError::TooLarge { what: path.display().to_string(), bytes, limit });
    }
    // Not reserved ahead: a short file must not make us allocate what its header claims.
    let mut out = Vec::new();
    let read = reader.take(bytes).read_to_end(&mut out);
    read.map_err(|source| ValueError::Io { path: path.to_owned(), source })?;
    if out.len() as u64 != bytes {
        return Err(bad(format!("the header promises {bytes} bytes of data, the file holds {}", out.len())));
    }
    if header.big_endian {
        for element in out.chunks_exact_mut(header.elem.size()) {
            element.reverse();
        }
    }
    Ok(HostValue { elem: header.elem, shape: header.shape, bytes: out })
}

/// Reads magic, version, length and text; gives the text.
fn read_header(reader: &mut impl Read) -> std::io::Result<String> {
    let mut fixed = [0u8; 8];
    reader.read_exact(&mut fixed)?;
    if &fixed[..6] != MAGIC {
        return Err(Error::other("the magic string is missing"));
    }
    let len = match fixed[6] {
        1 => {
            let mut len = [0; 2];
            reader.read_exact(&mut len)?;
            u64::from(u16::from_le_bytes(len))
        }
        2 | 3 => {
            let mut len = [0; 4];
            reader.read_exact(&mut len)?;
            u64::from(u32::from_le_bytes(len))
        }
        other => return Err(Error::other(format!("version {other} of the format is unknown"))),
    };
    if len > HEADER_LIMIT {
        return Err(Error::other(format!("the header claims to have {len} bytes")));
    }
    let mut text = Vec::new();
    reader.take(len).read_to_end(&mut text)?;
    if text.len() as u64 != len {
        return Err(Error::other("the header is truncated"));
    }
    String::from_utf8(text).map_err(|_| Error::other("the header is not text"))
}

impl Header {
    /// Of a dictionary of exactly `descr`, `fortran_order` and `shape`.
    fn parse(text: &str) -> Result<Header, String> {
        let mut p = Parser { rest: text };
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        p.expect('{')?;
        while !p.take('}') {
            let key = p.read_string()?;
            p.expect(':')?;
            let twice = match key {
                "descr" => descr.replace(p.read_descr()?).is_some(),
                "fortran_order" => fortran.replace(p.read_boolean()?).is_some(),
                "shape" => shape.replace(p.shape()?).is_some(),
                other => return Err(format!("the header has an unknown key, '{}'", other.escape_default())),
            };
            if twice {
                return Err(format!("the header has the key '{key}' twice"));
            }
            if !p.take(',') {
                p.expect('}')?;
                break;
            }
        }
        if !p.rest.trim_start().is_empty() {
            return Err("its header has more than one dictionary: the file is damaged".to_owned());
        }
        let missing = |key: &str| format!("the header has no '{key}'");
        let descr = descr.ok_or_else(|| missing("descr"))?;
        let fortran = fortran.ok_or_else(|| missing("fortran_order"))?;
        let shape = shape.ok_or_else(|| missing("shape"))?;
        let (elem, big_endian) = element(descr)
            .ok_or_else(|| format!("elements of type `{}` are not supported", descr.escape_default()))?;
        if fortran && shape.len() > 1 {
            return Err(
                "the array is in Fortran order; save `numpy.ascontiguousarray(array)` instead".to_owned()
            );
        }
        Ok(Header { elem, big_endian, shape })
    }
}

/// A type by NumPy's name, and whether its bytes are the other way round: `<` or `>` (`=` and `|` where it does not
/// matter), a letter, bytes.
fn element(descr: &str) -> Option<(ElemType, bool)> {
    let (order, plain) = descr.split_at_checked(1)?;
    let elem = match plain {
        "i1" => ElemType::I8,
        "u1" | "b1" => ElemType::U8,
        "i2" => ElemType::I16,
        "u2" => ElemType::U16,
        "i4" => ElemType::I32,
        "u4" => ElemType::U32,
        "i8" => ElemType::I64,
        "u8" => ElemType::U64,
        "f2" => ElemType::F16,
        "f4" => ElemType::F32,
        "f8" => ElemType::F64,
        _ => return None,
    };
    match order {
        "<" => Some((elem, false)),
        ">" => Some((elem, elem.size() > 1)),
        "|" if elem.size() == 1 => Some((elem, false)),
        _ => None,
    }
}

/// Reads the part of Python's notation that headers are written in.
struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    /// Takes a character, if it is next.
    fn take(&mut self, c: char) -> bool {
        let taken = self.rest.trim_start().strip_prefix(c);
        self.rest = taken.unwrap_or(self.rest);
        taken.is_some()
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.take(c) {
            Ok(())
        } else {
            Err(format!("the header should have a `{c}` {}", self.describe_position()))
        }
    }

    /// Where it stands, for messages.
    fn describe_position(&self) -> String {
        let next: String = self.rest.trim_start().chars().take(12).collect();
        if next.is_empty() { "at its end".to_owned() } else { format!("before `{}`", next.escape_default()) }
    }

    /// A string in single or double quotes. Names of keys and types have no escapes.
    fn read_string(&mut self) -> Result<&'a str, String> {
        let quote = if self.take('"') { '"' } else { '\'' };
        if quote == '\'' {
            self.expect('\'')?;
        }
        let (inner, rest) = self.rest.split_once(quote).ok_or("a string in the header has no end")?;
        self.rest = rest;
        Ok(inner)
    }

    fn read_descr(&mut self) -> Result<&'a str, String> {
        if self.rest.trim_start().starts_with('[') {
            return Err("records are not supported, only arrays of numbers".to_owned());
        }
        self.read_string()
    }

    /// A word or number.
    fn word(&mut self) -> &'a str {
        let start = self.rest.trim_start();
        let end = start.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(start.len());
        let (word, rest) = start.split_at(end);
        self.rest = rest;
        word
    }

    fn read_boolean(&mut self) -> Result<bool, String> {
        let place = self.describe_position();
        match self.word() {
            "True" => Ok(true),
            "False" => Ok(false),
            _ => Err(format!("the header should say True or False {place}")),
        }
    }

    /// A tuple of extents, whose product has 64 bits even if extents of zero are left out: they must not hide an
    /// overflow of a stride.
    fn shape(&mut self) -> Result<Vec<u64>, String> {
        let (mut shape, mut product) = (Vec::new(), 1u64);
        self.expect('(')?;
        while !self.take(')') {
            let place = self.describe_position();
            // Version 2 of Python wrote an L behind long numbers.
            let word = self.word();
            let digits = word.strip_suffix('L').unwrap_or(word);
            let whole = digits.bytes().all(|b| b.is_ascii_digit());
            let dim: u64 = Some(digits)
                .filter(|_| whole)
                .and_then(|d| d.parse().ok())
                .ok_or_else(|| format!("the shape should have a whole number {place}"))?;
            product = product.checked_mul(dim.max(1)).ok_or("the shape overflows")?;
            shape.push(dim);
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy_file(version: u8, text: &str, data: &[u8]) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend([version, 0]);
        match version {
            1 => file.extend((text.len() as u16).to_le_bytes()),
            _ => file.extend((text.len() as u32).to_le_bytes()),
        }
        file.extend(text.bytes());
        file.extend(data);
        file
    }

    fn refusal_of(file: &[u8]) -> String {
        read(Path::new("a.npy"), file, 1 << 20).expect_err("it is refused").to_string()
    }

    /// The other implementation reads what is written here: type, shape, order, and where the elements start.
    #[test]
    fn what_is_written_is_read_by_npyz() {
        for elem in ElemType::ALL {
            for shape in [vec![], vec![0], vec![7], vec![2, 3], vec![4, 1, 5], vec![1 << 20, 0, 1 << 20]] {
                let len = shape.iter().product::<u64>() as usize * elem.size();
                let value = HostValue { elem, shape, bytes: (0..len).map(|i| i as u8).collect() };
                let mut file = Vec::new();
                write(&value, &mut file).expect("written");
                assert_eq!((file.len() - len) % ALIGN, 0);
                let theirs = npyz::NpyFile::new(&file[..]).expect("read");
                assert_eq!(theirs.shape(), value.shape);
                assert_eq!(theirs.order(), npyz::Order::C);
                assert_eq!(theirs.dtype().descr(), format!("'{}'", name(elem)));
                assert_eq!(&file[file.len() - len..], value.bytes);
                let ours = read(Path::new("a.npy"), &file[..], 1 << 20).expect("read");
                assert_eq!((ours.elem, ours.shape, ours.bytes), (value.elem, value.shape, value.bytes));
            }
        }
    }

    /// What the other implementation writes is read here.
    #[test]
    fn what_npyz_writes_is_read() {
        use npyz::WriterBuilder as _;
        for elem in ElemType::ALL {
            for shape in [&[][..], &[0], &[9], &[3, 5], &[2, 2, 2, 2]] {
                let len = shape.iter().product::<u64>() as usize * elem.size();
                let mut file = Vec::new();
                npyz::WriteOptions::new_header_only()
                    .dtype(npyz::DType::Plain(name(elem).parse().expect("a type")))
                    .shape(shape)
                    .writer(&mut file)
                    .write_header_only()
                    .expect("written");
                let data: Vec<u8> = (0..len).map(|i| (i * 7) as u8).collect();
                file.extend(&data);
                let ours = read(Path::new("a.npy"), &file[..], 1 << 20).expect("read");
                assert_eq!((ours.elem, &ours.shape[..], ours.bytes), (elem, shape, data));
            }
        }
    }

    #[test]
    fn spellings_of_headers() {
        for (version, text) in [
            (1, "{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }\n"),
            (2, "{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<u2\"}"),
            (3, " { 'descr' : '<u2' , 'shape' : ( 2L , ) , 'fortran_order' : True }  \n"),
        ] {
            let value = read(Path::new("a"), &npy_file(version, text, &[1, 2, 3, 4])[..], 64).expect(text);
            assert_eq!((value.elem, value.shape), (ElemType::U16, vec![2]));
            assert_eq!(value.bytes, [1, 2, 3, 4]);
        }
        let big = npy_file(1, "{'descr': '>u2', 'fortran_order': False, 'shape': (2,)}", &[1, 2, 3, 4]);
        assert_eq!(read(Path::new("a"), &big[..], 64).expect("read").bytes, [2, 1, 4, 3]);
        let scalar = npy_file(1, "{'descr': '|b1', 'fortran_order': False, 'shape': ()}", &[1]);
        assert_eq!(read(Path::new("a"), &scalar[..], 64).expect("read").shape, [0u64; 0]);
    }

    #[test]
    fn headers_that_are_refused() {
        let of = |text: &str| refusal_of(&npy_file(1, text, &[0; 64]));
        let with = |descr: &str, order: &str, shape: &str| {
            of(&format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}"))
        };
        for (message, part) in [
            (with("'<c8'", "False", "(2,)"), "elements of type `<c8`"),
            (with("'=i4'", "False", "(2,)"), "elements of type `=i4`"),
            (with("''", "False", "(2,)"), "elements of type ``"),
            (with("[('a', '<i4')]", "False", "(2,)"), "records"),
            (with("'<i4'", "True", "(2, 2)"), "Fortran order"),
            (with("'<i4'", "Maybe", "(2, 2)"), "True or False before `Maybe"),
            (with("'<i4'", "False", "(-2,)"), "whole number before `-2"),
            (with("'<i4'", "False", "(,)"), "whole number"),
            (with("'<i4'", "False", "(2 3)"), "should have a `)` before `3"),
            (with("'<i4'", "False", "(0, 4294967296, 4294967296)"), "overflows"),
            (with("'<i4'", "False", "(99999999999999999999,)"), "whole number"),
            (with("'<i4'", "False", "2"), "should have a `(`"),
            (with("'<i4'", "False", "(100,)"), "promises 400 bytes"),
            (of("{'descr': '<i4', 'shape': (1,)}"), "no 'fortran_order'"),
            (of("{'descr': '<i4', 'descr': '<i4'}"), "'descr' twice"),
            (of("{'order': 1}"), "unknown key, 'order'"),
            (of("{'descr"), "no end"),
            (of("{'shape': (1,), 'fortran_order': False, 'descr': '<i4'} x"), "more than one dictionary"),
            (of(""), "`{` at its end"),
            (refusal_of(b"\x93NUMPY\x04\0\x10\0\0\0"), "version 4"),
            (refusal_of(b"\x93NUMPY\x02\0\xff\xff\xff\xff"), "claims to have 4294967295 bytes"),
            (refusal_of(b"\x93NUMPY\x01\0\x10\0{}"), "truncated"),
            (refusal_of(b"\x93NUMPX\x01\0\x10\0{}"), "magic"),
            (refusal_of(b"\x93NUMPY\x01\0\x01\0\xff"), "not text"),
        ] {
            assert!(message.contains(part), "{message}\n lacks {part}");
        }
        let large = with("'<i4'", "False", "(1000000, 1000)");
        assert!(large.contains("a.npy"), "{large}");
    }
}
