//! The math unit: a function of all channels at once, in the widest lanes that the CPU has.

use std::marker::PhantomData;

use envisa_machine::cpu::Level;
use envisa_machine::thread::{Machine, STOP};
use envisa_sem::MathUnit;
use envisa_sem::math::Function;

use crate::alu::{Alu, gather, modal, write};
use crate::level::Kernel;
use crate::operand::Exec;
use crate::{At, exec_mask};

/// An operation that is a function of the math unit.
pub(crate) trait Unit<T>: Alu<T> {
    /// Which.
    const FUNCTION: Function;
}

/// `O` over channels of `T` with `S` plain sources, or if `G`, with operands in any form, in vectors of `N`, 16
/// or 32.
pub(crate) struct UnitK<O, T, const S: usize, const G: bool, const N: usize>(PhantomData<(O, T)>);

impl<O: Unit<T>, T: Exec + MathUnit, const S: usize, const G: bool, const N: usize> Kernel
    for UnitK<O, T, S, G, N>
{
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        // Only flushing denormals is done in vectors.
        let flushed = match (m.t.ieee, m.t.mode.nearest()) {
            (true, _) => None,
            (false, Some(mode)) => Some(mode),
            (false, None) => return modal::<O, T, S>(m, c, pc, mask),
        };
        let Some(a) = gather::<T, G, N>(m, c, pc, 0, mask) else { return STOP };
        let b = if S > 1 { gather::<T, G, N>(m, c, pc, 1, mask) } else { Some([T::default(); N]) };
        let Some(b) = b else { return STOP };
        // (Loops: `map` of arrays is not vectorised, and takes ten times as long as the function.)
        let (mut x, mut y, mut z) = ([0; N], [0; N], [0; N]);
        let mut r = [T::default(); N];
        match flushed {
            None => {
                for i in 0..N {
                    x[i] = a[i].single().to_bits();
                    y[i] = b[i].single().to_bits();
                }
                O::FUNCTION.map(Level::lanes(), &x, &y, &mut z);
                for i in 0..N {
                    r[i] = T::from_single(z[i]);
                }
            }
            Some(mode) => {
                for i in 0..N {
                    x[i] = a[i].flush(mode).single().to_bits();
                    y[i] = b[i].flush(mode).single().to_bits();
                }
                O::FUNCTION.map(Level::lanes(), &x, &y, &mut z);
                for i in 0..N {
                    r[i] = T::from_single(z[i]).finish(mode);
                }
            }
        }
        write::<T, G, N>(m, c, pc, mask, r)
    }
}
