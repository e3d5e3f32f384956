//! Speed of reading and printing: `cargo bench -p envisa-text`. Prints megabytes of text a second.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use envisa_diag::FileId;
use envisa_text::{ParseOptions, PrintOptions, parse, print};

/// A kernel of ordinary instructions, deterministic.
fn synthetic(instructions: usize) -> String {
    let mut seed = 1u64;
    let mut var = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        32 + (seed >> 33) % 400
    };
    let mut s = String::from(".version 4.1\n.kernel \"synthetic\"\n");
    for i in 32..432 {
        let _ = writeln!(s, ".decl V{i:04} v_type=G type=d num_elts=16 align=hword");
    }
    s.push_str(".decl P1 v_type=P num_elts=32\n.decl T6 v_type=T num_elts=1\n");
    for i in 0..instructions {
        let (a, b, c, d) = (var(), var(), var(), var());
        let _ = match i % 5 {
            0 => writeln!(s, "    add (M1, 16) V{a:04}(0,0)<1> V{b:04}(0,0)<1;1,0> V{c:04}(0,0)<0;1,0>"),
            1 => writeln!(s, "    mul (M5, 16) V{a:04}(0,0)<1> V{b:04}(0,0)<1;1,0> 0x{i:x}:d"),
            2 => writeln!(s, "    mov (M1_NM, 1) V{a:04}(0,0)<1> V{b:04}(0,1)<0;1,0>"),
            3 => writeln!(s, "    gather4_scaled.R (M1, 16) T6 0x0:ud V{a:04}.0 V{b:04}.0"),
            _ => writeln!(
                s,
                "    (P1) mad (M1, 16) V{a:04}(0,0)<1> V{b:04}(0,0)<1;1,0> V{c:04}(0,0)<1;1,0> V{d:04}(0,0)<1;1,0>"
            ),
        };
    }
    s.push_str("    ret (M1, 1)\n");
    s
}

fn report(what: &str, bytes: usize, mut run: impl FnMut()) {
    let mut best = f64::MAX;
    for _ in 0..15 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{what}: {:.1} MB/s ({:.2} ms)", bytes as f64 / best / 1e6, best * 1e3);
}

fn main() {
    let text = synthetic(100_000);
    let opts = ParseOptions::default();
    let parsed = parse(&text, FileId(0), &opts);
    assert!(parsed.complete, "the synthetic kernel reads");
    println!("{} bytes, {} instructions", text.len(), parsed.module.objects[0].insts.len());
    report("read ", text.len(), || {
        black_box(parse(black_box(&text), FileId(0), &opts));
    });
    report("print", text.len(), || {
        black_box(print(black_box(&parsed.module), &PrintOptions::default()).is_ok());
    });
}
