//! What lowering and its optimiser know of each operation: a row each. An operation without one does not compile.

use crate::program::Op;

/// How the types of operands are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operands {
    /// As they are written.
    AsWritten,
    /// So many sources are copied: bits, where all types are the same float.
    Copied(usize),
    /// Bits: floats as unsigned integers of their size.
    Bits,
    /// Source 0 is unsigned.
    FirstUnsigned,
    /// Source 0 is signed.
    FirstSigned,
    /// Source 0 is unsigned, and its size is how far bits go round.
    Rotated,
}

/// Which operands make integers 64 bits wide.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// Any source, or the destination.
    Any,
    /// Source 0, of a shift: its count has as many bits as that says (page ROL).
    First,
    /// Source 0 or the destination, of a shift (page SHL; the hardware, and the compiler's folding of constants).
    FirstOrResult,
    /// None: there is no such instruction.
    Never,
}

/// The type that serves the usual integers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum IntegerType {
    /// A signed one, of 32 or 64 bits.
    Signed,
    /// An unsigned one, of 32 or 64 bits.
    Unsigned,
    /// An unsigned one of 32 bits.
    U32,
    /// A signed one of 64 bits.
    I64,
    /// Of 32 bits with the sign of this source.
    SignOf(usize),
    /// Signed if a source is.
    Compared,
    /// Source 0's, as unsigned and signed differ in saturation and in conversion to a float.
    Copied,
    /// What holds the product of both sources: the high half depends on each one's sign.
    HighHalf,
}

/// What is looked at as a number, rather than as bits that may be cut to the destination's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumericOperands {
    /// Nothing that the usual type does not hold.
    Nothing,
    /// What no usual type may hold.
    Everything,
    /// The result, if it saturates or becomes a float.
    Result,
    /// The same, and so many sources then.
    ResultOf(usize),
    /// So many sources.
    Sources(usize),
    /// Both sources, and the quotient, which is beyond their type for the smallest number by -1.
    Quotient,
    /// The sum of so many sources, if the result is looked at.
    Sum(usize),
    /// The product of both, if the result is looked at.
    Product,
    /// The product of two and a third, if the result is looked at.
    ProductAndSum,
}

/// What is known of an operation.
pub(crate) struct OpFacts {
    pub operands: Operands,
    pub width: Width,
    pub usual: IntegerType,
    pub numbers: NumericOperands,
    /// It does nothing but write its destination, and is dropped where nobody reads that.
    pub pure: bool,
    /// Each channel computes for itself.
    pub by_channel: bool,
    /// A result of 16 bits from sources of 32 is rounded once.
    pub rounds_once: bool,
    /// There is an operation on `bf` itself; others compute in `f`.
    pub on_bf: bool,
}

impl OpFacts {
    /// An operation by channels that computes in the signed type.
    const COMPUTES: OpFacts = OpFacts {
        operands: Operands::AsWritten,
        width: Width::Any,
        usual: IntegerType::Signed,
        numbers: NumericOperands::Nothing,
        pure: true,
        by_channel: true,
        rounds_once: false,
        on_bf: false,
    };
    /// One that stays even if nobody reads its result.
    const STAYS: OpFacts = OpFacts { pure: false, ..OpFacts::COMPUTES };
    /// One that does something else than compute.
    const ACTS: OpFacts = OpFacts { pure: false, by_channel: false, ..OpFacts::COMPUTES };
    const BITS: OpFacts =
        OpFacts { operands: Operands::Bits, numbers: NumericOperands::Result, ..OpFacts::COMPUTES };
    const COMPARES: OpFacts =
        OpFacts { usual: IntegerType::Compared, numbers: NumericOperands::Sources(2), ..OpFacts::COMPUTES };
    const U32: OpFacts = OpFacts { width: Width::Never, usual: IntegerType::U32, ..OpFacts::COMPUTES };
    const ROTATES: OpFacts = OpFacts {
        operands: Operands::Rotated,
        width: Width::First,
        usual: IntegerType::Unsigned,
        ..OpFacts::COMPUTES
    };
    const SHIFTS: OpFacts = OpFacts { width: Width::FirstOrResult, ..OpFacts::COMPUTES };
}

impl Op {
    /// What is known of it.
    pub(crate) const fn facts(self) -> OpFacts {
        use Op::*;
        const COMPUTES: OpFacts = OpFacts::COMPUTES;
        const STAYS: OpFacts = OpFacts::STAYS;
        const U32: OpFacts = OpFacts::U32;
        match self {
            Mov => OpFacts {
                operands: Operands::Copied(1),
                usual: IntegerType::Copied,
                numbers: NumericOperands::ResultOf(1),
                on_bf: true,
                ..COMPUTES
            },
            Sel => OpFacts {
                operands: Operands::Copied(2),
                usual: IntegerType::Copied,
                numbers: NumericOperands::ResultOf(2),
                on_bf: true,
                ..COMPUTES
            },
            MovPred | Pick => OpFacts { by_channel: false, ..COMPUTES },
            Cmp | Min | Max => OpFacts { on_bf: true, ..OpFacts::COMPARES },
            Avg => OpFacts::COMPARES,
            Add => OpFacts { numbers: NumericOperands::Sum(2), rounds_once: true, on_bf: true, ..COMPUTES },
            Add3 => OpFacts { numbers: NumericOperands::Sum(3), ..COMPUTES },
            Add3o => OpFacts { numbers: NumericOperands::Everything, ..OpFacts::ACTS },
            Addc | Subb => U32,
            Mul => OpFacts { numbers: NumericOperands::Product, rounds_once: true, on_bf: true, ..COMPUTES },
            Mulh => OpFacts { usual: IntegerType::HighHalf, ..COMPUTES },
            Mad => OpFacts {
                numbers: NumericOperands::ProductAndSum,
                rounds_once: true,
                on_bf: true,
                ..COMPUTES
            },
            Madw => OpFacts { usual: IntegerType::I64, ..OpFacts::ACTS },
            Div => OpFacts {
                numbers: NumericOperands::Quotient,
                rounds_once: true,
                pure: false,
                ..OpFacts::COMPARES
            },
            Mod => OpFacts { pure: false, ..OpFacts::COMPARES },
            And | Or | Xor | Not | Bfn => OpFacts::BITS,
            Shl => OpFacts { numbers: NumericOperands::Result, ..OpFacts::SHIFTS },
            Shr => {
                OpFacts { operands: Operands::FirstUnsigned, usual: IntegerType::Unsigned, ..OpFacts::SHIFTS }
            }
            Asr => OpFacts {
                operands: Operands::FirstSigned,
                numbers: NumericOperands::Sources(1),
                ..OpFacts::SHIFTS
            },
            Rol | Ror => OpFacts::ROTATES,
            Bfe => OpFacts { usual: IntegerType::SignOf(2), ..U32 },
            Fbh => OpFacts { usual: IntegerType::SignOf(0), ..U32 },
            Bfi | Bfrev | Fbl | Lzd => U32,
            Cbit => OpFacts { usual: IntegerType::Unsigned, ..COMPUTES },
            FunnelShift | PredLogic | Lrp | Frc | Rndd | Rndu | Rnde | Rndz => COMPUTES,
            Sqrt => OpFacts { rounds_once: true, ..STAYS },
            Inv | Rsqrt | Exp | Log | Pow | Sin | Cos => STAYS,
            // The optimiser leaves them alone.
            Sad2 | Sad2add | Dp4a | Pln | Line | Dp2 | Dp3 | Dp4 | Dph | Tanh | Sigm | Divm | Sqrtm
            | Invm | Rsqtm | Fcvt | Srnd | Dnscl | ShflIdx4 => OpFacts::ACTS,
            Setp => OpFacts { pure: true, ..OpFacts::ACTS },
            Dpas | Dpasw | Bdpas | ChannelEnables | Join | Goto | Call | Ret | Fcall | Ifcall | Fret
            | Faddr | SwitchJmp | Barrier | SplitBarrier | NamedBarrier | Fence | Message | Unsupported
            | End | Nop => OpFacts::ACTS,
        }
    }
}
