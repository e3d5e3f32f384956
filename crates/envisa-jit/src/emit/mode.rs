//! The floating-point mode: native code computes in that of IEEE only.

use envisa_isa::Modifier;
use envisa_lower::analysis::Flow;
use envisa_lower::{Dst, ExecType, Op, Pc, Program, Src};

/// Where code sets the floating-point mode.
fn sets_mode(p: &Program) -> impl Iterator<Item = Pc> {
    let cr0 = p.registers().predefined[envisa_isa::predefined::var::CR0 as usize];
    (0..p.code().len() as Pc).filter(move |pc| {
        let i = &p.code()[*pc as usize];
        let mut writes = false;
        i.writes(p.parts(), &mut |t| {
            writes |= match t.range(i.channels.into()) {
                Some(r) => r.start < cr0 + 4 && cr0 < r.end,
                None => cr0 >= p.registers().address_base,
            };
        });
        writes
    })
}

/// Does code leave the floating-point mode as it is?
pub(crate) fn keeps_mode(p: &Program) -> bool {
    sets_mode(p).next().is_none()
}

/// Is the floating-point mode that of IEEE wherever a number is computed: does the code begin with setting it,
/// and never change it again?
pub(crate) fn ieee(p: &Program, flow: &Flow) -> bool {
    let cr0 = p.registers().predefined[envisa_isa::predefined::var::CR0 as usize];
    let mut sets = sets_mode(p);
    let Some(pc) = sets.next() else { return false };
    if sets.next().is_some() {
        return false;
    }
    let i = &p.code()[pc as usize];
    let plain =
        i.op == Op::Or && i.no_mask && i.channels == 1 && i.pred.offset == 0 && i.exec != ExecType::F32;
    let itself = matches!(i.src[0], Src::Reg { offset, modifier: Modifier::None, .. } if offset == cr0);
    let bits = crate::shape::constant(p, &i.src[1]);
    let first = p.code()[..pc as usize]
        .iter()
        .all(|i| !matches!(i.op, Op::Goto | Op::Join | Op::Ret | Op::Call | Op::Fcall | Op::Ifcall))
        && p.code()[..pc as usize].iter().all(|i| {
            !matches!(i.exec, ExecType::F32 | ExecType::F64 | ExecType::F16 | ExecType::Bf16)
                && !matches!(i.dst, Dst::Reg { ty, .. } if ty.is_float())
        })
        && flow.reachable(pc)
        && p.code().iter().all(|i| i.op != Op::Goto || i.aux > pc);
    plain && itself && first && bits.is_some_and(|b| envisa_sem::FpMode(b as u32).is_ieee())
}
