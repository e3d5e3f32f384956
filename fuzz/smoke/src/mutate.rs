//! Making inputs: seeds from the generator and from files, and changes to them.

use crate::debug;
use envisa::binary::{WriteOptions, write, write_as_reference};
use envisa::isa::{Module, TABLE};
use envisa::text::{self, PrintOptions};
use envisa::zebin::ZebinFile;
use envisa_smith::generate::{Options, Rng, module};
use envisa_smith::mutate::{MAX_LEN, exchange_parts, mutate};
use std::path::Path;

/// What a target's inputs are made of.
pub struct Source {
    seeds: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
    /// Whole modules, whose parts are exchanged; for the targets that read modules.
    modules: Vec<Module>,
    as_text: bool,
}

impl Source {
    /// Of a target, with the files below the root of the sources.
    pub fn new(target: &str, root: &Path) -> Source {
        let mut seeds = Vec::new();
        files(&root.join("tests/fuzz-cases").join(target), &mut seeds);
        match target {
            "binary" => binary_seeds(&mut seeds),
            "text" => text_seeds(root, &mut seeds),
            "zebin" => seeds.extend(zebins(root)),
            "ze_info" => {
                for file in zebins(root).iter().filter_map(|b| ZebinFile::parse(b).ok()) {
                    let section = file.elf.sections.iter().find(|s| s.name == ".ze_info");
                    seeds.extend(section.map(|s| s.data.to_vec()));
                }
            }
            "program" => {
                files(&root.join("crates/envisa-lower/tests/lowering"), &mut seeds);
                seeds.retain(|s| s.starts_with(b"program "));
            }
            "protocol" => seeds.extend(debug::protocol_seeds()),
            "expression" => seeds.extend(debug::EXPRESSIONS.iter().map(|e| e.as_bytes().to_vec())),
            "dwarf" => seeds.push(debug::dwarf_seed()),
            "message" => seeds.extend((0..72).map(crate::message::seed)),
            "npy" => {
                files(&root.join("examples"), &mut seeds);
                seeds.retain(|s| s.starts_with(b"\x93NUMPY"));
            }
            _ => {
                seeds.push(JOB.as_bytes().to_vec());
                files(&root.join("examples"), &mut seeds);
                seeds.retain(|s| s.len() < 4096 && std::str::from_utf8(s).is_ok());
            }
        }
        seeds.retain(|s| s.len() <= MAX_LEN);
        assert!(!seeds.is_empty(), "no seeds for {target}");
        let modules = match target {
            "binary" | "text" => (0..60)
                .map(|seed| {
                    let version = if seed % 5 == 4 { (4, 2) } else { (4, 1) };
                    let functions = seed as usize % 2;
                    let insts = 1 + seed as usize / 4;
                    module(seed + 1000, &Options { version, insts, functions, ..Options::default() })
                })
                .collect(),
            _ => Vec::new(),
        };
        Source { words: dictionary(target), seeds, modules, as_text: target == "text" }
    }

    /// Number of seeds, generated modules among them.
    pub fn len(&self) -> usize {
        self.seeds.len() + self.modules.len()
    }

    /// Always false.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The next input.
    pub fn input(&self, rng: &mut Rng, out: &mut Vec<u8>) {
        out.clear();
        // One in eight is wrong in its meaning only, or nearly right.
        if !self.modules.is_empty() && rng.one_in(8) {
            let m = exchange_parts(rng, &self.modules);
            let made = match self.as_text {
                true => text::print(&m, &PrintOptions::default()).ok().map(String::into_bytes),
                false => write(&m, &WriteOptions::default()).ok(),
            };
            if let Some(made) = made {
                out.extend(made);
                if rng.one_in(2) {
                    return;
                }
            }
        }
        if out.is_empty() {
            out.extend_from_slice(rng.pick::<Vec<u8>>(&self.seeds));
        }
        mutate(rng, &self.seeds, &self.words, out);
    }
}

/// Generated modules, whole and damaged.
fn binary_seeds(seeds: &mut Vec<Vec<u8>>) {
    seeds.push(b"CISA".to_vec());
    for seed in 0..60 {
        let version = if seed % 5 == 4 { (4, 2) } else { (4, 1) };
        let options =
            Options { version, insts: seed as usize, functions: seed as usize % 2, ..Options::default() };
        let m = module(seed, &options);
        let w = WriteOptions::default();
        if let Ok(bytes) = write(&m, &w) {
            // The same file under an older version exercises the older layouts.
            let mut old = bytes.clone();
            old[4..6].copy_from_slice(&[3, (seed % 9) as u8]);
            seeds.extend([bytes, old]);
        }
        seeds.extend(write_as_reference(&m, &w));
    }
}

/// The texts of the tests, and of compiled kernels.
fn text_seeds(root: &Path, seeds: &mut Vec<Vec<u8>>) {
    seeds.push(SAMPLE.as_bytes().to_vec());
    for folder in ["crates/envisa-text/tests/cases", "crates/envisa-text/tests/diagnostics"] {
        let mut found = Vec::new();
        files(&root.join(folder), &mut found);
        seeds.extend(found.into_iter().filter(|s| s.len() < 8 << 10));
    }
    for file in zebins(root).iter().filter_map(|b| ZebinFile::parse(b).ok()) {
        let texts = file.visa.iter().map(|v| file.visa_text(v).into_owned().into_bytes());
        seeds.extend(texts.filter(|t| t.len() < 8 << 10));
    }
}

/// Some of the corpus's binaries.
fn zebins(root: &Path) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    files(&root.join("suite/corpus"), &mut all);
    all.retain(|b| b.len() < 24 << 10);
    all.into_iter().step_by(12).collect()
}

/// A manifest with a bit of everything.
const JOB: &str = r#"file = "k.zebin"
kernel = "k"
global = [64, 2, 1]
local = [16, 1, 1]
limit = 1000
check = true
[args]
a = "rand:f32:64*2:7:-1..1"
b = "fill:i32x4:8:0x1f"
c = "local:256"
d = 3.5
e = { image = "2d:16,16:rgba:unorm8", value = "zeros:u8:1024" }
s = { sampler = "clamp_to_edge:nearest:unnormalized" }
[[outputs]]
arg = "a"
print = 4
expect = "iota:f32:128"
check = "ulp:2"
shape = [8, 16]
"#;

/// A text with a bit of everything.
const SAMPLE: &str = r#".version 4.1
.kernel "sample"
.decl V32 v_type=G type=ud num_elts=64 align=GRF attrs={Output}
.decl V33 v_type=G type=f num_elts=64 align=GRF alias=<V32, 0>
.decl V34 v_type=G type=uq num_elts=16 align=GRF
.decl A0 v_type=A num_elts=16
.decl P1 v_type=P num_elts=16
.decl S0 v_type=S num_elts=1
.decl T6 v_type=T num_elts=1
.input V32 offset=32 size=32
.kernel_attr Target="cm"
.kernel_attr SLMSize=64
    mov (M1,8) V32(0,0)<1> V32(1,0)<1;1,0>
    add.sat (M1_NM,16) V33(0,0)<1> (-)V33(0,1)<0;1,0> 0x3f800000:f
    cmp.lt (M1,8) P1 V32(0,0)<1;1,0> 0x5:ud
    (!P1.any) goto (M1,8) BB_1
    scatter.2 (M5_NM,8) T6 0x0:ud V32.0 V32.0
    addr_add (M1,1) A0(0)<1> &V32[4] 0x10:uw
    mov (M1,8) V32(0,0)<1> r[A0(0),16]<8;8,1>:d
    svm_gather.4.1 (M1,8) V34.0 V32.0
    lsc_load.ugm.ca.uc (M1,8) V32:d32x2 flat[V34+0x100]:a64
BB_1:
    barrier
    ret (M1,1)
"#;

/// All files of a folder and its folders, at most 64 KiB each, in order of names.
pub fn files(folder: &Path, out: &mut Vec<Vec<u8>>) {
    let Ok(list) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = list.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, out);
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes.len() <= MAX_LEN
        {
            out.push(bytes);
        }
    }
}

/// Words of the debugger's expressions and messages.
const DEBUG_WORDS: [&str; 30] = [
    "(",
    ")",
    "[",
    "]",
    ".",
    "->",
    " + ",
    " << ",
    " ? ",
    " : ",
    "*",
    "&",
    "(int *)",
    "(S)",
    "s.f",
    "v.xyzw",
    "get_local_id(2)",
    "9223372036854775807",
    "-1",
    "1e308",
    "0x",
    "\"condition\":\"",
    "\"line\":",
    "\"threadId\":",
    "\"frameId\":",
    "\"variablesReference\":",
    "{",
    "}",
    "\n",
    "\"logMessage\":\"{\"",
];

const PROGRAM_WORDS: &[&str] = &[
    "program ",
    "function 0",
    "constants ",
    "addresses from",
    "message ",
    "simt",
    "raw",
    "block2d",
    "sample",
    "goto",
    "dpas",
    "@0",
    "@4294967295",
    "V+4",
    "#0:ud",
    "<0;1,0>",
    "<255;32,255>",
    " from 28",
    "(32)",
    "65536",
    "4294967295",
    "-1",
    "99999999999999999999",
    "\n",
];

const ZE_INFO_WORDS: &[&str] = &[
    "kernels:",
    "  - ",
    "name:",
    "execution_env:",
    "simd_size:",
    "payload_arguments:",
    "arg_type:",
    "offset:",
    "size:",
    "\n",
    "  ",
    "...",
    "---",
    "'",
    "\"",
    "#",
    "&a",
    "*a",
    "<<:",
    "[",
    "]",
    "{",
    "}",
    "99999999999999999999",
    "-1",
    "0x",
    "~",
    "null",
    "true",
    ": ",
];

const NPY_WORDS: &[&str] = &[
    "\x01\0",
    "\x02\0",
    "'descr'",
    "'<f4'",
    "'>i8'",
    "'|V9'",
    "'fortran_order'",
    "True",
    "'shape'",
    "(",
    ")",
    ",",
    "9223372036854775807",
    "0",
    "[('a','<f4')]",
    "{",
    "}",
];

const JOB_WORDS: &[&str] = &[
    "file",
    "=",
    "[",
    "]",
    "[[",
    "]]",
    "args",
    "outputs",
    "global",
    "\"",
    "'''",
    "\n",
    "rand:",
    "fill:",
    "iota:",
    "zeros:",
    "f64x16",
    "i8",
    ":",
    "..",
    "*",
    "18446744073709551615",
    "1e999",
    "nan",
    "image",
    "sampler",
    "2d:",
    "@",
    "{",
    "}",
    "\\u0000",
    "0x",
];

/// Words that mean something to a target that reads neither modules nor their texts.
fn other_words(target: &str) -> &'static [&'static str] {
    match target {
        "zebin" => &["\x7fELF", ".ze_info", ".visaasm", ".text.", ".strtab", "\0\0\0\0", "\x7f\0"],
        "program" => PROGRAM_WORDS,
        "ze_info" => ZE_INFO_WORDS,
        "protocol" | "expression" => &DEBUG_WORDS,
        "dwarf" => &["\x11\x01", "\x23", "\x13", "\x34", "\0\0\0\0", "\x7f\x7f\x7f\x7f", "int\0"],
        "npy" => NPY_WORDS,
        "job" => JOB_WORDS,
        _ => &[],
    }
}

/// Words that mean something to the target.
fn dictionary(target: &str) -> Vec<Vec<u8>> {
    let other = other_words(target);
    if !other.is_empty() {
        return other.iter().map(|w| w.as_bytes().to_vec()).collect();
    }
    if target == "binary" {
        let mut words: Vec<Vec<u8>> =
            TABLE.iter().map(|d| [Some(d.opcode), d.sub].into_iter().flatten().collect()).collect();
        words.extend([b"CISA".to_vec(), vec![4, 1], vec![4, 2], vec![3, 0], vec![0; 4], vec![0xff; 4]]);
        return words;
    }
    let mut words: Vec<Vec<u8>> =
        TABLE.iter().flat_map(|d| d.forms.iter().map(|f| f.head.as_bytes().to_vec())).collect();
    let more = [
        ".version",
        ".kernel",
        ".decl",
        ".input",
        ".kernel_attr",
        ".function",
        ".global_function",
        ".parameter",
        ".implicit_LOCAL_ID",
        "v_type=G",
        "type=ud",
        "num_elts=",
        "align=GRF",
        "alias=<",
        "attrs={",
        "%null",
        "%slm",
        "%r0",
        "V32",
        "P1",
        "A0",
        "T6",
        "S0",
        "(M1,8)",
        "(M5_NM,16)",
        "<1;1,0>",
        "<8;8,1>",
        "<0;1,0>",
        "(0,0)",
        "r[A0(0),16]",
        "0x7fffffff",
        "-2147483648",
        "18446744073709551615",
        "1.5e+308:df",
        ":f",
        ":hf",
        ":v",
        "(abs)",
        "(-)",
        "(~)",
        ".sat",
        "/*",
        "*/",
        "//",
        "\\\n",
        "\"",
        "\n",
        "\r\n",
        "{",
        "}",
        "$",
        "flat[",
        "bti(0x4)[",
        ":a64",
        ":d32x4t",
        "%sizeof(",
        "?",
        ">>>",
        "%%",
    ];
    words.extend(more.iter().map(|w| w.as_bytes().to_vec()));
    words.sort();
    words.dedup();
    words
}
