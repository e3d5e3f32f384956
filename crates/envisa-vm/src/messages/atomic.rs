//! Atomics on untyped memory.

use envisa_lower::Message;
use envisa_sem::atomic::{AtomicOp, AtomicWidth, Operands, apply, returned};

use super::untyped::{addresses, memory_fault};
use super::window::{Place, place};
use crate::exec::{Cell, Kernel, STOP, exec_mask};
use crate::thread::{Access, AccessKind, AccessSpace, Machine};
use crate::trap::Cause;

/// Every channel in turn, lowest first.
pub(super) struct AtomicK;

impl Kernel for AtomicK {
    fn run(m: &mut Machine<'_>, c: &Cell, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        let Some(Message::Atomic(a)) = m.env.program.messages.get(c.aux() as usize) else {
            return pc + 1;
        };
        let op = if a.lsc { AtomicOp::from_lsc_subop(a.code) } else { AtomicOp::from_legacy_code(a.code) };
        let Some(op) = op else {
            return m.fault(
                pc,
                None,
                Cause::Unsupported {
                    name: "atomic",
                    reason: format!("operator {:#x} means nothing", a.code),
                },
            );
        };
        let (width, size) = match a.element {
            2 => (AtomicWidth::W16, 2),
            8 => (AtomicWidth::W64, 8),
            _ => (AtomicWidth::W32, 4),
        };
        let spec = (a.address, a.address_bytes);
        let Some(at) = addresses(m, pc, spec, (&a.base, a.scale, a.offset), mask) else { return STOP };
        let place = place(m, pc, &a.space);
        if matches!(place, Place::Fault) {
            return STOP;
        }
        let memory = m.env.memory;
        for (i, &address) in at.iter().enumerate().take(c.channels() as usize) {
            if mask >> i & 1 == 0 {
                continue;
            }
            let slot = |base: u32| base + i as u32 * a.slot as u32;
            let read = |m: &Machine<'_>, base: Option<u32>| match (base, a.slot) {
                (None, _) => 0,
                (Some(b), 8) => m.t.regs.get::<u64>(slot(b)),
                (Some(b), _) => m.t.regs.get::<u32>(slot(b)) as u64,
            };
            let (x, y) = (read(m, a.src[0]), read(m, a.src[1]));
            let x = if a.lsc { Operands::lsc(op, x, y) } else { Operands::legacy(op, x, y) };
            let mut space = AccessSpace::Flat;
            let found = match &place {
                Place::Flat => match memory.find(address, size, &mut m.hints[c.aux() as usize]) {
                    Some(l) => Some((l.block, l.offset)),
                    None => {
                        return memory_fault(m, pc, Some(i as u32 + c.first()), address, size as u32, true);
                    }
                },
                Place::Window(w) => {
                    space = w.space;
                    w.at(address, size).map(|o| (w.block, o))
                }
                _ => None,
            };
            m.note(Access {
                channel: i as u8 + c.first() as u8,
                space,
                address,
                bytes: size as u32,
                kind: AccessKind::Atomic,
            });
            let result = match found {
                // Outside of a surface: nothing is written, zero is returned.
                None => 0,
                Some((block, o)) => {
                    let old = match size {
                        2 => block.update_u16(o, |v| apply(op, width, v as u64, x) as u16).map(u64::from),
                        8 => block.update_u64(o, |v| apply(op, width, v, x)),
                        _ => match op {
                            AtomicOp::Add => block.add_u32(o, x.value as u32).map(u64::from),
                            _ => block.update_u32(o, |v| apply(op, width, v as u64, x) as u32).map(u64::from),
                        },
                    };
                    match old {
                        Some(old) => returned(op, old, apply(op, width, old, x)),
                        None => {
                            let cause = Cause::Misaligned { address, bytes: size as u32 };
                            return m.fault(pc, Some(i as u32 + c.first()), cause);
                        }
                    }
                }
            };
            if let Some(d) = a.dst {
                match a.slot {
                    8 => m.t.regs.set(slot(d), result),
                    _ => m.t.regs.set(slot(d), result as u32),
                }
            }
        }
        pc + 1
    }
}
