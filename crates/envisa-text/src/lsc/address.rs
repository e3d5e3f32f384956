//! Addresses of LSC messages: the surface or memory model, offsets, blocks and texels.

use envisa_isa::{Operand, SlotName, Span, Type};

use crate::instruction_operands::Ops;
use crate::operand::or_list;
use crate::parser::{P, Parser};
use crate::template::Compiled;

impl<'s> Parser<'s> {
    /// The address model before `[`: nothing, `flat`, `arg`, `bti(…)`, `ss(…)`, `bss(…)`.
    pub(super) fn lsc_model(
        &mut self,
        form: &'static Compiled,
        kind: &'s [u8],
        ops: &mut Ops,
        flat: bool,
    ) -> P<()> {
        let span = if kind.is_empty() { Span::NONE } else { self.span_of(kind) };
        let code = match kind {
            b"" if flat => 1,
            b"flat" => 1,
            b"arg" => 5,
            b"bss" if form.slot(SlotName::Surface).is_some() => 2,
            b"ss" if form.slot(SlotName::Surface).is_some() => 3,
            b"bti" if form.slot(SlotName::Surface).is_some() => 4,
            b"surf" if form.slot(SlotName::Surface).is_some() && self.version >= (4, 2) => 6,
            _ => {
                let mut legal: Vec<&str> = vec!["bti(", "ss(", "bss("];
                if flat {
                    legal.insert(0, "flat[");
                    legal.push("arg[");
                }
                if self.version >= (4, 2) {
                    legal.push("surf(");
                }
                let (found, span) = match kind {
                    b"" => self.found(),
                    k => (format!("`{}`", self.str_of(k)), span),
                };
                let mut d = self.diag_label(
                    "E0403",
                    format!("{found} is not an address model"),
                    span,
                    format!("expected {}", or_list(&legal)),
                );
                if self.peek() == b':' {
                    d = d.help("this instruction has its address first, then its data");
                }
                return Err(self.report_and_give_up_line(d));
            }
        };
        self.set_slot_by_name(form, ops, SlotName::AddrType, Operand::Int(code), span);
        self.skip_blanks();
        let based = code == 1 && flat && self.peek() == b'(' && form.slot(SlotName::Surface).is_some();
        if based {
            let at = self.pos as u32;
            self.needs_42("a base of flat addresses", Span::new(at, at + 1))?;
        }
        let surface = if matches!(code, 2..=4 | 6) || based {
            self.expect(b'(')?;
            let s = self.lsc_scalar(SlotName::Surface, true)?;
            if !based && self.eat_byte(b',') {
                self.surface_index(form, ops)?;
            }
            self.expect(b')')?;
            s
        } else {
            (Operand::Imm { ty: Type::Ud, bits: 0 }, Span::NONE)
        };
        self.set_slot_by_name(form, ops, SlotName::Surface, surface.0, surface.1);
        Ok(())
    }

    /// The index behind a surface.
    fn surface_index(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        self.skip_blanks();
        let start = self.pos;
        let n = self.expr()?;
        let span = self.since(start);
        self.needs_42("an index of the surface", span)?;
        match u32::try_from(n) {
            Ok(n) if n < 32 && form.slot(SlotName::SurfaceIndex).is_some() => {
                self.set_slot_by_name(form, ops, SlotName::SurfaceIndex, Operand::Int(n), span);
                Ok(())
            }
            _ => {
                let d =
                    self.diag_label("E0409", "index of the surface is out of range", span, "must be 0 to 31");
                Err(self.report_and_give_up_line(d))
            }
        }
    }

    /// `+4` or `-(1 << 4)` behind a coordinate or an address; 0 where nothing stands.
    fn immediate_offset(&mut self) -> P<(i64, Span)> {
        self.skip_blanks();
        let start = self.pos;
        let v = match self.peek() {
            b'+' => {
                self.pos += 1;
                self.expr()?
            }
            b'-' => {
                self.pos += 1;
                self.primary(0)?.saturating_neg()
            }
            _ => 0,
        };
        Ok((v, self.since(start)))
    }

    /// Puts an offset that 4.2 brought into its field of 32 bits.
    fn put_offset(
        &mut self,
        form: &'static Compiled,
        ops: &mut Ops,
        name: SlotName,
        (v, span): (i64, Span),
    ) -> P<()> {
        let Ok(v) = i32::try_from(v) else {
            let d = self.diag_label(
                "E0409",
                "immediate offset is out of range",
                span,
                "must fit 32 bits, signed",
            );
            return Err(self.report_and_give_up_line(d));
        };
        if v != 0 {
            self.needs_42("an offset of a coordinate", span)?;
            self.set_slot_by_name(form, ops, name, Operand::Int(v as u32), span);
        }
        Ok(())
    }

    /// `:a64` after an address.
    fn lsc_addr_size(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        self.expect_colon("the size of the address, `:a16`, `:a32` or `:a64`")?;
        let word = self.run();
        let code = match word {
            b"a16" => 1,
            b"a32" => 2,
            b"a64" => 3,
            b"a32u" if self.version >= (4, 2) => 4,
            b"a32s" if self.version >= (4, 2) => 5,
            _ => {
                let (found, span) = match word {
                    b"" => self.found(),
                    w => (format!("`{}`", self.str_of(w)), self.span_of(w)),
                };
                let d = self.diag_label(
                    "E0403",
                    format!("{found} is not the size of an address"),
                    span,
                    "expected a16, a32 or a64",
                );
                return Err(self.report_and_give_up_line(d));
            }
        };
        let span = self.span_of(word);
        self.set_slot_by_name(form, ops, SlotName::AddrSize, Operand::Int(code), span);
        Ok(())
    }

    /// `flat[2*V34+0x100]:a64`.
    pub(super) fn lsc_addr(&mut self, form: &'static Compiled, ops: &mut Ops, strided: bool) -> P<()> {
        let kind = self.run_here();
        self.lsc_model(form, kind, ops, true)?;
        self.expect(b'[')?;
        self.skip_blanks();
        let start = self.pos;
        let mut scale = 1i64;
        while self.peek().is_ascii_digit()
            || self.peek() == b'('
            || self.src[self.pos..].starts_with(b"%sizeof")
        {
            let factor = self.primary(0)?;
            scale = scale.checked_mul(factor).unwrap_or(-1);
            self.expect(b'*')?;
            self.skip_blanks();
        }
        let scale_span = self.since(start);
        let Ok(scale) = u16::try_from(scale) else {
            let d = self.diag_label("E0409", "scale is out of range", scale_span, "must be 0 to 65535");
            return Err(self.report_and_give_up_line(d));
        };
        self.set_slot_by_name(form, ops, SlotName::ImmScale, Operand::Int(scale as u32), scale_span);
        self.lsc_addr_reg(form, ops)?;
        let (offset, span) = self.immediate_offset()?;
        let Ok(offset) = i32::try_from(offset) else {
            let d = self.diag_label(
                "E0409",
                "immediate offset is out of range",
                span,
                "must fit 32 bits, signed",
            );
            return Err(self.report_and_give_up_line(d));
        };
        self.set_slot_by_name(form, ops, SlotName::ImmOffset, Operand::Int(offset as u32), span);
        if strided && self.eat_byte(b',') {
            let (stride, span) = self.lsc_vector(SlotName::Stride)?;
            self.set_slot_by_name(form, ops, SlotName::Stride, stride, span);
        }
        self.expect(b']')?;
        self.lsc_addr_size(form, ops)
    }

    /// `flat[V34]:a64`.
    pub(super) fn lsc_addr_plain(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        let kind = self.run_here();
        self.lsc_model(form, kind, ops, true)?;
        self.expect(b'[')?;
        self.lsc_addr_reg(form, ops)?;
        self.expect(b']')?;
        self.lsc_addr_size(form, ops)
    }

    /// The register of an address.
    fn lsc_addr_reg(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        let (addr, span) = self.lsc_reg(SlotName::Addr)?;
        if addr == Operand::RAW_NULL && !self.bad_line {
            let d = self.diag_label("E0411", "address is `%null`", span, "expected a variable");
            return Err(self.report_and_give_up_line(d));
        }
        self.set_slot_by_name(form, ops, SlotName::Addr, addr, span);
        Ok(())
    }

    /// `flat[base,width,height,pitch,x,y]`, from 4.2 on with offsets behind x and y, or `flat[V34+(x,y)]`.
    pub(super) fn lsc_addr2d(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        let word = self.run_here();
        if word != b"flat" {
            self.pos -= word.len();
            return Err(self.expected("`flat[`"));
        }
        self.expect(b'[')?;
        const PARTS: [SlotName; 6] = [
            SlotName::SurfaceBase,
            SlotName::SurfaceWidth,
            SlotName::SurfaceHeight,
            SlotName::SurfacePitch,
            SlotName::X,
            SlotName::Y,
        ];
        for (i, name) in PARTS.into_iter().enumerate() {
            self.skip_blanks();
            if i == 1 && self.peek() == b'+' {
                return self.lsc_payload2d(form, ops);
            }
            if i > 0 {
                self.expect(b',')?;
            }
            let (operand, span) = self.lsc_vector(name)?;
            self.set_slot_by_name(form, ops, name, operand, span);
            if i >= 4 {
                let offset = self.immediate_offset()?;
                self.put_offset(
                    form,
                    ops,
                    if i == 4 { SlotName::XOffset } else { SlotName::YOffset },
                    offset,
                )?;
            }
        }
        self.expect(b']')
    }

    /// `+(x,y)]` behind a register that holds everything else of a block's address.
    fn lsc_payload2d(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        let start = self.pos;
        self.expect(b'+')?;
        self.expect(b'(')?;
        for (i, name) in [SlotName::XOffset, SlotName::YOffset].into_iter().enumerate() {
            if i > 0 {
                self.expect(b',')?;
            }
            self.skip_blanks();
            let at = self.pos;
            let v = self.expr()?;
            let span = self.since(at);
            self.put_offset(form, ops, name, (v, span))?;
        }
        self.expect(b')')?;
        let span = self.since(start);
        self.needs_42("the address of a block in one register", span)?;
        self.set_slot_by_name(form, ops, SlotName::Payload, Operand::Int(1), span);
        for name in [
            SlotName::SurfaceWidth,
            SlotName::SurfaceHeight,
            SlotName::SurfacePitch,
            SlotName::X,
            SlotName::Y,
        ] {
            self.set_slot_by_name(form, ops, name, Operand::Imm { ty: Type::Ud, bits: 0 }, Span::NONE);
        }
        self.expect(b']')
    }

    /// `bti(0x6)[V32,V33]:a32`; what is left out is `%null`.
    pub(super) fn lsc_typed_addr(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        let kind = self.run_here();
        self.lsc_model(form, kind, ops, false)?;
        self.expect(b'[')?;
        for (i, name) in [SlotName::U, SlotName::V, SlotName::R, SlotName::Lod].into_iter().enumerate() {
            if i > 0 && !self.eat_byte(b',') {
                break;
            }
            let (operand, span) = self.lsc_reg(name)?;
            self.set_slot_by_name(form, ops, name, operand, span);
            if let Some(offset) = [SlotName::UOffset, SlotName::VOffset, SlotName::ROffset].get(i) {
                let given = self.immediate_offset()?;
                self.put_offset(form, ops, *offset, given)?;
            }
        }
        self.expect(b']')?;
        self.lsc_addr_size(form, ops)
    }

    /// `bti(0x6)[V32(0,0)+4,0x0]`.
    pub(super) fn lsc_typed_addr2d(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        let kind = self.run_here();
        self.lsc_model(form, kind, ops, false)?;
        self.expect(b'[')?;
        for (i, (name, offset)) in
            [(SlotName::X, SlotName::XOffset), (SlotName::Y, SlotName::YOffset)].into_iter().enumerate()
        {
            if i > 0 {
                self.expect(b',')?;
            }
            let (operand, span) = self.lsc_vector(name)?;
            self.set_slot_by_name(form, ops, name, operand, span);
            let given = self.immediate_offset()?;
            self.put_offset(form, ops, offset, given)?;
        }
        self.expect(b']')
    }
}
