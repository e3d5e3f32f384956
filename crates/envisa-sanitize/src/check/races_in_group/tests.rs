//! Histories of groups, and their races.

use super::*;

fn group(threads: u32) -> Group {
    let mut g = Group::default();
    (0..threads).for_each(|t| g.start(t, t == 0));
    g
}

/// An access, its channel and value.
type One = (CurrentAccesses, u8, u32);

fn now(thread: u32, access: RaceAccess, value: u32) -> One {
    (CurrentAccesses { thread, pc: thread, access, loads: false, compares: false, images: false }, 0, value)
}

impl Group {
    fn one(&mut self, key: u64, bytes: u32, (now, channel, value): One) -> Option<(PastAccess, RaceAccess)> {
        let mut found = None;
        let values = value.to_le_bytes();
        let run = Run { key, bytes, by: ChannelRange::single(channel), values: &values[..bytes as usize] };
        self.access(&run, now, |_, _, race| found = Some(race));
        found
    }
}

use RaceAccess::{Atomic, Read, Write};

const BOTH: u32 = fence::GLOBAL | fence::LOCAL;

impl Group {
    /// A barrier with fences of these bits.
    fn wait(&mut self, thread: u32, what: u32) {
        self.fence(thread, what);
        self.barrier(thread, (Op::Barrier, 0), false);
    }
}

#[test]
fn barriers_order() {
    let mut g = group(2);
    assert!(g.one(0, 4, now(0, Write, 1)).is_none());
    g.wait(0, BOTH);
    assert!(g.one(4, 4, now(1, Write, 1)).is_none());
    g.wait(1, BOTH);
    g.resume_thread(0);
    // Thread 0 is at the next barrier already when thread 1 leaves this one.
    assert!(g.one(4, 4, now(0, Read, 0)).is_none());
    assert!(g.one(8, 4, now(0, Write, 7)).is_none());
    g.wait(0, BOTH);
    g.resume_thread(1);
    assert!(g.one(0, 4, now(1, Read, 0)).is_none());
    let (past, with) = g.one(8, 4, now(1, Read, 0)).expect("a race");
    assert_eq!((past.thread, with), (0, Write));
}

#[test]
fn barriers_order_the_memory_that_is_fenced() {
    for (what, ordered) in [(fence::GLOBAL, 0), (fence::LOCAL, SLM), (0, 1), (BOTH, 2)] {
        for key in [0, SLM] {
            let mut g = group(2);
            assert!(g.one(key, 4, now(0, Write, 1)).is_none());
            (0..2).for_each(|t| g.wait(t, what));
            (0..2).for_each(|t| g.resume_thread(t));
            let race = g.one(key, 4, now(1, Read, 0));
            assert_eq!(race.is_none(), key == ordered || ordered == 2, "fence {what}, key {key:#x}");
        }
    }
}

#[test]
fn without_one_it_is_a_race() {
    let mut g = group(3);
    assert!(g.one(0, 4, now(0, Read, 0)).is_none());
    assert!(g.one(0, 4, now(1, Read, 0)).is_none());
    assert_eq!(g.one(0, 4, now(2, Write, 5)).map(|r| (r.0.thread, r.1)), Some((0, Read)));
    // The same value, twice.
    assert!(g.one(0, 4, now(1, Write, 5)).is_none());
    assert!(g.one(0, 4, now(0, Write, 6)).is_some());
}

#[test]
fn bytes_stand_alone() {
    let mut g = group(2);
    assert!(g.one(SLM | 5, 1, now(0, Write, 1)).is_none());
    assert!(g.one(SLM | 6, 1, now(1, Write, 2)).is_none());
    assert!(g.one(SLM | 4, 4, now(1, Read, 0)).is_some());
    assert!(g.one(SLM | 8, 4, now(0, Write, 0x0403_0201)).is_none());
    assert!(g.one(SLM | 9, 1, now(1, Write, 2)).is_none(), "what is there already");
    assert!(g.one(SLM | 10, 1, now(1, Write, 2)).is_some());
}

#[test]
fn atomics_order_between_fences() {
    // What the first thread stores, a fence or none, its atomic; the second one's atomic, a fence or none, and what
    // it reads.
    for (release, acquire) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut g = group(2);
        assert!(g.one(0, 4, now(0, Write, 1)).is_none());
        if release {
            g.fence(0, fence::GLOBAL);
        }
        for thread in 0..2 {
            assert!(g.one(64, 4, now(thread, Atomic, 0)).is_none());
            g.synchronise(thread, 64, true, true);
        }
        if acquire {
            g.fence(1, fence::GLOBAL);
        }
        let ordered = release && acquire;
        assert_eq!(g.one(0, 4, now(1, Read, 0)).is_none(), ordered);
        assert_eq!(g.one(64, 4, now(1, Read, 0)).is_none(), ordered, "the atomic itself");
        // What the first one stores from then on is its own again.
        assert!(g.one(4, 4, now(0, Write, 1)).is_none());
        assert!(g.one(4, 4, now(1, Read, 0)).is_some());
        assert!(g.one(64, 4, now(0, Write, 1)).is_some(), "thread 1's atomic came later");
    }
}

#[test]
fn what_is_stored_between_a_fence_and_its_atomic_is_not_told() {
    let mut g = group(2);
    g.fence(0, fence::GLOBAL);
    assert!(g.one(0, 4, now(0, Write, 1)).is_none());
    (0..2).for_each(|t| g.synchronise(t, 64, true, true));
    g.fence(1, fence::GLOBAL);
    assert!(g.one(0, 4, now(1, Read, 0)).is_some());
}

#[test]
fn atomics_race_with_reads() {
    let mut g = group(3);
    assert!(g.one(0, 4, now(0, Read, 0)).is_none());
    let load = (CurrentAccesses { loads: true, ..now(1, Atomic, 0).0 }, 0, 0);
    assert!(g.one(0, 4, load).is_none(), "it changes nothing");
    assert_eq!(g.one(0, 4, now(1, Atomic, 0)).map(|r| (r.0.thread, r.1)), Some((0, Read)));
    assert_eq!(g.one(0, 4, now(2, Read, 0)).map(|r| (r.0.thread, r.1)), Some((1, Atomic)));
    // Who changed it later knows no more, whoever changed it last.
    let mut g = group(2);
    for thread in 0..2 {
        assert!(g.one(0, 4, now(thread, Atomic, 0)).is_none());
        g.synchronise(thread, 0, true, true);
    }
    assert_eq!(g.one(0, 4, now(1, Read, 0)).map(|r| (r.0.thread, r.1)), Some((0, Atomic)));
}

#[test]
fn what_is_compared_later_is_a_guess() {
    let mut g = group(2);
    assert!(g.one(0, 4, now(0, Read, 0)).is_none());
    assert!(g.one(0, 4, now(1, Atomic, 0)).is_some());
    assert!(g.guesses.is_empty());
    g.one(0, 4, (CurrentAccesses { pc: 9, compares: true, ..now(0, Atomic, 0).0 }, 0, 0));
    assert_eq!(g.guesses.iter().collect::<Vec<_>>(), [&0], "the load's instruction");
}

#[test]
fn fences_of_the_group_are_none_for_others() {
    let mut g = group(1);
    g.note_atomic_result();
    assert!(!g.has_acquired(), "an atomic alone orders nothing");
    g.fence(0, fence::GLOBAL | fence::GROUP);
    assert!(!g.has_acquired());
    g.note_atomic_result();
    g.fence(0, fence::LOCAL | fence::GROUP);
    g.fence(0, fence::LOCAL);
    assert!(!g.has_acquired(), "of other memory");
    g.fence(0, fence::GLOBAL);
    assert!(g.has_acquired());
    g.fence(0, fence::GLOBAL | fence::GROUP);
    assert!(g.has_acquired(), "the wider one came first");
}

#[test]
fn split_and_named_barriers_order() {
    for (op, waits) in [(Op::SplitBarrier, true), (Op::NamedBarrier, true), (Op::SplitBarrier, false)] {
        let mut g = group(2);
        assert!(g.one(0, 4, now(0, Write, 1)).is_none());
        g.fence(0, BOTH);
        g.barrier(0, (op, 0), true);
        g.barrier(1, (op, 0), true);
        if waits {
            g.barrier(1, (op, 0), false);
        }
        g.resume_thread(1);
        assert_eq!(g.one(0, 4, now(1, Read, 0)).is_none(), waits);
    }
}

#[test]
fn channels_of_one_thread_race() {
    let at = |pc, channel, access, value| {
        (
            CurrentAccesses { thread: 0, pc, access, loads: false, compares: false, images: false },
            channel,
            value,
        )
    };
    let mut g = group(1);
    assert!(g.one(0, 4, at(1, 3, Write, 1)).is_none());
    assert!(g.one(0, 4, at(2, 3, Read, 0)).is_none(), "its own");
    assert!(g.one(0, 4, at(2, 4, Read, 0)).is_some(), "another's");
    assert!(g.one(4, 4, at(3, 3, Read, 0)).is_none());
    assert!(g.one(4, 4, at(3, 4, Read, 0)).is_none());
    assert!(g.one(4, 4, at(4, 4, Write, 9)).is_some(), "channel 3 may come later");
    // A barrier or a fence orders them; the thread as such is no channel.
    assert!(g.one(SLM | 4, 4, at(4, 4, Write, 9)).is_none());
    g.fence(0, fence::GLOBAL);
    assert!(g.one(4, 4, at(5, 3, Read, 0)).is_none());
    assert!(g.one(SLM | 4, 4, at(5, 3, Read, 0)).is_some(), "the fence is for global memory");
    g.fence(0, fence::LOCAL);
    assert!(g.one(SLM | 4, 4, at(6, 5, Read, 0)).is_none());
    assert!(g.one(8, 4, at(6, THREAD, Write, 9)).is_none());
    assert!(g.one(8, 4, at(7, 5, Read, 0)).is_none());
    // A barrier of the sub-group orders them, and nobody else.
    g.start(1, false);
    assert!(g.one(SLM | 12, 4, at(8, 5, Write, 9)).is_none());
    g.join_channels(0, GLOBAL);
    assert!(g.one(SLM | 12, 4, at(9, 6, Read, 0)).is_some());
    g.join_channels(0, LOCAL);
    assert!(g.one(SLM | 12, 4, at(9, 7, Read, 0)).is_none());
    assert!(g.one(SLM | 12, 4, now(1, Read, 0)).is_some());
}

#[test]
fn fences_cover_images_unless_they_are_told_not_to() {
    use envisa_machine::check_reports::{COVERS_BUFFERS, COVERS_IMAGES, IMAGES_APART};
    let image = |thread, pc, access, channel, value| {
        let loads = false;
        (CurrentAccesses { thread, pc, access, loads, compares: false, images: true }, channel, value)
    };
    // Whether another thread, and the thread itself, may read what a thread wrote before it came to a barrier.
    let reads = |told: Option<u32>| {
        let mut g = group(2);
        for thread in 0..2 {
            g.fences(thread, if told.is_some() { IMAGES_APART } else { 0 });
            g.fences(thread, 0);
        }
        assert!(g.one(0, 4, image(0, 1, Write, 3, 7)).is_none());
        assert!(g.one(64, 4, (now(0, Write, 7).0, 3, 7)).is_none());
        for thread in 0..2 {
            g.fences(thread, told.map_or(0, |covers| IMAGES_APART | covers));
            g.wait(thread, fence::GLOBAL);
            g.fences(thread, 0);
        }
        g.resume_thread(1);
        let others = g.one(0, 4, image(1, 2, Read, 3, 0)).is_none();
        let own = g.one(0, 4, image(0, 2, Read, 3, 0)).is_none();
        (others, own, g.one(64, 4, now(1, Read, 0)).is_none())
    };
    assert_eq!(reads(None), (true, true, true), "nothing is told of its fences");
    assert_eq!(reads(Some(COVERS_BUFFERS)), (false, false, true));
    assert_eq!(reads(Some(COVERS_IMAGES)), (true, true, false));
    assert_eq!(reads(Some(COVERS_IMAGES | COVERS_BUFFERS)), (true, true, true));
}

#[test]
fn threads_at_different_barriers_are_told() {
    let mut g = group(2);
    assert_eq!(g.barrier(0, (Op::Barrier, 7), false), None);
    assert_eq!(g.barrier(1, (Op::Barrier, 7), false), None);
    assert_eq!(g.barrier(0, (Op::Barrier, 7), false), None);
    assert_eq!(g.barrier(1, (Op::Barrier, 9), false), Some((0, 7)));
}
