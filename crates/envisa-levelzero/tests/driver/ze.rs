//! Level Zero for tests: the driver by its tables, as the loader takes it; a device, and short ways for what every test
//! does.

use std::ffi::{CString, c_void};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use envisa_ocloc::{Input, Output, Service};

/// Results.
pub const SUCCESS: u32 = 0;
pub const NOT_READY: u32 = 1;
pub const LOST: u32 = 0x7000_0001;
pub const BUILD_FAILURE: u32 = 0x7000_0004;
pub const INVALID: u32 = 0x7800_0004;
pub const NULL_HANDLE: u32 = 0x7800_0005;
pub const NULL_POINTER: u32 = 0x7800_0007;
pub const SIZE: u32 = 0x7800_0008;
pub const FOREVER: usize = usize::MAX;

/// The driver with its device and context.
pub struct Driver {
    library: libloading::Library,
    pub driver: usize,
    pub device: usize,
    pub context: usize,
}

fn missing(what: &str) -> Option<Driver> {
    assert!(std::env::var_os("ENVISA_REQUIRE_ORACLES").is_none(), "{what} is needed");
    let _ = writeln!(std::io::stderr(), "NOT RUN: {what} is missing");
    None
}

/// A file that was built beside the test.
pub fn beside(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().expect("the test is a file");
    let folder = own.parent().expect("it is in a folder");
    [folder.join(name), folder.join("..").join(name)].iter().find_map(|p| p.canonicalize().ok())
}

/// The entry of a table.
unsafe fn table(library: &libloading::Library, get: &str, index: usize) -> *const c_void {
    type Get = unsafe extern "C" fn(u32, *mut *const c_void) -> u32;
    let mut entries = [std::ptr::null(); 64];
    // SAFETY: no table has more entries.
    unsafe {
        let get: libloading::Symbol<Get> = library.get(get.as_bytes()).expect("it is exported");
        assert_eq!(get(1 << 16 | 14, entries.as_mut_ptr()), SUCCESS);
    }
    entries[index]
}

/// Calls a function with numbers and pointers: all of them are passed in the same places as such numbers.
pub unsafe fn call(function: *const c_void, args: &[usize]) -> u32 {
    assert!(args.len() <= 14);
    let mut a = [0; 14];
    a[..args.len()].copy_from_slice(args);
    type F = unsafe extern "C" fn(
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
        usize,
    ) -> u32;
    // SAFETY: whoever calls has what the function wants; more arguments than it has are left alone.
    unsafe {
        let f: F = std::mem::transmute(function);
        f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13])
    }
}

/// The driver; `None` (said aloud) without Intel's compiler and its helper.
pub fn driver() -> Option<&'static Driver> {
    static DRIVER: OnceLock<Option<Driver>> = OnceLock::new();
    // SAFETY: the libraries' constructors may run at any time; variables are set before anything reads them, once.
    DRIVER.get_or_init(|| unsafe {
        if libloading::Library::new("libocloc.so").is_err() {
            return missing("Intel's compiler (libocloc.so)");
        }
        if std::env::var_os("ENVISA_COMPILER").is_none() {
            let Some(helper) = beside("envisa-compiler") else {
                return missing("the compiler's helper (`cargo build -p envisa-opencl`)");
            };
            std::env::set_var("ENVISA_COMPILER", helper);
        }
        std::env::set_var("ENVISA_DEVICES", "skl,dg2");
        let library = beside("libenvisa_ze.so").expect("the driver is built with its tests");
        let library = libloading::Library::new(library).expect("it can be opened");
        assert_eq!(call(table(&library, "zeGetGlobalProcAddrTable", 0), &[0]), SUCCESS);
        let (mut n, mut driver) = (1u32, 0usize);
        let get = table(&library, "zeGetDriverProcAddrTable", 0);
        assert_eq!(call(get, &[at(&mut n), at(&mut driver)]), SUCCESS);
        let mut d = Driver { library, driver, device: 0, context: 0 };
        let mut devices = [0usize; 2];
        n = 2;
        d.ok("zeDeviceGet", &[driver, at(&mut n), at(&mut devices)]);
        assert_eq!(n, 2);
        d.device = devices[0];
        d.context = d.make("zeContextCreate", &[driver, zeros()]);
        Some(d)
    });
    DRIVER.get().and_then(Option::as_ref)
}

/// The address of something that a call reads or writes.
pub fn at<T: ?Sized>(of: &mut T) -> usize {
    std::ptr::from_mut(of).cast::<u8>() as usize
}

/// As [`at`], of what is only read.
pub fn of<T: ?Sized>(of: &T) -> usize {
    std::ptr::from_ref(of).cast::<u8>() as usize
}

/// A description in which nothing is said.
pub fn zeros() -> usize {
    static ZEROS: [u64; 16] = [0; 16];
    of(&ZEROS)
}

/// SPIR-V of a text.
pub fn spirv(text: &str) -> Vec<u8> {
    static SERVICE: Mutex<Option<Service>> = Mutex::new(None);
    let mut service = SERVICE.lock().unwrap();
    let helper = std::env::var_os("ENVISA_COMPILER").map(PathBuf::from);
    let service = service.get_or_insert_with(|| Service::new(helper, None));
    let input = Input::Source(text.as_bytes(), &[]);
    service.compile("skl", &input, "-cl-std=CL2.0", Output::Spirv).expect("it compiles").bytes
}

impl Driver {
    /// A function by its name.
    pub fn function(&self, name: &str) -> *const c_void {
        let text = CString::new(name).unwrap();
        let mut to = 0usize;
        // SAFETY: the fifth entry of this table, called as the specification says.
        let result = unsafe {
            let get = table(&self.library, "zeGetDriverProcAddrTable", 5);
            call(get, &[self.driver, text.as_ptr() as usize, at(&mut to)])
        };
        assert_eq!(result, SUCCESS, "{name} is there");
        to as *const c_void
    }

    /// Calls a function.
    pub fn call(&self, name: &str, args: &[usize]) -> u32 {
        // SAFETY: tests pass what the specification says, or what must be refused.
        unsafe { call(self.function(name), args) }
    }

    /// Calls a function that must succeed.
    pub fn ok(&self, name: &str, args: &[usize]) {
        assert_eq!(self.call(name, args), SUCCESS, "{name}");
    }

    /// Calls a function that has 64 bytes as a value: they are on the stack, where the seventh number is, too.
    pub fn call_with(&self, name: &str, numbers: &[usize], value: &[u64; 8]) -> u32 {
        let mut args = [0; 14];
        args[..numbers.len()].copy_from_slice(numbers);
        for (to, word) in args[6..].iter_mut().zip(value) {
            *to = *word as usize;
        }
        self.call(name, &args)
    }

    /// A regular list; what follows its description, if something does.
    pub fn regular(&self, next: usize) -> usize {
        self.make("zeCommandListCreate", &[self.context, self.device, of(&[0u64, next as u64, 0])])
    }

    /// A queue.
    pub fn queue(&self) -> usize {
        self.make("zeCommandQueueCreate", &[self.context, self.device, of(&[0u64, 0, 0, 2 << 32, 0])])
    }

    /// Executes a closed list, and waits for its end.
    pub fn execute(&self, queue: usize, list: usize) {
        self.ok("zeCommandQueueExecuteCommandLists", &[queue, 1, of(&list), 0]);
        self.ok("zeCommandQueueSynchronize", &[queue, FOREVER]);
    }

    /// Makes an object: its handle comes back through the last argument.
    pub fn make(&self, name: &str, args: &[usize]) -> usize {
        let mut handle = 0usize;
        let args: Vec<usize> = args.iter().copied().chain([at(&mut handle)]).collect();
        self.ok(name, &args);
        assert_ne!(handle, 0);
        handle
    }

    /// Shared memory with this content.
    pub fn shared<T: Copy>(&self, content: &[T]) -> &'static mut [T] {
        let bytes = size_of_val(content);
        let args = [self.context, zeros(), zeros(), bytes, 64, self.device];
        let address = self.make("zeMemAllocShared", &args);
        // SAFETY: as many bytes were allocated, and nobody frees them but the test at its end.
        let all = unsafe { std::slice::from_raw_parts_mut(address as *mut T, content.len()) };
        all.copy_from_slice(content);
        all
    }

    /// Makes a module; its result, handle and log.
    pub fn module(&self, format: u32, bytes: &[u8]) -> (u32, usize, String) {
        let desc = [0, 0, u64::from(format), bytes.len() as u64, bytes.as_ptr() as u64, 0, 0];
        let (mut module, mut log) = (0usize, 0usize);
        let args = [self.context, self.device, of(&desc), at(&mut module), at(&mut log)];
        let result = self.call("zeModuleCreate", &args);
        let mut n = 0usize;
        self.ok("zeModuleBuildLogGetString", &[log, at(&mut n), 0]);
        let mut text = vec![0u8; n];
        self.ok("zeModuleBuildLogGetString", &[log, at(&mut n), at(&mut text[..])]);
        self.ok("zeModuleBuildLogDestroy", &[log]);
        assert_eq!(text.pop(), Some(0));
        (result, module, String::from_utf8(text).unwrap())
    }

    /// A module of a text.
    pub fn program(&self, text: &str) -> usize {
        let (result, module, log) = self.module(0, &spirv(text));
        assert_eq!(result, SUCCESS, "{log}");
        module
    }

    /// A kernel with groups of a size.
    pub fn kernel(&self, module: usize, name: &str, group: usize) -> usize {
        let name = CString::new(name).unwrap();
        let kernel = self.make("zeKernelCreate", &[module, of(&[0, 0, 0, name.as_ptr() as u64])]);
        self.ok("zeKernelSetGroupSize", &[kernel, group, 1, 1]);
        kernel
    }

    /// Sets an argument.
    pub fn arg<T: Copy>(&self, kernel: usize, index: usize, value: T) {
        self.ok("zeKernelSetArgumentValue", &[kernel, index, size_of::<T>(), of(&value)]);
    }

    /// An immediate list: of mode 0, or 1 (it waits for each command).
    pub fn immediate(&self, mode: u64) -> usize {
        let desc = [0u64, 0, 0, 2 | mode << 32, 0];
        self.make("zeCommandListCreateImmediate", &[self.context, self.device, of(&desc)])
    }

    /// Events of a pool with timestamps.
    pub fn events(&self, n: usize) -> Vec<usize> {
        self.pool(n).1
    }

    /// A pool with timestamps, and its events.
    pub fn pool(&self, n: usize) -> (usize, Vec<usize>) {
        let pool =
            self.make("zeEventPoolCreate", &[self.context, of(&[0u64, 0, 5 | (n as u64) << 32]), 0, 0]);
        (pool, (0..n as u64).map(|i| self.make("zeEventCreate", &[pool, of(&[0, 0, i, 0])])).collect())
    }

    /// Appends a launch of so many groups.
    pub fn launch(&self, list: usize, kernel: usize, groups: u32, signal: usize, waits: &[usize]) {
        let groups = [groups, 1, 1];
        let args = [list, kernel, of(&groups), signal, waits.len(), waits.as_ptr() as usize];
        self.ok("zeCommandListAppendLaunchKernel", &args);
    }
}
