//! Finds the instruction that wrote a value last, and the values from which it was computed.

use crate::breakpoints::{channel_of, record_overlaps};
use crate::eval::Value;
use crate::session::{Focus, Session};
use envisa::lower::{Inst, Op, Src, Touched};
use envisa::machine::group::log::{PastEntry, Place};

/// The last write of a value.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The clock before the instruction that wrote it.
    pub clock: u64,
    /// Who wrote it.
    pub focus: Focus,
    /// In words.
    pub text: String,
}

/// Most steps from register to register, and parts that are told.
const MAX_STEPS: usize = 256;
const MAX_PARTS: usize = 12;

impl Session<'_, '_> {
    /// Where the value of an expression was written last, for the lane that is looked at.
    ///
    /// # Errors
    /// Why that cannot be told.
    pub fn origin(&mut self, text: &str, frame: usize) -> Result<Origin, String> {
        let focus = self.focus;
        let value = self.evaluate(text, focus, frame)?;
        let Some(place) = value.place else {
            return Err(format!(
                "`{text}` is in no register and no memory: it is computed, or an argument of the launch"
            ));
        };
        if self.paused.log().is_empty() && !self.remember() {
            return Err("nothing was executed yet".into());
        }
        let (place, bytes) = self.own_part(&value, place, focus);
        let now = self.paused.clock();
        let short = self.paused.log().len() < now;
        if short && self.last_write(place, bytes, (focus.thread, 0), 0).is_none() {
            self.remember();
        }
        let known = self.paused.log().len();
        let found = self.last_write(place, bytes, (focus.thread, 0), 0);
        let Some((past, channel)) = found else {
            return Err(if known < now {
                let earlier = now - known;
                format!(
                    "nothing has written `{text}` in the last {known} instructions, which are all that is kept (--history): `goto {earlier}` and ask again there"
                )
            } else {
                format!("nothing of this launch has written `{text}`: it is as it was before")
            });
        };
        let entry = past.entry;
        let code = self.program().code();
        let first = code.get(entry.pc() as usize).map_or(0, |i| u32::from(i.first));
        let writer = Focus { thread: entry.thread(), lane: (channel + first).min(31) };
        let mut said = format!("`{text}` was written {}", self.told(entry.pc()));
        if past.groups == 0 {
            said.push_str(&format!(" by {}", self.lane_name(writer)));
        } else {
            let s = if past.groups == 1 { "" } else { "s" };
            said.push_str(&format!(" by a thread of {} group{s} before this one", past.groups));
        }
        let mut made = Vec::new();
        self.made_of(&past, channel, &mut made);
        made.dedup();
        for part in made.iter().take(MAX_PARTS) {
            said.push_str(&format!("\n  from {part}"));
        }
        Ok(Origin { clock: now - past.back, focus: writer, text: said })
    }

    /// Of a register that has an element for each lane, the lane's.
    fn own_part(&self, value: &Value, place: Place, focus: Focus) -> (Place, u64) {
        let (types, bytes) = (self.types.borrow(), value.bytes.len() as u64);
        if let (Place::Register(_), crate::types::Type::Array(of, n)) = (place, types.real(value.ty)) {
            let size = types.bytes(*of);
            if u64::from(focus.lane) < *n && *n >= u64::from(self.program().simd()) {
                return (place.plus(size * u64::from(focus.lane)), size);
            }
        }
        (place, bytes)
    }

    /// Line and instruction in words.
    fn told(&self, pc: u32) -> String {
        let written = self.stage.written(pc).unwrap_or_default();
        let written = written.split("///").next().unwrap_or_default().trim().to_owned();
        let line = self.lines.of(pc).map(|l| {
            let name =
                self.lines.files.get(l.file).map_or("", |f| f.name.rsplit('/').next().unwrap_or(&f.name));
            format!("at {name}:{} ", l.line)
        });
        format!("{}({written})", line.unwrap_or_default())
    }

    /// The last entry, after so many, that wrote a byte of a place, and by which channel; registers are those of a thread, of the
    /// group that many groups ago.
    fn last_write(
        &self,
        place: Place,
        bytes: u64,
        (thread, group): (usize, u64),
        after: u64,
    ) -> Option<(PastEntry<'_>, u32)> {
        let register = matches!(place, Place::Register(_));
        let entries = self.paused.log().entries().skip(after as usize);
        for past in entries {
            if register && past.groups > group {
                return None;
            }
            if register && past.entry.thread() != thread {
                continue;
            }
            for r in past.records_latest_first().filter(|r| !r.read && record_overlaps(r, place, bytes)) {
                match place {
                    Place::Register(at) => {
                        if let Some(channel) = self.wrote(&past, at, bytes as u32) {
                            return Some((past, channel));
                        }
                    }
                    _ => return Some((past, channel_of(&r, place))),
                }
            }
        }
        None
    }

    /// The channel by which an entry's instruction wrote a byte of registers.
    fn wrote(&self, past: &PastEntry<'_>, at: u32, bytes: u32) -> Option<u32> {
        let program = self.program();
        let inst = program.code().get(past.entry.pc() as usize)?;
        let mask = past.entry.mask();
        let mut found = None;
        inst.writes(program.parts(), &mut |t| {
            if found.is_some() {
                return;
            }
            if let Touched::Whole { offset, bytes: n } = t {
                found = (offset < at + bytes && at < offset + n).then_some(mask.trailing_zeros().min(31));
                return;
            }
            found = (0..u32::from(inst.channels)).filter(|k| mask >> k & 1 != 0).find(|k| {
                // Behind an address register it may be any.
                t.channel(*k).is_none_or(|r| r.start < at + bytes && at < r.end)
            });
        });
        found
    }

    /// What a channel's value was made of, back to memory, constants and inputs.
    fn made_of(&self, past: &PastEntry<'_>, channel: u32, told: &mut Vec<String>) {
        let mut left = vec![(past.back, channel)];
        let mut done = Vec::new();
        while let Some((back, channel)) = left.pop() {
            if done.contains(&(back, channel)) || done.len() > MAX_STEPS || told.len() >= MAX_PARTS {
                continue;
            }
            done.push((back, channel));
            let Some(past) = self.paused.log().entries().nth(back as usize - 1) else { continue };
            let Some(inst) = self.program().code().get(past.entry.pc() as usize) else { continue };
            let own = |r: &envisa::machine::group::log::Record<'_>| {
                let last = if r.each == 0 {
                    r.channel.into()
                } else {
                    u32::from(r.channel) + r.bytes / r.each.max(1)
                };
                u32::from(r.channel) <= channel && channel <= last
            };
            let load = past.records_latest_first().find(|r| r.read && own(r));
            if let Some(r) = load {
                let by = u64::from(r.each) * u64::from(channel.saturating_sub(r.channel.into()));
                told.push(self.memory_name(&past, r.place.plus(by), channel + u32::from(inst.first)));
                continue;
            }
            self.sources(inst, channel, &mut |at, bytes, constant| {
                if constant {
                    told.push(format!("a constant ({})", self.told(past.entry.pc())));
                    return;
                }
                let thread = (past.entry.thread(), past.groups);
                match self.last_write(Place::Register(at), bytes.into(), thread, back) {
                    Some((earlier, channel)) => left.push((earlier.back, channel)),
                    None => told.push("an input of the thread".into()),
                }
            });
        }
        told.sort();
        told.dedup();
    }

    /// The registers that an instruction reads for a channel; of a store its data.
    fn sources(&self, inst: &Inst, channel: u32, visit: &mut dyn FnMut(u32, u32, bool)) {
        if inst.op == Op::Message {
            if let Some(envisa::lower::Message::Simt(s)) = self.program().messages().get(inst.aux as usize)
                && let Some(data) = s.data.filter(|_| s.write)
            {
                visit(data + channel * u32::from(s.slot), s.slot.into(), false);
            }
            return;
        }
        for src in &inst.src {
            if let Src::Reg { offset, ty, strides, constant, .. } = *src {
                visit(offset + strides.element(channel) * ty.size(), ty.size(), constant);
            }
        }
    }

    /// What memory that was read is called.
    fn memory_name(&self, past: &PastEntry<'_>, place: Place, lane: u32) -> String {
        let (kind, at) = place.kind_and_offset();
        let line =
            self.lines.of(past.entry.pc()).map_or(String::new(), |l| format!(", read at line {}", l.line));
        if past.groups == 0 {
            let frames = self.frames(past.entry.thread());
            let types = self.types.borrow();
            for frame in &frames {
                // Also of blocks that have ended.
                let all = self.symbols.functions.get(&frame.function).map_or(&[][..], |f| &f.variables);
                for v in all {
                    let Ok(value) = self.value_of(v, frame, lane, &types) else { continue };
                    let Some((k, from)) = value.place.map(Place::kind_and_offset) else { continue };
                    let by = at.wrapping_sub(from);
                    if k == kind && by < value.bytes.len() as u64 {
                        let part = if by == 0 { String::new() } else { format!(", {by} bytes into it") };
                        return format!("`{}` of {}{part}{line}", v.name, frame.function);
                    }
                }
            }
        }
        if kind == 2 {
            return format!("local memory at {at}{line}");
        }
        let map = self.stage.view().env.memory;
        match map.iter().find(|a| at >= a.base && at - a.base < a.block.len() as u64) {
            Some(a) => format!("{} at byte {}{line}", self.stage.view().env.names.of(a), at - a.base),
            None => format!("memory at {at:#x}{line}"),
        }
    }
}
