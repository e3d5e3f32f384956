//! What of the register file a program writes.

use envisa_lower::Program;

/// The bytes of the register file that a program writes.
#[derive(Default)]
pub(super) struct Written {
    /// In order, apart from each other.
    ranges: Vec<(u32, u32)>,
    /// From there on, it may write any, by addresses.
    anywhere: Option<u32>,
    /// Dwords that are written by themselves, in order.
    dwords: Vec<u32>,
}

impl Written {
    pub fn new(p: &Program) -> Written {
        let mut all = Written::default();
        for i in p.code() {
            i.writes(p.parts(), &mut |t| match t.range(i.channels.into()) {
                Some(r) if r.is_empty() => {}
                Some(r) => all.ranges.push((r.start, r.end)),
                None => all.anywhere = Some(p.registers().address_base),
            });
        }
        all.dwords = all.ranges.iter().filter(|r| r.0 + 4 == r.1).map(|r| r.0).collect();
        all.dwords.sort_unstable();
        all.ranges.sort_unstable();
        all.ranges.dedup_by(|b, a| {
            let meet = b.0 <= a.1;
            a.1 = if meet { a.1.max(b.1) } else { a.1 };
            meet
        });
        all
    }

    /// Is a dword written by itself anywhere?
    pub fn dword(&self, at: u32) -> bool {
        self.dwords.binary_search(&at).is_ok()
    }

    pub fn writes_any(&self, start: u32, end: u32) -> bool {
        let from = self.ranges.partition_point(|r| r.1 <= start);
        self.ranges.get(from).is_some_and(|r| r.0 < end) || self.anywhere.is_some_and(|a| start >= a)
    }
}
