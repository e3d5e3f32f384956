//! What is known of the ids of work-items for which a compare is true, or false.

use super::id_sums::{IDS, Sum};

/// A sum of ids, each times a factor, of which it is known where it lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bound {
    /// The first factor that is not zero is above it.
    pub factors: [i128; IDS],
    pub low: i128,
    pub high: i128,
}

/// Below and above all sums: these are of numbers of 64 bits.
pub(super) const LEAST: i128 = i128::MIN / 4;
pub(super) const MOST: i128 = i128::MAX / 4;

impl Bound {
    /// The sum is not below the one number and not above the other.
    fn of(sum: &Sum, (low, high): (i128, i128)) -> Option<Bound> {
        let cut = |n: i128| if n <= LEAST || n >= MOST { Some(n) } else { n.checked_sub(sum.base) };
        let (low, high) = (cut(low)?, cut(high)?);
        match sum.factors.iter().find(|f| **f != 0) {
            Some(first) if *first < 0 => {
                let factors = sum.factors.map(|f| -f);
                Some(Bound { factors, low: -high, high: -low })
            }
            _ => Some(Bound { factors: sum.factors, low, high }),
        }
    }

    /// Is it the same for all work-items of a group?
    pub fn is_of_group(&self) -> bool {
        self.factors[3..] == [0; 3]
    }

    /// Is it true of no work-item, whatever its ids?
    pub fn is_never_true(&self) -> bool {
        self.low > self.high || self.factors == [0; IDS] && !(self.low..=self.high).contains(&0)
    }
}

/// What is known of the work-items for which something holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Known {
    pub bounds: Vec<Bound>,
    /// It holds for all of which this is true.
    pub is_all: bool,
}

/// Bounds that are kept together.
const MOST_BOUNDS: usize = 32;

impl Known {
    fn of(sum: &Sum, range: (i128, i128)) -> Known {
        let bounds: Vec<Bound> = Bound::of(sum, range).into_iter().collect();
        Known { is_all: !bounds.is_empty(), bounds }
    }

    /// Of all work-items.
    pub fn all_work_items() -> Known {
        Known { bounds: Vec::new(), is_all: true }
    }

    /// Of no work-item: zero is not one.
    fn nobody() -> Known {
        Known { bounds: vec![Bound { factors: [0; IDS], low: 1, high: 1 }], is_all: true }
    }

    /// Where both hold.
    pub fn and(mut self, other: &Known) -> Known {
        self.bounds.extend(&other.bounds);
        self.is_all &= other.is_all && self.bounds.len() <= MOST_BOUNDS;
        self.bounds.truncate(MOST_BOUNDS);
        self
    }

    /// Where one of them holds.
    fn or(&self, other: &Known) -> Known {
        let never = |known: &Known| known.bounds.iter().any(Bound::is_never_true);
        if never(self) || self == other {
            return other.clone();
        }
        if never(other) {
            return self.clone();
        }
        let common = self.bounds.iter().filter(|bound| other.bounds.contains(bound));
        Known { bounds: common.copied().collect(), is_all: false }
    }
}

/// A truth of each work-item: what is known where it is false, and where it is true.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Truth {
    known: [Known; 2],
}

impl Truth {
    /// How a sum, which is from `range.0` to `range.1`, compares with zero, by the relation's number in a `cmp`.
    pub fn compare(relation: u32, apart: &Sum, range: (i128, i128)) -> Option<Truth> {
        let [zero, below, above] = [(0, 0), (LEAST, -1), (1, MOST)];
        let [upwards, downwards] = [(0, MOST), (LEAST, 0)];
        // What is not zero may be on either side of it.
        let other = match range {
            (0.., _) => Some(above),
            (_, ..=0) => Some(below),
            _ => None,
        };
        let (when_true, when_false) = match relation {
            0 => (Some(zero), other),
            1 => (other, Some(zero)),
            2 => (Some(above), Some(downwards)),
            3 => (Some(upwards), Some(below)),
            4 => (Some(below), Some(upwards)),
            5 => (Some(downwards), Some(above)),
            _ => return None,
        };
        let known = |range: Option<_>| range.map_or_else(Known::default, |range| Known::of(apart, range));
        Some(Truth { known: [known(when_false), known(when_true)] })
    }

    /// A truth that is the same for all work-items.
    pub fn constant(value: bool) -> Truth {
        let truth = Truth { known: [Known::nobody(), Known::all_work_items()] };
        if value { truth } else { truth.not() }
    }

    /// What is known where it is this.
    pub fn when(&self, value: bool) -> &Known {
        &self.known[usize::from(value)]
    }

    pub fn not(self) -> Truth {
        let [when_false, when_true] = self.known;
        Truth { known: [when_true, when_false] }
    }

    pub fn and(&self, other: &Truth) -> Truth {
        let both = self.when(true).clone().and(other.when(true));
        Truth { known: [self.when(false).or(other.when(false)), both] }
    }

    pub fn or(self, other: Truth) -> Truth {
        self.not().and(&other.not()).not()
    }

    /// Is it the same for all work-items of a group, as far as something is known of it?
    pub fn is_of_group(&self) -> bool {
        self.known.iter().flat_map(|known| &known.bounds).all(Bound::is_of_group)
    }
}
