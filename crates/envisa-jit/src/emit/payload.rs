//! What a thread of a row starts with and no instruction changes: native code reads it in the row's payloads, and it comes
//! to the register file only where the machine executes an instruction of the thread.

use envisa_machine::start::{Start, Value};

use super::row::has_payload;
use super::*;

/// The payload of the thread that runs, in code that starts one thread after the other.
pub(crate) const PAYLOAD: Register = Register::R13;

/// Bytes of a thread's payload that are read in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InPlace {
    /// Where they would be in the register file.
    pub to: RegOffset,
    /// Where they are in the payload.
    pub from: u32,
    pub bytes: u32,
}

impl InPlace {
    fn end(&self) -> RegOffset {
        self.to + self.bytes
    }
}

impl Emit<'_> {
    /// The parts of payloads that code reads in place: nothing writes to them, nothing finds them by an address, and no
    /// cell, nor two parts that meet, is partly somewhere else.
    pub(super) fn find_in_place(&self, start: &Start) -> Vec<InPlace> {
        let calls = |i: &Inst| matches!(i.op, Op::Call | Op::Fcall | Op::Ifcall);
        if self.together || self.reads_by_address() || self.p.code().iter().any(calls) {
            return Vec::new();
        }
        let mut all: Vec<InPlace> = (start.writes.iter())
            .filter_map(|w| match w.value {
                Value::Payload(from) => Some(InPlace { to: w.to, from, bytes: w.bytes }),
                _ => None,
            })
            .collect();
        all.sort_unstable_by_key(|i| i.to);
        all.dedup_by(|b, a| {
            let follows = a.end() == b.to && a.from + a.bytes == b.from;
            a.bytes += if follows { b.bytes } else { 0 };
            follows
        });
        let apart = |k: usize| {
            let before = k.checked_sub(1).is_none_or(|b| all[b].end() < all[k].to);
            before && all.get(k + 1).is_none_or(|n| all[k].end() < n.to)
        };
        let whole = |i: &InPlace| {
            let (start, end) = (i.to, i.end());
            let cut = |c: &envisa_lower::analysis::Cell| {
                c.offset < end && start < c.offset + c.bytes && (c.offset < start || end < c.offset + c.bytes)
            };
            !self.written().writes_any(start, end) && !self.cells.iter().any(|(_, c)| cut(c))
        };
        (0..all.len()).filter(|k| apart(*k) && whole(&all[*k])).map(|k| all[k]).collect()
    }

    /// Does an instruction read registers that are found by an address?
    fn reads_by_address(&self) -> bool {
        self.p.code().iter().any(|i| {
            let mut any = false;
            i.reads(self.p.parts(), &mut |t| any |= t.range(i.channels.into()).is_none());
            any
        })
    }

    /// Where bytes of the register file are in the payload, if they are read there.
    pub(super) fn place_in_payload(&self, offset: RegOffset) -> Option<u32> {
        let of = |i: &&InPlace| i.to <= offset && offset < i.end();
        self.in_place.iter().find(of).map(|i| i.from + (offset - i.to))
    }

    /// The payload of the thread that starts, where code begins.
    pub(super) fn find_payload(&mut self, start: &Start) {
        if !has_payload(start) {
            return;
        }
        self.a.rm(Code::Mov_r32_rm32, Register::EAX, Mem::at(CTX, at::INDEX));
        let bytes = start.payload_bytes as i32;
        self.a.rri(Code::Imul_r32_rm32_imm32, Register::EAX, Register::EAX, bytes);
        self.a.rm(Code::Mov_r64_rm64, PAYLOAD, Mem::at(CTX, at::PAYLOADS));
        self.a.rr(Code::Add_r64_rm64, PAYLOAD, Register::RAX);
    }
}
