//! A launch that is ready to run: the initial registers, and how they differ from group to group.

use super::launch::LaunchError;
use super::threads::GroupClass;
use super::*;
use crate::dropped_accesses::Dropped;
use crate::fallback_counts::FallbackCounts;
use crate::memory::{
    AddressMap, Allocation, Block, Memory, MemoryError, Names, Private, SurfaceTable, allocate_report_buffer,
};
use crate::regrouped::Regrouped;
use crate::thread::LocalRegion;
use crate::thread_inputs::Inputs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A launch, ready to run.
#[derive(Debug)]
pub struct Prepared {
    /// Groups in x, y and z.
    pub groups: [u32; 3],
    /// Work-items a group, nominally.
    pub local: [u32; 3],
    /// Channels a thread.
    pub simd: u32,
    /// Classes of groups; see [`Prepared::class`].
    pub(super) classes: Vec<GroupClass>,
    /// Which class a group at the far edge has, by a bit for each dimension.
    pub(super) edge_class: [u8; 8],
    /// Register image with everything that all threads share.
    pub image: Vec<u8>,
    /// Where the image's per-thread payload starts.
    pub(super) payload_at: usize,
    /// Bytes of a per-thread payload.
    pub(super) payload_bytes: usize,
    /// Bytes from a payload's ids of one dimension to those of the next; 0 where it has no rows of ids.
    pub(super) row_bytes: usize,
    /// Where copies of the group's actual size stand in the image.
    pub(super) local_size_at: Vec<usize>,
    /// Bytes of shared local memory a group.
    pub slm_bytes: u64,
    /// The binding table.
    pub surfaces: SurfaceTable,
    /// Samplers by index.
    pub samplers: Vec<Option<Sampler>>,
    /// The 32-bit general-state window: implicit arguments, then each slot's scratch.
    pub window: Block,
    /// First byte of slot 0's scratch in the window.
    pub(super) scratch_at: u32,
    /// Bytes of a slot's scratch.
    pub(super) scratch_bytes: u32,
    /// The printf buffer, if the kernel prints.
    pub(super) printf: Option<Arc<Allocation>>,
    /// Allocations made for this launch alone, freed with it.
    pub(super) own: Vec<Private>,
    /// Counts the accesses that were dropped.
    pub dropped: Dropped,
    /// The groups that were asked for, where it runs in others.
    pub regrouped: Option<Regrouped>,
    /// Counts what an engine asks for, where somebody wants to know.
    pub asked: Option<Arc<FallbackCounts>>,
    /// What shared local memory is divided into, where that is known.
    pub local_regions: Vec<LocalRegion>,
    /// Start and bytes of the allocation that work-items have their private data in.
    pub private: Option<(u64, u64)>,
    /// All that the launch can reach by addresses, as it was when the launch was prepared.
    pub map: Arc<AddressMap>,
    /// What reports call allocations without a name.
    pub names: Names,
    /// The state of the address space that the map is of.
    pub(super) version: u64,
    /// See [`Prepared::number`].
    pub(super) number: u64,
    /// See [`Prepared::reach`].
    pub(super) reach: u64,
    /// The same of the launch that became this one, if that reached the same.
    pub(super) reached_before: Option<u64>,
}

/// A number for a launch that no other has.
pub(super) fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Most bytes that a launch has for itself which is remembered, scratch and private memory: they stay, and are cleared
/// each time, as those of a new launch would be.
const MOST_OWN: u64 = 256 << 10;

impl Prepared {
    /// What the kernel has printed up to now; `None` if it cannot print.
    pub fn printed(&self) -> Option<Printed> {
        self.printf.as_ref().map(|a| printf::decode(&self.map, &a.block))
    }

    /// Tells it from others. Of one that runs again as it was it is the same: all that its workers found out about
    /// registers, memory and surfaces holds then, too.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Tells what it reaches from what others do: where a message went holds in launches that reach the same.
    pub fn reach(&self) -> u64 {
        self.reach
    }

    /// Does it reach what another one does, but for its own window?
    pub(super) fn reaches_same_memory(&self, other: &Prepared) -> bool {
        let printf = |p: &Prepared| p.printf.as_ref().map(|a| a.base);
        (self.version, self.slm_bytes, self.private) == (other.version, other.slm_bytes, other.private)
            && printf(self) == printf(other)
            && other.knows_its_own()
            && self.surfaces.has_same_bindings(&other.surfaces)
            && self.samplers == other.samplers
    }

    /// Has it memory that no other launch reaches, beside its window?
    pub(super) fn has_private_memory(&self) -> bool {
        !self.own.is_empty()
    }

    /// Are its allocations private memory and what it prints to, and no others, such as implicit arguments?
    fn knows_its_own(&self) -> bool {
        self.own.len() == usize::from(self.private.is_some()) + usize::from(self.printf.is_some())
    }

    /// Makes private memory and what it prints to as they were at first.
    fn clear_own(&self) -> bool {
        self.own.iter().all(|own| match &self.printf {
            Some(printf) if printf.base == own.base => printf::begin(&own.block),
            _ => own.block.clear(0, own.block.len()),
        })
    }

    /// Its private memory and what it printed to, as they were at first, for another launch.
    pub(super) fn take_private_memory(&mut self) -> [Option<Private>; 2] {
        let mut found = [None, None];
        if self.knows_its_own() && self.clear_own() {
            let printf = self.printf.as_ref().map(|a| a.base);
            for own in self.own.drain(..) {
                let kind = usize::from(Some(own.base) == printf);
                found[kind] = Some(own);
            }
        }
        found
    }

    /// Lets go of what it reaches, so that it keeps nobody's memory; `false` if it cannot run again: it has memory of
    /// its own whose content would have to be as at first, or much to clear, or it dropped accesses.
    pub(super) fn release_memory(&mut self) -> bool {
        let bytes = self.window.len() as u64 + self.private.map_or(0, |(_, bytes)| bytes);
        // What was printed would stay in memory.
        let printed = self.printf.as_ref().is_some_and(|a| !printf::is_empty(&a.block));
        if !self.knows_its_own() || printed || bytes > MOST_OWN || self.dropped.counts() != (0, 0) {
            return false;
        }
        self.map = AddressMap::empty_map();
        self.surfaces.release_allocations();
        self.names = Names::default();
        true
    }

    /// Reaches again what it reached before [`Prepared::release_memory`]; `false` if the address space is another one since.
    pub(super) fn reacquire_memory(&mut self, memory: &Memory) -> bool {
        let (map, version) = reachable_memory(memory, &self.own, false);
        if version != self.version || !self.surfaces.hold_allocations() {
            return false;
        }
        self.map = map;
        self.window.clear(0, self.window.len()) && self.clear_own()
    }

    /// Number of groups.
    pub fn group_count(&self) -> u64 {
        self.groups.iter().map(|g| u64::from(*g)).product()
    }

    /// Ids of the group of this linear number, x fastest.
    #[inline]
    pub fn group_id(&self, number: u64) -> [u32; 3] {
        let [x, y, _] = self.groups.map(u64::from);
        [(number % x) as u32, (number / x % y) as u32, (number / (x * y)) as u32]
    }

    /// Ids of the group whose linear number is one higher; behind the last one comes the first.
    #[inline]
    pub fn group_after(&self, [x, y, z]: [u32; 3]) -> [u32; 3] {
        // Ids are below the numbers of groups.
        if x + 1 < self.groups[0] {
            [x + 1, y, z]
        } else if y + 1 < self.groups[1] {
            [0, y + 1, z]
        } else if z + 1 < self.groups[2] {
            [0, 0, z + 1]
        } else {
            [0; 3]
        }
    }

    /// The axis along which consecutive groups follow one another: x, unless all groups have the same id there.
    #[inline]
    pub fn row_axis(&self) -> usize {
        self.groups.iter().position(|n| *n > 1).unwrap_or(0)
    }

    /// The class of a group.
    #[inline]
    pub fn class(&self, group: [u32; 3]) -> &GroupClass {
        let edge = (0..3).fold(0, |e, d| e | usize::from(group[d] + 1 == self.groups[d]) << d);
        &self.classes[self.edge_class[edge] as usize]
    }

    /// All classes of groups.
    pub fn classes(&self) -> &[GroupClass] {
        &self.classes
    }

    /// The bytes of the image that differ from thread to thread of a group: local ids.
    pub fn payload_range(&self) -> std::ops::Range<usize> {
        self.payload_at..self.payload_at + self.payload_bytes
    }

    /// Bytes of scratch of a hardware slot.
    pub fn scratch_bytes(&self) -> u32 {
        self.scratch_bytes
    }

    /// Most threads that a group has.
    pub fn most_threads(&self) -> u32 {
        self.classes.iter().map(|c| c.threads).max().unwrap_or(1)
    }

    /// Threads of all groups, or some more where groups differ.
    pub fn thread_count(&self) -> u64 {
        self.group_count().saturating_mul(self.most_threads().into())
    }

    /// Writes what a group's threads share into an image.
    #[inline]
    pub fn patch_group(&self, image: &mut [u8], group: [u32; 3], class: &GroupClass) {
        write_u32(image, 0, class.implicit_offset);
        write_u32(image, 4, group[0]);
        write_u32(image, 24, group[1]);
        write_u32(image, 28, group[2]);
        for at in &self.local_size_at {
            for d in 0..3 {
                write_u32(image, at + 4 * d, class.local[d]);
            }
        }
    }

    /// The parts of an image that [`Prepared::patch_group`] and [`Prepared::patch_thread`] write.
    pub fn varying_ranges(&self) -> impl Iterator<Item = std::ops::Range<u32>> + '_ {
        let range = |at: usize, bytes: usize| at as u32..(at + bytes) as u32;
        let sizes = self.local_size_at.iter().map(move |at| range(*at, 12));
        [range(0, 32), range(self.payload_at, self.payload_bytes)].into_iter().chain(sizes)
    }

    /// Where the inputs of threads differ.
    pub fn inputs(&self) -> Inputs {
        let groups_differ = self.classes.len() > 1;
        Inputs {
            local: self.local,
            payload: self.payload_at as u32..(self.payload_at + self.payload_bytes) as u32,
            row_bytes: self.row_bytes as u32,
            others: self.varying_ranges().skip(2).filter(|_| groups_differ).collect(),
            even: !groups_differ,
        }
    }

    /// Writes a thread's own part of r0 into an image: its index and its scratch.
    #[inline]
    pub fn patch_thread(&self, image: &mut [u8], thread: u32, slot: u32) {
        write_u32(image, 8, thread & 0xff);
        write_u32(image, 20, self.scratch_at + slot * self.scratch_bytes);
    }

    /// A thread's own payload: its local ids; nothing if it has none.
    #[inline]
    pub fn payload_of<'a>(&self, class: &'a GroupClass, thread: u32) -> &'a [u8] {
        let from = thread as usize * self.payload_bytes;
        class.payloads.get(from..from + self.payload_bytes).unwrap_or_default()
    }

    /// Writes a thread's payload into an image.
    pub fn patch_payload(&self, image: &mut [u8], payload: &[u8]) {
        if let Some(to) = image.get_mut(self.payload_at..self.payload_at + payload.len()) {
            to.copy_from_slice(payload);
        }
    }
}

#[inline(always)]
fn write_u32(image: &mut [u8], at: usize, value: u32) {
    image[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Groups are counted in 64 bits.
pub(super) fn check_group_count(groups: [u32; 3]) -> Result<(), LaunchError> {
    let count = groups.iter().try_fold(1u64, |n, g| n.checked_mul(u64::from(*g)));
    match count.filter(|n| *n <= MAX_GROUPS) {
        Some(_) => Ok(()),
        None => {
            let [x, y, z] = groups;
            Err(LaunchError::Size(format!("{x} x {y} x {z} groups: at most 2^48 can be run")))
        }
    }
}

pub(super) fn too_much_local_memory(bytes: u64, most: u64) -> LaunchError {
    LaunchError::Size(format!("{bytes} bytes of shared local memory a group: the device has {most}"))
}

/// The memory, with what a launch has for itself, and which state of it that is.
pub(super) fn reachable_memory(memory: &Memory, own: &[Private], checked: bool) -> (Arc<AddressMap>, u64) {
    let (map, version) = memory.map_and_version();
    let reports = if checked { allocate_report_buffer() } else { None };
    if own.is_empty() && reports.is_none() {
        return (map, version);
    }
    (Arc::new(map.with(own.iter().map(Private::allocation).chain(&reports))), version)
}

/// Makes a launch of hand-written code ready: the caller brings the image of inputs.
///
/// `image` is the register image from r0 on; group ids and thread index are put into its r0. Every thread
/// of a group has all channels; `threads` is the number of threads a group, which has `slm_bytes` of shared local
/// memory out of the `local_memory` that it could have.
///
/// # Errors
/// Where there are no groups or threads, or too many.
pub fn prepare_bare(
    memory: &Memory,
    groups: [u32; 3],
    threads: u32,
    simd: u32,
    mut image: Vec<u8>,
    surfaces: SurfaceTable,
    (slm_bytes, local_memory): (u64, u64),
) -> Result<Prepared, LaunchError> {
    if groups.contains(&0) || threads == 0 || threads > MAX_GROUP_THREADS {
        return Err(LaunchError::Size(format!(
            "{groups:?} groups of {threads} threads: at least one of each, at most {MAX_GROUP_THREADS} threads"
        )));
    }
    check_group_count(groups)?;
    if slm_bytes > local_memory {
        return Err(too_much_local_memory(slm_bytes, local_memory));
    }
    if image.len() < 64 {
        image.resize(64, 0);
    }
    let class = GroupClass {
        local: [threads.saturating_mul(simd), 1, 1],
        threads,
        tail_mask: crate::register_file::all_channels(simd as usize),
        payloads: crate::aligned_bytes::AlignedBytes::default(),
        implicit_offset: 0,
    };
    let (map, version) = memory.map_and_version();
    Ok(Prepared {
        groups,
        local: class.local,
        simd,
        classes: vec![class],
        edge_class: [0; 8],
        image,
        payload_at: 0,
        payload_bytes: 0,
        row_bytes: 0,
        local_size_at: Vec::new(),
        slm_bytes,
        surfaces,
        samplers: Vec::new(),
        window: Block::zeroed(64 << 10).ok_or(MemoryError::Host(64 << 10))?,
        scratch_at: 0,
        scratch_bytes: 0,
        printf: None,
        own: Vec::new(),
        dropped: Dropped::default(),
        regrouped: None,
        asked: None,
        local_regions: Vec::new(),
        private: None,
        map,
        names: Names::default(),
        version,
        number: number(),
        reach: number(),
        reached_before: None,
    })
}
