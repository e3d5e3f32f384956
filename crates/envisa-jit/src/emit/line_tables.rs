//! Dwords that all lie in 64 bytes, as those of small tables do, and of rows whose ends are clamped: the bytes are loaded at
//! once, and the dwords picked out of them.

use super::memory::{Form, PTR};
use super::*;
use crate::context_layout::site;
use envisa_lower::Simt;

impl Emit<'_> {
    /// Goes to `other` unless the window that begins at the index in EAX is inside, up to the index `last` of it.
    fn window_inside(&mut self, i: &Inst, last: u32, other: Label) {
        let count = self.site(i, site::COUNT);
        self.a.rm(Code::Cmp_r32_rm32, Register::EAX, count);
        self.a.jump(Code::Jae_rel32_64, other);
        // Below the count, the sum does not wrap around.
        self.a.rr(Code::Mov_r32_rm32, Register::ESI, Register::EAX);
        self.a.ri(Code::Add_rm32_imm32, Register::ESI, last as i32);
        self.a.rm(Code::Cmp_r32_rm32, Register::ESI, count);
        self.a.jump(Code::Jae_rel32_64, other);
    }

    /// Goes to `other` unless the indices in vector 1, counted from a window's start, have no bits but those of `last`.
    fn all_in_window(&mut self, last: u32, on: Option<K>, other: Label) {
        let outside = self.literal(!last);
        self.a.v3(VPANDD, Width::Z, 2, 1, Opd::Bcast(outside), Lanes::All);
        self.a.v3(VPXORD, Width::Z, 3, 3, Opd::Reg(3), Lanes::All);
        self.a.vcmp(VPCMPUD, Width::Z, 5, 2, Opd::Reg(3), 4, on);
        self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 5);
        self.a.jump(Code::Jne_rel32_64, other);
    }

    /// Pairs that all lie in one window of 64 bytes, as those of small tables do, are picked out of it; goes to `other`
    /// where they do not, or the window is not all inside.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn move_from_table(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        part: &Part,
        v: V,
        data: RegOffset,
        on: Option<K>,
        other: Label,
    ) -> Result<(), Unsupported> {
        // Windows begin at multiples of their size, and the last pair's index is among those that pass.
        let (window, last) = (64 / form.scale, 56 / form.scale);
        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vector_register(v, Width::X));
        self.a.ri(Code::And_rm32_imm32, Register::EAX, -(window as i32));
        self.window_inside(i, last, other);
        self.a.rr(Code::EVEX_Vpbroadcastd_zmm_k1z_r32, vector_register(1, Width::Z), Register::EAX);
        self.a.v3(VPSUBD, Width::Z, 1, v, Opd::Reg(1), Lanes::All);
        self.all_in_window(last, on, other);
        let m = Mem::indexed(PTR, Register::RAX, form.scale, 0);
        self.a.v2(VMOVDQU32, Width::Z, 0, Opd::Mem(m), Lanes::All);
        match form.scale.trailing_zeros() {
            shift @ (0 | 1) => self.a.v2i(VPSRLD, Width::Z, 1, Opd::Reg(1), 2 - shift, Lanes::All),
            3 => self.a.v2i(VPSLLD, Width::Z, 1, Opd::Reg(1), 1, Lanes::All),
            _ => {}
        }
        for c in 0..2 {
            if c == 1 {
                let one = self.literal(1);
                self.a.v3(VPADDD, Width::Z, 1, 1, Opd::Bcast(one), Lanes::All);
            }
            self.a.v3(VPERMD, Width::Z, 2, 1, Opd::Reg(0), Lanes::All);
            let to = data + c * s.component_stride + 4 * part.lane;
            let k = self.load_lanes(pc, to, on);
            self.store_part(to, 2, 4, part, k)?;
        }
        Ok(())
    }

    /// Dwords that all lie in the 64 bytes from the first channel's on, as those of a row do whose ends are clamped, are
    /// picked out of them; goes to `other` where they do not, or those bytes are not all inside.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn move_from_window(
        &mut self,
        pc: Pc,
        (i, s): (&Inst, &Simt),
        form: Form,
        part: &Part,
        v: V,
        data: RegOffset,
        on: Option<K>,
        other: Label,
    ) -> Result<(), Unsupported> {
        self.places_in_window(form.scale, v, 1, 5, on);
        self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 5);
        self.a.jump(Code::Jne_rel32_64, other);
        // The first channel may be off, and its place anywhere.
        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vector_register(v, Width::X));
        let limit = self.site(i, site::LAST16);
        self.a.rm(Code::Cmp_r32_rm32, Register::EAX, limit);
        self.a.jump(Code::Jae_rel32_64, other);
        self.take_from_window(pc, s, part, Mem::indexed(PTR, Register::RAX, form.scale, 0), 1, data, on)
    }

    /// Which dword of the 64 bytes from the first channel's on each place is, in a vector; which are none, in a mask.
    pub(super) fn places_in_window(&mut self, scale: u32, v: V, to: V, none: K, on: Option<K>) {
        self.a.v2(VPBROADCASTD, Width::Z, to, Opd::Reg(v), Lanes::All);
        self.a.v3(VPSUBD, Width::Z, to, v, Opd::Reg(to), Lanes::All);
        // To whole dwords: what is no multiple of them becomes very large.
        let shift = scale.trailing_zeros();
        if shift < 2 {
            self.a.v2i(VPRORD, Width::Z, to, Opd::Reg(to), 2 - shift, Lanes::All);
        }
        let most = self.literal(15);
        self.a.vcmp(VPCMPUD, Width::Z, none, to, Opd::Bcast(most), 6, on);
    }

    /// Loads a window, and picks the dwords that a vector names out of it.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn take_from_window(
        &mut self,
        pc: Pc,
        s: &Simt,
        part: &Part,
        m: Mem,
        which: V,
        data: RegOffset,
        on: Option<K>,
    ) -> Result<(), Unsupported> {
        self.fetch_beside(s, m);
        self.a.v2(VMOVDQU32, Width::Z, 0, Opd::Mem(m), Lanes::All);
        let to = data + 4 * part.lane;
        let k = self.load_lanes(pc, to, on);
        let dst = self.home(to, 64).filter(|_| k.is_none());
        self.a.v3(VPERMD, Width::Z, dst.unwrap_or(0), which, Opd::Reg(0), Lanes::All);
        if dst.is_some() {
            return Ok(());
        }
        self.store_part(to, 0, 4, part, k)
    }
}
