//! Renderings held against committed snapshots; `BLESS=1` rewrites them.

use std::path::Path;

use envisa_diag::{
    Diagnostic, FileId, Files, LineCol, Rule, Severity, Span, TextOptions, Tool, render_json, render_one,
    render_sarif, render_text,
};

fn snapshot(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == actual, "{name} differs (BLESS=1 rewrites it):\n{actual}");
}

const KERNEL: &str = "\
.version 4.1
.kernel \"saxpy\"
.decl V32 v_type=G type=f num_elts=16 align=GRF
.decl V33 v_type=G type=f num_elts=8 align=GRF
.function \"saxpy_main\"
_main:
    add (M1,16) V32(0,0)<1> V33(0,0)<1;1,0> 0x1:f
    ret (M1,1)
";

fn span_of(text: &str, needle: &str) -> Span {
    let start = text.find(needle).unwrap() as u32;
    Span::new(start, start + needle.len() as u32)
}

fn typical() -> (Files, FileId, Vec<Diagnostic>) {
    let mut files = Files::new();
    let file = files.add_text("saxpy.visaasm", KERNEL);
    let diags = vec![
        Diagnostic::error("E0204", "source operand reads beyond its variable")
            .primary(file, span_of(KERNEL, "V33(0,0)<1;1,0>"), "16 elements of `f` are read, `V33` holds 8")
            .secondary(file, span_of(KERNEL, "num_elts=8"), "declared here")
            .note("a region <1;1,0> reads as many elements as the execution size")
            .suggest("declare enough elements", file, span_of(KERNEL, "num_elts=8"), "num_elts=16"),
        Diagnostic::warning("W0003", "`V32` is written but never read")
            .primary(file, span_of(KERNEL, "V32(0,0)<1>"), "")
            .help("remove the instruction or output the variable"),
    ];
    (files, file, diags)
}

#[test]
fn text() {
    let (files, _, diags) = typical();
    snapshot("typical.txt", &render_text(&files, &diags, &TextOptions::default()));
}

#[test]
fn colour_only_if_asked() {
    let (files, _, diags) = typical();
    assert!(!render_text(&files, &diags, &TextOptions::default()).contains('\x1b'));
    let options = TextOptions { color: true, ..TextOptions::default() };
    assert!(render_text(&files, &diags, &options).contains("\x1b["));
}

#[test]
fn json() {
    let (files, file, mut diags) = typical();
    diags.push(Diagnostic::new(Severity::Note, "", "no place"));
    diags.push(Diagnostic::error("E1", "ends").primary(file, KERNEL.len() as u32, "here"));
    let json = render_json(&files, &diags);
    let lines: Vec<serde_json::Value> = json.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0]["line"], 7);
    assert_eq!(lines[0]["column"], 29);
    assert_eq!(lines[0]["byte_start"], span_of(KERNEL, "V33(0,0)<1;1,0>").start);
    assert_eq!(lines[0]["help"][0]["suggestion"]["replacement"], "num_elts=16");
    assert_eq!(lines[2]["code"], serde_json::Value::Null);
    assert!(lines[2].get("line").is_none());
    snapshot("typical.jsonl", &json);
}

#[test]
fn sarif() {
    let (mut files, file, mut diags) = typical();
    let binary = files.add_binary("k one.isa", vec![0u8; 64]);
    diags.push(Diagnostic::error("E0301", "unknown opcode 0xff").primary(binary, 28..30, "opcode"));
    diags.push(Diagnostic::error("E0001", "expected an operand").primary(file, 0..0, ""));
    let tool = Tool {
        name: "envisa".into(),
        version: "0.1.0".into(),
        information_uri: "https://example.org/envisa".into(),
    };
    let rules = [Rule {
        id: "E0204".into(),
        name: "source-bounds".into(),
        short: "A source region must lie within its variable.".into(),
        full: String::new(),
        help_uri: String::new(),
        severity: Severity::Error,
    }];
    snapshot("typical.sarif", &render_sarif(&files, &diags, &tool, &rules));
}

#[test]
fn binary_offsets() {
    let mut files = Files::new();
    let bytes: Vec<u8> = (0..70).collect();
    let file = files.add_binary("file.isa", bytes);
    let empty = files.add_binary("gone.isa", Vec::new());
    let diags = [
        Diagnostic::error("E0301", "unknown opcode 0x1c")
            .primary(file, 28..29, "no instruction has this opcode")
            .secondary(file, 4..12, "the kernel's header")
            .note("CISA 3.6"),
        Diagnostic::error("E0302", "input ends in an operand").primary(file, 70..70, "4 more bytes expected"),
        Diagnostic::error("E0303", "no content kept").primary(empty, 12..13, "here"),
        Diagnostic::error("E0304", "at the last bytes").primary(file, 66..90, "beyond"),
    ];
    snapshot("binary.txt", &render_text(&files, &diags, &TextOptions::default()));
}

#[test]
fn far_apart_multi_line_and_two_files() {
    let mut text = String::new();
    for i in 0..3000 {
        text.push_str(&format!("line number {i}\n"));
    }
    let mut files = Files::new();
    let a = files.add_text("a.visaasm", text.clone());
    let b = files.add_text("b.visaasm", "one\ntwo\nthree\n");
    let diags = [
        Diagnostic::error("E1", "far apart")
            .primary(a, span_of(&text, "number 2500"), "used here")
            .secondary(a, span_of(&text, "number 3\n"), "defined here")
            .secondary(a, span_of(&text, "number 2504"), "and again here")
            .secondary(b, 4..7, "in another file"),
        Diagnostic::error("E2", "a few lines").primary(
            a,
            Span::new(span_of(&text, "number 10\n").start, span_of(&text, "number 13\n").end),
            "all",
        ),
        Diagnostic::error("E3", "very many lines").primary(a, 0..text.len() as u32, "everything"),
        Diagnostic::error("E4", "at the end").primary(a, text.len() as u32, "expected `ret`"),
        Diagnostic::error("E5", "unknown file").primary(FileId(77), 0..1, "?"),
    ];
    snapshot("places.txt", &render_text(&files, &diags, &TextOptions::default()));
}

#[test]
fn awkward_text() {
    let mut files = Files::new();
    let crlf = files.add_text("crlf.visaasm", "first\r\n\tadd (M1,8)\tV1\tV2\r\nlast");
    let latin = files.add_text("latin1.visaasm", b"caf\xe9 V1 // \xff\xfe\nnext".to_vec());
    let wide = files.add_text("wide.visaasm", "// größe 漢字 V1 tail");
    let control = files.add_text("control.visaasm", "mov \x1b[31mV1\x07 V2");
    let empty = files.add_text("empty.visaasm", "");
    let diags = [
        Diagnostic::error("E1", "tabs and CRLF").primary(crlf, 19..21, "this").secondary(
            crlf,
            24..26,
            "at CRLF",
        ),
        Diagnostic::error("E2", "last line").primary(crlf, 26..40, "this"),
        Diagnostic::error("E3", "not UTF-8").primary(latin, 5..7, "this"),
        Diagnostic::error("E3", "inside a bad byte").primary(latin, 11..12, "this"),
        Diagnostic::error("E4", "multi-byte").primary(wide, 19..21, "this"),
        Diagnostic::error("E4", "inside a character").primary(wide, 13..14, "this"),
        Diagnostic::error("E5", "control characters").primary(control, 9..11, "this"),
        Diagnostic::error("E6", "empty").primary(empty, 0..0, "nothing here"),
        Diagnostic::error("E6", "beyond").primary(empty, 7..9, "nothing here"),
    ];
    snapshot("awkward.txt", &render_text(&files, &diags, &TextOptions::default()));
    assert_eq!(files.get(crlf).unwrap().line_col(19), LineCol { line: 2, column: 13 });
    assert_eq!(files.get(wide).unwrap().line_col(19), LineCol { line: 1, column: 14 });
    assert_eq!(files.get(crlf).unwrap().line_text(2), "\tadd (M1,8)\tV1\tV2");
}

#[test]
fn a_line_of_a_megabyte() {
    let mut line = "x".repeat(500_000);
    line.push_str("NEEDLE");
    line.push_str(&"y".repeat(500_000));
    let mut files = Files::new();
    let file = files.add_text("long.visaasm", format!("short\n{line}\n"));
    let at = 6 + 500_000;
    let one = [Diagnostic::error("E1", "in the middle").primary(file, at..at + 6, "here").secondary(
        file,
        0..5,
        "and here",
    )];
    snapshot("long_line.txt", &render_text(&files, &one, &TextOptions::default()));
    let whole = Diagnostic::error("E2", "all of it").primary(file, 6..at + 500_006, "too long");
    let text = render_one(&files, &whole, &TextOptions::default());
    assert!(text.len() < 4000, "{}", text.len());
    let many: Vec<Diagnostic> = (0..2000)
        .map(|i| Diagnostic::error("E3", "again").primary(file, at + i..at + i + 3, "here"))
        .collect();
    let options = TextOptions { max: usize::MAX, ..TextOptions::default() };
    assert_eq!(render_text(&files, &many, &options).matches("error[E3]").count(), 2000);
}

#[test]
fn cap_keeps_errors() {
    let mut files = Files::new();
    let file = files.add_text("k.visaasm", "x\n".repeat(300));
    let mut diags: Vec<Diagnostic> =
        (0..200).map(|i| Diagnostic::warning("W1", "w").primary(file, 2 * i..2 * i + 1, "")).collect();
    diags.push(Diagnostic::error("E1", "the error").primary(file, 0..1, ""));
    let text = render_text(&files, &diags, &TextOptions { max: 3, ..TextOptions::default() });
    assert_eq!(text.matches("warning[W1]").count(), 2);
    assert!(text.contains("error[E1]: the error"));
    assert!(text.ends_with("... and 198 more warnings\n"), "{text}");
}

#[test]
fn thousands_over_a_large_file() {
    let mut text = String::new();
    let mut starts = Vec::new();
    while text.len() < 7 << 20 {
        starts.push(text.len() as u32);
        text.push_str(
            "    mad (M1,16) V0123(0,0)<1> V0124(0,0)<1;1,0> V0125(0,0)<1;1,0> V0126(0,0)<1;1,0>\n",
        );
    }
    let mut files = Files::new();
    let file = files.add_text("big.visaasm", text);
    let diags: Vec<Diagnostic> = (0..5000)
        .map(|i| {
            let at = starts[i * starts.len() / 5000];
            Diagnostic::error("E1", "many").primary(file, at + 4..at + 7, "here").secondary(
                file,
                4..7,
                "there",
            )
        })
        .collect();
    let begin = std::time::Instant::now();
    let options = TextOptions { max: usize::MAX, ..TextOptions::default() };
    let out = render_text(&files, &diags, &options);
    assert_eq!(out.matches("error[E1]").count(), 5000);
    // Unoptimised and on a loaded machine this takes about a second; scanning the file each time, hours.
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
    println!("5000 diagnostics in {:?}", begin.elapsed());
}

#[test]
fn any_span_of_any_bytes_renders() {
    // A small generator suffices: the point is that no span or byte makes it panic.
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as u32
    };
    for round in 0..400 {
        let alphabet: &[u8] =
            if round % 2 == 0 { b"ab\r\n\t \xe6\xbc\xa2\xc3\xff" } else { b"a\n\xf0\x9f\x98\x80\r\x00\x1b" };
        let bytes: Vec<u8> = (0..next() % 60).map(|_| alphabet[next() as usize % alphabet.len()]).collect();
        let mut files = Files::new();
        let text = files.add_text("t", bytes.clone());
        let binary = files.add_binary("b", bytes);
        let mut diag = Diagnostic::error("E", "m");
        for _ in 0..1 + next() % 4 {
            let file = if next() % 4 == 0 { binary } else { text };
            let (start, len) = (next() % 70, next() % 20);
            diag = diag.primary(file, start..start + len, "l");
        }
        diag = diag.suggest("s", text, next() % 70..next() % 70, "r\nr");
        let diags = [diag];
        assert!(render_text(&files, &diags, &TextOptions::default()).contains("error[E]"));
        assert_eq!(render_json(&files, &diags).lines().count(), 1);
        assert!(render_sarif(&files, &diags, &Tool::default(), &[]).contains("2.1.0"));
    }
}

/// A member of an object: its name, its type, whether it must be there.
type Member = (&'static str, &'static str, bool);

/// What SARIF 2.1.0 says of the objects that we write: name, type (an object's name, `[]` for arrays of it),
/// and whether it must be there. A list of our own, by the standard's chapter 3; what is not in it is refused,
/// as the standard's schema refuses what it does not know.
const OBJECTS: &[(&str, &[Member])] = &[
    ("sarifLog", &[("$schema", "uri", false), ("version", "2.1.0", true), ("runs", "run[]", true)]),
    (
        "run",
        &[
            ("tool", "tool", true),
            ("columnKind", "columnKind", false),
            ("artifacts", "artifact[]", false),
            ("results", "result[]", false),
        ],
    ),
    ("tool", &[("driver", "toolComponent", true)]),
    (
        "toolComponent",
        &[
            ("name", "string", true),
            ("semanticVersion", "string", false),
            ("informationUri", "uri", false),
            ("rules", "reportingDescriptor[]", false),
        ],
    ),
    (
        "reportingDescriptor",
        &[
            ("id", "string", true),
            ("name", "string", false),
            ("shortDescription", "message", false),
            ("fullDescription", "message", false),
            ("helpUri", "uri", false),
            ("defaultConfiguration", "reportingConfiguration", false),
        ],
    ),
    ("reportingConfiguration", &[("level", "level", false)]),
    ("message", &[("text", "string", true)]),
    ("artifact", &[("location", "artifactLocation", false), ("length", "index", false)]),
    ("artifactLocation", &[("uri", "uri", true), ("index", "index", false)]),
    (
        "result",
        &[
            ("ruleId", "string", false),
            ("ruleIndex", "index", false),
            ("level", "level", false),
            ("message", "message", true),
            ("locations", "location[]", false),
            ("relatedLocations", "location[]", false),
            ("fixes", "fix[]", false),
        ],
    ),
    (
        "location",
        &[
            ("id", "index", false),
            ("physicalLocation", "physicalLocation", true),
            ("message", "message", false),
        ],
    ),
    ("physicalLocation", &[("artifactLocation", "artifactLocation", true), ("region", "region", false)]),
    (
        "region",
        &[
            ("startLine", "count", false),
            ("startColumn", "count", false),
            ("endLine", "count", false),
            ("endColumn", "count", false),
            ("byteOffset", "index", false),
            ("byteLength", "index", false),
        ],
    ),
    ("fix", &[("description", "message", false), ("artifactChanges", "artifactChange[]", true)]),
    (
        "artifactChange",
        &[("artifactLocation", "artifactLocation", true), ("replacements", "replacement[]", true)],
    ),
    ("replacement", &[("deletedRegion", "region", true), ("insertedContent", "message", false)]),
];

fn conforms(value: &serde_json::Value, kind: &str, place: &str) -> Result<(), String> {
    use serde_json::Value;
    let fail = || Err(format!("{place}: {value} is no {kind}"));
    if let Some(inner) = kind.strip_suffix("[]") {
        let Value::Array(list) = value else { return fail() };
        return list.iter().enumerate().try_for_each(|(i, v)| conforms(v, inner, &format!("{place}[{i}]")));
    }
    let text = value.as_str();
    let ok = match kind {
        "string" => text.is_some_and(|s| !s.is_empty()),
        "uri" => text.is_some_and(|s| !s.is_empty() && s.bytes().all(|b| b.is_ascii_graphic())),
        "2.1.0" => text == Some(kind),
        "level" => matches!(text, Some("none" | "note" | "warning" | "error")),
        "columnKind" => matches!(text, Some("utf16CodeUnits" | "unicodeCodePoints")),
        "index" => value.is_u64(),
        "count" => value.as_u64().is_some_and(|n| n > 0),
        _ => {
            let (_, members) = OBJECTS.iter().find(|(name, _)| *name == kind).expect("a kind of the list");
            let Value::Object(object) = value else { return fail() };
            for (name, inner) in object {
                let Some(member) = members.iter().find(|m| m.0 == name) else {
                    return Err(format!("{place}: {kind} has no {name}"));
                };
                conforms(inner, member.1, &format!("{place}.{name}"))?;
            }
            for (name, ..) in members.iter().filter(|m| m.2) {
                if !object.contains_key(*name) {
                    return Err(format!("{place}: {kind} without {name}"));
                }
            }
            true
        }
    };
    if ok { Ok(()) } else { fail() }
}

/// Indices of rules and artifacts name what they should.
fn indices_hold(log: &serde_json::Value) {
    for run in log["runs"].as_array().unwrap() {
        for r in run["results"].as_array().unwrap() {
            if let Some(i) = r["ruleIndex"].as_u64() {
                assert_eq!(run["tool"]["driver"]["rules"][i as usize]["id"], r["ruleId"]);
            }
            for l in r["locations"].as_array().unwrap() {
                let at = &l["physicalLocation"]["artifactLocation"];
                let i = at["index"].as_u64().unwrap() as usize;
                assert_eq!(run["artifacts"][i]["location"]["uri"], at["uri"]);
                let region = &l["physicalLocation"]["region"];
                let of = |name: &str| region[name].as_u64().unwrap_or(0);
                assert!((of("startLine"), of("startColumn")) <= (of("endLine"), of("endColumn")), "{region}");
            }
        }
    }
}

#[test]
fn sarif_is_what_the_standard_says() {
    let (mut files, file, mut diags) = typical();
    let binary = files.add_binary("k\u{e9} one.isa", vec![0u8; 64]);
    diags.push(Diagnostic::error("E0301", "unknown opcode 0xff").primary(binary, 28..30, "opcode"));
    diags.push(Diagnostic::error("", "without a code").primary(file, 0..0, ""));
    diags.push(Diagnostic::new(Severity::Note, "", "no place"));
    let tool = Tool { name: "envisa".into(), ..Tool::default() };
    let rules = ["E0204", "W0003"].map(|id| Rule {
        id: id.into(),
        name: "a-rule".into(),
        short: "One sentence.".into(),
        full: "More.".into(),
        help_uri: "https://example.org/rule".into(),
        severity: Severity::Error,
    });
    let log = serde_json::from_str(&render_sarif(&files, &diags, &tool, &rules)).unwrap();
    conforms(&log, "sarifLog", "log").unwrap();
    indices_hold(&log);
    let empty = serde_json::from_str(&render_sarif(&Files::new(), &[], &tool, &[])).unwrap();
    conforms(&empty, "sarifLog", "log").unwrap();
    // The check refuses what is wrong.
    let mut wrong = log.clone();
    wrong["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(conforms(&wrong, "sarifLog", "log").is_err());
    let mut wrong = log;
    wrong["runs"][0]["tool"]["driver"].as_object_mut().unwrap().remove("name");
    assert!(conforms(&wrong, "sarifLog", "log").is_err());
}
