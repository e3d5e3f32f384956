//! What the next groups will want, fetched while this one runs. What is fetched may be nothing's.

use super::memory::{Form, PTR};
use super::*;
use envisa_lower::{Simt, Space};

/// How far ahead rows are fetched by threads that stream, in bytes: a page, which the CPU's own prefetchers do not leave.
const AHEAD: u32 = 4096;

/// Where the next tile's part of a row is, in bytes from that of a group which loads one into its local memory.
const NEXT_TILE: i64 = 128;

impl Emit<'_> {
    /// How far ahead a row is fetched by threads that stream, in bytes: of several rows less of each, as much together.
    pub(super) fn ahead(&self) -> u32 {
        AHEAD >> self.walk.rows
    }

    /// Fetches the lines behind a thread's part of a row, which the next group in that row will want, where groups have
    /// several threads: they go on by a little in each of so many rows that the CPU's prefetchers lose sight of them.
    /// Of loads in short rows of groups, which soon begin anew elsewhere, what the same group of the next row will want
    /// instead: as far from here as the last row's first group was from this one's. What is fetched may be nothing's.
    pub(super) fn fetch_next(
        &mut self,
        i: &Inst,
        s: &Simt,
        form: Form,
        part: &Part,
        (r, plus): (Register, u32),
    ) {
        if !self.takes_turns() || !matches!(s.space, Space::Flat | Space::Bti(_)) || form.scale > 8 {
            return;
        }
        let row = u32::from(i.channels) * u32::from(s.element);
        let code = if s.write { Code::Prefetchw_m8 } else { Code::Prefetcht0_m8 };
        let mut from = r;
        if self.walk.short && !s.write {
            let [last, farther] = [0, 4].map(|f| Mem::at(CTX, self.rows_at() + 8 * i.aux + f));
            if part.index == 0 {
                let (entry, back) = (self.a.label(), self.a.label());
                self.a.rm(Code::Cmp_r64_rm64, Register::R13, Mem::at(CTX, at::FIRST));
                self.a.jump(Code::Je_rel32_64, entry);
                self.a.bind(back);
                let row = (row / form.scale) as i32;
                self.later.push(Later::FirstOfRow {
                    place: r.full_register32(),
                    row,
                    last,
                    farther,
                    entry,
                    back,
                });
            }
            from = Register::RSI;
            self.a.rm(Code::Movsxd_r64_rm32, from, farther);
            self.a.rr(Code::Add_r64_rm64, from, r);
        }
        for line in (0..part.lanes * u32::from(s.element)).step_by(64) {
            self.a.m(code, Mem::indexed(PTR, from, form.scale, i64::from(plus + row + line)));
        }
    }

    /// Of each message of threads that take turns in short rows of groups, where in the context is what
    /// [`Emit::fetch_next`] knows of it: the first thread's place in the first group of the last short row, and how much
    /// farther than the next group's part the next row's is.
    pub(super) fn rows_at(&self) -> u32 {
        at::WAITS + 4 * self.waits.len() as u32
    }

    /// How many bytes that takes.
    pub(super) fn rows_bytes(&self) -> u32 {
        let messages = if self.walk.short { self.p.messages().len() } else { 0 };
        8 * messages as u32
    }

    /// Where that ends, and what messages know of each other's addresses.
    pub(super) fn rows_end(&self) -> u32 {
        self.rows_at() + self.rows_bytes() + self.families_bytes()
    }

    /// The first thread of the first group of a short row is at a load.
    pub(super) fn first_of_row(&mut self, place: Register, row: i32, last: Mem, farther: Mem) {
        self.a.rr(Code::Mov_r32_rm32, Register::ESI, place);
        self.a.rm(Code::Sub_r32_rm32, Register::ESI, last);
        self.a.ri(Code::Sub_rm32_imm32, Register::ESI, row);
        self.a.mr(Code::Mov_rm32_r32, last, place);
        self.a.mr(Code::Mov_rm32_r32, farther, Register::ESI);
    }

    /// Of a group that loads a tile into its local memory: fetches what the next one will load.
    pub(super) fn fetch_beside(&mut self, s: &Simt, m: Mem) {
        self.fetch_behind(self.goes_beside(s), m);
    }

    /// Does a message load such a tile?
    pub(super) fn goes_beside(&self, s: &Simt) -> bool {
        self.takes_turns() && !s.write && matches!(s.space, Space::Flat | Space::Bti(_))
    }

    /// Fetches what is beside a place, if that is wanted.
    pub(super) fn fetch_behind(&mut self, wanted: bool, m: Mem) {
        if wanted {
            self.a.m(Code::Prefetcht0_m8, Mem { disp: m.disp + NEXT_TILE, ..m });
        }
    }
}
