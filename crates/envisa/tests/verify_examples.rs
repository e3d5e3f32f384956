//! Every rule's failing example is reported with exactly that rule, its corrected neighbour is not.

use envisa::diag::Files;
use envisa::isa::Platforms;
use envisa::text::ParseOptions;
use envisa::verify::{self, Code, Example, Kind, Level, Options, rule};

/// Codes of all findings; lints only where the rule itself is one.
fn codes(text: &str, rule: &verify::Rule) -> Result<Vec<(Code, String)>, String> {
    let platform = rule::example_platform(text);
    let whole = rule::framed(text);
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
    let frame =
        |c: Code| c != rule.code && [Code::UNUSED, Code::READ_BEFORE_WRITE, Code::DEAD_WRITE].contains(&c);
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
    assert_eq!(verify::stale(), Vec::<&str>::new());
}
