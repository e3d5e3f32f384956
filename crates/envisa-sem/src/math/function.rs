//! The functions of [`single`] by name.

use super::single;
use crate::lanes::{Apply, Host, Lanes, Scalar};

/// A function of the math unit over singles.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Function {
    /// 1 / x.
    Inv,
    /// 1 / √x.
    Rsqrt,
    /// 2^x.
    Exp,
    /// log2 x.
    Log,
    /// x^y.
    Pow,
    /// sin x.
    Sin,
    /// cos x.
    Cos,
    /// tanh x.
    Tanh,
    /// 1 / (1 + e^−x).
    Sigm,
}

impl Function {
    /// All of them.
    pub const ALL: [Function; 9] = [
        Function::Inv,
        Function::Rsqrt,
        Function::Exp,
        Function::Log,
        Function::Pow,
        Function::Sin,
        Function::Cos,
        Function::Tanh,
        Function::Sigm,
    ];

    /// The instruction's name.
    pub const fn name(self) -> &'static str {
        match self {
            Function::Inv => "inv",
            Function::Rsqrt => "rsqrt",
            Function::Exp => "exp",
            Function::Log => "log",
            Function::Pow => "pow",
            Function::Sin => "sin",
            Function::Cos => "cos",
            Function::Tanh => "tanh",
            Function::Sigm => "sigm",
        }
    }

    /// Does it take two values?
    pub const fn is_binary(self) -> bool {
        matches!(self, Function::Pow)
    }

    /// Its bits from one value's (or two's).
    #[inline(always)]
    pub fn of(self, x: u32, y: u32) -> u32 {
        self.apply(&mut Scalar, x, y)
    }

    /// Its values for each element of `a` (and `b`), by bits.
    ///
    /// # Panics
    /// The slices' lengths differ or are not a multiple of 16.
    pub fn map(self, host: Host, a: &[u32], b: &[u32], out: &mut [u32]) {
        macro_rules! each {
            ($($name:ident)*) => {
                match self {
                    $(Function::$name => host.map(Of::<{ Function::$name as u8 }>, a, b, out),)*
                }
            };
        }
        each! { Inv Rsqrt Exp Log Pow Sin Cos Tanh Sigm }
    }
}

/// The function of this number, known when a loop around it is compiled.
#[derive(Clone, Copy)]
struct Of<const F: u8>;

impl<const F: u8> Apply for Of<F> {
    #[inline(always)]
    fn apply<L: Lanes>(self, l: &mut L, x: L::V, y: L::V) -> L::V {
        Function::ALL[F as usize].apply(l, x, y)
    }
}

impl Apply for Function {
    #[inline(always)]
    fn apply<L: Lanes>(self, l: &mut L, x: L::V, y: L::V) -> L::V {
        match self {
            Function::Inv => single::inv(l, x),
            Function::Rsqrt => single::rsqrt(l, x),
            Function::Exp => single::exp2(l, x),
            Function::Log => single::log2(l, x),
            Function::Pow => single::pow(l, x, y),
            Function::Sin => single::sin(l, x),
            Function::Cos => single::cos(l, x),
            Function::Tanh => single::tanh(l, x),
            Function::Sigm => single::sigm(l, x),
        }
    }
}
