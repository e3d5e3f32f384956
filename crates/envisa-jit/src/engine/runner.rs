//! Runs threads and rows of groups by native code, and what that calls back for.
#![allow(unsafe_code)]

use super::observed::Observed;
use super::*;
use crate::emit::payload::InPlace;

/// What a worker needs beside the machine's, to be used by one after the other.
pub(super) struct Spare {
    /// For threads with all channels, and for others; by thread of the group, where its threads are alive together.
    pub(super) contexts: [Vec<Context>; 2],
    pub(super) sites: Vec<Site>,
    /// Where threads are alive together and native code lets them take turns: with what, by variant.
    pub(super) turning: [Option<Turning>; 2],
    pub(super) kept: Kept,
}

impl Spare {
    pub(super) fn new(native: &Native, chosen: &Chosen, most: u32) -> Spare {
        let together = native.together;
        let live = if together { most } else { 1 };
        let mut sites = vec![Site::NOWHERE; image_variants::sites(&native.program)];
        let at = sites.as_mut_ptr();
        let code = chosen.variants.each_ref().map(|v| v.as_ref().ok());
        let turning = code.map(|v| {
            let v = v.filter(|v| v.row && together)?;
            Some(Turning::new(Context::new(v, at, turns::callback as *const ()), v, live))
        });
        let contexts = code.map(|v| {
            let one = |v: &Arc<Variant>| Context::new(v, at, callback as *const ());
            v.map_or_else(Vec::new, |v| (0..live).map(|_| one(v)).collect())
        });
        Spare { contexts, sites, turning, kept: Kept::default() }
    }

    /// For a launch with these symbols: nothing of an earlier one's memory is known any more.
    pub(super) fn renew(&mut self, symbols: &[u64]) {
        self.sites.fill(Site::NOWHERE);
        let turning = self.turning.iter_mut().flatten().map(|t| &mut t.context);
        self.contexts.iter_mut().flatten().chain(turning).for_each(|c| c.link(symbols));
    }
}

/// What a callback finds.
pub(super) struct Host<'a, 'm> {
    pub(super) machine: &'a mut Machine<'m>,
    pub(super) rest: &'a dyn Instructions,
    /// Its caches of rows.
    pub(super) row_caches: (&'a RowCaches, u32),
    /// The program's instruction that the code's first one is.
    pub(super) base: Pc,
    pub(super) sites: &'a mut [Site],
    /// The thread's budget and the context's, when native code was entered or last asked for more.
    pub(super) budget: (u64, u64),
    pub(super) stop: &'a Stop,
    /// The row that runs, and the group and thread of it that the machine is at.
    pub(super) row: Option<&'a Row<'a>>,
    pub(super) at: Option<(u32, u32)>,
    /// What of a thread's payload code reads in place, and bytes from one thread's to the next one's.
    pub(super) in_place: (&'a [InPlace], u32),
    /// Who is told of what it calls back for, if anybody is.
    pub(super) observed: Option<Observed<'a>>,
}

impl Host<'_, '_> {
    /// Native code of a row came to this thread: so does the machine.
    pub(super) fn follow(&mut self, along: u32, thread: u32) {
        let Some(row) = self.row else { return };
        if self.at == Some((along, thread)) {
            return;
        }
        self.at = Some((along, thread));
        row.begin(self.machine, along, thread);
        let (in_place, step) = self.in_place;
        let payload = &row.payloads[(thread * step) as usize..];
        let registers = self.machine.t.regs.bytes_mut();
        for i in in_place {
            let (to, from, n) = (i.to as usize, i.from as usize, i.bytes as usize);
            registers[to..to + n].copy_from_slice(&payload[from..from + n]);
        }
        self.budget = (row.limit, budget_per_turn(row.limit));
    }

    /// What was spent since, if the context has so much left.
    pub(super) fn spent(&self, left: u64) -> u64 {
        self.budget.1.wrapping_sub(left)
    }

    /// The turn of a thread that is alone is over, at the branch `pc`: it goes on, with what this gives to spend.
    ///
    /// # Errors
    /// It does not, and how it leaves.
    pub(super) fn renew(&mut self, pc: Pc, left: u64) -> Result<u64, i32> {
        let spent = self.spent(left);
        if self.budget.0 < spent {
            return Err(exit::EXPIRED);
        }
        if self.stop.cancelled() {
            let target = self.machine.env.program.code()[(self.base + pc) as usize].aux;
            self.machine.fault(target, None, Cause::Cancelled);
            return Err(exit::STOPPED);
        }
        self.budget.0 -= spent;
        self.budget.1 = self.budget.0.min(TURN);
        Ok(self.budget.1)
    }
}

/// What a thread is given to spend at a time.
pub(super) fn budget_per_turn(limit: u64) -> u64 {
    limit.min(TURN)
}

/// Runs threads natively.
pub(super) struct Runner<'a> {
    pub(super) native: &'a Native,
    pub(super) chosen: Arc<Chosen>,
    pub(super) own: Spare,
}

impl Chosen {
    pub(super) fn spare(&self) -> MutexGuard<'_, Vec<Spare>> {
        self.spare.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub(super) fn variant(&self, which: usize) -> Option<&Variant> {
        self.variants[which].as_ref().ok().map(|v| &**v)
    }
}

impl Runner<'_> {
    /// The variant for threads with these channels: 0 for those that have all, and where all threads run by one.
    fn which(&self, channels: u32) -> usize {
        let simd = self.native.program.simd();
        let one = matches!(&self.chosen.variants, [Ok(a), Ok(b)] if Arc::ptr_eq(a, b));
        usize::from(!one && channels != if simd >= 32 { u32::MAX } else { (1 << simd) - 1 })
    }
}

impl Native {
    /// Runs a thread until it ends, waits, has had its turn or faults, or until its observer wants to be told of all that
    /// it does; whether it is that. `fresh`: it starts.
    pub(super) fn thread<'h>(
        &'h self,
        m: &'h mut Machine<'_>,
        (variant, context): (&'h Variant, &mut Context),
        sites: &'h mut [Site],
        (fresh, stop): (bool, &'h Stop),
        observed: Option<Observed<'h>>,
    ) -> bool {
        // What the code was compiled for is what it will touch.
        let same = m.env.program.is(&self.program) && m.t.regs.len() >= self.program.registers().bytes;
        assert!(same, "the machine is one of another program");
        if !self.scratch.is_empty() {
            sites::move_scratch(m, &self.scratch, sites);
        }
        if fresh {
            context.set(at::RESUME, 0);
            context.set(at::EXEC, m.t.mask);
            for w in context.waits.clone() {
                context.set(4 * w as u32, 0);
            }
        }
        context.set(at::DISPATCH, m.t.dispatch);
        m.t.status = Status::Ready;
        let given = m.t.budget.min(m.t.turn).min(i64::MAX as u64);
        context.set64(at::BUDGET, given);
        let mut host = Host {
            budget: (m.t.budget, given),
            machine: m,
            rest: &*self.rest,
            row_caches: variant.row_caches(),
            base: 0,
            sites,
            stop,
            row: None,
            at: None,
            in_place: (&[], 0),
            observed,
        };
        debug_assert_eq!(context.get64(at::SITES), host.sites.as_ptr() as u64);
        context.set64(at::HOST, std::ptr::from_mut(&mut host) as u64);
        let registers = host.machine.t.regs.bytes_mut().as_mut_ptr();
        // SAFETY: the variant's code is a function of this signature. It touches the register file and the
        // context, which are as large as it was told and live until it returns, guest memory that a site lets
        // pass, and `host` in callbacks, which nothing else uses meanwhile.
        let how = unsafe { variant.code.call(registers, context.lines.as_mut_ptr().cast()) };
        row_cache_moves::close_returned(context, variant.row_caches());
        let spent = host.spent(context.get64(at::BUDGET));
        let pc = context.get(at::PC);
        let left = host.observed.as_ref().is_some_and(|o| o.left);
        let m = host.machine;
        match how as i32 {
            exit::DONE => m.t.status = Status::Done,
            exit::BARRIER => {
                m.t.mask = context.get(at::EXEC);
                m.suspend(pc, Status::Barrier);
            }
            exit::EXPIRED => {
                m.t.mask = context.get(at::EXEC);
                if host.budget.0 < spent {
                    stop_at_limit(m, variant, context, 0);
                    return false;
                }
                let target = self.program.code()[pc as usize].aux;
                m.suspend(target, Status::Yielded);
            }
            // A callback said why.
            _ => {
                if m.t.status == Status::Ready && !left {
                    m.fault(m.t.pc, None, Cause::FellOff);
                }
                return left;
            }
        }
        m.t.budget = host.budget.0.wrapping_sub(spent);
        m.t.turn = m.t.turn.saturating_sub(spent);
        false
    }
}

impl Run for Runner<'_> {
    fn run(&mut self, m: &mut Machine<'_>, fresh: bool, stop: &Stop) {
        let which = self.which(m.t.dispatch);
        let Spare { contexts, sites, .. } = &mut self.own;
        let state = if contexts[which].len() > 1 { m.t.index as usize } else { 0 };
        let (Some(variant), Some(context)) = (self.chosen.variant(which), contexts[which].get_mut(state))
        else {
            return self.native.rest.run(m);
        };
        self.native.thread(m, (variant, context), sites, (fresh, stop), None);
    }

    fn takes_rows(&self) -> bool {
        self.chosen.variant(0).is_some_and(|v| v.row)
    }

    fn takes_turns(&self) -> bool {
        self.own.turning[0].is_some()
    }

    fn takes_tails(&self) -> bool {
        runs_tails_by_rows(&self.chosen.variants)
    }

    fn keep(&mut self, kept: Kept) {
        let sites = std::mem::take(&mut self.own.sites);
        let (contexts, turning) =
            (std::mem::take(&mut self.own.contexts), std::mem::take(&mut self.own.turning));
        self.chosen.spare().push(Spare { contexts, sites, turning, kept });
    }

    fn turns(&mut self, alive: &mut Alive<'_>, row: &Row<'_>, stop: &Stop) -> (u32, Turns) {
        let which = self.which(row.channels);
        let Spare { contexts, sites, turning, .. } = &mut self.own;
        let (Some(variant), Some(turning)) = (self.chosen.variant(which), &mut turning[which]) else {
            unreachable!("turns are for code that takes them");
        };
        let rest = &*self.native.rest;
        let mut turn = Turn { variant, rest, turning, contexts: &mut contexts[which], sites };
        turn.row(alive, row, stop, &self.native.program)
    }

    fn row(&mut self, m: &mut Machine<'_>, row: &Row<'_>, stop: &Stop) {
        let p = &self.native.program;
        let which = self.which(row.channels);
        let Spare { contexts, sites, .. } = &mut self.own;
        let (Some(variant), Some(context)) = (self.chosen.variant(which), contexts[which].get_mut(0)) else {
            // Its threads would not run, and nobody would know.
            unreachable!("rows are for code that takes them");
        };
        // What the code was compiled for is what it will touch.
        let same = m.env.program.is(&self.native.program) && m.t.regs.len() >= p.registers().bytes;
        let payloads = row.threads as usize * variant.payload as usize <= row.payloads.len();
        assert!(same && payloads && variant.row, "the row is one of another program");
        for (from, at, bytes) in &variant.compiled.image {
            context.put(*at, &row.image[*from as usize..(from + bytes) as usize]);
        }
        context.set(at::CHANNELS, row.channels);
        context.set(at::LAST, row.last);
        context.set(at::GROUP, row.first[row.axis]);
        context.set(at::INDEX, 0);
        context.set(at::THREADS, row.threads);
        // Code does not clear the local memory: if there is some, it runs a group at a time.
        let (mut left, at_once) = (row.groups, if m.slm.is_empty() { row.groups } else { 1 });
        context.set(at::GROUPS, at_once);
        context.set(at::SLOT, row.slot);
        context.set64(at::PAYLOAD, row.payloads.as_ptr() as u64);
        context.set64(at::PAYLOADS, row.payloads.as_ptr() as u64);
        context.set64(at::GIVEN, budget_per_turn(row.limit));
        context.set64(at::BUDGET, budget_per_turn(row.limit));
        let registers = m.t.regs.bytes_mut().as_mut_ptr();
        let mut host = Host {
            budget: (0, 0),
            machine: m,
            rest: &*self.native.rest,
            row_caches: variant.row_caches(),
            base: 0,
            sites,
            stop,
            row: Some(row),
            at: None,
            in_place: (&variant.compiled.in_place, variant.payload),
            observed: None,
        };
        debug_assert_eq!(context.get64(at::SITES), host.sites.as_ptr() as u64);
        context.set64(at::HOST, std::ptr::from_mut(&mut host) as u64);
        loop {
            context.set64(at::LEFT, TURN);
            // SAFETY: as in `run`; beside that it touches the payloads of the row's threads, of which there are as
            // many and which are as large as it was told.
            let how = unsafe { variant.code.call(registers, context.lines.as_mut_ptr().cast()) };
            row_cache_moves::close_returned(context, variant.row_caches());
            let mut how = how as i32;
            if how == exit::DONE {
                left -= at_once;
                if left == 0 {
                    return;
                }
                host.machine.slm.clear(0, host.machine.slm.len());
                context.set(at::GROUP, context.get(at::GROUP) + 1);
                context.set(at::GROUPS, 1);
                if !stop.cancelled() {
                    continue;
                }
                how = exit::PAUSED;
            }
            host.follow(context.get(at::GROUP), context.get(at::INDEX));
            let m = &mut *host.machine;
            match how {
                exit::PAUSED if !stop.cancelled() => {}
                exit::PAUSED => {
                    m.fault(0, None, Cause::Cancelled);
                    return;
                }
                exit::EXPIRED => return stop_at_limit(m, variant, context, 0),
                // A callback said why.
                _ => {
                    if m.trap.is_none() {
                        m.fault(m.t.pc, None, Cause::FellOff);
                    }
                    return;
                }
            }
        }
    }
}

/// A thread spent all it had, at a branch; `base`: the program's instruction that the code's first one is.
pub(super) fn stop_at_limit(m: &mut Machine<'_>, v: &Variant, context: &Context, base: Pc) {
    let pc = context.get(at::PC);
    m.t.mask = context.get(at::EXEC);
    // Of a branch that parts the channels, those that do not take it wait behind it already.
    if let Some(w) = v.compiled.waits.get(&(pc + 1))
        && m.env.program.code()[(base + pc) as usize].channels > 1
    {
        m.t.mask |= context.get(*w);
    }
    m.fault(base + pc, None, Cause::Limit);
}

/// Is native code's call about its caches of rows?
pub(super) fn is_row_cache_call(pc: Pc) -> bool {
    pc & (RENEW | MESSAGE | ROW_CACHE) == ROW_CACHE
}

/// Runs one instruction for native code, or gives it more to spend (see [`RENEW`]): 0 to go on.
pub(super) extern "sysv64" fn callback(context: *mut u8, pc: Pc) -> u32 {
    // SAFETY: native code was entered with this context by `Runner::run`, which put a `Host` there that lives as
    // long as the code runs and is not used by anybody else until this returns.
    let (host, exec, left, now) = unsafe {
        let host = *context.add(at::HOST as usize).cast::<*mut Host<'_, '_>>();
        let exec = *context.add(at::EXEC as usize).cast::<u32>();
        let left = *context.add(at::BUDGET as usize).cast::<u64>();
        let along = *context.add(at::GROUP as usize).cast::<u32>();
        let thread = *context.add(at::INDEX as usize).cast::<u32>();
        (&mut *host, exec, left, (along, thread))
    };
    // SAFETY: the context is that of the variant whose caches the host has.
    unsafe {
        if is_row_cache_call(pc) {
            return row_cache_moves::serve(context, host.row_caches, host.sites, pc);
        }
        row_cache_moves::close(context, host.row_caches);
    }
    host.follow(now.0, now.1);
    if pc & RENEW != 0 {
        host.machine.t.mask = exec;
        return match host.renew(pc & !RENEW, left) {
            Ok(more) => {
                // SAFETY: as above; the context is the native code's own, which waits for this call.
                unsafe { context.add(at::BUDGET as usize).cast::<u64>().write(more) };
                0
            }
            Err(how) => how as u32,
        };
    }
    let spent = host.spent(left);
    host.machine.t.mask = exec;
    host.machine.t.budget = host.budget.0.wrapping_sub(spent);
    let how = step(host.machine, host.rest, host.sites, (host.base + pc, host.observed.as_mut()));
    // What a thread that waits knows is not whole yet.
    if let Some(observed) = host.observed.as_mut().filter(|_| how == 0) {
        let words = thread_context::noting_words(observed.noting(host.machine));
        // SAFETY: as above; the context is the native code's own, which waits for this call.
        unsafe { context.add(at::SHADOW as usize).cast::<[u32; 4]>().write(words) };
    }
    how
}

/// Executes a message for the channels of the mask, which are counted from its first one.
pub(super) fn message(m: &mut Machine<'_>, pc: Pc) -> Pc {
    let i = m.env.program.code()[pc as usize];
    m.message(pc, i.aux, m.t.mask, i.channels.into(), i.first.into())
}

/// Has the machine execute one instruction for native code: 0 to go on.
pub(super) fn step(
    m: &mut Machine<'_>,
    rest: &dyn Instructions,
    sites: &mut [Site],
    (pc, observed): (Pc, Option<&mut Observed<'_>>),
) -> u32 {
    debug_assert!(to_nearest(), "the machine is called in another direction of rounding");
    if let Some(asked) = m.env.asked {
        asked.count(pc);
    }
    let (alone, pc) = (pc & MESSAGE != 0, pc & !MESSAGE);
    m.t.pc = pc;
    m.refresh_mode();
    let mut next = pc;
    let told = match observed {
        Some(observed) => {
            next = observed.instruction(m, pc, alone);
            Some(&*observed.told)
        }
        None => {
            while next == pc {
                next = if alone { message(m, pc) } else { rest.instruction(m, pc) };
            }
            None
        }
    };
    if next == STOP {
        let ended = m.trap.is_none() && m.t.status == Status::Done;
        return if ended { exit::ENDED as u32 } else { exit::STOPPED as u32 };
    }
    if next != pc + 1 {
        // Native code leaves nothing that jumps to the machine.
        m.fault(pc, None, Cause::FellOff);
        return exit::STOPPED as u32;
    }
    match told {
        Some(told) => {
            observed::aim_unobserved_site(m, pc, sites);
            observed::aim_noted_site(m, pc, told, sites);
        }
        None => sites::aim(m, pc, sites),
    }
    0
}
