//! Checks, statistics and profiles: observers of the machine.

mod address_map;
mod byte_bits;
pub mod check;
pub mod footprint;
pub mod profile;
pub mod stats;

pub use check::{
    Checks, Elements, Finding, FindingKind, ImagePlace, Key, LaunchFacts, OtherAccess, ProgramFacts,
    RaceAccess, Related, pointed_bytes,
};
pub use footprint::{Accessed, Footprint};
pub use profile::Profile;
pub use stats::{Fidelity, FidelityLine, Stats};
