//! A few dwords side by side of channels that may be anywhere: each channel's are moved at once, up to sixteen bytes, and
//! sorted by elements in registers. Gathers and scatters of the elements go to each channel's place as often as there are
//! elements; and stores are those of one channel after the other, as the machine's are, where they overlap.

use envisa_lower::Simt;
use iced_x86::Instruction;

use super::memory::PTR;
use super::per_channel::Array;
use super::*;

/// The farthest that channels may be apart whose places are named by the first one's: what is behind a register lies within
/// a kilobyte.
pub(super) const APART: u32 = 64;

/// Where the channels' elements are.
#[derive(Clone, Copy)]
pub(super) enum Channels {
    /// The first channel's, and the bytes from channel to channel.
    Apart(Mem, u32),
    /// By the places that the context has, each so many bytes.
    Laid(u32),
}

/// What a register with a channel's sixteen bytes is in, and one for a quarter.
const CHANNELS: [V; 4] = [0, 1, 2, 3];
const QUARTER: V = 4;

impl Emit<'_> {
    /// Are a message's elements moved channel by channel, if channels are at a step or anywhere?
    pub(super) fn side_by_side(&self, s: &Simt, lanes: u32) -> bool {
        // What is behind fewer than four is masked away, which AVX2 takes long for. (Pairs are loaded as quads.)
        let least = if s.write { 2 } else { 3 };
        let count = if self.level == Level::Avx512 { least..=4 } else { 4..=4 };
        let elements = s.elements.count_ones();
        (s.element, s.slot, s.upper) == (4, 4, false)
            && matches!(lanes, 8 | 16)
            && s.elements == (1 << elements) - 1
            && count.contains(&elements)
    }

    /// Lays out places, each so many bytes, for [`Channels::Laid`].
    pub(super) fn lay_places(&mut self, part: &Part, v: V, scale: u32) -> Channels {
        self.lay_out(part.width, Array::Places.all(), v);
        Channels::Laid(scale)
    }

    /// Stores the elements of a part's channels, anywhere.
    pub(super) fn store_anywhere(
        &mut self,
        s: &Simt,
        part: &Part,
        (v, scale): (V, u32),
        data: RegOffset,
        on: Option<K>,
    ) -> Result<(), Unsupported> {
        let of = self.lay_places(part, v, scale);
        let Some(on) = on else { return self.store_channels(s, part, of, data, None) };
        let (some, done) = (self.a.label(), self.a.label());
        self.all_or_else(on, part.lanes, some);
        self.store_channels(s, part, of, data, None)?;
        self.a.jmp(done);
        self.a.bind(some);
        self.store_channels(s, part, of, data, Some(on))?;
        self.a.bind(done);
        Ok(())
    }

    fn channel(&mut self, of: Channels, lane: u32) -> Mem {
        match of {
            Channels::Apart(first, step) => first.plus(step * lane),
            Channels::Laid(scale) => {
                self.a.rm(Code::Mov_r32_rm32, Register::ESI, Array::Places.all().plus(4 * lane));
                Mem::indexed(PTR, Register::RSI, scale, 0)
            }
        }
    }

    /// The dwords that a channel has, of fewer than four in the fifth mask: is it needed?
    fn elements_of_channel(&mut self, count: u32) -> bool {
        let some = count < 4;
        if some {
            self.a.ri(Code::Mov_r32_imm32, Register::ESI, (1 << count) - 1);
            self.a.rr(Code::VEX_Kmovw_kr_r32, mask_register(5), Register::ESI);
        }
        some
    }

    /// Of four vectors the first elements of each quarter in one, the second ones in the next, and so on: gives these. Takes
    /// what is in the first six.
    pub(super) fn transpose(&mut self, w: Width, from: [V; 4]) -> [V; 4] {
        let [a, b, c, d] = from;
        for (op, to, x, y) in [
            (VPUNPCKLDQ, 4, a, b),
            (VPUNPCKHDQ, 5, a, b),
            (VPUNPCKLDQ, 0, c, d),
            (VPUNPCKHDQ, 1, c, d),
            (VPUNPCKLQDQ, 2, 4, 0),
            (VPUNPCKHQDQ, 3, 4, 0),
            (VPUNPCKLQDQ, 0, 5, 1),
            (VPUNPCKHQDQ, 1, 5, 1),
        ] {
            self.a.v3(op, w, to, x, Opd::Reg(y), Lanes::All);
        }
        [2, 3, 0, 1]
    }

    /// Loads the elements of a part's channels, all of whose places may be read.
    pub(super) fn load_channels(
        &mut self,
        pc: Pc,
        s: &Simt,
        part: &Part,
        of: Channels,
        data: RegOffset,
        on: Option<K>,
    ) -> Result<(), Unsupported> {
        let count = s.elements.count_ones();
        let some = self.elements_of_channel(count);
        let insert = match part.width {
            Width::Z => Code::EVEX_Vinserti32x4_zmm_k1z_zmm_xmmm128_imm8,
            _ => Code::EVEX_Vinserti32x4_ymm_k1z_ymm_xmmm128_imm8,
        };
        for q in 0..part.lanes / 4 {
            for v in CHANNELS {
                let m = self.channel(of, 4 * q + u32::from(v));
                let to = vector_register(v, part.width);
                if some {
                    let one = if q == 0 { v } else { QUARTER };
                    self.a.v2(VMOVDQU32, Width::X, one, Opd::Mem(m), Lanes::Zero(5));
                    if q != 0 {
                        self.a.push(Instruction::with4(
                            insert,
                            to,
                            to,
                            vector_register(QUARTER, Width::X),
                            q,
                        ));
                    }
                } else if q == 0 {
                    self.a.v2(VMOVDQU32, Width::X, v, Opd::Mem(m), Lanes::All);
                } else {
                    self.a.push(Instruction::with4(insert, to, to, m.operand(false), q));
                }
            }
        }
        let made = self.transpose(part.width, CHANNELS);
        for (c, v) in (0..count).zip(made) {
            let to = data + c * s.component_stride + 4 * part.lane;
            let k = self.load_lanes(pc, to, on);
            self.store_part(to, v, 4, part, k)?;
        }
        Ok(())
    }

    /// Stores the elements of those of a part's channels that are on, the lowest first: where elements overlap, the last
    /// channel's stay.
    pub(super) fn store_channels(
        &mut self,
        s: &Simt,
        part: &Part,
        of: Channels,
        data: RegOffset,
        on: Option<K>,
    ) -> Result<(), Unsupported> {
        let count = s.elements.count_ones();
        let mut from = CHANNELS;
        for (c, v) in (0..count).zip(&mut from) {
            *v = self.data_in(data + c * s.component_stride + 4 * part.lane, 4 * part.lanes, *v)?;
        }
        for c in count as usize..4 {
            from[c] = from[0];
        }
        let made = self.transpose(part.width, from);
        let some = self.elements_of_channel(count);
        let lanes = if some { Lanes::Of(5) } else { Lanes::All };
        if let Some(on) = on {
            self.a.rr(Code::VEX_Kmovw_r32_kr, Register::EAX, mask_register(on));
        }
        for q in 0..part.lanes / 4 {
            for (k, v) in (0..).zip(made) {
                let (lane, off) = (4 * q + k, self.a.label());
                if on.is_some() {
                    self.a.ri(Code::Test_rm32_imm32, Register::EAX, 1 << lane);
                    self.a.jump(Code::Je_rel32_64, off);
                }
                let m = self.channel(of, lane);
                self.a.store_quarter(m, v, q, lanes);
                self.a.bind(off);
            }
        }
        Ok(())
    }
}
