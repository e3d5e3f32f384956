//! The memory layout that native code and its engine share: the context of a thread, the sites of messages, the records
//! of threads that take turns, and the registers that point to them.

use iced_x86::Register;

/// The register file.
pub const REGS: Register = Register::RBX;
/// The context.
pub const CTX: Register = Register::RBP;
/// The sites.
pub const SITES: Register = Register::R12;
/// Offsets in a context.
#[allow(missing_docs)]
pub mod at {
    /// The host's own pointer, for callbacks.
    pub const HOST: u32 = 0;
    /// Runs one instruction: `fn(context, pc) -> u32`, 0 to go on.
    pub const CALL: u32 = 8;
    /// The sites.
    pub const SITES: u32 = 16;
    /// Instructions (counted at backward branches) left in this turn.
    pub const BUDGET: u32 = 24;
    /// Active channels, where the host sees them.
    pub const EXEC: u32 = 32;
    /// Where to go on: the number of a resumption, 0 for the start.
    pub const RESUME: u32 = 36;
    /// The instruction that the thread stopped at.
    pub const PC: u32 = 40;
    /// Of a row: the group's id along it, and the thread's index in the group; of threads that take turns, whenever the host sees it.
    pub const GROUP: u32 = 44;
    pub const INDEX: u32 = 48;
    /// Threads of each group.
    pub const THREADS: u32 = 52;
    /// Groups left.
    pub const GROUPS: u32 = 56;
    /// The hardware slot of a group's first thread.
    pub const SLOT: u32 = 60;
    /// The thread's payload, and that of a group's first thread.
    pub const PAYLOAD: u32 = 64;
    pub const PAYLOADS: u32 = 72;
    /// What each thread has to spend.
    pub const GIVEN: u32 = 80;
    /// What the row may spend before it is asked whether it is still wanted.
    pub const LEFT: u32 = 88;
    /// Of threads that take turns: the first one's record, whether they do (see [`crate::together`]), how many have
    /// ended, how long a turn is, and what the thread was given for this one.
    pub const RECORDS: u32 = 96;
    pub const TOGETHER: u32 = 104;
    pub const ENDED: u32 = 108;
    pub const TURN: u32 = 112;
    pub const SEGMENT: u32 = 120;
    /// The channels that the thread starts with.
    pub const DISPATCH: u32 = 128;
    /// How the host rounds, while code rounds otherwise.
    pub const MXCSR: u32 = 136;
    /// Where the records of threads that take turns end.
    pub const RECORDS_END: u32 = 144;
    /// Where such threads start, once code has said it.
    pub const START: u32 = 152;
    /// The first one's record while the first group of a row runs, else nothing.
    pub const FIRST: u32 = 160;
    /// Of a row: the channels of a group's last thread, and of the others.
    pub const LAST: u32 = 168;
    pub const CHANNELS: u32 = 172;
    /// Where accesses to shared local memory are noted for an observer, the word of the thread's first channel, and the last
    /// word of earlier intervals ([`envisa_machine::local_shadow`]).
    pub const SHADOW: u32 = 176;
    pub const FIRST_WORD: u32 = 184;
    pub const EARLIER: u32 = 188;
    /// Vector registers during a call.
    pub const VECTORS: u32 = 192;
    /// Three arrays for what is done lane by lane: of a dword for each of 32 lanes, or of a quad for each of 16.
    pub const LANES: u32 = VECTORS + 32 * 64;
    /// Channels that wait, a dword a label.
    pub const WAITS: u32 = LANES + 3 * 128;
}

/// Which threads code runs.
pub mod together {
    /// A single one.
    pub const SINGLE: u32 = 0;
    /// All of a group, which is one thread.
    pub const ALONE: u32 = 1;
    /// All of a group, taking turns.
    pub const TURNS: u32 = 2;
}

/// A thread of those that take turns, while it is not its turn.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Record {
    /// Its register file.
    pub registers: u64,
    /// Where its code goes on, or starts.
    pub resume_at: u64,
    /// Instructions (counted at backward branches) that it has left.
    pub left: u64,
    /// The number of the resumption where it goes on, or one of [`state`].
    pub resume: u32,
    /// Its active channels, where it may go on with fewer than all.
    pub exec: u32,
    /// A callback has put the machine's thread to the start.
    pub seen: u32,
    /// The thread's index in its group.
    pub index: u32,
}

/// Offsets in a record; behind it are the channels that wait, as in a context.
#[allow(missing_docs)]
pub mod record {
    pub const REGISTERS: u32 = 0;
    pub const RESUME_AT: u32 = 8;
    pub const LEFT: u32 = 16;
    pub const RESUME: u32 = 24;
    pub const EXEC: u32 = 28;
    pub const INDEX: u32 = 36;
    pub const WAITS: u32 = 40;
}

/// Threads that take turns and do not go on at a resumption.
pub mod state {
    /// It has not started.
    pub const NEW: u32 = 0;
    /// It ended.
    pub const ENDED: u32 = u32::MAX;
}

/// Bytes of a site.
pub const SITE: u32 = 64;

/// Where a message's addresses lie: an index `i` passes if `i - low < count`, and is then of the byte
/// `pointer + (i - low) * scale`.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Site {
    /// The first index.
    pub low: u32,
    /// How many indices.
    pub count: u32,
    /// How many begin sixteen consecutive ones that all pass.
    pub last16: u32,
    /// The same of eight, or of thirty-two where the message has so many channels.
    pub last: u32,
    /// Where the first index's byte is.
    pub pointer: u64,
    /// The origin that `low` and `count` are for; of blocks, the address of the first byte.
    pub key: u64,
    /// Of blocks: how many addresses pass. Of addresses of 64 bits: the first. Of messages that are noted: the first byte that
    /// passes, and how many begin a dword of which all bytes do.
    pub wide: u64,
    /// How many indices have four bytes.
    pub count4: u32,
    /// How many accesses since the last one whose places were a row: see [`site::ASTRAY`].
    pub astray: u32,
    /// What the address of the pointer's byte leaves of a multiple of 64, as the guest sees it.
    pub bias: u64,
    /// Of addresses of 64 bits, which count from `wide` on: how many pass.
    pub span: u64,
}

impl Site {
    /// What reads as these dwords.
    pub fn of(all: [u32; 16]) -> Site {
        let wide = |k: usize| u64::from(all[k]) | u64::from(all[k + 1]) << 32;
        Site {
            low: all[0],
            count: all[1],
            last16: all[2],
            last: all[3],
            pointer: wide(4),
            key: wide(6),
            wide: wide(8),
            count4: all[10],
            astray: all[11],
            bias: wide(12),
            span: wide(14),
        }
    }

    /// Nothing passes.
    pub const NOWHERE: Site = Site {
        low: 0,
        count: 0,
        last16: 0,
        last: 0,
        pointer: 0,
        key: u64::MAX,
        wide: 0,
        count4: 0,
        astray: 0,
        bias: 0,
        span: 0,
    };
}

/// Offsets in a site.
#[allow(missing_docs)]
pub mod site {
    pub const LOW: u32 = 0;
    pub const COUNT: u32 = 4;
    pub const LAST16: u32 = 8;
    pub const LAST: u32 = 12;
    pub const POINTER: u32 = 16;
    pub const KEY: u32 = 24;
    pub const WIDE: u32 = 32;
    pub const COUNT4: u32 = 40;
    pub const SPAN: u32 = 56;
    /// Places are not looked at any more while this has one of the bits of `WEARY`: of each 1,024 accesses in a row
    /// that turned out not to be rows, the first 32 were.
    pub const ASTRAY: u32 = 44;
    pub const WEARY: i32 = 0x3e0;
    /// Set in there: the last places were two rows of eight, which is looked at first then.
    pub const HALVES: i32 = i32::MIN;
}

/// In the number of an instruction that calls: it is a branch that has nothing left to spend, and no turns to take.
pub const RENEW: u32 = 1 << 31;

/// In the number of an instruction that calls: it is a message whose operands are in its registers and whose channels,
/// counted from the instruction's first, are [`at::EXEC`]'s; its predicate is not looked at.
pub const MESSAGE: u32 = 1 << 30;
/// Of what a callback is called with: it is about caches of rows, of which the lower bits say the access.
pub const ROW_CACHE: u32 = 1 << 28;

/// What generated code returns.
pub mod exit {
    /// The thread ended.
    pub const DONE: i32 = 0;
    /// It waits at the barrier.
    pub const BARRIER: i32 = 1;
    /// A callback stopped it.
    pub const STOPPED: i32 = 2;
    /// Its turn or its budget ran out at a backward branch.
    pub const EXPIRED: i32 = 3;
    /// Of a row: the next thread is to start, if the row is still wanted.
    pub const PAUSED: i32 = 4;
    /// Of a callback: the thread ended.
    pub const ENDED: i32 = 5;
    /// Of threads that take turns: all have had theirs, and some have ended.
    pub const MIXED: i32 = 6;
    /// It calls a function.
    pub const CALL: i32 = 7;
}
