//! Removes block parameters that always get the same value, and blocks that are not reached.

use crate::flow::reachable_blocks;
use crate::func::{Def, Func, Value};

/// What a value was replaced by.
pub(crate) fn resolve_replacement(instead: &mut [Value], v: Value) -> Value {
    let mut root = v;
    while instead[root.index()] != root {
        root = instead[root.index()];
    }
    let mut at = v;
    while instead[at.index()] != root {
        at = std::mem::replace(&mut instead[at.index()], root);
    }
    root
}

/// Replaces values everywhere.
pub(crate) fn replace_values(f: &mut Func, instead: &mut [Value]) {
    for b in f.blocks() {
        for k in 0..f.block(b).insts.len() {
            let i = f.block(b).insts[k];
            f.inst_mut(i).operands_mut(&mut |v| *v = resolve_replacement(instead, *v));
        }
        f.block_mut(b).end.operands_mut(&mut |v| *v = resolve_replacement(instead, *v));
    }
}

/// See the module.
pub fn run(f: &mut Func) {
    let order = reachable_blocks(f);
    let mut led = vec![false; f.blocks().len()];
    order.iter().for_each(|b| led[b.index()] = true);
    for b in f.blocks().filter(|b| !led[b.index()]) {
        let d = f.block_mut(b);
        d.insts.clear();
        d.end = crate::inst::Terminator::Return;
    }
    let mut instead: Vec<Value> = (0..f.value_count() as u32).map(Value).collect();
    // What each parameter is handed, by block and edge.
    let mut edges: Vec<Vec<Vec<Value>>> = vec![Vec::new(); f.blocks().len()];
    for b in &order {
        for t in f.block(*b).end.targets() {
            edges[t.block.index()].push(t.args.clone());
        }
    }
    loop {
        let mut changed = false;
        for b in &order {
            for (k, p) in f.block(*b).params.iter().enumerate() {
                if instead[p.index()] != *p {
                    continue;
                }
                let mut one = None;
                let same = edges[b.index()].iter().all(|args| {
                    let v = resolve_replacement(&mut instead, args[k]);
                    v == *p || *one.get_or_insert(v) == v
                });
                if let (true, Some(v)) = (same, one) {
                    instead[p.index()] = v;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    replace_values(f, &mut instead);
    remove(f, &|v| instead[v.index()] != v);
}

/// Takes parameters away, and what they are handed.
pub(crate) fn remove(f: &mut Func, gone: &dyn Fn(Value) -> bool) {
    let keep: Vec<Vec<bool>> =
        f.blocks().map(|b| f.block(b).params.iter().map(|p| !gone(*p)).collect()).collect();
    let some: Vec<bool> = keep.iter().map(|k| k.contains(&false)).collect();
    for b in f.blocks() {
        let d = &mut f.blocks[b.index()];
        for t in d.end.targets_mut().filter(|t| some[t.block.index()]) {
            let mut k = keep[t.block.index()].iter();
            t.args.retain(|_| *k.next().unwrap_or(&true));
        }
        if some[b.index()] {
            let old = std::mem::take(&mut d.params);
            let mut left = Vec::new();
            for (p, keep) in old.into_iter().zip(&keep[b.index()]) {
                if *keep {
                    f.values[p.index()].def = Def::Param(b, left.len() as u32);
                    left.push(p);
                } else {
                    f.values[p.index()].def = Def::Gone;
                }
            }
            d.params = left;
        }
    }
}
