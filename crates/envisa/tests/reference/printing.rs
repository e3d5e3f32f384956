//! Printing and formatting: what is printed reads back as the same module, through binaries too, and the
//! reference assembler writes the same bytes for it.

use crate::oracle;

use envisa::binary;
use envisa::diag::{Files, TextOptions, render_text};
use envisa::isa::{
    Align, Attr, Input, Label, LabelUse, Modifier, Module, Op, Operand, Platform, Region, Strings, Type,
};
use envisa::lower::Program;
use envisa::text::{ParseOptions, PrintOptions, format, parse, print};
use envisa::zebin::ZebinFile;
use envisa::{Config, Device, Source, internals};
use envisa_smith::generate;
use std::path::{Path, PathBuf};

const OPTIONS: ParseOptions = ParseOptions { platform: None, max_errors: 20, max_bytes: usize::MAX };

fn read(source: &str) -> Result<Module, String> {
    let mut files = Files::new();
    let id = files.add_text("text", source);
    let r = parse(source, id, &OPTIONS);
    match r.complete {
        true => Ok(r.module),
        false => Err(render_text(&files, &r.diagnostics, &TextOptions::default())),
    }
}

fn printed(m: &Module) -> Result<String, String> {
    let mut options = PrintOptions::default();
    options.native = true;
    print(m, &options).map_err(|e| e.to_string())
}

/// Print, parse: the same module; print again: the same text; format: nothing to do.
fn round(m: &Module) -> Result<String, String> {
    let text = printed(m)?;
    let again = read(&text).map_err(|e| format!("{e}\n{text}"))?;
    if let Some(d) = m.first_difference(&again) {
        return Err(format!("{d}\n{text}"));
    }
    if printed(&again)? != text {
        return Err("printed again, it differs".to_owned());
    }
    if let Some((a, b)) = format(&text).lines().zip(text.lines()).find(|(a, b)| a != b) {
        return Err(format!("formatting changes what is printed:\n{b}\n{a}"));
    }
    Ok(text)
}

/// Everything that must hold of a text that reads without errors.
fn hold(source: &str) -> Result<(), String> {
    let m = read(source)?;
    round(&m)?;
    let tidy = format(source);
    if let Some(d) = m.first_difference(&read(&tidy)?) {
        return Err(format!("formatting changes the module: {d}"));
    }
    if format(&tidy) != tidy {
        return Err("formatting twice differs from once".to_owned());
    }
    let bytes = binary::write(&m, &binary::WriteOptions::default()).map_err(|e| e.to_string())?;
    let decoded = binary::read_with(&bytes, &binary::ReadOptions::for_platform(Platform::Skl))
        .map_err(|e| e.to_string())?;
    let text = round(&decoded).map_err(|e| format!("from the binary: {e}"))?;
    let again = binary::write(&read(&text)?, &binary::WriteOptions::default()).map_err(|e| e.to_string())?;
    if again != bytes {
        return Err("binary, text, binary: bytes differ".to_owned());
    }
    Ok(())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Files below a folder with this extension, in order.
fn files(dir: &Path, extension: &str, out: &mut Vec<PathBuf>) {
    let mut list: Vec<_> = std::fs::read_dir(dir)
        .unwrap_or_else(|e| panic!("{}: {e}", dir.display()))
        .map(|e| e.expect("an entry").path())
        .collect();
    list.sort();
    for path in list {
        if path.is_dir() {
            files(&path, extension, out);
        } else if path.extension().is_some_and(|e| e == extension) {
            out.push(path);
        }
    }
}

/// The texts of the corpus, with names.
fn corpus() -> Vec<(String, String)> {
    let mut zebins = Vec::new();
    files(&root().join("suite/corpus"), "zebin", &mut zebins);
    let mut texts = Vec::new();
    for path in zebins {
        let bytes = std::fs::read(&path).expect("a file of the corpus");
        let zebin = ZebinFile::parse(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let kernels = zebin.kernels().filter_map(|k| zebin.kernel_visa(&k.name).ok());
        for visa in kernels.chain(zebin.functions_visa()) {
            texts.push((path.display().to_string(), zebin.visa_text(visa).into_owned()));
        }
    }
    texts
}

fn report(faults: Vec<String>, of: usize) {
    assert!(of > 0, "nothing was tried");
    let n = faults.len();
    let shown: Vec<String> = faults.into_iter().take(8).map(|f| f.chars().take(1500).collect()).collect();
    assert!(n == 0, "{n} of {of} fail:\n{}", shown.join("\n----\n"));
}

#[test]
fn texts_of_the_corpus() {
    let texts = corpus();
    let of = texts.len();
    let faults = texts.into_iter().filter_map(|(n, t)| hold(&t).err().map(|e| format!("{n}: {e}"))).collect();
    report(faults, of);
}

/// Every program of the corpus, as lowered and improved, reads back from its text.
#[test]
fn programs_of_the_corpus() {
    let mut zebins = Vec::new();
    files(&root().join("suite/corpus"), "zebin", &mut zebins);
    let (mut faults, mut of) = (Vec::new(), 0);
    for path in zebins {
        let folder = path.strip_prefix(root().join("suite/corpus")).expect("below it");
        let name = folder.iter().next().and_then(|p| p.to_str()).expect("a platform's folder");
        let platform = Platform::from_name(name).unwrap_or_else(|| panic!("a folder named {name}"));
        let device = Device::new(Config::new(platform).memory(1 << 20).threads(1));
        let bytes = std::fs::read(&path).expect("a file of the corpus");
        let module = envisa::Module::load(&device, "corpus", Source::Zebin(&bytes)).expect("it loads");
        for name in module.kernel_names() {
            let kernel = module.kernel(&name).unwrap_or_else(|e| panic!("{}, {name}: {e:?}", path.display()));
            let lowered = internals::program(&kernel);
            let improved = envisa::lower::optimize(lowered).expect("a program");
            for program in [lowered, &improved] {
                of += 1;
                let text = program.to_string();
                match Program::read(&text) {
                    Ok(read) if read.to_string() == text => {}
                    Ok(_) => faults.push(format!("{}, {name}: it reads back differently", path.display())),
                    Err(e) => faults.push(format!("{}, {name}: {e}", path.display())),
                }
            }
        }
    }
    assert!(of > 1000, "{of} programs were read");
    report(faults, of);
}

#[test]
fn texts_written_by_hand() {
    let mut paths = Vec::new();
    files(&root().join("crates/envisa-text/tests/cases"), "visaasm", &mut paths);
    let mut faults = Vec::new();
    let mut of = 0;
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a case");
        // Cases of errors are for other tests.
        if read(&text).is_err() {
            continue;
        }
        of += 1;
        faults.extend(hold(&text).err().map(|e| format!("{}: {e}", path.display())));
    }
    report(faults, of);
}

/// Other folders of texts: `ENVISA_TEXTS=DIR cargo test -p envisa --test reference -- --ignored printing`.
#[test]
#[ignore = "needs a folder in ENVISA_TEXTS"]
fn texts_of_a_folder() {
    let dir = std::env::var_os("ENVISA_TEXTS").expect("ENVISA_TEXTS names a folder");
    let mut paths = Vec::new();
    files(Path::new(&dir), "visaasm", &mut paths);
    let of = paths.len();
    let faults = paths
        .iter()
        .filter_map(|p| {
            let text = std::fs::read_to_string(p).expect("a text");
            hold(&text).err().map(|e| format!("{}: {e}", p.display()))
        })
        .collect();
    report(faults, of);
}

#[test]
fn every_instruction_prints_and_reads_back() {
    let mut faults = Vec::new();
    let mut of = 0;
    for version in [(4, 1), (4, 2)] {
        for &op in Op::ALL {
            if !op.desc().versions.contains(version) || matches!(op, Op::Label | Op::Subroutine) {
                continue;
            }
            for seed in 0..6 {
                let options = generate::Options {
                    version,
                    insts: 12,
                    ops: Some(vec![op]),
                    functions: usize::from(seed == 0),
                    ..generate::Options::default()
                };
                let m = generate::module(seed, &options);
                of += 1;
                if let Err(e) = round(&m) {
                    faults.push(format!("{op:?}, seed {seed}, {version:?}: {e}"));
                    break;
                }
            }
        }
    }
    report(faults, of);
}

#[test]
fn the_reference_reads_what_is_printed() {
    if !oracle::available("the_reference_reads_what_is_printed") {
        return;
    }
    let mut faults = Vec::new();
    let (mut of, mut refused) = (0, Vec::new());
    // A text of each device and group of kernels.
    let texts = corpus();
    for (name, text) in texts.iter().step_by(29) {
        let Some(platform) = ["skl", "tgllp", "dg2", "pvc"]
            .into_iter()
            .find(|d| name.contains(&format!("/{d}/")))
            .and_then(Platform::from_name)
        else {
            continue;
        };
        of += 1;
        // Which originals it does not read, and why, is told by `docs/BYTES-VS-GENX_IR.md`.
        let theirs = match oracle::bytes(text, platform) {
            Ok(theirs) => theirs,
            Err(why) => {
                refused.push(format!("{name}: {why}"));
                continue;
            }
        };
        let result = (|| {
            let m = read(text)?;
            let ours = oracle::bytes(&printed(&m)?, platform)?;
            if ours == theirs { Ok(()) } else { Err("other bytes than for the original".to_owned()) }
        })();
        if let Err(e) = result {
            faults.push(format!("{name}: {e}"));
        }
    }
    assert!(10 * refused.len() < of, "of {of} originals it refuses {refused:?}");
    report(faults, of);
}

/// A text, to whose module [`changed`] does what no text would.
const PLAIN: &str = ".version 4.1\n.kernel \"k\"\n.decl X v_type=G type=d num_elts=8 align=GRF\n\
                  .decl Y v_type=G type=w num_elts=16 align=GRF attrs={Output}\n\
                  .decl P1 v_type=P num_elts=8\n.kernel_attr SimdSize=8\n\
                  B:\n    mov (M1, 8) X(0,0)<1> -3:w\n    (P1) goto (M1, 8) A\n    faddr sym X(0,0)<1>\n\
                  goto (M1, 8) B\nA:\n    ret (M1, 8)\n";

/// What a module becomes by a change is printed with annotations, and read again.
fn changed(what: &str, change: impl Fn(&mut Module)) {
    let mut m = read(PLAIN).expect("the text is fine");
    change(&mut m);
    if let Err(e) = round(&m) {
        panic!("{what}: {e}");
    }
}

/// Puts the strings of an object into another order, with some more or fewer that nobody names.
fn reorder(m: &mut Module, f: impl Fn(&[String]) -> Vec<String>) {
    let o = &mut m.objects[0];
    let old: Vec<String> = o.strings.iter().map(str::to_owned).collect();
    let new = f(&old);
    let find = |i: u32| new.iter().position(|s| *s == old[i as usize]).expect("kept") as u32;
    for v in &mut o.vars {
        v.name = find(v.name);
    }
    for v in &mut o.predicates {
        v.name = find(v.name);
    }
    for a in o.attrs.iter_mut().chain(&mut o.var_attrs) {
        a.name = find(a.name);
    }
    for l in &mut o.labels {
        l.name = find(l.name);
    }
    for op in &mut o.operands {
        if let Operand::Str(i) = op {
            *i = find(*i);
        }
    }
    let mut strings = Strings::default();
    for s in &new {
        strings.push(s);
    }
    o.strings = strings;
}

#[test]
fn pools_that_no_text_makes() {
    changed("nothing", |_| {});
    changed("pool backwards", |m| {
        reorder(m, |old| {
            let mut new = old.to_vec();
            new[29..].reverse();
            new
        });
    });
    changed("pool with strangers", |m| {
        reorder(m, |old| {
            let mut new = old.to_vec();
            new.insert(31, "a \"stranger\"\\".to_owned());
            new.push("last".to_owned());
            new
        });
    });
    changed("pool without the fixed strings", |m| {
        reorder(m, |old| [&old[..1], &old[29..]].concat());
    });
}

#[test]
fn labels_and_names_that_no_text_has() {
    changed("labels in another order", |m| {
        let o = &mut m.objects[0];
        o.labels.swap(0, 1);
        for op in &mut o.operands {
            if let Operand::Label(i) = op {
                *i = 1 - *i;
            }
        }
    });
    changed("a label that nobody names", |m| {
        let o = &mut m.objects[0];
        o.labels.insert(0, Label { name: 29, kind: LabelUse::Subroutine, span: Default::default() });
        for op in &mut o.operands {
            if let Operand::Label(i) = op {
                *i += 1;
            }
        }
    });
    changed("names that are none, or twice", |m| {
        let o = &mut m.objects[0];
        let odd = o.strings.push("a b");
        let empty = o.strings.push("");
        let mov = o.strings.push("mov");
        o.vars[0].name = odd;
        o.vars[1].name = mov;
        o.predicates[0].name = mov;
        o.labels[0].name = odd;
        o.labels[1].name = empty;
    });
}

#[test]
fn declarations_that_no_text_has() {
    changed("widths of attributes", |m| {
        let o = &mut m.objects[0];
        o.attrs[0].value.truncate(1);
        let name = o.strings.push("what?");
        o.attrs.push(Attr { name, value: vec![1, 2, 3], span: Default::default() });
        let range = o.vars[1].attrs;
        o.var_attrs[range.start as usize].value = vec![7];
    });
    changed("no target, sizes, version", |m| {
        m.version = (3, 6);
        let o = &mut m.objects[0];
        let first = o.attrs[0].name;
        o.attrs.retain(|a| a.name == first);
        o.function_sizes = (1, 200);
    });
    changed("declarations", |m| {
        let o = &mut m.objects[0];
        o.vars[0].elems = 0;
        o.vars[0].ty = Type::Vf;
        o.vars[1].align = Align::Byte;
        o.vars[1].alias_offset = 4;
        o.predicates[0].elems = 0;
        o.inputs.push(Input { kind: 3 << 3, id: 32, offset: -4, size: 4, span: Default::default() });
    });
}

#[test]
fn operands_that_no_text_has() {
    changed("operands", |m| {
        let o = &mut m.objects[0];
        for op in &mut o.operands {
            match op {
                Operand::Imm { bits, .. } => *bits = 0x1234_5678,
                Operand::General { region, modifier, .. } => {
                    *region = Region(0x777);
                    *modifier = Modifier::Not;
                }
                _ => {}
            }
        }
    });
    for other in [
        Operand::Imm { ty: Type::Bf, bits: 0x1_0001 },
        Operand::Predicate(envisa::isa::Pred { id: 1, combine: envisa::isa::Combine::Any, invert: true }),
        Operand::AddressOf { var: 32, offset: 0xffff },
        Operand::State { class: envisa::isa::StateClass::Sampler, id: 31, offset: 9 },
    ] {
        changed("other classes", |m| {
            let o = &mut m.objects[0];
            for op in &mut o.operands {
                if matches!(op, Operand::Imm { .. } | Operand::General { .. }) {
                    *op = other;
                }
            }
        });
    }
}

#[test]
fn what_cannot_be_printed_is_named() {
    let mut m = read(".version 4.1\n.kernel \"k\"\n    ret (M1, 1)\n").expect("the text is fine");
    m.objects[0].name = "a\0b".to_owned();
    assert!(printed(&m).unwrap_err().contains("NUL"));
    m.objects[0].name.clear();
    assert!(printed(&m).unwrap_err().contains("name"));
}

#[test]
fn a_hundred_thousand_instructions_print_at_once() {
    let options = generate::Options { insts: 100_000, ..generate::Options::default() };
    let m = generate::module(1, &options);
    let start = std::time::Instant::now();
    let text = printed(&m).expect("generated modules print");
    let took = start.elapsed();
    assert!(text.lines().count() > 100_000);
    // Release: under 0.1 s, measured by the benchmarks. This is a guard against what grows faster.
    assert!(took.as_secs() < 10, "{took:?}");
}
