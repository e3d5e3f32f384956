//! `envisa run --driver` and the other drivers of `envisa campaign`: PoCL, where it is installed.

use std::path::Path;
use std::process::{Command, Output};

const SOURCE: &str = "
    kernel void k(global uint *out, global const uint *in, ushort n, float4 f, local uint *part) {
        uint i = get_global_id(0);
        part[get_local_id(0)] = in[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[i] = part[get_local_id(0) ^ 1] * n + (uint)f.z;
    }";
const LAUNCH: [&str; 16] = [
    "--global",
    "16",
    "--local",
    "8",
    "--arg",
    "out=zeros:u32:16",
    "--arg",
    "in=iota:u32:16",
    "--arg",
    "n=3",
    "--arg",
    "f=f32x4:1,2,30,4",
    "--arg",
    "part=local:32",
    "--print",
    "out",
];

/// PoCL's library.
fn pocl() -> Option<String> {
    let named = std::fs::read_to_string("/etc/OpenCL/vendors/pocl.icd").ok();
    if named.is_none() {
        envisa_harness::testing::not_run("PoCL is not there (Debian: pocl-opencl-icd)");
    }
    named.map(|n| n.trim().to_owned())
}

fn envisa(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_envisa")).current_dir(folder).args(args).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn another_driver_runs_a_kernel() {
    let Some(pocl) = pocl() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("k.cl"), SOURCE).expect("it is written");
    let run = |driver: &str, more: &[&str]| {
        let out = envisa(dir.path(), &[&["run", "k.cl", "--driver", driver], &LAUNCH[..], more].concat());
        (out.status.code(), text(&out.stdout), text(&out.stderr))
    };
    let (code, out, err) = run(&pocl, &[]);
    let want = "out (16 x u32): 33, 30, 39, 36, 45, 42, 51, 48, 57, 54, 63, 60, 69, 66, 75, 72\n";
    assert_eq!((code, out.as_str()), (Some(0), want), "{err}");
    assert_eq!(run(&pocl, &["--expect", "out=fill:u32:16:33"]).0, Some(1));
    for (driver, more) in [
        ("/nonexistent.so", &[][..]),
        (&pocl, &["--check"]),
        (&pocl, &["--json"]),
        (&pocl, &["--arg", "m=5"]),
        (&pocl, &["--kernel", "none"]),
    ] {
        let (code, out, err) = run(driver, more);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{driver} {more:?}: {err}");
    }
}

/// All sides of a campaign have a result, and one that was done is not done again.
#[test]
fn a_campaign_has_other_drivers_among_its_sides() {
    let Some(pocl) = pocl() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let driver = format!("pocl={pocl}");
    let args =
        ["campaign", "found", "--programs", "2", "--driver", &driver, "--device", "dg2", "--reductions", "0"];
    let out = envisa(dir.path(), &args);
    let (code, page) = (out.status.code(), text(&out.stdout));
    assert!(matches!(code, Some(0 | 1)), "{page}{}", text(&out.stderr));
    for side in ["pocl", "pocl, not optimised"] {
        assert!(page.contains(&format!("| {side} | 2 | 0 | 0 |")), "{page}");
    }
    let results = dir.path().join("found/results.jsonl");
    let before = std::fs::read(&results).expect("results");
    let again = envisa(dir.path(), &args);
    assert_eq!(text(&again.stdout), page);
    assert_eq!(text(&std::fs::read(&results).expect("results")).trim(), text(&before).trim());
}

/// With these, a campaign finds the functions that compilers get wrong: they have to be right.
#[test]
fn functions_written_out_give_what_the_built_in_ones_give() {
    const VALUES: &str = "0,1,2,37,0x7f,0x80,0xff,0x7fff,0x8000,0xffff,0x7fffffff,0x80000000,0xffffffff,0x7fffffffffffffff,\
                          0x8000000000000000,0xffffffffffffffff,0x123456789abcdef5";
    let Some(pocl) = pocl() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let n = VALUES.split(',').count();
    let all = ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"];
    for function in envisa_smith::opencl::replaceable_functions().filter(|f| *f != "SUB_SAME") {
        // What is defined: bounds in order, and factors whose product has 24 bits.
        let (types, given) = match function {
            "clamp" => (&all[..], "a, min(b, c), max(b, c)"),
            "mul24" => (&all[4..6], "a & 0xfff, b & 0xfff"),
            "mad24" => (&all[4..6], "a & 0xfff, b & 0xfff, c & 0xfff"),
            "abs" | "clz" | "popcount" => (&all[..], "a"),
            "mad_hi" | "mad_sat" => (&all[..], "a, b, c"),
            _ => (&all[..], "a, b"),
        };
        let (own, renamed) =
            (envisa_smith::opencl::definition_of(function), envisa_smith::opencl::redefinition_of(function));
        let mut source = own.strip_suffix(&renamed).expect("the own one has a name of its own").to_owned();
        let mut calls = String::new();
        for (k, ty) in types.iter().enumerate() {
            source += &format!(
                "uint differ{k}({ty}3 a, {ty}3 b, {ty}3 c)\n{{\n    return any({function}({given}) != own_{function}({given}));\n}}\n"
            );
            let of = |index: &str| format!("({ty}3)(({ty})v[{index}])");
            calls += &format!("        wrong[{k}] += differ{k}({}, {}, {});\n", of("i"), of("j"), of("l"));
        }
        source += &format!(
            "kernel void k(global uint *wrong, global const ulong *v)\n{{\n    for (uint n = 0; n < {n} * {n} * {n}; n++) {{\n        \
             uint i = n % {n}, j = n / {n} % {n}, l = n / {n} / {n};\n{calls}    }}\n}}\n"
        );
        std::fs::write(dir.path().join("k.cl"), source).expect("it is written");
        let args = ["run", "k.cl", "--driver", &pocl, "--global", "1", "--local", "1", "--print", "wrong"];
        let values = ["--arg", "wrong=zeros:u32:8", "--arg", &format!("v=u64:{VALUES}")];
        let out = envisa(dir.path(), &[&args[..], &values].concat());
        let want = "wrong (8 x u32): 0, 0, 0, 0, 0, 0, 0, 0\n";
        assert_eq!(text(&out.stdout), want, "{function}: {}", text(&out.stderr));
    }
}
