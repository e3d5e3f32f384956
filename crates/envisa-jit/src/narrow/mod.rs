//! From code of AVX-512 to code of AVX2: each vector of 64 bytes becomes two of 32, each mask vectors of truths, eight
//! to a vector; the CPU's sixteen registers are then given out anew.
//!
//! The code comes as the emitter made it, before it is encoded, and gives the same bits. What it does to general
//! registers and to flags stays as it is; `r11`, `r14` and `r15`, which the emitter leaves alone, hold what is
//! between. Nothing put between two of its instructions changes flags, but where that instruction itself does.

mod encodings;
mod expand;
mod guest_memory;
mod integer;
mod liveness;
mod mask;
mod output;
mod register_allocation;
mod register_tables;
mod reorder;
mod shuffle;
mod simplify;
mod step_list;
mod ternary;
#[cfg(test)]
mod tests;
mod vector;

use std::ops::Range;

use iced_x86::{Code, FlowControl, Instruction, OpKind, Register};

use crate::asm::{Mem, Unsupported, V};
use crate::context_layout::CTX;
use crate::fast_maps::Map;
use register_allocation::{Places, Room};
use step_list::{List, O, Reg, UNITS};

/// What the code is given besides its instructions.
pub(crate) struct Given<'a> {
    /// The first label that is still free.
    pub labels: u32,
    /// Dwords in the context, and where they begin.
    pub pool: &'a [u32],
    pub pool_at: u32,
    /// Instructions that are put behind the code, and rarely come to.
    pub behind: Range<usize>,
    /// Where in the context there is room, from a multiple of 64 on.
    pub room: u32,
    /// Stores by masks take the CPU many times as long as others, as AMD's do.
    pub slow_masked_stores: bool,
}

/// The same code for AVX2.
pub(crate) struct Narrowed {
    pub code: Vec<Instruction>,
    /// Of each instruction that was, the first that it became.
    pub at: Vec<usize>,
    /// Of each instruction that was, the first before which all that was before it has been done: some change places.
    pub done: Vec<usize>,
    /// Dwords of the context from the room on.
    pub literals: Vec<u32>,
    /// Bytes of the context.
    pub context: u32,
    /// Labels that stand for others.
    pub alias: Vec<(u32, u32)>,
    /// The first label that is free.
    pub labels: u32,
}

/// General registers that the emitter does not use.
const FREE: [Register; 3] = [Register::R11D, Register::R14D, Register::R15D];

/// Makes code for AVX2 of code for AVX-512.
///
/// # Errors
/// The first instruction that there is no way for.
pub(crate) fn narrow_to_avx2(code: &[Instruction], given: &Given<'_>) -> Result<Narrowed, String> {
    let mut n = Narrow {
        list: List { next: UNITS, ..List::with_room(2 * code.len()) },
        given,
        labels: given.labels,
        literals: Vec::new(),
        found: Map::default(),
        ones: 0,
        zeros: 0,
        indices: Vec::new(),
        spread: Vec::new(),
        constant: None,
    };
    let mut begins = Vec::with_capacity(code.len());
    let named = referenced_labels(code, given.labels);
    for (k, i) in code.iter().enumerate() {
        begins.push(n.list.steps.len());
        if i.ip() != 0 && named[i.ip() as usize - 1] {
            n.label(i.ip() as u32 - 1);
        }
        n.one(i, &code[k + 1..]).map_err(|why| format!("encoding {}: {why}", i.code() as u16))?;
        n.remember(i);
        if i.flow_control() != FlowControl::Next {
            // What is no unit of the code's own ends with its block.
            n.spread.clear();
        }
    }
    if let Some(e) = n.list.failed {
        return Err(e.to_string());
    }
    let labels = n.labels;
    let [zeros, ones] = [0, !0].map(|x| n.all(x).disp as u32);
    let Narrow { list: List { mut steps, code, next, .. }, mut literals, .. } = n;
    let mut flow = liveness::Flow::new(&steps, &code, labels);
    debug_assert_eq!(flow.strays(&steps), None, "a step reads what another block made");
    liveness::retain_wanted_steps(&mut steps, &mut flow, &mut begins);
    let reorder::Tidy { mut steps, code, at, done, next, pinned } =
        reorder::reorder_steps(&steps, code, simplify::Values::new(&literals, given.room), &mut flow, next);
    // First where instructions begin, then where those before them have been done.
    let n = begins.len();
    begins.extend_from_within(..);
    begins[..n].iter_mut().for_each(|b| *b = at[*b]);
    begins[n..].iter_mut().for_each(|b| *b = done[*b]);
    liveness::retain_wanted_steps(&mut steps, &mut flow, &mut begins);
    let done = begins.split_off(n);
    let step = |k: usize| begins.get(k).copied().unwrap_or(steps.len());
    let behind = step(given.behind.start)..step(given.behind.end);
    literals.resize(literals.len().next_multiple_of(16), 0);
    let room = Room { at: given.room + 4 * literals.len() as u32, zeros, ones };
    let places = Places::new((&steps, &code), &flow, (next, &pinned), (room, behind));
    let written = output::write(&steps, &code, &places)?;
    Ok(Narrowed {
        at: begins.iter().map(|b| written.at[*b]).collect(),
        done: done.iter().map(|b| written.at[*b]).collect(),
        code: written.code,
        alias: written.alias,
        labels,
        literals,
        context: places.end.next_multiple_of(64),
    })
}

/// Which labels something goes to: every instruction of the program has one.
fn referenced_labels(code: &[Instruction], labels: u32) -> Vec<bool> {
    let mut all = vec![false; labels as usize];
    for i in code {
        if i.is_jcc_short_or_near() || i.is_jmp_short_or_near() || i.is_call_near() {
            all[i.near_branch64() as usize - 1] = true;
        } else if i.is_ip_rel_memory_operand() {
            all[i.memory_displacement64() as usize - 1] = true;
        }
    }
    all
}

struct Narrow<'a> {
    list: List,
    given: &'a Given<'a>,
    labels: u32,
    literals: Vec<u32>,
    found: Map<[u32; 8], u32>,
    /// Quarters of masks that are known to be all ones, or zeros, here: a bit each.
    ones: u32,
    zeros: u32,
    /// Vectors that were loaded from the context, and whence.
    indices: Vec<(V, Mem)>,
    /// Elements of memory that a register has in all lanes: where, of how many bytes, in which, since which step.
    spread: Vec<(Mem, u32, Reg, usize)>,
    /// A general register that the instruction before gave this value.
    constant: Option<(Register, u32)>,
}

/// How many steps an element that was spread is remembered for.
const REMEMBERED: usize = 24;

impl Narrow<'_> {
    fn label(&mut self, l: u32) {
        self.list.label(l);
        (self.ones, self.zeros) = (0, 0);
        self.spread.clear();
        self.indices.clear();
    }

    /// A label of its own.
    fn fresh(&mut self) -> u32 {
        self.labels += 1;
        self.labels - 1
    }

    /// Eight dwords in the context.
    fn literal(&mut self, all: [u32; 8]) -> Mem {
        let at = *self.found.entry(all).or_insert_with(|| {
            self.literals.extend(all);
            self.literals.len() as u32 - 8
        });
        Mem::at(CTX, self.given.room + 4 * at)
    }

    /// Eight times the same.
    fn all(&mut self, x: u32) -> Mem {
        self.literal([x; 8])
    }

    /// Four times the same quad.
    fn quads(&mut self, x: u64) -> Mem {
        self.literal(std::array::from_fn(|k| (x >> (k % 2 * 32)) as u32))
    }

    /// An element of memory in all lanes.
    fn broadcast(&mut self, m: Mem, bytes: u32) -> O {
        let end = self.given.pool_at + 4 * self.given.pool.len() as u32;
        if m.base == CTX && bytes == 4 && (i64::from(self.given.pool_at)..i64::from(end)).contains(&m.disp) {
            let k = (m.disp as u32 - self.given.pool_at) as usize / 4;
            return O::M(self.all(self.given.pool[k]));
        }
        let now = self.list.steps.len();
        let near = |s: &&(Mem, u32, Reg, usize)| s.0 == m && s.1 == bytes && now - s.3 <= REMEMBERED;
        if let Some(s) = self.spread.iter().find(near) {
            return O::R(s.2);
        }
        let t = self.list.temp();
        self.list.two(broadcast_code(bytes), t, O::M(m));
        self.spread.retain(|s| now - s.3 <= REMEMBERED);
        self.spread.push((m, bytes, t, now));
        O::R(t)
    }

    /// Memory is written: what was spread from there is another element.
    fn written(&mut self, m: Mem, bytes: u32) {
        let end = m.disp + i64::from(bytes);
        self.spread.retain(|s| {
            let apart = s.0.disp + i64::from(s.1) <= m.disp || end <= s.0.disp;
            s.0.base != m.base || (apart && s.0.index == Register::None && m.index == Register::None)
        });
    }

    /// A general register is written: so are addresses made of it.
    fn overwritten(&mut self, r: Register) {
        let r = r.full_register();
        self.spread.retain(|s| s.0.base != r && s.0.index != r);
    }
}

/// One element in all lanes.
fn broadcast_code(bytes: u32) -> Code {
    match bytes {
        1 => Code::VEX_Vpbroadcastb_ymm_xmmm8,
        2 => Code::VEX_Vpbroadcastw_ymm_xmmm16,
        4 => Code::VEX_Vpbroadcastd_ymm_xmmm32,
        _ => Code::VEX_Vpbroadcastq_ymm_xmmm64,
    }
}

/// The memory operand of an instruction.
fn memory(i: &Instruction) -> Mem {
    Mem {
        base: i.memory_base(),
        index: i.memory_index(),
        scale: i.memory_index_scale(),
        disp: i.memory_displacement64() as i64,
    }
}

/// Does an instruction name a vector or mask register?
fn is_vector(r: Register) -> bool {
    r.is_vector_register() || r.is_k()
}
