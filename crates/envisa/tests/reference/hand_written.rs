//! The texts written by hand, as printed: GenX_IR reads them and writes the same bytes, but for what
//! `oracle/by_hand.txt` lists with its reason. Those of 4.2 are beyond it.

use crate::oracle;

use envisa::binary::{WriteOptions, write_as_reference};
use envisa::diag::FileId;
use envisa::isa::{Module, Op, Platform};
use envisa::text::{ParseOptions, PrintOptions, parse, print, print_inst};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn options() -> ParseOptions {
    ParseOptions { platform: Some(Platform::Pvc), ..ParseOptions::default() }
}

/// The module with these instructions of its first object only; labels and returns always.
fn part(m: &Module, keep: &[usize]) -> Module {
    let mut m = m.clone();
    m.objects.truncate(1);
    let mut i = 0;
    m.objects[0].insts.retain(|inst| {
        i += 1;
        matches!(inst.op, Op::Label | Op::Subroutine | Op::Ret | Op::Fret) || keep.contains(&(i - 1))
    });
    m
}

/// Both sides' bytes of these instructions; halves them until it is known which ones differ.
fn compare(m: &Module, keep: &[usize], wrong: &mut BTreeMap<usize, &'static str>) {
    let printed = print(&part(m, keep), &PrintOptions::default()).expect("what was read prints");
    let text: String =
        printed.lines().map(|l| l.split("//@").next().unwrap_or("").trim_end().to_owned() + "\n").collect();
    let said = parse(&text, FileId(0), &options());
    assert!(said.complete, "without annotations it reads too: {:?}\n{text}", said.diagnostics);
    let ours = write_as_reference(&said.module, &WriteOptions::for_platform(Platform::Pvc)).expect("writes");
    let why = match oracle::bytes(&text, Platform::Pvc) {
        Ok(theirs) if theirs == ours => return,
        Ok(_) => "differs",
        Err(_) => "rejected",
    };
    match keep {
        [] => panic!("the declarations alone: {why}\n{text}"),
        [one] => {
            wrong.insert(*one, why);
        }
        _ => {
            let (a, b) = keep.split_at(keep.len() / 2);
            compare(m, a, wrong);
            compare(m, b, wrong);
        }
    }
}

/// `NAME outcome reason`, one a line.
fn exceptions() -> BTreeMap<(String, String), String> {
    include_str!("../oracle/by_hand.txt")
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .map(|l| {
            let mut words = l.splitn(3, ' ');
            let mut word = || words.next().unwrap_or("").trim().to_owned();
            ((word(), word()), word())
        })
        .inspect(|(key, reason)| assert!(!reason.is_empty(), "{key:?} has no reason"))
        .collect()
}

#[test]
fn the_reference_reads_the_texts_written_by_hand() {
    if !oracle::available("the_reference_reads_the_texts_written_by_hand") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../envisa-text/tests/cases");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of cases")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "visaasm"))
        .collect();
    paths.sort();
    let listed = exceptions();
    let mut used = BTreeSet::new();
    let mut faults = Vec::new();
    let mut ops = BTreeSet::new();
    let mut same = 0;
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("UTF-8");
        let m = parse(&text, FileId(0), &options()).module;
        if m.version > (4, 1) {
            // The reference reads 4.1 only.
            continue;
        }
        let insts = &m.objects[0].insts;
        let keep: Vec<usize> = (0..insts.len()).collect();
        let mut wrong = BTreeMap::new();
        compare(&m, &keep, &mut wrong);
        for (i, inst) in insts.iter().enumerate() {
            let name = inst.desc().name;
            let Some(why) = wrong.get(&i) else {
                same += 1;
                ops.insert(inst.op);
                continue;
            };
            let key = (name.to_owned(), (*why).to_owned());
            if listed.contains_key(&key) {
                used.insert(key);
            } else {
                let shown = print_inst(&m, &m.objects[0], inst).unwrap_or_default();
                faults.push(format!("{}: {name} {why}: {}", path.display(), shown.trim()));
            }
        }
    }
    for key in listed.keys().filter(|k| !used.contains(*k)) {
        faults.push(format!("{} {}: listed, and it is not so", key.0, key.1));
    }
    println!("{same} instructions of {} rows have the reference's bytes", ops.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(same > 300 && ops.len() > 180, "only {same} instructions of {} rows", ops.len());
}
