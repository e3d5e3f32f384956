//! Pages of memory that can be at several addresses and in several processes, and addresses that are reserved before
//! pages are put there.
//!
//! Pages are a file in memory without a name. Addresses stay accessible as long as anything here that has them lives:
//! where no pages are any more, zeros are, so that a command which still uses them does not end the process.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard};

/// Bytes of a page.
pub const PAGE: usize = 4096;

/// What nobody may do with files of pages: change their sizes, or what may be done.
const SEALS: i32 = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// Pages, zero at first.
#[derive(Debug)]
pub struct Pages {
    file: File,
    len: usize,
}

/// An address where pages of a file are, until it is dropped.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    len: usize,
    pages: Arc<Pages>,
    offset: usize,
}

// SAFETY: addresses are plain numbers here; nothing is read or written through them.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Pages {
    /// So many bytes, up to whole pages.
    ///
    /// # Errors
    /// The system's.
    pub fn new(len: usize) -> io::Result<Arc<Pages>> {
        let len = len.checked_next_multiple_of(PAGE).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: the name is a string of C; nothing else is passed by address.
        let fd =
            unsafe { libc::memfd_create(c"envisa".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it was just made, and nobody else has it.
        let file = unsafe { File::from_raw_fd(fd) };
        file.set_len(len as u64)?;
        // Nobody takes pages away from under a mapping.
        // SAFETY: the descriptor is open, and seals are a number.
        if unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, SEALS) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Arc::new(Pages { file, len }))
    }

    /// Those of an open file that another one made.
    ///
    /// # Errors
    /// The system's; or if it is too short.
    pub fn from_file(file: File, least: usize) -> io::Result<Arc<Pages>> {
        let len = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        // SAFETY: the descriptor is open.
        let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
        if len < least || !len.is_multiple_of(PAGE) || seals != SEALS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Arc::new(Pages { file, len }))
    }

    /// How many bytes.
    #[allow(clippy::len_without_is_empty, reason = "none are empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The file.
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// What tells the file from others of this machine.
    ///
    /// # Errors
    /// The system's.
    pub fn identity(&self) -> io::Result<(u64, u64)> {
        let about = self.file.metadata()?;
        Ok((about.dev(), about.ino()))
    }

    /// Puts pages to addresses.
    ///
    /// # Safety
    /// What was at the addresses is the caller's, and nobody holds a reference into it.
    pub(crate) unsafe fn put(&self, at: Range<usize>, offset: usize) -> io::Result<()> {
        let inside = offset.checked_add(at.len()).is_some_and(|end| end <= self.len);
        if !inside || !(at.start | at.end | offset).is_multiple_of(PAGE) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        // SAFETY: promised by the caller.
        unsafe { map(at.start, at.len(), flags, self.descriptor(), offset) }.map(drop)
    }

    /// The content of memory becomes that of pages which it is then in: from now on others can have it, too.
    ///
    /// # Safety
    /// As for [`Pages::put`]. What is written there meanwhile may be lost.
    pub(crate) unsafe fn take_over(at: Range<usize>) -> io::Result<Arc<Pages>> {
        let pages = Pages::new(at.len())?;
        let mut done = 0;
        while done < at.len() {
            let from = (at.start + done) as *const libc::c_void;
            // SAFETY: the bytes are there, as the caller promised, and only the system reads them.
            let n = unsafe { libc::pwrite(pages.descriptor(), from, at.len() - done, done as libc::off_t) };
            match usize::try_from(n) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => done += n,
                Err(_) => return Err(io::Error::last_os_error()),
            }
        }
        // SAFETY: promised by the caller.
        unsafe { pages.put(at, 0) }?;
        Ok(pages)
    }

    /// Pages at an address that the system chooses.
    ///
    /// # Errors
    /// The system's; or if they are not inside.
    pub fn mapped(self: &Arc<Self>, offset: usize, len: usize) -> io::Result<Mapping> {
        let inside = offset.checked_add(len).is_some_and(|end| end <= self.len);
        if !inside || len == 0 || !offset.is_multiple_of(PAGE) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: nothing is at an address that the system chooses.
        let start = unsafe { map(0, len, libc::MAP_SHARED, self.descriptor(), offset) }?;
        Ok(Mapping { start, len, pages: self.clone(), offset })
    }
}

/// `mmap` for reading and writing, of a file or, with -1, of zeros.
///
/// # Safety
/// With `MAP_FIXED`, what was at the addresses is the caller's.
unsafe fn map(at: usize, len: usize, flags: i32, fd: RawFd, offset: usize) -> io::Result<NonNull<u8>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let offset = libc::off_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: promised by the caller.
    let start = unsafe { libc::mmap(at as *mut _, len, access, flags, fd, offset) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(start.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Zeros instead of what is at addresses.
///
/// # Safety
/// What was at the addresses is the caller's.
pub(crate) unsafe fn map_zeros(at: Range<usize>) -> io::Result<()> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
    // SAFETY: promised by the caller.
    unsafe { map(at.start, at.len(), flags, -1, 0) }.map(drop)
}

impl Mapping {
    /// The first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// How many bytes.
    #[allow(clippy::len_without_is_empty, reason = "none is empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The pages, and where in them it begins.
    pub fn pages(&self) -> (&Arc<Pages>, usize) {
        (&self.pages, self.offset)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped when this was made, and nobody else has the addresses.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Words that several processes read and write, zero at first.
#[derive(Debug)]
pub struct Words(Mapping);

impl Words {
    /// All words of some pages.
    ///
    /// # Errors
    /// The system's.
    pub fn of(pages: &Arc<Pages>) -> io::Result<Words> {
        pages.mapped(0, pages.len()).map(Words)
    }

    /// How many there are.
    #[allow(clippy::len_without_is_empty, reason = "there are some")]
    pub fn len(&self) -> usize {
        self.0.len / size_of::<u64>()
    }

    /// The pages that they are in.
    pub fn pages(&self) -> &Arc<Pages> {
        &self.0.pages
    }

    /// One of them; `None` if there are not so many.
    pub fn get(&self, index: usize) -> Option<&AtomicU64> {
        // SAFETY: the word is inside of the mapping, whose pages nobody can take away, and is only accessed as an atomic.
        (index < self.len()).then(|| unsafe { self.0.start.cast::<AtomicU64>().add(index).as_ref() })
    }
}

/// Addresses that nothing else is put to.
#[derive(Debug)]
pub struct Reservation {
    start: usize,
    len: usize,
    /// What devices see, by where it begins: neighbours are one.
    runs: Mutex<BTreeMap<usize, Run>>,
}

/// Addresses in a row with something there.
#[derive(Debug)]
struct Run {
    end: usize,
    /// The same as buffers of devices that have used it.
    buffers: Vec<envisa::Buffer>,
}

impl Reservation {
    /// Reserves so many bytes, at multiples of `align`; at `wanted` if nothing is there. `None`: there is no such room.
    pub fn new(wanted: usize, len: usize, align: usize) -> Option<Arc<Reservation>> {
        let align = align.max(PAGE);
        let room = len.checked_next_multiple_of(PAGE)?.checked_add(align)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: without `MAP_FIXED` nothing is replaced.
        let at = unsafe { libc::mmap(wanted as *mut _, room, libc::PROT_NONE, flags, -1, 0) };
        if at == libc::MAP_FAILED {
            return None;
        }
        let at = at as usize;
        let start = at.next_multiple_of(align);
        for rest in [at..start, start + len..at + room] {
            if !rest.is_empty() {
                // SAFETY: these pages are of this mapping, and nobody has seen them.
                unsafe { libc::munmap(rest.start as *mut _, rest.len()) };
            }
        }
        Some(Arc::new(Reservation { start, len, runs: Mutex::default() }))
    }

    /// All of its addresses.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.len
    }

    fn contains(&self, at: &Range<usize>) -> bool {
        at.start < at.end && self.start <= at.start && at.end <= self.start + self.len
    }

    fn runs(&self) -> MutexGuard<'_, BTreeMap<usize, Run>> {
        self.runs.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Puts pages there.
    ///
    /// # Errors
    /// The system's; or if something is not inside, or no multiple of the size of pages.
    pub fn put(&self, at: Range<usize>, pages: &Pages, offset: usize) -> io::Result<()> {
        if !self.contains(&at) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: the addresses are of this reservation, and bytes there are moved by raw copies only.
        unsafe { pages.put(at, offset) }
    }

    /// Takes away what is there.
    ///
    /// # Errors
    /// The system's; or if it is not inside.
    pub fn take(&self, at: Range<usize>) -> io::Result<()> {
        self.hide_from_devices(&at);
        if !self.contains(&at) || !(at.start | at.end).is_multiple_of(PAGE) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: as in `put`.
        unsafe { map_zeros(at) }
    }

    /// Devices see what is there, as one with its neighbours.
    pub fn show(&self, at: Range<usize>) {
        self.hide_from_devices(&at);
        let mut runs = self.runs();
        let mut merged = at.clone();
        if let Some((start, run)) = runs.range(..at.start).next_back()
            && run.end == at.start
        {
            merged.start = *start;
        }
        if let Some(next) = runs.remove(&at.end) {
            merged.end = next.end;
        }
        runs.insert(merged.start, Run { end: merged.end, buffers: Vec::new() });
    }

    /// Devices do not see it any more.
    pub fn hide_from_devices(&self, at: &Range<usize>) {
        let mut runs = self.runs();
        let met: Vec<usize> = runs
            .range(..at.end)
            .rev()
            .take_while(|(_, run)| run.end > at.start)
            .map(|(start, _)| *start)
            .collect();
        for start in met {
            let Some(run) = runs.remove(&start) else { continue };
            for rest in [start..at.start, at.end..run.end] {
                if rest.start < rest.end {
                    runs.insert(rest.start, Run { end: rest.end, buffers: Vec::new() });
                }
            }
        }
    }

    /// Some of what devices see as a buffer of one: through it kernels reach all that follows without a gap.
    ///
    /// # Errors
    /// If nothing is there (any more), or the device's memory is exhausted.
    pub fn buffer_on(
        self: &Arc<Self>,
        device: &envisa::Device,
        at: Range<usize>,
    ) -> Result<envisa::Buffer, envisa::Error> {
        let mut runs = self.runs();
        let found = runs.range_mut(..=at.start).next_back().filter(|(_, run)| at.end <= run.end);
        let Some((start, run)) = found else {
            let text = format!("nothing is mapped at {:#x}, which a command uses", at.start);
            return Err(envisa::Error::Memory(text));
        };
        let part = (at.start - start) as u64..(at.end - start) as u64;
        if let Some(buffer) = run.buffers.iter().find(|b| b.is_of(device)) {
            return buffer.slice(part);
        }
        let first = NonNull::new(*start as *mut u8)
            .ok_or_else(|| envisa::Error::Memory("nothing is at address 0".into()))?;
        // SAFETY: the addresses are accessible as long as this lives; the host touches them by raw copies only.
        let buffer =
            unsafe { device.import("", first, run.end - start, Some(Box::new(self.clone())), true) }?;
        run.buffers.push(buffer.clone());
        buffer.slice(part)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: reserved when this was made, and nobody has the addresses any more.
        unsafe { libc::munmap(self.start as *mut _, self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(at: usize) -> u32 {
        // SAFETY: the tests put pages there.
        unsafe { (at as *const u32).read() }
    }

    fn store(at: usize, value: u32) {
        // SAFETY: as above.
        unsafe { (at as *mut u32).write(value) }
    }

    #[test]
    fn pages_are_at_several_addresses() {
        let pages = Pages::new(3 * PAGE - 1).unwrap();
        assert_eq!(pages.len(), 3 * PAGE);
        let room = Reservation::new(0, 16 * PAGE, 1 << 16).unwrap();
        let at = room.range().start;
        assert!(at.is_multiple_of(1 << 16) && room.range().len() == 16 * PAGE);
        room.put(at..at + 2 * PAGE, &pages, PAGE).unwrap();
        store(at, 7);
        let other = pages.mapped(PAGE, 100).unwrap();
        assert_eq!(word(other.start().as_ptr() as usize), 7);
        room.take(at..at + 2 * PAGE).unwrap();
        assert_eq!(word(at), 0, "zeros are there, and the process lives");
        assert_eq!(word(other.start().as_ptr() as usize), 7);
        for (range, offset) in [
            (at..at + 4 * PAGE, 0),
            (at..at + PAGE, 1),
            (at + 1..at + PAGE, 0),
            (at..at + 17 * PAGE, 0),
            (at..at + PAGE, usize::MAX & !(PAGE - 1)),
        ] {
            assert!(room.put(range, &pages, offset).is_err());
        }
        assert!(pages.mapped(2 * PAGE, 2 * PAGE).is_err() && pages.mapped(0, 0).is_err());
    }

    #[test]
    fn what_was_memory_becomes_pages() {
        let pages = Pages::new(PAGE).unwrap();
        let first = pages.mapped(0, PAGE).unwrap();
        let at = first.start().as_ptr() as usize;
        store(at + 4, 9);
        // SAFETY: the mapping is the test's own.
        let taken = unsafe { Pages::take_over(at..at + PAGE) }.unwrap();
        assert_eq!(word(at + 4), 9);
        store(at + 4, 10);
        let again = taken.mapped(0, PAGE).unwrap();
        assert_eq!(word(again.start().as_ptr() as usize + 4), 10);
        assert_ne!(taken.identity().unwrap(), pages.identity().unwrap());
    }

    #[test]
    fn neighbours_are_one_to_devices() {
        let room = Reservation::new(0, 8 * PAGE, PAGE).unwrap();
        let at = room.range().start;
        let runs = |r: &Reservation| {
            let all = r.runs();
            all.iter().map(|(s, run)| ((s - at) / PAGE, (run.end - at) / PAGE)).collect::<Vec<_>>()
        };
        room.show(at..at + PAGE);
        room.show(at + 2 * PAGE..at + 3 * PAGE);
        assert_eq!(runs(&room), [(0, 1), (2, 3)]);
        room.show(at + PAGE..at + 2 * PAGE);
        assert_eq!(runs(&room), [(0, 3)]);
        room.hide_from_devices(&(at + PAGE..at + 2 * PAGE));
        assert_eq!(runs(&room), [(0, 1), (2, 3)]);
        room.hide_from_devices(&(at..at + 8 * PAGE));
        assert_eq!(runs(&room), []);
    }
}
