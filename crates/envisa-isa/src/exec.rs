//! Execution size and execution mask (specification chapter 3, "Table 4" of the pages).

/// Execution size and mask control of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Exec {
    /// log2 of the number of channels, 0 to 5 in valid code (up to 15 as read from a binary).
    pub log2: u8,
    /// Which quarter of the execution mask applies, and whether it is ignored.
    pub mask: ExecMask,
}

impl Exec {
    /// `(M1_NM, 1)`.
    pub const SCALAR_NM: Exec = Exec { log2: 0, mask: ExecMask(8) };

    /// Number of channels.
    pub const fn channels(self) -> u32 {
        1 << self.log2
    }

    /// The byte in the binary.
    pub const fn byte(self) -> u8 {
        self.log2 & 15 | self.mask.0 << 4
    }

    /// From the byte in the binary.
    pub const fn from_byte(b: u8) -> Exec {
        Exec { log2: b & 15, mask: ExecMask(b >> 4) }
    }

    /// From a number of channels; `None` unless 1, 2, 4, 8, 16 or 32.
    pub const fn from_channels(n: u32, mask: ExecMask) -> Option<Exec> {
        match n {
            1 | 2 | 4 | 8 | 16 | 32 => Some(Exec { log2: n.trailing_zeros() as u8, mask }),
            _ => None,
        }
    }
}

/// `M1` to `M8` (0 to 7) and `M1_NM` to `M8_NM` (8 to 15).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ExecMask(pub u8);

impl ExecMask {
    /// `M1`.
    pub const M1: ExecMask = ExecMask(0);
    /// `M1_NM`, also spelled `NoMask`.
    pub const M1_NM: ExecMask = ExecMask(8);

    /// First channel of the execution mask that the instruction looks at: 0, 4, 8, … 28.
    pub const fn first_channel(self) -> u32 {
        (self.0 as u32 & 7) * 4
    }

    /// The execution mask is ignored: every channel runs.
    pub const fn no_mask(self) -> bool {
        self.0 & 8 != 0
    }

    /// The name in text.
    pub const fn name(self) -> &'static str {
        const NAMES: [&str; 16] = [
            "M1", "M2", "M3", "M4", "M5", "M6", "M7", "M8", "M1_NM", "M2_NM", "M3_NM", "M4_NM", "M5_NM",
            "M6_NM", "M7_NM", "M8_NM",
        ];
        NAMES[(self.0 & 15) as usize]
    }

    /// From the name in text (`NoMask` is `M1_NM`).
    pub fn from_name(name: &str) -> Option<ExecMask> {
        if name == "NoMask" {
            return Some(ExecMask::M1_NM);
        }
        (0..16).map(ExecMask).find(|m| m.name() == name)
    }
}

/// How the channels of a predicate combine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Combine {
    /// Each channel by its own bit.
    #[default]
    None = 0,
    /// All channels run if any bit is set.
    Any = 1,
    /// All channels run if all bits are set.
    All = 2,
}

/// A predicate reference: `(P1)`, `(!P1.any)`; `id` 0 means no predication.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Pred {
    /// Predicate variable, from 1; 0 for none. At most 4095.
    pub id: u16,
    /// How channels combine.
    pub combine: Combine,
    /// `!`.
    pub invert: bool,
}

impl Pred {
    /// No predication.
    pub const NONE: Pred = Pred { id: 0, combine: Combine::None, invert: false };

    /// Is there a predicate at all?
    pub const fn is_some(self) -> bool {
        self.id != 0
    }

    /// The word in the binary: bits 0-11 id, 13-14 combine, 15 inverse.
    pub const fn word(self) -> u16 {
        self.id & 0xfff | (self.combine as u16) << 13 | (self.invert as u16) << 15
    }

    /// From the word in the binary; `None` if it has a bit or code that means nothing (bit 12, combine 3).
    pub const fn from_word(w: u16) -> Option<Pred> {
        let combine = match w >> 13 & 3 {
            0 => Combine::None,
            1 => Combine::Any,
            2 => Combine::All,
            _ => return None,
        };
        if w & 0x1000 != 0 {
            return None;
        }
        Some(Pred { id: w & 0xfff, combine, invert: w & 0x8000 != 0 })
    }
}
