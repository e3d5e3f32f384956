//! Where the application called the driver, or the C library: what reports of its mistakes say besides.

use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// The stack of a call. It has names once somebody asks for them.
#[derive(Clone, Debug)]
pub struct CallSite(Arc<Backtrace>);

impl CallSite {
    /// Of the call that this thread is in.
    pub fn here() -> CallSite {
        CallSite(Arc::new(Backtrace::force_capture()))
    }

    /// The application's functions that lead there, the innermost first: `` `load` (host.c:12), `main` (host.c:40) ``. `None` if
    /// their names are not known.
    pub fn named(&self) -> Option<String> {
        name_stack(&self.0.to_string())
    }
}

thread_local! {
    /// Calls of the driver that this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Where the command was enqueued that this thread runs.
    static COMMAND: RefCell<Option<CallSite>> = const { RefCell::new(None) };
}

/// The application calls the driver on this thread, or the call is over. `true` if that is the outermost one.
pub fn in_driver(enters: bool) -> bool {
    let count = |d: &Cell<u32>| {
        let before = d.get();
        d.set(if enters { before + 1 } else { before.saturating_sub(1) });
        d.get()
    };
    DEPTH.try_with(count) == Ok(u32::from(enters))
}

/// This thread runs a command that was enqueued there, or it is over.
pub fn set_running_command(command: Option<CallSite>) {
    let _ = COMMAND.try_with(|c| *c.borrow_mut() = command);
}

/// The application's call for what happens on this thread now, and how it is one.
pub fn running_command() -> Vec<(&'static str, CallSite)> {
    if let Some(site) = COMMAND.try_with(|c| c.borrow().clone()).ok().flatten() {
        return vec![("enqueued by", site)];
    }
    let inside = DEPTH.try_with(|d| d.get() > 0) == Ok(true);
    if inside { vec![("called by", CallSite::here())] } else { Vec::new() }
}

/// Of the text of a stack.
fn name_stack(stack: &str) -> Option<String> {
    /// Functions that are named at most.
    const MOST: usize = 3;
    let mut frames: Vec<(&str, Option<&str>)> = Vec::new();
    for line in stack.lines().map(str::trim) {
        let number = line.split_once(": ").filter(|(n, _)| n.parse::<u32>().is_ok());
        if let Some((_, name)) = number {
            frames.push((name, None));
        } else if let (Some(place), Some(last)) = (line.strip_prefix("at "), frames.last_mut()) {
            // Without the column.
            last.1 = Some(place.rsplit_once(':').map_or(place, |(rest, _)| rest));
        }
    }
    let first = frames.iter().position(|(name, _)| !is_of_driver(name))?;
    let mut all = Vec::new();
    for (name, place) in frames.iter().skip(first).filter(|(name, _)| *name != "<unknown>").take(MOST) {
        all.push(place.map_or_else(|| format!("`{name}`"), |place| format!("`{name}` ({place})")));
        if *name == "main" {
            break;
        }
    }
    (!all.is_empty()).then(|| all.join(", "))
}

/// Is a function of the driver, or one by which a loader or a program gets there?
fn is_of_driver(name: &str) -> bool {
    let interface = |prefix: &str| {
        let rest = name.rsplit("::").next().unwrap_or_default().strip_prefix(prefix);
        rest.is_some_and(|r| r.starts_with(|c: char| c.is_ascii_uppercase()))
    };
    let inside = ["core::", "std::", "alloc::", "__rust", "<core::", "<std::", "<alloc::"];
    name == "<unknown>"
        || name.contains("envisa_")
        || inside.iter().any(|w| name.starts_with(w))
        || interface("cl")
        || interface("ze")
}

#[cfg(test)]
mod tests {
    use super::name_stack;

    #[test]
    fn the_functions_of_the_application_are_named() {
        let stack = "   0: std::backtrace::Backtrace::create
   1: envisa_runtime::report::mistake
   2: <envisa_opencl::core::queue::Queue>::enqueue
             at ./crates/envisa-opencl/src/core/queue.rs:97:9
   3: clEnqueueReadBuffer
   4: load
             at ./host.c:12:5
   5: main
             at ./host.c:40:3
   6: __libc_start_main";
        assert_eq!(name_stack(stack).as_deref(), Some("`load` (./host.c:12), `main` (./host.c:40)"));
        assert_eq!(name_stack("   0: clFinish\n   1: <unknown>\n"), None);
        assert_eq!(name_stack(""), None);
    }
}
