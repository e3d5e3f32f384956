//! Checks and statistics: observers of the machine.

pub mod check;
pub mod footprint;
pub mod stats;

pub use check::{Checks, Finding, FindingKind, LaunchFacts, Other, RaceAccess, Related};
pub use footprint::Footprint;
pub use stats::{Fidelity, FidelityLine, Stats};
