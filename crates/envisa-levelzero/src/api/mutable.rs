//! Lists whose commands can be changed.

use std::ffi::c_void;
use std::sync::Arc;

use super::entries;
use super::kernel::bytes;
use super::list::check_wait_count;
use crate::abi::{Base, MutableArgument, MutableGroups, MutableId, MutableSizes, Triple, stype};
use crate::caller::Caller;
use crate::core::error::{Error, Result};
use crate::core::event::Event;
use crate::core::handle::{self, Handle};
use crate::core::kernel::Kernel;
use crate::core::list::List;
use crate::core::mutable::Change;

/// Most kernels that a command may be of.
const MOST_KERNELS: u32 = 1 << 16;

/// The changes that a chain of structures asks for, with the numbers of commands.
fn changes(c: &Caller, first: Base) -> Result<Vec<(u64, Change)>> {
    let one = |(kind, at): (u32, *mut c_void)| {
        Ok(match kind {
            stype::MUTABLE_ARGUMENT => {
                let a = c.read(at.cast::<MutableArgument>())?;
                (a.command, Change::Argument(a.index, a.size, bytes(c, a.size, a.value)?))
            }
            stype::MUTABLE_GROUPS => {
                let g = c.read(at.cast::<MutableGroups>())?;
                let Triple { x, y, z } = c.read(g.groups)?;
                (g.command, Change::Groups([x, y, z]))
            }
            stype::MUTABLE_GROUP_SIZE => {
                let s = c.read(at.cast::<MutableSizes>())?;
                (s.command, Change::GroupSize(s.sizes))
            }
            stype::MUTABLE_OFFSET => {
                let s = c.read(at.cast::<MutableSizes>())?;
                (s.command, Change::Offset(s.sizes))
            }
            _ => return Err(Error::INVALID_ARGUMENT),
        })
    };
    c.chain(first).into_iter().map(one).collect()
}

fn number(
    c: &Caller,
    list: Handle,
    desc: *const MutableId,
    kernels: Vec<Arc<Kernel>>,
    to: *mut u64,
) -> Result<()> {
    let list = handle::get::<List>(list)?;
    let flags = c.read(desc)?.flags;
    if to.is_null() {
        return Err(Error::INVALID_NULL_POINTER);
    }
    c.write(to, list.number(flags, kernels)?)
}

entries! {
    fn zeCommandListIsMutableExp(c, list: Handle, to: *mut u8) {
        let list = handle::get::<List>(list)?;
        c.write(to, u8::from(list.is_mutable()))
    }

    fn zeCommandListCreateCloneExp(c, list: Handle, to: *mut Handle) {
        let list = handle::get::<List>(list)?;
        if to.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        c.write(to, handle::publish(&list.clone_closed()?))
    }

    fn zeCommandListGetNextCommandIdExp(c, list: Handle, desc: *const MutableId, to: *mut u64) {
        number(c, list, desc, Vec::new(), to)
    }

    fn zeCommandListGetNextCommandIdWithKernelsExp(
        c, list: Handle, desc: *const MutableId, n: u32, kernels: *const Handle, to: *mut u64,
    ) {
        if n > MOST_KERNELS {
            return Err(Error::INVALID_SIZE);
        }
        let kernels = c.values(kernels, n as usize)?.into_iter().map(handle::get).collect::<Result<_>>()?;
        number(c, list, desc, kernels, to)
    }

    fn zeCommandListUpdateMutableCommandsExp(c, list: Handle, desc: *const Base) {
        let list = handle::get::<List>(list)?;
        for (number, change) in changes(c, c.read(desc)?)? {
            list.change(number, change)?;
        }
        Ok(())
    }

    fn zeCommandListUpdateMutableCommandSignalEventExp(_c, list: Handle, number: u64, event: Handle) {
        let list = handle::get::<List>(list)?;
        list.change_signal(number, handle::get_optional::<Event>(event)?)
    }

    fn zeCommandListUpdateMutableCommandWaitEventsExp(c, list: Handle, number: u64, n: u32, events: *const Handle) {
        let list = handle::get::<List>(list)?;
        check_wait_count(n)?;
        // Without a list of them there are none; some may be none.
        let handles = if events.is_null() { Vec::new() } else { c.values(events, n as usize)? };
        let events = handles.into_iter().filter(|h| *h != 0).map(handle::get).collect::<Result<Vec<_>>>()?;
        list.change_waits(number, n as usize, &events)
    }

    fn zeCommandListUpdateMutableCommandKernelsExp(
        c, list: Handle, n: u32, numbers: *const u64, kernels: *const Handle,
    ) {
        let list = handle::get::<List>(list)?;
        if n > MOST_KERNELS {
            return Err(Error::INVALID_SIZE);
        }
        let (numbers, kernels) = (c.values(numbers, n as usize)?, c.values(kernels, n as usize)?);
        for (number, kernel) in numbers.into_iter().zip(kernels) {
            list.change(number, Change::Kernel(handle::get::<Kernel>(kernel)?))?;
        }
        Ok(())
    }
}
