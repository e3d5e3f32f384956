//! What messages recommend is what works: the compiler's command that the refusal of a zebin without vISA names.

use std::path::Path;
use std::process::{Command, Output};

const SOURCE: &str = "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }\n\
                      kernel void thrice(global int *x) { x[get_global_id(0)] *= 3; }\n";

fn envisa(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_envisa")).args(args).current_dir(folder).output().expect("it starts")
}

/// The words of a command line, in which quotes hold words together.
fn words(line: &str) -> Vec<String> {
    line.split('"')
        .enumerate()
        .flat_map(|(k, part)| match k % 2 {
            1 => vec![part.to_owned()],
            _ => part.split_whitespace().map(str::to_owned).collect(),
        })
        .collect()
}

/// Compiles by a command line whose `...` stand for the file and the device.
fn compile(folder: &Path, line: &str, to: &str) -> Result<(), String> {
    let mut words = words(line).into_iter();
    let program = words.next().expect("a command");
    let args = words.flat_map(|w| match w.as_str() {
        "..." => {
            ["-file", "k.cl", "-device", "dg2", "-output_no_suffix", "-output", to].map(str::to_owned).into()
        }
        _ => vec![w],
    });
    let out = Command::new(program).args(args).current_dir(folder).output().map_err(|e| e.to_string())?;
    if out.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&out.stdout).into_owned()) }
}

#[test]
fn a_zebin_made_as_the_message_says_runs_by_its_kernels_names() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path();
    std::fs::write(folder.join("k.cl"), SOURCE).expect("a file");
    if let Err(why) =
        compile(folder, "ocloc compile ... -internal_options \"-cl-intel-allow-zebin\"", "plain")
    {
        return envisa_harness::testing::not_run(&format!(
            "no ocloc (Debian package intel-opencl-icd): {why}"
        ));
    }
    let refused =
        envisa(folder, &["run", "plain", "--kernel", "thrice", "--global", "4", "--arg", "x=i32:1,2,3,4"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success(), "{said}");
    let line =
        said.split('`').find(|part| part.starts_with("ocloc compile ")).expect("a command is recommended");

    compile(folder, line, "rebuilt").expect("the recommended command works");
    let run =
        ["run", "rebuilt", "--kernel", "thrice", "--global", "4", "--arg", "x=i32:1,2,3,4", "--print", "x"];
    let out = envisa(folder, &run);
    let (stdout, stderr) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{stdout}{stderr}");
    assert!(stdout.contains("3, 6, 9, 12"), "{stdout}{stderr}");
    let out = envisa(folder, &["info", "rebuilt"]);
    let info = String::from_utf8_lossy(&out.stdout);
    assert!(info.contains("twice") && info.contains("thrice"), "{info}");
}
