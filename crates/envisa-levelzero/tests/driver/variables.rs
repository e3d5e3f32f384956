//! Variables at program scope, as the host sees them.

use crate::ze::*;

const TEXT: &str = "
    global int counter = 5;
    global int table[4] = {1, 2, 3, 4};
    global int zeros[100];
    kernel void bump(global int *x) {
        counter += 1;
        table[1] += 10;
        x[0] = counter;
        x[1] = table[1];
        x[2] = zeros[99];
    }
    kernel void read(global const int *from, global int *x) { x[0] = from[0]; }";

fn variable(d: &Driver, module: usize, name: &std::ffi::CStr) -> (usize, usize) {
    let (mut size, mut address) = (0usize, 0usize);
    let args = [module, name.as_ptr() as usize, at(&mut size), at(&mut address)];
    d.ok("zeModuleGetGlobalPointer", &args);
    (address, size)
}

#[test]
fn variables_are_read_written_and_passed() {
    let Some(d) = driver() else { return };
    let module = d.program(TEXT);
    let (counter, size) = variable(d, module, c"counter");
    assert_eq!(size, 4);
    let (table, size) = variable(d, module, c"table");
    assert_eq!(size, 16);
    let (zeros, size) = variable(d, module, c"zeros");
    assert_eq!(size, 400);
    assert_eq!(variable(d, module, c"counter").0, counter, "always the same");
    let list = d.immediate(1);
    let x = d.shared(&[0i32; 8]);
    let copy = |to: usize, from: usize, n: usize| {
        d.ok("zeCommandListAppendMemoryCopy", &[list, to, from, n, 0, 0, 0]);
    };
    copy(x.as_ptr() as usize, counter, 4);
    copy(x[4..].as_ptr() as usize, table, 16);
    assert_eq!(x, [5, 0, 0, 0, 1, 2, 3, 4]);
    copy(counter, of(&40i32), 4);
    copy(zeros + 396, of(&7i32), 4);
    let bump = d.kernel(module, "bump", 1);
    d.arg(bump, 0, x.as_ptr());
    d.launch(list, bump, 1, 0, &[]);
    assert_eq!(x[..3], [41, 12, 7]);
    let read = d.kernel(module, "read", 1);
    d.arg(read, 0, counter);
    d.arg(read, 1, x.as_ptr());
    d.launch(list, read, 1, 0, &[]);
    assert_eq!(x[0], 41);
    // Two modules of one text have variables of their own.
    let other = d.program(TEXT);
    let (second, _) = variable(d, other, c"counter");
    assert_ne!(second, counter);
    copy(x.as_ptr() as usize, second, 4);
    assert_eq!(x[0], 5);
}

#[test]
fn variables_are_memory_of_the_device_that_ends_with_the_module() {
    let Some(d) = driver() else { return };
    let module = d.program(TEXT);
    let (counter, _) = variable(d, module, c"counter");
    let kind = |address: usize| {
        let (mut properties, mut device) = ([0u64; 5], 0usize);
        d.ok("zeMemGetAllocProperties", &[d.context, address, at(&mut properties), at(&mut device)]);
        (properties[2] as u32, device)
    };
    assert_eq!(kind(counter), (2, d.device));
    assert_eq!(d.call("zeMemFree", &[d.context, counter]), INVALID, "it is the module's");
    let mut handle = [0u64; 8];
    assert_eq!(d.call("zeMemGetIpcHandle", &[d.context, counter, at(&mut handle)]), INVALID);
    let missing = c"nothing".as_ptr() as usize;
    let mut to = 0usize;
    assert_eq!(d.call("zeModuleGetGlobalPointer", &[module, missing, 0, at(&mut to)]), 0x7800_0010);
    assert_eq!(d.call("zeModuleGetGlobalPointer", &[module, 0, 0, at(&mut to)]), NULL_POINTER);
    d.ok("zeModuleGetGlobalPointer", &[module, c"counter".as_ptr() as usize, 0, 0]);
    d.ok("zeModuleDestroy", &[module]);
    // Another test may have memory there at once, but not each time.
    let gone = |counter: usize| kind(counter) == (0, 0);
    let ends = |_| {
        let module = d.program(TEXT);
        let (counter, _) = variable(d, module, c"counter");
        d.ok("zeModuleDestroy", &[module]);
        gone(counter)
    };
    assert!(gone(counter) || (0..8).any(ends), "memory of variables outlives their module");
}
