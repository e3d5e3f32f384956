//! The order of declarations, pools and labels: what annotations ask for, and what is printed.

use envisa_isa::Span;

/// A string of the text that the module does not have.
pub(crate) const DROPPED: u32 = u32::MAX;

/// What annotations ask for.
#[derive(Default)]
pub(crate) struct Reorder {
    /// New names of strings, by their index in the text's pool.
    pub renames: Vec<(u32, String)>,
    /// Where each string of the text's pool goes.
    pub pool: Option<Vec<u32>>,
    /// Strings that the text does not mention, or has others for.
    pub strings: Vec<(u32, String)>,
    /// Where each label of the text goes.
    pub labels: Option<Vec<u32>>,
    /// Labels that the text does not mention, or has another kind of: index, kind, name.
    pub extra: Vec<(u32, u8, u32)>,
    pub span: Span,
}

/// What has a line of its own before the instructions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    General,
    Address,
    Predicate,
    Sampler,
    Surface,
    Attr,
}

/// What reading the printed text will make, as far as it is printed.
#[derive(Default)]
pub(crate) struct Order {
    /// Of each string that the text adds to the pool, the index that it has in the module.
    pub pool: Vec<u32>,
    /// Strings that the text has others for.
    pub explicit: Vec<u32>,
    /// Labels as the text mentions them first, and whether that is where they are placed.
    pub labels: Vec<(u16, bool)>,
    /// How each label is mentioned: not, as a block, as a subroutine; and where it is placed.
    pub seen: Vec<(Option<bool>, bool)>,
}
