//! Vector-compute code: kernels of `tests/vector` on every device and engine, against what their sources say.

use envisa::isa::Platform;
use envisa::{Buffer, Config, Device, Engine, Kernel, Launch, LoadOptions, Module, Source, SourceText};
use std::path::{Path, PathBuf};

const DEVICES: [(&str, Platform); 4] =
    [("skl", Platform::Skl), ("tgllp", Platform::Tgllp), ("dg2", Platform::Dg2), ("pvc", Platform::Pvcxt)];

fn folder(device: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vector").join(device)
}

/// The kernel with its dumps, where it has any.
fn load(device: &Device, folder: &Path, kernel: &str) -> Kernel {
    let bytes = std::fs::read(folder.join(format!("{kernel}.zebin"))).expect("a zebin");
    let missing = Source::Zebin(&bytes).kernels_without_visa().expect("a zebin");
    let mut options = LoadOptions::default();
    for name in missing.iter().flat_map(|k| [k.clone(), format!("{k}_f0")]) {
        let path = folder.join(format!("{name}.visaasm"));
        if let Ok(text) = std::fs::read(&path) {
            options.visa.push(SourceText { name: path.display().to_string(), text });
        }
    }
    let module = Module::load_with(device, kernel, Source::Zebin(&bytes), &options).expect("it loads");
    module.kernel(kernel).unwrap_or_else(|e| panic!("{}: {kernel}: {e:?}", folder.display()))
}

/// A kernel on every device and engine.
fn everywhere(kernel: &str, run: impl Fn(&Device, &Kernel, &str)) {
    for (name, platform) in DEVICES {
        for engine in [Engine::Unoptimized, Engine::Native] {
            let device = Device::new(Config::new(platform).memory(1 << 28).threads(2).engine(engine));
            let kernel = load(&device, &folder(name), kernel);
            if let Err(why) = kernel.native_listing() {
                assert!(why.contains("native code needs"), "{name}: it has native code: {why}");
            }
            run(&device, &kernel, &format!("{name}, {engine:?}"));
        }
    }
}

fn input(device: &Device, values: &[u32]) -> Buffer {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    device.buffer_from("in", &bytes).expect("memory")
}

fn values(buffer: &Buffer, n: usize) -> Vec<u32> {
    let mut bytes = vec![0; 4 * n];
    buffer.read(0, &mut bytes).expect("its bytes");
    bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().expect("four bytes"))).collect()
}

fn launch(device: &Device, kernel: &Kernel, launch: &Launch, what: &str) {
    let outcome = device.run(kernel, launch).unwrap_or_else(|e| panic!("{what}: {e:?}"));
    assert!(outcome.fault.is_none(), "{what}: {:?}", outcome.fault);
}

/// Numbers without a pattern.
fn noise(n: usize, seed: u32) -> Vec<u32> {
    let mut x = seed | 1;
    (0..n)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            x
        })
        .collect()
}

#[test]
fn blocks_of_work_items() {
    let (a, b) = (noise(16 * 24, 1), noise(16 * 24, 2));
    let want: Vec<u32> = a.iter().zip(&b).map(|(a, b)| a.wrapping_add(*b)).collect();
    everywhere("vadd", |device, kernel, what| {
        assert_eq!(kernel.attributes().simd, 1, "{what}");
        for local in [1, 3, 8] {
            let out = input(device, &vec![7; a.len()]);
            let how = Launch::range(&[24], &[local]);
            let how = how.arg(0, input(device, &a)).arg(1, input(device, &b)).arg(2, out.clone());
            launch(device, kernel, &how, what);
            assert_eq!(values(&out, a.len()), want, "{what}, groups of {local}");
        }
    });
}

#[test]
fn values_and_masked_channels() {
    let x: Vec<u32> = (0..64).map(|i| (i as f32 / 3.0 - 9.0).to_bits()).collect();
    everywhere("scale", |device, kernel, what| {
        let out = input(device, &[5; 64]);
        let how = Launch::range(&[4], &[2]).arg(0, input(device, &x)).arg(1, out.clone());
        launch(device, kernel, &how.arg(2, 39).arg(3, 1.7f32), what);
        let of = |i: usize| if i < 39 { (f32::from_bits(x[i]) * 1.7).to_bits() } else { 5 };
        assert_eq!(values(&out, 64), (0..64).map(of).collect::<Vec<_>>(), "{what}");
    });
}

#[test]
fn local_memory_and_barriers() {
    let x = noise(16 * 12, 3);
    everywhere("turn", |device, kernel, what| {
        let out = input(device, &vec![0; x.len()]);
        let how = Launch::range(&[12], &[4]).arg(0, input(device, &x)).arg(1, out.clone());
        launch(device, kernel, &how, what);
        // Of each group of four threads, the next one's.
        let of = |i: usize| x[(i / 64 * 4 + (i / 16 + 1) % 4) * 16 + i % 16];
        assert_eq!(values(&out, x.len()), (0..x.len()).map(of).collect::<Vec<_>>(), "{what}");
    });
}

#[test]
fn calls_on_the_stack() {
    fn triangle(x: u32, n: u32) -> u32 {
        if n == 0 { 0 } else { (triangle(x, n - 1).wrapping_mul(3) ^ x).wrapping_add(x) }
    }
    let x = noise(16 * 5, 4);
    everywhere("calls", |device, kernel, what| {
        for n in [0, 1, 7] {
            let out = input(device, &vec![1; x.len()]);
            let how = Launch::range(&[5], &[1]).arg(0, input(device, &x)).arg(1, out.clone()).arg(2, n);
            launch(device, kernel, &how, what);
            let want: Vec<u32> = x.iter().map(|x| triangle(*x, n)).collect();
            assert_eq!(values(&out, x.len()), want, "{what}, {n} calls");
        }
    });
}

#[test]
fn buffers_of_the_binding_table() {
    let x = noise(16 * 6, 5);
    everywhere("buffers", |device, kernel, what| {
        let (out, sum) = (input(device, &vec![0; x.len()]), input(device, &[0; 16]));
        let how = Launch::range(&[6], &[1]).arg(0, input(device, &x)).arg(1, out.clone());
        launch(device, kernel, &how.arg(2, sum.clone()), what);
        let want: Vec<u32> = x.iter().enumerate().map(|(i, x)| x.wrapping_mul(i as u32 % 16 + 1)).collect();
        assert_eq!(values(&out, x.len()), want, "{what}");
        let column = |k: usize| x.iter().skip(k).step_by(16).fold(0u32, |s, x| s.wrapping_add(*x));
        let want: Vec<u32> = (0..16).map(|k| if k % 2 == 0 { column(k) } else { 0 }).collect();
        assert_eq!(values(&sum, 16), want, "{what}");
    });
}

#[test]
fn what_lacks_its_visa_says_so() {
    let device = Device::new(Config::new(Platform::Dg2).memory(1 << 24));
    let bytes = std::fs::read(folder("dg2").join("vadd.zebin")).expect("a zebin");
    assert_eq!(Source::Zebin(&bytes).kernels_without_visa().expect("a zebin"), ["vadd"]);
    let module = Module::load(&device, "vadd", Source::Zebin(&bytes)).expect("its container is read");
    let error = module.kernel("vadd").expect_err("there is no vISA").to_string();
    assert!(error.contains("IGC_ShaderDumpEnable"), "{error}");
    // A dump of another kernel.
    let text = std::fs::read(folder("dg2").join("scale.visaasm")).expect("a dump");
    let visa = vec![SourceText { name: "scale.visaasm".into(), text }];
    let options = LoadOptions { visa, ..LoadOptions::default() };
    let error = Module::load_with(&device, "vadd", Source::Zebin(&bytes), &options).expect_err("another's");
    assert!(error.to_string().contains("scale.visaasm: no kernel `scale`"), "{error}");
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suite/corpus/dg2/bench/triad.zebin");
    let bytes = std::fs::read(other).expect("a zebin");
    assert!(Source::Zebin(&bytes).kernels_without_visa().expect("a zebin").is_empty());
}
