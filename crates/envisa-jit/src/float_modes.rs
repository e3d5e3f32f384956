//! The floating-point mode of each instruction, as far as it is known before a program runs.

use std::ops::Range;

use envisa_isa::{Modifier, Type};
use envisa_lower::analysis::Flow;
use envisa_lower::{Dst, ExecType, Inst, Op, Pc, Program, RegOffset, Src};
use envisa_sem::FpMode;

/// What is known of `%cr0`: its bits, where they are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Known {
    bits: u32,
    known: u32,
}

impl Known {
    const NOTHING: Known = Known { bits: 0, known: 0 };

    fn all(bits: u32) -> Known {
        Known { bits, known: u32::MAX }
    }

    /// What is known of one of two values.
    fn or(self, other: Known) -> Known {
        let known = self.known & other.known & !(self.bits ^ other.bits);
        Known { bits: self.bits & known, known }
    }

    fn mode(self) -> Option<FpMode> {
        let means = FpMode::ALT | 0x30 | FpMode::OPENCL.0;
        (self.known & means == means).then_some(FpMode(self.bits & means))
    }
}

/// The mode of each instruction.
#[derive(Clone, Debug)]
pub(crate) struct Modes {
    /// From each of these instructions on, up to the next one.
    from: Vec<(Pc, Option<FpMode>)>,
}

/// May an address register name a byte of the register file?
fn may_be_addressed(p: &Program, at: RegOffset) -> bool {
    let r = p.registers();
    let place = at.checked_sub(r.address_base);
    let home = place.and_then(|at| Some((at, r.address_homes.get(at as usize / 64)?)));
    home.is_some_and(|(at, (start, end))| (*start..*end).contains(&at))
}

/// Where code sets the floating-point mode.
fn sets_mode(p: &Program) -> impl Iterator<Item = Pc> {
    (0..p.code().len() as Pc).filter(move |pc| may_set_mode(p, &p.code()[*pc as usize]))
}

/// May an instruction set the floating-point mode?
pub(crate) fn may_set_mode(p: &Program, i: &Inst) -> bool {
    let cr0 = p.registers().predefined[envisa_isa::predefined::var::CR0 as usize];
    let mut writes = false;
    i.writes(p.parts(), &mut |t| {
        writes |= match t.range(i.channels.into()) {
            Some(r) => r.start < cr0 + 4 && cr0 < r.end,
            None => may_be_addressed(p, cr0),
        };
    });
    writes
}

/// Does code leave the floating-point mode as it is?
pub(crate) fn keeps_mode(p: &Program) -> bool {
    sets_mode(p).next().is_none()
}

/// What is known of `%cr0` behind an instruction that writes it.
fn mode_after_write(p: &Program, i: &Inst, before: Known) -> Known {
    let cr0 = p.registers().predefined[envisa_isa::predefined::var::CR0 as usize];
    let Dst::Reg { offset, ty: Type::D | Type::Ud, sat: false, .. } = i.dst else { return Known::NOTHING };
    let plain = offset == cr0
        && i.no_mask
        && i.channels == 1
        && i.pred.offset == 0
        && i.dst2 == 0
        && matches!(i.exec, ExecType::I32 | ExecType::U32);
    if !plain {
        return Known::NOTHING;
    }
    let source =
        |s: &Src| match *s {
            Src::Reg {
                offset, ty: Type::D | Type::Ud, modifier: Modifier::None, constant: false, ..
            } if offset == cr0 => before,
            _ => crate::affine_vectors::constant(p, s).map_or(Known::NOTHING, |x| Known::all(x as u32)),
        };
    let (a, b) = (source(&i.src[0]), source(&i.src[1]));
    let (zeros, ones) = (|x: Known| x.known & !x.bits, |x: Known| x.known & x.bits);
    match i.op {
        Op::Mov => a,
        Op::Or => {
            let bits = ones(a) | ones(b);
            Known { bits, known: bits | zeros(a) & zeros(b) }
        }
        Op::And => {
            let bits = ones(a) & ones(b);
            Known { bits, known: bits | zeros(a) | zeros(b) }
        }
        Op::Xor => {
            let known = a.known & b.known;
            Known { bits: (a.bits ^ b.bits) & known, known }
        }
        _ => Known::NOTHING,
    }
}

impl Modes {
    /// Those of a program whose threads start as all do.
    pub fn new(p: &Program, flow: &Flow) -> Modes {
        Modes::beginning(p, flow, Some(FpMode::START), true)
    }

    /// Those of code that begins in this mode, or in one that is not known. `keep`: what it calls leaves the mode as it
    /// is.
    pub fn beginning(p: &Program, flow: &Flow, start: Option<FpMode>, keep: bool) -> Modes {
        let sets: Vec<Pc> = sets_mode(p).filter(|pc| *pc < flow.end()).collect();
        let start = start.map_or(Known::NOTHING, |m| Known::all(m.0));
        if sets.is_empty() && keep {
            return Modes { from: vec![(0, start.mode())] };
        }
        let code = &p.code()[..flow.end() as usize];
        // Where nothing branches before it, and none comes back, it is behind the only one as that leaves it.
        if let [pc] = sets[..]
            && keep
            && code[..=pc as usize].iter().all(|i| !may_branch(i))
            && code.iter().all(|i| !matches!(i.op, Op::Goto | Op::Call) || i.aux > pc)
        {
            let behind = mode_after_write(p, &code[pc as usize], start);
            return Modes { from: vec![(0, start.mode()), (pc + 1, behind.mode())] };
        }
        Modes::solved(p, flow, start, &sets, keep)
    }

    /// By what comes to each instruction from all others.
    fn solved(p: &Program, flow: &Flow, start: Known, sets: &[Pc], keep: bool) -> Modes {
        let code = &p.code()[..flow.end() as usize];
        // What a subroutine is left with nobody looks for.
        let calls = code.iter().any(|i| i.op == Op::Call) && !sets.is_empty();
        let mut at: Vec<Option<Known>> = vec![None; code.len()];
        let mut work = vec![0];
        if let Some(first) = at.first_mut() {
            *first = Some(start);
        }
        while let Some(pc) = work.pop() {
            let (Some(mut now), i) = (at[pc as usize], &code[pc as usize]) else { continue };
            let mut next = flow.successors(p.parts(), pc);
            match i.op {
                Op::Fcall | Op::Ifcall if !keep => now = Known::NOTHING,
                Op::Call => {
                    next.push(i.aux);
                    if calls {
                        now = Known::NOTHING;
                    }
                }
                _ if sets.binary_search(&pc).is_err() => {}
                _ => now = mode_after_write(p, i, now),
            }
            for to in next {
                let Some(there) = at.get_mut(to as usize) else { continue };
                let more = there.map_or(now, |old| old.or(now));
                if *there != Some(more) {
                    *there = Some(more);
                    work.push(to);
                }
            }
        }
        let mut from: Vec<(Pc, Option<FpMode>)> = Vec::new();
        for (pc, known) in at.iter().enumerate() {
            // To where nobody comes any mode will do.
            let Some(known) = known else { continue };
            if from.last().is_none_or(|l| l.1 != known.mode()) {
                from.push((if from.is_empty() { 0 } else { pc as Pc }, known.mode()));
            }
        }
        Modes { from }
    }

    /// The mode that an instruction is executed in, if that is known.
    pub fn at(&self, pc: Pc) -> Option<FpMode> {
        let k = self.from.partition_point(|f| f.0 <= pc);
        self.from.get(k.checked_sub(1)?)?.1
    }

    /// Is it that of compiled kernels in all of these?
    pub fn ieee(&self, of: Range<Pc>) -> bool {
        let ieee = |m: Option<FpMode>| m.is_some_and(FpMode::is_ieee);
        let inside = |f: &&(Pc, Option<FpMode>)| of.contains(&f.0);
        ieee(self.at(of.start)) && self.from.iter().filter(inside).all(|f| ieee(f.1))
    }
}

/// Does the thread go elsewhere, or may it?
fn may_branch(i: &Inst) -> bool {
    matches!(i.op, Op::Goto | Op::Join | Op::Ret | Op::Call | Op::Fcall | Op::Ifcall)
}
