//! Instructions: a mnemonic picks forms of the table, and a form's steps read the rest of the line.

mod field;

use envisa_isa::desc::{Composite, Enc, InstDesc, LabelKind, Role, SlotKind, Value};
use envisa_isa::{Exec, ExecMask, LabelUse, Modifier, Op, Operand, Pred, Span};

use crate::instruction_operands::Ops;
use crate::name_bytes::{is_ident, is_start};
use crate::names::{Class, nearest};
use crate::operand::or_list;
use crate::parser::{LineError, Mention, P, Parser, Pending};
use crate::template::{Compiled, Forms, Step};

/// The kind a slot has here: what an `If` switches on, or `None` if it is off.
pub(crate) fn active_kind(kind: &SlotKind, get: impl Fn(usize) -> u32) -> Option<&SlotKind> {
    match kind {
        SlotKind::If { slot, bit, kind } => {
            (get(*slot as usize) >> *bit & 1 != 0).then(|| active_kind(kind, get)).flatten()
        }
        k => Some(k),
    }
}

impl<'s> Parser<'s> {
    /// An instruction with its predicate.
    #[inline]
    pub fn instruction(&mut self) -> P<()> {
        if !self.open {
            self.need_object("instruction")?;
        }
        let start = self.pos;
        let mut pred = None;
        if self.peek() == b'(' {
            pred = Some(self.predicate_prefix()?);
            self.skip_blanks();
        }
        let head_start = self.pos;
        let head = self.run();
        let forms = self.forms;
        let candidates = forms.of_head(head);
        self.parse_by_candidate_forms(forms, candidates, head, head_start, start, pred)
    }

    /// Reads the rest of the line by one of the mnemonic's forms.
    #[inline]
    pub fn parse_by_candidate_forms(
        &mut self,
        forms: &'static Forms,
        candidates: &'static [u32],
        head: &'s [u8],
        head_start: usize,
        start: usize,
        pred: Option<Pred>,
    ) -> P<()> {
        let mut ops = self.ops.take().unwrap_or_default();
        let result = self.by_candidates(forms, candidates, head, head_start, start, pred, &mut ops);
        self.ops = Some(ops);
        result
    }

    #[inline]
    #[allow(clippy::too_many_arguments)]
    fn by_candidates(
        &mut self,
        forms: &'static Forms,
        candidates: &'static [u32],
        head: &'s [u8],
        head_start: usize,
        start: usize,
        pred: Option<Pred>,
        ops: &mut Ops,
    ) -> P<()> {
        let version = self.version;
        let body = self.pos;
        if let &[only] = candidates {
            let form = forms.at(only);
            if form.desc.versions.contains(version) {
                let mark = self.diags.len();
                if self.read(form, start, pred, ops).is_err() {
                    return Err(self.with_form(form, mark));
                }
                return self.append_instruction(form, ops, start, pred);
            }
        }
        // Several forms share the mnemonic: the first that reads the line is it, else the one that got furthest
        // may complain.
        let mark = self.diags.len();
        let poison_mark = self.poisoned.len();
        let mut best: Option<(usize, Vec<envisa_diag::Diagnostic>, &'static Compiled)> = None;
        let mut tried = false;
        for &c in candidates {
            let form = forms.at(c);
            if !form.desc.versions.contains(version) {
                continue;
            }
            tried = true;
            self.pos = body;
            self.bad_line = false;
            let read = self.read(form, start, pred, ops);
            match read {
                Ok(()) if !self.bad_line => return self.append_instruction(form, ops, start, pred),
                _ => {}
            }
            let far = self.pos;
            let said = self.diags.split_off(mark);
            // An undeclared name must be complained about again if another form is tried.
            if best.as_ref().is_none_or(|(b, ..)| far > *b) {
                best = Some((far, said, form));
            }
            for name in self.poisoned.split_off(poison_mark) {
                self.names.unmark_reported(name);
            }
        }
        if let Some((far, said, form)) = best {
            self.diags.extend(said);
            self.bad_line = true;
            self.pos = far;
            return Err(self.with_form(form, mark));
        }
        self.pos = body;
        if !tried && !candidates.is_empty() {
            return Err(self.other_version(forms.at(candidates[0]), head));
        }
        Err(self.unknown_mnemonic(head, head_start))
    }

    /// Shows the form beside complaints of what is missing, where no other advice is given.
    #[cold]
    fn with_form(&mut self, form: &'static Compiled, mark: usize) -> LineError {
        for d in self.diags.get_mut(mark..).unwrap_or_default() {
            let missing = matches!(d.code.as_ref(), "E0402" | "E0406" | "E0407");
            if missing && d.is_error() && d.helps.is_empty() && d.message.starts_with("expected") {
                d.helps.push(envisa_diag::Help {
                    text: format!("the form is `{}`", usage(form)).into(),
                    suggestion: None,
                });
            }
        }
        LineError
    }

    /// Reads the line by a form's steps.
    #[inline]
    fn read(&mut self, form: &'static Compiled, start: usize, pred: Option<Pred>, ops: &mut Ops) -> P<()> {
        self.many.clear();
        self.pending.clear();
        ops.len = form.defaults.len();
        for (to, from) in ops.list.iter_mut().zip(&form.defaults) {
            *to = (*from, Span::NONE);
        }
        if let Some(p) = pred {
            match form.pred {
                Some(slot) if form.pred_text => {
                    ops.list[slot as usize] = (Operand::Pred(p), self.pred_span);
                }
                _ => self.no_predicate(form, start),
            }
        }
        let mut sat = false;
        for step in &form.steps {
            match *step {
                Step::Slot { slot, part, glued } => {
                    self.parse_slot(form, slot as usize, part, glued, ops)?;
                }
                Step::Sat => sat |= self.suffix_word(b"sat"),
                Step::Punct(b) => {
                    self.expect(b)?;
                    if b == b'(' && is_start(self.peek()) {
                        self.discarded_mask();
                    }
                }
                ref other => self.rare_step(form, other, ops)?,
            }
        }
        if !self.at_end() {
            return Err(self.left_over(form));
        }
        if sat {
            self.apply_saturation(form, ops);
        }
        for &(to, of) in &form.copies {
            ops.list[to as usize] = ops.list[of as usize];
        }
        if let Some(count) = form.count {
            ops.list[count as usize].0 = Operand::Int(self.many.len() as u32);
        }
        Ok(())
    }

    #[inline(never)]
    fn rare_step(&mut self, form: &'static Compiled, step: &Step, ops: &mut Ops) -> P<()> {
        match *step {
            Step::Glued(text) => self.parse_glued_text(form, text),
            Step::Word(text) => {
                self.skip_blanks();
                let rest = &self.src[self.pos..];
                if rest.starts_with(text.as_bytes()) && !rest.get(text.len()).is_some_and(|&b| is_ident(b)) {
                    self.pos += text.len();
                    return Ok(());
                }
                Err(self.expected(&format!("`{text}`")))
            }
            Step::OptSuffix { slot, part } => {
                let enc = enc_of(form.desc, slot as usize, part);
                let here = self.pos;
                self.skip_blanks();
                let at = self.pos;
                if self.peek() == b'.' {
                    self.pos += 1;
                    if let Some(v) = enc.and_then(|e| self.try_value(e)) {
                        let span = self.since(at);
                        ops.set(slot as usize, part, v, span);
                        return Ok(());
                    }
                }
                self.pos = here;
                Ok(())
            }
            Step::Flag { slot, .. } if !form.desc.slots[slot as usize].is_in(self.version) => Ok(()),
            Step::Flag { name, slot, part } => {
                self.skip_blanks();
                let at = self.pos;
                if self.suffix_word(name.as_bytes()) {
                    let span = self.since(at);
                    ops.set(slot as usize, part, 1, span);
                }
                Ok(())
            }
            Step::Redundant(name) => {
                self.suffix_word(name.as_bytes());
                Ok(())
            }
            Step::Many(slot) => self.many_slot(form, slot as usize, ops),
            Step::Composite(name) => self.parse_composite(form, name, ops),
            Step::Slot { .. } | Step::Sat | Step::Punct(_) => Ok(()),
        }
    }

    /// Steps over `.word` if it stands here.
    pub fn suffix_word(&mut self, word: &[u8]) -> bool {
        self.skip_blanks();
        let here = self.pos;
        if self.peek() == b'.' {
            self.pos += 1;
            if self.run() == word {
                return true;
            }
            self.pos = here;
        }
        false
    }

    /// Text that belongs to the mnemonic.
    fn parse_glued_text(&mut self, form: &'static Compiled, text: &'static str) -> P<()> {
        if text.starts_with('.') {
            self.skip_blanks();
        }
        let rest = &self.src[self.pos..];
        if rest.starts_with(text.as_bytes()) {
            self.pos += text.len();
            if text == "." && self.peek() == b' ' {
                self.skip_blanks();
            }
            return Ok(());
        }
        Err(self.no_suffix(form, text))
    }

    #[cold]
    fn no_suffix(&mut self, form: &'static Compiled, text: &'static str) -> LineError {
        let (found, mut span) = self.found();
        let head = form.form.head;
        // What the suffix holds is the step after it.
        let next = form.steps.iter().skip_while(|s| !matches!(s, Step::Glued(t) if *t == text)).nth(1);
        let list: Vec<String> = match next {
            Some(Step::Slot { slot, part, glued: true }) => match enc_of(form.desc, *slot as usize, *part) {
                Some(Enc::Values(values)) => values.iter().map(|v| format!("`{text}{}`", v.text)).collect(),
                Some(Enc::Channels) => vec![format!("`{text}RGBA` or a part of it")],
                Some(Enc::HexDigits { .. }) => vec![format!("`{text}` with hexadecimal digits")],
                _ => vec![format!(
                    "`{text}` with the number `{}`",
                    part.map_or(form.desc.slots[*slot as usize].name.as_str(), |p| p.name.as_str())
                )],
            },
            // Words that tell forms of the mnemonic apart.
            _ => {
                let forms = self.forms;
                let words =
                    forms.of_head(head.as_bytes()).iter().filter_map(|&i| match forms.at(i).steps.first() {
                        Some(Step::Glued(t)) => Some(format!("`{t}`")),
                        _ => None,
                    });
                let mut words: Vec<String> = words.collect();
                words.sort();
                words.dedup();
                words
            }
        };
        let label = format!("expected {}", or_list(&list));
        let message = match found.as_str() {
            "`(`" => format!("`{head}` lacks a suffix"),
            "`.`" => {
                let start = self.pos;
                self.pos += 1;
                let word = self.run();
                span = self.since(start);
                let shown = self.str_of(word).chars().take(40).collect::<String>();
                format!("`{head}` has no suffix `.{shown}`")
            }
            _ => format!("`{head}` lacks a suffix before {found}"),
        };
        let d = self.diag_label("E0403", message, span, label).help(format!("the form is `{}`", usage(form)));
        self.report_and_give_up_line(d)
    }

    /// A slot, by its kind.
    #[inline(always)]
    fn parse_slot(
        &mut self,
        form: &'static Compiled,
        slot: usize,
        part: Option<&'static envisa_isa::desc::Part>,
        glued: bool,
        ops: &mut Ops,
    ) -> P<()> {
        let desc = &form.desc.slots[slot];
        match desc.kind {
            SlotKind::Vector(classes) => {
                ops.list[slot] = if form.bare_vector {
                    self.bare_vector(desc.name.as_str())?
                } else {
                    self.vector(classes, desc.role, desc.name.as_str())?
                };
                Ok(())
            }
            SlotKind::Exec => {
                self.skip_blanks();
                if self.peek() == b'.' {
                    self.stray_suffix(form)?;
                }
                ops.list[slot] = self.exec()?;
                Ok(())
            }
            SlotKind::Raw { .. } => {
                ops.list[slot] = self.raw(form.bare_raw, desc.name.as_str())?;
                Ok(())
            }
            SlotKind::Surface { .. } => {
                let address = desc.kind.takes_address();
                ops.list[slot] = self.handle(Class::Surface, address, desc.name.as_str())?;
                Ok(())
            }
            _ => self.parse_rare_slot(form, slot, part, glued, ops),
        }
    }

    #[inline(never)]
    fn parse_rare_slot(
        &mut self,
        form: &'static Compiled,
        slot: usize,
        part: Option<&'static envisa_isa::desc::Part>,
        glued: bool,
        ops: &mut Ops,
    ) -> P<()> {
        let desc = &form.desc.slots[slot];
        let Some(kind) = active_kind(&desc.kind, |i| ops.int(i)) else { return Ok(()) };
        match kind {
            SlotKind::Field { enc, .. } => {
                self.parse_field(form, slot, None, enc, glued, ops)?;
            }
            SlotKind::Packed { .. } => match part {
                Some(p) => self.parse_field(form, slot, part, &p.enc, glued, ops)?,
                None => {
                    self.parse_field(form, slot, None, &Enc::Hex { max: u32::MAX }, glued, ops)?;
                }
            },
            SlotKind::Many(_) => self.many_slot(form, slot, ops)?,
            SlotKind::Count { max, .. } => {
                self.parse_field(form, slot, None, &Enc::Number { max: *max as u32 }, glued, ops)?;
            }
            kind => ops.list[slot] = self.element_of(form, kind, desc.role, desc.name.as_str(), slot)?,
        }
        Ok(())
    }

    /// An operand of a kind that is not a field.
    pub fn element_of(
        &mut self,
        form: &'static Compiled,
        kind: &SlotKind,
        role: Role,
        name: &'static str,
        operand: usize,
    ) -> P<(Operand, Span)> {
        match kind {
            SlotKind::Exec => self.exec(),
            SlotKind::Vector(c) => self.vector(*c, role, name),
            SlotKind::Raw { .. } => self.raw(form.bare_raw, name),
            SlotKind::Surface { .. } => self.handle(Class::Surface, kind.takes_address(), name),
            SlotKind::Sampler { .. } => self.handle(Class::Sampler, kind.takes_address(), name),
            SlotKind::Label(kind) => {
                let (label, span) = self.name_or_string("a label")?;
                let kind = match kind {
                    LabelKind::Block => LabelUse::Block,
                    _ if form.form.head == "fccall" => LabelUse::Fc,
                    _ => LabelUse::Subroutine,
                };
                self.pending.push(Pending { operand, what: Mention::Label { name: label, span, kind } });
                Ok((Operand::Label(0), span))
            }
            SlotKind::Str { .. } => {
                let (text, span) = self.name_or_string("a name or string")?;
                self.pending.push(Pending { operand, what: Mention::Str(text) });
                Ok((Operand::Str(0), span))
            }
            SlotKind::Field { enc, .. } => {
                self.skip_blanks();
                let start = self.pos;
                let v = self.value(form, name, enc, false)?;
                Ok((Operand::Int(v), self.since(start)))
            }
            _ => Err(self.missing_operand(name)),
        }
    }

    /// The variadic operands, to the end of the line or a closing parenthesis.
    fn many_slot(&mut self, form: &'static Compiled, slot: usize, ops: &mut Ops) -> P<()> {
        let desc = &form.desc.slots[slot];
        let SlotKind::Many(kind) = desc.kind else { return Ok(()) };
        let (min, max) = match form.count.map(|c| &form.desc.slots[c as usize].kind) {
            Some(SlotKind::Count { min, max, .. }) => (*min as usize, *max as usize),
            _ => (0, 255),
        };
        let start = self.pos;
        loop {
            if self.at_end() || self.peek() == b')' {
                break;
            }
            if matches!(kind, SlotKind::Label(_)) && self.eat_byte(b',') {
                continue;
            }
            let operand = ops.len + self.many.len();
            let element = self.element_of(form, kind, desc.role, desc.name.as_str(), operand)?;
            self.many.push(element);
            if self.many.len() > max {
                break;
            }
        }
        let n = self.many.len();
        if n < min || n > max {
            let span = Span::new(start as u32, self.pos as u32);
            let what = if n > max { "more than that" } else { "fewer" };
            let d = self
                .diag_label(
                    "E0407",
                    format!("`{}` takes {min} to {max} operands `{}`", form.form.head, desc.name),
                    span,
                    format!("these are {what}"),
                )
                .help(format!("the form is `{}`", usage(form)));
            return Err(self.report_and_give_up_line(d));
        }
        Ok(())
    }

    // ---- what the reference lets pass

    /// A mask where only a size counts: `oword_ld (M1, 2)`.
    #[cold]
    fn discarded_mask(&mut self) {
        let start = self.pos;
        let name = self.run();
        let known = std::str::from_utf8(name).ok().and_then(ExecMask::from_name).is_some();
        if known && self.eat_byte(b',') {
            let span = self.since(start);
            let d = self.warning_at("W0401", "execution mask has no effect here", span, "ignored");
            self.report_diagnostic(d);
        } else {
            self.pos = start;
        }
    }

    /// A suffix before the execution size that no step took.
    #[cold]
    fn stray_suffix(&mut self, form: &'static Compiled) -> P<()> {
        let start = self.pos;
        self.pos += 1;
        let name = self.run();
        let span = self.since(start);
        let shown = self.str_of(name).into_owned();
        let head = form.form.head;
        if name == b"sat" && form.dst.is_some() {
            let d =
                self.warning_at("W0401", format!("`{head}` does not saturate"), span, "`.sat` is ignored");
            self.report_diagnostic(d);
            self.skip_blanks();
            return Ok(());
        }
        if name.is_empty() {
            // The reference's dumper leaves a dot where a suffix is empty.
            self.skip_blanks();
            return Ok(());
        }
        let d = self
            .diag_label("E0403", format!("`{head}` has no suffix `.{shown}`"), span, "unknown suffix")
            .help(format!("the form is `{}`", usage(form)));
        Err(self.report_and_give_up_line(d))
    }

    #[cold]
    fn no_predicate(&mut self, form: &'static Compiled, start: usize) {
        let span = self.pred_span;
        let _ = start;
        let d = self
            .diag_label("E0404", format!("`{}` takes no predicate", form.form.head), span, "not allowed here")
            .help("for predicated execution, branch around it");
        let d = match form.op {
            Op::Min | Op::Max => d.note("the reference assembler reads the predicate and drops it"),
            _ => d,
        };
        self.report_diagnostic(d);
    }

    fn apply_saturation(&mut self, form: &'static Compiled, ops: &mut Ops) {
        let Some(dst) = form.dst else { return };
        if let Operand::General { modifier, .. } | Operand::Indirect { modifier, .. } =
            &mut ops.list[dst as usize].0
        {
            *modifier = Modifier::Sat;
        }
    }

    #[cold]
    fn left_over(&mut self, form: &'static Compiled) -> LineError {
        let (found, span) = self.found();
        let d = self
            .diag_label(
                "E0405",
                format!("expected the end of the line, found {found}"),
                span,
                if form.steps.is_empty() {
                    format!("`{}` takes no operands", form.form.head)
                } else {
                    format!("`{}` has no further operand", form.form.head)
                },
            )
            .help(format!("the form is `{}`", usage(form)));
        let d = match found.as_str() {
            "`;`" => d.help("statements end with their line, without `;`"),
            "`,`" => d.help("operands are separated by blanks, not by commas"),
            _ => d,
        };
        self.report_and_give_up_line(d)
    }

    #[cold]
    fn other_version(&mut self, form: &'static Compiled, head: &'s [u8]) -> LineError {
        let span = self.span_of(head);
        let (major, minor) = self.version;
        let v = form.desc.versions;
        let label = if v.from > self.version {
            format!("needs version {}.{}", v.from.0, v.from.1)
        } else {
            format!("ended with version {}.{}", v.to.0, v.to.1)
        };
        let d = self.diag_label(
            "E0401",
            format!("`{}` does not exist in version {major}.{minor}", form.form.head),
            span,
            label,
        );
        let d = match v.from > self.version {
            true => d.help(format!(
                "start the file with `.version {}.{}`; the released tools read 4.1 only",
                v.from.0, v.from.1
            )),
            false => d,
        };
        self.report_and_give_up_line(d)
    }

    #[cold]
    fn unknown_mnemonic(&mut self, head: &'s [u8], at: usize) -> LineError {
        if head.is_empty() {
            self.pos = at;
            return self.expected("an instruction");
        }
        let span = self.span_of(head);
        let shown = self.str_of(head).into_owned();
        let lower = shown.to_ascii_lowercase();
        if self.peek() == b':' {
            // An indented label: it complains about itself.
            self.pos = at;
            return self.label().err().unwrap_or(LineError);
        }
        let mut d =
            self.diag_label("E0401", format!("unknown instruction `{shown}`"), span, "not an instruction");
        if lower != shown && !self.forms.of_head(lower.as_bytes()).is_empty() {
            d = d.suggest("mnemonics are lower case", self.file, span, lower);
        } else if let Some(advice) = crate::foreign_mnemonics::advice_for_foreign_mnemonic(&lower) {
            d = d.help(advice);
        } else if let Some(near) = nearest(lower.as_bytes(), self.forms.mnemonics().map(str::as_bytes)) {
            let near = near.to_owned();
            let brief = self
                .forms
                .of_head(near.as_bytes())
                .first()
                .map_or("", |&i| self.forms.at(i).desc.brief)
                .to_owned();
            let text = if brief.is_empty() {
                "a similar instruction is".to_owned()
            } else {
                format!("a similar instruction is `{near}`: {brief}")
            };
            d = d.suggest(text, self.file, span, near);
        } else if let Some(decl) = self.names.get(head) {
            d = d.note(format!("`{shown}` is {}; a line starts with the instruction", decl.class.describe()));
        } else {
            d = d.help("`envisa explain` lists all instructions");
        }
        self.report_and_give_up_line(d)
    }

    // ---- keeping

    /// Appends the instruction that was read.
    #[inline]
    fn append_instruction(
        &mut self,
        form: &'static Compiled,
        ops: &mut Ops,
        start: usize,
        pred: Option<Pred>,
    ) -> P<()> {
        let span = self.since(start);
        match form.op {
            Op::Mov => self.mov_of_predicate(form, ops),
            _ => crate::quirks::apply_quirks(self, form, ops, pred),
        }
        if self.bad_line {
            return Ok(());
        }
        if !self.pending.is_empty() {
            self.resolve_labels_and_strings(ops)?;
        }
        let first = self.obj.operands.len() as u32;
        // Room is made once for each, not looked at operand by operand.
        let all = &ops.list[..ops.len];
        self.obj.operands.extend(all.iter().map(|(o, _)| *o));
        self.obj.operand_spans.extend(all.iter().map(|(_, s)| *s));
        let mut len = ops.len;
        if !self.many.is_empty() {
            for &(o, s) in &self.many {
                self.obj.operands.push(o);
                self.obj.operand_spans.push(s);
            }
            len += self.many.len();
        }
        self.obj.insts.push(envisa_isa::Inst { op: form.op, len: len as u16, first, span });
        if self.peek() == b'/' && self.peek_at(2) == b'@' {
            return self.parse_annotation(self.obj.insts.len() - 1);
        }
        Ok(())
    }

    /// Enters mentioned labels and strings into the pools, in text order.
    fn resolve_labels_and_strings(&mut self, ops: &mut Ops) -> P<()> {
        for p in std::mem::take(&mut self.pending) {
            let operand = match p.what {
                Mention::Label { name, span, kind } => Operand::Label(self.label_id(name, kind, span)?),
                Mention::Str(s) => Operand::Str(self.intern_string(&s)),
            };
            if p.operand < ops.len {
                ops.list[p.operand].0 = operand;
            } else if let Some(m) = self.many.get_mut(p.operand - ops.len) {
                m.0 = operand;
            }
        }
        Ok(())
    }

    /// A predicate moves as a whole: the reference writes `(M1_NM, 1)` without predicate or saturation.
    #[inline]
    fn mov_of_predicate(&mut self, form: &'static Compiled, ops: &mut Ops) {
        let source = ops.len - 1;
        if !matches!(ops.list[source].0, Operand::Predicate(_)) {
            return;
        }
        let (Some(exec), Some(pred)) = (form.exec, form.pred) else { return };
        let (exec, pred) = (exec as usize, pred as usize);
        if ops.list[exec].0 != Operand::Exec(Exec::SCALAR_NM) {
            let span = ops.list[exec].1;
            let d = self
                .warning_at("W0401", "a predicate is moved as a whole", span, "taken as `(M1_NM, 1)`")
                .note("size, mask and predicate of such a move have no effect");
            self.report_diagnostic(d);
        }
        ops.list[exec].0 = Operand::Exec(Exec::SCALAR_NM);
        ops.list[pred].0 = Operand::Pred(Pred::NONE);
        if let Some(d) = form.dst
            && let Operand::General { modifier, .. } = &mut ops.list[d as usize].0
        {
            *modifier = Modifier::None;
        }
    }
}

/// The meaning of a slot's or part's values.
pub(crate) fn enc_of(
    desc: &'static InstDesc,
    slot: usize,
    part: Option<&'static envisa_isa::desc::Part>,
) -> Option<&'static Enc> {
    match (part, &desc.slots[slot].kind) {
        (Some(p), _) => Some(&p.enc),
        (None, SlotKind::Field { enc, .. }) => Some(enc),
        _ => None,
    }
}

/// How an instruction is written, for people.
pub(crate) fn usage(form: &Compiled) -> String {
    let mut out = String::new();
    if form.pred_text {
        out.push_str("[(P)] ");
    }
    out.push_str(form.form.head);
    for step in &form.steps {
        match *step {
            Step::Glued(t) => out.push_str(t),
            Step::Word(t) => {
                out.push(' ');
                out.push_str(t);
            }
            Step::Punct(b'(') => out.push_str(" ("),
            Step::Punct(b) => out.push(b as char),
            Step::Slot { slot, part, glued } => {
                let s = &form.desc.slots[slot as usize];
                let text = match (&s.kind, part) {
                    (SlotKind::Exec, _) => "(MASK, SIZE)",
                    (SlotKind::Field { enc: Enc::ExecLike(_), .. }, _) => "(MASK, SIZE)",
                    (SlotKind::Field { enc: Enc::Channels, .. }, _) => "RGBA",
                    (_, Some(p)) => p.name.as_str(),
                    _ => s.name.as_str(),
                };
                if !glued {
                    out.push(' ');
                }
                out.push_str(text);
            }
            Step::OptSuffix { slot, part } => {
                let name = part.map_or(form.desc.slots[slot as usize].name.as_str(), |p| p.name.as_str());
                out.push_str(&format!("[.{name}]"));
            }
            Step::Flag { slot, .. } if !form.desc.slots[slot as usize].is_in((4, 1)) => {}
            Step::Flag { name, .. } => out.push_str(&format!("[.{name}]")),
            Step::Redundant(_) => {}
            Step::Sat => out.push_str("[.sat]"),
            Step::Many(slot) => out.push_str(&format!(" {}…", form.desc.slots[slot as usize].name)),
            Step::Composite(Composite::Paired) => {}
            Step::Composite(composite) => {
                if !composite.is_suffix() {
                    out.push(' ');
                }
                out.push_str(crate::lsc::describe(composite));
            }
        }
    }
    out
}
