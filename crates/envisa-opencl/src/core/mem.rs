//! Buffers, images and samplers.

use std::sync::{Arc, Mutex};

use opencl_sys as cl;

use super::context::{Context, Destructor};
use super::error::{Error, Result};
use super::event::call_back;
use super::format::Format;
use super::handle::{Object, Slot};
use super::host_memory::{Layout3, Region};
use super::maps::Maps;

/// A buffer or an image.
pub struct Mem {
    slot: Slot,
    /// Its context.
    pub context: Arc<Context>,
    /// `CL_MEM_*` flags.
    pub flags: u64,
    /// Its bytes.
    pub region: Region,
    /// Offset in the parent.
    pub offset: usize,
    /// What it is a part of, or made from.
    pub parent: Option<Arc<Mem>>,
    /// The pointer given with `CL_MEM_USE_HOST_PTR`, as a number.
    pub host_pointer: usize,
    /// Properties as given.
    pub properties: Vec<u64>,
    /// Of images.
    pub image: Option<ImageInfo>,
    /// Its mappings.
    pub maps: Maps,
    destructors: Mutex<Vec<Destructor>>,
}

/// What is fixed of an image.
#[derive(Clone, Copy, Debug)]
pub struct ImageInfo {
    /// `CL_MEM_OBJECT_IMAGE*`.
    pub kind: u32,
    /// Its format.
    pub format: Format,
    /// Texels of a row, rows, planes; as given, zero where the kind has none.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Planes.
    pub depth: usize,
    /// Layers.
    pub layers: usize,
    /// Bytes of a texel.
    pub texel: usize,
    /// Bytes from row to row.
    pub row_pitch: usize,
    /// Bytes from plane to plane, or layer to layer.
    pub slice_pitch: usize,
}

impl Object for Mem {
    const INVALID: Error = Error::INVALID_MEM_OBJECT;
    fn slot(&self) -> &Slot {
        &self.slot
    }
}

/// What a new memory object is made of.
pub struct Parts {
    /// Its context.
    pub context: Arc<Context>,
    /// Checked flags.
    pub flags: u64,
    /// Its bytes.
    pub region: Region,
    /// The pointer given with `CL_MEM_USE_HOST_PTR`.
    pub host_pointer: usize,
    /// Properties as given.
    pub properties: Vec<u64>,
    /// Of images.
    pub image: Option<ImageInfo>,
    /// What it is a part of, and where.
    pub parent: Option<(Arc<Mem>, usize)>,
}

const ACCESS: u64 = cl::CL_MEM_READ_WRITE | cl::CL_MEM_READ_ONLY | cl::CL_MEM_WRITE_ONLY;
const HOST_ACCESS: u64 = cl::CL_MEM_HOST_NO_ACCESS | cl::CL_MEM_HOST_READ_ONLY | cl::CL_MEM_HOST_WRITE_ONLY;
const HOST_POINTER: u64 = cl::CL_MEM_USE_HOST_PTR | cl::CL_MEM_ALLOC_HOST_PTR | cl::CL_MEM_COPY_HOST_PTR;

/// Checks flags of a buffer or image; without an access flag it can be read and written.
///
/// # Errors
/// If flags are unknown or exclude each other.
pub fn check_flags(flags: u64, host_pointer: bool) -> Result<u64> {
    // Intel's flags for where and how memory is placed mean nothing here.
    let ignored = (1 << 20) | (1 << 22) | (1 << 23) | (1 << 24);
    let known = ACCESS | HOST_ACCESS | HOST_POINTER | cl::CL_MEM_KERNEL_READ_AND_WRITE | ignored;
    let uses = flags & cl::CL_MEM_USE_HOST_PTR != 0;
    let exclusive = uses && flags & (cl::CL_MEM_ALLOC_HOST_PTR | cl::CL_MEM_COPY_HOST_PTR) != 0;
    if flags & !known != 0
        || (flags & ACCESS).count_ones() > 1
        || (flags & HOST_ACCESS).count_ones() > 1
        || exclusive
    {
        return Err(Error::INVALID_VALUE);
    }
    if host_pointer != (flags & (cl::CL_MEM_USE_HOST_PTR | cl::CL_MEM_COPY_HOST_PTR) != 0) {
        return Err(Error::INVALID_HOST_PTR);
    }
    let default = if flags & ACCESS == 0 { cl::CL_MEM_READ_WRITE } else { 0 };
    Ok((flags & !ignored) | default)
}

/// Flags of a part: what is not said is inherited.
///
/// # Errors
/// If the part may do what the whole may not, or flags of host pointers are given.
pub fn inherit_flags(parent: u64, flags: u64) -> Result<u64> {
    let mut access = flags & ACCESS;
    let whole = parent & ACCESS;
    let wrong = access.count_ones() > 1
        || flags & HOST_POINTER != 0
        || (whole == cl::CL_MEM_WRITE_ONLY && access & (cl::CL_MEM_READ_WRITE | cl::CL_MEM_READ_ONLY) != 0)
        || (whole == cl::CL_MEM_READ_ONLY && access & (cl::CL_MEM_READ_WRITE | cl::CL_MEM_WRITE_ONLY) != 0);
    let mut host = flags & HOST_ACCESS;
    let whole_host = parent & HOST_ACCESS;
    let wrong_host = host.count_ones() > 1
        || (whole_host == cl::CL_MEM_HOST_WRITE_ONLY && host & cl::CL_MEM_HOST_READ_ONLY != 0)
        || (whole_host == cl::CL_MEM_HOST_READ_ONLY && host & cl::CL_MEM_HOST_WRITE_ONLY != 0)
        || (whole_host == cl::CL_MEM_HOST_NO_ACCESS
            && host & (cl::CL_MEM_HOST_READ_ONLY | cl::CL_MEM_HOST_WRITE_ONLY) != 0);
    if wrong || wrong_host {
        return Err(Error::INVALID_VALUE);
    }
    if access == 0 {
        access = whole;
    }
    if host == 0 {
        host = whole_host;
    }
    Ok(access | host | parent & HOST_POINTER)
}

/// What the host does with a memory object by a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostAccess {
    /// It gets bytes of the object.
    Reads,
    /// It gives bytes to the object.
    Writes,
}

impl Mem {
    /// A new memory object.
    pub fn new(parts: Parts) -> Arc<Mem> {
        let (parent, offset) = match parts.parent {
            Some((parent, offset)) => (Some(parent), offset),
            None => (None, 0),
        };
        Arc::new(Mem {
            slot: Slot::default(),
            context: parts.context,
            flags: parts.flags,
            region: parts.region,
            offset,
            parent,
            host_pointer: parts.host_pointer,
            properties: parts.properties,
            image: parts.image,
            maps: Maps::default(),
            destructors: Mutex::default(),
        })
    }

    /// `CL_MEM_OBJECT_*`.
    pub fn kind(&self) -> u32 {
        self.image.map_or(cl::CL_MEM_OBJECT_BUFFER, |i| i.kind)
    }

    /// What reports call it.
    pub fn kind_name(&self) -> &'static str {
        match (&self.image, &self.parent) {
            (Some(_), _) => "image",
            (None, Some(_)) => "sub-buffer",
            (None, None) => "buffer",
        }
    }

    /// Whether it is a buffer.
    ///
    /// # Errors
    /// If it is an image.
    pub fn buffer(&self) -> Result<()> {
        if self.image.is_none() { Ok(()) } else { Err(Error::INVALID_MEM_OBJECT) }
    }

    /// What is fixed of an image.
    ///
    /// # Errors
    /// If it is a buffer.
    pub fn as_image(&self) -> Result<&ImageInfo> {
        self.image.as_ref().ok_or(Error::INVALID_MEM_OBJECT)
    }

    /// Whether the host may access it so by a command.
    ///
    /// # Errors
    /// If it was created otherwise.
    pub fn host_may(&self, access: HostAccess) -> Result<()> {
        let against = match access {
            HostAccess::Reads => cl::CL_MEM_HOST_WRITE_ONLY,
            HostAccess::Writes => cl::CL_MEM_HOST_READ_ONLY,
        };
        if self.flags & (against | cl::CL_MEM_HOST_NO_ACCESS) != 0 {
            return Err(Error::INVALID_OPERATION);
        }
        Ok(())
    }

    /// A mapping ends.
    ///
    /// # Errors
    /// If there is none at this address.
    pub fn unmap(&self, address: usize) -> Result<()> {
        if self.maps.end(address, &self.region) { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    /// Mappings that have not ended.
    pub fn map_count(&self) -> u32 {
        self.maps.count() as u32
    }

    /// Calls back when the object is gone; the last registered first.
    pub fn on_end(&self, destructor: Destructor) {
        self.destructors.lock().unwrap().push(destructor);
    }
}

impl Drop for Mem {
    fn drop(&mut self) {
        self.maps.close(&self.region);
        let destructors = std::mem::take(&mut *self.destructors.lock().unwrap());
        if !destructors.is_empty() {
            call_back(move || destructors.into_iter().rev().for_each(|d| d()));
        }
    }
}

impl ImageInfo {
    /// Extents of the three coordinates that commands use; 1 where the kind has none.
    pub fn extent(&self) -> [usize; 3] {
        match self.kind {
            cl::CL_MEM_OBJECT_IMAGE1D | cl::CL_MEM_OBJECT_IMAGE1D_BUFFER => [self.width, 1, 1],
            cl::CL_MEM_OBJECT_IMAGE1D_ARRAY => [self.width, self.layers, 1],
            cl::CL_MEM_OBJECT_IMAGE2D => [self.width, self.height, 1],
            cl::CL_MEM_OBJECT_IMAGE2D_ARRAY => [self.width, self.height, self.layers],
            _ => [self.width, self.height, self.depth],
        }
    }

    /// Bytes from a step of the second coordinate to the next, and of the third.
    pub fn pitches(&self) -> (usize, usize) {
        match self.kind {
            cl::CL_MEM_OBJECT_IMAGE1D_ARRAY => (self.slice_pitch, self.slice_pitch),
            _ => (self.row_pitch, self.slice_pitch),
        }
    }

    /// Is a box of texels inside?
    ///
    /// # Errors
    /// If it is not, or is empty.
    pub fn check_inside(&self, origin: [usize; 3], region: [usize; 3]) -> Result<()> {
        let extent = self.extent();
        for d in 0..3 {
            let end = origin[d].checked_add(region[d]).ok_or(Error::INVALID_VALUE)?;
            if region[d] == 0 || end > extent[d] {
                return Err(Error::INVALID_VALUE);
            }
        }
        Ok(())
    }

    /// Where a box of texels lies.
    pub fn place(&self, origin: [usize; 3]) -> Layout3 {
        let (row, slice) = self.pitches();
        Layout3 { offset: origin[2] * slice + origin[1] * row + origin[0] * self.texel, row, slice }
    }

    /// Bytes that the image takes.
    pub fn bytes(&self) -> Option<usize> {
        let [_, rows, planes] = self.extent();
        let (row, slice) = self.pitches();
        match self.kind {
            cl::CL_MEM_OBJECT_IMAGE1D | cl::CL_MEM_OBJECT_IMAGE1D_BUFFER => Some(self.row_pitch),
            cl::CL_MEM_OBJECT_IMAGE2D | cl::CL_MEM_OBJECT_IMAGE1D_ARRAY => row.checked_mul(rows),
            _ => slice.checked_mul(planes),
        }
    }
}

/// A sampler.
pub struct Sampler {
    slot: Slot,
    /// Its context.
    pub context: Arc<Context>,
    /// Coordinates go from 0 to 1.
    pub normalized: bool,
    /// `CL_ADDRESS_*`.
    pub addressing: u32,
    /// `CL_FILTER_*`.
    pub filter: u32,
    /// Properties as given.
    pub properties: Vec<u64>,
}

impl Object for Sampler {
    const INVALID: Error = Error::INVALID_SAMPLER;
    fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl Sampler {
    /// A new sampler.
    ///
    /// # Errors
    /// If a mode is none of the standard's.
    pub fn new(
        context: Arc<Context>,
        normalized: bool,
        addressing: u32,
        filter: u32,
        properties: Vec<u64>,
    ) -> Result<Arc<Sampler>> {
        if !(cl::CL_ADDRESS_NONE..=cl::CL_ADDRESS_MIRRORED_REPEAT).contains(&addressing)
            || !matches!(filter, cl::CL_FILTER_NEAREST | cl::CL_FILTER_LINEAR)
        {
            return Err(Error::INVALID_VALUE);
        }
        if !context.devices.iter().any(|d| d.spec.images) {
            return Err(Error::INVALID_OPERATION);
        }
        Ok(Arc::new(Sampler { slot: Slot::default(), context, normalized, addressing, filter, properties }))
    }
}
