//! Data types (specification chapter 2) and sets of them.

/// A vISA data type, numbered as in the binary.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Type {
    /// Unsigned 32-bit integer.
    Ud = 0,
    /// Signed 32-bit integer.
    D = 1,
    /// Unsigned 16-bit integer.
    Uw = 2,
    /// Signed 16-bit integer.
    W = 3,
    /// Unsigned 8-bit integer.
    Ub = 4,
    /// Signed 8-bit integer.
    B = 5,
    /// 64-bit float.
    Df = 6,
    /// 32-bit float.
    F = 7,
    /// Packed vector of eight signed 4-bit integers (immediates only).
    V = 8,
    /// Packed vector of four 8-bit restricted floats (immediates only).
    Vf = 9,
    /// One bit a channel (predicates).
    Bool = 10,
    /// Unsigned 64-bit integer.
    Uq = 11,
    /// Packed vector of eight unsigned 4-bit integers (immediates only).
    Uv = 12,
    /// Signed 64-bit integer.
    Q = 13,
    /// 16-bit float.
    Hf = 14,
    /// 16-bit brain float.
    Bf = 15,
}

impl Type {
    /// Every type, in the binary's order.
    pub const ALL: [Type; 16] = [
        Type::Ud,
        Type::D,
        Type::Uw,
        Type::W,
        Type::Ub,
        Type::B,
        Type::Df,
        Type::F,
        Type::V,
        Type::Vf,
        Type::Bool,
        Type::Uq,
        Type::Uv,
        Type::Q,
        Type::Hf,
        Type::Bf,
    ];

    /// The type with this number in the binary.
    pub const fn from_code(code: u8) -> Option<Type> {
        if code < 16 { Some(Self::ALL[code as usize]) } else { None }
    }

    /// Bytes one element takes; packed vectors and `bool` count as their container (4, 4, 4 and 1).
    pub const fn size(self) -> u32 {
        match self {
            Type::Ub | Type::B | Type::Bool => 1,
            Type::Uw | Type::W | Type::Hf | Type::Bf => 2,
            Type::Ud | Type::D | Type::F | Type::V | Type::Vf | Type::Uv => 4,
            Type::Df | Type::Uq | Type::Q => 8,
        }
    }

    /// The name in text, lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Type::Ud => "ud",
            Type::D => "d",
            Type::Uw => "uw",
            Type::W => "w",
            Type::Ub => "ub",
            Type::B => "b",
            Type::Df => "df",
            Type::F => "f",
            Type::V => "v",
            Type::Vf => "vf",
            Type::Bool => "bool",
            Type::Uq => "uq",
            Type::Uv => "uv",
            Type::Q => "q",
            Type::Hf => "hf",
            Type::Bf => "bf",
        }
    }

    /// The type of this name, in either case.
    pub fn from_name(name: &str) -> Option<Type> {
        Self::ALL.into_iter().find(|t| t.name().eq_ignore_ascii_case(name))
    }

    /// An integer type (not packed, not `bool`).
    pub const fn is_int(self) -> bool {
        TypeSet::INT.contains(self)
    }

    /// A floating-point type (not `vf`).
    pub const fn is_float(self) -> bool {
        TypeSet::FLOAT.contains(self)
    }

    /// A signed integer type.
    pub const fn is_signed(self) -> bool {
        matches!(self, Type::D | Type::W | Type::B | Type::Q)
    }

    /// A packed-vector immediate type.
    pub const fn is_packed(self) -> bool {
        matches!(self, Type::V | Type::Vf | Type::Uv)
    }
}

/// A set of types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TypeSet(pub u16);

impl TypeSet {
    /// No type.
    pub const NONE: TypeSet = TypeSet(0);
    /// Every integer type.
    pub const INT: TypeSet =
        TypeSet::of(&[Type::Ud, Type::D, Type::Uw, Type::W, Type::Ub, Type::B, Type::Uq, Type::Q]);
    /// Every floating-point type.
    pub const FLOAT: TypeSet = TypeSet::of(&[Type::F, Type::Hf, Type::Df, Type::Bf]);
    /// Every type.
    pub const ANY: TypeSet = TypeSet(0xffff);

    /// The set of these types.
    pub const fn of(types: &[Type]) -> TypeSet {
        let mut bits = 0;
        let mut i = 0;
        while i < types.len() {
            bits |= 1 << types[i] as u16;
            i += 1;
        }
        TypeSet(bits)
    }

    /// Is `t` in the set?
    pub const fn contains(self, t: Type) -> bool {
        self.0 & (1 << t as u16) != 0
    }

    /// Both sets together.
    pub const fn union(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 | other.0)
    }

    /// The types in the set, in the binary's order.
    pub fn iter(self) -> impl Iterator<Item = Type> {
        Type::ALL.into_iter().filter(move |t| self.contains(*t))
    }
}
