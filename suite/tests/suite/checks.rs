//! The checks of a run find nothing in kernels that are right: what the compiler makes of the suite's reads no
//! register that nothing wrote, and no two channels of one store collide. And what is observed is what happens
//! unobserved, where an improved program runs.

use envisa_ocloc::{Build, Rewrite};
use envisa_suite::envisa_engine::Loaded;
use envisa_suite::kernel::{discover, kernel_folder};
use envisa_suite::launch::SizeSet;

#[test]
fn compiled_kernels_are_clean() {
    let mut wrong = Vec::new();
    let mut ran = 0;
    for kernel in discover(&kernel_folder()).expect("kernels") {
        let launch = envisa_suite::launch::launch(&kernel, SizeSet::Conformance, false).expect("a launch");
        for &device in kernel.devices() {
            // One host thread: some results depend on the order of groups.
            let both = Loaded::new(&kernel, device, &launch, 1).and_then(|mut l| {
                l.run()?;
                let fast = l.outputs();
                l.reset();
                let found = l.check()?.findings;
                Ok((fast, l.outputs(), found))
            });
            // What does not run is the conformance test's matter.
            let Ok((fast, observed, found)) = both else { continue };
            ran += 1;
            for ((i, a), (_, b)) in fast.values.iter().zip(&observed.values) {
                if a.bytes != b.bytes {
                    let name = &launch.args[*i].name;
                    wrong.push(format!("{} on {}: `{name}` differs when observed", kernel.id, device.name()));
                }
            }
            if let Some(first) = found.first() {
                wrong.push(format!("{} on {}: {} findings; {first}", kernel.id, device.name(), found.len()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {ran}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(ran >= 200, "{ran} runs");
}

/// Each kernel that has a source is compiled for one of its devices, by turns, as checks compile it for themselves.
#[test]
#[ignore = "compiles all kernels: CI runs it in an optimised build"]
fn kernels_are_clean_in_the_build_of_the_checks() {
    let (mut wrong, mut ran) = (Vec::new(), 0);
    for (k, kernel) in discover(&kernel_folder()).expect("kernels").iter().enumerate() {
        if kernel.header.vector {
            continue;
        }
        let launch = envisa_suite::launch::launch(kernel, SizeSet::Conformance, false).expect("a launch");
        let devices = kernel.devices();
        let device = devices[k % devices.len()];
        let name = format!("{} on {}", kernel.id, device.name());
        let build = Build::new(&kernel.path, device.name())
            .options(kernel.device_options(device))
            .internal_options(kernel.header.internal_options.as_str())
            .rewrite(Rewrite::Checks);
        let built = build.run().unwrap_or_else(|e| panic!("{name}: {e}"));
        if !built.rewritten {
            wrong.push(format!("{name}: the compiler does not take it"));
            continue;
        }
        let stored = Loaded::new(kernel, device, &launch, 1).and_then(|mut l| l.run().map(|_| l.outputs()));
        // What does not run is the conformance test's matter.
        let Ok(stored) = stored else { continue };
        let checked = Loaded::of(kernel, &kernel.path, &built.bytes, &launch, (1, true)).and_then(|mut l| {
            let findings = l.check()?.findings;
            Ok((l.outputs(), findings))
        });
        let (outputs, findings) = checked.unwrap_or_else(|e| panic!("{name}: {e}"));
        ran += 1;
        if let Some(first) = findings.first() {
            wrong.push(format!("{name}: {} findings; {first}", findings.len()));
        }
        for ((i, a), (_, b)) in stored.values.iter().zip(&outputs.values) {
            if a.bytes != b.bytes {
                wrong.push(format!("{name}: `{}` differs", launch.args[*i].name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {ran}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(ran >= 100, "{ran} runs");
}
