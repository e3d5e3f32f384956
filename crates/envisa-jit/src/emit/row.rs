//! Threads of a row, one after the other: how each starts and ends.

use std::ops::Range;

use envisa_lower::analysis::Cell;
use envisa_machine::start::{Value, Write};

use super::payload::PAYLOAD;
use super::*;

impl Emit<'_> {
    /// Bytes of a row's image that threads start with, where they are in the context: `(image, context, bytes)`.
    pub(super) fn image(&self) -> Vec<(u32, u32, u32)> {
        let mut at = self.rows_end().next_multiple_of(64);
        let writes = self.start.iter().flat_map(|s| &s.writes);
        writes
            .filter_map(|w| match w.value {
                Value::Image(from) => Some((from, w.bytes)),
                _ => None,
            })
            .map(|(from, bytes)| {
                let here = at;
                at += bytes.next_multiple_of(4);
                (from, here, bytes)
            })
            .collect()
    }

    /// What threads start with, and whether it stays there for the next ones, in registers that no instruction writes: the
    /// same for all, or of threads that take turns, which have registers of their own, the same in all groups.
    fn writes(&self, start: &Start) -> Vec<(bool, Write)> {
        let written = |r: Range<u32>| {
            let meets = |c: &Cell| c.written && c.offset < r.end && r.start < c.offset + c.bytes;
            self.cells.iter().any(|(_, c)| meets(c))
        };
        let after =
            |o: &(bool, Write), w: &Write| !o.0 && o.1.to < w.to + w.bytes && w.to < o.1.to + o.1.bytes;
        let mut out: Vec<(bool, Write)> = Vec::new();
        for w in &start.writes {
            match w.value {
                // In dwords, as far as they are alike.
                Value::Fill(_) => {
                    let (mut at, end) = (w.to, w.to + w.bytes);
                    while at < end {
                        let size = (4 - at % 4).min(end - at);
                        let once = !written(at..at + size);
                        match out.last_mut() {
                            Some((o, l)) if *o == once && l.value == w.value && l.to + l.bytes == at => {
                                l.bytes += size;
                            }
                            _ => out.push((once, Write { to: at, bytes: size, value: w.value })),
                        }
                        at += size;
                    }
                }
                Value::Image(_) => {
                    let once = !written(w.to..w.to + w.bytes) && !out.iter().any(|o| after(o, w));
                    out.push((once, *w));
                }
                // Threads that take turns start with the same in each group.
                Value::Payload(_) | Value::Index | Value::Slot | Value::State(_) if self.together => {
                    let once = !written(w.to..w.to + w.bytes) && !out.iter().any(|o| after(o, w));
                    out.push((once, *w));
                }
                _ => out.push((false, *w)),
            }
        }
        out
    }

    /// A thread starts: with its channels, and what its registers hold then.
    pub(super) fn start_thread(&mut self, start: &Start) {
        let writes = self.writes(start);
        let mut image = self.image().into_iter();
        let places: Vec<u32> = writes
            .iter()
            .map(|(_, w)| match w.value {
                Value::Image(_) => image.next().map_or(0, |i| i.1),
                _ => 0,
            })
            .collect();
        for ((_, w), at) in writes.iter().zip(&places).filter(|w| w.0.0) {
            if self.together {
                self.once.push(*w);
            } else {
                self.start_write(w, *at);
            }
        }
        if !self.together {
            // Nor do any when a thread ends.
            self.no_waits();
        }
        let next = self.next;
        self.a.bind(next);
        if !self.full {
            self.own_channels();
        }
        for ((_, w), at) in writes.iter().zip(&places).filter(|w| !w.0.0) {
            self.start_write(w, *at);
        }
        if self.full && !self.keeps_channels() {
            self.all_channels();
        } else if !self.full {
            self.channels_at(at::DISPATCH);
        }
        if self.together {
            // They start one after the other.
            if !writes.iter().any(|(once, w)| !once && matches!(w.value, Value::Payload(_))) {
                return;
            }
            self.a.mi(Code::Add_rm64_imm32, Mem::at(CTX, at::PAYLOAD), start.payload_bytes as i32);
            return;
        }
        if self.loops() {
            self.a.rm(Code::Mov_r64_rm64, Register::RAX, Mem::at(CTX, at::GIVEN));
            self.a.mr(Code::Mov_rm64_r64, Mem::at(CTX, at::BUDGET), Register::RAX);
        }
    }

    /// The channels of a thread that starts: the last one of its group may lack some.
    fn own_channels(&mut self) {
        let index = self.index();
        self.a.rm(Code::Mov_r32_rm32, Register::ECX, index);
        self.a.ri(Code::Add_rm32_imm32, Register::ECX, 1);
        self.a.rm(Code::Mov_r32_rm32, Register::EAX, Mem::at(CTX, at::CHANNELS));
        self.a.rm(Code::Cmp_r32_rm32, Register::ECX, Mem::at(CTX, at::THREADS));
        self.a.rm(Code::Cmove_r32_rm32, Register::EAX, Mem::at(CTX, at::LAST));
        self.a.mr(Code::Mov_rm32_r32, Mem::at(CTX, at::DISPATCH), Register::EAX);
    }

    /// No channels wait anywhere.
    pub(super) fn no_waits(&mut self) {
        let mut waits: Vec<u32> = self.waits.values().copied().collect();
        waits.sort_unstable();
        for w in waits {
            self.a.mi(Code::Mov_rm32_imm32, Mem::at(CTX, w), 0);
        }
    }

    /// One of what threads start with; `image`: where in the context its bytes are, if they are of the image.
    fn start_write(&mut self, w: &Write, image: u32) {
        match w.value {
            Value::Fill(x) => self.fill(w.to, w.bytes, x),
            Value::Image(_) => self.bring(Mem::at(CTX, image), w.to, w.bytes),
            Value::Payload(_) if self.place_in_payload(w.to).is_some() => {}
            Value::Payload(from) if self.together => {
                self.a.rm(Code::Mov_r64_rm64, Register::RSI, Mem::at(CTX, at::PAYLOAD));
                self.bring(Mem::at(Register::RSI, from), w.to, w.bytes);
            }
            Value::Payload(from) => self.bring(Mem::at(PAYLOAD, from), w.to, w.bytes),
            Value::Index => {
                let index = self.index();
                self.a.rm(Code::Movzx_r32_rm8, Register::EAX, index);
                let to = self.reg(w.to);
                self.a.mr(Code::Mov_rm32_r32, to, Register::EAX);
            }
            Value::Slot | Value::State(_) => {
                self.a.rm(Code::Mov_r32_rm32, Register::EAX, Mem::at(CTX, at::SLOT));
                let index = self.index();
                self.a.rm(Code::Add_r32_rm32, Register::EAX, index);
                if let Value::State(gaps) = w.value {
                    for (at, bits) in gaps.steps() {
                        // The upper part, times 2^bits - 1, once more.
                        self.a.rr(Code::Mov_r32_rm32, Register::ECX, Register::EAX);
                        self.a.ri(Code::And_rm32_imm32, Register::ECX, -1 << at);
                        self.a.rri(Code::Imul_r32_rm32_imm32, Register::ECX, Register::ECX, (1 << bits) - 1);
                        self.a.rr(Code::Add_r32_rm32, Register::EAX, Register::ECX);
                    }
                }
                let to = self.reg(w.to);
                self.a.mr(Code::Mov_rm32_r32, to, Register::EAX);
            }
            Value::GroupId => self.bring(Mem::at(CTX, at::GROUP), w.to, w.bytes),
            Value::Channels => {
                let to = self.reg(w.to);
                if self.full {
                    let all = u64::from(u32::MAX) >> (32 - self.p.simd().min(32));
                    self.a.mi(Code::Mov_rm32_imm32, to, all as u32 as i32);
                } else {
                    self.a.rm(Code::Mov_r32_rm32, Register::EAX, Mem::at(CTX, at::DISPATCH));
                    self.a.mr(Code::Mov_rm32_r32, to, Register::EAX);
                }
            }
        }
    }

    /// A thread ended: the next one starts, if there is one and the row may go on.
    pub(super) fn end_thread(&mut self, start: &Start) {
        let [over, done] = std::array::from_fn(|_| self.a.label());
        let cost = self.flow.end().max(1) as i32;
        let left = Mem::at(CTX, at::LEFT);
        let each = self.loops();
        if each {
            self.a.rm(Code::Mov_r64_rm64, Register::RAX, Mem::at(CTX, at::GIVEN));
            self.a.rm(Code::Sub_r64_rm64, Register::RAX, Mem::at(CTX, at::BUDGET));
            self.a.ri(Code::Add_rm64_imm32, Register::RAX, cost);
            self.a.mr(Code::Sub_rm64_r64, left, Register::RAX);
        }
        let next = if each { over } else { self.next };
        self.a.rm(Code::Mov_r32_rm32, Register::EAX, Mem::at(CTX, at::INDEX));
        self.a.ri(Code::Add_rm32_imm8, Register::EAX, 1);
        self.a.mr(Code::Mov_rm32_r32, Mem::at(CTX, at::INDEX), Register::EAX);
        if has_payload(start) {
            self.a.ri(Code::Add_rm64_imm32, PAYLOAD, start.payload_bytes as i32);
        }
        self.a.rm(Code::Cmp_r32_rm32, Register::EAX, Mem::at(CTX, at::THREADS));
        self.a.jump(Code::Jb_rel32_64, next);
        if !each {
            // What a group's threads spent is counted at once.
            self.a.rri(Code::Imul_r64_rm64_imm32, Register::RAX, Register::RAX, cost);
            self.a.mr(Code::Sub_rm64_r64, left, Register::RAX);
        }
        self.a.mi(Code::Mov_rm32_imm32, Mem::at(CTX, at::INDEX), 0);
        if has_payload(start) {
            self.a.rm(Code::Mov_r64_rm64, PAYLOAD, Mem::at(CTX, at::PAYLOADS));
        }
        self.a.mi(Code::Sub_rm32_imm32, Mem::at(CTX, at::GROUPS), 1);
        self.a.jump(Code::Je_rel32_64, done);
        self.a.mi(Code::Add_rm32_imm32, Mem::at(CTX, at::GROUP), 1);
        self.a.bind(over);
        self.a.mi(Code::Cmp_rm64_imm32, left, 0);
        let next = self.next;
        self.a.jump(Code::Jg_rel32_64, next);
        self.a.ri(Code::Mov_r32_imm32, Register::EAX, exit::PAUSED);
        let out = self.out;
        self.a.jmp(out);
        self.a.bind(done);
    }

    /// Can a thread come to an instruction twice?
    pub(super) fn loops(&self) -> bool {
        (0..self.flow.end()).any(|pc| self.inst(pc).op == Op::Goto && self.inst(pc).aux <= pc)
    }

    /// Bytes from memory that is not the register file's into that: by 32 at most, as they are read by parts, and some CPUs
    /// do not forward the upper half of a store of 64 bytes.
    fn bring(&mut self, from: Mem, to: RegOffset, bytes: u32) {
        let mut done = 0;
        while done < bytes {
            let rest = bytes - done;
            let (from, to) = (from.plus(done), Mem::at(REGS, to + done));
            let n = [32, 16, 8, 4, 2].into_iter().find(|n| *n <= rest).unwrap_or(1);
            let (load, store, r) = match n {
                16.. => {
                    let w = Width::of(n);
                    self.a.v2(VMOVDQU32, w, 0, Opd::Mem(from), Lanes::All);
                    self.a.store(STORE32, w, to, 0, Lanes::All);
                    done += n;
                    continue;
                }
                8 => (Code::Mov_r64_rm64, Code::Mov_rm64_r64, [Register::RAX; 2]),
                4 => (Code::Mov_r32_rm32, Code::Mov_rm32_r32, [Register::EAX; 2]),
                2 => (Code::Movzx_r32_rm16, Code::Mov_rm16_r16, [Register::EAX, Register::AX]),
                _ => (Code::Movzx_r32_rm8, Code::Mov_rm8_r8, [Register::EAX, Register::AL]),
            };
            self.a.rm(load, r[0], from);
            self.a.mr(store, to, r[1]);
            done += n;
        }
    }
}

/// Do threads start with a part of a payload?
pub(super) fn has_payload(start: &Start) -> bool {
    start.writes.iter().any(|w| matches!(w.value, Value::Payload(_)))
}
