//! Facts about values: constants, ranges, low bits, uniformity.

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

/// What a launch says of registers that threads start with: of elements in a row, a lane each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    /// The first byte.
    pub offset: envisa_lower::RegOffset,
    /// Bytes of an element.
    pub bytes: u32,
    /// Elements.
    pub lanes: u32,
    /// What is known of them all.
    pub facts: Facts,
}

impl crate::Func {
    /// What is known of elements that a thread starts with.
    pub(crate) fn known(&self, offset: u32, step: u32, ty: crate::Type) -> Option<Facts> {
        let bytes = ty.elem.bytes();
        let k = self.known.iter().find(|k| {
            let end = offset + step * (u32::from(ty.lanes) - 1) + bytes;
            k.bytes == bytes
                && (k.offset..k.offset + k.bytes * k.lanes).contains(&offset)
                && end <= k.offset + bytes * k.lanes
        })?;
        let one = ty.lanes == 1 || step == 0;
        let row = step == bytes || one;
        let step = if one { Some(0) } else { k.facts.step.filter(|_| row) };
        Some(Facts { uniform: one || k.facts.uniform, step, ..k.facts })
    }
}
