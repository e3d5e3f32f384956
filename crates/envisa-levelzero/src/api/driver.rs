//! The driver, and contexts.

use std::ffi::{c_char, c_void};

use super::entries;
use crate::abi::{ContextDesc, DriverProperties, Extension, IpcProperties, text};
use crate::core::device::{Device, Driver, driver, driver_uuid};
use crate::core::error::{Error, Result};
use crate::core::handle::{self, Handle};
use crate::core::kernel::error_of_trouble;
use crate::core::memory::Context;

/// The version of the interface. From 1.17 on, handles would have to begin with tables.
const API: u32 = 1 << 16 | 14;
/// Like those of Intel's driver, which programs compare with what they know to be too old.
const DRIVER_VERSION: u32 = 1 << 24 | 3 << 16 | 39122;
pub(super) const DRIVER_VERSION_TEXT: &str = "1.3.39122";
/// `ZE_INIT_DRIVER_TYPE_FLAG_GPU`, and of `zeInit`: of GPUs, or of all.
const GPU: u32 = 1;
const GPU_ONLY: u32 = 1;
const VPU_ONLY: u32 = 2;

/// Extensions, and their versions.
const EXTENSIONS: &[(&str, u32)] = &[
    ("ZE_extension_float_atomics", 1 << 16),
    ("ZE_extension_relaxed_allocation_limits", 1 << 16),
    ("ZE_experimental_relaxed_allocation_limits", 1 << 16),
    ("ZE_experimental_module_program", 1 << 16),
    ("ZE_experimental_global_offset", 1 << 16),
    ("ZE_extension_eu_count", 1 << 16),
    ("ZE_extension_device_ip_version", 1 << 16),
    ("ZE_extension_memory_free_policies", 1 << 16),
    ("ZE_extension_kernel_max_group_size_properties", 1 << 16),
    ("ZE_extension_device_vector_sizes", 1 << 16),
    ("ZE_extension_device_cache_line_size", 1 << 16),
    ("ZE_extension_subgroups", 1 << 16),
    ("ZE_experimental_event_pool_counter_based", 1 << 16),
    ("ZE_experimental_immediate_command_list_append", 1 << 16),
    ("ZE_experimental_mutable_command_list", 1 << 16 | 1),
    ("ZE_experimental_command_list_clone", 1 << 16),
    ("ZE_experimental_scheduling_hints", 1 << 16),
    ("ZE_experimental_event_query_timestamps", 1 << 16),
    ("ZE_extension_event_query_kernel_timestamps", 1 << 16),
    ("ZE_extension_pci_properties", 1 << 16),
    ("ZE_experimental_fabric", 1 << 16),
    ("ZE_extension_image_view", 1 << 16),
    ("ZE_experimental_image_view", 1 << 16),
    ("ZE_extension_image_query_alloc_properties", 1 << 16),
    ("ZE_experimental_image_memory_properties", 1 << 16),
];

/// Whether there is anything to drive.
pub(super) fn there_is(wanted: bool) -> Result<(Handle, &'static Driver)> {
    let (handle, driver) = driver();
    if wanted && !driver.devices.is_empty() { Ok((handle, driver)) } else { Err(Error::UNINITIALIZED) }
}

/// The driver that a handle is of.
pub(super) fn driver_of(handle: Handle) -> Result<std::sync::Arc<Driver>> {
    handle::get::<Driver>(handle)
}

entries! {
    fn zeInit(_c, flags: u32) {
        if flags & !(GPU_ONLY | VPU_ONLY) != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        there_is(flags == 0 || flags & GPU_ONLY != 0).map(drop)
    }

    fn zeInitDrivers(c, count: *mut u32, drivers: *mut Handle, desc: *const ContextDesc) {
        // The structure has the same form.
        let wanted = c.read(desc)?.flags;
        if wanted == 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        let (handle, _) = there_is(wanted & GPU != 0)?;
        c.list(count, drivers, 1, |_, to| *to = handle)
    }

    fn zeDriverGet(c, count: *mut u32, drivers: *mut Handle) {
        let (handle, _) = there_is(true)?;
        c.list(count, drivers, 1, |_, to| *to = handle)
    }

    fn zeDriverGetApiVersion(c, driver: Handle, version: *mut u32) {
        driver_of(driver)?;
        c.write(version, API)
    }

    fn zeDriverGetProperties(c, driver: Handle, properties: *mut DriverProperties) {
        driver_of(driver)?;
        c.change(properties, |p| {
            p.uuid = driver_uuid();
            p.driver_version = DRIVER_VERSION;
        })
    }

    fn zeDriverGetIpcProperties(c, driver: Handle, properties: *mut IpcProperties) {
        driver_of(driver)?;
        c.change(properties, |p| p.flags = 0)
    }

    fn zeDriverGetExtensionProperties(c, driver: Handle, count: *mut u32, properties: *mut Extension) {
        driver_of(driver)?;
        c.list(count, properties, EXTENSIONS.len(), |i, to| {
            let (name, version) = EXTENSIONS[i];
            *to = Extension { name: text(name), version };
        })
    }

    fn zeDriverGetExtensionFunctionAddress(c, driver: Handle, name: *const c_char, to: *mut *const c_void) {
        driver_of(driver)?;
        let name = c.text(name).ok_or(Error::INVALID_NULL_POINTER)?;
        // Those of the tables can be had by name, too; what is in none is not there.
        let found = super::all_entry_points().find(|e| e.name == name).ok_or(Error::INVALID_ARGUMENT)?;
        c.write(to, found.address.cast())
    }

    fn zeDriverGetLastErrorDescription(c, driver: Handle, to: *mut *const c_char) {
        driver_of(driver)?;
        c.write(to, c"".as_ptr())
    }

    fn zeContextCreate(c, driver: Handle, desc: *const ContextDesc, to: *mut Handle) {
        driver_of(driver)?;
        if c.read(desc)?.flags & !1 != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        new_context(c, to)
    }

    fn zeContextCreateEx(c, driver: Handle, desc: *const ContextDesc, n: u32, devices: *const Handle, to: *mut Handle) {
        driver_of(driver)?;
        if c.read(desc)?.flags & !1 != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        for device in c.values(devices, n as usize)? {
            handle::get::<Device>(device)?;
        }
        new_context(c, to)
    }

    fn zeContextDestroy(_c, context: Handle) {
        if context == driver().1.context.handle() {
            return Err(Error::INVALID_ARGUMENT);
        }
        handle::destroy::<Context>(context).map(drop)
    }

    fn zeContextGetStatus(_c, context: Handle) {
        handle::get::<Context>(context).map(drop)
    }

    fn zeContextSystemBarrier(_c, context: Handle, device: Handle) {
        handle::get::<Context>(context)?;
        handle::get::<Device>(device).map(drop)
    }

    fn zeContextMakeMemoryResident(_c, context: Handle, device: Handle, start: usize, size: usize) {
        accept_resident(context, device, start, size)?;
        let pointer = handle::get::<Context>(context)?.pointer_anywhere(start).ok_or(Error::INVALID_ARGUMENT)?;
        let reachable = handle::get::<Device>(device)?.machine.make_reachable(&pointer.backing);
        reachable.map_err(|e| error_of_trouble(&e))
    }

    fn zeContextEvictMemory(_c, context: Handle, device: Handle, start: usize, size: usize) {
        accept_resident(context, device, start, size)
    }
}

fn new_context(c: &crate::caller::Caller, to: *mut Handle) -> Result<()> {
    if to.is_null() {
        return Err(Error::INVALID_NULL_POINTER);
    }
    c.write(to, Context::new().handle())
}

/// All memory is where it is.
fn accept_resident(context: Handle, device: Handle, start: usize, size: usize) -> Result<()> {
    let context = handle::get::<Context>(context)?;
    handle::get::<Device>(device)?;
    if start == 0 {
        return Err(Error::INVALID_NULL_POINTER);
    }
    context.region(start, size)?.map(drop).ok_or(Error::INVALID_ARGUMENT)
}

/// The context that is always there.
#[allow(unsafe_code, non_snake_case)]
unsafe extern "C" fn zeDriverGetDefaultContext(handle: Handle) -> Handle {
    driver_of(handle).map_or(0, |driver| driver.context.handle())
}

/// Entry points that return something else than a result.
pub(super) const OTHERS: &[super::Entry] = &[super::Entry {
    name: "zeDriverGetDefaultContext",
    address: zeDriverGetDefaultContext as *const (),
    parameters: &[("handle", "Handle")],
}];
