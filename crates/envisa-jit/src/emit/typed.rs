//! Texels that messages name by numbers: read, and written.

use super::image::{INSIDE, TEXELS};
use super::memory::PTR;
use super::*;
use crate::context_layout::site;
use crate::image_variants::{Source, Stored, is_zero, number};
use envisa_lower::{Coordinates, Outside, Typed};
use envisa_machine::memory::ImageShape;

/// Coordinates that an image has: which, and which of its sizes they are held against.
fn image_coordinates(shape: ImageShape) -> &'static [(usize, u32)] {
    match shape {
        ImageShape::D1 => &[(0, 0)],
        ImageShape::D1Array => &[(0, 0), (1, 2)],
        ImageShape::D2 => &[(0, 0), (1, 1)],
        ImageShape::D2Array | ImageShape::D3 | ImageShape::Cube => &[(0, 0), (1, 1), (2, 2)],
    }
}

impl Emit<'_> {
    /// Texels are read or written.
    pub(super) fn typed(&mut self, pc: Pc, i: &Inst, t: &Typed) -> Result<(), Unsupported> {
        let Some(Kind::Stored(stored)) = self.kind(i) else { return Err("an image of a rare kind") };
        let (Some(data), 8 | 16) = (t.data, i.channels) else { return Err("a message of few channels") };
        let c = &t.coordinates;
        if !is_zero(self.p, &c.offsets) || c.bytes != 4 || c.at[3].is_some() || t.null_mask {
            return Err("coordinates of a rare kind");
        }
        let parts = self.parts(i, 4)?;
        let part = &parts[0];
        let (entry, back) = (self.a.label(), self.a.label());
        self.of_kind(i, Kind::Stored(stored), entry);
        let on = self.on(pc, part)?;
        if let Some(on) = on {
            self.a.kk(Code::VEX_Kortestw_kr_kr, on, on);
            self.a.jump(Code::Je_rel32_64, back);
        }
        if t.write {
            self.write_texels(i, (t, data, stored), part, on, (entry, back))?;
        } else {
            self.read_texels(pc, i, (t, data, stored), part, on)?;
        }
        self.a.bind(back);
        self.later.push(Later::Miss { pc, entry, back });
        Ok(())
    }

    /// Offsets of the texels at coordinates, in `offset`; those that are inside, in the first of [`INSIDE`].
    fn texel_places(
        &mut self,
        i: &Inst,
        stored: Stored,
        c: &Coordinates,
        part: &Part,
        [offset, t]: [V; 2],
    ) -> Result<(), Unsupported> {
        let (w, all) = (part.width, Lanes::All);
        let k = INSIDE[0];
        self.all_of(part, k);
        self.a.v3(VPXORD, w, offset, offset, Opd::Reg(offset), all);
        for &(n, size) in image_coordinates(stored.shape) {
            let Some(at) = c.at[n] else { continue };
            let x = self.dwords_of(at, part, t)?;
            let count = Opd::Bcast(self.of_second(i, number::COUNT + 4 * size));
            self.a.vcmp(VPCMPUD, w, k, x, count, 1, Some(k));
            self.copy_reg(t, x, w);
            if size == 0 {
                self.times_texel(stored.texel, w, t);
            } else {
                let pitch = Opd::Bcast(self.of_second(i, number::PITCH + 4 * (size - 1)));
                self.a.v3(VPMULLD, w, t, t, pitch, all);
            }
            self.a.v3(VPADDD, w, offset, offset, Opd::Reg(t), all);
        }
        Ok(())
    }

    fn read_texels(
        &mut self,
        pc: Pc,
        i: &Inst,
        (m, data, stored): (&Typed, RegOffset, Stored),
        part: &Part,
        on: Option<K>,
    ) -> Result<(), Unsupported> {
        let (w, texel) = (part.width, stored.texel);
        self.texel_places(i, stored, &m.coordinates, part, [6, 0])?;
        let pointer = self.site(i, site::POINTER);
        self.a.rm(Code::Mov_r64_rm64, PTR, pointer);
        let outside = match m.outside {
            Outside::Zero => false,
            Outside::AlphaOne => true,
            Outside::Border => texel.0.border()[3] != 0,
        };
        let mut to = data + 4 * part.lane;
        for channel in (0..4).filter(|c| m.channels >> c & 1 != 0) {
            let outside = outside && channel == 3;
            let source = match (texel.source(channel), outside) {
                (Source::One | Source::Inside, true) => Source::One,
                (Source::One, false) => Source::Inside,
                (source, _) => source,
            };
            let inside = mask_register(INSIDE[0]);
            self.a.rrr(Code::VEX_Korw_kr_kr_kr, mask_register(TEXELS), inside, inside);
            self.texel_channel(i, texel, source, w, 6, [0, 1, 2]);
            if outside && source != Source::One {
                let one = self.literal(texel.one());
                self.a.rr(Code::VEX_Knotw_kr_kr, mask_register(TEXELS), inside);
                self.a.v2(VPBROADCASTD, w, 0, Opd::Mem(one), Lanes::Of(TEXELS));
            }
            let k = self.load_lanes(pc, to, on);
            self.store_part(to, 0, 4, part, k)?;
            to += m.component_stride;
        }
        Ok(())
    }

    fn write_texels(
        &mut self,
        i: &Inst,
        (m, data, stored): (&Typed, RegOffset, Stored),
        part: &Part,
        on: Option<K>,
        (entry, back): (Label, Label),
    ) -> Result<(), Unsupported> {
        let (w, texel) = (part.width, stored.texel);
        self.texel_places(i, stored, &m.coordinates, part, [6, 7])?;
        // What is outside is the machine's to tell.
        let run = match on {
            Some(on) => on,
            None => {
                self.all_of(part, TEXELS);
                TEXELS
            }
        };
        self.a.kkk(Code::VEX_Kandnw_kr_kr_kr, TEXELS, INSIDE[0], run);
        self.a.kk(Code::VEX_Kortestw_kr_kr, TEXELS, TEXELS);
        self.a.jump(Code::Jne_rel32_64, entry);
        let pointer = self.site(i, site::POINTER);
        self.a.rm(Code::Mov_r64_rm64, PTR, pointer);
        // Elements by where they are: channel, first bit, bits.
        let order = texel.0.order().stored();
        let n = 8 * texel.bytes() / order.len() as u32;
        let elements: Vec<(u32, u32, u32)> = match texel.0.is_packed() {
            true => (0..4).filter_map(|c| texel.0.bits(c as u8).map(|(low, n)| (c, low, n))).collect(),
            false => order.iter().zip(0..).map(|(c, k)| (u32::from(*c), k * n, n)).collect(),
        };
        // Bytes that are written at a time.
        let unit = match texel.bytes() {
            bytes if bytes.is_multiple_of(4) => 4,
            bytes if texel.0.is_packed() => bytes,
            _ => n / 8,
        };
        for first in (0..texel.bytes()).step_by(unit as usize) {
            self.a.v3(VPXORD, w, 0, 0, Opd::Reg(0), Lanes::All);
            for &(channel, low, n) in elements.iter().filter(|e| e.1 / (8 * unit) == first / unit) {
                // Padding is zero.
                if channel > 3 {
                    continue;
                }
                let before = (u32::from(m.channels) & ((1 << channel) - 1)).count_ones();
                let x = self.dwords_of(data + before * m.component_stride + 4 * part.lane, part, 1)?;
                self.encode(texel.0.channel_type(), w, n, x, [2, 3]);
                let shift = low % (8 * unit);
                if shift != 0 {
                    self.a.v2i(VPSLLD, w, 2, Opd::Reg(2), shift, Lanes::All);
                }
                self.a.v3(VPORD, w, 0, 0, Opd::Reg(2), Lanes::All);
            }
            if texel.bytes() == 4 {
                self.put_texels(part, on, back);
            } else if unit == 4 {
                self.put_dwords(part, on, (1, first));
            } else {
                self.scatter_narrow(part, (6, 1, first), (0, unit), on)?;
            }
        }
        Ok(())
    }

    /// Stores dwords in vector 0 at the offsets in vector 6.
    fn put_dwords(&mut self, part: &Part, on: Option<K>, (scale, disp): (u32, u32)) {
        match on {
            Some(on) => self.a.kkk(Code::VEX_Korw_kr_kr_kr, 5, on, on),
            None => self.all_of(part, 5),
        }
        let m = Mem::indexed(PTR, Register::None, scale, i64::from(disp));
        self.a.scatter(VPSCATTERDD, part.width, m, 6, 0, 5);
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
        self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 5);
        self.a.jump(Code::Jne_rel32_64, scattered);
        let extract = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
        for half in 0..part.lanes / 8 {
            let (mut at, mut from, mut k) = (6, 0, on);
            if half == 1 {
                self.a.rri(extract, vector_register(1, Width::Y), vector_register(6, Width::Z), 1);
                self.a.rri(extract, vector_register(2, Width::Y), vector_register(0, Width::Z), 1);
                if let Some(on) = on {
                    self.a.rri(Code::VEX_Kshiftrw_kr_kr_imm8, mask_register(5), mask_register(on), 8);
                    k = Some(5);
                }
                (at, from) = (1, 2);
            }
            self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vector_register(at, Width::X));
            // The first channel may be off, and its place before the image.
            self.a.rr(Code::Movsxd_r64_rm32, Register::RAX, Register::EAX);
            let m = Mem::indexed(PTR, Register::RAX, 4, 0);
            self.a.store(STORE32, Width::Y, m, from, k.map_or(Lanes::All, Lanes::Of));
        }
        self.a.jmp(done);
        self.a.bind(scattered);
        self.put_dwords(part, on, (4, 0));
    }
}
