//! The notation that the command and the suite share: jobs, values, pictures and comparisons.

pub mod compare;
pub mod files;
pub mod images;
pub mod job;
pub mod values;
