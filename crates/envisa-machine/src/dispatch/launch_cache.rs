//! Keeps launches that ended, because programs often launch a kernel again with the same sizes and arguments.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use envisa_lower::{InputSlot, Message, Program, Space, Src};

use super::launch::Launch;
use super::prepared::Prepared;
use crate::memory::Memory;

/// How many are remembered of a kernel: programs that launch one often do so in few ways.
const REMEMBERED: usize = 4;

/// What a prepared launch depends on, beside the kernel and the memory.
#[derive(Clone, PartialEq, Debug)]
pub struct LaunchKey {
    /// Sizes and arguments.
    pub launch: Launch,
    /// See [`Resources`](super::Resources).
    pub slots: u32,
    /// See [`Resources`](super::Resources).
    pub red_zone: u64,
}

/// A launch of a compiled kernel, ready to run, and what was asked for.
#[derive(Debug)]
pub struct ReadyLaunch {
    asked: LaunchKey,
    /// It.
    pub prepared: Prepared,
}

impl ReadyLaunch {
    /// A launch that was prepared just now, as this asks.
    pub fn new(asked: LaunchKey, prepared: Prepared) -> Box<ReadyLaunch> {
        Box::new(ReadyLaunch { asked, prepared })
    }
}

/// The last launches of one kernel in one memory, without the memory that they reached: that goes when its owners
/// free it.
#[derive(Debug)]
pub struct RecentLaunches {
    /// Which surfaces messages go to no argument says: where they go depends on addresses, surfaces, the address space
    /// and the launch's general-state window alone.
    fixed: bool,
    /// None goes to that window, which is each launch's own.
    windowless: bool,
    /// Where in the image inputs are that are added to addresses: engines may take them for what they were when they found
    /// out where a message goes.
    origins: Vec<Range<usize>>,
    #[allow(clippy::vec_box, reason = "they come and go with every launch, and are large")]
    all: Mutex<Vec<Box<ReadyLaunch>>>,
}

impl RecentLaunches {
    /// None yet of a kernel whose launches run this program.
    pub fn new(p: &Program) -> RecentLaunches {
        let space = |m: &Message| match m {
            Message::Simt(s) => Some(s.space),
            Message::Block(b) => Some(b.space),
            Message::Atomic(a) => Some(a.space),
            _ => None,
        };
        let varies = |s| matches!(s, Space::Bti(at) if !matches!(at, Src::Reg { constant: true, .. }));
        let own = |s| matches!(s, Space::GeneralState | Space::Scratch(_));
        let spaces = || p.messages().iter().filter_map(space);
        let (fixed, windowless) = (!spaces().any(varies), !spaces().any(own));
        let origins = p.messages().iter().filter_map(|m| input_of_origin(p, m)).collect();
        RecentLaunches { fixed, windowless, origins, all: Mutex::default() }
    }

    /// Can launches reach the same that have other arguments ([`Prepared::reach`])?
    pub fn shares_reach(&self) -> bool {
        self.fixed && self.windowless
    }

    #[allow(clippy::vec_box, reason = "as above")]
    fn lock(&self) -> MutexGuard<'_, Vec<Box<ReadyLaunch>>> {
        // What a panic left behind is whole: nothing in between can panic.
        self.all.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A launch that was as this asks, ready to run again, if the address space is as it was then. Nobody else gets it
    /// meanwhile.
    pub fn take(&self, asked: &LaunchKey, memory: &Memory) -> Option<Box<ReadyLaunch>> {
        let mut all = self.lock();
        let at = all.iter().position(|r| r.asked == *asked)?;
        let mut ready = all.remove(at);
        drop(all);
        ready.prepared.reacquire_memory(memory).then_some(ready)
    }

    /// A launch of these sizes that nobody is likely to ask for again, for [`prepare_from`](super::prepare_from): one of
    /// the kernel's last launches whose sizes were the same, and something else was not.
    pub fn take_reusable(&self, asked: &LaunchKey) -> Option<Prepared> {
        let mut all = self.lock();
        let alike = |a: &LaunchKey| {
            let sizes = |l: &Launch| (l.dims, l.global, l.local, l.offset);
            sizes(&a.launch) == sizes(&asked.launch) && (a.slots, a.red_zone) == (asked.slots, asked.red_zone)
        };
        // While there is room, all may come again. Where messages to a launch's own memory went is known of the last one.
        let own = !self.windowless || all.first().is_some_and(|r| r.prepared.has_private_memory());
        let mut found = (0..all.len()).filter(|at| all.len() == REMEMBERED && alike(&all[*at].asked));
        let at = if own { found.next() } else { found.next_back() }?;
        Some(all.remove(at).prepared)
    }

    /// Has a launch that was prepared anew reach what another one reached ([`Prepared::reach`]), if it does.
    pub fn reuse_reach(&self, prepared: &mut Prepared) {
        // The window came along with what another launch left, whose inputs are not known any more.
        if let Some(reach) = prepared.reached_before.filter(|_| self.fixed && self.origins.is_empty()) {
            prepared.reach = reach;
            return;
        }
        if !self.shares_reach() {
            return;
        }
        let same =
            |a: &Prepared, at: &Range<usize>| a.image.get(at.clone()) == prepared.image.get(at.clone());
        let alike =
            |a: &Prepared| a.reaches_same_memory(prepared) && self.origins.iter().all(|at| same(a, at));
        let found = self.lock().iter().find(|r| alike(&r.prepared)).map(|r| r.prepared.reach);
        prepared.reach = found.unwrap_or(prepared.reach);
    }

    /// Remembers a launch that ended without a fault, if it can run again.
    pub fn remember(&self, mut ready: Box<ReadyLaunch>) {
        if !ready.prepared.release_memory() {
            return;
        }
        let mut all = self.lock();
        all.truncate(REMEMBERED - 1);
        all.insert(0, ready);
    }
}

/// The input that a message to plain addresses adds to them, as a place of the image.
fn input_of_origin(p: &Program, message: &Message) -> Option<Range<usize>> {
    let (space, origin) = match message {
        Message::Simt(s) => (s.space, s.origin),
        Message::Atomic(a) => (a.space, a.origin),
        Message::Block(b) => (b.space, b.origin),
        _ => return None,
    };
    let Src::Reg { offset, ty, constant: false, .. } = origin else { return None };
    let (start, end) = (offset, offset + ty.size());
    let holds = |i: &&InputSlot| i.offset <= start && end <= i.offset + i.bytes.max(4);
    let input = p.inputs().iter().find(holds).filter(|_| space == Space::Flat)?;
    let at = (input.image + (start - input.offset)) as usize;
    Some(at..at + ty.size() as usize)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use envisa_zebin::ZeInfo;

    use super::*;
    use crate::dispatch::{Arg, Resources, prepare_from};
    use crate::memory::{AllocationId, Surface};

    const SHIFT: &str = "
version: '1.20'
kernels:
  - name: shift
    execution_env: { grf_count: 128, simd_size: 32 }
    payload_arguments:
      - { arg_type: arg_bypointer, offset: 0, size: 0, arg_index: 0, addrmode: stateful, addrspace: global, access_type: readonly }
      - { arg_type: arg_byvalue, offset: 8, size: 4, arg_index: 1 }
    binding_table_indices:
      - { bti_value: 0, arg_index: 0 }
";

    fn remembered() -> RecentLaunches {
        RecentLaunches { fixed: true, windowless: true, origins: Vec::new(), all: Mutex::default() }
    }

    fn asked(a: AllocationId, value: u8) -> LaunchKey {
        let args = vec![Arg::Part(a, 0, 64), Arg::Value(vec![value, 0, 0, 0])];
        let launch = Launch { dims: 1, global: [64, 1, 1], local: [32, 1, 1], offset: [0; 3], args };
        LaunchKey { launch, slots: 2, red_zone: 0 }
    }

    fn ready(info: &str, memory: &Memory, asked: LaunchKey) -> Box<ReadyLaunch> {
        ready_from(info, memory, asked, None)
    }

    fn ready_from(
        info: &str,
        memory: &Memory,
        asked: LaunchKey,
        spent: Option<Prepared>,
    ) -> Box<ReadyLaunch> {
        let (info, _) = ZeInfo::parse(info).unwrap();
        let with = Resources {
            memory,
            grf_bytes: 32,
            local_memory: 64 << 10,
            dummy_local_ids: false,
            slots: asked.slots,
            least_image: 96,
            const_base: 0,
            global_base: 0,
            stack_calls: false,
            partial_groups: true,
            images: true,
            red_zone: asked.red_zone,
        };
        let prepared = prepare_from(&info.kernels[0], &asked.launch, with, spent).unwrap();
        ReadyLaunch::new(asked, prepared)
    }

    #[test]
    fn the_same_launch_is_the_same_again() {
        let memory = Memory::new(1 << 20);
        let a = memory.allocate("a", 100).unwrap();
        let remembered = remembered();
        assert!(remembered.take(&asked(a, 1), &memory).is_none());
        let first = ready(SHIFT, &memory, asked(a, 1));
        let (number, image) = (first.prepared.number(), first.prepared.image.clone());
        assert!(first.prepared.window.write(8, [7]));
        remembered.remember(first);
        let others = [
            LaunchKey { slots: 3, ..asked(a, 1) },
            LaunchKey { red_zone: 64, ..asked(a, 1) },
            LaunchKey { launch: Launch { offset: [4, 0, 0], ..asked(a, 1).launch }, ..asked(a, 1) },
            LaunchKey { launch: Launch { global: [65, 1, 1], ..asked(a, 1).launch }, ..asked(a, 1) },
            asked(a, 2),
        ];
        for other in others {
            assert!(remembered.take(&other, &memory).is_none(), "{other:?}");
            assert_ne!(ready(SHIFT, &memory, other).prepared.number(), number);
        }
        let again = remembered.take(&asked(a, 1), &memory).expect("it is remembered");
        let p = &again.prepared;
        assert_eq!((p.number(), &p.image), (number, &image));
        assert_eq!(p.window.read::<1>(8), Some([0]), "the window is as at first");
        let bound = p.surfaces.get(0);
        assert!(matches!(bound.surface, Surface::Buffer(s) if (s.start, s.len) == (0, 64)));
        assert!(bound.allocation.as_ref().is_some_and(|held| held.id == a));
        assert!(Arc::ptr_eq(&p.map, &memory.map()));
        // Who runs it has it alone.
        assert!(remembered.take(&asked(a, 1), &memory).is_none());
        remembered.remember(again);
        // Other memory: sites of messages may lead elsewhere.
        let b = memory.allocate("b", 100).unwrap();
        assert!(remembered.take(&asked(a, 1), &memory).is_none());
        remembered.remember(ready(SHIFT, &memory, asked(a, 1)));
        assert!(memory.free(b));
        assert!(remembered.take(&asked(a, 1), &memory).is_none());
    }

    #[test]
    fn nobodys_memory_is_kept() {
        let memory = Memory::new(1 << 20);
        let a = memory.allocate("a", 100).unwrap();
        let held = Arc::downgrade(&memory.get(a).unwrap());
        let remembered = remembered();
        remembered.remember(ready(SHIFT, &memory, asked(a, 1)));
        assert!(held.upgrade().is_some());
        assert!(memory.free(a));
        assert!(held.upgrade().is_none(), "the bytes are gone with their owner");
        assert!(remembered.take(&asked(a, 1), &memory).is_none());
    }

    #[test]
    fn as_many_are_remembered_as_programs_alternate_between() {
        let memory = Memory::new(1 << 20);
        let a = memory.allocate("a", 100).unwrap();
        let remembered = remembered();
        (0..=REMEMBERED as u8).for_each(|k| remembered.remember(ready(SHIFT, &memory, asked(a, k))));
        let known = |k| remembered.take(&asked(a, k), &memory).is_some();
        assert!(!known(0) && (1..=REMEMBERED as u8).all(known));
    }

    #[test]
    fn what_is_spent_becomes_what_is_asked_for() {
        let memory = Memory::new(1 << 20);
        let [a, b] = ["a", "b"].map(|name| memory.allocate(name, 100).unwrap());
        let remembered = remembered();
        let keep = |asked: LaunchKey| remembered.remember(ready(SHIFT, &memory, asked));
        let all = REMEMBERED as u8;
        for k in 0..all - 1 {
            keep(asked(a, k));
        }
        assert!(remembered.take_reusable(&asked(a, 99)).is_none(), "there is room");
        keep(asked(a, all - 1));
        let other = LaunchKey { launch: Launch { offset: [4, 0, 0], ..asked(a, 1).launch }, ..asked(a, 1) };
        assert!(remembered.take_reusable(&other).is_none(), "other sizes");
        assert!(remembered.take_reusable(&LaunchKey { slots: 3, ..asked(a, 1) }).is_none());
        // Only a value is another one: the oldest becomes it.
        let spent = remembered.take_reusable(&asked(a, 99)).expect("one is spent");
        let made = ready_from(SHIFT, &memory, asked(a, 99), Some(spent));
        let anew = ready(SHIFT, &memory, asked(a, 99));
        assert_eq!(
            (&made.prepared.image, made.prepared.classes()),
            (&anew.prepared.image, anew.prepared.classes())
        );
        assert_eq!(made.prepared.surfaces.get(0).surface, anew.prepared.surfaces.get(0).surface);
        assert_ne!(made.prepared.number(), anew.prepared.number());
        remembered.remember(made);
        // So does one with another buffer.
        let spent = remembered.take_reusable(&asked(b, 1)).expect("one is spent");
        let made = ready_from(SHIFT, &memory, asked(b, 1), Some(spent));
        assert!(made.prepared.surfaces.get(0).allocation.as_ref().is_some_and(|held| held.id == b));
    }

    #[test]
    fn launches_with_other_pointers_in_the_same_memory_do_not_reach_the_same() {
        let memory = Memory::new(1 << 20);
        let a = memory.allocate("a", 100).unwrap();
        let (first, mut other) = (ready(SHIFT, &memory, asked(a, 1)), ready(SHIFT, &memory, asked(a, 2)));
        let mut images = first.prepared.image.iter().zip(&other.prepared.image);
        let at = images.position(|(a, b)| a != b).expect("the value is in the image");
        let reach = first.prepared.reach();
        for (origins, same) in [(at + 4..at + 8, true), (at..at + 4, false)] {
            let remembered = RecentLaunches { origins: vec![origins], ..remembered() };
            remembered.remember(ready(SHIFT, &memory, asked(a, 1)));
            let kept = remembered.lock()[0].prepared.reach();
            assert_ne!(kept, reach);
            remembered.reuse_reach(&mut other.prepared);
            assert_eq!(other.prepared.reach() == kept, same);
        }
    }

    #[test]
    fn launches_that_reach_the_same_are_recognised() {
        let memory = Memory::new(1 << 20);
        let [a, b] = ["a", "b"].map(|name| memory.allocate(name, 100).unwrap());
        for (fixed, windowless) in [(false, true), (true, false), (true, true)] {
            let remembered = RecentLaunches { fixed, windowless, ..remembered() };
            let first = ready(SHIFT, &memory, asked(a, 1));
            let reach = first.prepared.reach();
            remembered.remember(first);
            let known = |asked| {
                let mut other = ready(SHIFT, &memory, asked);
                remembered.reuse_reach(&mut other.prepared);
                other.prepared.reach() == reach
            };
            assert_eq!(known(asked(a, 2)), fixed && windowless);
            assert!(!known(asked(b, 1)), "another surface");
            memory.allocate("c", 4).unwrap();
            assert!(!known(asked(a, 2)), "another map");
        }
    }

    /// The kernel with private memory of so many bytes a work-item, and scratch of so many a thread.
    fn with_own(private: u32, scratch: u32) -> String {
        let base =
            "    payload_arguments:\n      - { arg_type: private_base_stateless, offset: 16, size: 8 }\n";
        let buffer = |kind: &str, bytes: u32| match bytes {
            0 => String::new(),
            bytes => format!("      - {{ {kind}, size: {bytes} }}\n"),
        };
        let private = buffer("type: global, usage: private_space, is_simt_thread: true", private);
        let scratch = buffer("type: scratch, usage: single_space", scratch);
        let buffers = match private.len() + scratch.len() {
            0 => String::new(),
            _ => format!("    per_thread_memory_buffers:\n{private}{scratch}"),
        };
        format!("{}{buffers}", SHIFT.replace("    payload_arguments:\n", base))
    }

    #[test]
    fn memory_of_a_launchs_own_is_cleared_for_the_next_one() {
        let memory = Memory::new(1 << 26);
        let a = memory.allocate("a", 100).unwrap();
        let remembered = remembered();
        let first = ready(&with_own(64, 2048), &memory, asked(a, 1));
        let (_, bytes) = first.prepared.private.expect("there is private memory");
        assert_eq!(bytes, 64 * 32 * 2);
        let own = |p: &Prepared| Arc::clone(p.own[0].allocation());
        assert!(own(&first.prepared).block.write(8, [7]) && first.prepared.window.write(2048, [7]));
        remembered.remember(first);
        let again = remembered.take(&asked(a, 1), &memory).expect("it is remembered");
        assert_eq!(own(&again.prepared).block.read::<1>(8), Some([0]));
        assert_eq!(again.prepared.window.read::<1>(2048), Some([0]));
    }

    #[test]
    fn a_kernel_without_private_memory_is_given_none() {
        let memory = Memory::new(1 << 26);
        let a = memory.allocate("a", 100).unwrap();
        let first = ready(&with_own(0, 0), &memory, asked(a, 1));
        assert_eq!((first.prepared.private, &first.prepared.image[16..24]), (None, &[0; 8][..]));
        let remembered = remembered();
        remembered.remember(first);
        assert!(remembered.take(&asked(a, 1), &memory).is_some());
    }

    #[test]
    fn launches_with_much_memory_of_their_own_are_made_anew() {
        let memory = Memory::new(1 << 26);
        let a = memory.allocate("a", 100).unwrap();
        for info in [with_own(1 << 14, 0), with_own(0, 1 << 18)] {
            let remembered = remembered();
            remembered.remember(ready(&info, &memory, asked(a, 1)));
            assert!(remembered.take(&asked(a, 1), &memory).is_none(), "{info}");
        }
    }

    #[test]
    fn a_launch_that_can_print_is_remembered_until_it_does() {
        let memory = Memory::new(1 << 26);
        let a = memory.allocate("a", 100).unwrap();
        let prints = "    payload_arguments:\n      - { arg_type: printf_buffer, offset: 16, size: 8 }\n";
        let info = SHIFT.replace("    payload_arguments:\n", prints);
        let remembered = remembered();
        remembered.remember(ready(&info, &memory, asked(a, 1)));
        let again = remembered.take(&asked(a, 1), &memory).expect("it is remembered");
        let buffer = again.prepared.printf.clone().expect("there is a buffer");
        buffer.block.write(0, 12u32.to_le_bytes());
        remembered.remember(again);
        assert!(remembered.take(&asked(a, 1), &memory).is_none());
    }

    #[test]
    fn memory_of_its_own_goes_to_a_launch_that_differs_in_a_value() {
        let memory = Memory::new(1 << 26);
        let a = memory.allocate("a", 100).unwrap();
        let info = with_own(64, 2048);
        for (fixed, private) in [(true, 64), (false, 64), (true, 0)] {
            let remembered = RecentLaunches { fixed, windowless: private == 0, ..remembered() };
            let last = REMEMBERED as u8 - 1;
            (0..=last).for_each(|k| remembered.remember(ready(&info, &memory, asked(a, k))));
            let spent = remembered.take_reusable(&asked(a, 99)).expect("one is spent");
            assert!(remembered.take(&asked(a, last), &memory).is_none(), "the last one is");
            let (base, reach) = (spent.own[0].base, spent.reach());
            assert!(spent.own[0].block.write(8, [7]) && spent.window.write(2048, [7]));
            let mut made = ready_from(&info, &memory, asked(a, 99), Some(spent)).prepared;
            remembered.reuse_reach(&mut made);
            assert_eq!((made.own[0].base, made.own[0].block.read::<1>(8)), (base, Some([0])));
            assert_eq!(made.window.read::<1>(2048), Some([0]));
            assert_eq!(made.reach() == reach, fixed, "messages go where they went");
        }
    }
}
