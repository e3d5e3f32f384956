//! Stops at findings: what the checks find in the launch, and the time at which each finding arises.

use crate::session::{Focus, Session, Stop};
use envisa::machine::engine::flag;
use envisa::machine::group::paused::Order;
use envisa::{FindingKind, FindingPositions};
use std::collections::HashMap;

/// A finding and its time.
#[derive(Clone, Debug)]
pub struct FindingAt {
    /// The clock before the instruction at which it arises.
    pub clock: u64,
    /// Its kind.
    pub kind: FindingKind,
    /// Who does it.
    pub focus: Focus,
    /// In words.
    pub text: String,
}

/// The kind that a code or a word names: `F0004`.
pub fn kinds_by_name(name: &str) -> Vec<FindingKind> {
    let all = FindingKind::ALL.into_iter();
    match name {
        "finding" | "findings" => all.filter(|k| !k.is_hint()).collect(),
        "hint" | "hints" => all.filter(|k| k.is_hint()).collect(),
        code => all.filter(|k| k.code() == code).collect(),
    }
}

/// What a kind of finding is called.
pub fn title(kind: FindingKind) -> &'static str {
    envisa::diag::CODES.iter().find(|c| c.code == kind.code()).map_or("a finding", |c| c.title)
}

impl Session<'_, '_> {
    /// Finds out what there is to stop at: the launch runs once with checks, and once more to see when.
    pub(crate) fn find(&mut self) {
        if self.breakpoints.findings.is_empty() || self.finds.is_some() {
            return;
        }
        let order = match self.options().order {
            Order::Forward => envisa::Order::Forward,
            Order::Reverse => envisa::Order::Reverse,
            Order::Random(seed) => envisa::Order::Random(seed),
        };
        let found = self.stage.findings(order);
        let finds = self.placed(&found);
        if finds.len() < found.len() {
            let missed = found.len() - finds.len();
            self.said.push(format!("{missed} findings do not arise in this order of threads"));
        }
        self.finds = Some(finds);
        self.run_again();
    }

    /// When findings arise, in order.
    fn placed(&self, found: &[FindingPositions]) -> Vec<FindingAt> {
        let mut finds = Vec::new();
        let Ok(mut run) = self.stage.begin(self.options().order, 0) else { return finds };
        let mut flags = self.plain_flags();
        for f in found {
            if let Some(flag) = flags.get_mut(f.pc as usize) {
                *flag |= flag::STOP;
            }
        }
        let mut executed: HashMap<(usize, u32), u64> = HashMap::new();
        let mut group = run.group().id;
        while !run.ended() && finds.len() < found.len() {
            if run.group().id != group {
                (group, executed) = (run.group().id, HashMap::new());
            }
            let thread = run.current();
            let pc = run.threads().get(thread).map_or(0, |t| t.pc);
            if flags.get(pc as usize).is_some_and(|f| f & flag::STOP != 0) {
                let n = executed.entry((thread, pc)).or_insert(0);
                for f in found.iter().filter(|f| f.pc == pc && f.before == *n) {
                    if (f.finding.group, f.finding.thread as usize) == (group, thread) {
                        finds.push(self.find_of(f, run.clock()));
                    }
                }
                *n += 1;
            }
            if run.trap().is_some() {
                break;
            }
            run.run(&flags, u64::MAX);
        }
        finds
    }

    fn find_of(&self, f: &FindingPositions, clock: u64) -> FindingAt {
        let finding = &f.finding;
        let focus = Focus { thread: finding.thread as usize, lane: finding.channel.min(31) };
        let mut text = format!("{} {}", finding.code, finding.message());
        if let Some(race) = &finding.race {
            let [x, y, z] = race.other_group;
            let other = match race.other_work_item {
                Some(item) => item.to_string(),
                None => format!("thread {} of group {x},{y},{z}", race.other_thread),
            };
            let line = race.other.source.as_ref().map_or(String::new(), |l| format!(" at line {}", l.line));
            text.push_str(&format!(" (this {} it, {other} {} it{line})", race.access, race.other_access));
        }
        FindingAt { clock, kind: finding.kind, focus, text }
    }

    /// The next clock at which a finding that is wanted arises.
    pub(crate) fn next_find(&self) -> u64 {
        let now = self.paused.clock();
        let wanted = |f: &&FindingAt| f.clock > now && self.breakpoints.findings.contains(&f.kind);
        self.finds.iter().flatten().find(wanted).map_or(u64::MAX, |f| f.clock)
    }

    /// The findings that arise now.
    pub(crate) fn find_here(&mut self) -> Option<Stop> {
        let now = self.paused.clock();
        let finds = self.finds.as_deref().unwrap_or_default();
        let here =
            &finds[finds.partition_point(|f| f.clock < now)..finds.partition_point(|f| f.clock <= now)];
        let mut wanted = here.iter().filter(|f| self.breakpoints.findings.contains(&f.kind));
        let first = wanted.next()?;
        let (focus, code) = (first.focus, first.kind.code());
        let text = wanted.fold(first.text.clone(), |text, f| format!("{text}\n{}", f.text));
        self.focus = focus;
        Some(Stop::Exception(code, text))
    }
}
