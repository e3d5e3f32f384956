//! Many threads on several queues, held against a model. `ENVISA_STRESS_SECONDS` says how long: an hour of it is
//! `ENVISA_STRESS_SECONDS=3600 cargo test --release -p envisa-opencl --test driver -- stress`.

use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use crate::cl::*;

const THREADS: usize = 16;
const QUEUES: usize = 8;
const WORDS: usize = 64;

struct Shared(Session, Vec<cl_command_queue>, cl_program);
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

/// One thread: its own buffers and kernel, any queue, each command after the one before by an event.
fn work(shared: &Shared, seed: u64, end: Instant) -> u64 {
    let Shared(s, queues, program) = shared;
    let mut random = Random(seed);
    let kernel = s.kernel(*program, "step");
    let mut model = [vec![0u32; WORDS], vec![0u32; WORDS]];
    let buffers = [s.buffer(&model[0]), s.buffer(&model[1])];
    let mut last: cl_event = null_mut();
    let mut done = 0;
    while Instant::now() < end {
        let queue = queues[random.below(QUEUES)];
        let (n, list) = if last.is_null() { (0, null()) } else { (1, &raw const last) };
        let mut event: cl_event = null_mut();
        let which = random.below(2);
        let (a, b) = (buffers[which], buffers[1 - which]);
        let code = match random.below(6) {
            0 => {
                let value = random.below(1000) as u32;
                model[which].fill(value);
                let from = std::ptr::from_ref(&value).cast();
                call!(s, clEnqueueFillBuffer(queue, a, from, 4, 0, WORDS * 4, n, list, &raw mut event))
            }
            1 => {
                let (from, to) = (model[which].clone(), &mut model[1 - which]);
                to.copy_from_slice(&from);
                call!(s, clEnqueueCopyBuffer(queue, a, b, 0, 0, WORDS * 4, n, list, &raw mut event))
            }
            2 => {
                let word = random.below(WORDS);
                let value = [random.below(1000) as u32];
                model[which][word] = value[0];
                let from = value.as_ptr().cast();
                call!(s, clEnqueueWriteBuffer(queue, a, CL_TRUE, word * 4, 4, from, n, list, &raw mut event))
            }
            3 => {
                let mut out = vec![0u32; WORDS];
                let to = out.as_mut_ptr().cast();
                let code = call!(
                    s,
                    clEnqueueReadBuffer(queue, a, CL_TRUE, 0, WORDS * 4, to, n, list, &raw mut event)
                );
                assert_eq!(out, model[which], "after {done} commands of seed {seed}");
                code
            }
            _ => {
                let add = random.below(100) as u32;
                for word in &mut model[which] {
                    *word = word.wrapping_mul(3).wrapping_add(add);
                }
                assert_eq!(s.arg(kernel, 0, &a), CL_SUCCESS);
                assert_eq!(s.arg(kernel, 1, &add), CL_SUCCESS);
                let global = WORDS;
                call!(
                    s,
                    clEnqueueNDRangeKernel(
                        queue,
                        kernel,
                        1,
                        null(),
                        &raw const global,
                        null(),
                        n,
                        list,
                        &raw mut event
                    )
                )
            }
        };
        assert_eq!(code, CL_SUCCESS);
        if !last.is_null() {
            assert_eq!(call!(s, clReleaseEvent(last)), CL_SUCCESS);
        }
        last = event;
        done += 1;
        // Not ever further ahead.
        if done % 64 == 0 {
            assert_eq!(call!(s, clWaitForEvents(1, &raw const last)), CL_SUCCESS);
        }
    }
    if !last.is_null() {
        assert_eq!(call!(s, clWaitForEvents(1, &raw const last)), CL_SUCCESS);
        call!(s, clReleaseEvent(last));
    }
    for (buffer, model) in buffers.iter().zip(&model) {
        let mut out = vec![0u32; WORDS];
        let to = out.as_mut_ptr().cast();
        let code = call!(
            s,
            clEnqueueReadBuffer(queues[0], *buffer, CL_TRUE, 0, WORDS * 4, to, 0, null(), null_mut())
        );
        assert_eq!(code, CL_SUCCESS);
        assert_eq!(out, *model);
        assert_eq!(call!(s, clReleaseMemObject(*buffer)), CL_SUCCESS);
    }
    done
}

#[test]
fn stress_sixteen_threads_on_eight_queues_agree_with_a_model() {
    let Some(driver) = driver() else { return };
    let seconds = std::env::var("ENVISA_STRESS_SECONDS").ok().and_then(|t| t.parse().ok()).unwrap_or(10);
    let s = driver.session(0, 0);
    let queue = |i: usize| {
        let flags = if i.is_multiple_of(2) { 0 } else { CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE };
        make!(s, clCreateCommandQueue(s.context, s.device, flags))
    };
    let queues: Vec<_> = (0..QUEUES).map(queue).collect();
    let program = s.program(
        "kernel void step(global uint *p, uint a) { p[get_global_id(0)] = p[get_global_id(0)] * 3 + a; }",
    );
    let shared = Shared(s, queues, program);
    let end = Instant::now() + Duration::from_secs(seconds);
    let total: u64 = std::thread::scope(|scope| {
        let shared = &shared;
        let threads: Vec<_> = (0..THREADS)
            .map(|t| scope.spawn(move || work(shared, 0x9e37_79b9_7f4a_7c15 ^ (t as u64 + 1), end)))
            .collect();
        threads.into_iter().map(|t| t.join().expect("no thread fails")).sum()
    });
    eprintln!("{total} commands in {seconds} s");
    assert!(total > 1000, "{total} commands only");
}
