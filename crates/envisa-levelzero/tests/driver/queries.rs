//! What objects say of themselves: vertices, memory as other contexts see it, attributes of memory.

use crate::ze::*;

#[test]
fn each_device_is_a_vertex_and_nothing_connects_them() {
    let Some(d) = driver() else { return };
    let (mut n, mut vertices, mut again) = (0u32, [0usize; 4], [0usize; 4]);
    d.ok("zeFabricVertexGetExp", &[d.driver, at(&mut n), 0]);
    assert_eq!(n, 2);
    d.ok("zeFabricVertexGetExp", &[d.driver, at(&mut n), at(&mut vertices)]);
    d.ok("zeFabricVertexGetExp", &[d.driver, at(&mut n), at(&mut again)]);
    assert_eq!((n, vertices), (2, again));
    let vertex = d.make("zeDeviceGetFabricVertexExp", &[d.device]);
    assert_eq!(vertex, vertices[0]);
    assert_eq!(d.make("zeFabricVertexGetDeviceExp", &[vertex]), d.device);
    let (mut of_vertex, mut of_device) = ([0u8; 56], [0u8; 368]);
    d.ok("zeFabricVertexGetPropertiesExp", &[vertex, at(&mut of_vertex)]);
    d.ok("zeDeviceGetProperties", &[d.device, at(&mut of_device)]);
    assert_eq!(of_vertex[16..32], of_device[96..112], "the same identity");
    n = 7;
    d.ok("zeFabricVertexGetSubVerticesExp", &[vertex, at(&mut n), 0]);
    assert_eq!(n, 0);
    n = 7;
    d.ok("zeFabricEdgeGetExp", &[vertices[0], vertices[1], at(&mut n), 0]);
    assert_eq!(n, 0);
    assert_eq!(d.call("zeFabricVertexGetDeviceExp", &[d.device, at(&mut again)]), INVALID);
}

#[test]
fn another_context_knows_memory_too() {
    let Some(d) = driver() else { return };
    let x = d.shared(&[0u64; 64]);
    let address = x.as_ptr() as usize;
    let other = d.make("zeContextCreate", &[d.driver, zeros()]);
    let (mut base, mut size) = (0usize, 0usize);
    d.ok("zeMemGetAddressRange", &[other, address + 8, at(&mut base), at(&mut size)]);
    assert_eq!((base, size), (address, 512));
    let (mut properties, mut device) = ([0u64; 5], 0usize);
    d.ok("zeMemGetAllocProperties", &[other, address, at(&mut properties), at(&mut device)]);
    assert_eq!((properties[2] as u32, device), (3, d.device), "shared memory of the device");
}

#[test]
fn memory_remembers_what_atomics_it_is_for() {
    let Some(d) = driver() else { return };
    let x = d.shared(&[0u64; 64]);
    let address = x.as_ptr() as usize;
    let mut flags = 7u32;
    let (get, set) = ("zeMemGetAtomicAccessAttributeExp", "zeMemSetAtomicAccessAttributeExp");
    d.ok(get, &[d.context, d.device, address, 512, at(&mut flags)]);
    assert_eq!(flags, 0);
    d.ok(set, &[d.context, d.device, address, 512, 4]);
    d.ok(get, &[d.context, d.device, address + 8, 8, at(&mut flags)]);
    assert_eq!(flags, 4);
    assert_eq!(d.call(set, &[d.context, d.device, address, 513, 4]), SIZE);
    assert_eq!(d.call(set, &[d.context, d.device, address, 8, 0x80]), 0x7800_000c);
    assert_eq!(d.call(set, &[d.context, d.device, 8, 8, 4]), INVALID);
}

#[test]
fn system_management_tells_of_devices_and_their_memory() {
    let Some(d) = driver() else { return };
    assert_eq!((d.call("zesInit", &[0]), d.call("zesInit", &[1])), (SUCCESS, 0x7800_000c));
    let (mut n, mut drivers, mut devices) = (1u32, [0usize; 1], [0usize; 2]);
    d.ok("zesDriverGet", &[at(&mut n), at(&mut drivers)]);
    n = 2;
    d.ok("zesDeviceGet", &[drivers[0], at(&mut n), at(&mut devices)]);
    assert_eq!((n, devices[0]), (2, d.device));
    // Clients find their device there by its identity.
    let (mut here, mut managed) = ([0u8; 368], [0u8; 776]);
    d.ok("zeDeviceGetProperties", &[d.device, at(&mut here)]);
    d.ok("zesDeviceGetProperties", &[devices[0], at(&mut managed)]);
    assert_eq!(here[96..368], managed[16 + 96..16 + 368], "identity and name");
    assert!(managed[384 + 4..].starts_with(b"unknown\0"));
    let mut modules = [0usize; 1];
    n = 0;
    d.ok("zesDeviceEnumMemoryModules", &[devices[1], at(&mut n), 0]);
    assert_eq!(n, 1);
    d.ok("zesDeviceEnumMemoryModules", &[devices[1], at(&mut n), at(&mut modules)]);
    let mut properties = [0u64; 6];
    d.ok("zesMemoryGetProperties", &[modules[0], at(&mut properties)]);
    let free = || {
        let mut state = [0u64; 5];
        d.ok("zesMemoryGetState", &[modules[0], at(&mut state)]);
        assert_eq!((state[2], state[4]), (1, properties[4]), "healthy; the size");
        state[3]
    };
    // No other test has memory of this device.
    let before = free();
    assert_eq!(before, properties[4]);
    let memory = d.make("zeMemAllocDevice", &[d.context, zeros(), 4096, 64, devices[1]]);
    assert_eq!(free(), before - 4096);
    d.ok("zeMemFree", &[d.context, memory]);
    assert_eq!(free(), before);
    let mut pci = [0u32; 14];
    d.ok("zesDevicePciGetProperties", &[devices[1], at(&mut pci)]);
    assert_eq!(pci[4..8], [0, 1, 2, 0], "domain, bus, device, function");
    assert_eq!(d.call("zesMemoryGetState", &[d.device, at(&mut [0u64; 5])]), INVALID);
    assert_eq!(d.call("zesDeviceGetProperties", &[0, at(&mut managed)]), NULL_HANDLE);
}
