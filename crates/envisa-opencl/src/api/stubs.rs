//! Entry points of extensions that are not there: sharing with other interfaces, divided devices. Each is in the
//! table, with an error that says so.

use std::ffi::c_void;

use opencl_sys::cl_d3d10::*;
use opencl_sys::cl_d3d11::*;
use opencl_sys::cl_dx9_media_sharing::*;
use opencl_sys::cl_egl::*;
use opencl_sys::*;

use super::run_guarded;
use crate::core::error::Error;

/// Makes entry points that give `CL_INVALID_OPERATION`: by their result, or through their last argument.
macro_rules! absent {
    ($($kind:ident $name:ident($($ty:ty),*);)*) => {$( absent!(@$kind $name($($ty),*)); )*};
    (@status $name:ident($($ty:ty),*)) => {
        #[allow(unsafe_code, non_snake_case)]
        pub(crate) unsafe extern "C" fn $name($(_: $ty),*) -> cl_int {
            match run_guarded(stringify!($name), &String::new, || Err::<(), _>(Error::INVALID_OPERATION)) {
                Ok(()) => CL_SUCCESS,
                Err(e) => e.0,
            }
        }
    };
    (@create $name:ident($($ty:ty),*)) => {
        #[allow(unsafe_code, non_snake_case)]
        pub(crate) unsafe extern "C" fn $name($(_: $ty,)* code: *mut cl_int) -> *mut c_void {
            let result = run_guarded(stringify!($name), &String::new, || Err::<(), _>(Error::INVALID_OPERATION));
            // SAFETY: the application calls this as the standard says.
            let caller = unsafe { super::Caller::new() };
            caller.write(code, result.map_or_else(|e| e.0, |()| CL_SUCCESS));
            std::ptr::null_mut()
        }
    };
}

absent! {
    create clCreateFromGLBuffer(cl_context, cl_mem_flags, cl_GLuint);
    create clCreateFromGLTexture2D(cl_context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint);
    create clCreateFromGLTexture3D(cl_context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint);
    create clCreateFromGLRenderbuffer(cl_context, cl_mem_flags, cl_GLuint);
    status clGetGLObjectInfo(cl_mem, *mut cl_gl_object_type, *mut cl_GLuint);
    status clGetGLTextureInfo(cl_mem, cl_gl_texture_info, usize, *mut c_void, *mut usize);
    status clEnqueueAcquireGLObjects(cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event, *mut cl_event);
    status clEnqueueReleaseGLObjects(cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event, *mut cl_event);
    status clGetGLContextInfoKHR(*const cl_context_properties, cl_gl_context_info, usize, *mut c_void, *mut usize);
    status clGetDeviceIDsFromD3D10KHR(cl_platform_id, cl_d3d10_device_source_khr, *mut c_void, cl_d3d10_device_set_khr, cl_uint, *mut cl_device_id, *mut cl_uint);
    create clCreateFromD3D10BufferKHR(cl_context, cl_mem_flags, ID3D10Buffer_ptr);
    create clCreateFromD3D10Texture2DKHR(cl_context, cl_mem_flags, ID3D10Texture2D_ptr, cl_uint);
    create clCreateFromD3D10Texture3DKHR(cl_context, cl_mem_flags, ID3D10Texture3D_ptr, cl_uint);
    status clEnqueueAcquireD3D10ObjectsKHR(cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event, *mut cl_event);
    status clEnqueueReleaseD3D10ObjectsKHR(cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event, *mut cl_event);
    status clCreateSubDevicesEXT(cl_device_id, *const cl_device_partition_property_ext, cl_uint, *mut cl_device_id, *mut cl_uint);
    status clRetainDeviceEXT(cl_device_id);
    status clReleaseDeviceEXT(cl_device_id);
    create clCreateEventFromGLsyncKHR(cl_context, cl_GLsync);
    create clCreateFromGLTexture(cl_context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint);
    status clGetDeviceIDsFromD3D11KHR(cl_platform_id, cl_d3d11_device_source_khr, *mut c_void, cl_d3d11_device_set_khr, cl_uint, *mut cl_device_id, *mut cl_uint);
    create clCreateFromD3D11BufferKHR(cl_context, cl_mem_flags, ID3D11Buffer_ptr);
    create clCreateFromD3D11Texture2DKHR(cl_context, cl_mem_flags, ID3D11Texture2D_ptr, cl_uint);
    create clCreateFromD3D11Texture3DKHR(cl_context, cl_mem_flags, ID3D11Texture3D_ptr, cl_uint);
    create clCreateFromDX9MediaSurfaceKHR(cl_context, cl_mem_flags, cl_dx9_media_adapter_type_khr, *mut c_void, cl_uint);
    status clEnqueueAcquireD3D11ObjectsKHR(cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event, *mut cl_event);
    status clEnqueueReleaseD3D11ObjectsKHR(cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event, *mut cl_event);
    status clGetDeviceIDsFromDX9MediaAdapterKHR(cl_platform_id, cl_uint, *mut cl_dx9_media_adapter_type_khr, *mut c_void, cl_dx9_media_adapter_set_khr, cl_uint, *mut cl_device_id, *mut cl_uint);
    status clEnqueueAcquireDX9MediaSurfacesKHR(cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event, *mut cl_event);
    status clEnqueueReleaseDX9MediaSurfacesKHR(cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event, *mut cl_event);
    create clCreateFromEGLImageKHR(cl_context, CLeglDisplayKHR, CLeglImageKHR, cl_mem_flags, *const cl_egl_image_properties_khr);
    status clEnqueueAcquireEGLObjectsKHR(cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event, *mut cl_event);
    status clEnqueueReleaseEGLObjectsKHR(cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event, *mut cl_event);
    create clCreateEventFromEGLSyncKHR(cl_context, CLeglSyncKHR, CLeglDisplayKHR);
}
