//! Encodes a function with allocated registers as instructions of the CPU.

use iced_x86::{Code, ConditionCode, Instruction, MemoryOperand, OpKind, Register};
use regalloc2::{Allocation, Edit, Inst as RaInst, InstOrEdit, Output, PReg, RegClass};

use crate::allocate::{SLOT, View};
use crate::function::Function;
use crate::inst::{Base, Block, Inst, Lanes, Mem, Op, Size, ZEROS};
use crate::target::Target;
use envisa_native_layout::{CTX, POINTER, RECORD, REGS, SITE, SITES, at, site};

/// Names of places that code goes to and that its surroundings bind: labels are numbers from 1 on, and an instruction
/// that one stands before has it as its address.
pub(crate) mod label {
    /// The thread has ended.
    pub const DONE: u64 = 1;
    /// The routine that calls the machine with the number in `ecx`, and keeps all registers but that.
    pub const CALL: u64 = 2;
    /// The routine for a thread whose turn is over, at the branch in `ecx`.
    pub const EXPIRE: u64 = 3;
    /// The routine for a thread at a barrier, which goes on behind the call.
    pub const BARRIER: u64 = 4;
    /// The first of the code's own.
    pub const OWN: u64 = 16;
}

/// Code.
pub(crate) struct Emitted {
    /// Instructions; labels are addresses, see [`label`].
    pub code: Vec<Instruction>,
    /// The first label that is not taken.
    pub labels: u64,
    /// Bytes of a record that registers are spilled to.
    pub spilled: u32,
}

/// Where in a record registers are spilled.
pub(crate) const SPILLS: u32 = 64;

struct Emitter<'a> {
    f: &'a Function,
    view: &'a View<'a>,
    out: &'a Output,
    target: Target,
    code: Vec<Instruction>,
    /// What is to stand before the next instruction.
    pending: Option<u64>,
    /// What blocks that only go on elsewhere stand for.
    stands_for: Vec<Block>,
    /// Blocks in the order of the code, and the place of each in it: those that are rarely come to are behind the others.
    order: Vec<u32>,
    places: Vec<u32>,
}

/// The register of a number, of this size.
fn register(r: PReg, size: Size) -> Register {
    let n = r.hw_enc() as u32;
    let first = match size {
        Size::R8 => {
            return [
                Register::AL,
                Register::CL,
                Register::DL,
                Register::BL,
                Register::SPL,
                Register::BPL,
                Register::SIL,
                Register::DIL,
                Register::R8L,
                Register::R9L,
                Register::R10L,
                Register::R11L,
                Register::R12L,
                Register::R13L,
                Register::R14L,
                Register::R15L,
            ][n as usize];
        }
        Size::R16 => Register::AX,
        Size::R32 => Register::EAX,
        Size::R64 => Register::RAX,
        Size::X => Register::XMM0,
        Size::Y => Register::YMM0,
        Size::Z => Register::ZMM0,
        Size::K => Register::K0,
    };
    first + n
}

/// Instructions for a function whose registers have been allocated so.
pub(crate) fn emit_function(
    f: &Function,
    view: &View<'_>,
    out: &Output,
    target: Target,
) -> Result<Emitted, String> {
    let stands_for = (0..f.blocks.len() as u32).map(|b| end_of_chain(f, out, view, Block(b))).collect();
    let of = |cold| (0..f.blocks.len() as u32).filter(move |b| f.blocks[*b as usize].cold == cold);
    let order: Vec<u32> = of(false).chain(of(true)).collect();
    let mut places = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(b, k)| places[*b as usize] = k);
    let mut e = Emitter { f, view, out, target, code: Vec::new(), pending: None, stands_for, order, places };
    for k in 0..f.blocks.len() {
        let b = e.order[k];
        // Nobody comes to what stands for another one, but for the block before it.
        if e.stands_for[b as usize] == Block(b) {
            e.block(b)?;
        }
    }
    if e.pending.is_some() {
        e.push(Instruction::with(Code::Ud2));
    }
    let labels = label::OWN + f.blocks.len() as u64;
    Ok(Emitted { code: e.code, labels, spilled: out.num_spillslots as u32 * SLOT })
}

/// Where a block leads that does nothing else.
fn end_of_chain(f: &Function, out: &Output, view: &View<'_>, mut b: Block) -> Block {
    // Chains are short; a circle of them is left as it is.
    for _ in 0..f.blocks.len() {
        let [Inst::Jump(to)] = f.blocks[b.0 as usize].insts[..] else { break };
        let all: Vec<_> = out.block_insts_and_edits(view, regalloc2::Block::new(b.0 as usize)).collect();
        let quiet = |i: &InstOrEdit<'_>| match i {
            InstOrEdit::Inst(_) => true,
            InstOrEdit::Edit(Edit::Move { from, to }) => from == to,
        };
        if b.0 == 0 || !all.iter().all(quiet) {
            break;
        }
        b = to;
    }
    b
}

impl Emitter<'_> {
    fn push(&mut self, mut i: Instruction) {
        if let Some(l) = self.pending.take() {
            i.set_ip(l);
        }
        self.code.push(i);
    }

    fn label(&self, b: Block) -> u64 {
        label::OWN + u64::from(self.stands_for[b.0 as usize].0)
    }

    fn block(&mut self, b: u32) -> Result<(), String> {
        if self.pending.is_some() {
            self.push(Instruction::with(Code::Nopd));
        }
        self.pending = Some(label::OWN + u64::from(b));
        let (out, view) = (self.out, self.view);
        for i in out.block_insts_and_edits(view, regalloc2::Block::new(b as usize)) {
            match i {
                InstOrEdit::Edit(Edit::Move { from, to }) => {
                    if from != to {
                        self.copy(*from, *to)?;
                    }
                }
                InstOrEdit::Inst(i) => self.inst(b, i)?,
            }
        }
        Ok(())
    }

    /// The block that comes next in the code.
    fn next(&self, b: u32) -> Option<Block> {
        let behind = &self.order[self.places[b as usize] as usize + 1..];
        behind.iter().map(|b| Block(*b)).find(|n| self.stands_for[n.0 as usize] == *n)
    }

    fn goes(&mut self, b: u32, to: Block) -> Result<(), String> {
        if self.next(b) == Some(self.stands_for[to.0 as usize]) {
            return Ok(());
        }
        self.near(Code::Jmp_rel32_64, self.label(to))
    }

    fn near(&mut self, code: Code, to: u64) -> Result<(), String> {
        self.push(Instruction::with_branch(code, to).map_err(|e| e.to_string())?);
        Ok(())
    }

    fn either(&mut self, b: u32, when: ConditionCode, to: [Block; 2]) -> Result<(), String> {
        let next = self.next(b);
        if next == Some(self.stands_for[to[0].0 as usize]) {
            return self.near(jump_if(when, false)?, self.label(to[1]));
        }
        self.near(jump_if(when, true)?, self.label(to[0]))?;
        self.goes(b, to[1])
    }

    fn inst(&mut self, b: u32, at: RaInst) -> Result<(), String> {
        let (block, k) = self.view.at[at.index()];
        let inst = &self.f.blocks[block as usize].insts[k as usize];
        let allocs = self.out.inst_allocs(at);
        match inst {
            Inst::Plain { code, ops, lanes } => {
                let i = self.plain(*code, ops, *lanes, allocs)?;
                self.push(i);
            }
            Inst::Aim { message } => {
                let m = Mem::at(Base::Sites, message * SITE + site::POINTER);
                self.on_memory(Code::Mov_r64_rm64, POINTER, m);
            }
            Inst::Call { number } => self.routine(*number, label::CALL)?,
            Inst::Expire { pc } => self.routine(*pc, label::EXPIRE)?,
            Inst::Barrier { next, number } => {
                for (field, x) in [(at::PC, *next), (at::RESUME, *number)] {
                    self.in_context(field, x)?;
                }
                self.near(Code::Call_rel32_64, label::BARRIER)?;
            }
            Inst::Jump(to) => self.goes(b, *to)?,
            Inst::Branch { when, to } => self.either(b, *when, *to)?,
            Inst::Return => self.near(Code::Jmp_rel32_64, label::DONE)?,
        }
        Ok(())
    }

    /// Calls a routine with a number.
    fn routine(&mut self, number: u32, to: u64) -> Result<(), String> {
        let i = Instruction::with2(Code::Mov_r32_imm32, Register::ECX, number).map_err(|e| e.to_string())?;
        self.push(i);
        self.near(Code::Call_rel32_64, to)
    }

    /// Puts a number into the context.
    fn in_context(&mut self, field: u32, x: u32) -> Result<(), String> {
        let m = MemoryOperand::with_base_displ(CTX, field.into());
        let i = Instruction::with2(Code::Mov_rm32_imm32, m, x).map_err(|e| e.to_string())?;
        self.push(i);
        Ok(())
    }

    /// An instruction of a register and memory of the code's own.
    fn on_memory(&mut self, code: Code, r: Register, m: Mem) {
        let mut i = Instruction::default();
        i.set_code(code);
        i.set_op0_register(r);
        self.memory(&mut i, 1, &m, None);
        self.push(i);
    }

    fn plain(
        &mut self,
        code: Code,
        ops: &[Op; 4],
        lanes: Lanes,
        allocs: &[Allocation],
    ) -> Result<Instruction, String> {
        let mut i = Instruction::default();
        i.set_code(code);
        let mut next = 0;
        let mut take = || {
            next += 1;
            allocated_register(allocs, next - 1)
        };
        for (k, op) in ops.iter().enumerate() {
            let k = k as u32;
            match *op {
                Op::None => break,
                Op::Def(_, size) | Op::Use(_, size) => set(&mut i, k, register(take()?, size)),
                Op::Mod { size, .. } => {
                    take()?;
                    set(&mut i, k, register(take()?, size));
                }
                Op::Mem(m) => {
                    let index =
                        m.index.map(|(_, size)| Ok::<_, String>(register(take()?, size))).transpose()?;
                    self.memory(&mut i, k, &m, index);
                }
                Op::Imm8(x) => {
                    i.try_set_op_kind(k, OpKind::Immediate8).map_err(|e| e.to_string())?;
                    i.set_immediate8(x);
                }
                Op::Imm32(x) => {
                    i.try_set_op_kind(k, OpKind::Immediate32).map_err(|e| e.to_string())?;
                    i.set_immediate32(x as u32);
                }
                Op::Imm64(x) => {
                    i.try_set_op_kind(k, OpKind::Immediate32to64).map_err(|e| e.to_string())?;
                    i.set_immediate32to64(i64::from(x));
                }
            }
        }
        if code == ZEROS && ops[1] == Op::None {
            let r = i.op0_register();
            set(&mut i, 1, r);
            set(&mut i, 2, r);
        }
        match lanes {
            Lanes::All => {}
            Lanes::Of(_) => i.set_op_mask(register(take()?, Size::K)),
            Lanes::Zero(_) => {
                i.set_op_mask(register(take()?, Size::K));
                i.set_zeroing_masking(true);
            }
            Lanes::Cleared { .. } => {
                take()?;
                i.set_op_mask(register(take()?, Size::K));
            }
        }
        Ok(i)
    }

    fn memory(&self, i: &mut Instruction, k: u32, m: &Mem, index: Option<Register>) {
        let (base, plus) = match m.base {
            Base::Registers => (REGS, i64::from(m.plus)),
            Base::Context => (CTX, i64::from(m.plus)),
            Base::Pool => (CTX, i64::from(m.plus) + i64::from(at::POOL)),
            Base::Record => (RECORD, i64::from(m.plus)),
            Base::Sites => (SITES, i64::from(m.plus)),
            Base::Guest => (POINTER, i64::from(m.plus)),
        };
        i.set_op_kind(k, OpKind::Memory);
        i.set_memory_base(base);
        i.set_memory_index(index.unwrap_or(Register::None));
        i.set_memory_index_scale(m.scale.into());
        i.set_memory_displacement64(plus as u64);
        i.set_memory_displ_size(1);
        i.set_is_broadcast(m.broadcast);
    }

    /// Copies a register to another one, or to memory or from there.
    fn copy(&mut self, from: Allocation, to: Allocation) -> Result<(), String> {
        let slot =
            |a: Allocation| a.as_stack().map(|s| Mem::at(Base::Record, SPILLS + SLOT * s.index() as u32));
        let class = from.as_reg().or(to.as_reg()).ok_or("a copy from memory to memory")?.class();
        let (size, codes) = match (class, self.target) {
            (RegClass::Int, _) => (Size::R64, [Code::Mov_r64_rm64, Code::Mov_rm64_r64]),
            (RegClass::Vector, _) => (Size::K, [Code::VEX_Kmovq_kr_km64, Code::VEX_Kmovq_m64_kr]),
            (RegClass::Float, Target::Avx512) => {
                (Size::Z, [Code::EVEX_Vmovdqu32_zmm_k1z_zmmm512, Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm])
            }
            (RegClass::Float, Target::Avx2) => {
                (Size::Y, [Code::VEX_Vmovups_ymm_ymmm256, Code::VEX_Vmovups_ymmm256_ymm])
            }
        };
        let mut i = Instruction::default();
        match (from.as_reg(), to.as_reg()) {
            (Some(from), Some(to)) => {
                i.set_code(codes[0]);
                set(&mut i, 0, register(to, size));
                set(&mut i, 1, register(from, size));
            }
            (None, Some(to)) => {
                i.set_code(codes[0]);
                set(&mut i, 0, register(to, size));
                let m = slot(from).ok_or("a copy from nowhere")?;
                self.memory(&mut i, 1, &m, None);
            }
            (Some(from), None) => {
                i.set_code(codes[1]);
                let m = slot(to).ok_or("a copy to nowhere")?;
                self.memory(&mut i, 0, &m, None);
                set(&mut i, 1, register(from, size));
            }
            (None, None) => return Err("a copy from memory to memory".into()),
        }
        self.push(i);
        Ok(())
    }
}

fn set(i: &mut Instruction, k: u32, r: Register) {
    i.set_op_kind(k, OpKind::Register);
    i.set_op_register(k, r);
}

fn allocated_register(allocs: &[Allocation], k: usize) -> Result<PReg, String> {
    allocs.get(k).and_then(|a| a.as_reg()).ok_or_else(|| "an operand in no register".into())
}

/// The branch that is taken when the flags say so, or when they do not.
fn jump_if(when: ConditionCode, so: bool) -> Result<Code, String> {
    use Code::*;
    let both = match when {
        ConditionCode::e => [Je_rel32_64, Jne_rel32_64],
        ConditionCode::ne => [Jne_rel32_64, Je_rel32_64],
        ConditionCode::b => [Jb_rel32_64, Jae_rel32_64],
        ConditionCode::ae => [Jae_rel32_64, Jb_rel32_64],
        ConditionCode::a => [Ja_rel32_64, Jbe_rel32_64],
        ConditionCode::be => [Jbe_rel32_64, Ja_rel32_64],
        ConditionCode::l => [Jl_rel32_64, Jge_rel32_64],
        ConditionCode::ge => [Jge_rel32_64, Jl_rel32_64],
        ConditionCode::g => [Jg_rel32_64, Jle_rel32_64],
        ConditionCode::le => [Jle_rel32_64, Jg_rel32_64],
        ConditionCode::s => [Js_rel32_64, Jns_rel32_64],
        ConditionCode::ns => [Jns_rel32_64, Js_rel32_64],
        _ => return Err("a condition of a rare kind".into()),
    };
    Ok(both[usize::from(!so)])
}
