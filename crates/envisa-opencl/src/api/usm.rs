//! Unified shared memory: `cl_intel_unified_shared_memory`.

use std::ffi::c_void;
use std::sync::Arc;

use opencl_sys::{
    self as cl, cl_bitfield, cl_bool, cl_context, cl_device_id, cl_kernel, cl_mem_migration_flags, cl_uint,
};

use super::svm::{
    allocate_svm, enqueue_svm_copy, enqueue_svm_fill, forget_svm, report_if_freed_in_use, set_pointer,
};
use super::{Caller, command, create, entry, query};
use crate::core::context::{Context, PointerKind};
use crate::core::error::{Error, Result};
use crate::core::handle;
use crate::core::info::Answer;
use crate::core::platform::Device;
use crate::core::queue::Work;

/// Allocation flags among properties.
fn allocation_flags(c: &Caller, properties: *const cl_bitfield) -> Result<u64> {
    let mut flags = 0;
    for pair in c.zero_terminated(properties).chunks(2) {
        match pair {
            [key, value] if *key == cl::CL_MEM_ALLOC_FLAGS_INTEL => flags = *value,
            // Where the buffer lies: one place only.
            [key, _] if *key == cl::CL_MEM_ALLOC_BUFFER_LOCATION_INTEL => {}
            [0] => {}
            _ => return Err(Error::INVALID_PROPERTY),
        }
    }
    let known = cl::CL_MEM_ALLOC_WRITE_COMBINED_INTEL
        | cl::CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL
        | cl::CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;
    let placed =
        cl::CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL | cl::CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;
    if flags & !known != 0 || flags & placed == placed {
        return Err(Error::INVALID_VALUE);
    }
    Ok(flags)
}

fn check_alignment(n: cl_uint) -> Result<usize> {
    if n != 0 && (!n.is_power_of_two() || n > 1 << 21) { Err(Error::INVALID_VALUE) } else { Ok(n as usize) }
}

fn device_in(context: &Context, handle: cl_device_id) -> Result<Arc<Device>> {
    let device = handle::get::<Device>(handle)?;
    if context.has(&device) { Ok(device) } else { Err(Error::INVALID_DEVICE) }
}

create! {
    fn clHostMemAllocINTEL(
        c,
        context: cl_context,
        properties: *const cl_bitfield,
        size: usize,
        alignment_: cl_uint;
        errcode_ret
    ) {
        let context = handle::get::<Context>(context)?;
        let flags = allocation_flags(c, properties)?;
        allocate_svm(&context, PointerKind::Host, None, flags, size, check_alignment(alignment_)?)
    }

    fn clDeviceMemAllocINTEL(
        c,
        context: cl_context,
        device: cl_device_id,
        properties: *const cl_bitfield,
        size: usize,
        alignment_: cl_uint;
        errcode_ret
    ) {
        let context = handle::get::<Context>(context)?;
        let device = device_in(&context, device)?;
        let flags = allocation_flags(c, properties)?;
        allocate_svm(&context, PointerKind::Device, Some(device), flags, size, check_alignment(alignment_)?)
    }

    fn clSharedMemAllocINTEL(
        c,
        context: cl_context,
        device: cl_device_id,
        properties: *const cl_bitfield,
        size: usize,
        alignment_: cl_uint;
        errcode_ret
    ) {
        let context = handle::get::<Context>(context)?;
        let device = if device.is_null() { None } else { Some(device_in(&context, device)?) };
        let flags = allocation_flags(c, properties)?;
        allocate_svm(&context, PointerKind::Shared, device, flags, size, check_alignment(alignment_)?)
    }
}

fn answer_allocation_info(context: &Context, address: usize, what: cl_uint) -> Result<Answer> {
    let pointer = context
        .pointer(address)
        .filter(|p| p.kind != PointerKind::Svm && (address < p.backing.address() + p.size));
    Ok(match what {
        cl::CL_MEM_ALLOC_TYPE_INTEL => pointer
            .map_or(cl::CL_MEM_TYPE_UNKNOWN_INTEL, |p| match p.kind {
                PointerKind::Host => cl::CL_MEM_TYPE_HOST_INTEL,
                PointerKind::Device => cl::CL_MEM_TYPE_DEVICE_INTEL,
                PointerKind::Shared => cl::CL_MEM_TYPE_SHARED_INTEL,
                PointerKind::Svm => cl::CL_MEM_TYPE_UNKNOWN_INTEL,
            })
            .into(),
        cl::CL_MEM_ALLOC_BASE_PTR_INTEL => pointer.map_or(0, |p| p.backing.address()).into(),
        cl::CL_MEM_ALLOC_SIZE_INTEL => pointer.map_or(0, |p| p.size).into(),
        cl::CL_MEM_ALLOC_DEVICE_INTEL => pointer
            .and_then(|p| p.device.as_ref().map(|d| handle::of(&**d)))
            .unwrap_or(std::ptr::null_mut())
            .into(),
        w if u64::from(w) == cl::CL_MEM_ALLOC_FLAGS_INTEL => pointer.map_or(0, |p| p.flags).into(),
        _ => return Err(Error::INVALID_VALUE),
    })
}

query! {
    fn clGetMemAllocInfoINTEL(_c, context: cl_context, ptr: *const c_void; param_name) {
        answer_allocation_info(&*handle::get::<Context>(context)?, ptr as usize, param_name)
    }
}

fn free_pointer(context: &Context, pointer: *mut c_void) -> Result<()> {
    if pointer.is_null() || forget_svm(context, pointer as usize).is_some() {
        Ok(())
    } else {
        Err(Error::INVALID_VALUE)
    }
}

/// Nothing to do, at a pointer that must not be null.
fn enqueue_no_op(pointer: *const c_void) -> Result<Work> {
    if pointer.is_null() { Err(Error::INVALID_VALUE) } else { Ok(Box::new(|| Ok(()))) }
}

entry! {
    fn clMemFreeINTEL(_c, context: cl_context, ptr: *mut c_void) {
        let context = handle::get::<Context>(context)?;
        report_if_freed_in_use(context.pointer(ptr as usize).as_deref());
        free_pointer(&context, ptr)
    }

    fn clMemBlockingFreeINTEL(_c, context: cl_context, ptr: *mut c_void) {
        let context = handle::get::<Context>(context)?;
        // Launches that use it hold it: the last of them frees it.
        free_pointer(&context, ptr)
    }

    fn clSetKernelArgMemPointerINTEL(_c, kernel: cl_kernel, arg_index: cl_uint, arg_value: *const c_void) {
        set_pointer(kernel, arg_index, arg_value)
    }
}

command! {
    fn clEnqueueMemFillINTEL(
        c,
        queue,
        dst_ptr: *mut c_void,
        pattern: *const c_void,
        pattern_size: usize,
        size: usize;
        cl::CL_COMMAND_MEMFILL_INTEL
    ) {
        // Unlike other fills, of any size of pattern that divides the whole.
        enqueue_svm_fill(&queue, c, dst_ptr, pattern, pattern_size, size)
    }

    fn clEnqueueMemcpyINTEL(
        c,
        queue,
        blocking: cl_bool,
        dst_ptr: *mut c_void,
        src_ptr: *const c_void,
        size: usize;
        cl::CL_COMMAND_MEMCPY_INTEL, blocking
    ) {
        enqueue_svm_copy(&queue, c, dst_ptr, src_ptr, size)
    }

    fn clEnqueueMigrateMemINTEL(
        c,
        queue,
        ptr: *const c_void,
        _size: usize,
        _flags: cl_mem_migration_flags;
        MIGRATE
    ) {
        enqueue_no_op(ptr)
    }

    fn clEnqueueMemAdviseINTEL(
        c,
        queue,
        ptr: *const c_void,
        _size: usize,
        _advice: cl_uint;
        cl::CL_COMMAND_MEMADVISE_INTEL
    ) {
        enqueue_no_op(ptr)
    }
}

/// `CL_COMMAND_MIGRATEMEM_INTEL`, which the bindings lack.
const MIGRATE: cl_uint = 0x4206;
