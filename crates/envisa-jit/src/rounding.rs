//! Directions of rounding that instructions have themselves (EVEX' embedded rounding: Intel's manual, volume 2, 2.7.5).
//!
//! To change the CPU's direction takes tens of cycles, in which it does nothing else. An instruction of AVX-512 can say how it
//! rounds, if its operands are registers, and vectors among them have 64 bytes.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use iced_x86::{Code, FlowControl, Instruction, Mnemonic, OpKind, Register, RoundingControl};

/// The direction in which instructions are to round that are made, if it is not the CPU's.
#[derive(Debug)]
pub(crate) struct Embedded {
    control: RoundingControl,
    /// An instruction does not, which cannot say so.
    missed: bool,
}

impl Default for Embedded {
    fn default() -> Embedded {
        Embedded { control: RoundingControl::None, missed: false }
    }
}

impl Embedded {
    /// Instructions round so from here on; [`RoundingControl::None`]: as the CPU does.
    pub fn begin(&mut self, control: RoundingControl) {
        *self = Embedded { control, missed: false };
    }

    /// Are instructions to round otherwise than the CPU does?
    pub fn is_on(&self) -> bool {
        self.control != RoundingControl::None
    }

    /// They round as the CPU does from here on. Gives whether all of them before said how they round, or do not.
    pub fn end(&mut self) -> bool {
        let missed = self.missed;
        *self = Embedded::default();
        !missed
    }

    /// Has an instruction round so.
    pub fn apply(&mut self, i: &mut Instruction) {
        if self.control == RoundingControl::None {
            return;
        }
        if i.flow_control() == FlowControl::Call || i.flow_control() == FlowControl::IndirectCall {
            self.missed = true;
        }
        if !rounding_instructions().contains(&i.mnemonic()) {
            return;
        }
        widen(i);
        match may_say(i) {
            true => i.set_rounding_control(self.control),
            false => self.missed = true,
        }
    }
}

/// Vectors of 16 bytes have no such encoding. An instruction on registers becomes one on 64 bytes: nobody reads the other 48, and
/// exceptions that they raise are masked.
fn widen(i: &mut Instruction) {
    static WIDE: OnceLock<HashMap<Mnemonic, Code>> = OnceLock::new();
    let same_width = |c: &Code| {
        let name = format!("{c:?}");
        name.contains("_zmm_k1z_zmm") && !name.contains("ymm") && name.ends_with(SUFFIX)
    };
    let wide = WIDE.get_or_init(|| Code::values().filter(same_width).map(|c| (c.mnemonic(), c)).collect());
    let vector = |k: u32| i.op_kind(k) == OpKind::Register && i.op_register(k).is_xmm();
    let Some(code) = wide.get(&i.mnemonic()).filter(|_| (0..i.op_count()).all(vector)) else { return };
    i.set_code(*code);
    for k in 0..i.op_count() {
        i.set_op_register(k, Register::ZMM0 + i.op_register(k).number() as u32);
    }
}

/// What an encoding is called that has it.
const SUFFIX: &str = "_er";

fn has_it(c: Code) -> bool {
    format!("{c:?}").ends_with(SUFFIX)
}

/// All instructions that round as the CPU's control register says.
fn rounding_instructions() -> &'static HashSet<Mnemonic> {
    static ALL: OnceLock<HashSet<Mnemonic>> = OnceLock::new();
    ALL.get_or_init(|| Code::values().filter(|c| has_it(*c)).map(Code::mnemonic).collect())
}

/// Can the instruction say how it rounds?
fn may_say(i: &Instruction) -> bool {
    let memory = (0..i.op_count()).any(|k| i.op_kind(k) == OpKind::Memory);
    let lowest = |r: Register| r.is_xmm() || r.is_ymm() || r.is_zmm();
    !memory && (0..i.op_count()).any(|k| lowest(i.op_register(k))) && has_it(i.code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_instructions_in_registers_say_how_they_round() {
        let three = |c, b| Instruction::with3(c, Register::ZMM0, Register::ZMM1, b).unwrap();
        let mut embedded = Embedded::default();
        embedded.begin(RoundingControl::RoundTowardZero);
        let mut add = three(Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, Register::ZMM2);
        embedded.apply(&mut add);
        let mut and = three(Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, Register::ZMM2);
        embedded.apply(&mut and);
        assert_eq!(add.rounding_control(), RoundingControl::RoundTowardZero);
        assert_eq!(and.rounding_control(), RoundingControl::None);
        assert!(embedded.end());

        embedded.begin(RoundingControl::RoundTowardZero);
        let [x, y, z] = [Register::YMM0, Register::YMM1, Register::YMM2];
        embedded.apply(&mut Instruction::with3(Code::EVEX_Vaddps_ymm_k1z_ymm_ymmm256b32, x, y, z).unwrap());
        assert!(!embedded.end());

        // An instruction on one element takes the wide encoding.
        embedded.begin(RoundingControl::RoundTowardZero);
        let [x, y, z] = [Register::XMM16, Register::XMM1, Register::XMM2];
        let mut mad = Instruction::with3(Code::EVEX_Vfmadd231pd_xmm_k1z_xmm_xmmm128b64, x, y, z).unwrap();
        embedded.apply(&mut mad);
        assert_eq!(mad.code(), Code::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er);
        assert_eq!(mad.op_register(0), Register::ZMM16);
        assert_eq!(mad.rounding_control(), RoundingControl::RoundTowardZero);
        assert!(embedded.end());
    }
}
