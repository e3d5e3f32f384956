//! The order of declarations in print, and what it leaves to say about pools and labels.

use std::fmt::Write as _;

use envisa_isa::{AttrRange, LabelUse, fixed_strings, limits};

use crate::order::{DROPPED, Kind};
use crate::print::{PrintError, Printer};
use crate::print_names::push_quoted;
use crate::reorder::format_ranges;

impl Printer<'_, '_> {
    /// Complains about what no text can hold.
    pub fn check_printable(&self) -> Result<(), PrintError> {
        let o = self.object;
        if o.name.is_empty() {
            return self.print_error("an object without a name");
        }
        if o.name.contains('\0') || o.strings.iter().any(|s| s.contains('\0')) {
            return self.print_error("a string with a NUL in it");
        }
        if o.kind == envisa_isa::ObjectKind::Function && !o.inputs.is_empty() {
            return self.print_error("an input of a function");
        }
        for (what, n, most) in [
            ("inputs", o.inputs.len(), limits::INPUTS),
            ("predicates", o.predicates.len(), limits::PREDICATE_VARIABLES),
            ("samplers", o.samplers.len(), limits::SAMPLERS),
            ("surfaces", o.surfaces.len(), limits::SURFACES),
            ("address variables", o.addresses.len(), limits::COUNTED_BY_TWO_BYTES),
            ("labels", o.labels.len(), limits::LABELS),
        ] {
            if n > most {
                return self.print_error(format!("more than {most} {what}"));
            }
        }
        Ok(())
    }

    /// The pool's head: the name and the fixed strings.
    pub fn start_order(&mut self) {
        let strings = &self.object.strings;
        let fixed = (1..).zip(fixed_strings(self.version)).all(|(i, s)| strings.get(i) == Some(s));
        self.order.pool.push(0);
        self.order
            .pool
            .extend((1..).zip(fixed_strings(self.version)).map(|(i, _)| if fixed { i } else { DROPPED }));
        if strings.get(0) != Some(&self.object.name) {
            self.order.explicit.push(0);
        }
        self.order.seen = vec![(None, false); self.object.labels.len()];
    }

    /// Is the last attribute the target that reading adds by itself, after everything else?
    pub fn implicit_target(&self, default: u8) -> bool {
        let o = self.object;
        let is_target = |a: &envisa_isa::Attr| o.strings.get(a.name) == Some("Target");
        let Some((last, others)) = o.attrs.split_last() else { return false };
        if !is_target(last) || last.value != [default] || others.iter().any(is_target) {
            return false;
        }
        let names = (o.vars.iter().map(|v| v.name))
            .chain(
                [&o.addresses, &o.predicates, &o.samplers, &o.surfaces].into_iter().flatten().map(|v| v.name),
            )
            .chain(o.var_attrs.iter().chain(others).map(|a| a.name));
        let next = names.max().unwrap_or(0).max(fixed_strings(self.version).count() as u32) + 1;
        last.name as usize + 1 == o.strings.len() && last.name != next
    }

    /// Declarations and attributes in the order of the pool, if that makes the pool; else class by class.
    pub fn plan(&self) -> Vec<(Kind, usize)> {
        let o = self.object;
        let simple = |kind, list: &[envisa_isa::SimpleVar]| {
            list.iter().enumerate().map(|(i, v)| (v.name, v.attrs, kind, i)).collect::<Vec<_>>()
        };
        let mut all: Vec<(u32, AttrRange, Kind, usize)> =
            o.vars.iter().enumerate().map(|(i, v)| (v.name, v.attrs, Kind::General, i)).collect();
        all.extend(simple(Kind::Address, &o.addresses));
        all.extend(simple(Kind::Predicate, &o.predicates));
        all.extend(simple(Kind::Sampler, &o.samplers));
        all.extend(simple(Kind::Surface, &o.surfaces));
        all.extend(o.attrs.iter().enumerate().map(|(i, a)| (a.name, AttrRange::default(), Kind::Attr, i)));
        let plain = |list: &[(u32, AttrRange, Kind, usize)]| list.iter().map(|x| (x.2, x.3)).collect();
        let mut merged = all.clone();
        merged.sort_by_key(|x| x.0);
        let mut next = fixed_strings(self.version).count() as u32 + 1;
        let mut last = [None; 6];
        for &(name, attrs, kind, i) in &merged {
            let in_turn = last[kind as usize].is_none_or(|l| l < i);
            last[kind as usize] = Some(i);
            let start = attrs.start as usize;
            let attrs = o.var_attrs.get(start..start + attrs.len as usize).unwrap_or_default();
            let follow = attrs.iter().zip(next + 1..).all(|(a, n)| a.name == n);
            // A target that comes last may stand apart.
            let apart = kind == Kind::Attr && i + 1 == o.attrs.len() && name as usize + 1 == o.strings.len();
            if !in_turn || !follow || name != next && !apart {
                return plain(&all);
            }
            next += 1 + attrs.len() as u32;
        }
        plain(&merged)
    }

    /// Notes that the text mentions a label here, or places it.
    pub fn note_label_mention(&mut self, subroutine: bool, id: u16, place: bool) -> Result<(), PrintError> {
        let o = self.object;
        let Some(label) = o.labels.get(id as usize) else {
            return self.print_error(format!("label {id}, which does not exist"));
        };
        let Some((seen, placed)) = self.order.seen.get_mut(id as usize) else { return Ok(()) };
        let clash = seen.is_some_and(|s| s != subroutine);
        let twice = place && *placed;
        *placed |= place;
        if seen.is_none() {
            *seen = Some(subroutine);
            self.order.labels.push((id, place));
            self.order.pool.push(label.name);
        }
        let name = o.strings.get(label.name).unwrap_or("");
        if clash {
            return self.print_error(format!("label {name:?}, which is a block and a subroutine"));
        }
        if twice {
            return self.print_error(format!("label {name:?}, which is placed twice"));
        }
        Ok(())
    }

    /// Annotates what the text's order of things does not give.
    pub fn end_order(&mut self) -> Result<(), PrintError> {
        let o = self.object;
        let name = |id: usize| o.strings.get(o.labels[id].name).unwrap_or("");
        for (id, &(seen, placed)) in self.order.seen.iter().enumerate() {
            if seen.is_some() && !placed {
                return self.print_error(format!("label {:?}, which is not placed", name(id)));
            }
        }
        let mut order = std::mem::take(&mut self.order);
        let labels: Vec<u32> = order.labels.iter().map(|l| l.0 as u32).collect();
        let mut extra = String::new();
        let mut at_place = vec![false; o.labels.len()];
        for &(id, place) in &order.labels {
            at_place[id as usize] = place;
        }
        for (id, l) in o.labels.iter().enumerate() {
            let same = match order.seen[id].0 {
                Some(true) => {
                    l.kind
                        == if at_place[id] || l.kind == LabelUse::Block {
                            LabelUse::Subroutine
                        } else {
                            l.kind
                        }
                }
                Some(false) => l.kind == LabelUse::Block,
                None => false,
            };
            if !same {
                let _ = write!(extra, " label:{id}={},{}", l.kind as u8, l.name);
            }
        }
        if !extra.is_empty() || !labels.iter().copied().eq(0..o.labels.len() as u32) {
            let list = format_ranges(&labels);
            // Nothing is mentioned, and there is nothing to list.
            let list = if list.is_empty() { "x0".to_owned() } else { list };
            self.note(format_args!("labels={list}{extra}"));
        }
        let n = o.strings.len();
        let mut covered = vec![false; n];
        for i in &order.pool {
            if let Some(c) = covered.get_mut(*i as usize) {
                *c = true;
            }
        }
        for i in &order.explicit {
            if let Some(c) = covered.get_mut(*i as usize) {
                *c = false;
            }
        }
        let straight = order.pool.iter().copied().eq(0..n as u32);
        if !straight || covered.contains(&false) {
            for i in &mut order.pool {
                if *i as usize >= n {
                    *i = DROPPED;
                }
            }
            self.note(format_args!("pool={}", format_ranges(&order.pool)));
            for (i, s) in o.strings.iter().enumerate().filter(|(i, _)| !covered[*i]) {
                let mut text = String::new();
                push_quoted(&mut text, s);
                self.note(format_args!("string:{i}={text}"));
            }
        }
        if !self.notes.is_empty() {
            self.end_line();
        }
        Ok(())
    }
}
