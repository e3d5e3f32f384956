//! Ending a run before its end: by a timeout, or by Ctrl-C.

use crate::cmd::Failure;
use envisa::Cancel;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// What Ctrl-C ends: the run that is under way.
static RUNNING: OnceLock<Cancel> = OnceLock::new();
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// A run that can be ended.
pub struct Interrupt {
    /// What the launch is given.
    pub cancel: Cancel,
    timer: Option<(Sender<()>, JoinHandle<bool>)>,
    timeout: Option<f64>,
}

impl Interrupt {
    /// One that ends after so many seconds, and on Ctrl-C; a second Ctrl-C ends the command at once.
    ///
    /// # Errors
    /// Where the host has no such signal.
    pub fn new(timeout: Option<f64>) -> Result<Interrupt, Failure> {
        let cancel = RUNNING.get_or_init(Cancel::new).clone();
        let handler = || {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                // What a shell gives to what a signal ended.
                std::process::exit(130);
            }
            if let Some(cancel) = RUNNING.get() {
                cancel.cancel();
            }
        };
        ctrlc::set_handler(handler).map_err(|e| Failure(format!("Ctrl-C cannot be handled: {e}")))?;
        let timer = timeout.map(|seconds| {
            let (stop, stopped) = channel::<()>();
            let cancel = cancel.clone();
            let thread = std::thread::spawn(move || {
                let late =
                    stopped.recv_timeout(Duration::from_secs_f64(seconds)) == Err(RecvTimeoutError::Timeout);
                if late {
                    cancel.cancel();
                }
                late
            });
            (stop, thread)
        });
        Ok(Interrupt { cancel, timer, timeout })
    }

    /// The run has ended; gives what ended it, if something did.
    pub fn end(self) -> Option<String> {
        let late = self.timer.is_some_and(|(stop, thread)| {
            drop(stop);
            thread.join().unwrap_or(false)
        });
        if INTERRUPTED.load(Ordering::Relaxed) {
            return Some("it was interrupted (Ctrl-C)".into());
        }
        let seconds = self.timeout.filter(|_| late)?;
        Some(format!("its timeout is {seconds} s (--timeout)"))
    }
}
