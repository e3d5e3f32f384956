//! Devices: a virtual GPU of a platform, with a memory of its own.

use crate::buffer::{Allocation, Buffer};
use crate::error::Error;
use crate::image::{Image, ImageDesc};
use crate::kernel::Kernel;
use crate::launch::Launch;
use crate::run::{Compiled, Outcome, Run};
use envisa_isa::{Platform, Platforms};
use envisa_machine::dispatch::{MAX_GROUP_ITEMS, MAX_GROUP_THREADS};
use envisa_machine::memory::Memory;
use envisa_zebin::DeviceFamily;
use std::sync::Arc;

/// The configuration of a device.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The platform of the device.
    pub platform: Platform,
    /// The most memory, in bytes, of all buffers and modules together.
    pub memory: u64,
    /// The number of host threads of a launch; 0: as many as the host has.
    pub threads: usize,
    /// The engine that runs kernels, unless a launch chooses another.
    pub engine: Engine,
    /// Whether allocations are so far apart that no 32-bit index reaches from one to another. For launches with
    /// [checks](crate::Launch::check).
    pub red_zones: bool,
}

impl Config {
    /// A device of this platform with 8 GiB of memory, all host threads, and [`Engine::Auto`].
    pub fn new(platform: Platform) -> Config {
        Config { platform, memory: 8 << 30, threads: 0, engine: Engine::Auto, red_zones: false }
    }

    /// Sets the most memory, in bytes.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Config {
        self.memory = bytes;
        self
    }

    /// Sets the number of host threads; 0: as many as the host has.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Config {
        self.threads = threads;
        self
    }

    /// Sets whether allocations are far apart.
    #[must_use]
    pub fn red_zones(mut self, red_zones: bool) -> Config {
        self.red_zones = red_zones;
        self
    }

    /// Sets the engine.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Config {
        self.engine = engine;
        self
    }
}

/// The engine that runs kernels. Results do not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Engine {
    /// Chosen by cost: native code, except for the first launches of a small kernel, if compiling costs more than they do.
    #[default]
    Auto,
    /// The interpreter.
    Interpreter,
    /// Native code, if the host's CPU and the program allow it. The interpreter runs the rest.
    Native,
    /// The interpreter without the optimiser: it runs the instructions as they were written. The other engines' results are
    /// compared with this one's.
    Unoptimized,
}

/// The name is not that of an engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownEngine(String);

impl std::fmt::Display for UnknownEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&envisa_diag::unknown("engine", &self.0, ["auto", "jit", "interp", "unoptimized"]))
    }
}

impl std::error::Error for UnknownEngine {}

impl std::str::FromStr for Engine {
    type Err = UnknownEngine;

    /// `auto`, `jit`, `interp` or `unoptimized`.
    fn from_str(name: &str) -> Result<Engine, UnknownEngine> {
        match name {
            "auto" => Ok(Engine::Auto),
            "jit" => Ok(Engine::Native),
            "interp" => Ok(Engine::Interpreter),
            "unoptimized" => Ok(Engine::Unoptimized),
            other => Err(UnknownEngine(other.to_owned())),
        }
    }
}

impl Engine {
    /// The engine that the environment's `ENVISA_ENGINE` names; without it, [`Engine::Auto`].
    ///
    /// # Errors
    /// The variable has another value than the name of an engine.
    pub fn from_environment() -> Result<Engine, UnknownEngine> {
        match std::env::var("ENVISA_ENGINE") {
            Ok(name) if !name.is_empty() => name.parse(),
            _ => Ok(Engine::Auto),
        }
    }
}

/// The capabilities of a device. Sizes are in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Caps {
    /// The platform.
    pub platform: Platform,
    /// Bytes of a register: 32 or 64.
    pub grf_bytes: u32,
    /// The number of registers of a thread, and of a thread in the large register mode, if the device has this mode.
    pub registers: (u32, Option<u32>),
    /// Channels that threads of compiled kernels can have.
    pub simd_sizes: &'static [u32],
    /// Shared local memory of a group.
    pub local_memory: u64,
    /// Work-items of a group.
    pub max_group_items: u64,
    /// Threads of a group of hand-written code.
    pub max_group_threads: u32,
    /// Arithmetic with 64-bit floating-point numbers in hardware.
    pub fp64: bool,
    /// Arithmetic with 64-bit integers in hardware.
    pub int64: bool,
    /// Images can be read and written.
    pub images: bool,
    /// Texels a side of one- and two-dimensional images.
    pub max_image_side: u32,
    /// Memory of the device.
    pub memory: u64,
}

/// Texels a side that a surface state can say: 14 bits.
const MAX_IMAGE_SIDE: u32 = 16384;
/// Platforms without 64-bit floating-point arithmetic.
const NO_FP64: Platforms =
    Platforms::of(&[Platform::Icllp, Platform::Tgllp, Platform::Dg2, Platform::Mtl, Platform::Arl]);

/// Has a platform images? Compilers for one without them leave out all accesses.
pub(crate) fn has_images(platform: Platform) -> bool {
    !matches!(platform, Platform::Pvc | Platform::Pvcxt)
}

impl Caps {
    fn of(config: &Config) -> Caps {
        let platform = config.platform;
        let registers = envisa_isa::limits::registers(platform, false);
        let large = envisa_isa::limits::registers(platform, true);
        Caps {
            platform,
            grf_bytes: platform.grf_bytes(),
            registers: (registers, (large > registers).then_some(large)),
            simd_sizes: if platform.grf_bytes() == 64 { &[16, 32] } else { &[8, 16, 32] },
            local_memory: envisa_isa::limits::shared_local_memory(platform),
            max_group_items: MAX_GROUP_ITEMS,
            max_group_threads: MAX_GROUP_THREADS,
            fp64: !NO_FP64.contains(platform),
            int64: Platforms::INT64.contains(platform),
            images: has_images(platform),
            max_image_side: MAX_IMAGE_SIDE,
            memory: config.memory,
        }
    }
}

/// A virtual GPU: a platform and a memory.
///
/// Cheap to clone; clones are the same device. Launches take `&self` and may run side by side, from several
/// host threads. Buffers, images, modules and kernels are of one device; those of another are refused.
#[derive(Clone)]
pub struct Device(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    config: Config,
    caps: Caps,
    memory: Memory,
}

impl Inner {
    /// The address space.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }
}

impl Device {
    /// A device.
    pub fn new(config: Config) -> Device {
        let caps = Caps::of(&config);
        let memory =
            if config.red_zones { Memory::new_sparse(config.memory) } else { Memory::new(config.memory) };
        Device(Arc::new(Inner { config, caps, memory }))
    }

    /// The device's configuration.
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// The platform of the device.
    pub fn platform(&self) -> Platform {
        self.0.config.platform
    }

    /// The device's capabilities.
    pub fn caps(&self) -> &Caps {
        &self.0.caps
    }

    /// The memory in use by buffers and modules, in bytes.
    pub fn memory_used(&self) -> u64 {
        self.0.memory().used()
    }

    /// Are the two the same device?
    pub fn is(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A buffer of zeros. Reports use `name`: `buffer a`. If `name` is empty, they use the name of
    /// the kernel argument to which a launch passes the buffer.
    ///
    /// # Errors
    /// [`Error::Memory`]: the device's or the host's memory is exhausted.
    pub fn buffer(&self, name: &str, bytes: u64) -> Result<Buffer, Error> {
        Allocation::new(&self.0, name, bytes, |_| {}).map(Buffer::whole)
    }

    /// A buffer with this content.
    ///
    /// # Errors
    /// As [`Device::buffer`].
    pub fn buffer_from(&self, name: &str, content: &[u8]) -> Result<Buffer, Error> {
        let make = |bytes: &mut [u8]| bytes.copy_from_slice(content);
        Allocation::new(&self.0, name, content.len() as u64, make).map(Buffer::whole)
    }

    /// A buffer whose content `make` writes in place. The bytes that `make` gets are zero.
    ///
    /// # Errors
    /// As [`Device::buffer`].
    pub fn buffer_with(&self, name: &str, bytes: u64, make: impl FnOnce(&mut [u8])) -> Result<Buffer, Error> {
        Allocation::new(&self.0, name, bytes, make).map(Buffer::whole)
    }

    /// An image whose texels are in a buffer.
    ///
    /// # Errors
    /// [`Error::Range`]: the description is invalid, or the image does not fit into the buffer; [`Error::Foreign`].
    pub fn image(&self, desc: &ImageDesc, buffer: &Buffer) -> Result<Image, Error> {
        if !self.is(&buffer.device()) {
            return Err(Error::Foreign("buffer"));
        }
        Image::new(*desc, buffer.clone(), self.caps().max_image_side)
    }

    /// A launch of a kernel, its arguments checked: [`Run::wait`] runs it.
    ///
    /// # Errors
    /// [`Error::Launch`], [`Error::Argument`]: sizes or arguments do not fit the kernel; [`Error::Foreign`].
    pub fn launch(&self, kernel: &Kernel, launch: impl Into<Launch>) -> Result<Run, Error> {
        Run::new(self, kernel, launch.into())
    }

    /// Launches a kernel and waits for its end.
    ///
    /// # Errors
    /// As [`Device::launch`] and [`Run::wait`]. A fault of the kernel is not an error: it is in the outcome.
    pub fn run(&self, kernel: &Kernel, launch: impl Into<Launch>) -> Result<Outcome, Error> {
        crate::run::run(self, kernel, launch.into())
    }

    /// Compiles the native code of a launch in advance. The launch itself does not run.
    ///
    /// # Errors
    /// As [`Device::launch`]; [`Error::Unsupported`]: there is no native code for it on this host.
    pub fn compile(&self, kernel: &Kernel, launch: impl Into<Launch>) -> Result<Compiled, Error> {
        crate::run::compile(self, kernel, &launch.into())
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Device({})", self.platform().name())
    }
}

/// The vector instructions of the host with which kernels run.
pub fn host_level() -> String {
    format!("{:?}", envisa_machine::cpu::Level::detect())
}

/// The devices that the OpenCL driver has, the default one first.
pub const OPENCL_DEVICES: [DeviceFamily; 4] =
    [DeviceFamily::Dg2, DeviceFamily::Pvc, DeviceFamily::Skl, DeviceFamily::Tgllp];

/// The name is not that of a platform.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownPlatform(String);

impl std::fmt::Display for UnknownPlatform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&envisa_diag::unknown("platform", &self.0, Platform::ALL.map(Platform::name)))
    }
}

impl std::error::Error for UnknownPlatform {}

/// The platform of a name, as [`Platform::from_name`] reads it.
///
/// # Errors
/// The name is not that of a platform.
pub fn platform(name: &str) -> Result<Platform, UnknownPlatform> {
    Platform::from_name(name).ok_or_else(|| UnknownPlatform(name.to_owned()))
}
