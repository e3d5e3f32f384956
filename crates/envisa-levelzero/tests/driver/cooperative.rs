//! Launches whose groups wait for each other.

use crate::ze::*;

/// Every group waits for all others, several times.
const TEXT: &str = "
    kernel __attribute__((reqd_work_group_size(32, 1, 1)))
    void rounds(global atomic_int *arrived, global int *x, global int *wrong) {
        int groups = get_num_groups(0), me = get_group_id(0);
        for (int round = 1; round <= 5; ++round) {
            if (get_local_id(0) == 0)
                x[me] = round;
            barrier(CLK_GLOBAL_MEM_FENCE);
            if (get_local_id(0) == 0) {
                atomic_fetch_add_explicit(arrived, 1, memory_order_acq_rel, memory_scope_device);
                while (atomic_load_explicit(arrived, memory_order_acquire, memory_scope_device) < round * groups)
                    ;
                if (x[(me + 1) % groups] < round)
                    wrong[0] = round;
            }
            barrier(CLK_GLOBAL_MEM_FENCE);
        }
    }
    kernel __attribute__((reqd_work_group_size(1, 1, 1)))
    void faults(global atomic_int *arrived, global int *x, global int *wrong) {
        if (get_group_id(0) == 1) {
            global int *far = (global int *)(x[0] * 4096L);
            *far = 1;
        }
        atomic_fetch_add_explicit(arrived, 1, memory_order_acq_rel, memory_scope_device);
        while (atomic_load_explicit(arrived, memory_order_acquire, memory_scope_device) < (int)get_num_groups(0))
            ;
    }";

fn arguments(d: &Driver, kernel: usize) -> (&'static mut [i32], &'static mut [i32], &'static mut [i32]) {
    let (arrived, x, wrong) = (d.shared(&[0i32]), d.shared(&[0i32; 4096]), d.shared(&[0i32]));
    d.arg(kernel, 0, arrived.as_ptr());
    d.arg(kernel, 1, x.as_ptr());
    d.arg(kernel, 2, wrong.as_ptr());
    (arrived, x, wrong)
}

#[test]
fn groups_wait_for_each_other() {
    let Some(d) = driver() else { return };
    let kernel = d.kernel(d.program(TEXT), "rounds", 32);
    let (arrived, x, wrong) = arguments(d, kernel);
    let mut most = 0u32;
    d.ok("zeKernelSuggestMaxCooperativeGroupCount", &[kernel, at(&mut most)]);
    assert!(most >= 7, "{most}");
    let list = d.immediate(1);
    for groups in [1, 2, 7, most] {
        (arrived[0], wrong[0]) = (0, 0);
        x.fill(0);
        let size = [groups, 1, 1];
        d.ok("zeCommandListAppendLaunchCooperativeKernel", &[list, kernel, of(&size), 0, 0, 0]);
        assert_eq!((arrived[0], wrong[0]), (5 * groups as i32, 0));
        assert!(x[..groups as usize].iter().all(|r| *r == 5));
    }
    let more = [most + 1, 1, 1];
    let args = [list, kernel, of(&more), 0, 0, 0];
    assert_eq!(d.call("zeCommandListAppendLaunchCooperativeKernel", &args), INVALID);
    // The other way to ask for it.
    arrived[0] = 0;
    let cooperative = [0x2_0036u64, 0, 1];
    let args = [list, kernel, of(&[3u32, 1, 1]), of(&cooperative), 0, 0, 0];
    d.ok("zeCommandListAppendLaunchKernelWithParameters", &args);
    assert_eq!(arrived[0], 15);
}

#[test]
fn a_fault_ends_the_groups_that_wait() {
    let Some(d) = driver() else { return };
    let kernel = d.kernel(d.program(TEXT), "faults", 1);
    let (_, x, _) = arguments(d, kernel);
    x[0] = 3;
    let list = d.immediate(1);
    let args = [list, kernel, of(&[4u32, 1, 1]), 0, 0, 0];
    assert_eq!(d.call("zeCommandListAppendLaunchCooperativeKernel", &args), LOST);
}
