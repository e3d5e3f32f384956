//! The reference assembler beside ours.
// Each test file uses a part of this.
#![allow(dead_code, unused_imports)]

pub mod compare;
pub mod corpus;
pub mod diagnose;
pub mod report;
pub mod run;

pub use diagnose::{Said, diagnose};
pub use run::{available, bytes, native};
