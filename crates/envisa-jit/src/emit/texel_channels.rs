//! Channels of texels: from what is stored to what a message gives, and back.

use super::image::TEXELS;
use super::memory::PTR;
use super::*;
use crate::image_variants::{Source, Texel, number};
use envisa_sem::image::ChannelType;

impl Emit<'_> {
    /// All lanes of a part in a mask.
    pub(super) fn all_of(&mut self, part: &Part, k: K) {
        self.a.kkk(Code::VEX_Kxnorw_kr_kr_kr, k, k, k);
        if part.lanes == 8 {
            self.a.rri(Code::VEX_Kshiftrw_kr_kr_imm8, mask_register(k), mask_register(k), 8);
        }
    }

    /// From texels to what offsets count.
    pub(super) fn times_texel(&mut self, texel: Texel, w: Width, v: V) {
        let n = texel.bytes() / texel.unit();
        if n.is_power_of_two() {
            if n > 1 {
                self.a.v2i(VPSLLD, w, v, Opd::Reg(v), n.trailing_zeros(), Lanes::All);
            }
        } else {
            let n = self.literal(n);
            self.a.v3(VPMULLD, w, v, v, Opd::Bcast(n), Lanes::All);
        }
    }

    /// What is stored so many bytes behind the beginnings of texels at offsets, of those in [`TEXELS`], which is empty
    /// afterwards; zero elsewhere. Of texels that are no dwords what is behind them follows.
    pub(super) fn dword_at(
        &mut self,
        i: &Inst,
        texel: Texel,
        w: Width,
        byte: u32,
        offset: V,
        [v, t, u]: [V; 3],
    ) {
        let all = Lanes::All;
        self.a.v3(VPXORD, w, v, v, Opd::Reg(v), all);
        if texel.bytes().is_multiple_of(4) {
            let m = Mem::indexed(PTR, Register::None, texel.unit(), i64::from(byte));
            self.a.gather(VPGATHERDD, w, v, m, offset, TEXELS);
            return;
        }
        // The dword that the bytes are in, all of it inside of the image's memory.
        let mut from = offset;
        if byte != 0 {
            let byte = self.literal(byte);
            self.a.v3(VPADDD, w, t, offset, Opd::Bcast(byte), all);
            from = t;
        }
        let limit = Opd::Bcast(self.of_second(i, number::LIMIT));
        self.a.v3(VPMINUD, w, u, from, limit, all);
        self.a.v3(VPSUBD, w, t, from, Opd::Reg(u), all);
        self.a.v2i(VPSLLD, w, t, Opd::Reg(t), 3, all);
        let m = Mem::indexed(PTR, Register::None, 1, 0);
        self.a.gather(VPGATHERDD, w, v, m, u, TEXELS);
        self.a.v3(VPSRLVD, w, v, v, Opd::Reg(t), all);
    }

    /// A channel of the texels at offsets, of those in [`TEXELS`], which is anything afterwards; elsewhere it is what a
    /// texel of zeros has.
    pub(super) fn texel_channel(
        &mut self,
        i: &Inst,
        texel: Texel,
        source: Source,
        w: Width,
        offset: V,
        [v, t, u]: [V; 3],
    ) {
        let one = self.literal(texel.one());
        match source {
            Source::Zero => self.a.v3(VPXORD, w, v, v, Opd::Reg(v), Lanes::All),
            Source::One => self.a.v2(VPBROADCASTD, w, v, Opd::Mem(one), Lanes::All),
            Source::Inside => self.a.v2(VPBROADCASTD, w, v, Opd::Mem(one), Lanes::Zero(TEXELS)),
            Source::Bits(low, n) => {
                let (byte, low) = match texel.bytes() {
                    ..=4 => (0, low),
                    bytes if bytes.is_multiple_of(4) => (low / 32 * 4, low % 32),
                    _ => (low / 8, low % 8),
                };
                self.dword_at(i, texel, w, byte, offset, [v, t, u]);
                self.decode(texel.0.channel_type(), w, (low, n), v);
            }
        }
    }

    /// What bits of dwords stand for.
    fn decode(&mut self, ty: ChannelType, w: Width, (low, n): (u32, u32), v: V) {
        use ChannelType::*;
        let all = Lanes::All;
        let top = 32 - low - n;
        if matches!(ty, Snorm8 | Snorm16 | Sint8 | Sint16) {
            if top != 0 {
                self.a.v2i(VPSLLD, w, v, Opd::Reg(v), top, all);
            }
            self.a.v2i(VPSRAD, w, v, Opd::Reg(v), 32 - n, all);
        } else {
            if low != 0 {
                self.a.v2i(VPSRLD, w, v, Opd::Reg(v), low, all);
            }
            if top != 0 {
                let bits = self.literal((1 << n) - 1);
                self.a.v3(VPANDD, w, v, v, Opd::Bcast(bits), all);
            }
        }
        match ty {
            Sint8 | Sint16 | Sint32 | Uint8 | Uint16 | Uint32 | Float => {}
            Half => {
                self.a.store_to_reg(VPMOVDW, w, v, v);
                self.a.v2(VCVTPH2PS, w, v, Opd::Reg(v), all);
            }
            Unorm8 | Unorm16 | Unorm565 | Unorm555 | Unorm101010 | Unorm1010102 => {
                let most = self.in_all(((1 << n) - 1) as f32);
                self.a.v2(VCVTDQ2PS, w, v, Opd::Reg(v), all);
                self.a.v3(VDIVPS, w, v, v, most, all);
            }
            Snorm8 | Snorm16 => {
                let (most, least) = (self.in_all(((1 << (n - 1)) - 1) as f32), self.in_all(-1.0));
                self.a.v2(VCVTDQ2PS, w, v, Opd::Reg(v), all);
                self.a.v3(VDIVPS, w, v, v, most, all);
                self.a.v3(VMAXPS, w, v, v, least, all);
            }
        }
    }

    /// The bits, so many of them and zeros above, that are stored for a channel's `x`: in `to`. [`TEXELS`] and `t` are
    /// anything afterwards.
    pub(super) fn encode(&mut self, ty: ChannelType, w: Width, n: u32, x: V, [to, t]: [V; 2]) {
        use ChannelType::*;
        let all = Lanes::All;
        let signed = n.min(31);
        let (high, low) = ((1i32 << (signed - 1)) - 1, -1i32 << (signed - 1));
        match ty {
            Sint32 | Uint32 | Float => return self.copy_reg(to, x, w),
            Uint8 | Uint16 => {
                let most = self.literal((1 << n) - 1);
                return self.a.v3(VPMINUD, w, to, x, Opd::Bcast(most), all);
            }
            Half => {
                self.a.cvt_half(w, to, x, 0);
                return self.a.v2(VPMOVZXWD, w, to, Opd::Reg(to), all);
            }
            Sint8 | Sint16 => {
                let [high, low] = [high, low].map(|x| Opd::Bcast(self.literal(x as u32)));
                self.a.v3(VPMINSD, w, to, x, high, all);
                self.a.v3(VPMAXSD, w, to, to, low, all);
            }
            Unorm8 | Unorm16 | Unorm565 | Unorm555 | Unorm101010 | Unorm1010102 => {
                // A product is added to where a single's last place is 1: rounded to a whole number, once.
                let (zero, one, most) =
                    (self.in_all(0.0), self.in_all(1.0), self.in_all(((1 << n) - 1) as f32));
                let magic = self.literal(8_388_608f32.to_bits());
                self.a.v3(VMAXPS, w, t, x, zero, all);
                self.a.v3(VMINPS, w, t, t, one, all);
                self.a.v2(VPBROADCASTD, w, to, Opd::Mem(magic), all);
                self.a.v3(VFMADD231PS, w, to, t, most, all);
            }
            Snorm8 | Snorm16 => {
                // What is no number is zero; the least number is one below that of -1.
                let (least, one, most) = (self.in_all(-2.0), self.in_all(1.0), self.in_all(high as f32));
                let (magic, low) = (self.literal(12_582_912f32.to_bits()), self.literal(low as u32));
                self.a.vcmp(VCMPPS, w, TEXELS, x, Opd::Reg(x), 7, None);
                self.a.v2(VMOVDQU32, w, t, Opd::Reg(x), Lanes::Zero(TEXELS));
                self.a.v3(VMAXPS, w, t, t, least, all);
                self.a.v3(VMINPS, w, t, t, one, all);
                self.a.v2(VPBROADCASTD, w, to, Opd::Mem(magic), all);
                self.a.v3(VFMADD231PS, w, to, t, most, all);
                self.a.v3(VPSUBD, w, to, to, Opd::Bcast(magic), all);
                self.a.v3(VPMAXSD, w, to, to, Opd::Bcast(low), all);
            }
        }
        let bits = self.literal((1 << n) - 1);
        self.a.v3(VPANDD, w, to, to, Opd::Bcast(bits), all);
    }
}
