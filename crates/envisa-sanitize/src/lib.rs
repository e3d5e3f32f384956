//! Checks and statistics: observers of the machine.

pub mod check;
pub mod stats;

pub use check::{Checks, Finding, FindingKind, Other, RaceAccess};
pub use stats::{Fidelity, FidelityLine, Stats};
