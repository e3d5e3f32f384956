//! Conversions between doubles and integers, and to and from integers of 64 bits.

use super::*;

/// 1.5 * 2^52: an integer of up to 32 bits, with or without a sign, that is added to it is in the lowest bits.
const BASE: f64 = 6_755_399_441_055_744.0;

impl Emit<'_> {
    fn real(&mut self, x: f64) -> Opd {
        self.same_quad(x.to_bits())
    }

    /// Doubles as integers of any type, towards zero, out of range the nearest, NaN 0: quads, or the lowest bits of
    /// them.
    pub(super) fn integers(&mut self, v: V, part: &Part, ty: Type, to: V) {
        let (w, all) = (part.width, Lanes::All);
        if self.level == Level::Avx512 {
            return self.integers_at_once(v, w, ty, to);
        }
        // NaN becomes zero.
        self.a.vcmp(VCMPPD, w, 5, v, Opd::Reg(v), 7, None);
        self.a.v2(VMOVDQU64, w, 5, Opd::Reg(v), Lanes::Zero(5));
        let bits = 8 * ty.size();
        let signed = ty.is_signed();
        let base = self.real(BASE);
        if bits < 64 {
            let [least, most] = match signed {
                true => [-(2f64.powi(bits as i32 - 1)), 2f64.powi(bits as i32 - 1) - 1.0],
                false => [0.0, 2f64.powi(bits as i32) - 1.0],
            };
            let [least, most] = [least, most].map(|x| self.real(x));
            self.a.v3(VMAXPD, w, 5, 5, least, all);
            self.a.v3(VMINPD, w, 5, 5, most, all);
            self.a.v2i(VRNDSCALEPD, w, 5, Opd::Reg(5), 11, all);
            self.a.v3(VADDPD, w, to, 5, base, all);
            return;
        }
        self.a.v2i(VRNDSCALEPD, w, 5, Opd::Reg(5), 11, all);
        if !signed {
            let zero = self.real(0.0);
            self.a.v3(VMAXPD, w, 5, 5, zero, all);
        }
        // Both halves are integers of 32 bits, and exact.
        let [down, up] = [2f64.powi(-32), 2f64.powi(32)].map(|x| self.real(x));
        self.a.v3(VMULPD, w, 4, 5, down, all);
        self.a.v2i(VRNDSCALEPD, w, 4, Opd::Reg(4), 9, all);
        self.a.v3(VMULPD, w, 3, 4, up, all);
        self.a.v3(VSUBPD, w, 3, 5, Opd::Reg(3), all);
        self.a.v3(VADDPD, w, 3, 3, base, all);
        self.a.v3(VADDPD, w, 4, 4, base, all);
        self.a.v2i(VPSLLQ, w, 3, Opd::Reg(3), 32, all);
        self.a.v2i(VPSRLQ, w, 3, Opd::Reg(3), 32, all);
        self.a.v2i(VPSLLQ, w, 4, Opd::Reg(4), 32, all);
        self.a.v3(VPORQ, w, 3, 3, Opd::Reg(4), all);
        let (over, most) = if signed { (63, i64::MAX as u64) } else { (64, u64::MAX) };
        let (over, most) = (self.real(2f64.powi(over)), self.same_quad(most));
        self.a.vcmp(VCMPPD, w, 5, 5, over, 0x1d, None);
        self.a.v2(VMOVDQU64, w, 3, most, Lanes::Of(5));
        if signed {
            let (under, least) = (self.real(-(2f64.powi(63))), self.same_quad(i64::MIN as u64));
            self.a.vcmp(VCMPPD, w, 5, 5, under, 0x11, None);
            self.a.v2(VMOVDQU64, w, 3, least, Lanes::Of(5));
        }
        self.copy_reg(to, 3, w);
    }

    /// The same by AVX-512's conversions: of NaN and of what is out of range they make the highest bit, or, without a sign, all bits.
    fn integers_at_once(&mut self, v: V, w: Width, ty: Type, to: V) {
        let (all, bits) = (Lanes::All, 8 * ty.size() as i32);
        let zero = self.real(0.0);
        match (bits < 64, ty.is_signed()) {
            (true, true) => {
                let [least, most] = [-(2f64.powi(bits - 1)), 2f64.powi(bits - 1) - 1.0].map(|x| self.real(x));
                // Of a number and NaN these leave what is second; its lowest bits are zeros then.
                self.a.v2(VMOVDQU64, w, 5, least, all);
                self.a.v3(VMAXPD, w, 5, 5, Opd::Reg(v), all);
                self.a.v2(VMOVDQU64, w, 4, most, all);
                self.a.v3(VMINPD, w, 5, 4, Opd::Reg(5), all);
                self.a.v2(VCVTTPD2QQ, w, to, Opd::Reg(5), all);
            }
            (true, false) => {
                let most = self.real(2f64.powi(bits) - 1.0);
                self.a.v3(VMAXPD, w, 5, v, zero, all);
                self.a.v3(VMINPD, w, 5, 5, most, all);
                self.a.v2(VCVTTPD2UQQ, w, to, Opd::Reg(5), all);
            }
            (false, true) => {
                let (over, most) = (self.real(2f64.powi(63)), self.same_quad(i64::MAX as u64));
                self.a.vcmp(VCMPPD, w, 5, v, Opd::Reg(v), 7, None);
                self.a.v2(VCVTTPD2QQ, w, 4, Opd::Reg(v), Lanes::Zero(5));
                self.a.vcmp(VCMPPD, w, 5, v, over, 0x1d, None);
                self.a.v2(VMOVDQU64, w, 4, most, Lanes::Of(5));
                self.copy_reg(to, 4, w);
            }
            (false, false) => {
                self.a.v3(VMAXPD, w, 5, v, zero, all);
                self.a.v2(VCVTTPD2UQQ, w, to, Opd::Reg(5), all);
            }
        }
    }

    /// Of AVX2's sums that do this, zero's is of a sign where they are rounded down.
    fn quads_to_doubles(&mut self, op: crate::vector_encodings::Op, w: Width, to: V, from: V) {
        if !self.sums_are_negative_zeros() {
            return self.a.v2(op, w, to, Opd::Reg(from), Lanes::All);
        }
        self.a.v3(VPXORD, w, 4, 4, Opd::Reg(4), Lanes::All);
        self.a.vcmp(VPCMPQ, w, 5, from, Opd::Reg(4), 0, None);
        self.a.v2(op, w, to, Opd::Reg(from), Lanes::All);
        self.a.v2(VMOVDQU64, w, to, Opd::Reg(4), Lanes::Of(5));
    }

    /// Quads as doubles, or as singles, rounded once.
    pub(super) fn floats(&mut self, v: V, part: &Part, signed: bool, ty: Type, to: V) {
        let (w, all) = (part.width, Lanes::All);
        let convert = if signed { VCVTQQ2PD } else { VCVTUQQ2PD };
        if ty == Type::Df {
            self.quads_to_doubles(convert, w, to, v);
            return;
        }
        // What a double cannot hold keeps, in a bit that no single has, that there was something below.
        let low = self.same_quad(0x7ff);
        let high = self.same_quad(!0x7ff);
        self.a.v3(VPANDQ, w, 3, v, low, all);
        self.a.v3(VPADDQ, w, 3, 3, low, all);
        self.a.v3(VPORQ, w, 3, 3, Opd::Reg(v), all);
        self.a.v3(VPANDQ, w, 3, 3, high, all);
        let mut size = v;
        let mut large = 1 << 53;
        if signed {
            let half = self.same_quad(1 << 53);
            self.a.v3(VPADDQ, w, 4, v, half, all);
            (size, large) = (4, 1 << 54);
        }
        let large = self.same_quad(large);
        self.a.vcmp(VPCMPUQ, w, 5, size, large, 5, None);
        self.copy_reg(5, v, w);
        self.a.v2(VMOVDQU64, w, 5, Opd::Reg(3), Lanes::Of(5));
        self.quads_to_doubles(convert, w, 5, 5);
        self.a.v2(VCVTPD2PS, w, to, Opd::Reg(5), all);
    }
}
