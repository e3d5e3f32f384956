//! Buffers, and what all memory objects answer.

use std::ffi::c_void;
use std::sync::Arc;

use opencl_sys::{
    self as cl, cl_buffer_region, cl_context, cl_mem, cl_mem_flags, cl_mem_properties, cl_pipe_properties,
    cl_uint,
};

use super::caller::{AtEnd, at_end};
use super::{Caller, counted, create, entry, query};
use crate::core::context::Context;
use crate::core::error::{Error, Result};
use crate::core::handle;
use crate::core::host_memory::{Backing, Region};
use crate::core::info::Answer;
use crate::core::mem::{Mem, Parts, check_flags, inherit_flags};
use crate::core::platform::BASE_ALIGN;

/// Memory for an object of so many bytes, as its flags say.
pub(super) fn object_memory(
    c: &Caller,
    context: &Context,
    flags: u64,
    host: *mut c_void,
    bytes: usize,
) -> Result<Region> {
    if bytes as u64 > context.devices.iter().map(|d| d.max_allocation()).max().unwrap_or(0) {
        return Err(Error::INVALID_BUFFER_SIZE);
    }
    if flags & cl::CL_MEM_USE_HOST_PTR != 0 {
        // Shared memory is known already: the same bytes.
        if let Some(pointer) = context.pointer(host as usize) {
            let offset = host as usize - pointer.backing.address();
            return pointer.backing.region().part(offset, bytes).ok_or(Error::INVALID_BUFFER_SIZE);
        }
        return Ok(c.lent_memory(host, bytes).ok_or(Error::INVALID_HOST_PTR)?.region());
    }
    let backing = Backing::allocate(bytes, 1).ok_or(Error::MEM_OBJECT_ALLOCATION_FAILURE)?;
    backing.watch();
    if flags & cl::CL_MEM_COPY_HOST_PTR != 0 {
        backing.region().copy_from(&c.content(host, bytes));
    }
    Ok(backing.region())
}

fn buffer(
    c: &Caller,
    context: cl_context,
    properties: Vec<u64>,
    flags: cl_mem_flags,
    size: usize,
    host: *mut c_void,
) -> Result<*mut c_void> {
    let context = handle::get::<Context>(context)?;
    let flags = check_flags(flags, !host.is_null())?;
    if size == 0 {
        return Err(Error::INVALID_BUFFER_SIZE);
    }
    let region = object_memory(c, &context, flags, host, size)?;
    let uses = flags & cl::CL_MEM_USE_HOST_PTR != 0;
    if uses && region.backing().is_some_and(|b| b.is_lent()) {
        crate::core::maps::note_lent(&region);
    }
    let mem = Mem::new(Parts {
        context,
        flags,
        region,
        host_pointer: if uses { host as usize } else { 0 },
        properties,
        image: None,
        parent: None,
    });
    Ok(handle::publish(&mem))
}

/// Properties of memory objects: the standard has none yet, Intel's name a device or are hints.
pub(super) fn check_properties(c: &Caller, list: *const cl_mem_properties) -> Result<Vec<u64>> {
    let all = c.zero_terminated(list);
    for pair in all.chunks(2) {
        // Allocation flags, a location, a device: nothing to choose.
        if !matches!(pair, [0] | [0x4195 | 0x419e | 0x1_0031 | 0x10012, _]) {
            return Err(Error::INVALID_PROPERTY);
        }
    }
    Ok(all)
}

create! {
    fn clCreateBuffer(c, context: cl_context, flags: cl_mem_flags, size: usize, host_ptr: *mut c_void; errcode_ret) {
        buffer(c, context, Vec::new(), flags, size, host_ptr)
    }

    fn clCreateBufferWithProperties(
        c,
        context: cl_context,
        properties_: *const cl_mem_properties,
        flags: cl_mem_flags,
        size: usize,
        host_ptr: *mut c_void;
        errcode_ret
    ) {
        buffer(c, context, check_properties(c, properties_)?, flags, size, host_ptr)
    }

    fn clCreateSubBuffer(
        c,
        buffer: cl_mem,
        flags: cl_mem_flags,
        buffer_create_type: cl_uint,
        buffer_create_info: *const c_void;
        errcode_ret
    ) {
        let parent = handle::get::<Mem>(buffer)?;
        if parent.image.is_some() || parent.parent.is_some() {
            return Err(Error::INVALID_MEM_OBJECT);
        }
        if buffer_create_type != cl::CL_BUFFER_CREATE_TYPE_REGION {
            return Err(Error::INVALID_VALUE);
        }
        let place = c.read(buffer_create_info.cast::<cl_buffer_region>()).ok_or(Error::INVALID_VALUE)?;
        let flags = inherit_flags(parent.flags, flags)?;
        if place.size == 0 {
            return Err(Error::INVALID_BUFFER_SIZE);
        }
        let region = parent.region.part(place.origin, place.size).ok_or(Error::INVALID_VALUE)?;
        if !place.origin.is_multiple_of(BASE_ALIGN) {
            return Err(Error::MISALIGNED_SUB_BUFFER_OFFSET);
        }
        let host = if parent.host_pointer != 0 { parent.host_pointer + place.origin } else { 0 };
        let mem = Mem::new(Parts {
            context: parent.context.clone(),
            flags,
            region,
            host_pointer: host,
            properties: Vec::new(),
            image: None,
            parent: Some((parent, place.origin)),
        });
        Ok(handle::publish(&mem))
    }

    fn clCreatePipe(
        _c,
        context: cl_context,
        _flags: cl_mem_flags,
        _pipe_packet_size: cl_uint,
        _pipe_max_packets: cl_uint,
        _properties: *const cl_pipe_properties;
        errcode_ret
    ) {
        handle::get::<Context>(context)?;
        // No device has pipes.
        Err(Error::INVALID_OPERATION)
    }
}

/// What a memory object answers.
fn answer_mem_info(mem: &Arc<Mem>, what: cl_uint) -> Result<Answer> {
    Ok(match what {
        cl::CL_MEM_TYPE => mem.kind().into(),
        cl::CL_MEM_FLAGS => mem.flags.into(),
        cl::CL_MEM_SIZE => mem.region.len().into(),
        cl::CL_MEM_HOST_PTR => mem.host_pointer.into(),
        cl::CL_MEM_MAP_COUNT => mem.map_count().into(),
        cl::CL_MEM_REFERENCE_COUNT => handle::references(&**mem).into(),
        cl::CL_MEM_CONTEXT => handle::of(&*mem.context).into(),
        cl::CL_MEM_ASSOCIATED_MEMOBJECT => {
            mem.parent.as_ref().map_or(std::ptr::null_mut(), |p| handle::of(&**p)).into()
        }
        cl::CL_MEM_OFFSET => mem.offset.into(),
        cl::CL_MEM_USES_SVM_POINTER => mem.context.pointer(mem.host_pointer).is_some().into(),
        cl::CL_MEM_PROPERTIES => mem.properties.clone().into(),
        _ => return Err(Error::INVALID_VALUE),
    })
}

counted!(Mem, clRetainMemObject, clReleaseMemObject, memobj: cl_mem);

query! {
    fn clGetMemObjectInfo(_c, memobj: cl_mem; param_name) {
        answer_mem_info(&handle::get::<Mem>(memobj)?, param_name)
    }
}

entry! {
    fn clSetMemObjectDestructorCallback(
        _c,
        memobj: cl_mem,
        pfn_notify: AtEnd,
        user_data: *mut c_void,
    ) {
        let object = handle::get::<Mem>(memobj)?;
        object.on_end(at_end(pfn_notify, memobj, user_data)?);
        Ok(())
    }

    fn clGetPipeInfo(
        _c,
        pipe: cl_mem,
        _param_name: cl_uint,
        _param_value_size: usize,
        _param_value: *mut c_void,
        _param_value_size_ret: *mut usize,
    ) {
        handle::get::<Mem>(pipe)?;
        Err(Error::INVALID_MEM_OBJECT)
    }
}
