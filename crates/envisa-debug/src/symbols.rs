//! Functions, variables and types, from a compiler's debug information.
//!
//! DWARF is read with `gimli`; places of variables are kept as the operations that compute them, which
//! [`crate::place`] executes. Places of code are those of native code, which does not run here: lines come with the
//! vISA, and which variables can be seen at a line is told by the braces of the source.

use crate::types::{Base, Field, Type, TypeId, Types};
use gimli::{
    AttributeValue, DebugAbbrev, DebugInfo, DebugStr, EndianSlice, LittleEndian, Reader as _, UnitOffset,
};
use std::collections::HashMap;

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Unit<'a> = gimli::UnitHeader<Slice<'a>>;

/// A variable or parameter.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name in the source.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// The line that declares it; 0 if none is told.
    pub line: u32,
    /// Is it a parameter?
    pub parameter: bool,
    /// The operations that compute its place; `None` if there are none for all of its life.
    pub place: Option<Vec<u8>>,
    /// A constant that it always is.
    pub constant: Option<Vec<u8>>,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Its name in the source.
    pub name: String,
    /// The line that declares it.
    pub line: u32,
    /// Its variables, in the order of the source.
    pub variables: Vec<Variable>,
}

/// All of a module.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// By name.
    pub functions: HashMap<String, Function>,
    /// Types.
    pub types: Types,
    /// Why debug information could not be read, or not all of it.
    pub trouble: Option<String>,
}

/// Most entries that are read, and how deep they may be nested.
const MAX_ENTRIES: usize = 1 << 20;
const MAX_DEPTH: usize = 128;

impl Symbols {
    /// Of the sections' bytes; what is damaged is told in [`Symbols::trouble`]. Where several kernels have units of their own
    /// (with kinds of entries of their own), this kernel's: variables of a function lie elsewhere where another calls it.
    pub fn read(info: &[u8], abbrev: &[u8], strings: &[u8], kernel: &str) -> Symbols {
        let told = |trouble: String| Symbols { trouble: Some(trouble), ..Symbols::default() };
        if info.is_empty() {
            return told("the module has no debug information: compile it with -g".into());
        }
        let sections = Sections {
            info: DebugInfo::new(info, LittleEndian),
            abbrev: DebugAbbrev::new(abbrev, LittleEndian),
            strings: DebugStr::new(strings, LittleEndian),
        };
        let mut units = sections.info.units();
        let mut left = MAX_ENTRIES;
        let mut all: Vec<(usize, Symbols)> = Vec::new();
        let mut damaged = None;
        loop {
            let unit = match units.next() {
                Ok(Some(unit)) => unit,
                Ok(None) => break,
                Err(e) => {
                    damaged = Some(e);
                    break;
                }
            };
            let kinds = unit.debug_abbrev_offset().0;
            if all.last().is_none_or(|(last, _)| *last != kinds) {
                all.push((kinds, Symbols::default()));
            }
            let Some((_, symbols)) = all.last_mut() else { break };
            if let Err(e) = symbols.unit(&sections, &unit, &mut left) {
                symbols.trouble = Some(format!("debug information is damaged: {e}"));
            }
        }
        let own = all.iter().position(|(_, s)| s.functions.contains_key(kernel)).unwrap_or(0);
        let mut symbols = all.into_iter().nth(own).map_or_else(Symbols::default, |(_, symbols)| symbols);
        if let Some(e) = damaged {
            symbols.trouble = Some(format!("debug information is damaged: {e}"));
        }
        symbols
    }

    fn unit(&mut self, s: &Sections<'_>, unit: &Unit<'_>, left: &mut usize) -> Result<(), gimli::Error> {
        let abbreviations = unit.abbreviations(&s.abbrev)?;
        let mut entries = Vec::new();
        let mut parents: Vec<usize> = Vec::new();
        let mut cursor = unit.entries(&abbreviations);
        while let Some(entry) = cursor.next_dfs()? {
            *left = left.checked_sub(1).ok_or(gimli::Error::TooManyRegisterRules)?;
            parents.truncate(usize::try_from(entry.depth()).unwrap_or(0));
            if parents.len() >= MAX_DEPTH {
                return Err(gimli::Error::StackFull);
            }
            let mut e = Entry::new(entry.tag().0, parents.last().copied(), entry.offset());
            for a in entry.attrs() {
                e.set(s, a.name().0, a.value());
            }
            entries.push(e);
            parents.push(entries.len() - 1);
        }
        let mut reading = Reading { entries: &entries, by_offset: HashMap::new(), types: HashMap::new() };
        reading.by_offset = entries.iter().enumerate().map(|(i, e)| (e.offset, i)).collect();
        for i in 0..entries.len() {
            if matches!(entries[i].tag, tag::VARIABLE | tag::PARAMETER) {
                self.variable(&mut reading, i);
            }
        }
        Ok(())
    }

    /// Adds a variable to its function: the outermost, as what is inlined is in its own frame here.
    fn variable(&mut self, r: &mut Reading<'_>, i: usize) {
        let e = &r.entries[i];
        let origin = e.origin.and_then(|o| r.at(o));
        let abstractly = e.place.is_none() && e.constant.is_none() && r.is_abstract(i);
        let (mut outer, mut inlined, mut parent) = (None, None, e.parent);
        while let Some(p) = parent {
            match r.entries[p].tag {
                tag::SUBPROGRAM => outer = Some(p),
                tag::INLINED if inlined.is_none() => inlined = Some(p),
                _ => {}
            }
            parent = r.entries[p].parent;
        }
        let named = |p: usize| {
            let e = &r.entries[p];
            let of = e.name.is_none().then(|| e.origin.and_then(|o| r.at(o))).flatten();
            of.map_or((e.name.clone(), e.line), |o| (o.name.clone(), o.line.or(e.line)))
        };
        let Some(outer) = outer.filter(|_| !abstractly) else { return };
        let (Some(function), line) = named(outer) else { return };
        // A variable that is inlined into its own function is the function's.
        let foreign = inlined.and_then(|p| named(p).0).filter(|n| *n != function);
        if foreign.is_some() && e.place.is_none() {
            return;
        }
        let pick = |of: fn(&Entry) -> Option<u64>| of(e).or_else(|| of(origin?));
        let Some(name) = e.name.clone().or_else(|| origin?.name.clone()) else { return };
        let ty = match pick(|e| e.ty.map(|t| t as u64)) {
            Some(ty) => self.types_of(r, ty as usize, MAX_DEPTH),
            None => self.types.unknown(),
        };
        let variable = Variable {
            name,
            ty,
            line: pick(|e| e.line.map(u64::from)).unwrap_or(0) as u32,
            parameter: e.tag == tag::PARAMETER,
            place: e.place.clone(),
            constant: e.constant.clone(),
        };
        let f = self.functions.entry(function.clone()).or_default();
        (f.name, f.line) = (function, line.unwrap_or(0));
        f.variables.push(variable);
    }

    /// The type at an offset.
    fn types_of(&mut self, r: &mut Reading<'_>, offset: usize, left: usize) -> TypeId {
        if let Some(known) = r.types.get(&offset) {
            return *known;
        }
        let id = self.types.unknown();
        // A type that contains itself, as by a pointer, finds this.
        let id = self.types.add(self.types.get(id).clone());
        r.types.insert(offset, id);
        let (Some(&i), Some(left)) = (r.by_offset.get(&offset), left.checked_sub(1)) else { return id };
        let entries = r.entries;
        let e = &entries[i];
        let mut inner = |me: &mut Symbols| match e.ty {
            Some(ty) => me.types_of(r, ty, left),
            None => me.types.void(),
        };
        let name = e.name.clone().unwrap_or_default();
        let ty = match e.tag {
            tag::BASE => Type::Base(name, Base::of(e.encoding.unwrap_or(0), e.bytes.unwrap_or(0))),
            tag::POINTER => Type::Pointer(inner(self), e.class),
            tag::TYPEDEF => Type::Alias(name, inner(self)),
            tag::CONST | tag::VOLATILE | tag::RESTRICT => Type::Alias(String::new(), inner(self)),
            tag::ENUM => {
                let children = entries.iter().filter(|c| c.parent == Some(i) && c.tag == tag::ENUMERATOR);
                let named = children.filter_map(|c| Some((c.name.clone()?, c.number?))).collect();
                Type::Enum(name, e.bytes.unwrap_or(4), named)
            }
            tag::STRUCT | tag::UNION => {
                let children: Vec<&Entry> = entries[i + 1..]
                    .iter()
                    .take_while(|c| c.parent >= Some(i))
                    .filter(|c| c.parent == Some(i))
                    .collect();
                let mut fields = Vec::new();
                for c in children.iter().filter(|c| c.tag == tag::MEMBER) {
                    let ty = match c.ty {
                        Some(t) => self.types_of(r, t, left),
                        None => self.types.unknown(),
                    };
                    let (name, offset) = (c.name.clone().unwrap_or_default(), c.offset_in.unwrap_or(0));
                    fields.push(Field { name, ty, offset });
                }
                Type::Struct(name, e.bytes.unwrap_or(0), fields)
            }
            tag::ARRAY => {
                let element = inner(self);
                let below = entries[i + 1..].iter().take_while(|c| c.parent >= Some(i));
                let counts: Vec<u64> = below
                    .filter(|c| c.parent == Some(i) && c.tag == tag::SUBRANGE)
                    .map(|c| c.count.unwrap_or(0))
                    .collect();
                if e.vector {
                    Type::Vector(element, counts.first().copied().unwrap_or(0))
                } else {
                    let mut ty = element;
                    for count in counts.iter().skip(1).rev() {
                        ty = self.types.add(Type::Array(ty, *count));
                    }
                    Type::Array(ty, counts.first().copied().unwrap_or(0))
                }
            }
            _ => return id,
        };
        self.types.set(id, ty);
        id
    }
}

struct Sections<'a> {
    info: DebugInfo<Slice<'a>>,
    abbrev: DebugAbbrev<Slice<'a>>,
    strings: DebugStr<Slice<'a>>,
}

/// Tags that are of use.
mod tag {
    pub const ARRAY: u16 = 0x01;
    pub const ENUM: u16 = 0x04;
    pub const PARAMETER: u16 = 0x05;
    pub const MEMBER: u16 = 0x0d;
    pub const POINTER: u16 = 0x0f;
    pub const STRUCT: u16 = 0x13;
    pub const TYPEDEF: u16 = 0x16;
    pub const UNION: u16 = 0x17;
    pub const INLINED: u16 = 0x1d;
    pub const SUBRANGE: u16 = 0x21;
    pub const BASE: u16 = 0x24;
    pub const CONST: u16 = 0x26;
    pub const ENUMERATOR: u16 = 0x28;
    pub const SUBPROGRAM: u16 = 0x2e;
    pub const VARIABLE: u16 = 0x34;
    pub const VOLATILE: u16 = 0x35;
    pub const RESTRICT: u16 = 0x37;
}

/// An entry, as far as it is of use.
#[derive(Debug, Default)]
struct Entry {
    tag: u16,
    parent: Option<usize>,
    offset: usize,
    name: Option<String>,
    origin: Option<usize>,
    ty: Option<usize>,
    bytes: Option<u64>,
    count: Option<u64>,
    encoding: Option<u64>,
    class: Option<u64>,
    number: Option<i64>,
    offset_in: Option<u64>,
    line: Option<u32>,
    place: Option<Vec<u8>>,
    constant: Option<Vec<u8>>,
    vector: bool,
    inline: bool,
}

/// Longest name that is kept.
const MAX_NAME: usize = 400;

impl Entry {
    fn new(tag: u16, parent: Option<usize>, offset: UnitOffset) -> Entry {
        Entry { tag, parent, offset: offset.0, ..Entry::default() }
    }

    fn set(&mut self, s: &Sections<'_>, name: u16, value: AttributeValue<Slice<'_>>) {
        let number = || value.udata_value().or_else(|| value.sdata_value().and_then(|n| n.try_into().ok()));
        let reference = || match value {
            AttributeValue::UnitRef(offset) => Some(offset.0),
            _ => None,
        };
        match name {
            0x03 => {
                let text = match value {
                    AttributeValue::String(s) => Some(s.to_string_lossy()),
                    AttributeValue::DebugStrRef(at) => {
                        s.strings.get_str(at).ok().map(|s| s.to_string_lossy())
                    }
                    _ => None,
                };
                let printable = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
                self.name = text.map(|t| t.chars().map(printable).take(MAX_NAME).collect());
            }
            0x02 => {
                if let Some(block) = block(&value) {
                    self.place = Some(block);
                }
            }
            0x0b => self.bytes = number(),
            // A constant: a block, or a number of whatever width.
            0x1c => {
                self.number = value.sdata_value().or_else(|| number().map(|n| n as i64));
                self.constant = block(&value).or_else(|| self.number.map(|n| n.to_le_bytes().to_vec()));
            }
            0x20 => self.inline = true,
            0x2f => self.count = number().and_then(|n| n.checked_add(1)),
            0x31 => self.origin = reference(),
            0x33 => self.class = number(),
            0x37 => self.count = number(),
            0x38 => self.offset_in = number(),
            0x3a => {}
            0x3b => self.line = number().and_then(|n| n.try_into().ok()),
            0x3e => {
                self.encoding = match value {
                    AttributeValue::Encoding(e) => Some(e.0.into()),
                    _ => number(),
                }
            }
            0x49 => self.ty = reference(),
            0x2107 => self.vector = true,
            _ => {}
        }
    }
}

fn block(value: &AttributeValue<Slice<'_>>) -> Option<Vec<u8>> {
    match value {
        AttributeValue::Exprloc(e) => e.0.to_slice().ok().map(|s| s.to_vec()),
        AttributeValue::Block(b) => b.to_slice().ok().map(|s| s.to_vec()),
        _ => None,
    }
}

struct Reading<'a> {
    entries: &'a [Entry],
    by_offset: HashMap<usize, usize>,
    types: HashMap<usize, TypeId>,
}

impl<'a> Reading<'a> {
    fn at(&self, offset: usize) -> Option<&'a Entry> {
        self.by_offset.get(&offset).map(|i| &self.entries[*i])
    }

    /// Is it in a function that is only there to be inlined?
    fn is_abstract(&self, i: usize) -> bool {
        let mut parent = self.entries[i].parent;
        while let Some(p) = parent {
            if self.entries[p].tag == tag::SUBPROGRAM {
                return self.entries[p].inline;
            }
            parent = self.entries[p].parent;
        }
        false
    }
}
