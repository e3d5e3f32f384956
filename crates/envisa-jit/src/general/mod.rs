//! Scalars in general registers.
//!
//! The emitter keeps scalars, and vectors that are known by their first element, in the register file: each read is a
//! load, each write a store, and what is computed of one another goes through memory every time. Here, with the code
//! of x86 made but not encoded, those dwords and quads of the register file that plain instructions read and write get
//! general registers that the code leaves alone.
//!
//! A slot is a dword or a quad. Its value is in its register wherever it is wanted; memory is brought up to date where
//! somebody else reads it: before calls of the machine, at barriers, and where the emitter says that the register file
//! is to hold it. Slots that vectors are made of in code that runs often are written to both, so that those still take
//! them from memory.

mod results_in_place;
mod survey;
#[cfg(test)]
mod tests;

use std::ops::Range;

use iced_x86::{Code, FlowControl, Instruction, OpKind, Register};

use crate::asm::Wanted;
use crate::context_layout::REGS;
use survey::{Seen, Survey};

/// Slots that are looked at: the bits of a [`Set`].
const MOST: usize = 128;
/// How much an access in a loop counts for one outside, and how deep loops are told apart.
const LOOP: f32 = 8.0;
const DEEPEST: u32 = 6;
/// How often a scalar is broadcast from its register, at most, each time that it is written.
const BROADCASTS: f32 = 4.0;

/// A set of slots.
type Set = u128;

/// What the code is given besides its instructions.
pub(crate) struct Given<'a> {
    /// Labels that there are.
    pub labels: u32,
    /// Those, as branches name them, of routines that leave slots and general registers as they are.
    pub quiet: &'a [u64],
    /// Where memory is to hold what slots hold, in the order of the code.
    pub wanted: &'a [Wanted],
    /// Instructions that are put behind the code, and rarely come to.
    pub behind: Range<usize>,
    /// Where the stub begins, which saves what it overwrites by what is done at its calls.
    pub end: usize,
    /// How many loops instructions are in: from which one on.
    pub depths: &'a [(usize, u32)],
    /// Slots before this byte of the register file are written to both, too: another thread's follow at once.
    pub shared: u32,
}

/// The same code with scalars in registers.
pub(crate) struct Kept {
    /// Those without a code are none.
    pub code: Vec<Instruction>,
    /// Of each instruction that was, the first that it became.
    pub at: Vec<usize>,
}

/// How an instruction uses the slot that is its memory operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    Read,
    /// It broadcasts the value, which it may as well take from memory.
    Broadcast,
    Write,
    Update,
}

/// What an instruction does to slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    None,
    /// Its memory operand is one, and may as well be a register.
    Slot(u8, Use),
    /// It reads the memory of some, writes all of that of others, and some of that of yet others.
    Memory {
        read: Set,
        whole: Set,
        part: Set,
    },
    /// Everything may have been written.
    Call,
    /// Another thread's register file.
    Switch,
}

/// A slot, while slots are chosen.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    at: u32,
    bytes: u32,
    /// How often its value is taken by plain instructions, and how often it is written by them.
    reads: f32,
    writes: f32,
    /// How often it is broadcast, and whether that is done from the register.
    broadcasts: f32,
    broadcast: bool,
    /// How often something else reads its memory.
    others: f32,
}

/// How a plain instruction uses its memory operand, which has so many bytes and may be a general register.
fn memory_operand_use(i: &Instruction) -> Option<(Use, u32)> {
    use Code::*;
    Some(match i.code() {
        Mov_r32_rm32 | Add_r32_rm32 | Sub_r32_rm32 | Imul_r32_rm32 | And_r32_rm32 | Or_r32_rm32
        | Xor_r32_rm32 | Cmp_r32_rm32 | Movsxd_r64_rm32 | Cmp_rm32_imm32 | Cmp_rm32_imm8 | Cmp_rm32_r32
        | Test_rm32_imm32 | Test_rm32_r32 | EVEX_Vmovd_xmm_rm32 | VEX_Vmovd_xmm_rm32
        | Imul_r32_rm32_imm32 => (Use::Read, 4),
        code if of_register(code).is_some() && !i.is_broadcast() => {
            (Use::Broadcast, i.memory_size().size() as u32)
        }
        Mov_r64_rm64 | Add_r64_rm64 | Sub_r64_rm64 | Imul_r64_rm64 | And_r64_rm64 | Or_r64_rm64
        | Xor_r64_rm64 | Cmp_r64_rm64 | Cmp_rm64_imm32 | EVEX_Vmovq_xmm_rm64 | VEX_Vmovq_xmm_rm64 => {
            (Use::Read, 8)
        }
        Mov_rm32_r32 | Mov_rm32_imm32 | EVEX_Vmovd_rm32_xmm | VEX_Vmovd_rm32_xmm => (Use::Write, 4),
        Mov_rm64_r64 | Mov_rm64_imm32 | EVEX_Vmovq_rm64_xmm | VEX_Vmovq_rm64_xmm => (Use::Write, 8),
        Add_rm32_imm32 | Add_rm32_imm8 | Add_rm32_r32 | Sub_rm32_imm32 | Sub_rm32_r32 | And_rm32_imm32
        | Or_rm32_imm32 | Or_rm32_r32 | Xor_rm32_imm32 | Inc_rm32 => (Use::Update, 4),
        _ => return None,
    })
}

/// The instruction that broadcasts a general register, for one that broadcasts memory.
fn of_register(code: Code) -> Option<Code> {
    use Code::*;
    Some(match code {
        EVEX_Vpbroadcastd_xmm_k1z_xmmm32 => EVEX_Vpbroadcastd_xmm_k1z_r32,
        EVEX_Vpbroadcastd_ymm_k1z_xmmm32 => EVEX_Vpbroadcastd_ymm_k1z_r32,
        EVEX_Vpbroadcastd_zmm_k1z_xmmm32 => EVEX_Vpbroadcastd_zmm_k1z_r32,
        EVEX_Vpbroadcastq_xmm_k1z_xmmm64 => EVEX_Vpbroadcastq_xmm_k1z_r64,
        EVEX_Vpbroadcastq_ymm_k1z_xmmm64 => EVEX_Vpbroadcastq_ymm_k1z_r64,
        EVEX_Vpbroadcastq_zmm_k1z_xmmm64 => EVEX_Vpbroadcastq_zmm_k1z_r64,
        _ => return None,
    })
}

/// The operand that is memory.
fn memory_operand(i: &Instruction) -> Option<u32> {
    [i.op0_kind(), i.op1_kind(), i.op2_kind(), i.op3_kind()]
        .iter()
        .position(|k| *k == OpKind::Memory)
        .map(|k| k as u32)
}

/// A register of so many bytes.
fn register_of_size(r: Register, bytes: u32) -> Register {
    if bytes == 8 { r.full_register() } else { r.full_register32() }
}

/// The bytes of the register file that an instruction names.
fn named_register_bytes(i: &Instruction) -> Option<Range<u32>> {
    let at = u32::try_from(i.memory_displacement64() as i64).ok()?;
    Some(at..at + i.memory_size().size() as u32)
}

/// Does it name memory of the register file?
fn of_registers(i: &Instruction) -> bool {
    i.memory_base() == REGS && memory_operand(i).is_some()
}

fn bits(mut of: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let k = of.trailing_zeros() as usize;
        (of != 0).then(|| {
            of &= of - 1;
            k
        })
    })
}

/// Gives slots registers; `None` if there is nothing to give, or none to be given.
pub(crate) fn keep_slots_in_registers(code: &[Instruction], given: &Given<'_>) -> Option<Kept> {
    let survey = Survey::of(code, given);
    let counts = access_weights(code.len(), given);
    let slots = worthwhile_slots(&survey, &counts);
    if survey.free.is_empty() || slots.is_empty() {
        return None;
    }
    let events = Vec::with_capacity(survey.seen.len() + given.wanted.len());
    let mut p = Pass { code, given, survey, slots, events, counts, both: 0, kept: 0, written: 0 };
    p.tell();
    let blocks = p.blocks();
    let live = p.liveness(&blocks);
    let registers = p.give(&blocks.all, &live, &p.survey.free);
    p.kept = (0..p.slots.len()).filter(|k| registers[*k].is_some()).fold(0, |all, k| all | 1 << k);
    (p.kept != 0).then(|| {
        let mut kept = p.rewrite(&blocks.all, &live, &registers);
        let end = kept.at.get(given.behind.start).copied().unwrap_or(kept.code.len());
        results_in_place::computed_in_place(&mut kept.code[..end]);
        kept
    })
}

/// How much an access counts, by instruction: nothing where it is rarely come to.
fn access_weights(n: usize, given: &Given<'_>) -> Vec<f32> {
    let mut out = vec![1.0; n];
    let ends = given.depths.iter().skip(1).map(|d| d.0).chain([n]);
    for ((from, depth), to) in given.depths.iter().zip(ends) {
        out[*from..to].fill(LOOP.powi((*depth).min(DEEPEST) as i32));
    }
    out[given.behind.start..].fill(0.0);
    out
}

/// The slots that are worth a register at first sight, by where they are.
fn worthwhile_slots(survey: &Survey, counts: &[f32]) -> Vec<Slot> {
    // By dword, and by whether it is a quad: which slot.
    let mut all: Vec<Slot> = Vec::new();
    let mut known: Vec<u32> = Vec::new();
    let mut others: Vec<(Range<u32>, f32)> = Vec::new();
    for (k, seen) in &survey.seen {
        let Seen::Bytes { start, end, plain, written, .. } = *seen else { continue };
        let count = counts[*k];
        match plain {
            Some(_) if start % 4 != 0 => {}
            Some((of, bytes)) => {
                let n = (start / 4 * 2 + u32::from(bytes == 8)) as usize;
                if known.len() <= n {
                    known.resize(n + 1, u32::MAX);
                }
                if known[n] == u32::MAX {
                    known[n] = all.len() as u32;
                    all.push(Slot { at: start, bytes, ..Slot::default() });
                }
                let s = &mut all[known[n] as usize];
                s.broadcasts += if of == Use::Broadcast { count } else { 0.0 };
                s.reads += if matches!(of, Use::Read | Use::Update) { count } else { 0.0 };
                s.writes += if matches!(of, Use::Write | Use::Update) { count } else { 0.0 };
            }
            None if !written => others.push((start..end, count)),
            None => {}
        }
    }
    for s in &mut all {
        // What is broadcast as often as it is written would wait for the store; else a load is all that it takes.
        s.broadcast = s.broadcasts <= BROADCASTS * s.writes;
        *(if s.broadcast { &mut s.reads } else { &mut s.others }) += s.broadcasts;
    }
    // Those that nobody reads may be wanted by calls, or by nobody.
    all.retain(|s| s.reads + s.writes > 0.0);
    // Of those that share bytes, the one that is used most.
    let most = |s: &Slot| s.reads + s.writes;
    all.sort_by(|a, b| most(b).total_cmp(&most(a)).then((a.at, a.bytes).cmp(&(b.at, b.bytes))));
    let mut taken = vec![false; known.len() / 2 + 2];
    all.retain(|s| {
        let dwords = s.at as usize / 4..(s.at + s.bytes) as usize / 4;
        let fine = !taken[dwords.clone()].contains(&true);
        if fine {
            taken[dwords].fill(true);
        }
        fine
    });
    all.truncate(MOST);
    all.sort_by_key(|s| s.at);
    for (range, count) in others {
        for k in overlapping_slots(&all, &range) {
            all[k].others += count;
        }
    }
    all
}

/// Those of slots, which are in order, that share bytes with a range.
fn overlapping_slots(slots: &[Slot], range: &Range<u32>) -> Range<usize> {
    let from = slots.partition_point(|s| s.at + s.bytes <= range.start);
    let to = slots.partition_point(|s| s.at < range.end);
    from..to.max(from)
}

fn effect_on_slots(seen: Seen, slots: &[Slot]) -> Effect {
    let (start, end, plain, written, overwritten) = match seen {
        Seen::Call => return Effect::Call,
        Seen::Switch => return Effect::Switch,
        Seen::Anywhere { written } => {
            let all: Set = (0..slots.len()).fold(0, |all, k| all | 1 << k);
            return Effect::Memory { read: all, whole: 0, part: if written { all } else { 0 } };
        }
        Seen::Bytes { start, end, plain, written, overwritten } => (start, end, plain, written, overwritten),
    };
    let found = overlapping_slots(slots, &(start..end));
    if let (Some((of, bytes)), [s]) = (plain, &slots[found.clone()])
        && (s.at, s.bytes) == (start, bytes)
        && (of != Use::Broadcast || s.broadcast)
    {
        return Effect::Slot(found.start as u8, of);
    }
    let (mut read, mut whole, mut part) = (0, 0, 0);
    for k in found {
        let s = &slots[k];
        let inside = start <= s.at && s.at + s.bytes <= end;
        let set = match (written, inside && overwritten) {
            (true, true) => &mut whole,
            (true, false) => &mut part,
            (false, _) => &mut read,
        };
        *set |= 1 << k;
    }
    if read | whole | part == 0 { Effect::None } else { Effect::Memory { read, whole, part } }
}

/// Does it write all bytes of its memory operand, and reads none of them?
fn overwrites_memory_operand(i: &Instruction) -> bool {
    use Code::*;
    let store = matches!(
        i.code(),
        Mov_rm8_r8
            | Mov_rm16_r16
            | Mov_rm32_r32
            | Mov_rm64_r64
            | Mov_rm8_imm8
            | Mov_rm16_imm16
            | Mov_rm32_imm32
            | Mov_rm64_imm32
            | EVEX_Vmovdqu32_xmmm128_k1z_xmm
            | EVEX_Vmovdqu32_ymmm256_k1z_ymm
            | EVEX_Vmovdqu32_zmmm512_k1z_zmm
            | VEX_Vmovups_xmmm128_xmm
            | VEX_Vmovups_ymmm256_ymm
            | VEX_Vmovdqu_xmmm128_xmm
            | VEX_Vmovdqu_ymmm256_ymm
            | EVEX_Vmovdqu64_xmmm128_k1z_xmm
            | EVEX_Vmovdqu64_ymmm256_k1z_ymm
            | EVEX_Vmovdqu64_zmmm512_k1z_zmm
    );
    store && i.op_mask() == Register::None
}

impl At {
    /// What is live before it, of what is behind it.
    fn before(&self, live: Set) -> Set {
        live & !self.over | self.read
    }
}

/// A stretch of code that is entered at its start and left at its end.
struct Block {
    range: Range<usize>,
    /// Events in it.
    events: Range<usize>,
    /// What comes behind it: in the list of all.
    next: Range<usize>,
}

/// Blocks, and for each, one after the other, those that may come behind it.
struct Blocks {
    all: Vec<Block>,
    next: Vec<usize>,
}

/// What slots are wanted, by block: at its end.
type Live = Vec<Set>;

struct Pass<'a> {
    code: &'a [Instruction],
    given: &'a Given<'a>,
    survey: Survey,
    slots: Vec<Slot>,
    /// In the order of the code.
    events: Vec<Event>,
    counts: Vec<f32>,
    /// Those that are written to memory whenever they are written.
    both: Set,
    /// Those that have a register.
    kept: Set,
    /// Those that are written by plain instructions at all: memory has what the others are.
    written: Set,
}

/// An instruction that does something to slots, or at which memory is wanted.
struct Event {
    /// Which.
    k: usize,
    effect: Effect,
    /// Slots whose memory the emitter wants here.
    wanted: Set,
    at: At,
}

/// What is done with slots at an instruction.
#[derive(Clone, Copy, Default)]
struct At {
    /// Values that are taken from registers or brought to memory.
    read: Set,
    /// Values that are no longer wanted before it.
    over: Set,
}

impl Pass<'_> {
    /// Finds out which slots are also written to memory, which are written at all, and where the emitter wants them.
    fn tell(&mut self) {
        for (k, s) in self.slots.iter().enumerate() {
            if s.others > 0.0 || s.at < self.given.shared {
                self.both |= 1 << k;
            }
        }
        let wanted = self.given.wanted.iter().filter(|w| w.before < self.given.end);
        let mut wanted = wanted.peekable();
        let mut seen = self.survey.seen.iter().peekable();
        // Where memory is wanted there need be no instruction that does something to it.
        while let Some(k) = match (seen.peek(), wanted.peek()) {
            (Some(s), Some(w)) => Some(s.0.min(w.before)),
            (s, w) => s.map(|s| s.0).or(w.map(|w| w.before)),
        } {
            let effect =
                seen.next_if(|s| s.0 == k).map_or(Effect::None, |s| effect_on_slots(s.1, &self.slots));
            let mut set = 0;
            while let Some(w) = wanted.next_if(|w| w.before <= k) {
                set = overlapping_slots(&self.slots, &w.bytes).fold(set, |all, k| all | 1 << k);
            }
            if let Effect::Slot(k, Use::Write | Use::Update) = effect {
                self.written |= 1 << k;
            }
            if effect != Effect::None || set != 0 {
                let at = self.at(effect, set);
                self.events.push(Event { k, effect, wanted: set, at });
            }
        }
    }

    /// What is done with slots by such an effect where memory of these is wanted.
    fn at(&self, effect: Effect, wanted: Set) -> At {
        let own = !self.both;
        let noted = wanted & own;
        match effect {
            Effect::None | Effect::Call => At { read: noted, over: 0 },
            Effect::Slot(s, Use::Write) => At { read: noted, over: 1 << s },
            Effect::Slot(s, _) => At { read: noted | 1 << s, over: 0 },
            Effect::Memory { read, whole, part } => {
                At { read: noted | (read | part) & own, over: whole | part & self.both }
            }
            Effect::Switch => At { read: noted, over: !0 },
        }
    }

    fn blocks(&self) -> Blocks {
        let code = &self.code[..self.given.end];
        let (starts, of) = self.survey.starts(code.len());
        let taken = &self.survey.taken;
        let mut blocks = Blocks { all: Vec::with_capacity(starts.len()), next: Vec::new() };
        let mut events = 0;
        for (b, start) in starts.iter().enumerate() {
            let end = starts.get(b + 1).copied().unwrap_or(code.len());
            let first = events;
            events += self.events[events..].iter().take_while(|e| e.k < end).count();
            let i = &code[end - 1];
            // Jumps to what is not here, the stub's, are none.
            let to = |l: u64| of.get(l as usize - 1).copied().filter(|b| *b != usize::MAX);
            let on = Some(b + 1).filter(|n| *n < starts.len());
            let from = blocks.next.len();
            match i.flow_control() {
                FlowControl::Next | FlowControl::Call => blocks.next.extend(on),
                FlowControl::ConditionalBranch => {
                    blocks.next.extend(on.into_iter().chain(to(i.near_branch64())))
                }
                FlowControl::UnconditionalBranch => blocks.next.extend(to(i.near_branch64())),
                FlowControl::IndirectBranch => {
                    blocks.next.extend(taken.iter().filter_map(|l| to(*l as u64 + 1)));
                }
                _ => {}
            }
            let next = from..blocks.next.len();
            blocks.all.push(Block { range: *start..end, events: first..events, next });
        }
        blocks
    }

    fn liveness(&self, Blocks { all: blocks, next }: &Blocks) -> Live {
        // Of each block as a whole: what it takes, and what it has no use for the earlier value of.
        let whole = |b: &Block| {
            self.events[b.events.clone()]
                .iter()
                .rev()
                .fold((0, 0), |(read, over), e| (read & !e.at.over | e.at.read, over | e.at.over))
        };
        let whole: Vec<(Set, Set)> = blocks.iter().map(whole).collect();
        let mut live = vec![0; blocks.len()];
        // The same at the start of each.
        let mut first: Vec<Set> = whole.iter().map(|w| w.0).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (b, block) in blocks.iter().enumerate().rev() {
                let out = next[block.next.clone()].iter().fold(0, |all, n| all | first[*n]);
                if out != live[b] {
                    (live[b], first[b]) = (out, out & !whole[b].1 | whole[b].0);
                    changed = true;
                }
            }
        }
        live
    }

    /// The register of each slot that gets one: those first that are used most for how long they are wanted.
    fn give(&self, blocks: &[Block], live: &Live, free: &[Register]) -> Vec<Option<Register>> {
        let n = self.slots.len();
        let mut meets: Vec<Set> = vec![0; n];
        // How many instructions count, of those before each; and where slots that are wanted have been from.
        let mut counted = Vec::with_capacity(self.counts.len() + 1);
        let mut sum = 0u32;
        counted.push(sum);
        counted.extend(self.counts.iter().map(|c| {
            sum += u32::from(*c > 0.0);
            sum
        }));
        let mut since = vec![0; n];
        let mut length = vec![0u32; n];
        // How often each would go to memory, or come from there, as others read or write its memory.
        let mut moves = vec![0f32; n];
        // The last block first: from one to the next little changes.
        let mut now: Set = 0;
        for (b, block) in blocks.iter().enumerate().rev() {
            let (behind, end) = (std::mem::replace(&mut now, live[b]), counted[block.range.end]);
            bits(behind & !now).for_each(|s| length[s] += since[s] - end);
            bits(now & !behind).for_each(|s| {
                meets[s] |= now;
                bits(now).for_each(|o| meets[o] |= 1 << s);
                since[s] = end;
            });
            for e in self.events[block.events.clone()].iter().rev() {
                // What is written here meets what is wanted behind.
                if let Effect::Slot(s, Use::Write) = e.effect {
                    meets[s as usize] |= now;
                    bits(now).for_each(|o| meets[o] |= 1 << s);
                }
                if let Effect::Memory { read, whole, part } = e.effect {
                    let stored = (read | part) & self.written & !self.both;
                    bits(stored).chain(bits((whole | part) & now)).for_each(|s| moves[s] += self.counts[e.k]);
                }
                let before = e.at.before(now);
                bits(before & !now).for_each(|s| {
                    meets[s] |= before;
                    bits(before).for_each(|o| meets[o] |= 1 << s);
                    since[s] = counted[e.k + 1];
                });
                bits(now & !before).for_each(|s| length[s] += since[s] - counted[e.k + 1]);
                now = before;
            }
        }
        bits(now).for_each(|s| length[s] += since[s]);
        let worth = |k: usize| {
            let s = &self.slots[k];
            // A second write costs as much as it saves.
            let writes = if self.both & 1 << k == 0 { s.writes } else { -0.25 * s.writes };
            (s.reads + writes - moves[k]) / (length[k] as f32 + 1.0)
        };
        let mut order: Vec<usize> = (0..n).filter(|k| worth(*k) > 0.0).collect();
        order.sort_by(|a, b| worth(*b).total_cmp(&worth(*a)));
        let mut given: Vec<Option<Register>> = vec![None; n];
        for k in order {
            let used = |r: &Register| bits(meets[k]).any(|o| o != k && given[o] == Some(*r));
            given[k] = free.iter().find(|r| !used(r)).copied();
        }
        given
    }

    /// Memory of a slot.
    fn memory(&self, k: usize) -> iced_x86::MemoryOperand {
        crate::asm::Mem::at(REGS, self.slots[k].at).operand(false)
    }

    fn store(&self, k: usize, r: Register) -> Instruction {
        let bytes = self.slots[k].bytes;
        let code = if bytes == 8 { Code::Mov_rm64_r64 } else { Code::Mov_rm32_r32 };
        Instruction::with2(code, self.memory(k), register_of_size(r, bytes)).unwrap_or_default()
    }

    fn load(&self, k: usize, r: Register) -> Instruction {
        let bytes = self.slots[k].bytes;
        let code = if bytes == 8 { Code::Mov_r64_rm64 } else { Code::Mov_r32_rm32 };
        Instruction::with2(code, register_of_size(r, bytes), self.memory(k)).unwrap_or_default()
    }

    fn rewrite(&self, blocks: &[Block], live: &Live, registers: &[Option<Register>]) -> Kept {
        // What is wanted behind each event.
        let mut behind: Vec<Set> = vec![0; self.events.len()];
        for (b, block) in blocks.iter().enumerate() {
            let mut now = live[b];
            for k in block.events.clone().rev() {
                behind[k] = now;
                now = self.events[k].at.before(now);
            }
        }
        // Loads and stores come in.
        let mut out = Out { code: Vec::with_capacity(self.code.len() + self.code.len() / 2), label: 0 };
        let mut at = Vec::with_capacity(self.code.len());
        let mut events = self.events.iter().zip(behind).peekable();
        for (k, i) in self.code.iter().enumerate() {
            at.push(out.code.len());
            match events.next_if(|e| e.0.k == k) {
                Some((e, live)) => self.one(e, live, registers, &mut out),
                None => out.code.push(*i),
            }
        }
        Kept { code: out.code, at }
    }

    /// One instruction with what it needs before and behind it.
    fn one(&self, e: &Event, live: Set, registers: &[Option<Register>], out: &mut Out) {
        let i = &self.code[e.k];
        let register = |s: usize| registers[s].unwrap_or(Register::None);
        let dirty = self.kept & self.written & !self.both;
        let (mut to_memory, mut from_memory) = (e.wanted, 0);
        match e.effect {
            Effect::Call => (to_memory, from_memory) = (to_memory | live, live),
            Effect::Switch => from_memory = live,
            Effect::Memory { read, whole, part } => {
                to_memory |= read | part;
                from_memory = (whole | part) & live;
            }
            _ => {}
        }
        // What is overwritten before anybody wants it.
        if let Effect::Slot(s, Use::Write) = e.effect
            && (live | self.both) & 1 << s == 0
            && i.ip() == 0
            && to_memory & dirty == 0
        {
            return;
        }
        out.label = i.ip();
        bits(to_memory & dirty).for_each(|s| out.push(self.store(s, register(s))));
        match e.effect {
            Effect::Slot(s, of) if self.kept & 1 << s != 0 => {
                let s = s as usize;
                let (r, bytes) = (register(s), self.slots[s].bytes);
                let mut new = *i;
                let operand = memory_operand(i).unwrap_or(0);
                new.set_code(of_register(i.code()).unwrap_or(i.code()));
                new.set_op_kind(operand, OpKind::Register);
                new.set_op_register(operand, register_of_size(r, bytes));
                let both = self.both & 1 << s != 0;
                match of {
                    Use::Read | Use::Broadcast => out.push(new),
                    Use::Write if both && live & 1 << s == 0 => out.push(*i),
                    Use::Write if both && i.op1_register().is_vector_register() => {
                        out.push(*i);
                        out.push(new);
                    }
                    // What is computed for the register can be computed there, then.
                    Use::Write if both => {
                        out.push(new);
                        out.push(self.store(s, r));
                    }
                    Use::Write => out.push(new),
                    Use::Update => {
                        out.push(new);
                        if both {
                            out.push(self.store(s, r));
                        }
                    }
                }
            }
            _ => out.push(*i),
        }
        bits(from_memory & self.kept).for_each(|s| out.push(self.load(s, register(s))));
    }
}

/// Code in the making.
struct Out {
    code: Vec<Instruction>,
    /// The label of what is pushed next.
    label: u64,
}

impl Out {
    fn push(&mut self, mut i: Instruction) {
        i.set_ip(std::mem::take(&mut self.label));
        self.code.push(i);
    }
}
