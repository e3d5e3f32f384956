//! The CPUs for which code is made.

use regalloc2::{MachineEnv, PReg, PRegSet, RegClass};

/// What code is made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// Vectors of 512 bits, and mask registers.
    Avx512,
    /// Vectors of 256 bits; masks are vectors.
    Avx2,
}

/// General registers that code may use as it likes, by number: all but `rbx`, `rbp`, `r12` and `r13`, which say where
/// things are in memory, `rcx`, which has the pointer of a site, and `rsp`.
pub(crate) const FREE: [usize; 10] = [0, 2, 6, 7, 8, 9, 10, 11, 14, 15];

impl Target {
    /// Bytes of a vector.
    pub fn bytes(self) -> u32 {
        match self {
            Target::Avx512 => 64,
            Target::Avx2 => 32,
        }
    }

    /// How many vector registers there are.
    pub fn vectors(self) -> usize {
        match self {
            Target::Avx512 => 32,
            Target::Avx2 => 16,
        }
    }

    /// Mask registers that the allocator gives: none but for AVX-512, where the first one stands for no mask.
    pub fn masks(self) -> std::ops::Range<usize> {
        match self {
            Target::Avx512 => 1..8,
            Target::Avx2 => 0..0,
        }
    }

    /// All registers that the allocator gives.
    pub(crate) fn all(self) -> PRegSet {
        let mut all = set(RegClass::Int, FREE);
        all.union_from(set(RegClass::Float, 0..self.vectors()));
        all.union_from(set(RegClass::Vector, self.masks()));
        all
    }

    pub(crate) fn registers(self) -> MachineEnv {
        MachineEnv {
            preferred_regs_by_class: [
                set(RegClass::Int, FREE),
                set(RegClass::Float, 0..self.vectors()),
                set(RegClass::Vector, self.masks()),
            ],
            non_preferred_regs_by_class: [PRegSet::empty(); 3],
            scratch_by_class: [None; 3],
            fixed_stack_slots: Vec::new(),
        }
    }
}

/// Registers of a class, by their numbers.
fn set(class: RegClass, numbers: impl IntoIterator<Item = usize>) -> PRegSet {
    numbers.into_iter().map(|n| PReg::new(n, class)).collect()
}
