//! Integer expressions, with the reference's precedence: `|` binds tighter than `^`, that tighter than `&`.

use envisa_isa::Span;

use crate::name_bytes::is_start;
use crate::names::Class;
use crate::parser::{LineError, P, Parser};

/// How deeply parentheses and unary operators may nest.
const MAX_DEPTH: u32 = 64;

impl<'s> Parser<'s> {
    /// Any expression.
    #[inline(always)]
    pub fn expr(&mut self) -> P<i64> {
        if let Some(n) = self.plain_number(b"*/%+-<>=!|^&?")? {
            return Ok(n);
        }
        self.parse_conditional(0)
    }

    /// An expression without relations, as before a closing `>`.
    #[inline(always)]
    pub fn expr_nra(&mut self) -> P<i64> {
        if let Some(n) = self.plain_number(b"*/%+-<")? {
            return Ok(n);
        }
        self.parse_shift(0)
    }

    /// A number that no operator follows; goes back if it is not one.
    #[inline(always)]
    fn plain_number(&mut self, operators: &[u8]) -> P<Option<i64>> {
        self.skip_blanks();
        let start = self.pos;
        // Most numbers have one digit or two and a delimiter after them.
        let d = self.peek().wrapping_sub(b'0');
        if d > 9 {
            return Ok(None);
        }
        if matches!(self.peek_at(1), b',' | b')' | b';' | b']') {
            self.pos += 1;
            return Ok(Some(d as i64));
        }
        let Some(n) = self.number()? else { return Ok(None) };
        let value = self.signed(n)?;
        self.skip_blanks();
        let b = self.peek();
        let comment = b == b'/' && self.peek_at(1) == b'/';
        let ends = self.pos >= self.src.len() || comment || !operators.contains(&b);
        // `>>` is an operator even where `>` closes.
        if ends && !(b == b'>' && self.peek_at(1) == b'>') {
            return Ok(Some(value));
        }
        self.pos = start;
        Ok(None)
    }

    /// A number as the reference reads it: hexadecimal with 64 bits, decimal with 31.
    #[inline(always)]
    fn signed(&mut self, n: crate::lex::Number) -> P<i64> {
        if n.hex || n.value <= i32::MAX as u64 {
            return Ok(n.value as i64);
        }
        Err(self.wide_decimal(n))
    }

    #[cold]
    fn wide_decimal(&mut self, n: crate::lex::Number) -> LineError {
        let d = self
            .diag_label("E0105", "decimal number is too large", n.span, "at most 2147483647 in decimal")
            .note("the reference assembler reads decimal numbers with 32 bits and lets larger ones wrap")
            .suggest("write it in hexadecimal", self.file, n.span, format!("{:#x}", n.value));
        self.report_and_give_up_line(d)
    }

    #[cold]
    fn report_overflow(&mut self, start: usize) -> LineError {
        let span = self.since(start);
        let d = self.diag_label("E0503", "expression overflows", span, "does not fit into 64 bits");
        self.report_and_give_up_line(d)
    }

    fn parse_conditional(&mut self, depth: u32) -> P<i64> {
        let c = self.and(depth)?;
        if !self.eat_byte(b'?') {
            return Ok(c);
        }
        let a = self.and(depth)?;
        self.expect(b':')?;
        self.check_nesting_depth(depth)?;
        let b = self.parse_conditional(depth + 1)?;
        Ok(if c != 0 { a } else { b })
    }

    fn and(&mut self, depth: u32) -> P<i64> {
        let mut a = self.xor(depth)?;
        while self.eat_byte(b'&') {
            a &= self.xor(depth)?;
        }
        Ok(a)
    }

    fn xor(&mut self, depth: u32) -> P<i64> {
        let mut a = self.or(depth)?;
        while self.eat_byte(b'^') {
            a ^= self.or(depth)?;
        }
        Ok(a)
    }

    fn or(&mut self, depth: u32) -> P<i64> {
        let mut a = self.parse_equality(depth)?;
        while self.eat_byte(b'|') {
            a |= self.parse_equality(depth)?;
        }
        Ok(a)
    }

    fn parse_equality(&mut self, depth: u32) -> P<i64> {
        let a = self.parse_relation(depth)?;
        self.skip_blanks();
        let op = (self.peek(), self.peek_at(1));
        Ok(match op {
            (b'=', b'=') => {
                self.pos += 2;
                i64::from(a == self.parse_relation(depth)?)
            }
            (b'!', b'=') => {
                self.pos += 2;
                i64::from(a != self.parse_relation(depth)?)
            }
            _ => a,
        })
    }

    fn parse_relation(&mut self, depth: u32) -> P<i64> {
        let a = self.parse_shift(depth)?;
        self.skip_blanks();
        let op = (self.peek(), self.peek_at(1));
        let wide = op.1 == b'=';
        if !matches!(op.0, b'<' | b'>') {
            return Ok(a);
        }
        self.pos += 1 + usize::from(wide);
        let b = self.parse_shift(depth)?;
        Ok(i64::from(match (op.0, wide) {
            (b'<', false) => a < b,
            (b'<', true) => a <= b,
            (_, false) => a > b,
            (_, true) => a >= b,
        }))
    }

    fn parse_shift(&mut self, depth: u32) -> P<i64> {
        self.skip_blanks();
        let start = self.pos;
        let a = self.parse_sum(depth)?;
        self.skip_blanks();
        let rest = &self.src[self.pos..];
        let (len, left, logical) = if rest.starts_with(b">>>") {
            (3, false, true)
        } else if rest.starts_with(b">>") {
            (2, false, false)
        } else if rest.starts_with(b"<<") {
            (2, true, false)
        } else {
            return Ok(a);
        };
        self.pos += len;
        let b = self.parse_sum(depth)?;
        if !(0..64).contains(&b) {
            let span = self.since(start);
            let d = self.diag_label("E0503", "shift count is out of range", span, format!("shifts by {b}"));
            return Err(self.report_and_give_up_line(d));
        }
        if left {
            let r = a.wrapping_shl(b as u32);
            if r >> b != a {
                return Err(self.report_overflow(start));
            }
            return Ok(r);
        }
        Ok(if logical { (a as u64 >> b) as i64 } else { a >> b })
    }

    fn parse_sum(&mut self, depth: u32) -> P<i64> {
        self.skip_blanks();
        let start = self.pos;
        let mut a = self.parse_product(depth)?;
        loop {
            let minus = if self.eat_byte(b'+') {
                false
            } else if self.eat_byte(b'-') {
                true
            } else {
                return Ok(a);
            };
            let b = self.parse_product(depth)?;
            let r = if minus { a.checked_sub(b) } else { a.checked_add(b) };
            a = r.ok_or(()).map_err(|()| self.report_overflow(start))?;
        }
    }

    fn parse_product(&mut self, depth: u32) -> P<i64> {
        self.skip_blanks();
        let start = self.pos;
        let mut a = self.unary(depth)?;
        loop {
            self.skip_blanks();
            let op = self.peek();
            let comment = op == b'/' && matches!(self.peek_at(1), b'/' | b'*');
            if !matches!(op, b'*' | b'/' | b'%') || comment {
                return Ok(a);
            }
            self.pos += 1;
            let b = self.unary(depth)?;
            if b == 0 && op != b'*' {
                let span = self.since(start);
                let d = self.diag_label("E0503", "division by zero", span, "the divisor is 0");
                return Err(self.report_and_give_up_line(d));
            }
            let r = match op {
                b'*' => a.checked_mul(b),
                b'/' => a.checked_div(b),
                _ => a.checked_rem(b),
            };
            a = r.ok_or(()).map_err(|()| self.report_overflow(start))?;
        }
    }

    fn check_nesting_depth(&mut self, depth: u32) -> P<()> {
        if depth < MAX_DEPTH {
            return Ok(());
        }
        let at = self.pos as u32;
        let d = self.diag_label(
            "E0503",
            "expression is nested too deeply",
            Span::new(at, at + 1),
            format!("more than {MAX_DEPTH} levels"),
        );
        Err(self.report_and_give_up_line(d))
    }

    /// A number, a parenthesis, a built-in, or one of those after `-`, `~` or `!`.
    pub fn unary(&mut self, depth: u32) -> P<i64> {
        self.skip_blanks();
        let start = self.pos;
        let op = self.peek();
        if !matches!(op, b'-' | b'~' | b'!') {
            return self.primary(depth);
        }
        self.check_nesting_depth(depth)?;
        self.pos += 1;
        let a = self.unary(depth + 1)?;
        match op {
            b'-' => a.checked_neg().ok_or(()).map_err(|()| self.report_overflow(start)),
            b'~' => Ok(!a),
            _ => Ok(i64::from(a == 0)),
        }
    }

    pub(crate) fn primary(&mut self, depth: u32) -> P<i64> {
        if let Some(n) = self.number()? {
            return self.signed(n);
        }
        match self.peek() {
            b'(' => {
                self.check_nesting_depth(depth)?;
                self.pos += 1;
                let a = self.parse_conditional(depth + 1)?;
                self.expect(b')')?;
                Ok(a)
            }
            b'%' => self.parse_builtin(),
            b if is_start(b) => {
                let (found, span) = self.found();
                let d = self
                    .diag_label("E0402", format!("expected a number, found {found}"), span, "not a number")
                    .help("expressions know numbers, `%sizeof(NAME)`, `%sizeof(GRF)` and `%DispatchSimd`");
                Err(self.report_and_give_up_line(d))
            }
            _ => Err(self.expected("a number")),
        }
    }

    fn parse_builtin(&mut self) -> P<i64> {
        let start = self.pos;
        self.pos += 1;
        match self.run() {
            b"sizeof" => self.size_of(start),
            b"DispatchSimd" => match self.simd_size {
                Some(n) => Ok(n as i64),
                None => {
                    let span = self.since(start);
                    let d = self
                        .diag_label("E0503", "`%DispatchSimd` has no value yet", span, "not known here")
                        .help("set it before with `.kernel_attr SimdSize=16`");
                    Err(self.report_and_give_up_line(d))
                }
            },
            _ => {
                let span = self.since(start);
                let text = self.text[start..self.pos].to_owned();
                let d = self
                    .diag_label("E0402", format!("expected a number, found `{text}`"), span, "not a number")
                    .help("the built-in constants are `%sizeof(NAME)`, `%sizeof(GRF)` and `%DispatchSimd`");
                Err(self.report_and_give_up_line(d))
            }
        }
    }

    fn size_of(&mut self, start: usize) -> P<i64> {
        let closed = self.eat_byte(b'(');
        let name = self.read_identifier();
        if name.is_empty() {
            return Err(self.expected("a variable's name or `GRF`"));
        }
        if closed {
            self.expect(b')')?;
        }
        let grf = self.grf_bytes();
        match self.names.get(name) {
            None if name == b"GRF" => {
                let span = self.since(start);
                self.needs_platform(span);
                Ok(grf as i64)
            }
            None => {
                let span = self.span_of(name);
                Err(self.report_undeclared(name, span, None))
            }
            Some(d) => match d.class {
                Class::General => Ok(self.obj.var_shape(d.id, grf).map_or(0, |(_, n)| n as i64)),
                Class::Address => Ok(self.obj.addresses.get(d.id as usize).map_or(0, |a| a.elems as i64 * 2)),
                Class::Poison => Err(LineError),
                c => {
                    let span = self.span_of(name);
                    let d = self.diag_label(
                        "E0303",
                        format!("{} has no size", c.describe()),
                        span,
                        "`%sizeof` takes a general or address variable, or `GRF`",
                    );
                    Err(self.report_and_give_up_line(d))
                }
            },
        }
    }
}
