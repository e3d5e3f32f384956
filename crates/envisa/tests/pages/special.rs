//! Pages ADDR_ADD, MOVS, LIFETIME, FENCE, YIELD and their kind; predefined variables; indirect operands.

use crate::harness::{Bench, Case, Program};
use crate::model::T::*;
use crate::model::*;
use crate::shapes::{mask_text, places};
use envisa::isa::Platform;

/// Address arithmetic: 16 bits, one element for each channel.
fn addresses() {
    let mut b = Bench::new(Platform::Skl);
    let values: Vec<u64> = (0..256).map(|i| i * 7 + 1).collect();
    for (n, first) in places(0x1f) {
        // Addresses from words, added to the variable's.
        let offsets: Vec<u64> = (0..n as u64).map(|i| (i * 37 % 64) * 4).collect();
        let want: Vec<u64> = (0..n).map(|i| values[offsets[i] as usize / 4 + 5]).collect();
        let m = mask_text(n, first, false);
        let c = Case::new(format!(
            "addr_add {m} $a(0)<1> &$v[16] $o(0,0)<1;1,0>\nmov {m} $d(0,0)<1> r[$a(0),4]<1,0>:ud"
        ));
        b.run(c.address("a").var("v", Ud, &values).var("o", Uw, &offsets).bits("d", Ud, &vec![0; n], &want));
        // Address plus immediate, address plus address' worth of words.
        let step = 4 * (first as u64 + 1);
        let want: Vec<u64> = (0..n).map(|i| values[offsets[i] as usize / 4 + step as usize / 4]).collect();
        let c = Case::new(format!(
            "addr_add {m} $a(0)<1> &$v[0] $o(0,0)<1;1,0>\naddr_add {m} $b(0)<1> $a(0)<{n}> {step}:uw\nmov {m} $d(0,0)<1> r[$b(0),0]<1,0>:ud"
        ));
        b.run(c.address("a").address("b").var("v", Ud, &values).var("o", Uw, &offsets).bits(
            "d",
            Ud,
            &vec![0; n],
            &want,
        ));
    }
    // Channels that are off keep their addresses.
    let c = Case::new("addr_add (M1,8) $a(0)<1> &$v[0] 0x40:uw")
        .before("addr_add (M1_NM,8) $a(0)<1> &$v[0] 0x0:uw")
        .address("a")
        .em(0x0f)
        .var("v", Ud, &values);
    b.run(c.clone());
    // An indirect destination with a stride.
    let mut after = vec![0u64; 64];
    (0..8).for_each(|i| after[3 + 2 * i] = 9);
    let c = Case::new("addr_add (M1_NM,1) $a(2)<1> &$v[4] 0x10:uw\nmov (M1,8) r[$a(2),-8]<2>:ud 0x9:ud")
        .address("a");
    b.run(c.bits("v", Ud, &[0; 64], &after));
}

/// States move between surface variables and registers.
fn movs() {
    let mut b = Bench::new(Platform::Skl);
    b.run(
        Case::new("movs (M1_NM,1) %bss(0) $s(0,1)<0;1,0>\nmovs (M1_NM,1) $d(0,2)<1> %bss(0)")
            .var("s", Ud, &[5, 77, 6])
            .bits("d", Ud, &[1, 1, 1, 1], &[1, 1, 77, 1]),
    );
    b.run(Case::new("movs (M1_NM,1) %bss(0) 0x123:ud\nmovs (M1_NM,1) $d(0,0)<1> %bss(0)").bits(
        "d",
        Ud,
        &[1],
        &[0x123],
    ));
    b.run(
        Case::new("movs (M1_NM,1) S31(0) $s(0,0)<0;1,0>\nmovs (M1_NM,1) $d(0,0)<1> S31(0)")
            .var("s", Ud, &[9])
            .bits("d", Ud, &[1], &[9]),
    );
}

/// Instructions without an effect on registers.
fn no_effect() {
    let mut b = Bench::new(Platform::Skl);
    let keep = [0x1111_2222, 0x3333_4444];
    for text in [
        "lifetime.start $v\nlifetime.end $v",
        "yield",
        "fence_global.E",
        "fence_global.EISCRL1",
        "fence_sw",
        "sampler_cache_flush",
        "wait 0x0:ub",
        "FILE \"a.c\"",
        "LOC 12",
    ] {
        b.run(Case::new(text).var("v", Ud, &keep));
    }
    let mut b = Bench::new(Platform::Tgllp);
    b.run(Case::new("fence_local.E").var("v", Ud, &keep));
    let mut b = Bench::new(Platform::Pvc);
    for sfid in ["ugm", "slm", "tgm"] {
        for op in ["none", "evict", "invalidate"] {
            for scope in ["group", "local", "tile", "gpu"] {
                b.run(Case::new(format!("lsc_fence.{sfid}.{op}.{scope}")).var("v", Ud, &keep));
            }
        }
    }
    let mut b = Bench::new(Platform::Pvc).version("4.2");
    b.run(Case::new("breakpoint").var("v", Ud, &keep));
    let mut b = Bench::new(Platform::Xe3p).version("4.2");
    let address = [0u64; 16];
    let c = Case::new("lsc_extended_cache_ctrl.ugm.reset.64B (M1,16) flat[$a]:a64");
    b.run(c.var("v", Ud, &keep).var("a", Uq, &address));
}

/// Typed writes without compression, and whether texels are resident: those of an image are, others not.
fn typed_rest() {
    let text = "\
.version 4.1
.kernel \"k\"
.decl U v_type=G type=ud num_elts=16 align=wordx32
.decl W v_type=G type=ud num_elts=16 align=wordx32
.decl Y v_type=G type=ud num_elts=16 align=wordx32
.decl D v_type=G type=ud num_elts=16 align=wordx32
.decl S v_type=G type=ud num_elts=16 align=wordx32
.kernel_attr SimdSize=16
.kernel_attr Target=\"cm\"
mov (M1,8) U(0,0)<1> 0x76543210:uv
mov (M1,16) W(0,0)<1> 0x0:ud
mov (M1,16) Y(0,0)<1> 0x1:ud
add (M1,8) D(0,0)<1> U(0,0)<1;1,0> 0x100:ud
lsc_store_uncompressed.tgm (M1,8) bti(0x4)[U,Y]:a32 D:d32
lsc_load_status.tgm (M1,8) S:d32 bti(0x4)[U,Y]:a32
mov (M1,8) D(0,0)<1> S(0,0)<0;1,0>
lsc_store_uncompressed.tgm (M1,8) bti(0x4)[U,W]:a32 D:d32
add (M1,8) U(0,0)<1> U(0,0)<1;1,0> 0x4:ud
mov (M1,16) S(0,0)<1> 0x0:ud
lsc_load_status.tgm (M1,8) S:d32 bti(0x4)[U,W]:a32
add (M1,8) U(0,0)<1> U(0,0)<1;1,0> 0xfffffffc:ud
add (M1,8) Y(0,0)<1> Y(0,0)<1;1,0> 0x1:ud
mov (M1,8) D(0,0)<1> S(0,0)<0;1,0>
lsc_store_uncompressed.tgm (M1,8) bti(0x4)[U,Y]:a32 D:d32
ret (M1,16)
";
    let p = Program { platform: Platform::Pvc, buffer: vec![0xcc; 512], ..Program::new(text) };
    let (got, trap) = p.run();
    assert!(trap.is_none(), "{trap:?}");
    // One component of four is written.
    let row = |y: usize| (0..8).map(|x| got[y * 32 + x * 4]).collect::<Vec<u32>>();
    assert_eq!(row(1), (0x100..0x108).collect::<Vec<u32>>());
    assert_eq!(row(0), [0xff; 8], "all eight texels are there");
    assert_eq!(row(2), [0x0f; 8], "four of them are beside the image");
    assert_eq!(row(3), [0xcccc_cccc; 8]);
    assert!(got.iter().enumerate().all(|(i, x)| i % 4 == 0 || *x == 0xcccc_cccc));
}

/// What the machine fills: r0, the group's number, the execution mask, the slot.
fn predefined_variables() {
    let text = "\
.version 4.1
.kernel \"k\"
.decl V v_type=G type=ud num_elts=8 align=GRF
.decl O v_type=G type=ud num_elts=1
.decl P1 v_type=P num_elts=32
.decl T6 v_type=T num_elts=1
.kernel_attr SimdSize=8
.kernel_attr Target=\"cm\"
mov (M1_NM,1) V(0,0)<1> %r0(0,1)<0;1,0>
mov (M1_NM,1) V(0,1)<1> %r0(0,6)<0;1,0>
mov (M1_NM,1) V(0,2)<1> %r0(0,7)<0;1,0>
and (M1_NM,1) V(0,3)<1> %r0(0,2)<0;1,0> 0xff:ud
mov (M1_NM,1) V(0,4)<1> %group_id_x(0,0)<0;1,0>
mov (M1_NM,1) V(0,5)<1> %group_id_y(0,0)<0;1,0>
mov (M1_NM,1) V(0,6)<1> %group_id_z(0,0)<0;1,0>
mov (M1_NM,1) V(0,7)<1> %cr0(0,0)<0;1,0>
mad (M1_NM,1) O(0,0)<1> V(0,2)<0;1,0> 0x2:uw V(0,1)<0;1,0>
mad (M1_NM,1) O(0,0)<1> O(0,0)<0;1,0> 0x3:uw V(0,0)<0;1,0>
mad (M1_NM,1) O(0,0)<1> O(0,0)<0;1,0> 0x4:uw V(0,3)<0;1,0>
shl (M1_NM,1) O(0,0)<1> O(0,0)<0;1,0> 0x1:ud
oword_st (2) T6 O(0,0)<0;1,0> V.0
ret (M1,8)
";
    let p = Program { groups: [3, 2, 2], threads: 4, buffer: vec![0; 12 * 4 * 32], ..Program::new(text) };
    let (got, trap) = p.run();
    assert!(trap.is_none(), "{trap:?}");
    let mut want = Vec::new();
    for z in 0..2 {
        for y in 0..2 {
            for x in 0..3 {
                for t in 0..4 {
                    want.extend([x, y, z, t, x, y, z, 0]);
                }
            }
        }
    }
    assert_eq!(got, want);
}

/// `%sr0.2`: the channels of the dispatch; `%tsc`: later is more.
fn state_and_time() {
    let text = "\
.version 4.1
.kernel \"k\"
.decl V v_type=G type=ud num_elts=8 align=GRF
.decl O v_type=G type=ud num_elts=1
.decl T v_type=G type=uq num_elts=1 alias=<%tsc,0>
.decl Q v_type=G type=uq num_elts=4 alias=<V,0>
.decl N v_type=G type=ud num_elts=1
.decl P1 v_type=P num_elts=1
.decl T6 v_type=T num_elts=1
.kernel_attr SimdSize=8
.kernel_attr Target=\"cm\"
mov (M1_NM,1) Q(0,0)<1> T(0,0)<0;1,0>
mov (M1_NM,1) V(0,2)<1> %tsc(0,0)<0;1,0>
mov (M1_NM,1) V(0,3)<1> %tsc(0,1)<0;1,0>
mov (M1_NM,1) N(0,0)<1> 0x0:ud
L:
add (M1_NM,1) N(0,0)<1> N(0,0)<0;1,0> 0x1:ud
cmp.lt (M1_NM,1) P1 N(0,0)<0;1,0> 0x32:ud
(P1) goto (M1,1) L
mov (M1_NM,1) V(0,4)<1> %tsc(0,0)<0;1,0>
mov (M1_NM,1) V(0,5)<1> %tsc(0,2)<0;1,0>
mov (M1_NM,1) V(0,6)<1> %sr0(0,2)<0;1,0>
mov (M1_NM,1) V(0,7)<1> %hw_id(0,0)<0;1,0>
shl (M1_NM,1) O(0,0)<1> %group_id_x(0,0)<0;1,0> 0x1:ud
oword_st (2) T6 O(0,0)<0;1,0> V.0
ret (M1,8)
";
    let p = Program { groups: [2, 1, 1], buffer: vec![0; 2 * 32], ..Program::new(text) };
    let (got, trap) = p.run();
    assert!(trap.is_none(), "{trap:?}");
    for v in got.chunks(8) {
        // Low and high dword; each reading is later, a loop of 50 rounds takes at least 50.
        assert!(v[1] == 0 && v[0] < v[2] && v[3] == 0 && v[2] + 50 <= v[4], "{v:?}");
        assert_eq!((v[5], v[6], v[7]), (0, 0xff, 0), "no event, all channels, the only slot");
    }
    assert_eq!(got, p.run().0, "the same in each run");
}

/// `%ce0`: the execution mask of the instruction that reads it.
fn channel_enables() {
    let mut b = Bench::new(Platform::Skl);
    for em in [u32::MAX, 0xff00, 1, 0x8000_0001, 0x1234_5678] {
        let c =
            Case::new("mov (M1_NM,1) $d(0,0)<1> %ce0(0,0)<0;1,0>\nmov (M1,16) $e(0,0)<1> %ce0(0,0)<0;1,0>");
        let each: Vec<u64> = (0..16).map(|i| if em >> i & 1 != 0 { em as u64 } else { 3 }).collect();
        b.run(c.bits("d", Ud, &[7, 7], &[em as u64, 7]).bits("e", Ud, &[3; 16], &each).em(em));
    }
}

/// `%null`: what is written there is gone.
fn null() {
    let mut b = Bench::new(Platform::Skl);
    b.run(Case::new("add (M1,8) %null(0,0)<1> $v(0,0)<1;1,0> 0x1:ud").var(
        "v",
        Ud,
        &[1, 2, 3, 4, 5, 6, 7, 8],
    ));
}

/// `%cr0` keeps what is written, and each part of it is heeded from the next instruction on.
fn control_register() {
    let mut b = Bench::new(Platform::Skl);
    let third = |rm: Rm| encode(F, &div(&decode(F, from_f64(F, 1.0)), &decode(F, from_f64(F, 3.0))), rm);
    for (k, rm) in [Rm::Even, Rm::Up, Rm::Down, Rm::Zero].into_iter().enumerate() {
        // Toggled by `xor`, as compilers do it.
        let text = format!(
            "or (M1_NM,1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x{:x}:ud\ndivm (M1_NM,8) $d(0,0)<1> $one(0,0)<0;1,0> $three(0,0)<0;1,0>\n\
             xor (M1_NM,1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x{:x}:ud\ndivm (M1_NM,8) $e(0,0)<1> $one(0,0)<0;1,0> $three(0,0)<0;1,0>",
            k << 4,
            k << 4
        );
        b.run(
            Case::new(text)
                .var("one", F, &[from_f64(F, 1.0)])
                .var("three", F, &[from_f64(F, 3.0)])
                .bits("d", F, &[0; 8], &[third(rm); 8])
                .bits("e", F, &[0; 8], &[third(Rm::Even); 8]),
        );
    }
}

/// Which of the 16 values of E2M1 is nearest; of two the one with the even code.
fn e2m1(x: f64) -> u64 {
    let values = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    let far = |code: u64| (values[code as usize] - x.abs().min(6.0)).abs();
    let nearest = (0..8).min_by(|a, b| far(*a).total_cmp(&far(*b)).then((a & 1).cmp(&(b & 1)))).unwrap();
    nearest | (x.is_sign_negative() as u64) << 3
}

/// The same of −8 … 7, by a search too.
fn int4(x: f64) -> u64 {
    let far = |v: i64| (v as f64 - x.clamp(-8.0, 7.0)).abs();
    let nearest = (-8..8i64).min_by(|a, b| far(*a).total_cmp(&far(*b)).then((a & 1).cmp(&(b & 1)))).unwrap();
    nearest as u64 & 15
}

/// DNSCL, SHFL_IDX4: elements of 4 bits.
fn nibbles() {
    let mut b = Bench::new(Platform::Xe3p).version("4.2");
    let mut r = Rng(91);
    // Bits of the results' places, by mode: of the low and the high word of src0, then of src1.
    let places = [[0, 4, 16, 20], [0, 16, 4, 20], [8, 12, 24, 28], [8, 24, 12, 28]];
    for (types, t) in [("hftoe2m1", Hf), ("hftoint4", Hf), ("bftoe2m1", Bf), ("bftoint4", Bf)] {
        let convert = if types.ends_with("e2m1") { e2m1 } else { int4 };
        for (mode, places) in places.into_iter().enumerate() {
            for n in [1, 16, 32usize] {
                // Many within the range, ties among them, some far outside.
                let word = |r: &mut Rng| match r.below(4) {
                    0 => from_f64(t, f64::from(r.below(4096) as i32 - 2048)),
                    1 => from_f64(t, (r.below(65) as f64 - 32.0) / 4.0),
                    _ => from_f64(t, (r.below(2001) as f64 - 1000.0) / 97.0),
                };
                let mut pairs = || (0..n).map(|_| word(&mut r) | word(&mut r) << 16).collect::<Vec<u64>>();
                let (x, y) = (pairs(), pairs());
                let mask = if n == 16 { 0x9b5d } else { u32::MAX };
                let want = (0..n).map(|k| {
                    let words = [x[k] & 0xffff, x[k] >> 16, y[k] & 0xffff, y[k] >> 16];
                    let bits = words
                        .into_iter()
                        .zip(places)
                        .fold(0, |out, (w, at)| out | convert(to_f64(t, w)) << at);
                    if mask >> k & 1 != 0 { bits } else { 7 }
                });
                let want: Vec<u64> = want.collect();
                let c = Case::new(format!("dnscl.{types}.mode{mode}.rne (M1,{n}) $d.0 $x.0 $y.0 %null.0"));
                b.run(c.em(mask).var("x", Ud, &x).var("y", Ud, &y).bits("d", Ud, &vec![7; n], &want));
            }
        }
    }
    let table: Vec<u64> = (0..16).map(|_| r.next() & 0xffff_ffff).collect();
    for (n, region, mask) in
        [(16usize, "<1;1,0>", u32::MAX), (16, "<1;1,0>", 0x5aa3), (32, "<0;16,1>", u32::MAX)]
    {
        for (ty, step, parts) in [(Ub, 4u64, 2u64), (Uw, 2, 4)] {
            for first in 0..step {
                let bits = 32 / parts;
                let indices: Vec<u64> = (0..n as u64 * step).map(|_| r.next() & ty.mask()).collect();
                let want = (0..n).map(|k| {
                    let index = indices[k * step as usize + first as usize];
                    let part = |p: u64| {
                        (table[(index >> (4 * p) & 15) as usize] >> (bits * p) & ((1 << bits) - 1))
                            << (bits * p)
                    };
                    if mask >> k & 1 != 0 { (0..parts).map(part).sum() } else { 9 }
                });
                let want: Vec<u64> = want.collect();
                let c =
                    Case::new(format!("shfl_idx4 (M1,{n}) $d.0 $t(0,0){region} $i(0,{first})<{step};1,0>"));
                b.run(c.em(mask).var("t", Ud, &table).var("i", ty, &indices).bits(
                    "d",
                    Ud,
                    &vec![9; n],
                    &want,
                ));
            }
        }
    }
}

crate::coverage::pages! {
    typed_rest addresses movs no_effect predefined_variables state_and_time channel_enables null control_register
    nibbles
}
