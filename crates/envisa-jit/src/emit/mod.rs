//! From a program to x86-64: one function that runs a thread.

mod address_patterns;
mod alu;
mod atomic;
pub(crate) mod atomic_prefetch;
mod barrier_turns;
mod block;
mod branch_versions;
mod calls;
mod carries;
mod control;
mod convert;
mod dpas;
mod dword_sequences;
mod float;
mod frame;
mod gather;
mod half_pairs;
mod image;
mod indirect;
mod indirect_elements;
mod int;
mod lane_vectors;
mod line_tables;
mod math;
mod media;
pub(crate) mod memory;
mod mode;
mod narrow_indices;
mod narrow_rows;
mod noted_messages;
mod packed;
mod parts;
pub(crate) mod payload;
mod per_channel;
mod per_element;
mod picks;
mod predicate_moves;
mod prefetch;
mod quad_families;
mod quadwords;
mod row;
mod row_cache_accesses;
pub(crate) mod row_caches;
pub(crate) mod row_streams;
mod scalar;
mod select;
pub(crate) mod site_reach;
mod source_operand;
mod stream_loads;
mod strided;
mod strided_moves;
mod structured_masks;
mod subvectors;
mod texel_channels;
mod texel_sums;
mod transfer;
mod transpose;
mod typed;
mod wide;
mod written_registers;

pub(crate) use parts::Part;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

use envisa_isa::{Combine, Modifier, Type};
use envisa_lower::analysis::{CellId, CellKind, Cells, Flow, LaneVector, Liveness};
use envisa_lower::{Dst, ExecType, Inst, Op, Pc, Program, RegOffset, Shape, Src};
use envisa_machine::start::{Start, Write};
use envisa_sem::{FpMode, Rounding};
use iced_x86::{Code, Register, RoundingControl};

use self::atomic_prefetch::{Line, lines, rows};
use self::row_caches::{RowCaches, find_row_caches};
use self::row_streams::{STREAM, Stream, find_streams};
use crate::active::Active;
use crate::affine_vectors::Shapes;
use crate::alloc::Allocation;
use crate::asm::{
    Asm, Encoded, K, Label, Lanes, Mem, Opd, Unsupported, V, Width, mask_register, vector_register,
};
use crate::context_layout::{CTX, REGS, RENEW, SITES, at, exit};
use crate::deferred::Deferred;
use crate::fast_maps::Map;
use crate::float_modes::Modes;
use crate::general::{Given, keep_slots_in_registers};
use crate::group_order::Walk;
use crate::image_variants::Kind;
use crate::known_integers::Known;
use crate::level::Level;
use crate::mask_copies::copy_stored_masks;
use crate::narrow::{self, narrow_to_avx2};
use crate::passes::Passes;
use crate::structured_flow::StructuredFlow;
use crate::vector_encodings::*;
use crate::zero_halves::ZeroHalves;

/// Active channels 0 to 15 and 16 to 31.
pub(crate) const EXEC: [K; 2] = [1, 2];
/// Channels an instruction runs with, where that is not one of `EXEC`.
const MASK: K = 7;
/// A predicate on its way.
const PRED: K = 6;

/// Most messages of a program whose rows are fetched ahead: with more, some lines are wanted several times.
const STREAMS: usize = 4;

/// Fewest messages outside of loops whose rows are fetched for later threads, whatever else fetches: CPUs follow about so
/// many rows by themselves. (On Zen 3 a wave equation of seven rows takes 1.3 times as long without, a sum of five 0.93.)
const MANY_ROWS: usize = 4;

/// How many instructions of the CPU code may have: so many for each of the program's, and so many in any case.
const INSTRUCTIONS: (usize, usize) = (128, 1 << 18);

/// What compiling gave.
pub(crate) struct Compiled {
    pub code: Encoded,
    /// How long it took.
    pub passes: Passes,
    /// Dwords behind the waits in a context.
    pub pool: Vec<u32>,
    /// Where they begin.
    pub pool_at: u32,
    /// Bytes of a context.
    pub context: u32,
    /// Instructions that call the interpreter, and why.
    pub slow: Vec<(Pc, Unsupported)>,
    /// Where in a context channels wait, by label.
    pub waits: Map<Pc, u32>,
    /// The numbers of resumptions, by instruction.
    pub resumptions: Map<Pc, u32>,
    /// Those of them where all channels of the dispatch are active.
    pub whole: Vec<Pc>,
    /// Of threads that take turns: what their registers hold before each row of groups.
    pub once: Vec<Write>,
    /// What of a thread's payload code reads in place.
    pub in_place: Vec<payload::InPlace>,
    /// Of code that starts threads itself: bytes of a row's image that go into the context, `(image, context, bytes)`.
    pub image: Vec<(u32, u32, u32)>,
    /// Where in a context the addresses of the program's symbols begin.
    pub symbols: u32,
    /// Bytes of a thread's record, if threads take turns; and whether they do.
    pub record: u32,
    pub together: bool,
    /// Where in a context what is loaded ahead is.
    pub ahead: Range<u32>,
    /// The caches of rows, and where in the context they are.
    pub row_caches: (RowCaches, u32),
    /// Where in a context the ends of variables are that addresses name.
    pub ends: Range<u32>,
}

/// A vector that is kept as its first element: that is what is in the register file there, and so much.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    pub at: RegOffset,
    pub plus: i32,
    /// From element to element.
    pub step: i32,
}

/// Work that is put behind the code.
pub(crate) enum Later {
    /// A message that missed its site: the machine executes it.
    Miss { pc: Pc, entry: Label, back: Label },
    /// An observer is told of an instruction.
    Stop { pc: Pc, entry: Label, back: Label },
    /// A message that missed its site, with the move that was to be made together with it.
    NarrowRow { row: narrow_rows::NarrowRow, entry: Label, back: Label },
    /// A row is not all inside: `miss` is where the message's miss begins.
    Edge { place: memory::Edge, entry: Label, back: Label, miss: Label },
    /// Channels took a forward branch.
    Taken { pc: Pc, entry: Label, back: Label },
    /// The same at a branch of a region, whose mask is kept.
    Narrowed { pc: Pc, entry: Label, back: Label },
    /// Some of all channels did.
    Parted { pc: Pc, entry: Label, back: Label },
    /// All of them did, and others may wait on the way.
    AllTaken { pc: Pc, entry: Label },
    /// The first group of a short row is at a load: see [`Emit::fetch_next`].
    FirstOfRow { place: Register, row: i32, last: Mem, farther: Mem, entry: Label, back: Label },
    /// Channels wait where all join.
    Joined { wait: Mem, entry: Label, back: Label },
    /// What was made for all channels is made for some of them.
    Apart(branch_versions::Apart),
    /// The budget or the turn ran out.
    Expired { pc: Pc, entry: Label },
}

/// What was found out before.
pub(crate) type Facts<'a> = (&'a Shapes, &'a Allocation, &'a Deferred, &'a Known, &'a Active, &'a Modes);

pub(crate) struct Emit<'a> {
    pub p: &'a Program,
    pub flow: &'a Flow,
    pub cells: &'a Cells,
    pub live: &'a Liveness,
    pub shapes: &'a Shapes,
    pub alloc: &'a Allocation,
    /// What is made where it is read.
    pub deferred: &'a Deferred,
    /// What is known before.
    pub known: &'a Known,
    /// Which channels may be active.
    active: &'a Active,
    /// Images and samplers, by message.
    pub kinds: &'a [(u32, Kind)],
    /// Messages whose sums fit in 32 bits, by number.
    pub fitting: &'a [u32],
    /// Upper halves of their indices, which only the machine reads.
    zero_halves: Option<&'a ZeroHalves>,
    /// Instructions at which code stops for an observer; none if nobody observes.
    pub stops: &'a [bool],
    /// Of these, messages whose accesses code notes: see [`noted_messages`].
    pub noted: Option<&'a envisa_machine::local_shadow::Noted>,
    /// How groups follow one another.
    pub walk: Walk,
    /// All threads start with all channels.
    pub full: bool,
    /// Threads of a group take turns.
    pub together: bool,
    /// What the code is for.
    pub level: Level,
    /// There are sums of four products of bytes.
    pub vnni: bool,
    /// Does the CPU shift pairs of dwords (VBMI2)?
    pub funnels: bool,
    /// Sixteen loads take less than a gather does.
    pub loads: bool,
    /// Rows are fetched ahead: of threads that do nothing but stream, and of those that loop.
    streaming: bool,
    looping: bool,
    /// Threads come one after the other, and each has more rows than the CPU's own prefetchers follow: what later threads want
    /// of each is fetched.
    many_rows: bool,
    /// The floating-point mode, by instruction; that of the one at hand, if it is known; and how the CPU rounds here.
    modes: &'a Modes,
    mode: Option<FpMode>,
    rounding: Rounding,
    pub a: Asm,
    labels: Vec<Label>,
    pool: Vec<u32>,
    pooled: Map<u32, u32>,
    pooled_vectors: Map<[u32; 16], usize>,
    /// Where in the pool the ends of variables are that addresses name.
    ends: Option<u32>,
    waits: Map<Pc, u32>,
    /// Regions whose masks are kept.
    structured: StructuredFlow,
    later: Vec<Later>,
    /// What messages call.
    routines: Vec<address_patterns::Routine>,
    slow: Vec<(Pc, Unsupported)>,
    resumptions: Vec<(Pc, Label)>,
    /// The number of the resumption at each instruction that has one.
    resumption_at: Map<Pc, u32>,
    /// Where it is looked for who waits at a label or at one behind it: see [`Emit::lowest`].
    lowest: BTreeMap<Pc, Label>,
    /// Where a thread went on that now ends its turn, most likely.
    resumed: Option<Label>,
    /// One past the end of the block of each instruction.
    blocks: Vec<Pc>,
    /// What the message before left for the next instruction.
    looked: Option<half_pairs::Looked>,
    /// Of threads that take turns: what they may have written since the barrier before, by barrier.
    changed: barrier_turns::Changed,
    stub: Label,
    done: Label,
    leave: Label,
    /// Returns what is in `eax`.
    out: Label,
    /// How threads start, if code does that itself and runs a row; and where the next one does.
    start: Option<&'a Start>,
    next: Label,
    /// Where threads that take turns go when theirs is over, and where the last one does.
    turn: Label,
    over: Label,
    /// All channels are active wherever turns end: see [`Emit::keeps_channels`].
    keeps_channels: bool,
    /// The compare before was left to this branch.
    fused: bool,
    /// What the next instruction does was done with the one before.
    made_whole: Option<Pc>,
    /// An instruction that was made together with the one before it.
    done_before: Option<Pc>,
    /// The mask of lanes that the part in the making is written by.
    held: Option<K>,
    /// Instructions on parts of vectors; those that are in the making, and where their sources are.
    runs: Vec<subvectors::Run>,
    tiles: Option<subvectors::Run>,
    moved: [V; 2],
    /// The instruction that code is made for.
    now: Pc,
    /// Loads that are done ahead.
    streams: Vec<Stream>,
    /// Accesses that go through caches.
    row_caches: RowCaches,
    /// Loads of places that locked operations go to.
    lines: Map<Pc, Line>,
    /// What the program writes, once that is asked for.
    written: OnceCell<written_registers::Written>,
    /// Which places are multiples of what, once that is asked for.
    multiples: OnceCell<crate::multiples::Multiples>,
    /// Which messages look at addresses for others.
    families: OnceCell<quad_families::QuadFamilies>,
    /// What the host writes into the registers of each thread before a row of groups.
    once: Vec<Write>,
    /// The code in the making, if it is for all channels where some may have gone elsewhere.
    apart: Option<branch_versions::Apart>,
    /// What is read in the payload.
    in_place: Vec<payload::InPlace>,
    /// Where vectors begin that are written 32 bytes at a time.
    in_halves: Vec<RegOffset>,
    /// Loads of rows, by the loops they are in; sorted.
    rows: Vec<(Pc, Pc)>,
    /// Numbers of channels, by what makes them.
    lane_vectors: Map<Pc, Option<LaneVector>>,
}

impl<'a> Emit<'a> {
    pub fn new(
        p: &'a Program,
        flow: &'a Flow,
        cells: &'a Cells,
        live: &'a Liveness,
        (shapes, alloc, deferred, known, active, modes): Facts<'a>,
        (full, together, level): (bool, bool, Level),
        start: Option<&'a Start>,
    ) -> Emit<'a> {
        let mut a = Asm::default();
        let labels = (0..=flow.end()).map(|_| a.label()).collect();
        let [stub, done, leave, out, next, turn, over] = std::array::from_fn(|_| a.label());
        let amd = Level::tuned_for_amd();
        let row_caches = match cells.are_shared() {
            true => RowCaches::default(),
            false => find_row_caches(p, flow, cells, shapes),
        };
        let waits = flow.all_waiting_labels().into_iter().zip((at::WAITS..).step_by(4)).collect();
        Emit {
            p,
            flow,
            cells,
            live,
            shapes,
            alloc,
            deferred,
            known,
            active,
            kinds: &[],
            fitting: &[],
            zero_halves: None,
            stops: &[],
            noted: None,
            walk: Walk::default(),
            full,
            together,
            level,
            // Gathers of eight elements (AVX2) take less than single loads do, by a seventh for transposed tiles on Zen 3.
            loads: amd && level == Level::Avx512,
            // On AMD's the CPU's own prefetchers do better.
            streaming: !amd,
            looping: false,
            many_rows: false,
            vnni: level == Level::Avx2 || is_x86_feature_detected!("avx512vnni"),
            funnels: level == Level::Avx512 && is_x86_feature_detected!("avx512vbmi2"),
            modes,
            mode: None,
            rounding: Rounding::NearestEven,
            a,
            labels,
            pool: Vec::new(),
            pooled: Map::default(),
            pooled_vectors: Map::default(),
            ends: None,
            waits,
            structured: StructuredFlow::default(),
            later: Vec::new(),
            routines: Vec::new(),
            slow: Vec::new(),
            resumptions: Vec::new(),
            resumption_at: Map::default(),
            lowest: BTreeMap::new(),
            blocks: crate::deferred::block_ends(p, flow),
            looked: None,
            resumed: None,
            changed: if together {
                barrier_turns::Changed::new(p, flow, cells, live)
            } else {
                barrier_turns::Changed::default()
            },
            stub,
            done,
            leave,
            out,
            start,
            next,
            turn,
            over,
            keeps_channels: full
                && level == Level::Avx512
                && (0..flow.end())
                    .filter(|pc| flow.is_reachable(*pc) && p.code()[*pc as usize].op == Op::Barrier)
                    .all(|pc| flow.all_channels_active(pc) && flow.all_channels_active(pc + 1)),
            fused: false,
            made_whole: None,
            done_before: None,
            held: None,
            runs: Vec::new(),
            tiles: None,
            moved: [0; 2],
            now: 0,
            streams: find_streams(p, flow, cells, shapes, |pc| row_caches.access(pc).is_some()),
            row_caches,
            lines: lines(p, flow, cells),
            written: OnceCell::new(),
            multiples: OnceCell::new(),
            families: OnceCell::new(),
            apart: None,
            once: Vec::new(),
            in_place: Vec::new(),
            in_halves: source_operand::in_halves(p),
            rows: rows(p, flow),
            lane_vectors: Map::default(),
        }
    }

    /// First byte of the pool in a context.
    fn pool_at(&self) -> u32 {
        self.row_caches_at() + self.row_caches.bytes()
    }

    /// Where in a context the addresses of the program's symbols begin.
    pub fn symbols_at(&self) -> u32 {
        let image = self.image().last().map(|(_, at, bytes)| at + bytes);
        image.unwrap_or(self.rows_end()).next_multiple_of(64)
    }

    /// A dword in the context.
    pub fn literal(&mut self, bits: u32) -> Mem {
        let base = self.pool_at();
        let at = *self.pooled.entry(bits).or_insert_with(|| {
            self.pool.push(bits);
            base + 4 * (self.pool.len() as u32 - 1)
        });
        Mem::at(CTX, at)
    }

    /// Sixteen dwords in the context.
    pub fn literals(&mut self, all: [u32; 16]) -> Mem {
        let k = *self.pooled_vectors.entry(all).or_insert_with(|| {
            self.pool.resize(self.pool.len().next_multiple_of(16), 0xdead_beef);
            self.pool.extend(all);
            self.pool.len() / 16 - 1
        });
        Mem::at(CTX, self.pool_at() + 64 * k as u32)
    }

    /// Bytes of the register file, where code reads them.
    pub fn reg(&self, offset: RegOffset) -> Mem {
        match self.place_in_payload(offset) {
            Some(from) => Mem::at(payload::PAYLOAD, from),
            None => Mem::at(REGS, offset),
        }
    }

    pub fn inst(&self, pc: Pc) -> &'a Inst {
        self.deferred.inst(pc).unwrap_or(&self.p.code()[pc as usize])
    }

    /// Are all channels active?
    pub fn all_active(&self, pc: Pc) -> bool {
        let apart = || self.apart.as_ref().is_some_and(|all| all.range.contains(&pc));
        self.full && (self.flow.all_channels_active(pc) || apart())
    }

    /// The vector register that exactly these bytes are in.
    pub fn home(&self, offset: RegOffset, bytes: u32) -> Option<V> {
        let id = self.cells.at(offset)?;
        let c = self.cells.get(id);
        (c.offset == offset && c.bytes == bytes).then(|| self.alloc.vector(id)).flatten()
    }

    /// Of a vector that nobody makes: where the one is that it is so far from.
    pub fn twin(&self, offset: RegOffset) -> Option<(RegOffset, i32)> {
        let id = self.cells.at(offset).filter(|id| self.cells.get(*id).offset == offset)?;
        self.shapes.twin(id).map(|(first, jump)| (self.cells.get(first).offset, jump))
    }

    /// The elements of a vector that nobody makes; `tmp` may be overwritten.
    pub fn of_twin(&mut self, (first, jump): (RegOffset, i32), tmp: V) -> Opd {
        let from = self.home(first, 64).map_or(Opd::Mem(self.reg(first)), Opd::Reg);
        if jump == 0 {
            return from;
        }
        let v = self.whole_in_register(from, tmp);
        let jump = self.literal(jump as u32);
        self.a.v3(VPADDD, Width::Z, tmp, v, Opd::Bcast(jump), Lanes::All);
        Opd::Reg(tmp)
    }

    /// A vector of 64 bytes in a register: `tmp`, if it is in none.
    pub fn whole_in_register(&mut self, from: Opd, tmp: V) -> V {
        if let Opd::Reg(v) = from {
            return v;
        }
        self.a.v2(VMOVDQU32, Width::Z, tmp, from, Lanes::All);
        tmp
    }

    /// The same where nothing else has its first element.
    pub fn home_alone(&self, offset: RegOffset, bytes: u32) -> Option<V> {
        self.home(offset, bytes).filter(|_| self.step(offset).is_none())
    }

    /// The step of the cell that starts here, if it is kept as its first element.
    pub fn step(&self, offset: RegOffset) -> Option<i32> {
        let id = self.cells.at(offset)?;
        (self.cells.get(id).offset == offset).then(|| self.shapes.step(id)).flatten()
    }

    /// The same, with where the first element is.
    pub fn first(&self, offset: RegOffset) -> Option<First> {
        let step = self.step(offset)?;
        let before = self.cells.at(offset).and_then(|id| self.shapes.after(id));
        Some(match before {
            Some((c, plus)) => First { at: self.cells.get(c).offset, plus, step },
            None => First { at: offset, plus: 0, step },
        })
    }

    /// The step within each eight elements of the cell that starts here.
    pub fn halves(&self, offset: RegOffset) -> Option<i32> {
        let id = self.cells.at(offset)?;
        (self.cells.get(id).offset == offset).then(|| self.shapes.halves(id)).flatten()
    }

    /// Compiles the program; `passes` has those that came before.
    ///
    /// # Errors
    /// Unsupported there is no code.
    pub fn run(mut self, mut passes: Passes) -> Result<Compiled, String> {
        // Threads that do nothing but stream: what later ones want is fetched ahead of them.
        self.streaming &= self.start.is_some() && !self.together;
        self.looping = self.streaming && self.loops();
        self.streaming &= !self.looping && self.p.messages().len() <= STREAMS;
        self.many_rows = self.start.is_some() && !self.together && !self.streaming && {
            let outer = |pc: &Pc| self.inst(*pc).op == Op::Message && self.inst(*pc).depth == 0;
            (0..self.flow.end()).filter(outer).count() >= MANY_ROWS
        };
        self.structured = self.find_structured_flow();
        self.in_place = self.start.map_or_else(Vec::new, |s| self.find_in_place(s));
        self.prologue();
        self.runs = self.find_runs();
        self.lane_vectors = self.find_lane_vectors();
        for pc in 0..self.flow.end() {
            if !self.flow.is_reachable(pc) {
                continue;
            }
            self.leave_apart(pc);
            self.put_inst(pc)?;
        }
        self.leave_apart(self.flow.end());
        self.rounds(Rounding::NearestEven);
        let behind = self.a.here().code;
        self.a.put_aside();
        let mut k = 0;
        while k < self.later.len() {
            let later = std::mem::replace(&mut self.later[k], Later::Expired { pc: 0, entry: self.done });
            self.put_later(later)?;
            self.within_bounds()?;
            k += 1;
        }
        self.resume_lowest();
        self.a.put_aside();
        self.resume_points();
        let behind = behind..self.a.here().code;
        self.epilogue();
        let end = self.a.here().code;
        self.write_stub();
        self.write_routines();
        let pool_at = self.pool_at();
        let mut context = (pool_at + 4 * self.pool.len() as u32).next_multiple_of(64);
        let (image, symbols, record) = (self.image(), self.symbols_at(), self.record_bytes());
        let (ahead, ends) = (self.streams_at()..pool_at, self.ends_range());
        let row_caches = (std::mem::take(&mut self.row_caches), self.row_caches_at());
        let (mut behind, mut end) = (behind, end);
        passes.over("emission");
        if self.level == Level::Avx2 {
            let (code, labels) = self.a.settled()?;
            let given = narrow::Given {
                labels,
                pool: &self.pool,
                pool_at,
                behind: behind.clone(),
                room: context,
                slow_masked_stores: Level::tuned_for_amd(),
            };
            let n = narrow_to_avx2(code, &given)?;
            (behind, end) = (n.at[behind.start]..n.at[behind.end], n.at[end]);
            self.a.replace(n.code, (&n.at, &n.done), (n.labels, &n.alias));
            self.pool.resize((context - pool_at) as usize / 4, 0);
            self.pool.extend(n.literals);
            context = n.context;
            passes.over("narrowing");
        } else {
            copy_stored_masks(self.a.settled_mut()?);
            passes.over("mask copies");
        }
        self.keep_scalars(behind, end)?;
        passes.over("scalars");
        let code = self.a.finish()?;
        passes.over("encoding");
        Ok(Compiled {
            code,
            passes,
            pool: self.pool,
            context,
            slow: self.slow,
            once: self.once,
            in_place: self.in_place,
            image,
            symbols,
            record,
            together: self.together,
            ahead,
            row_caches,
            ends,
            waits: self.waits,
            whole: self
                .resumptions
                .iter()
                .map(|r| r.0)
                .filter(|pc| self.full && self.flow.all_channels_active(*pc))
                .collect(),
            resumptions: self.resumptions.iter().zip(0..).skip(1).map(|((pc, _), k)| (*pc, k)).collect(),
            pool_at,
        })
    }

    /// One instruction, with what comes before it.
    fn put_inst(&mut self, pc: Pc) -> Result<(), String> {
        self.begin_or_end_run(pc);
        // Blocks begin and end rounding to nearest.
        if pc > 0 && self.blocks[pc as usize - 1] == pc {
            self.rounds(Rounding::NearestEven);
        }
        // Of a loop that begins here, nothing is loaded when it is come to.
        self.forget_streams(Some(pc));
        self.fetch_rows(pc);
        self.enters_loop(pc);
        let label = self.labels[pc as usize];
        // In the middle of a block only those before it come here.
        if pc > 0 && self.blocks[pc as usize - 1] > pc {
            self.a.name(label);
        } else {
            self.a.bind(label);
        }
        self.a.mark(pc);
        self.close_row_caches(pc);
        self.one(pc)?;
        self.within_bounds()
    }

    /// Is the code still of a length that goes with that of the program?
    fn within_bounds(&self) -> Result<(), String> {
        let most = INSTRUCTIONS.0 * self.flow.end() as usize + INSTRUCTIONS.1;
        match self.a.here().code + self.a.wanted.len() <= most {
            true => Ok(()),
            false => Err("its native code would be too long".into()),
        }
    }

    /// Scalars get general registers. `behind`: the code that is put behind; `end`: where the stub begins.
    fn keep_scalars(&mut self, behind: Range<usize>, end: usize) -> Result<(), String> {
        let depth = |(at, pc): &(usize, Pc)| (*at, self.inst(*pc).depth.into());
        let depths: Vec<(usize, u32)> = self.a.marks.iter().map(depth).collect();
        let wanted = std::mem::take(&mut self.a.wanted);
        let entries = self.routines.iter().flat_map(address_patterns::Routine::entries);
        let quiet: Vec<u64> = entries.map(|l| self.a.number(l)).collect();
        let (code, labels) = self.a.settled()?;
        let shared = if self.together { self.p.registers().locals_start } else { 0 };
        let given = Given { labels, quiet: &quiet, wanted: &wanted, behind, end, depths: &depths, shared };
        if let Some(kept) = keep_slots_in_registers(code, &given) {
            self.a.replace(kept.code, (&kept.at, &kept.at), (labels, &[]));
        }
        Ok(())
    }

    /// One instruction, natively if that is possible, or two that are made together.
    fn one(&mut self, pc: Pc) -> Result<(), String> {
        if self.deferred.skips(pc) || self.done_before == Some(pc) {
            return Ok(());
        }
        (self.now, self.done_before) = (pc, None);
        if let Some(made) = self.lane_vectors.remove(&pc) {
            made.into_iter().for_each(|v| self.put_lane_vector(&v));
            return Ok(());
        }
        if let Some(row) = self.narrow_row(pc)
            && self.attempt(RoundingControl::None, |e| e.put_narrow_row(row)).is_ok()
        {
            self.done_before = Some(row.last());
            return Ok(());
        }
        // Nobody comes here.
        if self.active.at(pc) == 0 && !matches!(self.inst(pc).op, Op::Goto | Op::Ret | Op::Join | Op::Barrier)
        {
            return Ok(());
        }
        self.mode = self.modes.at(pc);
        if self.stops.get(pc as usize) == Some(&true) {
            return self.stopping(pc).map_err(str::to_owned);
        }
        let i = self.inst(pc);
        if let Some(control) = self.embedded(i)
            && self.try_native(pc, control).is_ok()
        {
            return Ok(());
        }
        self.rounds_for(i);
        let Err(why) = self.try_native(pc, RoundingControl::None) else { return Ok(()) };
        if matches!(self.inst(pc).op, Op::Goto | Op::Ret | Op::Join | Op::Barrier) || self.deferred.reads(pc)
        {
            return Err(format!("instruction {pc}: {why}"));
        }
        let mut shaped = false;
        self.cells.accesses(self.p.parts(), pc, &mut |a| shaped |= a.write && !self.shapes.plain(a.cell));
        if shaped {
            return Err(format!("instruction {pc}: {why}, and not all of its result is kept"));
        }
        self.slow.push((pc, why));
        self.rounds(Rounding::NearestEven);
        self.leave_tiles(pc);
        self.call(pc);
        if self.inst(pc).op == Op::End {
            // The machine stops the thread there: what is put behind does not follow.
            self.a.op0(Code::Ud2);
        }
        Ok(())
    }

    /// One instruction natively, or nothing of it. What it computes with rounds by itself as `control` says.
    fn try_native(&mut self, pc: Pc, control: RoundingControl) -> Result<(), Unsupported> {
        self.attempt(control, |e| e.native(pc))
    }

    /// Code that `make` makes, or nothing of it.
    fn attempt(
        &mut self,
        control: RoundingControl,
        make: impl FnOnce(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let (here, later, tiles) = (self.a.here(), self.later.len(), self.tiles.clone());
        self.a.rounding.begin(control);
        let done = make(self);
        let all = self.a.rounding.end();
        let done = done.and(if all { Ok(()) } else { Err("an instruction that cannot say how it rounds") });
        if done.is_err() {
            self.tiles = tiles;
            self.a.back(here);
            self.later.truncate(later);
            (self.fused, self.looked, self.made_whole) = (false, None, None);
        }
        done
    }

    fn native(&mut self, pc: Pc) -> Result<(), Unsupported> {
        let i = self.inst(pc);
        match i.op {
            Op::Join | Op::Goto | Op::Ret | Op::Barrier | Op::Fence | Op::Nop | Op::End => self.control(pc),
            op if op.waits() => self.suspending(pc),
            Op::ChannelEnables if i.aux == 0 => self.channel_enables(pc),
            Op::Call | Op::Fcall | Op::Ifcall if self.cells.are_shared() => self.function(pc),
            Op::Message => self.message(pc),
            Op::PredLogic => self.pred_logic(pc),
            Op::Setp => self.predicate_bits(pc),
            Op::MovPred => self.predicate_value(pc),
            Op::Faddr => self.address_of_symbol(pc),
            Op::Dpas => self.dpas(pc),
            Op::Pick => self.pick(pc, i),
            _ => self.compute(pc),
        }
    }
}
