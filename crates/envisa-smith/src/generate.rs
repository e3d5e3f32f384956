//! Random modules from the table, for tests: every instruction, every legal value of every field.
//!
//! A module is a function of its seed and options. It is sound, its binary reads back as it is, and
//! its string pool has the order in which text that declares the same things builds it.

mod operand;

use envisa_isa::desc::{
    Classes, Enc, Family, InstDesc, LabelKind, Role, Saturation, Slot, SlotKind, SourceModifiers, TypeMap,
};
use envisa_isa::operation::{Compute, Control, Operation};
use envisa_isa::{
    Align, Attr, AttrRange, Exec, ExecMask, GeneralVar, Input, Inst, Label, LabelUse, Modifier, Module,
    Object, ObjectKind, Op, Operand, Platform, Platforms, Pred, Region, SimpleVar, SlotName, Span,
    StateClass, Type, TypeSet, fixed_strings, predefined,
};

/// Logic works on predicates too.
fn is_logic(op: Compute) -> bool {
    matches!(op, Compute::And | Compute::Or | Compute::Xor | Compute::Not)
}

/// A small generator of random numbers (SplitMix64): the same everywhere, for a seed.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// From a seed.
    pub const fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `n`; 0 if `n` is 0.
    pub const fn below(&mut self, n: u32) -> u32 {
        (((self.bits() >> 32) * n as u64) >> 32) as u32
    }

    /// True once in `n` times.
    pub const fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// One of a list, which must not be empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u32) as usize]
    }
}

/// What is generated.
#[derive(Clone, Debug)]
pub struct Options {
    /// Format version: it selects the rows.
    pub version: (u8, u8),
    /// Only rows, field values and types of this platform; `None`: of any.
    pub platform: Option<Platform>,
    /// Number of instructions in each object, labels and returns aside.
    pub insts: usize,
    /// Number of kernels.
    pub kernels: usize,
    /// Number of stack-call functions.
    pub functions: usize,
    /// Only these instructions; `None`: all.
    pub ops: Option<Vec<Op>>,
    /// Only fields that the reference assembler takes in text, where it is choosier than the rows say.
    pub reference: bool,
    /// Bytes of a variable that is not an alias, a multiple of 512; aliases have a quarter.
    pub var_bytes: u32,
    /// Instructions in turn instead of at random, so that a long enough object has each.
    pub in_turn: bool,
}

impl Default for Options {
    /// One kernel of 50 instructions of 4.1, any platform.
    fn default() -> Self {
        Options {
            version: (4, 1),
            platform: None,
            insts: 50,
            kernels: 1,
            functions: 0,
            ops: None,
            reference: false,
            var_bytes: 4096,
            in_turn: false,
        }
    }
}

/// Number of block labels an object has.
const BLOCKS: usize = 6;
/// Number of variables that instructions use.
const VARS: u32 = 26;
/// Number of subroutines an object has.
const SUBROUTINES: usize = 2;

/// A random module.
pub fn module(seed: u64, options: &Options) -> Module {
    let mut rng = Rng::new(seed);
    let candidates: Vec<Op> = Op::ALL
        .iter()
        .copied()
        .filter(|op| {
            let d = op.desc();
            d.versions.contains(options.version)
                && options.platform.is_none_or(|p| d.platforms.contains(p))
                && options.ops.as_ref().is_none_or(|ops| ops.contains(op))
                && !matches!(op, Op::Label | Op::Subroutine)
        })
        .collect();
    let mut objects = Vec::new();
    for i in 0..options.kernels + options.functions {
        let kind = if i < options.kernels { ObjectKind::Kernel } else { ObjectKind::Function };
        let mut g = Gen {
            rng: Rng::new(rng.bits()),
            options,
            o: Object { kind, ..Object::default() },
            labels: Vec::new(),
        };
        g.object(i, &candidates);
        objects.push(g.o);
    }
    Module { version: options.version, objects }
}

struct Gen<'a> {
    rng: Rng,
    options: &'a Options,
    o: Object,
    /// Index of each label that has been mentioned.
    labels: Vec<Option<u16>>,
}

/// What is settled for one instruction before its operands.
struct Shape {
    types: Option<TypeMap>,
    channels: u32,
    exec: Exec,
}

impl Gen<'_> {
    fn object(&mut self, index: usize, candidates: &[Op]) {
        let name = match self.o.kind {
            ObjectKind::Kernel => format!("kernel_{index}"),
            ObjectKind::Function => format!("function_{index}"),
        };
        self.o.strings.push(&name);
        self.o.name = name;
        for s in fixed_strings(self.options.version) {
            self.o.strings.push(s);
        }
        self.labels = vec![None; BLOCKS + SUBROUTINES];
        self.declarations();
        self.attributes();

        let n = self.options.insts;
        for i in 0..n {
            // Block labels at even distances.
            if i * BLOCKS / n.max(1) != (i + 1) * BLOCKS / n.max(1) {
                self.label(i * BLOCKS / n.max(1));
            }
            if candidates.is_empty() {
                continue;
            }
            let op = match self.options.in_turn {
                true => candidates[i % candidates.len()],
                false => *self.rng.pick(candidates),
            };
            self.inst(op);
        }
        for l in 0..BLOCKS {
            if n == 0 || self.labels[l].is_some_and(|l| !self.is_placed(l)) {
                self.label(l);
            }
        }
        self.ret();
        for l in BLOCKS..BLOCKS + SUBROUTINES {
            self.label(l);
            self.ret();
        }
    }

    fn is_placed(&self, label: u16) -> bool {
        self.o
            .insts
            .iter()
            .any(|i| matches!(i.op, Op::Label | Op::Subroutine) && self.o.ops(i)[0] == Operand::Label(label))
    }

    fn push(&mut self, op: Op, operands: &[Operand]) {
        let first = self.o.operands.len() as u32;
        self.o.operands.extend_from_slice(operands);
        self.o.insts.push(Inst { op, len: operands.len() as u16, first, span: Span::NONE });
    }

    fn ret(&mut self) {
        let op = match self.o.kind {
            ObjectKind::Kernel => Some(Op::Ret),
            ObjectKind::Function => Op::from_binary(0x68, None, self.options.version),
        };
        let exec = Operand::Exec(Exec { log2: 0, mask: ExecMask::M1 });
        self.push(op.unwrap_or(Op::Ret), &[exec, Operand::Pred(Pred::NONE)]);
    }

    /// Index of a label, which is made when it is first mentioned.
    fn mention(&mut self, label: usize) -> u16 {
        if let Some(i) = self.labels[label] {
            return i;
        }
        let (kind, name) = match label < BLOCKS {
            true => (LabelUse::Block, format!("BB_{label}")),
            false => (LabelUse::Subroutine, format!("sub_{label}")),
        };
        let name = self.o.strings.push(&name);
        let i = self.o.labels.len() as u16;
        self.o.labels.push(Label { name, kind, span: Span::NONE });
        self.labels[label] = Some(i);
        i
    }

    fn label(&mut self, label: usize) {
        let op = if label < BLOCKS { Op::Label } else { Op::Subroutine };
        let i = self.mention(label);
        if !self.is_placed(i) {
            self.push(op, &[Operand::Label(i)]);
        }
    }

    fn var_attr(&mut self, names: &[(&str, &[u8])]) -> AttrRange {
        if !self.rng.one_in(8) {
            return AttrRange::default();
        }
        let start = self.o.var_attrs.len() as u32;
        let (name, value) = *self.rng.pick(names);
        let name = self.o.strings.push(name);
        self.o.var_attrs.push(Attr { name, value: value.to_vec(), span: Span::NONE });
        AttrRange { start, len: 1 }
    }

    fn declarations(&mut self) {
        const TYPES: [Type; 13] = [
            Type::Ud,
            Type::D,
            Type::Uw,
            Type::W,
            Type::Ub,
            Type::B,
            Type::Df,
            Type::F,
            Type::Uq,
            Type::Q,
            Type::Hf,
            Type::Bf,
            Type::Ud,
        ];
        // One big variable of each type, then aliases of them.
        for n in 0..VARS {
            let id = predefined::FIRST_VAR + n;
            let name = self.o.strings.push(&format!("V{id}"));
            let ty = TYPES[n as usize % TYPES.len()];
            let fresh = n < 13 || self.rng.one_in(4);
            let (alias, alias_offset) = match fresh {
                true => (0, 0),
                false => (predefined::FIRST_VAR + self.rng.below(n.min(13)), 64 * self.rng.below(4) as u16),
            };
            let attrs = self.var_attr(&[("Output", &[]), ("Input_Output", &[]), ("Input", &[])]);
            self.o.vars.push(GeneralVar {
                name,
                ty,
                align: *self.rng.pick(&[Align::Grf, Align::Grf2, Align::Word64, Align::Word32]),
                elems: (if fresh { self.options.var_bytes } else { self.options.var_bytes / 4 } / ty.size())
                    as u16,
                alias,
                alias_offset,
                attrs,
                span: Span::NONE,
            });
        }
        // Three more that are the inputs, of their size.
        for n in VARS..VARS + 3 {
            let id = predefined::FIRST_VAR + n;
            let name = self.o.strings.push(&format!("V{id}"));
            self.o.vars.push(GeneralVar {
                name,
                ty: Type::Ud,
                align: Align::Grf,
                elems: 16,
                alias: 0,
                alias_offset: 0,
                attrs: AttrRange::default(),
                span: Span::NONE,
            });
        }
        for n in 0..4u32 {
            let name = self.o.strings.push(&format!("A{n}"));
            let elems = *self.rng.pick(&[8, 16]);
            self.o.addresses.push(SimpleVar { name, elems, attrs: AttrRange::default(), span: Span::NONE });
        }
        for n in 1..=6u32 {
            let name = self.o.strings.push(&format!("P{n}"));
            self.o.predicates.push(SimpleVar {
                name,
                elems: 32,
                attrs: AttrRange::default(),
                span: Span::NONE,
            });
        }
        for n in 0..3u32 {
            let name = self.o.strings.push(&format!("S{n}"));
            self.o.samplers.push(SimpleVar { name, elems: 1, attrs: AttrRange::default(), span: Span::NONE });
        }
        for n in 6..10u32 {
            let name = self.o.strings.push(&format!("T{n}"));
            self.o.surfaces.push(SimpleVar { name, elems: 1, attrs: AttrRange::default(), span: Span::NONE });
        }
        if self.o.kind == ObjectKind::Kernel {
            for n in 0..3 {
                let id = predefined::FIRST_VAR + VARS + n;
                self.o.inputs.push(Input {
                    kind: 0,
                    id,
                    offset: 64 + 64 * n as i16,
                    size: 64,
                    span: Span::NONE,
                });
            }
            self.o.inputs.push(Input { kind: 2, id: 6, offset: 256, size: 4, span: Span::NONE });
            self.o.inputs.push(Input { kind: 1, id: 0, offset: 260, size: 4, span: Span::NONE });
        }
    }

    fn attributes(&mut self) {
        let mut attr = |name: &str, value: &[u8]| {
            let name = self.o.strings.push(name);
            self.o.attrs.push(Attr { name, value: value.to_vec(), span: Span::NONE });
        };
        attr("Target", &[0]);
        attr("SLMSize", &64u32.to_le_bytes());
        attr("SimdSize", &16u32.to_le_bytes());
        if self.o.kind == ObjectKind::Function {
            attr("Extern", &[]);
        }
    }

    fn on_platform(&self, p: Platforms) -> bool {
        self.options.platform.is_none_or(|on| p.contains(on)) && p != Platforms::NONE
    }

    fn inst(&mut self, op: Op) {
        let d = op.desc();
        let maps: Vec<&TypeMap> = d.type_maps.iter().filter(|m| self.on_platform(m.platforms)).collect();
        let types = (!maps.is_empty()).then(|| {
            let m = self.rng.pick(&maps);
            TypeMap { platforms: m.platforms, dst: m.dst, src: m.src }
        });
        let sizes: Vec<u8> = (0..6).filter(|n| d.exec_sizes >> n & 1 != 0).collect();
        let log2 = if sizes.is_empty() { 0 } else { *self.rng.pick(&sizes) };
        let channels = 1u32 << log2;
        let quarter = (self.rng.below(32 / channels) * channels / 4) as u8 & 7;
        let mask = ExecMask(quarter | if self.rng.one_in(4) { 8 } else { 0 });
        let shape = Shape { types, channels, exec: Exec { log2, mask } };

        let forms: Vec<_> = d.forms.iter().collect();
        let fixed = if forms.is_empty() { &[] } else { self.rng.pick(&forms).fixed };
        let mut operands = Vec::new();
        let mut count = 0;
        for slot in d.slots {
            if !slot.is_in(self.options.version) {
                operands.push(Operand::Int(0));
                continue;
            }
            match &slot.kind {
                SlotKind::Many(kind) => {
                    for _ in 0..count {
                        let operand = self.operand(d, &shape, slot, kind, fixed);
                        operands.push(operand);
                    }
                }
                SlotKind::If { slot: flag, bit, kind } => {
                    let on = operands
                        .get(*flag as usize)
                        .and_then(|o: &Operand| o.int())
                        .is_some_and(|f| f >> bit & 1 != 0);
                    let operand = match on {
                        true => self.operand(d, &shape, slot, kind, fixed),
                        false => Operand::Int(0),
                    };
                    operands.push(operand);
                }
                SlotKind::Count { min, max, .. } => {
                    // Most counts are small; all are possible.
                    let max = if self.rng.one_in(8) { *max } else { (*max).min(min.saturating_add(4)) };
                    count = *min as u32 + self.rng.below((max - min) as u32 + 1);
                    operands.push(Operand::Int(count));
                }
                kind => {
                    let operand = self.operand(d, &shape, slot, kind, fixed);
                    operands.push(operand);
                }
            }
        }
        self.settle(d, &mut operands);
        self.push(op, &operands);
    }

    /// Fields of a load/store-cache message to what the reference assembler takes: common shapes, addresses
    /// and caching, absent sources absent.
    fn settle_lsc(&mut self, d: &InstDesc, operands: &mut [Operand]) {
        let is = |part: &str| d.name.contains(part);
        let typed = d.opcode == Op::LscTypedLoadQuad.desc().opcode;
        let counter = is("COUNTER") || is("APNDCTR");
        let plain = (is("LSC_LOAD") || is("LSC_STORE")) && !is("BLOCK2D") && !is("QUAD") && !typed;
        let flat = is("BLOCK2D") || !typed && !counter && self.rng.one_in(2);
        let model = match (flat, typed) {
            (true, _) => 1,
            (false, true) => 4,
            (false, false) => *self.rng.pick(&[2, 3, 4]),
        };
        let index = match model {
            1 => Operand::Imm { ty: Type::Ud, bits: 0 },
            4 => Operand::Imm { ty: Type::Ud, bits: 1 + self.rng.below(200) as u64 },
            _ => {
                let var = self.var_of(TypeSet::of(&[Type::Ud]), None);
                let col = self.rng.below(4) as u8;
                Operand::General { var, row: 0, col, region: Region::SCALAR, modifier: Modifier::None }
            }
        };
        let address = if flat && self.rng.one_in(2) { 3 } else { 2 };
        // Default, or uncached, cached, streamed and written back where it makes sense.
        let (l1, l3) = match () {
            _ if is("LOAD") && !is("ATOMIC") => {
                *self.rng.pick(&[(0, 0), (0, 0), (1, 1), (1, 2), (2, 1), (2, 2), (5, 1), (5, 2)])
            }
            _ if is("STORE") && !is("ATOMIC") => {
                *self.rng.pick(&[(0, 0), (0, 0), (1, 1), (1, 3), (5, 1), (5, 3), (3, 3)])
            }
            _ => (0, 0),
        };
        let size = if plain { 3 + self.rng.below(5) } else { 3 };
        let elements = match plain {
            // Small elements come one at an address.
            true if size > 4 => 1,
            _ => 1 + self.rng.below(4),
        };
        let sources = match () {
            _ if is("CAS") => 2,
            _ if is("IINC") || is("IDEC") || is("ATOMIC_LOAD") || !(is("ATOMIC") || is("STORE")) => 0,
            _ => 1,
        };
        let small = |n| Operand::Int(n);
        // Coordinates are left out from the last one on.
        let coordinates = 1 + self.rng.below(4);
        for (slot, operand) in d.slots.iter().zip(operands) {
            let raw = Operand::Raw { var: predefined::FIRST_VAR + self.rng.below(VARS), offset: 0 };
            *operand = match slot.name {
                SlotName::L1 => small(l1),
                SlotName::L3 => small(l3),
                SlotName::AddrType => small(model),
                SlotName::AddrSize => small(address),
                SlotName::ImmScale => small(1),
                SlotName::DataSize => small(size),
                SlotName::DataOrder => small(1),
                SlotName::DataElems if is("ATOMIC") || is("STRIDED") => small(1),
                SlotName::DataElems => small(elements),
                SlotName::Blocks => small(1),
                SlotName::Width | SlotName::Height => small(1 + self.rng.below(8)),
                SlotName::Vnni => small(0),
                SlotName::Surface => index,
                SlotName::Stride => Operand::Imm { ty: Type::Ud, bits: 8 * self.rng.below(16) as u64 },
                SlotName::Src1 if sources == 0 => Operand::RAW_NULL,
                SlotName::Src2 if sources < 2 => Operand::RAW_NULL,
                SlotName::V if coordinates < 2 => Operand::RAW_NULL,
                SlotName::R if coordinates < 3 => Operand::RAW_NULL,
                SlotName::Lod if coordinates < 4 => Operand::RAW_NULL,
                SlotName::Src1
                | SlotName::Src2
                | SlotName::Dst
                | SlotName::Addr
                | SlotName::U
                | SlotName::V
                | SlotName::R
                | SlotName::Lod => raw,
                name if name.is_unused() => Operand::RAW_NULL,
                // The shape of a surface in memory: its base a register, the rest registers or numbers.
                SlotName::SurfaceBase
                | SlotName::SurfaceWidth
                | SlotName::SurfaceHeight
                | SlotName::SurfacePitch
                | SlotName::X
                | SlotName::Y => {
                    let var = self.var_of(TypeSet::of(&[Type::Ud, Type::D]), None);
                    let (row, col) = (self.rng.below(4) as u8, self.rng.below(4) as u8);
                    let (region, modifier) = (Region::SCALAR, Modifier::None);
                    match slot.name != SlotName::SurfaceBase && self.rng.one_in(2) {
                        true => Operand::Imm { ty: Type::Ud, bits: self.rng.below(1 << 16) as u64 },
                        false => Operand::General { var, row, col, region, modifier },
                    }
                }
                _ => match (&slot.kind, *operand) {
                    (SlotKind::Vector(_), Operand::General { .. } | Operand::Imm { .. }) => *operand,
                    (SlotKind::Vector(_), _) => Operand::Imm { ty: Type::Ud, bits: 0x3f },
                    _ => *operand,
                },
            };
        }
    }

    /// Operands that depend on each other beyond what the rows say.
    fn settle(&mut self, d: &InstDesc, operands: &mut [Operand]) {
        let is_lsc = d.family == Family::Lsc && !std::ptr::eq(d, Op::LscFence.desc());
        if self.options.reference && is_lsc {
            return self.settle_lsc(d, operands);
        }
        let Some(operation) = d.operation else { return };
        match (operation, &mut *operands) {
            // Logic of predicates is not predicated.
            (Operation::Compute(op), [_, pred, Operand::Predicate(_), ..]) if is_logic(op) => {
                *pred = Operand::Pred(Pred::NONE)
            }
            // One side of a move of state is a state.
            (Operation::Move, [_, dst, src])
                if std::ptr::eq(d, Op::Movs.desc())
                    && !matches!(dst, Operand::State { .. })
                    && !matches!(src, Operand::State { .. }) =>
            {
                *dst = Operand::State {
                    class: StateClass::Surface,
                    id: predefined::FIRST_SURFACE.into(),
                    offset: 0,
                };
            }
            // The text of a matrix has no region, and its precisions go together.
            (Operation::Systolic { .. }, [exec, _, _, _, src2, Operand::Int(control)])
                if self.options.reference =>
            {
                *exec = Operand::Exec(Exec { log2: 3, mask: ExecMask::M1 });
                if let Operand::General { region, modifier, .. } = src2 {
                    *region = Region::CONTIGUOUS;
                    *modifier = Modifier::None;
                }
                let (b, a) = match self.rng.one_in(4) {
                    true => *self.rng.pick(&[(9, 9), (10, 10)]),
                    false => (1 + self.rng.below(8), 1 + self.rng.below(8)),
                };
                *control = b | a << 8 | 8 << 16 | (1 + self.rng.below(8)) << 24;
            }
            // A jump takes all channels together.
            (Operation::Control(Control::Jump | Control::Switch), [exec, ..]) => {
                *exec = Operand::Exec(Exec { log2: 0, mask: ExecMask::M1 })
            }
            // A move from a predicate is scalar, and neither predicated nor saturated.
            (Operation::Move, [exec, pred, dst, Operand::Predicate(_)]) => {
                *exec = Operand::Exec(Exec::SCALAR_NM);
                *pred = Operand::Pred(Pred::NONE);
                if let Operand::General { modifier, .. } | Operand::Indirect { modifier, .. } = dst {
                    *modifier = Modifier::None;
                }
            }
            // The mark of a life names a variable of its class.
            (Operation::Nothing, [Operand::Int(properties), Operand::Int(variable)])
                if std::ptr::eq(d, Op::Lifetime.desc()) =>
            {
                *variable = match *properties >> 4 & 3 {
                    0 => predefined::FIRST_VAR + self.rng.below(self.o.vars.len() as u32),
                    1 => self.rng.below(self.o.addresses.len() as u32),
                    _ => 1 + self.rng.below(self.o.predicates.len() as u32),
                };
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_modules_are_sound_and_repeat() {
        for seed in 0..200 {
            let options = Options {
                platform: (seed % 3 == 0).then_some(Platform::ALL[seed as usize % Platform::ALL.len()]),
                version: if seed % 5 == 0 { (4, 2) } else { (4, 1) },
                functions: seed as usize % 2,
                insts: seed as usize,
                ..Options::default()
            };
            let m = module(seed, &options);
            m.check_sound().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert_eq!(m.first_difference(&module(seed, &options)), None);
        }
    }

    #[test]
    fn every_instruction_is_generated() {
        for version in [(4, 1), (4, 2)] {
            let all = Op::ALL.iter().filter(|op| op.desc().versions.contains(version));
            let n = all.clone().count();
            let m = module(7, &Options { version, insts: n, in_turn: true, ..Options::default() });
            for op in all {
                assert!(m.objects[0].insts.iter().any(|i| i.op == *op), "{}", op.desc().name);
            }
        }
    }
}
