//! A thread that executes a function.

use envisa_lower::{Pc, RegOffset};

use crate::func::{Block, Elem, Func, InstId, Type, Value};
use crate::inst::{Access, AccessKind, AccessShape, Home, Inst, Target, Terminator, Window};

use super::pure::pure;

/// The thread stopped: it faulted, or ended, and [`World`] knows how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Halt;

/// The values of an access's operands, by lane.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Accessed {
    /// Lanes that access memory.
    pub mask: u32,
    /// The surface, the handle, the operand of scratch.
    pub window: u64,
    /// Addresses as in registers.
    pub address: Vec<u64>,
    /// Scalars.
    pub stride: Option<u64>,
    /// Added before scaling.
    pub base: Option<u64>,
    /// Added after it.
    pub origin: Option<u64>,
    /// What is stored.
    pub data: Vec<Vec<u64>>,
}

/// What a thread has around it: registers, memory, the interpreter.
pub trait World {
    /// The channels that the thread starts with.
    fn dispatch(&self) -> u32;
    /// So many bytes, up to 8, of the register file as the thread started.
    fn input(&self, offset: RegOffset, bytes: u32) -> u64;
    /// Puts a number into the register file.
    fn put(&mut self, offset: RegOffset, bytes: u32, bits: u64);
    /// What is in the register file.
    fn get(&self, offset: RegOffset, bytes: u32) -> u64;
    /// Executes an instruction, with this execution mask and what was put into registers.
    ///
    /// # Errors
    /// The thread stopped.
    fn escape(&mut self, pc: Pc, exec: u32) -> Result<(), Halt>;
    /// Executes an access; gives the results' lanes.
    ///
    /// # Errors
    /// The thread stopped.
    fn access(&mut self, a: &Access, x: &Accessed, results: &[Type]) -> Result<Vec<Vec<u64>>, Halt>;
    /// Takes from the budget.
    ///
    /// # Errors
    /// There is not enough.
    fn spend(&mut self, pc: Pc, cost: u32) -> Result<(), Halt>;
    /// Orders accesses.
    fn fence(&mut self, pc: Pc);
    /// `%cr0` is this from here on.
    fn mode(&mut self, cr0: u32);
}

/// Why a thread does not go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Paused {
    /// It ended.
    Ended,
    /// It waits, as the instruction says; [`Thread::run`] goes on behind it.
    Barrier(Pc),
    /// It is to execute this instruction, which faults.
    Trap(Pc),
    /// [`World`] stopped it.
    Halted,
    /// A claim of the function does not hold: a bug of who built it, or of a pass.
    Wrong(InstId),
}

/// A thread: its values so far, and where it is.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Lanes of all values, one after another.
    lanes: Vec<u64>,
    /// Where a value's are.
    starts: Vec<u32>,
    at: Block,
    ended: bool,
}

/// What lanes have that nobody may look at.
const ANY: u64 = 0xa5a5_a5a5_a5a5_a5a5;

impl Thread {
    /// One that starts.
    pub fn new(f: &Func) -> Thread {
        let mut starts = Vec::with_capacity(f.value_count());
        let mut n = 0;
        for v in 0..f.value_count() as u32 {
            starts.push(n);
            n += u32::from(f.ty(Value(v)).lanes);
        }
        Thread { lanes: vec![ANY; n as usize], starts, at: Block::ENTRY, ended: false }
    }

    fn range(&self, f: &Func, v: Value) -> std::ops::Range<usize> {
        let at = self.starts[v.index()] as usize;
        at..at + f.ty(v).lanes as usize
    }

    /// A value's lanes.
    pub fn lanes(&self, f: &Func, v: Value) -> &[u64] {
        &self.lanes[self.range(f, v)]
    }

    fn one(&self, v: Value) -> u64 {
        self.lanes[self.starts[v.index()] as usize]
    }

    /// A mask's lanes as bits.
    fn bits(&self, f: &Func, v: Value) -> u32 {
        self.lanes(f, v).iter().zip(0..).fold(0, |bits, (x, k)| bits | (*x as u32 & 1) << k)
    }

    fn set(&mut self, f: &Func, v: Value, lane: impl Fn(&Thread, usize) -> u64) {
        let all = f.ty(v).elem.all();
        let range = self.range(f, v);
        let lanes: Vec<u64> = (0..range.len()).map(|k| lane(self, k) & all).collect();
        self.lanes[range].copy_from_slice(&lanes);
    }

    /// Goes on until it ends or waits.
    pub fn run(&mut self, f: &Func, world: &mut impl World) -> Paused {
        if self.ended {
            return Paused::Ended;
        }
        loop {
            for i in &f.block(self.at).insts {
                match self.inst(f, *i, world) {
                    Ok(true) => {}
                    Ok(false) => return Paused::Wrong(*i),
                    Err(Halt) => return Paused::Halted,
                }
            }
            match &f.block(self.at).end {
                Terminator::Jump(t) => self.go(f, t),
                Terminator::Branch { mask, then, other } => {
                    let any = self.bits(f, *mask) != 0;
                    self.go(f, if any { then } else { other });
                }
                Terminator::Barrier { pc, reads, resume } => {
                    self.put(f, reads, world);
                    self.go(f, resume);
                    return Paused::Barrier(*pc);
                }
                Terminator::Return => {
                    self.ended = true;
                    return Paused::Ended;
                }
                Terminator::Trap(pc) => return Paused::Trap(*pc),
            }
        }
    }

    fn go(&mut self, f: &Func, t: &Target) {
        let values: Vec<Vec<u64>> = t.args.iter().map(|v| self.lanes(f, *v).to_vec()).collect();
        for (p, lanes) in f.block(t.block).params.iter().zip(values) {
            self.set(f, *p, |_, k| lanes[k]);
        }
        self.at = t.block;
    }

    fn put(&self, f: &Func, homes: &[Home], world: &mut impl World) {
        for h in homes {
            let ty = f.ty(h.value);
            if ty.is_mask() {
                world.put(h.offset, 4, self.bits(f, h.value).into());
                continue;
            }
            let bytes = ty.elem.bytes();
            for (x, k) in self.lanes(f, h.value).iter().zip(0..) {
                world.put(h.offset + k * bytes, bytes, *x);
            }
        }
    }

    /// Executes an instruction; `false` if a claim of it does not hold.
    fn inst(&mut self, f: &Func, i: InstId, world: &mut impl World) -> Result<bool, Halt> {
        let d = f.inst(i);
        let to = d.first;
        match &d.inst {
            Inst::Input { offset, step } => {
                let bytes = f.ty(to).elem.bytes();
                self.set(f, to, |_, k| world.input(offset + k as u32 * step, bytes));
            }
            Inst::Dispatch => {
                let all = world.dispatch();
                self.set(f, to, |_, k| u64::from(all >> k & 1));
            }
            Inst::Spend { pc, cost } => world.spend(*pc, *cost)?,
            Inst::Fence(pc) => world.fence(*pc),
            Inst::Mode(cr0) => world.mode(*cr0),
            Inst::Access(a) => return self.access(f, i, a, world),
            Inst::Escape(e) => {
                self.put(f, &e.reads, world);
                world.escape(e.pc, self.bits(f, e.exec))?;
                for (v, offset) in f.results(i).zip(&e.writes) {
                    let ty = f.ty(v);
                    let bytes = ty.elem.bytes();
                    self.set(f, v, |_, k| match ty.elem {
                        Elem::Mask => world.get(*offset, 4) >> k & 1,
                        _ => world.get(offset + k as u32 * bytes, bytes),
                    });
                }
            }
            _ => {
                let results = pure(f, d, &|v| Some(self.lanes(f, v).to_vec()));
                let Some(results) = results else { return Ok(false) };
                for (v, lanes) in f.results(i).zip(&results) {
                    self.set(f, v, |_, k| lanes[k]);
                }
            }
        }
        Ok(true)
    }

    fn access(&mut self, f: &Func, i: InstId, a: &Access, world: &mut impl World) -> Result<bool, Halt> {
        let scalar = |v: Option<Value>| v.map(|v| self.one(v));
        let x = Accessed {
            mask: self.bits(f, a.mask),
            window: match a.window {
                Window::Surface(v) | Window::Handle(v) | Window::Scratch(v) => self.one(v),
                Window::Flat | Window::Slm | Window::State | Window::Arguments => 0,
            },
            address: self.lanes(f, a.address).to_vec(),
            stride: scalar(a.stride),
            base: scalar(a.base),
            origin: scalar(a.origin),
            data: a.data.iter().map(|v| self.lanes(f, *v).to_vec()).collect(),
        };
        if !a.keeps_shape(&x) {
            return Ok(false);
        }
        let types: Vec<Type> = f.results(i).map(|v| f.ty(v)).collect();
        let results = world.access(a, &x, &types)?;
        for (v, lanes) in f.results(i).zip(&results) {
            self.set(f, v, |_, k| {
                if a.block || a.kind != AccessKind::Store && x.mask >> k & 1 != 0 { lanes[k] } else { ANY }
            });
        }
        Ok(true)
    }
}

impl Access {
    /// The address of a lane: see [`Access`].
    pub fn place(&self, x: &Accessed, lane: usize) -> u64 {
        let extend = |a: u64| match self.extend {
            envisa_lower::Extend::Sign => a as i32 as i64 as u64,
            // Of messages whose indices are sums no access is built.
            _ => a,
        };
        let first = x.address[if x.address.len() == 1 { 0 } else { lane }];
        let at = extend(first).wrapping_add(x.base.unwrap_or(0)).wrapping_mul(self.scale.into());
        let at = at.wrapping_add(self.offset as u64).wrapping_add(x.origin.unwrap_or(0));
        let at = at.wrapping_add(x.stride.unwrap_or(0).wrapping_mul(lane as u64));
        if self.bits == 32 { at & 0xffff_ffff } else { at }
    }

    /// Do the addresses lie as the shape claims?
    pub fn keeps_shape(&self, x: &Accessed) -> bool {
        let cut = |a: u64| if self.bits == 32 { a & 0xffff_ffff } else { a };
        let steps = |step: i64| {
            let first = self.place(x, 0);
            (0..self.lanes as usize)
                .all(|k| self.place(x, k) == cut(first.wrapping_add((step * k as i64) as u64)))
        };
        match self.shape {
            AccessShape::Gather | AccessShape::Clamped | AccessShape::Halves { .. } => true,
            AccessShape::Uniform => steps(0),
            AccessShape::Row => steps(self.element.into()),
            AccessShape::Strided { step, .. } => steps(step.into()),
        }
    }
}
