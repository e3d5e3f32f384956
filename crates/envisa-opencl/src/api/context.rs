//! Contexts and queues.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use opencl_sys::{
    self as cl, cl_bool, cl_command_queue, cl_command_queue_properties, cl_context, cl_context_properties,
    cl_device_id, cl_device_type, cl_queue_properties, cl_uint,
};

use super::caller::{AtEnd, at_end};
use super::{Caller, counted, create, entry, query};
use crate::core::context::Context;
use crate::core::error::{Error, Result};
use crate::core::handle;
use crate::core::platform::{Device, Platform};
use crate::core::queue::Queue;

type Notify = Option<unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void)>;

const QUEUE_FLAGS: u64 = cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | cl::CL_QUEUE_PROFILING_ENABLE;

fn check_properties(c: &Caller, list: *const cl_context_properties) -> Result<Vec<isize>> {
    let all = c.zero_terminated(list);
    for (at, pair) in all.chunks(2).enumerate() {
        match pair {
            // Whatever it says, it was said before.
            [key, _] if all.chunks(2).take(at).any(|earlier| earlier[0] == *key) => {
                return Err(Error::INVALID_PROPERTY);
            }
            [key, value] if *key == cl::CL_CONTEXT_PLATFORM => {
                handle::get::<Platform>(*value as *mut c_void)?;
            }
            [key, 0 | 1] if *key == cl::CL_CONTEXT_INTEROP_USER_SYNC => {}
            [0] => {}
            _ => return Err(Error::INVALID_PROPERTY),
        }
    }
    Ok(all)
}

pub(super) fn devices_of_list(
    c: &Caller,
    count: cl_uint,
    list: *const cl_device_id,
) -> Result<Vec<Arc<Device>>> {
    if count == 0 || list.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let handles = c.slice(list, count as usize).ok_or(Error::INVALID_VALUE)?;
    let mut all: Vec<Arc<Device>> = Vec::new();
    for handle in handles {
        let device = handle::get::<Device>(*handle)?;
        if !all.iter().any(|d| Arc::ptr_eq(d, &device)) {
            all.push(device);
        }
    }
    Ok(all)
}

create! {
    fn clCreateContext(
        c,
        properties_: *const cl_context_properties,
        num_devices: cl_uint,
        devices_: *const cl_device_id,
        pfn_notify: Notify,
        user_data: *mut c_void;
        errcode_ret
    ) {
        if pfn_notify.is_none() && !user_data.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let properties = check_properties(c, properties_)?;
        let context = Context::new(devices_of_list(c, num_devices, devices_)?, properties);
        Ok(handle::publish(&context))
    }

    fn clCreateContextFromType(
        c,
        properties_: *const cl_context_properties,
        device_type: cl_device_type,
        pfn_notify: Notify,
        user_data: *mut c_void;
        errcode_ret
    ) {
        if pfn_notify.is_none() && !user_data.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let properties = check_properties(c, properties_)?;
        let context = Context::new(super::platform::devices_of(device_type)?, properties);
        Ok(handle::publish(&context))
    }

    fn clCreateCommandQueue(
        _c,
        context: cl_context,
        device: cl_device_id,
        properties_: cl_command_queue_properties;
        errcode_ret
    ) {
        create_queue(context, device, properties_, Vec::new())
    }

    fn clCreateCommandQueueWithProperties(
        c,
        context: cl_context,
        device: cl_device_id,
        properties_: *const cl_queue_properties;
        errcode_ret
    ) {
        let list = c.zero_terminated(properties_);
        let mut flags = 0;
        for pair in list.chunks(2) {
            match pair {
                [key, value] if *key == u64::from(cl::CL_QUEUE_PROPERTIES) => flags = *value,
                // A queue of a device.
                [key, _] if *key == u64::from(cl::CL_QUEUE_SIZE) => return Err(Error::INVALID_QUEUE_PROPERTIES),
                // Priority and throttle hints, families: nothing to choose from.
                [0x1096 | 0x1097 | 0x418c | 0x418d, _] | [0] => {}
                _ => return Err(Error::INVALID_VALUE),
            }
        }
        create_queue(context, device, flags, list)
    }
}

fn create_queue(
    context: cl_context,
    device: cl_device_id,
    flags: u64,
    list: Vec<u64>,
) -> Result<*mut c_void> {
    let context = handle::get::<Context>(context)?;
    let device = handle::get::<Device>(device)?;
    if !context.has(&device) {
        return Err(Error::INVALID_DEVICE);
    }
    let of_devices = cl::CL_QUEUE_ON_DEVICE | cl::CL_QUEUE_ON_DEVICE_DEFAULT;
    if flags & !(QUEUE_FLAGS | of_devices) != 0 {
        return Err(Error::INVALID_VALUE);
    }
    if flags & of_devices != 0 {
        return Err(Error::INVALID_QUEUE_PROPERTIES);
    }
    Ok(handle::publish(&Queue::new(context, device, flags, list)))
}

counted!(Context, clRetainContext, clReleaseContext, context: cl_context);
entry! {
    fn clRetainCommandQueue(_c, command_queue: cl_command_queue) {
        handle::retain::<Queue>(command_queue)
    }

    fn clReleaseCommandQueue(_c, command_queue: cl_command_queue) {
        // That flushes it, too.
        handle::get::<Queue>(command_queue)?.flush();
        handle::release::<Queue>(command_queue)
    }
}

query! {
    fn clGetContextInfo(_c, context: cl_context; param_name) {
        let context = handle::get::<Context>(context)?;
        Ok(match param_name {
            cl::CL_CONTEXT_REFERENCE_COUNT => handle::references(&*context).into(),
            cl::CL_CONTEXT_NUM_DEVICES => (context.devices.len() as u32).into(),
            cl::CL_CONTEXT_DEVICES => {
                context.devices.iter().map(|d| handle::of(&**d)).collect::<Vec<_>>().into()
            }
            cl::CL_CONTEXT_PROPERTIES => context.properties.clone().into(),
            _ => return Err(Error::INVALID_VALUE),
        })
    }

    fn clGetCommandQueueInfo(_c, command_queue: cl_command_queue; param_name) {
        let queue = handle::get::<Queue>(command_queue)?;
        Ok(match param_name {
            cl::CL_QUEUE_CONTEXT => handle::of(&*queue.context).into(),
            cl::CL_QUEUE_DEVICE => handle::of(&*queue.device).into(),
            cl::CL_QUEUE_REFERENCE_COUNT => handle::references(&*queue).into(),
            cl::CL_QUEUE_PROPERTIES => queue.properties().into(),
            cl::CL_QUEUE_PROPERTIES_ARRAY => queue.property_list.clone().into(),
            cl::CL_QUEUE_SIZE => return Err(Error::INVALID_COMMAND_QUEUE),
            cl::CL_QUEUE_DEVICE_DEFAULT => 0usize.into(),
            _ => return Err(Error::INVALID_VALUE),
        })
    }
}

entry! {
    fn clSetContextDestructorCallback(
        _c,
        context: cl_context,
        pfn_notify: AtEnd,
        user_data: *mut c_void,
    ) {
        let object = handle::get::<Context>(context)?;
        object.on_end(at_end(pfn_notify, context, user_data)?);
        Ok(())
    }

    fn clSetCommandQueueProperty(
        c,
        command_queue: cl_command_queue,
        properties: cl_command_queue_properties,
        enable: cl_bool,
        old_properties: *mut cl_command_queue_properties,
    ) {
        let queue = handle::get::<Queue>(command_queue)?;
        if properties & !QUEUE_FLAGS != 0 {
            return Err(Error::INVALID_VALUE);
        }
        c.write(old_properties, queue.set_properties(properties, enable != 0));
        Ok(())
    }

    fn clSetDefaultDeviceCommandQueue(
        _c,
        context: cl_context,
        device: cl_device_id,
        command_queue: cl_command_queue,
    ) {
        handle::get::<Context>(context)?;
        handle::get::<Device>(device)?;
        // Devices do not enqueue, which is said also where no queue is named.
        if !command_queue.is_null() {
            handle::get::<Queue>(command_queue)?;
        }
        Err(Error::INVALID_OPERATION)
    }

    fn clFlush(_c, command_queue: cl_command_queue) {
        handle::get::<Queue>(command_queue)?.flush();
        Ok(())
    }

    fn clFinish(_c, command_queue: cl_command_queue) {
        handle::get::<Queue>(command_queue)?.finish()
    }
}
