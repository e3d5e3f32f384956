//! The list of what 4.2's text says beyond 4.1's, made from the table: each entry is printed, read and the same again.
//! `BLESS=1 cargo test -p envisa-text --test text spellings` writes `docs/SPELLINGS.md`.

use std::fmt::Write as _;
use std::path::Path;

use envisa_diag::Files;
use envisa_isa::desc::{Enc, Slot, SlotKind, Value};
use envisa_isa::{Inst, Module, Object, Op, Operand};
use envisa_smith::generate::{Options, module};
use envisa_text::{ParseOptions, attributes, canonical, parse, print, print_inst};

const NOW: (u8, u8) = (4, 2);
const BEFORE: (u8, u8) = (4, 1);

/// Random modules of one instruction each, of which some say what is wanted.
fn modules(op: Op) -> impl Iterator<Item = Module> {
    (0..1500).map(move |seed| {
        module(seed, &Options { version: NOW, insts: 1, ops: Some(vec![op]), ..Options::default() })
    })
}

/// The first instruction of this row that has a property and needs no annotation, as text, and its module.
fn example(op: Op, wanted: impl Fn(&Object, &Inst) -> bool) -> Option<(String, Module)> {
    let fitting = |m: Module| -> Option<(String, Module)> {
        let o = &m.objects[0];
        let inst = o.insts.iter().find(|i| i.op == op && wanted(o, i))?;
        let text = print_inst(&m, o, inst).ok().filter(|t| !t.contains("//@"))?;
        Some((text.trim().to_owned(), m))
    };
    modules(op).find_map(fitting)
}

/// Prints a module, reads it, and holds the two against each other.
fn same_again(what: &str, module: &Module) {
    let text = print(module, &Default::default()).unwrap_or_else(|e| panic!("{what}: {e}"));
    let file = Files::new().add_text(what, text.as_str());
    let read = parse(&text, file, &ParseOptions::default());
    assert!(read.complete, "{what}: {:#?}\n{text}", read.diagnostics);
    assert_eq!(canonical(module).first_difference(&canonical(&read.module)), None, "{what}\n{text}");
}

fn values(slot: &SlotKind) -> Vec<(Option<&'static str>, u8, &'static Value)> {
    let of = |enc: &Enc, part: Option<&'static str>, lo: u8| match *enc {
        Enc::Values(list) => list.iter().map(|v| (part, lo, v)).collect(),
        _ => Vec::new(),
    };
    match slot {
        SlotKind::Field { enc, .. } => of(enc, None, 0),
        SlotKind::Packed { parts, .. } => {
            parts.iter().flat_map(|p| of(&p.enc, Some(p.name.as_str()), p.lo)).collect()
        }
        _ => Vec::new(),
    }
}

/// Did 4.2 bring this value? Its word says so.
fn is_new(v: &Value) -> bool {
    v.doc.contains("from 4.2 on") || v.is_other_name() || v.text == "cc"
}

#[test]
fn what_4_2_says_reads_as_it_prints() {
    let mut out = String::from(
        "# What text of version 4.2 says\n\n\
         Generated from the instruction table; `BLESS=1 cargo test -p envisa-text --test text spellings` writes it anew. Each\n\
         line was printed from a random instruction, read, and is the same instruction again. What 4.1 says, too, has the\n\
         packaged assembler's bytes: see the tests of `envisa`.\n\n\
         ## Instructions\n\n",
    );
    let mut missing = Vec::new();
    for op in rows().filter(|op| !op.desc().versions.contains(BEFORE)) {
        let d = op.desc();
        if d.forms.is_empty() {
            continue;
        }
        match example(op, |o, inst| !o.ops(inst).iter().any(|op| matches!(op, Operand::Handle { .. }))) {
            Some((text, module)) => {
                same_again(d.name, &module);
                let _ = writeln!(out, "- `{}`: `{text}`", d.name);
            }
            None => missing.push(d.name.to_owned()),
        }
    }
    out.push_str("\n## Fields of older instructions\n\n");
    let mut lists: Vec<&[Slot]> = Vec::new();
    let mut fields: Vec<&str> = Vec::new();
    for op in rows().filter(|op| op.desc().versions.contains(BEFORE)) {
        let d = op.desc();
        // One row stands for all that have the same operands.
        if lists.iter().any(|l| std::ptr::eq(*l, d.slots)) {
            continue;
        }
        lists.push(d.slots);
        for (i, slot) in d.slots.iter().enumerate().filter(|(_, s)| !s.is_in(BEFORE)) {
            let says = |o: &Object, inst: &Inst| o.ops(inst)[i] != Operand::Int(0);
            // Offsets and the like want an operand beside them that random ones seldom are.
            if let Some((text, module)) = example(op, says) {
                same_again(d.name, &module);
                fields.push(slot.name.as_str());
                let _ = writeln!(out, "- `{}`, {}: `{text}`", d.name, slot.doc);
            }
        }
    }
    fields.push("payload");
    payload_in_a_register(&mut out);
    out.push_str("\n## Surfaces and samplers by the addresses of their states, in registers\n\n");
    let mut told_states = Vec::new();
    for op in rows() {
        let d = op.desc();
        let takes = |s: &Slot| s.kind.takes_address();
        if d.slots.iter().any(takes) {
            let handles = |o: &Object, inst: &Inst, index: fn(u32) -> bool| {
                let of = |op: &Operand| matches!(op, Operand::Handle { index: n, .. } if index(*n));
                o.ops(inst).iter().filter(|op| of(op)).count() == d.slots.iter().filter(|s| takes(s)).count()
            };
            let plain = example(op, |o, inst| handles(o, inst, |n| n == 0));
            let indexed = example(op, |o, inst| handles(o, inst, |n| n != 0));
            for (text, module) in [plain.expect(d.name), indexed.expect(d.name)] {
                same_again(d.name, &module);
                if !told_states.contains(&d.slots.as_ptr()) {
                    let _ = writeln!(out, "- `{}`: `{text}`", d.name);
                }
            }
            told_states.push(d.slots.as_ptr());
        }
    }
    out.push_str("\n## Values of older fields\n\n");
    let told = values_of_fields(&mut out);
    out.push_str("\n## Attributes\n\n");
    new_attributes(&mut out);
    for slot in rows().flat_map(|op| op.desc().slots).filter(|s| !s.is_in(BEFORE)) {
        let of_new = rows().filter(|op| !op.desc().versions.contains(BEFORE));
        let new = of_new.flat_map(|op| op.desc().slots).any(|s| s.name == slot.name);
        assert!(new || fields.contains(&slot.name.as_str()), "no instruction says {}", slot.name);
    }
    assert!(missing.is_empty(), "rows without a text: {missing:?}");
    for wanted in ["a32u", "surf", "d8u32", "hf8", "e2m1", "cc"] {
        assert!(told.iter().any(|t| t.1 == wanted), "no instruction says {wanted}");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/SPELLINGS.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &out).expect("docs/SPELLINGS.md");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == out, "docs/SPELLINGS.md is out of date: BLESS=1 rewrites it");
}

fn rows() -> impl Iterator<Item = Op> {
    Op::ALL.iter().copied().filter(|op| op.desc().versions.contains(NOW))
}

/// An address in one register, on which random operands never agree.
fn payload_in_a_register(out: &mut String) {
    let payload = "lsc_load_block2d.ugm (M1, 1) V32:d16.1x16x8nn flat[V33(0,0)+(16,-8)]";
    let text = format!(
        ".version 4.2\n.kernel \"k\"\n.decl V32 v_type=G type=ud num_elts=64\n.decl V33 v_type=G type=ud num_elts=16\n{payload}\n"
    );
    let read = parse(&text, Files::new().add_text("payload", text.as_str()), &ParseOptions::default());
    let (m, o) = (&read.module, &read.module.objects[0]);
    assert_eq!(print_inst(m, o, &o.insts[0]).map(|t| t.trim().to_owned()).ok().as_deref(), Some(payload));
    assert_eq!(o.slot(&o.insts[0], envisa_isa::SlotName::Payload), Some(Operand::Int(1)));
    same_again("payload", m);
    let _ = writeln!(out, "- `LSC_LOAD_BLOCK2D`, an address in one register: `{payload}`");
}

/// The values that 4.2 brought to older fields; gives the fields and the values' texts.
fn values_of_fields(out: &mut String) -> Vec<(&'static str, &'static str)> {
    let mut told: Vec<(&str, &str)> = Vec::new();
    for op in rows() {
        let d = op.desc();
        for (i, slot) in d.slots.iter().enumerate().filter(|(_, s)| s.is_in(BEFORE)) {
            for (part, lo, value) in values(&slot.kind).into_iter().filter(|v| is_new(v.2)) {
                let name = part.unwrap_or(slot.name.as_str());
                if told.contains(&(name, value.text)) {
                    continue;
                }
                let says = |o: &Object, inst: &Inst| match o.ops(inst)[i] {
                    Operand::Int(n) if part.is_some() => n >> lo & 0xff == value.code,
                    Operand::Int(n) => n == value.code,
                    _ => false,
                };
                let Some((text, module)) = example(op, says) else { continue };
                same_again(d.name, &module);
                // Another name reads as the first, which is printed.
                let first = values(&slot.kind).into_iter().find(|v| v.2.code == value.code).map(|v| v.2.text);
                let text = text.replacen(first.unwrap_or(value.text), value.text, 1);
                told.push((name, value.text));
                let _ = writeln!(out, "- {name} `{}`: `{text}`", value.text);
            }
        }
    }
    told
}

/// The attributes that 4.2 brought.
fn new_attributes(out: &mut String) {
    for (name, of_kernel, since) in attributes().filter(|a| a.2 > BEFORE) {
        let text = match of_kernel {
            true => format!(".version 4.2\n.kernel \"k\"\n.kernel_attr {name}=1\n"),
            false => format!(
                ".version 4.2\n.kernel \"k\"\n.decl V32 v_type=G type=ud num_elts=8 attrs={{{name}=1}}\n"
            ),
        };
        let file = Files::new().add_text(name, text.as_str());
        let read = parse(&text, file, &ParseOptions::default());
        assert!(read.complete && read.diagnostics.is_empty(), "{name}: {:#?}", read.diagnostics);
        same_again(name, &read.module);
        let whose = if of_kernel { "kernels" } else { "variables" };
        let _ = writeln!(out, "- `{name}`, of {whose}, since {}.{}", since.0, since.1);
    }
}
