//! Systolic matrix multiply-add.

use super::common::*;
use crate::desc::*;
use crate::operation::*;
use crate::{Platform, Platforms, Type, TypeSet};

/// Element types of the matrices in the instruction word.
pub const PRECISIONS: &[Value] = &[
    val(1, "u1"),
    val(2, "s1"),
    val(3, "u2"),
    val(4, "s2"),
    val(5, "u4"),
    val(6, "s4"),
    val(7, "u8"),
    val(8, "s8"),
    val(9, "bf"),
    val(10, "hf"),
    Value { code: 11, text: "bf8", platforms: Platforms::PVC_UP, doc: "the page has tf32 here" },
    Value { code: 12, text: "tf32", platforms: Platforms::PVC_UP, doc: "11 on the page" },
    Value { code: 14, text: "hf8", platforms: Platforms::from(Platform::Xe3p), doc: "E4M3, from 4.2 on" },
    Value { code: 15, text: "e2m1", platforms: Platforms::from(Platform::Xe3p), doc: "from 4.2 on" },
];
const CONTROL: Slot = packed(
    SlotName::Control,
    4,
    &[
        part(PartName::Src1Precision, 0, 8, Enc::Values(PRECISIONS)),
        part(PartName::Src2Precision, 8, 8, Enc::Values(PRECISIONS)),
        part(PartName::Depth, 16, 8, Enc::Values(&[val(1, "1"), val(2, "2"), val(4, "4"), val(8, "8")])),
        part(PartName::Count, 24, 8, Enc::Number { max: 8 }),
    ],
    "element types of src1 and src2, systolic depth, repeat count",
);
const DST: Slot = raw_dst(TypeSet::ANY, "result").touches(Bytes::Systolic(SystolicOperand::Accumulator));
const SRC0: Slot = raw_opt(SlotName::Src0, TypeSet::ANY, "accumulator; %null: zero")
    .touches(Bytes::Systolic(SystolicOperand::Accumulator));
const SRC1: Slot = raw_src(SlotName::Src1, TypeSet::ANY, "matrix B, a column for each channel")
    .touches(Bytes::Systolic(SystolicOperand::Weights));
const fn src2(pair: bool) -> Slot {
    src(SlotName::Src2, Classes::GENERAL, TypeSet::ANY)
        .touches(Bytes::Systolic(SystolicOperand::Activations { pair }))
}
const fn scales(name: SlotName, doc: &'static str, which: SystolicOperand) -> Slot {
    Slot { doc, ..src(name, Classes::GENERAL, TypeSet::of(&[Type::Ub])).touches(Bytes::Systolic(which)) }
}
const SLOTS: &[Slot] = &[EXEC, DST, SRC0, SRC1, src2(false), CONTROL];
const PAIR_SLOTS: &[Slot] = &[EXEC, DST, SRC0, SRC1, src2(true), CONTROL];

/// `DPAS`.
pub static DPAS: InstDesc = InstDesc {
    name: "DPAS",
    operation: Some(Operation::Systolic { pair: false, scaled: false }),
    opcode: 0x83,
    family: Family::Systolic,
    slots: SLOTS,
    forms: &[form(
        "dpas",
        "dpas.{control.src1_precision}.{control.src2_precision}.{control.depth}.{control.count} {exec} {dst} {src0} {src1} {src2}",
    )],
    exec_sizes: 1 << 3 | 1 << 4,
    platforms: Platforms::XEHP_UP,
    page: "DPAS",
    brief: "Multiplies small matrices and adds: dst = src0 + src2 x src1.",
    semantics: "ops = 1 (tf32), 2 (bf, hf), 4 (8 bits), 8 (fewer)
for r in 0..count: for n in channels:
  dst.row[r][n] = src0.row[r][n] + sum(k in 0..depth * ops: src2[r * depth * ops + k] * src1.column[n][k])",
    note: "8 channels on XeHP_SDV and DG2, 16 from PVC on. The text of src2 has no region; the binary holds <1;1,0>.",
    ..EMPTY
};

/// `DPASW`.
pub static DPASW: InstDesc = InstDesc {
    name: "DPASW",
    operation: Some(Operation::Systolic { pair: true, scaled: false }),
    opcode: 0x1c,
    forms: &[form(
        "dpasw",
        "dpasw.{control.src1_precision}.{control.src2_precision}.{control.depth}.{control.count} {exec} {dst} {src0} {src1} {src2}",
    )],
    platforms: Platforms::XEHP_UP.without(Platforms::PVC_UP),
    family: Family::Systolic,
    slots: PAIR_SLOTS,
    exec_sizes: 1 << 3,
    page: "DPASW",
    brief: "DPAS in which two fused threads share src2.",
    semantics: "as DPAS; each of the two threads supplies half of src2",
    note: "The page allows 16 channels on PVC; the reference verifier refuses it there.",
    ..EMPTY
};

/// `BDPAS`, not on a page.
pub static BDPAS: InstDesc = InstDesc {
    name: "BDPAS",
    operation: Some(Operation::Systolic { pair: false, scaled: true }),
    opcode: 0x99,
    family: Family::Systolic,
    versions: Versions::V42,
    slots: &[
        EXEC,
        DST,
        SRC0,
        SRC1,
        raw_src(SlotName::Src2, TypeSet::ANY, "matrix A, row by row")
            .touches(Bytes::Systolic(SystolicOperand::Activations { pair: false })),
        scales(SlotName::Src3, "scales of src1, one a column and block", SystolicOperand::WeightScales),
        scales(SlotName::Src4, "scales of src2, one a row and block", SystolicOperand::ActivationScales),
        CONTROL,
    ],
    forms: &[form(
        "bdpas",
        "bdpas.{control.src1_precision}.{control.src2_precision}.{control.depth}.{control.count} {exec} {dst} {src0} {src1} {src2} {src3} {src4}",
    )],
    exec_sizes: 1 << 4,
    platforms: Platforms::from(Platform::Xe3p),
    brief: "DPAS with block scales for both matrices.",
    semantics: "as DPAS; a block is 32 elements of the inner dimension, or all of them where there are fewer
what a block's products add, src2.row[r] x src1.column[n], is multiplied by 2^(src3[32 * block + n] - 127) * 2^(src4[32 * block + r] - 127)",
    note: "The opcode list has it, but no page describes it: what it does is taken from the reference compiler's verifier, which calls the scales e8m0, and from how it lays them out. Depth and count are 8; e2m1 has two blocks, all others one. %null: a scale of 1; 255 is NaN. The text of src3 and src4 has no region.",
    ..EMPTY
};
