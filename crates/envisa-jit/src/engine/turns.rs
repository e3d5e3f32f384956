//! Groups whose threads are alive together: native code lets them take turns, and what it leaves goes on thread by
//! thread.

use super::*;
use crate::context_layout::{Record, record, state, together as which};
use envisa_machine::start::Value;

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
    /// The caches of rows that its code has.
    row_caches: (&'a RowCaches, u32),
    sites: &'a mut [Site],
    /// The first thread's record, and bytes from one to the next.
    records: *mut u8,
    record: usize,
    /// The group's id along the row.
    along: u32,
    /// The fault of the thread that a callback stopped.
    trap: Option<Box<Trap>>,
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
        self.load_once(alive, row);
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
        let mut host = Host {
            alive,
            row,
            rest: self.rest,
            row_caches: variant.row_caches(),
            sites: std::mem::take(&mut self.sites),
            records: self.turning.records.as_mut_ptr().cast(),
            record: 64 * lines,
            along: row.first[row.axis],
            trap: None,
        };
        for nth in 0..row.groups {
            if nth > 0 {
                host.along += 1;
                if let Err(trap) = host.alive.next(row, host.along, stop) {
                    return (nth, Turns::Fault(trap));
                }
            }
            let how = call_group(self.variant, self.turning, &mut host, stop);
            if how != exit::DONE {
                let (trap, alive) = (host.trap, host.alive);
                return (nth, self.stopped(alive, row, how, trap));
            }
        }
        (row.groups, Turns::Ended)
    }

    /// What threads start with and no instruction changes, in the registers of each.
    fn load_once(&self, alive: &mut Alive<'_>, row: &Row<'_>) {
        let (once, step) = (&self.variant.compiled.once, self.variant.payload);
        for (t, k) in alive.threads().iter_mut().zip(0..) {
            let payload = &row.payloads[(k * step) as usize..];
            let registers = t.regs.bytes_mut();
            for w in once {
                let to = &mut registers[w.to as usize..(w.to + w.bytes) as usize];
                match w.value {
                    Value::Fill(x) => to.fill(x),
                    Value::Image(at) => to.copy_from_slice(&row.image[at as usize..(at + w.bytes) as usize]),
                    Value::Payload(at) => to.copy_from_slice(&payload[at as usize..(at + w.bytes) as usize]),
                    Value::Index => to.copy_from_slice(&(k & 0xff).to_le_bytes()),
                    Value::Slot => to.copy_from_slice(&(row.slot + k).to_le_bytes()),
                    Value::State(gaps) => to.copy_from_slice(&gaps.number(row.slot + k).to_le_bytes()),
                    Value::GroupId | Value::Channels => unreachable!("they are not the same in all groups"),
                }
            }
        }
    }

    /// A group did not run to its end.
    fn stopped(&mut self, alive: &mut Alive<'_>, row: &Row<'_>, how: i32, trap: Option<Box<Trap>>) -> Turns {
        let all = row.threads;
        match how {
            exit::PAUSED | exit::MIXED => {
                self.settle(alive, row, all);
                Turns::Rest { started: all, next: all }
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
                Turns::Fault(alive.told(trap))
            }
        }
    }

    /// The thread whose turn it is had all that it was given.
    fn expired(&mut self, alive: &mut Alive<'_>, row: &Row<'_>) -> Turns {
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
            stop_at_limit(&mut m, self.variant, context, 0);
            let trap = m.trap.take().unwrap_or_else(|| unreachable!("a fault is one"));
            return Turns::Fault(alive.told(trap));
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
        Turns::Rest { started, next: index + 1 }
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

/// Runs the threads of a group that has not begun; gives how the code returned.
fn call_group(variant: &Variant, turning: &mut Turning, host: &mut Host<'_, '_>, stop: &Stop) -> i32 {
    let row = host.row;
    let start = turning.context.get64(at::START);
    for k in 0..row.threads as usize {
        let r = turning.record(k);
        (r.resume, r.resume_at, r.seen, r.left) = (state::NEW, start, 0, row.limit);
    }
    let context = &mut turning.context;
    let records = context.get64(at::RECORDS);
    context.set(at::GROUP, host.along);
    context.set(at::INDEX, 0);
    context.set(at::ENDED, 0);
    context.set64(at::FIRST, if host.along == 0 { records } else { 0 });
    context.set64(at::PAYLOAD, row.payloads.as_ptr() as u64);
    context.set64(at::BUDGET, budget_per_turn(row.limit));
    context.set64(at::SEGMENT, budget_per_turn(row.limit));
    let registers = host.alive.threads()[0].regs.bytes_mut().as_mut_ptr();
    context.set64(at::HOST, std::ptr::from_mut(host) as u64);
    loop {
        context.set64(at::LEFT, TURN);
        // SAFETY: the variant's code is a function of this signature. It touches the context, the threads' records
        // and the register files that these name, all of which are as large as it was told and live until it
        // returns, the payloads of as many threads, guest memory that a site lets pass, and `host` in callbacks,
        // which nothing else uses meanwhile.
        let how = unsafe { variant.code.call(registers, context.lines.as_mut_ptr().cast()) } as i32;
        row_cache_moves::close_returned(context, variant.row_caches());
        if how != exit::PAUSED || stop.cancelled() {
            return how;
        }
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
    // SAFETY: the context is that of the variant whose caches the host has.
    unsafe {
        if runner::is_row_cache_call(pc) {
            return row_cache_moves::serve(context, host.row_caches, host.sites, pc);
        }
        row_cache_moves::close(context, host.row_caches);
    }
    let mut m = host.alive.machine(index as usize);
    // SAFETY: there are as many records as threads, of which this is one.
    let r = unsafe { &mut *host.records.add(index as usize * host.record).cast::<Record>() };
    if r.seen == 0 {
        r.seen = 1;
        host.row.begin(&mut m, host.along, index);
    }
    m.t.mask = exec;
    m.t.budget = r.left.wrapping_sub(spent);
    let how = step(&mut m, host.rest, host.sites, (pc, None));
    host.trap = m.trap.take();
    how
}
