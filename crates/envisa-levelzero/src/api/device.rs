//! Devices: what they are and what they can do. The numbers are those that the OpenCL driver gives.

use envisa_runtime::device_properties::{
    EUS_PER_SUB_SLICE, IMAGE_2D, IMAGE_ARGS, IMAGE_LAYERS, MAX_GROUP, MAX_PARAMETERS, SAMPLERS,
    max_allocation, sub_slices,
};
use envisa_runtime::queue::now_nanoseconds;

use super::driver::driver_of;
use super::entries;
use super::queries::HINTS;
use crate::abi::{
    CacheProperties, ComputeProperties, DeviceProperties, ExternalMemoryProperties, FloatAtomics,
    ImageProperties, MemoryAccessProperties, MemoryProperties, ModuleProperties, MutableListProperties,
    Number, P2pProperties, QueueGroupProperties, Size, VectorWidths, stype, text,
};
use crate::caller::Caller;
use crate::core::device::Device;
use crate::core::error::{Error, Result};
use crate::core::handle::{self, Handle};
use crate::core::image::MOST_BUFFER;
use crate::core::mutable::flag;

/// `ZE_DEVICE_TYPE_GPU`
const GPU: u32 = 1;
/// Denormals, infinities, all roundings, fused multiply-add.
const FLOATS: u32 = 0x3f;
/// `ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT`
const ROUNDED_DIVIDE: u32 = 0x40;
/// Read and write, atomics, both at once with the host.
const SHARED_ACCESS: u32 = 0xf;
/// Compute, copy, cooperative kernels.
const QUEUE_FLAGS: u32 = 7;
/// Longest pattern of a fill.
pub(super) const MOST_PATTERN: usize = 128;
/// Atomics of floats: load and store, add, minimum and maximum; in global and local memory.
const FLOAT32: u32 = 0x7_0007;

/// What a device says of itself.
pub(super) fn fill_properties(p: &mut DeviceProperties, device: &Device) {
    let spec = device.spec;
    p.kind = GPU;
    p.vendor = 0x8086;
    p.device = spec.pci;
    p.flags = 0;
    p.subdevice = 0;
    p.clock = spec.clock;
    p.max_allocation = max_allocation(device.memory);
    p.contexts = 64;
    p.priorities = 0;
    p.threads_per_eu = spec.threads_per_eu;
    p.simd_width = spec.sub_groups[0] as u32;
    p.eus_per_subslice = EUS_PER_SUB_SLICE;
    p.subslices_per_slice = sub_slices();
    p.slices = 1;
    // Nanoseconds, by the first form of the structure; the later one has cycles of a second.
    p.timer_resolution = if p.base.stype == stype::DEVICE_PROPERTIES { 1 } else { 1_000_000_000 };
    p.timestamp_bits = 64;
    p.kernel_timestamp_bits = 64;
    p.uuid = device.uuid();
    p.name = text(spec.title);
}

/// What may follow the properties of a device.
fn fill_extensions(c: &Caller, device: &Device, chain: Vec<(u32, *mut std::ffi::c_void)>) -> Result<()> {
    let (major, minor, revision) = device.spec.ip;
    for (kind, at) in chain {
        match kind {
            stype::IP_VERSION => {
                c.change(at.cast::<Number>(), |p| p.value = major << 22 | minor << 14 | revision)?;
            }
            stype::EU_COUNT => {
                c.change(at.cast::<Number>(), |p| p.value = sub_slices() * EUS_PER_SUB_SLICE)?
            }
            stype::SCHEDULING_HINTS => c.change(at.cast::<Number>(), |p| p.value = HINTS)?,
            // Times of kernels, with the host's.
            stype::TIMESTAMPS_PROPERTIES => c.change(at.cast::<Number>(), |p| p.value = 3)?,
            stype::MUTABLE_LIST_PROPERTIES => {
                c.change(at.cast::<MutableListProperties>(), |p| {
                    (p.list_flags, p.command_flags) = (0, flag::ALL);
                })?;
            }
            stype::CACHE_LINE => c.change(at.cast::<Size>(), |p| p.value = 64)?,
            stype::FLOAT_ATOMICS => c.change(at.cast::<FloatAtomics>(), |p| {
                (p.fp16, p.fp32, p.fp64) = (0, FLOAT32, 0);
            })?,
            // Of what is not known nothing is said.
            _ => {}
        }
    }
    Ok(())
}

entries! {
    fn zeDeviceGet(c, driver: Handle, count: *mut u32, devices: *mut Handle) {
        let driver = driver_of(driver)?;
        c.list(count, devices, driver.devices.len(), |i, to| *to = driver.devices[i].0)
    }

    fn zeDeviceGetRootDevice(c, device: Handle, root: *mut Handle) {
        handle::get::<Device>(device)?;
        // It is one.
        c.write(root, 0)
    }

    fn zeDeviceGetSubDevices(c, device: Handle, count: *mut u32, _devices: *mut Handle) {
        handle::get::<Device>(device)?;
        c.write(count, 0)
    }

    fn zeDeviceGetStatus(_c, device: Handle) {
        handle::get::<Device>(device).map(drop)
    }

    fn zeDeviceGetProperties(c, device: Handle, properties: *mut DeviceProperties) {
        let device = handle::get::<Device>(device)?;
        let chain = c.chain(c.read(properties)?.base);
        c.change(properties, |p| fill_properties(p, &device))?;
        fill_extensions(c, &device, chain)
    }

    fn zeDeviceGetComputeProperties(c, device: Handle, properties: *mut ComputeProperties) {
        let device = handle::get::<Device>(device)?;
        let spec = device.spec;
        c.change(properties, |p| {
            let most = MAX_GROUP as u32;
            (p.group, p.group_x, p.group_y, p.group_z) = (most, most, most, most);
            (p.count_x, p.count_y, p.count_z) = (u32::MAX, u32::MAX, u32::MAX);
            p.local_memory = spec.slm as u32;
            p.sub_groups = spec.sub_groups.len() as u32;
            p.sub_group = [0; 8];
            for (to, n) in p.sub_group.iter_mut().zip(spec.sub_groups) {
                *to = *n as u32;
            }
        })
    }

    fn zeDeviceGetModuleProperties(c, device: Handle, properties: *mut ModuleProperties) {
        let device = handle::get::<Device>(device)?;
        let spec = device.spec;
        let chain = c.chain(c.read(properties)?.base);
        c.change(properties, |p| {
            p.spirv = 1 << 16 | 4;
            // Half precision and atomics of 64 bits always.
            p.flags = 1 | 4 | if spec.fp64 { 2 } else { 0 } | if spec.dp4a { 8 } else { 0 };
            p.fp16 = FLOATS;
            p.fp32 = FLOATS | ROUNDED_DIVIDE;
            p.fp64 = if spec.fp64 { FLOATS } else { 0 };
            p.arguments = MAX_PARAMETERS as u32;
            p.printf = 4 << 20;
            p.native = [0; 16];
        })?;
        fill_extensions(c, &device, chain)
    }

    fn zeDeviceGetCommandQueueGroupProperties(c, device: Handle, count: *mut u32, properties: *mut QueueGroupProperties) {
        handle::get::<Device>(device)?;
        c.list(count, properties, 1, |_, p| {
            (p.flags, p.pattern, p.queues) = (QUEUE_FLAGS, MOST_PATTERN, 1);
        })
    }

    fn zeDeviceGetMemoryProperties(c, device: Handle, count: *mut u32, properties: *mut MemoryProperties) {
        let device = handle::get::<Device>(device)?;
        c.list(count, properties, 1, |_, p| {
            (p.flags, p.clock, p.bus, p.total) = (0, 2000, 64, device.memory);
            p.name = text("memory of the host");
        })
    }

    fn zeDeviceGetMemoryAccessProperties(c, device: Handle, properties: *mut MemoryAccessProperties) {
        handle::get::<Device>(device)?;
        c.change(properties, |p| {
            (p.host, p.device, p.shared, p.cross) = (SHARED_ACCESS, SHARED_ACCESS, SHARED_ACCESS, SHARED_ACCESS);
            p.system = 0;
        })
    }

    fn zeDeviceGetCacheProperties(c, device: Handle, count: *mut u32, properties: *mut CacheProperties) {
        let device = handle::get::<Device>(device)?;
        c.list(count, properties, 1, |_, p| (p.flags, p.size) = (0, device.spec.cache as usize))
    }

    fn zeDeviceGetImageProperties(c, device: Handle, properties: *mut ImageProperties) {
        let device = handle::get::<Device>(device)?;
        // A device that has none says so by zeros.
        let there = |n: usize| if device.spec.images { n as u32 } else { 0 };
        c.change(properties, |p| {
            (p.d1, p.d2, p.d3) = (there(IMAGE_2D), there(IMAGE_2D), there(IMAGE_LAYERS));
            p.buffer = u64::from(there(MOST_BUFFER as usize));
            p.slices = there(IMAGE_LAYERS);
            p.samplers = there(SAMPLERS as usize);
            (p.read, p.write) = (there(IMAGE_ARGS as usize), there(IMAGE_ARGS as usize));
        })
    }

    fn zeDeviceGetExternalMemoryProperties(c, device: Handle, properties: *mut ExternalMemoryProperties) {
        handle::get::<Device>(device)?;
        c.change(properties, |p| (p.import, p.export, p.image_import, p.image_export) = (0, 0, 0, 0))
    }

    fn zeDeviceGetP2PProperties(c, device: Handle, peer: Handle, properties: *mut P2pProperties) {
        handle::get::<Device>(device)?;
        handle::get::<Device>(peer)?;
        c.change(properties, |p| p.flags = 0)
    }

    fn zeDeviceCanAccessPeer(c, device: Handle, peer: Handle, value: *mut u8) {
        handle::get::<Device>(device)?;
        handle::get::<Device>(peer)?;
        c.write(value, u8::from(device == peer))
    }

    fn zeDeviceGetGlobalTimestamps(c, device: Handle, host: *mut u64, there: *mut u64) {
        handle::get::<Device>(device)?;
        let time = now_nanoseconds();
        c.write(host, time)?;
        c.write(there, time)
    }

    fn zeDeviceGetVectorWidthPropertiesExt(c, device: Handle, count: *mut u32, properties: *mut VectorWidths) {
        let device = handle::get::<Device>(device)?;
        let double = u32::from(device.spec.fp64);
        // Of char, short, int, long, float, double, half.
        let widths = [16, 8, 4, 1, 1, double, 8];
        c.list(count, properties, 1, |_, p| (p.size, p.preferred, p.native) = (0, widths, widths))
    }
}

/// A device, and that a list or queue can have this ordinal and index.
pub(super) fn device_with_queue_index(
    device: Handle,
    ordinal: u32,
    index: u32,
) -> Result<std::sync::Arc<Device>> {
    let device = handle::get::<Device>(device)?;
    if ordinal != 0 || index != 0 { Err(Error::INVALID_ARGUMENT) } else { Ok(device) }
}
