//! Messages to shared local memory whose accesses code notes in the observer's shadow of that memory, and which it executes
//! itself, as long as nothing has to be looked at: all places are inside of what the observer last saw the message access,
//! what is read was written in this group, and no other work-item wrote it, or read what is written, in this interval
//! ([`envisa_machine::local_shadow`]). Anything else stops there, as without a shadow. What was noted of a message before it
//! stopped is its own, and may be noted again.

use envisa_lower::{Message, Simt};
use envisa_machine::local_shadow::{BYTES, CHANNEL_BITS, MESSAGE, Part as Kept, THREAD_BITS};

use super::memory::{Form, PTR, Way, address_form, as_quads, simt_data};
use super::*;
use crate::context_layout::site;

/// The shadow.
const SHADOW: Register = Register::RSI;
/// Where a row of places begins.
const ROW: Register = Register::RAX;
/// Words of the shadow, and what is computed with them.
const WORDS: V = 0;
const TEMPORARY: V = 1;
/// The words of the accesses that are made.
const MINE: V = 5;
/// Masks.
const FIRST: K = 5;
const SECOND: K = 6;

/// A half of a message.
#[derive(Clone, Copy)]
struct Half {
    part: Part,
    /// Its places, as offsets of bytes.
    places: V,
    on: Option<K>,
    /// How many dwords each channel accesses from there on.
    dwords: u32,
    /// The places are a row.
    row: bool,
    /// Where code goes that stops.
    stop: Label,
}

impl Half {
    fn lanes(self) -> Lanes {
        self.on.map_or(Lanes::All, Lanes::Zero)
    }
}

/// Predicates of compares of numbers without a sign.
const EQUAL: u32 = 0;
const LESS: u32 = 1;
const AT_MOST: u32 = 2;
const NOT_EQUAL: u32 = 4;
const AT_LEAST: u32 = 5;

impl Emit<'_> {
    /// An instruction of which the observer is told, unless it is a message that can be noted.
    pub(super) fn stopping(&mut self, pc: Pc) -> Result<(), Unsupported> {
        self.rounds(Rounding::NearestEven);
        self.leave_tiles(pc);
        match self.attempt(RoundingControl::None, |e| e.noted_message(pc)) {
            Ok(()) => Ok(()),
            Err(_) => self.suspending(pc),
        }
    }

    /// A message that is noted.
    pub(super) fn noted_message(&mut self, pc: Pc) -> Result<(), Unsupported> {
        let noted = self.noted.ok_or("nobody notes it")?;
        let number = noted.messages.iter().position(|m| *m == pc).ok_or("it is not noted")?;
        let bits = if noted.in_step { THREAD_BITS } else { THREAD_BITS | CHANNEL_BITS };
        let i = *self.inst(pc);
        let Some(Message::Simt(s)) = self.p.messages().get(i.aux as usize) else { return Err("a message") };
        let s = &as_quads(s);
        let form = address_form(self.p, s)?;
        let data = simt_data(u32::from(i.channels), s)?;
        let dwords = u32::from(s.element) * s.elements.count_ones() / 4;
        if s.element < 4 || (form.scale, form.wide) != (1, false) {
            return Err("not dwords, or places that are no offsets");
        }
        let parts = self.parts(&i, 4)?;
        // Channels of two halves that store to one place would be taken for one.
        if parts.iter().any(|p| p.lanes < 8) || (noted.in_step && s.write && parts.len() > 1) {
            return Err("few channels, or two halves of which each is the thread's");
        }
        let (stop, back) = (self.a.label(), self.a.label());
        let earlier = Mem::at(CTX, at::EARLIER);
        self.a.mi(Code::Cmp_rm32_imm8, earlier, 0);
        self.a.jump(Code::Je_rel32_64, stop);
        let mut halves = Vec::new();
        for part in &parts {
            let places = 6 + part.index as V;
            self.find_places(s, form, part, places)?;
            let on = self.on(pc, part)?;
            let half = Half { part: *part, places, on, dwords, row: false, stop };
            self.stop_outside(&i, half);
            halves.push(half);
        }
        self.a.rm(Code::Mov_r64_rm64, SHADOW, Mem::at(CTX, at::SHADOW));
        for half in &halves {
            self.note(*half, number as u32, s.write, bits);
        }
        let pointer = self.site(&i, site::POINTER);
        self.a.rm(Code::Mov_r64_rm64, PTR, pointer);
        for half in &halves {
            let way = Way::Any(half.places);
            self.transfer(pc, &i, s, form, &half.part, (way, false), data)?;
        }
        self.a.bind(back);
        self.later.push(Later::Stop { pc, entry: stop, back });
        Ok(())
    }

    /// The machine executes an instruction of which the observer is told, and may take the thread over.
    pub(super) fn stop_at(&mut self, pc: Pc, entry: Label, back: Label) {
        self.a.bind(entry);
        self.spill_all(pc + 1);
        self.call(pc);
        self.a.jmp(back);
    }

    /// The offsets of a half's places.
    fn find_places(&mut self, s: &Simt, form: Form, part: &Part, v: V) -> Result<(), Unsupported> {
        let w = part.width;
        let mut from = self.indices(s, part)?;
        if form.before != 0 {
            self.a.v2i(VPSLLD, w, v, Opd::Reg(from), form.before, Lanes::All);
            from = v;
        }
        if let Some(at) = form.added {
            self.in_memory(at, 4)?;
            let origin = self.reg(at);
            self.a.v3(VPADDD, w, v, from, Opd::Bcast(origin), Lanes::All);
            from = v;
        }
        let plus = form.plus.ok_or("a place that is not known")?;
        if plus != 0 {
            let plus = self.literal(plus);
            self.a.v3(VPADDD, w, v, from, Opd::Bcast(plus), Lanes::All);
            from = v;
        }
        self.copy_reg(v, from, w);
        self.counting_bits(form, part, v);
        Ok(())
    }

    /// Stops if a place of a half is outside of what was last seen, or not that of a dword.
    fn stop_outside(&mut self, i: &Inst, half: Half) {
        let (w, v) = (half.part.width, half.places);
        let [low, count] = [0, 4].map(|k| self.site(i, site::WIDE + k));
        self.a.v3(VPSUBD, w, WORDS, v, Opd::Bcast(low), Lanes::All);
        self.a.vcmp(VPCMPUD, w, FIRST, WORDS, Opd::Bcast(count), AT_LEAST, half.on);
        let (three, zero) = (self.literal(3), self.literal(0));
        self.a.v3(VPANDD, w, WORDS, v, Opd::Bcast(three), Lanes::All);
        self.a.vcmp(VPCMPUD, w, SECOND, WORDS, Opd::Bcast(zero), NOT_EQUAL, half.on);
        self.go_if_any(half, [FIRST, SECOND], half.stop);
    }

    /// Notes the accesses of a half, if none has to be looked at.
    fn note(&mut self, half: Half, number: u32, write: bool, bits: u32) {
        let w = half.part.width;
        self.a.v2(VPBROADCASTD, w, MINE, Opd::Mem(Mem::at(CTX, at::FIRST_WORD)), Lanes::All);
        let channel = half.part.channel;
        let own = self
            .literals(std::array::from_fn(|n| (number << MESSAGE) + ((channel + n as u32) & CHANNEL_BITS)));
        self.a.v3(VPADDD, w, MINE, MINE, Opd::Mem(own), Lanes::All);
        let [several, apart, done] = std::array::from_fn(|_| self.a.label());
        let first = vector_register(half.places, Width::X);
        self.a.rr(Code::EVEX_Vmovd_rm32_xmm, Register::EAX, first);
        self.a.v2(VPBROADCASTD, w, WORDS, Opd::Reg(half.places), Lanes::All);
        if !write {
            self.a.vcmp(VPCMPUD, w, FIRST, WORDS, Opd::Reg(half.places), NOT_EQUAL, None);
            if let Some(on) = half.on {
                self.a.kkk(Code::VEX_Kxnorw_kr_kr_kr, MASK, MASK, MASK);
                self.a.kkk(Code::VEX_Kandnw_kr_kr_kr, SECOND, on, MASK);
                self.a.kkk(Code::VEX_Korw_kr_kr_kr, FIRST, FIRST, SECOND);
            }
            self.go_if_any(half, [FIRST; 2], several);
            self.note_one_place(half);
            self.a.jmp(done);
            self.a.bind(several);
        }
        match half.dwords {
            1 => {
                let ramp = self.literals(std::array::from_fn(|n| 4 * n as u32));
                self.a.v3(VPADDD, w, WORDS, WORDS, Opd::Mem(ramp), Lanes::All);
                self.a.vcmp(VPCMPUD, w, FIRST, WORDS, Opd::Reg(half.places), NOT_EQUAL, None);
                self.go_if_any(half, [FIRST; 2], apart);
                self.note_dwords(Half { row: true, ..half }, write, bits);
                self.a.jmp(done);
                self.a.bind(apart);
                self.note_dwords(half, write, bits);
            }
            2 => {
                self.note_dwords(half, write, bits);
                for step in [4, 4u32.wrapping_neg()] {
                    let step_by = self.literal(step);
                    self.a.v3(VPADDD, w, half.places, half.places, Opd::Bcast(step_by), Lanes::All);
                    if step == 4 {
                        self.note_dwords(half, write, bits);
                    }
                }
            }
            _ => self.a.jmp(half.stop),
        }
        self.a.bind(done);
    }

    /// Notes accesses to a dword of each place.
    fn note_dwords(&mut self, half: Half, write: bool, bits: u32) {
        if write {
            self.note_writes(half, bits);
        } else {
            self.note_reads(half, bits);
        }
    }

    /// Notes reads of dwords side by side that all channels of a half make.
    fn note_one_place(&mut self, half: Half) {
        let w = half.part.width;
        let earlier = || Opd::Bcast(Mem::at(CTX, at::EARLIER));
        let half = Half { row: true, on: Some(MASK), ..half };
        self.a.ri(Code::Mov_r32_imm32, Register::ECX, (1 << half.dwords) - 1);
        self.a.rr(Code::VEX_Kmovw_kr_r32, mask_register(MASK), Register::ECX);
        self.load_words(half, Kept::Write);
        let minus = self.literal(u32::MAX);
        self.a.v3(VPADDD, w, TEMPORARY, WORDS, Opd::Bcast(minus), Lanes::All);
        self.a.vcmp(VPCMPUD, w, FIRST, TEMPORARY, earlier(), AT_LEAST, Some(MASK));
        self.go_if_any(half, [FIRST; 2], half.stop);
        // Two of the channels are kept.
        let next = self.literal(1);
        self.a.v2(VPBROADCASTD, w, MINE, Opd::Reg(MINE), Lanes::All);
        for kept in [Kept::Read, Kept::Other] {
            self.load_words(half, kept);
            self.a.vcmp(VPCMPUD, w, FIRST, WORDS, earlier(), AT_MOST, Some(MASK));
            self.store_words(half, kept, FIRST);
            if kept == Kept::Read {
                self.a.v3(VPADDD, w, MINE, MINE, Opd::Bcast(next), Lanes::All);
            }
        }
    }

    fn note_reads(&mut self, half: Half, bits: u32) {
        let (w, on) = (half.part.width, half.on);
        let earlier = || Opd::Bcast(Mem::at(CTX, at::EARLIER));
        self.load_words(half, Kept::Write);
        // Written, and that before this interval.
        let minus = self.literal(u32::MAX);
        self.a.v3(VPADDD, w, TEMPORARY, WORDS, Opd::Bcast(minus), Lanes::All);
        self.a.vcmp(VPCMPUD, w, FIRST, TEMPORARY, earlier(), LESS, on);
        self.find_own(half, SECOND, bits, EQUAL);
        self.stop_unless_all(half);
        self.load_words(half, Kept::Read);
        self.a.vcmp(VPCMPUD, w, FIRST, WORDS, earlier(), AT_MOST, on);
        self.find_own(half, SECOND, bits, NOT_EQUAL);
        self.a.kkk(Code::VEX_Kandnw_kr_kr_kr, SECOND, FIRST, SECOND);
        let [others, done] = std::array::from_fn(|_| self.a.label());
        self.go_if_none(half, FIRST, others);
        if !half.row {
            // Of channels that read one place, one is kept; the others are seen as such.
            self.a.kkk(Code::VEX_Korw_kr_kr_kr, MASK, FIRST, FIRST);
        }
        self.store_words(half, Kept::Read, FIRST);
        if !half.row {
            self.load_words(Half { on: Some(MASK), ..half }, Kept::Read);
            self.a.vcmp(VPCMPUD, w, FIRST, WORDS, Opd::Reg(MINE), NOT_EQUAL, Some(MASK));
            self.a.kkk(Code::VEX_Korw_kr_kr_kr, SECOND, SECOND, FIRST);
        }
        self.a.bind(others);
        self.go_if_none(half, SECOND, done);
        // Somebody else has read it already: the first of those is kept.
        self.a.kkk(Code::VEX_Korw_kr_kr_kr, MASK, SECOND, SECOND);
        self.load_words(Half { on: Some(MASK), ..half }, Kept::Other);
        self.a.vcmp(VPCMPUD, w, FIRST, WORDS, earlier(), AT_MOST, Some(MASK));
        self.store_words(half, Kept::Other, FIRST);
        self.a.bind(done);
    }

    fn note_writes(&mut self, half: Half, bits: u32) {
        let (w, on) = (half.part.width, half.on);
        let earlier = || Opd::Bcast(Mem::at(CTX, at::EARLIER));
        for kept in [Kept::Write, Kept::Read] {
            self.load_words(half, kept);
            self.a.vcmp(VPCMPUD, w, FIRST, WORDS, earlier(), AT_MOST, on);
            self.find_own(half, SECOND, bits, EQUAL);
            self.stop_unless_all(half);
        }
        self.load_words(half, Kept::Other);
        self.a.vcmp(VPCMPUD, w, FIRST, WORDS, earlier(), AT_MOST, on);
        self.a.kkk(Code::VEX_Korw_kr_kr_kr, SECOND, FIRST, FIRST);
        self.stop_unless_all(half);
        match on {
            Some(on) => self.a.kkk(Code::VEX_Korw_kr_kr_kr, FIRST, on, on),
            None => self.a.kkk(Code::VEX_Kxnorw_kr_kr_kr, FIRST, FIRST, FIRST),
        }
        self.store_words(half, Kept::Write, FIRST);
        if !half.row {
            // Two channels that store to one place.
            self.load_words(half, Kept::Write);
            self.a.vcmp(VPCMPUD, w, FIRST, WORDS, Opd::Reg(MINE), NOT_EQUAL, on);
            self.go_if_any(half, [FIRST; 2], half.stop);
        }
    }

    /// Which words are of who makes the access, or not.
    fn find_own(&mut self, half: Half, k: K, bits: u32, how: u32) {
        let w = half.part.width;
        let (bits, zero) = (self.literal(bits), self.literal(0));
        self.a.v3(VPXORD, w, TEMPORARY, WORDS, Opd::Reg(MINE), Lanes::All);
        self.a.v3(VPANDD, w, TEMPORARY, TEMPORARY, Opd::Bcast(bits), Lanes::All);
        self.a.vcmp(VPCMPUD, w, k, TEMPORARY, Opd::Bcast(zero), how, half.on);
    }

    /// Stops unless all channels that are on are in one of two masks, or the other.
    fn stop_unless_all(&mut self, half: Half) {
        let on = match half.on {
            Some(on) => on,
            None => {
                self.a.kkk(Code::VEX_Kxnorw_kr_kr_kr, MASK, MASK, MASK);
                MASK
            }
        };
        self.a.kkk(Code::VEX_Korw_kr_kr_kr, FIRST, FIRST, SECOND);
        self.a.kkk(Code::VEX_Kandnw_kr_kr_kr, FIRST, FIRST, on);
        self.go_if_any(half, [FIRST; 2], half.stop);
    }

    fn test_masks(&mut self, half: Half, [a, b]: [K; 2]) {
        let test = if half.part.lanes == 8 { Code::VEX_Kortestb_kr_kr } else { Code::VEX_Kortestw_kr_kr };
        self.a.kk(test, a, b);
    }

    /// Goes to a label if a channel of a half is in one of two masks.
    fn go_if_any(&mut self, half: Half, masks: [K; 2], to: Label) {
        self.test_masks(half, masks);
        self.a.jump(Code::Jne_rel32_64, to);
    }

    /// Goes to a label if no channel of a half is in a mask.
    fn go_if_none(&mut self, half: Half, mask: K, to: Label) {
        self.test_masks(half, [mask; 2]);
        self.a.jump(Code::Je_rel32_64, to);
    }

    /// Where the words of a half are, or begin.
    fn words_at(half: Half, kept: Kept) -> Mem {
        let index = if half.row { ROW } else { Register::None };
        Mem::indexed(SHADOW, index, 1, i64::from(kept as u32 * BYTES))
    }

    /// The words of a half's places.
    fn load_words(&mut self, half: Half, kept: Kept) {
        let (w, m) = (half.part.width, Self::words_at(half, kept));
        if half.row {
            return self.a.v2(VMOVDQU32, w, WORDS, Opd::Mem(m), half.lanes());
        }
        self.a.v3(VPXORD, w, WORDS, WORDS, Opd::Reg(WORDS), Lanes::All);
        // The mask of a gather is used up: nothing is in this one when words are loaded.
        self.lanes_of(&half.part, half.on);
        self.a.gather(VPGATHERDD, w, WORDS, m, half.places, FIRST);
    }

    /// Leaves the words of accesses by the channels of a mask, which may be used up.
    fn store_words(&mut self, half: Half, kept: Kept, k: K) {
        let (w, m) = (half.part.width, Self::words_at(half, kept));
        if half.row {
            return self.a.store(STORE32, w, m, MINE, Lanes::Of(k));
        }
        self.a.scatter(VPSCATTERDD, w, m, half.places, MINE, k);
    }
}
