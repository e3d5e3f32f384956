//! Compares, and what picks by them.

use super::alu::exec_bytes;
use super::*;
use crate::deferred::{Chain, Join, Leaf, Value};

/// The relation of a compare that asks for other numbers than a given one.
const NOT_EQUAL: u32 = 1;
/// What the CPU's compares of integers call the relations, by their number.
pub(super) const INTEGERS: [u32; 6] = [0, 4, 6, 5, 1, 2];

impl Emit<'_> {
    /// A truth made of others, where it is kept.
    pub(super) fn truth(&mut self, pc: Pc, i: &Inst, chain: &Chain, value: Value) -> Result<(), Unsupported> {
        for part in &self.parts(i, 4)? {
            self.chain(chain, part, PRED, None)?;
            let (Dst::Reg { offset, .. }, Value::Number(value)) = (i.dst, value) else {
                let Dst::Pred { offset } = i.dst else { return Err("a truth of another type") };
                self.set_pred(pc, offset, part, PRED)?;
                continue;
            };
            let to = offset + 4 * part.lane;
            let mask = self.lanes(pc, part, to)?;
            let home = self.home(to, 4 * part.lanes).filter(|_| mask.is_none());
            let value = self.literal(value as u32);
            let d = home.unwrap_or(0);
            self.a.v2(VPBROADCASTD, part.width, d, Opd::Mem(value), Lanes::Zero(PRED));
            if home.is_none() {
                self.store_part(to, 0, 4, part, mask)?;
            }
        }
        Ok(())
    }

    /// Evaluates a truth of a part into `k`, zero where `of` is; registers 1 to 5 may be overwritten.
    pub(super) fn chain(
        &mut self,
        chain: &Chain,
        part: &Part,
        k: K,
        of: Option<K>,
    ) -> Result<(), Unsupported> {
        /// For leaves that are not compared into what came before.
        const LEAF: K = 0;
        // Where all have to hold, those of the mask are looked at alone from the start.
        let mut of = of;
        self.leaf(chain.first, part, k, of.filter(|_| chain.conjunction()))?;
        if chain.conjunction() {
            of = None;
        }
        for (join, leaf) in &chain.rest {
            if let (Join::And, Leaf::Compare(_) | Leaf::Nonzero(_)) = (join, leaf) {
                self.leaf(*leaf, part, k, Some(k))?;
                continue;
            }
            self.leaf(*leaf, part, LEAF, None)?;
            let code = match join {
                Join::And => Code::VEX_Kandw_kr_kr_kr,
                Join::Or => Code::VEX_Korw_kr_kr_kr,
                Join::Xor => Code::VEX_Kxorw_kr_kr_kr,
            };
            self.a.kkk(code, k, k, LEAF);
        }
        if chain.invert {
            self.a.kk(Code::VEX_Knotw_kr_kr, k, k);
        }
        if let Some(of) = of {
            self.a.kkk(Code::VEX_Kandw_kr_kr_kr, k, k, of);
        }
        Ok(())
    }

    fn leaf(&mut self, leaf: Leaf, part: &Part, k: K, of: Option<K>) -> Result<(), Unsupported> {
        match leaf {
            Leaf::Compare(pc) => {
                let i = *self.inst(pc);
                let part = Part { bytes: 4, width: Width::of(4 * part.lanes), ..*part };
                self.compare_part(&i, &part, k, of)
            }
            Leaf::Nonzero(pc) => {
                // It selects between what is asked for and zero.
                let mut i = Inst {
                    op: Op::Cmp,
                    aux: NOT_EQUAL,
                    pred: envisa_lower::Pred::default(),
                    ..*self.inst(pc)
                };
                if let Src::Reg { modifier, .. } = &mut i.src[0] {
                    *modifier = Modifier::None;
                }
                let part = Part { bytes: 4, width: Width::of(4 * part.lanes), ..*part };
                self.compare_part(&i, &part, k, of)
            }
            Leaf::Pred { offset, invert } => {
                self.kept_pred(offset, part, k)?;
                if invert {
                    self.a.kk(Code::VEX_Knotw_kr_kr, k, k);
                }
                if let Some(of) = of {
                    self.a.kkk(Code::VEX_Kandw_kr_kr_kr, k, k, of);
                }
                Ok(())
            }
        }
    }

    pub(super) fn select(&mut self, i: &Inst, part: &Part, to: V, lanes: Lanes) -> Result<V, Unsupported> {
        if i.pred.combine != Combine::None || i.pred.offset == 0 {
            return Err("a selection by all channels");
        }
        self.pred(i.pred.offset, part, 5)?;
        let to = if lanes == Lanes::All { to } else { 0 };
        let (wide, w) = (part.bytes == 8, part.width);
        // Of zeros there is no need to load any.
        if let Some(zero) = [0, 1].into_iter().find(|k| self.is_zero(&i.src[*k])) {
            let v = self.source(i, 1 - zero, part, 1)?;
            let others = i.pred.invert != (zero == 0);
            if let (true, Opd::Reg(v), Level::Avx512) = (others, v, self.level) {
                // A copy costs nothing.
                self.copy_reg(to, v, w);
                let op = if wide { VPXORQ } else { VPXORD };
                self.a.v3(op, w, to, to, Opd::Reg(to), Lanes::Of(5));
                return Ok(to);
            }
            if others {
                self.a.kk(Code::VEX_Knotw_kr_kr, 5, 5);
            }
            let (v, op) = match v {
                Opd::Bcast(m) => (Opd::Mem(m), if wide { VPBROADCASTQ } else { VPBROADCASTD }),
                v => (v, if wide { VMOVDQU64 } else { VMOVDQU32 }),
            };
            self.a.v2(op, w, to, v, Lanes::Zero(5));
            return Ok(to);
        }
        let a = self.source(i, 0, part, 1)?;
        let b = self.source(i, 1, part, 2)?;
        let (yes, no) = if i.pred.invert { (b, a) } else { (a, b) };
        let no = self.in_register(no, part, 3);
        let op = if wide { VPBLENDMQ } else { VPBLENDMD };
        self.a.v3(op, w, to, no, yes, Lanes::Of(5));
        Ok(to)
    }

    /// Is a source an immediate all of whose bits are zero?
    fn is_zero(&self, s: &Src) -> bool {
        let Src::Reg { offset, ty, constant: true, modifier: Modifier::None, .. } = *s else { return false };
        let bytes = self.p.registers().constants.get(offset as usize..(offset + ty.size()) as usize);
        bytes.is_some_and(|b| b.iter().all(|b| *b == 0))
    }

    /// A compare into a predicate or a vector.
    pub(super) fn compare(&mut self, pc: Pc, i: &Inst) -> Result<(), Unsupported> {
        if i.pred.offset != 0 {
            return Err("a compare by a predicate");
        }
        let bytes = exec_bytes(i.exec)?;
        let parts = self.parts(i, bytes)?;
        if parts[0].lanes == 1 {
            return Err("a compare of one channel");
        }
        match i.dst {
            Dst::Pred { offset } if self.narrow_truths(pc, i, offset)? => Ok(()),
            Dst::Pred { offset } => {
                let mut rest = &parts[..];
                while let [part, behind @ ..] = rest {
                    rest = behind;
                    self.compare_part(i, part, PRED, None)?;
                    let mut made = *part;
                    let begins = part.lanes == 8 && part.channel.is_multiple_of(16);
                    if let Some((high, behind)) = behind.split_first()
                        && begins
                        && (high.lanes, high.channel) == (8, part.channel + 8)
                    {
                        // Sixteen bits are read at once: CPUs do not forward two stores of eight to that.
                        self.compare_part(i, high, 4, None)?;
                        self.a.rri(Code::VEX_Kshiftlw_kr_kr_imm8, mask_register(4), mask_register(4), 8);
                        self.a.kkk(Code::VEX_Korw_kr_kr_kr, PRED, PRED, 4);
                        (rest, made.lanes) = (behind, 16);
                    }
                    self.set_pred(pc, offset, &made, PRED)?;
                }
                Ok(())
            }
            Dst::Reg { offset, ty, stride: 1, .. } if ty.size() == bytes => {
                if self.hazard(i, &parts) {
                    return Err("a part would overwrite what a later one reads");
                }
                for part in &parts {
                    let to = offset + part.lane * bytes;
                    // Making the mask of lanes takes others.
                    self.compare_part(i, part, 4, None)?;
                    let mask = self.lanes(pc, part, to)?;
                    let home = self.home(to, part.lanes * bytes).filter(|_| mask.is_none());
                    let op = if bytes == 8 { VPMOVM2Q } else { VPMOVM2D };
                    let v = vector_register(home.unwrap_or(0), part.width);
                    self.a.rr(op[part.width as usize], v, mask_register(4));
                    if home.is_none() {
                        self.store_part(to, 0, bytes, part, mask)?;
                    }
                }
                Ok(())
            }
            Dst::Reg { offset, ty, stride: 1, .. } if ty.size() < bytes && ty.is_int() => {
                if self.hazard(i, &parts) {
                    return Err("a part would overwrite what a later one reads");
                }
                for part in &parts {
                    let to = offset + part.lane * ty.size();
                    self.compare_part(i, part, 4, None)?;
                    let mask = self.lanes(pc, part, to)?;
                    let dwords = Width::of(4 * part.lanes);
                    self.a.rr(VPMOVM2D[dwords as usize], vector_register(0, dwords), mask_register(4));
                    match ty.size() {
                        2 => self.a.store_to_reg(VPMOVDW, dwords, 0, 0),
                        1 => self.a.store_to_reg(VPMOVDB, dwords, 0, 0),
                        _ => {}
                    }
                    self.store_part(to, 0, ty.size(), part, mask)?;
                }
                Ok(())
            }
            _ => Err("a compare into another type"),
        }
    }

    /// Compares a part into a mask register, zero where `of` is.
    pub(super) fn compare_part(
        &mut self,
        i: &Inst,
        part: &Part,
        k: K,
        of: Option<K>,
    ) -> Result<(), Unsupported> {
        if part.bytes == 4 && self.narrow_part(i, part, k, of)? {
            return Ok(());
        }
        let a = self.source(i, 0, part, 1)?;
        let b = self.source(i, 1, part, 2)?;
        let (op, table): (_, [u32; 6]) = match i.exec {
            ExecType::F32 | ExecType::F16 => (VCMPPS, [0, 4, 0x1e, 0x1d, 0x11, 0x12]),
            ExecType::F64 => (VCMPPD, [0, 4, 0x1e, 0x1d, 0x11, 0x12]),
            ExecType::I32 => (VPCMPD, INTEGERS),
            ExecType::U32 => (VPCMPUD, INTEGERS),
            ExecType::I64 => (VPCMPQ, INTEGERS),
            ExecType::U64 => (VPCMPUQ, INTEGERS),
            _ => return Err("a compare of a type without native code"),
        };
        let how = *table.get(i.aux as usize).ok_or("a relation")?;
        let a = self.in_register(a, part, 1);
        self.a.vcmp(op, part.width, k, a, b, how, of);
        Ok(())
    }
}
