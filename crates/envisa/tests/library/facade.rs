//! The library's own types: devices, buffers, modules, launches, and what they refuse.

use envisa::isa::Platform;
use envisa::{
    AccessKind, Addressing, Arg, ArgKey, ArgumentKind, ChannelOrder, ChannelType, Config, Device, Error,
    FaultKind, FindingKind, ImageDesc, ImageFormat, ImageShape, Kernel, Launch, LoadOptions, Module, Sampler,
    Source,
};
use std::path::Path;

fn example(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn floats(n: usize) -> Vec<u8> {
    (0..n).flat_map(|i| (i as f32).to_le_bytes()).collect()
}

fn vadd() -> (Device, Kernel) {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 24).threads(2));
    let module = Module::load(&device, "vadd.zebin", Source::Zebin(&example("vadd/vadd.zebin"))).unwrap();
    let kernel = module.kernel("vadd").unwrap();
    (device, kernel)
}

fn rgba8() -> ImageFormat {
    ImageFormat::new(ChannelOrder::Rgba, ChannelType::Unorm8).expect("a format")
}

const SCALE: &[u8] = b"\
.version 4.1
.kernel \"scale\"
.decl X v_type=G type=f num_elts=8 align=GRF
.decl T6 v_type=T num_elts=1
.input X offset=32 size=32
.input T6 offset=64 size=4
.kernel_attr SimdSize=8
mul (M1,8) X(0,0)<1> X(0,0)<1;1,0> 0x40000000:f
oword_st (2) T6 0x0:ud X.0
ret (M1,8)
";

#[test]
fn a_compiled_kernel_says_what_it_takes() {
    let (_, kernel) = vadd();
    let kinds: Vec<_> = kernel.arguments().iter().map(|a| (&*a.name, &*a.type_name, a.kind)).collect();
    let value = ArgumentKind::Value { bytes: 4, payload_bytes: 4 };
    assert_eq!(
        kinds,
        [
            ("a", "float*", ArgumentKind::Buffer),
            ("b", "float*", ArgumentKind::Buffer),
            ("c", "float*", ArgumentKind::Buffer),
            ("n", "int", value),
        ]
    );
    let attributes = kernel.attributes();
    assert_eq!(
        (attributes.simd, attributes.max_group_items, attributes.required_group_size),
        (32, 1024, None)
    );
    assert!(kernel.is_compiled() && !attributes.prints && attributes.local_memory == 0);
    assert!(kernel.variables().iter().any(|v| v.name == "V0062"));
}

#[test]
fn a_launch_computes() {
    let (device, kernel) = vadd();
    let (a, b) =
        (device.buffer_from("a", &floats(1000)).unwrap(), device.buffer_from("b", &floats(1000)).unwrap());
    let c = device.buffer("c", 4000).unwrap();
    for local in [&[][..], &[64], &[8]] {
        c.fill(0, 4000, &[0]).unwrap();
        let launch = Launch::range(&[1024], local)
            .arg("a", &a)
            .arg(1, &b)
            .arg("c", &c)
            .arg("n", 1000)
            .statistics(true);
        let outcome = device.run(&kernel, &launch).unwrap();
        assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
        assert_eq!(outcome.work_items, 1024);
        assert!(outcome.statistics.is_some_and(|s| s.memory[0].bytes_written == 4000));
        let sums: Vec<u8> = (0..1000).flat_map(|i| (2.0 * i as f32).to_le_bytes()).collect();
        assert!(c.to_vec() == sums);
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let (device, kernel) = vadd();
    let a = device.buffer_from("a", &floats(64)).unwrap();
    let sampler = Sampler::new(Addressing::ClampToEdge, false, false);
    let all = || Launch::range(&[64], &[64]).arg("a", &a).arg("b", &a).arg("c", &a);
    let cases: Vec<(Launch, &str)> = vec![
        (all(), "argument `n` (int) is not given"),
        (
            Launch::range(&[64], &[64]).arg("n", 1),
            "arguments are not given: `a` (float*), `b` (float*), `c` (float*)",
        ),
        (all().arg("m", 1), "the kernel has no argument `m`; it takes a, b, c, n"),
        (all().arg(7, 1), "the kernel has no argument `7`; it takes a, b, c, n"),
        (all().arg("a", &a), "argument `a`: is given twice"),
        (all().arg(3, 1u64), "argument `n`: the kernel takes 4 bytes (int), not 8"),
        (all().arg("n", Vec::new()), "argument `n`: the kernel takes 4 bytes (int), not 0"),
        (all().arg("n", &a), "argument `n`: the kernel takes a value (int), not a buffer"),
        (all().arg("n", sampler), "argument `n`: the kernel takes a value (int), not a sampler"),
        (all().arg(ArgKey::Surface(3), &a), "argument `bti:3`: a compiled kernel states what it binds"),
        (
            Launch::range(&[64], &[64]).arg("a", 1).arg("b", &a).arg("c", &a).arg("n", 1),
            "argument `a`: the kernel takes a buffer (float*), not a value",
        ),
        (Launch::range(&[], &[]), "0 global sizes: there are 1 to 3 dimensions"),
        (Launch::range(&[1; 4], &[1; 4]), "4 global sizes: there are 1 to 3 dimensions"),
        (Launch::range(&[64], &[8, 8]), "global has 1 dimensions, local has 2"),
        (Launch::range(&[64], &[]).offset(&[1, 1]), "global has 1 dimensions, offset has 2"),
        (Launch::threads(&[1], 1), "a compiled kernel is launched by a range of work-items, not by threads"),
    ];
    for (launch, message) in cases {
        assert_eq!(device.launch(&kernel, &launch).err().map(|e| e.to_string()).as_deref(), Some(message));
    }
    // Said when it runs: sizes.
    for (launch, message) in [
        (Launch::range(&[0], &[1]), "the range is empty"),
        (Launch::range(&[64], &[u64::MAX]), "a group of 4294967295 work-items: at most 1024 fit"),
        (Launch::range(&[u64::MAX], &[1]), "18446744073709551615 work-items in dimension 0: ids are 32 bits"),
    ] {
        let launch = launch.arg("a", &a).arg("b", &a).arg("c", &a).arg("n", 0);
        assert_eq!(device.run(&kernel, &launch).unwrap_err().to_string(), message);
    }
}

#[test]
fn handles_of_another_device_are_refused() {
    let (device, kernel) = vadd();
    let (other, other_kernel) = vadd();
    let (a, b) = (device.buffer("a", 256).unwrap(), other.buffer("b", 256).unwrap());
    let launch = Launch::range(&[64], &[64]).arg("a", &a).arg("b", &b).arg("c", &a).arg("n", 64);
    assert!(matches!(device.launch(&kernel, &launch), Err(Error::Foreign("buffer"))));
    assert!(matches!(device.launch(&other_kernel, &launch), Err(Error::Foreign("kernel"))));
    let desc = ImageDesc::packed(ImageShape::D2, [4, 4, 1], rgba8());
    assert!(matches!(device.image(&desc, &b), Err(Error::Foreign("buffer"))));
    assert!(device.is(&device.clone()) && !device.is(&other));
    // A module of another platform.
    let skl = Device::new(Config::new(Platform::Skl));
    let e = Module::load(&skl, "vadd.zebin", Source::Zebin(&example("vadd/vadd.zebin"))).unwrap_err();
    assert_eq!(e.to_string(), "vadd.zebin: is compiled for pvc, the device is SKL");
}

#[test]
fn a_fault_says_everything() {
    let (device, kernel) = vadd();
    let a = device.buffer_from("a", &floats(1000)).unwrap();
    let c = device.buffer("buffer c", 3600).unwrap();
    let launch = Launch::range(&[1024], &[64]).arg("a", &a).arg("b", &a).arg("c", &c).arg("n", 1000);
    let fault = device.run(&kernel, &launch).unwrap().fault.expect("it writes past the end");
    assert_eq!((fault.code, fault.kind), ("F0001", FaultKind::OutOfBounds));
    let access = fault.access.as_ref().expect("a fault of memory");
    assert_eq!((access.address, access.bytes, access.kind), (c.address() + 3600, 4, Some(AccessKind::Write)));
    let nearest = access.nearest.as_ref().expect("buffer c");
    assert_eq!((nearest.name.as_str(), nearest.distance), ("buffer c", 1));
    assert_eq!((fault.group, fault.thread, fault.channel), ([14, 0, 0], 0, Some(4)));
    let visa = fault.place.visa.as_ref().expect("a line");
    assert_eq!((visa.file.as_str(), visa.column), ("vadd.zebin:vadd", 5));
    let json = serde_json::to_value(&*fault).unwrap();
    assert_eq!(json["code"], "F0001");
    assert_eq!(json["kind"], "out-of-bounds");
    assert_eq!(json["access"]["kind"], "write");
    assert_eq!(json["visa"]["line"], visa.line);
    let text = envisa::diag::render_one(kernel.files(), &fault.diagnostic(), &Default::default());
    assert!(text.contains("right past the end of buffer c") && text.contains("lsc_store"), "{text}");
    // The device goes on.
    let c = device.buffer("c", 4000).unwrap();
    let launch = Launch::range(&[1024], &[64]).arg("a", &a).arg("b", &a).arg("c", &c).arg("n", 1000);
    assert!(device.run(&kernel, &launch).unwrap().fault.is_none());
}

#[test]
fn checks_find() {
    let device = Device::new(Config::new(Platform::Skl));
    let text = example("collide/collide.visaasm");
    let kernel = Module::load(&device, "collide.visaasm", Source::Text(&text)).unwrap().kernel("").unwrap();
    let out = device.buffer("T6", 32).unwrap();
    let places: Vec<u8> = (0..8u32).flat_map(u32::to_le_bytes).collect();
    let launch =
        Launch::threads(&[1], 1).arg("Values", floats(8)).arg("Places", places).arg("T6", &out).check(true);
    let outcome = device.run(&kernel, &launch).unwrap();
    let findings = outcome.findings.expect("it was checked");
    let kinds: Vec<_> = findings.iter().map(|f| (f.code, f.kind, f.subject.as_str())).collect();
    assert_eq!(
        kinds,
        [
            ("F0002", FindingKind::UninitialisedRead, "Sum[0]"),
            ("F0003", FindingKind::StoreConflict, "T6 at byte 0x0 (0x0 and 0x3f800000)")
        ]
    );
    assert_eq!(findings[0].place.visa.as_ref().map(|v| v.line), Some(13));
}

#[test]
fn hand_written_code_runs() {
    let device = Device::new(Config::new(Platform::Skl));
    let module = Module::load(&device, "scale.visaasm", Source::detect(SCALE).unwrap()).unwrap();
    assert_eq!((module.kernel_names(), module.is_compiled()), (vec!["scale".to_owned()], false));
    let kernel = module.kernel("").unwrap();
    drop(module);
    let kinds: Vec<_> = kernel.arguments().iter().map(|a| (&*a.name, &*a.type_name, a.kind)).collect();
    assert_eq!(
        kinds,
        [("X", "f", ArgumentKind::Input { bytes: 32 }), ("T6", "surface", ArgumentKind::Surface)]
    );
    let out = device.buffer("out", 64).unwrap();
    let half = out.slice(32..64).unwrap();
    let launch = Launch::threads(&[1], 1).arg("X", floats(8)).arg("T6", &half).registers(["X", "Y"]);
    let outcome = device.run(&kernel, &launch).unwrap();
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    let twice: Vec<u8> = (0..8).flat_map(|i| (2.0 * i as f32).to_le_bytes()).collect();
    assert_eq!(half.to_vec(), twice);
    assert_eq!(out.to_vec()[..32], [0; 32]);
    let [thread] = &outcome.registers[..] else { panic!("one thread") };
    assert_eq!(thread.variables, [twice, Vec::new()]);

    let refused = |launch: Launch| device.run(&kernel, &launch).unwrap_err().to_string();
    let one = || Launch::threads(&[1], 1);
    assert_eq!(
        refused(Launch::range(&[8], &[8])),
        "hand-written code has no work-items: launch thread groups instead of a range"
    );
    assert_eq!(refused(one().arg("X", floats(9))), "argument `X`: 36 bytes are given, the input has 32");
    assert_eq!(
        refused(one().arg("T6", 1)),
        "argument `T6`: it is a surface: a buffer or an image is expected"
    );
    assert_eq!(
        refused(one().arg("T7", 1)),
        "argument `T7`: the kernel has no such input or surface; it has X, T6; did you mean `T6`?"
    );
    assert_eq!(
        refused(one().arg(ArgKey::Surface(1 << 20), &out)),
        "argument `bti:1048576`: there is no such binding-table index"
    );
    assert!(refused(Launch::threads(&[1], 0)).contains("0 threads"));
    assert!(refused(Launch::threads(&[1], 257)).contains("257 threads"));
    assert!(refused(Launch::threads(&[0], 1)).contains("groups of 1 threads"));
    assert!(refused(one().local_memory(1 << 40)).contains("shared local memory"));
    assert!(refused(one().offset(&[1])).contains("no offset"));
}

#[test]
fn modules_that_are_none_are_refused() {
    let device = Device::new(Config::new(Platform::Pvc));
    for bytes in [&b""[..], b"\x7fELF", b"\x7fELF garbage", &example("vadd/vadd.zebin")[..200]] {
        let e = Module::load(&device, "x", Source::Zebin(bytes)).unwrap_err();
        assert!(matches!(e, Error::Module(_)) && e.to_string().starts_with("x: "), "{e}");
    }
    let e = Module::load(&device, "x", Source::Isa(b"CISA")).unwrap_err();
    assert!(matches!(&e, Error::Diagnostics(d) if d.list.iter().any(|d| d.is_error())), "{e}");
    let e = Module::load(&device, "x", Source::Text(b".version 4.1\n\xff")).unwrap_err();
    assert!(e.to_string().contains("UTF-8"), "{e}");
    let options = LoadOptions { verify: false, ..LoadOptions::default() };
    assert!(Module::load_with(&device, "x", Source::Text(b".kernel"), &options).is_err());
    assert!(Source::detect(b"hello").is_none());
    let module = Module::load(&device, "v", Source::Zebin(&example("vadd/vadd.zebin"))).unwrap();
    assert_eq!(
        module.kernel("vad").unwrap_err().to_string(),
        "there is no kernel `vad`; the module has vadd; did you mean `vadd`?"
    );
}

#[test]
fn buffers_hold_their_ranges() {
    let device = Device::new(Config::new(Platform::Dg2).memory(1 << 20));
    let b = device.buffer_with("b", 100, |bytes| bytes[99] = 7).unwrap();
    assert_eq!((b.len(), b.to_vec()[99]), (100, 7));
    b.fill(1, 9, &[1, 2]).unwrap();
    assert_eq!(b.to_vec()[..11], [0, 1, 2, 1, 2, 1, 2, 1, 2, 1, 0]);
    let slice = b.slice(10..20).unwrap();
    assert_eq!((slice.address(), slice.len()), (b.address() + 10, 10));
    slice.write(0, &[9; 10]).unwrap();
    assert_eq!(b.to_vec()[9..21], [1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 0]);
    let deeper = slice.slice(9..10).unwrap();
    assert_eq!(deeper.to_vec(), [9]);
    for e in [
        slice.write(1, &[0; 10]),
        slice.write(u64::MAX, &[0]),
        slice.read(10, &mut [0]),
        slice.fill(0, 11, &[0]),
        slice.fill(0, 1, &[]),
        slice.slice(0..11).map(drop),
        #[allow(clippy::reversed_empty_ranges)]
        slice.slice(5..4).map(drop),
    ] {
        assert!(matches!(e, Err(Error::Range(_))), "{e:?}");
    }
    assert!(slice.slice(10..10).unwrap().is_empty());
    assert!(matches!(device.buffer("large", 1 << 30), Err(Error::Memory(_))));
    assert!(matches!(device.buffer("absurd", u64::MAX), Err(Error::Memory(_))));
}

#[test]
fn images_fit_their_buffers() {
    let device = Device::new(Config::new(Platform::Dg2));
    let buffer = device.buffer("texels", 4096).unwrap();
    let desc = ImageDesc::packed(ImageShape::D2, [32, 32, 1], rgba8());
    assert_eq!(desc.bytes(), 4096);
    assert_eq!(device.image(&desc, &buffer).unwrap().desc().row_bytes(), 128);
    let wrong = [
        ImageDesc { height: 33, ..desc },
        ImageDesc { width: 0, ..desc },
        ImageDesc { width: 1 << 20, ..desc },
        ImageDesc { depth: 2, ..desc },
        ImageDesc { shape: ImageShape::D1, ..desc },
        ImageDesc { row_pitch: 64, ..desc },
        ImageDesc { row_pitch: u32::MAX, ..desc },
        ImageDesc { shape: ImageShape::D3, depth: 2, height: 16, slice_pitch: 1, ..desc },
        ImageDesc { shape: ImageShape::D3, depth: 2, height: 16, slice_pitch: u64::MAX, ..desc },
    ];
    for desc in wrong {
        assert!(matches!(device.image(&desc, &buffer), Err(Error::Range(_))), "{desc:?}");
    }
    let planes = ImageDesc { shape: ImageShape::D3, depth: 2, height: 16, ..desc };
    assert!(device.image(&planes, &buffer).is_ok());
    assert!(matches!(Arg::from(&buffer), Arg::Buffer(_)));
}

#[test]
fn an_argument_is_given_once() {
    let device = Device::new(Config::new(Platform::Skl));
    let kernel = Module::load(&device, "s", Source::Text(SCALE)).unwrap().kernel("").unwrap();
    let launch = Launch::threads(&[1], 1).arg("X", floats(8)).arg(0, floats(8));
    assert_eq!(device.run(&kernel, &launch).unwrap_err().to_string(), "argument `0`: is given twice");
}

#[test]
fn memory_is_shared_with_the_host() {
    let (device, kernel) = vadd();
    let a = device.constant("a", &floats(64)).unwrap();
    let b = device.shared("b", 4096).unwrap();
    assert_eq!(b.address(), b.host_pointer() as u64);
    assert_eq!(b.address() % 4096, 0);
    b.write(128, &floats(64)).unwrap();
    let c = device.buffer("c", 256).unwrap();
    let run = |b: Arg, c: Arg| {
        let launch = Launch::range(&[64], &[64]).arg("a", &a).arg("b", b).arg("c", c).arg("n", 64);
        device.run(&kernel, &launch)
    };
    // An address is as good as the slice.
    let outcome = run(Arg::Pointer(b.address() + 128), Arg::from(&c)).unwrap();
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    let sums: Vec<u8> = (0..64).flat_map(|i| (2.0 * i as f32).to_le_bytes()).collect();
    assert_eq!(c.to_vec(), sums);
    let refused = run(Arg::Pointer(0x1234), Arg::from(&c)).unwrap_err();
    assert_eq!(refused.to_string(), "argument `b`: 0x1234 is in no buffer");
    // What is constant stays as it is.
    let fault = run(Arg::from(&b), Arg::from(&a)).unwrap().fault.expect("it writes a constant");
    assert_eq!((fault.kind, fault.code), (FaultKind::ReadOnly, "F0019"));
    assert_eq!(a.to_vec(), floats(64));
    assert!(device.memory_used() >= 256 + 4096 + 256);
    drop((b, c));
    assert_eq!(device.memory_used(), 256);
}

#[test]
#[allow(unsafe_code)]
fn host_memory_is_taken_in_without_a_copy() {
    use std::ptr::NonNull;
    use std::sync::Arc;
    let (device, kernel) = vadd();
    let mut bytes = floats(64).into_boxed_slice();
    let start = NonNull::new(bytes.as_mut_ptr()).unwrap();
    let gone = Arc::new(());
    let keep: Box<dyn std::any::Any + Send + Sync> = Box::new(gone.clone());
    // SAFETY: the box outlives the buffer, and is looked at by the buffer only.
    let a = unsafe { device.import("a", start, 256, Some(keep), true) }.unwrap();
    assert_eq!((a.address(), a.host_pointer()), (start.as_ptr() as u64, start.as_ptr()));
    let launch = Launch::range(&[64], &[64]).arg("a", &a).arg("b", &a).arg("c", &a).arg("n", 64);
    assert!(device.run(&kernel, &launch).unwrap().fault.is_none());
    assert_eq!(Arc::strong_count(&gone), 2);
    // The same address cannot be taken in twice.
    // SAFETY: as above.
    assert!(unsafe { device.import("again", start, 256, None, true) }.is_err());
    drop((launch, a));
    assert_eq!(Arc::strong_count(&gone), 1);
    let sums: Vec<u8> = (0..64).flat_map(|i| (2.0 * i as f32).to_le_bytes()).collect();
    assert_eq!(*bytes, *sums);
}

const MOVES: &str = "\
.version 4.1
.kernel \"moves\"
.decl X v_type=G type=f num_elts=8 align=GRF
.input X offset=32 size=32
.kernel_attr SimdSize=8
mul (M1,8) X(0,0)<1> X(0,0)<1;1,0> 0x40000000:f
ret (M1,8)
";

/// A thread a nanosecond would take four seconds.
#[test]
fn a_launch_without_effect_takes_no_time() {
    let device = Device::new(Config::new(Platform::Pvc).memory(1 << 20));
    let module = Module::load(&device, "moves", Source::Text(MOVES.as_bytes())).expect("it loads");
    let kernel = module.kernel("moves").expect("it is there");
    let launch = |groups: u32| Launch::threads(&[groups, 1, 1], 1).arg("X", floats(8));
    let outcome = device.run(&kernel, launch(u32::MAX)).expect("it is launched");
    assert!(outcome.fault.is_none() && outcome.time.as_millis() < 1000, "{:?}", outcome.time);
    // Who looks at its instructions sees them.
    let counted = device.run(&kernel, launch(16).statistics(true)).expect("it is launched");
    assert_eq!(counted.statistics.expect("they were asked for").instructions, 2 * 16);
    let looked = device.run(&kernel, launch(3).registers(["X"])).expect("it is launched");
    assert_eq!(looked.registers.len(), 3);
}
