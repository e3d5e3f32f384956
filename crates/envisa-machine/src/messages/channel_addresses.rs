//! The addresses of a message's channels, for the fast code of gathers, scatters and atomics: what is known of them before
//! the program runs, and the lanes that they lead to.

use envisa_isa::Type;
use envisa_lower::{Addend, Extend, Modifier, RegOffset, Space, Src};

use super::Ports;
use super::target::{SLM_MASK, Target, resolve_target};
use crate::cpu::{Isa, PerLevel};
use crate::memory::{AddressMap, Block, EnabledLanes, Hint, Lanes};
use crate::register_file::Registers;

/// How a message's descriptor makes addresses; see `envisa_lower::Simt` for what the fields are.
pub(super) struct Addressing<'a> {
    pub space: &'a Space,
    pub address: RegOffset,
    pub address_bytes: u8,
    pub extend: Extend,
    pub base: &'a Src,
    pub scale: u32,
    pub offset: i64,
    pub origin: &'a Src,
    pub align: u8,
    /// Bytes from a channel's address on that it accesses.
    pub span: u32,
}

impl Addressing<'_> {
    /// For a register file of `len` bytes; `None` for addresses that the fast code does not know.
    pub fn plan(&self, len: u32) -> Option<Addresses> {
        let form = match (self.space, self.address_bytes) {
            (Space::Flat, 8) => Form::Wide,
            (Space::Flat, 4) if matches!(self.extend, Extend::Sign | Extend::Sum(_) | Extend::Joined(_)) => {
                Form::Signed
            }
            (Space::Flat, 4) if self.extend == Extend::Zero => Form::Unsigned,
            (Space::Flat, _) => return None,
            _ if self.extend != Extend::None => return None,
            (Space::Slm, 4) => Form::Slm,
            (_, 4) => Form::Window,
            _ => return None,
        };
        let shift = self.scale.trailing_zeros();
        let align = self.align.max(1);
        if !self.scale.is_power_of_two() || shift > 15 || !align.is_power_of_two() {
            return None;
        }
        let narrow = matches!(form, Form::Slm | Form::Window);
        Some(Addresses {
            form,
            shift: shift as u8,
            align,
            span: u8::try_from(self.span).ok()?,
            address: self.address,
            extend: self.extend,
            base: Add::new(self.base, narrow, len)?,
            origin: Add::new(self.origin, narrow, len)?,
            offset: self.offset,
        })
    }
}

/// The same for the fast code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses {
    form: Form,
    /// Addresses are shifted left by this.
    shift: u8,
    align: u8,
    /// Bytes of a channel's elements in memory.
    span: u8,
    address: RegOffset,
    /// What the indices are sums of: those that do not fit 32 bits the fast code does not know.
    extend: Extend,
    /// Added before scaling.
    base: Add,
    /// Added after scaling.
    origin: Add,
    offset: i64,
}

/// What addresses are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// 64 bits wide.
    Wide,
    /// 32-bit indices, extended by zeros.
    Unsigned,
    /// 32-bit indices, extended by their sign.
    Signed,
    /// 32-bit offsets of shared local memory.
    Slm,
    /// 32-bit offsets in another window.
    Window,
}

/// An unsigned scalar in a register: what is read there, of which the bits of `and` count.
#[derive(Clone, Copy, Debug)]
struct Add {
    at: RegOffset,
    and: u64,
}

impl Add {
    /// `None` if it is another kind of operand, or not followed by 8 bytes of a file of `len`. If `narrow`, only
    /// its low 32 bits matter.
    fn new(s: &Src, narrow: bool, len: u32) -> Option<Add> {
        let (at, and) = match *s {
            Src::None => (0, 0),
            Src::Reg { offset, ty, modifier: Modifier::None, .. } => match ty {
                Type::Ud => (offset, u32::MAX as u64),
                Type::D if narrow => (offset, u32::MAX as u64),
                Type::Uq | Type::Q => (offset, u64::MAX),
                _ => return None,
            },
            _ => return None,
        };
        (at as u64 + 8 <= len as u64).then_some(Add { at, and })
    }

    #[inline(always)]
    fn get(self, regs: &Registers) -> u64 {
        regs.get::<u64>(self.at) & self.and
    }
}

/// An addend of indices, for each channel.
#[inline(always)]
pub(super) fn addend<const N: usize>(of: Addend, regs: &Registers) -> [u64; N] {
    let dwords = |at: RegOffset| match of.scalar {
        true => [regs.get::<u32>(at); N],
        false => regs.load::<u32, N>(at),
    };
    let (low, upper) = (dwords(of.at), of.upper.map_or([0; N], dwords));
    std::array::from_fn(|i| of.value(low[i], upper[i]))
}

/// Is the sum of addends a dword with a sign, for all channels that run?
fn sum_fits_i32<const N: usize>(of: &[Addend], regs: &Registers, mask: u32) -> bool {
    let mut sum = [0u64; N];
    for a in of {
        let a = addend::<N>(*a, regs);
        (0..N).for_each(|i| sum[i] = sum[i].wrapping_add(a[i]));
    }
    (0..N).all(|i| mask >> i & 1 == 0 || i32::try_from(sum[i] as i64).is_ok())
}

/// What most messages reach.
#[derive(Clone, Copy)]
pub struct Reach<'a> {
    /// The address space.
    pub memory: &'a AddressMap,
    /// The group's shared local memory.
    pub slm: &'a Block,
}

/// What an engine knows of a message, as it executes it.
#[derive(Clone, Copy)]
pub(super) struct Site<'r, 'a> {
    pub near: Reach<'a>,
    /// Its space and all that it can reach, which is seldom wanted.
    pub far: &'r dyn Fn(&Registers) -> (&'a Space, Ports<'a>),
    pub regs: &'r Registers,
    /// The channels that are on.
    pub mask: u32,
    pub hint: &'r Hint,
}

/// The lanes of a message in the making.
struct Finding<'r, 'a, const N: usize>(&'r Addresses, Site<'r, 'a>);

impl<'a, const N: usize> PerLevel for Finding<'_, 'a, N> {
    type Out = Option<Lanes<'a, N>>;

    #[inline(always)]
    fn run<const L: u8>(self, _: Isa<L>) -> Option<Lanes<'a, N>> {
        self.0.find(self.1)
    }
}

impl Addresses {
    /// The lanes of a message; `None` if not all of them are known to be inside, and aligned.
    #[inline(always)]
    pub fn lanes<'a, const N: usize, const L: u8>(
        &self,
        isa: Isa<L>,
        site: Site<'_, 'a>,
    ) -> Option<Lanes<'a, N>> {
        isa.compile_apart(Finding(self, site))
    }

    #[inline(always)]
    fn find<'a, const N: usize>(&self, site: Site<'_, 'a>) -> Option<Lanes<'a, N>> {
        let Site { near, far, regs, mask, hint } = site;
        let add = (self.base.get(regs) << (self.shift & 31))
            .wrapping_add(self.origin.get(regs))
            .wrapping_add(self.offset as u64);
        let (span, on) = (self.span as usize, EnabledLanes { mask, bits: regs.channel_bits() });
        let lanes = match self.form {
            Form::Wide => {
                let a = near.memory.hinted_allocation(hint)?;
                let base = a.base.wrapping_sub(add);
                let at = regs.at::<u64, N>(self.address);
                Lanes::wide(&a.block, (base, self.shift as u32), at, on, span)?
            }
            Form::Unsigned | Form::Signed => {
                let a = near.memory.hinted_allocation(hint)?;
                let delta = add.wrapping_sub(a.base) as i64;
                let index = regs.at::<u32, N>(self.address);
                let of = self.extend.addends();
                if !of.is_empty() && !sum_fits_i32::<N>(of, regs, mask) {
                    return None;
                }
                let how = (delta, self.shift as u32, self.form == Form::Signed);
                Lanes::at_indices(&a.block, how, index, on, span)?
            }
            Form::Slm | Form::Window => {
                let (block, start, len, and) = if self.form == Form::Slm {
                    (near.slm, 0, near.slm.len(), SLM_MASK as u32)
                } else {
                    let (space, ports) = far(regs);
                    match resolve_target(space, regs, &ports) {
                        Ok(Target::Window(w)) => (w.block, w.start, w.len, w.mask as u32),
                        _ => return None,
                    }
                };
                let index = regs.at::<u32, N>(self.address);
                let how = (self.shift as u32, add as u32, and);
                Lanes::at_window_offsets(block, (start, len), how, index, on, span)?
            }
        };
        (self.align == 1 || lanes.aligned(self.align as u32)).then_some(lanes)
    }
}
