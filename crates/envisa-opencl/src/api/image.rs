//! Images and samplers.

use std::ffi::c_void;
use std::sync::Arc;

use opencl_sys::{
    self as cl, cl_addressing_mode, cl_bool, cl_command_queue, cl_context, cl_event, cl_filter_mode,
    cl_image_desc, cl_image_format, cl_map_flags, cl_mem, cl_mem_flags, cl_mem_object_type,
    cl_mem_properties, cl_sampler, cl_sampler_properties, cl_uint,
};

use super::buffer::{check_properties, object_memory};
use super::enqueue::{begin_mapping, buffer_of, check_map, copy_box, finish_mapping, transfer_box};
use super::{Caller, check_same_context, command, counted, create, entry, query, queue_and_wait_list};
use crate::core::context::Context;
use crate::core::error::{Error, Result};
use crate::core::format::{Format, supported_formats};
use crate::core::handle;
use crate::core::host_memory::Layout3;
use crate::core::info::Answer;
use crate::core::mem::{HostAccess, ImageInfo, Mem, Parts, Sampler, check_flags, inherit_flags};
use crate::core::platform::{IMAGE_2D, IMAGE_LAYERS};
use crate::core::queue::{Order, Queue, Work};

/// What an image is to be.
#[derive(Clone, Copy)]
struct Wanted {
    kind: cl_mem_object_type,
    width: usize,
    height: usize,
    depth: usize,
    layers: usize,
    row_pitch: usize,
    slice_pitch: usize,
    source: cl_mem,
}

impl Wanted {
    fn of(desc: &cl_image_desc) -> Result<Wanted> {
        if desc.num_mip_levels != 0 || desc.num_samples != 0 {
            return Err(Error::INVALID_IMAGE_DESCRIPTOR);
        }
        Ok(Wanted {
            kind: desc.image_type,
            width: desc.image_width,
            height: desc.image_height,
            depth: desc.image_depth,
            layers: desc.image_array_size,
            row_pitch: desc.image_row_pitch,
            slice_pitch: desc.image_slice_pitch,
            source: desc.buffer,
        })
    }

    /// Sizes by kind; what the kind has not becomes zero.
    fn sizes(mut self, devices_max: usize) -> Result<Wanted> {
        let (height, depth, layers) = match self.kind {
            cl::CL_MEM_OBJECT_IMAGE1D | cl::CL_MEM_OBJECT_IMAGE1D_BUFFER => (false, false, false),
            cl::CL_MEM_OBJECT_IMAGE1D_ARRAY => (false, false, true),
            cl::CL_MEM_OBJECT_IMAGE2D => (true, false, false),
            cl::CL_MEM_OBJECT_IMAGE2D_ARRAY => (true, false, true),
            cl::CL_MEM_OBJECT_IMAGE3D => (true, true, false),
            _ => return Err(Error::INVALID_IMAGE_DESCRIPTOR),
        };
        let widest = if self.kind == cl::CL_MEM_OBJECT_IMAGE1D_BUFFER { devices_max } else { IMAGE_2D };
        let check = |has: bool, n: &mut usize, most: usize| {
            if !has {
                *n = 0;
                return Ok(());
            }
            if *n == 0 || *n > most { Err(Error::INVALID_IMAGE_SIZE) } else { Ok(()) }
        };
        check(true, &mut self.width, widest)?;
        check(height, &mut self.height, IMAGE_2D)?;
        check(depth, &mut self.depth, IMAGE_LAYERS)?;
        check(layers, &mut self.layers, IMAGE_LAYERS)?;
        Ok(self)
    }

    /// The image with its pitches, for memory of the application or of ours.
    fn layout(self, format: Format, host: bool) -> Result<ImageInfo> {
        let texel = format.texel()?;
        let tight = self.width * texel;
        let given = |pitch: usize, least: usize| -> Result<usize> {
            match pitch {
                0 => Ok(least),
                _ if !host => Err(Error::INVALID_IMAGE_DESCRIPTOR),
                p if p < least => Err(Error::INVALID_IMAGE_DESCRIPTOR),
                p => Ok(p),
            }
        };
        let row = given(self.row_pitch, tight)?;
        if !row.is_multiple_of(texel) {
            return Err(Error::INVALID_IMAGE_DESCRIPTOR);
        }
        let plane = row.checked_mul(self.height.max(1)).ok_or(Error::INVALID_IMAGE_SIZE)?;
        let layered = matches!(
            self.kind,
            cl::CL_MEM_OBJECT_IMAGE3D | cl::CL_MEM_OBJECT_IMAGE2D_ARRAY | cl::CL_MEM_OBJECT_IMAGE1D_ARRAY
        );
        let slice = if layered { given(self.slice_pitch, plane)? } else { 0 };
        if layered && !slice.is_multiple_of(row) {
            return Err(Error::INVALID_IMAGE_DESCRIPTOR);
        }
        Ok(ImageInfo {
            kind: self.kind,
            format,
            width: self.width,
            height: self.height,
            depth: self.depth,
            layers: self.layers,
            texel,
            row_pitch: row,
            slice_pitch: slice,
        })
    }
}

fn image(
    c: &Caller,
    context: cl_context,
    properties: Vec<u64>,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    wanted: Option<Wanted>,
    host: *mut c_void,
) -> Result<*mut c_void> {
    let context = handle::get::<Context>(context)?;
    if !context.devices.iter().any(|d| d.spec.images) {
        return Err(Error::INVALID_OPERATION);
    }
    let raw = c.read(format).ok_or(Error::INVALID_IMAGE_FORMAT_DESCRIPTOR)?;
    let format = Format { order: raw.image_channel_order, channel: raw.image_channel_data_type };
    format.texel()?;
    let wanted = wanted.ok_or(Error::INVALID_IMAGE_DESCRIPTOR)?;
    let longest = context.devices.iter().map(|d| d.max_allocation()).max().unwrap_or(0) as usize;
    let wanted = wanted.sizes(longest)?;
    if !wanted.source.is_null() {
        return from_memory(&context, properties, flags, format, wanted);
    }
    if wanted.kind == cl::CL_MEM_OBJECT_IMAGE1D_BUFFER {
        return Err(Error::INVALID_IMAGE_DESCRIPTOR);
    }
    let flags = check_flags(flags, !host.is_null())?;
    if !supported_formats(flags, wanted.kind).contains(&format) {
        return Err(Error::IMAGE_FORMAT_NOT_SUPPORTED);
    }
    let info = wanted.layout(format, !host.is_null())?;
    let bytes = info.bytes().ok_or(Error::INVALID_IMAGE_SIZE)?;
    let region = object_memory(c, &context, flags, host, bytes).map_err(|e| match e {
        Error::INVALID_BUFFER_SIZE => Error::MEM_OBJECT_ALLOCATION_FAILURE,
        e => e,
    })?;
    let uses = flags & cl::CL_MEM_USE_HOST_PTR != 0;
    let mem = Mem::new(Parts {
        context,
        flags,
        region,
        host_pointer: if uses { host as usize } else { 0 },
        properties,
        image: Some(info),
        parent: None,
    });
    Ok(handle::publish(&mem))
}

/// An image of a buffer's bytes, or of another image's with another format.
fn from_memory(
    context: &Arc<Context>,
    properties: Vec<u64>,
    flags: cl_mem_flags,
    format: Format,
    wanted: Wanted,
) -> Result<*mut c_void> {
    let source = handle::get::<Mem>(wanted.source).map_err(|_| Error::INVALID_IMAGE_DESCRIPTOR)?;
    if !Arc::ptr_eq(&source.context, context) {
        return Err(Error::INVALID_CONTEXT);
    }
    let flags = inherit_flags(source.flags, flags)?;
    if !supported_formats(flags, wanted.kind).contains(&format) {
        return Err(Error::IMAGE_FORMAT_NOT_SUPPORTED);
    }
    let info = match &source.image {
        Some(image) => {
            let same = (image.kind, image.width, image.height) == (wanted.kind, wanted.width, wanted.height);
            if wanted.kind != cl::CL_MEM_OBJECT_IMAGE2D || !same {
                return Err(Error::INVALID_IMAGE_DESCRIPTOR);
            }
            if format.texel()? != image.texel {
                return Err(Error::INVALID_IMAGE_FORMAT_DESCRIPTOR);
            }
            ImageInfo { format, ..*image }
        }
        None if wanted.kind == cl::CL_MEM_OBJECT_IMAGE1D_BUFFER
            || wanted.kind == cl::CL_MEM_OBJECT_IMAGE2D =>
        {
            wanted.layout(format, true)?
        }
        None => return Err(Error::INVALID_IMAGE_DESCRIPTOR),
    };
    let bytes = info.bytes().ok_or(Error::INVALID_IMAGE_SIZE)?;
    let region = source.region.part(0, bytes).ok_or(Error::INVALID_IMAGE_SIZE)?;
    let mem = Mem::new(Parts {
        context: context.clone(),
        flags,
        region,
        host_pointer: source.host_pointer,
        properties,
        image: Some(info),
        parent: Some((source, 0)),
    });
    Ok(handle::publish(&mem))
}

create! {
    fn clCreateImage(
        c,
        context: cl_context,
        flags: cl_mem_flags,
        image_format: *const cl_image_format,
        image_desc: *const cl_image_desc,
        host_ptr: *mut c_void;
        errcode_ret
    ) {
        let wanted = c.read(image_desc).map(|d| Wanted::of(&d)).transpose()?;
        image(c, context, Vec::new(), flags, image_format, wanted, host_ptr)
    }

    fn clCreateImageWithProperties(
        c,
        context: cl_context,
        properties_: *const cl_mem_properties,
        flags: cl_mem_flags,
        image_format: *const cl_image_format,
        image_desc: *const cl_image_desc,
        host_ptr: *mut c_void;
        errcode_ret
    ) {
        let wanted = c.read(image_desc).map(|d| Wanted::of(&d)).transpose()?;
        image(c, context, check_properties(c, properties_)?, flags, image_format, wanted, host_ptr)
    }

    fn clCreateImage2D(
        c,
        context: cl_context,
        flags: cl_mem_flags,
        image_format: *const cl_image_format,
        image_width: usize,
        image_height: usize,
        image_row_pitch: usize,
        host_ptr: *mut c_void;
        errcode_ret
    ) {
        let wanted = Wanted {
            kind: cl::CL_MEM_OBJECT_IMAGE2D,
            width: image_width,
            height: image_height,
            depth: 0,
            layers: 0,
            row_pitch: image_row_pitch,
            slice_pitch: 0,
            source: std::ptr::null_mut(),
        };
        image(c, context, Vec::new(), flags, image_format, Some(wanted), host_ptr)
    }

    fn clCreateImage3D(
        c,
        context: cl_context,
        flags: cl_mem_flags,
        image_format: *const cl_image_format,
        image_width: usize,
        image_height: usize,
        image_depth: usize,
        image_row_pitch: usize,
        image_slice_pitch: usize,
        host_ptr: *mut c_void;
        errcode_ret
    ) {
        let wanted = Wanted {
            kind: cl::CL_MEM_OBJECT_IMAGE3D,
            width: image_width,
            height: image_height,
            depth: image_depth,
            layers: 0,
            row_pitch: image_row_pitch,
            slice_pitch: image_slice_pitch,
            source: std::ptr::null_mut(),
        };
        image(c, context, Vec::new(), flags, image_format, Some(wanted), host_ptr)
    }

    fn clCreateSampler(
        _c,
        context: cl_context,
        normalized_coords: cl_bool,
        addressing_mode: cl_addressing_mode,
        filter_mode: cl_filter_mode;
        errcode_ret
    ) {
        let context = handle::get::<Context>(context)?;
        let sampler =
            Sampler::new(context, normalized_coords != 0, addressing_mode, filter_mode, Vec::new())?;
        Ok(handle::publish(&sampler))
    }

    fn clCreateSamplerWithProperties(
        c,
        context: cl_context,
        sampler_properties: *const cl_sampler_properties;
        errcode_ret
    ) {
        let context = handle::get::<Context>(context)?;
        let list = c.zero_terminated(sampler_properties);
        let (mut normalized, mut addressing, mut filter) = (true, cl::CL_ADDRESS_CLAMP, cl::CL_FILTER_NEAREST);
        let mut seen = Vec::new();
        for pair in list.chunks(2) {
            let [key, value] = *pair else { continue };
            if seen.contains(&key) {
                return Err(Error::INVALID_VALUE);
            }
            seen.push(key);
            match key as u32 {
                cl::CL_SAMPLER_NORMALIZED_COORDS => normalized = value != 0,
                cl::CL_SAMPLER_ADDRESSING_MODE => addressing = value as u32,
                cl::CL_SAMPLER_FILTER_MODE => filter = value as u32,
                _ => return Err(Error::INVALID_VALUE),
            }
        }
        Ok(handle::publish(&Sampler::new(context, normalized, addressing, filter, list)?))
    }

    fn clEnqueueMapImage(
        c,
        command_queue: cl_command_queue,
        image: cl_mem,
        blocking_map: cl_bool,
        map_flags: cl_map_flags,
        origin: *const usize,
        region: *const usize,
        image_row_pitch: *mut usize,
        image_slice_pitch: *mut usize,
        num_events_in_wait_list: cl_uint,
        event_wait_list: *const cl_event,
        event: *mut cl_event;
        errcode_ret
    ) {
        let (queue, after) = queue_and_wait_list(c, command_queue, num_events_in_wait_list, event_wait_list)?;
        let mem = image_of(&queue, image)?;
        let info = *mem.as_image()?;
        let (origin, size) = (c.three_sizes(origin)?, c.three_sizes(region)?);
        info.check_inside(origin, size)?;
        check_map(&mem, map_flags)?;
        let layered = info.slice_pitch != 0;
        if image_row_pitch.is_null() || (layered && image_slice_pitch.is_null()) {
            return Err(Error::INVALID_VALUE);
        }
        let at = info.place(origin);
        let place = mem.region.part(at.offset, info.texel).ok_or(Error::INVALID_VALUE)?;
        let end = at.end([size[0] * info.texel, size[1], size[2]]).ok_or(Error::INVALID_VALUE)?;
        let reach = mem.region.part(at.offset, end - at.offset).ok_or(Error::INVALID_VALUE)?;
        let work = begin_mapping(&mem, &place, &reach, map_flags);
        let done = queue.enqueue(cl::CL_COMMAND_MAP_IMAGE, Order::Normal, after, work)?;
        let pointer = finish_mapping(c, done, event, blocking_map != 0, &mem, &place)?;
        c.write(image_row_pitch, info.row_pitch);
        c.write(image_slice_pitch, info.slice_pitch);
        Ok(pointer)
    }
}

fn image_of(queue: &Queue, handle: cl_mem) -> Result<Arc<Mem>> {
    let mem = handle::get::<Mem>(handle)?;
    mem.as_image()?;
    check_same_context(queue, &mem.context)?;
    if !queue.device.spec.images {
        return Err(Error::INVALID_OPERATION);
    }
    Ok(mem)
}

/// The application's memory for a box of texels: its layout, its bytes.
fn host_layout(
    info: &ImageInfo,
    size: [usize; 3],
    row_pitch: usize,
    slice_pitch: usize,
) -> Result<(Layout3, [usize; 3])> {
    let bytes = [size[0] * info.texel, size[1], size[2]];
    let row = if row_pitch == 0 { bytes[0] } else { row_pitch };
    let array = info.kind == cl::CL_MEM_OBJECT_IMAGE1D_ARRAY;
    let least = if array { row } else { row.checked_mul(bytes[1]).ok_or(Error::INVALID_VALUE)? };
    let slice = if slice_pitch == 0 { least } else { slice_pitch };
    if row < bytes[0] || slice < least {
        return Err(Error::INVALID_VALUE);
    }
    // Layers of a row each are one after the other at the slice pitch.
    let (row, slice) = if array { (slice, slice) } else { (row, slice) };
    Ok((Layout3 { offset: 0, row, slice }, bytes))
}

#[allow(clippy::too_many_arguments, reason = "the call has as many")]
fn transfer_image(
    c: &Caller,
    mem: Arc<Mem>,
    access: HostAccess,
    origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    ptr: *const c_void,
) -> Result<Work> {
    let info = *mem.as_image()?;
    let (origin, size) = (c.three_sizes(origin)?, c.three_sizes(region)?);
    info.check_inside(origin, size)?;
    if ptr.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    mem.host_may(access)?;
    let (outside, bytes) = host_layout(&info, size, row_pitch, slice_pitch)?;
    let len = outside.end(bytes).ok_or(Error::INVALID_VALUE)?;
    let host = c.transfer_rows(ptr, (outside, bytes), len, access);
    let inside = info.place(origin);
    Ok(transfer_box(mem, access, inside, (host, outside), bytes))
}

fn info_of(image: &Mem, what: cl_uint) -> Result<Answer> {
    let info = image.as_image()?;
    Ok(match what {
        cl::CL_IMAGE_FORMAT => [info.format.order, info.format.channel].into(),
        cl::CL_IMAGE_ELEMENT_SIZE => info.texel.into(),
        cl::CL_IMAGE_ROW_PITCH => info.row_pitch.into(),
        cl::CL_IMAGE_SLICE_PITCH => info.slice_pitch.into(),
        cl::CL_IMAGE_WIDTH => info.width.into(),
        cl::CL_IMAGE_HEIGHT => info.height.into(),
        cl::CL_IMAGE_DEPTH => info.depth.into(),
        cl::CL_IMAGE_ARRAY_SIZE => info.layers.into(),
        cl::CL_IMAGE_BUFFER => {
            let parent = image.parent.as_ref().filter(|p| p.image.is_none());
            parent.map_or(std::ptr::null_mut(), |p| handle::of(&**p)).into()
        }
        cl::CL_IMAGE_NUM_MIP_LEVELS | cl::CL_IMAGE_NUM_SAMPLES => 0u32.into(),
        _ => return Err(Error::INVALID_VALUE),
    })
}

counted!(Sampler, clRetainSampler, clReleaseSampler, sampler: cl_sampler);

query! {
    fn clGetImageInfo(_c, image: cl_mem; param_name) {
        info_of(&*handle::get::<Mem>(image)?, param_name)
    }

    fn clGetSamplerInfo(_c, sampler: cl_sampler; param_name) {
        let sampler = handle::get::<Sampler>(sampler)?;
        Ok(match param_name {
            cl::CL_SAMPLER_REFERENCE_COUNT => handle::references(&*sampler).into(),
            cl::CL_SAMPLER_CONTEXT => handle::of(&*sampler.context).into(),
            cl::CL_SAMPLER_NORMALIZED_COORDS => sampler.normalized.into(),
            cl::CL_SAMPLER_ADDRESSING_MODE => sampler.addressing.into(),
            cl::CL_SAMPLER_FILTER_MODE => sampler.filter.into(),
            cl::CL_SAMPLER_PROPERTIES => sampler.properties.clone().into(),
            _ => return Err(Error::INVALID_VALUE),
        })
    }
}

entry! {
    fn clGetSupportedImageFormats(
        c,
        context: cl_context,
        flags: cl_mem_flags,
        image_type: cl_mem_object_type,
        num_entries: cl_uint,
        image_formats: *mut cl_image_format,
        num_image_formats: *mut cl_uint,
    ) {
        let context = handle::get::<Context>(context)?;
        if num_entries == 0 && !image_formats.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        if !matches!(
            image_type,
            cl::CL_MEM_OBJECT_IMAGE1D
                | cl::CL_MEM_OBJECT_IMAGE1D_BUFFER
                | cl::CL_MEM_OBJECT_IMAGE1D_ARRAY
                | cl::CL_MEM_OBJECT_IMAGE2D
                | cl::CL_MEM_OBJECT_IMAGE2D_ARRAY
                | cl::CL_MEM_OBJECT_IMAGE3D
        ) {
            return Err(Error::INVALID_VALUE);
        }
        let images = context.devices.iter().any(|d| d.spec.images);
        let all = if images { supported_formats(flags, image_type) } else { Vec::new() };
        let raw: Vec<cl_image_format> = all
            .iter()
            .map(|f| cl_image_format { image_channel_order: f.order, image_channel_data_type: f.channel })
            .collect();
        if !image_formats.is_null() {
            c.write_all(image_formats, &raw[..raw.len().min(num_entries as usize)]);
        }
        c.write(num_image_formats, raw.len() as cl_uint);
        Ok(())
    }
}

command! {
    fn clEnqueueReadImage(
        c,
        queue,
        image: cl_mem,
        blocking_read: cl_bool,
        origin: *const usize,
        region: *const usize,
        row_pitch: usize,
        slice_pitch: usize,
        ptr: *mut c_void;
        cl::CL_COMMAND_READ_IMAGE, blocking_read
    ) {
        let mem = image_of(&queue, image)?;
        transfer_image(c, mem, HostAccess::Reads, origin, region, row_pitch, slice_pitch, ptr)
    }

    fn clEnqueueWriteImage(
        c,
        queue,
        image: cl_mem,
        blocking_write: cl_bool,
        origin: *const usize,
        region: *const usize,
        input_row_pitch: usize,
        input_slice_pitch: usize,
        ptr: *const c_void;
        cl::CL_COMMAND_WRITE_IMAGE, blocking_write
    ) {
        let mem = image_of(&queue, image)?;
        transfer_image(c, mem, HostAccess::Writes, origin, region, input_row_pitch, input_slice_pitch, ptr)
    }

    fn clEnqueueCopyImage(
        c,
        queue,
        src_image: cl_mem,
        dst_image: cl_mem,
        src_origin: *const usize,
        dst_origin: *const usize,
        region: *const usize;
        cl::CL_COMMAND_COPY_IMAGE
    ) {
        let (src, dst) = (image_of(&queue, src_image)?, image_of(&queue, dst_image)?);
        let (from, to) = (*src.as_image()?, *dst.as_image()?);
        if from.format != to.format {
            return Err(Error::IMAGE_FORMAT_MISMATCH);
        }
        let (a, b, size) = (c.three_sizes(src_origin)?, c.three_sizes(dst_origin)?, c.three_sizes(region)?);
        from.check_inside(a, size)?;
        to.check_inside(b, size)?;
        if Arc::ptr_eq(&src, &dst) && (0..3).all(|d| a[d] < b[d] + size[d] && b[d] < a[d] + size[d]) {
            return Err(Error::MEM_COPY_OVERLAP);
        }
        let bytes = [size[0] * from.texel, size[1], size[2]];
        let (at, into) = (from.place(a), to.place(b));
        Ok(copy_box((dst.region.clone(), into), (src.region.clone(), at), bytes, vec![src, dst]))
    }

    fn clEnqueueCopyImageToBuffer(
        c,
        queue,
        src_image: cl_mem,
        dst_buffer: cl_mem,
        src_origin: *const usize,
        region: *const usize,
        dst_offset: usize;
        cl::CL_COMMAND_COPY_IMAGE_TO_BUFFER
    ) {
        let (src, dst) = (image_of(&queue, src_image)?, buffer_of(&queue, dst_buffer)?);
        copy_image_and_buffer(c, src, dst, true, src_origin, region, dst_offset)
    }

    fn clEnqueueCopyBufferToImage(
        c,
        queue,
        src_buffer: cl_mem,
        dst_image: cl_mem,
        src_offset: usize,
        dst_origin: *const usize,
        region: *const usize;
        cl::CL_COMMAND_COPY_BUFFER_TO_IMAGE
    ) {
        let (src, dst) = (buffer_of(&queue, src_buffer)?, image_of(&queue, dst_image)?);
        copy_image_and_buffer(c, dst, src, false, dst_origin, region, src_offset)
    }

    fn clEnqueueFillImage(
        c,
        queue,
        image: cl_mem,
        fill_color: *const c_void,
        origin: *const usize,
        region: *const usize;
        cl::CL_COMMAND_FILL_IMAGE
    ) {
        let mem = image_of(&queue, image)?;
        let info = *mem.as_image()?;
        let (origin, size) = (c.three_sizes(origin)?, c.three_sizes(region)?);
        info.check_inside(origin, size)?;
        let first = c.read(fill_color.cast::<u32>()).ok_or(Error::INVALID_VALUE)?;
        // A depth is one float.
        let colour = if info.format.order == cl::CL_DEPTH {
            [first; 4]
        } else {
            c.read(fill_color.cast::<[u32; 4]>()).ok_or(Error::INVALID_VALUE)?
        };
        let texel = info.format.encode(colour)?;
        Ok(Box::new(move || {
            let at = info.place(origin);
            for plane in 0..size[2] {
                for row in 0..size[1] {
                    let offset = at.offset + plane * at.slice + row * at.row;
                    if let Some(line) = mem.region.part(offset, size[0] * info.texel) {
                        line.fill(&texel);
                    }
                }
            }
            Ok(())
        }))
    }
}

/// A copy between an image and tightly packed bytes of a buffer.
fn copy_image_and_buffer(
    c: &Caller,
    image: Arc<Mem>,
    buffer: Arc<Mem>,
    out: bool,
    origin: *const usize,
    region: *const usize,
    offset: usize,
) -> Result<Work> {
    let info = *image.as_image()?;
    let (origin, size) = (c.three_sizes(origin)?, c.three_sizes(region)?);
    info.check_inside(origin, size)?;
    let (mut outside, bytes) = host_layout(&info, size, 0, 0)?;
    outside.offset = offset;
    if outside.end(bytes).is_none_or(|end| end > buffer.region.len()) {
        return Err(Error::INVALID_VALUE);
    }
    let inside = info.place(origin);
    let (texels, packed) = ((image.region.clone(), inside), (buffer.region.clone(), outside));
    let (to, from) = if out { (packed, texels) } else { (texels, packed) };
    Ok(copy_box(to, from, bytes, vec![image, buffer]))
}
