//! The kernels of the suite, and random ones, on all engines, beside other implementations, and under the checks.

mod bugs;
mod checks;
mod conformance;
mod engines;
mod kernels;
mod misses;
mod other_groups;
mod random;
mod random_checks;
mod tiles;
