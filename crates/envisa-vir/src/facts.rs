//! What is known of values before they are computed.

/// What is known of a value, whose lanes are numbers without a sign. All of it holds in every lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Bits that are zero at the low end.
    pub low_zeros: u8,
    /// Every lane has the same bits.
    pub uniform: bool,
    /// Lane `i` is lane 0 and `i * step`, computed in the lanes' bits (so sums that pass them wrap). Of masks nothing.
    pub step: Option<i64>,
    /// The least number a lane can be.
    pub least: u64,
    /// The greatest one.
    pub greatest: u64,
}

/// Nothing.
impl Default for Facts {
    fn default() -> Facts {
        Facts { low_zeros: 0, uniform: false, step: None, least: 0, greatest: u64::MAX }
    }
}

impl Facts {
    /// The number that all lanes are, if it is known.
    pub fn constant(&self) -> Option<u64> {
        (self.least == self.greatest).then_some(self.least)
    }
}
