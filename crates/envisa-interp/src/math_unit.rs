//! The math unit: a function of all channels at once, in the widest lanes that the CPU has.

use std::marker::PhantomData;

use envisa_machine::cpu::{Isa, Level};
use envisa_machine::thread::Machine;
use envisa_sem::math::Function;
use envisa_sem::{MathUnit, Nearest};

use crate::alu::{Alu, elements, execute_in_mode, store};
use crate::cpu_level::Kernel;
use crate::operand::Exec;
use crate::registers::Operands;
use crate::{At, exec_mask};

/// An operation that is a function of the math unit.
pub(crate) trait Unit<T>: Alu<T> {
    /// Which.
    const FUNCTION: Function;
}

/// `O` over channels of `T` with `S` plain sources.
pub(crate) struct UnitK<O, T, const S: usize>(PhantomData<(O, T)>);

impl<O: Unit<T>, T: Exec + MathUnit, const S: usize> Kernel for UnitK<O, T, S> {
    #[inline(always)]
    fn run_with<const L: u8>(isa: Isa<L>, m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        let flush = match (m.t.ieee, m.t.mode.nearest()) {
            (true, _) => None,
            (false, Some(mode)) => Some(mode),
            (false, None) => return execute_in_mode::<O, T, S>(m, c, pc, mask),
        };
        let a = elements::<T, L>(isa, m, c, 0);
        let b = if S > 1 { elements::<T, L>(isa, m, c, 1) } else { a };
        let (a, b) = (m.t.regs.at::<T, 32>(a), m.t.regs.at::<T, 32>(b));
        let (mut x, mut y, mut z) = ([0; 32], [0; 32], [0; 32]);
        let mut r = [T::default(); 32];
        // As many as the widest lanes are, or twice that.
        let n = if c.channels > 16 { 32 } else { 16 };
        // (Loops: `map` of arrays is not vectorised, and takes ten times as long as the function.)
        for i in 0..n {
            x[i] = operand(a[i].get(), flush);
            y[i] = operand(b[i].get(), flush);
        }
        O::FUNCTION.map(Level::lanes(), &x[..n], &y[..n], &mut z[..n]);
        match flush {
            None => {
                for i in 0..n {
                    r[i] = T::from_single(z[i]);
                }
            }
            Some(mode) => {
                for i in 0..n {
                    r[i] = T::from_single(z[i]).finish(mode);
                }
            }
        }
        store(m, c, mask, r);
        pc + 1
    }
}

/// An operand of a function. Only flushing denormals is done in vectors.
#[inline(always)]
fn operand<T: Exec + MathUnit>(x: T, flush: Option<Nearest>) -> u32 {
    match flush {
        None => x.single().to_bits(),
        Some(mode) => x.flush(mode).single().to_bits(),
    }
}
