//! `envisa explain` knows every row, by every name it has, and its examples are vISA.

use envisa::binary::WriteOptions;
use envisa::diag::Files;
use envisa::isa::Op;
use envisa::text::ParseOptions;
use std::process::Command;

fn envisa(args: &[&str]) -> (Option<i32>, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_envisa")).args(args).output().expect("the command runs");
    (out.status.code(), String::from_utf8(out.stdout).expect("text"))
}

/// A kernel around an example: everything it may name is declared.
fn kernel(example: &str, version: &str) -> String {
    let mut text = format!(".version {version}\n.kernel \"example\"\n");
    for v in 32..64 {
        text.push_str(&format!(".decl V{v} v_type=G type=ud num_elts=256 align=wordx32\n"));
    }
    text.push_str(
        ".decl A0 v_type=A num_elts=16\n.decl P1 v_type=P num_elts=32\n.decl S0 v_type=S num_elts=1\n\
         .decl T6 v_type=T num_elts=1\n.kernel_attr SimdSize=16\n",
    );
    // Some examples end a block or name a label.
    text.push_str(&format!(
        "    {example}\nBB_1:\n    ret (M1, 16)\n.function \"sub\"\nsub:\n    ret (M1, 16)\n"
    ));
    text
}

#[test]
fn examples_parse_and_assemble() {
    let (code, json) = envisa(&["explain", "--json"]);
    assert_eq!(code, Some(0));
    let rows: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let rows = rows.as_array().expect("rows");
    assert_eq!(rows.len(), Op::ALL.len());
    let mut wrong = Vec::new();
    let mut examples = 0;
    for row in rows {
        let name = row["name"].as_str().expect("a name");
        let newer = row["format_versions"].as_str().is_some_and(|v| v.starts_with("from"));
        for example in row["examples"].as_array().expect("examples") {
            let example = example.as_str().expect("text");
            examples += 1;
            let text = kernel(example, if newer { "4.2" } else { "4.1" });
            let mut files = Files::new();
            let id = files.add_text("example", text.as_str());
            let parsed = envisa::text::parse(&text, id, &ParseOptions::default());
            let errors: Vec<String> = parsed
                .diagnostics
                .iter()
                .filter(|d| d.is_error())
                .map(|d| format!("{}: {}", d.code, d.message))
                .collect();
            if !parsed.complete || !errors.is_empty() {
                wrong.push(format!("{name}: {example}\n    {}", errors.join("\n    ")));
                continue;
            }
            let has = parsed.module.objects[0].insts.iter().any(|i| i.desc().name == name);
            if !has {
                wrong.push(format!("{name}: {example}: reads as something else"));
            }
            if let Err(e) = envisa::binary::write(&parsed.module, &WriteOptions::default()) {
                wrong.push(format!("{name}: {example}: {e}"));
            }
        }
    }
    assert!(examples > 300, "{examples} examples");
    assert!(wrong.is_empty(), "{} of {examples}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_name_finds_its_row() {
    // One process for each would take longer than it tells: a sample by process, all by the list.
    let (_, json) = envisa(&["explain", "--json"]);
    let rows: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let (_, list) = envisa(&["explain"]);
    for row in rows.as_array().expect("rows") {
        let name = row["name"].as_str().expect("a name");
        assert!(list.lines().any(|l| l.split_whitespace().nth(1) == Some(name)), "{name} is not in the list");
        assert!(row["brief"].as_str().is_some_and(|b| !b.is_empty()), "{name}");
        assert!(
            row["semantics"].as_str().is_some_and(|s| !s.is_empty()),
            "{name} says nothing of what it does"
        );
    }
    for (i, op) in Op::ALL.iter().enumerate() {
        let d = op.desc();
        let code = match d.sub {
            Some(sub) => format!("{:#04x}.{sub:02x}", d.opcode),
            None => format!("{:#04x}", d.opcode),
        };
        let head = d.forms.first().map_or(d.name, |f| f.head);
        // Each row by one of its three names, in turn.
        let query = [d.name, head, code.as_str()][i % 3];
        let (exit, page) = envisa(&["explain", query]);
        assert_eq!(exit, Some(0), "{query}");
        let title = format!("{} = {code}", d.name);
        assert!(page.lines().any(|l| l == title), "`explain {query}` does not show {title}");
        for section in ["Binary format", "Semantics", "Properties"] {
            assert!(page.contains(section), "{query}: {section}");
        }
        assert!(page.contains("platforms "), "{query}");
    }
}
