//! What programs tell of their tests.

use serde::{Deserialize, Serialize};

/// How results are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The XML of JUnit, as pytest writes it, in the file `{results}`.
    Junit,
    /// Lines of standard output: `PASS name`, `FAIL name: why`, `SKIP name: why`.
    Lines,
}

/// A test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Its name, the same on all devices.
    #[serde(deserialize_with = "name_anywhere")]
    pub name: String,
    /// What became of it.
    pub status: Status,
    /// What it says of that: the first lines.
    pub says: String,
}

/// What became of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It passed.
    Passed,
    /// It failed, or broke down.
    Failed,
    /// It left itself out.
    Skipped,
}

/// A test's name without the device that it ran on, which PyOpenCL's tests have in theirs.
fn anywhere(name: &str) -> String {
    let (start, end) = ("<context factory for <", ">>");
    let Some((before, rest)) = name.split_once(start) else { return name.to_owned() };
    let after = rest.split_once(end).map_or("", |(_, after)| after);
    format!("{before}{}", after.strip_prefix('-').unwrap_or(after)).replace("[]", "")
}

fn name_anywhere<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    String::deserialize(from).map(|name| anywhere(&name))
}

/// The first characters of a text, on one line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Reads lines.
pub fn lines(text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for line in text.lines() {
        let Some((word, rest)) = line.split_once(' ') else { continue };
        let status = match word {
            "PASS" => Status::Passed,
            "FAIL" => Status::Failed,
            "SKIP" => Status::Skipped,
            _ => continue,
        };
        let (name, says) = rest.split_once(": ").unwrap_or((rest, ""));
        cases.push(Case { name: name.trim().to_owned(), status, says: short(says) });
    }
    cases
}

/// Reads the XML of JUnit.
///
/// # Errors
/// If it is none.
pub fn junit(text: &str) -> Result<Vec<Case>, String> {
    let document = roxmltree::Document::parse(text).map_err(|e| e.to_string())?;
    let mut cases = Vec::new();
    for node in document.descendants().filter(|n| n.has_tag_name("testcase")) {
        let class = node.attribute("classname").unwrap_or_default();
        let name = node.attribute("name").unwrap_or_default();
        let name = if class.is_empty() { name.to_owned() } else { format!("{class}.{name}") };
        let found = |tag: &str| node.children().find(|n| n.has_tag_name(tag));
        let (status, what) = match (found("failure").or(found("error")), found("skipped")) {
            (Some(f), _) => (Status::Failed, Some(f)),
            (None, Some(s)) => (Status::Skipped, Some(s)),
            (None, None) => (Status::Passed, None),
        };
        let says = what.and_then(|n| n.attribute("message")).unwrap_or_default();
        cases.push(Case { name: anywhere(&name), status, says: short(says) });
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read() {
        let all = lines("noise\nPASS a b\nFAIL c: d: e\nSKIP f: no\n");
        assert_eq!(all.len(), 3);
        assert_eq!(
            (all[1].name.as_str(), all[1].says.as_str(), all[1].status),
            ("c", "d: e", Status::Failed)
        );
        let xml = r#"<testsuites><testsuite><testcase classname="m" name="a"/>
            <testcase classname="m" name="b"><failure message="x&#10;y">long</failure></testcase>
            <testcase name="c"><skipped message="no"/></testcase></testsuite></testsuites>"#;
        let all = junit(xml).unwrap();
        assert_eq!(all.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["m.a", "m.b", "c"]);
        assert_eq!(all[1].says, "x y");
        assert_eq!(
            all.iter().map(|c| c.status).collect::<Vec<_>>(),
            [Status::Passed, Status::Failed, Status::Skipped]
        );
        assert!(junit("<a>").is_err());
    }

    #[test]
    fn names_are_the_same_on_all_devices() {
        assert_eq!(anywhere("t.test_a[<context factory for <pyopencl.Device 'A' on 'B'>>]"), "t.test_a");
        assert_eq!(
            anywhere("t.test_b[<context factory for <pyopencl.Device 'A' on 'B'>>-f4]"),
            "t.test_b[f4]"
        );
        assert_eq!(anywhere("t.test_c[f4]"), "t.test_c[f4]");
        let old = r#"{"name": "a[<context factory for <x>>]", "status": "failed", "says": ""}"#;
        assert_eq!(serde_json::from_str::<Case>(old).unwrap().name, "a");
    }
}
