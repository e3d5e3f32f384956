//! Reads the values of fields.

use super::*;

impl<'s> Parser<'s> {
    pub(super) fn parse_field(
        &mut self,
        form: &'static Compiled,
        slot: usize,
        part: Option<&'static envisa_isa::desc::Part>,
        enc: &Enc,
        glued: bool,
        ops: &mut Ops,
    ) -> P<()> {
        self.skip_blanks();
        let start = self.pos;
        let name = part.map_or(form.desc.slots[slot].name.as_str(), |p| p.name.as_str());
        let v = self.value(form, name, enc, glued)?;
        let span = self.since(start);
        ops.set(slot, part, v, span);
        Ok(())
    }

    /// A field's value; gives nothing and moves on if it is none of the legal ones.
    pub(super) fn try_value(&mut self, enc: &Enc) -> Option<u32> {
        match enc {
            Enc::Values(values) => self.parse_listed_value(values).map(|v| v.code),
            Enc::Channels => self.channels(),
            Enc::Number { max } | Enc::Hex { max } => {
                let n = self.number().ok()??;
                u32::try_from(n.value).ok().filter(|v| v <= max)
            }
            _ => None,
        }
    }

    /// The legal value that stands here.
    pub(super) fn parse_listed_value(&mut self, values: &'static [Value]) -> Option<&'static Value> {
        let here = self.pos;
        let text = match self.run() {
            // The pages' names of operations that the reference tools call otherwise.
            b"imin" => b"minsint",
            b"imax" => b"maxsint",
            text => text,
        };
        if let Some(v) = values.iter().find(|v| v.text.as_bytes() == text) {
            return Some(v);
        }
        // Precisions of DPAS read in either case.
        if values.iter().any(|v| v.text == "tf32")
            && let Some(v) = values.iter().find(|v| v.text.as_bytes().eq_ignore_ascii_case(text))
        {
            return Some(v);
        }
        // Values may hold other characters: `16-full`.
        let rest = &self.src[here..];
        let v = values
            .iter()
            .filter(|v| rest.starts_with(v.text.as_bytes()) && v.text.len() > text.len())
            .max_by_key(|v| v.text.len());
        self.pos = here + v.map_or(0, |v| v.text.len());
        v
    }

    /// `RGBA` or a part of it in this order, in either case; R is bit 0.
    pub(super) fn channels(&mut self) -> Option<u32> {
        let here = self.pos;
        let text = self.run();
        let mut last = 0;
        let mut mask = 0;
        for b in text {
            let bit = match b.to_ascii_uppercase() {
                b'R' => 1,
                b'G' => 2,
                b'B' => 4,
                b'A' => 8,
                _ => 0,
            };
            if bit <= last {
                self.pos = here;
                return None;
            }
            last = bit;
            mask |= bit;
        }
        if mask == 0 {
            self.pos = here;
            return None;
        }
        Some(mask)
    }

    /// A field's value.
    pub fn value(&mut self, form: &'static Compiled, name: &str, enc: &Enc, glued: bool) -> P<u32> {
        let _ = glued;
        match enc {
            Enc::Values(values) => match self.parse_listed_value(values) {
                Some(v) => Ok(v.code),
                None => Err(self.not_a_value(form, name, values)),
            },
            Enc::Channels => match self.channels() {
                Some(v) => Ok(v),
                None => {
                    let (found, span) = self.found();
                    let d = self
                        .diag_label("E0403", format!("{found} is not a set of channels"), span, {
                            "expected letters of `RGBA`, in this order"
                        })
                        .help(format!("the form is `{}`", usage(form)));
                    Err(self.report_and_give_up_line(d))
                }
            },
            Enc::HexDigits { max } => {
                let text = self.run();
                let span = self.span_of(text);
                let v = std::str::from_utf8(text).ok().and_then(|t| u64::from_str_radix(t, 16).ok());
                match v {
                    Some(v) if v <= *max as u64 => Ok(v as u32),
                    _ => {
                        let shown = self.str_of(text).into_owned();
                        let d = self.diag_label(
                            "E0403",
                            format!("`{shown}` is not a value of `{name}`"),
                            span,
                            format!("expected hexadecimal digits, at most {max:x}"),
                        );
                        Err(self.report_and_give_up_line(d))
                    }
                }
            }
            Enc::Number { max } | Enc::Hex { max } => self.parse_value_in_range(name, *max as i64, 0),
            Enc::Ignored(_) => self.parse_value_in_range(name, u32::MAX as i64, 0),
            Enc::Signed => self.parse_value_in_range(name, i32::MAX as i64, i32::MIN as i64),
            Enc::ExecLike(values) => {
                let (exec, span) = self.exec()?;
                let Operand::Exec(e) = exec else { return Ok(0) };
                let n = e.channels().to_string();
                match values.iter().find(|v| v.text == n) {
                    Some(v) => Ok(v.code | (e.mask.0 as u32) << 4),
                    None => {
                        let mut list: Vec<&str> = values.iter().map(|v| v.text).collect();
                        list.sort_by_key(|t| (t.len(), *t));
                        let d = self.diag_label(
                            "E0406",
                            format!("`{}` does not work on {n} channels", form.form.head),
                            span,
                            format!("expected {}", or_list(&list)),
                        );
                        Err(self.report_and_give_up_line(d))
                    }
                }
            }
        }
    }

    pub(super) fn parse_value_in_range(&mut self, name: &str, max: i64, min: i64) -> P<u32> {
        self.skip_blanks();
        let start = self.pos;
        if !(self.peek().is_ascii_digit() || matches!(self.peek(), b'-' | b'(' | b'~' | b'!')) {
            return Err(self.missing_operand(name));
        }
        let v = match self.number()? {
            Some(n) => i64::try_from(n.value).unwrap_or(i64::MAX),
            None => self.unary(0)?,
        };
        if (min..=max).contains(&v) {
            return Ok(v as u32);
        }
        let span = self.since(start);
        let d = self.diag_label(
            "E0409",
            format!("`{name}` is {v}, which is out of range"),
            span,
            format!("must be {min} to {max}"),
        );
        Err(self.report_and_give_up_line(d))
    }

    #[cold]
    pub(super) fn not_a_value(
        &mut self,
        form: &'static Compiled,
        name: &str,
        values: &'static [Value],
    ) -> LineError {
        let (found, span) = self.found();
        let legal: Vec<&str> = values
            .iter()
            .filter(|v| self.platform.is_none_or(|p| v.platforms.contains(p)))
            .map(|v| v.text)
            .collect();
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or("");
        let near = nearest(text.as_bytes(), legal.iter().map(|t| t.as_bytes()));
        let message = match found.as_str() {
            f if f.starts_with('`') => format!("{f} is not a value of `{name}` of `{}`", form.form.head),
            f => format!("expected `{name}` of `{}`, found {f}", form.form.head),
        };
        let mut d = self.diag_label("E0403", message, span, format!("expected {}", or_list(&legal)));
        if let Some(near) = near {
            d = d.suggest("the nearest is", self.file, span, near);
        }
        d = d.help(format!("the form is `{}`", usage(form)));
        self.report_and_give_up_line(d)
    }
}
