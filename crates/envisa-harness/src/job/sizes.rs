//! Platform and sizes of a job, in the terms of the library.

use super::{Job, JobError, Source};
use envisa::isa::Platform;
use envisa::zebin::DeviceFamily;
use envisa::{Error, Launch, Order, Source as Form};

impl Job {
    /// The platform that a zebin is for; options of hand-written code are out of place.
    pub(super) fn platform_of_zebin(&self, source: &Source, form: Form<'_>) -> Result<Platform, JobError> {
        for (given, option) in [
            (self.platform.is_some(), "platform"),
            (!self.groups.is_empty(), "groups"),
            (self.threads.is_some(), "threads"),
            (self.simd.is_some(), "simd"),
            (self.slm.is_some(), "slm"),
        ] {
            if given {
                return Err(JobError::Usage(format!(
                    "`{option}` is for hand-written code; a zebin states it"
                )));
            }
        }
        let here = |e: Error| JobError::Input(format!("{}: {e}", source.name));
        let Some(platform) = form.platform().map_err(here)? else {
            return Err(JobError::Input(format!("{}: is not a zebin", source.name)));
        };
        if let Some(device) = self.device.as_ref().filter(|_| !source.compiled_now) {
            let family: DeviceFamily = device.parse().map_err(|e| JobError::Usage(format!("{e}")))?;
            if family.platform() != platform {
                let name = DeviceFamily::of_platform(platform).map_or(platform.name(), DeviceFamily::name);
                return Err(JobError::Usage(format!("{} is for {name}, not {device}", source.name)));
            }
        }
        Ok(platform)
    }

    /// The platform that the job says; options of compiled kernels are out of place.
    pub(super) fn platform_by_hand(&self) -> Result<Platform, JobError> {
        let usage = |s: &str| Err(JobError::Usage(s.to_owned()));
        if !self.global.is_empty() || !self.local.is_empty() || !self.offset.is_empty() {
            return usage(
                "hand-written code has no work-items: give thread groups and threads (--groups, --threads) instead of --global, --local and --offset",
            );
        }
        if self.device.is_some() {
            return usage("hand-written code follows a platform's rules: --platform SKL, not --device");
        }
        let Some(platform) = &self.platform else {
            return usage("hand-written code needs the platform whose rules it follows: --platform SKL");
        };
        if self.simd.is_some_and(|n| !matches!(n, 1 | 8 | 16 | 32)) {
            return usage("a thread has 1, 8, 16 or 32 channels (--simd)");
        }
        envisa::platform(platform).map_err(|e| JobError::Usage(e.to_string()))
    }

    /// Sizes, and how it is run.
    pub(super) fn launch(&self, compiled: bool) -> Result<Launch, JobError> {
        if compiled && self.global.is_empty() {
            return Err(JobError::Usage("give the number of work-items: --global X[,Y[,Z]]".into()));
        }
        let mut launch = if compiled {
            let local: Vec<u64> = self.local.iter().map(|n| u64::from(*n)).collect();
            Launch::range(&self.global, &local).offset(&self.offset)
        } else {
            Launch::threads(&self.groups, self.threads.unwrap_or(1))
        };
        if let Some(bytes) = self.slm {
            launch = launch.local_memory(bytes);
        }
        let limit = if self.limit == 0 { u64::MAX } else { self.limit };
        let order = self.order.as_ref().map_or(Ok(Order::Forward), |o| o.parse()).map_err(JobError::Usage)?;
        Ok(launch
            .order(order)
            .limit(limit)
            .check(self.check || self.check_hints)
            .hints(self.check_hints)
            .footprint(self.footprint)
            .statistics(self.stats)
            .profile(self.profile)
            .trace(self.trace))
    }
}
