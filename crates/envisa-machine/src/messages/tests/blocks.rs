//! Blocks: OWORD_LD, OWORD_ST, OWORD_LD_UNALIGNED, SVM_BLOCK_LD, SVM_BLOCK_ST, transposed LSC messages.

use envisa_lower::{Block as Descriptor, Message, Space, Src};

use super::*;
use crate::messages::{AccessKind, FaultKind};

fn block(space: Space, write: bool, bytes: u32) -> Descriptor {
    Descriptor {
        space,
        write,
        address: ud(SCALAR),
        scale: 1,
        offset: 0,
        origin: Src::None,
        wraps: false,
        align: 4,
        bytes,
        data: Some(DATA),
        masked: false,
    }
}

/// Every size, surface and offset; scaled by 16 (OWORD_LD, OWORD_ST) and not (OWORD_LD_UNALIGNED): outside,
/// zeros are returned and data dropped. The execution mask plays no part.
#[test]
fn owords_on_surfaces() {
    let mut rng = Rng(1);
    for kind in Kind::ALL {
        for owords in [1u32, 2, 4, 8, 16] {
            for scale in [1u32, 16] {
                for write in [false, true] {
                    for offset in (0..64)
                        .map(|i| i * 4)
                        .chain((0..70).map(|i| (kind.len() as u32).saturating_sub(260) / 4 * 4 + i * 4))
                        .chain([0xffff_fff0, 0x1000_0000 / scale])
                    {
                        let mut rig = Rig::new(&mut rng);
                        kind.prepare(&mut rig);
                        let units = if scale == 16 { offset / 16 } else { offset };
                        rig.regs.set(SCALAR, units);
                        let m =
                            Message::Block(Descriptor { scale, ..block(kind.space(), write, owords * 16) });
                        let mut start = units as u64 * scale as u64;
                        if kind == Kind::Slm {
                            start &= 0x0fff_ffff;
                        }
                        let mut want = rig.state();
                        let mut outside = false;
                        for b in 0..owords as usize * 16 {
                            let reg = DATA as usize + b;
                            let x = want.regs[reg];
                            match kind.byte(&mut want, start + b as u64) {
                                Some(place) if write => *place = x,
                                Some(place) => want.regs[reg] = *place,
                                None => {
                                    outside = true;
                                    if !write {
                                        want.regs[reg] = 0;
                                    }
                                }
                            }
                        }
                        let mask = rng.next() as u32;
                        let (result, told) = rig.run(&m, mask, 1);
                        if kind == Kind::Arguments && outside {
                            assert!(matches!(result.unwrap_err().kind, FaultKind::Outside(_)));
                            continue;
                        }
                        assert_eq!(result, Ok(()));
                        assert!(rig.state() == want, "{kind:?} {owords} x{scale} at {offset} write {write}");
                        assert_eq!((told.len(), told[0].outside), (1, outside));
                    }
                }
            }
        }
    }
}

#[test]
fn an_offset_that_is_no_multiple_of_a_dword_is_a_fault() {
    let mut rng = Rng(2);
    for kind in Kind::ALL {
        for low in 1..4u32 {
            let mut rig = Rig::new(&mut rng);
            kind.prepare(&mut rig);
            rig.regs.set(SCALAR, 8 + low);
            let fault = rig.run(&Message::Block(block(kind.space(), false, 16)), 1, 1).0.unwrap_err();
            assert_eq!(fault.kind, FaultKind::Misaligned(4));
            assert_eq!((fault.address, fault.bytes, fault.channel), (8 + low as u64, 16, None));
        }
    }
}

#[test]
fn svm_blocks() {
    let mut rng = Rng(3);
    for owords in [1u32, 2, 4, 8] {
        for write in [false, true] {
            for offset in (0..260).map(|i| 740 + i * if write { 16 } else { 4 } - if write { 4 } else { 0 }) {
                let mut rig = Rig::new(&mut rng);
                let address = rig.base(0) + offset;
                // By itself, or as a number behind a base.
                let index = (rng.next() as i32 >> 8) as i64 * 16;
                let based = rng.below(2) == 0;
                rig.regs.set(SCALAR, if based { (index >> 4) as u64 } else { address });
                let base = address.wrapping_sub(index as u64);
                rig.regs.set(SCALAR + 8, base);
                let align = if write { 16 } else { 4 };
                let m = Message::Block(Descriptor {
                    address: scalar(SCALAR, envisa_isa::Type::Uq),
                    scale: if based { 16 } else { 1 },
                    origin: if based { scalar(SCALAR + 8, envisa_isa::Type::Uq) } else { Src::None },
                    align,
                    ..block(Space::Flat, write, owords * 16)
                });
                let mut want = rig.state();
                let n = owords as u64 * 16;
                let (result, told) = rig.run(&m, 0, 1);
                // Reads go on to the end of the line that the allocation's last byte is in.
                if offset >= 1000 || offset + n > if write { 1000 } else { 1024 } {
                    let fault = result.unwrap_err();
                    let kind = if write { AccessKind::Write } else { AccessKind::Read };
                    assert_eq!((fault.kind, fault.address), (FaultKind::Outside(kind), address));
                    assert!(rig.state() == want);
                    continue;
                }
                assert_eq!(result, Ok(()));
                for b in 0..n as usize {
                    let (reg, place) = (DATA as usize + b, offset as usize + b);
                    if write {
                        want.allocations[0][place] = want.regs[reg];
                    } else {
                        want.regs[reg] = want.allocations[0].get(place).copied().unwrap_or(0);
                    }
                }
                assert!(rig.state() == want);
                assert_eq!((told[0].place, told[0].bytes), (Some(address), owords * 16));
                let (at, aligned) = if based { (SCALAR + 8, base) } else { (SCALAR, address) };
                rig.regs.set(at, aligned.wrapping_add(align as u64 / 2));
                let fault = rig.run(&m, 0, 1).0.unwrap_err();
                assert_eq!(fault.kind, FaultKind::Misaligned(align));
            }
        }
    }
}

/// A transposed LSC message happens if its channel is active, adds in 32 bits where its addresses have
/// them, and does nothing without a destination.
#[test]
fn transposed() {
    let mut rig = Rig::new(&mut Rng(4));
    rig.regs.set(SCALAR, 0xffff_fff0u32);
    let d = Descriptor {
        wraps: true,
        offset: 0x18,
        masked: true,
        align: 1,
        ..block(Kind::Slm.space(), false, 64)
    };
    let m = Message::Block(d.clone());
    let before = rig.state();
    let (result, told) = rig.run(&m, 0, 1);
    assert_eq!((result, told.len()), (Ok(()), 0));
    assert!(rig.state() == before);
    rig.run(&m, 1, 1).0.unwrap();
    assert_eq!(rig.regs.slice(DATA, 64), &before.slm[8..72]);
    let (result, told) = rig.run(&Message::Block(Descriptor { data: None, ..d }), 1, 1);
    assert_eq!((result, told.len()), (Ok(()), 0));
}
