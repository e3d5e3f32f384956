//! Places that several variables share: an address names 64 KiB, and compilers that unroll a loop make a copy of its arrays for
//! each round. Variables whose contents are never wanted at the same time can be in one place.

use std::ops::Range;

use envisa_isa::operation::{Control, Operation};
use envisa_isa::{Object, Operand, predefined};

/// The index among the declared variables of the root of a variable.
fn declared_root(o: &Object, var: u32) -> Option<usize> {
    o.root(var)?.0.checked_sub(predefined::FIRST_VAR).map(|i| i as usize)
}

/// Which variables each address register may point to, by declared index; `None` if that does not follow from the instructions
/// that add to addresses, because an address is written by another one or leaves the address registers.
fn pointed_to(o: &Object) -> Option<Vec<Vec<usize>>> {
    let mut points: Vec<Vec<usize>> = vec![Vec::new(); o.addresses.len()];
    let mut copies: Vec<(usize, usize)> = Vec::new();
    for inst in &o.insts {
        let ops = o.ops(inst);
        let address = |op: &Operand| match op {
            Operand::Address { id, .. } => Some(*id as usize),
            _ => None,
        };
        if inst.desc().operation() != Operation::AddressAdd {
            if ops.iter().any(|op| address(op).is_some()) {
                return None;
            }
            continue;
        }
        let mut ids = ops.iter().filter_map(address);
        let to = ids.next()?;
        copies.extend(ids.map(|from| (to, from)));
        // A binary says `&V` as a general operand, which stands before what is added.
        let base = ops.iter().find_map(|op| match op {
            Operand::AddressOf { var, .. } | Operand::General { var, .. } => Some(*var),
            _ => None,
        });
        points.get_mut(to)?.extend(base.and_then(|var| declared_root(o, var)));
    }
    loop {
        let before: usize = points.iter().map(Vec::len).sum();
        for (to, from) in &copies {
            let from = points.get(*from)?.clone();
            let to = points.get_mut(*to)?;
            to.extend(from);
            to.sort_unstable();
            to.dedup();
        }
        if points.iter().map(Vec::len).sum::<usize>() == before {
            return Some(points);
        }
    }
}

/// For each declared variable, the instructions between which its content is wanted, if any of them names it; `None` where that is
/// not known: in programs with calls.
fn variable_lifetimes(o: &Object) -> Option<Vec<Option<Range<usize>>>> {
    let points = pointed_to(o)?;
    let mut lives: Vec<Option<Range<usize>>> = vec![None; o.vars.len()];
    let mut labels = vec![0; o.labels.len()];
    let mut jumps = Vec::new();
    for (at, inst) in o.insts.iter().enumerate() {
        let mut wanted = |i: usize| {
            if let Some(life) = lives.get_mut(i) {
                *life = Some(life.as_ref().map_or(at..at + 1, |l| l.start..at + 1));
            }
        };
        let operation = inst.desc().operation();
        for op in o.ops(inst) {
            match op.handle().unwrap_or(*op) {
                Operand::General { var, .. } | Operand::Raw { var, .. } | Operand::AddressOf { var, .. } => {
                    declared_root(o, var).into_iter().for_each(&mut wanted);
                }
                Operand::Indirect { addr, .. } => {
                    points.get(addr as usize)?.iter().copied().for_each(&mut wanted)
                }
                Operand::Label(l) if operation == Operation::Control(Control::Label) => {
                    *labels.get_mut(l as usize)? = at;
                }
                Operand::Label(l) => jumps.push((at, l as usize)),
                _ => {}
            }
        }
        if let Operation::Control(
            Control::Call | Control::FunctionCall | Control::IndirectCall | Control::FunctionAddress,
        ) = operation
        {
            return None;
        }
    }
    // What is wanted in a part of a loop may be wanted in its next round.
    let backwards = jumps.iter().filter(|(at, l)| labels.get(*l).is_some_and(|to| to <= at));
    let loops: Vec<Range<usize>> = backwards.map(|(at, l)| labels[*l]..at + 1).collect();
    loop {
        let mut grown = false;
        for life in lives.iter_mut().flatten() {
            for around in &loops {
                let all = life.start.min(around.start)..life.end.max(around.end);
                if around.start < life.end && life.start < around.end && all != *life {
                    (*life, grown) = (all, true);
                }
            }
        }
        if !grown {
            return Some(lives);
        }
    }
}

/// A place for each of some variables, as an offset in chunks from the first place, and how many chunks all of them take. `sizes` has the
/// declared index of each variable and its chunks; those of `inputs` are wanted from the program's beginning.
pub fn shared_places(o: &Object, sizes: &[(usize, u32)], inputs: &[usize]) -> Option<(Vec<u32>, u32)> {
    let lives = variable_lifetimes(o)?;
    let life = |i: usize| {
        let life = lives.get(i).cloned().flatten().unwrap_or(0..1);
        if inputs.contains(&i) { 0..life.end } else { life }
    };
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|k| life(sizes[*k].0).start);
    let mut places = vec![0; sizes.len()];
    let mut taken: Vec<(u32, u32, usize)> = Vec::new();
    let mut all = 0;
    for k in order {
        let (i, chunks) = sizes[k];
        let life = life(i);
        taken.retain(|(_, _, end)| *end > life.start);
        taken.sort_unstable();
        let mut at = 0;
        for (start, end, _) in &taken {
            if start.saturating_sub(at) >= chunks {
                break;
            }
            at = at.max(*end);
        }
        places[k] = at;
        taken.push((at, at + chunks, life.end));
        all = all.max(at + chunks);
    }
    Some((places, all))
}
