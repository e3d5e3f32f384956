//! Every kernel's results on envisa are PoCL's, on every device.

use std::process::Command;

use envisa_client::Session;
use envisa_harness::testing::are_campaigns_whole;
use envisa_suite::peer::Peer;

/// Groups of kernels that run unless campaigns are whole: those whose launches take least.
const SHORT: [&str; 8] = ["arith/", "atomic/", "call/", "flow/", "local/", "math/", "subgroup/", "vector/"];

#[test]
fn results_are_pocls() {
    if let Err(why) = Session::open(Peer::Pocl.platform()) {
        envisa_harness::testing::not_run(&format!("conformance needs PoCL (Debian: pocl-opencl-icd): {why}"));
        return;
    }
    // The command starts itself as PoCL's process; a test's own executable could not.
    let mut command = Command::new(env!("CARGO_BIN_EXE_envisa-suite"));
    command.arg("conformance");
    if !are_campaigns_whole() {
        command.args(SHORT.iter().flat_map(|group| ["--only", group]));
    }
    let run = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{out}\n{err}");
    for device in ["skl", "tgllp", "dg2", "pvc"] {
        assert!(out.contains(&format!("- {device}: ")), "nothing was run on {device}:\n{out}");
    }
}
