//! Composites: operands of LSC and other messages that are written together but stored apart.

mod address;
mod other_composites;

use envisa_isa::desc::{Composite, Enc, SlotKind, Value};
use envisa_isa::{Operand, Region, SlotName, Span, StateClass, Type};

use crate::instruction_operands::Ops;
use crate::name_bytes::is_start;
use crate::names::Class;
use crate::parser::{P, Parser};
use crate::template::{Compiled, Step};

impl<'s> Parser<'s> {
    /// Reads a composite.
    pub fn parse_composite(&mut self, form: &'static Compiled, composite: Composite, ops: &mut Ops) -> P<()> {
        match composite {
            Composite::LscCache => self.lsc_cache(form, ops),
            Composite::LscData => self.lsc_data(form, ops),
            Composite::LscData2d => self.lsc_data2d(form, ops),
            Composite::LscData2dTyped => self.lsc_data2d_typed(form, ops),
            Composite::LscAddr => self.lsc_addr(form, ops, false),
            Composite::LscAddrStrided => self.lsc_addr(form, ops, true),
            Composite::LscAddrPlain => self.lsc_addr_plain(form, ops),
            Composite::LscAddr2d => self.lsc_addr2d(form, ops),
            Composite::LscTypedAddr => self.lsc_typed_addr(form, ops),
            Composite::LscTypedAddr2d => self.lsc_typed_addr2d(form, ops),
            Composite::LscSurface => {
                let kind = self.run_here();
                self.lsc_model(form, kind, ops, false)
            }
            Composite::FenceFlags => self.fence_flags(form, ops),
            Composite::LifetimeVar => self.lifetime_var(form, ops),
            Composite::RtMode => self.rt_mode(form, ops),
            Composite::Paired => self.paired_surface(),
            Composite::SendgSfid => self.sendg_sfid(form, ops),
            Composite::Desc64 => self.descriptor(form, ops),
        }
    }

    /// Demands a colon with what it introduces.
    fn expect_colon(&mut self, what: &str) -> P<()> {
        if !self.eat_byte(b':') {
            return Err(self.expected(what));
        }
        self.skip_blanks();
        Ok(())
    }

    fn run_here(&mut self) -> &'s [u8] {
        self.skip_blanks();
        self.run()
    }

    /// Sets a slot of the row by name; rows have the slots their composites name.
    fn set_slot_by_name(
        &mut self,
        form: &'static Compiled,
        ops: &mut Ops,
        name: SlotName,
        operand: Operand,
        span: Span,
    ) {
        if let Some(i) = form.slot(name) {
            ops.list[i] = (operand, span);
        }
    }

    /// `.l1[.l3]`, both optional, or from 4.2 on `.l1.l2.l3`.
    fn lsc_cache(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        // Other suffixes may follow.
        let at = form.steps.iter().position(|s| matches!(s, Step::Composite(Composite::LscCache)));
        let after = &form.steps[at.map_or(0, |i| i + 1)..];
        let more = matches!(after.first(), Some(Step::Glued(_)));
        let flags = |word: &[u8]| {
            after.iter().any(|s| matches!(s, Step::Flag { name, .. } if name.as_bytes() == word))
        };
        let levels = if form.slot(SlotName::L2).is_some() { 3 } else { 2 };
        let mut given: Vec<(u32, Span)> = Vec::with_capacity(3);
        while given.len() < levels {
            self.skip_blanks();
            if self.peek() != b'.' {
                break;
            }
            let start = self.pos;
            self.pos += 1;
            let word = self.run();
            let listed = |word: &[u8]| match form.slot(SlotName::L1).map(|i| form.desc.slots[i].kind) {
                Some(SlotKind::Field { enc: Enc::Values(values), .. }) => {
                    values.iter().find(|v| v.text.as_bytes() == word).map(|v| v.code)
                }
                _ => None,
            };
            let code: u32 = match (word, listed(word)) {
                (b"cc", _) if self.version < (4, 2) => {
                    let span = self.since(start);
                    let d = self
                        .warning_at("W0401", "4.1 has no caching option `cc`", span, "taken as `.ri`")
                        .note("the reference assembler does the same without a warning");
                    self.report_diagnostic(d);
                    listed(b"ri").unwrap_or(0)
                }
                (_, Some(code)) => code,
                _ if more || flags(word) => {
                    self.pos = start;
                    break;
                }
                _ if given.len() == 2 => {
                    self.pos = start;
                    break;
                }
                _ => {
                    self.pos = start + 1;
                    let (found, span) = self.found();
                    let d = self.diag_label(
                        "E0403",
                        format!("{found} is not a caching option"),
                        span,
                        "expected df, uc, ca, wb, wt, st or ri",
                    );
                    return Err(self.report_and_give_up_line(d));
                }
            };
            let span = self.since(start);
            if given.len() == 2 {
                self.needs_42("a third level of caching", span)?;
            }
            given.push((code, span));
        }
        let mut put = |name: SlotName, code: u32, span: Span| {
            if let Some(slot) = form.slot(name) {
                ops.set(slot, None, code, span);
            }
        };
        match given[..] {
            [] => {}
            [(l1, at)] => put(SlotName::L1, l1, at),
            [(l1, at), (l3, at3)] => {
                put(SlotName::L1, l1, at);
                put(SlotName::L3, l3, at3);
            }
            [(l1, at), (l2, at2), (l3, at3), ..] => {
                put(SlotName::L1, l1, at);
                put(SlotName::L2, l2 + 1, at2);
                put(SlotName::L3, l3, at3);
            }
        }
        Ok(())
    }

    /// Refuses what 4.2 brought in texts of 4.1.
    fn needs_42(&mut self, what: &str, span: Span) -> P<()> {
        if self.version >= (4, 2) {
            return Ok(());
        }
        let (major, minor) = self.version;
        let d = self
            .diag_label(
                "E0412",
                format!("{what} does not exist in version {major}.{minor}"),
                span,
                "needs version 4.2",
            )
            .help("start the file with `.version 4.2`; the released tools read 4.1 only");
        Err(self.report_and_give_up_line(d))
    }

    /// `V32` or `V32.64`, in brackets or before a shape.
    fn lsc_reg(&mut self, what: SlotName) -> P<(Operand, Span)> {
        self.raw(true, what.as_str())
    }

    /// Code of `d32` and the like at the start of a shape; gives the rest.
    fn lsc_size(&mut self, form: &Compiled) -> P<u32> {
        if matches!(self.peek(), b'd' | b'u') {
            let rest = &self.src[self.pos + 1..];
            // The longest that fits: `d16c32` is not `d16`.
            let fits = data_sizes(form).iter().filter(|v| rest.starts_with(&v.text.as_bytes()[1..]));
            if let Some(size) = fits.max_by_key(|v| v.text.len()) {
                let text = size.text;
                if size.code != 1 || !rest.get(1).is_some_and(u8::is_ascii_digit) {
                    self.pos += text.len();
                    return Ok(size.code);
                }
            }
        }
        let (found, span) = self.found();
        let d = self.diag_label(
            "E0403",
            format!("{found} is not the shape of data"),
            span,
            "expected d8, d16, d32, d64, d8c32, d16c32 or d16c32h",
        );
        Err(self.report_and_give_up_line(d))
    }

    /// `V32:d32x4t`, `V32:d32.xz`.
    fn lsc_data(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        let Some(data) = form.desc.lsc_data_slot() else { return Ok(()) };
        ops.list[data] = self.lsc_reg(form.desc.slots[data].name)?;
        self.expect_colon("the shape of the data, as `:d32`")?;
        let start = self.pos;
        let size = self.lsc_size(form)?;
        let quad = form
            .slot(SlotName::ChMask)
            .is_some_and(|i| matches!(form.desc.slots[i].kind, SlotKind::Field { enc: Enc::Hex { .. }, .. }));
        let mut order = 1;
        let code;
        if self.peek() == b'.' {
            self.pos += 1;
            let at = self.pos;
            let word = self.run();
            let mut mask = 0u32;
            for &b in word {
                let bit = match b {
                    b'x' => 1,
                    b'y' => 2,
                    b'z' => 4,
                    b'w' => 8,
                    _ => 0,
                };
                if bit == 0 || mask >= bit {
                    mask = 0;
                    break;
                }
                mask |= bit;
            }
            let span = self.since(at);
            if mask == 0 {
                let d = self.diag_label(
                    "E0403",
                    "not a set of channels",
                    Span::new(span.start, span.end.max(span.start + 1)),
                    "expected letters of `xyzw`, in this order",
                );
                return Err(self.report_and_give_up_line(d));
            }
            if !quad && mask != 1 {
                let d = self
                    .diag_label("E0403", format!("`{}` takes no channels", form.form.head), span, "")
                    .help("write the number of elements, as in `:d32x2`; channels belong to the `_quad` messages");
                return Err(self.report_and_give_up_line(d));
            }
            code = mask;
        } else {
            if quad {
                let at = self.pos as u32;
                let d = self
                    .diag_label(
                        "E0403",
                        format!("`{}` lacks its channels", form.form.head),
                        Span::new(start as u32, at),
                        "expected `.xyzw` or a part of it",
                    )
                    .suggest("for all four, write", self.file, (at, at), ".xyzw");
                return Err(self.report_and_give_up_line(d));
            }
            code = self.lsc_elems()?;
            if self.peek() == b't' {
                self.pos += 1;
                order = 2;
            }
        }
        if crate::name_bytes::is_ident(self.peek()) {
            let rest_start = self.pos;
            self.run();
            let span = self.since(rest_start);
            let d =
                self.diag_label("E0403", "malformed shape of data", span, "expected `xN`, `t` or nothing");
            return Err(self.report_and_give_up_line(d));
        }
        let span = self.since(start);
        self.set_slot_by_name(form, ops, SlotName::DataSize, Operand::Int(size), span);
        self.set_slot_by_name(form, ops, SlotName::DataOrder, Operand::Int(order), span);
        self.set_slot_by_name(form, ops, SlotName::DataElems, Operand::Int(code), span);
        // The reference leaves the copy out of strided messages.
        let copy = if form.slot(SlotName::Stride).is_some() { 0 } else { code };
        self.set_slot_by_name(form, ops, SlotName::ChMask, Operand::Int(copy), span);
        Ok(())
    }

    /// `x4`, or nothing for 1; gives the code.
    fn lsc_elems(&mut self) -> P<u32> {
        if self.peek() != b'x' {
            return Ok(1);
        }
        self.pos += 1;
        let n = self.number()?;
        let code = n.and_then(|n| match n.value {
            1 => Some(1),
            2 => Some(2),
            3 => Some(3),
            4 => Some(4),
            8 => Some(5),
            16 => Some(6),
            32 => Some(7),
            64 => Some(8),
            _ => None,
        });
        match (code, n) {
            (Some(c), _) => Ok(c),
            (None, n) => {
                let span = n.map_or(Span::new(self.pos as u32, self.pos as u32 + 1), |n| n.span);
                let d = self.diag_label(
                    "E0403",
                    "illegal number of elements at each address",
                    span,
                    "expected 1, 2, 3, 4, 8, 16, 32 or 64",
                );
                Err(self.report_and_give_up_line(d))
            }
        }
    }

    /// `V32:d16.2x16x8nt`: blocks, width, height, order, VNNI.
    fn lsc_data2d(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        let Some(data) = form.desc.lsc_data_slot() else { return Ok(()) };
        ops.list[data] = self.lsc_reg(form.desc.slots[data].name)?;
        self.expect_colon("the shape of the block, as `:d16.2x16x8nn`")?;
        let start = self.pos;
        let size = self.lsc_size(form)?;
        if self.peek() != b'.' {
            let at = self.pos as u32;
            let d = self
                .diag_label(
                    "E0403",
                    "block has no dimensions",
                    Span::new(start as u32, at),
                    "expected `.WxH`",
                )
                .help("write `.2x16x8nn`: blocks, width, height, order and VNNI");
            return Err(self.report_and_give_up_line(d));
        }
        self.pos += 1;
        let mut dims = [0u32; 3];
        let mut n = 0;
        loop {
            let Some(v) = self.number()? else { return Err(self.expected("a dimension of the block")) };
            dims[n] = match u32::try_from(v.value) {
                Ok(x) if (1..=0xffff).contains(&x) => x,
                _ => {
                    let d =
                        self.diag_label("E0409", "dimension is out of range", v.span, "must be 1 to 65535");
                    return Err(self.report_and_give_up_line(d));
                }
            };
            n += 1;
            if n == 3 || self.peek() != b'x' {
                break;
            }
            self.pos += 1;
        }
        let [blocks, width, height] = match n {
            2 => [1, dims[0], dims[1]],
            3 => dims,
            _ => return Err(self.expected("`x` and the height of the block")),
        };
        if blocks > 255 {
            let span = self.since(start);
            let d = self.diag_label("E0409", "too many blocks", span, "at most 255");
            return Err(self.report_and_give_up_line(d));
        }
        let mut letters = [false; 2];
        for l in &mut letters {
            match self.peek() {
                b'n' => {}
                b't' => *l = true,
                _ => break,
            }
            self.pos += 1;
        }
        if crate::name_bytes::is_ident(self.peek()) {
            return Err(self.expected("`n` or `t` for order and VNNI"));
        }
        let span = self.since(start);
        for (name, v) in [
            (SlotName::DataSize, size),
            (SlotName::DataOrder, 1 + u32::from(letters[0])),
            (SlotName::Blocks, blocks),
            (SlotName::Width, width),
            (SlotName::Height, height),
            (SlotName::Vnni, u32::from(letters[1])),
        ] {
            self.set_slot_by_name(form, ops, name, Operand::Int(v), span);
        }
        Ok(())
    }

    /// `V32:64x2`: width and height of a typed block.
    fn lsc_data2d_typed(&mut self, form: &'static Compiled, ops: &mut Ops) -> P<()> {
        let Some(data) = form.desc.lsc_data_slot() else { return Ok(()) };
        ops.list[data] = self.lsc_reg(form.desc.slots[data].name)?;
        self.expect(b':')?;
        for (i, name) in [SlotName::Width, SlotName::Height].into_iter().enumerate() {
            if i == 1 && self.peek() == b'x' {
                self.pos += 1;
            }
            self.skip_blanks();
            let at = self.pos;
            // Digits by hand: `0x64` is two numbers here.
            let mut v = 0u32;
            while self.peek().is_ascii_digit() {
                v = (v * 10 + (self.peek() - b'0') as u32).min(0x1_0000);
                self.pos += 1;
            }
            let span = self.since(at);
            if self.pos == at {
                return Err(self.expected("a dimension of the block"));
            }
            if v > 0xffff {
                let d = self.diag_label("E0409", "dimension is out of range", span, "must be 0 to 65535");
                return Err(self.report_and_give_up_line(d));
            }
            self.set_slot_by_name(form, ops, name, Operand::Int(v), span);
        }
        Ok(())
    }

    /// A vector operand of an address: `V32`, `V32.2`, `V32(0,2)`, a number, a surface.
    fn lsc_vector(&mut self, what: SlotName) -> P<(Operand, Span)> {
        self.lsc_scalar(what, false)
    }

    /// The same; a number of 64 bits where one may be meant.
    fn lsc_scalar(&mut self, what: SlotName, wide: bool) -> P<(Operand, Span)> {
        self.skip_blanks();
        let start = self.pos;
        let named = is_start(self.peek())
            || self.peek() == b'%'
                && !self.src[self.pos..].starts_with(b"%sizeof")
                && !self.src[self.pos..].starts_with(b"%DispatchSimd");
        if !named {
            if !(self.peek().is_ascii_digit() || matches!(self.peek(), b'-' | b'(' | b'~' | b'!' | b'%')) {
                return Err(self.missing_operand(what.as_str()));
            }
            let v = self.expr()?;
            let span = self.since(start);
            if wide && !(0..=u32::MAX as i64).contains(&v) {
                return Ok((Operand::Imm { ty: Type::Uq, bits: v as u64 }, span));
            }
            if !(i32::MIN as i64..=u32::MAX as i64).contains(&v) {
                let d = self.diag_label("E0501", format!("`{what}` does not fit 32 bits"), span, "too large");
                return Err(self.report_and_give_up_line(d));
            }
            // A type may follow in texts that print immediates whole.
            if self.peek() == b':' && self.peek_at(1) == b'u' && self.peek_at(2) == b'd' {
                self.pos += 3;
            }
            return Ok((Operand::Imm { ty: Type::Ud, bits: v as u32 as u64 }, self.since(start)));
        }
        let name = self.var_name();
        let decl = self.find_declaration(name, None)?;
        let operand = match decl.class {
            Class::General => {
                self.skip_blanks();
                let (row, col) = if self.peek() == b'.' {
                    self.pos += 1;
                    (0, self.byte_expr("column")?)
                } else {
                    let (row, col, _) = self.row_col()?;
                    (row, col)
                };
                Operand::General {
                    var: decl.id,
                    row,
                    col,
                    region: Region::SCALAR,
                    modifier: envisa_isa::Modifier::None,
                }
            }
            Class::Surface | Class::Sampler => {
                let class =
                    if decl.class == Class::Surface { StateClass::Surface } else { StateClass::Sampler };
                let mut offset = 0;
                if self.eat_byte(b'(') {
                    offset = self.byte_expr("element")?;
                    self.expect(b')')?;
                }
                Operand::State { class, id: decl.id as u16, offset }
            }
            Class::Poison => {
                self.skip_operand_tail();
                Operand::RAW_NULL
            }
            _ => return Err(self.wrong_class(name, decl, "a general variable or surface")),
        };
        Ok((operand, self.since(start)))
    }
}

/// Does a row's data have a set of channels rather than a number of elements?
pub(crate) fn is_quad(form: &Compiled) -> bool {
    form.slot(SlotName::ChMask)
        .is_some_and(|i| matches!(form.desc.slots[i].kind, SlotKind::Field { enc: Enc::Hex { .. }, .. }))
}

/// The sizes of elements that a row knows.
pub(crate) fn data_sizes(form: &Compiled) -> &'static [Value] {
    match form.slot(SlotName::DataSize).map(|i| form.desc.slots[i].kind) {
        Some(SlotKind::Field { enc: Enc::Values(values), .. }) => values,
        _ => &[],
    }
}

/// Bytes that one access of a strided message moves: its stride, if the text names none.
pub(crate) fn access_bytes(size: u32, elems: u32) -> u32 {
    let element = envisa_isa::lsc::data_size(size).map_or(4, |size| size.register);
    element * envisa_isa::lsc::elements(elems).unwrap_or(1)
}

/// How a composite reads, for people.
pub(crate) fn describe(composite: Composite) -> &'static str {
    match composite {
        Composite::LscCache => "[.l1[.l3]]",
        Composite::LscData => "data:d32[x4][t]",
        Composite::LscData2d => "data:d16.BLOCKSxWIDTHxHEIGHTnn",
        Composite::LscData2dTyped => "data:WIDTHxHEIGHT",
        Composite::LscAddr => "flat[addr[+offset]]:a64",
        Composite::LscAddrPlain => "flat[addr]:a64",
        Composite::LscAddrStrided => "flat[addr[+offset][, stride]]:a64",
        Composite::LscAddr2d => "flat[base,width,height,pitch,x[+offset],y[+offset]]",
        Composite::LscTypedAddr => "bti(surface)[u[,v[,r[,lod]]]]:a32",
        Composite::LscTypedAddr2d => "bti(surface)[x,y]",
        Composite::LscSurface => "bti(surface)",
        Composite::FenceFlags => "[.EISCRL1]",
        Composite::LifetimeVar => "variable",
        Composite::RtMode => "[.<A><O>…]",
        Composite::Paired => "",
        Composite::SendgSfid => "sfid",
        Composite::Desc64 => "desc",
    }
}
