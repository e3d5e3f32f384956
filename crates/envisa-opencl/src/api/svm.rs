//! Shared virtual memory.

use std::ffi::c_void;
use std::sync::Arc;

use opencl_sys::{
    self as cl, cl_bool, cl_command_queue, cl_context, cl_kernel, cl_map_flags, cl_mem_migration_flags,
    cl_svm_mem_flags, cl_uint,
};

use envisa_runtime::freed_memory::Block;
use envisa_runtime::memory_in_use::{self, Use};

use super::caller::Opaque;
use super::{Caller, command, entry, run_guarded};
use crate::core::context::{Context, Pointer, PointerKind};
use crate::core::error::{Error, Result};
use crate::core::handle;
use crate::core::host_memory::{Backing, Region};
use crate::core::kernel::{Arg, Kernel};
use crate::core::mem::HostAccess;
use crate::core::platform::Device;
use crate::core::queue::{Queue, Work};

/// Allocates shared memory and notes it in the context.
pub(super) fn allocate_svm(
    context: &Arc<Context>,
    kind: PointerKind,
    device: Option<Arc<Device>>,
    flags: u64,
    size: usize,
    alignment: usize,
) -> Result<*mut c_void> {
    let most = context.devices.iter().map(|d| d.max_allocation()).min().unwrap_or(0);
    if size == 0 || size as u64 > most {
        return Err(Error::INVALID_BUFFER_SIZE);
    }
    let backing = Backing::allocate(size, alignment.max(1)).ok_or(Error::OUT_OF_HOST_MEMORY)?;
    // Of other kinds the application may write to memory while kernels run.
    if matches!(kind, PointerKind::Svm | PointerKind::Device) {
        backing.watch_shared();
    }
    let address = backing.address();
    let pointer: *mut c_void = backing.pointer().cast();
    let entry = Pointer { backing, kind, device, flags, size, mapped: std::sync::Mutex::default() };
    context.pointers.lock().unwrap().insert(address, Arc::new(entry));
    Ok(pointer)
}

/// Forgets shared memory; launches that use it keep it alive.
pub(super) fn forget_svm(context: &Context, address: usize) -> Option<Arc<Pointer>> {
    context.pointers.lock().unwrap().remove(&address)
}

/// Tells of shared memory that the application has freed while a command may use it.
pub(super) fn report_if_freed_in_use(pointer: Option<&Pointer>) {
    if let Some(p) = pointer
        && crate::report::is_checking()
    {
        memory_in_use::may_free(p.backing.region().range(), Block::OfDriver);
    }
}

/// Bytes from a pointer on that a command reads or fills: of shared memory, or of the application.
fn svm_bytes(
    c: &Caller,
    context: &Context,
    start: *const c_void,
    size: usize,
    access: HostAccess,
) -> Result<Region> {
    if start.is_null() && size > 0 {
        return Err(Error::INVALID_VALUE);
    }
    match context.pointer(start as usize) {
        Some(p) => {
            let offset = start as usize - p.backing.address();
            let part = p.backing.region().part(offset, size).ok_or(Error::INVALID_VALUE)?;
            memory_in_use::note(part.range(), Use::Unified);
            Ok(part)
        }
        None => Ok(c.transfer(start, size, access)),
    }
}

/// Allocates; null where that fails.
#[allow(unsafe_code, non_snake_case)]
pub(crate) unsafe extern "C" fn clSVMAlloc(
    context: cl_context,
    flags: cl_svm_mem_flags,
    size: usize,
    alignment: cl_uint,
) -> *mut c_void {
    let arguments =
        || format!("context = {context:?}, flags = {flags:#x}, size = {size}, alignment = {alignment}");
    let made = run_guarded("clSVMAlloc", &arguments, || {
        let context = handle::get::<Context>(context)?;
        let known = cl::CL_MEM_READ_WRITE | cl::CL_MEM_READ_ONLY | cl::CL_MEM_WRITE_ONLY;
        let access = flags & known;
        // Fine grain is not reported.
        if flags & !known != 0 || access.count_ones() > 1 {
            return Err(Error::INVALID_VALUE);
        }
        if alignment != 0 && (!alignment.is_power_of_two() || alignment > 128) {
            return Err(Error::INVALID_VALUE);
        }
        allocate_svm(&context, PointerKind::Svm, None, flags, size, alignment as usize)
    });
    made.unwrap_or(std::ptr::null_mut())
}

/// Frees at once, whatever still runs.
#[allow(unsafe_code, non_snake_case)]
pub(crate) unsafe extern "C" fn clSVMFree(context: cl_context, svm_pointer: *mut c_void) {
    let arguments = || format!("context = {context:?}, svm_pointer = {svm_pointer:?}");
    let _ = run_guarded("clSVMFree", &arguments, || {
        let context = handle::get::<Context>(context)?;
        report_if_freed_in_use(forget_svm(&context, svm_pointer as usize).as_deref());
        Ok(())
    });
}

type FreeFunction = Option<unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void)>;

/// Repeats a pattern of `n` bytes from a pointer on.
pub(super) fn enqueue_svm_fill(
    queue: &Queue,
    c: &Caller,
    to: *mut c_void,
    pattern: *const c_void,
    n: usize,
    size: usize,
) -> Result<Work> {
    if to.is_null() || pattern.is_null() || n == 0 || !size.is_multiple_of(n) {
        return Err(Error::INVALID_VALUE);
    }
    let region = svm_bytes(c, &queue.context, to, size, HostAccess::Reads)?;
    let pattern = c.bytes(pattern, n).ok_or(Error::INVALID_VALUE)?;
    Ok(Box::new(move || {
        region.fill(&pattern);
        Ok(())
    }))
}

/// Copies from one pointer to another.
pub(super) fn enqueue_svm_copy(
    queue: &Queue,
    c: &Caller,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
) -> Result<Work> {
    if size > 0 && !to.is_null() && !from.is_null() && (to as usize).abs_diff(from as usize) < size {
        return Err(Error::MEM_COPY_OVERLAP);
    }
    let (to, from) = (
        svm_bytes(c, &queue.context, to, size, HostAccess::Reads)?,
        svm_bytes(c, &queue.context, from, size, HostAccess::Writes)?,
    );
    Ok(super::enqueue::copy_regions(to, from, Vec::new()))
}

entry! {
    fn clSetKernelArgSVMPointer(_c, kernel: cl_kernel, arg_index: cl_uint, arg_value: *const c_void) {
        set_pointer(kernel, arg_index, arg_value)
    }

    fn clSetKernelExecInfo(
        c,
        kernel: cl_kernel,
        param_name: cl_uint,
        param_value_size: usize,
        param_value: *const c_void,
    ) {
        use std::sync::atomic::Ordering::Relaxed;
        let kernel = handle::get::<Kernel>(kernel)?;
        let pointers =
            matches!(param_name, cl::CL_KERNEL_EXEC_INFO_SVM_PTRS | cl::CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL);
        // No pointers are a list, too: that of an earlier call no longer counts.
        if param_value.is_null() && !(pointers && param_value_size == 0) {
            return Err(Error::INVALID_VALUE);
        }
        let flag = || {
            if param_value_size != size_of::<cl_bool>() {
                return Err(Error::INVALID_VALUE);
            }
            Ok(c.read(param_value.cast::<cl_bool>()).unwrap_or(0) != 0)
        };
        match param_name {
            _ if pointers => {
                if !param_value_size.is_multiple_of(size_of::<usize>()) {
                    return Err(Error::INVALID_VALUE);
                }
                let n = param_value_size / size_of::<usize>();
                let list = c.slice(param_value.cast::<usize>(), n).ok_or(Error::INVALID_VALUE)?;
                *kernel.named.lock().unwrap() = list.to_vec();
            }
            cl::CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM => {
                if flag()? {
                    return Err(Error::INVALID_OPERATION);
                }
            }
            cl::CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL => kernel.indirect.host.store(flag()?, Relaxed),
            cl::CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL => kernel.indirect.device.store(flag()?, Relaxed),
            cl::CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL => kernel.indirect.shared.store(flag()?, Relaxed),
            // How threads take turns: a hint.
            0x10025 => {}
            _ => return Err(Error::INVALID_VALUE),
        }
        Ok(())
    }
}

command! {
    fn clEnqueueSVMFree(
        c,
        queue,
        num_svm_pointers: cl_uint,
        svm_pointers: *mut *mut c_void,
        pfn_free_func: FreeFunction,
        user_data: *mut c_void;
        cl::CL_COMMAND_SVM_FREE
    ) {
        if (num_svm_pointers == 0) != svm_pointers.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let list = c.slice(svm_pointers.cast_const(), num_svm_pointers as usize).ok_or(Error::INVALID_VALUE)?;
        let pointers: Vec<Opaque> = list.iter().map(|p| Opaque::new(*p)).collect();
        let (handle, data) = (Opaque::new(handle::of(&*queue)), Opaque::new(user_data));
        let context = queue.context.clone();
        Ok(Box::new(move || {
            match pfn_free_func {
                Some(function) => {
                    let mut list: Vec<*mut c_void> = pointers.iter().map(|p| p.get()).collect();
                    // SAFETY: the application's function, called as the standard says.
                    #[allow(unsafe_code)]
                    unsafe {
                        function(handle.get(), list.len() as cl_uint, list.as_mut_ptr(), data.get());
                    }
                }
                None => {
                    for p in &pointers {
                        forget_svm(&context, p.get() as usize);
                    }
                }
            }
            Ok(())
        }))
    }

    fn clEnqueueSVMMemcpy(
        c,
        queue,
        blocking_copy: cl_bool,
        dst_ptr: *mut c_void,
        src_ptr: *const c_void,
        size: usize;
        cl::CL_COMMAND_SVM_MEMCPY, blocking_copy
    ) {
        if dst_ptr.is_null() || src_ptr.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        enqueue_svm_copy(&queue, c, dst_ptr, src_ptr, size)
    }

    fn clEnqueueSVMMemFill(
        c,
        queue,
        svm_ptr: *mut c_void,
        pattern: *const c_void,
        pattern_size: usize,
        size: usize;
        cl::CL_COMMAND_SVM_MEMFILL
    ) {
        let n = pattern_size;
        if !n.is_power_of_two() || n > 128 || !(svm_ptr as usize).is_multiple_of(n) {
            return Err(Error::INVALID_VALUE);
        }
        enqueue_svm_fill(&queue, c, svm_ptr, pattern, n, size)
    }

    fn clEnqueueSVMMap(
        c,
        queue,
        blocking_map: cl_bool,
        flags: cl_map_flags,
        svm_ptr: *mut c_void,
        size: usize;
        cl::CL_COMMAND_SVM_MAP, blocking_map
    ) {
        let known = cl::CL_MAP_READ | cl::CL_MAP_WRITE | cl::CL_MAP_WRITE_INVALIDATE_REGION;
        if svm_ptr.is_null() || size == 0 || flags & !known != 0 {
            return Err(Error::INVALID_VALUE);
        }
        let place = c.memory(svm_ptr, size);
        memory_in_use::release(&place.range());
        memory_in_use::note(place.range(), Use::Fills);
        if flags & !cl::CL_MAP_READ != 0 {
            // A buffer may lie there, too.
            place.note_write();
            if let Some(p) = queue.context.pointer(svm_ptr as usize).filter(|p| p.kind == PointerKind::Svm) {
                let start = svm_ptr as usize;
                p.mapped.lock().unwrap().push(start..start.saturating_add(size));
            }
        }
        Ok(Box::new(|| Ok(())))
    }

    fn clEnqueueSVMUnmap(c, queue, svm_ptr: *mut c_void; cl::CL_COMMAND_SVM_UNMAP) {
        if svm_ptr.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        if let Some(p) = queue.context.pointer(svm_ptr as usize) {
            p.mapped.lock().unwrap().retain(|part| part.start != svm_ptr as usize);
        }
        Ok(Box::new(|| Ok(())))
    }

    fn clEnqueueSVMMigrateMem(
        c,
        queue,
        num_svm_pointers: cl_uint,
        svm_pointers: *mut *const c_void,
        _sizes: *const usize,
        flags: cl_mem_migration_flags;
        cl::CL_COMMAND_SVM_MIGRATE_MEM
    ) {
        let known = cl::CL_MIGRATE_MEM_OBJECT_HOST | cl::CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
        if num_svm_pointers == 0 || svm_pointers.is_null() || flags & !known != 0 {
            return Err(Error::INVALID_VALUE);
        }
        let list = c.slice(svm_pointers.cast_const(), num_svm_pointers as usize).ok_or(Error::INVALID_VALUE)?;
        if list.iter().any(|p| queue.context.pointer(*p as usize).is_none()) {
            return Err(Error::INVALID_VALUE);
        }
        Ok(Box::new(|| Ok(())))
    }
}

/// Sets a pointer argument.
pub(super) fn set_pointer(kernel: cl_kernel, index: cl_uint, value: *const c_void) -> Result<()> {
    use crate::device::ArgKind;
    let kernel = handle::get::<Kernel>(kernel)?;
    let about = kernel.info.args.get(index as usize).ok_or(Error::INVALID_ARG_INDEX)?;
    if about.kind != ArgKind::Buffer {
        return Err(Error::INVALID_ARG_VALUE);
    }
    kernel.set(index, if value.is_null() { Arg::Null } else { Arg::Pointer(value as usize) })
}
