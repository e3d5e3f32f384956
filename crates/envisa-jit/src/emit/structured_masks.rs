//! Execution masks of structured control flow: see [`crate::structured_flow`].

use super::control::TAKEN;
use super::*;
use crate::float_modes::may_set_mode;
use crate::structured_flow::{Reconvergence, Start, StructuredFlow};

/// Most registers that code computes for no channel rather than branch over it: a branch that is predicted wrongly takes the
/// time of more.
const SHORT: u32 = 8;

impl Emit<'_> {
    /// The regions whose masks are kept.
    pub(super) fn find_structured_flow(&self) -> StructuredFlow {
        if self.stops.iter().any(|s| *s) {
            return StructuredFlow::default();
        }
        // Where all of a thread's channels mostly go one way, it is asked for that: see [`Emit::parts_rarely`].
        StructuredFlow::new(self.p, self.flow, |start| !(self.parts_rarely() && self.is_whole(start)))
    }

    /// Do all channels of the dispatch come to the start of a region?
    fn is_whole(&self, start: Start) -> bool {
        let pc = match start {
            Start::Branch(pc) => pc,
            Start::Loop(head) => head - 1,
        };
        self.full && self.flow.all_channels_active(pc)
    }

    /// Ahead of an instruction: a loop that is a region may begin there.
    pub(super) fn enters_loop(&mut self, pc: Pc) {
        if let Some(label) = self.structured.loop_end(pc) {
            self.keep_mask(label);
        }
    }

    /// A branch that some of the channels take: `false`, and nothing done, if it is none of a region.
    pub(super) fn narrows_mask(&mut self, pc: Pc, i: &Inst, fused: bool) -> Result<bool, Unsupported> {
        let (target, back) = (i.aux, i.aux <= pc);
        if self.structured.reconvergence(if back { pc + 1 } else { target }).is_none() {
            return Ok(false);
        }
        if back {
            self.predicate(pc, i, fused, false)?;
            self.narrow(!i.pred.invert);
            self.skip_if_none(pc + 1);
            self.spend(pc, target);
            let to = self.labels[target as usize];
            self.a.jmp(to);
            return Ok(true);
        }
        for label in self.structured.labels_begun_at(pc).to_vec() {
            self.keep_mask_of(label);
        }
        if let Some(back) = self.goes_apart(pc, target) {
            self.taken(pc, i, fused)?;
            let entry = self.a.label();
            self.a.jump(Code::Jne_rel32_64, entry);
            self.later.push(Later::Narrowed { pc, entry, back });
        } else if self.collects_mask(target) || !self.structured.bypassed(pc).is_empty() {
            self.taken(pc, i, fused)?;
            self.leave(pc);
        } else {
            self.predicate(pc, i, fused, false)?;
            self.narrow(i.pred.invert);
            if !self.is_short(pc + 1..target) {
                self.skip_if_none(target);
            }
        }
        Ok(true)
    }

    /// Is the mask that is kept for a label collected from the branches to it?
    fn collects_mask(&self, label: Pc) -> bool {
        self.structured.reconvergence(label).is_some_and(Reconvergence::collects_its_mask)
    }

    /// The channels in `TAKEN` take a branch: the masks change that are kept for its label and for those that it bypasses. If
    /// no others are active, some may be behind the next of these labels.
    fn leave(&mut self, pc: Pc) {
        let (target, passed) = (self.inst(pc).aux, self.structured.bypassed(pc).to_vec());
        if self.collects_mask(target) {
            self.change_kept(target, TAKEN, Code::VEX_Korw_kr_kr_kr);
        }
        self.bypass(&passed, TAKEN);
        self.narrow(false);
        self.skip_if_none(passed.first().copied().unwrap_or(target));
    }

    /// Is it the unconditional branch over the `else` of a region, whose label is next?
    pub(super) fn is_over_others(&self, pc: Pc) -> bool {
        let next = self.structured.reconvergence(pc + 1);
        next.is_some_and(|m| m.others_until == Some(self.inst(pc).aux))
    }

    /// An unconditional branch: `false`, and nothing done, if it is not the one over the `else` of a region.
    pub(super) fn goes_over_others(&mut self, pc: Pc) -> bool {
        if !self.is_over_others(pc) {
            return false;
        }
        let (end, passed) = (self.inst(pc).aux, self.structured.bypassed(pc).to_vec());
        if passed.is_empty() && self.apart.as_ref().is_some_and(|all| all.range.end == pc + 1) {
            // All channels come here: there are no others.
            let to = self.labels[end as usize];
            self.a.jmp(to);
            return true;
        }
        if self.collects_mask(end) {
            self.change_kept(end, EXEC, Code::VEX_Korw_kr_kr_kr);
        }
        self.bypass(&passed, EXEC);
        true
    }

    /// A label: `false`, and nothing done, if it is no region's.
    pub(super) fn reconverges(&mut self, label: Pc) -> bool {
        let Some(m) = self.structured.reconvergence(label) else { return false };
        match m.others_until {
            None => self.take_mask(label, m),
            Some(_) => self.take_rest_of_mask(label, m),
        }
        if let Some(next) = m.next.filter(|next| m.is_bypassed || !self.is_short(label + 1..*next)) {
            self.skip_if_none(next);
        }
        true
    }

    /// Where some of all channels part with the others, whose code is the one for some of them.
    pub(super) fn jump_to_masked_code(&mut self, pc: Pc, back: Label) {
        self.leave(pc);
        self.a.jmp(back);
    }

    /// Of the active channels only those stay that are in `TAKEN`, or that are not.
    fn narrow(&mut self, to_taken: bool) {
        let code = if to_taken { Code::VEX_Kandw_kr_kr_kr } else { Code::VEX_Kandnw_kr_kr_kr };
        for (e, k) in self.halves_of_mask().zip(TAKEN) {
            self.a.kkk(code, e, k, e);
        }
    }

    /// The masks that may have channels.
    fn halves_of_mask(&self) -> impl Iterator<Item = K> + use<> {
        EXEC.into_iter().take(1 + usize::from(self.active.upper() && self.p.simd() == 32))
    }

    /// Where in the context a half of a mask is kept: nobody else needs to say who waits at that label.
    fn kept_mask(&self, label: Pc, half: u32) -> Option<Mem> {
        self.waits.get(&label).map(|at| Mem::at(CTX, at + 2 * half))
    }

    fn keep_mask(&mut self, label: Pc) {
        for (half, k) in (0..).zip(self.halves_of_mask()) {
            let Some(m) = self.kept_mask(label, half) else { continue };
            self.a.mr(Code::VEX_Kmovw_m16_kr, m, mask_register(k));
        }
    }

    /// Keeps the mask for a label, if code behind it needs it.
    fn keep_mask_of(&mut self, label: Pc) {
        let Some(m) = self.structured.reconvergence(label) else { return };
        if m.collects_its_mask() {
            if let Some(m) = self.kept_mask(label, 0) {
                self.a.mi(Code::Mov_rm32_imm32, m, 0);
            }
            return;
        }
        // A branch back names the channels that wait behind it, when the time is up.
        let ahead = self.inst(label - 1);
        if m.is_bypassed || !self.is_whole(m.start) || ahead.op == Op::Goto && ahead.aux < label {
            self.keep_mask(label);
        }
    }

    /// Channels bypass labels.
    fn bypass(&mut self, labels: &[Pc], channels: [K; 2]) {
        for label in labels {
            if !self.collects_mask(*label) {
                self.change_kept(*label, channels, Code::VEX_Kandnw_kr_kr_kr);
            }
        }
    }

    /// What is kept for a label becomes another by some channels.
    fn change_kept(&mut self, label: Pc, channels: [K; 2], code: Code) {
        for ((half, _), k) in (0..).zip(self.halves_of_mask()).zip(channels) {
            let Some(m) = self.kept_mask(label, half) else { continue };
            self.a.rm(Code::VEX_Kmovw_kr_km16, mask_register(5), m);
            self.a.kkk(code, 5, k, 5);
            self.a.mr(Code::VEX_Kmovw_m16_kr, m, mask_register(5));
        }
    }

    /// The channels are active that came to the start.
    fn take_mask(&mut self, label: Pc, m: Reconvergence) {
        if !m.is_bypassed && self.is_whole(m.start) {
            return self.all_channels();
        }
        self.load_mask(label);
    }

    fn load_mask(&mut self, label: Pc) {
        for (half, k) in (0..).zip(self.halves_of_mask()) {
            let Some(m) = self.kept_mask(label, half) else { continue };
            self.a.rm(Code::VEX_Kmovw_kr_km16, mask_register(k), m);
        }
    }

    /// The same without those that are active.
    fn take_rest_of_mask(&mut self, label: Pc, m: Reconvergence) {
        if m.collects_its_mask() {
            return self.load_mask(label);
        }
        let whole = !m.is_bypassed && self.is_whole(m.start);
        for (half, k) in (0..).zip(self.halves_of_mask()) {
            if whole && self.p.simd() >= 16 {
                self.a.kk(Code::VEX_Knotw_kr_kr, k, k);
                continue;
            }
            if whole {
                self.a.kkk(Code::VEX_Kxnorw_kr_kr_kr, 5, 5, 5);
                let others = 16 - self.p.simd() as i32;
                self.a.rri(Code::VEX_Kshiftrw_kr_kr_imm8, mask_register(5), mask_register(5), others);
            } else if let Some(m) = self.kept_mask(label, half) {
                self.a.rm(Code::VEX_Kmovw_kr_km16, mask_register(5), m);
            }
            self.a.kkk(Code::VEX_Kandnw_kr_kr_kr, k, k, 5);
        }
    }

    /// Goes to a label if no channel is active.
    fn skip_if_none(&mut self, label: Pc) {
        let last = self.halves_of_mask().last().unwrap_or(EXEC[0]);
        self.a.kk(Code::VEX_Kortestw_kr_kr, EXEC[0], last);
        let to = self.labels[label as usize];
        self.a.jump(Code::Je_rel32_64, to);
    }

    /// Is it code that may as well run for no channel?
    fn is_short(&self, range: Range<Pc>) -> bool {
        let mut registers = 0;
        range.clone().all(|pc| {
            let i = self.inst(pc);
            registers += u32::from(i.channels).div_ceil(16);
            let cheap = match i.op {
                Op::Mov | Op::Cmp | Op::PredLogic | Op::Nop => true,
                Op::Add | Op::Add3 | Op::Mul | Op::Mad | Op::And | Op::Or | Op::Xor | Op::Not => true,
                Op::Shl | Op::Shr | Op::Asr | Op::Sel | Op::Min | Op::Max => true,
                // Nothing is made of a branch over what others do.
                Op::Goto => i.aux >= range.end && (i.channels > 1 || self.is_over_others(pc)),
                _ => false,
            };
            cheap && registers <= SHORT && (!i.no_mask || self.is_own(pc, range.end))
        })
    }

    /// Does an instruction write nothing that is wanted behind the code that it is in? Then nothing there shows whether it was
    /// executed.
    fn is_own(&self, pc: Pc, end: Pc) -> bool {
        let i = self.inst(pc);
        let mut own = matches!(i.dst, Dst::Reg { .. } | Dst::Pred { .. }) && !may_set_mode(self.p, i);
        self.cells.accesses(self.p.parts(), pc, &mut |a| {
            own &= !a.write || !self.live.of_thread(end, a.cell);
        });
        own
    }
}
