//! Which bytes commands access, and what orders the commands. It finds races between commands, and is used only with
//! `ENVISA_CHECK`.
//!
//! **Order.** A command comes before another if a chain leads from the one to the other: the order of a queue, wait
//! lists, barriers, and the application, which enqueues a command after it has seen that another is over (by waiting,
//! asking, or a callback). Two commands that touch the same bytes, at least one of them writing, and that nothing
//! orders, race, however they happened to run. What several threads of the application see counts as seen by all.
//!
//! **Content.** Bytes of a buffer mean something once a command has written them. Kernels that read others are told
//! of, and transfers to the application of which not one byte was ever written.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::call_sites::{self, CallSite};
use crate::{guarded_host_memory, memory_in_use};

/// Commands that are kept, at most: races with older ones are not found.
const MOST: usize = 2048;

/// Disjoint ranges of addresses, in order.
#[derive(Clone, Default, Debug)]
pub struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds a range.
    pub fn add(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let (mut start, mut end) = (range.start, range.end);
        while let Some((&s, &e)) = self.0.range(..=end).next_back() {
            if e < start {
                break;
            }
            (start, end) = (start.min(s), end.max(e));
            self.0.remove(&s);
        }
        self.0.insert(start, end);
    }

    /// The parts of it that lie in a range.
    pub fn within(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let first = self.0.range(..=range.start).next_back().map_or(range.start, |(s, _)| *s);
        let cut = |(s, e): (&u64, &u64)| (*s).max(range.start)..(*e).min(range.end);
        self.0.range(first..range.end).map(cut).filter(|r| !r.is_empty()).collect()
    }

    /// The first part of a range that is not in it.
    pub fn first_gap(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let mut at = range.start;
        let first = self.0.range(..=at).next_back().map_or(at, |(s, _)| *s);
        // Neighbours are one range: there are no two parts side by side.
        for (start, end) in self.0.range(first..range.end) {
            if *start > at {
                return Some(at..*start);
            }
            at = at.max(*end);
        }
        (at < range.end).then_some(at..range.end)
    }

    /// Takes a range out of it.
    pub fn remove(&mut self, range: &Range<u64>) {
        let first = self.0.range(..=range.start).next_back().map_or(range.start, |(s, _)| *s);
        let parts = self.0.range(first..range.end).filter(|(_, e)| **e > range.start);
        let parts: Vec<(u64, u64)> = parts.map(|(s, e)| (*s, *e)).collect();
        for (start, end) in parts {
            self.0.remove(&start);
            for rest in [start..range.start, range.end..end] {
                self.add(rest);
            }
        }
    }

    /// The first range of addresses that both have.
    fn first_common_range(&self, other: &Ranges) -> Option<Range<u64>> {
        let (few, many) = if self.0.len() <= other.0.len() { (self, other) } else { (other, self) };
        few.0.iter().find_map(|(s, e)| many.within(&(*s..*e)).into_iter().next())
    }
}

/// What a command has touched so far.
#[derive(Default, Debug)]
struct Touched {
    what: Option<String>,
    read: Ranges,
    written: Ranges,
    /// Some of this may have been read, too.
    may_read: Ranges,
    /// How much memory had been freed when it began.
    freed: u64,
    /// The command's number.
    number: u64,
}

impl Touched {
    fn forget_range(&mut self, range: &Range<u64>) {
        self.read.remove(range);
        self.written.remove(range);
        self.may_read.remove(range);
    }
}

/// Queues that the application has made, and whether the commands of one may overtake each other.
static QUEUES: AtomicU32 = AtomicU32::new(0);
static OVERTAKE: AtomicBool = AtomicBool::new(false);

/// The application has made a queue.
pub fn queue_made() {
    QUEUES.fetch_add(1, Ordering::Relaxed);
}

/// The commands of a queue may overtake each other.
pub fn may_overtake() {
    OVERTAKE.store(true, Ordering::Relaxed);
}

/// Have all commands so far come one after the other, as those of one queue do? Which bytes each reads is then of no
/// interest.
pub fn are_all_in_order() -> bool {
    QUEUES.load(Ordering::Relaxed) < 2 && !OVERTAKE.load(Ordering::Relaxed)
}

thread_local! {
    /// Of the command that this thread runs.
    static CURRENT: RefCell<Option<Touched>> = const { RefCell::new(None) };
}

/// What the command of this thread touched; `None` if the thread is at its end, where its own variables are gone:
/// programs call the driver even there.
fn with_touched_memory<T>(use_it: impl FnOnce(&mut Option<Touched>) -> T) -> Option<T> {
    CURRENT.try_with(|c| use_it(&mut c.borrow_mut())).ok()
}

/// The command that runs on this thread is this.
pub fn name(what: impl FnOnce() -> String) {
    with_touched_memory(|c| {
        if let Some(c) = c {
            c.what = Some(what());
        }
    });
}

/// The command that runs on this thread reads memory of a device, or writes it.
pub fn note_access(range: Range<u64>, write: bool) {
    if write {
        guarded_host_memory::forget_range(&range);
    }
    with_touched_memory(|c| {
        if let Some(c) = c {
            if write { c.written.add(range) } else { c.read.add(range) }
        }
    });
}

/// The command that runs on this thread may read some of these bytes.
pub fn may_read(range: Range<u64>) {
    with_touched_memory(|c| {
        if let Some(c) = c {
            c.may_read.add(range);
        }
    });
}

#[derive(Debug, Default)]
struct Command {
    what: String,
    /// Numbers of those that come before it.
    after: Vec<u64>,
    /// When it was enqueued, by the application's clock.
    enqueued: u64,
    /// When the application saw that it is over.
    seen: Option<u64>,
    over: bool,
    touched: Touched,
    /// The application has not flushed its queue since.
    unflushed: bool,
    /// How often the application has asked whether it is over, meanwhile.
    asked: u32,
    /// Where it was enqueued.
    site: Option<CallSite>,
}

/// The commands that may still race.
#[derive(Debug, Default)]
struct Ledger {
    clock: u64,
    commands: BTreeMap<u64, Command>,
    /// How many commands have begun to run.
    begun: u64,
    /// How many of them are not over.
    running: u64,
    /// Memory that was freed, the last of it.
    freed: VecDeque<Range<u64>>,
    /// How much was freed before that.
    freed_before: u64,
    /// Events of the application's own that it has not set.
    users: BTreeSet<u64>,
}

static LEDGER: Mutex<Ledger> = Mutex::new(Ledger {
    clock: 0,
    commands: BTreeMap::new(),
    begun: 0,
    running: 0,
    freed: VecDeque::new(),
    freed_before: 0,
    users: BTreeSet::new(),
});

impl Ledger {
    /// Does a chain lead from the one to the other?
    fn before(&self, first: u64, second: u64) -> bool {
        let seen = self.commands.get(&first).and_then(|c| c.seen);
        let mut visited = BTreeSet::new();
        let mut open = vec![second];
        while let Some(at) = open.pop() {
            if at == first {
                return true;
            }
            let Some(c) = self.commands.get(&at) else { continue };
            if seen.is_some_and(|s| s <= c.enqueued) {
                return true;
            }
            open.extend(c.after.iter().filter(|n| visited.insert(**n)));
        }
        false
    }

    /// Forgets what comes before everything that is still to come.
    fn drop_settled_commands(&mut self) {
        let open = self.commands.values().filter(|c| !c.over).map(|c| c.enqueued).min().unwrap_or(u64::MAX);
        self.commands.retain(|_, c| !(c.over && c.seen.is_some_and(|s| s <= open)));
        while self.commands.len() > MOST {
            if let Some((number, _)) = self.commands.pop_first() {
                memory_in_use::forget_command(number);
            }
        }
    }

    /// Memory is no more: what comes to lie at its addresses is something else.
    fn free(&mut self, range: Range<u64>) {
        self.commands.values_mut().for_each(|c| c.touched.forget_range(&range));
        self.freed.push_back(range);
        if self.freed.len() > MOST {
            self.freed.pop_front();
            self.freed_before += 1;
        }
    }

    /// What a command has touched of memory that is still there.
    fn settle(&self, mut touched: Touched) -> Touched {
        let since = touched.freed.saturating_sub(self.freed_before) as usize;
        self.freed.iter().skip(since).for_each(|range| touched.forget_range(range));
        touched
    }

    /// Are two commands ordered?
    fn are_ordered(&self, a: u64, b: u64) -> bool {
        self.before(a, b) || self.before(b, a)
    }

    /// Commands that may race with this one, of which it is not known what exactly they read.
    fn may_race(&self, number: u64) -> Vec<String> {
        let Some(c) = self.commands.get(&number) else { return Vec::new() };
        let meets = |o: &Command| {
            c.touched.written.first_common_range(&o.touched.may_read).is_some()
                || c.touched.may_read.first_common_range(&o.touched.written).is_some()
        };
        let others = self.commands.iter().filter(|(n, o)| **n != number && o.over);
        others
            .filter(|(n, o)| meets(o) && !self.are_ordered(**n, number))
            .map(|(_, o)| o.what.clone())
            .collect()
    }

    /// Pairs of commands that race with this one: what they are called, and where.
    fn races(&self, number: u64) -> Vec<(String, Range<u64>, bool, Option<CallSite>)> {
        let Some(c) = self.commands.get(&number) else { return Vec::new() };
        let mut all = Vec::new();
        for (other, o) in self.commands.iter().filter(|(n, o)| **n != number && o.over) {
            let both = c.touched.written.first_common_range(&o.touched.written);
            let conflict = both
                .clone()
                .or_else(|| c.touched.written.first_common_range(&o.touched.read))
                .or_else(|| c.touched.read.first_common_range(&o.touched.written));
            if let Some(range) = conflict
                && !self.are_ordered(*other, number)
            {
                all.push((o.what.clone(), range, both.is_some(), o.site.clone()));
            }
        }
        all
    }
}

/// A command was enqueued, to run after others; what reports call it. `unflushed`: it may not begin before its queue is flushed.
pub fn note_enqueued(number: u64, what: &str, after: Vec<u64>, unflushed: bool) {
    let site = Some(CallSite::here());
    crate::report::report_unfinished_at_exit(report_unawaited);
    let mut ledger = LEDGER.lock().unwrap();
    ledger.clock += 1;
    let enqueued = ledger.clock;
    let what = what.to_owned();
    ledger.commands.insert(number, Command { what, after, enqueued, unflushed, site, ..Command::default() });
    if number.is_multiple_of(32) {
        ledger.drop_settled_commands();
    }
}

/// The application has set the status of an event of its own.
pub fn user_event_set(number: u64) {
    let mut ledger = LEDGER.lock().unwrap();
    ledger.clock += 1;
    let now = ledger.clock;
    ledger.users.remove(&number);
    let what = "a user event".to_owned();
    let user = Command { what, enqueued: now, seen: Some(now), over: true, ..Command::default() };
    ledger.commands.insert(number, user);
}

/// The application knows that a command is over, and with it all before it.
pub fn completion_known(number: u64) {
    let mut ledger = LEDGER.lock().unwrap();
    ledger.clock += 1;
    let now = ledger.clock;
    let mut open = vec![number];
    let mut known = Vec::new();
    while let Some(at) = open.pop() {
        if let Some(c) = ledger.commands.get_mut(&at)
            && c.seen.is_none()
        {
            c.seen = Some(now);
            open.extend(&c.after);
            known.push(at);
        }
    }
    for number in known {
        let Some(c) = ledger.commands.get(&number) else { continue };
        memory_in_use::end(number, &c.what, |range| !c.touched.written.within(range).is_empty());
    }
}

/// The application has flushed the queue of these commands.
pub fn note_flushed(numbers: &[u64]) {
    let mut ledger = LEDGER.lock().unwrap();
    for number in numbers {
        if let Some(c) = ledger.commands.get_mut(number) {
            c.unflushed = false;
        }
    }
}

/// The application begins to wait for a command: tells of what that waits for in queues that were not flushed.
pub fn waits_for(number: u64) {
    let ledger = LEDGER.lock().unwrap();
    let (mut visited, mut open) = (BTreeSet::new(), vec![number]);
    let mut all = BTreeSet::new();
    while let Some(at) = open.pop() {
        let Some(c) = ledger.commands.get(&at).filter(|c| c.seen.is_none()) else { continue };
        if c.unflushed {
            all.insert(c.what.clone());
        }
        open.extend(c.after.iter().filter(|n| visited.insert(**n)));
    }
    let waiter = ledger.commands.get(&number).map_or_else(String::new, |c| c.what.clone());
    drop(ledger);
    for what in all {
        let text = "is in another queue, which the program has not flushed: it may never begin";
        crate::report::report_host_mistake("flush", &format!("{waiter} waits for {what}, which {text}"));
    }
}

/// The application asks whether a command is over, and it is not.
pub fn note_status_query(number: u64) {
    /// Who asks so often waits.
    const OFTEN: u32 = 8;
    let mut ledger = LEDGER.lock().unwrap();
    let Some(c) = ledger.commands.get_mut(&number).filter(|c| c.unflushed) else { return };
    c.asked += 1;
    let what = (c.asked == OFTEN).then(|| c.what.clone());
    drop(ledger);
    if let Some(what) = what {
        let text = "whose queue it has not flushed: it may never begin";
        crate::report::report_host_mistake(
            "flush",
            &format!("the program asks again and again for the status of {what}, {text}"),
        );
    }
}

/// The application has made an event of its own.
pub fn user_event(number: u64) {
    let mut ledger = LEDGER.lock().unwrap();
    ledger.users.insert(number);
}

/// The call that enqueued a command does not wait for it: from now on the application leaves alone what it uses.
pub fn is_not_waited_for(number: u64) {
    // Another thread may have waited for it.
    let Some((what, site)) = not_known_to_be_over(number) else { return };
    memory_in_use::begin(number, &what, site.as_ref());
    if not_known_to_be_over(number).is_none() {
        memory_in_use::forget_command(number);
    }
}

/// What a command is called, and where it was enqueued, unless the application knows that it is over.
fn not_known_to_be_over(number: u64) -> Option<(String, Option<CallSite>)> {
    let ledger = LEDGER.lock().unwrap();
    ledger.commands.get(&number).filter(|c| c.seen.is_none()).map(|c| (c.what.clone(), c.site.clone()))
}

/// How many commands have begun to run, if all of them are over: nothing changes memory but the application.
pub fn started_count_if_idle() -> Option<u64> {
    let ledger = LEDGER.lock().unwrap();
    ledger.commands.values().all(|c| c.over).then_some(ledger.begun)
}

/// How many commands have begun to run, if none runs now but the one that asks.
pub fn started_count_if_alone() -> Option<u64> {
    let own = u64::from(current_command().is_some());
    let ledger = LEDGER.lock().unwrap();
    (ledger.running == own).then_some(ledger.begun)
}

/// How many commands have begun to run.
pub fn commands_begun() -> u64 {
    LEDGER.lock().unwrap().begun
}

/// Tells of what the application left undone, when it ends: results that it asked for and never waited for, commands whose queue
/// it never flushed, events that it never set.
fn report_unawaited() {
    let ledger = LEDGER.lock().unwrap();
    let mut all = BTreeMap::new();
    for c in ledger.commands.values().filter(|c| c.seen.is_none()) {
        let (what, site) = (&c.what, &c.site);
        if c.after.iter().any(|n| ledger.users.contains(n)) {
            all.insert(
                ("order", format!("{what} waits for an event of the program, which never set it")),
                site.clone(),
            );
        } else if what.starts_with("clEnqueueRead") {
            let text = "which does not block: the program never waited for what it reads";
            all.insert(("host memory", format!("{what}, {text}")), site.clone());
        } else if c.unflushed && ["kernel `", "clEnqueue"].iter().any(|w| what.starts_with(w)) {
            let text = "its queue was never flushed, and nobody waited for it: it may never begin";
            all.insert(("flush", format!("{what}: {text}")), site.clone());
        }
    }
    drop(ledger);
    for ((kind, text), site) in all {
        crate::report::mistake_at(kind, &text, || site.into_iter().map(|s| ("enqueued by", s)).collect());
    }
}

/// The command that runs on this thread, while mistakes are looked for.
pub fn current_command() -> Option<u64> {
    with_touched_memory(|c| c.as_ref().map(|c| c.number)).flatten()
}

/// The command that runs on this thread has waited for another.
pub fn comes_after(other: u64) {
    if let Some(number) = current_command()
        && let Some(c) = LEDGER.lock().unwrap().commands.get_mut(&number)
    {
        c.after.push(other);
    }
}

/// A command begins to run on this thread.
pub fn begin(number: u64) {
    let mut ledger = LEDGER.lock().unwrap();
    ledger.begun += 1;
    ledger.running += 1;
    let freed = ledger.freed_before + ledger.freed.len() as u64;
    let site = ledger.commands.get(&number).and_then(|c| c.site.clone());
    drop(ledger);
    call_sites::set_running_command(site);
    with_touched_memory(|c| *c = Some(Touched { freed, number, ..Touched::default() }));
    memory_in_use::command_begins(number);
}

/// Memory was freed that commands may have touched.
pub fn freed(range: Range<u64>) {
    guarded_host_memory::forget_range(&range);
    LEDGER.lock().unwrap().free(range);
}

/// The command that runs on this thread is over; tells of races with others.
pub fn end(number: u64) {
    call_sites::set_running_command(None);
    let touched = with_touched_memory(Option::take).flatten();
    let mut ledger = LEDGER.lock().unwrap();
    ledger.running -= 1;
    let Some(touched) = touched else { return };
    let touched = ledger.settle(touched);
    let Some(c) = ledger.commands.get_mut(&number) else { return };
    c.over = true;
    if let Some(what) = &touched.what {
        c.what.clone_from(what);
    }
    c.touched = touched;
    let (what, own) = (c.what.clone(), c.site.clone());
    let (races, may_race) = match are_all_in_order() {
        true => Default::default(),
        false => (ledger.races(number), ledger.may_race(number)),
    };
    drop(ledger);
    for other in may_race {
        crate::report::report_unchecked(&format!(
            "whether {other} and {what}, which nothing orders, access the same bytes was not checked: there was one queue when the first of them ran"
        ));
    }
    for (other, range, both, site) in races {
        let bytes = range.end - range.start;
        let does = if both { "both write" } else { "one reads and one writes" };
        let text = format!(
            "{other} and {what}: {does} the same {bytes} bytes of memory, and nothing orders the two commands"
        );
        let sites = || site.into_iter().chain(own.clone()).map(|site| ("enqueued by", site)).collect();
        crate::report::mistake_at("order", &text, sites);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_merge_and_tell_what_is_missing() {
        let mut r = Ranges::default();
        for part in [10..20, 30..40, 20..25, 5..6, 38..50] {
            r.add(part);
        }
        assert_eq!(r.0.clone().into_iter().collect::<Vec<_>>(), [(5, 6), (10, 25), (30, 50)]);
        assert_eq!(r.within(&(12..35)), [12..25, 30..35]);
        assert_eq!(r.first_gap(&(10..25)), None);
        assert_eq!(r.first_gap(&(12..35)), Some(25..30));
        assert_eq!(r.first_gap(&(45..60)), Some(50..60));
        let mut other = Ranges::default();
        other.add(24..31);
        assert_eq!(r.first_common_range(&other), Some(24..25));
        other = Ranges::default();
        other.add(25..30);
        assert_eq!(r.first_common_range(&other), None);
    }

    /// Of numbers: what came before, when enqueued, when seen.
    fn ledger(commands: &[(u64, &[u64], u64, Option<u64>)]) -> Ledger {
        let make = |(number, after, enqueued, seen): &(u64, &[u64], u64, Option<u64>)| {
            let mut touched = Touched::default();
            touched.written.add(0..4);
            let c = Command {
                after: after.to_vec(),
                enqueued: *enqueued,
                seen: *seen,
                over: true,
                touched,
                ..Command::default()
            };
            (*number, c)
        };
        Ledger { clock: 99, commands: commands.iter().map(make).collect(), ..Ledger::default() }
    }

    #[test]
    fn memory_that_was_freed_is_forgotten() {
        let mut r = Ranges::default();
        r.add(10..20);
        r.add(30..40);
        r.remove(&(15..35));
        assert_eq!(r.0.clone().into_iter().collect::<Vec<_>>(), [(10, 15), (35, 40)]);
        r.remove(&(0..11));
        r.remove(&(12..13));
        assert_eq!(r.0.into_iter().collect::<Vec<_>>(), [(11, 12), (13, 15), (35, 40)]);

        let mut l = ledger(&[(1, &[], 1, None), (2, &[], 2, None)]);
        assert_eq!(l.races(1).len(), 1);
        // A command that ran when the memory was freed touched the old one.
        let mut old = Touched::default();
        old.written.add(0..4);
        let begun = l.freed_before + l.freed.len() as u64;
        l.free(0..4);
        assert!(l.races(1).is_empty() && l.races(2).is_empty());
        assert!(l.settle(old).written.0.is_empty());
        let mut new = Touched { freed: begun + 1, ..Touched::default() };
        new.written.add(0..4);
        assert_eq!(l.settle(new).written.0.len(), 1, "of what lies there now");
        for i in 0..MOST as u64 + 5 {
            l.free(100 + i..101 + i);
        }
        assert_eq!((l.freed.len(), l.freed_before), (MOST, 6));
    }

    #[test]
    fn chains_and_the_application_order_commands() {
        // 1 and 2 side by side; 3 after both; 4 enqueued when 1 was seen to be over.
        let l = ledger(&[(1, &[], 1, Some(4)), (2, &[], 2, None), (3, &[1, 2], 3, None), (4, &[], 5, None)]);
        assert!(l.before(1, 3) && l.before(2, 3) && l.before(1, 4));
        assert!(!l.before(1, 2) && !l.before(2, 1) && !l.before(3, 1));
        assert_eq!(l.races(1).len(), 1, "with 2 alone");
        assert_eq!(l.races(2).len(), 2, "with 1 and 4");
        assert_eq!(l.races(3).len(), 1, "with 4");
    }
}
