//! Memory and events that processes of a machine share: what one calls by a handle, another can open.
//!
//! A handle says which file of pages it means by the number of its descriptor in the process that made it, and by what the
//! system knows it by. Another process has the file by that process's descriptors, or by its own, if somebody sent it the
//! descriptor and put its number into the handle.

use std::collections::HashMap;
use std::fs::File;
use std::sync::{Arc, LazyLock, Mutex};

use envisa_runtime::host_memory::{Backing, PAGE};
use envisa_runtime::pages::{Pages, Words};

use super::command::between_commands;
use super::device::Device;
use super::error::{Error, Result};
use super::event::Pool;
use super::memory::{Context, Kind, Origin};
use super::reserved::Physical;

/// A handle's bytes.
pub type Bytes = [u8; 64];

/// What the system knows a file by.
type Identity = (u64, u64);

/// What a handle is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SharedKind {
    /// Memory.
    Memory = 1,
    /// Events.
    Events = 2,
}

/// What a handle says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Said {
    descriptor: u32,
    process: u32,
    identity: Identity,
    /// Bytes of it.
    offset: u64,
    size: u64,
}

/// How a handle's words begin, behind the descriptor, which applications may replace.
const MARK: u32 = 0x697a_6c00;

/// Pages of handles that were given out, and how many of them were.
type Given = HashMap<Identity, (Arc<Pages>, usize)>;

static GIVEN: LazyLock<Mutex<Given>> = LazyLock::new(Mutex::default);

impl Said {
    fn encode(&self, what: SharedKind) -> Bytes {
        let mut bytes = [0; 64];
        bytes[0..4].copy_from_slice(&self.descriptor.to_le_bytes());
        bytes[4..8].copy_from_slice(&(MARK | what as u32).to_le_bytes());
        bytes[8..12].copy_from_slice(&self.process.to_le_bytes());
        let words = [self.identity.0, self.identity.1, self.offset, self.size];
        for (place, word) in bytes[16..48].chunks_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn decode(bytes: &Bytes, what: SharedKind) -> Result<Said> {
        let number =
            |at: usize, n: usize| bytes[at..at + n].iter().rev().fold(0, |a, b| a << 8 | u64::from(*b));
        if number(4, 4) as u32 != MARK | what as u32 {
            return Err(Error::INVALID_ARGUMENT);
        }
        Ok(Said {
            descriptor: number(0, 4) as u32,
            process: number(8, 4) as u32,
            identity: (number(16, 8), number(24, 8)),
            offset: number(32, 8),
            size: number(40, 8),
        })
    }

    /// The file that is meant: none that only has the same number.
    fn pages(&self) -> Result<Arc<Pages>> {
        if let Some((pages, _)) = GIVEN.lock().unwrap().get(&self.identity) {
            return Ok(pages.clone());
        }
        let own = std::process::id();
        let least = self.offset.checked_add(self.size).and_then(|n| usize::try_from(n).ok());
        let least = least.ok_or(Error::INVALID_ARGUMENT)?;
        for process in [own, self.process] {
            let path = format!("/proc/{process}/fd/{}", self.descriptor);
            let file = File::options().read(true).write(true).open(path);
            let Ok(pages) = file.and_then(|file| Pages::from_file(file, least)) else { continue };
            if pages.identity().is_ok_and(|i| i == self.identity) {
                return Ok(pages);
            }
        }
        Err(Error::INVALID_ARGUMENT)
    }
}

/// A handle of pages, which it holds until it is given back.
fn export_handle(what: SharedKind, pages: Arc<Pages>, offset: usize, size: usize) -> Result<Bytes> {
    let identity = pages.identity().map_err(|_| Error::OUT_OF_HOST_MEMORY)?;
    let said = Said {
        descriptor: pages.descriptor() as u32,
        process: std::process::id(),
        identity,
        offset: offset as u64,
        size: size as u64,
    };
    GIVEN.lock().unwrap().entry(identity).or_insert((pages, 0)).1 += 1;
    Ok(said.encode(what))
}

/// A handle is given back: what it is of stays as long as others need it.
///
/// # Errors
/// If there is none such.
pub fn give_back(handle: &Bytes, what: SharedKind) -> Result<()> {
    let identity = Said::decode(handle, what)?.identity;
    let mut given = GIVEN.lock().unwrap();
    let (_, n) = given.get_mut(&identity).ok_or(Error::INVALID_ARGUMENT)?;
    *n -= 1;
    if *n == 0 {
        given.remove(&identity);
    }
    Ok(())
}

/// The number of a handle's descriptor.
///
/// # Errors
/// If there is no such file in this process.
pub fn descriptor(handle: &Bytes) -> Result<u32> {
    let said = Said::decode(handle, SharedKind::Memory)?;
    said.pages()?;
    Ok(said.descriptor)
}

/// A handle of all of a file that this process has open.
///
/// # Errors
/// If there is no such file of pages.
pub fn of_descriptor(descriptor: u64) -> Result<Bytes> {
    let path = format!("/proc/self/fd/{descriptor}");
    let file = File::options().read(true).write(true).open(path).map_err(|_| Error::INVALID_ARGUMENT)?;
    let pages = Pages::from_file(file, 0).map_err(|_| Error::INVALID_ARGUMENT)?;
    let size = pages.len();
    export_handle(SharedKind::Memory, pages, 0, size)
}

/// A handle of physical memory.
///
/// # Errors
/// The system's.
pub fn of_physical(physical: &Physical) -> Result<Bytes> {
    export_handle(SharedKind::Memory, physical.pages.clone(), 0, physical.size)
}

impl Context {
    /// A handle of the memory at an address.
    ///
    /// # Errors
    /// If there is no such memory, or it cannot be shared: variables of modules.
    pub fn share(&self, address: usize) -> Result<Bytes> {
        let pointer = self.pointer(address).ok_or(Error::INVALID_ARGUMENT)?;
        if pointer.origin == Origin::Mapped {
            let start = pointer.backing.address();
            let (pages, offset, _) = self.mapped_pages(start).ok_or(Error::INVALID_ARGUMENT)?;
            return export_handle(SharedKind::Memory, pages, offset, pointer.size);
        }
        let shared = between_commands(|| pointer.backing.shared_pages())?;
        let (pages, offset) = shared.map_err(|e| match e.kind() {
            std::io::ErrorKind::Unsupported => Error::INVALID_ARGUMENT,
            _ => Error::OUT_OF_HOST_MEMORY,
        })?;
        export_handle(SharedKind::Memory, pages, offset, pointer.size)
    }

    /// Opens a handle: gives the address of the memory.
    ///
    /// # Errors
    /// If nothing is behind it (any more).
    pub fn open(&self, device: Arc<Device>, handle: &Bytes) -> Result<usize> {
        let said = Said::decode(handle, SharedKind::Memory)?;
        let pages = said.pages()?;
        let (offset, size) = (said.offset as usize, said.size as usize);
        let first = offset & !(PAGE - 1);
        let mapping = pages.mapped(first, (offset - first).saturating_add(size));
        let mapping = mapping.map_err(|_| Error::INVALID_ARGUMENT)?;
        let backing = Backing::of_mapping(mapping, offset - first).ok_or(Error::INVALID_ARGUMENT)?;
        Ok(self.add(Kind::Device, Some(device), backing, Origin::Opened))
    }
}

/// Words of an event: whether it is signalled, what failed, when it began and ended.
pub const WORDS: usize = 8;
/// Words before the first event: how many there are, flags of the pool.
pub const HEAD: usize = 8;

/// Words for so many events of a pool with these flags.
///
/// # Errors
/// If the host has no memory left.
pub fn words(count: u32, flags: u32) -> Result<Words> {
    let bytes = (HEAD + count as usize * WORDS) * size_of::<u64>();
    let made =
        Pages::new(bytes).and_then(|pages| Words::of(&pages)).map_err(|_| Error::OUT_OF_HOST_MEMORY)?;
    for (i, value) in [count, flags].into_iter().enumerate() {
        if let Some(word) = made.get(i) {
            word.store(u64::from(value), std::sync::atomic::Ordering::Relaxed);
        }
    }
    Ok(made)
}

/// A handle of a pool.
///
/// # Errors
/// If it was not made for sharing.
pub fn of_pool(pool: &Pool) -> Result<Bytes> {
    let pages = pool.shared.as_ref().ok_or(Error::INVALID_ARGUMENT)?.pages().clone();
    let size = pages.len();
    export_handle(SharedKind::Events, pages, 0, size)
}

/// Opens a handle of a pool.
///
/// # Errors
/// If nothing is behind it (any more).
pub fn open_pool(context: Arc<Context>, handle: &Bytes) -> Result<Pool> {
    let pages = Said::decode(handle, SharedKind::Events)?.pages()?;
    let words = Words::of(&pages).map_err(|_| Error::OUT_OF_HOST_MEMORY)?;
    let word = |i: usize| words.get(i).map_or(0, |w| w.load(std::sync::atomic::Ordering::Relaxed)) as u32;
    let (count, flags) = (word(0), word(1));
    if words.len() < HEAD + count as usize * WORDS {
        return Err(Error::INVALID_ARGUMENT);
    }
    Ok(Pool { context, flags, count, counter_based: false, shared: Some(Arc::new(words)), opened: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_says_what_it_is_of() {
        let said = Said { descriptor: 7, process: 8, identity: (9, u64::MAX), offset: 10, size: 11 };
        let bytes = said.encode(SharedKind::Memory);
        assert_eq!(Said::decode(&bytes, SharedKind::Memory), Ok(said));
        assert_eq!(Said::decode(&bytes, SharedKind::Events), Err(Error::INVALID_ARGUMENT));
        assert_eq!(Said::decode(&[0; 64], SharedKind::Memory), Err(Error::INVALID_ARGUMENT));
        assert_eq!(said.pages().unwrap_err(), Error::INVALID_ARGUMENT);
    }

    #[test]
    fn pages_are_held_until_their_handles_are_given_back() {
        let pages = Pages::new(1).unwrap();
        let weak = Arc::downgrade(&pages);
        let handle = export_handle(SharedKind::Memory, pages.clone(), 0, 1).unwrap();
        let again = export_handle(SharedKind::Memory, pages, 0, 1).unwrap();
        assert_eq!(handle, again);
        give_back(&handle, SharedKind::Memory).unwrap();
        assert!(weak.upgrade().is_some());
        give_back(&handle, SharedKind::Memory).unwrap();
        assert!(weak.upgrade().is_none());
        assert_eq!(give_back(&handle, SharedKind::Memory), Err(Error::INVALID_ARGUMENT));
    }
}
