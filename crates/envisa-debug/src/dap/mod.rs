//! The Debug Adapter Protocol: what editors ask, and what they are told.
//!
//! A *thread* of the protocol is a hardware thread of the current group; frames are those of the source; variables are
//! those of the lane that is looked at, which `lane N` and `work-item X,Y,Z` in the console change, or the request
//! `envisa/focus`. What an expression or a message has wrong is told in words, and the session lives on.

mod requests;
mod variables;
pub mod wire;

use crate::finding_stops;
use crate::session::{Direction, Options, Session, Step, Stop};
use envisa::{FindingKind, Run};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufReader, Read as Input, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use variables::Shown;
use wire::{Read, Writer};

/// What `launch` makes of its arguments: a launch, and how it is debugged.
pub type Launcher<'a> = dyn FnMut(&Value) -> Result<(Run, Options), String> + 'a;

/// What came in.
enum Incoming {
    Message(Value),
    Bad(String),
}

/// Serves one client, to the end of its stream or its `disconnect`.
pub fn serve(input: impl Input + Send + 'static, output: impl Write, launcher: &mut Launcher<'_>) {
    let (send, receive) = channel();
    let pause = Arc::new(Mutex::new(Arc::new(AtomicBool::new(false))));
    let asked = Arc::clone(&pause);
    // It ends with the stream: nobody waits for it.
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        loop {
            let incoming = match wire::read(&mut input) {
                Read::Message(m) => {
                    let stops = matches!(m["command"].as_str(), Some("pause" | "disconnect" | "terminate"));
                    if stops && let Ok(flag) = asked.lock() {
                        flag.store(true, Ordering::Relaxed);
                    }
                    Incoming::Message(m)
                }
                Read::Bad(why) => Incoming::Bad(why),
                Read::End => return,
            };
            if send.send(incoming).is_err() {
                return;
            }
        }
    });
    let mut server = Server {
        out: Writer::new(output),
        incoming: receive,
        pause,
        base: 1,
        columns: 1,
        paths: true,
        opened: HashMap::new(),
        exception: None,
    };
    server.begin(launcher);
}

struct Server<W> {
    out: Writer<W>,
    incoming: Receiver<Incoming>,
    pause: Arc<Mutex<Arc<AtomicBool>>>,
    /// Numbers of the first line and column, as the client counts.
    base: u32,
    columns: u32,
    paths: bool,
    /// Files of the client that have the text of a source, by the source's index.
    opened: HashMap<usize, PathBuf>,
    /// What it stopped at, where that was not a fault and no breakpoint.
    exception: Option<(&'static str, String)>,
}

/// What a client is told that there is.
fn capabilities() -> Value {
    let filter = |id: &str, label: &str, description: &str, default: bool| json!({ "filter": id, "label": label, "description": description, "default": default });
    let mut filters = vec![
        filter("fault", "Faults", "A fault ends the launch: it stops there", true),
        filter("nan", "NaN made", "An instruction makes a NaN from operands that are numbers", false),
    ];
    for kind in FindingKind::ALL {
        let (code, title) = (kind.code(), finding_stops::title(kind));
        let what = if kind.is_hint() { "A hint of the checks" } else { "A finding of the checks" };
        filters.push(filter(code, &format!("{code}: {title}"), what, false));
    }
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsInstructionBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsSetVariable": true,
        "supportsSetExpression": true,
        "supportsRestartRequest": true,
        "supportsExceptionInfoRequest": true,
        "supportsReadMemoryRequest": true,
        "supportsWriteMemoryRequest": true,
        "supportsDisassembleRequest": true,
        "supportsSteppingGranularity": true,
        "supportsTerminateRequest": true,
        "supportsValueFormattingOptions": false,
        "supportsLoadedSourcesRequest": true,
        "supportsBreakpointLocationsRequest": true,
        "exceptionBreakpointFilters": filters,
    })
}

impl<W: Write> Server<W> {
    fn next(&mut self) -> Option<Value> {
        loop {
            if self.out.closed {
                return None;
            }
            match self.incoming.recv().ok()? {
                Incoming::Message(m) if m["type"] == "request" && m["command"].is_string() => return Some(m),
                Incoming::Message(m) if m["type"] == "response" || m["type"] == "event" => {}
                Incoming::Message(_) => {
                    self.out.output("stderr", "a message that is not a request was ignored\n")
                }
                Incoming::Bad(why) => self.out.output("stderr", &format!("{why}: it was ignored\n")),
            }
        }
    }

    /// Until something is launched.
    fn begin(&mut self, launcher: &mut Launcher<'_>) {
        while let Some(request) = self.next() {
            let arguments = &request["arguments"];
            match request["command"].as_str().unwrap_or_default() {
                "initialize" => {
                    let from = |key: &str| if arguments[key] == json!(false) { 0 } else { 1 };
                    (self.base, self.columns) = (from("linesStartAt1"), from("columnsStartAt1"));
                    self.paths = arguments["pathFormat"] != "uri";
                    self.out.respond(&request, Ok(capabilities()));
                }
                "launch" | "attach" => match launcher(arguments) {
                    Ok((run, options)) => {
                        let notes = options.notes.clone();
                        let played = run.stage(|stage| {
                            let mut session = match Session::new(stage, options) {
                                Ok(session) => session,
                                Err(e) => {
                                    self.out.respond(&request, Err(e.to_string()));
                                    return false;
                                }
                            };
                            self.out.respond(&request, Ok(Value::Null));
                            for note in notes.iter().chain(&session.symbols.trouble) {
                                self.out.output("console", &format!("{note}\n"));
                            }
                            self.out.event("initialized", json!({}));
                            self.play(&mut session, arguments);
                            true
                        });
                        match played {
                            Ok(true) => return,
                            Ok(false) => {}
                            Err(e) => self.out.respond(&request, Err(e.to_string())),
                        }
                    }
                    Err(why) => self.out.respond(&request, Err(why)),
                },
                "disconnect" | "terminate" => {
                    self.out.respond(&request, Ok(Value::Null));
                    self.out.event("terminated", json!({}));
                    return;
                }
                other => self.out.respond(&request, Err(format!("`{other}` before anything was launched"))),
            }
        }
    }

    /// A session.
    fn play(&mut self, session: &mut Session<'_, '_>, launched: &Value) {
        if let Ok(mut flag) = self.pause.lock() {
            *flag = Arc::clone(&session.pause);
        }
        let stays = launched["stopAtEnd"] == json!(true);
        let mut shown = Shown::default();
        shown.stays = stays;
        let mut printed = 0;
        let no_debug = launched["noDebug"] == json!(true);
        let stop_on_entry = launched["stopOnEntry"] == json!(true);
        while let Some(request) = self.next() {
            let command = request["command"].as_str().unwrap_or_default().to_owned();
            let moved = match self.motion(session, &command, &request["arguments"]) {
                Some(motion) => motion,
                None => {
                    match command.as_str() {
                        "configurationDone" => {
                            self.out.respond(&request, Ok(Value::Null));
                            if no_debug {
                                session.breakpoints = crate::breakpoints::Breakpoints::default();
                            }
                            if stop_on_entry && !no_debug {
                                self.stopped(session, &Stop::Entry);
                            } else {
                                let stop = session.resume();
                                self.moved(session, &mut shown, &mut printed, &stop);
                            }
                        }
                        "disconnect" | "terminate" => {
                            self.out.respond(&request, Ok(Value::Null));
                            self.out.event("terminated", json!({}));
                            if command == "disconnect" {
                                return;
                            }
                        }
                        _ => {
                            let answer = self.answer(session, &mut shown, &command, &request["arguments"]);
                            self.out.respond(&request, answer);
                        }
                    }
                    continue;
                }
            };
            match moved {
                Err(why) => self.out.respond(&request, Err(why)),
                Ok(Motion::Restart) => {
                    let again = session.restart().map_err(|e| e.to_string());
                    let failed = again.is_err();
                    self.out.respond(&request, again.map(|_| Value::Null));
                    printed = 0;
                    shown.forget();
                    if !failed && stop_on_entry {
                        self.stopped(session, &Stop::Entry);
                    } else if !failed {
                        let stop = session.resume();
                        self.moved(session, &mut shown, &mut printed, &stop);
                    }
                }
                Ok(motion) => {
                    let body = if command == "continue" {
                        json!({ "allThreadsContinued": true })
                    } else {
                        Value::Null
                    };
                    self.out.respond(&request, Ok(body));
                    let stop = match motion {
                        Motion::Go(Direction::Forward) => session.resume(),
                        Motion::Go(Direction::Back) => session.go_back(),
                        Motion::Step(step, way) => session.step(step, way),
                        Motion::Restart => Stop::Entry,
                        Motion::Pause => Stop::Pause,
                    };
                    self.moved(session, &mut shown, &mut printed, &stop);
                }
            }
        }
    }

    /// What a request moves, if it moves something.
    fn motion(
        &self,
        s: &mut Session<'_, '_>,
        command: &str,
        arguments: &Value,
    ) -> Option<Result<Motion, String>> {
        let step = |step: Step, way: Direction| {
            let by = if arguments["granularity"] == "instruction" { Step::Instruction } else { step };
            Motion::Step(if step == Step::Out { step } else { by }, way)
        };
        let motion = match command {
            "continue" => Motion::Go(Direction::Forward),
            "reverseContinue" => Motion::Go(Direction::Back),
            "next" => step(Step::Over, Direction::Forward),
            "stepIn" => step(Step::In, Direction::Forward),
            "stepOut" => step(Step::Out, Direction::Forward),
            "stepBack" => step(Step::Over, Direction::Back),
            "restart" => Motion::Restart,
            "pause" => {
                s.pause.store(false, Ordering::Relaxed);
                Motion::Pause
            }
            _ => return None,
        };
        if matches!(motion, Motion::Step(..))
            && let Some(thread) = arguments["threadId"].as_u64()
        {
            let thread = thread.saturating_sub(1) as usize;
            let Some(t) = s.paused.threads().get(thread) else {
                return Some(Err(format!("the group has no thread {}", thread + 1)));
            };
            if thread != s.focus.thread {
                s.focus = crate::session::Focus { thread, lane: t.mask.trailing_zeros() % 32 };
            }
        }
        Some(Ok(motion))
    }

    /// Tells where it stands now.
    fn moved(&mut self, session: &mut Session<'_, '_>, shown: &mut Shown, printed: &mut usize, stop: &Stop) {
        shown.forget();
        for said in std::mem::take(&mut session.said) {
            self.out.output("console", &format!("{said}\n"));
        }
        let text = session.stage.printed();
        if let Some(new) = text.get(*printed..).filter(|t| !t.is_empty()) {
            self.out.output("stdout", new);
        }
        // Who went back sees it once.
        *printed = text.len().max(*printed);
        if *stop == Stop::End && !shown.stays {
            self.out.output("console", "all groups have ended\n");
            self.out.event("exited", json!({ "exitCode": 0 }));
            self.out.event("terminated", json!({}));
            return;
        }
        self.stopped(session, stop);
    }

    fn stopped(&mut self, session: &Session<'_, '_>, stop: &Stop) {
        self.exception = match stop {
            Stop::Exception(id, what) => Some((id, what.clone())),
            _ => None,
        };
        let thread = session.focus.thread + 1;
        let mut body = json!({ "threadId": thread, "allThreadsStopped": true });
        let (reason, text) = match stop {
            Stop::Entry | Stop::Beginning => ("entry", String::new()),
            Stop::Step => ("step", String::new()),
            Stop::Goto => ("goto", String::new()),
            Stop::Pause => ("pause", String::new()),
            Stop::End => ("pause", "all groups have ended: step back, or restart".to_owned()),
            Stop::Breakpoint(ids) => {
                body["hitBreakpointIds"] = json!(ids);
                let own = session.breakpoints.all.iter().find(|b| ids.first() == Some(&b.id));
                let reason = match own.map(|b| b.kind) {
                    Some(crate::breakpoints::Kind::Function) => "function breakpoint",
                    Some(crate::breakpoints::Kind::Instruction) => "instruction breakpoint",
                    _ => "breakpoint",
                };
                (reason, String::new())
            }
            Stop::Data(id, what) => {
                body["hitBreakpointIds"] = json!([id]);
                ("data breakpoint", what.clone())
            }
            Stop::Fault(fault) => ("exception", format!("{}: {}", fault.code, fault.message)),
            Stop::Exception(_, what) => ("exception", what.clone()),
        };
        body["reason"] = json!(reason);
        if *stop == Stop::Beginning {
            body["description"] = json!("Stopped at the beginning");
        }
        if !text.is_empty() {
            body["text"] = json!(text);
            self.out.output("important", &format!("{text}\n"));
        }
        self.out.event("stopped", body);
    }
}

/// What a request moves.
enum Motion {
    Go(Direction),
    Step(Step, Direction),
    Restart,
    Pause,
}
