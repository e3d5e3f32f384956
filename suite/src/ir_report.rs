//! The vector IR of the kernels of the corpus: its size, the time to make it, what it leaves to the interpreter, and whether
//! its evaluator gives the interpreter's results.

use std::collections::BTreeMap;
use std::time::Instant;

use envisa::{Engine, evaluator};

use crate::envisa_engine::Loaded;
use crate::kernel::{Device, KernelFile};
use crate::launch::{Launch, SizeSet};

/// Prints a line a kernel and device, and sums; `run`: the evaluator executes each launch at the sizes of conformance.
/// `false` if some result is not the expected one.
///
/// # Errors
/// Where a kernel does not load.
pub fn list(kernels: &[KernelFile], devices: &[Device], run: bool) -> Result<bool, String> {
    let (mut built, mut whole, mut all, mut wrong) = (0, 0, 0, 0);
    let (mut instructions, mut escapes, mut seconds) = (0, 0, 0.0);
    let mut reasons: BTreeMap<&'static str, u64> = BTreeMap::new();
    for k in kernels {
        for device in devices.iter().filter(|d| k.devices().contains(d)) {
            let launch = crate::launch::launch(k, SizeSet::Conformance, false)?;
            let mut loaded = Loaded::new(k, *device, &launch, 1).map_err(|e| format!("{}: {e}", k.id))?;
            let head = format!("{:<28} {:<6}", k.id, device.name());
            all += 1;
            let start = Instant::now();
            let made = loaded.evaluate(evaluator::passes());
            let time = start.elapsed().as_secs_f64();
            let b = match made {
                Err(why) => {
                    println!("{head} not built: {why}");
                    *reasons.entry(why.reason).or_default() += 1;
                    continue;
                }
                Ok(b) => b,
            };
            built += 1;
            whole += u64::from(b.escapes.is_empty());
            instructions += b.program;
            escapes += b.escapes.len() as u64;
            seconds += time;
            b.escapes.iter().for_each(|(_, why)| *reasons.entry(why).or_default() += 1);
            let same = if run { same(k, *device, &launch, &mut loaded) } else { Ok(()) };
            if let Err(what) = &same {
                wrong += 1;
                println!("{head} WRONG: {what}");
            }
            println!(
                "{head} {} instructions, {} in the IR, {} escapes, {} of {} accesses have a shape, {:.1} us an instruction",
                b.program,
                b.instructions,
                b.escapes.len(),
                b.shaped,
                b.accesses,
                1e6 * time / b.program.max(1) as f64,
            );
        }
    }
    println!("{all} kernels: {built} built, {whole} without escapes, {wrong} wrong");
    let share = 100.0 * escapes as f64 / instructions.max(1) as f64;
    println!(
        "{instructions} instructions, {escapes} escapes ({share:.2} %), {:.1} us an instruction",
        1e6 * seconds / instructions.max(1) as f64
    );
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|r| std::cmp::Reverse(r.1));
    reasons.iter().for_each(|(why, n)| println!("{n:>8} {why}"));
    Ok(wrong == 0)
}

/// Do the evaluator and the interpreter leave the same?
fn same(k: &KernelFile, device: Device, launch: &Launch, loaded: &mut Loaded<'_>) -> Result<(), String> {
    let mut plain = Loaded::new(k, device, launch, 1).map_err(|e| e.to_string())?;
    plain.engine(Engine::Interpreter);
    loaded.engine(Engine::Native);
    let (want, got) = (plain.run(), loaded.run());
    match (want, got) {
        (Ok((want, _)), Ok((got, _))) if want != got => return Err("it prints something else".into()),
        (Ok(_), Err(e)) => return Err(format!("it faults: {e}")),
        (Err(e), Ok(_)) => return Err(format!("it does not fault: {e}")),
        _ => {}
    }
    let (want, got) = (plain.outputs(), loaded.outputs());
    let bytes = want.values.iter().zip(&got.values).find_map(|((i, a), (_, b))| {
        let at = a.bytes.iter().zip(&b.bytes).position(|(a, b)| a != b)?;
        Some(format!("byte {at} of argument {i} is {:#x}, not {:#x}", b.bytes[at], a.bytes[at]))
    });
    bytes.map_or(Ok(()), Err)
}
