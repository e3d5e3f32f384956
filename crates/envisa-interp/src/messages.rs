//! Handlers of messages.
#![allow(unsafe_code)]

use std::marker::PhantomData;

use envisa_lower::{Inst, Message, Program};

use envisa_machine::cpu::{Isa, Level};
use envisa_machine::messages::Drops;
use envisa_machine::messages::precomputed::{self, Done, Element, Plan, Reach, Sum};
use envisa_machine::register_file::Registers;
use envisa_machine::thread::{Machine, Mask};

use crate::cpu_level::{Handler, Kernel, Vectors, base_handler};
use crate::{At, exec_mask};

/// The handler of a message.
pub(crate) fn choose_handler(l: Level, i: &Inst, p: &Program) -> Handler {
    let message = &p.messages()[i.aux as usize];
    let file = p.registers().bytes;
    let Some(l) = Vectors::of(l) else { return base_handler::<GeneralK>() };
    let Message::Simt(s) = message else {
        return match message {
            Message::Block(_) => l.handler::<BlockK>(),
            Message::Atomic(a) if Sum::new(a, file).is_some() => match i.channels {
                1 => l.handler::<SumK<1>>(),
                8 => l.handler::<SumK<8>>(),
                16 => l.handler::<SumK<16>>(),
                32 => l.handler::<SumK<32>>(),
                _ => base_handler::<GeneralK>(),
            },
            _ => base_handler::<GeneralK>(),
        };
    };
    if Plan::new(s, file).is_none() {
        return base_handler::<GeneralK>();
    }
    macro_rules! channels {
        ($e:ty, $s:ty, $w:literal) => {
            match i.channels {
                1 => l.handler::<SimtK<$e, $s, 1, 1, $w>>(),
                8 => l.handler::<SimtK<$e, $s, 8, 8, $w>>(),
                16 => l.handler::<SimtK<$e, $s, 16, 16, $w>>(),
                32 => l.handler::<SimtK<$e, $s, 32, 16, $w>>(),
                _ => base_handler::<GeneralK>(),
            }
        };
    }
    match (s.element, s.slot, s.write) {
        (4, 4, false) => channels!(u32, u32, false),
        (4, 4, true) => channels!(u32, u32, true),
        (2, 4, false) => channels!(u16, u32, false),
        (2, 4, true) => channels!(u16, u32, true),
        (1, 4, false) => channels!(u8, u32, false),
        (1, 4, true) => channels!(u8, u32, true),
        (4 | 8, 8, false) => channels!(u64, u64, false),
        (4 | 8, 8, true) => channels!(u64, u64, true),
        _ => base_handler::<GeneralK>(),
    }
}

/// What the fast code wants to know of a message, found once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fast {
    /// A gather or scatter.
    Simt(Plan),
    /// An atomic that adds.
    Sum(Sum),
    /// There is no fast code for it.
    None,
}

/// Of a program's messages.
pub(crate) fn plan_messages(p: &Program) -> Vec<Fast> {
    let len = Registers::size(p.registers().bytes);
    let plan = |m: &Message| match m {
        Message::Simt(s) => Plan::new(s, len).map_or(Fast::None, Fast::Simt),
        Message::Atomic(a) => Sum::new(a, len).map_or(Fast::None, Fast::Sum),
        _ => Fast::None,
    };
    p.messages().iter().map(plan).collect()
}

/// Executes it in full generality, telling the observer if there is one.
#[inline(never)]
fn execute_general(m: &mut Machine<'_>, c: At<'_>, pc: u32, mask: Mask) -> u32 {
    m.message(pc, c.aux(), mask, c.channels(), c.first())
}

/// Gathers and scatters: `E` in memory, `S` in registers, `N` channels in parts of `G`.
struct SimtK<E, S, const N: usize, const G: usize, const WRITE: bool>(PhantomData<(E, S)>);

impl<E: Element, S: Element, const N: usize, const G: usize, const WRITE: bool> Kernel
    for SimtK<E, S, N, G, WRITE>
{
    #[inline(always)]
    fn run_with<const L: u8>(isa: Isa<L>, m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        let (env, slm, scratch) = (m.env, m.slm, m.t.scratch);
        let i = c.aux() as usize;
        let told = !m.t.untold && (!env.is_quiet(i, &m.hints[i]) || WRITE && m.t.stores_told);
        let (Some(Fast::Simt(plan)), false) = (c.code.plans().get(i), told) else {
            return execute_general(m, c, pc, mask);
        };
        let far = |regs: &Registers| {
            let Some(Message::Simt(s)) = env.program.messages().get(i) else {
                unreachable!("plans are made of gathers and scatters");
            };
            (s, env.message_ports(slm, scratch, regs))
        };
        let near = Reach { memory: env.memory, slm };
        let (site, regs) = (&mut m.hints[i], &mut m.t.regs);
        // SAFETY: `choose` chose this kernel for a message that passes `check`, by its types and channels; the plan
        // was made with it, and threads have register files of their program's length.
        let done = unsafe {
            precomputed::gather_scatter::<E, S, N, G, WRITE, L>(isa, (plan, site), regs, mask, near, far)
        };
        match done {
            Ok(Done::Yes) => pc + 1,
            Ok(Done::Not) => pc,
            Ok(Done::Rarely) => execute_general(m, c, pc, mask),
            Err(f) => m.message_fault(pc, c.first(), f),
        }
    }
}

/// Blocks.
struct BlockK;

impl Kernel for BlockK {
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if m.env.observed {
            return execute_general(m, c, pc, mask);
        }
        let ports = m.env.message_ports(m.slm, m.t.scratch, &m.t.regs);
        let Some(Message::Block(b)) = m.env.program.messages().get(c.aux() as usize) else { return pc + 1 };
        let (site, regs) = (&mut m.hints[c.aux() as usize], &mut m.t.regs);
        let mut drops = Drops::default();
        // SAFETY: the message is one of the program, whose check says that it is inside of the register file.
        match unsafe { precomputed::block(b, site, regs, mask, &ports, &mut drops) } {
            Ok(()) if drops.first.is_some() => {
                m.dropped(pc, c.first(), &drops);
                pc + 1
            }
            Ok(()) => pc + 1,
            Err(f) => m.message_fault(pc, c.first(), f),
        }
    }
}

/// Atomics that add, of `N` channels.
struct SumK<const N: usize>;

impl<const N: usize> Kernel for SumK<N> {
    #[inline(always)]
    fn run_with<const L: u8>(isa: Isa<L>, m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        let (env, slm, scratch) = (m.env, m.slm, m.t.scratch);
        let i = c.aux() as usize;
        let told = env.observed && !m.t.untold;
        let (Some(Fast::Sum(sum)), false) = (c.code.plans().get(i), told) else {
            return execute_general(m, c, pc, mask);
        };
        let far = |regs: &Registers| {
            let Some(Message::Atomic(a)) = env.program.messages().get(i) else {
                unreachable!("sums are made of atomics");
            };
            (&a.space, env.message_ports(slm, scratch, regs))
        };
        let near = Reach { memory: env.memory, slm };
        // SAFETY: as in `SimtK`.
        if unsafe { precomputed::sum::<N, L>(isa, (sum, &m.hints[i]), &mut m.t.regs, mask, near, far) } {
            return pc + 1;
        }
        execute_general(m, c, pc, mask)
    }
}

/// All others.
struct GeneralK;

impl Kernel for GeneralK {
    fn run(m: &mut Machine<'_>, c: At<'_>, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        execute_general(m, c, pc, mask)
    }
}
