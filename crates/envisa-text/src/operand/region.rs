//! Reads regions: of destinations and of sources.

use super::*;

impl<'s> Parser<'s> {
    /// `<h>`.
    #[inline(always)]
    pub(super) fn dst_region(&mut self, name: &'s [u8], given: bool) -> P<Region> {
        if let Some(&[b'<', h @ b'0'..=b'4', b'>']) =
            self.src.get(self.pos..self.pos + 3).and_then(|s| s.first_chunk::<3>())
            && h != b'3'
        {
            self.pos += 3;
            return Ok(Region((CODES[(h - b'0') as usize] as u16) << 8));
        }
        self.dst_region_slow(name, given)
    }

    pub(super) fn dst_region_slow(&mut self, name: &'s [u8], given: bool) -> P<Region> {
        if !self.eat_byte(b'<') {
            return Err(self.no_region(name, given, true));
        }
        let h = self.parse_stride("horizontal stride", &[0, 1, 2, 4])?;
        self.skip_blanks();
        if self.peek() == b';' {
            let at = self.pos as u32;
            let d = self
                .diag_label(
                    "E0410",
                    "destination has a source's region",
                    Span::new(at, at + 1),
                    "expected `>`",
                )
                .help("a destination has a horizontal stride only: `<1>`");
            return Err(self.report_and_give_up_line(d));
        }
        self.expect(b'>')?;
        Ok(Region((h as u16) << 8))
    }

    /// `<v;w,h>`.
    #[inline(always)]
    pub(super) fn src_region(&mut self, name: &'s [u8], given: bool) -> P<Region> {
        if let Some(&[b'<', v @ b'0'..=b'8', b';', w @ b'0'..=b'8', b',', h @ b'0'..=b'4', b'>']) =
            self.src.get(self.pos..self.pos + 7).and_then(|s| s.first_chunk::<7>())
        {
            let (v, w, h) =
                (CODES[(v - b'0') as usize], CODES[(w - b'0') as usize], CODES[(h - b'0') as usize]);
            if given && v != 0 && w != 0 && h != 0 {
                self.pos += 7;
                return Ok(Region(v as u16 | (w as u16) << 4 | (h as u16) << 8));
            }
        }
        self.src_region_slow(name, given)
    }

    pub(super) fn src_region_slow(&mut self, name: &'s [u8], given: bool) -> P<Region> {
        if !self.eat_byte(b'<') {
            return Err(self.no_region(name, given, false));
        }
        let region = self.source_strides(false)?;
        if !given {
            let span = self.span_of(name);
            let d = self
                .diag_label("E0402", "source has no offset", span, "expected `(row,column)` after the name")
                .suggest("for the first element, write", self.file, (span.end, span.end), "(0,0)");
            return Err(self.report_and_give_up_line(d));
        }
        Ok(region)
    }

    #[cold]
    pub(super) fn no_region(&mut self, name: &'s [u8], given: bool, write: bool) -> LineError {
        let span = self.span_of(name);
        let shown = self.str_of(name).into_owned();
        // The operand ends with its offset; blanks and comments may have been stepped over since.
        let mut end = span.end;
        if given && let Some(n) = memchr::memchr(b')', &self.src[end as usize..self.pos]) {
            end += n as u32 + 1;
        }
        let insert = match (given, write) {
            (true, true) => "<1>",
            (false, true) => "(0,0)<1>",
            (true, false) => "<1;1,0>",
            (false, false) => "(0,0)<1;1,0>",
        };
        let what = if write { "destination" } else { "source" };
        let mut d = self.diag_label(
            "E0410",
            format!("{what} `{shown}` has no region"),
            Span::new(span.start, end.max(span.end)),
            if write { "expected `<stride>`" } else { "expected `<vertical;width,horizontal>`" },
        );
        if self.peek() == b'.' {
            d = d
                .note("`V.offset` is a raw operand, for messages; this instruction works on single elements");
        } else {
            d = d.suggest("for consecutive elements, write", self.file, (end, end), insert);
        }
        if !write {
            d = d.help("`<0;1,0>` reads the same element for all channels");
        }
        self.report_and_give_up_line(d)
    }

    /// The strides after `<`, up to and with `>`; those of an indirect source may be one or two.
    pub(super) fn source_strides(&mut self, indirect: bool) -> P<Region> {
        self.skip_blanks();
        let start = self.pos;
        let first = self.expr_nra()?;
        let first_span = self.since(start);
        self.skip_blanks();
        match self.peek() {
            b';' => {
                self.pos += 1;
                let v = self.stride_code("vertical stride", first, first_span, &[0, 1, 2, 4, 8, 16, 32])?;
                let w = self.parse_stride("width", &[0, 1, 2, 4, 8, 16])?;
                self.expect(b',')?;
                let h = self.parse_stride("horizontal stride", &[0, 1, 2, 4])?;
                self.expect(b'>')?;
                Ok(Region(v as u16 | (w as u16) << 4 | (h as u16) << 8))
            }
            b',' if indirect => {
                self.pos += 1;
                let w = self.stride_code("width", first, first_span, &[0, 1, 2, 4, 8, 16])?;
                let h = self.parse_stride("horizontal stride", &[0, 1, 2, 4])?;
                self.expect(b'>')?;
                Ok(Region((w as u16) << 4 | (h as u16) << 8))
            }
            b'>' if indirect => {
                self.pos += 1;
                let h = self.stride_code("horizontal stride", first, first_span, &[0, 1, 2, 4])?;
                Ok(Region((h as u16) << 8))
            }
            b'>' => {
                let span = Span::new(start as u32 - 1, self.pos as u32 + 1);
                let d = self
                    .diag_label("E0410", "source has a destination's region", span, "expected `<v;w,h>`")
                    .help("a source has vertical stride, width and horizontal stride: `<1;1,0>`, `<0;1,0>`");
                Err(self.report_and_give_up_line(d))
            }
            b',' => {
                let at = self.pos as u32;
                let d = self
                    .diag_label("E0410", "source region lacks a part", Span::new(at, at + 1), "expected `;`")
                    .help("a source has vertical stride, width and horizontal stride: `<8;8,1>`")
                    .note("`<width,stride>` is for indirect sources with several addresses");
                Err(self.report_and_give_up_line(d))
            }
            _ => Err(self.expected("`;`")),
        }
    }

    pub(super) fn parse_stride(&mut self, what: &'static str, legal: &[i64]) -> P<u8> {
        self.skip_blanks();
        let start = self.pos;
        let v = self.expr_nra()?;
        let span = self.since(start);
        self.stride_code(what, v, span, legal)
    }

    pub(super) fn stride_code(&mut self, what: &'static str, v: i64, span: Span, legal: &[i64]) -> P<u8> {
        if let Some(code) = u32::try_from(v).ok().and_then(Region::code)
            && legal.contains(&v)
        {
            return Ok(code);
        }
        let list: Vec<String> = legal.iter().map(i64::to_string).collect();
        let d = self.diag_label(
            "E0410",
            format!("{v} is not a {what}"),
            span,
            format!("expected {}", or_list(&list)),
        );
        Err(self.report_and_give_up_line(d))
    }
}
