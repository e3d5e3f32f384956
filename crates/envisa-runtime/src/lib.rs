//! What the doors share that programs reach virtual GPUs through: devices, memory that host and devices share, modules
//! and their compilation, launches, what is told of them. It speaks the types of no interface: a door
//! (`envisa-opencl`, `envisa-levelzero`) is the handles, calls and error codes of one.

pub mod build;
pub mod call_sites;
pub mod capture;
pub mod command_order;
pub mod compiler;
mod debug_registers;
pub mod device;
pub mod device_properties;
pub mod freed_memory;
pub mod guarded_host_memory;
pub mod host_blocks;
pub mod host_changes;
pub mod host_memory;
pub mod launch;
pub mod log;
pub mod memory_in_use;
mod memory_to_read;
pub mod pages;
pub mod process;
pub mod queue;
pub mod report;
mod report_page;
pub mod source_lines;
pub mod spirv;
pub mod undefined_content;
