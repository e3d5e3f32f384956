//! The handler of dwords that channels get from known places.

use envisa_lower::Src;

use crate::cpu_level::Kernel;
use crate::operand::{inst, write_general};
use crate::special_forms::as_int;
use crate::{At, exec_mask};
use envisa_machine::thread::{Machine, STOP};

/// `pick`: all dwords are read before any is written.
pub(crate) struct PickK;

impl Kernel for PickK {
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let (i, mask) = (inst(m, pc), exec_mask(m, c));
        let which = m.env.program.picks().get(c.aux as usize);
        let (Src::Reg { offset, .. }, Some(which)) = (i.src[0], which) else { return pc + 1 };
        let mut all = [0u32; 32];
        for (to, n) in all.iter_mut().zip(which) {
            *to = m.t.regs.peek(offset + 4 * u32::from(*n));
        }
        match write_general(m, pc, &as_int(i.dst), mask, &all[..c.channels as usize]) {
            true => pc + 1,
            false => STOP,
        }
    }
}
