//! Hostile inputs thought out one by one, where `hostile.rs` throws dice: metadata of a zebin that asks for what
//! nobody has, files without an end, pictures that claim to be larger than they are.

use envisa::{Config, Device, Error, Launch, Module, Outcome, Source};
use envisa_harness::values::HostValue;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    let mut out = [0; 8];
    out[..N].copy_from_slice(&bytes[at..at + N]);
    u64::from_le_bytes(out)
}

/// A zebin with another `.ze_info`: it is put at the end, and the section's header says so.
fn with_info(whole: &[u8], change: impl Fn(&str) -> String) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let (table, count) = (number::<8>(whole, 0x28) as usize, number::<2>(whole, 0x3c) as usize);
    let header = (0..count)
        .map(|i| table + 64 * i)
        .find(|at| number::<4>(whole, at + 4) == 0xff00_0011)
        .expect("a section of metadata");
    let (start, len) =
        (number::<8>(whole, header + 0x18) as usize, number::<8>(whole, header + 0x20) as usize);
    let text = change(std::str::from_utf8(&whole[start..start + len]).expect("text"));
    bytes[header + 0x18..header + 0x20].copy_from_slice(&(whole.len() as u64).to_le_bytes());
    bytes[header + 0x20..header + 0x28].copy_from_slice(&(text.len() as u64).to_le_bytes());
    bytes.extend(text.into_bytes());
    bytes
}

/// What comes of a launch: `ran`, `fault: …` or the error.
fn launch(bytes: &[u8]) -> String {
    let done = || -> Result<Outcome, Error> {
        let source = Source::Zebin(bytes);
        let platform = source.platform()?.expect("a zebin says it");
        let device = Device::new(Config::new(platform).memory(64 << 20).threads(1));
        let kernel = Module::load(&device, "x", source)?.kernel("")?;
        let mut how = Launch::range(&[64], &[32]).limit(10_000);
        for i in 0..3 {
            how = how.arg(i, device.buffer("b", 256)?);
        }
        device.run(&kernel, how.arg(3, 64))
    };
    match done() {
        Ok(outcome) => outcome.fault.map_or("ran".into(), |f| format!("fault: {}", f.message)),
        Err(e) => e.to_string(),
    }
}

/// Entries after the payload's arguments.
fn after_payload(text: &str) -> String {
    format!("{text}    per_thread_payload")
}

#[test]
fn metadata() {
    let whole = std::fs::read(root().join("examples/vadd/vadd.zebin")).expect("an example");
    assert_eq!(launch(&with_info(&whole, str::to_owned)), "ran");
    let env = |line: &str| format!("simd_size:       32\n      {line}");
    let simd = |n: &str| format!("simd_size:       {n}");
    let entry = |ty: &str, offset: u64, size: u64| {
        format!(
            "      - arg_type:        {ty}\n        offset:          {offset}\n        size:            {size}\n"
        )
    };
    let buffers = |ty: &str, usage: &str, size: u64, times: usize| {
        let one = format!(
            "      - type: {ty}\n        usage: {usage}\n        size: {size}\n        is_simt_thread: true\n"
        );
        format!("    per_thread_memory_buffers:\n{}", one.repeat(times))
    };
    let private = |size, times| {
        let pointers = entry("private_base_stateless", 80, 8).repeat(times);
        after_payload(&(pointers + &buffers("global", "private_space", size, 1)))
    };
    let scratch =
        |size, times| format!("{}    binding_table", buffers("scratch", "single_space", size, times));
    let (s, p, b) = ("simd_size:       32", "    per_thread_payload", "    binding_table");
    let cases: Vec<(&str, String, &str)> = vec![
        // Channels.
        (s, simd("0"), "none of 1, 8, 16, 32"),
        (s, simd("1"), "per-thread payload"),
        (s, simd("64"), "none of 1, 8, 16, 32"),
        (s, simd("-32"), "expected an integer from 0"),
        (s, simd("99999999999999999999"), "64 bits"),
        (s, env("simd_size: 8"), "given twice"),
        // Sizes of groups.
        (s, env("required_work_group_size: [4294967295, 1, 1]"), "expected an integer from 0"),
        (s, env("required_work_group_size: [2147483647, 2147483647, 2147483647]"), "was compiled for groups of"),
        (s, env("required_work_group_size: [1]"), "three integers"),
        (s, env("work_group_walk_order_dimensions: [0, 0, 7]"), "none of 0, 1, 2"),
        (s, env("work_group_walk_order_dimensions: [0, 0, 1]"), "not an order of three dimensions"),
        (s, env("barrier_count: -1"), "expected an integer from 0"),
        // Local memory.
        (s, env("slm_size: 4294967295"), "expected an integer from 0"),
        (s, env("slm_size: 2147483647"), "2147483647 bytes of shared local memory"),
        // Payloads.
        ("offset:          56", "offset:          4294967295".into(), "expected an integer from 0"),
        ("offset:          56", "offset:          2147483647".into(), "absurdly large"),
        ("offset:          56", "offset:          -4".into(), "expected an integer from 0"),
        ("size:            192", "size:            0".into(), "ran"),
        ("size:            192", "size:            1".into(), "ran"),
        ("size:            192", "size:            16777216".into(), "absurdly large"),
        ("offset:          12\n        size:            12", "offset:          12\n        size:            1".into(), "`local_size` of 1 bytes"),
        (p, after_payload(&entry("arg_byvalue", 80, 4)), "does not say which argument"),
        (p, after_payload(&entry("nonsense", 80, 4)), "not supported: payload `unknown`"),
        (p, after_payload(&entry("implicit_arg_buffer", 80, 1).repeat(1000)), "ran"),
        (p, after_payload(&entry("printf_buffer", 80, 8).repeat(1000)), "ran"),
        // Arguments and surfaces.
        ("arg_index:       3", "arg_index:       1000000".into(), "argument `1000000`: is not given"),
        ("arg_index:       3", "arg_index:       4294967295".into(), "expected an integer from -1"),
        ("bti_value:       2", "bti_value:       4294967295".into(), "expected an integer from 0"),
        ("bti_value:       2", "bti_value:       1000000000".into(), "binding-table index 1000000000"),
        (b, "    inline_samplers:\n      - sampler_index: 2000000000\n        addrmode: repeat\n        filtermode: linear\n        normalized: true\n    binding_table".into(), "sampler"),
        // Private memory and scratch.
        (p, private(1 << 40, 1), "expected an integer from 0"),
        (p, private(0x7fff_ffff, 1), "bytes of private memory a thread"),
        (p, private(1 << 24, 1), "bytes of private memory a thread"),
        (p, private(1 << 20, 1), "ran"),
        // One allocation, however often it is asked for.
        (p, private(1 << 20, 1000), "ran"),
        (b, scratch(0x7fff_ffff, 1), "bytes of scratch a thread"),
        (b, scratch(1 << 30, 1000), "bytes of scratch a thread"),
        // Documents.
        ("---\n", "---\na: &a [x]\nb: *a\n".into(), "aliases have no place"),
        ("kernels:\n", format!("kernels: {}\n", "[".repeat(100_000)), "recursion limit"),
        ("version:         '1.20'", "version:         '999999999999.99999999999'".into(), ""),
    ];
    let mut wrong = Vec::new();
    for (from, to, want) in cases {
        let bytes = with_info(&whole, |text| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, &to, 1)
        });
        let got = launch(&bytes);
        if !got.contains(want) {
            wrong.push(format!("{}: wanted `{want}`, got `{got}`", &to[..to.len().min(80)]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Devices have no end; what is read of them has.
#[test]
#[cfg(target_os = "linux")]
fn files_without_an_end() {
    let zero = Path::new("/dev/zero");
    let said = HostValue::read(zero, u64::MAX).expect_err("it has no end").to_string();
    assert!(said.contains("268435456"), "{said}");
}

fn chunk(kind: &[u8; 4], data: &[u8], out: &mut Vec<u8>) {
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(kind);
    out.extend(data);
    let mut crc = u32::MAX;
    for b in kind.iter().chain(data) {
        crc ^= u32::from(*b);
        for _ in 0..8 {
            crc = if crc & 1 != 0 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    out.extend((!crc).to_be_bytes());
}

/// A picture is not given room for more pixels than its bytes can hold.
#[test]
fn pictures_that_claim_too_much() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.png");
    for (width, height) in [(40_000u32, 40_000u32), (0x7fff_ffff, 0x7fff_ffff), (1, 0x7fff_ffff), (0, 0)] {
        let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
        chunk(b"IHDR", &head, &mut bytes);
        chunk(b"IDAT", &[0x78, 0x9c, 0x03, 0, 0, 0, 0, 1], &mut bytes);
        chunk(b"IEND", &[], &mut bytes);
        std::fs::write(&path, &bytes).expect("a file");
        let said = HostValue::read(&path, 64 << 30).expect_err("no such picture").to_string();
        let known = ["do not fit into", "limits", "dimensions", "more than the"];
        assert!(known.iter().any(|k| said.contains(k)), "{width} x {height}: {said}");
    }
}
