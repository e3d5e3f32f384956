//! Unified shared memory: `cl_intel_unified_shared_memory`.

use std::ffi::c_void;
use std::sync::Arc;

use opencl_sys::{
    self as cl, cl_bitfield, cl_bool, cl_command_queue, cl_context, cl_device_id, cl_event, cl_kernel,
    cl_mem_migration_flags, cl_uint,
};

use super::svm::{allocate, bytes, free, set_pointer};
use super::{Caller, create, enqueued, entry, target};
use crate::core::context::{Context, PointerKind};
use crate::core::error::{Error, Result};
use crate::core::handle;
use crate::core::info::Answer;
use crate::core::platform::Device;
use crate::core::queue::{Order, Work};

/// Allocation flags among properties.
fn flags(c: &Caller, properties: *const cl_bitfield) -> Result<u64> {
    let mut flags = 0;
    for pair in c.list(properties).chunks(2) {
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

fn alignment(n: cl_uint) -> Result<usize> {
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
        let flags = flags(c, properties)?;
        allocate(&context, PointerKind::Host, None, flags, size, alignment(alignment_)?)
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
        let flags = flags(c, properties)?;
        allocate(&context, PointerKind::Device, Some(device), flags, size, alignment(alignment_)?)
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
        let flags = flags(c, properties)?;
        allocate(&context, PointerKind::Shared, device, flags, size, alignment(alignment_)?)
    }
}

fn info(context: &Context, address: usize, what: cl_uint) -> Result<Answer> {
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

entry! {
    fn clMemFreeINTEL(_c, context: cl_context, ptr: *mut c_void) {
        let context = handle::get::<Context>(context)?;
        if !ptr.is_null() {
            free(&context, ptr as usize).ok_or(Error::INVALID_VALUE)?;
        }
        Ok(())
    }

    fn clMemBlockingFreeINTEL(_c, context: cl_context, ptr: *mut c_void) {
        let context = handle::get::<Context>(context)?;
        if !ptr.is_null() {
            // Launches that use it hold it: the last of them frees it.
            free(&context, ptr as usize).ok_or(Error::INVALID_VALUE)?;
        }
        Ok(())
    }

    fn clGetMemAllocInfoINTEL(
        c,
        context: cl_context,
        ptr: *const c_void,
        param_name: cl_uint,
        param_value_size: usize,
        param_value: *mut c_void,
        param_value_size_ret: *mut usize,
    ) {
        let answer = info(&*handle::get::<Context>(context)?, ptr as usize, param_name)?;
        c.answer(answer, param_value_size, param_value, param_value_size_ret)
    }

    fn clSetKernelArgMemPointerINTEL(_c, kernel: cl_kernel, arg_index: cl_uint, arg_value: *const c_void) {
        set_pointer(kernel, arg_index, arg_value)
    }

    fn clEnqueueMemFillINTEL(
        c,
        command_queue: cl_command_queue,
        dst_ptr: *mut c_void,
        pattern: *const c_void,
        pattern_size: usize,
        size: usize,
        num_events_in_wait_list: cl_uint,
        event_wait_list: *const cl_event,
        event: *mut cl_event,
    ) {
        let (queue, after) = target(c, command_queue, num_events_in_wait_list, event_wait_list)?;
        // Unlike other fills, of any size of pattern that divides the whole.
        if dst_ptr.is_null() || pattern.is_null() || pattern_size == 0 || !size.is_multiple_of(pattern_size) {
            return Err(Error::INVALID_VALUE);
        }
        let to = bytes(c, &queue.context, dst_ptr, size)?;
        let pattern = c.bytes(pattern, pattern_size).ok_or(Error::INVALID_VALUE)?;
        let work: Work = Box::new(move || {
            to.fill(&pattern);
            Ok(())
        });
        let done = queue.enqueue(cl::CL_COMMAND_MEMFILL_INTEL, Order::Normal, after, work)?;
        enqueued(c, done, event, false)
    }

    fn clEnqueueMemcpyINTEL(
        c,
        command_queue: cl_command_queue,
        blocking: cl_bool,
        dst_ptr: *mut c_void,
        src_ptr: *const c_void,
        size: usize,
        num_events_in_wait_list: cl_uint,
        event_wait_list: *const cl_event,
        event: *mut cl_event,
    ) {
        let (queue, after) = target(c, command_queue, num_events_in_wait_list, event_wait_list)?;
        if size > 0 && (dst_ptr.is_null() || src_ptr.is_null()) {
            return Err(Error::INVALID_VALUE);
        }
        if size > 0 && (dst_ptr as usize).abs_diff(src_ptr as usize) < size {
            return Err(Error::MEM_COPY_OVERLAP);
        }
        let (to, from) = (bytes(c, &queue.context, dst_ptr, size)?, bytes(c, &queue.context, src_ptr, size)?);
        let work = super::enqueue::copy(to, from, Vec::new());
        let done = queue.enqueue(cl::CL_COMMAND_MEMCPY_INTEL, Order::Normal, after, work)?;
        enqueued(c, done, event, blocking != 0)
    }

    fn clEnqueueMigrateMemINTEL(
        c,
        command_queue: cl_command_queue,
        ptr: *const c_void,
        _size: usize,
        _flags: cl_mem_migration_flags,
        num_events_in_wait_list: cl_uint,
        event_wait_list: *const cl_event,
        event: *mut cl_event,
    ) {
        let (queue, after) = target(c, command_queue, num_events_in_wait_list, event_wait_list)?;
        if ptr.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let done = queue.enqueue(MIGRATE, Order::Normal, after, Box::new(|| Ok(())))?;
        enqueued(c, done, event, false)
    }

    fn clEnqueueMemAdviseINTEL(
        c,
        command_queue: cl_command_queue,
        ptr: *const c_void,
        _size: usize,
        _advice: cl_uint,
        num_events_in_wait_list: cl_uint,
        event_wait_list: *const cl_event,
        event: *mut cl_event,
    ) {
        let (queue, after) = target(c, command_queue, num_events_in_wait_list, event_wait_list)?;
        if ptr.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let done = queue.enqueue(cl::CL_COMMAND_MEMADVISE_INTEL, Order::Normal, after, Box::new(|| Ok(())))?;
        enqueued(c, done, event, false)
    }
}

/// `CL_COMMAND_MIGRATEMEM_INTEL`, which the bindings lack.
const MIGRATE: cl_uint = 0x4206;
