// An index whose product overflows is far outside; in 64 bits it is not.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --options=-DBUG --kernel big --global 64 --local 64 --arg a=iota:f32:158 --arg o=zeros:f32:64 --arg pitch=100000000
// CODE: envisa run %s --device dg2 --check --kernel big --global 64 --local 64 --arg a=iota:f32:158 --arg o=zeros:f32:64 --arg pitch=100000000
__kernel void big(__global const float *a, __global float *o, int pitch) {
    int g = get_global_id(0);
#ifdef BUG
    int i = g * pitch / 40000000;
    o[g] = a[i];
#else
    long i = (long)g * pitch / 40000000;
    o[g] = a[i];
#endif
}
