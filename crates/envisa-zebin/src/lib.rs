//! zebin: ELF and .ze_info in and out, vISA text sections, launch metadata.
//!
//! [`ZebinFile::parse`] reads what `ocloc` and the Level Zero and OpenCL runtimes exchange: an ELF file
//! with the metadata of its kernels, and, built with the option that asks for it, their vISA text.
//! [`Writer`] makes one from parts.
//!
//! ```
//! use envisa_zebin::{Writer, ZebinFile};
//!
//! let info = "
//! version: '1.20'
//! kernels:
//!   - name: k
//!     execution_env: { grf_count: 128, simd_size: 8 }
//! ";
//! let bytes = Writer::new(info).visa(None, ".version 4.1\n.kernel \"k\"\n").finish()?;
//! let zebin = ZebinFile::parse(&bytes)?;
//! assert_eq!(zebin.ze_info.kernel("k").unwrap().execution_env.simd_size, 8);
//! assert_eq!(zebin.kernel_visa("k")?.kernel_name.as_deref(), Some("k"));
//! # Ok::<(), envisa_zebin::Error>(())
//! ```

pub mod check_reports;
mod device_notes;
pub mod dwarf;
pub mod elf;
mod file;
pub mod spirv;
mod writer;
mod yaml;
pub mod ze_info;

pub use device_notes::{DeviceFamily, Notes, UnknownDevice};
pub use elf::{Elf, RelocKind, Relocation, Section, Symbol};
pub use file::{DataKind, DataSection, VisaOwner, VisaSection, ZebinFile};
pub use writer::Writer;
pub use ze_info::{Kernel, KernelArgument, PayloadArgument, Warning, ZeInfo, ZeInfoError};

/// The `ocloc` option that makes a zebin where the default is the older format.
pub const OPTION_ZEBIN: &str = "-cl-intel-allow-zebin";
/// The `ocloc` option that keeps the vISA text.
pub const OPTION_VISA: &str = "-ze-emit-zebin-visa-sections";

/// Why a zebin cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Another format.
    #[error("not a zebin: this is {found}")]
    NotZebin {
        /// What it is.
        found: String,
    },
    /// An OpenCL device binary of the older format.
    #[error(
        "this is an OpenCL device binary with patch tokens, not a zebin; \
         rebuild with `ocloc compile ... -internal_options \"{OPTION_ZEBIN} {OPTION_VISA}\"`"
    )]
    PatchTokens,
    /// The container is damaged.
    #[error("malformed ELF at offset {offset:#x}: {message}")]
    Elf {
        /// Where in the file.
        offset: u64,
        /// What is wrong there.
        message: String,
    },
    /// The metadata section is missing.
    #[error("this ELF file has no .ze_info section: it is not a zebin")]
    NoZeInfo,
    /// The metadata is damaged.
    #[error(transparent)]
    ZeInfo(#[from] ZeInfoError),
    /// The vISA text was not kept.
    #[error(
        "no vISA text for kernel `{kernel}`: \
         build with `ocloc compile ... -internal_options \"{OPTION_ZEBIN} {OPTION_VISA}\"`; \
         of vector-compute code, put the dump of a build with IGC_ShaderDumpEnable=1 beside the file"
    )]
    NoVisa {
        /// The kernel asked for.
        kernel: String,
    },
    /// A kernel that is not there.
    #[error("no kernel `{kernel}`; there are: {available}")]
    NoKernel {
        /// The kernel asked for.
        kernel: String,
        /// Those that exist.
        available: String,
    },
    /// Parts that make no file.
    #[error("cannot write the zebin: {message}")]
    Write {
        /// Why.
        message: String,
    },
}
