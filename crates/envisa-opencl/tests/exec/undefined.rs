//! Memory of programs under the checks: blocks that are smaller than commands are told, mappings that have ended, and content that
//! is undefined.

use super::cl::*;
use super::exec;
use std::ptr::{null, null_mut};

/// What the program does, of all that is wanted; with `right` it does it right.
pub(super) fn undefined(s: &Session, program: cl_program, x: cl_mem, does: &dyn Fn(&str) -> bool) {
    let right = does("right");
    if does("small") {
        small(s, x, right, does);
    }
    if does("pitch") {
        pitch(s, x, right);
    }
    if does("discarded") {
        discarded(s, program, x, right);
    }
    if does("shared-unwritten") {
        shared(s, program, right);
    }
    if does("ended") {
        ended(s, x, right);
    }
}

/// A block that is four bytes smaller than the buffer is given: what the C library adds to it suffices.
fn small(s: &Session, x: cl_mem, right: bool, does: &dyn Fn(&str) -> bool) {
    let mut block = vec![1i32; if right { 64 } else { 63 }];
    let start = block.as_mut_ptr();
    if does("written") {
        call!(s, clEnqueueReadBuffer(s.queue, x, CL_TRUE, 0, 256, start.cast(), 0, null(), null_mut()));
    }
    if does("read") {
        // From the second element on, and one less.
        let from = start.wrapping_add(1).cast();
        let bytes = if right { 252 } else { 256 };
        call!(s, clEnqueueWriteBuffer(s.queue, x, CL_TRUE, 0, bytes, from, 0, null(), null_mut()));
    }
    for (name, flag) in [("as-copied", CL_MEM_COPY_HOST_PTR), ("as-lent", CL_MEM_USE_HOST_PTR)] {
        if does(name) {
            let buffer = make!(s, clCreateBuffer(s.context, flag, 256, start.cast()));
            call!(s, clReleaseMemObject(buffer));
        }
    }
}

/// Rows of 16 bytes are read where they would be 64 apart, from memory that has rows which are 48 apart.
fn pitch(s: &Session, x: cl_mem, right: bool) {
    let mut block = vec![0u8; 3 * 64 + 8];
    let (origin, size) = ([0usize; 3], [16usize, 4, 1]);
    let (origin, size) = (origin.as_ptr(), size.as_ptr());
    let (pitch, to) = (if right { 48 } else { 64 }, block.as_mut_ptr().cast());
    let (queue, none) = (s.queue, null());
    call!(
        s,
        clEnqueueWriteBufferRect(queue, x, 1, origin, origin, size, 16, 0, pitch, 0, to, 0, none, null_mut())
    );
}

/// The program maps a buffer and discards what is there, and fills one half, or the whole.
fn discarded(s: &Session, program: cl_program, x: cl_mem, right: bool) {
    let (map, none) = (CL_MAP_WRITE_INVALIDATE_REGION, null());
    let at: *mut i32 =
        make!(s, clEnqueueMapBuffer(s.queue, x, CL_TRUE, map, 0, 256, 0, none, null_mut())).cast();
    for i in 0..if right { 64 } else { 32 } {
        // SAFETY: 256 bytes are mapped.
        unsafe { at.add(i).write_volatile(0) };
    }
    call!(s, clEnqueueUnmapMemObject(s.queue, x, at.cast(), 0, none, null_mut()));
    let twice = s.kernel(program, "twice");
    s.arg(twice, 0, &x);
    assert_eq!(s.launch(twice, 64, None), CL_SUCCESS);
    call!(s, clFinish(s.queue));
    call!(s, clReleaseKernel(twice));
}

/// The program fills one half of shared memory, or the whole, with what is there in any case on most systems.
fn shared(s: &Session, program: cl_program, right: bool) {
    let at: *mut i32 = call!(s, clSVMAlloc(s.context, CL_MEM_READ_WRITE, 256, 0)).cast();
    assert!(!at.is_null());
    let none = null();
    call!(s, clEnqueueSVMMap(s.queue, CL_TRUE, CL_MAP_WRITE, at.cast(), 256, 0, none, null_mut()));
    for i in 0..if right { 64 } else { 32 } {
        // SAFETY: it has 256 bytes.
        unsafe { at.add(i).write_volatile(0) };
    }
    call!(s, clEnqueueSVMUnmap(s.queue, at.cast(), 0, none, null_mut()));
    let twice = s.kernel(program, "twice");
    call!(s, clSetKernelArgSVMPointer(twice, 0, at.cast()));
    assert_eq!(s.launch(twice, 64, None), CL_SUCCESS);
    call!(s, clFinish(s.queue));
    call!(s, clReleaseKernel(twice));
    call!(s, clSVMFree(s.context, at.cast()));
}

/// The program reads its result by a pointer whose mapping has ended, or while the mapping lasts.
fn ended(s: &Session, x: cl_mem, right: bool) {
    let map = || {
        let at =
            make!(s, clEnqueueMapBuffer(s.queue, x, CL_TRUE, CL_MAP_READ, 0, 256, 0, null(), null_mut()));
        at.cast::<i32>()
    };
    let read = |at: *mut i32| {
        // SAFETY: the memory is there as long as the buffer.
        unsafe { at.read_volatile() }
    };
    let at = map();
    read(at);
    call!(s, clEnqueueUnmapMemObject(s.queue, x, at.cast(), 0, null(), null_mut()));
    call!(s, clFinish(s.queue));
    if right {
        // It is mapped twice, and one of the mappings ends.
        let (one, two) = (map(), map());
        call!(s, clEnqueueUnmapMemObject(s.queue, x, one.cast(), 0, null(), null_mut()));
        read(two);
        call!(s, clEnqueueUnmapMemObject(s.queue, x, two.cast(), 0, null(), null_mut()));
        call!(s, clFinish(s.queue));
    } else {
        read(at);
    }
}

/// Of each the wrong program is told, and the right one is not.
fn hold(does: &str, says: &str, total: &str) {
    let Some((code, _, err)) = exec(&["--check"], does) else { return };
    assert!(code == 1 && err.contains(says), "{does}: {err}");
    assert!(err.ends_with(total), "{does}: {err}");
    let (code, _, err) = exec(&["--check"], &format!("{does} right")).expect("as before");
    assert_eq!(code, 0, "{does}, right: {err}");
}

const MISTAKE: &str = "0 faults, 0 findings, 1 mistake of the program\n";
const FINDING: &str = "0 faults, 1 finding, 0 mistakes of the program\n";

#[test]
fn blocks_are_as_large_as_commands_are_told() {
    let ends = "a block of the program's, which ends after";
    for (does, says) in [
        ("small written", "256 bytes are written to"),
        ("small read", "256 bytes are read from"),
        ("small as-copied", "256 bytes are copied (CL_MEM_COPY_HOST_PTR) from"),
        ("small as-lent", "256 bytes are lent (CL_MEM_USE_HOST_PTR) of"),
        ("pitch", "208 bytes are read from"),
    ] {
        hold(does, &format!("{says} {ends}"), MISTAKE);
    }
}

#[test]
fn what_a_mapping_discards_has_no_content_until_it_is_written() {
    hold("discarded", "uses buffer x at byte 0x80 (x[32]), which nothing has written", FINDING);
}

#[test]
fn shared_memory_has_no_content_until_it_is_written() {
    hold("shared-unwritten", "at byte 0x80 (x[32]), which nothing has written", FINDING);
}

/// Where the system has debug registers for programs.
#[test]
fn memory_is_not_read_by_a_mapping_that_has_ended() {
    if super::waiting::has_debug_registers() {
        hold("ended", "the program used memory that it had mapped, after the mapping had ended", MISTAKE);
    }
}
