//! What instructions are said to write, held against what they do, all along the page tests.

use envisa_lower::Touched;
use envisa_machine::thread::{Machine, Status};

/// Every register byte that an instruction changes is one that it is said to write: of one instruction in
/// [`EVERY`], as a register file is large and instructions are many.
#[derive(Clone, Debug, Default)]
pub struct Written {
    before: Vec<u8>,
    count: u64,
}

/// See [`Written`]; a prime, so that every kind of instruction is met.
const EVERY: u64 = 31;

impl Written {
    /// Before an instruction.
    pub fn before(&mut self, m: &Machine<'_>) {
        self.count += 1;
        if !self.count.is_multiple_of(EVERY) {
            return;
        }
        self.before.clear();
        self.before.extend_from_slice(m.t.regs.slice(0, m.env.program.registers().bytes));
    }

    /// After it.
    pub fn after(&mut self, m: &Machine<'_>, pc: u32, mask: u32) {
        if !self.count.is_multiple_of(EVERY) {
            return;
        }
        let i = &m.env.program.code()[pc as usize];
        if m.t.status == Status::Trapped || matches!(i.op, envisa_lower::Op::Ret | envisa_lower::Op::Fret) {
            return;
        }
        let now = m.t.regs.slice(0, m.env.program.registers().bytes);
        if now == self.before {
            return;
        }
        let mut told = vec![false; now.len()];
        let mut anywhere = false;
        i.writes(m.env.program.parts(), &mut |t| {
            let one = matches!(t, Touched::Whole { .. });
            for k in (0..32).filter(|k| if one { *k == 0 } else { mask >> k & 1 != 0 }) {
                match t.channel(k) {
                    Some(at) => told[at.start as usize..at.end as usize].fill(true),
                    None => anywhere = true,
                }
            }
        });
        let wrong = (0..now.len()).find(|b| now[*b] != self.before[*b] && !told[*b]);
        assert!(anywhere || wrong.is_none(), "{:?} changes register byte {wrong:?} untold: {i:?}", i.op);
    }
}
