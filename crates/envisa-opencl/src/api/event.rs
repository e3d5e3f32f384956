//! Events.

use std::ffi::c_void;

use opencl_sys::{self as cl, cl_context, cl_event, cl_int, cl_uint};

use super::caller::Opaque;
use super::{counted, create, entry, query};
use crate::core::context::Context;
use crate::core::error::Error;
use crate::core::event::Event;
use crate::core::handle;

create! {
    fn clCreateUserEvent(_c, context: cl_context; errcode_ret) {
        let event = Event::user(handle::get::<Context>(context)?);
        if crate::report::is_checking() {
            crate::core::command_order::user_event(event.number);
        }
        Ok(handle::publish(&event))
    }
}

counted!(Event, clRetainEvent, clReleaseEvent, event: cl_event);

query! {
    fn clGetEventInfo(_c, event: cl_event; param_name) {
        let event = handle::get::<Event>(event)?;
        Ok(match param_name {
            cl::CL_EVENT_COMMAND_QUEUE => {
                event.queue.as_ref().map_or(std::ptr::null_mut(), |q| handle::of(&**q)).into()
            }
            cl::CL_EVENT_CONTEXT => handle::of(&*event.context).into(),
            cl::CL_EVENT_COMMAND_TYPE => event.command.into(),
            cl::CL_EVENT_COMMAND_EXECUTION_STATUS => {
                let status = event.status();
                event.note_status_seen();
                status.into()
            }
            cl::CL_EVENT_REFERENCE_COUNT => handle::references(&*event).into(),
            _ => return Err(Error::INVALID_VALUE),
        })
    }

    fn clGetEventProfilingInfo(_c, event: cl_event; param_name) {
        let event = handle::get::<Event>(event)?;
        let which = match param_name {
            cl::CL_PROFILING_COMMAND_QUEUED => 0,
            cl::CL_PROFILING_COMMAND_SUBMIT => 1,
            cl::CL_PROFILING_COMMAND_START => 2,
            // Nothing is enqueued by devices: complete means ended.
            cl::CL_PROFILING_COMMAND_END | cl::CL_PROFILING_COMMAND_COMPLETE => 3,
            _ => return Err(Error::INVALID_VALUE),
        };
        event.note_status_seen();
        Ok(event.time(which)?.into())
    }
}

entry! {
    fn clSetUserEventStatus(_c, event: cl_event, execution_status: cl_int) {
        let event = handle::get::<Event>(event)?;
        if event.queue.is_some() {
            return Err(Error::INVALID_EVENT);
        }
        if execution_status > cl::CL_COMPLETE {
            return Err(Error::INVALID_VALUE);
        }
        if crate::report::is_checking() {
            crate::core::command_order::user_event_set(event.number);
        }
        if event.set(execution_status) { Ok(()) } else { Err(Error::INVALID_OPERATION) }
    }

    fn clWaitForEvents(c, num_events: cl_uint, event_list: *const cl_event) {
        if num_events == 0 || event_list.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let handles = c.slice(event_list, num_events as usize).ok_or(Error::INVALID_VALUE)?;
        let mut events = Vec::new();
        for handle in handles {
            events.push(handle::get::<Event>(*handle)?);
        }
        if events.iter().any(|e| !std::sync::Arc::ptr_eq(&e.context, &events[0].context)) {
            return Err(Error::INVALID_CONTEXT);
        }
        // All are waited for, also behind one that failed.
        let failed = events.iter().filter(|e| e.wait() < 0).count();
        if failed > 0 { Err(Error::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) } else { Ok(()) }
    }

    fn clSetEventCallback(
        _c,
        event: cl_event,
        command_exec_callback_type: cl_int,
        pfn_notify: Option<unsafe extern "C" fn(cl_event, cl_int, *mut c_void)>,
        user_data: *mut c_void,
    ) {
        let object = handle::get::<Event>(event)?;
        let notify = pfn_notify.ok_or(Error::INVALID_VALUE)?;
        if !matches!(command_exec_callback_type, cl::CL_SUBMITTED | cl::CL_RUNNING | cl::CL_COMPLETE) {
            return Err(Error::INVALID_VALUE);
        }
        let (handle, data) = (Opaque::new(event), Opaque::new(user_data));
        // The handle is good as long as the function runs.
        let keep = object.clone();
        object.on(
            command_exec_callback_type,
            Box::new(move |status| {
                let _keep = &keep;
                // SAFETY: the application's function, called as the standard says.
                #[allow(unsafe_code)]
                unsafe {
                    notify(handle.get(), status, data.get());
                }
            }),
        );
        Ok(())
    }
}
