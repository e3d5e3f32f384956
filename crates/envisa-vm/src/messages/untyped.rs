//! Gathers, scatters and blocks of bytes.

use std::marker::PhantomData;

use envisa_lower::{Inst, Message, Simt, Src};

use super::window::{Place, Window, place};
use crate::exec::{Cell, Handler, Kernel, Level, STOP, exec_mask, ones, read_scalar};
use crate::regs::Pod;
use crate::thread::{Access, AccessKind, AccessSpace, Machine, Mask};
use crate::trap::Cause;

/// Chooses a handler: one for the frequent shapes, one for all.
pub(super) fn simt(l: Level, i: &Inst, s: &Simt) -> Handler {
    let simple = s.elements == 1 && s.data.is_some() && !s.upper && s.scale == 1;
    if !simple {
        return l.handler::<GeneralK>();
    }
    macro_rules! width {
        ($a:ty, $e:ty, $slot:ty, $w:literal) => {
            match i.channels {
                1 => l.handler::<SimtK<$a, $e, $slot, $w, 1>>(),
                8 => l.handler::<SimtK<$a, $e, $slot, $w, 8>>(),
                16 => l.handler::<SimtK<$a, $e, $slot, $w, 16>>(),
                32 => l.handler::<SimtK<$a, $e, $slot, $w, 32>>(),
                _ => l.handler::<GeneralK>(),
            }
        };
    }
    macro_rules! elements {
        ($a:ty, $w:literal) => {
            match (s.element, s.slot) {
                (4, 4) => width!($a, u32, u32, $w),
                (2, 4) => width!($a, u16, u32, $w),
                (1, 4) => width!($a, u8, u32, $w),
                (8, 8) => width!($a, u64, u64, $w),
                _ => l.handler::<GeneralK>(),
            }
        };
    }
    match (s.address_bytes, s.write) {
        (8, false) => elements!(u64, false),
        (8, true) => elements!(u64, true),
        (4, false) => elements!(u32, false),
        (4, true) => elements!(u32, true),
        _ => l.handler::<GeneralK>(),
    }
}

fn descriptor<'a>(m: &Machine<'a>, c: &Cell) -> Option<&'a Simt> {
    match m.env.program.messages.get(c.aux() as usize) {
        Some(Message::Simt(s)) => Some(s),
        _ => None,
    }
}

/// An element in memory or in a register: an unsigned integer.
pub(crate) trait Element: Pod {
    /// Its bits.
    fn bits(self) -> u64;
    /// The element of these low bits.
    fn of(bits: u64) -> Self;
    /// Reads it from a block.
    fn read(b: &crate::memory::Block, at: usize) -> Option<Self>;
    /// Writes it to a block.
    fn write(self, b: &crate::memory::Block, at: usize) -> bool;
}

macro_rules! element {
    ($($t:ty)*) => {$(
        impl Element for $t {
            #[inline(always)]
            fn bits(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn of(bits: u64) -> $t {
                bits as $t
            }
            #[inline(always)]
            fn read(b: &crate::memory::Block, at: usize) -> Option<$t> {
                b.read(at).map(<$t>::from_le_bytes)
            }
            #[inline(always)]
            fn write(self, b: &crate::memory::Block, at: usize) -> bool {
                b.write(at, self.to_le_bytes())
            }
        }
    )*};
}
element! { u8 u16 u32 u64 }

/// One element a channel: addresses of type `A`, `E` in memory, `S` in the register.
struct SimtK<A, E, S, const WRITE: bool, const N: usize>(PhantomData<(A, E, S)>);

impl<A: Element, E: Element, S: Element, const WRITE: bool, const N: usize> Kernel
    for SimtK<A, E, S, WRITE, N>
{
    #[inline(always)]
    fn run(m: &mut Machine<'_>, c: &Cell, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        let Some(s) = descriptor(m, c) else { return pc + 1 };
        if m.env.observed {
            return general(m, c, pc, s, mask);
        }
        let Some(data) = s.data else { return pc + 1 };
        let addresses = m.t.regs.load::<A, N>(s.address);
        let mut add = s.offset as u64;
        if !matches!(s.base, Src::None) {
            let Some(base) = read_base(m, pc, &s.base) else { return STOP };
            add = add.wrapping_add(base);
        }
        let wide = size_of::<A>() == 8;
        let mut at = [0u64; N];
        for i in 0..N {
            let a = addresses[i].bits().wrapping_add(add);
            at[i] = if wide { a } else { a & 0xffff_ffff };
        }
        let bytes = size_of::<E>() * N;
        let full = mask == ones(N);
        // Neighbours side by side, or one place for all?
        let (mut side_by_side, mut same) = (full, full);
        if full && N > 1 {
            let (mut d, mut e) = (0u64, 0u64);
            for i in 0..N {
                d |= at[i].wrapping_sub(at[0]) ^ (i * size_of::<E>()) as u64;
                e |= at[i] ^ at[0];
            }
            side_by_side = d == 0;
            same = e == 0;
        }
        let plain = size_of::<E>() == size_of::<S>();
        match place(m, pc, &s.space) {
            Place::Flat => {
                let hint = &mut m.hints[c.aux() as usize];
                let memory = m.env.memory;
                if side_by_side
                    && plain
                    && let Some(l) = memory.find(at[0], bytes, hint)
                {
                    if WRITE {
                        l.block.copy_in(l.offset, m.t.regs.view::<E, N>(data));
                    } else {
                        m.t.regs.fill_with::<E, N>(data, |to| l.block.copy_out(l.offset, to));
                    }
                    return pc + 1;
                }
                if !WRITE
                    && same
                    && let Some(l) = memory.find(at[0], size_of::<E>(), hint)
                    && let Some(x) = E::read(l.block, l.offset)
                {
                    m.t.regs.store(data, [S::of(x.bits()); N]);
                    return pc + 1;
                }
                // All in one allocation, most likely.
                let first = (mask.trailing_zeros() as usize).min(N - 1);
                let Some(l) = memory.find(at[first], size_of::<E>(), hint) else {
                    return general(m, c, pc, s, mask);
                };
                let base = at[first].wrapping_sub(l.offset as u64);
                let window = Window {
                    block: l.block,
                    start: 0,
                    len: l.block.len(),
                    mask: u64::MAX,
                    space: AccessSpace::Flat,
                };
                for a in &mut at {
                    *a = a.wrapping_sub(base);
                }
                if WRITE {
                    // Nothing is written if any address is a fault.
                    for i in 0..N {
                        if mask >> i & 1 != 0 && window.at(at[i], size_of::<E>()).is_none() {
                            return general(m, c, pc, s, mask);
                        }
                    }
                    scatter::<E, S, N>(m, &window, &at, mask, data);
                } else if !gather::<E, S, N>(m, &window, &at, mask, data) {
                    return general(m, c, pc, s, mask);
                }
            }
            Place::Window(w) => {
                if side_by_side
                    && plain
                    && let Some(offset) = w.at(at[0], bytes)
                {
                    if WRITE {
                        w.block.copy_in(offset, m.t.regs.view::<E, N>(data));
                    } else {
                        m.t.regs.fill_with::<E, N>(data, |to| w.block.copy_out(offset, to));
                    }
                    return pc + 1;
                }
                if !WRITE
                    && same
                    && let Some(offset) = w.at(at[0], size_of::<E>())
                    && let Some(x) = E::read(w.block, offset)
                {
                    m.t.regs.store(data, [S::of(x.bits()); N]);
                    return pc + 1;
                }
                if WRITE {
                    scatter::<E, S, N>(m, &w, &at, mask, data);
                } else {
                    gather::<E, S, N>(m, &w, &at, mask, data);
                }
            }
            Place::Nothing => {
                if !WRITE {
                    for i in 0..N {
                        if mask >> i & 1 != 0 {
                            m.t.regs.set(data + (i * size_of::<S>()) as u32, S::default());
                        }
                    }
                }
            }
            Place::Fault => return STOP,
        }
        pc + 1
    }
}

/// Reads the channels' elements; what lies outside reads zero, and is told.
#[inline(always)]
fn gather<E: Element, S: Element, const N: usize>(
    m: &mut Machine<'_>,
    w: &Window<'_>,
    at: &[u64; N],
    mask: Mask,
    data: u32,
) -> bool {
    let mut r = m.t.regs.load::<S, N>(data);
    let mut inside = true;
    for i in 0..N {
        if mask >> i & 1 != 0 {
            let x = w.at(at[i], size_of::<E>()).and_then(|o| E::read(w.block, o));
            inside &= x.is_some();
            r[i] = S::of(x.unwrap_or_default().bits());
        }
    }
    if inside || w.space != AccessSpace::Flat {
        m.t.regs.store(data, r);
    }
    inside
}

/// Writes the channels' elements in ascending order; what lies outside is dropped.
#[inline(always)]
fn scatter<E: Element, S: Element, const N: usize>(
    m: &mut Machine<'_>,
    w: &Window<'_>,
    at: &[u64; N],
    mask: Mask,
    data: u32,
) {
    let r = m.t.regs.load::<S, N>(data);
    for i in 0..N {
        if mask >> i & 1 != 0
            && let Some(o) = w.at(at[i], size_of::<E>())
        {
            E::of(r[i].bits()).write(w.block, o);
        }
    }
}

/// A scalar that is added to every address.
#[inline(always)]
fn read_base(m: &mut Machine<'_>, pc: u32, s: &Src) -> Option<u64> {
    use envisa_isa::{Modifier, Type};
    match *s {
        Src::Reg { offset, ty: Type::Ud, modifier: Modifier::None, .. } => {
            Some(m.t.regs.get::<u32>(offset) as u64)
        }
        Src::Reg { offset, ty: Type::Uq | Type::Q, modifier: Modifier::None, .. } => {
            Some(m.t.regs.get::<u64>(offset))
        }
        _ => read_scalar(m, pc, s),
    }
}

/// A fault at an address of the flat space.
#[cold]
pub(super) fn memory_fault(
    m: &mut Machine<'_>,
    pc: u32,
    channel: Option<u32>,
    address: u64,
    bytes: u32,
    write: bool,
) -> u32 {
    let nearest = m.env.memory.nearest(address).map(|(a, d)| (a.name.clone(), d));
    m.fault(pc, channel, Cause::Memory { address, bytes, write, nearest })
}

/// Any number and size of elements.
struct GeneralK;

impl Kernel for GeneralK {
    fn run(m: &mut Machine<'_>, c: &Cell, pc: u32) -> u32 {
        let mask = exec_mask(m, c);
        if mask == 0 {
            return pc + 1;
        }
        let Some(s) = descriptor(m, c) else { return pc + 1 };
        general(m, c, pc, s, mask)
    }
}

/// The address of each channel of a mask.
pub(super) fn addresses(
    m: &mut Machine<'_>,
    pc: u32,
    (register, bytes): (u32, u8),
    (base, scale, offset): (&Src, u32, i64),
    mask: Mask,
) -> Option<[u64; 32]> {
    let mut add = offset as u64;
    if !matches!(base, Src::None) {
        add = add.wrapping_add(read_base(m, pc, base)?);
    }
    let mut at = [0u64; 32];
    for (i, a) in at.iter_mut().enumerate() {
        if mask >> i & 1 == 0 {
            continue;
        }
        let r = register + i as u32 * bytes as u32;
        let x = match bytes {
            2 => m.t.regs.get::<u16>(r) as u64,
            4 => m.t.regs.get::<u32>(r) as u64,
            _ => m.t.regs.get::<u64>(r),
        };
        let x = x.wrapping_mul(scale as u64).wrapping_add(add);
        *a = if bytes == 8 { x } else { x & 0xffff_ffff };
    }
    Some(at)
}

#[inline(never)]
fn general(m: &mut Machine<'_>, c: &Cell, pc: u32, s: &Simt, mask: Mask) -> u32 {
    let spec = (s.address, s.address_bytes);
    let Some(at) = addresses(m, pc, spec, (&s.base, s.scale, s.offset), mask) else { return STOP };
    let place = place(m, pc, &s.space);
    if matches!(place, Place::Fault) {
        return STOP;
    }
    let memory = m.env.memory;
    let size = s.element as usize;
    let shift = if s.upper { s.slot as u32 * 4 } else { 0 };
    for i in 0..c.channels() as usize {
        if mask >> i & 1 == 0 {
            continue;
        }
        let mut elements = s.elements;
        let mut k = 0;
        while elements != 0 {
            let position = elements.trailing_zeros() as u64;
            elements &= elements - 1;
            let address = at[i].wrapping_add(position * size as u64);
            let found = match &place {
                Place::Flat => match memory.find(address, size, &mut m.hints[c.aux() as usize]) {
                    Some(l) => Some((l.block, l.offset)),
                    None => {
                        return memory_fault(
                            m,
                            pc,
                            Some(i as u32 + c.first()),
                            address,
                            size as u32,
                            s.write,
                        );
                    }
                },
                Place::Window(w) => w.at(address, size).map(|o| (w.block, o)),
                _ => None,
            };
            if m.env.observed {
                let space = match &place {
                    Place::Window(w) => w.space,
                    _ => AccessSpace::Flat,
                };
                m.accesses.push(Access {
                    channel: i as u8 + c.first() as u8,
                    space,
                    address,
                    bytes: size as u32,
                    kind: if s.write { AccessKind::Write } else { AccessKind::Read },
                });
            }
            if let Some(data) = s.data {
                let r = data + k * s.component_stride + i as u32 * s.slot as u32;
                if s.write {
                    let x = match s.slot {
                        1 => m.t.regs.get::<u8>(r) as u64,
                        2 => m.t.regs.get::<u16>(r) as u64,
                        4 => m.t.regs.get::<u32>(r) as u64,
                        _ => m.t.regs.get::<u64>(r),
                    } >> shift;
                    if let Some((block, o)) = found {
                        match size {
                            1 => block.write(o, (x as u8).to_le_bytes()),
                            2 => block.write(o, (x as u16).to_le_bytes()),
                            4 => block.write(o, (x as u32).to_le_bytes()),
                            _ => block.write(o, x.to_le_bytes()),
                        };
                    }
                } else {
                    let x = match (found, size) {
                        (None, _) => 0,
                        (Some((b, o)), 1) => b.read::<1>(o).map_or(0, |x| x[0] as u64),
                        (Some((b, o)), 2) => b.read::<2>(o).map_or(0, |x| u16::from_le_bytes(x) as u64),
                        (Some((b, o)), 4) => b.read::<4>(o).map_or(0, |x| u32::from_le_bytes(x) as u64),
                        (Some((b, o)), _) => b.read::<8>(o).map_or(0, u64::from_le_bytes),
                    } << shift;
                    match s.slot {
                        1 => m.t.regs.set(r, x as u8),
                        2 => m.t.regs.set(r, x as u16),
                        4 => m.t.regs.set(r, x as u32),
                        _ => m.t.regs.set(r, x),
                    }
                }
            }
            k += 1;
        }
    }
    pc + 1
}

/// Consecutive bytes at one address.
pub(super) struct BlockK;

impl Kernel for BlockK {
    fn run(m: &mut Machine<'_>, c: &Cell, pc: u32) -> u32 {
        let Some(Message::Block(b)) = m.env.program.messages.get(c.aux() as usize) else {
            return pc + 1;
        };
        if b.masked && exec_mask(m, c) == 0 {
            return pc + 1;
        }
        let Some(address) = read_base(m, pc, &b.address) else { return STOP };
        let address = address.wrapping_mul(b.scale as u64).wrapping_add(b.offset as u64);
        let place = place(m, pc, &b.space);
        let n = b.bytes as usize;
        let kind = if b.write { AccessKind::Write } else { AccessKind::Read };
        let mut space = AccessSpace::Flat;
        let found = match &place {
            Place::Flat => {
                let memory = m.env.memory;
                match memory.find(address, n, &mut m.hints[c.aux() as usize]) {
                    Some(l) => Some((l.block, l.offset)),
                    None => return memory_fault(m, pc, None, address, b.bytes, b.write),
                }
            }
            Place::Window(w) => {
                space = w.space;
                match w.at(address, n) {
                    Some(o) => Some((w.block, o)),
                    None => {
                        partial(m, w, address, b.bytes, b.write, b.data);
                        m.note(Access { channel: 0, space, address, bytes: b.bytes, kind });
                        return pc + 1;
                    }
                }
            }
            Place::Nothing => None,
            Place::Fault => return STOP,
        };
        m.note(Access { channel: 0, space, address, bytes: b.bytes, kind });
        let Some(data) = b.data else { return pc + 1 };
        match found {
            Some((block, o)) if b.write => {
                block.copy_in(o, m.t.regs.slice(data, b.bytes));
            }
            Some((block, o)) => {
                block.copy_out(o, m.t.regs.slice_mut(data, b.bytes));
            }
            None if !b.write => m.t.regs.slice_mut(data, b.bytes).fill(0),
            None => {}
        }
        pc + 1
    }
}

/// A block that passes the end of its window: dwords outside read zero and are not written.
fn partial(m: &mut Machine<'_>, w: &Window<'_>, address: u64, bytes: u32, write: bool, data: Option<u32>) {
    let Some(data) = data else { return };
    for k in (0..bytes).step_by(4) {
        let at = w.at(address.wrapping_add(k as u64), 4);
        if write {
            if let Some(o) = at {
                w.block.write(o, m.t.regs.get::<u32>(data + k).to_le_bytes());
            }
        } else {
            let x = at.and_then(|o| w.block.read::<4>(o)).unwrap_or_default();
            m.t.regs.set(data + k, u32::from_le_bytes(x));
        }
    }
}
