//! What tells one way of launching a program from another.

use envisa_lower::Pc;
use envisa_machine::local_shadow::Noted;
use envisa_machine::start::Start;

use crate::active::Active;
use crate::affine_vectors::Seed;
use crate::group_order::Walk;
use crate::image_variants::Kind;

/// Which threads lack channels: none, ones that are all of their group, all threads (each of them all of its group), or
/// the last one of a group of several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tails {
    None,
    Alone,
    Only,
    Last,
}

/// What code depends on besides the program.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Key {
    /// All threads have all channels.
    pub full: bool,
    /// Groups are of one thread each.
    pub alone: bool,
    pub seeds: Vec<Seed>,
    /// Which channels may be active.
    pub active: Active,
    /// How its threads start, if the code does that.
    pub start: Option<Start>,
    pub walk: Walk,
    /// Images and samplers, by message.
    pub kinds: Vec<(u32, Kind)>,
    /// Messages whose sums fit in 32 bits, by number.
    pub fitting: Vec<u32>,
    /// Compares in 64 bits whose operands fit in 32.
    pub compares: Vec<Pc>,
    /// Compares that come out one way, and which.
    pub decided: Vec<(Pc, bool)>,
    /// Where it stops for an observer, by instruction; none if nobody observes.
    pub stops: Vec<bool>,
    /// Of these, messages whose accesses to shared local memory code may note, and go on.
    pub noted: Noted,
}
