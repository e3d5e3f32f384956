//! Logic, shift and bit-field rows.

use super::common::*;
use crate::desc::*;
use crate::operation::*;
use crate::{Platform, Platforms, Type, TypeSet};

const LOGIC: InstDesc =
    InstDesc { family: Family::Logic, modifiers: PLAIN, type_maps: &[same(INT32)], ..EMPTY };

const GIP: Classes = Classes::GI.or(Classes::PREDICATE);
const GIIP: Classes = Classes::GII.or(Classes::PREDICATE);

const BITWISE_TYPES: &[TypeMap] = &[
    same(INT32),
    same_on(Platforms::INT64, TypeSet::INT),
    TypeMap { platforms: Platforms::ALL, dst: TypeSet::of(&[Type::Bool]), src: TypeSet::of(&[Type::Bool]) },
];
const BITWISE2: &[Slot] = &[
    EXEC,
    PRED,
    dst(GIP, TypeSet::ANY),
    src(SlotName::Src0, GIIP, TypeSet::ANY),
    src(SlotName::Src1, GIIP, TypeSet::ANY),
];
const PREDICATES_NOTE: &str =
    "With predicate operands all of them are predicates and the instruction itself is not predicated.";

const SHIFT_TYPES: &[TypeMap] = &[same(INT32), same_on(Platforms::INT64, TypeSet::INT)];
const SHIFT_MODS: ModifierRules = ARITH_MODS;
const UNSIGNED: TypeSet = TypeSet::of(&[Type::Ud, Type::Uw, Type::Ub]);
const ROTATE_TYPES: &[TypeMap] = &[same(INT_W_D), same_on(Platforms::PVC_UP, INT_W_D.union(INT_Q))];
const BFE_SIZES: u8 = 0x3d;

alu! {
    AND = 0x20 "and" And binary plain from LOGIC,
        slots: BITWISE2,
        type_maps: BITWISE_TYPES,
        modifiers: LOGIC_MODS,
        page: "AND",
        brief: "Bitwise and of integers or predicates.",
        semantics: "dst[i] = src0[i] & src1[i]",
        note: PREDICATES_NOTE;
    OR = 0x21 "or" Or binary plain from LOGIC,
        slots: BITWISE2,
        type_maps: BITWISE_TYPES,
        modifiers: LOGIC_MODS,
        page: "OR",
        brief: "Bitwise or of integers or predicates.",
        semantics: "dst[i] = src0[i] | src1[i]",
        note: PREDICATES_NOTE;
    XOR = 0x22 "xor" Xor binary plain from LOGIC,
        slots: BITWISE2,
        type_maps: BITWISE_TYPES,
        modifiers: LOGIC_MODS,
        page: "XOR",
        brief: "Bitwise exclusive or of integers or predicates.",
        semantics: "dst[i] = src0[i] ^ src1[i]",
        note: PREDICATES_NOTE;
    NOT = 0x23 "not" Not unary plain from LOGIC,
        slots: &[EXEC, PRED, dst(GIP, TypeSet::ANY), src(SlotName::Src0, GIIP, TypeSet::ANY)],
        type_maps: BITWISE_TYPES,
        modifiers: LOGIC_MODS,
        page: "NOT",
        brief: "Bitwise complement of an integer or a predicate.",
        semantics: "dst[i] = ~src0[i]",
        note: PREDICATES_NOTE;
    SHL = 0x24 "shl" Shl binary sat from LOGIC,
        type_maps: SHIFT_TYPES,
        modifiers: SHIFT_MODS,
        page: "SHL",
        brief: "Shifts left by the low 5 bits of src1 (6 for 64-bit operands).",
        semantics: "dst[i] = src0[i] << (src1[i] & mask)",
        note: "How many bits: 6 if the destination or src0 has 64 bits, 5 otherwise. The page names the destination alone; the hardware and the reference compiler's own folding of constants look at src0 too, and never at src1. 64-bit types need hardware with 64-bit integers. With saturation the result must fit 33 bits.";
    SHR = 0x25 "shr" Shr binary sat from LOGIC,
        type_maps: &[map(UNSIGNED, INT32), TypeMap {
            platforms: Platforms::INT64,
            dst: UNSIGNED.union(UQ),
            src: TypeSet::INT
        }],
        modifiers: SHIFT_MODS,
        page: "SHR",
        brief: "Shifts right, filling with zeros, by the low 5 bits of src1 (6 for uq).",
        semantics: "dst[i] = src0[i] >> (src1[i] & mask), unsigned",
        note: "dst and src0 are unsigned, src1 is any integer; as SHL for how many bits of it are looked at. Of a negated src0 the 32 or 64 bits of two's complement are shifted. 64-bit types need hardware with 64-bit integers.";
    ASR = 0x26 "asr" Asr binary sat from LOGIC,
        type_maps: &[
            same(INT32),
            TypeMap { platforms: Platforms::INT64, dst: INT_Q, src: INT_W_D.union(INT_Q) },
            TypeMap { platforms: Platforms::INT64, dst: INT_W_D, src: INT_W_D.union(INT_Q) }
        ],
        modifiers: SRC_MODS,
        page: "ASR",
        brief: "Shifts right, filling with the sign, by the low 5 bits of src1 (6 for q).",
        semantics: "dst[i] = src0[i] >> (src1[i] & mask), signed",
        note: "dst and src0 are signed; as SHL for how many bits of src1 are looked at. The page's text form has no `.sat`; the reference assembler takes one.";
    CBIT = 0x27 "cbit" Cbit unary plain from LOGIC,
        type_maps: &[map(UD, TypeSet::of(&[Type::Ud, Type::Uw, Type::Ub]))],
        page: "CBIT",
        brief: "Counts the bits that are set.",
        semantics: "dst[i] = popcount(src0[i])";
    FBL = 0x2e "fbl" Fbl unary plain from LOGIC,
        type_maps: &[map(UD, UD.union(UW))],
        page: "FBL",
        brief: "Position of the lowest bit that is set; all ones if none is.",
        semantics: "dst[i] = src0[i] == 0 ? 0xffffffff : trailing_zeros(src0[i])",
        note: "The page has ud alone; compilers of dg2 emit uw sources too, for masks of 16 channels.";
    FBH = 0x2f "fbh" Fbh unary plain from LOGIC,
        type_maps: &[map(UD, INT_D)],
        page: "FBH",
        brief: "Leading zeros (ones of a negative number); all ones if there is no such bit.",
        semantics: "x = src0[i] < 0 ? ~src0[i] : src0[i]; dst[i] = x == 0 ? 0xffffffff : leading_zeros(x)";
    BFE = 0x46 "bfe" Bfe ternary plain from LOGIC,
        type_maps: &[same(INT_D)],
        exec_sizes: BFE_SIZES,
        page: "BFE",
        brief: "Extracts a bit field of src2: width src0, offset src1; d extends the sign.",
        semantics: "w = src0[i] & 31; o = src1[i] & 31; dst[i] = w == 0 ? 0 : o + w < 32 ? (src2[i] << (32-o-w)) >> (32-w) : src2[i] >> o",
        note: "Operands are aligned to 16 bytes unless there is one channel; two channels are not allowed.";
    BFREV = 0x48 "bfrev" Bfrev unary plain from LOGIC,
        type_maps: &[same(UD)],
        page: "BFREV",
        brief: "Reverses the order of 32 bits.",
        semantics: "dst[i].bit[k] = src0[i].bit[31 - k]";
    ROL = 0x80 "rol" Rol binary plain from LOGIC,
        type_maps: ROTATE_TYPES,
        platforms: Platforms::ICLLP_UP,
        page: "ROL",
        brief: "Rotates left.",
        semantics: "dst[i] = rotate_left(src0[i], src1[i] mod bits)";
    ROR = 0x81 "ror" Ror binary plain from LOGIC,
        type_maps: ROTATE_TYPES,
        platforms: Platforms::ICLLP_UP,
        page: "ROR",
        brief: "Rotates right.",
        semantics: "dst[i] = rotate_right(src0[i], src1[i] mod bits)";
}

/// `BFI`.
pub static BFI: InstDesc = InstDesc {
    name: "BFI",
    operation: Some(Operation::Compute(Compute::Bfi)),
    opcode: 0x47,
    slots: &[
        EXEC,
        PRED,
        dst(Classes::GI, TypeSet::ANY),
        src(SlotName::Src0, Classes::GII, TypeSet::ANY),
        src(SlotName::Src1, Classes::GII, TypeSet::ANY),
        src(SlotName::Src2, Classes::GII, TypeSet::ANY),
        src(SlotName::Src3, Classes::GII, TypeSet::ANY),
    ],
    forms: &[form("bfi", "{pred} bfi {exec} {dst} {src0} {src1} {src2} {src3}")],
    type_maps: &[same(INT_D)],
    exec_sizes: BFE_SIZES,
    page: "BFI",
    brief: "Inserts the low bits of src2 into src3: width src0, offset src1.",
    semantics: "w = src0[i] & 31; o = src1[i] & 31; m = ((1 << w) - 1) << o; dst[i] = src2[i] << o & m | src3[i] & ~m",
    note: "Operands are aligned to 16 bytes unless there is one channel; two channels are not allowed.",
    ..LOGIC
};

/// `BFN`.
pub static BFN: InstDesc = InstDesc {
    name: "BFN",
    operation: Some(Operation::Compute(Compute::Bfn)),
    opcode: 0x85,
    slots: &[
        EXEC,
        PRED,
        dst(Classes::GI, TypeSet::ANY),
        src(SlotName::Src0, Classes::GII, TypeSet::ANY),
        src(SlotName::Src1, Classes::GII, TypeSet::ANY),
        src(SlotName::Src2, Classes::GII, TypeSet::ANY),
        field(SlotName::Function, Enc::HexDigits { max: 255 }, "truth table: bit src0 + 2 src1 + 4 src2"),
    ],
    forms: &[form("bfn", "{pred} bfn.x{function}[.sat] {exec} {dst} {src0} {src1} {src2}")],
    type_maps: &[same(INT_W_D)],
    platforms: Platforms::from(Platform::XehpSdv),
    page: "BFN",
    brief: "Any boolean function of three sources, given by its truth table.",
    semantics: "dst[i].bit[k] = function >> (src0[i].bit[k] + 2 * src1[i].bit[k] + 4 * src2[i].bit[k]) & 1",
    note: "Immediates have 16 bits in hardware. Neither page nor reference verifier gates it; hardware has it from XeHP_SDV on.",
    ..LOGIC
};
