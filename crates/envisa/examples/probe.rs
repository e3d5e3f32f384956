//! Runs a kernel of a zebin on synthetic buffers and times it: `probe FILE DEVICE KERNEL GLOBAL LOCAL ARGS`.
//!
//! An argument is `f:BYTES` (a buffer of floats 1, 2, 3… modulo 97), `i:BYTES` (integers), `z:BYTES`
//! (zeros), `l:BYTES` (local memory), `u:N` (a `u32`) or `v:X` (an `f32`). Each buffer's first elements
//! are printed after the run.

use envisa::isa::Platform;
use envisa::machine::{Arg, Launch, Machine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let a: Vec<String> = std::env::args().collect();
    let platform = Platform::from_name(&a[2]).ok_or("no such device")?;
    let mut gpu = Machine::new(platform);
    let module = gpu.load_zebin(&std::fs::read(&a[1])?)?;
    let start = std::time::Instant::now();
    let kernel = gpu.kernel(&module, &a[3])?;
    println!("loaded in {:?}, {} instructions", start.elapsed(), kernel.exe.program().code.len());
    let sizes = |s: &str| -> [u64; 3] {
        let mut out = [1; 3];
        for (o, n) in out.iter_mut().zip(s.split(',')) {
            *o = n.parse().unwrap_or(1);
        }
        out
    };
    let (global, local) = (sizes(&a[4]), sizes(&a[5]));
    let mut buffers = Vec::new();
    let mut args = Vec::new();
    for (i, arg) in a[6..].iter().enumerate() {
        let (kind, n) = arg.split_once(':').ok_or("kind:value")?;
        args.push(match kind {
            "u" => Arg::Value(n.parse::<i64>()?.to_le_bytes()[..4].to_vec()),
            "v" => Arg::Value(n.parse::<f32>()?.to_le_bytes().to_vec()),
            "l" => Arg::Local(n.parse()?),
            _ => {
                let id = gpu.buffer(&format!("argument {i}"), n.parse()?)?;
                for (k, c) in gpu.bytes(id).chunks_exact_mut(4).enumerate() {
                    match kind {
                        "f" => c.copy_from_slice(&((k % 97) as f32).to_le_bytes()),
                        "i" => c.copy_from_slice(&(k as u32).to_le_bytes()),
                        _ => {}
                    }
                }
                buffers.push((i, id));
                Arg::Buffer(id, 0)
            }
        });
    }
    let launch = Launch {
        dims: a[4].split(',').count() as u32,
        global,
        local: local.map(|n| n as u32),
        offset: [0; 3],
        args,
    };
    let items: u64 = global.iter().product();
    let mut best = f64::MAX;
    for _ in 0..5 {
        let report = gpu.launch(&module, &kernel, &launch)?;
        print!("{}", report.printed);
        if let Some(t) = &report.outcome.trap {
            println!("{t}");
            break;
        }
        best = best.min(report.outcome.elapsed.as_secs_f64());
    }
    println!("{:.3} ms, {:.3} ns a work-item", best * 1e3, best * 1e9 / items as f64);
    for (i, id) in buffers {
        let bytes = gpu.bytes(id);
        let words: Vec<u32> =
            bytes.chunks_exact(4).take(8).filter_map(|c| c.try_into().ok()).map(u32::from_le_bytes).collect();
        let floats: Vec<f32> = words.iter().map(|w| f32::from_bits(*w)).collect();
        println!("argument {i}: {words:?} {floats:?}");
    }
    Ok(())
}
