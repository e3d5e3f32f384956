//! Objects of Level Zero and what they do, in safe Rust: no pointer of an application, no `extern "C"`.

pub mod command;
pub mod device;
pub mod error;
pub mod event;
pub mod handle;
pub mod image;
pub mod ipc;
pub mod kernel;
pub mod list;
pub mod memory;
pub mod module;
pub mod mutable;
pub mod reserved;

/// What an object is called in a report, and which it is; nothing of what nobody has to destroy.
fn describe(object: &(dyn std::any::Any + Send + Sync)) -> Option<(&'static str, String)> {
    if let Some(kernel) = object.downcast_ref::<kernel::Kernel>() {
        return Some(("kernel", format!("`{}`", kernel.info.name)));
    }
    let kinds: [(bool, &str); 9] = [
        (object.is::<list::List>(), "command list"),
        (object.is::<list::Queue>(), "command queue"),
        (object.is::<event::Pool>(), "event pool"),
        (object.is::<event::Event>(), "event"),
        (object.is::<list::Fence>(), "fence"),
        (object.is::<module::Module>(), "module"),
        (object.is::<reserved::Physical>(), "physical memory"),
        (object.is::<image::Image>(), "image"),
        (object.is::<image::SamplerObject>(), "sampler"),
    ];
    kinds.into_iter().find(|(is, _)| *is).map(|(_, name)| (name, String::new()))
}

/// What the application holds.
pub fn unreleased_objects() -> Vec<(&'static str, String)> {
    handle::live_objects().iter().filter_map(|object| describe(&**object)).collect()
}
