// A device without images takes programs in OpenCL C 3.0, and does not say that it has images.
// NEEDS: ocloc
// RUN: envisa run %s --device pvc --options -cl-std=CL3.0 --global 2 --arg 0=zeros:u32:2 --print 0:2
// RUN: envisa run %s --device dg2 --options -cl-std=CL3.0 --global 2 --arg 0=zeros:u32:2 --print 0:2
kernel void images(global uint *out)
{
#ifdef __opencl_c_images
    out[get_global_id(0)] = 1;
#else
    out[get_global_id(0)] = 2;
#endif
}
