//! DWARF as Intel's compiler writes it with `-g`: the variables that kernels declare in shared local memory.
//!
//! Their place is a constant with the number of the address space in its highest byte. Of the rest of DWARF nothing is
//! of use here: places of instructions are of native code, and lines are in the vISA.

use std::collections::BTreeMap;

/// A variable in shared local memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalVariable {
    /// Its name in the source.
    pub name: String,
    /// Where it starts, from the start of the kernel's own shared local memory.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Of an array its dimensions, the slowest first, and none of anything else.
    pub dimensions: Vec<u64>,
}

/// The highest byte of addresses in shared local memory.
const LOCAL: u64 = 0x0a;
/// Longest chain of types that is followed, deepest nesting of entries, and most kinds of entries of a unit.
const MAX_CHAIN: usize = 32;
const MAX_DEPTH: usize = 256;
const MAX_KINDS: u64 = 1 << 16;
/// Dimensions of an array that are told apart.
const MAX_DIMENSIONS: usize = 16;

/// The variables in shared local memory of each kernel, by their place.
///
/// # Errors
/// What is damaged or not known, in a sentence.
pub fn local_variables(info: &[u8], abbrev: &[u8]) -> Result<BTreeMap<String, Vec<LocalVariable>>, String> {
    let mut all: BTreeMap<String, Vec<LocalVariable>> = BTreeMap::new();
    let mut rest = Reader { bytes: info, at: 0 };
    while rest.at < info.len() {
        let start = rest.at;
        let length = rest.number(4)?;
        if length >= 0xffff_fff0 {
            return Err("a unit of 64-bit DWARF".into());
        }
        let end =
            usize::try_from(length).ok().and_then(|n| rest.at.checked_add(n)).filter(|e| *e <= info.len());
        let end = end.ok_or("a unit is cut off")?;
        let mut unit = Reader { bytes: &info[..end], at: rest.at };
        rest.at = end;
        let entries = entries(&mut unit, start, abbrev)?;
        for (kernel, variable) in kernel_variables(&entries) {
            all.entry(kernel).or_default().push(variable);
        }
    }
    for variables in all.values_mut() {
        variables.sort_by(|a, b| (a.offset, a.bytes, &a.name).cmp(&(b.offset, b.bytes, &b.name)));
        variables.dedup();
    }
    Ok(all)
}

/// An entry of a unit, as far as it is of use.
#[derive(Debug, Default)]
struct Entry {
    /// Where it is in the section.
    at: u64,
    tag: u64,
    parent: Option<usize>,
    name: Option<String>,
    origin: Option<u64>,
    ty: Option<u64>,
    bytes: Option<u64>,
    /// Elements of a dimension of an array.
    elements: Option<u64>,
    /// Offset in shared local memory.
    local: Option<u64>,
}

const TAG_ARRAY: u64 = 0x01;
const TAG_POINTER: u64 = 0x0f;
const TAG_SUBRANGE: u64 = 0x21;
const TAG_SUBPROGRAM: u64 = 0x2e;
const TAG_VARIABLE: u64 = 0x34;

/// The entries of a unit that starts at `start`, in order.
fn entries(unit: &mut Reader<'_>, start: usize, abbrev: &[u8]) -> Result<Vec<Entry>, String> {
    let version = unit.number(2)?;
    if !(2..=4).contains(&version) {
        return Err(format!("DWARF {version}"));
    }
    let offset = unit.number(4)?;
    let address_bytes = unit.number(1)? as usize;
    let kinds = read_abbreviations(abbrev, offset)?;
    let mut all: Vec<Entry> = Vec::new();
    let mut parents: Vec<usize> = Vec::new();
    while unit.at < unit.bytes.len() {
        let at = unit.at as u64;
        let code = unit.leb()?;
        if code == 0 {
            parents.pop();
            continue;
        }
        let kind =
            kinds.get(&code).ok_or_else(|| format!("an entry of kind {code}, which is not described"))?;
        let mut e = Entry { at, tag: kind.tag, parent: parents.last().copied(), ..Entry::default() };
        for (name, form) in &kind.attributes {
            let value = value(unit, *form, address_bytes, start as u64)?;
            match (name, value) {
                (0x03, Value::Text(t)) => e.name = Some(t),
                (0x0b, Value::Number(n)) => e.bytes = Some(n),
                (0x2f, Value::Number(n)) => e.elements = n.checked_add(1),
                (0x37, Value::Number(n)) => e.elements = Some(n),
                (0x31, Value::Number(n)) => e.origin = Some(n),
                (0x49, Value::Number(n)) => e.ty = Some(n),
                (0x02, Value::Block(b)) => e.local = local_place(b),
                _ => {}
            }
        }
        all.push(e);
        if kind.children {
            if parents.len() == MAX_DEPTH {
                return Err("entries that are nested too deep".into());
            }
            parents.push(all.len() - 1);
        }
    }
    Ok(all)
}

/// `DW_OP_const8u` of an address in shared local memory.
fn local_place(block: &[u8]) -> Option<u64> {
    let (&0x0e, address) = block.split_first()? else { return None };
    let address = u64::from_le_bytes(address.try_into().ok()?);
    (address >> 56 == LOCAL).then_some(address & (u64::MAX >> 8))
}

/// Kernels and their variables.
fn kernel_variables(entries: &[Entry]) -> Vec<(String, LocalVariable)> {
    let name = |e: &Entry| e.name.clone().or_else(|| entries[find(entries, e.origin?)?].name.clone());
    let mut sizes = Sizes { entries, known: BTreeMap::new() };
    let mut found = Vec::new();
    for e in entries.iter().filter(|e| e.tag == TAG_VARIABLE) {
        let Some(offset) = e.local else { continue };
        // The outermost subprogram is the kernel: what is in it may be inlined.
        let mut kernel = None;
        let mut parent = e.parent;
        while let Some(p) = parent {
            if entries[p].tag == TAG_SUBPROGRAM {
                kernel = name(&entries[p]);
            }
            parent = entries[p].parent;
        }
        let ty = e.ty.or_else(|| entries[find(entries, e.origin?)?].ty);
        let bytes = ty.and_then(|ty| sizes.of(ty, MAX_CHAIN));
        if let (Some(kernel), Some(name), Some(bytes)) = (kernel, name(e), bytes) {
            let dimensions = ty.map_or(Vec::new(), |ty| array_dimensions(entries, ty, MAX_CHAIN));
            found.push((kernel, LocalVariable { name, offset, bytes, dimensions }));
        }
    }
    found
}

/// The dimensions of an array, the slowest first; none of another type.
fn array_dimensions(entries: &[Entry], ty: u64, left: usize) -> Vec<u64> {
    let (Some(i), Some(left)) = (find(entries, ty), left.checked_sub(1)) else { return Vec::new() };
    match (entries[i].tag, entries[i].bytes, entries[i].ty) {
        (TAG_ARRAY, None, _) => {
            let below = entries[i + 1..].iter().take_while(|d| d.parent >= Some(i)).take(MAX_DEPTH);
            let below = below.filter(|d| d.parent == Some(i) && d.tag == TAG_SUBRANGE);
            // Each variable asks: of hostile arrays only so many.
            below.take(MAX_DIMENSIONS).filter_map(|d| d.elements).collect()
        }
        (_, None, Some(ty)) => array_dimensions(entries, ty, left),
        _ => Vec::new(),
    }
}

/// Bytes of types: each is looked at once, however often it is named.
struct Sizes<'a> {
    entries: &'a [Entry],
    known: BTreeMap<u64, Option<u64>>,
}

impl Sizes<'_> {
    /// Bytes of the type at a place; `None` where they cannot be told.
    fn of(&mut self, ty: u64, left: usize) -> Option<u64> {
        if let Some(known) = self.known.get(&ty) {
            return *known;
        }
        let size = self.compute(ty, left);
        self.known.insert(ty, size);
        size
    }

    fn compute(&mut self, ty: u64, left: usize) -> Option<u64> {
        let entries = self.entries;
        let i = find(entries, ty)?;
        let e = &entries[i];
        match (e.tag, e.bytes) {
            (_, Some(bytes)) => Some(bytes),
            (TAG_POINTER, None) => Some(8),
            (TAG_ARRAY, None) => {
                let element = self.of(e.ty?, left.checked_sub(1)?)?;
                let below = entries[i + 1..].iter().take_while(|d| d.parent >= Some(i));
                let mut dimensions = below.filter(|d| d.parent == Some(i) && d.tag == TAG_SUBRANGE);
                dimensions.try_fold(element, |n, d| n.checked_mul(d.elements?))
            }
            _ => self.of(e.ty?, left.checked_sub(1)?),
        }
    }
}

/// The entry at a place.
fn find(entries: &[Entry], at: u64) -> Option<usize> {
    entries.binary_search_by_key(&at, |e| e.at).ok()
}

/// What an entry of a kind consists of.
struct Kind {
    tag: u64,
    children: bool,
    attributes: Vec<(u64, u64)>,
}

fn read_abbreviations(abbrev: &[u8], offset: u64) -> Result<BTreeMap<u64, Kind>, String> {
    let at = usize::try_from(offset)
        .ok()
        .filter(|at| *at <= abbrev.len())
        .ok_or("its abbreviations are missing")?;
    let mut r = Reader { bytes: abbrev, at };
    let mut kinds = BTreeMap::new();
    loop {
        let code = r.leb()?;
        if code == 0 {
            return Ok(kinds);
        }
        if kinds.len() as u64 >= MAX_KINDS {
            return Err("there are too many abbreviations".into());
        }
        let (tag, children) = (r.leb()?, r.number(1)? != 0);
        let mut attributes = Vec::new();
        loop {
            let (name, form) = (r.leb()?, r.leb()?);
            if (name, form) == (0, 0) {
                break;
            }
            attributes.push((name, form));
        }
        kinds.insert(code, Kind { tag, children, attributes });
    }
}

/// The value of an attribute.
enum Value<'a> {
    Number(u64),
    Text(String),
    Block(&'a [u8]),
    Other,
}

fn value<'a>(r: &mut Reader<'a>, form: u64, address_bytes: usize, unit: u64) -> Result<Value<'a>, String> {
    let block = |r: &mut Reader<'a>, n: u64| {
        usize::try_from(n).map_err(|_| "a block is cut off".to_owned()).and_then(|n| r.take(n))
    };
    Ok(match form {
        0x01 => {
            r.take(address_bytes)?;
            Value::Other
        }
        0x03 => {
            let n = r.number(2)?;
            Value::Block(block(r, n)?)
        }
        0x04 => {
            let n = r.number(4)?;
            Value::Block(block(r, n)?)
        }
        0x0a => {
            let n = r.number(1)?;
            Value::Block(block(r, n)?)
        }
        0x09 | 0x18 => {
            let n = r.leb()?;
            Value::Block(block(r, n)?)
        }
        0x05 => Value::Number(r.number(2)?),
        0x06 => Value::Number(r.number(4)?),
        0x07 => Value::Number(r.number(8)?),
        0x0b => Value::Number(r.number(1)?),
        // Counts of elements are written signed.
        0x0d => Value::Number(u64::try_from(r.signed()?).unwrap_or(0)),
        0x0f => Value::Number(r.leb()?),
        0x08 => Value::Text(r.text()?),
        0x0c => {
            r.take(1)?;
            Value::Other
        }
        0x0e | 0x17 => {
            r.take(4)?;
            Value::Other
        }
        0x10 => Value::Number(r.number(4)?),
        // References into the unit.
        0x11 => Value::Number(unit.saturating_add(r.number(1)?)),
        0x12 => Value::Number(unit.saturating_add(r.number(2)?)),
        0x13 => Value::Number(unit.saturating_add(r.number(4)?)),
        0x14 => Value::Number(unit.saturating_add(r.number(8)?)),
        0x15 => Value::Number(unit.saturating_add(r.leb()?)),
        0x19 => Value::Other,
        0x20 => {
            r.take(8)?;
            Value::Other
        }
        form => return Err(format!("an attribute of form {form:#x}")),
    })
}

/// Longest name that is kept, in characters.
const MAX_NAME: usize = 200;

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(n).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| format!("it ends at {:#x}, inside of an entry", self.bytes.len()))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn number(&mut self, bytes: usize) -> Result<u64, String> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
    }

    fn leb(&mut self) -> Result<u64, String> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.number(1)?;
            n |= (byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        Err("a number that is too long".into())
    }

    fn signed(&mut self) -> Result<i64, String> {
        let mut n = 0i64;
        for shift in (0..64).step_by(7) {
            let byte = self.number(1)?;
            n |= ((byte & 0x7f) as i64) << shift;
            if byte < 0x80 {
                let unused = 63i32.saturating_sub(shift + 6).max(0);
                return Ok(n << unused >> unused);
            }
        }
        Err("a number that is too long".into())
    }

    fn text(&mut self) -> Result<String, String> {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|b| *b == 0).ok_or("a name that does not end")?;
        self.at += end + 1;
        let text = String::from_utf8_lossy(&rest[..end]);
        Ok(text
            .chars()
            .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
            .take(MAX_NAME)
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kinds: 1 unit, 2 subprogram with a name, 3 variable with a name and a type, 4 base type, 5 array, 6 its
    /// dimension, 7 subprogram of an origin, 8 inlined, 9 variable of an origin with a place.
    const KINDS: &[u8] = &[
        1, 0x11, 1, 0, 0, //
        2, 0x2e, 1, 0x03, 0x08, 0, 0, //
        3, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0, 0, //
        4, 0x24, 0, 0x0b, 0x0b, 0, 0, //
        5, 0x01, 1, 0x49, 0x13, 0, 0, //
        6, 0x21, 0, 0x37, 0x0d, 0, 0, //
        7, 0x2e, 1, 0x31, 0x13, 0, 0, //
        8, 0x1d, 1, 0x31, 0x13, 0, 0, //
        9, 0x34, 0, 0x31, 0x13, 0x02, 0x18, 0, 0, //
        0,
    ];

    /// `local int first[3][16]; local int second;` of a kernel that is inlined into itself, and a variable elsewhere.
    fn unit() -> Vec<u8> {
        let mut b = vec![0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1];
        let kernel = b.len() as u8;
        b.extend(b"\x02k\0");
        let first = b.len() as u8;
        b.extend(b"\x03first\0\0\0\0\0");
        let second = b.len() as u8;
        b.extend(b"\x03second\0\0\0\0\0\0");
        let int = b.len() as u8;
        b.extend([4, 4]);
        let array = b.len() as u8;
        b.extend([5, int, 0, 0, 0, 6, 3, 6, 16, 0]);
        (b[first as usize + 7], b[second as usize + 8]) = (array, int);
        b.extend([7, kernel, 0, 0, 0, 8, kernel, 0, 0, 0]);
        for (variable, place) in
            [(second, [192, 0, 0, 0, 0, 0, 0, 0x0a]), (first, [0, 0, 0, 0, 0, 0, 0, 0x0a])]
        {
            b.extend([9, variable, 0, 0, 0, 9, 0x0e]);
            b.extend(place);
        }
        b.extend([9, second, 0, 0, 0, 9, 0x0e, 1, 0, 0, 0, 0, 0, 0, 0x0b]);
        b.extend([0, 0, 0]);
        b[0] = b.len() as u8 - 4;
        b
    }

    #[test]
    fn local_variables_have_places_and_sizes() {
        let mut info = unit();
        let found = local_variables(&info, KINDS).expect("sound");
        let all: Vec<_> = found["k"].iter().map(|v| (v.name.as_str(), v.offset, v.bytes)).collect();
        assert_eq!((found.len(), all), (1, vec![("first", 0, 192), ("second", 192, 4)]));
        let dimensions: Vec<&[u64]> = found["k"].iter().map(|v| &v.dimensions[..]).collect();
        assert_eq!(dimensions, [&[3, 16][..], &[]]);
        // References are relative to their unit.
        info.extend(unit());
        assert_eq!(local_variables(&info, KINDS).expect("sound"), found);
    }

    #[test]
    fn damaged_information_is_refused_or_read() {
        let info = unit();
        for n in 1..info.len() {
            assert!(local_variables(&info[..n], KINDS).is_err(), "{n}");
        }
        for n in 0..KINDS.len() - 1 {
            assert!(local_variables(&info, &KINDS[..n]).is_err(), "{n}");
        }
        // Whatever a byte is changed to: it ends, and says something.
        for at in 0..info.len() {
            for value in [0, 1, 5, 0x7f, 0x80, 0xff] {
                let mut bad = info.clone();
                bad[at] = value;
                let _ = local_variables(&bad, KINDS);
            }
        }
        for at in 0..KINDS.len() {
            for value in [0, 1, 8, 0x16, 0x7f, 0x80, 0xff] {
                let mut bad = KINDS.to_vec();
                bad[at] = value;
                let _ = local_variables(&info, &bad);
            }
        }
    }

    #[test]
    fn types_that_are_of_themselves_have_no_size() {
        let entries = [Entry { at: 7, tag: 0x16, ty: Some(7), ..Entry::default() }];
        assert_eq!(Sizes { entries: &entries, known: BTreeMap::new() }.of(7, MAX_CHAIN), None);
    }
}
