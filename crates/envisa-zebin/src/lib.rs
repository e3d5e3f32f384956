//! zebin: ELF and .ze_info in and out, vISA text sections, launch metadata.
