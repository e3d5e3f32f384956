//! Blocks: consecutive bytes at one address.

use envisa_lower::Block as Descriptor;

use super::target::{Target, resolve_target, scalar};
use super::{Access, AccessKind, Fault, FaultKind, MemoryObserver, Ports};
use crate::memory::Hint;
use crate::register_file::Registers;

/// Executes it. Of a block that passes the end of its surface, the bytes inside are read or written; the
/// others read zero.
#[inline(always)]
pub(super) fn execute<O: MemoryObserver>(
    b: &Descriptor,
    site: &mut Hint,
    regs: &mut Registers,
    mask: u32,
    ports: &Ports<'_>,
    obs: &mut O,
) -> Result<(), Fault> {
    let Some(data) = b.data else { return Ok(()) };
    if b.masked && mask == 0 {
        return Ok(());
    }
    let target = resolve_target(&b.space, regs, ports)?;
    let scaled = scalar(&b.address, regs, ports)?.wrapping_mul(b.scale as u64);
    let mut address = scaled.wrapping_add(b.offset as u64).wrapping_add(scalar(&b.origin, regs, ports)?);
    if b.wraps {
        address &= u32::MAX as u64;
    }
    address &= target.mask();
    let kind = if b.write { AccessKind::Write } else { AccessKind::Read };
    if address & (b.align.max(1) as u64 - 1) != 0 {
        return Err(Fault {
            kind: FaultKind::Misaligned(b.align),
            channel: None,
            space: target.space(),
            address,
            bytes: b.bytes,
        });
    }
    let outside = || Fault {
        kind: FaultKind::Outside(kind),
        channel: None,
        space: target.space(),
        address,
        bytes: b.bytes,
    };
    // Where it starts in a block, and how much of it is inside.
    let (found, inside, base) = match &target {
        Target::Flat => match ports.memory.find(address, b.bytes as usize, b.write, site) {
            Some(l) => (Some((l.block, l.offset)), b.bytes, Some(address)),
            None if b.write => return Err(outside()),
            None => match ports.memory.find_padded_read(address, address, b.bytes as usize) {
                Some((l, inside)) => (Some((l.block, l.offset)), inside as u32, Some(address)),
                None => return Err(outside()),
            },
        },
        Target::Window(w) => {
            let left = (w.len as u64).saturating_sub(address).min(b.bytes as u64) as u32;
            if left < b.bytes && w.strict {
                return Err(outside());
            }
            match w.at(address, left as usize) {
                Some(place) => (Some((w.block, place)), left, w.base.map(|base| base + address)),
                None => (None, 0, None),
            }
        }
        Target::Nothing(_) => (None, 0, None),
    };
    if O::ACTIVE || inside < b.bytes {
        let access = Access {
            channel: 0,
            space: target.space(),
            address,
            place: base.filter(|_| inside != 0),
            bytes: b.bytes,
            kind,
            outside: inside < b.bytes,
        };
        if O::ACTIVE {
            obs.access(&access);
        } else if b.write || inside == 0 {
            // Compilers read more than they need.
            obs.dropped(&access);
        }
    }
    if b.write {
        if let Some((block, place)) = found {
            block.copy_in(place, regs.slice(data, inside));
        }
        return Ok(());
    }
    let to = regs.slice_mut(data, b.bytes);
    let (to, rest) = to.split_at_mut(inside as usize);
    if let Some((block, place)) = found {
        block.copy_out(place, to);
    }
    rest.fill(0);
    Ok(())
}
