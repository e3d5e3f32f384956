//! Rendering for code scanning: one SARIF 2.1.0 log.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::{Diagnostic, Files, Severity, render_json};

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
    let artifacts = files.iter().map(|(_, f)| (f.name().to_owned(), Some(f.len()))).collect();
    let lines = render_json(files, diagnostics);
    let said: Vec<Value> = lines.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
    log(artifacts, &said, tool, rules)
}

/// The same of diagnostics that were rendered as JSON ([`render_json`]), one value each.
pub fn sarif_of_json(diagnostics: &[Value], tool: &Tool, rules: &[Rule]) -> String {
    let mut artifacts: Vec<(String, Option<u32>)> = Vec::new();
    for place in diagnostics.iter().flat_map(|d| std::iter::once(d).chain(list(d, "labels"))) {
        let Some(name) = place["file"].as_str() else { continue };
        if artifacts.iter().all(|a| a.0 != name) {
            artifacts.push((name.to_owned(), None));
        }
    }
    log(artifacts, diagnostics, tool, rules)
}

/// The elements of a list of an object.
fn list<'a>(object: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    object[key].as_array().into_iter().flatten()
}

/// A log of diagnostics as JSON has them. `artifacts`: names of files, and their bytes where they are known.
fn log(artifacts: Vec<(String, Option<u32>)>, said: &[Value], tool: &Tool, rules: &[Rule]) -> String {
    let mut driver = Map::new();
    driver.insert("name".into(), json!(tool.name));
    if !tool.version.is_empty() {
        driver.insert("semanticVersion".into(), json!(tool.version));
    }
    if !tool.information_uri.is_empty() {
        driver.insert("informationUri".into(), json!(tool.information_uri));
    }
    driver.insert("rules".into(), rules.iter().map(rule_as_sarif).collect());
    let index: HashMap<&str, usize> = rules.iter().enumerate().map(|(i, r)| (r.id.as_str(), i)).collect();
    let files: HashMap<&str, usize> =
        artifacts.iter().enumerate().rev().map(|(i, a)| (a.0.as_str(), i)).collect();
    let results: Vec<Value> = said.iter().map(|d| result_as_sarif(&files, d, &index)).collect();
    let artifact = |(name, bytes): &(String, Option<u32>)| match bytes {
        Some(bytes) => json!({ "location": { "uri": path_to_uri(name) }, "length": bytes }),
        None => json!({ "location": { "uri": path_to_uri(name) } }),
    };
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "columnKind": "unicodeCodePoints",
            "artifacts": artifacts.iter().map(artifact).collect::<Vec<_>>(),
            "results": results,
        }],
    });
    let mut out = serde_json::to_string_pretty(&log).unwrap_or_default();
    out.push('\n');
    out
}

/// SARIF has no `help` level.
fn sarif_level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note | Severity::Help => "note",
    }
}

fn rule_as_sarif(rule: &Rule) -> Value {
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
    object.insert("defaultConfiguration".into(), json!({ "level": sarif_level(rule.severity) }));
    Value::Object(object)
}

fn result_as_sarif(files: &HashMap<&str, usize>, d: &Value, index: &HashMap<&str, usize>) -> Value {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let mut message = text(&d["message"]);
    for note in list(d, "notes") {
        message.push_str("\nnote: ");
        message.push_str(&text(note));
    }
    for help in list(d, "help") {
        message.push_str("\nhelp: ");
        message.push_str(&text(&help["text"]));
    }
    let mut object = Map::new();
    if let Some(code) = d["code"].as_str() {
        object.insert("ruleId".into(), json!(code));
        if let Some(at) = index.get(code) {
            object.insert("ruleIndex".into(), json!(at));
        }
    }
    let level = match d["level"].as_str() {
        Some("help") => "note".to_owned(),
        _ => text(&d["level"]),
    };
    object.insert("level".into(), json!(level));
    object.insert("message".into(), json!({ "text": message }));
    // The primary label, else the first.
    let labels: Vec<&Value> = list(d, "labels").collect();
    let lead = labels.iter().position(|l| l["primary"] == true).unwrap_or(0);
    let lead_location = labels.get(lead).and_then(|l| location_as_sarif(files, l, None));
    object.insert("locations".into(), lead_location.into_iter().collect());
    let others = labels.iter().enumerate().filter(|(n, _)| *n != lead).enumerate();
    let related: Vec<Value> = others.filter_map(|(i, (_, l))| location_as_sarif(files, l, Some(i))).collect();
    if !related.is_empty() {
        object.insert("relatedLocations".into(), json!(related));
    }
    let fixes: Vec<Value> = list(d, "help")
        .filter_map(|h| {
            let (artifact, region) = physical_location(files, &h["suggestion"])?;
            Some(json!({
                "description": { "text": h["text"] },
                "artifactChanges": [{
                    "artifactLocation": artifact,
                    "replacements": [{
                        "deletedRegion": region,
                        "insertedContent": { "text": h["suggestion"]["replacement"] },
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

fn location_as_sarif(files: &HashMap<&str, usize>, label: &Value, id: Option<usize>) -> Option<Value> {
    let (artifact, region) = physical_location(files, label)?;
    let mut object = Map::new();
    if let Some(id) = id {
        object.insert("id".into(), json!(id));
    }
    object.insert("physicalLocation".into(), json!({ "artifactLocation": artifact, "region": region }));
    if label["text"] != "" {
        object.insert("message".into(), json!({ "text": label["text"] }));
    }
    Some(Value::Object(object))
}

fn physical_location(files: &HashMap<&str, usize>, place: &Value) -> Option<(Value, Value)> {
    let name = place["file"].as_str()?;
    let artifact = json!({ "uri": path_to_uri(name), "index": files.get(name)? });
    let region = if place["line"].is_null() {
        let bytes = place["byte_end"].as_u64()?.saturating_sub(place["byte_start"].as_u64()?);
        json!({ "byteOffset": place["byte_start"], "byteLength": bytes })
    } else {
        json!({
            "startLine": place["line"],
            "startColumn": place["column"],
            "endLine": place["line_end"],
            "endColumn": place["column_end"],
        })
    };
    Some((artifact, region))
}

/// A path as a URI reference: what RFC 3986 does not allow in a path is percent-encoded.
fn path_to_uri(name: &str) -> String {
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
