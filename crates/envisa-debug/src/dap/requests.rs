//! Requests that look and set, and move nothing.

use super::Server;
use super::variables::{Referent, SCOPES, Shown};
use crate::breakpoints::{Kind, Watch, When};
use crate::c_expressions::parse;
use crate::commands;
use crate::finding_stops;
use crate::lane_view::Frame;
use crate::lines::Line;
use crate::session::{Focus, Session};
use envisa::machine::group::log::Place;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

type Answer = Result<Value, String>;

/// Frames of a thread have numbers from its own on.
const FRAMES: u64 = 4096;
/// Most bytes of memory, and instructions, that one answer has.
const MAX_MEMORY: u64 = 1 << 20;
const MAX_INSTRUCTIONS: i64 = 4096;
/// Most bytes of a file that is compared with sources.
const MAX_TEXT: u64 = 16 << 20;

impl<W: Write> Server<W> {
    /// The answer to a request.
    pub(super) fn answer(
        &mut self,
        s: &mut Session<'_, '_>,
        shown: &mut Shown,
        command: &str,
        a: &Value,
    ) -> Answer {
        match command {
            "setBreakpoints" => self.set_lines(s, a),
            "setFunctionBreakpoints" => set_functions(s, a),
            "setInstructionBreakpoints" => set_instructions(s, a),
            "setExceptionBreakpoints" => {
                let all = a["filters"].as_array().map_or(&[][..], |f| f);
                s.breakpoints.nan = all.iter().any(|f| f == "nan");
                let wanted = all.iter().filter_map(Value::as_str).flat_map(finding_stops::kinds_by_name);
                let checked = s.options().check.then(|| finding_stops::kinds_by_name("finding"));
                s.breakpoints.findings = wanted.chain(checked.into_iter().flatten()).collect();
                Ok(
                    json!({ "breakpoints": all.iter().map(|_| json!({ "verified": true })).collect::<Vec<_>>() }),
                )
            }
            "dataBreakpointInfo" => data_info(s, shown, a),
            "setDataBreakpoints" => set_data(s, a),
            "breakpointLocations" => self.locations(s, a),
            "threads" => Ok(json!({ "threads": list_threads(s) })),
            "stackTrace" => self.stack(s, a),
            "scopes" => list_scopes(s, shown, a),
            "variables" => {
                let number = a["variablesReference"].as_u64().unwrap_or(0);
                let behind = shown.get(number).cloned().ok_or("this number is no longer valid")?;
                let range = (a["start"].as_u64().unwrap_or(0), a["count"].as_u64().unwrap_or(0));
                let all = shown.variables(s, &behind, range)?;
                Ok(json!({ "variables": all }))
            }
            "evaluate" => self.evaluate(s, shown, a),
            "setVariable" => set_variable(s, shown, a),
            "setExpression" => {
                let (focus, frame) = of_frame(s, a);
                s.focus = focus;
                let text = |key: &str| a[key].as_str().unwrap_or_default().to_owned();
                let value = s.assign(&text("expression"), &text("value"), frame)?;
                Ok(assignment_response(s, &value))
            }
            "exceptionInfo" => self.exception(s),
            "source" => source(s, a),
            "loadedSources" => {
                let all: Vec<Value> = (0..s.lines.files.len()).map(|i| self.source_of(s, i)).collect();
                Ok(json!({ "sources": all }))
            }
            "readMemory" => read_memory(s, a),
            "writeMemory" => write_memory(s, a),
            "disassemble" => self.disassemble(s, a),
            "envisa/focus" => {
                let text = a["command"].as_str().unwrap_or_default();
                let said =
                    commands::run(s, text, 0).unwrap_or_else(|| Err(format!("`{text}` is not a focus")))?;
                shown.forget();
                self.out.event("invalidated", json!({ "areas": ["variables", "stacks"] }));
                Ok(json!({ "text": said, "thread": s.focus.thread, "lane": s.focus.lane }))
            }
            "envisa/lanes" => lanes(s, a),
            other => Err(format!("`{other}` is not known")),
        }
    }

    fn source_of(&self, s: &Session<'_, '_>, file: usize) -> Value {
        let f = &s.lines.files[file];
        let name = f.name.rsplit('/').next().unwrap_or(&f.name);
        let path = Path::new(&f.name);
        let real = std::path::absolute(path).ok().filter(|p| !f.visa && f.text.is_some() && p.is_file());
        let real = real.or_else(|| {
            (!s.lines.compiled).then(|| std::path::absolute(path).ok()).flatten().filter(|p| p.is_file())
        });
        let opened = self.opened.get(&file);
        let name = opened.and_then(|path| path.file_name()?.to_str()).unwrap_or(name);
        match opened.cloned().or(real) {
            Some(path) if self.paths => json!({ "name": name, "path": path }),
            _ => json!({ "name": name, "sourceReference": file + 1 }),
        }
    }

    fn file_of(&mut self, s: &Session<'_, '_>, source: &Value) -> Result<usize, String> {
        if let Some(n) = source["sourceReference"].as_u64().filter(|n| *n > 0) {
            return Ok(n as usize - 1).and_then(|i| {
                (i < s.lines.files.len()).then_some(i).ok_or_else(|| "there is no such source".to_owned())
            });
        }
        let path = source["path"].as_str().or(source["name"].as_str()).unwrap_or_default();
        if let Some(file) = s.lines.file(path) {
            return Ok(file);
        }
        let file =
            of_text(s, Path::new(path)).ok_or_else(|| format!("nothing here was compiled from {path}"))?;
        self.opened.insert(file, path.into());
        Ok(file)
    }

    fn set_lines(&mut self, s: &mut Session<'_, '_>, a: &Value) -> Answer {
        let wanted = a["breakpoints"].as_array().cloned().unwrap_or_default();
        let file = self.file_of(s, &a["source"]);
        if let Ok(file) = file {
            let prefix = format!("{file}:");
            s.breakpoints.all.retain(|b| b.kind != Kind::Line || !b.name.starts_with(&prefix));
        }
        let mut all = Vec::new();
        for b in &wanted {
            let made = file.clone().and_then(|file| {
                let line = (b["line"].as_u64().unwrap_or(0) as u32 + 1).saturating_sub(self.base);
                let when = parse_breakpoint_condition(b)?;
                let (found, starts) = s
                    .lines
                    .starts(file, line)
                    .ok_or_else(|| format!("no code belongs to line {line} or a later one"))?;
                Ok((file, found, starts, when))
            });
            all.push(match made {
                Ok((file, line, starts, when)) => {
                    let id = s.breakpoints.add(Kind::Line, starts, when, format!("{file}:{line}"));
                    let source = self.source_of(s, file);
                    json!({ "id": id, "verified": true, "line": line + self.base - 1, "source": source })
                }
                Err(why) => json!({ "verified": false, "message": why }),
            });
        }
        Ok(json!({ "breakpoints": all }))
    }

    fn locations(&mut self, s: &Session<'_, '_>, a: &Value) -> Answer {
        let file = self.file_of(s, &a["source"])?;
        let line = |key: &str| (a[key].as_u64().unwrap_or(0) as u32 + 1).saturating_sub(self.base);
        let (first, last) = (line("line"), line("line").max(line("endLine")));
        let mut all = Vec::new();
        let mut at = first;
        while let Some((found, _)) = s.lines.starts(file, at).filter(|(l, _)| *l <= last) {
            all.push(json!({ "line": found + self.base - 1 }));
            at = found + 1;
        }
        Ok(json!({ "breakpoints": all }))
    }

    fn stack(&self, s: &Session<'_, '_>, a: &Value) -> Answer {
        let thread = (a["threadId"].as_u64().unwrap_or(1) as usize).saturating_sub(1);
        if thread >= s.paused.threads().len() {
            return Err(format!("the group has no thread {}", thread + 1));
        }
        let frames = s.frames(thread);
        let from = a["startFrame"].as_u64().unwrap_or(0) as usize;
        let levels = a["levels"].as_u64().filter(|n| *n > 0).unwrap_or(u64::MAX) as usize;
        let one = |(i, f): (usize, &Frame)| {
            let mut frame = json!({
                "id": thread as u64 * FRAMES + i as u64 + 1,
                "name": if f.inlined { format!("{} (inlined)", f.function) } else { f.function.clone() },
                "line": 0, "column": 0,
                "instructionPointerReference": format!("{:#x}", f.pc),
            });
            let line = f.line.or_else(|| s.lines.visa(f.pc));
            if let Some(Line { file, line }) = line {
                frame["source"] = self.source_of(s, file);
                frame["line"] = json!(line + self.base - 1);
                frame["column"] = json!(self.columns);
            }
            frame
        };
        let all: Vec<Value> = frames.iter().enumerate().skip(from).take(levels).map(one).collect();
        Ok(json!({ "stackFrames": all, "totalFrames": frames.len() }))
    }

    fn evaluate(&mut self, s: &mut Session<'_, '_>, shown: &mut Shown, a: &Value) -> Answer {
        let text = a["expression"].as_str().unwrap_or_default().trim().to_owned();
        if a["context"] == "repl"
            && let Some(said) = commands::run(s, &text, of_frame(s, a).1)
        {
            let said = said?;
            shown.forget();
            self.out.event("invalidated", json!({ "areas": ["variables", "stacks"] }));
            return Ok(json!({ "result": said, "variablesReference": 0 }));
        }
        let (focus, frame) = of_frame(s, a);
        let value = s.evaluate(&text, focus, frame)?;
        let v = shown.variable(s, &text, &text, &value);
        let mut answer =
            json!({ "result": v["value"], "type": v["type"], "variablesReference": v["variablesReference"] });
        for key in ["memoryReference", "namedVariables", "indexedVariables"] {
            if !v[key].is_null() {
                answer[key] = v[key].clone();
            }
        }
        Ok(answer)
    }

    fn exception(&self, s: &Session<'_, '_>) -> Answer {
        let (code, what) = match (&self.exception, s.paused.trap()) {
            (Some((id, what)), _) => ((*id).to_owned(), what.clone()),
            (None, Some(trap)) => {
                let fault = s.stage.fault(trap);
                (fault.code.to_string(), fault.message)
            }
            (None, None) => return Err("it did not stop at an exception".into()),
        };
        Ok(json!({ "exceptionId": code, "description": what, "breakMode": "always",
            "details": { "message": what, "typeName": code } }))
    }

    fn disassemble(&self, s: &Session<'_, '_>, a: &Value) -> Answer {
        let start = address(&a["memoryReference"])? as i64;
        let start = start + a["offset"].as_i64().unwrap_or(0) + a["instructionOffset"].as_i64().unwrap_or(0);
        let count = a["instructionCount"].as_i64().unwrap_or(0).clamp(0, MAX_INSTRUCTIONS);
        let mut last = None;
        let mut all = Vec::new();
        for pc in start..start.saturating_add(count) {
            let known = u32::try_from(pc).ok().and_then(|pc| Some((pc, s.stage.written(pc)?)));
            let Some((pc, written)) = known else {
                all.push(json!({ "address": format!("{:#x}", pc.max(0)), "instruction": "--", "presentationHint": "invalid" }));
                continue;
            };
            let written = written.split("///").next().unwrap_or_default().trim().to_owned();
            let mut one = json!({ "address": format!("{pc:#x}"), "instruction": written });
            let line = s.lines.of(pc);
            if let Some(Line { file, line: at }) = line.filter(|_| line != last) {
                one["location"] = self.source_of(s, file);
                one["line"] = json!(at + self.base - 1);
            }
            last = line;
            all.push(one);
        }
        Ok(json!({ "instructions": all }))
    }
}

/// The source that has the text of a file: texts that programs hand over have no path.
fn of_text(s: &Session<'_, '_>, path: &Path) -> Option<usize> {
    let about = path.metadata().ok()?;
    if !about.is_file() || about.len() > MAX_TEXT {
        return None;
    }
    let wanted = std::fs::read(path).ok()?;
    let texts = s.stage.kernel().files();
    let text = |id| texts.get(id).map(|f| f.bytes().trim_ascii_end());
    s.lines.files.iter().position(|f| !f.visa && f.text.and_then(text) == Some(wanted.trim_ascii_end()))
}

fn parse_breakpoint_condition(b: &Value) -> Result<When, String> {
    let text = |key: &str| b[key].as_str().unwrap_or_default();
    When::of(text("condition"), text("hitCondition"), text("logMessage"))
}

fn set_functions(s: &mut Session<'_, '_>, a: &Value) -> Answer {
    s.breakpoints.all.retain(|b| b.kind != Kind::Function);
    let mut all = Vec::new();
    for b in a["breakpoints"].as_array().cloned().unwrap_or_default() {
        let name = b["name"].as_str().unwrap_or_default().to_owned();
        let made = parse_breakpoint_condition(&b).and_then(|when| Ok((commands::entry(s, &name)?, when)));
        all.push(match made {
            Ok((pc, when)) => {
                json!({ "id": s.breakpoints.add(Kind::Function, vec![pc], when, name), "verified": true })
            }
            Err(why) => json!({ "verified": false, "message": why }),
        });
    }
    Ok(json!({ "breakpoints": all }))
}

fn set_instructions(s: &mut Session<'_, '_>, a: &Value) -> Answer {
    s.breakpoints.all.retain(|b| b.kind != Kind::Instruction);
    let mut all = Vec::new();
    for b in a["breakpoints"].as_array().cloned().unwrap_or_default() {
        let made = parse_breakpoint_condition(&b).and_then(|when| {
            let at = address(&b["instructionReference"])? as i64 + b["offset"].as_i64().unwrap_or(0);
            let pc = u32::try_from(at).ok().filter(|pc| (*pc as usize) < s.program().code().len());
            Ok((pc.ok_or_else(|| format!("there is no instruction {at:#x}"))?, when))
        });
        all.push(match made {
            Ok((pc, when)) => {
                let id = s.breakpoints.add(Kind::Instruction, vec![pc], when, format!("instruction {pc:#x}"));
                json!({ "id": id, "verified": true, "instructionReference": format!("{pc:#x}") })
            }
            Err(why) => json!({ "verified": false, "message": why }),
        });
    }
    Ok(json!({ "breakpoints": all }))
}

fn address(reference: &Value) -> Result<u64, String> {
    let text = reference.as_str().unwrap_or_default();
    let hex = text.strip_prefix("0x").map(|h| u64::from_str_radix(h, 16));
    hex.unwrap_or_else(|| text.parse()).map_err(|_| format!("`{text}` is not an address"))
}

fn list_threads(s: &Session<'_, '_>) -> Vec<Value> {
    let [x, y, z] = s.paused.group().id;
    let one = |i: usize| {
        let t = &s.paused.threads()[i];
        let lanes = (0..32).filter(|l| t.dispatch >> l & 1 != 0);
        let names = lanes.map(|lane| s.lane_name(Focus { thread: i, lane }));
        let names: Vec<String> = names.collect();
        let items = match (names.first(), names.last()) {
            (Some(a), Some(b)) if a != b && a.starts_with("work-item") => {
                format!(
                    ": {} .. {}",
                    a.replace("work-item", "work-items"),
                    b.trim_start_matches("work-item ")
                )
            }
            (Some(a), _) if a.starts_with("work-item") => format!(": {a}"),
            _ => String::new(),
        };
        json!({ "id": i + 1, "name": format!("group {x},{y},{z} thread {i}{items}") })
    };
    (0..s.paused.threads().len()).map(one).collect()
}

/// The lane and the frame that a request is of.
fn of_frame(s: &Session<'_, '_>, a: &Value) -> (Focus, usize) {
    let Some(id) = a["frameId"].as_u64().filter(|n| *n > 0) else { return (s.focus, 0) };
    let (thread, frame) = ((id - 1) / FRAMES, (id - 1) % FRAMES);
    (lane_of(s, thread as usize), frame as usize)
}

/// The lane that is looked at in a thread.
fn lane_of(s: &Session<'_, '_>, thread: usize) -> Focus {
    if thread == s.focus.thread {
        return s.focus;
    }
    let mask = s.paused.threads().get(thread).map_or(1, |t| t.mask);
    Focus { thread, lane: mask.trailing_zeros() % 32 }
}

fn list_scopes(s: &Session<'_, '_>, shown: &mut Shown, a: &Value) -> Answer {
    let (focus, frame) = of_frame(s, a);
    let all: Vec<Value> = SCOPES
        .iter()
        .map(|(scope, name, expensive)| {
            let named = if *name == "Variables" {
                format!("Variables of {}", s.lane_name(focus))
            } else {
                (*name).to_owned()
            };
            let number = shown.number(Referent::Scope(*scope, focus, frame));
            json!({ "name": named, "variablesReference": number, "expensive": expensive })
        })
        .collect();
    Ok(json!({ "scopes": all }))
}

fn set_variable(s: &mut Session<'_, '_>, shown: &Shown, a: &Value) -> Answer {
    let name = a["name"].as_str().unwrap_or_default();
    let behind = shown.get(a["variablesReference"].as_u64().unwrap_or(0));
    let (path, frame) = match behind.ok_or("this number is no longer valid")? {
        Referent::Scope(_, focus, frame) => {
            s.focus = *focus;
            (name.to_owned(), *frame)
        }
        Referent::Parts(_, path) if name.starts_with('[') => (format!("{path}{name}"), 0),
        Referent::Parts(_, path) => (format!("{path}.{name}"), 0),
        Referent::Pointed(_, path) => (format!("*({path})"), 0),
        Referent::Registers(_, focus, frame) => {
            s.focus = *focus;
            (name.to_owned(), *frame)
        }
        Referent::Lanes(..) | Referent::Buffer(..) => {
            return Err("set it in the selected lane: `lane N` in the console changes that".into());
        }
    };
    let value = s.assign(&path, a["value"].as_str().unwrap_or_default(), frame)?;
    Ok(assignment_response(s, &value))
}

fn assignment_response(s: &Session<'_, '_>, value: &crate::eval::Value) -> Value {
    let types = s.types.borrow();
    json!({ "value": types.show(value.ty, &value.bytes), "type": types.name(value.ty), "variablesReference": 0 })
}

fn source(s: &Session<'_, '_>, a: &Value) -> Answer {
    let number = a["source"]["sourceReference"].as_u64().or(a["sourceReference"].as_u64()).unwrap_or(0);
    let file = (number as usize).checked_sub(1).and_then(|i| s.lines.files.get(i));
    let text = file.and_then(|f| s.stage.kernel().files().get(f.text?));
    let text = text.ok_or("the text of that source was not given")?;
    Ok(json!({ "content": String::from_utf8_lossy(text.bytes()) }))
}

/// Where a name of a data breakpoint is: `flat:ADDRESS:BYTES:NAME`.
fn data_info(s: &Session<'_, '_>, shown: &Shown, a: &Value) -> Answer {
    let name = a["name"].as_str().unwrap_or_default();
    let path = match a["variablesReference"].as_u64().and_then(|n| shown.get(n)) {
        Some(Referent::Parts(_, path)) if name.starts_with('[') => format!("{path}{name}"),
        Some(Referent::Parts(_, path)) => format!("{path}.{name}"),
        Some(Referent::Buffer(address, bytes, ty)) => {
            let size = s.types.borrow().bytes(*ty).max(1);
            let i = name.trim_matches(['[', ']']).parse::<u64>().ok().filter(|i| *i < bytes / size);
            let i = i.ok_or("the buffer has no such element")?;
            return Ok(data_breakpoint_info(Place::Flat(address + i * size), size, s.focus.thread, name));
        }
        _ => name.to_owned(),
    };
    let (focus, frame) = of_frame(s, a);
    match s.evaluate(&path, focus, frame) {
        Ok(value) => match value.place {
            Some(place) => Ok(data_breakpoint_info(place, value.bytes.len() as u64, focus.thread, &path)),
            None => Ok(json!({ "dataId": null, "description": format!("`{path}` is in no memory") })),
        },
        Err(why) => Ok(json!({ "dataId": null, "description": why })),
    }
}

fn data_breakpoint_info(place: Place, bytes: u64, thread: usize, name: &str) -> Value {
    let (kind, at) = place.kind_and_offset();
    json!({ "dataId": format!("{kind}:{at}:{bytes}:{thread}:{name}"), "description": name,
        "accessTypes": ["read", "write", "readWrite"], "canPersist": false })
}

fn set_data(s: &mut Session<'_, '_>, a: &Value) -> Answer {
    s.breakpoints.watched.clear();
    let mut all = Vec::new();
    for b in a["breakpoints"].as_array().cloned().unwrap_or_default() {
        let made = new_data_breakpoint(&b, s.paused.clock());
        all.push(match made {
            Ok(watch) => json!({ "id": s.breakpoints.watch(watch), "verified": true }),
            Err(why) => json!({ "verified": false, "message": why }),
        });
    }
    Ok(json!({ "breakpoints": all }))
}

/// A data breakpoint that is set now.
fn new_data_breakpoint(b: &Value, now: u64) -> Result<Watch, String> {
    let text = b["dataId"].as_str().unwrap_or_default();
    let parts: Vec<&str> = text.splitn(5, ':').collect();
    let number = |i: usize| parts.get(i).and_then(|p| p.parse::<u64>().ok());
    let (Some(kind), Some(at), Some(bytes), Some(thread)) = (number(0), number(1), number(2), number(3))
    else {
        return Err(format!("`{text}` names no data"));
    };
    let place = match kind {
        0 => Place::Register(at as u32),
        1 => Place::Flat(at),
        2 => Place::Local(at),
        _ => Place::Window(at),
    };
    let access = b["accessType"].as_str().unwrap_or("write");
    let name = parts.get(4).unwrap_or(&"").to_string();
    let (thread, reads, writes) = (thread as usize, access != "write", access != "read");
    Ok(Watch { thread, reads, writes, ..Watch::new(name, place, bytes, parse_breakpoint_condition(b)?, now) })
}

fn read_memory(s: &Session<'_, '_>, a: &Value) -> Answer {
    let at = address(&a["memoryReference"])?.wrapping_add_signed(a["offset"].as_i64().unwrap_or(0));
    let count = a["count"].as_u64().unwrap_or(0).min(MAX_MEMORY);
    let mut bytes = Vec::new();
    // As much as there is.
    let mut step = count;
    while step > 0 {
        let from = s.pointed(at.wrapping_add(bytes.len() as u64));
        match s.read(from, step) {
            Ok(more) if bytes.len() as u64 + step <= count => bytes.extend(more),
            _ => step /= 2,
        }
        if bytes.len() as u64 == count {
            break;
        }
    }
    let missing = count - bytes.len() as u64;
    Ok(json!({ "address": format!("{at:#x}"), "data": encode_base64(&bytes), "unreadableBytes": missing }))
}

fn write_memory(s: &mut Session<'_, '_>, a: &Value) -> Answer {
    let at = address(&a["memoryReference"])?.wrapping_add_signed(a["offset"].as_i64().unwrap_or(0));
    let bytes = decode_base64(a["data"].as_str().unwrap_or_default()).ok_or("the data are not base64")?;
    let place = s.pointed(at);
    s.change(place, &bytes)?;
    Ok(json!({ "bytesWritten": bytes.len() }))
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn encode_base64(bytes: &[u8]) -> String {
    let one =
        |chunk: &[u8]| {
            let word = (0..3).fold(0u32, |w, i| w << 8 | u32::from(chunk.get(i).copied().unwrap_or(0)));
            (0..4)
                .map(move |i| {
                    if i <= chunk.len() { DIGITS[(word >> (18 - 6 * i) & 63) as usize] as char } else { '=' }
                })
                .collect::<Vec<_>>()
        };
    bytes.chunks(3).flat_map(one).collect()
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').bytes().map(|c| DIGITS.iter().position(|d| *d == c));
    let digits: Vec<u32> = digits.map(|d| d.map(|d| d as u32)).collect::<Option<_>>()?;
    let mut bytes = Vec::new();
    for chunk in digits.chunks(4) {
        let word = (0..4).fold(0u32, |w, i| w << 6 | chunk.get(i).copied().unwrap_or(0));
        bytes.extend(&word.to_be_bytes()[1..chunk.len().max(1)]);
    }
    Some(bytes)
}

/// The lanes of a thread beside each other, with values of expressions.
fn lanes(s: &Session<'_, '_>, a: &Value) -> Answer {
    let thread = a["thread"].as_u64().map_or(s.focus.thread, |t| t as usize);
    let t = s.paused.threads().get(thread).ok_or("the group has no such thread")?;
    let frames = s.frames(thread);
    let given: Vec<String> = a["expressions"]
        .as_array()
        .map_or(Vec::new(), |all| all.iter().filter_map(|e| e.as_str().map(str::to_owned)).collect());
    let expressions = match (given.is_empty(), frames.first()) {
        (true, Some(frame)) => s.variables(frame).into_iter().map(|v| v.name).take(16).collect(),
        _ => given,
    };
    let parsed: Vec<_> = expressions.iter().map(|e| parse(e)).collect();
    let one = |lane: u32| {
        let focus = Focus { thread, lane };
        let shown = |e| frames.first().map_or("?".to_owned(), |frame| s.shown(e, focus, frame));
        let values: Vec<String> = parsed.iter().map(shown).collect();
        json!({ "lane": lane, "name": s.lane_name(focus), "active": t.mask >> lane & 1 != 0,
            "focused": s.focus == focus, "values": values })
    };
    let all: Vec<Value> = (0..32).filter(|l| t.dispatch >> l & 1 != 0).map(one).collect();
    Ok(json!({ "expressions": expressions, "lanes": all, "thread": thread }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_as_base64() {
        for n in 0..10u8 {
            let bytes: Vec<u8> = (0..n).map(|i| i.wrapping_mul(77)).collect();
            assert_eq!(decode_base64(&encode_base64(&bytes)), Some(bytes));
        }
        assert_eq!(encode_base64(b"Man"), "TWFu");
        assert_eq!(encode_base64(b"M"), "TQ==");
        assert_eq!(decode_base64("!"), None);
    }
}
