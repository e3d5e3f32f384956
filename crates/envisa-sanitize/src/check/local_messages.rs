//! Messages to shared local memory of which all that the checks want to know is known before they are executed: where each
//! channel goes. If nothing is wrong there, nobody needs to be told of what they access, and any code executes them.

use std::ops::Range;

use envisa_lower::{Extend, Inst, Message, Op, Space, Src};
use envisa_machine::thread::{Machine, Mask};

use super::Checks;
use super::memory_content::ContentPlace;
use super::races_in_group::{ChannelRange, CurrentAccesses, RaceAccess, Run, SLM, THREAD, several_channels};
use super::report_places::LOCAL_OFFSET;

/// What is known of a message before the program runs.
#[derive(Clone, Debug)]
pub(super) struct LocalMessage {
    write: bool,
    /// Where addresses are, and what is added to them.
    address: u32,
    offset: u32,
    /// Bits that no address has.
    aligned: u32,
    /// Bytes of an element in memory, how many each channel has side by side, and their bytes together.
    element: u32,
    parts: u32,
    span: u32,
    data: u32,
    component_stride: u32,
    first: u32,
    /// Where an access was inside: of that memory all is.
    inside: Range<u32>,
}

impl LocalMessage {
    /// `None` of messages that are looked at when they are executed.
    fn of(i: &Inst, message: Option<&Message>, simd: u32) -> Option<LocalMessage> {
        let Some(Message::Simt(s)) = message.filter(|_| i.op == Op::Message) else { return None };
        let parts = s.elements.count_ones();
        let plain =
            matches!((s.element, s.slot), (4, 4) | (8, 8)) && !s.upper && s.elements == (1 << parts) - 1;
        // What is done once for all channels is none of theirs.
        let all = i.channels > 1 && !(i.no_mask && u32::from(i.channels) < simd) && i.channels <= 32;
        let none = |s: &Src| matches!(s, Src::None);
        let direct = s.space == Space::Slm
            && s.address_bytes == 4
            && s.extend == Extend::None
            && s.scale == 1
            && none(&s.base)
            && none(&s.origin)
            && none(&s.stride);
        let aligned = 3 | (u32::from(s.align.max(1)).next_power_of_two() - 1);
        (plain && all && direct && (1..=4).contains(&parts)).then_some(())?;
        Some(LocalMessage {
            write: s.write,
            address: s.address,
            offset: s.offset as u32,
            aligned,
            element: s.element.into(),
            parts,
            span: parts * u32::from(s.element),
            data: s.data?,
            component_stride: s.component_stride,
            first: i.first.into(),
            inside: 0..0,
        })
    }

    /// Where an access was inside.
    pub fn inside(&self) -> Range<u32> {
        self.inside.clone()
    }

    /// What some neighbouring channels store, one after the other.
    fn stored<'a>(&self, m: &'a Machine<'_>, lanes: Range<u32>, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        let at = |lane: u32, part: u32| self.data + part * self.component_stride + lane * self.element;
        if self.parts == 1 {
            return m.t.regs.slice(at(lanes.start, 0), lanes.len() as u32 * self.element);
        }
        buffer.clear();
        for lane in lanes {
            (0..self.parts).for_each(|n| buffer.extend_from_slice(m.t.regs.slice(at(lane, n), self.element)));
        }
        buffer
    }
}

/// Neighbouring channels that access memory side by side, or the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    from: u32,
    count: u32,
    at: u32,
    same: bool,
}

/// The channels of a mask, which access so many bytes each, in runs.
fn runs(at: &[u32; 32], mask: Mask, span: u32, may_share: bool, out: &mut Vec<Lanes>) {
    out.clear();
    let mut rest = mask;
    while rest != 0 {
        let from = rest.trailing_zeros();
        let most = (mask >> from).trailing_ones();
        let (first, lanes) = (at[from as usize], &at[from as usize..(from + most) as usize]);
        let same = may_share && most > 1 && lanes[1] == first;
        let step = if same { 0 } else { span };
        let mut next = first;
        let side_by_side = |a: &&u32| {
            let is = **a == next;
            next = next.wrapping_add(step);
            is
        };
        let count = lanes.iter().take_while(side_by_side).count() as u32;
        out.push(Lanes { from, count, at: first, same });
        rest &= u32::MAX.checked_shl(from + count).unwrap_or(0);
    }
}

/// May stores of two runs go to one place?
fn may_collide(runs: &[Lanes], span: u32) -> bool {
    if runs.windows(2).all(|two| two[0].at + two[0].count * span <= two[1].at) {
        return false;
    }
    let mut seen = [0u64; 32];
    runs.iter().flat_map(|r| r.at / 4..(r.at + r.count * span) / 4).any(|dword: u32| {
        let (word, bit) = (&mut seen[dword as usize / 64 % 32], 1 << (dword % 64));
        let twice = *word & bit != 0;
        *word |= bit;
        twice
    })
}

impl Checks {
    /// Finds what can be known of the messages of a program.
    pub(super) fn find_local_messages(&mut self, m: &Machine<'_>) {
        let p = m.env.program;
        self.local_messages.clear();
        if !self.selects || self.facts.program.at_length {
            return;
        }
        let proof = &self.sites.program.proof;
        let of = |(i, pc): (&Inst, u32)| {
            let known = proof.is_proven(pc) && !proof.touches(pc) && self.sites.are_all_results_used(pc);
            LocalMessage::of(i, p.messages().get(i.aux as usize), p.simd()).filter(|_| known)
        };
        self.local_messages = p.code().iter().zip(0..).map(of).collect();
    }

    /// Looks at a message before it is executed; false if it has to be told of what that accesses.
    pub(super) fn local_message_passes(&mut self, m: &Machine<'_>, pc: u32, mask: Mask) -> bool {
        let Some(Some(message)) = self.local_messages.get_mut(pc as usize) else { return false };
        let thread = m.t.index;
        self.group.resume_thread(thread);
        if self.shadows.get(thread as usize).is_none_or(|s| s.spoilt) || self.group.is_apart(thread) {
            return false;
        }
        if mask == 0 {
            return true;
        }
        let mut at = [0u32; 32];
        let bytes = m.t.regs.slice(message.address, 4 * (u32::BITS - mask.leading_zeros()));
        let (mut low, mut high, mut bits) = (u32::MAX, 0, 0);
        for (n, (at, a)) in at.iter_mut().zip(bytes.as_chunks::<4>().0).enumerate() {
            *at = u32::from_le_bytes(*a).wrapping_add(message.offset) & LOCAL_OFFSET as u32;
            if mask >> n & 1 != 0 {
                (low, high, bits) = (low.min(*at), high.max(*at), bits | *at);
            }
        }
        let high = high + message.span;
        if bytes.is_empty() || bits & message.aligned != 0 {
            return false;
        }
        if !(message.inside.start <= low && high <= message.inside.end) {
            message.inside = inside(m, &self.sites.local_variables, low);
            if high > message.inside.end {
                return false;
            }
        }
        let message = message.clone();
        let mut lanes = std::mem::take(&mut self.lanes);
        runs(&at, mask, message.span, !message.write, &mut lanes);
        let passes = self.runs_pass(m, pc, &message, &lanes);
        self.lanes = lanes;
        passes
    }

    fn runs_pass(&mut self, m: &Machine<'_>, pc: u32, message: &LocalMessage, lanes: &[Lanes]) -> bool {
        let (thread, span) = (m.t.index, message.span);
        let bytes = |r: &Lanes| if r.same { span } else { r.count * span };
        let home = |r: &Lanes| ContentPlace::Local(u64::from(r.at));
        if message.write {
            if may_collide(lanes, span) {
                return false;
            }
        } else if !lanes.iter().all(|r| self.contents.all(thread, home(r), bytes(r))) {
            return false;
        }
        let access = if message.write { RaceAccess::Write } else { RaceAccess::Read };
        let now = CurrentAccesses { thread, pc, access, loads: false, compares: false, images: false };
        let mut buffer = std::mem::take(&mut self.stored);
        let in_step = self.facts.in_step;
        let run = |r: &Lanes| -> Option<Run<'_>> {
            let channel = (message.first + r.from) as u8;
            let by = match () {
                () if in_step => ChannelRange::single(THREAD),
                () if r.same => ChannelRange::single(several_channels(channel)),
                () if r.count == 1 => ChannelRange::single(channel),
                () => ChannelRange::equal_parts(channel, span)?,
            };
            Some(Run { key: SLM | u64::from(r.at), bytes: bytes(r), by, values: &[] })
        };
        let passes = self.group.note_race_free_accesses(now, lanes, |r, make| {
            let Some(run) = run(r) else { return false };
            let values = match message.write {
                true => message.stored(m, r.from..r.from + r.count, &mut buffer),
                false => &[],
            };
            make(&Run { values, ..run })
        });
        self.stored = buffer;
        if passes && message.write {
            lanes.iter().for_each(|r| self.contents.set(thread, home(r), bytes(r), true));
        }
        passes
    }
}

/// Around a place in shared local memory: the argument or the kernel's own variable that it is in, if all of that is one's
/// own.
pub(super) fn inside(m: &Machine<'_>, variables: &[(Range<u64>, String)], at: u32) -> Range<u32> {
    let at = u64::from(at);
    let end = m.slm.len() as u64;
    let regions = m.env.local_regions;
    let region = match regions.iter().find(|r| at.wrapping_sub(r.start) < r.bytes) {
        Some(r) => r.start..r.start.saturating_add(r.bytes).min(end),
        None if regions.is_empty() => 0..end,
        None => return 0..0,
    };
    let all = match variables.iter().find(|(v, _)| v.contains(&at)) {
        Some((v, _)) => v.start.max(region.start)..v.end.min(region.end),
        None if variables.iter().any(|(v, _)| v.start < region.end && region.start < v.end) => return 0..0,
        None => region,
    };
    all.start as u32..all.end as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_lie_in_runs() {
        let mut at = [0; 32];
        (0..8).for_each(|n| at[n] = 64 + 4 * n as u32);
        (8..12).for_each(|n| at[n] = 32);
        at[12..16].copy_from_slice(&[100, 96, 0, 4]);
        let mut out = Vec::new();
        let told = |out: &[Lanes]| out.iter().map(|r| (r.from, r.count, r.at, r.same)).collect::<Vec<_>>();
        runs(&at, 0xffff, 4, true, &mut out);
        let want =
            [(0, 8, 64, false), (8, 4, 32, true), (12, 1, 100, false), (13, 1, 96, false), (14, 2, 0, false)];
        assert_eq!(told(&out), want);
        // Of stores to one place each is its channel's.
        runs(&at, 0x0330, 4, false, &mut out);
        assert_eq!(told(&out), [(4, 2, 80, false), (8, 1, 32, false), (9, 1, 32, false)]);
        assert!(may_collide(&out, 4));
        runs(&at, 0x10f0, 4, false, &mut out);
        assert!(!may_collide(&out, 4));
        assert!(may_collide(&out, 8), "of two dwords each");
    }
}
