//! Buffers, shared memory, images: content where it should be, errors as the standard lists them.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use crate::cl::*;

#[test]
fn buffers_are_copied_filled_mapped_and_divided() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let first: Vec<u32> = (0..256).collect();
    let (a, b) = (s.buffer(&first), s.buffer(&vec![0u32; 256]));
    let copy = |from, to, bytes| {
        call!(s, clEnqueueCopyBuffer(s.queue, a, b, from, to, bytes, 0, null(), null_mut()))
    };
    assert_eq!(copy(0, 512, 512), CL_SUCCESS);
    assert_eq!(copy(0, 1024, 4), CL_INVALID_VALUE);
    assert_eq!(copy(usize::MAX, 0, 4), CL_INVALID_VALUE);
    assert_eq!(s.read::<u32>(b, 256)[128..], first[..128]);
    let overlap = call!(s, clEnqueueCopyBuffer(s.queue, a, a, 0, 4, 8, 0, null(), null_mut()));
    assert_eq!(overlap, CL_MEM_COPY_OVERLAP);
    let pattern = [7u16, 9];
    let fill = |size, offset, bytes| {
        let from = pattern.as_ptr().cast();
        call!(s, clEnqueueFillBuffer(s.queue, b, from, size, offset, bytes, 0, null(), null_mut()))
    };
    assert_eq!(fill(4, 4, 8), CL_SUCCESS);
    assert_eq!(fill(3, 0, 6), CL_INVALID_VALUE);
    assert_eq!(fill(4, 2, 4), CL_INVALID_VALUE);
    assert_eq!(s.read::<u16>(b, 8), [0, 0, 7, 9, 7, 9, 0, 0]);
    // A mapped pointer is the buffer.
    let pointer: *mut u32 =
        make!(s, clEnqueueMapBuffer(s.queue, b, CL_TRUE, CL_MAP_WRITE, 16, 8, 0, null(), null_mut())).cast();
    // SAFETY: 8 bytes are mapped there.
    unsafe { *pointer = 77 };
    assert_eq!(
        call!(s, clEnqueueUnmapMemObject(s.queue, b, pointer.cast(), 0, null(), null_mut())),
        CL_SUCCESS
    );
    let again = call!(s, clEnqueueUnmapMemObject(s.queue, b, pointer.cast(), 0, null(), null_mut()));
    assert_eq!(again, CL_INVALID_VALUE);
    assert_eq!(s.read::<u32>(b, 5)[4], 77);
    // A part shares its bytes; where it may begin is checked.
    let part = |origin, size| {
        let region = cl_buffer_region { origin, size };
        let mut code = 0;
        let info = std::ptr::from_ref(&region).cast();
        // SAFETY: `info` is of a region, as the kind says.
        let made = unsafe {
            s.api.clCreateSubBuffer.unwrap()(a, 0, CL_BUFFER_CREATE_TYPE_REGION, info, &raw mut code)
        };
        (made, code)
    };
    let (half, code) = part(512, 512);
    assert_eq!(code, CL_SUCCESS);
    assert_eq!(s.read::<u32>(half, 2), [128, 129]);
    assert_eq!(part(4, 64).1, CL_MISALIGNED_SUB_BUFFER_OFFSET);
    assert_eq!(part(512, 1024).1, CL_INVALID_VALUE);
}

#[test]
fn rectangles_go_where_they_should() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let cube: Vec<u8> = (0..64).collect();
    let buffer = s.buffer(&cube);
    let mut out = [0u8; 8];
    let read = |origin: [usize; 3], size: [usize; 3], out: &mut [u8]| {
        call!(
            s,
            clEnqueueReadBufferRect(
                s.queue,
                buffer,
                CL_TRUE,
                origin.as_ptr(),
                [0usize; 3].as_ptr(),
                size.as_ptr(),
                4,
                16,
                0,
                0,
                out.as_mut_ptr().cast(),
                0,
                null(),
                null_mut()
            )
        )
    };
    assert_eq!(read([1, 2, 1], [2, 2, 2], &mut out), CL_SUCCESS);
    let at = |x: u8, y: u8, z: u8| z * 16 + y * 4 + x;
    assert_eq!(
        out,
        [
            at(1, 2, 1),
            at(2, 2, 1),
            at(1, 3, 1),
            at(2, 3, 1),
            at(1, 2, 2),
            at(2, 2, 2),
            at(1, 3, 2),
            at(2, 3, 2)
        ]
    );
    assert_eq!(read([3, 3, 3], [2, 1, 1], &mut out), CL_INVALID_VALUE);
    assert_eq!(read([0, 0, 0], [0, 1, 1], &mut out), CL_INVALID_VALUE);
    assert_eq!(read([usize::MAX, 0, 0], [2, 1, 1], &mut out), CL_INVALID_VALUE);
}

#[test]
fn memory_of_the_application_is_used_without_a_copy() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let kernel = s.kernel(s.program("kernel void add(global int *p) { p[get_global_id(0)] += 5; }"), "add");
    let mut own: Vec<i32> = (0..300).collect();
    let start = own.as_mut_ptr().cast();
    let buffer = make!(s, clCreateBuffer(s.context, CL_MEM_USE_HOST_PTR, 1200, start));
    assert_eq!(s.arg(kernel, 0, &buffer), CL_SUCCESS);
    assert_eq!(s.launch(kernel, 300, None), CL_SUCCESS);
    assert_eq!(call!(s, clFinish(s.queue)), CL_SUCCESS);
    assert_eq!(own[299], 304);
}

type Alloc = unsafe extern "C" fn(cl_context, *const u64, usize, u32, *mut i32) -> *mut c_void;
type AllocOn =
    unsafe extern "C" fn(cl_context, cl_device_id, *const u64, usize, u32, *mut i32) -> *mut c_void;
type SetPointer = unsafe extern "C" fn(cl_kernel, u32, *const c_void) -> i32;
type Free = unsafe extern "C" fn(cl_context, *mut c_void) -> i32;
type Copy = unsafe extern "C" fn(
    cl_command_queue,
    u32,
    *mut c_void,
    *const c_void,
    usize,
    u32,
    *const cl_event,
    *mut cl_event,
) -> i32;
type Info = unsafe extern "C" fn(cl_context, *const c_void, u32, usize, *mut c_void, *mut usize) -> i32;

/// A list in shared memory: the kernel follows pointers that the host wrote.
#[test]
fn unified_shared_memory_has_the_same_address_on_both_sides() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let host: Alloc = s.extension(driver, "clHostMemAllocINTEL");
    let shared: AllocOn = s.extension(driver, "clSharedMemAllocINTEL");
    let device: AllocOn = s.extension(driver, "clDeviceMemAllocINTEL");
    let set: SetPointer = s.extension(driver, "clSetKernelArgMemPointerINTEL");
    let free: Free = s.extension(driver, "clMemBlockingFreeINTEL");
    let copy: Copy = s.extension(driver, "clEnqueueMemcpyINTEL");
    let info: Info = s.extension(driver, "clGetMemAllocInfoINTEL");
    let source = "
        struct node { global struct node *next; int value; };
        kernel void sum(global struct node *n, global int *out) {
            int sum = 0;
            for (; n; n = n->next) sum += n->value;
            *out = sum;
        }";
    let kernel = s.kernel(s.program(source), "sum");
    #[repr(C)]
    struct Node {
        next: *mut Node,
        value: i32,
    }
    let mut code = 1;
    // SAFETY: the nodes are memory of the driver, as large as was asked for, until they are freed here.
    unsafe {
        let mut list: *mut Node = null_mut();
        for value in 1..=10 {
            let node: *mut Node = host(s.context, null(), size_of::<Node>(), 0, &raw mut code).cast();
            assert_eq!(code, CL_SUCCESS);
            node.write(Node { next: list, value });
            list = node;
        }
        let out = device(s.context, s.device, null(), 4, 0, &raw mut code);
        let back: *mut i32 = shared(s.context, s.device, null(), 4, 0, &raw mut code).cast();
        assert_eq!(code, CL_SUCCESS);
        assert_eq!(set(kernel, 0, list.cast()), CL_SUCCESS);
        assert_eq!(set(kernel, 1, out), CL_SUCCESS);
        let yes = 1u32;
        let indirect = CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL;
        let flag = std::ptr::from_ref(&yes).cast();
        assert_eq!(call!(s, clSetKernelExecInfo(kernel, indirect, 4, flag)), CL_SUCCESS);
        assert_eq!(s.launch(kernel, 1, None), CL_SUCCESS);
        assert_eq!(copy(s.queue, CL_TRUE, back.cast(), out, 4, 0, null(), null_mut()), CL_SUCCESS);
        assert_eq!(*back, 55);
        let kind = |p: *const c_void| {
            let raw = bytes(|n, to, ret| info(s.context, p, CL_MEM_ALLOC_TYPE_INTEL, n, to, ret));
            u32::from_ne_bytes(raw.try_into().unwrap())
        };
        assert_eq!(kind(list.cast()), CL_MEM_TYPE_HOST_INTEL);
        assert_eq!(kind(out), CL_MEM_TYPE_DEVICE_INTEL);
        assert_eq!(kind(std::ptr::from_ref(&yes).cast()), CL_MEM_TYPE_UNKNOWN_INTEL);
        assert_eq!(free(s.context, out), CL_SUCCESS);
        assert_eq!(free(s.context, out), CL_INVALID_VALUE);
        assert_eq!(kind(out), CL_MEM_TYPE_UNKNOWN_INTEL);
    }
}

#[test]
fn images_are_filled_copied_and_read() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let format = cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_UNORM_INT8 };
    // SAFETY: a C structure of numbers and pointers; zeros are values of all.
    let mut desc: cl_image_desc = unsafe { std::mem::zeroed() };
    (desc.image_type, desc.image_width, desc.image_height) = (CL_MEM_OBJECT_IMAGE2D, 8, 4);
    let image =
        make!(s, clCreateImage(s.context, CL_MEM_READ_WRITE, &raw const format, &raw const desc, null_mut()));
    let colour = [1.0f32, 0.5, 0.0, 1.0];
    let (origin, region) = ([0usize; 3], [8usize, 4, 1]);
    let fill = call!(
        s,
        clEnqueueFillImage(
            s.queue,
            image,
            colour.as_ptr().cast(),
            origin.as_ptr(),
            region.as_ptr(),
            0,
            null(),
            null_mut()
        )
    );
    assert_eq!(fill, CL_SUCCESS);
    let source = "
        kernel void swap(read_only image2d_t in, global float4 *out) {
            int2 at = (int2)(get_global_id(0) % 8, get_global_id(0) / 8);
            out[get_global_id(0)] = read_imagef(in, at).zyxw;
        }";
    let kernel = s.kernel(s.program(source), "swap");
    let out = s.buffer(&[0f32; 128]);
    assert_eq!(s.arg(kernel, 0, &image), CL_SUCCESS);
    assert_eq!(s.arg(kernel, 1, &out), CL_SUCCESS);
    assert_eq!(s.launch(kernel, 32, None), CL_SUCCESS);
    let texels = s.read::<f32>(out, 128);
    assert_eq!(texels[124..], [0.0, 128.0 / 255.0, 1.0, 1.0]);
    // Outside of it.
    let mut bytes = [0u8; 256];
    let read = |origin: [usize; 3], region: [usize; 3], to: &mut [u8]| {
        call!(
            s,
            clEnqueueReadImage(
                s.queue,
                image,
                CL_TRUE,
                origin.as_ptr(),
                region.as_ptr(),
                0,
                0,
                to.as_mut_ptr().cast(),
                0,
                null(),
                null_mut()
            )
        )
    };
    assert_eq!(read([7, 3, 0], [1, 1, 1], &mut bytes), CL_SUCCESS);
    assert_eq!(bytes[..4], [255, 128, 0, 255]);
    for (o, r) in [
        ([7, 3, 0], [2, 1, 1]),
        ([0, 4, 0], [1, 1, 1]),
        ([0, 0, 0], [1, 1, 0]),
        ([usize::MAX, 0, 0], [1, 1, 1]),
    ] {
        assert_eq!(read(o, r, &mut bytes), CL_INVALID_VALUE, "{o:?} {r:?}");
    }
}

/// An image of a part of a buffer, with a pitch, read through a sampler: it starts in the middle of an allocation.
#[test]
fn images_of_parts_of_buffers_are_sampled() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let texels: Vec<f32> = (0..256).map(|n| n as f32).collect();
    let buffer = s.buffer(&texels);
    let region = cl_buffer_region { origin: 512, size: 512 };
    let (kind, at) = (CL_BUFFER_CREATE_TYPE_REGION, std::ptr::from_ref(&region).cast());
    let part = make!(s, clCreateSubBuffer(buffer, 0, kind, at));
    let format = cl_image_format { image_channel_order: CL_R, image_channel_data_type: CL_FLOAT };
    // SAFETY: a C structure of numbers and pointers; zeros are values of all.
    let mut desc: cl_image_desc = unsafe { std::mem::zeroed() };
    (desc.image_type, desc.image_width, desc.image_height) = (CL_MEM_OBJECT_IMAGE2D, 10, 4);
    (desc.image_row_pitch, desc.buffer) = (64, part);
    let image =
        make!(s, clCreateImage(s.context, CL_MEM_READ_ONLY, &raw const format, &raw const desc, null_mut()));
    let source = "
        kernel void sample(read_only image2d_t in, sampler_t s, global const float2 *at, global float4 *out) {
            out[get_global_id(0)] = read_imagef(in, s, at[get_global_id(0)]);
        }";
    let kernel = s.kernel(s.program(source), "sample");
    // A texel's middle, between two rows, between four texels, past the last column: half of it is border.
    let places = [[2.5f32, 1.5], [2.5, 2.0], [3.0, 1.0], [10.0, 0.5]];
    let (at, out) = (s.buffer(&places), s.buffer(&[0f32; 16]));
    let sampler = make!(s, clCreateSampler(s.context, 0, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR));
    for (k, object) in [image, sampler, at, out].iter().enumerate() {
        assert_eq!(s.arg(kernel, k as u32, object), CL_SUCCESS);
    }
    assert_eq!(s.launch(kernel, 4, None), CL_SUCCESS);
    let texel = |x: usize, y: usize| texels[128 + 16 * y + x];
    let want = [
        texel(2, 1),
        (texel(2, 1) + texel(2, 2)) / 2.0,
        (texel(2, 0) + texel(3, 0) + texel(2, 1) + texel(3, 1)) / 4.0,
        texel(9, 0) / 2.0,
    ];
    let got = s.read::<f32>(out, 16);
    let red: Vec<f32> = got.iter().step_by(4).copied().collect();
    assert_eq!(red, want);
    // The border of one channel is opaque.
    assert_eq!(got[15], 1.0);
}

/// Kernels may go backwards from a pointer into shared memory, as arrays of negative stride do.
#[test]
fn pointers_reach_what_lies_before_them() {
    let Some(driver) = driver() else { return };
    let source = "
        kernel void step(global const long *from, global long *to, long stride) {
            long i = get_global_id(0);
            to[i * stride] = from[i * stride] + i;
        }";
    for device in 0..driver.devices().len() {
        let s = driver.session(device, 0);
        let shared: AllocOn = s.extension(driver, "clSharedMemAllocINTEL");
        let set: SetPointer = s.extension(driver, "clSetKernelArgMemPointerINTEL");
        let free: Free = s.extension(driver, "clMemBlockingFreeINTEL");
        let kernel = s.kernel(s.program(source), "step");
        let mut code = 1;
        // SAFETY: as above: 100 numbers each.
        unsafe {
            let from: *mut i64 = shared(s.context, s.device, null(), 800, 0, &raw mut code).cast();
            let to: *mut i64 = shared(s.context, s.device, null(), 800, 0, &raw mut code).cast();
            assert_eq!(code, CL_SUCCESS);
            for i in 0..100 {
                from.add(i).write(1000 * i as i64);
                to.add(i).write(-1);
            }
            for (stride, first) in [(-1i64, 99usize), (-3, 98), (1, 7), (2, 1)] {
                let n = 30;
                assert_eq!(set(kernel, 0, from.add(first).cast()), CL_SUCCESS);
                assert_eq!(call!(s, clSetKernelArgSVMPointer(kernel, 1, to.add(first).cast())), CL_SUCCESS);
                assert_eq!(s.arg(kernel, 2, &stride), CL_SUCCESS);
                assert_eq!(s.launch(kernel, n, None), CL_SUCCESS);
                assert_eq!(call!(s, clFinish(s.queue)), CL_SUCCESS);
                for i in 0..n as i64 {
                    let at = first as i64 + i * stride;
                    assert_eq!(
                        to.offset(at as isize).read(),
                        1000 * at + i,
                        "device {device}, stride {stride}"
                    );
                }
            }
            assert_eq!(free(s.context, from.cast()), CL_SUCCESS);
            assert_eq!(free(s.context, to.cast()), CL_SUCCESS);
        }
    }
}

/// Compilers make one read of the last three bytes of a buffer and the one behind them.
#[test]
fn the_last_word_of_a_buffer_is_read_whole() {
    let Some(driver) = driver() else { return };
    let source = "
        kernel void last(global const uint *from, global uint *to) { to[0] = from[63] & 0xffffff; }";
    let bytes: Vec<u8> = (0..=255).collect();
    for device in 0..driver.devices().len() {
        let s = driver.session(device, 0);
        let kernel = s.kernel(s.program(source), "last");
        let whole = s.buffer(&bytes);
        let region = cl_buffer_region { origin: 0, size: 255 };
        let (kind, info) = (CL_BUFFER_CREATE_TYPE_REGION, std::ptr::from_ref(&region).cast());
        let part = make!(s, clCreateSubBuffer(whole, 0, kind, info));
        let [short, long] = [253, 255].map(|len| s.buffer(&bytes[..len]));
        let to = s.buffer(&[0u32]);
        for (from, want) in [(short, 0x0000_00fc), (long, 0x00fe_fdfc), (part, 0x00fe_fdfc)] {
            assert_eq!(s.arg(kernel, 0, &from), CL_SUCCESS);
            assert_eq!(s.arg(kernel, 1, &to), CL_SUCCESS);
            assert_eq!(s.launch(kernel, 1, None), CL_SUCCESS);
            assert_eq!(s.read::<u32>(to, 1), [want], "device {device}");
        }
    }
}
