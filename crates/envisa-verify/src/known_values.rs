//! Values that are provably equal, and places that are provably out of bounds, block by block.

use std::collections::HashMap;

use envisa_isa::desc::{Effect, Family, Role, SlotKind};
use envisa_isa::footprint::packed_channels;
use envisa_isa::lsc::data_size;
use envisa_isa::{Exec, Inst, Op, Operand, Region, SlotName, Type};

use crate::accesses::Accesses;
use crate::block_facts::Recent;
use crate::context::Ctx;
use crate::divergence::Diverged;
use crate::flow::is_predicated;
use crate::{Code, Finding, lsc, memory};

/// What is known of a variable's contents within a block.
#[derive(Clone, Copy)]
struct Known {
    /// So many channels, from the variable's start, hold the same value.
    channels: u32,
    /// The value, if it is a constant.
    value: Option<u64>,
    /// From here.
    inst: usize,
}

/// Where an address variable's first element points.
#[derive(Clone, Copy)]
struct Pointer {
    var: u32,
    /// Byte in the variable.
    at: i64,
    /// Made here.
    inst: usize,
}

type Uniform = Recent<Known>;

pub(crate) fn check(ctx: &mut Ctx, list: &Accesses, grf: u32, diverged: &Diverged) {
    let obj = ctx.obj;
    let mut uniform = Uniform::new(ctx.vars.len());
    let mut points: HashMap<u16, Pointer> = HashMap::new();
    let slm_bytes =
        obj.attr("SLMSize").and_then(|a| a.int()).map(|kb| (kb as u64).next_power_of_two() * 1024);
    for (i, inst) in obj.insts.iter().enumerate() {
        ctx.inst = Some(i);
        let desc = inst.desc();
        if desc.family == Family::ControlFlow {
            uniform.clear();
            points.clear();
            continue;
        }
        // Where channels have diverged, it may be one that stores.
        if desc.effect == Effect::Write && diverged.diverging_branch(i as u32).is_none() {
            same_offsets(ctx, inst, &uniform);
        }
        if let Some(bytes) = slm_bytes.filter(|b| *b > 0) {
            slm_bounds(ctx, inst, bytes, &uniform);
        }
        record_indirect_accesses(ctx, inst, &points, grf);
        let result = uniform_result(ctx, inst, &uniform);
        let mut escaped = false;
        for (_, slot, _, op) in ctx.slot_operands(inst) {
            match *op {
                // Whatever the address points at.
                Operand::Indirect { .. } if slot.role != Role::Read => escaped = true,
                Operand::Address { id, .. } if slot.role != Role::Read && inst.op != Op::AddrAdd => {
                    points.remove(&id);
                }
                _ => {}
            }
        }
        if escaped {
            uniform.clear();
        }
        list.for_each_access(i, |a| {
            if a.write {
                uniform.remove(a.root);
            }
        });
        if let Some((root, channels, value)) = result {
            uniform.insert(root, Known { channels, value, inst: i });
        }
        if inst.op == Op::AddrAdd {
            address(ctx, inst, &mut points, i, grf);
        }
    }
}

/// Does the instruction write one value to all channels of a variable? The variable, the channels, and the
/// value where it is constant.
fn uniform_result(ctx: &Ctx, inst: &Inst, uniform: &Uniform) -> Option<(u32, u32, Option<u64>)> {
    let desc = inst.desc();
    let exec = ctx.exec(inst).filter(|e| e.log2 > 0)?;
    let pure = desc.effect == Effect::None
        && matches!(desc.family, Family::Arithmetic | Family::Logic | Family::Math)
        && !matches!(inst.op, Op::Plane | Op::Madw | Op::Addc | Op::Subb);
    if !(pure || inst.op == Op::Mov) || is_predicated(ctx, inst) {
        return None;
    }
    let mut dst = None;
    let mut value = None;
    for (_, slot, kind, op) in ctx.slot_operands(inst) {
        if !matches!(kind, SlotKind::Vector(_)) {
            continue;
        }
        if slot.role != Role::Read {
            let Operand::General { var, row: 0, col: 0, region, .. } = *op else { return None };
            let info = ctx.var(var).filter(|v| v.offset == 0 && region.hstride() == Some(1))?;
            dst = Some(info);
            continue;
        }
        match *op {
            Operand::Imm { ty, bits } if !ty.is_packed() => {
                if inst.op == Op::Mov {
                    value = dst.and_then(|d| constant(ty, bits, d.ty));
                }
            }
            Operand::General { region, .. } if region == Region::SCALAR => {}
            Operand::General { var, row: 0, col: 0, .. } => {
                let info = ctx.var(var).filter(|v| v.offset == 0)?;
                uniform.get(info.root).filter(|k| k.channels >= exec.channels())?;
            }
            _ => return None,
        }
    }
    Some((dst?.root, exec.channels(), value))
}

/// A constant as the unsigned integer that a dword or qword destination holds.
fn constant(ty: Type, bits: u64, to: Type) -> Option<u64> {
    let small = ty.is_int() && to.is_int() && to.size() >= 4;
    (small && (ty.size() == to.size() || bits < 0x8000)).then_some(bits)
}

/// Follows ADDR_ADD.
fn address(ctx: &Ctx, inst: &Inst, points: &mut HashMap<u16, Pointer>, i: usize, grf: u32) {
    let ops = ctx.obj.ops(inst);
    let Some(Operand::Address { id, offset, .. }) = ops.get(1).copied() else { return };
    let base = match ops.get(2) {
        Some(Operand::AddressOf { var, offset }) => Some((*var, *offset as i64)),
        Some(Operand::General { var, row, col, .. }) => {
            ctx.var(*var).map(|v| (*var, (*row as u32 * grf + *col as u32 * v.ty.size()) as i64))
        }
        Some(Operand::Address { id, offset: 0, .. }) => points.get(id).map(|p| (p.var, p.at)),
        _ => None,
    };
    points.remove(&id);
    if let (0, Some((var, at)), Some(Operand::Imm { ty, bits })) = (offset, base, ops.get(3))
        && !ty.is_packed()
    {
        points.insert(id, Pointer { var, at: at + (*bits as u16) as i64, inst: i });
    }
}

fn same_offsets(ctx: &mut Ctx, inst: &Inst, uniform: &Uniform) {
    let obj = ctx.obj;
    let offsets = [SlotName::ElementOffset, SlotName::Addresses, SlotName::Offset, SlotName::Addr];
    let channels = match ctx.exec(inst) {
        Some(e) => e.channels(),
        None => match packed_channels(inst.desc(), obj.ops(inst)) {
            Some(n) => n,
            None => return,
        },
    };
    // A strided message adds a step of its own.
    if channels < 2 || is_predicated(ctx, inst) || inst.desc().slot_index(SlotName::Stride).is_some() {
        return;
    }
    for (k, slot, _, op) in ctx.slot_operands(inst) {
        let Operand::Raw { var, offset: 0 } = *op else { continue };
        if !offsets.contains(&slot.name) || slot.role != Role::Read {
            continue;
        }
        let Some(info) = ctx.var(var) else { continue };
        let Some(known) = uniform.get(info.root) else { continue };
        if info.offset != 0 || known.channels < channels {
            continue;
        }
        // One value for all channels to one place is legal, if odd; different values are lost.
        let same = |name| match ctx.slot(inst, name) {
            Some((Operand::Raw { var, .. }, _)) => {
                ctx.var(var).is_some_and(|v| uniform.get(v.root).is_some())
            }
            _ => false,
        };
        if same(SlotName::Src) || same(SlotName::Src1) {
            continue;
        }
        let f = Finding::new(
            Code::SCATTER_SAME_OFFSET,
            ctx.on,
            obj.op_span(inst, k),
            format!("all {channels} channels write to the same place"),
        );
        let at = obj.insts[known.inst].span;
        ctx.push(f.also(at, "one value for all channels"));
    }
}

/// Constant offsets into shared local memory of a known size.
fn slm_bounds(ctx: &mut Ctx, inst: &Inst, bytes: u64, uniform: &Uniform) {
    let constant = |op: &Operand| match *op {
        Operand::Imm { bits, .. } => Some(bits),
        Operand::Raw { var, offset: 0 } => {
            let info = ctx.var(var).filter(|v| v.offset == 0)?;
            uniform.get(info.root)?.value
        }
        _ => None,
    };
    let mut first = 0u64;
    let mut at = None;
    let mut size = 1;
    if lsc::is_slm(ctx, inst) {
        let Some((op, span)) = ctx.slot(inst, SlotName::Addr) else { return };
        let Some(n) = constant(&op) else { return };
        let scale = ctx.field_value(inst, SlotName::ImmScale).unwrap_or(1).max(1) as u64;
        let offset = ctx.field_value(inst, SlotName::ImmOffset).unwrap_or(0) as i32;
        let Some(sum) = n.checked_mul(scale).and_then(|n| n.checked_add_signed(offset as i64)) else {
            return;
        };
        let element =
            ctx.field_value(inst, SlotName::DataSize).and_then(data_size).map_or(1, |size| size.memory);
        size = element as u64 * lsc::elements(ctx, inst) as u64;
        (first, at) = (sum, Some(span));
    } else if ctx.obj.ops(inst).iter().any(memory::is_slm) {
        let unit: u64 = match inst.op {
            Op::OwordLd | Op::OwordSt => 16,
            Op::Gather | Op::Scatter => 1 << ctx.field_value(inst, SlotName::EltSize).unwrap_or(0).min(2),
            _ => 1,
        };
        for name in [SlotName::Offset, SlotName::GlobalOffset, SlotName::ElementOffset] {
            if let Some((op, span)) = ctx.slot(inst, name)
                && let Some(n) = constant(&op)
            {
                first = first.saturating_add(n.saturating_mul(unit));
                at = Some(span);
            }
        }
    }
    let Some(span) = at else { return };
    if first >= bytes || first + size > bytes {
        let last = first.saturating_add(size - 1);
        let message = format!("the access reaches byte {last} of {bytes} bytes of shared local memory");
        ctx.push(Finding::new(Code::OUT_OF_BOUNDS, ctx.on, span, message));
    }
}

/// Indirect accesses through an address known in this block.
fn record_indirect_accesses(ctx: &mut Ctx, inst: &Inst, points: &HashMap<u16, Pointer>, grf: u32) {
    let obj = ctx.obj;
    let exec = ctx.exec(inst).map_or(1, Exec::channels);
    for (k, slot, _, op) in ctx.slot_operands(inst) {
        let Operand::Indirect { addr, offset: 0, byte_offset, ty, region, .. } = *op else { continue };
        let Some(p) = points.get(&addr).copied() else { continue };
        let Some(info) = ctx.var(p.var) else { continue };
        let index = usize::from(grf == 64);
        let size = ty.size();
        // With an address for each row only the first row's place is known.
        let bytes = if crate::operand_types::scalar_operands(inst.desc().family) {
            size
        } else if slot.role == Role::Write {
            crate::operand::dst_extent(region, exec, size)
        } else if region.vstride().is_some() {
            crate::operand::region_extent(region, exec, size).unwrap_or(size)
        } else {
            size
        };
        let first = p.at + byte_offset as i64;
        let room = (info.root_bytes[index] - info.offset.min(info.root_bytes[index])) as i64;
        let made = obj.insts[p.inst].span;
        let span = obj.op_span(inst, k);
        if first < 0 || first + bytes as i64 > room {
            let byte = if first < 0 { first } else { first + bytes as i64 - 1 };
            let message =
                format!("the access reaches byte {byte} of `{}`, which has {room}", obj.var_name(p.var));
            let f = Finding::new(Code::OUT_OF_BOUNDS, ctx.on, span, message);
            ctx.push(f.also(made, "the address is made here"));
            continue;
        }
        // Where the variable itself starts is known as far as its alignment says.
        let aligned = match obj.var(info.root) {
            _ if info.root_bytes[index] >= grf => grf,
            Some(v) => v.align.bytes(grf).max(v.ty.size()),
            None => grf,
        };
        let place = info.offset as i64 + first;
        if size <= aligned && place % size as i64 != 0 {
            let message = format!(
                "an operand of type {} begins at byte {first} of `{}`",
                ty.name(),
                obj.var_name(p.var)
            );
            let f = Finding::new(Code::INDIRECT_MISALIGNED, ctx.on, span, message);
            ctx.push(f.also(made, "the address is made here").help(format!("a multiple of {size}")));
        }
    }
}
