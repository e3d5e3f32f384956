//! Programs: built, broken, linked, from binaries; and the errors of arguments and launches.

use std::ffi::CString;
use std::ptr::{null, null_mut};

use crate::cl::*;

const AXPY: &str = "
    kernel void axpy(global const float *x, global float *y, float a, uint n) {
        size_t i = get_global_id(0);
        if (i < n) y[i] = a * x[i] + y[i];
    }";

/// The index of its `a`.
const AXPY_SCALAR: u32 = 2;

fn axpy(s: &Session, kernel: cl_kernel) {
    let x: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let (x_buffer, y_buffer) = (s.buffer(&x), s.buffer(&vec![1f32; 100]));
    for (i, code) in [
        s.arg(kernel, 0, &x_buffer),
        s.arg(kernel, 1, &y_buffer),
        s.arg(kernel, 2, &2f32),
        s.arg(kernel, 3, &100u32),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(code, CL_SUCCESS, "argument {i}");
    }
    assert_eq!(s.launch(kernel, 128, Some(32)), CL_SUCCESS);
    let expected: Vec<f32> = x.iter().map(|x| 2.0 * x + 1.0).collect();
    assert_eq!(s.read::<f32>(y_buffer, 100), expected);
}

#[test]
fn every_device_runs_a_kernel() {
    let Some(driver) = driver() else { return };
    let devices = driver.devices().len();
    assert_eq!(devices, 4);
    for device in 0..devices {
        let s = driver.session(device, 0);
        axpy(&s, s.kernel(s.program(AXPY), "axpy"));
    }
}

/// The packaged compiler rotates only the first element of the vector (docs/COMPILER-BUGS.md).
#[test]
fn a_build_log_tells_of_registers_that_nothing_writes() {
    const ROTATION: &str = "kernel void turned(global const uint4 *in, global uint4 *out) {
        size_t i = get_global_id(0);
        out[i] = (in[i] << 4) | (in[i] >> 28);
    }";
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let log = |source: &str, options: &str| {
        let (program, code) = s.build(source, options);
        assert_eq!(code, CL_SUCCESS);
        s.log(program)
    };
    let told = log(ROTATION, "");
    assert!(told.contains("warning[W0824]: in kernel `turned`"), "{told}");
    for (source, options) in [(ROTATION, "-w"), (ROTATION, "-cl-opt-disable"), (AXPY, "")] {
        assert_eq!(log(source, options), "", "{source} {options}");
    }
}

/// The compiler leaves out what reads and writes images, and with it what writes the registers that other code reads.
#[test]
fn a_build_log_says_in_one_line_that_a_device_has_no_images() {
    const BLUR: &str =
        "kernel void blur(read_only image2d_t in, sampler_t nearest, global float4 *out, int width) {
        int2 at = (int2)(get_global_id(0), get_global_id(1));
        out[at.y * width + at.x] = read_imagef(in, nearest, (float2)(at.x + 0.5f, at.y));
    }";
    let Some(driver) = driver() else { return };
    let s = driver.session_on("Max 1550");
    let (program, code) = s.build(BLUR, "");
    let log = s.log(program);
    assert_eq!(code, CL_SUCCESS, "{log}");
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(log.starts_with("warning[W0825]: kernel `blur` takes an image (argument `in`)"), "{log}");
}

#[test]
fn a_broken_program_says_where() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let (program, code) = s.build("kernel void k(global int *p) {\n  p[0] = missing;\n}\n", "");
    assert_eq!(code, CL_BUILD_PROGRAM_FAILURE);
    let log = s.log(program);
    assert!(log.starts_with("<source>:2:10: error: use of undeclared identifier 'missing'"), "{log}");
    assert!(!log.contains("Build failed") && !log.contains("Command was"), "{log}");
    assert_eq!(s.build("kernel void k() {}", "-cl-no-such-option").1, CL_INVALID_BUILD_OPTIONS);
    // The compiler does not mind; a driver must.
    let (program, code) = s.build("int there(int); kernel void k(global int *p) { p[0] = there(1); }", "");
    assert_eq!(code, CL_BUILD_PROGRAM_FAILURE);
    assert!(s.log(program).contains("there"), "{}", s.log(program));
    let name = CString::new("k").unwrap();
    let mut code = 0;
    // SAFETY: the name ends with zero.
    unsafe { s.api.clCreateKernel.unwrap()(program, name.as_ptr(), &raw mut code) };
    assert_eq!(code, CL_INVALID_PROGRAM_EXECUTABLE);
}

#[test]
fn options_and_warnings_go_through() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let source = "kernel void k(global int *p) { p[0] = VALUE; int unused_pointer = p; }";
    let (program, code) = s.build(source, "-DVALUE=41 -cl-std=CL1.2");
    assert_eq!(code, CL_SUCCESS, "{}", s.log(program));
    assert!(s.log(program).contains("warning"), "{}", s.log(program));
    let kernel = s.kernel(program, "k");
    let out = s.buffer(&[0i32]);
    assert_eq!(s.arg(kernel, 0, &out), CL_SUCCESS);
    assert_eq!(s.launch(kernel, 1, None), CL_SUCCESS);
    assert_eq!(s.read::<i32>(out, 1), [41]);
}

/// Features are told as the device has them, and lines as the program has them.
#[test]
fn every_device_compiles_opencl_c_3() {
    let Some(driver) = driver() else { return };
    let source = "#ifdef __opencl_c_images
        #define IMAGES 1
        #else
        #define IMAGES 0
        #endif
        #ifdef __opencl_c_pipes
        #error there are no pipes
        #endif
        kernel void k(global int *p) { p[0] = IMAGES; p[1] = __LINE__; }";
    for device in 0..driver.devices().len() {
        let s = driver.session(device, 0);
        let (program, code) = s.build(source, "-cl-std=CL3.0");
        assert_eq!(code, CL_SUCCESS, "{}", s.log(program));
        let kernel = s.kernel(program, "k");
        let out = s.buffer(&[-1i32; 2]);
        assert_eq!(s.arg(kernel, 0, &out), CL_SUCCESS);
        assert_eq!(s.launch(kernel, 1, None), CL_SUCCESS);
        let mut has = 0u32;
        let to = (&raw mut has).cast();
        assert_eq!(
            call!(s, clGetDeviceInfo(s.device, CL_DEVICE_IMAGE_SUPPORT, 4, to, null_mut())),
            CL_SUCCESS
        );
        assert_eq!(s.read::<i32>(out, 2), [has as i32, 9], "device {device}");
        let (program, code) = s.build("kernel void k() {\n    wrong;\n}", "-cl-std=CL3.0");
        assert_eq!(code, CL_BUILD_PROGRAM_FAILURE);
        assert!(s.log(program).contains("2:5: error"), "{}", s.log(program));
    }
}

#[test]
fn programs_find_the_macros_of_the_extensions_that_are_offered() {
    /// Those that the compiler has for some device or version; before 3.0 the last ones have no functions.
    const NAMES: [&str; 12] = [
        "cl_khr_fp64",
        "cl_khr_subgroups",
        "cl_khr_3d_image_writes",
        "cl_khr_image2d_from_buffer",
        "cl_khr_extended_bit_ops",
        "cl_ext_float_atomics",
        "cl_intel_planar_yuv",
        "cl_intel_motion_estimation",
        "cl_intel_spirv_media_block_io",
        "cl_intel_subgroups",
        "cl_khr_integer_dot_product",
        "cl_khr_depth_images",
    ];
    let Some(driver) = driver() else { return };
    for device in 0..driver.devices().len() {
        let s = driver.session(device, 0);
        let offered =
            text(|n, to, ret| call!(s, clGetDeviceInfo(s.device, CL_DEVICE_EXTENSIONS, n, to, ret)));
        for (options, names) in [("", &NAMES[..10]), ("-cl-std=CL3.0", &NAMES[..])] {
            let held = names.iter().map(|name| {
                let wrong = if offered.split(' ').any(|e| e == *name) { "ifndef" } else { "ifdef" };
                format!("#{wrong} {name}\n#error {wrong} {name}\n#endif\n")
            });
            let (program, code) =
                s.build(&format!("{}kernel void k() {{}}", held.collect::<String>()), options);
            assert_eq!(code, CL_SUCCESS, "device {device} {options}: {}", s.log(program));
        }
    }
}

#[test]
fn a_binary_is_a_program_and_damage_is_refused() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let program = s.program(AXPY);
    let sizes = bytes(|n, to, ret| call!(s, clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, n, to, ret)));
    let size = usize::from_ne_bytes(sizes.try_into().unwrap());
    let mut binary = vec![0u8; size];
    let mut start = binary.as_mut_ptr();
    let to = (&raw mut start).cast();
    assert_eq!(call!(s, clGetProgramInfo(program, CL_PROGRAM_BINARIES, 8, to, null_mut())), CL_SUCCESS);
    let load = |bytes: &[u8]| {
        let (mut start, length) = (bytes.as_ptr(), bytes.len());
        let (mut status, mut code) = (1, 1);
        // SAFETY: there is one binary, of the length that is given.
        let program = unsafe {
            s.api.clCreateProgramWithBinary.unwrap()(
                s.context,
                1,
                &raw const s.device,
                &raw const length,
                &raw mut start,
                &raw mut status,
                &raw mut code,
            )
        };
        (program, status, code)
    };
    let (again, status, code) = load(&binary);
    assert_eq!((status, code), (CL_SUCCESS, CL_SUCCESS));
    assert_eq!(call!(s, clBuildProgram(again, 0, null(), null(), None, null_mut())), CL_SUCCESS);
    axpy(&s, s.kernel(again, "axpy"));
    // Of binaries a value may have more bytes than its type: libraries count on that.
    let long = 3u64;
    assert_eq!(s.arg(s.kernel(again, "axpy"), AXPY_SCALAR, &long), CL_SUCCESS);
    assert_eq!(s.arg(s.kernel(program, "axpy"), AXPY_SCALAR, &long), CL_INVALID_ARG_SIZE);
    for damaged in [&b"nothing of the kind"[..], &binary[..100], &binary[..size / 2]] {
        let (program, status, code) = load(damaged);
        assert_eq!((program, status, code), (null_mut(), CL_INVALID_BINARY, CL_INVALID_BINARY));
    }
    // Whatever single bytes are changed to: an error or a program, nothing worse.
    for at in (0..size.min(4096)).step_by(37) {
        let mut changed = binary.clone();
        changed[at] ^= 0xff;
        let (program, _, code) = load(&changed);
        if code == CL_SUCCESS {
            call!(s, clReleaseProgram(program));
        }
    }
}

#[test]
fn programs_are_compiled_with_headers_and_linked() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let source = |text: &str| {
        let text = CString::new(text).unwrap();
        let mut start = text.as_ptr();
        make!(s, clCreateProgramWithSource(s.context, 1, &raw mut start, null()))
    };
    let header = source("int twice(int x);");
    let library = source("int twice(int x) { return 2 * x; }");
    let other = source("int next(int x) { return x + 1; }");
    let main = source(
        "#include \"inc/twice.h\"\n#include \"next.h\"\nkernel void k(global int *p) { p[0] = twice(next(p[0])); }",
    );
    let [name, next] = ["inc/twice.h", "next.h"].map(|n| CString::new(n).unwrap());
    let mut names = [name.as_ptr(), next.as_ptr()];
    let compile = |program, headers: &[cl_program], names: *mut *const i8| {
        let n = headers.len() as u32;
        let list = if n == 0 { null() } else { headers.as_ptr() };
        call!(s, clCompileProgram(program, 0, null(), null(), n, list, names, None, null_mut()))
    };
    assert_eq!(compile(library, &[], null_mut()), CL_SUCCESS, "{}", s.log(library));
    assert_eq!(compile(main, &[], null_mut()), CL_COMPILE_PROGRAM_FAILURE);
    // No header is read on into the next one.
    assert_eq!(compile(main, &[header, other], names.as_mut_ptr()), CL_SUCCESS, "{}", s.log(main));
    assert!(!s.log(main).contains("warning"), "{}", s.log(main));
    let inputs = [main, library];
    let linked = make!(s, clLinkProgram(s.context, 0, null(), null(), 2, inputs.as_ptr(), None, null_mut()));
    let kernel = s.kernel(linked, "k");
    let out = s.buffer(&[20i32]);
    assert_eq!(s.arg(kernel, 0, &out), CL_SUCCESS);
    assert_eq!(s.launch(kernel, 1, None), CL_SUCCESS);
    assert_eq!(s.read::<i32>(out, 1), [42]);
}

/// A library is made of compiled programs, goes through its binary, and is linked with what uses it.
#[test]
fn libraries_are_linked() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let compiled = |text: &str| {
        let text = CString::new(text).unwrap();
        let mut start = text.as_ptr();
        let program = make!(s, clCreateProgramWithSource(s.context, 1, &raw mut start, null()));
        let code =
            call!(s, clCompileProgram(program, 0, null(), null(), 0, null(), null_mut(), None, null_mut()));
        assert_eq!(code, CL_SUCCESS, "{}", s.log(program));
        program
    };
    let link = |options: &str, inputs: &[cl_program]| {
        let (options, mut code) = (CString::new(options).unwrap(), 1);
        let (n, list) = (inputs.len() as u32, inputs.as_ptr());
        // SAFETY: the lists are as long as they are said to be.
        let program = unsafe {
            let to = &raw mut code;
            s.api.clLinkProgram.unwrap()(
                s.context,
                0,
                null(),
                options.as_ptr(),
                n,
                list,
                None,
                null_mut(),
                to,
            )
        };
        (program, code)
    };
    let kind = |program| {
        let what = CL_PROGRAM_BINARY_TYPE;
        let got = bytes(|n, to, ret| call!(s, clGetProgramBuildInfo(program, s.device, what, n, to, ret)));
        u32::from_ne_bytes(got.try_into().unwrap())
    };
    let twice = compiled("int twice(int x) { return 2 * x; }");
    let more = compiled("int twice(int); int more(int x) { return twice(x) + 1; }");
    let main = compiled("int more(int); kernel void k(global int *p) { p[0] = more(p[0]); }");
    let (library, code) = link("-create-library", &[twice, more]);
    assert_eq!((code, kind(library)), (CL_SUCCESS, CL_PROGRAM_BINARY_TYPE_LIBRARY));
    assert_eq!(link("-create-library -no-such-option", &[twice]).1, CL_INVALID_LINKER_OPTIONS);
    let name = CString::new("k").unwrap();
    // SAFETY: the name ends with zero.
    let none = unsafe { s.api.clCreateKernel.unwrap()(library, name.as_ptr(), null_mut()) };
    assert!(none.is_null(), "a library has no kernels to launch");
    let sizes = bytes(|n, to, ret| call!(s, clGetProgramInfo(library, CL_PROGRAM_BINARY_SIZES, n, to, ret)));
    let mut binary = vec![0u8; usize::from_ne_bytes(sizes.try_into().unwrap())];
    let mut to = binary.as_mut_ptr();
    let list = (&raw mut to).cast();
    assert_eq!(call!(s, clGetProgramInfo(library, CL_PROGRAM_BINARIES, 8, list, null_mut())), CL_SUCCESS);
    let load = |bytes: &[u8]| {
        let (mut start, length, mut code) = (bytes.as_ptr(), bytes.len(), 1);
        let (length, start) = (&raw const length, &raw mut start);
        // SAFETY: there is one binary, of the length that is given.
        let program = unsafe {
            let (device, to) = (&raw const s.device, &raw mut code);
            s.api.clCreateProgramWithBinary.unwrap()(s.context, 1, device, length, start, null_mut(), to)
        };
        (program, code)
    };
    let (again, code) = load(&binary);
    assert_eq!((code, kind(again)), (CL_SUCCESS, CL_PROGRAM_BINARY_TYPE_LIBRARY));
    for library in [library, again] {
        let (program, code) = link("", &[main, library]);
        assert_eq!(code, CL_SUCCESS, "{}", s.log(program));
        let kernel = s.kernel(program, "k");
        let out = s.buffer(&[21i32]);
        assert_eq!(s.arg(kernel, 0, &out), CL_SUCCESS);
        assert_eq!(s.launch(kernel, 1, None), CL_SUCCESS);
        assert_eq!(s.read::<i32>(out, 1), [43]);
    }
    for damaged in [&binary[..16], &binary[..20], &binary[..binary.len() - 4]] {
        assert_eq!(load(damaged).1, CL_INVALID_BINARY);
    }
}

/// Quoted names are of the application's folder, and what is there now counts, not what was there when the same text was
/// compiled before. A text without anything in it is a program too.
#[test]
fn texts_include_files_of_the_own_folder() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let file = tempfile::Builder::new().suffix(".h").tempfile().unwrap();
    let here = std::env::current_dir().unwrap();
    let up = "../".repeat(here.components().count() - 1);
    let name = format!("{up}{}", file.path().strip_prefix("/").unwrap().display());
    let text = format!("#include \"{name}\"\nkernel void k(global int *p) {{ p[0] = VALUE; }}");
    for value in [3, 4] {
        std::fs::write(file.path(), format!("#define VALUE {value}\n")).unwrap();
        let kernel = s.kernel(s.program(&text), "k");
        let out = s.buffer(&[0i32]);
        assert_eq!(s.arg(kernel, 0, &out), CL_SUCCESS);
        assert_eq!(s.launch(kernel, 1, None), CL_SUCCESS);
        assert_eq!(s.read::<i32>(out, 1), [value]);
    }
    let mut kernels = 1;
    let empty = s.program("");
    assert_eq!(call!(s, clCreateKernelsInProgram(empty, 0, null_mut(), &raw mut kernels)), CL_SUCCESS);
    assert_eq!(kernels, 0);
}

#[test]
fn arguments_and_sizes_that_do_not_fit_give_the_standards_errors() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let source = "
        kernel void k(global int *p, int n, local int *l) { l[0] = n; p[0] = l[0]; }
        kernel __attribute__((reqd_work_group_size(8, 1, 1))) void eight(global int *p) { p[get_global_id(0)] = 8; }";
    let program = s.program(source);
    let (kernel, eight) = (s.kernel(program, "k"), s.kernel(program, "eight"));
    let buffer = s.buffer(&[0i32; 64]);
    assert_eq!(s.launch(kernel, 1, None), CL_INVALID_KERNEL_ARGS);
    assert_eq!(s.arg(kernel, 3, &buffer), CL_INVALID_ARG_INDEX);
    assert_eq!(s.arg(kernel, 0, &0u32), CL_INVALID_ARG_SIZE);
    assert_eq!(s.arg(kernel, 0, &kernel), CL_INVALID_MEM_OBJECT);
    assert_eq!(s.arg(kernel, 1, &0u8), CL_INVALID_ARG_SIZE);
    assert_eq!(call!(s, clSetKernelArg(kernel, 1, 4, null())), CL_INVALID_ARG_VALUE);
    assert_eq!(s.arg(kernel, 2, &0u32), CL_INVALID_ARG_VALUE);
    assert_eq!(call!(s, clSetKernelArg(kernel, 2, 0, null())), CL_INVALID_ARG_SIZE);
    assert_eq!(s.arg(kernel, 0, &buffer), CL_SUCCESS);
    assert_eq!(s.arg(kernel, 1, &3i32), CL_SUCCESS);
    assert_eq!(call!(s, clSetKernelArg(kernel, 2, 1 << 20, null())), CL_SUCCESS);
    assert_eq!(s.launch(kernel, 1, None), CL_OUT_OF_RESOURCES);
    assert_eq!(call!(s, clSetKernelArg(kernel, 2, 64, null())), CL_SUCCESS);
    assert_eq!(s.launch(kernel, 10, Some(4)), CL_INVALID_WORK_GROUP_SIZE);
    assert_eq!(s.launch(kernel, 4096, Some(2048)), CL_INVALID_WORK_ITEM_SIZE);
    assert_eq!(s.launch(kernel, 8, Some(0)), CL_INVALID_WORK_GROUP_SIZE);
    assert_eq!(s.launch(kernel, 0, None), CL_SUCCESS);
    assert_eq!(s.launch(kernel, 8, Some(8)), CL_SUCCESS);
    assert_eq!(s.read::<i32>(buffer, 1), [3]);
    assert_eq!(s.arg(eight, 0, &buffer), CL_SUCCESS);
    assert_eq!(s.launch(eight, 16, Some(4)), CL_INVALID_WORK_GROUP_SIZE);
    assert_eq!(s.launch(eight, 16, None), CL_SUCCESS);
    assert_eq!(s.read::<i32>(buffer, 16), [8; 16]);
    // Released before the launch: said, not run.
    let gone = s.buffer(&[0i32]);
    assert_eq!(s.arg(eight, 0, &gone), CL_SUCCESS);
    assert_eq!(call!(s, clReleaseMemObject(gone)), CL_SUCCESS);
    assert_eq!(s.launch(eight, 8, None), CL_INVALID_KERNEL_ARGS);
}

/// A value has the size of its type, no more and no less; where its type is not known, at least what the kernel uses.
#[test]
fn values_have_their_types_sizes() {
    let Some(driver) = driver() else { return };
    let source = "
        typedef struct { int a, b, c; } S;
        typedef struct { char c; long l; } R;
        kernel void k(global int *p, int n, float4 f, S s, char c, R r, uchar3 u, S unused, float3 t, ulong l, ushort2 w)
        {
            p[0] = n + f.x + s.c + c + r.l + u.x + t.y + l + w.x;
        }";
    for device in 0..driver.devices().len() {
        let s = driver.session(device, 0);
        let kernel = s.kernel(s.program(source), "k");
        let value = [0u64; 8];
        for (index, size) in (1..).zip([4, 16, 12, 1, 16, 4, 12, 16, 8, 4]) {
            let set = |size| call!(s, clSetKernelArg(kernel, index, size, value.as_ptr().cast()));
            assert_eq!(set(size), CL_SUCCESS, "argument {index}");
            for wrong in [0, size - 1, size + 1, 2 * size, 64] {
                assert_eq!(set(wrong), CL_INVALID_ARG_SIZE, "argument {index}: {wrong} bytes for {size}");
            }
        }
    }
}

/// Hosts that speak Intel's extension of shared memory count on Intel's driver, which takes more bytes than the type has:
/// oneMKL's transforms, whose kernels are text. Fewer bytes are none.
#[test]
fn hosts_of_shared_memory_may_give_more_bytes() {
    let Some(driver) = driver() else { return };
    for device in 0..driver.devices().len() {
        let s = driver.session(device, 0);
        let kernel = s.kernel(s.program("kernel void k(global int *p, int n, int m) { p[0] = n + m; }"), "k");
        let out = s.buffer(&[0i32]);
        assert_eq!(s.arg(kernel, 0, &out), CL_SUCCESS);
        let wide = 0x5_0000_0007_u64;
        assert_eq!(s.arg(kernel, 1, &wide), CL_INVALID_ARG_SIZE);
        let (yes, indirect) = (1u32, CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL);
        let flag = std::ptr::from_ref(&yes).cast();
        assert_eq!(call!(s, clSetKernelExecInfo(kernel, indirect, 4, flag)), CL_SUCCESS);
        assert_eq!(s.arg(kernel, 1, &wide), CL_SUCCESS);
        assert_eq!(s.arg(kernel, 2, &wide), CL_SUCCESS);
        for few in 0..4 {
            let code = call!(s, clSetKernelArg(kernel, 1, few, (&raw const wide).cast()));
            assert_eq!(code, CL_INVALID_ARG_SIZE, "{few} bytes for an int");
        }
        assert_eq!(s.launch(kernel, 1, None), CL_SUCCESS);
        assert_eq!(s.read::<i32>(out, 1), [14]);
    }
}

#[test]
fn no_shared_memory_is_a_list_too() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let kernel = s.kernel(s.program(AXPY), "axpy");
    let set = |what, size, from| call!(s, clSetKernelExecInfo(kernel, what, size, from));
    assert_eq!(set(CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, null()), CL_SUCCESS);
    assert_eq!(set(CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, null()), CL_INVALID_VALUE);
    let pointer = 0usize;
    assert_eq!(set(CL_KERNEL_EXEC_INFO_SVM_PTRS, 7, (&raw const pointer).cast()), CL_INVALID_VALUE);
    assert_eq!(set(CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, 4, null()), CL_INVALID_VALUE);
}

#[test]
fn every_version_of_the_language_compiles_on_every_device() {
    let Some(driver) = driver() else { return };
    for device in 0..driver.devices().len() {
        let s = driver.session(device, 0);
        for version in ["CL1.1", "CL1.2", "CL2.0", "CL3.0"] {
            let (program, code) = s.build(AXPY, &format!("-cl-std={version}"));
            assert_eq!(code, CL_SUCCESS, "device {device}, {version}: {}", s.log(program));
            axpy(&s, s.kernel(program, "axpy"));
        }
    }
}

#[test]
fn a_fault_of_a_kernel_is_an_error_of_the_queue() {
    let Some(driver) = driver() else { return };
    // On the others such a store goes through the buffer's surface, past whose end stores are dropped.
    let s = driver.session_on("Max 1550");
    let source = "kernel void wild(global int *p) { p[get_global_id(0) * 1000000] = 1; }";
    let kernel = s.kernel(s.program(source), "wild");
    let buffer = s.buffer(&[0i32; 16]);
    assert_eq!(s.arg(kernel, 0, &buffer), CL_SUCCESS);
    assert_eq!(s.launch(kernel, 16, None), CL_SUCCESS);
    assert!(s.try_read(buffer, &mut [0i32; 16]) < 0);
    assert_eq!(call!(s, clFinish(s.queue)), CL_OUT_OF_RESOURCES);
    assert_eq!(call!(s, clFinish(s.queue)), CL_SUCCESS);
    assert_eq!(s.read::<i32>(buffer, 1), [1]);
}

/// Of a shuffle by the number of a channel that there is not, only the value is undefined: the launch ends as others do,
/// and shuffles by channels that there are give what they have.
#[test]
fn shuffles_by_channels_that_there_are_not() {
    let Some(driver) = driver() else { return };
    let source = "#pragma OPENCL EXTENSION cl_intel_subgroups : enable
        #ifdef cl_khr_fp64
        typedef double T;
        #else
        typedef float T;
        #endif
        kernel __attribute__((intel_reqd_sub_group_size(16))) void k(global int *p, int by)
        {
            int i = get_global_id(0);
            T stray = intel_sub_group_shuffle((T)i, get_sub_group_local_id() + by);
            p[i] = (int)intel_sub_group_shuffle((T)i, get_sub_group_local_id() ^ 1) + (stray == 0.5f);
        }";
    for device in 0..driver.devices().len() {
        let s = driver.session(device, 0);
        let (program, code) = s.build(source, "");
        assert_eq!(code, CL_SUCCESS, "{}", s.log(program));
        let kernel = s.kernel(program, "k");
        let want: [i32; 16] = std::array::from_fn(|i| i as i32 ^ 1);
        for by in [0i32, 15, 16, 18, 1000, -40] {
            let out = s.buffer(&[-1i32; 16]);
            assert_eq!(s.arg(kernel, 0, &out), CL_SUCCESS);
            assert_eq!(s.arg(kernel, 1, &by), CL_SUCCESS);
            assert_eq!(s.launch(kernel, 16, Some(16)), CL_SUCCESS);
            assert_eq!(call!(s, clFinish(s.queue)), CL_SUCCESS, "device {device}, by {by}");
            assert_eq!(s.read::<i32>(out, 16), want, "device {device}, by {by}");
        }
    }
}
