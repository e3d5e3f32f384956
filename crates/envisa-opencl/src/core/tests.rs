//! The modules with `unsafe`, used as applications and loaders use them. Miri runs these.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::Arc;

use super::error::Error;
use super::handle::{self, Object, Slot};

#[derive(Default)]
struct Thing(Slot);
#[derive(Default)]
struct Other(Slot);

impl Object for Thing {
    const INVALID: Error = Error::INVALID_CONTEXT;
    fn slot(&self) -> &Slot {
        &self.0
    }
}

impl Object for Other {
    const INVALID: Error = Error::INVALID_EVENT;
    fn slot(&self) -> &Slot {
        &self.0
    }
}

/// What a loader does with every handle it is given.
fn first_word(handle: *mut c_void) -> usize {
    // SAFETY: handles point to heads, which are kept after their objects' ends.
    unsafe { handle.cast::<usize>().read() }
}

#[test]
fn a_handle_is_found_while_it_is_held() {
    let thing = Arc::new(Thing::default());
    assert!(handle::of(&*thing).is_null());
    let h = handle::publish(&thing);
    assert_eq!(first_word(h), std::ptr::from_ref(crate::api::dispatch_table()) as usize);
    assert!(Arc::ptr_eq(&handle::get::<Thing>(h).unwrap(), &thing));
    assert_eq!(handle::get::<Other>(h).map(drop), Err(Error::INVALID_EVENT));
    handle::retain::<Thing>(h).unwrap();
    assert_eq!(handle::references(&*thing), 2);
    drop(thing);
    handle::release::<Thing>(h).unwrap();
    assert!(handle::get::<Thing>(h).is_ok());
    handle::release::<Thing>(h).unwrap();
    for dead in [h, std::ptr::null_mut(), h.wrapping_byte_add(8), 0x1000 as *mut c_void] {
        assert_eq!(handle::get::<Thing>(dead).map(drop), Err(Error::INVALID_CONTEXT));
        assert_eq!(handle::retain::<Thing>(dead), Err(Error::INVALID_CONTEXT));
        assert_eq!(handle::release::<Thing>(dead), Err(Error::INVALID_CONTEXT));
    }
    // Loaders look at dead handles, too.
    assert_ne!(first_word(h), 0);
}

#[test]
fn an_object_that_is_needed_outlives_its_references() {
    let thing = Arc::new(Thing::default());
    let h = handle::publish(&thing);
    handle::release::<Thing>(h).unwrap();
    assert_eq!(handle::release::<Thing>(h), Err(Error::INVALID_CONTEXT));
    assert!(Arc::ptr_eq(&handle::get::<Thing>(h).unwrap(), &thing));
    assert_eq!(handle::publish(&thing), h);
    assert_eq!(handle::references(&*thing), 1);
}

#[test]
fn threads_take_and_give_references() {
    let h = handle::publish(&Arc::new(Thing::default())) as usize;
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for _ in 0..20 {
                    let h = h as *mut c_void;
                    handle::retain::<Thing>(h).unwrap();
                    assert!(handle::get::<Thing>(h).is_ok() && first_word(h) != 0);
                    handle::release::<Thing>(h).unwrap();
                    let short = handle::publish(&Arc::new(Other::default()));
                    handle::release::<Other>(short).unwrap();
                }
            });
        }
    });
    handle::release::<Thing>(h as *mut c_void).unwrap();
    assert!(handle::get::<Thing>(h as *mut c_void).is_err());
}
