//! Every kernel's results on envisa are PoCL's, on every device.

use std::process::Command;

use envisa_client::Session;
use envisa_suite::peer::Peer;

#[test]
fn results_are_pocls() {
    if let Err(why) = Session::open(Peer::Pocl.platform()) {
        envisa_harness::testing::not_run(&format!("conformance needs PoCL (Debian: pocl-opencl-icd): {why}"));
        return;
    }
    // The command starts itself as PoCL's process; a test's own executable could not.
    let run = Command::new(env!("CARGO_BIN_EXE_envisa-suite")).arg("conformance").output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{out}\n{err}");
    for device in ["skl", "tgllp", "dg2", "pvc"] {
        assert!(out.contains(&format!("- {device}: ")), "nothing was run on {device}:\n{out}");
    }
}
