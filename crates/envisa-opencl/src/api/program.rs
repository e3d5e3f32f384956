//! Programs.

use std::ffi::{c_char, c_uchar, c_void};
use std::sync::Arc;

use opencl_sys::{self as cl, cl_context, cl_device_id, cl_int, cl_program, cl_uint};

use super::context::devices_of_list;
use super::{Caller, counted, create, entry, query};
use crate::core::context::Context;
use crate::core::error::{Error, Result};
use crate::core::handle;
use crate::core::info::Answer;
use crate::core::platform::Device;
use crate::core::program::{Program, Source};
use crate::core::spirv;

type Notify = Option<unsafe extern "C" fn(cl_program, *mut c_void)>;

create! {
    fn clCreateProgramWithSource(
        c,
        context: cl_context,
        count: cl_uint,
        strings: *mut *const c_char,
        lengths: *const usize;
        errcode_ret
    ) {
        let context = handle::get::<Context>(context)?;
        if count == 0 || strings.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let mut source = Vec::new();
        for i in 0..count as usize {
            let start = c.read(strings.wrapping_add(i)).filter(|p| !p.is_null()).ok_or(Error::INVALID_VALUE)?;
            let length = if lengths.is_null() { None } else { c.read(lengths.wrapping_add(i)) };
            match length {
                Some(n) if n > 0 => source.extend(c.bytes(start.cast(), n).ok_or(Error::INVALID_VALUE)?),
                _ => source.extend(c.text(start).ok_or(Error::INVALID_VALUE)?.into_bytes()),
            }
        }
        let text = String::from_utf8_lossy(&source).into_owned();
        let devices = context.devices.clone();
        Ok(handle::publish(&Program::new(context, devices, Source::Text(text))))
    }

    fn clCreateProgramWithIL(c, context: cl_context, il: *const c_void, length: usize; errcode_ret) {
        let context = handle::get::<Context>(context)?;
        if il.is_null() || length == 0 {
            return Err(Error::INVALID_VALUE);
        }
        let bytes = c.bytes(il, length).ok_or(Error::INVALID_VALUE)?;
        if !spirv::is_spirv(&bytes) {
            return Err(Error::INVALID_VALUE);
        }
        let devices = context.devices.clone();
        Ok(handle::publish(&Program::new(context, devices, Source::Il(bytes))))
    }

    fn clCreateProgramWithBinary(
        c,
        context: cl_context,
        num_devices: cl_uint,
        device_list: *const cl_device_id,
        lengths: *const usize,
        binaries: *mut *const c_uchar,
        binary_status: *mut cl_int;
        errcode_ret
    ) {
        let context = handle::get::<Context>(context)?;
        let devices = devices_of_list(c, num_devices, device_list)?;
        if devices.len() != num_devices as usize {
            return Err(Error::INVALID_DEVICE);
        }
        if devices.iter().any(|d| !context.has(d)) {
            return Err(Error::INVALID_DEVICE);
        }
        if lengths.is_null() || binaries.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let mut builds = Vec::new();
        let mut result = Ok(());
        for (i, device) in devices.iter().enumerate() {
            let length = c.read(lengths.wrapping_add(i)).unwrap_or(0);
            let start = c.read(binaries.wrapping_add(i)).unwrap_or(std::ptr::null());
            let read = if length == 0 || start.is_null() {
                Err(Error::INVALID_VALUE)
            } else {
                let bytes = c.bytes(start.cast(), length).ok_or(Error::INVALID_VALUE)?;
                Program::read_binary(device, &bytes)
            };
            if !binary_status.is_null() {
                let code = read.as_ref().map_or_else(|e| e.0, |_| cl::CL_SUCCESS);
                c.write(binary_status.wrapping_add(i), code);
            }
            match read {
                Ok(build) => builds.push(build),
                Err(e) => result = Err(e),
            }
        }
        result?;
        Ok(handle::publish(&Program::with_builds(context, devices, Source::Binary, builds)))
    }

    fn clCreateProgramWithBuiltInKernels(
        c,
        context: cl_context,
        num_devices: cl_uint,
        device_list: *const cl_device_id,
        kernel_names: *const c_char;
        errcode_ret
    ) {
        handle::get::<Context>(context)?;
        devices_of_list(c, num_devices, device_list)?;
        let _ = c.text(kernel_names);
        // No device has any.
        Err(Error::INVALID_VALUE)
    }

    fn clLinkProgram(
        c,
        context: cl_context,
        num_devices: cl_uint,
        device_list: *const cl_device_id,
        options: *const c_char,
        num_input_programs: cl_uint,
        input_programs: *const cl_program,
        pfn_notify: Notify,
        user_data: *mut c_void;
        errcode_ret
    ) {
        let context = handle::get::<Context>(context)?;
        if num_input_programs == 0 || input_programs.is_null() || (pfn_notify.is_none() && !user_data.is_null()) {
            return Err(Error::INVALID_VALUE);
        }
        let mut inputs = Vec::new();
        for handle in c.slice(input_programs, num_input_programs as usize).ok_or(Error::INVALID_VALUE)? {
            inputs.push(handle::get::<Program>(*handle)?);
        }
        let devices = match (num_devices, device_list.is_null()) {
            (0, true) => context.devices.clone(),
            _ => devices_of_list(c, num_devices, device_list)?,
        };
        if devices.iter().any(|d| !context.has(d)) {
            return Err(Error::INVALID_DEVICE);
        }
        let options = c.text(options).unwrap_or_default();
        let (program, result) = Program::link(&context, &devices, &options, &inputs)?;
        let handle = handle::publish(&program);
        call_notify(pfn_notify, handle, user_data);
        if let Err(e) = result {
            // The program is handed out all the same: its log says why.
            c.and_error(e);
        }
        Ok(handle)
    }
}

fn call_notify(function: Notify, program: cl_program, data: *mut c_void) {
    if let Some(function) = function {
        // SAFETY: the application's function, called as the standard says.
        #[allow(unsafe_code)]
        unsafe {
            function(program, data);
        }
    }
}

/// Devices that a build is for.
fn build_devices(
    c: &Caller,
    program: &Program,
    count: cl_uint,
    list: *const cl_device_id,
) -> Result<Vec<Arc<Device>>> {
    if (count == 0) != list.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    if count == 0 {
        return Ok(program.devices.clone());
    }
    let devices = devices_of_list(c, count, list)?;
    for device in &devices {
        program.index(device)?;
    }
    Ok(devices)
}

fn answer_program_info(program: &Program, what: cl_uint) -> Result<Answer> {
    Ok(match what {
        cl::CL_PROGRAM_REFERENCE_COUNT => handle::references(program).into(),
        cl::CL_PROGRAM_CONTEXT => handle::of(&*program.context).into(),
        cl::CL_PROGRAM_NUM_DEVICES => (program.devices.len() as u32).into(),
        cl::CL_PROGRAM_DEVICES => program.devices.iter().map(|d| handle::of(&**d)).collect::<Vec<_>>().into(),
        cl::CL_PROGRAM_SOURCE => match &program.source {
            Source::Text(text) => text.as_str().into(),
            _ => "".into(),
        },
        cl::CL_PROGRAM_IL => match &program.source {
            Source::Il(il) => il.clone().into(),
            _ => Answer(Vec::new()),
        },
        cl::CL_PROGRAM_BINARY_SIZES => {
            let sizes: Vec<usize> = program.builds().iter().map(|b| b.binary().len()).collect();
            sizes.into()
        }
        cl::CL_PROGRAM_NUM_KERNELS => program.kernel_names()?.len().into(),
        cl::CL_PROGRAM_KERNEL_NAMES => program.kernel_names()?.join(";").into(),
        cl::CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT | cl::CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT => false.into(),
        _ => return Err(Error::INVALID_VALUE),
    })
}

counted!(Program, clRetainProgram, clReleaseProgram, program: cl_program);

query! {
    fn clGetProgramBuildInfo(_c, program: cl_program, device: cl_device_id; param_name) {
        let object = handle::get::<Program>(program)?;
        let device = handle::get::<Device>(device)?;
        let build = object.build_of(&device)?;
        Ok(match param_name {
            cl::CL_PROGRAM_BUILD_STATUS => build.status.into(),
            cl::CL_PROGRAM_BUILD_OPTIONS => build.options.into(),
            cl::CL_PROGRAM_BUILD_LOG => build.log_for_device(&device).into(),
            cl::CL_PROGRAM_BINARY_TYPE => build.kind.into(),
            cl::CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE => {
                (build.module.map_or(0, |m| m.global_bytes) as usize).into()
            }
            _ => return Err(Error::INVALID_VALUE),
        })
    }
}

entry! {
    fn clBuildProgram(
        c,
        program: cl_program,
        num_devices: cl_uint,
        device_list: *const cl_device_id,
        options: *const c_char,
        pfn_notify: Notify,
        user_data: *mut c_void,
    ) {
        let object = handle::get::<Program>(program)?;
        if pfn_notify.is_none() && !user_data.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        let devices = build_devices(c, &object, num_devices, device_list)?;
        let result = object.build(&devices, &c.text(options).unwrap_or_default());
        call_notify(pfn_notify, program, user_data);
        result
    }

    fn clCompileProgram(
        c,
        program: cl_program,
        num_devices: cl_uint,
        device_list: *const cl_device_id,
        options: *const c_char,
        num_input_headers: cl_uint,
        input_headers: *const cl_program,
        header_include_names: *mut *const c_char,
        pfn_notify: Notify,
        user_data: *mut c_void,
    ) {
        let object = handle::get::<Program>(program)?;
        let none = num_input_headers == 0;
        if none != input_headers.is_null()
            || none != header_include_names.is_null()
            || (pfn_notify.is_none() && !user_data.is_null())
        {
            return Err(Error::INVALID_VALUE);
        }
        let devices = build_devices(c, &object, num_devices, device_list)?;
        let mut headers = Vec::new();
        let programs = c.slice(input_headers, num_input_headers as usize).ok_or(Error::INVALID_VALUE)?;
        for (i, header) in programs.iter().enumerate() {
            let name = c.read(header_include_names.wrapping_add(i)).and_then(|n| c.text(n));
            headers.push((name.ok_or(Error::INVALID_VALUE)?, handle::get::<Program>(*header)?));
        }
        let result = object.compile(&devices, &c.text(options).unwrap_or_default(), &headers);
        call_notify(pfn_notify, program, user_data);
        result
    }

    fn clSetProgramSpecializationConstant(
        c,
        program: cl_program,
        spec_id: cl_uint,
        spec_size: usize,
        spec_value: *const c_void,
    ) {
        let object = handle::get::<Program>(program)?;
        let value = c.bytes(spec_value, spec_size).filter(|v| !v.is_empty()).ok_or(Error::INVALID_VALUE)?;
        object.set_constant(spec_id, value)
    }

    fn clSetProgramReleaseCallback(
        _c,
        program: cl_program,
        _pfn_notify: Notify,
        _user_data: *mut c_void,
    ) {
        handle::get::<Program>(program)?;
        // Deprecated before it was of use: there are no destructors of programs.
        Err(Error::INVALID_OPERATION)
    }

    fn clGetProgramInfo(
        c,
        program: cl_program,
        param_name: cl_uint,
        param_value_size: usize,
        param_value: *mut c_void,
        param_value_size_ret: *mut usize,
    ) {
        let object = handle::get::<Program>(program)?;
        if param_name != cl::CL_PROGRAM_BINARIES {
            return c.answer(answer_program_info(&object, param_name)?, param_value_size, param_value, param_value_size_ret);
        }
        // An array of pointers to where the application wants each.
        let builds = object.builds();
        if !param_value.is_null() {
            if param_value_size < builds.len() * size_of::<usize>() {
                return Err(Error::INVALID_VALUE);
            }
            for (i, build) in builds.iter().enumerate() {
                let to = c.read(param_value.cast::<*mut c_void>().wrapping_add(i)).unwrap_or(std::ptr::null_mut());
                let bytes = build.binary();
                if !to.is_null() && !bytes.is_empty() {
                    c.memory(to, bytes.len()).write(&bytes);
                }
            }
        }
        c.write(param_value_size_ret, builds.len() * size_of::<usize>());
        Ok(())
    }
}
