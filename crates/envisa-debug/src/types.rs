//! Types of the source, and how their values are written.

use half::f16;
use std::fmt::Write;

/// A type of [`Types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TypeId(usize);

/// A type.
#[derive(Clone, Debug)]
pub enum Type {
    /// Nothing.
    Void,
    /// One that could not be read.
    Unknown,
    /// A number.
    Base(String, Base),
    /// A pointer to a type, in an address space if that is told.
    Pointer(TypeId, Option<u64>),
    /// Another name; an empty one: a qualifier.
    Alias(String, TypeId),
    /// An enumeration: bytes, and its constants.
    Enum(String, u64, Vec<(String, i64)>),
    /// A structure or union: name, bytes, members.
    Struct(String, u64, Vec<Field>),
    /// An array of so many.
    Array(TypeId, u64),
    /// A vector of OpenCL C.
    Vector(TypeId, u64),
}

/// A member.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Where it starts.
    pub offset: u64,
}

/// A kind of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// Of so many bytes, signed.
    Signed(u64),
    /// Of so many bytes, unsigned.
    Unsigned(u64),
    /// Of so many bytes.
    Float(u64),
    /// Of so many bytes.
    Bool(u64),
}

impl Base {
    /// Of DWARF's encoding.
    pub fn of(encoding: u64, bytes: u64) -> Base {
        match encoding {
            2 => Base::Bool(bytes),
            4 => Base::Float(bytes),
            7 | 8 | 0x10 => Base::Unsigned(bytes),
            _ => Base::Signed(bytes),
        }
    }

    /// Its bytes.
    pub fn bytes(self) -> u64 {
        let (Base::Signed(n) | Base::Unsigned(n) | Base::Float(n) | Base::Bool(n)) = self;
        n
    }
}

/// A number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
}

impl Number {
    /// Of bytes of a kind; `None` of sizes that there are none of.
    pub fn read(base: Base, bytes: &[u8]) -> Option<Number> {
        let n = usize::try_from(base.bytes()).ok()?;
        let bytes = bytes.get(..n).filter(|_| n <= 8)?;
        let raw = bytes.iter().rev().fold(0u64, |x, b| x << 8 | u64::from(*b));
        Some(match base {
            Base::Signed(n) => {
                let unused = 64 - 8 * n.clamp(1, 8) as u32;
                Number::Int(((raw << unused) as i64 >> unused).into())
            }
            Base::Unsigned(_) | Base::Bool(_) => Number::Int(raw.into()),
            Base::Float(2) => Number::Float(f16::from_bits(raw as u16).into()),
            Base::Float(4) => Number::Float(f32::from_bits(raw as u32).into()),
            Base::Float(8) => Number::Float(f64::from_bits(raw)),
            Base::Float(_) => return None,
        })
    }

    /// As bytes of a kind.
    pub fn write(self, base: Base) -> Vec<u8> {
        let int = match self {
            Number::Int(n) => n,
            Number::Float(x) => x as i128,
        };
        let float = match self {
            Number::Int(n) => n as f64,
            Number::Float(x) => x,
        };
        match base {
            Base::Float(2) => f16::from_f64(float).to_le_bytes().to_vec(),
            Base::Float(4) => (float as f32).to_le_bytes().to_vec(),
            Base::Float(_) => float.to_le_bytes().to_vec(),
            Base::Bool(n) => u64::from(self.is_true()).to_le_bytes()[..n.min(8) as usize].to_vec(),
            Base::Signed(n) | Base::Unsigned(n) => int.to_le_bytes()[..n.min(8) as usize].to_vec(),
        }
    }

    /// Is it other than zero?
    pub fn is_true(self) -> bool {
        match self {
            Number::Int(n) => n != 0,
            Number::Float(x) => x != 0.0,
        }
    }
}

/// All types of a module, and those that expressions make.
#[derive(Clone, Debug)]
pub struct Types {
    all: Vec<Type>,
}

impl Default for Types {
    fn default() -> Types {
        Types { all: vec![Type::Void, Type::Unknown] }
    }
}

/// Longest chain of types that is followed, and most elements and characters that are written.
const MAX_CHAIN: usize = 64;
const MAX_ELEMENTS: u64 = 64;
const MAX_TEXT: usize = 4096;

impl Types {
    /// `void`.
    pub fn void(&self) -> TypeId {
        TypeId(0)
    }

    /// What could not be read.
    pub fn unknown(&self) -> TypeId {
        TypeId(1)
    }

    /// One more, or the same that there is.
    pub fn add(&mut self, ty: Type) -> TypeId {
        let known = self.all.iter().position(|t| match (t, &ty) {
            (Type::Pointer(a, c), Type::Pointer(b, d)) => (a, c) == (b, d),
            (Type::Array(a, m), Type::Array(b, n)) | (Type::Vector(a, m), Type::Vector(b, n)) => {
                (a, m) == (b, n)
            }
            _ => false,
        });
        if let Some(known) = known {
            return TypeId(known);
        }
        self.all.push(ty);
        TypeId(self.all.len() - 1)
    }

    pub(crate) fn set(&mut self, id: TypeId, ty: Type) {
        self.all[id.0] = ty;
    }

    /// A type.
    pub fn get(&self, id: TypeId) -> &Type {
        self.all.get(id.0).unwrap_or(&Type::Unknown)
    }

    /// Without other names and qualifiers.
    pub fn plain(&self, mut id: TypeId) -> TypeId {
        for _ in 0..MAX_CHAIN {
            match self.get(id) {
                Type::Alias(_, of) => id = *of,
                _ => return id,
            }
        }
        self.unknown()
    }

    /// The type itself, without other names.
    pub fn real(&self, id: TypeId) -> &Type {
        self.get(self.plain(id))
    }

    /// The kind of numbers that it is, if it is one.
    pub fn base(&self, id: TypeId) -> Option<Base> {
        match self.real(id) {
            Type::Base(_, base) => Some(*base),
            Type::Enum(_, n, _) => Some(Base::Signed(*n)),
            Type::Pointer(..) => Some(Base::Unsigned(8)),
            _ => None,
        }
    }

    /// Bytes of a value; 0 of what has none.
    pub fn bytes(&self, id: TypeId) -> u64 {
        self.size_to_depth(id, MAX_CHAIN)
    }

    fn size_to_depth(&self, id: TypeId, depth: usize) -> u64 {
        let Some(depth) = depth.checked_sub(1) else { return 0 };
        match self.real(id) {
            Type::Void | Type::Unknown | Type::Alias(..) => 0,
            Type::Base(_, base) => base.bytes(),
            Type::Pointer(..) => 8,
            Type::Enum(_, n, _) | Type::Struct(_, n, _) => *n,
            Type::Array(of, n) => self.size_to_depth(*of, depth).saturating_mul(*n),
            // Three take the room of four.
            Type::Vector(of, n) => {
                self.size_to_depth(*of, depth).saturating_mul(if *n == 3 { 4 } else { *n })
            }
        }
    }

    /// Its name, as the source has it.
    pub fn name(&self, id: TypeId) -> String {
        self.name_within(id, MAX_CHAIN)
    }

    fn name_within(&self, id: TypeId, left: usize) -> String {
        let Some(left) = left.checked_sub(1) else { return "…".into() };
        match self.get(id) {
            Type::Void => "void".into(),
            Type::Unknown => "an unknown type".into(),
            Type::Base(name, _) | Type::Enum(name, ..) => name.clone(),
            Type::Pointer(to, _) => format!("{}*", self.name_within(*to, left)),
            Type::Alias(name, of) if name.is_empty() => self.name_within(*of, left),
            Type::Alias(name, _) => name.clone(),
            Type::Struct(name, ..) if name.is_empty() => "struct".into(),
            Type::Struct(name, ..) => format!("struct {name}"),
            Type::Array(of, n) => {
                let (mut dimensions, mut element) = (format!("[{n}]"), *of);
                for _ in 0..left {
                    let Type::Array(of, n) = self.get(element) else { break };
                    let _ = write!(dimensions, "[{n}]");
                    element = *of;
                }
                format!("{}{dimensions}", self.name_within(element, left))
            }
            Type::Vector(of, n) => format!("{}{n}", self.name_within(*of, left)),
        }
    }

    /// A vector of a type, or a base type, by its name: `int`, `uchar`, `float4`.
    pub fn named(&mut self, name: &str) -> Option<TypeId> {
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let (of, n) = match digits.parse::<u64>() {
            Ok(n @ (2 | 3 | 4 | 8 | 16)) if name.ends_with(digits) => (&name[..name.len() - digits.len()], n),
            _ => (name, 1),
        };
        let base = match of {
            "char" => Base::Signed(1),
            "uchar" => Base::Unsigned(1),
            "bool" if n == 1 => Base::Bool(1),
            "short" => Base::Signed(2),
            "ushort" => Base::Unsigned(2),
            "int" => Base::Signed(4),
            "uint" | "unsigned" => Base::Unsigned(4),
            "long" | "ptrdiff_t" => Base::Signed(8),
            "ulong" | "size_t" => Base::Unsigned(8),
            "half" => Base::Float(2),
            "float" => Base::Float(4),
            "double" => Base::Float(8),
            _ => return self.declared(name),
        };
        let element = self.number(of, base);
        Some(if n == 1 { element } else { self.add(Type::Vector(element, n)) })
    }

    /// A type that the module names.
    fn declared(&self, name: &str) -> Option<TypeId> {
        let is = |ty: &Type| matches!(ty, Type::Alias(n, _) | Type::Struct(n, ..) | Type::Enum(n, ..) if n == name);
        self.all.iter().position(is).map(TypeId)
    }

    /// A base type.
    pub fn number(&mut self, name: &str, base: Base) -> TypeId {
        let known = self.all.iter().position(|t| matches!(t, Type::Base(n, b) if n == name && *b == base));
        known.map_or_else(|| self.add(Type::Base(name.to_owned(), base)), TypeId)
    }

    /// A value as it is shown, whole but not without end.
    pub fn show(&self, id: TypeId, bytes: &[u8]) -> String {
        let mut text = String::new();
        self.show_within(id, bytes, &mut text, MAX_CHAIN);
        text
    }

    fn show_within(&self, id: TypeId, bytes: &[u8], text: &mut String, left: usize) {
        let Some(left) = left.checked_sub(1).filter(|_| text.len() < MAX_TEXT) else {
            text.push('…');
            return;
        };
        match self.real(id) {
            Type::Pointer(..) => {
                let at = Number::read(Base::Unsigned(8), bytes);
                let _ = match at {
                    Some(Number::Int(n)) => write!(text, "{n:#x}"),
                    _ => write!(text, "?"),
                };
            }
            Type::Enum(_, n, names) => {
                let value = Number::read(Base::Signed(*n), bytes);
                let name = names.iter().find(|(_, v)| value == Some(Number::Int((*v).into())));
                match (name, value) {
                    (Some((name, _)), _) => text.push_str(name),
                    (None, Some(Number::Int(v))) => text.push_str(&v.to_string()),
                    _ => text.push('?'),
                }
            }
            Type::Base(name, base) => match Number::read(*base, bytes) {
                Some(Number::Int(n)) => {
                    let _ = write!(text, "{n}");
                    let printable = u8::try_from(n).is_ok_and(|c| c.is_ascii_graphic() || c == b' ');
                    if base.bytes() == 1 && name.contains("char") && printable {
                        let _ = write!(text, " '{}'", n as u8 as char);
                    }
                }
                Some(Number::Float(x)) => text.push_str(&float(x, *base)),
                None => text.push('?'),
            },
            Type::Struct(_, _, fields) => {
                text.push('{');
                for (i, f) in fields.iter().enumerate() {
                    let _ = write!(text, "{}{} = ", if i == 0 { "" } else { ", " }, f.name);
                    self.show_within(f.ty, bytes.get(f.offset as usize..).unwrap_or_default(), text, left);
                }
                text.push('}');
            }
            Type::Array(of, n) | Type::Vector(of, n) => {
                let vector = matches!(self.real(id), Type::Vector(..));
                text.push(if vector { '(' } else { '{' });
                let size = self.bytes(*of);
                for i in 0..(*n).min(MAX_ELEMENTS) {
                    text.push_str(if i == 0 { "" } else { ", " });
                    let from = size.saturating_mul(i) as usize;
                    self.show_within(*of, bytes.get(from..).unwrap_or_default(), text, left);
                }
                text.push_str(if *n > MAX_ELEMENTS { ", …" } else { "" });
                text.push(if vector { ')' } else { '}' });
            }
            Type::Void => text.push_str("nothing"),
            Type::Unknown | Type::Alias(..) => text.push('?'),
        }
    }
}

/// A float in as few digits as tell it from its neighbours.
fn float(x: f64, base: Base) -> String {
    match base {
        _ if x.is_nan() => "nan".into(),
        Base::Float(2) => format!("{:?}", f16::from_f64(x).to_f32()),
        Base::Float(4) => format!("{:?}", x as f32),
        _ => format!("{x:?}"),
    }
}
