//! What `envisa run --json` and `envisa diff --json` print is what their schemas say.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn schema(name: &str) -> (boon::Schemas, boon::SchemaIndex) {
    let text = std::fs::read_to_string(root().join("docs").join(name)).expect("the schema");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    let mut compiler = boon::Compiler::new();
    compiler.add_resource(name, schema).expect("a schema");
    // Another one may refer to this one by its name.
    let run = std::fs::read_to_string(root().join("docs/run.schema.json")).expect("the schema");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    let id = run["$id"].as_str().expect("its name").to_owned();
    if name != "run.schema.json" {
        compiler.add_resource(&id, run).expect("a schema");
    }
    let mut schemas = boon::Schemas::new();
    let index = compiler.compile(name, &mut schemas).expect("a sound schema");
    (schemas, index)
}

/// Runs a job of the examples; gives its JSON and exit code.
fn run(args: &[&str]) -> (Value, Option<i32>) {
    let out = Command::new(env!("CARGO_BIN_EXE_envisa"))
        .current_dir(root())
        .arg("run")
        .args(args)
        .arg("--json")
        .output()
        .expect("it runs");
    let json = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|e| panic!("{args:?}: {e}\n{}", String::from_utf8_lossy(&out.stderr)));
    (json, out.status.code())
}

#[test]
fn what_runs_print_is_what_the_schema_says() {
    let (schemas, index) = schema("run.schema.json");
    let scatter = "examples/scatter/scatter.visaasm";
    let collide = "examples/collide/collide.visaasm";
    let runs: [(&[&str], i32, &str); 8] = [
        (&["examples/vadd/job.toml", "--stats"], 0, "/stats/fidelity/0/operation"),
        (
            &["examples/vadd/job.toml", "--arg", "a=fill:f32:1024:inf", "--print", "c:3"],
            1,
            "/outputs/0/elements/0",
        ),
        (&["examples/vadd/job.toml", "--arg", "c=zeros:f32:900"], 1, "/fault/access/nearest/distance"),
        (&["examples/vadd/job.toml", "--arg", "b=0"], 1, "/fault/access/address"),
        (&["examples/race/job.toml", "--check"], 1, "/findings/0/race/other/visa/line"),
        (
            &[
                collide,
                "--platform",
                "SKL",
                "--check",
                "--arg",
                "Values=iota:f32:8",
                "--arg",
                "Places=iota:u32:8",
                "--arg",
                "T6=zeros:f32:8",
            ],
            1,
            "/findings/1/address",
        ),
        (
            &[
                scatter,
                "--platform",
                "SKL",
                "--arg",
                "Values=iota:f32:8",
                "--arg",
                "Places=iota:u32:8",
                "--arg",
                "T6=zeros:f32:8",
                "--print",
                "T6",
            ],
            0,
            "/outputs/0/type",
        ),
        (&["tests/cases/run/forever.visaasm", "--platform", "SKL", "--limit", "50"], 1, "/fault/threads"),
    ];
    for (args, code, has) in runs {
        let (json, ended) = run(args);
        assert_eq!(ended, Some(code), "{args:?}");
        assert!(json.pointer(has).is_some_and(|v| !v.is_null()), "{args:?}: no {has} in {json:#}");
        if let Err(e) = schemas.validate(&json, index) {
            panic!("{args:?}: {e}\n{json:#}");
        }
    }
}

/// The schema knows every field: one that is renamed or new is a change of it.
#[test]
fn the_schema_refuses_what_is_amiss() {
    let (schemas, index) = schema("run.schema.json");
    let (good, _) = run(&["examples/vadd/job.toml", "--arg", "c=zeros:f32:900"]);
    for (at, wrong) in [
        ("/format", Value::from("envisa-run/0")),
        ("/outputs/0/type", Value::from("float")),
        ("/fault/group", Value::from(3)),
        ("/fault/visa/line", Value::from("73")),
        ("/fault/access/address", Value::from("0x1")),
        ("/seconds", Value::Null),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(at).unwrap_or_else(|| panic!("{at}")) = wrong;
        assert!(schemas.validate(&bad, index).is_err(), "{at}");
    }
    for field in ["fault", "outputs", "printed", "work_items"] {
        let mut bad = good.clone();
        bad.as_object_mut().expect("an object").remove(field);
        assert!(schemas.validate(&bad, index).is_err(), "{field}");
    }
}

/// What `envisa diff --json` prints is what its schema says, of results that are the same and of others.
#[test]
#[cfg(feature = "debug")]
fn differences_are_what_their_schema_says() {
    let (schemas, index) = schema("diff.schema.json");
    let folder = tempfile::tempdir().expect("a folder");
    let right = root().join("examples/scatter/scatter.visaasm");
    let wrong = folder.path().join("wrong.visaasm");
    let text = std::fs::read_to_string(&right).expect("the example");
    assert!(text.contains(" Values.0"));
    std::fs::write(&wrong, text.replace(" Values.0", " Places.0")).expect("it is written");
    let diff = |b: &Path| {
        let given = ["Values=iota:f32:8", "Places=iota:u32:8", "T6=zeros:f32:8"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_envisa"));
        command.args(["diff", "--json"]).arg(&right).arg(b).args(["--", "--platform", "SKL"]);
        let out = command.args(given.map(|g| format!("--arg={g}"))).output().expect("it runs");
        let json: Value = serde_json::from_slice(&out.stdout)
            .unwrap_or_else(|e| panic!("{e}\n{}", String::from_utf8_lossy(&out.stderr)));
        if let Err(e) = schemas.validate(&json, index) {
            panic!("{e}\n{json:#}");
        }
        (json, out.status.code())
    };
    let (json, code) = diff(&right);
    assert_eq!((json["same"].as_bool(), code), (Some(true), Some(0)), "{json:#}");
    let (json, code) = diff(&wrong);
    assert_eq!((json["same"].as_bool(), code), (Some(false), Some(1)), "{json:#}");
    assert!(
        json["store"][1]["instruction"].as_str().is_some_and(|i| i.contains("Places.0 Places.0")),
        "{json:#}"
    );
    for field in ["same", "origins", "store"] {
        let mut bad = json.clone();
        bad.as_object_mut().expect("an object").remove(field);
        assert!(schemas.validate(&bad, index).is_err(), "{field}");
    }
}

/// What `--profile-json` writes is what its schema says, and nothing of it is missing.
#[test]
fn profiles_are_what_their_schema_says() {
    let (schemas, index) = schema("profile.schema.json");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("profile.json");
    for job in ["examples/vadd/job.toml", "examples/race/job.toml", "examples/image/job.toml"] {
        run(&[job, "--profile-json", file.to_str().expect("a name")]);
        let json: Value =
            serde_json::from_slice(&std::fs::read(&file).expect("it is written")).expect("JSON");
        if let Err(e) = schemas.validate(&json, index) {
            panic!("{job}: {e}\n{json:#}");
        }
        assert!(json["total"]["executed"].as_u64() > Some(100), "{job}");
        for field in ["executed", "least_bank_steps", "waited"] {
            let mut bad = json.clone();
            bad["instructions"][0].as_object_mut().expect("an object").remove(field);
            assert!(schemas.validate(&bad, index).is_err(), "{job}: {field}");
        }
    }
}

/// What SARIF 2.1.0 demands of the objects that a log of a run has (OASIS, sections 3.13 to 3.49): required properties,
/// and the values that are enumerated.
fn sarif() -> (boon::Schemas, boon::SchemaIndex) {
    let place = serde_json::json!({
        "type": "object",
        "required": ["physicalLocation"],
        "properties": { "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": { "type": "object", "required": ["uri"], "properties": { "uri": { "type": "string", "pattern": "^[^ \\\\]*$" } } },
                "region": {
                    "type": "object",
                    "anyOf": [{ "required": ["startLine"] }, { "required": ["byteOffset"] }],
                    "properties": {
                        "startLine": { "type": "integer", "minimum": 1 },
                        "startColumn": { "type": "integer", "minimum": 1 },
                        "endLine": { "type": "integer", "minimum": 1 },
                        "endColumn": { "type": "integer", "minimum": 1 }
                    }
                }
            }
        } }
    });
    let schema = serde_json::json!({
        "type": "object",
        "required": ["version", "$schema", "runs"],
        "properties": {
            "version": { "const": "2.1.0" },
            "runs": { "type": "array", "minItems": 1, "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": { "type": "object", "required": ["driver"], "properties": { "driver": {
                        "type": "object",
                        "required": ["name", "rules"],
                        "properties": {
                            "name": { "type": "string", "minLength": 1 },
                            "rules": { "type": "array", "uniqueItems": true, "items": {
                                "type": "object",
                                "required": ["id", "shortDescription"],
                                "properties": { "shortDescription": { "$ref": "#/$defs/message" } }
                            } }
                        }
                    } } },
                    "results": { "type": "array", "items": {
                        "type": "object",
                        "required": ["ruleId", "message", "level", "locations"],
                        "properties": {
                            "ruleIndex": { "type": "integer", "minimum": 0 },
                            "level": { "enum": ["none", "note", "warning", "error"] },
                            "message": { "$ref": "#/$defs/message" },
                            "locations": { "type": "array", "minItems": 1, "items": place },
                            "relatedLocations": { "type": "array", "items": place }
                        }
                    } }
                }
            } }
        },
        "$defs": { "message": { "type": "object", "required": ["text"], "properties": { "text": { "type": "string", "minLength": 1 } } } }
    });
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("sarif.json", schema).expect("a schema");
    let mut schemas = boon::Schemas::new();
    let index = compiler.compile("sarif.json", &mut schemas).expect("a sound schema");
    (schemas, index)
}

#[test]
fn sarif_logs_have_what_the_standard_demands() {
    let (schemas, index) = sarif();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("log.sarif");
    let path = file.to_str().expect("a name");
    let runs: [(&[&str], &str); 3] = [
        (&["examples/race/job.toml", "--check"], "F0004"),
        (&["examples/collide/job.toml", "--check"], "F0003"),
        (&["examples/vadd/job.toml", "--arg", "c=zeros:f32:900"], "F0001"),
    ];
    for (args, code) in runs {
        run(&[args, &["--sarif", path]].concat());
        let log: Value = serde_json::from_slice(&std::fs::read(&file).expect("it is written")).expect("JSON");
        if let Err(e) = schemas.validate(&log, index) {
            panic!("{args:?}: {e}\n{log:#}");
        }
        let results = log["runs"][0]["results"].as_array().expect("results");
        assert!(results.iter().any(|r| r["ruleId"] == code), "{args:?}: no {code} in {results:?}");
        // A result's rule is the one at its index.
        for r in results {
            let rule = &log["runs"][0]["tool"]["driver"]["rules"]
                [r["ruleIndex"].as_u64().expect("an index") as usize];
            assert_eq!(rule["id"], r["ruleId"]);
        }
        for (at, field) in [("/runs/0/results/0", "message"), ("/runs/0/tool", "driver"), ("", "version")] {
            let mut bad = log.clone();
            bad.pointer_mut(at).and_then(Value::as_object_mut).expect("an object").remove(field);
            assert!(schemas.validate(&bad, index).is_err(), "{at} {field}");
        }
    }
}

/// A line of a driver's report: a race of an example, as the driver tells it.
fn reported(key: &str) -> Value {
    let (run, _) = run(&["examples/race/job.toml", "--check"]);
    let out = Command::new(env!("CARGO_BIN_EXE_envisa"))
        .current_dir(root())
        .args(["--message-format", "json", "run", "examples/race/job.toml", "--check"])
        .output()
        .expect("it runs");
    let diagnostic = String::from_utf8(out.stderr).expect("UTF-8");
    let diagnostic = diagnostic.lines().find(|l| l.contains("F0004")).expect("the race").to_owned();
    serde_json::json!({
        "kind": "finding", "key": key, "text": "error[F0004]: a race", "diagnostic": diagnostic,
        "finding": run["findings"][0],
    })
}

/// Runs `envisa exec` with these options, of a program whose driver reports these lines; gives its exit code.
fn exec(folder: &Path, lines: &[Value], options: &[&str]) -> Option<i32> {
    let report = folder.join("lines");
    let text: String = lines.iter().map(|l| format!("{l}\n")).collect();
    std::fs::write(&report, text).expect("written");
    std::fs::write(folder.join("driver.so"), "").expect("written");
    let out = Command::new(env!("CARGO_BIN_EXE_envisa"))
        .args(["exec", "--check", "--driver"])
        .arg(folder.join("driver.so"))
        .args(options)
        .args(["--", "sh", "-c", "cat \"$LINES_OF_IT\" >> \"$ENVISA_REPORT\""])
        .env("LINES_OF_IT", &report)
        .current_dir(folder)
        .output()
        .expect("it runs");
    eprintln!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    out.status.code()
}

#[test]
fn what_programs_come_to_is_written_as_what_runs_come_to() {
    let folder = tempfile::tempdir().expect("made");
    let read = |name: &str| -> Value {
        let text = std::fs::read_to_string(folder.path().join(name)).expect("written");
        serde_json::from_str(&text).expect("JSON")
    };
    let mistake =
        serde_json::json!({ "kind": "mistake", "key": "m", "what": "failed", "text": "a call failed" });
    let lines = [reported("a"), mistake, serde_json::json!({ "kind": "note", "text": "a note" })];
    let options = ["--json", "all.json", "--sarif", "all.sarif", "--write-baseline", "known.txt"];
    assert_eq!(exec(folder.path(), &lines, &options), Some(1));
    let (schemas, index) = schema("exec.schema.json");
    let all = read("all.json");
    schemas.validate(&all, index).unwrap_or_else(|e| panic!("{e:#}\n{all:#}"));
    assert_eq!((all["findings"].as_array().map(Vec::len), &all["suppressed"]), (Some(1), &Value::from(0)));
    // The log has the finding at the place where a run's log has it, and the mistake at none.
    let log = read("all.sarif");
    let results = log["runs"][0]["results"].as_array().expect("results");
    let place = |r: &Value| r["locations"][0]["physicalLocation"]["region"]["startLine"].clone();
    assert_eq!(results.iter().map(|r| r["ruleId"].as_str()).collect::<Vec<_>>(), [Some("F0004"), None]);
    let diagnostic = all["findings"][0]["diagnostic"].as_str().expect("a text");
    let diagnostic: Value = serde_json::from_str(diagnostic).expect("JSON");
    assert!(diagnostic["line"].is_u64() && place(&results[0]) == diagnostic["line"], "{diagnostic:#}");
    assert_eq!(results[1]["message"]["text"], "a call failed");
    // What is known is suppressed; the mistake is not; neither is a fault.
    let known = ["--suppress", "known.txt", "--json", "rest.json"];
    assert_eq!(exec(folder.path(), &lines, &known), Some(1));
    assert_eq!(
        (read("rest.json")["findings"].as_array().map(Vec::len), &read("rest.json")["suppressed"]),
        (Some(0), &Value::from(1))
    );
    assert_eq!(exec(folder.path(), &lines[..1], &known), Some(0));
    assert_eq!(exec(folder.path(), &lines, &["--fail-on", "fault"]), Some(0));
}

#[test]
fn the_page_of_a_run_shows_findings_in_place() {
    let folder = tempfile::tempdir().expect("made");
    let page = folder.path().join("page.html");
    let path = page.to_str().expect("UTF-8");
    let (run, code) = run(&["examples/race/job.toml", "--check", "--report", path]);
    assert_eq!(code, Some(1));
    let text = std::fs::read_to_string(&page).expect("written");
    // What is opened is closed, in turn; it loads nothing.
    let mut open: Vec<&str> = Vec::new();
    for tag in text.split('<').skip(1).map(|t| t.split('>').next().unwrap_or_default()) {
        let name = tag.split_whitespace().next().unwrap_or_default();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if name == "meta" || name == "!doctype" || tag.ends_with('/') => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    for part in ["<svg class=\"race\"", "class=\"here\"", "class=\"here other\"", "<svg class=\"map\""] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let findings = run["findings"].as_array().expect("findings");
    assert_eq!(text.matches("<section class=\"finding\"").count(), findings.len());
    assert!(!text.contains("src=") && !text.contains("http://") && text.ends_with("</html>\n"));
}
