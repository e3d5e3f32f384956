//! Stores to what is constant, and stores whose channels collide.

use std::sync::Arc;

use envisa_lower::Message;
use envisa_machine::thread::{Access, AccessKind, AccessSpace, Machine};

use super::adjacent_accesses::Row;
use super::races_in_group::SLM;
use super::report_places::Sites;
use super::uninitialised::is_data;
use super::{Checks, FindingKind};

impl Checks {
    /// Is a part of a row constant?
    #[inline]
    pub(super) fn meets_constant(&self, row: &Row) -> bool {
        let Some(place) = row.access.place else { return false };
        let end = place.saturating_add(row.bytes());
        self.facts.constant.iter().any(|(r, _)| r.start < end && place < r.end)
    }

    /// Complains of a store to what is constant.
    pub(super) fn constant(&mut self, m: &Machine<'_>, pc: u32, a: &Access) {
        let Some(place) = a.place.filter(|_| !self.facts.constant.is_empty()) else { return };
        let facts = Arc::clone(&self.facts);
        if let Some((range, name)) = facts.constant.iter().find(|(r, _)| r.contains(&place)) {
            let subject = || {
                format!(
                    "writes {} bytes at byte {} of {name}, which the kernel declares constant",
                    a.bytes,
                    place - range.start
                )
            };
            self.note(m, pc, FindingKind::ConstantWrite, u32::from(a.channel), subject);
        }
    }

    /// Looks for channels of a store that write one place.
    pub(super) fn conflicts(&mut self, m: &Machine<'_>, pc: u32, message: &Message, first: u32) {
        if !matches!(message, Message::Simt(_) | Message::Typed(_)) || m.accesses.rows().len() < 2 {
            return;
        }
        let accesses: Vec<Access> = m.accesses.iter().collect();
        // Later channels against the first that wrote the place.
        let place = |a: &Access| (a.place.unwrap_or(a.address), a.space == AccessSpace::Slm);
        let mut written: Vec<((u64, bool), usize)> = accesses
            .iter()
            .enumerate()
            .filter(|(_, a)| a.kind == AccessKind::Write && !a.outside)
            .map(|(n, a)| (place(a), n))
            .collect();
        written.sort_unstable();
        let mut again: Vec<(usize, u8)> = Vec::new();
        for same in written.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            let first = accesses[same[0].1].channel;
            again.extend(same[1..].iter().map(|(_, n)| (*n, first)));
        }
        again.sort_unstable();
        let mut told = None;
        for (n, other) in again {
            let a = &accesses[n];
            if other == a.channel || told == Some(a.channel) {
                continue;
            }
            let mut values: [Vec<u8>; 2] = Default::default();
            let p = m.env.program;
            for (value, channel) in values.iter_mut().zip([other, a.channel]) {
                message.reads(p.registers(), &mut |t| {
                    if is_data(message, t)
                        && let Some(at) = t.channel((channel as u32).saturating_sub(first))
                    {
                        value.extend_from_slice(m.t.regs.slice(at.start, at.end - at.start));
                    }
                });
            }
            if values[0] != values[1] {
                told = Some(a.channel);
                let place = match (a.space, a.place) {
                    (AccessSpace::Slm, _) => Some(SLM | a.address),
                    (_, place) => place,
                };
                let (address, [theirs, mine]) = (a.address, values.map(|v| number(&v)));
                let subject = |sites: &Sites| {
                    let place = place.map_or_else(|| format!("{address:#x}"), |key| sites.place(key));
                    format!("{place} ({theirs} and {mine})")
                };
                let kind = FindingKind::StoreConflict;
                let f = self.note_pair(m, (pc, u32::MAX), kind, a.channel as u32, subject);
                f.memory = f.memory.or(place);
                f.with.get_or_insert((u32::from(other), [theirs.clone(), mine.clone()]));
            }
        }
    }
}

/// A value of these bytes, the lowest first.
fn number(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().rev().map(|b| format!("{b:02x}")).collect();
    format!("0x{}", Some(digits.trim_start_matches('0')).filter(|d| !d.is_empty()).unwrap_or("0"))
}
