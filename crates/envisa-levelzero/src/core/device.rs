//! The driver and its devices.

use std::sync::{Arc, OnceLock};

use envisa_runtime::device::Machine;
use envisa_runtime::device_properties::{Spec, devices_of_environment, memory_size};
use envisa_runtime::report;

use super::handle::{self, Handle};
use super::memory::Context;

/// The driver: there is one.
pub struct Driver {
    /// Its devices, the default one first.
    pub devices: Vec<(Handle, Arc<Device>)>,
    /// The context that is always there.
    pub context: Arc<Context>,
}

/// A device.
pub struct Device {
    /// What it is.
    pub spec: &'static Spec,
    /// Bytes of memory it reports.
    pub memory: u64,
    /// What runs its kernels.
    pub machine: Machine,
}

impl Device {
    /// What tells it from others: the same as the other doors give.
    pub fn uuid(&self) -> [u8; 16] {
        let mut uuid = driver_uuid();
        uuid[8..12].copy_from_slice(&self.spec.pci.to_le_bytes());
        uuid
    }

    /// Where it is, by domain, bus, device and function: as integrated GPUs, each on a bus of its own.
    pub fn place(self: &Arc<Self>) -> [u32; 4] {
        let bus = driver().1.devices.iter().position(|(_, d)| Arc::ptr_eq(d, self)).unwrap_or(0);
        [0, bus as u32, 2, 0]
    }

    /// Its handle.
    pub fn handle(self: &Arc<Self>) -> Handle {
        let (_, driver) = driver();
        driver.devices.iter().find(|(_, d)| Arc::ptr_eq(d, self)).map_or(0, |(h, _)| *h)
    }
}

/// What tells the driver from others.
pub fn driver_uuid() -> [u8; 16] {
    let mut uuid = [0; 16];
    uuid[..6].copy_from_slice(b"envisa");
    uuid
}

/// The driver with its handle; made when it is first asked for.
pub fn driver() -> (Handle, &'static Driver) {
    static DRIVER: OnceLock<(Handle, Arc<Driver>)> = OnceLock::new();
    let (handle, driver) = DRIVER.get_or_init(|| {
        report::report_unreleased_at_exit(super::unreleased_objects);
        let memory = memory_size();
        let make = |spec| {
            let device =
                Arc::new(Device { spec, memory, machine: Machine::new(spec, memory).share_variables() });
            (handle::publish(&device), device)
        };
        let devices = devices_of_environment().into_iter().map(make).collect();
        let driver = Arc::new(Driver { devices, context: Context::new() });
        (handle::publish(&driver), driver)
    });
    (*handle, driver)
}
