/* check
what = "a sum of 64 bits is cleared and added to without a barrier between"
finds = ["F0004", "F0006"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i64:1"
*/
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
kernel void k(global const int *a, global long *o)
{
    local long sum;
    int i = get_local_id(0);
    if (i == 0) sum = 0; // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    atom_add(&sum, a[i]); // <-
    atom_max(&sum, 5L); // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) o[0] = sum;
}
