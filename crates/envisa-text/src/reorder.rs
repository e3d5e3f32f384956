//! Applies annotations about the order of pools and labels at the end of an object.

use envisa_isa::{Label, LabelUse, Operand, Span, Strings};

use crate::annotations::Item;
use crate::order::{DROPPED, Reorder};
use crate::parser::{P, Parser};

/// `0-4,9,x2`: consecutive numbers, single ones, and how many are dropped.
pub(crate) fn format_ranges(list: &[u32]) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let mut i = 0;
    while i < list.len() {
        let first = list[i];
        let mut n = 1;
        while list.get(i + n).is_some_and(|&v| match first {
            DROPPED => v == DROPPED,
            f => v != DROPPED && v == f.wrapping_add(n as u32),
        }) {
            n += 1;
        }
        if i > 0 {
            out.push(',');
        }
        let _ = match (first, n) {
            (DROPPED, n) => write!(out, "x{n}"),
            (f, 1) => write!(out, "{f}"),
            (f, n) => write!(out, "{f}-{}", f + (n as u32 - 1)),
        };
        i += n;
    }
    out
}

/// Reads what [`format_ranges`] writes; at most `most` numbers.
fn read_ranges(text: &str, most: usize) -> Option<Vec<u32>> {
    let mut list = Vec::new();
    for part in text.split(',') {
        if let Some(n) = part.strip_prefix('x') {
            let n: usize = n.parse().ok()?;
            if n > most - list.len() {
                return None;
            }
            list.resize(list.len() + n, DROPPED);
            continue;
        }
        let (first, last) = match part.split_once('-') {
            Some((a, b)) => (a.parse().ok()?, b.parse().ok()?),
            None => {
                let n: u32 = part.parse().ok()?;
                (n, n)
            }
        };
        if first > last || last == DROPPED || (last - first) as usize >= most - list.len() {
            return None;
        }
        list.extend(first..=last);
    }
    Some(list)
}

impl<'s> Parser<'s> {
    /// Takes an item about the order of things; false if the key is another.
    pub(crate) fn order_item(&mut self, key: &'s [u8], item: &Item<'s>) -> P<bool> {
        let (Item::Word(_, span) | Item::Str(_, span)) = *item;
        let word = match item {
            Item::Word(w, _) => String::from_utf8_lossy(w).into_owned(),
            Item::Str(s, _) => s.clone(),
        };
        let text = String::from_utf8_lossy(key).into_owned();
        let index = |prefix: &str| text.strip_prefix(prefix).and_then(|n| n.parse::<u32>().ok());
        if key == b"pool" || key == b"labels" {
            // The target's name may still join the pool.
            let most = match key {
                b"pool" => self.obj.strings.len() + 1,
                _ => self.obj.labels.len(),
            };
            let Some(list) = read_ranges(&word, most) else {
                return Err(self.bad_value(span, "numbers and ranges of them, one for each string or label"));
            };
            let to = if key == b"pool" { &mut self.order.pool } else { &mut self.order.labels };
            *to = Some(list);
        } else if let (Some(i), Item::Str(s, _)) = (index("string:"), item) {
            self.order.strings.push((i, s.clone()));
        } else if let Some(i) = index("label:") {
            let parts = word.split_once(',').and_then(|(k, s)| Some((k.parse().ok()?, s.parse().ok()?)));
            match parts {
                Some((kind @ 0..=2, string)) => self.order.extra.push((i, kind, string)),
                _ => return Err(self.bad_value(span, "a kind (0 to 2) and the index of the name")),
            }
        } else {
            return Ok(false);
        }
        self.order.span = span;
        Ok(true)
    }

    /// Gives strings and labels of the object that ends the names and places that annotations ask for.
    pub(crate) fn apply_order(&mut self) {
        let order = std::mem::take(&mut self.order);
        if !order.renames.is_empty() {
            let mut new: Vec<&str> = self.obj.strings.iter().collect();
            for (i, name) in &order.renames {
                if let Some(s) = new.get_mut(*i as usize) {
                    *s = name;
                }
            }
            let mut strings = Strings::default();
            for s in new {
                strings.push(s);
            }
            self.obj.strings = strings;
        }
        if let Err(what) = self.apply_pool(&order).and_then(|()| self.apply_labels(&order)) {
            let d = self.diag_label("E0602", "wrong value in an annotation", order.span, what);
            self.report_diagnostic(d);
        }
    }

    fn apply_pool(&mut self, order: &Reorder) -> Result<(), &'static str> {
        let Some(to) = &order.pool else {
            return if order.strings.is_empty() { Ok(()) } else { Err("`string:` goes with `pool=`") };
        };
        let obj = &mut self.obj;
        if to.len() != obj.strings.len() {
            return Err("`pool=` has another number of strings than the text");
        }
        let given = to.iter().copied().filter(|t| *t != DROPPED).chain(order.strings.iter().map(|s| s.0));
        let len = given.max().map_or(0, |n| n as usize + 1);
        if len > to.len() + order.strings.len() {
            return Err("`pool=` leaves strings out");
        }
        let mut new: Vec<Option<&str>> = vec![None; len];
        for (i, s) in &order.strings {
            new[*i as usize] = Some(s);
        }
        for (s, t) in obj.strings.iter().zip(to) {
            if *t != DROPPED {
                new[*t as usize].get_or_insert(s);
            }
        }
        let mut strings = Strings::default();
        for s in new {
            strings.push(s.ok_or("`pool=` leaves strings out")?);
        }
        obj.strings = strings;
        let mut good = true;
        let mut map = |i: &mut u32| match to.get(*i as usize) {
            Some(&t) if t != DROPPED => *i = t,
            _ => good = false,
        };
        obj.vars.iter_mut().for_each(|v| map(&mut v.name));
        for list in [&mut obj.addresses, &mut obj.predicates, &mut obj.samplers, &mut obj.surfaces] {
            list.iter_mut().for_each(|v| map(&mut v.name));
        }
        obj.labels.iter_mut().for_each(|l| map(&mut l.name));
        obj.attrs.iter_mut().for_each(|a| map(&mut a.name));
        for op in &mut obj.operands {
            if let Operand::Str(i) = op {
                map(i);
            }
        }
        // Attributes that others replaced stay in the list, named by nothing.
        for a in &mut obj.var_attrs {
            a.name = to.get(a.name as usize).copied().filter(|t| *t != DROPPED).unwrap_or(0);
        }
        if good { Ok(()) } else { Err("`pool=` drops a string that something names") }
    }

    fn apply_labels(&mut self, order: &Reorder) -> Result<(), &'static str> {
        let Some(to) = &order.labels else {
            return if order.extra.is_empty() { Ok(()) } else { Err("`label:` goes with `labels=`") };
        };
        let obj = &mut self.obj;
        if to.len() != obj.labels.len() || to.contains(&DROPPED) {
            return Err("`labels=` has another number of labels than the text");
        }
        let len =
            to.iter().copied().chain(order.extra.iter().map(|e| e.0)).max().map_or(0, |n| n as usize + 1);
        if len > to.len() + order.extra.len() || len > 0x1_0000 {
            return Err("`labels=` leaves labels out");
        }
        let mut new: Vec<Option<Label>> = vec![None; len];
        for &(i, kind, name) in &order.extra {
            if name as usize >= obj.strings.len() {
                return Err("`label:` names no string");
            }
            let kind = match kind {
                0 => LabelUse::Block,
                1 => LabelUse::Subroutine,
                _ => LabelUse::Fc,
            };
            new[i as usize] = Some(Label { name, kind, span: Span::NONE });
        }
        for (l, t) in obj.labels.iter().zip(to) {
            let new = new[*t as usize].get_or_insert(*l);
            new.span = l.span;
        }
        obj.labels = new.into_iter().collect::<Option<_>>().ok_or("`labels=` leaves labels out")?;
        for op in &mut obj.operands {
            if let Operand::Label(i) = op {
                *i = to.get(*i as usize).map_or(0, |t| *t as u16);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_read_back() {
        for list in [
            vec![],
            vec![0],
            vec![0, 1, 2, 9, 8, DROPPED, DROPPED, 3, 4],
            vec![DROPPED],
            vec![u32::MAX - 2, u32::MAX - 1, DROPPED],
        ] {
            let text = format_ranges(&list);
            if !list.is_empty() {
                assert_eq!(read_ranges(&text, list.len()), Some(list), "{text}");
            }
        }
        for bad in ["", "0-4000000000", "x4000000000", "3-1", "1,", "-1", "0-4294967295"] {
            assert_eq!(read_ranges(bad, 100), None, "{bad}");
        }
    }
}
