//! What is done channel by channel: stores of narrow elements to scattered places, atomics.

use envisa_lower::Atomic;
use envisa_sem::atomic::AtomicOp;

use super::memory::{PTR, Way, form};
use super::*;
use crate::layout::site;
use crate::sites::gather_of;

/// The number of the channel that has its turn.
const LANE: Register = Register::R9;
/// Channels that have not had theirs.
const LEFT: Register = Register::R8D;
/// Where the channel's element is, from the site's pointer on, unscaled.
const PLACE: [Register; 2] = [Register::EDI, Register::RDI];
/// Its datum.
const DATUM: Register = Register::EDX;
/// What was there; what compare-and-exchange compares with.
const OLD: Register = Register::EAX;
/// What it becomes.
const NEW: Register = Register::R10D;

/// Arrays in the context, of a dword a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Array {
    Places,
    /// The data; later, what was there.
    First,
    Second,
}

impl Array {
    fn at(self) -> u32 {
        at::LANES + 64 * self as u32
    }

    /// All of it.
    pub fn all(self) -> Mem {
        Mem::at(CTX, self.at())
    }

    /// The element of the channel that has its turn.
    fn one(self) -> Mem {
        Mem::indexed(CTX, LANE, 4, i64::from(self.at()))
    }
}

impl Emit<'_> {
    /// Runs code for each lane of a mask (all of a part without one), the lowest first.
    fn each(
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
            e.a.rm(Code::Mov_r32_rm32, PLACE[0], Array::Places.one());
            e.a.rm(Code::Mov_r32_rm32, DATUM, Array::First.one());
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
                self.a.rr(Code::Bsr_r32_rm32, Register::R9D, LEFT);
                self.a.jump(Code::Je_rel32_64, done);
            }
            None => self.a.ri(Code::Mov_r32_imm32, Register::R9D, part.lanes as i32 - 1),
        }
        // The place may be in the register of an atomic's datum.
        self.a.rm(Code::Mov_r32_rm32, NEW, Array::First.one());
        match bytes {
            4 => self.a.mr(Code::Mov_rm32_r32, m, NEW),
            2 => self.a.mr(Code::Mov_rm16_r16, m, Register::R10W),
            _ => self.a.mr(Code::Mov_rm8_r8, m, Register::R10L),
        }
        self.a.bind(done);
    }

    /// An atomic on dwords: the lanes one after the other, those of local memory without a lock, as the threads
    /// of a group run on one host thread.
    pub(super) fn atomic(&mut self, pc: Pc, i: &Inst, a: &Atomic) -> Result<(), Why> {
        let op = if a.lsc { AtomicOp::from_lsc_subop(a.code) } else { AtomicOp::from_legacy_code(a.code) };
        let op = op.ok_or("an atomic operator that means nothing")?;
        if a.element != 4 || a.slot != 4 {
            return Err("an atomic on other elements than dwords");
        }
        if op.is_float() {
            return Err("an atomic on floats");
        }
        let s = gather_of(a);
        let form = form(self.p, &s)?;
        if !matches!(u32::from(i.channels), 1 | 8 | 16 | 32) {
            return Err("a message of few channels");
        }
        let parts = self.parts(i, 4)?;
        if parts[0].lanes == 1 {
            self.certain(pc)?;
        }
        let (entry, back) = (self.a.label(), self.a.label());
        self.key(pc, i, &s, entry)?;
        let mut ways = Vec::new();
        let mut misses = false;
        for part in &parts {
            let way = self.way(pc, i, &s, form, part, entry, &mut misses)?;
            if !form.scale.is_multiple_of(4) {
                self.aligned(pc, part, way, 4, entry);
            }
            ways.push(way);
        }
        if misses {
            let (a, b) = (5, if parts.len() > 1 { 6 } else { 5 });
            self.a.rr(Code::VEX_Kortestw_kr_kr, kreg(a), kreg(b));
            self.a.jump(Code::Jne_rel32_64, entry);
        }
        let pointer = self.site(i, site::POINTER);
        self.a.rm(Code::Mov_r64_rm64, PTR, pointer);
        for (part, way) in parts.iter().zip(&mut ways) {
            self.spread_way(part, way, 4 / form.scale.min(4));
        }
        for (part, way) in parts.iter().zip(&ways) {
            self.atomic_part(pc, part, *way, form.scale, (op, a))?;
        }
        self.a.bind(back);
        self.later.push(Later::Miss { pc, entry, back });
        Ok(())
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

    /// Places that are known by the first, as a vector; `step`: from one of a row to the next.
    fn spread_way(&mut self, part: &Part, way: &mut Way, step: u32) {
        let (Way::Same(r) | Way::Row(r, _)) = *way else { return };
        let row = matches!(way, Way::Row(..));
        let (v, w) = (6 + part.index as u8, part.width);
        let codes = SPREAD;
        let low = if r == Register::RAX { Register::EAX } else { Register::EDX };
        self.a.rr(codes[w as usize], vreg(v, w), low);
        if row {
            let ramp = self.literals(std::array::from_fn(|k| step * k as u32));
            self.a.v3(VPADDD, w, v, v, Opd::Mem(ramp), Lanes::All);
        }
        *way = Way::Any(v);
    }

    fn atomic_part(
        &mut self,
        pc: Pc,
        part: &Part,
        way: Way,
        scale: u32,
        (op, a): (AtomicOp, &Atomic),
    ) -> Result<(), Why> {
        let Way::Any(v) = way else { return Err("a way") };
        let (w, on) = (part.width, self.transfer_mask(pc, part));
        let scale = if scale == 16 {
            self.a.v2i(VPSLLD, w, v, Opd::Reg(v), 1, Lanes::All);
            8
        } else {
            scale
        };
        self.a.store(STORE32, w, Array::Places.all(), v, Lanes::All);
        let at = 4 * part.lane;
        let single = part.lanes == 1;
        for (src, to) in a.src.iter().zip([Array::First, Array::Second]) {
            let Some(src) = src else { continue };
            if single {
                let m = self.reg(*src);
                self.a.rm(Code::Mov_r32_rm32, DATUM, m);
                self.a.mr(Code::Mov_rm32_r32, to.all(), DATUM);
            } else {
                let d = self.data_in(src + at, 4 * part.lanes, 0)?;
                self.a.store(STORE32, w, to.all(), d, Lanes::All);
            }
        }
        let place = Mem::indexed(PTR, PLACE[1], scale, 0);
        let local = matches!(a.space, envisa_lower::Space::Slm);
        self.each(part, on, |e| {
            e.a.rm(Code::Mov_r32_rm32, PLACE[0], Array::Places.one());
            e.one_atomic((op, a.lsc), place, local, a.dst.is_some())
        })?;
        let Some(dst) = a.dst else { return Ok(()) };
        if single {
            self.a.rm(Code::Mov_r32_rm32, DATUM, Array::First.all());
            let m = self.reg(dst);
            self.a.mr(Code::Mov_rm32_r32, m, DATUM);
            return Ok(());
        }
        self.a.v2(VMOVDQU32, w, 0, Opd::Mem(Array::First.all()), Lanes::All);
        let k = self.load_lanes(pc, dst + at, on);
        self.store_part(dst + at, 0, 4, part, k)
    }

    /// Reads, changes and writes the dword at a place; what was there goes to the first array.
    fn one_atomic(
        &mut self,
        (op, lsc): (AtomicOp, bool),
        place: Mem,
        local: bool,
        keeps: bool,
    ) -> Result<(), Why> {
        use AtomicOp as A;
        let first = |e: &mut Self| e.a.rm(Code::Mov_r32_rm32, DATUM, Array::First.one());
        match op {
            A::Add | A::Sub | A::Inc | A::Dec => {
                match op {
                    A::Inc => self.a.ri(Code::Mov_r32_imm32, DATUM, 1),
                    A::Dec => self.a.ri(Code::Mov_r32_imm32, DATUM, -1),
                    _ => first(self),
                }
                if op == A::Sub {
                    self.a.r(Code::Neg_rm32, DATUM);
                }
                match (local, keeps) {
                    (_, false) => self.locked(Code::Add_rm32_r32, place, DATUM, !local),
                    (true, true) => {
                        self.a.rm(Code::Mov_r32_rm32, OLD, place);
                        self.a.rr(Code::Add_r32_rm32, DATUM, OLD);
                        self.a.mr(Code::Mov_rm32_r32, place, DATUM);
                    }
                    (false, true) => {
                        self.locked(Code::Xadd_rm32_r32, place, DATUM, true);
                        self.a.rr(Code::Mov_r32_rm32, OLD, DATUM);
                    }
                }
            }
            A::And | A::Or | A::Xor if !keeps => {
                first(self);
                let code = match op {
                    A::And => Code::And_rm32_r32,
                    A::Or => Code::Or_rm32_r32,
                    _ => Code::Xor_rm32_r32,
                };
                self.locked(code, place, DATUM, !local);
            }
            A::Xchg => {
                first(self);
                self.a.mr(Code::Xchg_rm32_r32, place, DATUM);
                self.a.rr(Code::Mov_r32_rm32, OLD, DATUM);
            }
            A::Load => self.a.rm(Code::Mov_r32_rm32, OLD, place),
            A::CmpXchg => {
                // The order of the operands differs by message.
                let (compare, new) =
                    if lsc { (Array::First, Array::Second) } else { (Array::Second, Array::First) };
                self.a.rm(Code::Mov_r32_rm32, OLD, compare.one());
                self.a.rm(Code::Mov_r32_rm32, NEW, new.one());
                self.locked(Code::Cmpxchg_rm32_r32, place, NEW, !local);
            }
            A::And | A::Or | A::Xor | A::Umin | A::Umax | A::Imin | A::Imax => {
                first(self);
                self.a.rm(Code::Mov_r32_rm32, OLD, place);
                let again = self.a.label();
                self.a.bind(again);
                self.changed(op);
                self.locked(Code::Cmpxchg_rm32_r32, place, NEW, !local);
                self.a.jump(Code::Jne_rel32_64, again);
            }
            _ => return Err("a rare atomic"),
        }
        if keeps {
            self.a.mr(Code::Mov_rm32_r32, Array::First.one(), OLD);
        }
        Ok(())
    }

    /// `NEW = op(OLD, DATUM)`.
    fn changed(&mut self, op: AtomicOp) {
        use AtomicOp as A;
        self.a.rr(Code::Mov_r32_rm32, NEW, DATUM);
        let take = match op {
            A::And => return self.a.rr(Code::And_r32_rm32, NEW, OLD),
            A::Or => return self.a.rr(Code::Or_r32_rm32, NEW, OLD),
            A::Xor => return self.a.rr(Code::Xor_r32_rm32, NEW, OLD),
            A::Umin => Code::Cmovb_r32_rm32,
            A::Umax => Code::Cmova_r32_rm32,
            A::Imin => Code::Cmovl_r32_rm32,
            _ => Code::Cmovg_r32_rm32,
        };
        self.a.rr(Code::Cmp_r32_rm32, OLD, DATUM);
        self.a.rr(take, NEW, OLD);
    }

    fn locked(&mut self, code: Code, m: Mem, r: Register, lock: bool) {
        let i = iced_x86::Instruction::with2(code, m.operand(false), r).map(|mut i| {
            i.set_has_lock_prefix(lock);
            i
        });
        self.a.push(i);
    }
}
