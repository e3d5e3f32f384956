//! Random legal instructions of every opcode, one field of each broken at a time: each break is reported.

use envisa::isa::desc::{Classes, Enc, Family, InstDesc, Role, Slot, SlotKind, SourceModifiers};
use envisa::isa::{
    Exec, ExecMask, Inst, Modifier, Module, Object, Op, Operand, Platforms, Pred, Region, Type, predefined,
};
use envisa::verify::{Options, check};
use envisa_smith::generate;
use std::collections::{BTreeMap, BTreeSet};

/// Vector operands of these families have regions; those of others are scalars.
const REGIONS: &[Family] = &[Family::Arithmetic, Family::Math, Family::Logic, Family::Move, Family::Compare];
/// Their pages ignore regions, or have rules of their own.
const NO_REGIONS: &[&str] = &["PLANE", "LRP", "MOVS"];

fn class(op: &Operand) -> Option<Classes> {
    Some(match op {
        Operand::General { .. } => Classes::GENERAL,
        Operand::Indirect { .. } => Classes::INDIRECT,
        Operand::Imm { .. } => Classes::IMM,
        Operand::Address { .. } => Classes::ADDRESS,
        Operand::Predicate(_) => Classes::PREDICATE,
        Operand::AddressOf { .. } => Classes::ADDRESS_OF,
        Operand::State { .. } => Classes::STATE,
        _ => return None,
    })
}

/// May an element in this slot have this type, in some combination with others?
fn takes(desc: &InstDesc, slot: &Slot, ty: Type) -> bool {
    let any = envisa::isa::TypeSet::ANY;
    let slot_ok = slot.types == any || slot.types == envisa::isa::TypeSet::NONE || slot.types.contains(ty);
    let maps = desc.type_maps;
    let set = |m: &envisa::isa::desc::TypeMap| if slot.role == Role::Read { m.src } else { m.dst };
    slot_ok && (maps.is_empty() || maps.iter().any(|m| set(m).contains(ty)))
}

/// Breaks of one operand: what is broken, and what to put there.
fn breaks(
    o: &Object,
    desc: &InstDesc,
    slot: &Slot,
    kind: &SlotKind,
    op: &Operand,
) -> Vec<(&'static str, Operand)> {
    let mut out = Vec::new();
    match (kind, op) {
        (SlotKind::Exec, Operand::Exec(e)) => {
            out.push(("execution size", Operand::Exec(Exec { log2: 6, ..*e })));
            if let Some(log2) = (0..6).find(|b| desc.exec_sizes >> b & 1 == 0) {
                out.push(("number of channels", Operand::Exec(Exec { log2, mask: ExecMask(8) })));
            }
            if desc.exec_sizes >> 3 & 1 != 0 {
                out.push(("start of the mask", Operand::Exec(Exec { log2: 3, mask: ExecMask(1) })));
            }
        }
        (SlotKind::Pred, Operand::Pred(p)) => {
            out.push(("predicate", Operand::Pred(Pred { id: 4000, ..*p })));
        }
        (SlotKind::Vector(classes), _) => {
            out.push(("vector by a field", Operand::Int(7)));
            out.push(("immediate of type bool", Operand::Imm { ty: Type::Bool, bits: 1 }));
            let (region, modifier) = (Region::SCALAR, Modifier::None);
            for other in [
                Operand::Imm { ty: Type::Ud, bits: 1 },
                Operand::Address { id: 0, offset: 0, width_log2: 0, modifier: Modifier::None },
                Operand::Predicate(Pred { id: 1, ..Pred::NONE }),
                Operand::General { var: predefined::FIRST_VAR, row: 0, col: 0, region, modifier },
            ] {
                // The binary writes the address of a variable as a general operand.
                let written = matches!(other, Operand::General { .. }) && classes.has(Classes::ADDRESS_OF);
                if class(&other).is_some_and(|c| !classes.has(c)) && !written {
                    out.push(("class", other));
                }
            }
            if let Operand::General { .. } = op {
                out.extend(general_breaks(o, desc, slot, op));
            }
        }
        (SlotKind::Raw { nullable }, Operand::Raw { var, offset }) => {
            out.push(("raw variable", Operand::Raw { var: 60_000, offset: *offset }));
            out.push(("raw by a field", Operand::Int(7)));
            if !nullable {
                out.push(("raw %null", Operand::RAW_NULL));
            }
            if *var != 0 {
                out.push(("raw offset", Operand::Raw { var: *var, offset: 65_535 }));
            }
            if let Some(var) = other_type(o, desc, slot).filter(|_| !slot.name.is_unused()) {
                out.push(("raw type", Operand::Raw { var, offset: 0 }));
            }
        }
        (SlotKind::Surface { allowed }, _) => {
            out.push(("surface", Operand::Surface(255)));
            if allowed.slm == Platforms::NONE {
                out.push(("surface T0", Operand::Surface(predefined::SURFACE_SLM)));
            }
            if allowed.stateless == Platforms::NONE {
                out.push(("surface T5", Operand::Surface(predefined::SURFACE_SCRATCH)));
            }
        }
        (SlotKind::Sampler { .. }, _) => out.push(("sampler", Operand::Sampler(30))),
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
            out.extend(beyond.map(|n| ("field value", Operand::Int(n))));
            if matches!(enc, Enc::Channels) {
                out.push(("no channel", Operand::Int(0)));
            }
            if *width < 4 {
                out.push(("field width", Operand::Int(1 << (8 * *width as u32))));
            }
            out.push(("field by an operand", Operand::RAW_NULL));
        }
        (SlotKind::Packed { parts, .. }, Operand::Int(n)) => {
            for p in *parts {
                let all = ((1u64 << p.bits) - 1) as u32;
                let beyond = match p.enc {
                    Enc::Number { max } | Enc::Hex { max } => max.checked_add(1),
                    Enc::Values(values) => (0..=all.min(255)).find(|c| values.iter().all(|v| v.code != *c)),
                    _ => None,
                };
                out.extend(
                    beyond.filter(|v| *v <= all).map(|v| ("packed value", Operand::Int(p.set(*n, v)))),
                );
            }
            out.push(("field by an operand", Operand::RAW_NULL));
        }
        (SlotKind::Count { .. }, Operand::Int(n)) => out.push(("count", Operand::Int(n + 1))),
        _ => {}
    }
    out
}

/// A variable of a type that the slot does not take.
fn other_type(o: &Object, desc: &InstDesc, slot: &Slot) -> Option<u32> {
    let wrong = |ty: Type| !takes(desc, slot, ty);
    o.vars.iter().position(|v| v.alias == 0 && wrong(v.ty)).map(|i| i as u32 + predefined::FIRST_VAR)
}

/// Breaks of a general operand.
fn general_breaks(o: &Object, desc: &InstDesc, slot: &Slot, op: &Operand) -> Vec<(&'static str, Operand)> {
    let Operand::General { var, row, col, region, modifier } = *op else { return Vec::new() };
    let mut out = Vec::new();
    // No slot takes both.
    let logic = desc.modifiers.source == SourceModifiers::Logic;
    let wrong = if logic { Modifier::Abs } else { Modifier::Not };
    out.push(("modifier", Operand::General { var, row, col, region, modifier: wrong }));
    out.push(("variable", Operand::General { var: 60_000, row, col, region, modifier }));
    out.push(("row", Operand::General { var, row: 255, col, region, modifier }));
    if let Some(var) = other_type(o, desc, slot) {
        out.push(("type", Operand::General { var, row, col, region, modifier }));
    }
    if REGIONS.contains(&desc.family) && !NO_REGIONS.contains(&desc.name) {
        let stride = Region(region.0 & 0xff | 5 << 8);
        out.push(("stride of 8", Operand::General { var, row, col, region: stride, modifier }));
        let zero = Region(region.0 & 0xff | 1 << 8);
        if slot.role == Role::Write {
            out.push(("stride of 0", Operand::General { var, row, col, region: zero, modifier }));
        } else {
            let wide = Region(region.0 & 0xf0f | 7 << 4);
            out.push(("width of 32", Operand::General { var, row, col, region: wide, modifier }));
            let none = Region(region.0 & 0xff0);
            out.push(("no stride", Operand::General { var, row, col, region: none, modifier }));
        }
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

/// A small module around one instruction: the whole is checked for every break.
fn alone(module: &Module, inst: &Inst) -> Module {
    let object = &module.objects[0];
    let mut small = module.clone();
    small.objects.truncate(1);
    let o = &mut small.objects[0];
    o.operands = object.ops(inst).to_vec();
    o.operand_spans.clear();
    o.insts = vec![Inst { first: 0, ..*inst }];
    // Labels that it names have to stand somewhere.
    for mark in object.insts.iter().filter(|i| matches!(i.op, Op::Label | Op::Subroutine) && *i != inst) {
        let first = o.operands.len() as u32;
        o.operands.extend_from_slice(object.ops(mark));
        o.insts.push(Inst { first, ..*mark });
    }
    small
}

#[test]
fn each_break_is_reported() {
    let mut missed = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rows = 0;
    for version in [(4, 1), (4, 2)] {
        let mut left: BTreeSet<usize> =
            Op::ALL.iter().filter(|o| o.desc().versions.contains(version)).map(|o| *o as usize).collect();
        // Slots that no instruction broke so far: those of optional operands need a few tries.
        let mut whole: BTreeSet<(usize, usize)> =
            left.iter().flat_map(|o| (0..Op::ALL[*o].desc().slots.len()).map(move |k| (*o, k))).collect();
        for seed in 0..12 {
            let options =
                generate::Options { version, insts: 400, in_turn: true, ..generate::Options::default() };
            let module = generate::module(seed, &options);
            for inst in &module.objects[0].insts {
                let desc = inst.desc();
                let wanted: Vec<usize> =
                    (0..desc.slots.len()).filter(|k| whole.contains(&(inst.op as usize, *k))).collect();
                let first = left.remove(&(inst.op as usize));
                if !first && wanted.is_empty() {
                    continue;
                }
                rows += usize::from(first);
                let mut small = alone(&module, inst);
                let before = at(&small, 0);
                for k in 0..inst.len as usize {
                    let s = k.min(desc.slots.len() - 1);
                    let slot = &desc.slots[s];
                    if !first && !wanted.contains(&s) {
                        continue;
                    }
                    let old = small.objects[0].operands[k];
                    let kind = match &slot.kind {
                        SlotKind::Many(kind) => kind,
                        SlotKind::If { kind, .. } if old == Operand::Int(0) => {
                            small.objects[0].operands[k] = Operand::RAW_NULL;
                            if at(&small, 0).is_subset(&before) {
                                missed.push(format!("{} {}: present without its flag", desc.name, slot.name));
                            }
                            *counts.entry("absent operand").or_default() += 1;
                            small.objects[0].operands[k] = old;
                            let _ = kind;
                            continue;
                        }
                        SlotKind::If { kind, .. } => kind,
                        kind => kind,
                    };
                    // Predicates among other operands hide their types.
                    let mixed = before.iter().any(|f| f.starts_with("V0308"));
                    for (what, new) in breaks(&small.objects[0], desc, slot, kind, &old) {
                        if mixed && what == "type" {
                            continue;
                        }
                        whole.remove(&(inst.op as usize, s));
                        small.objects[0].operands[k] = new;
                        *counts.entry(what).or_default() += 1;
                        if at(&small, 0).is_subset(&before) {
                            missed.push(format!(
                                "{} {}: {what} {new:?}, before {before:?}",
                                desc.name, slot.name
                            ));
                        }
                    }
                    small.objects[0].operands[k] = old;
                }
            }
        }
        let name = |o: &usize| Op::ALL[*o].desc().name;
        assert!(left.is_empty(), "never generated: {:?}", left.iter().map(name).collect::<Vec<_>>());
        let whole: Vec<_> = whole.iter().map(|(o, k)| (name(o), Op::ALL[*o].desc().slots[*k].name)).collect();
        assert!(whole.is_empty(), "never broken in {version:?}: {whole:?}");
    }
    missed.sort();
    missed.dedup();
    let broken: usize = counts.values().sum();
    assert!(missed.is_empty(), "{} of {broken} breaks missed:\n{}", missed.len(), missed.join("\n"));
    println!("{rows} rows, {broken} breaks: {counts:?}");
}
