//! Structures and numbers of the interface, as C lays them out: those that the driver reads or writes.
#![allow(missing_docs, reason = "the interface's specification describes them")]

use std::ffi::{c_char, c_void};

/// Numbers that say what a structure is.
pub mod stype {
    pub const DEVICE_PROPERTIES: u32 = 0x3;
    pub const RELAXED_LIMITS_EXT: u32 = 0x1_0016;
    pub const RELAXED_LIMITS_EXP: u32 = 0x2_0001;
    pub const MODULE_PROGRAM: u32 = 0x2_0002;
    pub const COUNTER_BASED_POOL: u32 = 0x2_0014;
    pub const FLOAT_ATOMICS: u32 = 0x1_0003;
    pub const EU_COUNT: u32 = 0x1_0005;
    pub const IP_VERSION: u32 = 0x1_000f;
    pub const PREFERRED_GROUP_SIZE: u32 = 0x21;
    pub const KERNEL_MAX_GROUP_SIZE: u32 = 0x1_0013;
    pub const CACHE_LINE: u32 = 0x2_0028;
    pub const MUTABLE_LIST_PROPERTIES: u32 = 0x2_0015;
    pub const SCHEDULING_HINTS: u32 = 0x2_0003;
    pub const TIMESTAMPS_PROPERTIES: u32 = 0x1_0011;
    pub const MUTABLE_LIST: u32 = 0x2_0016;
    pub const MUTABLE_ARGUMENT: u32 = 0x2_0019;
    pub const MUTABLE_GROUPS: u32 = 0x2_001a;
    pub const MUTABLE_GROUP_SIZE: u32 = 0x2_001b;
    pub const MUTABLE_OFFSET: u32 = 0x2_001c;
}

/// What every extensible structure begins with.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Base {
    pub stype: u32,
    pub next: *mut c_void,
}

/// Structures without pointers but that to the next, whose other fields are plain numbers.
macro_rules! structures {
    ($($(#[$meta:meta])* $name:ident { $($field:ident: $ty:ty),* $(,)? })*) => {$(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub struct $name {
            pub base: Base,
            $(pub $field: $ty,)*
        }
    )*};
}

structures! {
    DriverProperties { uuid: [u8; 16], driver_version: u32 }
    IpcProperties { flags: u32 }
    DeviceProperties {
        kind: u32, vendor: u32, device: u32, flags: u32, subdevice: u32, clock: u32, max_allocation: u64,
        contexts: u32, priorities: u32, threads_per_eu: u32, simd_width: u32, eus_per_subslice: u32,
        subslices_per_slice: u32, slices: u32, timer_resolution: u64, timestamp_bits: u32,
        kernel_timestamp_bits: u32, uuid: [u8; 16], name: [u8; 256],
    }
    ComputeProperties {
        group: u32, group_x: u32, group_y: u32, group_z: u32, count_x: u32, count_y: u32, count_z: u32,
        local_memory: u32, sub_groups: u32, sub_group: [u32; 8],
    }
    ModuleProperties {
        spirv: u32, flags: u32, fp16: u32, fp32: u32, fp64: u32, arguments: u32, printf: u32, native: [u8; 16],
    }
    QueueGroupProperties { flags: u32, pattern: usize, queues: u32 }
    MemoryProperties { flags: u32, clock: u32, bus: u32, total: u64, name: [u8; 256] }
    MemoryAccessProperties { host: u32, device: u32, shared: u32, cross: u32, system: u32 }
    CacheProperties { flags: u32, size: usize }
    ImageProperties {
        d1: u32, d2: u32, d3: u32, buffer: u64, slices: u32, samplers: u32, read: u32, write: u32,
    }
    ExternalMemoryProperties { import: u32, export: u32, image_import: u32, image_export: u32 }
    P2pProperties { flags: u32 }
    FloatAtomics { fp16: u32, fp32: u32, fp64: u32 }
    /// One number: an architecture's version, a count of units, a preferred multiple.
    Number { value: u32 }
    Size { value: usize }
    VectorWidths { size: u32, preferred: [u32; 7], native: [u32; 7] }
    ContextDesc { flags: u32 }
    ModuleDesc {
        format: u32, size: usize, module: *const u8, flags: *const c_char, constants: *const Constants,
    }
    ModuleProgram {
        count: u32, sizes: *const usize, modules: *const *const u8, flags: *const *const c_char,
        constants: *const *const Constants,
    }
    ModuleFlags { flags: u32 }
    KernelDesc { flags: u32, name: *const c_char }
    KernelProperties {
        arguments: u32, group: [u32; 3], sub_groups: u32, sub_group: u32, max_sub_group: u32,
        max_sub_groups: u32, local: u32, private: u32, spill: u32, kernel_uuid: [u8; 16], module_uuid: [u8; 16],
    }
    QueueDesc { ordinal: u32, index: u32, flags: u32, mode: u32, priority: u32 }
    ListDesc { ordinal: u32, flags: u32 }
    PoolDesc { flags: u32, count: u32 }
    EventDesc { index: u32, signal: u32, wait: u32 }
    CounterEventDesc { flags: u32, signal: u32, wait: u32 }
    FenceDesc { flags: u32 }
    HostMemoryDesc { flags: u32 }
    DeviceMemoryDesc { flags: u32, ordinal: u32 }
    AllocationProperties { kind: u32, id: u64, page: u64 }
    FreeDesc { policy: u32 }
    PhysicalDesc { flags: u32, size: usize }
    PhysicalProperties { id: u64, size: u64 }
    ImageDesc {
        flags: u32, kind: u32, layout: u32, channel: u32, swizzle: [u32; 4], width: u64, height: u32, depth: u32,
        layers: u32, levels: u32,
    }
    MutableListProperties { list_flags: u32, command_flags: u32 }
    MutableId { flags: u32 }
    MutableArgument { command: u64, index: u32, size: usize, value: *const c_void }
    MutableGroups { command: u64, groups: *const Triple }
    MutableSizes { command: u64, sizes: [u32; 3] }
    PciProperties {
        domain: u32, bus: u32, device: u32, function: u32, generation: i32, width: i32, bandwidth: i64,
    }
    ManagedDeviceProperties {
        core: DeviceProperties, subdevices: u32, serial: [u8; 64], board: [u8; 64], brand: [u8; 64], model: [u8; 64],
        vendor: [u8; 64], driver: [u8; 64],
    }
    ManagedPciProperties { place: [u32; 4], generation: i32, width: i32, bandwidth: i64, counters: [u8; 3] }
    MemoryModuleProperties {
        kind: u32, on_subdevice: u8, subdevice: u32, location: u32, size: u64, bus_width: i32, channels: i32,
    }
    MemoryState { health: u32, free: u64, size: u64 }
    VertexProperties { uuid: [u8; 16], kind: u32, remote: u8, place: [u32; 4] }
    /// Flags and nothing else.
    Flags { flags: u32 }
    TimestampResults { kernel: *mut Timestamps, synchronised: *mut Timestamps }
    ImageId { id: u64 }
    ImageMemory { size: u64, row: u64, slice: u64 }
    ImageFilters { flags: u32 }
    SamplerDesc { address: u32, filter: u32, normalized: u8 }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Constants {
    pub count: u32,
    pub ids: *const u32,
    pub values: *const *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Extension {
    pub name: [u8; 256],
    pub version: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Triple {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Cuboid {
    pub origin: [u32; 3],
    pub size: [u32; 3],
}

/// Start and end by the device's clock, and by that of the queue: they are one here.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct Timestamps {
    pub global: [u64; 2],
    pub context: [u64; 2],
}

/// A text in a field of fixed size, with a zero at its end.
pub fn text<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let n = text.len().min(N - 1);
    bytes[..n].copy_from_slice(&text.as_bytes()[..n]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_as_c_has_them() {
        assert_eq!(size_of::<DeviceProperties>(), 368);
        assert_eq!(size_of::<ComputeProperties>(), 88);
        assert_eq!(size_of::<ModuleDesc>(), 56);
        assert_eq!(size_of::<ModuleProgram>(), 56);
        assert_eq!(size_of::<KernelProperties>(), 96);
        assert_eq!(size_of::<QueueDesc>(), 40);
        assert_eq!(size_of::<AllocationProperties>(), 40);
        assert_eq!(size_of::<MemoryProperties>(), 296);
        assert_eq!(size_of::<Extension>(), 260);
        assert_eq!(size_of::<ImageDesc>(), 72);
        assert_eq!(size_of::<VertexProperties>(), 56);
        assert_eq!(size_of::<ManagedDeviceProperties>(), 776);
        assert_eq!(size_of::<ManagedPciProperties>(), 56);
        assert_eq!(size_of::<MemoryModuleProperties>(), 48);
        assert_eq!(size_of::<MemoryState>(), 40);
    }
}
