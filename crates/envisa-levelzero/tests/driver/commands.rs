//! Memory, launches, lists, queues, events.

use crate::ze::*;

const TEXT: &str = "
kernel void add(global int *x, global const int *y, int n) {
    size_t i = get_global_id(0);
    if (i < n) x[i] += y ? y[i] : 1;
}
kernel void places(global uint *out, ulong base) {
    size_t i = get_global_linear_id();
    out[i] = (uint)(get_global_id(0) + 1000 * get_work_dim() + base);
}
kernel void turned(global int *x, local int *l) {
    int i = get_local_id(0), n = get_local_size(0);
    l[i] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[i] = l[n - 1 - i];
}
kernel void far(global int *global *p) { *p[0] = 7; }
kernel void wild(global int *x) { *(global int *)((ulong)x + 0x700000000000UL) = 1; }
";

fn regular(d: &Driver) -> usize {
    d.make("zeCommandListCreate", &[d.context, d.device, zeros()])
}

#[test]
fn a_list_is_executed_as_often_as_one_likes() {
    let Some(d) = driver() else { return };
    let (module, queue) = (d.program(TEXT), d.make("zeCommandQueueCreate", &[d.context, d.device, zeros()]));
    let add = d.kernel(module, "add", 32);
    let (x, y) = (d.shared(&[1i32; 100]), d.shared(&(0..100).collect::<Vec<i32>>()));
    d.arg(add, 0, x.as_ptr());
    d.arg(add, 1, y.as_ptr());
    d.arg(add, 2, 100i32);
    let list = regular(d);
    d.launch(list, add, 4, 0, &[]);
    // What is set later is of later launches.
    d.arg(add, 2, 1i32);
    let fence = d.make("zeFenceCreate", &[queue, zeros()]);
    let execute = |fence: usize| d.call("zeCommandQueueExecuteCommandLists", &[queue, 1, of(&list), fence]);
    assert_eq!(execute(0), INVALID, "the list is open");
    d.ok("zeCommandListClose", &[list]);
    assert_eq!(d.call("zeFenceQueryStatus", &[fence]), NOT_READY);
    assert_eq!(execute(0), SUCCESS);
    assert_eq!(execute(fence), SUCCESS);
    d.ok("zeFenceHostSynchronize", &[fence, FOREVER]);
    d.ok("zeFenceQueryStatus", &[fence]);
    d.ok("zeFenceReset", &[fence]);
    assert_eq!(d.call("zeFenceHostSynchronize", &[fence, 1000]), NOT_READY);
    assert!(x.iter().zip(&*y).all(|(x, y)| *x == 1 + 2 * y), "{x:?}");
    let append = [list, add, of(&[1u32; 3]), 0, 0, 0];
    assert_eq!(d.call("zeCommandListAppendLaunchKernel", &append), INVALID, "the list is closed");
    d.ok("zeCommandListReset", &[list]);
    d.launch(list, add, 4, 0, &[]);
    d.ok("zeCommandListClose", &[list]);
    assert_eq!(execute(0), SUCCESS);
    d.ok("zeCommandQueueSynchronize", &[queue, FOREVER]);
    assert_eq!((x[0], x[1], x[99]), (1, 3, 199));
    // An immediate list executes others, too.
    let immediate = d.immediate(0);
    let args = [immediate, 1, of(&list), 0, 0, 0];
    d.ok("zeCommandListImmediateAppendCommandListsExp", &args);
    d.ok("zeCommandListHostSynchronize", &[immediate, FOREVER]);
    assert_eq!(d.call("zeCommandQueueExecuteCommandLists", &[queue, 1, of(&immediate), 0]), 0x7800_0019);
    for (name, object) in [
        ("zeFenceDestroy", fence),
        ("zeCommandListDestroy", list),
        ("zeCommandListDestroy", immediate),
        ("zeKernelDestroy", add),
        ("zeModuleDestroy", module),
        ("zeCommandQueueDestroy", queue),
    ] {
        d.ok(name, &[object]);
        assert_eq!(d.call(name, &[object]), INVALID, "{name}, twice");
    }
    d.ok("zeMemFree", &[d.context, x.as_ptr() as usize]);
    assert_eq!(d.call("zeMemFree", &[d.context, x.as_ptr() as usize]), INVALID);
}

#[test]
fn values_may_have_fewer_bytes_than_their_type() {
    let Some(d) = driver() else { return };
    let text = "kernel void f(global int *x, int3 v, ulong n) {
        vstore3(v, 0, x); x[3] = (int)(n >> 32); x[4] = (int)n; }";
    let kernel = d.kernel(d.program(text), "f", 1);
    let x = d.shared(&[7i32; 5]);
    d.arg(kernel, 0, x.as_ptr());
    d.arg(kernel, 1, [1i32, 2, 3]);
    d.arg(kernel, 2, 4i32);
    d.launch(d.immediate(1), kernel, 1, 0, &[]);
    assert_eq!(*x, [1, 2, 3, 0, 4]);
}

#[test]
fn arguments_are_what_clients_pass() {
    let Some(d) = driver() else { return };
    let (module, list) = (d.program(TEXT), d.immediate(1));
    // Eight zero bytes come without a pointer, be they a pointer or a number.
    let (add, places) = (d.kernel(module, "add", 32), d.kernel(module, "places", 8));
    let x = d.shared(&[1i32; 32]);
    d.arg(add, 0, x.as_ptr());
    d.ok("zeKernelSetArgumentValue", &[add, 1, 8, 0]);
    d.arg(add, 2, 32i32);
    d.launch(list, add, 1, 0, &[]);
    assert_eq!(*x, [2; 32]);
    let out = d.shared(&[0u32; 32]);
    d.arg(places, 0, out.as_ptr());
    d.ok("zeKernelSetArgumentValue", &[places, 1, 8, 0]);
    d.ok("zeKernelSetGlobalOffsetExp", &[places, 5, 0, 0]);
    d.launch(list, places, 2, 0, &[]);
    assert_eq!(out[..16], (5..21).map(|i| i + 1000).collect::<Vec<u32>>());
    assert_eq!(out[16..], [0; 16]);
    assert_eq!(d.call("zeKernelSetArgumentValue", &[places, 2, 8, 0]), 0x7800_0015);
    assert_eq!(d.call("zeKernelSetArgumentValue", &[places, 1, FOREVER, 0]), 0x7800_0016);
    assert_eq!(d.call("zeKernelSetArgumentValue", &[places, 0, 4, of(&0)]), 0x7800_0016);
    assert_eq!(d.call("zeKernelSetGroupSize", &[places, 1025, 1, 1]), 0x7800_0013);
    assert_eq!(d.call("zeKernelSetGroupSize", &[places, 0, 1, 1]), 0x7800_0013);
    // How many groups is in memory.
    d.ok("zeKernelSetGlobalOffsetExp", &[places, 0, 0, 0]);
    let groups = d.shared(&[1u32, 2, 1]);
    d.ok("zeCommandListAppendLaunchKernelIndirect", &[list, places, of(&groups[..]), 0, 0, 0]);
    assert_eq!(out[..16], [0, 1, 2, 3, 4, 5, 6, 7].map(|i| i + 2000).repeat(2));
    let (mut a, mut b, mut c) = (0u32, 0u32, 0u32);
    let args = [places, 96, 2, 1, at(&mut a), at(&mut b), at(&mut c)];
    d.ok("zeKernelSuggestGroupSize", &args);
    assert_eq!((a * b * c <= 1024, 96 % a, 2 % b, c), (true, 0, 0, 1));
    let turned = d.kernel(module, "turned", 16);
    let y = d.shared(&(0..16).collect::<Vec<i32>>());
    d.arg(turned, 0, y.as_ptr());
    d.ok("zeKernelSetArgumentValue", &[turned, 1, 64, 0]);
    d.launch(list, turned, 1, 0, &[]);
    assert_eq!(*y, (0..16).rev().collect::<Vec<i32>>()[..]);
    // All at once, and with their sizes.
    let (xp, yp, n) = (y.as_ptr(), std::ptr::null::<i32>(), 16i32);
    let args = [of(&xp), of(&yp), of(&n)];
    let call = [list, add, 1 | 1 << 32, 1, 16 | 1 << 32, 1, of(&args), 0, 0, 0, 0];
    d.ok("zeCommandListAppendLaunchKernelWithArguments", &call);
    assert_eq!(*y, (1..17).rev().collect::<Vec<i32>>()[..]);
}

#[test]
fn memory_has_its_kind_and_its_end() {
    let Some(d) = driver() else { return };
    let host = d.make("zeMemAllocHost", &[d.context, zeros(), 100, 0]);
    let device = d.make("zeMemAllocDevice", &[d.context, zeros(), 100, 4096, d.device]);
    let shared = d.make("zeMemAllocShared", &[d.context, zeros(), zeros(), 100, 8, d.device]);
    let own = [0u8; 64];
    for (address, kind, owner) in
        [(host, 1, 0), (device, 2, d.device), (shared, 3, d.device), (of(&own), 0, 0)]
    {
        let (mut properties, mut found) = ([0u64; 5], 1usize);
        let args = [d.context, address, at(&mut properties), at(&mut found)];
        d.ok("zeMemGetAllocProperties", &args);
        assert_eq!((properties[2] as u32, found), (kind, owner));
        let (mut base, mut size) = (0usize, 0usize);
        let range = d.call("zeMemGetAddressRange", &[d.context, address + 1, at(&mut base), at(&mut size)]);
        assert_eq!(range, if kind == 0 { INVALID } else { SUCCESS });
        if kind != 0 {
            assert_eq!((base, size), (address, 100));
        }
    }
    let list = d.immediate(1);
    let copy = |to: usize, from: usize, n: usize| {
        d.call("zeCommandListAppendMemoryCopy", &[list, to, from, n, 0, 0, 0])
    };
    let fill = |to: usize, pattern: &[u8], n: usize| {
        let args = [list, to, of(pattern), pattern.len(), n, 0, 0, 0];
        d.call("zeCommandListAppendMemoryFill", &args)
    };
    assert_eq!(fill(device, &[1, 2], 100), SUCCESS);
    let mut back = [0u8; 100];
    assert_eq!(copy(at(&mut back), device, 100), SUCCESS);
    assert!(back.iter().enumerate().all(|(i, b)| usize::from(*b) == 1 + i % 2));
    assert_eq!(copy(host, device + 50, 51), SIZE, "past the end");
    assert_eq!(copy(device, host, FOREVER), SIZE);
    assert_eq!(copy(at(&mut back), of(&own), FOREVER), SIZE);
    assert_eq!(fill(device, &[1, 2, 3], 9), SIZE, "no power of two");
    assert_eq!(copy(0, host, 1), NULL_POINTER);
    // A box of 3 by 2 of rows of 10.
    let square: Vec<u8> = (0..100).collect();
    let args = [
        list,
        device,
        of(&[0u32, 0, 0, 3, 2, 1]),
        3,
        0,
        of(&square[..]),
        of(&[4u32, 5, 0, 3, 2, 1]),
        10,
        0,
        0,
        0,
        0,
    ];
    d.ok("zeCommandListAppendMemoryCopyRegion", &args);
    assert_eq!(copy(at(&mut back), device, 6), SUCCESS);
    assert_eq!(back[..6], [54, 55, 56, 64, 65, 66]);
    for (size, align, want) in
        [(0, 0, 0x7800_0009), (FOREVER, 0, 0x7800_0009), (100, 3, 0x7800_000a), (100, 1 << 40, 0x7800_000a)]
    {
        let mut to = 0usize;
        let args = [d.context, zeros(), size, align, d.device, at(&mut to)];
        assert_eq!((d.call("zeMemAllocDevice", &args), to), (want, 0));
    }
    for address in [host, device, shared] {
        d.ok("zeMemFreeExt", &[d.context, zeros(), address]);
        assert_eq!(d.call("zeMemFree", &[d.context, address]), INVALID);
    }
}

#[test]
fn kernels_reach_what_they_were_allowed_to() {
    let Some(d) = driver() else { return };
    let (module, list) = (d.program(TEXT), d.immediate(1));
    let far = d.kernel(module, "far", 1);
    let inner = d.shared(&[0i32]);
    let outer = d.shared(&[inner.as_ptr()]);
    d.arg(far, 0, outer.as_ptr());
    d.ok("zeKernelSetIndirectAccess", &[far, 4]);
    d.launch(list, far, 1, 0, &[]);
    assert_eq!(inner[0], 7);
    assert_eq!(d.call("zeKernelSetIndirectAccess", &[far, 8]), 0x7800_000c);
}

#[test]
fn events_order_what_lists_do() {
    let Some(d) = driver() else { return };
    let module = d.program(TEXT);
    let (first, second) = (d.immediate(0), d.immediate(0));
    let e = d.events(4);
    let x = d.shared(&[0i32; 64]);
    let add = d.kernel(module, "add", 64);
    d.arg(add, 0, x.as_ptr());
    d.ok("zeKernelSetArgumentValue", &[add, 1, 8, 0]);
    d.arg(add, 2, 64i32);
    // The second list waits for the first, which waits for the host.
    d.ok(
        "zeCommandListAppendMemoryFill",
        &[second, x.as_ptr() as usize, of(&[0u8]), 1, 4, e[2], 1, of(&e[1])],
    );
    d.launch(first, add, 1, e[1], &[e[0]]);
    d.launch(first, add, 1, e[3], &[]);
    assert_eq!(d.call("zeEventHostSynchronize", &[e[1], 2_000_000]), NOT_READY);
    assert_eq!(d.call("zeCommandListHostSynchronize", &[second, 2_000_000]), NOT_READY);
    assert_eq!(*x, [0; 64]);
    std::thread::scope(|s| {
        s.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            d.ok("zeEventHostSignal", &[e[0]]);
        });
        d.ok("zeEventHostSynchronize", &[e[3], FOREVER]);
        d.ok("zeEventHostSynchronize", &[e[2], FOREVER]);
    });
    d.ok("zeCommandListHostSynchronize", &[second, FOREVER]);
    assert!(x[1..].iter().all(|x| *x == 2), "{x:?}");
    // Clocks go on.
    let (mut a, mut b) = ([0u64; 4], [0u64; 4]);
    d.ok("zeEventQueryKernelTimestamp", &[e[1], at(&mut a)]);
    d.ok("zeEventQueryKernelTimestamp", &[e[3], at(&mut b)]);
    assert!(0 < a[0] && a[0] < a[1] && a[1] <= b[0] && b[0] < b[1], "{a:?} {b:?}");
    let times = d.shared(&[0u64; 10]);
    let of_events = [e[1], e[3]];
    let args = [first, 2, of(&of_events), times.as_ptr() as usize, 0, 0, 0, 0];
    d.ok("zeCommandListAppendQueryKernelTimestamps", &args);
    d.ok("zeCommandListAppendWriteGlobalTimestamp", &[first, of(&times[8]), 0, 0, 0]);
    d.ok("zeCommandListHostSynchronize", &[first, FOREVER]);
    assert_eq!((&times[..4], &times[4..8]), (&a[..], &b[..]));
    assert!(times[8] > b[1]);
    // Reset by the host and by a list.
    d.ok("zeEventHostReset", &[e[1]]);
    assert_eq!(d.call("zeEventQueryStatus", &[e[1]]), NOT_READY);
    d.ok("zeCommandListAppendEventReset", &[first, e[3]]);
    d.ok("zeCommandListAppendSignalEvent", &[first, e[1]]);
    d.ok("zeEventHostSynchronize", &[e[1], FOREVER]);
    assert_eq!(d.call("zeEventQueryStatus", &[e[3]]), NOT_READY);
    // The application is called in its turn.
    extern "C" fn set(to: *mut std::ffi::c_void) {
        // SAFETY: the test's own word, which outlives the call.
        unsafe { *to.cast::<i32>() += 5 };
    }
    let mut word = 1i32;
    d.ok("zeCommandListAppendBarrier", &[first, 0, 1, of(&e[1])]);
    d.ok(
        "zeCommandListAppendHostFunction",
        &[first, set as *const () as usize, at(&mut word), 0, e[3], 0, 0],
    );
    d.ok("zeEventHostSynchronize", &[e[3], FOREVER]);
    assert_eq!(word, 6);
}

#[test]
fn a_fault_is_told_and_nobody_waits_for_ever() {
    let Some(d) = driver() else { return };
    let (module, list, other) = (d.program(TEXT), d.immediate(0), d.immediate(0));
    let wild = d.kernel(module, "wild", 1);
    let x = d.shared(&[0i32]);
    d.arg(wild, 0, x.as_ptr());
    let e = d.events(2);
    d.ok("zeCommandListAppendBarrier", &[other, e[1], 1, of(&e[0])]);
    d.launch(list, wild, 1, e[0], &[]);
    assert_eq!(d.call("zeEventHostSynchronize", &[e[0], FOREVER]), LOST);
    assert_eq!(d.call("zeEventHostSynchronize", &[e[1], FOREVER]), LOST);
    assert_eq!(d.call("zeCommandListHostSynchronize", &[list, FOREVER]), LOST);
    // What was told is over.
    d.ok("zeCommandListHostSynchronize", &[list, FOREVER]);
    let waiting = d.immediate(1);
    let args = [waiting, wild, of(&[1u32; 3]), 0, 0, 0];
    assert_eq!(d.call("zeCommandListAppendLaunchKernel", &args), LOST);
}

#[test]
fn events_that_count_need_no_reset() {
    let Some(d) = driver() else { return };
    let (module, list, other) = (d.program(TEXT), d.immediate(0), d.immediate(0));
    let counting = [0x2_0014u64, 0, 3];
    let pool =
        d.make("zeEventPoolCreate", &[d.context, of(&[0u64, of(&counting) as u64, 1 | 1 << 32]), 0, 0]);
    let e = d.make("zeEventCreate", &[pool, zeros()]);
    let x = d.shared(&[0i32]);
    let add = d.kernel(module, "add", 1);
    d.arg(add, 0, x.as_ptr());
    d.ok("zeKernelSetArgumentValue", &[add, 1, 8, 0]);
    d.arg(add, 2, 1i32);
    for _ in 0..50 {
        d.launch(list, add, 1, e, &[]);
        d.launch(other, add, 1, e, &[e]);
        d.launch(list, add, 1, e, &[e]);
    }
    d.ok("zeEventHostSynchronize", &[e, FOREVER]);
    assert_eq!(x[0], 150);
}

#[test]
fn events_that_count_tell_of_the_last_command() {
    let Some(d) = driver() else { return };
    let (list, other) = (d.immediate(0), d.immediate(0));
    let counting = [0x2_0014u64, 0, 3];
    let pool =
        d.make("zeEventPoolCreate", &[d.context, of(&[0u64, of(&counting) as u64, 1 | 1 << 32]), 0, 0]);
    let e = d.make("zeEventCreate", &[pool, zeros()]);
    let held = d.events(3);
    for last_first in [false, true] {
        held.iter().for_each(|h| d.ok("zeEventHostReset", &[*h]));
        d.ok("zeCommandListAppendBarrier", &[other, e, 1, of(&held[0])]);
        d.ok("zeCommandListAppendBarrier", &[list, e, 1, of(&held[1])]);
        // What comes behind each in its list, and so after it.
        let behind = [other, list][usize::from(last_first)];
        d.ok("zeCommandListAppendBarrier", &[behind, held[2], 0, 0]);
        d.ok("zeEventHostSignal", &[held[usize::from(last_first)]]);
        d.ok("zeEventHostSynchronize", &[held[2], FOREVER]);
        assert_eq!(d.call("zeEventQueryStatus", &[e]), if last_first { 0 } else { NOT_READY });
        d.ok("zeEventHostSignal", &[held[usize::from(!last_first)]]);
        d.ok("zeEventHostSynchronize", &[e, FOREVER]);
        for list in [list, other] {
            d.ok("zeCommandListHostSynchronize", &[list, FOREVER]);
        }
    }
}

#[test]
fn threads_have_lists_of_their_own() {
    let Some(d) = driver() else { return };
    let module = d.program(TEXT);
    std::thread::scope(|s| {
        for t in 0..8 {
            s.spawn(move || {
                let list = d.immediate(t % 2);
                let add = d.kernel(module, "add", 16);
                let (x, y) = (d.shared(&[0i32; 16]), d.shared(&[t as i32; 16]));
                let e = d.events(2);
                d.arg(add, 0, x.as_ptr());
                d.arg(add, 1, y.as_ptr());
                d.arg(add, 2, 16i32);
                for i in 0..40 {
                    d.launch(list, add, 1, e[i % 2], &[]);
                    d.ok("zeEventHostSynchronize", &[e[i % 2], FOREVER]);
                    d.ok("zeEventHostReset", &[e[i % 2]]);
                }
                assert_eq!(*x, [t as i32 * 40; 16]);
            });
        }
    });
}

#[test]
fn an_event_of_a_list_does_not_wait_for_the_rest_of_it() {
    let Some(d) = driver() else { return };
    let add = d.kernel(d.program(TEXT), "add", 1);
    let x = d.shared(&[0i32]);
    d.arg(add, 0, x.as_ptr());
    d.arg(add, 1, 0usize);
    d.arg(add, 2, 1i32);
    let (events, list, queue) = (d.events(2), regular(d), d.queue());
    d.launch(list, add, 1, events[0], &[]);
    d.launch(list, add, 1, 0, &[events[1]]);
    d.ok("zeCommandListClose", &[list]);
    d.ok("zeCommandQueueExecuteCommandLists", &[queue, 1, of(&list), 0]);
    d.ok("zeEventHostSynchronize", &[events[0], FOREVER]);
    assert_eq!(x[0], 1);
    d.ok("zeEventHostSignal", &[events[1]]);
    d.ok("zeCommandQueueSynchronize", &[queue, FOREVER]);
    assert_eq!(x[0], 2);
}
