//! Gathers and scatters: each channel has an address.
//!
//! [`general`] does everything, channel by channel; [`run`] is compiled for each element size and number of
//! channels and looks at the addresses first: side by side they are one copy, all the same one load; what
//! it does not know it leaves to [`general`].

use envisa_lower::{Extend, Simt, Src};

use super::element::{self, Element};
use super::target::{Target, resolve, scalar};
use super::{AccessKind, Fault, MemoryObserver, Ports, all};
use crate::memory::{Block, Hint};
use crate::regs::Registers;

/// Executes it.
pub(super) fn execute<O: MemoryObserver>(
    s: &Simt,
    site: &mut Hint,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
    obs: &mut O,
) -> Result<(), Fault> {
    if O::ACTIVE {
        return general(s, site, regs, mask, channels, ports, obs);
    }
    macro_rules! channels {
        ($e:ty, $s:ty, $w:literal) => {
            match channels {
                1 => run::<$e, $s, 1, $w>(s, site, regs, mask, ports),
                8 => run::<$e, $s, 8, $w>(s, site, regs, mask, ports),
                16 => run::<$e, $s, 16, $w>(s, site, regs, mask, ports),
                32 => run::<$e, $s, 32, $w>(s, site, regs, mask, ports),
                _ => general(s, site, regs, mask, channels, ports, obs),
            }
        };
    }
    match (s.element, s.slot, s.write) {
        (4, 4, false) => channels!(u32, u32, false),
        (4, 4, true) => channels!(u32, u32, true),
        (2, 4, false) => channels!(u16, u32, false),
        (2, 4, true) => channels!(u16, u32, true),
        (1, 4, false) => channels!(u8, u32, false),
        (1, 4, true) => channels!(u8, u32, true),
        (8, 8, false) => channels!(u64, u64, false),
        (8, 8, true) => channels!(u64, u64, true),
        _ => general(s, site, regs, mask, channels, ports, obs),
    }
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
fn added(s: &Simt, regs: &Registers, ports: &Ports<'_>) -> Result<Added, Fault> {
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
        return strided(s, regs, added, stride, target);
    }
    match s.address_bytes {
        8 => at = regs.load::<u64, N>(s.address),
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
    let (and, scale) = (narrow(s) & target.mask(), s.scale as u64);
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
fn narrow(s: &Simt) -> u64 {
    if s.address_bytes == 8 || s.extend != Extend::None { u64::MAX } else { u32::MAX as u64 }
}

#[cold]
fn strided<const N: usize>(
    s: &Simt,
    regs: &Registers,
    added: Added,
    stride: u64,
    target: &Target<'_>,
) -> [u64; N] {
    let first = element::get(regs, s.address, s.address_bytes).wrapping_add(added.base);
    let first = first.wrapping_mul(s.scale as u64).wrapping_add(s.offset as u64);
    let first = first.wrapping_add(added.origin);
    std::array::from_fn(|i| first.wrapping_add(stride.wrapping_mul(i as u64)) & narrow(s) & target.mask())
}

/// Bit i of a mask as a condition.
#[inline(always)]
fn on(mask: u32, i: usize) -> bool {
    mask >> i & 1 != 0
}

/// Executes it: `E` in memory, `S` in registers, `N` channels.
#[inline(always)]
pub(super) fn run<E: Element, S: Element, const N: usize, const WRITE: bool>(
    s: &Simt,
    site: &mut Hint,
    regs: &mut Registers,
    mask: u32,
    ports: &Ports<'_>,
) -> Result<(), Fault> {
    let Some(data) = s.data else { return Ok(()) };
    if mask == 0 {
        return Ok(());
    }
    let rest = |site: &mut Hint, regs: &mut Registers| general(s, site, regs, mask, N as u32, ports, &mut ());
    if s.upper {
        return rest(site, regs);
    }
    let size = size_of::<E>();
    let first = (mask.trailing_zeros() as usize).min(N - 1);
    let target = resolve(&s.space, regs, ports)?;
    let mut at = addresses::<N>(s, regs, added(s, regs, ports)?, &target);
    if s.align > 1 {
        let mut low = 0;
        for i in 0..N {
            low |= if on(mask, i) { at[i] } else { 0 };
        }
        if low & (s.align as u64 - 1) != 0 {
            return rest(site, regs);
        }
    }
    // From here on addresses are offsets from the start of (block, start, len).
    let (block, start, len, strict) = match target {
        Target::Window(w) => (w.block, w.start, w.len, w.strict),
        Target::Flat => {
            let span = size * (64 - s.elements.leading_zeros() as usize);
            let Some(l) = ports.memory.find(at[first], span, site) else { return rest(site, regs) };
            let base = at[first].wrapping_sub(l.offset as u64);
            for a in &mut at {
                *a = a.wrapping_sub(base);
            }
            (l.block, 0, l.block.len(), true)
        }
        Target::Nothing(_) => {
            if !WRITE {
                for k in 0..s.elements.count_ones() {
                    blend::<S, N>(regs, data + k * s.component_stride, mask, [S::default(); N]);
                }
            }
            return Ok(());
        }
    };
    let area = Area { block, start, len };
    // Consecutive elements from the first?
    let count = match s.elements {
        1 => 1,
        3 => 2,
        7 => 3,
        15 => 4,
        _ => 0,
    };
    if count != 0 && N > 1 {
        let stride = count * size;
        let origin = at[first].wrapping_sub((first * stride) as u64);
        let (mut apart, mut same) = (0u64, 0u64);
        for i in 0..N {
            let keep = if on(mask, i) { u64::MAX } else { 0 };
            apart |= (at[i].wrapping_sub(origin) ^ (i * stride) as u64) & keep;
            same |= (at[i] ^ at[first]) & keep;
        }
        if apart == 0
            && let Some(place) = area.at(origin, N * stride)
        {
            let full = mask == all(N as u32);
            if WRITE && full {
                spread::<E, S, N>(s, regs, data, count, block, place);
                return Ok(());
            }
            if !WRITE {
                collect::<E, S, N>(s, regs, data, count, mask, block, place);
                return Ok(());
            }
        }
        if !WRITE && same == 0 {
            // All elements or none; parts go the long way.
            if let Some(place) = area.at(at[first], stride) {
                for k in 0..count {
                    let x = E::read(block, place + k * size).unwrap_or_default();
                    let to = data + k as u32 * s.component_stride;
                    blend::<S, N>(regs, to, mask, [S::of(x.bits()); N]);
                }
                return Ok(());
            }
        }
    }
    // Lanes apart, all inside: one check for all of them. Stores of several elements take the long way, which
    // keeps the order of channels.
    let span = size * (64 - s.elements.leading_zeros() as usize);
    let window = (start, len);
    if count == 1 {
        if WRITE {
            let from = cast::<S, E, N>(regs.load::<S, N>(data));
            if block.store_lanes(window, &at, mask, &from) {
                return Ok(());
            }
        } else if size_of::<E>() == size_of::<S>() {
            let mut r = regs.load::<E, N>(data);
            if block.load_lanes(window, &at, mask, &mut r) {
                regs.store(data, r);
                return Ok(());
            }
        } else {
            let mut x = [E::default(); N];
            if block.load_lanes(window, &at, mask, &mut x) {
                blend::<S, N>(regs, data, mask, cast::<E, S, N>(x));
                return Ok(());
            }
        }
    } else if !WRITE && count != 0 && len >= span {
        let last = (len - span) as u64;
        let mut over = false;
        for i in 0..N {
            over |= on(mask, i) & (at[i] > last);
        }
        if !over {
            for k in 0..count {
                let register = data + k as u32 * s.component_stride;
                let mut x = [E::default(); N];
                block.load_lanes(window, &at, mask, &mut x);
                blend::<S, N>(regs, register, mask, cast::<E, S, N>(x));
                for a in &mut at {
                    *a = a.wrapping_add(size as u64);
                }
            }
            return Ok(());
        }
    }
    if WRITE {
        // Memory is left alone if any address is a fault.
        if strict {
            let span = size * (64 - s.elements.leading_zeros() as usize);
            let mut inside = true;
            for i in 0..N {
                inside &= !on(mask, i) | area.at(at[i], span).is_some();
            }
            if !inside {
                return rest(site, regs);
            }
        }
        // Channel by channel: the highest wins where two write the same place.
        for i in 0..N {
            if !on(mask, i) {
                continue;
            }
            let (mut positions, mut from) = (s.elements, data + (i * size_of::<S>()) as u32);
            while positions != 0 {
                let p = positions.trailing_zeros() as usize;
                positions &= positions - 1;
                if let Some(place) = area.at(at[i].wrapping_add((p * size) as u64), size) {
                    E::of(regs.get::<S>(from).bits()).write(block, place);
                }
                from += s.component_stride;
            }
        }
        return Ok(());
    }
    let (mut positions, mut to) = (s.elements, data);
    while positions != 0 {
        let p = (positions.trailing_zeros() as usize * size) as u64;
        positions &= positions - 1;
        let mut r = regs.load::<S, N>(to);
        let mut inside = true;
        for i in 0..N {
            if on(mask, i) {
                let x = area.at(at[i].wrapping_add(p), size).and_then(|place| E::read(block, place));
                inside &= x.is_some();
                r[i] = S::of(x.unwrap_or_default().bits());
            }
        }
        if strict && !inside {
            return rest(site, regs);
        }
        regs.store(to, r);
        to += s.component_stride;
    }
    Ok(())
}

/// Bytes that offsets are in.
#[derive(Clone, Copy)]
struct Area<'a> {
    block: &'a Block,
    start: usize,
    len: usize,
}

impl Area<'_> {
    /// Place in the block of `n` bytes at an offset; `None` outside.
    #[inline(always)]
    fn at(&self, offset: u64, n: usize) -> Option<usize> {
        debug_assert!(self.start + self.len <= self.block.len());
        if offset <= self.len as u64 && n <= self.len - offset as usize {
            Some(self.start + offset as usize)
        } else {
            None
        }
    }
}

/// Elements of another size: the low bits, or zeros above them. (A loop: closures of `map` are not inlined.)
#[inline(always)]
fn cast<A: Element, B: Element, const N: usize>(x: [A; N]) -> [B; N] {
    let mut r = [B::default(); N];
    for i in 0..N {
        r[i] = B::of(x[i].bits());
    }
    r
}

/// Stores the channels of a mask.
#[inline(always)]
fn blend<S: Element, const N: usize>(regs: &mut Registers, to: u32, mask: u32, x: [S; N]) {
    if mask == all(N as u32) {
        regs.store(to, x);
        return;
    }
    let mut r = regs.load::<S, N>(to);
    for i in 0..N {
        // This form becomes vector code.
        let m = 0u64.wrapping_sub((mask >> i & 1) as u64);
        r[i] = S::of(x[i].bits() & m | r[i].bits() & !m);
    }
    regs.store(to, r);
}

/// Loads channels whose elements lie side by side from `place` on, which were found inside.
#[inline(always)]
fn collect<E: Element, S: Element, const N: usize>(
    s: &Simt,
    regs: &mut Registers,
    data: u32,
    count: usize,
    mask: u32,
    block: &Block,
    place: usize,
) {
    if count == 1 && size_of::<E>() == size_of::<S>() && mask == all(N as u32) {
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
            _ => block.load_apart::<E, N>(at, 4, &mut x),
        };
        blend::<S, N>(regs, data + k as u32 * s.component_stride, mask, cast::<E, S, N>(x));
    }
}

/// Stores all channels, whose elements lie side by side from `place` on, which were found inside.
#[inline(always)]
fn spread<E: Element, S: Element, const N: usize>(
    s: &Simt,
    regs: &Registers,
    data: u32,
    count: usize,
    block: &Block,
    place: usize,
) {
    if count == 1 && size_of::<E>() == size_of::<S>() {
        block.copy_in(place, regs.view::<E, N>(data));
        return;
    }
    for k in 0..count {
        let x = cast::<S, E, N>(regs.load::<S, N>(data + k as u32 * s.component_stride));
        let at = place + k * size_of::<E>();
        match count {
            1 => block.store_apart::<E, N>(at, 1, &x),
            2 => block.store_apart::<E, N>(at, 2, &x),
            3 => block.store_apart::<E, N>(at, 3, &x),
            _ => block.store_apart::<E, N>(at, 4, &x),
        };
    }
}

/// Executes it, whatever it is.
#[inline(never)]
pub(super) fn general<O: MemoryObserver>(
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
    let target = resolve(&s.space, regs, ports)?;
    let at = any_addresses(s, regs, channels, ports, &target)?;
    let kind = if s.write { AccessKind::Write } else { AccessKind::Read };
    let shift = if s.upper { 16 } else { 0 };
    for (i, &address) in at.iter().enumerate().take(channels as usize) {
        if !on(mask, i) {
            continue;
        }
        if address & (s.align.max(1) as u64 - 1) != 0 {
            return Err(target.misaligned(address, s.element as u32, s.align as u32, i as u32));
        }
        let (mut positions, mut register) = (s.elements, data + i as u32 * s.slot as u32);
        while positions != 0 {
            let p = positions.trailing_zeros() as u64 * s.element as u64;
            positions &= positions - 1;
            let address = address.wrapping_add(p);
            let access = (address, s.element as u32);
            let found = target.find(ports.memory, site, access, (kind, i as u32), obs)?;
            if !s.write {
                let x = found.and_then(|(block, place)| element::read(block, place, s.element));
                element::set(regs, register, s.slot, x.unwrap_or(0) << shift);
            } else if let Some((block, place)) = found {
                let x = element::get(regs, register, s.slot) >> shift;
                element::write(block, place, s.element, x);
            }
            register += s.component_stride;
        }
    }
    Ok(())
}

fn widen<const N: usize>(x: [u64; N]) -> [u64; 32] {
    let mut out = [0; 32];
    out[..N].copy_from_slice(&x);
    out
}

fn any_addresses(
    s: &Simt,
    regs: &Registers,
    channels: u32,
    ports: &Ports<'_>,
    target: &Target<'_>,
) -> Result<[u64; 32], Fault> {
    let add = added(s, regs, ports)?;
    Ok(match channels {
        1 => widen(addresses::<1>(s, regs, add, target)),
        2 => widen(addresses::<2>(s, regs, add, target)),
        4 => widen(addresses::<4>(s, regs, add, target)),
        8 => widen(addresses::<8>(s, regs, add, target)),
        16 => widen(addresses::<16>(s, regs, add, target)),
        _ => addresses::<32>(s, regs, add, target),
    })
}

/// Asks whether all elements of a channel have memory: bit i of the answer, zero for channels that are
/// off.
pub(super) fn status(
    s: &Simt,
    site: &mut Hint,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
) -> Result<(), Fault> {
    let Some(data) = s.data else { return Ok(()) };
    let target = resolve(&s.space, regs, ports)?;
    let at = any_addresses(s, regs, channels, ports, &target)?;
    let mut answer = 0u32;
    for (i, address) in at.into_iter().enumerate().take(channels as usize) {
        let mut valid = on(mask, i);
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
