//! What the debugger shows is what the program computes: variables of all lanes at each statement against what the same
//! program prints, and the way back against the way there.

use envisa::machine::group::paused::Order;
use envisa::{Config, Device, Kernel, Launch, LoadOptions, Module, Source, SourceText};
use envisa_debug::breakpoints::{Kind, When};
use envisa_debug::session::{Focus, Options, Session, Step, Stop, Way};
use envisa_ocloc::{Build, BuildError, Lines};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Random programs that CI runs; `ENVISA_DEBUG_PROGRAMS` says another number, `ENVISA_DEBUG_FIRST` the first.
const PROGRAMS: u64 = 4;
const ITEMS: u64 = 24;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// A program, a statement a line; variables by the line from which on they have a value.
struct Program {
    lines: Vec<String>,
    /// Lines of statements, with the variables that are seen there.
    seen: BTreeMap<usize, Vec<String>>,
    /// The kernel calls a function: the compiler treats others otherwise.
    calls: bool,
}

impl Program {
    fn text(&self, prints: bool) -> String {
        let mut text = String::new();
        for (i, line) in (1..).zip(&self.lines) {
            if let (true, Some(names)) = (prints, self.seen.get(&i)) {
                let formats = " %d".repeat(names.len());
                let _ = write!(text, "printf(\"@{i} %d{formats}\\n\", (int)get_global_id(0)");
                for n in names {
                    let _ = write!(text, ", {n}");
                }
                text.push_str("); ");
            }
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// Statements over variables that are `int`s, elements of an array, members of a structure, elements of a vector.
fn program(seed: u64) -> Program {
    let mut r = Random(seed.wrapping_mul(77).wrapping_add(5));
    let mut p = Program { lines: Vec::new(), seen: BTreeMap::new(), calls: !seed.is_multiple_of(3) };
    p.lines.push("typedef struct { int a; int n[2]; } S;".into());
    p.lines.push("int f(int x, int y) {".into());
    p.lines.push("  int t = x * 3;".into());
    p.lines.push("  t = t ^ y;".into());
    p.lines.push("  return t + 1;".into());
    p.lines.push("}".into());
    if p.calls {
        // What nothing calls has no code.
        for (line, names) in [(3, &["x", "y"][..]), (4, &["x", "y", "t"]), (5, &["x", "y", "t"])] {
            p.seen.insert(line, names.iter().map(|n| (*n).to_owned()).collect());
        }
    }
    p.lines.push("kernel void k(global int *out, int n, local int *shared) {".into());
    p.lines.push("  int i = get_global_id(0);".into());
    p.lines.push("  int l = get_local_id(0);".into());
    let mut known: Vec<String> = vec!["i".into(), "l".into(), "n".into()];
    let declare = |p: &mut Program, text: &str, names: &[&str], known: &mut Vec<String>| {
        p.lines.push(text.to_owned());
        p.seen.insert(p.lines.len(), known.clone());
        known.extend(names.iter().map(|n| (*n).to_owned()));
    };
    declare(&mut p, "  S s = { i + 1, { 2, n } };", &["s.a", "s.n[0]", "s.n[1]"], &mut known);
    declare(&mut p, "  int4 v = (int4)(i, 7, n, l);", &["v.x", "v.y", "v.z", "v.w"], &mut known);
    declare(&mut p, "  int q[3] = { 1, i, 3 };", &["q[0]", "q[1]", "q[2]"], &mut known);
    declare(&mut p, "  int b = 5;", &["b"], &mut known);
    block(&mut r, &mut p, &mut known, 0);
    p.lines.push("  shared[l] = b;".into());
    p.seen.insert(p.lines.len(), known.clone());
    p.lines.push("  barrier(CLK_LOCAL_MEM_FENCE);".into());
    p.lines.push("  b = b + shared[l ^ 1];".into());
    p.seen.insert(p.lines.len(), known.clone());
    block(&mut r, &mut p, &mut known, 0);
    p.lines.push("  out[i] = b ^ s.a ^ v.x ^ q[1];".into());
    p.seen.insert(p.lines.len(), known.clone());
    p.lines.push("}".into());
    p
}

fn block(r: &mut Random, p: &mut Program, known: &mut Vec<String>, depth: usize) {
    let targets = ["b", "s.a", "s.n[0]", "s.n[1]", "v.x", "v.y", "v.z", "v.w", "q[0]", "q[1]", "q[2]"];
    for _ in 0..2 + r.below(3) {
        let pick = |r: &mut Random, known: &[String]| known[r.below(known.len() as u64) as usize].clone();
        let (x, y) = (pick(r, known), pick(r, known));
        let to = targets[r.below(targets.len() as u64) as usize];
        match r.below(if depth < 2 { 6 } else { 3 }) {
            0 if p.calls => p.lines.push(format!("  {to} = f({x}, {y});")),
            0 | 1 => p.lines.push(format!("  {to} = {x} * 5 - {y};")),
            2 => p.lines.push(format!("  {to} = ({x} & 255) + ({y} >> 3);")),
            3 | 4 => {
                p.lines.push(format!("  if (({x} & {}) != 0) {{", 1 << r.below(3)));
                p.seen.insert(p.lines.len(), known.clone());
                let length = known.len();
                block(r, p, known, depth + 1);
                known.truncate(length);
                p.lines.push("  }".into());
                continue;
            }
            _ => {
                let name = format!("j{depth}_{}", p.lines.len());
                p.lines.push(format!("  for (int {name} = 0; {name} < ({x} & 3); {name}++) {{"));
                let length = known.len();
                known.push(name);
                block(r, p, known, depth + 1);
                known.truncate(length);
                p.lines.push("  }".into());
                continue;
            }
        }
        p.seen.insert(p.lines.len(), known.clone());
    }
}

/// A kernel of a text; `None` without a compiler.
fn kernel(device: &Device, text: &str, target: &str) -> Option<Kernel> {
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
            assert!(std::env::var_os("ENVISA_REQUIRE_ORACLES").is_none(), "ocloc is needed: {e}");
            eprintln!("skipped: there is no ocloc ({e})");
            return None;
        }
    };
    let sources = vec![SourceText { name: "k.cl".into(), text: text.as_bytes().to_vec() }];
    let options = LoadOptions { sources, ..LoadOptions::default() };
    let module = Module::load_with(device, "k.cl", Source::Zebin(&bytes), &options).expect("it loads");
    Some(module.kernel("k").expect("its kernel"))
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

#[test]
fn variables_of_all_lanes_are_what_the_program_prints() {
    for seed in seeds() {
        let target = ["dg2", "tgllp", "pvc", "skl"][seed as usize % 4];
        let device = device(target);
        let p = program(seed);
        let Some(printing) = kernel(&device, &p.text(true), target) else { return };
        let (args, _) = launch(&device);
        let outcome = device.run(&printing, &args).expect("it runs");
        assert!(outcome.fault.is_none() && !outcome.printed_incomplete, "{seed}: {:?}", outcome.fault);
        let mut printed: Vec<String> = outcome.printed.lines().map(str::to_owned).collect();
        printed.sort();

        let plain = kernel(&device, &p.text(false), target).expect("a compiler");
        let (args, out) = launch(&device);
        let outcome = device.run(&plain, &args).expect("it runs");
        assert!(outcome.fault.is_none());
        let (bytes, (args, again)) = (out.to_vec(), launch(&device));
        let run = device.launch(&plain, &args).expect("a launch");
        let mut shown = run
            .stage(|stage| stops(&mut Session::new(stage, Options::default()).expect("a session"), &p))
            .expect("it runs");
        shown.sort();
        assert_eq!(again.to_vec(), bytes, "{seed}: a run under the debugger leaves what a plain one leaves");
        assert!(printed.len() > 100, "{seed}: the program prints {} lines", printed.len());
        if let Some(i) = (0..printed.len().max(shown.len())).find(|i| printed.get(*i) != shown.get(*i)) {
            panic!(
                "{seed} on {target}: printed {:?}, shown {:?}\n{}",
                printed.get(i),
                shown.get(i),
                p.text(false)
            );
        }
    }
}

/// At each statement, for each lane that executes it: what its program would print.
fn stops(s: &mut Session<'_, '_>, p: &Program) -> Vec<String> {
    for line in p.seen.keys() {
        let (found, starts) = s.lines.starts(0, *line as u32).expect("code");
        assert_eq!(found, *line as u32);
        s.breakpoints.add(Kind::Line, starts, When::default(), format!("{line}"));
    }
    let mut all = Vec::new();
    loop {
        match s.go_on() {
            Stop::Breakpoint(_) => {}
            Stop::End => return all,
            other => panic!("{other:?}"),
        }
        let frame = s.frames(s.focus.thread).remove(0);
        let line = frame.line.expect("a line").line as usize;
        let mask = s.paused.threads()[s.focus.thread].mask;
        for lane in (0..32).filter(|l| mask >> l & 1 != 0) {
            let focus = Focus { lane, ..s.focus };
            let value = |e: &str| {
                let v = s.evaluate(e, focus, 0).unwrap_or_else(|why| panic!("{line}: {e}: {why}"));
                s.types.borrow().show(v.ty, &v.bytes)
            };
            let mut text = format!("@{line} {}", value("get_global_id(0)"));
            for name in &p.seen[&line] {
                let _ = write!(text, " {}", value(name));
            }
            all.push(text);
        }
    }
}

/// All that there is of a launch at a time.
fn digest(s: &Session<'_, '_>) -> u64 {
    let mut h = DefaultHasher::new();
    for t in s.paused.threads() {
        (t.regs.bytes(), t.mask, t.pc, t.frames.len()).hash(&mut h);
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
    let Some(k) = kernel(&device, &program(1).text(false), "dg2") else { return };
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
            assert_eq!(s.go(388), Stop::Goto);
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
        assert_eq!(s.go_on(), Stop::Breakpoint(vec![1]));
        assert_eq!((s.focus, line(&s)), (Focus { thread: 0, lane: 5 }, 8));
        assert_eq!(show(&s, "a"), Ok("9".into()));
        assert_eq!(s.step(Step::In, Way::Forward), Stop::Step);
        assert_eq!((s.frames(0).len(), s.frames(0)[0].function.as_str()), (2, "twice"));
        assert_eq!(s.frames(0)[1].function, "k");
        assert_eq!(s.step(Step::Out, Way::Forward), Stop::Step);
        assert_eq!((line(&s), s.frames(0).len()), (8, 1));
        assert_eq!(s.step(Step::Over, Way::Forward), Stop::Step);
        assert_eq!((line(&s), show(&s, "a")), (9, Ok("23".into())));
        // The lane takes the branch; another lane does not.
        assert_eq!(s.step(Step::Over, Way::Forward), Stop::Step);
        assert_eq!(line(&s), 10);
        assert_eq!(s.paused.threads()[0].mask & 1, 0, "lane 0 waits");
        assert_eq!(s.step(Step::Over, Way::Forward), Stop::Step);
        assert_eq!((line(&s), show(&s, "a")), (11, Ok("230".into())));
        let told = s.origin("a", 0).expect("an origin").text;
        assert!(told.contains("k.cl:10") && told.contains("`a` of k"), "{told}");
        assert_eq!(s.step(Step::Over, Way::Back), Stop::Step);
        assert_eq!((line(&s), show(&s, "a")), (10, Ok("23".into())));
        assert_eq!(s.step(Step::Over, Way::Back), Stop::Step);
        assert_eq!(s.step(Step::Over, Way::Back), Stop::Step);
        assert_eq!((line(&s), show(&s, "a")), (8, Ok("9".into())));
        // What is changed is what the program goes on with.
        assert!(s.assign("a", "n + 1", 0).is_ok() && s.assign("n + 1", "2", 0).is_err());
        s.breakpoints.all.clear();
        assert_eq!(s.go_on(), Stop::End);
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
        assert_eq!(s.go_on(), Stop::End);
    })
    .expect("it runs");
    let mut bytes = [0; 4];
    out.read(5 * 4, &mut bytes).expect("inside");
    assert_eq!(i32::from_le_bytes(bytes), 230, "the change was of another time line");
}
