//! Messages of shaders: pixels of render targets, vertices in the unified return buffer.

use envisa_lower::{Pixels, RegOffset, Urb};
use envisa_sem::Hf;

use super::target::{Target, buffer};
use super::typed::find_texels;
use super::{AccessKind, AccessSpace, Fault, MemoryObserver, Ports};
use crate::memory::{Hint, ImageShape};
use crate::register_file::Registers;

/// Writes pixels. Those outside of the target are dropped: squares of four reach over its edge.
pub(super) fn write_pixels<O: MemoryObserver>(
    p: &Pixels,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
    obs: &mut O,
) -> Result<(), Fault> {
    let written = (0..4).filter(|c| p.colours[*c].is_some()).fold(0, |m, c| m | 1 << c);
    if mask == 0 || written == 0 {
        return Ok(());
    }
    let Some(texels) = find_texels(&p.space, regs, ports)? else { return Ok(()) };
    let image = texels.image;
    let rows = !matches!(image.shape, ImageShape::D1 | ImageShape::D1Array);
    for i in (0..channels).filter(|i| mask >> i & 1 != 0) {
        let square = regs.get::<u32>(p.header + 8 + i / 4 * 4);
        let (x, y) = ((square & 0xffff) + i % 2, (square >> 16) + i % 4 / 2);
        let colour = |at: RegOffset| match p.half {
            true => f32::from(Hf(regs.get::<u16>(at + i * 2))).to_bits(),
            false => regs.get::<u32>(at + i * 4),
        };
        let colours = p.colours.map(|c| c.map_or(0, colour));
        let covered = p.mask.map_or(u16::MAX, |at| regs.get::<u16>(at + i * 2));
        // A pixel's colour is that of all its samples that are covered.
        for sample in (0..image.samples.min(16)).filter(|s| covered >> s & 1 != 0) {
            let at = [x.into(), y.into(), 0, 0];
            let place = if rows || y == 0 { texels.sample(at, sample) } else { None };
            texels.report_texel((place, at), AccessKind::Write, i, obs);
            if let Some(place) = place {
                texels.write(place, colours, written);
            }
        }
    }
    Ok(())
}

/// Writes the dwords of vertices.
pub(super) fn write_urb<O: MemoryObserver>(
    u: &Urb,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
    obs: &mut O,
) -> Result<(), Fault> {
    let Some(urb) = ports.surfaces.urb() else {
        return Err(Fault {
            space: AccessSpace::Urb,
            ..Fault::unsupported("the launch names no unified return buffer")
        });
    };
    let target = Target::Window(buffer(&urb.surface, &urb.allocation, AccessSpace::Urb));
    let mut site = Hint::default();
    for i in (0..channels).filter(|i| mask >> i & 1 != 0) {
        let dword = |at: Option<RegOffset>| at.map_or(0, |at| u64::from(regs.get::<u32>(at + i * 4)));
        let owords = u64::from(u.offset) + dword(u.offsets);
        let start = dword(Some(u.handles)) * u64::from(urb.unit) + owords * 16;
        for k in 0..u32::from(u.rows) {
            if u.masks.is_some_and(|at| regs.get::<u32>(at + i * 4) >> k & 1 == 0) {
                continue;
            }
            let access = (start + u64::from(k) * 4, 4);
            let found = target.find(ports.memory, &mut site, access, (AccessKind::Write, i), obs)?;
            if let (Some((block, place)), Some(data)) = (found, u.data) {
                block.write(place, regs.get::<u32>(data + k * u.stride + i * 4).to_le_bytes());
            }
        }
    }
    Ok(())
}
