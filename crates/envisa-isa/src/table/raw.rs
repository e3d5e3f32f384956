//! Raw messages.

use super::common::*;
use crate::desc::*;
use crate::operation::*;
use crate::{Platform, Platforms, TypeSet};

const RAW: InstDesc = InstDesc { family: Family::Raw, effect: Effect::Message, ..EMPTY };

const MODIFIERS: &[Part] = &[flag(PartName::Sendc, 0), flag(PartName::Eot, 1)];
const MODIFIER: Slot = packed(SlotName::Modifiers, 1, MODIFIERS, "bit 0: sendc; bit 1: end of thread");
const SRC: Slot = raw_src(SlotName::Src0, TypeSet::ANY, "payload");
const DST: Slot = raw_dst_opt(TypeSet::ANY, "response");
const DESC: Slot = src(SlotName::Desc, Classes::GII, UD);

/// `RAW_SEND`.
pub static RAW_SEND: InstDesc = InstDesc {
    name: "RAW_SEND",
    operation: Some(Operation::Message(Message::Raw { split: false })),
    opcode: 0x5d,
    slots: &[
        MODIFIER,
        EXEC,
        PRED,
        wide(SlotName::ExDesc, 4, Enc::Hex { max: u32::MAX }, "extended message descriptor"),
        field(SlotName::NumSrc, Enc::Number { max: 255 }, "registers of src0"),
        field(SlotName::NumDst, Enc::Number { max: 255 }, "registers of dst"),
        DESC,
        SRC.touches(Bytes::Registers(SlotName::NumSrc.whole())),
        DST.touches(Bytes::Registers(SlotName::NumDst.whole())),
    ],
    forms: &[
        fixed(
            "raw_send",
            "{pred} raw_send {exec} {ex_desc} {num_src} {num_dst} {desc} {src0} {dst}",
            &[(SlotName::Modifiers.whole(), 0)],
        ),
        fixed(
            "raw_sendc",
            "{pred} raw_sendc {exec} {ex_desc} {num_src} {num_dst} {desc} {src0} {dst}",
            &[(SlotName::Modifiers.whole(), 1)],
        ),
        fixed(
            "raw_send_eot",
            "{pred} raw_send_eot {exec} {ex_desc} {num_src} {num_dst} {desc} {src0} {dst}",
            &[(SlotName::Modifiers.whole(), 2)],
        ),
        fixed(
            "raw_sendc_eot",
            "{pred} raw_sendc_eot {exec} {ex_desc} {num_src} {num_dst} {desc} {src0} {dst}",
            &[(SlotName::Modifiers.whole(), 3)],
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
        field(SlotName::NumSrc0, Enc::Number { max: 255 }, "registers of src0"),
        field(SlotName::NumSrc1, Enc::Number { max: 255 }, "registers of src1"),
        field(SlotName::NumDst, Enc::Number { max: 255 }, "registers of dst"),
        field(SlotName::Ffid, Enc::Number { max: 255 }, "shared function"),
        src(SlotName::ExDesc, Classes::GII, UD),
        DESC,
        SRC.touches(Bytes::Registers(SlotName::NumSrc0.whole())),
        raw_opt(SlotName::Src1, TypeSet::ANY, "second payload")
            .touches(Bytes::Registers(SlotName::NumSrc1.whole())),
        DST.touches(Bytes::Registers(SlotName::NumDst.whole())),
    ],
    forms: &[
        fixed("raw_sends", SENDS_TEXT, &[(SlotName::Modifiers.whole(), 0)]),
        fixed(
            "raw_sendsc",
            "{pred} raw_sendsc.{num_src0}.{num_src1}.{num_dst} {exec} {ex_desc} {desc} {src0} {src1} {dst}",
            &[(SlotName::Modifiers.whole(), 1), (SlotName::Ffid.whole(), 0)],
        ),
        fixed(
            "raw_sends_eot",
            "{pred} raw_sends_eot.{ffid}.{num_src0}.{num_src1}.{num_dst} {exec} {ex_desc} {desc} {src0} {src1} {dst}",
            &[(SlotName::Modifiers.whole(), 2)],
        ),
        fixed(
            "raw_sendsc_eot",
            "{pred} raw_sendsc_eot.{num_src0}.{num_src1}.{num_dst} {exec} {ex_desc} {desc} {src0} {src1} {dst}",
            &[(SlotName::Modifiers.whole(), 3), (SlotName::Ffid.whole(), 0)],
        ),
        fixed(
            "raw_sendsc",
            "{pred} raw_sendsc.{ffid}.{num_src0}.{num_src1}.{num_dst} {exec} {ex_desc} {desc} {src0} {src1} {dst}",
            &[(SlotName::Modifiers.whole(), 1)],
        ),
        fixed(
            "raw_sends",
            "{pred} raw_sends.{ffid}.eot.{num_src0}.{num_src1}.{num_dst} {exec} {ex_desc} {desc} {src0} {src1} {dst}",
            &[(SlotName::Modifiers.whole(), 2)],
        ),
        fixed(
            "raw_sendsc",
            "{pred} raw_sendsc.{ffid}.eot.{num_src0}.{num_src1}.{num_dst} {exec} {ex_desc} {desc} {src0} {src1} {dst}",
            &[(SlotName::Modifiers.whole(), 3)],
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
        wide(SlotName::Sfid, 4, Enc::Hex { max: u32::MAX }, "shared function"),
        PRED,
        DST.touches(Bytes::Field(SlotName::DstLen.whole())),
        wide(SlotName::DstLen, 4, Enc::Number { max: u32::MAX }, "bytes of dst"),
        SRC.touches(Bytes::Field(SlotName::Src0Len.whole())),
        wide(SlotName::Src0Len, 4, Enc::Number { max: u32::MAX }, "bytes of src0"),
        raw_opt(SlotName::Src1, TypeSet::ANY, "second payload")
            .touches(Bytes::Field(SlotName::Src1Len.whole())),
        wide(SlotName::Src1Len, 4, Enc::Number { max: u32::MAX }, "bytes of src1"),
        src(SlotName::Ind0, Classes::GII, UQ),
        src(SlotName::Ind1, Classes::GII, UQ),
        wide(SlotName::DescLo, 4, Enc::Hex { max: u32::MAX }, "bits 0 to 31 of the descriptor"),
        wide(SlotName::DescHi, 4, Enc::Hex { max: u32::MAX }, "bits 32 to 63 of the descriptor"),
    ],
    forms: &[
        fixed(
            "raw_sendg",
            "{pred} raw_sendg.{@sendg_sfid} {exec} {dst}/{dst_len} {src0}/{src0_len} {src1}/{src1_len} {ind0} {ind1} {@desc64}",
            &[(SlotName::Modifiers.whole(), 0)],
        ),
        fixed(
            "raw_sendgc",
            "{pred} raw_sendgc.{@sendg_sfid} {exec} {dst}/{dst_len} {src0}/{src0_len} {src1}/{src1_len} {ind0} {ind1} {@desc64}",
            &[(SlotName::Modifiers.whole(), 1)],
        ),
        fixed(
            "raw_sendg_eot",
            "{pred} raw_sendg_eot.{@sendg_sfid} {exec} {dst}/{dst_len} {src0}/{src0_len} {src1}/{src1_len} {ind0} {ind1} {@desc64}",
            &[(SlotName::Modifiers.whole(), 2)],
        ),
        fixed(
            "raw_sendgc_eot",
            "{pred} raw_sendgc_eot.{@sendg_sfid} {exec} {dst}/{dst_len} {src0}/{src0_len} {src1}/{src1_len} {ind0} {ind1} {@desc64}",
            &[(SlotName::Modifiers.whole(), 3)],
        ),
    ],
    platforms: Platforms::from(Platform::Xe3p),
    brief: "Sends a message with a 64-bit descriptor.",
    semantics: "send src0 and src1 to sfid; dst = response",
    note: "The opcode list has it, but no page describes it. Shared functions have numbers or names: null, smpl, gtwy, rc, urb, btd, rta, tgm, ugm, slm.",
    ..RAW
};
