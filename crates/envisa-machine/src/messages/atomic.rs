//! Atomics on untyped memory: each channel reads, modifies and writes, lowest channel first.

use envisa_lower::{Atomic, Extend, RegOffset, Space};
use envisa_sem::atomic::{AtomicOp, AtomicWidth, Operands, apply, returned_value};

use super::channel_addresses::{Addresses, Addressing, Reach, Site};
use super::element;
use super::target::{resolve_target, scalar};
use super::{AccessKind, Fault, MemoryObserver, Ports};
use crate::cpu::Isa;
use crate::memory::{Block, Hint};
use crate::register_file::Registers;

/// The operator and the width of its datum.
pub(super) fn decode_operator(code: u8, lsc: bool, element: u8) -> Result<(AtomicOp, AtomicWidth), Fault> {
    let op = if lsc { AtomicOp::from_lsc_subop(code) } else { AtomicOp::from_legacy_code(code) };
    let op = op.ok_or(Fault::unsupported("an atomic operator that is not defined"))?;
    let width = match element {
        2 => AtomicWidth::W16,
        8 => AtomicWidth::W64,
        _ => AtomicWidth::W32,
    };
    Ok((op, width))
}

/// Does an atomic change what is there only if it is as the program supposed?
pub fn compares(a: &Atomic) -> bool {
    let op = decode_operator(a.code, a.lsc, a.element).map(|(op, _)| op);
    matches!(op, Ok(AtomicOp::CmpXchg | AtomicOp::FcmpWr | AtomicOp::BfCas))
}

/// Did an atomic leave what is there, for this channel of it: a load, `old | 0` as which compilers write one, or a compare
/// that failed? `true` too where the result has taken the place of the operand of the second, and it can no longer be told.
pub fn left_memory_unchanged(a: &Atomic, regs: &Registers, channel: u32) -> bool {
    let Ok((op, width)) = decode_operator(a.code, a.lsc, a.element) else { return false };
    let neutral = match op {
        AtomicOp::Load => return true,
        AtomicOp::CmpXchg => {
            // The new value comes first, but in LSC messages.
            let compared = a.src[usize::from(!a.lsc)];
            let (Some(found), Some(compared)) = (a.dst, compared.filter(|c| a.dst != Some(*c))) else {
                return false;
            };
            let value = |register: u32| {
                let at = register + channel * u32::from(a.slot);
                let whole = if a.slot == 8 { regs.peek::<u64>(at) } else { regs.peek::<u32>(at).into() };
                whole & width.mask()
            };
            return value(found) != value(compared);
        }
        AtomicOp::Or | AtomicOp::Xor | AtomicOp::Add | AtomicOp::Sub => 0,
        AtomicOp::And => width.mask(),
        _ => return false,
    };
    let Some(src) = a.src[0] else { return false };
    if a.dst == Some(src) {
        return true;
    }
    let at = src + channel * u32::from(a.slot);
    if a.slot == 8 {
        regs.peek::<u64>(at) == neutral
    } else {
        u64::from(regs.peek::<u32>(at)) & width.mask() == neutral
    }
}

/// Changes the datum at a place of a block and gives what the message returns; `None` if the place is
/// outside or not aligned.
#[inline]
pub(super) fn update_datum(
    block: &Block,
    place: usize,
    (op, width): (AtomicOp, AtomicWidth),
    x: Operands,
) -> Option<u64> {
    let f = |old: u64| apply(op, width, old, x);
    let old = match (width, op) {
        (AtomicWidth::W32, AtomicOp::Add) => block.add_u32(place, x.value as u32)? as u64,
        (AtomicWidth::W32, AtomicOp::Inc) => block.add_u32(place, 1)? as u64,
        (AtomicWidth::W32, AtomicOp::Sub) => block.add_u32(place, (x.value as u32).wrapping_neg())? as u64,
        (AtomicWidth::W32, AtomicOp::Dec) => block.add_u32(place, u32::MAX)? as u64,
        (AtomicWidth::W16, _) => block.update_u16(place, |old| f(old as u64) as u16)? as u64,
        (AtomicWidth::W32, _) => block.update_u32(place, |old| f(old as u64) as u32)? as u64,
        (AtomicWidth::W64, _) => block.update_u64(place, f)?,
    };
    Some(returned_value(op, old, f(old)))
}

/// Executes it. Outside of a surface nothing is changed and zero returned.
pub(super) fn execute<O: MemoryObserver>(
    a: &Atomic,
    site: &mut Hint,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
    obs: &mut O,
) -> Result<(), Fault> {
    if mask == 0 {
        return Ok(());
    }
    let op = decode_operator(a.code, a.lsc, a.element)?;
    let target = resolve_target(&a.space, regs, ports)?;
    let scale = a.scale as u64;
    let origin = scalar(&a.origin, regs, ports)?;
    let add = scalar(&a.base, regs, ports)?.wrapping_mul(scale).wrapping_add(a.offset as u64);
    let add = add.wrapping_add(origin);
    let wide = a.address_bytes == 8 || a.extend != Extend::None;
    let narrow = if wide { u64::MAX } else { u32::MAX as u64 };
    let index = |regs: &Registers, i: u32| {
        if a.address_bytes == 0 {
            return 0;
        }
        let x = element::get(regs, a.address + i * a.address_bytes as u32, a.address_bytes);
        if a.extend == Extend::Sign { x as i32 as i64 as u64 } else { x }
    };
    let and = narrow & target.mask();
    for i in 0..channels {
        if mask >> i & 1 == 0 {
            continue;
        }
        let address = index(regs, i);
        let address = address.wrapping_mul(scale).wrapping_add(add) & and;
        if address & (a.element as u64 - 1) != 0 {
            return Err(target.misaligned_fault(address, a.element as u32, a.element as u32, i));
        }
        let at = i * a.slot as u32;
        let src = |n: usize| a.src[n].map_or(0, |r| element::get(regs, r + at, a.slot));
        let x =
            if a.lsc { Operands::lsc(op.0, src(0), src(1)) } else { Operands::legacy(op.0, src(0), src(1)) };
        let access = (address, a.element as u32);
        let found = target.find(ports.memory, site, access, (AccessKind::Atomic, i), obs)?;
        let result = match found {
            Some((block, place)) => match update_datum(block, place, op, x) {
                Some(r) => r,
                // The surface starts at an address that is not aligned.
                None => return Err(target.misaligned_fault(address, a.element as u32, a.element as u32, i)),
            },
            None => 0,
        };
        if let Some(dst) = a.dst {
            element::set(regs, dst + at, a.slot, result);
        }
    }
    Ok(())
}

/// What the fast code wants to know of a message that adds to dwords, found once.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    places: Addresses,
    term: Term,
    dst: Option<RegOffset>,
    /// It goes to memory that no other host thread reaches.
    alone: bool,
}

/// What is added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Term {
    Number(u32),
    Plus(RegOffset),
    Minus(RegOffset),
}

impl Sum {
    /// Of a message that passes [`super::check`], for a register file of `len` bytes; `None` for messages that
    /// only [`execute`] executes.
    pub fn new(a: &Atomic, len: u32) -> Option<Sum> {
        let (op, _) = decode_operator(a.code, a.lsc, a.element).ok()?;
        let term = match (op, a.src[0]) {
            _ if a.element != 4 || a.slot != 4 => return None,
            (AtomicOp::Inc, _) => Term::Number(1),
            (AtomicOp::Dec, _) => Term::Number(u32::MAX),
            (AtomicOp::Add, Some(r)) => Term::Plus(r),
            (AtomicOp::Sub, Some(r)) => Term::Minus(r),
            _ => return None,
        };
        let places = Addressing {
            space: &a.space,
            address: a.address,
            address_bytes: a.address_bytes,
            extend: a.extend,
            base: &a.base,
            scale: a.scale,
            offset: a.offset,
            origin: &a.origin,
            align: 4,
            span: 4,
        };
        Some(Sum { places: places.plan(len)?, term, dst: a.dst, alone: matches!(a.space, Space::Slm) })
    }

    /// Executes it; `false` (and nothing done) if that is for [`execute`] to do. `far` as in [`Site`].
    #[inline(always)]
    pub(super) fn run<'a, const N: usize, const L: u8>(
        &self,
        isa: Isa<L>,
        near: Reach<'a>,
        far: impl Fn(&Registers) -> (&'a Space, Ports<'a>),
        regs: &mut Registers,
        mask: u32,
        site: &Hint,
    ) -> bool {
        let site = Site { near, far: &far, regs, mask, hint: site };
        let Some(w) = self.places.lanes::<N, L>(isa, site) else { return false };
        let mut terms = [0u32; N];
        match self.term {
            Term::Number(n) => terms = [n; N],
            Term::Plus(r) => terms = regs.load::<u32, N>(r),
            Term::Minus(r) => {
                let x = regs.load::<u32, N>(r);
                for i in 0..N {
                    terms[i] = x[i].wrapping_neg();
                }
            }
        }
        let old = if self.alone { w.add::<true>(mask, &terms) } else { w.add::<false>(mask, &terms) };
        // Not so in a surface that starts at an address that is not aligned.
        let Some(old) = old else { return false };
        if let Some(dst) = self.dst {
            regs.store_masked(dst, mask, old);
        }
        true
    }
}
