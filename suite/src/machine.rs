//! The machine that something was measured on, as the reports name it.

use serde::{Deserialize, Serialize};

/// What is known of this machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    /// Processors that this process may use.
    pub threads: usize,
    /// The instruction set that the interpreter's handlers use.
    pub level: String,
    /// System and architecture.
    pub system: String,
    /// Main memory, in bytes; 0 where it is not known.
    pub memory: u64,
    /// Runnable threads of the whole machine, averaged over a minute, when asked; negative where unknown.
    pub load: f64,
    /// The day, YYYY-MM-DD, in UTC.
    pub date: String,
    /// Version of envisa.
    pub envisa: String,
    /// Optimised build.
    pub optimised: bool,
}

impl Machine {
    /// This machine, now.
    pub fn here() -> Machine {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, key: &str| {
            text.lines()
                .find(|l| l.starts_with(key))
                .and_then(|l| l.split_once(':'))
                .map(|(_, v)| v.trim().to_owned())
        };
        let kilobytes = field(&read("/proc/meminfo"), "MemTotal")
            .and_then(|v| v.split_whitespace().next().and_then(|n| n.parse::<u64>().ok()));
        Machine {
            cpu: field(&read("/proc/cpuinfo"), "model name")
                .unwrap_or_else(|| "unknown processor".to_owned()),
            threads: std::thread::available_parallelism().map_or(1, |n| n.get()),
            level: envisa::host_level(),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            memory: kilobytes.unwrap_or(0) * 1024,
            load: load(),
            date: today(),
            envisa: env!("CARGO_PKG_VERSION").to_owned(),
            optimised: !cfg!(debug_assertions),
        }
    }

    /// As a sentence.
    pub fn describe(&self) -> String {
        format!(
            "{}, {} hardware threads, {:.0} GiB, {}; envisa {} ({}, handlers for {})",
            self.cpu,
            self.threads,
            self.memory as f64 / (1u64 << 30) as f64,
            self.system,
            self.envisa,
            if self.optimised { "release build" } else { "build without optimisation" },
            self.level
        )
    }
}

/// Today in UTC.
fn today() -> String {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    date(since.as_secs() / 86_400)
}

/// The date so many days after 1970-01-01.
fn date(days: u64) -> String {
    // The calendar repeats every 400 years, which have 146,097 days; years that begin in March end with the leap day.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + u64::from(month < 3))
}

/// Runnable threads of the machine, averaged over a minute; negative where the system does not tell.
pub fn load() -> f64 {
    std::fs::read_to_string("/proc/loadavg")
        .ok()
        .and_then(|s| s.split_whitespace().next()?.parse().ok())
        .unwrap_or(-1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_819), "2027-01-01");
        assert_eq!(date(20_818), "2026-12-31");
    }
}
