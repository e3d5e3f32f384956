//! Finds the memory that a message's addresses refer to, and reports accesses out of bounds.

use envisa_isa::{Modifier, Type};
use envisa_lower::{SCRATCH_STATE, Space, Src};

use super::{Access, AccessKind, AccessSpace, Fault, FaultKind, MemoryObserver, Ports};
use crate::memory::{AddressMap, Allocation, Block, Bound, BufferSurface, Hint, Image, Surface};
use crate::register_file::{Registers, resolve_indirect};

/// SLM pointers carry a bias in bit 28, so that none is null.
pub(super) const SLM_MASK: u64 = 0x0fff_ffff;

/// The bytes that a message's offsets fall in.
#[derive(Clone, Copy)]
pub(super) struct Window<'a> {
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
    /// Virtual address of the window's first byte, if it has one.
    pub base: Option<u64>,
    /// What lies outside is a fault.
    pub strict: bool,
}

impl Window<'_> {
    /// Place in the block of `n` bytes at an offset (which was masked); `None` outside.
    #[inline(always)]
    pub fn at(&self, offset: u64, n: usize) -> Option<usize> {
        if offset <= self.len as u64 && n <= self.len - offset as usize {
            Some(self.start + offset as usize)
        } else {
            None
        }
    }
}

/// Where a message goes.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    /// Virtual addresses.
    Flat,
    /// A window.
    Window(Window<'a>),
    /// Nothing is bound at this index: reads give zero, writes are dropped.
    Nothing(u32),
}

impl<'a> Target<'a> {
    /// Bits of an address that count.
    #[inline(always)]
    pub fn mask(&self) -> u64 {
        match self {
            Target::Window(w) => w.mask,
            _ => u64::MAX,
        }
    }

    /// What reports call it.
    pub fn space(&self) -> AccessSpace {
        match self {
            Target::Flat => AccessSpace::Flat,
            Target::Window(w) => w.space,
            Target::Nothing(bti) => AccessSpace::Surface(*bti),
        }
    }

    /// The virtual address of what is at an address inside, if it has one.
    pub fn place(&self, address: u64) -> Option<u64> {
        match self {
            Target::Flat => Some(address),
            Target::Window(w) => w.base.map(|b| b + address),
            Target::Nothing(_) => None,
        }
    }

    /// Finds `bytes` bytes at an address (which was masked), and tells the observer; `None` if they are
    /// outside of a surface.
    ///
    /// # Errors
    /// If they are outside of where that is a fault.
    #[inline(always)]
    pub fn find<O: MemoryObserver>(
        &self,
        memory: &'a AddressMap,
        site: &mut Hint,
        (address, bytes): (u64, u32),
        (kind, channel): (AccessKind, u32),
        obs: &mut O,
    ) -> Result<Option<(&'a Block, usize)>, Fault> {
        let n = bytes as usize;
        let (found, place) = match self {
            Target::Flat => match memory.find(address, n, kind != AccessKind::Read, site) {
                Some(l) => (Some((l.block, l.offset)), Some(address)),
                None => (None, None),
            },
            Target::Window(w) => match w.at(address, n) {
                Some(at) => (Some((w.block, at)), w.base.map(|b| b + address)),
                None => (None, None),
            },
            Target::Nothing(_) => (None, None),
        };
        if found.is_none() && self.faults_outside() {
            return Err(self.outside_fault(address, bytes, kind, channel));
        }
        if O::ACTIVE || found.is_none() {
            let access = Access {
                channel: channel as u8,
                space: self.space(),
                address,
                place,
                bytes,
                kind,
                outside: found.is_none(),
            };
            if O::ACTIVE {
                obs.access(&access);
            } else {
                obs.dropped(&access);
            }
        }
        Ok(found)
    }

    /// Is what lies outside a fault?
    #[inline(always)]
    pub fn faults_outside(&self) -> bool {
        match self {
            Target::Flat => true,
            Target::Window(w) => w.strict,
            Target::Nothing(_) => false,
        }
    }

    /// The fault of an access outside.
    #[cold]
    pub fn outside_fault(&self, address: u64, bytes: u32, kind: AccessKind, channel: u32) -> Fault {
        Fault { kind: FaultKind::Outside(kind), channel: Some(channel), space: self.space(), address, bytes }
    }

    /// The fault of an access that is not aligned.
    #[cold]
    pub fn misaligned_fault(&self, address: u64, bytes: u32, align: u32, channel: u32) -> Fault {
        Fault {
            kind: FaultKind::Misaligned(align),
            channel: Some(channel),
            space: self.space(),
            address,
            bytes,
        }
    }
}

fn clip(block: &Block, start: u64, len: u64, strict: bool) -> Window<'_> {
    let start = usize::try_from(start).unwrap_or(usize::MAX).min(block.len());
    let len = usize::try_from(len).unwrap_or(usize::MAX).min(block.len() - start);
    Window { block, start, len, mask: u64::MAX, space: AccessSpace::State, base: None, strict }
}

/// Finds where a message goes.
///
/// # Errors
/// If the space is one the virtual GPU does not have.
#[inline(always)]
pub(super) fn resolve_target<'a>(
    space: &Space,
    regs: &Registers,
    ports: &Ports<'a>,
) -> Result<Target<'a>, Fault> {
    match space {
        Space::Flat => Ok(Target::Flat),
        Space::Slm => Ok(Target::Window(Window {
            block: ports.slm,
            start: 0,
            len: ports.slm.len(),
            mask: SLM_MASK,
            space: AccessSpace::Slm,
            base: None,
            strict: false,
        })),
        Space::Bti(src) => surface(scalar(src, regs, ports)? as u32, ports),
        other => resolve_rare_target(other, regs, ports),
    }
}

#[inline(always)]
fn surface<'a>(bti: u32, ports: &Ports<'a>) -> Result<Target<'a>, Fault> {
    match ports.surfaces.get(bti) {
        Bound { surface: Surface::Buffer(b), allocation: Some(a) } => Ok(Target::Window(Window {
            block: &a.block,
            start: b.start,
            len: b.len,
            mask: u64::MAX,
            space: AccessSpace::Surface(bti),
            base: Some(a.base + b.start as u64),
            strict: false,
        })),
        Bound { surface: Surface::None, .. } | Bound { allocation: None, .. } => Ok(Target::Nothing(bti)),
        Bound { surface: Surface::Image(_), .. } => Err(Fault {
            space: AccessSpace::Surface(bti),
            ..Fault::unsupported("an image is bound where the message accesses a buffer")
        }),
    }
}

/// What an append counter lies in; no access to it can be outside but of a buffer that is too small.
fn append_counter<'a>(bti: u32, ports: &Ports<'a>) -> Result<Target<'a>, Fault> {
    let space = AccessSpace::Counter(bti);
    match ports.surfaces.counter(bti) {
        Some((b, a)) => Ok(Target::Window(buffer(b, a, space))),
        None => Err(Fault { space, ..Fault::unsupported("the launch gave the surface no append counter") }),
    }
}

/// A buffer in which what is outside is a fault.
pub(super) fn buffer<'a>(b: &BufferSurface, a: &'a Allocation, space: AccessSpace) -> Window<'a> {
    let base = Some(a.base + b.start as u64);
    Window { block: &a.block, start: b.start, len: b.len, mask: u64::MAX, space, base, strict: true }
}

/// The binding-table index behind a bindless handle.
///
/// # Errors
/// If the launch gave no such handle out: also the handle of NULL.
fn binding_of_handle(handle: u64, ports: &Ports<'_>) -> Result<u32, Fault> {
    let index = u32::try_from(handle).ok().and_then(|handle| ports.surfaces.index_of_handle(handle));
    index.ok_or(Fault { address: handle, ..Fault::unsupported("the launch has no such surface handle") })
}

#[cold]
fn resolve_rare_target<'a>(space: &Space, regs: &Registers, ports: &Ports<'a>) -> Result<Target<'a>, Fault> {
    match space {
        // T5: what the pages say of surfaces holds for it too.
        Space::GeneralState => Ok(Target::Window(clip(ports.window, 0, u64::MAX, false))),
        Space::Scratch(src) => {
            // The handle is r0.5 shifted right by 4; its low 6 bits are not part of it.
            let handle = scalar(src, regs, ports)? as u32;
            if handle >> 6 != ports.scratch >> 10 {
                return Err(Fault {
                    space: AccessSpace::State,
                    address: handle as u64,
                    ..Fault::unsupported("a surface handle other than that of the thread's own scratch")
                });
            }
            let start = (ports.scratch & !0x3ff) as u64;
            Ok(Target::Window(clip(ports.window, start, ports.scratch_bytes, false)))
        }
        Space::Counter(src) => append_counter(scalar(src, regs, ports)? as u32, ports),
        Space::HandleCounter(src) => {
            append_counter(binding_of_handle(scalar(src, regs, ports)?, ports)?, ports)
        }
        Space::Arguments => {
            let base = (ports.implicit & !(ports.grf_bytes.max(1) - 1)) as u64;
            Ok(Target::Window(clip(ports.window, base, u64::MAX, true)))
        }
        Space::Bindless(src) if scalar(src, regs, ports)? & !0x3f == SCRATCH_STATE => {
            let start = (ports.scratch & !0x3ff) as u64;
            Ok(Target::Window(clip(ports.window, start, ports.scratch_bytes, false)))
        }
        Space::Bindless(src) => surface(binding_of_handle(scalar(src, regs, ports)?, ports)?, ports),
        Space::Table(bti) => surface(*bti, ports),
        Space::Handle(handle) => surface(binding_of_handle((*handle).into(), ports)?, ports),
        Space::Flat | Space::Slm | Space::Bti(_) => resolve_target(space, regs, ports),
    }
}

/// What a typed message goes to: an image with the allocation of its texels.
#[derive(Clone, Copy)]
pub(super) enum TypedTarget<'a> {
    /// An image.
    Image(u32, &'a Image, &'a Block, u64),
    /// Nothing is bound.
    Nothing,
}

/// Finds the image of a typed message.
///
/// # Errors
/// If a buffer is bound, or the space has no surfaces.
pub(super) fn resolve_typed<'a>(
    space: &Space,
    regs: &Registers,
    ports: &Ports<'a>,
) -> Result<TypedTarget<'a>, Fault> {
    let bti = match space {
        Space::Bti(src) => scalar(src, regs, ports)? as u32,
        Space::Bindless(src) => binding_of_handle(scalar(src, regs, ports)?, ports)?,
        Space::Table(bti) => *bti,
        Space::Handle(handle) => binding_of_handle((*handle).into(), ports)?,
        _ => return Err(Fault::unsupported("typed messages need an image")),
    };
    match ports.surfaces.get(bti) {
        Bound { surface: Surface::Image(i), allocation: Some(a) } => {
            Ok(TypedTarget::Image(bti, i, &a.block, a.base))
        }
        Bound { surface: Surface::None, .. } | Bound { allocation: None, .. } => Ok(TypedTarget::Nothing),
        Bound { surface: Surface::Buffer(_), .. } => Err(Fault {
            space: AccessSpace::Surface(bti),
            ..Fault::unsupported("a buffer is bound where the message accesses an image")
        }),
    }
}

/// A scalar operand, sign-extended where its type is signed.
///
/// # Errors
/// If a register address names no variable, or the type is not an integer.
#[inline(always)]
pub(super) fn scalar(src: &Src, regs: &Registers, ports: &Ports<'_>) -> Result<u64, Fault> {
    match *src {
        Src::None => Ok(0),
        Src::Reg { offset, ty: Type::Ud, modifier: Modifier::None, .. } => Ok(regs.get::<u32>(offset) as u64),
        Src::Reg { offset, ty: Type::Uq, modifier: Modifier::None, .. } => Ok(regs.get::<u64>(offset)),
        _ => rare_scalar(src, regs, ports),
    }
}

#[cold]
fn rare_scalar(src: &Src, regs: &Registers, ports: &Ports<'_>) -> Result<u64, Fault> {
    let (offset, ty, modifier) =
        match *src {
            Src::None => return Ok(0),
            Src::Reg { offset, ty, modifier, .. } => (offset, ty, modifier),
            Src::Indirect { address, bytes, ty, modifier, .. } => {
                let at: u16 = regs.peek(address);
                let offset = resolve_indirect(ports.layout, at, bytes, ty.size()).map_err(|address| {
                    Fault { kind: FaultKind::Indirect, address: address as u64, ..Fault::unsupported("") }
                })?;
                (offset, ty, modifier)
            }
            Src::Pred { .. } => return Err(Fault::unsupported("a predicate as a scalar operand")),
        };
    let x = match ty {
        Type::Ub | Type::Bool => regs.peek::<u8>(offset) as i64,
        Type::B => regs.peek::<i8>(offset) as i64,
        Type::Uw => regs.peek::<u16>(offset) as i64,
        Type::W => regs.peek::<i16>(offset) as i64,
        Type::Ud => regs.peek::<u32>(offset) as i64,
        Type::D => regs.peek::<i32>(offset) as i64,
        Type::Uq | Type::Q => regs.peek::<i64>(offset),
        _ => return Err(Fault::unsupported("a scalar operand of a type that is not an integer")),
    };
    Ok(match modifier {
        Modifier::Neg => x.wrapping_neg(),
        Modifier::Abs => x.wrapping_abs(),
        Modifier::NegAbs => x.wrapping_abs().wrapping_neg(),
        Modifier::Not => !x,
        _ => x,
    } as u64)
}
