//! Accesses of the past, packed into words, and accesses that are being made.

use super::races_in_group::RaceAccess;

/// An access of the past.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PastAccess {
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

/// Bits of a word, from the lowest: none; the channel, the thread, the instruction, the clock.
const CHANNEL: u32 = 3;
const THREAD: u32 = 9;
const PC: u32 = 17;
pub(super) const CLOCK: u32 = 37;
pub(super) const CHANNEL_BITS: u64 = 0x3f << CHANNEL;
pub(super) const THREAD_BITS: u64 = 0xff << THREAD;
pub(super) const PC_BITS: u64 = 0xf_ffff << PC;

/// Waits of a thread that can be counted.
pub(super) const MOST_CLOCK: u32 = (1 << (64 - CLOCK)) - 1;

impl PastAccess {
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

    pub fn unpack(word: u64) -> PastAccess {
        PastAccess {
            thread: (word >> THREAD) as u32 & 0xff,
            pc: (word >> PC) as u32 & 0xf_ffff,
            clock: (word >> CLOCK) as u32,
            channel: (word >> CHANNEL) as u8 & 0x3f,
        }
    }
}

/// In place of a channel: several of a thread, among them this one.
pub(super) fn several_channels(channel: u8) -> u8 {
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

/// Which channels access bytes that lie side by side: the first one's bytes, then the next one's; or one channel all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ChannelRange {
    /// The first of them.
    pub channel: u8,
    /// Bytes of each (log2), or [`ChannelRange::ONE`].
    shift: u8,
}

impl ChannelRange {
    const ONE: u8 = 5;

    /// One channel.
    pub fn single(channel: u8) -> ChannelRange {
        ChannelRange { channel, shift: ChannelRange::ONE }
    }

    /// Channels of so many bytes each; `None` if that is no number that is kept.
    pub fn equal_parts(channel: u8, bytes: u32) -> Option<ChannelRange> {
        (bytes.is_power_of_two() && bytes <= 16)
            .then_some(ChannelRange { channel, shift: bytes.trailing_zeros() as u8 })
    }

    /// As eight bits.
    pub fn code(self) -> u8 {
        match self.shift {
            ChannelRange::ONE => self.channel & 0x3f,
            shift => 64 + shift * AMONG + self.channel % AMONG,
        }
    }

    /// Of a code.
    pub fn of_code(code: u8) -> ChannelRange {
        match code.checked_sub(64) {
            None => ChannelRange::single(code),
            Some(code) => ChannelRange { channel: code % AMONG, shift: code / AMONG },
        }
    }

    /// How many bytes each channel has, if it is not one alone.
    pub fn each_bytes(self) -> Option<u32> {
        (self.shift != ChannelRange::ONE).then(|| 1 << self.shift)
    }

    /// Does it have as many bytes for each channel as another?
    pub fn is_alike(self, other: ChannelRange) -> bool {
        self.shift == other.shift
    }

    /// Do channels have less than a dword each?
    pub fn is_narrow(self) -> bool {
        self.shift < 2
    }

    /// The channel of a byte.
    #[inline]
    pub fn channel(self, byte: u32) -> u8 {
        if self.shift == ChannelRange::ONE {
            self.channel
        } else {
            self.channel.wrapping_add((byte >> self.shift) as u8)
        }
    }

    /// Those of the bytes from one on; `None` if it is in the middle of a channel's.
    #[inline]
    pub fn from(self, byte: u32) -> Option<ChannelRange> {
        let begins = self.shift == ChannelRange::ONE || byte & ((1 << self.shift) - 1) == 0;
        begins.then(|| ChannelRange { channel: self.channel(byte), ..self })
    }
}

/// An access that is being made, with what its thread knows.
pub(super) struct CurrentAccess<'a> {
    pub past: PastAccess,
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
    /// What was done before this time is ordered before the access, whoever did it.
    pub floor: u32,
    /// From when on what its own channel wrote is not known to be there.
    pub since_own: u32,
}

impl<'a> CurrentAccess<'a> {
    /// `None` if it cannot be remembered. `floor`: as is known of all threads.
    #[inline]
    pub fn new(
        past: PastAccess,
        access: RaceAccess,
        known: &'a [u32],
        (since, floor): (u32, u32),
    ) -> Option<CurrentAccess<'a>> {
        let word = past.pack()?;
        let since_own = u32::MAX;
        Some(CurrentAccess {
            past,
            word,
            access,
            loads: false,
            compares: false,
            known,
            since,
            floor,
            since_own,
        })
    }

    /// It is of an image that the kernel may also write: what its own channel wrote since this time, a fence of images has
    /// to come behind before it reads it (OpenCL C 3.0, 6.15.15.3).
    pub fn reads_back(&mut self, since: u32, in_step: bool) {
        if in_step {
            self.since = since;
        }
        if self.access == RaceAccess::Read {
            self.since_own = since;
        }
        self.floor = self.floor.min(since);
    }

    /// It is by this channel.
    #[inline]
    pub fn by(&mut self, channel: u8) {
        self.past.channel = channel;
        self.word = word_by(self.word, channel);
    }

    fn knows(&self, p: &PastAccess) -> bool {
        p.clock <= self.known.get(p.thread as usize).copied().unwrap_or(0)
    }

    /// Does it race with an access of the past, if one of them is more than a read?
    #[inline]
    pub fn races(&self, p: &PastAccess) -> bool {
        if p.thread != self.past.thread {
            return !self.knows(p);
        }
        if p.clock >= self.since_own && p.pc != self.past.pc {
            return true;
        }
        // The channels of a thread run in step here; in another width, or elsewhere, they do not.
        p.clock >= self.since
            && p.pc != self.past.pc
            && are_apart(p.channel, self.past.channel)
            && p.channel != WHOLE
            && self.past.channel != WHOLE
    }
}

/// A word with another channel.
#[inline(always)]
pub(super) fn word_by(word: u64, channel: u8) -> u64 {
    word & !CHANNEL_BITS | u64::from(channel) << CHANNEL & CHANNEL_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_kept_in_a_word() {
        let p = PastAccess { thread: 255, pc: 0xf_fff0, clock: MOST_CLOCK - 1, channel: SEVERAL };
        assert_eq!(p.pack().map(|w| PastAccess::unpack(w | 2)), Some(p));
        assert!(
            PastAccess { thread: 256, ..p }.pack().is_none()
                && PastAccess { clock: MOST_CLOCK, ..p }.pack().is_none()
        );
    }

    #[test]
    fn bytes_have_channels() {
        let by = ChannelRange::equal_parts(3, 8).expect("a power of two");
        assert_eq!([0, 7, 8, 31].map(|byte| by.channel(byte)), [3, 3, 4, 6]);
        assert_eq!((by.from(8), by.from(4)), (ChannelRange::equal_parts(4, 8), None));
        assert_eq!(ChannelRange::single(9).from(5), Some(ChannelRange::single(9)));
        for by in [
            by,
            ChannelRange::single(9),
            ChannelRange::single(SEVERAL),
            ChannelRange::single(several_channels(3)),
            ChannelRange::equal_parts(31, 1).expect("one"),
        ] {
            assert_eq!(ChannelRange::of_code(by.code()), by);
        }
        assert_eq!(
            [3, several_channels(3), SEVERAL, WHOLE].map(known_channel),
            [Some(3), Some(3), None, None]
        );
        assert_eq!(several_channels(31), SEVERAL);
    }
}
