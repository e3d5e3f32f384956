//! Compares with a negated number of the launch, which are exact in 64 bits: native code does them in 32 where the launch
//! says that this is the same, and in 64 where a number has no opposite.

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
            let expected = results(&kernel, &device, Engine::Interpreter, x, y);
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
