//! Elements that channels access at a step: which rows of memory they are in, and where in these.
//!
//! Channel `i` of a part accesses the bytes from `i * step` on; each has elements of so many bytes, one after another.
//! A row is as many bytes as a vector has. That is data: nothing here knows an instruction.

/// How channels access memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Steps {
    /// Channels of a part: as many as a vector has lanes for one element of each.
    pub lanes: u32,
    /// Bytes from channel to channel.
    pub step: i32,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub element: u32,
    /// Which elements, as a bit set.
    pub elements: u64,
    /// Bytes of a lane that holds an element, at least as many.
    pub lane: u32,
    /// Bytes of a vector.
    pub vector: u32,
}

/// Where a unit of a vector comes from: a source, and the unit in it; `None`: it is zero, or is not stored.
pub(crate) type Unit = Option<(u8, u8)>;

/// Rows, and what is made of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    /// Bytes of a unit: 1, 2 or 4.
    pub unit: u32,
    /// Where each row begins, counted from the first channel's address.
    pub rows: Vec<i32>,
    /// Of loads, each element's vector from rows; of stores, each row from the elements' vectors.
    pub units: Vec<Vec<Unit>>,
}

impl Plan {
    /// Of loads of at least three elements from four rows, the two rows that hold all elements of each half of the channels,
    /// if two do.
    pub fn halves(&self) -> Option<[[u8; 2]; 2]> {
        if self.unit != 4 || self.rows.len() != 4 || self.units.len() < 3 {
            return None;
        }
        let of = |h: usize| {
            let half = |units: &Vec<Unit>| units.get(8 * h..8 * h + 8).map(<[Unit]>::to_vec);
            let all: Option<Vec<_>> = self.units.iter().map(half).collect();
            let mut rows: Vec<u8> = all?.into_iter().flatten().flatten().map(|u| u.0).collect();
            rows.sort_unstable();
            rows.dedup();
            <[u8; 2]>::try_from(rows).ok()
        };
        Some([of(0)?, of(1)?])
    }
}

/// Most rows that are worth their loads.
const MOST: i32 = 8;

impl Steps {
    /// The elements' places, counted in bytes from the channel's.
    fn places(&self) -> impl Iterator<Item = i32> + '_ {
        (0..64).filter(|k| self.elements >> k & 1 != 0).map(|k| k * self.element as i32)
    }

    /// The first byte that is accessed, and one past the last.
    pub fn reach(&self) -> (i32, i32) {
        let last = (self.lanes as i32 - 1) * self.step;
        let (first, end) =
            self.places().fold((i32::MAX, i32::MIN), |(a, b), p| (a.min(p), b.max(p + self.element as i32)));
        (last.min(0) + first, last.max(0) + end)
    }

    /// The largest unit that all places are multiples of.
    fn unit(&self) -> u32 {
        let all = self.step.unsigned_abs() | self.element | self.lane | 4;
        1 << all.trailing_zeros()
    }

    /// Loads of rows that hold all elements, and the elements' vectors of units of these; nothing where rows are too
    /// many, or one is longer than all that is accessed.
    pub fn loads(&self) -> Option<Plan> {
        let (first, end) = self.reach();
        let (unit, row) = (self.unit(), self.vector as i32);
        if end - first < row || end - first > MOST * row {
            return None;
        }
        let count = (end - first + row - 1) / row;
        // The last one ends where the last element does.
        let rows: Vec<i32> = (0..count).map(|k| (first + k * row).min(end - row)).collect();
        let units = self.places().map(|p| self.of_element(p, unit, first, &rows)).collect();
        Some(Plan { unit, rows, units })
    }

    fn of_element(&self, place: i32, unit: u32, first: i32, rows: &[i32]) -> Vec<Unit> {
        let each = self.lane / unit;
        (0..self.lanes * each)
            .map(|k| {
                let (lane, inside) = (k / each, k % each * unit);
                if inside >= self.element {
                    return None;
                }
                let at = lane as i32 * self.step + place + inside as i32;
                let row = ((at - first) / self.vector as i32) as usize;
                Some((row as u8, ((at - rows[row]) as u32 / unit) as u8))
            })
            .collect()
    }

    /// Stores of rows, of which bytes between the channels' elements stay as they are; nothing where rows are too many, or
    /// elements do not begin with the channel or are no units apart from what is between them.
    pub fn stores(&self) -> Option<Plan> {
        let count = self.elements.count_ones();
        let (bytes, row) = (self.lanes as i32 * self.step, self.vector as i32);
        let own = (count * self.element) as i32;
        let from_first = self.elements == u64::MAX >> (64 - count.max(1));
        if !from_first || count == 0 || self.step < own || bytes % row != 0 || bytes > MOST * row {
            return None;
        }
        let unit = self.unit();
        let of_row = |r: &i32| {
            let of_unit = |k: u32| {
                let at = *r as u32 + k * unit;
                let (lane, inside) = (at / self.step as u32, at % self.step as u32);
                let (element, inside) = (inside / self.element, inside % self.element);
                (element < count).then_some((element as u8, ((lane * self.lane + inside) / unit) as u8))
            };
            (0..self.vector / unit).map(of_unit).collect::<Vec<Unit>>()
        };
        let all = (0..bytes / row).map(|k| k * row).map(|r| (r, of_row(&r)));
        let (rows, units) = all.filter(|r| r.1.iter().any(Option::is_some)).unzip();
        Some(Plan { unit, rows, units })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Steps> {
        let of = |vector: u32| {
            [1u32, 2, 4, 8].into_iter().flat_map(move |element| {
                [4u32, 8].into_iter().filter(move |lane| element <= *lane).flat_map(move |lane| {
                    (-40..=64i32).flat_map(move |step| {
                        [1u64, 3, 7, 15, 5, 0xff, 0b1001].into_iter().map(move |elements| Steps {
                            lanes: vector / lane,
                            step,
                            element,
                            elements,
                            lane,
                            vector,
                        })
                    })
                })
            })
        };
        [32, 64].into_iter().flat_map(of)
    }

    /// Memory in which no two bytes that are near each other are the same.
    fn memory(at: i32) -> u8 {
        (at.wrapping_mul(167) ^ at >> 3) as u8
    }

    fn places(s: &Steps) -> Vec<i32> {
        s.places().collect()
    }

    /// Vectors made of rows have the elements, and nothing is loaded that no element may be beside.
    #[test]
    fn loads_are_of_the_elements() {
        let mut seen = 0;
        for s in all() {
            let Some(plan) = s.loads() else { continue };
            seen += 1;
            let (first, end) = s.reach();
            assert!(plan.rows.iter().all(|r| *r >= first && r + s.vector as i32 <= end), "{s:?}");
            for (units, place) in plan.units.iter().zip(places(&s)) {
                assert_eq!(units.len() as u32 * plan.unit, s.vector);
                let mut made = Vec::new();
                for u in units {
                    for b in 0..plan.unit {
                        made.push(u.map_or(0, |(row, k)| {
                            let inside = u32::from(k) * plan.unit + b;
                            assert!(inside < s.vector);
                            memory(plan.rows[usize::from(row)] + inside as i32)
                        }));
                    }
                }
                for lane in 0..s.lanes {
                    for b in 0..s.lane {
                        let is = made[(lane * s.lane + b) as usize];
                        let at = lane as i32 * s.step + place + b as i32;
                        let expected = if b < s.element { memory(at) } else { 0 };
                        assert_eq!(is, expected, "{s:?}, lane {lane}, byte {b}");
                    }
                }
            }
        }
        assert!(seen > 500, "{seen}");
    }

    /// Rows that are stored have every element where it belongs, and nothing where there is none.
    #[test]
    fn stores_are_of_the_elements() {
        let mut seen = 0;
        for s in all() {
            let Some(plan) = s.stores() else { continue };
            seen += 1;
            let value = |element: u8, byte: u32| memory(1000 * i32::from(element) + byte as i32);
            let mut stored = vec![None; (s.lanes as i32 * s.step) as usize];
            for (units, row) in plan.units.iter().zip(&plan.rows) {
                for (k, u) in units.iter().enumerate() {
                    let Some((element, unit)) = *u else { continue };
                    for b in 0..plan.unit {
                        let at = *row as usize + k * plan.unit as usize + b as usize;
                        assert!(
                            stored[at].replace(value(element, u32::from(unit) * plan.unit + b)).is_none()
                        );
                    }
                }
            }
            for lane in 0..s.lanes {
                for (element, place) in places(&s).into_iter().enumerate() {
                    for b in 0..s.element {
                        let at = (lane as i32 * s.step + place) as u32 + b;
                        let expected = value(element as u8, lane * s.lane + b);
                        assert_eq!(
                            stored[at as usize].take(),
                            Some(expected),
                            "{s:?}, lane {lane}, byte {b}"
                        );
                    }
                }
            }
            assert!(stored.iter().all(Option::is_none), "{s:?}: what is between elements");
        }
        assert!(seen > 200, "{seen}");
    }
}
