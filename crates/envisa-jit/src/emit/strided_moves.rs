//! Elements that are picked out of rows of memory, or put together to rows.

use envisa_lower::Simt;

use super::*;
use crate::memory_rows::{Plan, Unit};

/// A row that is in none of these.
const OTHER: V = 5;
/// Vectors in which elements are put together, by turns.
const MADE: [V; 2] = [2, 4];

impl Emit<'_> {
    /// Elements of rows in two steps: of each pair of elements and each half of the channels a vector, and of the two of a
    /// pair one for each element. That takes a third of the permutations that one element after the other does.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn deinterleave(
        &mut self,
        pc: Pc,
        (s, part): (&Simt, &Part),
        plan: &Plan,
        halves: [[u8; 2]; 2],
        rows: &[Opd],
        to: &[(u32, RegOffset)],
        on: Option<K>,
    ) -> Result<(), Unsupported> {
        let insert = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
        let [low, high] = MADE.map(|v| vector_register(v, Width::Z));
        for (pair, to) in plan.units.chunks(2).zip(to.chunks(2)) {
            for (h, (of, made)) in halves.into_iter().zip(MADE).enumerate() {
                let unit = |k: usize| {
                    let (row, unit) = pair[(k / 8).min(pair.len() - 1)][8 * h + k % 8].unwrap_or((of[0], 0));
                    u32::from(unit) + if row == of[0] { 0 } else { 16 }
                };
                let which = self.literals(std::array::from_fn(unit));
                let [first, second] = of.map(|r| rows.get(usize::from(r)).copied());
                let first = self.whole_in_register(first.ok_or("a row")?, OTHER);
                self.a.v2(VMOVDQU32, Width::Z, made, Opd::Mem(which), Lanes::All);
                self.a.v3(VPERMI2D, Width::Z, made, first, second.ok_or("a row")?, Lanes::All);
            }
            // The first element is the lower halves of both, the second one the upper ones.
            let v = self.free_home(pc, to[0].1, part, on).unwrap_or(OTHER);
            let of_second = vector_register(MADE[1], Width::Y);
            let i = iced_x86::Instruction::with4(insert, vector_register(v, Width::Z), low, of_second, 1);
            self.a.push(i);
            let mut all = vec![(to[0], v)];
            if let Some(second) = to.get(1) {
                let v = self.free_home(pc, second.1, part, on).unwrap_or(MADE[0]);
                let upper = Code::EVEX_Vshufi32x4_zmm_k1z_zmm_zmmm512b32_imm8;
                let i = iced_x86::Instruction::with4(upper, vector_register(v, Width::Z), low, high, 0xee);
                self.a.push(i);
                all.push((*second, v));
            }
            // A store by a mask takes a register of these.
            for (to, v) in all {
                self.loaded(pc, s, part, to, v, on)?;
            }
        }
        Ok(())
    }

    /// An element of at most two bytes of each channel, which are up to four bytes apart, in the dwords of vector 0: of four
    /// channels at a time sixteen bytes are loaded, of the last ones those up to the last element, behind which nothing is
    /// read.
    pub(super) fn quarters(&mut self, step: u32, element: u32, from: Mem) {
        let last = 15 * step + element - 16;
        let begin = |q: u32| (4 * step * q).min(last);
        self.a.v2(VMOVDQU32, Width::X, 0, Opd::Mem(from), Lanes::All);
        for q in 1..4 {
            let insert = Code::EVEX_Vinserti32x4_zmm_k1z_zmm_xmmm128_imm8;
            let (v, m) = (vector_register(0, Width::Z), from.plus(begin(q)).operand(false));
            self.a.push(iced_x86::Instruction::with4(insert, v, v, m, q as i32));
        }
        let dword = |k: usize| {
            let (channel, before) = (k as u32, begin(k as u32 / 4));
            let byte = |b: u32| if b < element { channel * step - before + b } else { 0x80 };
            (0..4).fold(0, |all, b| all | byte(b) << (8 * b))
        };
        let which = self.literals(std::array::from_fn(dword));
        self.a.v3(VPSHUFB, Width::Z, 0, 0, Opd::Mem(which), Lanes::All);
    }

    /// A vector put together from others, in `home` or one of [`MADE`], or the only one that it is all of.
    pub(super) fn put_together(
        &mut self,
        units: &[Unit],
        unit: u32,
        from: &[Opd],
        home: Option<V>,
    ) -> Result<V, Unsupported> {
        if unit != 4 {
            return Err("elements of rows that are no dwords");
        }
        // Of what is not stored, anything goes: the first unit of a row that is one anyway.
        let some = units.iter().flatten().next().copied().ok_or("a vector of nothing")?;
        let (n, w) = (units.len(), Width::of(4 * units.len() as u32));
        let unit = |k: usize| units.get(k).copied().flatten().unwrap_or(some);
        let mut sources: Vec<u8> = (0..n).map(|k| unit(k).0).collect();
        sources.sort_unstable();
        sources.dedup();
        let index_of = |a: &dyn Fn(usize, u8) -> Option<u32>| -> [u32; 16] {
            std::array::from_fn(|k| a(k, unit(k).0).unwrap_or(0))
        };
        let [first, rest @ ..] = &sources[..] else { return Err("a vector of nothing") };
        let first_row = from.get(usize::from(*first)).copied().ok_or("a row")?;
        let first_row = match first_row {
            Opd::Reg(v) => v,
            from => {
                self.a.v2(VMOVDQU32, w, OTHER, from, Lanes::All);
                OTHER
            }
        };
        let own = index_of(&|k, r| (r == *first).then_some(u32::from(unit(k).1)));
        let Some((second, rest)) = rest.split_first() else {
            if (0..n).all(|k| units[k].is_none() || own[k] == k as u32) {
                return Ok(first_row);
            }
            let (to, which) = (home.unwrap_or(MADE[0]), self.literals(own));
            self.a.v2(VMOVDQU32, Width::Z, to, Opd::Mem(which), Lanes::All);
            self.a.v3(VPERMD, Width::Z, to, to, Opd::Reg(first_row), Lanes::All);
            return Ok(to);
        };
        let mut made = first_row;
        let mut had = vec![*first];
        for (nth, row) in std::iter::once(second).chain(rest).enumerate() {
            let which = index_of(&|k, r| match r {
                r if r == *row => Some(n as u32 + u32::from(unit(k).1)),
                r if !had.contains(&r) => None,
                _ if nth == 0 => Some(u32::from(unit(k).1)),
                _ => Some(k as u32),
            });
            let home = home.filter(|_| nth == rest.len());
            let (to, which) = (home.unwrap_or(MADE[nth % 2]), self.literals(which));
            self.a.v2(VMOVDQU32, Width::Z, to, Opd::Mem(which), Lanes::All);
            let other = from.get(usize::from(*row)).copied().ok_or("a row")?;
            self.a.v3(VPERMI2D, w, to, made, other, Lanes::All);
            (made, had) = (to, [had, vec![*row]].concat());
        }
        Ok(made)
    }

    /// Bits of dwords from one on, and no others: so many bytes of them.
    pub(super) fn part_of_dwords(&mut self, from: V, first: u32, bytes: u32) -> V {
        let mut v = from;
        if first != 0 {
            self.a.v2i(VPSRLD, Width::Z, 5, Opd::Reg(v), first, Lanes::All);
            v = 5;
        }
        if first + 8 * bytes < 32 {
            let bits = self.literal((1 << (8 * bytes)) - 1);
            self.a.v3(VPANDD, Width::Z, 5, v, Opd::Bcast(bits), Lanes::All);
            v = 5;
        }
        v
    }

    /// In a mask register of its own: the dwords of a vector below this one.
    pub(super) fn lanes_below(&mut self, dwords: u32) {
        self.lanes_in_mask((1 << dwords) - 1);
    }

    /// The same of these dwords, as bits.
    pub(super) fn lanes_in_mask(&mut self, lanes: i32) {
        self.a.ri(Code::Mov_r32_imm32, Register::ESI, lanes);
        self.a.rr(Code::VEX_Kmovw_kr_r32, mask_register(5), Register::ESI);
    }

    /// The same of bytes of a vector.
    pub(super) fn bytes_in_mask(&mut self, of: impl Fn(u32) -> bool) {
        let half = |h: u32| (0..32).filter(|k| of(32 * h + k)).fold(0, |all, k| all | 1 << k);
        let mask = self.literals(std::array::from_fn(|h| if h < 2 { half(h as u32) } else { 0 }));
        self.a.rm(Code::VEX_Kmovq_kr_km64, mask_register(5), mask);
    }

    /// Moves what belongs to four channels each, so many bytes a channel, from one after another in a vector to its
    /// quarters, or back: in the first vector.
    pub(super) fn move_groups(&mut self, step: u32, apart: bool) {
        let which = std::array::from_fn(|k| {
            let k = k as u32;
            match apart {
                true => k / 4 * step + (k % 4).min(step - 1),
                false => (k / step).min(3) * 4 + k % step,
            }
        });
        let which = self.literals(which);
        self.a.v2(VMOVDQU32, Width::Z, 1, Opd::Mem(which), Lanes::All);
        self.a.v3(VPERMD, Width::Z, 0, 1, Opd::Reg(0), Lanes::All);
    }

    /// Which bytes of each quarter of a vector its four dwords are made of; the others of these are zero.
    pub(super) fn bytes_of(&mut self, of: impl Fn(u32) -> Option<u32>) -> Mem {
        let dword = |k: usize| {
            let byte = |b| of(4 * (k as u32 % 4) + b).unwrap_or(0x80) << (8 * b);
            (0..4).fold(0, |all, b| all | byte(b))
        };
        self.literals(std::array::from_fn(dword))
    }
}
