//! Code made of the vector IR, in place of the emitter's: `ENVISA_BACKEND=vir` asks for it, in builds with the feature
//! `vector-ir`. It has the same contexts, sites and records, and the same callbacks.

use std::collections::BTreeMap;

pub(super) use envisa_codegen::Help;
use envisa_codegen::{Given, Target, Threads, Value, Write, compile};
use envisa_machine::start::{Start, Value as Started};
use envisa_native_layout::{HELP_BYTES, HELP_OPERANDS};
use envisa_vir::{Dispatch, Facts, Func, Known, Options, build, passes};

use super::*;
use crate::asm::Encoded;
use crate::encode::encode;
use crate::number_maps::Map;
use crate::shape::Seed;

/// How many variants were made of the vector IR, and why how many others were not, since the process began.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// Made of it.
    pub variants: u64,
    /// Instructions of programs in these that the machine executes each time, or computes, and why.
    pub left: BTreeMap<&'static str, u64>,
    /// By reason.
    pub refused: BTreeMap<String, u64>,
}

static MADE: Mutex<Made> = Mutex::new(Made { variants: 0, left: BTreeMap::new(), refused: BTreeMap::new() });

/// See [`Made`].
pub fn vector_made() -> Made {
    MADE.lock().unwrap_or_else(|e| e.into_inner()).clone()
}

/// Counts what came of a variant.
fn count(made: &Result<Variant, String>) {
    let mut all = MADE.lock().unwrap_or_else(|e| e.into_inner());
    match made {
        Ok(v) => {
            all.variants += 1;
            v.compiled.slow.iter().for_each(|(_, why)| *all.left.entry(why).or_default() += 1);
        }
        Err(why) => *all.refused.entry(why.clone()).or_default() += 1,
    }
}

/// The function of a variant.
fn function(p: &Program, key: &Key) -> Result<Func, String> {
    let dispatch = if key.full { Dispatch::All } else { Dispatch::Any };
    let mut f = build(p, &Options { dispatch, ..Options::default() }).map_err(|e| e.to_string())?;
    f.known = known_local_ids(&key.seeds);
    passes::run(&mut f);
    Ok(f)
}

/// What a launch says of local ids: words at a step, in rows of sixteen or, where the second one goes on, thirty-two.
fn known_local_ids(seeds: &[Seed]) -> Vec<Known> {
    let mut all: Vec<Known> = Vec::new();
    for s in seeds.iter().filter(|s| s.lanes == 16) {
        let goes_on = |k: &Known| {
            k.offset + 32 == s.offset
                && k.lanes == 16
                && k.facts.step == Some(s.step.into())
                && s.jump == Some(16 * s.step)
        };
        if let Some(before) = all.last_mut().filter(|k| goes_on(k)) {
            before.lanes = 32;
            continue;
        }
        let step = Some(i64::from(s.step));
        let facts = Facts { step, uniform: s.step == 0, least: 0, greatest: 0xffff, low_zeros: 0 };
        all.push(Known { offset: s.offset, bytes: 2, lanes: 16, facts });
    }
    all
}

impl Native {
    /// A variant made of the vector IR, if the environment asks for that and it can be made.
    pub(super) fn vector_variant(&self, key: &Key) -> Option<Variant> {
        if !backend::vector_ir_asked() {
            return None;
        }
        let made = self.compile_vector(key);
        count(&made);
        made.ok()
    }

    /// The same as [`Native::compile`], of the vector IR.
    ///
    /// # Errors
    /// Unsupported there is no such code.
    fn compile_vector(&self, key: &Key) -> Result<Variant, String> {
        let p = &self.program;
        if self.level != Level::Avx512 {
            return Err("code of the vector IR is for AVX-512".into());
        }
        let mut passes = Passes::begin();
        let f = function(p, key)?;
        passes.over("vector IR");
        let start = key.start.as_ref().filter(|_| !self.together);
        let writes = start.map(|s| self.writes(s));
        let threads = match (start, &writes) {
            (Some(s), Some(writes)) => Threads::Row { writes, payload: s.payload_bytes },
            _ => Threads::Single { together: self.together },
        };
        let cr0 = p.registers().predefined[var::CR0 as usize];
        let c = compile(&Given { program: p, func: &f, target: Target::Avx512, threads, cr0 })?;
        passes.over("selection and registers");
        let (bytes, _) = encode(&c.code)?;
        passes.over("encoding");
        let compiled = Compiled {
            code: Encoded { bytes, marks: Vec::new() },
            passes,
            pool: c.pool,
            pool_at: at::POOL,
            context: c.context,
            slow: c.left,
            once: Vec::new(),
            in_place: Vec::new(),
            waits: Map::default(),
            resumptions: c.resumptions.into_iter().collect(),
            whole: Vec::new(),
            image: c.image.iter().map(|b| (b.from, b.to, b.bytes)).collect(),
            symbols: 0,
            record: c.record,
            together: true,
            ahead: 0..0,
            row_caches: Default::default(),
            ends: 0..0,
        };
        let made = Variant::new(p, compiled, start)?;
        Ok(Variant { symbols: 0, help: c.help, ..made })
    }

    /// What threads start with, and whether it stays there for the next ones: the same for all, in registers that no
    /// instruction writes.
    fn writes(&self, start: &Start) -> Vec<Write> {
        let written = |from: u32, bytes: u32| {
            self.cells.iter().any(|(_, c)| c.written && c.offset < from + bytes && from < c.offset + c.bytes)
        };
        let one = |w: &envisa_machine::start::Write| {
            let same = matches!(w.value, Started::Fill(_) | Started::Image(_));
            let once = same && !written(w.to, w.bytes);
            let value = match w.value {
                Started::Fill(x) => Value::Fill(x),
                Started::Image(from) => Value::Image(from),
                Started::Payload(from) => Value::Payload(from),
                Started::Index => Value::Index,
                Started::Slot => Value::Slot,
                Started::State(gaps) => Value::Spread(gaps.steps()),
                Started::GroupId => Value::GroupId,
                Started::Channels => Value::Channels,
            };
            Write { to: w.to, bytes: w.bytes, value, once }
        };
        let mut all: Vec<Write> = start.writes.iter().map(one).collect();
        // What is written over by a later one is not what stays there.
        for k in 0..all.len() {
            let (to, end) = (all[k].to, all[k].to + all[k].bytes);
            let before = |w: &Write| !w.once && w.to < end && to < w.to + w.bytes;
            if all[k].once && all[..k].iter().any(before) {
                all[k].once = false;
            }
        }
        all
    }
}

/// Computes what code has no instructions for.
///
/// # Safety
/// `context` is one of the variant whose help this is.
pub(super) unsafe fn help(context: *mut u8, all: &[Help], pc: Pc) -> u32 {
    let size = ((HELP_OPERANDS + 2) * HELP_BYTES) as usize;
    // SAFETY: contexts of such code have that room from there on, and the code waits for this call.
    let room = unsafe { std::slice::from_raw_parts_mut(context.add(at::HELP as usize), size) };
    let number = (pc & !HELP) as usize;
    match all.get(number).map(|h| h.compute(room)) {
        Some(Ok(())) => 0,
        // A mistake of the compiler, which tests find.
        Some(Err(_)) | None => exit::STOPPED as u32,
    }
}
