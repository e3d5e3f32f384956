//! A second witness: Oclgrind's debugger stops at the same lines and prints the same variables. The two share no code and no
//! compiler.

use super::programs::{Program, TYPES, program};
use super::{ITEMS, device, launch, module, seeds};
use envisa_debug::breakpoints::{Kind, When};
use envisa_debug::c_expressions::parse;
use envisa_debug::session::{Focus, Options, Session, Stop};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// What a work-item shows where it stops: lines, and numbers by expression.
type Stops = BTreeMap<u64, Vec<(usize, BTreeMap<String, Vec<f64>>)>>;

/// What both can print of an expression of the generator: a variable, or a member. Oclgrind does not print elements of arrays,
/// and what pointers point to.
fn printable(e: &str) -> Option<&'static str> {
    const ALL: [(&str, &str); 20] = [
        ("v.x", "v"),
        ("v.y", "v"),
        ("v.z", "v"),
        ("v.w", "v"),
        ("q[0]", "q"),
        ("q[1]", "q"),
        ("q[2]", "q"),
        ("(int)(u >> 1)", "u"),
        ("(int)(g >> 20)", "g"),
        ("*(int *)&h", "h"),
        ("(int)w.x", "w"),
        ("(int)w.y", "w"),
        ("s.a", "s.a"),
        ("i", "i"),
        ("l", "l"),
        ("n", "n"),
        ("b", "b"),
        ("x", "x"),
        ("y", "y"),
        ("t", "t"),
    ];
    ALL.iter().find(|(from, _)| *from == e).map(|(_, to)| *to)
}

/// What is printed at a line: what [`printable`] has, and counters of loops.
fn printed_at(p: &Program, line: usize) -> Vec<String> {
    let own = |e: &String| {
        let counter = e == "round" || e.starts_with(['w', 'j']) && e.contains('_');
        if counter { Some(e.clone()) } else { printable(e).map(str::to_owned) }
    };
    // Oclgrind 21.10 ends where it is to print variables of a function with structures and vectors for parameters.
    let head = p.lines[..line].iter().rev().find(|l| !l.starts_with(' ') && l.ends_with('{'));
    let whole = head.is_none_or(|h| !h.contains("int4 v"));
    // It stops behind the first instruction of a line, which may be a store already.
    let stored = |n: &String| p.lines[line - 1].trim() == format!("{n} = 0;");
    let mut all: Vec<String> = p.seen[&line].iter().filter_map(own).filter(|n| whole && !stored(n)).collect();
    all.sort();
    all.dedup();
    all
}

fn numbers(text: &str) -> Vec<f64> {
    let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)));
    parts.filter_map(|part| part.parse().ok()).collect()
}

/// Oclgrind's debugger at work.
struct Oclgrind {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Oclgrind {
    /// With a program in a file of this folder; `None`: it is not installed.
    fn new(folder: &Path, text: &str) -> Option<Oclgrind> {
        let sim = format!(
            "k.cl\nk0\n{ITEMS} 1 1\n12 1 1\n<size={} fill=0>\n<size=4 int>\n9\n<size=64>\n",
            4 * ITEMS
        );
        std::fs::write(folder.join("k.cl"), text).expect("written");
        std::fs::write(folder.join("k.sim"), sim).expect("written");
        let mut command = Command::new("oclgrind-kernel");
        command.args(["--interactive", "k.sim"]).current_dir(folder);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        match child {
            Ok(mut child) => {
                let out = BufReader::new(child.stdout.take().expect("piped"));
                Some(Oclgrind { child, out })
            }
            Err(e) => {
                envisa_harness::testing::not_run(&format!("there is no oclgrind-kernel: {e}"));
                None
            }
        }
    }

    /// What a command prints.
    fn command(&mut self, command: &str) -> String {
        let end = "Invalid info command: end";
        let to = self.child.stdin.as_mut().expect("piped");
        // It has ended where it reads no more.
        if writeln!(to, "{command}\ninfo end").and_then(|()| to.flush()).is_err() {
            return String::new();
        }
        let mut text = String::new();
        loop {
            let before = text.len();
            match self.out.read_line(&mut text) {
                Ok(n) if n > 0 && text[before..].contains(end) => {
                    text.truncate(before);
                    return text;
                }
                Ok(n) if n > 0 => {}
                _ => return text,
            }
        }
    }
}

impl Drop for Oclgrind {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What Oclgrind shows; `None` without it.
fn witnessed(p: &Program) -> Option<Stops> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut grind = Oclgrind::new(folder.path(), &(TYPES.to_owned() + &p.text(false, "0")))?;
    let before = TYPES.lines().count();
    let heads = (1..).zip(&p.lines).filter(|(_, l)| l.contains("for (") || l.contains("while ("));
    let heads: Vec<usize> = heads.map(|(i, _)| i).collect();
    for line in p.seen.keys().chain(&heads) {
        grind.command(&format!("break {}", before + line));
    }
    let mut stops = Stops::new();
    let mut last: BTreeMap<u64, usize> = BTreeMap::new();
    loop {
        let said = grind.command("continue");
        let hit = said.lines().find_map(|l| l.strip_prefix("Breakpoint ")?.split_once(" hit at line "));
        let Some((_, rest)) = hit else { return Some(stops) };
        let (line, item) = rest.split_once(" by work-item (").expect("a work-item");
        let line = line.parse::<usize>().expect("a line") - before;
        let item: u64 = item.split(',').next().expect("an id").parse().expect("a number");
        // It stops at a line once more when a call of it returns, and, within a `switch`, at an `if` once more where its block
        // ends: its compiler gives the branch that line. Whoever comes again comes by the head of a loop.
        let before = last.insert(item, line).unwrap_or(0);
        let call = before == line && p.lines[line - 1].contains("#(");
        let again = call || p.lines[line - 1].trim().starts_with("if (") && in_block(p, line, before);
        if heads.contains(&line) && !p.seen.contains_key(&line) || again {
            continue;
        }
        let mut values = BTreeMap::new();
        for name in printed_at(p, line) {
            let said = grind.command(&format!("print {name}"));
            let value = said.trim().split_once(" = ").map(|(_, v)| v.to_owned()).unwrap_or_default();
            assert!(!numbers(&value).is_empty(), "line {line}: {name}: {said:?}");
            // It has no unsigned numbers.
            let unsigned = |n: f64| if name == "u" { f64::from(n as i64 as u32) } else { n };
            let value = numbers(&value).into_iter().map(unsigned).collect();
            values.insert(name, value);
        }
        stops.entry(item).or_default().push((line, values));
    }
}

/// Is a line in the block that another one opens?
fn in_block(p: &Program, opens: usize, line: usize) -> bool {
    let mut depth = 0;
    for (i, text) in (1..).zip(&p.lines).skip(opens - 1) {
        depth += text.matches('{').count() as i32 - text.matches('}').count() as i32;
        if i > opens && depth == 0 {
            return false;
        }
        if i > opens && i == line {
            return true;
        }
        if depth <= 0 {
            return false;
        }
    }
    false
}

/// What our session shows at the same lines; `before`: lines before the program's own.
fn shown(s: &mut Session<'_, '_>, p: &Program, before: usize) -> Stops {
    for line in p.seen.keys() {
        let (found, starts) = s.lines.starts(0, (before + line) as u32).expect("code");
        assert_eq!(found as usize, before + line);
        s.breakpoints.add(Kind::Line, starts, When::default(), format!("{line}"));
    }
    let mut stops = Stops::new();
    while let Stop::Breakpoint(_) = s.resume() {
        let frame = s.frames(s.focus.thread).remove(0);
        let line = frame.line.expect("a line").line as usize - before;
        let mask = s.paused.threads()[s.focus.thread].mask;
        for lane in (0..32).filter(|l| mask >> l & 1 != 0) {
            let focus = Focus { lane, ..s.focus };
            let value = |name: &str| {
                let v = s.evaluate_in(&parse(name).expect("a name"), focus, &frame);
                let v = v.unwrap_or_else(|why| panic!("{line}: {name}: {why}"));
                numbers(&s.types.borrow().show(v.ty, &v.bytes))
            };
            let values = printed_at(p, line).into_iter().map(|name| (name.clone(), value(&name))).collect();
            let item = s.item(focus.thread, lane).expect("a work-item").0[0];
            stops.entry(item).or_default().push((line, values));
        }
    }
    stops
}

/// Oclgrind prints six digits.
fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-5 * a.abs().max(b.abs())
}

#[test]
fn another_debugger_shows_the_same() {
    let device = device("dg2");
    let (mut values, mut others) = (0, Vec::new());
    // Those without calls: see `printed_at`.
    let all: Vec<u64> = seeds().map(|s| s * 3).collect();
    for some in all.chunks(8) {
        let mut text = TYPES.to_owned();
        let mut programs = Vec::new();
        for seed in some {
            let p = program(*seed);
            programs.push((*seed, text.lines().count(), p));
            text += &programs.last().expect("one").2.text(false, &seed.to_string());
        }
        let Some(module) = module(&device, &text, "dg2") else { return };
        for (seed, before, p) in &programs {
            let Some(theirs) = witnessed(p) else { return };
            let kernel = module.kernel(&format!("k{seed}")).expect("its kernel");
            let (args, _) = launch(&device);
            let run = device.launch(&kernel, &args).expect("a launch");
            let ours = run.stage(|stage| {
                let mut s = Session::new(stage, Options::default()).expect("a session");
                shown(&mut s, p, *before)
            });
            let ours = ours.expect("it runs");
            assert_eq!(ours.len() as u64, ITEMS, "{seed}");
            match difference(&ours, &theirs) {
                Ok(n) => values += n,
                Err(why) => others.push(format!("{seed}: {why}\n{}", p.text(false, ""))),
            }
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    eprintln!("{} programs, {values} values are the same", all.len());
    assert!(values > 1000 * all.len(), "{values}");
}

/// How many values are the same; or the first that is not.
fn difference(ours: &Stops, theirs: &Stops) -> Result<usize, String> {
    let mut n = 0;
    for (item, stops) in ours {
        let other = theirs.get(item).map_or(&[][..], |s| s);
        for (k, (line, values)) in stops.iter().enumerate() {
            let Some((at, expected)) = other.get(k) else {
                return Err(format!("work-item {item}: no {k}th stop, at {line}"));
            };
            if at != line {
                return Err(format!("work-item {item}: the {k}th stop is at line {line}, not {at}"));
            }
            for (name, value) in values {
                let same = value.len() == expected[name].len()
                    && value.iter().zip(&expected[name]).all(|(a, b)| is_same(*a, *b));
                if !same {
                    return Err(format!(
                        "work-item {item}, stop {k} at line {line}: {name} = {value:?}, not {:?}",
                        expected[name]
                    ));
                }
                n += value.len();
            }
        }
        if other.len() != stops.len() {
            return Err(format!("work-item {item}: {} stops, not {}", stops.len(), other.len()));
        }
    }
    Ok(n)
}
