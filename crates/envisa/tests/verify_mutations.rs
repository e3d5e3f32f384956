//! Random legal instructions of every opcode, one field of each broken at a time: each break is reported.

use envisa::isa::desc::{Enc, SlotKind, SourceModifiers};
use envisa::isa::{Exec, Module, Op, Operand, Platforms, generate};
use envisa::verify::{Options, check};
use std::collections::BTreeSet;

/// Breaks of one operand: what to put there, and what it is called.
fn breaks(kind: &SlotKind, op: &Operand, logic: bool) -> Vec<(&'static str, Operand)> {
    let mut out = Vec::new();
    match (kind, op) {
        (SlotKind::Exec, Operand::Exec(e)) => {
            out.push(("execution size", Operand::Exec(Exec { log2: 6, ..*e })))
        }
        (SlotKind::Pred, Operand::Pred(p)) => {
            out.push(("predicate", Operand::Pred(envisa::isa::Pred { id: 4000, ..*p })));
        }
        (SlotKind::Vector(_), _) => {
            out.push(("vector by a field", Operand::Int(7)));
            out.push(("immediate of type bool", Operand::Imm { ty: envisa::isa::Type::Bool, bits: 1 }));
            if let Operand::General { var, row, col, region, .. } = *op {
                let not = envisa::isa::Modifier::Not;
                let abs = envisa::isa::Modifier::Abs;
                // No slot takes both.
                let wrong = if logic { abs } else { not };
                out.push(("modifier", Operand::General { var, row, col, region, modifier: wrong }));
            }
            if let Operand::General { row, col, region, modifier, .. } = *op {
                out.push(("variable", Operand::General { var: 60_000, row, col, region, modifier }));
            }
        }
        (SlotKind::Raw { .. }, Operand::Raw { var, offset }) => {
            out.push(("raw variable", Operand::Raw { var: 60_000, offset: *offset }));
            if *var != 0 {
                out.push(("raw offset", Operand::Raw { var: *var, offset: 65_535 }));
            }
        }
        (SlotKind::Surface { .. }, _) => out.push(("surface", Operand::Surface(255))),
        (SlotKind::Sampler, _) => out.push(("sampler", Operand::Sampler(30))),
        (SlotKind::Label(_), _) => out.push(("label", Operand::Label(60_000))),
        (SlotKind::Str { .. }, _) => out.push(("string", Operand::Str(1_000_000))),
        (SlotKind::Field { width, enc }, _) => {
            let beyond = match enc {
                Enc::Number { max } | Enc::Hex { max } | Enc::HexDigits { max } => max.checked_add(1),
                Enc::Values(values) => (0..=255).find(|c| values.iter().all(|v| v.code != *c)),
                Enc::ExecLike(values) => (0..16).find(|c| values.iter().all(|v| v.code != *c)),
                Enc::Channels => Some(16),
                _ => None,
            };
            if let Some(n) = beyond {
                out.push(("field value", Operand::Int(n)));
            }
            if *width < 4 {
                out.push(("field width", Operand::Int(1 << (8 * *width as u32))));
            }
        }
        (SlotKind::Packed { parts, .. }, Operand::Int(n)) => {
            for p in *parts {
                let all = ((1u64 << p.bits) - 1) as u32;
                let beyond = match p.enc {
                    Enc::Number { max } | Enc::Hex { max } => max.checked_add(1),
                    Enc::Values(values) => (0..=all.min(255)).find(|c| values.iter().all(|v| v.code != *c)),
                    _ => None,
                };
                if let Some(v) = beyond.filter(|v| *v <= all) {
                    out.push(("packed value", Operand::Int(p.set(*n, v))));
                }
            }
        }
        (SlotKind::Count { .. }, Operand::Int(n)) => out.push(("count", Operand::Int(n + 1))),
        _ => {}
    }
    out
}

/// Findings at this instruction.
fn at(module: &Module, inst: usize) -> BTreeSet<String> {
    let options =
        Options { platforms: Platforms::ALL, lints: false, repeats: usize::MAX, ..Options::default() };
    check(module, &options)
        .into_iter()
        .filter(|f| f.inst == Some(inst))
        .map(|f| format!("{} {}", f.code, f.message))
        .collect()
}

#[test]
fn each_break_is_reported() {
    let mut rows = BTreeSet::new();
    let mut broken = 0;
    let mut missed = Vec::new();
    for version in [(4, 1), (4, 2)] {
        for seed in 0..4 {
            let options =
                generate::Options { version, insts: 400, in_turn: true, ..generate::Options::default() };
            let module = generate::module(seed, &options);
            // One small module for each instruction: the whole is checked for every break.
            let object = &module.objects[0];
            for inst in object.insts.to_vec() {
                let desc = inst.desc();
                if seed > 0 && rows.contains(&(desc.name, version)) {
                    continue;
                }
                rows.insert((desc.name, version));
                let mut small = module.clone();
                small.objects.truncate(1);
                let o = &mut small.objects[0];
                o.operands = object.ops(&inst).to_vec();
                o.operand_spans.clear();
                o.insts = vec![envisa::isa::Inst { first: 0, ..inst }];
                // Labels that it names have to stand somewhere.
                for mark in object.insts.iter().filter(|i| matches!(i.op, Op::Label | Op::Subroutine)) {
                    if *mark == inst {
                        continue;
                    }
                    let first = o.operands.len() as u32;
                    o.operands.extend_from_slice(object.ops(mark));
                    o.insts.push(envisa::isa::Inst { first, ..*mark });
                }
                let before = at(&small, 0);
                for k in 0..inst.len as usize {
                    let kind = &desc.slots[k.min(desc.slots.len() - 1)].kind;
                    let inner = match kind {
                        SlotKind::Many(k) => k,
                        SlotKind::If { .. } => continue,
                        k => k,
                    };
                    let old = small.objects[0].operands[k];
                    for (what, new) in breaks(inner, &old, desc.modifiers.source == SourceModifiers::Logic) {
                        small.objects[0].operands[k] = new;
                        broken += 1;
                        if at(&small, 0).is_subset(&before) {
                            missed.push(format!(
                                "{} {}: {what} {new:?}",
                                desc.name,
                                desc.slots[k.min(desc.slots.len() - 1)].name
                            ));
                        }
                    }
                    small.objects[0].operands[k] = old;
                }
            }
        }
    }
    missed.dedup();
    assert!(missed.is_empty(), "{} of {broken} breaks missed:\n{}", missed.len(), missed.join("\n"));
    let names: BTreeSet<&str> = rows.iter().map(|r| r.0).collect();
    assert!(names.len() >= 150 && broken > 2000, "{} rows, {broken} breaks", names.len());
    println!("{} rows, {broken} breaks", names.len());
}
