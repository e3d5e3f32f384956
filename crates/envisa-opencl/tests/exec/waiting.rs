//! Programs under the checks that do not wait as they have to: for memory that commands use, by queues that nothing flushes, in
//! functions that are called back.

use super::cl::*;
use super::exec;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// What the program does, of all that is wanted. With `right`, it waits where it has to.
pub(super) fn waiting(s: &Session, program: cl_program, x: cl_mem, does: &dyn Fn(&str) -> bool) {
    let right = does("right");
    if does("early") {
        early(s, x, right);
    }
    if does("mapped-early") {
        mapped_early(s, x, right);
    }
    for (what, frees) in [("frees-read", true), ("frees-written", false)] {
        if does(what) {
            freed(s, x, frees, right);
        }
    }
    for (what, early) in [("changed-early", true), ("changed-late", false)] {
        if does(what) {
            changed(s, x, early, right);
        }
    }
    if does("changed-row") {
        changed_row(s, x, right);
    }
    if does("lent-freed") {
        lent_freed(s, program, right);
    }
    if does("lent-used") {
        lent_used(s, program, right);
    }
    if does("flush") {
        flush(s, program, x, right);
    }
    if does("asks") {
        asks(s, program, x, right);
    }
    if does("unflushed") {
        launched(s, program, x, &[]);
        if right {
            call!(s, clFlush(s.queue));
            call!(s, clFinish(s.queue));
        }
        // Nobody releases the queue, which would flush it.
        std::process::exit(0);
    }
    if does("never-set") {
        let event = make!(s, clCreateUserEvent(s.context));
        launched(s, program, x, &[event]);
        if right {
            call!(s, clSetUserEventStatus(event, CL_COMPLETE));
            call!(s, clFinish(s.queue));
        }
        std::process::exit(0);
    }
    if does("called-back") {
        called_back(s, program, x, right);
    }
    if does("released") {
        let buffer = s.buffer(&[1u32; 4]);
        call!(s, clReleaseMemObject(buffer));
        if !right {
            call!(s, clReleaseMemObject(buffer));
        }
    }
    if does("copied-mapped") {
        copied_mapped(s, x, right);
    }
}

/// A launch on the first queue; its event.
fn launched(s: &Session, program: cl_program, x: cl_mem, after: &[cl_event]) -> cl_event {
    let kernel = s.kernel(program, "twice");
    s.arg(kernel, 0, &x);
    let mut event: cl_event = null_mut();
    let list = if after.is_empty() { null() } else { after.as_ptr() };
    let (n, global) = (after.len() as u32, 64usize);
    let size = &raw const global;
    call!(s, clEnqueueNDRangeKernel(s.queue, kernel, 1, null(), size, null(), n, list, &raw mut event));
    call!(s, clReleaseKernel(kernel));
    event
}

/// The program looks at what it reads before it has waited, and waits later.
fn early(s: &Session, x: cl_mem, right: bool) {
    let mut to = vec![0i32; 64];
    let start = to.as_mut_ptr();
    call!(s, clEnqueueReadBuffer(s.queue, x, CL_FALSE, 0, 256, start.cast(), 0, null(), null_mut()));
    if right {
        call!(s, clFinish(s.queue));
    }
    // SAFETY: it is the vector's first element.
    unsafe { start.read_volatile() };
    call!(s, clFinish(s.queue));
}

/// The same of memory that a call maps which does not block.
fn mapped_early(s: &Session, x: cl_mem, right: bool) {
    let mut event: cl_event = null_mut();
    let (flags, out) = (CL_MAP_READ, &raw mut event);
    let at: *mut i32 =
        make!(s, clEnqueueMapBuffer(s.queue, x, CL_FALSE, flags, 0, 256, 0, null(), out)).cast();
    if right {
        call!(s, clWaitForEvents(1, &raw const event));
    }
    // SAFETY: 256 bytes are mapped.
    unsafe { at.read_volatile() };
    call!(s, clWaitForEvents(1, &raw const event));
    call!(s, clReleaseEvent(event));
    call!(s, clEnqueueUnmapMemObject(s.queue, x, at.cast(), 0, null(), null_mut()));
    call!(s, clFinish(s.queue));
}

/// The program changes memory that a command is to read, or has read already: before it has waited it knows nothing of that.
fn changed(s: &Session, x: cl_mem, early: bool, right: bool) {
    let mut memory = [1i32; 64];
    let (at, gate) = (memory.as_mut_ptr(), make!(s, clCreateUserEvent(s.context)));
    let (n, after) = if early { (1, &raw const gate) } else { (0, null()) };
    call!(s, clEnqueueWriteBuffer(s.queue, x, CL_FALSE, 0, 256, at.cast(), n, after, null_mut()));
    call!(s, clFlush(s.queue));
    let last = if right || !early { CL_COMPLETE } else { CL_QUEUED };
    if last == CL_COMPLETE {
        call!(s, clSetUserEventStatus(gate, CL_COMPLETE));
    }
    if right {
        call!(s, clFinish(s.queue));
    }
    std::thread::sleep(std::time::Duration::from_millis(50));
    // SAFETY: it is the array's last element.
    unsafe { at.add(63).write_volatile(2) };
    if last != CL_COMPLETE {
        call!(s, clSetUserEventStatus(gate, CL_COMPLETE));
    }
    call!(s, clFinish(s.queue));
    call!(s, clReleaseEvent(gate));
}

/// A command writes rows of the program's memory; the program changes one, or what lies between them, and reads back there.
fn changed_row(s: &Session, x: cl_mem, right: bool) {
    let mut memory = [1i32; 64];
    let (at, zero, size) = (memory.as_mut_ptr(), [0usize; 3], [16usize, 4, 1]);
    let [zero, size] = [&zero, &size].map(|a| a.as_ptr());
    let (to, queue): (*mut c_void, _) = (at.cast(), s.queue);
    call!(
        s,
        clEnqueueWriteBufferRect(
            queue,
            x,
            CL_FALSE,
            zero,
            zero,
            size,
            16,
            64,
            64,
            256,
            to,
            0,
            null(),
            null_mut()
        )
    );
    // SAFETY: they are elements of the array: the first row has four, and the next one begins with the 16th.
    unsafe { at.add(if right { 5 } else { 3 }).write_volatile(2) };
    if right {
        // What another command fills is not the program's doing.
        call!(s, clEnqueueReadBuffer(queue, x, CL_FALSE, 128, 64, to, 0, null(), null_mut()));
    }
    call!(s, clFinish(queue));
}

/// The program frees memory that a command is to read, or to fill.
fn freed(s: &Session, x: cl_mem, reads: bool, right: bool) {
    // Large memory is given back to the system at once.
    let bytes = 1 << 20;
    let large = make!(s, clCreateBuffer(s.context, CL_MEM_READ_WRITE, bytes, null_mut()));
    let zero = 0u32;
    let from = std::ptr::from_ref(&zero).cast();
    call!(s, clEnqueueFillBuffer(s.queue, large, from, 4, 0, bytes, 0, null(), null_mut()));
    for (mem, bytes) in [(x, 256), (large, bytes)] {
        let mut memory = vec![1u8; bytes];
        let at: *mut c_void = memory.as_mut_ptr().cast();
        let gate = make!(s, clCreateUserEvent(s.context));
        let after = &raw const gate;
        if reads {
            call!(s, clEnqueueWriteBuffer(s.queue, mem, CL_FALSE, 0, bytes, at, 1, after, null_mut()));
        } else {
            call!(s, clEnqueueReadBuffer(s.queue, mem, CL_FALSE, 0, bytes, at, 1, after, null_mut()));
        }
        let kept = right.then_some(memory);
        call!(s, clSetUserEventStatus(gate, CL_COMPLETE));
        call!(s, clFinish(s.queue));
        drop(kept);
        call!(s, clReleaseEvent(gate));
    }
    call!(s, clReleaseMemObject(large));
}

/// The program frees memory that it has lent to a buffer, and launches.
fn lent_freed(s: &Session, program: cl_program, right: bool) {
    let mut memory = vec![1i32; 64];
    let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    let buffer = make!(s, clCreateBuffer(s.context, flags, 256, memory.as_mut_ptr().cast()));
    let kept = right.then_some(memory);
    let event = launched(s, program, buffer, &[]);
    call!(s, clFinish(s.queue));
    call!(s, clReleaseEvent(event));
    drop(kept);
    call!(s, clReleaseMemObject(buffer));
}

/// The program looks at memory that it has lent, where a kernel has written, without mapping it.
fn lent_used(s: &Session, program: cl_program, right: bool) {
    let mut memory = vec![1i32; 64];
    let start = memory.as_mut_ptr();
    let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    let buffer = make!(s, clCreateBuffer(s.context, flags, 256, start.cast()));
    let event = launched(s, program, buffer, &[]);
    call!(s, clFinish(s.queue));
    call!(s, clReleaseEvent(event));
    let map = CL_MAP_READ;
    let mapped = right
        .then(|| make!(s, clEnqueueMapBuffer(s.queue, buffer, CL_TRUE, map, 0, 256, 0, null(), null_mut())));
    // SAFETY: it is the vector's first element.
    unsafe { assert_eq!(start.read_volatile(), 2) };
    if let Some(at) = mapped {
        call!(s, clEnqueueUnmapMemObject(s.queue, buffer, at, 0, null(), null_mut()));
        call!(s, clFinish(s.queue));
    }
    call!(s, clReleaseMemObject(buffer));
}

/// A queue waits for a command of another one, which nothing flushes.
fn flush(s: &Session, program: cl_program, x: cl_mem, right: bool) {
    let other = make!(s, clCreateCommandQueue(s.context, s.device, 0));
    let event = launched(s, program, x, &[]);
    if right {
        call!(s, clFlush(s.queue));
    }
    call!(s, clEnqueueMarkerWithWaitList(other, 1, &raw const event, null_mut()));
    call!(s, clFinish(other));
    call!(s, clFinish(s.queue));
    call!(s, clReleaseEvent(event));
    call!(s, clReleaseCommandQueue(other));
}

/// The program asks for an event's status until the command is over.
fn asks(s: &Session, program: cl_program, x: cl_mem, right: bool) {
    let gate = make!(s, clCreateUserEvent(s.context));
    let event = launched(s, program, x, &[gate]);
    if right {
        call!(s, clFlush(s.queue));
    }
    for round in 0..100 {
        let mut status = 1i32;
        let to = std::ptr::from_mut(&mut status).cast();
        call!(s, clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, 4, to, null_mut()));
        if round == 50 {
            call!(s, clSetUserEventStatus(gate, CL_COMPLETE));
        }
    }
    call!(s, clFinish(s.queue));
    call!(s, clReleaseEvent(event));
    call!(s, clReleaseEvent(gate));
}

type Finish = unsafe extern "C" fn(cl_command_queue) -> cl_int;

/// A function that is called back finishes a queue.
fn called_back(s: &Session, program: cl_program, x: cl_mem, right: bool) {
    unsafe extern "C" fn function(_: cl_event, _: cl_int, data: *mut c_void) {
        // SAFETY: the data is what was given with it.
        let (finish, queue, done) =
            unsafe { *data.cast::<(Option<Finish>, cl_command_queue, *const std::sync::Barrier)>() };
        if let Some(finish) = finish {
            // SAFETY: the queue is the session's.
            unsafe { finish(queue) };
        }
        // SAFETY: it lives until both have met.
        unsafe { (*done).wait() };
    }
    let done = std::sync::Barrier::new(2);
    let mut data = (s.api.clFinish.filter(|_| !right), s.queue, &raw const done);
    let event = launched(s, program, x, &[]);
    let to = std::ptr::from_mut(&mut data).cast();
    call!(s, clSetEventCallback(event, CL_COMPLETE, Some(function), to));
    call!(s, clFinish(s.queue));
    done.wait();
    call!(s, clReleaseEvent(event));
}

/// Memory is copied that is mapped for writing.
fn copied_mapped(s: &Session, x: cl_mem, right: bool) {
    let other = s.buffer(&[1u32; 64]);
    let flags = CL_MAP_WRITE;
    let at = make!(s, clEnqueueMapBuffer(s.queue, x, CL_TRUE, flags, 0, 256, 0, null(), null_mut()));
    let unmap = || call!(s, clEnqueueUnmapMemObject(s.queue, x, at, 0, null(), null_mut()));
    if right {
        unmap();
    }
    call!(s, clEnqueueCopyBuffer(s.queue, x, other, 0, 0, 256, 0, null(), null_mut()));
    if !right {
        unmap();
    }
    call!(s, clFinish(s.queue));
    call!(s, clReleaseMemObject(other));
}

/// What is told of changed memory.
const CHANGED: &str =
    "which does not block: the program changed the memory that it reads before it had waited for it";

/// What a program does, and what is told of it.
const MISTAKES: [(&str, &str); 15] = [
    ("changed-early", CHANGED),
    ("changed-late", CHANGED),
    ("changed-row", CHANGED),
    ("early", "the program used the memory that it fills before it had waited for it"),
    ("mapped-early", "clEnqueueMapBuffer, which does not block: the program used the memory"),
    ("frees-read", "clEnqueueWriteBuffer, which does not block: the program freed the memory that it reads"),
    (
        "frees-written",
        "clEnqueueReadBuffer, which does not block: the program freed the memory that it fills",
    ),
    (
        "lent-freed",
        "kernel `twice` uses memory of the program (CL_MEM_USE_HOST_PTR), which the program has freed",
    ),
    (
        "lent-used",
        "kernel `twice` has written memory of the program (CL_MEM_USE_HOST_PTR), which the program used without mapping it",
    ),
    ("flush", "waits for kernel `twice`, which is in another queue, which the program has not flushed"),
    ("asks", "asks again and again for the status of kernel `twice`, whose queue it has not flushed"),
    ("unflushed", "kernel `twice`: its queue was never flushed, and nobody waited for it"),
    ("never-set", "kernel `twice` waits for an event of the program, which never set it"),
    ("called-back", "a function that the driver calls back waits for commands"),
    ("released", "failed with CL_INVALID_MEM_OBJECT: the object was released before"),
];

#[test]
fn programs_wait_for_what_they_use() {
    let mapped = (
        "copied-mapped",
        "clEnqueueCopyBuffer reads memory of 256 bytes, from byte 0 of its buffer on, which is mapped for writing",
    );
    for (does, says) in MISTAKES.into_iter().chain([mapped]) {
        let Some((code, _, err)) = exec(&["--check"], does) else { return };
        // Without debug registers nobody sees what a program looks at.
        if code == 0 && ["early", "mapped-early", "lent-used"].contains(&does) && !has_debug_registers() {
            continue;
        }
        assert!(code == 1 && err.contains(says), "{does}: {code}: {err}");
        assert!(err.ends_with("0 faults, 0 findings, 1 mistake of the program\n"), "{does}: {err}");
        let (code, _, err) = exec(&["--check"], &format!("{does} right")).expect("as before");
        assert_eq!(code, 0, "{does}: {err}");
    }
}

/// Does the system let programs use the processor's debug registers?
pub(super) fn has_debug_registers() -> bool {
    let text = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    cfg!(target_arch = "x86_64") && text.trim().parse::<i32>().is_ok_and(|n| n <= 2)
}
