//! How long things take, against limits. With `ENVISA_IDLE=1`, on an idle machine, that is time on the clock; else it is the time
//! that the processor took, and may be three times as long. Builds that are not optimised have more.

use super::{TYPES, device, module};
use envisa::{Device, Engine, Kernel, Launch};
use envisa_debug::breakpoints::{Kind, When};
use envisa_debug::dap;
use envisa_debug::session::{Direction, Options, Session, Step, Stop};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn is_idle() -> bool {
    std::env::var_os("ENVISA_IDLE").is_some()
}

/// By how much times may be longer than their limits.
fn slack() -> f64 {
    let slow = if cfg!(debug_assertions) { 8.0 } else { 1.0 };
    if is_idle() { slow } else { 3.0 * slow }
}

/// The time on the clock, or what this thread took of the processor.
fn now() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    if is_idle() {
        return START.get_or_init(Instant::now).elapsed();
    }
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn within(what: &str, took: Duration, limit: Duration) {
    eprintln!("{what}: {took:.2?}, at most {limit:.0?}");
    assert!(took <= limit.mul_f64(slack()), "{what} took {took:?}, more than {limit:?}");
}

fn fastest(times: usize, mut f: impl FnMut() -> Duration) -> Duration {
    (0..times).map(|_| f()).min().expect("once at least")
}

/// 4,096 work-items, 512 threads, two million instructions; one group in the midst is told apart.
const LOOP: &str = "kernel void k(global int *out, int n) {
  int i = get_global_id(0);
  int a = i;
  if (i == 2000)
    a = a + 1;
  for (int j = 0; j < n; j++)
    a = a * 5 + j;
  out[i] = a;
}
";

fn looped() -> Option<(Device, Kernel, Launch)> {
    let device = device("dg2");
    let kernel = module(&device, LOOP, "dg2")?.kernel("k").expect("its kernel");
    let out = device.buffer("out", 4 * 4096).expect("memory");
    // Debug builds of this test run a tenth.
    let n = if cfg!(debug_assertions) { 30 } else { 300 };
    let launch = Launch::range(&[4096], &[16]).arg("out", &out).arg("n", n).engine(Engine::Interpreter);
    Some((device, kernel, launch.host_threads(1)))
}

fn stop_at(s: &mut Session<'_, '_>, line: u32, condition: &str) -> u64 {
    let (_, starts) = s.lines.starts(0, line).expect("code");
    let when = When::of(condition, "", "").expect("a condition");
    s.breakpoints.add(Kind::Line, starts, when, line.to_string())
}

#[test]
fn the_first_breakpoint_is_near() {
    let Some((device, kernel, launch)) = looped() else { return };
    let plain = fastest(3, || {
        // On this thread.
        let run = device.launch(&kernel, &launch).expect("a launch");
        let start = now();
        assert!(run.wait().expect("it runs").fault.is_none());
        now() - start
    });
    let run = device.launch(&kernel, &launch).expect("a launch");
    let debugged = run.stage(|stage| {
        fastest(3, || {
            let start = now();
            let mut s = Session::new(stage, Options::default()).expect("a session");
            stop_at(&mut s, 8, "i == 4095");
            assert!(matches!(s.resume(), Stop::Breakpoint(_)));
            now() - start
        })
    });
    within("to the first breakpoint, against a plain run", debugged.expect("it runs"), plain.mul_f64(2.0));
}

#[test]
fn the_way_back_is_short() {
    let Some((device, kernel, launch)) = looped() else { return };
    let run = device.launch(&kernel, &launch).expect("a launch");
    run.stage(|stage| {
        let mut s = Session::new(stage, Options::default()).expect("a session");
        assert_eq!(s.resume(), Stop::End);
        let end = s.paused.clock();
        // What led here is run once more, and kept.
        assert_eq!(s.step(Step::Instruction, Direction::Back), Stop::Step);
        // A thread has some hundred instructions in debug builds.
        let steps = if cfg!(debug_assertions) { 100 } else { 1000 };
        let start = now();
        for _ in 0..steps {
            assert_eq!(s.step(Step::Instruction, Direction::Back), Stop::Step);
        }
        within("a step of an instruction back", (now() - start) / steps, Duration::from_millis(1));
        // The place is as far back as that.
        stop_at(&mut s, 5, "i == 2000");
        let (from, start) = (s.paused.clock(), now());
        assert!(matches!(s.go_back(), Stop::Breakpoint(_)));
        let back = from - s.paused.clock();
        let each = (now() - start).div_f64(back as f64 / 1e6);
        assert!(cfg!(debug_assertions) || back > 1_000_000, "{back} instructions back from {end}");
        within("running back over a million instructions", each, Duration::from_secs(1));
    })
    .expect("it runs");
}

/// A kernel of more than 10,000 instructions.
fn long_text() -> String {
    let mut text =
        TYPES.to_owned() + "kernel void k(global int *out, int n) {\n  int i = get_global_id(0);\n";
    for v in 0..20 {
        let _ = writeln!(text, "  int v{v} = i + {v};");
    }
    for k in 0..2000 {
        let _ = writeln!(text, "  v{} = v{} * n + v{} - {k};", k % 20, (k + 7) % 20, (k + 13) % 20);
    }
    text + "  out[i] = v0 ^ v19;\n}\n"
}

/// The server's side, which keeps when it had sent messages: it waits in between.
struct Timed {
    to: UnixStream,
    sent: Arc<Mutex<Vec<Duration>>>,
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.to.write(bytes)
    }

    // Behind each message.
    fn flush(&mut self) -> std::io::Result<()> {
        self.sent.lock().expect("one").push(now());
        self.to.flush()
    }
}

struct Client {
    out: UnixStream,
    input: BufReader<UnixStream>,
    sent: Arc<Mutex<Vec<Duration>>>,
    received: usize,
    seq: u64,
}

impl Client {
    fn message(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.input.read_line(&mut line).expect("a header") > 0, "it ended");
            match line.trim().split_once(": ") {
                Some((_, n)) => length = n.parse().expect("a length"),
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.input.read_exact(&mut body).expect("a message");
        self.received += 1;
        serde_json::from_slice(&body).expect("JSON")
    }

    fn send(&mut self, command: &str, arguments: Value) {
        self.seq += 1;
        let body = json!({ "seq": self.seq, "type": "request", "command": command, "arguments": arguments });
        let body = body.to_string();
        write!(self.out, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("it reads");
    }

    /// Until a response, or an event of that name.
    fn until(&mut self, kind: &str, name: &str) -> Value {
        loop {
            let m = self.message();
            if m["type"] == kind && (kind == "response" || m["event"] == name) {
                assert!(kind == "event" || m["success"] == true, "{m}");
                return m["body"].clone();
            }
        }
    }

    /// The answer, and how long it took.
    fn ask(&mut self, command: &str, arguments: Value) -> (Value, Duration) {
        let start = Instant::now();
        self.send(command, arguments);
        let body = self.until("response", "");
        if is_idle() {
            return (body, start.elapsed());
        }
        // It is kept just after the message has gone; the message before it was the last that the server did.
        loop {
            let sent = self.sent.lock().expect("one");
            if let Some(at) = sent.get(self.received - 1) {
                let before = self.received.checked_sub(2).map_or(Duration::ZERO, |i| sent[i]);
                return (body, at.saturating_sub(before));
            }
            drop(sent);
            std::thread::yield_now();
        }
    }
}

#[test]
fn answers_on_a_long_kernel_are_quick() {
    let device = device("dg2");
    let text = long_text();
    let Some(module) = module(&device, &text, "dg2") else { return };
    let kernel = module.kernel("k").expect("its kernel");
    let out = device.buffer("out", 64).expect("memory");
    let launch = Launch::range(&[16], &[16]).arg("out", &out).arg("n", 3i32);
    let run = device.launch(&kernel, &launch).expect("a launch");
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let sent = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&sent);
    std::thread::scope(|scope| {
        let mut run = Some(run);
        scope.spawn(move || {
            let input = theirs.try_clone().expect("a socket");
            let out = Timed { to: theirs, sent: kept };
            dap::serve(input, out, &mut |_| Ok((run.take().expect("one"), Options::default())));
        });
        let input = BufReader::new(ours.try_clone().expect("a socket"));
        let mut c = Client { out: ours, input, sent, received: 0, seq: 0 };
        c.ask("initialize", json!({}));
        c.ask("launch", json!({ "stopAtEnd": true }));
        let mut slowest = (Duration::ZERO, String::new());
        let mut ask = |c: &mut Client, command: &str, arguments: Value| {
            let (answer, mut took) = c.ask(command, arguments.clone());
            // What changes nothing is asked again: other programs of the machine do not disturb each time.
            let again = if ["next", "stepBack", "stepIn"].contains(&command) { 0 } else { 5 };
            (0..again).for_each(|_| took = took.min(c.ask(command, arguments.clone()).1));
            eprintln!("{command}: {took:.1?}");
            slowest = std::mem::take(&mut slowest).max((took, command.to_owned()));
            answer
        };
        let line = text.lines().position(|l| l.contains("- 700;")).expect("a line") + 1;
        let at = json!({ "source": { "path": "k.cl" }, "breakpoints": [{ "line": line }] });
        ask(&mut c, "setBreakpoints", at);
        c.ask("configurationDone", json!({}));
        c.until("event", "stopped");
        ask(&mut c, "threads", json!({}));
        let stack = ask(&mut c, "stackTrace", json!({ "threadId": 1 }));
        let frame = &stack["stackFrames"][0];
        assert_eq!(frame["line"], line, "{stack}");
        let scopes = ask(&mut c, "scopes", json!({ "frameId": frame["id"] }));
        for scope in scopes["scopes"].as_array().expect("scopes") {
            let inside = json!({ "variablesReference": scope["variablesReference"] });
            let all = ask(&mut c, "variables", inside);
            // Registers come in parts.
            let parts = all["variables"].as_array().expect("variables").iter();
            if let Some(part) = parts.last().filter(|v| v["variablesReference"] != 0) {
                ask(&mut c, "variables", json!({ "variablesReference": part["variablesReference"] }));
            }
        }
        ask(&mut c, "evaluate", json!({ "expression": "v3 * v4 + out[i]", "frameId": frame["id"] }));
        let pc = &frame["instructionPointerReference"];
        let instructions =
            json!({ "memoryReference": pc, "instructionCount": 4096, "instructionOffset": -2000 });
        ask(&mut c, "disassemble", instructions);
        let (last, _) = c.ask("disassemble", json!({ "memoryReference": "10000", "instructionCount": 1 }));
        assert_ne!(last["instructions"][0]["instruction"], "--", "it has 10,000 instructions");
        ask(&mut c, "envisa/lanes", json!({}));
        ask(&mut c, "dataBreakpointInfo", json!({ "name": "out[3]" }));
        for command in ["next", "stepBack", "stepIn"] {
            ask(&mut c, command, json!({ "threadId": 1 }));
            c.until("event", "stopped");
        }
        let start = Instant::now();
        c.ask("disconnect", json!({}));
        eprintln!("disconnect: {:.1?}", start.elapsed());
        within(&format!("the slowest answer, to {}", slowest.1), slowest.0, Duration::from_millis(50));
    });
}
