//! Numeric limits, with where they come from ("pages": the specification; "reader": the reference reader).

use crate::Platform;

/// Kernels of a file; chapter 4.
pub const KERNELS: usize = 512;
/// General variables that an object can declare: of chapter 4's 65536, the first are predefined.
pub const GENERAL_VARIABLES: usize = 65536 - crate::predefined::FIRST_VAR as usize;
/// Address variables; chapter 4's table. The file has two bytes for the number ([`COUNTED_BY_TWO_BYTES`]), and the
/// reference takes as many.
pub const ADDRESS_VARIABLES: usize = 4096;
/// Predicate variables: instructions hold 12 bits of the index, and 0 is none; chapter 4's table.
pub const PREDICATE_VARIABLES: usize = 4095;
/// Samplers that a kernel can declare: of chapter 4's 32, S31 is the bindless one.
pub const SAMPLERS: usize = 31;
/// Surfaces that a kernel can declare: of chapter 4's 256, the first are predefined.
pub const SURFACES: usize = 256 - crate::predefined::FIRST_SURFACE as usize;
/// Bytes of a surface's or sampler's state, where one is found behind another's address: the reference compiler
/// counts so.
pub const STATE_BYTES: u32 = 64;
/// Labels: two bytes hold their number.
pub const LABELS: usize = COUNTED_BY_TWO_BYTES;
/// Inputs of a kernel, in text and files: a byte each of the largest register file.
pub const INPUTS: usize = 16384;
/// Inputs of a kernel that the reference assembler reads: it counts them in a byte, and of 256 writes none. Chapter 4
/// says 256; the reference compiler, which counts in 32 bits, makes more of a kernel with arguments of 1024 bytes.
pub const INPUTS_OF_REFERENCE: usize = COUNTED_BY_ONE_BYTE;
/// What a byte of the file can count: samplers, surfaces, attributes of a variable, native codes.
pub const COUNTED_BY_ONE_BYTE: usize = 255;
/// What two bytes of the file can count: kernels, functions, address variables, labels, attributes of an object.
pub const COUNTED_BY_TWO_BYTES: usize = 65535;
/// Strings of an object; chapter 4.
pub const STRINGS: usize = 131_072;

/// Elements of an address variable; reader.
pub const ADDRESS_ELEMENTS: u16 = 16;
/// Elements of a predicate: one for each channel; chapter 4.
pub const PREDICATE_ELEMENTS: u16 = 32;
/// Elements of a surface or sampler variable; reader.
pub const STATE_ELEMENTS: u16 = 128;
/// Elements of a general variable that the file can say, in 16 bits. All registers of a thread bound its bytes
/// (reader): [`register_file_bytes`].
pub const VARIABLE_ELEMENTS: u32 = 65535;
/// Elements of a general variable; chapter 4.
pub const PAGE_VARIABLE_ELEMENTS: u16 = 4096;
/// Bytes of a general variable with registers of 32 bytes, as chapter 4 says, and of 64, as the reference compiler
/// uses.
pub const PAGE_VARIABLE_BYTES: [u32; 2] = [4096, 8192];

/// Bytes of a kernel's or function's name in the file's header: 16 bits; chapter 4.
pub const HEADER_NAME_BYTES: usize = COUNTED_BY_TWO_BYTES;
/// Bytes of a kernel's name that the reference accepts; chapter 4 on `name_index`.
pub const KERNEL_NAME_BYTES: usize = 1023;
/// Bytes of a variable's name; chapter 4.
pub const VARIABLE_NAME_BYTES: usize = 64;
/// Bytes of a label's name; chapter 4.
pub const LABEL_NAME_BYTES: usize = 1024;
/// Bytes of an attribute's name; chapter 4.
pub const ATTRIBUTE_NAME_BYTES: usize = 64;
/// Bytes of an attribute's value: one byte holds the length. Chapter 4 says up to 256 for strings.
pub const ATTRIBUTE_VALUE_BYTES: usize = COUNTED_BY_ONE_BYTE;
/// Attributes of a variable: one byte holds the number.
pub const VARIABLE_ATTRIBUTES: usize = COUNTED_BY_ONE_BYTE;
/// Attributes of an object: two bytes hold the number.
pub const OBJECT_ATTRIBUTES: usize = COUNTED_BY_TWO_BYTES;
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

/// General registers of a thread, at most.
pub const MOST_REGISTERS: u32 = 256;

/// General registers of a thread; twice as many in the large mode from XeHP on.
pub const fn registers(platform: Platform, large: bool) -> u32 {
    match platform {
        Platform::Bdw | Platform::Chv | Platform::Skl | Platform::Bxt | Platform::Icllp | Platform::Tgllp => {
            128
        }
        _ if large => MOST_REGISTERS,
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
