//! Names in scope: variables of all classes share one space, labels have two of their own.

use hashbrown::HashMap;
use std::sync::OnceLock;

use envisa_isa::{Span, predefined};

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    General,
    Address,
    Predicate,
    Sampler,
    Surface,
    /// Was undeclared or wrongly declared; already complained about.
    Poison,
}

impl Class {
    /// For people, with its article.
    pub fn describe(self) -> &'static str {
        match self {
            Class::General => "a general variable",
            Class::Address => "an address variable",
            Class::Predicate => "a predicate",
            Class::Sampler => "a sampler",
            Class::Surface => "a surface",
            Class::Poison => "a name",
        }
    }
}

/// A declared name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decl {
    pub class: Class,
    pub id: u32,
    pub depth: u32,
    /// Where; `NONE` for predefined names.
    pub span: Span,
}

/// Variables of the current object.
pub(crate) struct Names<'s> {
    /// How many predefined general variables the version has.
    predefined: u32,
    map: HashMap<&'s [u8], Decl>,
    /// What scopes hide or add: the name and what it meant outside.
    undo: Vec<(&'s [u8], Option<Decl>)>,
    /// Lengths of `undo` and places of the open scopes.
    scopes: Vec<(usize, Span)>,
}

fn predefined_names() -> &'static HashMap<&'static [u8], Decl> {
    static MAP: OnceLock<HashMap<&'static [u8], Decl>> = OnceLock::new();
    MAP.get_or_init(|| {
        const NUMBERED: [&str; predefined::VARS.len()] = [
            "V0", "V1", "V2", "V3", "V4", "V5", "V6", "V7", "V8", "V9", "V10", "V11", "V12", "V13", "V14",
            "V15", "V16", "V17", "V18", "V19", "V20", "V21",
        ];
        let decl = |class, id| Decl { class, id, depth: 0, span: Span::NONE };
        let mut map = HashMap::new();
        for (i, v) in predefined::VARS.iter().enumerate() {
            map.insert(v.name.as_bytes(), decl(Class::General, i as u32));
            if let Some(name) = NUMBERED.get(i) {
                map.insert(name.as_bytes(), decl(Class::General, i as u32));
            }
        }
        for (i, name) in predefined::SURFACES.iter().enumerate() {
            map.insert(name.as_bytes(), decl(Class::Surface, i as u32));
        }
        map.insert(
            predefined::SAMPLER_BINDLESS_NAME.as_bytes(),
            decl(Class::Sampler, predefined::SAMPLER_BINDLESS as u32),
        );
        map
    })
}

impl<'s> Names<'s> {
    /// Without declarations.
    pub fn new() -> Names<'s> {
        Names { predefined: 0, map: HashMap::new(), undo: Vec::new(), scopes: Vec::new() }
    }

    /// Forgets everything, for the next object.
    pub fn clear(&mut self, version: (u8, u8)) {
        self.predefined = predefined::vars(version).len() as u32;
        self.map.clear();
        self.undo.clear();
        self.scopes.clear();
    }

    /// What a name means here.
    #[inline(always)]
    pub fn get(&self, name: &[u8]) -> Option<Decl> {
        match self.map.get(name) {
            Some(d) => Some(*d),
            None => {
                let found = predefined_names().get(name).copied();
                found.filter(|d| self.version_has_name(d))
            }
        }
    }

    /// Has the version this predefined name?
    fn version_has_name(&self, decl: &Decl) -> bool {
        decl.class != Class::General || decl.id < self.predefined
    }

    /// Declares a name in the innermost scope; gives the declaration it collides with, if any.
    pub fn declare(&mut self, name: &'s [u8], class: Class, id: u32, span: Span) -> Option<Decl> {
        let depth = self.scopes.len() as u32;
        let old = self.get(name);
        if let Some(old) = old
            && old.depth == depth
            && old.class != Class::Poison
        {
            return Some(old);
        }
        let before = self.map.insert(name, Decl { class, id, depth, span });
        if depth > 0 {
            self.undo.push((name, before));
        }
        None
    }

    /// Remembers a name as already complained about.
    pub fn mark_reported(&mut self, name: &'s [u8]) {
        if self.get(name).is_none() {
            self.map.insert(name, Decl { class: Class::Poison, id: 0, depth: 0, span: Span::NONE });
        }
    }

    /// Forgets a poisoned name (a candidate that was given up).
    pub fn unmark_reported(&mut self, name: &'s [u8]) {
        if self.map.get(name).is_some_and(|d| d.class == Class::Poison) {
            self.map.remove(name);
        }
    }

    /// Opens a scope.
    pub fn open(&mut self, span: Span) {
        self.scopes.push((self.undo.len(), span));
    }

    /// Closes the innermost scope; false if none is open.
    pub fn close(&mut self) -> bool {
        let Some((len, _)) = self.scopes.pop() else { return false };
        while self.undo.len() > len {
            if let Some((name, before)) = self.undo.pop() {
                match before {
                    Some(d) => self.map.insert(name, d),
                    None => self.map.remove(name),
                };
            }
        }
        true
    }

    /// Place of the innermost open scope.
    pub fn open_scope(&self) -> Option<Span> {
        self.scopes.last().map(|s| s.1)
    }

    /// How many names are declared.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// How many scopes are open.
    pub fn open_scopes(&self) -> usize {
        self.scopes.len()
    }

    /// All names of a class (or of any), for suggestions.
    pub fn iter(&self, class: Option<Class>) -> impl Iterator<Item = &[u8]> {
        self.map
            .iter()
            .map(|(n, d)| (*n, d))
            // `V17` and the like are rarely meant.
            .chain(
                predefined_names()
                    .iter()
                    .map(|(n, d)| (*n, d))
                    .filter(|(n, d)| (n[0] == b'%' || *n == b"TSS") && self.version_has_name(d)),
            )
            .filter(move |(_, d)| d.class != Class::Poison && class.is_none_or(|c| c == d.class))
            .map(|(n, _)| n)
    }
}

/// The candidate nearest to a name, if one is near enough to be meant.
pub(crate) fn nearest<'a>(name: &[u8], candidates: impl Iterator<Item = &'a [u8]>) -> Option<&'a str> {
    // Names that differ in their number only are different names, not slips.
    let stem = |n: &'_ [u8]| n.iter().rposition(|b| !b.is_ascii_digit()).map_or(0, |i| i + 1);
    let other_number =
        |c: &[u8]| stem(c) < c.len() && stem(name) < name.len() && c[..stem(c)] == name[..stem(name)];
    let candidates = candidates.filter(|c| !other_number(c)).filter_map(|c| std::str::from_utf8(c).ok());
    envisa_diag::nearest(std::str::from_utf8(name).ok()?, candidates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_a_swap_and_a_slip_but_no_stranger() {
        let names: [&[u8]; 3] = [b"scatter", b"gather", b"mov"];
        assert_eq!(nearest(b"sactter", names.into_iter()), Some("scatter"));
        assert_eq!(nearest(b"gathr", names.into_iter()), Some("gather"));
        assert_eq!(nearest(b"frobnicate", names.into_iter()), None);
    }

    #[test]
    fn a_scope_hides_and_gives_back() {
        let mut n = Names::new();
        n.clear((4, 1));
        assert!(n.declare(b"A", Class::General, 32, Span::new(1, 2)).is_none());
        n.open(Span::NONE);
        assert!(n.declare(b"A", Class::Address, 0, Span::new(3, 4)).is_none());
        assert_eq!(n.get(b"A").map(|d| d.class), Some(Class::Address));
        assert!(n.declare(b"A", Class::General, 33, Span::new(5, 6)).is_some());
        assert!(n.close());
        assert_eq!(n.get(b"A").map(|d| d.id), Some(32));
        assert!(!n.close());
        assert!(n.declare(b"V7", Class::General, 33, Span::NONE).is_some());
        assert!(n.declare(b"V21", Class::General, 33, Span::NONE).is_none());
    }
}
