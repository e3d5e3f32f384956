//! Objects of OpenCL and what they do, in safe Rust: no handle, no pointer of an application, no `extern "C"`.

pub mod context;
pub mod error;
pub mod event;
pub mod format;
pub mod handle;
pub mod info;
pub mod kernel;
pub mod mem;
pub mod platform;
pub mod program;
pub mod queue;
pub mod region;
pub mod spirv;

/// What an object is called in a report; nothing of platforms and devices, which nobody has to release.
pub fn kind_of(object: &(dyn std::any::Any + Send + Sync)) -> Option<&'static str> {
    let kinds: [(bool, &str); 7] = [
        (object.is::<context::Context>(), "context"),
        (object.is::<queue::Queue>(), "command queue"),
        (object.is::<mem::Mem>(), "memory object"),
        (object.is::<mem::Sampler>(), "sampler"),
        (object.is::<program::Program>(), "program"),
        (object.is::<kernel::Kernel>(), "kernel"),
        (object.is::<event::Event>(), "event"),
    ];
    kinds.into_iter().find(|(is, _)| *is).map(|(_, name)| name)
}
