//! Runs Intel GPU kernels without the GPU: vISA on a virtual device.
//!
//! A [`Device`] is a platform with a memory. A [`Module`] is loaded onto it: a zebin that IGC compiled, or vISA
//! written by hand, as text or binary. Its [`Kernel`]s are launched with [`Buffer`]s, [`Image`]s, [`Sampler`]s
//! and values, and give an [`Outcome`]. If a kernel makes an error, the outcome has a [`Fault`] with the
//! instruction, the channel, the thread and the nearest memory. An [`Error`] means misuse of the library or damaged input.
//!
//! ```
//! use envisa::{Config, Device, Launch, Module, Source};
//!
//! # std::env::set_current_dir("../..")?;
//! let zebin = std::fs::read("examples/vadd/vadd.zebin")?;
//! let source = Source::Zebin(&zebin);
//! let platform = source.platform()?.expect("zebins say what they are for");
//!
//! let device = Device::new(Config::new(platform));
//! let module = Module::load(&device, "vadd.zebin", source)?;
//! let kernel = module.kernel("vadd")?;
//!
//! let numbers: Vec<u8> = (0..1024).flat_map(|i| (i as f32).to_le_bytes()).collect();
//! let a = device.buffer_from("a", &numbers)?;
//! let b = device.buffer_from("b", &numbers)?;
//! let c = device.buffer("c", 4096)?;
//!
//! let launch = Launch::range(&[1024], &[64]).arg("a", &a).arg("b", &b).arg("c", &c).arg("n", 1024);
//! let outcome = device.run(&kernel, &launch)?;
//! if let Some(fault) = outcome.fault {
//!     return Err(fault.into());
//! }
//! let mut seventh = [0; 4];
//! c.read(7 * 4, &mut seventh)?;
//! assert_eq!(f32::from_le_bytes(seventh), 14.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Hand-written code is launched in thread groups. Its arguments have the names in `.input` and `.decl`:
//!
//! ```
//! use envisa::isa::Platform;
//! use envisa::{Config, Device, Launch, Module, Source};
//!
//! let text = b"\
//! .version 4.1
//! .kernel \"twice\"
//! .decl X v_type=G type=f num_elts=8 align=GRF
//! .decl T6 v_type=T num_elts=1
//! .input X offset=32 size=32
//! .input T6 offset=64 size=4
//! .kernel_attr SimdSize=8
//! mul (M1,8) X(0,0)<1> X(0,0)<1;1,0> 0x40000000:f
//! oword_st (2) T6 0x0:ud X.0
//! ret (M1,8)
//! ";
//! let device = Device::new(Config::new(Platform::Skl));
//! let kernel = Module::load(&device, "twice.visaasm", Source::Text(text))?.kernel("twice")?;
//! let out = device.buffer("out", 32)?;
//! let x: Vec<u8> = (0..8).flat_map(|i| (i as f32).to_le_bytes()).collect();
//! let outcome = device.run(&kernel, &Launch::threads(&[1], 1).arg("X", x).arg("T6", &out))?;
//! assert!(outcome.fault.is_none());
//! assert_eq!(out.to_vec()[12..16], 6f32.to_le_bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use envisa_binary as binary;
pub use envisa_diag as diag;
pub use envisa_interp as interp;
pub use envisa_isa as isa;
pub use envisa_lower as lower;
pub use envisa_machine as machine;
pub use envisa_sanitize as sanitize;
pub use envisa_sem as sem;
pub use envisa_text as text;
pub use envisa_verify as verify;
pub use envisa_zebin as zebin;

mod bound_arguments;
mod buffer;
mod causes;
mod debug_stage;
mod device;
mod engine_choice;
mod error;
mod fault;
mod finding;
mod finding_positions;
mod host_memory;
mod image;
#[doc(hidden)]
pub mod internals;
mod kernel;
mod launch;
mod launch_observers;
mod module;
mod observe;
mod profile;
mod run;
mod run_statistics;
mod source;
mod variable_shapes;
mod work_items;

pub use buffer::Buffer;
pub use debug_stage::{Given, Stage};
pub use device::{
    Caps, Config, Device, Engine, OPENCL_DEVICES, UnknownEngine, UnknownPlatform, host_level, platform,
};
pub use engine_choice::NativeCode;
pub use error::{Diagnostics, Error};
pub use fault::{
    Access, AccessKind, Fault, FaultKind, Inlined, Location, Nearest, Place, SourceLine, ThreadPlace,
    ThreadState,
};
pub use finding::{Finding, FindingKind, Race, Related};
pub use finding_positions::FindingPositions;
pub use image::{
    Addressing, ChannelOrder, ChannelType, Compare, Image, ImageDesc, ImageFormat, ImageShape, Mip,
    Reduction, Sampler,
};
pub use kernel::{Argument, ArgumentKind, Attributes, Kernel, LocalVariables, Unwritten, Variable};
pub use launch::{Arg, ArgKey, Cancel, Launch, Order, Progress};
pub use module::{LoadOptions, Module, Source};
pub use observe::{Accessed, Executed, Observer, Space, Wants};
pub use profile::{
    Counts, InstructionProfile, LineProfile, Model, Profile, ProfiledText, Trace, TraceSpan, TraceThread,
};
pub use run::{Compiled, Dropped, Footprint, Outcome, Run, ThreadRegisters};
pub use run_statistics::{FidelityEntry, LeftEntry, MemoryLine, Native, Statistics};
pub use source::SourceText;
pub use work_items::WorkItem;
