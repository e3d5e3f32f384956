//! OpenCL for tests: the loader, a device, short ways for what every test does.

use std::ffi::{CString, c_void};
use std::io::Write as _;
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

pub use opencl_sys::cl_icd::cl_icd_dispatch;
pub use opencl_sys::*;

/// The driver, as the loader found it.
pub struct Driver {
    /// Every entry point.
    pub api: &'static cl_icd_dispatch,
    /// The platform.
    pub platform: usize,
}

/// The files under test.
fn files() -> (PathBuf, PathBuf) {
    let own = std::env::current_exe().expect("the test is a file");
    let folder = own.parent().expect("it is in a folder");
    let name = "libenvisa_opencl.so";
    let places = [folder.join(name), folder.join("..").join(name)];
    let driver = places.iter().find(|p| p.is_file()).expect("the driver is built with its tests");
    (driver.canonicalize().expect("it is there"), PathBuf::from(env!("CARGO_BIN_EXE_envisa-compiler")))
}

pub fn missing(what: &str) -> Option<Driver> {
    assert!(std::env::var_os("ENVISA_REQUIRE_ORACLES").is_none(), "{what} is needed");
    let _ = writeln!(std::io::stderr(), "NOT RUN: {what} is missing");
    None
}

/// The driver through the system's loader; `None` (said aloud) where there is no loader or no compiler.
pub fn driver() -> Option<&'static Driver> {
    static DRIVER: OnceLock<Option<Driver>> = OnceLock::new();
    DRIVER
        // SAFETY: the libraries' constructors may run at any time; variables are set before anything reads them, once.
        .get_or_init(|| unsafe {
            if libloading::Library::new("libocloc.so").is_err() {
                return missing("Intel's compiler (libocloc.so)");
            }
            let (driver, compiler) = files();
            // The process's, to its end: among what is built, where `cargo clean` finds it.
            let vendors = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"));
            let vendors = vendors.expect("a folder can be made").keep();
            std::fs::write(vendors.join("envisa.icd"), driver.display().to_string()).expect("written");
            // Nothing has called OpenCL yet, and only this function sets variables.
            std::env::set_var("OCL_ICD_VENDORS", &vendors);
            std::env::set_var("OCL_ICD_FILENAMES", &driver);
            // Under a sanitizer another one is given: Intel's compiler is none of what is looked at.
            if std::env::var_os("ENVISA_COMPILER").is_none() {
                std::env::set_var("ENVISA_COMPILER", &compiler);
            }
            std::env::set_var("ENVISA_CACHE", vendors.join("cache"));
            loaded()
        })
        .as_ref()
}

/// The driver that the environment names, through the system's loader; `None` (said aloud) without a loader.
pub fn loaded() -> Option<Driver> {
    // SAFETY: the loader's functions are called with the types that OpenCL gives them.
    unsafe {
        let Ok(loader) = libloading::Library::new("libOpenCL.so.1") else {
            return missing("an OpenCL loader (libOpenCL.so.1)");
        };
        type GetPlatforms = unsafe extern "C" fn(u32, *mut cl_platform_id, *mut u32) -> i32;
        let get: libloading::Symbol<GetPlatforms> = loader.get(b"clGetPlatformIDs").expect("in it");
        let mut platforms = [null_mut(); 8];
        let mut count = 0;
        assert_eq!(get(8, platforms.as_mut_ptr(), &raw mut count), CL_SUCCESS);
        let name = |p: cl_platform_id| {
            let api = &**p.cast::<*const cl_icd_dispatch>();
            text(|size, to, ret| api.clGetPlatformInfo.unwrap()(p, CL_PLATFORM_NAME, size, to, ret))
        };
        let found = platforms[..count as usize].iter().find(|p| name(**p).contains("envisa"));
        let platform = *found.expect("the loader found the driver");
        let api: &'static cl_icd_dispatch = &**platform.cast::<*const cl_icd_dispatch>();
        std::mem::forget(loader);
        Some(Driver { api, platform: platform as usize })
    }
}

/// What an information query gives, as bytes.
pub fn bytes(query: impl Fn(usize, *mut c_void, *mut usize) -> i32) -> Vec<u8> {
    let mut size = 0;
    assert_eq!(query(0, null_mut(), &raw mut size), CL_SUCCESS);
    let mut bytes = vec![0u8; size];
    assert_eq!(query(size, bytes.as_mut_ptr().cast(), null_mut()), CL_SUCCESS);
    bytes
}

/// As [`bytes`], as a text.
pub fn text(query: impl Fn(usize, *mut c_void, *mut usize) -> i32) -> String {
    let mut bytes = bytes(query);
    assert_eq!(bytes.pop(), Some(0), "texts end with a zero");
    String::from_utf8(bytes).expect("texts are UTF-8")
}

/// A context and a queue on one device.
pub struct Session {
    pub api: &'static cl_icd_dispatch,
    pub device: cl_device_id,
    pub context: cl_context,
    pub queue: cl_command_queue,
}

/// Calls an entry point of a session or driver.
macro_rules! call {
    ($s:expr, $name:ident($($arg:expr),* $(,)?)) => {
        // SAFETY: the driver holds for wrong handles; pointers are of live values or null, as the entry point wants.
        unsafe { $s.api.$name.unwrap()($($arg),*) }
    };
}
pub(crate) use call;

/// Calls one that gives a handle; the code is checked.
macro_rules! make {
    ($s:expr, $name:ident($($arg:expr),* $(,)?)) => {{
        let mut code = 1;
        // SAFETY: as of `call`.
        let made = unsafe { $s.api.$name.unwrap()($($arg,)* &raw mut code) };
        assert_eq!(code, opencl_sys::CL_SUCCESS, stringify!($name));
        made
    }};
}
#[allow(unused_imports, reason = "not every test makes its own objects")]
pub(crate) use make;

impl Driver {
    /// Every device.
    pub fn devices(&self) -> Vec<cl_device_id> {
        let mut devices = [null_mut(); 16];
        let mut count = 0;
        let platform = self.platform as cl_platform_id;
        let code = call!(
            self,
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 16, devices.as_mut_ptr(), &raw mut count)
        );
        assert_eq!(code, CL_SUCCESS);
        devices[..count as usize].to_vec()
    }

    /// A session on a device, its queue with these flags.
    pub fn session(&self, device: usize, flags: u64) -> Session {
        let device = self.devices()[device];
        let context = make!(self, clCreateContext(null(), 1, &raw const device, None, null_mut()));
        let queue = make!(self, clCreateCommandQueue(context, device, flags));
        Session { api: self.api, device, context, queue }
    }

    /// A session on the device whose name has this in it.
    pub fn session_on(&self, part: &str) -> Session {
        let named = |device: &cl_device_id| {
            text(|n, to, ret| call!(self, clGetDeviceInfo(*device, CL_DEVICE_NAME, n, to, ret)))
                .contains(part)
        };
        let device = self.devices().iter().position(named).expect("there is such a device");
        self.session(device, 0)
    }
}

impl Session {
    /// A built program.
    pub fn program(&self, source: &str) -> cl_program {
        let (program, code) = self.build(source, "");
        assert_eq!(code, CL_SUCCESS, "{}", self.log(program));
        program
    }

    /// A program, and what building it gave.
    pub fn build(&self, source: &str, options: &str) -> (cl_program, i32) {
        let source = CString::new(source).unwrap();
        let options = CString::new(options).unwrap();
        let mut start = source.as_ptr();
        let program = make!(self, clCreateProgramWithSource(self.context, 1, &raw mut start, null()));
        let code = call!(self, clBuildProgram(program, 0, null(), options.as_ptr(), None, null_mut()));
        (program, code)
    }

    /// A program's build log.
    pub fn log(&self, program: cl_program) -> String {
        text(|size, to, ret| {
            call!(self, clGetProgramBuildInfo(program, self.device, CL_PROGRAM_BUILD_LOG, size, to, ret))
        })
    }

    /// A kernel of a program.
    pub fn kernel(&self, program: cl_program, name: &str) -> cl_kernel {
        let name = CString::new(name).unwrap();
        make!(self, clCreateKernel(program, name.as_ptr()))
    }

    /// A buffer with this content.
    pub fn buffer<T: Copy>(&self, content: &[T]) -> cl_mem {
        let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
        let start = content.as_ptr().cast_mut().cast();
        make!(self, clCreateBuffer(self.context, flags, size_of_val(content), start))
    }

    /// Sets an argument.
    pub fn arg<T>(&self, kernel: cl_kernel, index: u32, value: &T) -> i32 {
        call!(self, clSetKernelArg(kernel, index, size_of::<T>(), std::ptr::from_ref(value).cast()))
    }

    /// Launches in one dimension.
    pub fn launch(&self, kernel: cl_kernel, global: usize, local: Option<usize>) -> i32 {
        let local = local.as_ref().map_or(null(), std::ptr::from_ref);
        call!(
            self,
            clEnqueueNDRangeKernel(
                self.queue,
                kernel,
                1,
                null(),
                &raw const global,
                local,
                0,
                null(),
                null_mut()
            )
        )
    }

    /// The content of a buffer, once all before is done.
    pub fn read<T: Copy + Default>(&self, buffer: cl_mem, n: usize) -> Vec<T> {
        let mut out = vec![T::default(); n];
        let code = self.try_read(buffer, &mut out);
        assert_eq!(code, CL_SUCCESS);
        out
    }

    /// As [`Session::read`], with the code.
    pub fn try_read<T: Copy>(&self, buffer: cl_mem, out: &mut [T]) -> i32 {
        let bytes = size_of_val(out);
        call!(
            self,
            clEnqueueReadBuffer(
                self.queue,
                buffer,
                CL_TRUE,
                0,
                bytes,
                out.as_mut_ptr().cast(),
                0,
                null(),
                null_mut()
            )
        )
    }

    /// A function of an extension.
    pub fn extension<F: Copy>(&self, driver: &Driver, name: &str) -> F {
        assert_eq!(size_of::<F>(), size_of::<usize>());
        let text = CString::new(name).unwrap();
        let platform = driver.platform as cl_platform_id;
        let address = call!(self, clGetExtensionFunctionAddressForPlatform(platform, text.as_ptr()));
        assert!(!address.is_null(), "{name}");
        // SAFETY: an address is as large as the pointer to a function that it is; the caller names its type.
        unsafe { std::mem::transmute_copy(&address) }
    }
}
