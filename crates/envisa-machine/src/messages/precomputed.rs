//! Fast code for frequent messages, for engines: what is known of a message before the program runs is computed once.
#![allow(unsafe_code)]

use envisa_lower::{Block as BlockMessage, Simt, Space};

pub use super::atomic::Sum;
pub use super::channel_addresses::Reach;
pub use super::element::Element;
pub use super::simt::{Done, Plan};
use super::{Drops, Fault, Ports, block, simt};
use crate::cpu::Isa;
use crate::memory::Hint;
use crate::register_file::Registers;

/// Executes a gather or scatter: `E` in memory, `S` in registers, `N` channels, `G` of which are looked at together
/// when they are not all side by side. `far` gives the whole message and all that it can reach, which is seldom
/// wanted.
///
/// # Errors
/// A fault of the guest.
///
/// # Safety
/// The plan was made, of a message that passed [`super::check`] for `N` channels and elements of these types, for a
/// register file that is not longer than this one.
#[inline(always)]
pub unsafe fn gather_scatter<
    'a,
    E: Element,
    S: Element,
    const N: usize,
    const G: usize,
    const WRITE: bool,
    const L: u8,
>(
    isa: Isa<L>,
    (plan, site): (&Plan, &mut Hint),
    regs: &mut Registers,
    mask: u32,
    near: Reach<'a>,
    far: impl Fn(&Registers) -> (&'a Simt, Ports<'a>),
) -> Result<Done, Fault> {
    simt::run::<E, S, N, G, WRITE, L>(isa, plan, site, regs, mask, near, far)
}

/// Executes an atomic that adds, of `N` channels; `false` (and nothing done) if that is for [`super::execute`] to
/// do. `far` as of [`gather_scatter`].
///
/// # Safety
/// As of [`gather_scatter`].
#[inline(always)]
pub unsafe fn sum<'a, const N: usize, const L: u8>(
    isa: Isa<L>,
    (sum, site): (&Sum, &Hint),
    regs: &mut Registers,
    mask: u32,
    near: Reach<'a>,
    far: impl Fn(&Registers) -> (&'a Space, Ports<'a>),
) -> bool {
    sum.run::<N, L>(isa, near, far, regs, mask, site)
}

/// Executes a block of bytes.
///
/// # Errors
/// A fault of the guest.
///
/// # Safety
/// The message passed [`super::check`] for a register file that is not longer than this one.
#[inline(always)]
pub unsafe fn block(
    message: &BlockMessage,
    site: &mut Hint,
    regs: &mut Registers,
    mask: u32,
    ports: &Ports<'_>,
    drops: &mut Drops,
) -> Result<(), Fault> {
    block::execute(message, site, regs, mask, ports, drops)
}
