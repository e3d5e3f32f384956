//! Calls of the C library by which the application frees memory: `free`, `realloc` and `munmap`; and those by which it gets blocks,
//! which are noted ([`host_blocks`]).
//!
//! The dynamic linker writes the addresses of these functions into a table of each library, and of the program; here they are
//! replaced by functions that ask first, or note. This library's own table stays as it is.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

use crate::host_blocks;

/// Bytes of a page.
const PAGE: usize = 4096;

/// Whether the application may free memory; if not, whoever says so frees it later.
pub type Ask = fn(Range<u64>, Block) -> bool;

static ASK: OnceLock<Ask> = OnceLock::new();

fn ask_whether_used(range: Range<u64>, block: Block) -> bool {
    ASK.get().is_none_or(|ask| ask(range, block))
}

/// Something that is to be freed.
#[derive(Clone, Copy, Debug)]
pub enum Block {
    /// By `free`.
    Allocated(usize),
    /// By `munmap`.
    Mapped(usize, usize),
    /// The driver frees it itself.
    OfDriver,
}

impl Block {
    /// Frees it.
    pub fn free(self) {
        match self {
            // SAFETY: the application called `free` for it, and that call did nothing.
            Block::Allocated(at) => unsafe { libc::free(at as *mut c_void) },
            // SAFETY: as above, with `munmap`.
            Block::Mapped(at, len) => unsafe {
                libc::munmap(at as *mut c_void, len);
            },
            Block::OfDriver => {}
        }
    }
}

fn may_free(pointer: *mut c_void) -> bool {
    let at = pointer as u64;
    pointer.is_null()
        || ask_whether_used(at..at + host_blocks::usable_size(pointer), Block::Allocated(at as usize))
}

unsafe extern "C" fn free(pointer: *mut c_void) {
    if may_free(pointer) {
        host_blocks::note_freed_block(pointer as u64);
        // SAFETY: as the application called it.
        unsafe { libc::free(pointer) };
    }
}

/// Notes a block; gives it.
fn note_block(pointer: *mut c_void, bytes: usize) -> *mut c_void {
    host_blocks::note_allocated_block(pointer as u64, bytes as u64, host_blocks::usable_size(pointer));
    pointer
}

unsafe extern "C" fn malloc(bytes: usize) -> *mut c_void {
    // SAFETY: as the application called it.
    note_block(unsafe { libc::malloc(bytes) }, bytes)
}

unsafe extern "C" fn calloc(count: usize, bytes: usize) -> *mut c_void {
    // SAFETY: as the application called it.
    note_block(unsafe { libc::calloc(count, bytes) }, count.saturating_mul(bytes))
}

unsafe extern "C" fn aligned_alloc(align: usize, bytes: usize) -> *mut c_void {
    // SAFETY: as the application called it.
    note_block(unsafe { libc::aligned_alloc(align, bytes) }, bytes)
}

unsafe extern "C" fn memalign(align: usize, bytes: usize) -> *mut c_void {
    // SAFETY: as the application called it.
    note_block(unsafe { libc::memalign(align, bytes) }, bytes)
}

unsafe extern "C" fn posix_memalign(to: *mut *mut c_void, align: usize, bytes: usize) -> c_int {
    // SAFETY: as the application called it; what it wrote is read if that went well.
    unsafe {
        let result = libc::posix_memalign(to, align, bytes);
        if result == 0 {
            note_block(*to, bytes);
        }
        result
    }
}

unsafe extern "C" fn reallocarray(pointer: *mut c_void, count: usize, bytes: usize) -> *mut c_void {
    match count.checked_mul(bytes) {
        // SAFETY: as the application called it.
        Some(bytes) => unsafe { realloc(pointer, bytes) },
        None => std::ptr::null_mut(),
    }
}

unsafe extern "C" fn realloc(pointer: *mut c_void, size: usize) -> *mut c_void {
    if size == 0 || may_free(pointer) {
        host_blocks::note_freed_block(pointer as u64);
        // SAFETY: as the application called it.
        let new = unsafe { libc::realloc(pointer, size) };
        return if size == 0 { new } else { note_block(new, size) };
    }
    // SAFETY: both blocks have as many bytes as are copied.
    unsafe {
        let new = libc::malloc(size);
        if !new.is_null() {
            std::ptr::copy_nonoverlapping(
                pointer.cast::<u8>(),
                new.cast(),
                size.min(host_blocks::usable_size(pointer) as usize),
            );
        }
        note_block(new, size)
    }
}

unsafe extern "C" fn munmap(start: *mut c_void, len: usize) -> c_int {
    let at = start as u64;
    if ask_whether_used(at..at + len as u64, Block::Mapped(start as usize, len)) {
        // SAFETY: as the application called it.
        return unsafe { libc::munmap(start, len) };
    }
    0
}

/// A function's replacement, and its own address.
fn find_replacement(name: &CStr) -> Option<(usize, usize)> {
    macro_rules! any {
        ($($name:ident)*) => {
            match name.to_bytes() {
                $(n if n == stringify!($name).as_bytes() => Some((
                    $name as *const () as usize,
                    libc::$name as *const () as usize,
                )),)*
                _ => None,
            }
        };
    }
    any!(free realloc reallocarray munmap malloc calloc aligned_alloc memalign posix_memalign)
}

/// Has the functions replaced in all that is loaded, where that was not done yet, by such that ask.
pub fn intercept_frees(by: Ask) {
    ASK.get_or_init(|| by);
    /// How many libraries have been loaded.
    static SEEN: Mutex<u64> = Mutex::new(0);
    let mut seen = SEEN.lock().unwrap();
    let mut now = 0u64;
    // SAFETY: the function is called during the call, with the address of the number.
    unsafe { libc::dl_iterate_phdr(Some(count), (&raw mut now).cast()) };
    if now != *seen {
        *seen = now;
        // SAFETY: the function is called during the call.
        unsafe { libc::dl_iterate_phdr(Some(replace_in_object), std::ptr::null_mut()) };
    }
}

unsafe extern "C" fn count(info: *mut libc::dl_phdr_info, _: usize, number: *mut c_void) -> c_int {
    // SAFETY: both are valid during the call; `number` is of `listen`.
    unsafe { *number.cast::<u64>() = (*info).dlpi_adds };
    1
}

/// The parts of a loaded file's dynamic section that name functions of others.
#[derive(Default)]
struct Tables {
    symbols: usize,
    names: usize,
    /// Addresses and lengths of the lists of relocations.
    lists: [(usize, usize); 2],
}

unsafe extern "C" fn replace_in_object(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the linker describes what it has loaded, and keeps it during the call.
    unsafe {
        let info = &*info;
        let base = info.dlpi_addr as usize;
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        let inside = |h: &libc::Elf64_Phdr, at: usize| {
            let start = base + h.p_vaddr as usize;
            (start..start + h.p_memsz as usize).contains(&at)
        };
        let is_own = headers
            .iter()
            .any(|h| h.p_type == libc::PT_LOAD && inside(h, replace_in_object as *const () as usize));
        let name = if info.dlpi_name.is_null() { c"" } else { CStr::from_ptr(info.dlpi_name) };
        let name = name.to_string_lossy();
        let file = name.rsplit('/').next().unwrap_or_default();
        // The C library's own calls are between itself and its memory.
        let is_system = ["libc.so", "ld-linux", "linux-vdso"].iter().any(|s| file.starts_with(s));
        let Some(dynamic) = headers.iter().find(|h| h.p_type == libc::PT_DYNAMIC) else { return 0 };
        if is_own || is_system {
            return 0;
        }
        let fixed = headers.iter().filter(|h| h.p_type == libc::PT_GNU_RELRO);
        let fixed: Vec<&libc::Elf64_Phdr> = fixed.collect();
        let tables = dynamic_tables(base, (base + dynamic.p_vaddr as usize) as *const [u64; 2]);
        for (list, len) in tables.lists {
            for i in 0..len / 24 {
                let [offset, kind, add] = *((list + i * 24) as *const [u64; 3]);
                // R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_64: the address of a function, and nothing else.
                let (kind, symbol) = (kind & 0xffff_ffff, kind >> 32);
                if !matches!(kind, 6 | 7) && (kind, add) != (1, 0) {
                    continue;
                }
                let symbol = tables.symbols + symbol as usize * 24;
                let symbol = CStr::from_ptr((tables.names + *(symbol as *const u32) as usize) as *const _);
                let at = base + offset as usize;
                if let Some((new, own)) = find_replacement(symbol)
                    && (kind != 1 || *(at as *const usize) == own)
                {
                    set_table_entry(at as *mut usize, new, fixed.iter().any(|h| inside(h, at)));
                }
            }
        }
    }
    0
}

/// # Safety
/// `entry` is the dynamic section of a file that is loaded at `base`.
unsafe fn dynamic_tables(base: usize, mut entry: *const [u64; 2]) -> Tables {
    let mut tables = Tables::default();
    // Most linkers have written addresses in place of offsets.
    let address = |value: u64| if (value as usize) < base { base + value as usize } else { value as usize };
    loop {
        // SAFETY: the section ends with an entry of kind 0.
        let [kind, value] = unsafe { *entry };
        match kind {
            0 => return tables,
            5 => tables.names = address(value),
            6 => tables.symbols = address(value),
            7 => tables.lists[0].0 = address(value),
            8 => tables.lists[0].1 = value as usize,
            23 => tables.lists[1].0 = address(value),
            2 => tables.lists[1].1 = value as usize,
            _ => {}
        }
        // SAFETY: as above.
        entry = unsafe { entry.add(1) };
    }
}

/// Sets an entry of a table of addresses. `fixed`: its page can only be read.
///
/// # Safety
/// `entry` is such an entry.
unsafe fn set_table_entry(entry: *mut usize, new: usize, fixed: bool) {
    // SAFETY: the page is of the table; threads read the entry as a whole.
    unsafe {
        if *entry == new {
            return;
        }
        let page = (entry as usize & !(PAGE - 1)) as *mut c_void;
        let allow = |access| libc::mprotect(page, PAGE, access) == 0;
        if !fixed || allow(libc::PROT_READ | libc::PROT_WRITE) {
            std::sync::atomic::AtomicUsize::from_ptr(entry).store(new, std::sync::atomic::Ordering::Relaxed);
            if fixed {
                allow(libc::PROT_READ);
            }
        }
    }
}
