//! Operands (specification chapter 5), compact: 16 bytes each.

use crate::{Exec, Pred, Type};

/// A source modifier, or saturation on a destination; numbered as in the binary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Modifier {
    /// None.
    #[default]
    None = 0,
    /// `(abs)`.
    Abs = 1,
    /// `(-)`.
    Neg = 2,
    /// `(-abs)`.
    NegAbs = 3,
    /// `.sat`, destinations only.
    Sat = 4,
    /// `(~)`, logic instructions only.
    Not = 5,
}

impl Modifier {
    /// From the code in the binary.
    pub const fn from_code(code: u8) -> Option<Modifier> {
        Some(match code {
            0 => Modifier::None,
            1 => Modifier::Abs,
            2 => Modifier::Neg,
            3 => Modifier::NegAbs,
            4 => Modifier::Sat,
            5 => Modifier::Not,
            _ => return None,
        })
    }
}

/// A region: element strides in the binary's form, `vstride | width << 4 | hstride << 8`, with the
/// codes 0 absent, 0→1, 1→2, 2→3, 4→4, 8→5, 16→6, 32→7. A destination has a horizontal stride only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Region(pub u16);

impl Region {
    /// `<0;1,0>`: one element for all channels.
    pub const SCALAR: Region = valid(Region::from_parts(Some(0), Some(1), Some(0)));
    /// `<1;1,0>`: consecutive elements.
    pub const CONTIGUOUS: Region = valid(Region::from_parts(Some(1), Some(1), Some(0)));
    /// `<1>`: a destination's consecutive elements.
    pub const DST1: Region = valid(Region::from_parts(None, None, Some(1)));

    /// The code of a stride or width.
    pub const fn code(n: u32) -> Option<u8> {
        Some(match n {
            0 => 1,
            1 => 2,
            2 => 3,
            4 => 4,
            8 => 5,
            16 => 6,
            32 => 7,
            _ => return None,
        })
    }

    /// The stride or width of a code; `None` for 0 (absent) and codes over 7.
    pub const fn value(code: u8) -> Option<u32> {
        match code {
            1 => Some(0),
            2 => Some(1),
            3 => Some(2),
            4 => Some(4),
            5 => Some(8),
            6 => Some(16),
            7 => Some(32),
            _ => None,
        }
    }

    /// From strides in elements, an absent part as `None`; `None` if a stride has no code.
    pub const fn from_parts(
        vstride: Option<u32>,
        width: Option<u32>,
        hstride: Option<u32>,
    ) -> Option<Region> {
        const fn part(n: Option<u32>) -> Option<u8> {
            match n {
                None => Some(0),
                Some(n) => Region::code(n),
            }
        }
        match (part(vstride), part(width), part(hstride)) {
            (Some(v), Some(w), Some(h)) => Some(Region(v as u16 | (w as u16) << 4 | (h as u16) << 8)),
            _ => None,
        }
    }

    /// Has every part a code that means something?
    #[inline]
    pub const fn is_valid(self) -> bool {
        self.0 & !0x777 == 0
    }

    /// Vertical stride in elements, if present.
    pub const fn vstride(self) -> Option<u32> {
        Self::value((self.0 & 15) as u8)
    }

    /// Width in elements, if present.
    pub const fn width(self) -> Option<u32> {
        Self::value((self.0 >> 4 & 15) as u8)
    }

    /// Horizontal stride in elements, if present.
    pub const fn hstride(self) -> Option<u32> {
        Self::value((self.0 >> 8 & 15) as u8)
    }
}

const fn valid(r: Option<Region>) -> Region {
    match r {
        Some(r) => r,
        None => panic!("a constant region is valid"),
    }
}

/// A general variable: below 32 predefined (see [`crate::predefined`]), declared ones from 32 in
/// declaration order.
pub type VarId = u32;

/// One operand or field of an instruction, in binary order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// Execution size and mask.
    Exec(Exec),
    /// The instruction's predicate, or none.
    Pred(Pred),
    /// A general operand: `(abs)V40(1,3)<8;8,1>`. Row in GRFs, column in elements.
    General {
        /// The variable.
        var: VarId,
        /// Row: GRFs from the variable's start.
        row: u8,
        /// Column: elements from the row's start.
        col: u8,
        /// Region of a source; of a destination only the horizontal stride.
        region: Region,
        /// Source modifier or saturation.
        modifier: Modifier,
    },
    /// An address operand: `A0(3)<8>`.
    Address {
        /// Address variable, from 0.
        id: u16,
        /// First element.
        offset: u8,
        /// log2 of the number of elements.
        width_log2: u8,
        /// Source modifier.
        modifier: Modifier,
    },
    /// A predicate as an operand: `P1`.
    Predicate(Pred),
    /// An indirect operand: `r[A0(0),16]<8;8,1>:ud`.
    Indirect {
        /// Address variable.
        addr: u16,
        /// First element of the address variable.
        offset: u8,
        /// Immediate byte offset added to the address.
        byte_offset: i16,
        /// Type of the elements.
        ty: Type,
        /// Region; a multi-address source lacks the vertical stride, or it and the width.
        region: Region,
        /// Source modifier or saturation.
        modifier: Modifier,
    },
    /// The address of a general variable: `&V32[36]`. Binary 4.1 writes it as a general operand.
    AddressOf {
        /// The variable.
        var: VarId,
        /// Byte offset into it.
        offset: u16,
    },
    /// An immediate: the bits as the binary holds them (4 bytes zero-extended; 8 for `df`, `q`, `uq`).
    Imm {
        /// Its type.
        ty: Type,
        /// Bits.
        bits: u64,
    },
    /// A state operand: `T6(0)`, `S0(1)`.
    State {
        /// Surface or sampler.
        class: StateClass,
        /// The variable (surfaces from 6, samplers from 0; below that predefined).
        id: u16,
        /// Element.
        offset: u8,
    },
    /// A raw operand: `V32.64`, byte offset.
    Raw {
        /// The variable; 0 is `%null`.
        var: VarId,
        /// Byte offset into it.
        offset: u16,
    },
    /// A surface handle of a memory message (`u8` in the binary): see [`crate::predefined::SURFACES`].
    Surface(u8),
    /// A sampler handle of a sampler message (`u8` in the binary).
    Sampler(u8),
    /// A surface or sampler of a sampler message by the 64-bit address of its state, from 4.2 on: `V56`,
    /// `(V56, 3)`.
    Handle {
        /// The variable that holds the address.
        var: VarId,
        /// Row: GRFs from the variable's start.
        row: u8,
        /// Column: elements from the row's start.
        col: u8,
        /// Which state from the address on, [`crate::limits::STATE_BYTES`] each.
        index: u32,
    },
    /// A label.
    Label(u16),
    /// A string, by its index in the object's pool.
    Str(u32),
    /// A plain or packed field; how it reads is in its slot's description.
    Int(u32),
}

/// Whether a state operand is a surface or a sampler; numbered as in the binary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum StateClass {
    /// `T`.
    Surface = 0,
    /// `S`.
    Sampler = 1,
}

const _: () = assert!(size_of::<Operand>() == 16);

impl Operand {
    /// `%null` as a raw operand.
    pub const RAW_NULL: Operand = Operand::Raw { var: 0, offset: 0 };

    /// The field's value, if this is a field.
    pub const fn int(self) -> Option<u32> {
        match self {
            Operand::Int(n) => Some(n),
            _ => None,
        }
    }

    /// The general operand by which an address of a surface's or sampler's state is read.
    pub const fn handle(self) -> Option<Operand> {
        match self {
            Operand::Handle { var, row, col, .. } => {
                Some(Operand::General { var, row, col, region: Region::SCALAR, modifier: Modifier::None })
            }
            _ => None,
        }
    }

    /// The modifier, `None` for operands that have none.
    pub const fn modifier(self) -> Modifier {
        match self {
            Operand::General { modifier, .. }
            | Operand::Address { modifier, .. }
            | Operand::Indirect { modifier, .. } => modifier,
            _ => Modifier::None,
        }
    }
}
