// A texel outside of the image, by a sampler that defines none there.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --options=-DBUG --kernel sobel --global 32,8 --local 32,1 --arg im=image:2d:32,8:r:f32=zeros:f32:256 --arg o=zeros:f32:256
// CODE: envisa run %s --device dg2 --check --kernel sobel --global 32,8 --local 32,1 --arg im=image:2d:32,8:r:f32=zeros:f32:256 --arg o=zeros:f32:256
__kernel void sobel(read_only image2d_t im, __global float *o) {
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
    int x = get_global_id(0), y = get_global_id(1);
#ifdef BUG
    o[y * 32 + x] = read_imagef(im, s, (int2)(x + 1, y)).x;
#else
    o[y * 32 + x] = read_imagef(im, s, (int2)(min(x + 1, 31), y)).x;
#endif
}
