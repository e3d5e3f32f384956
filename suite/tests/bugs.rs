//! Kernels with one bug each, found on each device at their line, and their twins, of which nothing is said
//! (`envisa_suite::checks`). `docs/CHECKS.md` is the whole table.

#[path = "bugs/planted.rs"]
mod planted;

use envisa_suite::checks::{Verdict, discover, folder};
use envisa_suite::kernel::Device;

/// The compiler is wanted.
fn have_ocloc() -> bool {
    let found = envisa_suite::checks::has_ocloc();
    if !found {
        envisa_harness::testing::not_run("no ocloc on PATH (Debian package intel-opencl-icd)");
    }
    found
}

fn hold(device: Device) {
    if !have_ocloc() {
        return;
    }
    let cases = discover(&folder()).expect("cases");
    assert!(cases.len() >= 60, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        if let Verdict::Wrong(why) = case.hold(device) {
            wrong.push(format!("{}: {why}", case.id));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn skl() {
    hold(Device::Skl);
}

#[test]
fn tgllp() {
    hold(Device::Tgllp);
}

#[test]
fn dg2() {
    hold(Device::Dg2);
}

#[test]
fn pvc() {
    hold(Device::Pvc);
}
