//! A PyOpenCL script, as people write them. `ENVISA_TEST_PYTHON` names a Python that has PyOpenCL.

use std::process::Command;

use crate::cl::{driver, missing};

/// Runs a script of the folder of tests; `None` where it cannot run.
fn run(script: &str) -> Option<(bool, String, String)> {
    let python = std::env::var("ENVISA_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
    let has = Command::new(&python).args(["-c", "import pyopencl, numpy"]).output();
    if !has.is_ok_and(|o| o.status.success()) {
        missing(&format!("PyOpenCL of {python} (pip install pyopencl numpy)"));
        return None;
    }
    // Sets the environment that the script inherits.
    driver()?;
    let script = format!("{}/tests/{script}", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(&python);
    // Unoptimised, all of what takes an optimised driver a minute would take a quarter of an hour.
    if cfg!(debug_assertions) {
        command.env("ENVISA_TEST_PARTS", "16");
    }
    let output = command.arg(script).output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((output.status.success(), text(&output.stdout), text(&output.stderr)))
}

#[test]
fn a_pyopencl_script_runs() {
    let Some((success, out, err)) = run("script.py") else { return };
    assert!(success, "{out}{err}");
    assert!(out.contains("item 3\n") && out.contains("fine\n"), "{out}{err}");
}

#[test]
fn every_format_is_sampled_in_every_way() {
    let Some((success, out, err)) = run("images.py") else { return };
    assert!(success && out.contains("combinations fine\n"), "{out}{err}");
}

#[test]
fn commands_on_images_of_every_shape_are_those_on_arrays() {
    let Some((success, out, err)) = run("image_commands.py") else { return };
    assert!(success && out.contains("commands fine\n"), "{out}{err}");
}

#[test]
fn kernels_are_given_what_their_arguments_are() {
    let Some((success, out, err)) = run("signatures.py") else { return };
    assert!(success && out.contains("signatures fine\n"), "{out}{err}");
}

#[test]
fn printf_prints_what_c_prints() {
    let Some((success, out, err)) = run("printf.py") else { return };
    assert!(success && out.contains("conversions fine\n"), "{out}{err}");
}

#[test]
fn functions_of_sub_groups_are_those_of_numpy() {
    let Some((success, out, err)) = run("sub_groups.py") else { return };
    assert!(success && out.contains("functions fine\n"), "{out}{err}");
}

#[test]
fn private_arrays_have_what_numpy_has() {
    let Some((success, out, err)) = run("private_arrays.py") else { return };
    assert!(success && out.contains("programs fine\n"), "{out}{err}");
}

/// Where PyOpenCL is missing that is seen, though the test passes; where every oracle must be there it fails.
#[test]
fn a_python_without_pyopencl_is_told_of() {
    let run = |required: bool| {
        let own = std::env::current_exe().expect("the test is a file");
        let mut command = Command::new(own);
        command.args(["--exact", "python::a_pyopencl_script_runs"]).env("ENVISA_TEST_PYTHON", "/nonexistent");
        command.env_remove("ENVISA_REQUIRE_ORACLES");
        if required {
            command.env("ENVISA_REQUIRE_ORACLES", "1");
        }
        let output = command.output().expect("it starts");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (passed, err) = run(false);
    assert!(passed && err.contains("NOT RUN: PyOpenCL of /nonexistent"), "{err}");
    assert!(!run(true).0);
}
