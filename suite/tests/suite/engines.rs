//! Native code gives the interpreter's bytes: every kernel, every device. `ENVISA_ONLY` takes kernels whose id
//! contains it, `ENVISA_ON` one device.

use envisa::Engine;
use envisa_suite::envisa_engine::Loaded;
use envisa_suite::kernel::{discover, kernel_folder};
use envisa_suite::launch::SizeSet;
use std::io::Write as _;

#[test]
fn native_code_gives_the_interpreters_bytes() {
    let only = std::env::var("ENVISA_ONLY").unwrap_or_default();
    let on = std::env::var("ENVISA_ON").unwrap_or_default();
    let sizes = match std::env::var_os("ENVISA_BENCH_SIZES") {
        Some(_) => SizeSet::Bench,
        None => SizeSet::Conformance,
    };
    let (mut wrong, mut ran, mut native) = (Vec::new(), 0, 0);
    for kernel in discover(&kernel_folder()).expect("kernels") {
        if !kernel.id.contains(&only) {
            continue;
        }
        let Ok(launch) = envisa_suite::launch::launch(&kernel, sizes, false) else { continue };
        for &device in kernel.devices() {
            if !device.name().contains(&on) {
                continue;
            }
            // One host thread: some results depend on the order of groups.
            let run = |engine: Engine| {
                Loaded::new(&kernel, device, &launch, 1).and_then(|mut l| {
                    l.engine(engine);
                    let translated = l.is_native();
                    let (printed, seconds) = l.run()?;
                    Ok((l.outputs(), printed, translated, seconds))
                })
            };
            let (one, other) = (run(Engine::Interpreter), run(Engine::Native));
            ran += 1;
            match (one, other) {
                (Ok((a, printed_a, _, ta)), Ok((b, printed_b, translated, tb))) => {
                    native += usize::from(translated);
                    // Functions are called by name and by address, and by themselves.
                    let calls = ["call/indirect", "call/recursion", "call/stack_calls", "call/struct_return"];
                    if native > 0 && !translated && calls.contains(&kernel.id.as_str()) {
                        wrong.push(format!("{} on {}: it is interpreted", kernel.id, device.name()));
                    }
                    if !only.is_empty() {
                        eprintln!(
                            "{} on {}: {:.3} ms, {:.3} ms",
                            kernel.id,
                            device.name(),
                            ta * 1e3,
                            tb * 1e3
                        );
                    }
                    for ((i, a), (_, b)) in a.values.iter().zip(&b.values) {
                        if a.bytes != b.bytes {
                            let at = a.bytes.iter().zip(&b.bytes).position(|(a, b)| a != b).unwrap_or(0);
                            let n = a.bytes.iter().zip(&b.bytes).filter(|(a, b)| a != b).count();
                            let name = &launch.args[*i].name;
                            wrong.push(format!(
                                "{} on {}: `{name}` differs from byte {at} on, {n} of {} bytes: {:02x?} {:02x?}",
                                kernel.id,
                                device.name(),
                                a.bytes.len(),
                                &a.bytes[at & !3..(at & !3) + 4],
                                &b.bytes[at & !3..(at & !3) + 4]
                            ));
                        }
                    }
                    if printed_a != printed_b {
                        wrong.push(format!("{} on {}: other text is printed", kernel.id, device.name()));
                    }
                }
                (Err(a), Err(b)) if a == b => {}
                (a, b) => {
                    let say = |r: Result<_, _>| r.err();
                    wrong.push(format!("{} on {}: {:?}, {:?}", kernel.id, device.name(), say(a), say(b)));
                }
            }
        }
    }
    eprintln!("{ran} runs, {native} translated");
    if native == 0 {
        let _ = writeln!(
            std::io::stderr(),
            "NOT RUN: native code needs a CPU with AVX-512; the interpreter ran twice"
        );
    }
    assert!(wrong.is_empty(), "{} of {ran}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(ran >= 200 || !only.is_empty() || !on.is_empty(), "{ran} runs");
}
