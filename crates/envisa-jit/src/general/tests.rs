//! Random code before and after, by an evaluator of what is used of x86: whoever reads the register file by other
//! means sees the same.

use std::collections::HashMap;

use super::*;
use crate::asm::{Asm, Mem};
use crate::context_layout::CTX;

/// Bytes of the register file.
const BYTES: usize = 512;
/// Where slots begin, dwords and then quads.
const DWORDS: u32 = 64;
const QUADS: u32 = 256;

/// A generator of numbers, as simple as will do.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

struct Program {
    r: Random,
    a: Asm,
    stub: crate::asm::Label,
}

impl Program {
    fn dword(&mut self) -> Mem {
        Mem::at(REGS, DWORDS + 4 * self.r.below(20) as u32)
    }

    fn quad(&mut self) -> Mem {
        Mem::at(REGS, QUADS + 8 * self.r.below(4) as u32)
    }

    fn one(&mut self, depth: u32) {
        use Code::*;
        let (eax, rax) = (Register::EAX, Register::RAX);
        let [m, n] = [self.dword(), self.dword()];
        let [q, o] = [self.quad(), self.quad()];
        let x = self.r.below(1000) as i32 - 500;
        match self.r.below(16) {
            0..=4 => {
                self.a.rm(Mov_r32_rm32, eax, m);
                let op = [Add_r32_rm32, Sub_r32_rm32, Imul_r32_rm32, And_r32_rm32, Xor_r32_rm32];
                for _ in 0..self.r.below(3) {
                    let (k, of) = (self.r.below(5) as usize, self.dword());
                    self.a.rm(op[k], eax, of);
                }
                if self.r.below(3) == 0 {
                    self.a.ri(Add_rm32_imm32, eax, x);
                }
                if self.r.below(4) == 0 {
                    self.a.rmi(Imul_r32_rm32_imm32, eax, m, x);
                }
                self.a.mr(Mov_rm32_r32, n, eax);
                // What was computed may be wanted once more, or something else be computed of it.
                for _ in 0..self.r.below(3) {
                    let of = self.dword();
                    match self.r.below(3) {
                        0 => self.a.mr(Mov_rm32_r32, of, eax),
                        1 => self.a.mr(Add_rm32_r32, of, eax),
                        _ => {
                            self.a.ri(Add_rm32_imm32, eax, x);
                            self.a.mr(Mov_rm32_r32, of, eax);
                        }
                    }
                }
            }
            5 => self.a.mi(Mov_rm32_imm32, m, x),
            6 => self.a.mi(Add_rm32_imm32, m, x),
            7 => {
                self.a.rm(Mov_r64_rm64, rax, q);
                self.a.rm(Add_r64_rm64, rax, o);
                self.a.mr(Mov_rm64_r64, o, rax);
            }
            // Bytes of slots, and dwords of quads.
            8 => {
                self.a.rm(Movzx_r32_rm8, eax, m.plus(1));
                self.a.mr(Mov_rm32_r32, n, eax);
            }
            9 => self.a.mi(Mov_rm8_imm8, m.plus(2), x & 0x7f),
            10 => {
                self.a.rm(Mov_r32_rm32, eax, q.plus(4));
                self.a.mr(Mov_rm32_r32, o, eax);
            }
            // Both halves of what may be two slots.
            11 => {
                self.a.rm(Mov_r64_rm64, rax, Mem::at(REGS, DWORDS + 8 * self.r.below(10) as u32));
                self.a.mr(Mov_rm64_r64, Mem::at(REGS, DWORDS + 8 * self.r.below(10) as u32), rax);
            }
            12 if self.r.below(8) == 0 => self.call(),
            // A branch forward.
            13 | 14 if depth < 3 => {
                let l = self.a.label();
                self.a.rm(Mov_r32_rm32, eax, m);
                self.a.rm(Cmp_r32_rm32, eax, n);
                self.a.jump([Jb_rel32_64, Je_rel32_64, Jae_rel32_64][self.r.below(3) as usize], l);
                for _ in 0..self.r.below(5) {
                    self.one(depth + 1);
                }
                self.a.bind(l);
                // Both ways have left something there.
                if self.r.below(2) == 0 {
                    let of = self.dword();
                    self.a.mr(Mov_rm32_r32, of, eax);
                }
            }
            // A loop, whose counter nothing else knows.
            15 if depth < 2 => {
                let l = self.a.label();
                let count = Mem::at(REGS, 400 + 4 * depth);
                self.a.mi(Mov_rm32_imm32, count, 1 + x.rem_euclid(4));
                self.a.bind(l);
                for _ in 0..1 + self.r.below(6) {
                    self.one(depth + 1);
                }
                self.a.mi(Sub_rm32_imm32, count, 1);
                self.a.jump(Jne_rel32_64, l);
            }
            _ => self.a.mi(Sub_rm32_imm32, m, x),
        }
    }

    /// The machine reads some dwords, and writes others.
    fn call(&mut self) {
        for _ in 0..self.r.below(4) {
            let at = self.dword().disp as u32;
            self.a.want(at..at + 4);
        }
        self.a.ri(Code::Mov_r32_imm32, Register::EAX, self.r.0 as i32);
        self.a.jump(Code::Call_rel32_64, self.stub);
    }
}

/// What was seen: by the machine at its calls, and at the end.
#[derive(Default, PartialEq, Debug)]
struct Seen(Vec<(u32, Vec<u8>)>);

struct Evaluator {
    general: HashMap<Register, u64>,
    memory: Vec<u8>,
    /// Of the last comparison or difference.
    flags: (u32, u32),
    /// How often memory was accessed by instructions.
    accesses: u64,
}

impl Evaluator {
    fn place(&self, i: &Instruction) -> usize {
        let of = |r: Register| if r == Register::None { 0 } else { self.general[&r.full_register()] };
        let index = of(i.memory_index()).wrapping_mul(u64::from(i.memory_index_scale()));
        of(i.memory_base()).wrapping_add(index).wrapping_add(i.memory_displacement64()) as usize
    }

    fn get(&self, i: &Instruction, k: u32, bytes: usize) -> u64 {
        match i.op_kind(k) {
            OpKind::Register => {
                let all = self.general.get(&i.op_register(k).full_register()).copied().unwrap_or(0xdead);
                if bytes == 8 { all } else { all & ((1 << (8 * bytes)) - 1) }
            }
            OpKind::Memory => {
                let at = self.place(i);
                let mut all = [0; 8];
                all[..bytes].copy_from_slice(&self.memory[at..at + bytes]);
                u64::from_le_bytes(all)
            }
            _ => i.immediate(k),
        }
    }

    fn set(&mut self, i: &Instruction, bytes: usize, x: u64) {
        if i.op0_kind() == OpKind::Register {
            let x = if bytes == 8 { x } else { x & 0xffff_ffff };
            self.general.insert(i.op0_register().full_register(), x);
        } else {
            let at = self.place(i);
            self.memory[at..at + bytes].copy_from_slice(&x.to_le_bytes()[..bytes]);
        }
    }

    /// Runs code to its return. `wanted`: what the machine reads before which instruction.
    fn run(&mut self, code: &[Instruction], wanted: &dyn Fn(usize) -> Vec<Range<u32>>) -> Seen {
        use Code::*;
        let labels: HashMap<u64, usize> =
            code.iter().enumerate().filter(|i| i.1.ip() != 0).map(|(k, i)| (i.ip(), k)).collect();
        let (mut seen, mut k) = (Seen::default(), 0);
        for _ in 0..100_000 {
            let i = &code[k];
            for r in wanted(k) {
                seen.0.push((r.start, self.memory[r.start as usize..r.end as usize].to_vec()));
            }
            k += 1;
            self.accesses += u64::from(i.code() != Lea_r32_m && memory_operand(i).is_some());
            let wide = matches!(i.code(), Mov_r64_rm64 | Mov_rm64_r64 | Add_r64_rm64);
            let bytes = if wide { 8 } else { 4 };
            let plain = !i.is_jcc_near()
                && !i.is_call_near()
                && !matches!(i.code(), Movzx_r32_rm8 | Mov_rm8_imm8 | Lea_r32_m | INVALID);
            let [a, b] = [0, 1].map(|n| if plain && n < i.op_count() { self.get(i, n, bytes) } else { 0 });
            match i.code() {
                Mov_r32_rm32 | Mov_r64_rm64 | Mov_rm32_r32 | Mov_rm64_r64 | Mov_r32_imm32
                | Mov_rm32_imm32 => {
                    self.set(i, bytes, b);
                }
                Movzx_r32_rm8 => {
                    let x = self.get(i, 1, 1);
                    self.set(i, 4, x);
                }
                Mov_rm8_imm8 => self.set(i, 1, i.immediate(1)),
                Add_r32_rm32 | Add_r64_rm64 | Add_rm32_imm32 | Add_rm32_r32 => {
                    self.set(i, bytes, a.wrapping_add(b))
                }
                Sub_r32_rm32 | Sub_rm32_imm32 => {
                    self.flags = (a as u32, b as u32);
                    self.set(i, 4, a.wrapping_sub(b));
                }
                Imul_r32_rm32 => self.set(i, 4, a.wrapping_mul(b)),
                Imul_r32_rm32_imm32 => self.set(i, 4, b.wrapping_mul(i.immediate(2))),
                And_r32_rm32 => self.set(i, 4, a & b),
                Xor_r32_rm32 => self.set(i, 4, a ^ b),
                Lea_r32_m => {
                    let x = self.place(i) as u64;
                    self.set(i, 4, x);
                }
                Cmp_r32_rm32 => self.flags = (a as u32, b as u32),
                Jb_rel32_64 | Jae_rel32_64 | Je_rel32_64 | Jne_rel32_64 => {
                    let (a, b) = self.flags;
                    let taken = match i.code() {
                        Jb_rel32_64 => a < b,
                        Jae_rel32_64 => a >= b,
                        Je_rel32_64 => a == b,
                        _ => a != b,
                    };
                    if taken {
                        k = labels[&i.near_branch64()];
                    }
                }
                Call_rel32_64 => {
                    // The machine: it writes somewhere, and all registers of its own.
                    let at = (DWORDS + 4 * (self.general[&Register::RAX] % 20) as u32) as usize;
                    self.memory[at] = self.memory[at].wrapping_add(1);
                    for r in [Register::RAX, Register::RCX, Register::RDX, Register::RSI, Register::RDI] {
                        self.general.insert(r, 0xbad);
                    }
                    for r in [Register::R8, Register::R9, Register::R10, Register::R11] {
                        self.general.insert(r, 0xbad);
                    }
                }
                INVALID => {}
                Retnq => return seen,
                other => panic!("no evaluator of {other:?}"),
            }
        }
        panic!("it does not end")
    }
}

#[test]
fn whoever_reads_the_register_file_sees_the_same() {
    let (mut kept, mut accesses) = (0, (0, 0));
    for seed in 0..3000 {
        let mut a = Asm::default();
        let stub = a.label();
        let mut p = Program { r: Random(seed * 977 + 5), a, stub };
        p.a.rr(Code::Mov_r64_rm64, CTX, Register::RSI);
        p.a.rr(Code::Mov_r64_rm64, REGS, Register::RDI);
        for _ in 0..3 + p.r.below(30) {
            p.one(0);
        }
        // All of it, at the end.
        p.a.want(0..BYTES as u32);
        p.a.op0(Code::Retnq);
        let end = p.a.here().code;
        p.a.bind(stub);
        p.a.op0(Code::Retnq);
        let wanted = std::mem::take(&mut p.a.wanted);
        let (code, labels) = p.a.settled().expect("it is code");
        let given = Given {
            labels,
            quiet: &[],
            wanted: &wanted,
            behind: end..end,
            end,
            depths: &[(0, 0)],
            shared: DWORDS + 8,
        };
        let Some(new) = keep_slots_in_registers(code, &given) else { continue };
        kept += 1;
        let run = |code: &[Instruction], at: &dyn Fn(usize) -> usize| {
            let memory = (0..BYTES).map(|k| (k * 7 + seed as usize) as u8).collect();
            let general = HashMap::from([(Register::RDI, 0), (Register::RSI, 0), (Register::RAX, 0)]);
            let mut e = Evaluator { general, memory, flags: (0, 0), accesses: 0 };
            let here =
                |k: usize| wanted.iter().filter(|w| at(w.before) == k).map(|w| w.bytes.clone()).collect();
            let seen = e.run(code, &here);
            (seen, e.accesses)
        };
        // What is wanted before an instruction is there behind what was put before it.
        let placed = |k: usize| {
            let from = new.at[k];
            let is = |i: &Instruction| i.code() == code[k].code();
            from + new.code[from..].iter().position(is).expect("the instruction is still there")
        };
        let (before, after) = (run(code, &|k| k), run(&new.code, &placed));
        assert_eq!(before.0, after.0, "program {seed}");
        (accesses.0, accesses.1) = (accesses.0 + before.1, accesses.1 + after.1);
    }
    assert!(kept > 2500, "{kept} programs were changed");
    assert!(10 * accesses.1 < 9 * accesses.0, "{accesses:?} accesses of memory");
}
