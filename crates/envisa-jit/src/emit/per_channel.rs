//! What is done channel by channel: stores of narrow elements to scattered places, and what atomics need.

use super::memory::{PTR, Way};
use super::*;

/// The number of the channel that has its turn.
const LANE: Register = Register::R9;
/// Channels that have not had theirs.
const LEFT: Register = Register::R8D;
/// Where the channel's element is, from the site's pointer on, unscaled.
pub(super) const PLACE: [Register; 2] = [Register::EDI, Register::RDI];
/// Its datum.
const DATUM: Register = Register::EDX;
/// What is stored.
const NEW: Register = Register::R10D;

/// What is picked out of a vector.
const PICKED: V = 4;

/// Arrays in the context: places, of a dword a lane, and data, of a dword or a quad; the second half's dwords are behind
/// the first one's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Array {
    Places,
    /// The data; later, what was there.
    First,
    Second,
}

impl Array {
    fn at(self) -> u32 {
        at::LANES
            + match self {
                Array::Places => 0,
                Array::First => 128,
                Array::Second => 256,
            }
    }

    /// All of it.
    pub fn all(self) -> Mem {
        Mem::at(CTX, self.at())
    }

    /// The dwords of a half's lanes.
    pub fn half(self, part: &Part) -> Mem {
        Mem::at(CTX, self.at() + 4 * part.lane)
    }

    /// The element, of so many bytes, of the channel that has its turn.
    pub fn one(self, bytes: u32) -> Mem {
        Mem::indexed(CTX, LANE, bytes, i64::from(self.at()))
    }
}

impl Emit<'_> {
    /// Stores a vector whose lanes are then read one by one: not in one piece if it has 64 bytes, as the CPU gives no load
    /// what is in the upper half of such a store before that has gone out to the cache.
    pub(super) fn lay_out(&mut self, w: Width, m: Mem, v: V) {
        if w != Width::Z || self.level == Level::Avx2 {
            return self.a.store(STORE32, w, m, v, Lanes::All);
        }
        self.a.store(STORE32, Width::Y, m, v, Lanes::All);
        let extract = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
        let m = m.plus(32).operand(false);
        self.a.push(iced_x86::Instruction::with3(extract, m, vector_register(v, w), 1));
    }

    /// Runs code for each lane of a mask (all of a part without one), the lowest first.
    pub(super) fn each(
        &mut self,
        part: &Part,
        on: Option<K>,
        body: impl FnOnce(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let (again, done) = (self.a.label(), self.a.label());
        match on {
            Some(k) => {
                self.a.rr(Code::VEX_Kmovw_r32_kr, LEFT, mask_register(k));
                self.a.rr(Code::Test_rm32_r32, LEFT, LEFT);
                self.a.jump(Code::Je_rel32_64, done);
            }
            None => self.a.ri(Code::Mov_r32_imm32, LEFT, (1 << part.lanes) - 1),
        }
        self.turns_of_lanes(again, body)?;
        self.a.bind(done);
        Ok(())
    }

    /// The same of both halves of 32 channels: how many lanes there are is not known to the CPU, which takes longer to find
    /// itself mistaken at the end than what is done for one.
    pub(super) fn each_of_both(
        &mut self,
        on: [Option<K>; 2],
        body: impl FnOnce(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let (again, done) = (self.a.label(), self.a.label());
        match on {
            [None, None] => self.a.ri(Code::Mov_r32_imm32, LEFT, -1),
            _ => {
                let [low, high] = on.map(|k| {
                    k.unwrap_or_else(|| {
                        self.a.kkk(Code::VEX_Kxnorw_kr_kr_kr, 0, 0, 0);
                        0
                    })
                });
                self.a.kkk(Code::VEX_Kunpckwd_kr_kr_kr, 0, high, low);
                self.a.rr(Code::VEX_Kmovd_r32_kr, LEFT, mask_register(0));
                self.a.rr(Code::Test_rm32_r32, LEFT, LEFT);
                self.a.jump(Code::Je_rel32_64, done);
            }
        }
        self.turns_of_lanes(again, body)?;
        self.a.bind(done);
        Ok(())
    }

    fn turns_of_lanes(
        &mut self,
        again: Label,
        body: impl FnOnce(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        self.a.bind(again);
        self.a.rr(Code::Tzcnt_r32_rm32, Register::R9D, LEFT);
        body(self)?;
        self.a.rr(Code::VEX_Blsr_r32_rm32, LEFT, LEFT);
        self.a.jump(Code::Jne_rel32_64, again);
        Ok(())
    }

    /// The dword of the lane that has its turn, of so many parts, for [`Self::collected`]. A vector that is read where its
    /// lanes were stored waits until these, and all stores before them, have gone out to the caches: it is put together in
    /// a register, where that takes little.
    pub(super) fn collect(&mut self, parts: &[Part], r: Register) {
        if self.level == Level::Avx2 {
            self.a.mr(Code::Mov_rm32_r32, Array::First.one(4), r);
            return;
        }
        self.a.rr(Code::VEX_Blsi_r32_rm32, Register::ESI, LEFT);
        let to_mask = if parts.len() == 1 { Code::VEX_Kmovw_kr_r32 } else { Code::VEX_Kmovd_kr_r32 };
        self.a.rr(to_mask, mask_register(5), Register::ESI);
        for part in parts {
            if part.lane != 0 && parts.len() > 1 {
                self.a.rri(Code::VEX_Kshiftrd_kr_kr_imm8, mask_register(5), mask_register(5), 16);
            }
            self.a.put_lane(part.width, Self::collected_in(parts, part), r, 5);
        }
    }

    /// The vector that a part's dwords are collected in.
    pub(super) fn collected_in(parts: &[Part], part: &Part) -> V {
        if parts.len() > 1 { part.index as V } else { 0 }
    }

    /// What [`Self::collect`] was given for a part, in its vector.
    pub(super) fn collected(&mut self, parts: &[Part], part: &Part) -> V {
        let v = Self::collected_in(parts, part);
        if self.level == Level::Avx2 {
            let from = if parts.len() > 1 { Array::First.half(part) } else { Array::First.all() };
            self.a.v2(VMOVDQU32, part.width, v, Opd::Mem(from), Lanes::All);
        }
        v
    }

    /// Stores bytes or words of a vector to scattered places.
    pub(super) fn scatter_narrow(
        &mut self,
        part: &Part,
        (index, scale, disp): (V, u32, u32),
        (data, bytes): (V, u32),
        on: Option<K>,
    ) -> Result<(), Unsupported> {
        self.lay_out(part.width, Array::Places.all(), index);
        self.lay_out(part.width, Array::First.all(), data);
        self.each(part, on, |e| {
            e.narrow_one(scale, disp, bytes);
            Ok(())
        })
    }

    /// The same of both halves of 32 channels, at once.
    pub(super) fn scatter_narrow_both(
        &mut self,
        parts: &[Part; 2],
        (index, scale): ([V; 2], u32),
        (data, bytes): (RegOffset, u32),
        on: [Option<K>; 2],
    ) -> Result<(), Unsupported> {
        for (part, v) in parts.iter().zip(index) {
            self.lay_out(part.width, Array::Places.half(part), v);
            let d = self.data_in(data + 4 * part.lane, 64, 0)?;
            self.lay_out(part.width, Array::First.half(part), d);
        }
        self.each_of_both(on, |e| {
            e.narrow_one(scale, 0, bytes);
            Ok(())
        })
    }

    /// Stores the byte or word of the lane that has its turn.
    fn narrow_one(&mut self, scale: u32, disp: u32, bytes: u32) {
        self.a.rm(Code::Mov_r32_rm32, PLACE[0], Array::Places.one(4));
        self.a.rm(Code::Mov_r32_rm32, DATUM, Array::First.one(4));
        let m = Mem::indexed(PTR, PLACE[1], scale, i64::from(disp));
        if bytes == 2 {
            self.a.mr(Code::Mov_rm16_r16, m, Register::DX);
        } else {
            self.a.mr(Code::Mov_rm8_r8, m, Register::DL);
        }
    }

    /// Stores the element of the highest lane that is on, if any is.
    pub(super) fn store_highest(&mut self, part: &Part, m: Mem, (v, bytes): (V, u32), on: Option<K>) {
        // A load out of the upper half of 64 bytes would wait for their store.
        let picked = self.level == Level::Avx512;
        if !picked {
            self.a.store(STORE32, part.width, Array::First.all(), v, Lanes::All);
        }
        let done = self.a.label();
        match on {
            Some(k) => {
                self.a.rr(Code::VEX_Kmovw_r32_kr, LEFT, mask_register(k));
                if bytes == 8 {
                    self.a.rr(Code::Movzx_r32_rm8, LEFT, Register::R8L);
                }
                self.a.rr(Code::Bsr_r32_rm32, Register::R9D, LEFT);
                self.a.jump(Code::Je_rel32_64, done);
            }
            None => self.a.ri(Code::Mov_r32_imm32, Register::R9D, part.lanes as i32 - 1),
        }
        // The place may be in the register of an atomic's datum.
        if picked {
            let (x, z) = (vector_register(PICKED, Width::X), vector_register(PICKED, Width::Z));
            let [spread, pick] = match bytes {
                8 => [Code::EVEX_Vpbroadcastq_zmm_k1z_r64, Code::EVEX_Vpermq_zmm_k1z_zmm_zmmm512b64],
                _ => [Code::EVEX_Vpbroadcastd_zmm_k1z_r32, Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32],
            };
            self.a.rr(spread, z, if bytes == 8 { Register::R9 } else { Register::R9D });
            self.a.rrr(pick, z, z, vector_register(v, Width::Z));
            match bytes {
                8 => self.a.rr(Code::EVEX_Vmovq_rm64_xmm, Register::R10, x),
                _ => self.a.rr(Code::EVEX_Vmovd_rm32_xmm, NEW, x),
            }
        } else if bytes == 8 {
            self.a.rm(Code::Mov_r64_rm64, Register::R10, Array::First.one(8));
        } else {
            self.a.rm(Code::Mov_r32_rm32, NEW, Array::First.one(4));
        }
        match bytes {
            8 => self.a.mr(Code::Mov_rm64_r64, m, Register::R10),
            4 => self.a.mr(Code::Mov_rm32_r32, m, NEW),
            2 => self.a.mr(Code::Mov_rm16_r16, m, Register::R10W),
            _ => self.a.mr(Code::Mov_rm8_r8, m, Register::R10L),
        }
        self.a.bind(done);
    }

    /// Lanes whose places are no multiples of `align`, a power of two, go the slow way, which faults.
    pub(super) fn aligned(&mut self, pc: Pc, part: &Part, way: Way, align: u32, entry: Label) {
        match way {
            Way::Same(r) | Way::Row(r, _) | Way::Words(r, _) => {
                self.a.ri(Code::Test_rm64_imm32, r, align as i32 - 1);
                self.a.jump(Code::Jne_rel32_64, entry);
            }
            Way::Any(v) => {
                let (w, low) = (part.width, self.literal(align - 1));
                let (on, k) = (self.transfer_mask(pc, part), 5 + part.index as u8);
                self.a.v3(VPANDD, w, 0, v, Opd::Bcast(low), Lanes::All);
                self.a.v3(VPXORD, w, 1, 1, Opd::Reg(1), Lanes::All);
                self.a.vcmp(VPCMPUD, w, 0, 0, Opd::Reg(1), 4, on);
                self.a.kkk(Code::VEX_Korw_kr_kr_kr, k, k, 0);
            }
        }
    }
}
