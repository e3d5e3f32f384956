//! A small run is over before anybody notices: under 20 ms from start to end.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn a_small_run_takes_no_time() {
    let job = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/vadd/job.toml");
    let fastest = (0..25)
        .map(|_| {
            let start = Instant::now();
            let out =
                Command::new(env!("CARGO_BIN_EXE_envisa")).arg("run").arg(&job).output().expect("it runs");
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            start.elapsed()
        })
        .min()
        .expect("25 runs");
    println!("fastest of 25: {fastest:?}");
    // Without optimisation parsing and lowering alone take longer; that they do not explode is held here too.
    let bound = if cfg!(debug_assertions) { Duration::from_millis(400) } else { Duration::from_millis(20) };
    assert!(fastest < bound, "{fastest:?}");
}
