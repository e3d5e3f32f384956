//! From a module's kernel to its [`Program`].

use std::collections::HashMap;

use envisa_isa::operation::{Control, Operation};
use envisa_isa::{
    Inst as IsaInst, Module, Object, ObjectKind, Operand, Platform, Region, StateClass, Type, predefined,
};
use envisa_verify::Verified;

use crate::flow;
use crate::layout::{self, Layout};
use crate::messages;
use crate::program::*;
use crate::{BadProgram, Program};

/// What to lower for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The device.
    pub platform: Platform,
    /// Channels of a thread; `None`: the kernel's `SimdSize` attribute, or its widest instruction.
    pub simd: Option<u32>,
    /// The kernel's private memory, if it has some in global memory.
    pub private: Option<PrivateMemory>,
}

/// Why a kernel has no program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LowerError {
    /// The module has no kernel of this name (or none at all).
    NoKernel {
        /// The name asked for; empty for "the first".
        name: String,
        /// The kernels there are.
        kernels: Vec<String>,
    },
    /// It needs more than an engine offers.
    TooLarge {
        /// What.
        what: String,
    },
    /// An instruction's operands do not fit together.
    Malformed {
        /// Function.
        function: String,
        /// Index of the instruction.
        inst: u32,
        /// Where it stands.
        span: envisa_isa::Span,
        /// What is wrong.
        message: String,
    },
    /// What was made of it is no program: a bug of lowering.
    Damaged(BadProgram),
}

impl From<BadProgram> for LowerError {
    fn from(bad: BadProgram) -> LowerError {
        LowerError::Damaged(bad)
    }
}

impl std::fmt::Display for LowerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LowerError::NoKernel { name, kernels } if kernels.is_empty() => {
                write!(f, "the module has no kernel (wanted `{name}`)")
            }
            LowerError::NoKernel { name, kernels } => {
                write!(f, "there is no kernel `{name}`; the module has {}", kernels.join(", "))
            }
            LowerError::TooLarge { what } => write!(f, "the kernel is too large: {what}"),
            LowerError::Malformed { function, inst, message, .. } => {
                write!(f, "{function}, instruction {inst}: {message}")
            }
            LowerError::Damaged(bad) => bad.fmt(f),
        }
    }
}

impl std::error::Error for LowerError {}

/// Lowers one kernel of a module, with the module's stack-call functions.
///
/// `kernel` is the kernel's name; empty means the first one.
///
/// # Errors
/// [`LowerError`]; a verified module of a real compiler gives none.
pub fn lower(module: &Verified<Module>, kernel: &str, options: &Options) -> Result<Program, LowerError> {
    let kernels = || module.objects.iter().filter(|o| o.kind == ObjectKind::Kernel);
    let object = kernels().find(|o| kernel.is_empty() || o.name == kernel).ok_or_else(|| {
        LowerError::NoKernel { name: kernel.into(), kernels: kernels().map(|o| o.name.clone()).collect() }
    })?;
    let mut objects = vec![object];
    objects.extend(module.objects.iter().filter(|o| o.kind == ObjectKind::Function));
    let grf = options.platform.grf_bytes();
    let too_large = |what: String| LowerError::TooLarge { what };
    if objects.len() > u16::MAX as usize {
        return Err(too_large("more than 65535 functions".into()));
    }

    // Room for the immediates: every one at most once, packed vectors as 8 words or 4 floats.
    let immediates: usize = objects
        .iter()
        .flat_map(|o| &o.operands)
        .map(|op| match op {
            // As it is, and promoted, each aligned.
            Operand::Imm { ty, .. } if ty.is_packed() => 32,
            Operand::Imm { .. } => 32,
            Operand::AddressOf { .. } => 8,
            // `&V` of a binary.
            Operand::Exec(_) => 8,
            _ => 0,
        })
        .sum();
    let room = (layout::CHUNK as usize).saturating_add(immediates).saturating_add(64);
    let room = u32::try_from(room).map_err(|_| too_large("too many immediates".into()))?;
    if room > MAX_REGISTER_BYTES / 2 {
        return Err(too_large("too many immediates".into()));
    }
    let reach: Vec<_> = objects.iter().map(|o| messages::reach_of_messages(o, grf)).collect();
    let layout = layout::layout(&objects, grf, room, &reach).map_err(too_large)?;

    let mut constants = Constants { bytes: vec![0; layout::CHUNK as usize], known: HashMap::new() };
    let mut program = ProgramParts {
        name: object.name.clone(),
        platform: options.platform,
        grf_bytes: grf,
        simd: options.simd.unwrap_or_else(|| simd_of(object)),
        private: options.private,
        ..ProgramParts::default()
    };
    if options.private.is_some() {
        crate::optimize::numbers_for_private_memory(program.simd).for_each(|x| {
            constants.scalar(x.into(), 4);
        });
    }
    let names: HashMap<&str, u32> =
        objects.iter().enumerate().skip(1).map(|(i, o)| (o.name.as_str(), i as u32)).collect();
    for (index, o) in objects.iter().enumerate() {
        let mut f = FunctionLowering {
            o,
            index: index as u16,
            grf,
            layout: &layout,
            constants: &mut constants,
            program: &mut program,
            functions: &names,
            label_pc: vec![None; o.labels.len()],
            targets: vec![false; o.labels.len()],
        };
        f.run()?;
    }
    program.inputs = kernel_inputs(object, &layout);
    if constants.bytes.len() > room as usize {
        return Err(too_large("the function has too many immediates".into()));
    }
    constants.bytes.resize(room as usize, 0);
    let bytes = (layout.end + REGISTER_PADDING).next_multiple_of(64);
    program.registers = Registers {
        bytes,
        fresh: std::iter::once(room..bytes).collect(),
        constants: constants.bytes,
        locals_start: layout.locals_start,
        predefined: layout.predefined,
        address_base: layout.address_base,
        address_homes: layout.address_homes,
    };
    Ok(Program::new(program)?)
}

/// The dispatch width a kernel was written for.
fn simd_of(o: &Object) -> u32 {
    let attr = o.attr("SimdSize").and_then(|a| a.int()).filter(|n| matches!(n, 1 | 8 | 16 | 32));
    attr.unwrap_or_else(|| {
        let reach = |op: &Operand| match op {
            Operand::Exec(e) if e.log2 <= 5 && !e.mask.no_mask() => e.mask.first_channel() + e.channels(),
            _ => 0,
        };
        match o.operands.iter().map(reach).max().unwrap_or(1) {
            0..=1 => 1,
            2..=8 => 8,
            9..=16 => 16,
            _ => 32,
        }
    })
}

fn kernel_inputs(o: &Object, l: &Layout) -> Vec<InputSlot> {
    let h = &l.objects[0];
    let mut out = Vec::new();
    for i in &o.inputs {
        let image = i.offset.max(0) as u32;
        let (class, offset, bytes, name) = match i.kind & 7 {
            0 => {
                let Some(v) = i.id.checked_sub(predefined::FIRST_VAR) else { continue };
                let (Some(at), Some(end)) = (h.vars.get(v as usize), h.end_of_home.get(v as usize)) else {
                    continue;
                };
                let bytes = (i.size as u32).min(end.saturating_sub(*at));
                (InputClass::General, *at, bytes, o.var_name(i.id))
            }
            1 => {
                let Some(at) = h.samplers.get(i.id as usize) else { continue };
                let name = o.samplers.get(i.id as usize).and_then(|s| o.strings.get(s.name));
                (InputClass::Sampler, *at, 4, name.unwrap_or("?"))
            }
            _ => {
                let Some(k) = i.id.checked_sub(predefined::FIRST_SURFACE as u32) else { continue };
                let Some(at) = h.surfaces.get(k as usize) else { continue };
                let name = o.surfaces.get(k as usize).and_then(|s| o.strings.get(s.name));
                (InputClass::Surface, *at, 4, name.unwrap_or("?"))
            }
        };
        out.push(InputSlot { name: name.to_owned(), class, offset, image, bytes });
    }
    out
}

/// The area of immediates, each kept once.
pub(crate) struct Constants {
    /// What the register file starts with.
    pub bytes: Vec<u8>,
    known: HashMap<(u64, u8), RegOffset>,
}

impl Constants {
    /// Offset of a value of 1, 2, 4 or 8 bytes.
    fn scalar(&mut self, bits: u64, size: u32) -> RegOffset {
        let bits = if size == 8 { bits } else { bits & ((1 << (8 * size)) - 1) };
        if bits == 0 {
            // The first chunk is.
            return 0;
        }
        *self.known.entry((bits, size as u8)).or_insert_with(|| {
            let at = self.bytes.len().next_multiple_of(size as usize);
            self.bytes.resize(at, 0);
            self.bytes.extend_from_slice(&bits.to_le_bytes()[..size as usize]);
            at as u32
        })
    }

    /// Offset of the elements of a packed vector, and their type and number.
    fn packed_vector(&mut self, ty: Type, bits: u32) -> (RegOffset, Type, u32) {
        let at = self.bytes.len().next_multiple_of(16);
        self.bytes.resize(at, 0);
        let (out, n) = match ty {
            Type::Vf => (Type::F, 4),
            Type::Uv => (Type::Uw, 8),
            _ => (Type::W, 8),
        };
        for i in 0..n {
            match ty {
                Type::Vf => self.bytes.extend_from_slice(&decode_vf_element(bits, i).to_le_bytes()),
                Type::Uv => self.bytes.extend_from_slice(&(bits >> (4 * i) & 15).to_le_bytes()[..2]),
                _ => {
                    let x = ((bits >> (4 * i)) as i16) << 12 >> 12;
                    self.bytes.extend_from_slice(&x.to_le_bytes());
                }
            }
        }
        (at as u32, out, n as u32)
    }
}

/// Element of a `:vf` immediate: sign, 3 bits of exponent (bias 3), 4 of mantissa; 0x00 and 0x80 are zeros.
fn decode_vf_element(bits: u32, i: usize) -> f32 {
    let b = bits >> (8 * i) & 0xff;
    let sign = (b & 0x80) << 24;
    if b & 0x7f == 0 {
        return f32::from_bits(sign);
    }
    f32::from_bits(sign | ((b >> 4 & 7) + 124) << 23 | (b & 15) << 19)
}

/// Lowering of one object.
pub(crate) struct FunctionLowering<'a> {
    pub o: &'a Object,
    pub index: u16,
    pub grf: u32,
    pub layout: &'a Layout,
    pub constants: &'a mut Constants,
    pub program: &'a mut ProgramParts,
    /// Indices of the module's functions.
    pub functions: &'a HashMap<&'a str, u32>,
    /// Where labels stand, as far as that is known.
    pub label_pc: Vec<Option<Pc>>,
    /// Labels that branches name.
    pub targets: Vec<bool>,
}

pub(crate) use crate::messages::Reason;

impl FunctionLowering<'_> {
    fn object_layout(&self) -> &layout::ObjectLayout {
        &self.layout.objects[self.index as usize]
    }

    fn run(&mut self) -> Result<(), LowerError> {
        let entry = self.program.code.len() as Pc;
        // Places where channels can meet: the targets of branches.
        for inst in &self.o.insts {
            let branches = Operation::Control;
            if [Control::Goto, Control::Jump, Control::Switch]
                .map(branches)
                .contains(&inst.desc().operation())
            {
                for op in self.o.ops(inst) {
                    if let Operand::Label(l) = op
                        && let Some(t) = self.targets.get_mut(*l as usize)
                    {
                        *t = true;
                    }
                }
            }
        }
        let mut fixups: Vec<Pc> = Vec::new();
        let insts: &[IsaInst] = &self.o.insts;
        for (i, inst) in insts.iter().enumerate() {
            let at = self.program.code.len();
            self.inst(inst, i as u32).map_err(|message| LowerError::Malformed {
                function: self.o.name.clone(),
                inst: i as u32,
                span: inst.span,
                message,
            })?;
            for pc in at..self.program.code.len() {
                if matches!(self.program.code[pc].op, Op::Goto | Op::Call | Op::SwitchJmp) {
                    fixups.push(pc as Pc);
                }
            }
        }
        let end = self.program.code.len() as Pc;
        let mut last = self.blank_inst(Op::End, insts.len() as u32);
        last.span = insts.last().map(|i| i.span).unwrap_or_default();
        self.program.code.push(last);
        // Labels are known now.
        for pc in fixups {
            let inst = &self.program.code[pc as usize];
            let (op, aux, source) = (inst.op, inst.aux, inst.source);
            let resolve = |label: u32| {
                self.label_pc.get(label as usize).copied().flatten().ok_or_else(|| LowerError::Malformed {
                    function: self.o.name.clone(),
                    inst: source,
                    span: insts.get(source as usize).map(|i| i.span).unwrap_or_default(),
                    message: format!("label {label} is not placed"),
                })
            };
            if op == Op::SwitchJmp {
                let table = self.program.tables[aux as usize]
                    .iter()
                    .map(|l| resolve(*l))
                    .collect::<Result<Vec<_>, _>>()?;
                self.program.tables[aux as usize] = table;
            } else {
                self.program.code[pc as usize].aux = resolve(aux)?;
            }
        }
        flow::analyse_divergence(
            &mut self.program.code,
            &self.program.tables,
            entry,
            end + 1,
            self.program.simd,
        );
        let homes = &self.layout.objects[self.index as usize];
        self.program.functions.push(Function {
            name: self.o.name.clone(),
            entry,
            end: end + 1,
            locals: homes.ranges.clone(),
            vars: homes.homes.clone(),
            lines: crate::source_lines::of_object(self.o, &mut self.program.source_files),
        });
        Ok(())
    }

    pub(crate) fn blank_inst(&self, op: Op, source: u32) -> Inst {
        Inst {
            op,
            channels: 1,
            first: 0,
            no_mask: true,
            pred: Pred::default(),
            exec: ExecType::None,
            dst: Dst::None,
            src: [Src::None; 4],
            aux: 0,
            dst2: 0,
            span: Default::default(),
            source,
            function: self.index,
            depth: 0,
            facts: Facts::default(),
        }
    }

    /// Offset of a predicate's bits.
    pub(crate) fn predicate(&self, id: u16) -> Result<RegOffset, Reason> {
        if id == 0 || id as usize > self.o.predicates.len() {
            return Err(format!("there is no predicate P{id}"));
        }
        Ok(self.object_layout().predicates + (id as u32 - 1) * 4)
    }

    /// Home of a general variable: first byte, and one past the last.
    pub(crate) fn variable_range(&self, var: u32) -> Result<(RegOffset, RegOffset), Reason> {
        match var.checked_sub(predefined::FIRST_VAR) {
            None => {
                let at = self.layout.predefined[var as usize];
                Ok((at, at + self.layout.predefined_bytes[var as usize]))
            }
            Some(i) => match (
                self.object_layout().vars.get(i as usize),
                self.object_layout().end_of_home.get(i as usize),
            ) {
                (Some(at), Some(end)) => Ok((*at, *end)),
                _ => Err(format!("there is no variable V{var}")),
            },
        }
    }

    /// Offset of a raw operand of which `bytes` are touched; `None` for `%null`.
    pub(crate) fn raw(&self, op: Operand, bytes: u32) -> Result<Option<RegOffset>, Reason> {
        let (var, offset) = match op {
            Operand::Raw { var, offset } => (var, offset as u32),
            Operand::General { var, row, col, .. } => {
                let (ty, _) = self.o.var_shape(var, self.grf).unwrap_or((Type::Ud, 4));
                (var, row as u32 * self.grf + col as u32 * ty.size())
            }
            _ => return Err("a register is expected".into()),
        };
        if var == predefined::var::NULL {
            return Ok(None);
        }
        let (start, end) = self.variable_range(var)?;
        let at = start.saturating_add(offset);
        if at.saturating_add(bytes) > end {
            return Err(format!(
                "it touches {bytes} bytes from byte {offset} of {}, beyond its register",
                self.o.var_name(var)
            ));
        }
        Ok(Some(at))
    }

    /// State of a surface.
    pub(crate) fn surface_state(&self, id: u16, element: u32) -> Result<RegOffset, Reason> {
        match id.checked_sub(predefined::FIRST_SURFACE as u16) {
            None => Ok(self.layout.predefined_surfaces + 4 * id as u32),
            Some(k) => {
                let s =
                    self.o.surfaces.get(k as usize).ok_or_else(|| format!("there is no surface T{id}"))?;
                if element >= s.elems.max(1) as u32 {
                    return Err(format!("surface T{id} has no element {element}"));
                }
                Ok(self.object_layout().surfaces[k as usize] + 4 * element)
            }
        }
    }

    /// State of a sampler.
    pub(crate) fn sampler_state(&self, id: u16, element: u32) -> Result<RegOffset, Reason> {
        if id == predefined::SAMPLER_BINDLESS as u16 {
            return Ok(self.layout.bindless_sampler);
        }
        let s = self.o.samplers.get(id as usize).ok_or_else(|| format!("there is no sampler S{id}"))?;
        if element >= s.elems.max(1) as u32 {
            return Err(format!("sampler S{id} has no element {element}"));
        }
        Ok(self.object_layout().samplers[id as usize] + 4 * element)
    }

    fn address_register(&self, id: u16, element: u8) -> Result<RegOffset, Reason> {
        let at = self
            .object_layout()
            .addresses
            .get(id as usize)
            .ok_or_else(|| format!("there is no address register A{id}"))?;
        if element >= 16 {
            return Err(format!("A{id}({element}): an address register has at most 16 elements"));
        }
        Ok(at + 2 * element as u32)
    }

    pub(crate) fn check(&self, offset: RegOffset, bytes: u32) -> Result<(), Reason> {
        if offset.saturating_add(bytes) > self.layout.end {
            return Err("it touches bytes beyond the register file".into());
        }
        Ok(())
    }

    fn strides_of_region(region: Region) -> Strides {
        let width = region.width().unwrap_or(1).max(1);
        Strides {
            vertical: region.vstride().unwrap_or(0) as u8,
            width_log2: width.trailing_zeros() as u8,
            horizontal: region.hstride().unwrap_or(0) as u8,
        }
    }

    /// A source operand.
    pub(crate) fn lower_source(&mut self, op: Operand, channels: u32) -> Result<Src, Reason> {
        Ok(match op {
            Operand::General { var, row, col, region, modifier } => {
                let (ty, _) =
                    self.o.var_shape(var, self.grf).ok_or_else(|| format!("there is no variable V{var}"))?;
                let (start, _) = self.variable_range(var)?;
                let offset =
                    start.saturating_add(row as u32 * self.grf).saturating_add(col as u32 * ty.size());
                let strides = Self::strides_of_region(region);
                let shape = strides.shape(channels);
                let last = (0..channels).map(|i| strides.element(i)).max().unwrap_or(0);
                self.check(offset, (last + 1) * ty.size())?;
                Src::Reg { offset, ty, strides, shape, modifier, constant: false }
            }
            Operand::Imm { ty, bits } if ty.is_packed() => {
                let (offset, ty, n) = self.constants.packed_vector(ty, bits as u32);
                // Channels beyond the elements start over.
                let strides = Strides { vertical: 0, width_log2: n.trailing_zeros() as u8, horizontal: 1 };
                let shape = strides.shape(channels);
                Src::Reg { offset, ty, strides, shape, modifier: Modifier::None, constant: true }
            }
            Operand::Imm { ty, bits } => {
                let ty = if ty == Type::Bool { Type::Ub } else { ty };
                self.constant(ty, bits)
            }
            Operand::AddressOf { var, offset } => {
                let (start, _) = self.variable_range(var)?;
                let at = (start - self.layout.address_base).wrapping_add(offset as u32);
                self.constant(Type::Uw, at as u64)
            }
            Operand::Address { id, offset, width_log2, modifier } => {
                let at = self.address_register(id, offset)?;
                // Channels beyond the width take the same elements again.
                let strides = match width_log2 {
                    0 => Strides::SCALAR,
                    width_log2 => Strides { vertical: 0, width_log2: width_log2.min(5), horizontal: 1 },
                };
                let shape = strides.shape(channels);
                Src::Reg { offset: at, ty: Type::Uw, strides, shape, modifier, constant: false }
            }
            Operand::Indirect { addr, offset, byte_offset, ty, region, modifier } => {
                let address = self.address_register(addr, offset)?;
                let mut strides = Self::strides_of_region(region);
                let per_address_log2 = match (region.vstride(), region.width()) {
                    (Some(_), _) => 5,
                    (None, Some(_)) => {
                        strides.vertical = 0;
                        strides.width_log2
                    }
                    (None, None) => 0,
                };
                Src::Indirect { address, bytes: byte_offset, per_address_log2, ty, strides, modifier }
            }
            Operand::Predicate(p) => Src::Pred { offset: self.predicate(p.id)?, invert: p.invert },
            Operand::State { class, id, offset } => {
                let at = match class {
                    StateClass::Surface => self.surface_state(id, offset as u32)?,
                    StateClass::Sampler => self.sampler_state(id, offset as u32)?,
                };
                Src::Reg {
                    offset: at,
                    ty: Type::Ud,
                    strides: Strides::SCALAR,
                    shape: Shape::Scalar,
                    modifier: Modifier::None,
                    constant: false,
                }
            }
            Operand::Raw { .. } => match self.raw(op, channels * 4)? {
                None => Src::None,
                Some(offset) => {
                    let strides = Strides::CONTIGUOUS;
                    Src::Reg {
                        offset,
                        ty: Type::Ud,
                        strides,
                        shape: strides.shape(channels),
                        modifier: Modifier::None,
                        constant: false,
                    }
                }
            },
            _ => return Err("an operand of this kind is no source".into()),
        })
    }

    pub(crate) fn constant(&mut self, ty: Type, bits: u64) -> Src {
        Src::Reg {
            offset: self.constants.scalar(bits, ty.size()),
            ty,
            strides: Strides::SCALAR,
            shape: Shape::Scalar,
            modifier: Modifier::None,
            constant: true,
        }
    }

    /// A destination operand.
    pub(crate) fn lower_destination(&self, op: Operand, channels: u32) -> Result<Dst, Reason> {
        let stride = |region: Region| region.hstride().unwrap_or(1).max(1) as u8;
        Ok(match op {
            Operand::General { var, .. } if var == predefined::var::NULL => Dst::None,
            Operand::General { var, row, col, region, modifier } => {
                let (ty, _) =
                    self.o.var_shape(var, self.grf).ok_or_else(|| format!("there is no variable V{var}"))?;
                let (start, _) = self.variable_range(var)?;
                let offset =
                    start.saturating_add(row as u32 * self.grf).saturating_add(col as u32 * ty.size());
                let stride = stride(region);
                self.check(offset, ((channels - 1) * stride as u32 + 1) * ty.size())?;
                Dst::Reg { offset, ty, stride, sat: modifier == Modifier::Sat }
            }
            Operand::Address { id, offset, .. } => {
                Dst::Reg { offset: self.address_register(id, offset)?, ty: Type::Uw, stride: 1, sat: false }
            }
            Operand::Indirect { addr, offset, byte_offset, ty, region, modifier } => Dst::Indirect {
                address: self.address_register(addr, offset)?,
                bytes: byte_offset,
                per_address_log2: 5,
                ty,
                stride: stride(region),
                sat: modifier == Modifier::Sat,
            },
            Operand::Predicate(p) => Dst::Pred { offset: self.predicate(p.id)? },
            Operand::State { class, id, offset } => {
                let at = match class {
                    StateClass::Surface => self.surface_state(id, offset as u32)?,
                    StateClass::Sampler => self.sampler_state(id, offset as u32)?,
                };
                Dst::Reg { offset: at, ty: Type::Ud, stride: 1, sat: false }
            }
            Operand::Raw { .. } => match self.raw(op, channels * 4)? {
                None => Dst::None,
                Some(offset) => Dst::Reg { offset, ty: Type::Ud, stride: 1, sat: false },
            },
            _ => return Err("an operand of this kind is no destination".into()),
        })
    }

    pub(crate) fn push(&mut self, inst: Inst) {
        self.program.code.push(inst);
    }

    pub(crate) fn push_unsupported(&mut self, mut inst: Inst, name: &'static str, reason: impl Into<String>) {
        inst.op = Op::Unsupported;
        inst.aux = self.program.unsupported.len() as u32;
        inst.src = [Src::None; 4];
        inst.dst = Dst::None;
        self.program.unsupported.push(Unsupported { name, reason: reason.into() });
        self.push(inst);
    }
}
