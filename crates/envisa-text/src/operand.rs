//! Operands: execution size, predicate, vector, raw, state, immediate.

mod exec;
mod handle;
mod indirect;
mod region;

use std::borrow::Cow;

use envisa_isa::desc::{Classes, Role};
use envisa_isa::{Modifier, Operand, Pred, Region, Span, StateClass, Type};

use crate::name_bytes::{is_ident, is_start};
use crate::names::{Class, Decl};
use crate::parser::{LineError, P, Parser};

/// A type's name, in either case.
#[inline]
pub(crate) fn type_of(name: &[u8]) -> Option<Type> {
    Some(match name {
        b"ud" | b"UD" => Type::Ud,
        b"d" | b"D" => Type::D,
        b"f" | b"F" => Type::F,
        b"uw" | b"UW" => Type::Uw,
        b"w" | b"W" => Type::W,
        b"ub" | b"UB" => Type::Ub,
        b"b" | b"B" => Type::B,
        b"uq" | b"UQ" => Type::Uq,
        b"q" | b"Q" => Type::Q,
        b"df" | b"DF" => Type::Df,
        b"hf" | b"HF" => Type::Hf,
        b"bf" | b"BF" => Type::Bf,
        b"v" | b"V" => Type::V,
        b"uv" | b"UV" => Type::Uv,
        b"vf" | b"VF" => Type::Vf,
        b"bool" | b"BOOL" | b"Bool" => Type::Bool,
        _ => return None,
    })
}

pub(crate) const TYPES: &str = "ud d uw w ub b uq q f hf df bf v uv vf bool";

impl<'s> Parser<'s> {
    /// The declaration of a name. An undeclared one is complained about once and then passes as poison.
    #[inline(always)]
    pub fn find_declaration(&mut self, name: &'s [u8], class: Option<Class>) -> P<Decl> {
        match self.names.get(name) {
            Some(d) => {
                if d.class == Class::Poison {
                    self.bad_line = true;
                }
                Ok(d)
            }
            None => Ok(self.lookup_failed(name, class)),
        }
    }

    #[cold]
    fn lookup_failed(&mut self, name: &'s [u8], class: Option<Class>) -> Decl {
        let span = self.span_of(name);
        self.report_undeclared(name, span, class);
        Decl { class: Class::Poison, id: 0, depth: 0, span: Span::NONE }
    }

    #[cold]
    pub fn wrong_class(&mut self, name: &'s [u8], decl: Decl, wanted: &str) -> LineError {
        let span = self.span_of(name);
        let shown = self.str_of(name).into_owned();
        let mut d = self.diag_label(
            "E0303",
            format!("`{shown}` is {}, expected {wanted}", decl.class.describe()),
            span,
            format!("expected {wanted}"),
        );
        if decl.span != Span::NONE {
            d = d.secondary(self.file, decl.span, "declared here");
        }
        self.report_and_give_up_line(d)
    }

    /// A name with or without `%`; empty if there is none.
    #[inline(always)]
    pub fn var_name(&mut self) -> &'s [u8] {
        self.skip_blanks();
        let start = self.pos;
        if self.peek() == b'%' {
            if !is_start(self.peek_at(1)) {
                return &self.src[start..start];
            }
            self.pos += 1;
            self.run();
            return &self.src[start..self.pos];
        }
        self.read_identifier()
    }

    /// Does an expression's built-in (`%sizeof`) stand here?
    fn at_builtin(&self) -> bool {
        let rest = &self.src[self.pos..];
        let word = |w: &[u8]| rest.starts_with(w) && !rest.get(w.len()).is_some_and(|&b| is_ident(b));
        word(b"%sizeof") || word(b"%DispatchSimd")
    }

    // ---- vector operands

    /// A vector operand of one of these classes.
    #[inline(always)]
    pub fn vector(&mut self, classes: Classes, role: Role, what: &'static str) -> P<(Operand, Span)> {
        self.skip_blanks();
        let start = self.pos;
        let b = self.peek();
        let modifier = if b == b'(' { self.source_modifier() } else { Modifier::None };
        let b = if modifier == Modifier::None { b } else { self.after_modifier() };
        let write = matches!(role, Role::Write | Role::ReadWrite);
        let operand = if b == b'r' && self.peek_at(1) == b'[' {
            self.pos += 2;
            self.parse_indirect_operand(modifier, write)?
        } else if is_start(b) || (b == b'%' && !self.at_builtin()) {
            self.parse_named_operand(classes, modifier, write, what)?
        } else {
            self.parse_other_vector(classes, modifier, write, what)?
        };
        if modifier != Modifier::None && write {
            let span = self.since(start);
            let d =
                self.diag_label("E0408", "destination has a source modifier", span, "not on a destination");
            self.report_diagnostic(d);
        }
        Ok((operand, self.since(start)))
    }

    /// A general operand without a region, as DPAS has it: consecutive elements.
    pub fn bare_vector(&mut self, what: &'static str) -> P<(Operand, Span)> {
        self.skip_blanks();
        let start = self.pos;
        let name = self.var_name();
        if name.is_empty() {
            return Err(self.missing_operand(what));
        }
        let decl = self.find_declaration(name, Some(Class::General))?;
        match decl.class {
            Class::General => {
                let (row, col, given) = self.row_col()?;
                if !given {
                    let span = self.span_of(name);
                    let d = self
                        .diag_label(
                            "E0402",
                            "source has no offset",
                            span,
                            "expected `(row,column)` after the name",
                        )
                        .suggest("for the first element, write", self.file, (span.end, span.end), "(0,0)");
                    return Err(self.report_and_give_up_line(d));
                }
                let modifier = Modifier::None;
                let operand =
                    Operand::General { var: decl.id, row, col, region: Region::CONTIGUOUS, modifier };
                Ok((operand, self.since(start)))
            }
            Class::Poison => {
                self.skip_operand_tail();
                Ok((Operand::RAW_NULL, self.since(start)))
            }
            _ => Err(self.wrong_class(name, decl, "a general variable")),
        }
    }

    fn after_modifier(&mut self) -> u8 {
        self.skip_blanks();
        self.peek()
    }

    /// What stands where an immediate could, and starts none.
    #[cold]
    fn odd_start(&mut self, what: &str) -> Option<LineError> {
        let start = self.pos;
        let b = self.peek();
        if matches!(b, b'-' | b'~') && is_start(self.peek_at(1)) {
            let span = Span::new(start as u32, start as u32 + 1);
            let right = if b == b'-' { "(-)" } else { "(~)" };
            let d = self
                .diag_label(
                    "E0402",
                    "source modifier without parentheses",
                    span,
                    format!("expected `{right}`"),
                )
                .suggest("write", self.file, span, right);
            return Some(self.report_and_give_up_line(d));
        }
        if b != b'(' {
            return None;
        }
        if let Some((text, end)) = self.spaced_modifier() {
            let span = Span::new(start as u32, end as u32);
            if &self.src[start..end] == text.as_bytes() {
                return Some(self.second_modifier(span, text));
            }
            let d = self
                .diag_label("E0402", "blanks within a source modifier", span, format!("expected `{text}`"))
                .suggest("write", self.file, span, text);
            return Some(self.report_and_give_up_line(d));
        }
        self.pos += 1;
        let mask = self.peek_mask();
        self.pos = start;
        if let Some(mask) = mask {
            let span = Span::new(start as u32, start as u32 + 1);
            let d = self.diag_label(
                "E0402",
                format!("expected operand `{what}`, found another execution size"),
                span,
                format!("`{mask}` is an execution mask"),
            );
            return Some(self.report_and_give_up_line(d));
        }
        let inner = &self.src[start + 1..self.src.len().min(start + 8)];
        let n = inner.iter().position(|&b| b == b')')?;
        let name = &inner[..n];
        let sign = matches!(name, b"+" | b"!" | b"sat" | b"neg" | b"not" | b"--");
        if !sign {
            return None;
        }
        let span = Span::new(start as u32, (start + n + 2) as u32);
        let d = self.diag_label(
            "E0402",
            "unknown source modifier",
            span,
            "expected `(-)`, `(abs)`, `(-abs)` or `(~)`",
        );
        Some(self.report_and_give_up_line(d))
    }

    /// `( - )` before an operand: a modifier but for its blanks. Gives it as it should be, and its end.
    #[cold]
    fn spaced_modifier(&mut self) -> Option<(&'static str, usize)> {
        let start = self.pos;
        let end = start + memchr::memchr2(b')', b'\n', &self.src[start..])?;
        let inner: Vec<u8> =
            self.src[start..end].iter().copied().filter(|b| !matches!(b, b' ' | b'\t')).take(8).collect();
        let text = match inner.as_slice() {
            b"(-" => "(-)",
            b"(abs" => "(abs)",
            b"(-abs" => "(-abs)",
            b"(~" => "(~)",
            _ => return None,
        };
        (self.src.get(end) == Some(&b')')).then_some((text, end + 1))
    }

    /// A modifier after another one.
    fn second_modifier(&mut self, span: Span, text: &str) -> LineError {
        let start = span.start as usize;
        let d = self.diag_label("E0402", "a second source modifier", span, "a source has one at most");
        let first = self.src[..start].trim_ascii_end();
        let d = if text == "(abs)" && first.ends_with(b"(-)") {
            let whole = (first.len() as u32 - 3, span.end);
            d.suggest("the negative of the absolute value is", self.file, whole, "(-abs)")
        } else {
            d
        };
        self.report_and_give_up_line(d)
    }

    /// `(-)`, `(abs)`, `(-abs)`, `(~)`.
    fn source_modifier(&mut self) -> Modifier {
        let rest = &self.src[self.pos..];
        let (len, m) = if rest.starts_with(b"(-)") {
            (3, Modifier::Neg)
        } else if rest.starts_with(b"(abs)") {
            (5, Modifier::Abs)
        } else if rest.starts_with(b"(-abs)") {
            (6, Modifier::NegAbs)
        } else if rest.starts_with(b"(~)") {
            (3, Modifier::Not)
        } else {
            return Modifier::None;
        };
        self.pos += len;
        m
    }

    #[inline(never)]
    fn parse_other_vector(
        &mut self,
        classes: Classes,
        modifier: Modifier,
        write: bool,
        what: &'static str,
    ) -> P<Operand> {
        let start = self.pos;
        match self.peek() {
            b'&' => self.address_of(classes, what),
            b'0'..=b'9' | b'-' | b'~' | b'!' | b'(' | b'%' => {
                if let Some(bad) = self.odd_start(what) {
                    return Err(bad);
                }
                let operand = self.immediate()?;
                let span = self.since(start);
                if modifier != Modifier::None {
                    let d = self
                        .diag_label(
                            "E0408",
                            "immediate has a source modifier",
                            span,
                            "an immediate takes none",
                        )
                        .help("apply it to the number");
                    return Err(self.report_and_give_up_line(d));
                }
                if write || !classes.has(Classes::IMM) {
                    let d = self.diag_label(
                        "E0408",
                        format!("`{what}` is an immediate"),
                        span,
                        if write { "cannot be written to" } else { "no immediate is allowed here" },
                    );
                    return Err(self.report_and_give_up_line(d));
                }
                Ok(operand)
            }
            _ => Err(self.missing_operand(what)),
        }
    }

    #[cold]
    pub fn missing_operand(&mut self, what: &str) -> LineError {
        let (found, span) = self.found();
        let d = self.diag_label(
            "E0407",
            format!("expected operand `{what}`, found {found}"),
            span,
            match what {
                "surface" => "expected a surface, as `T6` or `%slm`".to_owned(),
                "sampler" => "expected a sampler, as `S0`".to_owned(),
                _ => format!("expected `{what}`"),
            },
        );
        let d = match found.as_str() {
            "`,`" => d.help("operands are separated by blanks, not by commas"),
            "`[`" => d.help("an indirect operand is written `r[A0(0),0]<1>:d`, without blanks before `[`"),
            _ => d,
        };
        self.report_and_give_up_line(d)
    }

    /// An operand that starts with a name.
    #[inline(always)]
    fn parse_named_operand(
        &mut self,
        classes: Classes,
        modifier: Modifier,
        write: bool,
        what: &'static str,
    ) -> P<Operand> {
        let name = self.var_name();
        if name.is_empty() {
            return Err(self.missing_operand(what));
        }
        let wanted = if classes == Classes::PREDICATE {
            Some(Class::Predicate)
        } else if classes == Classes::ADDRESS {
            Some(Class::Address)
        } else {
            None
        };
        let decl = self.find_declaration(name, wanted)?;
        if decl.class == Class::General {
            if !classes.has(Classes::GENERAL) {
                return Err(self.class_not_allowed(name, decl, classes, what));
            }
            let (row, col, given) = self.row_col()?;
            if write {
                let region = self.dst_region(name, given)?;
                return Ok(Operand::General { var: decl.id, row, col, region, modifier });
            }
            let region = self.src_region(name, given)?;
            return Ok(Operand::General { var: decl.id, row, col, region, modifier });
        }
        self.parse_other_named_operand(name, decl, classes, modifier, write, what)
    }

    #[inline(never)]
    fn parse_other_named_operand(
        &mut self,
        name: &'s [u8],
        decl: Decl,
        classes: Classes,
        modifier: Modifier,
        write: bool,
        what: &'static str,
    ) -> P<Operand> {
        let need = match decl.class {
            Class::Address => Classes::ADDRESS,
            Class::Predicate => Classes::PREDICATE,
            Class::Sampler | Class::Surface => Classes::STATE,
            _ => {
                self.skip_operand_tail();
                return Ok(Operand::RAW_NULL);
            }
        };
        if !classes.has(need) {
            return Err(self.class_not_allowed(name, decl, classes, what));
        }
        match decl.class {
            Class::Address => {
                let offset = self.element(name, "element")?;
                let width = self.width(name)?;
                let _ = write;
                Ok(Operand::Address { id: decl.id as u16, offset, width_log2: width, modifier })
            }
            Class::Predicate => {
                if modifier != Modifier::None {
                    let span = self.span_of(name);
                    let d = self.diag_label("E0408", "predicate has a source modifier", span, "takes none");
                    self.report_diagnostic(d);
                }
                Ok(Operand::Predicate(Pred { id: decl.id as u16, ..Pred::NONE }))
            }
            c => {
                let class = if c == Class::Surface { StateClass::Surface } else { StateClass::Sampler };
                let offset = self.element(name, "element")?;
                Ok(Operand::State { class, id: decl.id as u16, offset })
            }
        }
    }

    #[cold]
    fn class_not_allowed(&mut self, name: &'s [u8], decl: Decl, classes: Classes, what: &str) -> LineError {
        let mut list = Vec::new();
        for (c, text) in [
            (Classes::GENERAL, "a general variable"),
            (Classes::INDIRECT, "an indirect operand"),
            (Classes::IMM, "an immediate"),
            (Classes::ADDRESS, "an address variable"),
            (Classes::PREDICATE, "a predicate"),
            (Classes::ADDRESS_OF, "an address (`&V`)"),
            (Classes::STATE, "a surface or sampler"),
        ] {
            if classes.has(c) {
                list.push(text);
            }
        }
        let list = match list.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => list.join(""),
        };
        let _ = what;
        self.wrong_class(name, decl, &list)
    }

    /// Steps over what may follow an undeclared name, so that one slip gives one complaint.
    #[cold]
    pub fn skip_operand_tail(&mut self) {
        for (open, close) in [(b'[', b']'), (b'(', b')'), (b'<', b'>')] {
            if open == b'[' {
                self.skip_blanks();
            }
            if self.peek() == open {
                let rest = &self.src[self.pos..];
                let line = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                if let Some(n) = memchr::memchr(close, &rest[..line]) {
                    self.pos += n + 1;
                }
            }
        }
        if matches!(self.peek(), b'.' | b':') {
            self.pos += 1;
            self.run();
        }
    }

    /// `(row, col)`, if it is there.
    #[inline(always)]
    pub fn row_col(&mut self) -> P<(u8, u8, bool)> {
        // `(d,d)`, the usual.
        if let Some(&[b'(', r @ b'0'..=b'9', b',', c @ b'0'..=b'9', b')']) =
            self.src.get(self.pos..self.pos + 5).and_then(|s| s.first_chunk::<5>())
        {
            self.pos += 5;
            return Ok((r - b'0', c - b'0', true));
        }
        if !self.eat_byte(b'(') {
            return Ok((0, 0, false));
        }
        let row = self.byte_expr("row")?;
        self.expect(b',')?;
        let col = self.byte_expr("column")?;
        self.expect(b')')?;
        Ok((row, col, true))
    }

    /// An expression that fits a byte.
    #[inline(always)]
    pub fn byte_expr(&mut self, what: &'static str) -> P<u8> {
        self.skip_blanks();
        let start = self.pos;
        let v = self.expr()?;
        match u8::try_from(v) {
            Ok(v) => Ok(v),
            Err(_) => Err(self.not_a_byte(start, v, what)),
        }
    }

    #[cold]
    fn not_a_byte(&mut self, start: usize, v: i64, what: &str) -> LineError {
        let span = self.since(start);
        let d = self
            .diag_label("E0409", format!("{what} {v} is out of range"), span, "must be 0 to 255")
            .note(format!("the binary holds the {what} in a byte; the reference assembler lets it wrap"));
        self.report_and_give_up_line(d)
    }

    /// `(element)` of an address variable or state operand.
    fn element(&mut self, name: &'s [u8], what: &'static str) -> P<u8> {
        if !self.eat_byte(b'(') {
            let span = self.span_of(name);
            let shown = self.str_of(name).into_owned();
            let d = self
                .diag_label("E0402", format!("`{shown}` has no element"), span, "expected `(element)`")
                .suggest("for the first element, write", self.file, span, format!("{shown}(0)"));
            return Err(self.report_and_give_up_line(d));
        }
        let v = self.byte_expr(what)?;
        self.expect(b')')?;
        Ok(v)
    }

    /// `<width>` of an address operand, as log2.
    fn width(&mut self, name: &'s [u8]) -> P<u8> {
        if !self.eat_byte(b'<') {
            let span = self.span_of(name);
            let d = self
                .diag_label("E0410", "expected the number of elements", span, "no `<width>` follows")
                .help(
                    "an address operand is written `A0(0)<1>`: variable, first element, number of elements",
                );
            return Err(self.report_and_give_up_line(d));
        }
        self.skip_blanks();
        let start = self.pos;
        let v = self.expr_nra()?;
        let span = self.since(start);
        self.expect(b'>')?;
        match v {
            1 | 2 | 4 | 8 | 16 | 32 => Ok(v.trailing_zeros() as u8),
            _ => {
                let d = self.diag_label(
                    "E0410",
                    format!("{v} is not a width"),
                    span,
                    "expected 1, 2, 4, 8, 16 or 32",
                );
                Err(self.report_and_give_up_line(d))
            }
        }
    }

    // ---- raw, surface, sampler

    /// `V32.64`, `%null.0`; with `bare`, also `V32`.
    #[inline(always)]
    pub fn raw(&mut self, bare: bool, what: &'static str) -> P<(Operand, Span)> {
        self.skip_blanks();
        let start = self.pos;
        let name = self.var_name();
        if name.is_empty() {
            return Err(self.missing_operand(what));
        }
        let decl = self.find_declaration(name, Some(Class::General))?;
        let var = match decl.class {
            Class::General => decl.id,
            Class::Poison => {
                self.skip_operand_tail();
                return Ok((Operand::RAW_NULL, self.since(start)));
            }
            _ => return Err(self.wrong_class(name, decl, "a general variable")),
        };
        if !self.eat_byte(b'.') {
            if bare {
                return Ok((Operand::Raw { var, offset: 0 }, self.span_of(name)));
            }
            return Err(self.bare_raw(name));
        }
        // The usual: digits, and nothing that makes it an expression.
        self.skip_blanks();
        let at = self.pos;
        let v = if self.peek() == b'(' {
            self.pos += 1;
            let v = self.expr()?;
            self.expect(b')')?;
            v
        } else {
            match self.number()? {
                Some(n) => n.value.min(1 << 40) as i64,
                None => return Err(self.expected("the byte offset")),
            }
        };
        let Ok(offset) = u16::try_from(v) else { return Err(self.raw_offset(at, v)) };
        if var == 0 && offset != 0 {
            let span = self.since(at);
            let d = self.diag_label("E0409", "`%null` has an offset", span, "must be 0");
            return Err(self.report_and_give_up_line(d));
        }
        Ok((Operand::Raw { var, offset }, self.since(start)))
    }

    #[cold]
    fn raw_offset(&mut self, at: usize, v: i64) -> LineError {
        let span = self.since(at);
        let d = self
            .diag_label("E0409", format!("byte offset {v} is out of range"), span, "must be 0 to 65535")
            .note("the binary holds it in 16 bits; the reference assembler lets it wrap");
        self.report_and_give_up_line(d)
    }

    #[cold]
    fn bare_raw(&mut self, name: &'s [u8]) -> LineError {
        let span = self.span_of(name);
        let shown = self.str_of(name).into_owned();
        let mut d = self.diag_label(
            "E0402",
            format!("raw operand `{shown}` has no byte offset"),
            span,
            "expected `.offset` after the name",
        );
        d = if matches!(self.peek(), b'(' | b'<') {
            d.note("this operand is a whole message payload: a variable and a byte offset, without a region")
        } else {
            d.suggest("for the start of the variable, write", self.file, (span.end, span.end), ".0")
        };
        self.report_and_give_up_line(d)
    }

    /// An identifier or a string.
    pub fn name_or_string(&mut self, what: &str) -> P<(Cow<'s, str>, Span)> {
        self.skip_blanks();
        if self.peek() == b'"' {
            return self.string();
        }
        let name = self.read_identifier();
        if name.is_empty() {
            return Err(self.expected(what));
        }
        let span = self.span_of(name);
        Ok((Cow::Borrowed(&self.text[span.start as usize..span.end as usize]), span))
    }
}

/// Codes of the strides 0, 1, 2, 4, 8; 0 for what is none.
const CODES: [u8; 9] = [1, 2, 3, 0, 4, 0, 0, 0, 5];

/// `a, b or c`.
pub(crate) fn or_list<S: AsRef<str>>(items: &[S]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}
