//! Properties over generated modules.

use envisa_binary::{
    Problem, ReadOptions, Stop, WriteOptions, read_with, recover_with, write, write_as_reference,
};
use envisa_isa::{Module, Op, Platform};
use envisa_smith::generate::{Options, Rng, module};

/// The platform that the writer's default options name.
fn skl() -> ReadOptions {
    ReadOptions::for_platform(Platform::Skl)
}

fn modules(n: u64) -> impl Iterator<Item = (u64, Module)> {
    (0..n).map(|seed| {
        let options = Options {
            version: if seed % 4 == 3 { (4, 2) } else { (4, 1) },
            kernels: 1 + seed as usize % 3,
            functions: seed as usize % 2,
            insts: 10 + seed as usize % 60,
            ..Options::default()
        };
        (seed, module(seed, &options))
    })
}

#[test]
fn what_is_written_reads_back() {
    for (seed, m) in modules(400) {
        for platform in [Platform::Skl, Platform::Pvc] {
            let bytes = write(&m, &WriteOptions::for_platform(platform)).unwrap();
            let again = read_with(&bytes, &ReadOptions::for_platform(platform))
                .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            again.check_sound().unwrap();
            assert_eq!(m.first_difference(&again), None, "seed {seed}");
            assert_eq!(write(&again, &WriteOptions::for_platform(platform)).unwrap(), bytes, "seed {seed}");
        }
    }
}

#[test]
fn every_instruction_reads_back() {
    for version in [(4, 1), (4, 2)] {
        let insts = 20 * Op::ALL.len();
        let m = module(1, &Options { version, insts, in_turn: true, ..Options::default() });
        let bytes = write(&m, &WriteOptions::default()).unwrap();
        assert_eq!(m.first_difference(&read_with(&bytes, &skl()).unwrap()), None);
    }
}

/// Damaged files have the sizes of the undamaged ones, are recognised, and what is recovered of them is
/// what was written.
///
/// Where the number of variadic operands is missing too, what follows must tell it; that may go wrong, so
/// these instructions are left out here.
#[test]
fn damaged_files_are_recognised_and_recovered() {
    let ops = Op::ALL.iter().copied().filter(|op| {
        !matches!(op.desc().slots.last().map(|s| &s.kind), Some(envisa_isa::desc::SlotKind::Many(_)))
    });
    let ops: Vec<Op> = ops.collect();
    for seed in 0..300 {
        let options = Options {
            kernels: 1 + seed as usize % 3,
            functions: seed as usize % 2,
            insts: 10 + seed as usize % 60,
            ops: Some(ops.clone()),
            ..Options::default()
        };
        let m = module(seed, &options);
        let whole = write(&m, &WriteOptions::default()).unwrap();
        let zeros = write_as_reference(&m, &WriteOptions::default()).unwrap();
        assert_eq!(whole.len(), zeros.len());

        let mut garbage = zeros.clone();
        let mut rng = Rng::new(seed);
        for o in &recover_with(&zeros, &skl()).unwrap().objects {
            let Stop::Damaged { filler, zeros } = o.stop else { panic!("seed {seed}: {:?}", o.stop) };
            assert!(zeros);
            for b in &mut garbage[filler..o.code.end] {
                *b = rng.bits() as u8;
            }
        }
        for bytes in [&zeros, &garbage] {
            let e = read_with(bytes, &skl()).unwrap_err();
            assert_eq!(e.problem, Problem::Damaged, "seed {seed}: {e}");
            let r = recover_with(bytes, &skl()).unwrap();
            for (got, want) in r.objects.iter().zip(&m.objects) {
                // A filler of noise may look like more instructions; what is there must all be right.
                assert!(got.insts.len() >= want.insts.len(), "seed {seed}");
                for (a, b) in got.insts.iter().zip(&want.insts) {
                    assert!(a.op == b.op || a.alternatives, "seed {seed}: {:?} {:?}", a.op, b.op);
                    let (have, all) = (got.ops(a), want.ops(b));
                    assert_eq!(have, &all[..have.len()], "seed {seed}");
                }
                if matches!(got.stop, Stop::Damaged { zeros: true, .. }) {
                    assert_eq!(got.insts.len(), want.insts.len(), "seed {seed}");
                }
            }
        }
    }
}

/// With variadic instructions nearly all files are still followed to their end.
#[test]
fn damaged_variadic_instructions_are_mostly_recovered() {
    let (mut all, mut found) = (0, 0);
    for seed in 0..100 {
        let m = module(seed, &Options { insts: 20, ..Options::default() });
        let bytes = write_as_reference(&m, &WriteOptions::default()).unwrap();
        let r = recover_with(&bytes, &skl()).unwrap();
        all += 1;
        let ops = |i: &[envisa_isa::Inst]| i.iter().map(|i| i.op).collect::<Vec<_>>();
        let got: Vec<Op> = r.objects[0].insts.iter().map(|i| i.op).collect();
        found += (got == ops(&m.objects[0].insts)) as usize;
    }
    assert!(found * 10 >= all * 8, "{found} of {all}");
}

#[test]
fn undamaged_files_are_recovered_whole() {
    for (_, m) in modules(50) {
        let bytes = write(&m, &WriteOptions::default()).unwrap();
        let again = recover_with(&bytes, &skl()).unwrap().complete().unwrap();
        assert_eq!(m.first_difference(&again), None);
    }
}

/// Whatever the bytes, the reader gives a sound module or an error.
#[test]
fn mutations_never_panic() {
    let mut rng = Rng::new(3);
    for (_, m) in modules(100) {
        let bytes = write(&m, &WriteOptions::default()).unwrap();
        for _ in 0..100 {
            let mut bad = bytes.clone();
            for _ in 0..=rng.below(3) {
                let at = rng.below(bad.len() as u32) as usize;
                bad[at] = rng.bits() as u8;
            }
            if let Ok(m) = read_with(&bad, &skl()) {
                m.check_sound().unwrap();
                let again = write(&m, &WriteOptions::default()).unwrap();
                assert_eq!(m.first_difference(&read_with(&again, &skl()).unwrap()), None);
            }
            let _ = recover_with(&bad, &skl());
        }
    }
}
