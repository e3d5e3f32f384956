//! Random legal modules, and mutations of inputs: for tests and fuzzers; nothing that ships uses it.

pub mod generate;
pub mod mutate;
pub mod plant;
