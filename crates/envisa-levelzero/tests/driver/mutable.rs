//! Lists whose commands are changed between their executions.

use crate::ze::*;

const TEXT: &str = "
    kernel void store(global int *x, int v) { x[get_global_id(0)] = v + (int)get_local_size(0); }
    kernel void add(global int *x, int v) { x[get_global_id(0)] += v; }";

const LIST: [u64; 3] = [0x2_0016, 0, 0];

struct Mutable {
    d: &'static Driver,
    list: usize,
    queue: usize,
    kernel: usize,
    x: &'static mut [i32],
}

fn mutable(d: &'static Driver) -> Mutable {
    let kernel = d.kernel(d.program(TEXT), "store", 1);
    let x = d.shared(&[0i32; 64]);
    d.arg(kernel, 0, x.as_ptr());
    d.arg(kernel, 1, 100i32);
    Mutable { d, list: d.regular(of(&LIST)), queue: d.queue(), kernel, x }
}

impl Mutable {
    fn number(&self, flags: u64) -> u64 {
        let mut number = 0u64;
        let desc = [0x2_0017u64, 0, flags];
        self.d.ok("zeCommandListGetNextCommandIdExp", &[self.list, of(&desc), at(&mut number)]);
        number
    }

    fn update(&self, change: &[u64]) -> u32 {
        let desc = [0x2_0018u64, of(change) as u64, 0];
        self.d.call("zeCommandListUpdateMutableCommandsExp", &[self.list, of(&desc)])
    }

    fn run(&mut self) -> Vec<i32> {
        self.x.fill(0);
        self.d.ok("zeCommandListClose", &[self.list]);
        self.d.execute(self.queue, self.list);
        self.x.to_vec()
    }
}

fn ones(n: usize, value: i32) -> Vec<i32> {
    (0..64).map(|i| if i < n { value } else { 0 }).collect()
}

#[test]
fn launches_are_changed() {
    let Some(d) = driver() else { return };
    let mut m = mutable(d);
    let number = m.number(0);
    d.launch(m.list, m.kernel, 4, 0, &[]);
    assert_eq!(m.run(), ones(4, 101));
    let argument = [0x2_0019u64, 0, number, 1, 4, of(&200i32) as u64];
    assert_eq!(m.update(&argument), SUCCESS);
    // Changed, but not closed.
    assert_eq!(d.call("zeCommandQueueExecuteCommandLists", &[m.queue, 1, of(&m.list), 0]), INVALID);
    assert_eq!(m.run(), ones(4, 201));
    // Size, number and offset of groups at once.
    let offset = [0x2_001cu64, 0, number, 8, 0];
    let groups = [0x2_001au64, of(&offset) as u64, number, of(&[2u32, 1, 1]) as u64];
    let size = [0x2_001bu64, of(&groups) as u64, number, 4 | 1 << 32, 1];
    assert_eq!(m.update(&size), SUCCESS);
    let wanted: Vec<i32> = (0..64).map(|i| if (8..16).contains(&i) { 204 } else { 0 }).collect();
    assert_eq!(m.run(), wanted);
    // The kernel is as it was.
    d.launch(d.immediate(1), m.kernel, 1, 0, &[]);
    assert_eq!(m.x[0], 101);
    // Another memory.
    let y = d.shared(&[0i32; 64]);
    let pointer = y.as_ptr() as u64;
    assert_eq!(m.update(&[0x2_0019, 0, number, 0, 8, of(&pointer) as u64]), SUCCESS);
    assert_eq!(m.run(), ones(0, 0));
    assert_eq!(y[8], 204);
}

#[test]
fn kernels_and_events_are_changed() {
    let Some(d) = driver() else { return };
    let mut m = mutable(d);
    let add = d.kernel(d.program(TEXT), "add", 1);
    d.arg(add, 0, m.x.as_ptr());
    let events = d.events(3);
    let mut number = 0u64;
    let kernels = [m.kernel, add];
    let args = [m.list, of(&[0x2_0017u64, 0, 0x7f]), 2, of(&kernels), at(&mut number)];
    d.ok("zeCommandListGetNextCommandIdWithKernelsExp", &args);
    d.ok("zeEventHostSignal", &[events[0]]);
    d.launch(m.list, m.kernel, 1, events[2], &[events[0]]);
    assert_eq!(m.run()[0], 101);
    d.ok("zeEventQueryStatus", &[events[2]]);
    let kernel = "zeCommandListUpdateMutableCommandKernelsExp";
    d.ok(kernel, &[m.list, 1, of(&number), of(&add)]);
    assert_eq!(m.update(&[0x2_0019, 0, number, 1, 4, of(&7i32) as u64]), SUCCESS);
    let waits = "zeCommandListUpdateMutableCommandWaitEventsExp";
    d.ok(waits, &[m.list, number as usize, 1, of(&events[1])]);
    d.ok("zeCommandListUpdateMutableCommandSignalEventExp", &[m.list, number as usize, 0]);
    d.ok("zeEventHostReset", &[events[2]]);
    d.ok("zeEventHostReset", &[events[0]]);
    d.ok("zeEventHostSignal", &[events[1]]);
    assert_eq!(m.run()[0], 7, "it waited for the second event, and added");
    assert_eq!(d.call("zeEventQueryStatus", &[events[2]]), NOT_READY);
    d.ok("zeEventHostReset", &[events[1]]);
    d.ok(waits, &[m.list, number as usize, 1, 0]);
    assert_eq!(m.run()[0], 7, "it waits for nothing");
    assert_eq!(d.call(waits, &[m.list, number as usize, 2, events.as_ptr() as usize]), SIZE);
    let strange = d.kernel(d.program(TEXT), "add", 1);
    assert_eq!(d.call(kernel, &[m.list, 1, of(&number), of(&strange)]), 0x7800_001c);
}

#[test]
fn what_cannot_be_changed_is_refused() {
    let Some(d) = driver() else { return };
    let mut m = mutable(d);
    let number = m.number(1);
    d.launch(m.list, m.kernel, 4, 0, &[]);
    let next = m.number(0);
    d.ok("zeCommandListAppendBarrier", &[m.list, 0, 0, 0]);
    let one = [1u32; 3];
    let groups = |number| [0x2_001au64, 0, number, of(&one) as u64];
    assert_eq!(m.update(&groups(number)), INVALID, "the list is open");
    m.run();
    assert_eq!(m.update(&groups(number)), INVALID, "only arguments were named");
    assert_eq!(m.update(&groups(next)), INVALID, "a barrier has no groups");
    for wild in [0, 77, u64::MAX] {
        assert_eq!(m.update(&groups(wild)), INVALID);
    }
    assert_eq!(m.update(&[0x2_0019, 0, number, 9, 4, 0]), 0x7800_0015);
    assert_eq!(m.update(&[0x2_0019, 0, number, 0, 1 << 40, of(&0u64) as u64]), 0x7800_0016);
    assert_eq!(m.update(&[0x2_0020, 0, number, 0, 0]), INVALID, "there are no graphs");
    let mut to = 0u64;
    let next = "zeCommandListGetNextCommandIdExp";
    assert_eq!(d.call(next, &[m.list, zeros(), at(&mut to)]), INVALID, "the list is closed");
    let usual = d.regular(0);
    assert_eq!(d.call(next, &[usual, zeros(), at(&mut to)]), INVALID);
    let (mut yes, mut no) = (9u8, 9u8);
    d.ok("zeCommandListIsMutableExp", &[m.list, at(&mut yes)]);
    d.ok("zeCommandListIsMutableExp", &[usual, at(&mut no)]);
    assert_eq!((yes, no), (1, 0));
    assert_eq!(d.call("zeCommandListCreateCloneExp", &[usual, at(&mut to)]), INVALID, "it is open");
    let copy = d.make("zeCommandListCreateCloneExp", &[m.list]);
    m.x.fill(0);
    d.execute(m.queue, copy);
    assert_eq!(m.x[..5], [101, 101, 101, 101, 0]);
    // A list that was reset knows no commands any more.
    d.ok("zeCommandListReset", &[m.list]);
    d.ok("zeCommandListClose", &[m.list]);
    assert_eq!(m.update(&[0x2_0019, 0, number, 1, 4, of(&7i32) as u64]), INVALID);
}
