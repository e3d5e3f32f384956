//! Compares with numbers of the launch. Those with a negated one are exact in 64 bits: native code does them in 32 where the
//! launch says that this is the same, and in 64 where a number has no opposite. Those of 64 bits by halves are one compare
//! where the launch decides what the upper half says.

use crate::kernels::only_kernel;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Kernel, Launch};

/// Channels.
const N: u32 = 32;

/// A channel's number, plus `X`, is compared with the opposite of `Y`; by a branch as well.
fn text(condition: &str, ty: &str) -> String {
    format!(
        r#"
.version 3.6
.kernel "compares"
.kernel_attr Target="cm"
.kernel_attr SimdSize=32
.decl T6 v_type=T num_elts=1
.decl Lane v_type=G type=uw num_elts=32 align=wordx32
.decl At v_type=G type=ud num_elts=32 align=wordx32
.decl A v_type=G type={ty} num_elts=32 align=wordx32
.decl Result v_type=G type=ud num_elts=32 align=wordx32
.decl X v_type=G type={ty} num_elts=1
.decl Y v_type=G type={ty} num_elts=1
.decl P v_type=P num_elts=32
.input T6 offset=64 size=4
.input X offset=68 size=4
.input Y offset=72 size=4
.function "compares_main"
mov (M1, 8) Lane(0,0)<1> 0x76543210:v
add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw
add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw
shl (M1, 32) At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud
add (M1, 32) A(0,0)<1> Lane(0,0)<1;1,0> X(0,0)<0;1,0>
cmp.{condition} (M1, 32) P A(0,0)<1;1,0> (-)Y(0,0)<0;1,0>
(P) sel (M1, 32) Result(0,0)<1> 0x1:ud 0x0:ud
cmp.{condition} (M1, 32) P A(0,0)<1;1,0> (-)Y(0,0)<0;1,0>
(!P) goto (M1, 32) behind
add (M1, 32) Result(0,0)<1> Result(0,0)<1;1,0> 0x2:ud
behind:
lsc_store.ugm (M1, 32) bti(T6)[At]:a32 Result:d32
ret (M1, 1)
"#
    )
}

fn results(kernel: &Kernel, device: &Device, engine: Engine, x: i32, y: i32) -> Vec<u8> {
    let out = device.buffer_from("out", &[0xff; 4 * N as usize]).expect("there is memory");
    let launch = Launch::threads(&[1, 1, 1], 1).arg("T6", &out).arg("X", x).arg("Y", y).engine(engine);
    let outcome = device.run(kernel, &launch).expect("it is launched");
    assert_eq!(outcome.fault, None);
    out.to_vec()
}

#[test]
fn opposites_of_numbers_are_exact() {
    let near = [0, 1, 5, 31, -1, -5, -31, i32::MIN, i32::MIN + 1, i32::MAX, i32::MAX - 15];
    for (condition, ty) in [("eq", "d"), ("ne", "d"), ("lt", "d"), ("ge", "d"), ("eq", "ud")] {
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
        let kernel = only_kernel(&device, &text(condition, ty));
        for (x, y) in near.into_iter().flat_map(|x| near.map(|y| (x, y))) {
            let native = results(&kernel, &device, Engine::Native, x, y);
            let expected = results(&kernel, &device, Engine::Unoptimized, x, y);
            assert_eq!(native, expected, "{condition}.{ty} of {x} and {y}");
            if ty == "d" {
                let one = |lane: i32| {
                    let (a, b) = (i64::from(x.wrapping_add(lane)), -i64::from(y));
                    let holds = match condition {
                        "eq" => a == b,
                        "ne" => a != b,
                        "lt" => a < b,
                        _ => a >= b,
                    };
                    if holds { 3u32 } else { 0 }
                };
                let by_hand: Vec<u8> = (0..N as i32).flat_map(|lane| one(lane).to_le_bytes()).collect();
                assert_eq!(native, by_hand, "{condition} of {x} and {y}");
            }
        }
    }
}

/// An index of 32 bits is compared with a number of 64, as compilers do that by halves; what is decided is kept, and is a
/// branch as well.
fn text_by_halves(less: bool) -> String {
    let (relation, opposite) = if less { ("lt", "gt") } else { ("gt", "lt") };
    format!(
        r#"
.version 3.6
.kernel "halves"
.kernel_attr Target="cm"
.kernel_attr SimdSize=32
.decl T6 v_type=T num_elts=1
.decl Lane v_type=G type=uw num_elts=32 align=wordx32
.decl At v_type=G type=ud num_elts=32 align=wordx32
.decl A v_type=G type=ud num_elts=32 align=wordx32
.decl Result v_type=G type=ud num_elts=32 align=wordx32
.decl X v_type=G type=ud num_elts=1
.decl Y v_type=G type=q num_elts=1 align=qword
.decl Given v_type=G type=ud num_elts=2 alias=<Y, 0>
.decl Half v_type=G type=ud num_elts=2 align=qword
.decl P v_type=P num_elts=32
.decl Q v_type=P num_elts=32
.decl R v_type=P num_elts=32
.decl S v_type=P num_elts=32
.decl U v_type=P num_elts=32
.decl V v_type=P num_elts=32
.decl W v_type=P num_elts=32
.input T6 offset=64 size=4
.input X offset=68 size=4
.input Y offset=72 size=8
.function "halves_main"
mov (M1, 8) Lane(0,0)<1> 0x76543210:v
add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw
add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw
shl (M1, 32) At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud
add (M1, 32) A(0,0)<1> Lane(0,0)<1;1,0> X(0,0)<0;1,0>
mov (M1_NM, 2) Half(0,0)<1> Given(0,0)<2;2,1>
mov (M1, 32) Result(0,0)<1> 0x0:ud
cmp.{relation} (M1, 32) P A(0,0)<1;1,0> Half(0,0)<0;1,0>
cmp.eq (M1, 32) Q 0x0:ud Half(0,1)<0;1,0>
and (M1, 32) S Q P
cmp.{relation} (M1, 32) R 0x0:ud Half(0,1)<0;1,0>
or (M1, 32) U R S
(!U) goto (M1, 32) behind
add (M1, 32) Result(0,0)<1> Result(0,0)<1;1,0> 0x2:ud
behind:
cmp.{opposite} (M1, 32) V A(0,0)<1;1,0> Half(0,0)<0;1,0>
cmp.ne (M1, 32) W Half(0,1)<0;1,0> 0x0:ud
or (M1, 32) W V W
(W) sel (M1, 32) A(0,0)<1> 0x10:ud 0x0:ud
or (M1, 32) Result(0,0)<1> Result(0,0)<1;1,0> A(0,0)<1;1,0>
lsc_store.ugm (M1, 32) bti(T6)[At]:a32 Result:d32
ret (M1, 1)
"#
    )
}

#[test]
fn upper_halves_are_decided_by_the_launch() {
    let large = [0, 1, 7, 32, 33, 0xffff_ffff, 1 << 32, (1 << 32) + 5, -1, i64::MIN, 100, 0];
    for less in [true, false] {
        let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
        let kernel = only_kernel(&device, &text_by_halves(less));
        for (x, y) in [0u32, 3, 0xffff_fff0].into_iter().flat_map(|x| large.map(|y| (x, y))) {
            let run = |engine| {
                let out = device.buffer_from("out", &[0xff; 4 * N as usize]).expect("there is memory");
                let launch = Launch::threads(&[1, 1, 1], 1).arg("T6", &out).arg("X", x).arg("Y", y);
                let outcome = device.run(&kernel, launch.engine(engine)).expect("it is launched");
                assert_eq!(outcome.fault, None);
                out.to_vec()
            };
            let one = |lane: u32| {
                let (a, y) = (u64::from(x.wrapping_add(lane)), y as u64);
                let (low, high) = (y & 0xffff_ffff, y >> 32);
                let goes = match less {
                    true => high > 0 || a < low,
                    false => high == 0 && a > low,
                };
                let other = high != 0 || if less { a > low } else { a < low };
                u32::from(goes) << 1 | u32::from(other) << 4
            };
            let by_hand: Vec<u8> = (0..N).flat_map(|lane| one(lane).to_le_bytes()).collect();
            assert_eq!(run(Engine::Native), by_hand, "{less}: {x} and {y}");
            assert_eq!(run(Engine::Unoptimized), by_hand, "{less}: {x} and {y}");
        }
    }
}
