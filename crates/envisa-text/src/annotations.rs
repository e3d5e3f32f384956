//! Annotations `//@ key=value …`: details that the reference's text form cannot express, in comments that it skips.

use envisa_isa::desc::{Enc, SlotKind};
use envisa_isa::{Attr, AttrRange, Exec, ExecMask, Operand, Pred, SlotName, Span, limits};

use crate::names::{Class, nearest};
use crate::parser::{LineError, P, Parser};

/// The value of a key.
pub(crate) enum Item<'s> {
    Word(&'s [u8], Span),
    Str(String, Span),
}

impl<'s> Parser<'s> {
    /// Goes behind `//@`; false if no annotation stands here.
    fn open_annotation(&mut self) -> bool {
        self.skip_blanks();
        if self.src[self.pos..].starts_with(b"//@") {
            self.pos += 3;
            return true;
        }
        false
    }

    /// The next `key=value`; `None` at the end of the line.
    fn next_key_value(&mut self) -> P<Option<(&'s [u8], Item<'s>)>> {
        while matches!(self.peek(), b' ' | b'\t') {
            self.pos += 1;
        }
        if self.pos >= self.src.len() || matches!(self.peek(), b'\n' | b'\r') {
            return Ok(None);
        }
        let start = self.pos;
        while !matches!(self.peek(), b'=' | b' ' | b'\t' | b'\n' | b'\r' | 0) {
            self.pos += 1;
        }
        let key = &self.src[start..self.pos];
        if self.peek() != b'=' || key.is_empty() {
            let span = Span::new(start as u32, (self.pos as u32).max(start as u32 + 1));
            let d = self.diag_label("E0601", "malformed annotation", span, "expected `key=value`");
            return Err(self.report_and_give_up_line(d));
        }
        self.pos += 1;
        if self.peek() == b'"' {
            let (s, span) = self.string()?;
            return Ok(Some((key, Item::Str(s.into_owned(), span))));
        }
        let at = self.pos;
        while !matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r' | 0) {
            self.pos += 1;
        }
        Ok(Some((key, Item::Word(&self.src[at..self.pos], Span::new(at as u32, self.pos as u32)))))
    }

    #[cold]
    fn unknown_key<'a>(&mut self, key: &'s [u8], known: impl Iterator<Item = &'a [u8]>) {
        let span = self.span_of(key);
        let shown = self.str_of(key).into_owned();
        let mut d =
            self.warning_at("W0601", format!("unknown key `{shown}` in an annotation"), span, "ignored");
        if let Some(near) = nearest(key, known) {
            d = d.suggest("a similar key is", self.file, span, near);
        }
        self.report_diagnostic(d);
    }

    #[cold]
    pub(crate) fn bad_value(&mut self, span: Span, wanted: &str) -> LineError {
        let d = self.diag_label("E0602", "wrong value in an annotation", span, format!("expected {wanted}"));
        self.report_and_give_up_line(d)
    }

    fn number_item(&mut self, item: &Item<'s>) -> P<u64> {
        let span = match item {
            Item::Word(word, span) => {
                let text = String::from_utf8_lossy(word);
                let parsed = match text.strip_prefix("0x") {
                    Some(hex) => u64::from_str_radix(hex, 16),
                    None => text.parse(),
                };
                if let Ok(n) = parsed {
                    return Ok(n);
                }
                *span
            }
            Item::Str(_, span) => *span,
        };
        Err(self.bad_value(span, "a number"))
    }

    fn bytes_item(&mut self, item: &Item<'s>) -> P<Vec<u8>> {
        let (Item::Word(_, span) | Item::Str(_, span)) = item;
        if let Item::Word(word, _) = item
            && word.len() % 2 == 0
            && word.iter().all(u8::is_ascii_hexdigit)
        {
            let nibble = |b: u8| (b as char).to_digit(16).unwrap_or(0) as u8;
            return Ok(word.chunks(2).map(|c| nibble(c[0]) << 4 | nibble(c[1])).collect());
        }
        Err(self.bad_value(*span, "bytes as hexadecimal digits"))
    }

    fn text_item(&mut self, item: Item<'s>) -> P<(String, Span)> {
        match item {
            Item::Str(s, span) => Ok((s, span)),
            Item::Word(_, span) => Err(self.bad_value(span, "a string in quotes")),
        }
    }

    /// An annotation of an instruction: `slot=value` or `slot.part=value` set what the text cannot.
    pub fn parse_annotation(&mut self, inst: usize) -> P<()> {
        if !self.open_annotation() {
            return Ok(());
        }
        while let Some((key, item)) = self.next_key_value()? {
            let inst = self.obj.insts[inst];
            let desc = inst.desc();
            if key == b"name" && matches!(inst.op, envisa_isa::Op::Label | envisa_isa::Op::Subroutine) {
                let (name, _) = self.text_item(item)?;
                if let Operand::Label(id) = self.obj.operands[inst.first as usize] {
                    self.rename_label(id, &name);
                }
                continue;
            }
            let text = String::from_utf8_lossy(key).into_owned();
            let (slot, part) = match text.split_once('.') {
                Some((s, p)) => (s, Some(p)),
                None => (text.as_str(), None),
            };
            let version = self.version;
            let known =
                |i: &usize| *i < inst.len as usize && desc.slots.get(*i).is_none_or(|s| s.is_in(version));
            let Some(i) = SlotName::parse(slot).and_then(|s| desc.slot_index(s)).filter(known) else {
                self.unknown_key(key, desc.slots.iter().map(|s| s.name.as_str().as_bytes()));
                continue;
            };
            let (Item::Word(_, span) | Item::Str(_, span)) = item;
            let (i, part) = match (&desc.slots[i].kind, part.map(str::parse::<usize>)) {
                (SlotKind::Many(_), Some(Ok(n))) if n < inst.len as usize - i => (i + n, None),
                _ => (i, part),
            };
            let kind = desc.slots.get(i).or(desc.slots.last()).map(|s| s.kind);
            let Some(kind) = kind else { continue };
            if let Item::Word(word, _) = item
                && word.contains(&b':')
            {
                let operand = self.operand_word(word, span)?;
                if envisa_isa::Limits::of(&self.obj, self.version).check(&kind, &operand).is_err() {
                    return Err(self.bad_value(span, "an operand of this slot that exists"));
                }
                self.obj.operands[inst.first as usize + i] = operand;
                continue;
            }
            let value = self.number_item(&item)?;
            let at = inst.first as usize + i;
            let old = self.obj.operands[at];
            let width = |w: u8| if w >= 4 { u32::MAX as u64 } else { (1u64 << (8 * w)) - 1 };
            let new = match (&kind, part, old) {
                (SlotKind::Exec, None, _) if value <= 0xff && value & 15 <= 5 => {
                    Operand::Exec(Exec { log2: (value & 15) as u8, mask: ExecMask((value >> 4) as u8) })
                }
                (SlotKind::Pred, None, _) => {
                    let word = u16::try_from(value).ok().and_then(Pred::from_word);
                    match word {
                        Some(p) if p.id as usize <= self.obj.predicates.len() => Operand::Pred(p),
                        _ => return Err(self.bad_value(span, "a predicate word")),
                    }
                }
                (SlotKind::Field { width: w, .. }, None, _)
                | (SlotKind::Packed { width: w, .. }, None, _)
                    if value <= width(*w) =>
                {
                    Operand::Int(value as u32)
                }
                (SlotKind::Packed { parts, .. }, Some(p), Operand::Int(old)) => {
                    match parts.iter().find(|q| q.name.as_str() == p) {
                        Some(q) if value >> q.bits == 0 => Operand::Int(q.set(old, value as u32)),
                        _ => return Err(self.bad_value(span, "a value of this part")),
                    }
                }
                (_, None, Operand::Imm { ty, .. }) if ty.size() == 8 || value <= u32::MAX as u64 => {
                    Operand::Imm { ty, bits: value }
                }
                (_, None, Operand::Predicate(p)) => match u16::try_from(value).ok().and_then(Pred::from_word)
                {
                    Some(q) if q.id == p.id => Operand::Predicate(q),
                    _ => return Err(self.bad_value(span, "a predicate word")),
                },
                (SlotKind::Raw { .. }, None, Operand::Raw { .. }) => {
                    let (var, offset) = (value as u32, value >> 32);
                    let limits = envisa_isa::Limits::of(&self.obj, self.version);
                    match u16::try_from(offset) {
                        Ok(offset) if limits.has_var(var) => Operand::Raw { var, offset },
                        _ => return Err(self.bad_value(span, "a variable and offset")),
                    }
                }
                (_, None, Operand::Address { .. } | Operand::General { .. } | Operand::Indirect { .. }) => {
                    match self.modifier_item(old, value) {
                        Some(o) => o,
                        None => return Err(self.bad_value(span, "a region word and modifier")),
                    }
                }
                _ => return Err(self.bad_value(span, "a value of this slot")),
            };
            self.obj.operands[at] = new;
        }
        Ok(())
    }

    /// `region | modifier << 16` of an operand whose region or modifier the text cannot say.
    fn modifier_item(&self, old: Operand, value: u64) -> Option<Operand> {
        let region = envisa_isa::Region((value & 0xffff) as u16);
        let m = envisa_isa::Modifier::from_code(u8::try_from(value >> 16).ok()?)?;
        if region.0 & 0xf000 != 0 || (0..3).any(|i| region.0 >> (4 * i) & 15 > 7) {
            return None;
        }
        Some(match old {
            Operand::General { var, row, col, .. } => Operand::General { var, row, col, region, modifier: m },
            Operand::Address { id, offset, width_log2, .. } => {
                Operand::Address { id, offset, width_log2, modifier: m }
            }
            Operand::Indirect { addr, offset, byte_offset, ty, .. } => {
                Operand::Indirect { addr, offset, byte_offset, ty, region, modifier: m }
            }
            _ => return None,
        })
    }

    fn rename_label(&mut self, id: u16, name: &str) {
        let index = self.obj.labels[id as usize].name;
        self.rename_pool_string(index, name);
    }

    /// Replaces a string of the pool when the object ends.
    fn rename_pool_string(&mut self, index: u32, name: &str) {
        self.order.renames.push((index, name.to_owned()));
    }

    /// An annotation of a declaration: `name="…"`, `elems=n`, `attr=NAME:bytes` (which replace the list).
    pub fn annotate_decl(&mut self, class: Class, id: u32) -> P<()> {
        if !self.open_annotation() {
            return Ok(());
        }
        let first = self.obj.var_attrs.len();
        let mut replaced = false;
        while let Some((key, item)) = self.next_key_value()? {
            match key {
                b"name" => {
                    let (name, _) = self.text_item(item)?;
                    let index = self.decl_name(class, id);
                    self.rename_pool_string(index, &name);
                }
                b"elems" => self.set_elems(class, id, &item)?,
                b"type" => {
                    let code = self.number_item(&item)?;
                    let ty = u8::try_from(code).ok().and_then(envisa_isa::Type::from_code);
                    let (Item::Word(_, span) | Item::Str(_, span)) = item;
                    match (ty, class) {
                        (Some(ty), Class::General) => {
                            self.obj.vars[(id - envisa_isa::predefined::FIRST_VAR) as usize].ty = ty;
                        }
                        _ => return Err(self.bad_value(span, "the number of a type")),
                    }
                }
                _ if key.starts_with(b"attr:") => {
                    replaced = true;
                    let bytes = self.bytes_item(&item)?;
                    let span = self.span_of(key);
                    let name = self.text[span.start as usize + 5..span.end as usize].to_owned();
                    let name = self.obj.strings.push(&name);
                    self.obj.var_attrs.push(Attr { name, value: bytes, span });
                }
                _ => self.unknown_key(key, [b"name".as_slice(), b"elems", b"type", b"attr:"].into_iter()),
            }
        }
        if replaced {
            let len = self.obj.var_attrs.len() - first;
            let range = AttrRange { start: first as u32, len: len.min(limits::VARIABLE_ATTRIBUTES) as u8 };
            match class {
                Class::General => {
                    self.obj.vars[(id - envisa_isa::predefined::FIRST_VAR) as usize].attrs = range
                }
                Class::Address => self.obj.addresses[id as usize].attrs = range,
                Class::Predicate => self.obj.predicates[id as usize - 1].attrs = range,
                Class::Sampler => self.obj.samplers[id as usize].attrs = range,
                _ => {
                    self.obj.surfaces[id as usize - envisa_isa::predefined::FIRST_SURFACE as usize].attrs =
                        range;
                }
            }
        }
        Ok(())
    }

    fn set_elems(&mut self, class: Class, id: u32, item: &Item<'s>) -> P<()> {
        let n = self.number_item(item)?;
        let (Item::Word(_, span) | Item::Str(_, span)) = item;
        let Ok(n) = u16::try_from(n) else { return Err(self.bad_value(*span, "a number of elements")) };
        let i = id as usize;
        match class {
            Class::General => self.obj.vars[i - envisa_isa::predefined::FIRST_VAR as usize].elems = n,
            Class::Address => self.obj.addresses[i].elems = n,
            Class::Predicate => self.obj.predicates[i - 1].elems = n,
            Class::Sampler => self.obj.samplers[i].elems = n,
            _ => self.obj.surfaces[i - envisa_isa::predefined::FIRST_SURFACE as usize].elems = n,
        }
        Ok(())
    }

    fn decl_name(&self, class: Class, id: u32) -> u32 {
        let id = id as usize;
        match class {
            Class::General => self.obj.vars[id - envisa_isa::predefined::FIRST_VAR as usize].name,
            Class::Address => self.obj.addresses[id].name,
            Class::Predicate => self.obj.predicates[id - 1].name,
            Class::Sampler => self.obj.samplers[id].name,
            _ => self.obj.surfaces[id - envisa_isa::predefined::FIRST_SURFACE as usize].name,
        }
    }

    /// An annotation of an input: `kind=n`, the whole byte.
    pub fn annotate_input(&mut self) -> P<()> {
        if !self.open_annotation() {
            return Ok(());
        }
        while let Some((key, item)) = self.next_key_value()? {
            if key != b"kind" {
                self.unknown_key(key, [b"kind".as_slice()].into_iter());
                continue;
            }
            let (Item::Word(_, span) | Item::Str(_, span)) = item;
            let kind = self.number_item(&item)?;
            let Some(input) = self.obj.inputs.last_mut() else { continue };
            if kind > 0xff || kind as u8 & 7 != input.kind & 7 {
                return Err(self.bad_value(span, "a kind of the same class of variable"));
            }
            input.kind = kind as u8;
        }
        Ok(())
    }

    /// `bytes=…` after a kernel attribute.
    pub fn annotated_bytes(&mut self) -> P<Option<Vec<u8>>> {
        if !self.open_annotation() {
            return Ok(None);
        }
        let mut bytes = None;
        while let Some((key, item)) = self.next_key_value()? {
            if key != b"bytes" {
                self.unknown_key(key, [b"bytes".as_slice()].into_iter());
                continue;
            }
            let value = self.bytes_item(&item)?;
            let (Item::Word(_, span) | Item::Str(_, span)) = item;
            if value.len() > limits::ATTRIBUTE_VALUE_BYTES {
                return Err(self.bad_value(span, &crate::attributes::value_length_label()));
            }
            bytes = Some(value);
        }
        Ok(bytes)
    }

    /// `version=3.6` of a module that an older binary held.
    fn old_version(&mut self, item: &Item<'s>, span: Span) -> P<()> {
        if let Item::Word(word, _) = item
            && let Some((a, b)) = std::str::from_utf8(word).ok().and_then(|w| w.split_once('.'))
            && let (Ok(a @ (3 | 4)), Ok(b)) = (a.parse::<u8>(), b.parse::<u8>())
            && (a, b) < (4, 1)
            && self.version == (4, 1)
        {
            self.version = (a, b);
            return Ok(());
        }
        Err(self.bad_value(span, "a version before 4.1"))
    }

    /// `general:VAR:ROW:COLUMN:REGION:MODIFIER` and its like, whole operands by numbers.
    fn operand_word(&mut self, word: &[u8], span: Span) -> P<Operand> {
        use envisa_isa::{Modifier, Region, StateClass, Type};
        let text = String::from_utf8_lossy(word).into_owned();
        let mut parts = text.split(':');
        let kind = parts.next().unwrap_or("");
        let numbers: Option<Vec<u64>> = parts
            .map(|p| match p.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).ok(),
                None => p.parse().ok(),
            })
            .collect();
        let operand = numbers.and_then(|n| {
            let byte = |n: u64| u8::try_from(n).ok();
            let short = |n: u64| u16::try_from(n).ok();
            let modifier = |n: u64| byte(n).and_then(Modifier::from_code);
            let ty = |n: u64| byte(n).and_then(Type::from_code);
            let var = |n: u64| u32::try_from(n).ok();
            Some(match (kind, &n[..]) {
                ("general", &[v, row, col, r, m]) => Operand::General {
                    var: var(v)?,
                    row: byte(row)?,
                    col: byte(col)?,
                    region: Region(short(r)?),
                    modifier: modifier(m)?,
                },
                ("address", &[id, offset, width, m]) => Operand::Address {
                    id: short(id)?,
                    offset: byte(offset)?,
                    width_log2: byte(width)?,
                    modifier: modifier(m)?,
                },
                ("predicate", &[word]) => Operand::Predicate(Pred::from_word(short(word)?)?),
                ("indirect", &[addr, offset, bytes, t, r, m]) => Operand::Indirect {
                    addr: short(addr)?,
                    offset: byte(offset)?,
                    byte_offset: short(bytes)? as i16,
                    ty: ty(t)?,
                    region: Region(short(r)?),
                    modifier: modifier(m)?,
                },
                ("address_of", &[v, offset]) => Operand::AddressOf { var: var(v)?, offset: short(offset)? },
                ("imm", &[t, bits]) => Operand::Imm { ty: ty(t)?, bits },
                ("state", &[class, id, offset]) => Operand::State {
                    class: match class {
                        0 => StateClass::Surface,
                        1 => StateClass::Sampler,
                        _ => return None,
                    },
                    id: short(id)?,
                    offset: byte(offset)?,
                },
                ("raw", &[v, offset]) => Operand::Raw { var: var(v)?, offset: short(offset)? },
                _ => return None,
            })
        });
        match operand {
            Some(o) => Ok(o),
            None => Err(self.bad_value(span, "an operand by its numbers")),
        }
    }

    /// An annotation on a line of its own: `function_sizes=in,out`, `native:platform=bytes`,
    /// `attr:NAME=bytes`, `no_target=1`.
    pub fn object_annotation(&mut self) -> P<()> {
        self.bad_line = false;
        if !self.open_annotation() {
            return Ok(());
        }
        while let Some((key, item)) = self.next_key_value()? {
            let (Item::Word(_, span) | Item::Str(_, span)) = item;
            if !self.open && key == b"version" && self.objects.is_empty() {
                self.old_version(&item, span)?;
                continue;
            }
            if !self.open {
                let d = self.warning_at("W0601", "annotation outside of a kernel", span, "ignored");
                self.report_diagnostic(d);
                continue;
            }
            match key {
                b"function_sizes" => {
                    let n = self.number_item(&item)?;
                    if n > 0xffff {
                        return Err(self.bad_value(span, "two bytes"));
                    }
                    self.obj.function_sizes = (n as u8, (n >> 8) as u8);
                }
                b"no_target" => self.has_target = true,
                _ if key.starts_with(b"attr:") => {
                    let bytes = self.bytes_item(&item)?;
                    let at = self.span_of(key);
                    let name = self.text[at.start as usize + 5..at.end as usize].to_owned();
                    self.has_target |= name == "Target";
                    let name = self.obj.strings.push(&name);
                    self.obj.attrs.push(Attr { name, value: bytes, span: at });
                }
                _ if key.starts_with(b"native:") => {
                    let code = self.bytes_item(&item)?;
                    let platform = std::str::from_utf8(&key[7..]).ok().and_then(|t| t.parse().ok());
                    let Some(platform) = platform else {
                        let at = self.span_of(key);
                        return Err(self.bad_value(at, "`native:` and the platform's number"));
                    };
                    self.obj.native.push(envisa_isa::Native { platform, code });
                }
                _ if self.order_item(key, &item)? => {}
                _ => self.unknown_key(
                    key,
                    [b"function_sizes".as_slice(), b"no_target", b"attr:", b"native:", b"pool", b"labels"]
                        .into_iter(),
                ),
            }
        }
        Ok(())
    }
}

/// Is a field's value one that its form can spell?
pub(crate) fn can_spell_value(enc: &Enc, value: u32) -> bool {
    match enc {
        Enc::Number { max } | Enc::Hex { max } | Enc::HexDigits { max } => value <= *max,
        Enc::Signed => true,
        Enc::Values(values) => values.iter().any(|v| v.code == value),
        Enc::Channels => value != 0 && value < 16,
        Enc::Ignored(default) => value == *default,
        Enc::ExecLike(values) => value < 0x100 && values.iter().any(|v| v.code == value & 15),
    }
}
