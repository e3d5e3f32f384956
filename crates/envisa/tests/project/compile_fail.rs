//! What must not compile: a row of the table that does not say what the instruction does or what it touches, an
//! operation that the interpreter does not know or whose fidelity nobody stated. A copy of the rooms concerned is
//! changed, one place at a time, and checked with cargo; unchanged it has to pass.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The rooms that a copy needs.
const ROOMS: &[&str] = &[
    "envisa-isa",
    "envisa-diag",
    "envisa-verify",
    "envisa-sem",
    "envisa-zebin",
    "envisa-lower",
    "envisa-machine",
    "envisa-interp",
    "envisa-sanitize",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// Copies a folder's files that differ from what is there, so that cargo sees only those as new, and removes those that it no
/// longer has.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(to).expect("a folder") {
        let path = entry.expect("an entry").path();
        let still = from.join(path.file_name().expect("a name"));
        if path.is_file() && !still.is_file() {
            std::fs::remove_file(path).expect("a file");
        }
    }
    for entry in std::fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let beside = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &beside);
        } else {
            put(&beside, &std::fs::read(&path).expect("a file"));
        }
    }
}

fn put(path: &Path, content: &[u8]) {
    if std::fs::read(path).ok().as_deref() != Some(content) {
        std::fs::write(path, content).expect("a file");
    }
}

/// A copy of the rooms without their tests, as a workspace of its own.
struct Copy {
    root: PathBuf,
}

impl Copy {
    fn new() -> Copy {
        // In the build folder, so that what cargo made of it the last time is still there.
        let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile-fail");
        let from = root();
        for room in ROOMS {
            let (from, to) = (from.join("crates").join(room), to.join("crates").join(room));
            copy(&from.join("src"), &to.join("src"));
            let manifest = std::fs::read_to_string(from.join("Cargo.toml")).expect("a manifest");
            // What only tests need may be of rooms that are not here.
            let ships = manifest.split("\n[dev-dependencies]").next().expect("a part");
            put(&to.join("Cargo.toml"), ships.as_bytes());
        }
        let manifest = std::fs::read_to_string(from.join("Cargo.toml")).expect("a manifest");
        let manifest: String =
            manifest
                .lines()
                .filter(|l| !l.starts_with("default-members") && !l.starts_with("exclude = [\"fuzz\"]"))
                .map(|l| {
                    if l.starts_with("members") {
                        "members = [\"crates/*\"]".into()
                    } else {
                        format!("{l}\n")
                    }
                })
                .map(|l| if l.ends_with('\n') { l } else { l + "\n" })
                .collect();
        put(&to.join("Cargo.toml"), manifest.as_bytes());
        put(&to.join("Cargo.lock"), &std::fs::read(from.join("Cargo.lock")).expect("the lock file"));
        Copy { root: to }
    }

    /// Checks a room; the errors if it does not compile.
    fn check(&self, room: &str) -> Result<(), String> {
        let out = Command::new(env!("CARGO"))
            .args(["check", "--offline", "-q", "-p", room])
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            .output()
            .expect("cargo runs");
        if out.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&out.stderr).into_owned()) }
    }

    /// With one text of a file changed to another, a room must fail to compile, with this in the errors.
    fn refuses(&self, file: &str, from: &str, to: &str, room: &str, error: &str) {
        let path = self.root.join(file);
        let text = std::fs::read_to_string(&path).expect("a file");
        assert_eq!(text.matches(from).count(), 1, "{file} has this once: {from}");
        std::fs::write(&path, text.replacen(from, to, 1)).expect("a file");
        let got = self.check(room);
        std::fs::write(&path, text).expect("a file");
        let errors = got.expect_err(&format!("{room} compiles with `{from}` as `{to}`"));
        assert!(errors.contains(error), "another error than `{error}`:\n{errors}");
    }
}

#[test]
fn rows_and_operations_without_a_meaning_do_not_compile() {
    let copy = Copy::new();
    if let Err(e) = copy.check("envisa-interp").and_then(|()| copy.check("envisa-sanitize")) {
        panic!("unchanged it compiles: {e}");
    }
    let table = "crates/envisa-isa/src/table";
    // A row that does not say what the instruction does.
    copy.refuses(
        &format!("{table}/logic.rs"),
        "operation: Some(Operation::Compute(Compute::Bfi)),\n",
        "",
        "envisa-isa",
        "a row of the table has no operation",
    );
    // A row that names an operation there is not.
    copy.refuses(
        &format!("{table}/integer.rs"),
        "ADD = 0x01 \"add\" Add binary",
        "ADD = 0x01 \"add\" Addition binary",
        "envisa-isa",
        "no variant or associated item named `Addition`",
    );
    // A message of whose data nothing is said.
    copy.refuses(
        &format!("{table}/lsc/slots.rs"),
        "or no old values\").touches(Bytes::LscData)",
        "or no old values\")",
        "envisa-isa",
        "does not say how many bytes of a register operand are touched",
    );
    // A load that is said to write memory.
    copy.refuses(
        &format!("{table}/svm.rs"),
        "operation: Some(Operation::Message(Message::SvmOwords(Access::Load))),",
        "operation: Some(Operation::Message(Message::SvmOwords(Access::Store))),",
        "envisa-isa",
        "is not that of its operation",
    );
    // A computation of which lowering knows nothing, that nobody computes, or whose fidelity nobody states.
    let list = "crates/envisa-isa/src/operation.rs";
    let (from, to) = ("            Srnd,\n", "            Srnd,\n            /// New.\n            Novel,\n");
    copy.refuses(list, from, to, "envisa-lower", "Op::Novel` not covered");
    let facts = "crates/envisa-lower/src/op_facts.rs";
    copy.refuses(facts, " | ShflIdx4 => ", " => ", "envisa-lower", "Op::ShflIdx4` not covered");
    let meanings = "crates/envisa-interp/src/special_forms.rs";
    copy.refuses(meanings, "            | Op::ShflIdx4\n", "", "envisa-interp", "Op::ShflIdx4` not covered");
    let fidelity = "crates/envisa-sanitize/src/stats.rs";
    copy.refuses(
        fidelity,
        "        | Op::ShflIdx4 => ",
        "        => ",
        "envisa-sanitize",
        "Op::ShflIdx4` not covered",
    );
    // A message that nobody lowers.
    let (from, to) = ("    /// Samples of an image.\n    ImageSamples,", "    ImageSamples,\n    Novel,");
    copy.refuses(list, from, to, "envisa-isa", "Message::Novel` not covered");
    // An operation that nobody lowers.
    let (from, to) = ("    /// Orders memory accesses.\n    Fence,", "    Fence,\n    Novel,");
    copy.refuses(list, from, to, "envisa-isa", "Operation::Novel` not covered");
}
