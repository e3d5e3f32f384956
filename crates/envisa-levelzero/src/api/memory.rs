//! Memory that host and devices share, and what addresses belong to.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::entries;
use crate::abi::{AllocationProperties, DeviceMemoryDesc, FreeDesc, HostMemoryDesc, stype};
use crate::caller::Caller;
use crate::core::device::{Device, driver};
use crate::core::error::{Error, Result};
use crate::core::handle::{self, Handle};
use crate::core::memory::{Context, Kind, Pointer};

/// Bytes of a page, as Intel's driver has them.
pub(super) const PAGE: u64 = 64 << 10;

/// What one allocation can have: with relaxed limits, all of the memory.
fn allocation_limit(c: &Caller, bases: &[crate::abi::Base], memory: u64) -> u64 {
    let relaxed = bases.iter().flat_map(|b| c.chain(*b)).any(|(kind, at)| {
        matches!(kind, stype::RELAXED_LIMITS_EXT | stype::RELAXED_LIMITS_EXP)
            && c.read_optional(at.cast::<HostMemoryDesc>().cast_const()).is_some_and(|d| d.flags & 1 != 0)
    });
    if relaxed { memory } else { envisa_runtime::device_properties::max_allocation(memory) }
}

fn allocate_memory(
    c: &Caller,
    context: Handle,
    kind: Kind,
    device: Option<Handle>,
    bases: &[crate::abi::Base],
    (size, align): (usize, usize),
    to: *mut usize,
) -> Result<()> {
    let context = handle::get::<Context>(context)?;
    let device = device.map(handle::get::<Device>).transpose()?;
    if to.is_null() {
        return Err(Error::INVALID_NULL_POINTER);
    }
    let memory = driver().1.devices.first().map_or(0, |(_, d)| d.memory);
    let most = allocation_limit(c, bases, memory);
    c.write(to, context.allocate(kind, device, size, align, most)?)
}

/// Flags of the host's part: cached or not, write-combined, where the content is first.
const HOST_FLAGS: u32 = 0xf;
/// Flags of the device's part.
const DEVICE_FLAGS: u32 = 0x7;

fn device_desc(c: &Caller, desc: *const DeviceMemoryDesc) -> Result<crate::abi::Base> {
    let desc = c.read(desc)?;
    if desc.flags & !DEVICE_FLAGS != 0 {
        return Err(Error::INVALID_ENUMERATION);
    }
    // There is one memory, whichever is asked for.
    Ok(desc.base)
}

fn host_desc(c: &Caller, desc: *const HostMemoryDesc) -> Result<crate::abi::Base> {
    let desc = c.read(desc)?;
    if desc.flags & !HOST_FLAGS != 0 { Err(Error::INVALID_ENUMERATION) } else { Ok(desc.base) }
}

fn free_memory(context: Handle, address: usize) -> Result<()> {
    let context = handle::get::<Context>(context)?;
    if address == 0 { Err(Error::INVALID_NULL_POINTER) } else { context.free(address) }
}

/// `ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_*`
const ATOMIC_FLAGS: u32 = 0x7f;

/// The allocation that a range lies in.
fn pointer_of_range(context: Handle, device: Handle, start: usize, size: usize) -> Result<Arc<Pointer>> {
    let context = handle::get::<Context>(context)?;
    handle::get::<Device>(device)?;
    if start == 0 {
        return Err(Error::INVALID_NULL_POINTER);
    }
    let pointer = context.pointer_anywhere(start).ok_or(Error::INVALID_ARGUMENT)?;
    let inside = start - pointer.backing.address();
    if size == 0 || size > pointer.size - inside { Err(Error::INVALID_SIZE) } else { Ok(pointer) }
}

entries! {
    fn zeMemAllocHost(c, context: Handle, desc: *const HostMemoryDesc, size: usize, align: usize, to: *mut usize) {
        let bases = [host_desc(c, desc)?];
        allocate_memory(c, context, Kind::Host, None, &bases, (size, align), to)
    }

    fn zeMemAllocDevice(
        c,
        context: Handle,
        desc: *const DeviceMemoryDesc,
        size: usize,
        align: usize,
        device: Handle,
        to: *mut usize,
    ) {
        let bases = [device_desc(c, desc)?];
        allocate_memory(c, context, Kind::Device, Some(device), &bases, (size, align), to)
    }

    fn zeMemAllocShared(
        c,
        context: Handle,
        device_part: *const DeviceMemoryDesc,
        host_part: *const HostMemoryDesc,
        size: usize,
        align: usize,
        device: Handle,
        to: *mut usize,
    ) {
        let bases = [device_desc(c, device_part)?, host_desc(c, host_part)?];
        let device = if device == 0 { None } else { Some(device) };
        allocate_memory(c, context, Kind::Shared, device, &bases, (size, align), to)
    }

    fn zeMemFree(_c, context: Handle, address: usize) {
        free_memory(context, address)
    }

    // What commands on their way use they keep: to wait for them, or to free later, makes no difference.
    fn zeMemFreeExt(c, context: Handle, desc: *const FreeDesc, address: usize) {
        if c.read(desc)?.policy & !3 != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        free_memory(context, address)
    }

    fn zeMemGetAllocProperties(
        c,
        context: Handle,
        address: usize,
        properties: *mut AllocationProperties,
        device: *mut Handle,
    ) {
        let context = handle::get::<Context>(context)?;
        if address == 0 {
            return Err(Error::INVALID_NULL_POINTER);
        }
        let pointer = context.pointer_anywhere(address);
        c.change(properties, |p| {
            p.kind = pointer.as_ref().map_or(0, |p| p.kind as u32);
            p.id = pointer.as_ref().map_or(0, |p| p.id);
            p.page = pointer.as_ref().map_or(0, |_| PAGE);
        })?;
        c.write_optional(device, pointer.and_then(|p| p.device.clone()).map_or(0, |d| d.handle()));
        Ok(())
    }

    fn zeMemGetAddressRange(c, context: Handle, address: usize, base: *mut usize, size: *mut usize) {
        let context = handle::get::<Context>(context)?;
        if address == 0 {
            return Err(Error::INVALID_NULL_POINTER);
        }
        let pointer = context.pointer_anywhere(address).ok_or(Error::INVALID_ARGUMENT)?;
        c.write_optional(base, pointer.backing.address());
        c.write_optional(size, pointer.size);
        Ok(())
    }

    fn zeMemSetAtomicAccessAttributeExp(_c, context: Handle, device: Handle, start: usize, size: usize, flags: u32) {
        let pointer = pointer_of_range(context, device, start, size)?;
        if flags & !ATOMIC_FLAGS != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        pointer.atomics.store(flags, Ordering::Relaxed);
        Ok(())
    }

    fn zeMemGetAtomicAccessAttributeExp(
        c, context: Handle, device: Handle, start: usize, size: usize, flags: *mut u32,
    ) {
        let pointer = pointer_of_range(context, device, start, size)?;
        c.write(flags, pointer.atomics.load(Ordering::Relaxed))
    }
}
