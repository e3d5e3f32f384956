//! The math unit: a function of all channels at once, in the widest lanes that the CPU has.

use std::marker::PhantomData;

use envisa_machine::cpu::Level;
use envisa_machine::regs::Un;
use envisa_machine::thread::{Machine, STOP};
use envisa_sem::MathUnit;
use envisa_sem::math::Function;

use crate::alu::{Alu, modal, read_odd, source, write};
use crate::level::Kernel;
use crate::operand::Exec;
use crate::{At, exec_mask};

/// An operation that is a function of the math unit.
pub(crate) trait Unit<T>: Alu<T> {
    /// Which.
    const FUNCTION: Function;
}

/// `O` over channels of `T` with `S` plain sources, or if `G`, with operands in any form.
pub(crate) struct UnitK<O, T, const S: usize, const G: bool>(PhantomData<(O, T)>);

impl<O: Unit<T>, T: Exec + MathUnit, const S: usize, const G: bool> Kernel for UnitK<O, T, S, G> {
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        // Only flushing denormals is done in vectors.
        let Some(mode) = m.t.mode.nearest() else { return modal::<O, T, S>(m, c, pc, mask) };
        let mut held = [[Un::<T>::default(); 32]; 2];
        if G && !read_odd(m, c, pc, mask, &mut held[..S]) {
            return STOP;
        }
        let none = [Un::default(); 32];
        let [first, second] = &mut held;
        let a = source(m, c, 0, first);
        let b = if S > 1 { source(m, c, 1, second) } else { &none };
        // (Loops: `map` of arrays is not vectorised, and takes ten times as long as the function.)
        let (mut x, mut y, mut z) = ([0; 32], [0; 32], [0; 32]);
        for i in 0..32 {
            x[i] = a[i].get().flush(mode).single().to_bits();
            y[i] = b[i].get().flush(mode).single().to_bits();
        }
        let n = if c.channels <= 16 { 16 } else { 32 };
        O::FUNCTION.map(Level::lanes(), &x[..n], &y[..n], &mut z[..n]);
        let mut r = [T::default(); 32];
        for i in 0..32 {
            r[i] = T::from_single(z[i]).finish(mode);
        }
        write::<T, G, 32>(m, c, pc, mask, r)
    }
}
