//! SVM messages: virtual addresses.

use super::common::*;
use crate::TypeSet;
use crate::desc::*;

const SVM: InstDesc =
    InstDesc { opcode: 0x4e, family: Family::Svm, out_of_bounds: OutOfBounds::Fault, ..EMPTY };

const BLOCK_SIZE: Enc = Enc::Values(&[val(0, "1"), val(1, "4"), val(2, "8")]);
const NUM_BLOCKS: Enc = Enc::Values(&[val(0, "1"), val(1, "2"), val(2, "4"), val(3, "8")]);

/// `SVM_GATHER`, page SVM_GATHER.
pub static SVM_GATHER: InstDesc = InstDesc {
    name: "SVM_GATHER",
    sub: Some(3),
    exec_sizes: TO_16,
    slots: &[
        EXEC,
        PRED,
        field("block_size", BLOCK_SIZE, "bytes of a block"),
        field("num_blocks", NUM_BLOCKS, "blocks read at each address"),
        raw_src("addresses", UQ, "byte addresses"),
        raw_dst(TypeSet::ANY, "what is read"),
    ],
    forms: &[form("svm_gather", "{pred} svm_gather.{block_size}.{num_blocks} {exec} {addresses} {dst}")],
    effect: Effect::Read,
    page: "SVM_GATHER",
    brief: "Reads blocks of 1, 4 or 8 bytes from virtual addresses.",
    semantics: "",
    note: "The page gives 0b11 for 8-byte blocks; the reference tools write 2.",
    ..SVM
};
