//! Handlers of predicates as values: `mov` from one, `setp`, and logic between them.

use envisa_lower::{Dst, Shape, Src};

use crate::cpu_level::Kernel;
use crate::operand::{inst, read_general, write_general};
use crate::registers::Operands;
use crate::special_forms::{as_int, set_predicate};
use crate::{At, exec_mask};
use envisa_machine::thread::{Machine, STOP};

/// `mov` from a predicate.
pub(crate) struct MovPredK;

impl Kernel for MovPredK {
    fn run(m: &mut Machine<'_>, _: At<'_>, pc: u32) -> u32 {
        let i = inst(m, pc);
        if let Src::Pred { offset, invert } = i.src[0] {
            let bits: u32 = m.t.regs.get(offset);
            let bits = if invert { !bits } else { bits };
            if !write_general(m, pc, &as_int(i.dst), 1, &[bits]) {
                return STOP;
            }
        }
        pc + 1
    }
}

/// `setp`: all bits of a scalar, whatever the execution mask; or the lowest bit of each channel's element.
pub(crate) struct SetpK;

impl Kernel for SetpK {
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let i = inst(m, pc);
        let n = c.channels as usize;
        let scalar = match i.src[0] {
            Src::Reg { shape, .. } => shape == Shape::Scalar,
            Src::Indirect { strides, per_address_log2, .. } => {
                per_address_log2 >= 5 && strides.shape(n as u32) == Shape::Scalar
            }
            _ => true,
        };
        let (mask, bits) = if scalar {
            let mut x = [0u32];
            if !read_general(m, pc, &i.src[0], 1, &mut x) {
                return STOP;
            }
            (c.full, x[0])
        } else {
            let mask = exec_mask(m, c);
            let mut x = [0u32; 32];
            if !read_general(m, pc, &i.src[0], mask, &mut x[..n]) {
                return STOP;
            }
            (mask, x[..n].iter().enumerate().fold(0, |bits, (k, x)| bits | (x & 1) << k))
        };
        if let Dst::Pred { offset } = i.dst {
            // The source's bit 0 is the instruction's first channel.
            set_predicate(m, c, offset, mask, bits);
        }
        pc + 1
    }
}

/// `and or xor not` of predicates.
pub(crate) struct PredLogicK;

impl Kernel for PredLogicK {
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let i = inst(m, pc);
        let mask = exec_mask(m, c) << c.first;
        let bits = |m: &Machine<'_>, s: &Src| match *s {
            Src::Pred { offset, invert } => {
                let b: u32 = m.t.regs.get(offset);
                if invert { !b } else { b }
            }
            _ => 0,
        };
        let (a, b) = (bits(m, &i.src[0]), bits(m, &i.src[1]));
        let r = match c.aux {
            0x88 => a & b,
            0xee => a | b,
            0x66 => a ^ b,
            _ => !a,
        };
        if let Dst::Pred { offset } = i.dst {
            let old: u32 = m.t.regs.get(offset);
            m.t.regs.set(offset, old & !mask | r & mask);
        }
        pc + 1
    }
}
