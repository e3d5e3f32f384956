//! Control flow, barriers, calls, and what cannot be executed.

use envisa_lower::{Dst, Op, Src};

use crate::cpu_level::Kernel;
use crate::operand::{inst, read_scalar, write_general};
use crate::registers::Operands;
use crate::{At, exec_mask};
use envisa_machine::thread::{Machine, Mask, STOP, Status};
use envisa_machine::trap::Cause;

/// Channels that take a branch: with one channel, all active ones by the first's predicate.
#[inline(always)]
fn channels_taking_branch(m: &Machine<'_>, c: At<'_>) -> Mask {
    if c.channels == 1 {
        let go = c.pred == 0 || crate::pred_mask(m, c) & 1 != 0;
        if go { m.t.mask } else { 0 }
    } else {
        exec_mask(m, c) << c.first & m.t.mask
    }
}

/// A place where channels join.
pub(crate) struct JoinK;

impl Kernel for JoinK {
    #[inline(always)]
    fn run(m: &mut Machine<'_>, _: At<'_>, pc: u32) -> u32 {
        m.join(pc);
        pc + 1
    }
}

/// `goto`.
pub(crate) struct GotoK;

impl Kernel for GotoK {
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let taken = channels_taking_branch(m, c);
        m.branch_channels(taken, c.aux, pc + 1)
    }
}

/// `ret`, and `fret`.
pub(crate) struct RetK;

impl Kernel for RetK {
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let leaving = channels_taking_branch(m, c);
        m.ret(leaving, pc)
    }
}

/// Nothing.
pub(crate) struct NopK;

impl Kernel for NopK {
    #[inline(always)]
    fn run(_: &mut Machine<'_>, _: At<'_>, pc: u32) -> u32 {
        pc + 1
    }
}

/// Memory is coherent here; the fence keeps the compiler and the host's CPU from reordering.
pub(crate) struct FenceK;

impl Kernel for FenceK {
    fn run(_: &mut Machine<'_>, _: At<'_>, pc: u32) -> u32 {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        pc + 1
    }
}

/// The rest.
pub(crate) struct ControlK;

impl Kernel for ControlK {
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let i = inst(m, pc);
        match i.op {
            Op::Call => {
                let taken = channels_taking_branch(m, c);
                m.call(taken, c.aux, None, pc)
            }
            Op::Fcall => {
                let taken = channels_taking_branch(m, c);
                m.call(taken, 0, Some(c.aux), pc)
            }
            Op::Ifcall => {
                let taken = channels_taking_branch(m, c);
                if taken == 0 {
                    return pc + 1;
                }
                let Some(address) = read_scalar(m, pc, &i.src[0]) else { return STOP };
                let low = address as u32;
                let found = m.env.function_addresses.iter().position(|a| *a as u32 == low);
                match found {
                    Some(f) if f != 0 => m.call(taken, 0, Some(f as u32), pc),
                    _ => m.fault(pc, None, Cause::BadCall(address)),
                }
            }
            Op::Faddr => match m.env.symbols.get(c.aux as usize) {
                Some(a) if *a != 0 => {
                    if write_general(m, pc, &i.dst, 1, &[*a]) {
                        pc + 1
                    } else {
                        STOP
                    }
                }
                _ => {
                    let name = m.env.program.symbols().get(c.aux as usize).cloned().unwrap_or_default();
                    m.fault(pc, None, Cause::Symbol(name))
                }
            },
            Op::SwitchJmp => {
                let Some(index) = read_scalar(m, pc, &i.src[0]) else { return STOP };
                let taken = channels_taking_branch(m, c);
                let table = m.env.program.tables().get(c.aux as usize);
                match table.and_then(|t| t.get(usize::try_from(index).ok()?)) {
                    Some(target) => m.branch_channels(taken, *target, pc + 1),
                    None => m.fault(pc, None, Cause::BadIndex(index)),
                }
            }
            Op::ChannelEnables => {
                if let Dst::Reg { offset, .. } = i.dst {
                    if c.aux == 1 {
                        let now = m.t.time();
                        m.t.regs.set(offset, now);
                    } else {
                        let mask = m.t.mask;
                        m.t.regs.set(offset, mask);
                    }
                }
                pc + 1
            }
            Op::Barrier => m.suspend(pc + 1, Status::Barrier),
            Op::SplitBarrier => {
                if c.aux == 1 {
                    m.t.signals += 1;
                    pc + 1
                } else {
                    m.t.waits += 1;
                    m.suspend(pc + 1, Status::SplitWait)
                }
            }
            Op::NamedBarrier => named_barrier(m, c, pc),
            Op::Unsupported => {
                // Channels that do not run it do not miss it.
                if i.channels > 1 && exec_mask(m, c) == 0 {
                    return pc + 1;
                }
                let u = &m.env.program.unsupported()[c.aux as usize];
                m.fault(pc, None, Cause::Unsupported { name: u.name, reason: u.reason.clone() })
            }
            Op::End => m.fault(pc, None, Cause::FellOff),
            _ => {
                debug_assert!(matches!(i.dst, Dst::None), "no handler for {:?}", i.op);
                m.fault(
                    pc,
                    None,
                    Cause::Unsupported { name: "instruction", reason: format!("{:?} has no handler", i.op) },
                )
            }
        }
    }
}

/// Signals a named barrier or waits for it.
fn named_barrier(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
    let i = inst(m, pc);
    let Some(id) = read_scalar(m, pc, &i.src[0]) else { return STOP };
    let id = (id & 31) as usize;
    if c.aux == 1 {
        let Some(threads) = read_scalar(m, pc, &i.src[1]) else { return STOP };
        let mut threads = threads as u32 & 0xff;
        let mut weight = 1;
        if i.src[2] != Src::None {
            // Arrivals of producers and of consumers; most threads are both.
            let Some(kind) = read_scalar(m, pc, &i.src[2]) else { return STOP };
            let Some(consumers) = read_scalar(m, pc, &i.src[3]) else { return STOP };
            threads += consumers as u32 & 0xff;
            weight = if kind & 3 == 0 { 2 } else { 1 };
        }
        m.group.named[id].0 += weight;
        m.group.named[id].1 = threads.max(1);
        pc + 1
    } else {
        m.suspend(pc + 1, Status::Named(id as u8))
    }
}
