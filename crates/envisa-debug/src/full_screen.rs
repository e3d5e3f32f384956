//! The full-screen view of a terminal: source and vISA side by side, and the lanes of the thread below.

use crate::c_expressions::parse;
use crate::commands;
use crate::session::{Focus, Session};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use std::collections::VecDeque;
use std::io::{self, IsTerminal, Read, Write};
use unicode_width::UnicodeWidthChar;

/// Who has a session, and runs commands in it.
pub trait Host<'s, 'a: 's> {
    /// The session.
    fn session(&mut self) -> &mut Session<'s, 'a>;
    /// Runs a command; gives what it says, and whether it was the last.
    fn command(&mut self, line: &str) -> (String, bool);
}

/// What keys do.
const KEYS: [(&[u8], &str); 20] = [
    (b"n", "next"),
    (b"N", "reverse-next"),
    (b"s", "step"),
    (b"S", "reverse-step"),
    (b"f", "finish"),
    (b"F", "reverse-finish"),
    (b"i", "stepi"),
    (b"I", "reverse-stepi"),
    (b"c", "continue"),
    (b"C", "reverse-continue"),
    (b"r", "restart"),
    (b"\x1b[A", LANE_UP),
    (b"\x1b[B", LANE_DOWN),
    (b"k", LANE_UP),
    (b"j", LANE_DOWN),
    (b"\t", THREAD),
    (b":", PROMPT),
    (b"q", LEAVE),
    (b"\x1b", LEAVE),
    (b"\x04", LEAVE),
];
const LANE_UP: &str = "lane up";
const LANE_DOWN: &str = "lane down";
const THREAD: &str = "next thread";
const PROMPT: &str = ":";
const LEAVE: &str = "leave";

const HELP: &str = " n next  s step  f finish  i instruction  c continue; capitals go back  ↑↓ lane  Tab thread  : command  q leave";

/// The lines that a command's words have.
const SAID: usize = 4;

/// Columns of a variable in the table of lanes.
const COLUMN: usize = 14;

/// Shows it until somebody leaves; `false` if the session is to end.
///
/// # Errors
/// Without a terminal.
pub fn run<'s, 'a: 's>(host: &mut dyn Host<'s, 'a>) -> Result<bool, String> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err("the view needs a terminal".into());
    }
    let _screen = Screen::new().map_err(|e| format!("the terminal cannot be set up: {e}"))?;
    let mut said = String::new();
    let mut keys = Keys::default();
    loop {
        draw_rows(&screen_rows(host.session(), size(), &said)).map_err(|e| e.to_string())?;
        let Some(key) = keys.next() else { return Ok(true) };
        if let Some((_, what)) = KEYS.iter().find(|(bytes, _)| *bytes == key) {
            let line = match *what {
                LEAVE => return Ok(true),
                LANE_UP | LANE_DOWN => {
                    select_other_lane(host.session(), *what == LANE_DOWN);
                    continue;
                }
                THREAD => {
                    let s = host.session();
                    let next = (s.focus.thread + 1) % s.paused.threads().len().max(1);
                    format!("thread {next}")
                }
                PROMPT => match read_input_line(&mut keys) {
                    Some(line) => line,
                    None => continue,
                },
                command => command.to_owned(),
            };
            let (words, last) = host.command(&line);
            if last {
                return Ok(false);
            }
            said = words;
        }
    }
}

/// What was typed and is not yet taken.
#[derive(Default)]
struct Keys(VecDeque<u8>);

impl Keys {
    /// A byte, or `None` at the end.
    fn byte(&mut self) -> Option<u8> {
        while self.0.is_empty() {
            let mut bytes = [0; 64];
            match io::stdin().lock().read(&mut bytes) {
                Ok(n) if n > 0 => self.0.extend(&bytes[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                _ => return None,
            }
        }
        self.0.pop_front()
    }

    /// A key: what an arrow sends comes at once.
    fn next(&mut self) -> Option<Vec<u8>> {
        let mut key = vec![self.byte()?];
        if key[0] == 0x1b && self.0.front() == Some(&b'[') {
            key.extend(self.0.drain(..self.0.len().min(2)));
        }
        Some(key)
    }
}

fn select_other_lane(s: &mut Session<'_, '_>, down: bool) {
    let dispatch = s.paused.threads().get(s.focus.thread).map_or(0, |t| t.dispatch);
    let there = |l: &u32| dispatch >> l & 1 != 0;
    let lane = s.focus.lane;
    let other = if down { (lane + 1..32).find(there) } else { (0..lane).rev().find(there) };
    s.focus.lane = other.unwrap_or(lane);
}

/// The terminal while the view has it: another screen, without echo and lines.
struct Screen(Termios);

impl Screen {
    fn new() -> io::Result<Screen> {
        let before = tcgetattr(io::stdin())?;
        let mut now = before.clone();
        now.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        now.special_codes[SpecialCodeIndex::VMIN] = 1;
        now.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &now)?;
        print!("\x1b[?1049h\x1b[?25l");
        Ok(Screen(before))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        print!("\x1b[?25h\x1b[?1049l");
        let _ = io::stdout().flush();
        // It is gone where that fails.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Columns and rows.
fn size() -> (usize, usize) {
    match rustix::termios::tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col >= 40 && size.ws_row >= 12 => (size.ws_col.into(), size.ws_row.into()),
        _ => (80, 24),
    }
}

fn draw_rows(rows: &[String]) -> io::Result<()> {
    let mut text = String::from("\x1b[H");
    for (i, row) in rows.iter().enumerate() {
        text.push_str(row);
        text.push_str("\x1b[0m\x1b[K");
        if i + 1 < rows.len() {
            text.push_str("\r\n");
        }
    }
    text.push_str("\x1b[J");
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// A line that somebody types at the bottom; `None` if nothing.
fn read_input_line(keys: &mut Keys) -> Option<String> {
    let mut line = Vec::new();
    loop {
        let shown = clipped(&String::from_utf8_lossy(&line), size().0.saturating_sub(2));
        print!("\x1b[{};1H\x1b[0m:{shown}\x1b[K\x1b[?25h", size().1);
        let _ = io::stdout().flush();
        match keys.byte() {
            Some(b'\n' | b'\r') => break,
            Some(0x7f | 0x08) => drop(line.pop()),
            Some(b) if b >= b' ' => line.push(b),
            _ => {
                line.clear();
                break;
            }
        }
    }
    print!("\x1b[?25l");
    let line = String::from_utf8_lossy(&line).trim().to_owned();
    (!line.is_empty()).then_some(line)
}

/// A text without what steers terminals, in at most so many columns.
fn clipped(text: &str, columns: usize) -> String {
    let mut left = columns;
    let mut out = String::new();
    for c in text.chars() {
        let c = if c == '\t' { ' ' } else { c };
        let width = c.width().unwrap_or(0);
        if c.is_control() || width == 0 {
            continue;
        }
        if width > left {
            break;
        }
        left -= width;
        out.push(c);
    }
    out
}

/// The same, filled up.
fn pad_to_columns(text: &str, columns: usize) -> String {
    let text = clipped(text, columns);
    let width: usize = text.chars().filter_map(UnicodeWidthChar::width).sum();
    text + &" ".repeat(columns.saturating_sub(width))
}

/// What the screen shows, row by row.
pub fn screen_rows(s: &Session<'_, '_>, (columns, rows): (usize, usize), said: &str) -> Vec<String> {
    let lanes = lanes(s, columns);
    let below = lanes.len().min(rows / 2) + SAID + 1;
    let code = rows.saturating_sub(below + 2);
    let half = columns / 2;
    let mut all = Vec::new();
    let status = format!(" {} · clock {}", commands::describe_position(s), s.paused.clock());
    all.push(format!("\x1b[7m{}", pad_to_columns(&status, columns)));
    let (left, right) = (source(s, code), instructions(s, code));
    for row in 0..code {
        let mut text = String::new();
        for (side, width) in [(&left, half - 1), (&right, columns - half)] {
            let (here, line) = side.get(row).map_or((false, ""), |(here, line)| (*here, line.as_str()));
            let (on, off) = if here { ("\x1b[1;33m", "\x1b[0m") } else { ("", "") };
            text +=
                &format!("{on}{}{off}{}", pad_to_columns(line, width), if width < half { "│" } else { "" });
        }
        all.push(text);
    }
    all.extend(lanes.into_iter().take(rows / 2));
    let lines: Vec<&str> = said.trim_end().lines().collect();
    for i in 0..SAID {
        let line = lines.get(lines.len().saturating_sub(SAID) + i);
        all.push(format!("\x1b[2m{}", clipped(line.copied().unwrap_or(""), columns)));
    }
    all.push(format!("\x1b[7m{}", pad_to_columns(HELP, columns)));
    all
}

/// Lines around the current one; is it that?
fn source(s: &Session<'_, '_>, rows: usize) -> Vec<(bool, String)> {
    let frames = s.frames(s.focus.thread);
    let line = frames.first().and_then(|f| f.line.or_else(|| s.lines.visa(f.pc)));
    let text = line.and_then(|l| s.stage.kernel().files().get(s.lines.files.get(l.file)?.text?));
    let (Some(line), Some(text)) = (line, text) else {
        return vec![(false, "the source is not known".into())];
    };
    let first = line.line.saturating_sub(rows as u32 / 2).max(1);
    let last = text.line_count().min(first + rows as u32);
    (first..=last)
        .map(|n| {
            let mark = if n == line.line { '>' } else { ' ' };
            (n == line.line, format!("{mark}{n:4} {}", text.line_text(n).trim_end()))
        })
        .collect()
}

/// Instructions around the next one.
fn instructions(s: &Session<'_, '_>, rows: usize) -> Vec<(bool, String)> {
    let pc = s.frames(s.focus.thread).first().map_or(0, |f| f.pc);
    let first = pc.saturating_sub(rows as u32 / 3);
    let one = |at: u32| {
        let text = s.stage.written(at)?;
        let text = text.split("///").next().unwrap_or_default().trim().to_owned();
        let mark = if at == pc { '>' } else { ' ' };
        Some((at == pc, format!("{mark}{at:5} {text}")))
    };
    (first..first + rows as u32).filter_map(one).collect()
}

/// A table: variables in each lane.
fn lanes(s: &Session<'_, '_>, columns: usize) -> Vec<String> {
    let Some(t) = s.paused.threads().get(s.focus.thread) else { return Vec::new() };
    let frames = s.frames(s.focus.thread);
    let variables = frames.first().map(|f| s.variables(f)).unwrap_or_default();
    let room = columns.saturating_sub(22) / (COLUMN + 1);
    // The innermost were declared last.
    let names: Vec<&str> = variables.iter().rev().map(|v| v.name.as_str()).take(room).collect();
    let parsed: Vec<_> = names.iter().map(|n| parse(n)).collect();
    let head: String = names.iter().map(|n| format!(" {}", pad_to_columns(n, COLUMN))).collect();
    let mut all =
        vec![format!("\x1b[4m{}", pad_to_columns(&format!("{}{head}", pad_to_columns("lane", 22)), columns))];
    for lane in (0..32).filter(|l| t.dispatch >> l & 1 != 0) {
        let focus = Focus { lane, ..s.focus };
        let (here, active) = (s.focus == focus, t.mask >> lane & 1 != 0);
        let mark = if here { '>' } else { ' ' };
        let values: String = parsed
            .iter()
            .map(|e| frames.first().map_or(String::new(), |frame| s.shown(e, focus, frame)))
            .map(|value| format!(" {}", pad_to_columns(&value, COLUMN)))
            .collect();
        let style = match (here, active) {
            (true, _) => "\x1b[1;33m",
            (_, true) => "",
            (_, false) => "\x1b[2m",
        };
        let idle = if active { "" } else { " (inactive)" };
        let name = pad_to_columns(&format!("{mark}{lane:2} {}{idle}", s.lane_name(focus)), 22);
        all.push(format!("{style}{}", clipped(&format!("{name}{values}"), columns)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_their_width() {
        assert_eq!(pad_to_columns("ab\tc\x1b[2Jd", 6), "ab c[2");
        assert_eq!(pad_to_columns("漢字", 3), "漢 ");
        assert_eq!(pad_to_columns("x", 3), "x  ");
        assert_eq!(clipped("abcdef", 4), "abcd");
    }
}
