//! Printing of composites: see `lsc.rs` for how they read.

use std::fmt::Write as _;

use envisa_isa::desc::{Composite, SlotKind};
use envisa_isa::{Modifier, Operand, PartName, Region, SlotName, Type, predefined};

use crate::print::{PrintError, Printer, int_of};
use crate::template::Compiled;

const CACHING: [&str; 8] = ["df", "uc", "ca", "wb", "wt", "st", "ri", "cc"];

impl Printer<'_, '_> {
    fn get(&self, form: &Compiled, ops: &[Operand], name: SlotName) -> u32 {
        form.slot(name).map_or(0, |i| int_of(ops, i as u8, None))
    }

    /// Annotates a field that could not be spelled.
    fn annotate_unspellable_field(&mut self, form: &Compiled, ops: &[Operand], name: SlotName) {
        if let Some(i) = form.slot(name) {
            self.whole(form, i, ops[i]);
        }
    }

    /// Prints a composite.
    pub fn print_composite(
        &mut self,
        form: &Compiled,
        composite: Composite,
        ops: &[Operand],
    ) -> Result<(), PrintError> {
        match composite {
            Composite::LscCache => self.print_cache_controls(form, ops),
            Composite::LscData => self.print_data_register(form, ops),
            Composite::LscData2d => self.print_block2d_data(form, ops),
            Composite::LscData2dTyped => {
                self.data_reg(form, ops);
                let (w, h) = (self.get(form, ops, SlotName::Width), self.get(form, ops, SlotName::Height));
                let _ = write!(self.out, "{w}x{h}");
            }
            Composite::LscAddr => self.print_address(form, ops, false),
            Composite::LscAddrStrided => self.print_address(form, ops, true),
            Composite::LscAddrPlain => {
                self.print_address_model(form, ops);
                self.out.push('[');
                self.addr_reg(form, ops);
                self.out.push(']');
                self.addr_size(form, ops);
            }
            Composite::LscAddr2d => self.print_block2d_address(form, ops),
            Composite::LscTypedAddr => self.typed_addr(form, ops),
            Composite::LscTypedAddr2d => self.typed_addr2d(form, ops),
            Composite::LscSurface => self.print_address_model(form, ops),
            Composite::Paired if self.version >= (4, 2) => self.out.push_str(" %null.0"),
            Composite::Paired => {}
            Composite::SendgSfid => {
                let _ = write!(self.out, "{:#x}", self.get(form, ops, SlotName::Sfid));
            }
            Composite::Desc64 => {
                let [lo, hi] = [SlotName::DescLo, SlotName::DescHi].map(|n| self.get(form, ops, n) as u64);
                let _ = write!(self.out, " {:#x}", hi << 32 | lo);
            }
            Composite::FenceFlags => self.fence_flags(form, ops),
            Composite::LifetimeVar => self.lifetime_var(form, ops),
            Composite::RtMode => self.render_target_mode(form, ops),
        }
        Ok(())
    }

    /// The data of a block: its register, blocks, width and height, and how they are arranged.
    fn print_block2d_data(&mut self, form: &Compiled, ops: &[Operand]) {
        self.data_reg(form, ops);
        let size = self.get(form, ops, SlotName::DataSize);
        self.data_size(form, ops, size);
        let dims = [SlotName::Blocks, SlotName::Width, SlotName::Height].map(|n| self.get(form, ops, n));
        let [b, w, h] = dims.map(|d| d.max(1));
        let order = self.get(form, ops, SlotName::DataOrder);
        let vnni = self.get(form, ops, SlotName::Vnni);
        let letter = |t| if t { 't' } else { 'n' };
        let _ = write!(self.out, ".{b}x{w}x{h}{}{}", letter(order == 2), letter(vnni == 1));
        for (name, odd) in [
            (SlotName::Blocks, dims[0] == 0),
            (SlotName::Width, dims[1] == 0),
            (SlotName::Height, dims[2] == 0),
            (SlotName::DataOrder, !matches!(order, 1 | 2)),
            (SlotName::Vnni, vnni > 1),
        ] {
            if odd {
                self.annotate_unspellable_field(form, ops, name);
            }
        }
    }

    /// The coordinates of texels, without those at the end that are absent.
    fn typed_addr(&mut self, form: &Compiled, ops: &[Operand]) {
        self.print_address_model(form, ops);
        self.out.push('[');
        const COORDINATES: [(SlotName, Option<SlotName>); 4] = [
            (SlotName::U, Some(SlotName::UOffset)),
            (SlotName::V, Some(SlotName::VOffset)),
            (SlotName::R, Some(SlotName::ROffset)),
            (SlotName::Lod, None),
        ];
        let regs = COORDINATES.map(|(n, _)| form.slot(n).map_or(Operand::RAW_NULL, |i| ops[i]));
        let offsets = COORDINATES.map(|(_, n)| n.map_or(0, |n| self.get(form, ops, n)));
        let last = (0..4).rposition(|i| regs[i] != Operand::RAW_NULL || offsets[i] != 0);
        let used = last.map_or(1, |i| i + 1);
        for (i, r) in regs[..used].iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            let (name, offset) = COORDINATES[i];
            match form.slot(name) {
                // The reference does not read `%null` here, but its other name.
                Some(_) if *r == Operand::RAW_NULL => self.out.push_str("V0"),
                Some(slot) => self.lsc_reg(form, slot, *r),
                None => {}
            }
            if let Some(offset) = offset {
                self.print_coordinate_offset(form, ops, name, offset);
            }
        }
        self.out.push(']');
        self.addr_size(form, ops);
    }

    /// The coordinates of a block of texels.
    fn typed_addr2d(&mut self, form: &Compiled, ops: &[Operand]) {
        self.print_address_model(form, ops);
        self.out.push('[');
        for (i, (n, o)) in
            [(SlotName::X, SlotName::XOffset), (SlotName::Y, SlotName::YOffset)].into_iter().enumerate()
        {
            if i > 0 {
                self.out.push(',');
            }
            self.lsc_vector(form, ops, n);
            self.print_coordinate_offset(form, ops, n, o);
        }
        self.out.push(']');
    }

    /// The variable whose lifetime begins or ends.
    fn lifetime_var(&mut self, form: &Compiled, ops: &[Operand]) {
        let Some(i) = form.slot(SlotName::Properties) else { return };
        let SlotKind::Packed { parts, .. } = form.desc.slots[i].kind else { return };
        let class =
            parts.iter().find(|p| p.name == PartName::Class).map_or(0, |p| int_of(ops, i as u8, Some(p)));
        let id = self.get(form, ops, SlotName::Variable);
        let name = match class {
            1 => self.names.address(id),
            2 => self.names.predicate(id),
            _ => self.names.var(id),
        };
        let name = name.to_owned();
        self.out.push(' ');
        self.out.push_str(&name);
        if class > 2 {
            self.annotate_unspellable_field(form, ops, SlotName::Properties);
        }
    }

    /// The flags of a message to a render target.
    fn render_target_mode(&mut self, form: &Compiled, ops: &[Operand]) {
        let Some(i) = form.slot(SlotName::Mode) else { return };
        let SlotKind::Packed { parts, .. } = form.desc.slots[i].kind else { return };
        let mut first = true;
        for name in [
            PartName::RtSi,
            PartName::RtCps,
            PartName::RtRti,
            PartName::RtA,
            PartName::RtO,
            PartName::RtZ,
            PartName::RtSt,
            PartName::RtLrtw,
            PartName::RtPs,
            PartName::RtCm,
            PartName::RtNull,
        ] {
            let set =
                parts.iter().find(|p| p.name == name).is_some_and(|p| int_of(ops, i as u8, Some(p)) != 0);
            if set {
                self.out.push_str(if first { ".<" } else { "<" });
                first = false;
                self.out.push_str(name.as_str());
                self.out.push('>');
            }
        }
    }

    /// What is added to a coordinate, unless it is zero. Behind a number it would be read as a part of that.
    fn print_coordinate_offset(&mut self, form: &Compiled, ops: &[Operand], of: SlotName, name: SlotName) {
        let v = self.get(form, ops, name) as i32;
        let number =
            form.slot(of).is_some_and(|i| !matches!(ops[i], Operand::General { .. } | Operand::Raw { .. }));
        if v != 0 && number {
            self.annotate_unspellable_field(form, ops, name);
        } else if v != 0 {
            let _ = write!(self.out, "{v:+}");
        }
    }

    /// `+(x,y)` of a block whose address is one register; false where other operands say something, too.
    fn print_block2d_payload_offset(&mut self, form: &Compiled, ops: &[Operand]) -> bool {
        let zero = Operand::Imm { ty: Type::Ud, bits: 0 };
        let rest = [
            SlotName::SurfaceWidth,
            SlotName::SurfaceHeight,
            SlotName::SurfacePitch,
            SlotName::X,
            SlotName::Y,
        ];
        if rest.iter().any(|n| form.slot(*n).is_some_and(|i| ops[i] != zero)) {
            self.annotate_unspellable_field(form, ops, SlotName::Payload);
            return false;
        }
        let [x, y] = [SlotName::XOffset, SlotName::YOffset].map(|n| self.get(form, ops, n) as i32);
        let _ = write!(self.out, "+({x},{y})");
        true
    }

    /// `.l1.l3` or `.l1.l2.l3`, unless all have their defaults.
    fn print_cache_controls(&mut self, form: &Compiled, ops: &[Operand]) {
        let (l1, l3) = (self.get(form, ops, SlotName::L1), self.get(form, ops, SlotName::L3));
        let l2 = self.get(form, ops, SlotName::L2);
        if l2 > 8 {
            self.annotate_unspellable_field(form, ops, SlotName::L2);
        }
        if l1 < 8 && l3 < 8 && (1..=8).contains(&l2) {
            let _ = write!(
                self.out,
                ".{}.{}.{}",
                CACHING[l1 as usize],
                CACHING[l2 as usize - 1],
                CACHING[l3 as usize]
            );
        } else if l1 < 8 && l3 < 8 {
            if (l1, l3) != (0, 0) {
                let _ = write!(self.out, ".{}.{}", CACHING[l1 as usize], CACHING[l3 as usize]);
            }
            if self.version < (4, 2) && (l1 == 7 || l3 == 7) {
                self.annotate_unspellable_field(form, ops, SlotName::L1);
                self.annotate_unspellable_field(form, ops, SlotName::L3);
            }
        } else {
            self.annotate_unspellable_field(form, ops, SlotName::L1);
            self.annotate_unspellable_field(form, ops, SlotName::L3);
        }
    }

    /// `flat[base,width,height,pitch,x,y]`.
    fn print_block2d_address(&mut self, form: &Compiled, ops: &[Operand]) {
        self.out.push_str(" flat[");
        for (i, n) in [
            SlotName::SurfaceBase,
            SlotName::SurfaceWidth,
            SlotName::SurfaceHeight,
            SlotName::SurfacePitch,
            SlotName::X,
            SlotName::Y,
        ]
        .into_iter()
        .enumerate()
        {
            if i == 1
                && self.get(form, ops, SlotName::Payload) == 1
                && self.print_block2d_payload_offset(form, ops)
            {
                break;
            }
            if i > 0 {
                self.out.push(',');
            }
            self.lsc_vector(form, ops, n);
            if i >= 4 {
                self.print_coordinate_offset(
                    form,
                    ops,
                    n,
                    if i == 4 { SlotName::XOffset } else { SlotName::YOffset },
                );
            }
        }
        if self.get(form, ops, SlotName::Payload) > 1 {
            self.annotate_unspellable_field(form, ops, SlotName::Payload);
        }
        self.out.push(']');
    }

    /// A register without its offset where that is zero.
    fn lsc_reg(&mut self, form: &Compiled, slot: usize, operand: Operand) {
        match operand {
            Operand::Raw { var: 0, offset: 1.. } => {
                self.raw(0, 0, true);
                self.whole(form, slot, operand);
            }
            Operand::Raw { var, offset } => self.raw(var, offset, true),
            _ => {}
        }
    }

    fn data_reg(&mut self, form: &Compiled, ops: &[Operand]) {
        self.out.push(' ');
        if let Some(i) = form.desc.lsc_data_slot() {
            self.lsc_reg(form, i, ops[i]);
        }
        self.out.push(':');
    }

    fn data_size(&mut self, form: &Compiled, ops: &[Operand], size: u32) {
        match crate::lsc::data_sizes(form).iter().find(|v| v.code == size) {
            Some(v) => self.out.push_str(v.text),
            None => {
                self.out.push_str("d32");
                self.annotate_unspellable_field(form, ops, SlotName::DataSize);
            }
        }
    }

    fn print_data_register(&mut self, form: &Compiled, ops: &[Operand]) {
        self.data_reg(form, ops);
        let size = self.get(form, ops, SlotName::DataSize);
        self.data_size(form, ops, size);
        let (elems, mask) = (self.get(form, ops, SlotName::DataElems), self.get(form, ops, SlotName::ChMask));
        let order = self.get(form, ops, SlotName::DataOrder);
        if crate::lsc::is_quad(form) {
            self.out.push('.');
            let shown = if (1..16).contains(&mask) { mask } else { 1 };
            for (bit, c) in ['x', 'y', 'z', 'w'].into_iter().enumerate() {
                if shown >> bit & 1 != 0 {
                    self.out.push(c);
                }
            }
            if shown != mask {
                self.annotate_unspellable_field(form, ops, SlotName::ChMask);
            }
            if elems != shown {
                self.annotate_unspellable_field(form, ops, SlotName::DataElems);
            }
            if order != 1 {
                self.annotate_unspellable_field(form, ops, SlotName::DataOrder);
            }
            return;
        }
        let n = envisa_isa::lsc::elements(elems).unwrap_or(0);
        if n > 1 {
            let _ = write!(self.out, "x{n}");
        }
        if order == 2 {
            self.out.push('t');
        } else if order != 1 {
            self.annotate_unspellable_field(form, ops, SlotName::DataOrder);
        }
        let shown = if form.slot(SlotName::Stride).is_some() {
            0
        } else if n == 0 {
            1
        } else {
            elems
        };
        if n == 0 {
            self.annotate_unspellable_field(form, ops, SlotName::DataElems);
        }
        if mask != shown {
            self.annotate_unspellable_field(form, ops, SlotName::ChMask);
        }
    }

    fn print_address_model(&mut self, form: &Compiled, ops: &[Operand]) {
        let kind = self.get(form, ops, SlotName::AddrType);
        // Rows without a surface have no text for its models.
        let surface = form.slot(SlotName::Surface).is_some();
        let name = match kind {
            2 if surface => "bss",
            3 if surface => "ss",
            4 if surface => "bti",
            5 => "arg",
            6 if surface && self.version >= (4, 2) => "surf",
            _ => "flat",
        };
        self.out.push(' ');
        self.out.push_str(name);
        if name == "flat" && kind != 1 {
            self.annotate_unspellable_field(form, ops, SlotName::AddrType);
        }
        let none = Operand::Imm { ty: Type::Ud, bits: 0 };
        let base = form.slot(SlotName::Surface).is_some_and(|i| ops[i] != none)
            && kind == 1
            && form.slot(SlotName::Addr).is_some();
        let index = self.get(form, ops, SlotName::SurfaceIndex);
        if surface && (name == "surf" || (2..=4).contains(&kind) || base && self.version >= (4, 2)) {
            self.out.push('(');
            self.lsc_vector(form, ops, SlotName::Surface);
            if index != 0 && name != "flat" {
                let _ = write!(self.out, ",{index}");
            }
            self.out.push(')');
            if index != 0 && (name == "flat" || index > 31) {
                self.annotate_unspellable_field(form, ops, SlotName::SurfaceIndex);
            }
        } else if let Some(i) = form.slot(SlotName::Surface) {
            if index != 0 {
                self.annotate_unspellable_field(form, ops, SlotName::SurfaceIndex);
            }
            if ops[i] == none {
                return;
            }
            // No text holds it: as good as lost to the reference, kept here.
            self.word(form, i, ops[i]);
        }
    }

    fn print_address(&mut self, form: &Compiled, ops: &[Operand], strided: bool) {
        self.print_address_model(form, ops);
        self.out.push('[');
        let scale = self.get(form, ops, SlotName::ImmScale);
        if scale != 1 {
            let _ = write!(self.out, "{scale}*");
        }
        self.addr_reg(form, ops);
        let offset = self.get(form, ops, SlotName::ImmOffset) as i32;
        if offset > 0 {
            let _ = write!(self.out, "+{offset:#x}");
        } else if offset < 0 {
            let _ = write!(self.out, "-{:#x}", (offset as i64).unsigned_abs());
        }
        if strided {
            self.out.push(',');
            self.lsc_vector(form, ops, SlotName::Stride);
        }
        self.out.push(']');
        self.addr_size(form, ops);
    }

    /// The register of an address.
    fn addr_reg(&mut self, form: &Compiled, ops: &[Operand]) {
        if let Some(i) = form.slot(SlotName::Addr) {
            // Reading refuses `%null` here, so something else stands for it.
            match ops[i] {
                Operand::Raw { var: 0, .. } => {
                    self.raw(predefined::var::R0, 0, true);
                    self.whole(form, i, ops[i]);
                }
                other => self.lsc_reg(form, i, other),
            }
        }
    }

    fn addr_size(&mut self, form: &Compiled, ops: &[Operand]) {
        let size = self.get(form, ops, SlotName::AddrSize);
        self.out.push_str(match size {
            1 => ":a16",
            2 => ":a32",
            4 if self.version >= (4, 2) => ":a32u",
            5 if self.version >= (4, 2) => ":a32s",
            _ => ":a64",
        });
        let known = (1..=3).contains(&size) || self.version >= (4, 2) && matches!(size, 4 | 5);
        if !known {
            self.annotate_unspellable_field(form, ops, SlotName::AddrSize);
        }
    }

    /// A vector operand within an address.
    fn lsc_vector(&mut self, form: &Compiled, ops: &[Operand], name: SlotName) {
        let Some(i) = form.slot(name) else { return };
        match ops[i] {
            Operand::General { var, row, col, region, modifier } => {
                let n = self.names.var(var);
                let _ = write!(self.out, "{n}({row},{col})");
                if region != Region::SCALAR || modifier != Modifier::None {
                    self.whole(form, i, ops[i]);
                }
            }
            Operand::Imm { ty, bits } => {
                if ty == Type::Uq
                    && bits > u32::MAX as u64
                    && name == SlotName::Surface
                    && self.version >= (4, 2)
                {
                    let _ = write!(self.out, "{bits:#x}");
                    return;
                }
                let _ = write!(self.out, "{:#x}", bits as u32);
                if ty != Type::Ud || bits > u32::MAX as u64 {
                    self.word(form, i, ops[i]);
                }
            }
            Operand::Address { .. }
            | Operand::Indirect { .. }
            | Operand::Predicate(_)
            | Operand::AddressOf { .. } => {
                self.out.push_str("0x0");
                self.word(form, i, ops[i]);
            }
            other => {
                // States and the like are printed as everywhere.
                let kind = form.desc.slots[i].kind;
                let _ = self.operand(form, i, &kind, other);
            }
        }
    }

    fn fence_flags(&mut self, form: &Compiled, ops: &[Operand]) {
        let Some(i) = form.slot(SlotName::Mask) else { return };
        let SlotKind::Packed { parts, .. } = form.desc.slots[i].kind else { return };
        let mut text = String::new();
        let mut names = Vec::new();
        for (letter, name) in [
            ("E", PartName::Commit),
            ("I", PartName::Instruction),
            ("S", PartName::Sampler),
            ("C", PartName::Constant),
            ("R", PartName::ReadWrite),
            ("L1", PartName::L1),
        ] {
            if parts.iter().find(|p| p.name == name).is_some_and(|p| int_of(ops, i as u8, Some(p)) != 0) {
                text.push_str(letter);
                names.push(name);
            }
        }
        // The reference has no flags on `fence_sw`, and reads a lone `.R` as a set of channels.
        if form.form.head == "fence_sw" || text == "R" {
            for n in names {
                self.note(format_args!("mask.{n}=0x1"));
            }
        } else if !text.is_empty() {
            self.out.push('.');
            self.out.push_str(&text);
        }
    }
}
