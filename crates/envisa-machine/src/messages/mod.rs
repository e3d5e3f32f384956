//! Memory messages: what each reads, writes and leaves alone.
//!
//! A message is executed by [`execute`] from its descriptor, the register file, the channels that are
//! active and the [`Ports`] it can reach; [`fast`] offers engines quicker ways for the most frequent ones. Adding a
//! family: its descriptor in `envisa_lower`'s messages, a module here, an arm of [`execute`].
//!
//! Two channels of one store that write the same place do so in ascending order. A message that faults
//! may have done its part for lower channels.

mod atomic;
mod block;
mod block2d;
mod channel_addresses;
mod element;
mod graphics;
pub mod outside_texels;
pub mod precomputed;
mod sampler;
mod sampler_levels;
mod sampler_rows;
mod simt;
mod target;
mod typed;

#[cfg(test)]
mod tests;

pub use atomic::{compares, left_memory_unchanged};

use envisa_lower::{Decoded, Message, Raw, decode_raw};

use crate::memory::{AddressMap, Block, Hint, SurfaceTable};
use crate::register_file::{Registers, all_channels};
use crate::sampler::Sampler;

/// All that a message can reach.
#[derive(Clone, Copy)]
pub struct Ports<'a> {
    /// The address space.
    pub memory: &'a AddressMap,
    /// The thread group's shared local memory.
    pub slm: &'a Block,
    /// The 32-bit general-state window: scratch, implicit arguments.
    pub window: &'a Block,
    /// The binding table.
    pub surfaces: &'a SurfaceTable,
    /// Samplers by index.
    pub samplers: &'a [Option<Sampler>],
    /// `r0.5`: where the thread's scratch starts in the window, in bits 31 to 10.
    pub scratch: u32,
    /// Bytes of the thread's scratch.
    pub scratch_bytes: u64,
    /// `r0.0`: where the implicit arguments start in the window.
    pub implicit: u32,
    /// Bytes of a register of the device.
    pub grf_bytes: u32,
    /// The register file's layout: what register addresses mean.
    pub layout: &'a envisa_lower::Registers,
}

/// Read, write or both.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AccessKind {
    /// Memory to registers.
    Read,
    /// Registers to memory.
    Write,
    /// Read, modify, write.
    Atomic,
}

/// Memory kinds an observer tells apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AccessSpace {
    /// Virtual addresses.
    Flat,
    /// Shared local memory; addresses are offsets.
    Slm,
    /// The surface of this binding-table index; addresses are offsets.
    Surface(u32),
    /// The general-state window; addresses are offsets.
    State,
    /// The append counter of the surface of this binding-table index.
    Counter(u32),
    /// The unified return buffer; addresses are offsets.
    Urb,
}

/// One access to memory by one channel, or by a whole thread for blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Channel of the instruction (0 is its first); 0 for blocks.
    pub channel: u8,
    /// Which memory.
    pub space: AccessSpace,
    /// Address or offset; of a texel outside of its image, [its coordinates](outside_texels).
    pub address: u64,
    /// The virtual address of the same bytes, where they have one and are inside: what accesses through
    /// surfaces and through addresses have in common.
    pub place: Option<u64>,
    /// Bytes.
    pub bytes: u32,
    /// Read, write or both.
    pub kind: AccessKind,
    /// It lies (partly) outside of its surface: what is outside reads as the message's page says and is
    /// not written.
    pub outside: bool,
}

impl Access {
    /// The one `n` further, to the bytes that follow, of channels that have so many each.
    #[inline]
    fn following_bytes(&self, n: u32, parts: u32) -> Access {
        let bytes = u64::from(n) * u64::from(self.bytes);
        let channels = if parts < 2 { n } else { n / parts };
        Access {
            channel: self.channel.wrapping_add(channels as u8),
            address: self.address.wrapping_add(bytes),
            place: self.place.map(|p| p.wrapping_add(bytes)),
            ..*self
        }
    }

    /// That of the channel `n` further, to the same bytes.
    fn same_bytes_of_channel(&self, n: u32) -> Access {
        Access { channel: self.channel.wrapping_add(n as u8), ..*self }
    }

    /// Does the device drop it, as outside of its surface? Not of reads that begin inside, as compilers read more than
    /// they need, and not of two-dimensional blocks, which are made to reach over the edge.
    pub fn is_dropped(&self, message: &Message) -> bool {
        self.outside
            && match message {
                Message::Block(b) => b.write || self.place.is_none(),
                // What a sampler, or a load by one, reads outside is defined: an edge or a border.
                Message::Media(_) | Message::Block2d(_) | Message::Sample(_) => false,
                // Compilers make loads of reads by samplers that clamp: what is outside is defined, too.
                Message::Typed(t) => t.write,
                // Squares at a target's edge reach over it.
                Message::Pixels(_) => false,
                // What is read past an allocation's end.
                _ => self.space != AccessSpace::Flat,
            }
    }
}

/// Accesses that are one but for the channel and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessRow {
    /// The first channel's.
    pub first: Access,
    /// How many there are, of neighbouring channels.
    pub count: u32,
    /// How many each channel has, one after the other, where they are to bytes side by side; else one.
    pub parts: u32,
    /// They are to the same bytes, else to bytes side by side.
    pub same: bool,
    /// Which of its channel's accesses the first is.
    pub part: u32,
}

impl AccessRow {
    /// How many bytes all of them are to, which lie side by side.
    #[inline]
    pub fn bytes(&self) -> u64 {
        let accesses = if self.same { self.parts } else { self.count };
        u64::from(accesses) * u64::from(self.first.bytes)
    }

    /// One of them.
    #[inline]
    pub fn nth(&self, n: u32) -> Access {
        if self.same {
            self.first.same_bytes_of_channel(n)
        } else {
            self.first.following_bytes(n, self.parts)
        }
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Access> {
        (0..self.count).map(move |n| self.nth(n))
    }
}

/// The accesses of an instruction, in the order of its channels.
#[derive(Clone, Default, Debug)]
pub struct Accesses(Vec<AccessRow>);

impl Accesses {
    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = Access> + '_ {
        self.0.iter().flat_map(|row| row.iter())
    }

    /// Each of them, and which of its channel's it is.
    pub fn parts(&self) -> impl Iterator<Item = (Access, u32)> + '_ {
        self.0.iter().flat_map(|row| {
            row.iter()
                .zip(0..)
                .map(|(a, n)| (a, if row.parts < 2 { row.part } else { row.part + n % row.parts }))
        })
    }

    /// All, row by row.
    #[inline]
    pub fn rows(&self) -> &[AccessRow] {
        &self.0
    }

    /// Are there none?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets them.
    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Those from a row on.
    pub(crate) fn from(&mut self, row: usize) -> &mut [AccessRow] {
        self.0.get_mut(row..).unwrap_or_default()
    }
}

impl MemoryObserver for Accesses {
    const ACTIVE: bool = true;
    fn access(&mut self, access: &Access) {
        let part = match self.0.last() {
            Some(last) if last.count == 1 && last.first.channel == access.channel => last.part + 1,
            _ => 0,
        };
        self.0.push(AccessRow { first: *access, count: 1, parts: 1, same: false, part });
    }
    fn row(&mut self, first: &Access, count: u32, parts: u32) {
        self.0.push(AccessRow { first: *first, count, parts, same: false, part: 0 });
    }
    fn same(&mut self, first: &Access, count: u32, part: u32) {
        self.0.push(AccessRow { first: *first, count, parts: 1, same: true, part });
    }
}

/// Is told of every access of a message, before it is done.
pub trait MemoryObserver {
    /// Whether it wants to be told; if not, the faster code runs.
    const ACTIVE: bool;
    /// An access.
    fn access(&mut self, access: &Access);
    /// Accesses of neighbouring channels, so many of each, to bytes side by side, of which this is the first.
    fn row(&mut self, first: &Access, count: u32, parts: u32) {
        (0..count).for_each(|n| self.access(&first.following_bytes(n, parts)));
    }
    /// Accesses of neighbouring channels to the same bytes, of which this is the first, each its channel's `part`.
    fn same(&mut self, first: &Access, count: u32, _part: u32) {
        (0..count).for_each(|n| self.access(&first.same_bytes_of_channel(n)));
    }
    /// An access outside of its surface, which the device drops; said to those that are not active, too.
    #[inline(always)]
    fn dropped(&mut self, _: &Access) {}
}

/// Counts the accesses that a message drops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drops {
    /// Reads, which give what the page says of them.
    pub reads: u32,
    /// Writes and atomics.
    pub writes: u32,
    /// The first.
    pub first: Option<Access>,
}

impl Drops {
    /// Counts one more.
    pub fn add(&mut self, access: &Access) {
        let count = if access.kind == AccessKind::Read { &mut self.reads } else { &mut self.writes };
        *count = count.saturating_add(1);
        self.first.get_or_insert(*access);
    }
}

impl MemoryObserver for Drops {
    const ACTIVE: bool = false;
    fn access(&mut self, _: &Access) {}
    #[cold]
    #[inline(never)]
    fn dropped(&mut self, access: &Access) {
        self.add(access);
    }
}

impl MemoryObserver for () {
    const ACTIVE: bool = false;
    fn access(&mut self, _: &Access) {}
}

impl MemoryObserver for Vec<Access> {
    const ACTIVE: bool = true;
    fn access(&mut self, access: &Access) {
        self.push(*access);
    }
    fn row(&mut self, first: &Access, count: u32, parts: u32) {
        self.extend((0..count).map(|n| first.following_bytes(n, parts)));
    }
}

/// Why a message cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// Its address is in no allocation.
    Outside(AccessKind),
    /// Its address is not the multiple of this that its page demands.
    Misaligned(u32),
    /// A register address names no variable.
    Indirect,
    /// The virtual GPU cannot do this, and why.
    Unsupported(&'static str),
    /// A raw message of these descriptors, the extended one first, which cannot be decoded.
    Raw(u32, u32),
}

/// A fault of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Channel of the instruction, where one is to blame.
    pub channel: Option<u32>,
    /// Which memory.
    pub space: AccessSpace,
    /// Address or offset.
    pub address: u64,
    /// Bytes wanted there.
    pub bytes: u32,
}

impl Fault {
    /// Of what the virtual GPU cannot do, and why.
    pub fn unsupported(why: &'static str) -> Fault {
        Fault {
            kind: FaultKind::Unsupported(why),
            channel: None,
            space: AccessSpace::Flat,
            address: 0,
            bytes: 0,
        }
    }
}

/// Executes a message for the channels of `mask` (bit i: channel i of the instruction, of `channels`).
/// `site` remembers where the message found its memory last; give each message of a program its own.
///
/// # Errors
/// A fault of the guest: an address outside of every allocation, one that is not aligned as the page
/// demands, or something the virtual GPU cannot do.
///
/// # Panics
/// If the descriptor's registers are not inside the file (lowering makes no such descriptor).
pub fn execute<O: MemoryObserver>(
    m: &Message,
    site: &mut Hint,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
    obs: &mut O,
) -> Result<(), Fault> {
    assert!(m.is_inside(channels, regs.len()), "a message's registers are outside of the register file");
    let mask = mask & all_channels(channels as usize);
    match m {
        Message::Simt(s) => simt::execute_general(s, site, regs, mask, channels, ports, obs),
        Message::Block(b) => block::execute(b, site, regs, mask, ports, obs),
        Message::Atomic(a) => atomic::execute(a, site, regs, mask, channels, ports, obs),
        Message::Status(s) => simt::query_residency(s, site, regs, mask, channels, ports),
        Message::Typed(t) => typed::execute(t, regs, mask, channels, ports, obs),
        Message::TypedStatus(t) => typed::query_residency(t, regs, mask, channels, ports),
        Message::TypedAtomic(a) => typed::atomic(a, regs, mask, channels, ports, obs),
        Message::Media(m) => typed::access_media_block(m, regs, ports, obs),
        Message::Block2d(b) => block2d::execute(b, site, regs, ports, obs),
        Message::Sample(s) => sampler::execute(s, regs, mask, channels, ports, obs),
        Message::Info(i) => typed::query_image_info(i, regs, mask, channels, ports),
        Message::Pixels(p) => graphics::write_pixels(p, regs, mask, channels, ports, obs),
        Message::Urb(u) => graphics::write_urb(u, regs, mask, channels, ports, obs),
        Message::Raw(r) => execute_raw_send(r, site, regs, mask, channels, ports, obs),
    }
}

/// Executes the message that descriptors in registers name.
#[cold]
fn execute_raw_send<O: MemoryObserver>(
    r: &Raw,
    site: &mut Hint,
    regs: &mut Registers,
    mask: u32,
    channels: u32,
    ports: &Ports<'_>,
    obs: &mut O,
) -> Result<(), Fault> {
    let ex = target::scalar(&r.extended, regs, ports)? as u32 | r.extended_field;
    let desc = target::scalar(&r.descriptor, regs, ports)? as u32;
    match decode_raw(r.function, ex, desc, &r.shape) {
        // No message is raw twice.
        Ok(Decoded::Message(m)) if !matches!(m, Message::Raw(_)) => {
            execute(&m, site, regs, mask, channels, ports, obs)
        }
        // Memory is coherent.
        Ok(Decoded::Fence) => Ok(()),
        Ok(Decoded::Message(_) | Decoded::BarrierSignal) | Err(_) => {
            Err(Fault { kind: FaultKind::Raw(ex, desc), ..Fault::unsupported("") })
        }
    }
}
