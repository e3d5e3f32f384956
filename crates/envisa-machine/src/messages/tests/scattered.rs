//! Gathers and scatters: SVM_GATHER, SVM_SCATTER, SCATTER, SCATTER_SCALED, GATHER4_SCALED and their kin, LSC.

use envisa_lower::{Extend, Message, Simt, Space, Src};

use super::*;
use crate::messages::{AccessKind, AccessSpace, FaultKind};

const SIZES: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// How the channels' addresses lie.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    SideBySide,
    Same,
    Backwards,
    Spread,
    /// As of two rows of work-items: each half side by side.
    Rows,
    /// Each half the same.
    Halves,
    Crossing,
}

const PATTERNS: [Pattern; 7] = [
    Pattern::SideBySide,
    Pattern::Same,
    Pattern::Backwards,
    Pattern::Spread,
    Pattern::Rows,
    Pattern::Halves,
    Pattern::Crossing,
];

/// Offsets below `len` (except crossing ones) that are multiples of `align`.
fn offsets(rng: &mut Rng, p: Pattern, n: u32, bytes: u64, align: u64, len: u64) -> Vec<u64> {
    let first = rng.below((len - (bytes * n as u64).min(len) + 1).max(1)) / align * align;
    (0..n as u64)
        .map(|i| match p {
            Pattern::SideBySide => first + i * bytes,
            Pattern::Same => first,
            Pattern::Backwards => (first + (n as u64 - 1 - i) * bytes).min(len - bytes) / align * align,
            Pattern::Spread => rng.below(len - bytes + 1) / align * align,
            Pattern::Rows => (first / 2 / align * align) + (i % 16) * bytes + i / 16 * align * 7 % len,
            Pattern::Halves => (first / 2 / align * align) + i / 16 * align * 5,
            // Some lie past the end.
            Pattern::Crossing => (len.saturating_sub(bytes * n as u64 / 2) / align * align) + i * bytes,
        })
        .collect()
}

fn simt(space: Space, write: bool) -> Simt {
    Simt {
        space,
        write,
        address: ADDRESS,
        address_bytes: 4,
        extend: Extend::None,
        origin: Src::None,
        stride: Src::None,
        base: Src::None,
        scale: 1,
        offset: 0,
        align: 1,
        element: 4,
        slot: 4,
        upper: false,
        elements: 1,
        data: Some(DATA),
        component_stride: 0,
    }
}

/// SVM_GATHER and SVM_SCATTER over every block size, count, execution size, mask and kind of addresses,
/// from the formulas of their pages.
#[test]
fn svm_gather_and_scatter() {
    let mut rng = Rng(1);
    for (block, count, exec, paired) in [1usize, 4, 8]
        .into_iter()
        .flat_map(|b| [1usize, 2, 4, 8].map(|c| (b, c)))
        .flat_map(|(b, c)| {
            // 16 channels of 8 blocks of 8 bytes are not registers' worth of data, but mean something.
            [1u32, 2, 4, 8, 16, 32].map(|n| (b, c, n))
        })
        // They have to fit into the allocation.
        .filter(|(b, c, n)| b * c * (*n as usize) < 2000)
        // Two dwords lie side by side in the register as well, where the optimiser has put them so.
        .flat_map(|x| {
            [Some(false), ((x.0, x.1) == (4, 2)).then_some(true)].into_iter().flatten().map(move |p| (x, p))
        })
        .map(|((b, c, n), paired)| (b, c, n, paired))
    {
        for pattern in PATTERNS {
            for mask in masks(&mut rng, exec) {
                for write in [false, true] {
                    let mut rig = Rig::new(&mut rng);
                    let n = exec as usize;
                    let (elements, element, slot, stride) = match block {
                        1 => (1, count, count.max(4), 0),
                        _ if paired => (0b11, 4, 8, 4),
                        _ => ((1u64 << count) - 1, block, block, n * block),
                    };
                    let m = Message::Simt(Simt {
                        address_bytes: 8,
                        extend: Extend::None,
                        origin: Src::None,
                        align: if block == 1 { 1 } else { block as u8 },
                        element: element as u8,
                        slot: slot as u8,
                        elements,
                        component_stride: stride as u32,
                        ..simt(Space::Flat, write)
                    });
                    let bytes = (block * count) as u64;
                    let align = if block == 1 { 1 } else { block as u64 };
                    // Crossing: into the second allocation instead.
                    let at: Vec<u64> = match pattern {
                        Pattern::Crossing => (0..n as u64)
                            .map(|i| rig.base((i & 1) as usize) + rng.below(900) / align * align)
                            .collect(),
                        p => {
                            let base = rig.base(1);
                            offsets(&mut rng, p, exec, bytes, align, 2000).iter().map(|o| base + o).collect()
                        }
                    };
                    for (i, a) in at.iter().enumerate() {
                        // Channels that are off may hold anything.
                        let a = if mask >> i & 1 != 0 { *a } else { rng.next() };
                        rig.regs.set(ADDRESS + 8 * i as u32, a);
                    }
                    let mut want = rig.state();
                    let data = DATA as usize;
                    for i in (0..n).filter(|i| mask >> i & 1 != 0) {
                        for j in 0..count {
                            let (reg, a) = if block == 1 {
                                (data + i * count.max(4) + j, at[i] + j as u64)
                            } else if paired {
                                (data + 8 * i + 4 * j, at[i] + 4 * j as u64)
                            } else {
                                (data + (j * n + i) * block, at[i] + (j * block) as u64)
                            };
                            for b in 0..block {
                                let byte = want.regs[reg + b];
                                let place = flat(&rig, &mut want, a + b as u64).unwrap();
                                if write {
                                    *place = byte;
                                } else {
                                    want.regs[reg + b] = *place;
                                }
                            }
                        }
                    }
                    let before = rig.state();
                    let (result, told) = rig.run(&m, mask, exec);
                    assert_eq!(result, Ok(()));
                    let mut got = rig.state();
                    if block == 1 && count < 4 && !write {
                        // The page leaves the other bytes of a channel's dword open; here they are zero.
                        for i in (0..n).filter(|i| mask >> i & 1 != 0) {
                            for b in count..4 {
                                assert_eq!(got.regs[data + 4 * i + b], 0);
                                got.regs[data + 4 * i + b] = before.regs[data + 4 * i + b];
                            }
                        }
                    }
                    assert!(got == want, "{block}.{count} ({exec}) {pattern:?} {mask:#x} write {write}");
                    assert_eq!(told.len(), (mask.count_ones() * elements.count_ones()) as usize);
                    assert!(told.iter().all(|a| !a.outside && a.place == Some(a.address)));
                }
            }
        }
    }
}

/// Compilers widen reads: what starts inside of an allocation reads zeros behind its end, up to the end of the line
/// that its last byte is in.
#[test]
fn a_read_that_passes_an_end_reads_zeros() {
    let mut rng = Rng(5);
    // The allocation has 1000 bytes, its last line ends at 1024.
    for (start, elements, ok) in [
        (988, 15, true),
        (996, 15, true),
        (996, 3, true),
        (998, 1, true),
        (1000, 1, false),
        (1000, 15, false),
    ] {
        for write in [false, true] {
            let mut rig = Rig::new(&mut rng);
            let s = Simt { address_bytes: 8, elements, component_stride: 64, ..simt(Space::Flat, write) };
            let address = rig.base(0) + start;
            rig.regs.set(ADDRESS, address);
            let before = rig.state();
            let (result, told) = rig.run(&Message::Simt(s), 1, 1);
            if write || !ok {
                let fault = result.expect_err("it is outside");
                let kind = if write { AccessKind::Write } else { AccessKind::Read };
                assert_eq!(fault.kind, FaultKind::Outside(kind), "{start}");
                continue;
            }
            assert_eq!(result, Ok(()));
            let n = elements.count_ones() as usize;
            for k in 0..n {
                let got: u32 = rig.regs.get(DATA + 64 * k as u32);
                let at = start as usize + 4 * k;
                let byte = |b: usize| before.allocations[0].get(at + b).copied().unwrap_or(0);
                assert_eq!(got.to_le_bytes(), [byte(0), byte(1), byte(2), byte(3)], "{start} {k}");
                assert_eq!(told[k].outside, at + 4 > 1000);
            }
        }
    }
}

#[test]
fn a_flat_access_outside_is_a_fault_of_its_channel() {
    let mut rng = Rng(2);
    for exec in [1u32, 8, 16, 32] {
        for bad in 0..exec {
            for write in [false, true] {
                let mut rig = Rig::new(&mut rng);
                let m = Message::Simt(Simt { address_bytes: 8, ..simt(Space::Flat, write) });
                let base = rig.base(0);
                for i in 0..exec {
                    // A read that starts inside may pass the end: see below.
                    let wrong = base + if write { 998 } else { 1000 };
                    let a = if i == bad { wrong } else { base + 4 * i as u64 };
                    rig.regs.set(ADDRESS + 8 * i, a);
                }
                let (result, _) = rig.run(&m, u32::MAX, exec);
                let fault = result.unwrap_err();
                assert_eq!(fault.channel, Some(bad));
                let wrong = base + if write { 998 } else { 1000 };
                assert_eq!((fault.address, fault.bytes, fault.space), (wrong, 4, AccessSpace::Flat));
                let kind = if write { AccessKind::Write } else { AccessKind::Read };
                assert_eq!(fault.kind, FaultKind::Outside(kind));
                // Switched off, it does no harm; nor does a prefetch.
                let all = crate::register_file::all_channels(exec as usize);
                assert_eq!(rig.run(&m, all & !(1 << bad), exec).0, Ok(()));
                if !write {
                    let Message::Simt(s) = m else { panic!() };
                    let prefetch = Message::Simt(Simt { data: None, ..s });
                    let before = rig.state();
                    let (result, told) = rig.run(&prefetch, u32::MAX, exec);
                    assert_eq!((result, told.len()), (Ok(()), 0));
                    assert!(rig.state() == before);
                }
            }
        }
    }
}

#[test]
fn addresses_must_be_aligned_where_the_page_says_so() {
    let mut rng = Rng(3);
    for (size, exec) in [4u8, 8].into_iter().flat_map(|s| [1u32, 8, 16].map(|n| (s, n))) {
        for off in 1..size as u64 {
            let mut rig = Rig::new(&mut rng);
            let s =
                Simt { address_bytes: 8, align: size, element: size, slot: size, ..simt(Space::Flat, false) };
            let base = rig.base(0);
            let bad = exec - 1;
            for i in 0..exec {
                rig.regs.set(ADDRESS + 8 * i, base + 8 * i as u64 + if i == bad { off } else { 0 });
            }
            let fault = rig.run(&Message::Simt(s.clone()), u32::MAX, exec).0.unwrap_err();
            assert_eq!((fault.kind, fault.channel), (FaultKind::Misaligned(size as u32), Some(bad)));
            let any = Simt { align: 1, ..s };
            assert_eq!(rig.run(&Message::Simt(any), u32::MAX, exec).0, Ok(()));
        }
    }
}

/// GATHER, SCATTER, GATHER_SCALED, SCATTER_SCALED, GATHER4_SCALED, SCATTER4_SCALED, QW_GATHER, QW_SCATTER
/// and the LSC's twins on every kind of surface: every element size, channel mask, execution size; inside
/// and across the end, where reads give zero and writes are dropped, element by element.
#[test]
fn surfaces() {
    let mut rng = Rng(4);
    // Element, slot, upper half, positions.
    let shapes: Vec<(u8, u8, bool, u64)> =
        [(1, 4, false), (2, 4, false), (2, 4, true), (8, 8, false), (1, 1, false), (2, 2, false)]
            .into_iter()
            .map(|(e, s, u)| (e, s, u, 1))
            .chain((1..16).map(|c| (4, 4, false, c)))
            .chain([
                (8, 8, false, 3),
                (8, 8, false, 15),
                (4, 4, false, 0xff),
                (1, 4, false, 7),
                (2, 4, true, 3),
            ])
            .collect();
    for kind in Kind::ALL {
        for &(element, slot, upper, elements) in &shapes {
            for exec in SIZES {
                for pattern in PATTERNS {
                    for write in [false, true] {
                        let mask = {
                            let m = masks(&mut rng, exec);
                            m[rng.below(m.len() as u64) as usize]
                        };
                        // The page's scatter counts in elements and adds the global offset before that.
                        let scale = if element < 8 && elements == 1 && rng.below(2) == 0 {
                            element as u32
                        } else {
                            1
                        };
                        let mut rig = Rig::new(&mut rng);
                        kind.prepare(&mut rig);
                        let span = (64 - elements.leading_zeros()) as u64 * element as u64;
                        let len = (kind.len() as u64).max(300);
                        let global = rng.next() as u32 / 8 * 8;
                        let imm = [0i64, -16, 64][rng.below(3) as usize] / scale as i64 * scale as i64;
                        rig.regs.set(SCALAR, global);
                        let mut at = offsets(&mut rng, pattern, exec, span, scale as u64, len);
                        if kind == Kind::Slm {
                            // The bias of SLM pointers.
                            at.iter_mut().for_each(|a| *a |= 0x1000_0000);
                        }
                        for (i, a) in at.iter().enumerate() {
                            // (offset + global) * scale + imm == a, in 32 bits.
                            let a = (*a as u32).wrapping_sub(imm as u32);
                            let x = (a / scale).wrapping_sub(global);
                            rig.regs.set(ADDRESS + 4 * i as u32, x);
                        }
                        let stride = (exec * slot as u32).max(32);
                        let m = Message::Simt(Simt {
                            base: ud(SCALAR),
                            scale,
                            offset: imm,
                            element,
                            slot,
                            upper,
                            elements,
                            component_stride: stride,
                            ..simt(kind.space(), write)
                        });
                        let mut want = rig.state();
                        let (mut outside, mut first_bad) = (0, None);
                        for i in (0..exec as usize).filter(|i| mask >> i & 1 != 0) {
                            for (k, c) in (0..64u64).filter(|c| elements >> c & 1 != 0).enumerate() {
                                let a = (at[i] & 0x0fff_ffff) + c * element as u64;
                                let reg = DATA as usize + k * stride as usize + i * slot as usize;
                                let shift = if upper { 16 } else { 0 };
                                if write {
                                    let x = want.reg(reg, slot as usize) >> shift;
                                    if !kind.write(&mut want, a, element as usize, x) {
                                        outside += 1;
                                        first_bad = first_bad.or(Some(i));
                                    }
                                } else {
                                    let x = kind.read(&mut want, a, element as usize);
                                    if x.is_none() {
                                        outside += 1;
                                        first_bad = first_bad.or(Some(i));
                                    }
                                    want.set_reg(reg, slot as usize, x.unwrap_or(0) << shift);
                                }
                            }
                        }
                        let case = format!(
                            "{kind:?} {element}/{slot}/{upper} {elements:#x} ({exec}) {pattern:?} {mask:#x} write {write} scale {scale}"
                        );
                        let (result, told) = rig.run(&m, mask, exec);
                        if kind == Kind::Arguments && outside != 0 {
                            assert_eq!(result.unwrap_err().channel, first_bad.map(|i| i as u32), "{case}");
                            continue;
                        }
                        assert_eq!(result, Ok(()), "{case}");
                        assert!(rig.state() == want, "{case}");
                        assert_eq!(told.iter().filter(|a| a.outside).count(), outside, "{case}");
                    }
                }
            }
        }
    }
}

#[test]
fn components_do_not_wrap_around_the_end_of_32_bits() {
    let mut rig = Rig::new(&mut Rng(5));
    rig.regs.set(ADDRESS, 0xffff_fffcu32);
    let m = Message::Simt(Simt { elements: 3, component_stride: 32, ..simt(Kind::Bti.space(), false) });
    let (_, told) = rig.run(&m, 1, 1);
    assert_eq!((rig.regs.get::<u32>(DATA), rig.regs.get::<u32>(DATA + 32)), (0, 0));
    assert!(told.iter().all(|a| a.outside));
}

#[test]
fn the_highest_channel_wins() {
    for exec in [2u32, 4, 8, 16, 32] {
        let mut rig = Rig::new(&mut Rng(6));
        for i in 0..exec {
            rig.regs.set(ADDRESS + 4 * i, 8u32);
            rig.regs.set(DATA + 4 * i, 100 + i);
        }
        let m = Message::Simt(simt(Kind::Slm.space(), true));
        rig.run(&m, u32::MAX, exec).0.unwrap();
        assert_eq!(rig.slm.read::<4>(8).map(u32::from_le_bytes), Some(99 + exec));
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let mut rig = Rig::new(&mut Rng(7));
    let m = |space| Message::Simt(simt(space, false));
    for (space, part) in [
        // Nothing gave this handle out.
        (Space::Bindless(ud(HANDLE)), "handle"),
        // Not the handle of this thread's scratch.
        (Space::Scratch(ud(HANDLE)), "scratch"),
        (Space::Bti(scalar(HANDLE, envisa_isa::Type::F)), "integer"),
    ] {
        match rig.run(&m(space), 1, 1).0.unwrap_err().kind {
            FaultKind::Unsupported(why) => assert!(why.contains(part), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn accesses_through_surfaces_tell_their_virtual_address() {
    let mut rig = Rig::new(&mut Rng(8));
    rig.regs.set(ADDRESS, 12u32);
    let (_, told) = rig.run(&Message::Simt(simt(Kind::Bti.space(), false)), 1, 1);
    let place = rig.base(0) + SURFACE_START as u64 + 12;
    assert_eq!(told[0].place, Some(place));
    assert_eq!((told[0].space, told[0].address, told[0].bytes), (AccessSpace::Surface(BTI), 12, 4));
}

/// A bindless handle names the same bytes as the binding-table index it was made of; its low bits are no
/// part of it; NULL and invented handles name nothing.
#[test]
fn bindless_handles() {
    let mut rig = Rig::new(&mut Rng(9));
    for i in 0..8 {
        rig.regs.set(ADDRESS + 4 * i, 4 * i);
    }
    let m = |space| Message::Simt(simt(space, false));
    rig.run(&m(Kind::Bti.space()), 0xff, 8).0.unwrap();
    let want = rig.regs.slice(DATA, 32).to_vec();
    let handle = SurfaceTable::handle(BTI).unwrap();
    for low in [0, 1, 0x3f] {
        rig.regs.store(DATA, [0u8; 32]);
        rig.regs.set(HANDLE, handle | low);
        let (result, told) = rig.run(&m(Space::Bindless(ud(HANDLE))), 0xff, 8);
        assert_eq!((result, told[0].space), (Ok(()), AccessSpace::Surface(BTI)));
        assert_eq!(rig.regs.slice(DATA, 32), want);
    }
    for bad in [0, handle + 64, handle - 64, u32::MAX] {
        rig.regs.set(HANDLE, bad);
        let fault = rig.run(&m(Space::Bindless(ud(HANDLE))), 0xff, 8).0.unwrap_err();
        assert_eq!(fault.address, bad as u64);
    }
}

/// 32-bit indices that are extended, scaled and added to a 64-bit origin do what the addresses that they stand
/// for do.
#[test]
fn extended_indices() {
    let mut rng = Rng(10);
    let patterns = [Pattern::SideBySide, Pattern::Same, Pattern::Backwards, Pattern::Spread, Pattern::Rows];
    for (pattern, exec) in patterns.into_iter().flat_map(|p| SIZES.map(|n| (p, n))) {
        for (extend, write) in [Extend::Sign, Extend::Zero].into_iter().flat_map(|e| [(e, false), (e, true)])
        {
            for mask in masks(&mut rng, exec) {
                let (count, scale) = (1 + rng.below(3), 1 << rng.below(4));
                let wide = Simt {
                    address_bytes: 8,
                    elements: (1 << count) - 1,
                    component_stride: 128,
                    ..simt(Space::Flat, write)
                };
                let mut rig = Rig::new(&mut rng);
                let offset = [0i64, -8, 24][rng.below(3) as usize];
                // Indices of either sign, where they may have one.
                let middle = if extend == Extend::Zero { 0 } else { 800 };
                let bytes = if extend == Extend::None { 8 } else { 4 };
                let origin = (rig.base(1) + middle).wrapping_sub(offset as u64);
                rig.regs.set(SCALAR, origin);
                // Now and then one lies outside.
                let stray = if rng.below(4) == 0 { rng.below(exec as u64) } else { u64::MAX };
                let at = offsets(&mut rng, pattern, exec, 4 * count, scale.max(4), 2000);
                let at = at.iter().enumerate().map(|(i, a)| if i as u64 == stray { a + 4096 } else { *a });
                let indices: Vec<i64> = at.map(|a| (a as i64 - middle as i64) / scale as i64).collect();
                let before = rig.state();
                let put = |rig: &mut Rig, bytes: u32, x: &dyn Fn(i64) -> u64| {
                    for (i, index) in indices.iter().enumerate() {
                        let x = if mask >> i & 1 != 0 { x(*index) } else { 0xdead_beef_dead_beef };
                        let at = ADDRESS + bytes * i as u32;
                        rig.regs.slice_mut(at, bytes).copy_from_slice(&x.to_le_bytes()[..bytes as usize]);
                    }
                };
                let address =
                    |i: i64| origin.wrapping_add((i * scale as i64) as u64).wrapping_add(offset as u64);
                put(&mut rig, 8, &address);
                let want = rig.run(&Message::Simt(wide.clone()), mask, exec).0;
                let after = rig.state();
                rig.restore(&before);
                put(&mut rig, bytes, &|i| i as u64);
                let m = Simt {
                    address_bytes: bytes as u8,
                    extend,
                    scale: scale as u32,
                    offset,
                    origin: scalar(SCALAR, envisa_isa::Type::Uq),
                    ..wide
                };
                let case =
                    format!("{extend:?} {pattern:?} ({exec}) {mask:#x} write {write} {scale} {offset}");
                assert_eq!(rig.run(&Message::Simt(m), mask, exec).0, want, "{case}");
                if want.is_ok() {
                    let got = rig.state();
                    assert!(got.allocations == after.allocations, "{case}");
                    assert!(got.regs[DATA as usize..] == after.regs[DATA as usize..], "{case}");
                }
            }
        }
    }
}

/// Observers are told of each element of each channel once, with its place among those of its channel, however
/// channels are taken together.
#[test]
fn accesses_know_their_part() {
    let mut rng = Rng(11);
    let (mut together, mut alone) = (0, 0);
    for (pattern, exec) in PATTERNS.into_iter().flat_map(|p| [8, 16, 32].map(|n| (p, n))) {
        for (elements, write) in (1u64..16).flat_map(|e| [(e, false), (e, true)]) {
            for mask in masks(&mut rng, exec) {
                let mut rig = Rig::new(&mut rng);
                let at = offsets(&mut rng, pattern, exec, 4, 4, 900);
                for (i, offset) in at.iter().enumerate() {
                    rig.regs.set(ADDRESS + 4 * i as u32, *offset as u32);
                }
                let m = Simt { elements, component_stride: 128, ..simt(Space::Slm, write) };
                let ports = Ports {
                    memory: &rig.memory.map(),
                    slm: &rig.slm,
                    window: &rig.window,
                    surfaces: &rig.surfaces,
                    samplers: &[],
                    scratch: rig.scratch,
                    scratch_bytes: 0x400,
                    implicit: rig.implicit,
                    grf_bytes: rig.grf,
                    layout: &rig.layout,
                };
                let mut told = crate::messages::Accesses::default();
                let m = Message::Simt(m);
                let done = execute(&m, &mut Hint::default(), &mut rig.regs, mask, exec, &ports, &mut told);
                assert_eq!(done, Ok(()), "shared local memory drops what is outside");
                let mut got: Vec<_> = told.parts().map(|(a, part)| (a.channel, part, a.address)).collect();
                got.sort_unstable();
                let positions = (0..4u64).filter(|p| elements >> p & 1 != 0).enumerate();
                let channels = (0..exec).filter(|c| mask >> c & 1 != 0);
                let want: Vec<_> = channels
                    .flat_map(|c| {
                        let first = at[c as usize];
                        positions.clone().map(move |(part, p)| (c as u8, part as u32, first + 4 * p))
                    })
                    .collect();
                assert_eq!(got, want, "{pattern:?} ({exec}) {mask:#x} {elements:#b} write {write}");
                let rows = told.rows().len();
                together += usize::from(rows < want.len());
                alone += usize::from(rows == want.len());
            }
        }
    }
    assert!(together > 200 && alone > 500, "{together} {alone}");
}
