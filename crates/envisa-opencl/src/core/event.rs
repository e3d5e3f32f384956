//! Events: how far a command is.

use std::sync::Arc;

use envisa_runtime::queue;
use opencl_sys as cl;

use super::context::Context;
use super::error::{Error, Result};
use super::handle::{Object, Slot};
use super::queue::Queue;

pub use envisa_runtime::queue::{call_back, now_nanoseconds};

/// The state of a command, or of something the application tells. Statuses are those of the standard, `CL_QUEUED` to
/// `CL_COMPLETE`, or a negative error.
pub struct Event {
    slot: Slot,
    /// Its context.
    pub context: Arc<Context>,
    /// The command's queue; none of user events.
    pub queue: Option<Arc<Queue>>,
    /// `CL_COMMAND_*`.
    pub command: u32,
    /// How far it is.
    pub state: Arc<queue::Event<Error>>,
}

impl Object for Event {
    const INVALID: Error = Error::INVALID_EVENT;
    fn slot(&self) -> &Slot {
        &self.slot
    }
}

// The shared statuses are the standard's.
const _: () = assert!(
    queue::status::QUEUED == cl::CL_QUEUED
        && queue::status::SUBMITTED == cl::CL_SUBMITTED
        && queue::status::RUNNING == cl::CL_RUNNING
        && queue::status::COMPLETE == cl::CL_COMPLETE
);

impl std::ops::Deref for Event {
    type Target = Arc<queue::Event<Error>>;

    fn deref(&self) -> &Self::Target {
        &self.state
    }
}

impl Event {
    /// The event of a command.
    pub fn of_command(
        context: Arc<Context>,
        queue: Arc<Queue>,
        command: u32,
        state: Arc<queue::Event<Error>>,
    ) -> Arc<Event> {
        Arc::new(Event { slot: Slot::default(), context, queue: Some(queue), command, state })
    }

    /// An event whose status the application sets.
    pub fn user(context: Arc<Context>) -> Arc<Event> {
        let state = queue::Event::user();
        Arc::new(Event { slot: Slot::default(), context, queue: None, command: cl::CL_COMMAND_USER, state })
    }

    /// One of the four times.
    ///
    /// # Errors
    /// If it is not known yet, or never will be.
    pub fn time(&self, which: usize) -> Result<u64> {
        self.state.time(which).ok_or(Error::PROFILING_INFO_NOT_AVAILABLE)
    }
}
