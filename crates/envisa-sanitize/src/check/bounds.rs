//! Accesses out of bounds that a device drops, or lets through: outside of a surface, an image, scratch, or of the part
//! of shared local memory that was meant.

use std::collections::HashMap;

use envisa_lower::Message;
use envisa_machine::memory::Surface;
use envisa_machine::sampler::Sampler;
use envisa_machine::thread::{Access, AccessKind, AccessRow, AccessSpace, Machine};

use super::adjacent_accesses::Row;
use super::{Checks, FindingKind, texel_names};

impl Checks {
    /// Is all that a message accesses where it is meant to be?
    pub(super) fn is_inside(&self, m: &Machine<'_>, message: &Message, rows: &[Row]) -> bool {
        let regions = m.env.local_regions;
        let variables = matches!(message, Message::Simt(_)).then_some(&self.sites.local_variables);
        let beside = |row: &Row| {
            let place = row.access.place.filter(|_| self.sites.has_shared_parts());
            place.is_some_and(|at| self.sites.beside_parts(at, row.bytes()).is_some())
        };
        rows.iter().all(|row| {
            !row.access.outside
                && !beside(row)
                && (row.access.space != AccessSpace::Slm
                    || (regions.is_empty() || regions.iter().any(|r| row.is_in(r.start, r.bytes)))
                        // What no known variable has may be another's.
                        && variables.is_none_or(|all| {
                            all.iter().all(|(r, _)| row.is_apart(r) || row.is_in(r.start, r.end - r.start))
                        }))
        })
    }

    /// Looks at the accesses of a message.
    pub(super) fn bounds(&mut self, m: &Machine<'_>, pc: u32, message: &Message) {
        let components = match message {
            Message::Simt(s) => s.elements.count_ones(),
            _ => 1,
        };
        let mut began_inside = 0u32;
        let crossed: HashMap<_, _> = match message {
            Message::Simt(_) => m.accesses.rows().iter().flat_map(|row| self.crosses(row)).collect(),
            _ => HashMap::new(),
        };
        for (a, part) in m.accesses.parts() {
            let a = &a;
            if !self.sites.is_result_used(message, a, part) {
                continue;
            }
            let over = crossed.get(&a.address).filter(|_| a.space == AccessSpace::Slm);
            let outside = a.is_dropped(message)
                || a.outside && (self.reads_unsampled(m, message) || self.reads_on(a, message))
                || self.past_a_region(m, a)
                || over.is_some()
                || a.place.is_some_and(|at| self.sites.beside_parts(at, a.bytes.into()).is_some())
                || matches!(message, Message::Simt(_)) && self.past_a_variable(a);
            let channel = 1 << (a.channel % 32);
            if part == 0 {
                began_inside = if outside { began_inside & !channel } else { began_inside | channel };
            }
            // Compilers read three elements as four.
            let widened =
                a.kind == AccessKind::Read && components == 4 && part == 3 && began_inside & channel != 0;
            if outside && !widened {
                let subject = over.cloned().unwrap_or_else(|| self.out_of_bounds(m, a, message));
                self.note(m, pc, FindingKind::OutOfBounds, u32::from(a.channel), || subject);
            }
        }
    }

    /// Does it read an image, in a kernel that has no sampler, or none that says what lies outside? That is undefined
    /// then; where there is another, compilers make the same message of a read by it.
    fn reads_unsampled(&self, m: &Machine<'_>, message: &Message) -> bool {
        let loads = match message {
            // Told of where its own sampler does not say what lies there.
            Message::Sample(_) => return true,
            Message::Typed(t) => !t.write,
            _ => false,
        };
        let samplers = || m.env.samplers.iter().flatten();
        loads && !self.facts.in_step && !samplers().any(Sampler::defines_outside)
    }

    /// Does it begin in a buffer and read on behind it, in a kernel whose accesses the compiler did not widen?
    fn reads_on(&self, a: &Access, message: &Message) -> bool {
        self.facts.checks_itself && a.space == AccessSpace::Flat && matches!(message, Message::Simt(_))
    }

    /// Is it in shared local memory, and (partly) in none of its parts?
    fn past_a_region(&self, m: &Machine<'_>, a: &Access) -> bool {
        let regions = m.env.local_regions;
        a.space == AccessSpace::Slm
            && !a.outside
            && !regions.is_empty()
            && !regions.iter().any(|r| {
                a.address >= r.start && a.address + u64::from(a.bytes) <= r.start.saturating_add(r.bytes)
            })
    }

    /// Does it begin in one of the kernel's own variables in shared local memory, and end outside of it?
    fn past_a_variable(&self, a: &Access) -> bool {
        a.space == AccessSpace::Slm
            && !a.outside
            && self
                .sites
                .local_variable(a.address)
                .is_some_and(|(range, _)| a.address + u64::from(a.bytes) > range.end)
    }

    /// The accesses of neighbouring channels to bytes side by side that began in a variable in shared local memory and
    /// went over its end into the next one.
    fn crosses(&self, row: &AccessRow) -> Vec<(u64, String)> {
        let first = &row.first;
        let found = self.sites.local_variable(first.address);
        let Some((range, name)) = found.filter(|_| first.space == AccessSpace::Slm && row.count > 1) else {
            return Vec::new();
        };
        let does = if first.kind == AccessKind::Read { "reads" } else { "writes" };
        let over = |a: Access| {
            let (at, has) = (a.address - range.start, range.end - range.start);
            let element = self.sites.element(true, range.start, at as i64);
            let what = format!(
                "{does} {} bytes at byte {at} of local variable {name}, which has {has}{element}",
                a.bytes
            );
            (
                a.address,
                match self.sites.local_variable(a.address) {
                    Some((_, other)) => format!("{what}: that is inside {other}"),
                    None => what,
                },
            )
        };
        row.iter().filter(|a| a.address >= range.end).map(over).collect()
    }

    /// Where an access is that begins in a variable in shared local memory and goes on behind it.
    fn past_its_variable(&self, a: &Access) -> String {
        let found = self.sites.local_variable(a.address);
        let (range, name) = found.map_or((0..0, ""), |(r, n)| (r.clone(), n.as_str()));
        let (at, has) = (a.address - range.start, range.end - range.start);
        let element = self.sites.element(true, range.start, at as i64);
        format!("at byte {at} of local variable {name}, which has {has}{element}")
    }

    /// A surface without memory: the argument that it is, if there is one.
    fn where_nothing_is_bound(&self, bti: u32) -> String {
        let argument = self.facts.surfaces.iter().find(|s| s.0 == bti).map(|s| s.1 as usize);
        match argument.and_then(|i| self.facts.arguments.get(i)) {
            Some(name) => format!("by argument `{name}`, which is null"),
            None => format!("of surface {bti}, where nothing is bound"),
        }
    }

    /// Where an access is that leads from the part of a buffer that the kernel is given into the rest; `None` if it does not.
    fn beside_a_part(&self, a: &Access) -> Option<String> {
        let (part, name, offset) = self.sites.beside_parts(a.place?, a.bytes.into())?;
        let (has, element) = (part.end - part.start, self.sites.element(false, part.start, offset));
        let place = describe_distance(offset, has, name);
        Some(format!("{place}{element}, in the buffer that it is a part of"))
    }

    /// `writes 4 bytes at byte 260 of buffer a, which has 256`.
    fn out_of_bounds(&self, m: &Machine<'_>, a: &Access, message: &Message) -> String {
        let does = match a.kind {
            AccessKind::Read => "reads",
            AccessKind::Write => "writes",
            AccessKind::Atomic => "changes",
        };
        let bytes = match a.bytes {
            1 => "1 byte".to_owned(),
            n => format!("{n} bytes"),
        };
        let at = |name: &str, has: u64| {
            // Indices below zero wrap around.
            let signed = match a.address {
                x if x > u64::from(u32::MAX) - (1 << 24) && x <= u64::from(u32::MAX) => x as i64 - (1 << 32),
                x => x as i64,
            };
            format!("{does} {bytes} {}", describe_distance(signed, has, name))
        };
        if let Some(beside) = self.beside_a_part(a) {
            return format!("{does} {bytes} {beside}");
        }
        match a.space {
            AccessSpace::Surface(bti) => {
                let bound = m.env.surfaces.get(bti);
                let name = bound.allocation.as_ref().map_or("", |a| m.env.names.of(a));
                match &bound.surface {
                    Surface::Buffer(b) => {
                        let start = bound.allocation.as_ref().map_or(0, |a| a.base) + b.start as u64;
                        let offset = match a.address {
                            // Indices below zero wrap around.
                            x if x >> 31 == 1 => x as i64 - (1 << 32),
                            x => x as i64,
                        };
                        format!("{}{}", at(name, b.len as u64), self.sites.element(false, start, offset))
                    }
                    Surface::Image(i) => {
                        format!("{does} {}", texel_names::describe_outside_texel(i, name, a.address, message))
                    }
                    Surface::None => format!("{does} {bytes} {}", self.where_nothing_is_bound(bti)),
                }
            }
            AccessSpace::Slm if self.past_a_variable(a) => {
                format!("{does} {bytes} {}", self.past_its_variable(a))
            }
            AccessSpace::Slm => {
                let regions = m.env.local_regions;
                let i = regions.partition_point(|r| r.start <= a.address);
                match i.checked_sub(1).and_then(|i| regions.get(i)) {
                    Some(r) => {
                        let relative = a.address - r.start;
                        let name = self.region(r.argument);
                        let last = self.sites.local_variables.last().filter(|_| r.argument.is_none());
                        let name =
                            last.map_or(name, |(_, last)| format!("local variable {last} and the others"));
                        // Behind all of the kernel's variables: the last of them is meant.
                        let element = last.map_or(String::new(), |(range, _)| {
                            self.sites.element(true, range.start, a.address as i64 - range.start as i64)
                        });
                        format!(
                            "{does} {bytes} {}{element}",
                            describe_distance(relative as i64, r.bytes, &name)
                        )
                    }
                    None => at("shared local memory", m.slm.len() as u64),
                }
            }
            AccessSpace::State => at("the thread's scratch", m.env.scratch_bytes),
            AccessSpace::Counter(bti) => at(
                &format!("the append counter of surface {bti}"),
                m.env.surfaces.counter(bti).map_or(0, |c| c.0.len as u64),
            ),
            AccessSpace::Urb => {
                at("the unified return buffer", m.env.surfaces.urb().map_or(0, |u| u.surface.len as u64))
            }
            // It begins inside: nothing else is told of there.
            AccessSpace::Flat => {
                format!("{does} {bytes} from {} on, over its end", self.sites.place(a.address))
            }
        }
    }

    fn region(&self, argument: Option<u32>) -> String {
        match argument {
            None => "the kernel's own local variables".to_owned(),
            Some(i) => match self.facts.arguments.get(i as usize) {
                Some(name) => format!("local argument `{name}`"),
                None => format!("local argument {i}"),
            },
        }
    }
}

/// Where an access begins, so many bytes behind the start of what has so many bytes: `right past the end of x, which has 256`,
/// `that begin 4 bytes before the start of x`.
pub(super) fn describe_distance(offset: i64, has: u64, name: &str) -> String {
    let bytes = |n: u64| if n == 1 { "1 byte".to_owned() } else { format!("{n} bytes") };
    match offset {
        n if n < 0 => format!("that begin {} before the start of {name}", bytes(n.unsigned_abs())),
        n if n as u64 == has => format!("right past the end of {name}, which has {has}"),
        n if n as u64 > has => {
            format!("that begin {} past the end of {name}, which has {has}", bytes(n as u64 - has))
        }
        n => format!("at byte {n} of {name}, which has {has}"),
    }
}
