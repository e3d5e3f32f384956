//! The register file of a lowered program.

/// Offset in bytes into the register file of a hardware thread.
pub type RegOffset = u32;

/// Chunk of allocation, in bytes.
pub(crate) const CHUNK: u32 = 64;

/// Bytes past the last variable that a vector load may read: 32 channels of 8 bytes.
pub const REGISTER_PADDING: u32 = 256;

/// Largest register file, in bytes. A virtual ISA has as many registers as a kernel declares; more than
/// this is refused.
pub const MAX_REGISTER_BYTES: u32 = 8 << 20;

/// The register file of a thread: one array of bytes.
///
/// `[0, constants.end)` immediates, never written; then predicates, address registers, surface and
/// sampler states, predefined variables, the kernel's inputs, its other variables, the functions'
/// variables; [`REGISTER_PADDING`] bytes of padding.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Registers {
    /// Bytes of the whole file, padding included; a multiple of 64.
    pub bytes: u32,
    /// What the file starts with: immediates. All else starts as zero.
    pub constants: Vec<u8>,
    /// Where the variables of the kernel that are not inputs start; everything from here to `bytes` is zero
    /// at the start of a thread.
    pub locals_start: RegOffset,
    /// What must be zero when a thread starts with all channels of its dispatch: everything else that is not an
    /// input is written before it is read. (A thread that lacks channels starts with zeros everywhere.)
    pub fresh: Vec<std::ops::Range<RegOffset>>,
    /// ObjectLayout of the predefined variables, by id.
    pub predefined: [RegOffset; 32],
    /// Part of the file that address registers can name, and the home of each of its 64-byte chunks:
    /// `(start, end)` in bytes. An address is an offset from [`Registers::address_base`].
    pub address_base: RegOffset,
    /// See `address_base`.
    pub address_homes: Vec<(u32, u32)>,
}

impl Registers {
    /// The bytes that address registers can name.
    pub fn addressable(&self) -> std::ops::Range<RegOffset> {
        self.address_base..self.address_base + self.address_homes.len() as u32 * CHUNK
    }

    /// Is a byte a variable's or an address register's, and no input's? Variables that are predefined are more than their
    /// values.
    pub fn is_plain_variable(&self, at: RegOffset) -> bool {
        if at >= self.locals_start || at < self.address_base {
            return true;
        }
        let home = self.address_homes.get((at - self.address_base) as usize / CHUNK as usize);
        home.is_some_and(|h| h.1 != 0 && !self.predefined.contains(&(self.address_base + h.0)))
    }

    /// The variables that address registers can name, in the order of their offsets.
    pub fn address_taken(&self) -> impl Iterator<Item = std::ops::Range<RegOffset>> {
        let variables = self.address_homes.chunk_by(|a, b| a == b).map(|h| h[0]).filter(|h| h.1 > h.0);
        variables.map(|(start, end)| self.address_base + start..self.address_base + end)
    }
}
