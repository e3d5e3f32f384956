//! The implicit arguments that stack-call functions read.

use super::threads::{GroupClass, Threads};
use crate::memory::{Memory, MemoryError, Private};

/// Bytes of the structure, version 0.
pub const BYTES: u32 = 0x70;
/// Bytes reserved for each structure: `r0.0` names it by an address whose low 6 bits are ignored.
pub const STRIDE: u32 = 128;

/// What the structure says of a launch.
pub struct Implicit {
    /// Dimensions of the range.
    pub dims: u32,
    /// Channels a thread.
    pub simd: u32,
    /// Global size.
    pub global: [u64; 3],
    /// Global offset.
    pub offset: [u64; 3],
    /// Groups.
    pub groups: [u32; 3],
    /// Address of the printf buffer, 0 for none.
    pub printf: u64,
}

impl Implicit {
    /// The structure for groups of a class.
    pub fn encode(&self, class: &GroupClass, local_ids: u64) -> [u8; BYTES as usize] {
        let mut out = [0; BYTES as usize];
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &[BYTES as u8, 0, self.dims as u8, self.simd as u8]);
        for d in 0..3 {
            put(0x04 + 4 * d, &class.local[d].to_le_bytes());
            put(0x10 + 8 * d, &self.global[d].to_le_bytes());
            put(0x30 + 8 * d, &self.offset[d].to_le_bytes());
            put(0x50 + 4 * d, &self.groups[d].to_le_bytes());
        }
        put(0x28, &self.printf.to_le_bytes());
        put(0x48, &local_ids.to_le_bytes());
        out
    }
}

/// The table of local ids of a class of groups: for each thread three rows of at least 16 ids.
///
/// # Errors
/// Where memory is exhausted.
pub fn local_id_table(
    memory: &Memory,
    threads: &Threads,
    class: &GroupClass,
) -> Result<Private, MemoryError> {
    let row = threads.simd.max(16) as usize * 2;
    let mut table = vec![0; class.threads as usize * 3 * row];
    let total = class.local.iter().product::<u32>();
    for item in 0..total {
        let (thread, lane) = ((item / threads.simd) as usize, (item % threads.simd) as usize);
        for (d, id) in threads.local_id(item, class.local).into_iter().enumerate() {
            let at = (thread * 3 + d) * row + lane * 2;
            table[at..at + 2].copy_from_slice(&(id as u16).to_le_bytes());
        }
    }
    let own = memory.allocate_private("local ids of implicit arguments", table.len() as u64)?;
    own.block.copy_in(0, &table);
    Ok(own)
}
