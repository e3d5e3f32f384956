//! 2D blocks, strided messages, and the question whether addresses have memory.

use envisa_lower::{Block2d, Extend, Message, Simt, Space, Src};

use super::*;
use crate::messages::{AccessKind, FaultKind};

const Q: envisa_isa::Type = envisa_isa::Type::Uq;
const D: envisa_isa::Type = envisa_isa::Type::D;

/// Block, row and column.
type Place = (u32, u32, u32);

/// The page's loops, with a store into registers for each element.
fn layout(b: &Block2d, grf: u32) -> Vec<(u32, Option<Place>)> {
    let (t, v) = (b.transpose, b.vnni);
    let (h, w) = (b.height, b.width);
    let per_dword = 4 / (b.element as u32).min(4);
    let per_reg = grf / b.element as u32;
    let row_size = if t { h } else { w };
    let row_pitch = row_size.next_power_of_two();
    let block_size = row_pitch * if t { w } else { h };
    let block_pitch = block_size.div_ceil(per_reg) * per_reg;
    let mut out: Vec<(u32, Option<Place>)> = Vec::new();
    for k in 0..b.blocks {
        let start = k * block_pitch;
        for i in 0..block_pitch {
            out.push((start + i, None));
        }
        match (t, v) {
            (false, false) => {
                for y in 0..h {
                    for x in 0..w {
                        out.push((start + y * row_pitch + x, Some((k, y, x))));
                    }
                }
            }
            (false, true) => {
                for y in (0..h).step_by(per_dword as usize) {
                    for x in 0..w {
                        for i in 0..per_dword {
                            out.push((start + y * row_pitch + x * per_dword + i, Some((k, y + i, x))));
                        }
                    }
                }
            }
            (true, false) => {
                for x in 0..w {
                    for y in 0..h {
                        out.push((start + x * row_pitch + y, Some((k, y, x))));
                    }
                }
            }
            (true, true) => {
                for x in (0..w).step_by(per_dword as usize) {
                    for y in 0..h {
                        for i in 0..per_dword {
                            out.push((start + x * row_pitch + y * per_dword + i, Some((k, y, x + i))));
                        }
                    }
                }
            }
        }
    }
    out
}

#[test]
fn blocks_of_a_flat_surface() {
    let mut rng = Rng(1);
    for element in [1u8, 2, 4, 8] {
        for (transpose, vnni) in [(false, false), (false, true), (true, false), (true, true)] {
            for (blocks, width, height) in
                [(1, 4, 4), (2, 8, 8), (1, 5, 4), (3, 4, 3), (1, 16, 8), (4, 8, 16), (1, 12, 1), (2, 1, 8)]
            {
                let per_dword = 4 / element.min(4) as u32;
                let side: u32 = if transpose { width } else { height };
                if vnni && (element == 8 || !side.is_multiple_of(per_dword)) {
                    continue;
                }
                for write in [false, true] {
                    if write && (blocks != 1 || transpose || vnni) {
                        continue;
                    }
                    for _ in 0..6 {
                        let mut rig = Rig::new(&mut rng);
                        rig.grf = 64;
                        // A surface of 20 rows of 90 bytes and a pitch of 96 in the second allocation.
                        let columns = 88 / element as i64;
                        let base = rig.base(1);
                        rig.regs.set(SCALAR, base);
                        let x = rng.below(columns as u64 + 8) as i64 - 4;
                        let y = rng.below(26) as i64 - 3;
                        let offsets = (rng.below(9) as i32 - 4, rng.below(9) as i32 - 4);
                        let (rx, ry) = (x as i32 - offsets.0, y as i32 - offsets.1);
                        for (k, v) in [87, 19, 95, rx as u32, ry as u32].into_iter().enumerate() {
                            rig.regs.set(SCALAR + 8 + 4 * k as u32, v);
                        }
                        let row_pitch = if transpose { height } else { width }.next_power_of_two();
                        let rows = if transpose { width } else { height };
                        let b = Block2d {
                            write,
                            base: scalar(SCALAR, Q),
                            surface_width: ud(SCALAR + 8),
                            surface_height: ud(SCALAR + 12),
                            surface_pitch: ud(SCALAR + 16),
                            x: scalar(SCALAR + 20, D),
                            y: scalar(SCALAR + 24, D),
                            offsets,
                            element,
                            blocks,
                            width,
                            height,
                            transpose,
                            vnni,
                            data: Some(DATA),
                            row_pitch,
                            block_pitch: (row_pitch * rows).next_multiple_of(64 / element as u32),
                        };
                        let size = element as usize;
                        let mut want = rig.state();
                        for (slot, from) in layout(&b, 64) {
                            let reg = DATA as usize + slot as usize * size;
                            let Some((k, row, column)) = from else {
                                if !write {
                                    want.set_reg(reg, size, 0);
                                }
                                continue;
                            };
                            let (column, row) = (x + (k * width + column) as i64, y + row as i64);
                            let inside = (0..columns).contains(&column) && (0..20).contains(&row);
                            let at = (row * 96 + column * size as i64) as usize;
                            if write && inside {
                                let bytes = want.reg(reg, size).to_le_bytes();
                                want.allocations[1][at..at + size].copy_from_slice(&bytes[..size]);
                            } else if !write {
                                let v = if inside { little(&want.allocations[1][at..at + size]) } else { 0 };
                                want.set_reg(reg, size, v);
                            }
                        }
                        assert_eq!(rig.run(&Message::Block2d(b.clone()), 1, 1).0, Ok(()));
                        assert!(rig.state() == want, "{b:?} at {x},{y}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_surface_past_its_allocation_is_a_fault() {
    let mut rig = Rig::new(&mut Rng(2));
    rig.regs.set(SCALAR, rig.base(1) + 1990);
    for (k, v) in [63u32, 7, 63, 0, 0].into_iter().enumerate() {
        rig.regs.set(SCALAR + 8 + 4 * k as u32, v);
    }
    let b = Block2d {
        write: false,
        base: scalar(SCALAR, Q),
        surface_width: ud(SCALAR + 8),
        surface_height: ud(SCALAR + 12),
        surface_pitch: ud(SCALAR + 16),
        offsets: (0, 0),
        x: ud(SCALAR + 20),
        y: ud(SCALAR + 24),
        element: 4,
        blocks: 1,
        width: 4,
        height: 1,
        transpose: false,
        vnni: false,
        data: Some(DATA),
        row_pitch: 4,
        block_pitch: 16,
    };
    let fault = rig.run(&Message::Block2d(b.clone()), 1, 1).0.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Outside(AccessKind::Read));
    let prefetch = Message::Block2d(Block2d { data: None, ..b });
    assert_eq!(rig.run(&prefetch, 1, 1).0, Ok(()));
}

fn strided(write: bool, elements: u64) -> Simt {
    Simt {
        space: Space::Flat,
        write,
        address: ADDRESS,
        address_bytes: 8,
        extend: Extend::None,
        origin: Src::None,
        stride: ud(SCALAR),
        base: Src::None,
        scale: 1,
        offset: 4,
        align: 1,
        element: 4,
        slot: 4,
        upper: false,
        elements,
        data: Some(DATA),
        component_stride: 128,
    }
}

/// Strides of 0 (a broadcast), of the elements' own size (a block) and others.
#[test]
fn strided_messages() {
    let mut rng = Rng(3);
    for exec in [1u32, 8, 16, 32] {
        for count in 1..=4u64 {
            for stride in [0u32, 4, 8, 16, 20] {
                for write in [false, true] {
                    let mut rig = Rig::new(&mut rng);
                    let first = 8 * rng.below(10) as usize;
                    rig.regs.set(ADDRESS, rig.base(0) + first as u64);
                    rig.regs.set(SCALAR, stride);
                    let mask = rng.next() as u32;
                    let mut want = rig.state();
                    for i in (0..exec as usize).filter(|i| mask >> i & 1 != 0) {
                        for v in 0..count as usize {
                            let reg = DATA as usize + v * 128 + 4 * i;
                            let at = first + 4 + i * stride as usize + 4 * v;
                            if write {
                                let x = want.regs[reg..reg + 4].to_vec();
                                want.allocations[0][at..at + 4].copy_from_slice(&x);
                            } else {
                                let x = want.allocations[0][at..at + 4].to_vec();
                                want.regs[reg..reg + 4].copy_from_slice(&x);
                            }
                        }
                    }
                    let m = Message::Simt(strided(write, (1 << count) - 1));
                    assert_eq!(rig.run(&m, mask, exec).0, Ok(()));
                    assert!(rig.state() == want, "({exec}) x{count} stride {stride} write {write}");
                }
            }
        }
    }
}

#[test]
fn status_tells_which_channels_have_memory() {
    let mut rig = Rig::new(&mut Rng(4));
    rig.regs.set(ADDRESS, rig.base(0) + 900);
    rig.regs.set(SCALAR, 10u32);
    let m = Message::Status(strided(false, 3));
    // Channel i's 8 bytes start at 904 + 10 i of 1000.
    for mask in [0xffffu32, 0x0f0f, 0] {
        assert_eq!(rig.run(&m, mask, 16).0, Ok(()));
        assert_eq!(rig.regs.get::<u32>(DATA), 0x1ff & mask & ((1 << 9) - 1));
    }
}
