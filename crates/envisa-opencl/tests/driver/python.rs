//! A PyOpenCL script, as people write them. `ENVISA_TEST_PYTHON` names a Python that has PyOpenCL.

use std::process::Command;

use crate::cl::driver;

#[test]
fn a_pyopencl_script_runs() {
    let python = std::env::var("ENVISA_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
    let has = Command::new(&python).args(["-c", "import pyopencl, numpy"]).output();
    if !has.is_ok_and(|o| o.status.success()) {
        eprintln!("NOT RUN: {python} has no PyOpenCL (pip install pyopencl numpy)");
        return;
    }
    // Sets the environment that the script inherits.
    if driver().is_none() {
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/script.py");
    let output = Command::new(&python).arg(script).output().expect("it starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    assert!(out.contains("item 3\n") && out.contains("fine\n"), "{out}{err}");
}
