//! Host memory that applications, queues and kernels share.
//!
//! Buffers live in memory of the host, at whose address devices see them too. Applications touch it through
//! mapped pointers whenever they like, and kernels race as they may: no reference into it ever exists, bytes
//! are moved by raw copies inside of checked bounds.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, OnceLock};

use crate::command_order::{self, Ranges};
use crate::pages::{Mapping, Pages, Reservation, map_zeros};
use crate::{guarded_host_memory, memory_in_use, undefined_content};

/// Alignment of allocations, or of where they are placed from: a page, as Intel's driver aligns.
pub use crate::pages::PAGE;

/// Bytes behind each allocation that belong to nobody, while mistakes are looked for: they are never touched, so they
/// cost addresses rather than memory.
const RED_ZONE: usize = 1 << 18;

/// Memory that was allocated here, zeroed, or that the application lent; and what devices know of it.
#[derive(Debug)]
pub struct Backing {
    memory: Arc<Memory>,
    /// The same bytes as buffers of devices that have used it.
    attached: Mutex<Vec<envisa::Buffer>>,
    /// Addresses that something was written to; none if that is not known, or nobody looks.
    written: OnceLock<Mutex<Ranges>>,
    /// What was not written has a content of its own ([`undefined_content`]), by which it is seen what the application wrote.
    seen: OnceLock<()>,
    /// A kernel was given it as structures: some of its bytes may be padding.
    records: OnceLock<()>,
}

/// The bytes themselves: they outlive the backing where a launch still reaches them.
#[derive(Debug)]
pub struct Memory {
    start: NonNull<u8>,
    len: usize,
    owner: Owner,
    /// The pages that it is in, if others can have them, and where it begins there.
    pages: OnceLock<(Arc<Pages>, usize)>,
}

/// Who owns memory.
#[derive(Debug)]
enum Owner {
    /// It was allocated, with this layout.
    Heap(NonNull<u8>, Layout),
    /// The application, which lent it.
    Application,
    /// Variables of a module.
    Module,
    /// Pages at some addresses that were reserved.
    Reserved(Arc<Reservation>),
    /// Pages, which are there until this ends.
    Mapped { _pages: Mapping },
}

// SAFETY: plain bytes, moved by raw copies only; ownership is in `owner`.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    fn new(start: NonNull<u8>, len: usize, owner: Owner) -> Memory {
        Memory { start, len, owner, pages: OnceLock::new() }
    }

    /// Bytes behind all of it, with the rest of the last word, that may be read and that nobody writes.
    fn padding(&self) -> usize {
        // A page follows what was allocated.
        if matches!(self.owner, Owner::Heap(..)) && !crate::report::is_checking() {
            size_of::<u64>()
        } else {
            0
        }
    }

    /// The pages that an allocation lies in: they are all its own.
    fn whole_pages(&self) -> Range<usize> {
        let start = self.start.as_ptr() as usize;
        start & !(PAGE - 1)..(start + self.len.max(1)).next_multiple_of(PAGE)
    }
}

impl Backing {
    /// Allocates zeroed bytes; `None` if the host has none left. A page that belongs to nobody follows them (more
    /// while mistakes are looked for), so that on the device an access past the end is not an access to a neighbour.
    pub fn allocate(len: usize, align: usize) -> Option<Arc<Backing>> {
        let zone = if crate::report::is_checking() { RED_ZONE } else { PAGE };
        // Who asks for no more than elements need gets what suits the caches.
        let place = if align <= 128 { envisa::machine::memory::place_of(len) } else { 0 };
        let align = align.max(PAGE);
        let room = len.max(1).checked_next_multiple_of(PAGE)?.checked_add(zone + place)?;
        // Aligned here: an allocator that is asked to align writes the zeros itself, while large memory that comes
        // zeroed costs nothing until it is touched.
        let layout = Layout::from_size_align(room.checked_add(align)?, 16).ok()?;
        // SAFETY: the layout's size is not zero.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let at = base.as_ptr() as usize;
        let skip = at.next_multiple_of(align) - at + place;
        // SAFETY: `skip` is less than `align`, by which the allocation is larger than `room`, and `place`, which is in that.
        let start = unsafe { base.add(skip) };
        Some(Backing::of(Memory::new(start, len, Owner::Heap(base, layout))))
    }

    /// Memory of the application.
    ///
    /// # Safety
    /// `len` bytes from `start` on stay readable and writable as long as the backing lives.
    pub unsafe fn lend_from_application(start: *mut u8, len: usize) -> Option<Arc<Backing>> {
        let memory = Memory::new(NonNull::new(start)?, len, Owner::Application);
        if crate::report::is_checking() {
            memory_in_use::lend_to_buffer(start as u64..start as u64 + len as u64);
        }
        Some(Backing::of(memory))
    }

    /// The bytes of a buffer that is at one address on the host and on its device: variables of a module.
    pub fn of_buffer(buffer: envisa::Buffer) -> Option<Arc<Backing>> {
        let (start, len) = (NonNull::new(buffer.host_pointer())?, buffer.len() as usize);
        let backing = Backing::of(Memory::new(start, len, Owner::Module));
        // The buffer keeps the bytes, here and wherever a launch reaches them.
        backing.attached.lock().unwrap().push(buffer);
        Some(backing)
    }

    /// Some of the addresses of a reservation.
    pub fn of_reservation(room: &Arc<Reservation>, at: Range<usize>) -> Option<Arc<Backing>> {
        let all = room.range();
        let start = NonNull::new(at.start as *mut u8)?;
        let inside = all.start <= at.start && at.start <= at.end && at.end <= all.end;
        inside.then(|| Backing::of(Memory::new(start, at.len(), Owner::Reserved(room.clone()))))
    }

    /// The reservation that it is part of.
    pub fn reservation(&self) -> Option<&Arc<Reservation>> {
        if let Owner::Reserved(room) = &self.memory.owner { Some(room) } else { None }
    }

    /// Pages that were mapped, from some byte of them on.
    pub fn of_mapping(mapping: Mapping, skip: usize) -> Option<Arc<Backing>> {
        let len = mapping.len().checked_sub(skip)?;
        // SAFETY: inside of the mapping, or right behind it.
        let start = unsafe { mapping.start().add(skip) };
        let (pages, offset) = mapping.pages();
        let place = (pages.clone(), offset + skip);
        let memory = Memory::new(start, len, Owner::Mapped { _pages: mapping });
        memory.pages.get_or_init(|| place);
        Some(Backing::of(memory))
    }

    /// The pages that the bytes are in, for others to have them, too, and where they begin there. Memory of the heap gets
    /// some, and is then as it was; what is written to it meanwhile may be lost.
    ///
    /// # Errors
    /// The system's; or if the memory is of a kind that cannot be shared.
    pub fn shared_pages(&self) -> std::io::Result<(Arc<Pages>, usize)> {
        if let Some(pages) = self.memory.pages.get() {
            return Ok(pages.clone());
        }
        let Owner::Heap(..) = self.memory.owner else { return Err(std::io::ErrorKind::Unsupported.into()) };
        // One at a time.
        let _attached = self.attached.lock().unwrap();
        if let Some(pages) = self.memory.pages.get() {
            return Ok(pages.clone());
        }
        let whole = self.memory.whole_pages();
        let skip = self.address() - whole.start;
        // SAFETY: whole pages of the allocation, of which nobody has references.
        let pages = unsafe { Pages::take_over(whole) }?;
        Ok(self.memory.pages.get_or_init(|| (pages, skip)).clone())
    }

    fn of(memory: Memory) -> Arc<Backing> {
        Arc::new(Backing {
            memory: Arc::new(memory),
            attached: Mutex::default(),
            written: OnceLock::new(),
            seen: OnceLock::new(),
            records: OnceLock::new(),
        })
    }

    /// The first byte's address.
    pub fn address(&self) -> usize {
        self.memory.start.as_ptr() as usize
    }

    /// The first byte.
    pub fn pointer(&self) -> *mut u8 {
        self.memory.start.as_ptr()
    }

    /// How many bytes.
    #[allow(clippy::len_without_is_empty, reason = "none is empty")]
    pub fn len(&self) -> usize {
        self.memory.len
    }

    /// All of it.
    pub fn region(self: &Arc<Self>) -> Region {
        Region { start: self.memory.start.as_ptr(), len: self.memory.len, keep: Some(self.clone()) }
    }

    /// From now on it is known what is written: nothing yet, and only commands write. While mistakes are looked for.
    pub fn watch(&self) {
        if crate::report::is_checking() {
            self.written.get_or_init(Mutex::default);
        }
    }

    /// The same of memory that the application writes, too: what it writes is seen by what is there.
    pub fn watch_shared(self: &Arc<Self>) {
        if crate::report::is_checking() && undefined_content::fill_with_pattern(&self.region()) {
            self.watch();
            self.seen.get_or_init(|| ());
        }
    }

    /// Bytes at these addresses were written.
    pub fn wrote(&self, range: Range<u64>) {
        if let Some(written) = self.written.get() {
            written.lock().unwrap().add(range);
        }
    }

    /// Bytes at these addresses have no content any more.
    pub fn note_content_lost(&self, range: &Range<u64>) {
        if let Some(written) = self.written.get() {
            written.lock().unwrap().remove(range);
        }
    }

    /// A kernel is given it as structures.
    pub fn note_records(&self) {
        self.records.get_or_init(|| ());
    }

    /// Was a kernel given it as structures?
    pub fn has_records(&self) -> bool {
        self.records.get().is_some()
    }

    /// What of these addresses was never written, in order, if that is known.
    pub fn unwritten_parts(self: &Arc<Self>, range: &Range<u64>) -> Vec<Range<u64>> {
        let Some(written) = self.written.get() else { return Vec::new() };
        let mut written = written.lock().unwrap();
        let (mut all, mut at) = (Vec::new(), range.start);
        while let Some(hole) = written.first_gap(&(at..range.end)) {
            at = hole.end;
            all.push(hole);
        }
        if self.seen.get().is_none() {
            return all;
        }
        let start = self.address() as u64;
        let mut still = Vec::new();
        for hole in all {
            let part = self.region().part((hole.start - start) as usize, (hole.end - hole.start) as usize);
            let unwritten = part.map(|part| undefined_content::unwritten_ranges(&part)).unwrap_or_default();
            written.add(hole.clone());
            for hole in unwritten.within(&hole) {
                written.remove(&hole);
                still.push(hole);
            }
        }
        still
    }

    /// What of these addresses was written; all if that is not known.
    fn written(self: &Arc<Self>, range: &Range<u64>) -> Vec<Range<u64>> {
        self.unwritten_parts(range);
        self.written.get().map_or_else(|| vec![range.clone()], |w| w.lock().unwrap().within(range))
    }

    /// Is it the application's own?
    pub fn is_lent(&self) -> bool {
        matches!(self.memory.owner, Owner::Application)
    }

    /// How many bytes devices have of it. Of memory that others own nobody knows what is behind it; behind ours a page
    /// follows.
    fn on_device(&self) -> usize {
        match self.memory.owner {
            Owner::Heap(..) => words(self.memory.len),
            _ => self.memory.len,
        }
    }

    /// Where a surface ends on a device whose last byte is the one before `end`.
    pub fn surface_end(&self, end: usize) -> usize {
        words(end).min(self.on_device().max(end))
    }

    /// Some of the bytes as a buffer of a device, at the host's address.
    ///
    /// # Errors
    /// If the device's memory is exhausted, or they are not inside.
    pub fn buffer_on(
        &self,
        device: &envisa::Device,
        bytes: Range<usize>,
    ) -> std::result::Result<envisa::Buffer, envisa::Error> {
        if let Owner::Reserved(room) = &self.memory.owner {
            return room.buffer_on(device, self.address() + bytes.start..self.address() + bytes.end);
        }
        let bytes = bytes.start as u64..bytes.end as u64;
        let mut attached = self.attached.lock().unwrap();
        if let Some(buffer) = attached.iter().find(|b| b.is_of(device)) {
            return buffer.slice(bytes);
        }
        let (start, len) = (self.memory.start, self.on_device());
        // Without a name: reports call it what the kernel calls the argument that it is.
        // SAFETY: the bytes, with the rest of the last word, live as long as `memory`, or as the application promised;
        // the host touches them by raw copies only.
        let import = |same_address: bool| unsafe {
            let keep: Box<dyn Any + Send + Sync> = Box::new(self.memory.clone());
            device.import_padded("", start, (len, self.memory.padding()), Some(keep), same_address)
        };
        // Memory that the application lent twice has one place there, and another.
        let buffer = import(true).or_else(|e| if self.is_lent() { import(false) } else { Err(e) })?;
        let part = buffer.slice(bytes);
        attached.push(buffer);
        part
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // Of what others own, there may be more of these.
        let own = !matches!(self.owner, Owner::Module | Owner::Reserved(_));
        if own && crate::report::is_checking() {
            let start = self.start.as_ptr() as u64;
            command_order::freed(start..start + self.len as u64);
            memory_in_use::forget_memory(&(start..start + self.len as u64));
            if matches!(self.owner, Owner::Application) {
                memory_in_use::give_back(&(start..start + self.len as u64));
            }
        }
        if let Owner::Heap(base, layout) = self.owner {
            if self.pages.get().is_some() {
                // The heap gets memory back that is nobody else's.
                // SAFETY: whole pages of the allocation.
                let done = unsafe { map_zeros(self.whole_pages()) };
                if let Err(e) = done {
                    // It is lost rather than shared.
                    return crate::log::print_warning(&format!("shared memory cannot be given back: {e}"));
                }
            }
            // SAFETY: allocated with this layout.
            unsafe { dealloc(base.as_ptr(), layout) };
        }
    }
}

/// How far a surface of so many bytes goes on the device. Surfaces are made of words of four bytes, and compilers count on
/// that: of the last three bytes of a buffer of 255 they make one read of four. Where mistakes are looked for, what lies
/// behind the last byte counts as outside.
fn words(bytes: usize) -> usize {
    if crate::report::is_checking() { bytes } else { bytes.saturating_add(3) & !3 }
}

/// Bytes somewhere in the host's memory.
#[derive(Clone, Debug)]
pub struct Region {
    start: *mut u8,
    len: usize,
    /// What the bytes lie in; none for the application's memory.
    keep: Option<Arc<Backing>>,
}

// SAFETY: as for `Backing`; of the application's memory, the application promised it.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

/// Rows in planes, as `clEnqueueReadBufferRect` describes them; in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Layout3 {
    /// Offset of the first byte.
    pub offset: usize,
    /// From row to row.
    pub row: usize,
    /// From plane to plane.
    pub slice: usize,
}

impl Region {
    /// Memory of the application.
    ///
    /// # Safety
    /// As the standard demands of pointers passed in: `len` bytes are readable (writable if written to) until
    /// the command that uses them is complete.
    pub unsafe fn host(start: *mut u8, len: usize) -> Region {
        Region { start, len, keep: None }
    }

    /// Length in bytes.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The first byte's address.
    pub fn address(&self) -> usize {
        self.start as usize
    }

    /// The first byte.
    pub fn pointer(&self) -> *mut u8 {
        self.start
    }

    /// What it lies in.
    pub fn backing(&self) -> Option<&Arc<Backing>> {
        self.keep.as_ref()
    }

    /// A part; `None` if it is not inside.
    pub fn part(&self, offset: usize, len: usize) -> Option<Region> {
        if offset.checked_add(len)? > self.len {
            return None;
        }
        // SAFETY: inside of the region.
        Some(Region { start: unsafe { self.start.add(offset) }, len, keep: self.keep.clone() })
    }

    /// The addresses of `size[2]` planes of `size[1]` rows of `size[0]` bytes.
    pub fn row_ranges(&self, rows: Layout3, size: [usize; 3]) -> Vec<Range<u64>> {
        let start = self.start as u64;
        let places =
            (0..size[2]).flat_map(|p| (0..size[1]).map(move |r| rows.offset + p * rows.slice + r * rows.row));
        let mut all: Vec<Range<u64>> = Vec::new();
        for place in places.map(|at| start + at as u64) {
            let end = place + size[0] as u64;
            match all.last_mut() {
                Some(last) if last.end == place => last.end = end,
                _ => all.push(place..end),
            }
        }
        all
    }

    /// Copies from another region, as many bytes as fit both; they may overlap.
    pub fn copy_from(&self, from: &Region) {
        let n = self.len.min(from.len);
        if crate::report::is_checking() {
            self.note_copy(from, n as u64);
        }
        if n == 0 {
            return;
        }
        let copy = |r: Range<usize>| {
            // SAFETY: both regions are valid for `n` bytes, of which these are a part; `copy` allows for overlap.
            unsafe { std::ptr::copy(from.start.add(r.start), self.start.add(r.start), r.len()) };
        };
        let (source, target) = (from.start as usize, self.start as usize);
        match source.abs_diff(target) < n {
            // Bytes are written that others are read from.
            true => copy(0..n),
            false => envisa::machine::pool::copy_by_pieces(n, copy),
        }
    }

    /// A number that other bytes hardly have; none where nobody looks, or of very many bytes.
    pub fn digest(&self) -> Option<u64> {
        const MOST: usize = 64 << 20;
        (crate::report::is_checking() && self.len <= MOST).then(|| {
            let mut hasher = std::hash::DefaultHasher::new();
            std::hash::Hasher::write(&mut hasher, &self.to_vec());
            std::hash::Hasher::finish(&hasher)
        })
    }

    /// The addresses of it.
    pub fn range(&self) -> Range<u64> {
        self.start as u64..self.start as u64 + self.len as u64
    }

    /// Something writes all of it.
    pub fn note_write(&self) {
        match &self.keep {
            Some(backing) => {
                command_order::note_access(self.range(), true);
                backing.wrote(self.range());
            }
            None => guarded_host_memory::forget_range(&self.range()),
        }
    }

    /// So many bytes are copied here: what was never written stays so.
    fn note_copy(&self, from: &Region, bytes: u64) {
        let (source, target) = (from.start as u64, self.start as u64);
        guarded_host_memory::forget_range(&(target..target + bytes));
        if let Some(backing) = &from.keep {
            command_order::note_access(source..source + bytes, false);
            let written = backing.written(&(source..source + bytes));
            match &self.keep {
                None if written.is_empty() && bytes > 0 => crate::report::report_host_mistake(
                    "content",
                    &format!("{bytes} bytes of memory are read that nothing has written"),
                ),
                None => {}
                Some(to) => {
                    command_order::note_access(target..target + bytes, true);
                    if backing.has_records() {
                        to.note_records();
                    }
                    for part in written {
                        to.wrote(part.start - source + target..part.end - source + target);
                    }
                }
            }
        } else if let Some(to) = &self.keep {
            command_order::note_access(target..target + bytes, true);
            to.wrote(target..target + bytes);
        }
    }

    /// Copies bytes in, as many as fit.
    pub fn write(&self, bytes: &[u8]) {
        if crate::report::is_checking() {
            self.note_write();
        }
        let n = self.len.min(bytes.len());
        if n > 0 {
            // SAFETY: the region is valid for `n` bytes; overlap is allowed for.
            unsafe { std::ptr::copy(bytes.as_ptr(), self.start, n) };
        }
    }

    /// A copy of the bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.len];
        if self.len > 0 {
            // SAFETY: the region is valid for its length, and the copy is not in it.
            unsafe { std::ptr::copy_nonoverlapping(self.start, bytes.as_mut_ptr(), self.len) };
        }
        bytes
    }

    /// A copy of `size[2]` planes of `size[1]` rows of `size[0]` bytes, without what lies between them. Rows that
    /// would be outside are left out.
    pub fn rows(&self, from: Layout3, size: [usize; 3]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for plane in 0..size[2] {
            for row in 0..size[1] {
                let row = self.part(from.offset + plane * from.slice + row * from.row, size[0]);
                bytes.extend(row.map(|r| r.to_vec()).unwrap_or_default());
            }
        }
        bytes
    }

    /// Repeats a pattern over all of it.
    pub fn fill(&self, pattern: &[u8]) {
        if pattern.is_empty() || self.len == 0 {
            return;
        }
        if crate::report::is_checking() {
            self.note_write();
        }
        let first = pattern.len().min(self.len);
        self.write(&pattern[..first]);
        // What is there is doubled until all is.
        let mut done = first;
        while done < self.len {
            let n = done.min(self.len - done);
            // SAFETY: both ranges are inside and do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(self.start, self.start.add(done), n) };
            done += n;
        }
    }

    /// Copies `size[2]` planes of `size[1]` rows of `size[0]` bytes. What would be outside of either region is
    /// not copied: callers check before.
    pub fn copy_rows(&self, to: Layout3, from: &Region, at: Layout3, size: [usize; 3]) {
        for plane in 0..size[2] {
            for row in 0..size[1] {
                let target = self.part(to.offset + plane * to.slice + row * to.row, size[0]);
                let source = from.part(at.offset + plane * at.slice + row * at.row, size[0]);
                if let (Some(target), Some(source)) = (target, source) {
                    target.copy_from(&source);
                }
            }
        }
    }
}

impl Layout3 {
    /// One past the last byte that a copy of this size touches.
    pub fn end(&self, size: [usize; 3]) -> Option<usize> {
        if size.contains(&0) {
            return Some(self.offset);
        }
        let planes = (size[2] - 1).checked_mul(self.slice)?;
        let rows = (size[1] - 1).checked_mul(self.row)?;
        self.offset.checked_add(planes)?.checked_add(rows)?.checked_add(size[0])
    }
}

#[cfg(test)]
mod tests;
