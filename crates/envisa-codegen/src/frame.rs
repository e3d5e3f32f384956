//! The code around a function: how threads start, end, wait and take turns, and how the machine is called.

use envisa_lower::{Pc, RegOffset};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

use crate::emit::{Emitted, SPILLS, label};
use crate::select::{Help, Unsupported};
use crate::target::Target;
use crate::{Compiled, Given};
use envisa_native_layout::{CTX, RECORD, REGS, RENEW, SITES, at, exit};

/// How threads come to their code.
#[derive(Clone, Copy, Debug)]
pub enum Threads<'a> {
    /// One at a time, in registers that somebody has filled.
    #[allow(missing_docs)]
    Single { together: bool },
    /// By rows of groups: the code starts them. Each has so many bytes of payload.
    #[allow(missing_docs)]
    Row { writes: &'a [Write], payload: u32 },
}

impl Threads<'_> {
    /// Are the threads of a group alive together? Who has had his turn leaves then.
    fn together(&self) -> bool {
        matches!(self, Threads::Single { together: true })
    }
}

/// A write into a register with which a thread starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// First byte.
    pub to: RegOffset,
    /// How many.
    pub bytes: u32,
    /// Of what.
    pub value: Value,
    /// It stays there for the row's next threads.
    pub once: bool,
}

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// The same in all bytes.
    Fill(u8),
    /// Bytes of the row's image, from here on.
    Image(u32),
    /// Bytes of the thread's payload, from here on.
    Payload(u32),
    /// The thread's index in its group.
    Index,
    /// Its hardware slot.
    Slot,
    /// The same with bits put in: `(bit, bits put in there)`.
    Spread([(u32, u32); 2]),
    /// The group's id in x.
    GroupId,
    /// The thread's channels.
    Channels,
}

/// Bytes of a row's image, and where they are to be in the context.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Brought {
    /// In the image.
    pub from: u32,
    /// In the context, at a multiple of four.
    pub to: u32,
    /// How many.
    pub bytes: u32,
}

type Bug = String;

/// The whole code.
pub(crate) fn frame_function(
    given: &Given<'_>,
    body: Emitted,
    pool: Vec<u32>,
    help: Vec<Help>,
    left: Vec<(Pc, Unsupported)>,
    resumptions: Vec<(Pc, u32)>,
) -> Result<Compiled, Bug> {
    let mut context = (at::POOL + 4 * pool.len() as u32).next_multiple_of(64);
    let mut image = Vec::new();
    if let Threads::Row { writes, .. } = given.threads {
        for w in writes {
            if let Value::Image(from) = w.value {
                image.push(Brought { from, to: context, bytes: w.bytes });
                context += w.bytes.next_multiple_of(4);
            }
        }
    }
    let own = context.next_multiple_of(64);
    let record = (SPILLS + body.spilled).next_multiple_of(64);
    let mut f = Frame { target: given.target, code: Vec::new(), pending: None, labels: body.labels, own };
    let next = f.label();
    f.enter()?;
    match given.threads {
        Threads::Single { .. } => f.resume()?,
        Threads::Row { writes, .. } => f.start(writes, &image, next)?,
    }
    debug_assert!(f.pending.is_none(), "the function's first instruction has a label of its own");
    let first = f.code.len();
    f.code.extend(body.code);
    let all = first..f.code.len();
    f.bind(label::DONE)?;
    if let Threads::Row { payload, .. } = given.threads {
        let cost = given.program.functions().first().map_or(0, |f| f.end).max(1);
        f.end(payload, cost, next)?;
    }
    f.leave()?;
    f.routines(given.threads.together())?;
    Ok(Compiled {
        code: f.code,
        body: all,
        spilled: body.spilled,
        pool,
        context: own + record,
        record,
        image,
        resumptions,
        help,
        left,
    })
}

/// Writes the frame down.
struct Frame {
    target: Target,
    code: Vec<Instruction>,
    pending: Option<u64>,
    labels: u64,
    /// Where the record of a thread that runs by itself is in the context.
    own: u32,
}

/// Labels of the frame's own.
const OUT: u64 = 6;
const LEAVE: u64 = 7;
const AGAIN: u64 = 8;

/// Registers that callees may overwrite.
const VOLATILE: [Register; 8] = [
    Register::RAX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
];
/// Registers that callers want back.
const KEPT: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

fn context_operand(field: u32) -> MemoryOperand {
    MemoryOperand::with_base_displ(CTX, field.into())
}

impl Frame {
    fn push(&mut self, i: Result<Instruction, iced_x86::IcedError>) -> Result<(), Bug> {
        let mut i = i.map_err(|e| e.to_string())?;
        if let Some(l) = self.pending.take() {
            i.set_ip(l);
        }
        self.code.push(i);
        Ok(())
    }

    fn label(&mut self) -> u64 {
        self.labels += 1;
        self.labels - 1
    }

    fn bind(&mut self, label: u64) -> Result<(), Bug> {
        if self.pending.is_some() {
            self.push(Ok(Instruction::with(Code::Nopd)))?;
        }
        self.pending = Some(label);
        Ok(())
    }

    fn near(&mut self, code: Code, to: u64) -> Result<(), Bug> {
        self.push(Instruction::with_branch(code, to))
    }

    fn rr(&mut self, code: Code, a: Register, b: Register) -> Result<(), Bug> {
        self.push(Instruction::with2(code, a, b))
    }

    fn ri(&mut self, code: Code, a: Register, x: i32) -> Result<(), Bug> {
        self.push(Instruction::with2(code, a, x))
    }

    fn rm(&mut self, code: Code, a: Register, m: MemoryOperand) -> Result<(), Bug> {
        self.push(Instruction::with2(code, a, m))
    }

    fn mr(&mut self, code: Code, m: MemoryOperand, a: Register) -> Result<(), Bug> {
        self.push(Instruction::with2(code, m, a))
    }

    fn mi(&mut self, code: Code, m: MemoryOperand, x: i32) -> Result<(), Bug> {
        self.push(Instruction::with2(code, m, x))
    }

    /// The function's beginning: `fn(registers, context) -> how`.
    fn enter(&mut self) -> Result<(), Bug> {
        for r in KEPT {
            self.push(Instruction::with1(Code::Push_r64, r))?;
        }
        self.ri(Code::Sub_rm64_imm32, Register::RSP, 8)?;
        self.rr(Code::Mov_r64_rm64, CTX, Register::RSI)?;
        self.rr(Code::Mov_r64_rm64, REGS, Register::RDI)?;
        self.rm(Code::Mov_r64_rm64, SITES, context_operand(at::SITES))?;
        self.rm(Code::Lea_r64_m, RECORD, context_operand(self.own))
    }

    /// A thread starts, or goes on.
    fn resume(&mut self) -> Result<(), Bug> {
        self.rm(Code::Mov_r32_rm32, Register::EAX, context_operand(at::RESUME))?;
        self.rr(Code::Test_rm32_r32, Register::EAX, Register::EAX)?;
        self.near(Code::Jne_rel32_64, AGAIN)
    }

    /// What `rax` says is returned.
    fn leave(&mut self) -> Result<(), Bug> {
        self.ri(Code::Mov_r32_imm32, Register::EAX, exit::DONE)?;
        self.bind(OUT)?;
        self.push(Ok(Instruction::with(Code::VEX_Vzeroupper)))?;
        self.ri(Code::Add_rm64_imm32, Register::RSP, 8)?;
        for r in KEPT.into_iter().rev() {
            self.push(Instruction::with1(Code::Pop_r64, r))?;
        }
        self.push(Ok(Instruction::with(Code::Retnq)))
    }

    /// Stores or loads vectors, masks, and these general registers.
    fn registers(&mut self, general: &[Register], store: bool) -> Result<(), Bug> {
        let both = |s: Code, l: Code| if store { s } else { l };
        let wide = self.target == Target::Avx512;
        for v in 0..self.target.vectors() as u32 {
            let m = context_operand(at::VECTORS + self.target.bytes() * v);
            let (code, r) = match wide {
                true => (
                    both(Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm, Code::EVEX_Vmovdqu32_zmm_k1z_zmmm512),
                    Register::ZMM0 + v,
                ),
                false => {
                    (both(Code::VEX_Vmovups_ymmm256_ymm, Code::VEX_Vmovups_ymm_ymmm256), Register::YMM0 + v)
                }
            };
            if store { self.mr(code, m, r)? } else { self.rm(code, r, m)? }
        }
        for k in self.target.masks() {
            let (m, r) = (context_operand(at::MASKS + 8 * k as u32), Register::K0 + k as u32);
            if store {
                self.mr(Code::VEX_Kmovq_m64_kr, m, r)?;
            } else {
                self.rm(Code::VEX_Kmovq_kr_km64, r, m)?;
            }
        }
        for (r, k) in general.iter().zip(0..) {
            let m = context_operand(at::GENERAL + 8 * k);
            if store {
                self.mr(Code::Mov_rm64_r64, m, *r)?;
            } else {
                self.rm(Code::Mov_r64_rm64, *r, m)?;
            }
        }
        Ok(())
    }

    /// What code calls, and where threads go on.
    fn routines(&mut self, together: bool) -> Result<(), Bug> {
        self.bind(label::EXPIRE)?;
        self.mr(Code::Mov_rm32_r32, context_operand(at::PC), Register::ECX)?;
        let all: Vec<Register> = VOLATILE.into_iter().chain([Register::R14, Register::R15]).collect();
        if together {
            self.registers(&all, true)?;
            self.push(Instruction::with1(Code::Pop_r64, Register::RAX))?;
            self.mr(Code::Mov_rm64_r64, context_operand(at::AGAIN), Register::RAX)?;
            self.mi(Code::Mov_rm32_imm32, context_operand(at::RESUME), 1)?;
            self.ri(Code::Mov_r32_imm32, Register::EAX, exit::EXPIRED)?;
            self.near(Code::Jmp_rel32_64, OUT)?;
        } else {
            self.ri(Code::Or_rm32_imm32, Register::ECX, RENEW as i32)?;
        }
        self.bind(label::CALL)?;
        self.registers(&VOLATILE, true)?;
        self.rr(Code::Mov_r64_rm64, Register::RDI, CTX)?;
        self.rr(Code::Mov_r32_rm32, Register::ESI, Register::ECX)?;
        self.ri(Code::Sub_rm64_imm32, Register::RSP, 8)?;
        self.push(Ok(Instruction::with(Code::VEX_Vzeroupper)))?;
        self.push(Instruction::with1(Code::Call_rm64, context_operand(at::CALL)))?;
        self.ri(Code::Add_rm64_imm32, Register::RSP, 8)?;
        self.rr(Code::Test_rm32_r32, Register::EAX, Register::EAX)?;
        self.near(Code::Jne_rel32_64, LEAVE)?;
        self.registers(&VOLATILE, false)?;
        self.push(Ok(Instruction::with(Code::Retnq)))?;
        self.bind(LEAVE)?;
        self.ri(Code::Add_rm64_imm32, Register::RSP, 8)?;
        self.ri(Code::Cmp_rm32_imm32, Register::EAX, exit::ENDED)?;
        self.near(Code::Je_rel32_64, label::DONE)?;
        self.near(Code::Jmp_rel32_64, OUT)?;
        self.bind(label::BARRIER)?;
        self.push(Instruction::with1(Code::Pop_r64, Register::RAX))?;
        self.mr(Code::Mov_rm64_r64, context_operand(at::AGAIN), Register::RAX)?;
        self.ri(Code::Mov_r32_imm32, Register::EAX, exit::BARRIER)?;
        self.near(Code::Jmp_rel32_64, OUT)?;
        self.bind(AGAIN)?;
        // Where all registers were kept, they are loaded; elsewhere nobody minds, but for the time.
        let waited = self.label();
        self.ri(Code::Cmp_rm32_imm32, Register::EAX, 1)?;
        self.near(Code::Jne_rel32_64, waited)?;
        self.registers(&all, false)?;
        self.bind(waited)?;
        self.push(Instruction::with1(Code::Jmp_rm64, context_operand(at::AGAIN)))
    }
}

/// Rows of groups.
impl Frame {
    /// A thread starts, after those before it.
    fn start(&mut self, writes: &[Write], image: &[Brought], next: u64) -> Result<(), Bug> {
        let mut image = image.iter();
        let places: Vec<u32> = writes
            .iter()
            .map(|w| match w.value {
                Value::Image(_) => image.next().map_or(0, |i| i.to),
                _ => 0,
            })
            .collect();
        for (w, place) in writes.iter().zip(&places).filter(|w| w.0.once) {
            self.write(w, *place)?;
        }
        self.bind(next)?;
        // The last thread of a group may lack channels.
        self.rm(Code::Mov_r32_rm32, Register::ECX, context_operand(at::INDEX))?;
        self.ri(Code::Add_rm32_imm32, Register::ECX, 1)?;
        self.rm(Code::Mov_r32_rm32, Register::EAX, context_operand(at::CHANNELS))?;
        self.rm(Code::Cmp_r32_rm32, Register::ECX, context_operand(at::THREADS))?;
        self.rm(Code::Cmove_r32_rm32, Register::EAX, context_operand(at::LAST))?;
        self.mr(Code::Mov_rm32_r32, context_operand(at::DISPATCH), Register::EAX)?;
        for (w, place) in writes.iter().zip(&places).filter(|w| !w.0.once) {
            self.write(w, *place)?;
        }
        self.rm(Code::Mov_r64_rm64, Register::RAX, context_operand(at::GIVEN))?;
        self.mr(Code::Mov_rm64_r64, context_operand(at::BUDGET), Register::RAX)
    }

    fn write(&mut self, w: &Write, image: u32) -> Result<(), Bug> {
        let to = MemoryOperand::with_base_displ(REGS, w.to.into());
        match w.value {
            Value::Fill(x) => return self.fill(w.to, w.bytes, x),
            Value::Image(_) => return self.copy_to_registers(CTX, image, w.to, w.bytes),
            Value::GroupId => return self.copy_to_registers(CTX, at::GROUP, w.to, w.bytes),
            Value::Payload(from) => {
                self.rm(Code::Mov_r64_rm64, Register::RSI, context_operand(at::PAYLOAD))?;
                return self.copy_to_registers(Register::RSI, from, w.to, w.bytes);
            }
            Value::Index => self.rm(Code::Movzx_r32_rm8, Register::EAX, context_operand(at::INDEX))?,
            Value::Channels => self.rm(Code::Mov_r32_rm32, Register::EAX, context_operand(at::DISPATCH))?,
            Value::Slot | Value::Spread(_) => {
                self.rm(Code::Mov_r32_rm32, Register::EAX, context_operand(at::SLOT))?;
                self.rm(Code::Add_r32_rm32, Register::EAX, context_operand(at::INDEX))?;
                let steps = if let Value::Spread(steps) = w.value { steps } else { [(0, 0); 2] };
                for (bit, bits) in steps.into_iter().filter(|s| s.1 > 0) {
                    // The upper part, times 2^bits - 1, once more.
                    self.rr(Code::Mov_r32_rm32, Register::ECX, Register::EAX)?;
                    self.ri(Code::And_rm32_imm32, Register::ECX, -1 << bit)?;
                    let times = (1 << bits) - 1;
                    let i =
                        Instruction::with3(Code::Imul_r32_rm32_imm32, Register::ECX, Register::ECX, times);
                    self.push(i)?;
                    self.rr(Code::Add_r32_rm32, Register::EAX, Register::ECX)?;
                }
            }
        }
        self.mr(Code::Mov_rm32_r32, to, Register::EAX)
    }

    /// Fills bytes of the register file.
    fn fill(&mut self, to: RegOffset, bytes: u32, with: u8) -> Result<(), Bug> {
        let all = i32::from_le_bytes([with; 4]);
        let mut done = 0;
        while done < bytes {
            let m = MemoryOperand::with_base_displ(REGS, (to + done).into());
            let n = if bytes - done >= 4 { 4 } else { 1 };
            let code = if n == 4 { Code::Mov_rm32_imm32 } else { Code::Mov_rm8_imm8 };
            self.mi(code, m, if n == 4 { all } else { i32::from(with as i8) })?;
            done += n;
        }
        Ok(())
    }

    /// Copies bytes from somewhere into the register file.
    fn copy_to_registers(&mut self, base: Register, from: u32, to: RegOffset, bytes: u32) -> Result<(), Bug> {
        let mut done = 0;
        while done < bytes {
            let from = MemoryOperand::with_base_displ(base, (from + done).into());
            let to = MemoryOperand::with_base_displ(REGS, (to + done).into());
            let n = [32, 16, 8, 4, 2, 1].into_iter().find(|n| *n <= bytes - done).unwrap_or(1);
            let (load, store, r) = match n {
                32 => (Code::VEX_Vmovdqu_ymm_ymmm256, Code::VEX_Vmovdqu_ymmm256_ymm, [Register::YMM0; 2]),
                16 => (Code::VEX_Vmovdqu_xmm_xmmm128, Code::VEX_Vmovdqu_xmmm128_xmm, [Register::XMM0; 2]),
                8 => (Code::Mov_r64_rm64, Code::Mov_rm64_r64, [Register::RAX; 2]),
                4 => (Code::Mov_r32_rm32, Code::Mov_rm32_r32, [Register::EAX; 2]),
                2 => (Code::Movzx_r32_rm16, Code::Mov_rm16_r16, [Register::EAX, Register::AX]),
                _ => (Code::Movzx_r32_rm8, Code::Mov_rm8_r8, [Register::EAX, Register::AL]),
            };
            self.rm(load, r[0], from)?;
            self.mr(store, to, r[1])?;
            done += n;
        }
        Ok(())
    }

    /// A thread ended: the next one starts, if there is one and the row may go on.
    fn end(&mut self, payload: u32, cost: u32, next: u64) -> Result<(), Bug> {
        let (over, done) = (self.label(), self.label());
        let left = context_operand(at::LEFT);
        self.rm(Code::Mov_r64_rm64, Register::RAX, context_operand(at::GIVEN))?;
        self.rm(Code::Sub_r64_rm64, Register::RAX, context_operand(at::BUDGET))?;
        self.ri(Code::Add_rm64_imm32, Register::RAX, cost as i32)?;
        self.mr(Code::Sub_rm64_r64, left, Register::RAX)?;
        self.rm(Code::Mov_r32_rm32, Register::EAX, context_operand(at::INDEX))?;
        self.ri(Code::Add_rm32_imm8, Register::EAX, 1)?;
        self.mr(Code::Mov_rm32_r32, context_operand(at::INDEX), Register::EAX)?;
        self.mi(Code::Add_rm64_imm32, context_operand(at::PAYLOAD), payload as i32)?;
        self.rm(Code::Cmp_r32_rm32, Register::EAX, context_operand(at::THREADS))?;
        self.near(Code::Jb_rel32_64, over)?;
        self.mi(Code::Mov_rm32_imm32, context_operand(at::INDEX), 0)?;
        self.rm(Code::Mov_r64_rm64, Register::RAX, context_operand(at::PAYLOADS))?;
        self.mr(Code::Mov_rm64_r64, context_operand(at::PAYLOAD), Register::RAX)?;
        self.mi(Code::Sub_rm32_imm32, context_operand(at::GROUPS), 1)?;
        self.near(Code::Je_rel32_64, done)?;
        self.mi(Code::Add_rm32_imm32, context_operand(at::GROUP), 1)?;
        self.bind(over)?;
        self.mi(Code::Cmp_rm64_imm32, left, 0)?;
        self.near(Code::Jg_rel32_64, next)?;
        self.ri(Code::Mov_r32_imm32, Register::EAX, exit::PAUSED)?;
        self.near(Code::Jmp_rel32_64, OUT)?;
        self.bind(done)
    }
}
