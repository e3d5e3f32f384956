//! Launches in groups of another shape than they ask for: the results are the same, and where they would not be, launches run in
//! their own groups.

use envisa::isa::Platform;
use envisa::{Config, Device, Engine, Launch, Module, Source, internals};
use envisa_ocloc::{Build, BuildError};
use envisa_suite::envisa_engine::Loaded;
use envisa_suite::kernel::{discover, kernel_folder};
use envisa_suite::launch::SizeSet;

#[test]
fn kernels_of_the_suite_give_the_same_in_other_groups() {
    let (mut wrong, mut ran, mut other) = (Vec::new(), 0, 0);
    for kernel in discover(&kernel_folder()).expect("kernels") {
        let Ok(launch) = envisa_suite::launch::launch(&kernel, SizeSet::Conformance, false) else { continue };
        for &device in kernel.devices() {
            let Ok(mut asked) = Loaded::new(&kernel, device, &launch, 1) else { continue };
            let mut changed = Loaded::new(&kernel, device, &launch, 1).expect("it loads again");
            asked.engine(Engine::Interpreter);
            let Ok(_) = asked.run() else { continue };
            ran += 1;
            match changed.run_in_other_groups() {
                Ok(false) => {}
                Ok(true) => {
                    other += 1;
                    let (want, got) = (asked.outputs(), changed.outputs());
                    let same = want.values.iter().zip(&got.values).all(|((_, a), (_, b))| a.bytes == b.bytes);
                    if !same {
                        wrong.push(format!("{} on {}", kernel.id, device.name()));
                    }
                }
                Err(e) => wrong.push(format!("{} on {}: {e:?}", kernel.id, device.name())),
            }
        }
    }
    eprintln!("{other} of {ran} launches ran in other groups");
    assert!(wrong.is_empty(), "{} of {other} launches differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(other >= 50, "{other} of {ran} launches ran in other groups");
}

/// A name, a body that writes `out[i]`, and whether it depends on global ids alone.
const KERNELS: [(&str, &str, bool); 26] = [
    ("ids", "out[i] = x * 3 + y;", true),
    ("stencil", "out[i] = in[i] + in[max(i - 1, 0)] + in[min(i + n, N - 1)];", true),
    ("branch", "if (x > 2 && y < 5) out[i] = in[i]; else out[i] = y;", true),
    ("loop", "int s = 0; for (int k = 0; k < x + y; k++) s += in[k]; out[i] = s;", true),
    ("wide", "ulong a = get_global_id(0) * 3ul + get_global_id(1); out[i] = (int)(a ^ a >> 7);", true),
    ("scaled", "out[i] = in[(4 * x + 8 * y) % N] - 2 * x;", true),
    ("short_id", "short s = x; out[i] = s * y;", true),
    ("size", "out[i] = get_global_size(0) + in[i];", true),
    ("product", "float f = x * 0.5f; out[i] = (int)(f * y);", true),
    ("local_id", "out[i] = get_local_id(0);", false),
    ("local_id_y", "out[i] = in[i] + get_local_id(1);", false),
    ("group_id", "out[i] = get_group_id(0);", false),
    ("group_id_y", "out[i] = in[i] * get_group_id(1);", false),
    ("groups", "out[i] = get_num_groups(0);", false),
    ("local_size", "out[i] = get_local_size(0);", false),
    ("linear", "out[i] = get_local_linear_id();", false),
    ("corner", "out[i] = get_group_id(0) * get_local_size(0);", false),
    ("difference", "out[i] = x - get_local_id(0);", false),
    ("crossed", "out[i] = get_group_id(0) * get_local_size(0) + get_local_id(1);", false),
    ("twice", "out[i] = 2 * get_group_id(0) * get_local_size(0) + get_local_id(0);", false),
    (
        "carry",
        "ulong u = (uint)(get_group_id(0) * get_local_size(0) - 5u); out[i] = (u + get_local_id(0)) >> 32;",
        false,
    ),
    (
        "carry_x",
        "ulong u = (uint)(get_group_id(0) * get_local_size(0) + get_local_id(0) - 5u); out[i] = u >> 32;",
        true,
    ),
    ("lane", "out[i] = get_sub_group_local_id();", false),
    ("vote", "out[i] = sub_group_any(in[i] > 100);", false),
    ("sum", "out[i] = sub_group_reduce_add(in[i]);", false),
    ("atomic", "out[i] = 0; atomic_add((global int *)out + (x & 1), 0 * i + 1);", false),
];

/// Work-items in x and y, and of a group.
const GLOBAL: [u64; 2] = [48, 24];
const LOCALS: [[u64; 2]; 4] = [[8, 8], [6, 4], [16, 3], [48, 1]];

fn text() -> String {
    let head = "int x = get_global_id(0), y = get_global_id(1), n = get_global_size(0), i = y * n + x;";
    let one = |(name, body, _): &(&str, &str, bool)| {
        format!("kernel void {name}(global int *out, global const int *in) {{ {head} {body} }}\n")
    };
    format!("#define N {}\n{}", GLOBAL[0] * GLOBAL[1], KERNELS.iter().map(one).collect::<String>())
}

#[test]
fn what_depends_on_groups_keeps_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("groups.cl");
    std::fs::write(&path, text()).expect("it is written");
    let (mut faults, mut drops, mut wrong) = (0, 0, Vec::new());
    for (name, platform) in
        [("pvc", Platform::Pvc), ("skl", Platform::Skl), ("dg2", Platform::Dg2), ("tgllp", Platform::Tgllp)]
    {
        let built = match Build::new(&path, name).options("-cl-std=CL3.0").run() {
            Ok(built) => built,
            Err(BuildError::NoOcloc { program }) => {
                return envisa_harness::testing::not_run(&format!("there is no `{program}`"));
            }
            Err(e) => panic!("{name}: {e}"),
        };
        let device = Device::new(Config::new(platform).memory(1 << 20));
        let module = Module::load(&device, "groups", Source::Zebin(&built.bytes)).expect("it loads");
        let content: Vec<u8> =
            (0..4 * GLOBAL[0] * GLOBAL[1]).map(|k| ((k * k * 37) >> 5) as u8 & 0x7f).collect();
        for ((what, _, alone), local) in KERNELS.iter().flat_map(|k| LOCALS.map(|l| (k, l))) {
            let kernel = module.kernel(what).expect("it is there");
            // Of an input that ends too early, accesses fault or are dropped.
            for bytes in [content.len(), content.len() / 2 + 4] {
                let run = |other: bool| {
                    let input = device.buffer_from("in", &content[..bytes]).expect("there is memory");
                    let out = device.buffer("out", content.len() as u64).expect("there is memory");
                    let launch =
                        Launch::range(&GLOBAL, &local).arg("in", &input).arg("out", &out).host_threads(1);
                    let outcome = match other {
                        true => internals::run_in_other_groups(&device, &kernel, &launch),
                        false => device.run(&kernel, launch.engine(Engine::Interpreter)).map(Some),
                    };
                    let outcome = outcome.expect("it is launched");
                    let dropped = outcome.as_ref().and_then(|o| o.dropped.clone());
                    let fault = outcome.as_ref().and_then(|o| o.fault.as_ref());
                    let fault = fault.map(|f| (f.code, f.message.clone(), f.channel, f.thread, f.group));
                    (outcome.is_some(), (fault, dropped, out.to_vec()))
                };
                let ((_, want), (other, got)) = (run(false), run(true));
                faults += usize::from(want.0.is_some());
                drops += usize::from(want.1.is_some());
                // A launch that faulted in other groups ran again in its own.
                if other != *alone && want.0.is_none() {
                    wrong.push(format!("{what} on {name} in {local:?}: in other groups: {other}"));
                }
                // Which dropped access is the first one depends on the order in which work-items run.
                let counts = |d: &Option<envisa::Dropped>| d.as_ref().map(|d| (d.reads, d.writes));
                let same = want.0 == got.0
                    && (want.0.is_some() || (counts(&want.1) == counts(&got.1) && want.2 == got.2));
                if !same && other {
                    wrong
                        .push(format!("{what} on {name} in {local:?} with {bytes} bytes: {want:?}, {got:?}"));
                }
            }
        }
    }
    assert!(faults >= 8 && drops >= 8, "{faults} faults, {drops} launches dropped accesses");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
