//! `docs/RULES.md` is generated from the registry: `BLESS=1 cargo test -p envisa --test verifier rules_page`.

use envisa::diag::Severity;
use envisa::isa::desc::{Enc, InstDesc, SlotKind};
use envisa::isa::{Platforms, TABLE, TypeSet};
use envisa::verify::{Code, Example, Kind, rule};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

fn level(r: &envisa::verify::Rule) -> &'static str {
    match (r.kind, r.severity) {
        (Kind::Runtime, _) => "at run time",
        (Kind::Unchecked, _) => "not checked",
        (_, Severity::Error) => "error",
        (_, Severity::Warning) => "warning",
        _ => "off",
    }
}

fn generated() -> String {
    let mut out = String::from(
        "# Rules of `envisa check`\n\n\
         Generated from the registry in `crates/envisa-verify/src/rules`; `BLESS=1 cargo test -p envisa --test verifier rules_page` writes it anew.\n\n\
         A *page* is the chapter or instruction page of the vISA specification that states the rule. *error* refuses the\n\
         module; *warning* does not, because the reference compiler's own output breaks the rule, or because it is a lint;\n\
         *off* is reported with `--warn` or `--deny` only. Rules read the instruction table, so types, sizes, platforms and\n\
         values are stated there (`envisa explain INSTRUCTION`), not here.\n\n\
         Examples stand in a kernel that declares `Vud`, `Vd`, … `Vbf` (64 elements of each type, register-aligned),\n\
         predicates `P8`, `P16`, `P32`, addresses `A0` (16 elements), surface `T6` and sampler `S0`, with `SimdSize` 16; they\n\
         are checked for DG2 unless they name a platform.\n\n\
         | rule | name | level | page | what |\n| --- | --- | --- | --- | --- |\n",
    );
    for (_, rules) in rule::GROUPS {
        for r in *rules {
            let _ = writeln!(out, "| {} | {} | {} | {} | {} |", r.code, r.name, level(r), r.page, r.brief);
        }
    }
    by_page(&mut out);
    for (group, rules) in rule::GROUPS {
        let _ = writeln!(out, "\n## {group}");
        if *group == "Not checked statically" {
            out.push_str(
                "\nRestrictions that the code alone does not decide. *at run time*: the engine checks them where it runs\n\
                 with checks. *not checked*: nobody does, with the reason.\n",
            );
        }
        for r in *rules {
            let _ = writeln!(out, "\n### {} {} ({})\n\n{}. {}", r.code, r.name, level(r), r.brief, r.text);
            match r.example {
                Example::Text { bad, good } => {
                    let _ = writeln!(
                        out,
                        "\n```text\n{}\n```\n\ninstead\n\n```text\n{}\n```",
                        bad.trim_end(),
                        good.trim_end()
                    );
                }
                Example::Binary(how) => {
                    let _ = writeln!(out, "\nExample: {how}.");
                }
                Example::None => {}
            }
        }
    }
    out
}

/// Rules that look at a row because of the slots it has.
fn generic(desc: &InstDesc) -> BTreeSet<Code> {
    let mut codes = BTreeSet::new();
    if desc.platforms != Platforms::ALL {
        codes.insert(Code::NOT_ON_PLATFORM);
    }
    for slot in desc.slots {
        let kind = match &slot.kind {
            SlotKind::Many(kind) | SlotKind::If { kind, .. } => kind,
            kind => kind,
        };
        let list: &[Code] = match kind {
            SlotKind::Exec => &[Code::EXEC_SIZE, Code::EXEC_MASK, Code::EXEC_BEYOND_SIMD],
            SlotKind::Pred => &[Code::PREDICATE_SIZE],
            SlotKind::Vector(_) => &[Code::OPERAND_CLASS, Code::OUTSIDE_VARIABLE],
            SlotKind::Raw { .. } => {
                &[Code::RAW_ALIGNMENT, Code::RAW_NULL, Code::RAW_OUTSIDE, Code::RAW_EXTENT]
            }
            SlotKind::Surface { .. } => &[Code::SLM_NOT_ALLOWED, Code::STATELESS_NOT_ALLOWED],
            SlotKind::Label(_) => &[Code::LABEL_KIND],
            SlotKind::Field { enc: Enc::Channels, .. } => &[Code::FIELD_VALUE, Code::NO_CHANNELS],
            SlotKind::Field { .. } | SlotKind::Packed { .. } => &[Code::FIELD_VALUE, Code::FIELD_PLATFORM],
            _ => &[],
        };
        codes.extend(list);
        if slot.types != TypeSet::ANY && slot.types != TypeSet::NONE {
            let raw = matches!(kind, SlotKind::Raw { .. });
            codes.insert(if raw { Code::RAW_TYPE } else { Code::OPERAND_TYPE });
        }
        if matches!(kind, SlotKind::Vector(_)) && !desc.type_maps.is_empty() {
            codes.extend([Code::TYPE_COMBINATION, Code::SOURCE_MODIFIER, Code::SATURATION]);
            codes.extend([Code::REGION_WIDTH, Code::EXEC_BELOW_WIDTH, Code::DST_STRIDE_ZERO, Code::TWO_GRFS]);
        }
    }
    codes
}

/// Which rules stand for what a page states: by its slots, and by name.
fn by_page(out: &mut String) {
    let mut pages: BTreeMap<&str, (BTreeSet<Code>, BTreeSet<Code>)> = BTreeMap::new();
    for desc in TABLE.iter().filter(|d| !d.page.is_empty()) {
        pages.entry(desc.page).or_default().0.extend(generic(desc));
    }
    for r in rule::all().filter(|r| !r.page.is_empty()) {
        pages.entry(r.page).or_default().1.insert(r.code);
    }
    out.push_str(
        "\n## By page\n\n\
         *By slots*: rules that check the operands, sizes, types, values and platforms of the page's instruction against the\n\
         instruction table. *By name*: rules that the page or chapter itself states.\n\n\
         | page | by slots | by name |\n| --- | --- | --- |\n",
    );
    let list = |codes: &BTreeSet<Code>| codes.iter().map(Code::to_string).collect::<Vec<_>>().join(" ");
    for (page, (slots, named)) in &pages {
        let _ = writeln!(out, "| {page} | {} | {} |", list(slots), list(named));
    }
}

#[test]
fn rules() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/RULES.md");
    let text = generated();
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("docs/");
        std::fs::write(&path, text).expect("docs/RULES.md is writable");
        return;
    }
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(old == text, "docs/RULES.md is stale: run with BLESS=1");
}
