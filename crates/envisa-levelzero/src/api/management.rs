//! What clients ask system management for: the devices, where they are, and how much of their memory is free. Devices and the
//! driver have the same handles there.

use std::sync::{Arc, OnceLock};

use super::device::fill_properties;
use super::driver::{DRIVER_VERSION_TEXT, driver_of, there_is};
use super::entries;
use crate::abi::{ManagedDeviceProperties, ManagedPciProperties, MemoryModuleProperties, MemoryState, text};
use crate::core::device::{Device, driver};
use crate::core::error::{Error, Result};
use crate::core::handle::{self, Handle};
use crate::core::memory::bytes_of_device;

/// `ZES_MEM_TYPE_DDR`, and that it is the system's (`ZES_MEM_LOC_SYSTEM`).
const DDR: u32 = 1;
const OF_SYSTEM: u32 = 0;
/// `ZES_MEM_HEALTH_OK`
const HEALTHY: u32 = 1;
const UNKNOWN: &str = "unknown";

/// The memory of a device: it has one module.
struct MemoryModule {
    device: Arc<Device>,
}

/// The memory modules, in the order of the devices.
fn modules() -> &'static [Handle] {
    static ALL: OnceLock<Vec<Handle>> = OnceLock::new();
    ALL.get_or_init(|| {
        let devices = driver().1.devices.iter();
        devices.map(|(_, d)| handle::publish(&Arc::new(MemoryModule { device: d.clone() }))).collect()
    })
}

fn module_of(device: &Arc<Device>) -> Result<Handle> {
    let place = driver().1.devices.iter().position(|(_, d)| Arc::ptr_eq(d, device));
    place.and_then(|i| modules().get(i).copied()).ok_or(Error::INVALID_ARGUMENT)
}

entries! {
    fn zesInit(_c, flags: u32) {
        if flags != 0 {
            return Err(Error::INVALID_ENUMERATION);
        }
        there_is(true).map(drop)
    }

    fn zesDriverGet(c, count: *mut u32, drivers: *mut Handle) {
        let (handle, _) = there_is(true)?;
        c.list(count, drivers, 1, |_, to| *to = handle)
    }

    fn zesDeviceGet(c, driver: Handle, count: *mut u32, devices: *mut Handle) {
        let driver = driver_of(driver)?;
        c.list(count, devices, driver.devices.len(), |i, to| *to = driver.devices[i].0)
    }

    fn zesDeviceGetProperties(c, device: Handle, properties: *mut ManagedDeviceProperties) {
        let device = handle::get::<Device>(device)?;
        c.change(properties, |p| {
            fill_properties(&mut p.core, &device);
            p.subdevices = 0;
            (p.serial, p.board, p.brand) = (text(UNKNOWN), text(UNKNOWN), text(UNKNOWN));
            p.model = text(device.spec.title);
            p.vendor = text("Intel(R) Corporation");
            p.driver = text(DRIVER_VERSION_TEXT);
        })
    }

    fn zesDevicePciGetProperties(c, device: Handle, properties: *mut ManagedPciProperties) {
        let device = handle::get::<Device>(device)?;
        c.change(properties, |p| {
            p.place = device.place();
            // There is no bus, and nothing counts what goes over it.
            (p.generation, p.width, p.bandwidth, p.counters) = (-1, -1, -1, [0; 3]);
        })
    }

    fn zesDeviceEnumMemoryModules(c, device: Handle, count: *mut u32, memory: *mut Handle) {
        let module = module_of(&handle::get::<Device>(device)?)?;
        c.list(count, memory, 1, |_, to| *to = module)
    }

    fn zesMemoryGetProperties(c, memory: Handle, properties: *mut MemoryModuleProperties) {
        let module = handle::get::<MemoryModule>(memory)?;
        c.change(properties, |p| {
            (p.kind, p.on_subdevice, p.subdevice, p.location) = (DDR, 0, 0, OF_SYSTEM);
            (p.size, p.bus_width, p.channels) = (module.device.memory, -1, -1);
        })
    }

    fn zesMemoryGetState(c, memory: Handle, state: *mut MemoryState) {
        let module = handle::get::<MemoryModule>(memory)?;
        let size = module.device.memory;
        c.change(state, |s| {
            (s.health, s.size, s.free) = (HEALTHY, size, size.saturating_sub(bytes_of_device(&module.device)));
        })
    }
}
