//! Construction of SSA form: the value of each variable at each place.
//!
//! Braun and others, "Simple and efficient construction of static single assignment form", without recursion: what a
//! parameter is handed is looked up when all blocks are there.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use envisa_lower::Pc;

use crate::func::{Block, Func, Type, Value};

/// Hashes pairs of small numbers, fast.
#[derive(Default)]
pub struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u32(u32::from(*b)));
    }
    fn write_u32(&mut self, x: u32) {
        self.0 = (self.0 ^ u64::from(x)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

/// A variable: a piece, a predicate, a mask.
pub type Var = u32;

/// What is known of the values of variables.
#[derive(Default)]
pub struct Ssa {
    defs: HashMap<(Block, Var), Value, BuildHasherDefault<Mix>>,
    preds: Vec<Vec<Block>>,
    /// Blocks all of whose predecessors are known.
    sealed: Vec<bool>,
    /// The variable that each parameter is of, by block.
    params: Vec<Vec<Var>>,
    pending: Vec<(Block, Var)>,
    /// The instruction that each block begins with.
    pcs: Vec<Pc>,
    /// Lookups so far.
    pub steps: u64,
}

/// A variable to look up: its type, and before which instruction it is what it is where a thread starts.
#[derive(Clone, Copy)]
pub struct Wanted {
    pub var: Var,
    pub ty: Type,
    pub since: Pc,
}

impl Ssa {
    /// One more block.
    pub fn block(&mut self, b: Block, pc: Pc) {
        let n = b.index() + 1;
        self.pcs.resize(self.pcs.len().max(n), 0);
        self.pcs[b.index()] = pc;
        if self.preds.len() < n {
            self.preds.resize_with(n, Vec::new);
            self.params.resize_with(n, Vec::new);
            self.sealed.resize(n, false);
        }
    }

    /// A block leads to another one.
    pub fn edge(&mut self, from: Block, to: Block) {
        self.preds[to.index()].push(from);
    }

    /// All that leads to a block is known.
    pub fn seal(&mut self, b: Block) {
        self.sealed[b.index()] = true;
    }

    /// A variable's value from here to the end of a block.
    pub fn write(&mut self, b: Block, var: Var, v: Value) {
        self.defs.insert((b, var), v);
    }

    /// The definition that reaches the end of a block by blocks with one predecessor each, or the block where that is
    /// not so: the entry block, if the variable is as the thread started.
    fn walk(&mut self, mut b: Block, w: Wanted) -> Result<Value, Block> {
        loop {
            self.steps += 1;
            if let Some(v) = self.defs.get(&(b, w.var)) {
                return Ok(*v);
            }
            if self.pcs[b.index()] < w.since {
                return self.defs.get(&(Block::ENTRY, w.var)).copied().ok_or(Block::ENTRY);
            }
            match self.preds[b.index()][..] {
                [one] if self.sealed[b.index()] => b = one,
                _ => return Err(b),
            }
        }
    }

    /// A variable's value at the end of a block; `start` gives what it is where a thread starts.
    pub fn read(
        &mut self,
        f: &mut Func,
        b: Block,
        w: Wanted,
        start: &mut dyn FnMut(&mut Func) -> Value,
    ) -> Value {
        let found = match self.walk(b, w) {
            Ok(v) => v,
            Err(Block::ENTRY) => self.start(f, w.var, start),
            Err(at) => {
                let same = if self.sealed[at.index()] { self.same(f, at, w, start) } else { None };
                let v = same.unwrap_or_else(|| {
                    self.pending.push((at, w.var));
                    self.params[at.index()].push(w.var);
                    f.add_param(at, w.ty)
                });
                self.defs.insert((at, w.var), v);
                v
            }
        };
        self.defs.insert((b, w.var), found);
        found
    }

    fn start(&mut self, f: &mut Func, var: Var, start: &mut dyn FnMut(&mut Func) -> Value) -> Value {
        let v = start(f);
        self.defs.insert((Block::ENTRY, var), v);
        v
    }

    /// The value that comes from all predecessors, if it is one that is known already.
    fn same(
        &mut self,
        f: &mut Func,
        b: Block,
        w: Wanted,
        start: &mut dyn FnMut(&mut Func) -> Value,
    ) -> Option<Value> {
        let mut one = None;
        for k in 0..self.preds[b.index()].len() {
            let from = self.preds[b.index()][k];
            let v = match self.walk(from, w) {
                Ok(v) => v,
                Err(Block::ENTRY) => self.start(f, w.var, start),
                Err(_) => return None,
            };
            if *one.get_or_insert(v) != v {
                return None;
            }
        }
        one
    }

    /// A parameter whose values are not looked up yet.
    pub fn next_pending(&mut self) -> Option<(Block, Var)> {
        self.pending.pop()
    }

    /// What leads to a block.
    pub fn preds(&self, b: Block) -> &[Block] {
        &self.preds[b.index()]
    }

    /// The variables of a block's parameters.
    pub fn params(&self, b: Block) -> &[Var] {
        &self.params[b.index()]
    }
}
