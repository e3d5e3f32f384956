//! Memory and events that processes share.

use std::ffi::c_void;
use std::sync::Arc;

use super::entries;
use crate::caller::Caller;
use crate::core::device::Device;
use crate::core::error::{Error, Result};
use crate::core::event::Pool;
use crate::core::handle::{self, Handle};
use crate::core::ipc::{self, Bytes, SharedKind};
use crate::core::memory::{Context, Origin};
use crate::core::reserved::Physical;

/// A handle, which calls have as a value.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct IpcHandle(Bytes);

/// Flags of opened memory: cached or not.
const OPEN_FLAGS: u32 = 3;

/// Of the memory at an address, or of physical memory by its handle.
fn share(c: &Caller, context: Handle, address: usize, to: *mut IpcHandle) -> Result<()> {
    let context = handle::get::<Context>(context)?;
    if address == 0 || to.is_null() {
        return Err(Error::INVALID_NULL_POINTER);
    }
    let shared = match handle::get::<Physical>(address) {
        Ok(physical) => ipc::of_physical(&physical)?,
        Err(_) => context.share(address)?,
    };
    c.write(to, IpcHandle(shared))
}

entries! {
    fn zeMemGetIpcHandle(c, context: Handle, address: usize, to: *mut IpcHandle) {
        share(c, context, address, to)
    }

    // What may follow asks for handles that other machines can open: there are none.
    fn zeMemGetIpcHandleWithProperties(c, context: Handle, address: usize, _next: *mut c_void, to: *mut IpcHandle) {
        share(c, context, address, to)
    }

    fn zeMemOpenIpcHandle(c, context: Handle, device: Handle, shared: IpcHandle, flags: u32, to: *mut usize) {
        let context = handle::get::<Context>(context)?;
        let device = handle::get::<Device>(device)?;
        if flags & !OPEN_FLAGS != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        if to.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        c.write(to, context.open(device, &shared.0)?)
    }

    fn zeMemCloseIpcHandle(_c, context: Handle, address: usize) {
        let context = handle::get::<Context>(context)?;
        if address == 0 { Err(Error::INVALID_NULL_POINTER) } else { context.end(address, Origin::Opened) }
    }

    fn zeMemPutIpcHandle(_c, context: Handle, shared: IpcHandle) {
        handle::get::<Context>(context)?;
        ipc::give_back(&shared.0, SharedKind::Memory)
    }

    fn zeMemGetIpcHandleFromFileDescriptorExp(c, context: Handle, descriptor: u64, to: *mut IpcHandle) {
        handle::get::<Context>(context)?;
        if to.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        c.write(to, IpcHandle(ipc::of_descriptor(descriptor)?))
    }

    fn zeMemGetFileDescriptorFromIpcHandleExp(c, context: Handle, shared: IpcHandle, to: *mut u64) {
        handle::get::<Context>(context)?;
        c.write(to, u64::from(ipc::descriptor(&shared.0)?))
    }

    fn zeEventPoolGetIpcHandle(c, pool: Handle, to: *mut IpcHandle) {
        let pool = handle::get::<Pool>(pool)?;
        if to.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        c.write(to, IpcHandle(ipc::of_pool(&pool)?))
    }

    fn zeEventPoolPutIpcHandle(_c, context: Handle, shared: IpcHandle) {
        handle::get::<Context>(context)?;
        ipc::give_back(&shared.0, SharedKind::Events)
    }

    fn zeEventPoolOpenIpcHandle(c, context: Handle, shared: IpcHandle, to: *mut Handle) {
        let context = handle::get::<Context>(context)?;
        if to.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        c.write(to, handle::publish(&Arc::new(ipc::open_pool(context, &shared.0)?)))
    }

    fn zeEventPoolCloseIpcHandle(_c, pool: Handle) {
        if !handle::get::<Pool>(pool)?.opened {
            return Err(Error::INVALID_ARGUMENT);
        }
        handle::destroy::<Pool>(pool).map(drop)
    }
}
