//! The clock of the benchmark: the wall's, or, where `ENVISA_BENCH_CLOCK=cpu`, the process's time on all CPUs, which
//! other programs on the machine disturb less. Peers' processes inherit the choice.

use std::sync::LazyLock;
use std::time::Instant;

use cpu_time::ProcessTime;

static CPU: LazyLock<bool> =
    LazyLock::new(|| std::env::var("ENVISA_BENCH_CLOCK").is_ok_and(|c| c.eq_ignore_ascii_case("cpu")));

/// When something began.
#[derive(Clone, Copy, Debug)]
pub enum Start {
    /// By the wall's clock.
    Wall(Instant),
    /// By the process's.
    Cpu(ProcessTime),
}

/// Now.
pub fn start() -> Start {
    if is_cpu() { Start::Cpu(ProcessTime::now()) } else { Start::Wall(Instant::now()) }
}

/// Is it processor time that counts?
pub fn is_cpu() -> bool {
    *CPU
}

impl Start {
    /// Seconds since.
    pub fn seconds(self) -> f64 {
        match self {
            Start::Wall(t) => t.elapsed().as_secs_f64(),
            Start::Cpu(t) => t.elapsed().as_secs_f64(),
        }
    }
}
