// Several work-items store different numbers at one place; in the twin only one of them stores.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --options=-DBUG --kernel last --global 64 --local 64 --arg a=iota:i32:64 --arg found=zeros:i32:1
// CODE: envisa run %s --device dg2 --check --kernel last --global 64 --local 64 --arg a=iota:i32:64 --arg found=zeros:i32:1
__kernel void last(__global const int *a, __global int *found) {
#ifdef BUG
    if (a[get_global_id(0)] > 30) *found = get_global_id(0);
#else
    if (a[get_global_id(0)] == 33) *found = get_global_id(0);
#endif
}
