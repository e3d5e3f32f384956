//! What the table says of the bytes of register operands, beside what lowered instructions say they touch: over
//! random instructions of every row, no byte of a raw operand's variable is touched that the row does not tell of,
//! and what it tells of is reached.

use envisa_isa::desc::{Bytes, Role};
use envisa_isa::footprint::register_bytes;
use envisa_isa::operation::{Message, Operation};
use envisa_isa::{Op, Operand, Platform};
use envisa_lower::{Op as Lowered, Options, Program, lower};
use envisa_smith::generate;
use envisa_verify::Verified;
use std::collections::BTreeSet;
use std::ops::Range;

/// A platform that has the row and the version it is of.
fn place(op: Op) -> Option<(Platform, (u8, u8))> {
    let d = op.desc();
    let version = if d.versions.contains((4, 1)) { (4, 1) } else { (4, 2) };
    let common = [Platform::Skl, Platform::Dg2, Platform::Pvc, Platform::Xe2, Platform::Xe3p];
    let platform = common.into_iter().chain(Platform::ALL).find(|p| d.platforms.contains(*p))?;
    d.versions.contains(version).then_some((platform, version))
}

/// Ranges of the register file that the lowered instruction touches, reads and writes apart.
fn touched(p: &Program, pc: usize) -> [Vec<Range<u32>>; 2] {
    let inst = &p.code()[pc];
    let mut out = [Vec::new(), Vec::new()];
    let n = inst.channels as u32;
    inst.reads(p.parts(), &mut |t| out[0].extend(t.range(n)));
    inst.writes(p.parts(), &mut |t| out[1].extend(t.range(n)));
    out
}

/// Elements that are narrower in memory than in a register are read in part.
fn reads_parts(op: Op) -> bool {
    matches!(
        op.desc().operation(),
        Operation::Message(
            Message::Elements(_)
                | Message::Bytes(_)
                | Message::Lsc(..)
                | Message::SvmBlocks(_)
                | Message::Atomic
                | Message::TexelAtomic
                | Message::SvmAtomic
                | Message::LscAtomic
                | Message::LscTexelAtomic
                // Of the header the places, and not what is for blending.
                | Message::Pixels
        )
    )
}

#[test]
fn rows_tell_of_every_byte_that_is_touched() {
    let (mut rows, mut operands) = (BTreeSet::new(), 0);
    for op in Op::ALL {
        let desc = op.desc();
        let raw = |s: &envisa_isa::desc::Slot| !matches!(s.bytes, Bytes::None | Bytes::Region);
        if !matches!(desc.operation(), Operation::Message(_) | Operation::Systolic { .. })
            || !desc.slots.iter().any(raw)
        {
            continue;
        }
        let Some((platform, version)) = place(*op) else { continue };
        let grf = platform.grf_bytes();
        for seed in 0..200 {
            let options = generate::Options {
                version,
                platform: Some(platform),
                insts: 1,
                ops: Some(vec![*op]),
                ..generate::Options::default()
            };
            let module = generate::module(seed * 7 + 1, &options);
            let object = module.objects[0].clone();
            let Some(index) = object.insts.iter().position(|i| i.op == *op) else { continue };
            let Ok(verified) = Verified::assume(module) else { continue };
            let Ok(program) = lower(&verified, "", &Options { platform, simd: Some(32), private: None })
            else {
                continue;
            };
            let lowered = |i: &envisa_lower::Inst| {
                i.source == index as u32 && matches!(i.op, Lowered::Message | Lowered::Dpas | Lowered::Dpasw)
            };
            let Some(pc) = program.code().iter().position(lowered) else { continue };
            let ops = object.ops(&object.insts[index]);
            // What the row says of each register operand.
            let mut said: Vec<(usize, Role, Range<u32>)> = Vec::new();
            for (k, operand) in ops.iter().enumerate() {
                let slot = desc.slots.get(k).unwrap_or(&desc.slots[desc.slots.len() - 1]);
                let (var, offset) = match *operand {
                    Operand::Raw { var, offset } if raw(slot) => (var, offset as u32),
                    Operand::General { var, row, col, .. } if raw(slot) => {
                        let size = object.var_shape(var, grf).expect("a variable").0.size();
                        (var, row as u32 * grf + col as u32 * size)
                    }
                    _ => continue,
                };
                if var == 0 {
                    continue;
                }
                let type_of = |v| object.var_shape(v, grf).map(|shape| shape.0);
                let bytes = register_bytes(*op, ops, k, grf, &type_of)
                    .unwrap_or_else(|| panic!("{}: nothing is said of `{}`", desc.name, slot.name));
                let (root, within) = object.root(var).expect("a variable");
                let home = program.functions()[0].vars.iter().find(|v| v.id == root);
                let Some(home) = home else { continue };
                let at = home.offset + within + offset;
                said.push((k, slot.role, at..at + bytes));
            }
            let homes: Vec<Range<u32>> = program.functions()[0]
                .vars
                .iter()
                .map(|v| v.offset..v.offset + v.bytes)
                .filter(|h| said.iter().any(|(.., r)| h.contains(&r.start)))
                .collect();
            let vectors = ops.iter().any(|o| matches!(o, Operand::General { .. } | Operand::Indirect { .. }))
                && !matches!(desc.operation(), Operation::Systolic { .. });
            for (role, ranges) in [Role::Read, Role::Write].into_iter().zip(touched(&program, pc)) {
                for r in &ranges {
                    let in_home = homes.iter().any(|h| h.contains(&r.start));
                    let told =
                        said.iter().any(|(_, of, s)| *of == role && s.start <= r.start && r.end <= s.end);
                    // Scalars of vector operands may lie in the same variables.
                    assert!(
                        told || !in_home || vectors && role == Role::Read,
                        "{} (seed {seed}): {role:?} of {r:?}, which is none of {said:?}",
                        desc.name
                    );
                }
                for (k, _, s) in said.iter().filter(|(_, of, s)| *of == role && !s.is_empty()) {
                    let end =
                        ranges.iter().filter(|r| s.start <= r.start && r.end <= s.end).map(|r| r.end).max();
                    // Sources that the operation has no use for are not looked at.
                    let Some(end) = end else { continue };
                    let short = if reads_parts(*op) { 8 } else { 0 };
                    assert!(
                        end <= s.end && s.end - end <= short,
                        "{} (seed {seed}), operand {k}: {s:?} is told of, {end} is reached: {ranges:?}",
                        desc.name
                    );
                    operands += 1;
                }
            }
            rows.insert(desc.name);
        }
    }
    assert!(rows.len() > 60, "{} rows were looked at: {rows:?}", rows.len());
    assert!(operands > 10_000, "{operands} operands were looked at");
}
