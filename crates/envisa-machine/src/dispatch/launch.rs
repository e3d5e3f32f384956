//! The parameters of a launch: range, arguments, and the resources that the device gives it.

use super::*;
use crate::memory::{AllocationId, Image, Memory, MemoryError};
use std::fmt;

/// An argument of a kernel.
#[derive(Clone, PartialEq, Debug)]
pub enum Arg {
    /// A pointer into an allocation: to a byte offset of it. The bytes before belong to it as well.
    Buffer(AllocationId, u64),
    /// Part of a buffer: from a byte offset of its allocation on, so many bytes.
    Part(AllocationId, u64, u64),
    /// A null pointer.
    Null,
    /// A value: its bytes.
    Value(Vec<u8>),
    /// Shared local memory: bytes.
    Local(u64),
    /// An image.
    Image(Image),
    /// A sampler.
    Sampler(Sampler),
}

impl Arg {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Arg::Buffer(..) | Arg::Part(..) => "a buffer",
            Arg::Null => "a null pointer",
            Arg::Value(_) => "a value",
            Arg::Local(_) => "local memory",
            Arg::Image(_) => "an image",
            Arg::Sampler(_) => "a sampler",
        }
    }
}

/// What is launched: sizes and arguments.
#[derive(Clone, PartialEq, Debug)]
pub struct Launch {
    /// Number of dimensions, 1 to 3.
    pub dims: u32,
    /// Work-items.
    pub global: [u64; 3],
    /// Work-items a group.
    pub local: [u32; 3],
    /// First global id.
    pub offset: [u64; 3],
    /// Arguments by index.
    pub args: Vec<Arg>,
}

/// What the machine brings to a launch.
pub struct Resources<'a> {
    /// The address space; the launch allocates private memory and the like in it.
    pub memory: &'a Memory,
    /// Bytes of a register: 32 or 64.
    pub grf_bytes: u32,
    /// Bytes of shared local memory that a group can have.
    pub local_memory: u64,
    /// The payload starts one register later when there are no local ids (skl, tgllp).
    pub dummy_local_ids: bool,
    /// Hardware threads that can be live at once; each has scratch and private memory of its own.
    pub slots: u32,
    /// The image must reach this far: the end of the last input of the program.
    pub least_image: u32,
    /// Address of program-scope constants and globals, where payloads ask for them.
    pub const_base: u64,
    /// See `const_base`.
    pub global_base: u64,
    /// Functions are called through the stack: they read implicit arguments.
    pub stack_calls: bool,
    /// The kernel was compiled so that the last groups may be smaller; otherwise the range must be a multiple of the
    /// group.
    pub partial_groups: bool,
    /// The device has images.
    pub images: bool,
    /// Bytes that are left unused behind each part of shared local memory, so that accesses past its end are seen. They
    /// do not count as the group's.
    pub red_zone: u64,
}

/// Why a launch is not possible.
#[derive(Clone, Debug, PartialEq)]
pub enum LaunchError {
    /// The sizes make no sense, or exceed a limit.
    Size(String),
    /// An argument is missing, of the wrong kind, or of the wrong size.
    Argument(u32, String),
    /// Metadata asks for something that is not there or not supported.
    Metadata(String),
    /// The kernel is sound, as far as is known, and asks for what envisa or the device does not have.
    Unsupported(String),
    /// Memory is exhausted.
    Memory(MemoryError),
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LaunchError::Size(s) | LaunchError::Metadata(s) => f.write_str(s),
            LaunchError::Unsupported(s) => write!(f, "not supported: {s}"),
            LaunchError::Argument(i, s) => write!(f, "argument {i}: {s}"),
            LaunchError::Memory(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for LaunchError {}

impl From<MemoryError> for LaunchError {
    fn from(e: MemoryError) -> LaunchError {
        LaunchError::Memory(e)
    }
}
