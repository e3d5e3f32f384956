//! One line on the terminal that says how far a long run is.

use envisa::Progress;
use std::io::{IsTerminal, Write};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Where the run says how far it is.
static PROGRESS: Progress = Progress::new();

/// A run shorter than this shows nothing.
const QUIET: Duration = Duration::from_millis(700);
const EVERY: Duration = Duration::from_millis(200);

/// Shows progress until it is dropped.
pub struct Line {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What a run reports to, if standard error is a terminal; it is shown as long as the line lives.
pub fn show_progress() -> (Option<&'static Progress>, Line) {
    if !std::io::stderr().is_terminal() {
        return (None, Line { stop: None, thread: None });
    }
    let (stop, stopped) = channel::<()>();
    let start = Instant::now();
    let thread = std::thread::spawn(move || {
        let mut wait = QUIET;
        let mut shown = false;
        while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(wait) {
            wait = EVERY;
            let (begun, total) =
                (PROGRESS.begun.load(Ordering::Relaxed), PROGRESS.total.load(Ordering::Relaxed));
            if total == 0 {
                continue;
            }
            shown = true;
            let line = line(begun.min(total), total, start.elapsed());
            // `\x1b[K` clears what a longer line left behind.
            let _ = write!(std::io::stderr(), "\r{line}\x1b[K");
        }
        if shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    });
    (Some(&PROGRESS), Line { stop: Some(stop), thread: Some(thread) })
}

fn line(begun: u64, total: u64, elapsed: Duration) -> String {
    let share = begun as f64 / total as f64;
    let seconds = elapsed.as_secs_f64();
    let left = if begun > 0 && begun < total {
        format!(", about {:.0} s left", seconds * (1.0 - share) / share)
    } else {
        String::new()
    };
    format!("running: {:.0} % of {total} groups, {seconds:.0} s{left}", 100.0 * share)
}

impl Drop for Line {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_how_far() {
        assert_eq!(
            line(25, 100, Duration::from_secs(10)),
            "running: 25 % of 100 groups, 10 s, about 30 s left"
        );
        assert_eq!(line(1, 1, Duration::from_secs(3)), "running: 100 % of 1 groups, 3 s");
    }
}
