//! Binaries of the releases that lose operands: recognised, named, shown as far as they go, nothing invented.
//!
//! `tests/damaged/NAME.isa` are what our writer makes of `NAME.visaasm` with that damage (`BLESS=1` rewrites);
//! where the reference assembler is installed, it makes more of them from the corpus.

use crate::oracle;

use envisa::binary::{RecoveredObject, Stop, WriteOptions, recover, write_as_reference};
use envisa::isa::{Module, Op, Platform};
use oracle::compare::{Outcome, parsed};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn envisa(args: &[&str], file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_envisa")).args(args).arg(file).output().expect("envisa starts")
}

/// The releases, as the message names them.
const RELEASES: &str = "1.0.12198.1 up to, not including, 1.0.13064.4";

/// Both commands on a damaged file: what they say, how they end, and what they show.
fn check_commands(file: &Path, m: &Module) {
    let name = file.display();
    for args in [&["info"][..], &["dis"]] {
        let out = envisa(args, file);
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{args:?} {name}: {said}");
        assert!(said.contains("E0908") && said.contains(RELEASES), "{args:?} {name}: {said}");
        assert!(
            said.contains("cannot be restored") && said.contains("dis --recover"),
            "{args:?} {name}: {said}"
        );
    }
    let shown = String::from_utf8_lossy(&envisa(&["info"], file).stdout).into_owned();
    let out = envisa(&["dis", "--recover"], file);
    assert_eq!(out.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&out.stderr));
    let listing = String::from_utf8_lossy(&out.stdout).into_owned();
    for text in [&shown, &listing] {
        assert!(text.contains("this is not an assembly") && text.contains(RELEASES), "{name}:\n{text}");
        for o in &m.objects {
            assert!(text.contains(&o.name), "{name}: {} is not shown", o.name);
            // Each instruction on a line of its own, in order.
            let mut lines = text.lines();
            for inst in &o.insts {
                let mnemonic = inst.desc().name.to_ascii_lowercase();
                assert!(
                    lines.any(|l| l.split_whitespace().nth(1) == Some(&mnemonic)),
                    "{name}: {mnemonic} of {} is not shown in its place:\n{text}",
                    o.name
                );
            }
        }
    }
}

/// Opcodes are those of the module, and operands those of their beginning: none is invented.
fn check_operands(bytes: &[u8], m: &Module) -> (usize, usize) {
    let got = recover(bytes).expect("the tables can be read");
    let (mut there, mut missing) = (0, 0);
    assert_eq!(got.objects.len(), m.objects.len());
    for (o, want) in got.objects.iter().zip(&m.objects) {
        let o: &RecoveredObject = o;
        assert!(!matches!(o.stop, Stop::Lost(_)), "{:?}", o.stop);
        assert_eq!(o.tables.vars.len(), want.vars.len());
        assert_eq!(o.tables.inputs.len(), want.inputs.len());
        let ops: Vec<Op> = want.insts.iter().map(|i| i.op).collect();
        assert_eq!(o.insts.iter().map(|i| i.op).collect::<Vec<_>>(), ops);
        for (inst, whole) in o.insts.iter().zip(&want.insts) {
            let (have, all) = (o.ops(inst), want.ops(whole));
            assert_eq!(have, &all[..have.len()], "{}", inst.op.desc().name);
            there += have.len();
            missing += inst.missing as usize;
        }
    }
    (there, missing)
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/damaged");
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the cases are there")
        .map(|e| e.expect("a readable folder").path())
        .filter(|p| p.extension().is_some_and(|e| e == "visaasm"))
        .collect();
    all.sort();
    assert!(!all.is_empty());
    all
}

#[test]
fn committed_cases() {
    for case in cases() {
        let text = std::fs::read_to_string(&case).expect("a text");
        let m = parsed(&text, Platform::Skl).unwrap_or_else(|e| panic!("{}: {e}", case.display()));
        let bytes = write_as_reference(&m, &WriteOptions::default()).expect("it can be written");
        let path = case.with_extension("isa");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &bytes).expect("the case is written");
        }
        assert!(std::fs::read(&path).is_ok_and(|b| b == bytes), "{}: BLESS=1 rewrites it", path.display());
        check_commands(&path, &m);
        assert!(check_operands(&bytes, &m).1 > 0);
    }
}

/// What IGC itself dumped has noise where GenX_IR writes zeros.
#[test]
fn noise_for_a_filler() {
    for case in cases() {
        let text = std::fs::read_to_string(&case).expect("a text");
        let m = parsed(&text, Platform::Skl).unwrap_or_else(|e| panic!("{}: {e}", case.display()));
        let mut bytes = write_as_reference(&m, &WriteOptions::default()).expect("it can be written");
        let objects = recover(&bytes).expect("the tables can be read").objects;
        for o in &objects {
            let Stop::Damaged { filler, zeros: true } = o.stop else { panic!("{:?}", o.stop) };
            for (i, b) in bytes[filler..o.code.end].iter_mut().enumerate() {
                // Like a pointer: no opcode is among these.
                *b = [0xff, 0x7f, 0xf0, 0xfe][i % 4];
            }
        }
        check_operands(&bytes, &m);
        let again = recover(&bytes).expect("the tables can be read").objects;
        assert!(again.iter().all(|o| matches!(o.stop, Stop::Damaged { zeros: false, .. })));
    }
}

#[test]
fn what_the_reference_writes() {
    if !oracle::available("what_the_reference_writes") {
        return;
    }
    let texts = oracle::corpus::texts();
    let dir = tempfile::tempdir().expect("a folder");
    let mut lost = 0;
    for (n, t) in texts.iter().step_by(texts.len() / 8).enumerate() {
        let m = parsed(&t.text, t.platform).unwrap_or_else(|e| panic!("{}: {e}", t.name));
        let bytes = match oracle::bytes(&t.text, t.platform) {
            Ok(bytes) => bytes,
            // Texts that it does not take are known.
            Err(e) => {
                let known = oracle::report::exceptions();
                assert!(known.iter().any(|x| x.covers(&t.name, Outcome::Rejected, &e)), "{}: {e}", t.name);
                continue;
            }
        };
        lost += check_operands(&bytes, &m).1;
        let path = dir.path().join(format!("{n}.isa"));
        std::fs::write(&path, &bytes).expect("the file is written");
        check_commands(&path, &m);
    }
    assert!(lost > 0, "the installed GenX_IR loses nothing: is it of another release?");
}
