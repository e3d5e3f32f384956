//! Messages and matrices of the function being lowered.

use envisa_isa::operation::Message as Kind;
use envisa_isa::systolic::{Matrices, SCALE_STRIDE};
use envisa_isa::{Inst as IsaInst, Operand, Platform, Type};

use crate::kernel::FunctionLowering;
use crate::messages::{
    Decoded, Message, Parts, Reason, Register, Resolver, decode, element, raw, systolic_operands,
};
use crate::program::*;

/// What a raw send with immediate descriptors is, if it is no message that accesses memory.
pub(crate) fn without_memory(f: &mut FunctionLowering, isa: &IsaInst, kind: Kind) -> Option<Decoded> {
    let Kind::Raw { split } = kind else { return None };
    let parts = Parts::new(f.o, isa, f.grf);
    match raw::decode_send(split, &parts, f) {
        Ok(Ok(Decoded::Message(_)) | Err(_)) | Err(_) => None,
        Ok(Ok(other)) => Some(other),
    }
}

/// Lowers a message of the function being lowered.
pub(crate) fn lower_message(f: &mut FunctionLowering, isa: &IsaInst, kind: Kind) -> Result<Message, Reason> {
    let parts = Parts::new(f.o, isa, f.grf);
    decode(kind, &parts, f)
}

impl Resolver for FunctionLowering<'_> {
    fn platform(&self) -> Platform {
        self.program.platform
    }

    fn grf(&self) -> u32 {
        self.grf
    }

    fn raw(&mut self, register: Register) -> Result<Option<RegOffset>, Reason> {
        FunctionLowering::raw(self, register.op, register.bytes()?)
    }

    fn scalar(&mut self, op: Operand) -> Result<Src, Reason> {
        self.lower_source(op, 1)
    }

    fn element(&self, op: Operand) -> Type {
        element(self.o, self.grf, op)
    }

    fn surface(&mut self, id: u16) -> Result<Src, Reason> {
        self.lower_source(Operand::State { class: envisa_isa::StateClass::Surface, id, offset: 0 }, 1)
    }

    fn sampler(&mut self, id: u16) -> Result<Src, Reason> {
        self.lower_source(Operand::State { class: envisa_isa::StateClass::Sampler, id, offset: 0 }, 1)
    }
}

/// Lowers DPAS: operands are offsets, the rest is in `aux`.
pub(crate) fn lower_dpas(
    f: &mut FunctionLowering,
    isa: &IsaInst,
    op: Op,
    mut inst: Inst,
) -> Result<(), Reason> {
    let parts = Parts::new(f.o, isa, f.grf);
    let [dst, acc, weights, activations] = systolic_operands(&parts, f)?;
    let (dst_ty, acc_ty) = (f.element(parts.raw(0)?.op), f.element(parts.raw(1)?.op));
    let reg = |at: Option<RegOffset>, ty| match at {
        None => Src::None,
        Some(offset) => Src::Reg {
            offset,
            ty,
            strides: crate::inst::Strides::CONTIGUOUS,
            shape: crate::inst::Shape::Contiguous,
            modifier: crate::inst::Modifier::None,
            constant: false,
        },
    };
    inst.op = op;
    inst.exec = ExecType::None;
    inst.dst = match dst {
        Some(offset) => Dst::Reg { offset, ty: dst_ty, stride: 1, sat: false },
        None => Dst::None,
    };
    inst.src = [reg(acc, acc_ty), reg(weights, Type::Ud), reg(activations, Type::Ud), Src::None];
    inst.aux = parts.int(0)?;
    if op == Op::Bdpas {
        let scales = f.layout.carry;
        gather_scales(f, &parts, &inst, scales)?;
        inst.src[3] = reg(Some(scales), Type::Ub);
    }
    f.program.code.push(inst);
    Ok(())
}

/// Copies the scales of BDPAS to one place: by block, those of the weights, then those of the activations.
fn gather_scales(
    f: &mut FunctionLowering,
    parts: &Parts,
    inst: &Inst,
    mut to: RegOffset,
) -> Result<(), Reason> {
    let m = Matrices::of(inst.aux).ok_or("its precisions are not valid")?;
    for (operand, each) in [(4, inst.channels as u32), (5, m.repeats)] {
        if !each.is_power_of_two() {
            return Err(format!("{each} repeats: 8 are expected"));
        }
        let from = FunctionLowering::raw(f, parts.raw(operand)?.op, m.scale_bytes(each))?;
        for block in 0..m.blocks() {
            let src = match from {
                // 2^0.
                None => f.constant(Type::Ub, 127),
                Some(at) => {
                    let strides = crate::inst::Strides::CONTIGUOUS;
                    Src::Reg {
                        offset: at + block * SCALE_STRIDE,
                        ty: Type::Ub,
                        strides,
                        shape: strides.shape(each),
                        modifier: Modifier::None,
                        constant: false,
                    }
                }
            };
            let mut copy = Inst {
                op: Op::Mov,
                channels: each as u8,
                first: 0,
                no_mask: true,
                dst: Dst::Reg { offset: to, ty: Type::Ub, stride: 1, sat: false },
                src: [src, Src::None, Src::None, Src::None],
                aux: 0,
                ..*inst
            };
            copy.facts.auxiliary = true;
            f.push_instruction(copy)?;
            to += each;
        }
    }
    Ok(())
}
