//! Runs threads of launches that somebody observes: native code stops at each instruction that the observer is told of,
//! and the machine executes that. All registers that are alive are where the machine has them then, so that the interpreter
//! can run the rest of a thread of which the observer wants to be told all.

use super::*;
use envisa_lower::Message;
use envisa_machine::interest::Tell;
use envisa_machine::local_shadow::{Noted, Noting};

impl Native {
    /// Code that stops where an observer is told of instructions. What is computed elsewhere than it is written, or not at
    /// all, the interpreter would miss.
    pub(super) fn compile_observed(
        &self,
        key: &Key,
        live: &Liveness,
        mut passes: Passes,
    ) -> Result<Variant, String> {
        let (p, flow, cells) = (&self.program, &self.flow, &self.cells);
        let (shapes, deferred, known) =
            (Shapes::of_function(p, flow, cells), Deferred::default(), Known::default());
        let keep = |c: CellId| cells.get(c).kind == CellKind::Narrow;
        let alloc = Allocation::new(p, flow, cells, live, &shapes, &keep, &deferred.longer, false);
        let facts = (&shapes, &alloc, &deferred, &known, &key.active, &self.modes);
        passes.over("allocation");
        let modes = (key.full, self.together, self.level);
        let emit = Emit::new(p, flow, cells, live, facts, modes, None);
        Variant::new(p, emit.stopping_at(&key.stops, &key.noted).run(passes)?, None)
    }
}

/// Where native code stops for an observer; `None` if it cannot.
fn stop_points(launch: &LaunchView<'_>) -> Option<Vec<bool>> {
    let interest = launch.env.interest.get()?;
    let mut all = Vec::new();
    for (pc, i) in (0..).zip(launch.env.program.code()) {
        let stops = matches!(interest.of(pc), Tell::Always | Tell::Accesses);
        if stops && matches!(i.op, Op::Goto | Op::Join | Op::Ret | Op::End) {
            return None;
        }
        all.push(stops);
    }
    Some(all)
}

/// Runs threads of an observed launch.
pub(super) struct Threads<'a> {
    native: &'a Native,
    stops: Vec<bool>,
    /// For threads with all channels, and for others.
    variants: [Option<Arc<Variant>>; 2],
    contexts: [Vec<Context>; 2],
    sites: Vec<Site>,
}

impl<'a> Threads<'a> {
    /// Of a launch whose observer has said what it wants to be told of.
    pub fn new(native: &'a Native, launch: &LaunchView<'a>) -> Option<Threads<'a>> {
        let stops = stop_points(launch)?;
        let fitting = Fitting::new(&native.program, &native.flow, &native.cells, launch.prepared);
        let variant = |of| {
            let key = match stops.contains(&true) {
                true => Key {
                    full: of == Of::Whole,
                    stops: stops.clone(),
                    noted: launch.env.interest.get().map_or_else(Noted::default, |i| i.noted.clone()),
                    ..Key::default()
                },
                // Nobody takes a thread over, then, and finds its registers.
                false => native.key(launch.prepared, of, &fitting).ok()?,
            };
            native.variant(key).ok()
        };
        let tailed = native.tails(launch.prepared);
        let whole = (tailed != Tails::Only).then(|| variant(Of::Whole)).flatten();
        let lacking = (tailed != Tails::None).then(|| variant(Of::Lacking)).flatten();
        let variants = [whole, lacking];
        if variants.iter().all(Option::is_none) {
            return None;
        }
        let most = launch.prepared.most_threads() as usize;
        let live = if native.together { most } else { 1 };
        let mut sites = vec![Site::NOWHERE; image_variants::sites(&native.program)];
        let at = sites.as_mut_ptr();
        let contexts = variants.each_ref().map(|v| {
            let one = |v: &Arc<Variant>| {
                let mut context = Context::new(v, at, callback as *const ());
                context.link(launch.env.symbols);
                context
            };
            v.as_ref().map_or_else(Vec::new, |v| (0..live).map(|_| one(v)).collect())
        });
        Some(Threads { native, stops, variants, contexts, sites })
    }
}

impl ObservedThreads for Threads<'_> {
    fn run(&mut self, m: &mut Machine<'_>, fresh: bool, stop: &Stop, told: &mut dyn Told) -> bool {
        let simd = self.native.program.simd();
        let which = usize::from(m.t.dispatch != if simd >= 32 { u32::MAX } else { (1 << simd) - 1 });
        let thread = m.t.index as usize;
        let state = if self.contexts[which].len() > 1 { thread } else { 0 };
        let (Some(variant), Some(context)) = (&self.variants[which], self.contexts[which].get_mut(state))
        else {
            told.run(m);
            return false;
        };
        if is_loud(m) {
            self.sites.fill(Site::NOWHERE);
        }
        context.note_with(told.local_shadow(m));
        let observed = Observed { told: &mut *told, stops: &self.stops, left: false };
        let left = self.native.thread(m, (variant, context), &mut self.sites, (fresh, stop), Some(observed));
        if left {
            // The others wait where the interpreter looks for them.
            for (label, at) in &variant.compiled.waits {
                let waiting = context.get(*at);
                if waiting != 0 {
                    m.t.waiting.add(*label, waiting);
                }
            }
            if m.t.status == Status::Ready {
                told.run(m);
            }
        }
        !left
    }
}

/// Does the observer want to be told of all reads after all?
fn is_loud(m: &Machine<'_>) -> bool {
    m.env.interest.get().is_some_and(|i| i.loud.load(Ordering::Relaxed))
}

/// Aims the site of an instruction that was executed at where it went, if the observer is not to be told of that.
pub(super) fn aim_unobserved_site(m: &Machine<'_>, pc: Pc, sites: &mut [Site]) {
    if is_loud(m) {
        return sites.fill(Site::NOWHERE);
    }
    let i = m.env.program.code()[pc as usize];
    let message = i.aux as usize;
    if i.op == Op::Message && m.hints.get(message).is_some_and(|hint| m.env.is_quiet(message, hint)) {
        sites::aim(m, pc, sites);
    }
}

/// Aims the site of a message that was executed, and is noted where the observer need not look at it, at the memory of which
/// that is so.
pub(super) fn aim_noted_site(m: &Machine<'_>, pc: Pc, told: &dyn Told, sites: &mut [Site]) {
    let (range, i) = (told.local_range(pc), m.env.program.code()[pc as usize]);
    let Some(Message::Simt(s)) = m.env.program.messages().get(i.aux as usize) else { return };
    // A channel's elements begin at so many bytes there.
    let bytes = s.elements.count_ones() * u32::from(s.element);
    let begins = (range.len() as u32 + 1).saturating_sub(bytes);
    if begins == 0 {
        return;
    }
    sites::aim(m, pc, sites);
    if let Some(site) = sites.get_mut(i.aux as usize) {
        site.wide = u64::from(range.start) | u64::from(begins) << 32;
    }
}

/// The observer of a thread.
pub(super) struct Observed<'a> {
    pub told: &'a mut dyn Told,
    stops: &'a [bool],
    /// The interpreter runs the rest of the thread.
    pub left: bool,
}

impl Observed<'_> {
    /// What accesses to shared local memory are noted with from now on.
    pub fn noting(&mut self, m: &Machine<'_>) -> Option<Noting<'_>> {
        self.told.local_shadow(m)
    }

    /// Executes an instruction, of which the observer is told as it wants; gives the next one, or [`STOP`].
    pub fn instruction(&mut self, m: &mut Machine<'_>, pc: Pc, alone: bool) -> Pc {
        let mut next = pc;
        while next == pc {
            next = self.told.instruction(m, pc, alone);
        }
        if self.told.wants_all(m.t.index) && m.trap.is_none() && m.t.status != Status::Done {
            if self.stops.get(pc as usize) != Some(&true) {
                self.told.forget(m);
            } else {
                self.left = true;
                if next != STOP {
                    (m.t.pc, m.t.status) = (next, Status::Ready);
                }
                return STOP;
            }
        }
        next
    }
}
