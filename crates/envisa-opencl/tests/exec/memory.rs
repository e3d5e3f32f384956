//! Memory of programs under the checks: what was never written, what is mapped, and what is the program's own.

use super::cl::*;
use super::exec;
use std::ptr::{null, null_mut};

/// What the program does with memory, of all that is wanted.
pub(super) fn memory(s: &Session, program: cl_program, x: cl_mem, does: &dyn Fn(&str) -> bool) {
    if does("content") {
        content(s, program, x);
    }
    if does("lent") {
        lent(s, program, does("ordered"));
    }
    if does("mapped") {
        mapped(s, program, x, does("written"));
    }
    if does("own") {
        own(s, program, does("used"));
    }
    if does("reused") {
        reused(s, program, does("stale"));
    }
    if does("lent-early") {
        lent_early(s, program, does("mapped-first"));
    }
    if does("lent-twice") {
        lent_twice(s, program, does("apart"));
    }
    if does("beside") {
        beside(s, x, does("whole"));
    }
    if does("components") {
        components(s, program, x, does("both"));
    }
    if does("padding") {
        padding(s, program, does);
    }
    if does("parts") {
        many_parts(s, program, x, does("used"));
    }
    if does("write-only") {
        write_only(s, program, does);
    }
    if does("shared-mapped") {
        shared_mapped(s, program, does("right"));
    }
    if does("part") {
        part(s, program, does("right"));
    }
}

/// A launch is given shared memory that is mapped for writing, or was.
fn shared_mapped(s: &Session, program: cl_program, right: bool) {
    let at: *mut i32 = call!(s, clSVMAlloc(s.context, CL_MEM_READ_WRITE, 256, 0)).cast();
    let unmap = || call!(s, clEnqueueSVMUnmap(s.queue, at.cast(), 0, null(), null_mut()));
    call!(s, clEnqueueSVMMap(s.queue, CL_TRUE, CL_MAP_WRITE, at.cast(), 256, 0, null(), null_mut()));
    for i in 0..64 {
        // SAFETY: it has 256 bytes.
        unsafe { at.add(i).write_volatile(1) };
    }
    if right {
        unmap();
    }
    let twice = s.kernel(program, "twice");
    call!(s, clSetKernelArgSVMPointer(twice, 0, at.cast()));
    assert_eq!(s.launch(twice, 64, None), CL_SUCCESS);
    call!(s, clFinish(s.queue));
    if !right {
        unmap();
        call!(s, clFinish(s.queue));
    }
    call!(s, clReleaseKernel(twice));
    call!(s, clSVMFree(s.context, at.cast()));
}

/// A kernel is given 256 bytes in the midst of a buffer, and goes beyond them, or does not.
fn part(s: &Session, program: cl_program, right: bool) {
    let whole = s.buffer(&[1i32; 192]);
    let (origin, kind) = ([256usize, 256], CL_BUFFER_CREATE_TYPE_REGION);
    let part = make!(s, clCreateSubBuffer(whole, 0, kind, std::ptr::from_ref(&origin).cast()));
    let twice = s.kernel(program, "twice");
    s.arg(twice, 0, &part);
    assert_eq!(s.launch(twice, if right { 64 } else { 66 }, None), CL_SUCCESS);
    call!(s, clFinish(s.queue));
    call!(s, clReleaseKernel(twice));
    call!(s, clReleaseMemObject(part));
    call!(s, clReleaseMemObject(whole));
}

/// A kernel and the program read memory of which a part was never written.
fn content(s: &Session, program: cl_program, x: cl_mem) {
    let kernel = s.kernel(program, "copied");
    let blank = make!(s, clCreateBuffer(s.context, CL_MEM_READ_WRITE, 512, null_mut()));
    s.arg(kernel, 0, &blank);
    s.arg(kernel, 1, &x);
    let zero = 0u32;
    let from = std::ptr::from_ref(&zero).cast();
    // The kernel reads 256 bytes; half of them were written.
    call!(s, clEnqueueFillBuffer(s.queue, blank, from, 4, 0, 128, 0, null(), null_mut()));
    assert_eq!(s.launch(kernel, 64, None), CL_SUCCESS);
    // Half of this has content, the rest of the buffer has not.
    s.read::<u32>(blank, 64);
    let mut out = [0u32; 8];
    let to = out.as_mut_ptr().cast();
    call!(s, clEnqueueReadBuffer(s.queue, blank, CL_TRUE, 256, 32, to, 0, null(), null_mut()));
    call!(s, clReleaseMemObject(blank));
    call!(s, clReleaseKernel(kernel));
}

/// What a launch before a mapping writes is its result; what the program writes through one for reading is a mistake.
fn mapped(s: &Session, program: cl_program, x: cl_mem, written: bool) {
    let twice = s.kernel(program, "twice");
    assert_eq!(s.arg(twice, 0, &x), CL_SUCCESS);
    assert_eq!(s.launch(twice, 64, Some(16)), CL_SUCCESS);
    let at: *mut i32 =
        make!(s, clEnqueueMapBuffer(s.queue, x, CL_TRUE, CL_MAP_READ, 0, 256, 0, null(), null_mut())).cast();
    // SAFETY: 256 bytes are mapped.
    unsafe {
        assert_eq!(at.read(), 8);
        if written {
            at.write(9);
        }
    }
    call!(s, clEnqueueUnmapMemObject(s.queue, x, at.cast(), 0, null(), null_mut()));
    call!(s, clFinish(s.queue));
    call!(s, clReleaseKernel(twice));
}

/// A kernel works on memory of the program, which changes it before the kernel may begin, or not.
fn lent(s: &Session, program: cl_program, ordered: bool) {
    let mut memory = vec![1i32; 64];
    let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    let buffer = make!(s, clCreateBuffer(s.context, flags, 256, memory.as_mut_ptr().cast()));
    let twice = s.kernel(program, "twice");
    s.arg(twice, 0, &buffer);
    let gate = make!(s, clCreateUserEvent(s.context));
    let (global, after) = (64usize, &raw const gate);
    let size = &raw const global;
    call!(s, clEnqueueNDRangeKernel(s.queue, twice, 1, null(), size, null(), 1, after, null_mut()));
    if !ordered {
        // SAFETY: it is one of the vector's elements.
        unsafe { memory.as_mut_ptr().write_volatile(5) };
    }
    call!(s, clSetUserEventStatus(gate, CL_COMPLETE));
    call!(s, clFinish(s.queue));
    call!(s, clReleaseEvent(gate));
    call!(s, clReleaseMemObject(buffer));
    call!(s, clReleaseKernel(twice));
}

/// The program changes memory after it has lent it, and before a kernel uses it: by a mapping, or without one.
fn lent_early(s: &Session, program: cl_program, mapped: bool) {
    let mut memory = vec![1i32; 64];
    let start = memory.as_mut_ptr();
    let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    let buffer = make!(s, clCreateBuffer(s.context, flags, 256, start.cast()));
    let map = CL_MAP_WRITE;
    let at = mapped
        .then(|| make!(s, clEnqueueMapBuffer(s.queue, buffer, CL_TRUE, map, 0, 256, 0, null(), null_mut())));
    // SAFETY: it is one of the vector's elements.
    unsafe { start.add(9).write_volatile(5) };
    if let Some(at) = at {
        call!(s, clEnqueueUnmapMemObject(s.queue, buffer, at, 0, null(), null_mut()));
    }
    let twice = s.kernel(program, "twice");
    s.arg(twice, 0, &buffer);
    assert_eq!(s.launch(twice, 64, None), CL_SUCCESS);
    call!(s, clFinish(s.queue));
    call!(s, clReleaseMemObject(buffer));
    call!(s, clReleaseKernel(twice));
}

/// The program lends the same memory to two buffers, or a half to each, and a kernel copies from one to the other.
fn lent_twice(s: &Session, program: cl_program, apart: bool) {
    let mut memory = vec![1i32; 128];
    let start = memory.as_mut_ptr();
    let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    let other = start.wrapping_add(if apart { 64 } else { 0 });
    let one = make!(s, clCreateBuffer(s.context, flags, 256, start.cast()));
    let two = make!(s, clCreateBuffer(s.context, flags, 256, other.cast()));
    let kernel = s.kernel(program, "copied");
    s.arg(kernel, 0, &one);
    s.arg(kernel, 1, &two);
    assert_eq!(s.launch(kernel, 64, None), CL_SUCCESS);
    call!(s, clFinish(s.queue));
    call!(s, clReleaseMemObject(one));
    call!(s, clReleaseMemObject(two));
    call!(s, clReleaseKernel(kernel));
}

/// The program maps a part of a buffer, or the whole, and writes behind the part.
fn beside(s: &Session, x: cl_mem, whole: bool) {
    let (map, bytes) = (CL_MAP_WRITE, if whole { 256 } else { 64 });
    let at: *mut i32 =
        make!(s, clEnqueueMapBuffer(s.queue, x, CL_TRUE, map, 0, bytes, 0, null(), null_mut())).cast();
    // SAFETY: the buffer has 256 bytes, which are side by side.
    unsafe { at.add(20).write_volatile(5) };
    call!(s, clEnqueueUnmapMemObject(s.queue, x, at.cast(), 0, null(), null_mut()));
    call!(s, clFinish(s.queue));
}

/// The program writes to its own memory again once it was mapped and unmapped; then a kernel uses it, or nobody does.
fn own(s: &Session, program: cl_program, used: bool) {
    let mut memory = vec![1i32; 64];
    let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    let buffer = make!(s, clCreateBuffer(s.context, flags, 256, memory.as_mut_ptr().cast()));
    let at =
        make!(s, clEnqueueMapBuffer(s.queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, 256, 0, null(), null_mut()));
    call!(s, clEnqueueUnmapMemObject(s.queue, buffer, at, 0, null(), null_mut()));
    call!(s, clFinish(s.queue));
    // SAFETY: it is one of the vector's elements.
    unsafe { memory.as_mut_ptr().write_volatile(5) };
    if used {
        let twice = s.kernel(program, "twice");
        s.arg(twice, 0, &buffer);
        assert_eq!(s.launch(twice, 64, None), CL_SUCCESS);
        call!(s, clFinish(s.queue));
        call!(s, clReleaseKernel(twice));
    }
    call!(s, clReleaseMemObject(buffer));
}

/// Memory that was unmapped is written by a command, by a mapping of a part of it, or by a kernel that has the part; then a
/// kernel uses it. Or the program writes it through the mapping that has ended.
fn reused(s: &Session, program: cl_program, stale: bool) {
    let twice = s.kernel(program, "twice");
    let buffer = make!(s, clCreateBuffer(s.context, CL_MEM_READ_WRITE, 4096, null_mut()));
    let origin = cl_buffer_region { origin: 0, size: 256 };
    let kind = CL_BUFFER_CREATE_TYPE_REGION;
    let part = make!(s, clCreateSubBuffer(buffer, 0, kind, std::ptr::from_ref(&origin).cast()));
    let set = |value: i32| {
        let at: *mut i32 = make!(
            s,
            clEnqueueMapBuffer(s.queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, 256, 0, null(), null_mut())
        )
        .cast();
        // SAFETY: 256 bytes are mapped.
        (0..64).for_each(|i| unsafe { at.add(i).write(value) });
        call!(s, clEnqueueUnmapMemObject(s.queue, buffer, at.cast(), 0, null(), null_mut()));
        call!(s, clFinish(s.queue));
        at
    };
    let used = |mem: &cl_mem| {
        s.arg(twice, 0, mem);
        assert_eq!(s.launch(twice, 64, None), CL_SUCCESS);
        call!(s, clFinish(s.queue));
    };
    set(1);
    let other = [2i32; 64];
    let from = other.as_ptr().cast();
    call!(s, clEnqueueWriteBuffer(s.queue, buffer, CL_TRUE, 0, 256, from, 0, null(), null_mut()));
    used(&buffer);
    set(3);
    used(&part);
    used(&buffer);
    set(4);
    let at =
        make!(s, clEnqueueMapBuffer(s.queue, part, CL_TRUE, CL_MAP_WRITE, 0, 256, 0, null(), null_mut()));
    // SAFETY: 256 bytes are mapped.
    unsafe { at.cast::<i32>().write(5) };
    call!(s, clEnqueueUnmapMemObject(s.queue, part, at, 0, null(), null_mut()));
    used(&buffer);
    let at = set(6);
    if stale {
        // SAFETY: the buffer is still there.
        unsafe { at.write_volatile(7) };
    }
    used(&part);
    call!(s, clReleaseMemObject(part));
    call!(s, clReleaseMemObject(buffer));
    call!(s, clReleaseKernel(twice));
}

/// A kernel sets the first of two components of memory that nothing wrote; another one reads both.
fn components(s: &Session, program: cl_program, x: cl_mem, both: bool) {
    let [first, copied] = ["first", "copied"].map(|name| s.kernel(program, name));
    let blank = make!(s, clCreateBuffer(s.context, CL_MEM_READ_WRITE, 256, null_mut()));
    if both {
        let from = std::ptr::from_ref(&0u32).cast();
        call!(s, clEnqueueFillBuffer(s.queue, blank, from, 4, 0, 256, 0, null(), null_mut()));
    }
    s.arg(first, 0, &blank);
    assert_eq!(s.launch(first, 8, None), CL_SUCCESS);
    s.arg(copied, 0, &blank);
    s.arg(copied, 1, &x);
    assert_eq!(s.launch(copied, 16, None), CL_SUCCESS);
    call!(s, clFinish(s.queue));
    call!(s, clReleaseMemObject(blank));
    for kernel in [first, copied] {
        call!(s, clReleaseKernel(kernel));
    }
}

/// A kernel sets all members of structures with gaps; others copy these number by number, or compute with all numbers.
fn padding(s: &Session, program: cl_program, does: &dyn Fn(&str) -> bool) {
    let last = if does("overwritten") { "recopied" } else { "copied" };
    let [gapped, copied, last, twice] =
        ["gapped", "copied", last, "twice"].map(|name| s.kernel(program, name));
    let [a, b, c] = [(); 3].map(|()| make!(s, clCreateBuffer(s.context, CL_MEM_READ_WRITE, 384, null_mut())));
    s.arg(gapped, 0, &a);
    assert_eq!(s.launch(gapped, 16, None), CL_SUCCESS);
    for (kernel, from, to) in [(copied, a, b), (last, b, c)] {
        s.arg(kernel, 0, &from);
        s.arg(kernel, 1, &to);
        assert_eq!(s.launch(kernel, 96, None), CL_SUCCESS);
    }
    if does("summed") {
        s.arg(twice, 0, &c);
        assert_eq!(s.launch(twice, 96, None), CL_SUCCESS);
    }
    call!(s, clFinish(s.queue));
    for buffer in [a, b, c] {
        call!(s, clReleaseMemObject(buffer));
    }
    for kernel in [gapped, copied, last, twice] {
        call!(s, clReleaseKernel(kernel));
    }
}

/// A kernel sets one component of vectors of which the other was never written: so many parts without content.
fn many_parts(s: &Session, program: cl_program, x: cl_mem, used: bool) {
    let [first, copied] = ["first", "copied"].map(|name| s.kernel(program, name));
    let blank = make!(s, clCreateBuffer(s.context, CL_MEM_READ_WRITE, 512, null_mut()));
    s.arg(first, 0, &blank);
    for _ in 0..2 {
        assert_eq!(s.launch(first, 64, None), CL_SUCCESS);
    }
    if used {
        s.arg(copied, 0, &blank);
        s.arg(copied, 1, &x);
        assert_eq!(s.launch(copied, 64, None), CL_SUCCESS);
    }
    call!(s, clFinish(s.queue));
    call!(s, clReleaseMemObject(blank));
    for kernel in [first, copied] {
        call!(s, clReleaseKernel(kernel));
    }
}

const PARTLY: [&str; 4] = ["first", "swizzled", "three", "member"];

/// Kernels store parts of vectors and structures in memory that kernels may not read, or one reads it.
fn write_only(s: &Session, program: cl_program, does: &dyn Fn(&str) -> bool) {
    for name in ["twice"].into_iter().chain(PARTLY).filter(|name| does(name)) {
        let kernel = s.kernel(program, name);
        let flags = CL_MEM_WRITE_ONLY | CL_MEM_COPY_HOST_PTR;
        let mut given = [1i32; 256];
        let buffer = make!(s, clCreateBuffer(s.context, flags, 1024, given.as_mut_ptr().cast()));
        s.arg(kernel, 0, &buffer);
        assert_eq!(s.launch(kernel, 64, None), CL_SUCCESS);
        call!(s, clFinish(s.queue));
        let all = s.read::<i32>(buffer, 256);
        let expected = if name == "member" { 257 << 16 | 1 } else { i32::from(name == "twice") + 1 };
        assert!(all[0] == expected && all[255] == 1, "{name}: {all:?}");
        call!(s, clReleaseMemObject(buffer));
        call!(s, clReleaseKernel(kernel));
    }
}

/// A part that nothing wrote is no less followed if there are many.
#[test]
fn many_parts_without_content_are_told_if_they_are_used() {
    let Some((code, _, err)) = exec(&["--check"], "parts") else { return };
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = exec(&["--check"], "parts used").expect("as before");
    assert!(
        code == 1 && err.contains("uses buffer x at byte 0x4 (x[1]), which nothing has written"),
        "{err}"
    );
    assert!(err.ends_with("0 faults, 1 finding, 0 mistakes of the program\n"), "{err}");
}

#[test]
fn padding_of_structures_may_be_copied_and_not_be_used() {
    for device in ["dg2", "pvc"] {
        let Some((code, _, err)) = exec(&["--check", "--device", device], "padding") else { return };
        assert_eq!(code, 0, "{device}: {err}");
        let (code, _, err) =
            exec(&["--check", "--device", device], "padding overwritten summed").expect("as before");
        assert_eq!(code, 0, "{device}: {err}");
        let (code, _, err) = exec(&["--check", "--device", device], "padding summed").expect("as before");
        assert!(code == 1 && err.contains("kernel `twice`"), "{device}: {err}");
        assert!(
            err.contains("uses buffer x at byte 0xc (x[3]), which nothing has written"),
            "{device}: {err}"
        );
        assert!(err.ends_with("0 faults, 1 finding, 0 mistakes of the program\n"), "{device}: {err}");
    }
}

#[test]
fn memory_for_writing_only_may_be_put_back_and_not_be_used() {
    for device in ["skl", "tgllp", "dg2", "pvc"] {
        let does = format!("write-only {}", PARTLY.join(" "));
        let Some((code, _, err)) = exec(&["--check", "--device", device], &does) else { return };
        assert_eq!(code, 0, "{device}: {err}");
    }
    let (code, _, err) = exec(&["--check"], "write-only twice").expect("as before");
    assert!(
        code == 1 && err.contains("uses buffer x at byte 0x0 (x[0]), which was made for writing only"),
        "{err}"
    );
    assert!(err.ends_with("0 faults, 1 finding, 0 mistakes of the program\n"), "{err}");
}

#[test]
fn memory_of_the_program_is_left_alone_until_it_has_waited() {
    for (does, says) in [
        ("lent", "which the program changed before the kernel ended"),
        ("unawaited", "the program never waited for what it reads"),
    ] {
        let Some((code, _, err)) = exec(&["--check"], does) else { return };
        assert_eq!(code, 1, "{err}");
        assert!(err.contains(says), "{err}");
        assert!(err.ends_with("0 faults, 0 findings, 1 mistake of the program\n"), "{err}");
        let Some((code, _, err)) = exec(&["--check"], &format!("{does} ordered")) else { return };
        assert_eq!(code, 0, "{err}");
    }
}

#[test]
fn a_launch_before_a_mapping_writes_nothing_that_is_mapped() {
    let Some((code, _, err)) = exec(&["--check"], "mapped") else { return };
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = exec(&["--check"], "mapped written").expect("as before");
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("mapped for reading only, and was written"), "{err}");
}

#[test]
fn memory_that_nothing_wrote_has_no_content() {
    let Some((code, _, err)) = exec(&["--check"], "content") else { return };
    assert_eq!(code, 1);
    let kernel = "error[F0006]: uses buffer x at byte 0x80 (x[32]), which nothing has written";
    assert!(err.contains(kernel) && err.contains("kernel `copied`"), "{err}");
    assert!(err.contains("32 bytes of memory are read that nothing has written"), "{err}");
    assert!(err.ends_with("0 faults, 1 finding, 1 mistake of the program\n"), "{err}");
}

#[test]
fn a_program_may_write_to_its_own_memory_until_a_command_uses_it() {
    let Some((code, _, err)) = exec(&["--check"], "own") else { return };
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = exec(&["--check"], "own used").expect("as before");
    assert!(code == 1 && err.contains("was written through a mapping that had ended"), "{err}");
}

#[test]
fn lent_and_mapped_memory_is_changed_where_it_may_be() {
    for (does, right, says) in [
        (
            "lent-early",
            "mapped-first",
            "was changed without being mapped; the program has lent it to the buffer",
        ),
        (
            "lent-twice",
            "apart",
            "two buffers to which the program has lent the same memory (CL_MEM_USE_HOST_PTR)",
        ),
        ("beside", "whole", "was written by a pointer to another part of its buffer, which alone is mapped"),
    ] {
        let Some((code, _, err)) = exec(&["--check"], does) else { return };
        assert!(code == 1 && err.contains(says), "{err}");
        assert!(err.ends_with("1 mistake of the program\n"), "{err}");
        let (code, _, err) = exec(&["--check"], &format!("{does} {right}")).expect("as before");
        assert_eq!(code, 0, "{err}");
    }
}

/// What else writes memory that was mapped is no doing of the program's.
#[test]
fn memory_that_was_mapped_is_written_by_commands_and_other_mappings() {
    let Some((code, _, err)) = exec(&["--check"], "reused") else { return };
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = exec(&["--check"], "reused stale").expect("as before");
    assert!(code == 1 && err.contains("was written through a mapping that had ended"), "{err}");
    assert!(err.ends_with("0 faults, 0 findings, 1 mistake of the program\n"), "{err}");
}

/// To set a component, compiled code loads and stores the whole vector: the other one is no more written than before.
#[test]
fn a_component_that_is_put_back_has_no_content() {
    let Some((code, _, err)) = exec(&["--check"], "components both") else { return };
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = exec(&["--check"], "components").expect("as before");
    assert!(
        code == 1 && err.contains("uses buffer x at byte 0x4 (x[1]), which nothing has written"),
        "{err}"
    );
    assert!(
        err.contains("kernel `copied`") && err.ends_with("0 faults, 1 finding, 0 mistakes of the program\n"),
        "{err}"
    );
}

#[test]
fn shared_memory_that_is_mapped_is_not_a_kernels() {
    let Some((code, _, err)) = exec(&["--check"], "shared-mapped right") else { return };
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = exec(&["--check"], "shared-mapped").expect("as before");
    let says = "kernel `twice` is launched while argument 0 (`x`) is mapped for writing and not unmapped";
    assert!(code == 1 && err.contains(says), "{err}");
}

/// On devices whose kernels reach buffers by surfaces, and on one whose kernels reach them by addresses.
#[test]
fn a_part_of_a_buffer_ends_where_the_program_says() {
    for device in ["dg2", "pvc"] {
        let Some((code, _, err)) = exec(&["--check", "--device", device], "part right") else { return };
        assert_eq!(code, 0, "{err}");
        let (code, _, err) = exec(&["--check", "--device", device], "part").expect("as before");
        let says = "reads 4 bytes right past the end of buffer x, which has 256 (x[64] of 64)";
        assert!(code == 1 && err.contains(says) && err.contains("work-item 64"), "{device}: {err}");
    }
}

#[test]
fn what_is_found_is_written_as_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.html");
    let name = file.to_str().expect("text");
    let Some((code, _, err)) = exec(&["--check", "--report", name], "race shared-mapped") else { return };
    assert_eq!(code, 1, "{err}");
    let page = std::fs::read_to_string(&file).expect("a page");
    for part in [
        "<h2>F0004: a data race for",
        "<svg class=\"race\"",
        "l[i] = x[i];",
        "data-buffer=\"race, buffer x\"",
        "<section class=\"mistake\" id=\"m0\">\n<h2>kernel `twice` is launched while",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let Some((code, _, _)) = exec(&["--check", "--report", name], "") else { return };
    assert_eq!(code, 0);
    assert!(std::fs::read_to_string(&file).expect("a page").contains("Nothing was found."));
}
