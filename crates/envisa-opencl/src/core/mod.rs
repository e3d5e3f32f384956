//! Objects of OpenCL and what they do, in safe Rust: no handle, no pointer of an application, no `extern "C"`.

pub mod context;
pub mod error;
pub mod event;
pub mod format;
pub mod handle;
pub mod info;
pub mod kernel;
pub mod maps;
pub mod mem;
pub mod platform;
pub mod program;
pub mod queue;
#[cfg(test)]
mod tests;

pub use envisa_runtime::{command_order, host_memory, source_lines, spirv};

/// What an object is called in a report, and which it is; nothing of platforms and devices, which nobody has to
/// release.
fn describe(object: &(dyn std::any::Any + Send + Sync)) -> Option<(&'static str, String)> {
    if let Some(mem) = object.downcast_ref::<mem::Mem>() {
        let (kind, bytes) = (mem.kind_name(), mem.region.len());
        return Some((kind, format!("{bytes} byte{}", if bytes == 1 { "" } else { "s" })));
    }
    if let Some(kernel) = object.downcast_ref::<kernel::Kernel>() {
        return Some(("kernel", format!("`{}`", kernel.info.name)));
    }
    let kinds: [(bool, &str); 5] = [
        (object.is::<context::Context>(), "context"),
        (object.is::<queue::Queue>(), "command queue"),
        (object.is::<mem::Sampler>(), "sampler"),
        (object.is::<program::Program>(), "program"),
        (object.is::<event::Event>(), "event"),
    ];
    kinds.into_iter().find(|(is, _)| *is).map(|(_, name)| (name, String::new()))
}

/// What the application holds.
pub fn held_objects() -> Vec<(&'static str, String)> {
    let all = handle::held_objects();
    for mem in all.iter().filter_map(|object| (**object).downcast_ref::<mem::Mem>()) {
        mem.maps.never_ended();
    }
    all.iter().filter_map(|object| describe(&**object)).collect()
}
