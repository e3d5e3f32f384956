//! Memory of the application that commands use, and that it has to leave alone until it has waited for them. Looked at only while
//! mistakes are looked for.
//!
//! A command that does not block reads or fills such memory whenever its turn comes. Whether the application uses what is being
//! filled is seen by the processor's debug registers ([`Watch`]): they watch its first and last word, on the thread that enqueued
//! the command. What the driver does in its calls does not count. Whether the application frees the memory is seen by its calls of
//! the C library ([`freed_memory`]); such memory is freed later.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use crate::call_sites::{self, CallSite};
use crate::debug_registers::Watch;
use crate::freed_memory::{self, Block};
use crate::memory_to_read::MemoryToRead;

/// What a command does with the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// It reads it.
    Reads,
    /// It fills it.
    Fills,
    /// The memory was lent (`CL_MEM_USE_HOST_PTR`), and the kernel may use it as it likes.
    Lent,
    /// The same of shared virtual memory, which the application has to map, too.
    Shared,
    /// The same of memory that the application and the kernel may use at once.
    Unified,
    /// Nothing: the application had mapped it, and has it no longer.
    Ended,
}

#[derive(Debug)]
struct Held {
    number: u64,
    what: String,
    /// Where it was enqueued.
    site: Option<CallSite>,
    range: Range<u64>,
    uses: Use,
    /// What it reads, unless another command has changed that meanwhile.
    content: Option<Arc<MemoryToRead>>,
    thread: ThreadId,
    watch: Option<Watch>,
    /// The application has waited for the command, which has written lent memory: it may map it now.
    waited: bool,
    /// It has mapped the memory since.
    mapped: bool,
}

/// Memory that the command uses which the call on a thread enqueues.
struct Noted {
    range: Range<u64>,
    uses: Use,
    /// The rows that it reads.
    rows: Vec<Range<u64>>,
    content: Option<Arc<MemoryToRead>>,
}

/// Memory that was lent.
#[derive(Debug)]
struct Lent {
    range: Range<u64>,
    freed: bool,
}

#[derive(Debug, Default)]
struct All {
    held: Vec<Held>,
    lent: Vec<Lent>,
    /// What the application wants freed.
    blocks: Vec<(Range<u64>, Block)>,
}

static ALL: Mutex<All> = Mutex::new(All { held: Vec::new(), lent: Vec::new(), blocks: Vec::new() });
/// How much is held or lent.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// How much is watched.
static WATCHED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// What the command that a call enqueues uses.
    static NOTED: RefCell<Vec<Noted>> = const { RefCell::new(Vec::new()) };
}

fn ranges_overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// The application calls the driver on this thread, or the call is over: what the driver does is not the application's doing.
pub fn enter_or_leave_driver(enters: bool) {
    if !call_sites::in_driver(enters) {
        return;
    }
    if enters {
        // What the application allocates from its first call on is known.
        freed_memory::intercept_frees(may_free);
        let _ = NOTED.try_with(|n| n.borrow_mut().clear());
    }
    if WATCHED.load(Ordering::Relaxed) > 0 {
        let me = std::thread::current().id();
        let all = ALL.lock().unwrap();
        all.held
            .iter()
            .filter(|h| h.thread == me)
            .filter_map(|h| h.watch.as_ref())
            .for_each(|w| w.set(!enters));
    }
}

/// The command that the call on this thread enqueues uses memory of the application.
pub fn note(range: Range<u64>, uses: Use) {
    note_noted(Noted { range, uses, rows: Vec::new(), content: None });
}

/// The same of rows that it reads.
pub fn note_read(rows: Vec<Range<u64>>) {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return };
    let range = first.start..last.end;
    note_noted(Noted { range, uses: Use::Reads, rows, content: None });
}

fn note_noted(noted: Noted) {
    if crate::report::is_checking() && !noted.range.is_empty() {
        let _ = NOTED.try_with(|n| n.borrow_mut().push(noted));
    }
}

/// The call on this thread does not wait for the command that it is about to enqueue: what that reads stays as it is. Gives what
/// is to be done when the command runs.
pub fn keep_content(command: &'static str) -> Option<impl FnOnce() + Send + 'static> {
    let noted = NOTED.try_with(|n| {
        let mut n = n.borrow_mut();
        let read = n.iter_mut().filter(|n| n.uses == Use::Reads && !n.rows.is_empty());
        read.filter_map(|n| {
            n.content = MemoryToRead::new(std::mem::take(&mut n.rows));
            n.content.clone()
        })
        .collect::<Vec<_>>()
    });
    let content = noted.ok().filter(|c| !c.is_empty())?;
    Some(move || {
        if content.iter().any(|c| c.has_changed()) {
            crate::report::report_host_mistake("host memory", &changed(command));
        }
    })
}

/// What is said of memory that the application changed.
fn changed(command: &str) -> String {
    format!(
        "{command}, which does not block: the program changed the memory that it reads before it had waited for it"
    )
}

/// Something else writes these bytes: what they contain is not the application's doing.
pub fn is_written(range: &Range<u64>) {
    if COUNT.load(Ordering::Relaxed) > 0 {
        let meets = |h: &&mut Held| h.content.as_ref().is_some_and(|c| c.overlaps(range));
        ALL.lock().unwrap().held.iter_mut().filter(meets).for_each(|h| h.content = None);
    }
}

/// The call on this thread has enqueued the command, and does not wait for it.
pub fn begin(number: u64, what: &str, site: Option<&CallSite>) {
    let Ok(noted) = NOTED.try_with(|n| std::mem::take(&mut *n.borrow_mut())) else { return };
    if noted.is_empty() {
        return;
    }
    freed_memory::intercept_frees(may_free);
    let mut told = Vec::new();
    let mut all = ALL.lock().unwrap();
    for Noted { range, uses, content, .. } in noted {
        if all.lent.iter().any(|l| l.freed && ranges_overlap(&l.range, &range)) {
            let text = format!(
                "{what} uses memory of the program (CL_MEM_USE_HOST_PTR), which the program has freed"
            );
            told.push((text, site.cloned()));
        }
        // What is lent again after a wait is no longer watched for the command before.
        told.extend(all.let_go(|h| h.waited && ranges_overlap(&h.range, &range)));
        let watch = if matches!(uses, Use::Reads | Use::Unified) { None } else { all.watch(&range) };
        let thread = std::thread::current().id();
        let (what, site) = (what.to_owned(), site.cloned());
        let (waited, mapped) = (false, false);
        all.held.push(Held { number, what, site, range, uses, content, thread, watch, waited, mapped });
    }
    all.count();
    drop(all);
    report_uses(told);
}

/// The application knows that a command is over; whether it has written a part of some addresses.
pub fn end(number: u64, what: &str, wrote: impl Fn(&Range<u64>) -> bool) {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let mut all = ALL.lock().unwrap();
    let mut told = Vec::new();
    for h in all.held.iter_mut().filter(|h| h.number == number) {
        what.clone_into(&mut h.what);
        if h.content.take().is_some_and(|c| c.has_changed()) {
            told.push((changed(what), h.site.clone()));
        }
        if !matches!(h.uses, Use::Lent | Use::Shared) {
            continue;
        }
        if !wrote(&h.range) {
            h.watch = None;
        }
        // What a kernel wrote there is seen by mapping it.
        h.waited = !h.mapped && h.watch.as_ref().is_some_and(|w| !w.was_used());
    }
    told.extend(all.let_go(|h| h.number == number && !h.waited));
    let blocks = all.count();
    drop(all);
    blocks.into_iter().for_each(Block::free);
    report_uses(told);
}

/// A command begins: tells of what it fills if that was used, before it is filled. If the application's stack is there, it may not
/// live longer.
pub fn command_begins(number: u64) {
    if WATCHED.load(Ordering::Relaxed) == 0 {
        return;
    }
    let mut told = Vec::new();
    let mut all = ALL.lock().unwrap();
    for h in all.held.iter_mut().filter(|h| h.number == number && h.uses == Use::Fills) {
        if h.watch.as_ref().is_some_and(Watch::was_used) {
            h.watch = None;
            told.push((h.is_used(), h.site.clone()));
        }
    }
    all.count();
    drop(all);
    report_uses(told);
}

/// It was told of memory that the application has changed: what else is seen of it has the same cause.
pub fn note_reported(range: &Range<u64>) {
    let mut all = ALL.lock().unwrap();
    all.held.iter_mut().filter(|h| ranges_overlap(&h.range, range)).for_each(|h| h.watch = None);
    all.count();
}

/// Nobody will know when a command is over.
pub fn forget_command(number: u64) {
    if COUNT.load(Ordering::Relaxed) > 0 {
        let mut all = ALL.lock().unwrap();
        all.held.retain(|h| h.number != number);
        all.count().into_iter().for_each(Block::free);
    }
}

/// The application maps memory, or it is no longer lent: it may use it from now on.
pub fn release(range: &Range<u64>) {
    if COUNT.load(Ordering::Relaxed) > 0 {
        let mut all = ALL.lock().unwrap();
        let told = all.let_go(|h| h.waited && ranges_overlap(&h.range, range));
        all.held.iter_mut().filter(|h| ranges_overlap(&h.range, range)).for_each(|h| h.mapped = true);
        all.count();
        drop(all);
        report_uses(told);
    }
}

/// A mapping of memory has ended: until the application maps it anew it is none of its.
pub fn mapping_ended(range: Range<u64>) {
    let (mut all, thread) = (ALL.lock().unwrap(), std::thread::current().id());
    let Some(watch) = Watch::new(&range) else { return };
    let site = CallSite::here();
    let watch = Some(watch);
    let (number, uses, what) = (u64::MAX, Use::Ended, String::new());
    all.held.push(Held {
        number,
        what,
        site: Some(site),
        range,
        uses,
        content: None,
        thread,
        watch,
        waited: true,
        mapped: false,
    });
    all.count();
}

/// Memory is no more.
pub fn forget_memory(range: &Range<u64>) {
    if COUNT.load(Ordering::Relaxed) > 0 {
        let mut all = ALL.lock().unwrap();
        let told = all.let_go(|h| h.uses == Use::Ended && ranges_overlap(&h.range, range));
        all.count();
        drop(all);
        report_uses(told);
    }
}

/// The application lends memory to a buffer.
pub fn lend_to_buffer(range: Range<u64>) {
    freed_memory::intercept_frees(may_free);
    let mut all = ALL.lock().unwrap();
    all.lent.push(Lent { range, freed: false });
    all.count();
}

/// Memory is no longer lent.
pub fn give_back(range: &Range<u64>) {
    let mut all = ALL.lock().unwrap();
    if let Some(at) = all.lent.iter().position(|l| l.range == *range) {
        all.lent.swap_remove(at);
    }
    let told = all.let_go(|h| h.waited && ranges_overlap(&h.range, range));
    let blocks = all.count();
    drop(all);
    blocks.into_iter().for_each(Block::free);
    report_uses(told);
}

/// The application frees memory. `false`: commands use it, and it is freed later.
pub fn may_free(range: Range<u64>, block: Block) -> bool {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return true;
    }
    let mut all = ALL.lock().unwrap();
    let meets = |h: &&Held| !h.waited && ranges_overlap(&h.range, &range);
    let told: Vec<Told> = all.held.iter().filter(meets).map(|h| (h.is_freed(), h.site.clone())).collect();
    // What it contains from now on is told by that.
    all.held.iter_mut().filter(|h| ranges_overlap(&h.range, &range)).for_each(|h| h.content = None);
    let mut lent = false;
    for l in all.lent.iter_mut().filter(|l| ranges_overlap(&l.range, &range)) {
        (l.freed, lent) = (true, true);
    }
    let free = told.is_empty() && !lent;
    if !free {
        all.blocks.push((range, block));
    }
    drop(all);
    for (text, site) in told {
        let sites =
            || site.into_iter().map(|s| ("enqueued by", s)).chain([("freed by", CallSite::here())]).collect();
        crate::report::mistake_at("host memory", &text, sites);
    }
    free
}

/// A text, and where the command was enqueued.
type Told = (String, Option<CallSite>);

fn report_uses(all: Vec<Told>) {
    for (text, site) in all {
        let sites = || site.into_iter().map(|site| ("enqueued by", site)).collect();
        crate::report::mistake_at("host memory", &text, sites);
    }
}

impl All {
    /// Watches memory, if registers are free; those that watch for what the application has waited for are taken first.
    fn watch(&mut self, range: &Range<u64>) -> Option<Watch> {
        Watch::new(range).or_else(|| {
            self.held.iter_mut().filter(|h| h.waited).for_each(|h| h.watch = None);
            Watch::new(range)
        })
    }

    /// Lets go of some; tells of those that were used meanwhile.
    fn let_go(&mut self, which: impl Fn(&Held) -> bool) -> Vec<Told> {
        let gone: Vec<Held> = self.held.extract_if(.., |h| which(h)).collect();
        let used = gone.iter().filter(|h| h.watch.as_ref().is_some_and(Watch::was_used));
        used.map(|h| (h.is_used(), h.site.clone())).collect()
    }

    /// Counts what there is; gives what can be freed now.
    fn count(&mut self) -> Vec<Block> {
        COUNT.store(self.held.len() + self.lent.len(), Ordering::Relaxed);
        WATCHED.store(self.held.iter().filter(|h| h.watch.is_some()).count(), Ordering::Relaxed);
        let (held, lent) = (&self.held, &self.lent);
        let free = |range: &Range<u64>| {
            !held.iter().any(|h| !h.waited && ranges_overlap(&h.range, range))
                && !lent.iter().any(|l| ranges_overlap(&l.range, range))
        };
        self.blocks.extract_if(.., |(range, _)| free(range)).map(|(_, block)| block).collect()
    }
}

impl Held {
    /// What the memory is.
    fn memory(&self) -> &'static str {
        match self.uses {
            Use::Reads => "the memory that it reads",
            Use::Fills => "the memory that it fills",
            Use::Lent => "memory of the program (CL_MEM_USE_HOST_PTR)",
            Use::Shared | Use::Unified => "shared memory",
            Use::Ended => "memory that it had mapped",
        }
    }

    fn is_used(&self) -> String {
        let (what, memory) = (&self.what, self.memory());
        match (self.uses, self.waited) {
            (Use::Ended, _) => format!("the program used {memory}, after the mapping had ended"),
            (Use::Reads | Use::Fills, _) => {
                format!("{what}, which does not block: the program used {memory} before it had waited for it")
            }
            (_, false) => {
                format!("{what} writes {memory}, which the program used before it had waited for it")
            }
            (_, true) => format!("{what} has written {memory}, which the program used without mapping it"),
        }
    }

    fn is_freed(&self) -> String {
        let (what, memory) = (&self.what, self.memory());
        match self.uses {
            Use::Reads | Use::Fills => format!(
                "{what}, which does not block: the program freed {memory} before it had waited for it"
            ),
            _ => format!("{what} uses {memory}, which the program freed before it had waited for it"),
        }
    }
}
