//! What `ENVISA_CHECK` tells of a program's use of the interface. The program is this test itself, run again.

use crate::ze::*;

const TEXT: &str = "
kernel void slow(global int *x, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s = s * 7 + x[get_global_id(0)];
    x[get_global_id(0)] = s;
}
";

/// What the program does is in its environment; with `right` it does it as it should be done.
#[test]
#[ignore = "the program that the other tests run"]
fn program() {
    let does = std::env::var("PROGRAM_DOES").expect("run by a test");
    let right = std::env::var_os("PROGRAM_RIGHT").is_some();
    let d = driver().expect("the tests saw to it");
    let module = d.program(TEXT);
    let (list, other) = (d.immediate(0), d.immediate(0));
    let e = d.events(2);
    let x = d.make("zeMemAllocShared", &[d.context, zeros(), zeros(), 256, 0, d.device]);
    let slow = d.kernel(module, "slow", 64);
    d.arg(slow, 0, x);
    d.arg(slow, 1, 100_000i32);
    let queue = d.make("zeCommandQueueCreate", &[d.context, d.device, zeros()]);
    let regular = d.make("zeCommandListCreate", &[d.context, d.device, zeros()]);
    let execute = || d.call("zeCommandQueueExecuteCommandLists", &[queue, 1, of(&regular), 0]);
    match does.as_str() {
        "open" => {
            if right {
                d.ok("zeCommandListClose", &[regular]);
            }
            execute();
        }
        "closed" => {
            if !right {
                d.ok("zeCommandListClose", &[regular]);
            }
            d.call("zeCommandListAppendBarrier", &[regular, 0, 0, 0]);
        }
        "free" => {
            d.launch(list, slow, 1, 0, &[]);
            if right {
                d.ok("zeCommandListHostSynchronize", &[list, FOREVER]);
            }
            d.ok("zeMemFree", &[d.context, x]);
        }
        "event" => {
            if right {
                d.ok("zeEventHostSignal", &[e[0]]);
            }
            d.call("zeEventHostSynchronize", &[e[0], 3_000_000_000]);
        }
        "order" => {
            let (signal, waits) = if right { (e[0], &e[..1]) } else { (0, &[][..]) };
            d.launch(list, slow, 1, signal, &[]);
            d.launch(other, slow, 1, 0, waits);
        }
        "argument" => {
            if right {
                d.ok("zeKernelSetArgumentValue", &[slow, 1, 4, of(&5)]);
                d.launch(list, slow, 1, 0, &[]);
            } else {
                let fresh = d.kernel(module, "slow", 64);
                d.arg(fresh, 0, x);
                d.launch(list, fresh, 1, 0, &[]);
            }
        }
        other => panic!("{other}"),
    }
    for list in [list, other] {
        d.ok("zeCommandListHostSynchronize", &[list, FOREVER]);
    }
    d.ok("zeCommandQueueSynchronize", &[queue, FOREVER]);
}

/// What is told of the program, of one kind.
fn told(does: &str, right: bool) -> String {
    let own = std::env::current_exe().expect("the test is a file");
    let mut command = std::process::Command::new(own);
    command.args(["--exact", "mistakes::program", "--ignored", "--nocapture"]);
    command.env("PROGRAM_DOES", does).env("ENVISA_CHECK", "1");
    if right {
        command.env("PROGRAM_RIGHT", "1");
    }
    let out = command.output().expect("it can be run");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{does}: {said}{}", String::from_utf8_lossy(&out.stdout));
    said.lines().filter(|l| l.starts_with("error")).map(|l| format!("{l}\n")).collect()
}

#[test]
fn mistakes_of_the_program_are_told_and_their_twins_are_not() {
    if driver().is_none() {
        return;
    }
    for (does, text) in [
        ("open", "a command list is executed that was not closed"),
        ("closed", "a command is appended to a command list that is closed"),
        ("free", "256 bytes of memory are freed while a command that uses them is not complete"),
        ("event", "an event that no command appended so far signals"),
        ("order", "nothing orders the two commands"),
        ("argument", "was never set: it is zero"),
    ] {
        let wrong = told(does, false);
        assert!(wrong.contains(text), "{does}: {wrong}");
        assert_eq!(told(does, true), "", "{does}, done right");
    }
}
