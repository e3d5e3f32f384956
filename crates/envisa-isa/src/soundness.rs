//! Soundness: what must hold of a module so that everything downstream may index without checks.
//!
//! A sound module is not yet a legal one: types, sizes, platforms and the like are the verifier's.
//! Soundness is what makes looking at a module safe: every index leads somewhere, every instruction
//! has the operands that its row says, and every value has bytes and a spelling:
//! - an instruction's operands lie in [`Object::operands`], one for each slot; a `Many` slot has as many
//!   as its `Count` says, a slot under an `If` whose bit is clear holds `Operand::Int(0)`;
//! - each operand is of the variant its slot calls for (any vector class in a vector slot);
//! - variables, addresses, predicates, labels, surfaces, samplers and strings exist;
//! - aliases point backwards, attribute ranges lie in [`Object::var_attrs`];
//! - execution sizes are at most 32, regions have valid codes, field values fit their width, 4-byte
//!   immediates have no upper bits.

use crate::desc::{SlotKind, SurfaceRule};
use crate::{Module, Object, Operand, Platforms, Region, Span, StateClass, Type, limits, predefined};
use std::fmt;

/// The version from which on surfaces and samplers may be addresses of states, in registers.
pub const HANDLES_SINCE: (u8, u8) = (4, 2);

/// What is wrong with one value of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Fault {
    /// The operand is of another variant than its slot; says which is wanted.
    Operand(&'static str),
    /// The number of operands; says how many are wanted.
    OperandCount {
        found: usize,
        expected: usize,
    },
    /// Operands outside of the object's list.
    OperandRange,
    Variable(u32),
    Address(u32),
    Predicate(u32),
    Label(u32),
    Surface(u32),
    Sampler(u32),
    Str(u32),
    /// An alias of a variable that is not declared before.
    Alias(u32),
    AttrRange,
    /// Attribute values have at most [`limits::ATTRIBUTE_VALUE_BYTES`] bytes.
    AttrSize(usize),
    InputClass(u8),
    ExecSize(u8),
    AddressWidth(u8),
    Region(u16),
    /// A value that has more bits than its field; bytes of the field.
    Wide {
        value: u64,
        width: u8,
    },
    /// An instruction of another format version.
    Version((u8, u8)),
    /// A field that came with a later version says something.
    Later((u8, u8)),
    /// The address of a state in a register, before [`HANDLES_SINCE`].
    EarlyHandle,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Operand(wanted) => write!(f, "not {wanted}"),
            Fault::OperandCount { found, expected } => {
                write!(f, "{found} operands, expected {expected}")
            }
            Fault::OperandRange => f.write_str("operands outside of the object's list"),
            Fault::Variable(n) => write!(f, "{n} is not a variable"),
            Fault::Address(n) => write!(f, "{n} is not an address variable"),
            Fault::Predicate(n) => write!(f, "{n} is not a predicate"),
            Fault::Label(n) => write!(f, "{n} is not a label"),
            Fault::Surface(n) => write!(f, "{n} is not a surface"),
            Fault::Sampler(n) => write!(f, "{n} is not a sampler"),
            Fault::Str(n) => write!(f, "{n} is not a string"),
            Fault::Alias(n) => write!(f, "{n} is not a variable declared before"),
            Fault::AttrRange => f.write_str("attributes outside of the object's list"),
            Fault::AttrSize(n) => {
                write!(f, "a value of {n} bytes, at most {} fit", limits::ATTRIBUTE_VALUE_BYTES)
            }
            Fault::InputClass(n) => {
                write!(f, "class {n} is neither general (0) nor sampler (1) nor surface (2)")
            }
            Fault::ExecSize(n) => write!(f, "execution size code {n}, at most 5 (32 channels)"),
            Fault::AddressWidth(n) => write!(f, "width code {n}, at most 5 (32 elements)"),
            Fault::Region(n) => write!(f, "0x{n:04x} is not a region"),
            Fault::Wide { value, width } => write!(f, "0x{value:x} does not fit {width} bytes"),
            Fault::Later((major, minor)) => {
                write!(f, "not zero, as before version {major}.{minor}, which brought it")
            }
            Fault::EarlyHandle => {
                let (major, minor) = HANDLES_SINCE;
                write!(f, "the address of a state in a register, which version {major}.{minor} brought")
            }
            Fault::Version((major, minor)) => {
                write!(f, "not an instruction of version {major}.{minor}")
            }
        }
    }
}

/// Why a module is not sound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsound {
    /// The object, by its index.
    pub object: usize,
    /// Where in the source, if known.
    pub span: Span,
    /// Which part of it: `variable 7: alias`, `instruction 3 (ADD): src0`.
    pub place: String,
    /// What is wrong.
    pub fault: Fault,
}

impl fmt::Display for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object {}: {}: {}", self.object, self.place, self.fault)
    }
}

impl std::error::Error for Unsound {}

/// One past the last index of everything an object declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Limits {
    pub predefined: u32,
    pub vars: u32,
    pub addresses: u32,
    pub predicates: u32,
    pub labels: u32,
    pub surfaces: u32,
    pub samplers: u32,
    pub strings: u32,
}

impl Limits {
    /// Of an object of a module of this version.
    pub fn of(object: &Object, version: (u8, u8)) -> Limits {
        fn count(n: usize, first: u32) -> u32 {
            u32::try_from(n).unwrap_or(u32::MAX).saturating_add(first)
        }
        Limits {
            predefined: predefined::vars(version).len() as u32,
            vars: count(object.vars.len(), predefined::FIRST_VAR),
            addresses: count(object.addresses.len(), 0),
            predicates: count(object.predicates.len(), predefined::FIRST_PREDICATE as u32),
            labels: count(object.labels.len(), 0),
            surfaces: count(object.surfaces.len(), predefined::FIRST_SURFACE as u32),
            samplers: count(object.samplers.len(), 0),
            strings: count(object.strings.len(), 0),
        }
    }

    /// Is this a general variable, declared or predefined?
    #[inline]
    pub const fn has_var(&self, id: u32) -> bool {
        id < self.vars && (id >= predefined::FIRST_VAR || id < self.predefined)
    }

    /// Is this a surface, declared or predefined?
    #[inline]
    pub const fn has_surface(&self, id: u32) -> bool {
        id < self.surfaces
    }

    /// Is this a sampler, declared or the bindless one?
    #[inline]
    pub const fn has_sampler(&self, id: u32) -> bool {
        id < self.samplers || id == predefined::SAMPLER_BINDLESS as u32
    }

    /// Is `operand` sound in a slot of this kind? For `Many` and `If` the kind inside counts.
    #[inline]
    pub fn check(&self, kind: &SlotKind, operand: &Operand) -> Result<(), Fault> {
        match (kind, operand) {
            (SlotKind::Exec, Operand::Exec(e)) => {
                if e.log2 > 5 {
                    return Err(Fault::ExecSize(e.log2));
                }
                if e.mask.0 > 15 {
                    return Err(Fault::Wide { value: e.mask.0 as u64, width: 1 });
                }
            }
            (SlotKind::Pred, Operand::Pred(p)) => {
                if p.id as u32 >= self.predicates || p.id > 0xfff {
                    return Err(Fault::Predicate(p.id as u32));
                }
            }
            (SlotKind::Vector(_), _) => return self.check_vector(operand),
            (SlotKind::Raw { .. }, Operand::Raw { var, .. }) => {
                if !self.has_var(*var) {
                    return Err(Fault::Variable(*var));
                }
            }
            (SlotKind::Surface { .. }, Operand::Surface(id)) => {
                if !self.has_surface(*id as u32) {
                    return Err(Fault::Surface(*id as u32));
                }
            }
            (SlotKind::Sampler { .. }, Operand::Sampler(id)) => {
                if !self.has_sampler(*id as u32) {
                    return Err(Fault::Sampler(*id as u32));
                }
            }
            (
                SlotKind::Surface { allowed: SurfaceRule { address, .. } } | SlotKind::Sampler { address },
                Operand::Handle { var, .. },
            ) => {
                if *address == Platforms::NONE {
                    return Err(Fault::Operand(kind.wants()));
                }
                if !self.has_var(*var) {
                    return Err(Fault::Variable(*var));
                }
            }
            (SlotKind::Label(_), Operand::Label(id)) => {
                if *id as u32 >= self.labels {
                    return Err(Fault::Label(*id as u32));
                }
            }
            (SlotKind::Str { width }, Operand::Str(id)) => {
                if *id >= self.strings {
                    return Err(Fault::Str(*id));
                }
                return check_width(*id, *width);
            }
            (
                SlotKind::Field { width, .. }
                | SlotKind::Packed { width, .. }
                | SlotKind::Count { width, .. },
                Operand::Int(n),
            ) => return check_width(*n, *width),
            (SlotKind::Many(kind) | SlotKind::If { kind, .. }, _) => return self.check(kind, operand),
            _ => return Err(Fault::Operand(kind.wants())),
        }
        Ok(())
    }

    #[inline]
    fn check_vector(&self, operand: &Operand) -> Result<(), Fault> {
        match *operand {
            Operand::General { var, region, .. } => {
                if !self.has_var(var) {
                    return Err(Fault::Variable(var));
                }
                check_region(region)
            }
            Operand::Imm { ty, bits } => {
                if bits > u32::MAX as u64 && !is_qword(ty) {
                    return Err(Fault::Wide { value: bits, width: 4 });
                }
                Ok(())
            }
            Operand::Address { id, width_log2, .. } => {
                if id as u32 >= self.addresses {
                    return Err(Fault::Address(id as u32));
                }
                if width_log2 > 5 {
                    return Err(Fault::AddressWidth(width_log2));
                }
                Ok(())
            }
            Operand::Predicate(p) => {
                if p.id == 0 || p.id as u32 >= self.predicates || p.id > 0xfff {
                    return Err(Fault::Predicate(p.id as u32));
                }
                Ok(())
            }
            Operand::Indirect { addr, region, .. } => {
                if addr as u32 >= self.addresses {
                    return Err(Fault::Address(addr as u32));
                }
                check_region(region)
            }
            Operand::AddressOf { var, .. } => {
                if !self.has_var(var) {
                    return Err(Fault::Variable(var));
                }
                Ok(())
            }
            Operand::State { class: StateClass::Surface, id, .. } => {
                if !self.has_surface(id as u32) {
                    return Err(Fault::Surface(id as u32));
                }
                Ok(())
            }
            Operand::State { class: StateClass::Sampler, id, .. } => {
                if !self.has_sampler(id as u32) {
                    return Err(Fault::Sampler(id as u32));
                }
                Ok(())
            }
            _ => Err(Fault::Operand("a vector operand")),
        }
    }
}

/// Immediates of 8 bytes in the binary.
pub(crate) const fn is_qword(ty: Type) -> bool {
    matches!(ty, Type::Df | Type::Q | Type::Uq)
}

#[inline]
const fn check_width(value: u32, width: u8) -> Result<(), Fault> {
    if width < 4 && value >> (8 * width as u32) != 0 {
        return Err(Fault::Wide { value: value as u64, width });
    }
    Ok(())
}

#[inline]
const fn check_region(r: Region) -> Result<(), Fault> {
    if r.is_valid() { Ok(()) } else { Err(Fault::Region(r.0)) }
}

impl SlotKind {
    /// Does a surface or sampler slot take the address of a state, on some platform?
    pub fn takes_address(&self) -> bool {
        match self {
            SlotKind::Surface { allowed: SurfaceRule { address, .. } } | SlotKind::Sampler { address } => {
                *address != Platforms::NONE
            }
            SlotKind::Many(kind) | SlotKind::If { kind, .. } => kind.takes_address(),
            _ => false,
        }
    }

    /// What operand such a slot wants, for messages.
    pub const fn wants(&self) -> &'static str {
        match self {
            SlotKind::Exec => "an execution size",
            SlotKind::Pred => "a predicate",
            SlotKind::Vector(_) => "a vector operand",
            SlotKind::Raw { .. } => "a raw operand",
            SlotKind::Surface { .. } => "a surface",
            SlotKind::Sampler { .. } => "a sampler",
            SlotKind::Label(_) => "a label",
            SlotKind::Str { .. } => "a string",
            SlotKind::Field { .. } | SlotKind::Packed { .. } => "a field's value",
            SlotKind::Count { .. } => "a count",
            SlotKind::Many(kind) | SlotKind::If { kind, .. } => kind.wants(),
        }
    }
}

/// Checks the operands of one instruction against the slots of its row; on error gives the index of
/// the operand where there is one.
#[inline]
fn check_operands(
    limits: &Limits,
    slots: &'static [crate::desc::Slot],
    operands: &[Operand],
    version: (u8, u8),
) -> Result<(), (Option<usize>, Fault)> {
    let mut count = 0u32;
    for (i, slot) in slots.iter().enumerate() {
        if let SlotKind::Many(kind) = &slot.kind {
            let rest = operands.get(i..).unwrap_or_default();
            if rest.len() != count as usize {
                let (found, expected) = (operands.len(), i.saturating_add(count as usize));
                return Err((None, Fault::OperandCount { found, expected }));
            }
            for (j, operand) in rest.iter().enumerate() {
                limits.check(kind, operand).map_err(|f| (Some(i + j), f))?;
            }
            return Ok(());
        }
        let Some(operand) = operands.get(i) else {
            return Err((None, Fault::OperandCount { found: operands.len(), expected: slots.len() }));
        };
        if matches!(operand, Operand::Handle { .. }) && version < HANDLES_SINCE {
            return Err((Some(i), Fault::EarlyHandle));
        }
        if !slot.is_in(version) && *operand != Operand::Int(0) {
            return Err((Some(i), Fault::Later(slot.since)));
        }
        if let SlotKind::If { slot, bit, .. } = &slot.kind
            && operands[*slot as usize].int().unwrap_or(0) >> bit & 1 == 0
        {
            if *operand != Operand::Int(0) {
                return Err((Some(i), Fault::Operand("absent, because its flag says so")));
            }
            continue;
        }
        limits.check(&slot.kind, operand).map_err(|f| (Some(i), f))?;
        if let (SlotKind::Count { .. }, Operand::Int(n)) = (&slot.kind, operand) {
            count = *n;
        }
    }
    if operands.len() != slots.len() {
        return Err((None, Fault::OperandCount { found: operands.len(), expected: slots.len() }));
    }
    Ok(())
}

impl Module {
    /// Is the module sound (see the list in this file's head)? Parser and reader guarantee it;
    /// whoever builds a module by other means asks here.
    pub fn check_sound(&self) -> Result<(), Unsound> {
        for (i, object) in self.objects.iter().enumerate() {
            object.check_tables(self.version).map_err(|(place, span, fault)| Unsound {
                object: i,
                span,
                place,
                fault,
            })?;
            let limits = Limits::of(object, self.version);
            for (n, inst) in object.insts.iter().enumerate() {
                let desc = inst.desc();
                let fail = |slot: Option<crate::SlotName>, fault| {
                    let mut place = format!("instruction {n} ({})", desc.name);
                    if let Some(slot) = slot {
                        place.push_str(": ");
                        place.push_str(slot.as_str());
                    }
                    Unsound { object: i, span: inst.span, place, fault }
                };
                let version = if self.version < (4, 2) { (4, 1) } else { self.version };
                if !desc.versions.contains(version) {
                    return Err(fail(None, Fault::Version(self.version)));
                }
                let first = inst.first as usize;
                let Some(operands) = object.operands.get(first..first + inst.len as usize) else {
                    return Err(fail(None, Fault::OperandRange));
                };
                check_operands(&limits, desc.slots, operands, version).map_err(|(at, fault)| {
                    let slot = at.map(|at| desc.slots[at.min(desc.slots.len() - 1)].name);
                    fail(slot, fault)
                })?;
            }
        }
        Ok(())
    }
}

impl Object {
    /// The declarations' part of soundness, in a module of this version; on error gives place, span and fault.
    pub fn check_tables(&self, version: (u8, u8)) -> Result<(), (String, Span, Fault)> {
        let limits = Limits::of(self, version);
        let string = |name: u32, place: &dyn Fn() -> String, span: Span| {
            if name < limits.strings { Ok(()) } else { Err((place() + ": name", span, Fault::Str(name))) }
        };
        let attrs = |range: crate::AttrRange, place: &dyn Fn() -> String, span: Span| {
            let end = range.start as usize + range.len as usize;
            if range.len == 0 || end <= self.var_attrs.len() {
                Ok(())
            } else {
                Err((place() + ": attributes", span, Fault::AttrRange))
            }
        };
        for (i, v) in self.vars.iter().enumerate() {
            let id = predefined::FIRST_VAR + i as u32;
            let place = || format!("variable {id}");
            string(v.name, &place, v.span)?;
            attrs(v.attrs, &place, v.span)?;
            if v.alias != 0 && (v.alias >= id || !limits.has_var(v.alias)) {
                return Err((place() + ": alias", v.span, Fault::Alias(v.alias)));
            }
        }
        for (kind, first, list) in [
            ("address", 0, &self.addresses),
            ("predicate", predefined::FIRST_PREDICATE as usize, &self.predicates),
            ("sampler", 0, &self.samplers),
            ("surface", predefined::FIRST_SURFACE as usize, &self.surfaces),
        ] {
            for (i, v) in list.iter().enumerate() {
                let place = || format!("{kind} {}", first + i);
                string(v.name, &place, v.span)?;
                attrs(v.attrs, &place, v.span)?;
            }
        }
        for (i, label) in self.labels.iter().enumerate() {
            string(label.name, &|| format!("label {i}"), label.span)?;
        }
        for (i, input) in self.inputs.iter().enumerate() {
            let fault = match input.kind & 7 {
                0 if limits.has_var(input.id) => continue,
                0 => Fault::Variable(input.id),
                1 if limits.has_sampler(input.id) => continue,
                1 => Fault::Sampler(input.id),
                2 if limits.has_surface(input.id) => continue,
                2 => Fault::Surface(input.id),
                class => Fault::InputClass(class),
            };
            return Err((format!("input {i}"), input.span, fault));
        }
        for (kind, list) in [("attribute", &self.attrs), ("variable attribute", &self.var_attrs)] {
            for (i, attr) in list.iter().enumerate() {
                let place = || format!("{kind} {i}");
                string(attr.name, &place, attr.span)?;
                if attr.value.len() > limits::ATTRIBUTE_VALUE_BYTES {
                    return Err((place() + ": value", attr.span, Fault::AttrSize(attr.value.len())));
                }
            }
        }
        Ok(())
    }
}
