//! Hostile inputs: spoilt zebins, metadata, jobs and values end in errors or in runs that stop; never in a panic,
//! a hang or memory without bound. Deterministic: the same mutations on every machine.
//!
//! `ENVISA_MUTATIONS=N` tries N mutations of each kind.

use envisa::isa::Platform;
use envisa::{Arg, ArgumentKind, Config, Device, Launch, Module, Source};
use envisa_harness::job::{ArgText, Job, JobError, Ready};
use envisa_harness::values::{HostValue, SplitMix64, ValueSpec};
use std::path::{Path, PathBuf};

/// Memory of a session in these tests, in bytes: more is refused.
const MEMORY: u64 = 64 << 20;

fn mutations(usual: u64) -> u64 {
    std::env::var("ENVISA_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Zebins that are shipped.
fn zebins() -> Vec<(String, Vec<u8>)> {
    ["vadd/vadd", "histogram/histogram", "printf/printf", "image/emboss"]
        .iter()
        .map(|name| {
            let path = root().join("examples").join(format!("{name}.zebin"));
            ((*name).to_owned(), std::fs::read(&path).expect("an example"))
        })
        .collect()
}

fn below(rng: &mut SplitMix64, n: usize) -> usize {
    (rng.next_u64() % n.max(1) as u64) as usize
}

/// Values that break arithmetic.
const NASTY: [u64; 12] =
    [0, 1, 7, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 62, u64::MAX - 1, u64::MAX];

/// Spoils some bytes: flips, nasty numbers, cuts, copies.
fn spoil(bytes: &mut Vec<u8>, rng: &mut SplitMix64) {
    for _ in 0..=below(rng, 4) {
        if bytes.is_empty() {
            return;
        }
        let at = below(rng, bytes.len());
        match below(rng, 8) {
            0 => bytes[at] ^= 1 << below(rng, 8),
            1 => bytes[at] = rng.next_u64() as u8,
            2 | 3 => {
                let n = [1, 2, 4, 8][below(rng, 4)];
                let value = NASTY[below(rng, NASTY.len())].to_le_bytes();
                for (b, v) in bytes[at..].iter_mut().zip(&value[..n]) {
                    *b = *v;
                }
            }
            4 if below(rng, 4) == 0 => bytes.truncate(at),
            5 => {
                let end = (at + 1 + below(rng, 16)).min(bytes.len());
                bytes.drain(at..end);
            }
            6 => {
                let from = below(rng, bytes.len());
                let piece: Vec<u8> = bytes[from..(from + 1 + below(rng, 32)).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => bytes[at] = bytes[at].wrapping_add(1),
        }
    }
}

/// Spoils one number in a text, or one byte of it.
fn spoil_text(text: &str, rng: &mut SplitMix64) -> String {
    const NUMBERS: [&str; 10] = [
        "0",
        "-1",
        "7",
        "4294967295",
        "4294967296",
        "18446744073709551615",
        "99999999999999999999999",
        "0x1p3",
        "''",
        "1e400",
    ];
    let places: Vec<(usize, usize)> = {
        let bytes = text.as_bytes();
        let mut out = Vec::new();
        let mut i = 0;
        while i < bytes.len() {
            let start = i;
            while i < bytes.len() && bytes[i].is_ascii_digit() {
                i += 1;
            }
            if i > start {
                out.push((start, i));
            }
            i += 1;
        }
        out
    };
    if places.is_empty() || below(rng, 4) == 0 {
        let mut bytes = text.as_bytes().to_vec();
        spoil(&mut bytes, rng);
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let (start, end) = places[below(rng, places.len())];
    format!("{}{}{}", &text[..start], NUMBERS[below(rng, NUMBERS.len())], &text[end..])
}

/// Loads a zebin and launches what can be launched: every argument gets something of the kind that its metadata
/// says, however absurd that is.
fn load_and_run(bytes: &[u8]) {
    let source = Source::Zebin(bytes);
    let platform = source.platform().ok().flatten().unwrap_or(Platform::Dg2);
    let device = Device::new(Config::new(platform).memory(MEMORY).threads(1));
    let Ok(module) = Module::load(&device, "spoilt", source) else { return };
    for name in module.kernel_names().iter().take(2) {
        let Ok(kernel) = module.kernel(name) else { continue };
        let buffer = device.buffer_from("b", &[1; 256]).expect("small");
        let mut launch = Launch::range(&[64], &[32]).limit(2000).check(true).statistics(true);
        for a in kernel.arguments() {
            let arg = match a.kind {
                ArgumentKind::Value { bytes, payload_bytes } => {
                    let mut value =
                        vec![0; (if bytes == 0 { payload_bytes } else { bytes }).min(4096) as usize];
                    if let Some(first) = value.first_mut() {
                        *first = 64;
                    }
                    Arg::Bytes(value)
                }
                ArgumentKind::Local => Arg::local(64),
                _ => Arg::from(&buffer),
            };
            launch = launch.arg(a.index, arg);
        }
        let _ = device.run(&kernel, &launch);
        // What fits no metadata.
        let _ = device.run(&kernel, Launch::range(&[64], &[32]).limit(2000).arg(0, &buffer).arg(1, 7));
    }
}

#[test]
fn spoilt_zebins() {
    let mut rng = SplitMix64::new(1);
    let files = zebins();
    for i in 0..mutations(4000) {
        let (_, whole) = &files[i as usize % files.len()];
        let mut bytes = whole.clone();
        spoil(&mut bytes, &mut rng);
        load_and_run(&bytes);
    }
}

#[test]
fn zebins_cut_anywhere() {
    let (_, whole) = &zebins()[0];
    for n in (0..whole.len()).step_by(7) {
        load_and_run(&whole[..n]);
    }
}

/// `.ze_info` is text in the file: its numbers are replaced where it stands.
#[test]
fn spoilt_metadata() {
    let mut rng = SplitMix64::new(2);
    let texts: Vec<String> = zebins()
        .iter()
        .map(|(_, bytes)| {
            let start = bytes.windows(9).position(|w| w == b"version: ").expect("metadata");
            let text = String::from_utf8_lossy(&bytes[start..]).into_owned();
            text.split('\0').next().expect("text").to_owned()
        })
        .collect();
    for i in 0..mutations(4000) {
        let text = spoil_text(&texts[i as usize % texts.len()], &mut rng);
        let _ = envisa::zebin::ZeInfo::parse(&text);
    }
    // In place and of the same length, so that the rest of the file stays whole and the kernel is launched.
    let files = zebins();
    for i in 0..mutations(1500) {
        let (_, whole) = &files[i as usize % files.len()];
        let mut bytes = whole.clone();
        let start = bytes.windows(9).position(|w| w == b"version: ").expect("metadata");
        let digits: Vec<usize> = (start..bytes.len()).filter(|at| bytes[*at].is_ascii_digit()).collect();
        for _ in 0..=below(&mut rng, 2) {
            bytes[digits[below(&mut rng, digits.len())]] = b'0' + below(&mut rng, 10) as u8;
        }
        load_and_run(&bytes);
    }
}

/// A zebin's text is spoilt word by word: it parses more often than it would byte by byte.
#[test]
fn spoilt_kernels() {
    let mut rng = SplitMix64::new(3);
    let files = zebins();
    const WORDS: [&[u8]; 16] = [
        b"0x0:ud",
        b"T6",
        b"%null.0",
        b"V0032",
        b"<0;1,0>",
        b"<32;1,0>",
        b"(M1, 32)",
        b"(M8, 4)",
        b"goto",
        b"ret",
        b"0xffffffff:ud",
        b"num_elts=65535",
        b"A0(0)<1>",
        b"%r0",
        b"r[A0(0),0]",
        b"call",
    ];
    for i in 0..mutations(1500) {
        let (_, whole) = &files[i as usize % files.len()];
        let mut bytes = whole.clone();
        let start = bytes.windows(9).position(|w| w == b".version ").expect("text");
        let end = bytes.windows(9).position(|w| w == b"version: ").expect("metadata").max(start + 64);
        let end = if end > start { end } else { bytes.len() };
        let word = WORDS[below(&mut rng, WORDS.len())];
        let at = start + below(&mut rng, end - start - word.len() - 1);
        // At the next blank, over what stands there; the file's layout stays.
        let at = (at..end - word.len()).find(|i| bytes[*i] == b' ').unwrap_or(at) + 1;
        bytes[at..at + word.len()].copy_from_slice(word);
        load_and_run(&bytes);
    }
}

#[test]
fn spoilt_jobs() {
    let mut rng = SplitMix64::new(4);
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("job.toml");
    std::fs::copy(root().join("examples/vadd/vadd.zebin"), dir.path().join("vadd.zebin")).expect("a copy");
    let text = "file = \"vadd.zebin\"\nglobal = [32]\nlocal = [16]\njobs = 1\nlimit = 500\n[args]\na = \"iota:f32:32\"\n\
                b = \"rand:f32:32:1\"\nc = \"zeros:f32:8*4\"\nn = 32\n[[outputs]]\narg = \"c\"\nprint = 8\nshape = [4, 8]\n\
                expect = \"fill:f32:32:1\"\ncheck = \"ulp 3\"\n";
    for _ in 0..mutations(600) {
        std::fs::write(&path, spoil_text(text, &mut rng)).expect("a file");
        let Ok(mut job) = Job::read(&path) else { continue };
        // What is large by right is not what is tried here.
        if job.global.iter().any(|n| *n > 4096) || job.offset.iter().any(|n| *n > 4096) {
            job.global = vec![64];
        }
        let big = |a: &ArgText| matches!(a, ArgText::Text(t) if t.contains("429496729"));
        job.args.retain(|_, a| !big(a));
        job.limit = if job.limit == 0 { 5000 } else { job.limit.min(5000) };
        if job.jobs <= 1024 {
            job.jobs = job.jobs.min(2);
        }
        let Ok(mut ready) = Ready::new(&job) else { continue };
        if let Ok(outcome) = ready.run(None, None) {
            let _ = ready.deliver_results(&outcome);
        }
    }
}

#[test]
fn spoilt_values() {
    let mut rng = SplitMix64::new(5);
    for _ in 0..mutations(20_000) {
        const TEXTS: [&str; 8] = [
            "zeros:f32x4:64*2",
            "rand:i16:33:7:-5..9",
            "fill:u8:12:200",
            "iota:f64:9",
            "i32x4:1,2,3,4",
            "local:4096",
            "rand:f32:8:1:0..1e3",
            "f16:-1.5",
        ];
        let text = spoil_text(TEXTS[below(&mut rng, TEXTS.len())], &mut rng);
        if text.starts_with('@') {
            continue;
        }
        if let Ok(spec) = ValueSpec::parse(&text) {
            let _ = spec.materialize(1 << 16);
        }
        let _ = envisa_harness::images::parse_image(&spoil_text("2d:640,480:rgba:unorm8", &mut rng));
        let _ = envisa_harness::images::parse_sampler(&spoil_text("clamp:linear:normalized", &mut rng));
        let _ = envisa_harness::compare::Check::parse(&spoil_text("rel 1e-3 abs 1e-6", &mut rng));
    }
}

#[test]
fn spoilt_arrays_and_pictures() {
    let mut rng = SplitMix64::new(6);
    let dir = tempfile::tempdir().expect("a folder");
    let array = std::fs::read(root().join("examples/vadd/b.npy")).expect("an array");
    let picture = std::fs::read(root().join("examples/image/in.png")).expect("a picture");
    for (name, whole, tries) in [("a.npy", array, 1500), ("a.png", picture, 500)] {
        let path = dir.path().join(name);
        for _ in 0..mutations(tries) {
            let mut bytes = whole.clone();
            // The head is where sizes are.
            let mut head: Vec<u8> = bytes.drain(..bytes.len().min(140)).collect();
            spoil(&mut head, &mut rng);
            head.extend(bytes);
            std::fs::write(&path, head).expect("a file");
            let _ = HostValue::read(&path, 1 << 20);
        }
    }
}

/// Absurd sizes and declarations are refused before anything is allocated for them.
#[test]
fn absurd_modules() {
    let many: String = (0..70_000)
        .map(|i| format!(".decl V{i} v_type=G type=uq num_elts=65535 align=GRF\n", i = i + 32))
        .collect();
    let deep = format!("mov (M1,8) X(0,0)<1> {}1{}:f\n", "(".repeat(100_000), ")".repeat(100_000));
    let texts = [
        format!(".version 4.1\n.kernel \"a\"\n{many}.kernel_attr SimdSize=8\nret (M1,8)\n"),
        format!(
            ".version 4.1\n.kernel \"a\"\n.decl X v_type=G type=f num_elts=8 align=GRF\n{deep}ret (M1,8)\n"
        ),
        ".version 4.1\n".repeat(10_000),
        ".version 4.1\n.kernel \"a\"\n.input X offset=99999 size=99999\nret (M1,8)\n".to_owned(),
        ".version 4.1\n.kernel \"a\"\n.decl X v_type=G type=f num_elts=4294967296 align=GRF\nret (M1,8)\n"
            .to_owned(),
        ".version 4.1\n.kernel \"a\"\n.kernel_attr SimdSize=99999\nret (M1,8)\n".to_owned(),
    ];
    let dir = tempfile::tempdir().expect("a folder");
    for (i, text) in texts.iter().enumerate() {
        let path = dir.path().join(format!("{i}.visaasm"));
        std::fs::write(&path, text).expect("a file");
        let job = Job { file: path, platform: Some("SKL".into()), limit: 100, jobs: 1, ..Job::default() };
        let refused = match Ready::new(&job) {
            Ok(mut ready) => ready.run(None, None).map(|_| ()),
            Err(e) => Err(e),
        };
        assert!(matches!(refused, Err(JobError::Text(..) | JobError::Input(_) | JobError::Usage(_))), "{i}");
    }
}
