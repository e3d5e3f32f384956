//! Memory and events that two processes share: the test runs itself once more as the other one.

use std::process::{Child, Command};

use crate::ze::*;

/// What the other process is told.
const TOLD: &str = "ENVISA_TEST_SHARED";
const TEXT: &str = "kernel void add(global int *x, int v) { x[get_global_id(0)] += v; }";

type Shared = [u64; 8];

/// The other process, with handles.
fn other(test: &str, handles: &[Shared]) -> Child {
    let words: Vec<String> = handles.iter().flatten().map(u64::to_string).collect();
    let mut command = Command::new(std::env::current_exe().expect("the test is a file"));
    command.args(["--exact", test, "--nocapture"]).env(TOLD, words.join(" "));
    command.spawn().expect("it runs")
}

/// The handles that this process was told, if it is the other one.
fn told() -> Option<Vec<Shared>> {
    let words: Vec<u64> = std::env::var(TOLD).ok()?.split(' ').map(|w| w.parse().unwrap()).collect();
    Some(words.chunks_exact(8).map(|c| c.try_into().unwrap()).collect())
}

fn share(d: &Driver, address: usize) -> Shared {
    let mut handle = [0u64; 8];
    d.ok("zeMemGetIpcHandle", &[d.context, address, at(&mut handle)]);
    handle
}

fn open(d: &Driver, handle: &Shared) -> (u32, usize) {
    let mut address = 0usize;
    (d.call_with("zeMemOpenIpcHandle", &[d.context, d.device, 0, at(&mut address)], handle), address)
}

fn device_memory(d: &Driver, bytes: usize) -> usize {
    d.make("zeMemAllocDevice", &[d.context, zeros(), bytes, 64, d.device])
}

fn copy(d: &Driver, to: usize, from: usize, bytes: usize) {
    d.ok("zeCommandListAppendMemoryCopy", &[d.immediate(1), to, from, bytes, 0, 0, 0]);
}

#[test]
fn other_process_adds() {
    let (Some(handles), Some(d)) = (told(), driver()) else { return };
    let kernel = d.kernel(d.program(TEXT), "add", 100);
    let list = d.immediate(1);
    for handle in &handles {
        let (result, address) = open(d, handle);
        assert_eq!(result, SUCCESS);
        d.arg(kernel, 0, address);
        d.arg(kernel, 1, 1000i32);
        d.launch(list, kernel, 1, 0, &[]);
        d.ok("zeMemCloseIpcHandle", &[d.context, address]);
        assert_eq!(d.call("zeMemCloseIpcHandle", &[d.context, address]), INVALID);
    }
}

#[test]
fn memory_is_shared() {
    let Some(d) = driver() else { return };
    let content: Vec<i32> = (0..100).collect();
    // Of the heap, small and large, and physical memory at addresses that were reserved.
    let (small, large) = (device_memory(d, 400), device_memory(d, 5 << 20));
    let reserved = d.make("zeVirtualMemReserve", &[d.context, 0, 1 << 16]);
    let memory = d.make("zePhysicalMemCreate", &[d.context, d.device, of(&[0u64, 0, 0, 1 << 16])]);
    d.ok("zeVirtualMemMap", &[d.context, reserved, 1 << 16, memory, 0, 1]);
    let all = [small, large, reserved];
    for address in all {
        copy(d, address, content.as_ptr() as usize, 400);
    }
    let handles = all.map(|address| share(d, address));
    let mut child = other("ipc::other_process_adds", &handles);
    assert!(child.wait().unwrap().success());
    for address in all {
        let mut seen = [0i32; 100];
        copy(d, at(&mut seen), address, 400);
        assert!(seen.iter().zip(&content).all(|(x, y)| *x == y + 1000), "{seen:?}");
    }
    // The same by the handle of the physical memory.
    let direct = share(d, memory);
    let (result, address) = open(d, &direct);
    assert_eq!(result, SUCCESS);
    let mut seen = 0i32;
    copy(d, at(&mut seen), address, 4);
    assert_eq!(seen, 1000);
    d.ok("zeMemCloseIpcHandle", &[d.context, address]);
    // In one process, each opening is another address of the same memory; freed memory lives until its handles are
    // given back.
    let (one, two) = (open(d, &handles[0]).1, open(d, &handles[0]).1);
    assert!(one != two && one != small);
    d.ok("zeMemFree", &[d.context, small]);
    copy(d, one, of(&77i32), 4);
    copy(d, at(&mut seen), two, 4);
    assert_eq!(seen, 77);
    let (result, again) = open(d, &handles[0]);
    assert_eq!(result, SUCCESS);
    copy(d, at(&mut seen), again, 4);
    assert_eq!(seen, 77);
    assert_eq!(d.call("zeMemFree", &[d.context, one]), INVALID, "it is closed, not freed");
    for address in [one, two, again] {
        d.ok("zeMemCloseIpcHandle", &[d.context, address]);
    }
    for handle in handles.iter().chain([&direct]) {
        assert_eq!(d.call_with("zeMemPutIpcHandle", &[d.context], handle), SUCCESS);
    }
    assert_eq!(open(d, &handles[0]).0, INVALID, "nothing is behind it any more");
    assert_eq!(d.call_with("zeMemPutIpcHandle", &[d.context], &handles[0]), INVALID);
    // What came back to the heap is usable, and its own.
    let again = device_memory(d, 400);
    copy(d, again, content.as_ptr() as usize, 400);
    d.ok("zeMemFree", &[d.context, again]);
    d.ok("zeMemFree", &[d.context, large]);
    d.ok("zeVirtualMemFree", &[d.context, reserved, 1 << 16]);
}

fn pool(d: &Driver) -> usize {
    // Visible to the host, shared, with timestamps; two events.
    d.make("zeEventPoolCreate", &[d.context, of(&[0u64, 0, 7 | 2 << 32]), 0, 0])
}

fn event(d: &Driver, pool: usize, index: u64) -> usize {
    d.make("zeEventCreate", &[pool, of(&[0, 0, index, 0])])
}

#[test]
fn other_process_answers() {
    let (Some(handles), Some(d)) = (told(), driver()) else { return };
    let mut pool = 0usize;
    let opened = d.call_with("zeEventPoolOpenIpcHandle", &[d.context, at(&mut pool)], &handles[0]);
    assert_eq!(opened, SUCCESS);
    let (question, answer) = (event(d, pool, 0), event(d, pool, 1));
    // A command waits for one process's event and signals another one of it.
    let list = d.immediate(0);
    d.ok("zeCommandListAppendBarrier", &[list, answer, 1, of(&question)]);
    d.ok("zeCommandListHostSynchronize", &[list, FOREVER]);
    d.ok("zeEventQueryStatus", &[answer]);
    d.ok("zeEventPoolCloseIpcHandle", &[pool]);
}

#[test]
fn events_are_shared() {
    let Some(d) = driver() else { return };
    let pool = pool(d);
    let mut handle = [0u64; 8];
    d.ok("zeEventPoolGetIpcHandle", &[pool, at(&mut handle)]);
    let (question, answer) = (event(d, pool, 0), event(d, pool, 1));
    for _ in 0..2 {
        let mut child = other("ipc::other_process_answers", &[handle]);
        assert_eq!(d.call("zeEventHostSynchronize", &[answer, 1_000_000]), NOT_READY);
        d.ok("zeEventHostSignal", &[question]);
        d.ok("zeEventHostSynchronize", &[answer, FOREVER]);
        let mut times = [0u64; 4];
        d.ok("zeEventQueryKernelTimestamp", &[answer, at(&mut times)]);
        assert!(times[0] > 0 && times[1] >= times[0], "{times:?}");
        assert!(child.wait().unwrap().success());
        d.ok("zeEventHostReset", &[question]);
        d.ok("zeEventHostReset", &[answer]);
        assert_eq!(d.call("zeEventQueryStatus", &[answer]), NOT_READY);
    }
    assert_eq!(d.call("zeEventPoolCloseIpcHandle", &[pool]), INVALID, "it was not opened");
    assert_eq!(d.call_with("zeEventPoolPutIpcHandle", &[d.context], &handle), SUCCESS);
    d.ok("zeEventPoolDestroy", &[pool]);
}

#[test]
fn foreign_handles_are_refused() {
    let Some(d) = driver() else { return };
    let memory = device_memory(d, 100);
    let good = share(d, memory);
    let mut to = 0usize;
    for place in 0..8 {
        for value in [0, 1, u64::MAX, u64::MAX >> 33] {
            let mut handle = good;
            handle[place] = value;
            // No file but the one that is meant is opened; a part of it may be.
            let (result, address) = open(d, &handle);
            assert!(result == SUCCESS && place != 0 || result == INVALID, "{place} {value:#x}: {result:#x}");
            if result == SUCCESS {
                d.ok("zeMemCloseIpcHandle", &[d.context, address]);
            }
        }
    }
    assert_eq!(d.call_with("zeEventPoolOpenIpcHandle", &[d.context, at(&mut to)], &good), INVALID);
    assert_eq!(d.call_with("zeEventPoolPutIpcHandle", &[d.context], &good), INVALID);
    assert_eq!(d.call_with("zeMemOpenIpcHandle", &[d.context, d.device, 8, at(&mut to)], &good), 0x7800_000c);
    assert_eq!(d.call_with("zeMemOpenIpcHandle", &[d.context, d.device, 0, 0], &good), NULL_POINTER);
    let get = "zeMemGetIpcHandle";
    let mut handle = good;
    assert_eq!(d.call(get, &[d.context, 0, at(&mut handle)]), NULL_POINTER);
    assert_eq!(d.call(get, &[d.context, memory, 0]), NULL_POINTER);
    assert_eq!(d.call(get, &[d.context, 0xdead_0000, at(&mut handle)]), INVALID);
    let usual = d.make("zeEventPoolCreate", &[d.context, of(&[0u64, 0, 1 | 1 << 32]), 0, 0]);
    assert_eq!(d.call("zeEventPoolGetIpcHandle", &[usual, at(&mut handle)]), INVALID);
    let from = "zeMemGetIpcHandleFromFileDescriptorExp";
    for descriptor in [0, 1, 0xffff, usize::MAX] {
        assert_eq!(d.call(from, &[d.context, descriptor, at(&mut handle)]), INVALID);
    }
    let mut descriptor = 0u64;
    let number = "zeMemGetFileDescriptorFromIpcHandleExp";
    assert_eq!(d.call_with(number, &[d.context, at(&mut descriptor)], &good), SUCCESS);
    d.ok(from, &[d.context, descriptor as usize, at(&mut handle)]);
    let (result, address) = open(d, &handle);
    assert_eq!(result, SUCCESS);
    d.ok("zeMemCloseIpcHandle", &[d.context, address]);
}
