//! 2D blocks: rectangles of a flat surface, transposed or interleaved on the way.

use envisa_lower::Block2d;

use super::target::scalar;
use super::{Access, AccessKind, AccessSpace, Fault, FaultKind, MemoryObserver, Ports, element};
use crate::memory::Hint;
use crate::register_file::Registers;

/// Element in registers of row `y` and column `x` of a block.
fn element_index(b: &Block2d, y: u32, x: u32) -> u32 {
    let together = if b.vnni { 4 / b.element as u32 } else { 1 };
    // Rows and columns as they are in registers.
    let (row, column) = if b.transpose { (x, y) } else { (y, x) };
    (row - row % together) * b.row_pitch + column * together + row % together
}

/// Executes it. What lies outside of the surface reads zero and is not written; the padding of rows and
/// blocks reads zero.
pub(super) fn execute<O: MemoryObserver>(
    b: &Block2d,
    site: &mut Hint,
    regs: &mut Registers,
    ports: &Ports<'_>,
    obs: &mut O,
) -> Result<(), Fault> {
    let Some(data) = b.data else { return Ok(()) };
    let get = |src| scalar(src, regs, ports);
    let base = get(&b.base)?;
    // Less one in registers.
    let dword = |x: u64| x as u32 as u64 + 1;
    let width = dword(get(&b.surface_width)?);
    let height = dword(get(&b.surface_height)?);
    let pitch = dword(get(&b.surface_pitch)?);
    let left = get(&b.x)? as u32 as i32 as i64 + b.offsets.0 as i64;
    let top = get(&b.y)? as u32 as i32 as i64 + b.offsets.1 as i64;
    let size = b.element as u32;
    let kind = if b.write { AccessKind::Write } else { AccessKind::Read };
    if !b.write {
        regs.slice_mut(data, b.blocks * b.block_pitch * size).fill(0);
    }
    for block in 0..b.blocks {
        let first = left + (block * b.width) as i64;
        for y in 0..b.height {
            let row = top + y as i64;
            // Columns of whole elements inside.
            let columns = (width / size as u64) as i64;
            let from = (-first).clamp(0, b.width as i64) as u32;
            let to = (columns - first).clamp(0, b.width as i64) as u32;
            let inside = row >= 0 && (row as u64) < height && from < to;
            let n = if inside { (to - from) * size } else { 0 };
            let start = (first + from as i64).wrapping_mul(size as i64) as u64;
            let address = base.wrapping_add((row as u64).wrapping_mul(pitch)).wrapping_add(start);
            let found = match n {
                0 => None,
                n => Some(ports.memory.find(address, n as usize, b.write, site).ok_or(Fault {
                    kind: FaultKind::Outside(kind),
                    channel: None,
                    space: AccessSpace::Flat,
                    address,
                    bytes: n,
                })?),
            };
            if O::ACTIVE {
                obs.access(&Access {
                    channel: 0,
                    space: AccessSpace::Flat,
                    address,
                    place: inside.then_some(address),
                    bytes: b.width * size,
                    kind,
                    outside: n < b.width * size,
                });
            }
            let Some(l) = found else { continue };
            for x in from..to {
                let register = data + (block * b.block_pitch + element_index(b, y, x)) * size;
                let place = l.offset + ((x - from) * size) as usize;
                if b.write {
                    element::write(l.block, place, b.element, element::get(regs, register, b.element));
                } else {
                    let x = element::read(l.block, place, b.element).unwrap_or(0);
                    element::set(regs, register, b.element, x);
                }
            }
        }
    }
    Ok(())
}
