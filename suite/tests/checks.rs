//! The checks of a run find nothing in kernels that are right: what the compiler makes of the suite's reads no
//! register that nothing wrote, and no two channels of one store collide. And what is observed is what happens
//! unobserved, where an improved program runs.

use envisa_suite::envisa_side::Loaded;
use envisa_suite::kernel::{discover, kernel_folder};
use envisa_suite::launch::{Launch, SizeSet};

#[test]
fn compiled_kernels_are_clean() {
    let mut wrong = Vec::new();
    let mut ran = 0;
    for kernel in discover(&kernel_folder()).expect("kernels") {
        let launch = Launch::new(&kernel, SizeSet::Conformance, false).expect("a launch");
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
