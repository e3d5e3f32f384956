//! Commands on memory objects, markers and barriers.

use std::ffi::c_void;
use std::sync::Arc;

use opencl_sys::{
    self as cl, cl_bool, cl_command_queue, cl_event, cl_map_flags, cl_mem, cl_mem_migration_flags, cl_uint,
};

use envisa_runtime::memory_in_use::{self, Use};

use super::{
    Caller, check_same_context, command, create, entry, finish_enqueue, note_reason, queue_and_wait_list,
};
use crate::core::error::{Error, Result};
use crate::core::event::Event;
use crate::core::handle;
use crate::core::host_memory::{Layout3, Region};
use crate::core::mem::{HostAccess, Mem};
use crate::core::platform::BASE_ALIGN;
use crate::core::queue::{Order, Queue, Work};

/// A buffer of the queue's context that commands may use.
pub(super) fn buffer_of(queue: &Queue, handle: cl_mem) -> Result<Arc<Mem>> {
    let mem = handle::get::<Mem>(handle)?;
    mem.buffer()?;
    check_same_context(queue, &mem.context)?;
    if mem.parent.is_some() && !mem.offset.is_multiple_of(BASE_ALIGN) {
        return Err(Error::MISALIGNED_SUB_BUFFER_OFFSET);
    }
    Ok(mem)
}

/// A copy from one place to another, which keeps what it needs alive.
pub(super) fn copy_regions(to: Region, from: Region, keep: Vec<Arc<Mem>>) -> Work {
    Box::new(move || {
        to.copy_from(&from);
        drop(keep);
        Ok(())
    })
}

/// A copy of a box of bytes from one place to another, which keeps what it needs alive.
pub(super) fn copy_box(
    to: (Region, Layout3),
    from: (Region, Layout3),
    size: [usize; 3],
    keep: Vec<Arc<Mem>>,
) -> Work {
    Box::new(move || {
        to.0.copy_rows(to.1, &from.0, from.1, size);
        drop(keep);
        Ok(())
    })
}

/// A copy of a box of bytes between a memory object and memory of the host.
pub(super) fn transfer_box(
    mem: Arc<Mem>,
    access: HostAccess,
    inside: Layout3,
    other: (Region, Layout3),
    size: [usize; 3],
) -> Work {
    let own = (mem.region.clone(), inside);
    let (to, from) = match access {
        HostAccess::Reads => (other, own),
        HostAccess::Writes => (own, other),
    };
    copy_box(to, from, size, vec![mem])
}

/// Pitches of a rectangle: zero means tight.
fn default_pitches(region: [usize; 3], row: usize, slice: usize) -> Result<(usize, usize)> {
    let row = if row == 0 { region[0] } else { row };
    if row < region[0] {
        return Err(Error::INVALID_VALUE);
    }
    let plane = row.checked_mul(region[1]).ok_or(Error::INVALID_VALUE)?;
    let slice = if slice == 0 { plane } else { slice };
    if slice < plane || (slice != plane && !slice.is_multiple_of(row)) {
        return Err(Error::INVALID_VALUE);
    }
    Ok((row, slice))
}

fn rectangle_layout(origin: [usize; 3], region: [usize; 3], row: usize, slice: usize) -> Result<Layout3> {
    if region.contains(&0) {
        return Err(Error::INVALID_VALUE);
    }
    let (row, slice) = default_pitches(region, row, slice)?;
    let planes = origin[2].checked_mul(slice);
    let rows = origin[1].checked_mul(row);
    let offset = planes.zip(rows).and_then(|(p, r)| p.checked_add(r)?.checked_add(origin[0]));
    Ok(Layout3 { offset: offset.ok_or(Error::INVALID_VALUE)?, row, slice })
}

/// One half of `clEnqueueReadBufferRect` and its counterpart.
#[allow(clippy::too_many_arguments, reason = "the call has as many")]
fn transfer_rectangle(
    c: &Caller,
    mem: &Arc<Mem>,
    access: HostAccess,
    buffer_origin: *const usize,
    host_origin: *const usize,
    region: *const usize,
    pitches: [usize; 4],
    ptr: *const c_void,
) -> Result<Work> {
    mem.host_may(access)?;
    let size = c.three_sizes(region)?;
    let inside = rectangle_layout(c.three_sizes(buffer_origin)?, size, pitches[0], pitches[1])?;
    let outside = rectangle_layout(c.three_sizes(host_origin)?, size, pitches[2], pitches[3])?;
    let end = inside.end(size).ok_or(Error::INVALID_VALUE)?;
    if end > mem.region.len() {
        note_reason(|| format!("the rectangle ends at byte {end} of a buffer of {}", mem.region.len()));
        return Err(Error::INVALID_VALUE);
    }
    if ptr.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let len = outside.end(size).ok_or(Error::INVALID_VALUE)?;
    let host = c.transfer_rows(ptr, (outside, size), len, access);
    Ok(transfer_box(mem.clone(), access, inside, (host, outside), size))
}

entry! {
    fn clEnqueueMarkerWithWaitList(
        c,
        command_queue: cl_command_queue,
        num_events_in_wait_list: cl_uint,
        event_wait_list: *const cl_event,
        event: *mut cl_event,
    ) {
        let (queue, after) = queue_and_wait_list(c, command_queue, num_events_in_wait_list, event_wait_list)?;
        let done = queue.enqueue(cl::CL_COMMAND_MARKER, Order::Marker, after, Box::new(|| Ok(())))?;
        finish_enqueue(c, done, event, false)
    }

    fn clEnqueueBarrierWithWaitList(
        c,
        command_queue: cl_command_queue,
        num_events_in_wait_list: cl_uint,
        event_wait_list: *const cl_event,
        event: *mut cl_event,
    ) {
        let (queue, after) = queue_and_wait_list(c, command_queue, num_events_in_wait_list, event_wait_list)?;
        let done = queue.enqueue(cl::CL_COMMAND_BARRIER, Order::Barrier, after, Box::new(|| Ok(())))?;
        finish_enqueue(c, done, event, false)
    }

    fn clEnqueueMarker(c, command_queue: cl_command_queue, event: *mut cl_event) {
        let queue = handle::get::<Queue>(command_queue)?;
        if event.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let done = queue.enqueue(cl::CL_COMMAND_MARKER, Order::Marker, Vec::new(), Box::new(|| Ok(())))?;
        finish_enqueue(c, done, event, false)
    }

    fn clEnqueueBarrier(_c, command_queue: cl_command_queue) {
        let queue = handle::get::<Queue>(command_queue)?;
        queue.enqueue(cl::CL_COMMAND_BARRIER, Order::Barrier, Vec::new(), Box::new(|| Ok(()))).map(drop)
    }

    fn clEnqueueWaitForEvents(c, command_queue: cl_command_queue, num_events: cl_uint, event_list: *const cl_event) {
        if num_events == 0 || event_list.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let (queue, after) =
            queue_and_wait_list(c, command_queue, num_events, event_list).map_err(|e| match e {
                Error::INVALID_EVENT_WAIT_LIST => Error::INVALID_EVENT,
                e => e,
            })?;
        queue.enqueue(cl::CL_COMMAND_BARRIER, Order::Barrier, after, Box::new(|| Ok(()))).map(drop)
    }

    fn clEnqueueNativeKernel(
        _c,
        command_queue: cl_command_queue,
        _user_func: Option<unsafe extern "C" fn(*mut c_void)>,
        _args: *mut c_void,
        _cb_args: usize,
        _num_mem_objects: cl_uint,
        _mem_list: *const cl_mem,
        _args_mem_loc: *mut *const c_void,
        _num_events_in_wait_list: cl_uint,
        _event_wait_list: *const cl_event,
        _event: *mut cl_event,
    ) {
        handle::get::<Queue>(command_queue)?;
        // No device runs functions of the host.
        Err(Error::INVALID_OPERATION)
    }
}

command! {
    fn clEnqueueReadBuffer(
        c,
        queue,
        buffer: cl_mem,
        blocking_read: cl_bool,
        offset: usize,
        size: usize,
        ptr: *mut c_void;
        cl::CL_COMMAND_READ_BUFFER, blocking_read
    ) {
        let mem = buffer_of(&queue, buffer)?;
        let from = c.part(&mem.region, offset, size)?;
        if ptr.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        mem.host_may(HostAccess::Reads)?;
        report_mapped_use(&mem, &from, false, "clEnqueueReadBuffer");
        Ok(copy_regions(c.transfer(ptr, size, HostAccess::Reads), from, vec![mem]))
    }

    fn clEnqueueWriteBuffer(
        c,
        queue,
        buffer: cl_mem,
        blocking_write: cl_bool,
        offset: usize,
        size: usize,
        ptr: *const c_void;
        cl::CL_COMMAND_WRITE_BUFFER, blocking_write
    ) {
        let mem = buffer_of(&queue, buffer)?;
        let to = c.part(&mem.region, offset, size)?;
        if ptr.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        mem.host_may(HostAccess::Writes)?;
        report_mapped_use(&mem, &to, true, "clEnqueueWriteBuffer");
        Ok(copy_regions(to, c.transfer(ptr, size, HostAccess::Writes), vec![mem]))
    }

    fn clEnqueueCopyBuffer(
        c,
        queue,
        src_buffer: cl_mem,
        dst_buffer: cl_mem,
        src_offset: usize,
        dst_offset: usize,
        size: usize;
        cl::CL_COMMAND_COPY_BUFFER
    ) {
        let (src, dst) = (buffer_of(&queue, src_buffer)?, buffer_of(&queue, dst_buffer)?);
        let from = c.part(&src.region, src_offset, size)?;
        let to = c.part(&dst.region, dst_offset, size)?;
        let apart = from.address() + size <= to.address() || to.address() + size <= from.address();
        if !apart && size > 0 {
            note_reason(|| format!("source and destination overlap: {size} bytes at offsets {src_offset} and {dst_offset} of one buffer"));
            return Err(Error::MEM_COPY_OVERLAP);
        }
        report_mapped_use(&src, &from, false, "clEnqueueCopyBuffer");
        report_mapped_use(&dst, &to, true, "clEnqueueCopyBuffer");
        Ok(copy_regions(to, from, vec![src, dst]))
    }

    fn clEnqueueReadBufferRect(
        c,
        queue,
        buffer: cl_mem,
        blocking_read: cl_bool,
        buffer_origin: *const usize,
        host_origin: *const usize,
        region: *const usize,
        buffer_row_pitch: usize,
        buffer_slice_pitch: usize,
        host_row_pitch: usize,
        host_slice_pitch: usize,
        ptr: *mut c_void;
        cl::CL_COMMAND_READ_BUFFER_RECT, blocking_read
    ) {
        let mem = buffer_of(&queue, buffer)?;
        let pitches = [buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch];
        transfer_rectangle(c, &mem, HostAccess::Reads, buffer_origin, host_origin, region, pitches, ptr)
    }

    fn clEnqueueWriteBufferRect(
        c,
        queue,
        buffer: cl_mem,
        blocking_write: cl_bool,
        buffer_origin: *const usize,
        host_origin: *const usize,
        region: *const usize,
        buffer_row_pitch: usize,
        buffer_slice_pitch: usize,
        host_row_pitch: usize,
        host_slice_pitch: usize,
        ptr: *const c_void;
        cl::CL_COMMAND_WRITE_BUFFER_RECT, blocking_write
    ) {
        let mem = buffer_of(&queue, buffer)?;
        let pitches = [buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch];
        transfer_rectangle(c, &mem, HostAccess::Writes, buffer_origin, host_origin, region, pitches, ptr)
    }

    fn clEnqueueCopyBufferRect(
        c,
        queue,
        src_buffer: cl_mem,
        dst_buffer: cl_mem,
        src_origin: *const usize,
        dst_origin: *const usize,
        region: *const usize,
        src_row_pitch: usize,
        src_slice_pitch: usize,
        dst_row_pitch: usize,
        dst_slice_pitch: usize;
        cl::CL_COMMAND_COPY_BUFFER_RECT
    ) {
        let (src, dst) = (buffer_of(&queue, src_buffer)?, buffer_of(&queue, dst_buffer)?);
        let size = c.three_sizes(region)?;
        let from = rectangle_layout(c.three_sizes(src_origin)?, size, src_row_pitch, src_slice_pitch)?;
        let to = rectangle_layout(c.three_sizes(dst_origin)?, size, dst_row_pitch, dst_slice_pitch)?;
        let inside = |at: Layout3, mem: &Mem| {
            let fits = at.end(size).is_some_and(|end| end <= mem.region.len());
            if !fits {
                note_reason(|| format!("the rectangle is not inside of a buffer of {} bytes", mem.region.len()));
            }
            fits
        };
        if !inside(from, &src) || !inside(to, &dst) {
            return Err(Error::INVALID_VALUE);
        }
        if Arc::ptr_eq(&src, &dst) {
            if (from.row, from.slice) != (to.row, to.slice) {
                return Err(Error::INVALID_VALUE);
            }
            if boxes_overlap(from, to, size) {
                return Err(Error::MEM_COPY_OVERLAP);
            }
        }
        Ok(copy_box((dst.region.clone(), to), (src.region.clone(), from), size, vec![src, dst]))
    }

    fn clEnqueueFillBuffer(
        c,
        queue,
        buffer: cl_mem,
        pattern: *const c_void,
        pattern_size: usize,
        offset: usize,
        size: usize;
        cl::CL_COMMAND_FILL_BUFFER
    ) {
        let mem = buffer_of(&queue, buffer)?;
        let to = c.part(&mem.region, offset, size)?;
        if pattern.is_null() || !pattern_size.is_power_of_two() || pattern_size > 128 {
            return Err(Error::INVALID_VALUE);
        }
        if !offset.is_multiple_of(pattern_size) || !size.is_multiple_of(pattern_size) {
            return Err(Error::INVALID_VALUE);
        }
        let pattern = c.bytes(pattern, pattern_size).ok_or(Error::INVALID_VALUE)?;
        report_mapped_use(&mem, &to, true, "clEnqueueFillBuffer");
        Ok(Box::new(move || {
            to.fill(&pattern);
            drop(mem);
            Ok(())
        }))
    }

    fn clEnqueueUnmapMemObject(
        c,
        queue,
        memobj: cl_mem,
        mapped_ptr: *mut c_void;
        cl::CL_COMMAND_UNMAP_MEM_OBJECT
    ) {
        let mem = handle::get::<Mem>(memobj)?;
        check_same_context(&queue, &mem.context)?;
        mem.unmap(mapped_ptr as usize)?;
        // The bytes are where they were.
        Ok(Box::new(move || {
            drop(mem);
            Ok(())
        }))
    }

    fn clEnqueueMigrateMemObjects(
        c,
        queue,
        num_mem_objects: cl_uint,
        mem_objects: *const cl_mem,
        flags: cl_mem_migration_flags;
        cl::CL_COMMAND_MIGRATE_MEM_OBJECTS
    ) {
        let known = cl::CL_MIGRATE_MEM_OBJECT_HOST | cl::CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
        if num_mem_objects == 0 || mem_objects.is_null() || flags & !known != 0 {
            return Err(Error::INVALID_VALUE);
        }
        for handle in c.slice(mem_objects, num_mem_objects as usize).ok_or(Error::INVALID_VALUE)? {
            check_same_context(&queue, &handle::get::<Mem>(*handle)?.context)?;
        }
        Ok(Box::new(|| Ok(())))
    }
}

/// Tells of a command on bytes that are mapped.
fn report_mapped_use(mem: &Arc<Mem>, bytes: &Region, writes: bool, what: &str) {
    // Reading and writing by the pointer of a mapping itself is how some programs synchronise lent memory.
    if crate::report::is_checking() && mem.flags & cl::CL_MEM_USE_HOST_PTR == 0 {
        std::iter::once(mem)
            .chain(&mem.parent)
            .for_each(|m| m.maps.check_command_access(bytes, writes, what));
    }
}

/// Do two boxes of the same pitches in one buffer share bytes?
fn boxes_overlap(a: Layout3, b: Layout3, size: [usize; 3]) -> bool {
    let start = |l: Layout3| [l.offset % l.row, l.offset % l.slice / l.row, l.offset / l.slice];
    let (a, b) = (start(a), start(b));
    (0..3).all(|d| a[d] < b[d] + size[d] && b[d] < a[d] + size[d])
}

/// Whether a mapping may be had.
pub(super) fn check_map(mem: &Mem, flags: cl_map_flags) -> Result<()> {
    let known = cl::CL_MAP_READ | cl::CL_MAP_WRITE | cl::CL_MAP_WRITE_INVALIDATE_REGION;
    let invalidates = flags & cl::CL_MAP_WRITE_INVALIDATE_REGION != 0;
    if flags & !known != 0 || (invalidates && flags & (cl::CL_MAP_READ | cl::CL_MAP_WRITE) != 0) {
        return Err(Error::INVALID_VALUE);
    }
    if flags & cl::CL_MAP_READ != 0 {
        mem.host_may(HostAccess::Reads)?;
    }
    if flags & (cl::CL_MAP_WRITE | cl::CL_MAP_WRITE_INVALIDATE_REGION) != 0 {
        mem.host_may(HostAccess::Writes)?;
    }
    Ok(())
}

/// Begins a mapping at a place; what may be written through it is `reach`.
pub(super) fn begin_mapping(mem: &Arc<Mem>, place: &Region, reach: &Region, flags: cl_map_flags) -> Work {
    let writes = flags & (cl::CL_MAP_WRITE | cl::CL_MAP_WRITE_INVALIDATE_REGION) != 0;
    // Of an image it is not only the texels that are mapped.
    let discards = flags & cl::CL_MAP_WRITE_INVALIDATE_REGION != 0 && mem.image.is_none();
    mem.maps.note_map_enqueued(place.address(), reach, writes, discards);
    memory_in_use::release(&reach.range());
    memory_in_use::note(reach.range(), Use::Fills);
    if writes {
        // What the application writes there nobody sees.
        reach.note_write();
    }
    let (mem, address) = (mem.clone(), place.address());
    Box::new(move || {
        mem.maps.note_map_started(address, &mem.region);
        Ok(())
    })
}

/// Ends a call that maps memory: gives the pointer, or, if the call fails, takes the mapping back.
pub(super) fn finish_mapping(
    c: &Caller,
    done: Arc<Event>,
    event: *mut cl_event,
    blocking: bool,
    mem: &Mem,
    place: &Region,
) -> Result<*mut c_void> {
    finish_enqueue(c, done, event, blocking).inspect_err(|_| {
        let _ = mem.unmap(place.address());
    })?;
    Ok(place.pointer().cast())
}

create! {
    fn clEnqueueMapBuffer(
        c,
        command_queue: cl_command_queue,
        buffer: cl_mem,
        blocking_map: cl_bool,
        map_flags: cl_map_flags,
        offset: usize,
        size: usize,
        num_events_in_wait_list: cl_uint,
        event_wait_list: *const cl_event,
        event: *mut cl_event;
        errcode_ret
    ) {
        let (queue, after) = queue_and_wait_list(c, command_queue, num_events_in_wait_list, event_wait_list)?;
        let mem = buffer_of(&queue, buffer)?;
        if size == 0 {
            return Err(Error::INVALID_VALUE);
        }
        let place = c.part(&mem.region, offset, size)?;
        check_map(&mem, map_flags)?;
        let work = begin_mapping(&mem, &place, &place, map_flags);
        let done = queue.enqueue(cl::CL_COMMAND_MAP_BUFFER, Order::Normal, after, work)?;
        finish_mapping(c, done, event, blocking_map != 0, &mem, &place)
    }
}
