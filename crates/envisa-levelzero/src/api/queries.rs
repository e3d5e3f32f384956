//! What lists, queues and events say of themselves.

use super::entries;
use crate::abi::{Flags, PciProperties};
use crate::core::device::Device;
use crate::core::error::{Error, Result};
use crate::core::event::Event;
use crate::core::handle::{self, Handle};
use crate::core::kernel::Kernel;
use crate::core::list::{List, Queue, finish_all};
use crate::core::memory::Context;

/// Hints on scheduling: oldest first, in turns, until one waits.
pub(super) const HINTS: u32 = 7;

/// An immediate list.
fn immediate(list: Handle) -> Result<std::sync::Arc<List>> {
    let list = handle::get::<List>(list)?;
    if list.is_immediate() { Ok(list) } else { Err(Error::INVALID_ARGUMENT) }
}

entries! {
    fn zeCommandQueueGetOrdinal(c, queue: Handle, to: *mut u32) {
        let queue = handle::get::<Queue>(queue)?;
        c.write(to, queue.about.ordinal)
    }

    fn zeCommandQueueGetIndex(c, queue: Handle, to: *mut u32) {
        let queue = handle::get::<Queue>(queue)?;
        c.write(to, queue.about.index)
    }

    fn zeCommandListGetDeviceHandle(c, list: Handle, to: *mut Handle) {
        let list = handle::get::<List>(list)?;
        c.write(to, list.device.handle())
    }

    fn zeCommandListGetContextHandle(c, list: Handle, to: *mut Handle) {
        let list = handle::get::<List>(list)?;
        c.write(to, list.context.handle())
    }

    fn zeCommandListGetOrdinal(c, list: Handle, to: *mut u32) {
        let list = handle::get::<List>(list)?;
        c.write(to, list.about.ordinal)
    }

    fn zeCommandListIsImmediate(c, list: Handle, to: *mut u8) {
        let list = handle::get::<List>(list)?;
        c.write(to, u8::from(list.is_immediate()))
    }

    fn zeCommandQueueGetFlags(c, queue: Handle, to: *mut u32) {
        let queue = handle::get::<Queue>(queue)?;
        c.write(to, queue.about.flags)
    }

    fn zeCommandQueueGetMode(c, queue: Handle, to: *mut u32) {
        let queue = handle::get::<Queue>(queue)?;
        c.write(to, queue.about.mode)
    }

    fn zeCommandQueueGetPriority(c, queue: Handle, to: *mut u32) {
        let queue = handle::get::<Queue>(queue)?;
        c.write(to, queue.about.priority)
    }

    fn zeCommandListGetFlags(c, list: Handle, to: *mut u32) {
        let list = handle::get::<List>(list)?;
        if list.is_immediate() {
            return Err(Error::INVALID_ARGUMENT);
        }
        c.write(to, list.about.flags)
    }

    fn zeCommandListImmediateGetFlags(c, list: Handle, to: *mut u32) {
        let list = immediate(list)?;
        c.write(to, list.about.flags)
    }

    fn zeCommandListImmediateGetIndex(c, list: Handle, to: *mut u32) {
        let list = immediate(list)?;
        c.write(to, list.about.index)
    }

    fn zeCommandListImmediateGetMode(c, list: Handle, to: *mut u32) {
        let list = immediate(list)?;
        c.write(to, list.about.mode)
    }

    fn zeCommandListImmediateGetPriority(c, list: Handle, to: *mut u32) {
        let list = immediate(list)?;
        c.write(to, list.about.priority)
    }

    fn zeEventGetSignalScope(c, event: Handle, to: *mut u32) {
        let event = handle::get::<Event>(event)?;
        c.write(to, event.scopes.0)
    }

    fn zeEventGetWaitScope(c, event: Handle, to: *mut u32) {
        let event = handle::get::<Event>(event)?;
        c.write(to, event.scopes.1)
    }

    fn zeEventGetEventPool(c, event: Handle, to: *mut Handle) {
        let event = handle::get::<Event>(event)?;
        if event.pool_handle == 0 {
            return Err(Error::INVALID_ARGUMENT);
        }
        c.write(to, event.pool_handle)
    }

    fn zeDevicePciGetPropertiesExt(c, device: Handle, properties: *mut PciProperties) {
        let device = handle::get::<Device>(device)?;
        // Nothing is known of the speed of a bus.
        c.change(properties, |p| {
            [p.domain, p.bus, p.device, p.function] = device.place();
            (p.generation, p.width, p.bandwidth) = (-1, -1, -1);
        })
    }

    fn zeKernelSchedulingHintExp(c, kernel: Handle, desc: *const Flags) {
        handle::get::<Kernel>(kernel)?;
        let flags = c.read(desc)?.flags;
        // It is a hint.
        if flags & !HINTS != 0 { Err(Error::INVALID_ENUMERATION) } else { Ok(()) }
    }

    fn zeMemGetPitchFor2dImage(
        c, context: Handle, device: Handle, width: usize, height: usize, element: u32, pitch: *mut usize,
    ) {
        handle::get::<Context>(context)?;
        handle::get::<Device>(device)?;
        let row = width.checked_mul(element as usize).filter(|row| *row > 0 && height > 0);
        // Rows follow each other without gaps.
        c.write(pitch, row.ok_or(Error::INVALID_SIZE)?)
    }

    fn zeDeviceSynchronize(_c, device: Handle) {
        finish_all(&handle::get::<Device>(device)?)
    }
}
