//! What is kept by register while steps are looked at.

use super::step_list::Reg;

/// Something for each register, all of which is forgotten at once.
#[derive(Default)]
pub(super) struct Table<T> {
    /// With each, when it was put there.
    of: Vec<(u32, T)>,
    now: u32,
}

impl<T: Copy + Default> Table<T> {
    pub fn clear(&mut self) {
        self.now += 1;
    }

    pub fn get(&self, r: Reg) -> Option<T> {
        self.of.get(r as usize).filter(|e| e.0 == self.now).map(|e| e.1)
    }

    pub fn insert(&mut self, r: Reg, x: T) {
        *self.or_default(r) = x;
    }

    pub fn or_default(&mut self, r: Reg) -> &mut T {
        let r = r as usize;
        if r >= self.of.len() {
            // Nothing was put there at this time, whatever it is.
            self.of.resize((r + 1).next_power_of_two(), (u32::MAX, T::default()));
        }
        let e = &mut self.of[r];
        if e.0 != self.now {
            *e = (self.now, T::default());
        }
        &mut e.1
    }

    pub fn remove(&mut self, r: Reg) -> Option<T> {
        let x = self.get(r)?;
        self.of[r as usize].0 = u32::MAX;
        Some(x)
    }
}

/// Lists of numbers, by register.
#[derive(Default)]
pub(super) struct Lists {
    /// The last of each, from 1 on.
    last: Table<u32>,
    /// Each number, and the one before it.
    all: Vec<(u32, u32)>,
}

impl Lists {
    pub fn clear(&mut self) {
        self.last.clear();
        self.all.clear();
    }

    pub fn push(&mut self, r: Reg, x: u32) {
        let before = std::mem::replace(self.last.or_default(r), self.all.len() as u32 + 1);
        self.all.push((x, before));
    }

    /// Those of a register, the last first; there are none any more.
    pub fn drain(&mut self, r: Reg, mut tell: impl FnMut(u32)) {
        let mut at = self.last.remove(r).unwrap_or(0);
        while let Some((x, before)) = (at as usize).checked_sub(1).map(|k| self.all[k]) {
            tell(x);
            at = before;
        }
    }
}
