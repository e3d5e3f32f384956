//! Names as printed: legal in text and unique in their object.

use std::borrow::Cow;

use envisa_isa::{Object, predefined};
use hashbrown::HashSet;

use crate::name_bytes::{is_ident, is_label, is_start};
use crate::template::Forms;

/// Names of an object, by class.
pub(crate) struct Printed<'m> {
    vars: Vec<Cow<'m, str>>,
    addresses: Vec<Cow<'m, str>>,
    predicates: Vec<Cow<'m, str>>,
    samplers: Vec<Cow<'m, str>>,
    surfaces: Vec<Cow<'m, str>>,
    labels: Vec<Cow<'m, str>>,
    forms: &'static Forms,
}

/// An identifier of the text.
pub(crate) fn is_identifier(s: &str) -> bool {
    s.bytes().next().is_some_and(is_start) && s.bytes().all(is_ident)
}

/// A string literal.
pub(crate) fn push_quoted(out: &mut String, s: &str) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 32 || c as u32 == 127 => {
                out.push_str(&format!("\\{:03o}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Words of the reference's lexer besides mnemonics.
const RESERVED: [&str; 6] = ["flat", "bti", "ss", "bss", "arg", "r"];

/// Is it a word of the language, which the reference reads as no name?
pub(crate) fn is_reserved_word(forms: &Forms, s: &str) -> bool {
    RESERVED.contains(&s) || s.starts_with("AVS_") || !forms.of_head(s.as_bytes()).is_empty() || s == "fence"
}

impl<'m> Printed<'m> {
    /// Chooses the names of an object.
    pub fn of(o: &'m Object, version: (u8, u8)) -> Printed<'m> {
        let forms = Forms::get();
        let mut taken: HashSet<Cow<'m, str>> = HashSet::new();
        let text = |i: u32| o.strings.get(i).unwrap_or("");
        // Names that are fine stay; the others get one that no name of the object has.
        let every: HashSet<&str> = o.strings.iter().collect();
        let mut pick = |name: &'m str, prefix: char, id: u32| -> Cow<'m, str> {
            let free =
                |taken: &HashSet<Cow<'m, str>>, s: &str| !taken.contains(s) && !predefined_name(s, version);
            if is_identifier(name) && !is_reserved_word(forms, name) && free(&taken, name) {
                taken.insert(Cow::Borrowed(name));
                return Cow::Borrowed(name);
            }
            let mut n = 0;
            loop {
                let s = if n == 0 { format!("{prefix}{id}") } else { format!("{prefix}{id}_{n}") };
                if free(&taken, &s) && (!every.contains(s.as_str()) || s == name) {
                    taken.insert(Cow::Owned(s.clone()));
                    return Cow::Owned(s);
                }
                n += 1;
            }
        };
        let mut simple = |list: &'m [envisa_isa::SimpleVar], prefix, first: u32| -> Vec<Cow<'m, str>> {
            list.iter().enumerate().map(|(i, v)| pick(text(v.name), prefix, first + i as u32)).collect()
        };
        let addresses = simple(&o.addresses, 'A', 0);
        let predicates = simple(&o.predicates, 'P', 1);
        let samplers = simple(&o.samplers, 'S', 0);
        let surfaces = simple(&o.surfaces, 'T', predefined::FIRST_SURFACE as u32);
        let vars = o
            .vars
            .iter()
            .enumerate()
            .map(|(i, v)| pick(text(v.name), 'V', predefined::FIRST_VAR + i as u32))
            .collect();
        let mut taken: HashSet<Cow<'m, str>> = HashSet::new();
        let labels = o
            .labels
            .iter()
            .enumerate()
            .map(|(i, l)| {
                let name = text(l.name);
                let legal =
                    name.bytes().next().is_some_and(|b| is_label(b) && !b.is_ascii_digit() && b != b'-')
                        && name.bytes().all(is_label);
                if legal && taken.insert(Cow::Borrowed(name)) {
                    return Cow::Borrowed(name);
                }
                let mut n = 0;
                loop {
                    let s = if n == 0 { format!("L{i}") } else { format!("L{i}_{n}") };
                    if !every.contains(s.as_str()) && taken.insert(Cow::Owned(s.clone())) {
                        return Cow::Owned(s);
                    }
                    n += 1;
                }
            })
            .collect();
        Printed { vars, addresses, predicates, samplers, surfaces, labels, forms }
    }

    /// Is it a word of the language?
    pub fn is_reserved_word(&self, s: &str) -> bool {
        is_reserved_word(self.forms, s)
    }

    pub fn var(&self, id: u32) -> &str {
        match predefined::VARS.get(id as usize) {
            Some(v) => v.name,
            None => get(&self.vars, id.wrapping_sub(predefined::FIRST_VAR)),
        }
    }

    pub fn address(&self, id: u32) -> &str {
        get(&self.addresses, id)
    }

    pub fn predicate(&self, id: u32) -> &str {
        get(&self.predicates, id.wrapping_sub(1))
    }

    pub fn sampler(&self, id: u32) -> &str {
        match self.samplers.get(id as usize) {
            Some(s) => s,
            None if id == predefined::SAMPLER_BINDLESS as u32 => predefined::SAMPLER_BINDLESS_NAME,
            None => "?",
        }
    }

    pub fn surface(&self, id: u32) -> &str {
        match predefined::SURFACES.get(id as usize) {
            Some(s) => s,
            None => get(&self.surfaces, id - predefined::FIRST_SURFACE as u32),
        }
    }

    pub fn label(&self, id: u16) -> &str {
        get(&self.labels, id as u32)
    }
}

/// What does not exist is shown as `?`; sound modules have nothing of the kind.
fn get<'a>(list: &'a [Cow<'_, str>], i: u32) -> &'a str {
    list.get(i as usize).map_or("?", |s| s.as_ref())
}

fn predefined_name(s: &str, version: (u8, u8)) -> bool {
    if let Some(n) = s.strip_prefix('V').and_then(|n| n.parse::<usize>().ok())
        && n < predefined::vars(version).len()
        && s == format!("V{n}")
    {
        return true;
    }
    matches!(s, "T1" | "T2" | "TSS" | "S31")
}
