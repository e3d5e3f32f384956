//! One cause, one finding: statements that race for the same memory, because nothing orders what stands between them, are told
//! of together.

use crate::fault::{Fault, FaultKind, Place};
use crate::finding::{Finding, FindingKind};
use envisa_diag::Diagnostic;
use std::collections::HashMap;

/// Statements that a finding's diagnostic points at besides its own, at most.
const MOST_MARKED: usize = 6;

/// Puts findings that have one cause to the first of them.
///
/// Races for one variable or buffer have one cause if they share a statement, and all are within groups or all between them.
/// Colliding stores of one statement have that of a race of this statement with itself. Uses of memory that nothing has written
/// have one cause if they are of one variable or buffer. Where an access leads out of one variable into another, what is found of the
/// other one there follows from that.
pub(crate) fn group_by_cause(findings: Vec<Finding>) -> Vec<Finding> {
    let mut parents: Vec<usize> = (0..findings.len()).collect();
    let mut first: HashMap<(bool, &str, Site<'_>), usize> = HashMap::new();
    for (n, f) in findings.iter().enumerate() {
        let Some(race) = f.race.as_ref().filter(|_| !f.object.is_empty()) else { continue };
        let within = f.group == race.other_group;
        for place in [&f.place, &race.other] {
            let other = *first.entry((within, f.object.as_str(), Site::of(place))).or_insert(n);
            join(&mut parents, n, other);
        }
    }
    let mut unwritten: HashMap<(&str, u64), usize> = HashMap::new();
    for (n, f) in findings.iter().enumerate() {
        if let Some(at) = f.memory.filter(|_| f.kind == FindingKind::UninitialisedMemory) {
            // Of memory that no name is known of, only the same bytes are the same.
            let at = if f.object.is_empty() { at } else { 0 };
            join(&mut parents, n, *unwritten.entry((&f.object, at)).or_insert(n));
        }
    }
    for (n, f) in findings.iter().enumerate() {
        if f.kind != FindingKind::StoreConflict || f.object.is_empty() {
            continue;
        }
        let site = Site::of(&f.place);
        let same = |r: &Finding| {
            let there = r.race.as_ref().map(|race| Site::of(&race.other));
            r.object == f.object && Site::of(&r.place) == site && there == Some(Site::of(&f.place))
        };
        if let Some(race) = findings.iter().position(same) {
            join(&mut parents, race, n);
        }
    }
    for (n, f) in findings.iter().enumerate() {
        if let Some(outside) = findings.iter().position(|outside| follows(f, outside)) {
            join(&mut parents, outside, n);
        }
    }
    let roots: Vec<usize> = (0..findings.len()).map(|n| root(&parents, n)).collect();
    let mut all: Vec<Option<Finding>> = findings.into_iter().map(Some).collect();
    let mut told = Vec::new();
    for n in 0..all.len() {
        // The first race of a cause is told; stores that collide are told with it.
        let members: Vec<usize> =
            (0..all.len()).filter(|m| roots[*m] == roots[n] && all[*m].is_some()).collect();
        let race = |m: &&usize| all[**m].as_ref().is_some_and(|f| f.race.is_some());
        let outside = |m: &&usize| all[**m].as_ref().is_some_and(|f| f.kind == FindingKind::OutOfBounds);
        let chief = members.iter().find(outside).or(members.iter().find(race)).or(members.first());
        let Some(chief) = chief.copied() else { continue };
        let Some(mut finding) = all[chief].take() else { continue };
        finding.also = members.iter().filter_map(|m| all[*m].take()).collect();
        told.push(finding);
    }
    told
}

/// Is a finding of another variable than that out of which an access of the same statement leads?
fn follows(f: &Finding, outside: &Finding) -> bool {
    let of_memory =
        matches!(f.kind, FindingKind::Race | FindingKind::UninitialisedMemory | FindingKind::StoreConflict);
    let mut subject = f.subject.split(' ');
    let named = subject.any(|word| matches!(word, "variable" | "argument" | "buffer"));
    let Some(name) = subject.next().filter(|_| of_memory && named) else { return false };
    if outside.kind != FindingKind::OutOfBounds || outside.place.quoted.is_none() {
        return false;
    }
    let told = outside.message();
    let mut words = told.split(|c: char| !c.is_alphanumeric() && c != '_');
    let at = |p: &Place| p.quoted == outside.place.quoted && p.function == outside.place.function;
    let there = at(&f.place) || f.race.as_ref().is_some_and(|r| at(&r.other));
    there && !words.any(|w| w == name)
}

/// Does the fault that ended the launch have the cause of a finding? It is of the same kind, and of the same statement. Of a barrier
/// that work-items miss the finding comes first: it is the cause, and the wait that does not end is what follows.
pub(crate) fn has_same_cause(finding: &Finding, fault: &Fault) -> bool {
    let same = Site::of(&finding.place) == Site::of(&fault.place);
    match fault.kind {
        FaultKind::OutOfBounds => finding.kind == FindingKind::OutOfBounds && same,
        FaultKind::Misaligned => finding.kind == FindingKind::Misaligned && same,
        FaultKind::ReadOnly => finding.kind == FindingKind::ConstantWrite && same,
        _ => false,
    }
}

/// Findings with those of the same cause beside them.
pub(crate) fn flatten_causes(findings: Vec<Finding>) -> Vec<Finding> {
    let apart = |mut f: Finding| {
        let also = std::mem::take(&mut f.also);
        std::iter::once(f).chain(also)
    };
    findings.into_iter().flat_map(apart).collect()
}

fn root(parents: &[usize], mut n: usize) -> usize {
    while parents[n] != n {
        n = parents[n];
    }
    n
}

fn join(parents: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(parents, a), root(parents, b));
    parents[a.max(b)] = a.min(b);
}

/// A statement: its line, or the instruction where lines are not known.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Site<'a> {
    function: &'a str,
    line: Option<(&'a str, u32)>,
    instruction: u32,
}

impl Site<'_> {
    fn of(place: &Place) -> Site<'_> {
        let line = place.source.as_ref().map(|l| (l.file.as_str(), l.line));
        let instruction = if line.is_some() { 0 } else { place.instruction };
        Site { function: &place.function, line, instruction }
    }
}

impl Finding {
    /// Adds the statements of findings with the same cause, and how often what was read had not been written.
    pub(crate) fn mark_same_cause(&self, mut d: Diagnostic) -> Diagnostic {
        let mut marked: Vec<Site<'_>> = vec![Site::of(&self.place)];
        marked.extend(self.race.as_ref().map(|r| Site::of(&r.other)));
        let (mut left_out, mut collisions) = (0usize, None);
        if self.kind == FindingKind::OutOfBounds {
            for also in &self.also {
                d = d.note(format!("caused by it: {} ({})", also.message(), also.code));
            }
            return d;
        }
        for also in &self.also {
            let Some(race) = &also.race else {
                collisions = collisions.or(also.values.as_ref());
                if also.kind == FindingKind::UninitialisedMemory && !marked.contains(&Site::of(&also.place)) {
                    d = also.place.mark_other(d, "this uses it, too (same cause)");
                    marked.push(Site::of(&also.place));
                }
                continue;
            };
            for (place, access) in [(&also.place, &race.access), (&race.other, &race.other_access)] {
                let site = Site::of(place);
                if marked.contains(&site) {
                    continue;
                }
                if marked.len() < MOST_MARKED + 2 {
                    d = place.mark_other(d, format!("this {access} it, too (same cause)"));
                } else {
                    left_out += 1;
                }
                marked.push(site);
            }
        }
        if left_out > 0 {
            let statements = if left_out == 1 { "statement races" } else { "statements race" };
            d = d.note(format!("{left_out} more {statements} with the same cause"));
        }
        if let Some([theirs, mine]) = collisions {
            d = d.note(format!(
                "work-items of one sub-group store different values to it as well ({theirs} and {mine}): see F0003"
            ));
        }
        let early: u64 = self.early + self.also.iter().map(|f| f.early).sum::<u64>();
        if early > 0 {
            let times = if early == 1 { "once".to_owned() } else { format!("{early} times") };
            d = d.note(format!("{times} the read came first and used uninitialised memory: see F0006"));
        }
        d
    }
}
