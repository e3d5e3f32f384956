//! Runs a launch, captures it if that is wanted, and reports what happened.

use std::sync::Arc;

use envisa::Footprint;

use crate::command_order::{self, Ranges};
use crate::device::{Kernel, KernelInfo, LaunchProblem, Machine, Report, Value};
use crate::device_properties::MAX_GROUP;
use crate::host_memory::Backing;

pub use crate::device::Launch;

/// Notes what a launch read and wrote; tells of what it read and nothing has written, unless its use was followed.
fn account_memory_use(
    launch: &Launch<'_>,
    Footprint { read, written, may_read, .. }: &Footprint,
    report: &Report,
) {
    // What came of bytes that nothing has written is told at its statement, once.
    let early = |data: &serde_json::Value| data["early"].as_u64().is_some_and(|n| n > 0);
    let told = report.findings.iter().any(|f| {
        let also = f.data["also"].as_array().into_iter().flatten();
        f.key.starts_with("F0006") || early(&f.data) || also.into_iter().any(early)
    });
    let (info, name) = (launch.info, &launch.info.name);
    command_order::name(|| format!("kernel `{name}`"));
    let mut own = Ranges::default();
    for range in written {
        command_order::note_access(range.clone(), true);
        own.add(range.clone());
    }
    report.followed.iter().for_each(|range| own.add(range.clone()));
    may_read.iter().for_each(|range| command_order::may_read(range.clone()));
    let buffers: Vec<(usize, &Arc<Backing>)> = launch
        .args
        .iter()
        .enumerate()
        .filter_map(|(i, v)| match v {
            Value::Memory(backing, ..) | Value::Shared(backing, _) => Some((i, backing)),
            Value::Image(image) => image.texels.backing().map(|b| (i, b)),
            _ => None,
        })
        .collect();
    for range in read {
        command_order::note_access(range.clone(), false);
        for (i, backing) in &buffers {
            let start = backing.address() as u64;
            let bytes = backing.region().len() as u64;
            let part = range.start.max(start)..range.end.min(start + bytes);
            if part.is_empty() {
                continue;
            }
            // What the launch writes itself it may have written before.
            let holes = backing.unwritten_parts(&part);
            if let Some(never) = holes.iter().find_map(|hole| own.first_gap(hole)).filter(|_| !told) {
                let (from, n) = (never.start - start, never.end - never.start);
                crate::report::report_host_mistake(
                    "content",
                    &format!(
                        "kernel `{name}` reads {n} bytes that nothing has written, from byte {from} on of {}",
                        info.argument(*i)
                    ),
                );
            }
        }
    }
    for range in written {
        for (_, backing) in &buffers {
            let start = backing.address() as u64;
            let end = start + backing.region().len() as u64;
            backing.wrote(range.start.max(start)..range.end.min(end));
        }
    }
}

impl Launch<'_> {
    /// Runs it, and tells what there is to tell: what the kernel printed, findings, a fault.
    ///
    /// # Errors
    /// As of [`Machine::launch`]; it was told, too. A fault is in the report.
    pub fn run(&self, machine: &Machine, kernel: &Kernel) -> Result<Report, LaunchProblem> {
        let (range, name) = (self.range, &self.info.name);
        let kept = crate::capture::begin(self);
        let launched = machine.launch(kernel, self);
        if let Some(kept) = kept {
            let wrong = launched.as_ref().is_ok_and(|r| r.fault.is_some() || !r.findings.is_empty());
            kept.end(wrong);
        }
        let report = launched.inspect_err(|e| {
            crate::log::print_warning(&format!("kernel `{name}` cannot be launched: {e}"));
        })?;
        if !report.printed.is_empty() {
            crate::process::print(&report.printed);
        }
        if crate::log::log_settings().launch {
            let [x, y, z] = range.global;
            let [u, v, w] = range.local;
            let ms = report.time.as_secs_f64() * 1e3;
            crate::log::line(&format!("envisa: {name} {x}x{y}x{z} in groups of {u}x{v}x{w}: {ms:.3} ms"));
        }
        crate::report::record_launch(name, report.work_items, report.time);
        for f in &report.findings {
            crate::report::report_finding(f);
        }
        match &report.footprint {
            Some(footprint) => account_memory_use(self, footprint, &report),
            None if crate::report::is_checking() => crate::guarded_host_memory::forget_all(),
            None => {}
        }
        if let Some(what) = &report.not_checked {
            crate::report::report_unchecked(&format!("kernel `{name}`: {what}"));
        }
        if let Some(fault) = &report.fault {
            crate::report::report_fault(fault);
        }
        Ok(report)
    }
}

/// Sizes of groups for a range, where the application gives none: those whose threads have the fewest idle channels, and of
/// these the largest.
pub fn suggest_group_size(info: &KernelInfo, dims: usize, global: [u64; 3]) -> [u32; 3] {
    if let Some(required) = info.required_group {
        return required.map(|n| n as u32);
    }
    least_idle(info.simd, dims, global)
}

/// The same for threads of so many channels.
fn least_idle(simd: u32, dims: usize, global: [u64; 3]) -> [u32; 3] {
    let (most, simd) = ((MAX_GROUP as u64).min(256), u64::from(simd.max(1)));
    let (mut local, mut items) = ([1u32; 3], 1);
    for d in 0..dims {
        // In 256ths, the share of channels that work.
        let busy = |n: &u64| 256 * items * n / (items * n).next_multiple_of(simd);
        let divisors = (1..=most / items).filter(|n| global[d].is_multiple_of(*n) && *n <= global[d]);
        let best = divisors.max_by_key(|n| (busy(n), *n)).unwrap_or(1);
        local[d] = best as u32;
        items *= best;
    }
    local
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggested_groups_leave_few_channels_idle() {
        assert_eq!(least_idle(32, 1, [1 << 20, 1, 1]), [256, 1, 1]);
        assert_eq!(least_idle(32, 2, [1920, 1080, 1]), [192, 1, 1], "240 of 256 channels would work");
        assert_eq!(least_idle(32, 2, [1200, 900, 1]), [240, 1, 1], "no divisor is a multiple of 32");
        assert_eq!(least_idle(16, 2, [1200, 900, 1]), [240, 1, 1]);
        assert_eq!(least_idle(16, 2, [10, 48, 1]), [10, 24, 1], "ten rows would leave none idle");
        assert_eq!(least_idle(32, 1, [97, 1, 1]), [97, 1, 1]);
        assert_eq!(least_idle(32, 3, [0, 5, 7]), [1, 5, 7]);
    }
}
