//! Queues and events: order, waiting, failure, callbacks.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use crate::cl::*;

fn fill(s: &Session, queue: cl_command_queue, buffer: cl_mem, value: u32, after: &[cl_event]) -> cl_event {
    let mut event = null_mut();
    let list = if after.is_empty() { null() } else { after.as_ptr() };
    let code = call!(
        s,
        clEnqueueFillBuffer(
            queue,
            buffer,
            std::ptr::from_ref(&value).cast(),
            4,
            0,
            4,
            after.len() as u32,
            list,
            &raw mut event
        )
    );
    assert_eq!(code, CL_SUCCESS);
    event
}

fn status(s: &Session, event: cl_event) -> i32 {
    let raw =
        bytes(|n, to, ret| call!(s, clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, n, to, ret)));
    i32::from_ne_bytes(raw.try_into().unwrap())
}

#[test]
fn commands_wait_for_events_and_overtake_only_where_they_may() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let (a, b) = (s.buffer(&[0u32]), s.buffer(&[0u32]));
    let gate = make!(s, clCreateUserEvent(s.context));
    let blocked = fill(&s, s.queue, a, 1, &[gate]);
    let free = fill(&s, s.queue, b, 2, &[]);
    assert_eq!(call!(s, clWaitForEvents(1, &raw const free)), CL_SUCCESS);
    assert!(status(&s, blocked) > CL_COMPLETE);
    // Behind a barrier nothing overtakes.
    assert_eq!(call!(s, clEnqueueBarrierWithWaitList(s.queue, 0, null(), null_mut())), CL_SUCCESS);
    let behind = fill(&s, s.queue, b, 3, &[]);
    std::thread::sleep(Duration::from_millis(20));
    assert!(status(&s, behind) > CL_COMPLETE);
    assert_eq!(call!(s, clSetUserEventStatus(gate, CL_COMPLETE)), CL_SUCCESS);
    assert_eq!(call!(s, clFinish(s.queue)), CL_SUCCESS);
    assert_eq!((status(&s, blocked), status(&s, behind)), (CL_COMPLETE, CL_COMPLETE));
    assert_eq!((s.read::<u32>(a, 1), s.read::<u32>(b, 1)), (vec![1], vec![3]));
    assert_eq!(call!(s, clSetUserEventStatus(gate, CL_COMPLETE)), CL_INVALID_OPERATION);
}

#[test]
fn a_failed_event_fails_what_waits_for_it_also_on_other_queues() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, 0);
    let other = make!(s, clCreateCommandQueue(s.context, s.device, 0));
    let buffer = s.buffer(&[0u32]);
    let gate = make!(s, clCreateUserEvent(s.context));
    let first = fill(&s, s.queue, buffer, 1, &[gate]);
    let second = fill(&s, other, buffer, 2, &[first]);
    assert_eq!(call!(s, clSetUserEventStatus(gate, -77)), CL_SUCCESS);
    assert_eq!(call!(s, clWaitForEvents(1, &raw const second)), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(status(&s, gate), -77);
    assert_eq!(status(&s, first), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_eq!(call!(s, clFinish(s.queue)), CL_SUCCESS);
    assert_eq!(s.read::<u32>(buffer, 1), [0]);
}

static CALLED: AtomicI32 = AtomicI32::new(0);

unsafe extern "C" fn called(_: cl_event, status: i32, data: *mut c_void) {
    assert_eq!(data as usize, 42);
    CALLED.fetch_add(1 + status, Ordering::SeqCst);
}

#[test]
fn callbacks_come_once_with_the_status() {
    let Some(driver) = driver() else { return };
    let s = driver.session(0, CL_QUEUE_PROFILING_ENABLE);
    let buffer = s.buffer(&[0u32]);
    let gate = make!(s, clCreateUserEvent(s.context));
    let event = fill(&s, s.queue, buffer, 1, &[gate]);
    let data = 42 as *mut c_void;
    assert_eq!(call!(s, clSetEventCallback(event, CL_COMPLETE, Some(called), data)), CL_SUCCESS);
    assert_eq!(call!(s, clSetEventCallback(event, CL_QUEUED, Some(called), data)), CL_INVALID_VALUE);
    assert_eq!(call!(s, clSetEventCallback(event, CL_COMPLETE, None, data)), CL_INVALID_VALUE);
    assert_eq!(CALLED.load(Ordering::SeqCst), 0);
    assert_eq!(call!(s, clSetUserEventStatus(gate, CL_COMPLETE)), CL_SUCCESS);
    assert_eq!(call!(s, clFinish(s.queue)), CL_SUCCESS);
    let start = Instant::now();
    while CALLED.load(Ordering::SeqCst) == 0 && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(CALLED.load(Ordering::SeqCst), 1);
    let time = |what| {
        let raw = bytes(|n, to, ret| call!(s, clGetEventProfilingInfo(event, what, n, to, ret)));
        u64::from_ne_bytes(raw.try_into().unwrap())
    };
    let times = [
        time(CL_PROFILING_COMMAND_QUEUED),
        time(CL_PROFILING_COMMAND_SUBMIT),
        time(CL_PROFILING_COMMAND_START),
        time(CL_PROFILING_COMMAND_END),
    ];
    assert!(times.is_sorted() && times[0] > 0, "{times:?}");
}
