//! The C interface: entry points, handles checked, panics caught. What calls do is in [`crate::core`].
//!
//! Every entry point is made by the macro [`entry`] or [`create`], most by [`command`], [`query`] or [`counted`], which write
//! what such calls have in common. Its body is safe code: what it does
//! with pointers of the application goes through [`Caller`], which stands for the application's promise that
//! they are as the standard demands.

mod buffer;
pub(crate) mod caller;
mod context;
mod enqueue;
mod event;
mod icd;
mod image;
mod kernel;
mod platform;
mod program;
mod stubs;
mod svm;
mod usm;

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

pub(crate) use caller::Caller;
pub(crate) use icd::dispatch_table;
use opencl_sys::{cl_event, cl_int};

use crate::core::context::Context;
use crate::core::error::{Error, Result};
use crate::core::event::Event;
use crate::core::handle;
use crate::core::queue::{Queue, Work};
use envisa_runtime::memory_in_use;

/// Entry points that return an error code.
macro_rules! entry {
    ($($(#[$meta:meta])* fn $name:ident($c:ident $(, $arg:ident: $ty:ty)* $(,)?) $body:block)*) => {$(
        $(#[$meta])*
        #[allow(unsafe_code, non_snake_case)]
        pub(crate) unsafe extern "C" fn $name($($arg: $ty),*) -> opencl_sys::cl_int {
            // SAFETY: the application calls this as the standard says.
            let caller = unsafe { $crate::api::Caller::new() };
            let arguments = || {
                let parts: Vec<String> = vec![$(format!(concat!(stringify!($arg), " = {:?}"), $arg)),*];
                parts.join(", ")
            };
            let run = |$c: &$crate::api::Caller| -> $crate::core::error::Result<()> { $body };
            match $crate::api::run_guarded(stringify!($name), &arguments, || run(&caller)) {
                Ok(()) => opencl_sys::CL_SUCCESS,
                Err(e) => e.0,
            }
        }
    )*};
}

/// Entry points that return a handle or pointer, and an error code through their last argument.
macro_rules! create {
    ($($(#[$meta:meta])* fn $name:ident($c:ident $(, $arg:ident: $ty:ty)*; $code:ident) $body:block)*) => {$(
        $(#[$meta])*
        #[allow(unsafe_code, non_snake_case)]
        pub(crate) unsafe extern "C" fn $name(
            $($arg: $ty,)*
            $code: *mut opencl_sys::cl_int,
        ) -> *mut std::ffi::c_void {
            // SAFETY: the application calls this as the standard says.
            let caller = unsafe { $crate::api::Caller::new() };
            let arguments = || {
                let parts: Vec<String> = vec![$(format!(concat!(stringify!($arg), " = {:?}"), $arg)),*];
                parts.join(", ")
            };
            let run =
                |$c: &$crate::api::Caller| -> $crate::core::error::Result<*mut std::ffi::c_void> { $body };
            let (handle, code) = match $crate::api::run_guarded(stringify!($name), &arguments, || run(&caller)) {
                Ok(handle) => (handle, caller.code()),
                Err(e) => (std::ptr::null_mut(), e.0),
            };
            caller.write($code, code);
            handle
        }
    )*};
}

/// Entry points that enqueue a command: all have the queue before the other arguments and the events behind them. The body
/// gives the command's work. The call waits for the command where the application demands it by an argument, which is
/// named last.
macro_rules! command {
    ($(fn $name:ident($c:ident, $queue:ident $(, $arg:ident: $ty:ty)*; $kind:path $(, $blocking:ident)?) $body:block)*) => {
        $crate::api::entry! {$(
            fn $name(
                $c,
                command_queue: opencl_sys::cl_command_queue,
                $($arg: $ty,)*
                num_events_in_wait_list: opencl_sys::cl_uint,
                event_wait_list: *const opencl_sys::cl_event,
                event: *mut opencl_sys::cl_event,
            ) {
                let ($queue, after) =
                    $crate::api::queue_and_wait_list($c, command_queue, num_events_in_wait_list, event_wait_list)?;
                let work = || -> $crate::core::error::Result<$crate::core::queue::Work> { $body };
                let order = $crate::core::queue::Order::Normal;
                let blocking = [$($blocking != 0)?].contains(&true);
                let work = $crate::api::check_content_kept(stringify!($name), blocking, work()?);
                let done = $queue.enqueue($kind, order, after, work)?;
                $crate::api::finish_enqueue($c, done, event, blocking)
            }
        )*}
    };
}

/// Entry points that answer a question about an object. The body gives the answer to the question that is named last.
macro_rules! query {
    ($(fn $name:ident($c:ident $(, $arg:ident: $ty:ty)*; $what:ident) $body:block)*) => {
        $crate::api::entry! {$(
            fn $name(
                caller,
                $($arg: $ty,)*
                $what: opencl_sys::cl_uint,
                param_value_size: usize,
                param_value: *mut std::ffi::c_void,
                param_value_size_ret: *mut usize,
            ) {
                let answer =
                    |$c: &$crate::api::Caller| -> $crate::core::error::Result<$crate::core::info::Answer> { $body };
                caller.answer(answer(caller)?, param_value_size, param_value, param_value_size_ret)
            }
        )*}
    };
}

/// The two entry points that count the application's references to a kind of objects.
macro_rules! counted {
    ($object:ty, $retain:ident, $release:ident, $handle:ident: $ty:ty) => {
        $crate::api::entry! {
            fn $retain(_c, $handle: $ty) {
                $crate::core::handle::retain::<$object>($handle)
            }

            fn $release(_c, $handle: $ty) {
                $crate::core::handle::release::<$object>($handle)
            }
        }
    };
}

pub(crate) use {command, counted, create, entry, query};

thread_local! {
    /// Why the call that runs on this thread fails; only while mistakes are looked for.
    static REASON: std::cell::Cell<Option<String>> = const { std::cell::Cell::new(None) };
}

/// Notes why a call fails, beyond the standard's error, for the report on it.
pub(crate) fn note_reason(why: impl FnOnce() -> String) {
    if crate::report::is_checking() {
        // Programs call the driver from exit handlers too, when the thread's variables are gone.
        let _ = REASON.try_with(|r| r.set(Some(why())));
    }
}

/// Calls whose failure is a mistake of the program, and no question that it asks.
fn is_told(name: &str, e: Error) -> bool {
    const ALL: [&str; 4] = ["clEnqueue", "clRelease", "clRetain", "clSetKernelArg"];
    const INVALID: [&str; 6] = [
        "clWaitForEvents",
        "clFinish",
        "clFlush",
        "clSetUserEvent",
        "clSetEventCallback",
        "clSetKernelExecInfo",
    ];
    if name.starts_with("clCreate")
        && let Ok(mut last) = NOT_MADE.lock()
    {
        *last = Some(format!("{name} failed with {} before", e.name()));
    }
    let profiling = name == "clGetEventProfilingInfo" && e == Error::PROFILING_INFO_NOT_AVAILABLE;
    let starts = |all: &[&str]| all.iter().any(|n| name.starts_with(n));
    starts(&ALL) || profiling || e.0 <= Error::INVALID_VALUE.0 && starts(&INVALID)
}

/// The last object that could not be made, and why.
static NOT_MADE: std::sync::Mutex<Option<String>> = std::sync::Mutex::new(None);

/// Why a call may have been given an object that is none.
fn not_made(e: Error) -> Option<String> {
    let objects = [
        Error::INVALID_MEM_OBJECT,
        Error::INVALID_KERNEL,
        Error::INVALID_COMMAND_QUEUE,
        Error::INVALID_PROGRAM,
        Error::INVALID_EVENT,
        Error::INVALID_CONTEXT,
    ];
    let last = NOT_MADE.lock().ok()?.clone();
    last.filter(|_| objects.contains(&e))
}

/// Runs a call: logs it, and turns a panic, which would be a bug here, into an error.
pub(crate) fn run_guarded<T: std::fmt::Debug>(
    name: &str,
    arguments: &dyn Fn() -> String,
    run: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let logged = crate::log::log_settings().api;
    let start = logged.then(Instant::now);
    let checking = crate::report::is_checking();
    if checking {
        memory_in_use::enter_or_leave_driver(true);
    }
    let result = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result,
        Err(_) => {
            crate::log::print_warning(&format!("{name} failed inside envisa: please report this bug"));
            Err(Error::OUT_OF_HOST_MEMORY)
        }
    };
    if checking {
        let why = REASON.try_with(std::cell::Cell::take).ok().flatten();
        if let Err(e) = &result
            && is_told(name, *e)
        {
            let why = not_made(*e).filter(|_| why.as_ref().is_none_or(|w| w == "the object is null")).or(why);
            let why = why.map_or_else(String::new, |why| format!(": {why}"));
            crate::report::report_host_mistake(
                "call",
                &format!("{name}({}) failed with {}{why}", arguments(), e.name()),
            );
        }
    }
    if let Some(start) = start {
        let us = start.elapsed().as_secs_f64() * 1e6;
        let what = match &result {
            Ok(value) => format!("{value:?}"),
            Err(e) => e.name().to_owned(),
        };
        crate::log::line(&format!("{name}({}) = {what} [{us:.1} us]", arguments()));
    }
    if checking {
        memory_in_use::enter_or_leave_driver(false);
    }
    result
}

/// The events that a command waits for.
pub(crate) fn wait_list(
    c: &Caller,
    context: &Arc<Context>,
    count: u32,
    list: *const cl_event,
) -> Result<Vec<Arc<Event>>> {
    if (count == 0) != list.is_null() {
        return Err(Error::INVALID_EVENT_WAIT_LIST);
    }
    let mut events = Vec::with_capacity(count as usize);
    for handle in c.slice(list, count as usize).ok_or(Error::INVALID_EVENT_WAIT_LIST)? {
        let event = handle::get::<Event>(*handle).map_err(|_| Error::INVALID_EVENT_WAIT_LIST)?;
        if !Arc::ptr_eq(&event.context, context) {
            return Err(Error::INVALID_CONTEXT);
        }
        events.push(event);
    }
    Ok(events)
}

/// The work of a command, which looks first whether memory that it reads is as it was, if the call does not block.
pub(crate) fn check_content_kept(command: &'static str, blocking: bool, work: Work) -> Work {
    if blocking || !crate::report::is_checking() {
        return work;
    }
    match memory_in_use::keep_content(command) {
        None => work,
        Some(compare) => Box::new(move || {
            compare();
            work()
        }),
    }
}

/// Ends a call that enqueued: hands out the event, and waits if the call blocks.
pub(crate) fn finish_enqueue(
    c: &Caller,
    event: Arc<Event>,
    out: *mut cl_event,
    blocking: bool,
) -> Result<()> {
    let mut result = Ok(());
    if !blocking && crate::report::is_checking() {
        crate::core::command_order::is_not_waited_for(event.number);
    }
    if blocking {
        let status: cl_int = event.wait();
        if status < 0 {
            result = Err(Error(status));
        } else if let Some(queue) = &event.queue {
            // Something before it failed: what was read is not what the application wants. (The code for failed
            // resources would make PyOpenCL try again.)
            if queue.has_failed() {
                result = Err(Error::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
            }
        }
    }
    if result.is_ok() && !out.is_null() {
        c.write(out, handle::publish(&event));
    }
    result
}

/// The queue and the events that a command waits for.
pub(crate) fn queue_and_wait_list(
    c: &Caller,
    queue: *mut c_void,
    count: u32,
    list: *const cl_event,
) -> Result<(Arc<Queue>, Vec<Arc<Event>>)> {
    let queue = handle::get::<Queue>(queue)?;
    let after = wait_list(c, &queue.context, count, list)?;
    Ok((queue, after))
}

/// Whether an object is of the queue's context.
pub(crate) fn check_same_context(queue: &Queue, context: &Arc<Context>) -> Result<()> {
    if Arc::ptr_eq(&queue.context, context) { Ok(()) } else { Err(Error::INVALID_CONTEXT) }
}
