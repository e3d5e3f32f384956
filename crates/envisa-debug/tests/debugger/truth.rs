//! What the debugger shows is what the program computes: variables of all lanes at each statement against what the same
//! program prints, and the way back against the way there.

use envisa::machine::group::paused::Order;
use envisa::machine::thread::Status;
use envisa::{Config, Device, Kernel, Launch, LoadOptions, Module, Source, SourceText};
use envisa_debug::breakpoints::{Kind, Watch, When};
use envisa_debug::c_expressions::parse;
use envisa_debug::session::{Direction, Focus, Options, Session, Step, Stop};
use envisa_ocloc::{Build, BuildError, Lines};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

mod hits;
mod programs;
mod speed;
mod witness;

use programs::{Program, Random, TYPES, program};

/// Random programs that CI runs; `ENVISA_DEBUG_PROGRAMS` says another number, `ENVISA_DEBUG_FIRST` the first.
const PROGRAMS: u64 = 4;
const ITEMS: u64 = 24;

/// The module of a text; `None` without a compiler.
fn module(device: &Device, text: &str, target: &str) -> Option<Module> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("k.cl");
    std::fs::write(&file, text).expect("written");
    let built = Build::new(&file, target)
        .options("-g -cl-opt-disable".to_owned())
        .lines(Lines::Path)
        .rewrite(envisa_ocloc::Rewrite::Frames)
        .run();
    let bytes = match built {
        Ok(built) => built.bytes,
        Err(BuildError::Failed { messages, .. }) => panic!("{messages}\n{text}"),
        Err(e) => {
            envisa_harness::testing::not_run(&format!("ocloc is not there: {e}"));
            return None;
        }
    };
    let sources = vec![SourceText { name: "k.cl".into(), text: text.as_bytes().to_vec() }];
    let options = LoadOptions { sources, ..LoadOptions::default() };
    Some(Module::load_with(device, "k.cl", Source::Zebin(&bytes), &options).expect("it loads"))
}

/// The kernel `k` of a text; `None` without a compiler.
fn kernel(device: &Device, text: &str, target: &str) -> Option<Kernel> {
    Some(module(device, text, target)?.kernel("k").expect("its kernel"))
}

fn launch(device: &Device) -> (Launch, envisa::Buffer) {
    let out = device.buffer("out", 4 * ITEMS).expect("memory");
    let launch = Launch::range(&[ITEMS], &[12]).arg("out", &out).arg("n", 9i32);
    (launch.arg("shared", envisa::Arg::Local(64)), out)
}

fn device(target: &str) -> Device {
    let family: envisa::zebin::DeviceFamily = target.parse().expect("a device");
    Device::new(Config::new(family.platform()).memory(1 << 26).threads(1))
}

fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let first = number("ENVISA_DEBUG_FIRST").unwrap_or(0);
    first..first + number("ENVISA_DEBUG_PROGRAMS").unwrap_or(PROGRAMS)
}

/// Programs that one file has: the compiler takes longest to begin.
const TOGETHER: u64 = 8;

#[test]
fn variables_of_all_lanes_are_what_the_program_prints() {
    const DEVICES: [&str; 4] = ["dg2", "tgllp", "pvc", "skl"];
    let (all, mut others) = (seeds(), Vec::new());
    for first in all.clone().step_by(4 * TOGETHER as usize) {
        let some = first..all.end.min(first + 4 * TOGETHER);
        for (k, target) in (0..).zip(DEVICES) {
            let programs: Vec<u64> = some.clone().filter(|s| s % 4 == k).collect();
            if programs.is_empty() {
                continue;
            }
            let device = device(target);
            let Some(more) = together(&device, target, &programs) else { return };
            others.extend(more);
        }
        eprintln!("{} programs", some.end - all.start);
    }
    assert!(others.len() as u64 * 20 <= all.end - all.start, "not the same where they print: {others:?}");
}

/// Tries programs that are compiled together; gives those that compute something else where they print, or `None` without a
/// compiler.
fn together(device: &Device, target: &str, seeds: &[u64]) -> Option<Vec<u64>> {
    let mut text = TYPES.to_owned();
    let mut programs = Vec::new();
    for seed in seeds {
        let p = program(*seed);
        let before = text.lines().count();
        text += &p.text(false, &seed.to_string());
        text += &p.text(true, &format!("{seed}printing"));
        programs.push((*seed, before, p));
    }
    let module = module(device, &text, target)?;
    let mut others = Vec::new();
    for (seed, before, p) in &programs {
        let printing = module.kernel(&format!("k{seed}printing")).expect("its kernel");
        let (args, printed_out) = launch(device);
        let outcome = device.run(&printing, &args).expect("it runs");
        assert!(outcome.fault.is_none() && !outcome.printed_incomplete, "{seed}: {:?}", outcome.fault);
        let mut printed: Vec<String> = outcome.printed.lines().map(str::to_owned).collect();
        printed.sort();

        let plain = module.kernel(&format!("k{seed}")).expect("its kernel");
        let (args, out) = launch(device);
        let outcome = device.run(&plain, &args).expect("it runs");
        assert!(outcome.fault.is_none());
        // The compiler's mistakes depend on what is around them: then the two are not the same program.
        let same = out.to_vec() == printed_out.to_vec();
        if !same {
            eprintln!("{seed} on {target}: another result where it prints");
            others.push(*seed);
        }
        let (bytes, (args, again)) = (out.to_vec(), launch(device));
        let run = device.launch(&plain, &args).expect("a launch");
        let mut shown = run
            .stage(|stage| {
                let mut s = Session::new(stage, Options::default()).expect("a session");
                let shown = stops(&mut s, p, *before);
                there_and_back(&mut s, *seed);
                shown
            })
            .expect("it runs");
        shown.sort();
        assert_eq!(again.to_vec(), bytes, "{seed}: a run under the debugger leaves what a plain one leaves");
        assert!(printed.len() > 100, "{seed}: the program prints {} lines", printed.len());
        if let Some(i) =
            (0..printed.len().max(shown.len())).filter(|_| same).find(|i| printed.get(*i) != shown.get(*i))
        {
            panic!(
                "{seed} on {target}: printed {:?}, shown {:?}\n{}",
                printed.get(i),
                shown.get(i),
                p.text(false, "")
            );
        }
    }
    Some(others)
}

/// From the end some way back, and there again: the same states.
fn there_and_back(s: &mut Session<'_, '_>, seed: u64) {
    let end = s.paused.clock();
    let n = Random(seed).below(end.min(2000));
    let mut states = vec![digest(s)];
    assert_eq!(s.run_to_clock(end - n), Stop::Goto);
    let mut at = Vec::new();
    while s.paused.clock() < end {
        if s.paused.clock() % 397 == 0 {
            at.push((s.paused.clock(), digest(s)));
        }
        assert!(s.paused.step());
    }
    states.push(digest(s));
    assert_eq!(states[0], states[1], "{seed}: {n} instructions back, and there again");
    while let Some((clock, state)) = at.pop() {
        assert_eq!(s.run_to_clock(clock), Stop::Goto);
        assert_eq!(digest(s), state, "{seed}: back at {clock} of {end}");
    }
    s.run_to_clock(end);
}

/// At each statement, for each lane that executes it: what its program would print. `before`: lines before its own.
fn stops(s: &mut Session<'_, '_>, p: &Program, before: usize) -> Vec<String> {
    let mut seen = BTreeMap::new();
    for (line, names) in &p.seen {
        let (found, starts) = s.lines.starts(0, (before + line) as u32).expect("code");
        assert_eq!(found as usize, before + line);
        s.breakpoints.add(Kind::Line, starts, When::default(), format!("{line}"));
        let all = ["get_global_id(0)"].into_iter().chain(names.iter().map(String::as_str));
        seen.insert(*line, all.map(|e| (e, parse(e).expect("an expression"))).collect::<Vec<_>>());
    }
    let mut all = Vec::new();
    loop {
        match s.resume() {
            Stop::Breakpoint(_) => {}
            Stop::End => return all,
            other => panic!("{other:?}"),
        }
        let frame = s.frames(s.focus.thread).remove(0);
        let line = frame.line.expect("a line").line as usize - before;
        let mask = s.paused.threads()[s.focus.thread].mask;
        for lane in (0..32).filter(|l| mask >> l & 1 != 0) {
            let focus = Focus { lane, ..s.focus };
            let mut text = format!("@{line}");
            for (e, parsed) in &seen[&line] {
                let v =
                    s.evaluate_in(parsed, focus, &frame).unwrap_or_else(|why| panic!("{line}: {e}: {why}"));
                let _ = write!(text, " {}", s.types.borrow().show(v.ty, &v.bytes));
            }
            all.push(text);
        }
    }
}

/// All that there is of a launch at a time.
fn digest(s: &Session<'_, '_>) -> u64 {
    let mut h = DefaultHasher::new();
    for t in s.paused.threads() {
        // Where a thread has ended means nothing.
        let pc = (t.status != Status::Done).then_some(t.pc);
        (t.regs.bytes(), t.mask, pc, t.frames.len()).hash(&mut h);
        t.waiting.iter().for_each(|w| w.hash(&mut h));
        format!("{:?}", (t.status, t.signals, t.waits, t.budget)).hash(&mut h);
    }
    let mut local = vec![0; s.paused.local_bytes()];
    s.paused.read(envisa::machine::group::log::Place::Local(0), &mut local);
    (local, s.paused.group().id, s.paused.current()).hash(&mut h);
    s.stage.view().env.memory.iter().for_each(|a| a.block.to_vec().hash(&mut h));
    h.finish()
}

#[test]
fn the_way_back_is_the_way_there() {
    let device = device("dg2");
    let text = TYPES.to_owned() + &program(1).text(false, "1");
    let Some(k) = module(&device, &text, "dg2").map(|m| m.kernel("k1").expect("its kernel")) else { return };
    for order in [Order::Forward, Order::Reverse, Order::Random(3)] {
        let (args, _) = launch(&device);
        let run = device.launch(&k, &args).expect("a launch");
        run.stage(|stage| {
            let options = Options { order, ..Options::default() };
            let mut s = Session::new(stage, options).expect("a session");
            let mut there = vec![digest(&s)];
            while s.paused.step() {
                let every = if s.paused.clock() % 97 == 0 { digest(&s) } else { 0 };
                there.push(every);
            }
            let end = s.paused.clock();
            assert!(end > 1000 && s.paused.ended(), "{end}");
            while s.paused.back() {
                let at = s.paused.clock();
                let then = there[at as usize];
                assert!(then == 0 || then == digest(&s), "{order:?}: another state at {at} of {end}");
            }
            assert_eq!(s.paused.clock(), 0);
            // Run again without a log, to the same state.
            s.paused.run(&[], 679);
            assert_eq!((s.paused.clock(), digest(&s)), (679, there[679]), "{order:?}");
            assert_eq!(s.run_to_clock(388), Stop::Goto);
            assert_eq!((s.paused.clock(), digest(&s)), (388, there[388]), "{order:?}");
        })
        .expect("it runs");
    }
}

#[test]
fn steps_origins_and_changes() {
    let text = "int twice(int x) {\n  int r = x + x;\n  return r;\n}\nkernel void k(global int *out, int n, local int *shared) {\n  int i = get_global_id(0);\n  int a = n;\n  a = twice(a) + i;\n  if (i & 1)\n    a = a * 10;\n  out[i] = a;\n}\n";
    let device = device("dg2");
    let Some(k) = kernel(&device, text, "dg2") else { return };
    let (args, out) = launch(&device);
    let run = device.launch(&k, &args).expect("a launch");
    run.stage(|stage| {
        let mut s = Session::new(stage, Options::default()).expect("a session");
        let line = |s: &Session<'_, '_>| s.frames(s.focus.thread)[0].line.map_or(0, |l| l.line);
        let show = |s: &Session<'_, '_>, e: &str| {
            s.evaluate(e, s.focus, 0).map(|v| s.types.borrow().show(v.ty, &v.bytes))
        };
        let (_, starts) = s.lines.starts(0, 8).expect("code");
        s.breakpoints.add(Kind::Line, starts, When::of("i == 5", "", "").expect("a condition"), "8".into());
        assert_eq!(s.resume(), Stop::Breakpoint(vec![1]));
        assert_eq!((s.focus, line(&s)), (Focus { thread: 0, lane: 5 }, 8));
        assert_eq!(show(&s, "a"), Ok("9".into()));
        assert_eq!(s.step(Step::In, Direction::Forward), Stop::Step);
        assert_eq!((s.frames(0).len(), s.frames(0)[0].function.as_str()), (2, "twice"));
        assert_eq!(s.frames(0)[1].function, "k");
        assert_eq!(s.step(Step::Out, Direction::Forward), Stop::Step);
        assert_eq!((line(&s), s.frames(0).len()), (8, 1));
        assert_eq!(s.step(Step::Over, Direction::Forward), Stop::Step);
        assert_eq!((line(&s), show(&s, "a")), (9, Ok("23".into())));
        // The lane takes the branch; another lane does not.
        assert_eq!(s.step(Step::Over, Direction::Forward), Stop::Step);
        assert_eq!(line(&s), 10);
        assert_eq!(s.paused.threads()[0].mask & 1, 0, "lane 0 waits");
        assert_eq!(s.step(Step::Over, Direction::Forward), Stop::Step);
        assert_eq!((line(&s), show(&s, "a")), (11, Ok("230".into())));
        let told = s.origin("a", 0).expect("an origin").text;
        assert!(told.contains("k.cl:10") && told.contains("`a` of k"), "{told}");
        assert_eq!(s.step(Step::Over, Direction::Back), Stop::Step);
        assert_eq!((line(&s), show(&s, "a")), (10, Ok("23".into())));
        assert_eq!(s.step(Step::Over, Direction::Back), Stop::Step);
        assert_eq!(s.step(Step::Over, Direction::Back), Stop::Step);
        assert_eq!((line(&s), show(&s, "a")), (8, Ok("9".into())));
        // What is changed is what the program goes on with.
        assert!(s.assign("a", "n + 1", 0).is_ok() && s.assign("n + 1", "2", 0).is_err());
        s.breakpoints.all.clear();
        assert_eq!(s.resume(), Stop::End);
        assert_eq!(s.go_back(), Stop::Beginning);
        for bad in [
            "b",
            "a.x",
            "out[1",
            "*i",
            "f(1)",
            "a +",
            "(S)a",
            "v.q",
            "1/0",
            "out[1 << 40]",
            "*(int*)0x123456789abc",
            "&(a+1)",
        ] {
            assert!(show(&s, bad).is_err(), "{bad}");
        }
        assert_eq!(s.resume(), Stop::End);
    })
    .expect("it runs");
    let mut bytes = [0; 4];
    out.read(5 * 4, &mut bytes).expect("inside");
    assert_eq!(i32::from_le_bytes(bytes), 230, "the change was of another time line");
}

#[test]
fn atomics_read_and_values_come_from_other_groups() {
    let text = "kernel void k(global int *out, int n, local int *shared) {\n  int i = get_global_id(0);\n  int a = n + i;\n  if (i)\n    out[i] = a * 10;\n  atomic_add(out, 1);\n}\n";
    let device = device("dg2");
    let Some(k) = kernel(&device, text, "dg2") else { return };
    let (args, _) = launch(&device);
    let run = device.launch(&k, &args).expect("a launch");
    run.stage(|stage| {
        let mut s = Session::new(stage, Options::default()).expect("a session");
        let value = s.evaluate("out[0]", s.focus, 0).expect("an element");
        let place = value.place.expect("it is in memory");
        let of = |reads, writes| {
            let mut watch = Watch::new("out[0]".into(), place, 4, When::default(), 0);
            (watch.reads, watch.writes) = (reads, writes);
            watch
        };
        for (reads, word) in [(true, "read"), (false, "written")] {
            s.restart().expect("it begins");
            s.breakpoints.watched.clear();
            let id = s.breakpoints.watch(of(reads, !reads));
            match s.resume() {
                Stop::Data(by, what) => {
                    assert_eq!((by, what), (id, format!("out[0] was {word} by work-item 0 at line 6")));
                }
                other => panic!("{other:?}"),
            }
        }
        s.breakpoints.watched.clear();
        assert_eq!(s.resume(), Stop::End);
        // The first group wrote it; what it was made of is found there too.
        let told = s.origin("out[3]", 0).expect("an origin").text;
        assert!(told.contains("k.cl:5") && told.contains("by a thread of 1 group before this one"), "{told}");
        assert!(told.contains(", read at line 5") && !told.contains("an input of the thread"), "{told}");
    })
    .expect("it runs");
}

/// Work-items read what others write, without a barrier; the last ones write outside.
const RACE: &str = "kernel void k(global int *out, int n, local int *shared) {
  int i = get_global_id(0);
  int l = get_local_id(0);
  shared[l] = i;
  int a = shared[11 - l];
  out[i] = a;
}
";

#[test]
fn findings_stop_it_forwards_and_back() {
    let device = device("dg2");
    let Some(k) = kernel(&device, RACE, "dg2") else { return };
    for order in [Order::Forward, Order::Reverse, Order::Random(5)] {
        let (args, _) = launch(&device);
        let run = device.launch(&k, args.check(true)).expect("a launch");
        run.stage(|stage| {
            let options = Options { order, ..Options::default() };
            let mut s = Session::new(stage, options).expect("a session");
            s.breakpoints.findings.extend(envisa_debug::finding_stops::kinds_by_name("F0004"));
            let mut there = Vec::new();
            loop {
                match s.resume() {
                    Stop::Exception(code, text) => there.push((s.paused.clock(), code, text, s.focus)),
                    Stop::End => break,
                    other => panic!("{other:?}"),
                }
                let line = s.frames(s.focus.thread)[0].line.expect("a line").line;
                assert!(line == 4 || line == 5, "{order:?}: {there:?}");
            }
            assert!(!there.is_empty(), "{order:?}");
            for (_, code, text, _) in &there {
                assert!(*code == "F0004" && text.contains("a data race for "), "{text}");
            }
            let mut back = Vec::new();
            loop {
                match s.go_back() {
                    Stop::Exception(code, text) => back.insert(0, (s.paused.clock(), code, text, s.focus)),
                    Stop::Beginning => break,
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(there, back, "{order:?}");
            // Without the kind it runs through.
            s.breakpoints.findings.clear();
            assert_eq!(s.resume(), Stop::End);
        })
        .expect("it runs");
    }
}

#[test]
fn orders_show_what_depends_on_them() {
    let device = device("dg2");
    let Some(k) = kernel(&device, RACE, "dg2") else { return };
    let left = |order: Order| {
        let (args, out) = launch(&device);
        let run = device.launch(&k, &args).expect("a launch");
        run.stage(|stage| {
            let mut s = Session::new(stage, Options { order, ..Options::default() }).expect("a session");
            assert_eq!(s.resume(), Stop::End);
        })
        .expect("it runs");
        out.to_vec()
    };
    assert_ne!(left(Order::Forward), left(Order::Reverse));
    assert_eq!(left(Order::Random(7)), left(Order::Random(7)));
}
