//! Handles: what an application holds, and the objects behind them.
//!
//! A handle is the address of a [`Head`], which begins with the dispatch table as the ICD loader wants it.
//! What is behind an address is looked up in a table: nothing that an application passes is followed before it
//! was found there, so null, freed, foreign handles and those of another kind are errors of the standard and
//! nothing worse. The heads of dead objects are kept for a while before they are freed, because the loader does
//! follow them.
#![allow(unsafe_code)]

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::hash::{BuildHasherDefault, Hasher};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, OnceLock, RwLock, Weak};

use super::error::{Error, Result};

/// Dead heads that are kept.
const QUARANTINE: usize = 1 << 16;
const SHARDS: usize = 16;

/// What a handle points to: the loader reads the first word.
#[repr(C)]
struct Head {
    dispatch: *const c_void,
    /// Belongs to loaders of version 2 of the interface.
    dispatch_data: *mut c_void,
}

/// A head and its memory. It is not a box: the address was given away, and a box that is moved invalidates
/// pointers to what it holds.
struct Owned(NonNull<Head>);

// SAFETY: the dispatch table is a static, the other word is never looked at here.
unsafe impl Send for Owned {}
// SAFETY: as above.
unsafe impl Sync for Owned {}

impl Owned {
    fn new(head: Head) -> Owned {
        Owned(NonNull::from(Box::leak(Box::new(head))))
    }

    fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: `new` leaked it, and nobody else frees it.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// Kinds of objects that have handles.
pub trait Object: Any + Send + Sync {
    /// What a call returns that was given something else.
    const INVALID: Error;
    /// Where the object keeps its handle.
    fn slot(&self) -> &Slot;
}

/// An object's own handle, once it has one.
#[derive(Default, Debug)]
pub struct Slot(OnceLock<usize>);

struct Entry {
    object: Weak<dyn Any + Send + Sync>,
    /// Held as long as the application holds references.
    held: Option<Arc<dyn Any + Send + Sync>>,
    references: u32,
    #[allow(dead_code, reason = "owns the memory that the handle points to")]
    head: Owned,
}

/// Hashes addresses. What is in the table are addresses of our own making: what applications look up cannot fill one
/// place of it, and no secret is needed.
#[derive(Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_usize(usize::from(*b)));
    }

    fn write_usize(&mut self, address: usize) {
        // Heads are apart by multiples of 16. A product's upper bits depend on all of these; the table looks at the lowest and
        // the highest of the hash.
        self.0 = (self.0 ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type Shard = RwLock<HashMap<usize, Entry, BuildHasherDefault<AddressHasher>>>;

fn shard_of_address(address: usize) -> &'static Shard {
    static TABLE: OnceLock<Vec<Shard>> = OnceLock::new();
    let table = TABLE.get_or_init(|| (0..SHARDS).map(|_| RwLock::default()).collect());
    &table[(address >> 4) % SHARDS]
}

/// Gives an object its handle, with one reference; of an object that has one, another reference.
pub fn publish<T: Object>(object: &Arc<T>) -> *mut c_void {
    let mut new = false;
    let address = *object.slot().0.get_or_init(|| {
        new = true;
        let head = Owned::new(Head {
            dispatch: std::ptr::from_ref(crate::api::dispatch_table()).cast(),
            dispatch_data: std::ptr::null_mut(),
        });
        let address = head.address();
        let any: Arc<dyn Any + Send + Sync> = object.clone();
        let entry = Entry { object: Arc::downgrade(&any), held: Some(any), references: 1, head };
        shard_of_address(address).write().unwrap().insert(address, entry);
        address
    });
    if !new {
        let mut table = shard_of_address(address).write().unwrap();
        if let Some(entry) = table.get_mut(&address) {
            entry.references += 1;
            entry.held.get_or_insert_with(|| object.clone());
        }
    }
    address as *mut c_void
}

/// The handle of an object without a further reference; null if it has none.
pub fn of<T: Object>(object: &T) -> *mut c_void {
    object.slot().0.get().map_or(std::ptr::null_mut(), |a| *a as *mut c_void)
}

/// The object behind a handle.
///
/// # Errors
/// [`Object::INVALID`] if there is none of this kind.
pub fn get<T: Object>(handle: *mut c_void) -> Result<Arc<T>> {
    let address = handle as usize;
    let table = shard_of_address(address).read().unwrap();
    let object = table.get(&address).and_then(|e| e.object.upgrade());
    drop(table);
    object.and_then(|o| o.downcast::<T>().ok()).ok_or_else(|| no_object_error::<T>(address))
}

/// The error of a call that was given no object.
fn no_object_error<T: Object>(address: usize) -> Error {
    crate::api::note_reason(|| {
        let dead = DEAD.lock().unwrap();
        match dead.iter().any(|e| e.head.address() == address) {
            _ if address == 0 => "the object is null".into(),
            true => "the object was released before".into(),
            false => "there is no such object".into(),
        }
    });
    T::INVALID
}

/// Objects that are gone, whose heads are kept for a while.
static DEAD: Mutex<VecDeque<Entry>> = Mutex::new(VecDeque::new());

/// One more reference.
///
/// # Errors
/// As [`get`].
pub fn retain<T: Object>(handle: *mut c_void) -> Result<()> {
    let object = get::<T>(handle)?;
    publish(&object);
    Ok(())
}

/// One reference less; without any left the object lives as long as others need it.
///
/// # Errors
/// As [`get`]; also if there was no reference.
pub fn release<T: Object>(handle: *mut c_void) -> Result<()> {
    let address = handle as usize;
    let mut table = shard_of_address(address).write().unwrap();
    let Some(entry) = table.get_mut(&address) else {
        drop(table);
        return Err(no_object_error::<T>(address));
    };
    // Held as long as there are references.
    if !entry.held.as_ref().is_some_and(|object| (**object).is::<T>()) {
        if entry.held.is_none() {
            crate::api::note_reason(|| "the program has released it as often as it may".into());
        }
        return Err(T::INVALID);
    }
    entry.references -= 1;
    let last = if entry.references == 0 { entry.held.take() } else { None };
    drop(table);
    // Dropped here, outside of the lock: its end takes the lock.
    drop(last);
    Ok(())
}

/// References that the application holds.
pub fn references<T: Object>(object: &T) -> u32 {
    let Some(address) = object.slot().0.get() else { return 0 };
    shard_of_address(*address).read().unwrap().get(address).map_or(0, |e| e.references)
}

/// How many objects of each kind the application holds: what it has leaked when it ends.
pub fn held_objects() -> Vec<Arc<dyn Any + Send + Sync>> {
    let mut all = Vec::new();
    for n in 0..SHARDS {
        let table = shard_of_address(n << 4).read().unwrap();
        all.extend(table.values().filter_map(|e| e.held.clone()));
    }
    all
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Some(address) = self.0.get() else { return };
        let entry = shard_of_address(*address).write().unwrap().remove(address);
        let mut dead = DEAD.lock().unwrap();
        dead.extend(entry);
        let freed = if dead.len() > QUARANTINE { dead.pop_front() } else { None };
        drop(dead);
        drop(freed);
    }
}
