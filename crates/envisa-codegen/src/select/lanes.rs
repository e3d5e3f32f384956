//! Lanes from anywhere; and what is computed lane by lane by the machine.

use envisa_vir::{Elem, Func, InstData, InstId, Shuffle, Type, Value, eval};
use iced_x86::Code;

use super::{Held, PIECE, Select, Unsupported};
use crate::inst::{Base, Class, Inst, Lanes, Mem, Op, Reg, Size};
use crate::ops;
use envisa_native_layout::{HELP, HELP_BYTES, HELP_OPERANDS, at};

/// An instruction without effects that has no code: what it computes, and of which types.
#[derive(Clone, Debug)]
pub struct Help {
    inst: InstData,
    func: std::sync::Arc<Func>,
    /// The operands, in order, each once.
    args: Vec<(Value, Type)>,
}

impl Help {
    /// Computes it: from the operands' bytes to the results', each [`HELP_BYTES`] from the one before.
    ///
    /// # Errors
    /// It is no such instruction: a mistake of the compiler.
    pub fn compute(&self, room: &mut [u8]) -> Result<(), &'static str> {
        let lanes = |ty: Type, bytes: &[u8]| -> Vec<u64> {
            let n = ty.elem.bytes() as usize;
            if n == 0 {
                let bits = bytes.iter().take(4).rev().fold(0u32, |x, b| x << 8 | u32::from(*b));
                return (0..ty.lanes).map(|k| u64::from(bits >> k & 1)).collect();
            }
            let number = |b: &[u8]| b.iter().rev().fold(0, |x, b| x << 8 | u64::from(*b));
            bytes.chunks_exact(n).take(ty.lanes.into()).map(number).collect()
        };
        let size = HELP_BYTES as usize;
        let of = |v: Value| {
            let k = self.args.iter().position(|a| a.0 == v)?;
            Some(lanes(self.args[k].1, room.get(k * size..)?))
        };
        let results = eval::pure(&self.func, &self.inst, &of).ok_or("an instruction that nobody computes")?;
        for (k, lanes) in results.iter().enumerate() {
            let ty = self.func.ty(Value(self.inst.first.0 + k as u32));
            let from = (HELP_OPERANDS as usize + k) * size;
            let to = room.get_mut(from..from + size).ok_or("too few bytes")?;
            let n = ty.elem.bytes() as usize;
            if n == 0 {
                let bits = lanes.iter().zip(0..).fold(0u32, |b, (x, k)| b | (*x as u32 & 1) << k);
                to[..4].copy_from_slice(&bits.to_le_bytes());
                continue;
            }
            for (to, x) in to.chunks_exact_mut(n).zip(lanes) {
                to.copy_from_slice(&x.to_le_bytes()[..n]);
            }
        }
        Ok(())
    }
}

impl Select<'_> {
    /// What has no code is computed by the machine.
    pub(super) fn helped(&mut self, id: InstId) -> Result<(), Unsupported> {
        let f = self.f;
        let inst = f.inst(id).clone();
        let mut args: Vec<(Value, Type)> = Vec::new();
        inst.inst.operands(&mut |v| {
            if !args.iter().any(|a| a.0 == v) {
                args.push((v, f.ty(v)));
            }
        });
        if args.len() > HELP_OPERANDS as usize || inst.results > 2 {
            return Err("an instruction of many operands");
        }
        let place = |k: u32| Mem::at(Base::Context, at::HELP + HELP_BYTES * k);
        for ((v, _), k) in args.iter().zip(0..) {
            self.put(*v, place(k))?;
        }
        let number = HELP | self.help.len() as u32;
        self.m.push(self.at, Inst::Call { number });
        for k in 0..inst.results {
            self.take(self.result(id, k), place(HELP_OPERANDS + k))?;
        }
        let func = self.shared.get_or_insert_with(|| f.clone().into()).clone();
        self.help.push(Help { inst, func, args });
        Ok(())
    }

    /// Puts a value into memory: lanes one after another; of masks a dword.
    pub(super) fn put(&mut self, v: Value, m: Mem) -> Result<(), Unsupported> {
        let ty = self.ty(v);
        if ty.is_mask() {
            let r = self.bits(v)?;
            self.store_general(Elem::I32, m, r);
            return Ok(());
        }
        if ty.lanes == 1 {
            let r = self.general(v)?;
            self.store_general(ty.elem, m, r);
            return Ok(());
        }
        for k in 0..self.parts(ty) {
            let part = self.part(v, k)?;
            self.store_bytes(ty.bytes().min(self.target.bytes()), m.further(64 * k as i32), part)?;
        }
        Ok(())
    }

    /// Takes a value out of memory.
    pub(super) fn take(&mut self, v: Value, m: Mem) -> Result<(), Unsupported> {
        let ty = self.ty(v);
        if ty.is_mask() {
            let r = self.load_general(Elem::I32, m);
            self.set_bits(v, r);
        } else if ty.lanes == 1 {
            let r = self.load_general(ty.elem, m);
            self.set(v, Held::General(r));
        } else {
            let parts = self.load_row(ty, m)?;
            self.set_parts(v, parts);
        }
        if self.stepped(v).is_some() {
            let r = self.extract(v)?;
            self.firsts[v.index()] = Some(r);
        }
        Ok(())
    }

    /// So many lanes of a vector from one on, in the lowest ones of a register: both are powers of two, and all of
    /// them are in one part.
    pub(super) fn slice(&mut self, v: Value, first: u32, lanes: u32) -> Result<Reg, Unsupported> {
        let ty = self.ty(v);
        let of = self.lanes_of_part(ty);
        let part = self.part(v, (first / of) as usize)?;
        self.upper(part, first % of * ty.elem.bytes(), lanes * ty.elem.bytes())
    }

    /// Bytes of a register from one on, at its beginning.
    pub(super) fn upper(&mut self, r: Reg, from: u32, bytes: u32) -> Result<Reg, Unsupported> {
        if from == 0 {
            return Ok(r);
        }
        let mut r = r;
        let mut at = from;
        if at >= 32 && bytes <= 32 {
            let ops = [Op::Use(r, Size::Z), Op::Imm8(1)];
            r = self.m.op(
                self.at,
                Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8,
                (Class::Vector, Size::Y),
                &ops,
            );
            at -= 32;
        }
        if at >= 16 && bytes <= 16 {
            let ops = [Op::Use(r, Size::Y), Op::Imm8(1)];
            let code = Code::EVEX_Vextracti32x4_xmmm128_k1z_ymm_imm8;
            r = self.m.op(self.at, code, (Class::Vector, Size::X), &ops);
            at -= 16;
        }
        if at > 0 {
            if at + bytes > 16 {
                return Err("lanes across a register's quarters");
            }
            let ops = [Op::Use(r, Size::X), Op::Imm8(at as u8)];
            r = self.m.op(self.at, Code::EVEX_Vpsrldq_xmm_xmmm128_imm8, (Class::Vector, Size::X), &ops);
        }
        Ok(r)
    }

    /// Registers of so many bytes each one after another, in parts.
    pub(super) fn join(&mut self, mut regs: Vec<Reg>, mut bytes: u32) -> Vec<Reg> {
        while regs.len() > 1 && bytes < self.target.bytes() {
            let (code, size, insert) = match bytes {
                1 => (Code::EVEX_Vpunpcklbw_xmm_k1z_xmm_xmmm128, Size::X, false),
                2 => (Code::EVEX_Vpunpcklwd_xmm_k1z_xmm_xmmm128, Size::X, false),
                4 => (Code::EVEX_Vpunpckldq_xmm_k1z_xmm_xmmm128b32, Size::X, false),
                8 => (Code::EVEX_Vpunpcklqdq_xmm_k1z_xmm_xmmm128b64, Size::X, false),
                16 => (Code::EVEX_Vinserti32x4_ymm_k1z_ymm_xmmm128_imm8, Size::Y, true),
                _ => (Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8, Size::Z, true),
            };
            let half = if bytes == 32 { Size::Y } else { Size::X };
            regs = regs
                .chunks(2)
                .map(|p| {
                    let mut ops = vec![Op::Use(p[0], size), Op::Use(p[1], half)];
                    if insert {
                        ops.push(Op::Imm8(1));
                    }
                    self.m.op(self.at, code, (Class::Vector, size), &ops)
                })
                .collect();
            bytes *= 2;
        }
        regs
    }

    /// Lanes from anywhere.
    pub(super) fn shuffle(&mut self, id: InstId, s: &Shuffle) -> Result<bool, Unsupported> {
        let v = self.result(id, 0);
        let ty = self.ty(v);
        if ty.is_mask() {
            return self.shuffle_masks(v, s);
        }
        let unit = u32::from(s.unit);
        if ty.lanes == 1 {
            return self.pick(v, s);
        }
        if self.narrowed(v, s)? {
            return Ok(true);
        }
        // By permutations of sources.
        let (op, permi) = match unit {
            2 => (Code::EVEX_Vpermw_zmm_k1z_zmm_zmmm512, true),
            4 => (Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32, true),
            8 => (Code::EVEX_Vpermq_zmm_k1z_zmm_zmmm512b64, true),
            _ => (Code::INVALID, false),
        };
        if !permi || self.target.bytes() != 64 {
            return self.unit_by_unit(v, s);
        }
        // By unit: the source's register, and the unit in it.
        let mut places: Vec<(Value, u32, u32)> = Vec::new();
        for a in &s.args {
            let bytes = self.ty(*a).bytes();
            for at in (0..bytes).step_by(unit as usize) {
                places.push((*a, at / 64, at % 64 / unit));
            }
        }
        let per = (ty.bytes().min(64) / unit) as usize;
        let mut out = Vec::new();
        for units in s.units.chunks(per) {
            let from: Vec<(Value, u32, u32)> = units.iter().map(|u| places[*u as usize]).collect();
            out.push(self.permuted(op, unit, &from)?);
        }
        self.set_parts(v, out);
        Ok(true)
    }

    /// A shuffle through memory.
    fn unit_by_unit(&mut self, v: Value, s: &Shuffle) -> Result<bool, Unsupported> {
        let (ty, unit) = (self.ty(v), u32::from(s.unit));
        let room = Mem::at(Base::Context, at::HELP);
        let mut bytes = 0;
        for a in &s.args {
            if bytes + self.ty(*a).bytes() > HELP_OPERANDS * HELP_BYTES {
                return Err("a shuffle of very many bytes");
            }
            self.put(*a, room.further(bytes as i32))?;
            bytes += self.ty(*a).bytes();
        }
        let to = room.further((HELP_OPERANDS * HELP_BYTES) as i32);
        let elem = Elem::of_bytes(unit).ok_or("a unit of an odd size")?;
        for (u, k) in s.units.iter().zip(0..) {
            let r = self.load_general(elem, room.further((u32::from(*u) * unit) as i32));
            self.store_general(elem, to.further((k * unit) as i32), r);
        }
        let parts = self.load_row(ty, to)?;
        self.set_parts(v, parts);
        Ok(true)
    }

    /// A part of units by where they come from.
    fn permuted(&mut self, code: Code, unit: u32, from: &[(Value, u32, u32)]) -> Result<Reg, Unsupported> {
        let mut sources: Vec<(Value, u32)> = Vec::new();
        for (v, part, _) in from {
            if !sources.contains(&(*v, *part)) {
                sources.push((*v, *part));
            }
        }
        let index = |at: &dyn Fn(&(Value, u32, u32)) -> u32| {
            let mut bytes = [0u8; 64];
            for (f, to) in from.iter().zip(bytes.chunks_mut(unit as usize)) {
                to.copy_from_slice(&u64::from(at(f)).to_le_bytes()[..unit as usize]);
            }
            std::array::from_fn(|k| u32::from_le_bytes([0, 1, 2, 3].map(|j| bytes[4 * k + j])))
        };
        let which = index(&|f| f.2);
        let in_place = from.iter().zip(0..).all(|(f, k)| f.2 == k);
        let which = self.m.literals(which);
        let mov = self.code(&ops::MOV32, Size::Z)?;
        let which = self.m.op(self.at, mov, (Class::Vector, Size::Z), &[Op::Mem(which)]);
        let mut made: Option<Reg> = None;
        for (v, part) in sources {
            let r = self.whole_part(v, part)?;
            let Some(before) = made else {
                let ops = [Op::Use(which, Size::Z), Op::Use(r, Size::Z)];
                let all = if in_place { r } else { self.m.op(self.at, code, (Class::Vector, Size::Z), &ops) };
                made = Some(all);
                continue;
            };
            let mine = from.iter().zip(0..).filter(|(f, _)| (f.0, f.1) == (v, part));
            let bits = mine.fold(0u64, |b, (_, k)| b | 1 << k);
            let k = self.number(bits);
            let k = self.kop(Code::VEX_Kmovq_kr_r64, &[Op::Use(k, Size::R64)]);
            let to = self.m.reg(Class::Vector);
            let ops =
                [Op::Mod { from: before, to, size: Size::Z }, Op::Use(which, Size::Z), Op::Use(r, Size::Z)];
            self.m.lanes(self.at, code, &ops, Lanes::Of(k));
            made = Some(to);
        }
        made.ok_or("a shuffle of nothing")
    }

    /// A part of any value in a vector register.
    fn whole_part(&mut self, v: Value, part: u32) -> Result<Reg, Unsupported> {
        if self.ty(v).lanes == 1 { self.lane(v) } else { self.part(v, part as usize) }
    }

    /// The low bits of wider lanes of one value; `false` if it is none.
    fn narrowed(&mut self, v: Value, s: &Shuffle) -> Result<bool, Unsupported> {
        let ty = self.ty(v);
        let (unit, [arg]) = (u32::from(s.unit), &s.args[..]) else { return Ok(false) };
        let from = self.ty(*arg);
        let ratio = from.elem.bytes() / unit.max(1);
        if unit != ty.elem.bytes() || ratio < 2 {
            return Ok(false);
        }
        let Some(first) = s.step(ratio as u16) else { return Ok(false) };
        let (lane, within) = (u32::from(first) / ratio, u32::from(first) % ratio);
        if lane != 0 || ty.lanes != from.lanes {
            return Ok(false);
        }
        let mut parts = Vec::new();
        let size = self.size(from);
        let (op, shift) = match (from.elem, ty.elem) {
            (Elem::I32, Elem::I16) => (&ops::DOWN32TO16, Some(&ops::SRL32)),
            (Elem::I32, Elem::I8) => (&ops::DOWN32TO8, Some(&ops::SRL32)),
            (Elem::I64, Elem::I32) => (&ops::DOWN64TO32, Some(&ops::SRL64)),
            (Elem::I64, Elem::I16) => (&ops::DOWN64TO16, Some(&ops::SRL64)),
            (Elem::I64, Elem::I8) => (&ops::DOWN64TO8, Some(&ops::SRL64)),
            (Elem::I16, Elem::I8) => (&ops::DOWN16TO8, None),
            _ => return Ok(false),
        };
        if within != 0 && shift.is_none() {
            return Ok(false);
        }
        for k in 0..self.parts(from) {
            let mut r = self.part(*arg, k)?;
            if let (Some(shift), true) = (shift, within != 0) {
                r = self.vop(shift, size, &[Op::Use(r, size), Op::Imm8((8 * unit * within) as u8)])?;
            }
            parts.push(self.down(op, size, from.elem, ty.elem, r)?);
        }
        let each = from.bytes().min(self.target.bytes()) / ratio;
        let parts = self.join(parts, each);
        self.set_parts(v, parts);
        Ok(true)
    }

    /// The low bits of a register's lanes.
    pub(super) fn down(
        &mut self,
        op: &ops::Vop,
        size: Size,
        from: Elem,
        to: Elem,
        r: Reg,
    ) -> Result<Reg, Unsupported> {
        let bytes = match size {
            Size::Z => 64,
            Size::Y => 32,
            _ => 16,
        } * to.bytes()
            / from.bytes();
        let small = if bytes > 16 { Size::Y } else { Size::X };
        let (code, d) = (self.code(op, size)?, self.m.reg(Class::Vector));
        self.m.plain(self.at, code, &[Op::Def(d, small), Op::Use(r, size)]);
        Ok(d)
    }

    /// One lane.
    fn pick(&mut self, v: Value, s: &Shuffle) -> Result<bool, Unsupported> {
        let (ty, unit) = (self.ty(v), u32::from(s.unit));
        let mut made: Option<Reg> = None;
        for (u, nth) in s.units.iter().zip(0u32..) {
            let mut byte = u32::from(*u) * unit;
            let mut found = None;
            for a in &s.args {
                if byte < self.ty(*a).bytes() {
                    found = Some(*a);
                    break;
                }
                byte -= self.ty(*a).bytes();
            }
            let a = found.ok_or("a unit of nothing")?;
            let from = self.ty(a);
            let (lane, within) = (byte / from.elem.bytes(), byte % from.elem.bytes());
            if byte + unit > from.bytes() {
                return Err("a unit of several operands");
            }
            let mut r = match (from.lanes, lane, self.stepped(a)) {
                (1, ..) => self.general(a)?,
                _ if unit > from.elem.bytes() => {
                    let r = self.slice(a, lane, unit / from.elem.bytes())?;
                    self.out_of_lane(r, Elem::of_bytes(unit).ok_or("a unit of an odd size")?)
                }
                (_, 0, Some(_)) => self.first(a)?,
                _ => {
                    let r = self.slice(a, lane, 1)?;
                    self.out_of_lane(r, from.elem)
                }
            };
            if within > 0 {
                r = self.gchange(Code::Shr_rm64_imm8, r, Size::R64, &[Op::Imm8(8 * within as u8)]);
            }
            if unit < from.elem.bytes() {
                r = match Elem::of_bytes(unit) {
                    Some(Elem::I32) => self.gop(Code::Mov_r32_rm32, Size::R32, &[Op::Use(r, Size::R32)]),
                    Some(e) => self.zeros_above(r, e),
                    None => return Ok(false),
                };
            }
            if nth > 0 {
                r = self.gchange(Code::Shl_rm64_imm8, r, Size::R64, &[Op::Imm8((8 * unit * nth) as u8)]);
            }
            made = Some(match made {
                None => r,
                Some(m) => self.gchange(Code::Or_r64_rm64, m, Size::R64, &[Op::Use(r, Size::R64)]),
            });
        }
        let r = made.ok_or("a shuffle of nothing")?;
        debug_assert!(ty.lanes == 1);
        self.set(v, Held::General(r));
        Ok(true)
    }

    /// Lanes of masks: by runs of bits.
    fn shuffle_masks(&mut self, v: Value, s: &Shuffle) -> Result<bool, Unsupported> {
        let lanes = u32::from(self.ty(v).lanes);
        // Pieces as they are.
        if lanes >= PIECE
            && let Some(first) = s.slice()
            && let [arg] = s.args[..]
            && u32::from(first).is_multiple_of(PIECE)
            && self.ty(arg).lanes > 1
        {
            let from = u32::from(first) / PIECE;
            let pieces = (0..lanes / PIECE).map(|k| self.piece(arg, (from + k) as usize));
            let pieces = pieces.collect::<Result<Vec<_>, _>>()?;
            self.set(v, Held::Masks(pieces));
            return Ok(true);
        }
        let mut all = Vec::new();
        for a in &s.args {
            all.extend((0..u32::from(self.ty(*a).lanes)).map(|k| (*a, k)));
        }
        let from: Vec<(Value, u32)> = s.units.iter().map(|u| all[*u as usize]).collect();
        let mut made: Option<Reg> = None;
        let mut k = 0;
        while k < from.len() {
            let (a, bit) = from[k];
            let run = (k..from.len()).take_while(|j| from[*j] == (a, bit + (j - k) as u32)).count();
            let same = from[k..].iter().take_while(|f| **f == (a, bit)).count();
            // A false constant adds nothing.
            let zero = self.f.constant(a) == Some(0);
            let n = run.max(same);
            if !zero {
                let mut r = self.bits(a)?;
                if bit > 0 {
                    r = self.gchange(Code::Shr_rm32_imm8, r, Size::R32, &[Op::Imm8(bit as u8)]);
                }
                if same > run {
                    r = self.gchange(Code::And_rm32_imm32, r, Size::R32, &[Op::Imm32(1)]);
                    r = self.gchange(Code::Neg_rm32, r, Size::R32, &[]);
                }
                if n < 32 {
                    let ones = (u32::MAX >> (32 - n)) as i32;
                    r = self.gchange(Code::And_rm32_imm32, r, Size::R32, &[Op::Imm32(ones)]);
                }
                if k > 0 {
                    r = self.gchange(Code::Shl_rm32_imm8, r, Size::R32, &[Op::Imm8(k as u8)]);
                }
                made = Some(match made {
                    None => r,
                    Some(m) => self.gchange(Code::Or_r32_rm32, m, Size::R32, &[Op::Use(r, Size::R32)]),
                });
            }
            k += n;
        }
        let r = match made {
            Some(r) => r,
            None => self.number(0),
        };
        self.set_bits(v, r);
        Ok(true)
    }
}
