//! Allocation, freeing, sharing with the host, and what launches see of it.

use super::*;

fn found(map: &AddressMap, address: u64, n: usize) -> bool {
    map.find(address, n, false, &mut Hint::default()).is_some()
}

fn base(memory: &Memory, id: AllocationId) -> u64 {
    memory.get(id).expect("it is there").base
}

#[test]
fn accesses_are_found_whole_or_not_at_all() {
    let memory = Memory::new(1 << 20);
    let [a, b] = [("a", 100), ("b", 8)].map(|(n, bytes)| memory.allocate(n, bytes).unwrap());
    let (a, b) = (base(&memory, a), base(&memory, b));
    let map = memory.map();
    let mut hint = Hint::default();
    assert_eq!(map.find(a + 96, 4, false, &mut hint).unwrap().offset, 96);
    assert!(map.find(a + 97, 4, false, &mut hint).is_none());
    assert!(map.find(a - 1, 1, false, &mut hint).is_none());
    assert_eq!(map.find(b, 8, false, &mut hint).unwrap().offset, 0);
    assert_eq!(map.find(a, 1, true, &mut hint).unwrap().offset, 0);
    assert!(map.find(u64::MAX, 8, false, &mut hint).is_none());
    assert!(map.find(0, 1, false, &mut hint).is_none());
    assert!(b - a >= 100 + GUARD);
}

#[test]
fn a_stray_address_names_its_neighbour() {
    let memory = Memory::new(1 << 20);
    assert!(memory.map().nearest(5).is_none());
    let id = memory.allocate("buffer a", 16).unwrap();
    let base = base(&memory, id);
    let map = memory.map();
    let (near, distance) = map.nearest(base + 16).unwrap();
    assert_eq!((near.name.as_str(), distance), ("buffer a", 1));
    assert_eq!(map.nearest(base - 4).unwrap().1, -4);
    assert_eq!(map.nearest(base + 15).unwrap().1, 0);
}

#[test]
fn allocations_are_freed_in_any_order() {
    let memory = Memory::new(100);
    let ids = ["a", "b", "c"].map(|n| memory.allocate(n, 30).unwrap());
    let places = ids.map(|id| base(&memory, id));
    assert!(memory.free(ids[1]) && !memory.free(ids[1]));
    assert_eq!(memory.used(), 60);
    assert!(memory.get(ids[1]).is_none());
    let map = memory.map();
    assert!(found(&map, places[0], 30) && !found(&map, places[1], 1) && found(&map, places[2], 30));
    let d = memory.allocate("d", 40).unwrap();
    assert_ne!(d, ids[1]);
    // What launches see was fixed when they began.
    assert!(!found(&map, base(&memory, d), 1) && found(&memory.map(), base(&memory, d), 40));
    assert_eq!(memory.get(ids[2]).unwrap().name, "c");
}

#[test]
fn addresses_are_used_again_at_the_end_of_the_space_only() {
    let memory = Memory::new(1 << 20);
    let kept = memory.allocate("kept", 10).unwrap();
    let gone = memory.allocate("gone", 10).unwrap();
    let (kept_at, gone_at) = (base(&memory, kept), base(&memory, gone));
    memory.free(gone);
    let later = memory.allocate("later", 10).unwrap();
    assert!(base(&memory, later) > gone_at);
    memory.shared.lock().next = LAST_ADDRESS;
    let last = memory.allocate("last", 1 << 17).unwrap();
    let at = base(&memory, last);
    // Too large for the place between its neighbours.
    assert!(at > base(&memory, later) + 10 + GUARD, "{at:#x}");
    memory.shared.lock().next = LAST_ADDRESS;
    let small = memory.allocate("small", 10).unwrap();
    let small = base(&memory, small);
    assert_eq!(small, gone_at);
    assert!(small >= kept_at + 10 + GUARD && base(&memory, later) >= small + 10 + GUARD);
}

#[test]
fn what_a_launch_sees_lives_as_long_as_the_launch() {
    let memory = Memory::new(1 << 20);
    let id = memory.allocate("a", 64).unwrap();
    let map = memory.map();
    let at = base(&memory, id);
    memory.free(id);
    let l = map.find(at, 4, true, &mut Hint::default()).unwrap();
    assert!(l.block.write(l.offset, [1, 2, 3, 4]));
    assert_eq!(map.iter().next().unwrap().block.read(0), Some([1, 2, 3, 4]));
}

#[test]
fn what_is_private_is_counted_and_freed() {
    let memory = Memory::new(100);
    let shared = memory.allocate("a", 10).unwrap();
    let private = memory.allocate_private("b", 80).unwrap();
    assert_eq!(memory.allocate_private("c", 80).unwrap_err(), MemoryError::Limit(170, 100));
    assert_eq!(memory.used(), 90);
    assert!(!found(&memory.map(), private.base, 1));
    let map = memory.map().with([private.allocation()]);
    assert!(found(&map, private.base, 80) && map.is_private(private.base + 79));
    assert!(!map.is_private(base(&memory, shared)));
    // No other allocation comes where it is.
    memory.shared.lock().next = private.base;
    let other = memory.allocate("d", 1).unwrap();
    assert!(base(&memory, other) >= private.base + 80 + GUARD);
    drop(private);
    assert_eq!(memory.used(), 11);
}

#[test]
fn the_limit_holds() {
    let memory = Memory::new(1000);
    memory.allocate("a", 600).unwrap();
    assert_eq!(memory.allocate("b", 600).unwrap_err(), MemoryError::Limit(1200, 1000));
    assert!(memory.allocate("c", u64::MAX).is_err());
    assert_eq!(memory.allocate_shared("d", 600).unwrap_err(), MemoryError::Limit(1200, 1000));
    assert_eq!(memory.used(), 600);
}

#[test]
fn constants_are_not_written() {
    let memory = Memory::new(1000);
    let before = memory.allocate("a", 4).unwrap();
    let id = memory.allocate_constant("c", 4).unwrap();
    let (before, at) = (base(&memory, before), base(&memory, id));
    let map = memory.map();
    let mut hint = Hint::default();
    assert!(map.find(before, 4, true, &mut hint).is_some());
    assert!(map.find(at, 4, true, &mut hint).is_none());
    assert!(found(&map, at, 4));
    assert_eq!(map.read_only(at, 4).map(|a| a.name.as_str()), Some("c"));
    assert!(map.read_only(at, 5).is_none() && map.read_only(before, 4).is_none());
}

#[test]
fn reads_pass_an_end_as_far_as_its_line_goes() {
    let memory = Memory::new(1000);
    let id = memory.allocate("a", 12).unwrap();
    let at = base(&memory, id);
    memory.get(id).unwrap().block.copy_in(0, &[7; 12]);
    let map = memory.map();
    let padded =
        |first, address, n| map.find_padded_read(first, address, n).map(|(l, inside)| (l.offset, inside));
    assert_eq!(padded(at, at, 16), Some((0, 12)));
    assert_eq!(padded(at, at + 12, 4), Some((12, 0)));
    assert_eq!(padded(at + 8, at + 8, 8), Some((8, 4)));
    assert_eq!(padded(at, at, 64), Some((0, 12)));
    // It begins behind the end, or goes past the line.
    assert_eq!(padded(at + 12, at + 12, 4), None);
    assert_eq!(padded(at, at, 65), None);
    assert_eq!(padded(at + 4, at + 4, 64), None);
    assert_eq!(padded(at, u64::MAX, 4), None);
    assert_eq!(padded(0, 0, 4), None);
    // A whole line has no padding behind it.
    let id = memory.allocate("b", 64).unwrap();
    let at = base(&memory, id);
    assert!(memory.map().find_padded_read(at + 60, at + 60, 8).is_none());
}

#[test]
fn shared_memory_is_where_the_host_has_it() {
    let mut memory = Memory::new(1 << 20);
    let id = memory.allocate_shared("s", 5000).unwrap();
    let a = memory.get(id).unwrap();
    assert_eq!(a.base, a.block.as_ptr().addr() as u64);
    assert!(a.base.is_multiple_of(4096) && a.block.len() == 5000);
    let map = memory.map();
    let l = map.find(a.base + 4996, 4, true, &mut Hint::default()).unwrap();
    assert!(l.block.write(l.offset, [1, 2, 3, 4]));
    assert!(!found(&map, a.base + 4997, 4) && !found(&map, a.base - 1, 1));
    assert!(memory.bytes(id).is_none(), "a map and a holder are left");
    drop(map);
    drop(a);
    assert_eq!(&memory.bytes(id).unwrap()[4996..], [1, 2, 3, 4]);
}

#[test]
fn threads_allocate_and_free_while_others_look() {
    let memory = Memory::new(1 << 24);
    let kept = memory.allocate("kept", 4096).unwrap();
    let at = base(&memory, kept);
    let rounds: usize = if cfg!(miri) { 12 } else { 200 };
    std::thread::scope(|s| {
        for k in 0..4u8 {
            let memory = &memory;
            s.spawn(move || {
                let mut mine = Vec::new();
                for i in 0..rounds {
                    let id = memory.allocate(format!("{k}.{i}"), 100 + i as u64).unwrap();
                    memory.get(id).unwrap().block.copy_in(0, &[k; 100]);
                    mine.push(id);
                    let map = memory.map();
                    assert!(found(&map, at, 4096));
                    let other = mine[i / 2];
                    if let Some(a) = memory.get(other) {
                        assert_eq!(a.block.read::<100>(0), Some([k; 100]));
                        assert!(found(&map, a.base, a.block.len()));
                    }
                    if i % 3 == 0 {
                        assert!(memory.free(mine[i]));
                    }
                }
            });
        }
    });
    let map = memory.map();
    let all: Vec<(u64, u64)> = map.iter().map(|a| (a.base, a.base + a.block.len() as u64)).collect();
    assert_eq!(all.len(), 1 + 4 * (rounds - rounds.div_ceil(3)));
    assert!(all.windows(2).all(|w| w[0].1 + GUARD <= w[1].0));
}
