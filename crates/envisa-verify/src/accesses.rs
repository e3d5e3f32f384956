//! The bytes of variables that instructions read and write, for the lints.

use envisa_isa::desc::{Family, Role, SlotKind};
use envisa_isa::{Exec, Inst, Op, Operand};

use crate::context::Ctx;
use crate::operand::{dst_extent, region_extent};
use crate::operand_types::scalar_operands;

/// Bytes of a root variable that an operand touches, in the smallest register size asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub root: u32,
    pub start: u32,
    pub end: u32,
    pub write: bool,
    /// Index of the operand.
    pub at: usize,
    /// Known to touch every byte of the range.
    pub dense: bool,
}

/// All accesses of an object, by instruction: every lint walks them.
pub(crate) struct Accesses {
    list: Vec<Access>,
    /// Where each instruction's start; one more than there are instructions.
    starts: Vec<u32>,
}

impl Accesses {
    pub fn new(ctx: &Ctx, grf: u32) -> Accesses {
        let insts = &ctx.obj.insts;
        let mut list = Vec::with_capacity(insts.len() * 3);
        let mut starts = Vec::with_capacity(insts.len() + 1);
        starts.push(0);
        for inst in insts {
            for_each_variable_access(ctx, inst, grf, |a| list.push(a));
            starts.push(list.len() as u32);
        }
        Accesses { list, starts }
    }

    #[inline]
    pub fn for_each_access(&self, inst: usize, f: impl FnMut(Access)) {
        self.list[self.starts[inst] as usize..self.starts[inst + 1] as usize].iter().copied().for_each(f);
    }
}

/// Calls `f` with every access of an instruction to a declared general variable.
fn for_each_variable_access(ctx: &Ctx, inst: &Inst, grf: u32, mut f: impl FnMut(Access)) {
    let exec = ctx.exec(inst).map_or(1, Exec::channels);
    let family = inst.desc().family;
    let scalar = scalar_operands(family);
    for (k, slot, kind, op) in ctx.slot_operands(inst) {
        let (var, start, len, dense) = match (kind, op) {
            (SlotKind::Vector(_), Operand::General { var, row, col, region, .. }) => {
                let Some(info) = ctx.var(*var) else { continue };
                let size = info.ty.size();
                let start = *row as u32 * grf + *col as u32 * size;
                let (len, dense) = if scalar {
                    (size, true)
                } else if matches!(family, Family::Systolic) || inst.op == Op::AddrAdd || inst.op == Op::Plane
                {
                    (info.bytes[1].saturating_sub(start), false)
                } else if slot.role == Role::Write {
                    (dst_extent(*region, exec, size), region.hstride() == Some(1))
                } else {
                    (region_extent(*region, exec, size).unwrap_or(size), true)
                };
                let len = if inst.op == Op::Madw && slot.role == Role::Write {
                    info.bytes[1].saturating_sub(start)
                } else {
                    len
                };
                (*var, start, len, dense)
            }
            (SlotKind::Surface { .. } | SlotKind::Sampler { .. }, Operand::Handle { var, row, col, .. }) => {
                let Some(info) = ctx.var(*var) else { continue };
                let size = info.ty.size();
                (*var, *row as u32 * grf + *col as u32 * size, size, true)
            }
            (SlotKind::Raw { .. }, Operand::Raw { var, offset }) => {
                // Where the table cannot say how far it reaches, the rest of the variable is the safe
                // side of a write, its first byte of a read.
                let Some(info) = ctx.var(*var) else { continue };
                let start = *offset as u32;
                let len =
                    if slot.role == Role::Read { 1 } else { info.bytes[1].saturating_sub(start).max(1) };
                (*var, start, len, false)
            }
            _ => continue,
        };
        let Some(info) = ctx.var(var) else { continue };
        let start = info.offset.saturating_add(start);
        let access = Access {
            root: info.root,
            start,
            end: start.saturating_add(len.max(1)),
            write: slot.role == Role::Write,
            at: k,
            dense,
        };
        if slot.role == Role::ReadWrite {
            f(Access { write: true, ..access });
        }
        f(access);
    }
}
