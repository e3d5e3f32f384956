//! Many threads on several queues, held against a model. `ENVISA_STRESS_SECONDS` says how long: an hour of it is
//! `ENVISA_STRESS_SECONDS=3600 cargo test --release -p envisa-opencl --test driver -- stress`.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::cl::*;

const THREADS: usize = 16;
const QUEUES: usize = 8;
const WORDS: usize = 64;
/// Words of the buffer that all threads count in.
const COUNTERS: usize = 4;

const SOURCE: &str = "
kernel void step(global uint *p, uint a) { p[get_global_id(0)] = p[get_global_id(0)] * 3 + a; }
kernel void count(global uint *c) { atomic_inc(c + get_global_id(0) % 4); }
";

/// What all threads share.
struct Shared {
    s: Session,
    queues: Vec<cl_command_queue>,
    program: cl_program,
    /// Every launch of `count` adds to it, in no order.
    counters: cl_mem,
}
// SAFETY: handles may be used from any thread, but kernels, of which every thread has its own.
unsafe impl Sync for Shared {}

/// A small generator: the same numbers for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// Callbacks that came, and those that came with a wrong status.
static CALLED: AtomicU64 = AtomicU64::new(0);
static WRONG: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn called(_: cl_event, status: i32, data: *mut c_void) {
    if status != CL_COMPLETE || data as usize != 7 {
        WRONG.fetch_add(1, Ordering::SeqCst);
    }
    CALLED.fetch_add(1, Ordering::SeqCst);
}

/// What a thread asked for besides: callbacks, and launches of `count`.
#[derive(Clone, Copy, Default)]
struct Done {
    commands: u64,
    callbacks: u64,
    counts: u64,
}

/// One thread: its own buffers and kernels, any queue, each command after the one before by an event.
struct Worker<'a> {
    shared: &'a Shared,
    random: Random,
    kernel: cl_kernel,
    count: cl_kernel,
    model: [Vec<u32>; 2],
    buffers: [cl_mem; 2],
    last: cl_event,
    done: Done,
    /// Reads that may not be over: where to, and what must come.
    reads: Vec<(Box<[u32; WORDS]>, Vec<u32>)>,
    /// Sources of writes that may not be over.
    sources: Vec<Vec<u32>>,
    seed: u64,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared, seed: u64) -> Worker<'a> {
        let s = &shared.s;
        let model = [vec![0u32; WORDS], vec![0u32; WORDS]];
        Worker {
            shared,
            random: Random(seed),
            kernel: s.kernel(shared.program, "step"),
            count: s.kernel(shared.program, "count"),
            buffers: [s.buffer(&model[0]), s.buffer(&model[1])],
            model,
            last: null_mut(),
            done: Done::default(),
            reads: Vec::new(),
            sources: Vec::new(),
            seed,
        }
    }

    fn list(&self) -> (u32, *const cl_event) {
        if self.last.is_null() { (0, null()) } else { (1, &raw const self.last) }
    }

    fn work(mut self, end: Instant) -> Done {
        while Instant::now() < end {
            let which = self.random.below(2);
            let queue = self.shared.queues[self.random.below(QUEUES)];
            let event = match self.random.below(12) {
                0..=3 => self.transfer(queue, which),
                4..=6 => self.launch(queue, which),
                7 => self.map(queue, which),
                8 => self.part(queue, which),
                9 => self.gate(queue, which),
                10 => self.own_queue(which),
                _ => self.objects(queue, which),
            };
            self.then(event);
            // Not ever further ahead.
            if self.done.commands.is_multiple_of(64) {
                self.wait();
            }
        }
        self.end()
    }

    /// The command of this event is the last now.
    fn then(&mut self, event: cl_event) {
        let s = &self.shared.s;
        if self.random.below(8) == 0 {
            let data = 7 as *mut c_void;
            assert_eq!(call!(s, clSetEventCallback(event, CL_COMPLETE, Some(called), data)), CL_SUCCESS);
            self.done.callbacks += 1;
        }
        if !self.last.is_null() {
            assert_eq!(call!(s, clReleaseEvent(self.last)), CL_SUCCESS);
        }
        self.last = event;
        self.done.commands += 1;
    }

    /// Waits for all, and holds what was read against the model.
    fn wait(&mut self) {
        if self.last.is_null() {
            return;
        }
        let (n, list) = self.list();
        assert_eq!(call!(self.shared.s, clWaitForEvents(n, list)), CL_SUCCESS);
        for (got, wanted) in self.reads.drain(..) {
            assert_eq!(got[..], wanted[..], "after {} commands of seed {}", self.done.commands, self.seed);
        }
        self.sources.clear();
    }

    /// A fill, a copy, a write or a read.
    fn transfer(&mut self, queue: cl_command_queue, which: usize) -> cl_event {
        let (a, b) = (self.buffers[which], self.buffers[1 - which]);
        let s = &self.shared.s;
        let (n, list) = self.list();
        let mut event: cl_event = null_mut();
        let event_to = &raw mut event;
        let all = WORDS * 4;
        let code = match self.random.below(6) {
            0 => {
                let value = self.random.below(1000) as u32;
                self.model[which].fill(value);
                let from = std::ptr::from_ref(&value).cast();
                call!(s, clEnqueueFillBuffer(queue, a, from, 4, 0, all, n, list, event_to))
            }
            1 => {
                self.model[1 - which] = self.model[which].clone();
                call!(s, clEnqueueCopyBuffer(queue, a, b, 0, 0, all, n, list, event_to))
            }
            2 => {
                let word = self.random.below(WORDS);
                let value = [self.random.below(1000) as u32];
                self.model[which][word] = value[0];
                let from = value.as_ptr().cast();
                call!(s, clEnqueueWriteBuffer(queue, a, CL_TRUE, word * 4, 4, from, n, list, event_to))
            }
            3 => {
                let mut out = vec![0u32; WORDS];
                let to = out.as_mut_ptr().cast();
                let code = call!(s, clEnqueueReadBuffer(queue, a, CL_TRUE, 0, all, to, n, list, event_to));
                assert_eq!(
                    out, self.model[which],
                    "after {} commands of seed {}",
                    self.done.commands, self.seed
                );
                code
            }
            4 => {
                let mut out = Box::new([0u32; WORDS]);
                let to = out.as_mut_ptr().cast();
                let code = call!(s, clEnqueueReadBuffer(queue, a, CL_FALSE, 0, all, to, n, list, event_to));
                self.reads.push((out, self.model[which].clone()));
                code
            }
            _ => {
                let mut from = vec![0u32; WORDS];
                from.fill_with(|| self.random.below(1000) as u32);
                self.model[which].clone_from(&from);
                let start = from.as_ptr().cast();
                let code =
                    call!(s, clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, all, start, n, list, event_to));
                self.sources.push(from);
                code
            }
        };
        assert_eq!(code, CL_SUCCESS);
        event
    }

    /// A kernel on one's own buffer, and sometimes one on the buffer that all share.
    fn launch(&mut self, queue: cl_command_queue, which: usize) -> cl_event {
        let s = &self.shared.s;
        if self.random.below(4) == 0 {
            let global = COUNTERS * 16;
            let size = &raw const global;
            assert_eq!(s.arg(self.count, 0, &self.shared.counters), CL_SUCCESS);
            // Nothing orders it.
            let code = call!(
                s,
                clEnqueueNDRangeKernel(queue, self.count, 1, null(), size, null(), 0, null(), null_mut())
            );
            assert_eq!(code, CL_SUCCESS);
            self.done.counts += 1;
        }
        let add = self.random.below(100) as u32;
        for word in &mut self.model[which] {
            *word = word.wrapping_mul(3).wrapping_add(add);
        }
        assert_eq!(s.arg(self.kernel, 0, &self.buffers[which]), CL_SUCCESS);
        assert_eq!(s.arg(self.kernel, 1, &add), CL_SUCCESS);
        let global = WORDS;
        let size = &raw const global;
        let (n, list) = self.list();
        let mut event: cl_event = null_mut();
        let to = &raw mut event;
        let code = call!(s, clEnqueueNDRangeKernel(queue, self.kernel, 1, null(), size, null(), n, list, to));
        assert_eq!(code, CL_SUCCESS);
        event
    }

    /// A part is mapped, changed by this thread, and unmapped.
    fn map(&mut self, queue: cl_command_queue, which: usize) -> cl_event {
        let (s, a) = (&self.shared.s, self.buffers[which]);
        let from = self.random.below(WORDS);
        let words = 1 + self.random.below(WORDS - from);
        let (n, list) = self.list();
        let mut code = 1;
        let flags = CL_MAP_READ | CL_MAP_WRITE;
        let none = null_mut();
        let at = call!(
            s,
            clEnqueueMapBuffer(queue, a, CL_TRUE, flags, from * 4, words * 4, n, list, none, &raw mut code)
        );
        assert_eq!(code, CL_SUCCESS);
        // SAFETY: mapped, and nobody else has commands on this buffer.
        let mapped = unsafe { std::slice::from_raw_parts_mut(at.cast::<u32>(), words) };
        assert_eq!(mapped[..], self.model[which][from..from + words], "mapped, seed {}", self.seed);
        for word in mapped.iter_mut() {
            *word ^= 0x5555;
        }
        self.model[which][from..from + words].copy_from_slice(mapped);
        let mut event: cl_event = null_mut();
        assert_eq!(call!(s, clEnqueueUnmapMemObject(queue, a, at, 0, null(), &raw mut event)), CL_SUCCESS);
        event
    }

    /// A fill of a sub-buffer that is released while the command may not have begun; or a rectangle.
    fn part(&mut self, queue: cl_command_queue, which: usize) -> cl_event {
        let (s, a) = (&self.shared.s, self.buffers[which]);
        let (n, list) = self.list();
        let mut event: cl_event = null_mut();
        let value = self.random.below(1000) as u32;
        if self.random.below(2) == 0 {
            // Rows of eight words: two columns of four rows.
            let (row, column) = (self.random.below(4), self.random.below(6));
            let source = vec![value; WORDS];
            for r in row..row + 4 {
                self.model[which][r * 8 + column..r * 8 + column + 2].fill(value);
            }
            let (to, from, size) = ([column * 4, row, 0], [0usize; 3], [8usize, 4, 1]);
            let (to, from, size) = (to.as_ptr(), from.as_ptr(), size.as_ptr());
            let start = source.as_ptr().cast();
            let code = call!(
                s,
                clEnqueueWriteBufferRect(
                    queue,
                    a,
                    CL_FALSE,
                    to,
                    from,
                    size,
                    32,
                    0,
                    8,
                    0,
                    start,
                    n,
                    list,
                    &raw mut event
                )
            );
            assert_eq!(code, CL_SUCCESS);
            self.sources.push(source);
            return event;
        }
        let region = cl_buffer_region { origin: 128, size: 128 };
        let what = std::ptr::from_ref(&region).cast();
        let sub = make!(s, clCreateSubBuffer(a, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, what));
        self.model[which][32..].fill(value);
        let from = std::ptr::from_ref(&value).cast();
        let code = call!(s, clEnqueueFillBuffer(queue, sub, from, 4, 0, 128, n, list, &raw mut event));
        assert_eq!(code, CL_SUCCESS);
        assert_eq!(call!(s, clReleaseMemObject(sub)), CL_SUCCESS);
        event
    }

    /// A command that waits for a user event, which is set when it has been enqueued. No blocking call comes between
    /// the two: on a queue in order, those of other threads wait meanwhile.
    fn gate(&mut self, queue: cl_command_queue, which: usize) -> cl_event {
        let (s, a) = (&self.shared.s, self.buffers[which]);
        let user = make!(s, clCreateUserEvent(s.context));
        let value = self.random.below(1000) as u32;
        self.model[which].fill(value);
        let from = std::ptr::from_ref(&value).cast();
        let list = [user, self.last];
        let n = if self.last.is_null() { 1 } else { 2 };
        let mut event: cl_event = null_mut();
        let to = &raw mut event;
        let code = call!(s, clEnqueueFillBuffer(queue, a, from, 4, 0, WORDS * 4, n, list.as_ptr(), to));
        assert_eq!(code, CL_SUCCESS);
        if self.random.below(2) == 0 {
            std::thread::yield_now();
        }
        assert_eq!(call!(s, clSetUserEventStatus(user, CL_COMPLETE)), CL_SUCCESS);
        assert_eq!(call!(s, clReleaseEvent(user)), CL_SUCCESS);
        event
    }

    /// A queue that is released while its command may not have begun.
    fn own_queue(&mut self, which: usize) -> cl_event {
        let s = &self.shared.s;
        let queue = make!(s, clCreateCommandQueue(s.context, s.device, CL_QUEUE_PROFILING_ENABLE));
        let event = self.launch(queue, which);
        assert_eq!(call!(self.shared.s, clReleaseCommandQueue(queue)), CL_SUCCESS);
        event
    }

    /// Objects come and go; then a marker or a barrier.
    fn objects(&mut self, queue: cl_command_queue, which: usize) -> cl_event {
        let (s, a) = (&self.shared.s, self.buffers[which]);
        match self.random.below(4) {
            0 => {
                assert_eq!(call!(s, clReleaseKernel(self.kernel)), CL_SUCCESS);
                self.kernel = s.kernel(self.shared.program, "step");
            }
            1 => {
                assert_eq!(call!(s, clRetainMemObject(a)), CL_SUCCESS);
                assert_eq!(call!(s, clReleaseMemObject(a)), CL_SUCCESS);
            }
            2 => assert_eq!(call!(s, clFinish(queue)), CL_SUCCESS),
            _ => assert_eq!(call!(s, clFlush(queue)), CL_SUCCESS),
        }
        let (n, list) = self.list();
        let mut event: cl_event = null_mut();
        let to = &raw mut event;
        let code = match self.random.below(3) {
            0 => call!(s, clEnqueueMarkerWithWaitList(queue, n, list, to)),
            1 => call!(s, clEnqueueBarrierWithWaitList(queue, n, list, to)),
            _ => call!(s, clEnqueueMigrateMemObjects(queue, 1, &raw const a, 0, n, list, to)),
        };
        assert_eq!(code, CL_SUCCESS);
        event
    }

    fn end(mut self) -> Done {
        self.wait();
        let s = &self.shared.s;
        let mut code = CL_SUCCESS;
        for (buffer, model) in self.buffers.iter().zip(&self.model) {
            let mut out = vec![0u32; WORDS];
            let to = out.as_mut_ptr().cast();
            let queue = self.shared.queues[0];
            code |= call!(
                s,
                clEnqueueReadBuffer(queue, *buffer, CL_TRUE, 0, WORDS * 4, to, 0, null(), null_mut())
            );
            assert_eq!(out, *model, "at the end, seed {}", self.seed);
            code |= call!(s, clReleaseMemObject(*buffer));
        }
        if !self.last.is_null() {
            code |= call!(s, clReleaseEvent(self.last));
        }
        code |= call!(s, clReleaseKernel(self.kernel));
        code |= call!(s, clReleaseKernel(self.count));
        assert_eq!(code, CL_SUCCESS);
        self.done
    }
}

#[test]
fn stress_sixteen_threads_on_eight_queues_agree_with_a_model() {
    let Some(driver) = driver() else { return };
    let seconds = std::env::var("ENVISA_STRESS_SECONDS").ok().and_then(|t| t.parse().ok()).unwrap_or(4);
    let s = driver.session(0, 0);
    let queue = |i: usize| {
        let flags = if i.is_multiple_of(2) { 0 } else { CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE };
        make!(s, clCreateCommandQueue(s.context, s.device, flags))
    };
    let queues: Vec<_> = (0..QUEUES).map(queue).collect();
    let program = s.program(SOURCE);
    let counters = s.buffer(&[0u32; COUNTERS]);
    let shared = Shared { s, queues, program, counters };
    let end = Instant::now() + Duration::from_secs(seconds);
    let all: Vec<Done> = std::thread::scope(|scope| {
        let shared = &shared;
        let start =
            |t: u64| scope.spawn(move || Worker::new(shared, 0x9e37_79b9_7f4a_7c15 ^ (t + 1)).work(end));
        let threads: Vec<_> = (0..THREADS as u64).map(start).collect();
        threads.into_iter().map(|t| t.join().expect("no thread fails")).collect()
    });
    let sum = |of: fn(&Done) -> u64| all.iter().map(of).sum::<u64>();
    let (commands, callbacks, counts) = (sum(|d| d.commands), sum(|d| d.callbacks), sum(|d| d.counts));
    eprintln!("{commands} commands, {callbacks} callbacks, {counts} unordered launches in {seconds} s");
    assert!(commands > 1000, "{commands} commands only");
    let Shared { s, queues, program, counters } = shared;
    for queue in queues {
        assert_eq!(call!(s, clFinish(queue)), CL_SUCCESS);
        assert_eq!(call!(s, clReleaseCommandQueue(queue)), CL_SUCCESS);
    }
    assert_eq!(s.read::<u32>(counters, COUNTERS), [counts as u32 * 16; COUNTERS], "no atomic is lost");
    let start = Instant::now();
    while CALLED.load(Ordering::SeqCst) < callbacks && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!((CALLED.load(Ordering::SeqCst), WRONG.load(Ordering::SeqCst)), (callbacks, 0));
    assert_eq!(call!(s, clReleaseMemObject(counters)), CL_SUCCESS);
    assert_eq!(call!(s, clReleaseProgram(program)), CL_SUCCESS);
}

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages = text.split_whitespace().nth(1).and_then(|n| n.parse::<usize>().ok());
    pages.expect("a number") * 4096
}

#[test]
fn memory_that_nothing_touches_takes_none() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let before = resident();
    let buffers: Vec<_> = (0..16)
        .map(|_| make!(s, clCreateBuffer(s.context, CL_MEM_READ_WRITE, 256 << 20, null_mut())))
        .collect();
    // 4 GiB of them: what tests beside this one take is far less.
    let after = resident();
    assert!(after < before + (1 << 30), "{before} bytes, then {after}");
    let mut last = [1u8; 16];
    let end = (256 << 20) - last.len();
    for &buffer in &buffers {
        let read = call!(
            s,
            clEnqueueReadBuffer(
                s.queue,
                buffer,
                CL_TRUE,
                end,
                16,
                last.as_mut_ptr().cast(),
                0,
                null(),
                null_mut()
            )
        );
        assert_eq!((read, last), (CL_SUCCESS, [0; 16]));
        assert_eq!(call!(s, clReleaseMemObject(buffer)), CL_SUCCESS);
    }
}

/// In a process of its own: other tests' memory comes and goes.
#[test]
#[ignore = "run by the test that many launches take no memory"]
fn many_launches() {
    let driver = driver().expect("run by a test");
    let s = driver.session(0, 0);
    let program = s.program(SOURCE);
    let kernel = s.kernel(program, "step");
    let buffer = s.buffer(&[0u32; WORDS]);
    assert_eq!(s.arg(kernel, 0, &buffer), CL_SUCCESS);
    assert_eq!(s.arg(kernel, 1, &1u32), CL_SUCCESS);
    let mut model = 0u32;
    let mut launches = |n: usize| {
        for i in 0..n {
            assert_eq!(s.launch(kernel, WORDS, None), CL_SUCCESS);
            model = model.wrapping_mul(3).wrapping_add(1);
            if i % 128 == 127 {
                assert_eq!(call!(s, clFinish(s.queue)), CL_SUCCESS);
            }
        }
        assert_eq!(s.read::<u32>(buffer, WORDS), [model; WORDS]);
        resident()
    };
    let before = launches(10_000);
    let after = launches(100_000);
    eprintln!("{} KiB, then {} KiB", before >> 10, after >> 10);
    assert!(after < before + (4 << 20), "{before} bytes, then {after}");
}

#[test]
fn many_launches_take_no_memory() {
    if driver().is_none() {
        return;
    }
    let own = std::env::current_exe().expect("the test is a file");
    let output = std::process::Command::new(own)
        .args(["--ignored", "--exact", "stress::many_launches", "--nocapture"])
        .output()
        .expect("it starts");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{err}", String::from_utf8_lossy(&output.stdout));
}
