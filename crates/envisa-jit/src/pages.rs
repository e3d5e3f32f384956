//! Pages of code, and the call into them: written, then executable, never both.
#![allow(unsafe_code)]

use memmap2::{Mmap, MmapOptions};

/// Code that can run.
pub(crate) struct Code {
    map: Mmap,
}

impl Code {
    /// Puts code into pages of its own.
    ///
    /// # Errors
    /// Where the host gives no pages, or does not let them be executed.
    pub fn new(bytes: &[u8]) -> std::io::Result<Code> {
        // All of them at once: a fault for each page takes longer.
        let mut map = MmapOptions::new().len(bytes.len().max(1)).populate().map_anon()?;
        map[..bytes.len()].copy_from_slice(bytes);
        Ok(Code { map: map.make_exec()? })
    }

    /// Where it is.
    #[cfg(target_os = "linux")]
    pub fn start(&self) -> u64 {
        self.map.as_ptr() as u64
    }

    /// Calls the function at the start of the code.
    ///
    /// # Safety
    /// The code is a function of this signature, and what it does with its arguments is sound.
    pub unsafe fn call(&self, registers: *mut u8, context: *mut u8) -> u32 {
        // SAFETY: the pages hold a function of this signature, by the caller's promise.
        let f: extern "sysv64" fn(*mut u8, *mut u8) -> u32 =
            unsafe { std::mem::transmute(self.map.as_ptr()) };
        let how = f(registers, context);
        debug_assert!(to_nearest(), "native code left another direction of rounding");
        how
    }
}

/// Does the CPU round to nearest, as the machine's own code takes it to?
pub(crate) fn to_nearest() -> bool {
    let (one, little) = std::hint::black_box((1f32, 1e-9));
    one + little == one && one - little == one
}

/// The start of a file, mapped as if it were to be executed: so `perf` learns that it is there. Nothing reads it here.
#[cfg(target_os = "linux")]
pub(crate) struct Marker {
    _map: Mmap,
}

#[cfg(target_os = "linux")]
impl Marker {
    /// Maps it.
    ///
    /// # Errors
    /// Where the host does not map it.
    pub fn new(file: &std::fs::File) -> std::io::Result<Marker> {
        // SAFETY: that the file may change matters to those who read the mapping, and nobody does.
        let map = unsafe { MmapOptions::new().len(1).map_exec(file)? };
        Ok(Marker { _map: map })
    }
}
