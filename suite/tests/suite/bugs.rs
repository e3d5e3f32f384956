//! Kernels with one bug each, found at their line, and their twins, of which nothing is said (`envisa_suite::checks`): each
//! on one of the devices. `docs/CHECKS.md` is the whole table.

mod planted;

use envisa_harness::testing::are_campaigns_whole;
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

/// Which of the devices a case is held on: another one for each case, and with another `ENVISA_SHARE` (a number) another one
/// of each. Four shares are all cases on all devices, which take the compiler four times as long. Unless campaigns are whole, only
/// one case of four is held.
fn is_held(number: usize, device: Device) -> bool {
    let share: usize =
        std::env::var("ENVISA_SHARE").map_or(0, |s| s.parse().expect("ENVISA_SHARE is a number"));
    let all = [Device::Skl, Device::Tgllp, Device::Dg2, Device::Pvc];
    let is_chosen = are_campaigns_whole() || number / all.len() % 4 == share % 4;
    is_chosen && all[(number + share) % all.len()] == device
}

fn hold(device: Device) {
    if !have_ocloc() {
        return;
    }
    let cases = discover(&folder()).expect("cases");
    let cases: Vec<_> =
        cases.iter().enumerate().filter(|(n, _)| is_held(*n, device)).map(|(_, c)| c).collect();
    let least = if are_campaigns_whole() { 60 } else { 15 };
    assert!(cases.len() >= least, "{} cases", cases.len());
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
