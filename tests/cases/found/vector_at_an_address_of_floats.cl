// A `float4` at the address of a `float`; `vload4` may be there.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --options=-DBUG --kernel rows --global 16 --local 16 --arg a=iota:f32:128 --arg o=zeros:f32x4:16
// CODE: envisa run %s --device dg2 --check --kernel rows --global 16 --local 16 --arg a=iota:f32:128 --arg o=zeros:f32x4:16
__kernel void rows(__global const float *a, __global float4 *o) {
    int g = get_global_id(0);
#ifdef BUG
    o[g] = *(__global const float4 *)(a + g * 7 + 1);
#else
    o[g] = vload4(0, a + g * 7 + 1);
#endif
}
