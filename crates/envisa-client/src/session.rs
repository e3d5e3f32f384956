//! One launch through the OpenCL API.
#![allow(unsafe_code)]

use std::ffi::c_void;

use envisa_harness::values::HostValue;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::error_codes::ClError;
use opencl3::kernel::{CL_KERNEL_ARG_ADDRESS_LOCAL, Kernel, set_kernel_arg};
use opencl3::memory::{
    Buffer, CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE,
    CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, CL_FILTER_NEAREST, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE1D,
    CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_WRITE, ClMem, Image, Sampler,
};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::{CL_FALSE, CL_TRUE, cl_image_desc, cl_image_format};

use crate::launch::{Addressing, ArgValue, ImageDesc, ImageShape, Launch, Outputs};

/// A memory object behind an argument, kept alive until the run is over.
enum Object {
    Buffer(Buffer<u8>),
    Image(Image, ImageDesc),
    /// Held only so that it outlives the launch.
    Sampler(#[allow(dead_code)] Sampler),
    None,
}

/// An OpenCL device of the platform that was asked for.
pub struct Session {
    device: Device,
    context: Context,
    queue: CommandQueue,
    name: String,
}

/// A kernel's parameter, as OpenCL tells of it.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name in the source.
    pub name: String,
    /// Its type there: `float*`, `uint4`.
    pub type_name: String,
    /// Whether it is a pointer to local memory.
    pub local: bool,
}

/// A kernel built, its arguments set, ready to be launched any number of times.
pub struct Loaded<'a> {
    session: &'a Session,
    kernel: Kernel,
    objects: Vec<Object>,
    launch: &'a Launch,
}

impl Loaded<'_> {
    /// Gives every buffer and image its initial content.
    ///
    /// # Errors
    /// The call that failed.
    pub fn reset(&mut self) -> Result<(), String> {
        for (object, a) in self.objects.iter_mut().zip(&self.launch.args) {
            if let ArgValue::Buffer(v) | ArgValue::Image(_, v) = &a.value {
                self.session.write(object, v)?;
            }
        }
        self.session.queue.finish().map_err(text)
    }

    /// Launches once, and waits for the end. What `printf` writes goes to this process's standard output.
    ///
    /// # Errors
    /// The call that failed.
    pub fn run(&self) -> Result<(), String> {
        self.session.enqueue_launch(&self.kernel, self.launch)
    }

    /// The content of the arguments that have a check.
    ///
    /// # Errors
    /// The call that failed.
    pub fn outputs(&self) -> Result<Outputs, String> {
        let mut values = Vec::new();
        for (i, a) in self.launch.args.iter().enumerate() {
            if let (true, ArgValue::Buffer(initial) | ArgValue::Image(_, initial)) =
                (a.check.is_some(), &a.value)
            {
                let mut value = initial.clone();
                self.session.read(&self.objects[i], &mut value)?;
                values.push((i, value));
            }
        }
        Ok(Outputs { values, printed: String::new() })
    }
}

fn text(e: impl std::fmt::Display) -> String {
    e.to_string()
}

impl Session {
    /// Opens the first device of the first platform whose name contains `platform`.
    ///
    /// # Errors
    /// A sentence where no OpenCL library or no such platform is installed.
    pub fn open(platform: &str) -> Result<Session, String> {
        if !cl3::is_opencl_runtime_available() {
            return Err("no OpenCL library is installed (Debian: ocl-icd-libopencl1)".to_owned());
        }
        let platforms = get_platforms().map_err(|e| format!("no OpenCL platform: {e}"))?;
        let mut seen = Vec::new();
        for p in platforms {
            let name = p.name().map_err(text)?;
            if name.contains(platform) {
                let id =
                    *p.get_devices(CL_DEVICE_TYPE_ALL).map_err(text)?.first().ok_or("it has no device")?;
                let device = Device::new(id);
                let context = Context::from_device(&device).map_err(text)?;
                // SAFETY: context and device were just made by the library and belong together.
                let queue = unsafe { CommandQueue::create(&context, id, 0) }.map_err(text)?;
                let name = format!("{name}, {}", p.version().map_err(text)?);
                return Ok(Session { device, context, queue, name });
            }
            seen.push(name);
        }
        Err(format!("there is no platform `{platform}` among: {}", seen.join(", ")))
    }

    /// Platform, version and device, for the tables.
    pub fn describe(&self) -> String {
        format!("{} on {}", self.name, self.device.name().unwrap_or_default())
    }

    /// Builds `source` and sets the arguments of `function` for `launch`.
    ///
    /// # Errors
    /// The build log, or the name of the call that failed.
    pub fn load<'a>(
        &'a self,
        source: &str,
        options: &str,
        function: &str,
        launch: &'a Launch,
    ) -> Result<Loaded<'a>, String> {
        self.prepare(&self.build(source, options)?, function, launch)
    }

    /// Builds a program.
    ///
    /// # Errors
    /// The build log.
    pub fn build(&self, source: &str, options: &str) -> Result<Program, String> {
        Program::create_and_build_from_source(&self.context, source, options)
            .map_err(|log| format!("the build failed: {log}"))
    }

    /// The parameters of a program's kernel, in their order; the program must be built with `-cl-kernel-arg-info`.
    ///
    /// # Errors
    /// If there is no such kernel, or nothing is known of its parameters.
    pub fn parameters(program: &Program, function: &str) -> Result<Vec<Parameter>, String> {
        let kernel = Kernel::create(program, function).map_err(|e| format!("kernel `{function}`: {e}"))?;
        let parameter = |i: u32| -> Result<Parameter, ClError> {
            let local = kernel.get_arg_address_qualifier(i)? == CL_KERNEL_ARG_ADDRESS_LOCAL;
            Ok(Parameter { name: kernel.get_arg_name(i)?, type_name: kernel.get_arg_type_name(i)?, local })
        };
        let count = kernel.num_args().map_err(text)?;
        (0..count).map(parameter).collect::<Result<_, _>>().map_err(|e| format!("kernel `{function}`: {e}"))
    }

    /// Sets the arguments of a program's `function` for `launch`.
    ///
    /// # Errors
    /// The name of the call that failed.
    pub fn prepare<'a>(
        &'a self,
        program: &Program,
        function: &str,
        launch: &'a Launch,
    ) -> Result<Loaded<'a>, String> {
        let kernel = Kernel::create(program, function).map_err(|e| format!("kernel `{function}`: {e}"))?;
        let objects = launch
            .args
            .iter()
            .enumerate()
            .map(|(i, a)| {
                self.set_arg(&kernel, i as u32, &a.value).map_err(|e| format!("argument `{}`: {e}", a.name))
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Loaded { session: self, kernel, objects, launch })
    }

    fn enqueue_launch(&self, kernel: &Kernel, launch: &Launch) -> Result<(), String> {
        let triple = |v: [u64; 3]| v.map(|n| n as usize);
        let (offset, global, local) = (triple(launch.offset), triple(launch.global), triple(launch.local));
        // SAFETY: the three arrays hold `dims` (1 to 3) entries and outlive the call; every argument is set.
        let event = unsafe {
            self.queue.enqueue_nd_range_kernel(
                kernel.get(),
                launch.dims,
                offset.as_ptr(),
                global.as_ptr(),
                local.as_ptr(),
                &[],
            )
        }
        .map_err(|e| format!("clEnqueueNDRangeKernel: {e}"))?;
        event.wait().map_err(|e| format!("the kernel failed: {e}"))?;
        self.queue.finish().map_err(text)
    }

    fn set_arg(&self, kernel: &Kernel, index: u32, value: &ArgValue) -> Result<Object, String> {
        let set = |size: usize, pointer: *const c_void| {
            // SAFETY: `pointer` is null (local memory) or points to `size` readable bytes.
            unsafe { set_kernel_arg(kernel.get(), index, size, pointer) }
                .map_err(|e| format!("clSetKernelArg: {e}"))
        };
        match value {
            ArgValue::Scalar(bytes) => {
                set(bytes.len(), bytes.as_ptr().cast())?;
                Ok(Object::None)
            }
            ArgValue::Local(size) => {
                set(*size as usize, std::ptr::null())?;
                Ok(Object::None)
            }
            ArgValue::Buffer(v) => {
                let mut copy = v.bytes.clone();
                // SAFETY: the host pointer is readable for the length given and copied during the call.
                let buffer = unsafe {
                    Buffer::<u8>::create(
                        &self.context,
                        CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                        copy.len(),
                        copy.as_mut_ptr().cast(),
                    )
                }
                .map_err(text)?;
                let mem = buffer.get();
                set(size_of_val(&mem), (&raw const mem).cast())?;
                Ok(Object::Buffer(buffer))
            }
            ArgValue::Image(spec, v) => {
                let mut copy = v.bytes.clone();
                let (format, desc) = describe_image(spec);
                // SAFETY: the texels fill the image (checked when the launch was made) and are copied.
                let image = unsafe {
                    Image::create(
                        &self.context,
                        CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                        &format,
                        &desc,
                        copy.as_mut_ptr().cast(),
                    )
                }
                .map_err(text)?;
                let mem = image.get();
                set(size_of_val(&mem), (&raw const mem).cast())?;
                Ok(Object::Image(image, *spec))
            }
            ArgValue::Sampler(s) => {
                let addressing = match s.addressing {
                    Addressing::None => CL_ADDRESS_NONE,
                    Addressing::Clamp => CL_ADDRESS_CLAMP,
                    Addressing::ClampToEdge => CL_ADDRESS_CLAMP_TO_EDGE,
                    Addressing::Repeat => CL_ADDRESS_REPEAT,
                    Addressing::MirroredRepeat => CL_ADDRESS_MIRRORED_REPEAT,
                };
                let filter = if s.linear { CL_FILTER_LINEAR } else { CL_FILTER_NEAREST };
                let normalized = if s.normalized { CL_TRUE } else { CL_FALSE };
                let sampler = Sampler::create(&self.context, normalized, addressing, filter).map_err(text)?;
                let id = sampler.get();
                set(size_of_val(&id), (&raw const id).cast())?;
                Ok(Object::Sampler(sampler))
            }
        }
    }

    fn write(&self, object: &mut Object, from: &HostValue) -> Result<(), String> {
        match object {
            Object::Buffer(b) => {
                // SAFETY: the source has the buffer's size, and the write blocks.
                unsafe { self.queue.enqueue_write_buffer(b, CL_TRUE, 0, &from.bytes, &[]) }.map_err(text)?;
            }
            Object::Image(image, spec) => {
                let (origin, region) =
                    ([0usize; 3], [spec.width, spec.height, spec.depth].map(|n| n as usize));
                // The call takes a mutable pointer, though it only reads.
                let mut copy = from.bytes.clone();
                // SAFETY: the source holds all texels without padding, and the write blocks.
                unsafe {
                    self.queue.enqueue_write_image(
                        image,
                        CL_TRUE,
                        origin.as_ptr(),
                        region.as_ptr(),
                        0,
                        0,
                        copy.as_mut_ptr().cast(),
                        &[],
                    )
                }
                .map_err(text)?;
            }
            Object::Sampler(_) | Object::None => return Err("the argument has no memory".to_owned()),
        }
        Ok(())
    }

    fn read(&self, object: &Object, into: &mut HostValue) -> Result<(), String> {
        match object {
            Object::Buffer(b) => {
                // SAFETY: the destination has the buffer's size, and the read blocks.
                unsafe { self.queue.enqueue_read_buffer(b, CL_TRUE, 0, &mut into.bytes, &[]) }
                    .map_err(text)?;
            }
            Object::Image(image, spec) => {
                let origin = [0usize; 3];
                let region = [spec.width, spec.height, spec.depth].map(|n| n as usize);
                // SAFETY: the destination holds all texels without padding, and the read blocks.
                unsafe {
                    self.queue.enqueue_read_image(
                        image,
                        CL_TRUE,
                        origin.as_ptr(),
                        region.as_ptr(),
                        0,
                        0,
                        into.bytes.as_mut_ptr().cast(),
                        &[],
                    )
                }
                .map_err(text)?;
            }
            Object::Sampler(_) | Object::None => return Err("the argument has no memory".to_owned()),
        }
        Ok(())
    }
}

fn describe_image(spec: &ImageDesc) -> (cl_image_format, cl_image_desc) {
    // The numbers are OpenCL's own.
    let format = cl_image_format {
        image_channel_order: spec.format.order() as u32,
        image_channel_data_type: spec.format.channel_type() as u32,
    };
    let desc = cl_image_desc {
        image_type: match spec.shape {
            ImageShape::D1 => CL_MEM_OBJECT_IMAGE1D,
            ImageShape::Buffer => CL_MEM_OBJECT_IMAGE1D_BUFFER,
            ImageShape::D1Array => CL_MEM_OBJECT_IMAGE1D_ARRAY,
            ImageShape::D2 => CL_MEM_OBJECT_IMAGE2D,
            ImageShape::D2Array => CL_MEM_OBJECT_IMAGE2D_ARRAY,
            ImageShape::D3 => CL_MEM_OBJECT_IMAGE3D,
            // OpenCL has no cubes.
            ImageShape::Cube => CL_MEM_OBJECT_IMAGE2D_ARRAY,
        },
        image_width: spec.width as usize,
        image_height: spec.height as usize,
        image_depth: if spec.shape == ImageShape::D3 { spec.depth as usize } else { 0 },
        image_array_size: match spec.shape {
            ImageShape::D1Array | ImageShape::D2Array | ImageShape::Cube => spec.depth as usize,
            _ => 0,
        },
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: std::ptr::null_mut(),
    };
    (format, desc)
}
