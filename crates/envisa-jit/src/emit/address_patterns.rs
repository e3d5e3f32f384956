//! A further look at the places of sixteen dwords that are no row at first sight: are they a row, a window of 64 bytes, two
//! rows of eight? One routine does it for all messages of a program, so that there is no copy for each.
//!
//! The places are in [`PLACES`], the data of a store in [`DATA`], the channels that run in [`RUN`], the pointer in
//! [`PTR`], and in `esi` the site's limit of windows. If it moves them, it returns with the zero flag set, what a load gave
//! in [`LOADED`], and in `eax` what the site is to remember; it leaves all but what is named here, vectors 0 and 1, mask 5
//! and `rsi` as they were.

use super::memory::{Form, PTR};
use super::*;
use crate::context_layout::site;
use envisa_lower::Simt;

const PLACES: V = 5;
const DATA: V = 4;
const LOADED: V = 0;
const RUN: K = 0;

/// What a routine is made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Look {
    scale: u32,
    /// Channels may be off.
    masked: bool,
    write: bool,
    /// What the next group will want is fetched.
    beside: bool,
}

/// What a routine looks for first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum First {
    Row,
    Window,
    Halves,
}

/// A routine.
#[derive(Debug)]
pub(crate) struct Routine {
    of: Look,
    /// Where it is entered for what it looks for first.
    entries: [Label; 3],
    /// The first of these that is used.
    first: First,
}

impl Routine {
    /// Where it is entered.
    pub fn entries(&self) -> impl Iterator<Item = Label> {
        self.entries.into_iter()
    }
}

impl Emit<'_> {
    /// Are the places of a message looked at by routines? (Code for AVX2 is made of this, and does not know what they do.)
    pub(super) fn looks_again(&self) -> bool {
        self.level == Level::Avx512
    }

    /// Calls a routine that looks for this first.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn look_again(
        &mut self,
        (i, s): (&Inst, &Simt),
        form: Form,
        part: &Part,
        v: V,
        data: RegOffset,
        on: Option<K>,
        first: First,
    ) -> Result<(), Unsupported> {
        if s.write {
            let d = self.data_in(data + 4 * part.lane, 64, DATA)?;
            if d != DATA {
                self.a.v2(VMOVDQU32, Width::Z, DATA, Opd::Reg(d), Lanes::All);
            }
        } else if first != First::Halves {
            let limit = self.site(i, site::LAST16);
            self.a.rm(Code::Mov_r32_rm32, Register::ESI, limit);
        }
        self.a.v2(VMOVDQU32, Width::Z, PLACES, Opd::Reg(v), Lanes::All);
        if let Some(on) = on {
            self.a.kkk(Code::VEX_Korw_kr_kr_kr, RUN, on, on);
        }
        let (masked, write, beside) = (on.is_some(), s.write, self.goes_beside(s));
        let of = Look { scale: form.scale, masked, write, beside };
        let entry = self.routine(of, first);
        self.a.jump(Code::Call_rel32_64, entry);
        Ok(())
    }

    /// What a routine found is where it belongs.
    pub(super) fn looked(
        &mut self,
        pc: Pc,
        s: &Simt,
        part: &Part,
        data: RegOffset,
        on: Option<K>,
        weary: Mem,
    ) -> Result<(), Unsupported> {
        self.a.mr(Code::Mov_rm32_r32, weary, Register::EAX);
        if s.write {
            return Ok(());
        }
        let to = data + 4 * part.lane;
        let k = self.load_lanes(pc, to, on);
        self.store_part(to, LOADED, 4, part, k)
    }

    /// Where a routine is entered; it is made behind the code.
    fn routine(&mut self, of: Look, first: First) -> Label {
        let at = self.routines.iter().position(|r| r.of == of).unwrap_or_else(|| {
            let entries = std::array::from_fn(|_| self.a.label());
            self.routines.push(Routine { of, entries, first });
            self.routines.len() - 1
        });
        let r = &mut self.routines[at];
        r.first = r.first.min(first);
        r.entries[first as usize]
    }

    /// Makes the routines that are called.
    pub(super) fn write_routines(&mut self) {
        for k in 0..self.routines.len() {
            let Routine { of, entries: [row, window, halves], first } = self.routines[k];
            if first <= First::Row {
                self.a.bind(row);
                self.row_again(of, if of.write { halves } else { window });
            }
            if first <= First::Window && !of.write {
                self.a.bind(window);
                self.window_again(of, halves);
            }
            self.a.bind(halves);
            self.halves_again(of);
        }
    }

    /// The channels that run, as a mask for lanes.
    fn running(&mut self, of: Look) -> Lanes {
        if !of.masked {
            return Lanes::All;
        }
        self.a.kkk(Code::VEX_Korw_kr_kr_kr, 5, RUN, RUN);
        if of.write { Lanes::Of(5) } else { Lanes::Zero(5) }
    }

    /// It was found, and the site is to remember nothing.
    fn found(&mut self) {
        self.a.rr(Code::Xor_r32_rm32, Register::EAX, Register::EAX);
        self.a.op0(Code::Retnq);
    }

    fn row_again(&mut self, of: Look, other: Label) {
        let step = 4 / of.scale;
        let ramp = self.literals(std::array::from_fn(|k| step * k as u32));
        self.a.v2(VPBROADCASTD, Width::Z, 0, Opd::Reg(PLACES), Lanes::All);
        self.a.v3(VPADDD, Width::Z, 0, 0, Opd::Mem(ramp), Lanes::All);
        self.a.vcmp(VPCMPUD, Width::Z, 5, PLACES, Opd::Reg(0), 4, None);
        self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 5);
        self.a.jump(Code::Jne_rel32_64, other);
        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vector_register(PLACES, Width::X));
        // Channels that are off were not held against the site: the first one's place may be below it.
        self.a.rr(Code::Movsxd_r64_rm32, Register::RAX, Register::EAX);
        let m = Mem::indexed(PTR, Register::RAX, of.scale, 0);
        let lanes = self.running(of);
        if of.write {
            self.a.store(STORE32, Width::Z, m, DATA, lanes);
        } else {
            self.fetch_behind(of.beside, m);
            self.a.v2(VMOVDQU32, Width::Z, LOADED, Opd::Mem(m), lanes);
        }
        self.found();
    }

    fn window_again(&mut self, of: Look, other: Label) {
        self.places_in_window(of.scale, PLACES, 1, 5, None);
        if of.masked {
            self.a.kkk(Code::VEX_Kandw_kr_kr_kr, 5, 5, RUN);
        }
        self.a.kk(Code::VEX_Kortestw_kr_kr, 5, 5);
        self.a.jump(Code::Jne_rel32_64, other);
        // The first channel may be off, and its place anywhere.
        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vector_register(PLACES, Width::X));
        self.a.rr(Code::Cmp_r32_rm32, Register::EAX, Register::ESI);
        self.a.jump(Code::Jae_rel32_64, other);
        let m = Mem::indexed(PTR, Register::RAX, of.scale, 0);
        self.fetch_behind(of.beside, m);
        self.a.v2(VMOVDQU32, Width::Z, LOADED, Opd::Mem(m), Lanes::All);
        self.a.v3(VPERMD, Width::Z, LOADED, 1, Opd::Reg(LOADED), Lanes::All);
        self.found();
    }

    fn halves_again(&mut self, of: Look) {
        let (step, not, apart) = (4 / of.scale, self.a.label(), self.a.label());
        self.two_rows(PLACES, step, not);
        let extract = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
        self.a.rri(extract, vector_register(0, Width::Y), vector_register(PLACES, Width::Z), 1);
        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, vector_register(PLACES, Width::X));
        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::ESI, vector_register(0, Width::X));
        self.a.rr(Code::Movsxd_r64_rm32, Register::RAX, Register::EAX);
        self.a.rr(Code::Movsxd_r64_rm32, Register::RSI, Register::ESI);
        if of.write {
            self.a.rri(extract, vector_register(1, Width::Y), vector_register(DATA, Width::Z), 1);
        }
        let lanes = self.running(of);
        for (v, r) in [(0, Register::RAX), (1, Register::RSI)] {
            if (v, of.masked) == (1, true) {
                self.a.rri(Code::VEX_Kshiftrw_kr_kr_imm8, mask_register(5), mask_register(RUN), 8);
            }
            let m = Mem::indexed(PTR, r, of.scale, 0);
            if of.write {
                self.a.store(STORE32, Width::Y, m, if v == 0 { DATA } else { v }, lanes);
            } else {
                self.a.v2(VMOVDQU32, Width::Y, v, Opd::Mem(m), lanes);
            }
        }
        if !of.write {
            let insert = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
            let [low, high] = [vector_register(LOADED, Width::Z), vector_register(1, Width::Y)];
            self.a.push(iced_x86::Instruction::with4(insert, low, low, high, 1));
        }
        self.a.rr(Code::Sub_r32_rm32, Register::ESI, Register::EAX);
        self.a.ri(Code::Cmp_rm32_imm32, Register::ESI, 8 * step as i32);
        // The flags stay.
        self.a.ri(Code::Mov_r32_imm32, Register::EAX, site::HALVES);
        self.a.jump(Code::Jne_rel32_64, apart);
        self.a.ri(Code::Mov_r32_imm32, Register::EAX, 0);
        self.a.bind(apart);
        self.a.rr(Code::Cmp_r32_rm32, Register::EAX, Register::EAX);
        self.a.bind(not);
        self.a.op0(Code::Retnq);
    }
}
