//! Untyped LSC messages: loads and stores over data sizes, vector sizes, address models and sizes, factors and
//! offsets; quads, strides, blocks, 2D blocks, prefetches, status, fences.

use crate::founding::{masked, predicated, stretch, text, wrapped};
use crate::harness::{A, A_BYTES, Bench, Case, Predicate, Rng, Surf, covers, mask_name};
use crate::scattered::masks;
use envisa::isa::Platform;
use envisa_machine::trap::Cause;

/// How a message's addresses are meant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Model {
    Flat,
    Slm,
    SlmShort,
    Bti,
    Bss,
    Arg,
}

impl Model {
    pub const ALL: [Model; 6] =
        [Model::Flat, Model::Slm, Model::SlmShort, Model::Bti, Model::Bss, Model::Arg];

    pub fn sfid(self) -> &'static str {
        if matches!(self, Model::Slm | Model::SlmShort) { "slm" } else { "ugm" }
    }

    /// The operand before the brackets, the addresses' type, the suffix.
    pub fn text(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Model::Flat => ("flat", "uq", "a64"),
            Model::Slm => ("flat", "ud", "a32"),
            Model::SlmShort => ("flat", "uw", "a16"),
            Model::Bti => ("bti(0x3)", "ud", "a32"),
            // The handle of binding-table index 3.
            Model::Bss => ("bss(0x100)", "ud", "a32"),
            Model::Arg => ("arg", "ud", "a32"),
        }
    }

    fn surface(self) -> Option<Surf> {
        match self {
            Model::Flat => None,
            Model::Slm | Model::SlmShort => Some(Surf::Slm),
            Model::Bti | Model::Bss => Some(Surf::Bti),
            Model::Arg => Some(Surf::State),
        }
    }

    /// Are accesses outside faults?
    fn strict(self) -> bool {
        matches!(self, Model::Flat | Model::Arg)
    }

    /// An address (of the flat model less `A`) with `span` bytes from there on, inside where that is needed.
    pub fn place(self, rng: &mut Rng, span: u64, align: u64) -> u64 {
        match self {
            Model::Flat => rng.below(A_BYTES as u64 - span + 1) / align * align,
            Model::Arg => rng.below(256 - span + 1) / align * align,
            Model::SlmShort => stretch(rng, Surf::Slm, span, align) & 0xffff,
            Model::Slm => stretch(rng, Surf::Slm, span, align) | (Surf::Slm.bias() * rng.below(2)),
            _ => stretch(rng, Surf::Bti, span, align),
        }
    }

    /// The element of `n` bytes at a place that [`Model::place`] gave, `add` bytes further.
    pub fn read(self, b: &mut Bench, at: u64, add: u64, n: usize) -> Option<u64> {
        match self.surface() {
            Some(s) => b.world.read(s, wrapped(s, at) + add, n),
            None => {
                let at = (at + add) as usize;
                Some(b.world.a[at..at + n].iter().rev().fold(0, |x, b| x << 8 | *b as u64))
            }
        }
    }

    pub fn write(self, b: &mut Bench, at: u64, add: u64, n: usize, x: u64) {
        match self.surface() {
            Some(s) => b.world.write(s, wrapped(s, at) + add, n, x),
            None => b.world.a[(at + add) as usize..][..n].copy_from_slice(&x.to_le_bytes()[..n]),
        }
    }

    /// What stands in the address register, given a factor and an offset.
    pub fn register(self, at: u64, scale: u64, imm: i64) -> u64 {
        match self {
            Model::Flat => (A + at).wrapping_sub(imm as u64) / scale,
            Model::SlmShort => (at.wrapping_sub(imm as u64) & 0xffff_ffff) / scale,
            _ => (at.wrapping_sub(imm as u64) & 0xffff_ffff) / scale,
        }
    }
}

/// `[0x4*$addr+0x10]`.
fn brackets(scale: u64, imm: i64, more: &str) -> String {
    let scale = if scale == 1 { String::new() } else { format!("0x{scale:x}*") };
    let imm = match imm {
        0 => String::new(),
        i if i < 0 => format!("-0x{:x}", -i),
        i => format!("+0x{i:x}"),
    };
    format!("[{scale}$addr{imm}{more}]")
}

/// Data sizes: text, bytes in memory, bytes in a register, in the upper half.
const SIZES: [(&str, usize, usize, bool); 5] = [
    ("d8c32", 1, 4, false),
    ("d16c32", 2, 4, false),
    ("d16c32h", 2, 4, true),
    ("d32", 4, 4, false),
    ("d64", 8, 8, false),
];
const CACHES: [(&str, &str); 4] =
    [("", ""), (".uc.uc", ".uc.uc"), (".ca.ca", ".wb.wb"), (".st.uc", ".wt.uc")];

/// Loads and stores of vectors; `store_uncompressed` is a store.
#[test]
fn vectors() {
    let _covers = covers("lsc::vectors");
    let mut rng = Rng(1);
    let mut b = Bench::new(Platform::Pvc, 80);
    for model in Model::ALL {
        for (name, element, slot, upper) in SIZES {
            for count in [1u64, 2, 3, 4] {
                // Small data comes alone.
                if count > 1 && element < 4 {
                    continue;
                }
                for n in [1u32, 2, 4, 8, 16, 32] {
                    for mask in masks(n) {
                        let write = model != Model::Arg && rng.below(2) == 0;
                        let p = rng.pick(&Predicate::ALL);
                        let mut c = predicated(&mut rng, p);
                        let scale = if model == Model::SlmShort { 1 } else { rng.pick(&[1u64, 1, 2, 4]) };
                        let imm =
                            if model == Model::SlmShort { 0 } else { rng.pick(&[0i64, 0, 16, -16, 0x100]) };
                        let span = element as u64 * count;
                        let align = scale.max(element as u64);
                        let first = model.place(&mut rng, (span * n as u64).min(250), align);
                        let pattern = rng.below(4);
                        let at: Vec<u64> = (0..n as u64)
                            .map(|i| match pattern {
                                0 if span * n as u64 <= 250 => first + i * span,
                                1 => first,
                                _ => model.place(&mut rng, span, align),
                            })
                            .map(|a| if model == Model::SlmShort { a & 0xffff } else { a / align * align })
                            .collect();
                        let (what, ty, size) = model.text();
                        let registers: Vec<u64> = at.iter().map(|a| model.register(*a, scale, imm)).collect();
                        c.var("addr", ty, &registers);
                        let pitch = (n as usize * slot).next_multiple_of(64);
                        let bytes = (count as usize - 1) * pitch + n as usize * slot;
                        c.bytes("data", if slot == 8 { "uq" } else { "ud" }, &rng.bytes(bytes));
                        for i in (0..n as usize).filter(|_| true) {
                            if !c.active(mask, p, n, i as u32) {
                                continue;
                            }
                            for v in 0..count as usize {
                                let reg = v * pitch + i * slot;
                                let add = (v * element) as u64;
                                if write {
                                    let x = c.of("data").get(reg, slot) >> if upper { 16 } else { 0 };
                                    model.write(&mut b, at[i], add, element, x);
                                } else {
                                    let x = model.read(&mut b, at[i], add, element).unwrap_or(0);
                                    c.of("data").set(reg, slot, x << if upper { 16 } else { 0 });
                                }
                            }
                        }
                        let x = if count == 1 { String::new() } else { format!("x{count}") };
                        let data = format!("$data:{name}{x}");
                        let address = format!("{what}{}:{size}", brackets(scale, imm, ""));
                        let cache = if model.sfid() == "slm" { ("", "") } else { rng.pick(&CACHES) };
                        let head = format!("{} ({},{n})", model.sfid(), mask_name(mask));
                        let t = if write {
                            let op = if rng.below(6) == 0 && model.sfid() == "ugm" {
                                "lsc_store_uncompressed"
                            } else {
                                "lsc_store"
                            };
                            let head = head.replacen(' ', &format!("{} ", cache.1), 1);
                            format!("{}{op}.{head} {address} {data}", p.text())
                        } else {
                            let head = head.replacen(' ', &format!("{} ", cache.0), 1);
                            format!("{}lsc_load.{head} {data} {address}", p.text())
                        };
                        b.run(text(&c, t));
                    }
                }
            }
        }
    }
}

/// Quads: every channel mask.
#[test]
fn quads() {
    let _covers = covers("lsc::quads");
    let mut rng = Rng(2);
    let mut b = Bench::new(Platform::Pvc, 81);
    for model in Model::ALL {
        for channels in 1..16u32 {
            for (name, size) in [("d32", 4usize), ("d64", 8)] {
                for n in [1u32, 8, 16, 32] {
                    let enabled: Vec<u64> = (0..4).filter(|c| channels >> c & 1 != 0).collect();
                    let mask = rng.pick(&masks(n));
                    let write = model != Model::Arg && rng.below(2) == 0;
                    let mut c = predicated(&mut rng, Predicate::None);
                    let at: Vec<u64> = (0..n).map(|_| model.place(&mut rng, 32, 4)).collect();
                    let (what, ty, bits) = model.text();
                    c.var("addr", ty, &at.iter().map(|a| model.register(*a, 1, 0)).collect::<Vec<_>>());
                    let pitch = (n as usize * size).next_multiple_of(64);
                    c.bytes("data", "ud", &rng.bytes((enabled.len() - 1) * pitch + n as usize * size));
                    for i in 0..n as usize {
                        for (k, ch) in enabled.iter().enumerate() {
                            if !c.active(mask, Predicate::None, n, i as u32) {
                                continue;
                            }
                            let reg = k * pitch + i * size;
                            if write {
                                let x = c.of("data").get(reg, size);
                                model.write(&mut b, at[i], ch * size as u64, size, x);
                            } else {
                                let x = model.read(&mut b, at[i], ch * size as u64, size).unwrap_or(0);
                                c.of("data").set(reg, size, x);
                            }
                        }
                    }
                    let letters: String = "xyzw"
                        .chars()
                        .enumerate()
                        .filter(|(k, _)| channels >> k & 1 != 0)
                        .map(|x| x.1)
                        .collect();
                    let (m, sfid) = (mask_name(mask), model.sfid());
                    let (data, address) =
                        (format!("$data:{name}.{letters}"), format!("{what}[$addr]:{bits}"));
                    let t = match write {
                        true => format!("lsc_store_quad.{sfid} ({m},{n}) {address} {data}"),
                        false => format!("lsc_load_quad.{sfid} ({m},{n}) {data} {address}"),
                    };
                    b.run(text(&c, t));
                }
            }
        }
    }
}

/// Transposed: one address, elements side by side in the register.
#[test]
fn transposed() {
    let _covers = covers("lsc::transposed");
    let mut rng = Rng(3);
    let mut b = Bench::new(Platform::Pvc, 82);
    for model in Model::ALL {
        for (name, size) in [("d32", 4usize), ("d64", 8)] {
            for count in [1usize, 2, 3, 4, 8, 16, 32, 64] {
                let span = (size * count) as u64;
                if span > 250 && matches!(model, Model::Arg | Model::Slm | Model::SlmShort) {
                    continue; // Less is compared.
                }
                for round in 0..12 {
                    let write = model != Model::Arg && round % 2 == 0;
                    let mut c = masked(&mut rng);
                    let mask = rng.pick(&[0usize, 8, 3, 15]);
                    let mut at = match model {
                        Model::Bti | Model::Bss => rng.below(1000) / 4 * 4,
                        _ => model.place(&mut rng, span, size as u64),
                    };
                    // Whole elements fit before the end of the surface.
                    if matches!(model, Model::Bti | Model::Bss) && size == 8 {
                        at = at / 8 * 8 + Surf::Bti.len() % 8;
                    }
                    let imm = if model == Model::SlmShort { 0 } else { rng.pick(&[0i64, 16, -16]) };
                    let (what, ty, bits) = model.text();
                    c.var("addr", ty, &[model.register(at, 1, imm)]);
                    c.bytes("data", if size == 8 { "uq" } else { "ud" }, &rng.bytes(span as usize));
                    if c.active(mask, Predicate::None, 1, 0) {
                        for v in 0..count {
                            let add = (v * size) as u64;
                            if write {
                                let x = c.of("data").get(v * size, size);
                                model.write(&mut b, at, add, size, x);
                            } else {
                                let x = model.read(&mut b, at, add, size).unwrap_or(0);
                                c.of("data").set(v * size, size, x);
                            }
                        }
                    }
                    let (m, sfid) = (mask_name(mask), model.sfid());
                    let (data, address) =
                        (format!("$data:{name}x{count}t"), format!("{what}{}:{bits}", brackets(1, imm, "")));
                    let t = match write {
                        true => format!("lsc_store.{sfid} ({m},1) {address} {data}"),
                        false => format!("lsc_load.{sfid} ({m},1) {data} {address}"),
                    };
                    b.run(text(&c, t));
                }
            }
        }
    }
}

/// Strided: one address, and the distance from channel to channel (0: a broadcast; left out: side by side).
#[test]
fn strided() {
    let _covers = covers("lsc::strided");
    let mut rng = Rng(4);
    let mut b = Bench::new(Platform::Pvc, 83);
    for model in [Model::Flat, Model::Slm, Model::Bti] {
        for (name, size) in [("d32", 4usize), ("d64", 8)] {
            for n in [1u32, 8, 16, 32] {
                for stride in [None, Some(0u64), Some(4), Some(8), Some(12), Some(24)] {
                    for write in [false, true] {
                        let mask = rng.pick(&masks(n));
                        let mut c = predicated(&mut rng, Predicate::None);
                        let step = stride.unwrap_or(size as u64);
                        let span = step * (n as u64 - 1) + size as u64;
                        if model != Model::Flat && span > 250 {
                            continue;
                        }
                        let at = model.place(&mut rng, span, 4);
                        // Side by side they may cross the end together.
                        let at = if model == Model::Slm { at & 0x0fff_ffff } else { at };
                        let (what, ty, bits) = model.text();
                        c.var("addr", ty, &[model.register(at, 1, 16)]);
                        c.var("stride", "ud", &[step]);
                        c.bytes("data", "ud", &rng.bytes(n as usize * size));
                        for i in 0..n as usize {
                            if !c.active(mask, Predicate::None, n, i as u32) {
                                continue;
                            }
                            let at = match model {
                                Model::Flat => at + step * i as u64,
                                _ => (at + step * i as u64) & 0xffff_ffff,
                            };
                            if write {
                                let x = c.of("data").get(i * size, size);
                                model.write(&mut b, at, 0, size, x);
                            } else {
                                let x = model.read(&mut b, at, 0, size).unwrap_or(0);
                                c.of("data").set(i * size, size, x);
                            }
                        }
                        let more = match stride {
                            None => String::new(),
                            Some(_) if rng.below(2) == 0 => ", $stride(0,0)".into(),
                            Some(s) => format!(", 0x{s:x}"),
                        };
                        let (m, sfid) = (mask_name(mask), model.sfid());
                        let (data, address) =
                            (format!("$data:{name}"), format!("{what}{}:{bits}", brackets(1, 16, &more)));
                        let t = match write {
                            true => format!("lsc_store_strided.{sfid} ({m},{n}) {address} {data}"),
                            false => format!("lsc_load_strided.{sfid} ({m},{n}) {data} {address}"),
                        };
                        b.run(text(&c, t));
                    }
                }
            }
        }
    }
}

/// 2D blocks: what lies outside reads zero and is not written; rows are padded to powers of two, blocks to
/// registers; columns become rows, rows are interleaved.
#[test]
fn blocks_2d() {
    let _covers = covers("lsc::blocks_2d");
    let mut rng = Rng(5);
    let mut b = Bench::new(Platform::Pvc, 84).unverified();
    // 13 rows of 64 bytes, 72 apart.
    let (width, height, pitch) = (64i64, 13i64, 72i64);
    for (name, size) in [("d8", 1usize), ("d16", 2), ("d32", 4), ("d64", 8)] {
        for (transpose, vnni) in [(false, false), (false, true), (true, false)] {
            for (blocks, w, h) in [
                (1usize, 8usize, 8usize),
                (2, 8, 4),
                (1, 16, 8),
                (4, 4, 8),
                (1, 5, 4),
                (2, 3, 12),
                (1, 64, 2),
                (1, 1, 1),
            ] {
                let per_dword = 4 / size.min(4);
                if w * size > 64 || vnni && (size > 2 || !h.is_multiple_of(per_dword)) {
                    continue;
                }
                for write in [false, true] {
                    if write && (blocks > 1 || transpose || vnni) {
                        continue;
                    }
                    for _ in 0..6 {
                        let columns = width / size as i64;
                        let x = rng.below(columns as u64 + 16) as i64 - 8;
                        let y = rng.below(24) as i64 - 6;
                        let row = if transpose { h } else { w }.next_power_of_two();
                        let rows = if transpose { w } else { h };
                        let block = (row * rows).next_multiple_of(64 / size);
                        let mut c = Case::default();
                        c.var("base", "uq", &[A]);
                        c.var("w", "ud", &[width as u64 - 1, height as u64 - 1, pitch as u64 - 1]);
                        c.var("x", "d", &[x as u32 as u64, y as u32 as u64]);
                        c.bytes("data", "ud", &rng.bytes(blocks * block * size));
                        if !write {
                            let n = blocks * block * size;
                            c.of("data").after[..n].fill(0);
                        }
                        for k in 0..blocks {
                            for r in 0..h {
                                for col in 0..w {
                                    let slot = k * block
                                        + match (transpose, vnni) {
                                            (false, false) => r * row + col,
                                            (true, _) => col * row + r,
                                            (false, true) => {
                                                (r - r % per_dword) * row + col * per_dword + r % per_dword
                                            }
                                        };
                                    let (gx, gy) = (x + (k * w + col) as i64, y + r as i64);
                                    if !(0..columns).contains(&gx) || !(0..height).contains(&gy) {
                                        continue;
                                    }
                                    let at = (gy * pitch + gx * size as i64) as usize;
                                    if write {
                                        let v = c.of("data").after[slot * size..][..size].to_vec();
                                        b.world.a[at..at + size].copy_from_slice(&v);
                                    } else {
                                        let v = b.world.a[at..at + size].to_vec();
                                        c.of("data").after[slot * size..][..size].copy_from_slice(&v);
                                    }
                                }
                            }
                        }
                        let order =
                            format!("{}{}", if transpose { 't' } else { 'n' }, if vnni { 't' } else { 'n' });
                        let data = format!("$data:{name}.{blocks}x{w}x{h}{order}");
                        let s = |k: u32| format!("$w(0,{k})");
                        let address = format!("flat[$base(0,0),{},{},{},$x(0,0),$x(0,1)]", s(0), s(1), s(2));
                        let t = match write {
                            true => format!("lsc_store_block2d.ugm (M1_NM,1) {address} {data}"),
                            false => format!("lsc_load_block2d.ugm (M1_NM,1) {data} {address}"),
                        };
                        b.run(text(&c, t));
                    }
                }
            }
        }
    }
}

/// Prefetches read nothing, wherever they point; a fence changes nothing; the status tells which channels'
/// addresses have memory.
#[test]
fn prefetches_fences_status() {
    let _covers = covers("lsc::prefetches_fences_status");
    let mut rng = Rng(6);
    let mut b = Bench::new(Platform::Pvc, 85);
    for t in [
        "lsc_load.ugm.ca.ca (M1,16) %null:d32 flat[$addr]:a64",
        "lsc_load.ugm (M1,16) %null:d32x4 flat[$addr+0x100]:a64",
        "lsc_load.ugm (M1,1) %null:d64x8t flat[$addr]:a64",
        "lsc_fence.ugm.none.group",
        "lsc_fence.ugm.evict.gpu",
        "lsc_fence.slm.none.group",
        "lsc_fence.tgm.invalidate.gpus",
    ] {
        let mut c = Case::new(t);
        c.var("addr", "uq", &(0..16).map(|_| rng.next()).collect::<Vec<_>>());
        b.run(c);
    }
    for n in [1u32, 8, 16, 32] {
        for mask in masks(n) {
            let mut c = predicated(&mut rng, Predicate::None);
            let at: Vec<u64> = (0..n).map(|_| A + 990 + rng.below(20)).collect();
            c.var("addr", "uq", &at);
            c.bytes("dst", "ud", &rng.bytes(4));
            let valid = (0..n)
                .filter(|i| {
                    c.active(mask, Predicate::None, n, *i) && at[*i as usize] + 8 <= A + A_BYTES as u64
                })
                .fold(0u64, |m, i| m | 1 << i);
            // Without any channel the message is not sent.
            if (0..n).any(|i| c.active(mask, Predicate::None, n, i)) {
                c.of("dst").set(0, 4, valid);
            } else {
                c.of("dst").undefined(0, 4);
            }
            b.run(text(
                &c,
                format!("lsc_load_status.ugm ({},{n}) $dst:d32x2 flat[$addr]:a64", mask_name(mask)),
            ));
        }
    }
}

/// Flat addresses and implicit arguments outside are faults of their channel, surfaces are not.
#[test]
fn faults() {
    let _covers = covers("lsc::faults");
    let mut b = Bench::new(Platform::Pvc, 86);
    for model in Model::ALL {
        let (what, ty, bits) = model.text();
        for (op, write) in [("lsc_load", false), ("lsc_store", true)] {
            let outside = match model {
                Model::Flat if write => A + A_BYTES as u64 - 2,
                // A read that starts inside may pass the end.
                Model::Flat => A + A_BYTES as u64,
                Model::SlmShort => 0xfff0,
                _ => 0x0800_0000,
            };
            let mut c = Case::default();
            let inside = if model == Model::Flat { A } else { 0 };
            let addresses: Vec<u64> =
                (0..16).map(|i| if i == 11 { outside } else { inside + 4 * i }).collect();
            c.var("addr", ty, &addresses);
            c.bytes("data", "ud", &[7; 64]);
            let address = format!("{what}[$addr]:{bits}");
            let t = match write {
                true => format!("{op}.{} (M5,16) {address} $data:d32", model.sfid()),
                false => format!("{op}.{} (M5,16) $data:d32 {address}", model.sfid()),
            };
            if !model.strict() {
                continue;
            }
            let trap = b.fault(&text(&c, t));
            assert_eq!(trap.channel, Some(16 + 11));
            assert!(matches!(trap.cause, Cause::Memory { address, bytes: 4, write: w, .. }
                if address == outside && w == write));
        }
    }
}
