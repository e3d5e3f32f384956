//! The notation that the command and the suite share: jobs, values, pictures, comparisons, and what is watched.

pub mod compare;
pub mod files;
pub mod images;
pub mod job;
pub mod observe;
pub mod values;
