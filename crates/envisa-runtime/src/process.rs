//! The process that the library was loaded into: its standard output, its end, and where the library lies.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_void};
use std::path::PathBuf;

unsafe extern "C" {
    static stdout: *mut libc::FILE;
}

/// Prints what kernels print: into the C library's standard output, where the application's own text goes.
pub fn print(text: &str) {
    let text = CString::new(text.replace('\0', "")).unwrap_or_default();
    // SAFETY: the stream is the C library's own, the text ends with a zero.
    unsafe {
        libc::fputs(text.as_ptr(), stdout);
        libc::fflush(stdout);
    }
}

static AT_END: std::sync::OnceLock<fn()> = std::sync::OnceLock::new();

extern "C" fn end() {
    if let Some(function) = AT_END.get() {
        // Nothing may unwind into the C library.
        let _ = std::panic::catch_unwind(function);
    }
}

/// Run by the C library when the process ends, after the destructors of the program's own static objects, which
/// release what they hold; a function registered with `atexit` would come before them.
// SAFETY: the section holds addresses of functions without arguments, as this is one.
#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;

/// Has a function called when the process ends.
pub fn at_exit(function: fn()) {
    // The first one stays.
    let _ = AT_END.set(function);
}

/// The file that this code was loaded from.
pub fn library_path() -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let here: fn() -> Option<PathBuf> = library_path;
    // SAFETY: the address is of this function; the name that comes back lives as long as the library.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(here as *const c_void, &raw mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        let name = CStr::from_ptr(info.dli_fname);
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(name.to_bytes()));
        std::path::absolute(path).ok()
    }
}
