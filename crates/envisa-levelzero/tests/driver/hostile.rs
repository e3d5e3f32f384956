//! What no program should pass: every function answers, and nothing worse.

use crate::ze::*;

/// Functions whose first argument is a handle of some kind; what follows may be null.
const HANDLES: &[&str] = &[
    "zeCommandListAppendBarrier",
    "zeCommandListAppendEventReset",
    "zeCommandListAppendHostFunction",
    "zeCommandListAppendLaunchCooperativeKernel",
    "zeCommandListAppendLaunchKernel",
    "zeCommandListAppendLaunchKernelIndirect",
    "zeCommandListAppendLaunchKernelWithParameters",
    "zeCommandListAppendMemAdvise",
    "zeCommandListAppendMemoryCopy",
    "zeCommandListAppendMemoryCopyRegion",
    "zeCommandListAppendMemoryCopyWithParameters",
    "zeCommandListAppendMemoryFill",
    "zeCommandListAppendMemoryFillWithParameters",
    "zeCommandListAppendMemoryPrefetch",
    "zeCommandListAppendQueryKernelTimestamps",
    "zeCommandListAppendSignalEvent",
    "zeCommandListAppendWriteGlobalTimestamp",
    "zeCommandListClose",
    "zeCommandListCreate",
    "zeCommandListCreateCloneExp",
    "zeCommandListCreateImmediate",
    "zeCommandListDestroy",
    "zeCommandListGetFlags",
    "zeCommandListGetNextCommandIdExp",
    "zeCommandListGetNextCommandIdWithKernelsExp",
    "zeCommandListHostSynchronize",
    "zeCommandListImmediateGetFlags",
    "zeCommandListImmediateGetMode",
    "zeCommandListIsMutableExp",
    "zeCommandListReset",
    "zeCommandListUpdateMutableCommandKernelsExp",
    "zeCommandListUpdateMutableCommandSignalEventExp",
    "zeCommandListUpdateMutableCommandWaitEventsExp",
    "zeCommandListUpdateMutableCommandsExp",
    "zeCommandQueueCreate",
    "zeCommandQueueDestroy",
    "zeCommandQueueExecuteCommandLists",
    "zeCommandQueueGetFlags",
    "zeCommandQueueSynchronize",
    "zeContextDestroy",
    "zeContextMakeMemoryResident",
    "zeDeviceCanAccessPeer",
    "zeDeviceGet",
    "zeDeviceGetComputeProperties",
    "zeDeviceGetMemoryProperties",
    "zeDeviceGetModuleProperties",
    "zeDeviceGetProperties",
    "zeDevicePciGetPropertiesExt",
    "zeDeviceSynchronize",
    "zeDriverGetApiVersion",
    "zeDriverGetExtensionProperties",
    "zeDriverGetProperties",
    "zeEventCreate",
    "zeEventDestroy",
    "zeEventGetEventPool",
    "zeEventGetSignalScope",
    "zeEventHostReset",
    "zeEventHostSignal",
    "zeEventHostSynchronize",
    "zeEventPoolCloseIpcHandle",
    "zeEventPoolCreate",
    "zeEventPoolDestroy",
    "zeEventPoolGetIpcHandle",
    "zeEventPoolOpenIpcHandle",
    "zeEventPoolPutIpcHandle",
    "zeEventQueryKernelTimestamp",
    "zeEventQueryKernelTimestampsExt",
    "zeEventQueryStatus",
    "zeFabricVertexGetExp",
    "zeFenceCreate",
    "zeFenceDestroy",
    "zeFenceHostSynchronize",
    "zeImageGetMemoryPropertiesExp",
    "zeImageViewCreateExt",
    "zeKernelCreate",
    "zeKernelDestroy",
    "zeKernelGetName",
    "zeKernelGetProperties",
    "zeKernelSchedulingHintExp",
    "zeKernelSetArgumentValue",
    "zeKernelSetGroupSize",
    "zeKernelSetIndirectAccess",
    "zeKernelSuggestGroupSize",
    "zeKernelSuggestMaxCooperativeGroupCount",
    "zeMemAllocDevice",
    "zeMemAllocHost",
    "zeMemAllocShared",
    "zeMemCloseIpcHandle",
    "zeMemFree",
    "zeMemFreeExt",
    "zeMemGetAddressRange",
    "zeMemGetAllocProperties",
    "zeMemGetFileDescriptorFromIpcHandleExp",
    "zeMemGetIpcHandle",
    "zeMemGetIpcHandleFromFileDescriptorExp",
    "zeMemGetPitchFor2dImage",
    "zeMemOpenIpcHandle",
    "zeMemPutIpcHandle",
    "zeModuleBuildLogDestroy",
    "zeModuleBuildLogGetString",
    "zeModuleCreate",
    "zeModuleDestroy",
    "zeModuleGetFunctionPointer",
    "zeModuleGetGlobalPointer",
    "zeModuleGetKernelNames",
    "zeModuleGetNativeBinary",
    "zeModuleGetProperties",
    "zePhysicalMemCreate",
    "zePhysicalMemDestroy",
    "zePhysicalMemGetProperties",
    "zeVirtualMemFree",
    "zeVirtualMemGetAccessAttribute",
    "zeVirtualMemMap",
    "zeVirtualMemQueryPageSize",
    "zeVirtualMemReserve",
    "zeVirtualMemSetAccessAttribute",
    "zeVirtualMemUnmap",
];

#[test]
fn null_and_foreign_handles_are_refused() {
    let Some(d) = driver() else { return };
    let event = d.events(1)[0];
    d.ok("zeEventDestroy", &[event]);
    let word = 7u64;
    for name in HANDLES {
        for (handle, what) in [
            (0, "null"),
            (0xdead_0000, "foreign"),
            (event, "destroyed"),
            (FOREVER, "wild"),
            (of(&word), "an address"),
        ] {
            let result = d.call(name, &[handle, 0, 0, 0, 0, 0, 0, 0]);
            assert!(result >= 0x7000_0000 && result != 0x7fff_fffe, "{name} of {what}: {result:#x}");
            let others = ["Kernel", "zeMem", "Virtual"];
            if handle == 0 && !others.iter().any(|o| name.contains(o)) {
                assert!(
                    result == NULL_HANDLE || result == NULL_POINTER || result == SIZE,
                    "{name}: {result:#x}"
                );
            }
        }
    }
}

#[test]
fn a_handle_of_another_kind_is_refused() {
    let Some(d) = driver() else { return };
    for name in HANDLES.iter().filter(|n| !n.starts_with("zeDevice") && !n.starts_with("zeContext")) {
        let made_of_context =
            ["zeMem", "zeEventPoolCreate", "zeModuleCreate", "Create", "zeVirtual", "zePhysical"];
        if made_of_context.iter().any(|m| name.contains(m)) {
            continue;
        }
        let result = d.call(name, &[d.device, 0, 0, 0, 0, 0, 0, 0]);
        assert!(result >= 0x7000_0000 && result != 0x7fff_fffe, "{name}: {result:#x}");
    }
}

#[test]
fn absurd_numbers_are_refused() {
    let Some(d) = driver() else { return };
    let list = d.immediate(1);
    let kernel = d.kernel(d.program("kernel void f(global int *x) { x[0] = 1; }"), "f", 1024);
    let x = d.shared(&[0i32]);
    d.arg(kernel, 0, x.as_ptr());
    let many = [u32::MAX; 3];
    let launch = "zeCommandListAppendLaunchKernel";
    assert_eq!(d.call(launch, &[list, kernel, of(&many), 0, 0, 0]), 0x7800_0014);
    // More events than there are addresses; events without a list of them.
    assert_eq!(d.call(launch, &[list, kernel, of(&[1u32; 3]), 0, 0xffff_ffff, of(&many)]), SIZE);
    assert_eq!(d.call(launch, &[list, kernel, of(&[1u32; 3]), 0, 3, 0]), SIZE);
    assert_eq!(d.call("zeCommandListAppendBarrier", &[list, 0, 1, of(&0xdead_0000usize)]), INVALID);
    let pool = |flags: u64, count: u64| {
        let mut to = 0usize;
        d.call("zeEventPoolCreate", &[d.context, of(&[0, 0, flags | count << 32]), 0, 0, at(&mut to)])
    };
    assert_eq!(
        (pool(0, 0), pool(0, 0xffff_ffff), pool(0x80, 1), pool(2, 1)),
        (SIZE, SIZE, 0x7800_000c, SUCCESS)
    );
    let queue = |what: [u64; 5]| {
        let mut to = 0usize;
        d.call("zeCommandQueueCreate", &[d.context, d.device, of(&what), at(&mut to)])
    };
    assert_eq!(queue([0, 0, 7, 0, 0]), INVALID, "there is one group of queues");
    assert_eq!(queue([0, 0, 0, 0xff, 0]), 0x7800_000c);
    // Kernels, lists, modules that are none.
    assert_eq!(d.call("zeCommandQueueExecuteCommandLists", &[list, 1, of(&list), 0]), INVALID);
    assert_eq!(d.call("zeModuleCreate", &[d.context, d.device, zeros(), at(&mut 0usize), 0]), NULL_POINTER);
    let far = [
        list,
        x.as_ptr() as usize,
        of(&[0u32, 0, 0, u32::MAX, u32::MAX, u32::MAX]),
        0xffff_ffff,
        0xffff_ffff,
    ];
    let rest = [
        x.as_ptr() as usize,
        of(&[0u32, 0, 0, u32::MAX, u32::MAX, u32::MAX]),
        0xffff_ffff,
        0xffff_ffff,
        0,
        0,
        0,
    ];
    let args: Vec<usize> = far.into_iter().chain(rest).collect();
    assert_eq!(d.call("zeCommandListAppendMemoryCopyRegion", &args), SIZE);
    // A circle of structures.
    let mut ring = [0x2_0002u64 + 0x100, 0, 0, 0];
    ring[1] = of(&ring) as u64;
    let mut properties = [0u64; 50];
    properties[1] = of(&ring) as u64;
    d.ok("zeDeviceGetProperties", &[d.device, at(&mut properties)]);
}

#[test]
fn what_is_not_there_says_so() {
    let Some(d) = driver() else { return };
    let module = d.program("kernel void f(global int *x) { x[0] = 1; }");
    let (name, mut to) = (c"f".as_ptr() as usize, 0usize);
    let pointer = "zeModuleGetFunctionPointer";
    assert_eq!(d.call(pointer, &[module, name, at(&mut to)]), 0x7800_0012, "it is a kernel");
    assert_eq!(d.call(pointer, &[module, 0, at(&mut to)]), NULL_POINTER);
    assert_eq!(d.call(pointer, &[module, name, 0]), NULL_POINTER);
    let graph = d.call(
        "zeDriverGetExtensionFunctionAddress",
        &[d.driver, c"zeGraphCreateExt".as_ptr() as usize, at(&mut to)],
    );
    assert_eq!(graph, INVALID);
    let args = [d.driver, c"zeMutableThings".as_ptr() as usize, at(&mut to)];
    assert_eq!(d.call("zeDriverGetExtensionFunctionAddress", &args), INVALID);
}
