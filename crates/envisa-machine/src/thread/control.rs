//! The state of a thread without its registers, saved so that it can be restored.

use envisa_sem::FpMode;

use super::{Frame, Mask, Status, Thread, Waiting};

/// What an instruction can change of a thread besides registers and memory.
#[derive(Clone, Debug)]
pub struct Control {
    pc: u32,
    mask: Mask,
    waiting: Waiting,
    mode: FpMode,
    ieee: bool,
    status: Status,
    budget: u64,
    turn: u64,
    started: (u64, u64),
    saved: usize,
    fused: u32,
    signals: u32,
    waits: u32,
    /// How many calls had not returned, and the innermost of them: one instruction enters or leaves one call.
    depth: usize,
    frame: Option<Frame>,
}

impl Control {
    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        size_of::<Control>() + self.frame.as_ref().and_then(|f| f.saved.as_ref()).map_or(0, Vec::len)
    }
}

impl Thread {
    /// What the next instruction can change besides registers and memory.
    pub fn control(&self) -> Control {
        Control {
            pc: self.pc,
            mask: self.mask,
            waiting: self.waiting,
            mode: self.mode,
            ieee: self.ieee,
            status: self.status,
            budget: self.budget,
            turn: self.turn,
            started: self.started,
            saved: self.saved,
            fused: self.fused,
            signals: self.signals,
            waits: self.waits,
            depth: self.frames.len(),
            frame: self.frames.last().cloned(),
        }
    }

    /// Back to what it was one instruction ago.
    pub fn restore(&mut self, c: Control) {
        if self.frames.len() > c.depth {
            if let Some(n) = self.frames.pop().and_then(|f| self.active.get_mut(f.function? as usize)) {
                *n = n.saturating_sub(1);
            }
        } else if let (true, Some(frame)) = (self.frames.len() < c.depth, c.frame) {
            if let Some(n) = frame.function.and_then(|f| self.active.get_mut(f as usize)) {
                *n += 1;
            }
            self.frames.push(frame);
        }
        (self.pc, self.mask, self.waiting, self.status) = (c.pc, c.mask, c.waiting, c.status);
        (self.mode, self.ieee) = (c.mode, c.ieee);
        (self.budget, self.turn, self.started, self.saved) = (c.budget, c.turn, c.started, c.saved);
        (self.fused, self.signals, self.waits) = (c.fused, c.signals, c.waits);
    }

    /// The functions' variables that a return puts back: of the innermost call's function, if it saved them.
    pub fn saved_variables(&self) -> Option<u32> {
        self.frames.last().filter(|f| f.saved.is_some()).and_then(|f| f.function)
    }
}
