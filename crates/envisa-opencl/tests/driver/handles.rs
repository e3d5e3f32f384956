//! Handles that are none: the standard's error, never a crash.

use std::ptr::{null, null_mut};

use crate::cl::*;

/// Every kind of object with its handle, and a released one of each.
struct Objects {
    live: Vec<(&'static str, *mut std::ffi::c_void)>,
    dead: Vec<(&'static str, *mut std::ffi::c_void)>,
}

fn objects(s: &Session) -> Objects {
    let program = s.program("kernel void k(global int *p) { p[get_global_id(0)] = 1; }");
    let all = |s: &Session| {
        vec![
            ("context", make!(s, clCreateContext(null(), 1, &raw const s.device, None, null_mut()))),
            ("queue", make!(s, clCreateCommandQueue(s.context, s.device, 0))),
            ("mem", s.buffer(&[0u32; 16])),
            ("sampler", make!(s, clCreateSampler(s.context, 0, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST))),
            ("event", make!(s, clCreateUserEvent(s.context))),
            ("kernel", s.kernel(program, "k")),
        ]
    };
    let mut live = all(s);
    let dead = all(s);
    for (kind, handle) in &dead {
        assert_eq!(release(s, kind, *handle), CL_SUCCESS, "{kind}");
    }
    live.push(("program", program));
    Objects { live, dead }
}

fn release(s: &Session, kind: &str, h: *mut std::ffi::c_void) -> i32 {
    match kind {
        "context" => call!(s, clReleaseContext(h)),
        "queue" => call!(s, clReleaseCommandQueue(h)),
        "mem" => call!(s, clReleaseMemObject(h)),
        "sampler" => call!(s, clReleaseSampler(h)),
        "event" => call!(s, clReleaseEvent(h)),
        "kernel" => call!(s, clReleaseKernel(h)),
        _ => call!(s, clReleaseProgram(h)),
    }
}

/// Every call that takes a handle of a kind first, with what it must give.
fn probe(s: &Session, kind: &str, h: *mut std::ffi::c_void) -> Vec<(&'static str, i32)> {
    let (zero, one, two) = (0usize, 1usize, [0u8; 64]);
    let mut out = [0u8; 64];
    let to = out.as_mut_ptr().cast();
    let three = [0usize, 0, 0];
    match kind {
        "context" => vec![
            ("retain", call!(s, clRetainContext(h))),
            ("info", call!(s, clGetContextInfo(h, CL_CONTEXT_DEVICES, 64, to, null_mut()))),
            ("buffer", {
                let mut code = 0;
                // SAFETY: the driver holds for wrong handles, which is what is tried.
                unsafe { s.api.clCreateBuffer.unwrap()(h, 0, 16, null_mut(), &raw mut code) };
                code
            }),
            ("user event", {
                let mut code = 0;
                // SAFETY: as above.
                unsafe { s.api.clCreateUserEvent.unwrap()(h, &raw mut code) };
                code
            }),
            ("release", call!(s, clReleaseContext(h))),
        ],
        "queue" => vec![
            ("retain", call!(s, clRetainCommandQueue(h))),
            ("finish", call!(s, clFinish(h))),
            ("flush", call!(s, clFlush(h))),
            ("info", call!(s, clGetCommandQueueInfo(h, CL_QUEUE_DEVICE, 64, to, null_mut()))),
            ("marker", call!(s, clEnqueueMarkerWithWaitList(h, 0, null(), null_mut()))),
            ("release", call!(s, clReleaseCommandQueue(h))),
        ],
        "mem" => vec![
            ("retain", call!(s, clRetainMemObject(h))),
            ("info", call!(s, clGetMemObjectInfo(h, CL_MEM_SIZE, 64, to, null_mut()))),
            ("image info", call!(s, clGetImageInfo(h, CL_IMAGE_WIDTH, 64, to, null_mut()))),
            ("read", { call!(s, clEnqueueReadBuffer(s.queue, h, CL_TRUE, 0, 4, to, 0, null(), null_mut())) }),
            ("write", {
                let from = two.as_ptr().cast();
                call!(s, clEnqueueWriteBuffer(s.queue, h, CL_TRUE, 0, 4, from, 0, null(), null_mut()))
            }),
            ("fill", {
                let from = two.as_ptr().cast();
                call!(s, clEnqueueFillBuffer(s.queue, h, from, 4, zero, 4, 0, null(), null_mut()))
            }),
            ("read image", {
                let (o, r) = (three.as_ptr(), [one; 3]);
                call!(
                    s,
                    clEnqueueReadImage(s.queue, h, CL_TRUE, o, r.as_ptr(), 0, 0, to, 0, null(), null_mut())
                )
            }),
            ("unmap", call!(s, clEnqueueUnmapMemObject(s.queue, h, to, 0, null(), null_mut()))),
            ("release", call!(s, clReleaseMemObject(h))),
        ],
        "sampler" => vec![
            ("retain", call!(s, clRetainSampler(h))),
            ("info", call!(s, clGetSamplerInfo(h, CL_SAMPLER_FILTER_MODE, 64, to, null_mut()))),
            ("release", call!(s, clReleaseSampler(h))),
        ],
        "event" => vec![
            ("retain", call!(s, clRetainEvent(h))),
            ("info", call!(s, clGetEventInfo(h, CL_EVENT_COMMAND_TYPE, 64, to, null_mut()))),
            ("wait", call!(s, clWaitForEvents(1, &raw const h))),
            ("status", call!(s, clSetUserEventStatus(h, CL_COMPLETE))),
            ("release", call!(s, clReleaseEvent(h))),
        ],
        "kernel" => vec![
            ("retain", call!(s, clRetainKernel(h))),
            ("info", call!(s, clGetKernelInfo(h, CL_KERNEL_NUM_ARGS, 64, to, null_mut()))),
            ("arg", call!(s, clSetKernelArg(h, 0, 8, two.as_ptr().cast()))),
            ("launch", s.launch(h, 1, None)),
            ("release", call!(s, clReleaseKernel(h))),
        ],
        _ => vec![
            ("retain", call!(s, clRetainProgram(h))),
            ("info", call!(s, clGetProgramInfo(h, CL_PROGRAM_NUM_DEVICES, 64, to, null_mut()))),
            ("build", call!(s, clBuildProgram(h, 0, null(), null(), None, null_mut()))),
            ("release", call!(s, clReleaseProgram(h))),
        ],
    }
}

fn invalid(kind: &str) -> i32 {
    match kind {
        "context" => CL_INVALID_CONTEXT,
        "queue" => CL_INVALID_COMMAND_QUEUE,
        "mem" => CL_INVALID_MEM_OBJECT,
        "sampler" => CL_INVALID_SAMPLER,
        "event" => CL_INVALID_EVENT,
        "kernel" => CL_INVALID_KERNEL,
        _ => CL_INVALID_PROGRAM,
    }
}

#[test]
fn null_freed_foreign_and_wrong_handles_give_the_standards_errors() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let Objects { live, dead } = objects(&s);
    let here = Box::new([0usize; 8]);
    let foreign = std::ptr::from_ref(&*here).cast_mut().cast();
    let mut probed = 0;
    for kind in ["context", "queue", "mem", "sampler", "event", "kernel", "program"] {
        let others = live.iter().filter(|(k, _)| *k != kind).map(|(k, h)| (*k, *h));
        let bad = [("null", null_mut()), ("foreign", foreign), ("odd", std::ptr::without_provenance_mut(1))]
            .into_iter()
            .chain(dead.iter().map(|(k, h)| (*k, *h)))
            .chain(others)
            .chain([("device", s.device), ("platform", driver.platform as *mut _)]);
        for (what, handle) in bad {
            for (call, code) in probe(&s, kind, handle) {
                assert_eq!(code, invalid(kind), "{call} of a {kind} with a {what}");
                probed += 1;
            }
        }
    }
    assert!(probed > 400, "{probed} calls only");
    // And those that live still do.
    for (kind, handle) in live {
        assert_eq!(release(&s, kind, handle), CL_SUCCESS, "{kind}");
    }
}

#[test]
fn no_entry_point_is_missing() {
    let Some(driver) = driver() else { return };
    let slots = size_of::<cl_icd_dispatch>() / size_of::<usize>();
    let start = std::ptr::from_ref(driver.api).cast::<usize>();
    // The last is newer than the version that is reported.
    // SAFETY: the table is of as many addresses as fit its size.
    let missing: Vec<usize> = (0..slots - 1).filter(|i| unsafe { *start.add(*i) } == 0).collect();
    assert!(slots >= 149, "{slots}");
    assert_eq!(missing, []);
}

#[test]
fn references_are_counted() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let buffer = s.buffer(&[1u32]);
    let count = || {
        let raw =
            bytes(|n, to, ret| call!(s, clGetMemObjectInfo(buffer, CL_MEM_REFERENCE_COUNT, n, to, ret)));
        u32::from_ne_bytes(raw.try_into().unwrap())
    };
    assert_eq!(count(), 1);
    assert_eq!(call!(s, clRetainMemObject(buffer)), CL_SUCCESS);
    assert_eq!(count(), 2);
    assert_eq!(call!(s, clReleaseMemObject(buffer)), CL_SUCCESS);
    assert_eq!(call!(s, clReleaseMemObject(buffer)), CL_SUCCESS);
    assert_eq!(call!(s, clReleaseMemObject(buffer)), CL_INVALID_MEM_OBJECT);
    // A context lives as long as what is in it.
    let event = make!(s, clCreateUserEvent(s.context));
    assert_eq!(call!(s, clReleaseContext(s.context)), CL_SUCCESS);
    let context = bytes(|n, to, ret| call!(s, clGetEventInfo(event, CL_EVENT_CONTEXT, n, to, ret)));
    assert_eq!(usize::from_ne_bytes(context.try_into().unwrap()), s.context as usize);
    assert_eq!(call!(s, clRetainContext(s.context)), CL_SUCCESS);
}

#[test]
fn what_devices_lack_has_the_standards_errors() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let version = text(|n, to, ret| {
        call!(s, clGetDeviceInfo(s.device, CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, n, to, ret))
    });
    // No version of the conformance tests was passed, which is said by a date that none has.
    assert_eq!(version, "v0000-01-01-00");
    // No device enqueues: said before a queue is looked at, but a handle that is none comes first.
    let default = |queue| call!(s, clSetDefaultDeviceCommandQueue(s.context, s.device, queue));
    assert_eq!(default(null_mut()), CL_INVALID_OPERATION);
    assert_eq!(default(s.queue), CL_INVALID_OPERATION);
    assert_eq!(default(s.context), CL_INVALID_COMMAND_QUEUE);
    let queue = |properties: u64| {
        let list = [u64::from(CL_QUEUE_PROPERTIES), properties, 0];
        let mut code = CL_SUCCESS;
        // SAFETY: the list ends with zero.
        let made = unsafe {
            s.api.clCreateCommandQueueWithProperties.unwrap()(
                s.context,
                s.device,
                list.as_ptr(),
                &raw mut code,
            )
        };
        assert_eq!(made.is_null(), code != CL_SUCCESS);
        if !made.is_null() {
            assert_eq!(call!(s, clReleaseCommandQueue(made)), CL_SUCCESS);
        }
        code
    };
    // Bits that mean something are refused otherwise than bits that mean nothing.
    for bits in 0..64u64 {
        let wanted = match bits {
            0..4 => CL_SUCCESS,
            4..16 => CL_INVALID_QUEUE_PROPERTIES,
            _ => CL_INVALID_VALUE,
        };
        assert_eq!(queue(bits), wanted, "{bits:#x}");
    }
    assert_eq!(queue(u64::MAX), CL_INVALID_VALUE);
    for (value, wanted) in
        [(0, CL_SUCCESS), (1, CL_SUCCESS), (2, CL_INVALID_PROPERTY), (-1, CL_INVALID_PROPERTY)]
    {
        let list = [CL_CONTEXT_INTEROP_USER_SYNC, value, 0];
        let mut code = CL_SUCCESS;
        // SAFETY: the list ends with zero.
        let made = unsafe {
            s.api.clCreateContext.unwrap()(
                list.as_ptr(),
                1,
                &raw const s.device,
                None,
                null_mut(),
                &raw mut code,
            )
        };
        assert_eq!((code, made.is_null()), (wanted, wanted != CL_SUCCESS), "{list:?}");
        if !made.is_null() {
            assert_eq!(call!(s, clReleaseContext(made)), CL_SUCCESS);
        }
    }
}
