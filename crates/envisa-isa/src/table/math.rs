//! Rows of the extended math unit and of the IEEE macros.

use super::common::*;
use crate::desc::*;
use crate::operation::*;
use crate::{Platform, Platforms};

const MATH: InstDesc =
    InstDesc { family: Family::Math, modifiers: ARITH_MODS, type_maps: &[same(F_HF), BF_MATH], ..EMPTY };

/// The reference's verifier allows operands of bf in operations whose operands are all of that type, from Xe3P on.
const BF_MATH: TypeMap = same_on(Platforms::XE3P_UP, BF);

/// Platforms with the macros for IEEE division and square root.
const MACROS: Platforms =
    Platforms::ALL.without(Platforms::of(&[Platform::Icllp, Platform::Tgllp, Platform::Dg2, Platform::Mtl]));
const MACRO_NOTE: &str =
    "The page's table lists SKL only; the reference verifier refuses ICLLP, TGLLP, DG2 and MTL.";

alu! {
    EXP = 0x08 "exp" Exp unary sat from MATH,
        page: "EXP",
        brief: "Base-2 exponential.",
        semantics: "dst[i] = 2 ^ src0[i]";
    LOG = 0x0b "log" Log unary sat from MATH,
        page: "LOG",
        brief: "Base-2 logarithm.",
        semantics: "dst[i] = log2(src0[i])        (ALT mode: of the absolute value)";
    POW = 0x11 "pow" Pow binary sat from MATH,
        page: "POW",
        brief: "Power.",
        semantics: "dst[i] = pow(src0[i], src1[i])",
        note: "The page's table of special values is empty. As IEEE 754 has pow: a negative base has powers with integral exponents, with others NaN.";
    SIN = 0x17 "sin" Sin unary sat from MATH,
        page: "SIN",
        brief: "Sine of an angle in radians.",
        semantics: "dst[i] = sin(src0[i])";
    COS = 0x18 "cos" Cos unary sat from MATH,
        page: "COS",
        brief: "Cosine of an angle in radians.",
        semantics: "dst[i] = cos(src0[i])";
    SQRT = 0x19 "sqrt" Sqrt unary sat from MATH,
        page: "SQRT",
        brief: "Square root.",
        semantics: "dst[i] = sqrt(src0[i])        (ALT mode: of the absolute value)";
    RSQRT = 0x1a "rsqrt" Rsqrt unary sat from MATH,
        page: "RSQRT",
        brief: "Inverse square root.",
        semantics: "dst[i] = 1 / sqrt(src0[i])",
        note: "Not of df: the reference refuses it, and what it makes of it unchecked has single precision.";
    INV = 0x1b "inv" Inv unary sat from MATH,
        type_maps: &[same(F_HF), same(DOUBLE), BF_MATH],
        page: "INV",
        brief: "Inverse.",
        semantics: "dst[i] = 1 / src0[i]";
    SQRTM = 0x7e "sqrtm" Sqrtm unary sat from MATH,
        type_maps: &[same(F_DF)],
        platforms: MACROS,
        page: "SQRTM",
        brief: "Square root, correctly rounded.",
        semantics: "dst[i] = sqrt(src0[i]), IEEE 754",
        note: MACRO_NOTE;
    DIVM = 0x7f "divm" Divm binary sat from MATH,
        type_maps: &[same(F_DF)],
        platforms: MACROS,
        page: "DIVM",
        brief: "Division, correctly rounded.",
        semantics: "dst[i] = src0[i] / src1[i], IEEE 754",
        note: MACRO_NOTE;
}
