//! Makes operands.

use super::*;
use envisa_isa::SlotName;
use envisa_isa::desc::SurfaceRule;
use envisa_isa::{FieldName, HANDLES_SINCE};

impl Gen<'_> {
    pub(super) fn operand(
        &mut self,
        d: &InstDesc,
        shape: &Shape,
        slot: &Slot,
        kind: &SlotKind,
        fixed: &[(FieldName, u32)],
    ) -> Operand {
        match kind {
            SlotKind::Exec => Operand::Exec(shape.exec),
            SlotKind::Pred => Operand::Pred(if self.rng.one_in(3) { self.pred() } else { Pred::NONE }),
            SlotKind::Vector(classes) => self.vector(d, shape, slot, *classes),
            SlotKind::Raw { nullable } => {
                if *nullable && self.rng.one_in(4) {
                    return Operand::RAW_NULL;
                }
                let var = self.var_of(slot.types, None);
                Operand::Raw { var, offset: 64 * self.rng.below(4) as u16 }
            }
            SlotKind::Surface { allowed: SurfaceRule { address, .. } } | SlotKind::Sampler { address }
                if self.options.version >= HANDLES_SINCE
                    && self.on_platform(*address)
                    && self.rng.one_in(3) =>
            {
                let var = self.var_of(TypeSet::of(&[Type::Uq, Type::Q]), None);
                let index = if self.rng.one_in(3) { self.rng.below(8) } else { 0 };
                Operand::Handle { var, row: 0, col: 0, index }
            }
            SlotKind::Surface { allowed } => {
                if self.on_platform(allowed.slm) && self.rng.one_in(8) {
                    return Operand::Surface(predefined::SURFACE_SLM);
                }
                if self.on_platform(allowed.stateless) && self.rng.one_in(8) {
                    return Operand::Surface(predefined::SURFACE_SCRATCH);
                }
                let n = self.rng.below(self.o.surfaces.len() as u32) as u8;
                Operand::Surface(predefined::FIRST_SURFACE + n)
            }
            SlotKind::Sampler { .. } => match self.rng.one_in(8) {
                true => Operand::Sampler(predefined::SAMPLER_BINDLESS),
                false => Operand::Sampler(self.rng.below(self.o.samplers.len() as u32) as u8),
            },
            // What may be called is a subroutine.
            SlotKind::Label(LabelKind::Subroutine | LabelKind::Any) => {
                let l = BLOCKS + self.rng.below(SUBROUTINES as u32) as usize;
                Operand::Label(self.mention(l))
            }
            SlotKind::Label(_) => {
                let l = self.rng.below(BLOCKS as u32) as usize;
                Operand::Label(self.mention(l))
            }
            SlotKind::Str { .. } => {
                let name = format!("name_{}", self.rng.below(100));
                Operand::Str(self.o.strings.push(&name))
            }
            SlotKind::Field { width, enc } => {
                let set = fixed.iter().find(|(n, _)| *n == slot.name.whole()).map(|(_, v)| *v);
                Operand::Int(set.unwrap_or_else(|| self.value(enc, *width)))
            }
            SlotKind::Packed { parts, .. } => {
                let mut packed = 0;
                for part in *parts {
                    let set = fixed.iter().find_map(|(n, v)| (*n == slot.name.part(part.name)).then_some(*v));
                    let v = set.unwrap_or_else(|| self.value(&part.enc, 4));
                    packed = part.set(packed, v);
                }
                Operand::Int(packed)
            }
            SlotKind::Count { min, .. } => Operand::Int(*min as u32),
            SlotKind::Many(kind) | SlotKind::If { kind, .. } => self.operand(d, shape, slot, kind, fixed),
        }
    }

    pub(super) fn pred(&mut self) -> Pred {
        use envisa_isa::Combine;
        Pred {
            id: 1 + self.rng.below(self.o.predicates.len() as u32) as u16,
            combine: *self.rng.pick(&[Combine::None, Combine::None, Combine::Any, Combine::All]),
            invert: self.rng.one_in(2),
        }
    }

    /// A legal value of a field.
    pub(super) fn value(&mut self, enc: &Enc, width: u8) -> u32 {
        match enc {
            Enc::Number { max } | Enc::Hex { max } | Enc::HexDigits { max } => match self.rng.below(4) {
                0 => *max,
                1 => 0,
                2 => self.rng.below((*max).min(8) + 1),
                _ => (self.rng.bits() % (*max as u64 + 1)) as u32,
            },
            Enc::Signed => {
                let n = self.rng.below(0x1000) as i32 - 0x800;
                let bits = if width >= 4 { u32::MAX } else { (1 << (8 * width)) - 1 };
                (if width == 1 { n >> 5 } else { n }) as u32 & bits
            }
            Enc::Values(values) | Enc::ExecLike(values) => {
                let values: Vec<u32> =
                    values.iter().filter(|v| self.on_platform(v.platforms)).map(|v| v.code).collect();
                let code = if values.is_empty() { 0 } else { *self.rng.pick(&values) };
                match enc {
                    // All masks fit 8 or fewer channels; for 16 the half of the mask.
                    Enc::ExecLike(_) => code | *self.rng.pick(&[0, 4, 8, 12]) << 4,
                    _ => code,
                }
            }
            Enc::Channels => 1 + self.rng.below(15),
            Enc::Ignored(n) => *n,
        }
    }

    /// A variable of one of these types (other than `avoid`); any variable if there is none.
    pub(super) fn var_of(&mut self, types: TypeSet, avoid: Option<u32>) -> u32 {
        let fitting: Vec<u32> = (0..VARS)
            .map(|n| predefined::FIRST_VAR + n)
            .filter(|id| self.o.var(*id).is_some_and(|v| types.contains(v.ty)) && Some(*id) != avoid)
            .collect();
        match fitting.is_empty() {
            true => predefined::FIRST_VAR + self.rng.below(VARS),
            false => *self.rng.pick(&fitting),
        }
    }

    pub(super) fn vector(&mut self, d: &InstDesc, shape: &Shape, slot: &Slot, classes: Classes) -> Operand {
        let write = slot.role == Role::Write;
        let mut types = slot.types;
        if let Some(map) = &shape.types {
            let of_map = if write { map.dst } else { map.src };
            let both = TypeSet(types.0 & of_map.0);
            types = if both == TypeSet::NONE { of_map } else { both };
        }
        let addr_add = d.operation == Some(Operation::AddressAdd);
        // Logic is of numbers or of predicates.
        let logic = matches!(d.operation, Some(Operation::Compute(op)) if is_logic(op))
            .then(|| shape.types.as_ref().is_some_and(|t| t.dst == TypeSet::of(&[Type::Bool])));
        let list: Vec<Classes> = [
            Classes::GENERAL,
            Classes::GENERAL,
            Classes::GENERAL,
            Classes::INDIRECT,
            Classes::IMM,
            Classes::ADDRESS,
            Classes::PREDICATE,
            Classes::ADDRESS_OF,
            Classes::STATE,
        ]
        .into_iter()
        // The binary tells an address of a variable from the variable only as the first source of ADDR_ADD.
        .filter(|c| {
            classes.has(*c)
                && logic.is_none_or(|predicates| predicates == (*c == Classes::PREDICATE))
                && match *c {
                    Classes::ADDRESS_OF => addr_add && slot.name == SlotName::Src0,
                    Classes::GENERAL => !(addr_add && slot.name == SlotName::Src0),
                    _ => true,
                }
        })
        .collect();
        if list.is_empty() {
            return self.general(d, shape, slot, types);
        }
        match *self.rng.pick(&list) {
            Classes::INDIRECT => self.indirect(d, shape, slot, types),
            Classes::IMM => self.immediate(types),
            Classes::ADDRESS => Operand::Address {
                id: self.rng.below(self.o.addresses.len() as u32) as u16,
                offset: self.rng.below(4) as u8,
                width_log2: self.rng.below(3) as u8,
                modifier: Modifier::None,
            },
            Classes::PREDICATE => Operand::Predicate(Pred {
                id: 1 + self.rng.below(self.o.predicates.len() as u32) as u16,
                ..Pred::NONE
            }),
            Classes::ADDRESS_OF => {
                let var = self.var_of(TypeSet::ANY, None);
                Operand::AddressOf { var, offset: 8 * self.rng.below(16) as u16 }
            }
            Classes::STATE => {
                let class = *self.rng.pick(&[StateClass::Surface, StateClass::Sampler]);
                let id = match class {
                    StateClass::Surface => 6 + self.rng.below(self.o.surfaces.len() as u32),
                    StateClass::Sampler => self.rng.below(self.o.samplers.len() as u32),
                };
                Operand::State { class, id: id as u16, offset: 0 }
            }
            _ => self.general(d, shape, slot, types),
        }
    }

    pub(super) fn modifier(&mut self, d: &InstDesc, slot: &Slot, ty: Type) -> Modifier {
        if !self.rng.one_in(4) {
            return Modifier::None;
        }
        if slot.role == Role::Write {
            return match d.modifiers.saturation {
                Saturation::Yes if slot.name == SlotName::Dst => Modifier::Sat,
                Saturation::FloatOnly if slot.name == SlotName::Dst && ty.is_float() => Modifier::Sat,
                _ => Modifier::None,
            };
        }
        match d.modifiers.source {
            SourceModifiers::No => Modifier::None,
            SourceModifiers::Arithmetic => *self.rng.pick(&[Modifier::Abs, Modifier::Neg, Modifier::NegAbs]),
            SourceModifiers::Logic => Modifier::Not,
        }
    }

    pub(super) fn region(&mut self, write: bool, channels: u32) -> Region {
        let parts = |v, w, h| Region::from_parts(v, w, h).unwrap_or(Region::CONTIGUOUS);
        if write {
            return parts(None, None, Some(*self.rng.pick(&[1, 1, 2, 4])));
        }
        match self.rng.below(4) {
            0 => Region::SCALAR,
            1 => Region::CONTIGUOUS,
            2 if channels > 1 => {
                let width = channels.min(8);
                let stride = *self.rng.pick(&[1, 2]);
                parts(Some((width * stride).min(32)), Some(width), Some(stride))
            }
            _ => parts(Some(*self.rng.pick(&[1, 2, 4])), Some(1), Some(0)),
        }
    }

    pub(super) fn general(&mut self, d: &InstDesc, shape: &Shape, slot: &Slot, types: TypeSet) -> Operand {
        let var = self.var_of(types, None);
        let ty = self.o.var(var).map_or(Type::Ud, |v| v.ty);
        let write = slot.role == Role::Write;
        let region = self.region(write, shape.channels);
        let modifier = self.modifier(d, slot, ty);
        let (row, col) = (self.rng.below(4) as u8, self.rng.below(4) as u8);
        Operand::General { var, row, col, region, modifier }
    }

    pub(super) fn indirect(&mut self, d: &InstDesc, shape: &Shape, slot: &Slot, types: TypeSet) -> Operand {
        let storable = TypeSet(TypeSet::INT.union(TypeSet::FLOAT).0 & types.0);
        let list: Vec<Type> = storable.iter().collect();
        let ty = if list.is_empty() { Type::Ud } else { *self.rng.pick(&list) };
        let write = slot.role == Role::Write;
        let mut region = self.region(write, shape.channels);
        // Some of these send the reference assembler into an endless loop: scalars, and what is not a region.
        let looping = self.options.reference && (shape.channels == 1 || shape.types.is_none());
        if !write && self.rng.one_in(4) && !looping {
            let width = (shape.channels > 1).then_some(shape.channels.min(4));
            region = Region::from_parts(None, width, Some(1)).unwrap_or(region);
        }
        Operand::Indirect {
            addr: self.rng.below(self.o.addresses.len() as u32) as u16,
            offset: self.rng.below(4) as u8,
            byte_offset: 16 * (self.rng.below(16) as i16 - 8),
            ty,
            region,
            modifier: self.modifier(d, slot, ty),
        }
    }

    pub(super) fn immediate(&mut self, types: TypeSet) -> Operand {
        // No bytes' or brain floats' immediates.
        let literal = TypeSet::of(&[
            Type::Ud,
            Type::D,
            Type::Uw,
            Type::W,
            Type::F,
            Type::Df,
            Type::Hf,
            Type::Uq,
            Type::Q,
            Type::V,
            Type::Uv,
            Type::Vf,
        ]);
        let list: Vec<Type> = TypeSet(literal.0 & types.0).iter().collect();
        let ty = if list.is_empty() { Type::Ud } else { *self.rng.pick(&list) };
        let random = self.rng.bits() >> self.rng.below(56);
        let bits = match ty {
            // As numbers stand in the binary: the upper bits repeat the sign.
            Type::W => random as i16 as i32 as u32 as u64,
            Type::Uw | Type::Hf => random & 0xffff,
            // No NaN: the reference tools quiet them.
            Type::F => {
                let bits = (random as u32).rotate_left(self.rng.below(32));
                if f32::from_bits(bits).is_nan() { 0x3f80_0000 } else { bits as u64 }
            }
            Type::Df => {
                let bits = random.rotate_left(self.rng.below(64));
                if f64::from_bits(bits).is_nan() { 0x3ff0_0000_0000_0000 } else { bits }
            }
            Type::Q | Type::Uq => random,
            _ => random & 0xffff_ffff,
        };
        Operand::Imm { ty, bits }
    }
}
