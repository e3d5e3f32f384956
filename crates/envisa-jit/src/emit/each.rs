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

/// Arrays in the context: places, of a dword a lane, and data, of a dword or a quad.
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
                Array::First => 64,
                Array::Second => 64 + 128,
            }
    }

    /// All of it.
    pub fn all(self) -> Mem {
        Mem::at(CTX, self.at())
    }

    /// The element, of so many bytes, of the channel that has its turn.
    pub fn one(self, bytes: u32) -> Mem {
        Mem::indexed(CTX, LANE, bytes, i64::from(self.at()))
    }
}

impl Emit<'_> {
    /// Runs code for each lane of a mask (all of a part without one), the lowest first.
    pub(super) fn each(
        &mut self,
        part: &Part,
        on: Option<K>,
        body: impl FnOnce(&mut Self) -> Result<(), Why>,
    ) -> Result<(), Why> {
        let (again, done) = (self.a.label(), self.a.label());
        match on {
            Some(k) => {
                self.a.rr(Code::VEX_Kmovw_r32_kr, LEFT, kreg(k));
                self.a.rr(Code::Test_rm32_r32, LEFT, LEFT);
                self.a.jump(Code::Je_rel32_64, done);
            }
            None => self.a.ri(Code::Mov_r32_imm32, LEFT, (1 << part.lanes) - 1),
        }
        self.a.bind(again);
        self.a.rr(Code::Tzcnt_r32_rm32, Register::R9D, LEFT);
        body(self)?;
        self.a.rr(Code::VEX_Blsr_r32_rm32, LEFT, LEFT);
        self.a.jump(Code::Jne_rel32_64, again);
        self.a.bind(done);
        Ok(())
    }

    /// The dword of the lane that has its turn, for [`Self::collected`]. A vector that is read where its lanes were
    /// stored waits until these, and all stores before them, have gone out to the caches: it is put together in a
    /// register, where that takes little.
    pub(super) fn collect(&mut self, part: &Part, r: Register) {
        if self.level == Level::Avx2 {
            self.a.mr(Code::Mov_rm32_r32, Array::First.one(4), r);
            return;
        }
        self.a.rr(Code::VEX_Blsi_r32_rm32, Register::ESI, LEFT);
        self.a.rr(Code::VEX_Kmovw_kr_r32, kreg(5), Register::ESI);
        self.a.put_lane(part.width, 0, r, 5);
    }

    /// What [`Self::collect`] was given, in the first vector.
    pub(super) fn collected(&mut self, part: &Part) {
        if self.level == Level::Avx2 {
            self.a.v2(VMOVDQU32, part.width, 0, Opd::Mem(Array::First.all()), Lanes::All);
        }
    }

    /// Stores bytes or words of a vector to scattered places.
    pub(super) fn scatter_narrow(
        &mut self,
        part: &Part,
        (index, scale, disp): (V, u32, u32),
        (data, bytes): (V, u32),
        on: Option<K>,
    ) -> Result<(), Why> {
        self.a.store(STORE32, part.width, Array::Places.all(), index, Lanes::All);
        self.a.store(STORE32, part.width, Array::First.all(), data, Lanes::All);
        self.each(part, on, |e| {
            e.a.rm(Code::Mov_r32_rm32, PLACE[0], Array::Places.one(4));
            e.a.rm(Code::Mov_r32_rm32, DATUM, Array::First.one(4));
            let m = Mem::indexed(PTR, PLACE[1], scale, i64::from(disp));
            if bytes == 2 {
                e.a.mr(Code::Mov_rm16_r16, m, Register::DX);
            } else {
                e.a.mr(Code::Mov_rm8_r8, m, Register::DL);
            }
            Ok(())
        })
    }

    /// Stores the element of the highest lane that is on, if any is.
    pub(super) fn store_highest(&mut self, part: &Part, m: Mem, (v, bytes): (V, u32), on: Option<K>) {
        self.a.store(STORE32, part.width, Array::First.all(), v, Lanes::All);
        let done = self.a.label();
        match on {
            Some(k) => {
                self.a.rr(Code::VEX_Kmovw_r32_kr, LEFT, kreg(k));
                if bytes == 8 {
                    self.a.rr(Code::Movzx_r32_rm8, LEFT, Register::R8L);
                }
                self.a.rr(Code::Bsr_r32_rm32, Register::R9D, LEFT);
                self.a.jump(Code::Je_rel32_64, done);
            }
            None => self.a.ri(Code::Mov_r32_imm32, Register::R9D, part.lanes as i32 - 1),
        }
        // The place may be in the register of an atomic's datum.
        if bytes == 8 {
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
                self.a.rrr(Code::VEX_Korw_kr_kr_kr, kreg(k), kreg(k), kreg(0));
            }
        }
    }
}
