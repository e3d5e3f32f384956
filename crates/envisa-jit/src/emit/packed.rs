//! Bytes and words side by side, all of an instruction's in one register: where all channels run, or the result is in a
//! register whose bytes a mask can choose.
//!
//! Whole vectors are written at once, and not in parts: CPUs do not forward what two stores wrote to one load.

use super::*;

/// Where an instruction's narrow elements go.
#[derive(Clone, Copy)]
struct Place {
    to: RegOffset,
    ty: Type,
    channels: u32,
    /// Only elements of active channels are written: the first one's channel.
    masked: Option<u32>,
}

impl Place {
    fn bytes(self) -> u32 {
        self.channels * self.ty.size()
    }
}

impl Emit<'_> {
    /// Does an operation on up to 64 bytes of narrow elements: `false` if it is another.
    pub(super) fn packed(&mut self, pc: Pc, i: &Inst) -> Result<bool, Unsupported> {
        let Dst::Reg { offset: to, ty, stride: 1, sat: false } = i.dst else { return Ok(false) };
        if i.dst2 != 0 {
            return Ok(false);
        }
        let integers = matches!(i.exec, ExecType::I32 | ExecType::U32) && ty.is_int() && ty.size() < 4;
        let all = self.cells.at(to).is_some_and(|c| self.live.may_write_unmasked(pc, c))
            || i.no_mask
            || self.all_active(pc);
        let masked = (!all).then_some(i.first.into());
        let place = Place { to, ty, channels: i.channels.into(), masked };
        let home = self.home(to, place.bytes()).is_some();
        // Halves of masks are what code has.
        let maskable = home && self.level == Level::Avx512 && i.channels >= 16 && i.first.is_multiple_of(16);
        if !integers
            || !(all || maskable)
            || (i.pred.offset != 0 && i.op != Op::Sel)
            || !matches!(place.bytes(), 16 | 32 | 64)
            || (!home && self.in_memory(to, place.bytes()).is_err())
        {
            return Ok(false);
        }
        if self.bits(i, place)? {
            return Ok(true);
        }
        let alike = crate::packable::element(i).is_some();
        match i.op {
            // Of what is made of narrow elements themselves dwords need not be made.
            Op::Mov if has_sign_modifier(&i.src[0]) => Ok(self.summed(i, place)? || self.resized(i, place)?),
            Op::Mov => Ok(self.resized(i, place)? || self.summed(i, place)?),
            Op::Sel => self.selected_narrow(i, place),
            Op::Min | Op::Max => self.least_narrow(i, place),
            Op::Cmp => self.compared(i, place),
            _ if !alike => Ok(false),
            Op::Add | Op::Add3 => self.summed(i, place),
            Op::Mul | Op::Mad => self.multiplied(i, place),
            Op::Shl | Op::Shr | Op::Asr => self.shifted(i, place),
            _ => Ok(false),
        }
    }

    /// A source as often as the place has elements: elements of its size, or one for all, or their magnitudes. Whether they
    /// are taken away is up to the instruction. `tmp` may be overwritten.
    fn elements(&mut self, s: &Src, place: Place, tmp: V) -> Option<Opd> {
        if let Some(x) = crate::affine_vectors::constant(self.p, s) {
            return Some(self.repeated(x, place.ty));
        }
        let Src::Reg { offset, ty, strides, shape, modifier, constant } = *s else { return None };
        if modifier == Modifier::Not {
            return None;
        }
        let plain = Src::Reg { offset, ty, strides, shape, constant, modifier: Modifier::None };
        let from = self.plain_elements(&plain, place, tmp)?;
        if !(ty.is_signed() && matches!(modifier, Modifier::Abs | Modifier::NegAbs)) {
            return Some(from);
        }
        let op = if ty.size() == 2 { VPABSW } else { VPABSB };
        self.a.v2(op, Width::of(place.bytes()), tmp, from, Lanes::All);
        Some(Opd::Reg(tmp))
    }

    /// The same of a source without a modifier.
    fn plain_elements(&mut self, s: &Src, place: Place, tmp: V) -> Option<Opd> {
        let size = place.ty.size();
        let Src::Reg { offset, ty, shape: Shape::Scalar, strides, .. } = *s else {
            return self.beside(s, place.channels).filter(|(_, of)| of.size() == size).map(|(from, _)| from);
        };
        let at = offset + strides.element(0) * size;
        if !ty.is_int() || ty.size() != size {
            return None;
        }
        if let Some(x) = self.known.literal(self.now, at, ty, 1) {
            return Some(self.repeated(x.first().copied()?.into(), place.ty));
        }
        self.in_memory(at, size).ok()?;
        let op = if size == 2 { VPBROADCASTW } else { VPBROADCASTB };
        self.a.v2(op, Width::of(place.bytes()), tmp, Opd::Mem(self.reg(at)), Lanes::All);
        Some(Opd::Reg(tmp))
    }

    /// The same in a register or memory.
    fn element_operand(&mut self, s: &Src, place: Place, tmp: V) -> Option<Opd> {
        // Operations on bytes and words have no elements for all lanes.
        Some(match self.elements(s, place, tmp)? {
            from @ Opd::Bcast(_) => Opd::Reg(self.in_register(from, &part_of_dwords(place.bytes()), tmp)),
            from => from,
        })
    }

    /// The same in a register.
    fn element_register(&mut self, s: &Src, place: Place, tmp: V) -> Option<V> {
        let from = self.elements(s, place, tmp)?;
        Some(self.in_register(from, &part_of_dwords(place.bytes()), tmp))
    }

    /// Narrow elements, as many as the place has: also those that were not made, which are in no place.
    fn beside(&mut self, s: &Src, channels: u32) -> Option<(Opd, Type)> {
        let Src::Reg { offset, ty, shape: Shape::Contiguous, modifier: Modifier::None, .. } = *s else {
            return None;
        };
        if !ty.is_int() || ty.size() >= 4 {
            return None;
        }
        let bytes = channels * ty.size();
        if let Some(all) = self.known.literal(self.now, offset, ty, channels) {
            let mut dwords = [0; 16];
            let size = ty.size() as usize;
            for (k, x) in all.iter().enumerate() {
                let bits = x & (u32::MAX >> (32 - 8 * size));
                dwords[k * size / 4] |= bits << (k * size % 4 * 8);
            }
            return Some((Opd::Mem(self.literals(dwords)), ty));
        }
        match self.home(offset, bytes) {
            Some(v) => Some((Opd::Reg(v), ty)),
            None => self.in_memory(offset, bytes).ok().map(|()| (Opd::Mem(self.reg(offset)), ty)),
        }
    }

    /// The register that an instruction's last result goes to, from which [`Self::put`] writes the place.
    fn result(&self, place: Place) -> V {
        self.home(place.to, place.bytes()).filter(|_| place.masked.is_none()).unwrap_or(0)
    }

    /// Writes a place from register 0, or its own.
    fn put(&mut self, place: Place) {
        let w = Width::of(place.bytes());
        match (self.home(place.to, place.bytes()), place.masked) {
            (Some(v), Some(first)) => {
                let mut k = EXEC[first as usize / 16];
                if place.channels == 32 {
                    self.a.kkk(Code::VEX_Kunpckwd_kr_kr_kr, 5, EXEC[1], EXEC[0]);
                    k = 5;
                }
                let op = if place.ty.size() == 2 { VMOVDQU16 } else { VMOVDQU8 };
                self.a.v2(op, w, v, Opd::Reg(0), Lanes::Of(k));
            }
            // It was made there.
            (Some(_), None) => {}
            (None, _) => self.a.store(STORE32, w, self.reg(place.to), 0, Lanes::All),
        }
    }

    /// An integer as often as it goes into a dword.
    fn repeated(&mut self, x: i64, ty: Type) -> Opd {
        Opd::Bcast(self.literal(match ty.size() {
            2 => (x as u32 & 0xffff) * 0x1_0001,
            _ => (x as u32 & 0xff) * 0x101_0101,
        }))
    }

    /// Operations on bits.
    fn bits(&mut self, i: &Inst, place: Place) -> Result<bool, Unsupported> {
        let sources = match i.op {
            Op::Mov | Op::Not => 1,
            Op::And | Op::Or | Op::Xor => 2,
            Op::Bfn => 3,
            _ => return Ok(false),
        };
        let mut from = [Opd::Reg(0); 3];
        // Register 0 is written while others are still read.
        let mut inverted = [false; 3];
        for (k, ((s, from), tmp)) in i.src.iter().zip(&mut from).zip([2, 1, 3]).take(sources).enumerate() {
            let mut s = *s;
            let Src::Reg { modifier, .. } = &mut s else { return Ok(false) };
            inverted[k] = *modifier == Modifier::Not;
            let both = matches!(i.op, Op::And | Op::Or | Op::Xor);
            match modifier {
                Modifier::None => {}
                Modifier::Not if both => *modifier = Modifier::None,
                _ => return Ok(false),
            }
            let Some(x) = self.elements(&s, place, tmp) else { return Ok(false) };
            *from = x;
        }
        let (w, to) = (Width::of(place.bytes()), self.result(place));
        let part = part_of_dwords(place.bytes());
        let [a, b, c] = from;
        match i.op {
            Op::Bfn => {
                let (b, c) = (self.in_register(b, &part, 1), self.in_register(c, &part, 0));
                self.copy_reg(0, c, w);
                self.a.v3i(VPTERNLOGD, w, 0, b, a, i.aux & 0xff, Lanes::All);
                self.copy_reg(to, 0, w);
            }
            op => {
                let a = self.in_register(a, &part, 0);
                match op {
                    _ if inverted != [false; 3] => {
                        let table = truth_table(op, inverted);
                        self.a.v3i(VPTERNLOGD, w, to, a, b, table, Lanes::All);
                    }
                    Op::Mov => self.copy_reg(to, a, w),
                    Op::And => self.a.v3(VPANDD, w, to, a, b, Lanes::All),
                    Op::Or => self.a.v3(VPORD, w, to, a, b, Lanes::All),
                    Op::Xor => self.a.v3(VPXORD, w, to, a, b, Lanes::All),
                    Op::Not => self.a.v3i(VPTERNLOGD, w, to, a, Opd::Reg(a), 0x55, Lanes::All),
                    _ => {}
                }
            }
        }
        self.put(place);
        Ok(true)
    }

    /// Elements of one source or of the other, as a predicate says that is where it is kept.
    fn selected_narrow(&mut self, i: &Inst, place: Place) -> Result<bool, Unsupported> {
        let sixteens = matches!(i.channels, 16 | 32) && i.first.is_multiple_of(16);
        let plain = |s: &Src| matches!(s, Src::Reg { modifier: Modifier::None, .. });
        let made = self.deferred.pred(self.now, i.pred.offset).is_some();
        let able = sixteens && self.level == Level::Avx512 && i.pred.combine == Combine::None && !made;
        if !able || i.pred.offset == 0 || !i.src[..2].iter().all(plain) {
            return Ok(false);
        }
        let [taken, other] = if i.pred.invert { [1, 0] } else { [0, 1] };
        let Some(a) = self.element_operand(&i.src[taken], place, 1) else { return Ok(false) };
        let Some(b) = self.element_register(&i.src[other], place, 2) else { return Ok(false) };
        // By sixteens: CPUs do not forward two stores, as of a compare of dwords, to one load.
        for (k, half) in [5, 7].into_iter().zip(0..u32::from(i.channels) / 16) {
            let bits = self.reg(i.pred.offset + u32::from(i.first) / 8 + 2 * half);
            self.a.rm(Code::VEX_Kmovw_kr_km16, mask_register(k), bits);
        }
        if i.channels == 32 {
            self.a.kkk(Code::VEX_Kunpckwd_kr_kr_kr, 5, 7, 5);
        }
        let w = Width::of(place.bytes());
        let blend = if place.ty.size() == 2 { VPBLENDMW } else { VPBLENDMB };
        self.a.v3(blend, w, self.result(place), b, a, Lanes::Of(5));
        self.put(place);
        Ok(true)
    }

    /// Sums and differences, of which only the low bits count.
    fn summed(&mut self, i: &Inst, place: Place) -> Result<bool, Unsupported> {
        let (w, words) = (Width::of(place.bytes()), place.ty.size() == 2);
        let (add, subtract) = if words { (VPADDW, VPSUBW) } else { (VPADDB, VPSUBB) };
        // What is taken away comes last.
        let negative = |s: &Src| {
            matches!(s, Src::Reg { modifier: Modifier::Neg | Modifier::NegAbs, constant: false, .. })
        };
        let mut order: Vec<&Src> = i.src.iter().filter(|s| **s != Src::None).collect();
        order.sort_by_key(|s| negative(s));
        let Some((first, rest)) = order.split_first() else { return Ok(false) };
        let (mut sum, mut rest) = (0, rest);
        if negative(first) {
            self.a.v3(VPXORD, w, 0, 0, Opd::Reg(0), Lanes::All);
            rest = &order;
        } else {
            let Some(v) = self.element_register(first, place, 0) else { return Ok(false) };
            sum = v;
        }
        let to = self.result(place);
        for (k, s) in rest.iter().enumerate() {
            let Some(b) = self.element_operand(s, place, 1) else { return Ok(false) };
            let made = if k + 1 == rest.len() { to } else { 0 };
            self.a.v3(if negative(s) { subtract } else { add }, w, made, sum, b, Lanes::All);
            sum = made;
        }
        self.copy_reg(to, sum, w);
        self.put(place);
        Ok(true)
    }

    /// Products, of which only the low bits count, and sums with them. Those of bytes are words' before.
    fn multiplied(&mut self, i: &Inst, place: Place) -> Result<bool, Unsupported> {
        let (n, w, words) = (place.bytes(), Width::of(place.bytes()), place.ty.size() == 2);
        let to = self.result(place);
        let made = if i.op == Op::Mul { to } else { 0 };
        let Some(a) = self.element_register(&i.src[0], place, 1) else { return Ok(false) };
        let b = match i.src[0] == i.src[1] {
            true => Opd::Reg(a),
            false => {
                let Some(b) = self.element_operand(&i.src[1], place, 2) else { return Ok(false) };
                b
            }
        };
        if words {
            self.a.v3(VPMULLW, w, made, a, b, Lanes::All);
        } else {
            let wide = Width::of(2 * n);
            self.a.v2(VPMOVZXBW, wide, 0, Opd::Reg(a), Lanes::All);
            let same = b == Opd::Reg(a);
            if !same {
                self.a.v2(VPMOVZXBW, wide, 2, b, Lanes::All);
            }
            self.a.v3(VPMULLW, wide, 0, 0, Opd::Reg(if same { 0 } else { 2 }), Lanes::All);
            self.a.store_to_reg(VPMOVWB, wide, made, 0);
        }
        if i.op == Op::Mad {
            let Some(c) = self.element_operand(&i.src[2], place, 1) else { return Ok(false) };
            self.a.v3(if words { VPADDW } else { VPADDB }, w, to, 0, c, Lanes::All);
        }
        self.put(place);
        Ok(true)
    }

    /// Words shifted by a constant: as the dwords that they are extended to, of which the low bits count.
    fn shifted(&mut self, i: &Inst, place: Place) -> Result<bool, Unsupported> {
        let (Some(n), Src::Reg { ty, constant: false, .. }) =
            (crate::affine_vectors::constant(self.p, &i.src[1]), i.src[0])
        else {
            return Ok(false);
        };
        let n = n as u32 & 31;
        let op = match (i.op, ty.is_signed()) {
            (Op::Shl, _) => VPSLLW,
            (Op::Asr, true) => VPSRAW,
            // The upper half of the dword comes down.
            (Op::Shr, true) if n <= 16 => VPSRAW,
            (Op::Shr, true) => return Ok(false),
            _ => VPSRLW,
        };
        let Some(v) = self.element_register(&i.src[0], place, 0) else { return Ok(false) };
        self.a.v2i(op, Width::of(place.bytes()), self.result(place), Opd::Reg(v), n, Lanes::All);
        self.put(place);
        Ok(true)
    }

    /// Moves from integers of another size.
    fn resized(&mut self, i: &Inst, place: Place) -> Result<bool, Unsupported> {
        let (n, to) = (place.channels, self.result(place));
        if let Some((from, of)) = self.beside(&i.src[0], n) {
            let w = Width::of(2 * n);
            match (of.size(), place.ty.size()) {
                (1, 2) if 2 * n <= 64 => {
                    let op = if of.is_signed() { VPMOVSXBW } else { VPMOVZXBW };
                    self.a.v2(op, w, to, from, Lanes::All);
                }
                (2, 1) if 2 * n <= 64 => {
                    let v = self.in_register(from, &part_of_dwords(2 * n), 0);
                    self.a.store_to_reg(VPMOVWB, w, to, v);
                }
                _ => return Ok(false),
            }
            self.put(place);
            return Ok(true);
        }
        // Two vectors of dwords; of one alone what is written is whole as it is.
        if n != 32 {
            return Ok(false);
        }
        let words = place.ty.size() == 2;
        let op = if words { VPMOVDW } else { VPMOVDB };
        for part in &self.all_parts(i, 4)? {
            let half = part.index as V;
            let v = self.source(i, 0, part, half)?;
            let v = self.in_register(v, part, half);
            self.a.store_to_reg(op, Width::Z, half, v);
        }
        let (insert, w) = match words {
            true => (Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8, Width::Z),
            false => (Code::EVEX_Vinserti32x4_ymm_k1z_ymm_xmmm128_imm8, Width::Y),
        };
        let high = vector_register(1, if words { Width::Y } else { Width::X });
        self.a.push(iced_x86::Instruction::with4(
            insert,
            vector_register(to, w),
            vector_register(0, w),
            high,
            1,
        ));
        self.put(place);
        Ok(true)
    }

    /// The lesser or greater of elements of one type, which the result has, too.
    fn least_narrow(&mut self, i: &Inst, place: Place) -> Result<bool, Unsupported> {
        let [a, b] = [0, 1].map(|k| self.beside(&i.src[k], place.channels));
        let (Some((a, of)), Some((b, other))) = (a, b) else { return Ok(false) };
        let signed = of.is_signed();
        if of != other || of.size() != place.ty.size() || signed != (i.exec == ExecType::I32) {
            return Ok(false);
        }
        let op = match (i.op == Op::Min, of.size(), signed) {
            (true, 1, false) => VPMINUB,
            (true, 1, true) => VPMINSB,
            (true, _, false) => VPMINUW,
            (true, _, true) => VPMINSW,
            (false, 1, false) => VPMAXUB,
            (false, 1, true) => VPMAXSB,
            (false, _, false) => VPMAXUW,
            (false, _, true) => VPMAXSW,
        };
        let (w, part) = (Width::of(place.bytes()), part_of_dwords(place.bytes()));
        let a = self.in_register(a, &part, 0);
        self.a.v3(op, w, self.result(place), a, b, Lanes::All);
        self.put(place);
        Ok(true)
    }

    /// Compares of elements of one type into elements of the same size.
    fn compared(&mut self, i: &Inst, place: Place) -> Result<bool, Unsupported> {
        if i.src
            .iter()
            .any(|s| matches!(*s, Src::Reg { ty, constant: false, .. } if ty.size() != place.ty.size()))
            || !self.compare_narrow(i)?
        {
            return Ok(false);
        }
        let w = Width::of(place.bytes());
        let spread = if place.ty.size() == 2 { VPMOVM2W } else { VPMOVM2B };
        self.a.rr(spread[w as usize], vector_register(self.result(place), w), mask_register(4));
        self.put(place);
        Ok(true)
    }

    /// Compares narrow elements of one type, or one for all or a number, up to 64 bytes of them, into mask 4: `false`, and
    /// nothing done, of others.
    fn compare_narrow(&mut self, i: &Inst) -> Result<bool, Unsupported> {
        let n = u32::from(i.channels);
        // A magnitude is an unsigned integer.
        let typed = |ty: Type, modifier: Modifier| match (modifier, ty) {
            (Modifier::None, _) => Some(ty),
            (Modifier::Abs, Type::W | Type::Uw) => Some(Type::Uw),
            (Modifier::Abs, Type::B | Type::Ub) => Some(Type::Ub),
            _ => None,
        };
        let of = i.src[..2].iter().find_map(|s| match *s {
            Src::Reg { ty, modifier, shape: Shape::Contiguous, constant: false, .. } => {
                typed(ty, modifier).filter(|_| ty.is_int() && ty.size() < 4)
            }
            _ => None,
        });
        let number = |s: &Src| crate::affine_vectors::constant(self.p, s);
        let alike = |of: Type, s: &Src| match (*s, number(s)) {
            (_, Some(x)) => type_holds_value(of, x),
            (Src::Reg { ty, modifier, .. }, None) => typed(ty, modifier) == Some(of),
            _ => false,
        };
        let Some(of) = of.filter(|of| i.src[..2].iter().all(|s| alike(*of, s))) else { return Ok(false) };
        let bytes = n * of.size();
        let Some(op) = narrow_compare_op(of, i.exec).filter(|_| matches!(bytes, 16 | 32 | 64)) else {
            return Ok(false);
        };
        let how = *select::INTEGERS.get(i.aux as usize).ok_or("a relation")?;
        let place = Place { to: 0, ty: of, channels: n, masked: None };
        let Some(a) = self.element_register(&i.src[0], place, 1) else { return Ok(false) };
        let Some(b) = self.elements(&i.src[1], place, 2) else { return Ok(false) };
        let (w, part) = (Width::of(bytes), part_of_dwords(bytes));
        // Compares of these have no elements for all lanes.
        let b = match b {
            Opd::Bcast(_) => Opd::Reg(self.in_register(b, &part, 2)),
            b => b,
        };
        self.a.vcmp(op, w, 4, a, b, how, None);
        Ok(true)
    }

    /// Compares a part's narrow elements, of one type or with a number, as what they are into a mask, zero where `of` is:
    /// `false`, and nothing done, of others.
    pub(super) fn narrow_part(
        &mut self,
        i: &Inst,
        part: &Part,
        k: K,
        of: Option<K>,
    ) -> Result<bool, Unsupported> {
        let narrow = |s: &Src| match *s {
            Src::Reg { offset, ty, shape: Shape::Contiguous, modifier: Modifier::None, .. } => {
                (ty.is_int() && ty.size() < 4).then_some((offset + part.lane * ty.size(), ty))
            }
            _ => None,
        };
        let number = |s: &Src| crate::affine_vectors::constant(self.p, s);
        let [a, b] = [&i.src[0], &i.src[1]];
        let Some((from, ty)) = narrow(a).filter(|_| self.level == Level::Avx512) else { return Ok(false) };
        let bytes = part.lanes * ty.size();
        let Some(op) = narrow_compare_op(ty, i.exec).filter(|_| matches!(bytes, 16 | 32)) else {
            return Ok(false);
        };
        let one = |s: &Src| {
            matches!(*s, Src::Reg { ty: of, shape: Shape::Scalar, modifier: Modifier::None, constant: false, .. }
                if of == ty)
        };
        // What was not made is in no place.
        let made = |at: RegOffset| self.known.literal(self.now, at, ty, part.lanes).is_none();
        let beside = narrow(b).filter(|(from, same)| *same == ty && made(*from));
        let held = number(b).is_some_and(|x| type_holds_value(ty, x));
        if !made(from) || !(beside.is_some() || held || one(b)) {
            return Ok(false);
        }
        let how = *select::INTEGERS.get(i.aux as usize).ok_or("a relation")?;
        let (w, whole) = (Width::of(bytes), part_of_dwords(bytes));
        let Ok(a) = self.convertible(from, bytes, 1) else { return Ok(false) };
        let a = self.in_register(a, &whole, 1);
        let b = match beside {
            Some((from, _)) => self.convertible(from, bytes, 2)?,
            None => {
                let place = Place { to: 0, ty, channels: part.lanes, masked: None };
                let Some(b) = self.element_register(b, place, 2) else { return Ok(false) };
                Opd::Reg(b)
            }
        };
        self.a.vcmp(op, w, k, a, b, how, of);
        Ok(true)
    }

    /// A compare of the narrow elements of 32 channels into a predicate, all of which is written: `false`, and nothing done,
    /// of others.
    pub(super) fn narrow_truths(&mut self, pc: Pc, i: &Inst, to: RegOffset) -> Result<bool, Unsupported> {
        let id = self.cells.at(to).ok_or("a predicate that is no cell")?;
        let all = i.no_mask || self.all_active(pc) || self.live.may_write_unmasked(pc, id);
        let whole = (i.channels, i.first) == (32, 0) && all && self.level == Level::Avx512;
        if !whole || !self.compare_narrow(i)? {
            return Ok(false);
        }
        let m = self.reg(to);
        self.a.mr(Code::VEX_Kmovd_m32_kr, m, mask_register(4));
        Ok(true)
    }
}

/// Is an integer negated, or is it a magnitude?
fn has_sign_modifier(s: &Src) -> bool {
    matches!(s, Src::Reg { modifier: Modifier::Abs | Modifier::Neg | Modifier::NegAbs, constant: false, .. })
}

/// What `vpternlogd` makes of its second and third operand, some of which are inverted before.
fn truth_table(op: Op, inverted: [bool; 3]) -> u32 {
    (0..8).fold(0, |table, bits: u32| {
        let [a, b] = [bits >> 1 & 1 != 0, bits & 1 != 0];
        let [a, b] = [a != inverted[0], b != inverted[1]];
        let made = match op {
            Op::And => a && b,
            Op::Or => a || b,
            _ => a != b,
        };
        table | u32::from(made) << bits
    })
}

/// The compare of narrow integers that is the one of dwords that they are extended to.
fn narrow_compare_op(ty: Type, exec: ExecType) -> Option<crate::vector_encodings::Op> {
    match (ty.size(), ty.is_signed(), exec) {
        (2, true, ExecType::I32) => Some(VPCMPW),
        (2, false, ExecType::I32 | ExecType::U32) => Some(VPCMPUW),
        (1, true, ExecType::I32) => Some(VPCMPB),
        (1, false, ExecType::I32 | ExecType::U32) => Some(VPCMPUB),
        _ => None,
    }
}

/// So many bytes as the dwords of a part.
fn part_of_dwords(bytes: u32) -> Part {
    Part { index: 0, lanes: bytes / 4, lane: 0, channel: 0, width: Width::of(bytes), bytes: 4 }
}

/// Does a narrow type have this value?
fn type_holds_value(ty: Type, x: i64) -> bool {
    let bits = 8 * ty.size();
    let range = if ty.is_signed() { -(1 << (bits - 1))..1 << (bits - 1) } else { 0..1 << bits };
    range.contains(&x)
}
