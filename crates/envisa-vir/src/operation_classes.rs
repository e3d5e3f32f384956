//! What operations are to the IR: the one place that looks at all of them. A new operation has to be given a class here,
//! or nothing compiles; with [`Class::Interpreted`] it runs without a meaning in the IR.

use envisa_lower::{ExecType, Op};
use envisa_sem::FpMode;

use envisa_isa::Type as Number;

use crate::inst::Arith;

/// What an operation is to the IR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// [`Inst::Arith`](crate::Inst::Arith) of so many operands.
    Arith(u8),
    /// The same, with a second result of dwords.
    Two(u8),
    /// The same, whose second result is a mask.
    Early(u8),
    /// Copies, converting.
    Move,
    /// Chooses by predicate.
    Select,
    /// Compares.
    Compare,
    /// Of predicates: logic, from a variable, to a variable.
    #[allow(missing_docs)]
    PredicateLogic,
    #[allow(missing_docs)]
    SetPredicate,
    #[allow(missing_docs)]
    PredicateMove,
    /// The execution mask, or the time.
    Enables,
    /// A place where channels join.
    Join,
    /// A branch.
    Goto,
    /// Channels leave.
    Return,
    /// The thread waits, always.
    Barrier,
    /// The thread signals or waits, as `aux` says (1: it signals).
    Split,
    /// Orders accesses.
    Fence,
    /// A message.
    Message,
    /// Nothing.
    Nothing,
    /// It always faults.
    Fault,
    /// No function is built of a program with it.
    Refused(&'static str),
    /// The interpreter executes it, and why.
    Interpreted(&'static str),
}

/// The class of an operation.
pub const fn class(op: Op) -> Class {
    match op {
        Op::Not | Op::Bfrev | Op::Cbit | Op::Fbh | Op::Fbl | Op::Lzd => Class::Arith(1),
        Op::Inv | Op::Rsqrt | Op::Sqrt | Op::Exp | Op::Log | Op::Sin | Op::Cos | Op::Tanh | Op::Sigm => {
            Class::Arith(1)
        }
        Op::Sqrtm | Op::Frc | Op::Rndd | Op::Rndu | Op::Rnde | Op::Rndz => Class::Arith(1),
        Op::Add | Op::Mul | Op::Mulh | Op::Div | Op::Mod | Op::Min | Op::Max | Op::Avg => Class::Arith(2),
        Op::And | Op::Or | Op::Xor | Op::Shl | Op::Shr | Op::Asr | Op::Rol | Op::Ror => Class::Arith(2),
        Op::Pow | Op::Divm => Class::Arith(2),
        Op::Add3 | Op::Mad | Op::Lrp | Op::Bfn | Op::Bfe | Op::Dp4a => Class::Arith(3),
        Op::Bfi => Class::Arith(4),
        // By values only: its second result is a mask.
        Op::Add3o => Class::Early(3),
        Op::Addc | Op::Subb => Class::Two(2),
        Op::Madw => Class::Two(3),
        Op::Invm => Class::Early(2),
        Op::Rsqtm => Class::Early(1),
        Op::Mov => Class::Move,
        Op::Sel => Class::Select,
        Op::Cmp => Class::Compare,
        Op::PredLogic => Class::PredicateLogic,
        Op::Setp => Class::SetPredicate,
        Op::MovPred => Class::PredicateMove,
        Op::ChannelEnables => Class::Enables,
        Op::Join => Class::Join,
        Op::Goto => Class::Goto,
        Op::Ret => Class::Return,
        Op::Barrier => Class::Barrier,
        Op::SplitBarrier | Op::NamedBarrier => Class::Split,
        Op::Fence => Class::Fence,
        Op::Message => Class::Message,
        Op::Nop => Class::Nothing,
        Op::End => Class::Fault,
        Op::Call | Op::Fcall | Op::Ifcall | Op::Fret => Class::Refused("it calls"),
        Op::SwitchJmp => Class::Refused("it jumps through a table"),
        Op::Faddr => Class::Interpreted("an address of a symbol"),
        Op::Dpas | Op::Dpasw | Op::Bdpas => Class::Interpreted("a product of matrices"),
        Op::Unsupported => Class::Interpreted("what is not supported"),
        Op::Sad2 | Op::Sad2add | Op::Pln | Op::Line | Op::Dp2 | Op::Dp3 | Op::Dp4 | Op::Dph => {
            Class::Interpreted("an operation across channels")
        }
        Op::Fcvt | Op::Srnd | Op::Dnscl | Op::ShflIdx4 => Class::Interpreted("a format that no variable has"),
    }
}

/// Operands of an arithmetic operation; 0 if it is none.
pub const fn arity(op: Op) -> usize {
    match class(op) {
        Class::Arith(n) | Class::Two(n) | Class::Early(n) => n as usize,
        _ => 0,
    }
}

/// The type that an execution type computes in, and whether it rounds to odd; `None` if it computes by values or nothing.
pub const fn number(exec: ExecType) -> Option<(Number, bool)> {
    Some(match exec {
        ExecType::I32 => (Number::D, false),
        ExecType::U32 => (Number::Ud, false),
        ExecType::I64 => (Number::Q, false),
        ExecType::U64 => (Number::Uq, false),
        ExecType::F32 => (Number::F, false),
        ExecType::F64 => (Number::Df, false),
        ExecType::F16 => (Number::Hf, false),
        ExecType::Bf16 => (Number::Bf, false),
        ExecType::Odd => (Number::Df, true),
        ExecType::Wide | ExecType::None => return None,
    })
}

impl Arith {
    /// An operation on integers or, in the usual mode, on floats.
    pub const fn new(op: Op, number: Number) -> Arith {
        Arith { op, number, odd: false, negate: 0, aux: 0, mode: FpMode::OPENCL }
    }
}
