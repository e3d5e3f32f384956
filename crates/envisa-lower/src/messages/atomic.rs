//! Atomic messages: SVM_ATOMIC, DWORD_ATOMIC, LSC atomics.

use envisa_isa::atomic::AtomicOp;
use envisa_isa::lsc;
use envisa_isa::operation::LscShape;

use super::Reason;
use super::untyped::{lsc_fields, required_offset};
use super::{Extend, Message, Parts, Resolver, Space};
use crate::inst::Src;
use crate::registers::RegOffset;

/// Each channel reads, modifies and writes one element.
#[derive(Clone, PartialEq, Debug)]
pub struct Atomic {
    /// Which memory.
    pub space: Space,
    /// The operator's code.
    pub code: u8,
    /// Is the code an LSC sub-opcode (else one of the legacy messages')?
    pub lsc: bool,
    /// Bytes of the element: 2, 4 or 8.
    pub element: u8,
    /// Bytes an element takes in a register: 4 or 8.
    pub slot: u8,
    /// First channel's address.
    pub address: RegOffset,
    /// Bytes of an address: 2, 4 or 8; 0 for what has none, a surface's append counter.
    pub address_bytes: u8,
    /// How 4-byte addresses become 64-bit ones, before anything is added.
    pub extend: Extend,
    /// Added to every address, before scaling.
    pub base: Src,
    /// Factor of the sum.
    pub scale: u32,
    /// Added after scaling. Sums of 2- and 4-byte addresses are of 32 bits, unless they are extended.
    pub offset: i64,
    /// A scalar added after scaling.
    pub origin: Src,
    /// Data operands.
    pub src: [Option<RegOffset>; 2],
    /// Old values; `None`: dropped.
    pub dst: Option<RegOffset>,
}

/// The legacy operator byte: bits 0 to 4 the operator, 5: 16 bits, 6: 64 bits.
fn decode_legacy_operator(op: u32) -> (u8, u8, u8) {
    match op >> 5 & 3 {
        1 => (op as u8 & 31, 2, 4),
        2 => (op as u8 & 31, 8, 8),
        _ => (op as u8 & 31, 4, 4),
    }
}

/// SVM_ATOMIC: addresses, src0, src1, dst.
pub(super) fn lower_svm_atomic(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let (code, element, slot) = decode_legacy_operator(p.int(0)?);
    Ok(Message::Atomic(Atomic {
        space: Space::Flat,
        code,
        lsc: false,
        element,
        slot,
        address: required_offset(r, p.raw(0)?, "addresses")?,
        address_bytes: 8,
        extend: Extend::None,
        base: Src::None,
        scale: 1,
        offset: 0,
        origin: Src::None,
        src: [r.raw(p.raw(1)?)?, r.raw(p.raw(2)?)?],
        dst: r.raw(p.raw(3)?)?,
    }))
}

/// DWORD_ATOMIC: offsets, src0, src1, dst.
pub(super) fn lower_dword_atomic(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let (code, element, slot) = decode_legacy_operator(p.int(0)?);
    Ok(Message::Atomic(Atomic {
        space: p.space(r)?,
        code,
        lsc: false,
        element,
        slot,
        address: required_offset(r, p.raw(0)?, "offsets")?,
        address_bytes: 4,
        extend: Extend::None,
        base: Src::None,
        scale: 1,
        offset: 0,
        origin: Src::None,
        src: [r.raw(p.raw(1)?)?, r.raw(p.raw(2)?)?],
        dst: r.raw(p.raw(3)?)?,
    }))
}

/// LSC atomics: dst, addresses, src0, src1.
pub(super) fn of_lsc(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let l = lsc_fields(LscShape::Vector, p, r)?;
    if l.elements != 1 || l.transposed || l.element == 1 || l.upper {
        return Err("an atomic changes one element of 16, 32 or 64 bits a channel".into());
    }
    if AtomicOp::from_lsc_subop(p.sub).is_some_and(AtomicOp::is_bf) && l.element != 2 {
        return Err("a brain float has 16 bits".into());
    }
    let optional = |r: &mut dyn Resolver, i: usize| match p.raws.get(i) {
        Some(register) => r.raw(*register),
        None => Ok(None),
    };
    Ok(Message::Atomic(Atomic {
        space: l.space,
        code: p.sub,
        lsc: true,
        element: l.element as u8,
        slot: l.slot as u8,
        address: required_offset(r, p.raw(1)?, "addresses")?,
        address_bytes: l.address_bytes as u8,
        extend: l.extend,
        base: Src::None,
        scale: l.scale,
        offset: l.offset,
        origin: l.origin,
        src: [optional(r, 2)?, optional(r, 3)?],
        dst: optional(r, 0)?,
    }))
}

/// LSC_APNDCTR_ATOMIC_*: dst, src0; the surface alone says where.
pub(super) fn lower_append_counter(p: &Parts, r: &mut dyn Resolver) -> Result<Message, Reason> {
    let code = p.int(4)?;
    let size = lsc::data_size(code).filter(|s| s.memory == 4 && s.register == 4);
    let size = size.ok_or("an append counter has 32 bits")?;
    if lsc::elements(p.int(6)?) != Some(1) || lsc::is_transposed(p.int(5)?) {
        return Err("an append counter changes by one element a channel".into());
    }
    if p.int(9)? != 0 {
        return Err("an index behind the surface's handle is not supported".into());
    }
    let surface = r.scalar(p.vector(0)?)?;
    let space = match p.int(3)? {
        lsc::addr_type::BTI => Space::Counter(surface),
        lsc::addr_type::BSS | lsc::addr_type::SURF => Space::HandleCounter(surface),
        lsc::addr_type::SS => {
            return Err("the surface states of the hardware's own heap are not known".into());
        }
        k => {
            return Err(format!("an append counter belongs to a surface, which the address type {k} is not"));
        }
    };
    // What they do is what atomics do by another number: add, subtract, store.
    let code = match p.sub {
        0x28 => 0x0c,
        0x29 => 0x0d,
        _ => 0x0b,
    };
    Ok(Message::Atomic(Atomic {
        space,
        code,
        lsc: true,
        element: size.memory as u8,
        slot: size.register as u8,
        address: 0,
        address_bytes: 0,
        extend: Extend::None,
        base: Src::None,
        scale: 1,
        offset: 0,
        origin: Src::None,
        src: [r.raw(p.raw(1)?)?, None],
        dst: r.raw(p.raw(0)?)?,
    }))
}
