//! Accesses of the past, packed into words, and accesses that are being made.

use super::group::RaceAccess;

/// An access of the past.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Past {
    pub thread: u32,
    pub pc: u32,
    pub clock: u32,
    pub channel: u8,
}

/// In place of a channel: several of a thread, of which none is known.
pub(super) const SEVERAL: u8 = 63;
/// From here on: several of a thread, among them the channel that comes to lie here.
const AMONG: u8 = 32;
/// In place of a channel: the thread as such.
pub(super) const WHOLE: u8 = 62;

/// Bits of a word, from the lowest: what a cell holds, or of which bytes a mark is; the channel, the thread, the
/// instruction, the clock.
pub(super) const TAG: u64 = 7;
const CHANNEL: u32 = 3;
const THREAD: u32 = 9;
const PC: u32 = 17;
const CLOCK: u32 = 37;
const CHANNEL_BITS: u64 = 0x3f << CHANNEL;
/// All but the instruction.
pub(super) const BUT_PC: u64 = !(0xf_ffff << PC);
pub(super) const NONE: u64 = u64::MAX;

/// Waits of a thread that can be counted.
const MOST_CLOCK: u32 = (1 << (64 - CLOCK)) - 1;

impl Past {
    /// As a word; `None` if a part of it is too large.
    pub fn pack(self) -> Option<u64> {
        let fits =
            self.channel < 1 << 6 && self.thread < 1 << 8 && self.pc < 1 << 20 && self.clock < MOST_CLOCK;
        fits.then_some(
            u64::from(self.channel) << CHANNEL
                | u64::from(self.thread) << THREAD
                | u64::from(self.pc) << PC
                | u64::from(self.clock) << CLOCK,
        )
    }

    pub fn unpack(word: u64) -> Past {
        Past {
            thread: (word >> THREAD) as u32 & 0xff,
            pc: (word >> PC) as u32 & 0xf_ffff,
            clock: (word >> CLOCK) as u32,
            channel: (word >> CHANNEL) as u8 & 0x3f,
        }
    }
}

/// In place of a channel: several of a thread, among them this one.
pub(super) fn several_with(channel: u8) -> u8 {
    if channel < WHOLE - AMONG { AMONG + channel } else { SEVERAL }
}

/// Is it in place of a channel, for several?
pub(super) fn is_several(channel: u8) -> bool {
    channel >= AMONG && channel != WHOLE
}

/// A channel: this one, or one that is known of several.
pub(super) fn known_channel(channel: u8) -> Option<u8> {
    match channel {
        0..AMONG => Some(channel),
        AMONG..WHOLE => Some(channel - AMONG),
        _ => None,
    }
}

/// Are there two channels, one of each, that are not the same?
fn are_apart(a: u8, b: u8) -> bool {
    a != b || is_several(a)
}

/// Are two words of one thread?
#[inline(always)]
pub(super) fn same_thread(a: u64, b: u64) -> bool {
    (a ^ b) >> THREAD & 0xff == 0
}

/// Which channels access bytes that lie side by side: the first one's bytes, then the next one's; or one channel all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct By {
    /// The first of them.
    pub channel: u8,
    /// Bytes of each (log2), or [`By::ONE`].
    shift: u8,
}

impl By {
    const ONE: u8 = 5;

    /// One channel.
    pub fn one(channel: u8) -> By {
        By { channel, shift: By::ONE }
    }

    /// Channels of so many bytes each; `None` if that is no number that is kept.
    pub fn each(channel: u8, bytes: u32) -> Option<By> {
        (bytes.is_power_of_two() && bytes <= 16)
            .then_some(By { channel, shift: bytes.trailing_zeros() as u8 })
    }

    /// As eight bits.
    pub fn code(self) -> u8 {
        match self.shift {
            By::ONE => self.channel & 0x3f,
            shift => 64 + shift * AMONG + self.channel % AMONG,
        }
    }

    /// Of a code.
    pub fn of_code(code: u8) -> By {
        match code.checked_sub(64) {
            None => By::one(code),
            Some(code) => By { channel: code % AMONG, shift: code / AMONG },
        }
    }

    /// Does it have as many bytes for each channel as another?
    pub fn is_alike(self, other: By) -> bool {
        self.shift == other.shift
    }

    /// Do channels have less than a dword each?
    pub fn is_narrow(self) -> bool {
        self.shift < 2
    }

    /// The channel of a byte.
    #[inline]
    pub fn channel(self, byte: u32) -> u8 {
        if self.shift == By::ONE {
            self.channel
        } else {
            self.channel.wrapping_add((byte >> self.shift) as u8)
        }
    }

    /// Those of the bytes from one on; `None` if it is in the middle of a channel's.
    #[inline]
    pub fn from(self, byte: u32) -> Option<By> {
        let begins = self.shift == By::ONE || byte & ((1 << self.shift) - 1) == 0;
        begins.then(|| By { channel: self.channel(byte), ..self })
    }

    /// Of a mark.
    pub fn of(mark: u64) -> By {
        By { channel: Past::unpack(mark).channel, shift: (mark & TAG) as u8 }
    }
}

/// An access that is being made, with what its thread knows.
pub(super) struct Making<'a> {
    pub past: Past,
    /// The same as a word.
    pub word: u64,
    pub access: RaceAccess,
    /// An atomic that leaves what is there.
    pub loads: bool,
    /// An atomic that compares.
    pub compares: bool,
    /// How far each thread is known to have come.
    known: &'a [u32],
    /// From when on nothing has ordered the channels of this thread.
    pub since: u32,
}

impl<'a> Making<'a> {
    /// `None` if it cannot be remembered.
    #[inline]
    pub fn new(past: Past, access: RaceAccess, known: &'a [u32], since: u32) -> Option<Making<'a>> {
        let word = past.pack()?;
        Some(Making { past, word, access, loads: false, compares: false, known, since })
    }

    /// It is by this channel.
    #[inline]
    pub fn by(&mut self, channel: u8) {
        self.past.channel = channel;
        self.word = self.word & !CHANNEL_BITS | u64::from(channel) << CHANNEL & CHANNEL_BITS;
    }

    /// As a mark: a word, and whose the bytes are from the first on.
    #[inline]
    pub fn mark(&self, by: By) -> u64 {
        self.word & !(CHANNEL_BITS | TAG)
            | u64::from(by.channel) << CHANNEL & CHANNEL_BITS
            | u64::from(by.shift)
    }

    fn knows(&self, p: &Past) -> bool {
        p.clock <= self.known.get(p.thread as usize).copied().unwrap_or(0)
    }

    /// Does it race with an access of the past, if one of them is more than a read?
    #[inline]
    pub fn races(&self, p: &Past) -> bool {
        if p.thread != self.past.thread {
            return !self.knows(p);
        }
        // The channels of a thread run in step here; in another width, or elsewhere, they do not.
        p.clock >= self.since
            && p.pc != self.past.pc
            && are_apart(p.channel, self.past.channel)
            && p.channel != WHOLE
            && self.past.channel != WHOLE
    }

    /// The same of marks of the same bytes; `None`: of some of them it does.
    #[inline]
    pub fn marks_race(&self, old: u64, mark: u64) -> Option<bool> {
        let p = Past::unpack(old);
        if p.thread != self.past.thread {
            return Some(!self.knows(&p));
        }
        let channel = (mark >> CHANNEL) as u8 & 0x3f;
        if p.clock < self.since || p.pc == self.past.pc || p.channel == WHOLE || channel == WHOLE {
            return Some(false);
        }
        ((old ^ mark) & TAG == 0).then_some(are_apart(p.channel, channel))
    }

    /// Is one of two marks of this thread the thread's as such, and the other not?
    #[inline]
    pub fn hides(&self, old: u64, mark: u64) -> bool {
        let channels = [old, mark].map(|m| (m >> CHANNEL) as u8 & 0x3f);
        same_thread(old, mark) && channels[0] != channels[1] && channels.contains(&WHOLE)
    }

    /// What stays of a read by the same thread, and of this one.
    #[inline]
    pub fn read_again(&self, read: u64) -> u64 {
        let same_channel = (read ^ self.word) & CHANNEL_BITS == 0;
        let several = u64::from(SEVERAL) << CHANNEL;
        match (read ^ self.word) >> CLOCK == 0 {
            // The earlier of two in one interval tells as much.
            true if same_channel || self.past.channel == WHOLE => read,
            true => read & !CHANNEL_BITS | several,
            false if (read >> CLOCK) as u32 >= self.since && !same_channel => {
                self.word & !CHANNEL_BITS | several
            }
            false => self.word,
        }
    }

    /// The same of marks of the same bytes; `None`: of some of them the one stays, of others the other.
    #[inline]
    pub fn marks_read_again(&self, read: u64, mark: u64) -> Option<u64> {
        let same = (read ^ mark) & (CHANNEL_BITS | TAG) == 0;
        if !same && (read ^ mark) & TAG != 0 {
            return None;
        }
        let several =
            |word: u64| word & !(CHANNEL_BITS | TAG) | u64::from(SEVERAL) << CHANNEL | u64::from(By::ONE);
        Some(match (read ^ mark) >> CLOCK == 0 {
            true if same || (mark >> CHANNEL) as u8 & 0x3f == WHOLE => read,
            true => several(read),
            false if (read >> CLOCK) as u32 >= self.since && !same => several(mark),
            false => mark,
        })
    }
}

/// A mark of one of its bytes, as a word without a tag.
pub(super) fn word_at(mark: u64, byte: u32) -> u64 {
    let channel = By::of(mark).channel(byte);
    mark & !(CHANNEL_BITS | TAG) | u64::from(channel) << CHANNEL & CHANNEL_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_kept_in_a_word() {
        let p = Past { thread: 255, pc: 0xf_fff0, clock: MOST_CLOCK - 1, channel: SEVERAL };
        assert_eq!(p.pack().map(|w| Past::unpack(w | 2)), Some(p));
        assert!(
            Past { thread: 256, ..p }.pack().is_none() && Past { clock: MOST_CLOCK, ..p }.pack().is_none()
        );
        assert!(p.pack().is_some_and(|w| w & TAG == 0 && w != NONE & !TAG));
    }

    #[test]
    fn marks_are_words_of_bytes() {
        let by = By::each(3, 8).expect("a power of two");
        assert_eq!([0, 7, 8, 31].map(|byte| by.channel(byte)), [3, 3, 4, 6]);
        assert_eq!((by.from(8), by.from(4)), (By::each(4, 8), None));
        assert_eq!(By::one(9).from(5), Some(By::one(9)));
        for by in [by, By::one(9), By::one(SEVERAL), By::one(several_with(3)), By::each(31, 1).expect("one")]
        {
            assert_eq!(By::of_code(by.code()), by);
        }
        assert_eq!([3, several_with(3), SEVERAL, WHOLE].map(known_channel), [Some(3), Some(3), None, None]);
        assert_eq!(several_with(31), SEVERAL);
        let past = Past { thread: 7, pc: 5, clock: 9, channel: 0 };
        let making = Making::new(past, RaceAccess::Read, &[], 0).expect("small");
        let mark = making.mark(by);
        assert_eq!(By::of(mark), by);
        for byte in 0..32 {
            let at = Past { channel: by.channel(byte), ..past };
            assert_eq!(Some(word_at(mark, byte)), at.pack());
        }
    }
}
