//! Texels: of images and samplers of the kinds that code is made for ([`crate::image_variants`]); others are the machine's.
//!
//! Means of bytes are made of texels as they are stored, channel by channel. Other texels are read channel by channel,
//! and their means are sums of doubles, texel by texel.

use super::memory::PTR;
use super::*;
use crate::context_layout::{SITE, site};
use crate::image_variants::{Sampled, Source, is_zero, layer_coordinate, number, sampled_axes};
use envisa_isa::operation::{Parameter, Sampling};
use envisa_lower::{Sample, TexelSlot};
use envisa_sem::sampler::{Addressing, FAR};

/// Vectors that a message may overwrite.
#[derive(Default)]
pub(super) struct Pool {
    free: Vec<V>,
    /// Those of cells, whose content is kept elsewhere meanwhile.
    lent: Vec<V>,
}

impl Pool {
    pub fn take(&mut self) -> Result<V, Unsupported> {
        self.free.pop().ok_or("too many intermediate values")
    }

    pub fn give(&mut self, v: V) {
        self.free.push(v);
    }
}

/// Where the texels around a place are in one direction.
#[derive(Clone, Copy)]
pub(super) struct Along {
    /// The first one's number, which may be outside.
    first: V,
    /// How much the second one counts.
    pub weight: Option<V>,
}

/// What a mean is made of.
#[derive(Clone, Copy)]
pub(super) enum Row {
    /// Two texels as they are stored, or one.
    Stored(V, Option<V>),
    /// The mean of two, or one, of a single channel.
    Mixed(V),
    /// Where the only texel is, of those that count.
    At(V),
}

/// Rounding down, and to nearest even, without a word of what was lost.
const DOWN: u32 = 9;
const NEAREST: u32 = 8;
/// Texels in memory, of which offsets are in a vector.
pub(super) const TEXELS: K = 7;
/// The first and the second texel of a row are inside, and a row is.
pub(super) const INSIDE: [K; 2] = [5, 6];
pub(super) const ROW: K = 0;

/// What code for one part of a message is made with.
pub(super) struct Place<'a> {
    pub i: &'a Inst,
    pub kind: Sampled,
    pub part: Part,
    pub pool: Pool,
    /// Sums, by channel, of what texels are in doubles.
    pub sums: [Option<V>; 4],
    /// Of each direction, how much the second texel counts, in doubles.
    pub counts: Vec<V>,
}

impl<'a> Emit<'a> {
    /// The same for these images and samplers, and for groups that follow one another so.
    #[must_use]
    pub fn with(self, kinds: &'a [(u32, Kind)], walk: Walk, fitting: &'a [u32]) -> Emit<'a> {
        Emit { kinds, walk, fitting, ..self }
    }

    /// The same without upper halves of indices that are zero.
    #[must_use]
    pub fn without(self, zero_halves: &'a ZeroHalves) -> Emit<'a> {
        Emit { zero_halves: Some(zero_halves), ..self }
    }
}

impl Emit<'_> {
    pub(super) fn kind(&self, i: &Inst) -> Option<Kind> {
        self.kinds.iter().find(|(aux, _)| *aux == i.aux).map(|(_, kind)| *kind)
    }

    /// A number of a message's second site.
    pub(super) fn of_second(&self, i: &Inst, field: u32) -> Mem {
        let second = self.p.messages().len().max(1) as u32 + i.aux;
        Mem::at(SITES, second * SITE + field)
    }

    pub(super) fn in_all(&mut self, x: f32) -> Opd {
        Opd::Bcast(self.literal(x.to_bits()))
    }

    /// Goes to `entry` unless the site is of a kind.
    pub(super) fn of_kind(&mut self, i: &Inst, kind: Kind, entry: Label) {
        let m = self.site(i, site::LOW);
        self.a.mi(Code::Cmp_rm32_imm32, m, kind.code());
        self.a.jump(Code::Jne_rel32_64, entry);
    }

    /// Dwords of a part, all of them in a register.
    pub(super) fn dwords_of(&mut self, at: RegOffset, part: &Part, tmp: V) -> Result<V, Unsupported> {
        if part.lanes == 16 {
            return self.data_in(at, 64, tmp);
        }
        if self.cells.at(at).is_some_and(|c| self.cells.get(c).bytes < 32) {
            return Err("dwords of several cells");
        }
        let o = self.convertible(at, 32, tmp)?;
        Ok(self.in_register(o, part, tmp))
    }

    /// Vectors for a message that has its operands in these bytes of the register file.
    pub(super) fn pool(&mut self, pc: Pc, most: usize, operands: &[Range<u32>]) -> Pool {
        let mut homes = Vec::new();
        for at in operands.iter().flat_map(|r| r.clone().step_by(16)) {
            homes.extend(self.cells.at(at).and_then(|id| self.alloc.vector(id)));
        }
        let mut free: Vec<V> = (8..32).filter(|v| !self.alloc.busy(pc, *v) && !homes.contains(v)).collect();
        let taken: Vec<V> = (8..32).filter(|v| !free.contains(v) && !homes.contains(v)).collect();
        // What writes parts needs 4 and 5.
        free.extend([0, 1, 2, 3, 6, 7]);
        let lent: Vec<V> = taken.into_iter().take(most.saturating_sub(free.len())).collect();
        for v in &lent {
            let m = Mem::at(CTX, at::VECTORS + 64 * u32::from(*v));
            self.a.store(STORE32, Width::Z, m, *v, Lanes::All);
        }
        free.splice(0..0, lent.iter().copied());
        Pool { free, lent }
    }

    pub(super) fn take_back(&mut self, pool: &Pool) {
        for v in &pool.lent {
            let m = Mem::at(CTX, at::VECTORS + 64 * u32::from(*v));
            self.a.v2(VMOVDQU32, Width::Z, *v, Opd::Mem(m), Lanes::All);
        }
    }

    /// Texels by coordinates.
    pub(super) fn sample(&mut self, pc: Pc, i: &Inst, s: &Sample) -> Result<(), Unsupported> {
        let Some(Kind::Sampled(kind)) = self.kind(i) else { return Err("an image of a rare kind") };
        let Some(data) = s.data else { return Err("a sample that nobody reads") };
        if !matches!(s.what, Sampling::Filter | Sampling::Base)
            || s.slot != TexelSlot::Dword
            || s.null_mask
            || !is_zero(self.p, &s.offsets)
        {
            return Err("a sample of a rare kind");
        }
        if !matches!(i.channels, 8 | 16 | 32) {
            return Err("a message of few channels");
        }
        let mut at = [None; 3];
        let mut operands = Vec::new();
        for p in &s.parameters {
            let axis = match p.what {
                Parameter::U => 0,
                Parameter::V => 1,
                Parameter::R => 2,
                // There is one level, and there are no cubes.
                Parameter::Bias | Parameter::Lod | Parameter::MinLod | Parameter::ArrayIndex => continue,
                _ => return Err("parameters of a rare kind"),
            };
            if p.at.is_some() && p.bytes != 4 {
                return Err("coordinates that are no singles");
            }
            at[axis] = p.at;
            operands.extend(p.at.map(|at| at..at + 4 * u32::from(i.channels)));
        }
        let parts = self.parts(i, 4)?;
        let count = s.channels.count_ones();
        let written = (0..count).map(|c| data + c * s.component_stride);
        let written: Vec<_> = written.map(|at| at..at + 4 * u32::from(i.channels)).collect();
        let meets = |r: &Range<u32>| written.iter().any(|w| w.start < r.end && r.start < w.end);
        if parts.len() > 1 && operands.iter().any(meets) {
            return Err("a sample that overwrites its own coordinates");
        }
        operands.extend(written);
        let (entry, back) = (self.a.label(), self.a.label());
        self.of_kind(i, Kind::Sampled(kind), entry);
        for part in &parts {
            let none = self.a.label();
            let on = self.on(pc, part)?;
            if let Some(on) = on {
                self.a.kk(Code::VEX_Kortestw_kr_kr, on, on);
                self.a.jump(Code::Je_rel32_64, none);
            }
            let sums = kind.linear && !kind.mixes_bytes();
            let most = match (sums, sampled_axes(kind.shape)) {
                (true, _) => 22,
                (false, 3) if kind.linear => 20,
                _ => 16,
            };
            let pool = self.pool(pc, most, &operands);
            let (sum, counts) = ([None; 4], Vec::new());
            let mut place = Place { i, kind, part: *part, pool, sums: sum, counts };
            let here = at.map(|at| at.map(|at| at + 4 * part.lane));
            let m = self.site(i, site::POINTER);
            self.a.rm(Code::Mov_r64_rm64, PTR, m);
            if sums {
                self.sample_sums(pc, &mut place, s, here, (data, on))?;
            } else {
                self.sample_part(pc, &mut place, s, here, (data, on))?;
            }
            self.take_back(&place.pool);
            self.a.bind(none);
        }
        self.a.bind(back);
        self.later.push(Later::Miss { pc, entry, back });
        Ok(())
    }

    /// Places by direction, and where a layer begins.
    pub(super) fn directions(
        &mut self,
        p: &mut Place<'_>,
        at: [Option<RegOffset>; 3],
    ) -> Result<(Vec<Along>, Option<V>), Unsupported> {
        let mut along = Vec::new();
        for (axis, at) in at.into_iter().enumerate().take(sampled_axes(p.kind.shape)) {
            along.push(self.along(p, axis as u32, at)?);
        }
        let layer = layer_coordinate(p.kind.shape).map(|axis| self.layer(p, at[axis])).transpose()?;
        Ok((along, layer))
    }

    fn sample_part(
        &mut self,
        pc: Pc,
        p: &mut Place<'_>,
        s: &Sample,
        at: [Option<RegOffset>; 3],
        (data, on): (RegOffset, Option<K>),
    ) -> Result<(), Unsupported> {
        let (along, layer) = self.directions(p, at)?;
        let rows = self.rows(p, &along, layer)?;
        let weights: Vec<Option<V>> = along.iter().map(|a| a.weight).collect();
        let mut to = data + 4 * p.part.lane;
        for channel in (0..4).filter(|c| s.channels >> c & 1 != 0) {
            let v = p.pool.take()?;
            let source = p.kind.texel.source(channel);
            match (source, &rows[..]) {
                (Source::Zero | Source::One, _) => self.fixed_channel(p, source, v),
                (_, &[Row::At(offset)]) => self.texels_at(p, source, offset, 0, v)?,
                _ => {
                    // What stands for the one that is inside is where the padding is.
                    let low = match source {
                        Source::Bits(low, _) => low,
                        _ => 8 * (p.kind.texel.bytes() - 1),
                    };
                    self.mean(p, &rows, &weights, low, v)?;
                    self.by_255(p, v)?;
                }
            }
            let k = self.load_lanes(pc, to, on);
            self.store_part(to, v, 4, &p.part, k)?;
            p.pool.give(v);
            to += s.component_stride;
        }
        Ok(())
    }

    /// A channel that no texel has.
    pub(super) fn fixed_channel(&mut self, p: &Place<'_>, source: Source, v: V) {
        let (w, all) = (p.part.width, Lanes::All);
        if source == Source::One {
            let one = self.literal(p.kind.texel.one());
            self.a.v2(VPBROADCASTD, w, v, Opd::Mem(one), all);
        } else {
            self.a.v3(VPXORD, w, v, v, Opd::Reg(v), all);
        }
    }

    /// Where the nearest layer begins, halves going to the even one.
    fn layer(&mut self, p: &mut Place<'_>, at: Option<RegOffset>) -> Result<V, Unsupported> {
        let (w, all) = (p.part.width, Lanes::All);
        let x = p.pool.take()?;
        let Some(at) = at else {
            self.a.v3(VPXORD, w, x, x, Opd::Reg(x), all);
            return Ok(x);
        };
        let from = self.dwords_of(at, &p.part, x)?;
        let (zero, last) = (self.in_all(0.0), Opd::Bcast(self.of_second(p.i, number::LAYER)));
        self.a.v2i(VRNDSCALEPS, w, x, Opd::Reg(from), NEAREST, all);
        // What is no number is the first.
        self.a.v3(VMAXPS, w, x, x, zero, all);
        self.a.v3(VMINPS, w, x, x, last, all);
        self.a.v2(VCVTTPS2DQ, w, x, Opd::Reg(x), all);
        let pitch = Opd::Bcast(self.of_second(p.i, number::PITCH + 4));
        self.a.v3(VPMULLD, w, x, x, pitch, all);
        Ok(x)
    }

    /// What [`envisa_sem::sampler::Axis`] makes of coordinates.
    fn along(&mut self, p: &mut Place<'_>, axis: u32, at: Option<RegOffset>) -> Result<Along, Unsupported> {
        let (w, kind) = (p.part.width, p.kind);
        let all = Lanes::All;
        let mut x = p.pool.take()?;
        let from = match at {
            Some(at) => self.dwords_of(at, &p.part, x)?,
            None => {
                self.a.v3(VPXORD, w, x, x, Opd::Reg(x), all);
                x
            }
        };
        let wraps = matches!(kind.addressing, Addressing::Repeat | Addressing::MirroredRepeat);
        let low = self.in_all(if wraps { -FAR } else { -2.0 });
        let end = Opd::Bcast(self.of_second(p.i, number::END + 4 * axis));
        self.a.v3(VMAXPS, w, x, from, low, all);
        self.a.v3(VMINPS, w, x, x, end, all);
        // Of a nearest texel's place: what the product's rounding left.
        let mut left = None;
        if kind.normalized {
            let (t, e) = (p.pool.take()?, p.pool.take()?);
            let size = Opd::Bcast(self.of_second(p.i, number::SIZE + 4 * axis));
            match kind.addressing {
                Addressing::MirroredRepeat => {
                    let (half, rest) = (self.in_all(0.5), self.literal(0x7fff_ffff));
                    self.a.v3(VMULPS, w, t, x, half, all);
                    self.a.v2i(VRNDSCALEPS, w, t, Opd::Reg(t), NEAREST, all);
                    self.a.v3(VADDPS, w, t, t, Opd::Reg(t), all);
                    self.a.v3(VSUBPS, w, x, x, Opd::Reg(t), all);
                    self.a.v3(VPANDD, w, x, x, Opd::Bcast(rest), all);
                }
                Addressing::Repeat if kind.linear => {
                    self.a.v2i(VRNDSCALEPS, w, t, Opd::Reg(x), DOWN, all);
                    self.a.v3(VSUBPS, w, x, x, Opd::Reg(t), all);
                }
                Addressing::Repeat => {
                    // The fraction, and what its rounding left, in texels.
                    self.a.v2i(VRNDSCALEPS, w, t, Opd::Reg(x), DOWN, all);
                    self.a.v3(VSUBPS, w, e, x, Opd::Reg(t), all);
                    self.a.v3(VADDPS, w, t, e, Opd::Reg(t), all);
                    self.a.v3(VSUBPS, w, t, x, Opd::Reg(t), all);
                    self.copy_reg(x, e, w);
                }
                _ => {}
            }
            let product = p.pool.take()?;
            self.a.v3(VMULPS, w, product, x, size, all);
            if kind.linear {
                p.pool.give(e);
            } else {
                self.copy_reg(e, product, w);
                self.a.v3(VFMSUB231PS, w, e, x, size, all);
                if kind.addressing == Addressing::Repeat {
                    self.a.v3(VMULPS, w, t, t, size, all);
                    self.a.v3(VADDPS, w, e, e, Opd::Reg(t), all);
                }
                left = Some(e);
            }
            p.pool.give(t);
            p.pool.give(x);
            x = product;
        }
        if kind.linear {
            let half = self.in_all(0.5);
            self.a.v3(VSUBPS, w, x, x, half, all);
        }
        let first = p.pool.take()?;
        self.a.v2i(VRNDSCALEPS, w, first, Opd::Reg(x), DOWN, all);
        let needed = kind.linear || left.is_some();
        if needed {
            self.a.v3(VSUBPS, w, x, x, Opd::Reg(first), all);
        }
        if let Some(e) = left {
            self.a.v3(VADDPS, w, x, x, Opd::Reg(e), all);
            self.a.v3(VPXORD, w, e, e, Opd::Reg(e), all);
            self.a.vcmp(VCMPPS, w, TEXELS, x, Opd::Reg(e), 0x11, None);
            p.pool.give(e);
            let one = self.in_all(1.0);
            self.a.v3(VSUBPS, w, first, first, one, Lanes::Of(TEXELS));
        }
        self.a.v2(VCVTTPS2DQ, w, first, Opd::Reg(first), all);
        if kind.linear {
            return Ok(Along { first, weight: Some(x) });
        }
        p.pool.give(x);
        Ok(Along { first, weight: None })
    }

    /// The number of the first or the second texel, brought inside, in `to`.
    fn inside(
        &mut self,
        p: &mut Place<'_>,
        axis: u32,
        along: Along,
        second: bool,
        to: V,
    ) -> Result<(), Unsupported> {
        let (w, all) = (p.part.width, Lanes::All);
        let last = Opd::Bcast(self.of_second(p.i, number::LAST + 4 * axis));
        let count = Opd::Bcast(self.of_second(p.i, number::COUNT + 4 * axis));
        let mut from = along.first;
        if second {
            let one = self.literal(1);
            self.a.v3(VPADDD, w, to, from, Opd::Bcast(one), all);
            from = to;
        }
        let t = p.pool.take()?;
        if p.kind.addressing == Addressing::Repeat {
            // One outside on either side: of two numbers, the one that is none below zero.
            self.a.v3(VPADDD, w, t, from, count, all);
            self.a.v3(VPMINUD, w, to, from, Opd::Reg(t), all);
            self.a.v3(VPSUBD, w, t, to, count, all);
            self.a.v3(VPMINUD, w, to, to, Opd::Reg(t), all);
            self.a.v3(VPMINUD, w, to, to, last, all);
        } else {
            self.a.v3(VPXORD, w, t, t, Opd::Reg(t), all);
            self.a.v3(VPMAXSD, w, to, from, Opd::Reg(t), all);
            self.a.v3(VPMINSD, w, to, to, last, all);
        }
        p.pool.give(t);
        Ok(())
    }

    /// Whether the first or the second texel is inside, of those that `of` has.
    fn is_inside(
        &mut self,
        p: &mut Place<'_>,
        axis: u32,
        along: Along,
        second: bool,
        (k, of): (K, Option<K>),
    ) -> Result<(), Unsupported> {
        let w = p.part.width;
        let count = Opd::Bcast(self.of_second(p.i, number::COUNT + 4 * axis));
        let mut from = along.first;
        let t = p.pool.take()?;
        if second {
            let one = self.literal(1);
            self.a.v3(VPADDD, w, t, from, Opd::Bcast(one), Lanes::All);
            from = t;
        }
        self.a.vcmp(VPCMPUD, w, k, from, count, 1, of);
        p.pool.give(t);
        Ok(())
    }

    /// The texels, row by row; numbers are wanted no more afterwards.
    pub(super) fn rows(
        &mut self,
        p: &mut Place<'_>,
        along: &[Along],
        layer: Option<V>,
    ) -> Result<Vec<Row>, Unsupported> {
        let (w, all) = (p.part.width, Lanes::All);
        let clamps = p.kind.addressing == Addressing::Clamp;
        let each: &[bool] = if p.kind.linear { &[false, true] } else { &[false] };
        if clamps {
            for (n, second) in each.iter().enumerate() {
                self.is_inside(p, 0, along[0], *second, (INSIDE[n], None))?;
            }
        }
        let mut columns = Vec::new();
        for second in each {
            let x = p.pool.take()?;
            self.inside(p, 0, along[0], *second, x)?;
            self.times_texel(p.kind.texel, w, x);
            columns.push(x);
        }
        p.pool.give(along[0].first);
        let only: &[bool] = &[false];
        let planes = if along.len() > 2 { each } else { only };
        let lines = if along.len() > 1 { each } else { only };
        let mut rows = Vec::new();
        for plane in planes {
            for row in lines {
                let offset = p.pool.take()?;
                if along.len() > 1 {
                    self.inside(p, 1, along[1], *row, offset)?;
                    let pitch = Opd::Bcast(self.of_second(p.i, number::PITCH));
                    self.a.v3(VPMULLD, w, offset, offset, pitch, all);
                } else {
                    self.a.v3(VPXORD, w, offset, offset, Opd::Reg(offset), all);
                }
                if along.len() > 2 {
                    let z = p.pool.take()?;
                    self.inside(p, 2, along[2], *plane, z)?;
                    let pitch = Opd::Bcast(self.of_second(p.i, number::PITCH + 4));
                    self.a.v3(VPMULLD, w, z, z, pitch, all);
                    self.a.v3(VPADDD, w, offset, offset, Opd::Reg(z), all);
                    p.pool.give(z);
                }
                if let Some(layer) = layer {
                    self.a.v3(VPADDD, w, offset, offset, Opd::Reg(layer), all);
                }
                if clamps && along.len() > 1 {
                    let mut of = None;
                    if along.len() > 2 {
                        self.is_inside(p, 2, along[2], *plane, (TEXELS, None))?;
                        of = Some(TEXELS);
                    }
                    self.is_inside(p, 1, along[1], *row, (ROW, of))?;
                }
                if p.counts.is_empty() {
                    rows.push(self.row_of(p, &columns, offset, along[0].weight)?);
                } else {
                    self.add_row(p, &columns, offset, (*row, *plane))?;
                }
            }
        }
        columns.into_iter().for_each(|v| p.pool.give(v));
        along[1..].iter().for_each(|a| p.pool.give(a.first));
        layer.into_iter().for_each(|v| p.pool.give(v));
        Ok(rows)
    }

    /// The texels of a column in the row at hand that are inside, in [`TEXELS`].
    fn in_column(&mut self, p: &Place<'_>, column: usize) {
        if p.kind.addressing != Addressing::Clamp {
            self.all_of(&p.part, TEXELS);
            return;
        }
        let other = if sampled_axes(p.kind.shape) > 1 { ROW } else { INSIDE[column] };
        self.a.kkk(Code::VEX_Kandw_kr_kr_kr, TEXELS, INSIDE[column], other);
    }

    /// What a channel of texels at offsets is, which are of a column in the row at hand.
    pub(super) fn texels_at(
        &mut self,
        p: &mut Place<'_>,
        source: Source,
        offset: V,
        column: usize,
        v: V,
    ) -> Result<(), Unsupported> {
        self.in_column(p, column);
        let (t, u) = (p.pool.take()?, p.pool.take()?);
        self.texel_channel(p.i, p.kind.texel, source, p.part.width, offset, [v, t, u]);
        p.pool.give(t);
        p.pool.give(u);
        Ok(())
    }

    /// The texels of a row that begins at an offset, whose vector is free afterwards.
    fn row_of(
        &mut self,
        p: &mut Place<'_>,
        columns: &[V],
        row: V,
        weight: Option<V>,
    ) -> Result<Row, Unsupported> {
        let (w, all) = (p.part.width, Lanes::All);
        let texel = p.kind.texel;
        if !texel.0.is_bytes() {
            self.a.v3(VPADDD, w, row, row, Opd::Reg(columns[0]), all);
            return Ok(Row::At(row));
        }
        let mut texels = Vec::new();
        for (n, x) in columns.iter().enumerate() {
            let [offset, v, t, u] = [p.pool.take()?, p.pool.take()?, p.pool.take()?, p.pool.take()?];
            self.a.v3(VPADDD, w, offset, row, Opd::Reg(*x), all);
            self.in_column(p, n);
            self.dword_at(p.i, texel, w, 0, offset, [v, t, u]);
            if texel.source(3) == Source::Inside {
                // Padding becomes what its channel is.
                let ones = 0xff << (8 * (texel.bytes() - 1));
                let (ones, others) = (self.literal(ones), self.literal(!ones));
                self.in_column(p, n);
                self.a.v3(VPANDD, w, v, v, Opd::Bcast(others), all);
                self.a.v3(VPORD, w, v, v, Opd::Bcast(ones), Lanes::Of(TEXELS));
            }
            if texel.is_byte() {
                let low = self.literal(0xff);
                self.a.v3(VPANDD, w, v, v, Opd::Bcast(low), all);
                self.a.v2(VCVTDQ2PS, w, v, Opd::Reg(v), all);
            }
            [offset, t, u].into_iter().for_each(|v| p.pool.give(v));
            texels.push(v);
        }
        p.pool.give(row);
        match (texel.is_byte(), &texels[..], weight) {
            (true, &[a, b], Some(weight)) => {
                self.mix(p, a, b, weight);
                p.pool.give(b);
                Ok(Row::Mixed(a))
            }
            (true, &[a], _) => Ok(Row::Mixed(a)),
            (_, &[a, b], _) => Ok(Row::Stored(a, Some(b))),
            (_, &[a], _) => Ok(Row::Stored(a, None)),
            _ => Err("a row of no texels"),
        }
    }

    /// `a` becomes what is so far from it to `b`, which is free afterwards.
    fn mix(&mut self, p: &Place<'_>, a: V, b: V, weight: V) {
        let (w, all) = (p.part.width, Lanes::All);
        self.a.v3(VSUBPS, w, b, b, Opd::Reg(a), all);
        self.a.v3(VMULPS, w, b, b, Opd::Reg(weight), all);
        self.a.v3(VADDPS, w, a, a, Opd::Reg(b), all);
    }

    /// The byte of a stored texel that begins at a bit, as a number.
    fn byte(&mut self, p: &Place<'_>, texel: V, shift: u32, to: V) {
        let (w, all) = (p.part.width, Lanes::All);
        let mut from = texel;
        if shift != 0 {
            self.a.v2i(VPSRLD, w, to, Opd::Reg(texel), shift, all);
            from = to;
        }
        if shift != 24 {
            let low = self.literal(0xff);
            self.a.v3(VPANDD, w, to, from, Opd::Bcast(low), all);
        }
        self.a.v2(VCVTDQ2PS, w, to, Opd::Reg(to), all);
    }

    /// The mean of the bytes that begin at a bit, in `to`.
    fn mean(
        &mut self,
        p: &mut Place<'_>,
        rows: &[Row],
        weights: &[Option<V>],
        low: u32,
        to: V,
    ) -> Result<(), Unsupported> {
        let w = p.part.width;
        let mut means = Vec::new();
        for (n, row) in rows.iter().enumerate() {
            let v = if n == 0 { to } else { p.pool.take()? };
            match *row {
                Row::Mixed(a) => self.copy_reg(v, a, w),
                Row::At(_) => return Err("a texel that is no byte"),
                Row::Stored(a, None) => self.byte(p, a, low, v),
                Row::Stored(a, Some(b)) => {
                    let t = p.pool.take()?;
                    self.byte(p, a, low, v);
                    self.byte(p, b, low, t);
                    self.mix(p, v, t, weights[0].ok_or("a weight")?);
                    p.pool.give(t);
                }
            }
            means.push(v);
            // Two rows make a plane, two planes all.
            let mut full = n + 1;
            let mut axis = 1;
            while full.is_multiple_of(2) && means.len() > 1 {
                let b = means.pop().ok_or("a row")?;
                let a = *means.last().ok_or("a row")?;
                self.mix(p, a, b, weights[axis].ok_or("a weight")?);
                p.pool.give(b);
                (full, axis) = (full / 2, axis + 1);
            }
        }
        Ok(())
    }

    /// The single that a mean of bytes stands for: the quotient by 255, rounded right.
    fn by_255(&mut self, p: &mut Place<'_>, v: V) -> Result<(), Unsupported> {
        let (w, all) = (p.part.width, Lanes::All);
        let t = p.pool.take()?;
        let (by, most) = (self.in_all(1.0 / 255.0), self.in_all(255.0));
        self.a.v3(VMULPS, w, t, v, by, all);
        self.a.v3(VFNMADD231PS, w, v, t, most, all);
        self.a.v3(VFMADD231PS, w, t, v, by, all);
        self.copy_reg(v, t, w);
        p.pool.give(t);
        Ok(())
    }
}
