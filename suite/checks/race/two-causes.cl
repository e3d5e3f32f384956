/* check
what = "one barrier is missing for an array, and another array is never filled"
finds = ["F0006"]
says = "rest"
global = [256]
local = [128]
[args]
a = "iota:i32:256"
o = "zeros:i32:256"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[128], rest[128];
    int l = get_local_id(0);
    t[l] = a[get_global_id(0)];
#ifndef BUG
    rest[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    o[get_global_id(0)] = t[127 - l] + rest[127 - l]; // <-
}
