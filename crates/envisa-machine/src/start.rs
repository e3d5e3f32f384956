//! The initial registers of threads, for engines that start threads themselves.

use std::ops::Range;

use envisa_isa::Platform;
use envisa_lower::{Program, RegOffset};

use crate::dispatch::Prepared;
use crate::loader::{Loader, SET};
use crate::thread_inputs::GROUP_IDS;

/// What is written into the registers of a thread that has all channels when it starts after another one of its
/// launch, in this order. What the threads of a row share is there already (see [`Row`](crate::group::Row)).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Start {
    /// The writes.
    pub writes: Vec<Write>,
    /// Bytes from a thread's payload to the next one's.
    pub payload_bytes: u32,
}

/// A write into a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Write {
    /// First byte.
    pub to: RegOffset,
    /// How many.
    pub bytes: u32,
    /// Of what.
    pub value: Value,
}

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// The same in all bytes.
    Fill(u8),
    /// Bytes of the row's image, from here on.
    Image(u32),
    /// Bytes of the thread's payload, from here on.
    Payload(u32),
    /// The thread's index in its group, as r0 has it.
    Index,
    /// Its hardware slot.
    Slot,
    /// `%sr0` of its hardware slot: see [`Gaps`].
    State(Gaps),
    /// The group's id along the row.
    GroupId,
    /// All channels.
    Channels,
}

/// The numbers of a device's units are not dense: `%sr0` is a hardware slot with bits put in between its own, which
/// kernels take out again. One is above bit 2; of the sum, so many are above bit 5.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Gaps {
    /// Bits above bit 5.
    pub upper: u32,
}

impl Gaps {
    /// Those of a platform.
    pub fn of(platform: Platform) -> Gaps {
        match platform {
            Platform::Pvc | Platform::Pvcxt | Platform::Xe2 | Platform::Xe3 => Gaps { upper: 2 },
            _ => Gaps { upper: 1 },
        }
    }

    /// The steps from a slot to its number: `(bit, bits put in there)`.
    pub fn steps(self) -> [(u32, u32); 2] {
        [(3, 1), (6, self.upper)]
    }

    /// `%sr0` of a slot.
    pub fn number(self, slot: u32) -> u32 {
        self.steps().iter().fold(slot, |x, (at, n)| (x & ((1 << at) - 1)) | (x >> at) << (at + n))
    }
}

impl Start {
    /// Of threads of a launch that read what their loader was trimmed to; `None` if it was not, or they start with more
    /// than copies.
    pub fn new(p: &Program, prepared: &Prepared, loader: &Loader) -> Option<Start> {
        let few = loader.few.as_ref()?;
        // Where a thread's scratch is: of programs without, the same for all.
        let own = few.thread.iter().chain(&few.group).any(|c| ranges_overlap(&(20..24), &(c.1..c.1 + c.2)));
        if own && prepared.scratch_bytes() > 0 {
            return None;
        }
        let mut writes = Vec::new();
        let fill =
            |to: &Range<u32>, x: u8| Write { to: to.start, bytes: to.end - to.start, value: Value::Fill(x) };
        if cfg!(debug_assertions) {
            // As the loader does: tests see to it that what is not cleared is not read.
            writes.extend(loader.stale.iter().map(|r| fill(r, 0xa5)));
        }
        writes.extend(loader.fresh.iter().map(|r| fill(r, 0)));
        let axis = prepared.row_axis();
        for c in &few.group {
            // What else a group's threads share does not differ within a row.
            let mut all = Vec::new();
            image(c, axis, &mut all)?;
            writes.extend(all.into_iter().filter(|w| w.value == Value::GroupId));
        }
        for c in &few.thread {
            image(c, axis, &mut writes)?;
        }
        for (to, from, bytes) in &few.payload {
            writes.push(Write { to: *to, bytes: *bytes, value: Value::Payload(*from) });
        }
        let id = |k: usize| if k == axis { Value::GroupId } else { Value::Image(GROUP_IDS[k].start) };
        let values =
            [Value::Slot, id(0), id(1), id(2), Value::State(Gaps::of(p.platform())), Value::Channels];
        for (k, (id, at)) in SET.iter().enumerate().filter(|(k, _)| few.set[*k]) {
            writes.push(Write { to: p.registers().predefined[*id] + at, bytes: 4, value: values[k] });
        }
        let payload = prepared.payload_range();
        Some(Start { writes, payload_bytes: (payload.end - payload.start) as u32 })
    }
}

/// Where an image has the thread's index.
const INDEX: Range<u32> = 8..12;

/// A copy of bytes of the image, of which some are other ones in each thread, or in each group along an axis: not of parts
/// of these.
fn image((to, from, bytes): &(u32, u32, u32), axis: usize, writes: &mut Vec<Write>) -> Option<()> {
    let end = from + bytes;
    let mut own = [(GROUP_IDS[axis].clone(), Value::GroupId), (INDEX, Value::Index)];
    own.sort_by_key(|o| o.0.start);
    let mut at = *from;
    for (place, value) in own.into_iter().filter(|o| o.0.start < end && *from < o.0.end) {
        if place.start < *from || end < place.end {
            return None;
        }
        let mut write = |to_: u32, bytes, value| writes.push(Write { to: to + (to_ - from), bytes, value });
        if at < place.start {
            write(at, place.start - at, Value::Image(at));
        }
        write(place.start, place.end - place.start, value);
        at = place.end;
    }
    if at < end {
        writes.push(Write { to: to + (at - from), bytes: end - at, value: Value::Image(at) });
    }
    Some(())
}

fn ranges_overlap(a: &Range<u32>, b: &Range<u32>) -> bool {
    a.start < b.end && b.start < a.end
}
