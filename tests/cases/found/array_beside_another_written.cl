// A store past a local array is in the next one.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --options=-DBUG --kernel two --global 64 --local 64 --arg a=iota:f32:64 --arg o=zeros:f32:64
// CODE: envisa run %s --device dg2 --check --kernel two --global 64 --local 64 --arg a=iota:f32:64 --arg o=zeros:f32:64
__kernel void two(__global const float *a, __global float *o) {
    __local float x[64];
    __local float y[64];
    int l = get_local_id(0);
    y[l] = 1;
    x[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    x[l + 8] = a[l];
#else
    x[(l + 8) & 63] = a[l];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    o[l] = x[l] + y[63 - l];
}
