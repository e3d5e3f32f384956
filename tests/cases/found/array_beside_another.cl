// An index past a local array is in the next one.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --options=-DBUG --kernel two --global 64 --local 64 --arg a=iota:f32:64 --arg o=zeros:f32:64
// CODE: envisa run %s --device dg2 --check --kernel two --global 64 --local 64 --arg a=iota:f32:64 --arg o=zeros:f32:64
__kernel void two(__global const float *a, __global float *o) {
    __local float x[64];
    __local float y[64];
    int l = get_local_id(0);
    x[l] = a[l]; y[l] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    float s = x[l] + x[l + 1];
#else
    float s = x[l] + x[(l + 1) & 63];
#endif
    o[l] = s + y[63 - l];
}
