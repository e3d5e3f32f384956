//! Immediates: integers, bit patterns, floating-point literals, and what fits a type.

use envisa_diag::Diagnostic;
use envisa_isa::{Operand, Span, Type};

use crate::operand::type_of;
use crate::parser::{LineError, P, Parser};

impl<'s> Parser<'s> {
    /// An immediate, whose first byte stands here.
    #[inline(never)]
    pub fn immediate(&mut self) -> P<Operand> {
        let start = self.pos;
        // `0x1234:ud` and `12:d`, the usual.
        let neg = self.peek() == b'-';
        self.pos += usize::from(neg);
        if self.peek().is_ascii_digit() {
            let at = self.pos;
            let number = self.number()?;
            match (self.peek(), number) {
                (b'.' | b'e' | b'E', Some(n)) if !n.hex => {
                    self.pos = at;
                    return self.parse_float_immediate(start, neg);
                }
                (b':', Some(n)) => {
                    self.pos += 1;
                    return self.parse_typed_number(start, neg, n);
                }
                (b' ' | b'\t', Some(n)) => {
                    let here = self.pos;
                    self.skip_blanks();
                    if self.peek() == b':' {
                        self.pos += 1;
                        return self.parse_typed_number(start, neg, n);
                    }
                    self.pos = here;
                }
                _ => {}
            }
        }
        self.pos = start;
        let v = self.unary(0)?;
        let span = self.since(start);
        if !self.eat_byte(b':') {
            return Err(self.no_type(span));
        }
        let ty = self.imm_type()?;
        if ty.is_float() {
            let d = self
                .diag_label("E0502", format!("an expression cannot have the type `{}`", ty.name()), span, "integer")
                .help("write the bits as one hexadecimal number, as in `0x3f800000:f`, or a literal as in `1.5:f`");
            return Err(self.report_and_give_up_line(d));
        }
        self.check_immediate_range(v, v < 0, ty, span)
    }

    #[cold]
    fn no_type(&mut self, span: Span) -> LineError {
        let text = self.text[span.start as usize..span.end as usize].to_owned();
        if crate::name_bytes::is_ident(self.peek()) && span.end as usize == self.pos {
            let start = span.start as usize;
            self.run();
            let span = self.since(start);
            let shown = self.text[start..self.pos].chars().take(40).collect::<String>();
            let d = self
                .diag_label("E0502", format!("malformed number `{shown}`"), span, "not a number")
                .help("numbers are decimal, or hexadecimal with `0x`");
            return self.report_and_give_up_line(d);
        }
        if matches!(self.peek(), b'+' | b'-' | b'*' | b'/' | b'<' | b'>' | b'&' | b'|' | b'^')
            && matches!(self.peek_at(1), b' ' | b'<' | b'>' | b'(' | b'0'..=b'9')
        {
            let at = Span::new(self.pos as u32, self.pos as u32 + 1);
            let d = self
                .diag_label("E0502", "an expression with a type needs parentheses", at, "expected `:type`")
                .help("write `(1+2):d`: the type binds to a number or to parentheses");
            return self.report_and_give_up_line(d);
        }
        let d = self.diag_label("E0502", "immediate has no type", span, "expected `:type` after it").suggest(
            "for a 32-bit integer, write",
            self.file,
            span,
            format!("{text}:d"),
        );
        self.report_and_give_up_line(d)
    }

    fn imm_type(&mut self) -> P<Type> {
        self.skip_blanks();
        let name = self.run();
        match type_of(name) {
            Some(t) => Ok(t),
            None => Err(self.unknown_type(name)),
        }
    }

    #[inline(always)]
    fn parse_typed_number(&mut self, start: usize, neg: bool, n: crate::lex::Number) -> P<Operand> {
        let ty = self.imm_type()?;
        let span = self.since(start);
        match ty {
            Type::F | Type::Df => {
                let wide = ty == Type::Df;
                if !wide && n.value > u32::MAX as u64 {
                    return Err(self.report_unfit_immediate(span, ty, "has more than 32 bits"));
                }
                if !n.hex && n.value > i32::MAX as u64 {
                    return Err(self.report_unfit_immediate(
                        span,
                        ty,
                        "decimal bit patterns end at 2147483647; use hexadecimal",
                    ));
                }
                if !n.hex && n.value != 0 {
                    let name = ty.name();
                    let d = self
                        .warning_at(
                            "W0503",
                            format!("`{}:{name}` is a bit pattern", n.value),
                            span,
                            "not this number",
                        )
                        .suggest("for the number itself, write", self.file, span, {
                            format!("{}{}.0:{name}", if neg { "-" } else { "" }, n.value)
                        });
                    self.report_diagnostic(d);
                }
                let sign = if wide { 1u64 << 63 } else { 1 << 31 };
                Ok(Operand::Imm { ty, bits: if neg { n.value ^ sign } else { n.value } })
            }
            Type::Hf | Type::Bf => self.half_immediate(n, neg, ty, span),
            _ => {
                let Ok(v) = i64::try_from(n.value) else {
                    // A 64-bit pattern.
                    if n.hex && !neg && matches!(ty, Type::Uq | Type::Q) {
                        return Ok(Operand::Imm { ty, bits: n.value });
                    }
                    return Err(self.report_unfit_immediate(span, ty, "is too large"));
                };
                if !n.hex && v > i32::MAX as i64 && matches!(ty, Type::Q | Type::Uq) {
                    let d = self
                        .diag_label("E0105", "decimal number is too large", n.span, "at most 2147483647 in decimal")
                        .note("the reference assembler reads decimal numbers with 32 bits and lets larger ones wrap")
                        .suggest(
                            "write it in hexadecimal",
                            self.file,
                            n.span,
                            format!("{:#x}", n.value),
                        );
                    return Err(self.report_and_give_up_line(d));
                }
                self.check_immediate_range(if neg { -v } else { v }, neg, ty, span)
            }
        }
    }

    fn half_immediate(&mut self, n: crate::lex::Number, neg: bool, ty: Type, span: Span) -> P<Operand> {
        if ty == Type::Bf && self.version < (4, 2) {
            let d = self
                .warning_at(
                    "W0505",
                    "the reference assembler has no `bf` immediates",
                    span,
                    "not in this version",
                )
                .help("write the value as `:f` and convert it");
            self.report_diagnostic(d);
        }
        if neg || !n.hex {
            let d = self
                .diag_label(
                    "E0502",
                    format!("`{}` immediate is not hexadecimal", ty.name()),
                    span,
                    "expected the 16 bits as `0x…`",
                )
                .help("1.0 is `0x3c00:hf`");
            return Err(self.report_and_give_up_line(d));
        }
        if n.value > 0xffff {
            return Err(self.report_unfit_immediate(span, ty, "has more than 16 bits"));
        }
        Ok(Operand::Imm { ty, bits: n.value })
    }

    #[cold]
    fn report_unfit_immediate(&mut self, span: Span, ty: Type, label: &'static str) -> LineError {
        let d =
            self.diag_label("E0501", format!("immediate does not fit its type `{}`", ty.name()), span, label);
        self.report_and_give_up_line(d)
    }

    /// Checks the range of an integer immediate. Bits up to the type's width pass for signed types too.
    #[inline(always)]
    fn check_immediate_range(&mut self, v: i64, neg: bool, ty: Type, span: Span) -> P<Operand> {
        let bits = match ty {
            Type::Ub | Type::B => 8,
            Type::Uw | Type::W => 16,
            Type::Bool => 32,
            Type::Q | Type::Uq => return Ok(Operand::Imm { ty, bits: v as u64 }),
            _ => 32,
        };
        // `0xffffff80:b`: IGC writes narrow immediates sign-extended to 32 bits.
        let extended =
            bits < 32 && ty.is_signed() && v >> 32 == 0 && (v as i32 as i64) >= -(1i64 << (bits - 1));
        if (v < -(1i64 << (bits - 1)) || v >= 1i64 << bits) && !(extended && (v as i32) < 0) {
            return Err(self.out_of_range(v, bits, ty, span));
        }
        if neg && v != 0 && matches!(ty, Type::Ud | Type::Uw | Type::Ub | Type::Uv) {
            self.negative_unsigned(v, bits, ty, span);
        }
        Ok(Operand::Imm { ty, bits: v as u32 as u64 })
    }

    #[cold]
    fn negative_unsigned(&mut self, v: i64, bits: u32, ty: Type, span: Span) {
        let stored = v as u64 & (u64::MAX >> (64 - bits));
        let d = self.warning_at(
            "W0504",
            format!("negative immediate of the unsigned type `{}`", ty.name()),
            span,
            format!("read as {stored}"),
        );
        self.report_diagnostic(d);
    }

    #[cold]
    fn out_of_range(&mut self, v: i64, bits: u32, ty: Type, span: Span) -> LineError {
        let signed = ty.is_signed();
        let range = match (bits, signed) {
            (32, false) if ty.is_packed() => "eight hexadecimal digits at most".to_owned(),
            (_, false) => format!("`{}` holds 0 to {}", ty.name(), (1u64 << bits) - 1),
            (_, true) => {
                format!("`{}` holds {} to {}", ty.name(), -(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1)
            }
        };
        let mut d: Diagnostic =
            self.diag_label("E0501", format!("immediate does not fit its type `{}`", ty.name()), span, range);
        let wider = [Type::Uw, Type::Ud, Type::Uq, Type::W, Type::D, Type::Q].into_iter().find(|t| {
            let n = t.size() * 8;
            t.is_signed() == signed
                && if n == 64 { true } else { v >= -(1i64 << (n - 1)) && v < 1i64 << n }
                && t.size() > ty.size()
        });
        if let Some(w) = wider
            && !ty.is_packed()
        {
            d = d.help(format!("use the type `:{}`, or a smaller number", w.name()));
        }
        if bits == 64 || ty.is_packed() {
            return self.report_and_give_up_line(d);
        }
        let kept = v as u64 & (u64::MAX >> (64 - bits));
        let kept = match signed {
            true => ((kept << (64 - bits)) as i64 >> (64 - bits)).to_string(),
            false => kept.to_string(),
        };
        self.report_and_give_up_line(
            d.note(format!("the reference assembler takes it, and uses the low bits: {kept}")),
        )
    }

    /// `1.5:f`, `1.5e-3:df`; the digits start here.
    fn parse_float_immediate(&mut self, start: usize, neg: bool) -> P<Operand> {
        let at = self.pos;
        while self.peek().is_ascii_digit() {
            self.pos += 1;
        }
        let mut good = true;
        if self.peek() == b'.' {
            self.pos += 1;
            good = self.peek().is_ascii_digit();
            while self.peek().is_ascii_digit() {
                self.pos += 1;
            }
        }
        let mut unsigned_exponent = None;
        if matches!(self.peek(), b'e' | b'E') {
            self.pos += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.pos += 1;
            } else {
                unsigned_exponent = Some(self.pos as u32);
            }
            good &= self.peek().is_ascii_digit();
            while self.peek().is_ascii_digit() {
                self.pos += 1;
            }
        }
        let digits = &self.text[at..self.pos];
        let span = self.since(start);
        if !good {
            let d = self
                .diag_label("E0502", "malformed floating-point number", span, "digits are missing")
                .help("write `1.5:f`, `1.0e+3:df`, or the bits as `0x3fc00000:f`");
            return Err(self.report_and_give_up_line(d));
        }
        if let Some(p) = unsigned_exponent {
            let d = self
                .diag_label("E0502", "exponent has no sign", span, "expected `+` or `-` after `e`")
                .suggest("the exponent's sign is required", self.file, (p, p), "+");
            return Err(self.report_and_give_up_line(d));
        }
        if self.peek() != b':' {
            let text = self.text[start..self.pos].to_owned();
            let d = self
                .diag_label("E0502", "immediate has no type", span, "expected `:f` or `:df`")
                .suggest("for single precision, write", self.file, span, format!("{text}:f"));
            return Err(self.report_and_give_up_line(d));
        }
        let value: f64 = digits.parse().unwrap_or(f64::INFINITY);
        let value = if neg { -value } else { value };
        self.pos += 1;
        let name = self.run();
        let span = self.since(start);
        let bits = match name {
            b"f" => (value as f32).to_bits() as u64,
            b"df" => value.to_bits(),
            b"F" | b"DF" => {
                let lower = if name == b"F" { ":f" } else { ":df" };
                let at = span.end - name.len() as u32 - 1;
                let d = self
                    .diag_label(
                        "E0502",
                        "type of a floating-point number is upper case",
                        span,
                        "expected `:f` or `:df`",
                    )
                    .suggest("write", self.file, (at, span.end), lower)
                    .note("the reference assembler knows those only");
                return Err(self.report_and_give_up_line(d));
            }
            b"hf" => {
                let h = half_bits(value);
                let d = self
                    .diag_label("E0502", "`hf` immediate is not hexadecimal", span, "expected the 16 bits")
                    .suggest("write its bits", self.file, span, format!("{h:#06x}:hf"));
                return Err(self.report_and_give_up_line(d));
            }
            _ => match type_of(name) {
                Some(t) => {
                    let d = self
                        .diag_label(
                            "E0502",
                            format!("floating-point number of the type `{}`", t.name()),
                            span,
                            "expected `:f` or `:df`",
                        )
                        .help(match t {
                            Type::Bf => "write its 16 bits as `0x…:bf`",
                            _ => "integers are written without a point, as in `1:d`",
                        });
                    return Err(self.report_and_give_up_line(d));
                }
                None => return Err(self.unknown_type(name)),
            },
        };
        let infinite = if name == b"f" { (value as f32).is_infinite() } else { value.is_infinite() };
        if infinite {
            let ty = if name == b"f" { Type::F } else { Type::Df };
            return Err(self.report_unfit_immediate(span, ty, "is larger than the largest number"));
        }
        Ok(Operand::Imm { ty: if name == b"f" { Type::F } else { Type::Df }, bits })
    }
}

/// Bits of the nearest half-precision number, for a suggestion.
fn half_bits(v: f64) -> u16 {
    half::f16::from_f64(v).to_bits()
}
