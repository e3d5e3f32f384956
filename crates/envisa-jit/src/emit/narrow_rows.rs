//! Rows of bytes and words that go from memory to where they lie side by side, and back, as they are.
//!
//! Messages have a dword for each channel's element. Behind one that loads bytes or words there is mostly a move that puts
//! them side by side, and before one that stores them a move that spreads them. Here message and move are made together:
//! where the places are a row, it is moved as it is. The dwords are made only where the machine executes the message,
//! and the move then comes behind it, or before it.

use super::memory::{Form, PTR, Way, address_form};
use super::*;
use crate::context_layout::site;
use envisa_lower::{Message, Pred, Simt};

/// A message and a move that are made together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NarrowRow {
    message: Pc,
    mov: Pc,
    /// Where the elements lie side by side, and of how many bytes they are.
    at: RegOffset,
    element: u32,
    write: bool,
}

impl NarrowRow {
    /// The one of both that comes behind the other.
    pub fn last(self) -> Pc {
        self.message.max(self.mov)
    }
}

/// Elements of a type so many apart are one in each dword.
fn one_a_dword(ty: Type, step: u32) -> bool {
    ty.is_int() && ty.size() * step == 4
}

impl Emit<'_> {
    /// The message and the move of which this is the first instruction, if they can be made together.
    pub(super) fn narrow_row(&self, first: Pc) -> Option<NarrowRow> {
        let both = first..first + 2;
        let inside = self.blocks[first as usize] > first + 1 && self.stops.is_empty();
        let runs = |pc: Pc| self.active.at(pc) != 0 && !self.deferred.skips(pc);
        if !inside || !both.clone().all(runs) {
            return None;
        }
        let message = both.clone().find(|pc| self.inst(*pc).op == Op::Message)?;
        let mov = both.into_iter().find(|pc| self.inst(*pc).op == Op::Mov)?;
        let [i, m] = [message, mov].map(|pc| *self.inst(pc));
        let Some(Message::Simt(s)) = self.p.messages().get(i.aux as usize) else { return None };
        let plain = |pc: Pc, i: &Inst| i.pred == Pred::default() && (i.no_mask || self.all_active(pc));
        let (element, channels) = (u32::from(s.element), u32::from(i.channels));
        let fits = (s.elements, s.slot) == (1, 4) && matches!(element, 1 | 2) && matches!(channels, 16 | 32);
        let alike = i.channels == m.channels && m.dst2 == 0 && plain(message, &i) && plain(mov, &m);
        if !fits || !alike || s.write != (mov == first) || self.stream(message).is_some() {
            return None;
        }
        let Dst::Reg { offset: to, ty: made, stride, sat: false } = m.dst else { return None };
        let Src::Reg { offset: from, ty: read, strides, modifier: Modifier::None, constant: false, .. } =
            m.src[0]
        else {
            return None;
        };
        let step = strides.step(channels)?;
        let side_by_side = |ty: Type, step: u32| ty.is_int() && ty.size() == element && step == 1;
        let (data, at) = match s.write {
            true => (side_by_side(read, step) && one_a_dword(made, stride.into())).then_some((to, from)),
            false => (side_by_side(made, stride.into()) && one_a_dword(read, step)).then_some((from, to)),
        }?;
        if s.data != Some(data) || !self.is_unread(data, 4 * channels, first + 2) {
            return None;
        }
        let whole =
            self.home(at, channels * element).is_some() || self.in_memory(at, channels * element).is_ok();
        let made = !s.write || self.known.literal(first, at, read, channels).is_none();
        (whole && made).then_some(NarrowRow { message, mov, at, element, write: s.write })
    }

    /// Does nothing read these bytes of a message's data any more, from an instruction on?
    fn is_unread(&self, data: RegOffset, bytes: u32, pc: Pc) -> bool {
        (data..data + bytes).step_by(64).all(|at| {
            let dead = |id| self.shapes.plain(id) && !self.live.of_thread(pc, id);
            self.cells.at(at).is_some_and(dead)
        })
    }

    /// Makes both; nothing of them where the places are not known to be a row, or one has no native code.
    pub(super) fn put_narrow_row(&mut self, row: NarrowRow) -> Result<(), Unsupported> {
        let NarrowRow { message: pc, mov, at, element, write } = row;
        // What the machine is called for needs the move as well: is there code for it?
        let (here, later) = (self.a.here(), self.later.len());
        self.put_move(mov)?;
        self.a.back(here);
        self.later.truncate(later);
        self.forget_held();
        let i = *self.inst(pc);
        let Some(Message::Simt(s)) = self.p.messages().get(i.aux as usize) else { return Err("a message") };
        let (entry, back) = (self.a.label(), self.a.label());
        let m = self.place_of_row(pc, &i, s, entry)?;
        let bytes = u32::from(i.channels) * element;
        let w = Width::of(bytes);
        match (write, self.home(at, bytes)) {
            (false, Some(home)) => self.a.v2(VMOVDQU32, w, home, Opd::Mem(m), Lanes::All),
            (false, None) => {
                self.in_memory(at, bytes)?;
                self.a.v2(VMOVDQU32, w, 0, Opd::Mem(m), Lanes::All);
                self.a.store(STORE32, w, self.reg(at), 0, Lanes::All);
            }
            (true, Some(home)) => self.a.store(STORE32, w, m, home, Lanes::All),
            (true, None) => {
                self.in_memory(at, bytes)?;
                self.a.v2(VMOVDQU32, w, 0, Opd::Mem(self.reg(at)), Lanes::All);
                self.a.store(STORE32, w, m, 0, Lanes::All);
            }
        }
        self.a.bind(back);
        self.later.push(Later::NarrowRow { row, entry, back });
        Ok(())
    }

    /// Where a message's row begins, if all of it is inside; goes to `entry` if it is not.
    fn place_of_row(&mut self, pc: Pc, i: &Inst, s: &Simt, entry: Label) -> Result<Mem, Unsupported> {
        let form = address_form(self.p, s)?;
        let n = u32::from(i.channels);
        let form = Form { bare: self.bare(s, form, n), ..form };
        if form.wide || form.scale > 8 {
            return Err("a row of other places");
        }
        let parts = self.parts(i, 4)?;
        self.key(pc, i, s, entry)?;
        self.sums_fit(pc, s, &parts, entry)?;
        let align = u32::from(s.align) / form.scale;
        let aligned = self.aligned_already(s, form, (align, n), entry)?;
        let ways = match self.way_of_both(pc, i, s, form, &parts, entry)? {
            Some(both) => both.to_vec(),
            None => {
                let [part] = parts.as_slice() else { return Err("two rows") };
                vec![self.way(pc, i, s, form, part, entry, &mut false)?]
            }
        };
        let behind = 16 * u32::from(s.element);
        let (r, plus) = match *ways.as_slice() {
            [Way::Row(r, plus)] => (r, plus),
            [Way::Row(r, plus), Way::Row(other, more)] if other == r && more == plus + behind => (r, plus),
            _ => return Err("no row"),
        };
        if align > 1 && !aligned {
            self.aligned(pc, &parts[0], ways[0], align, entry);
        }
        let pointer = self.site(i, site::POINTER);
        self.a.rm(Code::Mov_r64_rm64, PTR, pointer);
        for (part, way) in parts.iter().zip(&ways) {
            if let Way::Row(r, plus) = *way {
                self.fetch_next(i, s, form, part, (r, plus));
            }
        }
        let m = Mem::indexed(PTR, r, form.scale, i64::from(plus));
        self.fetch_rows_ahead(pc, s, &parts[0], m);
        Ok(m)
    }

    /// The move alone.
    fn put_move(&mut self, mov: Pc) -> Result<(), Unsupported> {
        let now = std::mem::replace(&mut self.now, mov);
        self.forget_held();
        let done = self.compute(mov);
        self.now = now;
        done
    }

    /// What was found in registers before is not looked for there.
    fn forget_held(&mut self) {
        (self.fused, self.looked, self.made_whole, self.held) = (false, None, None, None);
    }

    /// Where the machine executes the message: the move is made before it, or behind it.
    pub(super) fn put_missed_row(
        &mut self,
        row: NarrowRow,
        entry: Label,
        back: Label,
    ) -> Result<(), Unsupported> {
        self.a.bind(entry);
        if row.write {
            self.put_move(row.mov)?;
        }
        self.call(row.message);
        if !row.write {
            self.put_move(row.mov)?;
        }
        self.a.jmp(back);
        Ok(())
    }
}
