//! Hit counts: which of a lane's hits a breakpoint stops at. A hit's number is a matter of the launch's time, not of the session: a
//! lane's third hit is the third since the launch began, whenever the breakpoint was set, and on the way back too.

use std::collections::HashMap;

/// The hits of a lane that count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HitCondition {
    /// One alone: `5`.
    Exactly(u64),
    /// That one and later ones: `>= 5`.
    AtLeast(u64),
    /// Earlier ones and that one: `<= 5`.
    AtMost(u64),
    /// Every so many: `% 5`.
    Every(u64),
}

impl HitCondition {
    /// Reads one: a number, behind `=`, `==`, `>=`, `>`, `<=`, `<`, `%` or nothing.
    ///
    /// # Errors
    /// What can be written.
    pub fn read(text: &str) -> Result<HitCondition, String> {
        let bad = || format!("`{text}` is not a hit count: write 5, >= 5, > 5, <= 5, < 5 or % 5");
        let (op, digits) = text.split_at(text.find(|c: char| c.is_ascii_digit()).ok_or_else(bad)?);
        let n: u64 = digits.trim().parse().map_err(|_| bad())?;
        match op.trim() {
            "" | "=" | "==" => Ok(HitCondition::Exactly(n)),
            ">=" => Ok(HitCondition::AtLeast(n)),
            ">" => n.checked_add(1).map(HitCondition::AtLeast).ok_or_else(bad),
            "<=" => Ok(HitCondition::AtMost(n)),
            "<" => n.checked_sub(1).map(HitCondition::AtMost).ok_or_else(bad),
            "%" if n > 0 => Ok(HitCondition::Every(n)),
            _ => Err(bad()),
        }
    }

    /// Does the n-th hit count?
    fn counts(self, nth: u64) -> bool {
        match self {
            HitCondition::Exactly(n) => nth == n,
            HitCondition::AtLeast(n) => nth >= n,
            HitCondition::AtMost(n) => nth <= n,
            HitCondition::Every(n) => nth.is_multiple_of(n),
        }
    }
}

/// The hits of one breakpoint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hits {
    /// The clock up to which they are known.
    known: Option<u64>,
    /// Lanes whose hit counts, of the thread whose turn it is, by clock.
    counting: Vec<(u64, u32)>,
    /// The hits of each lane of the group that ran last.
    group: [u32; 3],
    lanes: HashMap<(usize, u32), u64>,
}

impl Hits {
    /// Of a breakpoint that counts from this clock on.
    pub(crate) fn from(clock: u64) -> Hits {
        Hits { known: Some(clock), ..Hits::default() }
    }

    /// The lanes whose hit at this clock counts, if that is known.
    pub(crate) fn known_lanes(&self, clock: u64) -> Option<u32> {
        if !self.are_known(clock) {
            return None;
        }
        let at = self.counting.binary_search_by_key(&clock, |(clock, _)| *clock);
        Some(at.map_or(0, |i| self.counting[i].1))
    }

    /// These lanes of a thread hit it at this clock; gives those whose hit counts.
    pub(crate) fn hit(
        &mut self,
        condition: HitCondition,
        clock: u64,
        (group, thread): ([u32; 3], usize),
        lanes: u32,
    ) -> u32 {
        if self.group != group {
            (self.group, self.lanes) = (group, HashMap::new());
        }
        let mut counting = 0;
        for lane in (0..32).filter(|l| lanes >> l & 1 != 0) {
            let nth = self.lanes.entry((thread, lane)).or_insert(0);
            *nth += 1;
            counting |= u32::from(condition.counts(*nth)) << lane;
        }
        if counting != 0 {
            self.counting.push((clock, counting));
        }
        self.known = Some(clock);
        counting
    }

    /// Are they known up to this clock?
    pub(crate) fn are_known(&self, clock: u64) -> bool {
        self.known.is_some_and(|known| clock <= known)
    }

    /// All up to this clock was looked at.
    pub(crate) fn mark_known_until(&mut self, clock: u64) {
        self.known = Some(self.known.map_or(clock, |known| known.max(clock)));
    }

    /// What is behind this clock will be something else.
    pub(crate) fn forget(&mut self, clock: u64) {
        if self.known.is_some_and(|known| known > clock) {
            self.known = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let read = |text: &str| HitCondition::read(text);
        assert_eq!(read("5"), Ok(HitCondition::Exactly(5)));
        assert_eq!(read("== 5"), Ok(HitCondition::Exactly(5)));
        assert_eq!(read(">=3"), Ok(HitCondition::AtLeast(3)));
        assert_eq!(read("> 3"), Ok(HitCondition::AtLeast(4)));
        assert_eq!(read("<= 3"), Ok(HitCondition::AtMost(3)));
        assert_eq!(read("<3"), Ok(HitCondition::AtMost(2)));
        assert_eq!(read("%2"), Ok(HitCondition::Every(2)));
        for bad in ["", "x", "% 0", "< 0", "!= 3", "5 times", "-1", "> 18446744073709551615"] {
            assert!(read(bad).is_err_and(|why| why.contains("write 5, >= 5")), "{bad}");
        }
    }

    #[test]
    fn each_lane_has_its_own_count() {
        let (group, mut hits) = ([0; 3], Hits::from(0));
        let mut hit = |clock, lanes| hits.hit(HitCondition::Exactly(2), clock, (group, 0), lanes);
        assert_eq!([hit(3, 0b011), hit(5, 0b110), hit(8, 0b111)], [0, 0b010, 0b101]);
        assert_eq!(
            (hits.known_lanes(5), hits.known_lanes(6), hits.known_lanes(9)),
            (Some(0b010), Some(0), None)
        );
        // Lanes of another thread, and of the next group, begin anew.
        assert_eq!(hits.hit(HitCondition::Exactly(2), 9, (group, 1), 0b111), 0);
        assert_eq!(hits.hit(HitCondition::Exactly(1), 10, ([1, 0, 0], 0), 1), 1);
        hits.forget(10);
        assert_eq!(hits.known_lanes(10), Some(1));
        hits.forget(9);
        assert_eq!(hits.known_lanes(3), None);
    }
}
