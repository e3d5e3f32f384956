//! Raw sends: messages by their descriptors, which are those that the reference assembler writes for the messages of
//! vISA that do the same (their text stands beside each). Each runs with descriptors as immediates and in registers.

use crate::founding::text;
use crate::harness::{A, A_BYTES, Bench, Case, Predicate, Rng, Surf, covers, mask_name};
use envisa::isa::Platform;
use envisa_machine::trap::Cause;

/// A message: function, descriptor, extended descriptor, channels, registers of both payloads and the response.
#[derive(Clone, Copy)]
struct Message(u32, u32, u32, u32, [usize; 3]);

/// Variables `src0`, `src1` and `dst` as the message has them; the payloads' contents.
fn case(b: &Bench, rng: &mut Rng, m: Message, payloads: [Vec<u8>; 2]) -> Case {
    let mut c = Case::default();
    for (name, (mut bytes, registers)) in ["src0", "src1"].into_iter().zip(payloads.into_iter().zip(m.4)) {
        bytes.resize(registers * b.grf(), 0x5c);
        if registers != 0 {
            c.bytes(name, "ud", &bytes);
        }
    }
    if m.4[2] != 0 {
        c.bytes("dst", "ud", &rng.bytes(m.4[2] * b.grf()));
    }
    c.var("desc", "ud", &[m.1 as u64]);
    c.var("ex", "ud", &[m.2 as u64]);
    c
}

fn send(c: &Case, m: Message, mask: usize, in_registers: bool) -> Case {
    let Message(function, desc, ex, n, [n0, n1, nd]) = m;
    let name = |k: usize, name: &str| if k == 0 { "%null.0".to_owned() } else { format!("${name}.0") };
    let (desc, ex) = match in_registers {
        true => ("$desc(0,0)<0;1,0>".to_owned(), "$ex(0,0)<0;1,0>".to_owned()),
        false => (format!("0x{desc:x}:ud"), format!("0x{ex:x}:ud")),
    };
    let t = format!(
        "raw_sends.{function}.{n0}.{n1}.{nd} ({},{n}) {ex} {desc} {} {} {}",
        mask_name(mask),
        name(n0, "src0"),
        name(n1, "src1"),
        name(nd, "dst")
    );
    text(c, t)
}

/// Offsets of dwords that lie in the surface but for a few.
fn offsets(rng: &mut Rng, n: u32, align: u64) -> Vec<u64> {
    let span = Surf::Bti.len();
    (0..n).map(|_| if rng.below(8) == 0 { span + 4 } else { rng.below(span / align - 8) * align }).collect()
}

fn words(values: &[u64], bytes: usize) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()[..bytes].to_vec()).collect()
}

/// Both ways that descriptors are given, one after the other: for messages that leave memory as it is, and for
/// stores, which leave the same twice.
fn both(b: &mut Bench, c: &Case, m: Message, mask: usize) {
    b.run(send(c, m, mask, false));
    b.run(send(c, m, mask, true));
}

/// Gathers: where channel `i`'s element `k` comes from, and its bytes; each element at a register of `lanes`.
fn gathers(
    b: &mut Bench,
    rng: &mut Rng,
    m: Message,
    lanes: usize,
    (elements, bytes): (&[u64], usize),
    flat: bool,
) {
    for mask in [0, 8] {
        let n = m.3;
        let at = if flat {
            (0..n).map(|_| A + rng.below(A_BYTES as u64 / 8 - 8) * 8).collect()
        } else {
            offsets(rng, n, bytes.max(4) as u64)
        };
        let mut c = case(b, rng, m, [words(&at, if flat { 8 } else { 4 }), Vec::new()]);
        c.em(rng.next() as u32 | 1);
        let stride = (lanes * bytes.max(4)).next_multiple_of(b.grf());
        for i in (0..n).filter(|i| c.active(mask, Predicate::None, n, *i)).collect::<Vec<_>>() {
            for (row, k) in elements.iter().enumerate() {
                let place = at[i as usize] + k * bytes as u64;
                let x = match flat {
                    true => {
                        let from = (place - A) as usize;
                        b.world.a[from..from + bytes].iter().rev().fold(0, |x, b| x << 8 | *b as u64)
                    }
                    // What lies outside reads as zero.
                    false => b.world.read(Surf::Bti, place, bytes).unwrap_or(0),
                };
                let to = row * stride + i as usize * bytes.max(4);
                // Of a narrow element's dword the rest is undefined.
                c.of("dst").set(to, bytes, x);
                if bytes < 4 {
                    c.of("dst").undefined(to + bytes, 4 - bytes);
                }
            }
        }
        both(b, &c, m, mask);
    }
}

/// Scatters of whole dwords, no two of them to the same place.
fn scatters(
    b: &mut Bench,
    rng: &mut Rng,
    m: Message,
    lanes: usize,
    (elements, bytes): (&[u64], usize),
    flat: bool,
) {
    let n = m.3;
    let base = if flat { A } else { 0 };
    let at: Vec<u64> = (0..n as u64).map(|i| base + (i * 7 % 32) * 24).collect();
    let stride = (lanes * bytes.max(4)).next_multiple_of(b.grf());
    let data = rng.bytes(elements.len() * stride);
    let mut c = case(b, rng, m, [words(&at, if flat { 8 } else { 4 }), data.clone()]);
    c.em(rng.next() as u32 | 1);
    for i in (0..n).filter(|i| c.active(0, Predicate::None, n, *i)).collect::<Vec<_>>() {
        for (row, k) in elements.iter().enumerate() {
            let from = row * stride + i as usize * bytes.max(4);
            for j in 0..bytes {
                let place = at[i as usize] + k * bytes as u64 + j as u64;
                let x = data[from + j];
                match flat {
                    true => b.world.a[(place - A) as usize] = x,
                    false => *b.world.at(Surf::Bti, place).expect("inside") = x,
                }
            }
        }
    }
    both(b, &c, m, 0);
}

/// Consecutive bytes at an address that the payload has at a byte.
fn blocks(
    b: &mut Bench,
    rng: &mut Rng,
    m: Message,
    bytes: usize,
    (byte, value, place): (usize, u64, usize),
    store: bool,
) {
    let mut header = rng.bytes(b.grf());
    let size = if value >> 32 != 0 { 8 } else { 4 };
    header[byte..byte + size].copy_from_slice(&value.to_le_bytes()[..size]);
    let data = rng.bytes(bytes);
    let mut c = case(b, rng, m, [header, if store { data.clone() } else { Vec::new() }]);
    if store {
        b.world.a[place..place + bytes].copy_from_slice(&data);
    } else {
        for k in 0..bytes {
            let x = b.world.a[place + k] as u64;
            c.of("dst").set(k, 1, x);
        }
    }
    both(b, &c, m, 8);
}

/// Additions that give back what was there, one to a place.
fn additions(b: &mut Bench, rng: &mut Rng, m: Message, flat: bool) {
    for in_registers in [false, true] {
        let n = m.3;
        let base = if flat { A } else { 0 };
        let at: Vec<u64> = (0..n as u64).map(|i| base + (i * 5 % 16) * 12).collect();
        let add: Vec<u64> = (0..n).map(|_| rng.next() as u32 as u64).collect();
        let mut c = case(b, rng, m, [words(&at, if flat { 8 } else { 4 }), words(&add, 4)]);
        for i in 0..n as usize {
            let from = if flat { (at[i] - A) as usize } else { crate::harness::SURFACE + at[i] as usize };
            let cell = &mut b.world.a[from..from + 4];
            let old = u32::from_le_bytes(cell.try_into().expect("four bytes"));
            cell.copy_from_slice(&old.wrapping_add(add[i] as u32).to_le_bytes());
            c.of("dst").set(4 * i, 4, old as u64);
        }
        b.run(send(&c, m, 8, in_registers));
    }
}

/// Messages to the data caches of devices before the load/store cache.
#[test]
fn data_caches() {
    let _covers = covers("raw::data_caches");
    let mut rng = Rng(41);
    for platform in [Platform::Skl, Platform::Tgllp] {
        let mut b = Bench::new(platform, 41).unverified();
        let surface = crate::harness::SURFACE;
        for round in 0..6 {
            // oword_ld (4) T6 0x10, whose offset is in owords; oword_ld_unaligned (4), in bytes; oword_st (4)
            let m = Message(0xa, 0x0228_0303, 0, 16, [1, 0, 2]);
            blocks(&mut b, &mut rng, m, 64, (8, 16 + round, surface + 256 + 16 * round as usize), false);
            let m = Message(0xa, 0x0228_4303, 0, 16, [1, 0, 2]);
            blocks(&mut b, &mut rng, m, 64, (8, 16 + 4 * round, surface + 16 + 4 * round as usize), false);
            let m = Message(0xa, 0x020a_0303, 0x80, 16, [1, 2, 0]);
            blocks(&mut b, &mut rng, m, 64, (8, 16 + round, surface + 256 + 16 * round as usize), true);
            // svm_block_ld (4), svm_block_st (4)
            let m = Message(0xc, 0x022d_03ff, 0, 16, [1, 0, 2]);
            blocks(&mut b, &mut rng, m, 64, (0, A + 32 * round, 32 * round as usize), false);
            let m = Message(0xc, 0x020d_43ff, 0x80, 16, [1, 2, 0]);
            blocks(&mut b, &mut rng, m, 64, (0, A + 32 * round, 32 * round as usize), true);
            // gather4_scaled.RGB (16), scatter4_scaled.RG (16)
            let m = Message(0xc, 0x0460_5803, 0, 16, [2, 0, 6]);
            gathers(&mut b, &mut rng, m, 16, (&[0, 1, 2], 4), false);
            let m = Message(0xc, 0x0402_5c03, 0x100, 16, [2, 4, 0]);
            scatters(&mut b, &mut rng, m, 16, (&[0, 1], 4), false);
            // gather_scaled.1 (8), gather_scaled.4 (16), scatter_scaled.2 (8)
            gathers(&mut b, &mut rng, Message(0xa, 0x0211_0003, 0, 8, [1, 0, 1]), 8, (&[0], 1), false);
            gathers(&mut b, &mut rng, Message(0xa, 0x0421_0903, 0, 16, [2, 0, 2]), 16, (&[0], 4), false);
            scatters(&mut b, &mut rng, Message(0xa, 0x0203_0403, 0x40, 8, [1, 1, 0]), 8, (&[0], 2), false);
            // svm_gather.4.1 (8), svm_gather.1.1 (8), svm_scatter.4.1 (8)
            gathers(&mut b, &mut rng, Message(0xc, 0x0414_01ff, 0, 8, [2, 0, 1]), 8, (&[0], 4), true);
            gathers(&mut b, &mut rng, Message(0xc, 0x0414_00ff, 0, 8, [2, 0, 1]), 8, (&[0], 1), true);
            scatters(&mut b, &mut rng, Message(0xc, 0x0406_81ff, 0x40, 8, [2, 1, 0]), 8, (&[0], 4), true);
            // dword_atomic.add (16), svm_atomic.add (8)
            additions(&mut b, &mut rng, Message(0xc, 0x0420_a703, 0x80, 16, [2, 2, 2]), false);
            additions(&mut b, &mut rng, Message(0xc, 0x0414_a7ff, 0x40, 8, [2, 1, 1]), true);
        }
    }
}

/// Messages to the load/store cache.
#[test]
fn load_store_cache() {
    let _covers = covers("raw::load_store_cache");
    let mut rng = Rng(42);
    for platform in [Platform::Dg2, Platform::Pvc] {
        let mut b = Bench::new(platform, 42).unverified();
        // Registers of 32 and of 64 bytes.
        let k = if platform == Platform::Pvc { 1 } else { 2 };
        for round in 0..6u64 {
            // lsc_load.ugm (16) d32 flat a64, d32x4, lsc_load_quad.ugm .xyz, d8c32 bti(3) a32
            gathers(&mut b, &mut rng, Message(0xf, 0x0820_0580, 0, 16, [2 * k, 0, k]), 16, (&[0], 4), true);
            let m = Message(0xf, 0x0880_3580, 0, 16, [2 * k, 0, 4 * k]);
            gathers(&mut b, &mut rng, m, 16, (&[0, 1, 2, 3], 4), true);
            let m = Message(0xf, 0x0860_7582, 0, 16, [2 * k, 0, 3 * k]);
            gathers(&mut b, &mut rng, m, 16, (&[0, 1, 2], 4), true);
            let m = Message(0xf, 0x6420_0900, 0x0300_0000, 16, [k, 0, k]);
            gathers(&mut b, &mut rng, m, 16, (&[0], 1), false);
            // lsc_load.ugm (1) d32x16t flat a64, lsc_store.ugm (1) d64x8t
            let m = Message(0xf, 0x0220_d580, 0, 1, [1, 0, k]);
            blocks(&mut b, &mut rng, m, 64, (0, A + 4 * round, 4 * round as usize), false);
            let m = Message(0xf, 0x0200_c784, 0x80, 1, [1, k, 0]);
            blocks(&mut b, &mut rng, m, 64, (0, A + 8 * round, 8 * round as usize), true);
            // lsc_store.ugm (16) d32, lsc_atomic_iadd.ugm (16) d32
            scatters(
                &mut b,
                &mut rng,
                Message(0xf, 0x0800_0584, 0x80, 16, [2 * k, k, 0]),
                16,
                (&[0], 4),
                true,
            );
            additions(&mut b, &mut rng, Message(0xf, 0x0820_058c, 0x80, 16, [2 * k, k, k]), true);
        }
    }
}

/// The form with one payload: its extended descriptor is a field, whose low bits name the function.
#[test]
fn one_payload() {
    let _covers = covers("raw::one_payload");
    let mut rng = Rng(43);
    for platform in [Platform::Skl, Platform::Tgllp, Platform::Dg2, Platform::Pvc] {
        let mut b = Bench::new(platform, 43).unverified();
        for in_register in [false, true] {
            let (desc, ex, bytes) = match platform {
                Platform::Dg2 | Platform::Pvc => (0x0820_0580u32, 0xf, 4),
                _ => (0x0414_01ff, 0xc, 4),
            };
            let n = if ex == 0xf { 16u64 } else { 8 };
            let at: Vec<u64> = (0..n).map(|_| A + rng.below(200) * 4).collect();
            let mut c = Case::default();
            c.bytes("src", "uq", &words(&at, 8));
            c.bytes("dst", "ud", &rng.bytes(n as usize * bytes));
            c.var("desc", "ud", &[desc as u64]);
            for (i, at) in at.iter().enumerate() {
                let from = (at - A) as usize;
                let x = b.world.a[from..from + 4].iter().rev().fold(0, |x, b| x << 8 | *b as u64);
                c.of("dst").set(4 * i, 4, x);
            }
            let (src, dst) = ((n as usize * 8).div_ceil(b.grf()), (n as usize * 4).div_ceil(b.grf()));
            let desc = if in_register { "$desc(0,0)<0;1,0>".to_owned() } else { format!("0x{desc:x}:ud") };
            let t = format!("raw_send (M1,{n}) 0x{ex:x} {src} {dst} {desc} $src.0 $dst.0");
            b.run(text(&c, t));
        }
    }
}

/// Fences are orders to a memory that keeps its order; what cannot be decoded says function and descriptor.
#[test]
fn others() {
    let mut rng = Rng(44);
    let mut b = Bench::new(Platform::Dg2, 44).unverified();
    // A fence of the load/store cache.
    for in_registers in [false, true] {
        let m = Message(0xf, 0x0210_011f, 0, 8, [1, 0, 0]);
        let c = case(&b, &mut rng, m, [Vec::new(), Vec::new()]);
        b.run(send(&c, m, 8, in_registers));
    }
    let mut refused = |platform, m: Message, says: [&str; 3]| {
        let mut b = Bench::new(platform, 45).unverified();
        for in_registers in [false, true] {
            let c = case(&b, &mut rng, m, [Vec::new(), Vec::new()]);
            match b.fault(&send(&c, m, 8, in_registers)).cause {
                Cause::Unsupported { reason, .. } => {
                    for word in says {
                        assert!(reason.contains(word), "{reason} does not say {word}");
                    }
                }
                other => panic!("{other:?}"),
            }
        }
    };
    let m = |function, desc, regs| Message(function, desc, 0, 16, regs);
    refused(Platform::Skl, m(6, 0x0204_0007, [1, 0, 1]), ["the URB", "0x02040007", "not decoded"]);
    refused(Platform::Skl, m(0xf, 0x0820_0580, [4, 0, 2]), ["no function", "0x08200580", "not decoded"]);
    // More than the operands have.
    refused(Platform::Dg2, m(0xf, 0x0820_0580, [4, 0, 1]), ["UGM", "response", "64 bytes"]);
    refused(Platform::Dg2, m(0xf, 0x0820_0580, [3, 0, 2]), ["UGM", "payload", "longer"]);
    refused(Platform::Dg2, m(0xf, 0x0800_0584, [4, 0, 0]), ["UGM", "payload", "register 4"]);
    refused(Platform::Dg2, m(0xf, 0x0820_0e80, [4, 0, 2]), ["UGM", "data size", "is not defined"]);
    refused(Platform::Dg2, m(0xf, 0x0820_0583, [4, 0, 2]), ["UGM", "2D block", "payload"]);
    refused(Platform::Skl, m(0xc, 0x0460_5f03, [2, 0, 6]), ["data cache 1", "no channel", "0x04605f03"]);
}
