//! Statistics of a run: instructions, channel use, divergence, traffic, fidelity.

use std::collections::BTreeMap;

use envisa_lower::{ExecType, Op, Program};

use envisa_machine::observer::Observer;
use envisa_machine::thread::{AccessKind, AccessSpace, Machine, Mask};

/// How true to the device an instruction's results are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fidelity {
    /// Bit for bit what the specification says.
    Exact,
    /// Within the bound that is given; the device's own bits may differ.
    Approximate(&'static str),
    /// Not executed.
    Unsupported,
}

/// The fidelity of what a sampler makes: the specification leaves the precision of coordinates and weights to devices.
pub const SAMPLED: Fidelity = Fidelity::Approximate(
    "nearest texels exact, linear filters of singles; devices round coordinates and weights to 8 fractional bits",
);

/// The fidelity of an operation.
pub fn fidelity(op: Op, exec: ExecType) -> Fidelity {
    let half = exec == ExecType::F16;
    match op {
        Op::Unsupported => Fidelity::Unsupported,
        Op::Invm => Fidelity::Approximate("correctly rounded; the device's own start of the macro differs"),
        Op::Rsqtm => Fidelity::Approximate("0.51 ulp; the device's own start of the macro differs"),
        Op::Inv if exec == ExecType::F64 => Fidelity::Approximate("correctly rounded; the device's differs"),
        Op::Rsqrt if exec == ExecType::F64 => Fidelity::Approximate("0.501 ulp"),
        Op::Inv | Op::Rsqrt | Op::Exp | Op::Log | Op::Pow | Op::Sin | Op::Cos | Op::Tanh | Op::Sigm => {
            if half {
                Fidelity::Approximate("1 ulp")
            } else {
                Fidelity::Approximate("less than 1 ulp (docs/MATH.md)")
            }
        }
        // Correctly rounded here; the device promises less.
        Op::Div | Op::Sqrt
            if matches!(exec, ExecType::F32 | ExecType::F64 | ExecType::F16 | ExecType::Odd) =>
        {
            Fidelity::Approximate("correctly rounded; the device's own result may differ in the last place")
        }
        // Of integers.
        Op::Div | Op::Sqrt => Fidelity::Exact,
        Op::Add
        | Op::Add3
        | Op::Add3o
        | Op::Addc
        | Op::Subb
        | Op::Mul
        | Op::Mulh
        | Op::Mad
        | Op::Madw
        | Op::Lrp
        | Op::Mod
        | Op::Min
        | Op::Max
        | Op::Avg
        | Op::Sad2
        | Op::Sad2add
        | Op::Dp4a
        | Op::Pln
        | Op::Line
        | Op::Dp2
        | Op::Dp3
        | Op::Dp4
        | Op::Dph
        | Op::Divm
        | Op::Sqrtm
        | Op::Frc
        | Op::Rndd
        | Op::Rndu
        | Op::Rnde
        | Op::Rndz
        | Op::And
        | Op::Or
        | Op::Xor
        | Op::Not
        | Op::Shl
        | Op::Shr
        | Op::Asr
        | Op::Rol
        | Op::Ror
        | Op::Bfn
        | Op::Bfe
        | Op::Bfi
        | Op::Bfrev
        | Op::Cbit
        | Op::Fbh
        | Op::Fbl
        | Op::Lzd
        | Op::Sel
        | Op::Fcvt
        | Op::Srnd
        | Op::Dnscl
        | Op::ShflIdx4 => Fidelity::Exact,
        Op::Mov
        | Op::Pick
        | Op::FunnelShift
        | Op::MovPred
        | Op::Setp
        | Op::PredLogic
        | Op::Cmp
        | Op::Dpas
        | Op::Dpasw
        | Op::Bdpas
        | Op::ChannelEnables
        | Op::Join
        | Op::Goto
        | Op::Call
        | Op::Ret
        | Op::Fcall
        | Op::Ifcall
        | Op::Fret
        | Op::Faddr
        | Op::SwitchJmp
        | Op::Barrier
        | Op::SplitBarrier
        | Op::NamedBarrier
        | Op::Fence
        | Op::Message
        | Op::End
        | Op::Nop => Fidelity::Exact,
    }
}

/// Bytes moved in one kind of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
    /// Atomics.
    pub atomics: u64,
    /// Accesses, of one channel each; a block counts as one.
    pub accesses: u64,
}

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// `(times executed, channels that ran)` of each of the kernel's instructions, by program counter; zero at what only
    /// lowering needs.
    pub instructions: Vec<(u64, u64)>,
    /// Branches that split the active channels.
    pub divergent: u64,
    /// Branches.
    pub branches: u64,
    /// Waits at barriers.
    pub barriers: u64,
    /// Threads.
    pub threads: u64,
    /// Virtual addresses.
    pub global: Traffic,
    /// Shared local memory.
    pub slm: Traffic,
    /// Surfaces.
    pub surfaces: Traffic,
    /// Scratch and the rest of the general-state window.
    pub scratch: Traffic,
}

/// A line of the fidelity report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FidelityLine {
    /// The operation.
    pub operation: String,
    /// Times executed.
    pub count: u64,
    /// How true.
    pub fidelity: Fidelity,
}

impl Stats {
    /// Instructions executed.
    pub fn executed(&self) -> u64 {
        self.instructions.iter().map(|i| i.0).sum()
    }

    /// Share of channels that ran, of all that executed instructions have: 0 to 1.
    pub fn channel_use(&self, program: &Program) -> f64 {
        let (mut ran, mut slots) = (0u64, 0u64);
        for ((count, channels), inst) in self.instructions.iter().zip(program.code()) {
            ran += channels;
            slots += count * inst.channels as u64;
        }
        if slots == 0 { 0.0 } else { ran as f64 / slots as f64 }
    }

    /// Executed operations and how true they are, the least true first.
    pub fn fidelity(&self, program: &Program) -> Vec<FidelityLine> {
        let mut lines: BTreeMap<String, (u64, Fidelity)> = BTreeMap::new();
        for ((count, _), inst) in self.instructions.iter().zip(program.code()) {
            if *count == 0 {
                continue;
            }
            let name = match inst.exec {
                ExecType::None => format!("{:?}", inst.op),
                exec => format!("{:?}.{exec:?}", inst.op),
            };
            let (name, fidelity) = match program.messages().get(inst.aux as usize) {
                Some(envisa_lower::Message::Sample(_)) if inst.op == Op::Message => {
                    ("sample".into(), SAMPLED)
                }
                _ => (name.to_lowercase(), fidelity(inst.op, inst.exec)),
            };
            let line = lines.entry(name).or_insert((0, fidelity));
            line.0 += count;
        }
        let mut out: Vec<FidelityLine> = lines
            .into_iter()
            .map(|(operation, (count, fidelity))| FidelityLine { operation, count, fidelity })
            .collect();
        out.sort_by(|a, b| b.fidelity.cmp(&a.fidelity).then(b.count.cmp(&a.count)));
        out
    }
}

impl Traffic {
    fn add(&mut self, o: &Traffic) {
        self.read += o.read;
        self.written += o.written;
        self.atomics += o.atomics;
        self.accesses += o.accesses;
    }
}

impl Observer for Stats {
    fn fork(&self) -> Self {
        Stats::default()
    }

    fn wants_all(&self, _: u32) -> bool {
        true
    }

    fn merge(&mut self, other: Self) {
        if self.instructions.len() < other.instructions.len() {
            self.instructions.resize(other.instructions.len(), (0, 0));
        }
        for (a, b) in self.instructions.iter_mut().zip(&other.instructions) {
            a.0 += b.0;
            a.1 += b.1;
        }
        self.divergent += other.divergent;
        self.branches += other.branches;
        self.barriers += other.barriers;
        self.threads += other.threads;
        self.global.add(&other.global);
        self.slm.add(&other.slm);
        self.surfaces.add(&other.surfaces);
        self.scratch.add(&other.scratch);
    }

    fn start(&mut self, m: &Machine<'_>) {
        self.threads += 1;
        let n = m.env.program.code().len();
        if self.instructions.len() < n {
            self.instructions.resize(n, (0, 0));
        }
    }

    fn before(&mut self, m: &Machine<'_>, pc: u32, mask: Mask) {
        let Some(inst) = m.env.program.code().get(pc as usize).filter(|i| !i.is_auxiliary()) else { return };
        if let Some(i) = self.instructions.get_mut(pc as usize) {
            i.0 += 1;
            i.1 += mask.count_ones() as u64;
        }
        if matches!(inst.op, Op::Goto | Op::SwitchJmp) {
            self.branches += 1;
            if inst.channels > 1 {
                let taken = mask << inst.first & m.t.mask;
                self.divergent += (taken != 0 && taken != m.t.mask) as u64;
            }
        }
    }

    fn after(&mut self, m: &Machine<'_>, pc: u32, _: Mask, _: u32) {
        if let Some(inst) = m.env.program.code().get(pc as usize)
            && matches!(inst.op, Op::Barrier | Op::SplitBarrier | Op::NamedBarrier)
        {
            self.barriers += 1;
        }
        let message =
            m.env.program.code().get(pc as usize).and_then(|i| m.env.program.messages().get(i.aux as usize));
        for a in m.accesses.iter() {
            // What the device drops moves no byte.
            if a.outside && a.place.is_none() && message.is_some_and(|message| a.is_dropped(message)) {
                continue;
            }
            let t = match a.space {
                AccessSpace::Flat => &mut self.global,
                AccessSpace::Slm => &mut self.slm,
                AccessSpace::Surface(_) | AccessSpace::Counter(_) | AccessSpace::Urb => &mut self.surfaces,
                AccessSpace::State => &mut self.scratch,
            };
            t.accesses += 1;
            match a.kind {
                AccessKind::Read => t.read += a.bytes as u64,
                AccessKind::Write => t.written += a.bytes as u64,
                AccessKind::Atomic => {
                    t.atomics += 1;
                    t.read += a.bytes as u64;
                    t.written += a.bytes as u64;
                }
            }
        }
    }
}
