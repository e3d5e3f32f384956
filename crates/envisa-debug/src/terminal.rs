//! The debugger in a terminal: commands, one a line.

use crate::breakpoints::{Kind, Watch, When};
use crate::commands;
#[cfg(unix)]
use crate::full_screen::{self, Host};
use crate::lane_view::Frame;
use crate::session::{Direction, Session, Step, Stop};
use envisa::machine::group::log::Place;
use envisa::machine::thread::Thread;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, Helper};
use std::io::{BufRead, IsTerminal, Write};

const HELP: &str = "\
Going on                          and back
  run, continue, c                  reverse-continue, rc
  next, n        over a line        reverse-next, rn
  step, s        into calls         reverse-step, rs
  finish         out of a function  reverse-finish
  stepi, si      one instruction    reverse-stepi, rsi
  restart        from the start     goto CLOCK  (`info clock` shows it)

Stopping
  break LINE | FUNCTION | FILE:LINE | *PC [if EXPR] [hits N]
  log LINE TEXT {EXPR}              logs TEXT for each lane and goes on
  watch EXPR [if EXPR] [hits N]     stops where it is written; rwatch: read; awatch: both
  catch nan, catch finding, catch F0004, uncatch WHAT
                                    stops where an instruction makes a NaN from numbers, and where checks find something
  info breaks, delete N

Looking
  print EXPR, p EXPR                C: p s.n[2] + (float)v.x, p *q, p get_global_id(0)
  locals, args, bt, list, source    variables, arguments, frames, lines
  frame N, up, down                 chooses the frame of `bt` whose variables are shown
  lanes [EXPR,…]                    the values of all lanes of the thread
  lane N, thread N, work-item X,Y,Z selects a lane
  origin EXPR                       which instruction wrote this value, and from what: repeat it on the parts
  set EXPR = EXPR, x EXPR [BYTES], disassemble, threads, registers
  view                              source, vISA and lanes on the whole screen, with a key for each step
  quit

A line alone repeats the last step. `help WORD` explains a command.";

/// More of a word.
const MORE: [(&str, &str); 7] = [
    (
        "origin",
        "`origin x` finds the last instruction that wrote x in the selected lane, and the values from which it was\ncomputed: variables, buffers, constants. `goto CLOCK` goes to just before it; `origin` of one of the parts continues from there.",
    ),
    (
        "lane",
        "A hardware thread runs several work-items in step, one per lane. Variables are those of the selected lane; `lanes` shows all.\nA lane that took another branch is inactive: it waits.",
    ),
    (
        "reverse-continue",
        "Goes back to the last breakpoint that was passed, or to the beginning. The debugger runs the part before the first stop\na second time, to log it; this takes as long as the first time.",
    ),
    (
        "break",
        "`break 12 if i == 40 && r != r` stops when the condition is true in an active lane, and selects that lane. Each lane counts its own hits, from\nthe start of the launch: `break 12 hits 3` stops at a lane's third hit; also >= 3, > 3, <= 3, < 3, and % 3 for each third one.",
    ),
    (
        "watch",
        "`watch out[3]` stops after an instruction that wrote to it, in any lane; when going back, before it. Hits are counted from now on.",
    ),
    (
        "catch",
        "`catch finding` runs the launch once with the checks of `envisa run --check`, and then stops before each instruction at which\na finding arises, forwards and backwards. `catch hint` is for what --check-hints finds, `catch F0005` is for one kind alone.",
    ),
    (
        "history",
        "The debugger logs past states in 1 GiB, or in the size of --history. To go back further, it runs the launch again from the\nstart.",
    ),
];

const WORDS: [&str; 51] = [
    "run",
    "continue",
    "next",
    "step",
    "finish",
    "stepi",
    "restart",
    "goto",
    "reverse-continue",
    "reverse-next",
    "reverse-step",
    "reverse-finish",
    "reverse-stepi",
    "break",
    "log",
    "watch",
    "rwatch",
    "awatch",
    "catch",
    "uncatch",
    "view",
    "info",
    "delete",
    "print",
    "locals",
    "args",
    "bt",
    "frame",
    "up",
    "down",
    "list",
    "source",
    "lanes",
    "lane",
    "thread",
    "work-item",
    "origin",
    "set",
    "x",
    "disassemble",
    "threads",
    "registers",
    "quit",
    "help",
    "fault",
    "c",
    "n",
    "s",
    "rc",
    "rn",
    "rs",
];

/// Completes commands and names.
struct Names(Vec<String>);

// Written by hand: the macro for these needs a second version of `syn`, which everybody's first build would compile.
impl Helper for Names {}
impl Highlighter for Names {}
impl Validator for Names {}
impl Hinter for Names {
    type Hint = String;
}

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let before = &line[..at];
        let start = before.rfind(|c: char| !(c.is_alphanumeric() || "_-".contains(c))).map_or(0, |i| i + 1);
        let word = &before[start..];
        let found: Vec<String> = match start {
            0 => WORDS.iter().filter(|w| w.starts_with(word)).map(|w| (*w).to_owned()).collect(),
            _ => self.0.iter().filter(|w| w.starts_with(word)).cloned().collect(),
        };
        Ok((start, found))
    }
}

/// Runs a session in the terminal; without one, of commands on standard input.
pub fn run(session: &mut Session<'_, '_>, commands: &[String]) {
    let mut t = Terminal { s: session, printed: 0, last: String::new(), out: String::new(), frame: 0 };
    t.greet();
    for c in commands {
        println!("(envisa) {c}");
        if !t.executed(c) {
            return;
        }
    }
    if std::io::stdin().is_terminal() {
        t.interactive();
        return;
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        println!("(envisa) {line}");
        if !t.executed(&line) {
            return;
        }
    }
}

struct Terminal<'t, 's, 'a> {
    s: &'t mut Session<'s, 'a>,
    printed: usize,
    last: String,
    /// What is to be printed.
    out: String,
    /// The frame that is looked at.
    frame: usize,
}

#[cfg(unix)]
impl<'s, 'a> Host<'s, 'a> for Terminal<'_, 's, 'a> {
    fn session(&mut self) -> &mut Session<'s, 'a> {
        self.s
    }

    fn command(&mut self, line: &str) -> (String, bool) {
        let goes_on = Terminal::command(self, line);
        (std::mem::take(&mut self.out), !goes_on)
    }
}

impl Terminal<'_, '_, '_> {
    fn greet(&mut self) {
        for note in self.s.options().notes.clone().iter().chain(&self.s.symbols.trouble.clone()) {
            println!("{note}");
        }
        let groups = self.s.stage.view().prepared.group_count();
        let threads = self.s.paused.threads().len();
        let simd = self.s.program().simd();
        println!(
            "kernel {}: groups: {groups}, threads of each: {threads}, lanes of each: {simd}; `help` lists the commands",
            self.s.stage.kernel().name()
        );
    }

    fn interactive(&mut self) {
        let config = rustyline::Config::builder().auto_add_history(true).build();
        let Ok(mut editor) = Editor::<Names, rustyline::history::MemHistory>::with_history(
            config,
            rustyline::history::MemHistory::new(),
        ) else {
            return;
        };
        loop {
            let mut names: Vec<String> =
                self.s.stage.kernel().arguments().iter().map(|a| a.name.clone()).collect();
            if let Some(frame) = self.s.frames(self.s.focus.thread).first() {
                names.extend(self.s.variables(frame).into_iter().map(|v| v.name));
            }
            names.extend(self.s.program().functions().iter().map(|f| f.name.clone()));
            editor.set_helper(Some(Names(names)));
            match editor.readline("(envisa) ") {
                Ok(line) => {
                    if !self.executed(&line) {
                        return;
                    }
                }
                Err(ReadlineError::Interrupted) => {}
                Err(_) => return,
            }
        }
    }

    /// Runs a command and prints what it says; `false`: it was the last.
    fn executed(&mut self, line: &str) -> bool {
        let goes_on = self.command(line);
        print!("{}", std::mem::take(&mut self.out));
        let _ = std::io::stdout().flush();
        goes_on
    }

    /// A line, or several.
    fn say(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Runs a command; `false`: it was the last.
    fn command(&mut self, line: &str) -> bool {
        let line = line.split_once(" #").map_or(line, |(l, _)| l).trim().to_owned();
        let line = if line.is_empty() { self.last.clone() } else { line };
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
        let rest = rest.trim();
        let step = |step, way| Some(Move::Step(step, way));
        let moves = match word {
            "run" | "continue" | "c" | "r" => Some(Move::Go(Direction::Forward)),
            "reverse-continue" | "rc" => Some(Move::Go(Direction::Back)),
            "next" | "n" => step(Step::Over, Direction::Forward),
            "step" | "s" => step(Step::In, Direction::Forward),
            "finish" => step(Step::Out, Direction::Forward),
            "stepi" | "si" => step(Step::Instruction, Direction::Forward),
            "reverse-next" | "rn" => step(Step::Over, Direction::Back),
            "reverse-step" | "rs" => step(Step::In, Direction::Back),
            "reverse-finish" => step(Step::Out, Direction::Back),
            "reverse-stepi" | "rsi" => step(Step::Instruction, Direction::Back),
            _ => None,
        };
        if let Some(moves) = moves {
            let times = rest.parse().unwrap_or(1u64);
            (self.last, self.frame) = (word.to_owned(), 0);
            for i in 0..times {
                let stop = match moves {
                    Move::Go(Direction::Forward) => self.s.resume(),
                    Move::Go(Direction::Back) => self.s.go_back(),
                    Move::Step(step, way) => self.s.step(step, way),
                };
                let last = stop != Stop::Step;
                if last || i + 1 == times {
                    self.stopped(&stop);
                    break;
                }
            }
            return true;
        }
        self.last = String::new();
        let said = match word {
            "" => Ok(String::new()),
            "quit" | "q" | "exit" => return false,
            "restart" => {
                (self.printed, self.frame) = (0, 0);
                self.s.restart().map(|_| commands::describe_position(self.s)).map_err(|e| e.to_string())
            }
            #[cfg(unix)]
            "view" => match full_screen::run(self) {
                Ok(true) => Ok(commands::describe_position(self.s)),
                Ok(false) => return false,
                Err(why) => Err(why),
            },
            "help" => Ok(match MORE.iter().find(|(w, _)| *w == rest) {
                Some((_, text)) => (*text).to_owned(),
                None => HELP.to_owned(),
            }),
            _ => match commands::run(self.s, &line, self.frame) {
                Some(said) => {
                    if !["lane", "lanes", "origin", "fault"].contains(&word) {
                        self.frame = 0;
                    }
                    said
                }
                None => self.look(word, rest),
            },
        };
        match said {
            Ok(text) if text.is_empty() => {}
            Ok(text) => self.say(&text),
            Err(why) => self.say(&format!("error: {why}")),
        }
        true
    }

    fn stopped(&mut self, stop: &Stop) {
        for said in std::mem::take(&mut self.s.said) {
            self.say(&said);
        }
        let text = self.s.stage.printed();
        if let Some(new) = text.get(self.printed..).filter(|t| !t.is_empty()) {
            self.out.push_str(new);
        }
        self.printed = text.len().max(self.printed);
        match stop {
            Stop::Fault(fault) => self.say(&format!("fault {}: {}", fault.code, fault.message)),
            Stop::Data(id, what) => self.say(&format!("watch {id}: {what}")),
            Stop::Exception(_, what) => self.say(what),
            Stop::Breakpoint(ids) => {
                let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
                self.say(&format!("breakpoint {}", ids.join(", ")));
            }
            Stop::Beginning => self.say("there is nothing before"),
            Stop::End => self.say("all groups have ended: go back, or restart"),
            Stop::Pause => self.say("stopped"),
            Stop::Entry | Stop::Step | Stop::Goto => {}
        }
        if *stop != Stop::End {
            self.say(&commands::describe_position(self.s));
            self.say(&self.lines(0));
        }
    }

    /// So many lines around the current one.
    fn lines(&self, around: u32) -> String {
        let frames = self.s.frames(self.s.focus.thread);
        let line = frames.get(self.frame).and_then(|f| f.line.or_else(|| self.s.lines.visa(f.pc)));
        let Some(line) = line else { return "no line is known".into() };
        let file = self.s.lines.files.get(line.file).and_then(|f| self.s.stage.kernel().files().get(f.text?));
        let Some(file) = file else { return "the text of the source was not given: --source FILE".into() };
        let first = line.line.saturating_sub(around).max(1);
        let last = line.line.saturating_add(around).min(file.line_count());
        let one = |n: u32| {
            format!("{} {n:4}  {}", if n == line.line { '>' } else { ' ' }, file.line_text(n).trim_end())
        };
        (first..=last).map(one).collect::<Vec<_>>().join("\n")
    }

    fn shown(&self, e: &str) -> String {
        match self.s.evaluate(e, self.s.focus, self.frame) {
            Ok(v) => self.s.types.borrow().show(v.ty, &v.bytes),
            Err(why) => format!("<{why}>"),
        }
    }

    fn look(&mut self, word: &str, rest: &str) -> Result<String, String> {
        match word {
            "print" | "p" => {
                let v = self.s.evaluate(rest, self.s.focus, self.frame)?;
                let types = self.s.types.borrow();
                Ok(format!("({}) {}", types.name(v.ty), types.show(v.ty, &v.bytes)))
            }
            "locals" => {
                let frames = self.s.frames(self.s.focus.thread);
                let frame = frames.get(self.frame).ok_or("there is no frame")?;
                Ok(self.shown_all(self.s.variables(frame).iter().map(|v| &v.name)))
            }
            "args" => Ok(self.shown_all(self.s.stage.kernel().arguments().iter().map(|a| &a.name))),
            "bt" | "backtrace" => Ok(self.backtrace()),
            "frame" | "f" if rest.is_empty() => self.look_at_frame(self.frame),
            "frame" | "f" => self.look_at_frame(rest.parse().map_err(|_| "`frame N`: its number in `bt`")?),
            "up" => self.look_at_frame(self.frame + 1),
            "down" => self.look_at_frame(self.frame.checked_sub(1).ok_or("it is the innermost frame")?),
            "list" | "l" | "source" => Ok(self.lines(5)),
            "threads" => Ok(self.threads()),
            "registers" => {
                let frames = self.s.frames(self.s.focus.thread);
                let homes = frames.get(self.frame).map(|f| self.s.registers(f)).unwrap_or_default();
                let wanted = homes.iter().map(|h| &h.name).filter(|name| rest.is_empty() || *name == rest);
                Ok(self.shown_all(wanted))
            }
            "disassemble" => Ok(self.disassembly()),
            "x" => self.memory(rest),
            "set" => {
                let (to, from) = rest.split_once('=').ok_or("`set EXPR = EXPR`")?;
                let v = self.s.assign(to.trim(), from.trim(), self.frame)?;
                Ok(format!("{} = {}", to.trim(), self.s.types.borrow().show(v.ty, &v.bytes)))
            }
            "break" | "b" => self.set_break(rest),
            "log" => {
                let (at, message) = rest.split_once(char::is_whitespace).ok_or("`log LINE TEXT {EXPR}`")?;
                let (places, kind, name) = self.place(at)?;
                let id = self.s.breakpoints.add(kind, places, When::of("", "", message)?, name.clone());
                Ok(format!("breakpoint {id} logs at {name}"))
            }
            "watch" | "rwatch" | "awatch" => self.set_watch(word, rest),
            "catch" | "uncatch" => self.catch(rest, word == "catch"),
            "delete" => {
                let id = rest.parse().map_err(|_| "`delete N`")?;
                let found = self.s.breakpoints.remove(id);
                if found { Ok(String::new()) } else { Err(format!("there is no breakpoint {id}")) }
            }
            "info" if rest == "clock" => {
                let (clock, log) = (self.s.paused.clock(), self.s.paused.log());
                let kept = format!("{} of them kept, {} bytes", log.len(), log.bytes());
                Ok(format!("{clock} instructions since the launch began; {kept}"))
            }
            "info" => Ok(self.breaks()),
            _ => Err(format!("`{word}` is not a command: `help` lists the commands")),
        }
    }

    /// Expressions and their values, one a line.
    fn shown_all<'n>(&self, names: impl Iterator<Item = &'n String>) -> String {
        names.map(|n| format!("{n} = {}", self.shown(n))).collect::<Vec<_>>().join("\n")
    }

    /// Looks at a frame of the thread, until it moves.
    fn look_at_frame(&mut self, frame: usize) -> Result<String, String> {
        let all = self.backtrace();
        let told = all.lines().nth(frame).ok_or_else(|| format!("the thread has no frame {frame}"))?;
        self.frame = frame;
        Ok(format!("{told}\n{}", self.lines(0)))
    }

    fn backtrace(&self) -> String {
        let one = |(i, f): (usize, Frame)| {
            let line =
                f.line.map_or("?".into(), |l| format!("{}:{}", self.s.lines.files[l.file].name, l.line));
            format!("#{i} {}{} at {line}", f.function, if f.inlined { " (inlined)" } else { "" })
        };
        let frames = self.s.frames(self.s.focus.thread).into_iter().enumerate();
        frames.map(one).collect::<Vec<_>>().join("\n")
    }

    fn threads(&self) -> String {
        let one = |(i, t): (usize, &Thread)| {
            let line = self.s.lines.of(t.pc).map_or(String::new(), |l| format!(", line {}", l.line));
            format!("{} {i}: {:?}{line}", if i == self.s.focus.thread { '>' } else { ' ' }, t.status)
        };
        self.s.paused.threads().iter().enumerate().map(one).collect::<Vec<_>>().join("\n")
    }

    /// The instructions around the current one.
    fn disassembly(&self) -> String {
        let pc = self.s.pc();
        let one = |at: u32| {
            let text = self.s.stage.written(at)?;
            let text = text.split("///").next().unwrap_or_default().trim_end().to_owned();
            Some(format!("{} {at:5}  {text}", if at == pc { '>' } else { ' ' }))
        };
        (pc.saturating_sub(5)..pc + 12).filter_map(one).collect::<Vec<_>>().join("\n")
    }

    /// The bytes where an expression points to.
    fn memory(&self, rest: &str) -> Result<String, String> {
        let (e, n) =
            rest.rsplit_once(' ').and_then(|(e, n)| Some((e, n.parse().ok()?))).unwrap_or((rest, 64));
        let v = self.s.evaluate(e, self.s.focus, self.frame)?;
        let at = v.bytes.iter().take(8).rev().fold(0u64, |x, b| x << 8 | u64::from(*b));
        let bytes = self.s.read(self.s.pointed(at), n)?;
        let one = |(i, c): (usize, &[u8])| format!("{:#x}: {c:02x?}", at + 16 * i as u64);
        Ok(bytes.chunks(16).enumerate().map(one).collect::<Vec<_>>().join("\n"))
    }

    /// All breakpoints.
    fn breaks(&self) -> String {
        let (b, stops) = (&self.s.breakpoints, |yes: bool, what: &str| yes.then(|| format!("catch {what}")));
        let all = b.all.iter().map(|b| format!("{} {:?} {}{}", b.id, b.kind, b.name, b.when.text));
        let watched = b.watched.iter().map(|w| format!("{} watch {}{}", w.id, w.name, w.when.text));
        let caught = b.findings.iter().filter_map(|k| stops(true, k.code()));
        all.chain(watched).chain(stops(b.nan, "nan")).chain(caught).collect::<Vec<_>>().join("\n")
    }

    /// Stops where an expression's place is written, read, or both.
    fn set_watch(&mut self, word: &str, rest: &str) -> Result<String, String> {
        let (rest, when) = split_condition(rest)?;
        let v = self.s.evaluate(rest, self.s.focus, self.frame)?;
        let place: Place = v.place.ok_or("it is in no memory")?;
        let bytes = v.bytes.len() as u64;
        let id = self.s.breakpoints.watch(Watch {
            thread: self.s.focus.thread,
            reads: word != "watch",
            writes: word != "rwatch",
            ..Watch::new(rest.to_owned(), place, bytes, when, self.s.paused.clock())
        });
        Ok(format!("watch {id}: {rest}"))
    }

    /// Stops at what should not happen, or no more.
    fn catch(&mut self, what: &str, yes: bool) -> Result<String, String> {
        let kinds = crate::finding_stops::kinds_by_name(what);
        let b = &mut self.s.breakpoints;
        if what == "nan" {
            b.nan = yes;
            return Ok(format!("{} where a NaN is made", if yes { "stops" } else { "does not stop" }));
        }
        if kinds.is_empty() {
            return Err(format!(
                "`{what}` cannot be caught: give nan, finding, hint, or a code such as F0004"
            ));
        }
        for kind in &kinds {
            if yes {
                b.findings.insert(*kind)
            } else {
                b.findings.remove(kind)
            };
        }
        let names: Vec<String> =
            kinds.iter().map(|k| format!("{} ({})", k.code(), crate::finding_stops::title(*k))).collect();
        Ok(format!("{} at {}", if yes { "stops" } else { "does not stop" }, names.join(", ")))
    }

    fn place(&self, at: &str) -> Result<(Vec<u32>, Kind, String), String> {
        if let Some(pc) = at.strip_prefix('*') {
            let pc = pc.parse().map_err(|_| format!("`{pc}` is not an instruction"))?;
            return Ok((vec![pc], Kind::Instruction, at.to_owned()));
        }
        let (file, line) = at.rsplit_once(':').unwrap_or(("", at));
        let Ok(line) = line.parse() else {
            return Ok((vec![commands::entry(self.s, at)?], Kind::Function, at.to_owned()));
        };
        let file = match file {
            "" => {
                let frames = self.s.frames(self.s.focus.thread);
                frames.first().and_then(|f| f.line).map_or(0, |l| l.file)
            }
            name => {
                self.s.lines.file(name).ok_or_else(|| format!("nothing here was compiled from {name}"))?
            }
        };
        let (line, starts) = self
            .s
            .lines
            .starts(file, line)
            .ok_or_else(|| format!("no code belongs to line {line} or a later one"))?;
        let name = self.s.lines.files[file].name.rsplit('/').next().unwrap_or_default().to_owned();
        Ok((starts, Kind::Line, format!("{name}:{line}")))
    }

    fn set_break(&mut self, rest: &str) -> Result<String, String> {
        let (at, when) = split_condition(rest)?;
        let (places, kind, name) = self.place(at)?;
        let id = self.s.breakpoints.add(kind, places, when, name.clone());
        Ok(format!("breakpoint {id} at {name}"))
    }
}

/// What is before `if EXPR` and `hits N`, and these.
fn split_condition(text: &str) -> Result<(&str, When), String> {
    let (text, hits) = text.split_once(" hits ").unwrap_or((text, ""));
    let (text, condition) = text.split_once(" if ").unwrap_or((text, ""));
    Ok((text.trim(), When::of(condition, hits, "")?))
}

#[derive(Clone, Copy)]
enum Move {
    Go(Direction),
    Step(Step, Direction),
}
