//! Where messages may go: from what the machine knows to sites, and what a launch tells of local ids.

use envisa_isa::Type;
use envisa_lower::{Atomic, Extend, Message, Op, Pc, Program, Simt, Space, Src};
use envisa_machine::dispatch::{GroupClass, Prepared};
use envisa_machine::memory::{Block, Bound, Entry, Permission, Surface};
use envisa_machine::thread::Machine;

use crate::active::{Given, all_channels};
use crate::affine_vectors::{Seed, constant};
use crate::context_layout::Site;
use crate::emit::memory::{address_form, as_quads};

/// Threads of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Of {
    /// Those that have all channels.
    Whole,
    /// Those that lack some.
    Lacking,
    /// All of them.
    All,
}

/// The words that threads have in their payloads from a byte on; `None` where there are not so many.
fn rows<'a>(
    p: &Program,
    prepared: &'a Prepared,
    of: Of,
    at: usize,
    words: usize,
) -> impl Iterator<Item = Option<impl Fn(usize) -> i32 + 'a>> {
    let (bytes, simd) = (prepared.payload_range().len(), p.simd());
    prepared.classes().iter().flat_map(move |class| {
        let whole = class.threads - u32::from(class.tail_mask.count_ones() < simd);
        let threads = match of {
            Of::Whole => 0..whole,
            Of::Lacking => whole..class.threads,
            Of::All => 0..class.threads,
        };
        threads.map(move |t| {
            let t = t as usize;
            let from = t * bytes + at;
            let row = class.payloads.get(from..from + 2 * words)?;
            Some(move |k: usize| i32::from(u16::from_le_bytes([row[2 * k], row[2 * k + 1]])))
        })
    })
}

/// Local ids that threads start with: first byte in the register file and in a thread's payload, and bytes.
fn local_id_inputs<'a>(p: &'a Program, prepared: &Prepared) -> impl Iterator<Item = (u32, usize, u32)> + 'a {
    let payload = prepared.payload_range();
    p.inputs().iter().filter_map(move |i| {
        let (start, end) = (i.image as usize, (i.image + i.bytes) as usize);
        (start >= payload.start && end <= payload.end).then(|| (i.offset, start - payload.start, i.bytes))
    })
}

/// What threads start with: their channels in sixteens, and local ids
/// that are the same in all of them. Lengths of groups, and of what a last thread has, are many: where such a thread
/// is one of several, ids are not looked at.
pub(crate) fn given(p: &Program, prepared: &Prepared, of: Of) -> Given {
    let all = all_channels(p.simd());
    match of {
        Of::Whole => return Given { channels: all, words: words(p, prepared, of) },
        Of::All => return Given { channels: all, words: Vec::new() },
        Of::Lacking => {}
    }
    let lacks = |c: &&GroupClass| c.tail_mask.count_ones() < p.simd();
    let channels = prepared.classes().iter().filter(lacks).fold(0, |m, c| m | c.tail_mask);
    let sixteens = [0xffff, 0xffff_0000].into_iter().filter(|h| channels & h != 0);
    let alone = prepared.classes().iter().filter(lacks).all(|c| c.threads == 1);
    let words = if alone { words(p, prepared, of) } else { Vec::new() };
    Given { channels: sixteens.fold(0, |m, h| m | h) & all, words }
}

fn words(p: &Program, prepared: &Prepared, of: Of) -> Vec<(u32, [u16; 16])> {
    let mut out = Vec::new();
    for (offset, start, bytes) in local_id_inputs(p, prepared) {
        for half in 0..bytes / 32 {
            let mut rows = rows(p, prepared, of, start + 32 * half as usize, 16)
                .map(|row| row.map(|word| std::array::from_fn(|k| word(k) as u16)));
            let Some(Some(first)) = rows.next() else { continue };
            if rows.all(|row| row == Some(first)) {
                out.push((offset + 32 * half, first));
            }
        }
    }
    out
}

/// Rows of local ids that are steps of one length in all of these threads.
pub(crate) fn seeds(p: &Program, prepared: &Prepared, of: Of) -> Vec<Seed> {
    let mut out = Vec::new();
    for (to, start, bytes) in local_id_inputs(p, prepared) {
        for half in 0..bytes / 32 {
            let at = start + 32 * half as usize;
            let step = |lanes: usize| {
                let mut step = None;
                for word in rows(p, prepared, of, at, 16) {
                    let word = word?;
                    let s = word(1) - word(0);
                    let same = (1..16).all(|k| k % lanes == 0 || word(k) - word(k - 1) == s);
                    if !same || *step.get_or_insert(s) != s {
                        return None;
                    }
                }
                step
            };
            let found = [16, 8].into_iter().find_map(|lanes| Some((step(lanes)?, lanes as u8)));
            let Some((step, lanes)) = found else { continue };
            let offset = to + 32 * half;
            let before = |s: &Seed| (s.offset + 32, s.step, s.lanes) == (offset, step, 16);
            let pair = lanes == 16 && half % 2 == 1 && out.last().is_some_and(before);
            let jump = || {
                let mut all = rows(p, prepared, of, at - 32, 32).map(|w| {
                    Some({
                        let word = w?;
                        word(16) - word(0)
                    })
                });
                let first = all.next()??;
                all.all(|x| x == Some(first)).then_some(first)
            };
            out.push(Seed { offset, step, lanes, jump: if pair { jump() } else { None } });
        }
    }
    out
}

/// A scalar's value as messages read it.
fn scalar(m: &Machine<'_>, s: &Src) -> Option<u64> {
    match *s {
        Src::None => Some(0),
        Src::Reg { offset, ty, modifier: envisa_isa::Modifier::None, .. } => {
            let b = m.t.regs.slice(offset, ty.size());
            let mut all = [0; 8];
            all.get_mut(..b.len())?.copy_from_slice(b);
            let x = u64::from_le_bytes(all);
            Some(match ty {
                Type::D => x as u32 as i32 as i64 as u64,
                Type::Ud | Type::Uq | Type::Q => x,
                _ => return None,
            })
        }
        _ => None,
    }
}

/// An atomic as the store that goes to the same places.
pub(crate) fn gather_of(a: &Atomic) -> Simt {
    Simt {
        space: a.space,
        write: true,
        address: a.address,
        address_bytes: a.address_bytes,
        extend: a.extend,
        stride: Src::None,
        base: a.base,
        scale: a.scale,
        offset: a.offset,
        origin: a.origin,
        align: 1,
        element: a.element,
        slot: a.slot,
        upper: false,
        elements: 1,
        data: a.dst.or(a.src[0]),
        component_stride: 0,
    }
}

/// Aims a message's site at where the message went just now.
pub(crate) fn aim(m: &Machine<'_>, pc: Pc, sites: &mut [Site]) {
    let p = m.env.program;
    let i = &p.code()[pc as usize];
    if i.op != Op::Message {
        return;
    }
    let aux = i.aux as usize;
    let (Some(message), Some(site)) = (p.messages().get(aux), sites.get_mut(aux)) else { return };
    match message {
        Message::Simt(s) => {
            aim_simt(m, (aux, i.channels), s, site);
            // Offsets are looked at, from the pointer on.
            if site.bias % u64::from(s.align.max(1)) != 0 {
                *site = Site::NOWHERE;
            }
        }
        Message::Atomic(a) => {
            aim_simt(m, (aux, i.channels), &gather_of(a), site);
            // Places are looked at from the pointer on.
            if site.pointer % u64::from(a.element) != 0 || site.bias % u64::from(a.element) != 0 {
                *site = Site::NOWHERE;
            }
        }
        Message::Sample(_) | Message::Typed(_) | Message::Media(_) => {
            crate::image_variants::aim_image_sites(m, aux, sites)
        }
        Message::Block(b) => {
            let (start, len, key) = match b.space {
                Space::Flat => {
                    let Some(a) = hinted_entry(m, aux) else { return };
                    let key = a.base.wrapping_sub(b.offset as u64);
                    (a.block.as_ptr() as u64, a.block.len(), key)
                }
                Space::Slm => (m.slm.as_ptr() as u64, m.slm.len(), 0),
                Space::Bti(at) => {
                    let Some((block, start, len)) = surface_block(m, &at, b.write) else { return };
                    (block.as_ptr() as u64 + start as u64, len, number(m, &at))
                }
                Space::GeneralState => (m.env.state.as_ptr() as u64, m.env.state.len(), 0),
                Space::Scratch(_) => {
                    let (start, len) = scratch_window(m);
                    (m.env.state.as_ptr() as u64 + start as u64, len, m.t.scratch >> 10)
                }
                _ => return,
            };
            *site = Site::NOWHERE;
            (site.pointer, site.key) = (start, key);
            site.wide = (len as u64 + 1).saturating_sub(u64::from(b.bytes));
        }
        _ => {}
    }
}

fn hinted_entry<'a>(m: &'a Machine<'_>, aux: usize) -> Option<&'a Entry> {
    m.hints.get(aux).and_then(|h| m.env.memory.hinted_allocation(h))
}

fn aim_simt(m: &Machine<'_>, (aux, channels): (usize, u8), s: &Simt, site: &mut Site) {
    let p = m.env.program;
    let s = &as_quads(s);
    let Ok(form) = address_form(p, s) else { return };
    // The code adds the origins of windows itself.
    let origin = if s.space == Space::Flat { scalar(m, &s.origin) } else { Some(0) };
    let Some(origin) = origin else { return };
    let base = constant(p, &s.base).unwrap_or(0) as u64;
    let add = base.wrapping_mul(u64::from(s.scale)).wrapping_add(s.offset as u64).wrapping_add(origin);
    let span = u64::from(64 - s.elements.leading_zeros()) * u64::from(s.element);
    let step = (u32::from(s.element) / form.scale).max(1);
    // Sixteen channels, or as many as the message has besides.
    let row = [15 * step, if channels > 16 { 31 * step } else { 7 * step }];
    match s.space {
        Space::Flat => {
            let Some(a) = hinted_entry(m, aux) else { return };
            if form.wide {
                let wide = a.base.wrapping_sub(add);
                *site =
                    Site { wide, bias: a.base % 64, ..window_site(&a.block, 0, a.block.len(), 0, span, row) };
                site.span = if s.element < 4 { site.count4 } else { site.count }.into();
                site.key = origin;
                return;
            }
            *site = flat_site(a.base, &a.block, add, span, (s.scale, s.extend), row);
            site.key = origin;
        }
        Space::Slm => *site = window_site(m.slm, 0, m.slm.len(), add, span, row),
        Space::Bti(b) => {
            let Some((block, start, len)) = surface_block(m, &b, s.write) else { return };
            *site = window_site(block, start, len, add, span, row);
            site.key = number(m, &b);
        }
        Space::GeneralState => *site = window_site(m.env.state, 0, m.env.state.len(), add, span, row),
        Space::Scratch(_) => {
            let (start, len) = scratch_window(m);
            *site = window_site(m.env.state, start, len, add, span, row);
            site.key = m.t.scratch >> 10;
        }
        _ => {}
    }
}

/// The number of a surface, as code compares it.
fn number(m: &Machine<'_>, at: &Src) -> u64 {
    scalar(m, at).map_or(u64::MAX, |n| u64::from(n as u32))
}

/// The block that a surface is in, where it begins there, and its bytes.
fn surface_block<'a>(m: &'a Machine<'_>, at: &Src, write: bool) -> Option<(&'a Block, usize, usize)> {
    let bti = scalar(m, at)?;
    let Bound { surface: Surface::Buffer(b), allocation: Some(a) } = m.env.surfaces.get(bti as u32) else {
        return None;
    };
    (!write || a.permission != Permission::ReadOnly).then_some((&a.block, b.start, b.len))
}

/// Where the thread's scratch is in the window of the general state, and how much of it.
fn scratch_window(m: &Machine<'_>) -> (usize, usize) {
    let most = m.env.state.len();
    let start = usize::try_from(m.t.scratch & 0xffff_fc00).map_or(most, |s| s.min(most));
    (start, usize::try_from(m.env.scratch_bytes).map_or(most - start, |n| n.min(most - start)))
}

/// A thread starts: the sites of its scratch are moved to where that is.
pub(crate) fn move_scratch(m: &Machine<'_>, messages: &[usize], sites: &mut [Site]) {
    let to = m.t.scratch;
    for k in messages {
        let Some(site) = sites.get_mut(*k) else { continue };
        let from = site.key << 10;
        if site.pointer == 0 || from == to {
            continue;
        }
        if to + m.env.scratch_bytes > m.env.state.len() as u64 {
            // Aimed anew at the first access.
            *site = Site::NOWHERE;
            continue;
        }
        site.key = to >> 10;
        site.pointer = site.pointer.wrapping_add(to).wrapping_sub(from);
    }
}

/// Those of a program's messages that go to scratch.
pub(crate) fn to_scratch(p: &Program) -> Vec<usize> {
    let one = |m: &Message| match m {
        Message::Simt(s) => matches!(s.space, Space::Scratch(_)),
        Message::Block(b) => matches!(b.space, Space::Scratch(_)),
        Message::Atomic(a) => matches!(a.space, Space::Scratch(_)),
        _ => false,
    };
    (0..p.messages().len()).filter(|k| one(&p.messages()[*k])).collect()
}

/// Largest number of indices: they stay positive in 32 bits, and what is left of their products with the scale when
/// vectors take eight of it, too.
const MOST: i128 = (1 << 30) - 1;

fn flat_site(
    base: u64,
    block: &Block,
    add: u64,
    span: u64,
    (scale, extend): (u32, Extend),
    row: [u32; 2],
) -> Site {
    // Where the allocation begins, in bytes from index 0.
    let delta = i128::from(base.wrapping_sub(add) as i64);
    let (scale, len) = (i128::from(scale), block.len() as i128);
    let (least, most) = match extend {
        Extend::Sign | Extend::Sum(_) | Extend::Joined(_) => (i128::from(i32::MIN), i128::from(i32::MAX)),
        _ => (0, i128::from(u32::MAX)),
    };
    let first = (delta + scale - 1).div_euclid(scale).max(least);
    let count = |span: i128| {
        let last = (delta + len - span).div_euclid(scale).min(most);
        (last - first + 1).clamp(0, MOST.min(16 * MOST / scale)) as u32
    };
    let all = count(i128::from(span));
    // Dwords that begin with the last elements end behind the memory.
    let dwords = if block.may_read(block.len(), 3) { all } else { count(4) };
    if all == 0 {
        return Site::NOWHERE;
    }
    let skip = first * scale - delta;
    Site {
        low: first as u32,
        pointer: (block.as_ptr() as u64).wrapping_add(skip as u64),
        bias: base.wrapping_add(skip as u64) % 64,
        ..counted_site(all, dwords, row)
    }
}

fn window_site(block: &Block, start: usize, len: usize, add: u64, span: u64, row: [u32; 2]) -> Site {
    let count = |span: u64| (len as i128 - i128::from(span) + 1).clamp(0, MOST) as u32;
    let dwords = if block.may_read(start + len, 3) { count(span) } else { count(4) };
    Site {
        low: (add as u32).wrapping_neg(),
        pointer: (block.as_ptr() as u64).wrapping_add(start as u64),
        ..counted_site(count(span), dwords, row)
    }
}

fn counted_site(count: u32, count4: u32, row: [u32; 2]) -> Site {
    Site {
        count,
        last16: count.saturating_sub(row[0]),
        last: count.saturating_sub(row[1]),
        count4: count.min(count4),
        ..Site::NOWHERE
    }
}
