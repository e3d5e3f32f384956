//! Images and samplers, and the commands on images.

use std::sync::Arc;

use envisa_runtime::device::{Addressing, Sampler};
use envisa_runtime::host_memory::{Layout3, Region};

use super::entries;
use super::list::{Signals, append_command, transfer_region};
use crate::abi::{Cuboid, ImageDesc, ImageFilters, ImageId, ImageMemory, SamplerDesc};
use crate::caller::Caller;
use crate::core::command::Action;
use crate::core::device::Device;
use crate::core::error::{Error, Result};
use crate::core::handle::{self, Handle};
use crate::core::image::{Image, ImageRequest, SamplerObject};
use crate::core::list::List;
use crate::core::memory::Context;

fn parse_image_desc(c: &Caller, desc: *const ImageDesc) -> Result<ImageRequest> {
    let d = c.read(desc)?;
    if d.flags & !3 != 0 {
        return Err(Error::INVALID_ENUMERATION);
    }
    if d.levels > 1 {
        return Err(Error::UNSUPPORTED_FEATURE);
    }
    Ok(ImageRequest {
        kind: d.kind,
        layout: d.layout,
        channel: d.channel,
        swizzle: d.swizzle,
        size: [d.width, d.height.into(), d.depth.into()],
        layers: d.layers,
    })
}

/// A part of an image, if one is given.
fn image_part(c: &Caller, part: *const Cuboid) -> Option<([u32; 3], [u32; 3])> {
    c.read_optional(part).map(|p| (p.origin, p.size))
}

/// Rows of memory for rows of an image.
fn memory(
    c: &Caller,
    list: &List,
    address: usize,
    size: [usize; 3],
    (row, slice): (u32, u32),
) -> Result<(Region, Layout3)> {
    let row = if row == 0 { size[0] } else { row as usize };
    let slice = if slice == 0 { row * size[1] } else { slice as usize };
    let layout = Layout3 { offset: 0, row, slice };
    let end = layout.end(size).ok_or(Error::INVALID_SIZE)?;
    Ok((transfer_region(c, list, address, end)?, layout))
}

fn append_image_copy(
    c: &Caller,
    list: Handle,
    to: (Handle, *const Cuboid),
    from: (Handle, *const Cuboid),
    signals: Signals,
) -> Result<()> {
    let list = handle::get::<List>(list)?;
    let (target, source) = (handle::get::<Image>(to.0)?, handle::get::<Image>(from.0)?);
    let (target_part, source_part) = (image_part(c, to.1), image_part(c, from.1));
    let (to, at, size) = target.part(target_part)?;
    let (from, there, other) = source.part(source_part)?;
    if !target.has_same_texels(&source) || size != other {
        return Err(Error::INVALID_ARGUMENT);
    }
    append_command(c, &list, Action::CopyRows(to, at, from, there, size), signals)
}

fn out_of(
    c: &Caller,
    list: Handle,
    to: usize,
    image: Handle,
    from: *const Cuboid,
    pitch: (u32, u32),
    signals: Signals,
) -> Result<()> {
    let (list, image) = (handle::get::<List>(list)?, handle::get::<Image>(image)?);
    let (texels, at, size) = image.part(image_part(c, from))?;
    let (to, layout) = memory(c, &list, to, size, pitch)?;
    append_command(c, &list, Action::CopyRows(to, layout, texels, at, size), signals)
}

fn into(
    c: &Caller,
    list: Handle,
    image: Handle,
    from: usize,
    to: *const Cuboid,
    pitch: (u32, u32),
    signals: Signals,
) -> Result<()> {
    let (list, image) = (handle::get::<List>(list)?, handle::get::<Image>(image)?);
    let (texels, at, size) = image.part(image_part(c, to))?;
    let (from, layout) = memory(c, &list, from, size, pitch)?;
    append_command(c, &list, Action::CopyRows(texels, at, from, layout, size), signals)
}

fn accept_resident(context: Handle, device: Handle, image: Handle) -> Result<()> {
    handle::get::<Context>(context)?;
    handle::get::<Device>(device)?;
    handle::get::<Image>(image).map(drop)
}

fn create_view(
    c: &Caller,
    (context, device): (Handle, Handle),
    desc: *const ImageDesc,
    image: Handle,
    view: *mut Handle,
) -> Result<()> {
    handle::get::<Context>(context)?;
    let device = handle::get::<Device>(device)?;
    let image = handle::get::<Image>(image)?;
    let wanted = parse_image_desc(c, desc)?;
    if view.is_null() {
        return Err(Error::INVALID_NULL_POINTER);
    }
    c.write(view, handle::publish(&image.view(&device, &wanted)?))
}

entries! {
    fn zeImageGetProperties(c, device: Handle, desc: *const ImageDesc, properties: *mut ImageFilters) {
        handle::get::<Device>(device)?;
        parse_image_desc(c, desc)?;
        // Nearest and linear.
        c.change(properties, |p| p.flags = 3)
    }

    fn zeImageCreate(c, context: Handle, device: Handle, desc: *const ImageDesc, image: *mut Handle) {
        handle::get::<Context>(context)?;
        let device = handle::get::<Device>(device)?;
        let wanted = parse_image_desc(c, desc)?;
        if image.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        c.write(image, handle::publish(&Image::new(&device, &wanted)?))
    }

    fn zeImageViewCreateExt(
        c, context: Handle, device: Handle, desc: *const ImageDesc, image: Handle, view: *mut Handle,
    ) {
        create_view(c, (context, device), desc, image, view)
    }

    fn zeImageViewCreateExp(
        c, context: Handle, device: Handle, desc: *const ImageDesc, image: Handle, view: *mut Handle,
    ) {
        create_view(c, (context, device), desc, image, view)
    }

    fn zeImageGetAllocPropertiesExt(c, context: Handle, image: Handle, properties: *mut ImageId) {
        handle::get::<Context>(context)?;
        let image = handle::get::<Image>(image)?;
        c.change(properties, |p| p.id = image.id)
    }

    fn zeImageGetMemoryPropertiesExp(c, image: Handle, properties: *mut ImageMemory) {
        let image = handle::get::<Image>(image)?;
        c.change(properties, |p| (p.size, p.row, p.slice) = image.bytes())
    }

    fn zeImageDestroy(_c, image: Handle) {
        handle::destroy::<Image>(image).map(drop)
    }

    fn zeContextMakeImageResident(_c, context: Handle, device: Handle, image: Handle) {
        accept_resident(context, device, image)
    }

    fn zeContextEvictImage(_c, context: Handle, device: Handle, image: Handle) {
        accept_resident(context, device, image)
    }

    fn zeSamplerCreate(c, context: Handle, device: Handle, desc: *const SamplerDesc, sampler: *mut Handle) {
        handle::get::<Context>(context)?;
        let device = handle::get::<Device>(device)?;
        let desc = c.read(desc)?;
        if !device.spec.images {
            return Err(Error::UNSUPPORTED_FEATURE);
        }
        let addressing = match desc.address {
            0 => Addressing::None,
            1 => Addressing::Repeat,
            2 => Addressing::ClampToEdge,
            3 => Addressing::Clamp,
            4 => Addressing::MirroredRepeat,
            _ => return Err(Error::INVALID_ENUMERATION),
        };
        if desc.filter > 1 {
            return Err(Error::INVALID_ENUMERATION);
        }
        let made = Sampler::new(addressing, desc.filter == 1, desc.normalized != 0);
        if sampler.is_null() {
            return Err(Error::INVALID_NULL_POINTER);
        }
        c.write(sampler, handle::publish(&Arc::new(SamplerObject(made))))
    }

    fn zeSamplerDestroy(_c, sampler: Handle) {
        handle::destroy::<SamplerObject>(sampler).map(drop)
    }

    fn zeCommandListAppendImageCopy(c, list: Handle, to: Handle, from: Handle, signal: Handle, n: u32, waits: *const Handle) {
        append_image_copy(c, list, (to, std::ptr::null()), (from, std::ptr::null()), (signal, n, waits))
    }

    fn zeCommandListAppendImageCopyRegion(
        c, list: Handle, to: Handle, from: Handle, to_region: *const Cuboid, from_region: *const Cuboid, signal: Handle,
        n: u32, waits: *const Handle,
    ) {
        append_image_copy(c, list, (to, to_region), (from, from_region), (signal, n, waits))
    }

    fn zeCommandListAppendImageCopyToMemory(
        c, list: Handle, to: usize, image: Handle, from: *const Cuboid, signal: Handle, n: u32, waits: *const Handle,
    ) {
        out_of(c, list, to, image, from, (0, 0), (signal, n, waits))
    }

    fn zeCommandListAppendImageCopyFromMemory(
        c, list: Handle, image: Handle, from: usize, to: *const Cuboid, signal: Handle, n: u32, waits: *const Handle,
    ) {
        into(c, list, image, from, to, (0, 0), (signal, n, waits))
    }

    fn zeCommandListAppendImageCopyToMemoryExt(
        c, list: Handle, to: usize, image: Handle, from: *const Cuboid, row: u32, slice: u32, signal: Handle, n: u32,
        waits: *const Handle,
    ) {
        out_of(c, list, to, image, from, (row, slice), (signal, n, waits))
    }

    fn zeCommandListAppendImageCopyFromMemoryExt(
        c, list: Handle, image: Handle, from: usize, to: *const Cuboid, row: u32, slice: u32, signal: Handle, n: u32,
        waits: *const Handle,
    ) {
        into(c, list, image, from, to, (row, slice), (signal, n, waits))
    }
}
