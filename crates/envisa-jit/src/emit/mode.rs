//! Instructions in the floating-point modes that are known before a program runs: see [`crate::float_modes`].
//!
//! Directions of rounding are the CPU's own, which [`Emit::rounds`] asks for where an instruction needs one, and which
//! are taken back before a block ends. What a mode flushes is flushed by instructions: the CPU's ways of doing so are
//! those of all formats together, and of results it asks whether they are small before they are rounded.

use envisa_sem::{FpMode, Mode, Rounding};
use iced_x86::RoundingControl;

use super::alu::is_float;
use super::*;

/// Functions of the math unit, which round to nearest in all modes.
fn of_math_unit(op: Op) -> bool {
    use Op::*;
    matches!(op, Inv | Rsqrt | Exp | Log | Pow | Sin | Cos | Tanh | Sigm)
}

fn is_integer(s: &Src) -> bool {
    matches!(s, Src::Reg { ty, .. } | Src::Indirect { ty, .. } if ty.is_int())
}

/// Does it compute with floats, or make such?
fn with_floats(i: &Inst) -> bool {
    is_float(i.exec) || matches!(i.dst, Dst::Reg { ty, .. } | Dst::Indirect { ty, .. } if ty.is_float())
}

/// Are its sources taken as they are, denormals and all?
fn copies_sources(op: Op) -> bool {
    matches!(op, Op::Mov | Op::Sel)
}

/// Which direction of rounding the CPU has to have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wants {
    /// Any: nothing is rounded.
    Any,
    /// That of the mode.
    Mode,
    /// To nearest: what is not said to need another.
    Nearest,
}

fn wanted_mode(i: &Inst) -> Wants {
    use Op::*;
    let indirect =
        i.src.iter().any(|s| matches!(s, Src::Indirect { .. })) || matches!(i.dst, Dst::Indirect { .. });
    match i.op {
        PredLogic | Setp | Nop | FunnelShift => Wants::Any,
        op if indirect || of_math_unit(op) => Wants::Nearest,
        Mov | Sel | Cmp | Min | Max if is_float(i.exec) => {
            let shortens = i.exec == ExecType::F64 && matches!(i.dst, Dst::Reg { ty, .. } if ty != Type::Df);
            if shortens || i.src.iter().any(is_integer) { Wants::Mode } else { Wants::Any }
        }
        Rndd | Rndu | Rnde | Rndz if !i.src.iter().any(is_integer) => Wants::Any,
        Add | Mul | Mad | Div | Divm | Sqrt | Sqrtm | Frc | Rndd | Rndu | Rnde | Rndz if is_float(i.exec) => {
            Wants::Mode
        }
        Mov | Sel | Add | Add3 | Mul | Mad | And | Or | Xor | Not | Shl | Shr | Asr | Min | Max | Bfn => {
            if with_floats(i) {
                Wants::Mode
            } else {
                Wants::Any
            }
        }
        Cmp => Wants::Any,
        _ => Wants::Nearest,
    }
}

/// The number of a direction as the CPU has it.
fn rounding_control_number(r: Rounding) -> u32 {
    match r {
        Rounding::NearestEven => 0,
        Rounding::Down => 1,
        Rounding::Up => 2,
        Rounding::Zero => 3,
    }
}

/// How an instruction says itself that it rounds so.
pub(super) fn embedded_control(r: Rounding) -> RoundingControl {
    match r {
        Rounding::NearestEven => RoundingControl::RoundToNearest,
        Rounding::Down => RoundingControl::RoundDown,
        Rounding::Up => RoundingControl::RoundUp,
        Rounding::Zero => RoundingControl::RoundTowardZero,
    }
}

/// What the CPU's control register starts with: nothing faults, nothing is flushed.
const MXCSR: u32 = 0x1f80;

impl Emit<'_> {
    /// The mode of the instruction at hand, where that matters.
    pub(super) fn mode(&self) -> FpMode {
        self.mode.unwrap_or(FpMode::OPENCL)
    }

    /// The CPU rounds so from here on.
    pub(super) fn rounds(&mut self, r: Rounding) {
        if self.rounding == r {
            return;
        }
        let host = Mem::at(CTX, at::MXCSR);
        if self.rounding == Rounding::NearestEven {
            self.a.m(Code::VEX_Vstmxcsr_m32, host);
        }
        let m = match r {
            Rounding::NearestEven => host,
            r => self.literal(MXCSR | rounding_control_number(r) << 13),
        };
        self.a.m(Code::VEX_Vldmxcsr_m32, m);
        self.rounding = r;
    }

    /// Rounds as an instruction wants it, which comes next.
    pub(super) fn rounds_for(&mut self, i: &Inst) {
        match wanted_mode(i) {
            Wants::Any => {}
            Wants::Mode => self.rounds(self.mode().rounding()),
            Wants::Nearest => self.rounds(Rounding::NearestEven),
        }
    }

    /// How the instructions that make one are to round, where they can say so themselves and the CPU would round otherwise.
    pub(super) fn embedded(&self, i: &Inst) -> Option<RoundingControl> {
        let now = self.level == Level::Avx512 && self.rounding == Rounding::NearestEven;
        if !now || !self.rounds_otherwise(i) {
            return None;
        }
        Some(embedded_control(self.mode().rounding()))
    }

    /// An operand that an instruction can round which says how itself: a register then, `tmp` if it was none.
    pub(super) fn rounded_operand(&mut self, o: Opd, part: &Part, tmp: V) -> Opd {
        if self.a.rounding.is_on() { Opd::Reg(self.in_register(o, part, tmp)) } else { o }
    }

    /// Does an instruction round as the mode says, and that is not to nearest?
    pub(super) fn rounds_otherwise(&self, i: &Inst) -> bool {
        wanted_mode(i) == Wants::Mode && self.mode().rounding() != Rounding::NearestEven
    }

    /// Can an instruction be native, as far as its mode is concerned?
    pub(super) fn mode_allows(&self, i: &Inst) -> Result<(), Unsupported> {
        if !with_floats(i) {
            return Ok(());
        }
        let Some(mode) = self.mode else { return Err("a floating-point mode that is not known before") };
        if mode.is_ieee() {
            return Ok(());
        }
        if mode.alt() {
            return Err("the mode that is not IEEE's");
        }
        let other = |s: &Src| matches!(s, Src::Reg { ty, .. } | Src::Indirect { ty, .. } if *ty != Type::Hf);
        let halves = matches!(i.dst, Dst::Reg { ty: Type::Hf, .. } | Dst::Pred { .. })
            || copies_sources(i.op)
            || i.op == Op::Cmp;
        if i.exec == ExecType::F16 && (!halves || i.src.iter().any(other)) {
            return Err("halves with others in another floating-point mode");
        }
        // Its sources are made singles by the mode, and it is computed to nearest.
        if of_math_unit(i.op) && mode.rounding() != Rounding::NearestEven && i.src.iter().any(is_integer) {
            return Err("a function of integers in another floating-point mode");
        }
        Ok(())
    }

    /// Is a format flushed by the mode at hand?
    pub(super) fn flushes(&self, ty: Type) -> bool {
        let mode = self.mode();
        match ty {
            Type::F => !mode.keep_f(),
            Type::Df => !mode.keep_df(),
            Type::Hf => !mode.keep_hf(),
            _ => false,
        }
    }

    /// A source of an instruction, of this type, as it takes it; in `tmp` if it is another then.
    pub(super) fn flushed_source(&mut self, i: &Inst, from: Opd, ty: Type, part: &Part, tmp: V) -> Opd {
        if copies_sources(i.op) || !is_float(i.exec) || !self.flushes(ty) {
            return from;
        }
        let v = self.in_register(from, part, tmp);
        self.flush(v, part, ty, tmp);
        Opd::Reg(tmp)
    }

    /// Is what an instruction computes flushed?
    pub(super) fn flushes_result(&self, i: &Inst) -> bool {
        let ty = match i.exec {
            ExecType::F32 => Type::F,
            ExecType::F64 => Type::Df,
            // Halves are rounded first.
            _ => return false,
        };
        !copies_sources(i.op) && i.op != Op::Cmp && self.flushes(ty)
    }

    /// A value of the execution type before it is made one of a narrower or a saturated one: in `to` if it is another.
    pub(super) fn flushed_before(&mut self, i: &Inst, v: V, part: &Part, to: V) -> V {
        let ty = match i.exec {
            ExecType::F32 => Type::F,
            ExecType::F64 => Type::Df,
            _ => return v,
        };
        if !self.flushes(ty) {
            return v;
        }
        self.flush(v, part, ty, to);
        to
    }

    /// Those in `v` of a format's denormals become zeros of their sign, in `to`: singles and doubles as the lanes have
    /// them, which may have come from a narrower format.
    pub(super) fn flush(&mut self, v: V, part: &Part, ty: Type, to: V) {
        let w = part.width;
        // The least number that is none, as a single or in the upper half of a double.
        let least: u32 = match (part.bytes, ty) {
            (8, Type::F) => 0x3810_0000,
            (8, Type::Hf) => 0x3f10_0000,
            (8, _) => 0x0010_0000,
            (_, Type::Hf) => 0x3880_0000,
            _ => 0x0080_0000,
        };
        let wide = part.bytes == 8;
        let (and, cmp) = if wide { (VPANDQ, VPCMPQ) } else { (VPANDD, VPCMPD) };
        let mut bits = |high: u32, low: u32| match wide {
            true => Opd::Mem(self.literals(std::array::from_fn(|k| if k % 2 == 1 { high } else { low }))),
            false => Opd::Bcast(self.literal(high)),
        };
        let (magnitude, least, sign) = (bits(0x7fff_ffff, u32::MAX), bits(least, 0), bits(0x8000_0000, 0));
        let t = if v == 6 { 7 } else { 6 };
        self.a.v3(and, w, t, v, magnitude, Lanes::All);
        self.a.vcmp(cmp, w, 5, t, least, 1, None);
        self.copy_reg(to, v, w);
        self.a.v3(and, w, to, to, sign, Lanes::Of(5));
    }

    /// The same of halves, each in the low word of a dword, if the mode flushes such.
    pub(super) fn flush_words(&mut self, v: V, part: &Part) {
        if !self.flushes(Type::Hf) {
            return;
        }
        let (w, [magnitude, least, sign]) = (part.width, [0x7fff, 0x0400, 0x8000].map(|x| self.literal(x)));
        self.a.v3(VPANDD, w, 6, v, Opd::Bcast(magnitude), Lanes::All);
        self.a.vcmp(VPCMPD, w, 5, 6, Opd::Bcast(least), 1, None);
        self.a.v3(VPANDD, w, v, v, Opd::Bcast(sign), Lanes::Of(5));
    }

    /// Singles to halves, as the mode has it.
    pub(super) fn singles_to_halves(&mut self, part: &Part, to: V, v: V) {
        let (w, how) = (part.width, rounding_control_number(self.mode().rounding()));
        self.a.cvt_half(w, to, v, how);
        if self.flushes(Type::Hf) {
            self.a.v2(VCVTPH2PS, w, 4, Opd::Reg(to), Lanes::All);
            self.flush(4, part, Type::Hf, 4);
            self.a.cvt_half(w, to, 4, how);
        }
    }

    /// Is a sum that comes to nothing a negative zero, where conversions are made of sums?
    pub(super) fn sums_are_negative_zeros(&self) -> bool {
        self.level == Level::Avx2 && self.rounding == Rounding::Down
    }

    /// Integers without sign to singles or doubles: of AVX2's sums that do this, zero's is of a sign where they are
    /// rounded down.
    pub(super) fn unsigned_to_float(&mut self, op: crate::vector_encodings::Op, w: Width, to: V, from: Opd) {
        self.a.v2(op, w, to, from, Lanes::All);
        if !self.sums_are_negative_zeros() {
            return;
        }
        let (and, bits) = match op == VCVTUDQ2PD {
            true => {
                let all = std::array::from_fn(|k| if k % 2 == 1 { 0x7fff_ffff } else { u32::MAX });
                (VPANDQ, Opd::Mem(self.literals(all)))
            }
            false => (VPANDD, Opd::Bcast(self.literal(0x7fff_ffff))),
        };
        self.a.v3(and, w, to, to, bits, Lanes::All);
    }
}
