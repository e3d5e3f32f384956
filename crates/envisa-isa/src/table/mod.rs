//! The instruction table: one row an instruction, in the numbering of the specification.

mod common;
mod control;
mod dataport;
mod integer;
mod moves;
mod svm;

use crate::InstDesc;

macro_rules! ops {
    ($($variant:ident = $row:path,)*) => {
        /// An instruction: a row of the table. A `match` without a wildcard treats every row.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u16)]
        #[allow(missing_docs)]
        pub enum Op { $($variant,)* }

        /// All rows, in table order.
        pub static TABLE: &[&InstDesc] = &[$(&$row,)*];

        impl Op {
            /// Every instruction, in table order.
            pub const ALL: &[Op] = &[$(Op::$variant,)*];
        }
    };
}

ops! {
    Add = integer::ADD,
    Mov = moves::MOV,
    Cmp = moves::CMP,
    Subroutine = control::SUBROUTINE,
    Label = control::LABEL,
    Ret = control::RET,
    Scatter = dataport::SCATTER,
    OwordLdUnaligned = dataport::OWORD_LD_UNALIGNED,
    Min = moves::MIN,
    Max = moves::MAX,
    Gather4Typed = dataport::GATHER4_TYPED,
    SvmGather = svm::SVM_GATHER,
    Goto = control::GOTO,
    ScatterScaled = dataport::SCATTER_SCALED,
}

impl Op {
    /// The row.
    pub fn desc(self) -> &'static InstDesc {
        TABLE[self as usize]
    }

    /// The row for an opcode (and sub-opcode byte, for families) in a format version.
    ///
    /// Where several rows share an opcode (`min` and `max`), the first; the reader refines by its
    /// forms' fixed fields.
    pub fn from_binary(opcode: u8, sub: Option<u8>, version: (u8, u8)) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| {
            let d = op.desc();
            d.opcode == opcode && d.sub == sub && d.versions.contains(version)
        })
    }

    /// Does this opcode byte have a sub-opcode byte after it?
    pub fn has_sub(opcode: u8) -> bool {
        TABLE.iter().any(|d| d.opcode == opcode && d.sub.is_some())
    }
}
