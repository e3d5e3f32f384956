//! How long each pass of compiling takes.

use std::fmt;
use std::time::Duration;
#[cfg(not(target_os = "linux"))]
use std::time::Instant;

/// What a program's native code is, and what it took to make it.
#[derive(Clone, Debug)]
pub struct Making {
    /// Instructions of the program, as it is optimised.
    pub instructions: usize,
    /// Bytes of code.
    pub bytes: usize,
    /// The passes over it, by name, and the thread's time in each.
    pub passes: Vec<(&'static str, Duration)>,
}

/// Passes that are over, and when the one under way began.
#[derive(Clone, Debug)]
pub(crate) struct Passes {
    since: Duration,
    all: Vec<(&'static str, Duration)>,
}

/// The time that this thread has had, which others on the machine do not lengthen.
#[cfg(target_os = "linux")]
fn now() -> Duration {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(t.tv_sec.try_into().unwrap_or(0), t.tv_nsec.try_into().unwrap_or(0))
}

#[cfg(not(target_os = "linux"))]
fn now() -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed()
}

impl Passes {
    /// The first pass begins.
    pub fn begin() -> Passes {
        Passes { since: now(), all: Vec::with_capacity(16) }
    }

    /// A pass is over, and the next one begins. What was done under this name before is added to.
    pub fn over(&mut self, name: &'static str) {
        let now = now();
        let took = now.saturating_sub(self.since);
        self.since = now;
        self.add(name, took);
    }

    fn add(&mut self, name: &'static str, took: Duration) {
        match self.all.iter_mut().find(|p| p.0 == name) {
            Some(p) => p.1 += took,
            None => self.all.push((name, took)),
        }
    }

    /// By name, in the order in which they came first.
    pub fn all(&self) -> &[(&'static str, Duration)] {
        &self.all
    }
}

impl fmt::Display for Passes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = |d: Duration| d.as_secs_f64() * 1e6;
        write!(f, "{:.1} us", us(self.all.iter().map(|p| p.1).sum()))?;
        self.all.iter().zip(0..).try_for_each(|((name, took), k)| {
            write!(f, "{}{name} {:.1}", if k == 0 { ": " } else { ", " }, us(*took))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_of_one_name_are_summed() {
        let mut p = Passes::begin();
        p.over("liveness");
        p.over("audit");
        p.over("liveness");
        p.all[0].1 = Duration::from_micros(3);
        p.all[1].1 = Duration::from_nanos(1500);
        assert_eq!(p.to_string(), "4.5 us: liveness 3.0, audit 1.5");
    }
}
