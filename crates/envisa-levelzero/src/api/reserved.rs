//! Addresses that are reserved, and physical memory.

use std::sync::Arc;

use super::entries;
use super::memory::PAGE;
use crate::abi::{PhysicalDesc, PhysicalProperties};
use crate::core::device::{Device, driver};
use crate::core::error::{Error, Result};
use crate::core::handle::{self, Handle};
use crate::core::memory::Context;
use crate::core::reserved::{Access, Physical};

/// `ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_*`
const ON_DEVICE: u32 = 1;
const ON_HOST: u32 = 2;

fn physical(context: Handle, memory: Handle) -> Result<Arc<Physical>> {
    handle::get::<Context>(context)?;
    handle::get::<Physical>(memory)
}

entries! {
    // The same for all sizes, and for none: the conformance tests ask for that, too.
    fn zeVirtualMemQueryPageSize(c, context: Handle, device: Handle, _size: usize, page: *mut usize) {
        handle::get::<Context>(context)?;
        handle::get::<Device>(device)?;
        c.write(page, PAGE as usize)
    }

    fn zeVirtualMemReserve(c, context: Handle, start: usize, size: usize, to: *mut usize) {
        let context = handle::get::<Context>(context)?;
        if to.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        c.write(to, context.reserve(start, size, PAGE as usize)?)
    }

    fn zeVirtualMemFree(_c, context: Handle, start: usize, size: usize) {
        handle::get::<Context>(context)?.end_reservation(start, size)
    }

    fn zePhysicalMemCreate(c, context: Handle, device: Handle, desc: *const PhysicalDesc, to: *mut Handle) {
        handle::get::<Context>(context)?;
        let device = handle::get_optional::<Device>(device)?;
        let desc = c.read(desc)?;
        if desc.flags & !(ON_DEVICE | ON_HOST) != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        let on_host = desc.flags & ON_HOST != 0;
        let device = if on_host { None } else { Some(device.ok_or(Error::INVALID_NULL_HANDLE)?) };
        if to.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        let most = driver().1.devices.first().map_or(0, |(_, d)| d.memory);
        c.write(to, handle::publish(&Physical::new(device, desc.size, most)?))
    }

    // What is mapped stays until it is unmapped.
    fn zePhysicalMemDestroy(_c, context: Handle, memory: Handle) {
        handle::get::<Context>(context)?;
        handle::destroy::<Physical>(memory).map(drop)
    }

    fn zePhysicalMemGetProperties(c, context: Handle, memory: Handle, properties: *mut PhysicalProperties) {
        let physical = physical(context, memory)?;
        c.change(properties, |p| (p.id, p.size) = (physical.id, physical.size as u64))
    }

    fn zeVirtualMemMap(_c, context: Handle, start: usize, size: usize, memory: Handle, offset: usize, access: u32) {
        let physical = physical(context, memory)?;
        let access = Access::new(access)?;
        handle::get::<Context>(context)?.map((start, size), &physical, offset, access)
    }

    fn zeVirtualMemUnmap(_c, context: Handle, start: usize, size: usize) {
        handle::get::<Context>(context)?.unmap(start, size)
    }

    fn zeVirtualMemSetAccessAttribute(_c, context: Handle, start: usize, size: usize, access: u32) {
        let context = handle::get::<Context>(context)?;
        context.set_access(start, size, Access::new(access)?)
    }

    fn zeVirtualMemGetAccessAttribute(
        c, context: Handle, start: usize, size: usize, access: *mut u32, same: *mut usize,
    ) {
        let (found, bytes) = handle::get::<Context>(context)?.access(start, size)?;
        c.write(access, found.number())?;
        c.write(same, bytes)
    }
}
