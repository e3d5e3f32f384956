//! Texels: of images and samplers of the kinds that code is made for ([`crate::plan`]); others are the machine's.

use super::memory::PTR;
use super::*;
use crate::layout::{SITE, site};
use crate::plan::{Sampled, Texel, is_zero, number};
use envisa_isa::operation::{Parameter, Sampling};
use envisa_lower::{Sample, TexelSlot, Typed};
use envisa_sem::sampler::{Addressing, FAR};

/// Vectors that a message may overwrite.
#[derive(Default)]
struct Pool {
    free: Vec<V>,
    /// Those of cells, whose content is kept elsewhere meanwhile.
    lent: Vec<V>,
}

impl Pool {
    fn take(&mut self) -> Result<V, Why> {
        self.free.pop().ok_or("too many intermediate values")
    }

    fn give(&mut self, v: V) {
        self.free.push(v);
    }
}

/// Where the texels around a place are in one direction.
#[derive(Clone, Copy)]
struct Along {
    /// The first one's number, which may be outside.
    first: V,
    /// How much the second one counts.
    weight: Option<V>,
}

/// What a mean is made of.
#[derive(Clone, Copy)]
enum Row {
    /// Two texels as they are stored, or one.
    Stored(V, Option<V>),
    /// The mean of two, or one, of a single channel.
    Mixed(V),
}

/// Rounding down, and to nearest even, without a word of what was lost.
const DOWN: u32 = 9;
const NEAREST: u32 = 8;
/// Texels in memory, of which offsets are in a vector.
const TEXELS: K = 7;
/// The first and the second texel of a row are inside, and a row is.
const INSIDE: [K; 2] = [5, 6];
const ROW: K = 0;

/// What code for one part of a message is made with.
struct Place<'a> {
    i: &'a Inst,
    kind: Sampled,
    part: Part,
    pool: Pool,
}

impl<'a> Emit<'a> {
    /// The same for these images and samplers.
    #[must_use]
    pub fn with(self, kinds: &'a [(u32, Kind)]) -> Emit<'a> {
        Emit { kinds, ..self }
    }
}

impl Emit<'_> {
    fn kind(&self, i: &Inst) -> Option<Kind> {
        self.kinds.iter().find(|(aux, _)| *aux == i.aux).map(|(_, kind)| *kind)
    }

    /// A number of a message's second site.
    fn of_second(&self, i: &Inst, field: u32) -> Mem {
        let second = self.p.messages().len().max(1) as u32 + i.aux;
        Mem::at(SITES, second * SITE + field)
    }

    fn in_all(&mut self, x: f32) -> Opd {
        Opd::Bcast(self.literal(x.to_bits()))
    }

    /// Goes to `entry` unless the site is of a kind.
    fn of_kind(&mut self, i: &Inst, kind: Kind, entry: Label) {
        let m = self.site(i, site::LOW);
        self.a.mi(Code::Cmp_rm32_imm32, m, kind.code());
        self.a.jump(Code::Jne_rel32_64, entry);
    }

    /// Dwords of a part, all of them in a register.
    fn dwords_of(&mut self, at: RegOffset, part: &Part, tmp: V) -> Result<V, Why> {
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
    fn pool(&mut self, pc: Pc, most: usize, operands: &[Range<u32>]) -> Pool {
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

    fn take_back(&mut self, pool: &Pool) {
        for v in &pool.lent {
            let m = Mem::at(CTX, at::VECTORS + 64 * u32::from(*v));
            self.a.v2(VMOVDQU32, Width::Z, *v, Opd::Mem(m), Lanes::All);
        }
    }

    /// Texels by coordinates.
    pub(super) fn sample(&mut self, pc: Pc, i: &Inst, s: &Sample) -> Result<(), Why> {
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
                // There is one level, and no array.
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
            return Err("a sample in the place of its coordinates");
        }
        operands.extend(written);
        let (entry, back) = (self.a.label(), self.a.label());
        self.of_kind(i, Kind::Sampled(kind), entry);
        for part in &parts {
            let none = self.a.label();
            let on = self.on(pc, part)?;
            if let Some(on) = on {
                self.a.rr(Code::VEX_Kortestw_kr_kr, kreg(on), kreg(on));
                self.a.jump(Code::Je_rel32_64, none);
            }
            let most = if kind.deep && kind.texel != Texel::R8 && kind.linear { 18 } else { 15 };
            let pool = self.pool(pc, most, &operands);
            let mut place = Place { i, kind, part: *part, pool };
            let here = at.map(|at| at.map(|at| at + 4 * part.lane));
            self.sample_part(pc, &mut place, s, here, (data, on))?;
            self.take_back(&place.pool);
            self.a.bind(none);
        }
        self.a.bind(back);
        self.later.push(Later::Miss { pc, entry, back });
        Ok(())
    }

    fn sample_part(
        &mut self,
        pc: Pc,
        p: &mut Place<'_>,
        s: &Sample,
        at: [Option<RegOffset>; 3],
        (data, on): (RegOffset, Option<K>),
    ) -> Result<(), Why> {
        let axes = if p.kind.deep { 3 } else { 2 };
        let mut along = Vec::new();
        for (axis, at) in at.into_iter().enumerate().take(axes) {
            along.push(self.along(p, axis as u32, at)?);
        }
        let m = self.site(p.i, site::POINTER);
        self.a.rm(Code::Mov_r64_rm64, PTR, m);
        let rows = self.rows(p, &along)?;
        let weights: Vec<Option<V>> = along.iter().map(|a| a.weight).collect();
        let w = p.part.width;
        let mut to = data + 4 * p.part.lane;
        for channel in (0..4).filter(|c| s.channels >> c & 1 != 0) {
            let v = p.pool.take()?;
            match (p.kind.texel, channel) {
                (Texel::R8, 1 | 2) => self.a.v3(VPXORD, w, v, v, Opd::Reg(v), Lanes::All),
                (Texel::R8, 3) => {
                    let one = self.literal(1f32.to_bits());
                    self.a.v2(VPBROADCASTD, w, v, Opd::Mem(one), Lanes::All);
                }
                _ => {
                    self.mean(p, &rows, &weights, channel, v)?;
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

    /// What [`envisa_sem::sampler::Axis`] makes of coordinates.
    fn along(&mut self, p: &mut Place<'_>, axis: u32, at: Option<RegOffset>) -> Result<Along, Why> {
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
        // What the product's rounding left.
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
            self.copy_reg(e, product, w);
            self.a.v3(VFMSUB231PS, w, e, x, size, all);
            if kind.addressing == Addressing::Repeat {
                self.a.v3(VMULPS, w, t, t, size, all);
                self.a.v3(VADDPS, w, e, e, Opd::Reg(t), all);
            }
            p.pool.give(t);
            p.pool.give(x);
            x = product;
            left = Some(e);
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
            if kind.linear {
                self.a.v3(VADDPS, w, x, x, one, Lanes::Of(TEXELS));
            }
        }
        self.a.v2(VCVTTPS2DQ, w, first, Opd::Reg(first), all);
        if kind.linear {
            return Ok(Along { first, weight: Some(x) });
        }
        p.pool.give(x);
        Ok(Along { first, weight: None })
    }

    /// The number of the first or the second texel, brought inside, in `to`.
    fn inside(&mut self, p: &mut Place<'_>, axis: u32, along: Along, second: bool, to: V) -> Result<(), Why> {
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
    ) -> Result<(), Why> {
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
    fn rows(&mut self, p: &mut Place<'_>, along: &[Along]) -> Result<Vec<Row>, Why> {
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
            columns.push(x);
        }
        p.pool.give(along[0].first);
        let planes: &[bool] = if p.kind.deep { each } else { &[false] };
        let mut rows = Vec::new();
        for plane in planes {
            for row in each {
                let offset = p.pool.take()?;
                self.inside(p, 1, along[1], *row, offset)?;
                let pitch = Opd::Bcast(self.of_second(p.i, number::PITCH));
                self.a.v3(VPMULLD, w, offset, offset, pitch, all);
                if p.kind.deep {
                    let z = p.pool.take()?;
                    self.inside(p, 2, along[2], *plane, z)?;
                    let pitch = Opd::Bcast(self.of_second(p.i, number::PITCH + 4));
                    self.a.v3(VPMULLD, w, z, z, pitch, all);
                    self.a.v3(VPADDD, w, offset, offset, Opd::Reg(z), all);
                    p.pool.give(z);
                }
                if clamps {
                    let mut of = None;
                    if p.kind.deep {
                        self.is_inside(p, 2, along[2], *plane, (TEXELS, None))?;
                        of = Some(TEXELS);
                    }
                    self.is_inside(p, 1, along[1], *row, (ROW, of))?;
                }
                rows.push(self.row_of(p, &columns, offset, along[0].weight)?);
            }
        }
        columns.into_iter().for_each(|v| p.pool.give(v));
        along[1..].iter().for_each(|a| p.pool.give(a.first));
        Ok(rows)
    }

    /// The texels of a row that begins at an offset, whose vector is free afterwards.
    fn row_of(&mut self, p: &mut Place<'_>, columns: &[V], row: V, weight: Option<V>) -> Result<Row, Why> {
        let (w, all) = (p.part.width, Lanes::All);
        let clamps = p.kind.addressing == Addressing::Clamp;
        let mut texels = Vec::new();
        for (n, x) in columns.iter().enumerate() {
            let (offset, texel) = (p.pool.take()?, p.pool.take()?);
            self.a.v3(VPADDD, w, offset, row, Opd::Reg(*x), all);
            if clamps {
                self.a.rrr(Code::VEX_Kandw_kr_kr_kr, kreg(TEXELS), kreg(INSIDE[n]), kreg(ROW));
            } else {
                self.a.rrr(Code::VEX_Kxnorw_kr_kr_kr, kreg(TEXELS), kreg(TEXELS), kreg(TEXELS));
                if p.part.lanes == 8 {
                    self.a.rri(Code::VEX_Kshiftrw_kr_kr_imm8, kreg(TEXELS), kreg(TEXELS), 8);
                }
            }
            self.a.v3(VPXORD, w, texel, texel, Opd::Reg(texel), all);
            if p.kind.texel != Texel::R8 {
                let m = Mem::indexed(PTR, Register::None, 4, 0);
                self.a.gather(VPGATHERDD, w, texel, m, offset, TEXELS);
            } else {
                // The dword that the byte is in, all of it inside of the image.
                let (near, low) = (p.pool.take()?, self.literal(0xff));
                let limit = Opd::Bcast(self.of_second(p.i, number::LIMIT));
                self.a.v3(VPMINUD, w, near, offset, limit, all);
                self.a.v3(VPSUBD, w, offset, offset, Opd::Reg(near), all);
                self.a.v2i(VPSLLD, w, offset, Opd::Reg(offset), 3, all);
                let m = Mem::indexed(PTR, Register::None, 1, 0);
                self.a.gather(VPGATHERDD, w, texel, m, near, TEXELS);
                self.a.v3(VPSRLVD, w, texel, texel, Opd::Reg(offset), all);
                self.a.v3(VPANDD, w, texel, texel, Opd::Bcast(low), all);
                self.a.v2(VCVTDQ2PS, w, texel, Opd::Reg(texel), all);
                p.pool.give(near);
            }
            p.pool.give(offset);
            texels.push(texel);
        }
        p.pool.give(row);
        match (p.kind.texel, &texels[..], weight) {
            (Texel::R8, &[a, b], Some(weight)) => {
                self.mix(p, a, b, weight);
                p.pool.give(b);
                Ok(Row::Mixed(a))
            }
            (Texel::R8, &[a], _) => Ok(Row::Mixed(a)),
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

    /// A channel of a stored texel as a number.
    fn byte(&mut self, p: &Place<'_>, texel: V, channel: u32, to: V) {
        let (w, all) = (p.part.width, Lanes::All);
        let mut from = texel;
        let shift = p.kind.texel.shift(channel);
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

    /// The mean of a channel's bytes, in `to`.
    fn mean(
        &mut self,
        p: &mut Place<'_>,
        rows: &[Row],
        weights: &[Option<V>],
        channel: u32,
        to: V,
    ) -> Result<(), Why> {
        let w = p.part.width;
        let mut means = Vec::new();
        for (n, row) in rows.iter().enumerate() {
            let v = if n == 0 { to } else { p.pool.take()? };
            match *row {
                Row::Mixed(a) => self.copy_reg(v, a, w),
                Row::Stored(a, None) => self.byte(p, a, channel, v),
                Row::Stored(a, Some(b)) => {
                    let t = p.pool.take()?;
                    self.byte(p, a, channel, v);
                    self.byte(p, b, channel, t);
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
    fn by_255(&mut self, p: &mut Place<'_>, v: V) -> Result<(), Why> {
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

    /// Texels are written.
    pub(super) fn store_texels(&mut self, pc: Pc, i: &Inst, t: &Typed) -> Result<(), Why> {
        let Some(Kind::Stored(texel)) = self.kind(i) else { return Err("an image of a rare kind") };
        let (Some(data), 8 | 16) = (t.data, i.channels) else { return Err("a message of few channels") };
        let c = &t.coordinates;
        if !is_zero(self.p, &c.offsets) || c.bytes != 4 || c.at[3].is_some() || t.null_mask {
            return Err("coordinates of a rare kind");
        }
        let parts = self.parts(i, 4)?;
        let part = &parts[0];
        let (w, all) = (part.width, Lanes::All);
        let (entry, back) = (self.a.label(), self.a.label());
        self.of_kind(i, Kind::Stored(texel), entry);
        let on = self.on(pc, part)?;
        if let Some(on) = on {
            self.a.rr(Code::VEX_Kortestw_kr_kr, kreg(on), kreg(on));
            self.a.jump(Code::Je_rel32_64, back);
        }
        // What is outside is the machine's to tell.
        let [width, height, row] =
            [site::COUNT, site::LAST16, site::LAST].map(|field| Opd::Bcast(self.site(i, field)));
        for (axis, (tmp, count)) in [(6, width), (7, height)].into_iter().enumerate() {
            let x = match c.at[axis] {
                Some(at) => self.dwords_of(at, part, tmp)?,
                None => {
                    self.a.v3(VPXORD, w, tmp, tmp, Opd::Reg(tmp), all);
                    tmp
                }
            };
            self.a.vcmp(VPCMPUD, w, INSIDE[axis], x, count, 5, on);
            self.copy_reg(tmp, x, w);
        }
        self.a.rr(Code::VEX_Kortestw_kr_kr, kreg(INSIDE[0]), kreg(INSIDE[1]));
        self.a.jump(Code::Jne_rel32_64, entry);
        self.a.v3(VPMULLD, w, 7, 7, row, all);
        self.a.v3(VPADDD, w, 6, 6, Opd::Reg(7), all);
        // A product is added to where a single's last place is 1: rounded to a whole number, once.
        for channel in 0..4 {
            let at = data + channel * t.component_stride;
            let x = self.dwords_of(at, part, 1)?;
            let (low, high, most) = (self.in_all(0.0), self.in_all(1.0), self.in_all(255.0));
            let magic = self.literal(8_388_608f32.to_bits());
            self.a.v3(VMAXPS, w, 1, x, low, all);
            self.a.v3(VMINPS, w, 1, 1, high, all);
            self.a.v2(VPBROADCASTD, w, 2, Opd::Mem(magic), all);
            self.a.v3(VFMADD231PS, w, 2, 1, most, all);
            match texel.shift(channel) {
                0 => {
                    let low = self.literal(0xff);
                    self.a.v3(VPANDD, w, 2, 2, Opd::Bcast(low), all);
                }
                shift => self.a.v2i(VPSLLD, w, 2, Opd::Reg(2), shift, all),
            }
            match channel {
                0 => self.copy_reg(0, 2, w),
                _ => self.a.v3(VPORD, w, 0, 0, Opd::Reg(2), all),
            }
        }
        let m = self.site(i, site::POINTER);
        self.a.rm(Code::Mov_r64_rm64, PTR, m);
        self.put_texels(part, on, back);
        self.a.bind(back);
        self.later.push(Later::Miss { pc, entry, back });
        Ok(())
    }

    /// Stores dwords in vector 0 at the offsets in vector 6: as rows of eight, where they are that, and goes to `done`.
    fn put_texels(&mut self, part: &Part, on: Option<K>, done: Label) {
        let (w, all) = (part.width, Lanes::All);
        let ramp = self.literals(std::array::from_fn(|k| k as u32 % 8));
        let first = self.literals(std::array::from_fn(|k| k as u32 & 8));
        let scattered = self.a.label();
        self.a.v3(VPSUBD, w, 1, 6, Opd::Mem(ramp), all);
        if part.lanes == 16 {
            self.a.v2(VMOVDQU32, w, 2, Opd::Mem(first), all);
            self.a.v3(VPERMD, w, 2, 2, Opd::Reg(1), all);
        } else {
            self.a.v2(VPBROADCASTD, w, 2, Opd::Reg(1), all);
        }
        self.a.vcmp(VPCMPUD, w, 5, 1, Opd::Reg(2), 4, None);
        self.a.rr(Code::VEX_Kortestw_kr_kr, kreg(5), kreg(5));
        self.a.jump(Code::Jne_rel32_64, scattered);
        let extract = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
        for half in 0..part.lanes / 8 {
            let (mut at, mut from, mut k) = (6, 0, on);
            if half == 1 {
                self.a.rri(extract, vreg(1, Width::Y), vreg(6, Width::Z), 1);
                self.a.rri(extract, vreg(2, Width::Y), vreg(0, Width::Z), 1);
                if let Some(on) = on {
                    self.a.rri(Code::VEX_Kshiftrw_kr_kr_imm8, kreg(5), kreg(on), 8);
                    k = Some(5);
                }
                (at, from) = (1, 2);
            }
            self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vreg(at, Width::X));
            // The first channel may be off, and its place before the image.
            self.a.rr(Code::Movsxd_r64_rm32, Register::RAX, Register::EAX);
            let m = Mem::indexed(PTR, Register::RAX, 4, 0);
            self.a.store(STORE32, Width::Y, m, from, k.map_or(Lanes::All, Lanes::Of));
        }
        self.a.jmp(done);
        self.a.bind(scattered);
        match on {
            Some(on) => self.a.rrr(Code::VEX_Korw_kr_kr_kr, kreg(5), kreg(on), kreg(on)),
            None => {
                self.a.rrr(Code::VEX_Kxnorw_kr_kr_kr, kreg(5), kreg(5), kreg(5));
                if part.lanes == 8 {
                    self.a.rri(Code::VEX_Kshiftrw_kr_kr_imm8, kreg(5), kreg(5), 8);
                }
            }
        }
        let m = Mem::indexed(PTR, Register::None, 4, 0);
        self.a.scatter(VPSCATTERDD, w, m, 6, 0, 5);
    }
}
