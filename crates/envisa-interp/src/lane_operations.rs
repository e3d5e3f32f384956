//! What each operation computes in a channel: names for the functions of `envisa-sem`.

use envisa_sem::math::{Function, MathUnit};
use envisa_sem::{Bf, Float, Hf, Int, Mode, Sum, int, math, round_to_odd};

use crate::alu::Alu;
use crate::math_unit::Unit;

macro_rules! int_ops {
    ($t:ty: $($name:ident |$a:pat_param, $b:pat_param, $c:pat_param, $aux:pat_param| $e:expr;)*) => {$(
        impl Alu<$t> for $name {
            #[inline(always)]
            fn compute_lane<M: Mode>($a: $t, $b: $t, $c: $t, $aux: u32, _: M) -> $t {
                $e
            }
        }
    )*};
}

macro_rules! float_ops {
    ($t:ty: $($name:ident $(as $sum:ident)? |$a:pat_param, $b:pat_param, $c:pat_param, $m:pat_param| $e:expr;)*) => {$(
        impl Alu<$t> for $name {
            const MODAL: bool = true;
            $(const SUM: Option<Sum> = Some(Sum::$sum);)?
            #[inline(always)]
            fn compute_lane<M: Mode>($a: $t, $b: $t, $c: $t, _: u32, $m: M) -> $t {
                $e
            }
        }
    )*};
}

macro_rules! names {
    ($($name:ident)*) => {$(pub(crate) struct $name;)*};
}

names! {
    Add Add3 Mul Mad Lrp Min Max Avg Div Mod And Or Xor Not Shl Shr Asr Rol Ror FunnelShift Bfn Bfe Bfrev Cbit Fbh
    Fbl Lzd Inv Rsqrt Sqrt Exp Log Pow Sin Cos Tanh Sigm Frc Rndd Rndu Rnde Rndz Copy Mulh RolD RorD Dp4a
    AddOdd MulOdd MadOdd DivOdd SqrtOdd
}

macro_rules! common_int {
    ($($t:ty)*) => {$(
        int_ops! { $t:
            Add |a, b, _, _| Int::add(a, b);
            Add3 |a, b, c, _| Int::add3(a, b, c);
            Mul |a, b, _, _| Int::mul(a, b);
            Mad |a, b, c, _| Int::mad(a, b, c);
            Min |a, b, _, _| Ord::min(a, b);
            Max |a, b, _, _| Ord::max(a, b);
            Avg |a, b, _, _| Int::avg(a, b);
            Div |a, b, _, _| Int::div(a, b);
            Mod |a, b, _, _| Int::rem(a, b);
            And |a, b, _, _| a & b;
            Or |a, b, _, _| a | b;
            Xor |a, b, _, _| a ^ b;
            Not |a, _, _, _| !a;
            Shl |a, b, _, _| Int::shl(a, b as u32);
            Shr |a, b, _, _| Int::shr(a, b as u32);
            Asr |a, b, _, _| Int::asr(a, b as u32);
            Bfn |a, b, c, table| Int::bfn(a, b, c, table as u8);
            Copy |a, _, _, _| a;
        }
    )*};
}
common_int! { i32 u32 i64 u64 }

int_ops! { u32:
    RolD |a, b, _, _| Int::rol(a, b);
    RorD |a, b, _, _| Int::ror(a, b);
    // The signs of the packed sources are in bits 0 and 1.
    Dp4a |a, b, c, signs| {
        let byte = |x: u32, k: u32, sign: u32| {
            let x = x >> (8 * k) & 0xff;
            // Bit 7 counts negatively where the bytes are signed.
            x.wrapping_sub((x & 0x80) << 1 & 0u32.wrapping_sub(sign))
        };
        let product = |k| byte(b, k, signs & 1).wrapping_mul(byte(c, k, signs >> 1 & 1));
        let dot = product(0).wrapping_add(product(1)).wrapping_add(product(2)).wrapping_add(product(3));
        a.wrapping_add(dot)
    };
    Rol |a, b, _, bits| match bits {
        8 => (a as u8).rol(b) as u32,
        16 => (a as u16).rol(b) as u32,
        _ => Int::rol(a, b),
    };
    Ror |a, b, _, bits| match bits {
        8 => (a as u8).ror(b) as u32,
        16 => (a as u16).ror(b) as u32,
        _ => Int::ror(a, b),
    };
    FunnelShift |a, b, _, by| a << by | b >> (32 - by);
    Bfe |width, offset, value, _| int::bfe_u(width, offset, value);
    Bfrev |a, _, _, _| int::bfrev(a);
    Cbit |a, _, _, _| int::cbit(a);
    Fbh |a, _, _, _| int::fbh_u(a);
    Fbl |a, _, _, _| int::fbl(a);
    Lzd |a, _, _, _| int::lzd(a);
}
int_ops! { u32: Mulh |a, b, _, _| int::mulh(a, b); }
int_ops! { i32: Mulh |a, b, _, _| int::mulh(a, b) as i32; }
int_ops! { u64:
    Rol |a, b, _, _| Int::rol(a, b as u32);
    Ror |a, b, _, _| Int::ror(a, b as u32);
    Cbit |a, _, _, _| int::cbit(a) as u64;
}
int_ops! { i32:
    Bfe |width, offset, value, _| int::bfe_s(width as u32, offset as u32, value);
    Fbh |a, _, _, _| int::fbh_s(a) as i32;
}

macro_rules! common_float {
    ($($t:ty)*) => {$(
        float_ops! { $t:
            Add as Add |a, b, _, m| Float::add(a, b, m);
            Mul |a, b, _, m| Float::mul(a, b, m);
            Mad as Mad |a, b, c, m| Float::mad(a, b, c, m);
            Div |a, b, _, m| Float::div(a, b, m);
            Sqrt |a, _, _, m| Float::sqrt(a, m);
            Min |a, b, _, m| Float::min(a, b, m);
            Max |a, b, _, m| Float::max(a, b, m);
            Lrp |a, b, c, m| Float::lrp(a, b, c, m);
            Frc |a, _, _, m| Float::frc(a, m);
            Rndd |a, _, _, m| Float::rndd(a, m);
            Rndu |a, _, _, m| Float::rndu(a, m);
            Rnde |a, _, _, m| Float::rnde(a, m);
            Rndz |a, _, _, m| Float::rndz(a, m);
        }
        int_ops! { $t: Copy |a, _, _, _| a; }
    )*};
}
common_float! { f32 f64 Hf Bf }

float_ops! { f64:
    AddOdd as Add |a, b, _, m| round_to_odd::add(a, b, m);
    MulOdd |a, b, _, m| round_to_odd::mul(a, b, m);
    MadOdd as Mad |a, b, c, m| round_to_odd::mad(a, b, c, m);
    DivOdd |a, b, _, m| round_to_odd::div(a, b, m);
    SqrtOdd |a, _, _, m| round_to_odd::sqrt(a, m);
}

macro_rules! math_unit {
    ($($t:ty)*) => {$(
        float_ops! { $t:
            Inv |a, _, _, m| MathUnit::inv(a, m);
            Rsqrt |a, _, _, m| MathUnit::rsqrt(a, m);
            Exp |a, _, _, m| MathUnit::exp(a, m);
            Log |a, _, _, m| MathUnit::log(a, m);
            Pow |a, b, _, m| MathUnit::pow(a, b, m);
            Sin |a, _, _, m| MathUnit::sin(a, m);
            Cos |a, _, _, m| MathUnit::cos(a, m);
            Tanh |a, _, _, m| MathUnit::tanh(a, m);
            Sigm |a, _, _, m| MathUnit::sigm(a, m);
        }
        math_unit! { @names $t: Inv Rsqrt Exp Log Pow Sin Cos Tanh Sigm }
    )*};
    (@names $t:ty: $($name:ident)*) => {$(
        impl Unit<$t> for $name {
            const FUNCTION: Function = Function::$name;
        }
    )*};
}
math_unit! { f32 Hf }
float_ops! { f64:
    Inv |a, _, _, m| math::inv_df(a, m);
    Rsqrt |a, _, _, m| math::rsqrt_df(a, m);
}
