//! Queues, command lists, and the commands that are appended to them.

use std::ffi::c_void;
use std::sync::Arc;

use envisa_runtime::host_memory::{Layout3, Region};

use super::device::{MOST_PATTERN, device_with_queue_index};
use super::entries;
use super::event::events_of_handles;
use crate::abi::{Base, Cuboid, ListDesc, Number, QueueDesc, Triple, stype};
use crate::caller::{Caller, MOST_VALUES, is_in_user_space};
use crate::core::command::{Action, Command};
use crate::core::device::Device;
use crate::core::error::{Error, Result};
use crate::core::handle::{self, Handle};
use crate::core::kernel::Kernel;
use crate::core::list::{Fence, List, ListOptions, Queue};
use crate::core::memory::Context;

/// Flags of lists and queues.
const LIST_FLAGS: u32 = 0x3f;
const QUEUE_FLAGS: u32 = 7;

/// What a command waits for and signals, as calls have it.
pub(super) type Signals = (Handle, u32, *const Handle);

pub(super) fn append_command(
    c: &Caller,
    list: &List,
    does: Action,
    (signals, n, waits): Signals,
) -> Result<()> {
    let (waits, signals) = parse_signals(c, (signals, n, waits))?;
    list.append(Command { does, waits, signals })
}

type Synchronisation = (Vec<crate::core::event::Wait>, Option<Arc<crate::core::event::Event>>);

/// Whether a command can wait for so many events.
pub(super) fn check_wait_count(n: u32) -> Result<()> {
    if n as usize > MOST_VALUES { Err(Error::INVALID_SIZE) } else { Ok(()) }
}

fn parse_signals(c: &Caller, (signals, n, waits): Signals) -> Result<Synchronisation> {
    check_wait_count(n)?;
    if n > 0 && waits.is_null() {
        return Err(Error::INVALID_SIZE);
    }
    let waits = events_of_handles(c.values(waits, n as usize)?)?.iter().map(|e| e.wait_of()).collect();
    Ok((waits, handle::get_optional(signals)?))
}

/// Bytes for a transfer: of an allocation, or of the application's own memory.
pub(super) fn transfer_region(c: &Caller, list: &List, address: usize, len: usize) -> Result<Region> {
    if address == 0 {
        return Err(Error::INVALID_NULL_POINTER);
    }
    if !is_in_user_space(address, len) {
        return Err(Error::INVALID_SIZE);
    }
    Ok(list.context.region(address, len)?.unwrap_or_else(|| c.memory(address, len)))
}

/// Whether the groups of a launch run all at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Groups {
    InTurn,
    AtOnce,
}

fn append_launch(
    c: &Caller,
    list: Handle,
    kernel: Handle,
    (groups, how): (Triple, Groups),
    signals: Signals,
) -> Result<()> {
    let (list, kernel) = (handle::get::<List>(list)?, handle::get::<Kernel>(kernel)?);
    if !Arc::ptr_eq(&list.device, &kernel.module.device) {
        return Err(Error::INVALID_ARGUMENT);
    }
    let mut launch = kernel.launch()?;
    let groups = [groups.x, groups.y, groups.z];
    launch.range(groups)?;
    if how == Groups::AtOnce {
        launch = launch.cooperative(groups)?;
    }
    append_command(c, &list, Action::Launch(launch, groups), signals)
}

/// `ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC`
const COOPERATIVE: u32 = 0x2_0036;

/// What follows a launch: it may say that it is cooperative.
fn launch_extensions(c: &Caller, next: *const c_void) -> Result<Groups> {
    let mut how = Groups::InTurn;
    for (kind, at) in c.chain(Base { stype: 0, next: next.cast_mut() }) {
        if kind != COOPERATIVE {
            return Err(Error::UNSUPPORTED_FEATURE);
        }
        if c.read(at.cast::<Number>())?.value & 0xff != 0 {
            how = Groups::AtOnce;
        }
    }
    Ok(how)
}

fn append_fill(
    c: &Caller,
    list: &List,
    (pattern, pattern_size): (*const u8, usize),
    (to, size): (usize, usize),
    signals: Signals,
) -> Result<()> {
    if !pattern_size.is_power_of_two() || pattern_size > MOST_PATTERN {
        return Err(Error::INVALID_SIZE);
    }
    let pattern = c.values(pattern, pattern_size)?;
    append_command(c, list, Action::Fill(transfer_region(c, list, to, size)?, pattern), signals)
}

/// Rows in planes at an address.
fn rows(
    c: &Caller,
    list: &List,
    address: usize,
    at: &Cuboid,
    (pitch, slice): (u32, u32),
) -> Result<(Region, Layout3, [usize; 3])> {
    let size = at.size.map(|n| n as usize);
    let size = [size[0], size[1].max(1), size[2].max(1)];
    let row = if pitch == 0 { size[0] + at.origin[0] as usize } else { pitch as usize };
    let origin = at.origin.map(|n| n as usize);
    let slice = if slice == 0 { row.checked_mul(size[1] + origin[1]) } else { Some(slice as usize) };
    let slice = slice.ok_or(Error::INVALID_SIZE)?;
    let in_plane = origin[1].checked_mul(row).and_then(|y| y.checked_add(origin[0]));
    let offset = origin[2].checked_mul(slice).and_then(|z| z.checked_add(in_plane?));
    let layout = Layout3 { offset: offset.ok_or(Error::INVALID_SIZE)?, row, slice };
    let end = layout.end(size).ok_or(Error::INVALID_SIZE)?;
    Ok((transfer_region(c, list, address, end)?, layout, size))
}

fn about(desc: &QueueDesc) -> ListOptions {
    let QueueDesc { ordinal, index, flags, mode, priority, .. } = *desc;
    ListOptions { ordinal, index, flags, mode, priority }
}

fn barrier(c: &Caller, list: Handle, signals: Signals) -> Result<()> {
    append_command(c, &*handle::get::<List>(list)?, Action::Nothing, signals)
}

fn check_list_count(n: u32) -> Result<usize> {
    if n == 0 || n as usize > MOST_VALUES { Err(Error::INVALID_SIZE) } else { Ok(n as usize) }
}

fn lists_of_handles(c: &Caller, n: u32, handles: *const Handle) -> Result<Vec<Arc<List>>> {
    c.values(handles, check_list_count(n)?)?.into_iter().map(handle::get).collect()
}

entries! {
    fn zeCommandQueueCreate(c, context: Handle, device: Handle, desc: *const QueueDesc, queue: *mut Handle) {
        handle::get::<Context>(context)?;
        let desc = c.read(desc)?;
        let device = device_with_queue_index(device, desc.ordinal, desc.index)?;
        if desc.flags & !QUEUE_FLAGS != 0 || desc.mode > 2 || desc.priority > 2 {
            return Err(Error::INVALID_ENUMERATION);
        }
        if queue.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        c.write(queue, handle::publish(&Queue::new(device, about(&desc))))
    }

    fn zeCommandQueueDestroy(_c, queue: Handle) {
        handle::destroy::<Queue>(queue).map(drop)
    }

    fn zeCommandQueueExecuteCommandLists(c, queue: Handle, n: u32, handles: *const Handle, fence: Handle) {
        let queue = handle::get::<Queue>(queue)?;
        let fence = handle::get_optional::<Fence>(fence)?;
        queue.execute(&lists_of_handles(c, n, handles)?, fence.as_deref())
    }

    fn zeCommandQueueSynchronize(_c, queue: Handle, timeout: u64) {
        handle::get::<Queue>(queue)?.host_wait(timeout)
    }

    fn zeCommandListCreate(c, context: Handle, device: Handle, desc: *const ListDesc, list: *mut Handle) {
        let context = handle::get::<Context>(context)?;
        let desc = c.read(desc)?;
        let device = device_with_queue_index(device, desc.ordinal, 0)?;
        if desc.flags & !LIST_FLAGS != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        if list.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        let mutable = c.chain(desc.base).iter().any(|(kind, _)| *kind == stype::MUTABLE_LIST);
        let about = ListOptions { ordinal: desc.ordinal, flags: desc.flags, ..ListOptions::default() };
        c.write(list, handle::publish(&List::regular(context, device, about, mutable)))
    }

    fn zeCommandListCreateImmediate(c, context: Handle, device: Handle, desc: *const QueueDesc, list: *mut Handle) {
        let context = handle::get::<Context>(context)?;
        let desc = c.read(desc)?;
        let device = device_with_queue_index(device, desc.ordinal, desc.index)?;
        if desc.flags & !QUEUE_FLAGS != 0 || desc.mode > 2 || desc.priority > 2 {
            return Err(Error::INVALID_ENUMERATION);
        }
        if list.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        let made = List::immediate(context, device, about(&desc));
        c.write(list, handle::publish(&made))
    }

    fn zeCommandListDestroy(_c, list: Handle) {
        handle::destroy::<List>(list).map(drop)
    }

    fn zeCommandListClose(_c, list: Handle) {
        handle::get::<List>(list)?.close()
    }

    fn zeCommandListReset(_c, list: Handle) {
        handle::get::<List>(list)?.reset()
    }

    fn zeCommandListHostSynchronize(_c, list: Handle, timeout: u64) {
        handle::get::<List>(list)?.host_wait(timeout)
    }

    fn zeCommandListAppendLaunchKernel(c, list: Handle, kernel: Handle, groups: *const Triple, signal: Handle, n: u32, waits: *const Handle) {
        append_launch(c, list, kernel, (c.read(groups)?, Groups::InTurn), (signal, n, waits))
    }

    fn zeCommandListAppendLaunchCooperativeKernel(
        c, list: Handle, kernel: Handle, groups: *const Triple, signal: Handle, n: u32, waits: *const Handle,
    ) {
        append_launch(c, list, kernel, (c.read(groups)?, Groups::AtOnce), (signal, n, waits))
    }

    fn zeCommandListAppendLaunchKernelWithParameters(
        c, list: Handle, kernel: Handle, groups: *const Triple, next: *const c_void, signal: Handle, n: u32,
        waits: *const Handle,
    ) {
        let groups = c.read(groups)?;
        let how = launch_extensions(c, next)?;
        append_launch(c, list, kernel, (groups, how), (signal, n, waits))
    }

    fn zeCommandListAppendLaunchKernelWithArguments(
        c, list: Handle, kernel: Handle, groups: Triple, size: Triple, arguments: *const *const c_void,
        next: *const c_void, signal: Handle, n: u32, waits: *const Handle,
    ) {
        let how = launch_extensions(c, next)?;
        let object = handle::get::<Kernel>(kernel)?;
        object.set_group([size.x, size.y, size.z])?;
        super::kernel::set_all_arguments(c, &object, arguments)?;
        append_launch(c, list, kernel, (groups, how), (signal, n, waits))
    }

    fn zeCommandListAppendLaunchKernelIndirect(c, list: Handle, kernel: Handle, groups: usize, signal: Handle, n: u32, waits: *const Handle) {
        let (list, kernel) = (handle::get::<List>(list)?, handle::get::<Kernel>(kernel)?);
        let groups = transfer_region(c, &list, groups, 12)?;
        append_command(c, &list, Action::LaunchIndirect(kernel.launch()?, groups, None), (signal, n, waits))
    }

    fn zeCommandListAppendLaunchMultipleKernelsIndirect(
        c, list: Handle, n_kernels: u32, kernels: *const Handle, count: usize, groups: usize, signal: Handle, n: u32,
        waits: *const Handle,
    ) {
        let list = handle::get::<List>(list)?;
        let kernels = c.values(kernels, check_list_count(n_kernels)?)?;
        let count = transfer_region(c, &list, count, 4)?;
        transfer_region(c, &list, groups, 12 * kernels.len())?;
        let (waits, signals) = parse_signals(c, (signal, n, waits))?;
        let mut launches = Vec::new();
        for kernel in &kernels {
            launches.push(handle::get::<Kernel>(*kernel)?.launch()?);
        }
        list.append(Command { does: Action::Nothing, waits, signals: None })?;
        for (i, launch) in launches.into_iter().enumerate() {
            let groups = transfer_region(c, &list, groups + 12 * i, 12)?;
            let does = Action::LaunchIndirect(launch, groups, Some((count.clone(), i as u32)));
            list.append(Command { does, waits: Vec::new(), signals: None })?;
        }
        list.append(Command { does: Action::Nothing, waits: Vec::new(), signals })
    }

    fn zeCommandListAppendMemoryCopy(c, list: Handle, to: usize, from: usize, size: usize, signal: Handle, n: u32, waits: *const Handle) {
        let list = handle::get::<List>(list)?;
        let does = Action::Copy(transfer_region(c, &list, to, size)?, transfer_region(c, &list, from, size)?);
        append_command(c, &list, does, (signal, n, waits))
    }

    fn zeCommandListAppendMemoryCopyFromContext(
        c, list: Handle, to: usize, context: Handle, from: usize, size: usize, signal: Handle, n: u32,
        waits: *const Handle,
    ) {
        let list = handle::get::<List>(list)?;
        let other = handle::get::<Context>(context)?;
        if from == 0 {
            return Err(Error::INVALID_NULL_POINTER);
        }
        let from = other.region(from, size)?.ok_or(Error::INVALID_ARGUMENT)?;
        append_command(c, &list, Action::Copy(transfer_region(c, &list, to, size)?, from), (signal, n, waits))
    }

    fn zeCommandListAppendMemoryCopyRegion(
        c, list: Handle, to: usize, to_region: *const Cuboid, to_pitch: u32, to_slice: u32, from: usize,
        from_region: *const Cuboid, from_pitch: u32, from_slice: u32, signal: Handle, n: u32, waits: *const Handle,
    ) {
        let list = handle::get::<List>(list)?;
        let (to_region, from_region) = (c.read(to_region)?, c.read(from_region)?);
        if to_region.size != from_region.size {
            return Err(Error::INVALID_SIZE);
        }
        let (to, at, size) = rows(c, &list, to, &to_region, (to_pitch, to_slice))?;
        let (from, there, _) = rows(c, &list, from, &from_region, (from_pitch, from_slice))?;
        append_command(c, &list, Action::CopyRows(to, at, from, there, size), (signal, n, waits))
    }

    fn zeCommandListAppendMemoryFill(
        c, list: Handle, to: usize, pattern: *const u8, pattern_size: usize, size: usize, signal: Handle, n: u32,
        waits: *const Handle,
    ) {
        let list = handle::get::<List>(list)?;
        append_fill(c, &list, (pattern, pattern_size), (to, size), (signal, n, waits))
    }

    fn zeCommandListAppendMemoryPrefetch(c, list: Handle, start: usize, size: usize) {
        let list = handle::get::<List>(list)?;
        transfer_region(c, &list, start, size).map(drop)
    }

    fn zeCommandListAppendMemAdvise(c, list: Handle, device: Handle, start: usize, size: usize, advice: u32) {
        let list = handle::get::<List>(list)?;
        handle::get::<Device>(device)?;
        if advice > 9 {
            return Err(Error::INVALID_ENUMERATION);
        }
        transfer_region(c, &list, start, size).map(drop)
    }

    fn zeCommandListAppendBarrier(c, list: Handle, signal: Handle, n: u32, waits: *const Handle) {
        barrier(c, list, (signal, n, waits))
    }

    fn zeCommandListAppendMemoryRangesBarrier(
        c, list: Handle, n_ranges: u32, sizes: *const usize, starts: *const usize, signal: Handle, n: u32,
        waits: *const Handle,
    ) {
        c.values(sizes, check_list_count(n_ranges)?)?;
        c.values(starts, check_list_count(n_ranges)?)?;
        barrier(c, list, (signal, n, waits))
    }

    fn zeCommandListAppendSignalEvent(c, list: Handle, event: Handle) {
        let list = handle::get::<List>(list)?;
        handle::get::<crate::core::event::Event>(event)?;
        append_command(c, &list, Action::Nothing, (event, 0, std::ptr::null()))
    }

    fn zeCommandListAppendWaitOnEvents(c, list: Handle, n: u32, waits: *const Handle) {
        barrier(c, list, (0, n, waits))
    }

    fn zeCommandListAppendEventReset(c, list: Handle, event: Handle) {
        let list = handle::get::<List>(list)?;
        append_command(c, &list, Action::Reset(handle::get(event)?), (0, 0, std::ptr::null()))
    }

    fn zeCommandListAppendWriteGlobalTimestamp(c, list: Handle, to: usize, signal: Handle, n: u32, waits: *const Handle) {
        let list = handle::get::<List>(list)?;
        append_command(c, &list, Action::Time(transfer_region(c, &list, to, 8)?), (signal, n, waits))
    }

    fn zeCommandListAppendQueryKernelTimestamps(
        c, list: Handle, n_events: u32, asked: *const Handle, to: usize, offsets: *const usize, signal: Handle, n: u32,
        waits: *const Handle,
    ) {
        const BYTES: usize = size_of::<crate::abi::Timestamps>();
        let list = handle::get::<List>(list)?;
        let count = check_list_count(n_events)?;
        let asked = events_of_handles(c.values(asked, count)?)?;
        let offsets = if offsets.is_null() {
            (0..count).map(|i| i * BYTES).collect()
        } else {
            c.values(offsets, count)?
        };
        let end = offsets.iter().max().and_then(|o| o.checked_add(BYTES)).ok_or(Error::INVALID_SIZE)?;
        append_command(c, &list, Action::Times(asked, transfer_region(c, &list, to, end)?, offsets), (signal, n, waits))
    }

    fn zeCommandListAppendHostFunction(
        c, list: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: usize, next: *const c_void,
        signal: Handle, n: u32, waits: *const Handle,
    ) {
        let list = handle::get::<List>(list)?;
        let function = function.ok_or(Error::INVALID_NULL_POINTER)?;
        if !next.is_null() {
            return Err(Error::UNSUPPORTED_FEATURE);
        }
        let call = move || {
            // SAFETY: the application's function, called as the specification says.
            #[allow(unsafe_code)]
            unsafe {
                function(data as *mut c_void);
            }
        };
        append_command(c, &list, Action::Call(Arc::new(call)), (signal, n, waits))
    }

    // What may follow says nothing that is supported and has an effect.
    fn zeCommandListAppendMemoryCopyWithParameters(
        c, list: Handle, to: usize, from: usize, size: usize, _next: *const c_void, signal: Handle, n: u32,
        waits: *const Handle,
    ) {
        let list = handle::get::<List>(list)?;
        let does = Action::Copy(transfer_region(c, &list, to, size)?, transfer_region(c, &list, from, size)?);
        append_command(c, &list, does, (signal, n, waits))
    }

    fn zeCommandListAppendMemoryFillWithParameters(
        c, list: Handle, to: usize, pattern: *const u8, pattern_size: usize, size: usize, _next: *const c_void,
        signal: Handle, n: u32, waits: *const Handle,
    ) {
        let list = handle::get::<List>(list)?;
        append_fill(c, &list, (pattern, pattern_size), (to, size), (signal, n, waits))
    }

    fn zeCommandListImmediateAppendCommandListsWithParameters(
        c, list: Handle, n_lists: u32, handles: *const Handle, _next: *const c_void, signal: Handle, n: u32,
        waits: *const Handle,
    ) {
        let list = handle::get::<List>(list)?;
        let (waits, signals) = parse_signals(c, (signal, n, waits))?;
        list.append_lists(&lists_of_handles(c, n_lists, handles)?, waits, signals)
    }

    fn zeCommandListImmediateAppendCommandListsExp(
        c, list: Handle, n_lists: u32, handles: *const Handle, signal: Handle, n: u32, waits: *const Handle,
    ) {
        let list = handle::get::<List>(list)?;
        let (waits, signals) = parse_signals(c, (signal, n, waits))?;
        list.append_lists(&lists_of_handles(c, n_lists, handles)?, waits, signals)
    }
}
