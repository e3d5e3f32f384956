//! `envisa exec` end to end: a program that knows nothing of envisa, found by the system's loader, with and without
//! mistakes. The program is this test itself, run again by the command.
//!
//! It needs the command next to the driver, as `cargo test --workspace` builds both; where it is missing, the tests
//! say that they did not run, and fail where `ENVISA_REQUIRE_ORACLES` is set.
#![allow(
    unsafe_code,
    unused_unsafe,
    dead_code,
    reason = "calls a C interface; shares its ways with another test"
)]

#[path = "driver/cl.rs"]
mod cl;
#[path = "exec/compilers.rs"]
mod compilers;
#[path = "exec/debugged.rs"]
mod debugged;
#[path = "exec/memory.rs"]
mod memory;
#[path = "exec/reduced.rs"]
mod reduced;
#[path = "exec/undefined.rs"]
mod undefined;
#[path = "exec/waiting.rs"]
mod waiting;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::ptr::{null, null_mut};

use cl::*;

const SOURCE: &str = r#"
kernel void twice(global int *x) {
    size_t i = get_global_id(0);
    x[i] *= 2;
    if (i % 32 == 0) printf("item %d\n", (int)i);
}
kernel void race(global int *x, local int *l) {
    int i = get_local_id(0);
    l[i] = x[i];
    x[i] = l[63 - i];
}
kernel void wild(global int *x) {
    *(global int *)((ulong)x + 0x700000000000UL) = 1;
}
kernel void copied(global int *x, global int *y) { y[get_global_id(0)] = x[get_global_id(0)]; }
kernel void recopied(global int *x, volatile global int *y) {
    size_t i = get_global_id(0);
    y[i] = x[i];
    y[i] = (int)i;
}
kernel void swizzled(global int4 *x) { x[get_global_id(0)].xyz = (int3)(1, 1, 1); }
kernel void three(global int *x) { vstore3((int3)(1, 1, 1), get_global_id(0), x); }
typedef struct { char a; short b; int c[2]; } record;
kernel void member(global record *x) {
    int i = get_global_id(0);
    x[i].b = 257;
    x[i].c[1] = 1;
}
typedef struct { char a; int b; short c; long d; } gaps;
kernel void gapped(global gaps *x) { int i = get_global_id(0); x[i].a = 1; x[i].b = 2; x[i].c = 3; x[i].d = 4; }
kernel void first(global int2 *x) { x[get_global_id(0)].x = 1; }
kernel void beyond(global int *x, int n) { x[get_global_id(0) + n] = 1; }
kernel void stuck(global int *x) { while (*(volatile global int *)x == 0) {} }
"#;

/// What the program does is in its environment.
#[test]
#[ignore = "the program that the other tests run"]
fn program() {
    let wanted = std::env::var("PROGRAM_DOES").expect("run by a test");
    let does = |what: &str| wanted.split(' ').any(|w| w == what);
    let driver = loaded().expect("the command set up the loader");
    let s = driver.session(0, 0);
    let program = s.program(SOURCE);
    let x = s.buffer(&[1i32; 64]);
    let twice = s.kernel(program, "twice");
    assert_eq!(s.arg(twice, 0, &x), CL_SUCCESS);
    for round in 0..2 {
        println!("round {round}");
        assert_eq!(s.launch(twice, 64, Some(16)), CL_SUCCESS);
        call!(s, clFinish(s.queue));
    }
    assert_eq!(s.read::<i32>(x, 64), [4; 64]);
    call!(s, clReleaseKernel(twice));
    launches(&s, program, x, &does);
    calls_fail(&s, program, x, &does);
    if does("many") {
        many(&s);
    }
    if does("spirv") {
        spirv(&s);
    }
    if does("queues") {
        queues(&s, program, does("ordered"));
    }
    memory::memory(&s, program, x, &does);
    undefined::undefined(&s, program, x, &does);
    waiting::waiting(&s, program, x, &does);
    if does("unawaited") {
        let to: &mut [i32; 64] = Box::leak(Box::new([0; 64]));
        let to = to.as_mut_ptr().cast();
        call!(s, clEnqueueReadBuffer(s.queue, x, CL_FALSE, 0, 256, to, 0, null(), null_mut()));
        if does("ordered") {
            call!(s, clFinish(s.queue));
        }
    }
    if does("links") {
        links(&s);
    }
    if does("unnamed") {
        unnamed(&s);
    }
    if does("linked") {
        linked(&s);
    }
    if does("keep") {
        let to = std::env::var("PROGRAM_KEEPS").expect("a file");
        std::fs::write(to, binary(&s, program)).expect("written");
    }
    if does("late") {
        let (api, context) = (s.api, s.context as usize);
        let thread = std::thread::spawn(move || {
            // Made before the driver's variables of this thread, it is dropped after them.
            LATE.set(Some(Late { api, context }));
            // Retained once, and so released once: when the thread's variables are dropped.
            let held = std::mem::ManuallyDrop::new(Late { api, context });
            call!(held, clRetainContext(context as cl_context));
        });
        thread.join().unwrap();
    }
    if !does("leak") {
        call!(s, clReleaseMemObject(x));
    }
    call!(s, clReleaseProgram(program));
    call!(s, clReleaseCommandQueue(s.queue));
    call!(s, clReleaseContext(s.context));
    if does("fail") {
        std::process::exit(3);
    }
}

/// Launches that go wrong.
fn launches(s: &Session, program: cl_program, x: cl_mem, does: &dyn Fn(&str) -> bool) {
    if does("race") {
        let race = s.kernel(program, "race");
        s.arg(race, 0, &x);
        call!(s, clSetKernelArg(race, 1, 256, null()));
        for _ in 0..3 {
            assert_eq!(s.launch(race, 64, Some(64)), CL_SUCCESS);
        }
        call!(s, clFinish(s.queue));
        call!(s, clReleaseKernel(race));
    }
    if does("beyond") {
        let beyond = s.kernel(program, "beyond");
        s.arg(beyond, 0, &x);
        s.arg(beyond, 1, &60i32);
        assert_eq!(s.launch(beyond, 64, None), CL_SUCCESS);
        call!(s, clFinish(s.queue));
        call!(s, clReleaseKernel(beyond));
    }
    if does("wild") {
        let wild = s.kernel(program, "wild");
        s.arg(wild, 0, &x);
        assert_eq!(s.launch(wild, 16, None), CL_SUCCESS);
        assert_eq!(call!(s, clFinish(s.queue)), CL_OUT_OF_RESOURCES);
        call!(s, clReleaseKernel(wild));
    }
}

/// Calls of the interface that fail.
fn calls_fail(s: &Session, program: cl_program, x: cl_mem, does: &dyn Fn(&str) -> bool) {
    if does("copies") {
        let copy = |from: usize, to: usize, n: usize| {
            call!(s, clEnqueueCopyBuffer(s.queue, x, x, from, to, n, 0, null(), null_mut()))
        };
        assert_eq!(copy(0, 50, 100), CL_MEM_COPY_OVERLAP);
        assert_eq!(copy(0, 250, 100), CL_INVALID_VALUE);
    }
    if does("release") {
        let kernel = s.kernel(program, "twice");
        let gone = s.buffer(&[0i32; 64]);
        s.arg(kernel, 0, &gone);
        call!(s, clReleaseMemObject(gone));
        assert_eq!(s.launch(kernel, 64, None), CL_INVALID_KERNEL_ARGS);
        call!(s, clReleaseKernel(kernel));
    }
}

/// A program that hands over SPIR-V, of the file `SPIRV`.
fn spirv(s: &Session) {
    let words = std::fs::read(std::env::var_os("SPIRV").expect("a file")).expect("it is there");
    let program = make!(s, clCreateProgramWithIL(s.context, words.as_ptr().cast(), words.len()));
    assert_eq!(call!(s, clBuildProgram(program, 0, null(), null(), None, null_mut())), CL_SUCCESS);
    let (sums, out) = (s.kernel(program, "sums"), s.buffer(&[0i32; 16]));
    assert_eq!(s.arg(sums, 0, &out), CL_SUCCESS);
    assert_eq!(s.arg(sums, 1, &3i32), CL_SUCCESS);
    assert_eq!(s.launch(sums, 16, Some(16)), CL_SUCCESS);
    assert_eq!(s.read::<i32>(out, 16)[5], 11);
    call!(s, clReleaseKernel(sums));
    call!(s, clReleaseProgram(program));
    call!(s, clReleaseMemObject(out));
}

/// As many launches of one kernel as `LAUNCHES` says.
fn many(s: &Session) {
    let n: i32 = std::env::var("LAUNCHES").expect("how many").parse().expect("a number");
    let program =
        s.program("kernel void add(global int *x, int n) {\n  int i = get_global_id(0);\n  x[i] += n;\n}\n");
    let (add, sums) = (s.kernel(program, "add"), s.buffer(&[0i32; 64]));
    assert_eq!(s.arg(add, 0, &sums), CL_SUCCESS);
    assert_eq!(s.arg(add, 1, &1i32), CL_SUCCESS);
    for _ in 0..n {
        assert_eq!(s.launch(add, 64, Some(16)), CL_SUCCESS);
    }
    assert_eq!(s.read::<i32>(sums, 64), [n; 64]);
    call!(s, clReleaseKernel(add));
    call!(s, clReleaseProgram(program));
    call!(s, clReleaseMemObject(sums));
}

/// A kernel of a program that is linked of two.
fn linked(s: &Session) {
    let compiled = |text: &str| {
        let text = std::ffi::CString::new(text).unwrap();
        let mut start = text.as_ptr();
        let program = make!(s, clCreateProgramWithSource(s.context, 1, &raw mut start, null()));
        call!(s, clCompileProgram(program, 0, null(), null(), 0, null(), null_mut(), None, null_mut()));
        program
    };
    let parts = [
        compiled("int thrice(int x) {\n  int y = 3 * x;\n  return y;\n}\n"),
        compiled("int thrice(int x);\nkernel void joined(global int *p) {\n  p[0] = thrice(p[0]);\n}\n"),
    ];
    let whole = make!(s, clLinkProgram(s.context, 0, null(), null(), 2, parts.as_ptr(), None, null_mut()));
    let (kernel, out) = (s.kernel(whole, "joined"), s.buffer(&[14i32]));
    assert_eq!(s.arg(kernel, 0, &out), CL_SUCCESS);
    assert_eq!(s.launch(kernel, 1, None), CL_SUCCESS);
    assert_eq!(s.read::<i32>(out, 1), [42]);
    call!(s, clReleaseKernel(kernel));
    for program in parts.into_iter().chain([whole]) {
        call!(s, clReleaseProgram(program));
    }
    call!(s, clReleaseMemObject(out));
}

/// A program that was compiled, and one with what it calls.
fn compiled(s: &Session) -> [cl_program; 2] {
    [
        "int twice(int); kernel void k(global int *p) { p[0] = twice(p[0]); }",
        "int twice(int x) { return 2 * x; }",
    ]
    .map(|text| {
        let text = std::ffi::CString::new(text).unwrap();
        let mut start = text.as_ptr();
        let program = make!(s, clCreateProgramWithSource(s.context, 1, &raw mut start, null()));
        let code =
            call!(s, clCompileProgram(program, 0, null(), null(), 0, null(), null_mut(), None, null_mut()));
        assert_eq!(code, CL_SUCCESS, "{}", s.log(program));
        program
    })
}

/// Two programs are linked to one, which runs.
fn links(s: &Session) {
    let inputs = compiled(s);
    let linked = make!(s, clLinkProgram(s.context, 0, null(), null(), 2, inputs.as_ptr(), None, null_mut()));
    doubles(s, linked);
    for program in inputs.into_iter().chain([linked]) {
        call!(s, clReleaseProgram(program));
    }
}

/// Runs the kernel of [`compiled`].
fn doubles(s: &Session, program: cl_program) {
    let kernel = s.kernel(program, "k");
    let out = s.buffer(&[21i32]);
    assert_eq!(s.arg(kernel, 0, &out), CL_SUCCESS);
    assert_eq!(s.launch(kernel, 1, None), CL_SUCCESS);
    assert_eq!(s.read::<i32>(out, 1), [42]);
    call!(s, clReleaseMemObject(out));
    call!(s, clReleaseKernel(kernel));
}

/// A program's binary for the only device.
fn binary(s: &Session, program: cl_program) -> Vec<u8> {
    let sizes = bytes(|n, to, ret| call!(s, clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, n, to, ret)));
    let mut binary = vec![0u8; usize::from_ne_bytes(sizes.try_into().unwrap())];
    let mut to = binary.as_mut_ptr();
    let list = (&raw mut to).cast();
    assert_eq!(call!(s, clGetProgramInfo(program, CL_PROGRAM_BINARIES, 8, list, null_mut())), CL_SUCCESS);
    binary
}

/// A program in SPIR-V without names, as tools leave it that shorten modules.
fn unnamed(s: &Session) {
    let text = "kernel void k(global int *p, int n, global int *q) { p[0] *= n; q[0] = 1; }";
    let text = std::ffi::CString::new(text).unwrap();
    let mut start = text.as_ptr();
    let program = make!(s, clCreateProgramWithSource(s.context, 1, &raw mut start, null()));
    let code =
        call!(s, clCompileProgram(program, 0, null(), null(), 0, null(), null_mut(), None, null_mut()));
    assert_eq!(code, CL_SUCCESS, "{}", s.log(program));
    let binary: Vec<u32> =
        binary(s, program).chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
    call!(s, clReleaseProgram(program));
    // The header, and the instructions but `OpName`, `OpMemberName` and the strings with types' names.
    let mut short = binary[..5].to_vec();
    let mut at = 5;
    while let Some(word) = binary.get(at) {
        let end = at + (word >> 16) as usize;
        if !matches!(word & 0xffff, 5 | 6) {
            short.extend(&binary[at..end]);
        }
        at = end;
    }
    assert!(short.len() < binary.len());
    let program = make!(s, clCreateProgramWithIL(s.context, short.as_ptr().cast(), 4 * short.len()));
    assert_eq!(call!(s, clBuildProgram(program, 0, null(), null(), None, null_mut())), CL_SUCCESS);
    let kernel = s.kernel(program, "k");
    let (p, q) = (s.buffer(&[21i32]), s.buffer(&[0i32]));
    assert_eq!(s.arg(kernel, 0, &p), CL_SUCCESS);
    assert_eq!(s.arg(kernel, 1, &2i32), CL_SUCCESS);
    assert_eq!(s.arg(kernel, 2, &q), CL_SUCCESS);
    assert_eq!(s.launch(kernel, 1, None), CL_SUCCESS);
    assert_eq!(s.read::<i32>(p, 1), [42]);
    call!(s, clReleaseMemObject(p));
    call!(s, clReleaseMemObject(q));
    call!(s, clReleaseKernel(kernel));
    call!(s, clReleaseProgram(program));
}

/// Releases a context when its thread ends: exit handlers of libraries do such things.
struct Late {
    api: &'static cl_icd_dispatch,
    context: usize,
}

impl Drop for Late {
    fn drop(&mut self) {
        assert_eq!(call!(self, clReleaseContext(self.context as cl_context)), CL_SUCCESS);
    }
}

thread_local! {
    static LATE: std::cell::Cell<Option<Late>> = const { std::cell::Cell::new(None) };
}

/// A buffer is written by one queue and used by a kernel on another; in order by an event, or not at all. Then what
/// orders without events: the application that waits, a user event that it sets, a barrier.
fn queues(s: &Session, program: cl_program, ordered: bool) {
    let other = make!(s, clCreateCommandQueue(s.context, s.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
    let kernel = s.kernel(program, "twice");
    let buffer = s.buffer(&[1u32; 64]);
    s.arg(kernel, 0, &buffer);
    let content = [2u32; 64];
    let write = |queue: cl_command_queue, after: &[cl_event]| {
        let mut event: cl_event = null_mut();
        let list = if after.is_empty() { null() } else { after.as_ptr() };
        let (n, from) = (after.len() as u32, content.as_ptr().cast());
        let code =
            call!(s, clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, 256, from, n, list, &raw mut event));
        assert_eq!(code, CL_SUCCESS);
        event
    };
    let launch = |queue: cl_command_queue, after: &[cl_event]| {
        let mut event: cl_event = null_mut();
        let list = if after.is_empty() { null() } else { after.as_ptr() };
        let (n, global) = (after.len() as u32, 64usize);
        let size = &raw const global;
        let code =
            call!(s, clEnqueueNDRangeKernel(queue, kernel, 1, null(), size, null(), n, list, &raw mut event));
        assert_eq!(code, CL_SUCCESS);
        event
    };
    let mut events = vec![write(s.queue, &[])];
    if ordered {
        call!(s, clFlush(s.queue));
        events.push(launch(other, &[events[0]]));
        // The application waits, then asks.
        call!(s, clWaitForEvents(1, &raw const events[1]));
        events.push(write(s.queue, &[]));
        call!(s, clFlush(s.queue));
        let mut status = 1i32;
        while status > CL_COMPLETE {
            let to = std::ptr::from_mut(&mut status).cast();
            let what = CL_EVENT_COMMAND_EXECUTION_STATUS;
            call!(s, clGetEventInfo(events[2], what, 4, to, null_mut()));
        }
        // A user event: enqueued before, runs after.
        let user = make!(s, clCreateUserEvent(s.context));
        events.push(launch(other, &[user]));
        events.push(write(s.queue, &[]));
        call!(s, clFinish(s.queue));
        call!(s, clSetUserEventStatus(user, CL_COMPLETE));
        events.push(user);
        // A barrier in a queue without order.
        call!(s, clEnqueueBarrierWithWaitList(other, 0, null(), null_mut()));
        events.push(write(other, &[]));
        call!(s, clFinish(other));
        events.push(launch(s.queue, &[]));
    } else {
        events.push(launch(other, &[]));
    }
    call!(s, clFinish(other));
    call!(s, clFinish(s.queue));
    for event in events {
        call!(s, clReleaseEvent(event));
    }
    call!(s, clReleaseMemObject(buffer));
    call!(s, clReleaseKernel(kernel));
    call!(s, clReleaseCommandQueue(other));
}

/// The driver: tests leave it next to themselves, builds next to the command.
fn driver_for(command: &Path) -> PathBuf {
    let own = std::env::current_exe().expect("the test is a file").with_file_name("libenvisa_opencl.so");
    if own.is_file() { own } else { command.with_file_name("libenvisa_opencl.so") }
}

/// Says that a test does not run; fails if it must.
fn not_run(why: &str) {
    assert!(std::env::var_os("ENVISA_REQUIRE_ORACLES").is_none(), "{why}");
    let _ = writeln!(std::io::stderr(), "NOT RUN: {why}");
}

/// The command, next to the driver; or why not.
fn command() -> Option<PathBuf> {
    let own = std::env::current_exe().expect("the test is a file");
    let folder = own.parent().and_then(Path::parent).expect("it is in `deps`");
    let command = folder.join("envisa");
    if command.is_file() && folder.join("envisa-compiler").is_file() {
        return Some(command);
    }
    not_run(&format!("{} is not built (cargo build -p envisa-cli)", command.display()));
    None
}

/// What `envisa exec` with these options gives, of a program that does this.
fn exec(options: &[&str], does: &str) -> Option<(i32, String, String)> {
    exec_with(options, does, &[])
}

/// The command, to be started.
fn exec_command(options: &[&str], does: &str) -> Option<Command> {
    // A loader and a compiler are there, or that is said aloud.
    driver()?;
    let command = command()?;
    let own = std::env::current_exe().expect("the test is a file");
    let driver = driver_for(&command);
    let mut exec = Command::new(command);
    exec.arg("exec").args(options).arg("--driver").arg(driver).arg("--").arg(own);
    exec.args(["--ignored", "--exact", "program", "--nocapture", "--test-threads=1"])
        .env("PROGRAM_DOES", does)
        .env_remove("OCL_ICD_VENDORS")
        .env_remove("OCL_ICD_FILENAMES");
    Some(exec)
}

/// As [`exec`], with further environment variables.
fn exec_with(options: &[&str], does: &str, environment: &[(&str, &Path)]) -> Option<(i32, String, String)> {
    let output: Output =
        exec_command(options, does)?.envs(environment.iter().copied()).output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let (out, err) = (text(output.stdout), text(output.stderr));
    eprintln!("--- {options:?} {does}: {:?}\n{out}\n{err}", output.status);
    Some((output.status.code().expect("not killed"), out, err))
}

#[test]
fn a_program_without_mistakes_is_left_alone() {
    let Some((code, out, err)) = exec(&["--device", "dg2"], "") else { return };
    assert_eq!((code, err.as_str()), (0, ""));
    // What the kernel prints is where it was launched.
    let lines: Vec<&str> = out.lines().map(str::trim).collect();
    let from = lines.iter().position(|l| l.ends_with("round 0")).expect("it prints");
    // Groups print in any order, launches in theirs.
    let items = |from: usize| {
        let mut items = lines[from..from + 2].to_vec();
        items.sort_unstable();
        items
    };
    assert_eq!(items(from + 1), ["item 0", "item 32"]);
    assert_eq!(lines[from + 3], "round 1");
    assert_eq!(items(from + 4), ["item 0", "item 32"]);
    let (code, _, err) = exec(&["--device", "pvc", "--check"], "").expect("as before");
    assert_eq!(code, 0);
    let lines: Vec<&str> = err.lines().collect();
    assert!(
        lines[0].starts_with("checked: bounds of buffers, ") && lines[1].starts_with("not checked: "),
        "{err}"
    );
    let summary = "envisa exec: 2 launches of 1 kernel: 0 faults, 0 findings, 0 mistakes of the program";
    assert_eq!(lines[2..], [summary]);
}

#[test]
fn statistics_count_what_was_launched() {
    let Some((code, _, err)) = exec(&["--stats"], "") else { return };
    assert_eq!(code, 0);
    let row: Vec<&str> = err.lines().nth(1).expect("a row").split_whitespace().collect();
    assert_eq!(row[1..], ["2", "128", "twice"]);
}

#[test]
fn faults_end_in_code_1_and_the_program_goes_on() {
    let Some((code, out, err)) = exec(&[], "wild") else { return };
    assert!(out.contains("1 passed"), "the program saw the error of its queue");
    assert_eq!(code, 1);
    assert!(err.contains("error[F0001]: writes 4 bytes at 0x"), "{err}");
    assert!(
        err.ends_with("3 launches of 2 kernels: 1 fault, 0 findings, 0 mistakes of the program\n"),
        "{err}"
    );
}

#[test]
fn checks_find_what_no_device_tells() {
    let Some((code, out, err)) = exec(&[], "race beyond") else { return };
    assert!(out.contains("1 passed") && code == 0 && err.is_empty(), "unchecked, nothing is seen: {err}");
    let file = tempfile::NamedTempFile::new().expect("made");
    let path = file.path().to_str().expect("UTF-8");
    let (code, _, err) = exec(&["--check", "--json", path], "race beyond").expect("as before");
    assert_eq!(code, 1);
    assert!(err.contains("error[F0004]: a data race for local argument l at byte 0x"), "{err}");
    assert!(err.contains("= note: in 3 launches"), "told once: {err}");
    // By the kernel's name of the buffer, and at the line of the program's text.
    assert!(
        err.contains("error[F0005]: writes 4 bytes right past the end of buffer x, which has 256"),
        "{err}"
    );
    assert!(
        err.contains("kernel void beyond(global int *x, int n) { x[get_global_id(0) + n] = 1; }"),
        "{err}"
    );
    let line = 1 + SOURCE.lines().position(|l| l.contains("void beyond")).expect("it is there");
    assert!(err.contains(&format!(".cl:{line}\n")) || err.contains(&format!(".cl:{line}:")), "{err}");
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(path).expect("written")).expect("JSON");
    assert_eq!(json["exit"], 0);
    let findings = json["findings"].as_array().expect("a list");
    let of = |code: &str| findings.iter().filter(|f| f["finding"]["code"] == code).count();
    assert!(of("F0004") > 0 && of("F0005") > 0, "{json:#}");
    assert!(findings.iter().filter(|f| f["finding"]["code"] == "F0004").all(|f| f["times"] == 3), "{json:#}");
    let launches: Vec<_> =
        json["kernels"].as_array().expect("a list").iter().map(|k| &k["launches"]).collect();
    assert_eq!(launches, [1, 3, 2], "beyond, race, twice");
}

#[test]
fn findings_of_programs_are_told_like_those_of_runs() {
    let folder = tempfile::tempdir().expect("made");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (known, log) = (path("known"), path("log"));
    let options = ["--check-hints", "--write-baseline", &known, "--sarif", &log, "--annotate", "github"];
    let Some((code, out, _)) = exec(&options, "race beyond") else { return };
    let line = 1 + SOURCE.lines().position(|l| l.contains("void beyond")).expect("it is there");
    assert!(code == 1 && out.contains(&format!(",line={line},title=F0005::beyond: writes 4 bytes")), "{out}");
    let log: serde_json::Value = serde_json::from_slice(&std::fs::read(log).expect("written")).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    let beyond = results.iter().find(|r| r["ruleId"] == "F0005").expect("it is there");
    let region = &beyond["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], line, "{log:#}");
    // They are known by their statements, and left out from then on.
    let text = std::fs::read_to_string(&known).expect("written");
    assert!(text.contains("F0004 race \"") && text.contains("F0005 beyond \"kernel void beyond("), "{text}");
    let (code, _, err) = exec(&["--check-hints", "--suppress", &known], "race beyond").expect("as before");
    assert!(code == 0 && err.contains(" 0 findings ("), "{code}: {err}");
    let (code, ..) = exec(&["--check", "--fail-on", "fault"], "race beyond").expect("as before");
    assert_eq!(code, 0);
}

#[test]
fn mistakes_of_the_program_are_findings() {
    let Some((code, _, err)) = exec(&["--check", "--leaks"], "copies release leak") else { return };
    assert_eq!(code, 1);
    for part in [
        "failed with CL_MEM_COPY_OVERLAP: source and destination overlap: 100 bytes at offsets 0 and 50 of one buffer",
        "failed with CL_INVALID_VALUE: bytes 250 to 350 are not inside of 256 bytes",
        "failed with CL_INVALID_KERNEL_ARGS: argument 0 (`x`) of kernel `twice` was released before",
        "1 buffer never released (256 bytes)",
        ": 0 faults, 0 findings, 4 mistakes of the program",
    ] {
        assert!(err.contains(part), "{part}: {err}");
    }
    // What is never released is a note, unless it is asked for.
    let (code, _, err) = exec(&["--check"], "leak").expect("as before");
    assert!(code == 0 && err.contains("note: 1 buffer never released (256 bytes)"), "{code}: {err}");
    // Without --check they are between the program and its driver.
    let (code, _, err) = exec(&[], "copies release leak").expect("as before");
    assert_eq!((code, err.as_str()), (0, ""));
}

/// Libraries release their objects from exit handlers, when a thread's own variables are gone.
#[test]
fn the_driver_can_be_called_when_a_thread_ends() {
    for options in [&[][..], &["--check"]] {
        let Some((code, out, err)) = exec(options, "late") else { return };
        assert!(code == 0 && out.contains("1 passed"), "{options:?}: {code}: {err}");
        assert!(!err.contains("panicked"), "{options:?}: {err}");
    }
}

/// What a program keeps of a build while mistakes are looked for has the code of its own build; but for lines it is the same.
#[test]
fn a_programs_binary_is_of_its_own_build() {
    let folder = tempfile::tempdir().expect("made");
    let mut all = Vec::new();
    for (n, options) in [&[][..], &["--check"]].into_iter().enumerate() {
        let file = folder.path().join(n.to_string());
        let Some((code, _, err)) = exec_with(options, "keep", &[("PROGRAM_KEEPS", &file)]) else { return };
        assert_eq!(code, 0, "{err}");
        let kept = std::fs::read(file).expect("the program wrote it");
        let sections = envisa::zebin::ZebinFile::parse(&kept).expect("a zebin").elf.sections;
        let code = sections.into_iter().filter(|s| s.name.starts_with(".text."));
        all.push(code.map(|s| (s.name, s.data)).collect::<Vec<_>>());
    }
    assert!(all[0].len() > 5 && all[0] == all[1]);
}

#[test]
fn the_programs_own_code_wins() {
    let Some((code, ..)) = exec(&["--check"], "leak fail") else { return };
    assert_eq!(code, 3);
    let command = command().expect("as before");
    let run = |args: &[&str]| Command::new(&command).arg("exec").args(args).output().expect("it starts");
    let output = run(&["--device", "dg3", "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `dg2`?"));
    let driver = driver_for(&command);
    let driver = driver.to_str().expect("UTF-8");
    assert_eq!(run(&["--driver", driver, "--", "/nonexistent"]).status.code(), Some(2));
    assert_eq!(run(&["--driver", driver, "--", "sh", "-c", "kill -9 $$"]).status.code(), Some(137));
}

#[test]
fn commands_that_nothing_orders_are_mistakes() {
    let Some((code, _, err)) = exec(&["--check"], "queues") else { return };
    assert_eq!(code, 1);
    assert!(err.contains("kernel `twice`") && err.contains("clEnqueueWriteBuffer"), "{err}");
    assert!(
        err.contains("both write the same 256 bytes of memory, and nothing orders the two commands"),
        "{err}"
    );
    assert!(err.ends_with("0 faults, 0 findings, 1 mistake of the program\n"), "{err}");
    let (code, _, err) = exec(&["--check"], "queues ordered").expect("as before");
    assert_eq!(code, 0, "{err}");
}

/// Libraries that files of its folder name are loaded: who makes that folder first must not have their own loaded.
#[test]
fn the_commands_folder_is_its_own() {
    let (Some(_), Some(command)) = (driver(), command()) else { return };
    let temporary = tempfile::tempdir().expect("made");
    // Every name that its number could give is taken, and the process keeps its number.
    let script = "for name in envisa-exec-$$ envisa-exec-$$-0; do
            mkdir -p $TMPDIR/$name/vendors && echo /evil.so > $TMPDIR/$name/vendors/evil.icd
        done
        exec \"$0\" exec --driver \"$1\" -- sh -c 'stat -c %a $(dirname $OCL_ICD_VENDORS); ls $OCL_ICD_VENDORS'";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(&command)
        .arg(driver_for(&command))
        .env("TMPDIR", temporary.path())
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text, "700\nenvisa.icd\n", "{}", String::from_utf8_lossy(&output.stderr));
    // And what is its own is gone.
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 2);
}

#[test]
fn messages_are_json_where_that_is_asked_for() {
    let options = ["--check", "--message-format", "json", "--stats"];
    let Some((code, _, err)) = exec(&options, "race wild release") else { return };
    assert_eq!(code, 1);
    let lines: Vec<serde_json::Value> =
        err.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect();
    let of = |code: &str| lines.iter().filter(|l| l["code"] == code).count();
    assert_eq!((of("F0001"), of("F0004")), (1, 1), "{err}");
    let race = lines.iter().find(|l| l["code"] == "F0004").expect("counted");
    assert!(race["notes"].as_array().expect("a list").contains(&"in 3 launches".into()), "{race:#}");
    let mistake = lines.iter().find(|l| l["level"] == "error" && l["code"].is_null()).expect("there is one");
    assert!(mistake["message"].as_str().expect("a text").contains("CL_INVALID_KERNEL_ARGS"), "{mistake:#}");
    assert!(
        lines.iter().any(|l| l["message"].as_str().is_some_and(|m| m.starts_with("envisa exec: "))),
        "{err}"
    );
}

/// A compiler that is a program is given files: what is not text reaches it whole.
#[test]
fn programs_are_linked_by_another_compiler() {
    let ocloc = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path).map(|folder| folder.join("ocloc")).find(|file| file.is_file())
    });
    let (Some(_), Some(ocloc)) = (driver(), ocloc) else { return };
    let Some((code, out, err)) = exec_with(&[], "links", &[("ENVISA_OCLOC", &ocloc)]) else { return };
    assert!(code == 0 && out.contains("1 passed"), "{out}{err}");
}

#[test]
fn launches_of_programs_without_names_are_repeated() {
    let folder = tempfile::tempdir().expect("made");
    let Some((code, out, err)) = exec_with(&[], "unnamed", &[("ENVISA_CAPTURE", folder.path())]) else {
        return;
    };
    assert!(code == 0 && out.contains("1 passed"), "{out}{err}");
    let kept = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path());
    let kept = kept.filter(|p| p.to_string_lossy().ends_with("-k")).collect::<Vec<_>>();
    let [job] = &kept[..] else { panic!("{kept:?}") };
    let run = Command::new(command().expect("as before")).arg("run").arg(job.join("job.toml")).output();
    let run = run.expect("it starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    for n in [0, 2] {
        let file = |what: &str| std::fs::read(job.join(format!("{n}.{what}.bin"))).unwrap();
        assert_eq!(file("again"), file("after"));
    }
    assert!(!job.join("program.cl").exists(), "it was built from SPIR-V");
}

/// A launch is kept with the text that the program built, so that other drivers can repeat it.
#[test]
fn launches_are_kept_with_their_source() {
    let folder = tempfile::tempdir().expect("made");
    let Some((code, out, err)) = exec_with(&[], "", &[("ENVISA_CAPTURE", folder.path())]) else { return };
    assert!(code == 0 && out.contains("1 passed"), "{out}{err}");
    let kept: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(!kept.is_empty());
    for folder in kept {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let kernel = name.splitn(3, '-').nth(2).unwrap();
        let text = std::fs::read_to_string(folder.join("program.cl")).expect("it is kept");
        assert!(text.contains(&format!("void {kernel}(")), "{text}");
        assert!(folder.join("program.options").is_file());
    }
}
