//! Makes launches of compiled kernels ready: arguments against metadata, payload template, surfaces, memory.

mod surfaces;

use super::implicit::{self, Implicit};
use super::launch::{Arg, Launch, LaunchError, Resources};
use super::payload_layout::PayloadLayout;
use super::prepared::{Prepared, check_group_count, number, reachable_memory, too_much_local_memory};
use super::threads::{GroupClass, Threads};
use super::*;
use crate::dropped_accesses::Dropped;
use crate::memory::{
    Allocation, AllocationId, Block, BufferSurface, Image, ImageShape, Memory, MemoryError, Names, Private,
    Surface, SurfaceTable,
};
use crate::thread::LocalRegion;
use envisa_lower::SCRATCH_STATE;
use envisa_sem::sampler::Addressing;
use envisa_zebin::ze_info::{
    AddrMode, AddrSpace, AllocationType, ArgType, ImageType, Kernel, MemoryUsage, PayloadArgument,
    SamplerAddrMode, SamplerFilterMode,
};
use std::sync::Arc;

/// First index of the surface table that bindless arguments take: binding tables end before.
const FIRST_BINDLESS: u32 = 1024;
/// Samplers a launch can have.
const MAX_SAMPLERS: u32 = 256;
/// Bytes of the longest vector that compilers move at once for a channel.
const VECTOR: u64 = 16;

/// Checks sizes; gives the number of groups.
fn count_groups(
    launch: &Launch,
    required: Option<[u32; 3]>,
    simd: u32,
    partial: bool,
) -> Result<[u32; 3], LaunchError> {
    let err = |s: String| Err(LaunchError::Size(s));
    if !(1..=3).contains(&launch.dims) {
        return err(format!("{} dimensions: there are 1 to 3", launch.dims));
    }
    if let Some(r) = required.filter(|r| *r != [0; 3])
        && launch.local != r
    {
        return err(format!(
            "the kernel was compiled for groups of {}x{}x{}, not {}x{}x{}",
            r[0], r[1], r[2], launch.local[0], launch.local[1], launch.local[2]
        ));
    }
    if launch.local.contains(&0) {
        return err("a group has at least one work-item in each dimension".into());
    }
    let items = launch.local.iter().fold(1u64, |n, d| n.saturating_mul(u64::from(*d)));
    if items > MAX_GROUP_ITEMS || items.div_ceil(u64::from(simd)) > u64::from(MAX_GROUP_THREADS) {
        return err(format!("a group of {items} work-items: at most {MAX_GROUP_ITEMS} fit"));
    }
    let mut groups = [0; 3];
    for (d, group) in groups.iter_mut().enumerate() {
        if launch.global[d] == 0 {
            return err("the range is empty".into());
        }
        if !partial && !launch.global[d].is_multiple_of(u64::from(launch.local[d])) {
            return err(format!(
                "{} work-items in dimension {d} are not a multiple of the group's {}, and the kernel was compiled for whole \
                 groups (OpenCL C 1.2, the default, or -cl-uniform-work-group-size); with -cl-std=CL2.0 or later, the last group may be smaller",
                launch.global[d], launch.local[d]
            ));
        }
        let n = launch.global[d].div_ceil(u64::from(launch.local[d]));
        let last = launch.offset[d].checked_add(launch.global[d]);
        *group = match (u32::try_from(n), last) {
            (Ok(n), Some(last)) if last <= 1 << 32 => n,
            _ => return err(format!("{} work-items in dimension {d}: ids are 32 bits", launch.global[d])),
        };
    }
    check_group_count(groups)?;
    Ok(groups)
}

/// Classes of groups by their edges.
fn classes(launch: &Launch, groups: [u32; 3], threads: &Threads) -> (Vec<GroupClass>, [u8; 8]) {
    let mut classes: Vec<GroupClass> = Vec::new();
    let mut by_edge = [0; 8];
    for (edge, class) in by_edge.iter_mut().enumerate() {
        let mut local = launch.local;
        for d in 0..3 {
            if edge >> d & 1 == 1 {
                let whole = u64::from(groups[d] - 1) * u64::from(launch.local[d]);
                local[d] = (launch.global[d] - whole) as u32;
            }
        }
        *class = match classes.iter().position(|c| c.local == local) {
            Some(i) => i,
            None => {
                classes.push(threads.class(local));
                classes.len() - 1
            }
        } as u8;
    }
    (classes, by_edge)
}

/// Makes a launch of a compiled kernel ready.
///
/// # Errors
/// Where sizes, arguments and metadata do not fit together, or memory is exhausted.
pub fn prepare_launch(
    kernel: &Kernel,
    launch: &Launch,
    with: Resources<'_>,
) -> Result<Prepared, LaunchError> {
    prepare_from(kernel, launch, with, None)
}

/// The same from a launch of the kernel with the same sizes, which is not run again ([`RecentLaunches::take_reusable`]).
///
/// # Errors
/// As [`prepare_launch`].
///
/// [`RecentLaunches::take_reusable`]: super::Remembered::take_reusable
pub fn prepare_from(
    kernel: &Kernel,
    launch: &Launch,
    with: Resources<'_>,
    mut spent: Option<Prepared>,
) -> Result<Prepared, LaunchError> {
    let env = &kernel.execution_env;
    let simd = env.simd_size;
    // Vector-compute code: a thread is a work-item, and its instructions use as many channels as they like.
    let vector = simd == 1;
    if !matches!(simd, 1 | 8 | 16 | 32) {
        return Err(LaunchError::Unsupported(format!(
            "a thread of {simd} channels: 1, 8, 16 or 32 can be run"
        )));
    }
    check_supported(kernel, with.images)?;
    let groups = count_groups(launch, env.required_work_group_size, simd, with.partial_groups)?;
    // Of a thread that is one work-item nothing says an order.
    let walk = match env.work_group_walk_order_dimensions {
        [0, 0, 0] if vector => [0, 1, 2],
        dims => walk_order(dims)?,
    };

    let layout = PayloadLayout::new(kernel, with.grf_bytes, with.dummy_local_ids)?;
    if u64::from(with.least_image) > MAX_PAYLOAD {
        return Err(LaunchError::Metadata("the payload is absurdly large".into()));
    }
    let image_bytes = layout.image_bytes().max(with.least_image as usize).next_multiple_of(64);

    let threads = Threads {
        simd,
        channels: if vector { 32 } else { simd },
        payload_bytes: layout.payload_bytes,
        row_bytes: layout.row_bytes,
        walk,
    };
    let (classes, edge_class) = match &mut spent {
        Some(p) => (std::mem::take(&mut p.classes), p.edge_class),
        None => classes(launch, groups, &threads),
    };
    let mut image = spent.as_mut().map_or_else(Vec::new, |p| std::mem::take(&mut p.image));
    image.clear();
    image.resize(image_bytes, 0);

    let mut building = Building {
        launch,
        groups,
        memory: with.memory,
        slots: with.slots.max(1),
        image,
        layout,
        surfaces: SurfaceTable::default(),
        samplers: Vec::new(),
        local_size_at: Vec::new(),
        slm: u64::from(env.slm_size),
        slm_dynamic: 0,
        red_zone: with.red_zone,
        zones: with.red_zone,
        local_regions: Vec::new(),
        local_memory: with.local_memory,
        own: Vec::new(),
        spare: spent.as_mut().map_or_else(Default::default, Prepared::take_private_memory),
        printf: None,
        private: None,
        private_range: None,
        implicit_at: Vec::new(),
        bases: (with.const_base, with.global_base),
        simd,
        kernel,
    };
    building.check_arguments()?;
    for argument in &kernel.payload_arguments {
        building.build_argument(argument)?;
    }
    building.bind_surfaces()?;
    building.inline_samplers()?;
    // Behind the kernel's own part there is none: the compiler puts the first argument there.
    let slm_bytes = building.slm + building.slm_dynamic + building.red_zone;
    if slm_bytes - building.zones > with.local_memory {
        return Err(too_much_local_memory(slm_bytes - building.zones, with.local_memory));
    }
    let slm_bytes =
        if with.red_zone > 0 { slm_bytes } else { given_local_memory(slm_bytes, with.local_memory) };
    building.finish((classes, edge_class), &threads, with.stack_calls, slm_bytes, spent)
}

/// Bytes of local memory that a device gives a group which wants so many: 0, or a power of two from 1 KiB on, as Intel's driver
/// asks the hardware for it. Kernels that go a little too far reach this memory, and some of Intel's own count on it.
fn given_local_memory(bytes: u64, most: u64) -> u64 {
    if bytes == 0 { 0 } else { bytes.next_power_of_two().max(1 << 10).min(most.max(bytes)) }
}

/// Refuses what would run and mean nothing: without it, such kernels read what nobody wrote.
fn check_supported(kernel: &Kernel, images: bool) -> Result<(), LaunchError> {
    let rays = kernel.payload_arguments.iter().any(|p| p.arg_type == ArgType::RtGlobalBuffer);
    if rays || kernel.execution_env.has_rtcalls {
        return Err(LaunchError::Unsupported(
            "ray queries (the kernel takes the global data of ray tracing)".into(),
        ));
    }
    let image = |p: &&PayloadArgument| p.addrspace == Some(AddrSpace::Image) || p.image_type.is_some();
    match kernel.payload_arguments.iter().find(image).filter(|_| !images) {
        Some(p) => Err(LaunchError::Unsupported(format!(
            "the device has no images, and its compiler leaves out all accesses to them (argument {})",
            p.arg_index.unwrap_or(0)
        ))),
        None => Ok(()),
    }
}

fn walk_order(dims: [u32; 3]) -> Result<[u8; 3], LaunchError> {
    let mut seen = [false; 3];
    for d in dims {
        match seen.get_mut(d as usize) {
            Some(s) if !*s => *s = true,
            _ => {
                return Err(LaunchError::Metadata(format!(
                    "work_group_walk_order_dimensions {dims:?} is not an order of three dimensions"
                )));
            }
        }
    }
    Ok(dims.map(|d| d as u8))
}

/// A launch in the making.
struct Building<'a> {
    launch: &'a Launch,
    groups: [u32; 3],
    memory: &'a Memory,
    slots: u32,
    image: Vec<u8>,
    layout: PayloadLayout,
    surfaces: SurfaceTable,
    samplers: Vec<Option<Sampler>>,
    local_size_at: Vec<usize>,
    slm: u64,
    slm_dynamic: u64,
    /// See [`Resources::red_zone`]; and of all together.
    red_zone: u64,
    zones: u64,
    local_regions: Vec<LocalRegion>,
    /// Most that the two may be together.
    local_memory: u64,
    own: Vec<Private>,
    /// What another launch had, and this one may have: cleared private memory, and a buffer to print to.
    spare: [Option<Private>; 2],
    printf: Option<Arc<Allocation>>,
    private: Option<u64>,
    private_range: Option<(u64, u64)>,
    implicit_at: Vec<usize>,
    bases: (u64, u64),
    simd: u32,
    kernel: &'a Kernel,
}

impl Building<'_> {
    fn image_offset(&self, offset: u32) -> usize {
        self.layout.image_offset(offset)
    }

    /// Writes into the cross-thread payload; what does not fit the entry's size is cut.
    fn write_payload(&mut self, p: &PayloadArgument, bytes: &[u8]) {
        let at = self.image_offset(p.offset);
        let n = bytes.len().min(p.size as usize);
        self.image[at..at + n].copy_from_slice(&bytes[..n]);
    }

    fn write_payload_vec3(&mut self, p: &PayloadArgument, values: [u32; 3]) {
        let mut bytes = [0; 12];
        for (b, v) in bytes.chunks_exact_mut(4).zip(values) {
            b.copy_from_slice(&v.to_le_bytes());
        }
        self.write_payload(p, &bytes);
    }

    /// Every argument that metadata knows must be given, and no more.
    fn check_arguments(&self) -> Result<(), LaunchError> {
        let with_index = self.kernel.payload_arguments.iter().filter_map(|p| p.arg_index);
        let bound = self.kernel.binding_table_indices.iter().map(|b| b.arg_index);
        for index in with_index.chain(bound) {
            if index as usize >= self.launch.args.len() {
                return Err(LaunchError::Argument(index, "is not given".into()));
            }
        }
        Ok(())
    }

    /// The argument that an entry is about.
    fn argument_of_entry(&self, p: &PayloadArgument) -> Result<(u32, Arg), LaunchError> {
        let index = p.arg_index.ok_or_else(|| {
            let what = <&str>::from(p.arg_type);
            LaunchError::Metadata(format!("payload `{what}` does not say which argument it is of"))
        })?;
        match self.launch.args.get(index as usize) {
            Some(arg) => Ok((index, arg.clone())),
            None => Err(LaunchError::Argument(index, "is not given".into())),
        }
    }

    /// An allocation that an argument names.
    fn find_allocation(&self, index: u32, id: AllocationId) -> Result<Arc<Allocation>, LaunchError> {
        let missing = || {
            LaunchError::Argument(index, "names no memory of this machine, or memory that was freed".into())
        };
        self.memory.get(id).ok_or_else(missing)
    }

    /// The address that a pointer argument is; `None` if it is none.
    fn address(&self, index: u32, arg: &Arg) -> Result<Option<u64>, LaunchError> {
        Ok(Some(match arg {
            Arg::Buffer(id, offset) | Arg::Part(id, offset, _) => {
                self.find_allocation(index, *id)?.base.wrapping_add(*offset)
            }
            Arg::Null => 0,
            _ => return Ok(None),
        }))
    }

    fn allocate_private(&mut self, name: &str, bytes: u64) -> Result<Arc<Allocation>, LaunchError> {
        let own = self.memory.allocate_private(name, bytes)?;
        Ok(self.keep_private(own))
    }

    /// Private memory of so many bytes, and what compilers read behind it: whole vectors where an array ends within one,
    /// of every channel, which may be element by element.
    fn private_memory(&mut self, bytes: u64) -> Result<Arc<Allocation>, LaunchError> {
        let bytes = bytes + VECTOR * u64::from(self.simd);
        match self.spare[0].take().filter(|own| own.block.len() as u64 == bytes) {
            Some(own) => Ok(self.keep_private(own)),
            None => self.allocate_private("private memory", bytes),
        }
    }

    fn keep_private(&mut self, own: Private) -> Arc<Allocation> {
        let allocation = Arc::clone(own.allocation());
        self.own.push(own);
        allocation
    }

    fn build_argument(&mut self, p: &PayloadArgument) -> Result<(), LaunchError> {
        let what = <&str>::from(p.arg_type);
        match p.arg_type {
            ArgType::GlobalIdOffset => self.write_payload_vec3(p, self.launch.offset.map(|n| n as u32)),
            ArgType::LocalSize => {
                if p.size < 12 {
                    return Err(LaunchError::Metadata(format!("payload `{what}` of {} bytes", p.size)));
                }
                self.local_size_at.push(self.image_offset(p.offset));
            }
            ArgType::EnqueuedLocalSize => self.write_payload_vec3(p, self.launch.local),
            ArgType::GroupCount => self.write_payload_vec3(p, self.groups),
            ArgType::GlobalSize => self.write_payload_vec3(p, self.launch.global.map(|n| n as u32)),
            ArgType::WorkDimensions => self.write_payload(p, &self.launch.dims.to_le_bytes()),
            ArgType::ArgByvalue => {
                let (index, arg) = self.argument_of_entry(p)?;
                let Arg::Value(bytes) = &arg else { return wrong_argument_error(index, "a value", &arg) };
                let from = p.source_offset.unwrap_or(0) as usize;
                // Entries are padded to 4 bytes, values are not.
                let Some(part) = bytes.get(from..).filter(|part| !part.is_empty()) else {
                    return Err(LaunchError::Argument(
                        index,
                        format!("{} bytes given, the kernel reads from byte {from} on", bytes.len()),
                    ));
                };
                self.write_payload(p, part);
            }
            ArgType::ArgBypointer => self.build_pointer_argument(p)?,
            ArgType::BufferAddress => {
                let (index, arg) = self.argument_of_entry(p)?;
                let Some(address) = self.address(index, &arg)? else {
                    return wrong_argument_error(index, "a buffer", &arg);
                };
                self.write_payload(p, &address.to_le_bytes());
            }
            ArgType::BufferOffset => {
                let (index, arg) = self.argument_of_entry(p)?;
                let before = self.bytes_before_pointer(index, &arg)?;
                self.write_payload(p, &before.to_le_bytes());
            }
            ArgType::BufferSize => {
                let (index, arg) = self.argument_of_entry(p)?;
                let bytes = match self.surface(index, &arg)? {
                    Some(Surface::Buffer(b)) => {
                        (b.len as u64).saturating_sub(self.bytes_before_pointer(index, &arg)?.into())
                    }
                    Some(Surface::None) => 0,
                    _ => return wrong_argument_error(index, "a buffer", &arg),
                };
                self.write_payload(p, &bytes.to_le_bytes());
            }
            ArgType::PrivateBaseStateless => {
                let address = match self.private {
                    Some(address) => address,
                    None => {
                        let bytes = self.private_bytes()?;
                        // Compilers name the base in kernels, too, that have no private memory.
                        let base = if bytes == 0 { 0 } else { self.private_memory(bytes)?.base };
                        self.private_range = Some((base, bytes)).filter(|_| bytes > 0);
                        base
                    }
                };
                self.private = Some(address);
                self.write_payload(p, &address.to_le_bytes());
            }
            ArgType::PrintfBuffer => {
                let address = self.printf_buffer()?.base;
                self.write_payload(p, &address.to_le_bytes());
            }
            ArgType::ScratchPointer => self.write_payload(p, &SCRATCH_STATE.to_le_bytes()),
            // Where the hardware finds the arguments; vISA has them in registers, and gets no address.
            ArgType::IndirectDataPointer => self.write_payload(p, &0u64.to_le_bytes()),
            ArgType::ImplicitArgBuffer => self.implicit_at.push(self.image_offset(p.offset)),
            ArgType::ConstBase => return self.data_base(p, 0, self.bases.0),
            ArgType::GlobalBase => return self.data_base(p, 1, self.bases.1),
            ArgType::ImageWidth
            | ArgType::ImageHeight
            | ArgType::ImageDepth
            | ArgType::ImageArraySize
            | ArgType::ImageChannelDataType
            | ArgType::ImageChannelOrder
            | ArgType::ImageNumMipLevels
            | ArgType::ImageNumSamples => {
                self.image_attribute(p)?;
            }
            ArgType::SamplerAddress | ArgType::SamplerNormalized | ArgType::SamplerSnapWa => {
                self.sampler_attribute(p)?;
            }
            ArgType::InlineSampler => {
                let Some(index) = p.sampler_index.filter(|i| *i < MAX_SAMPLERS) else {
                    return Err(LaunchError::Metadata(format!("payload `{what}` without its index")));
                };
                self.write_payload(p, &u64::from(Sampler::handle(index)).to_le_bytes());
            }
            _ if p.size == 0 => {}
            _ => return Err(LaunchError::Unsupported(format!("payload `{what}`"))),
        }
        Ok(())
    }

    /// The samplers that the kernel has in its text.
    fn inline_samplers(&mut self) -> Result<(), LaunchError> {
        for s in &self.kernel.inline_samplers {
            let addressing = match s.addrmode {
                SamplerAddrMode::ClampBorder => Addressing::Clamp,
                SamplerAddrMode::ClampEdge => Addressing::ClampToEdge,
                SamplerAddrMode::Repeat => Addressing::Repeat,
                SamplerAddrMode::Mirror => Addressing::MirroredRepeat,
                SamplerAddrMode::None | SamplerAddrMode::Unknown => Addressing::None,
            };
            let sampler = Sampler::new(addressing, s.filtermode == SamplerFilterMode::Linear, s.normalized);
            self.sampler(s.sampler_index, sampler)?;
        }
        Ok(())
    }

    /// A number that describes an image.
    fn image_attribute(&mut self, p: &PayloadArgument) -> Result<(), LaunchError> {
        let (index, arg) = self.argument_of_entry(p)?;
        let Arg::Image(image) = arg else { return wrong_argument_error(index, "an image", &arg) };
        let value = match p.arg_type {
            ArgType::ImageWidth => image.width,
            ArgType::ImageHeight => image.height,
            ArgType::ImageDepth | ArgType::ImageArraySize => image.depth,
            ArgType::ImageChannelDataType => image.channel_type,
            ArgType::ImageChannelOrder => image.channel_order,
            ArgType::ImageNumMipLevels => 1,
            _ => 0,
        };
        self.write_payload(p, &value.to_le_bytes());
        Ok(())
    }

    /// A number that describes a sampler.
    fn sampler_attribute(&mut self, p: &PayloadArgument) -> Result<(), LaunchError> {
        let (index, arg) = self.argument_of_entry(p)?;
        let Arg::Sampler(s) = arg else { return wrong_argument_error(index, "a sampler", &arg) };
        let value = match p.arg_type {
            ArgType::SamplerAddress => s.addressing as u32,
            ArgType::SamplerNormalized => u32::from(s.normalized) << 3,
            _ if !s.linear && s.addressing == Addressing::Clamp => u32::MAX,
            _ => 0,
        };
        self.write_payload(p, &value.to_le_bytes());
        Ok(())
    }

    /// `arg_bypointer`: buffers, images, samplers and local memory.
    fn build_pointer_argument(&mut self, p: &PayloadArgument) -> Result<(), LaunchError> {
        let (index, arg) = self.argument_of_entry(p)?;
        let fail = |s: String| Err(LaunchError::Argument(index, s));
        match (p.addrmode, p.addrspace) {
            (Some(AddrMode::Stateful), Some(AddrSpace::Sampler)) => match (arg, p.sampler_index) {
                (Arg::Sampler(s), Some(i)) => self.sampler(i, s),
                (Arg::Sampler(_), None) => fail("metadata gives no sampler index".into()),
                (other, _) => fail(format!("the kernel takes a sampler, not {}", other.kind())),
            },
            (Some(AddrMode::Stateful), Some(AddrSpace::Image)) => match arg {
                Arg::Image(image) => surfaces::shape_fits(p.image_type, &image).or_else(fail),
                other => fail(format!("the kernel takes an image, not {}", other.kind())),
            },
            (Some(AddrMode::Stateful), _) => match arg {
                Arg::Buffer(..) | Arg::Part(..) | Arg::Null => Ok(()),
                other => fail(format!("the kernel takes a buffer, not {}", other.kind())),
            },
            (Some(AddrMode::Stateless), _) => {
                let Some(address) = self.address(index, &arg)? else {
                    return fail(format!("the kernel takes a buffer, not {}", arg.kind()));
                };
                self.write_payload(p, &address.to_le_bytes());
                Ok(())
            }
            (Some(AddrMode::Slm), _) => {
                let bytes = match arg {
                    Arg::Local(bytes) => bytes,
                    Arg::Null => 0,
                    other => return fail(format!("the kernel takes local memory, not {}", other.kind())),
                };
                if bytes > self.local_memory {
                    return fail(format!("{bytes} bytes of local memory: at most {}", self.local_memory));
                }
                let align = u64::from(p.slm_alignment.clamp(1, 1 << 16));
                let at = self.slm_dynamic.next_multiple_of(align);
                self.slm_dynamic = at + bytes + self.red_zone;
                self.zones += self.red_zone;
                let region = LocalRegion { start: self.slm + at, bytes, argument: Some(index) };
                self.local_regions.push(region);
                // In the newer mode the kernel's own static part is added here, else by the kernel.
                let at = match self.kernel.execution_env.slm_alloc_mode {
                    0 => at,
                    _ => self.slm + at,
                };
                self.write_payload(p, &at.to_le_bytes());
                Ok(())
            }
            (Some(AddrMode::Bindless), Some(AddrSpace::Sampler)) => match arg {
                Arg::Sampler(s) => {
                    let number = self.free_sampler();
                    self.sampler(number, s)?;
                    self.write_payload(p, &u64::from(Sampler::handle(number)).to_le_bytes());
                    Ok(())
                }
                other => fail(format!("the kernel takes a sampler, not {}", other.kind())),
            },
            (Some(AddrMode::Bindless), _) => {
                if let Arg::Image(image) = &arg {
                    surfaces::shape_fits(p.image_type, image).or_else(&fail)?;
                }
                let Some(surface) = self.surface(index, &arg)? else {
                    return fail(format!("the kernel takes a surface, not {}", arg.kind()));
                };
                let bti = FIRST_BINDLESS.saturating_add(index);
                let handle = if matches!(surface, Surface::None) {
                    Some(0)
                } else {
                    self.surfaces.bind_surface(self.memory, bti, surface);
                    SurfaceTable::handle(bti)
                };
                let Some(handle) = handle else { return fail("there are too many surfaces".into()) };
                self.write_payload(p, &u64::from(handle).to_le_bytes());
                Ok(())
            }
            (mode, _) => Err(LaunchError::Unsupported(format!("arguments of address mode {mode:?}"))),
        }
    }

    /// An index that no sampler has, the metadata's included.
    fn free_sampler(&self) -> u32 {
        let arguments = self.kernel.payload_arguments.iter().filter_map(|p| p.sampler_index);
        let inline = self.kernel.inline_samplers.iter().map(|s| s.sampler_index);
        let named = arguments.chain(inline).max().map_or(0, |n| n.saturating_add(1));
        named.max(self.samplers.len() as u32)
    }

    fn sampler(&mut self, index: u32, sampler: Sampler) -> Result<(), LaunchError> {
        if index >= MAX_SAMPLERS {
            return Err(LaunchError::Metadata(format!(
                "sampler index {index}: at most {}",
                MAX_SAMPLERS - 1
            )));
        }
        let index = index as usize;
        if self.samplers.len() <= index {
            self.samplers.resize(index + 1, None);
        }
        self.samplers[index] = Some(sampler);
        Ok(())
    }

    fn printf_buffer(&mut self) -> Result<Arc<Allocation>, LaunchError> {
        if let Some(buffer) = &self.printf {
            return Ok(Arc::clone(buffer));
        }
        let own = match self.spare[1].take() {
            Some(own) => own,
            None => self.memory.private_sparse("printf buffer", PRINTF_BYTES)?,
        };
        let buffer = self.keep_private(own);
        printf::begin(&buffer.block);
        self.printf = Some(Arc::clone(&buffer));
        Ok(buffer)
    }

    /// Private memory of all slots, in the global address space.
    fn private_bytes(&self) -> Result<u64, LaunchError> {
        let mut bytes = 0u64;
        for b in &self.kernel.per_thread_memory_buffers {
            if b.allocation == AllocationType::Global && b.usage == MemoryUsage::PrivateSpace {
                let per_thread = if b.is_simt_thread { self.simd } else { 1 };
                bytes = bytes.max(u64::from(b.size) * u64::from(per_thread));
            }
        }
        if bytes > MAX_PRIVATE {
            return Err(LaunchError::Metadata(format!("{bytes} bytes of private memory a thread")));
        }
        Ok(bytes * u64::from(self.slots))
    }

    /// Scratch of a slot, in the general-state window: a power of two of at least 1 KB, or nothing.
    fn scratch_bytes(&self) -> Result<u32, LaunchError> {
        let bytes = self
            .kernel
            .per_thread_memory_buffers
            .iter()
            .filter(|b| b.allocation == AllocationType::Scratch)
            .map(|b| u64::from(b.size))
            .sum::<u64>();
        if bytes > MAX_PRIVATE {
            return Err(LaunchError::Metadata(format!("{bytes} bytes of scratch a thread")));
        }
        Ok(if bytes == 0 { 0 } else { (bytes as u32).next_multiple_of(1024) })
    }

    fn finish(
        mut self,
        (mut classes, edge_class): (Vec<GroupClass>, [u8; 8]),
        threads: &Threads,
        stack_calls: bool,
        slm_bytes: u64,
        mut spent: Option<Prepared>,
    ) -> Result<Prepared, LaunchError> {
        let needs_implicit =
            stack_calls || self.kernel.execution_env.has_stack_calls || !self.implicit_at.is_empty();
        // Offset 0 of the window stays unused, so that no scratch is at a null offset.
        let mut window_bytes = 1024u32;
        let mut structures = Vec::new();
        if needs_implicit {
            let printf = self.printf_buffer()?;
            let implicit = Implicit {
                dims: self.launch.dims,
                simd: self.simd,
                global: self.launch.global,
                offset: self.launch.offset,
                groups: self.groups,
                printf: printf.base,
            };
            for class in &mut classes {
                let table = implicit::local_id_table(self.memory, threads, class)?;
                class.implicit_offset = window_bytes;
                let structure = implicit.encode(class, table.base);
                self.own.push(table);
                structures.push((window_bytes, structure));
                window_bytes += implicit::STRIDE;
            }
            // By address the structure can be given once only: that of a full group.
            if let Some((_, structure)) = structures.first()
                && !self.implicit_at.is_empty()
            {
                let own = self.allocate_private("implicit arguments", u64::from(implicit::STRIDE))?;
                own.block.copy_in(0, structure);
                let address = own.base.to_le_bytes();
                for at in std::mem::take(&mut self.implicit_at) {
                    if let Some(place) = self.image.get_mut(at..at + 8) {
                        place.copy_from_slice(&address);
                    }
                }
            }
        }
        let scratch_at = window_bytes.next_multiple_of(1024);
        let scratch_bytes = self.scratch_bytes()?;
        let total = u64::from(scratch_at) + u64::from(scratch_bytes) * u64::from(self.slots);
        if total > u64::from(u32::MAX) {
            return Err(LaunchError::Metadata(format!(
                "scratch of {} threads takes {total} bytes: 4 GiB can be addressed",
                self.slots
            )));
        }
        let (map, version) = reachable_memory(self.memory, &self.own, self.red_zone > 0);
        let spare = spent.as_mut().filter(|p| p.window.len() as u64 == total);
        let window = match spare.and_then(|p| Some(std::mem::replace(&mut p.window, Block::zeroed(0)?))) {
            Some(window) => {
                window.clear(0, window.len());
                window
            }
            None => Block::zeroed(total as usize).ok_or(MemoryError::Host(total))?,
        };
        for (at, structure) in &structures {
            window.copy_in(*at as usize, structure);
        }
        let payload_bytes = threads.payload_bytes as usize;
        let mut prepared = Prepared {
            groups: self.groups,
            local: self.launch.local,
            simd: threads.channels,
            classes,
            edge_class,
            payload_at: self.layout.payload_at,
            payload_bytes,
            row_bytes: if threads.simd > 1 { threads.row_bytes as usize } else { 0 },
            image: self.image,
            local_size_at: self.local_size_at,
            slm_bytes,
            surfaces: self.surfaces,
            samplers: self.samplers,
            window,
            scratch_at,
            scratch_bytes,
            printf: self.printf,
            map,
            own: self.own,
            dropped: Dropped::default(),
            regrouped: None,
            asked: None,
            local_regions: with_own(self.local_regions, self.slm),
            private: self.private_range,
            names: Names::default(),
            version,
            number: number(),
            reach: number(),
            reached_before: None,
        };
        let became = |p: &Prepared| p.window.is_empty() && p.reaches_same_memory(&prepared);
        prepared.reached_before = spent.filter(became).map(|p| p.reach);
        Ok(prepared)
    }
}

fn wrong_argument_error(index: u32, wanted: &str, got: &Arg) -> Result<(), LaunchError> {
    Err(LaunchError::Argument(index, format!("the kernel takes {wanted}, not {}", got.kind())))
}

/// The parts of shared local memory that arguments are, with the kernel's own before them.
fn with_own(mut regions: Vec<LocalRegion>, bytes: u64) -> Vec<LocalRegion> {
    if bytes != 0 {
        regions.insert(0, LocalRegion { start: 0, bytes, argument: None });
    }
    regions
}
