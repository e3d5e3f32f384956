//! The order of the string pool that results from reading the printed text.

use envisa_isa::{Module, Object, Op, Operand, Strings, fixed_strings};

/// The module with every pool in the order that [`print`](crate::print())ed text gives it: the name, the
/// fixed strings, declarations with their attributes' names, attributes of the object, then labels and
/// strings at their mention. Strings that nothing names are dropped. Binaries of other tools order their
/// pools differently; two modules that say the same have the same canonical form.
pub fn canonical(module: &Module) -> Module {
    Module {
        version: module.version.max((4, 1)),
        objects: module.objects.iter().map(|o| reorder_object_pools(o, module.version)).collect(),
    }
}

fn reorder_object_pools(old: &Object, version: (u8, u8)) -> Object {
    let mut new = old.clone();
    let mut strings = Strings::default();
    strings.push(&old.name);
    for s in fixed_strings(version) {
        strings.push(s);
    }
    let mut attrs = Vec::with_capacity(old.var_attrs.len());
    let mut take = |index: u32| {
        let s = old.strings.get(index).unwrap_or("");
        if s.is_empty() { 0 } else { strings.push(s) }
    };
    let mut range = |r: &mut envisa_isa::AttrRange, take: &mut dyn FnMut(u32) -> u32| {
        let start = attrs.len() as u32;
        let from = r.start as usize;
        for a in old.var_attrs.get(from..from + r.len as usize).unwrap_or_default() {
            attrs.push(envisa_isa::Attr { name: take(a.name), ..a.clone() });
        }
        r.start = start;
    };
    for v in &mut new.vars {
        v.name = take(v.name);
        range(&mut v.attrs, &mut take);
    }
    for list in [&mut new.addresses, &mut new.predicates, &mut new.samplers, &mut new.surfaces] {
        for v in list.iter_mut() {
            v.name = take(v.name);
            range(&mut v.attrs, &mut take);
        }
    }
    for a in &mut new.attrs {
        a.name = take(a.name);
    }
    let mut order: Vec<Option<u16>> = vec![None; old.labels.len()];
    let mut labels = Vec::with_capacity(old.labels.len());
    for (inst, was) in new.insts.iter().zip(&old.insts) {
        let range = inst.first as usize..inst.first as usize + inst.len as usize;
        let Some(ops) = new.operands.get_mut(range) else { continue };
        for op in ops {
            match op {
                Operand::Label(id) => {
                    let Some(slot) = order.get_mut(*id as usize) else { continue };
                    let fresh = *slot.get_or_insert_with(|| {
                        let mut label = old.labels[*id as usize];
                        label.name = take(label.name);
                        labels.push(label);
                        labels.len() as u16 - 1
                    });
                    *op = Operand::Label(fresh);
                }
                Operand::Str(i) if *i != 0 || was.op == Op::File => *op = Operand::Str(take(*i)),
                _ => {}
            }
        }
    }
    new.labels = labels;
    new.var_attrs = attrs;
    new.strings = strings;
    new
}
