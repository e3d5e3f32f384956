//! Groups whose threads are alive together: native code lets them take turns, and what it leaves goes on thread by
//! thread.

use super::*;
use envisa_codegen::layout::{Record, record, state, together as which};

/// What native code that lets threads take turns finds.
pub(super) struct Turning {
    pub context: Context,
    /// Records of the threads, each with the channels that wait, in cache lines.
    records: Vec<Line>,
    /// Lines of a record.
    lines: usize,
}

impl Turning {
    /// For groups of so many threads at most.
    pub fn new(context: Context, v: &Variant, threads: u32) -> Turning {
        let lines = v.compiled.record as usize / 64;
        Turning { context, records: vec![Line([0; 16]); lines * threads as usize], lines }
    }

    fn threads(&self) -> usize {
        self.records.len() / self.lines
    }

    /// A thread's record.
    fn record(&mut self, thread: usize) -> &mut Record {
        let line = &mut self.records[thread * self.lines];
        // SAFETY: a record is plain numbers, as a line is, smaller, and needs no more alignment.
        unsafe { &mut *std::ptr::from_mut(line).cast::<Record>() }
    }

    /// The channels of a thread that wait, by the number of the label.
    fn waits(&self, thread: usize, n: usize) -> u32 {
        let at = record::WAITS as usize / 4 + n;
        self.records[thread * self.lines + at / 16].0[at % 16]
    }
}

/// What a callback finds.
struct Host<'a, 'm> {
    alive: &'a mut Alive<'m>,
    row: &'a Row<'a>,
    rest: &'a dyn Instructions,
    help: &'a [Help],
    sites: &'a mut [Site],
    /// The first thread's record, and bytes from one to the next.
    records: *mut u8,
    record: usize,
    /// The group's id in x.
    x: u32,
    /// The fault of the thread that a callback stopped.
    trap: Option<Box<Trap>>,
}

/// How a group ended.
enum Group {
    Done,
    Stopped(Turns),
}

/// Runs rows of such groups.
pub(super) struct Turn<'a> {
    pub variant: &'a Variant,
    pub rest: &'a dyn Instructions,
    pub turning: &'a mut Turning,
    /// Those of threads that run by themselves.
    pub contexts: &'a mut [Context],
    pub sites: &'a mut [Site],
}

impl Turn<'_> {
    pub fn row(
        &mut self,
        alive: &mut Alive<'_>,
        row: &Row<'_>,
        stop: &Stop,
        program: &Program,
    ) -> (u32, Turns) {
        let (variant, threads) = (self.variant, row.threads as usize);
        let payloads = threads * variant.payload as usize <= row.payloads.len();
        let count = threads <= self.turning.threads() && threads == alive.threads().len();
        assert!(payloads && count && variant.row, "the row is one of another program");
        // What the code was compiled for is what it will touch.
        assert!(alive.machine(0).env.program.is(program), "the machine is one of another program");
        for (k, t) in alive.threads().iter_mut().enumerate() {
            assert!(t.regs.len() >= program.registers().bytes, "the registers are those of another program");
            let r = self.turning.record(k);
            (r.registers, r.index) = (t.regs.bytes_mut().as_mut_ptr() as u64, k as u32);
        }
        let (records, lines) = (self.turning.records.as_mut_ptr() as u64, self.turning.lines);
        let context = &mut self.turning.context;
        for (from, at, bytes) in &variant.compiled.image {
            context.put(*at, &row.image[*from as usize..(from + bytes) as usize]);
        }
        context.set(at::TOGETHER, if threads > 1 { which::TURNS } else { which::ALONE });
        context.set(at::CHANNELS, row.channels);
        context.set(at::LAST, row.last);
        context.set64(at::TURN, TURN);
        context.set64(at::RECORDS, records);
        context.set64(at::RECORDS_END, records + (threads * 64 * lines) as u64);
        context.set(at::THREADS, row.threads);
        context.set(at::SLOT, row.slot);
        for nth in 0..row.groups {
            let x = row.first[0] + nth;
            if nth > 0
                && let Err(trap) = alive.next(x, stop)
            {
                return (nth, Turns::Fault(trap));
            }
            if let Group::Stopped(how) = self.group(alive, row, x, stop) {
                return (nth, how);
            }
        }
        (row.groups, Turns::Ended)
    }

    fn group(&mut self, alive: &mut Alive<'_>, row: &Row<'_>, x: u32, stop: &Stop) -> Group {
        let start = self.turning.context.get64(at::START);
        for k in 0..row.threads as usize {
            let r = self.turning.record(k);
            (r.resume, r.resume_at, r.seen, r.left) = (state::NEW, start, 0, row.limit);
        }
        let context = &mut self.turning.context;
        context.set(at::GROUP_X, x);
        context.set(at::INDEX, 0);
        context.set(at::ENDED, 0);
        context.set64(at::FIRST, if x == 0 { context.get64(at::RECORDS) } else { 0 });
        context.set64(at::PAYLOAD, row.payloads.as_ptr() as u64);
        context.set64(at::BUDGET, given(row.limit));
        context.set64(at::SEGMENT, given(row.limit));
        let registers = alive.machine(0).t.regs.bytes_mut().as_mut_ptr();
        let (records, record) = (self.turning.records.as_mut_ptr().cast(), 64 * self.turning.lines);
        let mut host = Host {
            alive: &mut *alive,
            row,
            rest: self.rest,
            help: &self.variant.help,
            sites: &mut *self.sites,
            records,
            record,
            x,
            trap: None,
        };
        let context = &mut self.turning.context;
        context.set64(at::HOST, std::ptr::from_mut(&mut host) as u64);
        let how = loop {
            context.set64(at::LEFT, TURN);
            // SAFETY: the variant's code is a function of this signature. It touches the context, the threads' records
            // and the register files that these name, all of which are as large as it was told and live until it
            // returns, the payloads of as many threads, guest memory that a site lets pass, and `host` in callbacks,
            // which nothing else uses meanwhile.
            let how = unsafe { self.variant.code.call(registers, context.lines.as_mut_ptr().cast()) } as i32;
            if how != exit::PAUSED || stop.cancelled() {
                break how;
            }
        };
        let trap = host.trap;
        let all = row.threads;
        match how {
            exit::DONE => Group::Done,
            exit::PAUSED | exit::MIXED => {
                self.settle(alive, row, all);
                Group::Stopped(Turns::Rest { started: all, next: all })
            }
            exit::EXPIRED => self.expired(alive, row),
            // A callback said why.
            _ => {
                let index = self.turning.context.get(at::INDEX);
                let trap = trap.unwrap_or_else(|| {
                    let mut m = alive.machine(index as usize);
                    let pc = m.t.pc;
                    m.fault(pc, None, Cause::FellOff);
                    m.trap.take().unwrap_or_else(|| unreachable!("a fault is one"))
                });
                self.settle(alive, row, index);
                Group::Stopped(Turns::Fault(alive.told(trap)))
            }
        }
    }

    /// The thread whose turn it is had all that it was given.
    fn expired(&mut self, alive: &mut Alive<'_>, row: &Row<'_>) -> Group {
        let context = &self.turning.context;
        let (index, pc) = (context.get(at::INDEX), context.get(at::PC));
        let spent = context.get64(at::SEGMENT).wrapping_sub(context.get64(at::BUDGET));
        let started = self.settle(alive, row, index);
        let k = index as usize;
        let (left, seen) = (self.turning.record(k).left, self.turning.record(k).seen != 0);
        let context = &self.turning.context;
        let mut m = alive.machine(k);
        if !seen {
            row.reset(m.t, index);
        }
        m.t.mask = context.get(at::EXEC);
        if left < spent {
            limit(&mut m, self.variant, context, 0);
            let trap = m.trap.take().unwrap_or_else(|| unreachable!("a fault is one"));
            return Group::Stopped(Turns::Fault(alive.told(trap)));
        }
        m.t.budget = left - spent;
        let target = m.env.program.code()[pc as usize].aux;
        m.suspend(target, Status::Yielded);
        if let Some(own) = self.contexts.get_mut(k) {
            own.set(at::RESUME, context.get(at::RESUME));
            own.set(at::EXEC, context.get(at::EXEC));
            for w in own.waits.clone() {
                own.set(4 * w as u32, context.get(4 * w as u32));
            }
        }
        Group::Stopped(Turns::Rest { started, next: index + 1 })
    }

    /// Puts the threads to where their records say that they are, but for the one whose turn it is, if it is that of
    /// one. Gives how many have started.
    fn settle(&mut self, alive: &mut Alive<'_>, row: &Row<'_>, index: u32) -> u32 {
        let mut started = row.threads;
        for (k, t) in alive.threads().iter_mut().enumerate() {
            let thread = k as u32;
            if thread == index {
                continue;
            }
            let r = *self.turning.record(k);
            if r.seen == 0 {
                row.reset(t, thread);
            }
            match r.resume {
                state::NEW => {
                    started = started.min(thread);
                    continue;
                }
                state::ENDED => {
                    t.status = Status::Done;
                    continue;
                }
                _ => {}
            }
            let at = self.variant.compiled.resumptions.iter().find(|at| *at.1 == r.resume);
            let Some((pc, _)) = at else { unreachable!("a thread waits where code goes on") };
            let all = self.variant.compiled.whole.contains(pc);
            (t.mask, t.pc, t.budget) = (if all { row.channels_of(thread) } else { r.exec }, *pc, r.left);
            // Those whose turn is still to come have been let go on.
            t.status = if thread > index { Status::Ready } else { Status::Barrier };
            let Some(own) = self.contexts.get_mut(k) else { continue };
            own.set(at::RESUME, r.resume);
            own.set(at::EXEC, t.mask);
            for (n, w) in own.waits.clone().enumerate() {
                own.set(4 * w as u32, self.turning.waits(k, n));
            }
        }
        started
    }
}

/// Runs one instruction for native code that lets threads take turns: 0 to go on.
pub(super) extern "sysv64" fn callback(context: *mut u8, pc: Pc) -> u32 {
    // SAFETY: native code was entered with this context by `Turn::group`, which put a `Host` there that lives as long
    // as the code runs and is not used by anybody else until this returns.
    let (host, exec, spent, index) = unsafe {
        let host = *context.add(at::HOST as usize).cast::<*mut Host<'_, '_>>();
        let exec = *context.add(at::EXEC as usize).cast::<u32>();
        let left = *context.add(at::BUDGET as usize).cast::<u64>();
        let segment = *context.add(at::SEGMENT as usize).cast::<u64>();
        let index = *context.add(at::INDEX as usize).cast::<u32>();
        (&mut *host, exec, segment.wrapping_sub(left), index)
    };
    if pc & HELP != 0 {
        // SAFETY: the context is that of the variant whose help the host has.
        return unsafe { vector::help(context, host.help, pc) };
    }
    let mut m = host.alive.machine(index as usize);
    // SAFETY: there are as many records as threads, of which this is one.
    let r = unsafe { &mut *host.records.add(index as usize * host.record).cast::<Record>() };
    if r.seen == 0 {
        r.seen = 1;
        host.row.begin(&mut m, host.x, index);
    }
    m.t.mask = exec;
    m.t.budget = r.left.wrapping_sub(spent);
    let how = step(&mut m, host.rest, host.sites, pc);
    host.trap = m.trap.take();
    how
}
