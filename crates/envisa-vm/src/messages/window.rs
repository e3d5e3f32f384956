//! What a message's addresses mean: the bytes they fall in, and what lies outside.

use envisa_lower::{Space, Src};

use crate::exec::read_scalar;
use crate::memory::{Block, Surface};
use crate::thread::{AccessSpace, Machine};
use crate::trap::Cause;

/// SLM pointers carry a bias in bit 28, so that none is null.
const SLM_MASK: u64 = 0x0fff_ffff;

/// The bytes that a message's 32-bit offsets fall in.
#[derive(Clone, Copy)]
pub(crate) struct Window<'a> {
    /// The bytes.
    pub block: &'a Block,
    /// Where the window starts.
    pub start: usize,
    /// Its length.
    pub len: usize,
    /// Bits of an address that count.
    pub mask: u64,
    /// For reports.
    pub space: AccessSpace,
}

impl Window<'_> {
    /// Offset in the block of `n` bytes at an address; `None` outside.
    #[inline(always)]
    pub fn at(&self, address: u64, n: usize) -> Option<usize> {
        let offset = address & self.mask;
        if offset <= self.len as u64 && n <= self.len - offset as usize {
            Some(self.start + offset as usize)
        } else {
            None
        }
    }
}

/// Where a message goes.
pub(crate) enum Place<'a> {
    /// Virtual addresses.
    Flat,
    /// A window.
    Window(Window<'a>),
    /// Nothing is bound: reads give zero, writes are dropped.
    Nothing,
    /// A fault was raised.
    Fault,
}

fn clip(block: &Block, start: u64, len: u64, space: AccessSpace) -> Window<'_> {
    let start = usize::try_from(start).unwrap_or(usize::MAX).min(block.len());
    let len = usize::try_from(len).unwrap_or(usize::MAX).min(block.len() - start);
    Window { block, start, len, mask: u32::MAX as u64, space }
}

/// Finds where a message goes.
#[inline(always)]
pub(crate) fn place<'a>(m: &mut Machine<'a>, pc: u32, space: &Space) -> Place<'a> {
    match space {
        Space::Flat => Place::Flat,
        Space::Slm => {
            let block = m.slm;
            Place::Window(Window {
                block,
                start: 0,
                len: block.len(),
                mask: SLM_MASK,
                space: AccessSpace::Slm,
            })
        }
        Space::Bti(src) => {
            let bti = match src {
                Src::Reg { offset, ty: envisa_isa::Type::Ud, .. } => m.t.regs.get::<u32>(*offset),
                src => match read_scalar(m, pc, src) {
                    Some(b) => b as u32,
                    None => return Place::Fault,
                },
            };
            surface(m, bti)
        }
        other => rare(m, pc, other),
    }
}

/// The surface of a binding-table index.
#[inline(always)]
fn surface<'a>(m: &Machine<'a>, bti: u32) -> Place<'a> {
    let env = m.env;
    match env.surfaces.get(bti) {
        Surface::Buffer(b) => Place::Window(Window {
            block: &env.memory.get(b.allocation).block,
            start: b.start,
            len: b.len,
            mask: u32::MAX as u64,
            space: AccessSpace::Surface(bti),
        }),
        _ => Place::Nothing,
    }
}

#[cold]
fn rare<'a>(m: &mut Machine<'a>, pc: u32, space: &Space) -> Place<'a> {
    let state = m.env.state;
    match space {
        Space::GeneralState => Place::Window(clip(state, 0, u64::MAX, AccessSpace::State)),
        Space::Scratch(_) => Place::Window(clip(state, m.t.scratch, m.env.scratch_bytes, AccessSpace::State)),
        Space::Arguments => {
            // r0.0 holds where the arguments are.
            let r0: u32 = m.t.regs.get(m.env.program.registers.predefined[7]);
            let base = (r0 & !(m.env.program.grf_bytes - 1)) as u64;
            Place::Window(clip(state, base, u64::MAX, AccessSpace::State))
        }
        Space::Bindless(_) => {
            m.fault(
                pc,
                None,
                Cause::Unsupported {
                    name: "bindless access",
                    reason: "the launch metadata does not describe surface handles".into(),
                },
            );
            Place::Fault
        }
        _ => Place::Nothing,
    }
}
