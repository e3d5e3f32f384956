//! Modules: from SPIR-V, from binaries, linked.

use crate::ze::*;

const TEXT: &str =
    "kernel void one(global int *x) { x[0] = 1; } kernel void two(global int *x) { x[0] = 2; }";

/// What a kernel stores.
fn stored(d: &Driver, module: usize, name: &str) -> i32 {
    let list = d.immediate(1);
    let x = d.shared(&[0i32]);
    let kernel = d.kernel(module, name, 1);
    d.arg(kernel, 0, x.as_ptr());
    d.launch(list, kernel, 1, 0, &[]);
    x[0]
}

fn binary(d: &Driver, module: usize) -> Vec<u8> {
    let mut n = 0usize;
    d.ok("zeModuleGetNativeBinary", &[module, at(&mut n), 0]);
    let mut bytes = vec![0u8; n];
    d.ok("zeModuleGetNativeBinary", &[module, at(&mut n), at(&mut bytes[..])]);
    bytes
}

/// A binary (an ELF file of 64 bits) in which sections of this name are of a kind that nobody knows.
fn without(bytes: &[u8], section: &str) -> Vec<u8> {
    let word = |at: usize, n: usize| bytes[at..at + n].iter().rev().fold(0, |a, b| a << 8 | usize::from(*b));
    let (table, size, count, names) = (word(0x28, 8), word(0x3a, 2), word(0x3c, 2), word(0x3e, 2));
    let texts = word(table + names * size + 0x18, 8);
    let mut changed = bytes.to_vec();
    for header in (0..count).map(|i| table + i * size) {
        let name = texts + word(header, 4);
        if bytes[name..].starts_with(section.as_bytes()) {
            changed[header + 4..header + 8].copy_from_slice(&0xff00_00ffu32.to_le_bytes());
            changed[name + 1] = b'x';
        }
    }
    assert_ne!(changed, bytes, "{section}");
    changed
}

#[test]
fn a_module_is_what_it_was_made_of() {
    let Some(d) = driver() else { return };
    let module = d.program(TEXT);
    let (mut n, mut names) = (0u32, [0usize; 2]);
    d.ok("zeModuleGetKernelNames", &[module, at(&mut n), 0]);
    assert_eq!(n, 2);
    d.ok("zeModuleGetKernelNames", &[module, at(&mut n), at(&mut names)]);
    // SAFETY: the names live as long as the module.
    let text = |p: usize| unsafe { std::ffi::CStr::from_ptr(p as *const _) }.to_str().unwrap().to_owned();
    assert_eq!(names.map(text), ["one", "two"]);
    let (mut size, mut name) = (4usize, [0u8; 4]);
    let two = d.kernel(module, "two", 1);
    d.ok("zeKernelGetName", &[two, at(&mut size), at(&mut name)]);
    assert_eq!((size, &name), (4, b"two\0"));
    let mut properties = [0u64; 12];
    d.ok("zeKernelGetProperties", &[two, at(&mut properties)]);
    assert_eq!(properties[2] as u32, 1, "arguments");
    let name = c"three".as_ptr() as u64;
    assert_eq!(d.call("zeKernelCreate", &[module, of(&[0, 0, 0, name]), at(&mut 0usize)]), 0x7800_0011);
    // A kernel outlives the handle of its module.
    d.ok("zeModuleDestroy", &[module]);
    let x = d.shared(&[0i32]);
    d.arg(two, 0, x.as_ptr());
    d.launch(d.immediate(1), two, 1, 0, &[]);
    assert_eq!(x[0], 2);
}

#[test]
fn binaries_are_taken_by_their_text_or_rebuilt_and_native_code_alone_is_refused() {
    let Some(d) = driver() else { return };
    let whole = binary(d, d.program(TEXT));
    let (result, module, log) = d.module(1, &whole);
    assert_eq!((result, log.as_str()), (SUCCESS, ""));
    assert_eq!(stored(d, module, "two"), 2);
    let (result, module, _) = d.module(1, &without(&whole, ".visaasm"));
    assert_eq!(result, SUCCESS, "from its SPIR-V");
    assert_eq!(stored(d, module, "one"), 1);
    let native = without(&without(&whole, ".visaasm"), ".spv");
    let (result, module, log) = d.module(1, &native);
    assert_eq!((result, module), (0x7800_000f, 0));
    assert!(log.contains("native code alone is not executed"), "{log}");
    // PoCL keeps the binaries of all programs, also of those without kernels.
    let (result, _, log) = d.module(1, &binary(d, d.program("")));
    assert_eq!((result, log.as_str()), (SUCCESS, ""));
    for damaged in [&b"\x7fELF"[..], &whole[..whole.len() / 2], &[0; 100]] {
        assert_eq!(d.module(1, damaged).0, 0x7800_000f);
        assert_eq!(d.module(0, damaged).0, BUILD_FAILURE);
    }
    let mut broken = spirv(TEXT);
    broken[20..].fill(0xff);
    let (result, _, log) = d.module(0, &broken);
    assert_eq!(result, BUILD_FAILURE);
    assert!(!log.is_empty());
}

#[test]
fn modules_that_need_each_other_are_linked() {
    let Some(d) = driver() else { return };
    let user = spirv("int f(int x); kernel void uses(global int *x) { x[0] = f(20); }");
    let other = spirv("int f(int x) { return 2 * x + 2; }");
    let (result, module, log) = d.module(0, &user);
    assert_eq!(result, SUCCESS, "{log}");
    let mut properties = [0u64; 3];
    d.ok("zeModuleGetProperties", &[module, at(&mut properties)]);
    assert_eq!(properties[2] as u32, 1, "it has imports");
    let desc = [0, 0, 0, c"uses".as_ptr() as u64];
    assert_eq!(d.call("zeKernelCreate", &[module, of(&desc), at(&mut 0usize)]), 0x7800_0018);
    let (result, library, _) = d.module(0, &other);
    assert_eq!(result, SUCCESS);
    let mut log = 0usize;
    assert_eq!(d.call("zeModuleDynamicLink", &[1, of(&module), at(&mut log)]), 0x7000_0005);
    d.ok("zeModuleBuildLogDestroy", &[log]);
    d.ok("zeModuleDynamicLink", &[2, of(&[module, library]), 0]);
    assert_eq!(stored(d, module, "uses"), 42);
    // The same, made one at once.
    let (sizes, parts) = ([user.len(), other.len()], [user.as_ptr(), other.as_ptr()]);
    let several = [0x2_0002u64, 0, 2, of(&sizes) as u64, of(&parts) as u64, 0, 0];
    let desc = [0u64, of(&several) as u64, 0, 0, 0, 0, 0];
    let mut module = 0usize;
    d.ok("zeModuleCreate", &[d.context, d.device, of(&desc), at(&mut module), 0]);
    assert_eq!(stored(d, module, "uses"), 42);
}

/// SPIR-V 1.4 as today's compilers of SYCL write it: a kernel that loads its number by an access chain into the built-in variable, and
/// stores how far the element at that number is from the first, or 77 for the first itself.
fn spirv_of_today() -> Vec<u8> {
    let text = |words: &[u32], name: &str, rest: &[u32]| {
        let mut bytes = name.as_bytes().to_vec();
        bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
        let name = bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap()));
        words.iter().copied().chain(name).chain(rest.iter().copied()).collect::<Vec<u32>>()
    };
    let [void, uint, ulong, vector, to_vector, to_ulong, to_uint, kind, boolean] =
        [1, 2, 3, 4, 5, 6, 7, 8, 9];
    let [id, zero, seven, kernel, x, label] = [10, 11, 12, 13, 14, 15];
    let mut words = vec![0x0723_0203, 0x1_0400, 0, 30, 0];
    let instructions: [(u32, Vec<u32>); 37] = [
        (17, vec![4]),
        (17, vec![5]),
        (17, vec![6]),
        (17, vec![11]),
        (14, vec![2, 2]),
        (15, text(&[6, kernel], "apart", &[id])),
        (71, vec![id, 11, 28]),
        (71, text(&[id, 41], "__spirv_BuiltInGlobalInvocationId", &[1])),
        (71, vec![id, 22]),
        (19, vec![void]),
        (21, vec![uint, 32, 0]),
        (21, vec![ulong, 64, 0]),
        (20, vec![boolean]),
        (23, vec![vector, ulong, 3]),
        (32, vec![to_vector, 5, vector]),
        (32, vec![to_ulong, 5, ulong]),
        (32, vec![to_uint, 5, uint]),
        (33, vec![kind, void, to_uint]),
        (43, vec![uint, zero, 0]),
        (43, vec![uint, seven, 77]),
        (59, vec![to_vector, id, 5]),
        (54, vec![void, kernel, 0, kind]),
        (55, vec![to_uint, x]),
        (248, vec![label]),
        (70, vec![to_ulong, 16, id, zero, zero]),
        (61, vec![ulong, 17, 16, 2, 32]),
        (70, vec![to_uint, 18, x, 17]),
        (402, vec![boolean, 19, 18, x]),
        (403, vec![ulong, 20, 18, x]),
        (113, vec![uint, 21, 20]),
        (401, vec![boolean, 23, 18, x]),
        (168, vec![boolean, 24, 23]),
        (167, vec![boolean, 25, 19, 24]),
        (169, vec![uint, 22, 25, 21, seven]),
        (62, vec![18, 22, 2, 4]),
        (253, vec![]),
        (56, vec![]),
    ];
    for (op, operands) in instructions {
        words.push((operands.len() as u32 + 1) << 16 | op);
        words.extend(operands);
    }
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// The packaged compiler breaks down on the built-in variable and on the negation, and knows no comparison of pointers.
#[test]
fn spirv_of_todays_compilers_runs() {
    let Some(d) = driver() else { return };
    let (result, module, log) = d.module(0, &spirv_of_today());
    assert_eq!((result, log.as_str()), (SUCCESS, ""));
    let x = d.shared(&[9u32; 4]);
    let kernel = d.kernel(module, "apart", 1);
    d.arg(kernel, 0, x.as_ptr());
    d.launch(d.immediate(1), kernel, 4, 0, &[]);
    assert_eq!(x, [77, 1, 2, 3]);
}
