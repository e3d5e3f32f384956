//! The names of allocations in reports.

use super::address_map::{Allocation, AllocationId};
use std::sync::Arc;

/// What the reports of a launch call allocations that have no name of their own: by the arguments that they were given
/// as. Hosts that do not name their buffers (OpenCL has no names for them) leave it to the kernel, which does.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Names of the kernel's arguments.
    arguments: Option<Arc<[String]>>,
    /// Allocations, and the argument of each.
    given: Vec<(AllocationId, u32)>,
}

impl Names {
    /// For a kernel with these arguments: which of them are which allocations.
    pub fn new(arguments: Arc<[String]>, given: Vec<(AllocationId, u32)>) -> Names {
        Names { arguments: Some(arguments), given }
    }

    /// What an allocation is called: of several arguments that are it, the first.
    pub fn of<'a>(&'a self, allocation: &'a Allocation) -> &'a str {
        if !allocation.name.is_empty() {
            return &allocation.name;
        }
        let given = self.given.iter().find(|(id, _)| *id == allocation.id);
        let name = given.and_then(|(_, i)| self.arguments.as_ref()?.get(*i as usize));
        name.map_or("memory that is not an argument", String::as_str)
    }
}
