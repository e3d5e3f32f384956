//! Addresses that are reserved, and physical memory that is mapped to them.

use crate::ze::*;

const TEXT: &str = "
    kernel void count(global int *x, int from) { x[get_global_id(0) + from] = get_global_id(0) + from; }";
const PAGE: usize = 1 << 16;
const READ_WRITE: usize = 1;
const ALIGNMENT: u32 = 0x7800_000a;
const BAD_SIZE: u32 = 0x7800_0009;

fn reserve(d: &Driver, start: usize, size: usize) -> usize {
    d.make("zeVirtualMemReserve", &[d.context, start, size])
}

fn physical(d: &Driver, size: usize) -> usize {
    d.make("zePhysicalMemCreate", &[d.context, d.device, of(&[0, 0, 0, size as u64])])
}

fn map(d: &Driver, at: usize, size: usize, memory: usize, offset: usize) -> u32 {
    d.call("zeVirtualMemMap", &[d.context, at, size, memory, offset, READ_WRITE])
}

fn read(d: &Driver, from: usize) -> i32 {
    let mut value = 0i32;
    d.ok("zeCommandListAppendMemoryCopy", &[d.immediate(1), at(&mut value), from, 4, 0, 0, 0]);
    value
}

/// Launches a kernel that writes so many numbers, from one on.
fn count(d: &Driver, list: usize, at: usize, from: usize, n: usize) -> u32 {
    let kernel = d.kernel(d.program(TEXT), "count", 64);
    d.arg(kernel, 0, at);
    d.arg(kernel, 1, from as i32);
    let groups = [(n / 64) as u32, 1, 1];
    d.call("zeCommandListAppendLaunchKernel", &[list, kernel, of(&groups), 0, 0, 0])
}

#[test]
fn what_is_mapped_in_a_row_is_one_to_kernels_and_copies() {
    let Some(d) = driver() else { return };
    let mut page = 0usize;
    d.ok("zeVirtualMemQueryPageSize", &[d.context, d.device, 1, at(&mut page)]);
    assert_eq!(page, PAGE);
    let start = reserve(d, 0, 16 * PAGE);
    assert!(start.is_multiple_of(PAGE));
    let (one, two) = (physical(d, 2 * PAGE), physical(d, 4 * PAGE));
    assert_eq!(map(d, start, 2 * PAGE, one, 0), SUCCESS);
    // A closed list has the first address, and the memory grows behind it.
    let (list, queue) = (d.regular(0), d.queue());
    let n = 6 * PAGE / 4;
    assert_eq!(count(d, list, start, 0, n), SUCCESS);
    d.ok("zeCommandListClose", &[list]);
    assert_eq!(map(d, start + 2 * PAGE, 4 * PAGE, two, 0), SUCCESS);
    d.execute(queue, list);
    for i in [0, 1, 2 * PAGE / 4 - 1, 2 * PAGE / 4, n - 1] {
        assert_eq!(read(d, start + 4 * i), i as i32);
    }
    let all = d.shared(&vec![0i32; n]);
    let copy = [d.immediate(1), all.as_ptr() as usize, start, 6 * PAGE, 0, 0, 0];
    d.ok("zeCommandListAppendMemoryCopy", &copy);
    assert!(all.iter().enumerate().all(|(i, x)| *x == i as i32));
    let far = [d.immediate(1), all.as_ptr() as usize, start, 6 * PAGE + 1, 0, 0, 0];
    assert_eq!(d.call("zeCommandListAppendMemoryCopy", &far), SIZE);
    // The same memory somewhere else.
    let other = reserve(d, 0, PAGE);
    assert_eq!(map(d, other, PAGE, two, PAGE), SUCCESS);
    assert_eq!(read(d, other), (3 * PAGE / 4) as i32);
    // Unmapped: kernels do not reach it any more, and the content is in the physical memory still.
    d.ok("zeVirtualMemUnmap", &[d.context, start + 2 * PAGE, 4 * PAGE]);
    // It writes past the end, which is dropped or a fault.
    let result = count(d, d.immediate(1), start, 1, n);
    assert!(result == SUCCESS || result == LOST, "{result:#x}");
    assert_eq!(map(d, start + 8 * PAGE, 4 * PAGE, two, 0), SUCCESS);
    assert_eq!(read(d, start + 8 * PAGE), (2 * PAGE / 4) as i32);
    d.ok("zePhysicalMemDestroy", &[d.context, two]);
    assert_eq!(read(d, start + 8 * PAGE), (2 * PAGE / 4) as i32, "it is mapped");
    d.ok("zeVirtualMemFree", &[d.context, start, 16 * PAGE]);
    d.ok("zeVirtualMemFree", &[d.context, other, PAGE]);
    // A list that still has the address does no harm.
    d.ok("zeCommandQueueExecuteCommandLists", &[queue, 1, of(&list), 0]);
    assert!(d.call("zeCommandQueueSynchronize", &[queue, FOREVER]) >= 0x7000_0000);
}

#[test]
fn access_is_set_and_known_page_by_page() {
    let Some(d) = driver() else { return };
    let start = reserve(d, 0, 8 * PAGE);
    let access = |at_: usize, size: usize| {
        let (mut access, mut same) = (9u32, 0usize);
        let args = [d.context, at_, size, at(&mut access), at(&mut same)];
        d.ok("zeVirtualMemGetAccessAttribute", &args);
        (access, same)
    };
    assert_eq!(access(start, PAGE), (0, 8 * PAGE));
    let memory = physical(d, 8 * PAGE);
    assert_eq!(map(d, start, 8 * PAGE, memory, 0), SUCCESS);
    assert_eq!(access(start, 8 * PAGE), (1, 8 * PAGE));
    let set = |at: usize, size: usize, access: usize| {
        d.call("zeVirtualMemSetAccessAttribute", &[d.context, at, size, access])
    };
    assert_eq!(set(start + 2 * PAGE, PAGE, 0), SUCCESS);
    assert_eq!(set(start + 3 * PAGE, PAGE, 2), SUCCESS);
    assert_eq!(access(start, 8 * PAGE), (1, 2 * PAGE));
    assert_eq!(access(start + 2 * PAGE, PAGE), (0, PAGE));
    assert_eq!(access(start + 3 * PAGE, PAGE), (2, PAGE));
    assert_eq!(access(start + 4 * PAGE, PAGE), (1, 4 * PAGE));
    let list = d.immediate(1);
    assert_eq!(count(d, list, start, 0, 2 * PAGE / 4), SUCCESS);
    // There is no access to these: what is written is dropped, or a fault.
    let result = count(d, list, start, 2 * PAGE / 4, 64);
    assert!(result == SUCCESS || result == LOST, "{result:#x}");
    assert_eq!(count(d, d.immediate(1), start + 4 * PAGE, 0, 64), SUCCESS);
    assert_eq!(set(start, 8 * PAGE, 1), SUCCESS);
    assert_eq!(access(start, 8 * PAGE), (1, 8 * PAGE));
    assert_eq!(read(d, start + 2 * PAGE + 4), 0, "nothing was written");
    assert_eq!(count(d, d.immediate(1), start, 0, 8 * PAGE / 4), SUCCESS);
    d.ok("zeVirtualMemFree", &[d.context, start, 8 * PAGE]);
}

#[test]
fn what_is_no_reservation_is_refused() {
    let Some(d) = driver() else { return };
    let mut to = 0usize;
    let reserve_ = |start: usize, size: usize| {
        let mut to = 0usize;
        d.call("zeVirtualMemReserve", &[d.context, start, size, at(&mut to)])
    };
    assert_eq!((reserve_(0, 0), reserve_(0, 5000), reserve_(1, PAGE)), (BAD_SIZE, BAD_SIZE, ALIGNMENT));
    assert_eq!(reserve_(0, usize::MAX & !4095), 0x7000_0002);
    assert_eq!(reserve_(0, 1 << 50), 0x7000_0002);
    assert_eq!(d.call("zeVirtualMemReserve", &[d.context, 0, PAGE, 0]), NULL_POINTER);
    let create = |device: usize, flags: u64, size: u64, to: usize| {
        d.call("zePhysicalMemCreate", &[d.context, device, of(&[0, 0, flags, size]), to])
    };
    assert_eq!(create(d.device, 0, 0, at(&mut to)), BAD_SIZE);
    assert_eq!(create(d.device, 0, 77, at(&mut to)), BAD_SIZE);
    assert_eq!(create(d.device, 0, 1 << 60, at(&mut to)), BAD_SIZE);
    assert_eq!(create(d.device, 8, 4096, at(&mut to)), 0x7800_000c);
    assert_eq!(create(0, 0, 4096, at(&mut to)), NULL_HANDLE);
    assert_eq!(create(0, 2, 4096, at(&mut to)), SUCCESS, "of the host");
    assert_eq!(create(d.device, 0, 4096, 0), NULL_POINTER);
    let (start, memory) = (reserve(d, 0, 4 * PAGE), physical(d, 2 * PAGE));
    for (at, size, offset, wanted) in [
        (start, 4 * PAGE, 0, INVALID),
        (start, PAGE, 2 * PAGE, INVALID),
        (start, PAGE, usize::MAX & !4095, INVALID),
        (start + 3 * PAGE, 2 * PAGE, 0, INVALID),
        (start + 4 * PAGE, PAGE, 0, INVALID),
        (0x1000, PAGE, 0, INVALID),
        (start + 1, PAGE, 0, ALIGNMENT),
        (start, PAGE, 1, ALIGNMENT),
        (start, PAGE + 1, 0, BAD_SIZE),
        (start, 0, 0, BAD_SIZE),
        (start, usize::MAX & !4095, 0, BAD_SIZE),
        (0, PAGE, 0, NULL_POINTER),
    ] {
        assert_eq!(map(d, at, size, memory, offset), wanted, "{at:#x} {size:#x} {offset:#x}");
    }
    assert_eq!(map(d, start, PAGE, d.device, 0), INVALID, "a handle of another kind");
    assert_eq!(d.call("zeVirtualMemMap", &[d.context, start, PAGE, memory, 0, 7]), 0x7800_000c);
    assert_eq!(map(d, start, PAGE, memory, 0), SUCCESS);
    assert_eq!(map(d, start, 2 * PAGE, memory, 0), INVALID, "something is there");
    assert_eq!(d.call("zeMemFree", &[d.context, start]), INVALID);
    assert_eq!(d.call("zeVirtualMemFree", &[d.context, start, PAGE]), INVALID, "it is larger");
    d.ok("zeVirtualMemUnmap", &[d.context, start, 4 * PAGE]);
    d.ok("zeVirtualMemFree", &[d.context, start, 4 * PAGE]);
    assert_eq!(d.call("zeVirtualMemFree", &[d.context, start, 4 * PAGE]), INVALID);
    assert_eq!(d.call("zeVirtualMemUnmap", &[d.context, start, PAGE]), INVALID);
    d.ok("zePhysicalMemDestroy", &[d.context, memory]);
    assert_eq!(d.call("zePhysicalMemDestroy", &[d.context, memory]), INVALID);
}
