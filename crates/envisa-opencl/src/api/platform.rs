//! Platform and devices.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use opencl_sys::{
    self as cl, cl_device_id, cl_device_partition_property, cl_device_type, cl_platform_id, cl_uint, cl_ulong,
};

use super::{Caller, entry, query};
use crate::core::error::{Error, Result};
use crate::core::event::now_nanoseconds;
use crate::core::handle;
use crate::core::platform::{Device, Platform, platform};

/// The platform behind a handle; without one, the only one there is.
fn platform_of(handle: cl_platform_id) -> Result<Arc<Platform>> {
    if handle.is_null() { Ok(platform().clone()) } else { handle::get::<Platform>(handle) }
}

/// Devices of a type, as contexts and queries choose them.
pub(super) fn devices_of(kind: cl_device_type) -> Result<Vec<Arc<Device>>> {
    let known = cl::CL_DEVICE_TYPE_CPU
        | cl::CL_DEVICE_TYPE_GPU
        | cl::CL_DEVICE_TYPE_ACCELERATOR
        | cl::CL_DEVICE_TYPE_CUSTOM
        | cl::CL_DEVICE_TYPE_DEFAULT;
    let all = &platform().devices;
    if kind != cl::CL_DEVICE_TYPE_ALL && (kind == 0 || kind & !known != 0) {
        return Err(Error::INVALID_DEVICE_TYPE);
    }
    let found: Vec<_> = if kind & cl::CL_DEVICE_TYPE_GPU != 0 {
        all.clone()
    } else if kind & cl::CL_DEVICE_TYPE_DEFAULT != 0 {
        all.iter().take(1).cloned().collect()
    } else {
        Vec::new()
    };
    if found.is_empty() { Err(Error::DEVICE_NOT_FOUND) } else { Ok(found) }
}

fn list(
    c: &Caller,
    all: &[*mut c_void],
    entries: cl_uint,
    out: *mut *mut c_void,
    count: *mut cl_uint,
) -> Result<()> {
    if (entries == 0) != out.is_null() || (out.is_null() && count.is_null()) {
        return Err(Error::INVALID_VALUE);
    }
    c.write_all(out, &all[..all.len().min(entries as usize)]);
    c.write(count, all.len() as cl_uint);
    Ok(())
}

query! {
    fn clGetPlatformInfo(_c, platform: cl_platform_id; param_name) {
        platform_of(platform)?.info(param_name)
    }

    fn clGetDeviceInfo(_c, device: cl_device_id; param_name) {
        handle::get::<Device>(device)?.info(param_name)
    }
}

entry! {
    fn clGetPlatformIDs(c, num_entries: cl_uint, platforms: *mut cl_platform_id, num_platforms: *mut cl_uint) {
        list(c, &[handle::of(&**platform())], num_entries, platforms, num_platforms)
    }

    fn clGetDeviceIDs(
        c,
        platform: cl_platform_id,
        device_type: cl_device_type,
        num_entries: cl_uint,
        devices: *mut cl_device_id,
        num_devices: *mut cl_uint,
    ) {
        platform_of(platform)?;
        if (num_entries == 0 && !devices.is_null()) || (devices.is_null() && num_devices.is_null()) {
            return Err(Error::INVALID_VALUE);
        }
        let found = match devices_of(device_type) {
            Ok(found) => found,
            Err(e) => {
                if e == Error::DEVICE_NOT_FOUND {
                    c.write(num_devices, 0);
                }
                return Err(e);
            }
        };
        let handles: Vec<_> = found.iter().map(|d| handle::of(&**d)).collect();
        let room = if devices.is_null() { 0 } else { num_entries as usize };
        c.write_all(devices, &handles[..handles.len().min(room)]);
        c.write(num_devices, handles.len() as cl_uint);
        Ok(())
    }

    fn clCreateSubDevices(
        c,
        in_device: cl_device_id,
        properties: *const cl_device_partition_property,
        _num_devices: cl_uint,
        _out_devices: *mut cl_device_id,
        _num_devices_ret: *mut cl_uint,
    ) {
        handle::get::<Device>(in_device)?;
        if c.zero_terminated(properties).is_empty() {
            return Err(Error::INVALID_VALUE);
        }
        // No device can be divided.
        Err(Error::DEVICE_PARTITION_FAILED)
    }

    fn clRetainDevice(_c, device: cl_device_id) {
        // Root devices are not counted.
        handle::get::<Device>(device).map(drop)
    }

    fn clReleaseDevice(_c, device: cl_device_id) {
        handle::get::<Device>(device).map(drop)
    }

    fn clGetDeviceAndHostTimer(
        c,
        device: cl_device_id,
        device_timestamp: *mut cl_ulong,
        host_timestamp: *mut cl_ulong,
    ) {
        handle::get::<Device>(device)?;
        if device_timestamp.is_null() || host_timestamp.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let time = now_nanoseconds();
        c.write(device_timestamp, time);
        c.write(host_timestamp, time);
        Ok(())
    }

    fn clGetHostTimer(c, device: cl_device_id, host_timestamp: *mut cl_ulong) {
        handle::get::<Device>(device)?;
        if host_timestamp.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        c.write(host_timestamp, now_nanoseconds());
        Ok(())
    }

    fn clUnloadPlatformCompiler(_c, platform: cl_platform_id) {
        handle::get::<Platform>(platform).map(drop)
    }

    fn clUnloadCompiler(_c) {
        Ok(())
    }
}

/// The address of an extension's function; null if there is none of this name.
#[allow(unsafe_code, non_snake_case)]
pub(crate) unsafe extern "C" fn clGetExtensionFunctionAddress(func_name: *const c_char) -> *mut c_void {
    // SAFETY: the application calls this as the standard says.
    let c = unsafe { Caller::new() };
    let name = c.text(func_name).unwrap_or_default();
    super::icd::extension_function(&name)
}

/// As [`clGetExtensionFunctionAddress`], of a platform.
#[allow(unsafe_code, non_snake_case)]
pub(crate) unsafe extern "C" fn clGetExtensionFunctionAddressForPlatform(
    platform: cl_platform_id,
    func_name: *const c_char,
) -> *mut c_void {
    if platform_of(platform).is_err() {
        return std::ptr::null_mut();
    }
    // SAFETY: as for this function.
    unsafe { clGetExtensionFunctionAddress(func_name) }
}
