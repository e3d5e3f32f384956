//! Pointers that are values of a launch: the next launch has others, into the same memory, and everything else is the same.

use crate::kernels::only_kernel;
use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Launch};

/// Channels.
const N: usize = 32;
/// Dwords of the memory.
const LENGTH: usize = 4096;

/// Each channel loads a dword from `A` on and stores it, and one more, from `B` on.
const TEXT: &str = r#"
.version 3.6
.kernel "copies"
.kernel_attr Target="cm"
.kernel_attr SimdSize=32
.decl Lane v_type=G type=uw num_elts=32 align=wordx32
.decl At v_type=G type=ud num_elts=32 align=wordx32
.decl X v_type=G type=ud num_elts=32 align=wordx32
.decl From v_type=G type=uq num_elts=32 align=wordx32
.decl To v_type=G type=uq num_elts=32 align=wordx32
.decl A v_type=G type=uq num_elts=1 align=qword
.decl B v_type=G type=uq num_elts=1 align=qword
.input A offset=64 size=8
.input B offset=72 size=8
.function "copies_main"
mov (M1, 8) Lane(0,0)<1> 0x76543210:v
add (M1, 8) Lane(0,8)<1> Lane(0,0)<1;1,0> 0x8:uw
add (M1, 16) Lane(0,16)<1> Lane(0,0)<1;1,0> 0x10:uw
shl (M1, 32) At(0,0)<1> Lane(0,0)<1;1,0> 0x2:ud
add (M1, 32) From(0,0)<1> At(0,0)<1;1,0> A(0,0)<0;1,0>
lsc_load.ugm (M1, 32) X:d32 flat[From]:a64
add (M1, 32) X(0,0)<1> X(0,0)<1;1,0> 0x1:ud
add (M1, 32) To(0,0)<1> At(0,0)<1;1,0> B(0,0)<0;1,0>
lsc_store.ugm (M1, 32) flat[To]:a64 X:d32
ret (M1, 1)
"#;

#[test]
fn each_launch_goes_where_its_pointers_lead() {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
    let kernel = only_kernel(&device, TEXT);
    let mut expected: Vec<u32> = (0..LENGTH as u32).map(|k| k * k).collect();
    let bytes = |all: &[u32]| all.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let memory = device.buffer_from("memory", &bytes(&expected)).expect("there is memory");
    for (from, to) in [(0, 64), (64, 128), (64, 2048), (1000, 2048), (0, 4064), (2048, 17), (1000, 2048)] {
        let at = |dword: usize| memory.address() + 4 * dword as u64;
        let launch = Launch::threads(&[1, 1, 1], 1).arg("A", at(from)).arg("B", at(to));
        let outcome = device.run(&kernel, launch.engine(Engine::Native)).expect("it is launched");
        assert_eq!(outcome.fault, None);
        let moved: Vec<u32> = expected[from..from + N].iter().map(|x| x.wrapping_add(1)).collect();
        expected[to..to + N].copy_from_slice(&moved);
        assert!(memory.to_vec() == bytes(&expected), "from {from} to {to}");
    }
}
