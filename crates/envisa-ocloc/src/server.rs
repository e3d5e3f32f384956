//! The process that compiles: it keeps the compiler's library loaded and serves requests from its standard
//! input, until that ends.
//!
//! The compiler writes files into its working folder, prints to standard output whatever it is told, and may
//! crash; here nobody else is harmed.
#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::kernel_debug_info;
use crate::protocol::{Request, Response};
use crate::working_folder;

/// Names under which the library is looked for.
const LIBRARIES: &[&str] = &["libocloc.so", "libocloc.so.1"];
/// The code of a response that says that there is no compiler.
pub const NO_COMPILER: i32 = -1_000_001;

/// What is added to a signal that ended a program, as shells do, who may have started it: `ocloc` itself returns negative codes, of which
/// a shell sees the last 8 bits.
pub const SIGNALS: i32 = 128;

type Invoke = unsafe extern "C" fn(
    c_int,
    *const *const c_char,
    u32,
    *const *const u8,
    *const u64,
    *const *const c_char,
    u32,
    *const *const u8,
    *const u64,
    *const *const c_char,
    *mut u32,
    *mut *mut *mut u8,
    *mut *mut u64,
    *mut *mut *mut c_char,
) -> c_int;
type Free = unsafe extern "C" fn(*mut u32, *mut *mut *mut u8, *mut *mut u64, *mut *mut *mut c_char) -> c_int;

/// The compiler's library.
struct Library {
    library: libloading::Library,
}

impl Library {
    fn load() -> Result<Library, String> {
        let mut last = String::new();
        for name in LIBRARIES {
            // SAFETY: the compiler's initialisers are those of any program that uses it.
            match unsafe { libloading::Library::new(*name) } {
                Ok(library) => return Ok(Library { library }),
                Err(e) => last = e.to_string(),
            }
        }
        Err(last)
    }

    fn invoke(&self, request: &Request) -> Result<Response, String> {
        let text = |s: &str| CString::new(s.replace('\0', " ")).unwrap_or_default();
        let mut args = vec![text("ocloc")];
        args.extend(request.args.iter().map(|a| text(a)));
        let pointers: Vec<*const c_char> = args.iter().map(|a| a.as_ptr()).collect();
        let source_names: Vec<CString> = request.sources.iter().map(|(n, _)| text(n)).collect();
        let header_names: Vec<CString> = request.headers.iter().map(|(n, _)| text(n)).collect();
        let names = |names: &[CString]| names.iter().map(|n| n.as_ptr()).collect::<Vec<*const c_char>>();
        let bytes = |files: &[crate::protocol::File]| {
            files.iter().map(|(_, b)| b.as_ptr()).collect::<Vec<*const u8>>()
        };
        let lens =
            |files: &[crate::protocol::File]| files.iter().map(|(_, b)| b.len() as u64).collect::<Vec<u64>>();
        // The library puts headers side by side, and reads each up to a zero.
        let ended = request.headers.iter().map(|(name, text)| (name.clone(), [&text[..], &[0]].concat()));
        let ended: Vec<crate::protocol::File> = ended.collect();
        let (sources, headers) = (bytes(&request.sources), bytes(&ended));
        let (source_lens, header_lens) = (lens(&request.sources), lens(&ended));
        let (source_names, header_names) = (names(&source_names), names(&header_names));
        let mut count = 0u32;
        let mut data: *mut *mut u8 = std::ptr::null_mut();
        let mut sizes: *mut u64 = std::ptr::null_mut();
        let mut titles: *mut *mut c_char = std::ptr::null_mut();
        // SAFETY: the signatures are those of the library's header `ocloc_api.h`; all arrays live until the
        // call returns, and what comes back is `count` entries in each of three arrays.
        unsafe {
            let invoke: libloading::Symbol<Invoke> =
                self.library.get(b"oclocInvoke").map_err(|e| e.to_string())?;
            let free: libloading::Symbol<Free> =
                self.library.get(b"oclocFreeOutput").map_err(|e| e.to_string())?;
            let code = invoke(
                pointers.len() as c_int,
                pointers.as_ptr(),
                sources.len() as u32,
                sources.as_ptr(),
                source_lens.as_ptr(),
                source_names.as_ptr(),
                headers.len() as u32,
                headers.as_ptr(),
                header_lens.as_ptr(),
                header_names.as_ptr(),
                &raw mut count,
                &raw mut data,
                &raw mut sizes,
                &raw mut titles,
            );
            let mut outputs = Vec::new();
            for i in 0..count as usize {
                let title = std::ffi::CStr::from_ptr(*titles.add(i)).to_string_lossy().into_owned();
                let (start, len) = (*data.add(i), *sizes.add(i) as usize);
                let bytes = if start.is_null() { &[][..] } else { std::slice::from_raw_parts(start, len) };
                outputs.push((asked_for(&title), bytes.to_vec()));
            }
            free(&raw mut count, &raw mut data, &raw mut sizes, &raw mut titles);
            Ok(Response { code, outputs, noise: String::new() })
        }
    }
}

/// The name that was asked for: newer versions (23.43 is one) add an ending to it, `-output_no_suffix` or not.
fn asked_for(name: &str) -> String {
    name.strip_suffix(".bin").unwrap_or(name).to_owned()
}

/// Runs another compiler's program on files in the working folder.
fn run(program: &str, request: &Request) -> io::Result<Response> {
    let folder = Path::new("run");
    std::fs::create_dir_all(folder)?;
    for (name, bytes) in request.sources.iter().chain(&request.headers) {
        let path = folder.join(name.trim_start_matches('/'));
        if path.components().any(|c| matches!(c, std::path::Component::ParentDir)) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a name that leads out of the folder"));
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, bytes)?;
    }
    let mut command = Command::new(program);
    command.current_dir(folder).args(&request.args).stdin(Stdio::null());
    if !request.args.iter().any(|a| a == "-out_dir") && request.args.first().is_some_and(|a| a == "compile") {
        command.args(["-out_dir", "out"]);
    }
    let output = command.output()?;
    let mut outputs = Vec::new();
    for place in [folder.join("out"), folder.to_owned()] {
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let given = request.sources.iter().chain(&request.headers).any(|(n, _)| *n == name);
            if entry.path().is_file() && !given {
                outputs.push((asked_for(&name), std::fs::read(entry.path())?));
            }
        }
    }
    let mut log = output.stdout;
    log.extend(output.stderr);
    outputs.push(("stdout.log".into(), log));
    let code = output.status.code().or(output.status.signal().map(|n| SIGNALS + n)).unwrap_or(-1);
    let _ = std::fs::remove_dir_all(folder);
    Ok(Response { code, outputs, noise: String::new() })
}

/// Removes what the compiler left in the working folder.
fn clean_working_folder() {
    for entry in std::fs::read_dir(".").into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if name == "dump" {
            for inner in std::fs::read_dir(path).into_iter().flatten().flatten() {
                let _ = std::fs::remove_file(inner.path());
            }
        } else if name != "noise" {
            let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        }
    }
}

/// Serves requests until standard input ends. The first argument is an empty folder to work in, which is removed at the
/// end; others are environment variables to be set, as `NAME=VALUE`.
///
/// # Errors
/// If the folder cannot be used, or the other side goes away in the middle of a message.
pub fn serve_requests() -> io::Result<()> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
    let folder = std::env::args_os().nth(1).ok_or_else(|| wrong("no folder to work in is given"))?;
    let folder = Path::new(&folder).canonicalize()?;
    // All that is in it will be removed.
    if std::fs::read_dir(&folder)?.next().is_some() {
        return Err(wrong("the folder to work in is not empty"));
    }
    let _held = working_folder::hold(&folder)?;
    let done = serve_in(&folder);
    let _ = std::fs::remove_dir_all(&folder);
    done
}

fn serve_in(folder: &Path) -> io::Result<()> {
    std::env::set_current_dir(folder)?;
    std::fs::create_dir("dump")?;
    let mut noise = File::options().create(true).read(true).append(true).open("noise")?;
    // SAFETY: no other thread runs yet; descriptors 0 to 2 are open in every program that is started with
    // pipes, and the copy belongs to the `File` alone.
    let mut answers = unsafe {
        for argument in std::env::args().skip(2) {
            if let Some((name, value)) = argument.split_once('=') {
                std::env::set_var(name, value);
            }
        }
        // Dumping is what puts the kernels' names into their vISA text.
        std::env::set_var("IGC_ShaderDumpEnable", "1");
        std::env::set_var("IGC_DumpToCustomDir", folder.join("dump"));
        let copy = libc::fcntl(1, libc::F_DUPFD_CLOEXEC, 3);
        if copy < 0 || libc::dup2(noise.as_raw_fd(), 1) < 0 || libc::dup2(noise.as_raw_fd(), 2) < 0 {
            return Err(io::Error::last_os_error());
        }
        File::from_raw_fd(copy)
    };
    let mut library: Option<Result<Library, String>> = None;
    let mut requests = io::BufReader::new(io::stdin().lock());
    loop {
        match requests.fill_buf_is_empty() {
            Ok(true) | Err(_) => return Ok(()),
            Ok(false) => {}
        }
        let request = Request::receive(&mut requests)?;
        let result = match &request.program {
            Some(program) => run(program, &request).map_err(|e| format!("cannot run `{program}`: {e}")),
            None => match library.get_or_insert_with(Library::load) {
                Ok(library) => library.invoke(&request),
                Err(e) => Err(e.clone()),
            },
        };
        let mut response =
            result.unwrap_or_else(|e| Response { code: NO_COMPILER, outputs: Vec::new(), noise: e });
        if response.code != NO_COMPILER {
            let mut bytes = Vec::new();
            noise.rewind()?;
            noise.read_to_end(&mut bytes)?;
            noise.set_len(0)?;
            response.noise = String::from_utf8_lossy(&bytes).into_owned();
            for (name, bytes) in &mut response.outputs {
                if name == "module" {
                    *bytes = kernel_debug_info::with_debug_information(
                        std::mem::take(bytes),
                        &folder.join("dump"),
                    );
                }
            }
            kernel_debug_info::remove_copies(std::process::id(), &folder.join("dump"));
        }
        response.send(&mut answers)?;
        answers.flush()?;
        clean_working_folder();
    }
}

/// Whether a reader is at its end.
trait AtEnd {
    fn fill_buf_is_empty(&mut self) -> io::Result<bool>;
}

impl<T: io::BufRead> AtEnd for T {
    fn fill_buf_is_empty(&mut self) -> io::Result<bool> {
        Ok(self.fill_buf()?.is_empty())
    }
}
