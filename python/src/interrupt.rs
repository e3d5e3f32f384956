//! Ctrl-C while a launch runs: the launch ends, and then Python's own handler decides.
#![allow(unsafe_code)] // Handlers of signals.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use envisa::Cancel;

/// The launch of the main thread that Ctrl-C ends; null while there is none.
static LAUNCH: AtomicPtr<Cancel> = AtomicPtr::new(null_mut());
/// Whom the signal was for before.
static BEFORE: AtomicPtr<libc::c_void> = AtomicPtr::new(null_mut());

/// Lets Ctrl-C end a launch until it is dropped.
pub struct Guard {
    before: libc::sigaction,
    /// Lives until the handler is gone.
    _cancel: Box<Cancel>,
}

/// On the main thread, where Python runs handlers of signals, SIGINT cancels the launch and goes on to the handler that was
/// there. Elsewhere nothing changes: `None`.
pub fn cancels(cancel: &Cancel) -> Option<Guard> {
    if !is_main_thread() {
        return None;
    }
    let mut cancel = Box::new(cancel.clone());
    // SAFETY: a `sigaction` of zeros is a valid value, whose fields that matter are set before use.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: it reads the current action into a place of ours.
    if unsafe { libc::sigaction(libc::SIGINT, std::ptr::null(), &raw mut before) } != 0 {
        return None;
    }
    let set = before.sa_sigaction;
    // Ignored, or the default that ends the process: as the user wants it.
    if set == libc::SIG_IGN || set == libc::SIG_DFL || before.sa_flags & libc::SA_SIGINFO != 0 {
        return None;
    }
    BEFORE.store(set as *mut libc::c_void, Ordering::Release);
    LAUNCH.store(&raw mut *cancel, Ordering::Release);
    let mut action = before;
    action.sa_sigaction = handler as extern "C" fn(libc::c_int) as usize;
    // SAFETY: the handler does what a handler may: atomics, and the handler that was there before.
    if unsafe { libc::sigaction(libc::SIGINT, &raw const action, null_mut()) } != 0 {
        LAUNCH.store(null_mut(), Ordering::Release);
        return None;
    }
    Some(Guard { before, _cancel: cancel })
}

impl Drop for Guard {
    fn drop(&mut self) {
        // SAFETY: puts back what `cancels` read.
        unsafe { libc::sigaction(libc::SIGINT, &raw const self.before, null_mut()) };
        LAUNCH.store(null_mut(), Ordering::Release);
    }
}

extern "C" fn handler(signal: libc::c_int) {
    let launch = LAUNCH.load(Ordering::Acquire);
    // SAFETY: a guard keeps it alive while the pointer is there, and is dropped on the thread that waits for the launch.
    // `cancel` is one store to an atomic.
    if let Some(cancel) = unsafe { launch.as_ref() } {
        cancel.cancel();
    }
    let before = BEFORE.load(Ordering::Acquire);
    if !before.is_null() {
        // SAFETY: it was the handler of this signal, without SA_SIGINFO, so a function of this type.
        let before: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(before) };
        before(signal);
    }
}

/// Python runs handlers of signals on the thread that the process began with.
fn is_main_thread() -> bool {
    // SAFETY: neither takes anything nor can fail.
    unsafe { libc::gettid() == libc::getpid() }
}
