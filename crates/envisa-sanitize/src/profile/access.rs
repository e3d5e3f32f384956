//! What the accesses of one message cost: cache lines, steps of the banks of shared local memory.

use envisa_lower::Message;
use envisa_machine::thread::{Access, AccessKind, AccessSpace};

use super::{BANK_BYTES, BANKS, CACHE_LINE, Counts, is_linear};

/// Adds the accesses of one execution of a message.
pub(super) fn count(c: &mut Counts, message: &Message, accesses: impl Iterator<Item = Access>) {
    let mut memory: Vec<(u64, u64)> = Vec::new();
    let mut banks = Banks::default();
    for a in accesses {
        // What the device drops moves no byte.
        if a.is_dropped(message) {
            continue;
        }
        let bytes = u64::from(a.bytes);
        c.accesses += 1;
        if a.kind != AccessKind::Write {
            c.bytes_read += bytes;
        }
        if a.kind != AccessKind::Read {
            c.bytes_written += bytes;
        }
        if a.space == AccessSpace::Slm {
            banks.add(&a);
        } else if is_linear(message) {
            let at = a.place.unwrap_or(a.address);
            memory.push((at, at.saturating_add(bytes)));
        }
    }
    let (lines, least) = lines(&mut memory);
    c.cache_lines += lines;
    c.least_cache_lines += least;
    let (steps, least) = banks.steps();
    c.bank_steps += steps;
    c.least_bank_steps += least;
}

/// Lines that ranges of bytes touch, and the fewest that as many different bytes fit in.
fn lines(ranges: &mut [(u64, u64)]) -> (u64, u64) {
    ranges.sort_unstable();
    let (mut lines, mut bytes) = (0, 0);
    let (mut next_line, mut next_byte) = (0, 0);
    for &(start, end) in ranges.iter().filter(|(start, end)| start < end) {
        let (first, last) = (start / CACHE_LINE, (end - 1) / CACHE_LINE);
        lines += (last + 1).saturating_sub(first.max(next_line));
        next_line = next_line.max(last + 1);
        bytes += end.saturating_sub(start.max(next_byte));
        next_byte = next_byte.max(end);
    }
    (lines, bytes.div_ceil(CACHE_LINE))
}

/// What a message wants of the banks.
#[derive(Default)]
struct Banks {
    /// Dwords that are read, with repetitions.
    read: Vec<u64>,
    /// Times that dwords of a bank are written or changed.
    written: [u64; BANKS],
}

impl Banks {
    fn add(&mut self, a: &Access) {
        let end = a.address.saturating_add(u64::from(a.bytes.max(1)));
        for dword in a.address / BANK_BYTES..end.div_ceil(BANK_BYTES) {
            if a.kind == AccessKind::Read {
                self.read.push(dword);
            } else {
                self.written[dword as usize % BANKS] += 1;
            }
        }
    }

    /// Steps that the fullest bank takes, and those that it would take if all banks had the same to do.
    fn steps(mut self) -> (u64, u64) {
        self.read.sort_unstable();
        self.read.dedup();
        let mut banks = self.written;
        for dword in &self.read {
            banks[*dword as usize % BANKS] += 1;
        }
        let all: u64 = banks.iter().sum();
        (banks.into_iter().max().unwrap_or(0), all.div_ceil(BANKS as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(address: u64, bytes: u32, kind: AccessKind) -> Access {
        let space = AccessSpace::Slm;
        Access { channel: 0, space, address, place: None, bytes, kind, outside: false }
    }

    fn steps(accesses: impl IntoIterator<Item = Access>) -> (u64, u64) {
        let mut banks = Banks::default();
        accesses.into_iter().for_each(|a| banks.add(&a));
        banks.steps()
    }

    #[test]
    fn lines_are_counted_once() {
        let strided = |n: u64, step: u64| (0..n).map(|i| (i * step, i * step + 4)).collect::<Vec<_>>();
        assert_eq!(lines(&mut strided(16, 4)), (1, 1));
        assert_eq!(lines(&mut strided(16, 64)), (16, 1));
        assert_eq!(lines(&mut strided(16, 8)), (2, 1));
        assert_eq!(lines(&mut [(32, 96)]), (2, 1), "across two");
        assert_eq!(lines(&mut [(60, 68), (0, 4), (60, 68)]), (2, 1), "the same bytes, in any order");
        assert_eq!(lines(&mut [(u64::MAX - 3, u64::MAX)]), (1, 1));
        assert_eq!(lines(&mut [(5, 5)]), (0, 0));
    }

    #[test]
    fn banks_of_one_dword() {
        let each = |step: u64, kind| (0..16).map(move |i| access(i * step, 4, kind));
        assert_eq!(steps(each(4, AccessKind::Read)), (1, 1));
        assert_eq!(steps(each(8, AccessKind::Read)), (2, 1));
        assert_eq!(steps(each(64, AccessKind::Read)), (16, 1));
        assert_eq!(steps(each(68, AccessKind::Read)), (1, 1), "padded rows");
        assert_eq!(steps(each(0, AccessKind::Read)), (1, 1), "reads of one dword are one");
        assert_eq!(steps(each(0, AccessKind::Atomic)), (16, 1), "atomics are not");
        assert_eq!(steps(each(8, AccessKind::Write)), (2, 1));
        assert_eq!(steps([access(2, 4, AccessKind::Read)]), (1, 1), "two banks");
        assert_eq!(steps([access(0, 128, AccessKind::Read)]), (2, 2), "a block");
    }
}
