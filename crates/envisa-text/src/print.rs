//! Modules to text that the reference assembler accepts and that reads back as the same module.

mod declaration;
mod number;
mod operand;

use std::fmt::Write as _;

use envisa_isa::desc::{Classes, Enc, LabelKind, SlotKind};
use envisa_isa::{
    Attr, AttrRange, Exec, Inst, Modifier, Module, Object, ObjectKind, Op, Operand, Pred, Region, StateClass,
    Type, predefined,
};

use crate::annotations::can_spell_value;
use crate::attributes::{self, Owner, Value};
use crate::inst::{active_kind, enc_of};
use crate::order::{DROPPED, Kind, Order};
use crate::print_names::{Printed, is_identifier, push_quoted};
use crate::template::{Compiled, Forms, Step};

/// What of a module has no spelling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrintError {
    /// The object's name.
    pub object: String,
    /// What cannot be printed.
    pub what: String,
}

impl std::fmt::Display for PrintError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`: {} cannot be printed", self.object, self.what)
    }
}

impl std::error::Error for PrintError {}

/// What is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct PrintOptions {
    /// Keep native code that the binary carries, as bytes in an annotation. Off by default: it is no
    /// vISA, and whoever assembles the text wants it made anew.
    pub native: bool,
}

/// Prints a module. Names that are not identifiers, or that clash, are replaced; the originals and all
/// else that text cannot say stand in annotations `//@ …` (see `docs/TEXT.md`).
///
/// # Errors
/// Something has no spelling even as an annotation: attribute names with blanks in them, instructions
/// of a module that is not [sound](envisa_isa::Unsound).
pub fn print(module: &Module, opts: &PrintOptions) -> Result<String, PrintError> {
    let mut out = String::new();
    print_version(module, &mut out);
    let mut target = 1;
    let mut names = hashbrown::HashSet::new();
    for object in &module.objects {
        if !names.insert(object.name.as_str()) {
            let what = "a second object of this name".to_owned();
            return Err(PrintError { object: object.name.clone(), what });
        }
        print_object(module, object, opts, &mut target, &mut out)?;
    }
    Ok(out)
}

fn print_version(module: &Module, out: &mut String) {
    let v = module.version.max((4, 1));
    let _ = writeln!(out, ".version {}.{}", v.0, v.1);
    if v != module.version {
        let _ = writeln!(out, "//@ version={}.{}", module.version.0, module.version.1);
    }
}

/// Prints one object as a text of its own, as IGC does with functions.
///
/// # Errors
/// As [`print`].
pub fn print_unit(module: &Module, object: usize, opts: &PrintOptions) -> Result<String, PrintError> {
    let mut out = String::new();
    print_version(module, &mut out);
    if let Some(o) = module.objects.get(object) {
        print_object(module, o, opts, &mut 1, &mut out)?;
    }
    Ok(out)
}

fn print_object(
    module: &Module,
    object: &Object,
    opts: &PrintOptions,
    target: &mut u8,
    out: &mut String,
) -> Result<(), PrintError> {
    let mut p = Printer {
        object,
        names: Printed::of(object, module.version),
        version: module.version.max((4, 1)),
        forms: Forms::get(),
        out,
        notes: String::new(),
        native: opts.native,
        order: Order::default(),
        element: None,
    };
    if !matches!(module.version, (3, 0..=9) | (4, 0..=2)) {
        let (a, b) = module.version;
        return p.print_error(format!("version {a}.{b}"));
    }
    p.print_object(target)
}

/// Prints one instruction of an object, for messages and disassembly; no annotations but `fallback` where
/// it has no text.
pub fn print_inst(module: &Module, object: &Object, inst: &Inst) -> Result<String, PrintError> {
    let mut out = String::new();
    let mut p = Printer {
        object,
        names: Printed::of(object, module.version),
        version: module.version.max((4, 1)),
        forms: Forms::get(),
        out: &mut out,
        notes: String::new(),
        native: false,
        order: Order::default(),
        element: None,
    };
    p.inst(inst)?;
    Ok(out.trim().to_owned())
}

pub(crate) struct Printer<'m, 'o> {
    pub object: &'m Object,
    pub names: Printed<'m>,
    pub version: (u8, u8),
    forms: &'static Forms,
    pub out: &'o mut String,
    /// The annotation of the line being printed.
    pub notes: String,
    native: bool,
    pub order: Order,
    /// Which of the variadic operands is being printed.
    element: Option<usize>,
}

impl Printer<'_, '_> {
    pub fn print_error<T>(&self, what: impl Into<String>) -> Result<T, PrintError> {
        Err(PrintError { object: self.object.name.clone(), what: what.into() })
    }

    /// Adds a key to the line's annotation.
    pub fn note(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = write!(self.notes, " {text}");
    }

    pub fn end_line(&mut self) {
        if !self.notes.is_empty() {
            if !self.out.is_empty() && !self.out.ends_with('\n') {
                self.out.push_str("  ");
            }
            self.out.push_str("//@");
            self.out.push_str(&self.notes);
            self.notes.clear();
        }
        self.out.push('\n');
    }

    /// A number in decimal.
    pub fn num(&mut self, n: impl Into<u32>) {
        number::push_decimal(self.out, n.into());
    }

    /// `0x1f`.
    fn hex(&mut self, n: impl Into<u64>) {
        self.out.push_str("0x");
        number::push_hexadecimal(self.out, n.into());
    }

    fn print_object(&mut self, target: &mut u8) -> Result<(), PrintError> {
        let o = self.object;
        self.check_printable()?;
        self.start_order();
        if self.out.lines().nth(1).is_some() {
            self.out.push('\n');
        }
        self.out.push_str(match o.kind {
            ObjectKind::Kernel => ".kernel ",
            ObjectKind::Function => ".global_function ",
        });
        push_quoted(self.out, &o.name);
        self.out.push('\n');
        if o.function_sizes != (0, 0) {
            self.note(format_args!(
                "function_sizes={:#x}",
                o.function_sizes.0 as u16 | (o.function_sizes.1 as u16) << 8
            ));
        }
        if !o.attrs.iter().any(|a| o.strings.get(a.name) == Some("Target")) {
            self.note(format_args!("no_target=1"));
        }
        for n in if self.native { &o.native[..] } else { &[] } {
            let bytes = hex(&n.code);
            self.note(format_args!("native:{}={bytes}", n.platform));
        }
        if !self.notes.is_empty() {
            self.end_line();
        }
        let implicit = self.implicit_target(*target);
        for a in &o.attrs {
            if let (Some("Target"), [t]) = (o.strings.get(a.name), &a.value[..]) {
                *target = *t;
            }
        }
        let mut items = self.plan();
        if implicit {
            items.retain(|i| *i != (Kind::Attr, o.attrs.len() - 1));
        }
        let attrs = items.iter().position(|i| i.0 == Kind::Attr).unwrap_or(items.len());
        let tidy = items[attrs..].iter().all(|i| i.0 == Kind::Attr);
        let (first, last) = items.split_at(if tidy { attrs } else { items.len() });
        for &(kind, i) in first {
            self.print_declaration_item(kind, i)?;
        }
        for i in &o.inputs {
            let name = match i.kind & 7 {
                0 => self.names.var(i.id),
                1 => self.names.sampler(i.id),
                _ => self.names.surface(i.id),
            }
            .to_owned();
            match i.kind >> 3 {
                0 => self.out.push_str(".input "),
                n => {
                    let _ = write!(self.out, ".implicit_UNDEFINED_{n} ");
                }
            }
            let _ = write!(self.out, "{name} offset={} size={}", i.offset, i.size);
            self.end_line();
        }
        for &(kind, i) in last {
            self.print_declaration_item(kind, i)?;
        }
        for inst in &o.insts {
            self.inst(inst)?;
        }
        if implicit {
            self.order.pool.push(o.attrs[o.attrs.len() - 1].name);
        }
        self.end_order()
    }

    // ---- instructions

    fn inst(&mut self, inst: &Inst) -> Result<(), PrintError> {
        let ops = self.object.ops(inst);
        match (inst.op, ops) {
            (Op::Label, [Operand::Label(id)]) => {
                self.note_label_mention(false, *id, true)?;
                let name = self.names.label(*id);
                if !self.out.ends_with("\n\n") {
                    self.out.push('\n');
                }
                let _ = write!(self.out, "{name}:");
                self.label_note(*id);
                self.end_line();
                return Ok(());
            }
            (Op::Subroutine, [Operand::Label(id)]) => {
                self.note_label_mention(true, *id, true)?;
                let name = self.names.label(*id);
                self.out.push_str("\n.function ");
                push_quoted(self.out, name);
                self.label_note(*id);
                self.end_line();
                return Ok(());
            }
            _ => {}
        }
        let forms = self.forms;
        let Some(form) = forms
            .of_op(inst.op)
            .find(|f| self.form_matches(f, ops))
            .or_else(|| self.nearest_form(inst.op, ops))
        else {
            return self.print_error(format!("the instruction {}", inst.desc().name));
        };
        if ops.len() < form.defaults.len() {
            return self.print_error(format!("the instruction {} (operands are missing)", inst.desc().name));
        }
        self.out.push_str("    ");
        if let Some(slot) = form.pred
            && let Operand::Pred(pred) = ops[slot as usize]
            && (pred.is_some() || pred != Pred::NONE)
        {
            if form.pred_text && pred.is_some() {
                self.predicate(pred);
                self.out.push(' ');
            } else {
                self.note(format_args!("pred={:#x}", pred.word()));
            }
        }
        self.out.push_str(form.form.head);
        for step in &form.steps {
            self.step(form, step, ops)?;
        }
        self.annotate_leftovers(form, ops);
        self.annotate_quirks(form, ops);
        self.end_line();
        Ok(())
    }

    /// What reading changes whatever the text says.
    fn annotate_quirks(&mut self, form: &Compiled, ops: &[Operand]) {
        let exec = match form.op {
            Op::Jmp => Exec { log2: 0, mask: envisa_isa::ExecMask::M1 },
            Op::Mov if matches!(ops.last(), Some(Operand::Predicate(_))) => Exec::SCALAR_NM,
            _ => return,
        };
        for (slot, operand) in ops.iter().enumerate().take(form.desc.slots.len()) {
            let kept = match operand {
                Operand::Exec(e) => *e == exec,
                Operand::Pred(p) => form.op == Op::Jmp || *p == Pred::NONE,
                Operand::General { modifier, .. } => *modifier != Modifier::Sat,
                _ => true,
            };
            if !kept {
                self.whole(form, slot, *operand);
            }
        }
    }

    /// The form that leaves least to annotations, of those that the reference reads.
    fn nearest_form(&self, op: Op, ops: &[Operand]) -> Option<&'static Compiled> {
        // The reference's conditional sends have no function id, and no `.eot` within.
        let known = if op == Op::RawSends { 4 } else { usize::MAX };
        let weight = |f: &&Compiled| -> usize {
            let wrong = |x: &crate::template::Fixed| {
                ops.get(x.slot as usize).and_then(|o| o.int()).map(|n| x.part.map_or(n, |p| p.get(n)))
                    != Some(x.value)
            };
            // What comes first tells the forms apart.
            f.fixed.iter().enumerate().map(|(i, x)| usize::from(wrong(x)) * if i == 0 { 8 } else { 1 }).sum()
        };
        self.forms.of_op(op).take(known).min_by_key(weight)
    }

    fn label_note(&mut self, id: u16) {
        let real = self.object.labels.get(id as usize).and_then(|l| self.object.strings.get(l.name));
        if let Some(real) = real
            && real != self.names.label(id)
        {
            let mut quoted = String::new();
            push_quoted(&mut quoted, real);
            self.note(format_args!("name={quoted}"));
        }
    }

    /// Does a form say of an instruction what it fixes?
    fn form_matches(&self, form: &Compiled, ops: &[Operand]) -> bool {
        (form.op != Op::RawSends || !form.form.template.contains("sendsc.{ffid}"))
            && form.fixed.iter().all(|f| match ops.get(f.slot as usize) {
                Some(Operand::Int(n)) => f.part.map_or(*n, |p| p.get(*n)) == f.value,
                Some(Operand::Exec(e)) => e.byte() as u32 == f.value,
                Some(Operand::Raw { var: 0, offset: 0 }) => f.value == 0,
                Some(Operand::Imm { ty: Type::Ud, bits }) => *bits == f.value as u64,
                Some(Operand::Label(id)) => {
                    self.object.labels.get(*id as usize).is_some_and(|l| l.kind as u32 == f.value)
                }
                _ => false,
            })
            && form.copies.iter().all(|&(to, of)| ops.get(to as usize) == ops.get(of as usize))
            && self.fits_head(form, ops)
    }

    /// `fccall` and `call` are one row: the label's kind tells them apart.
    fn fits_head(&self, form: &Compiled, ops: &[Operand]) -> bool {
        if form.op != Op::Call {
            return true;
        }
        let fc = ops.iter().any(|o| match o {
            Operand::Label(id) => {
                self.object.labels.get(*id as usize).is_some_and(|l| l.kind == envisa_isa::LabelUse::Fc)
            }
            _ => false,
        });
        fc == (form.form.head == "fccall")
    }

    /// Annotates what the form's text does not hold.
    fn annotate_leftovers(&mut self, form: &Compiled, ops: &[Operand]) {
        let differs = |slot: usize| ops[slot] != form.defaults[slot];
        let mut done = 0u32;
        for f in &form.fixed {
            let slot = f.slot as usize;
            let wrong = match (ops[slot], form.defaults[slot]) {
                (Operand::Int(a), Operand::Int(b)) => match f.part {
                    Some(p) => p.get(a) != p.get(b),
                    None => a != b,
                },
                _ => differs(slot),
            };
            if wrong && done >> slot & 1 == 0 {
                done |= 1 << slot;
                self.all_of(form, slot, ops[slot]);
            }
        }
        for &slot in &form.hidden {
            if differs(slot as usize) {
                self.all_of(form, slot as usize, ops[slot as usize]);
            }
        }
        for &(to, of) in &form.copies {
            if ops[to as usize] != ops[of as usize] {
                self.all_of(form, to as usize, ops[to as usize]);
            }
        }
        // Bits of packed fields that no part names.
        for (slot, s) in form.desc.slots.iter().enumerate() {
            if let (SlotKind::Packed { parts, .. }, Some(Operand::Int(n))) = (&s.kind, ops.get(slot)) {
                let named = parts.iter().fold(0, |m, p| p.set(m, u32::MAX));
                if n & !named != 0 && done >> slot & 1 == 0 {
                    self.whole(form, slot, Operand::Int(*n));
                }
            }
        }
    }

    /// Annotates an operand that has no text at all.
    fn all_of(&mut self, form: &Compiled, slot: usize, operand: Operand) {
        match form.desc.slots[slot].kind {
            SlotKind::Vector(_) => self.word(form, slot, operand),
            _ => self.whole(form, slot, operand),
        }
    }

    /// Annotates an operand as a whole.
    pub fn whole(&mut self, form: &Compiled, slot: usize, operand: Operand) {
        let mut name = form.desc.slots[slot].name.as_str();
        let indexed;
        if let Some(i) = self.element {
            indexed = format!("{name}.{i}");
            name = &indexed;
        }
        match operand {
            Operand::Int(n) => self.note(format_args!("{name}={n:#x}")),
            Operand::Exec(e) => self.note(format_args!("{name}={:#x}", e.byte())),
            Operand::Pred(p) | Operand::Predicate(p) => self.note(format_args!("{name}={:#x}", p.word())),
            Operand::Imm { bits, .. } => self.note(format_args!("{name}={bits:#x}")),
            Operand::Raw { var, offset } => {
                self.note(format_args!("{name}={:#x}", var as u64 | (offset as u64) << 32));
            }
            Operand::General { region, modifier, .. } | Operand::Indirect { region, modifier, .. } => {
                self.note(format_args!("{name}={:#x}", region.0 as u32 | (modifier as u32) << 16));
            }
            Operand::Address { modifier, .. } => {
                self.note(format_args!("{name}={:#x}", (modifier as u32) << 16))
            }
            _ => {}
        }
    }

    fn step(&mut self, form: &Compiled, step: &Step, ops: &[Operand]) -> Result<(), PrintError> {
        match *step {
            Step::Glued(t) => self.out.push_str(t),
            Step::Word(t) => {
                self.out.push(' ');
                self.out.push_str(t);
            }
            Step::Punct(b) => {
                if b == b'(' {
                    self.out.push(' ');
                }
                self.out.push(b as char);
            }
            Step::Sat => {
                let sat =
                    form.dst.and_then(|d| ops.get(d as usize)).is_some_and(|o| o.modifier() == Modifier::Sat);
                if sat {
                    self.out.push_str(".sat");
                }
            }
            Step::OptSuffix { slot, part } => {
                let v = int_of(ops, slot, part);
                if v != 0
                    && let Some(enc) = enc_of_ref(form, slot as usize, part)
                {
                    if can_spell_value(enc, v) {
                        self.out.push('.');
                        self.value(enc, v);
                    } else {
                        self.whole(form, slot as usize, ops[slot as usize]);
                    }
                }
            }
            Step::Redundant(_) => {}
            Step::Flag { name, slot, part } => {
                let v = int_of(ops, slot, part);
                if v == 0 {
                } else if self.version < (4, 2) && !reference_flag(name) {
                    // The reference has no text for it.
                    self.part_note(form, slot, part, v);
                } else {
                    self.out.push('.');
                    self.out.push_str(name);
                    if v != 1 {
                        self.part_note(form, slot, part, v);
                    }
                }
            }
            Step::Slot { slot, part, glued } => {
                let s = slot as usize;
                let kind = &form.desc.slots[s].kind;
                let Some(kind) = active_kind(kind, |i| int_of(ops, i as u8, None)) else { return Ok(()) };
                let opens = matches!(self.out.as_bytes().last(), Some(b'(' | b':'));
                if !(glued || opens) {
                    self.out.push(' ');
                }
                match (kind, part) {
                    (SlotKind::Field { .. } | SlotKind::Packed { .. } | SlotKind::Count { .. }, _) => {
                        let enc = enc_of_ref(form, s, part);
                        self.print_field(form, s, part, enc.unwrap_or(&Enc::Hex { max: u32::MAX }), ops);
                    }
                    (kind, _) => self.operand(form, s, kind, ops[s])?,
                }
            }
            Step::Many(slot) => {
                let labels =
                    matches!(form.desc.slots[slot as usize].kind, SlotKind::Many(SlotKind::Label(_)));
                let SlotKind::Many(kind) = form.desc.slots[slot as usize].kind else { return Ok(()) };
                for (i, o) in ops[form.defaults.len().min(ops.len())..].iter().enumerate() {
                    if labels {
                        self.out.push_str(if i > 0 { ", " } else { "" });
                    } else {
                        self.out.push(' ');
                    }
                    self.element = Some(i);
                    self.operand(form, slot as usize, kind, *o)?;
                }
                self.element = None;
            }
            Step::Composite(name) => self.print_composite(form, name, ops)?,
        }
        Ok(())
    }

    fn part_note(&mut self, form: &Compiled, slot: u8, part: Option<&envisa_isa::desc::Part>, v: u32) {
        let name = form.desc.slots[slot as usize].name;
        match part {
            Some(p) => self.note(format_args!("{name}.{}={v:#x}", p.name)),
            None => self.note(format_args!("{name}={v:#x}")),
        }
    }

    fn print_field(
        &mut self,
        form: &Compiled,
        slot: usize,
        part: Option<&'static envisa_isa::desc::Part>,
        enc: &Enc,
        ops: &[Operand],
    ) {
        let v = int_of(ops, slot as u8, part);
        if can_spell_value(enc, v) {
            return self.value(enc, v);
        }
        // Something legal in its place, and the value beside it.
        match enc {
            Enc::Values(values) => self.out.push_str(values.first().map_or("0", |v| v.text)),
            Enc::Channels => self.out.push('R'),
            Enc::ExecLike(values) => {
                let n = values.first().map_or("1", |v| v.text);
                let _ = write!(self.out, "(M1, {n})");
            }
            _ => self.out.push('0'),
        }
        self.part_note(form, slot as u8, part, v);
    }

    /// A value that its encoding can spell.
    fn value(&mut self, enc: &Enc, v: u32) {
        match enc {
            Enc::Number { .. } | Enc::Ignored(_) => self.num(v),
            Enc::Signed => number::signed(self.out, v as i32),
            Enc::Hex { .. } => self.hex(v),
            Enc::HexDigits { .. } => number::push_hexadecimal(self.out, v.into()),
            Enc::Values(values) => {
                self.out.push_str(values.iter().find(|x| x.code == v).map_or("", |x| x.text));
            }
            Enc::Channels => {
                for (bit, c) in ['R', 'G', 'B', 'A'].into_iter().enumerate() {
                    if v >> bit & 1 != 0 {
                        self.out.push(c);
                    }
                }
            }
            Enc::ExecLike(values) => {
                let n = values.iter().find(|x| x.code == v & 15).map_or("", |x| x.text);
                let mask = envisa_isa::ExecMask((v >> 4) as u8).name();
                for part in ["(", mask, ", ", n, ")"] {
                    self.out.push_str(part);
                }
            }
        }
    }

    fn predicate(&mut self, p: Pred) {
        self.out.push('(');
        if p.invert {
            self.out.push('!');
        }
        self.out.push_str(self.names.predicate(p.id as u32));
        self.out.push_str(match p.combine {
            envisa_isa::Combine::None => "",
            envisa_isa::Combine::Any => ".any",
            envisa_isa::Combine::All => ".all",
        });
        self.out.push(')');
    }

    fn print_exec_size(&mut self, e: Exec) {
        self.out.push('(');
        self.out.push_str(e.mask.name());
        self.out.push_str(", ");
        self.num(e.channels());
        self.out.push(')');
    }
}

/// Flags that the reference's 4.1 text has.
fn reference_flag(name: &str) -> bool {
    !matches!(name, "unaligned" | "unaligned_read" | "local" | "noreturn" | "uniform")
}

/// The value of a field or a part of it.
pub(crate) fn int_of(ops: &[Operand], slot: u8, part: Option<&envisa_isa::desc::Part>) -> u32 {
    let n = ops.get(slot as usize).and_then(|o| o.int()).unwrap_or(0);
    part.map_or(n, |p| p.get(n))
}

fn enc_of_ref(
    form: &Compiled,
    slot: usize,
    part: Option<&'static envisa_isa::desc::Part>,
) -> Option<&'static Enc> {
    enc_of(form.desc, slot, part)
}

fn hex(bytes: &[u8]) -> String {
    let mut s = String::with_capacity(bytes.len() * 2);
    for b in bytes {
        let _ = write!(s, "{b:02x}");
    }
    s
}
