//! Raw messages.

use super::common::*;
use crate::desc::*;
use crate::operation::*;
use crate::{Platform, Platforms, TypeSet};

const RAW: InstDesc = InstDesc { family: Family::Raw, effect: Effect::Message, ..EMPTY };

const MODIFIERS: &[Part] = &[flag("sendc", 0), flag("eot", 1)];
const MODIFIER: Slot = packed("modifiers", 1, MODIFIERS, "bit 0: sendc; bit 1: end of thread");
const SRC: Slot = raw_src("src0", TypeSet::ANY, "payload");
const DST: Slot = raw_dst_opt(TypeSet::ANY, "response");
const DESC: Slot = src("desc", Classes::GII, UD);

/// `RAW_SEND`.
pub static RAW_SEND: InstDesc = InstDesc {
    name: "RAW_SEND",
    operation: Some(Operation::Message(Message::Raw { split: false })),
    opcode: 0x5d,
    slots: &[
        MODIFIER,
        EXEC,
        PRED,
        wide("ex_desc", 4, Enc::Hex { max: u32::MAX }, "extended message descriptor"),
        field("num_src", Enc::Number { max: 255 }, "registers of src0"),
        field("num_dst", Enc::Number { max: 255 }, "registers of dst"),
        DESC,
        SRC.touches(Bytes::Registers("num_src")),
        DST.touches(Bytes::Registers("num_dst")),
    ],
    forms: &[
        fixed(
            "raw_send",
            "{pred} raw_send {exec} {ex_desc} {num_src} {num_dst} {desc} {src0} {dst}",
            &[("modifiers", 0)],
        ),
        fixed(
            "raw_sendc",
            "{pred} raw_sendc {exec} {ex_desc} {num_src} {num_dst} {desc} {src0} {dst}",
            &[("modifiers", 1)],
        ),
        fixed(
            "raw_send_eot",
            "{pred} raw_send_eot {exec} {ex_desc} {num_src} {num_dst} {desc} {src0} {dst}",
            &[("modifiers", 2)],
        ),
        fixed(
            "raw_sendc_eot",
            "{pred} raw_sendc_eot {exec} {ex_desc} {num_src} {num_dst} {desc} {src0} {dst}",
            &[("modifiers", 3)],
        ),
    ],
    page: "RAW_SEND",
    brief: "Sends a message with one payload.",
    semantics: "send src0 to the function that the descriptors name; dst = response",
    note: "The `_eot` spellings are envisa's: the reference has the bit in binaries only.",
    ..RAW
};

const SENDS_TEXT: &str =
    "{pred} raw_sends.{ffid}.{num_src0}.{num_src1}.{num_dst} {exec} {ex_desc} {desc} {src0} {src1} {dst}";

/// `RAW_SENDS`.
pub static RAW_SENDS: InstDesc = InstDesc {
    name: "RAW_SENDS",
    operation: Some(Operation::Message(Message::Raw { split: true })),
    opcode: 0x7a,
    slots: &[
        MODIFIER,
        EXEC,
        PRED,
        field("num_src0", Enc::Number { max: 255 }, "registers of src0"),
        field("num_src1", Enc::Number { max: 255 }, "registers of src1"),
        field("num_dst", Enc::Number { max: 255 }, "registers of dst"),
        field("ffid", Enc::Number { max: 255 }, "shared function"),
        src("ex_desc", Classes::GII, UD),
        DESC,
        SRC.touches(Bytes::Registers("num_src0")),
        raw_opt("src1", TypeSet::ANY, "second payload").touches(Bytes::Registers("num_src1")),
        DST.touches(Bytes::Registers("num_dst")),
    ],
    forms: &[
        fixed("raw_sends", SENDS_TEXT, &[("modifiers", 0)]),
        fixed(
            "raw_sendsc",
            "{pred} raw_sendsc.{num_src0}.{num_src1}.{num_dst} {exec} {ex_desc} {desc} {src0} {src1} {dst}",
            &[("modifiers", 1), ("ffid", 0)],
        ),
        fixed(
            "raw_sends_eot",
            "{pred} raw_sends_eot.{ffid}.{num_src0}.{num_src1}.{num_dst} {exec} {ex_desc} {desc} {src0} {src1} {dst}",
            &[("modifiers", 2)],
        ),
        fixed(
            "raw_sendsc_eot",
            "{pred} raw_sendsc_eot.{num_src0}.{num_src1}.{num_dst} {exec} {ex_desc} {desc} {src0} {src1} {dst}",
            &[("modifiers", 3), ("ffid", 0)],
        ),
        fixed(
            "raw_sendsc",
            "{pred} raw_sendsc.{ffid}.{num_src0}.{num_src1}.{num_dst} {exec} {ex_desc} {desc} {src0} {src1} {dst}",
            &[("modifiers", 1)],
        ),
        fixed(
            "raw_sends",
            "{pred} raw_sends.{ffid}.eot.{num_src0}.{num_src1}.{num_dst} {exec} {ex_desc} {desc} {src0} {src1} {dst}",
            &[("modifiers", 2)],
        ),
        fixed(
            "raw_sendsc",
            "{pred} raw_sendsc.{ffid}.eot.{num_src0}.{num_src1}.{num_dst} {exec} {ex_desc} {desc} {src0} {src1} {dst}",
            &[("modifiers", 3)],
        ),
    ],
    page: "RAW_SENDS",
    brief: "Sends a message with two payloads.",
    semantics: "send src0 and src1 to the function that the descriptors name; dst = response",
    note: "The reference prints `.eot` and the ffid of conditional sends in a way that it does not parse; both are read here. Up to 3.5 the binary had no ffid.",
    ..RAW
};

/// `RAW_SENDG`, not on a page.
pub static RAW_SENDG: InstDesc = InstDesc {
    name: "RAW_SENDG",
    operation: Some(Operation::Unsupported(Unsupported::RawMessage)),
    opcode: 0x93,
    versions: Versions::V42,
    slots: &[
        MODIFIER,
        EXEC,
        wide("sfid", 4, Enc::Hex { max: u32::MAX }, "shared function"),
        PRED,
        DST.touches(Bytes::Field("dst_len")),
        wide("dst_len", 4, Enc::Number { max: u32::MAX }, "bytes of dst"),
        SRC.touches(Bytes::Field("src0_len")),
        wide("src0_len", 4, Enc::Number { max: u32::MAX }, "bytes of src0"),
        raw_opt("src1", TypeSet::ANY, "second payload").touches(Bytes::Field("src1_len")),
        wide("src1_len", 4, Enc::Number { max: u32::MAX }, "bytes of src1"),
        src("ind0", Classes::GII, UQ),
        src("ind1", Classes::GII, UQ),
        wide("desc_lo", 4, Enc::Hex { max: u32::MAX }, "bits 0 to 31 of the descriptor"),
        wide("desc_hi", 4, Enc::Hex { max: u32::MAX }, "bits 32 to 63 of the descriptor"),
    ],
    forms: &[
        fixed(
            "raw_sendg",
            "{pred} raw_sendg.{@sendg_sfid} {exec} {dst}/{dst_len} {src0}/{src0_len} {src1}/{src1_len} {ind0} {ind1} {@desc64}",
            &[("modifiers", 0)],
        ),
        fixed(
            "raw_sendgc",
            "{pred} raw_sendgc.{@sendg_sfid} {exec} {dst}/{dst_len} {src0}/{src0_len} {src1}/{src1_len} {ind0} {ind1} {@desc64}",
            &[("modifiers", 1)],
        ),
        fixed(
            "raw_sendg_eot",
            "{pred} raw_sendg_eot.{@sendg_sfid} {exec} {dst}/{dst_len} {src0}/{src0_len} {src1}/{src1_len} {ind0} {ind1} {@desc64}",
            &[("modifiers", 2)],
        ),
        fixed(
            "raw_sendgc_eot",
            "{pred} raw_sendgc_eot.{@sendg_sfid} {exec} {dst}/{dst_len} {src0}/{src0_len} {src1}/{src1_len} {ind0} {ind1} {@desc64}",
            &[("modifiers", 3)],
        ),
    ],
    platforms: Platforms::from(Platform::Xe3p),
    brief: "Sends a message with a 64-bit descriptor.",
    semantics: "send src0 and src1 to sfid; dst = response",
    note: "In the opcode list without a page. Shared functions have numbers or names: null, smpl, gtwy, rc, urb, btd, rta, tgm, ugm, slm.",
    ..RAW
};
