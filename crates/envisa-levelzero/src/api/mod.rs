//! The C interface: entry points, handles checked, panics caught. What calls do is in [`crate::core`].
//!
//! Every entry point is made by the macro [`entries`], which also lists it for the tables. Its body is safe code: what it
//! does with pointers of the application goes through [`Caller`](crate::caller::Caller), which stands for the
//! application's promise that they are as the specification demands.

mod device;
mod driver;
mod event;
mod fabric;
mod image;
mod ipc;
mod kernel;
mod list;
mod management;
mod memory;
mod module;
mod mutable;
mod queries;
mod reserved;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use crate::core::error::{Error, Result};

/// An entry point.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Where it is.
    pub address: *const (),
    /// Names and types of its parameters.
    pub parameters: &'static [(&'static str, &'static str)],
}

/// Entry points that return a result, and the list of them.
macro_rules! entries {
    ($($(#[$meta:meta])* fn $name:ident($c:ident $(, $arg:ident: $ty:ty)* $(,)?) $body:block)*) => {
        $(
            $(#[$meta])*
            #[allow(unsafe_code, non_snake_case)]
            unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
                // SAFETY: the application calls this as the specification says.
                let caller = unsafe { $crate::caller::Caller::new() };
                let arguments = || {
                    let parts: Vec<String> = vec![$(format!(concat!(stringify!($arg), " = {:?}"), $arg)),*];
                    parts.join(", ")
                };
                let run = |$c: &$crate::caller::Caller| -> $crate::core::error::Result<()> { $body };
                $crate::api::run_guarded(stringify!($name), &arguments, || run(&caller))
            }
        )*
        /// Entry points of this module.
        pub(super) const ENTRIES: &[$crate::api::Entry] =
            &[$($crate::api::Entry {
                name: stringify!($name),
                address: $name as *const (),
                parameters: &[$((stringify!($arg), stringify!($ty))),*],
            }),*];
    };
}

pub(crate) use entries;

/// All entry points.
pub(crate) fn all_entry_points() -> impl Iterator<Item = Entry> {
    [
        device::ENTRIES,
        driver::ENTRIES,
        driver::OTHERS,
        event::ENTRIES,
        fabric::ENTRIES,
        image::ENTRIES,
        ipc::ENTRIES,
        kernel::ENTRIES,
        list::ENTRIES,
        management::ENTRIES,
        memory::ENTRIES,
        module::ENTRIES,
        mutable::ENTRIES,
        queries::ENTRIES,
        reserved::ENTRIES,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// Calls whose failure is a mistake of the program: others ask what is there, and what fits.
const MISTAKES: [&str; 8] =
    ["zeCommandList", "zeCommandQueue", "zeKernel", "zeEvent", "zeFence", "zeMemFree", "zeMemGet", "Destroy"];

/// Runs a call: logs it, tells of it if it is a mistake, and turns a panic, which would be a bug here, into an error.
fn run_guarded(name: &str, arguments: &dyn Fn() -> String, run: impl FnOnce() -> Result<()>) -> u32 {
    let logged = envisa_runtime::log::log_settings().api;
    let start = logged.then(Instant::now);
    let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        envisa_runtime::log::print_warning(&format!("{name} failed inside envisa: please report this bug"));
        Err(Error::UNKNOWN)
    });
    if envisa_runtime::report::is_checking()
        && let Err(e) = &result
        && *e != Error::NOT_READY
        && MISTAKES.iter().any(|m| name.starts_with(m) || name.ends_with(m))
    {
        envisa_runtime::report::report_host_mistake(
            "call",
            &format!("{name}({}) failed with {}", arguments(), e.name()),
        );
    }
    if let Some(start) = start {
        let us = start.elapsed().as_secs_f64() * 1e6;
        let what = result.as_ref().map_or_else(|e| e.name(), |()| "SUCCESS");
        envisa_runtime::log::line(&format!("{name}({}) = {what} [{us:.1} us]", arguments()));
    }
    result.map_or_else(|e| e.0, |()| 0)
}
