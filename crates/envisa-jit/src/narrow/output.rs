//! The list as instructions.

use iced_x86::{Code, Instruction, OpKind, Register};

use super::register_allocation::{COUNT, Place, Places};
use super::step_list::{Effect, LOAD, NO, STORE, Step, can_fold_memory};
use crate::asm::Mem;
use crate::context_layout::CTX;

/// Registers for what is in memory.
const LENT: [u8; 2] = [COUNT as u8, COUNT as u8 + 1];

pub(super) struct Written {
    pub code: Vec<Instruction>,
    /// By step, and behind the last: the first instruction that it became.
    pub at: Vec<usize>,
    /// Labels that stand for others.
    pub alias: Vec<(u32, u32)>,
}

/// The register of that number of the kind that an operand is.
fn register(kind: Register, n: u8) -> Register {
    let base = if kind.is_xmm() { Register::XMM0 } else { Register::YMM0 };
    base + u32::from(n)
}

fn spill_slot(at: u32) -> Mem {
    Mem::at(CTX, at)
}

fn load(r: u8, at: u32) -> Result<Instruction, iced_x86::IcedError> {
    Instruction::with2(LOAD[1], Register::YMM0 + u32::from(r), spill_slot(at).operand(false))
}

fn store(at: u32, r: u8) -> Result<Instruction, iced_x86::IcedError> {
    Instruction::with2(STORE[1], spill_slot(at).operand(false), Register::YMM0 + u32::from(r))
}

fn in_memory(i: &Instruction) -> bool {
    (0..i.op_count()).any(|k| i.op_kind(k) == OpKind::Memory)
}

fn fold_memory_operand(i: &mut Instruction, operand: u32, at: u32) {
    i.set_op_kind(operand, OpKind::Memory);
    i.set_memory_base(CTX);
    i.set_memory_index(Register::None);
    i.set_memory_index_scale(1);
    i.set_memory_displ_size(1);
    i.set_memory_displacement64(u64::from(at));
}

/// Writes one step; `put` takes its instructions.
fn write_step(
    k: usize,
    (s, mut i): (&Step, Instruction),
    places: &Places,
    put: &mut dyn FnMut(Result<Instruction, iced_x86::IcedError>),
) -> Result<(), String> {
    let mut of: [Option<Place>; 4] = std::array::from_fn(|n| places.of(k, n));
    if let (Effect::Make, Some(Place::Constant(_))) = (s.effect, of[0]) {
        return Ok(());
    }
    if s.copies {
        match (of[0], of[1]) {
            (Some(Place::Register(a)), Some(Place::Register(b))) if a == b => return Ok(()),
            (Some(a @ Place::Memory(_)), Some(b)) if a == b => return Ok(()),
            (Some(Place::Memory(to)), Some(Place::Register(from))) => {
                put(store(to, from));
                return Ok(());
            }
            _ => {}
        }
    }
    let memory = |p: Option<Place>| p.is_some_and(|p| p.in_context().is_some());
    // What is written.
    let mut after = None;
    let mut lent_first = false;
    let writes = matches!(s.effect, Effect::Write | Effect::Make | Effect::Update | Effect::Gather);
    if writes && let Some(Place::Memory(at)) = of[0] {
        if s.effect == Effect::Gather {
            return Err("an operand of a gather is in memory".into());
        }
        if s.effect == Effect::Update {
            put(load(LENT[0], at));
            lent_first = true;
        }
        of[0] = Some(Place::Register(LENT[0]));
        if s.effect == Effect::Make {
            (of[1], of[2]) = (of[0], of[0]);
        }
        after = Some(at);
    }
    // One that is read may stay in memory.
    if s.commutes && memory(of[1]) && !memory(of[2]) && of[2].is_some() {
        of.swap(1, 2);
    }
    let first = usize::from(writes);
    if !in_memory(&i)
        && let Some(n) = (first..4).rev().find(|n| memory(of[*n]) && can_fold_memory(i.code(), *n as u32))
        && let Some(at) = of[n].and_then(Place::in_context)
    {
        fold_memory_operand(&mut i, n as u32, at);
        of[n] = None;
    }
    let mut lent = [LENT[1], LENT[0]].into_iter().take(if lent_first { 1 } else { 2 });
    for p in of.iter_mut().skip(first) {
        if let Some(at) = p.and_then(Place::in_context) {
            let r = lent.next().ok_or("too many operands are in memory")?;
            put(load(r, at));
            *p = Some(Place::Register(r));
        }
    }
    for (n, p) in of.iter().enumerate() {
        if let Some(Place::Register(r)) = p {
            let kind = i.op_register(n as u32);
            i.set_op_register(n as u32, register(kind, *r));
        }
    }
    match places.of(k, 4) {
        Some(Place::Register(r)) => i.set_memory_index(register(i.memory_index(), r)),
        Some(_) => return Err("an index is in memory".into()),
        None => {}
    }
    put(Ok(i));
    if let Some(at) = after {
        put(store(at, LENT[0]));
    }
    Ok(())
}

/// Writes all of it.
///
/// # Errors
/// What cannot be written.
pub(super) fn write(steps: &[Step], code: &[Instruction], places: &Places) -> Result<Written, String> {
    let at = Vec::with_capacity(steps.len() + 1);
    let mut out = Written { code: Vec::with_capacity(steps.len() + steps.len() / 2), at, alias: Vec::new() };
    let mut pending: Option<u32> = None;
    let mut failed = None;
    for (k, s) in steps.iter().enumerate() {
        out.at.push(out.code.len());
        if let Effect::Label(l) = s.effect {
            match pending {
                Some(p) => out.alias.push((l, p)),
                None => pending = Some(l),
            }
            continue;
        }
        let i = code[s.at as usize];
        debug_assert!(s.ops.iter().all(|r| *r == NO) || i.op_count() > 0);
        let code = &mut out.code;
        write_step(k, (s, i), places, &mut |i| match i {
            Ok(mut i) => {
                i.set_ip(pending.take().map_or(0, |l| u64::from(l) + 1));
                code.push(i);
            }
            Err(e) => {
                failed.get_or_insert(e);
            }
        })?;
    }
    out.at.push(out.code.len());
    if let Some(l) = pending {
        let mut i = Instruction::with(Code::Ud2);
        i.set_ip(u64::from(l) + 1);
        out.code.push(i);
    }
    match failed {
        Some(e) => Err(e.to_string()),
        None => Ok(out),
    }
}
