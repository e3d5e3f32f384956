//! Commands that the console of an editor and the terminal share.

use crate::c_expressions::parse;
use crate::session::{Focus, Session};

/// Runs a command, whose expressions are of a frame of the thread; `None`: it is none.
pub fn run(s: &mut Session<'_, '_>, text: &str, frame: usize) -> Option<Result<String, String>> {
    let (word, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    let rest = rest.trim();
    match word {
        "lane" => Some(select_lane(s, rest)),
        "thread" => Some(select_thread(s, rest)),
        "work-item" | "item" => Some(select_work_item(s, rest)),
        "origin" if !rest.is_empty() => {
            Some(s.origin(rest, frame).map(|o| format!("{}\n  `goto {}` goes there", o.text, o.clock)))
        }
        "goto" => Some(match rest.parse() {
            Ok(clock) => {
                s.run_to_clock(clock);
                Ok(format!("clock {}, {}", s.paused.clock(), describe_position(s)))
            }
            Err(_) => Err("`goto CLOCK`: the number of instructions since the launch began".into()),
        }),
        "lanes" => Some(lanes(s, rest, frame)),
        "fault" => Some(Ok(s.paused.trap().map_or("there is none".into(), |t| s.stage.fault(t).to_string()))),
        _ => None,
    }
}

/// Where it stands, in a line.
pub fn describe_position(s: &Session<'_, '_>) -> String {
    let [x, y, z] = s.paused.group().id;
    let frames = s.frames(s.focus.thread);
    let at = frames.first().map_or("nowhere".to_owned(), |f| {
        let line = f.line.or_else(|| s.lines.visa(f.pc));
        let name = line
            .and_then(|l| s.lines.files.get(l.file))
            .map_or("?", |f| f.name.rsplit('/').next().unwrap_or(&f.name));
        format!("{} at {name}:{}", f.function, line.map_or(0, |l| l.line))
    });
    format!(
        "{at}, group {x},{y},{z}, thread {}, lane {} ({})",
        s.focus.thread,
        s.focus.lane,
        s.lane_name(s.focus)
    )
}

fn select_lane(s: &mut Session<'_, '_>, text: &str) -> Result<String, String> {
    let lane: u32 = text.parse().map_err(|_| "`lane N`: the number of a lane".to_owned())?;
    let t = s.paused.threads().get(s.focus.thread).ok_or("there is no thread")?;
    if lane >= 32 || t.dispatch >> lane & 1 == 0 {
        return Err(format!("the thread has no lane {lane}"));
    }
    let active = t.mask >> lane & 1 != 0;
    s.focus.lane = lane;
    Ok(format!(
        "lane {lane} ({}){}",
        s.lane_name(s.focus),
        if active { "" } else { ", which is not active here" }
    ))
}

fn select_thread(s: &mut Session<'_, '_>, text: &str) -> Result<String, String> {
    let thread: usize =
        text.parse().map_err(|_| "`thread N`: the number of a thread of the group".to_owned())?;
    let t = s.paused.threads().get(thread).ok_or_else(|| format!("the group has no thread {thread}"))?;
    s.focus = Focus { thread, lane: t.mask.trailing_zeros() % 32 };
    Ok(describe_position(s))
}

/// Looks at a work-item of this group, by its global id.
fn select_work_item(s: &mut Session<'_, '_>, text: &str) -> Result<String, String> {
    let ids: Result<Vec<u64>, _> = text.split(',').map(|d| d.trim().parse()).collect();
    let mut wanted = [0; 3];
    match ids {
        Ok(ids) if (1..=3).contains(&ids.len()) => wanted.iter_mut().zip(ids).for_each(|(to, n)| *to = n),
        _ => return Err("`work-item X[,Y[,Z]]`: a global id".into()),
    }
    for (thread, t) in s.paused.threads().iter().enumerate() {
        for lane in (0..32).filter(|l| t.dispatch >> l & 1 != 0) {
            if s.item(thread, lane).is_some_and(|(global, _)| global == wanted) {
                s.focus = Focus { thread, lane };
                return Ok(describe_position(s));
            }
        }
    }
    let [x, y, z] = s.paused.group().id;
    Err(format!(
        "work-item {text} is not of group {x},{y},{z}, which runs now: break where `get_global_id(0) == {}`",
        wanted[0]
    ))
}

fn lanes(s: &Session<'_, '_>, text: &str, frame: usize) -> Result<String, String> {
    let t = s.paused.threads().get(s.focus.thread).ok_or("there is no thread")?;
    let frames = s.frames(s.focus.thread);
    let frame = frames.get(frame).ok_or("the thread has no such frame")?;
    let names: Vec<String> = if text.is_empty() {
        s.variables(frame).into_iter().map(|v| v.name).take(8).collect()
    } else {
        text.split(',').map(|e| e.trim().to_owned()).collect()
    };
    let parsed: Vec<_> = names.iter().map(|n| parse(n)).collect();
    let mut said = String::new();
    for lane in (0..32).filter(|l| t.dispatch >> l & 1 != 0) {
        let focus = Focus { lane, ..s.focus };
        let mark = if lane == s.focus.lane { '>' } else { ' ' };
        let idle = if t.mask >> lane & 1 != 0 { "" } else { " (inactive)" };
        said.push_str(&format!("{mark} {lane:2} {}{idle}:", s.lane_name(focus)));
        for (name, e) in names.iter().zip(&parsed) {
            let value = s.shown(e, focus, frame);
            said.push_str(&format!(" {name} = {value}"));
        }
        said.push('\n');
    }
    Ok(said.trim_end().to_owned())
}

/// Where a function's own code begins: behind what puts its parameters in their places.
///
/// # Errors
/// There is no such function, or no code of it.
pub fn entry(s: &Session<'_, '_>, name: &str) -> Result<u32, String> {
    let program = s.program();
    let functions = program.functions();
    let kernel = s.stage.kernel().name();
    let found = functions.iter().enumerate().find(|(i, f)| f.name == name || *i == 0 && kernel == name);
    let Some((_, f)) = found else {
        let names: Vec<&str> = functions.iter().map(|f| f.name.as_str()).collect();
        return Err(format!("no function of this launch is called `{name}`: there are {}", names.join(", ")));
    };
    let declared = s.symbols.functions.get(&f.name).map_or(0, |f| f.line);
    let lines = || (f.entry..f.end).filter(|pc| s.lines.begins(*pc));
    let behind = lines().find(|pc| s.lines.of(*pc).is_some_and(|l| l.line > declared));
    behind
        .or_else(|| lines().next())
        .or(Some(f.entry))
        .filter(|pc| *pc < f.end)
        .ok_or_else(|| format!("`{name}` has no code"))
}
