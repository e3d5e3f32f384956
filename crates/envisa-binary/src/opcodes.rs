//! From opcode bytes to rows of the table.

use envisa_isa::desc::{Form, InstDesc, SlotKind};
use envisa_isa::{FieldName, Op, Operand};
use std::sync::LazyLock;

/// Rows that share an opcode and a sub-opcode, and thus their slots' encoding; usually one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    ops: Vec<Op>,
}

impl Rows {
    /// The row by which to decode; all have the same encoding.
    #[inline]
    pub fn decoding_row(&self) -> Op {
        self.ops[0]
    }

    /// The row that the decoded fields tell: the one whose spelling fixes them all.
    #[inline]
    pub fn choose(&self, operands: &[Operand]) -> Option<Op> {
        if let [op] = self.ops[..] {
            return Some(op);
        }
        let fits = |op: &Op, form: &Form| {
            form.fixed.iter().all(|(name, value)| fixed_value(op.desc(), operands, *name) == Some(*value))
        };
        let specific = |op: &&Op| op.desc().forms.iter().any(|f| !f.fixed.is_empty() && fits(op, f));
        let general =
            |op: &&Op| op.desc().forms.is_empty() || op.desc().forms.iter().any(|f| f.fixed.is_empty());
        self.ops.iter().find(specific).or_else(|| self.ops.iter().find(general)).copied()
    }
}

/// The value of a slot (`op`) or a part of one (`op.sub`) that a form may fix.
fn fixed_value(desc: &InstDesc, operands: &[Operand], name: FieldName) -> Option<u32> {
    let FieldName { slot, part } = name;
    let i = desc.slot_index(slot)?;
    let value = operands.get(i)?.int()?;
    match (part, &desc.slots[i].kind) {
        (None, _) => Some(value),
        (Some(part), SlotKind::Packed { parts, .. }) => {
            parts.iter().find(|p| p.name == part).map(|p| p.get(value))
        }
        _ => None,
    }
}

/// What an opcode byte leads to.
#[derive(Clone, Debug, Default)]
pub(crate) enum Entry {
    /// Nothing.
    #[default]
    None,
    /// An instruction.
    Plain(Rows),
    /// A family, by its sub-opcode byte.
    Family(Box<[Option<Rows>]>),
}

/// All opcodes of a format version.
pub(crate) struct Opcodes {
    entries: Vec<Entry>,
}

impl Opcodes {
    /// Those of a format version (below 4.2 all are as in 4.1).
    pub fn of(version: (u8, u8)) -> &'static Opcodes {
        static V41: LazyLock<Opcodes> = LazyLock::new(|| Opcodes::build((4, 1)));
        static V42: LazyLock<Opcodes> = LazyLock::new(|| Opcodes::build((4, 2)));
        if version < (4, 2) { &V41 } else { &V42 }
    }

    fn build(version: (u8, u8)) -> Opcodes {
        let mut entries = vec![Entry::None; 256];
        for op in Op::ALL.iter().copied().filter(|op| op.desc().versions.contains(version)) {
            let desc = op.desc();
            let entry = &mut entries[desc.opcode as usize];
            match desc.sub {
                None => {
                    if let Entry::Plain(rows) = entry {
                        rows.ops.push(op);
                    } else {
                        *entry = Entry::Plain(Rows { ops: vec![op] });
                    }
                }
                Some(sub) => {
                    if !matches!(entry, Entry::Family(_)) {
                        *entry = Entry::Family(vec![None; 256].into());
                    }
                    if let Entry::Family(subs) = entry {
                        subs[sub as usize].get_or_insert_default().ops.push(op);
                    }
                }
            }
        }
        Opcodes { entries }
    }

    /// The rows that a row shares its opcode with, itself among them; `None` if it is alone.
    #[inline]
    pub fn shared(&self, desc: &InstDesc) -> Option<&Rows> {
        let rows = match (&self.entries[desc.opcode as usize], desc.sub) {
            (Entry::Plain(rows), _) => rows,
            (Entry::Family(subs), Some(sub)) => subs[sub as usize].as_ref()?,
            _ => return None,
        };
        (rows.ops.len() > 1).then_some(rows)
    }

    /// What this opcode byte leads to.
    #[inline]
    pub fn get(&self, opcode: u8) -> &Entry {
        &self.entries[opcode as usize]
    }
}
