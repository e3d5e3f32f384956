//! Events, their pools, and fences.

use std::sync::Arc;

use super::entries;
use crate::abi::{CounterEventDesc, EventDesc, FenceDesc, PoolDesc, TimestampResults, Timestamps, stype};
use crate::core::device::Device;
use crate::core::error::{Error, Result};
use crate::core::event::{Event, Pool};
use crate::core::handle::{self, Handle};
use crate::core::ipc;
use crate::core::list::{Fence, Queue};
use crate::core::memory::Context;

/// Flags of pools: visible to the host, shared with processes, timestamps (of two kinds).
const POOL_FLAGS: u32 = 0xf;
const IPC: u32 = 2;
/// Where signals are seen.
const SCOPES: u32 = 7;
/// Most events of a pool.
const MOST: u32 = 1 << 24;

entries! {
    fn zeEventPoolCreate(
        c,
        context: Handle,
        desc: *const PoolDesc,
        n: u32,
        devices: *const Handle,
        pool: *mut Handle,
    ) {
        let context = handle::get::<Context>(context)?;
        let desc = c.read(desc)?;
        if desc.flags & !POOL_FLAGS != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        if desc.count == 0 || desc.count > MOST || n > 0 && devices.is_null() {
            return Err(Error::INVALID_SIZE);
        }
        for device in c.values(devices, n as usize)? {
            handle::get::<Device>(device)?;
        }
        let counter_based = c.chain(desc.base).iter().any(|(kind, _)| *kind == stype::COUNTER_BASED_POOL);
        if pool.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        if counter_based && desc.flags & IPC != 0 {
            return Err(Error::UNSUPPORTED_FEATURE);
        }
        let shared = if desc.flags & IPC == 0 { None } else { Some(ipc::words(desc.count, desc.flags)?) };
        let shared = shared.map(Arc::new);
        let made = Pool { context, flags: desc.flags, count: desc.count, counter_based, shared, opened: false };
        c.write(pool, handle::publish(&Arc::new(made)))
    }

    fn zeEventPoolDestroy(_c, pool: Handle) {
        handle::destroy::<Pool>(pool).map(drop)
    }

    fn zeEventPoolGetContextHandle(c, pool: Handle, context: *mut Handle) {
        let pool = handle::get::<Pool>(pool)?;
        c.write(context, pool.context.handle())
    }

    fn zeEventPoolGetFlags(c, pool: Handle, flags: *mut u32) {
        let pool = handle::get::<Pool>(pool)?;
        c.write(flags, pool.flags)
    }

    fn zeEventCreate(c, pool: Handle, desc: *const EventDesc, event: *mut Handle) {
        let object = handle::get::<Pool>(pool)?;
        let desc = c.read(desc)?;
        if (desc.signal | desc.wait) & !SCOPES != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        if desc.index >= object.count {
            return Err(Error::INVALID_ARGUMENT);
        }
        if event.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        c.write(event, handle::publish(&Event::of_pool(object, pool, desc.index, (desc.signal, desc.wait))))
    }

    fn zeEventCounterBasedCreate(c, context: Handle, device: Handle, desc: *const CounterEventDesc, event: *mut Handle) {
        let context = handle::get::<Context>(context)?;
        handle::get::<Device>(device)?;
        let desc = c.read(desc)?;
        if (desc.signal | desc.wait) & !SCOPES != 0 || desc.flags & !0x7f != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        if event.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        let pool = Pool { context, flags: 0, count: 1, counter_based: true, shared: None, opened: false };
        c.write(event, handle::publish(&Event::of_pool(Arc::new(pool), 0, 0, (desc.signal, desc.wait))))
    }

    fn zeEventDestroy(_c, event: Handle) {
        handle::destroy::<Event>(event).map(drop)
    }

    fn zeEventHostSignal(_c, event: Handle) {
        handle::get::<Event>(event)?.host_signal();
        Ok(())
    }

    fn zeEventHostReset(_c, event: Handle) {
        handle::get::<Event>(event)?.reset();
        Ok(())
    }

    fn zeEventHostSynchronize(_c, event: Handle, timeout: u64) {
        handle::get::<Event>(event)?.host_wait(timeout)
    }

    fn zeEventQueryStatus(_c, event: Handle) {
        handle::get::<Event>(event)?.status()
    }

    fn zeEventQueryKernelTimestamp(c, event: Handle, times: *mut Timestamps) {
        let times_ = handle::get::<Event>(event)?.times()?;
        c.write(times, Timestamps { global: times_, context: times_ })
    }

    fn zeEventQueryTimestampsExp(c, event: Handle, device: Handle, count: *mut u32, times: *mut Timestamps) {
        let times_ = handle::get::<Event>(event)?.times()?;
        handle::get::<Device>(device)?;
        c.list(count, times, 1, |_, to| *to = Timestamps { global: times_, context: times_ })
    }

    fn zeEventQueryKernelTimestampsExt(
        c, event: Handle, device: Handle, count: *mut u32, results: *mut TimestampResults,
    ) {
        let event = handle::get::<Event>(event)?;
        handle::get::<Device>(device)?;
        let room = c.read(count)?;
        if room == 0 {
            return c.write(count, 1);
        }
        let times = event.times()?;
        let times = Timestamps { global: times, context: times };
        if let Some(results) = c.read_optional(results.cast_const()) {
            // The device's clock is the host's.
            c.write_optional(results.kernel, times);
            c.write_optional(results.synchronised, times);
        }
        c.write(count, 1)
    }

    fn zeFenceCreate(c, queue: Handle, desc: *const FenceDesc, fence: *mut Handle) {
        let queue = handle::get::<Queue>(queue)?;
        let desc = c.read(desc)?;
        if desc.flags & !1 != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        let event = Event::new();
        if desc.flags & 1 != 0 {
            event.host_signal();
        }
        if fence.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        c.write(fence, handle::publish(&Arc::new(Fence { queue, event })))
    }

    fn zeFenceDestroy(_c, fence: Handle) {
        handle::destroy::<Fence>(fence).map(drop)
    }

    fn zeFenceHostSynchronize(_c, fence: Handle, timeout: u64) {
        handle::get::<Fence>(fence)?.event.host_wait(timeout)
    }

    fn zeFenceQueryStatus(_c, fence: Handle) {
        handle::get::<Fence>(fence)?.event.status()
    }

    fn zeFenceReset(_c, fence: Handle) {
        handle::get::<Fence>(fence)?.event.reset();
        Ok(())
    }
}

/// Events by their handles.
pub(super) fn events_of_handles(handles: Vec<Handle>) -> Result<Vec<Arc<Event>>> {
    handles.into_iter().map(handle::get).collect()
}
