//! Prints declarations and attributes.

use super::*;

impl Printer<'_, '_> {
    /// A declaration, or an attribute of the object.
    pub(super) fn print_declaration_item(&mut self, kind: Kind, i: usize) -> Result<(), PrintError> {
        let o = self.object;
        let (list, class, name) = match kind {
            Kind::Attr => return self.kernel_attr(&o.attrs[i]),
            Kind::General => return self.general_decl(i),
            Kind::Address => (&o.addresses, 'A', self.names.address(i as u32)),
            Kind::Predicate => (&o.predicates, 'P', self.names.predicate(i as u32 + 1)),
            Kind::Sampler => (&o.samplers, 'S', self.names.sampler(i as u32)),
            Kind::Surface => {
                (&o.surfaces, 'T', self.names.surface(i as u32 + predefined::FIRST_SURFACE as u32))
            }
        };
        let name = name.to_owned();
        let v = list[i];
        let _ = write!(self.out, ".decl {name} v_type={class} num_elts={}", v.elems.max(1));
        self.print_declaration_end(&name, v.name, v.elems, v.attrs, class != 'S')
    }

    pub(super) fn general_decl(&mut self, i: usize) -> Result<(), PrintError> {
        let v = self.object.vars[i];
        let id = i as u32 + predefined::FIRST_VAR;
        if v.alias >= id {
            return self.print_error(format!("an alias of variable {} before it is declared", v.alias));
        }
        let name = self.names.var(id).to_owned();
        let ty = if v.ty.is_packed() { Type::Ud } else { v.ty };
        let _ = write!(self.out, ".decl {name} v_type=G type={} num_elts={}", ty.name(), v.elems.max(1));
        if ty != v.ty {
            self.note(format_args!("type={}", v.ty as u8));
        }
        let align = align_name(v.align);
        if !align.is_empty() {
            let _ = write!(self.out, " align={align}");
        }
        if v.alias != 0 || v.alias_offset != 0 {
            let of = self.names.var(v.alias);
            let _ = write!(self.out, " alias=<{of}, {}>", v.alias_offset);
        }
        self.print_declaration_end(&name, v.name, v.elems, v.attrs, true)
    }

    /// Attributes and annotations of a declaration.
    pub(super) fn print_declaration_end(
        &mut self,
        printed: &str,
        name: u32,
        elems: u16,
        range: AttrRange,
        textual: bool,
    ) -> Result<(), PrintError> {
        let o = self.object;
        let real = o.strings.get(name).unwrap_or("");
        self.order.pool.push(name);
        if real != printed {
            let mut quoted = String::new();
            push_quoted(&mut quoted, real);
            self.note(format_args!("name={quoted}"));
        }
        if elems == 0 {
            self.note(format_args!("elems=0"));
        }
        let start = range.start as usize;
        let list = o.var_attrs.get(start..start + range.len as usize).unwrap_or_default();
        let mut exact = textual;
        let mut text = String::new();
        for a in list {
            let name = o.strings.get(a.name).unwrap_or("");
            match attr_text(name, &a.value, Owner::Variable) {
                Some((t, whole)) => {
                    exact &= whole;
                    if !text.is_empty() {
                        text.push_str(", ");
                    }
                    text.push_str(&t);
                    self.order.pool.push(a.name);
                }
                None => exact = false,
            }
        }
        if textual && !text.is_empty() {
            let _ = write!(self.out, " attrs={{{text}}}");
        }
        if !exact && !list.is_empty() {
            // The list in the text is replaced by the one in the annotation.
            let named = self.order.pool.iter().rposition(|i| *i == name).map_or(0, |i| i + 1);
            self.order.pool[named..].fill(DROPPED);
            for a in list {
                let name = o.strings.get(a.name).unwrap_or("");
                self.attr_note(a.name, name, &a.value);
            }
        }
        self.end_line();
        Ok(())
    }

    pub(super) fn attr_note(&mut self, index: u32, name: &str, value: &[u8]) {
        let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic() && b != b'=' && b != b'"');
        self.order.pool.push(index);
        if !plain {
            self.order.explicit.push(index);
        }
        self.note(format_args!("attr:{}={}", if plain { name } else { "_" }, hex(value)));
    }

    pub(super) fn kernel_attr(&mut self, a: &Attr) -> Result<(), PrintError> {
        let name = self.object.strings.get(a.name).unwrap_or("");
        if !is_identifier(name) {
            self.attr_note(a.name, name, &a.value);
            self.end_line();
            return Ok(());
        }
        self.order.pool.push(a.name);
        let (text, exact) =
            attr_text(name, &a.value, Owner::Kernel).unwrap_or_else(|| (name.to_owned(), false));
        let _ = write!(self.out, ".kernel_attr {text}");
        if !exact {
            self.note(format_args!("bytes={}", hex(&a.value)));
        }
        self.end_line();
        Ok(())
    }
}

fn align_name(align: envisa_isa::Align) -> &'static str {
    use envisa_isa::Align::*;
    match align {
        Byte => "",
        Word => "word",
        Dword => "dword",
        Qword => "qword",
        Oword => "oword",
        Grf => "GRF",
        Grf2 => "GRFx2",
        Hword => "hword",
        Word32 => "wordx32",
        Word64 => "wordx64",
    }
}

/// An attribute as text, and whether the text gives the very bytes; `None` for names that the reference
/// does not know, or values that have no text at all.
fn attr_text(name: &str, value: &[u8], owner: Owner) -> Option<(String, bool)> {
    let int = || value.iter().rev().fold(0u64, |n, b| n << 8 | *b as u64);
    let Some((real, who, kind, _)) = attributes::find(name.as_bytes()) else {
        // What is not known is read as it stands.
        return match value.len() {
            0 => Some((name.to_owned(), true)),
            4 => Some((format!("{name}={}", int() as u32 as i32), true)),
            _ => None,
        };
    };
    if *who != owner || *real != name {
        return None;
    }
    Some(match kind {
        Value::Target => match value {
            [0] => (format!("{name}=\"cm\""), true),
            [1] => (format!("{name}=\"3d\""), true),
            _ => (format!("{name}=\"3d\""), false),
        },
        _ if value.is_empty() => (name.to_owned(), true),
        Value::Bool => (format!("{name}=1"), value == [1, 0, 0, 0]),
        Value::Int if value.len() <= 4 => (format!("{name}={}", int() as u32 as i32), value.len() == 4),
        Value::Int => return None,
        Value::Str => match std::str::from_utf8(value) {
            Ok(s) if !s.contains('\0') => {
                let mut text = format!("{name}=");
                push_quoted(&mut text, s);
                (text, true)
            }
            _ => return None,
        },
    })
}
