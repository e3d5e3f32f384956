//! Rendering for code scanning: one SARIF 2.1.0 log.

use serde_json::{Map, Value, json};

use crate::{Diagnostic, FileId, Files, Label, Severity, Span};

/// Who made the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tool {
    /// The program's name.
    pub name: String,
    /// Its version, as in semantic versioning.
    pub version: String,
    /// Where it is described; empty for nowhere.
    pub information_uri: String,
}

/// What is known of a code, independent of any finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The code, as in [`Diagnostic::code`].
    pub id: String,
    /// A short name for people; empty for none.
    pub name: String,
    /// One sentence.
    pub short: String,
    /// The explanation; empty for none.
    pub full: String,
    /// A page on it; empty for none.
    pub help_uri: String,
    /// The severity a finding has unless configured otherwise.
    pub severity: Severity,
}

/// Renders diagnostics as a SARIF 2.1.0 log with one run. `rules` may hold more rules than were found; a
/// code without a rule is reported without a `ruleIndex`.
pub fn render_sarif(files: &Files, diagnostics: &[Diagnostic], tool: &Tool, rules: &[Rule]) -> String {
    let mut driver = Map::new();
    driver.insert("name".into(), json!(tool.name));
    if !tool.version.is_empty() {
        driver.insert("semanticVersion".into(), json!(tool.version));
    }
    if !tool.information_uri.is_empty() {
        driver.insert("informationUri".into(), json!(tool.information_uri));
    }
    driver.insert("rules".into(), rules.iter().map(rule).collect());
    let index: std::collections::HashMap<&str, usize> =
        rules.iter().enumerate().map(|(i, r)| (r.id.as_str(), i)).collect();
    let artifacts: Vec<Value> = files
        .iter()
        .map(|(_, f)| json!({ "location": { "uri": uri(f.name()) }, "length": f.len() }))
        .collect();
    let results: Vec<Value> = diagnostics.iter().map(|d| result(files, d, &index)).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "columnKind": "unicodeCodePoints",
            "artifacts": artifacts,
            "results": results,
        }],
    });
    let mut out = serde_json::to_string_pretty(&log).unwrap_or_default();
    out.push('\n');
    out
}

/// SARIF has no `help` level.
fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note | Severity::Help => "note",
    }
}

fn rule(rule: &Rule) -> Value {
    let mut object = Map::new();
    object.insert("id".into(), json!(rule.id));
    object.insert("shortDescription".into(), json!({ "text": rule.short }));
    if !rule.name.is_empty() {
        object.insert("name".into(), json!(rule.name));
    }
    if !rule.full.is_empty() {
        object.insert("fullDescription".into(), json!({ "text": rule.full }));
    }
    if !rule.help_uri.is_empty() {
        object.insert("helpUri".into(), json!(rule.help_uri));
    }
    object.insert("defaultConfiguration".into(), json!({ "level": level(rule.severity) }));
    Value::Object(object)
}

fn result(files: &Files, d: &Diagnostic, index: &std::collections::HashMap<&str, usize>) -> Value {
    let mut message = d.message.to_string();
    for note in &d.notes {
        message.push_str("\nnote: ");
        message.push_str(note);
    }
    for help in &d.helps {
        message.push_str("\nhelp: ");
        message.push_str(&help.text);
    }
    let mut object = Map::new();
    if !d.code.is_empty() {
        object.insert("ruleId".into(), json!(d.code));
        if let Some(at) = index.get(d.code.as_ref()) {
            object.insert("ruleIndex".into(), json!(at));
        }
    }
    object.insert("level".into(), json!(level(d.severity)));
    object.insert("message".into(), json!({ "text": message }));
    let lead = d.location();
    object.insert("locations".into(), lead.iter().filter_map(|l| location(files, l, None)).collect());
    let related: Vec<Value> = d
        .labels
        .iter()
        .filter(|l| !lead.is_some_and(|lead| std::ptr::eq(lead, *l)))
        .enumerate()
        .filter_map(|(i, l)| location(files, l, Some(i)))
        .collect();
    if !related.is_empty() {
        object.insert("relatedLocations".into(), json!(related));
    }
    let fixes: Vec<Value> = d
        .helps
        .iter()
        .filter_map(|h| {
            let s = h.suggestion.as_ref()?;
            let (artifact, region) = physical(files, s.file, s.span)?;
            Some(json!({
                "description": { "text": h.text },
                "artifactChanges": [{
                    "artifactLocation": artifact,
                    "replacements": [{
                        "deletedRegion": region,
                        "insertedContent": { "text": s.replacement },
                    }],
                }],
            }))
        })
        .collect();
    if !fixes.is_empty() {
        object.insert("fixes".into(), json!(fixes));
    }
    Value::Object(object)
}

fn location(files: &Files, label: &Label, id: Option<usize>) -> Option<Value> {
    let (artifact, region) = physical(files, label.file, label.span)?;
    let mut object = Map::new();
    if let Some(id) = id {
        object.insert("id".into(), json!(id));
    }
    object.insert("physicalLocation".into(), json!({ "artifactLocation": artifact, "region": region }));
    if !label.text.is_empty() {
        object.insert("message".into(), json!({ "text": label.text }));
    }
    Some(Value::Object(object))
}

fn physical(files: &Files, id: FileId, span: Span) -> Option<(Value, Value)> {
    let file = files.get(id)?;
    let artifact = json!({ "uri": uri(file.name()), "index": id.0 });
    let region = if file.is_binary() {
        json!({ "byteOffset": span.start, "byteLength": span.end - span.start })
    } else {
        let (start, end) = (file.line_col(span.start), file.line_col(span.end));
        json!({
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        })
    };
    Some((artifact, region))
}

/// A path as a URI reference: what RFC 3986 does not allow in a path is percent-encoded.
fn uri(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    if name.starts_with('/') {
        out.push_str("file://");
    }
    for &byte in name.as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte as char)
            }
            b'\\' => out.push('/'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
