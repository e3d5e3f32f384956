//! Files cut at every byte and with every byte changed: an error with offset and field, in little memory.

use envisa::binary::{ReadError, WriteOptions, read, recover, write, write_as_reference};
use envisa_fuzz_smoke::{memory, mutate};
use envisa_smith::generate::{Options, module};
use std::path::Path;

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

/// Reading takes no more memory for each byte of the file, after [`FREE`].
const FACTOR: usize = 48;
/// What is not counted: messages, and room that vectors take ahead.
const FREE: usize = 16 << 10;

/// The kept cases, and generated files of both versions, whole and damaged.
fn cases() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    mutate::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz-cases/binary"), &mut all);
    for seed in 0..6 {
        let m = module(
            seed,
            &Options {
                version: if seed % 2 == 0 { (4, 1) } else { (4, 2) },
                insts: 12,
                functions: (seed / 2) as usize % 2,
                ..Options::default()
            },
        );
        all.push(write(&m, &WriteOptions::default()).expect("what is generated can be written"));
        all.push(write_as_reference(&m, &WriteOptions::default()).expect("damaged, too"));
    }
    all
}

/// Opcode tables are made once, at the first file.
fn warm_up() {
    for case in cases() {
        let _ = read(&case);
    }
}

fn check_error(e: &ReadError, len: usize, what: &str) {
    assert!(e.offset <= len, "{what}: {e}: beyond the file's {len} bytes");
    assert!(!e.place.is_empty(), "{what}: {e}: no field");
    assert!(e.to_string().starts_with(&format!("offset 0x{:x}: ", e.offset)), "{what}: {e}");
}

fn check(bytes: &[u8], what: &str) -> bool {
    let limit = FREE + FACTOR * bytes.len();
    let (result, used) = memory::peak(|| read(bytes).err());
    assert!(used <= limit, "{what}: reading takes {used} bytes for a file of {}", bytes.len());
    if let Some(e) = &result {
        check_error(e, bytes.len(), what);
    }
    let (recovered, used) = memory::peak(|| recover(bytes).err());
    assert!(used <= limit, "{what}: recovering takes {used} bytes for a file of {}", bytes.len());
    if let Some(e) = &recovered {
        check_error(e, bytes.len(), what);
    }
    result.is_some()
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    warm_up();
    for (n, case) in cases().iter().enumerate() {
        let whole = read(case).is_ok();
        for len in 0..case.len() {
            let failed = check(&case[..len], &format!("case {n} cut at {len}"));
            assert!(failed || !whole, "case {n}: nothing is missing when cut at {len}");
        }
    }
}

#[test]
fn a_file_with_any_byte_changed_is_read_or_an_error() {
    warm_up();
    for (n, case) in cases().iter().enumerate() {
        let mut bytes = case.clone();
        for at in 0..case.len() {
            // Another bit pattern at each byte of a field.
            let change = [0x01, 0xff, 0x80, 0x10, 0x03][at % 5];
            bytes[at] ^= change;
            check(&bytes, &format!("case {n}, byte {at} changed by {change:#x}"));
            bytes[at] ^= change;
        }
    }
}

/// A file that claims as much as it can for its size.
#[test]
fn greedy_files_stay_small() {
    warm_up();
    let m = module(1, &Options { insts: 0, ..Options::default() });
    let whole = write(&m, &WriteOptions::default()).expect("what is generated can be written");
    let bytes = whole.repeat(50);
    check(&bytes, "many files in one");
    // Every number of two or four bytes at its greatest.
    for at in 0..whole.len() - 4 {
        for width in [2, 4] {
            let mut bad = whole.clone();
            bad[at..at + width].fill(0xff);
            check(&bad, &format!("{width} bytes of ones at {at}"));
        }
    }
    // Instructions of the fewest bytes: a body of barriers.
    let mut o = m.objects[0].clone();
    let ret = o.insts.pop();
    for _ in 0..100_000 {
        let inst = envisa::isa::Inst {
            op: envisa::isa::Op::Barrier,
            len: 0,
            first: o.operands.len() as u32,
            span: envisa::isa::Span::NONE,
        };
        o.insts.push(inst);
    }
    o.insts.extend(ret);
    let barriers = envisa::isa::Module { version: (4, 1), objects: vec![o] };
    let bytes = write(&barriers, &WriteOptions::default()).expect("it can be written");
    check(&bytes, "barriers");
    assert!(read(&bytes).is_ok());
}

/// What the target for messages starts from is executed, so that changes to it come that far, too.
#[test]
fn seeds_of_messages_are_executed() {
    use envisa_fuzz_smoke::message::{SEEDS, outcome, seed};
    for k in 0..SEEDS.len() * 4 {
        let executed = match outcome(&seed(k)) {
            Some(Ok(o)) => o.fault.map_or(Ok(()), |f| Err(f.to_string())),
            Some(Err(e)) => Err(e.to_string()),
            None => Err("the module is not accepted".to_owned()),
        };
        match SEEDS[k % SEEDS.len()].2 {
            // The sampler's are not decoded; what is done with their bits is nothing yet.
            2 => assert!(executed.is_err_and(|e| e.contains("not decoded")), "seed {k}"),
            _ => assert_eq!(executed, Ok(()), "seed {k}"),
        }
    }
}
