//! The notation that the command and the suite share: jobs, values, pictures, comparisons and profiles.

pub mod blocks;
pub mod compare;
pub mod files;
pub mod images;
pub mod job;
pub mod profile;
pub mod testing;
pub mod values;
