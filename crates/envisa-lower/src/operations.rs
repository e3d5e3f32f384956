//! From an instruction, by its operation, to what engines run.

use envisa_isa::desc::{Part, Role, SlotKind};
use envisa_isa::lsc::{scope, sfid};
use envisa_isa::operation::{Barrier, Compute, Control, Operation};
use envisa_isa::{Combine, Inst as IsaInst, Operand, PartName, SlotName, Type, predefined};

use crate::kernel::{FunctionLowering, Reason};
use crate::messages::{self, SCRATCH_STATE};
use crate::program::*;
use crate::types::{exec_type, retype_as_bits};

/// The operands of an instruction.
struct Operands {
    /// All, in binary order.
    all: Vec<Operand>,
    /// Registers that are written.
    dsts: Vec<Operand>,
    /// Registers and immediates that are read.
    srcs: Vec<Operand>,
}

impl Operands {
    fn destination_operand(&self) -> Result<Operand, Reason> {
        self.dsts.first().copied().ok_or_else(|| "the destination is missing".into())
    }

    fn source_operand(&self, i: usize) -> Result<Operand, Reason> {
        self.srcs.get(i).copied().ok_or_else(|| format!("source {i} is missing"))
    }

    /// The value of the first plain field.
    fn first_field_value(&self) -> Option<u32> {
        self.all.iter().find_map(|o| o.int())
    }

    fn label(&self) -> Result<u32, Reason> {
        self.label_operands().next().ok_or_else(|| "the label is missing".into())
    }

    fn label_operands(&self) -> impl Iterator<Item = u32> {
        self.all.iter().filter_map(|o| match o {
            Operand::Label(l) => Some(*l as u32),
            _ => None,
        })
    }
}

/// Truth table of a logic operation on predicates, as of `bfn` with two sources; `None`: it has none on them.
fn predicate_table(op: Compute) -> Option<u32> {
    match op {
        Compute::And => Some(0x88),
        Compute::Or => Some(0xee),
        Compute::Xor => Some(0x66),
        Compute::Not => Some(0x55),
        _ => None,
    }
}

impl FunctionLowering<'_> {
    /// What a fence orders, by its fields; of one that does not say it, everything.
    fn fence(&self, isa: &IsaInst) -> u32 {
        let (mut memory, mut within) = (fence::GLOBAL | fence::LOCAL, 0);
        for (slot, op) in isa.desc().slots.iter().zip(self.o.ops(isa)) {
            let Operand::Int(n) = op else { continue };
            match slot.kind {
                // One that is for the compiler's scheduling alone stands where local memory needs none.
                SlotKind::Packed { parts, .. } => {
                    let local =
                        |p: &Part| matches!(p.name, PartName::Local | PartName::Software) && p.get(*n) != 0;
                    memory = if parts.iter().any(local) { fence::LOCAL } else { fence::GLOBAL };
                }
                SlotKind::Field { .. } => match (slot.name, *n) {
                    (SlotName::Sfid, sfid::SLM) => memory = fence::LOCAL,
                    (SlotName::Sfid, _) => memory = fence::GLOBAL,
                    (SlotName::Scope, scope::GROUP | scope::LOCAL) => within = fence::GROUP,
                    _ => {}
                },
                _ => {}
            }
        }
        memory | within
    }

    /// Lowers one instruction.
    pub(crate) fn inst(&mut self, isa: &IsaInst, source: u32) -> Result<(), Reason> {
        let desc = isa.desc();
        let (mut inst, operands) = self.read(isa, source)?;
        self.read_special_registers(&inst, &operands.srcs)?;
        self.read_scratch_location(&inst, isa)?;
        match desc.operation() {
            Operation::Compute(op) => self.lower_compute(op, inst, &operands),
            Operation::Move => self.move_(inst, &operands),
            Operation::AddressAdd => self.address_add(inst, &operands),
            Operation::Compare => self.compare(inst, &operands),
            Operation::SetPredicate => self.set_predicate(inst, &operands),
            Operation::Systolic { pair, scaled } => {
                // Two threads wait for each other.
                self.program.has_barrier |= pair;
                let op = match (pair, scaled) {
                    (_, true) => Op::Bdpas,
                    (true, false) => Op::Dpasw,
                    (false, false) => Op::Dpas,
                };
                crate::resolve::lower_dpas(self, isa, op, inst)
            }
            Operation::Control(control) => self.lower_control_flow(control, desc.name, inst, &operands),
            Operation::Barrier(barrier) => self.barrier(barrier, inst, &operands),
            Operation::Fence => {
                inst.op = Op::Fence;
                inst.aux = self.fence(isa);
                self.push(inst);
                Ok(())
            }
            Operation::Message(message) => {
                match crate::resolve::without_memory(self, isa, message) {
                    None => {}
                    Some(messages::Decoded::BarrierSignal) => return self.signal_barrier(inst),
                    Some(_) => {
                        inst.op = Op::Fence;
                        inst.aux = fence::GLOBAL | fence::LOCAL;
                        self.push(inst);
                        return Ok(());
                    }
                }
                match crate::resolve::lower_message(self, isa, message) {
                    Ok(message) => {
                        inst.op = Op::Message;
                        inst.aux = self.program.messages.len() as u32;
                        self.program.messages.push(message);
                        self.push(inst);
                    }
                    Err(reason) => self.push_unsupported(inst, desc.name, reason),
                }
                Ok(())
            }
            Operation::Nothing => Ok(()),
            Operation::Unsupported(why) => {
                self.push_unsupported(inst, desc.name, why.reason());
                Ok(())
            }
        }
    }

    /// Execution size, mask and predicate of an instruction, and its operands by what the slots are, so that each
    /// row is read the same way.
    fn read(&self, isa: &IsaInst, source: u32) -> Result<(Inst, Operands), Reason> {
        let mut inst = self.blank_inst(Op::Nop, source);
        inst.span = isa.span;
        inst.no_mask = false;
        let all = self.o.ops(isa);
        let mut operands = Operands { all: all.to_vec(), dsts: Vec::new(), srcs: Vec::new() };
        for (slot, op) in isa.desc().slots.iter().zip(all) {
            match (&slot.kind, op) {
                (SlotKind::Exec, Operand::Exec(e)) => {
                    if e.log2 > 5 {
                        return Err("an instruction has at most 32 channels".into());
                    }
                    inst.channels = e.channels() as u8;
                    inst.first = e.mask.first_channel() as u8;
                    inst.no_mask = e.mask.no_mask();
                }
                (SlotKind::Pred, Operand::Pred(p)) if p.is_some() => {
                    inst.pred = Pred { offset: self.predicate(p.id)?, combine: p.combine, invert: p.invert };
                }
                (SlotKind::Vector(_) | SlotKind::Raw { .. }, op) => match slot.role {
                    Role::Write | Role::ReadWrite => operands.dsts.push(*op),
                    Role::Read | Role::Field => operands.srcs.push(*op),
                },
                _ => {}
            }
        }
        if let Some(exec) = messages::packed_exec(self.o, isa) {
            (inst.channels, inst.first, inst.no_mask) = exec;
        }
        Ok((inst, operands))
    }

    /// `%scratchloc` holds the same address in every thread: it is set where it is read.
    fn read_scratch_location(&mut self, inst: &Inst, isa: &IsaInst) -> Result<(), Reason> {
        let reads = |op: &Operand| match op.handle().unwrap_or(*op) {
            Operand::General { var, .. } | Operand::Raw { var, .. } => {
                self.o.root(var).is_some_and(|r| r.0 == predefined::var::SCRATCHLOC)
            }
            _ => false,
        };
        if self.o.ops(isa).iter().any(reads) {
            let mut before = self.blank_at(inst);
            before.op = Op::Mov;
            before.facts.auxiliary = true;
            before.channels = 1;
            before.no_mask = true;
            let (offset, _) = self.variable_range(predefined::var::SCRATCHLOC)?;
            before.dst = Dst::Reg { offset, ty: Type::Uq, stride: 1, sat: false };
            before.src[0] = self.constant(Type::Uq, SCRATCH_STATE);
            self.finish(&mut before)?;
            self.push(before);
        }
        Ok(())
    }

    /// Registers that the machine fills when they are read.
    fn read_special_registers(&mut self, inst: &Inst, srcs: &[Operand]) -> Result<(), Reason> {
        for (aux, var) in [(0, predefined::var::CE0), (1, predefined::var::TSC)] {
            let reads = |s: &Operand| match s {
                Operand::General { var: v, .. } => self.o.root(*v).is_some_and(|r| r.0 == var),
                _ => false,
            };
            if srcs.iter().any(reads) {
                let mut before = self.blank_at(inst);
                before.op = Op::ChannelEnables;
                before.aux = aux;
                before.channels = aux as u8 + 1;
                let (offset, _) = self.variable_range(var)?;
                before.dst = Dst::Reg { offset, ty: Type::Ud, stride: 1, sat: false };
                self.push(before);
            }
        }
        Ok(())
    }

    fn sources(&mut self, inst: &mut Inst, srcs: &[Operand]) -> Result<(), Reason> {
        if srcs.len() > inst.src.len() {
            return Err("more than four sources".into());
        }
        for (i, s) in srcs.iter().enumerate() {
            inst.src[i] = self.lower_source(*s, inst.channels as u32)?;
        }
        Ok(())
    }

    fn lower_compute(&mut self, op: Compute, mut inst: Inst, operands: &Operands) -> Result<(), Reason> {
        let channels = inst.channels as u32;
        inst.op = op.into();
        if op == Compute::Bfn {
            // The truth table is the row's only plain field.
            inst.aux = operands.first_field_value().ok_or("the truth table is missing")? & 0xff;
        }
        if op == Compute::Dnscl {
            inst.aux =
                operands.all.iter().filter_map(|o| o.int()).rev().fold(0, |aux, f| aux << 8 | f & 0xff);
            // The third field is how it rounds: 0 stochastically.
            if inst.aux >> 16 == 0 {
                let reason = "how random bits are added has no public description";
                self.push_unsupported(inst, "DNSCL", reason);
                return Ok(());
            }
        }
        if let Some(d) = operands.dsts.first() {
            inst.dst = self.lower_destination(*d, channels)?;
        }
        let mut carry = None;
        if let Some(d) = operands.dsts.get(1) {
            match self.lower_destination(*d, channels)? {
                Dst::Reg { offset, ty, stride: 1, .. } if ty.size() == 4 => inst.dst2 = offset,
                Dst::None => inst.dst2 = 0,
                Dst::Pred { offset } => inst.dst2 = offset,
                // Strided or indirect: by way of a place of its own.
                elsewhere => {
                    inst.dst2 = self.layout.carry;
                    carry = Some(elsewhere);
                }
            }
        }
        self.sources(&mut inst, &operands.srcs)?;
        if let (Dst::Pred { .. }, Some(table)) = (inst.dst, predicate_table(op)) {
            if !inst.src.iter().take(operands.srcs.len()).all(|s| matches!(s, Src::Pred { .. })) {
                return Err("an instruction that writes a predicate must have predicates as sources".into());
            }
            inst.op = Op::PredLogic;
            inst.aux = table;
            self.push(inst);
            return Ok(());
        }
        if op == Compute::ShflIdx4 {
            let contiguous = |s: &Strides| (0..16).all(|k| s.element(k) == k);
            if !matches!(&inst.src[0], Src::Reg { strides, .. } if contiguous(strides)) {
                return Err("a table of 16 entries in a row is expected".into());
            }
        }
        if op == Compute::Add3o {
            // What stands as its predicate is written.
            if inst.pred.offset == 0 || inst.pred.invert || inst.pred.combine != Combine::None {
                return Err("a plain predicate is expected, for the overflow bits".into());
            }
            inst.dst2 = std::mem::take(&mut inst.pred).offset;
        }
        if op == Compute::Madw {
            self.madw(&mut inst)?;
        }
        self.finish(&mut inst)?;
        self.push(inst);
        let Some(dst) = carry else { return Ok(()) };
        let strides = Strides::CONTIGUOUS;
        let src = Src::Reg {
            offset: inst.dst2,
            ty: Type::Ud,
            strides,
            shape: strides.shape(channels),
            modifier: Modifier::None,
            constant: false,
        };
        let src = [src, Src::None, Src::None, Src::None];
        let mut copy = Inst { op: Op::Mov, dst, src, dst2: 0, ..inst };
        copy.facts.auxiliary = true;
        self.finish(&mut copy)?;
        self.push(copy);
        Ok(())
    }

    fn move_(&mut self, mut inst: Inst, operands: &Operands) -> Result<(), Reason> {
        let channels = inst.channels as u32;
        let src = operands.source_operand(0)?;
        inst.dst = self.lower_destination(operands.destination_operand()?, channels)?;
        inst.src[0] = self.lower_source(src, channels)?;
        inst.op = if let Src::Pred { .. } = inst.src[0] {
            // It ignores predicate, size and mask: one channel.
            (inst.channels, inst.first, inst.no_mask) = (1, 0, true);
            inst.pred = Pred::default();
            Op::MovPred
        } else {
            Op::Mov
        };
        self.finish(&mut inst)?;
        self.push(inst);
        Ok(())
    }

    fn address_add(&mut self, mut inst: Inst, operands: &Operands) -> Result<(), Reason> {
        let channels = inst.channels as u32;
        inst.op = Op::Add;
        inst.dst = self.lower_destination(operands.destination_operand()?, channels)?;
        // A binary says `&V` as a general operand.
        let base = match operands.source_operand(0)? {
            Operand::General { var, row, col, .. } => {
                let size = self.o.var_shape(var, self.grf).map_or(1, |s| s.0.size());
                let offset = row as u32 * self.grf + col as u32 * size;
                Operand::AddressOf { var, offset: offset as u16 }
            }
            op => op,
        };
        inst.src[0] = self.lower_source(base, channels)?;
        inst.src[1] = self.lower_source(operands.source_operand(1)?, channels)?;
        self.finish(&mut inst)?;
        self.push(inst);
        Ok(())
    }

    fn compare(&mut self, mut inst: Inst, operands: &Operands) -> Result<(), Reason> {
        inst.op = Op::Cmp;
        inst.aux = operands.first_field_value().ok_or("the relation is missing")?;
        if inst.aux > 5 {
            return Err(format!("there is no relation {}", inst.aux));
        }
        inst.dst = self.lower_destination(operands.destination_operand()?, inst.channels as u32)?;
        self.sources(&mut inst, &operands.srcs)?;
        self.finish(&mut inst)?;
        self.push(inst);
        Ok(())
    }

    fn set_predicate(&mut self, mut inst: Inst, operands: &Operands) -> Result<(), Reason> {
        let channels = inst.channels as u32;
        inst.op = Op::Setp;
        let dst = operands.all.iter().find(|o| matches!(o, Operand::Predicate(_)));
        let dst = dst.or(operands.dsts.first()).ok_or("the destination is missing")?;
        inst.dst = self.lower_destination(*dst, channels)?;
        let src = operands.srcs.iter().find(|s| !matches!(s, Operand::Predicate(_)));
        inst.src[0] = self.lower_source(*src.ok_or("the source is missing")?, channels)?;
        self.push(inst);
        Ok(())
    }

    fn lower_control_flow(
        &mut self,
        control: Control,
        name: &'static str,
        mut inst: Inst,
        operands: &Operands,
    ) -> Result<(), Reason> {
        match control {
            Control::Label => {
                let label = operands.label()? as usize;
                let here = self.program.code.len() as Pc;
                *self.label_pc.get_mut(label).ok_or("no such label")? = Some(here);
                if !self.targets[label] {
                    return Ok(());
                }
                inst.op = Op::Join;
                inst.no_mask = true;
            }
            Control::Goto | Control::Jump => {
                inst.op = Op::Goto;
                inst.aux = operands.label()?;
                if control == Control::Jump {
                    inst.channels = 1;
                }
                // Going backward, the channels that stay wait for those that go: right here.
                let backward = self.label_pc.get(inst.aux as usize).copied().flatten().is_some();
                self.push(inst);
                if backward {
                    self.push(Inst { op: Op::Join, ..self.blank_at(&inst) });
                }
                return Ok(());
            }
            Control::Call => {
                inst.op = Op::Call;
                inst.aux = operands.label()?;
            }
            Control::Switch => {
                inst.op = Op::SwitchJmp;
                inst.src[0] = self.lower_source(operands.source_operand(0)?, 1)?;
                inst.aux = self.program.tables.len() as u32;
                self.program.tables.push(operands.label_operands().collect());
            }
            Control::Return => inst.op = Op::Ret,
            Control::FunctionReturn => inst.op = if self.index == 0 { Op::Ret } else { Op::Fret },
            Control::FunctionCall => {
                let function = self.named_string(operands).ok_or("the function's name is missing")?;
                let Some(index) = self.functions.get(function.as_str()) else {
                    self.push_unsupported(
                        inst,
                        name,
                        format!("the function `{function}` is not in the module"),
                    );
                    return Ok(());
                };
                inst.op = Op::Fcall;
                inst.aux = *index;
            }
            Control::IndirectCall => {
                inst.op = Op::Ifcall;
                inst.src[0] = self.lower_source(operands.source_operand(0)?, 1)?;
            }
            Control::FunctionAddress => {
                let symbol = self.named_string(operands).ok_or("the symbol is missing")?;
                inst.op = Op::Faddr;
                inst.channels = 1;
                inst.no_mask = true;
                inst.dst = self.lower_destination(operands.destination_operand()?, 1)?;
                let known = self.program.symbols.iter().position(|s| *s == symbol);
                inst.aux = known.unwrap_or_else(|| {
                    self.program.symbols.push(symbol);
                    self.program.symbols.len() - 1
                }) as u32;
            }
        }
        self.push(inst);
        Ok(())
    }

    /// The string that an instruction names.
    fn named_string(&self, operands: &Operands) -> Option<String> {
        operands.all.iter().find_map(|o| match o {
            Operand::Str(s) => self.o.strings.get(*s).map(str::to_owned),
            _ => None,
        })
    }

    fn barrier(&mut self, barrier: Barrier, mut inst: Inst, operands: &Operands) -> Result<(), Reason> {
        let signals = operands.first_field_value().unwrap_or(0) & 1;
        match barrier {
            Barrier::Whole => inst.op = Op::Barrier,
            Barrier::Split => {
                inst.op = Op::SplitBarrier;
                inst.aux = signals;
            }
            Barrier::Named => {
                inst.op = Op::NamedBarrier;
                inst.aux = signals;
                // Id and number of threads; of 4.2: id, kind of thread, producers, consumers.
                let order: &[usize] = if operands.srcs.len() > 2 { &[0, 2, 1, 3] } else { &[0, 1] };
                for (s, place) in operands.srcs.iter().zip(order) {
                    inst.src[*place] = self.lower_source(*s, 1)?;
                }
            }
        }
        self.program.has_barrier = true;
        self.push(inst);
        Ok(())
    }

    /// A message to the gateway that says that the thread is at the group's barrier.
    fn signal_barrier(&mut self, mut inst: Inst) -> Result<(), Reason> {
        inst.op = Op::SplitBarrier;
        inst.aux = 1;
        self.program.has_barrier = true;
        self.push(inst);
        Ok(())
    }

    fn blank_at(&self, inst: &Inst) -> Inst {
        let mut b = self.blank_inst(Op::Nop, inst.source);
        b.span = inst.span;
        b
    }

    /// `madw` has one destination in two halves: the high one starts at the next whole register.
    fn madw(&self, inst: &mut Inst) -> Result<(), Reason> {
        if inst.dst2 != 0 {
            return Ok(());
        }
        if let Dst::Reg { offset, ty, .. } = inst.dst {
            let half = (inst.channels as u32 * ty.size()).next_multiple_of(self.grf);
            self.check(offset, half + inst.channels as u32 * ty.size())?;
            inst.dst2 = offset + half;
        }
        Ok(())
    }

    /// An instruction that lowering made, whose operands are known.
    pub(crate) fn push_instruction(&mut self, mut inst: Inst) -> Result<(), Reason> {
        self.finish(&mut inst)?;
        self.push(inst);
        Ok(())
    }

    /// Chooses the type the channels compute in, and brings operands to it where that is exact.
    fn finish(&mut self, inst: &mut Inst) -> Result<(), Reason> {
        retype_as_bits(inst);
        inst.exec = exec_type(inst);
        for i in 0..4 {
            self.promote_constant(inst, i);
        }
        let uniform = inst
            .src
            .iter()
            .all(|s| matches!(s, Src::None) || matches!(s, Src::Reg { shape: Shape::Scalar, .. }));
        inst.facts.uniform = uniform;
        Ok(())
    }

    /// An immediate in the type of the channels needs no conversion at run time.
    fn promote_constant(&mut self, inst: &mut Inst, i: usize) {
        // Its bytes have the sign of the source's own type.
        if inst.op == Op::Dp4a {
            return;
        }
        let Src::Reg { offset, ty, shape: Shape::Scalar, modifier: Modifier::None, constant: true, .. } =
            inst.src[i]
        else {
            return;
        };
        let raw = |bytes: &[u8]| {
            let mut b = [0; 8];
            b[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(b)
        };
        let bits = raw(&self.constants.bytes[offset as usize..(offset + ty.size()) as usize]);
        let int = match ty {
            Type::B => Some(bits as i8 as i64 as u64),
            Type::W => Some(bits as i16 as i64 as u64),
            Type::D => Some(bits as i32 as i64 as u64),
            Type::Ub | Type::Uw | Type::Ud | Type::Q | Type::Uq => Some(bits),
            _ => None,
        };
        let (to, value) = match (inst.exec, int) {
            (ExecType::I32, Some(v)) => (Type::D, v),
            (ExecType::U32, Some(v)) => (Type::Ud, v),
            (ExecType::I64, Some(v)) => (Type::Q, v),
            (ExecType::U64, Some(v)) => (Type::Uq, v),
            // Whether a denormal counts as zero is asked of its own type, at run time.
            (ExecType::F64 | ExecType::Odd, None)
                if ty == Type::F && !f32::from_bits(bits as u32).is_subnormal() =>
            {
                (Type::Df, (f32::from_bits(bits as u32) as f64).to_bits())
            }
            _ => return,
        };
        if to != ty {
            inst.src[i] = self.constant(to, value);
        }
    }
}
