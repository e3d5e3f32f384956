//! The fuzzers for a short time: their own cases, and bad input.

mod cases;
mod hostile;
