//! The OpenCL driver for tests, through the system's loader: the other interface to the same devices.

use std::ffi::{CString, c_void};
use std::io::Write as _;

use crate::ze::{at, beside, call, of};

/// A device of the OpenCL driver with a context and a queue.
pub struct OpenCl {
    /// Never closed: the driver's threads run on.
    library: &'static libloading::Library,
    device: usize,
    context: usize,
    pub queue: usize,
}

impl OpenCl {
    /// The first device; `None` (said aloud) without the loader or the driver.
    pub fn new() -> Option<OpenCl> {
        let missing = |what: &str| {
            assert!(std::env::var_os("ENVISA_REQUIRE_ORACLES").is_none(), "{what} is needed");
            let _ = writeln!(std::io::stderr(), "NOT RUN: {what} is missing");
        };
        let Some(driver) = beside("libenvisa_opencl.so") else {
            missing("the OpenCL driver (`cargo build -p envisa-opencl`)");
            return None;
        };
        // SAFETY: the library's constructors may run at any time; the variables are set before the loader reads them.
        let library = unsafe {
            // Khronos' loader looks at the first, Debian's (ocl-icd) takes a library for the second.
            std::env::set_var("OCL_ICD_FILENAMES", &driver);
            std::env::set_var("OCL_ICD_VENDORS", &driver);
            libloading::Library::new("libOpenCL.so.1")
        };
        let Ok(library) = library else {
            missing("OpenCL's loader (libOpenCL.so.1)");
            return None;
        };
        let library = Box::leak(Box::new(library));
        let mut cl = OpenCl { library, device: 0, context: 0, queue: 0 };
        let mut platform = 0usize;
        cl.ok("clGetPlatformIDs", &[1, at(&mut platform), 0]);
        let mut device = 0usize;
        cl.ok("clGetDeviceIDs", &[platform, 4, 1, at(&mut device), 0]);
        cl.device = device;
        cl.context = cl.make("clCreateContext", &[0, 1, of(&device), 0, 0, 0]);
        cl.queue = cl.make("clCreateCommandQueue", &[cl.context, device, 0, 0]);
        Some(cl)
    }

    /// A function by its name.
    pub fn function(&self, name: &str) -> *const c_void {
        // SAFETY: it is taken for an address alone.
        let symbol = unsafe { self.library.get::<unsafe extern "C" fn()>(name.as_bytes()) };
        *symbol.expect("the loader has it") as *const c_void
    }

    /// Calls a function that must succeed.
    pub fn ok(&self, name: &str, args: &[usize]) {
        // SAFETY: tests pass what the specification says.
        assert_eq!(unsafe { call(self.function(name), args) }, 0, "{name}");
    }

    /// Calls a function that returns an object.
    fn make(&self, name: &str, args: &[usize]) -> usize {
        let mut a = [0; 6];
        a[..args.len()].copy_from_slice(args);
        // SAFETY: as above; what the specification says is a pointer comes back.
        let object = unsafe {
            let f: unsafe extern "C" fn(usize, usize, usize, usize, usize, usize) -> usize =
                std::mem::transmute(self.function(name));
            f(a[0], a[1], a[2], a[3], a[4], a[5])
        };
        assert_ne!(object, 0, "{name}");
        object
    }

    /// A program of SPIR-V.
    pub fn program(&self, bytes: &[u8]) -> usize {
        let program =
            self.make("clCreateProgramWithIL", &[self.context, bytes.as_ptr() as usize, bytes.len(), 0]);
        self.ok("clBuildProgram", &[program, 1, of(&self.device), 0, 0, 0]);
        program
    }

    /// A kernel.
    pub fn kernel(&self, program: usize, name: &str) -> usize {
        let name = CString::new(name).unwrap();
        self.make("clCreateKernel", &[program, name.as_ptr() as usize, 0])
    }

    /// A buffer with this content.
    pub fn buffer<T: Copy>(&self, content: &[T]) -> usize {
        let copied = 1 | 1 << 5;
        self.make("clCreateBuffer", &[self.context, copied, size_of_val(content), of(content), 0])
    }

    /// Sets an argument.
    pub fn arg<T: Copy>(&self, kernel: usize, index: usize, value: T) {
        self.ok("clSetKernelArg", &[kernel, index, size_of::<T>(), of(&value)]);
    }

    /// Launches a kernel.
    pub fn launch(&self, kernel: usize, groups: usize, group: usize) {
        let all = groups * group;
        self.ok("clEnqueueNDRangeKernel", &[self.queue, kernel, 1, 0, of(&all), of(&group), 0, 0, 0]);
    }

    /// Reads a buffer, when all before is done.
    pub fn read<T: Copy>(&self, buffer: usize, to: &mut [T]) {
        self.ok("clEnqueueReadBuffer", &[self.queue, buffer, 1, 0, size_of_val(to), at(to), 0, 0, 0]);
    }
}
