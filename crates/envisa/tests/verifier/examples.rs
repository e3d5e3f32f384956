//! Every rule's failing example is reported with exactly that rule, its corrected neighbour is not.

use envisa::diag::Files;
use envisa::isa::Platforms;
use envisa::text::ParseOptions;
use envisa::verify::{self, Code, Example, Kind, Level, Options, rule};

/// Codes of all findings; lints only where the rule itself is one.
fn codes(text: &str, rule: &verify::Rule) -> Result<Vec<(Code, String)>, String> {
    let platform = rule::example_platform(text);
    let whole = rule::frame_example(text);
    let mut files = Files::new();
    let file = files.add_text("example.visaasm", whole.as_str());
    let parsed = envisa::text::parse(
        &whole,
        file,
        &ParseOptions { platform: Some(platform), ..ParseOptions::default() },
    );
    if !parsed.complete {
        let text = envisa::diag::render_text(&files, &parsed.diagnostics, &Default::default());
        return Err(format!("{}: does not parse on {}:\n{text}", rule.name, platform.name()));
    }
    let options = Options {
        platforms: Platforms::of(&[platform]),
        levels: vec![(rule.code, Level::Deny)],
        lints: rule.kind == Kind::Flow,
        ..Options::default()
    };
    // The frame's variables have no values, and few of them are used.
    let of_frame = [Code::UNUSED, Code::READ_BEFORE_WRITE, Code::DEAD_WRITE, Code::STATE_UNBOUND];
    let frame = |c: Code| c != rule.code && of_frame.contains(&c);
    Ok(verify::check(&parsed.module, &options)
        .into_iter()
        .map(|f| (f.code, f.message))
        .filter(|f| !frame(f.0))
        .collect())
}

#[test]
fn examples() {
    let mut wrong = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for rule in rule::all() {
        assert!(
            seen.insert(rule.code.to_string()) && seen.insert(rule.name.to_string()),
            "{} twice",
            rule.name
        );
        let Example::Text { bad, good } = rule.example else { continue };
        match codes(bad, rule) {
            Err(e) => wrong.push(format!("bad: {e}")),
            Ok(c) if c.is_empty() || c.iter().any(|f| f.0 != rule.code) => {
                wrong.push(format!("{} {}: the failing example gives {c:?}", rule.code, rule.name));
            }
            Ok(_) => {}
        }
        match codes(good, rule) {
            Err(e) => wrong.push(format!("good: {e}")),
            Ok(c) if !c.is_empty() => {
                wrong.push(format!("{} {}: the corrected example gives {c:?}", rule.code, rule.name));
            }
            Ok(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_stale_rules() {
    assert_eq!(verify::stale_page_names(), Vec::<&str>::new());
}

/// A module that breaks a rule which text cannot break: a sound text, and what to do to its module.
type Mutant = (Code, &'static str, fn(&mut envisa::isa::Object));

fn inst(o: &envisa::isa::Object, name: &str) -> envisa::isa::Inst {
    *o.insts.iter().find(|i| i.desc().name == name).expect("the text has the instruction")
}

fn op<'a>(o: &'a mut envisa::isa::Object, name: &str, slot: &str) -> &'a mut envisa::isa::Operand {
    let i = inst(o, name);
    let k = envisa::isa::SlotName::parse(slot)
        .and_then(|s| i.desc().slot_index(s))
        .expect("the row has the slot");
    &mut o.operands[i.first as usize + k]
}

const MOV: &str = "mov (M1,8) Vud(0,0)<1> Vud(1,0)<8;8,1>";

fn with_region(o: &mut envisa::isa::Object, slot: &str, r: envisa::isa::Region) {
    use envisa::isa::Operand;
    if let Operand::General { region, .. } | Operand::Indirect { region, .. } = op(o, "MOV", slot) {
        *region = r;
    }
}

fn mutants() -> Vec<Mutant> {
    [module_mutants(), operand_mutants(), message_mutants()].concat()
}

/// Of what is declared, of labels and of fields.
fn module_mutants() -> Vec<Mutant> {
    use envisa::isa::{Operand, Region, Type};
    const GOTO: &str = "goto (M1,16) l\nl:";
    vec![
        (Code::SHAPE, MOV, |o| *op(o, "MOV", "src") = Operand::Int(3)),
        (Code::DANGLING, MOV, |o| {
            if let Operand::General { var, .. } = op(o, "MOV", "src") {
                *var = 999;
            }
        }),
        (Code::ALIAS_TARGET, MOV, |o| o.vars[0].alias = 40),
        (Code::LABEL_MISSING, GOTO, |o| o.insts.retain(|i| i.desc().name != "LABEL")),
        (Code::LABEL_TWICE, GOTO, |o| {
            let l = inst(o, "LABEL");
            o.insts.insert(1, l);
        }),
        (Code::LABEL_KIND, GOTO, |o| {
            o.labels[0].kind = envisa::isa::LabelUse::Subroutine;
        }),
        (Code::EXEC_CODE, MOV, |o| *op(o, "MOV", "exec") = Operand::Exec(envisa::isa::Exec::from_byte(6))),
        (Code::REGION_CODE, MOV, |o| with_region(o, "src", Region(0x2901))),
        (Code::FIELD_VALUE, "oword_ld (8) T6 0x0:ud Vud.0", |o| *op(o, "OWORD_LD", "size") = Operand::Int(5)),
        (Code::VAR_TYPE, "barrier", |o| o.vars[0].ty = Type::V),
        (Code::ALIAS_OFFSET_UNUSED, MOV, |o| o.vars[1].alias_offset = 4),
        (Code::STATE_ELEMENTS, MOV, |o| o.surfaces[0].elems = 0),
        (Code::TOO_MANY, MOV, |o| {
            let s = o.samplers[0];
            o.samplers.resize(33, s);
        }),
        (
            Code::MANY_INPUTS,
            ".version 4.1\n.kernel \"k\"\n.decl X v_type=G type=ub num_elts=1\n.input X offset=64 size=1\nret (M1_NM,1)\n",
            |o| {
                let first = o.inputs[0];
                o.inputs =
                    (0..256).map(|k| envisa::isa::Input { offset: first.offset + k, ..first }).collect();
            },
        ),
        (
            Code::FUNCTION_SIZES,
            ".version 4.1\n.global_function \"f\"\n.kernel_attr ArgSize=0\n.kernel_attr RetValSize=0\nfret (M1_NM,1)\n",
            |o| o.function_sizes = (40, 0),
        ),
    ]
}

/// Of operands.
fn operand_mutants() -> Vec<Mutant> {
    use envisa::isa::{Modifier, Operand, Region, Type};
    const IMM: &str = "mov (M1,8) Vud(0,0)<1> 0x1:ud";
    const INDIRECT: &str =
        "addr_add (M1_NM,1) A0(0)<1> &Vud[0] 0x0:uw\nmov (M1,8) Vud(0,0)<1> r[A0(0),0]<8;8,1>:ud";
    const ADDR: &str =
        "addr_add (M1_NM,1) A0(0)<1> &Vud[0] 0x0:uw\naddr_add (M1_NM,16) A0(0)<1> A0(0)<1> 0x0:uw";
    vec![
        (Code::OPERAND_CLASS, MOV, |o| *op(o, "MOV", "dst") = Operand::Imm { ty: Type::Ud, bits: 0 }),
        (Code::REGION_WIDTH, "mov (M1_NM,32) Vub(0,0)<1> Vub(0,0)<16;16,1>", |o| {
            with_region(o, "src", Region(0x0277))
        }),
        (Code::REGION_HSTRIDE, MOV, |o| with_region(o, "src", Region(0x0527))),
        (Code::REGION_MISSING, MOV, |o| with_region(o, "src", Region(0x0200))),
        (
            Code::MULTI_ADDRESS_DST,
            "addr_add (M1_NM,1) A0(0)<1> &Vud[0] 0x0:uw\nmov (M1,8) r[A0(0),0]<1>:ud 0x0:ud",
            |o| with_region(o, "dst", Region(0x0220)),
        ),
        (Code::INDIRECT_TYPE, INDIRECT, |o| {
            if let Operand::Indirect { ty, .. } = op(o, "MOV", "src") {
                *ty = Type::V;
            }
        }),
        (Code::IMM_TYPE, IMM, |o| *op(o, "MOV", "src") = Operand::Imm { ty: Type::Bool, bits: 1 }),
        (Code::MODIFIER_PLACE, MOV, |o| {
            if let Operand::General { modifier, .. } = op(o, "MOV", "src") {
                *modifier = Modifier::Sat;
            }
        }),
        (Code::IMM_RANGE, "mov (M1,8) Vuw(0,0)<1> 0x1:uw", |o| {
            *op(o, "MOV", "src") = Operand::Imm { ty: Type::Uw, bits: 0x1_2345 }
        }),
        (Code::ADDRESS_WIDTH, ADDR, |o| {
            let i = o.insts[1];
            if let Operand::Address { width_log2, .. } = &mut o.operands[i.first as usize + 2] {
                *width_log2 = 5;
            }
        }),
    ]
}

/// Of messages.
fn message_mutants() -> Vec<Mutant> {
    use envisa::isa::{Operand, Type};
    const TYPED: &str = "gather4_typed.R (M1,8) T6 Vud.0 Vud.0 %null.0 %null.0 Vud.64";
    const LOAD: &str = "lsc_load.ugm (M1,16) Vud:d32 flat[Vuq]:a64";
    vec![
        (Code::NO_CHANNELS, TYPED, |o| *op(o, "GATHER4_TYPED", "channels") = Operand::Int(0)),
        (Code::LSC_CHANNELS, "lsc_load_quad.ugm (M1,8) Vf:d32.xyzw flat[Vuq]:a64", |o| {
            *op(o, "LSC_LOAD_QUAD", "ch_mask") = Operand::Int(0)
        }),
        (Code::LSC_BASE, LOAD, |o| *op(o, "LSC_LOAD", "surface") = Operand::Imm { ty: Type::Ud, bits: 5 }),
        (
            Code::LSC_APPEND,
            "// platform: Xe3P\n.version 4.2\n.kernel \"k\"\n.decl V v_type=G type=ud num_elts=16 align=GRF\nlsc_apndctr_atomic_add.ugm (M1,16) V:d32 bti(0x0:ud) V.0\nret (M1_NM,1)\n",
            |o| *op(o, "LSC_APNDCTR_ATOMIC_ADD", "addr_type") = Operand::Int(1),
        ),
        (Code::LSC_TYPED_FLAT, "lsc_load_quad.tgm (M1,8) Vf:d32.xyzw bti(0x1:ud)[Vud,Vd]:a32", |o| {
            *op(o, "LSC_TYPED_LOAD_QUAD", "addr_type") = Operand::Int(1);
            *op(o, "LSC_TYPED_LOAD_QUAD", "surface") = Operand::Imm { ty: Type::Ud, bits: 0 };
        }),
        (Code::LSC_FENCE, "lsc_fence.ugm.none.group", |o| {
            *op(o, "LSC_FENCE", "exec") = Operand::Exec(envisa::isa::Exec::from_byte(0))
        }),
    ]
}

#[test]
fn what_text_cannot_say() {
    let mut wrong = Vec::new();
    let mutants = mutants();
    for (code, text, change) in &mutants {
        let rule = rule::get(*code).expect("a rule of this code");
        match codes(text, rule) {
            Ok(c) if c.is_empty() => {}
            other => {
                wrong.push(format!("{}: the sound module gives {other:?}", rule.name));
                continue;
            }
        }
        let whole = rule::frame_example(text);
        let mut module = envisa::text::parse(&whole, Default::default(), &ParseOptions::default()).module;
        change(&mut module.objects[0]);
        let options = Options {
            platforms: Platforms::of(&[rule::example_platform(text)]),
            lints: false,
            ..Options::default()
        };
        let found: Vec<_> =
            verify::check(&module, &options).into_iter().map(|f| (f.code, f.message)).collect();
        if found.is_empty() || found.iter().any(|f| f.0 != *code) {
            wrong.push(format!("{} {}: {found:?}", code, rule.name));
        }
    }
    let apart = [Code::NO_PLATFORM, Code::OBJECT_TWICE];
    for rule in rule::all().filter(|r| matches!(r.example, Example::Binary(_)) && !apart.contains(&r.code)) {
        if !mutants.iter().any(|m| m.0 == rule.code) {
            wrong.push(format!("{} {}: no module breaks it", rule.code, rule.name));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Each of the platforms has something: an error, though no single finding is one.
#[test]
fn no_platform() {
    let text = rule::frame_example(
        "lrp (M1,8) Vf(0,0)<1> Vf(1,0)<8;8,1> Vf(2,0)<8;8,1> Vf(3,0)<8;8,1>\nadd3 (M1,8) Vd(0,0)<1> Vd(1,0)<8;8,1> Vd(2,0)<8;8,1> 0x1:d",
    );
    let parsed = envisa::text::parse(&text, Default::default(), &ParseOptions::default());
    let options = Options { lints: false, ..Options::default() };
    let found = verify::check(&parsed.module, &options);
    let errors: Vec<Code> =
        found.iter().filter(|f| f.severity == envisa::diag::Severity::Error).map(|f| f.code).collect();
    assert_eq!(errors, [Code::NO_PLATFORM]);
    let (_, verified) = verify::verify(parsed.module, &options);
    assert!(verified.is_none());
}

#[test]
fn two_objects_of_one_name() {
    let text = ".version 4.1\n.kernel \"k\"\nret (M1_NM,1)\n.kernel \"l\"\nret (M1_NM,1)\n";
    let mut module = envisa::text::parse(text, Default::default(), &ParseOptions::default()).module;
    assert_eq!(verify::check(&module, &Options::default()), []);
    module.objects[1].name = "k".into();
    let found = verify::check(&module, &Options::default());
    assert_eq!(found.iter().map(|f| (f.code, f.object)).collect::<Vec<_>>(), [(Code::OBJECT_TWICE, 1)]);
}
