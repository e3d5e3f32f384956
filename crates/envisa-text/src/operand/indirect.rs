//! Reads operands by way of addresses, and addresses of variables.

use super::*;

impl<'s> Parser<'s> {
    /// After `r[`.
    #[inline(never)]
    pub(super) fn parse_indirect_operand(&mut self, modifier: Modifier, write: bool) -> P<Operand> {
        self.skip_blanks();
        let name = self.var_name();
        if name.is_empty() {
            return Err(self.expected("an address variable"));
        }
        let decl = self.find_declaration(name, Some(Class::Address))?;
        let addr = match decl.class {
            Class::Address => decl.id as u16,
            Class::Poison => 0,
            _ => return Err(self.wrong_class(name, decl, "an address variable")),
        };
        let offset = self.element(name, "element")?;
        let mut byte_offset = 0;
        if self.eat_byte(b',') {
            self.skip_blanks();
            let start = self.pos;
            let v = self.expr()?;
            byte_offset = match i16::try_from(v) {
                Ok(v) => v,
                Err(_) => {
                    let span = self.since(start);
                    let d = self.diag_label(
                        "E0409",
                        format!("byte offset {v} is out of range"),
                        span,
                        "must be -32768 to 32767",
                    );
                    return Err(self.report_and_give_up_line(d));
                }
            };
        }
        self.expect(b']')?;
        self.expect(b'<')?;
        let region = if write {
            let h = self.parse_stride("horizontal stride", &[0, 1, 2, 4])?;
            self.expect(b'>')?;
            Region((h as u16) << 8)
        } else {
            self.source_strides(true)?
        };
        if !self.eat_byte(b':') {
            let at = self.pos as u32;
            let d = self
                .diag_label(
                    "E0502",
                    "indirect operand has no type",
                    Span::new(at, at + 1),
                    "expected `:type`",
                )
                .suggest("for 32-bit integers, write", self.file, (at, at), ":d");
            return Err(self.report_and_give_up_line(d));
        }
        self.skip_blanks();
        let ty = self.run();
        let Some(ty) = type_of(ty) else { return Err(self.unknown_type(ty)) };
        Ok(Operand::Indirect { addr, offset, byte_offset, ty, region, modifier })
    }

    #[cold]
    pub fn unknown_type(&mut self, name: &'s [u8]) -> LineError {
        if name.is_empty() {
            return self.expected("a type");
        }
        let span = self.span_of(name);
        let shown = self.str_of(name).into_owned();
        let d = self
            .diag_label("E0502", format!("unknown type `{shown}`"), span, "not a type")
            .help(format!("types are {TYPES}"));
        self.report_and_give_up_line(d)
    }

    /// `&V[offset]`, `&T6`.
    pub(super) fn address_of(&mut self, classes: Classes, what: &'static str) -> P<Operand> {
        let start = self.pos;
        self.pos += 1;
        let name = self.var_name();
        if name.is_empty() {
            return Err(self.expected("a variable"));
        }
        let decl = self.find_declaration(name, Some(Class::General))?;
        let mut offset = 0i64;
        let mut span = self.since(start);
        if self.eat_byte(b'[') {
            self.skip_blanks();
            let at = self.pos;
            offset = self.expr()?;
            span = self.since(at);
            self.expect(b']')?;
        } else if self.peek() == b'+' {
            let at = self.pos as u32;
            let d = self
                .diag_label(
                    "E0402",
                    "offset of an address is written with `+`",
                    Span::new(at, at + 1),
                    "here",
                )
                .help("write `&V[offset]`");
            return Err(self.report_and_give_up_line(d));
        }
        if !classes.has(Classes::ADDRESS_OF) {
            let span = self.since(start);
            let d = self.diag_label(
                "E0408",
                format!("`{what}` is the address of a variable"),
                span,
                "no `&` is allowed here",
            );
            return Err(self.report_and_give_up_line(d));
        }
        let wrong = |p: &mut Self, limit: &str| {
            let d = p.diag_label("E0409", format!("offset {offset} is out of range"), span, limit.to_owned());
            p.report_and_give_up_line(d)
        };
        match decl.class {
            Class::General => match u16::try_from(offset) {
                Ok(offset) if offset < 0x8000 => Ok(Operand::AddressOf { var: decl.id, offset }),
                _ => Err(wrong(self, "must be 0 to 32767")),
            },
            Class::Surface | Class::Sampler => {
                let class =
                    if decl.class == Class::Surface { StateClass::Surface } else { StateClass::Sampler };
                match u8::try_from(offset) {
                    Ok(offset) => Ok(Operand::State { class, id: decl.id as u16, offset }),
                    Err(_) => Err(wrong(self, "must be 0 to 255")),
                }
            }
            Class::Poison => Ok(Operand::RAW_NULL),
            _ => Err(self.wrong_class(name, decl, "a general variable or surface")),
        }
    }
}
