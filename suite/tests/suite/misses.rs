//! Native code keeps for each message where it went last, and asks the machine where that does not fit: rarely, but for
//! the first time. Results are right all the same, so nothing else tells if a message misses every time.

use envisa_suite::envisa_engine::{Loaded, Missed};
use envisa_suite::kernel::{CORPUS_DEVICES, discover, kernel_folder};
use envisa_suite::launch::SizeSet;

/// How often a message may miss, whatever it does: its first time, and where its channels go to the end of what they
/// went to the first time.
const FEW: u64 = 2;
/// Of so many times that it is executed, it may miss once.
const OF: u64 = 16;

/// Kernels that miss more often, and why.
const MORE: [(&str, &str); 5] = [
    // Bytes and words are read as dwords, which the last ones of a table have no room for.
    ("data/constant_table", "a table of 16 bytes"),
    ("local/dynamic", "bytes at the end of local memory"),
    ("local/stride_five", "words at the end of local memory"),
    ("generic/pointers", "channels go to several kinds of memory at once"),
    ("bench/matmul_dpas", "words at the end of a matrix"),
];

/// Messages that all kernels execute at least, on all devices: else this is not a test of anything.
const LEAST: u64 = 100_000;

#[test]
fn messages_find_what_they_go_to() {
    let only = std::env::var("ENVISA_ONLY").unwrap_or_default();
    let mut wrong = Vec::new();
    let (mut all, mut missed, mut unknown) = (0, 0, 0);
    for kernel in discover(&kernel_folder()).expect("kernels").iter().filter(|k| k.id.contains(&only)) {
        let launch = envisa_suite::launch::launch(kernel, SizeSet::Conformance, false).expect("a launch");
        let more = MORE.iter().any(|m| m.0 == kernel.id);
        for device in CORPUS_DEVICES.into_iter().filter(|d| kernel.devices().contains(d)) {
            // One host thread: each has sites of its own.
            let misses = Loaded::new(kernel, device, &launch, 1).and_then(|mut l| l.misses());
            let Ok(messages) = misses else {
                unknown += 1;
                continue;
            };
            for Missed { instruction, misses, executed } in messages {
                all += executed;
                missed += misses;
                let name = device.name();
                if !only.is_empty() {
                    eprintln!("{} on {name}: ${instruction} misses {misses} of {executed}", kernel.id);
                }
                if misses > FEW.max(executed / OF) && !more {
                    wrong.push(format!(
                        "{} on {name}: ${instruction} misses {misses} of {executed}",
                        kernel.id
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "messages that miss:\n{}", wrong.join("\n"));
    // On hosts without native code nothing is known.
    eprintln!("{missed} of {all} messages miss; of {unknown} launches nothing is known");
    let none = unknown > 0 && all == 0;
    assert!(none || !only.is_empty() || all > LEAST, "only {all} messages were executed");
    assert!(none || missed * OF < all, "{missed} of {all} messages miss");
}
