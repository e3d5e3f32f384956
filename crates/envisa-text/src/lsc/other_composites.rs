//! Reads what is put together of several fields and is not of the LSC.

use super::*;
use envisa_isa::{PartName, SlotName};

impl<'s> Parser<'s> {
    /// `.EISCRL1`, any of them in this order.
    pub(super) fn fence_flags(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        self.skip_blanks();
        if self.peek() != b'.' {
            return Ok(());
        }
        let start = self.pos;
        self.pos += 1;
        let word = self.run();
        let span = self.since(start);
        let mut rest = word;
        for (text, part) in [
            (&b"E"[..], PartName::Commit),
            (b"I", PartName::Instruction),
            (b"S", PartName::Sampler),
            (b"C", PartName::Constant),
            (b"R", PartName::ReadWrite),
            (b"L1", PartName::L1),
        ] {
            if let Some(tail) = rest.strip_prefix(text) {
                rest = tail;
                self.put_part(form, ops, SlotName::Mask, part, 1, span);
            }
        }
        if !rest.is_empty() {
            let d = self
                .diag_label("E0403", "unknown flags of a fence", span, "expected letters of `EISCRL1`, in this order")
                .note("E: commit, I: instruction, S: sampler, C: constant, R: read-write caches, L1: the L1 cache");
            return Err(self.report_and_give_up_line(d));
        }
        Ok(())
    }

    pub(super) fn put_part(
        &mut self,
        form: &'static Compiled,
        ops: &mut Ops,
        slot: SlotName,
        part: PartName,
        v: u32,
        span: Span,
    ) {
        let Some(i) = form.slot(slot) else { return };
        if let SlotKind::Packed { parts, .. } = form.desc.slots[i].kind
            && let Some(p) = parts.iter().find(|p| p.name == part)
        {
            ops.set(i, Some(p), v, span);
        }
    }

    /// `V33`, `A0`, `P1`.
    pub(super) fn lifetime_var(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        let name = self.var_name();
        if name.is_empty() {
            return Err(self.missing_operand("variable"));
        }
        let span = self.span_of(name);
        let decl = self.find_declaration(name, None)?;
        let class = match decl.class {
            Class::General | Class::Poison => 0,
            Class::Address => 1,
            Class::Predicate => 2,
            _ => {
                return Err(self.wrong_class(
                    name,
                    decl,
                    "a general variable, address variable or predicate",
                ));
            }
        };
        self.put_part(form, ops, SlotName::Properties, PartName::Class, class, span);
        self.set_slot_by_name(form, ops, SlotName::Variable, Operand::Int(decl.id), span);
        Ok(())
    }

    /// The shared function of RAW_SENDG: a number, or a name.
    pub(super) fn sendg_sfid(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        const NAMES: [(&str, u32); 10] = [
            ("null", 0x0),
            ("smpl", 0x2),
            ("gtwy", 0x3),
            ("rc", 0x5),
            ("urb", 0x6),
            ("btd", 0x7),
            ("rta", 0x8),
            ("tgm", 0xd),
            ("ugm", 0xe),
            ("slm", 0xf),
        ];
        let start = self.pos;
        let word = if is_start(self.peek()) { self.run() } else { b"" };
        let code = match NAMES.iter().find(|n| n.0.as_bytes() == word) {
            Some(n) => i64::from(n.1),
            None if word.is_empty() => self.primary(0)?,
            None => -1,
        };
        let span = self.since(start);
        match u32::try_from(code) {
            Ok(n) => {
                self.set_slot_by_name(form, ops, SlotName::Sfid, Operand::Int(n), span);
                Ok(())
            }
            Err(_) => {
                let names: Vec<&str> = NAMES.iter().map(|n| n.0).collect();
                let d = self
                    .diag_label("E0403", "unknown shared function", span, "expected its number or name")
                    .help(format!("names are {}", names.join(" ")));
                Err(self.report_and_give_up_line(d))
            }
        }
    }

    /// A descriptor of 64 bits, which two fields hold.
    pub(super) fn descriptor(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        self.skip_blanks();
        let start = self.pos;
        let v = self.primary(0)? as u64;
        let span = self.since(start);
        self.set_slot_by_name(form, ops, SlotName::DescLo, Operand::Int(v as u32), span);
        self.set_slot_by_name(form, ops, SlotName::DescHi, Operand::Int((v >> 32) as u32), span);
        Ok(())
    }

    /// The paired surface of a sampler message, from 4.2 on.
    pub(super) fn paired_surface(&mut self) -> P<()> {
        if self.version < (4, 2) {
            return Ok(());
        }
        let (operand, span) = self.raw(false, "paired surface")?;
        if operand == Operand::RAW_NULL {
            return Ok(());
        }
        let d = self
            .diag_label("E0402", "expected the paired surface, `%null.0`", span, "this is another operand")
            .note("from 4.2 on it stands between result and parameters; others than `%null.0` are not supported");
        Err(self.report_and_give_up_line(d))
    }

    /// `.<A><RTI>…`, sets parts of `mode` named after the letters.
    pub(super) fn rt_mode(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        self.skip_blanks();
        if self.peek() != b'.' {
            return Ok(());
        }
        self.pos += 1;
        while self.peek() == b'<' {
            let start = self.pos;
            self.pos += 1;
            let word = self.run();
            self.expect(b'>')?;
            let span = self.since(start);
            let Some(i) = form.slot(SlotName::Mode) else { return Ok(()) };
            let SlotKind::Packed { parts, .. } = form.desc.slots[i].kind else { return Ok(()) };
            let Some(p) = parts.iter().find(|p| p.name.as_str().as_bytes() == word) else {
                let known: Vec<String> = parts.iter().map(|p| format!("<{}>", p.name)).collect();
                let d = self
                    .diag_label("E0403", "unknown option of a render-target write", span, "not an option")
                    .help(format!("options are {}", known.join(" ")));
                return Err(self.report_and_give_up_line(d));
            };
            ops.set(i, Some(p), 1, span);
        }
        Ok(())
    }
}
