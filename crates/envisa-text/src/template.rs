//! Templates of the instruction table, compiled once into short lists of steps.
//!
//! Parser and printer walk the same steps, so a row's text is written down once.

use std::sync::OnceLock;

use envisa_isa::desc::{Composite, Enc, Family, Form, InstDesc, Part, SlotKind};
use envisa_isa::{Exec, FieldName, Op, Operand, Pred, SlotName, TABLE, Type};
use hashbrown::HashMap;

/// The most slots a row may have; a test holds the table to it.
pub(crate) const MAX_SLOTS: usize = 32;

/// One step of a form, in text order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Text joined to what precedes it: `.signal`, `.x`.
    Glued(&'static str),
    /// A word of its own.
    Word(&'static str),
    /// A punctuation mark; blanks around it are free.
    Punct(u8),
    /// A slot; `glued` if it belongs to the mnemonic's suffixes.
    Slot {
        /// Index of the slot.
        slot: u8,
        /// The part of a packed slot.
        part: Option<&'static Part>,
        /// It follows the previous step without a blank.
        glued: bool,
    },
    /// `.value`, left out where the value is 0.
    OptSuffix {
        /// Index of the slot.
        slot: u8,
        /// The part of a packed slot.
        part: Option<&'static Part>,
    },
    /// `.name`, present where the field is 1.
    Flag {
        /// The suffix without its dot.
        name: &'static str,
        /// Index of the slot.
        slot: u8,
        /// The part of a packed slot.
        part: Option<&'static Part>,
    },
    /// `.name`, which may stand there and says what holds anyway.
    Redundant(&'static str),
    /// `.sat`.
    Sat,
    /// The variadic slot.
    Many(u8),
    /// A composite, by name.
    Composite(Composite),
}

/// A slot or a part of one, fixed by a form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed {
    pub slot: u8,
    pub part: Option<&'static Part>,
    pub value: u32,
}

/// A form, compiled.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub op: Op,
    pub desc: &'static InstDesc,
    pub form: &'static Form,
    pub steps: Vec<Step>,
    pub fixed: Vec<Fixed>,
    /// Slots that hold a copy of another: `(slot, of)`.
    pub copies: Vec<(u8, u8)>,
    /// What slots hold that the text does not mention.
    pub defaults: Vec<Operand>,
    /// A raw operand may stand without its offset.
    pub bare_raw: bool,
    /// Vector operands have no region in text: those of DPAS.
    pub bare_vector: bool,
    pub pred: Option<u8>,
    /// The reference's text has a place for the predicate.
    pub pred_text: bool,
    pub exec: Option<u8>,
    /// Destination of `.sat`.
    pub dst: Option<u8>,
    /// Index of the `Count` slot, where the last slot is variadic.
    pub count: Option<u8>,
    /// Slots that no step and no fixed value sets and that are not filled by rule.
    pub hidden: Vec<u8>,
}

impl Compiled {
    /// Index of a slot that the row of a composite must have.
    pub fn slot(&self, name: SlotName) -> Option<usize> {
        self.desc.slot_index(name)
    }
}

/// A form of the table, compiled where it is first asked for: a text uses few of them.
struct Known {
    op: Op,
    form: &'static Form,
    compiled: OnceLock<Compiled>,
}

impl Known {
    #[inline]
    fn get(&self) -> &Compiled {
        self.compiled.get_or_init(|| self.compile())
    }

    #[cold]
    fn compile(&self) -> Compiled {
        // A test compiles all of them.
        compile(self.op, self.op.desc(), self.form).unwrap_or_else(|e| panic!("a fault of the table: {e}"))
    }
}

/// The forms of the table.
pub(crate) struct Forms {
    all: Vec<Known>,
    heads: HashMap<&'static [u8], Vec<u32>>,
    /// Where the forms of a row begin in `all`, and behind the last one, where they end.
    by_op: Vec<u32>,
}

impl Forms {
    pub fn get() -> &'static Forms {
        static FORMS: OnceLock<Forms> = OnceLock::new();
        FORMS.get_or_init(Forms::list)
    }

    fn list() -> Forms {
        let count = Op::ALL.iter().map(|op| op.desc().forms.len()).sum();
        let (mut all, mut by_op) = (Vec::with_capacity(count), Vec::with_capacity(TABLE.len() + 1));
        let mut heads: HashMap<_, Vec<u32>> = HashMap::with_capacity(count);
        by_op.push(0);
        for &op in Op::ALL {
            for form in op.desc().forms {
                heads.entry(form.head.as_bytes()).or_default().push(all.len() as u32);
                all.push(Known { op, form, compiled: OnceLock::new() });
            }
            by_op.push(all.len() as u32);
        }
        Forms { all, heads, by_op }
    }

    /// Indices of the forms of a mnemonic.
    #[inline]
    pub fn of_head(&self, head: &[u8]) -> &[u32] {
        self.heads.get(head).map_or(&[], Vec::as_slice)
    }

    /// Forms of a row.
    #[inline]
    pub fn of_op(&self, op: Op) -> impl Iterator<Item = &Compiled> {
        let [first, end] = [0, 1].map(|k| self.by_op[op as usize + k] as usize);
        self.all[first..end].iter().map(Known::get)
    }

    #[inline]
    pub fn at(&self, index: u32) -> &Compiled {
        self.all[index as usize].get()
    }

    /// All mnemonics, for suggestions.
    pub fn mnemonics(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.heads.keys().filter_map(|h| std::str::from_utf8(h).ok())
    }
}

/// What a slot holds if the text says nothing.
fn default_operand(kind: &SlotKind) -> Operand {
    match kind {
        SlotKind::Exec => Operand::Exec(Exec { log2: 0, mask: envisa_isa::ExecMask::M1 }),
        SlotKind::Pred => Operand::Pred(Pred::NONE),
        SlotKind::Vector(_) | SlotKind::Raw { .. } => Operand::RAW_NULL,
        SlotKind::Surface { .. } => Operand::Surface(0),
        SlotKind::Sampler { .. } => Operand::Sampler(0),
        SlotKind::Label(_) => Operand::Label(0),
        SlotKind::Str { .. } => Operand::Str(0),
        SlotKind::Field { enc: Enc::Ignored(n), .. } => Operand::Int(*n),
        SlotKind::Packed { parts, .. } => {
            let packed = parts.iter().fold(0, |packed, p| match p.enc {
                Enc::Ignored(n) => p.set(packed, n),
                _ => packed,
            });
            Operand::Int(packed)
        }
        SlotKind::Field { .. } | SlotKind::Count { .. } | SlotKind::If { .. } => Operand::Int(0),
        SlotKind::Many(inner) => default_operand(inner),
    }
}

/// The slots that a composite's text holds, of those that a row has.
fn composite_slots(composite: Composite) -> &'static [SlotName] {
    match composite {
        Composite::LscCache => &[SlotName::L1, SlotName::L3, SlotName::L2],
        Composite::LscData => {
            &[SlotName::DataSize, SlotName::DataOrder, SlotName::DataElems, SlotName::ChMask]
        }
        Composite::LscData2d => &[
            SlotName::DataSize,
            SlotName::DataOrder,
            SlotName::Blocks,
            SlotName::Width,
            SlotName::Height,
            SlotName::Vnni,
        ],
        Composite::LscData2dTyped => &[SlotName::Width, SlotName::Height],
        // Reading sets the stride even where the text has none.
        Composite::LscAddr | Composite::LscAddrStrided => &[
            SlotName::AddrType,
            SlotName::Surface,
            SlotName::ImmScale,
            SlotName::Addr,
            SlotName::ImmOffset,
            SlotName::AddrSize,
            SlotName::Stride,
            SlotName::SurfaceIndex,
        ],
        Composite::LscAddr2d => &[
            SlotName::SurfaceBase,
            SlotName::SurfaceWidth,
            SlotName::SurfaceHeight,
            SlotName::SurfacePitch,
            SlotName::X,
            SlotName::Y,
            SlotName::XOffset,
            SlotName::YOffset,
            SlotName::Payload,
        ],
        Composite::LscTypedAddr => &[
            SlotName::AddrType,
            SlotName::Surface,
            SlotName::U,
            SlotName::V,
            SlotName::R,
            SlotName::Lod,
            SlotName::AddrSize,
            SlotName::UOffset,
            SlotName::VOffset,
            SlotName::ROffset,
            SlotName::SurfaceIndex,
        ],
        Composite::LscTypedAddr2d => &[
            SlotName::AddrType,
            SlotName::Surface,
            SlotName::X,
            SlotName::Y,
            SlotName::XOffset,
            SlotName::YOffset,
            SlotName::SurfaceIndex,
        ],
        Composite::LscAddrPlain => &[SlotName::AddrType, SlotName::Addr, SlotName::AddrSize],
        Composite::LscSurface => &[SlotName::AddrType, SlotName::Surface, SlotName::SurfaceIndex],
        Composite::FenceFlags => &[SlotName::Mask],
        Composite::LifetimeVar => &[SlotName::Properties, SlotName::Variable],
        Composite::RtMode => &[SlotName::Mode],
        Composite::Paired => &[],
        Composite::SendgSfid => &[SlotName::Sfid],
        Composite::Desc64 => &[SlotName::DescLo, SlotName::DescHi],
    }
}

/// Does a composite hold the data register?
fn covers_data(composite: Composite) -> bool {
    matches!(composite, Composite::LscData | Composite::LscData2d | Composite::LscData2dTyped)
}

/// A row's slot, or a part of a packed one.
fn find_field(desc: &'static InstDesc, name: FieldName) -> Option<(u8, Option<&'static Part>)> {
    let index = desc.slot_index(name.slot)?;
    let part = match (name.part, &desc.slots[index].kind) {
        (None, _) => None,
        (Some(p), SlotKind::Packed { parts, .. }) => Some(parts.iter().find(|q| q.name == p)?),
        _ => return None,
    };
    Some((index as u8, part))
}

/// A form's template while it is read.
struct Reader {
    desc: &'static InstDesc,
    form: &'static Form,
    steps: Vec<Step>,
    /// By slot: does the form say what it holds?
    set: Vec<bool>,
}

type Field = (u8, Option<&'static Part>);

impl Reader {
    fn error_in_template(&self, what: impl std::fmt::Display) -> String {
        format!("{}: `{}`: {what}", self.desc.name, self.form.template)
    }

    fn find(&self, name: FieldName) -> Result<Field, String> {
        find_field(self.desc, name).ok_or_else(|| self.error_in_template(format_args!("no slot `{name}`")))
    }

    /// A field by its name in the template, which says what it holds.
    fn field_by_name(&mut self, name: &str) -> Result<Field, String> {
        let parsed =
            FieldName::parse(name).ok_or_else(|| self.error_in_template(format_args!("no slot `{name}`")))?;
        let (slot, part) = self.find(parsed)?;
        self.set[slot as usize] = true;
        Ok((slot, part))
    }

    /// The steps of the template.
    fn read_steps(&mut self) -> Result<(), String> {
        let mut rest = self.form.template.trim_start();
        rest = rest.strip_prefix("{pred}").unwrap_or(rest).trim_start();
        let Some(tail) = rest.strip_prefix(self.form.head) else {
            return Err(self.error_in_template("the head does not come first"));
        };
        rest = tail;
        let mut glued = true;
        while let Some(c) = rest.bytes().next() {
            match c {
                b' ' => {
                    rest = &rest[1..];
                    glued = false;
                    continue;
                }
                b'{' => {
                    let end = rest.find('}').ok_or_else(|| self.error_in_template("`{` is not closed"))?;
                    self.read_braced_field(&rest[1..end], glued)?;
                    rest = &rest[end + 1..];
                }
                b'[' => {
                    let end = rest.find(']').ok_or_else(|| self.error_in_template("`[` is not closed"))?;
                    self.read_bracketed_suffix(&rest[1..end])?;
                    rest = &rest[end + 1..];
                }
                b'.' | b'_' | b'%' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => {
                    let end = rest[1..]
                        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                        .map_or(rest.len(), |n| n + 1);
                    let text = &rest[..end];
                    rest = &rest[end..];
                    self.steps.push(if glued { Step::Glued(text) } else { Step::Word(text) });
                }
                b'(' | b')' | b',' | b'<' | b'>' | b';' | b':' | b'=' | b'/' => {
                    self.steps.push(Step::Punct(c));
                    rest = &rest[1..];
                }
                _ => return Err(self.error_in_template("a character that means nothing")),
            }
            glued = true;
        }
        Ok(())
    }

    /// What stands in braces: a slot, a composite, or the variadic slot.
    fn read_braced_field(&mut self, name: &'static str, glued: bool) -> Result<(), String> {
        if let Some(name) = name.strip_prefix('@') {
            let composite =
                Composite::from_name(name).ok_or_else(|| self.error_in_template("no such composite"))?;
            for covered in composite_slots(composite) {
                // Rows of one composite differ in some of its slots.
                if let Some(i) = self.desc.slot_index(*covered) {
                    self.set[i] = true;
                }
            }
            if covers_data(composite)
                && let Some(i) = self.desc.lsc_data_slot()
            {
                self.set[i] = true;
            }
            self.steps.push(Step::Composite(composite));
        } else if let Some(name) = name.strip_suffix("...") {
            let (slot, _) = self.field_by_name(name)?;
            self.steps.push(Step::Many(slot));
        } else {
            let (slot, part) = self.field_by_name(name)?;
            self.steps.push(Step::Slot { slot, part, glued });
        }
        Ok(())
    }

    /// What stands in brackets: a suffix.
    fn read_bracketed_suffix(&mut self, inner: &'static str) -> Result<(), String> {
        let step = if inner == ".sat" {
            Step::Sat
        } else if let Some(name) = inner.strip_prefix('.').and_then(|s| s.strip_suffix('!')) {
            Step::Redundant(name)
        } else if let Some(name) = inner.strip_prefix(".{").and_then(|s| s.strip_suffix('}')) {
            let (slot, part) = self.field_by_name(name)?;
            Step::OptSuffix { slot, part }
        } else if let Some((name, field)) = inner.strip_prefix('.').and_then(|s| s.split_once('?')) {
            let (slot, part) = self.field_by_name(field)?;
            Step::Flag { name, slot, part }
        } else {
            return Err(self.error_in_template("unknown option in brackets"));
        };
        self.steps.push(step);
        Ok(())
    }
}

/// Compiles a form; the error says what in the template has no meaning.
pub(crate) fn compile(op: Op, desc: &'static InstDesc, form: &'static Form) -> Result<Compiled, String> {
    let mut reader = Reader { desc, form, steps: Vec::new(), set: vec![false; desc.slots.len()] };
    if desc.slots.len() > MAX_SLOTS {
        return Err(reader.error_in_template("too many slots"));
    }
    reader.read_steps()?;
    let mut fixed = Vec::new();
    for &(name, value) in form.fixed {
        let (slot, part) = reader.find(name)?;
        reader.set[slot as usize] = true;
        fixed.push(Fixed { slot, part, value });
    }
    let mut copies = Vec::new();
    for &(to, of) in form.copies {
        let ((to, _), (of, _)) = (reader.find(to.whole())?, reader.find(of.whole())?);
        reader.set[to as usize] = true;
        copies.push((to, of));
    }
    let pos = |f: fn(&SlotKind) -> bool| desc.slots.iter().position(|s| f(&s.kind)).map(|i| i as u8);
    let count = pos(|k| matches!(k, SlotKind::Count { .. }));
    let hidden = (0..desc.slots.len())
        .filter(|&i| !reader.set[i])
        .filter(|&i| !matches!(desc.slots[i].kind, SlotKind::Pred | SlotKind::Count { .. }))
        .map(|i| i as u8)
        .collect();
    let mut defaults: Vec<Operand> = desc.slots.iter().map(|s| default_operand(&s.kind)).collect();
    for f in &fixed {
        let default = &mut defaults[f.slot as usize];
        *default = match *default {
            Operand::Int(old) => Operand::Int(f.part.map_or(f.value, |p| p.set(old, f.value))),
            Operand::Exec(_) => Operand::Exec(Exec::from_byte(f.value as u8)),
            _ if matches!(desc.slots[f.slot as usize].kind, SlotKind::Vector(_)) => {
                Operand::Imm { ty: Type::Ud, bits: f.value as u64 }
            }
            other => other,
        };
    }
    if matches!(desc.slots.last().map(|s| &s.kind), Some(SlotKind::Many(_))) {
        defaults.pop();
    }
    Ok(Compiled {
        op,
        desc,
        form,
        steps: reader.steps,
        fixed,
        copies,
        defaults,
        bare_raw: desc.family == Family::Lsc,
        bare_vector: desc.family == Family::Systolic,
        pred: pos(|k| matches!(k, SlotKind::Pred)),
        pred_text: form.template.starts_with("{pred}"),
        exec: pos(|k| matches!(k, SlotKind::Exec)),
        dst: desc.slot_index(SlotName::Dst).map(|i| i as u8),
        count,
        hidden,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_compiles() {
        let mut faults = Vec::new();
        for &op in Op::ALL {
            for form in op.desc().forms {
                if let Err(e) = compile(op, op.desc(), form) {
                    faults.push(e);
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
