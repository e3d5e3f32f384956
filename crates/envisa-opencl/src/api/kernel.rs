//! Kernels: their arguments, what they answer, their launches.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use opencl_sys::{
    self as cl, cl_command_queue, cl_device_id, cl_event, cl_kernel, cl_mem, cl_program, cl_sampler, cl_uint,
};

use super::{
    Caller, check_same_context, counted, create, entry, finish_enqueue, note_reason, query,
    queue_and_wait_list, wait_list,
};
use crate::core::error::{Error, Result};
use crate::core::handle;
use crate::core::info::Answer;
use crate::core::kernel::{Arg, Kernel};
use crate::core::mem::{Mem, Sampler};
use crate::core::platform::{Device, MAX_GROUP};
use crate::core::program::{Program, Source};
use crate::core::queue::Queue;
use crate::device::{ArgKind, SourceInfo};

create! {
    fn clCreateKernel(c, program: cl_program, kernel_name: *const c_char; errcode_ret) {
        let program = handle::get::<Program>(program)?;
        let name = c.text(kernel_name).ok_or(Error::INVALID_VALUE)?;
        Ok(handle::publish(&Kernel::new(&program, &name)?))
    }

    fn clCloneKernel(_c, source_kernel: cl_kernel; errcode_ret) {
        Ok(handle::publish(&handle::get::<Kernel>(source_kernel)?.duplicate()))
    }
}

/// The value of an argument, by what the kernel takes.
fn argument_value(
    c: &Caller,
    kernel: &Kernel,
    index: cl_uint,
    size: usize,
    value: *const c_void,
) -> Result<Arg> {
    let about = kernel.info.args.get(index as usize).ok_or(Error::INVALID_ARG_INDEX)?;
    let context = &kernel.program.context;
    if about.kind == ArgKind::Local {
        if !value.is_null() {
            return Err(Error::INVALID_ARG_VALUE);
        }
        return if size == 0 { Err(Error::INVALID_ARG_SIZE) } else { Ok(Arg::Local(size)) };
    }
    if matches!(about.kind, ArgKind::Buffer | ArgKind::Image | ArgKind::Sampler)
        && size != size_of::<cl_mem>()
    {
        return Err(Error::INVALID_ARG_SIZE);
    }
    match about.kind {
        ArgKind::Buffer => {
            let handle = c.read(value.cast::<cl_mem>()).unwrap_or(std::ptr::null_mut());
            if handle.is_null() {
                return Ok(Arg::Null);
            }
            let mem = handle::get::<Mem>(handle)?;
            if mem.image.is_some() || !Arc::ptr_eq(&mem.context, context) {
                return Err(Error::INVALID_MEM_OBJECT);
            }
            Ok(Arg::Mem(Arc::downgrade(&mem)))
        }
        ArgKind::Image => {
            let handle = c.read(value.cast::<cl_mem>()).ok_or(Error::INVALID_ARG_VALUE)?;
            let mem = handle::get::<Mem>(handle)?;
            if mem.image.is_none() || !Arc::ptr_eq(&mem.context, context) {
                return Err(Error::INVALID_MEM_OBJECT);
            }
            let access = about.source.as_ref().map_or("", |s| &s.access);
            let forbidden = if access.contains("read_write") {
                cl::CL_MEM_READ_ONLY | cl::CL_MEM_WRITE_ONLY
            } else if access.contains("read_only") {
                cl::CL_MEM_WRITE_ONLY
            } else if access.contains("write_only") {
                cl::CL_MEM_READ_ONLY
            } else {
                0
            };
            if mem.flags & forbidden != 0 {
                return Err(Error::INVALID_ARG_VALUE);
            }
            Ok(Arg::Mem(Arc::downgrade(&mem)))
        }
        ArgKind::Sampler => {
            let handle = c.read(value.cast::<cl_sampler>()).ok_or(Error::INVALID_SAMPLER)?;
            Ok(Arg::Sampler(handle::get::<Sampler>(handle)?))
        }
        _ => {
            // The standard's rule. Of SPIR-V and binaries, and in SYCL of text, too, libraries (oneMKL, an `int` by 8 bytes)
            // count on what Intel's driver takes: more than the argument has.
            let text = matches!(kernel.program.source, Source::Text(_) | Source::Linked);
            let fits = match about.exact {
                true if text && !kernel.indirect.any() => size == about.size,
                true => size >= about.size,
                // What is known ends at a multiple of 4 bytes.
                false => size.next_multiple_of(4) >= about.size,
            };
            if size == 0 || !fits {
                note_reason(|| {
                    format!("{} takes {} bytes", kernel.info.argument(index as usize), about.size)
                });
                return Err(Error::INVALID_ARG_SIZE);
            }
            if size > about.size && about.size > 0 && crate::report::is_checking() {
                crate::report::report_unchecked(&format!(
                    "{} of kernel `{}` is set by {size} bytes and takes {}, which other drivers refuse",
                    kernel.info.argument(index as usize),
                    kernel.info.name,
                    about.size
                ));
            }
            let bytes = c.bytes(value, size).filter(|v| !v.is_empty()).ok_or(Error::INVALID_ARG_VALUE)?;
            Ok(Arg::Bytes(bytes.into()))
        }
    }
}

/// The device that a query is about; without one, the only one of the program.
fn device_of(kernel: &Kernel, device: cl_device_id) -> Result<Arc<Device>> {
    if device.is_null() {
        return match &kernel.program.devices[..] {
            [one] => Ok(one.clone()),
            _ => Err(Error::INVALID_DEVICE),
        };
    }
    let device = handle::get::<Device>(device)?;
    kernel.program.index(&device)?;
    Ok(device)
}

fn answer_kernel_info(kernel: &Kernel, what: cl_uint) -> Result<Answer> {
    Ok(match what {
        cl::CL_KERNEL_FUNCTION_NAME => kernel.info.name.as_str().into(),
        cl::CL_KERNEL_NUM_ARGS => (kernel.info.args.len() as u32).into(),
        cl::CL_KERNEL_REFERENCE_COUNT => handle::references(kernel).into(),
        cl::CL_KERNEL_CONTEXT => handle::of(&*kernel.program.context).into(),
        cl::CL_KERNEL_PROGRAM => handle::of(&*kernel.program).into(),
        cl::CL_KERNEL_ATTRIBUTES => kernel.info.attributes.as_str().into(),
        _ => return Err(Error::INVALID_VALUE),
    })
}

fn arg_info(source: &SourceInfo, what: cl_uint) -> Result<Answer> {
    let address = match source.address.as_str() {
        "__global" => cl::CL_KERNEL_ARG_ADDRESS_GLOBAL,
        "__local" => cl::CL_KERNEL_ARG_ADDRESS_LOCAL,
        "__constant" => cl::CL_KERNEL_ARG_ADDRESS_CONSTANT,
        _ => cl::CL_KERNEL_ARG_ADDRESS_PRIVATE,
    };
    let access = match source.access.trim_start_matches("__") {
        "read_only" => cl::CL_KERNEL_ARG_ACCESS_READ_ONLY,
        "write_only" => cl::CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
        "read_write" => cl::CL_KERNEL_ARG_ACCESS_READ_WRITE,
        _ => cl::CL_KERNEL_ARG_ACCESS_NONE,
    };
    Ok(match what {
        cl::CL_KERNEL_ARG_ADDRESS_QUALIFIER => address.into(),
        cl::CL_KERNEL_ARG_ACCESS_QUALIFIER => access.into(),
        cl::CL_KERNEL_ARG_TYPE_NAME => source.type_name.as_str().into(),
        cl::CL_KERNEL_ARG_NAME => source.name.as_str().into(),
        cl::CL_KERNEL_ARG_TYPE_QUALIFIER => {
            let mut flags = cl::CL_KERNEL_ARG_TYPE_NONE;
            for word in source.qualifiers.split_whitespace() {
                flags |= match word {
                    "const" => cl::CL_KERNEL_ARG_TYPE_CONST,
                    "restrict" => cl::CL_KERNEL_ARG_TYPE_RESTRICT,
                    "volatile" => cl::CL_KERNEL_ARG_TYPE_VOLATILE,
                    "pipe" => cl::CL_KERNEL_ARG_TYPE_PIPE,
                    _ => 0,
                };
            }
            flags.into()
        }
        _ => return Err(Error::INVALID_VALUE),
    })
}

/// Sizes of a range from the application; missing dimensions are `blank`.
fn range_sizes(c: &Caller, dims: usize, start: *const usize, blank: u64) -> Option<[u64; 3]> {
    let given = c.slice(start, dims).filter(|_| !start.is_null())?;
    let mut all = [blank; 3];
    for (to, from) in all.iter_mut().zip(given) {
        *to = *from as u64;
    }
    Some(all)
}

/// The sub-group queries: sizes in, sizes out.
#[allow(clippy::too_many_arguments, reason = "the call has as many")]
fn sub_group_info(
    c: &Caller,
    kernel: &Kernel,
    device: &Arc<Device>,
    what: cl_uint,
    input_size: usize,
    input: *const c_void,
    output_size: usize,
) -> Result<Answer> {
    let info = kernel.info_for_device(device)?;
    let simd = info.simd as usize;
    let input = || -> Result<Vec<usize>> {
        let n = input_size / size_of::<usize>();
        let sizes = c.slice(input.cast::<usize>(), n).filter(|_| (1..=3).contains(&n));
        Ok(sizes.ok_or(Error::INVALID_VALUE)?.to_vec())
    };
    Ok(match what {
        cl::CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE => {
            input()?;
            simd.into()
        }
        cl::CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE => input()?.iter().product::<usize>().div_ceil(simd).into(),
        cl::CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT => {
            let size = input()?[0].saturating_mul(simd);
            let n = (output_size / size_of::<usize>()).clamp(1, 3);
            let mut all = vec![0; n];
            if size > 0 && size <= MAX_GROUP {
                all.fill(1);
                all[0] = size;
            }
            all.into()
        }
        cl::CL_KERNEL_MAX_NUM_SUB_GROUPS => MAX_GROUP.div_ceil(simd).into(),
        cl::CL_KERNEL_COMPILE_NUM_SUB_GROUPS => 0usize.into(),
        cl::CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL => (info.required_sub_group as usize).into(),
        _ => return Err(Error::INVALID_VALUE),
    })
}

counted!(Kernel, clRetainKernel, clReleaseKernel, kernel: cl_kernel);

query! {
    fn clGetKernelInfo(_c, kernel: cl_kernel; param_name) {
        answer_kernel_info(&*handle::get::<Kernel>(kernel)?, param_name)
    }

    fn clGetKernelArgInfo(_c, kernel: cl_kernel, arg_index: cl_uint; param_name) {
        let kernel = handle::get::<Kernel>(kernel)?;
        let about = kernel.info.args.get(arg_index as usize).ok_or(Error::INVALID_ARG_INDEX)?;
        let source = about.source.as_ref().ok_or(Error::KERNEL_ARG_INFO_NOT_AVAILABLE)?;
        arg_info(source, param_name)
    }

    fn clGetKernelWorkGroupInfo(_c, kernel: cl_kernel, device: cl_device_id; param_name) {
        let kernel = handle::get::<Kernel>(kernel)?;
        let device = device_of(&kernel, device)?;
        let info = kernel.info_for_device(&device)?;
        Ok(match param_name {
            cl::CL_KERNEL_WORK_GROUP_SIZE => {
                info.required_group.map_or(MAX_GROUP, |r| r.iter().product()).into()
            }
            cl::CL_KERNEL_COMPILE_WORK_GROUP_SIZE => info.required_group.unwrap_or([0; 3]).into(),
            cl::CL_KERNEL_LOCAL_MEM_SIZE => (info.slm + kernel.local_bytes()).into(),
            cl::CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => {
                let factor = if device.spec.fused { 2 } else { 1 };
                (info.simd as usize * factor).into()
            }
            cl::CL_KERNEL_PRIVATE_MEM_SIZE => info.private.into(),
            cl::CL_KERNEL_SPILL_MEM_SIZE_INTEL => info.spill.into(),
            // Of kernels that are built in, and of custom devices only.
            cl::CL_KERNEL_GLOBAL_WORK_SIZE => return Err(Error::INVALID_VALUE),
            _ => return Err(Error::INVALID_VALUE),
        })
    }
}

entry! {
    fn clCreateKernelsInProgram(
        c,
        program: cl_program,
        num_kernels: cl_uint,
        kernels: *mut cl_kernel,
        num_kernels_ret: *mut cl_uint,
    ) {
        let program = handle::get::<Program>(program)?;
        let names = program.kernel_names()?;
        if !kernels.is_null() {
            if (num_kernels as usize) < names.len() {
                return Err(Error::INVALID_VALUE);
            }
            let mut all = Vec::new();
            for name in &names {
                all.push(Kernel::new(&program, name)?);
            }
            let handles: Vec<_> = all.iter().map(handle::publish).collect();
            c.write_all(kernels, &handles);
        }
        c.write(num_kernels_ret, names.len() as cl_uint);
        Ok(())
    }

    fn clSetKernelArg(c, kernel: cl_kernel, arg_index: cl_uint, arg_size: usize, arg_value: *const c_void) {
        let kernel = handle::get::<Kernel>(kernel)?;
        let arg = argument_value(c, &kernel, arg_index, arg_size, arg_value)?;
        kernel.set(arg_index, arg)
    }

    fn clGetKernelSubGroupInfo(
        c,
        kernel: cl_kernel,
        device: cl_device_id,
        param_name: cl_uint,
        input_value_size: usize,
        input_value: *const c_void,
        param_value_size: usize,
        param_value: *mut c_void,
        param_value_size_ret: *mut usize,
    ) {
        let kernel = handle::get::<Kernel>(kernel)?;
        let device = device_of(&kernel, device)?;
        let answer =
            sub_group_info(c, &kernel, &device, param_name, input_value_size, input_value, param_value_size)?;
        c.answer(answer, param_value_size, param_value, param_value_size_ret)
    }

    fn clGetKernelSuggestedLocalWorkSize(
        c,
        command_queue: cl_command_queue,
        kernel: cl_kernel,
        work_dim: cl_uint,
        global_work_offset: *const usize,
        global_work_size: *const usize,
        suggested_local_work_size: *mut usize,
    ) {
        let queue = handle::get::<Queue>(command_queue)?;
        let kernel = handle::get::<Kernel>(kernel)?;
        check_same_context(&queue, &kernel.program.context)?;
        if !(1..=3).contains(&work_dim) {
            return Err(Error::INVALID_WORK_DIMENSION);
        }
        let dims = work_dim as usize;
        let global = range_sizes(c, dims, global_work_size, 1).ok_or(Error::INVALID_GLOBAL_WORK_SIZE)?;
        if suggested_local_work_size.is_null() || global[..dims].contains(&0) {
            return Err(if suggested_local_work_size.is_null() {
                Error::INVALID_VALUE
            } else {
                Error::INVALID_GLOBAL_WORK_SIZE
            });
        }
        let offset = range_sizes(c, dims, global_work_offset, 0);
        let range = kernel.range(&queue.device, work_dim, offset, global, None)?;
        let local = range.local.map(|l| l as usize);
        c.write_all(suggested_local_work_size, &local[..dims]);
        Ok(())
    }

    fn clEnqueueNDRangeKernel(
        c,
        command_queue: cl_command_queue,
        kernel: cl_kernel,
        work_dim: cl_uint,
        global_work_offset: *const usize,
        global_work_size: *const usize,
        local_work_size: *const usize,
        num_events_in_wait_list: cl_uint,
        event_wait_list: *const cl_event,
        event: *mut cl_event,
    ) {
        let queue = handle::get::<Queue>(command_queue)?;
        let kernel = handle::get::<Kernel>(kernel)?;
        check_same_context(&queue, &kernel.program.context)?;
        let after = wait_list(c, &queue.context, num_events_in_wait_list, event_wait_list)?;
        kernel.module(&queue.device)?;
        if !(1..=3).contains(&work_dim) {
            return Err(Error::INVALID_WORK_DIMENSION);
        }
        let dims = work_dim as usize;
        // No sizes and a size of zero launch nothing, since version 2.1.
        let global = range_sizes(c, dims, global_work_size, 1).unwrap_or([0, 1, 1]);
        let offset = range_sizes(c, dims, global_work_offset, 0);
        let local = range_sizes(c, dims, local_work_size, 1);
        let range = kernel.range(&queue.device, work_dim, offset, global, local)?;
        let done = kernel.enqueue(&queue, range, after, cl::CL_COMMAND_NDRANGE_KERNEL)?;
        finish_enqueue(c, done, event, false)
    }

    fn clEnqueueTask(
        c,
        command_queue: cl_command_queue,
        kernel: cl_kernel,
        num_events_in_wait_list: cl_uint,
        event_wait_list: *const cl_event,
        event: *mut cl_event,
    ) {
        let kernel = handle::get::<Kernel>(kernel)?;
        let (queue, after) = queue_and_wait_list(c, command_queue, num_events_in_wait_list, event_wait_list)?;
        check_same_context(&queue, &kernel.program.context)?;
        let range = kernel.range(&queue.device, 1, None, [1; 3], Some([1; 3]))?;
        let done = kernel.enqueue(&queue, range, after, cl::CL_COMMAND_TASK)?;
        finish_enqueue(c, done, event, false)
    }
}
