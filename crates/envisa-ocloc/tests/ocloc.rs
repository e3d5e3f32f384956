//! Builds with the real compiler, where it is installed; `BLESS=1` renews the committed zebins.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use envisa_ocloc::{Build, BuildError, Lines};
use envisa_zebin::{DataKind, DeviceFamily, VisaOwner, ZebinFile};

const DEVICES: [&str; 4] = ["skl", "tgllp", "dg2", "pvc"];
/// The committed zebins.
const COMMITTED: [(&str, &str); 6] = [
    ("vadd", "skl"),
    ("vadd", "pvc"),
    ("data", "dg2"),
    ("data", "tgllp"),
    ("calls", "skl"),
    ("calls", "dg2"),
];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../envisa-zebin/tests/data").join(name)
}

/// Without the compiler these tests have nothing to hold against.
fn have_ocloc() -> bool {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join("ocloc").is_file()));
    if !found {
        let message = "no ocloc on PATH (Debian package intel-opencl-icd)";
        assert!(std::env::var_os("ENVISA_REQUIRE_ORACLES").is_none(), "{message}");
        let _ = writeln!(std::io::stderr(), "NOT RUN: {message}");
    }
    found
}

fn check(zebin: &ZebinFile, source: &str, device: &str) {
    assert_eq!(zebin.notes.device(), device.parse::<DeviceFamily>().ok(), "{source} {device}");
    assert_eq!(zebin.warnings, [], "{source} {device}");
    assert!(zebin.kernels().count() > 0);
    for kernel in zebin.kernels() {
        let visa = zebin.kernel_visa(&kernel.name).unwrap();
        assert_eq!(visa.kernel_name.as_deref(), Some(kernel.name.as_str()), "{source} {device}");
        let text = zebin.visa_text(visa);
        assert!(text.contains(&format!(".kernel \"{}\"", kernel.name)));
        assert!(text.contains(&format!("SimdSize={}", kernel.execution_env.simd_size)));
    }
    if source == "calls" {
        let functions: Vec<_> = zebin.functions_visa().filter_map(|v| v.function.as_deref()).collect();
        assert_eq!(functions, ["fact"], "{device}");
        assert!(zebin.ze_info.kernel("calls").unwrap().execution_env.has_stack_calls);
    }
    if source == "data" {
        let kinds: Vec<_> = zebin.data_sections().map(|d| d.kind).collect();
        assert_eq!(kinds, [DataKind::Const, DataKind::ConstString], "{device}");
    }
}

#[test]
fn every_device_gives_named_visa() {
    if !have_ocloc() {
        return;
    }
    for source in ["vadd", "data", "calls"] {
        for device in DEVICES {
            let built = Build::new(data(&format!("{source}.cl")), device).run().unwrap();
            check(&built.zebin, source, device);
            assert!(built.zebin.has_machine_code() && built.zebin.spirv().is_some());
            let stripped = built.zebin.strip();
            check(&stripped, source, device);
            let bytes = stripped.write().unwrap();
            let again = ZebinFile::parse(&bytes).unwrap();
            check(&again, source, device);
            if std::env::var_os("BLESS").is_some() && COMMITTED.contains(&(source, device)) {
                std::fs::write(data(&format!("{source}.{device}.zebin")), bytes).unwrap();
            }
        }
    }
}

#[test]
fn committed_zebins_are_what_they_claim() {
    for (source, device) in COMMITTED {
        let bytes = std::fs::read(data(&format!("{source}.{device}.zebin"))).unwrap();
        let zebin = ZebinFile::parse(&bytes).unwrap();
        check(&zebin, source, device);
        assert!(!zebin.has_machine_code());
        assert!(zebin.visa.iter().all(|v| v.owner != VisaOwner::Unknown));
    }
}

#[test]
fn spirv_builds_too() {
    if !have_ocloc() {
        return;
    }
    let built = Build::new(data("vadd.cl"), "dg2").run().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let spirv = folder.path().join("vadd.spv");
    std::fs::write(&spirv, built.zebin.spirv().unwrap()).unwrap();
    let again = Build::new(&spirv, "pvc").run().unwrap();
    check(&again.zebin, "vadd", "pvc");
}

#[test]
fn lines_are_told_and_change_no_code() {
    if !have_ocloc() {
        return;
    }
    let text = |lines: Lines, options: &str| {
        let built = Build::new(data("calls.cl"), "dg2").lines(lines).options(options).run().unwrap();
        let zebin = built.zebin.strip();
        let texts: Vec<String> = zebin.visa.iter().map(|v| zebin.visa_text(v).into_owned()).collect();
        texts.join("\n")
    };
    let is_line = |l: &&str| l.trim_start().starts_with("LOC ") || l.trim_start().starts_with("FILE ");
    // Instructions are numbered in comments.
    let code = |text: &str| -> Vec<String> {
        let code = text.lines().filter(|l| !is_line(l));
        code.map(|l| l.split(" ///").next().unwrap_or("").trim_end().to_owned()).collect()
    };
    let without = text(Lines::None, "");
    assert!(!without.lines().any(|l| is_line(&l)));
    let whole = std::path::absolute(data("calls.cl")).unwrap();
    for (lines, file) in [(Lines::Name, "calls.cl".to_owned()), (Lines::Path, whole.display().to_string())] {
        let with = text(lines, "");
        assert!(with.lines().any(|l| l.trim() == format!("FILE \"{file}\"")), "{with}");
        assert_eq!(code(&with), code(&without));
    }
    // Who asks for debug information himself gets what he asked for.
    assert!(!text(Lines::Name, "-g").contains("FILE \"calls.cl\""));
}

#[test]
fn messages_name_the_source_whatever_the_compiler_calls_it() {
    if !have_ocloc() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("wrong.cl");
    std::fs::write(&source, "kernel void k(global int *o) {\n    o[0] = missing;\n}\n").unwrap();
    for lines in [Lines::None, Lines::Name, Lines::Path] {
        let Err(BuildError::Failed { messages, .. }) = Build::new(&source, "skl").lines(lines).run() else {
            panic!("it built");
        };
        assert!(messages.starts_with(&format!("{}:2:12: error:", source.display())), "{messages}");
    }
}

#[test]
fn options_and_includes_reach_the_compiler() {
    if !have_ocloc() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("inc.h"), "#define SIZE 32\n").unwrap();
    let source = folder.path().join("k.cl");
    let text = "#include \"inc.h\"\n\
        #ifndef WANTED\n#error WANTED is missing\n#endif\n\
        __attribute__((intel_reqd_sub_group_size(16)))\n\
        __attribute__((reqd_work_group_size(SIZE, 2, 1)))\n\
        kernel void k(global int *o, local int *l) { l[get_local_id(0)] = 1; o[0] = l[1]; }\n";
    std::fs::write(&source, text).unwrap();
    match Build::new(&source, "tgllp").run() {
        Err(BuildError::Failed { messages, device, .. }) => {
            assert!(messages.contains("WANTED is missing"), "{messages}");
            assert_eq!(device, "tgllp");
        }
        other => panic!("{other:?}"),
    }
    let built = Build::new(&source, "tgllp").options("-DWANTED").run().unwrap();
    let kernel = built.zebin.ze_info.kernel("k").unwrap();
    assert_eq!(kernel.execution_env.required_work_group_size, Some([32, 2, 1]));
    assert_eq!(kernel.execution_env.simd_size, 16);
    let local = kernel.payload_arguments.iter().find(|a| a.slm_alignment > 0).unwrap();
    assert_eq!(local.arg_index, Some(1));
}

#[test]
fn failures_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("k.cl");
    std::fs::write(&source, "int missing(int);\nkernel void k(global int *o) { o[0] = missing(1); }\n")
        .unwrap();
    let error = Build::new(&source, "dg2").ocloc("/nowhere/ocloc").run().unwrap_err();
    assert!(error.to_string().contains("intel-opencl-icd"), "{error}");
    let error = Build::new(folder.path().join("none.cl"), "dg2").run().unwrap_err();
    assert!(error.to_string().contains("none.cl"), "{error}");
    std::fs::write(folder.path().join("k.txt"), "x").unwrap();
    let error = Build::new(folder.path().join("k.txt"), "dg2").run().unwrap_err();
    assert!(matches!(error, BuildError::Input { .. }), "{error}");
    if have_ocloc() {
        match Build::new(&source, "dg2").run() {
            Err(BuildError::Unresolved { names, .. }) => assert_eq!(names, ["missing"]),
            other => panic!("{other:?}"),
        }
        let error = Build::new(&source, "no-such-device").run().unwrap_err();
        assert!(error.to_string().contains("no-such-device"), "{error}");
    }
}

#[test]
fn older_container_is_named() {
    if !have_ocloc() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let status = std::process::Command::new("ocloc")
        .current_dir(folder.path())
        .args([
            "compile",
            "-q",
            "-device",
            "dg2",
            "-output",
            "o",
            "-output_no_suffix",
            "-out_dir",
            ".",
            "-file",
        ])
        .arg(data("vadd.cl"))
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let error = ZebinFile::parse(&std::fs::read(folder.path().join("o")).unwrap()).unwrap_err();
    assert_eq!(error, envisa_zebin::Error::PatchTokens);
    assert!(error.to_string().contains("-ze-emit-zebin-visa-sections"));
}

#[test]
fn too_much_local_memory_is_a_warning() {
    if !have_ocloc() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("k.cl");
    let text = "kernel void k(global int *o) { local int big[40000]; int i = get_local_id(0);\n\
        big[i] = o[i]; barrier(CLK_LOCAL_MEM_FENCE); o[i] = big[39999 - i]; }\n";
    std::fs::write(&source, text).unwrap();
    for device in DEVICES {
        match Build::new(&source, device).run() {
            Ok(built) => {
                let path = &built.zebin.warnings[0].path;
                assert_eq!(path, "kernels[0].execution_env.slm_size", "{device}");
            }
            Err(BuildError::Failed { messages, .. }) => assert!(!messages.is_empty(), "{device}"),
            Err(other) => panic!("{device}: {other}"),
        }
    }
}

/// The oldest version of the language, too, which Gen9's own declarations do not fit.
#[test]
fn every_device_takes_the_oldest_version() {
    if !have_ocloc() {
        return;
    }
    for device in DEVICES {
        let built = Build::new(data("vadd.cl"), device).options("-cl-std=CL1.1").run().unwrap();
        check(&built.zebin, "vadd", device);
    }
}

#[test]
fn what_was_built_comes_from_the_cache_as_long_as_nothing_changes() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::Arc;
    if !have_ocloc() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| std::fs::write(place(name), text).unwrap();
    // A compiler that writes down each of its runs.
    let counted = format!("#!/bin/sh\necho run >> {}\nexec ocloc \"$@\"\n", place("runs").display());
    write("ocloc", &counted);
    std::fs::set_permissions(place("ocloc"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let runs = || std::fs::read_to_string(place("runs")).map_or(0, |t| t.lines().count());
    write(
        "k.cl",
        "#include \"h.h\"\nkernel void k(global int *a, int n) { int s; if (n) s = N; a[n] = s; }\n",
    );
    write("h.h", "#define N 1\n");
    let cache = Arc::new(envisa_ocloc::cache::Cache::new(place("cache"), 1 << 30));
    let build = |device: &str, checks: bool| {
        let build = Build::new(place("k.cl"), device).ocloc(place("ocloc")).cache(Arc::clone(&cache));
        let rewrite = envisa_ocloc::Rewrite::Checks;
        let built = if checks { build.rewrite(rewrite).run() } else { build.run() }.unwrap();
        assert_eq!(built.rewritten, checks);
        (built.bytes, built.messages, runs())
    };
    let (plain, checked) = (build("dg2", false), build("dg2", true));
    assert_eq!((plain.2, checked.2), (1, 3), "a run, and two for the checks");
    assert_eq!((build("dg2", false), build("dg2", true)), ((plain.0, plain.1, 3), checked.clone()));
    assert_eq!(build("pvc", false).2, 4);
    // What it includes is another, then it is as it was.
    write("h.h", "#define N 2\n");
    assert_eq!(build("dg2", true).2, 6);
    write("h.h", "#define N 1\n");
    assert_eq!(build("dg2", true), (checked.0.clone(), checked.1.clone(), 6));
    // Another compiler.
    write("ocloc", &format!("{counted}# another\n"));
    assert_eq!(build("dg2", true).2, 8);
    // What others could have written is not used.
    std::fs::set_permissions(place("cache"), std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(cache.refused().is_some());
    assert_eq!(build("dg2", true).2, 10);
}
