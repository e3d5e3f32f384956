//! `docs/RULES.md` is generated from the registry: `BLESS=1 cargo test -p envisa --test verify_docs`.

use envisa::diag::Severity;
use envisa::verify::{Example, Kind, rule};
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
         Generated from the registry in `crates/envisa-verify/src/rules`; `BLESS=1 cargo test -p envisa --test verify_docs` writes it anew.\n\n\
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
    for (group, rules) in rule::GROUPS {
        let _ = writeln!(out, "\n## {group}");
        if *group == "Not checked statically" {
            out.push_str(
                "\nRestrictions that no look at the code can decide. *at run time*: the engine checks them where it runs\n\
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
