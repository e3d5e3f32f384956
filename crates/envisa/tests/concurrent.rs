//! Launches side by side on one device, while others allocate and free.

use envisa::{Config, Device, Launch, Module, Source};
use envisa_isa::Platform;

/// Adds one to each of 16 dwords, many times.
const TEXT: &str = r#"
.version 3.6
.kernel "count"
.kernel_attr Target="cm"
.decl A v_type=G type=uq num_elts=1 align=qword
.decl N v_type=G type=ud num_elts=1
.decl I v_type=G type=ud num_elts=1
.decl X v_type=G type=ud num_elts=16 align=wordx32
.decl P v_type=P num_elts=1
.input A offset=64 size=8
.input N offset=72 size=4
.function "count_main"
mov (M1, 1) I(0,0)<1> 0x0:ud
again:
lsc_load.ugm (M1, 1) X:d32x16t flat[A]:a64
add (M1, 16) X(0,0)<1> X(0,0)<1;1,0> 0x1:ud
lsc_store.ugm (M1, 1) flat[A]:a64 X:d32x16t
add (M1, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud
cmp.lt (M1, 1) P I(0,0)<0;1,0> N(0,0)<0;1,0>
(P) jmp (M1, 1) again
ret (M1, 1)
"#;

#[test]
fn launches_run_side_by_side() {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24).threads(1));
    let module = Module::load(&device, "count", Source::Text(TEXT.as_bytes())).expect("it loads");
    let kernel = module.kernel("count").expect("it is there");
    std::thread::scope(|s| {
        for k in 0..4u32 {
            let (device, kernel) = (&device, &kernel);
            s.spawn(move || {
                for round in 0..20u32 {
                    let start: Vec<u8> = (0..16).flat_map(|i| (k * 1000 + i).to_le_bytes()).collect();
                    let buffer =
                        device.buffer_from(&format!("{k}.{round}"), &start).expect("there is memory");
                    let launch = Launch::threads(&[1], 1).arg("A", &buffer).arg("N", round + 1);
                    let outcome = device.run(kernel, &launch).expect("it is launched");
                    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
                    let want: Vec<u8> =
                        (0..16).flat_map(|i| (k * 1000 + i + round + 1).to_le_bytes()).collect();
                    assert_eq!(buffer.to_vec(), want);
                }
            });
        }
    });
    assert_eq!(device.memory_used(), 0);
}
