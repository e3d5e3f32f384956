//! Numeric limits, with where they come from ("pages": the specification; "reader": the reference reader).

use crate::Platform;

/// Kernels of a file; chapter 4.
pub const KERNELS: usize = 512;
/// General variables of an object, predefined ones included; chapter 4's table.
pub const GENERAL_VARIABLES: usize = 65536;
/// Address variables; chapter 4's table.
pub const ADDRESS_VARIABLES: usize = 4096;
/// Predicate variables, the unused P0 included: instructions hold 12 bits of the index; chapter 4's table.
pub const PREDICATE_VARIABLES: usize = 4096;
/// Samplers; chapter 4's table. S31 is the bindless one.
pub const SAMPLERS: usize = 32;
/// Surfaces, predefined ones included; chapter 4's table.
pub const SURFACES: usize = 256;
/// Labels: instructions hold 16 bits of the index.
pub const LABELS: usize = 65536;
/// Inputs of a kernel; chapter 4.
pub const INPUTS: usize = 256;

/// Elements of an address variable; reader.
pub const ADDRESS_ELEMENTS: u16 = 16;
/// Elements of a predicate: one for each channel; chapter 4.
pub const PREDICATE_ELEMENTS: u16 = 32;
/// Elements of a surface or sampler variable; reader.
pub const STATE_ELEMENTS: u16 = 128;
/// Bytes of a general variable: all registers of a thread (reader), which [`register_file_bytes`] gives
/// for a platform. The number of elements has 16 bits in the file.
pub const VARIABLE_ELEMENTS: u32 = 65535;

/// Bytes of a kernel's or function's name in the file's header: 16 bits; chapter 4.
pub const HEADER_NAME_BYTES: usize = 65535;
/// Bytes of a kernel's name that the reference accepts; chapter 4 on `name_index`.
pub const KERNEL_NAME_BYTES: usize = 1023;
/// Bytes of a label's name; chapter 4.
pub const LABEL_NAME_BYTES: usize = 1024;
/// Bytes of an attribute's name; chapter 4.
pub const ATTRIBUTE_NAME_BYTES: usize = 64;
/// Bytes of an attribute's value: one byte holds the length. Chapter 4 says up to 256 for strings.
pub const ATTRIBUTE_VALUE_BYTES: usize = 255;
/// Attributes of a variable: one byte holds the number.
pub const VARIABLE_ATTRIBUTES: usize = 255;
/// Attributes of an object: two bytes hold the number.
pub const OBJECT_ATTRIBUTES: usize = 65535;
/// Bytes of a source file's name; page FILE.
pub const FILE_NAME_BYTES: usize = 255;

/// Channels of an instruction; chapter 3.
pub const CHANNELS: u32 = 32;
/// Parameters of a 3D sampler message; reader.
pub const SAMPLER_PARAMETERS: usize = 15;
/// Named barriers of a thread group; page NBARRIER.
pub const NAMED_BARRIERS: u32 = 32;
/// Registers of `%arg`; chapter 4.
pub const ARG_GRFS: u32 = 32;
/// Registers of `%retval`; chapter 4.
pub const RETVAL_GRFS: u32 = 12;
/// Bytes of a media block in registers; page MEDIA_LD.
pub const MEDIA_BLOCK_BYTES: u32 = 256;

/// General registers of a thread; twice as many in the large mode from XeHP on.
pub const fn registers(platform: Platform, large: bool) -> u32 {
    match platform {
        Platform::Bdw | Platform::Chv | Platform::Skl | Platform::Bxt | Platform::Icllp | Platform::Tgllp => {
            128
        }
        _ if large => 256,
        _ => 128,
    }
}

/// Bytes of shared local memory that a thread group can have, as Intel's driver says (`maxProgrammableSlmSize`).
pub const fn shared_local_memory(platform: Platform) -> u64 {
    match platform {
        Platform::Bdw
        | Platform::Chv
        | Platform::Skl
        | Platform::Bxt
        | Platform::Icllp
        | Platform::Tgllp
        | Platform::XehpSdv
        | Platform::Dg2
        | Platform::Mtl
        | Platform::Arl => 64 << 10,
        Platform::Pvc | Platform::Pvcxt | Platform::Xe2 | Platform::Xe3 => 128 << 10,
        Platform::Xe3p => 384 << 10,
    }
}

/// Bytes of all general registers of a thread.
pub const fn register_file_bytes(platform: Platform, large: bool) -> u32 {
    registers(platform, large) * platform.grf_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn register_files() {
        assert_eq!(register_file_bytes(Platform::Skl, true), 4096);
        assert_eq!(register_file_bytes(Platform::Dg2, true), 8192);
        assert_eq!(register_file_bytes(Platform::Pvc, false), 8192);
        assert_eq!(register_file_bytes(Platform::Pvc, true), 16384);
    }
}
