//! Hit counts: each lane counts its own hits, against a count of the same loop in Rust.

use super::{device, kernel, launch};
use envisa::machine::group::paused::Order;
use envisa_debug::breakpoints::{Kind, Watch, When};
use envisa_debug::hit_counts::HitCondition;
use envisa_debug::session::{Options, Session, Stop};

/// Lanes come to line 7 at other times and not equally often.
const DIVERGES: &str = "kernel void k(global int *out, int n, local int *shared) {
  int i = get_global_id(0);
  int a = 0;
  for (int j = 0; j < n; j++) {
    if (j < i % 3 || j >= 3 + i % 5)
      continue;
    a += j;
    shared[0] = a;
  }
  out[i] = a;
}
";

/// The `j` at which a work-item comes to line 7.
fn hits(i: u64) -> impl Iterator<Item = u64> {
    (0..9).filter(move |j| *j >= i % 3 && *j < 3 + i % 5)
}

fn add(s: &mut Session<'_, '_>, condition: &str, hits: &str, message: &str) {
    let (_, starts) = s.lines.starts(0, 7).expect("code");
    s.breakpoints.add(Kind::Line, starts, When::of(condition, hits, message).expect("it is one"), "7".into());
}

/// Where the breakpoints stop it from here on: clock and lane.
fn stops(s: &mut Session<'_, '_>) -> Vec<(u64, String)> {
    let mut all = Vec::new();
    loop {
        match s.resume() {
            Stop::Breakpoint(_) => all.push((s.paused.clock(), s.lane_name(s.focus))),
            Stop::End => return all,
            other => panic!("{other:?}"),
        }
    }
}

fn with(order: Order, check: impl Fn(&mut Session<'_, '_>)) {
    let device = device("dg2");
    let Some(k) = kernel(&device, DIVERGES, "dg2") else { return };
    let (args, _) = launch(&device);
    let run = device.launch(&k, &args).expect("a launch");
    run.stage(|stage| {
        check(&mut Session::new(stage, Options { order, ..Options::default() }).expect("a session"))
    })
    .expect("it runs");
}

#[test]
fn each_lane_counts_its_own_hits() {
    type Counts = fn(u64) -> bool;
    let all: [(&str, &str, Counts); 8] = [
        ("", "3", |n| n == 3),
        ("", "== 3", |n| n == 3),
        ("", ">=3", |n| n >= 3),
        ("", "> 3", |n| n > 3),
        ("", "<= 2", |n| n <= 2),
        ("", "<2", |n| n < 2),
        ("", "%2", |n| n % 2 == 0),
        // Of the times that the condition is true.
        ("j & 1", "2", |n| n == 2),
    ];
    for order in [Order::Forward, Order::Reverse, Order::Random(11)] {
        with(order, |s| {
            for (condition, hits_text, counts) in all {
                s.restart().expect("it begins");
                s.breakpoints.all.clear();
                add(s, condition, hits_text, "j = {j}");
                assert_eq!(s.resume(), Stop::End);
                let mut said = std::mem::take(&mut s.said);
                said.sort();
                let mut expected: Vec<String> = (0..super::ITEMS)
                    .flat_map(|i| {
                        let met = hits(i).filter(|j| condition.is_empty() || j % 2 == 1);
                        let numbered = (1..).zip(met).filter(|(n, _)| counts(*n));
                        numbered.map(move |(_, j)| format!("work-item {i}: j = {j}")).collect::<Vec<_>>()
                    })
                    .collect();
                expected.sort();
                assert!(expected.len() > 8, "{hits_text}");
                assert_eq!(said, expected, "{order:?} {condition} {hits_text}");
            }
        });
    }
}

#[test]
fn hits_are_of_the_launch_and_not_of_the_session() {
    for order in [Order::Forward, Order::Random(4)] {
        with(order, |s| {
            add(s, "", "3", "");
            let there = stops(s);
            // At most one stop each of lanes that come together, at least one of each time.
            assert!((6..=24).contains(&there.len()), "{there:?}");
            let mut back = Vec::new();
            while let Stop::Breakpoint(_) = s.go_back() {
                back.insert(0, (s.paused.clock(), s.lane_name(s.focus)));
            }
            assert_eq!(there, back, "{order:?}");
            assert_eq!(there, stops(s), "{order:?}: there again");
            // Set in the midst, as editors do with each change of a file's breakpoints.
            s.restart().expect("it begins");
            let middle = there[there.len() / 2].0;
            s.breakpoints.all.clear();
            s.run_to_clock(middle - 1);
            add(s, "", "3", "");
            assert_eq!(stops(s), there[there.len() / 2..], "{order:?}");
            // A lane that is changed comes there as often as it does then.
            s.restart().expect("it begins");
            assert_eq!(s.resume(), Stop::Breakpoint(vec![2]));
            let lane = s.lane_name(s.focus);
            assert!(s.assign("j", "-1", 0).is_ok());
            s.breakpoints.all.clear();
            let (thread, item) = (s.focus.thread, lane.trim_start_matches("work-item ").to_owned());
            add(s, &format!("i == {item}"), "> 3", "{j}");
            assert_eq!(s.resume(), Stop::End);
            let said: Vec<String> = std::mem::take(&mut s.said);
            let i: u64 = item.parse().expect("a number");
            // What was executed is past; the loop begins anew.
            let expected: Vec<String> = hits(i).map(|j| format!("{lane}: {j}")).collect();
            assert_eq!(said, expected, "{order:?} {thread}");
        });
    }
}

#[test]
fn accesses_are_counted_from_when_they_are_watched() {
    with(Order::Forward, |s| {
        let place = s.evaluate("shared", s.focus, 0).expect("a pointer");
        let at = place.bytes.iter().take(8).rev().fold(0u64, |x, b| x << 8 | u64::from(*b));
        let when = When::of("", "2", "").expect("it is one");
        assert_eq!(when.hits, Some(HitCondition::Exactly(2)));
        let now = s.paused.clock();
        let watch = Watch::new("shared[0]".into(), s.pointed(at), 4, when, now);
        let id = s.breakpoints.watch(watch);
        let mut all = Vec::new();
        loop {
            match s.resume() {
                Stop::Data(by, what) => {
                    assert!(by == id && what.contains("shared[0] was written by"), "{what}");
                    all.push((s.paused.clock(), what));
                }
                Stop::End => break,
                other => panic!("{other:?}"),
            }
        }
        // A lane that wrote it last, of lanes that come together; both groups, all three threads.
        assert!(all.len() >= 4, "{all:?}");
        let mut back = Vec::new();
        while let Stop::Data(_, what) = s.go_back() {
            back.insert(0, (s.paused.clock() + 1, what));
        }
        assert_eq!(all, back);
    });
}
