//! An OpenCL driver whose devices are virtual Intel GPUs.
//!
//! The library is an installable client driver: an OpenCL loader opens it and finds one platform. Its devices run
//! kernels, compiled by Intel's compiler, on the CPU. `envisa exec` sets a program's environment so that the loader uses
//! this driver. [`api`] is the C interface, and `core` implements it with the code that drivers share (`envisa-runtime`).

mod api;
mod core;

use envisa_runtime::{compiler, device, log, report};
use std::ffi::{c_char, c_int, c_uint, c_void};

/// The platforms. Loaders call this first.
///
/// # Safety
/// As the standard says of `clGetPlatformIDs`.
#[unsafe(no_mangle)]
#[allow(unsafe_code, non_snake_case)]
pub unsafe extern "C" fn clIcdGetPlatformIDsKHR(
    entries: c_uint,
    platforms: *mut *mut c_void,
    count: *mut c_uint,
) -> c_int {
    // SAFETY: handed on.
    unsafe { platform_ids(entries, platforms, count) }
}

/// Information about a platform, for loaders.
///
/// # Safety
/// As the standard says.
#[unsafe(no_mangle)]
#[allow(unsafe_code, non_snake_case)]
pub unsafe extern "C" fn clGetPlatformInfo(
    platform: *mut c_void,
    what: c_uint,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> c_int {
    let function = api::dispatch_table().clGetPlatformInfo;
    // SAFETY: handed on.
    function.map_or(opencl_sys::CL_INVALID_OPERATION, |f| unsafe { f(platform, what, size, value, size_ret) })
}

/// The address of an extension's function, for loaders.
///
/// # Safety
/// As the standard says.
#[unsafe(no_mangle)]
#[allow(unsafe_code, non_snake_case)]
pub unsafe extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> *mut c_void {
    let function = api::dispatch_table().clGetExtensionFunctionAddress;
    // SAFETY: handed on.
    function.map_or(std::ptr::null_mut(), |f| unsafe { f(name) })
}

#[allow(unsafe_code)]
unsafe fn platform_ids(entries: c_uint, platforms: *mut *mut c_void, count: *mut c_uint) -> c_int {
    let function = api::dispatch_table().clGetPlatformIDs;
    // SAFETY: handed on.
    function.map_or(opencl_sys::CL_INVALID_OPERATION, |f| unsafe { f(entries, platforms, count) })
}
