//! Gathers and scatters: each channel has an address.
//!
//! [`execute_general`] does everything, channel by channel; [`run`] is compiled for each element size and number of
//! channels: it holds all addresses against the bounds of the allocation where the message went last, then looks
//! at how they lie: side by side they are one copy, all the same one load. What it does not know it leaves to
//! [`execute_general`].

use envisa_lower::{Extend, RegOffset, Simt, Space, Src};

use super::channel_addresses::{self, Addresses, Addressing, Reach, Site};
use super::element::{self, Element};
use super::target::{Target, resolve_target, scalar};
use super::{Access, AccessKind, AccessSpace, Fault, MemoryObserver, Ports};
use crate::cpu::Isa;
#[cfg(doc)]
use crate::memory::AddressMap;
use crate::memory::{Block, EnabledLanes, Hint, Lanes};
use crate::register_file::{Registers, all_channels};

/// Executes it with the instructions of a level, as handlers do.
#[cfg(test)]
#[expect(clippy::too_many_arguments)]
pub(super) fn at_level<const L: u8>(
    isa: Isa<L>,
    p: &Plan,
    s: &Simt,
    site: &mut Hint,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
) -> Result<(), Fault> {
    let near = Reach { memory: ports.memory, slm: ports.slm };
    let far = |_: &Registers| (s, *ports);
    macro_rules! channels {
        ($e:ty, $s:ty, $w:literal) => {
            match channels {
                1 => run::<$e, $s, 1, 1, $w, L>(isa, p, site, regs, mask, near, far),
                8 => run::<$e, $s, 8, 8, $w, L>(isa, p, site, regs, mask, near, far),
                16 => run::<$e, $s, 16, 16, $w, L>(isa, p, site, regs, mask, near, far),
                32 => run::<$e, $s, 32, 16, $w, L>(isa, p, site, regs, mask, near, far),
                _ => execute_general(s, site, regs, mask, channels, ports, &mut ()).map(|()| Done::Yes),
            }
        };
    }
    let mut once = || match (s.element, s.slot, s.write) {
        (4, 4, false) => channels!(u32, u32, false),
        (4, 4, true) => channels!(u32, u32, true),
        (2, 4, false) => channels!(u16, u32, false),
        (2, 4, true) => channels!(u16, u32, true),
        (1, 4, false) => channels!(u8, u32, false),
        (1, 4, true) => channels!(u8, u32, true),
        (4 | 8, 8, false) => channels!(u64, u64, false),
        (4 | 8, 8, true) => channels!(u64, u64, true),
        _ => execute_general(s, site, regs, mask, channels, ports, &mut ()).map(|()| Done::Yes),
    };
    for _ in 0..2 {
        match once()? {
            Done::Yes => return Ok(()),
            Done::Not => {}
            Done::Rarely => break,
        }
    }
    execute_general(s, site, regs, mask, channels, ports, &mut ())
}

/// What is added to the channels' addresses: the same for all (times the factor), and what channel `i` adds
/// `i` times to a common address, where there is one.
#[derive(Clone, Copy)]
struct Added {
    base: u64,
    origin: u64,
    stride: Option<u64>,
}

#[inline(always)]
fn added_address(s: &Simt, regs: &Registers, ports: &Ports<'_>) -> Result<Added, Fault> {
    let stride = match s.stride {
        Src::None => None,
        ref src => Some(scalar(src, regs, ports)?),
    };
    Ok(Added { base: scalar(&s.base, regs, ports)?, origin: scalar(&s.origin, regs, ports)?, stride })
}

/// The address of each channel. Messages with addresses of 32 bits or fewer add in 32 bits.
#[inline(always)]
fn addresses<const N: usize>(s: &Simt, regs: &Registers, added: Added, target: &Target<'_>) -> [u64; N] {
    let mut at = [0u64; N];
    if let Some(stride) = added.stride {
        return strided_addresses(s, regs, added, stride, target);
    }
    match s.address_bytes {
        8 => at = regs.load::<u64, N>(s.address),
        4 if !s.extend.addends().is_empty() => {
            for a in s.extend.addends() {
                let a = channel_addresses::addend::<N>(*a, regs);
                (0..N).for_each(|i| at[i] = at[i].wrapping_add(a[i]));
            }
        }
        4 if s.extend == Extend::Sign => {
            let r = regs.load::<i32, N>(s.address);
            for i in 0..N {
                at[i] = r[i] as i64 as u64;
            }
        }
        4 => {
            let r = regs.load::<u32, N>(s.address);
            for i in 0..N {
                at[i] = r[i] as u64;
            }
        }
        _ => {
            let r = regs.load::<u16, N>(s.address);
            for i in 0..N {
                at[i] = r[i] as u64;
            }
        }
    }
    let (and, scale) = (address_mask(s) & target.mask(), s.scale as u64);
    let add = added.base.wrapping_mul(scale).wrapping_add(s.offset as u64).wrapping_add(added.origin);
    if scale == 1 {
        for a in &mut at {
            *a = a.wrapping_add(add) & and;
        }
    } else {
        for a in &mut at {
            *a = a.wrapping_mul(scale).wrapping_add(add) & and;
        }
    }
    at
}

#[inline(always)]
fn address_mask(s: &Simt) -> u64 {
    if s.address_bytes == 8 || s.extend != Extend::None { u64::MAX } else { u32::MAX as u64 }
}

#[cold]
fn strided_addresses<const N: usize>(
    s: &Simt,
    regs: &Registers,
    added: Added,
    stride: u64,
    target: &Target<'_>,
) -> [u64; N] {
    let first = element::get(regs, s.address, s.address_bytes).wrapping_add(added.base);
    let first = first.wrapping_mul(s.scale as u64).wrapping_add(s.offset as u64);
    let first = first.wrapping_add(added.origin);
    std::array::from_fn(|i| {
        first.wrapping_add(stride.wrapping_mul(i as u64)) & address_mask(s) & target.mask()
    })
}

/// Bit i of a mask as a condition.
#[inline(always)]
fn is_lane_on(mask: u32, i: usize) -> bool {
    mask >> i & 1 != 0
}

/// What the fast code wants to know of a message, found once.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    places: Addresses,
    /// Consecutive elements.
    count: u8,
    data: RegOffset,
    component_stride: u32,
}

impl Plan {
    /// Of a message that passes [`super::check`], for a register file of `len` bytes; `None` for messages that
    /// only [`execute_general`] executes.
    pub fn new(s: &Simt, len: u32) -> Option<Plan> {
        // Pairs that are inside are quads.
        let count = if s.is_paired() { 1 } else { s.elements.count_ones() };
        // All of the lowest elements.
        let consecutive = s.elements & s.elements.wrapping_add(1) == 0 && count != 0;
        if s.upper || !matches!(s.stride, Src::None) || !consecutive {
            return None;
        }
        let places = Addressing {
            space: &s.space,
            address: s.address,
            address_bytes: s.address_bytes,
            extend: s.extend,
            base: &s.base,
            scale: s.scale,
            offset: s.offset,
            origin: &s.origin,
            align: s.align,
            span: s.elements.count_ones() * s.element as u32,
        };
        Some(Plan {
            places: places.plan(len)?,
            count: count as u8,
            data: s.data?,
            component_stride: s.component_stride,
        })
    }
}

/// Executes it: `E` in memory, `S` in registers, `N` channels, `G` of which are looked at together when they are
/// not all side by side. `far` gives the whole message and all that it can reach, which is seldom wanted.
#[inline(always)]
pub(super) fn run<
    'a,
    E: Element,
    S: Element,
    const N: usize,
    const G: usize,
    const WRITE: bool,
    const L: u8,
>(
    isa: Isa<L>,
    p: &Plan,
    site: &mut Hint,
    regs: &mut Registers,
    mask: u32,
    near: Reach<'a>,
    far: impl Fn(&Registers) -> (&'a Simt, Ports<'a>),
) -> Result<Done, Fault> {
    if mask == 0 {
        return Ok(Done::Yes);
    }
    let space = |regs: &Registers| {
        let (s, ports) = far(regs);
        (&s.space, ports)
    };
    let found = p.places.lanes::<N, L>(isa, Site { near, far: &space, regs, mask, hint: site });
    let Some(w) = found else {
        let (s, ports) = far(regs);
        return Ok(find_other_allocation(s, site, regs, mask, N as u32, &ports));
    };
    if p.count == 1 {
        run_by_parts::<E, S, N, G, WRITE, true, L>(isa, p, &w, regs, mask);
    } else {
        run_by_parts::<E, S, N, G, WRITE, false, L>(isa, p, &w, regs, mask);
    }
    Ok(Done::Yes)
}

/// Not all lanes are inside of the allocation that the message went to last.
#[cold]
#[inline(never)]
fn find_other_allocation(
    s: &Simt,
    site: &mut Hint,
    regs: &Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
) -> Done {
    let (before, mut at) = (*site, [0; 32]);
    if matches!(s.space, Space::Flat)
        && any_addresses(s, regs, channels, ports, &Target::Flat, &mut at).is_ok()
        && ports
            .memory
            .find(at[mask.trailing_zeros() as usize % 32], s.element as usize, s.write, site)
            .is_some()
        && *site != before
    {
        return Done::Not;
    }
    Done::Rarely
}

/// Was the message executed?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Done {
    /// Yes.
    Yes,
    /// No, but the hint now says where the first channel's address is, so that it should be tried again. It is
    /// executed then at the latest.
    Not,
    /// No: it is for [`super::execute`] to do.
    Rarely,
}

/// Part by part.
#[inline(always)]
fn run_by_parts<
    E: Element,
    S: Element,
    const N: usize,
    const G: usize,
    const WRITE: bool,
    const ONE: bool,
    const L: u8,
>(
    isa: Isa<L>,
    p: &Plan,
    w: &Lanes<'_, N>,
    regs: &mut Registers,
    mask: u32,
) {
    let count = if ONE { 1 } else { p.count as usize };
    let step = count * size_of::<E>();
    for h in 0..N / G {
        let mask = mask >> (h * G) & all_channels(G);
        if mask == 0 {
            continue;
        }
        let full = mask == all_channels(G);
        let on = EnabledLanes { mask, bits: regs.channel_bits() };
        let data = p.data + (h * G * size_of::<S>()) as u32;
        if let Some(origin) = w.offset_if_adjacent::<G>(h, step as u32, on)
            && (full || w.reaches(origin, G * step))
        {
            let (block, place) = w.place(origin);
            if !WRITE {
                load_adjacent::<E, S, G>(p, regs, data, count, mask, block, place);
                continue;
            }
            if full {
                store_adjacent::<E, S, G>(p, regs, data, count, block, place);
                continue;
            }
            if ONE {
                let x = cast_lanes::<S, E, G>(regs.load::<S, G>(data));
                block.store_some(place, mask, &x);
                continue;
            }
        }
        if WRITE {
            let from = |k: usize, i: usize| {
                let at = data + k as u32 * p.component_stride + (i * size_of::<S>()) as u32;
                E::of(regs.get::<S>(at).bits())
            };
            w.store::<E, G>(h, mask, count, from);
            continue;
        }
        if let Some(offset) = w.uniform_offset::<G>(h, on) {
            let (block, place) = w.place(offset);
            for k in 0..count {
                let x = E::read(block, place + k * size_of::<E>()).unwrap_or_default();
                let to = data + k as u32 * p.component_stride;
                store_lanes(regs, to, mask, [S::of(x.bits()); G]);
            }
            continue;
        }
        let mut k = 0;
        while k < count {
            let to = data + k as u32 * p.component_stride;
            if !ONE && size_of::<E>() == 4 && k + 1 < count {
                // Two at a time.
                let pairs = w.load::<u64, G, L>(isa, h, k * 4);
                let (mut low, mut high) = ([S::default(); G], [S::default(); G]);
                for i in 0..G {
                    low[i] = S::of(pairs[i] as u32 as u64);
                    high[i] = S::of(pairs[i] >> 32);
                }
                store_lanes(regs, to, mask, low);
                store_lanes(regs, to + p.component_stride, mask, high);
                k += 2;
                continue;
            }
            let x = w.load::<E, G, L>(isa, h, k * size_of::<E>());
            store_lanes(regs, to, mask, cast_lanes::<E, S, G>(x));
            k += 1;
        }
    }
}

/// Elements of another size: the low bits, or zeros above them. (A loop: closures of `map` are not inlined.)
#[inline(always)]
fn cast_lanes<A: Element, B: Element, const N: usize>(x: [A; N]) -> [B; N] {
    let mut r = [B::default(); N];
    for i in 0..N {
        r[i] = B::of(x[i].bits());
    }
    r
}

/// Stores the channels of a mask.
#[inline(always)]
fn store_lanes<S: Element, const G: usize>(regs: &mut Registers, to: u32, mask: u32, x: [S; G]) {
    if mask == all_channels(G) {
        regs.store(to, x);
    } else {
        regs.store_masked(to, mask, x);
    }
}

/// Loads channels whose elements lie side by side from `place` on, which were found inside.
#[inline(always)]
fn load_adjacent<E: Element, S: Element, const N: usize>(
    p: &Plan,
    regs: &mut Registers,
    data: u32,
    count: usize,
    mask: u32,
    block: &Block,
    place: usize,
) {
    if count == 1 && size_of::<E>() == size_of::<S>() && mask == all_channels(N) {
        regs.fill_with::<E, N>(data, |bytes| block.copy_out(place, bytes));
        return;
    }
    for k in 0..count {
        let mut x = [E::default(); N];
        let at = place + k * size_of::<E>();
        // Known distances become vector code.
        match count {
            1 => block.load_apart::<E, N>(at, 1, &mut x),
            2 => block.load_apart::<E, N>(at, 2, &mut x),
            3 => block.load_apart::<E, N>(at, 3, &mut x),
            4 => block.load_apart::<E, N>(at, 4, &mut x),
            n => block.load_apart::<E, N>(at, n, &mut x),
        };
        let to = data + k as u32 * p.component_stride;
        if mask == all_channels(N) {
            regs.store(to, cast_lanes::<E, S, N>(x));
        } else {
            regs.store_masked(to, mask, cast_lanes::<E, S, N>(x));
        }
    }
}

/// Stores all channels, whose elements lie side by side from `place` on, which were found inside.
#[inline(always)]
fn store_adjacent<E: Element, S: Element, const N: usize>(
    p: &Plan,
    regs: &Registers,
    data: u32,
    count: usize,
    block: &Block,
    place: usize,
) {
    if count == 1 && size_of::<E>() == size_of::<S>() {
        block.copy_in(place, regs.element_bytes::<E, N>(data));
        return;
    }
    for k in 0..count {
        let x = cast_lanes::<S, E, N>(regs.load::<S, N>(data + k as u32 * p.component_stride));
        let at = place + k * size_of::<E>();
        match count {
            1 => block.store_apart::<E, N>(at, 1, &x),
            2 => block.store_apart::<E, N>(at, 2, &x),
            3 => block.store_apart::<E, N>(at, 3, &x),
            4 => block.store_apart::<E, N>(at, 4, &x),
            n => block.store_apart::<E, N>(at, n, &x),
        };
    }
}

/// Executes it, whatever it is.
#[inline(never)]
pub(super) fn execute_general<O: MemoryObserver>(
    s: &Simt,
    site: &mut Hint,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
    obs: &mut O,
) -> Result<(), Fault> {
    let Some(data) = s.data else { return Ok(()) };
    if mask == 0 {
        return Ok(());
    }
    let target = resolve_target(&s.space, regs, ports)?;
    let mut at = [0; 32];
    any_addresses(s, regs, channels, ports, &target, &mut at)?;
    let kind = if s.write { AccessKind::Write } else { AccessKind::Read };
    // What is told of row by row is also done so: elements side by side; elements that channels share.
    let rows = s.elements & s.elements.wrapping_add(1) == 0;
    let by_rows = O::ACTIVE && !s.upper && !s.is_paired() && (rows || !s.write);
    // Of a pair, each has its own half of what a channel has.
    let slot = if s.is_paired() { s.element } else { s.slot };
    let shift = if s.upper { 16 } else { 0 };
    let mut next = 0;
    while next < channels as usize {
        let i = next;
        next += 1;
        if !is_lane_on(mask, i) {
            continue;
        }
        if by_rows {
            let (count, shared) = shared_or_adjacent_run(s, mask >> i, &at[i..channels as usize]);
            let run = (i as u32, count, at[i]);
            let done = match (count, shared) {
                (1, _) if s.elements == 1 => false,
                (_, true) => read_shared_element(s, site, regs, run, ports, &target, obs),
                _ => rows && row(s, site, regs, run, ports, &target, obs),
            };
            if done {
                next = i + count as usize;
                continue;
            }
        }
        let address = at[i];
        if address & (s.align.max(1) as u64 - 1) != 0 {
            return Err(target.misaligned_fault(address, s.element as u32, s.align as u32, i as u32));
        }
        let (mut positions, mut register) = (s.elements, data + i as u32 * s.slot as u32);
        let first = address;
        while positions != 0 {
            let p = positions.trailing_zeros() as u64 * s.element as u64;
            positions &= positions - 1;
            let address = address.wrapping_add(p);
            let access = (address, s.element as u32);
            let found = match target.find(ports.memory, site, access, (kind, i as u32), obs) {
                Ok(found) => found,
                Err(fault) => {
                    let x = read_past_end(&target, ports, first, access, kind).ok_or(fault)?;
                    if O::ACTIVE {
                        obs.access(&Access {
                            channel: i as u8,
                            space: AccessSpace::Flat,
                            address,
                            place: None,
                            bytes: s.element as u32,
                            kind,
                            outside: true,
                        });
                    }
                    element::set(regs, register, slot, x << shift);
                    register += s.component_stride;
                    continue;
                }
            };
            if !s.write {
                let x = found.and_then(|(block, place)| element::read(block, place, s.element));
                element::set(regs, register, slot, x.unwrap_or(0) << shift);
            } else if let Some((block, place)) = found {
                let x = element::get(regs, register, slot) >> shift;
                element::write(block, place, s.element, x);
            }
            register += s.component_stride;
        }
    }
    Ok(())
}

/// How many channels from the first on, which is on, are on and read the same element, or access elements side by side;
/// which of both.
#[inline]
fn shared_or_adjacent_run(s: &Simt, mask: u32, at: &[u64]) -> (u32, bool) {
    let most = mask.trailing_ones().min(at.len() as u32);
    let Some((first, rest)) = at.get(..most as usize).and_then(<[u64]>::split_first) else {
        return (most, false);
    };
    let run = |step: u64| {
        let mut next = *first;
        1 + rest.iter().take_while(|a| (next = next.wrapping_add(step), **a == next).1).count() as u32
    };
    match rest.first() {
        Some(second) if second == first && !s.write => (run(0), true),
        _ => (run(u64::from(s.element) * u64::from(s.elements.count_ones())), false),
    }
}

/// Accesses all elements of some channels, which lie side by side from the first on, at once; false if they are not
/// aligned or out of bounds, or not of usual sizes, and nothing is done.
#[inline]
fn row<O: MemoryObserver>(
    s: &Simt,
    site: &mut Hint,
    regs: &mut Registers,
    (first, count, address): (u32, u32, u64),
    ports: &Ports<'_>,
    target: &Target<'_>,
    obs: &mut O,
) -> bool {
    let (element, parts) = (u32::from(s.element), s.elements.count_ones());
    let (span, align) = (element * parts, u32::from(s.align.max(1)));
    let Some(data) = s.data.filter(|_| address & u64::from(align - 1) == 0 && span.is_multiple_of(align))
    else {
        return false;
    };
    let kind = if s.write { AccessKind::Write } else { AccessKind::Read };
    let found = target.find(ports.memory, site, (address, count * span), (kind, first), &mut ());
    let Ok(Some((block, place))) = found else { return false };
    let from = data + first * u32::from(s.slot);
    let plain = s.element == s.slot && parts == 1;
    let known = plain || matches!((s.element, s.slot), (1 | 2 | 4, 4) | (8, 8));
    if !known || !block.contains(place, (count * span) as usize) {
        return false;
    }
    let access = Access {
        channel: first as u8,
        space: target.space(),
        address,
        place: target.place(address),
        bytes: element,
        kind,
        outside: false,
    };
    obs.row(&access, count * parts, parts);
    match (s.element, s.slot) {
        // As they are in memory.
        _ if plain && s.write => {
            block.copy_in(place, regs.slice(from, count * span));
        }
        _ if plain => {
            block.copy_out(place, regs.slice_mut(from, count * span));
        }
        (1, _) => move_adjacent_elements::<u8, u32>(s, regs, from, (count, parts), (block, place)),
        (2, _) => move_adjacent_elements::<u16, u32>(s, regs, from, (count, parts), (block, place)),
        (4, _) => move_adjacent_elements::<u32, u32>(s, regs, from, (count, parts), (block, place)),
        _ => move_adjacent_elements::<u64, u64>(s, regs, from, (count, parts), (block, place)),
    }
    true
}

/// Moves elements that lie side by side, which were found inside.
#[inline]
fn move_adjacent_elements<E: Element, S: Element>(
    s: &Simt,
    regs: &mut Registers,
    data: u32,
    (count, parts): (u32, u32),
    (block, mut place): (&Block, usize),
) {
    for channel in 0..count {
        for part in 0..parts {
            let register = data + part * s.component_stride + channel * size_of::<S>() as u32;
            if s.write {
                E::of(regs.get::<S>(register).bits()).write(block, place);
            } else {
                regs.set(register, S::of(E::read(block, place).unwrap_or_default().bits()));
            }
            place += size_of::<E>();
        }
    }
}

/// Reads the same elements for some neighbouring channels; false if they are not aligned or out of bounds, and nothing is
/// done.
fn read_shared_element<O: MemoryObserver>(
    s: &Simt,
    site: &mut Hint,
    regs: &mut Registers,
    (first, count, address): (u32, u32, u64),
    ports: &Ports<'_>,
    target: &Target<'_>,
    obs: &mut O,
) -> bool {
    let (kind, element) = (AccessKind::Read, u32::from(s.element));
    let Some(data) = s.data.filter(|_| address & (u64::from(s.align.max(1)) - 1) == 0) else { return false };
    let all = (u64::BITS - s.elements.leading_zeros()) * element;
    let found = target.find(ports.memory, site, (address, all), (kind, first), &mut ());
    let Ok(Some((block, place))) = found else { return false };
    let (channel, space) = (first as u8, target.space());
    let (mut positions, mut part, mut register) = (s.elements, 0, data + first * u32::from(s.slot));
    while positions != 0 {
        let p = positions.trailing_zeros() * element;
        positions &= positions - 1;
        // In bounds with all the others.
        let x = element::read(block, place + p as usize, s.element).unwrap_or(0);
        for channel in 0..count {
            element::set(regs, register + channel * u32::from(s.slot), s.slot, x);
        }
        let address = address.wrapping_add(p.into());
        let place = target.place(address);
        let access = Access { channel, space, address, place, bytes: element, kind, outside: false };
        obs.same(&access, count, part);
        (part, register) = (part + 1, register + s.component_stride);
    }
    true
}

/// An element of a channel that reads from `first` on and passes an allocation's end: see [`AddressMap::find_padded_read`].
#[cold]
fn read_past_end(
    target: &Target<'_>,
    ports: &Ports<'_>,
    first: u64,
    (address, bytes): (u64, u32),
    kind: AccessKind,
) -> Option<u64> {
    if !matches!(target, Target::Flat) || kind != AccessKind::Read {
        return None;
    }
    let (l, inside) = ports.memory.find_padded_read(first, address, bytes as usize)?;
    let mut x = [0; 8];
    l.block.copy_out(l.offset, &mut x[..inside.min(8)]);
    Some(u64::from_le_bytes(x))
}

/// Works out the addresses of so many channels; those behind them stay as they are.
fn any_addresses(
    s: &Simt,
    regs: &Registers,
    channels: u32,
    ports: &Ports<'_>,
    target: &Target<'_>,
    at: &mut [u64; 32],
) -> Result<(), Fault> {
    let add = added_address(s, regs, ports)?;
    match channels {
        1 => at[..1].copy_from_slice(&addresses::<1>(s, regs, add, target)),
        2 => at[..2].copy_from_slice(&addresses::<2>(s, regs, add, target)),
        4 => at[..4].copy_from_slice(&addresses::<4>(s, regs, add, target)),
        8 => at[..8].copy_from_slice(&addresses::<8>(s, regs, add, target)),
        16 => at[..16].copy_from_slice(&addresses::<16>(s, regs, add, target)),
        _ => *at = addresses::<32>(s, regs, add, target),
    }
    Ok(())
}

/// Asks whether all elements of a channel have memory: bit i of the answer, zero for channels that are
/// off.
pub(super) fn query_residency(
    s: &Simt,
    site: &mut Hint,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
) -> Result<(), Fault> {
    let Some(data) = s.data else { return Ok(()) };
    let target = resolve_target(&s.space, regs, ports)?;
    let mut at = [0; 32];
    any_addresses(s, regs, channels, ports, &target, &mut at)?;
    let mut answer = 0u32;
    for (i, address) in at.into_iter().enumerate().take(channels as usize) {
        let mut valid = is_lane_on(mask, i);
        let mut positions = s.elements;
        while positions != 0 {
            let p = positions.trailing_zeros() as u64 * s.element as u64;
            positions &= positions - 1;
            let access = (address.wrapping_add(p), s.element as u32);
            let found = target.find(ports.memory, site, access, (AccessKind::Read, i as u32), &mut ());
            valid &= matches!(found, Ok(Some(_)));
        }
        answer |= (valid as u32) << i;
    }
    regs.set(data, answer);
    Ok(())
}
