//! Making inputs: seeds from the generator and from files, and changes to them.

use envisa::binary::{WriteOptions, write, write_as_reference};
use envisa::isa::TABLE;
use envisa::isa::generate::{Options, Rng, module};
use std::path::Path;

/// Inputs grow no longer than this.
const MAX_LEN: usize = 1 << 16;

/// Seeds of the binary target: generated modules, whole and damaged, and files.
pub fn binary_seeds(cases: &Path) -> Vec<Vec<u8>> {
    let mut seeds = vec![b"CISA".to_vec()];
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
    files(cases, &mut seeds);
    seeds
}

/// Seeds of the text target: the hand-written one here, and files.
pub fn text_seeds(folders: &[&Path]) -> Vec<Vec<u8>> {
    let mut seeds = vec![SAMPLE.as_bytes().to_vec()];
    for folder in folders {
        files(folder, &mut seeds);
    }
    seeds
}

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

/// Words that mean something to the target.
pub fn dictionary(target: &str) -> Vec<Vec<u8>> {
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

/// A changed seed.
pub fn mutate(rng: &mut Rng, seeds: &[Vec<u8>], words: &[Vec<u8>], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(rng.pick::<Vec<u8>>(seeds));
    for _ in 0..=rng.below(5) {
        let at = rng.below(out.len() as u32 + 1) as usize;
        let scale = rng.below(9);
        let len = (rng.below(1 << scale) as usize).min(out.len() - at);
        match rng.below(10) {
            0 if at < out.len() => out[at] ^= 1 << rng.below(8),
            1 if at < out.len() => out[at] = rng.bits() as u8,
            2 => interesting(rng, out, at),
            3 => out.truncate(at),
            4 => drop(out.drain(at..at + len)),
            5 if out.len() + len <= MAX_LEN => {
                let part = out[at..at + len].to_vec();
                let to = rng.below(out.len() as u32 + 1) as usize;
                out.splice(to..to, part);
            }
            6 => {
                let other = rng.pick(seeds);
                let from = rng.below(other.len() as u32 + 1) as usize;
                let rest = &other[from..];
                let room = MAX_LEN.saturating_sub(at);
                out.truncate(at);
                out.extend_from_slice(&rest[..rest.len().min(room)]);
            }
            7 | 8 if out.len() < MAX_LEN => {
                let word = rng.pick(words);
                // In place of as many bytes, or between.
                let end = if rng.one_in(2) { at } else { (at + word.len()).min(out.len()) };
                out.splice(at..end, word.iter().copied());
            }
            _ => {
                for b in &mut out[at..at + len] {
                    *b = rng.bits() as u8;
                }
            }
        }
    }
}

/// Overwrites a number of 1, 2 or 4 bytes by one at some border.
fn interesting(rng: &mut Rng, out: &mut [u8], at: usize) {
    const VALUES: [u32; 16] = [
        0,
        1,
        2,
        31,
        32,
        0x7f,
        0x80,
        0xff,
        0x100,
        0x7fff,
        0x8000,
        0xffff,
        0x1_0000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
    ];
    let bytes = rng.pick(&VALUES).to_le_bytes();
    let width = *rng.pick(&[1, 2, 4]);
    for (to, from) in out[at..].iter_mut().zip(&bytes[..width]) {
        *to = *from;
    }
}
