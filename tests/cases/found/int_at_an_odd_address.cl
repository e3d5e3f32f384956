// An `int` at an address that is no multiple of 4.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --options=-DBUG --kernel parse --global 16 --local 16 --arg a=iota:u8:96 --arg o=zeros:i32:16
// CODE: envisa run %s --device dg2 --check --kernel parse --global 16 --local 16 --arg a=iota:u8:96 --arg o=zeros:i32:16
__kernel void parse(__global const uchar *a, __global int *o) {
    int g = get_global_id(0);
#ifdef BUG
    o[g] = *(__global const int *)(a + g * 5);
#else
    o[g] = a[g * 5] | a[g * 5 + 1] << 8 | a[g * 5 + 2] << 16 | a[g * 5 + 3] << 24;
#endif
}
