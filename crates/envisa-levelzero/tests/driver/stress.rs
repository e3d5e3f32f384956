//! Many threads at once: immediate and regular lists, in order and out of it, memory that comes and goes.

use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::ze::*;

const TEXT: &str = "
    kernel void add(global int *x, int v) { x[get_global_id(0)] += v; }
    kernel void square(global int *x) { int i = get_global_id(0); x[i] = x[i] * x[i] % 1000; }";
const THREADS: usize = 16;
const N: usize = 256;
/// Kilobytes by which memory may grow, in a run of so many seconds, beside which no other tests run.
const GROWTH: u64 = 1 << 15;
const LONG: u64 = 600;

/// What a thread has.
struct Mine {
    d: &'static Driver,
    add: usize,
    square: usize,
    seed: u64,
}

impl Mine {
    fn next(&mut self, n: u64) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed % n
    }

    fn kernels(&mut self, x: &[i32]) -> (i32, usize, usize) {
        let v = self.next(100) as i32;
        self.d.arg(self.add, 0, x.as_ptr());
        self.d.arg(self.add, 1, v);
        self.d.arg(self.square, 0, x.as_ptr());
        (v, self.add, self.square)
    }

    /// Commands that wait for each other by events, in one list or over two immediate ones.
    fn chained(&mut self, lists: [usize; 2], x: &mut [i32]) {
        let d = self.d;
        let (v, add, square) = self.kernels(x);
        let (pool, events) = d.pool(3);
        d.launch(lists[0], add, 4, events[0], &[]);
        d.launch(lists[1], square, 4, events[1], &[events[0]]);
        d.launch(lists[0], add, 4, events[2], &[events[1]]);
        d.ok("zeEventHostSynchronize", &[events[2], FOREVER]);
        assert!(x.iter().all(|y| *y == v * v % 1000 + v), "{v}: {x:?}");
        for event in events {
            d.ok("zeEventDestroy", &[event]);
        }
        d.ok("zeEventPoolDestroy", &[pool]);
        for list in lists {
            d.ok("zeCommandListHostSynchronize", &[list, FOREVER]);
        }
    }

    /// A list that is recorded, executed twice, reset and executed again, with a fence.
    fn recorded(&mut self, queue: usize, list: usize, x: &mut [i32]) {
        let d = self.d;
        let (v, add, square) = self.kernels(x);
        let fence = d.make("zeFenceCreate", &[queue, zeros()]);
        d.launch(list, add, 4, 0, &[]);
        d.ok("zeCommandListAppendBarrier", &[list, 0, 0, 0]);
        d.launch(list, square, 4, 0, &[]);
        d.ok("zeCommandListClose", &[list]);
        d.ok("zeCommandQueueExecuteCommandLists", &[queue, 2, of(&[list, list]), 0]);
        d.ok("zeCommandQueueExecuteCommandLists", &[queue, 1, of(&list), fence]);
        d.ok("zeFenceHostSynchronize", &[fence, FOREVER]);
        let wanted = (0..3).fold(0, |y, _| (y + v) * (y + v) % 1000);
        assert!(x.iter().all(|y| *y == wanted), "{v}: {x:?}");
        d.ok("zeFenceDestroy", &[fence]);
        d.ok("zeCommandListReset", &[list]);
    }

    /// A list whose launch is changed between its executions.
    fn changed(&mut self, queue: usize, x: &mut [i32]) {
        let d = self.d;
        let (v, add, _) = self.kernels(x);
        let list = d.regular(of(&[0x2_0016u64, 0, 0]));
        let mut number = 0u64;
        d.ok("zeCommandListGetNextCommandIdExp", &[list, of(&[0u64, 0, 0]), at(&mut number)]);
        d.launch(list, add, 4, 0, &[]);
        d.ok("zeCommandListClose", &[list]);
        d.execute(queue, list);
        let more = v + 1;
        let change = [0x2_0019u64, 0, number, 1, 4, of(&more) as u64];
        d.ok("zeCommandListUpdateMutableCommandsExp", &[list, of(&[0u64, of(&change) as u64, 0])]);
        d.ok("zeCommandListClose", &[list]);
        d.execute(queue, list);
        assert!(x.iter().all(|y| *y == 2 * v + 1), "{v}: {x:?}");
        d.ok("zeCommandListDestroy", &[list]);
    }

    /// Memory that is mapped to reserved addresses, used, shared and taken away.
    fn mapped(&mut self, list: usize) {
        let d = self.d;
        let at_ = d.make("zeVirtualMemReserve", &[d.context, 0, 1 << 17]);
        let memory = d.make("zePhysicalMemCreate", &[d.context, d.device, of(&[0u64, 0, 0, 1 << 16])]);
        d.ok("zeVirtualMemMap", &[d.context, at_ + (1 << 16), 1 << 16, memory, 0, 1]);
        let v = self.next(1 << 20) as i32;
        d.arg(self.add, 0, at_ + (1 << 16));
        d.arg(self.add, 1, v);
        d.launch(list, self.add, 4, 0, &[]);
        let (mut handle, mut address, mut seen) = ([0u64; 8], 0usize, 0i32);
        d.ok("zeMemGetIpcHandle", &[d.context, memory, at(&mut handle)]);
        let open = [d.context, d.device, 0, at(&mut address)];
        assert_eq!(d.call_with("zeMemOpenIpcHandle", &open, &handle), SUCCESS);
        d.ok("zeCommandListAppendMemoryCopy", &[list, at(&mut seen), address, 4, 0, 0, 0]);
        d.ok("zeCommandListHostSynchronize", &[list, FOREVER]);
        assert_eq!(seen, v);
        d.ok("zeMemCloseIpcHandle", &[d.context, address]);
        assert_eq!(d.call_with("zeMemPutIpcHandle", &[d.context], &handle), SUCCESS);
        d.ok("zePhysicalMemDestroy", &[d.context, memory]);
        d.ok("zeVirtualMemFree", &[d.context, at_, 1 << 17]);
    }

    fn run(&mut self, end: Instant) -> u64 {
        let d = self.d;
        let lists = [d.immediate(0), d.immediate(self.seed & 1)];
        let (queue, list) = (d.queue(), d.regular(0));
        let mut rounds = 0;
        while Instant::now() < end {
            let x = d.shared(&[0i32; N]);
            match self.next(5) {
                0 => self.chained(lists, x),
                1 => self.chained([lists[0]; 2], x),
                2 => self.recorded(queue, list, x),
                3 => self.changed(queue, x),
                _ => self.mapped(lists[0]),
            }
            d.ok("zeMemFree", &[d.context, x.as_ptr() as usize]);
            rounds += 1;
        }
        rounds
    }
}

/// Kilobytes of memory that the process has.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux says it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it is there");
    line.split_whitespace().next().and_then(|kb| kb.parse().ok()).expect("a number")
}

/// Four seconds; `ENVISA_STRESS_SECONDS` says how long instead. From a fifth of a long time on, memory does not
/// grow.
#[test]
fn sixteen_threads_use_lists_of_all_kinds() {
    let Some(d) = driver() else { return };
    let seconds = std::env::var("ENVISA_STRESS_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(4);
    let module = d.program(TEXT);
    let start = Instant::now();
    let end = start + Duration::from_secs(seconds);
    let threads: Vec<_> = (0..THREADS as u64)
        .map(|i| {
            let (add, square) = (d.kernel(module, "add", N / 4), d.kernel(module, "square", N / 4));
            let mut mine = Mine { d, add, square, seed: 0x9e37_79b9 + i };
            std::thread::spawn(move || mine.run(end))
        })
        .collect();
    std::thread::sleep((start + Duration::from_secs(seconds) / 5).saturating_duration_since(Instant::now()));
    let before = resident();
    let rounds: Vec<u64> = threads.into_iter().map(|t| t.join().expect("no thread fails")).collect();
    let after = resident();
    let all: u64 = rounds.iter().sum();
    let told = writeln!(
        std::io::stderr(),
        "{all} rounds in {seconds} s; {before} kB of memory after a fifth, {after} kB at the end"
    );
    told.expect("somebody reads");
    assert!(rounds.iter().all(|n| *n > 0), "{rounds:?}");
    assert!(seconds < LONG || after < before + GROWTH, "{before} kB became {after} kB");
}
