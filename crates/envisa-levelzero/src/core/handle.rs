//! Handles: what applications hold, and the objects behind them.
//!
//! A handle is a number that stands in a table and is never given out twice. Nothing that an application passes is
//! followed: null, destroyed and foreign handles and those of another kind are errors and nothing worse.

use std::any::Any;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, RwLock};

use super::error::{Error, Result};

/// A handle as applications have it; null is zero.
pub type Handle = usize;

type Object = Arc<dyn Any + Send + Sync>;
type Shard = RwLock<HashMap<Handle, Object, BuildHasherDefault<Spread>>>;

/// Handles are counted up by the driver itself: spreading them over a table's places is enough, and takes no time.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_usize(usize::from(*b)));
    }

    fn write_usize(&mut self, n: usize) {
        // The lowest bits of handles are alike, and a table looks at the lowest.
        self.0 = (self.0 ^ n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}

const SHARDS: usize = 16;
/// Handles are apart as addresses of objects are, and even in the lowest bits: some programs keep marks there.
const STEP: usize = 16;

fn shard_of_handle(handle: Handle) -> &'static Shard {
    static TABLE: OnceLock<Vec<Shard>> = OnceLock::new();
    let table = TABLE.get_or_init(|| (0..SHARDS).map(|_| RwLock::default()).collect());
    &table[(handle / STEP) % SHARDS]
}

/// Gives an object a handle, which holds it until it is destroyed.
pub fn publish<T: Any + Send + Sync>(object: &Arc<T>) -> Handle {
    static NEXT: AtomicUsize = AtomicUsize::new(0x10000);
    let handle = NEXT.fetch_add(STEP, Ordering::Relaxed);
    shard_of_handle(handle).write().unwrap().insert(handle, object.clone());
    handle
}

fn error(handle: Handle) -> Error {
    if handle == 0 { Error::INVALID_NULL_HANDLE } else { Error::INVALID_ARGUMENT }
}

/// The object behind a handle.
///
/// # Errors
/// If it is null, or there is no object of this kind.
pub fn get<T: Any + Send + Sync>(handle: Handle) -> Result<Arc<T>> {
    let object = shard_of_handle(handle).read().unwrap().get(&handle).cloned();
    object.and_then(|o| o.downcast::<T>().ok()).ok_or(error(handle))
}

/// As [`get`], where null stands for nothing.
///
/// # Errors
/// If it is not null and there is no object of this kind.
pub fn get_optional<T: Any + Send + Sync>(handle: Handle) -> Result<Option<Arc<T>>> {
    if handle == 0 { Ok(None) } else { get(handle).map(Some) }
}

/// Ends a handle; the object lives as long as others need it.
///
/// # Errors
/// As [`get`].
pub fn destroy<T: Any + Send + Sync>(handle: Handle) -> Result<Arc<T>> {
    let object = get::<T>(handle)?;
    let held = shard_of_handle(handle).write().unwrap().remove(&handle);
    // Two threads may destroy it at once: one of them does.
    held.map(|_| object).ok_or(Error::INVALID_ARGUMENT)
}

/// All objects of a kind that applications hold.
pub fn live_objects() -> Vec<Object> {
    (0..SHARDS)
        .flat_map(|n| shard_of_handle(n * STEP).read().unwrap().values().cloned().collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_of_one_kind_and_ends_once() {
        let h = publish(&Arc::new(7u32));
        assert_eq!(*get::<u32>(h).unwrap(), 7);
        assert_eq!(get::<u64>(h).unwrap_err(), Error::INVALID_ARGUMENT);
        assert_eq!(get::<u32>(0).unwrap_err(), Error::INVALID_NULL_HANDLE);
        assert!(get_optional::<u32>(0).unwrap().is_none());
        assert_eq!(destroy::<u64>(h).unwrap_err(), Error::INVALID_ARGUMENT);
        assert!(destroy::<u32>(h).is_ok() && destroy::<u32>(h).is_err() && get::<u32>(h).is_err());
        assert_ne!(publish(&Arc::new(7u32)), h);
        for wild in [1, 3, usize::MAX, usize::MAX - 15] {
            assert!(get::<u32>(wild).is_err());
        }
    }
}
