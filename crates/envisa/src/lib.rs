//! envisa: assemble, disassemble, verify, explain and run vISA.
