//! Instructions on parts of vectors, as scans and reductions have them: halves, every other element, single ones. Of
//! such instructions one after the other, each 64 bytes that they share are in a vector register from the first to the
//! last: what one reads is brought to the lanes it writes, and what is still wanted is stored behind them, at once. In
//! memory, each would read what several before it stored, which CPUs do not forward.

use super::*;
use crate::deferred::by_lanes;

/// Bytes of a tile.
const TILE: u32 = 64;
/// Fewest instructions on parts of vectors that are worth it.
const LEAST: usize = 2;
/// How often each instruction of a block is looked at for that, on average: what is not found by then is made as any other.
const PASSES: usize = 64;

/// Instructions that share tiles.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub first: Pc,
    pub end: Pc,
    tiles: Vec<Tile>,
    /// Registers for sources in other lanes than they were.
    moved: [V; 2],
}

/// Sixteen dwords of the register file in a register.
#[derive(Clone, Debug)]
struct Tile {
    at: RegOffset,
    v: V,
    /// A cell lives in the register.
    home: bool,
    /// Lanes that are in the register, and those that are nowhere else.
    valid: u32,
    dirty: u32,
}

/// An operand: its tile, and the lane there of each channel.
struct Place {
    tile: RegOffset,
    lanes: Vec<u32>,
}

/// How such an instruction is made.
struct Plan {
    to: Place,
    /// Of sources that are in no tile, `None`.
    from: Vec<Option<Place>>,
    part: bool,
}

impl Plan {
    /// The tiles it is about, whichever others there are; a scalar's may be left where it is.
    fn tiles(&self) -> impl Iterator<Item = RegOffset> + '_ {
        let sources = self.from.iter().flatten().filter(|p| p.lanes.iter().any(|l| *l != p.lanes[0]));
        std::iter::once(self.to.tile).chain(sources.map(|p| p.tile))
    }

    /// Is it about one of these, which ascend?
    fn touches(&self, tiles: &[RegOffset]) -> bool {
        self.from.iter().flatten().chain([&self.to]).any(|p| tiles.binary_search(&p.tile).is_ok())
    }
}

fn bits(lanes: &[u32]) -> u32 {
    lanes.iter().fold(0, |all, l| all | 1 << l)
}

/// The operand whose channels' elements begin there.
fn place_of_channels(at: impl Fn(u32) -> RegOffset, n: u32) -> Option<Place> {
    let tile = at(0) / TILE * TILE;
    let lanes: Vec<u32> = (0..n).map(|k| at(k).wrapping_sub(tile) / 4).collect();
    ((0..n).all(|k| at(k).is_multiple_of(4)) && lanes.iter().all(|l| *l < 16))
        .then_some(Place { tile, lanes })
}

impl Emit<'_> {
    /// How an instruction is made in tiles, if it can be.
    fn plan(&mut self, pc: Pc) -> Option<Plan> {
        let i = *self.inst(pc);
        let n = u32::from(i.channels);
        let float = super::alu::is_float(i.exec);
        let dword = |ty: Type| ty.size() == 4 && ty.is_float() == float;
        let op = matches!(i.op, Op::Mov | Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Min | Op::Max);
        let Dst::Reg { offset, ty, stride, sat: false } = i.dst else { return None };
        self.mode = self.modes.at(pc);
        if !op
            || !matches!(i.exec, ExecType::I32 | ExecType::U32 | ExecType::F32)
            || !dword(ty)
            || n > 16
            || i.dst2 != 0
            || !self.p.registers().is_plain_variable(offset)
            || self.certain(pc).is_err()
            || self.deferred.reads(pc)
            || self.mode_allows(&i).is_err()
            || self.rounds_otherwise(&i)
        {
            return None;
        }
        let to = place_of_channels(|k| offset + 4 * k * u32::from(stride), n)?;
        let mut from = Vec::new();
        let mut part = (2..16).contains(&n) || (n == 16 && (stride != 1 || offset % TILE != 0));
        for s in i.src.iter().filter(|s| **s != Src::None) {
            let Src::Reg { offset, ty, strides, shape, modifier: Modifier::None, constant } = *s else {
                return None;
            };
            if !dword(ty) || constant && shape != Shape::Scalar {
                return None;
            }
            let p = place_of_channels(|k| offset + 4 * strides.element(k), n).filter(|_| !constant);
            if p.is_none() && shape != Shape::Scalar {
                return None;
            }
            part |= shape == Shape::General;
            from.push(p);
        }
        Some(Plan { to, from, part })
    }

    /// The register that a tile's cell lives in, and how many of its lanes; `None` if the tile is in memory.
    fn tile_home(&self, tile: RegOffset) -> Result<Option<(V, u32)>, ()> {
        let mut at = tile;
        let mut home = None;
        while at < tile + TILE {
            let Some(id) = self.cells.at(at) else {
                at += 4;
                continue;
            };
            let c = self.cells.get(id);
            if !self.shapes.plain(id) || home.is_some() {
                return Err(());
            }
            if let Some(v) = self.alloc.vector(id) {
                if at != tile || c.offset != tile || !matches!(c.bytes, 32 | 64) {
                    return Err(());
                }
                home = Some((v, c.bytes / 4));
            }
            at = c.offset + c.bytes;
        }
        Ok(home)
    }

    /// Finds all runs.
    pub(super) fn find_runs(&mut self) -> Vec<Run> {
        let ends = self.blocks.clone();
        let (mut runs, mut first) = (Vec::new(), 0);
        for pc in 0..self.flow.end() {
            let (i, code) = (self.inst(pc), self.p.code());
            let pointed = |i: &Inst| {
                matches!(i.dst, Dst::Indirect { .. })
                    || i.src.iter().any(|s| matches!(s, Src::Indirect { .. }))
            };
            let stops = !(by_lanes(i.op) || i.op == Op::Cmp)
                || pointed(&code[pc as usize])
                || self.deferred.reads(pc)
                || !self.flow.is_reachable(pc);
            if stops && !self.deferred.skips(pc) {
                self.runs_in(first..pc, &mut runs);
                first = pc + 1;
            } else if ends[pc as usize] == pc + 1 {
                self.runs_in(first..pc + 1, &mut runs);
                first = pc + 1;
            }
        }
        self.mode = None;
        runs.sort_unstable_by_key(|r| r.first);
        runs
    }

    /// Those in some instructions of a block.
    fn runs_in(&mut self, all: Range<Pc>, runs: &mut Vec<Run>) {
        let plans: Vec<(Pc, Option<Plan>)> =
            all.filter(|pc| !self.deferred.skips(*pc)).map(|pc| (pc, self.plan(pc))).collect();
        let mut budget = PASSES * plans.len();
        self.runs_of(&plans, &mut budget, runs);
    }

    /// The same of a part of them, as long as there is a budget of instructions to look at: cuts may be many.
    fn runs_of(&mut self, plans: &[(Pc, Option<Plan>)], budget: &mut usize, runs: &mut Vec<Run>) {
        let parts = plans.iter().filter(|(_, p)| p.as_ref().is_some_and(|p| p.part));
        if parts.clone().count() < LEAST {
            return;
        }
        let mut tiles: Vec<RegOffset> = parts.flat_map(|(_, p)| p.as_ref().unwrap().tiles()).collect();
        tiles.sort_unstable();
        tiles.dedup();
        loop {
            let Some(left) = budget.checked_sub(2 * plans.len()) else { return };
            *budget = left;
            let before = tiles.len();
            for (_, p) in plans {
                let Some(p) = p.as_ref().filter(|p| p.touches(&tiles)) else { continue };
                for tile in p.tiles() {
                    if let Err(at) = tiles.binary_search(&tile) {
                        tiles.insert(at, tile);
                    }
                }
            }
            if tiles.len() == before {
                break;
            }
        }
        // Where something else touches one, there is a run before and one behind.
        let cut = plans.iter().position(|(pc, p)| match p {
            Some(p) => p.touches(&tiles) && !self.fits(p, &tiles),
            None => self.meets_tiles(*pc, &tiles),
        });
        if let Some(at) = cut {
            self.runs_of(&plans[..at], budget, runs);
            self.runs_of(&plans[at + 1..], budget, runs);
            return;
        }
        let mut on = plans.iter().filter(|(_, p)| p.as_ref().is_some_and(|p| p.touches(&tiles)));
        let Some((first, _)) = on.next() else { return };
        let end = on.next_back().map_or(first + 1, |(pc, _)| pc + 1);
        let mut free =
            (crate::alloc::FIRST..32).filter(|v| (*first..=end).all(|pc| !self.alloc.busy(pc, *v)));
        let [Some(a), Some(b)] = [free.next(), free.next()] else { return };
        let mut made = Vec::new();
        for at in tiles {
            let Ok(home) = self.tile_home(at) else { return };
            let (v, home, lanes) = match home {
                Some((v, lanes)) => (v, true, lanes),
                None => {
                    let Some(v) = free.next() else { return };
                    (v, false, 0)
                }
            };
            made.push(Tile { at, v, home, valid: ((1u64 << lanes) - 1) as u32, dirty: 0 });
        }
        runs.push(Run { first: *first, end, tiles: made, moved: [a, b] });
    }

    /// Can all tiles of an instruction be had?
    fn fits(&self, p: &Plan, tiles: &[RegOffset]) -> bool {
        p.from.iter().flatten().chain([&p.to]).filter(|o| tiles.binary_search(&o.tile).is_ok()).all(|o| {
            match self.tile_home(o.tile) {
                Ok(Some((_, lanes))) => o.lanes.iter().all(|l| *l < lanes),
                Ok(None) => true,
                Err(()) => false,
            }
        })
    }

    fn meets_tiles(&self, pc: Pc, tiles: &[RegOffset]) -> bool {
        let mut meets = false;
        let i = self.inst(pc);
        let n = u32::from(i.channels);
        let mut tell = |t: envisa_lower::Touched| {
            meets |= t.range(n).is_none_or(|r| tiles.iter().any(|t| r.start < t + TILE && *t < r.end));
        };
        i.reads(self.p.parts(), &mut tell);
        i.writes(self.p.parts(), &mut tell);
        meets
    }

    /// Before an instruction: a run begins, or is over.
    pub(super) fn begin_or_end_run(&mut self, pc: Pc) {
        if self.tiles.as_ref().is_some_and(|r| pc >= r.end) {
            self.leave_tiles(pc);
            self.tiles = None;
        }
        if let Ok(k) = self.runs.binary_search_by_key(&pc, |r| r.first) {
            self.tiles = Some(self.runs[k].clone());
        }
    }

    /// Puts what is wanted where all others look for it.
    pub(super) fn leave_tiles(&mut self, pc: Pc) {
        let Some(mut run) = self.tiles.take() else { return };
        for t in run.tiles.iter_mut().filter(|t| !t.home) {
            // What is evaluated where it is read may read it later than the program does.
            let wanted = (0..16).filter(|l| t.dirty & 1 << l != 0).any(|l| {
                self.cells
                    .at(t.at + 4 * l)
                    .is_none_or(|c| self.live.of_thread(pc, c) || self.deferred.read_behind(c, pc))
            });
            if wanted {
                self.put_tile(t);
            }
            (t.valid, t.dirty) = (0, 0);
        }
        self.tiles = Some(run);
    }

    fn put_tile(&mut self, t: &Tile) {
        let m = self.reg(t.at);
        match t.dirty {
            1 => self.a.mr(Code::EVEX_Vmovd_rm32_xmm, m, vector_register(t.v, Width::X)),
            3 => self.a.mr(Code::EVEX_Vmovq_rm64_xmm, m, vector_register(t.v, Width::X)),
            0xf => self.a.store(STORE32, Width::X, m, t.v, Lanes::All),
            0xff => self.a.store(STORE32, Width::Y, m, t.v, Lanes::All),
            _ if t.valid == 0xffff => self.a.store(STORE32, Width::Z, m, t.v, Lanes::All),
            _ => {
                self.a.v2(VMOVDQU32, Width::Z, 5, Opd::Mem(m), Lanes::All);
                self.some_lanes(t.dirty);
                self.a.v2(VMOVDQU32, Width::Z, 5, Opd::Reg(t.v), Lanes::Of(MASK));
                self.a.store(STORE32, Width::Z, m, 5, Lanes::All);
            }
        }
    }

    /// Puts lanes into [`MASK`].
    fn some_lanes(&mut self, lanes: u32) {
        self.a.ri(Code::Mov_r32_imm32, Register::EAX, lanes as i32);
        self.a.rr(Code::VEX_Kmovw_kr_r32, mask_register(MASK), Register::EAX);
    }

    /// An instruction of a run: `false` (and nothing done) if it is none, or about no tile.
    pub(super) fn tiled(&mut self, pc: Pc) -> Result<bool, Unsupported> {
        let Some(run) = &self.tiles else { return Ok(false) };
        let (tiles, spare): (Vec<RegOffset>, _) = (run.tiles.iter().map(|t| t.at).collect(), run.moved);
        let mode = self.mode;
        let plan = self.plan(pc).filter(|p| p.touches(&tiles));
        self.mode = mode;
        let Some(plan) = plan else { return Ok(false) };
        let tile = |at: RegOffset| tiles.iter().position(|t| *t == at);
        let to = tile(plan.to.tile).ok_or("a destination that is no tile")?;
        let mut i = *self.inst(pc);
        let made = bits(&plan.to.lanes);
        let fake = self.p.registers().bytes;
        for (k, p) in plan.from.iter().enumerate() {
            let Some((p, t)) = p.as_ref().and_then(|p| Some((p, tile(p.tile)?))) else { continue };
            self.have(t, bits(&p.lanes));
            let Some(v) = self.tiles.as_ref().map(|r| r.tiles[t].v) else { return Err("no tiles") };
            let mut which: [u32; 16] = std::array::from_fn(|l| l as u32);
            plan.to.lanes.iter().zip(&p.lanes).for_each(|(to, from)| which[*to as usize] = *from);
            let moved = plan.to.lanes != p.lanes;
            let Some(at) = spare.get(k).copied() else { return Err("many sources") };
            if moved {
                if p.lanes.iter().all(|l| *l == 0) {
                    self.a.v2(VPBROADCASTD, Width::Z, at, Opd::Reg(v), Lanes::All);
                } else {
                    let which = self.literals(which);
                    self.a.v2(VMOVDQU32, Width::Z, at, Opd::Mem(which), Lanes::All);
                    self.a.v3(VPERMD, Width::Z, at, at, Opd::Reg(v), Lanes::All);
                }
            }
            self.moved[k] = if moved { at } else { v };
            if let Src::Reg { offset, shape, .. } = &mut i.src[k] {
                (*offset, *shape) = (fake + TILE * k as u32, Shape::Contiguous);
            }
        }
        let Some(t) = self.tiles.as_ref().map(|r| r.tiles[to].clone()) else { return Err("no tiles") };
        let stay = t.valid & !made;
        let most = 32 - (made | stay).leading_zeros();
        let w = Width::of(4 * most);
        let lanes = [4, 8, 16][w as usize];
        let part = Part { index: 0, lanes, lane: 0, channel: i.first.into(), width: w, bytes: 4 };
        i.channels = lanes as u8;
        let on = if stay != 0 {
            self.some_lanes(made);
            self.held = Some(MASK);
            Lanes::Of(MASK)
        } else {
            Lanes::All
        };
        let v = self.value(pc, &i, &part, t.v, on)?;
        if v != t.v {
            self.a.v2(VMOVDQU32, w, t.v, Opd::Reg(v), on);
        }
        self.held = None;
        if let Some(t) = self.tiles.as_mut().map(|r| &mut r.tiles[to]) {
            t.valid = stay | made;
            t.dirty |= if t.home { 0 } else { made };
        }
        Ok(true)
    }

    /// Lanes of a tile are in its register.
    fn have(&mut self, k: usize, lanes: u32) {
        let Some(t) = self.tiles.as_ref().map(|r| r.tiles[k].clone()) else { return };
        if lanes & !t.valid == 0 {
            return;
        }
        let m = self.reg(t.at);
        if t.dirty == 0 {
            self.a.v2(VMOVDQU32, Width::Z, t.v, Opd::Mem(m), Lanes::All);
        } else {
            self.a.v2(VMOVDQU32, Width::Z, 5, Opd::Mem(m), Lanes::All);
            self.some_lanes(t.dirty);
            self.a.v2(VMOVDQU32, Width::Z, 5, Opd::Reg(t.v), Lanes::Of(MASK));
            self.copy_reg(t.v, 5, Width::Z);
        }
        if let Some(t) = self.tiles.as_mut().map(|r| &mut r.tiles[k]) {
            t.valid = 0xffff;
        }
    }

    /// A source of an instruction of a run.
    pub(super) fn tile_source(&self, offset: RegOffset) -> Option<V> {
        let k = offset.checked_sub(self.p.registers().bytes)? / TILE;
        self.tiles.as_ref().and(self.moved.get(k as usize)).copied()
    }
}
