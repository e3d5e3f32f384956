//! Prints operands: registers, regions, immediates.

use super::*;

impl Printer<'_, '_> {
    /// An operand of a slot.
    pub fn operand(
        &mut self,
        form: &Compiled,
        slot: usize,
        kind: &SlotKind,
        operand: Operand,
    ) -> Result<(), PrintError> {
        let write = matches!(
            form.desc.slots[slot].role,
            envisa_isa::desc::Role::Write | envisa_isa::desc::Role::ReadWrite
        );
        if let SlotKind::Vector(classes) = kind
            && !self.slot_accepts(*classes, &operand, write)
        {
            self.print_placeholder(*classes, write, form.bare_vector)?;
            self.word(form, slot, operand);
            return Ok(());
        }
        match operand {
            Operand::Exec(e) if e.log2 <= 5 => self.print_exec_size(e),
            Operand::Pred(p) => self.predicate(p),
            Operand::General { .. } => self.print_general_operand(form, slot, operand, write),
            Operand::Indirect { .. } => self.print_indirect_operand(form, slot, operand, write),
            Operand::Address { id, offset, width_log2, modifier } => {
                let name = self.names.address(id as u32);
                self.out.push_str(name);
                self.out.push('(');
                self.num(offset);
                self.out.push_str(")<");
                self.num(1u32 << width_log2.min(5));
                self.out.push('>');
                if modifier != Modifier::None {
                    self.whole(form, slot, operand);
                }
            }
            Operand::Predicate(p) => {
                let name = self.names.predicate(p.id as u32);
                self.out.push_str(name);
                if p.invert || p.combine != envisa_isa::Combine::None {
                    self.whole(form, slot, operand);
                }
            }
            Operand::AddressOf { var, offset } => address_of(self.out, self.names.var(var), offset),
            Operand::Imm { ty, bits } => self.immediate(form, slot, ty, bits),
            Operand::State { class, id, offset } => {
                let name = match class {
                    StateClass::Surface => self.names.surface(id as u32),
                    StateClass::Sampler => self.names.sampler(id as u32),
                };
                if matches!(kind, SlotKind::Vector(c) if c.has(envisa_isa::desc::Classes::ADDRESS_OF)) {
                    address_of(self.out, name, offset.into());
                } else {
                    self.out.push_str(name);
                    let _ = write!(self.out, "({offset})");
                }
            }
            Operand::Raw { var: 0, offset } if offset != 0 => {
                self.raw(0, 0, form.bare_raw);
                self.whole(form, slot, operand);
            }
            Operand::Raw { var, offset } => self.raw(var, offset, form.bare_raw),
            Operand::Surface(id) => {
                let name = self.names.surface(id as u32);
                self.out.push_str(name);
            }
            Operand::Sampler(id) => {
                let name = self.names.sampler(id as u32);
                self.out.push_str(name);
            }
            Operand::Handle { var, row, col, index } => self.print_state_operand(var, (row, col), index),
            Operand::Label(id) => {
                self.note_label_mention(!matches!(kind, SlotKind::Label(LabelKind::Block)), id, false)?;
                let name = self.names.label(id);
                if is_identifier(name) && !self.names.is_reserved_word(name) {
                    self.out.push_str(name);
                } else {
                    push_quoted(self.out, name);
                }
            }
            Operand::Str(i) => self.print_pool_string(form, i),
            Operand::Int(n) => {
                if let SlotKind::Field { enc, .. } = kind {
                    self.value(enc, n);
                } else {
                    return self.print_error(format!("an operand of {}", form.desc.name));
                }
            }
            Operand::Exec(_) => return self.print_error(format!("the execution size of {}", form.desc.name)),
        }
        Ok(())
    }

    /// A general operand: `V1(0,0)<8;8,1>`.
    fn print_general_operand(&mut self, form: &Compiled, slot: usize, operand: Operand, write: bool) {
        let Operand::General { var, row, col, region, modifier } = operand else { return };
        let good = self.modifier(form, slot, modifier, write);
        let name = self.names.var(var);
        self.out.push_str(name);
        self.out.push('(');
        self.num(row);
        self.out.push(',');
        self.num(col);
        self.out.push(')');
        let bare = form.desc.family == envisa_isa::desc::Family::Systolic;
        let good = if bare {
            good && region == Region::CONTIGUOUS
        } else {
            self.print_region(region, write, false) && good
        };
        if !good {
            self.whole(form, slot, operand);
        }
    }

    /// An indirect operand: `r[A0(0),0]<1,0>:d`.
    fn print_indirect_operand(&mut self, form: &Compiled, slot: usize, operand: Operand, write: bool) {
        let Operand::Indirect { addr, offset, byte_offset, ty, region, modifier } = operand else { return };
        let good = self.modifier(form, slot, modifier, write);
        let name = self.names.address(addr as u32);
        self.out.push_str("r[");
        self.out.push_str(name);
        self.out.push('(');
        self.num(offset);
        self.out.push_str("),");
        number::signed(self.out, byte_offset.into());
        self.out.push(']');
        let good = self.print_region(region, write, true) && good;
        self.out.push(':');
        self.out.push_str(ty.name());
        if !good {
            self.whole(form, slot, operand);
        }
    }

    /// A string, by its index in the object's pool.
    fn print_pool_string(&mut self, form: &Compiled, i: u32) {
        let s = self.object.strings.get(i).unwrap_or("");
        // Index 0 is the empty string's, not the kernel's name.
        let s = match (i, s) {
            (0, _) => "",
            (_, "") => {
                self.order.explicit.push(i);
                "_"
            }
            (_, s) => s,
        };
        if i != 0 {
            self.order.pool.push(i);
        }
        if is_identifier(s) && !self.names.is_reserved_word(s) && form.op != Op::File {
            self.out.push_str(s);
        } else {
            push_quoted(self.out, s);
        }
    }

    /// Does the text of a slot take this operand?
    pub(super) fn slot_accepts(&self, classes: Classes, operand: &Operand, write: bool) -> bool {
        match *operand {
            Operand::General { .. } => classes.has(Classes::GENERAL),
            Operand::Indirect { .. } => classes.has(Classes::INDIRECT),
            Operand::Imm { ty, .. } => {
                classes.has(Classes::IMM) && !write && (ty != Type::Bf || self.version >= (4, 2))
            }
            Operand::Address { .. } => classes.has(Classes::ADDRESS),
            Operand::Predicate(_) => classes.has(Classes::PREDICATE),
            Operand::AddressOf { offset, .. } => classes.has(Classes::ADDRESS_OF) && offset < 0x8000,
            Operand::State { .. } => classes.has(Classes::STATE),
            _ => true,
        }
    }

    /// Something legal where the operand has no text.
    pub(super) fn print_placeholder(
        &mut self,
        classes: Classes,
        write: bool,
        bare: bool,
    ) -> Result<(), PrintError> {
        let o = self.object;
        if bare {
            self.out.push_str("%null(0,0)");
        } else if !write && classes.has(Classes::IMM) {
            self.out.push_str("0x0:ud");
        } else if classes.has(Classes::GENERAL) {
            self.out.push_str(if write { "%null(0,0)<1>" } else { "%null(0,0)<0;1,0>" });
        } else if classes.has(Classes::PREDICATE) && !o.predicates.is_empty() {
            self.out.push_str(self.names.predicate(1));
        } else if classes.has(Classes::ADDRESS) && !o.addresses.is_empty() {
            self.out.push_str(self.names.address(0));
            self.out.push_str("(0)<1>");
        } else if classes.has(Classes::STATE) {
            self.out.push_str("T1(0)");
        } else {
            return self.print_error("an operand of a class that its instruction does not take");
        }
        Ok(())
    }

    /// Annotates an operand by all its numbers.
    pub fn word(&mut self, form: &Compiled, slot: usize, operand: Operand) {
        let name = form.desc.slots[slot].name;
        match operand {
            Operand::General { var, row, col, region, modifier } => {
                self.note(format_args!("{name}=general:{var}:{row}:{col}:{:#x}:{}", region.0, modifier as u8))
            }
            Operand::Address { id, offset, width_log2, modifier } => {
                self.note(format_args!("{name}=address:{id}:{offset}:{width_log2}:{}", modifier as u8));
            }
            Operand::Predicate(p) => self.note(format_args!("{name}=predicate:{:#x}", p.word())),
            Operand::Indirect { addr, offset, byte_offset, ty, region, modifier } => {
                self.note(format_args!(
                    "{name}=indirect:{addr}:{offset}:{}:{}:{:#x}:{}",
                    byte_offset as u16, ty as u8, region.0, modifier as u8
                ));
            }
            Operand::AddressOf { var, offset } => {
                self.note(format_args!("{name}=address_of:{var}:{offset}"));
            }
            Operand::Imm { ty, bits } => self.note(format_args!("{name}=imm:{}:{bits:#x}", ty as u8)),
            Operand::State { class, id, offset } => {
                self.note(format_args!("{name}=state:{}:{id}:{offset}", class as u8));
            }
            Operand::Raw { var, offset } => self.note(format_args!("{name}=raw:{var}:{offset}")),
            other => self.whole(form, slot, other),
        }
    }

    /// The address of a state. The reference reads no place within the variable, but prints it of some messages.
    fn print_state_operand(&mut self, var: u32, (row, col): (u8, u8), index: u32) {
        let name = self.names.var(var);
        let _ = match index {
            _ if (row, col) != (0, 0) => write!(self.out, "{name}({row},{col})<0;1,0>[{index:#x}]"),
            0 => write!(self.out, "{name}"),
            // Decimal numbers end there.
            _ if i32::try_from(index).is_ok() => write!(self.out, "({name}, {index})"),
            _ => write!(self.out, "({name}, {index:#x})"),
        };
    }

    /// `V32.64`, or `V32` where that is enough.
    pub fn raw(&mut self, var: u32, offset: u16, bare: bool) {
        let name = self.names.var(var);
        self.out.push_str(name);
        if !bare || offset != 0 {
            self.out.push('.');
            self.num(offset);
        }
    }

    /// Prints a source modifier; false if it has no text here.
    pub(super) fn modifier(&mut self, form: &Compiled, slot: usize, m: Modifier, write: bool) -> bool {
        if write {
            let sat_text = form.dst == Some(slot as u8) && form.steps.iter().any(|s| matches!(s, Step::Sat));
            return m == Modifier::None || m == Modifier::Sat && sat_text;
        }
        self.out.push_str(match m {
            Modifier::None => "",
            Modifier::Abs => "(abs)",
            Modifier::Neg => "(-)",
            Modifier::NegAbs => "(-abs)",
            Modifier::Not => "(~)",
            Modifier::Sat => return false,
        });
        true
    }

    /// Prints a region; false if another had to stand for it.
    pub(super) fn print_region(&mut self, r: Region, write: bool, indirect: bool) -> bool {
        let (v, w, h) = (r.0 & 15, r.0 >> 4 & 15, r.0 >> 8 & 15);
        let legal_h = (1..=4).contains(&h);
        let good = r.0 >> 12 == 0
            && legal_h
            && if write {
                v == 0 && w == 0
            } else {
                let full = (1..=7).contains(&v) && (1..=6).contains(&w);
                full || indirect && v == 0 && (w == 0 || (1..=6).contains(&w))
            };
        if !good {
            self.out.push_str(if write { "<1>" } else { "<1;1,0>" });
            return false;
        }
        let text = |c: u16| Region::value(c as u8).unwrap_or(0);
        self.out.push('<');
        if v != 0 {
            self.num(text(v));
            self.out.push(';');
        }
        if (v, w) != (0, 0) {
            self.num(text(w));
            self.out.push(',');
        }
        self.num(text(h));
        self.out.push('>');
        good
    }

    pub(super) fn immediate(&mut self, form: &Compiled, slot: usize, ty: Type, bits: u64) {
        let (shown, exact) = match ty {
            Type::Ub | Type::B | Type::Uw | Type::W => {
                let n = ty.size() * 8;
                let v = bits as u32;
                let extended = ty.is_signed() && (v as i32) < 0 && (v as i32) >= -(1i32 << (n - 1));
                if bits < 1 << n || extended { (bits, true) } else { (bits & ((1 << n) - 1), false) }
            }
            Type::Hf | Type::Bf => (bits & 0xffff, bits <= 0xffff),
            _ if ty.size() == 8 => (bits, true),
            _ => (bits & 0xffff_ffff, bits <= u32::MAX as u64),
        };
        self.hex(shown);
        self.out.push(':');
        self.out.push_str(ty.name());
        if !exact {
            self.note(format_args!("{}={bits:#x}", form.desc.slots[slot].name));
        }
    }
}

/// The address of a variable: `&V32[36]`.
fn address_of(out: &mut String, name: &str, offset: u16) {
    out.push('&');
    out.push_str(name);
    if offset != 0 {
        let _ = write!(out, "[{offset}]");
    }
}
