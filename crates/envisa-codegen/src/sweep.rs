//! Removes instructions whose results are not used.

use crate::function::Function;
use crate::inst::{Block, Inst, Lanes, Mem, Op, Reg};

/// Is it made for its result alone?
fn is_pure(i: &Inst) -> bool {
    matches!(i, Inst::Plain { ops, .. } if matches!(ops[0], Op::Def(..) | Op::Mod { .. }))
}

/// Calls with each register that an instruction writes.
fn for_each_defined(i: &Inst, each: &mut dyn FnMut(Reg)) {
    let Inst::Plain { ops, lanes, .. } = i else { return };
    for op in ops {
        match *op {
            Op::Def(r, _) | Op::Mod { to: r, .. } => each(r),
            _ => {}
        }
    }
    if let Lanes::Cleared { to, .. } = *lanes {
        each(to);
    }
}

/// Calls with each register that an instruction reads.
fn for_each_used(i: &Inst, each: &mut dyn FnMut(Reg)) {
    let Inst::Plain { ops, lanes, .. } = i else { return };
    for op in ops {
        match op {
            Op::Use(r, _) | Op::Mod { from: r, .. } => each(*r),
            Op::Mem(m) => of_memory(m, each),
            _ => {}
        }
    }
    match *lanes {
        Lanes::Of(k) | Lanes::Zero(k) | Lanes::Cleared { from: k, .. } => each(k),
        Lanes::All => {}
    }
}

fn of_memory(m: &Mem, each: &mut dyn FnMut(Reg)) {
    if let Some((r, _)) = m.index {
        each(r);
    }
}

/// What writes a register.
#[derive(Clone, Copy)]
enum By {
    Nothing,
    Inst(u32, u32),
    Param(u32, u32),
}

/// See the module. Blocks that nothing comes to are empty afterwards.
pub(crate) fn remove_dead_code(f: &mut Function) {
    let n = f.blocks.len();
    let mut by = vec![By::Nothing; f.regs()];
    let mut comers: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut reached = vec![false; n];
    let mut next = vec![0];
    while let Some(b) = next.pop() {
        if std::mem::replace(&mut reached[b], true) {
            continue;
        }
        for s in f.successors(Block(b as u32)) {
            comers[s.0 as usize].push(b as u32);
            next.push(s.0 as usize);
        }
    }
    let mut work = Vec::new();
    for b in (0..n).filter(|b| reached[*b]) {
        for (p, k) in f.blocks[b].params.iter().zip(0..) {
            by[p.number()] = By::Param(b as u32, k);
        }
        for (i, k) in f.blocks[b].insts.iter().zip(0..) {
            for_each_defined(i, &mut |r| by[r.number()] = By::Inst(b as u32, k));
            if !is_pure(i) {
                for_each_used(i, &mut |r| work.push(r));
            }
        }
    }
    let mut wanted = vec![false; f.regs()];
    while let Some(r) = work.pop() {
        if std::mem::replace(&mut wanted[r.number()], true) {
            continue;
        }
        match by[r.number()] {
            By::Nothing => {}
            By::Inst(b, k) => for_each_used(&f.blocks[b as usize].insts[k as usize], &mut |r| work.push(r)),
            By::Param(b, k) => {
                work.extend(comers[b as usize].iter().map(|c| f.blocks[*c as usize].args[k as usize]));
            }
        }
    }
    let kept: Vec<Vec<bool>> =
        f.blocks.iter().map(|b| b.params.iter().map(|p| wanted[p.number()]).collect()).collect();
    for b in (0..n).filter(|b| reached[*b]) {
        let body = &mut f.blocks[b];
        body.insts.retain(|i| {
            let mut any = false;
            for_each_defined(i, &mut |r| any |= wanted[r.number()]);
            any || !is_pure(i)
        });
        body.params.retain(|p| wanted[p.number()]);
        if let Some(Inst::Jump(to)) = body.insts.last() {
            let mut kept = kept[to.0 as usize].iter();
            body.args.retain(|_| *kept.next().unwrap_or(&false));
        }
    }
}
