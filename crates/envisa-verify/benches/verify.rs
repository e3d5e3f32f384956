//! How long 100,000 instructions take: `cargo bench -p envisa-verify`.

use std::time::{Duration, Instant};

use envisa_isa::{Module, Op, Platform, Platforms, generate};
use envisa_verify::{Options, check};

const INSTRUCTIONS: usize = 130_000;

/// The mix of a real kernel, legal on its platform.
fn kernel(platform: Platform) -> Module {
    let names = [
        "MOV",
        "ADD",
        "MUL",
        "MAD",
        "CMP",
        "AND",
        "SHL",
        "SHR",
        "SEL",
        "OR",
        "GATHER4_SCALED",
        "SVM_GATHER",
        "SVM_SCATTER",
        "OWORD_LD_UNALIGNED",
    ];
    let ops = Op::ALL.iter().copied().filter(|o| names.contains(&o.desc().name)).collect();
    generate::module(
        1,
        &generate::Options {
            insts: INSTRUCTIONS,
            platform: Some(platform),
            ops: Some(ops),
            ..generate::Options::default()
        },
    )
}

fn best(module: &Module, options: &Options) -> (Duration, usize) {
    let mut best = Duration::MAX;
    let mut found = 0;
    for _ in 0..7 {
        let start = Instant::now();
        found = check(module, options).len();
        best = best.min(start.elapsed());
    }
    (best, found)
}

fn main() {
    let mut module = kernel(Platform::Dg2);
    // Real code has few findings, and writing their texts is not what is measured.
    let options = Options {
        platforms: Platforms::of(&[Platform::Dg2]),
        lints: false,
        repeats: usize::MAX,
        ..Options::default()
    };
    let mut faulty = vec![false; module.objects[0].insts.len()];
    for f in check(&module, &options) {
        if let Some(i) = f.inst {
            faulty[i] = true;
        }
    }
    let mut i = 0;
    module.objects[0].insts.retain(|_| {
        i += 1;
        !faulty[i - 1]
    });
    let insts: usize = module.objects.iter().map(|o| o.insts.len()).sum();
    for (name, platforms, lints) in [
        ("one platform", Platforms::of(&[Platform::Dg2]), true),
        ("one platform, no lints", Platforms::of(&[Platform::Dg2]), false),
        ("all platforms", Platforms::ALL, true),
    ] {
        let (time, found) = best(&module, &Options { platforms, lints, ..Options::default() });
        let per = time.as_secs_f64() * 1e9 / insts as f64;
        println!(
            "{name:<24} {insts} instructions  {:.4} s  {per:.0} ns each  {found} findings",
            time.as_secs_f64()
        );
    }
}
