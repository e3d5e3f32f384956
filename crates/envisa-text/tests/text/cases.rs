//! Texts of `tests/cases`: what reads and prints, and reads again as the same.
//!
//! The first line says what a file is for: `// RUN: roundtrip`. A file without it fails.

use std::path::Path;

use envisa_diag::{FileId, Files, TextOptions, render_text};
use envisa_text::{ParseOptions, PrintOptions, canonical, parse, print};

fn files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut out: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of cases")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "visaasm"))
        .map(|p| {
            let text = std::fs::read_to_string(&p).expect("UTF-8");
            (p.file_name().expect("a name").to_string_lossy().into_owned(), text)
        })
        .collect();
    out.sort();
    out
}

#[test]
fn cases_read_and_print_and_read_as_the_same() {
    let files = files("cases");
    assert!(files.len() >= 8, "only {} cases", files.len());
    let mut insts = 0;
    for (name, text) in &files {
        assert!(text.starts_with("// RUN: roundtrip"), "{name}: no `// RUN:` line");
        let opts = ParseOptions::default();
        let first = parse(text, FileId(0), &opts);
        let complain = |text: &str, d: &[envisa_diag::Diagnostic]| {
            let mut files = Files::new();
            files.add_text(name.clone(), text.to_owned());
            render_text(&files, d, &TextOptions::default())
        };
        assert!(first.complete, "{}", complain(text, &first.diagnostics));
        let printed =
            print(&first.module, &PrintOptions::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let second = parse(&printed, FileId(0), &opts);
        assert!(second.complete, "{}", complain(&printed, &second.diagnostics));
        if let Some(d) = canonical(&first.module).first_difference(&canonical(&second.module)) {
            panic!("{name}: {d}");
        }
        assert_eq!(
            print(&second.module, &PrintOptions::default()).as_ref(),
            Ok(&printed),
            "{name}: prints otherwise the second time"
        );
        insts += first.module.objects.iter().map(|o| o.insts.len()).sum::<usize>();
    }
    assert!(insts > 250, "only {insts} instructions");
}

#[test]
fn what_text_cannot_say_survives_in_annotations() {
    let text = ".version 4.1\n.kernel \"k\"\n.decl V32 v_type=G type=uq num_elts=8 align=GRF //@ name=\"a b\"\n\
        .input V32 offset=0 size=8 //@ kind=0x28\n.kernel_attr SimdSize=16 //@ bytes=10\n\
        //@ function_sizes=0x102\n\
        svm_block_ld (4) V32(0,0)<0;1,0> V32.0 //@ properties.unaligned=1\n\
        mov (M1, 1) V32(0,0)<1> 0x5678:uw //@ src=0x12345678\n\
        fence_sw //@ mask.local=1 mask.commit=1\nret (M1, 1)\n";
    let first = parse(text, FileId(0), &ParseOptions::default());
    assert!(first.diagnostics.is_empty(), "{:?}", first.diagnostics);
    let o = &first.module.objects[0];
    assert_eq!(o.strings.get(o.vars[0].name), Some("a b"));
    assert_eq!(o.inputs[0].kind, 0x28);
    assert_eq!(o.attrs[0].value, [16]);
    assert_eq!(o.function_sizes, (2, 1));
    assert_eq!(o.slot(&o.insts[0], envisa_isa::SlotName::Properties), Some(envisa_isa::Operand::Int(0x82)));
    assert_eq!(
        o.slot(&o.insts[1], envisa_isa::SlotName::Src),
        Some(envisa_isa::Operand::Imm { ty: envisa_isa::Type::Uw, bits: 0x1234_5678 })
    );
    assert_eq!(o.slot(&o.insts[2], envisa_isa::SlotName::Mask), Some(envisa_isa::Operand::Int(0xa1)));
    let printed = print(&first.module, &PrintOptions::default()).expect("prints");
    let second = parse(&printed, FileId(0), &ParseOptions::default());
    assert!(second.diagnostics.is_empty(), "{printed}\n{:?}", second.diagnostics);
    assert_eq!(canonical(&first.module).first_difference(&canonical(&second.module)), None);
}

#[test]
fn names_that_are_no_identifiers_are_renamed_and_kept() {
    let text = ".version 4.1\n.kernel \"k\"\n.decl X v_type=G type=ud num_elts=8 //@ name=\"add\"\n\
        .decl Y v_type=G type=ud num_elts=8 //@ name=\"V32\"\n.decl Z v_type=G type=ud num_elts=8 //@ name=\"V32\"\n\
        L: //@ name=\"x y\"\ngoto (M1, 8) L\n";
    let first = parse(text, FileId(0), &ParseOptions::default());
    assert!(first.complete, "{:?}", first.diagnostics);
    let printed = print(&first.module, &PrintOptions::default()).expect("prints");
    let second = parse(&printed, FileId(0), &ParseOptions::default());
    assert!(second.complete, "{printed}\n{:?}", second.diagnostics);
    assert_eq!(canonical(&first.module).first_difference(&canonical(&second.module)), None, "{printed}");
}

#[test]
fn crlf_reads_like_lf() {
    for (name, text) in files("cases") {
        if text.contains('\\') || text.contains("comment\n") {
            continue;
        }
        let a = parse(&text, FileId(0), &ParseOptions::default());
        let b = parse(&text.replace('\n', "\r\n"), FileId(0), &ParseOptions::default());
        assert!(b.complete, "{name}: {:?}", b.diagnostics);
        assert_eq!(a.module.first_difference(&b.module), None, "{name}");
    }
}

/// Cuts, doubled bytes and swapped lines: nothing of it may panic.
#[test]
fn damaged_texts_end_in_diagnostics() {
    for (_, text) in files("cases") {
        let bytes = text.as_bytes();
        for at in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.to_vec();
            match at % 3 {
                0 => damaged.truncate(at),
                1 => damaged[at] = b"(<.,\"/*{}%&0x"[at % 13],
                _ => damaged.insert(at, b"\n)>:[]~!-="[at % 10]),
            }
            if let Ok(text) = std::str::from_utf8(&damaged) {
                let r = parse(text, FileId(0), &ParseOptions::default());
                if r.complete {
                    let _ = print(&r.module, &PrintOptions::default());
                }
            }
        }
    }
}

/// Every row of the table has a text written by hand, in a file of its version.
#[test]
fn every_row_has_a_text() {
    use envisa_isa::Op;
    let mut seen = std::collections::BTreeMap::<Op, Vec<(u8, u8)>>::new();
    for (_, text) in files("cases") {
        let m = parse(&text, FileId(0), &ParseOptions::default()).module;
        for o in &m.objects {
            for i in &o.insts {
                seen.entry(i.op).or_default().push(m.version);
            }
        }
    }
    let missing: Vec<String> = Op::ALL
        .iter()
        .filter(|op| !seen.get(op).is_some_and(|v| v.iter().any(|v| op.desc().versions.contains(*v))))
        .map(|op| {
            format!(
                "{op:?} {:?} `{}`",
                op.desc().versions,
                op.desc().forms.first().map_or("", |f| f.template)
            )
        })
        .collect();
    assert!(missing.is_empty(), "{} rows without a text:\n{}", missing.len(), missing.join("\n"));
}
