//! Atomics on untyped memory: each channel reads, modifies and writes, lowest channel first.

use envisa_lower::Atomic;
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
    let add = scalar(&a.base, regs, ports)?.wrapping_mul(scale).wrapping_add(a.offset as u64);
    let narrow = if a.address_bytes == 8 { u64::MAX } else { u32::MAX as u64 };
    let and = narrow & target.mask();
    for i in 0..channels {
        if mask >> i & 1 == 0 {
            continue;
        }
        let address = element::get(regs, a.address + i * a.address_bytes as u32, a.address_bytes);
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
