//! Debug information that is wrong, through the command: an error or a missing line, and no file is read that the user
//! neither named nor compiled.

use std::ops::Range;
use std::path::Path;
use std::process::{Command, Output};

/// Two arrays side by side, whose bounds only debug information tells, and a race, which is told with its line.
const SOURCE: &str = "int next(local int *p, int i) { return p[(i + 1) & 15]; }\n\
    kernel void k(global int *out, int n) {\n\
    local int first[16], second[16];\n\
    int i = get_local_id(0);\n\
    first[i] = i;\n\
    second[i] = next(first, i);\n\
    out[get_global_id(0)] = second[i ^ n];\n\
    }\n";

/// What a text has that nobody may read.
const SECRET: &str = "nobody is to read this";

fn envisa(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_envisa")).args(args).current_dir(folder).output().expect("it starts")
}

fn check(folder: &Path, zebin: &str) -> (Option<i32>, String) {
    let args = ["run", zebin, "--check", "--timeout", "20", "--global", "32", "--local", "16"];
    let out = envisa(folder, &[&args[..], &["--arg", "out=zeros:i32:32", "--arg", "n=i32:3"]].concat());
    (out.status.code(), String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned())
}

/// The sections of an ELF file: name, where its header is, where it is.
fn sections(elf: &[u8]) -> Vec<(String, Range<usize>, Range<usize>)> {
    let number = |at: usize, n: usize| elf[at..at + n].iter().rev().fold(0, |x, b| x << 8 | usize::from(*b));
    let (table, size, count, names) = (number(40, 8), number(58, 2), number(60, 2), number(62, 2));
    let place = |at: usize| number(at + 24, 8)..number(at + 24, 8) + number(at + 32, 8);
    let names = place(table + names * size).start;
    let header = |n: usize| table + n * size..table + (n + 1) * size;
    let name = |at: usize| elf[names + at..].split(|b| *b == 0).next().unwrap_or_default();
    let section = |h: Range<usize>| {
        (String::from_utf8_lossy(name(number(h.start, 4))).into_owned(), h.clone(), place(h.start))
    };
    (0..count).map(|n| section(header(n))).collect()
}

/// Numbers without order.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// Where a text occurs.
fn places(bytes: &[u8], text: &[u8]) -> Vec<usize> {
    (0..bytes.len().saturating_sub(text.len())).filter(|at| bytes[*at..].starts_with(text)).collect()
}

#[test]
fn wrong_debug_information_costs_lines_at_most() {
    if Command::new("ocloc").output().is_err() {
        return envisa_harness::testing::not_run("ocloc is not there");
    }
    let dir = tempfile::tempdir().expect("a folder");
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("k.cl"), SOURCE).expect("it is written");
    let out = envisa(dir.path(), &["build", "k.cl", "--device", "dg2", "--options", "-g", "-o", "k.zebin"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let good = std::fs::read(at("k.zebin")).expect("it is there");
    // The text that it names, and one with as long a name: both are others' now.
    let secret: String = (1..20).map(|n| format!("{SECRET} {n}\n")).collect();
    ["k.cl", "s.cl"].iter().for_each(|f| std::fs::write(at(f), &secret).expect("it is written"));

    let (code, said) = check(dir.path(), "k.zebin");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("k.cl:5") && said.contains("F0004"), "{said}");
    assert!(said.contains("`next` is inlined where it is called: ") && said.contains("k.cl:6"), "{said}");
    assert!(!said.contains(SECRET), "a text is read that only the module names: {said}");

    let all = sections(&good);
    let debug: Vec<_> = all.iter().filter(|s| s.0.contains("debug") || s.0 == ".spv").cloned().collect();
    assert!(debug.len() >= 4, "{all:?}");
    let text = all.iter().find(|s| s.0.starts_with(".visaasm")).expect("its vISA").2.clone();
    let inside = |what: &[u8]| -> Vec<usize> {
        places(&good[text.clone()], what).into_iter().map(|p| p + text.start).collect()
    };
    let (files, lines) = (inside(b"k.cl\""), inside(b"LOC "));
    assert!(!files.is_empty() && lines.len() > 3, "the vISA has lines");

    let (mut dice, mut codes) = (Dice(0x9e37_79b9_7f4a_7c15), [0; 4]);
    for n in 0..120 {
        let mut bad = good.clone();
        for _ in 0..1 + dice.below(4) {
            match n % 4 {
                // Bytes of debug information.
                0 | 1 => {
                    let section = debug[dice.below(debug.len())].2.clone();
                    let at = section.start + dice.below(section.len());
                    let value = [0, 0xff, 0x7f, 0x80, dice.below(256) as u8][dice.below(5)];
                    bad[at] = value;
                }
                // Where it is said to be, and how long.
                2 => {
                    let header = debug[dice.below(debug.len())].1.clone();
                    bad[header.start + 24 + dice.below(16)] = dice.below(256) as u8;
                }
                // Names of texts and numbers of lines.
                _ => match dice.below(3) {
                    0 => bad[files[dice.below(files.len())]] = b's',
                    1 => bad[files[dice.below(files.len())] + 4] = b"\\ \n"[dice.below(3)],
                    _ => bad[lines[dice.below(lines.len())] + 4] = b"90-x\""[dice.below(5)],
                },
            }
        }
        std::fs::write(at("bad.zebin"), &bad).expect("it is written");
        let (code, said) = check(dir.path(), "bad.zebin");
        let code = code.unwrap_or_else(|| panic!("copy {n} ends by a signal: {said}"));
        assert!((0..4).contains(&code) && !said.contains("panicked"), "copy {n} ends with {code}: {said}");
        assert!(code != 0, "copy {n}: the race is not found: {said}");
        assert!(!said.contains(SECRET), "copy {n}: a text is read that only the module names: {said}");
        codes[code as usize] += 1;
    }
    // Most damage is to what is not needed to run and to find the race.
    assert!(codes[1] > 30, "{codes:?}");
}

#[test]
fn folders_and_files_may_have_blanks_in_their_names() {
    if Command::new("ocloc").output().is_err() {
        return envisa_harness::testing::not_run("ocloc is not there");
    }
    let folder = tempfile::tempdir().expect("made");
    let blank = folder.path().join("my own kernels");
    std::fs::create_dir(&blank).expect("made");
    std::fs::write(blank.join("far.h"), "#define FAR 64\n").expect("written");
    let source =
        "#include \"far.h\"\nkernel void reach(global int *a)\n{\n    a[get_global_id(0) + FAR] = 1;\n}\n";
    std::fs::write(blank.join("past the end.cl"), source).expect("written");
    let out = Command::new(env!("CARGO_BIN_EXE_envisa"))
        .arg("run")
        .arg(blank.join("past the end.cl"))
        .args(["--device", "dg2", "--global", "64", "--local", "64", "--arg", "a=zeros:i32:64", "--check"])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("past the end.cl:4:") && said.contains("a[get_global_id(0) + FAR]"), "{said}");
}
