//! Launches side by side on one device, while others allocate and free.

use crate::kernels::only_kernel;
use envisa::{Cancel, Config, Device, FaultKind, Launch};
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
    let kernel = only_kernel(&device, TEXT);
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

/// Never ends; the second thread of a group waits for the first.
const FOREVER: &str = r#"
.version 3.6
.kernel "forever"
.kernel_attr Target="cm"
.decl A v_type=G type=uq num_elts=1 align=qword
.decl X v_type=G type=ud num_elts=16 align=wordx32
.decl P v_type=P num_elts=1
.input A offset=64 size=8
.function "forever_main"
mov (M1, 16) X(0,0)<1> 0x7:ud
lsc_store.ugm (M1, 1) flat[A]:a64 X:d32x16t
again:
BARRIER
cmp.eq (M1, 1) P X(0,0)<0;1,0> 0x7:ud
(P) jmp (M1, 1) again
ret (M1, 1)
"#;

#[test]
fn a_launch_is_cancelled_and_says_where_it_stood() {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24));
    for (text, threads) in
        [(FOREVER.replace("BARRIER", ""), 1u32), (FOREVER.replace("BARRIER", "barrier"), 2)]
    {
        for check in [false, true] {
            let kernel = only_kernel(&device, &text);
            let buffer = device.buffer("a", 64).expect("there is memory");
            let cancel = Cancel::new();
            let launch = Launch::threads(&[8], threads).arg("A", &buffer).cancel(&cancel).check(check);
            let fault = std::thread::scope(|s| {
                let run = s.spawn(|| device.run(&kernel, &launch).expect("it is launched"));
                while buffer.to_vec()[0] == 0 && !run.is_finished() {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                assert!(!run.is_finished());
                cancel.cancel();
                run.join().expect("no panic").fault.expect("it was cancelled")
            });
            assert_eq!((fault.kind, fault.code), (FaultKind::Cancelled, FaultKind::Cancelled.code()));
            // All threads of every group that was under way.
            let groups = fault.threads.len() / threads as usize;
            assert_eq!(fault.threads.len(), groups * threads as usize, "{fault:?}");
            assert!((1..=8).contains(&groups), "{fault:?}");
            assert!(
                fault.threads.iter().all(|t| (1..6).contains(&t.place.instruction)),
                "{:?}",
                fault.threads
            );
            // What it did stays, and what begins later ends at once.
            assert_eq!(buffer.to_vec()[..4], [7, 0, 0, 0]);
            let outcome = device.run(&kernel, &launch).expect("it is launched");
            assert_eq!(outcome.fault.expect("it is cancelled").kind, FaultKind::Cancelled);
        }
    }
}

#[test]
fn a_group_has_the_local_memory_of_its_platform() {
    for (platform, bytes) in
        [(Platform::Dg2, 64u64 << 10), (Platform::Pvc, 128 << 10), (Platform::Skl, 64 << 10)]
    {
        let device = Device::new(Config::new(platform).memory(1 << 24));
        assert_eq!(device.caps().local_memory, bytes);
        let text =
            ".version 3.6\n.kernel \"k\"\n.kernel_attr Target=\"cm\"\n.function \"k_main\"\nret (M1, 1)\n";
        let kernel = only_kernel(&device, text);
        let run = |bytes| device.run(&kernel, Launch::threads(&[1], 1).local_memory(bytes));
        assert!(run(bytes).expect("it fits").fault.is_none());
        let error = run(bytes + 1).expect_err("it does not fit").to_string();
        assert!(error.contains(&format!("the device has {bytes}")), "{error}");
    }
}
