//! Command queues: those that doors share, as OpenCL has them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use envisa_runtime::queue::{self, Failure};
use opencl_sys as cl;

use super::context::Context;
use super::error::{Error, Result};
use super::event::Event;
use super::handle::{Object, Slot};
use super::platform::Device;

pub use envisa_runtime::queue::Order;

/// What a command does.
pub type Work = queue::Work<Error>;

impl Failure for Error {
    const OF_WHAT_IT_WAITED_FOR: Error = Error::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    const OF_A_PANIC: Error = Error::OUT_OF_RESOURCES;

    fn code(self) -> i32 {
        self.0
    }
}

/// A command queue.
pub struct Queue {
    slot: Slot,
    /// Its context.
    pub context: Arc<Context>,
    /// Its device.
    pub device: Arc<Device>,
    /// `CL_QUEUE_*` flags.
    properties: AtomicU64,
    /// As given to `clCreateCommandQueueWithProperties`, with the zero at the end.
    pub property_list: Vec<u64>,
    worker: Arc<queue::Queue<Error>>,
}

impl Object for Queue {
    const INVALID: Error = Error::INVALID_COMMAND_QUEUE;
    fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl Queue {
    /// A new queue.
    pub fn new(
        context: Arc<Context>,
        device: Arc<Device>,
        properties: u64,
        property_list: Vec<u64>,
    ) -> Arc<Queue> {
        let worker = queue::Queue::new(properties & cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0);
        worker.set_timed(properties & cl::CL_QUEUE_PROFILING_ENABLE != 0);
        worker.wants_flush();
        let properties = AtomicU64::new(properties);
        Arc::new(Queue { slot: Slot::default(), context, device, properties, property_list, worker })
    }

    /// `CL_QUEUE_*` flags.
    pub fn properties(&self) -> u64 {
        self.properties.load(Ordering::Relaxed)
    }

    /// Appends a command that runs after `after`.
    ///
    /// # Errors
    /// If the queue's thread cannot be had.
    pub fn enqueue(
        self: &Arc<Self>,
        kind: u32,
        order: Order,
        after: Vec<Arc<Event>>,
        work: Work,
    ) -> Result<Arc<Event>> {
        self.enqueue_named(command_name(kind), kind, order, after, work)
    }

    /// The same for a command that reports call `name`.
    ///
    /// # Errors
    /// As of [`Queue::enqueue`].
    pub fn enqueue_named(
        self: &Arc<Self>,
        name: &str,
        kind: u32,
        order: Order,
        after: Vec<Arc<Event>>,
        work: Work,
    ) -> Result<Arc<Event>> {
        let after = after.into_iter().map(|e| e.state.clone()).collect();
        let keep = Some(self.context.clone() as queue::Keep);
        let state = self.worker.enqueue(name, order, after, keep, work).map_err(|e| {
            crate::log::print_warning(&format!("a thread for a queue cannot be started: {e}"));
            Error::OUT_OF_HOST_MEMORY
        })?;
        Ok(Event::of_command(self.context.clone(), self.clone(), kind, state))
    }

    /// Has what was enqueued begin, whoever waits for it.
    pub fn flush(&self) {
        self.worker.is_flushed();
        self.worker.flush();
    }

    /// Waits until everything enqueued before is over.
    ///
    /// # Errors
    /// If a command failed since the last time.
    pub fn finish(&self) -> Result<()> {
        self.worker.finish().map_err(Error)
    }

    /// Whether a command failed that no [`Queue::finish`] has reported.
    pub fn has_failed(&self) -> bool {
        self.worker.has_failed()
    }

    /// Changes flags, as the first version of the standard could.
    pub fn set_properties(&self, flags: u64, enable: bool) -> u64 {
        let old = if enable {
            self.properties.fetch_or(flags, Ordering::Relaxed)
        } else {
            self.properties.fetch_and(!flags, Ordering::Relaxed)
        };
        let new = self.properties();
        self.worker.set_free_order(new & cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0);
        self.worker.set_timed(new & cl::CL_QUEUE_PROFILING_ENABLE != 0);
        old
    }
}

/// What reports call a command.
fn command_name(kind: u32) -> &'static str {
    match kind {
        cl::CL_COMMAND_READ_BUFFER => "clEnqueueReadBuffer",
        cl::CL_COMMAND_WRITE_BUFFER => "clEnqueueWriteBuffer",
        cl::CL_COMMAND_COPY_BUFFER => "clEnqueueCopyBuffer",
        cl::CL_COMMAND_READ_BUFFER_RECT => "clEnqueueReadBufferRect",
        cl::CL_COMMAND_WRITE_BUFFER_RECT => "clEnqueueWriteBufferRect",
        cl::CL_COMMAND_COPY_BUFFER_RECT => "clEnqueueCopyBufferRect",
        cl::CL_COMMAND_FILL_BUFFER => "clEnqueueFillBuffer",
        cl::CL_COMMAND_READ_IMAGE => "clEnqueueReadImage",
        cl::CL_COMMAND_WRITE_IMAGE => "clEnqueueWriteImage",
        cl::CL_COMMAND_COPY_IMAGE => "clEnqueueCopyImage",
        cl::CL_COMMAND_COPY_IMAGE_TO_BUFFER => "clEnqueueCopyImageToBuffer",
        cl::CL_COMMAND_COPY_BUFFER_TO_IMAGE => "clEnqueueCopyBufferToImage",
        cl::CL_COMMAND_FILL_IMAGE => "clEnqueueFillImage",
        cl::CL_COMMAND_MAP_BUFFER => "clEnqueueMapBuffer",
        cl::CL_COMMAND_MAP_IMAGE => "clEnqueueMapImage",
        cl::CL_COMMAND_SVM_MAP => "clEnqueueSVMMap",
        cl::CL_COMMAND_SVM_MEMCPY => "clEnqueueSVMMemcpy",
        cl::CL_COMMAND_SVM_MEMFILL => "clEnqueueSVMMemFill",
        _ => "another command",
    }
}
