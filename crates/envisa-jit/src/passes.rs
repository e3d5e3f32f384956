//! How long each pass of compiling takes.

use std::fmt;
use std::time::{Duration, Instant};

/// Passes that are over, and when the one under way began.
#[derive(Clone, Debug)]
pub(crate) struct Passes {
    since: Instant,
    all: Vec<(&'static str, Duration)>,
}

impl Passes {
    /// The first pass begins.
    pub fn begin() -> Passes {
        Passes { since: Instant::now(), all: Vec::with_capacity(16) }
    }

    /// A pass is over, and the next one begins. What was done under this name before is added to.
    pub fn over(&mut self, name: &'static str) {
        let now = Instant::now();
        let took = now.duration_since(self.since);
        self.since = now;
        match self.all.iter_mut().find(|p| p.0 == name) {
            Some(p) => p.1 += took,
            None => self.all.push((name, took)),
        }
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
