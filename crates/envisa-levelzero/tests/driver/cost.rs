//! What a launch costs: on an immediate list, and through the OpenCL driver, in turns in one process.

use std::io::Write as _;
use std::time::Instant;

use crate::ze::*;

const TEXT: &str = "kernel void add(global unsigned *x, unsigned v) { x[get_global_id(0)] += v; }\0";
/// Launches that are measured together, and how often both take turns.
const LAUNCHES: u32 = 2000;
const TURNS: usize = 15;
/// What times differ by when nothing does.
const NOISE: f64 = 1.1;

/// A queue of the OpenCL driver with a kernel.
struct OpenCl {
    launch: *const std::ffi::c_void,
    finish: *const std::ffi::c_void,
    queue: usize,
    kernel: usize,
}

impl OpenCl {
    /// Through the system's loader; `None` (said aloud) without it or the driver.
    fn new(group: usize) -> Option<OpenCl> {
        let missing = |what: &str| {
            assert!(std::env::var_os("ENVISA_REQUIRE_ORACLES").is_none(), "{what} is needed");
            let _ = writeln!(std::io::stderr(), "NOT RUN: {what} is missing");
        };
        let Some(driver) = beside("libenvisa_opencl.so") else {
            missing("the OpenCL driver (`cargo build -p envisa-opencl`)");
            return None;
        };
        // SAFETY: functions are called as the specification says; the variable is set before the loader reads it.
        unsafe {
            // Khronos' loader looks at the first, Debian's (ocl-icd) takes a library for the second.
            std::env::set_var("OCL_ICD_FILENAMES", &driver);
            std::env::set_var("OCL_ICD_VENDORS", &driver);
            let Ok(library) = libloading::Library::new("libOpenCL.so.1") else {
                missing("OpenCL's loader (libOpenCL.so.1)");
                return None;
            };
            let library = Box::leak(Box::new(library));
            let function = |name: &str| {
                let symbol =
                    library.get::<unsafe extern "C" fn()>(name.as_bytes()).expect("the loader has it");
                *symbol as *const std::ffi::c_void
            };
            // Such as return an object.
            let make = |name: &str, args: &[usize]| {
                let f: unsafe extern "C" fn(usize, usize, usize, usize, usize, usize) -> usize =
                    std::mem::transmute(function(name));
                let mut a = [0; 6];
                a[..args.len()].copy_from_slice(args);
                f(a[0], a[1], a[2], a[3], a[4], a[5])
            };
            let ok = |name: &str, args: &[usize]| assert_eq!(call(function(name), args), 0, "{name}");
            let (mut platform, mut device) = (0usize, 0usize);
            ok("clGetPlatformIDs", &[1, at(&mut platform), 0]);
            ok("clGetDeviceIDs", &[platform, 4, 1, at(&mut device), 0]);
            let context = make("clCreateContext", &[0, 1, of(&device), 0, 0, 0]);
            let queue = make("clCreateCommandQueue", &[context, device, 0, 0]);
            let text = TEXT.as_ptr() as usize;
            let program = make("clCreateProgramWithSource", &[context, 1, of(&text), 0, 0]);
            ok("clBuildProgram", &[program, 1, of(&device), 0, 0, 0]);
            let kernel = make("clCreateKernel", &[program, c"add".as_ptr() as usize, 0]);
            let buffer = make("clCreateBuffer", &[context, 1, 4 * group * 64, 0, 0]);
            ok("clSetKernelArg", &[kernel, 0, 8, of(&buffer)]);
            ok("clSetKernelArg", &[kernel, 1, 4, of(&3u32)]);
            Some(OpenCl {
                launch: function("clEnqueueNDRangeKernel"),
                finish: function("clFinish"),
                queue,
                kernel,
            })
        }
    }

    fn launches(&self, groups: usize, group: usize) -> f64 {
        let (all, one) = (groups * group, group);
        let launch = [self.queue, self.kernel, 1, 0, of(&all), of(&one), 0, 0, 0];
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            // SAFETY: as the specification says.
            unsafe {
                assert_eq!(call(self.launch, &launch), 0);
                assert_eq!(call(self.finish, &[self.queue]), 0);
            }
        }
        start.elapsed().as_secs_f64() / f64::from(LAUNCHES)
    }
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

#[test]
#[ignore = "it measures times, on a machine that does nothing else"]
fn a_launch_on_an_immediate_list_costs_no_more_than_through_opencl() {
    let Some(d) = driver() else { return };
    let group = 256;
    let Some(cl) = OpenCl::new(group) else { return };
    let kernel = d.kernel(d.program(TEXT.trim_end_matches('\0')), "add", group);
    let x = d.shared(&vec![0u32; group * 64]);
    d.arg(kernel, 0, x.as_ptr());
    d.arg(kernel, 1, 3u32);
    let list = d.immediate(0);
    let launch = d.function("zeCommandListAppendLaunchKernel");
    let finish = d.function("zeCommandListHostSynchronize");
    let here = |groups: u32| {
        let groups = [groups, 1, 1];
        let args = [list, kernel, of(&groups), 0, 0, 0];
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            // SAFETY: as the specification says.
            unsafe {
                assert_eq!(call(launch, &args), SUCCESS);
                assert_eq!(call(finish, &[list, FOREVER]), SUCCESS);
            }
        }
        start.elapsed().as_secs_f64() / f64::from(LAUNCHES)
    };
    for groups in [1u32, 64] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            ours.push(here(groups));
            theirs.push(cl.launches(groups as usize, group));
        }
        let ratio = median(ours.iter().zip(&theirs).map(|(o, t)| o / t).collect());
        let (ours, theirs) = (1e6 * median(ours), 1e6 * median(theirs));
        writeln!(
            std::io::stderr(),
            "{groups} groups: {ours:.2} us on an immediate list, {theirs:.2} us through OpenCL, ratio {ratio:.2}"
        )
        .expect("somebody reads");
        assert!(ratio <= NOISE, "{groups} groups cost {ratio:.2} times as much");
    }
    // Each launch was done: of the first group twice as often.
    let each = 3 * LAUNCHES * TURNS as u32;
    assert_eq!((x[0], x[group], x[64 * group - 1]), (2 * each, each, each));
}
