//! Execution size, execution mask and predicate.

use crate::name_bytes::is_start;
use envisa_isa::{Combine, Exec, ExecMask, Operand, Pred, Span};

use crate::names::Class;
use crate::parser::{LineError, P, Parser};

impl<'s> Parser<'s> {
    /// `(M1, 16)`, or `(16)` for `(M1, 16)`.
    #[inline(always)]
    pub fn exec(&mut self) -> P<(Operand, Span)> {
        self.skip_blanks();
        let start = self.pos;
        if self.peek() != b'(' {
            return Err(self.no_exec());
        }
        self.pos += 1;
        self.skip_blanks();
        let mut mask = ExecMask::M1;
        if is_start(self.peek()) {
            mask = self.exec_mask()?;
            self.expect(b',')?;
        }
        let exec = self.exec_size(mask)?;
        self.expect(b')')?;
        Ok((Operand::Exec(exec), self.since(start)))
    }

    #[cold]
    fn no_exec(&mut self) -> LineError {
        let (found, span) = self.found();
        let d = self
            .diag_label(
                "E0406",
                format!("expected the execution size, found {found}"),
                span,
                "expected `(MASK, SIZE)`",
            )
            .suggest(
                "for 16 channels from the first, write",
                self.file,
                (span.start, span.start),
                "(M1, 16) ",
            );
        self.report_and_give_up_line(d)
    }

    #[inline(always)]
    fn exec_mask(&mut self) -> P<ExecMask> {
        let name = self.read_identifier();
        if let [b'M', n @ b'1'..=b'8', rest @ ..] = name {
            let n = n - b'1';
            match rest {
                b"" => return Ok(ExecMask(n)),
                b"_NM" => return Ok(ExecMask(n | 8)),
                _ => {}
            }
        }
        if name == b"NoMask" {
            return Ok(ExecMask::M1_NM);
        }
        let span = self.span_of(name);
        let shown = self.str_of(name).into_owned();
        let upper = shown.to_uppercase();
        let mut d = self.diag_label(
            "E0406",
            format!("`{shown}` is not an execution mask"),
            span,
            "expected `M1` … `M8` or `M1_NM` … `M8_NM`",
        );
        let near = if shown.eq_ignore_ascii_case("nomask") { "NoMask" } else { &upper };
        if self.names.get(name).is_some_and(|x| x.class == Class::Predicate) {
            d = d.help(format!("a predicate stands before the instruction: `({shown}) mov (M1, 16) …`"));
        } else if ExecMask::from_name(near).is_some() {
            d = d.suggest("masks are case-sensitive", self.file, span, near);
        } else {
            d = d.note("M1 to M8 name the group of four channels with which the instruction starts; `_NM` ignores the execution mask");
        }
        Err(self.report_and_give_up_line(d))
    }

    #[inline(always)]
    fn exec_size(&mut self, mask: ExecMask) -> P<Exec> {
        let Some(n) = self.number()? else { return Err(self.expected("the execution size")) };
        let exec = u32::try_from(n.value).ok().and_then(|v| Exec::from_channels(v, mask));
        if self.src[n.span.start as usize..n.span.end as usize].starts_with(b"0") {
            let d = self.diag_label("E0406", "an execution size is a decimal number", n.span, "");
            return Err(self.report_and_give_up_line(match exec {
                Some(e) => d.suggest("write", self.file, n.span, e.channels().to_string()),
                None => d,
            }));
        }
        match exec {
            Some(e) => Ok(e),
            None => {
                let d = self.diag_label(
                    "E0406",
                    format!("{} is not an execution size", n.value),
                    n.span,
                    "expected 1, 2, 4, 8, 16 or 32",
                );
                Err(self.report_and_give_up_line(d))
            }
        }
    }

    /// `(P1)`, `(!P1.any)` before a mnemonic.
    pub fn predicate_prefix(&mut self) -> P<Pred> {
        let start = self.pos;
        self.pos += 1;
        let invert = self.eat_byte(b'!');
        self.skip_blanks();
        if !is_start(self.peek()) {
            if matches!(self.peek(), b'-' | b'+' | b'~') {
                let at = Span::new(self.pos as u32, self.pos as u32 + 1);
                let plus = self.peek() == b'+';
                let d = self
                    .diag_label("E0402", "unknown sign of a predicate", at, "expected a predicate or `!`")
                    .suggest(
                        if plus {
                            "a predicate stands for itself"
                        } else {
                            "the inverse of a predicate is written `!`"
                        },
                        self.file,
                        at,
                        if plus { "" } else { "!" },
                    );
                return Err(self.report_and_give_up_line(d));
            }
            return Err(self.expected("a predicate"));
        }
        if let Some(mask) = self.peek_mask() {
            let span = Span::new(start as u32, start as u32 + 1);
            let d = self
                .diag_label(
                    "E0402",
                    "line starts with an execution size",
                    span,
                    "expected an instruction before it",
                )
                .note(format!(
                    "`{mask}` is an execution mask; a parenthesis before the mnemonic is a predicate"
                ));
            return Err(self.report_and_give_up_line(d));
        }
        let id = self.predicate_name()?;
        let mut combine = Combine::None;
        if self.eat_byte(b'.') {
            let name = self.run();
            combine = match name {
                b"any" => Combine::Any,
                b"all" => Combine::All,
                _ => {
                    let span = self.span_of(name);
                    let shown = self.str_of(name).into_owned();
                    let d = self.diag_label(
                        "E0403",
                        format!("`.{shown}` is no way to combine the channels of a predicate"),
                        span,
                        "expected `any` or `all`",
                    );
                    return Err(self.report_and_give_up_line(d));
                }
            };
        }
        self.expect(b')')?;
        self.pred_span = self.since(start);
        Ok(Pred { id, combine, invert })
    }

    /// An execution mask that is not a predicate's name and stands before a comma.
    pub(super) fn peek_mask(&mut self) -> Option<&'static str> {
        let here = self.pos;
        let name = self.read_identifier();
        let mask = std::str::from_utf8(name).ok().and_then(ExecMask::from_name);
        let comma = self.eat_byte(b',');
        self.pos = here;
        mask.filter(|_| comma).map(ExecMask::name)
    }

    fn predicate_name(&mut self) -> P<u16> {
        let name = self.read_identifier();
        let decl = self.find_declaration(name, Some(Class::Predicate))?;
        match decl.class {
            Class::Predicate => Ok(decl.id as u16),
            Class::Poison => Ok(0),
            _ => Err(self.wrong_class(name, decl, "a predicate")),
        }
    }
}
