//! The pages of memory messages, held by execution: text through the whole house, registers and memory
//! against slow models written from each page.

mod atomics;
mod blocks;
mod formats;
mod founding;
mod graphics;
mod harness;
mod hostile;
mod levels;
mod lsc;
mod raw;
mod refused;
mod sampler;
mod samples;
mod scattered;
#[path = "../told/mod.rs"]
mod told;
mod typed;
