//! Memory as doors use it. Miri runs these.
#![allow(unsafe_code)]

use super::{Backing, Layout3, Region};

#[test]
fn regions_copy_inside_of_their_bounds() {
    let backing = Backing::allocate(64, 64).unwrap();
    let all = backing.region();
    assert_eq!(all.to_vec(), [0; 64]);
    all.fill(&[1, 2, 3]);
    assert!(all.to_vec().iter().enumerate().all(|(i, b)| *b as usize == i % 3 + 1));
    assert!(all.part(60, 5).is_none() && all.part(usize::MAX, 2).is_none());
    let end = all.part(60, 4).unwrap();
    end.write(&[9; 100]);
    assert_eq!(all.part(56, 8).unwrap().to_vec()[4..], [9; 4]);
    // Overlap, in both directions.
    all.write(&(0..64).collect::<Vec<u8>>());
    all.part(1, 32).unwrap().copy_from(&all.part(0, 32).unwrap());
    assert_eq!(all.part(0, 34).unwrap().to_vec()[1..33], (0..32).collect::<Vec<u8>>());
    all.part(0, 32).unwrap().copy_from(&all.part(1, 32).unwrap());
    assert_eq!(all.part(0, 32).unwrap().to_vec(), (0..32).collect::<Vec<u8>>());
    // A part keeps what it lies in.
    drop((all, backing));
    assert_eq!(end.to_vec(), [60, 61, 62, 63]);
}

#[test]
fn large_regions_are_copied_whole_also_where_they_overlap() {
    // An interpreter of tests takes its time.
    let bytes = if cfg!(miri) { 300 } else { (5 << 20) + 13 };
    let (from, to) = (Backing::allocate(bytes, 64).unwrap(), Backing::allocate(bytes, 64).unwrap());
    let some: Vec<u8> = (0..bytes).map(|i| (i * 7 + i / 4096) as u8).collect();
    from.region().write(&some);
    to.region().copy_from(&from.region());
    assert!(to.region().to_vec() == some);
    for by in [1, 64, bytes / 5 * 4] {
        from.region().write(&some);
        let (low, high) =
            (from.region().part(0, bytes - by).unwrap(), from.region().part(by, bytes - by).unwrap());
        high.copy_from(&low);
        let all = from.region().to_vec();
        assert!(all[by..] == some[..bytes - by] && all[..by] == some[..by], "{by} bytes up");
        from.region().write(&some);
        low.copy_from(&high);
        assert!(low.to_vec() == some[by..], "{by} bytes down");
    }
}

#[test]
fn rows_between_the_application_and_a_buffer() {
    let mut host: Vec<u8> = (0..60).collect();
    // SAFETY: the vector outlives the region and is looked at after its last use.
    let theirs = unsafe { Region::host(host.as_mut_ptr(), host.len()) };
    let ours = Backing::allocate(24, 64).unwrap().region();
    let (from, to) = (Layout3 { offset: 2, row: 10, slice: 30 }, Layout3 { offset: 0, row: 4, slice: 12 });
    ours.copy_rows(to, &theirs, from, [4, 3, 2]);
    let want: Vec<u8> = [2, 12, 22, 32, 42, 52].iter().flat_map(|n| *n..n + 4).collect();
    assert_eq!(ours.to_vec(), want);
    assert_eq!(theirs.rows(from, [4, 3, 2]), want);
    // What would be outside is left alone.
    ours.copy_rows(Layout3 { offset: 16, row: 8, slice: 0 }, &theirs, from, [8, 2, 1]);
    assert_eq!(ours.to_vec()[16..], [2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(host[59], 59);
}
