//! Reads attributes, of variables and of kernels.

use super::*;

impl<'s> Parser<'s> {
    /// `{a, b=1, c="x"}`.
    pub(super) fn attr_list(&mut self, out: &mut Vec<(&'s [u8], Given<'s>)>) -> P<()> {
        self.expect(b'{')?;
        loop {
            let name = self.read_identifier();
            if name.is_empty() {
                return Err(self.expected("an attribute's name"));
            }
            let value = if self.eat_byte(b'=') { self.parse_attribute_value(true)? } else { Given::Nothing };
            out.push((name, value));
            if out.len() > limits::VARIABLE_ATTRIBUTES {
                let span = self.span_of(name);
                let most = format!("at most {}", limits::VARIABLE_ATTRIBUTES);
                let d = self.diag_label("E0208", "too many attributes", span, most);
                return Err(self.report_and_give_up_line(d));
            }
            if !self.eat_byte(b',') {
                break;
            }
        }
        self.expect(b'}')
    }

    pub(super) fn parse_attribute_value(&mut self, nra: bool) -> P<Given<'s>> {
        self.skip_blanks();
        if self.peek() == b'"' {
            let (s, span) = self.string()?;
            return Ok(Given::Str(s, span));
        }
        let start = self.pos;
        let v = if nra { self.expr_nra()? } else { self.expr()? };
        Ok(Given::Int(v, self.since(start)))
    }

    pub(super) fn kernel_attr(&mut self) -> P<()> {
        let name = self.read_identifier();
        if name.is_empty() {
            return Err(self.expected("an attribute's name"));
        }
        let value = if self.eat_byte(b'=') && !self.at_end() {
            self.parse_attribute_value(false)?
        } else {
            Given::Nothing
        };
        self.end_of_line()?;
        let simd = match (&value, name) {
            (Given::Int(v, _), b"SimdSize" | b"DispatchSimdSize") => u32::try_from(*v).ok(),
            _ => None,
        };
        self.simd_size = simd.or(self.simd_size);
        self.has_target |= name == b"Target";
        if self.obj.attrs.len() >= limits::OBJECT_ATTRIBUTES {
            let span = self.span_of(name);
            let most = format!("a kernel holds at most {}", limits::OBJECT_ATTRIBUTES);
            let d = self.diag_label("E0307", "too many attributes", span, most);
            return Err(self.report_and_give_up_line(d));
        }
        let attr = match self.annotated_bytes()? {
            Some(bytes) => {
                let span = self.span_of(name);
                Attr { name: self.name_in_pool(name), value: bytes, span }
            }
            None => self.make_attribute(name, value, Owner::Kernel)?,
        };
        if name == b"Target"
            && let [target] = attr.value[..]
        {
            self.default_target = target;
        }
        self.obj.attrs.push(attr);
        Ok(())
    }

    /// An attribute with its value's bytes.
    pub(super) fn make_attribute(&mut self, name: &'s [u8], value: Given<'s>, owner: Owner) -> P<Attr> {
        let span = self.span_of(name);
        let shown = self.str_of(name).into_owned();
        let Some(&(real, who, kind, since)) = attributes::find(name) else {
            return self.unknown_attr(name, value, owner);
        };
        if since > self.version {
            let d = self
                .warning_at(
                    "W0210",
                    format!("`{shown}` came with version {}.{}", since.0, since.1),
                    span,
                    "kept",
                )
                .note("the released tools of 4.1 do not know it");
            if !self.told_attrs.contains(&name) {
                self.told_attrs.push(name);
                self.report_diagnostic(d);
            }
        }
        if who != owner {
            let d = self.diag_label(
                "E0208",
                if owner == Owner::Kernel {
                    format!("`{shown}` is an attribute of variables")
                } else {
                    format!("`{shown}` is an attribute of kernels")
                },
                span,
                if owner == Owner::Kernel {
                    "belongs in a declaration's `attrs={…}`"
                } else {
                    "belongs in `.kernel_attr`"
                },
            );
            return Err(self.report_and_give_up_line(d));
        }
        let wrong = |p: &mut Self, at: Span, wanted: &str| {
            let d = p.diag_label("E0209", format!("wrong value of `{shown}`"), at, wanted.to_owned());
            p.report_and_give_up_line(d)
        };
        let bytes = match (kind, value) {
            (Value::Target, Given::Str(s, at)) => match s.as_ref() {
                "cm" => vec![0],
                "3d" => vec![1],
                _ => return Err(wrong(self, at, "expected \"cm\" or \"3d\"")),
            },
            (Value::Target, Given::Int(_, at)) => return Err(wrong(self, at, "expected \"cm\" or \"3d\"")),
            (Value::Target, Given::Nothing) => {
                return Err(wrong(self, span, "expected `=\"cm\"` or `=\"3d\"` after it"));
            }
            (_, Given::Nothing) => Vec::new(),
            (Value::Bool, Given::Int(v, at)) => {
                if v != 0 && v != 1 {
                    return Err(wrong(self, at, "expected 0 or 1"));
                }
                if v == 0 {
                    let d = self
                        .warning_at(
                            "W0209",
                            format!("`{shown}=0` switches the attribute on"),
                            at,
                            "stored as 1",
                        )
                        .help("leave the attribute out to have it off");
                    self.report_diagnostic(d);
                }
                1u32.to_le_bytes().to_vec()
            }
            (Value::Int, Given::Int(v, at)) => {
                match u32::try_from(v).or_else(|_| i32::try_from(v).map(|v| v as u32)) {
                    Ok(v) => v.to_le_bytes().to_vec(),
                    Err(_) => return Err(wrong(self, at, "does not fit 32 bits")),
                }
            }
            (Value::Str, Given::Str(s, at)) => {
                if s.len() > limits::ATTRIBUTE_VALUE_BYTES {
                    return Err(wrong(self, at, &attributes::value_length_label()));
                }
                s.as_bytes().to_vec()
            }
            (Value::Bool, Given::Str(_, at)) => return Err(wrong(self, at, "expected no value, or 1")),
            (Value::Int, Given::Str(_, at)) => return Err(wrong(self, at, "expected a number")),
            (Value::Str, Given::Int(_, at)) => return Err(wrong(self, at, "expected a string")),
        };
        if real.as_bytes() != name {
            let d = self
                .warning_at("W0208", format!("`{shown}` is the old name of `{real}`"), span, "")
                .suggest("write", self.file, span, real);
            self.report_diagnostic(d);
        }
        let name = self.obj.strings.push(real);
        Ok(Attr { name, value: bytes, span })
    }

    /// An attribute that nobody knows yet: kept as it stands, as new ones come with every release.
    #[cold]
    pub(super) fn unknown_attr(&mut self, name: &'s [u8], value: Given<'s>, owner: Owner) -> P<Attr> {
        let span = self.span_of(name);
        let shown = self.str_of(name).into_owned();
        let mut d = self.warning_at("W0210", format!("unknown attribute `{shown}`"), span, "kept unchanged");
        let known: Vec<&str> = attributes::ATTRS.iter().filter(|a| a.1 == owner).map(|a| a.0).collect();
        if let Some(near) = nearest(name, known.iter().map(|n| n.as_bytes())) {
            d = d.suggest("a similar attribute is", self.file, span, near);
        } else {
            d = d.help(format!("attributes are {}", known.join(" ")));
        }
        if !self.told_attrs.contains(&name) {
            self.told_attrs.push(name);
            self.report_diagnostic(d);
        }
        let bytes = match value {
            Given::Nothing => Vec::new(),
            Given::Int(v, at) => match u32::try_from(v).or_else(|_| i32::try_from(v).map(|v| v as u32)) {
                Ok(v) => v.to_le_bytes().to_vec(),
                Err(_) => {
                    let d = self.diag_label(
                        "E0209",
                        format!("wrong value of `{shown}`"),
                        at,
                        "does not fit 32 bits",
                    );
                    return Err(self.report_and_give_up_line(d));
                }
            },
            Given::Str(s, at) if s.len() > limits::ATTRIBUTE_VALUE_BYTES => {
                let wrong = format!("wrong value of `{shown}`");
                let d = self.diag_label("E0209", wrong, at, attributes::value_length_label());
                return Err(self.report_and_give_up_line(d));
            }
            Given::Str(s, _) => s.as_bytes().to_vec(),
        };
        Ok(Attr { name: self.name_in_pool(name), value: bytes, span })
    }
}
