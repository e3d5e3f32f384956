/* check
what = "a group reads another group's result as soon as a plain flag is set"
finds = ["F0004"]
global = [128]
local = [64]
[args]
data = "zeros:i32:64"
flag = "zeros:i32:1"
o = "zeros:i32:64"
*/
kernel void k(global int *data, volatile global int *flag, global int *o)
{
    local int ready;
    int i = get_local_id(0);
    if (get_group_id(0) == 0) {
        data[i] = i * i; // <-
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (i == 0) {
            mem_fence(CLK_GLOBAL_MEM_FENCE);
#ifdef BUG
            *flag = 1; // <-
#else
            atomic_xchg(flag, 1);
#endif
        }
    } else {
        if (i == 0) {
#ifdef BUG
            ready = *flag; // <-
#else
            ready = atomic_or(flag, 0);
#endif
            mem_fence(CLK_GLOBAL_MEM_FENCE);
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (ready) o[i] = data[63 - i]; // <-
    }
}
