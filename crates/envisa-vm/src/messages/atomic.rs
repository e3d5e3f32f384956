//! Atomics on untyped memory: each channel reads, modifies and writes, lowest channel first.

use envisa_lower::{Atomic, Extend};
use envisa_sem::atomic::{AtomicOp, AtomicWidth, Operands, apply, returned};

use super::element;
use super::target::{resolve, scalar};
use super::{AccessKind, Fault, MemoryObserver, Ports};
use crate::memory::{Block, Hint};
use crate::regs::Registers;

/// The operator and the width of its datum.
pub(super) fn operator(code: u8, lsc: bool, element: u8) -> Result<(AtomicOp, AtomicWidth), Fault> {
    let op = if lsc { AtomicOp::from_lsc_subop(code) } else { AtomicOp::from_legacy_code(code) };
    let op = op.ok_or(Fault::unsupported("an atomic operator that means nothing"))?;
    let width = match element {
        2 => AtomicWidth::W16,
        8 => AtomicWidth::W64,
        _ => AtomicWidth::W32,
    };
    Ok((op, width))
}

/// Changes the datum at a place of a block and gives what the message returns; `None` if the place is
/// outside or not aligned.
#[inline]
pub(super) fn update(
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
    Some(returned(op, old, f(old)))
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
    let op = operator(a.code, a.lsc, a.element)?;
    let target = resolve(&a.space, regs, ports)?;
    let scale = a.scale as u64;
    let origin = scalar(&a.origin, regs, ports)?;
    let add = scalar(&a.base, regs, ports)?.wrapping_mul(scale).wrapping_add(a.offset as u64);
    let add = add.wrapping_add(origin);
    let wide = a.address_bytes == 8 || a.extend != Extend::None;
    let narrow = if wide { u64::MAX } else { u32::MAX as u64 };
    let index = |regs: &Registers, i: u32| {
        let x = element::get(regs, a.address + i * a.address_bytes as u32, a.address_bytes);
        if a.extend == Extend::Sign { x as i32 as i64 as u64 } else { x }
    };
    let and = narrow & target.mask();
    if !O::ACTIVE && a.element == 4 && a.slot == 4 {
        let alone = matches!(a.space, envisa_lower::Space::Slm);
        let delta = |i: u32| match (op.0, a.src[0]) {
            (AtomicOp::Inc, _) => Some(1),
            (AtomicOp::Dec, _) => Some(u32::MAX),
            (AtomicOp::Add, Some(r)) => Some(regs.get::<u32>(r + 4 * i)),
            (AtomicOp::Sub, Some(r)) => Some(regs.get::<u32>(r + 4 * i).wrapping_neg()),
            _ => None,
        };
        if delta(0).is_some() {
            let (mut at, mut deltas) = ([0u64; 32], [0u32; 32]);
            for i in 0..channels.min(32) {
                let address = index(regs, i);
                at[i as usize] = address.wrapping_mul(scale).wrapping_add(add) & and;
                deltas[i as usize] = delta(i).unwrap_or(0);
            }
            if let Some(old) = sums(&target, site, ports, mask, (&mut at, &deltas), alone) {
                if let Some(dst) = a.dst {
                    for (i, old) in old.iter().enumerate() {
                        if mask >> i & 1 != 0 {
                            regs.set(dst + 4 * i as u32, *old);
                        }
                    }
                }
                return Ok(());
            }
        }
    }
    for i in 0..channels {
        if mask >> i & 1 == 0 {
            continue;
        }
        let address = index(regs, i);
        let address = address.wrapping_mul(scale).wrapping_add(add) & and;
        if !address.is_multiple_of(a.element as u64) {
            return Err(target.misaligned(address, a.element as u32, a.element as u32, i));
        }
        let at = i * a.slot as u32;
        let src = |n: usize| a.src[n].map_or(0, |r| element::get(regs, r + at, a.slot));
        let x =
            if a.lsc { Operands::lsc(op.0, src(0), src(1)) } else { Operands::legacy(op.0, src(0), src(1)) };
        let access = (address, a.element as u32);
        let found = target.find(ports.memory, site, access, (AccessKind::Atomic, i), obs)?;
        let result = match found {
            Some((block, place)) => match update(block, place, op, x) {
                Some(r) => r,
                // The surface starts at an address that is not aligned.
                None => return Err(target.misaligned(address, a.element as u32, a.element as u32, i)),
            },
            None => 0,
        };
        if let Some(dst) = a.dst {
            element::set(regs, dst + at, a.slot, result);
        }
    }
    Ok(())
}

/// Adds to dwords of one block, lowest channel first, and gives the old values; `None` (and nothing added) if
/// they do not all lie aligned in it. `alone`: no other host thread reaches the block.
fn sums(
    target: &super::target::Target<'_>,
    site: &mut Hint,
    ports: &Ports<'_>,
    mask: u32,
    (at, deltas): (&mut [u64; 32], &[u32; 32]),
    alone: bool,
) -> Option<[u32; 32]> {
    use super::target::Target;
    match target {
        Target::Window(w) => w.block.add_lanes((w.start, w.len), at, mask, deltas, alone),
        Target::Flat => {
            let first = at[mask.trailing_zeros() as usize % 32];
            let l = ports.memory.find(first, 4, site)?;
            let base = first.wrapping_sub(l.offset as u64);
            for a in at.iter_mut() {
                *a = a.wrapping_sub(base);
            }
            l.block.add_lanes((0, l.block.len()), at, mask, deltas, alone)
        }
        Target::Nothing(_) => None,
    }
}
