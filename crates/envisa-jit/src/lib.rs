//! Native code for kernels: from a [`Program`](envisa_lower::Program) to x86-64 with AVX-512 or AVX2.
//!
//! A program becomes one function. It runs all threads of a row of groups, which it starts itself
//! ([`Start`](envisa_machine::start::Start)); where they wait for each other at barriers, those of a group, which take
//! turns. Where the last threads of groups lack channels, code with masks runs all threads. What it does not do so
//! (threads with scratch, a thread whose turn ends between two barriers, other ways to wait) is run thread by thread, from
//! its start, or from where it waited, to its end or to where it waits. Registers stay in the machine's register
//! file, where the interpreter has them; those that are vectors accessed as a whole are kept in the CPU's registers
//! while they are wanted. So the machine can execute any single instruction on behalf of native code: what has no
//! native code, and every access to memory that misses its [site](sites), is executed by the interpreter's own
//! handler, with the interpreter's faults. Of a program that calls functions each one is native code of its own, and the
//! engine goes from one to the other.
#![cfg(target_arch = "x86_64")]

mod active;
mod affine_vectors;
mod alloc;
mod asm;
mod audit;
mod bounds;
mod context_layout;
mod deferred;
mod emit;
mod encode;
mod encoding_forms;
mod engine;
mod fast_maps;
mod float_modes;
mod general;
mod group_order;
mod image_variants;
mod known_integers;
mod level;
mod listing;
mod mask_copies;
mod memory_rows;
mod multiples;
mod narrow;
mod packable;
mod pages;
mod passes;
#[cfg(target_os = "linux")]
mod perf;
mod rare_sides;
mod rounding;
mod sites;
mod structured_flow;
#[allow(dead_code)]
mod vector_encodings;
mod zero_halves;

pub use engine::Jit;
pub use listing::Tell;
pub use passes::Making;
